//! Lists the files below a root, by the rules of `.gitignore` and `.colgrepignore`.

mod patterns;
mod rules;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rayon::Scope;

use crate::error::{Error, Result};
pub use patterns::Patterns;
use rules::{Reader, Rules};

/// Options of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Include hidden files and folders.
    pub hidden: bool,
    /// Include files whose names are those of keys and passwords.
    pub secrets: bool,
    /// Disregard ignore files.
    pub no_ignore: bool,
    /// Largest file that is read, in bytes.
    pub filesize_max: u64,
}

/// When a file last changed, in nanoseconds since 1970. The time of its content can be set, and is the same for all files
/// of many an archive: two such files that change places, or one that is put in another's place, would look as before.
/// The system's own time of the change can't be set. It also moves where a file can be read that could not.
pub(crate) fn changed_ns(metadata: &std::fs::Metadata) -> i64 {
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |d| d.as_nanos() as i64);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let noted = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
        modified.max(noted)
    }
    #[cfg(not(unix))]
    modified
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions { hidden: false, secrets: false, no_ignore: false, filesize_max: 1 << 20 }
    }
}

/// A file as the walk saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile {
    /// Path relative to the root, `/` between components.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970: of its content, or of what the system notes of the file.
    pub mtime_ns: i64,
}

/// What a walk gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The files, by path.
    pub files: Vec<WalkedFile>,
    /// Entries that could not be read, or are skipped (links, special files), with the reason, by path.
    pub unreadable: Vec<(String, String)>,
    /// Files whose names are no UTF-8 text, by path from the root, with their sizes. An index leaves them out, so they
    /// stand in `unreadable` too.
    pub misnamed: Vec<(PathBuf, u64)>,
    /// Ignore files that are there and not heeded, with the reason, by path.
    pub unheeded: Vec<(String, String)>,
    /// For another source than a tree: what it was like, in its own words, for its next listing.
    pub state: Vec<String>,
}

/// The reason that stands with a symbolic link or special file.
pub const SPECIAL: &str = "symbolic link or special file";
/// The reason that stands with a file whose name is no UTF-8 text.
pub const MISNAMED: &str = "its name is not UTF-8";

/// What a walk leaves out in addition to ignore files.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut<'a> {
    /// A folder, such as the index's own.
    pub folder: Option<&'a Path>,
    /// Lines as in a `.gitignore` at the root; they count as ignore files do.
    pub patterns: &'a [String],
}

