//! Sources of documents: the files of a tree, or another source. The update is one algorithm over both.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, parse_file, textual_types};
use colgrep_syntax::read::{Skip, decode, is_notebook, skip_by_name};

use crate::error::Result;
use crate::lexical::Entry;
use crate::signature::{ContentFilter, SIGNED_BYTES_MAX, signature};
use crate::source::{hash, read_file};
use crate::store::{FileRecord, FileTable};
use crate::walk::{LeftOut, WalkOptions, Walked, WalkedFile, times_ns, walk_to_remember};

/// Minimum age of a file's time stamp before the file is read: a second change within the same tick of the kernel (1 to
/// 10 ms) would keep the stamp.
const STAMP_TICK: Duration = Duration::from_millis(20);

/// Largest notebook that is read, in bytes. Outputs, such as images, are left out before its size is compared with the
/// limit of other files.
const NOTEBOOK_BYTES_MAX: u64 = 64 << 20;

pub trait Source: Sync {
    /// Version of its documents, stored as [`FileTable::source`]: an index with another version is rebuilt.
    fn version(&self) -> u32;

    /// Lists all documents, sorted by path. `known` is the table of the last complete update.
    ///
    /// # Errors
    /// When the documents can't be listed.
    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> Result<Walked>;

    /// Prepares some of the listed documents for reading: some sources are cheaper to query in batches.
    fn begin<'s>(&'s self, round: &[WalkedFile]) -> Result<Box<dyn DocumentBatch + 's>>;

    /// Maximum of documents in one round: what [`begin`](Self::begin) reads stays in memory until all of them are
    /// written.
    fn round_max(&self) -> usize {
        usize::MAX
    }
}

/// A batch of listed documents, ready to be read from many threads.
pub trait DocumentBatch: Sync {
    /// Reads one document.
    fn read(&self, asked: &DocumentRequest<'_>) -> Result<Document>;
}

#[derive(Clone, Copy, Debug)]
pub struct DocumentRequest<'a> {
    /// The entry of the listing.
    pub found: &'a WalkedFile,
    pub known: Option<&'a FileRecord>,
    /// Its new record, with number, path, size and time filled in.
    pub record: &'a FileRecord,
    /// The largest file that is read, in bytes.
    pub filesize_max: u64,
    /// Whether to read files named like secrets (keys, passwords).
    pub secrets: bool,
    /// Whether to compute a signature of the bytes.
    pub signs: bool,
}

#[derive(Debug, Default)]
pub struct Document {
    pub record: FileRecord,
    /// The units to index; `None` if the document is skipped or unchanged.
    pub content: Option<Content>,
    /// Its signature, if requested and possible; of a skipped file too.
    pub signature: ContentFilter,
    /// Number of bytes read.
    pub bytes: u64,
}

/// The indexed content of a document.
#[derive(Debug, Default)]
pub struct Content {
    /// Its text; empty for a history, whose units are stored whole.
    pub text: String,
    /// Its units and imports.
    pub parsed: Parsed,
    /// Names that its text defines as types.
    pub textual_types: Vec<String>,
    /// For a history, the facts of each unit besides its text; empty for the files of a tree.
    pub entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    pub(super) root: &'a Path,
    /// Paths to leave out, besides ignored and hidden files.
    pub(super) left_out: LeftOut<'a>,
}

impl Source for Tree<'_> {
    fn version(&self) -> u32 {
        0
    }

    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> Result<Walked> {
        match known {
            Some(table) => table.walk_again(self.root, &self.left_out, options),
            None => walk_to_remember(self.root, &self.left_out, options, None),
        }
    }

    fn begin<'s>(&'s self, _: &[WalkedFile]) -> Result<Box<dyn DocumentBatch + 's>> {
        Ok(Box::new(*self))
    }
}

impl DocumentBatch for Tree<'_> {
    /// Reads one file, and parses it if its content differs from that of the known record.
    fn read(&self, asked: &DocumentRequest<'_>) -> Result<Document> {
        let DocumentRequest { found, known, filesize_max, secrets, signs, .. } = *asked;
        let mut record = asked.record.clone();
        let skip = |mut record: FileRecord, skip: Skip, signature: ContentFilter, bytes: u64| {
            record.skip = Some(skip);
            record.language = language::detect(Path::new(&found.path), &[]).name.to_string();
            Ok(Document { record, content: None, signature, bytes })
        };
        let full = self.root.join(&found.path);
        let read = |bytes_max: u64| {
            // The walk's stamp is not a time if somebody set the file's times.
            if let Ok(metadata) = full.symlink_metadata() {
                times_ns(&metadata).into_iter().for_each(wait_for_new_stamp);
            }
            read_file(self.root, &found.path, bytes_max)
        };
        let kept = |reason: &Skip| *reason == Skip::Secret && secrets;
        let by_name = skip_by_name(&found.path).filter(|reason| !kept(reason));
        // Of a notebook, the text without outputs counts.
        let size_max = if is_notebook(&found.path) { filesize_max.max(NOTEBOOK_BYTES_MAX) } else { filesize_max };
        if let Some(reason) = if found.size > size_max { Some(Skip::TooLarge) } else { by_name } {
            // A secret's content must not show, not even in the bits of a signature.
            let is_signed = signs && by_name != Some(Skip::Secret) && found.size <= SIGNED_BYTES_MAX;
            let bytes = if is_signed { read(SIGNED_BYTES_MAX).ok() } else { None };
            let signature = bytes.as_deref().map(signature).unwrap_or_default();
            return skip(record, reason, signature, bytes.map_or(0, |bytes| bytes.len() as u64));
        }
        let Ok(bytes) = read(u64::MAX) else {
            return skip(record, Skip::Unreadable, ContentFilter::default(), 0);
        };
        let size = bytes.len() as u64;
        record.hash = hash(&bytes);
        if let Some(known) = known.filter(|k| k.hash == record.hash && k.skip.is_none()) {
            let record = FileRecord { size: found.size, mtime_ns: found.mtime_ns, ..known.clone() };
            return Ok(Document { record, bytes: size, ..Document::default() });
        }
        let language = language::of_file(&found.path, &bytes);
        let signature = if signs { signature(&bytes) } else { ContentFilter::default() };
        let text = match decode(&found.path, bytes) {
            Ok(text) if found.size <= filesize_max || text.text.len() as u64 <= filesize_max => text,
            Ok(_) => return skip(record, Skip::TooLarge, signature, size),
            Err(reason) => return skip(record, reason, signature, size),
        };
        let (language, parsed) = parse_file(&found.path, &text.text, language);
        record.language = language;
        record.generated = text.generated;
        record.note.clone_from(&parsed.note);
        let textual_types = textual_types(&text.text);
        let content = Content { text: text.text, parsed, textual_types, entries: Vec::new() };
        Ok(Document { record, content: Some(content), signature, bytes: size })
    }
}

/// Sleeps until any later change of a file last changed at `mtime_ns` gets a later time stamp.
pub(crate) fn wait_for_new_stamp(mtime_ns: i64) {
    let age = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64) - mtime_ns;
    let tick = STAMP_TICK.as_nanos() as i64;
    if (0..tick).contains(&age) {
        std::thread::sleep(Duration::from_nanos((tick - age) as u64));
    }
}
