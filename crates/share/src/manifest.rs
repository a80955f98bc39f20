//! The manifest of a repository in a remote: which indexes of it there are, and the files of each.
//!
//! It is JSON, and a last line `sha256 HEX` over the text before it. What a newer program put into it and this one does not
//! know is kept when it is written again: keys, and whole indexes.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use colgrep_index::store::{POINT_PART, is_part};
use colgrep_index::vector::{Codec, VectorManifest as Vectors};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::hash::{is_hash, is_key, of_bytes};
use crate::takes::Takes;

/// The layout of manifests and the objects around them. It is raised where an older program would misread them.
pub(crate) const LAYOUT: u64 = 1;
/// Indexes of one branch that are kept: others may be reading the one before.
const OF_BRANCH_MAX: usize = 3;
/// Indexes in one manifest; the oldest go.
pub(crate) const SNAPSHOTS_MAX: usize = 32;
/// Largest manifest, in bytes: 32 indexes of 100 files take .6 MB.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// Files of one index, and bytes of one; far beyond what an index has.
const PARTS_MAX: usize = 10_000;
const PART_BYTES_MAX: u64 = 64 << 30;
/// Bytes of the files that are read whole: the table of files, the commit point.
const WHOLE_BYTES_MAX: u64 = 1 << 30;
/// What the last line begins with.
const SEAL: &[u8] = b"sha256 ";

type Rest = BTreeMap<String, Value>;

/// What a remote has of one repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// [`LAYOUT`] of whoever wrote it.
    pub(crate) layout: u64,
    /// The repository's name.
    pub(crate) repository: String,
    /// Its indexes, the newest last.
    #[serde(default)]
    snapshots: Vec<ManifestEntry>,
    /// What newer programs know.
    #[serde(flatten)]
    rest: Rest,
}

/// An index in a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum ManifestEntry {
    /// One that this program understands.
    Known(Box<ManifestSnapshot>),
    /// Written by another program. It is kept unchanged.
    Other(Value),
}

impl ManifestEntry {
    fn known(&self) -> Option<&ManifestSnapshot> {
        match self {
            ManifestEntry::Known(snapshot) => Some(snapshot),
            ManifestEntry::Other(_) => None,
        }
    }
}

/// One index of a repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSnapshot {
    /// Version of its files (`FORMAT_VERSION` of the index).
    pub format: u32,
    /// The commit that was checked out when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How lines end, where git changes that when it checks out (`crlf`): such files have other bytes than the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// Which files it takes in; older programs did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Takes>,
    /// When it was pushed, in seconds since 1970, by the clock of whoever pushed.
    pub pushed: u64,
    /// Its files of source, for people.
    pub files: u64,
    /// Its units, for people.
    pub units: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorFacts>,
    pub(crate) parts: Vec<PartRecord>,
    #[serde(flatten)]
    pub(crate) rest: Rest,
}

/// The model of an index's vectors, and how they are stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VectorFacts {
    /// The model's name, for people.
    pub model: String,
    /// Its fingerprint and the codebook's hash, 16 hexadecimal digits each: JSON readers may cut larger numbers.
    pub fingerprint: String,
    /// [`colgrep_index::vector::Codebook::id`]
    pub codebook: String,
    /// Components of a vector.
    pub dimension: u32,
    pub heads: u32,
    pub codec: Codec,
    #[serde(flatten)]
    rest: Rest,
}

impl VectorFacts {
    /// Those of the vectors of an index.
    pub fn of(vectors: &Vectors) -> VectorFacts {
        let Vectors { fingerprint, model, dimension, heads, codec, codebook, .. } = vectors;
        VectorFacts {
            model: model.clone(),
            fingerprint: format!("{fingerprint:016x}"),
            codebook: format!("{codebook:016x}"),
            dimension: *dimension,
            heads: *heads,
            codec: *codec,
            rest: Rest::new(),
        }
    }

    /// The same as an index describes them, without any file; `None` where the numbers are invalid.
    pub fn described(&self) -> Option<Vectors> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(Vectors {
            fingerprint: number(&self.fingerprint)?,
            model: self.model.clone(),
            dimension: self.dimension,
            heads: self.heads,
            codec: self.codec,
            codebook: number(&self.codebook)?,
            ..Vectors::default()
        })
    }
}

/// A file of an index, and the object that stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartRecord {
    /// Its path in the index's folder.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// SHA-256 of its bytes.
    pub(crate) sha256: String,
    /// The object's name, where that is not the hash alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(flatten)]
    pub(crate) rest: Rest,
}

