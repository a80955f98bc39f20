//! Changes on disk: files are private to their owner, flushed before a commit names them, and replaced whole.
//!
//! Every change below the index's folder goes through [`Disk`]. Its [`ChangeGate`] may refuse any of them, so that tests and
//! `colgrep-bench torture` can stop a build at each step.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::MmapMut;
use tantivy::directory::OwnedBytes;

use crate::error::{Error, Result};

/// Bytes that are free on the disk of a folder, if the system says so.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    return rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// One kind of change to a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiskChange {
    CreateFolder,
    /// A file is created, or emptied.
    Create,
    /// Bytes are written to a file.
    Write,
    /// A file is flushed to the disk.
    Sync,
    /// A file takes another's name.
    Rename,
    /// A file or folder is removed.
    Remove,
    /// The entries of a folder are flushed to the disk.
    SyncFolder,
}

impl DiskChange {
    /// The verb for error messages.
    fn verb(self) -> &'static str {
        match self {
            DiskChange::CreateFolder | DiskChange::Create => "create",
            DiskChange::Write => "write",
            DiskChange::Sync | DiskChange::SyncFolder => "flush",
            DiskChange::Rename => "replace",
            DiskChange::Remove => "remove",
        }
    }
}

/// A hook called before each change. If it returns an error, the change is not made and the caller gets that error.
pub trait ChangeGate: std::fmt::Debug + Send + Sync {
    /// Lets a change pass or refuses it.
    ///
    /// # Errors
    /// The failure to simulate.
    fn pass(&self, change: DiskChange, path: &Path) -> io::Result<()>;
}

/// A failed operation: its verb, its file, the cause.
type Failure = (&'static str, PathBuf, io::Error);

/// Makes all changes on disk. Clones share the record of the first failure.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    gate: Option<Arc<dyn ChangeGate>>,
    /// The first failure since the last [`Disk::forget`], for the message: tantivy does not say why one of its writers
    /// died.
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Disk {
    /// A disk on which each change has to pass `gate`.
    pub fn gated(gate: Arc<dyn ChangeGate>) -> Disk {
        Disk { gate: Some(gate), failure: Arc::default() }
    }

    /// Clears the record of the first failure.
    pub(crate) fn forget(&self) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The first failure since [`Disk::forget`] if there was one, else `error`: later errors are consequences of the
    /// first.
    pub(crate) fn cause(&self, error: Error) -> Error {
        // The record stays, since each thread that fed the writer sees a consequence of its own.
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((doing, path, cause)) => Error::io(doing, path, copy(cause)),
            None => error,
        }
    }

    /// Makes a change if the gate lets it pass, and records a failure.
    fn change<T>(&self, change: DiskChange, path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let passed = self.gate.as_ref().map_or(Ok(()), |gate| gate.pass(change, path));
        passed.and_then(|()| work()).inspect_err(|error| self.note(change.verb(), path, error))
    }

    /// Records the first failure. Called directly for failed reads of a writer, which are not a [`DiskChange`].
    pub(crate) fn note(&self, doing: &'static str, path: &Path, error: &io::Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| (doing, path.to_path_buf(), copy(error)));
    }

    /// Creates a folder and its parents, for the user alone. An existing folder is left unchanged.
    pub(crate) fn create_folder(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let made = self.change(DiskChange::CreateFolder, path, || private_folders().create(path));
        made.map_err(|e| Error::io("create", path, e))
    }

    /// Creates or truncates a file, private to the user.
    pub(crate) fn create(&self, path: &Path) -> io::Result<DiskFile> {
        let file = self.change(DiskChange::Create, path, || private().create(true).truncate(true).open(path))?;
        Ok(DiskFile { file, path: path.to_path_buf(), disk: self.clone() })
    }

    /// As [`Disk::create`], but fails if the file exists.
    pub(crate) fn create_new(&self, path: &Path) -> io::Result<DiskFile> {
        let file = self.change(DiskChange::Create, path, || private().create_new(true).open(path))?;
        Ok(DiskFile { file, path: path.to_path_buf(), disk: self.clone() })
    }

    /// Writes a whole file and flushes it. Flushing the folder's entry is left to the caller.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create(path)?;
        file.write_all(bytes)?;
        file.sync()
    }

    /// Replaces a file's content atomically, and flushes file and folder.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".new");
        let new = path.with_file_name(name);
        self.write(&new, bytes)?;
        self.change(DiskChange::Rename, path, || fs::rename(&new, path))?;
        path.parent().map_or(Ok(()), |folder| self.sync_folder(folder))
    }

    /// Removes a file, or a folder in its place.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(DiskChange::Remove, path, || match fs::remove_file(path) {
            Err(_) if path.symlink_metadata().is_ok_and(|found| found.is_dir()) => fs::remove_dir_all(path),
            removed => removed,
        })
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.change(DiskChange::Remove, path, || fs::remove_dir(path))
    }

    /// Renames a folder to a name not in use yet, and flushes the folder above.
    pub(crate) fn rename_folder(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.change(DiskChange::Rename, to, || fs::rename(path, to))?;
        to.parent().map_or(Ok(()), |folder| self.sync_folder(folder))
    }

    /// Swaps the names of two folders, atomically if the system can, and flushes their parent.
    pub(crate) fn exchange_folders(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.change(DiskChange::Rename, other, || exchange(one, other))?;
        other.parent().map_or(Ok(()), |folder| self.sync_folder(folder))
    }

    /// Hard-links a file that is never written again, or copies it if that fails.
    pub(crate) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let linked = self.change(DiskChange::Create, to, || match fs::remove_file(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(fs::hard_link(from, to)),
        })?;
        if linked.is_ok() {
            return Ok(());
        }
        let mut file = self.create(to)?;
        io::copy(&mut open_regular(from)?, &mut file)?;
        file.sync()
    }

    /// Removes a folder and its content. Links are removed, not followed.
    pub(crate) fn remove_all(&self, path: &Path) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { self.remove_all(&entry.path()) } else { self.remove(&entry.path()) }?;
        }
        self.remove_folder(path)
    }

    /// Flushes a folder's entries: without this, a file whose content is flushed can still lose its name.
    pub(crate) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Windows flushes them with the file and refuses to open a folder.
        self.change(DiskChange::SyncFolder, path, || if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) })
    }
}

