//! `colgrep install AGENT` and `uninstall AGENT`: announces colgrep to a coding agent in the files that the agent
//! documents, and reverts that byte for byte.

pub(super) mod agents;
mod change;
mod edit;
mod json;
mod receipt;
mod section;
mod toml;

use colgrep_render::remark;
use std::path::{Path, PathBuf};

use agents::{InstallTarget, targets, transcripts};
use anyhow::{Context as _, Result, ensure};
use change::{FileChange, installed, uninstalled};
use colgrep_engine::project::Project;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use receipt::Receipts;

use super::folder_or_here;
use crate::args::{Agent, InstallArgs};
use crate::files::{Write, followed, remove_empty, write_all};
use crate::{FOUND, NOTHING};

pub(super) fn install(args: &InstallArgs, env: &Env) -> Result<u8> {
    let (targets, receipts) = plan(args, env)?;
    let changes = changes(&targets, |target| installed(target, &receipts, &name(args.agent)))?;
    if !args.dry_run {
        write_all(&writes(&changes, &receipts)?)?;
    }
    for change in &changes {
        let path = change.path.display();
        match (change.before == change.after, args.dry_run) {
            (true, _) => remark!("{path} is up to date"),
            (false, true) => remark!("would write {path}"),
            (false, false) => remark!("wrote {path}"),
        }
        tell(change, args.dry_run)?;
    }
    if !args.dry_run {
        let project = if args.project { " --project" } else { "" };
        remark!("`colgrep uninstall {}{project}` removes it again", name(args.agent));
        if args.project && !env.is_on_path() {
            remark!("colgrep is not on PATH, and {} starts it by its name: add its folder to PATH", name(args.agent));
        }
        offer_sessions(args.agent, env);
    }
    Ok(FOUND)
}

/// Says that the agent's sessions can be searched too. They are private, so nothing is set.
fn offer_sessions(agent: Agent, env: &Env) {
    let Some(folder) = transcripts(agent, env) else { return };
    let Ok(settings) = Settings::read(env, folder_or_here(None)) else { return };
    let mut named = settings.sessions(env);
    if !named.iter().any(|known| folder.starts_with(known)) {
        named.push(folder.clone());
        let all = named.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
        remark!("{} is not read: sessions are private", folder.display());
        remark!("to find them with `colgrep log` too: colgrep settings sessions \"{all}\"");
    }
}

pub(super) fn uninstall(args: &InstallArgs, env: &Env) -> Result<u8> {
    let (targets, receipts) = plan(args, env)?;
    let changes = changes(&targets, |target| uninstalled(target, &receipts, &name(args.agent)))?;
    if !args.dry_run {
        let forgotten = changes.iter().filter(|c| c.receipt.is_none()).filter_map(|c| receipts.of(&c.path));
        let mut folders: Vec<PathBuf> = forgotten.flat_map(|r| r.folders).collect();
        folders.push(receipts.folder.clone());
        write_all(&writes(&changes, &receipts)?)?;
        remove_empty(folders);
    }
    for change in &changes {
        let what = if change.after.is_some() { "taken out of" } else { "removed" };
        let would = if args.dry_run { "would be " } else { "" };
        if change.before != change.after {
            remark!("{would}{what} {}", change.path.display());
        }
        tell(change, args.dry_run)?;
    }
    let any = changes.iter().any(|c| c.before != c.after || c.is_shared);
    if !any && changes.iter().all(|change| change.note.is_none()) {
        remark!("nothing of colgrep is in the files of {}", name(args.agent));
    }
    Ok(if any { FOUND } else { NOTHING })
}

/// What becomes of the files. All are read and edited before the first is written: one that can't be stops everything.
fn changes(
    targets: &[InstallTarget],
    change: impl Fn(&InstallTarget) -> Result<FileChange>,
) -> Result<Vec<FileChange>> {
    let unfit = |target: &InstallTarget| format!("{} can't be edited; nothing was changed", target.path.display());
    targets.iter().map(|target| change(target).with_context(|| unfit(target))).collect()
}

/// The files to write: each changed file, preceded by its receipt.
fn writes(changes: &[FileChange], receipts: &Receipts) -> Result<Vec<Write>> {
    let mut writes = Vec::new();
    for change in changes {
        writes.push(receipts.write(&change.path, change.receipt.as_ref())?);
        let (before, after) = (change.before.clone(), change.after.clone());
        writes.push(Write { path: change.path.clone(), before, after, secret: false });
    }
    writes.retain(|w| w.before != w.after);
    Ok(writes)
}

fn name(agent: Agent) -> String {
    clap::ValueEnum::to_possible_value(&agent).map(|v| v.get_name().to_string()).unwrap_or_default()
}

fn plan(args: &InstallArgs, env: &Env) -> Result<(Vec<InstallTarget>, Receipts)> {
    let folder = if args.project {
        Project::around(folder_or_here(None), env)?.0.root
    } else {
        env.home.clone().context("no home folder is known here; --project writes into this project instead")?
    };
    let mut targets = targets(args.agent, args.project, &folder, env);
    for target in &mut targets {
        target.path = followed(std::mem::take(&mut target.path))?;
        if args.project {
            check_inside(&target.path, &folder)?;
        }
    }
    // Keep receipts next to the settings, so that they are found whatever folder of indexes is in force later.
    let beside = env.settings_file().and_then(|file| Some(file.parent()?.to_path_buf()));
    let folder = beside.map_or_else(|| env.data_folder(), Ok)?.join("installs");
    Ok((targets, Receipts { folder }))
}

/// Refuses a file that links lead out of the project: a clone may have committed them.
fn check_inside(path: &Path, project: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().with_context(|| format!("could not read {}", path.display()));
    // The file may be new, and folders above it.
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(project);
    let (target, project) = (real(there)?, real(project)?);
    ensure!(
        target.starts_with(&project),
        "a link in the project leads to {}, which is outside of it; nothing was changed",
        path.display()
    );
    Ok(())
}

/// What the user should know about a change. In a dry run, the lines that differ too, as a diff shows them, on stdout.
fn tell(change: &FileChange, dry_run: bool) -> Result<()> {
    use std::io::Write as _;
    if let Some(note) = &change.note {
        remark!("{note}");
    }
    if !dry_run {
        return Ok(());
    }
    let (old, new) = (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut out = std::io::stdout().lock();
    for line in &old[same..old.len() - end] {
        writeln!(out, "-{line}")?;
    }
    for line in &new[same..new.len() - end] {
        writeln!(out, "+{line}")?;
    }
    Ok(())
}
