//! Opens a project's index for a search: brought up to date if possible, else in its current state, with a notice of
//! what it lacks.

use std::time::Duration;

use colgrep_index::ErrorKind;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::Snapshot;
use colgrep_index::update::{Encoding, Progress, ReadFirst, UpdateBudget, UpdateReport, Updater};
use colgrep_index::walk::WalkOptions;
use colgrep_syntax::read::Skip;

use crate::error::{Error, Result};
use crate::notice::{IndexState, Listener, NotUpdated, Notice};
use crate::project::Project;
use crate::project::index_migration::{begin_with_sibling, take_over};
use crate::project::model::{Model, ModelChoice};
use crate::settings::Settings;
use crate::settings::env::Env;

/// Pause between two looks for the first commit of another process that builds the index.
const FIRST_PART_POLL: Duration = Duration::from_millis(50);

/// Usual time limits of an update in a hurried search: with the rest of the search, an answer comes within 2 s on an idle
/// machine, and within 1.5 s where an index exists.
pub const BUDGET: UpdateBudget =
    UpdateBudget { first: Duration::from_millis(1_300), later: Duration::from_millis(700) };
/// How long a hurried search waits for the write lock; a background process gives it up sooner.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long one waits that needs every file.
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(600);

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Whether the index is brought up to date before the search.
    pub update: bool,
    /// Whether hidden files are indexed.
    pub hidden: Option<bool>,
    /// Whether files that are named like keys and passwords are indexed.
    pub secrets: Option<bool>,
    /// Whether ignored files are indexed too.
    pub no_ignore: bool,
    /// The largest file that is indexed, in bytes.
    pub filesize_max: Option<u64>,
    /// Which vectors the index keeps.
    pub vectors: Option<VectorMode>,
    /// The model that ranks by meaning: `default`, a folder or a hub's name.
    pub model: Option<String>,
    /// Whether a home folder, a folder of the system or the folder of a lone file may be indexed as a project.
    pub any_root: bool,
    /// The time that an update has where somebody waits for the answer, which then comes from the files indexed by then.
    /// An answer that finds nothing, or lists all, waits for every file nevertheless.
    pub hurried: Option<UpdateBudget>,
    /// Whether the caller has a background process finish such an update.
    pub behind: bool,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            update: true,
            hidden: None,
            secrets: None,
            no_ignore: false,
            filesize_max: None,
            vectors: None,
            model: None,
            any_root: false,
            hurried: None,
            behind: false,
        }
    }
}

impl OpenOptions {
    /// Takes values that the options leave open from the settings.
    pub fn with(&self, settings: &Settings) -> Opening {
        self.in_environment(settings, None)
    }

    /// As [`OpenOptions::with`]; the environment may also change the time limits, and forbid or ask for a background
    /// process.
    pub fn in_environment(&self, settings: &Settings, env: Option<&Env>) -> Opening {
        let may_be = settings.text("background") != Some("false");
        let defaults = WalkOptions::default();
        let vectors = self.vectors.or(settings.index_mode()).unwrap_or(settings.kept());
        Opening {
            update: self.update,
            any_root: self.any_root,
            hurried: self.hurried.and_then(|usual| match env.and_then(|env| env.wait) {
                Some(true) => None,
                Some(false) => Some(UpdateBudget { first: Duration::ZERO, later: Duration::ZERO }),
                None => Some(usual),
            }),
            behind: self.behind && env.and_then(|env| env.background).unwrap_or(may_be),
            for_all: false,
            walk: WalkOptions {
                hidden: self.hidden.unwrap_or(settings.is_on("hidden")),
                secrets: self.secrets.unwrap_or(settings.is_on("secrets")),
                no_ignore: self.no_ignore,
                filesize_max: self.filesize_max.or(settings.filesize_max()).unwrap_or(defaults.filesize_max),
            },
            choice: ModelChoice {
                name: self.model.as_deref().or(settings.model()).map(str::to_string),
                repository: settings.repository_model().filter(|_| self.model.is_none()).map(Into::into),
                vectors,
            },
        }
    }
}

/// [`OpenOptions`] with settings and environment applied.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Whether its index is brought up to date.
    pub update: bool,
    /// Whether any root may be indexed as a project.
    pub any_root: bool,
    /// The time limits of an update, if there are any.
    pub hurried: Option<UpdateBudget>,
    /// Whether a background process finishes such an update.
    pub behind: bool,
    /// Whether the answer needs every file: no hurry, and another writer is waited for.
    pub for_all: bool,
    pub walk: WalkOptions,
    pub choice: ModelChoice,
}

