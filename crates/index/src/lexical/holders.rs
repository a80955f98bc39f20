//! Finds files by term, the unit around a line, and the lines matched by a query's words.

use std::collections::{BTreeMap, HashMap};

use colgrep_core::UnitId;
use colgrep_core::bm25::Field as UnitField;
use colgrep_core::fold::folded;
use colgrep_core::query::Query;
use colgrep_core::token::Tokenizer;
use rayon::prelude::*;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, Term};

use super::fields::Info;
use super::read::{Lexical, LexicalSegment, UnitFilter, UnitHit, key};
use crate::error::Result;
use crate::ids::FileId;

impl Lexical {
    /// The files with a term in any unit, ascending.
    pub fn files_with(&self, term: &str) -> Result<Vec<FileId>> {
        let mut files = Vec::new();
        for field in self.fields.unit {
            let term = Term::from_field_text(field, term);
            for segment in &self.segments {
                segment.each(&term, |doc| files.push(segment.file(doc)))?;
            }
        }
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// The files that import one of these keys, ascending.
    pub fn importers(&self, keys: &[String]) -> Result<Vec<FileId>> {
        let mut files = Vec::new();
        for key in keys {
            let term = Term::from_field_text(self.fields.import, key);
            for segment in &self.segments {
                segment.each(&term, |doc| files.push(segment.file(doc)))?;
            }
        }
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// Whether a term occurs in the name of a unit or in the topic of a file.
    pub fn is_name(&self, term: &str) -> Result<bool> {
        let name = UnitField::ALL.iter().position(|field| *field == UnitField::Name).unwrap_or_default();
        for field in [self.fields.unit[name], self.fields.topic] {
            let term = Term::from_field_text(field, term);
            for segment in &self.segments {
                let mut is_here = false;
                segment.each(&term, |_| is_here = true)?;
                if is_here {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// First and last line, for each file, of those of `units` with a word of the query other than a stop word.
    pub fn matched_lines(
        &self,
        query: &Query,
        units: impl Iterator<Item = UnitId>,
    ) -> Result<HashMap<FileId, (u32, u32)>> {
        let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
        for unit in units {
            by_segment.entry(unit.segment()).or_default().push(unit.doc());
        }
        let mut lines: HashMap<FileId, (u32, u32)> = HashMap::new();
        for (s, mut docs) in by_segment {
            let Some(segment) = self.segments.get(s as usize) else { continue };
            docs.sort_unstable();
            for term in query.content_terms() {
                for field in self.fields.unit {
                    let term = Term::from_field_text(field, &term.text);
                    let Some(mut postings) = segment.postings(&term, IndexRecordOption::Basic)? else { continue };
                    for &doc in &docs {
                        if postings.doc() < doc {
                            postings.seek(doc);
                        }
                        if postings.doc() == doc {
                            let info = segment.info(doc);
                            let known = lines.entry(segment.file(doc)).or_insert((info.line(), info.end()));
                            *known = (known.0.min(info.line()), known.1.max(info.end()));
                        }
                    }
                }
            }
        }
        Ok(lines)
    }

    /// The units that define `name` in this spelling, by file and line.
    pub fn definitions(&self, name: &str, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let term = Term::from_field_text(self.fields.definition, &folded(name));
        let mut units = self.units_of_term(&term, filter)?;
        units.retain(|unit| {
            let segment = self.segments.get(unit.key.segment() as usize);
            segment.is_some_and(|s| s.info(unit.key.doc()).is_written(name))
        });
        Ok(units)
    }

    /// The units that `filter` allows with a term, by file and line.
    pub(super) fn units_of_term(&self, term: &Term, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let mut units = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(term, |doc| units.extend(self.hit(key(s, doc))))?;
        }
        units.retain(|unit| filter.is_none_or(|f| self.is_allowed(unit.key, f)));
        units.sort_by_key(|unit| (unit.file, unit.line, unit.key));
        Ok(units)
    }

    /// The first unit whose file, line of the definition and last line `is_meant` accepts.
    pub(crate) fn unit_where(&self, is_meant: impl Fn(FileId, u32, u32) -> bool + Sync) -> Option<UnitHit> {
        let in_segment = |(s, segment): (usize, &LexicalSegment)| {
            let mut documents = segment.reader.doc_ids_alive().map(|doc| (doc, segment.info(doc)));
            let is_it = |doc, info: Info| !info.is_file() && is_meant(segment.file(doc), info.line(), info.end());
            documents.find(|(doc, info)| is_it(*doc, *info)).map(|(doc, _)| segment.hit(key(s, doc), doc))
        };
        self.segments.par_iter().enumerate().find_map_any(in_segment)
    }

    /// The smallest unit around a line of a file that `filter` allows, documentation included; if there is none, the
    /// last one before it. `None` if the only unit around it is not allowed.
    pub fn unit_around(&self, file: FileId, line: u32, filter: Option<&dyn UnitFilter>) -> Result<Option<UnitHit>> {
        Ok(self.units_around(file, &[line], filter)?.pop().flatten())
    }

    /// [`Lexical::unit_around`] for several lines.
    pub fn units_around(
        &self,
        file: FileId,
        lines: &[u32],
        filter: Option<&dyn UnitFilter>,
    ) -> Result<Vec<Option<UnitHit>>> {
        let documents = self.documents_of(file)?.into_iter().map(|(s, doc)| (key(s, doc), self.segments[s].info(doc)));
        let is_allowed = |key: UnitId| filter.is_none_or(|f| self.is_allowed(key, f));
        let units: Vec<(UnitId, Info, bool)> =
            documents.filter(|(_, info)| !info.is_file()).map(|(key, info)| (key, info, is_allowed(key))).collect();
        let around = |line: &u32| {
            let mut best: Option<((bool, u32, u32), UnitId)> = None;
            let mut lies_in_another = false;
            for (key, info, is_allowed) in units.iter().filter(|(_, info, _)| info.first() <= *line) {
                let is_around = *line <= info.end();
                if !is_allowed {
                    lies_in_another |= is_around;
                    continue;
                }
                // Around it, the smallest; before it, the last.
                let distance = if is_around { info.end() - info.first() } else { line - info.end() };
                let rank = (!is_around, distance, info.line());
                if best.is_none_or(|(known, _)| rank < known) {
                    best = Some((rank, *key));
                }
            }
            self.hit(best.filter(|((is_before, ..), _)| !(*is_before && lies_in_another))?.1)
        };
        Ok(lines.iter().map(around).collect())
    }
}

/// The term under which an index finds a written word: the whole of a word of several parts.
pub fn term_of_word(word: &str, tokenizer: &mut Tokenizer) -> Option<String> {
    let mut first = None;
    tokenizer.tokenize(word, |token| {
        first.get_or_insert_with(|| token.term.to_string());
    });
    first
}
