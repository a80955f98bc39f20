//! The language of a query, by its script or by its words.

use std::borrow::Cow;

use super::chinese::simplified;
use super::inflection::{by_stem, english_of, term_of_words, without_accents};
use super::natural::{NaturalLanguage, is_english};
use super::segment::{Chunk, ChunkKind};

/// Maximum of words that are read to tell a language with Latin letters.
const WORDS_READ_MAX: usize = 32;
/// Maximum of characters that are read to tell Chinese from Japanese.
const CHARACTERS_COMPARED_MAX: usize = 100;
/// Minimum of letters of a word that tells a language without a function word beside it.
const LETTERS_OF_ONE_WORD_MIN: usize = 5;

/// The language of a query, if it is not English. `is_name` says whether the project has a word in names, as a lone word
/// of a query is then one.
pub(super) fn language_of(chunks: &[Chunk<'_>], is_name: &mut dyn FnMut(&str) -> bool) -> Option<NaturalLanguage> {
    by_script(chunks).or_else(|| by_words(chunks, is_name))
}

fn by_script(chunks: &[Chunk<'_>]) -> Option<NaturalLanguage> {
    let words = || chunks.iter().filter(|chunk| chunk.kind != ChunkKind::Kept);
    let has = |is_of: fn(char) -> bool| words().any(|chunk| chunk.text.contains(is_of));
    let is_own = |c: &char| is_hangul(*c) || is_kana(*c) || is_han(*c) || is_cyrillic(*c);
    let own = words().flat_map(|chunk| chunk.text.chars()).filter(is_own).count();
    // A name in an English text.
    if own < words().filter(|chunk| is_english_form(&chunk.text.to_lowercase())).count() {
        return None;
    }
    if has(is_hangul) {
        return Some(NaturalLanguage::Korean);
    }
    if has(is_kana) {
        return Some(NaturalLanguage::Japanese);
    }
    if has(is_han) {
        // Without kana, the language is the one whose table explains more of the text.
        let runs = words().filter(|chunk| chunk.kind == ChunkKind::Unspaced);
        let text: String = runs.flat_map(|chunk| chunk.text.chars()).take(CHARACTERS_COMPARED_MAX).collect();
        let covered = |language: NaturalLanguage, text: &str| {
            let glossary = language.glossary();
            let (mut at, mut covered) = (0, 0);
            while let Some(c) = text[at..].chars().next() {
                let len = glossary.longest(&text[at..]).map(|(len, _)| len);
                covered += len.unwrap_or_default();
                at += len.unwrap_or(c.len_utf8());
            }
            covered
        };
        let is_japanese =
            covered(NaturalLanguage::Japanese, &text) > covered(NaturalLanguage::Chinese, &simplified(&text));
        return Some(if is_japanese { NaturalLanguage::Japanese } else { NaturalLanguage::Chinese });
    }
    has(is_cyrillic).then_some(NaturalLanguage::Russian)
}

/// What the words of a query say about one language.
#[derive(Default)]
struct WordEvidence<'w> {
    /// Words that the language has and English lacks, without function words.
    own: Vec<&'w str>,
    /// Such function words.
    own_forms: Vec<&'w str>,
    /// Words that both have: "in", "die", "parser".
    shared: usize,
    /// English function words that the language lacks.
    english: usize,
}

impl WordEvidence<'_> {
    fn own_count(&self) -> usize {
        self.own.len() + self.own_forms.len()
    }

    /// Whether the query is in the language rather than in English. One word without accents says nothing: `os`, `ca` and
    /// `es` are function words of some language and names in code. Two do if one is a function word; without any, each
    /// has to be long and no name of the project.
    fn is_sure(&self, words: usize, is_name: &mut dyn FnMut(&str) -> bool) -> bool {
        let mut all = self.own.iter().chain(&self.own_forms);
        let is_accented = all.any(|word| !word.is_ascii());
        let is_long = |word: &&str| word.len() >= LETTERS_OF_ONE_WORD_MIN && !is_name(word);
        self.own_count() > self.english
            && (is_accented
                || match (self.own.len(), self.own_forms.len()) {
                    (own, 0) => own > 0 && (own > 1 || words <= 2) && self.own.iter().all(is_long),
                    (own, forms) => own + forms > 1,
                })
    }
}

fn by_words(chunks: &[Chunk<'_>], is_name: &mut dyn FnMut(&str) -> bool) -> Option<NaturalLanguage> {
    let words: Vec<String> = chunks
        .iter()
        // What an apostrophe cuts off may be of any language.
        .filter(|chunk| chunk.kind == ChunkKind::Word && chunk.text.len() > 1)
        .take(WORDS_READ_MAX)
        .map(|chunk| chunk.text.to_lowercase())
        .collect();
    let is_known: Vec<bool> = words.iter().map(|word| is_english(word)).collect();
    if is_known.iter().all(|is_known| *is_known) {
        return None;
    }
    let (mut best, mut language) = (WordEvidence::default(), None);
    for candidate in NaturalLanguage::LATIN {
        let mut evidence = WordEvidence::default();
        let glossary = candidate.glossary();
        let mut of_term = 0;
        for (at, (word, is_english)) in words.iter().zip(&is_known).enumerate() {
            let rest = words[at..].iter().map(|word| Cow::Borrowed(word.as_str()));
            if of_term == 0 {
                of_term = term_of_words(candidate, &glossary, rest).map_or(0, |(count, _)| count);
            }
            let is_in_term = of_term > 0;
            of_term = of_term.saturating_sub(1);
            let is_preposition = candidate.is_romance() && word == "de";
            let is_form = is_preposition || glossary.get(&format!("={}", without_accents(word))) == Some("");
            let is_known = || match *is_english {
                true => by_stem(candidate, &glossary, word).is_some(),
                false => english_of(candidate, &glossary, word).is_some(),
            };
            if *is_english && is_english_form(word) && !is_form {
                evidence.english += 1;
            } else if is_in_term || is_form || is_known() {
                match (*is_english, is_form) {
                    (true, _) => evidence.shared += 1,
                    (false, true) => evidence.own_forms.push(word),
                    (false, false) => evidence.own.push(word),
                }
            }
        }
        if (evidence.own_count(), evidence.shared) > (best.own_count(), best.shared) {
            (best, language) = (evidence, Some(candidate));
        }
    }
    language.filter(|_| best.is_sure(words.len(), is_name))
}

/// Whether a word carries the form of English sentences.
fn is_english_form(word: &str) -> bool {
    crate::token::is_stop_word(word) || matches!(word, "i" | "we" | "you" | "can" | "should" | "will" | "would")
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF)
}

pub(super) fn is_kana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9D)
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c as u32, 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}

fn is_cyrillic(c: char) -> bool {
    matches!(c as u32, 0x0400..=0x052F)
}
