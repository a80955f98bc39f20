//! The rounds of a search: what a coordinator asks the shards of a corpus, local or remote.
//!
//! Requests and answers are plain data, with a shard's own file numbers and unit addresses. Everything that decides
//! what is kept (statistics, cut-offs, wanted files) comes from the [`Coordinator`], which has merged the answers of
//! the previous round. So several shards answer exactly as one index of all files would, however the files are
//! distributed.
//!
//! Each round has a file with the request and its answer, how one index answers, how answers are merged, and which
//! answers are plausible.
//!
//! | round | request | answer |
//! |---|---|---|
//! | [`StatisticsRequest`] | | counts, which are summed |
//! | [`CandidatesRequest`], [`BestUnitsRequest`] | the sum | the best units by words, and files that match by name |
//! | [`ReachRequest`], [`ChooseRequest`], [`ChosenRequest`], [`MarkedRequest`], [`NearestRequest`] | cut-offs | texts by meaning |
//! | [`LocateRequest`] to [`PathsRequest`] | what the query points at | files, units, lines |
//! | [`ScoresRequest`] | units and files that must be candidates | the same, scored |
//! | [`FactsRequest`], [`TopicsRequest`] | candidates, terms of their paths | what the stages need |
//! | [`LikenessRequest`], [`TextsRequest`], [`TraitsRequest`] | units | stored scores, texts to encode, what the stage `order` compares |
//! | [`StoredUnitsRequest`], [`HoldersRequest`], [`TokensRequest`] | units and files of the answer | what they contain of the query |
//!
//! To add a round, write its file and add a row to the list at the end of this file.

mod best_units;
mod callers;
mod candidates;
mod choose;
mod chosen;
mod contexts;
mod coordinator;
mod definitions;
mod enclosing;
mod facts;
mod files_with_all;
mod holders;
mod likeness;
mod lines;
mod locate;
mod marked;
mod near_names;
mod nearest;
mod outline;
mod paths;
mod phrases;
mod reach;
mod scan;
mod scores;
mod sizes;
mod spelled_units;
mod statistics;
mod stored_units;
mod term_counts;
mod texts;
mod tokens;
mod top_k;
mod topics;
mod traits;
mod validate;
mod weighted_files;
mod written_units;

use std::fmt::Debug;

use colgrep_index::error::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use crate::local::LocalSearch;
use crate::local::LocalShard;
use crate::shard::{ShardExtent, ShardOverview, ShardQuery};

pub use best_units::*;
pub use callers::*;
pub use candidates::*;
pub use choose::*;
pub use chosen::*;
pub use contexts::*;
pub use coordinator::Coordinator;
pub use definitions::*;
pub use enclosing::*;
pub use facts::*;
pub use files_with_all::*;
pub use holders::*;
pub use likeness::*;
pub use lines::*;
pub use locate::*;
pub use marked::*;
pub use near_names::*;
pub use nearest::*;
pub use outline::*;
pub use paths::*;
pub use phrases::*;
pub use reach::*;
pub use scan::*;
pub use scores::*;
pub use sizes::*;
pub use spelled_units::*;
pub use statistics::*;
pub use stored_units::*;
pub use term_counts::*;
pub use texts::*;
pub use tokens::*;
pub use topics::*;
pub use traits::*;
pub use validate::{COUNT_MAX, LINE_MAX, PLACES_MAX, Validate};
pub use weighted_files::*;
pub use written_units::*;

/// One part of a corpus.
pub trait Shard: Sync {
    /// Describes the contents.
    fn extent(&self) -> ShardExtent;

    /// True if answers travel over a wire, so that rounds keep them small.
    fn is_far(&self) -> bool {
        false
    }

    /// True if a term occurs in the name of a unit or in the topic of a file.
    fn is_name(&self, term: &str) -> Result<bool>;

    /// Starts a search. The search may cache what it looks up until it is dropped.
    fn search<'s>(&'s self, query: &ShardQuery<'s>) -> Result<Box<dyn ShardSearch + 's>>;
}

/// A request that a shard answers. The type is the request.
pub trait Round: Clone + Debug + Send + Sync + Serialize + DeserializeOwned {
    type Answer: Default + Send + Serialize + DeserializeOwned;

