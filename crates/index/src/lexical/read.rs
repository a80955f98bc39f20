//! Reading the index: BM25F over all postings of the query's terms, names and definitions, proximity, stored units.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use colgrep_core::bm25::{Bm25, Field as UnitField, idf};
use colgrep_core::fuse::UnitKey;
use colgrep_core::query::{Query, last_segment};
use colgrep_core::{Unit, UnitKind, UnitRole};
use tantivy::columnar::Column;
use tantivy::directory::MmapDirectory;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::document::TantivyDocument;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::{DocAddress, DocId, DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term};

use super::directory::ReadDirectory;
use super::fields::{Fields, Info, prepare, schema};
use crate::error::Result;

/// A plain word counts as the name of a definition only if it names at most so many. Prototype.
const WORD_DEFINITIONS_MAX: usize = 6;
/// Callers listed for a unit.
const CALLERS_MAX: usize = 20;
/// Longest block beside a module of tests that is taken for its frame: what it uses, and its braces.
const FRAME_LINES_MAX: u32 = 10;
/// Distance, in tokens, within which two terms count as near. Prototype: 8 of 4, 8, 16, 32.
const NEAR_TOKENS: u32 = 8;

/// Which units a search may give.
pub trait UnitFilter {
    /// Whether any unit of the file may be given.
    fn allows_file(&self, file: u32) -> bool;
    /// Whether the unit on these lines (documentation included) of an allowed file may be given.
    fn allows_unit(&self, file: u32, line: u32, end: u32) -> bool;
}

/// A unit that the query's terms found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitHit {
    /// Its key in this snapshot.
    pub key: UnitKey,
    /// Its file's number.
    pub file: u32,
    /// What it is.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Whether a content term stands in its name.
    pub name_hit: bool,
    /// BM25F, with the factor for what it is.
    pub score: f32,
}

/// What a query's words weigh, stop words and compounds aside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordMass {
    /// How many they are.
    pub words: u32,
    /// Their idf together.
    pub all: f32,
    /// The same of those that stand in some unit.
    pub known: f32,
}

/// What has to be among the answers whatever its rank.
#[derive(Clone, Debug, Default)]
pub struct Also {
    /// Files, each with its best unit.
    pub files: HashSet<u32>,
    /// Units.
    pub units: HashSet<UnitKey>,
}

/// What a file's name or its definitions say about a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedFile {
    /// Definitions of the query's identifiers: (identifier, kind, role, same case).
    pub definitions: Vec<(usize, UnitKind, UnitRole, bool)>,
    /// Identifiers that the text defines as types.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words that name one of n definitions.
    pub word_definitions: f32,
    /// Σ idf of the topic terms that the query holds.
    pub topic_weight: f32,
}

/// Proximity evidence of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nearness {
    /// Neighbouring query terms within 8 tokens.
    pub near: f32,
    /// Neighbouring query terms side by side, in order.
    pub adjacent: f32,
}

/// The index, open for reading.
pub struct Lexical {
    searcher: Searcher,
    _reader: IndexReader,
    fields: Fields,
    segments: Vec<Segment>,
}

struct Segment {
    reader: SegmentReader,
    file: Column<u64>,
    info: Column<u64>,
    text: Column<u64>,
    /// Lengths a field, in the order of [`UnitField::ALL`].
    norms: [Option<FieldNormReader>; 6],
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lexical({} segments)", self.segments.len())
    }
}

impl Segment {
    fn file(&self, doc: DocId) -> u32 {
        self.file.first(doc).unwrap_or_default() as u32
    }

    fn info(&self, doc: DocId) -> Info {
        Info(self.info.first(doc).unwrap_or_default())
    }

    fn postings(&self, term: &Term, option: IndexRecordOption) -> Result<Option<SegmentPostings>> {
        let index = self.reader.inverted_index(term.field())?;
        Ok(index.read_postings(term, option).map_err(tantivy::TantivyError::from)?)
    }

    /// Calls `visit` for every living document with the term.
    fn each(&self, term: &Term, mut visit: impl FnMut(DocId)) -> Result<()> {
        if let Some(mut postings) = self.postings(term, IndexRecordOption::Basic)? {
            while postings.doc() != TERMINATED {
                if !self.reader.is_deleted(postings.doc()) {
                    visit(postings.doc());
                }
                postings.advance();
            }
        }
        Ok(())
    }
}

