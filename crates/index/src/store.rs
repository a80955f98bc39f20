//! A project's folder on disk and its one commit point.
//!
//! Each commit atomically replaces the lexical index's `meta.json`, whose payload names the file table that belongs to
//! it. So a reader sees one complete generation, the one before a commit or the one after it.

mod ahead;
mod clean;
mod lock;
mod memory;
mod mention;
mod moved;
mod order;
mod refused;
mod remains;
mod share;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use colgrep_core::{Unit, UnitId, UnitRole};
use colgrep_syntax::language::{self, may_call};
use colgrep_syntax::parse::StoredUnit;
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::disk::{Disk, check_owner, keep_private, read_regular};
use crate::error::{Error, Result, caught};
use crate::ids::{FileId, FileOrder, StableId};
use crate::lexical::{CodeName, CommitPoint, Lexical, UnitHit, Writer, split_callee};
use crate::mode::{VectorMode, init_suffix, is_by_init};
use crate::source::TextCache;
use crate::vector::{VectorPlace, Vectors};
use crate::worktree::sibling_roots;

pub use ahead::KnownFiles;
pub(crate) use lock::PATIENCE;
pub use lock::WriteLock;
pub use memory::PathMemory;
pub use mention::Mention;
pub use remains::IsOut;
pub use share::{Adoption, IndexPart, NewPart, POINT_PART, PartContent, Shipment, is_part};
pub use table::{FileRecord, FileTable, opened_table, sealed_table};

/// Raise it whenever units, their texts, tokens, fields, the file table or the manifest in it change.
const LAYOUT_VERSION: u32 = 20;

/// Version of the lexical index and the file table; everything is rebuilt when it changes. It contains the hash of the
/// languages, whose rows and queries define the units. Vector files have their own versions, in the first bytes of a
/// segment and of a codebook, and raising one of those rebuilds only the vectors.
pub const FORMAT_VERSION: u32 = language::HASH.wrapping_add(LAYOUT_VERSION);

/// Attempts to open the index while other processes commit.
pub(crate) const ATTEMPTS: u32 = 100;

/// The folder of the index of the project at `root`: `{name}-{hash8}` below `data_folder`.
pub fn project_folder(data_folder: &Path, root: &Path) -> PathBuf {
    data_folder.join(folder_name(&root.file_name().map_or_else(|| "root".into(), |n| n.to_string_lossy()), root))
}

/// The folder of the index of a history, which all worktrees of a repository share: called `name`, and identified by
/// `place`.
pub fn history_folder(data_folder: &Path, name: &str, place: &Path) -> PathBuf {
    data_folder.join(folder_name(name, place) + ".history")
}

fn folder_name(name: &str, place: &Path) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' })
        .take(60)
        .collect();
    let hash = xxh3_64(place.as_os_str().as_encoded_bytes());
    format!("{name}-{:08x}", hash as u32)
}

/// One generation of a project's index, open for reading.
#[derive(Debug)]
pub struct Snapshot {
    /// The searchable units.
    pub lexical: Lexical,
    pub files: FileTable,
    /// The vectors, if any can be read.
    pub vectors: Option<Vectors>,
    /// Why the vectors that this generation should have can't be read.
    pub damage: Option<Error>,
    pub(crate) point: CommitPoint,
    /// Facts about the paths of files that searches met.
    pub path_facts: PathMemory,
    /// Texts of files that searches read.
    pub texts: TextCache,
    /// Positions of all files by path, computed on first use.
    order: OnceLock<FileOrder>,
    /// The same by age, for a history.
    ages: OnceLock<FileOrder>,
    /// Hash of its content, computed on first use.
    fingerprint: OnceLock<u64>,
    /// The units with vectors and their places, computed when a search first needs them all.
    pub placed: OnceLock<Vec<(UnitId, VectorPlace)>>,
    /// Whether work on it met content that makes no sense.
    failed: AtomicBool,
}

/// A generation without its table.
pub(crate) struct GenerationParts {
    lexical: Lexical,
    vectors: Option<Vectors>,
    pub(crate) damage: Option<Error>,
    point: CommitPoint,
}

impl GenerationParts {
    /// The whole generation.
    pub(crate) fn with(self, files: FileTable) -> Snapshot {
        let GenerationParts { lexical, vectors, damage, point } = self;
        let (path_facts, texts, placed) = (PathMemory::default(), TextCache::default(), OnceLock::new());
        let (order, ages, fingerprint) = Default::default();
        let failed = AtomicBool::new(false);
        Snapshot { lexical, files, vectors, damage, point, path_facts, texts, order, ages, fingerprint, placed, failed }
    }
}

