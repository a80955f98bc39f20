//! The names of definitions, or words of files, that are nearly a name which occurs nowhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use colgrep_core::mistyped::{MistypedName, letters};
use colgrep_core::token::{Tokenizer, is_word_char, words};
use colgrep_index::error::Result;
use colgrep_index::ids::FileId;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Maximum of names that one is compared with as written.
const NAMES_MAX: usize = 64;
/// Maximum of files that are read to see how they spell a term, and of all files that are read.
const FILES_OF_TERM_MAX: usize = 16;
const FILES_MAX: usize = 64;
/// Maximum of bytes in them.
const BYTES_MAX: usize = 8 << 20;
/// Maximum of letters that one name may have more than the other.
const LENGTHS_APART_MAX: usize = 2;

/// Asks, for each name, for the names of allowed definitions, or the words of allowed files, that differ least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearNamesRequest {
    /// The names, as typed.
    pub names: Vec<String>,
    /// Whether to compare them with words of files instead of names of definitions.
    pub among_words: bool,
}

/// The names nearest to a typed one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearNames {
    /// The number of letters in which they differ.
    pub changes: u32,
    /// Each name, as written, with the number of its definitions, or of files that were read and have it.
    pub names: BTreeMap<String, u64>,
}

impl NearNames {
    /// The name with the most of them.
    pub(crate) fn most_common(&self) -> Option<&str> {
        let count = |(name, count): &(&String, &u64)| (**count, std::cmp::Reverse((*name).clone()));
        self.names.iter().max_by_key(count).map(|(name, _)| name.as_str())
    }

    /// Adds names, unless nearer ones are known.
    fn add(&mut self, other: NearNames) {
        if self.names.is_empty() || (!other.names.is_empty() && other.changes < self.changes) {
            *self = other;
        } else if other.changes == self.changes {
            other.names.into_iter().for_each(|(name, count)| *self.names.entry(name).or_default() += count);
        }
    }
}

impl Round for NearNamesRequest {
    type Answer = Vec<NearNames>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<NearNames>> {
        if self.among_words {
            return self.names.iter().map(|name| near_words(search, name)).collect();
        }
        let lexical = &search.snapshot.lexical;
        let typed: Vec<Option<MistypedName>> = self.names.iter().map(|name| MistypedName::new(name)).collect();
        let mut alike: Vec<BTreeSet<String>> = vec![BTreeSet::new(); typed.len()];
        lexical.each_definition_name(|known| {
            for (typed, alike) in typed.iter().zip(&mut alike) {
                if alike.len() < NAMES_MAX && typed.as_ref().is_some_and(|typed| typed.may_mean(known)) {
                    alike.insert(known.to_string());
                }
            }
        })?;
        let mut found = Vec::new();
        for (typed, alike) in typed.iter().zip(alike) {
            let mut near = NearNames::default();
            for lower in alike {
                for name in lexical.spellings_of(&lower, search.filter())? {
                    if let Some(changes) = typed.as_ref().and_then(|typed| typed.changes_to(&name)) {
                        near.add(NearNames { changes, names: BTreeMap::from([(name, 1)]) });
                    }
                }
            }
            found.push(near);
        }
        Ok(found)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<NearNames>> {
        let mut all = vec![NearNames::default(); self.names.len()];
        for found in corpus.each(self)? {
            all.iter_mut().zip(found).for_each(|(all, found)| all.add(found));
        }
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<NearNames>, extent: &ShardExtent) -> bool {
        let is_valid = |near: &NearNames| near.names.values().all(|count| count.is_valid(extent));
        answer.len() == self.names.len() && answer.iter().all(is_valid)
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The words of files that differ least from a name.
fn near_words(search: &LocalSearch<'_>, name: &str) -> Result<NearNames> {
    let mut near = NearNames::default();
    let Some(typed) = MistypedName::new(name) else { return Ok(near) };
    let mut tokenizer = Tokenizer::default();
    let first = tokenizer.normal(name.trim_matches('_')).chars().next();
    // The terms of words without underscores are stems.
    let stem = MistypedName::new(tokenizer.normal(&name.replace('_', "")));
    // The words of a name with hyphens are terms of their own, one of which is mistyped.
    let is_hyphenated = name.contains('-');
    let pieces: Vec<String> = name.split('-').map(|piece| tokenizer.normal(piece).to_string()).collect();
    let pieces = if is_hyphenated { pieces } else { Vec::new() };
    let mistyped: Vec<MistypedName> = pieces.iter().filter_map(|piece| MistypedName::new(piece)).collect();
    let is_piece = |term: &str| {
        mistyped.iter().any(|piece| piece.may_mean(term)) && !pieces.iter().any(|piece| piece.as_str() == term)
    };
    let mut alike: BTreeSet<String> = BTreeSet::new();
    search.snapshot.lexical.each_term(|term| {
        let may_mean = |typed: &MistypedName| term.chars().next() == first && typed.may_mean(term);
        let is_alike = || may_mean(&typed) || stem.as_ref().is_some_and(may_mean) || is_piece(term);
        if alike.len() < NAMES_MAX && is_alike() {
            alike.insert(term.to_string());
        }
    })?;
    let allowed = |files: &[FileId]| -> Vec<FileId> {
        files.iter().copied().filter(|file| search.shard.allows(*file)).take(FILES_OF_TERM_MAX).collect()
    };
    let mut files: BTreeSet<FileId> = BTreeSet::new();
    for term in &alike {
        files.extend(search.files_with(term, allowed)?);
    }
    let root = Path::new(&search.snapshot.files.root);
    let mut bytes = 0;
    for file in files.into_iter().take(FILES_MAX) {
        let Some(record) = search.shard.record(search.shard.place(file)) else { continue };
        let Ok(text) = search.snapshot.texts.text(root, &record.path) else { continue };
        bytes += text.len();
        if bytes > BYTES_MAX {
            break;
        }
        let mut all: HashSet<&str> = words(&text).map(|word| text[word].trim_matches('_')).collect();
        if is_hyphenated {
            let of_name = |c: char| is_word_char(c) || c == '-';
            all.extend(text.split(|c: char| !of_name(c)).map(|word| word.trim_matches(['_', '-'])));
        }
        for word in all.into_iter().filter(|word| is_slip(name, word)) {
            let Some(changes) = typed.changes_to(word) else { continue };
            if word.contains('-') || alike.contains(tokenizer.normal(word)) {
                near.add(NearNames { changes, names: BTreeMap::from([(word.to_string(), 1)]) });
            }
        }
    }
    Ok(near)
}

/// Whether letters of a name are missing, doubled or swapped in the other: with another letter, it is another word.
fn is_slip(name: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = letters(text).chars().collect();
        letters.sort_unstable();
        letters
    };
    let (one, other) = (sorted(name), sorted(other));
    one.len().abs_diff(other.len()) <= LENGTHS_APART_MAX && (one.len() != other.len() || one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_whatever_marks_its_letters_have() {
        for (name, other, expected) in [
            ("close_scoket", "close_socket", true),
            ("close_scoket", "closeSocket", true),
            ("cafe\u{301}_scoket", "café_socket", true),
            ("close_rocket", "close_socket", false),
        ] {
            assert_eq!(is_slip(name, other), expected, "{name} {other}");
        }
    }
}
