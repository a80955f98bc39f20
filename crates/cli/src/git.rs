//! What git knows of a project's files: asked of the `git` program.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Files below `root` that differ from `since` (`None`: from the last commit), new ones that git does not ignore
/// included. Relative to `root`, `/` between components. In submodules, those that differ from what that commit holds of
/// them; in other repositories inside, from the commit of that name there.
///
/// # Errors
/// Outside a repository, without the `git` program, or when there is no such commit.
pub fn changed(root: &Path, since: Option<&str>) -> Result<HashSet<String>> {
    let flag = if since.is_some() { "--since" } else { "--changed" };
    let top = ask(root, &["rev-parse", "--show-toplevel"]).map_err(|error| match error.is::<Refused>() {
        true => error.context(format!("{flag} needs a git repository, and {} is in none", root.display())),
        false => error.context(format!("{flag} asks git")),
    })?;
    let top = path_of(top.strip_suffix(b"\n").unwrap_or(&top));
    let top = top.canonicalize().unwrap_or(top);
    let base = commit(&top, since.unwrap_or("HEAD"));
    if let (Some(name), None) = (since, &base) {
        bail!("--since {name}: git knows no commit, branch or tag of that name");
    }
    let mut found = Vec::new();
    differing(&top, base.as_deref(), since.unwrap_or("HEAD"), &mut found)?;
    let below = found.iter().filter_map(|full| {
        let relative = full.strip_prefix(root).ok()?.to_str()?;
        Some(if std::path::MAIN_SEPARATOR == '/' { relative.to_string() } else { relative.replace('\\', "/") })
    });
    Ok(below.collect())
}

/// The commit that a name stands for in the repository of `folder`.
fn commit(folder: &Path, name: &str) -> Option<String> {
    let name = format!("{name}^{{commit}}");
    let found = ask(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).ok()?;
    Some(String::from_utf8_lossy(&found).trim().to_string())
}

/// Adds the files of the repository at `top` that differ from the commit `base` of it (where there is none: all), and
/// those of repositories inside. `name` is what the commit is called in those that are no submodules.
fn differing(top: &Path, base: Option<&str>, name: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    let tracked = match base {
        Some(base) => {
            let options = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none"];
            ask(top, &[&["diff"], &options[..], &[base, "--"]].concat())?
        }
        // Before the first commit, everything that is staged is new.
        None => ask(top, &["ls-files", "-z"])?,
    };
    let untracked = ask(top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
    let tracked = tracked.split(|b| *b == 0).map(|path| (path, true));
    let both = tracked.chain(untracked.split(|b| *b == 0).map(|path| (path, false)));
    for (path, is_tracked) in both.filter(|(path, _)| !path.is_empty()) {
        let full = top.join(path_of(path));
        if !full.join(".git").exists() {
            found.push(full);
            continue;
        }
        let inner = match base.filter(|_| is_tracked) {
            Some(base) => commit_of_submodule(top, base, path).and_then(|held| commit(&full, &held)),
            None if is_tracked => None,
            None => commit(&full, name),
        };
        differing(&full, inner.as_deref(), name, found)?;
    }
    Ok(())
}

/// The commit that `base` holds of the submodule at `path`.
fn commit_of_submodule(top: &Path, base: &str, path: &[u8]) -> Option<String> {
    let held = format!("{base}:{}", String::from_utf8_lossy(path));
    let held = ask(top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &held]).ok()?;
    Some(String::from_utf8_lossy(&held).trim().to_string())
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::new(&*String::from_utf8_lossy(bytes)))
}

/// What git said where it ran and failed.
#[derive(Debug)]
struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

fn ask(folder: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .output()
        .context("the program `git` could not be started; is it installed and on PATH?")?;
    if !output.status.success() {
        bail!(Refused(format!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())));
    }
    Ok(output.stdout)
}