fn key(segment: usize, doc: DocId) -> UnitKey {
    (segment as u64) << 32 | u64::from(doc)
}

impl Lexical {
    /// The payload of the newest commit; `None` before the first.
    ///
    /// # Errors
    /// When there is no readable index in `folder`.
    pub fn payload(folder: &Path) -> Result<Option<String>> {
        // Read as plain JSON: this is the commit point that everything else hangs on.
        let path = folder.join("meta.json");
        let unusable =
            |e: String| crate::error::Error::new(crate::error::ErrorKind::Unusable, format!("{}: {e}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|e| unusable(e.to_string()))?;
        let meta: serde_json::Value = serde_json::from_str(&text).map_err(|e| unusable(e.to_string()))?;
        Ok(meta.get("payload").and_then(|p| p.as_str()).map(str::to_string))
    }

    /// Opens the newest commit in `folder`.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn open(folder: &Path) -> Result<Lexical> {
        let (own_schema, fields) = schema();
        let directory = ReadDirectory(MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?);
        let index = Index::open(directory)?;
        if index.schema() != own_schema {
            let message = "the index was written by another version of colgrep (its fields differ)";
            return Err(crate::error::Error::new(crate::error::ErrorKind::Unusable, message));
        }
        prepare(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|reader| {
                let fast = reader.fast_fields();
                let mut norms = [const { None }; 6];
                for (norm, field) in norms.iter_mut().zip(fields.unit) {
                    *norm = reader.fieldnorms_readers().get_field(field)?;
                }
                let [file, info, text] = ["file", "info", "text"].map(|field| fast.u64(field));
                Ok(Segment { file: file?, info: info?, text: text?, norms, reader: reader.clone() })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Lexical { searcher, _reader: reader, fields, segments })
    }

    /// Number of segments, living documents and dead ones.
    pub fn shape(&self) -> (usize, u64, u64) {
        let dead = self.segments.iter().map(|s| u64::from(s.reader.num_deleted_docs())).sum();
        (self.segments.len(), self.searcher.num_docs(), dead)
    }

    /// Number of units and the average length of each field over them, in tokens.
    fn statistics(&self) -> (u64, [f32; 6]) {
        let mut units = 0u64;
        let mut sums = [0u64; 6];
        for segment in &self.segments {
            for doc in segment.reader.doc_ids_alive() {
                if segment.info(doc).is_file() {
                    continue;
                }
                units += 1;
                for (sum, norm) in sums.iter_mut().zip(&segment.norms) {
                    *sum += u64::from(norm.as_ref().map_or(0, |n| n.fieldnorm(doc)));
                }
            }
        }
        (units, sums.map(|s| s as f32 / units.max(1) as f32))
    }

    /// Scores every unit that holds a term of the query and gives the best `units_max` that `filter` allows,
    /// and, where these lie in fewer than `files_min` files, the best unit of each next file until there are so many.
    /// Gives what `also` names besides, and what the query's words weigh. Best first; ties by file and line; units without a term last, with score 0.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn search(
        &self,
        query: &Query,
        bm25: &Bm25,
        units_max: usize,
        files_min: usize,
        also: &Also,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<(Vec<UnitHit>, WordMass)> {
        let (units, averages) = self.statistics();
        // For each term, per segment: (document, summed field frequency).
        let mut frequencies: Vec<Vec<Vec<(DocId, f32)>>> = Vec::with_capacity(query.terms.len());
        let mut name_hits: HashSet<UnitKey> = HashSet::new();
        let content: HashSet<&str> = query.content_terms().map(|t| t.text.as_str()).collect();
        for term in &query.terms {
            let mut per_segment = Vec::with_capacity(self.segments.len());
            for (s, segment) in self.segments.iter().enumerate() {
                let mut sums = vec![0.0f32; segment.reader.max_doc() as usize];
                let mut touched: Vec<DocId> = Vec::new();
                for (f, field) in self.fields.unit.into_iter().enumerate() {
                    // The name's postings also say which units bear a word of the query.
                    if bm25.weights[f] == 0.0 && UnitField::ALL[f] != UnitField::Name {
                        continue;
                    }
                    let index_term = Term::from_field_text(field, &term.text);
                    let Some(mut postings) = segment.postings(&index_term, IndexRecordOption::WithFreqs)? else {
                        continue;
                    };
                    while postings.doc() != TERMINATED {
                        let doc = postings.doc();
                        if !segment.reader.is_deleted(doc) {
                            let length = segment.norms[f].as_ref().map_or(0, |n| n.fieldnorm(doc)) as f32;
                            let sum = &mut sums[doc as usize];
                            if *sum == 0.0 {
                                touched.push(doc);
                            }
                            *sum += bm25.field_frequency(f, postings.term_freq() as f32, length, averages[f]);
                            if UnitField::ALL[f] == UnitField::Name && content.contains(term.text.as_str()) {
                                name_hits.insert(key(s, doc));
                            }
                        }
                        postings.advance();
                    }
                }
                per_segment.push(touched.into_iter().map(|doc| (doc, sums[doc as usize])).collect::<Vec<_>>());
            }
            frequencies.push(per_segment);
        }
        let mut mass = WordMass::default();
        for (_, per_segment) in query.terms.iter().zip(&frequencies).filter(|(t, _)| !t.stop && !t.compound) {
            let df: usize = per_segment.iter().map(Vec::len).sum();
            let weight = idf(units, df as u64);
            mass.words += 1;
            mass.all += weight;
            mass.known += if df > 0 { weight } else { 0.0 };
        }
        let mut hits = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            let mut scores = vec![0.0f32; segment.reader.max_doc() as usize];
            for (term, per_segment) in query.terms.iter().zip(&frequencies) {
                let df: usize = per_segment.iter().map(Vec::len).sum();
                let idf = idf(units, df as u64);
                for &(doc, frequency) in &per_segment[s] {
                    scores[doc as usize] += bm25.term_score(term, idf, frequency);
                }
            }
            for (doc, score) in scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0) {
                let doc = doc as DocId;
                let (file, info) = (segment.file(doc), segment.info(doc));
                if filter.is_some_and(|f| !f.allows_file(file) || !f.allows_unit(file, info.first(), info.end())) {
                    continue;
                }
                let score = score * bm25.unit_factor(info.kind(), info.role());
                let key = key(s, doc);
                hits.push(UnitHit {
                    key,
                    file,
                    kind: info.kind(),
                    role: info.role(),
                    line: info.line(),
                    name_hit: name_hits.contains(&key),
                    score,
                });
            }
        }
        let mut best = best_units(hits, units_max, files_min, also);
        // A named file none of whose units holds a term stands in the pool with its first unit.
        let present: HashSet<u32> = best.iter().map(|h| h.file).collect();
        let mut absent: Vec<u32> = also.files.difference(&present).copied().collect();
        absent.sort_unstable();
        for file in absent {
            best.extend(self.units_of(file, filter)?.into_iter().next());
        }
        if !also.units.is_empty() {
            let present: HashSet<UnitKey> = best.iter().map(|h| h.key).collect();
            let mut absent: Vec<UnitHit> = also.units.difference(&present).map(|key| self.hit(*key)).collect();
            absent.sort_unstable_by_key(|h| (h.file, h.line, h.key));
            best.extend(absent);
        }
        Ok((best, mass))
    }

