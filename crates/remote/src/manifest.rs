//! The manifest of a repository in a remote: which indexes of it there are, and the files of each.
//!
//! It is JSON, and a last line `sha256 HEX` over the text before it. What a newer program put into it and this one does not
//! know is kept when it is written again.

use std::collections::{BTreeMap, HashMap, HashSet};

use colgrep_index::store::{POINT_PART, is_part};
use colgrep_index::vector::{Codec, Manifest as Vectors};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hash::{is_hash, of_bytes};

/// The layout of manifests and of what lies around them. It is raised where an older program would misread them.
pub(crate) const LAYOUT: u64 = 1;
/// Indexes of one branch that are kept: others may be reading the one before.
const OF_BRANCH_MAX: usize = 3;
/// Indexes in one manifest; the oldest go.
const SNAPSHOTS_MAX: usize = 32;
/// Files of one index, and bytes of one; far beyond what an index has.
const PARTS_MAX: usize = 20_000;
const PART_BYTES_MAX: u64 = 64 << 30;
/// Bytes of the files that are read whole: the table of files, the commit point.
const WHOLE_BYTES_MAX: u64 = 1 << 30;
/// What the last line begins with.
const SEAL: &[u8] = b"sha256 ";

type Rest = BTreeMap<String, serde_json::Value>;

/// What a remote has of one repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// [`LAYOUT`] of whoever wrote it.
    pub(crate) layout: u64,
    /// The repository's name.
    pub(crate) repository: String,
    /// Its indexes, the newest last.
    #[serde(default)]
    pub(crate) snapshots: Vec<Snapshot>,
    /// What newer programs know.
    #[serde(flatten)]
    pub(crate) rest: Rest,
}

/// One index of a repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of its files (`FORMAT_VERSION` of the index).
    pub format: u32,
    /// The commit that was checked out when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When it was pushed, in seconds since 1970, by the clock of whoever pushed.
    pub pushed: u64,
    /// Its files of source, for people.
    pub files: u64,
    /// Its units, for people.
    pub units: u64,
    /// Its vectors, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorFacts>,
    /// Its files.
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
    /// Heads of a text.
    pub heads: u32,
    /// How they are stored.
    pub codec: Codec,
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
        }
    }

    /// The same as an index describes them, without any file; none where the numbers are none.
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

/// A file of an index, and the object that holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartRecord {
    /// Its path in the index's folder.
    pub(crate) name: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// SHA-256 of its bytes.
    pub(crate) sha256: String,
    /// The object's name, where that is not the hash alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

impl PartRecord {
    /// The name of the object that holds it.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.sha256)
    }

    /// Whether name, size and object are of the shapes that they have.
    fn is_sound(&self) -> bool {
        let suffix = match self.key().split_at_checked(64) {
            Some((hash, rest)) if hash == self.sha256 => rest,
            _ => return false,
        };
        let is_suffix = suffix.is_empty()
            || suffix
                .strip_prefix('-')
                .is_some_and(|end| (1..=16).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_hexdigit()));
        let read_whole = self.name.starts_with("files-") || self.name == POINT_PART;
        let bytes_max = if read_whole { WHOLE_BYTES_MAX } else { PART_BYTES_MAX };
        is_part(&self.name) && is_hash(&self.sha256) && is_suffix && self.bytes <= bytes_max
    }
}

impl Snapshot {
    /// A snapshot of these files.
    pub(crate) fn of(parts: Vec<PartRecord>) -> Snapshot {
        Snapshot { parts, ..Snapshot::default() }
    }

    /// What tells its content from that of others: the hash over names and hashes of its files.
    pub fn id(&self) -> String {
        let mut lines: Vec<String> =
            self.parts.iter().map(|part| format!("{} {} {}\n", part.name, part.bytes, part.sha256)).collect();
        lines.sort();
        of_bytes(lines.concat().as_bytes())
    }

    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// What others of the same kind have in common with it.
    fn kind(&self) -> (u32, Option<&VectorFacts>, Option<&str>) {
        (self.format, self.vectors.as_ref(), self.branch.as_deref())
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
        let value: serde_json::Value = serde_json::from_slice(text).map_err(|e| damaged(&e.to_string()))?;
        match value.get("layout").and_then(serde_json::Value::as_u64) {
            Some(LAYOUT) => {}
            Some(layout) if layout > LAYOUT => return Err(Error::NewerLayout { place: place.to_string(), layout }),
            _ => return Err(damaged("it says no layout")),
        }
        serde_json::from_value(value).map_err(|e| damaged(&e.to_string()))
    }

    /// Whether this very index is in it, under the same commit and branch.
    pub(crate) fn has(&self, snapshot: &Snapshot) -> bool {
        let same = |s: &&Snapshot| s.kind() == snapshot.kind() && s.commit == snapshot.commit;
        self.snapshots.iter().filter(same).any(|s| s.id() == snapshot.id())
    }

    /// Adds an index. Of the same commit and branch it is the only one after; of a branch the newest stay, and of all.
    pub(crate) fn add(&mut self, snapshot: Snapshot) {
        self.snapshots.retain(|s| s.kind() != snapshot.kind() || s.commit != snapshot.commit);
        self.snapshots.push(snapshot);
        let mut kept: Vec<Snapshot> = Vec::new();
        for snapshot in self.snapshots.drain(..).rev() {
            if kept.iter().filter(|k| k.kind() == snapshot.kind()).count() < OF_BRANCH_MAX && kept.len() < SNAPSHOTS_MAX
            {
                kept.push(snapshot);
            }
        }
        kept.reverse();
        self.snapshots = kept;
    }

