//! Text in another language than English, as typed.

use colgrep_core::literal_match::{Agreement, PastedText};
use colgrep_core::query::intents::Certainty;

use super::lookup::{IntentLookup, Point};
use super::text::{BYTES_READ_FOR_ALL_MAX, FILES_READ_FOR_ALL_MAX};
use super::text_evidence::Placed;
use super::{Intent, Resolved, ResolvedSoFar};
use crate::rounds::{ScanTarget, ScannedLine};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::run_of;

/// Minimum of terms for a text: a single word is read in both languages.
const TERMS_MIN: usize = 2;
/// Strength of a test, a document or data where code has the text, too.
const STRENGTH_BESIDE_CODE: f32 = 0.5;

pub(super) const UNTRANSLATED: Intent = Intent {
    name: "text in another language",
    doc: "The lines that contain a query of several words in another language as typed, in place of what its English form \
          points at.",
    // Only a search reads a query in another language.
    examples: &[("无法连接到服务器", "")],
    parse: |query| match query.intents.phrases.is_empty() {
        true => query.foreign.iter().map(|typed| typed.trim().to_string()).collect(),
        false => Vec::new(),
    },
    resolve: as_typed,
    settles: &[],
    yields_to: &[],
};

fn as_typed(lookup: &mut IntentLookup<'_>, _: &ResolvedSoFar, texts: &[String]) -> Result<Resolved> {
    let mut points = Vec::new();
    for text in texts {
        if run_of(text, lookup.tokenizer).len() < TERMS_MIN {
            continue;
        }
        // Documentation is indexed without its markup: the words may have other positions there.
        let in_a_row = lookup.files_with_run(text)?;
        let files = if in_a_row.is_empty() { lookup.files_with_words(text)? } else { in_a_row };
        if files.len() > FILES_READ_FOR_ALL_MAX {
            continue;
        }
        let files = lookup.readable(&files, FILES_READ_FOR_ALL_MAX, BYTES_READ_FOR_ALL_MAX)?;
        let placed = lookup.placed(&PastedText::new(text, |_| 1.0), text, &files)?;
        let is_exact = |place: &Placed| place.standing.agreement == Agreement::Exact && place.standing.is_alone;
        let mut places: Vec<(FilePlace, ScannedLine)> =
            placed.into_iter().filter(is_exact).map(|Placed { file, seen, .. }| (file, seen)).collect();
        let is_inside = places.is_empty();
        if is_inside {
            // A script without blanks may continue on both sides.
            places = lookup.rounds.scan(&files, ScanTarget::AnyCase(text.clone()))?;
        }
        let is_in_code = places.iter().any(|(_, seen)| !seen.is_aside);
        // A part of a sentence in a document is about what the English form finds.
        if is_inside && !is_in_code {
            continue;
        }
        points.extend(places.into_iter().map(|(file, ScannedLine { line, is_aside, .. })| {
            let strength = if is_in_code && is_aside { STRENGTH_BESIDE_CODE } else { 1.0 };
            Point { file, line, certainty: Certainty::Exact, strength }
        }));
    }
    Ok(Resolved { pointers: lookup.point(&points)?, replaces: !points.is_empty(), ..Resolved::default() })
}
