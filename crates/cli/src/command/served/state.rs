//! The server's state between calls: roots, their open indexes, and watchers of their trees.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail};
use colgrep_engine::OpenOptions;
use colgrep_engine::env::Env;
use colgrep_engine::model::Model;
use colgrep_engine::notice::Listener;
use colgrep_engine::open::{Opening, open};
use colgrep_engine::past::{Histories, Past};
use colgrep_engine::project::{Project, settings_at};
use colgrep_engine::request::RankBy;
use colgrep_engine::settings::Settings;
use colgrep_index::store::Snapshot;
use colgrep_syntax::read::looks_secret;

use super::changes::{Changes, identity};
use super::heard::Heard;
use super::shards::Shards;
use crate::args::WalkArgs;
use crate::console::tell_refused;
use crate::hint::for_tools;
use crate::output::path;

/// The server's state, as one call sees it. Clones share open indexes, models and histories.
#[derive(Clone)]
pub struct ServerState {
    /// Environment of the process.
    pub env: Env,
    /// How projects are opened, as the server was started.
    pub options: OpenOptions,
    /// Receives notices of the work.
    pub listener: Arc<dyn Listener>,
    roots: Vec<Arc<Root>>,
    /// Histories that are open.
    histories: Arc<Histories>,
    /// Whether the roots were given when the server was started.
    is_fixed: bool,
    /// Why there is no root, if there is none.
    why: String,
    /// The folder that the server was started in, whose settings name groups of projects.
    started: PathBuf,
    /// The shards that it answers over, instead of roots.
    pub(super) shards: Option<Arc<Shards>>,
    /// The repositories of the shards that the caller may see; all where nothing limits it.
    pub(super) allowed: Option<Arc<[String]>>,
}

/// One folder that the server answers about.
pub struct Root {
    /// The folder, absolute.
    pub folder: PathBuf,
    /// The project around it.
    pub project: Project,
    /// The folder from the project's root.
    pub below: String,
    /// Locked by each call that wants the index: one alone opens it or brings it up to date, which may take long.
    opening: Mutex<()>,
    /// Whether one is doing so.
    is_opening: AtomicBool,
    /// The index as it was opened last.
    held: Mutex<Option<Arc<Snapshot>>>,
    /// Why that was not compared with the files, where it was not.
    unlike: Mutex<Option<String>>,
    /// The model that the root's settings choose; opened when first needed.
    model: OnceLock<Option<Model>>,
    changes: Changes,
    /// Whether vectors are being made in the background.
    encoding: AtomicBool,
    /// Whether the index was opened once.
    ready: AtomicBool,
}

/// The path of a `file:` address.
fn file_path(address: &str) -> Result<PathBuf> {
    let rest = address.strip_prefix("file://").context("only folders of this machine are answered about")?;
    let path = &rest[rest.find('/').context("it names no folder")?..];
    let (mut bytes, mut all) = (Vec::with_capacity(path.len()), path.bytes());
    while let Some(byte) = all.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [all.next(), all.next()].map(|digit| digit.map(char::from).and_then(|d| d.to_digit(16)));
                let [Some(high), Some(low)] = digits else { bail!("it is no address: {address}") };
                (16 * high + low) as u8
            }
            byte => byte,
        });
    }
    let path = String::from_utf8(bytes).context("its name is not UTF-8")?;
    // Of Windows: /C:/folder.
    let drive = path.strip_prefix('/').filter(|rest| cfg!(windows) && rest[1..].starts_with(':'));
    Ok(PathBuf::from(drive.unwrap_or(&path)))
}

impl ServerState {
    /// Opens the roots and the projects of groups; the first one becomes the current folder. Where none is given, that is the project around the
    /// current folder, if it is one; a client may have roots of its own.
    ///
    /// # Errors
    /// When a root that was given is no folder, or none that is indexed without being asked, or there is no such group.
    pub fn new(roots: &[PathBuf], groups: &[String], walk: &WalkArgs, env: &Env) -> Result<ServerState> {
        let mut state = ServerState::empty(walk, env);
        let mut roots = roots.to_vec();
        for group in groups {
            roots.extend(state.group(group)?);
        }
        state.is_fixed = !roots.is_empty();
        let roots = match state.is_fixed {
            true => {
                let mut opened: Vec<Arc<Root>> = Vec::new();
                for path in &roots {
                    let root = state.root(path, false)?;
                    // A group may hold what was given besides.
                    if !opened.iter().any(|known| known.folder == root.folder) {
                        opened.push(root);
                    }
                }
                opened
            }
            false => match state.root(Path::new("."), true) {
                Ok(root) => vec![root],
                Err(error) => {
                    state.why = for_tools(&error);
                    Vec::new()
                }
            },
        };
        state.enter(roots)?;
        Ok(state)
    }

