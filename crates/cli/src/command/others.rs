//! Indexes of other projects: those of projects that are gone, and those that nobody has asked for a long time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use colgrep_engine::history::HistoryPlace;
use colgrep_engine::settings::env::Env;
use colgrep_index::store::{Store, project_folder};

use colgrep_render::words::{counted, in_words};

/// An index that was neither changed nor read for so long is offered for removal.
const UNUSED_AFTER: Duration = Duration::from_secs(90 * 86_400);
/// Projects that are named, at most.
const NAMED_MAX: usize = 3;

/// Folders below the data folder that are indexes by their content.
pub fn all_stores(env: &Env) -> Result<Vec<Store>> {
    let data = env.data_folder()?;
    if !data.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&data).with_context(|| format!("{}", data.display()))?;
    let stores = entries.flatten().map(|e| Store::new(e.path()));
    Ok(stores.filter(Store::is_ours).collect())
}

/// The indexes whose project no longer exists, each with its root; those of histories too, with the repository's
/// folder.
pub fn gone(env: &Env) -> Result<Vec<(Store, PathBuf)>> {
    let known = all_stores(env)?.into_iter().filter_map(|store| Some((root_of(&store, env)?, store)));
    Ok(known.filter(|(root, _)| !root.is_dir()).map(|(root, store)| (store, root)).collect())
}

/// The root of the project that the index belongs to, or the folder of the repository whose history it is; `None` for
/// an index of something else.
fn root_of(store: &Store, env: &Env) -> Option<PathBuf> {
    let root = store.root()?;
    let own = project_folder(&env.data_folder().ok()?, &root);
    let own = own.file_name()?.to_str()?;
    let is_its = match history_of(store) {
        // A repository's display name may differ from its folder's; only the hash after it identifies the folder.
        Some(name) => hash_of(name) == hash_of(own),
        None => store.folder().file_name()? == own,
    };
    is_its.then_some(root)
}

/// The name of an index of a history, without what marks it as one.
pub fn history_of(store: &Store) -> Option<&str> {
    store.folder().file_name()?.to_str()?.strip_suffix(".history")
}

fn hash_of(name: &str) -> Option<&str> {
    name.rsplit_once('-').map(|(_, hash)| hash)
}

/// The indexes of a path that no longer exists: of the project that was there, or around it, and of its history.
pub fn of_a_path_that_is_gone(path: &Path, env: &Env) -> Result<Vec<Store>> {
    let full = std::path::absolute(path).with_context(|| path.display().to_string())?;
    // Resolve links in the part of the path that still exists; keep the rest as written.
    let left = full.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let full = left.map_or(full.clone(), |(folder, real)| real.join(full.strip_prefix(folder).unwrap_or(&full)));
    let data = env.data_folder()?;
    for folder in full.ancestors().take_while(|folder| !folder.is_dir()) {
        let mut stores = HistoryPlace::stores_of(folder, env)?;
        stores.push(Store::new(project_folder(&data, folder)));
        stores.retain(Store::is_ours);
        if !stores.is_empty() {
            return Ok(stores);
        }
    }
    Ok(Vec::new())
}

/// What there is to say of other projects' indexes, in sentences; nothing where all are in use.
pub fn remarks(env: &Env) -> Vec<String> {
    let mut remarks = Vec::new();
    let gone = gone(env).unwrap_or_default();
    let bytes = |stores: &mut dyn Iterator<Item = &Store>| in_words(stores.map(Store::bytes_on_disk).sum());
    if !gone.is_empty() {
        remarks.push(format!(
            "{} of projects that no longer exist ({}): {}; `colgrep clear --gone` removes them",
            counted_indexes(gone.len()),
            bytes(&mut gone.iter().map(|(store, _)| store)),
            named(gone.iter().map(|(_, root)| worktree_of(root))),
        ));
    }
    let unused = |store: &Store| {
        let used = store.last_used()?;
        SystemTime::now().duration_since(used).ok().filter(|age| *age >= UNUSED_AFTER)
    };
    let all = all_stores(env).unwrap_or_default();
    let old: Vec<(PathBuf, Store)> = all
        .into_iter()
        // A history is rarely searched, and is removed with its project.
        .filter(|store| history_of(store).is_none() && unused(store).is_some())
        .filter_map(|store| Some((root_of(&store, env).filter(|root| root.is_dir())?, store)))
        .collect();
    if !old.is_empty() {
        remarks.push(format!(
            "{} unused for three months ({}): {}; `colgrep clear FOLDER` removes one",
            counted_indexes(old.len()),
            bytes(&mut old.iter().map(|(_, store)| store)),
            named(old.iter().map(|(root, _)| root.as_path())),
        ));
    }
    remarks
}

/// The folder that people know a repository by.
pub fn worktree_of(root: &Path) -> &Path {
    root.parent().filter(|_| root.file_name().is_some_and(|name| name == ".git")).unwrap_or(root)
}

fn counted_indexes(number: usize) -> String {
    if number == 1 { "1 index".to_string() } else { format!("{number} indexes") }
}

fn named<'a>(roots: impl Iterator<Item = &'a Path>) -> String {
    let mut names: Vec<String> = roots.map(|root| root.display().to_string()).collect();
    names.sort_unstable();
    names.dedup();
    let rest = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = if rest > 0 { format!(" and {} more", counted(rest as u64, "project")) } else { String::new() };
    names.join(", ") + &more
}