impl PartRecord {
    #[cfg(test)]
    pub(crate) fn of(name: &str, content: &[u8]) -> PartRecord {
        let (bytes, sha256) = (content.len() as u64, of_bytes(content));
        PartRecord { name: name.into(), bytes, sha256, ..PartRecord::default() }
    }

    /// The name of the object that stores it.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.sha256)
    }

    /// Whether name, size and object are of the shapes that they have.
    fn is_sound(&self) -> bool {
        let is_own = is_key(self.key()) && self.key().starts_with(&self.sha256);
        let read_whole = self.name.starts_with("files-") || self.name == POINT_PART;
        let bytes_max = if read_whole { WHOLE_BYTES_MAX } else { PART_BYTES_MAX };
        is_part(&self.name) && is_hash(&self.sha256) && is_own && self.bytes <= bytes_max
    }
}

impl ManifestSnapshot {
    /// A snapshot of these files.
    pub(crate) fn of(parts: Vec<PartRecord>) -> ManifestSnapshot {
        ManifestSnapshot { parts, ..ManifestSnapshot::default() }
    }

    /// Identifies its content: the hash over names and hashes of its files.
    pub fn id(&self) -> String {
        let mut lines: Vec<String> =
            self.parts.iter().map(|part| format!("{} {} {}\n", part.name, part.bytes, part.sha256)).collect();
        lines.sort();
        of_bytes(lines.concat().as_bytes())
    }

    /// Whether it has the same content as another: the same units, texts and vectors. Its table and its commit point
    /// may differ, as they do after a pull.
    fn holds_the_same(&self, other: &ManifestSnapshot) -> bool {
        let content = |snapshot: &ManifestSnapshot| {
            let is_content = |part: &&PartRecord| !part.name.starts_with("files-") && part.name != POINT_PART;
            let parts = snapshot.parts.iter().filter(is_content);
            let mut parts: Vec<_> = parts.map(|p| (p.name.clone(), p.bytes, p.sha256.clone())).collect();
            parts.sort();
            parts
        };
        let counts = |snapshot: &ManifestSnapshot| (snapshot.files, snapshot.units);
        self.id() == other.id() || (counts(self) == counts(other) && content(self) == content(other))
    }

    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes))
    }

    /// What others of the same kind have in common with it.
    fn kind(&self) -> impl PartialEq {
        let ManifestSnapshot { format, vectors, branch, lines, takes, .. } = self;
        (*format, vectors.as_ref(), branch.as_deref(), lines.as_deref(), takes.as_ref())
    }

    /// Refuses files that an index can't have: names of other shapes, one twice, none that leads to the others.
    ///
    /// # Errors
    /// With what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.parts.len() > PARTS_MAX {
            return Err(format!("it names {} files", self.parts.len()));
        }
        let mut names = HashSet::new();
        for part in &self.parts {
            if !part.is_sound() {
                return Err(format!("it names a file {:?} as no index has one", part.name));
            }
            // Some file systems do not tell upper case from lower.
            if !names.insert(part.name.to_lowercase()) {
                return Err(format!("it names the file {} twice", part.name));
            }
        }
        let tables = self.parts.iter().filter(|part| part.name.starts_with("files-")).count();
        if tables != 1 || !names.contains(POINT_PART) {
            return Err("it names no whole index".to_string());
        }
        Ok(())
    }
}

impl Manifest {
    /// One without any index.
    pub(crate) fn new(repository: &str) -> Manifest {
        Manifest { layout: LAYOUT, repository: repository.to_string(), ..Manifest::default() }
    }

    /// The bytes that are stored.
    pub(crate) fn sealed(&self) -> Vec<u8> {
        // Strings, numbers and lists of them: nothing that JSON can't say.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        let sum = of_bytes(&text);
        text.extend(SEAL);
        text.extend(sum.as_bytes());
        text.push(b'\n');
        text
    }

