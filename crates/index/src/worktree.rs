//! The worktrees of a git repository, from git's own files; git is not run.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::read_regular;

/// A repository around a folder: the folder that all its worktrees share, and their roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeRepository {
    /// What all worktrees share, such as `.git` of the first.
    pub common: PathBuf,
    /// The root of the worktree around the folder.
    pub top: PathBuf,
    /// The roots of all existing worktrees, sorted.
    pub tops: Vec<PathBuf>,
}

impl WorktreeRepository {
    /// The repository around `folder`, which is absolute, if any.
    pub fn around(folder: &Path) -> Option<WorktreeRepository> {
        let top = folder.ancestors().find(|a| a.join(".git").exists())?.to_path_buf();
        let common = common_folder(&top)?;
        let mut tops: Vec<PathBuf> = tops(&common).iter().filter_map(|t| t.canonicalize().ok()).collect();
        tops.push(top.clone());
        tops.sort();
        tops.dedup();
        Some(WorktreeRepository { common, top, tops })
    }

    /// The repository's common name: that of its first worktree.
    pub fn name(&self) -> String {
        let is_inside = self.common.file_name().is_some_and(|n| n == ".git");
        let named = self.common.parent().filter(|_| is_inside).unwrap_or(&self.common);
        named.file_name().map_or_else(|| "root".into(), |n| n.to_string_lossy().into_owned())
    }
}

/// The folders of other worktrees at the same relative path as `root` has in its own.
pub fn sibling_roots(root: &Path) -> Vec<PathBuf> {
    let Some(WorktreeRepository { top, tops, .. }) = WorktreeRepository::around(root) else { return Vec::new() };
    let below = root.strip_prefix(top).unwrap_or(Path::new(""));
    let mut roots: Vec<PathBuf> =
        tops.iter().filter_map(|t| t.join(below).canonicalize().ok()).filter(|r| r != root).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// A hash that changes whenever a branch of a repository or the head of a worktree moves, as far as git's files show:
/// if it is unchanged, git need not be asked again. `common` is the git folder that all worktrees share.
pub fn stamp(common: &Path) -> u64 {
    let mut seen = Vec::new();
    let heads = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let heads = heads.map(|entry| entry.path().join("HEAD"));
    let shared = ["HEAD", "refs/heads", "reftable", "packed-refs", "shallow"].map(|name| common.join(name));
    shared.into_iter().chain(heads).for_each(|path| stamp_below(&path, &mut seen));
    seen.sort_unstable();
    xxh3_64(seen.join("\n").as_bytes())
}

/// Longest file that is read for a stamp, in bytes: a branch's is far shorter.
const STAMP_BYTES_MAX: u64 = 4 << 10;

/// Adds the content of a file, or of each below a folder; of a longer file only its identity, since git replaces
/// changed files.
fn stamp_below(path: &Path, seen: &mut Vec<String>) {
    let Ok(data) = fs::symlink_metadata(path) else { return };
    if data.is_dir() {
        fs::read_dir(path).into_iter().flatten().flatten().for_each(|entry| stamp_below(&entry.path(), seen));
        return;
    }
    if data.len() <= STAMP_BYTES_MAX {
        return seen.push(format!("{} {:?}", path.display(), read_regular(path, STAMP_BYTES_MAX).ok()));
    }
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let file = data.created().ok();
    seen.push(format!("{} {file:?} {} {:?}", path.display(), data.len(), data.modified().ok()));
}

/// The roots of all worktrees, as git's files name them; some may no longer exist.
fn tops(common: &Path) -> Vec<PathBuf> {
    let main = (common.file_name().is_some_and(|n| n == ".git")).then(|| common.parent()).flatten();
    let mut tops: Vec<PathBuf> = main.into_iter().map(Path::to_path_buf).collect();
    for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        // The path of the worktree's `.git` file.
        let path = line_of(&entry.path().join("gitdir")).unwrap_or_default();
        tops.extend(entry.path().join(path).parent().map(Path::to_path_buf));
    }
    tops
}

