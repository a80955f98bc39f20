//! Opening a project's index for a search: current if possible, else as it is, and never silent about the difference.

use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_index::ErrorKind;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::Snapshot;
use colgrep_index::update::{Encoding, Report, Updater};
use colgrep_index::walk::WalkOptions;
use colgrep_syntax::read::Skip;

use crate::env::Env;
use crate::model::{Choice, Model};
use crate::notice::{IndexState, Listener, NotUpdated, Notice};
use crate::project::Project;
use crate::settings::Settings;

/// How often the first part of a first build is looked for.
const FIRST_PART_POLL: Duration = Duration::from_millis(50);

/// How projects are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Whether the index is brought up to date, or searched as it is.
    pub update: bool,
    /// Whether hidden files are indexed.
    pub hidden: Option<bool>,
    /// Whether files whose names are those of keys and passwords are indexed.
    pub secrets: Option<bool>,
    /// Whether ignored files are indexed too.
    pub no_ignore: bool,
    /// The largest file that is indexed, in bytes.
    pub filesize_max: Option<u64>,
    /// What is kept for the ranking by meaning.
    pub vectors: Option<VectorMode>,
    /// The model that ranks by meaning: `default`, a folder or a hub's name.
    pub model: Option<String>,
    /// Whether a home folder, a folder of the system or the folder of a lone file may be indexed as a project.
    pub any_root: bool,
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
        }
    }
}

impl OpenOptions {
    /// What is opened, with what the settings say where the options leave it open.
    pub fn with(&self, settings: &Settings) -> Opening {
        let defaults = WalkOptions::default();
        let vectors = self.vectors.or(settings.index_mode()).unwrap_or(settings.kept());
        Opening {
            update: self.update,
            any_root: self.any_root,
            walk: WalkOptions {
                hidden: self.hidden.unwrap_or(settings.is_on("hidden")),
                secrets: self.secrets.unwrap_or(settings.is_on("secrets")),
                no_ignore: self.no_ignore,
                filesize_max: self.filesize_max.or(settings.filesize_max()).unwrap_or(defaults.filesize_max),
            },
            choice: Choice {
                name: self.model.as_deref().or(settings.model()).map(str::to_string),
                repository: settings.repository_model().filter(|_| self.model.is_none()).map(Into::into),
                vectors,
            },
        }
    }
}

/// How a project is opened, settings read.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Whether its index is brought up to date.
    pub update: bool,
    /// Whether any root may be indexed as a project.
    pub any_root: bool,
    /// What the walk takes in.
    pub walk: WalkOptions,
    /// The model.
    pub choice: Choice,
}

/// Opens a project's index, brought up to date if that is wanted and possible, and tells what it lacks.
///
/// # Errors
/// When there is none and none can be built.
pub fn open(
    opening: &Opening,
    env: &Env,
    project: &Project,
    model: Option<&Model>,
    listener: &dyn Listener,
) -> Result<Snapshot> {
    let snapshot = opened(opening, env, project, model, listener)?;
    if listener.hears()
        && let Some(lacking) = model.and_then(|m| m.lacking(&snapshot))
    {
        listener.notice(&Notice::Lacking { lacking, is_being_built: project.store.is_locked() });
    }
    Ok(snapshot)
}

/// Brings a project's index up to date and opens it. `options` of `None` keep those that it was made with; `wait` is
/// whether another writer is waited for.
///
/// # Errors
/// As [`Updater::run`].
pub fn update(
    project: &Project,
    options: Option<&WalkOptions>,
    wait: bool,
    encoding: Option<&Encoding<'_>>,
    listener: &dyn Listener,
) -> colgrep_index::Result<(Snapshot, Report)> {
    let progress = listener.progress();
    Updater::new(&project.store, &project.root)
        .ignored(&project.ignored)
        .walk_options(options.copied())
        .wait(wait)
        .encoding(encoding)
        .progress(&*progress)
        .run()
}

fn opened(
    opening: &Opening,
    env: &Env,
    project: &Project,
    model: Option<&Model>,
    listener: &dyn Listener,
) -> Result<Snapshot> {
    let state = |snapshot: &Snapshot| IndexState::of(project, snapshot, model);
    if !opening.update {
        let snapshot = project.store.open().with_context(|| {
            format!(
                "{} has no index that this colgrep can read; leave out --no-update, or run `colgrep init`",
                project.root.display()
            )
        })?;
        if !snapshot.files.complete && listener.hears() {
            listener.notice(&Notice::Incomplete(state(&snapshot)));
        }
        return Ok(snapshot);
    }
    project.check_size(env, opening.any_root)?;
    // Where nothing is asked for, an existing index keeps what it was made with.
    let mut options = Some(opening.walk).filter(|asked| *asked != WalkOptions::default());
    if let (Some(asked), Ok(snapshot)) = (options, project.store.open())
        && snapshot.files.walk_options() != asked
    {
        // What is indexed is `init`'s to change: a search must not throw away what another one needs.
        listener.notice(&Notice::OtherWalk);
        options = None;
    }
    let encoding = model.and_then(Model::encoding_of_search);
    match update(project, options.as_ref(), false, encoding.as_ref(), listener) {
        Ok((snapshot, report)) => {
            let large = snapshot.files.files.iter().filter(|f| f.skip == Some(Skip::TooLarge)).count();
            if report.wrote && large > 0 {
                let filesize_max = snapshot.files.filesize_max;
                listener.notice(&Notice::TooLarge { files: large as u64, filesize_max });
            }
            Ok(snapshot)
        }
        Err(error) => match project.store.open() {
            // What is there is better than nothing: another process writes, or the disk is full or read-only.
            Ok(snapshot) => {
                if listener.hears() {
                    let why = match error.kind() {
                        ErrorKind::Busy => NotUpdated::Busy,
                        _ => NotUpdated::Failed(error.full()),
                    };
                    listener.notice(&Notice::AsItIs { why, state: state(&snapshot) });
                }
                Ok(snapshot)
            }
            Err(_) if error.kind() == ErrorKind::Busy => first_part(project, options.as_ref(), model, listener),
            Err(_) if !project.store.folder().is_dir() => Err(error).with_context(|| {
                let root = project.root.display();
                format!("the index of {root} has no place; COLGREP_DATA_DIR=FOLDER names another one")
            }),
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
) -> Result<Snapshot> {
    listener.notice(&Notice::WaitsForFirstPart);
    loop {
        std::thread::sleep(FIRST_PART_POLL);
        if let Ok(snapshot) = project.store.open() {
            if listener.hears() {
                listener.notice(&Notice::FirstPart(IndexState::of(project, &snapshot, model)));
            }
            return Ok(snapshot);
        }
        match project.store.lock(false) {
            Err(error) if error.kind() == ErrorKind::Busy => {}
            lock => {
                drop(lock?);
                let encoding = model.and_then(Model::encoding_of_search);
                return Ok(update(project, options, true, encoding.as_ref(), listener)?.0);
            }
        }
    }
}

/// Names the library that a model has loaded to whoever wants ranking steps: it is code of somebody else.
pub fn name_runtime(listener: &dyn Listener) {
    if let Some(library) = colgrep_encoder::loaded_runtime().filter(|_| listener.traces()) {
        listener.notice(&Notice::Runtime(library));
    }
}
