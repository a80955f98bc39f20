//! Requests that can't be answered as they are. What to do about it is said by whoever asked, in their own words.

use std::fmt;
use std::path::PathBuf;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// No language and no type of the settings has that name.
    Type {
        /// The name given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A pattern is not valid. What is wrong with it is the source of the error.
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// A term table is none: what is wrong with the file is what the error says beside this.
    Terms {
        /// The name or path given.
        given: PathBuf,
        /// Whether there is no such table and no such file.
        missing: bool,
    },
    /// A file is not indexed.
    NotIndexed {
        /// The project's root.
        root: PathBuf,
        /// The path from there.
        path: String,
    },
    /// No unit has that id.
    NoUnitWith {
        /// The id.
        id: String,
    },
    /// No unit of a file is on that line.
    NoUnit {
        /// The project's root.
        root: PathBuf,
        /// The path from there.
        path: String,
        /// The line.
        line: u32,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Type { name, .. } => {
                write!(f, "{name:?} is no language known here, nor a type of the settings")
            }
            Refused::Pattern { pattern } => write!(f, "{pattern:?} is no valid pattern"),
            Refused::Terms { given, missing: true } => {
                write!(f, "there is no table of terms and no file {}", given.display())
            }
            Refused::Terms { given, missing: false } => write!(f, "{} is no table of terms", given.display()),
            Refused::NoUnitWith { id } => write!(f, "no unit has the id {id}"),
            Refused::NotIndexed { path, .. } => write!(f, "{path} is not indexed"),
            Refused::NoUnit { path, line, .. } => write!(f, "{path} has no unit on line {line}"),
        }
    }
}

impl std::error::Error for Refused {}
