//! What git knows of a project's files: asked of the `git` program.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Files below `root` that differ from `since` (`None`: from the last commit), new ones that git does not ignore
/// included. Relative to `root`, `/` between components.
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
    let resolve = |name: &str| {
        ask(&top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
    };
    let commit = match since {
        Some(name) => match resolve(name) {
            Ok(commit) => Some(commit),
            Err(_) => bail!("--since {name}: git knows no commit, branch or tag of that name"),
        },
        // Before the first commit, everything that is staged is new.
        None => resolve("HEAD").ok(),
    };
    let tracked = match &commit {
        Some(commit) => {
            let commit = String::from_utf8_lossy(commit).trim().to_string();
            ask(
                &top,
                &["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules", &commit, "--"],
            )?
        }
        None => ask(&top, &["ls-files", "-z"])?,
    };
    let untracked = ask(&top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
    let paths = tracked.split(|b| *b == 0).chain(untracked.split(|b| *b == 0)).filter(|p| !p.is_empty());
    let below = paths.filter_map(|p| {
        let full = top.join(path_of(p));
        let relative = full.strip_prefix(root).ok()?.to_str()?;
        Some(if std::path::MAIN_SEPARATOR == '/' { relative.to_string() } else { relative.replace('\\', "/") })
    });
    Ok(below.collect())
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
