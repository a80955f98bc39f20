//! `colgrep clear`: removes indexes.

use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_engine::env::Env;
use colgrep_engine::history::HistoryPlace;
use colgrep_engine::project::{Project, settings_at};
use colgrep_index::store::Store;

use super::folder_or_here;
use crate::args::ClearArgs;
use crate::{FOUND, NOTHING};

/// How long it waits for a process that writes the index.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(args: &ClearArgs, env: &Env) -> Result<u8> {
    let stores = if args.all {
        all_stores(env)?
    } else {
        let (project, _) = Project::around(folder_or_here(args.path.as_deref()), env)?;
        // What agents wrote goes with it, and with that the commits: they are read again when somebody asks.
        let settings = settings_at(&project.root, env)?;
        let history = HistoryPlace::of(&project, &settings, env).ok().map(|place| place.store);
        history.into_iter().chain([project.store]).collect()
    };
    let mut removed = 0;
    for store in stores.iter().filter(|s| s.folder().is_dir()) {
        let waits = || {
            if !args.quiet {
                remark!("colgrep: waiting for another colgrep that writes {}", store.folder().display());
            }
        };
        let lock = store.lock_within(PATIENCE, &waits)?;
        store.remove(&lock)?;
        if !args.quiet {
            remark!("removed {}", store.folder().display());
        }
        removed += 1;
    }
    if removed == 0 && !args.quiet {
        remark!("no index to remove");
    }
    Ok(if removed > 0 { FOUND } else { NOTHING })
}

/// Folders below the data folder that are indexes by their content.
pub(super) fn all_stores(env: &Env) -> Result<Vec<Store>> {
    let data = env.data_folder()?;
    if !data.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&data).with_context(|| format!("{}", data.display()))?;
    let stores = entries.flatten().map(|e| Store::new(e.path()));
    Ok(stores.filter(Store::is_ours).collect())
}
