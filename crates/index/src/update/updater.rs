//! Bringing an index up to date, step by step: compare, lock, lexical index, vectors, what changed meanwhile.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::difference::difference;
use super::files::{Limit, index_changes};
use super::repair::repaired;
use super::source::{Source, Tree};
use super::texts::Texts;
use super::vectors::{Built, Encoding, Job};
use super::{Progress, Report};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FileId;
use crate::lexical::{CommitPoint, Lexical, Writer};
use crate::store::{FileTable, PATIENCE, Snapshot, Store, WriteLock};
use crate::walk::{LeftOut, WalkOptions, Walked};

/// What the threads of a build give way by: at 5 a thread of ordinary priority gets three times their share of a core.
#[cfg(target_os = "linux")]
const BUILD_NICENESS: i32 = 5;

/// Texts that wait for the model, in bytes: those of 32,000 units at their longest.
const TEXT_BYTES_MAX: usize = 64 << 20;

/// Opens the index of a project, brought up to date with its files.
///
/// It reads no file and writes nothing where nothing changed. An index that this version can't read is built anew. An
/// update that waits also reads all that it keeps, and makes anew what is damaged; another makes anew what it meets.
#[derive(Clone, Copy)]
pub struct Updater<'a> {
    store: &'a Store,
    root: &'a Path,
    source: Option<&'a dyn Source>,
    ignored: &'a [String],
    options: Option<WalkOptions>,
    wait: bool,
    patience: Duration,
    budget: Option<Budget>,
    interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
    encoding: Option<Encoding<'a>>,
    progress: &'a dyn Progress,
}

/// Time that an update takes for the lexical index, from its beginning, before it leaves the rest to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Where nothing of the project is indexed yet.
    pub first: Duration,
    /// Where something is.
    pub later: Duration,
}

impl std::fmt::Debug for Updater<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Updater({}, {:?})", self.root.display(), self.encoding)
    }
}

/// What an update sees before it begins.
struct Seen {
    /// The options of the walk: those asked for, else those that the index was made with.
    options: WalkOptions,
    walked: Walked,
    /// The commit point before `snapshot` was opened.
    point: Option<CommitPoint>,
    /// The index, if it can be opened.
    snapshot: Option<Snapshot>,
    standing: Standing,
}

/// How an index stands to the tree and the wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing is left to do.
    Current,
    /// Only vectors are.
    LacksVectors,
    /// It differs from the tree, or there is none.
    Differs,
}

