//! The names of definitions that are nearly a name which occurs nowhere.

use std::collections::{BTreeMap, BTreeSet};

use colgrep_core::mistyped::MistypedName;
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Maximum of names that one is compared with as written.
const NAMES_MAX: usize = 64;

/// Asks, for each name, for the names of allowed definitions that differ least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearNamesRequest {
    /// The names, as typed.
    pub names: Vec<String>,
}

/// The names nearest to a typed one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearNames {
    /// The number of letters in which they differ.
    pub changes: u32,
    /// Each name, as written, with the number of its definitions.
    pub names: BTreeMap<String, u64>,
}

impl NearNames {
    /// The name with the most definitions.
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