    /// What is known of a unit, with score 0. Panics where the key is of another snapshot.
    pub(crate) fn hit(&self, key: UnitKey) -> UnitHit {
        let (segment, doc) = (&self.segments[(key >> 32) as usize], key as DocId);
        let (file, info) = (segment.file(doc), segment.info(doc));
        let (kind, role, line) = (info.kind(), info.role(), info.line());
        UnitHit { key, file, kind, role, line, name_hit: false, score: 0.0 }
    }

    /// Calls `visit` with the key, the file and the [`text_hash`](crate::vector::text_hash) of every unit that
    /// `filter` allows.
    pub fn each_unit(&self, filter: Option<&dyn UnitFilter>, mut visit: impl FnMut(UnitKey, u32, u64)) {
        for (s, segment) in self.segments.iter().enumerate() {
            for doc in segment.reader.doc_ids_alive() {
                let (file, text) = (segment.file(doc), segment.text.first(doc).unwrap_or_default());
                let allowed = |f: &dyn UnitFilter| {
                    let info = segment.info(doc);
                    f.allows_file(file) && f.allows_unit(file, info.first(), info.end())
                };
                if text != 0 && filter.is_none_or(allowed) {
                    visit(key(s, doc), file, text);
                }
            }
        }
    }

    /// The [`text_hash`](crate::vector::text_hash) of a unit.
    pub fn text_of(&self, key: UnitKey) -> u64 {
        let segment = self.segments.get((key >> 32) as usize);
        segment.and_then(|s| s.text.first(key as DocId)).unwrap_or_default()
    }

