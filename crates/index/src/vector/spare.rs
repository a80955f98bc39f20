//! Spare segments: vectors of unused texts, kept for some weeks in case a switch of branch brings the texts back.
//! Searches do not read them; a build copies from them before it runs the model.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::read::{VectorManifest, Vectors};
use super::segment::SpareSegment;
use crate::error::Result;
use crate::ids::TextHash;

/// Days for which a segment is kept after the last build that copied from it.
const DAYS_MAX: u32 = 28;
/// Maximum size of all spare segments, in bytes: half a million texts of the built-in model.
const BYTES_MAX: u64 = 64 << 20;

impl SpareSegment {
    /// Today, in days since 1970.
    pub(crate) fn today() -> u32 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400) as u32
    }
}

/// The spare segments that a build may copy from, oldest first.
pub(crate) struct Spare {
    opened: Vec<Opened>,
    /// Written by this build.
    new: Vec<SpareSegment>,
    today: u32,
}

/// An open spare segment.
pub(crate) struct Opened {
    segment: SpareSegment,
    pub(crate) vectors: Vectors,
}

impl Spare {
    /// Opens the spare segments of `manifest`, except damaged and expired ones.
    pub(crate) fn open(folder: &Path, manifest: Option<&VectorManifest>) -> Spare {
        Spare::on(SpareSegment::today(), folder, manifest)
    }

    fn on(today: u32, folder: &Path, manifest: Option<&VectorManifest>) -> Spare {
        let open = |manifest: &VectorManifest, segment: &SpareSegment| {
            let alone = VectorManifest { segments: vec![segment.name.clone()], spare: Vec::new(), ..manifest.clone() };
            Some(Opened { segment: segment.clone(), vectors: Vectors::open(folder, &alone).ok()? })
        };
        let is_young = |segment: &&SpareSegment| segment.day.saturating_add(DAYS_MAX) >= today;
        let of = |manifest: &VectorManifest| {
            manifest.spare.iter().filter(is_young).filter_map(|segment| open(manifest, segment)).collect()
        };
        Spare { opened: manifest.map_or_else(Vec::new, of), new: Vec::new(), today }
    }

    /// Calls `copy` with each segment, newest first. It returns whether it copied anything, which renews the segment's
    /// day.
    ///
    /// # Errors
    /// Those of `copy`.
    pub(crate) fn each(&mut self, mut copy: impl FnMut(&Vectors) -> Result<bool>) -> Result<()> {
        for opened in self.opened.iter_mut().rev() {
            if copy(&opened.vectors)? {
                opened.segment.day = self.today;
            }
        }
        Ok(())
    }

    /// Whether a spare segment has a text.
    pub(crate) fn holds(&self, hash: TextHash) -> bool {
        self.opened.iter().any(|opened| opened.vectors.place(hash).is_some())
    }

    /// Adds a segment that was just written.
    pub(crate) fn push(&mut self, name: String, bytes: u64) {
        self.new.push(SpareSegment { name, bytes, day: self.today });
    }

    /// All spare segments, except the oldest that exceed [`BYTES_MAX`].
    pub(crate) fn segments(&self) -> Vec<SpareSegment> {
        let mut all: Vec<SpareSegment> = self.opened.iter().map(|opened| opened.segment.clone()).collect();
        all.extend(self.new.iter().cloned());
        bounded(all, BYTES_MAX)
    }
}

/// Drops the oldest segments until the others fit.
fn bounded(mut all: Vec<SpareSegment>, bytes_max: u64) -> Vec<SpareSegment> {
    all.sort_by_key(|segment| segment.day);
    let mut bytes: u64 = all.iter().map(|segment| segment.bytes).sum();
    let mut dropped = 0;
    while bytes > bytes_max && dropped < all.len() {
        bytes -= all[dropped].bytes;
        dropped += 1;
    }
    all.split_off(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first() {
        let segment = |name: &str, bytes, day| SpareSegment { name: name.to_string(), bytes, day };
        let all = || vec![segment("a", 40, 9), segment("b", 30, 7), segment("c", 20, 8)];
        let names = |kept: Vec<SpareSegment>| kept.into_iter().map(|s| s.name).collect::<String>();
        for (bytes_max, expected) in [(90, "bca"), (89, "ca"), (60, "ca"), (59, "a"), (10, "")] {
            assert_eq!(names(bounded(all(), bytes_max)), expected, "{bytes_max}");
        }
    }
}