/// How many units have vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub units: u64,
    pub with_vectors: u64,
}

impl Coverage {
    /// Number of units without vectors.
    pub fn without_vectors(&self) -> u64 {
        self.units - self.with_vectors
    }
}

/// Notes that the work it belongs to panicked.
struct PanicNote<'a>(&'a AtomicBool);

impl Drop for PanicNote<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Snapshot {
    /// Does work that reads this index alone, and notes if its content makes no sense: where several indexes are read
    /// together, that tells which of them failed.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn noted<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let note = PanicNote(&self.failed);
        let done = work();
        if done.as_ref().is_err_and(Error::is_of_content) {
            note.0.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Whether work on it met content that makes no sense ([`Snapshot::noted`]).
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// When this generation was written, in milliseconds since 1970. A pulled index keeps the time at which it was built.
    pub fn written_ms(&self) -> u64 {
        // `colgrep FORMAT GENERATION …`: the number of a generation is a time in nanoseconds.
        let number = self.point.payload.as_deref().and_then(|payload| payload.split(' ').nth(2)?.parse::<u64>().ok());
        number.unwrap_or_default() / 1_000_000
    }

    /// A hash of this generation's content: two snapshots with the same one give the same answers, and file places and
    /// unit addresses mean the same in both, on any machine. Roots and times do not count, so clones that pull one
    /// index share its fingerprint.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut sum = Xxh3::new();
            for (segment, deletions) in &*self.point.segments {
                sum.update(segment.as_bytes());
                sum.update(&deletions.unwrap_or(u64::MAX).to_le_bytes());
            }
            for file in &self.files.files {
                sum.update(&file.id.0.to_le_bytes());
                sum.update(&file.hash.to_le_bytes());
                sum.update(file.path.as_bytes());
            }
            if let Some(vectors) = &self.vectors {
                let manifest = vectors.manifest();
                sum.update(&manifest.fingerprint.to_le_bytes());
                manifest.segments.iter().for_each(|name| sum.update(name.as_bytes()));
            }
            sum.digest()
        })
    }

    /// Reads everything that searches read of the lexical index. Indexes from elsewhere may have content that no writer
    /// of ours writes.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if something makes no sense.
    pub(crate) fn read_through(&self) -> Result<()> {
        let files: HashSet<FileId> = self.files.files.iter().map(|file| file.id).collect();
        caught(|| self.lexical.read_through(|file| files.contains(&file))).flatten()
    }

    pub fn unit_with(&self, id: StableId) -> Option<(UnitHit, &FileRecord)> {
        let of_number: HashMap<FileId, &FileRecord> = self.files.indexed().map(|file| (file.id, file)).collect();
        let is_it = |file: FileId, line, end| {
            of_number.get(&file).is_some_and(|record| StableId::new(&record.path, line, end) == id)
        };
        let unit = self.lexical.unit_where(is_it)?;
        Some((unit, of_number.get(&unit.file)?))
    }

    /// A unit as indexed, without its body. If its file has changed or is gone, what is read from the file is empty.
    pub fn unit(&self, key: UnitId) -> Result<Unit> {
        Ok(self.units(&[key])?.pop().unwrap_or_default())
    }

    /// The same for several units; each file is read once.
    pub fn units(&self, keys: &[UnitId]) -> Result<Vec<Unit>> {
        let mut of_file: BTreeMap<Option<FileId>, Vec<usize>> = BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            of_file.entry(self.lexical.hit(*key).map(|hit| hit.file)).or_default().push(at);
        }
        let of_one = |(file, places): (Option<FileId>, Vec<usize>)| {
            let stored = places.iter().map(|at| self.lexical.unit(keys[*at])).collect::<Result<Vec<StoredUnit>>>()?;
            let text = file.and_then(|file| self.text_as_indexed(file)).unwrap_or_default();
            Ok(places.into_iter().zip(StoredUnit::units(stored, &text)).collect::<Vec<_>>())
        };
        let units = of_file.into_par_iter().map(of_one).collect::<Result<Vec<_>>>()?;
        let mut units: Vec<(usize, Unit)> = units.into_iter().flatten().collect();
        units.sort_unstable_by_key(|(at, _)| *at);
        Ok(units.into_iter().map(|(_, unit)| unit).collect())
    }

    pub fn record(&self, file: FileId) -> Option<&FileRecord> {
        self.files.files.get(self.order().place(file).0 as usize)
    }

    /// A file's text, if it is unchanged since it was indexed.
    fn text_as_indexed(&self, file: FileId) -> Option<Arc<String>> {
        let record = self.record(file)?;
        let (text, hash) = self.texts.hashed(Path::new(&self.files.root), &record.path).ok()?;
        (record.hash == hash).then_some(text)
    }

    /// The language of a file, as in the table.
    pub fn language(&self, file: FileId) -> &str {
        self.record(file).map_or("", |record| record.language.as_str())
    }

    /// The definitions that a call in a file of this language may mean by the last part of its name, by file and line;
    /// declarations only where nothing defines it.
    pub fn callable(&self, last: &str, language: &str) -> Result<Vec<(UnitHit, Unit)>> {
        let mut units = self.lexical.units_with_last_part(last)?;
        units.retain(|(hit, _)| hit.kind.is_definition() && may_call(language, self.language(hit.file)));
        let roles = [UnitRole::Definition, UnitRole::Extension, UnitRole::Declaration, UnitRole::Test];
        let role = roles.into_iter().find(|role| units.iter().any(|(hit, _)| hit.role == *role));
        units.retain(|(hit, _)| Some(hit.role) == role);
        Ok(units)
    }

    /// The definitions of what the units of a name call, by file and line.
    pub fn called_by(&self, name: &CodeName) -> Result<Vec<UnitHit>> {
        let named = self.lexical.units_of_name(name)?;
        let keys: Vec<UnitId> = named.iter().map(|(hit, _)| hit.key).collect();
        let mut callees = BTreeSet::new();
        for ((hit, _), unit) in named.iter().zip(self.units(&keys)?) {
            let language = self.language(hit.file);
            callees.extend(unit.calls.iter().map(|callee| (split_callee(callee).1.to_string(), language)));
        }
        let mut found = Vec::new();
        for (last, language) in callees {
            found.extend(self.callable(&last, language)?.into_iter().map(|(hit, _)| hit));
        }
        found.sort_by_key(|unit| (unit.file, unit.line, unit.key));
        found.dedup_by_key(|unit| unit.key);
        Ok(found)
    }

    /// Qualified names of units that call `name`, which is defined in a file of this language, at most twenty, in order of
    /// path and line.
    pub fn callers(&self, name: &str, language: &str) -> Result<Vec<String>> {
        let order = self.order();
        let may_call = |file| may_call(self.language(file), language);
        self.lexical.callers(name, may_call, |file| order.place(file).0)
    }

    /// How many encodable units have vectors, of any model. Looks each one up unless the manifest says all.
    pub fn coverage(&self) -> Coverage {
        let complete = self.vectors.as_ref().is_some_and(|v| v.manifest().complete);
        let mut coverage = Coverage::default();
        self.lexical.each_unit(None, |_, _, hash| {
            let has = complete || self.vectors.as_ref().is_some_and(|v| v.place(hash).is_some());
            coverage.units += 1;
            coverage.with_vectors += u64::from(has);
        });
        coverage
    }
}

