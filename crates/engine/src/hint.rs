//! Errors that name a way out: a flag or a command for people, a tool or a parameter for agents.

use std::fmt;

/// What went wrong, with the way out in the words of the command line and in those of the server's tools.
#[derive(Debug)]
pub struct Hinted {
    /// What went wrong.
    pub what: String,
    /// The way out on the command line.
    pub shell: String,
    /// The way out by a tool.
    pub tool: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.shell)
    }
}

impl std::error::Error for Hinted {}
