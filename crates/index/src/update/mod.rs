//! Bringing an index up to date: what changed, read and parsed on all cores, committed in checkpoints.

mod mode;
mod repair;
mod vectors;

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use colgrep_syntax::language;
use colgrep_syntax::parse::{parse_file, textual_types};
use colgrep_syntax::read::{Skip, decode, skip_by_name};
use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::ids::FileId;
use crate::lexical::{FileDocument, Writer};
use crate::source::hash;
use crate::store::{FileRecord, FileTable, Snapshot, Store};
use crate::walk::{LeftOut, WalkOptions, Walked, WalkedFile, walk};

pub use mode::set_mode;
pub use repair::repair;
pub use vectors::Encoding;
use vectors::{Built, Job};

/// Source read between two looks at the clock, in bytes: one round of parallel work. Rounds begin small, each twice the
/// one before, so that the first checkpoint of a build is not late, whatever a file costs.
const ROUND_BYTES_FIRST: u64 = 128 << 10;
const ROUND_BYTES_MAX: u64 = 8 << 20;
/// A checkpoint is committed after this long.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(10);
/// The first checkpoint of a first build comes sooner: searches wait for it.
const FIRST_CHECKPOINT_AFTER: Duration = Duration::from_secs(1);
/// What the threads of a build give way by: at 5 a thread of ordinary priority gets three times their share of a core.
#[cfg(target_os = "linux")]
const BUILD_NICENESS: i32 = 5;
/// A file changed this shortly before it is read could change again without a new time stamp:
/// it is read only when this time has passed. Kernels stamp files at their tick, 1 to 10 ms.
const STAMP_TICK: Duration = Duration::from_millis(20);

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files in the table now.
    pub files: u64,
    /// Files read and indexed (or found to hold nothing).
    pub changed: u64,
    /// Files removed.
    pub removed: u64,
    /// Units written.
    pub units: u64,
    /// Bytes of source read.
    pub bytes: u64,
    /// Whether anything was written to disk.
    pub wrote: bool,
    /// Texts turned into vectors.
    pub encoded: u64,
    /// Units that had vectors already, here or in another worktree, or share their text with another unit.
    /// Counted only where vectors were asked for and had to be brought up to date.
    pub reused: u64,
    /// Units that have no vectors though they were asked for: time ran out, files changed meanwhile, or another process
    /// is still at it.
    pub without_vectors: u64,
}

/// Told about the work as it goes; called from many threads.
pub trait Progress: Sync {
    /// So many files are to be read.
    fn begin(&self, files: u64);
    /// One more file is done; it gave so many units.
    fn file_done(&self, units: u64);
    /// So many units are to get vectors.
    fn vectors_begin(&self, _units: u64) {}
    /// So many more have them.
    fn vectors_done(&self, _units: u64) {}
    /// The ignore files that are there and not heeded, with the reason; told once, before the work begins.
    fn unheeded(&self, _files: &[(String, String)]) {}
}

/// No one watches.
impl Progress for () {
    fn begin(&self, _: u64) {}
    fn file_done(&self, _: u64) {}
}

/// What stands between a table and the tree on disk.
#[derive(Debug, Default)]
struct Difference {
    /// Files to read: new, or with another size or time.
    stale: Vec<WalkedFile>,
    /// Paths that are gone.
    gone: Vec<String>,
    /// Whether the list of unreadable entries differs.
    unreadable_differs: bool,
}

impl Difference {
    fn is_none(&self) -> bool {
        self.stale.is_empty() && self.gone.is_empty() && !self.unreadable_differs
    }
}

fn difference(table: &FileTable, root: &Path, walked: &Walked) -> Difference {
    let mut difference =
        Difference { unreadable_differs: table.unreadable != walked.unreadable, ..Difference::default() };
    // Both lists are sorted by path.
    let mut known = table.files.iter().peekable();
    for found in &walked.files {
        while let Some(gone) = known.next_if(|k| k.path < found.path) {
            difference.gone.push(gone.path.clone());
        }
        match known.next_if(|k| k.path == found.path) {
            // Whether a file can be read shows in no time stamp.
            Some(k) if k.skip == Some(Skip::Unreadable) && File::open(root.join(&k.path)).is_ok() => {
                difference.stale.push(found.clone());
            }
            Some(k) if k.size == found.size && k.mtime_ns == found.mtime_ns => {}
            _ => difference.stale.push(found.clone()),
        }
    }
    difference.gone.extend(known.map(|k| k.path.clone()));
    difference
}

