//! Transcripts of agents as documents: finds them below the user's folders and reads their turns.
//!
//! Private by design: only folders that the user names are listed, only sessions that ran in one of this repository's
//! worktrees are read, and tool output is never kept.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use colgrep_core::{Span, Unit, UnitKind};
use colgrep_syntax::parse::Parsed;
use colgrep_syntax::read::Skip;

use super::transcript::{FORMATS, Transcript, TranscriptFormat, Turn};
use super::{Roots, SESSION, Unknown};
use crate::lexical::Entry;
use crate::store::{FileRecord, FileTable};
use crate::update::{Content, Document, wait_for_new_stamp};
use crate::walk::{Walked, WalkedFile};

/// Maximum depth of nested folders that are searched.
const DEPTH_MAX: usize = 8;
/// Longest line that is read, in bytes: longer ones contain files, images and command output.
const LINE_BYTES_MAX: u64 = 8 << 20;
/// Maximum length of a turn's title, the first line of its question, in bytes.
const TITLE_BYTES_MAX: usize = 200;

/// Folders with transcripts, and the repository whose sessions count.
#[derive(Clone, Debug, Default)]
pub struct TranscriptFolders {
    folders: Vec<PathBuf>,
    roots: Roots,
}

impl TranscriptFolders {
    /// Transcripts below `folders` of sessions that ran in one of the worktrees at `roots`.
    pub fn new(folders: Vec<PathBuf>, roots: Vec<PathBuf>) -> TranscriptFolders {
        TranscriptFolders { folders, roots: Roots::new(roots) }
    }

    /// Whether no folder is configured.
    pub fn is_none(&self) -> bool {
        self.folders.is_empty()
    }

    /// Adds all transcripts. One that is known to be of another project is listed as known, however it has grown: a
    /// session stays where it began.
    pub(super) fn list(&self, known: Option<&FileTable>, walked: &mut Walked) {
        if self.is_none() {
            return;
        }
        let state: Vec<String> = self.roots.iter().map(|root| format!("root {}", root.display())).collect();
        let known = known.filter(|table| table.state.iter().filter(|line| line.starts_with("root ")).eq(&state));
        let elsewhere = known.into_iter().flat_map(|table| &table.files).filter(|f| f.skip == Some(Skip::Elsewhere));
        let elsewhere: HashMap<&str, &FileRecord> = elsewhere.map(|record| (record.path.as_str(), record)).collect();
        let mut files = Vec::new();
        for folder in &self.folders {
            transcripts(folder, DEPTH_MAX, &mut files, &mut walked.unreadable);
        }
        files.sort_unstable();
        files.dedup_by(|a, b| a.path == b.path);
        for file in &mut files {
            if let Some(record) = elsewhere.get(file.path.as_str()).filter(|record| record.size <= file.size) {
                (file.size, file.mtime_ns) = (record.size, record.mtime_ns);
            }
        }
        walked.files.append(&mut files);
        walked.state.extend(state);
    }

    /// Reads a transcript: its turns, if its session ran here.
    pub(super) fn document(&self, record: FileRecord) -> Document {
        let skipped = |skip, record: FileRecord| {
            let record = FileRecord { skip: Some(skip), language: SESSION.to_string(), ..record };
            Document { record, ..Document::default() }
        };
        let path = Path::new(&record.path);
        let Some(format) = format_of(path) else { return skipped(Skip::Unreadable, record) };
        wait_for_new_stamp(record.mtime_ns);
        let read = match self.read(path, format) {
            Err(_) => return skipped(Skip::Unreadable, record),
            Ok(None) => return skipped(Skip::Elsewhere, record),
            Ok(Some(read)) => read,
        };
        if read.turns.is_empty() {
            return skipped(Skip::Empty, record);
        }
        let (units, entries) = read.turns.iter().map(|turn| self.entry(turn)).unzip();
        let record = FileRecord { language: SESSION.to_string(), note: Unknown::note(read.unknown), ..record };
        let parsed = Parsed { units, ..Parsed::default() };
        let content = Some(Content { parsed, entries, ..Content::default() });
        Document { bytes: record.size, record, content, ..Document::default() }
    }

    /// The whole turn on a line of a transcript: the question, what the agent said, and the tools that it used on
    /// paths. `None` if it can't be read any more.
    pub fn turn(&self, path: &Path, line: u32) -> Option<String> {
        let transcript = self.read(path, format_of(path)?).ok()??;
        let turn = transcript.turns.into_iter().find(|turn| turn.line == line)?;
        let body = self.entry(&turn).0.body;
        Some(if body.is_empty() { turn.user } else { format!("{}\n\n{}", turn.user, body.trim_start()) })
    }

    /// The transcript at `path`; `None` if its session ran elsewhere.
    fn read(&self, path: &Path, format: &'static TranscriptFormat) -> std::io::Result<Option<Transcript>> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut transcript = Transcript::new(format);
        let mut line = Vec::new();
        let mut is_here = false;
        for number in 1.. {
            line.clear();
            let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            // A shorter line without an end is still being written; if it can be parsed, it is complete all the same.
            if line.last() != Some(&b'\n') && read as u64 == LINE_BYTES_MAX {
                transcript.unknown += 1;
                reader.skip_until(b'\n')?;
                continue;
            }
            transcript.line(number, &line);
            if !is_here && let Some(folder) = &transcript.folder {
                if !self.roots.hold(folder) {
                    return Ok(None);
                }
                is_here = true;
            }
        }
        Ok(is_here.then(|| transcript.finished()))
    }

    /// A turn as a unit: the question's first line is its name, the question its documentation, the work its body. Only
    /// paths of this repository are kept.
    fn entry(&self, turn: &Turn) -> (Unit, Entry) {
        let relative =
            |(tool, path, folder): &(String, String, String)| Some((self.roots.relative(path, folder)?, tool.clone()));
        let mentions: BTreeSet<(String, String)> = turn.tools.iter().filter_map(relative).collect();
        let first = turn.user.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let mut body = turn.assistant.clone();
        for (path, tool) in &mentions {
            body.push_str(&format!("\n{tool} {path}"));
        }
        let unit = Unit {
            kind: UnitKind::Document,
            name: first[..first.floor_char_boundary(TITLE_BYTES_MAX)].to_string(),
            docstring: turn.user.clone(),
            body,
            span: Span { first: turn.line, line: turn.line, end: turn.end },
            ..Unit::default()
        };
        (unit, Entry { time: turn.time, mentions })
    }
}

/// The format of a transcript, by its name.
fn format_of(path: &Path) -> Option<&'static TranscriptFormat> {
    let name = path.file_name()?.to_str()?;
    FORMATS.iter().find(|format| (format.is_named)(name))
}

/// Adds the transcripts below a folder; links are not followed.
fn transcripts(folder: &Path, depth: usize, files: &mut Vec<WalkedFile>, unreadable: &mut Vec<(String, String)>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // A missing folder is empty.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => return unreadable.push((folder.to_string_lossy().into_owned(), error.to_string())),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(data) if data.is_dir() && depth > 0 => transcripts(&path, depth - 1, files, unreadable),
            Ok(data) if data.is_file() && format_of(&path).is_some() => {
                let Some(path) = path.to_str() else { continue };
                let time = data.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
                let mtime_ns = time.map_or(0, |d| d.as_nanos() as i64);
                files.push(WalkedFile { path: path.to_string(), size: data.len(), mtime_ns });
            }
            _ => {}
        }
    }
}
