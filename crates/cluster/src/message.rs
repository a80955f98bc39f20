//! The messages between a coordinator and a shard.
//!
//! A connection starts with a [`Hello`], a [`Challenge`] and a [`Credential`]. Sessions follow, one after another: [`WireQuestion::Begin`] says what the caller
//! may see and where to look, [`WireQuestion::Search`] what to search, and the rounds follow. The answer to a question is a
//! result in postcard: the answer or a [`WireFailure`].

use std::collections::{BTreeMap, HashSet};

use colgrep_core::bm25::Bm25;
use colgrep_core::query::QueryParts;
use colgrep_encoder::Multivector;
use colgrep_engine::Scope;
use colgrep_engine::answer::show::ShowAsked;
use colgrep_engine::answer::summary::EndAsked;
use colgrep_index::vector::Effort;
use colgrep_search::rounds::RoundRequest;
use colgrep_search::shard::{QueryVectors, ShardExtent};
use serde::{Deserialize, Serialize};

use crate::handshake::{Nonce, Proof};

/// The first bytes of a hello.
pub const MAGIC: [u8; 8] = *b"colgrep\x01";
/// Version of the messages, raised with every change of a released one but new fields of a scope. Other versions are
/// rejected.
pub const VERSION: u32 = 16;

/// The first message of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub magic: [u8; 8],
    pub version: u32,
    /// The client's random number.
    pub nonce: Nonce,
}

/// The answer to a hello.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Challenge {
    /// The server's random number.
    pub nonce: Nonce,
    /// The server's proof of each of its tokens; none if it has none.
    pub proofs: Vec<Proof>,
}

/// The answer to a challenge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Credential {
    /// The client's proof, if it has a token.
    pub proof: Option<Proof>,
}

/// The answer to a credential.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Identifies the state of the indexes.
    pub generation: u64,
    /// The names of the served repositories.
    pub repositories: Vec<String>,
    /// For each of them, when its index was written, in milliseconds since 1970.
    pub written_ms: Vec<u64>,
    /// The names of those whose index can't be updated for want of room on the disk.
    pub no_room: Vec<String>,
    /// The names of those whose newest index could not be fetched.
    pub not_fetched: Vec<String>,
    /// The names of configured repositories that can't be served.
    pub unserved: Vec<String>,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireFailure {
    /// The client is another program, or another version of this one.
    Version(u32),
    /// The token is missing or wrong.
    Token,
    /// The maximum number of connections is open.
    Full,
    Request(String),
    /// The index can't be read, or the question does not fit the previous ones.
    Broken(String),
}

/// The start of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Begin {
    /// The repositories that the caller may see; all if `None`. Others are not even counted.
    pub allowed: Option<Vec<String>>,
    /// Paths to search: repository, and path from its root; everything if empty.
    pub below: Vec<(String, String)>,
    /// The rest of the scope.
    #[serde(with = "scope_json")]
    pub scope: Scope,
    /// Terms for [`Begun::names`].
    pub terms: Vec<String>,
    /// The fingerprint of the query's model, if meaning takes part.
    pub model: Option<u64>,
}

/// A scope as JSON, without fields that have their default. A new field needs no new [`VERSION`]: older shards refuse
/// only the searches that use it.
mod scope_json {
    use colgrep_engine::Scope;
    use serde::{Deserialize as _, Deserializer, Serializer, de, ser};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(scope: &Scope, serializer: S) -> Result<S::Ok, S::Error> {
        let json = |scope: &Scope| serde_json::to_value(scope).map_err(<S::Error as ser::Error>::custom);
        let (mut given, defaults) = (json(scope)?, json(&Scope::default())?);
        if let Value::Object(fields) = &mut given {
            fields.retain(|name, value| defaults[name.as_str()] != *value);
        }
        serializer.serialize_str(&given.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scope, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(de::Error::custom)
    }
}

impl Begin {
    /// True if the caller may see a repository.
    pub fn allows(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|names| names.iter().any(|own| own == name))
    }

    /// Reduces the list of allowed repositories to those of a shard, so that it doesn't learn about others.
    pub fn told_to(&self, own: &[String]) -> Begin {
        let own: HashSet<&String> = own.iter().collect();
        let mut begin = self.clone();
        begin.allowed.iter_mut().for_each(|names| names.retain(|name| own.contains(name)));
        begin
    }

    /// The same session without some repositories. `own` are the repositories of the shard that it is for.
    pub fn without(&self, names: &[String], own: impl Iterator<Item = String>) -> Begin {
        let rest = own.filter(|name| self.allows(name) && !names.contains(name)).collect();
        Begin { allowed: Some(rest), ..self.clone() }
    }

    /// True if a repository is searched: the caller may see it, and the paths include it.
    pub fn wants(&self, name: &str) -> bool {
        self.allows(name)
            && (self.below.is_empty() || self.below.iter().any(|(own, _)| own == name))
            && !self.scope.repositories_not.iter().any(|own| own == name)
    }
}

