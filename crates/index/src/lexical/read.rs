//! The index, open for reading: its segments, their facts about each document, the units of a file.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use colgrep_core::UnitId;
use colgrep_core::bm25::FIELD_COUNT;
use colgrep_core::{Span, UnitKind, UnitRole};
use rayon::prelude::*;
use tantivy::columnar::Column;
use tantivy::directory::OwnedBytes;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::store::StoreReader;
use tantivy::{
    DocId, DocSet, Index, IndexReader, InvertedIndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term,
};

use super::commit::CommitPoint;
use super::directory::IndexDirectory;
use super::fields::{Fields, Info, prepare, schema};
use super::lengths::FieldLengths;
use crate::error::{Error, Result};
use crate::ids::{FileId, TextHash};

/// Documents that one core scans at a time.
pub(super) const SCAN_DOCS: usize = 1 << 14;
/// Blocks of 16 KiB of stored documents that a segment caches.
const STORE_BLOCKS: usize = 100;

/// Which units a search may return; called from many threads.
pub trait UnitFilter: Sync {
    /// Whether any unit of the file may be returned.
    fn allows_file(&self, file: FileId) -> bool;
    /// Whether a unit of an allowed file may be returned.
    fn allows_unit(&self, unit: &UnitPlace) -> bool;
}

/// A unit as a filter sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitPlace {
    /// Its key in this snapshot.
    pub key: UnitId,
    /// Its file's number.
    pub file: FileId,
    pub kind: UnitKind,
    /// Its first line, documentation included.
    pub first: u32,
    /// Its last line.
    pub end: u32,
}

/// A unit that the query's terms found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitHit {
    /// Its key in this snapshot.
    pub key: UnitId,
    /// Its file's number.
    pub file: FileId,
    pub kind: UnitKind,
    /// How it relates to what it names.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Its last line.
    pub end: u32,
    /// Whether its name contains a content term.
    pub name_hit: bool,
    /// BM25F, times the factor for its kind and role.
    pub score: f32,
}

/// Position of a unit in its file.
#[derive(Clone, Copy, Debug)]
pub struct UnitSpan {
    /// Its key in this snapshot.
    pub key: UnitId,
    pub kind: UnitKind,
    /// First line of its documentation or attributes.
    pub first: u32,
    /// Line of its definition.
    pub line: u32,
    /// Its last line.
    pub end: u32,
}

/// The index, open for reading.
pub struct Lexical {
    pub(super) searcher: Searcher,
    _reader: IndexReader,
    pub(super) fields: Fields,
    pub(super) segments: Vec<LexicalSegment>,
}

/// A part of the index, written once.
pub(super) struct LexicalSegment {
    pub(super) reader: SegmentReader,
    file: Column<u64>,
    pub(super) info: Column<u64>,
    text: Column<u64>,
    /// When, in a segment with entries of a history.
    pub(super) time: Option<Column<i64>>,
    /// The fields of units, in the order of [`colgrep_core::bm25::Field::ALL`], and the lengths of each.
    pub(super) fields: [Field; FIELD_COUNT],
    pub(super) norms: [Option<FieldNormReader>; FIELD_COUNT],
    /// Its units and their lengths, as saved by its writer, or computed on first use.
    pub(super) lengths: OnceLock<FieldLengths>,
    /// Its stored documents, opened on first use.
    store: OnceLock<StoreReader>,
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lexical({} segments)", self.segments.len())
    }
}

impl LexicalSegment {
    pub(super) fn file(&self, doc: DocId) -> FileId {
        FileId(self.file.first(doc).unwrap_or_default() as u32)
    }

    pub(super) fn info(&self, doc: DocId) -> Info {
        Info(self.info.first(doc).unwrap_or_default())
    }

    /// The hash of a unit's text; `None` for a file's document.
    fn text(&self, doc: DocId) -> Option<TextHash> {
        TextHash::new(self.text.first(doc)?)
    }

    /// The facts of the unit that is document `doc`, with score 0.
    pub(super) fn hit(&self, key: UnitId, doc: DocId) -> UnitHit {
        let (file, info) = (self.file(doc), self.info(doc));
        let (kind, role, line, end) = (info.kind(), info.role(), info.line(), info.end());
        UnitHit { key, file, kind, role, line, end, name_hit: false, score: 0.0 }
    }

    /// Whether each column of facts and lengths has an entry for every document.
    pub(super) fn covers_all_documents(&self) -> bool {
        let docs = self.reader.max_doc();
        [&self.file, &self.info, &self.text].into_iter().all(|column| column.num_docs() == docs)
            && self.norms.iter().flatten().all(|norms| norms.num_docs() == docs)
    }

