//! The result of a search over shards: shows files, lines and the remarks after the last result.

use std::sync::Arc;

use colgrep_engine::Detail;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::answer::summary::{Audience, End, EndAsked, EndFound, end};
use colgrep_engine::session::corpus::{Parts, RankedPart, RankedTogether};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::coverage::{NOT_NOW, ShardCoverage};
use crate::replica::Lost;
use crate::shard_client::ShardClient;

/// The shards of a ranking, which show its files.
pub struct Gathered {
    clients: Vec<ShardClient>,
    coverage: ShardCoverage,
    /// Whether the caller may learn nothing of shards.
    is_limited: bool,
    /// The lines to show with a file's units.
    pub lines: ContextLines,
    pool: Arc<ThreadPool>,
}

impl std::fmt::Debug for Gathered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gathered").field("coverage", &self.coverage).finish_non_exhaustive()
    }
}

impl Gathered {
    /// Takes the sessions that the ranking came from, of a caller who `is_limited` to some repositories or isn't.
    pub(crate) fn new(
        clients: Vec<ShardClient>,
        coverage: ShardCoverage,
        is_limited: bool,
        pool: Arc<ThreadPool>,
    ) -> Gathered {
        Gathered { clients, coverage, is_limited, lines: ContextLines::default(), pool }
    }

    /// The error of a shard that does not answer any more.
    fn away(&self, client: &ShardClient, lost: &Lost) -> colgrep_index::Error {
        let told = if self.is_limited { NOT_NOW.to_string() } else { format!("shard {}: {lost}", client.at + 1) };
        colgrep_index::Error::Away(told)
    }

    /// Asks all shards for the remarks.
    fn end_of(&self, asked: &EndAsked) -> colgrep_engine::Result<EndFound> {
        let ask = |client: &ShardClient| client.end(asked.clone()).map_err(|lost| self.away(client, &lost));
        let found: Vec<EndFound> =
            self.pool.install(|| self.clients.par_iter().with_max_len(1).map(ask).collect::<Result<_, _>>())?;
        let mut all = EndFound::default();
        found.into_iter().for_each(|found| all.add(found));
        Ok(all)
    }

    /// Which shards the answer covers.
    pub fn coverage(&self) -> &ShardCoverage {
        &self.coverage
    }

    fn shown(&self, part: &RankedPart<'_>, detail: Detail) -> colgrep_engine::Result<Vec<FileAnswer>> {
        let asked = part.ranked.shown(&part.hits, detail, self.lines);
        let client = &self.clients[part.at];
        let mut files = client.show(asked).map_err(|lost| self.away(client, &lost))?;
        for (hit, file) in part.hits.iter().zip(&mut files) {
            part.ranked.explain(*hit, file);
        }
        Ok(files)
    }
}

impl Parts for Gathered {
    fn files(
        &self,
        parts: &[RankedPart<'_>],
        detail: Detail,
    ) -> Result<Vec<Vec<FileAnswer>>, Box<(usize, colgrep_engine::Error)>> {
        let shown = |part: &RankedPart<'_>| self.shown(part, detail).map_err(|error| Box::new((part.at, error)));
        self.pool.install(|| parts.par_iter().with_max_len(1).map(shown).collect())
    }

    fn end(&self, ranked: &RankedTogether, is_weak: bool, _: Audience) -> colgrep_engine::Result<End> {
        let Some(read) = ranked.read_as() else { return Ok(End::default()) };
        let mut end = end(read, ranked.is_empty, is_weak, &|asked| self.end_of(asked))?;
        end.is_elsewhere = true;
        Ok(end)
    }

    fn repair(&self, _: usize, _: &colgrep_engine::Error) {}
}