/// Opens a regular file for reading. Refuses a folder, a device, or a pipe, which would block until something writes to
/// it.
///
/// # Errors
/// As [`File::open`], and [`io::ErrorKind::InvalidData`] if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    Ok(open_known(path)?.0)
}

/// The same, with the file's metadata.
pub(crate) fn open_known(path: &Path) -> io::Result<(File, fs::Metadata)> {
    let mut options = OpenOptions::new();
    without_waiting(options.read(true));
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
    }
    Ok((file, metadata))
}

/// Keeps `open` from waiting for the other end of a pipe.
fn without_waiting(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    #[cfg(not(unix))]
    let _ = options;
}

/// The bytes of a foreign file, at most `bytes_max`.
///
/// # Errors
/// As [`open_regular`], and [`io::ErrorKind::FileTooLarge`] if there are more.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_open(open_known(path)?, bytes_max)
}

/// The same for an open file.
pub(crate) fn read_open((file, metadata): (File, fs::Metadata), bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(metadata.len().min(bytes_max) as usize)?;
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} KiB", bytes_max >> 10)));
    }
    Ok(bytes)
}

/// Size from which memory is requested in large pages: the page fault of each small page takes longer than filling it.
const LARGE_ROOM: usize = 2 << 20;

/// Memory to read into.
#[derive(Debug)]
pub(crate) enum Room {
    /// On the heap.
    Small(Vec<u8>),
    /// Mapped by the system.
    Large(MmapMut),
}

impl Room {
    /// A zeroed buffer of `len` bytes.
    ///
    /// # Errors
    /// When out of memory.
    pub(crate) fn new(len: usize) -> io::Result<Room> {
        if len < LARGE_ROOM {
            return Ok(Room::Small(vec![0; len]));
        }
        let map = MmapMut::map_anon(len)?;
        // A hint: other systems use small pages.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Room::Large(map))
    }

    /// Converts to shared bytes.
    pub(crate) fn owned(self) -> OwnedBytes {
        match self {
            Room::Small(bytes) => OwnedBytes::new(bytes),
            Room::Large(map) => OwnedBytes::new(map),
        }
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::Small(Vec::new())
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Room::Small(bytes) => bytes,
            Room::Large(map) => map,
        }
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Small(bytes) => bytes,
            Room::Large(map) => map,
        }
    }
}

