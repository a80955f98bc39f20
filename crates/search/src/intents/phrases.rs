//! Phrases in double quotes.

use colgrep_core::literal_match::{Agreement, PastedText, is_question};
use colgrep_core::query::Query;
use colgrep_core::query::intents::Certainty;
use colgrep_core::token::is_stop_word;
use rustc_hash::FxHashSet;

use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point};
use super::text::{BYTES_READ_FOR_ALL_MAX, FILES_READ_FOR_ALL_MAX, WEIGHT_SHARE_OF_MESSAGE_MIN};
use super::text_evidence::{Placed, RUN_SHARE_OF_MESSAGE_MIN, is_run};
use super::{Intent, Resolved, ResolvedSoFar, Settled};
use crate::rounds::ScannedLine;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Minimum of words around the quotes, other than stop words, for a message.
const CONTENT_WORDS_MIN: usize = 2;

pub(super) const PHRASE: Intent = Intent {
    name: "phrase in double quotes",
    doc: "Only files that contain every phrase, and files that the query names; without any, there is no answer. Quotes in a \
          pasted message are the program's own, and an argument of a command is no condition if it occurs nowhere.",
    examples: &[
        ("\"on any host\"", "on any host"),
        ("timeouts in \"could not open\"", "could not open"),
        ("vitest -t \"opens it\"", "opens it"),
    ],
    parse: |query| query.intents.phrases.clone(),
    resolve: phrases,
    settles: &[],
    yields_to: &[Settled::Text],
};

fn phrases(lookup: &mut IntentLookup<'_>, found: &ResolvedSoFar, phrases: &[String]) -> Result<Resolved> {
    let query = lookup.query;
    if is_message(lookup, query)? {
        return Ok(Resolved::default());
    }
    let mut only: Option<FxHashSet<FilePlace>> = None;
    let mut placed = Vec::new();
    for phrase in phrases {
        // Documentation is indexed without its markup: the words may have other positions there.
        let in_a_row = lookup.files_with_run(phrase)?;
        let files = if in_a_row.is_empty() { lookup.files_with_words(phrase)? } else { in_a_row };
        let files = lookup.readable(&files, FILES_READ_FOR_ALL_MAX, BYTES_READ_FOR_ALL_MAX)?;
        let mut places = lookup.placed(&PastedText::new(phrase, |_| 1.0), phrase, &files)?;
        places.retain(|place| place.standing.agreement >= Agreement::Words);
        let holders: FxHashSet<FilePlace> = places.iter().map(|place| place.file).collect();
        only = Some(only.map_or_else(|| holders.clone(), |only| &only & &holders));
        placed.extend(places);
    }
    let only = only.unwrap_or_default();
    // A named file restricts the phrase.
    let names_one = found.pointers.means_a_file();
    let point = |Placed { file, standing, seen: ScannedLine { line, .. } }: Placed| {
        let certainty = match standing.agreement {
            _ if names_one && !found.pointers.means(file) => Certainty::Run,
            Agreement::Exact => Certainty::Exact,
            _ => Certainty::Words,
        };
        Point { file, line, certainty, strength: 1.0 }
    };
    let points: Vec<Point> = placed.into_iter().filter(|place| only.contains(&place.file)).map(point).collect();
    let mut pointers = lookup.point(&points)?;
    if only.is_empty() && query.intents.are_arguments {
        for phrase in phrases {
            pointers.merge(lookup.alone(phrase, found)?);
        }
        let replaces = !pointers.units.is_empty();
        if replaces || !found.pointers.units.is_empty() {
            return Ok(Resolved { pointers, replaces, ..Resolved::default() });
        }
    }
    pointers.only = Some(only);
    Ok(Resolved::open(pointers))
}

/// Whether the query is a program's message with values in quotes: the text around them, or a run of it, occurs in
/// code.
fn is_message(lookup: &mut IntentLookup<'_>, query: &Query) -> Result<bool> {
    let phrases = query.intents.phrases.iter();
    let around = phrases.fold(query.text.clone(), |text, phrase| text.replace(&format!("\"{phrase}\""), " "));
    let content = around.split_whitespace().filter(|word| !is_stop_word(&word.to_lowercase()));
    if content.count() < CONTENT_WORDS_MIN || is_question(&around) {
        return Ok(false);
    }
    let (typed, files) = lookup.holders(&query.text, WEIGHT_SHARE_OF_MESSAGE_MIN)?;
    let files = lookup.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
    let occurs = |Placed { standing, seen, .. }: &Placed| {
        !seen.is_text && is_run(standing, true) && standing.share >= RUN_SHARE_OF_MESSAGE_MIN
    };
    Ok(lookup.placed(&typed, &query.text, &files)?.iter().any(occurs))
}