/// The state of a session at its start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Begun {
    pub generation: u64,
    /// The extent of the searched repositories.
    pub extent: ShardExtent,
    /// For each of [`Begin::terms`], whether it is a name.
    pub names: Vec<bool>,
    /// True if a repository lacks vectors of the model.
    pub lacks: bool,
    /// Repositories that would be searched but can't be served, each with the reason.
    pub unserved: Vec<(String, String)>,
    /// Searched repositories with incomplete indexes.
    pub partial: Vec<(String, IndexProgress)>,
    /// When the index of each searched repository was written, in milliseconds since 1970.
    pub written_ms: Vec<(String, u64)>,
}

impl Begun {
    /// The names of the searched repositories.
    pub fn names_served(&self) -> impl Iterator<Item = &str> {
        self.extent.repositories.iter().filter_map(|one| one.front.strip_suffix('/'))
    }

    /// True if a repository of this name is searched.
    pub fn serves(&self, name: &str) -> bool {
        self.names_served().any(|own| own == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexProgress {
    /// The files, if not all are indexed as they are now.
    pub files: Option<FileProgress>,
    pub units: u64,
    /// Number of units without vectors so far.
    pub units_without_vectors: u64,
    /// True if the index can't be updated for want of room on the disk.
    pub has_no_room: bool,
    /// True if the newest index could not be fetched.
    pub is_not_fetched: bool,
}

/// How many files are indexed as they are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProgress {
    /// Their number.
    pub known: u64,
    /// Number of files in the tree, if known.
    pub in_tree: Option<u64>,
}

impl IndexProgress {
    /// True if the index is complete.
    pub fn is_all(&self) -> bool {
        self.files.is_none() && self.units_without_vectors == 0 && !self.has_no_room && !self.is_not_fetched
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedRepository {
    pub name: String,
    /// When its index was written, in milliseconds since 1970; 0 if unknown.
    pub written_ms: u64,
    /// Number of indexed files.
    pub files: u64,
    pub units: u64,
    /// Number of units without vectors; 0 if the index is not meant to have vectors.
    pub units_without_vectors: u64,
    /// How many files are indexed as they are now, if not all are.
    pub known_files: Option<FileProgress>,
    /// True if its index can't be updated for want of room on the disk.
    pub has_no_room: bool,
    /// True if its newest index could not be fetched.
    pub is_not_fetched: bool,
    /// Number of files in each language.
    pub languages: BTreeMap<String, u64>,
    /// Why it is not served, if it isn't.
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
pub type Put = (u8, WireQuestion);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum WireQuestion {
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
    /// The lines of the session's scope, up to this many: those that its pattern matches, else one of each unit. The answer is [`LinesFound`].
    Lines(u32),
}

/// Maximum number of lines in an answer.
pub const LINES_MAX: u32 = 5_000;

/// A line that a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineFound {
    /// The path of its file, from the name of the repository.
    pub path: String,
    /// Its number, from 1.
    pub line: u32,
    /// Its text; long lines are cut.
    pub text: String,
}

/// Lines that a pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesFound {
    /// The lines, by repository, path and number.
    pub lines: Vec<LineFound>,
    /// True if there are more.
    pub is_cut: bool,
}

impl WireQuestion {
    /// The name under which traffic is counted.
    pub fn name(&self) -> &'static str {
        match self {
            WireQuestion::Begin(_) => "begin",
            WireQuestion::Done => "done",
            WireQuestion::Search(_) => "search",
            WireQuestion::Round(round) => round.name(),
            WireQuestion::IsName(_) => "is_name",
            WireQuestion::Show(_) => "show",
            WireQuestion::End(_) => "end",
            WireQuestion::Read(..) => "read",
            WireQuestion::Served => "served",
            WireQuestion::Lines(_) => "lines",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use colgrep_core::UnitKind;
    use colgrep_engine::{Changes, Pattern, Tests};

    use super::*;

    #[test]
    fn a_scope_carries_only_what_is_asked() {
        let bytes = |begin: &Begin| postcard::to_allocvec(begin).expect("bytes");
        let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).position(|window| window == text.as_bytes());
        let mut begin = Begin::default();
        assert!(has(&bytes(&begin), "{}").is_some());
        begin.scope.paths = vec![PathBuf::from("relay/src")];
        begin.scope.tests = Some(Tests::Only);
        begin.scope.changes = Some(Changes::Since("main".into()));
        begin.scope.pattern = Some(Pattern::new("a{2}"));
        begin.scope.facts.calls = vec!["push".into()];
        begin.scope.facts.kinds = UnitKind::ALL.to_vec();
        let sent = bytes(&begin);
        let back: Begin = postcard::from_bytes(&sent).expect("a message");
        assert_eq!(back.scope, begin.scope);
        assert!(has(&sent, "exclude").is_none());
        // A field that this version doesn't know is refused, wherever it is.
        for known in ["\"calls\"", "\"tests\"", "\"word\""] {
            let (mut unknown, at) = (sent.clone(), has(&sent, known).expect(known));
            unknown[at + 1] = b'x';
            assert!(postcard::from_bytes::<Begin>(&unknown).is_err(), "{known}");
        }
    }
}
