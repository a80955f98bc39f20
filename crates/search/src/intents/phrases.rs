//! Phrases in double quotes.

use colgrep_core::literal_match::{Agreement, PastedText, is_question};
use colgrep_core::query::intents::Certainty;
use colgrep_core::query::{Query, last_segment};
use colgrep_core::token::is_stop_word;
use rustc_hash::FxHashSet;

use super::definitions::{Defining, path_of};
use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point, UNITS_MAX};
use super::text::{BYTES_READ_FOR_ALL_MAX, FILES_READ_FOR_ALL_MAX, WEIGHT_SHARE_OF_MESSAGE_MIN};
use super::text_evidence::{Placed, PlacedText, RUN_SHARE_OF_MESSAGE_MIN, STRENGTH_OF_MENTION, is_run};
use super::{Intent, Resolved, ResolvedSoFar, Settled};
use crate::rounds::ScannedLine;
use crate::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Minimum of words around the quotes, other than stop words, for a message.
const CONTENT_WORDS_MIN: usize = 2;
/// Beginnings of words with which somebody asks for what is written about a message.
const WRITES: [&str; 4] = ["describ", "document", "explain", "mention"];

pub(super) const PHRASE: Intent = Intent {
    name: "phrase in double quotes",
    doc: "Only files with every phrase, those whose code prints it as a message that a question quotes, and files that the \
          query names; without any, there is no answer. Where no file has \
          a phrase as typed, it counts in another case, inside words, or with other marks between its words. Quotes in a \
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
    let asks = is_question(&query.text);
    // The quotes in a message that a question is about are the program's.
    if (asks && found.has_settled(&[Settled::Message])) || is_message(lookup, query)? {
        return Ok(Resolved::default());
    }
    let mut only: Option<FxHashSet<FilePlace>> = None;
    let mut placed: Vec<Point> = Vec::new();
    let mut is_in_code = false;
    for phrase in phrases {
        // Documentation is indexed without its markup: the words may have other positions there.
        let in_a_row = lookup.files_with_run(phrase)?;
        let files = if in_a_row.is_empty() { lookup.files_with_words(phrase)? } else { in_a_row };
        let files = lookup.readable(&files, FILES_READ_FOR_ALL_MAX, BYTES_READ_FOR_ALL_MAX)?;
        let places = lookup.placed(&PastedText::new(phrase, |_| 1.0), phrase, &files)?;
        is_in_code |= places.iter().any(|place| place.seen.holds_all() && !place.seen.is_aside);
        let named = lookup.owned(phrase)?;
        is_in_code |= !named.is_empty();
        let strength = if named.is_empty() { 1.0 } else { STRENGTH_OF_MENTION };
        let point = |Placed { file, standing, seen: ScannedLine { line, .. } }: Placed| {
            let certainty = match standing.agreement {
                Agreement::Exact => Certainty::Exact,
                Agreement::Words => Certainty::Words,
                Agreement::Run => return None,
            };
            Some(Point { file, line, certainty, strength })
        };
        let mut points: Vec<Point> = places.into_iter().filter_map(point).collect();
        let is_exact = |point: &Point| point.certainty == Certainty::Exact;
        if !points.iter().any(is_exact) {
            // It may begin or end inside a word, or be written in another case.
            let typed = lookup.in_any_case(phrase)?;
            // In a phrase without spaces, punctuation must match; elsewhere, markup may come between its words.
            let must_match = !phrase.contains(char::is_whitespace) && !phrase.chars().all(char::is_alphanumeric);
            if must_match || !typed.is_empty() {
                points.clear();
            }
            is_in_code |= typed.iter().any(|(_, seen)| !seen.is_aside);
            let point = |(file, ScannedLine { line, .. }): (FilePlace, ScannedLine)| Point {
                file,
                line,
                certainty: Certainty::Words,
                strength: 1.0,
            };
            points.extend(typed.into_iter().map(point));
        }
        points.extend(named);
        let holders: FxHashSet<FilePlace> = points.iter().map(|point| point.file).collect();
        only = Some(only.map_or_else(|| holders.clone(), |only| &only & &holders));
        placed.extend(points);
    }
    let only = only.unwrap_or_default();
    placed.retain(|point| only.contains(&point.file));
    // A named file restricts the phrase.
    if found.pointers.means_a_file() {
        let others = placed.iter_mut().filter(|point| !found.pointers.means(point.file));
        others.for_each(|point| point.certainty = Certainty::Run);
    }
    let is_given = query.intents.are_arguments;
    // Tests assert what code prints with any values.
    let writes = |word: &String| WRITES.iter().any(|front| word.starts_with(front));
    let asks_for_text = query.asks_for_prose || query.words.iter().any(writes);
    let wants_code = asks && query.asks_for.is_empty() && !asks_for_text && !found.pointers.means_a_file();
    if let [phrase] = phrases
        && !is_given
        && (only.is_empty() || (wants_code && !is_in_code))
        && query.typed.trim() != format!("\"{phrase}\"")
    {
        // Code that prints a message with values, which no code contains as a whole.
        let PlacedText { mut pointers, printed_in, .. } = lookup.message(phrase, found)?;
        if !printed_in.is_empty() {
            pointers.only = Some(&only | &printed_in);
        } else if only.is_empty() {
            pointers = lookup.text(&format!("\"{phrase}\""), found)?.pointers;
            pointers.units.retain(|_, pointer| pointer.certainty >= Certainty::Words);
        } else {
            pointers.units.clear();
        }
        if !pointers.units.is_empty() {
            return Ok(Resolved { pointers, replaces: true, ..Resolved::default() });
        }
    }
    let mut pointers = lookup.point(&placed)?;
    if only.is_empty() {
        for phrase in phrases.iter().filter(|_| is_given) {
            pointers.merge(lookup.alone(phrase, found)?);
        }
        let replaces = !pointers.units.is_empty();
        if replaces || (is_given && !found.pointers.units.is_empty()) {
            return Ok(Resolved { pointers, replaces, ..Resolved::default() });
        }
    }
    pointers.only = Some(only);
    Ok(Resolved::open(pointers))
}

impl IntentLookup<'_> {
    /// The definitions of a name that a backslash qualifies, as in a message: its parts are on different lines there.
    fn owned(&self, phrase: &str) -> Result<Vec<Point>> {
        let path = path_of(phrase);
        if path.len() < 2 || !phrase.contains('\\') || phrase.contains(char::is_whitespace) {
            return Ok(Vec::new());
        }
        let Defining { units, is_owned, .. } = self.defining(last_segment(phrase), &path, None)?;
        let at = |UnitFound { file, line, .. }| Point { file, line, certainty: Certainty::Exact, strength: 1.0 };
        Ok(units.into_iter().filter(|_| is_owned).take(UNITS_MAX).map(at).collect())
    }
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
