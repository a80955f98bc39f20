//! The former names of a file, and the entries of its history under them.

use std::collections::HashSet;
use std::fmt;
use std::time::{Duration, Instant};

use colgrep_core::UnitId;

use super::OpenHistory;
use super::paths::PathLimit;
use crate::error::Result;

/// Time limit for git to find the earlier names of all files of a question.
const TIME_MAX: Duration = Duration::from_secs(1);

/// A file that had other names before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The file, as it was written.
    pub path: String,
    /// Its names before, from the project's root, the newest first.
    pub names: Vec<String>,
}

impl fmt::Display for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = if self.names.len() == 1 { "name" } else { "names" };
        write!(f, "{} was looked for under its earlier {names} too: {}", self.path, self.names.join(", "))
    }
}

impl OpenHistory {
    /// Adds the entries of a file's former names, limited to the time when it had them, and returns these names.
    /// `is_new` says that no entry has its current name, and `begun` when the first file's names were asked for.
    pub(super) fn add_earlier(
        &self,
        asked: &PathLimit,
        is_new: bool,
        begun: Instant,
        keys: &mut HashSet<UnitId>,
    ) -> Result<Option<Earlier>> {
        let time = TIME_MAX.saturating_sub(begun.elapsed());
        // Of a folder, git knows no earlier name.
        let is_file = !asked.path.is_empty() && !asked.top.join(&asked.path).is_dir();
        if !is_file || time.is_zero() || !self.place.is_repository() {
            return Ok(None);
        }
        let mut names = Vec::new();
        for former in self.place.git(&asked.top).former(&asked.path, is_new, time) {
            let hits = self.snapshot.lexical.mentioning(&former.path)?;
            let before = keys.len();
            keys.extend(hits.iter().filter(|hit| hit.time.seconds() <= former.until).map(|hit| hit.key));
            if keys.len() > before {
                names.push(self.place.in_project(&former.path).unwrap_or(former.path));
            }
        }
        Ok((!names.is_empty()).then(|| Earlier { path: asked.written.clone(), names }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_names_are_told_in_one_line() {
        let told = |names: &[&str]| {
            let names = names.iter().map(ToString::to_string).collect();
            Earlier { path: "c.rs".to_string(), names }.to_string()
        };
        assert_eq!(told(&["b.rs"]), "c.rs was looked for under its earlier name too: b.rs");
        assert_eq!(told(&["b.rs", "a.rs"]), "c.rs was looked for under its earlier names too: b.rs, a.rs");
    }
}
