//! What the server keeps between calls: its roots, their open indexes, and who tells of changes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail};
use colgrep_index::store::Snapshot;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::args::{McpArgs, SearchArgs, WalkArgs};
use crate::command::search::open;
use crate::env::Env;
use crate::model::Model;
use crate::project::Project;
use crate::settings::Settings;

/// The server's memory.
pub struct Desk {
    /// Environment of the process.
    pub env: Env,
    walk: WalkArgs,
    roots: Vec<Root>,
}

/// One folder that the server answers about.
pub struct Root {
    /// The folder, absolute.
    pub folder: PathBuf,
    /// The project around it.
    pub project: Project,
    /// The folder from the project's root.
    pub below: String,
    held: Mutex<Option<Arc<Snapshot>>>,
    /// The model that the root's settings choose, once one is needed.
    model: OnceLock<Option<Arc<Model>>>,
    /// Whether a thread makes the vectors that are lacking.
    completing: Arc<AtomicBool>,
    changes: Changes,
}

/// Notices changes below a folder.
struct Changes {
    /// Whether the index has to be compared with the tree before the next answer.
    stale: Arc<AtomicBool>,
    /// Whether changes are noticed: until then every answer compares.
    watching: Arc<AtomicBool>,
    watcher: Arc<OnceLock<RecommendedWatcher>>,
}

impl Changes {
    /// Begins to watch, in a thread of its own: in a large tree that takes a while.
    fn watch(project: &Project) -> Changes {
        let changes =
            Changes { stale: Arc::new(true.into()), watching: Arc::new(false.into()), watcher: Arc::default() };
        let (root, own) = (project.root.clone(), project.store.folder().to_path_buf());
        let (stale, watching, kept) = (changes.stale.clone(), changes.watching.clone(), changes.watcher.clone());
        std::thread::spawn(move || {
            let noticed = {
                let (stale, git) = (stale.clone(), root.join(".git"));
                move |event: notify::Result<notify::Event>| {
                    let matters = match event {
                        Ok(event) => {
                            !event.kind.is_access()
                                && (event.paths.is_empty()
                                    || event.paths.iter().any(|p| !p.starts_with(&git) && !p.starts_with(&own)))
                        }
                        // What was lost may have mattered.
                        Err(_) => true,
                    };
                    if matters {
                        stale.store(true, Ordering::Release);
                    }
                }
            };
            if let Ok(mut watcher) = notify::recommended_watcher(noticed)
                && watcher.watch(&root, RecursiveMode::Recursive).is_ok()
                && kept.set(watcher).is_ok()
            {
                stale.store(true, Ordering::Release);
                watching.store(true, Ordering::Release);
            }
        });
        changes
    }
}

impl Desk {
    /// Opens the roots; the first one becomes the current folder.
    ///
    /// # Errors
    /// When one is no folder.
    pub fn new(args: &McpArgs, env: &Env) -> Result<Desk> {
        let here = [PathBuf::from(".")];
        let mut roots: Vec<Root> = Vec::new();
        for path in if args.roots.is_empty() { &here[..] } else { &args.roots } {
            let (mut project, mut below) = Project::around(path, env)?;
            let mut folder = path.canonicalize().with_context(|| format!("{}", path.display()))?;
            if args.roots.is_empty() {
                // Without a word, the whole project.
                (folder, below) = (project.root.clone(), String::new());
            }
            if !folder.is_dir() {
                bail!("{} is no folder", path.display());
            }
            project.check_size(env, args.walk.yes)?;
            project.root = project.root.canonicalize().unwrap_or(project.root);
            let changes = Changes::watch(&project);
            let (held, model, completing) = (Mutex::default(), OnceLock::new(), Arc::default());
            roots.push(Root { folder, project, below, held, model, completing, changes });
        }
        std::env::set_current_dir(&roots[0].folder)
            .with_context(|| format!("could not enter {}", roots[0].folder.display()))?;
        Ok(Desk { env: env.clone(), walk: WalkArgs { quiet: true, ..args.walk.clone() }, roots })
    }

