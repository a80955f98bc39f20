//! Where documents come from: the files of a tree, or another source. The update is one algorithm over both.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, parse_file, textual_types};
use colgrep_syntax::read::{Skip, decode, skip_by_name};

use crate::error::Result;
use crate::lexical::Entry;
use crate::source::hash;
use crate::store::{FileRecord, FileTable};
use crate::walk::{LeftOut, WalkOptions, Walked, WalkedFile, walk};

/// A file changed this shortly before it is read could change again without a new time stamp:
/// it is read only when this time has passed. Kernels stamp files at their tick, 1 to 10 ms.
const STAMP_TICK: Duration = Duration::from_millis(20);

/// Where documents come from.
pub trait Source: Sync {
    /// What its documents are made of, see [`FileTable::source`]: where the table's is another, all is built anew.
    fn version(&self) -> u32;

    /// All that there is now, by path; `known` is the table of the last complete update.
    ///
    /// # Errors
    /// When it can't be told.
    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> Result<Walked>;

    /// Gets ready to read some of what was listed: for some sources, one look at many is cheaper than many.
    ///
    /// # Errors
    /// When the source does not answer.
    fn begin<'s>(&'s self, round: &[WalkedFile]) -> Result<Box<dyn Round + 's>>;
}

/// Some of what a source listed, ready to be read from many threads.
pub trait Round: Sync {
    /// Reads one.
    ///
    /// # Errors
    /// When the source does not answer.
    fn read(&self, asked: &Asked<'_>) -> Result<Document>;
}

/// What is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// As it was listed.
    pub found: &'a WalkedFile,
    /// What the table knows of it.
    pub known: Option<&'a FileRecord>,
    /// The record to be filled in: number, path, size and time are there.
    pub record: &'a FileRecord,
    /// The largest file that is read, in bytes.
    pub filesize_max: u64,
    /// Whether files are read whose names are those of secrets.
    pub secrets: bool,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Document {
    /// What the table is to know of it.
    pub record: FileRecord,
    /// What is indexed of it; none where it is skipped, or its content is what it was.
    pub content: Option<Content>,
    /// Bytes that were read.
    pub bytes: u64,
}

/// What is indexed of a document.
#[derive(Debug, Default)]
pub struct Content {
    /// Its units and imports.
    pub parsed: Parsed,
    /// Names that its text defines as types.
    pub textual_types: Vec<String>,
    /// What each unit says beside its text; empty for the files of a tree.
    pub entries: Vec<Entry>,
}

/// The files of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    /// Its root.
    pub(super) root: &'a Path,
    /// What is left out beside ignored and hidden files.
    pub(super) left_out: LeftOut<'a>,
}

impl Source for Tree<'_> {
    fn version(&self) -> u32 {
        0
    }

    fn list(&self, _: Option<&FileTable>, options: &WalkOptions) -> Result<Walked> {
        walk(self.root, &self.left_out, options)
    }

    fn begin<'s>(&'s self, _: &[WalkedFile]) -> Result<Box<dyn Round + 's>> {
        Ok(Box::new(*self))
    }
}

impl Round for Tree<'_> {
    /// Reads one file, and parses it where its content is another than what is known.
    fn read(&self, asked: &Asked<'_>) -> Result<Document> {
        let Asked { found, known, filesize_max, secrets, .. } = *asked;
        let mut record = asked.record.clone();
        let skip = |mut record: FileRecord, skip: Skip, bytes: u64| {
            record.skip = Some(skip);
            record.language = language::detect(Path::new(&found.path), &[]).name.to_string();
            Ok(Document { record, bytes, ..Document::default() })
        };
        if found.size > filesize_max {
            return skip(record, Skip::TooLarge, 0);
        }
        let kept = |reason: &Skip| *reason == Skip::Secret && secrets;
        if let Some(reason) = skip_by_name(&found.path).filter(|reason| !kept(reason)) {
            return skip(record, reason, 0);
        }
        wait_for_new_stamp(found.mtime_ns);
        let Ok(bytes) = std::fs::read(self.root.join(&found.path)) else {
            return skip(record, Skip::Unreadable, 0);
        };
        let size = bytes.len() as u64;
        record.hash = hash(&bytes);
        if let Some(known) = known.filter(|k| k.hash == record.hash && k.skip.is_none()) {
            let record = FileRecord { size: found.size, mtime_ns: found.mtime_ns, ..known.clone() };
            return Ok(Document { record, bytes: size, ..Document::default() });
        }
        let language = language::of_file(&found.path, &bytes);
        let text = match decode(&found.path, bytes) {
            Ok(text) => text,
            Err(reason) => return skip(record, reason, size),
        };
        let (language, parsed) = parse_file(&found.path, &text.text, language);
        record.language = language;
        record.generated = text.generated;
        record.note.clone_from(&parsed.note);
        let content = Content { parsed, textual_types: textual_types(&text.text), entries: Vec::new() };
        Ok(Document { record, content: Some(content), bytes: size })
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
