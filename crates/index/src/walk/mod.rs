//! Lists the files below a root, following the rules of `.gitignore` and `.colgrepignore`.

#[cfg(target_os = "linux")]
mod again;
mod git_config;
mod git_places;
mod known;
mod patterns;
mod rules;
mod rules_reader;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::Scope;

use crate::error::{Error, Result};
pub use git_places::GitPlaces;
pub use known::{DirCache, KnownTree, Skips};
pub use patterns::IgnorePatterns;
use rules::Rules;
use rules_reader::RulesReader;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Include hidden files and folders.
    pub hidden: bool,
    /// Include files named like keys and passwords.
    pub secrets: bool,
    /// Disregard ignore files.
    pub no_ignore: bool,
    /// Largest file that is read, in bytes.
    pub filesize_max: u64,
}

/// The time of a file's last change ([`WalkedFile::mtime_ns`]).
pub(crate) fn changed_ns(metadata: &std::fs::Metadata) -> i64 {
    one_of(times_ns(metadata))
}

/// Modification time and change time (ctime) of a file, in nanoseconds since 1970; 0 if the system has none.
pub(crate) fn times_ns(metadata: &std::fs::Metadata) -> [i64; 2] {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let ns = |s: i64, ns: i64| s.saturating_mul(1_000_000_000).saturating_add(ns);
        [ns(metadata.mtime(), metadata.mtime_nsec()), ns(metadata.ctime(), metadata.ctime_nsec())]
    }
    #[cfg(not(unix))]
    {
        let modified = metadata.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        [modified.map_or(0, |d| d.as_nanos() as i64), 0]
    }
}

/// One number for the two times of a file, which differs if either does. Programs set modification times, and many
/// archives give all files the same one, so replacing one such file by another would go unnoticed. The change time
/// can't be set and moves with each change of content or permissions. If the modification time is later nevertheless,
/// it was set, or the file system has no useful change time (such as the creation time): then both count.
fn one_of([modified, noted]: [i64; 2]) -> i64 {
    if modified <= noted { noted } else { modified.wrapping_add(noted) }
}

