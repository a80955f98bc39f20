//! What git knows of a project's files: asked of the `git` program, which runs nothing that a repository names.

mod former;
mod versions;

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use colgrep_index::disk::open_regular;

pub use former::Former;
pub use versions::{FileVersions, GitChange, versions};

use crate::error::{Error, GitError, Refused, Result};
use crate::project::Project;
use crate::project::subprocess_limits::{IDLE_MAX, output};

/// Settings that name programs, switched off in every call: a repository's own configuration is not trusted. Filters and
/// hooks have names of their own, see [`GitProgram::without_programs`]. `safe.bareRepository` keeps git from taking a folder of
/// the tree that looks like a bare repository for one.
const OFF: [&str; 8] = [
    "core.fsmonitor=false",
    "core.virtualFilesystem=",
    "core.hooksPath=/dev/null",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    // No programs, but files that may have no end.
    "log.mailmap=false",
    "mailmap.file=",
    "mailmap.blob=",
];
/// The same as variables. A missing object is not fetched (git before 2.45 knows no `GIT_NO_LAZY_FETCH`), and no protocol
/// is allowed whatever `protocol.NAME.allow` says: a remote's address, `uploadpack`, `sshCommand` and `gitProxy` are
/// programs too. Some commands of git write the index whatever `GIT_OPTIONAL_LOCKS` says, so the hooks are off besides.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// Most filters and hooks by name in one configuration; each is switched off by arguments, of which there is a limit.
const NAMES_MAX: usize = 500;
/// Most that git may print, in bytes: the list of a million paths fits.
const PRINTED_BYTES_MAX: u64 = 256 << 20;
/// The same of a history, which is asked for in parts that get smaller where they are too long.
const HISTORY_BYTES_MAX: u64 = 64 << 20;
/// Flags that find differences without running programs that a configuration names.
const ALONE: [&str; 5] = ["--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-O/dev/null"];

/// Files below a root that git reports as changed.
#[derive(Debug, Default)]
pub struct Changed {
    /// From the root, `/` between components.
    files: HashSet<String>,
    /// Folders whose files all count as changed: repositories that git does not look into.
    folders: Vec<String>,
    /// Where it matters, the files that are tracked and looked at: all others count as changed.
    tracked: Option<HashSet<String>>,
}

impl Changed {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty() && self.tracked.is_none()
    }

    /// The paths of changed files from the root, in no order, without those inside folders that count as a whole.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Whether a file, by its path from the root, is among them.
    pub fn contains(&self, path: &str) -> bool {
        let below = |folder: &String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.files.contains(path)
            || self.folders.iter().any(below)
            || self.tracked.as_ref().is_some_and(|tracked| !tracked.contains(path))
    }
}

/// Files below `root` that differ from `since` (`None`: from the last commit), new ones that git does not ignore
/// included. In a submodule, those that differ from the commit recorded there. All files of another repository inside
/// are new to git, and so are those of a submodule that git can't read.
///
/// No filter is run, so a file that one changes on its way into git differs once its size or time does.
///
/// # Errors
/// Outside a repository, without the `git` program, or when there is no such commit.
pub fn changed(project: &Project, since: Option<&str>) -> Result<Changed> {
    differing(project, since, FoundPaths::default())
}

/// Files below `root` that are not, byte for byte, what the last commit has: those that git reports, all untracked
/// files (ignored ones too), and all that it skips (`--skip-worktree`, `--assume-unchanged`).
pub fn uncommitted(project: &Project) -> Result<Changed> {
    differing(project, None, FoundPaths { tracked: Some(Vec::new()), ..FoundPaths::default() })
}

fn differing(project: &Project, since: Option<&str>, mut found: FoundPaths) -> Result<Changed> {
    let root = project.root.as_path();
    let named = || since.map(str::to_string);
    let git = GitProgram { path: project.programs.clone(), ..GitProgram::default() };
    let top = git.ask(root, &["rev-parse", "--show-toplevel"]).map_err(|source| match source {
        GitError::Failed { .. } => Refused::NoRepository { root: root.to_path_buf(), since: named(), source },
        _ => Refused::NoGit { since: named(), source },
    })?;
    let top = top_of(&top);
    let git = git.without_programs(&top)?;
    let base = git.base(&top, since.unwrap_or("HEAD"));
    if let (Some(name), None) = (since, &base) {
        return Err(Refused::NoCommit { since: name.to_string(), is_range: name.contains("...") }.into());
    }
    git.differing(&top, base.as_deref(), &mut found)?;
    let below = |full: PathBuf| {
        let relative = full.strip_prefix(root).ok()?.to_str()?;
        Some(if std::path::MAIN_SEPARATOR == '/' { relative.to_string() } else { relative.replace('\\', "/") })
    };
    Ok(Changed {
        files: found.files.into_iter().filter_map(below).collect(),
        folders: found.folders.into_iter().filter_map(below).collect(),
        tracked: found.tracked.map(|tracked| tracked.into_iter().filter_map(below).collect()),
    })
}

