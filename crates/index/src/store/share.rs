//! Sends an index between machines: lists its files, and adopts a folder of such files as the index of a root.
//!
//! A sent index names no root, no times and no skipped files. A received one is verified whole, and its table may name
//! nothing outside the root.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{ATTEMPTS, FileRecord, FileTable, IsOut, Snapshot, Store, WriteLock, sealed_table};
use crate::disk::{DiskFile, open_regular};
use crate::error::{Error, Result, caught};
use crate::lexical::{is_segment_file, named_files};
use crate::mode::VectorMode;
use crate::vector::{SpareSegment, VectorManifest, Vectors, is_vector_file};
use crate::walk::{KnownTree, WalkOptions};

/// The commit point among the parts; it is written last.
pub const POINT_PART: &str = "lexical/meta.json";
/// A time of change that no file has, so that the file is read and compared by its hash.
const UNKNOWN_TIME: i64 = i64::MIN;

/// A file of an index, as sent.
#[derive(Debug)]
pub struct IndexPart {
    /// Its path in the index's folder, `/` between components.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    pub content: PartContent,
}

#[derive(Debug)]
pub enum PartContent {
    /// An open file, which survives a commit that removes it.
    File(File),
    /// Bytes made for sending.
    Bytes(Vec<u8>),
}

/// One whole generation, ready to be sent.
#[derive(Debug)]
pub struct Shipment {
    /// Its files, the commit point last.
    pub parts: Vec<IndexPart>,
    pub table: FileTable,
}

/// A part that is being written.
#[derive(Debug)]
pub struct NewPart {
    file: DiskFile,
    path: PathBuf,
}

impl NewPart {
    /// Adds a piece.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io("write", &self.path, e))
    }

    /// Flushes it to the disk.
    pub fn finish(self) -> Result<()> {
        self.file.sync().map_err(|e| Error::io("write", &self.path, e))
    }
}

/// Settings of an index that is taken over from elsewhere.
#[derive(Clone, Debug)]
pub struct Adoption<'a> {
    pub root: &'a Path,
    /// The walk options of the project's index.
    pub options: WalkOptions,
    pub mode: VectorMode,
    /// Whether somebody asked for the index, rather than searched.
    pub by_init: bool,
    /// Whether to take its vectors; if not, their files may be missing.
    pub takes_vectors: bool,
    /// Identifies the index that was taken over ([`FileTable::pulled`]).
    pub origin: &'a str,
    /// The index that it replaces, whose vectors become spares, so that no text is encoded again.
    pub before: &'a Store,
}