/// Opens the index in `store`, brought up to date with the tree below `root`. Reads no file and writes nothing
/// where nothing changed. Waits for another writer if `wait`. An index that this version can't read is built anew.
/// `ignored` are lines as in a `.gitignore` at the root; `options` of `None` keep those that the index was made with.
///
/// With `encoding`, units that lack vectors get them, after the lexical index is committed; without, the vectors
/// that are there stay as they are.
///
/// # Errors
/// When the tree can't be read, the disk refuses, the model fails, or (without `wait`) another process writes.
pub fn open_current(
    store: &Store,
    root: &Path,
    ignored: &[String],
    options: Option<&WalkOptions>,
    wait: bool,
    encoding: Option<&Encoding<'_>>,
    progress: &dyn Progress,
) -> Result<(Snapshot, Report)> {
    let walk_with =
        |options: &WalkOptions| walk(root, &LeftOut { folder: Some(store.folder()), patterns: ignored }, options);
    let has_vectors = |snapshot: &Snapshot| encoding.is_none_or(|e| e.is_done(snapshot));
    let keep = options.is_none();
    let mut options = options.copied().unwrap_or_default();
    let (snapshot, walked) = rayon::join(|| store.open(), || walk_with(&options));
    let mut walked = walked?;
    if let Ok(snapshot) = &snapshot
        && keep
        && snapshot.files.walk_options() != options
    {
        options = snapshot.files.walk_options();
        walked = walk_with(&options)?;
    }
    progress.unheeded(&walked.unheeded);
    let current = match snapshot {
        Ok(snapshot) if is_current(&snapshot.files, root, &walked, &options) => {
            if has_vectors(&snapshot) {
                let report = Report { files: snapshot.files.files.len() as u64, ..Report::default() };
                return Ok((snapshot, report));
            }
            Some(snapshot)
        }
        Err(error) if !matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => return Err(error),
        _ => None,
    };
    let lock = match (store.lock(false), current) {
        (Err(error), _) if error.kind() == ErrorKind::Busy && wait => {
            let lock = store.lock(true)?;
            // What the other process saw may be newer than our walk.
            walked = walk_with(&options)?;
            lock
        }
        // Only vectors are lacking, and somebody is making them.
        (Err(error), Some(snapshot)) if error.kind() == ErrorKind::Busy => {
            let files = snapshot.files.files.len() as u64;
            let without_vectors = snapshot.coverage().without_vectors();
            return Ok((snapshot, Report { files, without_vectors, ..Report::default() }));
        }
        (lock, _) => lock?,
    };
    let table = match store.open() {
        Ok(snapshot) if is_current(&snapshot.files, root, &walked, &options) && has_vectors(&snapshot) => {
            return Ok((snapshot, Report::default()));
        }
        Ok(snapshot) if snapshot.files.walk_options() == options => snapshot.files,
        Ok(snapshot) => fresh_table(store, &lock, root, &options, snapshot.files)?,
        Err(error) if matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => {
            let kept = FileTable { mode: store.mode(), ..FileTable::default() };
            fresh_table(store, &lock, root, &options, kept)?
        }
        Err(error) => return Err(error),
    };
    let kept = FileTable { vectors: table.vectors.clone(), mode: table.mode, ..FileTable::default() };
    let pool = background()?;
    let mut report = match pool.install(|| build(store, root, table, &walked, progress)) {
        // Damage that opening did not show (a truncated segment, say) shows when it is written to.
        Err(error) if error.kind() == ErrorKind::Unusable => {
            let table = fresh_table(store, &lock, root, &options, kept)?;
            pool.install(|| build(store, root, table, &walked, progress))?
        }
        result => result?,
    };
    let mut snapshot = store.open()?;
    if let Some(encoding) = encoding.filter(|e| e.may_write(snapshot.files.vectors.as_ref())) {
        let started = Instant::now();
        let mut built = pool.install(|| build_vectors(store, root, &snapshot, encoding, &mut report, progress))?;
        snapshot = store.open()?;
        if !built.outdated.is_empty() {
            // What is not as it was indexed, though its time stamp is, is indexed as it is now.
            let mut table = snapshot.files;
            for record in table.files.iter_mut().filter(|f| built.outdated.contains(&f.id)) {
                record.mtime_ns = i64::MIN;
            }
            let again = pool.install(|| build(store, root, table, &walked, progress))?;
            report.changed += again.changed;
            report.units += again.units;
            report.bytes += again.bytes;
            report.wrote = true;
            let budget = encoding.budget.map(|b| b.saturating_sub(started.elapsed()));
            let rest = Encoding { budget, ..*encoding };
            snapshot = store.open()?;
            built = pool.install(|| build_vectors(store, root, &snapshot, &rest, &mut report, progress))?;
            snapshot = store.open()?;
        }
        report.without_vectors = built.missing;
        report.reused = built.units.saturating_sub(built.missing + report.encoded);
    }
    snapshot.lexical.keep_lengths(&store.lexical_folder());
    Ok((snapshot, report))
}

