//! Where the reader stands.

use serde::{Deserialize, Serialize};

/// The file where the reader stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Its path from the project's root, `/` between components, with what stands in front of the paths of its repository.
    /// It may be missing from the index.
    pub path: String,
    /// The line, from 1, where one is given.
    pub line: Option<u32>,
    /// Whether nothing but tests is wanted.
    pub tests_only: bool,
    /// Files that changed together with it in the past, the strongest first, with shares of the strongest.
    pub together: Vec<(String, f32)>,
}
