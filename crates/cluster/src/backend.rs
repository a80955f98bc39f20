//! Shards elsewhere as the backend of a search.

use colgrep_engine::Backend;
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::notice::Listener;
use colgrep_engine::session::corpus::RankedTogether;
use colgrep_engine::session::project_searcher::RankQuery;

use crate::cluster::{Cluster, ClusterScope};
use crate::error::{Error, Result};
use crate::gathered::Gathered;

/// Number of attempts of a search over shards whose results can't be shown.
const ATTEMPTS: usize = 3;

/// The shards of a cluster, for one search.
#[derive(Debug)]
pub struct ClusterBackend<'s> {
    pub cluster: &'s Cluster,
    /// Who searches, and where.
    pub scope: ClusterScope<'s>,
    /// The lines that come with a file's units.
    pub lines: ContextLines,
}

impl Backend for ClusterBackend<'_> {
    type Error = Error;
    type Parts<'b>
        = Gathered
    where
        Self: 'b;

    fn rank(&self, asked: &RankQuery<'_>, listener: &dyn Listener) -> Result<(RankedTogether, Gathered)> {
        let (ranked, mut gathered) = self.cluster.rank(&self.scope, asked, listener)?;
        gathered.lines = self.lines;
        Ok((ranked, gathered))
    }
}

/// Runs a search over shards with all that it shows. If a replica is lost after the ranking, and the others have other
/// indexes, none of them knows the ranked units: the whole search is repeated while `may_again` allows it.
pub fn shown<T, E>(
    mut search: impl FnMut() -> Result<T, E>,
    is_away: impl Fn(&E) -> bool,
    may_again: impl Fn() -> bool,
) -> Result<T, E> {
    for _ in 1..ATTEMPTS {
        match search() {
            Err(error) if is_away(&error) && may_again() => {}
            found => return found,
        }
    }
    search()
}
