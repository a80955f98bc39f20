//! Finds files whose names or definitions match a query.

use std::collections::BTreeMap;

use colgrep_core::bm25::Field as UnitField;
use colgrep_core::fold::folded;
use colgrep_core::query::{Query, last_segment};
use colgrep_core::rank::NamedDefinition;
use colgrep_core::statistics::Statistics;
use colgrep_core::{Unit, UnitKind};
use tantivy::schema::Field;
use tantivy::{DocId, Term};

use super::read::{Lexical, UnitFilter, UnitHit, key};
use crate::error::Result;
use crate::ids::FileId;

/// A plain word counts as the name of a definition only if at most this many definitions have it. Prototype.
const WORD_DEFINITIONS_MAX: u64 = 6;

/// A file whose name or definitions match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedFile {
    /// Allowed definitions of the query's identifiers, and of its words written as one name.
    pub definitions: Vec<NamedDefinition>,
    /// Identifiers that the text defines as types.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words that name one of n definitions.
    pub word_definitions: f32,
    /// Σ idf of the topic terms that occur in the query.
    pub topic_weight: f32,
}

impl NamedFile {
    /// How well it matches by name or definition.
    pub fn weight(&self) -> f32 {
        // Which files are found does not depend on words that happen to be a name together.
        let is_defined = self.definitions.iter().any(|definition| !definition.is_compound());
        self.topic_weight
            + 100.0 * f32::from(u8::from(is_defined || !self.textual_types.is_empty()))
            + 10.0 * self.word_definitions
    }
}

/// Files by a query's plain words and topic terms: their counts are statistics, and their weights depend on the whole
/// corpus.
#[derive(Clone, Debug, Default)]
pub struct NamesFound {
    /// For each of the query's plain words, the definitions of that name.
    words: Vec<Vec<(FileId, UnitKind)>>,
    /// For each of its topic terms, the files with it in their path.
    topics: Vec<Vec<FileId>>,
}

impl NamesFound {
    /// Puts the numbers of definitions and files into `statistics`.
    pub fn count(&self, statistics: &mut Statistics) {
        statistics.words = self.words.iter().map(|found| found.len() as u64).collect();
        statistics.topics = self.topics.iter().map(|found| found.len() as u64).collect();
    }
}

impl Lexical {
    /// Looks up the words of a query that may be names.
    pub fn names(&self, query: &Query) -> Result<NamesFound> {
        let mut names = NamesFound::default();
        for word in &query.plain_words {
            let term = Term::from_field_text(self.fields.definition, word);
            let mut found = Vec::new();
            for segment in &self.segments {
                segment.each(&term, |doc| found.push((segment.file(doc), segment.info(doc).kind())))?;
            }
            names.words.push(found);
        }
        for term in &query.topic_terms {
            let term = Term::from_field_text(self.fields.topic, term);
            let mut found = Vec::new();
            for segment in &self.segments {
                segment.each(&term, |doc| found.push(segment.file(doc)))?;
            }
            names.topics.push(found);
        }
        Ok(names)
    }

