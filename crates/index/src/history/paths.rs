//! Resolves paths as agents write them to paths from a repository's root.

use std::path::{Path, PathBuf};

use super::Roots;

impl Roots {
    /// The roots of worktrees. A path inside several of them belongs to the innermost.
    pub fn new(mut roots: Vec<PathBuf>) -> Roots {
        roots.sort_unstable();
        roots.dedup();
        roots.sort_by_key(|root| std::cmp::Reverse(root.as_os_str().len()));
        Roots(roots)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// Whether a folder, as written, is in one of the worktrees.
    pub(super) fn hold(&self, folder: &str) -> bool {
        self.inside(&parts(folder, &[])).is_some()
    }

    /// A path as written in `folder`, relative to its worktree's root, `/` between components. `None` if it is outside
    /// all of them, is a root itself, or belongs to git.
    pub(super) fn relative(&self, path: &str, folder: &str) -> Option<String> {
        let from = if is_absolute(path) { Vec::new() } else { parts(folder, &[]) };
        let below = self.inside(&parts(path, &from))?;
        let inner = below.first().is_some_and(|first| first != ".git");
        inner.then(|| below.join("/"))
    }

    /// The components below the innermost root.
    fn inside(&self, full: &[String]) -> Option<Vec<String>> {
        self.0.iter().find_map(|root| {
            let root = parts(&root.to_string_lossy(), &[]);
            full.strip_prefix(root.as_slice()).map(<[String]>::to_vec)
        })
    }
}

/// Whether a path as written depends on no folder.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\', '~']) || drive
}

/// The components of a path as written, from those of a folder, with `.` and `..` resolved without access to the disk.
fn parts(path: &str, from: &[String]) -> Vec<String> {
    let mut parts = from.to_vec();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_string()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_project_and_those_outside_are_dropped() {
        let roots =
            Roots::new(["/home/ann/app", "/home/ann/app-two", "/home/ann/app/trees/three"].map(PathBuf::from).to_vec());
        for (path, folder, expected) in [
            ("/home/ann/app/src/a.py", "/home/ann/app", Some("src/a.py")),
            ("/home/ann/app-two/src/a.py", "/home/ann/app", Some("src/a.py")),
            ("/home/ann/app/trees/three/src/a.py", "/", Some("src/a.py")),
            ("src/a.py", "/home/ann/app", Some("src/a.py")),
            ("a.py", "/home/ann/app-two/src", Some("src/a.py")),
            ("../a.py", "/home/ann/app/src", Some("a.py")),
            ("./src//a.py", "/home/ann/app", Some("src/a.py")),
            ("../../etc/passwd", "/home/ann/app", None),
            ("/etc/passwd", "/home/ann/app", None),
            ("~/notes.md", "/home/ann/app", None),
            ("/home/ann/app", "/", None),
            ("/home/ann/app/.git/config", "/", None),
            ("/home/ann/apple/a.py", "/", None),
            ("a.py", "/elsewhere", None),
        ] {
            assert_eq!(roots.relative(path, folder).as_deref(), expected, "{path} in {folder}");
        }
        assert!(roots.hold("/home/ann/app/src") && roots.hold("/home/ann/app-two/") && !roots.hold("/home/ann"));
    }
}
