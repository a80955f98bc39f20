//! Why a name may be called although no definition is known to call it.

use std::collections::{BTreeSet, HashMap};

use colgrep_core::query::last_segment;
use colgrep_core::token::Tokenizer;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{CodeName, term_of_word};
use colgrep_index::store::{FileRecord, Snapshot};
use colgrep_syntax::language::{self, Category, Language};

use crate::error::Result;
use crate::request::Facts;

/// Where the names occur that facts about calls ask for and nothing is known to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownCalls {
    /// Whether a file other than prose has one.
    pub are_named: bool,
    /// The languages of the files with one whose calls are not known.
    pub languages: BTreeSet<String>,
}

impl UnknownCalls {
    /// Adds what these files of an index have.
    pub fn add(&mut self, facts: &Facts, files: &[&FileRecord], snapshot: &Snapshot) -> Result<()> {
        let mut tokenizer = Tokenizer::default();
        let records: HashMap<FileId, &FileRecord> = files.iter().map(|record| (record.id, *record)).collect();
        let calls = facts.calls.iter().map(|name| (name, true));
        for (name, is_called) in calls.chain(facts.called_by.iter().map(|name| (name, false))) {
            let asked = CodeName::new(name, facts.ignore_case);
            let known = match is_called {
                true => snapshot.lexical.callers_of(&asked, None)?,
                false => snapshot.called_by(&asked)?,
            };
            if known.iter().any(|hit| records.contains_key(&hit.file)) {
                continue;
            }
            let Some(term) = term_of_word(last_segment(name), &mut tokenizer) else { continue };
            let naming = snapshot.lexical.files_with(&term)?.into_iter().filter_map(|file| records.get(&file));
            let languages: BTreeSet<&str> = naming.map(|record| record.language.as_str()).collect();
            for (name, row) in languages.into_iter().map(|name| (name, language::by_name(name))) {
                if row.is_none_or(|row| row.category != Category::Prose) {
                    self.are_named = true;
                    self.languages.extend((!row.is_some_and(Language::knows_calls)).then(|| name.to_string()));
                }
            }
        }
        Ok(())
    }
}
