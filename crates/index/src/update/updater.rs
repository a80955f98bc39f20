//! The steps of an update: compare, lock, lexical index, vectors, files that changed meanwhile.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::difference::difference;
use super::files::{Limit, index_changes};
use super::order::ReadFirst;
use super::repair::repaired;
use super::source::{Source, Tree};
use super::texts::PendingTexts;
use super::vectors::{Built, Encoding, Job};
use super::{Progress, UpdateReport};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FileId;
use crate::lexical::{CommitPoint, Writer};
use crate::store::{FileTable, PATIENCE, Snapshot, Store, WriteLock};
use crate::walk::{GitPlaces, LeftOut, WalkOptions, Walked};

/// Niceness of a build's threads: at 5 a thread of ordinary priority gets three times their share of a core.
#[cfg(target_os = "linux")]
const BUILD_NICENESS: i32 = 5;

/// Longer waits for the write lock are reported.
const PATIENCE_SILENT: Duration = Duration::from_secs(1);

/// Minimum time for vectors in a search that read changed files.
const VECTORS_MIN: Duration = Duration::from_millis(100);

/// Maximum of buffered texts, in bytes: 32,000 units of the maximum length.
const TEXT_BYTES_MAX: usize = 64 << 20;

/// Brings the index of a project up to date with its files, and opens it.
///
/// If nothing changed, it reads no file and writes nothing. An index that this version can't read is rebuilt. An update
/// that waits ([`Updater::wait`]) also verifies the whole index and rebuilds damaged parts; one that does not wait
/// repairs only damage that it meets.
#[derive(Clone, Copy)]
pub struct Updater<'a> {
    store: &'a Store,
    root: &'a Path,
    source: Option<&'a dyn Source>,
    ignored: &'a [String],
    git: Option<&'a GitPlaces>,
    options: Option<WalkOptions>,
    wait: bool,
    patience: Duration,
    vectors_patience: Duration,
    budget: Option<UpdateBudget>,
    interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
    first: Option<&'a ReadFirst>,
    encoding: Option<Encoding<'a>>,
    progress: &'a dyn Progress,
}

/// Time limit of the lexical half of an update, from the update's beginning. Remaining files are left to the next
/// update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateBudget {
    /// The limit if the project has no index yet.
    pub first: Duration,
    /// The limit if it has one.
    pub later: Duration,
}

impl std::fmt::Debug for Updater<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Updater({}, {:?})", self.root.display(), self.encoding)
    }
}

/// State of tree and index when an update begins.
struct UpdateStart {
    /// The options of the walk: the requested ones, else those of the index.
    options: WalkOptions,
    walked: Walked,
    /// The commit point at which `snapshot` was opened; `None` if the index has to be reopened.
    point: Option<CommitPoint>,
    /// The index, if it can be opened.
    snapshot: Option<Snapshot>,
    standing: Standing,
}

/// Work left to do for an index, given the tree and the caller's wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing is left to do.
    Current,
    /// Only vectors are missing.
    LacksVectors,
    /// The lexical index differs from the tree, or there is none.
    Differs,
}