    /// The hashes of all files of its indexes.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = &str> {
        self.snapshots.iter().flat_map(|s| &s.parts).map(|part| part.sha256.as_str())
    }

    /// The objects that its indexes name, with their sizes.
    pub(crate) fn keys(&self) -> HashMap<&str, u64> {
        self.snapshots.iter().flat_map(|s| s.parts.iter().map(|part| (part.key(), part.bytes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, content: &[u8]) -> PartRecord {
        PartRecord { name: name.into(), bytes: content.len() as u64, sha256: of_bytes(content), key: None }
    }

    fn snapshot(commit: &str, branch: &str) -> Snapshot {
        let parts = vec![part("files-7.bin", commit.as_bytes()), part(POINT_PART, b"point")];
        Snapshot { commit: Some(commit.into()), branch: Some(branch.into()), format: 6, ..Snapshot::of(parts) }
    }

    #[test]
    fn what_a_newer_program_wrote_is_kept() {
        let mut manifest = Manifest::new("h/n");
        manifest.add(snapshot("a", "main"));
        let text = String::from_utf8(manifest.sealed()).expect("text");
        let json = text.rsplit_once(SEAL.iter().map(|b| *b as char).collect::<String>().as_str()).expect("a seal").0;
        let json = json.replace("\"format\": 6", "\"format\": 6, \"signed\": [1]").replacen('{', "{\"more\": true,", 1);
        let newer = [json.as_bytes(), SEAL, of_bytes(json.as_bytes()).as_bytes(), b"\n"].concat();
        let mut read = Manifest::read(&newer, "x").expect("a manifest");
        read.add(snapshot("b", "main"));
        let written = String::from_utf8(read.sealed()).expect("text");
        assert!(written.contains("\"more\": true") && written.contains("\"signed\": ["), "{written}");
    }

    #[test]
    fn no_cut_or_flipped_manifest_is_read() {
        let mut manifest = Manifest::new("h/n");
        manifest.add(snapshot("a", "main"));
        let sealed = manifest.sealed();
        assert_eq!(Manifest::read(&sealed, "x").expect("sound"), manifest);
        for at in 0..sealed.len() {
            assert!(Manifest::read(&sealed[..at], "x").is_err(), "cut at {at}");
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert!(Manifest::read(&flipped, "x").is_err(), "flipped at {at}");
        }
        manifest.layout = LAYOUT + 1;
        let newer = Manifest::read(&manifest.sealed(), "x").expect_err("newer");
        assert!(matches!(newer, Error::NewerLayout { layout: 2, .. }), "{newer}");
    }

    #[test]
    fn the_newest_of_a_branch_stay() {
        let mut manifest = Manifest::new("h/n");
        for n in 0..5 {
            manifest.add(snapshot(&n.to_string(), "main"));
        }
        manifest.add(snapshot("x", "side"));
        manifest.add(snapshot("4", "main"));
        let commits: Vec<_> = manifest.snapshots.iter().filter_map(|s| s.commit.as_deref()).collect();
        assert_eq!(commits, ["2", "3", "x", "4"]);
        for n in 0..100 {
            manifest.add(snapshot("y", &n.to_string()));
        }
        assert_eq!(manifest.snapshots.len(), SNAPSHOTS_MAX);
    }

    #[test]
    fn files_that_no_index_has_are_refused() {
        let check = |parts: Vec<PartRecord>| Snapshot::of(parts).check();
        let whole = || vec![part("files-7.bin", b"t"), part(POINT_PART, b"p")];
        check(whole()).expect("a whole index");
        let id = "0123456789abcdef0123456789abcdef";
        for name in [
            format!("lexical/{id}.idx"),
            format!("lexical/{id}.12.del"),
            "vectors/18f.seg".into(),
            "vectors/codebook-1f.bin".into(),
        ] {
            check([whole(), vec![part(&name, b"x")]].concat()).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        for name in [
            "lexical/0123456789abcdef0123456789abcdef./../../x",
            "../x",
            "lexical/../../x",
            "/etc/passwd",
            "lock",
            "lexical/lock",
            "lexical/meta.json.new",
            "vectors/../x.seg",
            "vectors/x/1.seg",
            "files-.bin",
            "files-1.bin.new",
            "LEXICAL/meta.json",
            "C:\\x",
            "",
        ] {
            check([whole(), vec![part(name, b"x")]].concat()).expect_err(name);
        }
        check(vec![part(POINT_PART, b"p")]).expect_err("no table");
        check([whole(), vec![part("files-8.bin", b"t")]].concat()).expect_err("two tables");
        for key in ["../x".to_string(), format!("{}-../x", of_bytes(b"x")), of_bytes(b"other")] {
            let other = PartRecord { key: Some(key.clone()), ..part("vectors/1.seg", b"x") };
            check([whole(), vec![other]].concat()).expect_err(&key);
        }
        let large = PartRecord { bytes: u64::MAX, ..part("vectors/1.seg", b"x") };
        check([whole(), vec![large]].concat()).expect_err("too large");
    }
}
