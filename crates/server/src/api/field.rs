//! What a ranking goes over: the roots of this server, or shards elsewhere.

use anyhow::Result;
use colgrep_cluster::{ClusterBackend, Gathered, ShardCoverage};
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::summary::{Audience, End};
use colgrep_engine::notice::Listener;
use colgrep_engine::request::Facts;
use colgrep_engine::session::corpus::{Parts, RankedPart, RankedTogether};
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery};
use colgrep_engine::{Backend, Detail, Error as EngineError, UnknownCalls};

/// Runs a search over shards with all that it shows; see [`colgrep_cluster::shown`].
pub fn shown<T>(search: impl FnMut() -> Result<T>) -> Result<T> {
    let is_away = |error: &anyhow::Error| error.downcast_ref().is_some_and(EngineError::is_away);
    colgrep_cluster::shown(search, is_away, || true)
}

/// What a ranking goes over.
pub enum SearchBackend<'s> {
    Here(Vec<ProjectSearcher>),
    Shards(ClusterBackend<'s>),
}

/// What shows the files of a ranking.
pub enum Shower<'f> {
    Here(&'f Vec<ProjectSearcher>),
    Shards(Gathered),
}

impl SearchBackend<'_> {
    /// Whether the filters leave any file, as far as that is known here.
    pub fn has_files(&self) -> bool {
        match self {
            SearchBackend::Here(places) => places.iter().any(ProjectSearcher::has_files),
            SearchBackend::Shards(_) => true,
        }
    }

    /// Where the names that facts about calls ask for occur; elsewhere they may.
    pub fn unknown_calls(&self, facts: &Facts) -> Result<UnknownCalls> {
        let mut unknown = UnknownCalls::default();
        match self {
            SearchBackend::Here(places) => {
                places.iter().try_for_each(|place| place.add_unknown_calls(facts, &mut unknown))?;
            }
            SearchBackend::Shards(_) => unknown.are_named = facts.name_calls(),
        }
        Ok(unknown)
    }
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
            SearchBackend::Shards(shards) => {
                let (ranked, gathered) = shards.rank(asked, listener)?;
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

    fn end(&self, ranked: &RankedTogether, is_weak: bool, audience: Audience) -> colgrep_engine::Result<End> {
        self.parts().end(ranked, is_weak, audience)
    }

    fn repair(&self, part: usize, error: &EngineError) {
        self.parts().repair(part, error);
    }
}
