//! What git knows of a project's files: asked of the `git` program.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Files below a root that git says are changed.
#[derive(Debug, Default)]
pub struct Changed {
    /// From the root, `/` between components.
    files: HashSet<String>,
    /// Folders in which every file is: repositories that git does not look into.
    folders: Vec<String>,
}

impl Changed {
    /// Whether a file, by its path from the root, is among them.
    pub fn contains(&self, path: &str) -> bool {
        let below = |folder: &String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.files.contains(path) || self.folders.iter().any(below)
    }
}

/// Files below `root` that differ from `since` (`None`: from the last commit), new ones that git does not ignore
/// included. In a submodule, those that differ from what that commit holds of it. All files of another repository inside
/// are new to git, and so are those of a submodule that git can't read.
///
/// # Errors
/// Outside a repository, without the `git` program, or when there is no such commit.
pub fn changed(root: &Path, since: Option<&str>) -> Result<Changed> {
    let flag = if since.is_some() { "--since" } else { "--changed" };
    let git = Git::default();
    let top = git.ask(root, &["rev-parse", "--show-toplevel"]).map_err(|error| match error.is::<Refused>() {
        true => error.context(format!("{flag} needs a git repository, and {} is in none", root.display())),
        false => error.context(format!("{flag} asks git")),
    })?;
    let top = top_of(&top);
    let base = git.commit(&top, since.unwrap_or("HEAD"));
    if let (Some(name), None) = (since, &base) {
        bail!("--since {name}: git knows no commit, branch or tag of that name");
    }
    let mut found = Found::default();
    git.differing(&top, base.as_deref(), &mut found)?;
    let below = |full: PathBuf| {
        let relative = full.strip_prefix(root).ok()?.to_str()?;
        Some(if std::path::MAIN_SEPARATOR == '/' { relative.to_string() } else { relative.replace('\\', "/") })
    };
    Ok(Changed {
        files: found.files.into_iter().filter_map(below).collect(),
        folders: found.folders.into_iter().filter_map(below).collect(),
    })
}

/// What was found so far, as full paths.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

/// The program, as it is called in one repository.
#[derive(Default)]
struct Git {
    /// Variables that are taken out of its environment: those by which a caller (a hook, say) tells git of another
    /// repository than this one.
    without: Vec<String>,
}

impl Git {
    /// The commit that a name stands for in the repository of `folder`.
    fn commit(&self, folder: &Path, name: &str) -> Option<String> {
        self.object(folder, &format!("{name}^{{commit}}"))
    }

    fn object(&self, folder: &Path, name: &str) -> Option<String> {
        let found = self.ask(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", name]).ok()?;
        Some(String::from_utf8_lossy(&found).trim().to_string())
    }

    /// Adds the files of the repository at `top` that differ from the commit `base` of it (where there is none: all), and
    /// those of repositories inside.
    fn differing(&self, top: &Path, base: Option<&str>, found: &mut Found) -> Result<()> {
        let tracked = match base {
            Some(base) => {
                let diff = |submodules| {
                    let names = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", submodules, base, "--"];
                    self.ask(top, &names)
                };
                // It fails where it can't read a submodule: then each is asked by itself.
                match diff("--ignore-submodules=none") {
                    Ok(names) => names,
                    Err(_) => [diff("--ignore-submodules=all")?, self.submodules(top)?].concat(),
                }
            }
            // Before the first commit, everything that is staged is new.
            None => self.ask(top, &["ls-files", "-z"])?,
        };
        let untracked = self.ask(top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        let tracked = tracked.split(|b| *b == 0).map(|path| (path, true));
        let both = tracked.chain(untracked.split(|b| *b == 0).map(|path| (path, false)));
        for (path, is_tracked) in both.filter(|(path, _)| !path.is_empty()) {
            // As components: git marks a folder by a slash.
            let full: PathBuf = top.join(path_of(path)).components().collect();
            // A link to a folder is a file to git.
            if !full.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                found.files.push(full);
            } else if !(is_tracked && self.submodule(top, base, path, &full, found).is_ok()) {
                // Git says of other repositories that they are there, and runs nothing that stands in their configuration.
                found.folders.push(full);
            }
        }
        Ok(())
    }

    /// The paths of all submodules, each with a zero byte behind it.
    fn submodules(&self, top: &Path) -> Result<Vec<u8>> {
        let staged = self.ask(top, &["ls-files", "-z", "--stage"])?;
        let modules = staged.split_inclusive(|b| *b == 0).filter(|entry| entry.starts_with(b"160000 "));
        let paths = modules.filter_map(|entry| Some(&entry[entry.iter().position(|b| *b == b'\t')? + 1..]));
        Ok(paths.collect::<Vec<_>>().concat())
    }

    /// The same of the submodule of `top` at `path`, from the commit that `base` holds of it.
    fn submodule(&self, top: &Path, base: Option<&str>, path: &[u8], full: &Path, found: &mut Found) -> Result<()> {
        let variables = self.ask(top, &["rev-parse", "--local-env-vars"])?;
        let inner = Git { without: String::from_utf8_lossy(&variables).lines().map(str::to_string).collect() };
        // Without a repository of its own, git would take the one around it.
        if top_of(&inner.ask(full, &["rev-parse", "--show-toplevel"])?) != full.canonicalize()? {
            bail!("{} is no repository", full.display());
        }
        let held = base.and_then(|base| self.object(top, &format!("{base}:{}", String::from_utf8_lossy(path))));
        let base = held.and_then(|held| inner.commit(full, &held));
        inner.differing(full, base.as_deref(), found)
    }

    fn ask(&self, folder: &Path, args: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new("git");
        // A monitor of files is a program that a repository's configuration names.
        command.arg("-C").arg(folder).args(["-c", "core.fsmonitor=false"]).args(args);
        for variable in &self.without {
            command.env_remove(variable);
        }
        let output =
            command.output().context("the program `git` could not be started; is it installed and on PATH?")?;
        if !output.status.success() {
            bail!(Refused(format!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())));
        }
        Ok(output.stdout)
    }
}

/// What `rev-parse --show-toplevel` printed.
fn top_of(printed: &[u8]) -> PathBuf {
    let top = path_of(printed.strip_suffix(b"\n").unwrap_or(printed));
    top.canonicalize().unwrap_or(top)
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
