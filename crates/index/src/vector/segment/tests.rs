//! Round trips of segments, and the detection of damage.

use proptest::prelude::*;

use std::fs::File;

use super::*;

const LAYOUT: CodeLayout = CodeLayout { heads: 2, head_bytes: 4, row_bytes: 4 };
const MAKE: SegmentFormat = SegmentFormat { fingerprint: 7, codebook: 8, centroids: 300, layout: LAYOUT };

fn written(units: &[(u64, Vec<u8>)]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.seg");
    let mut builder = SegmentBuilder::default();
    for (key, codes) in units {
        builder.add(*key, Cow::Borrowed(codes));
    }
    builder.write(&path, &MAKE, &Disk::default()).expect("written");
    (folder, path)
}

fn key() -> impl Strategy<Value = u64> {
    (0..1u64 << TextHash::BITS).prop_map(|key| key << KEY_SHIFT)
}

fn unit() -> impl Strategy<Value = (u64, Vec<u8>)> {
    let row = (0u16..300, any::<u16>()).prop_map(|(c, rest)| [c.to_le_bytes(), rest.to_le_bytes()].concat());
    (key(), proptest::collection::vec(row, 0..6).prop_map(|rows| rows.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(units in proptest::collection::vec(unit(), 0..80), absent in key()) {
        let (_folder, path) = written(&units);
        let segment = VectorSegment::open(&path, &MAKE).expect("a segment");
        segment.verify().expect("sound");
        let mut expected = std::collections::BTreeMap::new();
        for (key, codes) in &units {
            expected.entry(*key).or_insert(codes.clone());
        }
        prop_assert_eq!(segment.len(), expected.len());
        for (ordinal, (key, codes)) in expected.iter().enumerate() {
            prop_assert_eq!(segment.find(*key), Some(ordinal));
            prop_assert_eq!(segment.codes(ordinal).expect("codes"), codes.as_slice());
        }
        prop_assert_eq!(segment.find(absent).is_some(), expected.contains_key(&absent));
        for (centroid, head) in (0..300u16).flat_map(|c| [None, Some(0), Some(1)].map(|head| (c, head))) {
            let mut found = Vec::new();
            segment.list(list_of(centroid.into(), head, 300), |o| found.push(o)).expect("a list");
            let is_there = |(row, code): (usize, &[u8])| {
                code[..2] == centroid.to_le_bytes() && head == Some(row).filter(|row| *row < LAYOUT.heads)
            };
            let naive: Vec<usize> = expected.values().enumerate()
                .filter(|(_, codes)| codes.chunks(4).enumerate().any(is_there))
                .map(|(o, _)| o).collect();
            prop_assert_eq!(found, naive);
        }
    }
}

#[test]
fn codes_that_no_start_can_name_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let codes = vec![0; 1 << 20];
    let mut builder = SegmentBuilder::default();
    for key in (0..4_096u64).map(|key| key << KEY_SHIFT) {
        builder.add(key, Cow::Borrowed(&codes));
    }
    let path = folder.path().join("a.seg");
    let error = builder.write(&path, &MAKE, &Disk::default()).expect_err("too much");
    assert!(error.to_string().contains("4 GiB") && !path.exists(), "{error}");
}

#[test]
fn a_segment_cut_while_it_is_open_is_an_error() {
    let large = vec![0u8; 64 << 10];
    for (units, is_kept) in [(8, true), (100, false)] {
        let units: Vec<(u64, Vec<u8>)> = (0..units).map(|i| (i << 56, large.clone())).collect();
        let (_folder, path) = written(&units);
        let segment = VectorSegment::open(&path, &MAKE).expect("a segment");
        segment.secure().expect("whole");
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_len(5_000).expect("cut");
        assert_eq!(segment.secure().is_ok(), is_kept);
        assert!(!is_kept || segment.verify().is_ok(), "a copied segment survives truncation");
    }
}

#[test]
fn damage_shows() {
    let units: Vec<(u64, Vec<u8>)> = (0..40u64)
        .map(|i| {
            (
                (i * 0x0512_3456_789A) << KEY_SHIFT,
                (0..16).map(|b| (b * 31 + i) as u8 & 0xF8 & if b % 4 == 1 { 0 } else { 255 }).collect(),
            )
        })
        .collect();
    let (_folder, path) = written(&units);
    let bytes = std::fs::read(&path).expect("bytes");
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&path, &changed).expect("written");
        let sound = VectorSegment::open(&path, &MAKE).and_then(|s| s.verify());
        assert!(sound.is_err(), "byte {at} of {}", bytes.len());
        std::fs::write(&path, &bytes[..at]).expect("written");
        assert!(VectorSegment::open(&path, &MAKE).is_err(), "cut at {at}");
    }
    std::fs::write(&path, &bytes).expect("written");
    assert!(VectorSegment::open(&path, &SegmentFormat { fingerprint: 6, ..MAKE }).is_err());
    VectorSegment::open(&path, &MAKE).and_then(|s| s.verify()).expect("sound again");
}

#[derive(Debug)]
struct RefusesKind(crate::disk::DiskChange);

impl crate::disk::ChangeGate for RefusesKind {
    fn pass(&self, change: crate::disk::DiskChange, _: &Path) -> std::io::Result<()> {
        if change == self.0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_segment_that_could_not_be_written_leaves_no_file() {
    use crate::disk::DiskChange;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.seg");
    for change in [DiskChange::Create, DiskChange::Write, DiskChange::Sync] {
        let mut builder = SegmentBuilder::default();
        builder.add(1 << KEY_SHIFT, Cow::Owned(vec![0; 8]));
        let disk = Disk::gated(std::sync::Arc::new(RefusesKind(change)));
        builder.write(&path, &MAKE, &disk).expect_err("refused");
        assert!(!path.exists(), "{change:?}");
    }
    // An existing file of that name is not ours.
    std::fs::write(&path, "another's").expect("a file");
    let mut builder = SegmentBuilder::default();
    builder.add(1 << KEY_SHIFT, Cow::Owned(vec![0; 8]));
    builder.write(&path, &MAKE, &Disk::default()).expect_err("it exists");
    assert!(path.exists());
}
