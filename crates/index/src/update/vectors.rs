//! Brings the vectors up to date with the lexical index: encodes and commits texts without vectors. Files are parsed
//! again for this, unless the same update has just parsed them.
//!
//! Each rayon task parses and encodes one file, so parsing overlaps encoding, all cores are busy, and each core keeps
//! the units of one file in memory.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use colgrep_encoder::{Encoder, Multivector};
use rayon::prelude::*;

use super::Progress;
use super::texts::{PendingTexts, UnitTexts, texts_of};
use crate::disk::Disk;
use crate::error::Result;
use crate::ids::{FileId, TextHash};
use crate::source::read_units;
use crate::store::{FileRecord, FileTable, Snapshot};
use crate::vector::{
    Allowed, Codebook, Codec, Commit, Random, Sink, Spare, SplitRow, VectorManifest, Vectors, centroids_for, pool,
    rows_wanted, train,
};

/// Texts given to the encoder at once.
const BATCH: usize = 64;
/// Files encoded between two checks of whether the sample for a codebook is large enough.
const SAMPLE_FILES: usize = 32;
/// Texts whose codes are copied from another worktree at once.
const COPIED_AT_ONCE: usize = 4_096;

/// Which vectors an update makes: the model, the compression, the time limit.
#[derive(Clone, Copy)]
pub struct Encoding<'a> {
    pub encoder: &'a dyn Encoder,
    /// A codebook that comes with the model. Without one, the store makes its own at its first build.
    pub codebook: Option<&'a Codebook>,
    /// How to compress vectors. The bits of a given codebook override the codec's.
    pub codec: Codec,
    /// Time limit for encoding, set by searches. `init` has no limit.
    pub budget: Option<Duration>,
    /// Ends encoding as soon as it returns true; called often, from many threads.
    pub interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Encoding<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Encoding({}, {:?})", self.encoder.name(), self.codec)
    }
}

impl<'a> Encoding<'a> {
    /// All vectors of a model, in its default codec, without a limit.
    pub fn new(encoder: &'a dyn Encoder) -> Encoding<'a> {
        Encoding {
            encoder,
            codebook: None,
            codec: Codec::of(encoder.heads(), encoder.is_light()),
            budget: None,
            interrupted: None,
        }
    }

    fn codec(&self) -> Codec {
        let of = |book: &Codebook| Codec { bits: book.bits(), head_bits: book.head_bits(), ..self.codec };
        self.codebook.map_or(self.codec, of)
    }

    /// Whether vectors under `manifest` are of this model and format.
    pub fn fits(&self, manifest: &VectorManifest) -> bool {
        manifest.fingerprint == self.encoder.fingerprint()
            && manifest.dimension as usize == self.encoder.dimension()
            && manifest.heads as usize == self.encoder.heads()
            && manifest.codec == self.codec()
            && self.codebook.is_none_or(|c| c.id() == manifest.codebook)
    }

    /// Whether an update may replace the vectors named by `stored`. With a time limit (a search) it may not replace
    /// another model's vectors, nor begin those of a model whose codebook has yet to be trained. Models of the same
    /// name count as the same model.
    pub fn may_write(&self, stored: Option<&VectorManifest>) -> bool {
        let own = |m: &VectorManifest| m.fingerprint == self.encoder.fingerprint() || m.model == self.encoder.name();
        self.budget.is_none() || stored.map_or(self.codebook.is_some(), own)
    }

    /// Whether a snapshot's vectors are complete. Without a time limit, everything stored is read and verified too.
    pub fn is_done(&self, snapshot: &Snapshot) -> bool {
        let sound = |v: &Vectors| self.budget.is_some() || v.verify().is_ok();
        let done = |v: &Vectors| v.manifest().complete && self.fits(v.manifest()) && sound(v);
        snapshot.vectors.as_ref().is_some_and(done) || !self.may_write(snapshot.files.vectors.as_ref())
    }

    fn codes(&self, codebook: &Codebook, rows: &[SplitRow]) -> Vec<u8> {
        let (mut codes, mut room) = (Vec::new(), Vec::new());
        for row in rows {
            codebook.encode(row, &mut codes, &mut room);
        }
        codes
    }

    /// The documents' rows that may be kept.
    fn documents(&self, texts: &[&str]) -> Result<Vec<Multivector>> {
        Ok(match self.codec.rows_max {
            0 => self.encoder.encode_heads(texts)?,
            _ => self.encoder.encode_documents(texts)?,
        })
    }

    fn pooled(&self, document: &Multivector) -> Vec<SplitRow> {
        pool(document, usize::from(self.codec.rows_max), f32::from(self.codec.similarity) / 100.0)
    }
}

/// Result of a build of vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) encoded: u64,
    /// Units that still have no vectors.
    pub(crate) missing: u64,
    pub(crate) units: u64,
    /// Files that changed since they were indexed, or can't be read any more.
    pub(crate) outdated: HashSet<FileId>,
}

