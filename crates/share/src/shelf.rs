//! The objects in one folder of a store. Where that is a folder of this machine, it is listed and read by the system's own
//! means: no pipe is waited for, no link is taken for a file, and nothing is removed through one.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use colgrep_index::disk::open_regular;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::pace::Pace;

/// Bytes of a file that are read at once.
const PIECE_BYTES: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// When it was written, in seconds since 1970, by the store's clock.
    pub(crate) written: i64,
    /// Whether it can be read. A local folder may contain pipes and links.
    pub(crate) is_file: bool,
}

/// How far an object was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadExtent {
    /// To its end.
    Whole,
    /// Not to its end: it is longer than what was asked for.
    Longer,
    /// It can't be read: it is a pipe, a device, or a folder.
    NoFile,
}

/// One folder of a store.
#[derive(Clone, Debug)]
pub(crate) struct ObjectDir {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    /// The same on this machine, where it is there.
    disk: Option<PathBuf>,
    /// How it is called in messages.
    place: String,
    /// How slowly a store of a network may answer.
    pace: Pace,
}

impl ObjectDir {
    /// The whole of a store.
    pub(crate) fn new(store: Arc<dyn ObjectStore>, folder: Path, disk: Option<PathBuf>, place: &str) -> ObjectDir {
        ObjectDir { store, folder, disk, place: place.trim_end_matches('/').to_string(), pace: Pace::default() }
    }

    /// The same, which gives up what comes more slowly.
    pub(crate) fn with_pace(self, pace: Pace) -> ObjectDir {
        ObjectDir { pace, ..self }
    }

    pub(crate) fn below(&self, name: &str) -> ObjectDir {
        let disk = self.disk.as_ref().map(|disk| disk.join(name));
        ObjectDir {
            store: Arc::clone(&self.store),
            folder: self.folder.clone().join(name),
            disk,
            place: self.place_of(name),
            pace: self.pace.clone(),
        }
    }

    /// How it is called in messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// How an object is called in messages.
    pub(crate) fn place_of(&self, name: &str) -> String {
        format!("{}/{name}", self.place)
    }

    fn refused(&self, doing: &'static str, name: &str) -> impl Fn(StoreError) -> Error {
        let place = if name.is_empty() { self.place.clone() } else { self.place_of(name) };
        move |error| Error::store(doing, place.clone(), error)
    }

    /// The objects in it, without those of folders below. None where there is no such folder.
    pub(crate) async fn list(&self) -> Result<Vec<ListedObject>> {
        if let Some(disk) = self.disk.clone() {
            let listed = blocking(move || listed(&disk)).await;
            return listed.map_err(|e| self.refused("list", "")(of_system(e)));
        }
        let listed = self.pace.answer(self.store.list_with_delimiter(Some(&self.folder))).await;
        let objects = match listed {
            Err(StoreError::NotFound { .. }) => return Ok(Vec::new()),
            listed => listed.map_err(self.refused("list", ""))?.objects,
        };
        let entry = |object: object_store::ObjectMeta| {
            let name = object.location.filename()?.to_string();
            Some(ListedObject { name, bytes: object.size, written: object.last_modified.timestamp(), is_file: true })
        };
        Ok(objects.into_iter().filter_map(entry).collect())
    }

    /// Gives the pieces of an object to `take`, `bytes_max` bytes of it at most.
    ///
    /// # Errors
    /// [`Error::Gone`] where it is not there, and those of `take`.
    pub(crate) async fn read(
        &self,
        name: &str,
        bytes_max: u64,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<ReadExtent> {
        let refused = self.refused("read", name);
        let mut left = bytes_max;
        let mut given = |piece: &[u8]| {
            let is_longer = piece.len() as u64 > left;
            left = left.saturating_sub(piece.len() as u64);
            if is_longer { Ok(true) } else { take(piece).map(|()| false) }
        };
        let Some(disk) = &self.disk else {
            let path = self.folder.clone().join(name);
            let got = self.pace.answer(self.store.get(&path)).await.map_err(&refused)?;
            if got.meta.size > bytes_max {
                return Ok(ReadExtent::Longer);
            }
            let (mut stream, mut way) = (got.into_stream(), self.pace.begin());
            while let Some(piece) = way.next(&mut stream).await.map_err(&refused)? {
                if given(&piece)? {
                    return Ok(ReadExtent::Longer);
                }
            }
            return Ok(ReadExtent::Whole);
        };
        let path = disk.join(name);
        let mut file = match blocking(move || open_regular(&path)).await {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(ReadExtent::NoFile),
            file => file.map_err(|e| refused(of_system(e)))?,
        };
        loop {
            let (back, piece) = blocking(move || piece_of(file)).await.map_err(|e| refused(of_system(e)))?;
            file = back;
            if piece.is_empty() {
                return Ok(ReadExtent::Whole);
            }
            if given(&piece)? {
                return Ok(ReadExtent::Longer);
            }
        }
    }

    /// Puts an object unless the name is taken. Returns whether it was put.
    pub(crate) async fn create(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        let create = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&self.folder.clone().join(name), PutPayload::from(bytes), create).await {
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Ok(false),
            put => put.map(|_| true).map_err(self.refused("write", name)),
        }
    }