    /// Answers from one index.
    fn local(&self, search: &LocalSearch<'_>) -> Result<Self::Answer>;

    /// Answers from several shards: splits the request, asks, and merges the answers.
    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Self::Answer>;

    /// True if another process's answer fits this request and the extent of its shard, so that it can be merged and
    /// shown without further checks.
    fn is_valid(&self, answer: &Self::Answer, extent: &ShardExtent) -> bool;

    /// True if the request is empty. Then the answer is the default one, and no shard is asked.
    fn is_empty(&self) -> bool {
        false
    }

    /// The answer, if a remote shard has already sent it at the start of the search.
    fn known(&self, _: &ShardOverview) -> Option<Self::Answer> {
        None
    }

    /// Fills in fields that are not sent.
    fn complete(&self, _: &mut Self::Answer, _: &ShardExtent) {}

    /// What another replica needs to see of this request when it takes over the search.
    fn replay(&self) -> Replay {
        Replay::Never
    }

    /// The name for traffic statistics, if it depends on the request.
    fn own_name(&self) -> Option<&'static str> {
        None
    }
}

/// What a replica that takes over a search needs to see of an earlier request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Nothing: later rounds don't depend on it.
    Never,
    /// The request: it sets state for the rest of the search.
    Always,
    /// The request, until the next one that starts a chain: each changes the state that the previous one left.
    Chain {
        /// True if the request starts a chain.
        starts: bool,
    },
}

/// Something that answers a round: one index, several shards, or a shard in another process.
pub trait Ask<R: ListedRound> {
    /// The answer.
    fn ask(&self, request: &R) -> Result<R::Answer>;
}

impl Shard for LocalShard<'_> {
    fn extent(&self) -> ShardExtent {
        LocalShard::extent(self)
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        self.snapshot().noted(|| self.snapshot().lexical.is_name(term))
    }

    fn search<'s>(&'s self, query: &ShardQuery<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        Ok(Box::new(self.snapshot().noted(|| LocalSearch::new(self, query))?))
    }
}

impl<R: ListedRound> Ask<R> for LocalSearch<'_> {
    fn ask(&self, request: &R) -> Result<R::Answer> {
        self.snapshot.noted(|| request.local(self))
    }
}

/// A round of the list below. Dispatches between the request's type and values that don't know it.
pub trait ListedRound: Round + Into<RoundRequest> {
    /// Asks a shard.
    fn put_to(&self, search: &dyn ShardSearch) -> Result<Self::Answer>;
}

/// An operation on the request of any round.
pub trait RoundVisitor {
    type Output;

    fn visit<R: ListedRound>(self, request: &R) -> Self::Output;
}

macro_rules! rounds {
    ($($request:ident: $name:literal),* $(,)?) => {
        /// The request of any round, as sent to another process.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum RoundRequest {
            $(
                #[doc = concat!("See [`", stringify!($request), "`].")]
                $request($request),
            )*
        }

        impl RoundRequest {
            /// Calls the visitor with the request's own type.
            pub fn visit<V: RoundVisitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(RoundRequest::$request(request) => visitor.visit(request),)*
                }
            }

            /// The name for traffic statistics.
            pub fn name(&self) -> &'static str {
                match self {
                    $(RoundRequest::$request(request) => request.own_name().unwrap_or($name),)*
                }
            }
        }

        $(
            impl From<$request> for RoundRequest {
                fn from(request: $request) -> RoundRequest {
                    RoundRequest::$request(request)
                }
            }

            impl ListedRound for $request {
                fn put_to(&self, search: &dyn ShardSearch) -> Result<<$request as Round>::Answer> {
                    Ask::<$request>::ask(search, self)
                }
            }
        )*

        /// One search in one shard: answers all rounds.
        pub trait ShardSearch: $(Ask<$request> +)* Send + Sync {}

        impl<T: $(Ask<$request> +)* Send + Sync> ShardSearch for T {}
    };
}

rounds! {
    StatisticsRequest: "statistics",
    CandidatesRequest: "candidates",
    BestUnitsRequest: "best_units",
    ScoresRequest: "scores",
    FactsRequest: "facts",
    TopicsRequest: "topics",
    HoldersRequest: "holders",
    TokensRequest: "tokens",
    StoredUnitsRequest: "stored_units",
    ReachRequest: "reach",
    ChooseRequest: "choose",
    ChosenRequest: "chosen",
    MarkedRequest: "marked",
    NearestRequest: "nearest",
    LikenessRequest: "likeness",
    TextsRequest: "texts",
    TraitsRequest: "traits",
    LocateRequest: "locate",
    DefinitionsRequest: "definitions",
    NearNamesRequest: "near_names",
    WrittenUnitsRequest: "written_units",
    CallersRequest: "callers",
    EnclosingRequest: "enclosing",
    PhrasesRequest: "phrases",
    TermCountsRequest: "term_counts",
    WeightedFilesRequest: "weighted_files",
    FilesWithAllRequest: "files_with_all",
    SizesRequest: "sizes",
    SpelledUnitsRequest: "spelled_units",
    ScanRequest: "scan",
    LinesRequest: "lines",
    ContextsRequest: "contexts",
    PathsRequest: "paths",
}