impl<'a> Updater<'a> {
    /// Updates of the index in `store` from the tree below `root`: by words alone, waiting for another writer, told to
    /// nobody. The vectors that are there stay as they are.
    pub fn new(store: &'a Store, root: &'a Path) -> Updater<'a> {
        Updater {
            store,
            root,
            source: None,
            ignored: &[],
            options: None,
            wait: true,
            patience: Duration::ZERO,
            budget: None,
            interrupted: None,
            encoding: None,
            progress: &(),
        }
    }

    /// Takes documents from `source` and not from the tree below the root.
    #[must_use]
    pub fn source(self, source: &'a dyn Source) -> Updater<'a> {
        Updater { source: Some(source), ..self }
    }

    /// Leaves out what these lines say, written as in a `.gitignore` at the root.
    #[must_use]
    pub fn ignored(self, ignored: &'a [String]) -> Updater<'a> {
        Updater { ignored, ..self }
    }

    /// Walks with these options; with `None`, those that the index was made with. Other options than the index's mean
    /// that it is built anew.
    #[must_use]
    pub fn walk_options(self, options: Option<WalkOptions>) -> Updater<'a> {
        Updater { options, ..self }
    }

    /// Whether to wait while another process writes. Without, it is an error, unless only vectors are lacking.
    #[must_use]
    pub fn wait(self, wait: bool) -> Updater<'a> {
        Updater { wait, ..self }
    }

    /// How long an update that does not wait for another process does so all the same.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Updater<'a> {
        Updater { patience, ..self }
    }

    /// Ends when the time is spent, with an index of what was read until then; [`Report::unread`] says how much is left.
    #[must_use]
    pub fn budget(self, budget: Option<Budget>) -> Updater<'a> {
        Updater { budget, ..self }
    }

    /// Ends as soon as this says so, with what there is then; asked often, and from many threads.
    #[must_use]
    pub fn interrupted(self, interrupted: &'a (dyn Fn() -> bool + Sync)) -> Updater<'a> {
        Updater { interrupted: Some(interrupted), ..self }
    }

    /// Gives vectors to units that lack them, after the lexical index is committed.
    #[must_use]
    pub fn encoding(self, encoding: Option<&Encoding<'a>>) -> Updater<'a> {
        Updater { encoding: encoding.copied(), ..self }
    }

    /// Tells `progress` about the work.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Updater<'a> {
        Updater { progress, ..self }
    }

    /// Brings the index up to date and opens it.
    ///
    /// # Errors
    /// When the tree can't be read, the disk refuses, the model fails, or (without [`Updater::wait`]) another process
    /// writes.
    pub fn run(&self) -> Result<(Snapshot, Report)> {
        repaired(self.store, || self.run_once())
    }

    fn run_once(&self) -> Result<(Snapshot, Report)> {
        let begun = Instant::now();
        let mut seen = self.compare()?;
        if seen.standing == Standing::Current
            && let Some(snapshot) = seen.snapshot.take()
        {
            self.clean();
            return Ok(unchanged(snapshot));
        }
        let lock = match (self.lock(&mut seen), seen.snapshot.take()) {
            // Only vectors are lacking, and somebody is making them.
            (Err(error), Some(snapshot))
                if error.kind() == ErrorKind::Busy && seen.standing == Standing::LacksVectors =>
            {
                let without_vectors = snapshot.coverage().without_vectors();
                let (snapshot, report) = unchanged(snapshot);
                return Ok((snapshot, Report { without_vectors, ..report }));
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
            let texts = Texts::new(if self.encoding.is_some() { TEXT_BYTES_MAX } else { 0 });
            let is_first = seen.snapshot.is_none();
            let time = self.budget.map(|budget| if is_first { budget.first } else { budget.later });
            let limit = Limit { deadline: time.map(|time| begun + time), interrupted: self.interrupted };
            let (mut snapshot, mut report) = self.lexical(&lock, &mut seen, &texts, limit)?;
            // What is not read has no vectors either, and comes first.
            let encoding = self.encoding.filter(|e| report.unread == 0 && e.may_write(snapshot.files.vectors.as_ref()));
            if let Some(encoding) = encoding.map(|e| Encoding { interrupted: self.interrupted.or(e.interrupted), ..e })
            {
                snapshot = self.vectors(snapshot, &encoding, &seen.walked, &texts, &mut report)?;
            }
            snapshot.lexical.keep_lengths(&self.store.lexical_folder(), self.store.disk());
            Ok((snapshot, report))
        })
    }

    /// Removes what killed writers left, where there is time for that and nobody writes.
    fn clean(&self) {
        if self.wait
            && let Ok(lock) = self.store.lock(false)
        {
            // The index is current, whether or not the rest can be removed.
            let _ = self.store.clean(&lock);
        }
    }

    /// The index, if there is one that this version can read; read and checked throughout where there is time for that.
    fn opened(&self) -> Result<Option<Snapshot>> {
        match if self.wait { self.store.open_verified() } else { self.store.open() } {
            Err(error) if matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => Ok(None),
            // Two roots could come to one folder: its name holds 32 bits of a hash of theirs.
            snapshot => snapshot.map(|snapshot| Some(snapshot).filter(|s| s.files.root == self.root.to_string_lossy())),
        }
    }

    /// Does `work` with the source of the documents.
    fn with_source<T>(&self, work: impl FnOnce(&dyn Source) -> T) -> T {
        let left_out = LeftOut { folder: Some(self.store.folder()), patterns: self.ignored };
        match self.source {
            Some(source) => work(source),
            None => work(&Tree { root: self.root, left_out }),
        }
    }

    /// What the source's documents are made of.
    fn version(&self) -> u32 {
        self.source.map_or(0, Source::version)
    }

    fn walk(&self, options: &WalkOptions, known: Option<&FileTable>) -> Result<Walked> {
        let known = known.filter(|table| table.complete && table.source == self.version());
        self.with_source(|source| source.list(known, options))
    }

    fn point(&self) -> Option<CommitPoint> {
        Lexical::commit_point(&self.store.lexical_folder()).ok()
    }

    /// Opens the index and walks the tree, at the same time.
    fn compare(&self) -> Result<Seen> {
        let mut options = self.options.unwrap_or_default();
        let (snapshot, walked) = match self.source {
            None => rayon::join(|| self.opened(), || self.walk(&options, None)),
            // What is listed of another source is told from what is known.
            Some(_) => {
                let snapshot = self.opened()?;
                let walked = self.walk(&options, snapshot.as_ref().map(|s| &s.files));
                (Ok(snapshot), walked)
            }
        };
        let (mut walked, snapshot) = (walked?, snapshot?);
        if let Some(made_with) = snapshot.as_ref().map(|s| s.files.walk_options())
            && self.options.is_none()
            && made_with != options
        {
            options = made_with;
            walked = self.walk(&options, None)?;
        }
        self.progress.unheeded(&walked.unheeded);
        let standing = self.standing(snapshot.as_ref(), &walked, &options);
        let point = snapshot.as_ref().map(|snapshot| snapshot.point.clone());
        Ok(Seen { options, walked, point, snapshot, standing })
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

    /// Whether an index is made of what is asked for.
    fn is_made_so(&self, table: &FileTable, options: &WalkOptions) -> bool {
        table.walk_options() == *options && table.source == self.version()
    }

    /// Takes the right to write.
    fn lock(&self, seen: &mut Seen) -> Result<WriteLock> {
        // Without vectors an answer is better now than later.
        let patience = if seen.standing == Standing::Differs { self.patience } else { Duration::ZERO };
        match self.store.lock_within(patience, &|| {}) {
            Err(error) if error.kind() == ErrorKind::Busy && self.wait => {
                let lock = self.store.lock_within(PATIENCE, &|| self.progress.waits())?;
                // What the other process saw may be newer than our walk.
                seen.walked = self.walk(&seen.options, None)?;
                seen.point = None;
                Ok(lock)
            }
            lock => lock,
        }
    }

    /// Opens the index again, under the lock, unless it is as it was.
    fn look_again(&self, seen: &mut Seen) -> Result<()> {
        if seen.snapshot.is_none() || seen.point.is_none() || seen.point != self.point() {
            seen.snapshot = self.opened()?;
            seen.standing = self.standing(seen.snapshot.as_ref(), &seen.walked, &seen.options);
        }
        Ok(())
    }

    /// Brings the lexical index up to date.
    fn lexical(
        &self,
        lock: &WriteLock,
        seen: &mut Seen,
        texts: &Texts,
        limit: Limit<'_>,
    ) -> Result<(Snapshot, Report)> {
        let table = match seen.snapshot.take() {
            Some(snapshot) if seen.standing == Standing::LacksVectors => return Ok(unchanged(snapshot)),
            Some(snapshot) if self.is_made_so(&snapshot.files, &seen.options) => snapshot.files,
            Some(snapshot) => self.fresh_table(lock, &seen.options, snapshot.files)?,
            None => self.fresh_table(lock, &seen.options, self.store.heritage())?,
        };
        let (mode, by_init) = (table.mode, table.by_init);
        let kept = FileTable { vectors: table.vectors.clone(), mode, by_init, ..FileTable::default() };
        let report = match self.index(table, &seen.walked, texts, limit) {
            // Damage that opening did not show (a truncated segment, say) shows when it is written to.
            Err(error) if error.kind() == ErrorKind::Unusable => {
                self.index(self.fresh_table(lock, &seen.options, kept)?, &seen.walked, texts, limit)?
            }
            report => report?,
        };
        Ok((self.store.open()?, report))
    }

    fn index(&self, table: FileTable, walked: &Walked, texts: &Texts, limit: Limit<'_>) -> Result<Report> {
        self.with_source(|source| {
            index_changes(self.store, (self.root, source), table, walked, texts, self.progress, limit)
        })
    }

    /// An empty table in an emptied folder. The vectors of `kept` do not depend on what is indexed, and stay.
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

    /// Gives vectors to the units of `snapshot` that have none.
    fn vectors(
        &self,
        snapshot: Snapshot,
        encoding: &Encoding<'_>,
        walked: &Walked,
        texts: &Texts,
        report: &mut Report,
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

    /// Indexes as it is now what was not as it was indexed, though its time stamp was.
    fn index_outdated(
        &self,
        snapshot: Snapshot,
        outdated: &HashSet<FileId>,
        walked: &Walked,
        texts: &Texts,
        report: &mut Report,
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

    /// Runs the model over what lacks vectors, and commits them.
    fn encode(
        &self,
        snapshot: Snapshot,
        encoding: &Encoding<'_>,
        texts: &Texts,
        report: &mut Report,
    ) -> Result<(Snapshot, Built)> {
        let siblings = || match self.source {
            None => self.store.sibling_vectors(self.root),
            // Worktrees share what is no tree.
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

fn unchanged(snapshot: Snapshot) -> (Snapshot, Report) {
    let report = Report { files: snapshot.files.files.len() as u64, ..Report::default() };
    (snapshot, report)
}

/// As many threads as searches have, but with a lower priority, as have those that tantivy makes from them: what people
/// wait for goes first. Only where a thread can have a priority of its own (on Linux).
fn background() -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).start_handler(|_| {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(BUILD_NICENESS);
    });
    pool.build().map_err(Error::Threads)
}
