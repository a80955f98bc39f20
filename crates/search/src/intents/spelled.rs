//! A name that is not a term of the index: the lines that contain it in another spelling, or inside a longer word.

use colgrep_core::query::intents::Certainty;
use colgrep_core::token::words;

use super::lookup::{IntentLookup, Point};
use super::{Intent, Resolved, ResolvedSoFar};
use crate::rounds::{FilesWithAllRequest, ScannedLine};
use colgrep_index::error::Result;
use colgrep_index::lexical::{run_of, term_of_word};

/// Maximum of places that are pointed at.
const POINTS_MAX: usize = 512;
/// Strength of a place that contains the name as whole parts of an identifier.
const STRENGTH_OF_PARTS: f32 = 1.0;
/// Strength of a place that contains it inside a word.
const STRENGTH_INSIDE_A_WORD: f32 = 0.2;

pub(super) const SPELLING: Intent = Intent {
    name: "part of a word, or another spelling",
    doc: "The lines that contain a query of one piece in any spelling, where nothing else is pointed at and the index has \
          no such term.",
    examples: &[("max-open-files", "max-open-files"), ("4xx", "4xx")],
    parse: |query| {
        // A name or a heading in another language occurs in the code as it is typed.
        let is_typed = query.translation.as_ref().is_some_and(|translation| !translation.has_form);
        let text = if is_typed { query.typed.trim() } else { query.text.trim() };
        let is_piece = !text.is_empty() && !text.contains(char::is_whitespace) && query.intents.phrases.is_empty();
        is_piece.then(|| text.to_string()).into_iter().collect()
    },
    resolve: spellings,
    settles: &[],
    yields_to: &[],
};

fn spellings(lookup: &mut IntentLookup<'_>, found: &ResolvedSoFar, pieces: &[String]) -> Result<Resolved> {
    let is_pointed =
        [&found.pointers, &found.fallback].iter().any(|found| !found.units.is_empty() || !found.files.is_empty());
    let mut points = Vec::new();
    for piece in pieces.iter().filter(|_| !is_pointed) {
        if is_indexed(lookup, piece)? {
            continue;
        }
        let mut seen = lookup.spelled(piece)?;
        seen.sort_by_key(|(file, seen)| (!seen.is_cut, seen.is_aside, *file));
        seen.truncate(POINTS_MAX);
        points.extend(seen.into_iter().map(|(file, ScannedLine { line, is_cut, .. })| {
            let strength = if is_cut { STRENGTH_OF_PARTS } else { STRENGTH_INSIDE_A_WORD };
            Point { file, line, certainty: Certainty::Part, strength }
        }));
    }
    Ok(Resolved { fallback: lookup.point(&points)?, ..Resolved::default() })
}

/// Whether a searched file has a word, or the words of a piece in a row, as the index knows them.
fn is_indexed(lookup: &mut IntentLookup<'_>, text: &str) -> Result<bool> {
    let files = match words(text).nth(1) {
        Some(_) if run_of(text, lookup.tokenizer).is_empty() => return Ok(false),
        Some(_) => lookup.files_with_run(text)?,
        None => match term_of_word(text, lookup.tokenizer) {
            Some(term) => lookup.rounds.ask(&FilesWithAllRequest { terms: vec![term] })?,
            None => return Ok(false),
        },
    };
    Ok(!lookup.readable(&files, 1, u64::MAX)?.is_empty())
}
