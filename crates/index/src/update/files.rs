//! The lexical half of an update: reads, parses and writes changed files in rounds, with checkpoints between them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use colgrep_syntax::language;
use rayon::prelude::*;

use super::difference::difference;
use super::order::ReadFirst;
use super::source::{Content, Document, DocumentBatch, DocumentRequest, Source};
use super::texts::PendingTexts;
use super::{Progress, UpdateReport};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{FileDocument, Writer, kept};
use crate::signature::{SIGNED_BYTES_MAX, SOURCE_BYTES_MIN};
use crate::store::{FileRecord, FileTable, Store};
use crate::walk::{Walked, WalkedFile};

/// Bytes of source in one round of parallel work. Time limits are checked between rounds. Rounds begin small and
/// double, so that the first checkpoint of a build comes early even if files are slow.
const ROUND_BYTES_FIRST: u64 = 128 << 10;
const ROUND_BYTES_MAX: u64 = 8 << 20;
/// Time between two checkpoints.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(10);
/// The first checkpoint of a first build comes sooner: searches wait for it.
const FIRST_CHECKPOINT_AFTER: Duration = Duration::from_secs(1);

/// Minimum of remaining time for merges of segments, which may read the whole index.
const MERGE_MIN: Duration = Duration::from_millis(500);

/// Conditions on which an update ends early.
#[derive(Clone, Copy, Default)]
pub(super) struct Limit<'a> {
    /// The time at which it ends.
    pub(super) deadline: Option<Instant>,
    /// Returns true if the update should end now, for example because another process waits for the lock.
    pub(super) interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// What is read first, if there is a deadline.
    pub(super) first: Option<&'a ReadFirst>,
}

impl Limit<'_> {
    /// Whether the time is up or an interrupt was requested.
    fn is_reached(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end) || self.interrupted.is_some_and(|asks| asks())
    }

    /// Whether at least `time` is left.
    fn leaves(&self, time: Duration) -> bool {
        self.deadline.is_none_or(|end| end.saturating_duration_since(Instant::now()) >= time)
    }

    /// Estimated number of bytes that can be read in half the time until the deadline, at the rate of `read` bytes
    /// since `begun`: a round is always completed and may be slower than those before.
    fn bytes_left(&self, read: u64, begun: Instant) -> u64 {
        let Some(deadline) = self.deadline else { return u64::MAX };
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        (read as f64 / begun.elapsed().as_secs_f64().max(0.001) * left / 2.0) as u64
    }
}

/// Updates the lexical index of `table` to the listing `walked`, as far as `limit` allows, and keeps the texts of new
/// units in `texts`. Writes nothing if nothing changed.
///
/// # Errors
/// When the disk refuses or the existing index is damaged.
pub(super) fn index_changes(
    store: &Store,
    (root, source): (&Path, &dyn Source),
    table: FileTable,
    walked: &Walked,
    texts: &PendingTexts,
    progress: &dyn Progress,
    limit: Limit<'_>,
) -> Result<UpdateReport> {
    let difference = difference(&table, root, walked);
    if table.complete && difference.is_none() {
        return Ok(UpdateReport {
            files: table.files.len() as u64,
            in_tree: walked.files.len() as u64,
            ..UpdateReport::default()
        });
    }
    let mut build = Build::new(store, source, table, texts, progress)?;
    build.signs = walked.bytes(build.table.filesize_max) >= SOURCE_BYTES_MIN;
    // Merges take time: an update with a deadline leaves them to the next.
    build.writer.merge_segments(limit.deadline.is_none());
    build.remove(&difference.gone);
    build.table.unreadable.clone_from(&walked.unreadable);
    build.table.state.clone_from(&walked.state);
    build.table.tree.clone_from(&walked.tree);
    build.report.in_tree = walked.files.len() as u64;
    let ordered = match (limit.first, limit.deadline) {
        (Some(first), Some(deadline)) => first.order(root, &difference.stale, deadline),
        _ => difference.stale,
    };
    build.report.unread = build.read(&ordered, limit)?;
    build.finish(limit)
}

/// A running update.
struct Build<'a> {
    store: &'a Store,
    source: &'a dyn Source,
    texts: &'a PendingTexts,
    progress: &'a dyn Progress,
    writer: Writer,
    /// The table to be committed, without its files, which are in `records`.
    table: FileTable,
    /// The records of all files, by path.
    records: HashMap<String, FileRecord>,
    bytes_read: AtomicU64,
    /// Whether files get signatures.
    signs: bool,
    report: UpdateReport,
}

/// The result of reading one file.
struct Outcome {
    record: FileRecord,
    /// Whether its units were written (its content is new).
    written: bool,
}

