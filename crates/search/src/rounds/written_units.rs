//! The units whose name is a text, word for word.

use colgrep_core::token::Tokenizer;
use colgrep_core::written_name::{NAME_WORDS_MAX, NameAgreement, name_agreement};
use colgrep_index::error::Result;
use colgrep_syntax::language::{self, Category};
use serde::{Deserialize, Serialize};

use super::scan::seen_in;
use super::{Coordinator, LocalSearch, Round, Validate};
use crate::file_kind::category;
use crate::shard::{ShardExtent, UnitFound};

/// Maximum of units whose names are compared: a text that more names contain is no name.
const UNITS_MAX: usize = 4_096;

/// Asks for the allowed units of this name, by file and line; then for those that a language refers to by it. A plain
/// word in lower case names headings only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenUnitsRequest {
    /// The name as typed, which may be qualified.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenUnit {
    pub unit: UnitFound,
    /// True if the case agrees.
    pub is_same_case: bool,
    /// True if all characters agree.
    pub is_exact: bool,
    pub is_heading: bool,
    /// True if its file is prose, data, a test, benchmark or example, or vendored.
    pub is_aside: bool,
}

impl Round for WrittenUnitsRequest {
    type Answer = Vec<WrittenUnit>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<WrittenUnit>> {
        let mut found = named(search, &self.text, None)?;
        for language in language::known() {
            if let Some(declared) = language.declared_name(&self.text) {
                found.extend(named(search, &declared, Some(language.name))?);
            }
        }
        Ok(found)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<WrittenUnit>> {
        let mut all = Vec::new();
        for (shard, found) in corpus.each(self)?.into_iter().enumerate() {
            all.extend(found.into_iter().map(|one| WrittenUnit { unit: corpus.found(shard, one.unit), ..one }));
        }
        all.sort_by_key(|one| one.unit.place());
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<WrittenUnit>, extent: &ShardExtent) -> bool {
        answer.iter().all(|one| one.unit.is_valid(extent))
    }

    fn is_empty(&self) -> bool {
        let words = colgrep_core::token::words(&self.text).take(NAME_WORDS_MAX + 1).count();
        !(1..=NAME_WORDS_MAX).contains(&words)
    }
}

/// The units of a name, in a language or in all.
fn named(search: &LocalSearch<'_>, name: &str, language: Option<&str>) -> Result<Vec<WrittenUnit>> {
    let lexical = &search.snapshot.lexical;
    let mut terms = Tokenizer::default().part_terms(name);
    terms.sort_unstable();
    terms.dedup();
    let hits = lexical.units_with_names(&terms, search.filter())?;
    let is_word = name.chars().all(char::is_lowercase);
    // A plain word is a part of many names, and means a heading.
    if hits.len() > UNITS_MAX && !is_word {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for unit in search.shard.in_order(&hits) {
        let record = search.shard.record(unit.file);
        let is_heading = record.is_some_and(|record| category(&record.language) == Category::Prose);
        if is_word && !is_heading {
            continue;
        }
        if language.is_some_and(|wanted| record.is_none_or(|record| record.language != wanted)) {
            continue;
        }
        let stored = lexical.unit(unit.unit)?.unit(&[]);
        let Some(agreement) = name_agreement(name, &stored) else { continue };
        found.push(WrittenUnit {
            unit,
            is_same_case: agreement >= NameAgreement::Case,
            is_exact: agreement == NameAgreement::Exact,
            is_heading,
            is_aside: record.is_some_and(|record| seen_in(record, unit.line).is_aside),
        });
    }
    Ok(found)
}
