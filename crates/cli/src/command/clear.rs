//! `colgrep clear`: removes indexes.

use colgrep_render::remark;
use colgrep_render::words::shell_word;
use std::time::Duration;

use anyhow::{Result, bail};
use colgrep_engine::history::HistoryPlace;
use colgrep_engine::project::Project;
use colgrep_engine::settings::env::Env;
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
        // Somebody may have meant to search a folder for the word.
        Ok((project, below)) if args.path.is_some() && !below.is_empty() => {
            let (root, word) = (shell_word(&project.root.to_string_lossy()), shell_word(&path.to_string_lossy()));
            bail!(
                "{word} is only a part of the project {root}; `colgrep clear {root}` removes the index of all of it, \
                 and `colgrep search clear {word}` searches {word}"
            )
        }
        Ok((project, _)) => {
            // What agents wrote goes with it, whatever the settings say by now. So do the commits: they are read again when
            // somebody asks.
            let mut stores = HistoryPlace::stores_of(&project.root, env)?;
            stores.push(project.store);
            Ok(stores)
        }
        Err(error) => {
            let left = if path.exists() { Vec::new() } else { of_a_path_that_is_gone(path, env)? };
            if left.is_empty() { Err(error.into()) } else { Ok(left) }
        }
    }
}

pub(super) fn run(args: &ClearArgs, env: &Env) -> Result<u8> {
    let stores = stores(args, env)?;
    let mut removed = 0;
    for store in stores.iter().filter(|s| s.folder().is_dir()) {
        let waits = || {
            if !args.quiet {
                remark!("colgrep: waiting for another colgrep that is updating {}", store.folder().display());
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
