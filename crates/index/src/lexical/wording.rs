//! Facts about the words of a question: which units have them, and which of the index's own words are similar.

use std::collections::HashSet;

use colgrep_core::bm25::Field as UnitField;
use colgrep_core::statistics::TermCount;
use colgrep_core::token::{Tokenizer, words};
use tantivy::Term;

use super::read::{Lexical, UnitFilter, UnitHit};
use super::{run_of, term_of_word};
use crate::error::Result;
use crate::ids::FileId;

impl Lexical {
    /// The files with a written word in any form, or with its pieces in a row if it has several (`1.2.3`): first all of
    /// them, then those with it in their text, not just in their paths.
    pub fn files_with_word(&self, word: &str) -> Result<(HashSet<FileId>, HashSet<FileId>)> {
        let mut tokenizer = Tokenizer::default();
        if words(word).nth(1).is_some() {
            let units = self.units_with_run(&run_of(word, &mut tokenizer))?;
            let files: HashSet<FileId> = units.into_iter().map(|unit| unit.1).collect();
            return Ok((files.clone(), files));
        }
        let (mut all, mut by_text) = (HashSet::new(), HashSet::new());
        let Some(term) = term_of_word(word, &mut tokenizer) else { return Ok((all, by_text)) };
        for (field, kind) in self.fields.unit.into_iter().zip(UnitField::ALL) {
            let files = if matches!(kind, UnitField::Stem | UnitField::Folder) { &mut all } else { &mut by_text };
            let term = Term::from_field_text(field, &term);
            for segment in &self.segments {
                segment.each(&term, |doc| _ = files.insert(segment.file(doc)))?;
            }
        }
        all.extend(&by_text);
        Ok((all, by_text))
    }

    /// The number of units with a written word, for each field; 0 for a word of several pieces.
    pub fn count_of_word(&self, word: &str) -> Result<TermCount> {
        let mut tokenizer = Tokenizer::default();
        match term_of_word(word, &mut tokenizer).filter(|_| words(word).nth(1).is_none()) {
            Some(term) => self.count_of(&term),
            None => Ok(TermCount::default()),
        }
    }

    /// Calls `visit` with the terms in names and texts of units, including deleted ones.
    pub fn each_term(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        let fields = UnitField::ALL.iter().zip(self.fields.unit);
        for (_, field) in fields.filter(|(of, _)| matches!(of, UnitField::Name | UnitField::Body)) {
            for segment in &self.segments {
                let index = segment.reader.inverted_index(field)?;
                let mut all = index.terms().stream().map_err(tantivy::TantivyError::from)?;
                while let Some((bytes, _)) = all.next() {
                    std::str::from_utf8(bytes).into_iter().for_each(&mut visit);
                }
            }
        }
        Ok(())
    }

    /// The first unit by file and line that has a term and that `filter` allows.
    pub fn unit_with_term(&self, term: &str, filter: Option<&dyn UnitFilter>) -> Result<Option<UnitHit>> {
        for field in self.fields.unit {
            let units = self.units_of_term(&Term::from_field_text(field, term), filter)?;
            if let Some(unit) = units.into_iter().next() {
                return Ok(Some(unit));
            }
        }
        Ok(None)
    }
}
