//! Stored fields for output: units without what their files provide, imports, callers.

use colgrep_core::query::last_segment;
use colgrep_core::statistics::TermCount;
use colgrep_core::{Span, UnitId};
use colgrep_syntax::parse::StoredUnit;
use tantivy::directory::OwnedBytes;
use tantivy::schema::document::TantivyDocument;
use tantivy::schema::{Field, Value as _};
use tantivy::{DocAddress, Term};

use super::read::{Lexical, key};
use crate::error::{Error, Result};
use crate::ids::FileId;

/// Callers listed for a unit.
const CALLERS_MAX: usize = 20;

impl Lexical {
    /// The stored part of a unit.
    pub fn unit(&self, key: UnitId) -> Result<StoredUnit> {
        let bytes = self.kept(key)?;
        let mut unit: StoredUnit = postcard::from_bytes(&bytes).map_err(damaged("a stored unit is damaged"))?;
        if unit.span == Span::default() {
            unit.span = self.span_of(key).unwrap_or_default();
        }
        Ok(unit)
    }

    /// The only stored field of a document; empty if it has none.
    pub(super) fn kept(&self, key: UnitId) -> Result<OwnedBytes> {
        let (segment, doc) = (&self.segments[key.segment() as usize], key.doc());
        let bytes = segment.stored(doc)?;
        if let Some(from) = begin_of_field(&bytes, self.fields.stored) {
            return Ok(bytes.slice(from..bytes.len()));
        }
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(key.segment(), doc))?;
        let bytes = document.get_first(self.fields.stored).and_then(|v| v.as_bytes()).unwrap_or_default();
        Ok(OwnedBytes::new(bytes.to_vec()))
    }

    /// The imports of a file.
    pub fn imports(&self, file: FileId) -> Result<Vec<String>> {
        let mut imports = Vec::new();
        for (s, doc) in self.documents_of(file)? {
            if self.segments[s].info(doc).is_file() {
                imports = self.kept_imports(key(s, doc))?;
            }
        }
        Ok(imports)
    }

    /// The imports that the document of a file stores.
    pub(super) fn kept_imports(&self, key: UnitId) -> Result<Vec<String>> {
        postcard::from_bytes(&self.kept(key)?).map_err(damaged("a file's stored imports are damaged"))
    }

    /// About how many units have a term: the highest count among its fields.
    pub fn units_with(&self, term: &str) -> Result<u64> {
        Ok(self.count_of(term)?.most())
    }

    /// The number of units with a term, for each field.
    pub fn count_of(&self, term: &str) -> Result<TermCount> {
        let mut count = TermCount::default();
        for (in_field, field) in count.in_field.iter_mut().zip(self.fields.unit) {
            let term = Term::from_field_text(field, term);
            for segment in &self.segments {
                if segment.reader.has_deletes() {
                    // Deleted documents would count in an updated index but not in a new one.
                    segment.each(&term, |_| *in_field += 1)?;
                } else {
                    let Some(index) = segment.terms_of(field)? else { continue };
                    *in_field += u64::from(index.doc_freq(&term).map_err(tantivy::TantivyError::from)?);
                }
            }
        }
        Ok(count)
    }

    /// Qualified names of units that call `name`, at most twenty, of files that `may_call` it, sorted by line and by
    /// `order` of their files, since file numbers depend on the order of updates.
    pub(crate) fn callers(
        &self,
        name: &str,
        may_call: impl Fn(FileId) -> bool,
        order: impl Fn(FileId) -> u32,
    ) -> Result<Vec<String>> {
        let term = Term::from_field_text(self.fields.callee, last_segment(name));
        let mut found: Vec<(u32, u32, UnitId)> = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(&term, |doc| found.push((order(segment.file(doc)), segment.info(doc).line(), key(s, doc))))?;
        }
        found.retain(|(.., key)| self.hit(*key).is_some_and(|hit| may_call(hit.file)));
        found.sort_unstable();
        let mut callers: Vec<String> = Vec::new();
        for (_, _, key) in found.into_iter().take(2 * CALLERS_MAX) {
            let caller = self.unit(key)?.unit(&[]).qualified_name();
            if !caller.is_empty() && caller != name && !callers.contains(&caller) && callers.len() < CALLERS_MAX {
                callers.push(caller);
            }
        }
        Ok(callers)
    }
}

/// An error for stored bytes that can't be parsed.
fn damaged(what: &'static str) -> impl Fn(postcard::Error) -> Error {
    move |error| Error::Damaged { what: what.into(), source: Some(error.into()) }
}

/// Offset of the bytes of a document's only field in tantivy's encoding: number of fields, field, type, number of
/// bytes. `None` for any other layout, which is left to tantivy's slower reader.
fn begin_of_field(document: &[u8], field: Field) -> Option<usize> {
    let (count, rest) = document.split_first()?;
    let (own, rest) = rest.split_first_chunk::<4>()?;
    if *count != 0x80 | 1 || u32::from_le_bytes(*own) != field.field_id() {
        return None;
    }
    let (_, rest) = rest.split_first()?;
    // Seven bits a byte, the lowest first; the last one is marked.
    let last = rest.iter().take(5).position(|byte| byte & 0x80 != 0)?;
    let length = rest[..=last].iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
    (rest.len() == last + 1 + length).then(|| document.len() - length)
}