    /// Whether `filter` allows the unit that is document `doc`.
    pub(super) fn is_allowed(&self, key: UnitId, doc: DocId, filter: &dyn UnitFilter) -> bool {
        let (file, info) = (self.file(doc), self.info(doc));
        let place = || UnitPlace { key, file, kind: info.kind(), first: info.first(), end: info.end() };
        filter.allows_file(file) && filter.allows_unit(&place())
    }

    /// The stored bytes of a document, from its store.
    pub(super) fn stored(&self, doc: DocId) -> Result<OwnedBytes> {
        let store = match self.store.get() {
            Some(store) => store,
            None => {
                let opened = self.reader.get_store_reader(STORE_BLOCKS).map_err(tantivy::TantivyError::from)?;
                self.store.get_or_init(|| opened)
            }
        };
        Ok(store.get_document_bytes(doc)?)
    }

    /// The terms of a field, if it has any. An empty one is not opened: tantivy would build an empty dictionary of half
    /// a megabyte.
    pub(super) fn terms_of(&self, field: Field) -> Result<Option<Arc<InvertedIndexReader>>> {
        let at = self.fields.iter().position(|own| *own == field);
        let is_empty = at.zip(self.lengths.get()).is_some_and(|(at, lengths)| !lengths.has_terms[at]);
        Ok(if is_empty { None } else { Some(self.reader.inverted_index(field)?) })
    }

    pub(super) fn postings(&self, term: &Term, option: IndexRecordOption) -> Result<Option<SegmentPostings>> {
        let Some(index) = self.terms_of(term.field())? else { return Ok(None) };
        Ok(index.read_postings(term, option).map_err(tantivy::TantivyError::from)?)
    }