/// Opens a project's index, brought up to date if that is wanted and possible, with a notice of vectors that it lacks.
/// Within a time limit, the files of `first` are read first. Where the index lacks files, gives the notice that says so:
/// a caller may go on and read them.
///
/// # Errors
/// When there is no index and none can be built.
pub fn open(
    opening: &Opening,
    (env, project): (&Env, &Project),
    model: Option<&Model>,
    first: &ReadFirst,
    listener: &dyn Listener,
) -> Result<(Snapshot, Option<Notice>)> {
    let (snapshot, partial) = opened(opening, (env, project), model, first, listener)?;
    go_on_unless(|| listener.stops())?;
    if listener.hears()
        && let Some(lacking) = model.and_then(|m| m.lacking(&snapshot))
    {
        let is_being_built = project.store.is_locked() || project.store.is_worked_behind();
        listener.notice(&Notice::Lacking { lacking, is_being_built, is_done_behind: opening.behind });
    }
    Ok((snapshot, partial))
}

/// Ends work that nobody wants any more.
///
/// # Errors
/// [`colgrep_index::Error::Stopped`] where that is so.
pub fn go_on_unless(stops: impl Fn() -> bool) -> colgrep_index::Result<()> {
    if stops() { Err(colgrep_index::Error::Stopped) } else { Ok(()) }
}

/// Brings a project's index up to date and opens it. With `options` of `None` it keeps those that it was made with; for
/// `wait` see [`Updater::wait`].
pub fn update(
    project: &Project,
    options: Option<&WalkOptions>,
    wait: bool,
    encoding: Option<&Encoding<'_>>,
    listener: &dyn Listener,
) -> colgrep_index::Result<(Snapshot, UpdateReport)> {
    follow(project, listener);
    let (progress, stops) = (listener.progress(), || listener.stops());
    updater(project, options, encoding, &*progress).wait(wait).interrupted(&stops).run()
}

/// Takes over the index of a repository that was moved here, or begins with that of another worktree.
fn follow(project: &Project, listener: &dyn Listener) {
    match take_over(project) {
        Some(from) => listener.notice(&Notice::Moved { from }),
        None => begin_with_sibling(project),
    }
}

/// An update of a project's index.
fn updater<'a>(
    project: &'a Project,
    options: Option<&WalkOptions>,
    encoding: Option<&Encoding<'a>>,
    progress: &'a dyn Progress,
) -> Updater<'a> {
    Updater::new(&project.store, &project.root)
        .ignored(&project.ignored)
        .git(&project.git)
        .walk_options(options.copied())
        .encoding(encoding)
        .progress(progress)
}

/// Work left to do for a project's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nothing,
    /// Files or vectors; this many were done by the call.
    Some(u64),
    /// Another process is at work on it.
    Busy,
}

/// Continues the update of a project's index until `time` is spent or another process waits for the lock. Does nothing
/// where there is no index.
pub fn go_on(project: &Project, model: Option<&Model>, time: Duration) -> colgrep_index::Result<Left> {
    if !project.root.is_dir() || !project.store.exists() {
        return Ok(Left::Nothing);
    }
    let is_awaited = || project.store.is_awaited();
    let encoding = model.and_then(|m| m.encoding(Some(time)));
    let updater = updater(project, None, encoding.as_ref(), &()).wait(false);
    match updater.budget(Some(UpdateBudget { first: time, later: time })).interrupted(&is_awaited).run() {
        Err(error) if error.kind() == ErrorKind::Busy => Ok(Left::Busy),
        Err(error) => Err(error),
        Ok((snapshot, report)) => {
            let lacks = model.is_some_and(|m| m.lacks(&snapshot));
            Ok(match (snapshot.files.complete && !lacks, report.changed + report.encoded) {
                (true, _) => Left::Nothing,
                (false, 0) if !report.wrote => Left::Busy,
                (false, done) => Left::Some(done),
            })
        }
    }
}

