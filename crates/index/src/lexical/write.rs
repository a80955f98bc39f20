//! Writes the index: units and files become documents, in bounded memory, visible after a commit.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use colgrep_core::bm25::Field as UnitField;
use colgrep_core::fold::folded;
use colgrep_core::import::import_keys;
use colgrep_core::path::PathFacts;
use colgrep_core::query::last_segment;
use colgrep_core::{Span, Unit};
use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, StoredUnit};
use colgrep_syntax::read;
use serde::Serialize;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy, UserOperation};
use tantivy::schema::document::{Document, TantivyDocument};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexSettings, IndexWriter, Term};

use super::commit::collect;
use super::directory::IndexDirectory;
use super::entries::{Entry, kept};
use super::fields::{CORE_TOKENIZER, FILE_KIND, Fields, Info, Signed, prepare, schema};
use crate::disk::Disk;
use crate::error::Result;
use crate::ids::{FileId, TextHash};
use crate::signature::ContentFilter;
use crate::units::{is_encoded, text_hash, unit_text};

/// Memory of the index writer before it writes a segment, in bytes.
const WRITER_BYTES: usize = 64 << 20;
/// Maximum of queued bytes for the index writer: texts, and the overhead of documents.
const QUEUE_BYTES_MAX: usize = 16 << 20;
const DOCUMENT_BYTES: usize = 2 << 10;
/// Compression of stored units: zstd in blocks four times tantivy's; fetching a unit then takes about 0.1 ms.
const STORE_LEVEL: i32 = 12;
const STORE_BLOCK_BYTES: usize = 64 << 10;

/// Bytes between the parsers and the writer: a parser blocks while too many are queued.
#[derive(Default)]
struct Queue {
    bytes: Mutex<usize>,
    freed: Condvar,
}

impl Queue {
    fn enter(self: &Arc<Self>, bytes: usize) -> Ticket {
        let mut under_way = self.bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        while *under_way > 0 && *under_way + bytes > QUEUE_BYTES_MAX {
            under_way = self.freed.wait(under_way).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *under_way += bytes;
        Ticket { queue: Arc::clone(self), bytes }
    }
}

struct Ticket {
    queue: Arc<Queue>,
    bytes: usize,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        *self.queue.bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner) -= self.bytes;
        self.queue.freed.notify_all();
    }
}

/// A document queued for the writer. Its ticket (bytes of the queue's limit) is returned when the writer takes it.
struct Queued {
    document: TantivyDocument,
    _ticket: Option<Arc<Ticket>>,
}

impl Document for Queued {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[derive(Debug, Default)]
pub struct FileDocument<'a> {
    /// The file's number.
    pub id: FileId,
    /// Relative path.
    pub path: &'a str,
    /// Its text. Parts of units that its lines provide are not stored again.
    pub text: &'a str,
    /// Its units and imports.
    pub parsed: Parsed,
    /// Names that its text defines as types.
    pub textual_types: Vec<String>,
    /// Its signature; empty if not requested.
    pub signature: ContentFilter,
    /// Facts of each unit besides its text, if the units are entries of a history; empty for a file of the tree.
    pub entries: Vec<Entry>,
}

impl FileDocument<'_> {
    /// The path in the texts of its units; empty for entries of a history, whose document names are meaningless digits.
    pub(crate) fn text_path(&self) -> &str {
        if self.entries.is_empty() { self.path } else { "" }
    }
}

/// The texts of the fields for keywords and entities. A short section has no keywords, and its entities are only for
/// display.
fn listed(unit: &Unit) -> (String, String) {
    if unit.keywords.is_empty() {
        return Default::default();
    }
    let entities: Vec<&str> = unit.entities.values().flatten().map(String::as_str).collect();
    (unit.keywords.join("\n"), entities.join("\n"))
}

/// Serializes a stored value.
fn in_bytes<T: Serialize + ?Sized>(kept: &T) -> Vec<u8> {
    // Empty bytes instead would be read as damage.
    postcard::to_stdvec(kept).expect("texts, numbers and lists, all of known lengths")
}