    /// A server without a root.
    pub(super) fn empty(walk: &WalkArgs, env: &Env) -> ServerState {
        let mut options = walk.open_options(None);
        options.hurried = true;
        ServerState {
            env: env.clone(),
            options,
            listener: Arc::new(()),
            roots: Vec::new(),
            histories: Arc::default(),
            is_fixed: true,
            why: String::new(),
            started: std::env::current_dir().unwrap_or_default(),
            shards: None,
            allowed: None,
        }
    }

    /// The folders of a group of projects.
    ///
    /// # Errors
    /// When the settings have no group of that name.
    fn group(&self, name: &str) -> Result<Vec<PathBuf>> {
        Ok(settings_at(&self.started, &self.env)?.group(name, &self.env)?)
    }

    /// Opens a root: the folder, or the whole project around it. One that is open already stays so.
    fn root(&self, path: &Path, whole_project: bool) -> Result<Arc<Root>> {
        let (mut project, mut below) = Project::around(path, &self.env)?;
        let mut folder = path.canonicalize().with_context(|| format!("{}", path.display()))?;
        if whole_project {
            (folder, below) = (project.root.clone(), String::new());
        }
        if !folder.is_dir() {
            bail!("{} is no folder", path.display());
        }
        if let Some(known) = self.roots.iter().find(|known| known.folder == folder) {
            return Ok(Arc::clone(known));
        }
        project.check_size(&self.env, self.options.any_root)?;
        project.root = project.root.canonicalize().unwrap_or(project.root);
        project.settings(&self.env)?;
        let changes = Changes::watch(&project);
        let (opening, is_opening) = (Mutex::default(), false.into());
        let (held, unlike) = (Mutex::default(), Mutex::default());
        let (model, encoding, ready) = (OnceLock::new(), false.into(), false.into());
        Ok(Arc::new(Root {
            folder,
            project,
            below,
            opening,
            is_opening,
            held,
            unlike,
            model,
            changes,
            encoding,
            ready,
        }))
    }

    /// Answers about these roots from now on.
    fn enter(&mut self, roots: Vec<Arc<Root>>) -> Result<()> {
        if let Some(first) = roots.first() {
            std::env::set_current_dir(&first.folder)
                .with_context(|| format!("could not enter {}", first.folder.display()))?;
            path::moved();
        }
        self.roots = roots;
        Ok(())
    }

    /// Whether the roots were given when the server was started.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Takes over the roots of a client, given as addresses, as far as they are folders that may be indexed. Returns
    /// whether there are any.
    pub fn take_roots(&mut self, addresses: &[String]) -> bool {
        let (mut roots, mut refused): (Vec<Arc<Root>>, Vec<String>) = Default::default();
        for address in addresses {
            match file_path(address).with_context(|| address.clone()).and_then(|path| self.root(&path, false)) {
                Ok(root) if !roots.iter().any(|known| Arc::ptr_eq(known, &root)) => roots.push(root),
                Ok(_) => {}
                Err(error) => refused.push(for_tools(&error)),
            }
        }
        if roots.is_empty() {
            return false;
        }
        self.why = refused.join("; ");
        self.enter(roots).is_ok()
    }

    /// Fails, with the reason, if there is no root.
    ///
    /// # Errors
    /// When there is no root.
    pub fn check_roots(&self) -> Result<()> {
        if self.roots.is_empty() && self.shards.is_none() {
            bail!(
                "there is no project to answer about: {}. The server has to be started in a project, or for one (with \
                 its folder), or the client has to have roots",
                self.why
            );
        }
        Ok(())
    }

    /// The roots.
    pub fn roots(&self) -> impl Iterator<Item = &Arc<Root>> {
        self.roots.iter()
    }

