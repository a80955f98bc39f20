//! What shards exchange with a coordinator at the start of a search, and the values in answers.

use colgrep_core::bm25::Bm25;
use colgrep_core::query::Query;
use colgrep_core::{UnitId, UnitKind, UnitRole};
use colgrep_encoder::Multivector;
use serde::{Deserialize, Serialize};

pub use colgrep_core::statistics::{Statistics, TermCount};
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::vector::Effort;

/// The input of a search in a shard. Another process receives
/// [`QueryParts`](colgrep_core::query::QueryParts) and builds the query from them.
#[derive(Clone, Copy, Debug)]
pub struct ShardQuery<'a> {
    /// The query, parsed for the whole corpus.
    pub query: &'a Query,
    /// Constants of the lexical ranking.
    pub bm25: Bm25,
    /// The query's vectors, for a semantic search.
    pub vectors: Option<QueryVectors<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct QueryVectors<'a> {
    pub question: &'a Multivector,
    /// The model's fingerprint. A shard with vectors of another model ranks only by words.
    pub fingerprint: u64,
    /// Bounds of the search through vectors.
    pub effort: Effort,
}

/// What a remote shard sends at the start of a search: the answers to the first rounds of every search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShardOverview {
    /// The counts of the shard.
    pub statistics: Statistics,
    /// Units that the semantic search may return.
    pub reach: Reach,
}

/// The units that the semantic search may return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Their number: if they were looked up, those with vectors.
    pub units: u64,
    /// True if the vectors of each unit were looked up; false if there are too many units for that.
    pub is_placed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardExtent {
    /// The repositories, in file order. Each is a range of files by path that no other shard has files in.
    pub repositories: Vec<RepositoryExtent>,
    /// Number of file places, including skipped files.
    pub places: u32,
    /// Live documents of the index: units and files.
    pub documents: u64,
    /// Segments of the index. The address of a unit names one of them.
    pub segments: u32,
    /// True if a filter restricts the answers.
    pub is_filtered: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryExtent {
    /// The prefix of all its paths, with a trailing `/`. Repositories are sorted by it. Empty for a single repository.
    pub front: String,
    pub first: FilePlace,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitFound {
    #[serde(with = "address")]
    pub unit: UnitId,
    pub file: FilePlace,
    pub kind: UnitKind,
    /// How it relates to its name.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Its last line.
    pub end: u32,
    /// Its score, or 0 if the round computes none.
    pub score: f32,
}

impl UnitFound {
    /// Best first; ties by file, line and address.
    pub fn by_score(&self, other: &UnitFound) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.place().cmp(&other.place()))
    }

    /// The sort key of units with equal scores.
    pub fn place(&self) -> (FilePlace, u32, UnitId) {
        (self.file, self.line, self.unit)
    }
}

/// The last of the best texts: its score, and its hash, which orders texts with equal scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextCutoff {
    pub score: f32,
    pub hash: TextHash,
}

impl TextCutoff {
    /// The bar that all texts with this score reach.
    pub fn of_all(score: f32) -> TextCutoff {
        TextCutoff { score, hash: TextHash::LAST }
    }

    /// True if a text is as good or better.
    pub fn lets(&self, score: f32, hash: TextHash) -> bool {
        score.total_cmp(&self.score).then_with(|| self.hash.cmp(&hash)).is_ge()
    }
}

/// Encodes an address as two small numbers; as one, any segment above 0 would take as many bytes as a large number.
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
