//! The messages: hello, the beginning of a search, the questions of its rounds, what is to be shown.
//!
//! A connection is greeted once. Then one search follows the other on it: [`Question::Begin`] says whose search it is and
//! where it looks, [`Question::Ask`] what is asked, and the rounds follow. The answer to a question is a byte, whether it is
//! one, and the answer or a [`Failure`].

use std::collections::{BTreeMap, HashSet};

use colgrep_core::bm25::Bm25;
use colgrep_core::query::QueryParts;
use colgrep_encoder::Multivector;
use colgrep_engine::Scope;
use colgrep_engine::answer::show::ShowAsked;
use colgrep_engine::answer::summary::EndAsked;
use colgrep_index::vector::Effort;
use colgrep_search::rounds::RoundRequest;
use colgrep_search::shard::{Extent, QueryVectors};
use serde::{Deserialize, Serialize};

/// The first bytes of a hello.
pub const MAGIC: [u8; 8] = *b"colgrep\x01";
/// Version of the messages: raised with every change of one that is released. Another one is refused, with both numbers.
pub const VERSION: u32 = 8;

/// The first message of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// The server's token, where it has one.
    pub token: Option<String>,
}

/// The answer to a hello.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// A number of what is served: another one after each change.
    pub generation: u64,
    /// The names of the repositories.
    pub repositories: Vec<String>,
    /// The names of those that it was told to serve and can't.
    pub unserved: Vec<String>,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// Another program, or another version of this one.
    Version(u32),
    /// The token is missing or wrong.
    Token,
    /// As many connections are open as may be.
    Full,
    /// The request can't be answered as it is.
    Request(String),
    /// Nothing can be read, or the question does not fit what was asked before.
    Broken(String),
}

/// The beginning of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Begin {
    /// The repositories that the caller may see; all where nothing limits it. Nothing of another one is counted.
    pub allowed: Option<Vec<String>>,
    /// Paths to look in: repository, and path from its root; everything where there is none.
    pub below: Vec<(String, String)>,
    /// The rest of the scope.
    pub scope: Scope,
    /// Terms of which [`Begun::names`] says whether they are names.
    pub terms: Vec<String>,
    /// The fingerprint of the question's model, where meaning takes part.
    pub model: Option<u64>,
}

impl Begin {
    /// Whether the caller may see a repository.
    pub fn allows(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|names| names.iter().any(|own| own == name))
    }

    /// The same for a shard that has these repositories: it is not told which others the caller may see.
    pub fn told_to(&self, own: &[String]) -> Begin {
        let own: HashSet<&String> = own.iter().collect();
        let mut begin = self.clone();
        begin.allowed.iter_mut().for_each(|names| names.retain(|name| own.contains(name)));
        begin
    }

    /// Whether the search is about a repository: the caller may see it, and wants to look there.
    pub fn wants(&self, name: &str) -> bool {
        self.allows(name) && (self.below.is_empty() || self.below.iter().any(|(own, _)| own == name))
    }
}

/// What a search begins with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Begun {
    /// [`Welcome::generation`].
    pub generation: u64,
    /// The extent of the repositories that are searched.
    pub extent: Extent,
    /// Whether each of the terms is a name.
    pub names: Vec<bool>,
    /// Whether a repository has no vectors of the model.
    pub lacks: bool,
    /// Repositories in which the search would look too, and that can't be served: their names, each with the reason.
    pub unserved: Vec<(String, String)>,
    /// Repositories that are searched, and whose indexes do not know all of them yet.
    pub partial: Vec<(String, Known)>,
}

/// How much of a repository its index knows, where that is not all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The files, where it does not know all of them as they are now.
    pub files: Option<KnownFiles>,
    /// Its units.
    pub units: u64,
    /// Units whose vectors are not there yet.
    pub units_without_vectors: u64,
}

/// How many files an index knows as they are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFiles {
    /// So many.
    pub known: u64,
    /// Of so many, where that is known.
    pub in_tree: Option<u64>,
}

impl Known {
    /// Whether it is all.
    pub fn is_all(&self) -> bool {
        self.files.is_none() && self.units_without_vectors == 0
    }
}

/// A repository that a shard serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedRepository {
    /// Its name.
    pub name: String,
    /// Its files that are indexed.
    pub files: u64,
    /// Their units.
    pub units: u64,
    /// Units whose vectors are not there yet; 0 where its index is to keep none.
    pub units_without_vectors: u64,
    /// How many files its index knows as they are now, where these are not all.
    pub known_files: Option<KnownFiles>,
    /// Its languages, with the number of files of each.
    pub languages: BTreeMap<String, u64>,
    /// Why it is not served, where it is not.
    pub missing: Option<String>,
}

/// What a search looks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireQuery {
    /// The parts of the query that shards look up.
    pub query: QueryParts,
    /// Constants of the ranking by words.
    pub bm25: Bm25,
    /// The query's vectors.
    pub vectors: Option<WireVectors>,
}

/// The query's vectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireVectors {
    /// Components of a row.
    pub dimension: u32,
    /// Number of rows that are heads.
    pub heads: u32,
    /// The rows.
    pub values: Vec<f32>,
    /// The model's fingerprint.
    pub fingerprint: u64,
    /// Bounds of the search.
    pub effort: Effort,
}

impl WireVectors {
    /// Packs vectors.
    pub fn new(vectors: &QueryVectors<'_>) -> WireVectors {
        WireVectors {
            dimension: vectors.question.dimension() as u32,
            heads: vectors.question.heads() as u32,
            values: vectors.question.values().to_vec(),
            fingerprint: vectors.fingerprint,
            effort: vectors.effort,
        }
    }

    /// The vectors; `None` if the numbers contradict each other.
    pub fn question(&self) -> Option<Multivector> {
        let (dimension, heads) = (self.dimension as usize, self.heads as usize);
        let rows = self.values.len().checked_div(dimension)?;
        let fits = rows * dimension == self.values.len() && (rows == 0 || heads <= rows);
        fits.then(|| Multivector::from_values(dimension, heads, self.values.clone()))
    }
}

/// A question with the depth of its search. A search may run another one on its way (the title of a long query), so searches
/// nest: depth 0 means none, 1 the outermost. A question ends the searches that are nested deeper.
pub type Put = (u8, Question);

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Question {
    /// Begins a session. It ends an earlier one on the same connection. The answer is [`Begun`].
    Begin(Box<Begin>),
    /// Ends the session. Has no answer.
    Done,
    /// Starts the search of this depth. The answer is a [`ShardOverview`](colgrep_search::shard::ShardOverview).
    Search(Box<WireQuery>),
    /// A round of the search. The answer is that of the round.
    Round(RoundRequest),
    /// Whether a term is a name. The answer is a `bool`.
    IsName(String),
    /// What to show of ranked files. The answer is a list of `FileAnswer`s.
    Show(Box<ShowAsked>),
    /// The remarks after the last result. The answer is an `EndFound`.
    End(Box<EndAsked>),
    /// The text of a file: repository, and path from its root. The answer is a `String`.
    Read(String, String),
    /// The repositories that the caller may see. The answer is a list of [`ServedRepository`]s.
    Served,
}

impl Question {
    /// The name under which traffic is counted.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Begin(_) => "begin",
            Question::Done => "done",
            Question::Search(_) => "ask",
            Question::Round(round) => round.name(),
            Question::IsName(_) => "is_name",
            Question::Show(_) => "show",
            Question::End(_) => "end",
            Question::Read(..) => "read",
            Question::Served => "served",
        }
    }
}