/// Whether a path can be that of an index's file: no other file is sent or accepted.
pub fn is_part(name: &str) -> bool {
    let table = || {
        let number = name.strip_prefix("files-").and_then(|rest| rest.strip_suffix(".bin"));
        number.is_some_and(|n| !n.is_empty() && n.len() <= 20 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_plain = |file: &str| file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    match name.split_once('/') {
        None => table(),
        Some(("lexical", file)) => name == POINT_PART || (is_segment_file(file) && is_plain(file)),
        Some(("vectors", file)) => is_vector_file(file),
        Some(_) => false,
    }
}

impl Store {
    /// The newest generation, verified whole and ready to send. Segments with texts of files that were changed or
    /// removed are rewritten first, unless they were sent already.
    ///
    /// # Errors
    /// If there is no index, or it is damaged or incomplete.
    pub fn ship(&self, is_out: IsOut<'_>) -> Result<Shipment> {
        for _ in 0..ATTEMPTS {
            let snapshot = self.open_verified()?;
            let parts = match self.parts(&snapshot) {
                // A commit removed a file meanwhile.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
                parts => parts?,
            };
            let remains = self.remains(&snapshot, &parts, is_out)?;
            if remains.is_empty() {
                return Ok(Shipment { parts, table: snapshot.files });
            }
            drop(snapshot);
            self.rewrite(&remains)?;
        }
        Err(Error::Changing)
    }

    fn parts(&self, snapshot: &Snapshot) -> Result<Vec<IndexPart>> {
        if !snapshot.files.complete {
            return Err(Error::NotCommitted(self.folder.clone()));
        }
        if let Some(vectors) = &snapshot.vectors {
            vectors.verify()?;
        }
        let generation = self.generation_of(&snapshot.point)?;
        let mut parts = Vec::new();
        let named = named_files(&self.lexical_folder())?;
        let folder = self.lexical_folder();
        let entries = fs::read_dir(&folder).map_err(|e| Error::io("read", &folder, e))?;
        for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
            if is_segment_file(&name) && named.contains(&name) {
                parts.push(part_of(&folder, "lexical", &name)?);
            }
        }
        let table = sent(&snapshot.files, snapshot.vectors.as_ref());
        for name in table.vectors.iter().flat_map(VectorManifest::names) {
            parts.push(part_of(&self.vectors_folder(), "vectors", &name)?);
        }
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        let bytes = sealed_table(generation, &table)?;
        for (name, bytes) in
            [(format!("files-{generation}.bin"), bytes), (POINT_PART.to_string(), snapshot.point.text().to_vec())]
        {
            parts.push(IndexPart { name, bytes: bytes.len() as u64, content: PartContent::Bytes(bytes) });
        }
        // The list is complete only if its commit is still the newest.
        if self.point()? == snapshot.point { Ok(parts) } else { Err(Error::io("read", &folder, gone())) }
    }

    /// Where an index from elsewhere is assembled before it replaces this one.
    pub fn incoming(&self) -> Store {
        let mut name = self.folder.file_name().unwrap_or_default().to_os_string();
        name.push(".pull");
        Store { folder: self.folder.with_file_name(name), disk: self.disk.clone() }
    }

    /// Removes the leftovers of a stopped pull, unless one is running.
    pub(crate) fn clear_incoming(&self) {
        let incoming = self.incoming();
        if incoming.folder.is_dir()
            && let Ok(lock) = incoming.lock(false)
        {
            let _ = incoming.remove(&lock);
        }
    }

    /// Begins a part that arrives in pieces, replacing an unfinished one.
    ///
    /// # Errors
    /// When the name is not a part's, or the disk refuses.
    pub fn new_part(&self, name: &str) -> Result<NewPart> {
        let path = self.part_path(name)?;
        // An existing one may be a hard link to a file of the index in use: remove it, never truncate it.
        if path.symlink_metadata().is_ok() {
            self.disk.remove(&path).map_err(|e| Error::io("remove", &path, e))?;
        }
        let file = self.disk.create_new(&path).map_err(|e| Error::io("write", &path, e))?;
        Ok(NewPart { file, path })
    }

    /// The path of a part. Creates its folder.
    fn part_path(&self, name: &str) -> Result<PathBuf> {
        if !is_part(name) {
            return Err(Error::damaged(format!("{name} is no name of a file of an index")));
        }
        let path = self.folder.join(name);
        self.disk.create_folder(path.parent().unwrap_or(&self.folder))?;
        Ok(path)
    }

    /// The file of a part, if it exists with this size.
    pub fn part(&self, name: &str, bytes: u64) -> Option<File> {
        let file = is_part(name).then(|| open_regular(&self.folder.join(name)).ok()).flatten()?;
        (file.metadata().ok()?.len() == bytes).then_some(file)
    }

    /// Links a part from another store on the same file system, or copies it if that fails.
    pub fn link_part(&self, name: &str, from: &Store) -> Result<()> {
        let path = self.part_path(name)?;
        let source = from.folder.join(name);
        self.disk.link(&source, &path).map_err(|e| Error::io("write", &path, e))
    }

    /// Makes the parts in this store's folder the index of a root: verifies every checksum and the table, reads all that
    /// searches read, and commits. Removes files that no commit names.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if something is damaged or names a forbidden path.
    pub fn adopt(&self, lock: &WriteLock, adoption: &Adoption<'_>) -> Result<()> {
        let snapshot = self.open_verified()?;
        check_table(&snapshot.files)?;
        snapshot.read_through()?;
        let mut table = snapshot.files;
        let mut taken = table.vectors.take().filter(|_| adoption.takes_vectors);
        if let Some(manifest) = &mut taken {
            if !manifest.names().all(|name| is_vector_file(&name)) {
                return Err(Error::damaged("its vectors have names that none have"));
            }
            manifest.spare.clear();
            if let Some(damage) = Vectors::damage(&self.vectors_folder(), manifest).into_iter().next() {
                return Err(damage);
            }
        }
        let keeps = adoption.mode == VectorMode::Full;
        table.vectors = if keeps { self.with_spares(taken, adoption.before)? } else { None };
        let WalkOptions { hidden, secrets, no_ignore, filesize_max } = adoption.options;
        (table.hidden, table.secrets, table.no_ignore, table.filesize_max) = (hidden, secrets, no_ignore, filesize_max);
        table.root = adoption.root.to_string_lossy().into_owned();
        know_times(&mut table, adoption.before);
        (table.mode, table.by_init) = (adoption.mode, adoption.by_init);
        table.pulled = adoption.origin.to_string();
        table.tree = KnownTree::default();
        self.commit_table(&table)?;
        self.clean(lock)
    }

    /// Begins an index of `root`, where there is none, with that of another worktree of the repository: its files are
    /// linked, and the next update compares each file of the tree by its hash. Returns whether it did; it does not where
    /// `from` has no complete index, or another process writes either.
    ///
    /// # Errors
    /// When the disk refuses, or the other index is damaged.
    pub fn begin_with(&self, from: &Store, root: &Path) -> Result<bool> {
        let Ok(snapshot) = from.open() else { return Ok(false) };
        let incoming = self.incoming();
        let (Ok(lock), Ok(own_lock)) = (incoming.lock(false), self.lock(false)) else { return Ok(false) };
        if self.exists() {
            return Ok(false);
        }
        let begun = caught(|| {
            for part in from.parts(&snapshot)? {
                match part.content {
                    PartContent::File(_) => incoming.link_part(&part.name, from)?,
                    PartContent::Bytes(bytes) => {
                        let mut new = incoming.new_part(&part.name)?;
                        new.add(&bytes)?;
                        new.finish()?;
                    }
                }
            }
            let FileTable { mode, by_init, .. } = snapshot.files;
            let options = snapshot.files.walk_options();
            let adoption = Adoption { root, options, mode, by_init, takes_vectors: true, origin: "", before: self };
            incoming.adopt(&lock, &adoption)
        });
        if let Err(error) = begun.flatten() {
            incoming.remove(&lock)?;
            return Err(error);
        }
        incoming.replace(lock, self, own_lock)?;
        Ok(true)
    }

    /// `taken` with the segments of the previous index as spares; that index's own vectors if none were taken.
    fn with_spares(&self, taken: Option<VectorManifest>, before: &Store) -> Result<Option<VectorManifest>> {
        let kept = before.open().ok().and_then(|snapshot| snapshot.files.vectors);
        let Some(kept) = kept else { return Ok(taken) };
        let Some(mut taken) = taken else {
            kept.names().try_for_each(|name| self.take_vectors(&name, before))?;
            return Ok(Some(VectorManifest { complete: false, ..kept }));
        };
        if !taken.is_alike(&kept) {
            return Ok(Some(taken));
        }
        let day = SpareSegment::today();
        let segments = kept.segments.iter().map(|name| SpareSegment { name: name.clone(), bytes: 0, day });
        for mut spare in kept.spare.iter().cloned().chain(segments) {
            if taken.segments.contains(&spare.name) || self.take_vectors(&spare.name, before).is_err() {
                continue;
            }
            spare.bytes = fs::metadata(self.vectors_folder().join(&spare.name)).map_or(0, |m| m.len());
            taken.spare.push(spare);
        }
        Ok(Some(taken))
    }

    fn take_vectors(&self, name: &str, before: &Store) -> Result<()> {
        self.link_part(&format!("vectors/{name}"), before)
    }

    /// Puts this store's folder in the place of `other`, and removes the old content. The caller has locked both. On
    /// Linux the exchange is atomic; elsewhere a kill halfway leaves no index, and the next search builds one.
    pub fn replace(&self, lock: WriteLock, other: &Store, other_lock: WriteLock) -> Result<()> {
        let exchanged = self.disk.exchange_folders(&self.folder, &other.folder);
        exchanged.map_err(|e| Error::io("replace", &other.folder, e))?;
        // The locks moved with their folders: ours is now at the other's path.
        drop(lock);
        self.remove(&other_lock)
    }
}

fn part_of(folder: &Path, below: &str, name: &str) -> Result<IndexPart> {
    let path = folder.join(name);
    let file = open_regular(&path).map_err(|e| Error::io("read", &path, e))?;
    let bytes = file.metadata().map_err(|e| Error::io("read", &path, e))?.len();
    Ok(IndexPart { name: format!("{below}/{name}"), bytes, content: PartContent::File(file) })
}

fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// The table as sent: without root and times, and without skipped files, whose names may be private.
fn sent(table: &FileTable, vectors: Option<&Vectors>) -> FileTable {
    let files = table.indexed().map(|file| FileRecord { mtime_ns: UNKNOWN_TIME, ..file.clone() }).collect();
    let manifest = vectors.map(|vectors| VectorManifest { spare: Vec::new(), ..vectors.manifest().clone() });
    FileTable {
        files,
        root: String::new(),
        unreadable: Vec::new(),
        state: Vec::new(),
        tree: KnownTree::default(),
        vectors: manifest,
        pulled: String::new(),
        ..table.clone()
    }
}

/// Refuses a table unless it lists files of a tree, each once and below the root.
fn check_table(table: &FileTable) -> Result<()> {
    let refused = |what: &str| Err(Error::damaged(format!("its table of files {what}")));
    if table.source != 0 {
        return refused("is of no tree");
    }
    let mut ids = HashSet::new();
    let mut last: Option<&str> = None;
    for file in &table.files {
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        let below = file.path.split('/').all(is_plain) && !(cfg!(windows) && file.path.contains([':', '\\']));
        if !below || last.is_some_and(|last| last >= file.path.as_str()) {
            return refused("names a file that can't be in a tree, or one twice");
        }
        if !ids.insert(file.id) || file.id.0 >= table.next_id {
            return refused("gives a number twice");
        }
        last = Some(&file.path);
    }
    Ok(())
}

/// Copies the times of files that the previous index had with the same content, so that they are not read again.
fn know_times(table: &mut FileTable, before: &Store) {
    let Ok(Snapshot { files, .. }) = before.open() else { return };
    if files.root != table.root {
        return;
    }
    for file in &mut table.files {
        let known = files.files.binary_search_by(|known| known.path.as_str().cmp(&file.path));
        let known = known.map(|at| &files.files[at]).ok();
        if let Some(known) = known.filter(|known| known.skip.is_none() && known.hash == file.hash) {
            (file.size, file.mtime_ns) = (known.size, known.mtime_ns);
        }
    }
}