/// What was found so far, as full paths.
#[derive(Default)]
struct FoundPaths {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Submodules that were looked into: a link can lead to one again.
    seen: HashSet<PathBuf>,
    /// The files that git tracks and looks at, where they are asked for.
    tracked: Option<Vec<PathBuf>>,
}

/// How to run `git` in one repository.
#[derive(Clone, Default)]
struct GitProgram {
    /// Where it and its own programs are looked for.
    path: OsString,
    /// Variables removed from its environment: those by which a caller (a hook, say) points git to another repository.
    without: Vec<String>,
    /// Filters and hooks of the repository's configuration, each as a setting that switches it off.
    off: Vec<OsString>,
}

impl GitProgram {
    /// The same program, which runs none of the filters and hooks that the configuration around `folder` names. The
    /// user's are off too: the repository may configure what they run (as with extensions of git-lfs).
    fn without_programs(self, folder: &Path) -> Result<GitProgram, GitError> {
        let names = ["config", "--null", "--name-only", "--get-regexp", r"^(filter|hook)\."];
        let listed = self.run(folder, &names)?;
        match listed.status.code() {
            Some(0) => {}
            Some(1) => return Ok(self),
            _ => return Err(failed(&names, &listed)),
        }
        let mut off = BTreeSet::new();
        for key in listed.stdout.split(|b| *b == 0) {
            // `filter.NAME.clean`, where NAME may contain dots.
            let Some(end) = key.iter().rposition(|b| *b == b'.') else { continue };
            let settings: &[&str] = if key.starts_with(b"filter.") {
                &["clean=", "process=", "smudge=", "required=false"]
            } else {
                &["enabled=false"]
            };
            if key[..end].contains(&b'=') {
                return Err(GitError::Filter { folder: folder.to_path_buf() });
            }
            for setting in settings {
                off.insert([&key[..=end], setting.as_bytes()].concat());
            }
        }
        if off.len() > NAMES_MAX {
            return Err(GitError::ManyFilters { folder: folder.to_path_buf() });
        }
        Ok(GitProgram { off: off.iter().map(|setting| path_of(setting).into_os_string()).collect(), ..self })
    }

    /// The commit that a name refers to in the repository of `folder`; for `A...B`, their merge base (an empty side is
    /// HEAD), as in `git diff`.
    fn base(&self, folder: &Path, name: &str) -> Option<String> {
        let Some((one, other)) = name.split_once("...") else { return self.commit(folder, name) };
        let side = |name: &str| self.commit(folder, if name.is_empty() { "HEAD" } else { name });
        let found = self.ask(folder, &["merge-base", &side(one)?, &side(other)?]).ok()?;
        Some(String::from_utf8_lossy(&found).trim().to_string())
    }

    fn commit(&self, folder: &Path, name: &str) -> Option<String> {
        self.object(folder, &format!("{name}^{{commit}}"))
    }