    /// The root that holds `path` (from the first root, or absolute) with the path from that root's project.
    ///
    /// # Errors
    /// When there is no such file or folder, it lies outside all roots, or it is not served: git's own files, and files
    /// that look like secrets unless these or hidden files are indexed. A text that the tool's caller has read may have
    /// told it what to ask for.
    pub fn locate(&self, path: &str) -> Result<(&Arc<Root>, PathBuf, String)> {
        self.check_here()?;
        self.check_roots()?;
        // Relative to the root, not to the current folder, which may have been replaced.
        let full = self.roots[0].folder.join(path).canonicalize();
        let outside = || {
            let roots: Vec<String> = self.roots.iter().map(|r| r.folder.display().to_string()).collect();
            format!("{path} is not a file or folder inside the roots of this server: {}", roots.join(", "))
        };
        let full = full.map_err(|_| anyhow::anyhow!(outside()))?;
        let Some(root) = self.roots().find(|r| full.starts_with(&r.folder)) else { bail!(outside()) };
        let inside = full.strip_prefix(&root.folder).unwrap_or(Path::new(""));
        if inside.components().any(|c| c.as_os_str() == ".git") {
            bail!("{path} belongs to git, and is not served");
        }
        if looks_secret(&inside.to_string_lossy()) && full.is_file() && !self.serves_secrets(root) {
            bail!(
                "{path} looks like a secret, and is not served unless hidden files or secrets are indexed (settings `hidden`, `secrets`)"
            );
        }
        let below = full.strip_prefix(&root.project.root).unwrap_or(Path::new(""));
        let below = below.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        Ok((root, full, below))
    }

    /// [`ServerState::locate`] of paths, and of the folders of groups of the settings.
    ///
    /// # Errors
    /// When one of them lies outside the roots, or there is no such group.
    pub fn located(&self, paths: &[String], groups: &[String]) -> Result<Vec<(&Arc<Root>, PathBuf, String)>> {
        let mut located = paths.iter().map(|path| self.locate(path)).collect::<Result<Vec<_>>>()?;
        for group in groups {
            for folder in self.group(group)? {
                let outside =
                    || format!("the group {group:?}; `--group {group}` starts a server that answers about it");
                located.push(self.locate(&folder.to_string_lossy()).with_context(outside)?);
            }
        }
        Ok(located)
    }

    /// Whether a root's hidden files or secrets are indexed.
    fn serves_secrets(&self, root: &Arc<Root>) -> bool {
        let asked = [self.options.hidden, self.options.secrets].contains(&Some(true));
        asked || self.snapshot(root).is_ok_and(|snapshot| snapshot.files.hidden || snapshot.files.secrets)
    }

    /// A root's settings.
    ///
    /// # Errors
    /// When a settings file can't be understood.
    pub fn settings(&self, root: &Root) -> Result<Settings> {
        let settings = settings_at(&root.folder, &self.env)?;
        tell_refused(&settings);
        Ok(settings)
    }

    /// Access to the histories of roots with these settings.
    pub fn past<'p>(&'p self, settings: &'p Settings) -> Past<'p> {
        Past { histories: &self.histories, settings, env: &self.env, listener: &() }
    }

    /// A root's model; none if its settings ask for keywords alone.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn model<'r>(&self, root: &'r Root) -> Result<Option<&'r Model>> {
        if root.model.get().is_none() {
            let opening = self.options.with(&self.settings(root)?);
            // A library stays loaded for the whole process, so it must not come from inside any root.
            let env = self.env.working_on(self.roots.iter().map(|root| &root.folder));
            let model = Model::of_search(&opening.choice, RankBy::Both, &env)?;
            let _ = root.model.set(model.map(Model::remembering));
        }
        Ok(root.model.get().and_then(Option::as_ref))
    }

    /// A root's index: the one that is open, unless something changed.
    ///
    /// # Errors
    /// When it can't be read or built, or the folder is gone.
    pub fn snapshot(&self, root: &Arc<Root>) -> Result<Arc<Snapshot>> {
        if !root.folder.is_dir() {
            root.forget();
            bail!("{} is no folder any more", root.folder.display());
        }
        let _opening = root.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = root.changes.stale.swap(false, Ordering::AcqRel) || !root.is_watched();
        let model = self.model(root)?;
        // While a thread makes vectors, calls do not wait for them.
        let encoding = root.is_encoding();
        let is_enough = |s: &Snapshot| s.files.complete && (encoding || model.is_none_or(|m| !m.lacks(s)));
        if let Some(snapshot) = root.opened().filter(|s| !stale && is_enough(s)) {
            return Ok(snapshot);
        }
        let mut project = root.project.clone();
        project.settings(&self.env)?;
        let opening = self.options.with(&self.settings(root)?);
        let heard = Heard::new(&*self.listener);
        root.is_opening.store(true, Ordering::Release);
        let opened = open(&opening, &self.env, &project, model.filter(|_| !encoding), &heard);
        root.is_opening.store(false, Ordering::Release);
        match opened {
            Ok(snapshot) => {
                let unlike = heard.unlike();
                let is_unfinished = !snapshot.files.complete || model.is_some_and(|m| m.lacks(&snapshot));
                if !encoding && is_unfinished && !project.store.is_locked() {
                    self.encode_beside(root, project.clone(), opening);
                }
                // An index that could not be brought up to date is tried again by the next call.
                if !snapshot.files.complete || unlike.is_some() || project.store.is_locked() {
                    root.changes.stale.store(true, Ordering::Release);
                }
                if root.is_watched() {
                    snapshot.texts.set_local(&project.root);
                }
                let snapshot = Arc::new(snapshot);
                *root.held() = Some(Arc::clone(&snapshot));
                *root.unlike() = unlike;
                root.ready.store(true, Ordering::Release);
                Ok(snapshot)
            }
            Err(error) => {
                root.changes.stale.store(true, Ordering::Release);
                Err(error.into())
            }
        }
    }
}