impl<'a> Build<'a> {
    fn new(
        store: &'a Store,
        source: &'a dyn Source,
        mut table: FileTable,
        texts: &'a PendingTexts,
        progress: &'a dyn Progress,
    ) -> Result<Build<'a>> {
        let writer = Writer::open(&store.lexical_folder(), store.disk())?;
        let records = table.files.drain(..).map(|f| (f.path.clone(), f)).collect();
        let report = UpdateReport { wrote: true, ..UpdateReport::default() };
        let (bytes_read, signs) = (AtomicU64::new(0), false);
        Ok(Build { store, source, texts, progress, writer, table, records, bytes_read, signs, report })
    }

    /// Deletes the documents of removed files.
    fn remove(&mut self, gone: &[String]) {
        self.report.removed = gone.len() as u64;
        for path in gone {
            if let Some(record) = self.records.remove(path) {
                self.writer.delete(record.id);
            }
        }
    }

    /// Reads files, round by round, and commits checkpoints. Returns the number of files left when `limit` is reached;
    /// at least one round is read.
    fn read(&mut self, stale: &[WalkedFile], limit: Limit<'_>) -> Result<u64> {
        self.progress.begin(stale.len() as u64);
        let begun = Instant::now();
        let mut last_commit = begun;
        let mut checkpoint_after = if self.records.is_empty() { FIRST_CHECKPOINT_AFTER } else { CHECKPOINT_AFTER };
        let mut round_bytes = ROUND_BYTES_FIRST;
        let mut rest = stale;
        while !rest.is_empty() {
            let (round, next) = rest.split_at(self.round_len(rest, round_bytes).min(self.source.round_max()));
            rest = next;
            self.round(round)?;
            if !rest.is_empty() && limit.is_reached() {
                return Ok(rest.len() as u64);
            }
            let left = limit.bytes_left(self.bytes_read.load(Ordering::Relaxed), begun);
            round_bytes = (2 * round_bytes).min(ROUND_BYTES_MAX).min(left.max(ROUND_BYTES_FIRST));
            if !rest.is_empty() && last_commit.elapsed() >= checkpoint_after {
                self.commit(false)?;
                checkpoint_after = CHECKPOINT_AFTER;
                last_commit = Instant::now();
            }
        }
        Ok(0)
    }

    /// Number of files in a round of about this many bytes.
    fn round_len(&self, files: &[WalkedFile], bytes: u64) -> usize {
        let mut size = 0;
        let is_in = |file: &&WalkedFile| {
            let before = size;
            size += file.size.min(self.table.filesize_max.max(SIGNED_BYTES_MAX)) + 512;
            before < bytes
        };
        files.iter().take_while(is_in).count()
    }

    /// Reads some files on all cores.
    fn round(&mut self, round: &[WalkedFile]) -> Result<()> {
        let first_id = self.table.next_id;
        self.table.next_id += round.len() as u32;
        let this = &*self;
        let ready = self.source.begin(round)?;
        let outcomes: Vec<Result<Outcome>> = round
            .par_iter()
            .enumerate()
            .map(|(i, found)| {
                let known = this.records.get(&found.path);
                let id = known.map_or(FileId(first_id + i as u32), |r| r.id);
                let outcome = this.file(id, found, known, &*ready)?;
                this.progress.file_done(if outcome.written { u64::from(outcome.record.units) } else { 0 });
                Ok(outcome)
            })
            .collect();
        for outcome in outcomes {
            let outcome = outcome?;
            self.report.changed += 1;
            if outcome.written {
                self.report.units += u64::from(outcome.record.units);
                if let Some(vectors) = &mut self.table.vectors {
                    vectors.complete = false;
                }
            }
            self.records.insert(outcome.record.path.clone(), outcome.record);
        }
        Ok(())
    }

    /// Reads one file, and writes its units if its content differs from `known`.
    fn file(
        &self,
        id: FileId,
        found: &WalkedFile,
        known: Option<&FileRecord>,
        round: &dyn DocumentBatch,
    ) -> Result<Outcome> {
        let (filesize_max, secrets) = (self.table.filesize_max, self.table.secrets);
        let signs = self.signs;
        let asked = DocumentRequest { found, known, record: &new_record(id, found), filesize_max, secrets, signs };
        let Document { mut record, content, signature, bytes } = round.read(&asked)?;
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        let Some(Content { text, parsed, textual_types, entries }) = content else {
            match record.skip {
                Some(_) if !signature.is_empty() => self.writer.sign(id, &signature)?,
                Some(_) if known.is_some() => self.writer.delete(id),
                _ => (),
            }
            return Ok(Outcome { record, written: false });
        };
        record.units = parsed.units.len() as u32;
        let file = FileDocument { id, path: &found.path, text: &text, parsed, textual_types, signature, entries };
        if file.entries.is_empty() {
            self.texts.keep(id, file.text_path(), &file.parsed.units);
        } else {
            // An index of entries keeps bodies cut to the encoded length, so hash the texts of the cut ones.
            self.texts.keep(id, file.text_path(), &file.parsed.units.iter().map(kept).collect::<Vec<_>>());
        }
        self.writer.add(&file)?;
        Ok(Outcome { record, written: true })
    }

    /// Commits the files read so far, table and index together.
    fn commit(&mut self, complete: bool) -> Result<()> {
        self.table.files = self.records.values().cloned().collect();
        self.table.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.table.complete = complete;
        self.store.commit(&mut self.writer, &self.table)
    }

    fn finish(mut self, limit: Limit<'_>) -> Result<UpdateReport> {
        let complete = self.report.unread == 0;
        self.writer.merge_segments(complete && limit.leaves(MERGE_MIN));
        self.commit(complete)?;
        self.writer.finish()?;
        Ok(UpdateReport { files: self.table.files.len() as u64, bytes: self.bytes_read.into_inner(), ..self.report })
    }
}

/// The record of a file that was not read yet, with path, size and time from the walk.
fn new_record(id: FileId, found: &WalkedFile) -> FileRecord {
    FileRecord {
        id,
        path: found.path.clone(),
        size: found.size,
        mtime_ns: found.mtime_ns,
        hash: 0,
        language: language::unknown().name.to_string(),
        generated: false,
        units: 0,
        skip: None,
        note: None,
    }
}
