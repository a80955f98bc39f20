//! Whether a folder changed since it was looked at last: the system tells, where it can.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use colgrep_engine::project::Project;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::local::tells_of_changes;

/// Watches a folder for changes.
pub(super) struct Changes {
    /// Whether the index must be compared with the tree before the next answer.
    pub stale: Arc<AtomicBool>,
    /// Whether the watch works; until then every answer compares.
    pub watching: Arc<AtomicBool>,
    watcher: Arc<OnceLock<RecommendedWatcher>>,
    /// Identity of the watched folder: another folder may take its name.
    pub folder: Option<Identity>,
}

/// Identity of a folder: device and inode, or where there are none, its time of creation.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(super) type Identity = std::time::SystemTime;

/// Identity of a folder, if there is one.
pub(super) fn identity(folder: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(folder).ok()?;
    #[cfg(unix)]
    return Some((std::os::unix::fs::MetadataExt::dev(&metadata), std::os::unix::fs::MetadataExt::ino(&metadata)));
    #[cfg(not(unix))]
    return metadata.created().ok();
}

impl Changes {
    /// Begins to watch, in a thread of its own: in a large tree that takes a while. A tree to which other machines may
    /// write is not watched, so every answer compares.
    pub fn watch(project: &Project) -> Changes {
        let changes = Changes {
            stale: Arc::new(true.into()),
            watching: Arc::new(false.into()),
            watcher: Arc::default(),
            folder: identity(&project.root),
        };
        let (root, own) = (project.root.clone(), project.store.folder().to_path_buf());
        let (stale, watching, kept) = (changes.stale.clone(), changes.watching.clone(), changes.watcher.clone());
        std::thread::spawn(move || {
            if !tells_of_changes(&root) {
                return;
            }
            let noticed = {
                let (stale, git) = (stale.clone(), root.join(".git"));
                move |event: notify::Result<notify::Event>| {
                    let matters = match event {
                        Ok(event) => {
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