/// Walks the tree below `root`, what is `left_out` excepted. Symbolic links are not followed.
///
/// # Errors
/// When `root` itself can't be read, or a pattern of `left_out` is none.
pub fn walk(root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<Walked> {
    walk_until(root, left_out, options, usize::MAX)
}

/// Whether a walk would find more than so many files; it ends as soon as that is known.
///
/// # Errors
/// As [`walk`].
pub fn holds_more_than(files: usize, root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<bool> {
    Ok(walk_until(root, left_out, options, files)?.files.len() > files)
}

/// Walks until more than `enough` files are found.
fn walk_until(root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions, enough: usize) -> Result<Walked> {
    std::fs::read_dir(root).map_err(|e| Error::io("read", root, e))?;
    let root = root.canonicalize().map_err(|e| Error::io("read", root, e))?;
    let ignored = match options.no_ignore {
        true => Patterns::default(),
        false => Patterns::checked(&root, left_out.patterns.iter().map(String::as_str)).map_err(Error::Pattern)?,
    };
    let reader = Arc::new(Reader::default());
    let in_git = root.ancestors().any(|a| a.join(".git").exists());
    let walk = Walk {
        options: *options,
        in_git,
        own: left_out.folder.and_then(|p| p.canonicalize().ok()),
        ignored,
        global: if options.no_ignore { Gitignore::empty() } else { GitignoreBuilder::new(&root).build_global().0 },
        walked: Mutex::default(),
        enough,
        root,
    };
    let mut rules = Rules::none(&reader);
    // Outside a repository, ignore files inside the tree count and those above it do not.
    if in_git && !options.no_ignore {
        let above: Vec<&Path> = walk.root.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            rules = rules.inside(folder, true, |name| folder.join(name).symlink_metadata().is_ok());
        }
    }
    rayon::scope(|scope| walk.folder(scope, walk.root.clone(), &rules));
    let mut walked = walk.walked.into_inner().unwrap_or_else(PoisonError::into_inner);
    let below_root = |path: PathBuf| path.strip_prefix(&walk.root).unwrap_or(&path).to_string_lossy().into_owned();
    walked.unheeded = reader.unheeded().into_iter().map(|(path, why)| (below_root(path), why)).collect();
    walked.files.sort_unstable();
    walked.unreadable.sort_unstable();
    walked.misnamed.sort_unstable();
    walked.unheeded.sort_unstable();
    Ok(walked)
}

/// A walk under way.
struct Walk {
    root: PathBuf,
    options: WalkOptions,
    /// Whether the tree is in a repository.
    in_git: bool,
    /// A folder that is left out.
    own: Option<PathBuf>,
    /// The setting `ignore`.
    ignored: Patterns,
    /// The user's own ignore file for all repositories.
    global: Gitignore,
    walked: Mutex<Walked>,
    /// No more is walked once there are more files than this.
    enough: usize,
}

impl Walk {
    /// Takes in what is in a folder; `above` are the rules of the folders above it.
    fn folder<'s>(&'s self, scope: &Scope<'s>, folder: PathBuf, above: &Arc<Rules>) {
        if self.enough < usize::MAX && self.walked().files.len() > self.enough {
            return;
        }
        let mut found = Walked::default();
        let mut entries = Vec::new();
        match std::fs::read_dir(&folder) {
            Ok(all) => {
                for entry in all {
                    match entry {
                        Ok(entry) => entries.push(entry),
                        Err(error) => found.unreadable.push((self.below_root(&folder), error.to_string())),
                    }
                }
            }
            Err(error) => found.unreadable.push((self.below_root(&folder), error.to_string())),
        }
        let rules = match self.options.no_ignore {
            true => above.clone(),
            false => {
                let is_asked = |name: &&OsStr| [".git", ".jj"].iter().chain(&rules::NAMES).any(|n| *name == *n);
                let names: Vec<_> = entries.iter().map(DirEntry::file_name).collect();
                let names: HashSet<&OsStr> = names.iter().map(|n| n.as_os_str()).filter(is_asked).collect();
                above.inside(&folder, self.in_git, |name| names.contains(OsStr::new(name)))
            }
        };
        for entry in entries {
            let path = entry.path();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    found.unreadable.push((self.below_root(&path), error.to_string()));
                    continue;
                }
            };
            if self.is_left_out(&entry, &path, kind.is_dir(), &rules) {
                continue;
            }
            if kind.is_dir() {
                let rules = rules.clone();
                scope.spawn(move |scope| self.folder(scope, path, &rules));
            } else if kind.is_file() {
                self.file(&entry, &path, &mut found);
            } else {
                found.unreadable.push((self.below_root(&path), SPECIAL.to_string()));
            }
        }
        let mut all = self.walked();
        all.files.append(&mut found.files);
        all.unreadable.append(&mut found.unreadable);
        all.misnamed.append(&mut found.misnamed);
    }

    fn walked(&self) -> MutexGuard<'_, Walked> {
        self.walked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_left_out(&self, entry: &DirEntry, path: &Path, is_folder: bool, rules: &Rules) -> bool {
        if entry.file_name() == ".git" || self.own.as_deref() == Some(path) {
            return true;
        }
        let said = rules.matched(path, is_folder);
        let said = if said.is_none() { self.global.matched(path, is_folder).map(|_| ()) } else { said };
        // A rule that keeps a hidden file goes before what is said of all hidden files.
        said.is_ignore()
            || (said.is_none() && !self.options.hidden && is_hidden(entry))
            || self.ignored.matched(path, is_folder).is_ignore()
    }

    fn file(&self, entry: &DirEntry, path: &Path, found: &mut Walked) {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        let Some(name) = relative.to_str() else {
            found.unreadable.push((relative.to_string_lossy().into_owned(), MISNAMED.to_string()));
            found.misnamed.push((relative.to_path_buf(), entry.metadata().map_or(0, |m| m.len())));
            return;
        };
        let name = if std::path::MAIN_SEPARATOR == '/' { name.to_string() } else { name.replace('\\', "/") };
        match entry.metadata() {
            Ok(metadata) => {
                found.files.push(WalkedFile { path: name, size: metadata.len(), mtime_ns: changed_ns(&metadata) });
            }
            Err(error) => found.unreadable.push((name, error.to_string())),
        }
    }

    fn below_root(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    #[cfg(windows)]
    {
        use std::os::windows::fs::MetadataExt as _;
        const FILE_ATTRIBUTE_HIDDEN: u32 = 2;
        if entry.metadata().is_ok_and(|m| m.file_attributes() & FILE_ATTRIBUTE_HIDDEN != 0) {
            return true;
        }
    }
    entry.file_name().as_encoded_bytes().starts_with(b".")
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

    #[cfg(unix)]
    #[test]
    fn ignore_files_are_regular_and_bounded() {
        let folder = tree(&[("a.rs", ""), ("b/c.rs", ""), ("b/d.log", ""), ("e/f.rs", ""), ("big/g.rs", "")]);
        for (link, to) in [
            (".gitignore", "/dev/zero"),
            (".ignore", "/dev/zero"),
            (".colgrepignore", "/dev/stdin"),
            ("b/.gitignore", "../rules"),
        ] {
            std::os::unix::fs::symlink(to, folder.path().join(link)).unwrap();
        }
        fs::write(folder.path().join("rules"), "*.rs\n").unwrap();
        fs::write(folder.path().join("b/.ignore"), "*.log\n").unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("e/.gitignore")).status().unwrap();
        assert!(made.success());
        fs::write(folder.path().join("big/.gitignore"), "g.rs\n".repeat(60_000)).unwrap();
        let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
        let files: Vec<_> = walked.files.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(files, ["a.rs", "b/c.rs", "big/g.rs", "e/f.rs", "rules"]);
        let unheeded: Vec<_> = walked.unheeded.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            unheeded,
            [".colgrepignore", ".gitignore", ".ignore", "b/.gitignore", "big/.gitignore", "e/.gitignore"]
        );
    }

    #[test]
    fn patterns_in_force_at_a_time_are_bounded() {
        let text: String = (0..20_000).map(|i| format!("a?{i}*\n")).collect();
        let folder = tree(&[("a/a.rs", ""), ("b/b.rs", ""), ("a1", "")]);
        let mut inner = folder.path().to_path_buf();
        for _ in 0..4 {
            fs::write(inner.join(".gitignore"), &text).unwrap();
            inner.push("a");
            fs::create_dir_all(&inner).unwrap();
        }
        fs::write(folder.path().join("b/.gitignore"), &text).unwrap();
        let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
        assert_eq!(walked.files.len(), 3, "{walked:?}");
        let deep = walked.unheeded.iter().filter(|(path, _)| path.starts_with("a/a/"));
        assert!(deep.count() > 0, "{:?}", walked.unheeded);
    }

    #[test]
    fn the_nearest_rule_of_the_first_kind_decides() {
        let folder = tree(&[
            (".git/info/exclude", "*.x\n"),
            (".gitignore", "*.log\n!.kept\nsub/*.y\n"),
            (".ignore", "!b.log\n*.i\n"),
            (".colgrepignore", "!c.i\n"),
            ("a.log", ""),
            ("b.log", ""),
            ("c.i", ""),
            ("d.i", ""),
            ("e.x", ""),
            (".kept", ""),
            (".hidden", ""),
            ("sub/.gitignore", "!f.log\n"),
            ("sub/f.log", ""),
            ("sub/g.log", ""),
            ("sub/h.y", ""),
            ("repository/.git/HEAD", ""),
            ("repository/i.log", ""),
            ("repository/j.i", ""),
        ]);
        let kept = ".kept b.log c.i repository/i.log sub/f.log";
        assert_eq!(paths(folder.path(), &WalkOptions::default()), kept);
        // From above, as from inside.
        assert_eq!(paths(&folder.path().join("sub"), &WalkOptions::default()), "f.log");
    }

    #[test]
    fn a_missing_root_is_an_error() {
        assert!(walk(Path::new("/no/such/folder"), &LeftOut::default(), &WalkOptions::default()).is_err());
    }
}
