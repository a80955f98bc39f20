//! The files of a change, as they were before it and as they are after it.

use std::collections::BTreeMap;
use std::path::Path;

use colgrep_index::source::read_text_within;
use colgrep_syntax::read::decode;
use rayon::prelude::*;

use super::{ALONE, GitProgram, path_of, top_of};
use crate::error::{GitError, Refused, Result};
use crate::project::Project;

/// Files of one change whose texts are read.
const FILES_MAX: usize = 200;
/// Largest version of a file that is read, in bytes; larger ones count as no text.
const FILE_BYTES_MAX: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitChange {
    /// What differs from the last commit, new files included.
    Uncommitted,
    /// What the next commit would change.
    Staged,
    /// What a commit changed, compared with its first parent.
    Commit(String),
    /// What the second commit changed since its merge base with the first; an empty name is HEAD.
    Since(String, String),
}

impl GitChange {
    /// What a commit changed, or of `A...B` what B changed since both were the same; people also write `A..B`.
    pub fn named(name: &str) -> GitChange {
        let range = name.split_once("...").or_else(|| name.split_once("..").filter(|(one, _)| !one.is_empty()));
        match range {
            Some((one, other)) => GitChange::Since(one.to_string(), other.to_string()),
            None => GitChange::Commit(name.to_string()),
        }
    }
}

/// A file of a change. Texts are missing where the file is new or gone, or is not text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileVersions {
    /// Its path from the project's root, `/` between components.
    pub path: String,
    /// Its text before the change.
    pub before: Option<String>,
    /// Its text after the change: the same one where only the mode changed.
    pub after: Option<String>,
}

/// Where a version of files is.
enum VersionPlace {
    Commit(String),
    Staged,
    Disk,
}