/// As many threads as searches have, but with a lower priority, as have those that tantivy makes from them: what people
/// wait for goes first. Only where a thread can have a priority of its own (on Linux).
fn background() -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).start_handler(|_| {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(BUILD_NICENESS);
    });
    pool.build().map_err(|e| Error::new(ErrorKind::Io, format!("could not start threads: {e}")))
}

/// The second half of an update: vectors for the units of `snapshot` that have none. The caller holds the lock.
fn build_vectors(
    store: &Store,
    root: &Path,
    snapshot: &Snapshot,
    encoding: &Encoding<'_>,
    report: &mut Report,
    progress: &dyn Progress,
) -> Result<Built> {
    let siblings = || store.sibling_vectors(root);
    let folder = store.vectors_folder();
    let job = Job { root, folder: &folder, snapshot, siblings: &siblings, encoding, progress };
    let mut writer = Writer::open(&store.lexical_folder())?;
    let mut table = snapshot.files.clone();
    let built = job.run(&mut |manifest| {
        table.vectors = Some(manifest.clone());
        report.wrote = true;
        store.commit(&mut writer, &table)
    })?;
    writer.finish()?;
    report.encoded += built.encoded;
    Ok(built)
}

fn is_current(table: &FileTable, root: &Path, walked: &Walked, options: &WalkOptions) -> bool {
    table.complete && table.walk_options() == *options && difference(table, root, walked).is_none()
}

/// An empty table in an emptied folder. The vectors of `kept` do not depend on what is indexed, and stay.
fn fresh_table(
    store: &Store,
    lock: &crate::store::WriteLock,
    root: &Path,
    options: &WalkOptions,
    kept: FileTable,
) -> Result<FileTable> {
    store.reset(lock, kept.vectors.is_some())?;
    Ok(FileTable {
        root: root.to_string_lossy().into_owned(),
        filesize_max: options.filesize_max,
        hidden: options.hidden,
        no_ignore: options.no_ignore,
        vectors: kept.vectors,
        mode: kept.mode,
        ..FileTable::default()
    })
}

/// One file, read.
struct Outcome {
    record: FileRecord,
    /// Whether its units were written (its content is new).
    written: bool,
}

fn build(store: &Store, root: &Path, mut table: FileTable, walked: &Walked, progress: &dyn Progress) -> Result<Report> {
    let difference = difference(&table, root, walked);
    if table.complete && difference.is_none() {
        return Ok(Report { files: table.files.len() as u64, ..Report::default() });
    }
    let mut writer = Writer::open(&store.lexical_folder())?;
    let mut report = Report { removed: difference.gone.len() as u64, wrote: true, ..Report::default() };
    let mut records: HashMap<String, FileRecord> = table.files.drain(..).map(|f| (f.path.clone(), f)).collect();
    for path in &difference.gone {
        if let Some(record) = records.remove(path) {
            writer.delete(record.id);
        }
    }
    table.unreadable.clone_from(&walked.unreadable);
    progress.begin(difference.stale.len() as u64);
    let bytes_read = AtomicU64::new(0);
    let mut last_commit = Instant::now();
    let mut checkpoint_after = if records.is_empty() { FIRST_CHECKPOINT_AFTER } else { CHECKPOINT_AFTER };
    let mut rest = difference.stale.as_slice();
    let mut round_bytes = ROUND_BYTES_FIRST;
    while !rest.is_empty() {
        let mut size = 0;
        let round = rest.iter().take_while(|f| {
            let before = size;
            size += f.size.min(table.filesize_max) + 512;
            before < round_bytes
        });
        let (round, next) = rest.split_at(round.count());
        round_bytes = (2 * round_bytes).min(ROUND_BYTES_MAX);
        rest = next;
        let first_id = table.next_id;
        let jobs: Vec<(FileId, &WalkedFile)> = round
            .iter()
            .enumerate()
            .map(|(i, found)| (records.get(&found.path).map_or(FileId(first_id + i as u32), |r| r.id), found))
            .collect();
        table.next_id += round.len() as u32;
        let outcomes: Vec<Result<Outcome>> = jobs
            .into_par_iter()
            .map(|(id, found)| {
                let outcome =
                    index_file(root, id, found, records.get(&found.path), table.filesize_max, &writer, &bytes_read)?;
                progress.file_done(if outcome.written { u64::from(outcome.record.units) } else { 0 });
                Ok(outcome)
            })
            .collect();
        for outcome in outcomes {
            let outcome = outcome?;
            report.changed += 1;
            if outcome.written {
                report.units += u64::from(outcome.record.units);
                if let Some(vectors) = &mut table.vectors {
                    vectors.complete = false;
                }
            }
            records.insert(outcome.record.path.clone(), outcome.record);
        }
        if !rest.is_empty() && last_commit.elapsed() >= checkpoint_after {
            commit(store, &mut writer, &mut table, &records, false)?;
            checkpoint_after = CHECKPOINT_AFTER;
            last_commit = Instant::now();
        }
    }
    commit(store, &mut writer, &mut table, &records, true)?;
    writer.finish()?;
    report.files = table.files.len() as u64;
    report.bytes = bytes_read.into_inner();
    Ok(report)
}

