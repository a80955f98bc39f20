//! A server's cache of path facts between searches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use colgrep_core::path::PathFacts;

/// Facts about the paths of files that searches met, since a server often meets the same ones.
#[derive(Debug, Default)]
pub struct PathMemory(Mutex<HashMap<String, Arc<PathFacts>>>);

impl PathMemory {
    /// The facts of a path, from memory or from `read`.
    pub fn facts(&self, path: &str, read: impl FnOnce() -> PathFacts) -> Arc<PathFacts> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known.get(path) {
            return Arc::clone(facts);
        }
        let facts = Arc::new(read());
        known.insert(path.to_string(), Arc::clone(&facts));
        facts
    }
}
