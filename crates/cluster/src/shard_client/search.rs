//! One search in a shard of another process: each round is a question.

use colgrep_index::error::Result;
use colgrep_search::rounds::{Ask, ListedRound};
use colgrep_search::shard::ShardOverview;

use super::ShardClient;
use crate::message::WireQuestion;

/// One search in a shard of another process.
pub struct RemoteSearch<'s> {
    pub client: &'s ShardClient,
    /// The number of nested searches, including this one.
    pub depth: u8,
    /// What the shard sent at the start.
    pub overview: ShardOverview,
}

impl Drop for RemoteSearch<'_> {
    /// The next question belongs to the surrounding search, if there is one, and ends this one in the shard.
    fn drop(&mut self) {
        let mut line = self.client.line();
        line.depth = self.depth - 1;
        line.history.retain(|(depth, ..)| *depth < self.depth);
    }
}

impl<R: ListedRound> Ask<R> for RemoteSearch<'_> {
    fn ask(&self, request: &R) -> Result<R::Answer> {
        if let Some(answer) = request.known(&self.overview) {
            return Ok(answer);
        }
        let extent = &self.client.begun.extent;
        let put = (self.depth, WireQuestion::Round(request.clone().into()));
        let is_valid = |answer: &R::Answer| request.is_valid(answer, extent);
        let mut answer = self.client.ask_of(put, request.replay(), is_valid).map_err(|lost| self.client.away(&lost))?;
        request.complete(&mut answer, extent);
        Ok(answer)
    }
}
