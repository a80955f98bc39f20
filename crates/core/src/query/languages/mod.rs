//! Reads questions in other languages than English: their words through glossaries of the terms of code.
//!
//! A glossary maps a language's words to the English ones that code uses; words that carry only the form of a question
//! map to nothing. Code, names, paths, quotes and unknown words with Latin letters stay as typed. The words of the
//! language itself are kept apart: comments and documents may contain them.

mod chinese;
mod detect;
mod glossary;
mod inflection;
mod natural;
#[cfg(test)]
mod questions;
mod segment;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use natural::NaturalLanguage;

use chinese::simplified;
use detect::{is_han, is_hangul, is_kana, language_of};
use glossary::Glossary;
use inflection::{english_of, term_of_words, without_accents};
use segment::{Chunk, ChunkKind, chunks};

use crate::fold::{composed, folded};

/// Longer texts are read as typed: they are pasted files. In bytes.
const BYTES_READ_MAX: usize = 32 << 10;
const KIND_NOUNS: &[&str] =
    &["class", "code", "constant", "function", "interface", "method", "struct", "type", "variable"];
/// Prepositions that reverse their neighbours in English.
const PREPOSITIONS: &[&str] = &["d", "de"];
/// Words that ask for the definition of a name.
const DEFINITION_WORDS: &[&str] = &["declaration", "declare", "define", "definition", "implement", "implementation"];
/// Words that ask for the callers of a name.
const CALL_WORDS: &[&str] = &["call", "caller", "invoke"];
/// Words that ask for the uses of a name.
const USE_WORDS: &[&str] = &["reference", "usage", "use"];

/// Nouns for code that a question is about only in form.
const FRAME_NOUNS: &[&str] = &["code", "function", "logic", "method"];
/// The same at the end of a question: "the handling that retries".
const LAST_FRAME_NOUNS: &[&str] = &["code", "function", "handle", "logic", "method"];
/// Minimum of other parts in a query with such a noun.
const PARTS_BESIDE_FRAME_MIN: usize = 2;

/// A query in another language, as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The language it was typed in.
    pub language: NaturalLanguage,
    /// The query in English.
    pub text: String,
    /// Its words in the language that was typed, without those that carry only its form.
    pub words: String,
    /// Whether it has such words, as a question has and a name or a heading has not.
    pub has_form: bool,
}

/// A part of a query, as read.
enum ReadPart<'t> {
    /// The English of a term.
    English(Cow<'static, str>),
    /// As typed.
    Kept(&'t str),
    /// A preposition that reverses its neighbours.
    Of,
    Break,
}

/// The parts of a query, and the words of its own language.
#[derive(Default)]
struct ReadParts<'t> {
    parts: Vec<ReadPart<'t>>,
    words: String,
    /// Letters of what is kept as typed.
    kept: usize,
    /// Whether the glossary has some word.
    is_known: bool,
}

