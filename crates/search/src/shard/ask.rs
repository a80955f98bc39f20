//! The questions of the rounds, and their answers.

use colgrep_core::literal_match::{Agreement, LiteralMatch, PastedText};
use colgrep_core::rank::NamedDefinition;
use colgrep_core::{UnitId, UnitKind, UnitRole};
use colgrep_encoder::Multivector;
use serde::{Deserialize, Serialize};

pub use colgrep_core::rank::Context;
pub use colgrep_core::statistics::{Statistics, TermCount};

use super::texts::Outline;
use crate::near::Near;
use colgrep_index::ids::FilePlace;
use colgrep_index::vector::Effort;

/// What a shard holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Its repositories, in the order of their files: each a run of files by path among which no other shard has one.
    pub repositories: Vec<Repository>,
    /// Number of places of files, those of skipped files too.
    pub places: u32,
    /// Documents of the index: units and files, those that are gone not.
    pub documents: u64,
    /// Segments of the index: addresses of units name one of them.
    pub segments: u32,
    /// Whether a filter decides what it gives.
    pub is_filtered: bool,
}

/// A repository of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// What stands in front of all of its paths, `/` at its end: repositories are in order of it. Empty for a lone one.
    pub front: String,
    /// The place of its first file.
    pub first: FilePlace,
}

/// A unit, as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitFound {
    /// Its address.
    #[serde(with = "address")]
    pub unit: UnitId,
    /// Its file.
    pub file: FilePlace,
    /// What it is.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Its score; 0 where none was asked for.
    pub score: f32,
}

impl UnitFound {
    /// Best first; ties by file, line and address.
    pub fn by_score(&self, other: &UnitFound) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.place().cmp(&other.place()))
    }

    /// What orders units of equal scores.
    pub fn place(&self) -> (FilePlace, u32, UnitId) {
        (self.file, self.line, self.unit)
    }
}

/// An address as two small numbers: as one, it takes the room of the larger.
mod address {
    use colgrep_core::UnitId;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub fn serialize<S: Serializer>(unit: &UnitId, serializer: S) -> Result<S::Ok, S::Error> {
        (unit.segment(), unit.doc()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UnitId, D::Error> {
        let (segment, doc) = <(u32, u32)>::deserialize(deserializer)?;
        Ok(UnitId::new(segment, doc))
    }
}

/// The question's vectors.
#[derive(Clone, Copy, Debug)]
pub struct Meant<'a> {
    /// The vectors.
    pub question: &'a Multivector,
    /// The model's fingerprint: a shard whose vectors are of another has none.
    pub fingerprint: u64,
    /// Bounds of the search through vectors.
    pub effort: Effort,
}

/// Question for candidates.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CandidatesAsked<'a> {
    /// The sum of all shards' statistics.
    pub statistics: &'a Statistics,
    /// Units, at most.
    pub units_max: usize,
    /// Files in which they are to lie: where the best lie in fewer, the best unit of each next file is given too.
    pub files_min: usize,
    /// Files that answer by name, at most.
    pub named_max: usize,
    /// Whether the units' scores are told in outline first ([`Words::best`](super::Words::best) gives the units): few of
    /// each shard's best are among the best of all.
    pub in_outline: bool,
}

/// The candidates of a shard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CandidatesFound {
    /// Units by words, best first; none where they are told in outline.
    pub units: Vec<UnitFound>,
    /// Their scores in outline, where that is asked for.
    pub outline: Outline,
    /// Files that answer best by name or definition, best first.
    pub named: Vec<Named>,
}

/// A file that answers by name or definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The file.
    pub file: FilePlace,
    /// How well.
    pub weight: f32,
    /// Where the whole query is one name: the allowed units that define it there.
    pub definitions: Vec<UnitId>,
}

/// Units that were asked for, scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Those of files, at most one a file, in their order.
    pub of_files: Vec<UnitFound>,
    /// Those that were named.
    pub units: Vec<UnitFound>,
}

/// Question for facts of candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FactsAsked {
    /// Files with candidates, ascending.
    pub files: Vec<FilePlace>,
    /// Candidates.
    pub units: Vec<UnitId>,
    /// For each pair of neighbouring terms, one in how many files is looked into to learn in how many files it stands: a
    /// power of two.
    pub parts: Vec<u32>,
}

