//! The commit point on disk: tantivy's `meta.json` with a checksum, and the files that it names.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::lengths;
use crate::disk::{Disk, read_regular};
use crate::error::{Error, Result};

/// The file that names the segments of the current commit.
pub(super) const META: &str = "meta.json";
/// The mark on the last line, before the checksum.
const SEAL: &[u8] = b"xxh3 ";
/// Length of the last line: the mark, sixteen digits of the checksum, a line feed.
const SEAL_BYTES: usize = SEAL.len() + 17;
/// Digits of a segment's id, with which the names of its files begin.
const ID_DIGITS: usize = 32;
/// Extensions of a segment's files, except that of its deletions.
const ENDINGS: [&str; 6] = ["idx", "pos", "term", "store", "fast", "fieldnorm"];

/// The newest commit of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPoint {
    /// Our payload in the commit; `None` before the first.
    pub payload: Option<String>,
    /// Whether its checksum is right. Versions before 5 wrote none.
    pub sealed: bool,
    /// The segments in their order, each with the stamp of its file of deletions.
    pub(crate) segments: Arc<[(String, Option<u64>)]>,
    pub(super) text: Arc<[u8]>,
}

/// The needed part of tantivy's description of a commit.
#[derive(Deserialize)]
struct Meta {
    payload: Option<String>,
    #[serde(default)]
    segments: Vec<SegmentMeta>,
}

#[derive(Deserialize)]
struct SegmentMeta {
    segment_id: String,
    deletes: Option<Deletes>,
}

#[derive(Deserialize)]
struct Deletes {
    opstamp: u64,
}

impl SegmentMeta {
    /// Its id as names of files begin with it, and the stamp of its deletions.
    fn named(self) -> (String, Option<u64>) {
        (self.segment_id.replace('-', ""), self.deletes.map(|deletes| deletes.opstamp))
    }
}

impl CommitPoint {
    /// Reads the commit point in `folder`. If its checksum is wrong, reads what it can: the version that wrote it may
    /// still be legible.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if there is none or it does not describe a commit.
    pub(super) fn read(folder: &Path) -> Result<CommitPoint> {
        let (text, meta) = read(folder)?;
        let segments = meta.segments.into_iter().map(SegmentMeta::named).collect();
        Ok(CommitPoint { payload: meta.payload, sealed: unseal(&text).is_some(), segments, text: text.into() })
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }
}

fn read(folder: &Path) -> Result<(Vec<u8>, Meta)> {
    let path = folder.join(META);
    let text = read_regular(&path, u64::MAX).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData => Error::damaged_file(&path, e),
        _ => Error::io("read", &path, e),
    })?;
    let json = text.windows(SEAL.len()).rposition(|part| part == SEAL).map_or(&text[..], |at| &text[..at]);
    let meta = serde_json::from_slice(json).map_err(|e| Error::damaged_file(&path, e))?;
    Ok((text, meta))
}

/// Appends a checksum to a commit point.
pub(super) fn seal(json: &[u8]) -> Vec<u8> {
    let mut text = json.to_vec();
    text.extend(SEAL);
    text.extend(format!("{:016x}\n", xxh3_64(json)).into_bytes());
    text
}

/// A commit point without its checksum; `None` if that is wrong or missing.
pub(super) fn unseal(text: &[u8]) -> Option<&[u8]> {
    let (json, _) = text.split_at_checked(text.len().checked_sub(SEAL_BYTES)?)?;
    (seal(json) == text).then_some(json)
}

/// Whether a file belongs to a segment, by its name.
pub(crate) fn is_segment_file(name: &str) -> bool {
    let id = name.split('.').next().unwrap_or_default();
    name.len() > ID_DIGITS && id.len() == ID_DIGITS && id.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The names of the files of the current commit's segments. Not every segment has a file of each kind.
pub(crate) fn named_files(folder: &Path) -> Result<CommittedSegments> {
    let (_, meta) = read(folder)?;
    Ok(CommittedSegments(meta.segments.into_iter().map(SegmentMeta::named).collect()))
}

/// The segments that a commit names, each with the stamp of its file of deletions.
pub(crate) struct CommittedSegments(HashMap<String, Option<u64>>);

impl CommittedSegments {
    /// Whether a file belongs to the commit, or to the folder in any case.
    pub(crate) fn contains(&self, name: &str) -> bool {
        if name == META || name == lengths::NAME {
            return true;
        }
        let Some((id, ending)) = name.split_once('.') else { return false };
        self.0.get(id).is_some_and(|stamp| match ending.strip_suffix(".del") {
            Some(of) => stamp.is_some_and(|stamp| of == stamp.to_string()),
            None => ENDINGS.contains(&ending),
        })
    }
}

/// Removes files that the commit point in `folder` does not name: leftovers of a killed or failed writer, which would
/// stop a later writer that reuses their names. The caller holds the store's lock.
///
/// # Errors
/// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the commit point can't be read,
/// [`ErrorKind::Io`](crate::ErrorKind::Io) if the disk refuses.
pub(crate) fn collect(folder: &Path, disk: &Disk) -> Result<()> {
    let named = if folder.join(META).exists() { named_files(folder)? } else { CommittedSegments(HashMap::new()) };
    let io = |e| Error::io("read", folder, e);
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let kept = entry.file_name().to_str().is_some_and(|name| named.contains(name));
        if !kept {
            let path = entry.path();
            let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let removed = if folder { disk.remove_all(&path) } else { disk.remove(&path) };
            removed.map_err(|e| Error::io("remove", &path, e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_point_with_any_flipped_bit_is_not_sealed() {
        let sealed = seal(b"{\"payload\": \"colgrep 5 17\", \"segments\": []}\n");
        assert!(unseal(&sealed).is_some());
        for at in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[at / 8] ^= 1 << (at % 8);
            assert!(unseal(&changed).is_none(), "bit {at}");
            assert!(unseal(&sealed[..at / 8]).is_none(), "cut at {}", at / 8);
        }
    }

    #[test]
    fn what_the_commit_point_does_not_name_is_collected() {
        let folder = tempfile::tempdir().expect("a folder");
        let id = "0123456789abcdef0123456789abcdef";
        let dashed = "01234567-89ab-cdef-0123-456789abcdef";
        let meta = format!(
            r#"{{"payload": null, "segments": [{{"segment_id": "{dashed}", "max_doc": 1, "deletes": {{"opstamp": 7}}}}]}}"#
        );
        fs::write(folder.path().join(META), seal(meta.as_bytes())).expect("a commit point");
        let kept = ["idx", "pos", "term", "store", "fast", "fieldnorm", "7.del"].map(|ending| format!("{id}.{ending}"));
        let left = ["8.del", "temp", "idx.new"].map(|ending| format!("{id}.{ending}"));
        let others = [".tmpAbC123", ".managed.json", "ffffffffffffffffffffffffffffffff.idx", "meta.json.new"];
        for name in kept.iter().chain(&left).map(String::as_str).chain(others) {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        fs::create_dir(folder.path().join("folder")).expect("a folder");
        collect(folder.path(), &Disk::default()).expect("collected");
        let entries = fs::read_dir(folder.path()).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let mut expected: Vec<String> = kept.into_iter().chain([META.to_string()]).collect();
        expected.sort();
        assert_eq!(names, expected);
    }
}