    /// Files whose names or definitions answer to the query, allowed by `filter`.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn named_files(
        &self,
        query: &Query,
        files_total: u64,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<BTreeMap<u32, NamedFile>> {
        let mut files: BTreeMap<u32, NamedFile> = BTreeMap::new();
        let allowed = |file: u32| filter.is_none_or(|f| f.allows_file(file));
        for (i, identifier) in query.identifiers.iter().enumerate() {
            let lower = Term::from_field_text(self.fields.definition, &identifier.name.to_lowercase());
            let textual = Term::from_field_text(self.fields.textual_type, &identifier.name);
            for segment in &self.segments {
                segment.each(&lower, |doc| {
                    let (file, info) = (segment.file(doc), segment.info(doc));
                    if allowed(file) {
                        let definition = (i, info.kind(), info.role(), info.is_written(&identifier.name));
                        files.entry(file).or_default().definitions.push(definition);
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
            let mut found: Vec<(u32, UnitKind)> = Vec::new();
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

    /// Proximity evidence of every file that holds neighbouring query terms close together.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn nearness(&self, query: &Query, files_total: u64) -> Result<HashMap<u32, Nearness>> {
        let mut evidence: HashMap<u32, Nearness> = HashMap::new();
        let positions_of = [UnitField::Doc, UnitField::Body]
            .map(|f| self.fields.unit[UnitField::ALL.iter().position(|x| *x == f).unwrap_or_default()]);
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for (first, second) in query.pairs() {
            // File → (near, adjacent) counts.
            let mut counts: HashMap<u32, (u32, u32)> = HashMap::new();
            for segment in &self.segments {
                for field in positions_of {
                    let open = |text| {
                        segment.postings(&Term::from_field_text(field, text), IndexRecordOption::WithFreqsAndPositions)
                    };
                    let (Some(mut a), Some(mut b)) = (open(first)?, open(second)?) else { continue };
                    while a.doc() != TERMINATED && b.doc() != TERMINATED {
                        let (x, y) = (a.doc(), b.doc());
                        if x < y {
                            a.seek(y);
                        } else if y < x {
                            b.seek(x);
                        } else {
                            if !segment.reader.is_deleted(x) {
                                a.positions(&mut here);
                                b.positions(&mut there);
                                let (near, adjacent) = pair_counts(&here, &there);
                                if near > 0 {
                                    let count = counts.entry(segment.file(x)).or_default();
                                    count.0 += near;
                                    count.1 += adjacent;
                                }
                            }
                            a.advance();
                            b.advance();
                        }
                    }
                }
            }
            let df_near = counts.len() as u64;
            let df_adjacent = counts.values().filter(|c| c.1 > 0).count() as u64;
            for (file, (near, adjacent)) in counts {
                let saturated = |tf: u32, df| idf(files_total, df) * tf as f32 / (tf as f32 + 1.2);
                let sum = evidence.entry(file).or_default();
                sum.near += saturated(near, df_near);
                sum.adjacent += saturated(adjacent, df_adjacent);
            }
        }
        Ok(evidence)
    }

    /// What the index keeps of a unit: everything but its body.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn unit(&self, key: UnitKey) -> Result<Unit> {
        let address = DocAddress::new((key >> 32) as u32, key as u32);
        let document: TantivyDocument = self.searcher.doc(address)?;
        let bytes = document.get_first(self.fields.stored).and_then(|v| v.as_bytes()).unwrap_or_default();
        postcard::from_bytes(bytes).map_err(|e| {
            crate::error::Error::new(crate::error::ErrorKind::Unusable, format!("a stored unit is damaged: {e}"))
        })
    }

    /// The imports of a file.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn imports(&self, file: u32) -> Result<Vec<String>> {
        let mut imports = Vec::new();
        for (s, doc) in self.documents_of(file)? {
            if self.segments[s].info(doc).is_file() {
                let document: TantivyDocument = self.searcher.doc(DocAddress::new(s as u32, doc))?;
                let bytes = document.get_first(self.fields.stored).and_then(|v| v.as_bytes()).unwrap_or_default();
                imports = postcard::from_bytes(bytes).unwrap_or_default();
            }
        }
        Ok(imports)
    }

    /// The units of a file that `filter` allows, by line, all with score 0.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn units_of(&self, file: u32, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let mut units: Vec<UnitHit> = Vec::new();
        for (s, doc) in self.documents_of(file)? {
            let info = self.segments[s].info(doc);
            let allowed = filter.is_none_or(|f| f.allows_file(file) && f.allows_unit(file, info.first(), info.end()));
            if !info.is_file() && allowed {
                units.push(self.hit(key(s, doc)));
            }
        }
        units.sort_by_key(|u| (u.line, u.key));
        Ok(units)
    }

    fn documents_of(&self, file: u32) -> Result<Vec<(usize, DocId)>> {
        let term = Term::from_field_u64(self.fields.file, u64::from(file));
        let mut documents = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(&term, |doc| documents.push((s, doc)))?;
        }
        Ok(documents)
    }

    /// In about how many units a term stands: the most that any one field has of it, deleted ones included.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn units_with(&self, term: &str) -> Result<u64> {
        let mut most = 0;
        for field in self.fields.unit {
            most = most.max(self.searcher.doc_freq(&Term::from_field_text(field, term))?);
        }
        Ok(most)
    }

