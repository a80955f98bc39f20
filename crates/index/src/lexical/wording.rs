//! What the index knows of the words of a question: which units hold them, and which of its own words are near.

use colgrep_core::UnitId;
use colgrep_core::bm25::Field as UnitField;
use colgrep_core::statistics::TermCount;
use colgrep_core::token::{Tokenizer, words};
use tantivy::Term;

use super::read::{Lexical, UnitFilter, UnitHit, key};
use super::{run_of, term_of_word};
use crate::error::Result;
use crate::ids::FileId;

impl Lexical {
    /// The units that hold a written word, ascending, each with its file: in any form, and what is written in several
    /// pieces (`1.2.3`) with these in a row.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn units_with_word(&self, word: &str) -> Result<Vec<(UnitId, FileId)>> {
        let mut tokenizer = Tokenizer::default();
        if words(word).nth(1).is_some() {
            return self.units_with_run(&run_of(word, &mut tokenizer));
        }
        let Some(term) = term_of_word(word, &mut tokenizer) else { return Ok(Vec::new()) };
        let mut units = Vec::new();
        for field in self.fields.unit {
            let term = Term::from_field_text(field, &term);
            for (s, segment) in self.segments.iter().enumerate() {
                segment.each(&term, |doc| units.push((key(s, doc), segment.file(doc))))?;
            }
        }
        units.sort_unstable();
        units.dedup();
        Ok(units)
    }

    /// In how many units each field has a written word; 0 for what is written in several pieces.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn count_of_word(&self, word: &str) -> Result<TermCount> {
        let mut tokenizer = Tokenizer::default();
        match term_of_word(word, &mut tokenizer).filter(|_| words(word).nth(1).is_none()) {
            Some(term) => self.count_of(&term),
            None => Ok(TermCount::default()),
        }
    }

    /// Calls `visit` with terms in names and texts of units, and how many units of a part of the index have each.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn each_term(&self, mut visit: impl FnMut(&str, u32)) -> Result<()> {
        let fields = UnitField::ALL.iter().zip(self.fields.unit);
        for (_, field) in fields.filter(|(of, _)| matches!(of, UnitField::Name | UnitField::Body)) {
            for segment in &self.segments {
                let index = segment.reader.inverted_index(field)?;
                let mut all = index.terms().stream().map_err(tantivy::TantivyError::from)?;
                while let Some((bytes, info)) = all.next() {
                    std::str::from_utf8(bytes).into_iter().for_each(|term| visit(term, info.doc_freq));
                }
            }
        }
        Ok(())
    }

    /// A unit that holds a term and that `filter` allows, the first by file and line.
    ///
    /// # Errors
    /// When the index can't be read.
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