/// Settings of an index that updates keep unless the user changes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upkeep {
    pub mode: VectorMode,
    /// Whether `init` made or updated it.
    pub by_init: bool,
}

impl Upkeep {
    fn of_payload(payload: &str) -> Upkeep {
        Upkeep { mode: VectorMode::of_payload(payload), by_init: is_by_init(payload) }
    }
}

/// A project's folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    disk: Disk,
}

impl Store {
    /// The store in `folder`, which need not exist.
    pub fn new(folder: PathBuf) -> Store {
        Store::on(folder, Disk::default())
    }

    /// The store in `folder` whose changes all go through `disk`.
    pub fn on(folder: PathBuf, disk: Disk) -> Store {
        Store { folder, disk }
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn lexical_folder(&self) -> PathBuf {
        self.folder.join("lexical")
    }

    pub fn vectors_folder(&self) -> PathBuf {
        self.folder.join("vectors")
    }

    /// The vectors of the same project's other worktrees with an index in the same data folder.
    pub(crate) fn sibling_vectors(&self, root: &Path) -> Vec<Vectors> {
        let Some(data_folder) = self.folder.parent() else { return Vec::new() };
        let open = |root: PathBuf| Store::new(project_folder(data_folder, &root)).open().ok()?.vectors;
        sibling_roots(root).into_iter().filter_map(open).collect()
    }

    /// The settings of the index, read from the commit point of any version; `None` if nothing was ever committed.
    pub fn upkeep(&self) -> Option<Upkeep> {
        let payload = Lexical::commit_point(&self.lexical_folder()).ok()?.payload?;
        payload.starts_with("colgrep ").then(|| Upkeep::of_payload(&payload))
    }

    /// Whether an index was ever committed here, by this version or another.
    pub fn exists(&self) -> bool {
        self.upkeep().is_some()
    }

    fn table_path(&self, generation: u64) -> PathBuf {
        self.folder.join(format!("files-{generation}.bin"))
    }

    /// Opens the newest generation.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`](crate::ErrorKind::Missing) if there is none,
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if this version can't read it.
    pub fn open(&self) -> Result<Snapshot> {
        let mut point = self.point()?;
        self.check_owner()?;
        keep_private(&self.folder);
        // A later commit or merge may remove files during these reads; then retry. A failure with an unchanged commit
        // point is damage to report.
        for _ in 0..ATTEMPTS {
            let opened = self.open_generation(&point);
            if opened.as_ref().is_ok_and(|snapshot| snapshot.damage.is_none()) {
                return opened;
            }
            let now = self.point()?;
            if now == point {
                return opened;
            }
            point = now;
        }
        Err(Error::Changing)
    }

    /// Opens the newest generation and verifies all of its lexical index; vectors have their own verification. An index
    /// from elsewhere is also read through.
    pub(crate) fn open_verified(&self) -> Result<Snapshot> {
        for _ in 0..ATTEMPTS {
            let snapshot = self.open()?;
            let is_read_through = !snapshot.files.pulled.is_empty();
            let checked = Lexical::verify(&self.lexical_folder());
            let read = checked.is_ok() && is_read_through;
            let checked = checked.and_then(|()| if read { snapshot.read_through() } else { Ok(()) });
            // The newest commit was verified.
            if self.point()? == snapshot.point {
                if read && checked.as_ref().is_err_and(Error::is_of_content) {
                    self.refuse(&snapshot.files.pulled)?;
                }
                return checked.map(|()| snapshot);
            }
        }
        Err(Error::Changing)
    }

    /// The commit point; `Missing` if another process has just removed the index.
    pub(crate) fn point(&self) -> Result<CommitPoint> {
        let point = Lexical::commit_point(&self.lexical_folder());
        point.map_err(|error| match self.lexical_folder().join("meta.json").exists() {
            true => error,
            false => Error::NoIndex(self.folder.clone()),
        })
    }

    /// Refuses the folder of another user.
    pub(super) fn check_owner(&self) -> Result<()> {
        check_owner(&self.folder).map_err(|e| Error::io("open", &self.folder, e))
    }

    fn open_generation(&self, point: &CommitPoint) -> Result<Snapshot> {
        let files = self.table_at(point)?;
        Ok(self.open_parts(point, &files)?.with(files))
    }

    /// The table of the generation that a commit point names.
    fn table_at(&self, point: &CommitPoint) -> Result<FileTable> {
        let mut files = self.read_table(self.generation_of(point)?)?;
        let upkeep = point.payload.as_deref().map(Upkeep::of_payload).unwrap_or_default();
        (files.mode, files.by_init) = (upkeep.mode, upkeep.by_init);
        Ok(files)
    }

    /// The newest commit point and its table, read before all else; `None` if they can't be read.
    pub(crate) fn ahead(&self) -> Option<(CommitPoint, FileTable)> {
        let point = self.point().ok()?;
        self.check_owner().ok()?;
        keep_private(&self.folder);
        let files = self.table_at(&point).ok()?;
        Some((point, files))
    }

    /// Opens the generation of a commit point and its table.
    ///
    /// # Errors
    /// When it is damaged, or a later one removed its files.
    pub(crate) fn open_parts(&self, point: &CommitPoint, files: &FileTable) -> Result<GenerationParts> {
        // Forged files can make no sense as early as here.
        let lexical = caught(|| Lexical::open_at(&self.lexical_folder(), point)).flatten()?;
        let opened = files.vectors.as_ref().map(|manifest| Vectors::open(&self.vectors_folder(), manifest));
        let (vectors, damage) = match opened {
            Some(Ok(vectors)) => (Some(vectors), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        Ok(GenerationParts { lexical, vectors, damage, point: point.clone() })
    }

    /// The parts of an unreadable index that a rebuild keeps: its mode, and its vectors if the table is sound.
    pub(crate) fn heritage(&self) -> FileTable {
        let generation = Lexical::commit_point(&self.lexical_folder()).and_then(|point| self.generation_of(&point));
        let table = generation.and_then(|generation| self.read_table(generation)).unwrap_or_default();
        let Upkeep { mode, by_init } = self.upkeep().unwrap_or_default();
        FileTable { vectors: table.vectors, mode, by_init, ..FileTable::default() }
    }

    /// The root of the indexed project; `None` without a table of this version.
    pub fn root(&self) -> Option<PathBuf> {
        Some(PathBuf::from(self.read_table(self.generation().ok()?).ok()?.root))
    }

    /// When a search last opened the index or an update changed it; `None` if unknown. Reading the root's name for a
    /// list of indexes does not count.
    pub fn last_used(&self) -> Option<SystemTime> {
        let parts = fs::read_dir(self.lexical_folder()).ok()?.flatten().filter(|part| part.file_name() != "meta.json");
        let times = parts.filter_map(|part| part.metadata().ok()).map(|m| m.modified().ok().max(m.accessed().ok()));
        times.max().flatten()
    }

    fn read_table(&self, generation: u64) -> Result<FileTable> {
        let path = self.table_path(generation);
        let bytes = read_regular(&path, u64::MAX).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData => Error::damaged_file(&path, e),
            _ => Error::io("read", &path, e),
        })?;
        opened_table(generation, &bytes).map_err(|e| Error::damaged_file(&path, e))
    }

    /// The generation that the commit point names.
    fn generation(&self) -> Result<u64> {
        self.generation_of(&Lexical::commit_point(&self.lexical_folder())?)
    }

    fn generation_of(&self, point: &CommitPoint) -> Result<u64> {
        let Some(payload) = &point.payload else {
            return Err(Error::NotCommitted(self.folder.clone()));
        };
        if !point.sealed && payload.starts_with(&format!("colgrep {FORMAT_VERSION} ")) {
            return Err(Error::damaged(format!("{}: meta.json is damaged", self.lexical_folder().display())));
        }
        let own = payload.strip_prefix(&format!("colgrep {FORMAT_VERSION} "));
        let parsed = own.and_then(|rest| rest.split(' ').next()?.parse().ok());
        parsed.ok_or_else(|| Error::OtherVersion(payload.clone()))
    }

    /// The next generation's number. Numbers are times, so they rise through rebuilds too, and a reader can't confuse
    /// the tables of two builds.
    fn next_generation(&self) -> u64 {
        let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        self.generation().map_or(now_ns, |g| now_ns.max(g + 1))
    }

    /// Writes `table` next to the current one and returns the payload that makes it current once committed.
    fn write_table(&self, table: &FileTable) -> Result<String> {
        let generation = self.next_generation();
        let path = self.table_path(generation);
        let bytes = sealed_table(generation, table)?;
        let written = self.disk.write(&path, &bytes).and_then(|()| self.disk.sync_folder(&self.folder));
        written.map_err(|e| Error::io("write", &path, e))?;
        let marks = [&table.mode.suffix(), init_suffix(table.by_init)].concat();
        Ok(format!("colgrep {FORMAT_VERSION} {generation}{marks}"))
    }

    /// Makes `table` current together with what `writer` has queued, and removes files that no commit names any more.
    pub(crate) fn commit(&self, writer: &mut Writer, table: &FileTable) -> Result<()> {
        writer.commit(&self.write_table(table)?)?;
        self.remove_old(table);
        Ok(())
    }

    /// Makes `table` current over the unchanged index.
    pub(crate) fn commit_table(&self, table: &FileTable) -> Result<()> {
        let mut writer = Writer::open(&self.lexical_folder(), &self.disk)?;
        self.commit(&mut writer, table)?;
        writer.finish()
    }

    /// Bytes that the folder takes on disk.
    pub fn bytes_on_disk(&self) -> u64 {
        fn size(folder: &Path) -> u64 {
            let Ok(entries) = fs::read_dir(folder) else { return 0 };
            entries
                .flatten()
                .map(|e| match e.metadata() {
                    Ok(m) if m.is_dir() => size(&e.path()),
                    Ok(m) => m.len(),
                    Err(_) => 0,
                })
                .sum()
        }
        size(&self.folder)
    }
}
