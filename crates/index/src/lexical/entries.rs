//! Entries of a history: units that are not part of a file of the tree. They have a time, mention paths, and keep the
//! text that is encoded of them.

use std::collections::BTreeSet;

use colgrep_core::{Unit, UnitId};
use colgrep_syntax::parse::StoredUnit;
use serde::{Deserialize, Serialize};
use tantivy::{DocId, Term};

use super::read::{Lexical, LexicalSegment, UnitFilter, key};
use crate::error::{Error, Result};
use crate::ids::{FileId, TextHash};
use crate::moment::Moment;
use crate::units::{TEXT_BYTES_MAX, text_hash, unit_text};

/// Facts of an entry besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub time: Moment,
    /// Paths from the repository's root, each with the tool that named it (empty for a commit).
    pub mentions: BTreeSet<(String, String)>,
}

impl Entry {
    /// The paths, each once.
    pub fn paths(&self) -> BTreeSet<&str> {
        self.mentions.iter().map(|(path, _)| path.as_str()).collect()
    }
}

/// An entry's place and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHit {
    /// Its key in this snapshot.
    pub key: UnitId,
    /// The commit or session that it is part of.
    pub file: FileId,
    /// Its line there.
    pub line: u32,
    pub time: Moment,
}

/// A unit as stored in an index that keeps texts: the body is cut to what is encoded.
pub(crate) fn kept(unit: &Unit) -> Unit {
    let body = unit.body[..unit.body.floor_char_boundary(TEXT_BYTES_MAX)].to_string();
    Unit { body, ..unit.clone() }
}

impl LexicalSegment {
    fn entry(&self, s: usize, doc: DocId) -> Option<EntryHit> {
        let time = Moment::of_value(self.time.as_ref()?.first(doc)?);
        Some(EntryHit { key: key(s, doc), file: self.file(doc), line: self.info(doc).line(), time })
    }
}

impl Lexical {
    /// The entries that `filter` allows, in no particular order.
    pub fn entries(&self, filter: Option<&dyn UnitFilter>) -> Vec<EntryHit> {
        let of_segment = |(s, segment): (usize, &'_ LexicalSegment)| -> Vec<EntryHit> {
            let living = segment.reader.doc_ids_alive().filter_map(|doc| segment.entry(s, doc));
            living.filter(|hit| filter.is_none_or(|f| self.is_allowed(hit.key, f))).collect()
        };
        self.segments.iter().enumerate().flat_map(of_segment).collect()
    }

    /// The place and time of an entry.
    pub fn entry_at(&self, unit: UnitId) -> Option<EntryHit> {
        self.segments.get(unit.segment() as usize)?.entry(unit.segment() as usize, unit.doc())
    }

    /// An entry as stored: its unit with the beginning of its body, and its facts.
    pub fn entry(&self, unit: UnitId) -> Result<(Unit, Entry)> {
        let bytes = self.kept(unit)?;
        let damaged =
            |e: postcard::Error| Error::Damaged { what: "a stored entry is damaged".into(), source: Some(e.into()) };
        let (unit, rest): (StoredUnit, _) = postcard::take_from_bytes(&bytes).map_err(damaged)?;
        Ok((unit.unit(&[]), postcard::from_bytes(rest).map_err(damaged)?))
    }

    /// The text that is encoded of an entry.
    pub fn kept_text(&self, unit: UnitId) -> Result<(TextHash, String)> {
        let text = unit_text("", &self.unit(unit)?.unit(&[]));
        Ok((text_hash(&text), text))
    }

    /// The same of all entries of a commit or session.
    pub(crate) fn kept_texts(&self, file: FileId) -> Result<Vec<(TextHash, String)>> {
        let mut documents = self.documents_of(file)?;
        documents.retain(|(s, doc)| !self.segments[*s].info(*doc).is_file());
        documents.into_iter().map(|(s, doc)| self.kept_text(key(s, doc))).collect()
    }

    /// The paths that entries mention and that `keep` wants, each once.
    pub fn paths_where(&self, keep: impl Fn(&str) -> bool) -> Result<BTreeSet<String>> {
        let mut paths = BTreeSet::new();
        for segment in &self.segments {
            let index = segment.reader.inverted_index(self.fields.mention)?;
            let mut terms = index.terms().stream().map_err(tantivy::TantivyError::from)?;
            while terms.advance() {
                if let Some(path) = std::str::from_utf8(terms.key()).ok().filter(|path| keep(path)) {
                    paths.insert(path.to_string());
                }
            }
        }
        Ok(paths)
    }

    /// The entries that mention a path.
    pub fn mentioning(&self, path: &str) -> Result<Vec<EntryHit>> {
        let term = Term::from_field_text(self.fields.mention, path);
        let mut hits = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            segment.each(&term, |doc| hits.extend(segment.entry(s, doc)))?;
        }
        Ok(hits)
    }

    /// Passes to `visit` each unit's position in `units` with the paths that it mentions, at most `paths_max` (units
    /// with more are left out). Fetches no entry.
    pub fn each_mention(
        &self,
        units: &[UnitId],
        paths_max: usize,
        mut visit: impl FnMut(usize, &[u64], &dyn Fn(u64) -> Option<String>),
    ) -> Result<()> {
        for (s, segment) in self.segments.iter().enumerate() {
            let Some(column) = segment.reader.fast_fields().str("mention")? else { continue };
            let name = |ord: u64| {
                let mut path = String::new();
                column.ord_to_str(ord, &mut path).ok().filter(|found| *found).map(|_| path)
            };
            for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.segment() as usize == s) {
                let ords: Vec<u64> = column.ords().values_for_doc(unit.doc()).collect();
                if ords.len() <= paths_max {
                    visit(at, &ords, &name);
                }
            }
        }
        Ok(())
    }
}