    /// Files whose names or definitions match the query, allowed by `filter`; `names` are the lookups of its words.
    pub fn named_files(
        &self,
        query: &Query,
        names: &NamesFound,
        statistics: &Statistics,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<BTreeMap<FileId, NamedFile>> {
        let mut files: BTreeMap<FileId, NamedFile> = BTreeMap::new();
        let allowed = |file: FileId| filter.is_none_or(|f| f.allows_file(file));
        self.named_identifiers(query, filter, &mut files)?;
        self.named_compounds(query, filter, &mut files)?;
        for (found, count) in names.words.iter().zip(&statistics.words) {
            if *count <= WORD_DEFINITIONS_MAX {
                let weight = 1.0 / (*count as f32).sqrt();
                let is_one = |kind: UnitKind| matches!(kind, UnitKind::Class | UnitKind::Function);
                for (file, _) in found.iter().filter(|(file, kind)| is_one(*kind) && allowed(*file)) {
                    let best = &mut files.entry(*file).or_default().word_definitions;
                    *best = best.max(weight);
                }
            }
        }
        for (at, found) in names.topics.iter().enumerate() {
            let weight = statistics.topic_idf(at);
            for file in found.iter().filter(|file| allowed(**file)) {
                files.entry(*file).or_default().topic_weight += weight;
            }
        }
        Ok(files)
    }

    fn named_identifiers(
        &self,
        query: &Query,
        filter: Option<&dyn UnitFilter>,
        files: &mut BTreeMap<FileId, NamedFile>,
    ) -> Result<()> {
        for (i, identifier) in query.identifiers.iter().enumerate() {
            let lower = Term::from_field_text(self.fields.definition, &folded(&identifier.name));
            let textual = Term::from_field_text(self.fields.textual_type, &identifier.name);
            for (s, segment) in self.segments.iter().enumerate() {
                segment.each(&lower, |doc| {
                    let (file, info) = (segment.file(doc), segment.info(doc));
                    if filter.is_none_or(|f| segment.is_allowed(key(s, doc), doc, f)) {
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
                    if filter.is_none_or(|f| f.allows_file(segment.file(doc))) {
                        files.entry(segment.file(doc)).or_default().textual_types.push(i);
                    }
                })?;
            }
        }
        Ok(())
    }

    fn named_compounds(
        &self,
        query: &Query,
        filter: Option<&dyn UnitFilter>,
        files: &mut BTreeMap<FileId, NamedFile>,
    ) -> Result<()> {
        let is_named = |kind: UnitKind| matches!(kind, UnitKind::Class | UnitKind::Function | UnitKind::Method);
        for spelling in &query.compounds {
            let term = Term::from_field_text(self.fields.definition, spelling);
            for (s, segment) in self.segments.iter().enumerate() {
                segment.each(&term, |doc| {
                    let (file, info) = (segment.file(doc), segment.info(doc));
                    if is_named(info.kind()) && filter.is_none_or(|f| segment.is_allowed(key(s, doc), doc, f)) {
                        files.entry(file).or_default().definitions.push(NamedDefinition {
                            identifier: NamedDefinition::COMPOUND,
                            unit: key(s, doc),
                            kind: info.kind(),
                            role: info.role(),
                            exact_case: false,
                        });
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with the name of each definition in lower case, including deleted ones.
    pub fn each_definition_name(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        for segment in &self.segments {
            let index = segment.reader.inverted_index(self.fields.definition)?;
            let mut names = index.terms().stream().map_err(tantivy::TantivyError::from)?;
            while names.advance() {
                std::str::from_utf8(names.key()).into_iter().for_each(&mut visit);
            }
        }
        Ok(())
    }

    /// The definitions that `filter` allows and whose name is this in lower case, by file and line.
    pub fn definitions_in_any_case(&self, lower: &str, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        self.units_of_term(&Term::from_field_text(self.fields.definition, lower), filter)
    }

    /// The name, as written, of each definition that `filter` allows and that has a name in lower case.
    pub fn spellings_of(&self, lower: &str, filter: Option<&dyn UnitFilter>) -> Result<Vec<String>> {
        let hits = self.definitions_in_any_case(lower, filter)?;
        let name = |unit: Unit| last_segment(&unit.name).to_string();
        hits.iter().map(|hit| Ok(name(self.unit(hit.key)?.unit(&[])))).collect()
    }

    /// The units whose own name and enclosing names contain all terms, by file and line.
    pub fn units_with_names(&self, terms: &[String], filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let fields = UnitField::ALL.iter().zip(self.fields.unit);
        let fields = fields.filter(|(kind, _)| matches!(kind, UnitField::Name | UnitField::Parent));
        let fields: Vec<Field> = fields.map(|(_, field)| field).collect();
        let mut units = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            // The rarest first: most texts end with it.
            let mut counted = Vec::new();
            for term in terms {
                let mut count = 0;
                for field in &fields {
                    let Some(index) = segment.terms_of(*field)? else { continue };
                    let term = Term::from_field_text(*field, term);
                    count += index.doc_freq(&term).map_err(tantivy::TantivyError::from)?;
                }
                counted.push((count, term));
            }
            counted.sort_unstable();
            let mut common: Option<Vec<DocId>> = None;
            for (_, term) in counted {
                let mut docs = Vec::new();
                for field in &fields {
                    segment.each(&Term::from_field_text(*field, term), |doc| docs.push(doc))?;
                }
                docs.sort_unstable();
                docs.dedup();
                if let Some(common) = &common {
                    docs.retain(|doc| common.binary_search(doc).is_ok());
                }
                let is_none = docs.is_empty();
                common = Some(docs);
                if is_none {
                    break;
                }
            }
            units.extend(common.into_iter().flatten().filter_map(|doc| self.hit(key(s, doc))));
        }
        units.retain(|unit| filter.is_none_or(|f| self.is_allowed(unit.key, f)));
        units.sort_by_key(|unit| (unit.file, unit.line, unit.key));
        Ok(units)
    }

    /// The number of files with each term in their topics.
    pub fn topic_frequency(&self, terms: &[String]) -> Result<Vec<u64>> {
        terms.iter().map(|text| self.files_with_topic(text)).collect()
    }

    fn files_with_topic(&self, text: &str) -> Result<u64> {
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
        Ok(count)
    }
}
