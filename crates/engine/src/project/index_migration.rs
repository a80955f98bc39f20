//! A git repository that was moved keeps its index, and a new worktree begins with that of another one.

use std::path::PathBuf;

use colgrep_index::store::{POINT_PART, Store, project_folder};
use colgrep_index::worktree::sibling_roots;

use crate::project::Project;

/// Maximum number of indexes that are examined.
const STORES_MAX: usize = 1_000;

/// Takes over the index of a moved repository: for one without an index, the index of a root that no longer exists and
/// whose files are found here with their sizes and times. Returns that root.
pub(crate) fn take_over(project: &Project) -> Option<PathBuf> {
    if project.store.folder().exists() || !project.root.join(".git").exists() {
        return None;
    }
    let data = project.store.folder().parent()?;
    let stores = std::fs::read_dir(data).ok()?.flatten().take(STORES_MAX).map(|entry| Store::new(entry.path()));
    stores.filter(Store::is_ours).find_map(|store| {
        let root = store.root().filter(|root| !root.exists())?;
        let is_its_own = project_folder(data, &root).file_name() == store.folder().file_name();
        if !is_its_own || !store.is_of_tree(&project.root) {
            return None;
        }
        store.move_to(project.store.folder().to_path_buf(), &project.root).ok().map(|_| root)
    })
}

/// Begins the index of a new worktree with the newest one of the repository's other worktrees. An index that can't be
/// taken is left alone: the update then reads every file.
pub(crate) fn begin_with_sibling(project: &Project) {
    if project.store.folder().exists() {
        return;
    }
    let Some(data) = project.store.folder().parent() else { return };
    let stores = sibling_roots(&project.root).into_iter().map(|root| Store::new(project_folder(data, &root)));
    let written = |store: &Store| std::fs::metadata(store.folder().join(POINT_PART)).and_then(|m| m.modified()).ok();
    let mut stores: Vec<_> = stores.filter_map(|store| Some((written(&store)?, store))).collect();
    stores.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    let _ = stores.iter().find(|(_, store)| project.store.begin_with(store, &project.root).unwrap_or(false));
}