    /// The roots.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The root that holds `path` (from the first root, or absolute) with the path from that root's project.
    ///
    /// # Errors
    /// When there is no such file or folder, or it lies outside all roots.
    pub fn locate(&self, path: &str) -> Result<(&Root, PathBuf, String)> {
        let full = Path::new(path).canonicalize();
        let outside = || {
            let roots: Vec<String> = self.roots.iter().map(|r| r.folder.display().to_string()).collect();
            format!("{path} is not a file or folder inside the roots of this server: {}", roots.join(", "))
        };
        let full = full.map_err(|_| anyhow::anyhow!(outside()))?;
        let Some(root) = self.roots.iter().find(|r| full.starts_with(&r.folder)) else { bail!(outside()) };
        let below = full.strip_prefix(&root.project.root).unwrap_or(Path::new(""));
        let below = below.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        Ok((root, full, below))
    }

    /// A root's settings.
    ///
    /// # Errors
    /// When a file of them is not to be understood.
    pub fn settings(&self, root: &Root) -> Result<Settings> {
        Settings::load(&self.env, &root.folder)
    }

    /// A root's model; none where its settings want keywords alone.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn model<'r>(&self, root: &'r Root) -> Result<Option<&'r Arc<Model>>> {
        if root.model.get().is_none() {
            let mut args = SearchArgs { walk: self.walk.clone(), ..SearchArgs::default() };
            let settings = self.settings(root)?;
            settings.fill(&mut args);
            let model = Model::of_search(&args, settings.repository_model(), &self.env)?;
            let _ = root.model.set(model.map(Arc::new));
        }
        Ok(root.model.get().and_then(Option::as_ref))
    }

    /// A root's index: the one that is open, unless something changed.
    ///
    /// # Errors
    /// When it can't be read or built.
    pub fn snapshot(&self, root: &Root) -> Result<Arc<Snapshot>> {
        let mut held = root.held();
        let stale = root.changes.stale.swap(false, Ordering::AcqRel) || !root.is_watched();
        let model = self.model(root)?;
        let lacks = |s: &Snapshot| model.and_then(|m| m.encoding_of_search()).is_some_and(|e| !e.is_done(s));
        // While a thread makes vectors, no call waits for them.
        let completing = root.completing.load(Ordering::Acquire);
        if let Some(snapshot) = held.as_ref().filter(|s| !stale && s.files.complete && (completing || !lacks(s))) {
            return Ok(Arc::clone(snapshot));
        }
        let mut walk = self.walk.clone();
        self.settings(root)?.fill_walk(&mut walk);
        match open(&walk, true, &self.env, &root.project, model.filter(|_| !completing).map(AsRef::as_ref)) {
            Ok(snapshot) => {
                if let Some(model) = model.filter(|_| !completing && lacks(&snapshot)) {
                    self.complete(root, walk, Arc::clone(model));
                }
                // What could not be brought up to date is tried again by the next call.
                if !snapshot.files.complete {
                    root.changes.stale.store(true, Ordering::Release);
                }
                let snapshot = Arc::new(snapshot);
                *held = Some(Arc::clone(&snapshot));
                Ok(snapshot)
            }
            Err(error) => {
                root.changes.stale.store(true, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Makes the rest of a root's vectors in a thread of its own, a search's share at a time, so that changed files are
    /// indexed in between. It ends when all are there, or when a share brought nothing: another process is at it, or
    /// they can't be made. The next call begins again then.
    fn complete(&self, root: &Root, walk: WalkArgs, model: Arc<Model>) {
        root.completing.store(true, Ordering::Release);
        let (env, project) = (self.env.clone(), root.project.clone());
        let (stale, completing) = (Arc::clone(&root.changes.stale), Arc::clone(&root.completing));
        std::thread::spawn(move || {
            let mut before = u64::MAX;
            while let Ok(snapshot) = open(&walk, true, &env, &project, Some(&model)) {
                let lack = snapshot.without_vectors();
                stale.store(true, Ordering::Release);
                if lack == 0 || lack >= before {
                    break;
                }
                before = lack;
            }
            completing.store(false, Ordering::Release);
        });
    }
}

impl Root {
    fn held(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes are noticed as they happen.
    pub fn is_watched(&self) -> bool {
        self.changes.watching.load(Ordering::Acquire)
    }

    /// Forgets the open index: the next call looks at everything again.
    pub fn forget(&self) {
        *self.held() = None;
        self.changes.stale.store(true, Ordering::Release);
    }
}