/// Input of a build of vectors.
pub(crate) struct Job<'a> {
    /// The project's root.
    pub(crate) root: &'a Path,
    pub(crate) folder: &'a Path,
    /// Makes the changes in it.
    pub(crate) disk: &'a Disk,
    /// The current generation: its units get vectors.
    pub(crate) snapshot: &'a Snapshot,
    /// Opens the vectors of the same project's other worktrees.
    pub(crate) siblings: &'a (dyn Fn() -> Vec<Vectors> + Sync),
    /// Texts of files that were parsed just now.
    pub(crate) texts: &'a PendingTexts,
    /// Which vectors to make.
    pub(crate) encoding: &'a Encoding<'a>,
    pub(crate) progress: &'a dyn Progress,
}

/// Encoded rows of the files drawn to train a codebook, by text, and the numbers of these files.
type Sample = (Vec<(TextHash, Vec<SplitRow>)>, HashSet<FileId>);

/// Units without vectors: for each text's hash the number of units that share it, and the files with such units.
struct UnitsToEncode {
    units: HashMap<TextHash, u32>,
    files: Vec<FileId>,
}

impl Job<'_> {
    fn table(&self) -> &FileTable {
        &self.snapshot.files
    }

    /// Encodes texts without vectors and commits the vectors through `commit`, at checkpoints and at the end.
    ///
    /// # Errors
    /// When the model fails or the disk refuses. Earlier commits stay.
    pub(crate) fn run(&self, commit: Commit<'_>) -> Result<Built> {
        let encoding = self.encoding;
        let deadline = encoding.budget.map(|b| Instant::now() + b);
        let old = self.table().vectors.as_ref().filter(|m| encoding.fits(m));
        // Damaged segments are left out, so their units are encoded again.
        let kept = old.and_then(|m| Vectors::open_sound(self.folder, m, encoding.budget.is_none()).ok());
        let (units, lack, live) = self.lack(kept.as_ref());
        let siblings = if lack.units.is_empty() { Vec::new() } else { (self.siblings)() };
        let siblings: Vec<Vectors> = siblings.into_iter().filter(|v| encoding.fits(v.manifest())).collect();
        let mut spare = Spare::open(self.folder, old);
        self.progress.vectors_begin(lack.units.values().map(|n| u64::from(*n)).sum());

        let state = State {
            job: self,
            stop: AtomicBool::new(false),
            deadline,
            encoded: AtomicU64::new(0),
            lack: Mutex::new(lack.units),
            outdated: Mutex::default(),
        };
        let known = kept.as_ref().or(siblings.first()).map(Vectors::codebook).or(encoding.codebook).cloned();
        let pending = self.records(&lack.files);
        let (codebook, sample) = match known {
            Some(codebook) => (codebook, None),
            // No codebook, neither stored nor with the model: only an update without a time limit (`init`) trains one.
            None if deadline.is_some() => return Ok(Built { missing: state.missing(), units, ..Built::default() }),
            None => self.trained(&state, &pending, units)?,
        };
        let manifest = VectorManifest { spare: spare.segments(), ..self.manifest(&codebook) };
        let committed = self.table().vectors.clone();
        let sink = Mutex::new(Sink::new((self.folder, self.disk), manifest, committed, &codebook, kept, commit)?);
        let add = |codes| locked(&sink).add(codes);
        state.copy(siblings.iter(), codebook.id(), add)?;
        spare.each(|vectors| Ok(state.copy(std::iter::once(vectors), codebook.id(), add)? > 0))?;
        let mut done = HashSet::new();
        if let Some((rows, files)) = sample {
            let codes = rows.par_iter().map(|(hash, rows)| (*hash, encoding.codes(&codebook, rows))).collect();
            add(codes)?;
            done = files;
        }
        let outcome = pending.par_iter().with_max_len(1).filter(|r| !done.contains(&r.id)).try_for_each(|record| {
            state.encode(record, |batch| {
                let codes = |(hash, rows): &(TextHash, Vec<SplitRow>)| (*hash, encoding.codes(&codebook, rows));
                add(batch.iter().map(codes).collect())
            })
        });
        let mut sink = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
        sink.set_spare(spare.segments());
        if let Err(error) = outcome {
            // Vectors made before the failure are kept.
            sink.finish(false, None)?;
            return Err(error);
        }
        let missing = state.missing();
        let spare = Some(&mut spare).filter(|_| !state.is_late());
        self.finish(sink, live, missing == 0, spare)?;
        let outdated = state.outdated.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Built { encoded: state.encoded.into_inner(), missing, units, outdated })
    }

    /// Trains a codebook on some of the pending files. Returns it with the rows of these files, so that they are
    /// encoded only once.
    fn trained(&self, state: &State<'_>, pending: &[&FileRecord], units: u64) -> Result<(Codebook, Option<Sample>)> {
        let encoder = self.encoding.encoder;
        let centroids = centroids_for(units, encoder.heads() + usize::from(self.encoding.codec.rows_max));
        let (rows, done) = state.sample(pending, rows_wanted(centroids))?;
        let all: Vec<SplitRow> = rows.iter().flat_map(|(_, rows)| rows.iter().cloned()).collect();
        let codebook = train(encoder.dimension(), &all, centroids, &self.encoding.codec())?;
        Ok((codebook, Some((rows, done))))
    }

    /// A manifest for vectors of this model, without any segment yet.
    fn manifest(&self, codebook: &Codebook) -> VectorManifest {
        let encoder = self.encoding.encoder;
        VectorManifest {
            fingerprint: encoder.fingerprint(),
            model: encoder.name().to_string(),
            dimension: encoder.dimension() as u32,
            heads: encoder.heads() as u32,
            codec: self.encoding.codec(),
            codebook: codebook.id(),
            segments: Vec::new(),
            spare: Vec::new(),
            complete: false,
        }
    }

    /// Commits the content of `sink`. Compacts: once unused texts are more than half of all, they are moved to `spare`,
    /// if given. `live` is the number of texts in use among those stored before this build.
    fn finish(&self, mut sink: Sink<'_>, live: usize, complete: bool, spare: Option<&mut Spare>) -> Result<()> {
        let stored = sink.len();
        let live = live + stored.saturating_sub(sink.kept());
        let dead = stored.saturating_sub(live);
        let spare = spare.filter(|_| dead > live);
        let wanted = spare.is_some().then(|| self.hashes());
        if let Some((wanted, spare)) = wanted.as_ref().zip(spare) {
            sink.set_aside(wanted, spare)?;
        }
        sink.finish(complete, wanted.as_ref())
    }

    /// The number of units, the units that lack vectors, and the number of stored texts in use.
    fn lack(&self, kept: Option<&Vectors>) -> (u64, UnitsToEncode, usize) {
        let mut live = Allowed::none(kept.map_or(0, Vectors::len));
        let mut lack = UnitsToEncode { units: HashMap::new(), files: Vec::new() };
        let mut units = 0;
        self.snapshot.lexical.each_unit(None, |_, file, hash| {
            units += 1;
            match kept.and_then(|v| v.place(hash)) {
                Some(place) => live.insert(place),
                None => {
                    *lack.units.entry(hash).or_default() += 1;
                    if lack.files.last() != Some(&file) {
                        lack.files.push(file);
                    }
                }
            }
        });
        (units, lack, live.count())
    }

    fn hashes(&self) -> HashSet<TextHash> {
        let mut hashes = HashSet::new();
        self.snapshot.lexical.each_unit(None, |_, _, hash| {
            hashes.insert(hash);
        });
        hashes
    }

    /// The records of files, in the order of the table.
    fn records(&self, files: &[FileId]) -> Vec<&FileRecord> {
        let wanted: HashSet<FileId> = files.iter().copied().collect();
        self.table().indexed().filter(|f| wanted.contains(&f.id)).collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State that the tasks of a build share.
struct State<'a> {
    job: &'a Job<'a>,
    stop: AtomicBool,
    deadline: Option<Instant>,
    encoded: AtomicU64,
    /// Texts that no task has taken yet, each with its number of units.
    lack: Mutex<HashMap<TextHash, u32>>,
    /// [`Built::outdated`]
    outdated: Mutex<HashSet<FileId>>,
}