/// The folder that all worktrees of a repository share.
fn common_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let text = line_of(&git)?;
    let own = top.join(text.strip_prefix("gitdir:")?.trim());
    // A submodule has its own git folder and shares none.
    let Some(common) = line_of(&own.join("commondir")) else { return own.canonicalize().ok() };
    own.join(common).canonicalize().ok()
}

/// Longest file of one path, in bytes.
const PATH_BYTES_MAX: u64 = 64 << 10;

/// The path in one of git's files of a single path, without its line end.
fn line_of(file: &Path) -> Option<String> {
    let text = String::from_utf8(read_regular(file, PATH_BYTES_MAX).ok()?).ok()?;
    Some(text.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_no_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = |path: &Path| {
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).expect("a pipe");
        };
        let [piped, endless, shared] = ["piped", "endless", "shared"].map(|name| folder.path().join(name));
        [&piped, &endless, &shared].iter().for_each(|root| fs::create_dir(root).expect("a folder"));
        pipe(&piped.join(".git"));
        std::os::unix::fs::symlink("/dev/zero", endless.join(".git")).expect("a link");
        assert_eq!((WorktreeRepository::around(&piped), WorktreeRepository::around(&endless)), (None, None));
        // `commondir` is a pipe: the repository is read as a single worktree.
        fs::create_dir(shared.join("own")).expect("a folder");
        fs::write(shared.join(".git"), "gitdir: own\n").expect("a file");
        ["commondir", "HEAD"].iter().for_each(|name| pipe(&shared.join("own").join(name)));
        let common = WorktreeRepository::around(&shared).expect("a repository").common;
        assert!(common.ends_with("shared/own") && stamp(&common) == stamp(&common));
    }

    #[test]
    fn worktrees_know_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let write = |path: &str, text: &str| {
            let path = base.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let name = |path: &str| base.join(path).display().to_string();
        write("main/.git/worktrees/two/gitdir", &format!("{}\n", name("two/.git")));
        write("main/.git/worktrees/two/commondir", "../..\n");
        write("main/.git/worktrees/gone/gitdir", &format!("{}\n", name("gone/.git")));
        write("two/.git", &format!("gitdir: {}\n", name("main/.git/worktrees/two")));
        write("main/sub/a.rs", "");
        write("two/sub/a.rs", "");
        write("alone/a.rs", "");
        let check = |root: &str, expected: &[&str]| {
            let expected: Vec<PathBuf> = expected.iter().map(|e| base.join(e)).collect();
            assert_eq!(sibling_roots(&base.join(root)), expected, "{root}");
        };
        check("main", &["two"]);
        check("two", &["main"]);
        check("two/sub", &["main/sub"]);
        check("alone", &[]);
        let two = WorktreeRepository::around(&base.join("two/sub")).expect("a repository");
        assert_eq!((two.common, two.top), (base.join("main/.git"), base.join("two")));
        assert_eq!(two.tops, [base.join("main"), base.join("two")]);
        assert_eq!(WorktreeRepository::around(&base.join("main")).expect("a repository").name(), "main");
        assert_eq!(WorktreeRepository::around(&base.join("alone")), None);
        let common = base.join("main/.git");
        let mut seen = vec![stamp(&common)];
        for (path, text) in [
            ("main/.git/HEAD", "ref: refs/heads/a/b"),
            ("main/.git/refs/heads/a/b", "1"),
            ("main/.git/refs/heads/a/b", "2"),
            ("main/.git/worktrees/two/HEAD", "3"),
            ("main/.git/packed-refs", "4"),
            ("main/.git/shallow", "5"),
        ] {
            write(path, text);
            assert!(!seen.contains(&stamp(&common)), "{path}");
            seen.push(stamp(&common));
        }
        write("main/.git/index", "6");
        assert_eq!(seen.last(), Some(&stamp(&common)), "not a ref");
    }
}
