//! Hints: which of the best candidates have the tags that the caller expects.

use colgrep_core::rank::{Fused, Retrieved};
use colgrep_core::token::Tokenizer;

use super::Request;
use super::rounds::{Coordinator, StoredUnitsRequest};
use colgrep_index::error::Result;

/// Number of best candidates whose facts are read: a stored unit costs a block of 64 KiB, and no hint lifts a lower one
/// onto a first page.
const UNITS_MAX: usize = 100;

/// Compares the hints with the best candidates. Reads nothing without hints.
pub(super) fn compare(
    rounds: &Coordinator<'_>,
    request: &Request<'_>,
    retrieved: &mut Retrieved,
    tokenizer: &mut Tokenizer,
) -> Result<()> {
    let Some(hints) = request.background.hints.filter(|hints| !hints.is_empty()) else { return Ok(()) };
    let scores = Fused::new(retrieved, request.fusion, request.knobs).scores;
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| {
        let place = |at: usize| {
            let candidate = &retrieved.candidates[at];
            (retrieved.files[candidate.file].place, candidate.line, candidate.unit)
        };
        scores[*b].total_cmp(&scores[*a]).then_with(|| place(*a).cmp(&place(*b)))
    });
    order.truncate(UNITS_MAX);
    let units: Vec<_> = order.iter().map(|at| retrieved.candidates[*at].unit).collect();
    for (at, unit) in order.into_iter().zip(rounds.ask(&StoredUnitsRequest { units: units.clone() })?) {
        let candidate = &mut retrieved.candidates[at];
        let file = &retrieved.files[candidate.file];
        let own = request.background.tags_of.map_or_else(Vec::new, |tags_of| tags_of(&file.whole_path()));
        candidate.hinted = hints.matched(&unit, &file.path, &own, tokenizer);
    }
    Ok(())
}
