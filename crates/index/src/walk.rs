//! Which files there are: the tree below a root, by the rules of `.gitignore` and `.colgrepignore`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{WalkBuilder, WalkState};

use crate::error::{Error, ErrorKind, Result};

/// What a walk takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Hidden files and folders too.
    pub hidden: bool,
    /// Ignore files do not count.
    pub no_ignore: bool,
    /// Largest file that is read, in bytes.
    pub filesize_max: u64,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions { hidden: false, no_ignore: false, filesize_max: 1 << 20 }
    }
}

/// A file as the walk saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Path relative to the root, `/` between components.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// What a walk gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The files, by path.
    pub files: Vec<Found>,
    /// Entries that could not be read, or are left out for what they are, with the reason, by path.
    pub unreadable: Vec<(String, String)>,
    /// Files whose names are no UTF-8 text, by path from the root, with their sizes. An index leaves them out, so they
    /// stand in `unreadable` too.
    pub misnamed: Vec<(PathBuf, u64)>,
}

/// The reason that stands with a symbolic link or special file.
pub const SPECIAL: &str = "symbolic link or special file";
/// The reason that stands with a file whose name is no UTF-8 text.
pub const MISNAMED: &str = "its name is not UTF-8";

/// What a walk leaves out besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut<'a> {
    /// A folder, such as the index's own.
    pub folder: Option<&'a Path>,
    /// Lines as in a `.gitignore` at the root; they count as ignore files do.
    pub patterns: &'a [String],
}

impl LeftOut<'_> {
    /// The patterns, ready to match.
    fn ignore(&self, root: &Path) -> Result<Gitignore> {
        let bad = |e: ignore::Error| Error::new(ErrorKind::Io, format!("pattern to ignore: {e}"));
        let mut builder = GitignoreBuilder::new(root);
        for pattern in self.patterns {
            builder.add_line(None, pattern).map_err(bad)?;
        }
        builder.build().map_err(bad)
    }
}

/// Walks the tree below `root`, what is `left_out` excepted. Symbolic links are not followed.
///
/// # Errors
/// When `root` itself can't be read.
pub fn walk(root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<Walked> {
    std::fs::read_dir(root).map_err(|e| Error::io("read", root, &e))?;
    let full = root.canonicalize().map_err(|e| Error::io("read", root, &e))?;
    let in_git = full.ancestors().any(|a| a.join(".git").exists());
    let own = left_out.folder.and_then(|p| Some(root.join(p.canonicalize().ok()?.strip_prefix(&full).ok()?)));
    let ignored = if options.no_ignore { Gitignore::empty() } else { left_out.ignore(root)? };
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!options.hidden)
        .follow_links(false)
        .ignore(!options.no_ignore)
        .git_ignore(!options.no_ignore)
        .git_global(!options.no_ignore)
        .git_exclude(!options.no_ignore)
        // Outside a repository, ignore files inside the tree count and those above it do not.
        .require_git(in_git)
        .parents(in_git && !options.no_ignore)
        .threads(rayon::current_num_threads())
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|t| t.is_dir());
            entry.file_name() != ".git"
                && own.as_deref() != Some(entry.path())
                && !ignored.matched(entry.path(), is_folder).is_ignore()
        });
    if !options.no_ignore {
        builder.add_custom_ignore_filename(".colgrepignore");
    }
    let walked = Mutex::new(Walked::default());
    builder.build_parallel().run(|| {
        let mut batch = Batch { walked: &walked, own: Walked::default() };
        Box::new(move |entry| {
            match entry {
                Ok(entry) => {
                    let kind = entry.file_type();
                    if kind.is_some_and(|t| t.is_file()) {
                        batch.add(root, &entry);
                    } else if kind.is_some_and(|t| !t.is_dir()) {
                        let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
                        let what = relative.to_string_lossy().into_owned();
                        batch.own.unreadable.push((what, SPECIAL.to_string()));
                    }
                }
                Err(error) => batch.own.unreadable.push(what_failed(root, &error)),
            }
            WalkState::Continue
        })
    });
    let mut walked = walked.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    walked.files.sort_unstable();
    walked.unreadable.sort_unstable();
    walked.misnamed.sort_unstable();
    Ok(walked)
}

/// The path of an error, from `root`, and the reason.
fn what_failed(root: &Path, error: &ignore::Error) -> (String, String) {
    match error {
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => what_failed(root, err),
        ignore::Error::WithPath { path, err } => {
            let path = path.strip_prefix(root).unwrap_or(path);
            (path.to_string_lossy().into_owned(), what_failed(root, err).1)
        }
        ignore::Error::Io(error) => (String::new(), error.to_string()),
        other => (String::new(), other.to_string()),
    }
}

