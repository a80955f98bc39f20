//! Words that stand nowhere, read as the index has them: `closesocket` as `close_socket`, "slow loris" as `slowloris`.

use std::ops::Range;

use colgrep_core::query::Query;
use colgrep_core::statistics::Statistics;
use colgrep_core::token::{Tokenizer, is_stop_word, parts, words};

use super::rounds::Rounds;
use crate::error::Result;
use crate::lexical::{Run, run_of};

/// Letters of a word that is taken apart: shorter ones are made of too little, longer ones of too many parts.
const LETTERS: Range<usize> = 5..33;
/// Letters of each part between spaces, at least: shorter ones stand side by side by chance.
const LETTERS_OF_A_PART_MIN: usize = 3;
/// Words of a query whose unknown ones are looked at. Of a sentence the others say enough, and the model reads each as typed.
const WORDS_MAX: usize = 3;

/// A query's text with words that stand nowhere as the index has them.
pub(super) struct Respelled {
    pub text: String,
    /// Each such word, as typed, with what it is read as.
    pub words: Vec<(String, String)>,
}

/// A way to write words of a query that stand nowhere.
struct Spelling {
    /// What it stands for in the query's text.
    place: Range<usize>,
    text: String,
}

/// The query as the index writes its words. None where every word stands somewhere, or no other way to write one does.
///
/// # Errors
/// When an index can't be read.
pub(super) fn respelled(
    rounds: &Rounds<'_>,
    query: &Query,
    statistics: &Statistics,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelled>> {
    let text = query.text.as_str();
    if query.long.is_some() || !query.clues.phrases.is_empty() || !query.clues.locations.is_empty() {
        return Ok(None);
    }
    let words: Vec<Range<usize>> = words(text).take(WORDS_MAX + 1).collect();
    if words.len() > WORDS_MAX {
        return Ok(None);
    }
    let unknown = words.iter().enumerate().filter(|(_, word)| is_written(&text[(*word).clone()]));
    let unknown = unknown.filter(|(_, word)| stands_nowhere(&text[(*word).clone()], query, statistics, tokenizer));
    let unknown: Vec<usize> = unknown.map(|(at, _)| at).collect();
    let mut found: Vec<Spelling> = Vec::new();
    for at in unknown {
        if found.last().is_some_and(|known| known.place.end >= words[at].end) {
            continue;
        }
        let spelling = match joined(rounds, text, &words, at, tokenizer)? {
            Some(joined) => Some(joined),
            None if is_plain(&text[words[at].clone()]) => {
                apart(rounds, text, words[at].clone(), words.len() == 1, tokenizer)?
            }
            None => otherwise(rounds, text, words[at].clone())?,
        };
        // A word that was taken apart with its neighbour may be joined to the one behind it, too.
        found.extend(spelling.filter(|new| found.last().is_none_or(|known| known.place.end <= new.place.start)));
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut read = text.to_string();
    for spelling in found.iter().rev() {
        read.replace_range(spelling.place.clone(), &spelling.text);
    }
    let words = found.into_iter().map(|spelling| (text[spelling.place].to_string(), spelling.text)).collect();
    Ok(Some(Respelled { text: read, words }))
}

/// Whether a word is one of letters, in one part or several.
fn is_written(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    word.bytes().all(is_letter) && LETTERS.contains(&word.trim_matches('_').len())
}

fn is_plain(word: &str) -> bool {
    !word.contains('_') && parts(word).nth(1).is_none()
}

fn stands_nowhere(word: &str, query: &Query, statistics: &Statistics, tokenizer: &mut Tokenizer) -> bool {
    if is_stop_word(&word.to_lowercase()) {
        return false;
    }
    let term = tokenizer.normal(word.trim_matches('_'));
    let at = query.terms.iter().position(|known| known.text == term);
    at.and_then(|at| statistics.terms.get(at)).is_some_and(|count| count.most() == 0)
}

/// The word and its neighbour written as one: with the one behind it, else with the one in front.
fn joined(
    rounds: &Rounds<'_>,
    text: &str,
    words: &[Range<usize>],
    at: usize,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Spelling>> {
    let pair = |first: usize| Some((words.get(first)?.clone(), words.get(first + 1)?.clone()));
    let pairs = [pair(at), at.checked_sub(1).and_then(pair)].into_iter().flatten();
    let beside = pairs.filter(|(a, b)| matches!(&text[a.end..b.start], " " | "-"));
    let spellings: Vec<Spelling> = beside
        .map(|(a, b)| Spelling { place: a.start..b.end, text: format!("{}{}", &text[a], &text[b]).to_lowercase() })
        .filter(|spelling| spelling.text.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .collect();
    let terms: Vec<String> = spellings.iter().map(|spelling| tokenizer.normal(&spelling.text).to_string()).collect();
    known(rounds, spellings, &terms)
}

/// The word with an underscore between its parts, or two where it is all that is asked; else as two words that stand side
/// by side.
fn apart(
    rounds: &Rounds<'_>,
    text: &str,
    place: Range<usize>,
    is_alone: bool,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Spelling>> {
    let word = text[place.clone()].to_lowercase();
    let mut terms: Vec<String> = (1..word.len()).map(|at| format!("{}_{}", &word[..at], &word[at..])).collect();
    if is_alone {
        let twice = |(a, b): (usize, usize)| format!("{}_{}_{}", &word[..a], &word[a..b], &word[b..]);
        let cuts = (1..word.len()).flat_map(|a| (a + 1..word.len()).map(move |b| (a, b)));
        terms.extend(cuts.map(twice));
    }
    let spelling = |text: &String| Spelling { place: place.clone(), text: text.clone() };
    if let Some(found) = known(rounds, terms.iter().map(spelling).collect(), &terms)? {
        return Ok(Some(found));
    }
    let cuts = LETTERS_OF_A_PART_MIN..(word.len() + 1).saturating_sub(LETTERS_OF_A_PART_MIN);
    let pairs: Vec<String> = cuts.map(|at| format!("{} {}", &word[..at], &word[at..])).collect();
    let runs: Vec<Run> = pairs.iter().map(|pair| run_of(pair, tokenizer)).collect();
    // Of a stop word nobody knows where it stands.
    let (pairs, runs): (Vec<String>, Vec<Run>) = pairs.into_iter().zip(runs).filter(|(_, run)| run.len() == 2).unzip();
    let files = if runs.is_empty() { Vec::new() } else { rounds.runs(&runs)? };
    let most = files.iter().zip(pairs).filter(|(files, _)| !files.is_empty()).max_by_key(|(files, _)| files.len());
    Ok(most.map(|(_, text)| Spelling { place, text }))
}

/// A word of several parts in the other way to write them: `match_request` as `matchrequest`, which `MatchRequest` is to the
/// index, and `closeSocket` as `close_socket`.
fn otherwise(rounds: &Rounds<'_>, text: &str, place: Range<usize>) -> Result<Option<Spelling>> {
    let word = &text[place.clone()];
    let lower: Vec<String> = parts(word).map(|part| word[part].to_lowercase()).collect();
    let terms = [lower.join("_"), lower.concat()];
    let spellings = terms.iter().map(|text| Spelling { place: place.clone(), text: text.clone() }).collect();
    known(rounds, spellings, &terms)
}

/// The spelling whose term stands in most units; none where no term stands anywhere.
fn known(rounds: &Rounds<'_>, spellings: Vec<Spelling>, terms: &[String]) -> Result<Option<Spelling>> {
    if terms.is_empty() {
        return Ok(None);
    }
    let counts = rounds.counts(terms, 0)?;
    let units = counts.iter().map(|count| count.units.most());
    let known = spellings.into_iter().zip(units).filter(|(_, units)| *units > 0);
    Ok(known.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(spelling, _)| spelling))
}