    fn object(&self, folder: &Path, name: &str) -> Option<String> {
        let found = self.ask(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", name]).ok()?;
        Some(String::from_utf8_lossy(&found).trim().to_string())
    }

    /// Adds the files of the repository at `top` that differ from its commit `base` (all files without one), and those
    /// of repositories inside. Each submodule is asked separately: git would run the programs that the submodule's
    /// configuration names.
    fn differing(&self, top: &Path, base: Option<&str>, found: &mut FoundPaths) -> Result<(), GitError> {
        let tracked = match base {
            Some(base) => {
                // `git diff` takes the lock of the user's index to write down what it saw: a `git add` in that moment
                // fails. `diff-index` takes none. First what differs by size or time, for which no file is read.
                let names = [&["diff-index", "--name-only", "-z"], &ALONE[..], &[base, "--"]].concat();
                let named = self.ask(top, &names)?;
                let unread: Vec<&[u8]> =
                    named.split_inclusive(|b| *b == 0).filter(|path| is_unread(top, path)).collect();
                // `--numstat` also reads contents, and fails on a pipe or an unreadable file.
                let all = ["diff-index", "--numstat", "-z"];
                let without: Vec<String> = unread.iter().map(|path| excluded(path)).collect();
                let without = without.iter().map(String::as_str);
                let lines = match named.is_empty() {
                    true => Vec::new(),
                    false => {
                        let args = all.into_iter().chain(ALONE).chain([base, "--"]).chain(without);
                        self.ask(top, &args.collect::<Vec<_>>())?
                    }
                };
                // Lines added, a tab, lines taken out, a tab, the path.
                let paths =
                    lines.split_inclusive(|b| *b == 0).filter_map(|line| line.splitn(3, |b| *b == b'\t').nth(2));
                [paths.collect::<Vec<_>>().concat(), unread.concat(), self.submodules(top)?].concat()
            }
            // Before the first commit, everything that is staged is new.
            None => self.ask(top, &["ls-files", "-z"])?,
        };
        if let Some(all) = &mut found.tracked {
            // Each path follows a tag and a space: `S` is skipped in the tree, lower case is assumed unchanged.
            let listed = self.ask(top, &["ls-files", "-v", "-z"])?;
            let entries = listed.split(|b| *b == 0).filter_map(|entry| entry.split_at_checked(2));
            let seen = entries.filter(|(tag, _)| tag[0].is_ascii_uppercase() && tag[0] != b'S');
            all.extend(seen.map(|(_, path)| top.join(path_of(path)).components().collect::<PathBuf>()));
        }
        let untracked = self.ask(top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        let tracked = tracked.split(|b| *b == 0).map(|path| (path, true));
        let both = tracked.chain(untracked.split(|b| *b == 0).map(|path| (path, false)));
        for (path, is_tracked) in both.filter(|(path, _)| !path.is_empty()) {
            // Compared as components: git marks a folder with a slash.
            let full: PathBuf = top.join(path_of(path)).components().collect();
            // For git, a link to a folder is a file.
            if !full.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                found.files.push(full);
            } else if !(is_tracked && self.submodule(top, base, path, &full, found).is_ok()) {
                // Git only names other repositories and runs nothing that their configuration names.
                found.folders.push(full);
            }
        }
        Ok(())
    }

    /// The paths of all submodules, each with a zero byte at its end.
    fn submodules(&self, top: &Path) -> Result<Vec<u8>, GitError> {
        let staged = self.ask(top, &["ls-files", "-z", "--stage"])?;
        let modules = staged.split_inclusive(|b| *b == 0).filter(|entry| entry.starts_with(b"160000 "));
        let paths = modules.filter_map(|entry| Some(&entry[entry.iter().position(|b| *b == b'\t')? + 1..]));
        Ok(paths.collect::<Vec<_>>().concat())
    }

    /// The same for the submodule of `top` at `path`, from the commit that `base` records for it.
    fn submodule(
        &self,
        top: &Path,
        base: Option<&str>,
        path: &[u8],
        full: &Path,
        found: &mut FoundPaths,
    ) -> Result<(), GitError> {
        let variables = self.ask(top, &["rev-parse", "--local-env-vars"])?;
        let without = String::from_utf8_lossy(&variables).lines().map(str::to_string).collect();
        let inner = GitProgram { without, off: Vec::new(), path: self.path.clone() };
        // If it is no repository, git would use the one around it.
        let none = || GitError::NoRepository { folder: full.to_path_buf() };
        let real = full.canonicalize().map_err(|_| none())?;
        if top_of(&inner.ask(full, &["rev-parse", "--show-toplevel"])?) != real {
            return Err(none());
        }
        if !found.seen.insert(real) {
            return Ok(());
        }
        let inner = inner.without_programs(full)?;
        let held = base.and_then(|base| self.object(top, &format!("{base}:{}", String::from_utf8_lossy(path))));
        let base = held.and_then(|held| inner.commit(full, &held));
        inner.differing(full, base.as_deref(), found)
    }

    fn ask(&self, folder: &Path, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = self.run(folder, args)?;
        if !output.status.success() {
            return Err(failed(args, &output));
        }
        Ok(output.stdout)
    }

    fn run(&self, folder: &Path, args: &[&str]) -> Result<Output, GitError> {
        self.run_within(folder, args, PRINTED_BYTES_MAX)
    }

    /// The same for output of at most `bytes_max` bytes.
    fn run_within(&self, folder: &Path, args: &[&str], bytes_max: u64) -> Result<Output, GitError> {
        output(&mut self.command(folder, args), "", bytes_max).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => GitError::Failed { call: call(args), said: error.to_string() },
            _ => GitError::NotStarted(error),
        })
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("-C").arg(folder);
        for setting in OFF.iter().map(OsStr::new).chain(self.off.iter().map(OsString::as_os_str)) {
            command.arg("-c").arg(setting);
        }
        for variable in &self.without {
            command.env_remove(variable);
        }
        command.args(args).envs(VARIABLES).env("PATH", &self.path);
        command
    }
}

/// Runs git in one project; missing information is not an error.
pub(crate) struct Asker<'a> {
    git: GitProgram,
    root: &'a Path,
}

