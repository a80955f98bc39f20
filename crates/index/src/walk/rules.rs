//! The rules of a tree's ignore files, folder by folder. A clone can contain anything under these names, so, as in git,
//! links are not followed, only regular files of a bounded size are read, and the number of active patterns is bounded.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;

use super::git_config::{GitFolders, GitIgnoreConfig};
use super::patterns::IgnorePatterns;
use super::rules_reader::RulesReader;

/// Names of ignore files, in order of precedence.
pub(super) const NAMES: [&str; KINDS - 2] = [".colgrepignore", ".ignore", ".gitignore"];
/// Those, `.git/info/exclude`, and the ignore file that git's configuration names.
const KINDS: usize = 5;
/// The kind of `.git/info/exclude`.
const EXCLUDE: usize = 3;
/// The kind of the file that the configuration names.
const CONFIGURED: usize = 4;
/// Names that begin a repository.
const TOPS: [&str; 2] = [".git", ".jj"];
/// From this kind on, rules apply only within their repository.
const FIRST_OF_GIT: usize = 2;

/// Notes every path that could give rules in a folder, whether it exists or not.
pub(super) fn note_all(reader: &RulesReader, folder: &Path) {
    TOPS.iter().chain(&NAMES).for_each(|name| reader.note(&folder.join(name)));
}

/// Whether the name of an entry matters for the rules.
pub(super) fn is_asked(name: &OsStr) -> bool {
    TOPS.iter().chain(&NAMES).any(|asked| name == *asked)
}

/// The rules in force in a folder.
#[derive(Debug)]
pub(super) struct Rules {
    reader: Arc<RulesReader>,
    above: Option<Arc<Rules>>,
    kinds: [IgnorePatterns; KINDS],
    /// Whether a repository begins here.
    is_top: bool,
    /// The repository that begins here.
    folders: Option<GitFolders>,
    /// Whether patterns match names of any case.
    ignore_case: bool,
    bytes: usize,
}

impl Drop for Rules {
    fn drop(&mut self) {
        self.reader.release(self.bytes);
    }
}

impl Rules {
    pub(super) fn none(reader: &Arc<RulesReader>) -> Arc<Rules> {
        Arc::new(Rules::empty(reader))
    }

    fn empty(reader: &Arc<RulesReader>) -> Rules {
        Rules {
            reader: reader.clone(),
            above: None,
            kinds: Default::default(),
            is_top: false,
            folders: None,
            ignore_case: false,
            bytes: 0,
        }
    }

    /// The user's rules for a tree outside repositories.
    pub(super) fn of_user(reader: &Arc<RulesReader>, root: &Path) -> Arc<Rules> {
        let mut rules = Rules::empty(reader);
        rules.add_configured(root);
        Arc::new(rules)
    }

    /// Extends these rules by those of `folder`, whose names `has` tests. `in_git`: whether repositories end rules.
    pub(super) fn inside(self: &Arc<Rules>, folder: &Path, in_git: bool, has: impl Fn(&str) -> bool) -> Arc<Rules> {
        let mut inner = Rules::empty(&self.reader);
        inner.ignore_case = self.ignore_case;
        inner.is_top = in_git && TOPS.into_iter().any(&has);
        TOPS.into_iter().filter(|name| has(name)).for_each(|name| self.reader.note(&folder.join(name)));
        if has(".git") {
            inner.folders = GitFolders::of(folder, &self.reader);
        }
        if inner.is_top || inner.folders.is_some() {
            inner.add_configured(folder);
        }
        for (kind, name) in NAMES.iter().enumerate().filter(|(_, name)| has(name)) {
            let path = folder.join(name);
            inner.add(kind, folder, &path, self.reader.read(&path));
        }
        if let Some(folders) = &inner.folders {
            let exclude = folders.common.join("info/exclude");
            // It is not of the clone, so git follows a link to a file that repositories share.
            inner.add(EXCLUDE, folder, &exclude, self.reader.read_followed(&exclude));
        }
        if !inner.is_top && inner.kinds.iter().all(IgnorePatterns::is_empty) && inner.ignore_case == self.ignore_case {
            return self.clone();
        }
        inner.above = Some(self.clone());
        Arc::new(inner)
    }

    fn add(&mut self, kind: usize, folder: &Path, path: &Path, text: Option<Vec<u8>>) {
        if let Some(text) = text {
            let (patterns, bytes) = self.reader.patterns(folder, (path, &text), self.ignore_case);
            self.kinds[kind] = patterns;
            self.bytes += bytes;
        }
    }

    /// Adds what git's configuration says for the repository at `top`, or outside repositories.
    fn add_configured(&mut self, top: &Path) {
        let reader = self.reader.clone();
        let config = GitIgnoreConfig::read(reader.git(), (top, self.folders.as_ref()), &reader);
        self.ignore_case = config.ignore_case;
        if let Some(path) = config.excludes {
            self.add(CONFIGURED, top, &path, reader.read_followed(&path));
        }
    }

    /// Whether they match a path: the nearest file of the first kind with a matching rule decides.
    pub(super) fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        for kind in 0..KINDS {
            let mut rules = Some(self);
            while let Some(inner) = rules {
                let said = inner.kinds[kind].matched(path, is_folder);
                if !said.is_none() {
                    return said;
                }
                if inner.is_top && kind >= FIRST_OF_GIT {
                    break;
                }
                rules = inner.above.as_deref();
            }
        }
        Match::None
    }

    /// Whether the folder at `path`, which has a file `.git`, is a linked checkout of a repository around it, or of one
    /// whose main checkout is below `root`. A bare repository has no main checkout, and its linked ones are all there is.
    pub(super) fn is_other_checkout(&self, path: &Path, root: &Path) -> bool {
        let Some(folders) = GitFolders::of(path, &self.reader).filter(GitFolders::is_linked) else { return false };
        let Ok(common) = folders.common.canonicalize() else { return false };
        let main = folders.of_main();
        let is_bare = GitIgnoreConfig::read(self.reader.git(), (path, Some(&main)), &self.reader).bare;
        let is_checkout = |folders: &GitFolders| folders.is_linked() || !is_bare;
        let is_same = |folders: &GitFolders| {
            folders.common.canonicalize().is_ok_and(|other| other == common) && is_checkout(folders)
        };
        let mut around = std::iter::successors(Some(self), |rules| rules.above.as_deref());
        (common.starts_with(root) && !is_bare) || around.any(|rules| rules.folders.as_ref().is_some_and(is_same))
    }
}