/// Reads a query in another language than English. `None` if it is in English, or no word of it is known. `is_name` says
/// whether the project has a word in names; such a word alone is one.
pub fn translated(text: &str, mut is_name: impl FnMut(&str) -> bool) -> Option<Translation> {
    if text.len() > BYTES_READ_MAX {
        return None;
    }
    let text = composed(text);
    let is_unspaced = |c| is_hangul(c) || is_kana(c) || is_han(c);
    let chunks = chunks(&text, is_unspaced);
    let language = language_of(&chunks, &mut is_name)?;
    let mut read = ReadParts::default();
    match language.is_unspaced() {
        true => read.read_unspaced(language, &chunks),
        false => read.read_words(language, &chunks),
    }
    read.drop_frame(language);
    let english = question_for_name(&read.parts).unwrap_or_else(|| written(&read.parts));
    let is_read = read.is_known && !english.trim().is_empty() && english != text;
    let of_chunks: usize = chunks.iter().map(|chunk| letters(chunk.text)).sum();
    let has_form = of_chunks > letters(&read.words) + read.kept;
    is_read.then_some(Translation { language, text: english, words: read.words, has_form })
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

impl<'t> ReadParts<'t> {
    /// Adds what the glossary has for a term: nothing for one that carries only the form of the query.
    fn add(&mut self, english: Cow<'static, str>) {
        self.is_known = true;
        if !english.is_empty() {
            self.parts.push(ReadPart::English(english));
        }
    }

    /// Adds a word of the language; `is_joined` if it continues the last one.
    fn add_word(&mut self, word: &str, is_joined: bool) {
        if !is_joined && !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(word);
    }

    fn add_other(&mut self, chunk: &Chunk<'t>) {
        self.parts.push(match chunk.kind {
            ChunkKind::Break => ReadPart::Break,
            _ => {
                self.kept += letters(chunk.text);
                ReadPart::Kept(chunk.text)
            }
        });
    }

    /// Drops a noun for code that what is said about it follows, or precedes: "the function that parses a date".
    fn drop_frame(&mut self, language: NaturalLanguage) {
        let (nouns, at) = match language.is_unspaced() {
            true => (LAST_FRAME_NOUNS, self.parts.len().saturating_sub(1)),
            false => (FRAME_NOUNS, 0),
        };
        let is_long = self.parts.iter().filter(|part| text_of(part).is_some()).count() > PARTS_BESIDE_FRAME_MIN;
        if is_long && self.parts.get(at).and_then(english_of_part).is_some_and(|english| nouns.contains(&english)) {
            self.parts.remove(at);
        }
    }

    /// Reads runs of text by the longest terms in them.
    fn read_unspaced(&mut self, language: NaturalLanguage, chunks: &[Chunk<'t>]) {
        let glossary = language.glossary();
        let is_run = |chunk: &Chunk<'_>| chunk.kind == ChunkKind::Unspaced;
        for chunks in chunks.chunk_by(|one, next| is_run(one) && is_run(next)) {
            match chunks {
                [first, ..] if is_run(first) && language == NaturalLanguage::Korean => {
                    let words: Vec<&str> = chunks.iter().map(|chunk| chunk.text).collect();
                    self.read_korean(&glossary, &words.join(" "));
                }
                [first, ..] if is_run(first) && language == NaturalLanguage::Chinese => {
                    chunks.iter().for_each(|chunk| self.read_run(&glossary, chunk.text, &simplified(chunk.text)));
                }
                [first, ..] if is_run(first) => {
                    chunks.iter().for_each(|chunk| self.read_run(&glossary, chunk.text, chunk.text));
                }
                _ => chunks.iter().for_each(|chunk| self.add_other(chunk)),
            }
        }
    }

    /// Reads a run of Chinese or Japanese. `known` is the run with the characters of the glossary. Hiragana that no term
    /// has are endings and particles.
    fn read_run(&mut self, glossary: &Glossary, run: &str, known: &str) {
        let (mut at, mut is_joined) = (0, false);
        while let Some(c) = run[at..].chars().next() {
            let found = glossary.longest(&known[at..]);
            let len = found.map_or(c.len_utf8(), |(len, _)| len);
            let is_hiragana = matches!(c as u32, 0x3041..=0x309F);
            let is_content = found.map_or(!is_hiragana, |(_, english)| !english.is_empty());
            if is_content {
                self.add_word(&run[at..at + len], is_joined);
            }
            is_joined = is_content;
            if let Some((_, english)) = found {
                self.add(Cow::Borrowed(english));
            }
            at += len;
        }
    }

    /// Reads words of Korean: terms, of one word or several, and behind them an ending or a particle.
    fn read_korean(&mut self, glossary: &Glossary, words: &str) {
        let (mut at, mut is_joined, mut is_behind) = (0, false, false);
        while let Some(c) = words[at..].chars().next() {
            if c == ' ' {
                (is_joined, is_behind) = (false, false);
                at += 1;
                continue;
            }
            // A syllable behind a term is a particle.
            let found = glossary.longest(&words[at..]).filter(|(len, _)| !is_behind || *len > c.len_utf8());
            let Some((len, english)) = found else {
                if is_behind {
                    at = words[at..].find(' ').map_or(words.len(), |len| at + len);
                } else {
                    self.add_word(&words[at..at + c.len_utf8()], is_joined);
                    is_joined = true;
                    at += c.len_utf8();
                }
                continue;
            };
            if !english.is_empty() {
                self.add_word(&words[at..at + len], is_joined);
            }
            is_joined = !english.is_empty();
            is_behind = true;
            self.add(Cow::Borrowed(english));
            at += len;
        }
    }

    /// Reads words, several together where the glossary has them as one term.
    fn read_words(&mut self, language: NaturalLanguage, chunks: &[Chunk<'t>]) {
        let glossary = language.glossary();
        let mut at = 0;
        while let Some(chunk) = chunks.get(at) {
            if chunk.kind != ChunkKind::Word {
                self.add_other(chunk);
                at += 1;
                continue;
            }
            if let Some((count, english)) = term_of_words(language, &glossary, words_from(&chunks[at..])) {
                if !english.is_empty() {
                    let subject = chunks[at..at + count].iter().filter(|chunk| !is_form(&glossary, chunk.text));
                    subject.for_each(|chunk| self.add_word(chunk.text, false));
                }
                self.add(Cow::Borrowed(english));
                at += count;
                continue;
            }
            let lower = folded(chunk.text);
            if language.is_romance() && PREPOSITIONS.contains(&&*lower) {
                self.parts.push(ReadPart::Of);
                at += 1;
                continue;
            }
            match english_of(language, &glossary, &lower) {
                Some(english) => {
                    if !english.is_empty() {
                        self.add_word(chunk.text, false);
                    }
                    self.add(english);
                }
                None if chunk.text.is_ascii() => self.add_other(chunk),
                None => self.add_word(chunk.text, false),
            }
            at += 1;
        }
    }
}

/// Whether a word carries only the form of a query.
fn is_form(glossary: &Glossary, word: &str) -> bool {
    let lower = folded(word);
    PREPOSITIONS.contains(&&*lower) || glossary.get(&format!("={}", without_accents(&lower))) == Some("")
}

/// The words that some chunks begin with.
fn words_from<'a>(chunks: &'a [Chunk<'_>]) -> impl Iterator<Item = Cow<'a, str>> {
    chunks.iter().take_while(|chunk| chunk.kind == ChunkKind::Word).map(|chunk| folded(chunk.text))
}

/// The query in English. Terms around a preposition without an article change places: `pool de conexiones` is a
/// "connection pool".
fn written(parts: &[ReadPart<'_>]) -> String {
    let mut lines: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        let (Some(line), Some(word)) = (lines.last_mut(), text_of(part)) else {
            if matches!(part, ReadPart::Break) {
                lines.push(Vec::new());
            }
            at += 1;
            continue;
        };
        let mut joined = vec![word];
        at += 1;
        while let [ReadPart::Of, next, ..] = &parts[at..]
            && let Some(next) = text_of(next)
        {
            joined.push(next);
            at += 2;
        }
        line.extend(joined.into_iter().rev());
    }
    lines.iter().map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

fn text_of<'a>(part: &'a ReadPart<'_>) -> Option<&'a str> {
    match part {
        ReadPart::English(english) => Some(english),
        ReadPart::Kept(text) => Some(text),
        ReadPart::Of | ReadPart::Break => None,
    }
}

fn english_of_part<'a>(part: &'a ReadPart<'_>) -> Option<&'a str> {
    match part {
        ReadPart::English(english) => Some(english),
        _ => None,
    }
}

/// The English question for the definition, the callers or the uses of a name, if the query asks for nothing else.
fn question_for_name(parts: &[ReadPart<'_>]) -> Option<String> {
    let mut names = parts.iter().filter_map(|part| match part {
        ReadPart::Kept(text) => Some(*text),
        _ => None,
    });
    let name = names.next().filter(|name| name.is_ascii() && !name.contains(char::is_whitespace))?;
    let english: Vec<&str> = parts.iter().filter_map(english_of_part).collect();
    let is_asked = |word: &&&str| english.len() == 1 || !KIND_NOUNS.contains(*word);
    let mut asked = english.iter().filter(is_asked);
    let word = asked.next()?;
    if names.next().is_some() || asked.next().is_some() {
        return None;
    }
    let question = [(DEFINITION_WORDS, "definition of"), (CALL_WORDS, "callers of"), (USE_WORDS, "usages of")];
    let (_, question) = question.iter().find(|(words, _)| words.contains(word))?;
    Some(format!("{question} {name}"))
}
