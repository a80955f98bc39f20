//! `colgrep clear`: removes indexes.

use std::time::Duration;

use anyhow::Result;
use colgrep_engine::env::Env;
use colgrep_engine::history::HistoryPlace;
use colgrep_engine::project::{Project, settings_at};
use colgrep_index::store::Store;

use super::folder_or_here;
use super::others::{all_stores, gone, of_a_path_that_is_gone};
use crate::args::ClearArgs;
use crate::{FOUND, NOTHING};

/// How long it waits for processes that write the index: on a machine that is busy with other things, each of a crowd
/// takes a minute.
const PATIENCE: Duration = Duration::from_secs(600);

/// The indexes that are meant.
fn stores(args: &ClearArgs, env: &Env) -> Result<Vec<Store>> {
    if args.all {
        return all_stores(env);
    }
    if args.gone {
        return Ok(gone(env)?.into_iter().map(|(store, _)| store).collect());
    }
    let path = folder_or_here(args.path.as_deref());
    match Project::around(path, env) {
        Ok((project, _)) => {
            // What agents wrote goes with it, and with that the commits: they are read again when somebody asks.
            let settings = settings_at(&project.root, env)?;
            let history = HistoryPlace::of(&project, &settings, env).ok().map(|place| place.store);
            Ok(history.into_iter().chain([project.store]).collect())
        }
        Err(_) if !path.exists() && of_a_path_that_is_gone(path, env)?.is_some() => {
            Ok(of_a_path_that_is_gone(path, env)?.into_iter().collect())
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn run(args: &ClearArgs, env: &Env) -> Result<u8> {
    let stores = stores(args, env)?;
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