/// Commits what `records` says, table and index together.
fn commit(
    store: &Store,
    writer: &mut Writer,
    table: &mut FileTable,
    records: &HashMap<String, FileRecord>,
    complete: bool,
) -> Result<()> {
    table.files = records.values().cloned().collect();
    table.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    table.complete = complete;
    store.commit(writer, table)
}

fn index_file(
    root: &Path,
    id: FileId,
    found: &WalkedFile,
    known: Option<&FileRecord>,
    filesize_max: u64,
    writer: &Writer,
    bytes_read: &AtomicU64,
) -> Result<Outcome> {
    let mut record = FileRecord {
        id,
        path: found.path.clone(),
        size: found.size,
        mtime_ns: found.mtime_ns,
        hash: 0,
        language: language::unknown().name.to_string(),
        generated: false,
        units: 0,
        skip: None,
        note: None,
    };
    let skip = |mut record: FileRecord, skip: Skip| {
        record.skip = Some(skip);
        record.language = language::detect(Path::new(&found.path), &[]).name.to_string();
        if known.is_some_and(|k| k.skip.is_none()) {
            writer.delete(id);
        }
        Ok(Outcome { record, written: false })
    };
    if found.size > filesize_max {
        return skip(record, Skip::TooLarge);
    }
    if let Some(reason) = skip_by_name(&found.path) {
        return skip(record, reason);
    }
    wait_for_new_stamp(found.mtime_ns);
    let Ok(bytes) = std::fs::read(root.join(&found.path)) else {
        return skip(record, Skip::Unreadable);
    };
    bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    record.hash = hash(&bytes);
    if let Some(known) = known.filter(|k| k.hash == record.hash && k.skip.is_none()) {
        let record = FileRecord { size: found.size, mtime_ns: found.mtime_ns, ..known.clone() };
        return Ok(Outcome { record, written: false });
    }
    let language = language::of_file(&found.path, &bytes);
    let text = match decode(&found.path, bytes) {
        Ok(text) => text,
        Err(reason) => return skip(record, reason),
    };
    let (language, parsed) = parse_file(&found.path, &text.text, language);
    record.language = language;
    record.generated = text.generated;
    record.units = parsed.units.len() as u32;
    record.note.clone_from(&parsed.note);
    let textual_types = textual_types(&text.text);
    writer.add(&FileDocument { id, path: &found.path, parsed, textual_types })?;
    Ok(Outcome { record, written: true })
}

/// Sleeps until a further change of a file last changed at `mtime_ns` must show in its time stamp.
fn wait_for_new_stamp(mtime_ns: i64) {
    let age = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64) - mtime_ns;
    let tick = STAMP_TICK.as_nanos() as i64;
    if (0..tick).contains(&age) {
        std::thread::sleep(Duration::from_nanos((tick - age) as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_changed() {
        let record = |path: &str, mtime_ns| FileRecord {
            id: FileId(0),
            path: path.into(),
            size: 1,
            mtime_ns,
            hash: 0,
            language: String::new(),
            generated: false,
            units: 0,
            skip: None,
            note: None,
        };
        let found = |path: &str, mtime_ns| WalkedFile { path: path.into(), size: 1, mtime_ns };
        let table = FileTable { files: vec![record("a", 1), record("b", 1), record("d", 1)], ..FileTable::default() };
        let walked = Walked { files: vec![found("a", 1), found("b", 2), found("c", 1)], ..Walked::default() };
        let result = difference(&table, Path::new("/"), &walked);
        let stale: Vec<&str> = result.stale.iter().map(|f| f.path.as_str()).collect();
        assert_eq!((stale, result.gone.clone()), (vec!["b", "c"], vec!["d".to_string()]));
        assert!(
            difference(
                &table,
                Path::new("/"),
                &Walked { files: vec![found("a", 1), found("b", 1), found("d", 1)], ..Walked::default() }
            )
            .is_none()
        );
    }
}
