//! First phase: what retrieval brings of one query, before any score is given.

use std::collections::HashMap;

use crate::bm25;
use crate::clue::Pointer;
use crate::fuse::{Evidence, Ranking};
use crate::path::PathFacts;
use crate::tag::Matched;
use crate::unit::{UnitId, UnitKind, UnitRole};

/// One unit that was retrieved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// The unit.
    pub unit: UnitId,
    /// Its file: a position in [`Retrieved::files`].
    pub file: usize,
    /// What it is.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Whether a content term of the query stands in its name.
    pub name_hit: bool,
    /// How the query points at it, beside its words.
    pub pointer: Option<Pointer>,
    /// Which of the caller's hints its tags meet.
    pub hinted: Matched,
}

impl Candidate {
    /// Orders units of one file that have equal scores.
    pub fn tie_order(&self) -> (u32, UnitId) {
        (self.line, self.unit)
    }
}

/// A definition of a name that the query holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDefinition {
    /// Which of [`Query::identifiers`](crate::query::Query::identifiers).
    pub identifier: usize,
    /// The unit that defines it.
    pub unit: UnitId,
    /// What defines it.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Whether upper and lower case agree too.
    pub exact_case: bool,
}

/// How a file stands to the one where the reader is: nothing, where the reader says of none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Context {
    /// It is that file.
    pub itself: bool,
    /// 1 for what a test tests, and, where tests are asked for, for what tests a source.
    pub partner: f32,
    /// How far that file imports it, 0 to 1: the files that one import may mean share.
    pub imported: f32,
    /// How far it imports that file, 0 to 1.
    pub importer: f32,
    /// How much it changed together with that file in the past, in shares of the strongest.
    pub together: f32,
}

/// What is known of a file with candidates in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFacts {
    /// Relative path, `/` between components.
    pub path: String,
    /// What the path tells.
    pub path_facts: PathFacts,
    /// Whether it is prose, configuration or data rather than code.
    pub is_text: bool,
    /// Definitions of names that the query holds.
    pub definitions: Vec<NamedDefinition>,
    /// Identifiers of the query that the text defines as types in ways no grammar needs to understand.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words of the query that name one of n definitions, one of them here.
    pub word_definitions: f32,
    /// Σ idf · tf / (tf + 1.2) over neighbouring query terms that stand within 8 tokens here.
    pub near: f32,
    /// The same for terms that stand side by side in the query's order.
    pub adjacent: f32,
    /// How far the query names this file, 0 to 1: several files of one name share.
    pub mentioned: f32,
    /// How it stands to the file where the reader is.
    pub context: Context,
    /// How far past commits like the question changed it, in shares of the strongest; 0 where nobody looked.
    pub past: f32,
}

/// The candidates of one query, the retrievers' rankings of them, and what is known of their files. Nothing here
/// depends on the knobs of the fusion and the stages, so one retrieval can be ranked under many settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieved {
    /// The units, in no particular order.
    pub candidates: Vec<Candidate>,
    /// Their files.
    pub files: Vec<FileFacts>,
    /// Number of files in the index.
    pub files_total: u64,
    /// In how many files' topics a term stands (terms of these files' topics and of the query).
    pub topic_frequency: HashMap<String, u64>,
    /// The retrievers' rankings of the units.
    pub rankings: Vec<Ranking>,
    /// What decides the retrievers' weights.
    pub evidence: Evidence,
}

impl Retrieved {
    /// Inverse document frequency of a topic term over files.
    pub fn topic_idf(&self, term: &str) -> f32 {
        bm25::idf(self.files_total, self.topic_frequency.get(term).copied().unwrap_or(0))
    }

    /// `value(file)` scaled so that the lowest of these files is 0 and the highest 1; all 0 where they are equal.
    pub fn relative_per_file(&self, value: impl Fn(&FileFacts) -> f32) -> Vec<f32> {
        let values: Vec<f32> = self.files.iter().map(value).collect();
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = high - low;
        values.iter().map(|v| if range > 1e-9 { (v - low) / range } else { 0.0 }).collect()
    }
}
