//! The server's state between calls: roots, their open indexes, and watchers of their trees.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use colgrep_engine::history::cochange::{Histories, Past};
use colgrep_engine::notice::Listener;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::{BUDGET, Opening, open};
use colgrep_engine::project::{Project, settings_at};
use colgrep_engine::request::RankBy;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_engine::{Error as EngineError, OpenOptions, Refused};
use colgrep_index::Error as IndexError;
use colgrep_index::store::Snapshot;
use colgrep_index::update::ReadFirst;
use tracing::warn;

use super::ended::{CallEnd, UntilEnd};
use super::heard::{Heard, UpdateHeard};
pub use super::root::Root;
use super::root::check_folder;
use super::shards::Shards;
use super::unserved::Unserved;
use colgrep_render::address::file_path;
use colgrep_render::advice::for_tools;
use colgrep_render::console::tell_refused;
use colgrep_render::path;

/// Roots of a client that are named where none can be searched.
const LOST_TOLD_MAX: usize = 3;

/// The server's state, as one call sees it. Clones share open indexes, models and histories.
#[derive(Clone)]
pub struct ServerState {
    /// Environment of the process.
    pub env: Env,
    /// How projects are opened, as the server was started.
    pub options: OpenOptions,
    /// Receives notices of the work.
    pub listener: Arc<dyn Listener>,
    /// The end of the call.
    pub end: CallEnd,
    pub(super) roots: Vec<Arc<Root>>,
    /// Arguments that are not roots.
    pub(super) lost: Vec<Unserved>,
    histories: Arc<Histories>,
    /// Whether the roots were given when the server was started.
    is_fixed: bool,
    /// Whether only files that an index lists are served by name: over HTTP, callers are not at this machine.
    pub indexed_only: bool,
    /// Why there is no root; empty otherwise.
    why: String,
    /// What answers say of the roots: that they are not those of the client.
    on_roots: Option<String>,
    /// The folder that the server was started in, whose settings name groups of projects.
    pub(super) started: PathBuf,
    /// The shards that it answers over, instead of roots.
    pub(super) shards: Option<Arc<Shards>>,
    /// The repositories of the shards that the caller may see; all where nothing limits it.
    pub(super) allowed: Option<Arc<[String]>>,
    /// Folders of repositories that are not searched as a whole: requests name a project inside.
    pub(super) areas: Vec<PathBuf>,
    /// Projects inside the roots that requests named.
    pub(super) projects: Arc<Mutex<Vec<Arc<Root>>>>,
    /// The server's state, where this one is limited to a project.
    pub(super) whole: Option<Arc<ServerState>>,
}

/// The folder that an error refuses to search as a whole, since it holds repositories.
fn area(error: &anyhow::Error) -> Option<PathBuf> {
    match error.downcast_ref() {
        Some(EngineError::Refused(Refused::Repositories { root, .. })) => root.canonicalize().ok(),
        _ => None,
    }
}

/// The folder from which paths are told: the first root, without one the first folder of repositories.
fn stood_in<'s>(roots: &'s [Arc<Root>], areas: &'s [PathBuf]) -> Option<&'s Path> {
    roots.first().map(|root| root.folder.as_path()).or(areas.first().map(PathBuf::as_path))
}

impl ServerState {
    /// Opens the roots and the projects of groups; the first one becomes the current folder. Without any, the project
    /// around the current folder is opened, if it is one; a client may have roots of its own. With several roots, those
    /// that can't be served are reported and left out.
    ///
    /// # Errors
    /// When no root that was given can be served, or there is no such group.
    pub fn new(roots: &[PathBuf], groups: &[String], options: OpenOptions, env: &Env) -> Result<ServerState> {
        let state = ServerState::started(roots, groups, options, env, false)?;
        Ok(ServerState { areas: Vec::new(), ..state })
    }

    /// The same for agents, whose requests may name a project inside a folder of repositories.
    pub fn for_agents(roots: &[PathBuf], groups: &[String], options: OpenOptions, env: &Env) -> Result<ServerState> {
        ServerState::started(roots, groups, options, env, true)
    }