/// Exchanges two folders.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            // Fall back on file systems that can't.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::XDEV) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut name = other.file_name().unwrap_or_default().to_os_string();
    name.push(".old");
    let aside = other.with_file_name(name);
    fs::rename(other, &aside)?;
    fs::rename(one, other).inspect_err(|_| {
        let _ = fs::rename(&aside, other);
    })?;
    fs::rename(&aside, one)
}

fn copy(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: File,
    path: PathBuf,
    disk: Disk,
}

impl DiskFile {
    /// Flushes the content to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.change(DiskChange::Sync, &self.path, || self.file.sync_data())
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = &mut self.file;
        self.disk.change(DiskChange::Write, &self.path, || file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Options for a file that only its owner may read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    without_waiting(&mut options);
    options
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Refuses a folder that belongs to another user, who could falsify answers. The administrator's counts as one's own, and
/// the administrator uses any.
///
/// # Errors
/// If it does.
pub(crate) fn check_owner(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let me = rustix::process::geteuid().as_raw();
        if fs::symlink_metadata(folder).is_ok_and(|metadata| is_foreign(metadata.uid(), me)) {
            let why = "it belongs to another user; COLGREP_DATA_DIR names a folder of your own";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Whether a folder of `owner` is another user's for `me`.
#[cfg(unix)]
fn is_foreign(owner: u32, me: u32) -> bool {
    owner != me && owner != 0 && me != 0
}

/// Makes the folder of an index and its content private to their owner: older versions made indexes readable by all
/// users of the machine. Files of another user are left unchanged.
pub(crate) fn keep_private(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open_to_others = |m: &fs::Metadata| m.permissions().mode() & 0o077 != 0;
        if !fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir() && open_to_others(&m)) {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => keep_private(&entry.path()),
                Ok(meta) if meta.is_file() && open_to_others(&meta) => {
                    let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600));
                }
                _ => {}
            }
        }
        // The folder itself comes last: as long as others can open it, the next call retries the rest.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct RefusingGate(DiskChange);

    impl ChangeGate for RefusingGate {
        fn pass(&self, change: DiskChange, _: &Path) -> io::Result<()> {
            if change == self.0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_folder_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let [pipe, file] = ["pipe", "file"].map(|name| folder.path().join(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
        fs::write(&file, b"abc").expect("a file");
        assert!(read_regular(&pipe, 10).is_err() && read_regular(folder.path(), 10).is_err());
        assert_eq!(read_regular(&file, 3).expect("its bytes"), b"abc");
        assert_eq!(read_regular(&file, 2).expect_err("too many").kind(), io::ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_user_is_not_used() {
        for (owner, me, is_foreign) in
            [(1000, 1000, false), (1001, 1000, true), (0, 1000, false), (1000, 0, false), (0, 0, false)]
        {
            assert_eq!(super::is_foreign(owner, me), is_foreign, "of {owner} for {me}");
        }
        check_owner(tempfile::tempdir().expect("a folder").path()).expect("one's own");
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        Disk::default().replace(&path, b"before").expect("written");
        for change in [DiskChange::Create, DiskChange::Write, DiskChange::Sync, DiskChange::Rename] {
            let disk = Disk::gated(Arc::new(RefusingGate(change)));
            disk.replace(&path, b"after").expect_err("refused");
            assert_eq!(fs::read(&path).expect("a file"), b"before", "{change:?}");
            let message = disk.cause(Error::io("see", &path, io::Error::other("a consequence"))).full();
            assert!(message.contains(change.verb()) && !message.contains("consequence"), "{message}");
        }
        Disk::default().replace(&path, b"after").expect("written");
        assert_eq!(fs::read(&path).expect("a file"), b"after");
    }

    #[cfg(unix)]
    #[test]
    fn what_everyone_could_read_becomes_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let index = folder.path().join("index");
        let inner = index.join("inner");
        fs::create_dir_all(&inner).expect("folders");
        fs::write(inner.join("file"), "private").expect("a file");
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        set(&inner.join("file"), 0o644);
        set(&inner, 0o755);
        set(&index, 0o755);
        keep_private(&index);
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&index), mode(&inner), mode(&inner.join("file"))), (0o700, 0o700, 0o600));
        Disk::default().create_folder(&index.join("a/b")).expect("folders");
        Disk::default().write(&index.join("a/b/c"), b"").expect("a file");
        assert_eq!((mode(&index.join("a")), mode(&index.join("a/b/c"))), (0o700, 0o600));
    }
}