impl ServerState {
    /// Finishes the update of an index in a thread of its own, in steps as long as a search's, so that changed files
    /// are indexed in between. It ends when nothing is left, or a step brought nothing: another process is at work, or
    /// vectors can't be made. The next call then begins again.
    fn encode_beside(&self, root: &Arc<Root>, project: Project, opening: Opening) {
        if root.encoding.swap(true, Ordering::AcqRel) {
            return;
        }
        let (root, env) = (Arc::clone(root), self.env.clone());
        std::thread::spawn(move || {
            let model = root.model.get().and_then(Option::as_ref);
            let mut before = (0, u64::MAX);
            // An error here shows at the next call.
            while let Ok(snapshot) = open(&opening, &env, &project, model, &()) {
                root.changes.stale.store(true, Ordering::Release);
                let lack = snapshot.coverage().without_vectors();
                let now = (snapshot.files.files.len(), lack);
                let is_done = snapshot.files.complete && (lack == 0 || model.is_none());
                if is_done || (now.0 <= before.0 && now.1 >= before.1) {
                    break;
                }
                before = now;
            }
            root.encoding.store(false, Ordering::Release);
        });
    }
}

impl Root {
    fn held(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlike(&self) -> MutexGuard<'_, Option<String>> {
        self.unlike.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether vectors are being made in the background.
    pub fn is_encoding(&self) -> bool {
        self.encoding.load(Ordering::Acquire)
    }

    /// Whether the index was opened once, so that answers need not wait for a first build.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Whether the next call looks for changes.
    pub fn is_stale(&self) -> bool {
        self.changes.stale.load(Ordering::Acquire) || !self.is_watched()
    }

    /// Whether changes are noticed as they happen.
    pub fn is_watched(&self) -> bool {
        self.changes.watching.load(Ordering::Acquire) && self.changes.folder == identity(&self.project.root)
    }

    /// The index as it was opened last. Opens nothing, and waits for nobody who does.
    pub fn opened(&self) -> Option<Arc<Snapshot>> {
        self.held().clone()
    }

    /// The index without an update; `None` where there is none.
    pub fn as_it_is(&self) -> Option<Arc<Snapshot>> {
        self.opened().or_else(|| self.project.store.open().ok().map(Arc::new))
    }

    /// How current the index of the last call is, in words.
    pub fn freshness(&self) -> String {
        let Some(snapshot) = self.opened() else { return "not asked yet".to_string() };
        let files = snapshot.files.files.len();
        if let Some(why) = &*self.unlike() {
            return format!("not compared with the files: {why}");
        }
        let is_watched = self.is_watched() && !self.is_opening.load(Ordering::Acquire);
        match (snapshot.files.complete, self.changes.stale.load(Ordering::Acquire), is_watched) {
            (false, ..) => format!("in part, {files} files so far; the rest is being read"),
            (true, false, true) => "current".to_string(),
            _ => "current when it was asked".to_string(),
        }
    }

    /// Closes the index: the next call compares everything again.
    pub fn forget(&self) {
        *self.held() = None;
        self.changes.stale.store(true, Ordering::Release);
    }
}