    fn started(
        roots: &[PathBuf],
        groups: &[String],
        options: OpenOptions,
        env: &Env,
        with_areas: bool,
    ) -> Result<ServerState> {
        let mut state = ServerState::empty(options, env);
        let mut roots = roots.to_vec();
        for group in groups {
            roots.extend(state.group(group)?);
        }
        state.is_fixed = !roots.is_empty();
        let roots = match state.is_fixed {
            true => state.given(&roots, with_areas)?,
            false => state.around_start(),
        };
        state.enter(roots)?;
        Ok(state)
    }

    /// The project around the folder that the server was started in; none where it can't be served, and why not is kept.
    fn around_start(&mut self) -> Vec<Arc<Root>> {
        match self.root(&self.started, true).and_then(|root| self.check(&root).map(|()| root)) {
            Ok(root) => vec![root],
            Err(error) => {
                self.why = for_tools(&error);
                self.areas.extend(area(&error));
                Vec::new()
            }
        }
    }

    /// Opens the roots that were given; with areas, a folder of repositories is enough.
    fn given(&mut self, paths: &[PathBuf], with_areas: bool) -> Result<Vec<Arc<Root>>> {
        let (mut roots, mut errors): (Vec<Arc<Root>>, Vec<anyhow::Error>) = Default::default();
        let mut served = 0;
        for path in paths {
            let error = match self.root(path, false) {
                // A group may include a root that was given directly.
                Ok(root) if roots.iter().any(|known| known.folder == root.folder) => continue,
                Ok(root) => {
                    let checked = self.check(&root);
                    self.look(&root);
                    roots.push(root);
                    checked.err()
                }
                Err(error) => {
                    let full = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                    self.lost.push(Unserved::new(&full, &error));
                    self.areas.extend(area(&error));
                    Some(error)
                }
            };
            served += usize::from(error.is_none());
            errors.extend(error);
        }
        if !errors.is_empty() && served == 0 && (self.areas.is_empty() || !with_areas) {
            return Err(errors.swap_remove(0));
        }
        let left_out = roots.iter().filter_map(|root| root.trouble()).chain(self.lost.iter().cloned());
        left_out.for_each(|one| warn!("{one}; left out"));
        Ok(roots)
    }

    /// A server without a root.
    pub fn empty(mut options: OpenOptions, env: &Env) -> ServerState {
        options.hurried = Some(BUDGET);
        ServerState {
            env: env.clone(),
            options,
            listener: Arc::new(()),
            end: CallEnd::default(),
            roots: Vec::new(),
            lost: Vec::new(),
            histories: Arc::default(),
            is_fixed: true,
            indexed_only: false,
            why: String::new(),
            on_roots: None,
            started: std::env::current_dir().unwrap_or_default(),
            shards: None,
            allowed: None,
            areas: Vec::new(),
            projects: Arc::default(),
            whole: None,
        }
    }

    /// Opens a root: the folder, or the whole project around it. One that is open already stays so.
    ///
    /// # Errors
    /// When it is not a folder, must not be indexed without confirmation, or its settings are invalid.
    pub fn root(&self, path: &Path, whole_project: bool) -> Result<Arc<Root>> {
        let (mut project, mut below) = Project::around(path, &self.env)?;
        let mut folder = path.canonicalize().with_context(|| format!("{}", path.display()))?;
        if whole_project {
            (folder, below) = (project.root.clone(), String::new());
        }
        if !folder.is_dir() {
            bail!("{} is not a folder", path.display());
        }
        if let Some(known) = self.roots.iter().find(|known| known.folder == folder) {
            return Ok(Arc::clone(known));
        }
        project.check_size(&self.env, self.options.any_root)?;
        project.root = project.root.canonicalize().unwrap_or(project.root);
        // Invalid settings are reported when the root is checked.
        let _ = project.settings(&self.env);
        Ok(Arc::new(Root::new(folder, project, below)))
    }

    /// Answers about these roots from now on.
    fn enter(&mut self, roots: Vec<Arc<Root>>) -> Result<()> {
        if let Some(first) = stood_in(&roots, &self.areas) {
            std::env::set_current_dir(first).with_context(|| format!("could not enter {}", first.display()))?;
            path::moved();
        }
        path::serves(&roots.iter().map(|root| root.folder.as_path()).collect::<Vec<_>>());
        self.roots = roots;
        Ok(())
    }