/// The files of a change below the project's root, by path. Of a change of more than 200 files, only the first have
/// texts.
///
/// # Errors
/// Outside a repository, without the `git` program, or when there is no such commit.
pub fn versions(project: &Project, change: &GitChange) -> Result<Vec<FileVersions>> {
    let root = project.root.as_path();
    let git = GitProgram { path: project.programs.clone(), ..GitProgram::default() };
    let top = git.ask(root, &["rev-parse", "--show-toplevel"]).map_err(|source| match source {
        GitError::Failed { .. } => Refused::NotVersioned { root: root.to_path_buf(), source },
        _ => Refused::NoGit { since: None, source },
    })?;
    let git = git.without_programs(&top_of(&top))?;
    let commit = |name: &str| {
        let known = git.commit(root, name);
        known.ok_or_else(|| Refused::NoRevision { name: name.to_string() })
    };
    let head = || git.commit(root, "HEAD").map_or_else(|| git.no_files(root), Ok);
    let (from, to) = match change {
        GitChange::Uncommitted => (head()?, VersionPlace::Disk),
        GitChange::Staged => (head()?, VersionPlace::Staged),
        GitChange::Commit(name) => {
            let to = commit(name)?;
            (git.before(root, &to)?, VersionPlace::Commit(to))
        }
        GitChange::Since(one, other) => {
            let range = format!("{one}...{other}");
            let from = git.base(root, &range).ok_or(Refused::NoRevision { name: range })?;
            (from, VersionPlace::Commit(commit(if other.is_empty() { "HEAD" } else { other })?))
        }
    };
    let command: &[&str] = match &to {
        VersionPlace::Commit(_) => &["diff-tree", "-r"],
        VersionPlace::Staged => &["diff-index", "--cached"],
        VersionPlace::Disk => &["diff-index"],
    };
    let mut args = [command, &["-z", "--relative"], &ALONE, &[&from]].concat();
    if let VersionPlace::Commit(to) = &to {
        args.push(to);
    }
    args.push("--");
    // `:100644 100755 … M`, then the path.
    let listed = git.ask(root, &args)?;
    let listed: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
    let has_other_mode = |about: &[u8]| about.get(1..7) != about.get(8..14);
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    for pair in listed.chunks_exact(2) {
        paths.extend(path_of(pair[1]).to_str().map(|path| (path.to_string(), has_other_mode(pair[0]))));
    }
    if let VersionPlace::Disk = to {
        let others = git.ask(root, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        let names = others.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        paths.extend(names.filter_map(|name| Some((path_of(name).to_str()?.to_string(), true))));
    }
    let paths: Vec<(String, bool)> = paths.into_iter().collect();
    let text = |revision: &str, path: &str| {
        let blob = ["cat-file", "blob", &format!("{revision}:./{path}")];
        let printed = git.run_within(root, &blob, FILE_BYTES_MAX).ok().filter(|printed| printed.status.success())?;
        Some(decode(path, printed.stdout).ok()?.text)
    };
    let versions = |(at, (path, has_other_mode)): (usize, (String, bool))| {
        if at >= FILES_MAX {
            return Some(FileVersions { path, ..FileVersions::default() });
        }
        let before = text(&from, &path);
        let after = match &to {
            VersionPlace::Commit(to) => text(to, &path),
            VersionPlace::Staged => text("", &path),
            VersionPlace::Disk => read_text_within(root, &path, FILE_BYTES_MAX).ok(),
        };
        // Git compares times of files before it compares texts.
        (before.is_none() || before != after || has_other_mode).then_some(FileVersions { path, before, after })
    };
    Ok(paths.into_par_iter().enumerate().filter_map(versions).collect())
}

impl GitProgram {
    /// The first parent of a commit; the tree without files before a first commit.
    fn before(&self, folder: &Path, commit: &str) -> Result<String> {
        if let Some(parent) = self.commit(folder, &format!("{commit}^")) {
            return Ok(parent);
        }
        // The oldest commits of a shallow clone name parents that are not there.
        let text = self.ask(folder, &["cat-file", "commit", commit])?;
        let mut head = text.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
        match head.any(|line| line.starts_with(b"parent ")) {
            true => Err(Refused::Shallow { commit: commit.to_string() }.into()),
            false => Ok(self.no_files(folder)?),
        }
    }

    /// The tree without files, whose name depends on the repository's hash function.
    fn no_files(&self, folder: &Path) -> Result<String, GitError> {
        let named = self.ask(folder, &["hash-object", "-t", "tree", "--stdin"])?;
        Ok(String::from_utf8_lossy(&named).trim().to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::Env;

    #[expect(clippy::disallowed_methods, reason = "git is looked for where the test itself finds it")]
    #[test]
    fn a_version_of_very_many_bytes_has_no_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path");
        let git = |args: &[&str]| {
            let fixed = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-C"];
            let ran =
                Command::new("git").args(fixed).arg(&root).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
            assert!(ran.expect("git").status.success(), "{args:?}");
        };
        let write =
            |name: &str, bytes: usize| std::fs::write(root.join(name), "x\n".repeat(bytes / 2)).expect("a file");
        let most = FILE_BYTES_MAX as usize;
        git(&["init", "-q"]);
        [("a", most), ("b", most + 2), ("c", most)].into_iter().for_each(|(name, bytes)| write(name, bytes));
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        [("a", most - 2), ("b", 2), ("c", most + 2)].into_iter().for_each(|(name, bytes)| write(name, bytes));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let vars = [("PATH".into(), path), ("COLGREP_DATA_DIR".into(), folder.path().join(".data").into_os_string())];
        let (project, _) =
            Project::around(&root, &Env::read(vars.into_iter()).expect("an environment")).expect("a project");
        let read = |text: Option<String>| text.map(|text| text.len());
        let all = versions(&project, &GitChange::Uncommitted).expect("versions").into_iter();
        let all: Vec<_> = all.map(|one| (one.path, read(one.before), read(one.after))).collect();
        let expected = [("a", Some(most), Some(most - 2)), ("b", None, Some(2)), ("c", Some(most), None)];
        assert_eq!(all, expected.map(|(name, before, after)| (name.to_string(), before, after)));
    }
}