    /// Reads what is stored at `place`.
    ///
    /// # Errors
    /// Where it is damaged, or of a newer layout.
    pub(crate) fn read(bytes: &[u8], place: &str) -> Result<Manifest> {
        let damaged = |why: &str| Error::DamagedManifest { place: place.to_string(), why: why.to_string() };
        let at = bytes.len().checked_sub(SEAL.len() + 65).ok_or_else(|| damaged("it is cut"))?;
        let (text, seal) = bytes.split_at(at);
        let sum = seal.strip_prefix(SEAL).and_then(|rest| rest.strip_suffix(b"\n"));
        let sum = sum.ok_or_else(|| damaged("it is cut"))?;
        if sum != of_bytes(text).as_bytes() {
            return Err(damaged("its checksum is another"));
        }
        /// What every layout has, and no more of it than that.
        #[derive(Deserialize)]
        struct ManifestHead {
            layout: Option<u64>,
        }
        serde_json::from_slice::<IgnoredAny>(text).map_err(|e| damaged(&e.to_string()))?;
        let foreign = |why: String| Error::Foreign { place: place.to_string(), why };
        match serde_json::from_slice::<ManifestHead>(text).map_err(|e| foreign(e.to_string()))?.layout {
            Some(LAYOUT) => {}
            Some(layout) if layout > LAYOUT => return Err(Error::NewerLayout { place: place.to_string(), layout }),
            _ => return Err(foreign("it says no layout".to_string())),
        }
        serde_json::from_slice(text).map_err(|e| foreign(e.to_string()))
    }

    /// The indexes that this program understands, the newest last; of too many the last.
    pub(crate) fn snapshots(&self) -> impl DoubleEndedIterator<Item = &ManifestSnapshot> {
        let older = self.snapshots.len().saturating_sub(SNAPSHOTS_MAX);
        self.snapshots[older..].iter().filter_map(ManifestEntry::known)
    }

    /// The formats of all its indexes, as far as they say one.
    pub(crate) fn formats(&self) -> Vec<u32> {
        let format = |entry: &ManifestEntry| match entry {
            ManifestEntry::Known(snapshot) => Some(snapshot.format),
            ManifestEntry::Other(value) => value.get("format")?.as_u64()?.try_into().ok(),
        };
        let mut formats: Vec<u32> = self.snapshots.iter().filter_map(format).collect();
        formats.sort_unstable();
        formats.dedup();
        formats
    }

    /// Whether it has any index.
    pub(crate) fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// The same index in the manifest, under the same commit and branch, or one with the same content.
    pub(crate) fn same(&self, snapshot: &ManifestSnapshot) -> Option<&ManifestSnapshot> {
        let same = |s: &&ManifestSnapshot| s.kind() == snapshot.kind() && s.commit == snapshot.commit;
        self.snapshots().filter(same).find(|s| s.holds_the_same(snapshot))
    }

    /// Adds an index. Of the same commit and branch it is the only one after; of a branch the newest stay, and of all.
    pub(crate) fn add(&mut self, snapshot: ManifestSnapshot) {
        let is_other = |s: &ManifestSnapshot| s.kind() != snapshot.kind() || s.commit != snapshot.commit;
        self.snapshots.retain(|entry| entry.known().is_none_or(is_other));
        self.snapshots.push(ManifestEntry::Known(Box::new(snapshot)));
        let mut kept: Vec<ManifestEntry> = Vec::new();
        for entry in self.snapshots.drain(..).rev().take(SNAPSHOTS_MAX * OF_BRANCH_MAX) {
            let of_kind = |s: &ManifestSnapshot| {
                kept.iter().filter_map(ManifestEntry::known).filter(|k| k.kind() == s.kind()).count()
            };
            if kept.len() < SNAPSHOTS_MAX && entry.known().is_none_or(|s| of_kind(s) < OF_BRANCH_MAX) {
                kept.push(entry);
            }
        }
        kept.reverse();
        self.snapshots = kept;
        while self.snapshots.len() > 1 && self.sealed().len() as u64 > MANIFEST_BYTES_MAX {
            self.snapshots.remove(0);
        }
    }

    /// The hashes of all files of its indexes.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = &str> {
        self.snapshots.iter().filter_map(ManifestEntry::known).flat_map(|s| &s.parts).map(|part| part.sha256.as_str())
    }

    /// The objects that its indexes name. Of one that is not understood, whatever looks like an object's name counts.
    pub(crate) fn keys(&self) -> HashSet<&str> {
        let mut keys = HashSet::new();
        for entry in &self.snapshots {
            match entry {
                ManifestEntry::Known(snapshot) => keys.extend(snapshot.parts.iter().map(PartRecord::key)),
                ManifestEntry::Other(value) => keys_of(value, &mut keys),
            }
        }
        keys
    }
}

fn keys_of<'v>(value: &'v Value, keys: &mut HashSet<&'v str>) {
    match value {
        Value::String(text) if is_key(text) => drop(keys.insert(text)),
        Value::Array(values) => values.iter().for_each(|value| keys_of(value, keys)),
        Value::Object(values) => values.values().for_each(|value| keys_of(value, keys)),
        _ => {}
    }
}
