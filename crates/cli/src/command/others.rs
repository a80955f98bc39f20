//! Indexes of other projects: those of projects that are gone, and those that nobody has asked for a long time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use colgrep_engine::env::Env;
use colgrep_index::store::{Store, project_folder};

use crate::words::{counted, in_words};

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

/// The indexes whose project is no more, each with its root.
pub fn gone(env: &Env) -> Result<Vec<(Store, PathBuf)>> {
    let known = all_stores(env)?.into_iter().filter_map(|store| Some((root_of(&store, env)?, store)));
    Ok(known.filter(|(root, _)| !root.is_dir()).map(|(root, store)| (store, root)).collect())
}

/// The root of the project whose index it is; none of an index of something else.
fn root_of(store: &Store, env: &Env) -> Option<PathBuf> {
    let root = store.root()?;
    let own = project_folder(&env.data_folder().ok()?, &root);
    Some(root).filter(|_| own.file_name() == store.folder().file_name())
}

/// The index of a path that is no more: that of the project that was there, or around it.
pub fn of_a_path_that_is_gone(path: &Path, env: &Env) -> Result<Option<Store>> {
    let full = std::path::absolute(path).with_context(|| path.display().to_string())?;
    // What is left of the path is what it leads to; the rest is as it is written.
    let left = full.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let full = left.map_or(full.clone(), |(folder, real)| real.join(full.strip_prefix(folder).unwrap_or(&full)));
    let data = env.data_folder()?;
    let stores = full.ancestors().take_while(|folder| !folder.is_dir());
    Ok(stores.map(|folder| Store::new(project_folder(&data, folder))).find(Store::is_ours))
}

/// What there is to say of other projects' indexes, in sentences; nothing where all are in use.
pub fn remarks(env: &Env) -> Vec<String> {
    let mut remarks = Vec::new();
    let gone = gone(env).unwrap_or_default();
    let bytes = |stores: &mut dyn Iterator<Item = &Store>| in_words(stores.map(Store::bytes_on_disk).sum());
    if !gone.is_empty() {
        remarks.push(format!(
            "{} of projects that are no more ({}): {}; `colgrep clear --gone` removes them",
            counted_indexes(gone.len()),
            bytes(&mut gone.iter().map(|(store, _)| store)),
            named(gone.iter().map(|(_, root)| root.as_path())),
        ));
    }
    let unused = |store: &Store| {
        let used = store.last_used()?;
        SystemTime::now().duration_since(used).ok().filter(|age| *age >= UNUSED_AFTER)
    };
    let all = all_stores(env).unwrap_or_default();
    let old: Vec<(PathBuf, Store)> = all
        .into_iter()
        .filter(|store| unused(store).is_some())
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

fn counted_indexes(number: usize) -> String {
    if number == 1 { "1 index".to_string() } else { format!("{number} indexes") }
}

fn named<'a>(roots: impl Iterator<Item = &'a Path>) -> String {
    let mut names: Vec<String> = roots.map(|root| root.display().to_string()).collect();
    names.sort_unstable();
    let rest = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = if rest > 0 { format!(" and {} more", counted(rest as u64, "project")) } else { String::new() };
    names.join(", ") + &more
}