/// Writes the index. One writer per folder: the caller holds the store's lock.
pub struct Writer {
    writer: IndexWriter<Queued>,
    fields: Fields,
    queue: Arc<Queue>,
    disk: Disk,
    folder: PathBuf,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// Opens the index in `folder` for writing, creating it if there is none. First removes files that no commit names.
    ///
    /// # Errors
    /// When the disk refuses or the existing index is damaged.
    pub(crate) fn open(folder: &Path, disk: &Disk) -> Result<Writer> {
        disk.forget();
        disk.create_folder(folder)?;
        collect(folder, disk)?;
        let (schema, fields) = schema();
        let settings = IndexSettings {
            docstore_compression: Compressor::Zstd(ZstdCompressor { compression_level: Some(STORE_LEVEL) }),
            docstore_blocksize: STORE_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let opened =
            Index::builder().schema(schema).settings(settings).open_or_create(IndexDirectory::writer(folder, disk));
        let index = opened.map_err(|e| disk.cause(e.into()))?;
        prepare(&index);
        let writer = index.writer_with_num_threads(1, WRITER_BYTES);
        let writer: IndexWriter<Queued> = writer.map_err(|e| disk.cause(e.into()))?;
        let writer = Writer { writer, fields, queue: Arc::default(), disk: disk.clone(), folder: folder.to_path_buf() };
        writer.merge_segments(true);
        Ok(writer)
    }

    /// Deletes the documents of file `id`, with effect at the next commit.
    pub fn delete(&self, id: FileId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.file, id.in_index()));
    }

    /// Replaces the documents of a file, with effect at the next commit. Blocks while too much text is queued.
    ///
    /// # Errors
    /// When the writer has died (a full disk, say).
    pub fn add(&self, file: &FileDocument<'_>) -> Result<()> {
        let facts = CORE_TOKENIZER.with_borrow_mut(|t| PathFacts::new(file.path, language::facts(), t));
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let bytes = file.parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + DOCUMENT_BYTES).sum();
        let ticket = Arc::new(self.queue.enter(bytes));
        let mut operations = Vec::with_capacity(file.parsed.units.len() + 2);
        operations.push(UserOperation::Delete(Term::from_field_u64(self.fields.file, file.id.in_index())));
        operations.push(UserOperation::Add(Queued { document: self.file_document(file, &facts), _ticket: None }));
        let lines: Vec<&str> = read::lines(file.text).collect();
        for (at, unit) in file.parsed.units.iter().enumerate() {
            let document = match file.entries.get(at) {
                Some(entry) => self.entry_document(unit, entry, file),
                None => self.unit_document(unit, file, &lines, [&facts.stem, folder]),
            };
            operations.push(UserOperation::Add(Queued { document, _ticket: Some(Arc::clone(&ticket)) }));
        }
        drop(ticket);
        self.writer.run(operations).map_err(|e| self.disk.cause(e.into()))?;
        Ok(())
    }

    /// Stores just the signature of a file that is not indexed, with effect at the next commit.
    pub fn sign(&self, id: FileId, signature: &ContentFilter) -> Result<()> {
        let ticket = Arc::new(self.queue.enter(2 * signature.size() + DOCUMENT_BYTES));
        let document = self.signed_document(id, signature, &[]);
        let operations = [
            UserOperation::Delete(Term::from_field_u64(self.fields.file, id.in_index())),
            UserOperation::Add(Queued { document, _ticket: Some(ticket) }),
        ];
        self.writer.run(operations).map_err(|e| self.disk.cause(e.into()))?;
        Ok(())
    }

    /// The document of a file, whether it has units or not.
    fn signed_document(&self, id: FileId, signature: &ContentFilter, imports: &[String]) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.file, id.in_index());
        document.add_u64(self.fields.info, FILE_KIND);
        document.add_u64(self.fields.text, 0);
        if !signature.is_empty() {
            document.add_u64(self.fields.signed, Signed { file: id, is_long: signature.is_long }.packed());
        }
        for (field, strip) in self.fields.signature.into_iter().zip(&signature.strips) {
            strip.iter().for_each(|bits| document.add_u64(field, *bits));
        }
        document.add_bytes(self.fields.stored, &in_bytes(imports));
        document
    }

    fn file_document(&self, file: &FileDocument<'_>, facts: &PathFacts) -> TantivyDocument {
        let imports = &file.parsed.imports;
        let mut document = self.signed_document(file.id, &file.signature, imports);
        let topics: HashSet<&String> = facts.topic_terms.iter().collect();
        for term in topics {
            document.add_text(self.fields.topic, term);
        }
        for name in &file.textual_types {
            document.add_text(self.fields.textual_type, name);
        }
        let keys: HashSet<String> =
            imports.iter().flat_map(|text| import_keys(text, file.path, language::facts())).collect();
        for key in &keys {
            document.add_text(self.fields.import, key);
        }
        document
    }

    /// A unit of a file with those lines, whose stem and folder are given.
    fn unit_document(
        &self,
        unit: &Unit,
        file: &FileDocument<'_>,
        lines: &[&str],
        [stem, folder]: [&str; 2],
    ) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.file, file.id.in_index());
        document.add_u64(self.fields.info, Info::of(unit).0);
        let text = is_encoded(unit).then(|| text_hash(&unit_text(file.path, unit)));
        document.add_u64(self.fields.text, text.map_or(0, TextHash::value));
        let (keywords, entities) = listed(unit);
        for (field, kind) in self.fields.unit.into_iter().zip(UnitField::ALL) {
            let text = match kind {
                UnitField::Name => unit.name.as_str(),
                UnitField::Parent => &unit.parent,
                UnitField::Doc => &unit.docstring,
                UnitField::Body => &unit.body,
                UnitField::Stem => stem,
                UnitField::Folder => folder,
                UnitField::Keyword => &keywords,
                UnitField::Entity => &entities,
            };
            if !text.is_empty() {
                document.add_text(field, text);
            }
        }
        if unit.kind.is_definition() {
            let name = last_segment(&unit.name);
            if !name.is_empty() && name.len() < 200 {
                document.add_text(self.fields.definition, folded(name));
            }
        }
        for name in &unit.calls {
            document.add_text(self.fields.callee, name);
        }
        let mut stored = StoredUnit::of(unit, lines);
        // `info` has the line numbers, if they fit.
        if Info::of(unit).span() == unit.span {
            stored.span = Span::default();
        }
        document.add_bytes(self.fields.stored, &in_bytes(&stored));
        document
    }

    /// An entry of a history, stored with its text and without the path and folder of its document.
    fn entry_document(&self, unit: &Unit, entry: &Entry, file: &FileDocument<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        let kept = kept(unit);
        document.add_u64(self.fields.file, file.id.in_index());
        document.add_u64(self.fields.info, Info::of(unit).0);
        document.add_u64(self.fields.text, text_hash(&unit_text(file.text_path(), &kept)).value());
        document.add_i64(self.fields.time, entry.time.value());
        let [name, _, doc, body, ..] = self.fields.unit;
        for (field, text) in [(name, &unit.name), (doc, &unit.docstring), (body, &unit.body)] {
            if !text.is_empty() {
                document.add_text(field, text);
            }
        }
        for path in entry.paths() {
            document.add_text(self.fields.mention, path);
        }
        let mut stored = in_bytes(&StoredUnit::whole(&kept));
        stored.extend(in_bytes(entry));
        document.add_bytes(self.fields.stored, &stored);
        document
    }

    /// Makes everything since the last commit visible at once, under `payload`.
    ///
    /// # Errors
    /// When the disk refuses; the last commit then stays in effect.
    pub fn commit(&mut self, payload: &str) -> Result<()> {
        let committed = self.writer.prepare_commit().and_then(|mut commit| {
            commit.set_payload(payload);
            commit.commit()
        });
        committed.map_err(|e| self.disk.cause(e.into()))?;
        Ok(())
    }

    /// Whether commits from now on merge small segments.
    pub fn merge_segments(&self, merges: bool) {
        if merges {
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(6);
            self.writer.set_merge_policy(Box::new(policy));
        } else {
            self.writer.set_merge_policy(Box::new(NoMergePolicy));
        }
    }

    /// Rewrites the segments with these ids without their deleted documents. The commit's payload is unchanged.
    ///
    /// # Errors
    /// When the disk refuses; the old segments then stay in use.
    pub fn rewrite(&mut self, ids: &[String]) -> Result<()> {
        self.merge_segments(false);
        let segments = self.writer.index().searchable_segment_ids().map_err(|e| self.disk.cause(e.into()))?;
        for segment in segments.into_iter().filter(|segment| ids.contains(&segment.uuid_string())) {
            self.writer.merge(&[segment]).wait().map_err(|e| self.disk.cause(e.into()))?;
        }
        Ok(())
    }

    /// Closes the writer: waits for running merges and removes unneeded files.
    ///
    /// # Errors
    /// When a merge failed; the last commit then stays in effect.
    pub fn finish(self) -> Result<()> {
        let Writer { writer, disk, folder, .. } = self;
        writer.wait_merging_threads().map_err(|e| disk.cause(e.into()))?;
        // Not before: the last merge may leave superseded segments. Files that can't be removed are left to the next
        // writer.
        let _ = collect(&folder, &disk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::Lexical;
    use super::*;
    use crate::error::ErrorKind;

    /// All terms of all fields that are searched as text.
    fn terms(folder: &Path) -> Vec<String> {
        let lexical = Lexical::open(folder).expect("an index");
        let (_, fields) = schema();
        let mut found = Vec::new();
        for segment in &lexical.segments {
            for field in fields.unit.into_iter().chain([fields.definition, fields.callee]) {
                let index = segment.reader.inverted_index(field).expect("a field");
                let mut terms = index.terms().stream().expect("terms");
                while let Some((term, _)) = terms.next() {
                    found.push(String::from_utf8_lossy(term).into_owned());
                }
            }
        }
        found
    }

    #[test]
    fn a_segment_written_again_has_no_word_of_what_was_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::open(folder.path(), &Disk::default()).expect("a writer");
        for (id, name) in [(1, "kept_words"), (2, "zebraquux_secret")] {
            let unit = Unit { name: name.into(), body: format!("fn {name}() {{}}"), ..Unit::default() };
            let parsed = Parsed { units: vec![unit], ..Parsed::default() };
            let file = FileDocument { id: FileId(id), path: "a.rs", parsed, ..FileDocument::default() };
            writer.add(&file).expect("added");
        }
        writer.commit("one").expect("a commit");
        writer.delete(FileId(2));
        writer.commit("two").expect("a commit");
        assert!(terms(folder.path()).iter().any(|term| term.contains("zebraquux")), "deleted, and there");
        let ids = writer.writer.index().searchable_segment_ids().expect("segments");
        writer.rewrite(&[]).expect("nothing to do");
        assert_eq!(writer.writer.index().searchable_segment_ids().expect("segments"), ids);
        writer.rewrite(&ids.iter().map(|id| id.uuid_string()).collect::<Vec<_>>()).expect("written again");
        writer.finish().expect("an end");
        let left = terms(folder.path());
        assert!(left.iter().any(|term| term == "kept") && !left.iter().any(|t| t.contains("zebraquux")), "{left:?}");
        let point = Lexical::commit_point(folder.path()).expect("a commit");
        assert_eq!(point.payload.as_deref(), Some("two"));
        let files = std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        assert!(!files.map(|name| name.to_string_lossy().into_owned()).any(|name| name.ends_with(".del")));
    }

    #[test]
    fn imports_that_cannot_be_read_are_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::open(folder.path(), &Disk::default()).expect("a writer");
        let imports = vec!["use a::b;".to_string()];
        let parsed = Parsed { imports: imports.clone(), ..Parsed::default() };
        let file = FileDocument { id: FileId(1), path: "a.rs", parsed, ..FileDocument::default() };
        writer.add(&file).expect("added");
        let (_, fields) = schema();
        let mut document = TantivyDocument::default();
        for (field, value) in [(fields.file, FileId(2).in_index()), (fields.info, FILE_KIND), (fields.text, 0)] {
            document.add_u64(field, value);
        }
        document.add_bytes(fields.stored, &[0xff]);
        writer.writer.run([UserOperation::Add(Queued { document, _ticket: None })]).expect("added");
        writer.commit("one").expect("a commit");
        let lexical = Lexical::open(folder.path()).expect("an index");
        assert_eq!(lexical.imports(FileId(1)).expect("imports"), imports);
        assert_eq!(lexical.imports(FileId(2)).expect_err("damage").kind(), ErrorKind::Unusable);
    }
}
