//! Finds files whose names or definitions answer a query.

use std::collections::{BTreeMap, HashMap};

use colgrep_core::UnitKind;
use colgrep_core::bm25::idf;
use colgrep_core::query::Query;
use colgrep_core::rank::NamedDefinition;
use tantivy::Term;

use super::read::{Lexical, UnitFilter, key};
use crate::error::Result;
use crate::ids::FileId;

/// A plain word counts as the name of a definition only if at most this many definitions have it. Prototype.
const WORD_DEFINITIONS_MAX: usize = 6;

/// A file whose name or definitions answer a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedFile {
    /// Definitions of the query's identifiers.
    pub definitions: Vec<NamedDefinition>,
    /// Identifiers that the text defines as types.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words that name one of n definitions.
    pub word_definitions: f32,
    /// Σ idf of the topic terms that the query holds.
    pub topic_weight: f32,
}

impl Lexical {
    /// Files whose names or definitions answer to the query, allowed by `filter`.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn named_files(
        &self,
        query: &Query,
        files_total: u64,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<BTreeMap<FileId, NamedFile>> {
        let mut files: BTreeMap<FileId, NamedFile> = BTreeMap::new();
        let allowed = |file: FileId| filter.is_none_or(|f| f.allows_file(file));
        for (i, identifier) in query.identifiers.iter().enumerate() {
            let lower = Term::from_field_text(self.fields.definition, &identifier.name.to_lowercase());
            let textual = Term::from_field_text(self.fields.textual_type, &identifier.name);
            for (s, segment) in self.segments.iter().enumerate() {
                segment.each(&lower, |doc| {
                    let (file, info) = (segment.file(doc), segment.info(doc));
                    if allowed(file) {
                        files.entry(file).or_default().definitions.push(NamedDefinition {
                            identifier: i,
                            unit: key(s, doc),
                            kind: info.kind(),
                            role: info.role(),
                            exact_case: info.is_written(&identifier.name),
                        });
                    }
                })?;
                segment.each(&textual, |doc| {
                    if allowed(segment.file(doc)) {
                        files.entry(segment.file(doc)).or_default().textual_types.push(i);
                    }
                })?;
            }
        }
        for word in &query.plain_words {
            let term = Term::from_field_text(self.fields.definition, word);
            let mut found: Vec<(FileId, UnitKind)> = Vec::new();
            for segment in &self.segments {
                segment.each(&term, |doc| found.push((segment.file(doc), segment.info(doc).kind())))?;
            }
            if found.len() <= WORD_DEFINITIONS_MAX {
                let weight = 1.0 / (found.len() as f32).sqrt();
                found.retain(|(file, kind)| matches!(kind, UnitKind::Class | UnitKind::Function) && allowed(*file));
                found.dedup_by_key(|(file, _)| *file);
                for (file, _) in found {
                    let best = &mut files.entry(file).or_default().word_definitions;
                    *best = best.max(weight);
                }
            }
        }
        for term in &query.topic_terms {
            let index_term = Term::from_field_text(self.fields.topic, term);
            let mut found = Vec::new();
            for segment in &self.segments {
                segment.each(&index_term, |doc| found.push(segment.file(doc)))?;
            }
            let weight = idf(files_total, found.len() as u64);
            for file in found.into_iter().filter(|f| allowed(*f)) {
                files.entry(file).or_default().topic_weight += weight;
            }
        }
        Ok(files)
    }

    /// In how many files' topics each term stands.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn topic_frequency<'t>(&self, terms: impl Iterator<Item = &'t String>) -> Result<HashMap<String, u64>> {
        let mut frequency: HashMap<String, u64> = HashMap::new();
        for text in terms {
            if frequency.contains_key(text) {
                continue;
            }
            let term = Term::from_field_text(self.fields.topic, text);
            let mut count = 0u64;
            for segment in &self.segments {
                if segment.reader.has_deletes() {
                    segment.each(&term, |_| count += 1)?;
                } else {
                    let index = segment.reader.inverted_index(self.fields.topic)?;
                    count += u64::from(index.doc_freq(&term).map_err(tantivy::TantivyError::from)?);
                }
            }
            frequency.insert(text.clone(), count);
        }
        Ok(frequency)
    }
}