impl Asker<'_> {
    pub(crate) fn of(project: &Project) -> Asker<'_> {
        Asker { git: GitProgram { path: project.programs.clone(), ..GitProgram::default() }, root: &project.root }
    }

    /// Whether git takes the repository for one.
    ///
    /// # Errors
    /// With its message if it does not.
    pub(crate) fn check(&self) -> Result<(), GitError> {
        self.git.ask(self.root, &["rev-parse", "--git-dir"]).map(drop)
    }

    /// All that git prints; none where it fails.
    pub(crate) fn all(&self, args: &[&str]) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.git.run(self.root, args)?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// The one line that git prints, if there is something on it.
    pub(crate) fn line(&self, args: &[&str]) -> Result<Option<String>, GitError> {
        let text = self.all(args)?.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_string());
        Ok(text.filter(|text| !text.is_empty()))
    }
}

/// Who last changed lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blamed {
    /// The commits, each once with the first of its lines.
    pub commits: Vec<(String, u32)>,
    /// The uncommitted lines, in order.
    pub uncommitted: Vec<u32>,
}

/// A repository, asked for its history. Commits are read without any program that its configuration names.
#[derive(Clone, Debug)]
pub struct GitRepository {
    top: PathBuf,
    programs: OsString,
}

impl GitRepository {
    /// The repository of the worktree at `top`; `programs` is where git is looked for.
    pub fn new(top: PathBuf, programs: OsString) -> GitRepository {
        GitRepository { top, programs }
    }

    fn git(&self) -> GitProgram {
        GitProgram { path: self.programs.clone(), ..GitProgram::default() }
    }

    /// Whether a file (`path` from the worktree's root) is in git's index.
    ///
    /// # Errors
    /// Where git does not answer.
    pub fn tracks(&self, path: &str) -> Result<bool> {
        let listed = ["--literal-pathspecs", "ls-files", "--recurse-submodules", "--", path];
        Ok(!self.git().ask(&self.top, &listed)?.is_empty())
    }

    /// Who last changed lines of a file (`path` from the worktree's root), as the file is now.
    ///
    /// # Errors
    /// Where the file lacks the first line, or is not in the repository.
    pub fn blame(&self, path: &str, (first, last): (u32, u32)) -> Result<Blamed> {
        // It reads the file as git would take it in, which is a filter's work.
        let git = self.git().without_programs(&self.top)?;
        let range = format!("-L{first},{last}");
        let printed = git.ask(&self.top, &["blame", "--porcelain", "--no-textconv", &range, "--", path])?;
        let printed = String::from_utf8_lossy(&printed);
        let (mut blamed, mut begins) = (Blamed::default(), true);
        for row in printed.lines() {
            // A line's rows begin with its commit and its numbers, then and now, and end with its text after a tab.
            let mut fields = row.split(' ').filter(|_| begins);
            if let (Some(name), Some(line)) = (fields.next(), fields.nth(1)) {
                let line = line.parse().unwrap_or(first);
                if name.bytes().all(|b| b == b'0') {
                    blamed.uncommitted.push(line);
                } else if blamed.commits.iter().all(|(known, _)| known != name) {
                    blamed.commits.push((name.to_string(), line));
                }
            }
            begins = row.starts_with('\t');
        }
        Ok(blamed)
    }
}

impl colgrep_index::history::Git for GitRepository {
    fn ask(&self, args: &[&str], input: &str) -> io::Result<Vec<u8>> {
        let run = output(&mut self.git().command(&self.top, args), input, HISTORY_BYTES_MAX);
        let output = run.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => error,
            kind => io::Error::new(kind, Error::from(GitError::NotStarted(error)).full()),
        })?;
        if output.status.success() { Ok(output.stdout) } else { Err(io::Error::other(failed(args, &output))) }
    }
}

/// Whether git can't read a file of the worktree at `top`, whose path ends with a zero byte: a pipe in its place, or no
/// right to read it. For a link, git reads only the target's path.
fn is_unread(top: &Path, path: &[u8]) -> bool {
    let full = top.join(path_of(path.strip_suffix(b"\0").unwrap_or(path)));
    full.symlink_metadata().is_ok_and(|m| !m.is_dir() && !m.is_symlink()) && open_regular(&full).is_err()
}

/// The pathspec that excludes a path, given with a zero byte at its end.
fn excluded(path: &[u8]) -> String {
    format!(":(exclude,literal){}", String::from_utf8_lossy(path.strip_suffix(b"\0").unwrap_or(path)))
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
fn failed(args: &[&str], output: &Output) -> GitError {
    let said = match output.status.code() {
        Some(_) => String::from_utf8_lossy(&output.stderr).trim().to_string(),
        None => format!(
            "it was stopped, since it took too much memory or time, or did nothing for {} seconds; is a file that git \
             reads there a pipe or a device?",
            IDLE_MAX.as_secs()
        ),
    };
    GitError::Failed { call: call(args), said }
}

fn call(args: &[&str]) -> String {
    format!("git {}", args.join(" "))
}
