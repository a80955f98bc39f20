//! Buffers codes, writes segments, merges small ones, commits checkpoints.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::codebook::{Codebook, carried};
use super::read::{VectorManifest, Vectors, segment_format};
use super::segment::SpareSegment;
use super::segment::{SegmentBuilder, SegmentFormat, VectorSegment};
use super::spare::Spare;
use crate::disk::{Disk, read_regular};
use crate::error::{Error, Result};
use crate::ids::TextHash;

/// Time between two checkpoints.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(10);
/// Bytes of codes that are buffered before they are written.
const GATHERED_BYTES_MAX: usize = 32 << 20;

/// Commits a manifest with the lexical index unchanged.
pub(crate) type Commit<'a> = &'a mut (dyn FnMut(&VectorManifest) -> Result<()> + Send);

/// Writer of codes.
pub(crate) struct Sink<'a> {
    folder: &'a Path,
    disk: &'a Disk,
    manifest: VectorManifest,
    codebook: Codebook,
    segments: Vec<VectorSegment>,
    builder: SegmentBuilder<'static>,
    /// Bytes of codes in `builder`.
    gathered: usize,
    kept: usize,
    committed: Option<VectorManifest>,
    last_commit: Instant,
    commit: Commit<'a>,
}

/// Whether a name is that of a file of vectors: a segment ([`segment_name`]), or a codebook.
pub(crate) fn is_vector_file(name: &str) -> bool {
    let hex = |text: &str| (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    let codebook = name.strip_prefix("codebook-").and_then(|rest| rest.strip_suffix(".bin"));
    name.strip_suffix(".seg").or(codebook).is_some_and(hex)
}

/// The name of a new segment: the time.
fn segment_name() -> String {
    let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    format!("{now_ns:x}.seg")
}

/// Writes a segment and returns its name.
fn written(builder: SegmentBuilder<'_>, format: &SegmentFormat, (folder, disk): (&Path, &Disk)) -> Result<String> {
    let name = segment_name();
    builder.write(&folder.join(&name), format, disk)?;
    disk.sync_folder(folder).map_err(|e| Error::io("flush", folder, e))?;
    Ok(name)
}

/// Rewrites the named segments of `vectors` without the texts that are not `wanted`, which are set aside. Returns the
/// new manifest.
///
/// # Errors
/// When the disk refuses, or a segment is damaged.
pub(crate) fn without(
    (folder, disk): (&Path, &Disk),
    vectors: Vectors,
    names: &[String],
    wanted: &HashSet<TextHash>,
) -> Result<VectorManifest> {
    let format = segment_format(vectors.manifest(), vectors.codebook());
    let mut spare = Spare::open(folder, Some(vectors.manifest()));
    let mut segments = Vec::new();
    let mut dead = SegmentBuilder::default();
    for segment in &vectors.segments {
        if !names.iter().any(|name| name == segment.name()) {
            segments.push(segment.name().to_string());
            continue;
        }
        segment.verify()?;
        let mut living = SegmentBuilder::default();
        living.absorb(segment, |hash| TextHash::new(hash).is_some_and(|hash| wanted.contains(&hash)));
        let is_dead = |hash: TextHash| !wanted.contains(&hash) && !spare.holds(hash);
        dead.absorb(segment, |hash| TextHash::new(hash).is_some_and(is_dead));
        if living.len() > 0 {
            segments.push(written(living, &format, (folder, disk))?);
        }
    }
    if dead.len() > 0 {
        let name = written(dead, &format, (folder, disk))?;
        let bytes = fs::metadata(folder.join(&name)).map_or(0, |m| m.len());
        spare.push(name, bytes);
    }
    Ok(VectorManifest { segments, spare: spare.segments(), ..vectors.manifest().clone() })
}

impl<'a> Sink<'a> {
    /// A sink that adds to the segments of `kept` (of the same codebook), or starts without any.
    ///
    /// # Errors
    /// When the disk refuses the codebook.
    pub(crate) fn new(
        (folder, disk): (&'a Path, &'a Disk),
        mut manifest: VectorManifest,
        committed: Option<VectorManifest>,
        codebook: &Codebook,
        kept: Option<Vectors>,
        commit: Commit<'a>,
    ) -> Result<Sink<'a>> {
        let path = folder.join(manifest.codebook_name());
        disk.create_folder(folder)?;
        let is_there = || read_regular(&path, u64::MAX).is_ok_and(|bytes| bytes == codebook.bytes());
        if carried(manifest.codebook).is_none() && !is_there() {
            disk.replace(&path, codebook.bytes()).map_err(|e| Error::io("write", &path, e))?;
        }
        let segments = kept.map_or_else(Vec::new, Vectors::into_segments);
        manifest.segments = segments.iter().map(|s| s.name().to_string()).collect();
        Ok(Sink {
            folder,
            disk,
            manifest,
            codebook: codebook.clone(),
            kept: segments.iter().map(VectorSegment::len).sum(),
            segments,
            builder: SegmentBuilder::default(),
            gathered: 0,
            committed,
            last_commit: Instant::now(),
            commit,
        })
    }

    /// Number of texts in the segments at the beginning.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// Number of texts stored or buffered.
    pub(crate) fn len(&self) -> usize {
        self.segments.iter().map(VectorSegment::len).sum::<usize>() + self.builder.len()
    }

    /// Adds codes by the hash of their text; commits a checkpoint when the last one is old enough.
    pub(crate) fn add(&mut self, codes: Vec<(TextHash, Vec<u8>)>) -> Result<()> {
        for (hash, codes) in codes {
            self.gathered += codes.len();
            self.builder.add(hash.value(), Cow::Owned(codes));
        }
        if self.last_commit.elapsed() >= CHECKPOINT_AFTER {
            self.flush(None)?;
            self.commit()?;
            self.last_commit = Instant::now();
        } else if self.gathered >= GATHERED_BYTES_MAX {
            self.flush(None)?;
        }
        Ok(())
    }

    /// Commits the manifest, if it differs from the committed one.
    fn commit(&mut self) -> Result<()> {
        if self.committed.as_ref() != Some(&self.manifest) {
            (self.commit)(&self.manifest)?;
            self.committed = Some(self.manifest.clone());
        }
        Ok(())
    }

    /// Writes the buffered codes as one segment. The newest segments smaller than twice its size are merged into it, so
    /// that there are few and each text is rewritten only log(n) times. With `wanted`, everything becomes one segment
    /// of these texts.
    fn flush(&mut self, wanted: Option<&HashSet<TextHash>>) -> Result<()> {
        if self.builder.len() == 0 && wanted.is_none() {
            return Ok(());
        }
        let mut first = self.segments.len();
        let mut size = self.builder.len();
        while first > 0 && (wanted.is_some() || self.segments[first - 1].len() < 2 * size) {
            first -= 1;
            size += self.segments[first].len();
        }
        let format = segment_format(&self.manifest, &self.codebook);
        let mut builder: SegmentBuilder<'_> = std::mem::take(&mut self.builder);
        self.gathered = 0;
        for segment in &self.segments[first..] {
            builder.absorb(segment, |hash| {
                wanted.is_none_or(|w| TextHash::new(hash).is_some_and(|hash| w.contains(&hash)))
            });
        }
        let name = written(builder, &format, (self.folder, self.disk))?;
        self.segments.truncate(first);
        self.segments.push(VectorSegment::open(&self.folder.join(&name), &format)?);
        self.manifest.segments.truncate(first);
        self.manifest.segments.push(name);
        Ok(())
    }

    /// Sets the segments of texts set aside; the next commit names them.
    pub(crate) fn set_spare(&mut self, spare: Vec<SpareSegment>) {
        self.manifest.spare = spare;
    }

    /// Writes the texts that are neither `wanted` nor already set aside as a spare segment, which no search reads.
    /// Drops the oldest spare segments if there is no room.
    pub(crate) fn set_aside(&mut self, wanted: &HashSet<TextHash>, spare: &mut Spare) -> Result<()> {
        let format = segment_format(&self.manifest, &self.codebook);
        let mut builder = SegmentBuilder::default();
        let is_dead = |hash: TextHash| !wanted.contains(&hash) && !spare.holds(hash);
        for segment in &self.segments {
            builder.absorb(segment, |hash| TextHash::new(hash).is_some_and(is_dead));
        }
        if builder.len() > 0 {
            let name = written(builder, &format, (self.folder, self.disk))?;
            let bytes = fs::metadata(self.folder.join(&name)).map_or(0, |m| m.len());
            spare.push(name, bytes);
        }
        self.manifest.spare = spare.segments();
        Ok(())
    }

    /// Writes and commits the rest. `complete`: every unit has vectors. With `wanted`, other texts are left out.
    pub(crate) fn finish(&mut self, complete: bool, wanted: Option<&HashSet<TextHash>>) -> Result<()> {
        self.flush(wanted)?;
        self.manifest.complete = complete;
        self.commit()
    }
}