    /// Calls `visit` for every live document with the term.
    pub(super) fn each(&self, term: &Term, mut visit: impl FnMut(DocId)) -> Result<()> {
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

/// A document's key.
pub(super) fn key(segment: usize, doc: DocId) -> UnitId {
    UnitId::new(segment as u32, doc)
}

/// Opens a commit without its segments.
pub(super) fn index_at(folder: &Path, point: &CommitPoint) -> Result<(Index, Fields)> {
    let (own_schema, fields) = schema();
    let index = Index::open(IndexDirectory::reader(folder, point))?;
    if index.schema() != own_schema {
        return Err(Error::OtherVersion("its fields differ".into()));
    }
    Ok((index, fields))
}

impl Lexical {
    /// The newest commit; its payload is `None` before the first. Merges of segments change it too.
    ///
    /// # Errors
    /// When there is no readable index in `folder`.
    pub fn commit_point(folder: &Path) -> Result<CommitPoint> {
        CommitPoint::read(folder)
    }

    /// Opens the newest commit in `folder`.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn open(folder: &Path) -> Result<Lexical> {
        Lexical::open_at(folder, &CommitPoint::read(folder)?)
    }

    /// Opens the commit in `folder` whose point was read before.
    ///
    /// # Errors
    /// When it is damaged, or a later one removed its files.
    pub(crate) fn open_at(folder: &Path, point: &CommitPoint) -> Result<Lexical> {
        let (index, fields) = index_at(folder, point)?;
        prepare(&index);
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let kept = FieldLengths::load(folder);
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|reader| {
                let fast = reader.fast_fields();
                let mut norms = [const { None }; FIELD_COUNT];
                for (norm, field) in norms.iter_mut().zip(fields.unit) {
                    *norm = reader.fieldnorms_readers().get_field(field)?;
                }
                let [file, info, text] = ["file", "info", "text"].map(|field| fast.u64(field));
                let lengths = kept.get(reader).map_or_else(OnceLock::new, OnceLock::from);
                let time = fast.column_opt("time")?;
                let store = OnceLock::new();
                Ok(LexicalSegment {
                    file: file?,
                    info: info?,
                    text: text?,
                    time,
                    fields: fields.unit,
                    norms,
                    lengths,
                    store,
                    reader: reader.clone(),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Lexical { searcher, _reader: reader, fields, segments })
    }

    /// Number of segments, live documents and deleted ones.
    pub fn shape(&self) -> (usize, u64, u64) {
        let dead = self.segments.iter().map(|s| u64::from(s.reader.num_deleted_docs())).sum();
        (self.segments.len(), self.searcher.num_docs(), dead)
    }

    /// The document at an address, if this snapshot has one there.
    fn document(&self, key: UnitId) -> Option<(&LexicalSegment, DocId)> {
        let segment = self.segments.get(key.segment() as usize)?;
        (key.doc() < segment.reader.max_doc()).then_some((segment, key.doc()))
    }

    /// The facts of a unit, with score 0; `None` if this snapshot has no document at the address.
    pub fn hit(&self, key: UnitId) -> Option<UnitHit> {
        let (segment, doc) = self.document(key)?;
        Some(segment.hit(key, doc))
    }

    pub(super) fn span_of(&self, key: UnitId) -> Option<Span> {
        let (segment, doc) = self.document(key)?;
        Some(segment.info(doc).span())
    }

    /// The last line of a unit.
    pub fn end_of(&self, key: UnitId) -> Option<u32> {
        let (segment, doc) = self.document(key)?;
        Some(segment.info(doc).end())
    }

    /// Whether this snapshot has a unit at the address and `filter` allows it.
    pub fn is_allowed(&self, key: UnitId, filter: &dyn UnitFilter) -> bool {
        self.document(key).is_some_and(|(segment, doc)| segment.is_allowed(key, doc, filter))
    }

    /// Calls `visit` with the key, the file and the hash of the text of every unit that
    /// `filter` allows.
    pub fn each_unit(&self, filter: Option<&dyn UnitFilter>, mut visit: impl FnMut(UnitId, FileId, TextHash)) {
        for (s, segment) in self.segments.iter().enumerate() {
            for doc in segment.reader.doc_ids_alive() {
                let key = key(s, doc);
                if let Some(text) = segment.text(doc)
                    && filter.is_none_or(|f| self.is_allowed(key, f))
                {
                    visit(key, segment.file(doc), text);
                }
            }
        }
    }

    /// The units, by key, with texts that are `wanted`, each with that hash.
    pub fn units_of_texts(&self, wanted: impl Fn(TextHash) -> bool + Sync) -> Vec<(UnitId, TextHash)> {
        let ranges = |(s, segment): (usize, &LexicalSegment)| {
            let end = segment.reader.max_doc();
            (0..end).step_by(SCAN_DOCS).map(move |from| (s, from..end.min(from + SCAN_DOCS as DocId)))
        };
        let ranges: Vec<(usize, Range<DocId>)> = self.segments.iter().enumerate().flat_map(ranges).collect();
        let parts: Vec<Vec<(UnitId, TextHash)>> = ranges
            .into_par_iter()
            .map(|(s, docs)| {
                let segment = &self.segments[s];
                let mut texts = vec![0; docs.len()];
                // Every document has exactly one value.
                segment.text.values.get_range(docs.start.into(), &mut texts);
                let found = docs
                    .zip(texts)
                    .filter_map(|(doc, text)| Some((doc, TextHash::new(text).filter(|text| wanted(*text))?)));
                let living = found.filter(|(doc, _)| !segment.reader.is_deleted(*doc));
                living.map(|(doc, text)| (key(s, doc), text)).collect()
            })
            .collect();
        parts.concat()
    }

    /// The hash of a unit's text; `None` if no unit of this snapshot has the address.
    pub fn text_of(&self, key: UnitId) -> Option<TextHash> {
        let (segment, doc) = self.document(key)?;
        segment.text(doc)
    }

    /// The units of a file that `filter` allows, by line, all with score 0.
    pub fn units_of(&self, file: FileId, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let mut units: Vec<UnitHit> = Vec::new();
        for (s, doc) in self.documents_of(file)? {
            let (segment, key) = (&self.segments[s], key(s, doc));
            if !segment.info(doc).is_file() && filter.is_none_or(|f| segment.is_allowed(key, doc, f)) {
                units.push(segment.hit(key, doc));
            }
        }
        units.sort_by_key(|u| (u.line, u.key));
        Ok(units)
    }

    /// Positions of the units of a file.
    pub fn spans_of(&self, file: FileId) -> Result<Vec<UnitSpan>> {
        let documents = self.documents_of(file)?.into_iter().map(|(s, doc)| (key(s, doc), self.segments[s].info(doc)));
        let span = |(key, info): (UnitId, Info)| UnitSpan {
            key,
            kind: info.kind(),
            first: info.first(),
            line: info.line(),
            end: info.end(),
        };
        Ok(documents.filter(|(_, info)| !info.is_file()).map(span).collect())
    }

    /// The live documents of a file: segment and number, ascending.
    pub(super) fn documents_of(&self, file: FileId) -> Result<Vec<(usize, DocId)>> {
        let term = Term::from_field_u64(self.fields.file, file.in_index());
        let mut documents = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(&term, |doc| documents.push((s, doc)))?;
        }
        Ok(documents)
    }
}
