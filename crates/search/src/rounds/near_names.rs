//! The names of definitions, or words of files, that are nearly a name which occurs nowhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use colgrep_core::mistyped::MistypedName;
use colgrep_core::token::{Tokenizer, words};
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
    let mut alike: BTreeSet<String> = BTreeSet::new();
    search.snapshot.lexical.each_term(|term| {
        let is_alike = || typed.may_mean(term) || stem.as_ref().is_some_and(|stem| stem.may_mean(term));
        if alike.len() < NAMES_MAX && term.chars().next() == first && is_alike() {
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
        let all: HashSet<&str> = words(&text).map(|word| text[word].trim_matches('_')).collect();
        for word in all.into_iter().filter(|word| is_slip(name, word)) {
            let Some(changes) = typed.changes_to(word) else { continue };
            if alike.contains(tokenizer.normal(word)) {
                near.add(NearNames { changes, names: BTreeMap::from([(word.to_string(), 1)]) });
            }
        }
    }
    Ok(near)
}

/// Whether letters of a name are missing, doubled or swapped in the other: with another letter, it is another word.
fn is_slip(name: &str, other: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        letters.sort_unstable();
        letters
    };
    let (one, other) = (letters(name), letters(other));
    one.len().abs_diff(other.len()) <= LENGTHS_APART_MAX && (one.len() != other.len() || one == other)
}
