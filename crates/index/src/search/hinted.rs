//! Hints: which of the best candidates meet what the caller expects of their tags.

use colgrep_core::rank::{Fused, Retrieved};
use colgrep_core::token::Tokenizer;

use super::Request;
use crate::error::Result;
use crate::store::Snapshot;

/// Candidates whose facts are read, the best by words and meaning: a stored unit costs the block of 64 KiB that it lies
/// in. No hint lifts what lies further behind onto a first page.
const UNITS_MAX: usize = 100;

/// Compares the hints with the best candidates. Without hints nothing is read.
pub(super) fn compare(
    snapshot: &Snapshot,
    request: &Request<'_>,
    retrieved: &mut Retrieved,
    tokenizer: &mut Tokenizer,
) -> Result<()> {
    let Some(hints) = request.background.hints.filter(|hints| !hints.is_empty()) else { return Ok(()) };
    let scores = Fused::new(retrieved, request.fusion, request.knobs).scores;
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| {
        let unit = |at: usize| retrieved.candidates[at].unit;
        scores[*b].total_cmp(&scores[*a]).then_with(|| unit(*a).cmp(&unit(*b)))
    });
    for at in order.into_iter().take(UNITS_MAX) {
        let candidate = &mut retrieved.candidates[at];
        let path = &retrieved.files[candidate.file].path;
        let unit = snapshot.lexical.unit(candidate.unit)?;
        let own = request.background.tags_of.map_or_else(Vec::new, |tags_of| tags_of(path));
        candidate.hinted = hints.matched(&unit, path, &own, tokenizer);
    }
    Ok(())
}