    /// Lines of tests inside files that are none by their path, a file: units that the language's own syntax makes
    /// tests, and modules named `tests` or `test` of the files that `has_modules` names (Rust keeps tests there).
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn tests_inside(&self, has_modules: impl Fn(u32) -> bool) -> Result<HashMap<u32, Vec<(u32, u32)>>> {
        let mut tests: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        let mut modules: HashMap<(u32, String), (u32, u32)> = HashMap::new();
        // Both names have this term.
        let term = Term::from_field_text(self.fields.unit[UnitField::Parent as usize], "test");
        for (s, segment) in self.segments.iter().enumerate() {
            for doc in segment.reader.doc_ids_alive() {
                let info = segment.info(doc);
                if !info.is_file() && info.role() == UnitRole::Test {
                    tests.entry(segment.file(doc)).or_default().push((info.first(), info.end()));
                }
            }
            let mut members = Vec::new();
            segment.each(&term, |doc| members.push(doc))?;
            members.retain(|doc| has_modules(segment.file(*doc)));
            for doc in members {
                let parent = self.unit(key(s, doc))?.parent;
                let mut end = 0;
                let module = parent.split('.').find(|name| {
                    end += name.len() + 1;
                    matches!(*name, "tests" | "test")
                });
                if module.is_some() {
                    let (info, module) = (segment.info(doc), parent[..end - 1].to_string());
                    let span = modules.entry((segment.file(doc), module)).or_insert((info.first(), info.end()));
                    *span = (span.0.min(info.first()), span.1.max(info.end()));
                }
            }
        }
        for ((file, _), (first, end)) in modules {
            let spans = tests.entry(file).or_default();
            spans.push((first, end));
            // The lines that open and close the module are no unit's: short blocks beside it.
            for (s, doc) in self.documents_of(file)? {
                let info = self.segments[s].info(doc);
                let beside = info.end() + 1 == first || info.first() == end + 1;
                if !info.is_file()
                    && info.kind() == UnitKind::RawCode
                    && beside
                    && info.end() - info.first() < FRAME_LINES_MAX
                {
                    spans.push((info.first(), info.end()));
                }
            }
        }
        Ok(tests)
    }