    /// Enters the first root again if its folder was replaced: in a removed or moved folder nothing is found, and paths
    /// can't be shortened.
    pub(super) fn stand(&self) {
        let whole = self.whole();
        let first = stood_in(&whole.roots, &whole.areas).filter(|_| !path::stands());
        if first.is_some_and(|first| std::env::set_current_dir(first).is_ok()) {
            path::moved();
        }
    }

    /// The same server, which keeps its roots whatever a client names.
    #[must_use]
    pub fn with_own_roots(self) -> ServerState {
        ServerState { is_fixed: true, ..self }
    }

    /// Whether the roots were given when the server was started.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Takes over the roots of a client, given as addresses, as far as they are folders that may be indexed; the others
    /// are reported. If none is left, the server's own start folder is used as without a client's roots, and the
    /// client's former roots are no longer read.
    ///
    /// # Errors
    /// When the first root can't be entered.
    pub fn take_roots(&mut self, addresses: &[String]) -> Result<()> {
        let (mut roots, mut lost): (Vec<Arc<Root>>, Vec<Unserved>) = Default::default();
        self.areas.clear();
        for address in addresses {
            match file_path(address).with_context(|| address.clone()).and_then(|path| self.root(&path, false)) {
                Ok(root) if !roots.iter().any(|known| known.folder == root.folder) => roots.push(root),
                Ok(_) => {}
                Err(error) => {
                    self.areas.extend(area(&error));
                    lost.push(Unserved::new(Path::new(address), &error));
                }
            }
        }
        self.on_roots = None;
        let is_left = !roots.is_empty() || !self.areas.is_empty();
        if !is_left {
            roots = self.around_start();
        }
        self.lost = Vec::new();
        self.enter(roots)?;
        if is_left {
            self.lost = lost;
        } else if !lost.is_empty() {
            // What doubts all of the answer says why; the answer does not repeat it.
            let mut each: Vec<String> = lost.iter().take(LOST_TOLD_MAX).map(ToString::to_string).collect();
            each.extend(lost.len().checked_sub(LOST_TOLD_MAX + 1).map(|more| format!("{} more", more + 1)));
            let told = format!("no root of the client can be searched ({})", each.join("; "));
            self.on_roots = Some(self.instead(&told));
        }
        Ok(())
    }

    /// Keeps its roots, since the client's are not known, and says so in answers.
    pub fn lack_roots(&mut self, why: &str) {
        self.on_roots = Some(self.instead(&format!("the roots of the client are not known: {why}")));
    }

    /// A remark on roots, with those that are searched instead.
    fn instead(&self, told: &str) -> String {
        let folders: Vec<String> = self.roots.iter().map(|root| root.folder.display().to_string()).collect();
        let instead = if folders.is_empty() { "nothing".to_string() } else { folders.join(", ") };
        format!("{told}; searched instead: {instead}")
    }

    /// What answers say of the roots, where these are not the client's.
    pub fn on_roots(&self) -> Option<&str> {
        self.on_roots.as_deref()
    }

    /// Fails, with the reason, if there is no root.
    ///
    /// # Errors
    /// When there is no root.
    pub fn check_roots(&self) -> Result<()> {
        if let ([], [area, ..]) = (&*self.roots, &*self.areas) {
            let (area, projects) = (area.display(), self.repositories());
            bail!("{area} holds several repositories: name one of them in `project`: {projects}");
        }
        if self.roots.is_empty() && self.shards.is_none() {
            let lost: String = self.lost.iter().map(|one| format!("; {one}")).collect();
            let told = self.on_roots().map(|told| format!("; {told}")).unwrap_or_default();
            let lost = if told.is_empty() { lost } else { told };
            bail!(
                "there is no project to answer about: {}{lost}. A client that has roots (MCP's `roots/list`) names them \
                 itself; ask the user for the folder otherwise",
                self.why
            );
        }
        Ok(())
    }

    pub fn roots(&self) -> impl Iterator<Item = &Arc<Root>> {
        self.roots.iter()
    }