/// Facts of candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FactsFound {
    /// Of each of the files, in their order.
    pub files: Vec<FileFound>,
    /// Of each of the units, whether a content term of the query stands in its name.
    pub name_hits: Vec<bool>,
    /// For each pair, in how many files of the sample it stands: near each other, and side by side.
    pub pairs: Vec<(u64, u64)>,
}

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFound {
    /// [`Repository::front`] of its repository. Whoever knows the file's place knows it, so no message holds it.
    #[serde(skip)]
    pub front: String,
    /// Its path from there.
    pub path: String,
    /// Its language.
    pub language: String,
    /// Whether a program wrote it.
    pub is_generated: bool,
    /// Definitions of names that the query holds.
    pub definitions: Vec<NamedDefinition>,
    /// Positions of the query's names that its text defines as types.
    pub textual_types: Vec<u32>,
    /// The highest 1/√n among plain words of the query that name one of n definitions, one of them here.
    pub word_definitions: f32,
    /// For each pair, how often it stands here: near each other, and side by side.
    pub pairs: Vec<(u32, u32)>,
}

/// Question for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocateAsked {
    /// Written paths.
    pub paths: Vec<String>,
    /// Words that files may be called.
    pub names: Vec<String>,
    /// A text in which names with spaces may stand.
    pub text: String,
}

/// Files that are meant. Of each list that is longer than a name may mean, only the first ones are given: one more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocateFound {
    /// For each path, how many of its last components the best of the allowed files share, and these.
    pub paths: Vec<(u32, Vec<FileMeant>)>,
    /// For each name its files.
    pub names: Vec<Vec<FileMeant>>,
    /// Names with spaces that stand in the text, with their files.
    pub spelled: Vec<(String, Vec<FileMeant>)>,
}

/// A file that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeant {
    /// The file.
    pub file: FilePlace,
    /// Whether its whole path was written.
    pub is_exact: bool,
    /// Whether the filter allows it.
    pub is_allowed: bool,
}

/// Question for definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionsAsked {
    /// Their name.
    pub name: String,
    /// What encloses them, as written.
    pub owner: Option<String>,
    /// A keyword in front of the name.
    pub keyword: Option<String>,
    /// Definitions, at most.
    pub max: Option<usize>,
}

/// A definition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefinitionFound {
    /// The unit.
    pub unit: UnitFound,
    /// Whether it is really called so: the index compares short hashes.
    pub is_named: bool,
    /// Whether the owner encloses it.
    pub is_owned: bool,
    /// Whether the keyword stands in front of its name.
    pub is_announced: bool,
    /// Whether its file is prose, data, a test, benchmark or example, or vendored.
    pub is_aside: bool,
}

/// In how many units and files a term stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderCount {
    /// Units, for each field ([`TermCount::in_field`]).
    pub units: TermCount,
    /// Files.
    pub files: u64,
}

/// Question for files that hold terms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoldingAsked {
    /// The terms with their weights.
    pub terms: Vec<(String, f32)>,
    /// The least weight of all that a file holds.
    pub least: f32,
    /// Files, at most.
    pub files_max: usize,
}

/// What is looked for in the texts of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Look {
    /// A text as typed, or a run of its words.
    Typed {
        /// The text.
        text: String,
        /// The weight of each of its words.
        weights: Vec<f32>,
    },
    /// Lines of code that announce a name with one of some keywords, or bind a function to it.
    Announces {
        /// The name.
        name: String,
        /// The keywords.
        keywords: Vec<String>,
    },
    /// Lines that call it.
    Calls(String),
    /// A name in any spelling, or another text in any case.
    Spelled(String),
}

impl Look {
    /// A text as typed, each word of which weighs the same.
    pub fn typed(text: &str) -> Look {
        Look::Typed { text: text.to_string(), weights: PastedText::new(text, |_| 1.0).weights().to_vec() }
    }
}

/// What was seen in a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// On which line.
    pub line: u32,
    /// How the text stands there, where one was looked for.
    pub standing: Option<LiteralMatch>,
    /// Whether the file is prose, configuration or data.
    pub is_text: bool,
    /// Whether it is that, or of no known language and no program, or a test, benchmark or example, or vendored.
    pub is_aside: bool,
    /// Whether the name that was looked for in any spelling is made of whole parts of an identifier.
    pub is_cut: bool,
}

impl Seen {
    /// Whether all words of the text that was looked for stand there.
    pub fn holds_all(&self) -> bool {
        self.standing.is_some_and(|standing| standing.agreement >= Agreement::Words)
    }
}

/// Which line of a unit is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineOf {
    /// The one that names it.
    Name(String),
    /// The one that calls a name, else one that uses it.
    Call(String),
    /// The one that declares a member of a type; 0 where none does.
    Member(String),
}

/// Question for files near the reader.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ContextsAsked<'a> {
    /// Where the reader stands.
    pub near: &'a Near,
    /// Whether tests are wanted.
    pub wants_tests: bool,
}