    /// Qualified names of units that call `name`, at most twenty, in order of file and line.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn callers(&self, name: &str) -> Result<Vec<String>> {
        let term = Term::from_field_text(self.fields.callee, last_segment(name));
        let mut found: Vec<(u32, u32, UnitKey)> = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(&term, |doc| found.push((segment.file(doc), segment.info(doc).line(), key(s, doc))))?;
        }
        found.sort_unstable();
        let mut callers: Vec<String> = Vec::new();
        for (_, _, key) in found.into_iter().take(2 * CALLERS_MAX) {
            let caller = self.unit(key)?.qualified_name();
            if !caller.is_empty() && caller != name && !callers.contains(&caller) && callers.len() < CALLERS_MAX {
                callers.push(caller);
            }
        }
        Ok(callers)
    }
}

/// The best `units_max` units; then the best unit of each next file until there are `files_min` files, and what `also` names.
fn best_units(mut hits: Vec<UnitHit>, units_max: usize, files_min: usize, also: &Also) -> Vec<UnitHit> {
    let by_score = |a: &UnitHit, b: &UnitHit| {
        b.score.total_cmp(&a.score).then(a.file.cmp(&b.file)).then(a.line.cmp(&b.line)).then(a.key.cmp(&b.key))
    };
    let cut = units_max.min(hits.len());
    if cut < hits.len() {
        hits.select_nth_unstable_by(cut, by_score);
    }
    let mut rest = hits.split_off(cut);
    hits.sort_by(by_score);
    let mut files: HashSet<u32> = hits.iter().map(|h| h.file).collect();
    if files.len() < files_min || !also.files.is_subset(&files) || !also.units.is_empty() {
        rest.sort_by(by_score);
        for hit in rest {
            let of_new_file = (files.len() < files_min || also.files.contains(&hit.file)) && files.insert(hit.file);
            if of_new_file || also.units.contains(&hit.key) {
                hits.push(hit);
            }
        }
        hits.sort_by(by_score);
    }
    hits
}

/// How many of the (sorted) positions `here` have one of `there` within 8 tokens, and how many right behind them.
fn pair_counts(here: &[u32], there: &[u32]) -> (u32, u32) {
    let (mut near, mut adjacent) = (0, 0);
    let mut low = 0;
    for &position in here {
        while low < there.len() && there[low] + NEAR_TOKENS < position {
            low += 1;
        }
        let window = there[low..].iter().take_while(|p| **p <= position + NEAR_TOKENS);
        let mut any = false;
        for &other in window {
            any = true;
            adjacent += u32::from(other == position + 1);
        }
        near += u32::from(any);
    }
    (near, adjacent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_within_their_window() {
        for (here, there, expected) in [
            (&[5][..], &[6][..], (1, 1)),
            (&[5], &[4], (1, 0)),
            (&[5], &[13], (1, 0)),
            (&[5], &[14], (0, 0)),
            (&[20], &[12], (1, 0)),
            (&[20], &[11], (0, 0)),
            (&[1, 5, 50], &[2, 6, 100], (2, 2)),
            (&[], &[1], (0, 0)),
        ] {
            assert_eq!(pair_counts(here, there), expected, "{here:?} {there:?}");
        }
    }

    #[test]
    fn the_cut_keeps_enough_files() {
        let hit = |key, file, score| UnitHit {
            key,
            file,
            kind: UnitKind::Function,
            role: UnitRole::Definition,
            line: 1,
            name_hit: false,
            score,
        };
        let hits = vec![hit(0, 1, 9.0), hit(1, 1, 8.0), hit(2, 2, 1.0), hit(3, 3, 0.5), hit(4, 4, 0.2)];
        let files = |units_max, files_min, also: &[u32]| {
            let also = Also { files: also.iter().copied().collect(), units: HashSet::new() };
            best_units(hits.clone(), units_max, files_min, &also).iter().map(|h| h.file).collect::<Vec<_>>()
        };
        assert_eq!(files(2, 1, &[]), [1, 1]);
        assert_eq!(files(2, 3, &[]), [1, 1, 2, 3]);
        assert_eq!(files(2, 1, &[4]), [1, 1, 4]);
        assert_eq!(files(99, 99, &[]), [1, 1, 2, 3, 4]);
    }
}
