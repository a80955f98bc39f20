//! What a search answers: plain data, ready to be shown or sent.

pub mod explain;
pub mod list;
pub mod pack;
pub mod representative;
pub mod results;
pub mod show;
pub mod snippet;
pub mod summary;
pub(crate) mod watch;

use std::ops::Range;
use std::path::PathBuf;

use colgrep_core::Unit;
use colgrep_index::ids::StableId;
use serde::{Deserialize, Serialize};

pub use crate::answer::explain::Step;
use crate::relations::around::Surroundings;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The question in words.
    pub query: String,
    /// The files, best first, those of several projects together.
    pub files: Vec<FileAnswer>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileAnswer {
    pub root: PathBuf,
    /// Its path from there, `/` between components.
    pub path: String,
    /// The path that was given to look in, and the file's path from that one (empty for the file itself).
    pub given: Option<(PathBuf, String)>,
    pub language: String,
    /// Its score: the best unit's. Comparable within one answer only.
    pub score: f32,
    /// How likely it is right, 0 to 1, on one scale for all questions and projects (docs/ranking.md, "Strength").
    pub strength: f32,
    /// Number of its matching units, if every match was requested.
    pub matches: u64,
    /// Its units, best first; without those that the file has no more.
    pub units: Vec<UnitAnswer>,
    /// How many of its other units match too: definitions and sections with half the score of the best.
    pub also_here: u64,
    /// Its current text on disk; empty where the file is gone, and with [`crate::Detail::Names`].
    pub text: String,
    /// The lines that match the pattern, from 1, where one was given.
    pub matching_lines: Option<Vec<u32>>,
    /// First and last line of all its ranked units that contain a word of the query, with [`crate::Detail::Relations`];
    /// `None` where a result is one unit.
    pub matched_lines: Option<(u32, u32)>,
    /// What it imports, with [`crate::Detail::Relations`].
    pub imports: Vec<String>,
    /// What lies around the best unit of a place's first file, with [`crate::Detail::Parts`].
    pub surroundings: Surroundings,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnitAnswer {
    /// The unit, as it was indexed.
    pub unit: Unit,
    /// Its name from one build of the index to the next.
    pub id: StableId,
    pub score: f32,
    /// The line that shows best why it answers; none with [`crate::Detail::Names`].
    pub line: BestLine,
    /// The number of the line with its name, with [`crate::Detail::Lines`].
    pub name_line: usize,
    /// The last of its lines that the file has now, with [`crate::Detail::Lines`].
    pub last_line: usize,
    /// First and last line of its parts, if it has members or imports and [`crate::Detail::Parts`] is requested: all lines
    /// but the members', except for their first lines, and imports.
    pub parts: Vec<(u32, u32)>,
    /// Qualified names of units that call it, of the first unit alone, with [`crate::Detail::Relations`].
    pub called_by: Vec<String>,
    /// The steps of its score, if requested.
    pub steps: Option<Vec<Step>>,
}

impl BestLine {
    /// The column, in bytes from 1, of the pattern's first match, else of the first word of the query; 1 without any.
    pub fn column(&self) -> usize {
        let places = self.matches.as_ref().unwrap_or(&self.marks);
        places.first().map_or(0, |place| place.start) + 1
    }
}

/// The line that shows best why a unit answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BestLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text; the first line of the signature where the file has no such line any more.
    pub text: String,
    /// Whether the text is in the file.
    pub is_in_file: bool,
    /// Byte ranges of the query's words in it, in order.
    pub marks: Vec<Range<usize>>,
    /// Where the pattern matches in it, where one was given.
    pub matches: Option<Vec<Range<usize>>>,
}