    /// A root's settings.
    ///
    /// # Errors
    /// When a settings file can't be understood.
    pub fn settings(&self, root: &Root) -> Result<Settings> {
        let settings = settings_at(&root.folder, &self.env)?.of_index(root.project.kept_mode());
        tell_refused(&settings);
        Ok(settings)
    }

    /// Access to the histories of roots with these settings.
    pub fn past<'p>(&'p self, settings: &'p Settings) -> Past<'p> {
        Past { histories: &self.histories, settings, env: &self.env, listener: &() }
    }

    /// A root's model; none if its settings ask for keywords alone.
    pub fn model<'r>(&self, root: &'r Root) -> Result<Option<&'r Model>> {
        if root.model.get().is_none() {
            let opening = self.options.with(&self.settings(root)?);
            // A library stays loaded for the whole process, so it must not come from inside any root.
            let env = self.env.working_on(self.whole().roots.iter().map(|root| &root.folder));
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
        self.snapshot_with(root, &ReadFirst::default())
    }

    /// The same; if files have to be read, those of `first` come first.
    pub fn snapshot_with(&self, root: &Arc<Root>, first: &ReadFirst) -> Result<Arc<Snapshot>> {
        if let Err(error) = check_folder(root) {
            root.forget();
            return Err(error);
        }
        let _opening = root.opening.lock().unwrap_or_else(PoisonError::into_inner);
        root.changes.renew(&root.project);
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
        let listener = self.until_end(&*self.listener);
        let heard = Heard::new(&listener);
        root.is_opening.store(true, Ordering::Release);
        let model_now = model.filter(|_| !encoding);
        let opened = open(&opening, (&self.env, &project), model_now, first, &heard);
        root.is_opening.store(false, Ordering::Release);
        match opened {
            Ok((snapshot, partial)) => {
                partial.iter().for_each(|partial| heard.notice(partial));
                let UpdateHeard { unlike, known, has_no_room } = heard.told();
                root.hears_of_room(has_no_room);
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
                (*root.unlike(), *root.known()) = (unlike, known);
                root.ready.store(true, Ordering::Release);
                Ok(snapshot)
            }
            Err(error) => {
                root.no_room.store(error.of_index().is_some_and(IndexError::has_no_room), Ordering::Release);
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
            let first = ReadFirst::default();
            while let Ok((snapshot, partial)) = open(&opening, (&env, &project), model, &first, &()) {
                let heard = Heard::new(&());
                partial.iter().for_each(|partial| heard.notice(partial));
                root.hears_of_room(heard.told().has_no_room);
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

impl ServerState {
    /// A server over shards, without a root of its own.
    pub fn over(shards: Arc<Shards>, options: OpenOptions, env: &Env) -> ServerState {
        let mut state = ServerState::empty(options, env);
        state.shards = Some(shards);
        state
    }

    /// The shards that the server answers over, where it does.
    pub fn shards(&self) -> Option<&Shards> {
        self.shards.as_deref()
    }

    /// The same server for a caller who may see these repositories alone.
    #[must_use]
    pub fn for_caller(&self, allowed: Option<Vec<String>>) -> ServerState {
        let mut state = self.clone();
        state.allowed = allowed.map(Arc::from);
        state
    }

    /// The same server for a call that may end before its answer is there.
    #[must_use]
    pub fn until(self, end: &CallEnd) -> ServerState {
        ServerState { end: end.clone(), ..self }
    }

    /// A listener, until the end of the call.
    pub fn until_end<'l>(&self, listener: &'l dyn Listener) -> UntilEnd<'l> {
        UntilEnd { listener, end: self.end.clone() }
    }

    /// The repositories that the caller may see; all where nothing limits it.
    pub fn allowed(&self) -> Option<&[String]> {
        self.allowed.as_deref()
    }

    /// Fails where the server answers over shards, for what needs the files.
    ///
    /// # Errors
    /// When it does.
    pub fn check_here(&self) -> Result<()> {
        match self.shards {
            Some(_) => {
                bail!(
                    "this server answers over shards and has no files of its own: `search`, `grep` and `status` alone"
                )
            }
            None => Ok(()),
        }
    }
}
