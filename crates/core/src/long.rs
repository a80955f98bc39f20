//! Long queries: a pasted issue, report or task. Its first line says what it is about; the rest adds detail, file names
//! and noise.

mod noise;

use crate::language::LanguageFacts;
use crate::literal_match::{is_trace, split_advice};
use crate::query::intents::Intents;
use crate::token::is_stop_word;

/// Characters from which a query on one line is long.
const LONG: usize = 200;
/// Maximum of characters in a title.
const TITLE_MAX: usize = 160;
/// Minimum of words in a line of prose.
const PROSE_WORDS: usize = 4;
/// Letters of a script without case that count as much as a few words.
const CASELESS_LETTERS: usize = 6;
/// Minimum of prose words next to code locations; the message of a trace has fewer.
const PROSE_BESIDE_PLACES: usize = 12;
/// Minimum of words in a paragraph that the model reads.
const PART_WORDS: usize = 3;

/// The content of a long query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Long {
    /// What it is about: its first line that is not noise, or the first sentence of that line if it is long.
    pub title: String,
    /// Title and body without import lines, environment, addresses, comments of HTML, boxes to tick, and headings of
    /// templates.
    pub told: String,
    /// Title and paragraphs, in order.
    pub parts: Vec<String>,
}

impl Long {
    /// Reads a text with a line break or 200 characters that begins with prose. A pasted trace or piece of code is
    /// searched as it is.
    pub fn read(text: &str, facts: &LanguageFacts) -> Option<Long> {
        let text = text.trim_start_matches('\u{feff}').trim();
        let is_long = text.contains('\n') || text.chars().nth(LONG - 1).is_some();
        // A program's one-line message with its advice.
        let is_message = |(message, advice): (&str, &str)| {
            !message.contains('\n') && !advice.lines().skip(1).any(|line| is_prose(line, facts))
        };
        if !is_long || split_advice(text).is_some_and(is_message) {
            return None;
        }
        let shown = noise::without_comments(text);
        let text = noise::from_first_told(shown.trim());
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (title, behind) = first_sentence(first.trim());
        let rest = format!("{behind}\n{rest}");
        let prose =
            rest.lines().filter(|line| is_prose(line, facts)).map(|line| plain_words(line).count()).sum::<usize>();
        // A trace has no links besides its frames; a link shows that a person points at a place.
        let has_places = !Intents::parse(&noise::without_addresses(text), facts).locations.is_empty();
        let is_introduced = || {
            let is_said = plain_words(title).nth(2).is_some() || letters_without_case(title) >= CASELESS_LETTERS;
            is_said && !is_code(title, facts)
        };
        // A trace without places is described by its messages.
        let is_told = match has_places {
            true => prose >= PROSE_BESIDE_PLACES,
            false => (prose > 0 || is_introduced()) && !is_trace(text),
        };
        if !is_told {
            return None;
        }
        let title = noise::title(title).to_string();
        let body = noise::without(&rest);
        let told = format!("{title}\n\n{body}");
        let paragraphs = body.split("\n\n").map(str::trim);
        let paragraphs = paragraphs.filter(|part| plain_words(part).nth(PART_WORDS - 1).is_some());
        let parts = [title.clone()].into_iter().chain(paragraphs.map(String::from)).collect();
        Some(Long { title, told, parts })
    }
}

/// The first sentence of a line that is longer than a title, else the whole line; and the rest.
fn first_sentence(line: &str) -> (&str, &str) {
    let Some((most, _)) = line.char_indices().nth(TITLE_MAX) else { return (line, "") };
    let ends = line[..most].match_indices(['.', '?', '!', ':']).map(|(at, _)| at + 1);
    let mut ends = ends.filter(|end| line[*end..].starts_with(' ') && plain_words(&line[..*end]).nth(2).is_some());
    let end = ends.next().or_else(|| line[..most].rfind(' ')).unwrap_or(most);
    (line[..end].trim(), line[end..].trim())
}

/// Words of letters only, apart from punctuation around them; `ValueError` is a name.
fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = |word: &&str| {
        let is_letter = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-');
        let is_capital = !word.contains(char::is_lowercase);
        !word.is_empty() && word.chars().all(is_letter) && (is_capital || !word.chars().skip(1).any(char::is_uppercase))
    };
    text.split_whitespace()
        .map(|word| word.trim_matches(['.', ',', ';', ':', '?', '!', '(', ')', '"', '\'']))
        .filter(is_plain)
}

/// Letters of scripts without upper and lower case, some of which put no blanks between words.
fn letters_without_case(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()).count()
}

/// Whether a line is written as code or as a program's output.
fn is_code(line: &str, facts: &LanguageFacts) -> bool {
    let line = line.trim();
    let starts = ["//", "/*", "#!", "at ", "File \"", "Traceback", "-->", ">>>", "$ ", "@", "<"];
    let is_declared = || line.split_whitespace().next().is_some_and(|word| facts.is_declaration_keyword(word));
    starts.iter().any(|start| line.starts_with(start))
        || line.ends_with(['{', '}', ';', '(', '=', '\\'])
        || (is_declared() && line.ends_with([':', ')', '{']))
}

/// Whether a line is prose: mostly plain words, at least one of them typical of sentences, and no colon as in `error:`.
fn is_prose(line: &str, facts: &LanguageFacts) -> bool {
    let (all, plain) = (line.split_whitespace().count(), plain_words(line).count());
    let is_sentence = || plain_words(line).any(|word| is_stop_word(&word.to_lowercase()));
    let is_message = line.split_whitespace().take(2).any(|word| word.ends_with(':'));
    plain >= PROSE_WORDS && 3 * plain >= 2 * all && !is_message && !is_code(line, facts) && is_sentence()
}

#[cfg(test)]
mod tests;