impl<'a> Updater<'a> {
    /// An update of the index in `store` from the tree below `root`. By default it waits for another writer, has no
    /// time limit, encodes nothing (stored vectors stay) and reports no progress.
    pub fn new(store: &'a Store, root: &'a Path) -> Updater<'a> {
        Updater {
            store,
            root,
            source: None,
            ignored: &[],
            git: None,
            options: None,
            wait: true,
            patience: Duration::ZERO,
            vectors_patience: Duration::ZERO,
            budget: None,
            interrupted: None,
            first: None,
            encoding: None,
            progress: &(),
        }
    }

    /// Takes documents from `source` instead of the tree below the root.
    #[must_use]
    pub fn source(self, source: &'a dyn Source) -> Updater<'a> {
        Updater { source: Some(source), ..self }
    }

    /// Leaves out paths that match these lines, written as in a `.gitignore` at the root.
    #[must_use]
    pub fn ignored(self, ignored: &'a [String]) -> Updater<'a> {
        Updater { ignored, ..self }
    }

    /// Heeds what git's configuration at these places says about ignored files.
    #[must_use]
    pub fn git(self, git: &'a GitPlaces) -> Updater<'a> {
        Updater { git: Some(git), ..self }
    }

    /// Sets the options of the walk; with `None`, those of the index. An index with other options is rebuilt.
    #[must_use]
    pub fn walk_options(self, options: Option<WalkOptions>) -> Updater<'a> {
        Updater { options, ..self }
    }

    /// Whether to wait while another process writes. If not, that is an error, unless only vectors are missing.
    #[must_use]
    pub fn wait(self, wait: bool) -> Updater<'a> {
        Updater { wait, ..self }
    }

    /// Time for which even an update that does not wait queues for the write lock, unless only vectors are missing.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Updater<'a> {
        Updater { patience, ..self }
    }

    /// The same where only vectors are missing, which the other process may be making.
    #[must_use]
    pub fn vectors_patience(self, vectors_patience: Duration) -> Updater<'a> {
        Updater { vectors_patience, ..self }
    }

    /// Ends the lexical half when the time is spent, and commits the files read until then; [`UpdateReport::unread`] counts
    /// the rest.
    #[must_use]
    pub fn budget(self, budget: Option<UpdateBudget>) -> Updater<'a> {
        Updater { budget, ..self }
    }

    /// Reads these files first, if the time is limited.
    #[must_use]
    pub fn first(self, first: Option<&'a ReadFirst>) -> Updater<'a> {
        Updater { first, ..self }
    }

    /// Ends the update as soon as this returns true, and commits the finished part. It is called often, from many
    /// threads.
    #[must_use]
    pub fn interrupted(self, interrupted: &'a (dyn Fn() -> bool + Sync)) -> Updater<'a> {
        Updater { interrupted: Some(interrupted), ..self }
    }

    /// Encodes the texts of units that lack vectors, after the lexical index is committed.
    #[must_use]
    pub fn encoding(self, encoding: Option<&Encoding<'a>>) -> Updater<'a> {
        Updater { encoding: encoding.copied(), ..self }
    }

    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Updater<'a> {
        Updater { progress, ..self }
    }

    /// Brings the index up to date and opens it.
    ///
    /// # Errors
    /// When the tree can't be read, the disk refuses, the model fails, or (without [`Updater::wait`]) another process
    /// writes.
    pub fn run(&self) -> Result<(Snapshot, UpdateReport)> {
        repaired(self.store, || self.run_once())
    }

    fn run_once(&self) -> Result<(Snapshot, UpdateReport)> {
        let begun = Instant::now();
        let mut seen = self.compare()?;
        if seen.standing == Standing::Current
            && let Some(snapshot) = seen.snapshot.take()
        {
            self.clean();
            return Ok(unchanged(snapshot));
        }
        let lock = match (self.lock(&mut seen), seen.snapshot.take()) {
            // Only vectors are missing, and another process is making them.
            (Err(error), Some(snapshot))
                if error.kind() == ErrorKind::Busy && seen.standing == Standing::LacksVectors =>
            {
                let without_vectors = snapshot.coverage().without_vectors();
                let (snapshot, report) = unchanged(snapshot);
                return Ok((snapshot, UpdateReport { without_vectors, ..report }));
            }
            (lock, snapshot) => {
                seen.snapshot = snapshot;
                lock?
            }
        };
        self.look_again(&mut seen)?;
        if seen.standing == Standing::Current
            && let Some(snapshot) = seen.snapshot.take()
        {
            return Ok(unchanged(snapshot));
        }
        background()?.install(|| {
            let texts = PendingTexts::new(if self.encoding.is_some() { TEXT_BYTES_MAX } else { 0 });
            let is_first = seen.snapshot.is_none();
            let time = self.budget.map(|budget| if is_first { budget.first } else { budget.later });
            let limit =
                Limit { deadline: time.map(|time| begun + time), interrupted: self.interrupted, first: self.first };
            let (mut snapshot, mut report) = self.lexical(&lock, &mut seen, &texts, limit)?;
            // Files without documents come first: vectors wait until every file is read.
            let encoding = self.encoding.filter(|e| report.unread == 0 && e.may_write(snapshot.files.vectors.as_ref()));
            // Both halves share one time limit, so that a search which read changed files ends soon.
            let left = limit.deadline.filter(|_| !is_first).map(|end| end.saturating_duration_since(Instant::now()));
            let budget = |most: Duration| left.map_or(most, |left| most.min(left.max(VECTORS_MIN)));
            let encoding = encoding.map(|e| Encoding {
                interrupted: self.interrupted.or(e.interrupted),
                budget: e.budget.map(budget),
                ..e
            });
            if let Some(encoding) = encoding {
                snapshot = self.vectors(snapshot, &encoding, &seen.walked, &texts, &mut report)?;
            }
            snapshot.lexical.keep_lengths(&self.store.lexical_folder(), self.store.disk());
            Ok((snapshot, report))
        })
    }

    /// Removes the leftovers of killed writers, if this update waits and no other process writes.
    fn clean(&self) {
        if self.wait
            && let Ok(lock) = self.store.lock(false)
        {
            // The index is current, whether or not the leftovers can be removed.
            let _ = self.store.clean(&lock);
        }
    }

    /// Opens the index; `None` if there is none that this version can read. An update that waits also verifies the
    /// whole lexical index.
    fn opened(&self) -> Result<Option<Snapshot>> {
        match if self.wait { self.store.open_verified() } else { self.store.open() } {
            Err(error) if matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => Ok(None),
            // Two roots may share a folder, since its name has 32 bits of the root's hash.
            snapshot => snapshot.map(|snapshot| Some(snapshot).filter(|s| s.files.root == self.root.to_string_lossy())),
        }
    }

    /// Runs `work` with the source of the documents.
    fn with_source<T>(&self, work: impl FnOnce(&dyn Source) -> T) -> T {
        let left_out = LeftOut { folder: Some(self.store.folder()), patterns: self.ignored, git: self.git };
        match self.source {
            Some(source) => work(source),
            None => work(&Tree { root: self.root, left_out }),
        }
    }

    /// [`Source::version`], 0 for a tree.
    fn version(&self) -> u32 {
        self.source.map_or(0, Source::version)
    }

    fn walk(&self, options: &WalkOptions, known: Option<&FileTable>) -> Result<Walked> {
        let known = known.filter(|table| table.complete && table.source == self.version());
        self.with_source(|source| source.list(known, options))
    }

    /// Opens the index and lists the source, in parallel. The table is read first, since known folders need not be
    /// listed.
    fn compare(&self) -> Result<UpdateStart> {
        let ahead = self.store.ahead().filter(|(_, table)| table.root == self.root.to_string_lossy());
        let made_with = ahead.as_ref().map(|(_, table)| table.walk_options());
        let mut options = self.options.or(made_with).unwrap_or_default();
        let (opened, walked) = rayon::join(
            || match &ahead {
                // A part that can't be opened may have been replaced meanwhile.
                Some((point, table)) if !self.wait => match self.store.open_parts(point, table) {
                    Ok(parts) if parts.damage.is_none() => (Some(parts), Ok(None)),
                    _ => (None, self.opened()),
                },
                _ => (None, self.opened()),
            },
            || self.walk(&options, ahead.as_ref().map(|(_, table)| table)),
        );
        let mut walked = walked?;
        let snapshot = match (opened, ahead) {
            ((Some(parts), _), Some((_, table))) => Some(parts.with(table)),
            ((_, snapshot), _) => snapshot?,
        };
        if let Some(made_with) = snapshot.as_ref().map(|s| s.files.walk_options())
            && self.options.is_none()
            && made_with != options
        {
            options = made_with;
            walked = self.walk(&options, snapshot.as_ref().map(|s| &s.files))?;
        }
        self.progress.unheeded(&walked.unheeded);
        let standing = self.standing(snapshot.as_ref(), &walked, &options);
        let point = snapshot.as_ref().map(|snapshot| snapshot.point.clone());
        Ok(UpdateStart { options, walked, point, snapshot, standing })
    }

    fn standing(&self, snapshot: Option<&Snapshot>, walked: &Walked, options: &WalkOptions) -> Standing {
        let is_current = |table: &FileTable| {
            table.complete && self.is_made_so(table, options) && difference(table, self.root, walked).is_none()
        };
        match snapshot {
            Some(snapshot) if is_current(&snapshot.files) => match self.encoding.is_none_or(|e| e.is_done(snapshot)) {
                true => Standing::Current,
                false => Standing::LacksVectors,
            },
            _ => Standing::Differs,
        }
    }

    /// Whether an index has the requested walk options and source version.
    fn is_made_so(&self, table: &FileTable, options: &WalkOptions) -> bool {
        table.walk_options() == *options && table.source == self.version()
    }

    fn lock(&self, seen: &mut UpdateStart) -> Result<WriteLock> {
        let patience = if seen.standing == Standing::Differs { self.patience } else { self.vectors_patience };
        let waits = || {
            if patience > PATIENCE_SILENT {
                self.progress.waits()
            }
        };
        let stops = || self.interrupted.is_some_and(|stops| stops());
        match self.store.lock_unless(&stops, patience, &waits) {
            Err(error) if error.kind() == ErrorKind::Busy && self.wait => {
                let lock = self.store.lock_unless(&stops, PATIENCE, &|| self.progress.waits())?;
                // The other process may have seen a newer tree than our walk did.
                let known = seen.snapshot.as_ref().map(|snapshot| &snapshot.files);
                seen.walked = self.walk(&seen.options, known)?;
                seen.point = None;
                Ok(lock)
            }
            lock => lock,
        }
    }

    /// Opens the index again, now under the lock, if its commit point has changed.
    fn look_again(&self, seen: &mut UpdateStart) -> Result<()> {
        if seen.snapshot.is_none() || seen.point.is_none() || seen.point != self.store.point().ok() {
            seen.snapshot = self.opened()?;
            seen.standing = self.standing(seen.snapshot.as_ref(), &seen.walked, &seen.options);
        }
        Ok(())
    }

    /// Brings the lexical index up to date.
    fn lexical(
        &self,
        lock: &WriteLock,
        seen: &mut UpdateStart,
        texts: &PendingTexts,
        limit: Limit<'_>,
    ) -> Result<(Snapshot, UpdateReport)> {
        let table = match seen.snapshot.take() {
            Some(snapshot) if seen.standing == Standing::LacksVectors => return Ok(unchanged(snapshot)),
            Some(snapshot) if self.is_made_so(&snapshot.files, &seen.options) => snapshot.files,
            Some(snapshot) => self.fresh_table(lock, &seen.options, snapshot.files)?,
            None => self.fresh_table(lock, &seen.options, self.store.heritage())?,
        };
        let (mode, by_init) = (table.mode, table.by_init);
        let kept = FileTable { vectors: table.vectors.clone(), mode, by_init, ..FileTable::default() };
        let report = match self.index(table, &seen.walked, texts, limit) {
            // Damage that did not show on opening the index (a truncated segment, say) shows on writing.
            Err(error) if error.kind() == ErrorKind::Unusable => {
                self.index(self.fresh_table(lock, &seen.options, kept)?, &seen.walked, texts, limit)?
            }
            report => report?,
        };
        Ok((self.store.open()?, report))
    }

    fn index(&self, table: FileTable, walked: &Walked, texts: &PendingTexts, limit: Limit<'_>) -> Result<UpdateReport> {
        self.with_source(|source| {
            index_changes(self.store, (self.root, source), table, walked, texts, self.progress, limit)
        })
    }

    /// Empties the folder and returns an empty table. The vectors of `kept` stay: they are addressed by the hashes of
    /// texts and do not depend on the rest of the index.
    fn fresh_table(&self, lock: &WriteLock, options: &WalkOptions, kept: FileTable) -> Result<FileTable> {
        self.store.reset(lock, kept.vectors.is_some())?;
        Ok(FileTable {
            root: self.root.to_string_lossy().into_owned(),
            filesize_max: options.filesize_max,
            hidden: options.hidden,
            secrets: options.secrets,
            no_ignore: options.no_ignore,
            source: self.version(),
            vectors: kept.vectors,
            mode: kept.mode,
            by_init: kept.by_init,
            ..FileTable::default()
        })
    }

    /// Encodes the texts of units of `snapshot` that lack vectors. Files that turn out to have changed are indexed
    /// again, and their units encoded.
    fn vectors(
        &self,
        snapshot: Snapshot,
        encoding: &Encoding<'_>,
        walked: &Walked,
        texts: &PendingTexts,
        report: &mut UpdateReport,
    ) -> Result<Snapshot> {
        let started = Instant::now();
        let (mut snapshot, mut built) = self.encode(snapshot, encoding, texts, report)?;
        if !built.outdated.is_empty() {
            snapshot = self.index_outdated(snapshot, &built.outdated, walked, texts, report)?;
            let budget = encoding.budget.map(|b| b.saturating_sub(started.elapsed()));
            (snapshot, built) = self.encode(snapshot, &Encoding { budget, ..*encoding }, texts, report)?;
        }
        report.without_vectors = built.missing;
        report.reused = built.units.saturating_sub(built.missing + report.encoded);
        Ok(snapshot)
    }

    /// Indexes again the files in `outdated`: their content is not the indexed one, though their time stamps may be.
    fn index_outdated(
        &self,
        snapshot: Snapshot,
        outdated: &HashSet<FileId>,
        walked: &Walked,
        texts: &PendingTexts,
        report: &mut UpdateReport,
    ) -> Result<Snapshot> {
        let mut table = snapshot.files;
        for record in table.files.iter_mut().filter(|f| outdated.contains(&f.id)) {
            record.mtime_ns = i64::MIN;
        }
        let again = self.index(table, walked, texts, Limit::default())?;
        report.changed += again.changed;
        report.units += again.units;
        report.bytes += again.bytes;
        report.wrote = true;
        self.store.open()
    }

    /// Encodes the texts of units that lack vectors, and commits the vectors.
    fn encode(
        &self,
        snapshot: Snapshot,
        encoding: &Encoding<'_>,
        texts: &PendingTexts,
        report: &mut UpdateReport,
    ) -> Result<(Snapshot, Built)> {
        let siblings = || match self.source {
            None => self.store.sibling_vectors(self.root),
            // An index of another source is shared by all worktrees.
            Some(_) => Vec::new(),
        };
        let folder = self.store.vectors_folder();
        let (root, progress) = (self.root, self.progress);
        let job = Job {
            root,
            folder: &folder,
            disk: self.store.disk(),
            snapshot: &snapshot,
            siblings: &siblings,
            texts,
            encoding,
            progress,
        };
        let mut table = snapshot.files.clone();
        let mut writer: Option<Writer> = None;
        let built = job.run(&mut |manifest| {
            table.vectors = Some(manifest.clone());
            report.wrote = true;
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(Writer::open(&self.store.lexical_folder(), self.store.disk())?),
            };
            self.store.commit(writer, &table)
        })?;
        report.encoded += built.encoded;
        match writer {
            Some(writer) => {
                writer.finish()?;
                Ok((self.store.open()?, built))
            }
            None => Ok((snapshot, built)),
        }
    }
}

fn unchanged(snapshot: Snapshot) -> (Snapshot, UpdateReport) {
    let report = UpdateReport { files: snapshot.files.files.len() as u64, ..UpdateReport::default() };
    (snapshot, report)
}

/// The thread pool of a build, as large as that of searches. On Linux, where each thread has its own priority, its
/// threads and those that tantivy starts from them yield to searches.
fn background() -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).start_handler(|_| {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(BUILD_NICENESS);
    });
    pool.build().map_err(Error::Threads)
}