    /// Puts an object of one piece.
    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let put = self.store.put(&self.folder.clone().join(name), bytes.into()).await;
        put.map(drop).map_err(self.refused("write", name))
    }

    /// Puts an object of many pieces, which `next` gives, each of the same size but the last.
    ///
    /// # Errors
    /// Where the store does not take it, and those of `next`.
    pub(crate) async fn put_pieces(
        &self,
        name: &str,
        mut next: impl FnMut() -> Result<Option<Vec<u8>>> + Send,
    ) -> Result<()> {
        let refused = self.refused("write", name);
        let mut upload = self.store.put_multipart(&self.folder.clone().join(name)).await.map_err(&refused)?;
        let sent = async {
            while let Some(piece) = next()? {
                upload.put_part(piece.into()).await.map_err(&refused)?;
            }
            upload.complete().await.map_err(&refused).map(drop)
        };
        let sent = sent.await;
        if sent.is_err() {
            let _ = upload.abort().await;
        }
        sent
    }

    /// Removes an object; one that is gone is no error.
    pub(crate) async fn remove(&self, name: &str) -> Result<()> {
        match self.store.delete(&self.folder.clone().join(name)).await {
            Err(StoreError::NotFound { .. }) => Ok(()),
            removed => removed.map_err(self.refused("remove", name)),
        }
    }

    /// Whether it is a folder of this machine.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Whether it is a folder of this machine that is not there.
    pub(crate) fn is_missing(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| !disk.exists())
    }

    /// Refuses a folder of this machine that is a link: what it leads to is somebody else's.
    pub(crate) fn check_own(&self) -> Result<()> {
        match self.disk.as_ref().filter(|disk| disk.is_symlink()) {
            Some(_) => Err(Error::Link { place: self.place.clone() }),
            None => Ok(()),
        }
    }

    /// Keeps a folder of this machine out of git and of indexes, should it lie in a project.
    pub(crate) fn keep_out(&self) -> Result<()> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let put = || {
            std::fs::create_dir_all(disk)?;
            match File::create_new(disk.join(".gitignore")) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                file => io::Write::write_all(&mut file?, b"*\n"),
            }
        };
        // Failing to create a folder doesn't mean that an object is gone.
        let failed = |source: io::Error| StoreError::Generic { store: "folder", source: Box::new(source) };
        put().map_err(|e: io::Error| self.refused("write", "")(failed(e)))
    }

    /// Removes what interrupted pushes left half written in a local folder, of objects whose names are `is_own`, if it
    /// is older than `age`. Returns the number of files, and their bytes. Stores don't list such objects; whether they
    /// remove them is up to them.
    pub(crate) fn clear_unfinished(&self, age: Duration, is_own: impl Fn(&str) -> bool) -> (u64, u64) {
        let is_left = |entry: &std::fs::DirEntry| {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.rsplit_once('#'));
            let is_unfinished =
                number.is_some_and(|(of, n)| is_own(of) && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            // As the folder's own entry: of a link, the link's.
            let old = entry.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|m| m.modified().ok());
            is_unfinished && old.and_then(|at| at.elapsed().ok()).is_some_and(|old| old >= age)
        };
        let entries = self.disk.iter().flat_map(std::fs::read_dir).flatten().flatten().filter(is_left);
        let removed = entries.filter_map(|entry| {
            let bytes = entry.metadata().map_or(0, |m| m.len());
            std::fs::remove_file(entry.path()).ok().map(|()| bytes)
        });
        removed.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes))
    }
}

/// A time in seconds since 1970; 0 for any before.
pub(crate) fn since_1970(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs().cast_signed())
}

fn listed(folder: &std::path::Path) -> io::Result<Vec<ListedObject>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        // Gone again, or of a name that no push gives.
        let (Ok(meta), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else { continue };
        let written = meta.modified().map_or(0, since_1970);
        found.push(ListedObject { name, bytes: meta.len(), written, is_file: meta.is_file() });
    }
    Ok(found)
}

/// The next piece of a file, and the file.
fn piece_of(mut file: File) -> io::Result<(File, Vec<u8>)> {
    let mut piece = vec![0; PIECE_BYTES];
    let read = file.read(&mut piece)?;
    piece.truncate(read);
    Ok((file, piece))
}

/// Runs what may wait for a disk on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// An error of the system as the store would give it.
fn of_system(error: io::Error) -> StoreError {
    let source = Box::new(error);
    match source.kind() {
        io::ErrorKind::NotFound => StoreError::NotFound { path: String::new(), source },
        _ => StoreError::Generic { store: "folder", source },
    }
}