/// What one thread found; handed over when the thread ends.
struct Batch<'a> {
    walked: &'a Mutex<Walked>,
    own: Walked,
}

impl Batch<'_> {
    fn add(&mut self, root: &Path, entry: &ignore::DirEntry) {
        let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let Some(path) = relative.to_str() else {
            self.own.unreadable.push((relative.to_string_lossy().into_owned(), MISNAMED.to_string()));
            self.own.misnamed.push((relative.to_path_buf(), entry.metadata().map_or(0, |m| m.len())));
            return;
        };
        let path = if std::path::MAIN_SEPARATOR == '/' { path.to_string() } else { path.replace('\\', "/") };
        match entry.metadata() {
            Ok(metadata) => {
                let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
                let mtime_ns = modified.map_or(0, |d| d.as_nanos() as i64);
                self.own.files.push(Found { path, size: metadata.len(), mtime_ns });
            }
            Err(error) => self.own.unreadable.push((path, what_failed(root, &error).1)),
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut all = self.walked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.files.append(&mut self.own.files);
        all.unreadable.append(&mut self.own.unreadable);
        all.misnamed.append(&mut self.own.misnamed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn paths(folder: &Path, options: &WalkOptions) -> String {
        let walked = walk(folder, &LeftOut::default(), options).unwrap();
        walked.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ignore_files_decide_and_not_folder_names() {
        let folder = tree(&[
            (".gitignore", "*.log\n/out/\n"),
            (".colgrepignore", "secret/\n"),
            ("bin/a.rs", ""),
            ("build/b.rs", ""),
            ("env/c.rs", ""),
            ("out/d.rs", ""),
            ("secret/e.rs", ""),
            (".hidden/f.rs", ""),
            ("run.log", ""),
            ("target.rs", ""),
        ]);
        let defaults = WalkOptions::default();
        assert_eq!(paths(folder.path(), &defaults), "bin/a.rs build/b.rs env/c.rs target.rs");
        let all = WalkOptions { hidden: true, no_ignore: true, ..defaults };
        assert_eq!(
            paths(folder.path(), &all),
            ".colgrepignore .gitignore .hidden/f.rs bin/a.rs build/b.rs env/c.rs out/d.rs run.log secret/e.rs target.rs"
        );
    }

    #[test]
    fn a_git_repository_is_read_by_its_rules_and_not_by_its_insides() {
        let folder = tree(&[(".git/HEAD", ""), (".gitignore", "gen\n"), ("gen/a.rs", ""), ("sub/b.rs", "")]);
        assert_eq!(paths(&folder.path().join("sub"), &WalkOptions::default()), "b.rs");
        let hidden = WalkOptions { hidden: true, ..WalkOptions::default() };
        assert_eq!(paths(folder.path(), &hidden), ".gitignore sub/b.rs");
    }

    #[test]
    fn what_is_left_out_is_left_out_whole() {
        let folder = tree(&[("a.rs", ""), ("data/index/b.rs", "")]);
        let data = folder.path().join("data");
        let left_out = LeftOut { folder: Some(&data), ..LeftOut::default() };
        let walked = walk(folder.path(), &left_out, &WalkOptions::default()).unwrap();
        assert_eq!(walked.files.len(), 1);
    }

    #[test]
    fn patterns_count_as_an_ignore_file_at_the_root() {
        let folder = tree(&[("a.rs", ""), ("a.snap", ""), ("keep.snap", ""), ("x/gen/b.rs", ""), ("gen/c.rs", "")]);
        let patterns = ["*.snap", "!keep.snap", "/gen/"].map(String::from);
        let left_out = LeftOut { patterns: &patterns, ..LeftOut::default() };
        let paths = |options: &WalkOptions| {
            let walked = walk(folder.path(), &left_out, options).unwrap();
            walked.files.into_iter().map(|f| f.path).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(paths(&WalkOptions::default()), "a.rs keep.snap x/gen/b.rs");
        let all = WalkOptions { no_ignore: true, ..WalkOptions::default() };
        assert_eq!(paths(&all), "a.rs a.snap gen/c.rs keep.snap x/gen/b.rs");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tree(&[("a.rs", "")]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("a.rs"), folder.path().join("b.rs")).unwrap();
        assert_eq!(paths(folder.path(), &WalkOptions::default()), "a.rs");
        let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
        assert_eq!(walked.unreadable.len(), 2, "links are counted: {:?}", walked.unreadable);
    }

    #[test]
    fn a_missing_root_is_an_error() {
        assert!(walk(Path::new("/no/such/folder"), &LeftOut::default(), &WalkOptions::default()).is_err());
    }
}