fn opened(
    opening: &Opening,
    (env, project): (&Env, &Project),
    model: Option<&Model>,
    first: &ReadFirst,
    listener: &dyn Listener,
) -> Result<(Snapshot, Option<Notice>)> {
    let state = |snapshot: &Snapshot| IndexState::of(project, snapshot, model);
    if !opening.update {
        let unread = |source| Error::NoIndex { root: project.root.clone(), source };
        let snapshot = project.store.open().map_err(unread)?;
        let partial = (!snapshot.files.complete).then(|| Notice::Incomplete(state(&snapshot)));
        return Ok((snapshot, partial));
    }
    project.check_size(env, opening.any_root)?;
    follow(project, listener);
    // If all options are the defaults, an existing index keeps those it was made with.
    let mut options = Some(opening.walk).filter(|asked| *asked != WalkOptions::default());
    if let Some(asked) = options
        && let Ok(snapshot) = project.store.open()
        && snapshot.files.walk_options() != asked
    {
        // Only `init` changes the options of an index: a search must not throw away files that another one needs.
        listener.notice(&Notice::OtherWalk { root: project.root.clone() });
        options = None;
    }
    let hurried = opening.hurried.filter(|_| !opening.for_all);
    let encoding = model.and_then(|m| m.encoding_of_search(hurried));
    let (progress, stops) = (listener.progress(), || listener.stops());
    let is_first = !project.store.exists();
    let updater = updater(project, options.as_ref(), encoding.as_ref(), &*progress).wait(false).interrupted(&stops);
    let updater = match hurried {
        Some(_) => updater.budget(hurried).patience(PATIENCE).first(Some(first)),
        // Where an answer needs every file, one without vectors now is better than one with vectors later.
        None => updater.patience(PATIENCE_FOR_ALL).vectors_patience(match opening.hurried {
            None => encoding.as_ref().and_then(|encoding| encoding.budget).unwrap_or_default(),
            Some(_) => Duration::ZERO,
        }),
    };
    match updater.run() {
        Ok((snapshot, report)) => {
            drop(progress);
            let (unread, in_tree) = (report.unread, report.in_tree);
            let partial =
                (unread > 0).then_some(Notice::Unfinished { unread, in_tree, is_done_behind: opening.behind });
            let large = snapshot.files.files.iter().filter(|f| f.skip == Some(Skip::TooLarge)).count();
            // Later, `status` names them, and answers without a result.
            if is_first && large > 0 {
                let filesize_max = snapshot.files.filesize_max;
                listener.notice(&Notice::TooLarge { files: large as u64, filesize_max });
            }
            Ok((snapshot, partial))
        }
        Err(colgrep_index::Error::Stopped) => Err(colgrep_index::Error::Stopped.into()),
        Err(error) => match project.store.open() {
            // An old index is better than none: another process writes, or the disk is full or read-only.
            Ok(snapshot) => {
                let why = match error.kind() {
                    ErrorKind::Busy => NotUpdated::Busy,
                    _ => NotUpdated::Failed { why: error.full(), refused: error.refused() },
                };
                let partial = Notice::AsItIs { why, state: state(&snapshot) };
                Ok((snapshot, Some(partial)))
            }
            Err(_) if error.kind() == ErrorKind::Busy => first_part(project, options.as_ref(), model, listener),
            Err(_) if !project.store.folder().is_dir() => {
                Err(Error::NoPlace { root: project.root.clone(), source: error })
            }
            Err(_) => Err(error.into()),
        },
    }
}

/// Waits for the first commit of another process that builds this index for the first time; if that process ends
/// without one, builds it here.
fn first_part(
    project: &Project,
    options: Option<&WalkOptions>,
    model: Option<&Model>,
    listener: &dyn Listener,
) -> Result<(Snapshot, Option<Notice>)> {
    listener.notice(&Notice::WaitsForFirstPart);
    loop {
        std::thread::sleep(FIRST_PART_POLL);
        go_on_unless(|| listener.stops())?;
        if let Ok(snapshot) = project.store.open() {
            let partial = Notice::FirstPart(IndexState::of(project, &snapshot, model));
            return Ok((snapshot, Some(partial)));
        }
        match project.store.lock(false) {
            Err(error) if error.kind() == ErrorKind::Busy => {}
            lock => {
                drop(lock?);
                let encoding = model.and_then(|m| m.encoding_of_search(None));
                return Ok((update(project, options, true, encoding.as_ref(), listener)?.0, None));
            }
        }
    }
}

/// Sends a notice of the library that a model has loaded, if the listener traces: its code is not ours.
pub fn name_runtime(listener: &dyn Listener) {
    if let Some(library) = colgrep_encoder::loaded_runtime().filter(|_| listener.traces()) {
        listener.notice(&Notice::Runtime(library));
    }
}