impl State<'_> {
    /// Units whose texts no task has taken.
    fn missing(&self) -> u64 {
        locked(&self.lack).values().map(|n| u64::from(*n)).sum()
    }

    fn take(&self, hash: TextHash) -> Option<u32> {
        locked(&self.lack).remove(&hash)
    }

    /// Whether the time is up.
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
            || self.job.encoding.interrupted.is_some_and(|asks| asks())
    }

    /// Copies the vectors of `from` (other worktrees, or texts set aside) for texts that lack them, without reading a
    /// source file. Returns the number of texts copied.
    fn copy<'v>(
        &self,
        from: impl Iterator<Item = &'v Vectors>,
        codebook: u64,
        add: impl Fn(Vec<(TextHash, Vec<u8>)>) -> Result<()>,
    ) -> Result<usize> {
        let mut copied = 0;
        for vectors in from.filter(|v| v.manifest().codebook == codebook) {
            let hashes: Vec<TextHash> = locked(&self.lack).keys().copied().collect();
            let codes = |hash: &TextHash| Some((*hash, vectors.codes(vectors.place(*hash)?).ok()?.to_vec()));
            for part in hashes.chunks(COPIED_AT_ONCE) {
                let found: Vec<(TextHash, Vec<u8>)> = part.iter().filter_map(codes).collect();
                for (hash, _) in &found {
                    self.job.progress.vectors_done(u64::from(self.take(*hash).unwrap_or_default()));
                }
                copied += found.len();
                add(found)?;
                if self.is_late() {
                    return Ok(copied);
                }
            }
        }
        Ok(copied)
    }

    /// Encodes files in random order (by a fixed seed) until there are `rows` rows, or no more files. Returns the rows
    /// and the files.
    fn sample(&self, pending: &[&FileRecord], rows: usize) -> Result<Sample> {
        let mut order: Vec<&FileRecord> = pending.to_vec();
        let mut random = Random(1);
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let (mut all, mut done) = (Vec::new(), HashSet::new());
        let mut count = 0;
        for files in order.chunks(SAMPLE_FILES) {
            let parts: Vec<Vec<(TextHash, Vec<SplitRow>)>> = files
                .par_iter()
                .with_max_len(1)
                .map(|record| {
                    let part = Mutex::new(Vec::new());
                    let keep = |batch| {
                        locked(&part).extend(batch);
                        Ok(())
                    };
                    self.encode_file(record, false, keep)?;
                    Ok(part.into_inner().unwrap_or_else(PoisonError::into_inner))
                })
                .collect::<Result<_>>()?;
            done.extend(files.iter().map(|f| f.id));
            for (hash, unit) in parts.into_iter().flatten() {
                count += unit.len();
                all.push((hash, unit));
            }
            if count >= rows {
                break;
            }
        }
        all.sort_unstable_by_key(|(hash, _)| *hash);
        Ok((all, done))
    }

    fn encode(
        &self,
        record: &FileRecord,
        keep: impl FnMut(Vec<(TextHash, Vec<SplitRow>)>) -> Result<()>,
    ) -> Result<()> {
        self.encode_file(record, true, keep)
    }

    /// The texts of a file's units as indexed; `None` if the file has changed or can't be read.
    fn texts(&self, record: &FileRecord) -> Option<UnitTexts> {
        self.job.texts.take(record.id).or_else(|| {
            if self.job.table().keeps_texts() {
                return self.job.snapshot.lexical.kept_texts(record.id).ok();
            }
            let parsed = read_units(self.job.root, &record.path, record.hash, record.note.as_deref())?;
            Some(texts_of(&record.path, &parsed.units))
        })
    }

    /// Encodes the units of a file that lack vectors, in batches. A changed file is recorded as outdated. With
    /// `may_end` it stops at the deadline or on interruption.
    fn encode_file(
        &self,
        record: &FileRecord,
        may_end: bool,
        mut keep: impl FnMut(Vec<(TextHash, Vec<SplitRow>)>) -> Result<()>,
    ) -> Result<()> {
        let late = || self.stop.load(Ordering::Relaxed) || (may_end && self.is_late());
        if late() {
            return Ok(());
        }
        let Some(texts) = self.texts(record) else {
            locked(&self.outdated).insert(record.id);
            return Ok(());
        };
        for batch in texts.chunks(BATCH) {
            if late() {
                return Ok(());
            }
            let taken: Vec<(u32, &(TextHash, String))> =
                batch.iter().filter_map(|text| Some((self.take(text.0)?, text))).collect();
            if taken.is_empty() {
                continue;
            }
            let given: Vec<&str> = taken.iter().map(|(_, text)| text.1.as_str()).collect();
            let documents = self.job.encoding.documents(&given);
            let documents = documents.inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            let rows =
                taken.iter().zip(&documents).map(|((_, text), d)| (text.0, self.job.encoding.pooled(d))).collect();
            keep(rows)?;
            self.encoded.fetch_add(taken.len() as u64, Ordering::Relaxed);
            self.job.progress.vectors_done(taken.iter().map(|(n, _)| u64::from(*n)).sum());
        }
        Ok(())
    }
}
