//! What a server remembers of paths from one search to the next.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use colgrep_core::path::PathFacts;

/// What is known of the paths of files that searches met: a server asks about the same ones again.
#[derive(Debug, Default)]
pub struct PathMemory(Mutex<HashMap<String, PathFacts>>);

impl PathMemory {
    /// The facts of a path, from memory or as `read` gives them.
    pub(crate) fn facts(&self, path: &str, read: impl FnOnce() -> PathFacts) -> PathFacts {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known.get(path) {
            return facts.clone();
        }
        let facts = read();
        known.insert(path.to_string(), facts.clone());
        facts
    }
}