/// The state of a folder ([`KnownTree`]), if its file system is trusted, and its inode.
fn state_of(folder: &Path) -> (u64, u64) {
    #[cfg(target_os = "linux")]
    if let Ok(about) = folder.symlink_metadata() {
        let number = std::os::unix::fs::MetadataExt::ino(&about);
        return (if known::is_trusted(folder) { known::state_of_folder(&about) } else { known::UNSURE }, number);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = folder;
    (known::UNSURE, 0)
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions { hidden: false, secrets: false, no_ignore: false, filesize_max: 1 << 20 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile {
    /// Path relative to the root, `/` between components.
    pub path: String,
    pub size: u64,
    /// Time of the last change (ctime), in nanoseconds since 1970. If the modification time is later, the sum of both,
    /// which is not a time but differs after each change.
    pub mtime_ns: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The files, by path.
    pub files: Vec<WalkedFile>,
    /// Entries that could not be read, or are skipped (links, special files), with the reason, by path.
    pub unreadable: Vec<(String, String)>,
    /// Files whose names are not UTF-8, by path from the root, with their sizes. An index leaves them out, so
    /// `unreadable` lists them too.
    pub misnamed: Vec<(PathBuf, u64)>,
    /// Ignore files that were disregarded, with the reason, by path.
    pub unheeded: Vec<(String, String)>,
    /// For a source other than a tree: its state in its own format, for its next listing.
    pub state: Vec<String>,
    /// What the next walk need not list again.
    pub tree: KnownTree,
}

impl Walked {
    /// Bytes of the files of at most this size.
    pub fn bytes(&self, filesize_max: u64) -> u64 {
        self.files.iter().map(|file| file.size).filter(|size| *size <= filesize_max).sum()
    }
}

/// The reason given for a symbolic link or special file.
pub const SPECIAL: &str = "symbolic link or special file";
/// The reason given for a linked worktree of a repository that is walked too.
pub const CHECKOUT: &str = "another worktree of this repository";
/// The reason given for a file whose name is not UTF-8.
pub const MISNAMED: &str = "its name is not UTF-8";
/// The reasons given for what is left out on purpose, rather than because it can't be read.
pub const LEFT_ON_PURPOSE: [&str; 3] = [SPECIAL, MISNAMED, CHECKOUT];

/// What a walk leaves out in addition to ignore files.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut<'a> {
    /// A folder, such as the index's own.
    pub folder: Option<&'a Path>,
    /// Lines as in a `.gitignore` at the root; they count as ignore files do.
    pub patterns: &'a [String],
    /// Where git's configuration is; without it, that of repositories alone counts.
    pub git: Option<&'a GitPlaces>,
}

/// Walks the tree below `root`, except what is `left_out`. Does not follow symbolic links.
///
/// # Errors
/// When `root` itself can't be read, or a pattern of `left_out` is invalid.
pub fn walk(root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<Walked> {
    walk_for(Purpose::Look, root, left_out, options, None)
}

/// As [`walk_again`], for a walk whose [`Walked::tree`] is kept: waits up to a twentieth of a second for an ignore file
/// that changed a moment ago. Otherwise an ignore file written just before the index would make every later walk list
/// everything.
pub fn walk_to_remember(
    root: &Path,
    left_out: &LeftOut<'_>,
    options: &WalkOptions,
    known: Option<&DirCache<'_>>,
) -> Result<Walked> {
    walk_for(Purpose::Remember, root, left_out, options, known)
}

/// As [`walk`], and lists only the folders that differ from what an earlier walk found.
pub fn walk_again(
    root: &Path,
    left_out: &LeftOut<'_>,
    options: &WalkOptions,
    known: Option<&DirCache<'_>>,
) -> Result<Walked> {
    walk_for(Purpose::Look, root, left_out, options, known)
}

/// Whether a walk would find more than `files` files; it ends as soon as that is known.
pub fn holds_more_than(files: usize, root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<bool> {
    Ok(walk_for(Purpose::Count(files), root, left_out, options, None)?.files.len() > files)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// List the tree.
    Look,
    /// List the tree, and record what the next walk need not list.
    Remember,
    /// Find out whether there are more files than this.
    Count(usize),
}

fn walk_for(
    purpose: Purpose,
    root: &Path,
    left_out: &LeftOut<'_>,
    options: &WalkOptions,
    known: Option<&DirCache<'_>>,
) -> Result<Walked> {
    std::fs::read_dir(root).map_err(|e| Error::io("read", root, e))?;
    let root = root.canonicalize().map_err(|e| Error::io("read", root, e))?;
    let ignored = match options.no_ignore {
        true => IgnorePatterns::default(),
        false => {
            IgnorePatterns::checked(&root, left_out.patterns.iter().map(String::as_str)).map_err(Error::Pattern)?
        }
    };
    let in_git = root.ancestors().any(|a| a.join(".git").exists());
    // It may not exist yet; outside the tree it has no effect.
    let own = left_out.folder.map(|p| p.canonicalize().unwrap_or_else(|_| p.to_path_buf()));
    let own = own.filter(|own| own.starts_with(&root));
    let walk = Walk {
        options: *options,
        in_git,
        own,
        ignored,
        reader: Arc::new(RulesReader::new(left_out.git.cloned().unwrap_or_default(), purpose == Purpose::Remember)),
        above: OnceLock::new(),
        walked: Mutex::default(),
        has_unnamed: AtomicBool::new(false),
        enough: if let Purpose::Count(files) = purpose { files } else { usize::MAX },
        root,
    };
    let terms = walk.terms(left_out);
    #[cfg(target_os = "linux")]
    if known.is_some_and(|known| known.tree.terms == terms && again::fill(&walk, known)) {
        return Ok(walk.found(terms));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = known;
    rayon::scope(|scope| {
        walk.folder(scope, walk.root.clone(), walk.above(), &|scope, inner, rules| walk.inside(scope, inner, rules));
    });
    Ok(walk.found(terms))
}

/// Handles a folder inside a listed one, with the rules there.
type Inside<'s, 'i> = dyn Fn(&Scope<'s>, PathBuf, &Arc<Rules>) + Sync + 'i;

struct Walk {
    root: PathBuf,
    options: WalkOptions,
    /// Whether the tree is in a repository.
    in_git: bool,
    /// A folder that is left out.
    own: Option<PathBuf>,
    ignored: IgnorePatterns,
    reader: Arc<RulesReader>,
    /// The rules of the folders above the root.
    above: OnceLock<Arc<Rules>>,
    walked: Mutex<Walked>,
    /// Whether there is a folder whose name is not UTF-8: such a tree is not remembered.
    has_unnamed: AtomicBool,
    /// The walk ends once there are more files than this.
    enough: usize,
}

impl Walk {
    /// Hash of the walk's rules besides the ignore files in the tree and above it.
    fn terms(&self, left_out: &LeftOut<'_>) -> u64 {
        let WalkOptions { hidden, no_ignore, .. } = self.options;
        fn bytes(path: Option<&Path>) -> &[u8] {
            path.map_or(&[], |path| path.as_os_str().as_encoded_bytes())
        }
        known::terms(
            &self.root,
            &[
                &[hidden.into(), no_ignore.into(), self.in_git.into()],
                bytes(self.own.as_deref()),
                left_out.patterns.join("\n").as_bytes(),
                &left_out.git.map(GitPlaces::bytes).unwrap_or_default(),
            ],
        )
    }

    /// The rules of the folders above the root.
    fn above(&self) -> &Arc<Rules> {
        self.above.get_or_init(|| {
            if !self.in_git && !self.options.no_ignore {
                return Rules::of_user(&self.reader, &self.root);
            }
            let mut rules = Rules::none(&self.reader);
            // Outside a repository, ignore files inside the tree count and those above it do not.
            if self.in_git && !self.options.no_ignore {
                let above: Vec<&Path> = self.root.ancestors().skip(1).collect();
                for folder in above.into_iter().rev() {
                    rules::note_all(&self.reader, folder);
                    rules = rules.inside(folder, true, |name| folder.join(name).symlink_metadata().is_ok());
                }
            }
            rules
        })
    }

    /// The result, sorted.
    fn found(self, terms: u64) -> Walked {
        let mut walked = self.walked.into_inner().unwrap_or_else(PoisonError::into_inner);
        let below_root = |path: PathBuf| path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned();
        walked.unheeded = self.reader.unheeded().into_iter().map(|(path, why)| (below_root(path), why)).collect();
        walked.files.sort_unstable();
        walked.unreadable.sort_unstable();
        walked.misnamed.sort_unstable();
        walked.unheeded.sort_unstable();
        walked.unheeded.dedup();
        let rules: Option<Vec<_>> =
            self.reader.seen().into_iter().map(|(path, state)| known::remembered(path, state)).collect();
        match rules {
            // A disregarded ignore file is reported at each walk, and so has to be read.
            Some(rules) if walked.unheeded.is_empty() && !self.has_unnamed.load(Ordering::Relaxed) => {
                walked.tree.terms = terms;
                walked.tree.rules.extend(rules);
                walked.tree.rules.sort_unstable();
                walked.tree.rules.dedup();
                let mut folders: Vec<_> = walked.tree.folders.drain(..).zip(walked.tree.numbers.drain(..)).collect();
                folders.sort_unstable();
                (walked.tree.folders, walked.tree.numbers) = folders.into_iter().unzip();
            }
            _ => walked.tree = KnownTree::default(),
        }
        walked
    }

    /// Takes in the content of a subfolder of a listed folder.
    fn inside<'s>(&'s self, scope: &Scope<'s>, folder: PathBuf, above: &Arc<Rules>) {
        let rules = above.clone();
        scope.spawn(move |scope| {
            self.folder(scope, folder, &rules, &|scope, inner, rules| self.inside(scope, inner, rules));
        });
    }

    /// Adds the files of a folder, and passes its subfolders to `inside`; `above` are the rules of the folders above
    /// it. Returns the names in it that matter for the rules.
    fn folder<'s>(
        &'s self,
        scope: &Scope<'s>,
        folder: PathBuf,
        above: &Arc<Rules>,
        inside: &Inside<'s, '_>,
    ) -> Vec<OsString> {
        if self.enough < usize::MAX && self.walked().files.len() > self.enough {
            return Vec::new();
        }
        let mut found = Walked::default();
        let (state, number) = state_of(&folder);
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
        let asked: Vec<OsString> = entries.iter().map(DirEntry::file_name).filter(|n| rules::is_asked(n)).collect();
        if self.is_other_checkout(&folder, &entries, above) {
            // Not a folder of the tree: it is remembered as what was skipped in the one above.
            self.walked().unreadable.push((self.below_root(&folder), CHECKOUT.to_string()));
            return asked;
        }
        let rules = match self.options.no_ignore {
            true => above.clone(),
            false => {
                let names: HashSet<&OsStr> = asked.iter().map(OsString::as_os_str).collect();
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
                inside(scope, path, &rules);
            } else if kind.is_file() {
                self.file(&entry, &path, &mut found);
            } else {
                found.unreadable.push((self.below_root(&path), SPECIAL.to_string()));
            }
        }
        // A folder with something to report at each walk has to be listed each time.
        let is_sure = found.misnamed.is_empty() && found.unreadable.iter().all(|(_, why)| why == SPECIAL);
        let state = if is_sure { state } else { known::UNSURE };
        let name = folder.strip_prefix(&self.root).ok().and_then(Path::to_str).map(str::to_string);
        let mut all = self.walked();
        match name {
            Some(name) => {
                all.tree.folders.push((name, state));
                all.tree.numbers.push(number);
            }
            None => self.has_unnamed.store(true, Ordering::Relaxed),
        }
        all.files.append(&mut found.files);
        all.unreadable.append(&mut found.unreadable);
        all.misnamed.append(&mut found.misnamed);
        asked
    }

    /// Whether a folder is another checkout of a repository that is walked: its files would all come twice.
    fn is_other_checkout(&self, folder: &Path, entries: &[DirEntry], above: &Rules) -> bool {
        let is_linked =
            |entry: &DirEntry| entry.file_name() == ".git" && entry.file_type().is_ok_and(|kind| kind.is_file());
        folder != self.root
            && !self.options.no_ignore
            && entries.iter().any(is_linked)
            && above.is_other_checkout(folder, &self.root)
    }

    fn walked(&self) -> MutexGuard<'_, Walked> {
        self.walked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_left_out(&self, entry: &DirEntry, path: &Path, is_folder: bool, rules: &Rules) -> bool {
        if entry.file_name() == ".git" || self.own.as_deref() == Some(path) {
            return true;
        }
        let said = rules.matched(path, is_folder);
        // A rule that keeps a hidden file takes precedence over the option for hidden files.
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
mod tests;
