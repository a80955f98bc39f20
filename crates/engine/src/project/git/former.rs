//! The names that a file had before.

use std::collections::HashSet;
use std::time::Duration;

use super::GitRepository;
use crate::project::subprocess_limits::printed_within;

/// Most bytes that are read of a file's renames.
const RENAMES_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of names.
const NAMES_MAX: usize = 32;

/// How renames are found: as git does by itself, with no program that a configuration names.
const ALONE: [&str; 8] =
    ["--name-status", "-z", "--diff-filter=R", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "-O/dev/null"];

/// A name that a file had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Former {
    /// From the worktree's root, `/` between components.
    pub path: String,
    /// When the commit was made that gave it the next name, in seconds since 1970. Behind that, this one is another
    /// file's.
    pub until: i64,
}

impl GitRepository {
    /// The names that a file (`path` from the worktree's root) had before, newest first. With `is_new`, also renames
    /// that are staged but not committed. Git walks the whole history, so what it does not find within `time` is left
    /// out; a path unknown to git is not an error.
    pub fn former(&self, path: &str, is_new: bool, time: Duration) -> Vec<Former> {
        let staged = [&["diff-index", "--cached", "--ignore-submodules=all"][..], &ALONE, &["HEAD", "--"]].concat();
        let mut former = if is_new { renames(&self.printed(&staged, time), path) } else { Vec::new() };
        let first = former.last().map_or(path, |former| former.path.as_str()).to_string();
        let own = ["--literal-pathspecs", "log", "--follow", "--format=%ct", "--no-show-signature", "--no-notes"];
        let followed = [&own[..], &ALONE, &["--", first.as_str()]].concat();
        former.extend(renames(&self.printed(&followed, time), &first));
        // A file may have come back to a name: it was that file's until the last time.
        let mut known = HashSet::from([path.to_string()]);
        former.retain(|former| known.insert(former.path.clone()));
        former.truncate(NAMES_MAX);
        former
    }

    fn printed(&self, args: &[&str], time: Duration) -> Vec<u8> {
        printed_within(&mut self.git().command(&self.top, args), time, RENAMES_BYTES_MAX).unwrap_or_default()
    }
}

/// The names that led to `path`, in what git prints of renames, the newest first: the time of each commit, and how like
/// both files are (`R091`), the old name and the new one.
fn renames(printed: &[u8], path: &str) -> Vec<Former> {
    let mut fields = printed.split(|b| *b == 0).map(String::from_utf8_lossy);
    let (mut former, mut name, mut until) = (Vec::new(), path.to_string(), i64::MAX);
    while let Some(field) = fields.next() {
        let field = field.trim_start();
        if let Ok(seconds) = field.parse::<i64>() {
            until = seconds;
        } else if field.starts_with('R')
            && let (Some(old), Some(new)) = (fields.next(), fields.next())
            && new == name
        {
            name = old.into_owned();
            former.push(Former { path: name.clone(), until });
        }
    }
    former
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_are_a_chain_from_the_newest_name() {
        let printed = b"30\0\nR100\0lib/b.py\0src/b.py\0R100\0lib/c.py\0src/c.py\0\
                        20\0\nR091\0lib/12\0lib/b.py\0\
                        10\0\nR100\0x\0y\0R100\0cut\0lib/1";
        let former = renames(printed, "src/b.py");
        let expected = [("lib/b.py", 30), ("lib/12", 20)];
        let expected = expected.map(|(path, until)| Former { path: path.to_string(), until });
        assert_eq!(former, expected);
        assert_eq!(renames(b"R100\0a\0b\0", "b"), [Former { path: "a".to_string(), until: i64::MAX }]);
        assert!(renames(printed, "src").is_empty() && renames(b"", "a").is_empty());
    }
}
