//! First phase: the candidates that retrieval found for a query, before they have a score.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::bm25;
use crate::fuse::{Evidence, Ranking, Retriever};
use crate::knob::Knobs;
use crate::path::PathFacts;
use crate::query::intents::Pointer;
use crate::spelling::NameFit;
use crate::tag::Matched;
use crate::unit::{UnitId, UnitKind, UnitRole};

/// One unit that was retrieved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    pub unit: UnitId,
    /// Its file: a position in [`Retrieved::files`].
    pub file: usize,
    pub kind: UnitKind,
    /// Its role: definition, declaration, extension or test.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Its last line.
    pub end: u32,
    /// What the stage `order` needs to know of it; `None` unless it compares it.
    pub compared: Option<ComparedFacts>,
    /// Whether its name contains a content term of the query.
    pub name_hit: bool,
    /// How exactly its text holds the word or name that the query is.
    pub fit: NameFit,
    /// The query's pointer to it, by a line or by its text, if there is one.
    pub pointer: Option<Pointer>,
    /// Which of the caller's hints its tags match.
    pub hinted: Matched,
}

impl Candidate {
    /// Orders units of one file that have equal scores.
    pub fn tie_order(&self) -> (u32, UnitId) {
        (self.line, self.unit)
    }
}

/// Facts about a candidate that the stage `order` compares with others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComparedFacts {
    /// How much of the query's weight it contains, 0 to 1.
    pub held: f32,
    /// Number of names that it calls.
    pub calls: u32,
    /// Bytes of its documentation.
    pub documentation: u32,
}

/// A call from one compared candidate to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedCall {
    /// The candidate that calls: a position in [`Retrieved::candidates`].
    pub caller: usize,
    /// The candidate that it calls.
    pub callee: usize,
    /// Number of compared candidates that the call may mean.
    pub callees: u32,
}

/// A definition of a name in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDefinition {
    /// Which of [`Query::identifiers`](crate::query::Query::identifiers), or [`NamedDefinition::COMPOUND`].
    pub identifier: usize,
    /// The unit that defines it.
    pub unit: UnitId,
    pub kind: UnitKind,
    pub role: UnitRole,
    /// Whether the case agrees too.
    pub exact_case: bool,
}

impl NamedDefinition {
    /// The name is the whole query, a few plain words, written as one.
    pub const COMPOUND: usize = u32::MAX as usize;

    /// Whether its name is the query's words written as one.
    pub fn is_compound(&self) -> bool {
        self.identifier == NamedDefinition::COMPOUND
    }
}

/// Relation of a file to the reader's current one; empty if none is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Whether it is that file.
    pub itself: bool,
    /// 1 for the source of a test and, if tests are requested, for the test of a source.
    pub partner: f32,
    /// How far that file imports it, 0 to 1: the files that one import may mean share the 1.
    pub imported: f32,
    /// How far it imports that file, 0 to 1.
    pub importer: f32,
    /// How much it changed together with that file in past commits, 0 to 1, relative to the strongest.
    pub together: f32,
}

/// What the parts of a long query say about a file, 0 to 1 each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongFacts {
    /// Its score for the title as the query, as a share of the best.
    pub title: f32,
    /// How far the text names its path: files that one path means share.
    pub path: f32,
}

/// Facts about a file with candidates in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFacts {
    /// Prefix of its path in a corpus of several repositories: the repository's name and a `/`.
    pub repository: String,
    /// Relative path, `/` between components.
    pub path: String,
    /// Its position among all files of the corpus, by path.
    pub place: u32,
    /// Hash of its content; 0 if unknown.
    pub hash: u128,
    /// Facts from the path. A server shares them between its searches.
    pub path_facts: Arc<PathFacts>,
    /// Whether it is prose, configuration or data rather than code.
    pub is_text: bool,
    pub definitions: Vec<NamedDefinition>,
    /// Positions in [`Query::identifiers`](crate::query::Query::identifiers) of names that the text appears to define
    /// as types, found without a grammar.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words of the query that name one of n definitions, one of them here.
    pub word_definitions: f32,
    /// Σ idf · tf / (tf + 1.2) over pairs of neighbouring query terms within 8 tokens of each other here.
    pub near: f32,
    /// The same for pairs that are adjacent and in the query's order.
    pub adjacent: f32,
    /// How far the query names this file, 0 to 1: several files of one name share.
    pub mentioned: f32,
    /// Whether the query means it by its name, which other files may have too.
    pub meant: bool,
    /// 1 for a variant by platform or language that the query asks for, −1 for another.
    pub variant: f32,
    /// Its relation to the reader's current file.
    pub context: Context,
    /// How far past commits similar to the question changed it, 0 to 1, relative to the strongest; 0 without history.
    pub past: f32,
    /// What the parts of a long query say about it.
    pub long: LongFacts,
}

impl FileFacts {
    /// Its path with its repository as a prefix.
    pub fn whole_path(&self) -> String {
        [self.repository.as_str(), &self.path].concat()
    }
}

/// The candidates of one query, the retrievers' rankings of them, and facts about their files. Nothing here depends on
/// the knobs of the fusion and the stages, so one retrieval can be ranked under many settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieved {
    /// The units, in no particular order.
    pub candidates: Vec<Candidate>,
    pub files: Vec<FileFacts>,
    /// Number of files in the index.
    pub files_total: u64,
    /// Number of files with a term among their topic terms, for the query's topic terms and those of candidate files
    /// that share one with it.
    pub topic_frequency: FxHashMap<String, u64>,
    /// Whether the name that the query is occurs in the corpus, but in no unit that the search may return.
    pub lacks_name: bool,
    /// The retrievers' rankings of the units.
    pub rankings: Vec<Ranking>,
    /// The evidence that decides the retrievers' weights.
    pub evidence: Evidence,
    /// Calls among the candidates that the stage `order` compares.
    pub calls: Vec<ComparedCall>,
}

impl Retrieved {
    /// The ranking of a retriever, if it took part.
    pub fn ranking(&self, retriever: Retriever) -> Option<&Ranking> {
        self.rankings.iter().find(|ranking| ranking.retriever == retriever)
    }

    /// Doubt in the query's words, 0 to 1; 0 without a semantic ranking.
    pub fn doubt(&self, knobs: &Knobs) -> f32 {
        self.ranking(Retriever::Semantic).map_or(0.0, |_| self.evidence.doubt(knobs))
    }

    /// Inverse document frequency of a topic term over files.
    pub fn topic_idf(&self, term: &str) -> f32 {
        bm25::idf(self.files_total, self.topic_frequency.get(term).copied().unwrap_or(0))
    }

    /// `value(file)` scaled so that the lowest of these files is 0 and the highest 1; all 0 if they are equal.
    pub fn relative_per_file(&self, value: impl Fn(&FileFacts) -> f32) -> Vec<f32> {
        let values: Vec<f32> = self.files.iter().map(value).collect();
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = high - low;
        values.iter().map(|v| if range > 1e-9 { (v - low) / range } else { 0.0 }).collect()
    }
}
