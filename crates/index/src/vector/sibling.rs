//! Finds other worktrees of the same repository: their stores may already have vectors that this one lacks.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders that stand in other worktrees where `root` stands in its own. Reads git's files, runs no git.
pub(crate) fn sibling_roots(root: &Path) -> Vec<PathBuf> {
    let Some(top) = root.ancestors().find(|a| a.join(".git").exists()) else { return Vec::new() };
    let below = root.strip_prefix(top).unwrap_or(Path::new(""));
    let Some(common) = common_folder(top) else { return Vec::new() };
    let main = (common.file_name().is_some_and(|n| n == ".git")).then(|| common.parent()).flatten();
    let mut tops: Vec<PathBuf> = main.into_iter().map(Path::to_path_buf).collect();
    for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        // The path of the worktree's `.git` file.
        let path = fs::read_to_string(entry.path().join("gitdir")).unwrap_or_default();
        tops.extend(entry.path().join(path.trim_end()).parent().map(Path::to_path_buf));
    }
    let mut roots: Vec<PathBuf> =
        tops.iter().filter_map(|t| t.join(below).canonicalize().ok()).filter(|r| r != root).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// The folder that all worktrees of a repository share.
fn common_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let text = fs::read_to_string(&git).ok()?;
    let own = top.join(text.strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    own.join(common.trim_end()).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
