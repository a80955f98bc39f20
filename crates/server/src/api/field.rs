//! What a ranking goes over: the roots of this server, or shards elsewhere.

use anyhow::Result;
use colgrep_cluster::{Cluster, ClusterScope, Gathered, ShardCoverage};
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::answer::summary::End;
use colgrep_engine::notice::Listener;
use colgrep_engine::session::corpus::{Parts, RankedPart, RankedTogether};
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery};
use colgrep_engine::{Backend, Detail, Error as EngineError};

/// How often a search over shards is made in all, where what it found can't be shown.
const ATTEMPTS: usize = 3;

/// The answer of a search over shards, with all that it shows. Where a replica is lost after the ranking, and the
/// others have other indexes, none of them knows the ranked units: the whole search is repeated while `may_again`
/// allows it.
///
/// # Errors
/// Those of the search.
pub fn shown<T>(mut search: impl FnMut() -> Result<T>, may_again: impl Fn() -> bool) -> Result<T> {
    let is_away = |error: &anyhow::Error| error.downcast_ref().is_some_and(EngineError::is_away);
    for _ in 1..ATTEMPTS {
        match search() {
            Err(error) if is_away(&error) && may_again() => {}
            found => return found,
        }
    }
    search()
}

/// What a ranking goes over.
pub enum SearchBackend<'s> {
    /// Projects of this machine.
    Here(Vec<ProjectSearcher>),
    /// Shards elsewhere: whose search it is, where it looks, and which lines come with a file's units.
    Shards(&'s Cluster, ClusterScope<'s>, ContextLines),
}

/// What shows the files of a ranking.
pub enum Shower<'f> {
    /// Projects of this machine.
    Here(&'f Vec<ProjectSearcher>),
    /// Shards elsewhere.
    Shards(Gathered),
}

impl Backend for SearchBackend<'_> {
    type Error = anyhow::Error;
    type Parts<'b>
        = Shower<'b>
    where
        Self: 'b;

    fn rank(&self, asked: &RankQuery<'_>, listener: &dyn Listener) -> Result<(RankedTogether, Shower<'_>)> {
        match self {
            SearchBackend::Here(places) => {
                let (ranked, places) = Backend::rank(places, asked, listener)?;
                Ok((ranked, Shower::Here(places)))
            }
            SearchBackend::Shards(cluster, wanted, lines) => {
                let (ranked, mut gathered) = cluster.rank(wanted, asked, listener)?;
                gathered.lines = *lines;
                Ok((ranked, Shower::Shards(gathered)))
            }
        }
    }
}

impl Shower<'_> {
    fn parts(&self) -> &dyn Parts {
        match self {
            Shower::Here(places) => places,
            Shower::Shards(gathered) => gathered,
        }
    }

    /// Which shards answered, where there are any.
    pub fn standing(&self) -> Option<&ShardCoverage> {
        match self {
            Shower::Here(_) => None,
            Shower::Shards(gathered) => Some(gathered.coverage()),
        }
    }
}

impl Parts for Shower<'_> {
    fn files(
        &self,
        parts: &[RankedPart<'_>],
        detail: Detail,
    ) -> Result<Vec<Vec<FileAnswer>>, Box<(usize, EngineError)>> {
        self.parts().files(parts, detail)
    }

    fn end(&self, ranked: &RankedTogether, is_weak: bool) -> colgrep_engine::Result<End> {
        self.parts().end(ranked, is_weak)
    }

    fn repair(&self, part: usize) {
        self.parts().repair(part);
    }
}
