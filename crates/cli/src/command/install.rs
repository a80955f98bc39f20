//! `colgrep install AGENT` and `uninstall AGENT`: tells a coding agent that colgrep is there, in the files that the
//! agent documents, and takes it back byte for byte.

mod agents;
mod edit;
mod receipt;

use std::fs;
use std::path::{Path, PathBuf};

use agents::{Target, targets};
use anyhow::{Context as _, Result};
use receipt::Receipt;

use super::folder_or_here;
use crate::args::{Agent, InstallArgs};
use crate::env::Env;
use crate::project::Project;
use crate::{FOUND, NOTHING};

/// What becomes of one file.
struct Change {
    path: PathBuf,
    /// `None` where there is no such file.
    before: Option<String>,
    after: Option<String>,
    /// What stood there, or would stand there, without colgrep.
    base: Option<String>,
}

pub(super) fn install(args: &InstallArgs, env: &Env) -> Result<u8> {
    let (targets, receipts) = plan(args, env)?;
    // All of them are read and edited before the first is written: what can't be edited stops everything.
    let changes: Vec<Change> = targets.iter().map(|t| installed(t, &receipts)).collect::<Result<_>>()?;
    for change in &changes {
        if change.before == change.after {
            remark!("{} is as it should be", change.path.display());
        } else if args.dry_run {
            remark!("would write {}", change.path.display());
            show(change)?;
        } else {
            let made = make_folders(&change.path)?;
            write(&change.path, change.after.as_deref())?;
            receipts.keep(&change.path, change.base.as_deref(), change.after.as_deref().unwrap_or(""), made)?;
            remark!("wrote {}", change.path.display());
        }
    }
    if !args.dry_run {
        remark!(
            "`colgrep uninstall {}{}` takes it back",
            name(args.agent),
            if args.project { " --project" } else { "" }
        );
    }
    Ok(FOUND)
}

pub(super) fn uninstall(args: &InstallArgs, env: &Env) -> Result<u8> {
    let (targets, receipts) = plan(args, env)?;
    let changes: Vec<Change> = targets.iter().map(|t| uninstalled(t, &receipts)).collect::<Result<_>>()?;
    let mut any = false;
    let mut folders = Vec::new();
    for change in changes.iter().filter(|c| c.before != c.after) {
        any = true;
        let what = if change.after.is_some() { "taken out of" } else { "removed" };
        if args.dry_run {
            remark!("would be {what} {}", change.path.display());
            show(change)?;
            continue;
        }
        write(&change.path, change.after.as_deref())?;
        folders.extend(receipts.forget(&change.path)?);
        remark!("{what} {}", change.path.display());
    }
    // Innermost first; only those that are empty go.
    folders.sort_by_key(|f| std::cmp::Reverse(f.components().count()));
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
    if !any {
        remark!("nothing of colgrep is in the files of {}", name(args.agent));
    }
    Ok(if any { FOUND } else { NOTHING })
}

fn name(agent: Agent) -> String {
    clap::ValueEnum::to_possible_value(&agent).map(|v| v.get_name().to_string()).unwrap_or_default()
}

fn plan(args: &InstallArgs, env: &Env) -> Result<(Vec<Target>, Receipt)> {
    let folder = if args.project {
        Project::around(folder_or_here(None), env)?.0.root
    } else {
        env.home.clone().context("no home folder is known here; --project writes into this project instead")?
    };
    let targets = targets(args.agent, args.project, &folder, env);
    Ok((targets, Receipt::new(env.data_folder()?.join("installs"))))
}

/// A file's text; `None` where there is no file.
fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read {}; nothing was changed", path.display())),
    }
}

/// What a file is without colgrep: what the receipt says if nobody touched it since, else with colgrep's part cut out.
fn base(target: &Target, before: Option<&str>, receipts: &Receipt) -> Result<Option<String>> {
    let Some(text) = before else { return Ok(None) };
    match receipts.undo(&target.path, text)? {
        Some(base) => Ok(base),
        None => target.edit.cut(text).with_context(|| unfit(&target.path)),
    }
}

fn unfit(path: &Path) -> String {
    format!("{} can't be edited; nothing was changed", path.display())
}

fn installed(target: &Target, receipts: &Receipt) -> Result<Change> {
    let before = read(&target.path)?;
    let base = base(target, before.as_deref(), receipts)?;
    let after = target.edit.put(base.as_deref().unwrap_or_default()).with_context(|| unfit(&target.path))?;
    Ok(Change { path: target.path.clone(), before, after: Some(after), base })
}

fn uninstalled(target: &Target, receipts: &Receipt) -> Result<Change> {
    let before = read(&target.path)?;
    let after = base(target, before.as_deref(), receipts)?;
    Ok(Change { path: target.path.clone(), base: None, before, after })
}

/// The lines that differ, as a diff shows them, on stdout.
fn show(change: &Change) -> Result<()> {
    use std::io::Write as _;
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

/// Makes the folders above `path`; gives those that were not there, innermost first.
fn make_folders(path: &Path) -> Result<Vec<PathBuf>> {
    let folders = path.ancestors().skip(1).take_while(|f| !f.as_os_str().is_empty() && !f.exists());
    let missing: Vec<PathBuf> = folders.map(Path::to_path_buf).collect();
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
    }
    Ok(missing)
}

/// Replaces the file whole (a link's target, where it is a link); `None` removes it.
fn write(path: &Path, text: Option<&str>) -> Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let write = || -> std::io::Result<()> {
        let Some(text) = text else { return fs::remove_file(&real) };
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let beside = real.with_file_name(format!(".{name}.colgrep-new"));
        fs::write(&beside, text)?;
        if let Ok(metadata) = fs::metadata(&real) {
            fs::set_permissions(&beside, metadata.permissions())?;
        }
        fs::rename(&beside, &real)
    };
    write().with_context(|| format!("could not write {}", path.display()))
}
