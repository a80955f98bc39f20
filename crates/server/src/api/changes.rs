//! Whether a folder changed since the last check, as reported by the system if possible.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_engine::project::Project;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::local::tells_of_changes;

pub(super) struct FolderWatcher {
    /// Whether the index must be compared with the tree before the next answer.
    pub stale: Arc<AtomicBool>,
    watch: Mutex<Arc<FolderWatch>>,
}

/// A watch of the folder that had the name when it began.
struct FolderWatch {
    /// Identity of the folder: another one may take its name.
    folder: Option<Identity>,
    /// Whether it works; until then every answer compares.
    is_on: AtomicBool,
    /// Whether the folder was removed or moved: one that comes back may have the same identity.
    is_over: Arc<AtomicBool>,
    watcher: OnceLock<RecommendedWatcher>,
}

/// Identity of a folder: device and inode, or where the system has no such numbers, its creation time.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::time::SystemTime;

fn identity(folder: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(folder).ok()?;
    #[cfg(unix)]
    return Some((std::os::unix::fs::MetadataExt::dev(&metadata), std::os::unix::fs::MetadataExt::ino(&metadata)));
    #[cfg(not(unix))]
    return metadata.created().ok();
}

impl FolderWatcher {
    /// Begins to watch a project's root.
    pub fn watch(project: &Project) -> FolderWatcher {
        let stale = Arc::new(true.into());
        let watch = Mutex::new(FolderWatch::begin(project, &stale));
        FolderWatcher { stale, watch }
    }

    fn now(&self) -> MutexGuard<'_, Arc<FolderWatch>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes of a project's root are noticed as they happen.
    pub fn are_noticed(&self, root: &Path) -> bool {
        let watch = Arc::clone(&self.now());
        watch.is_on.load(Ordering::Acquire) && !watch.is_gone(root)
    }

    /// Watches the folder that has the name of the root now, where the one that was watched is gone.
    pub fn renew(&self, project: &Project) {
        let mut watch = self.now();
        if watch.is_gone(&project.root) && project.root.is_dir() {
            *watch = FolderWatch::begin(project, &self.stale);
        }
    }
}

impl FolderWatch {
    /// Begins, in a thread of its own: in a large tree that takes a while. A tree to which other machines may write is not
    /// watched, so every answer compares.
    fn begin(project: &Project, stale: &Arc<AtomicBool>) -> Arc<FolderWatch> {
        let watch = Arc::new(FolderWatch {
            folder: identity(&project.root),
            is_on: AtomicBool::new(false),
            is_over: Arc::default(),
            watcher: OnceLock::new(),
        });
        let (root, own) = (project.root.clone(), project.store.folder().to_path_buf());
        let (kept, stale) = (Arc::clone(&watch), Arc::clone(stale));
        std::thread::spawn(move || {
            if !tells_of_changes(&root) {
                return;
            }
            let noticed = noticing(root.clone(), own, Arc::clone(&stale), Arc::clone(&kept.is_over));
            if let Ok(mut watcher) = notify::recommended_watcher(noticed)
                && watcher.watch(&root, RecursiveMode::Recursive).is_ok()
                && kept.watcher.set(watcher).is_ok()
            {
                stale.store(true, Ordering::Release);
                kept.is_on.store(true, Ordering::Release);
            }
        });
        watch
    }

    /// Whether the folder has its name no more.
    fn is_gone(&self, root: &Path) -> bool {
        self.is_over.load(Ordering::Acquire) || self.folder != identity(root)
    }
}

/// Hears of changes below a root but for git's own files and the index, which lies in `own`.
fn noticing(
    root: PathBuf,
    own: PathBuf,
    stale: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
) -> impl Fn(notify::Result<Event>) {
    let git = root.join(".git");
    move |event| {
        let matters = match event {
            Ok(event) => {
                let is_end = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
                if is_end && event.paths.contains(&root) {
                    is_over.store(true, Ordering::Release);
                }
                !event.kind.is_access()
                    && (event.paths.is_empty()
                        || event.paths.iter().any(|p| !p.starts_with(&git) && !p.starts_with(&own)))
            }
            // Events were lost: any file may have changed.
            Err(_) => true,
        };
        if matters {
            stale.store(true, Ordering::Release);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use colgrep_engine::settings::env::Env;

    use super::*;

    fn until(what: &str, is_so: impl Fn() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < end, "it is never {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_folder_that_came_back_is_watched_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path").join("root");
        let made = || fs::create_dir_all(root.join(".git")).expect("a folder");
        made();
        let env = Env::default().data_in(folder.path().join("data"));
        let project = Project::around(&root, &env).expect("a project").0;
        let changes = FolderWatcher::watch(&project);
        let is_watched = || {
            until("watched", || changes.are_noticed(&root));
            changes.stale.store(false, Ordering::Release);
            fs::write(root.join("file"), "text").expect("a file");
            until("told", || changes.stale.load(Ordering::Acquire));
        };
        is_watched();
        fs::remove_dir_all(&root).expect("no folder");
        until("over", || !changes.are_noticed(&root));
        changes.renew(&project);
        assert!(!changes.are_noticed(&root), "there is nothing to watch");
        // Its inode may be the old one.
        made();
        until("over", || !changes.are_noticed(&root));
        changes.renew(&project);
        is_watched();
        // A folder that is moved away and back.
        let away = folder.path().join("away");
        fs::rename(&root, &away).expect("moved");
        fs::rename(&away, &root).expect("moved");
        until("over", || !changes.are_noticed(&root));
        changes.renew(&project);
        is_watched();
        // One that is watched stays so.
        changes.renew(&project);
        assert!(changes.are_noticed(&root));
    }
}
