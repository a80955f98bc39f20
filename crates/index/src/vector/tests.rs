//! Compares the store's search with a naive one, which decodes everything.

use std::borrow::Cow;
use std::collections::HashMap;

use colgrep_encoder::Multivector;
use ndarray::Array2;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::codebook::{CodeLayout, Codebook, Codec, RowLengths};
use super::math::{Random, normalise};
use super::pool::SplitRow;
use super::read::{Allowed, Effort, VectorManifest, VectorPlace, Vectors, segment_format};
use super::segment::{SegmentBuilder, SegmentFormat, VectorSegment};
use crate::disk::Disk;
use crate::ids::TextHash;

const DIMENSION: usize = 24;
const HEADS: usize = 2;
/// Length of a head; other rows have about 1, as in the built-in model.
const HEAD_LENGTH: f32 = 3.0;

fn direction(random: &mut Random) -> Vec<f32> {
    let mut row: Vec<f32> = (0..DIMENSION).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect();
    normalise(&mut row);
    row
}

fn near(random: &mut Random, row: &[f32], noise: f32) -> Vec<f32> {
    let mut moved: Vec<f32> = row.iter().zip(direction(random)).map(|(x, d)| x + noise * d).collect();
    normalise(&mut moved);
    moved
}

/// A store of random units around a few topics, in several segments, with the decoded rows of each text by its hash.
struct MadeStore {
    _folder: tempfile::TempDir,
    vectors: Vectors,
    decoded: HashMap<u64, Multivector>,
    topics: Vec<Vec<f32>>,
}

fn made(seed: u64, units: usize, segments: usize) -> MadeStore {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random(seed);
    let topics: Vec<Vec<f32>> = (0..60).map(|_| direction(&mut random)).collect();
    let codec = Codec { bits: 2, ..Codec::default() };
    let book = Codebook::new(
        Array2::from_shape_fn((48, DIMENSION), |(topic, i)| topics[topic][i]).view(),
        &[-0.3, -0.1, 0.1, 0.3],
        &std::array::from_fn::<f32, 16, _>(|i| i as f32 / 20.0 - 0.375),
        RowLengths { max: 6.0, head: HEAD_LENGTH, other: 1.0 },
    )
    .expect("a codebook");
    std::fs::write(folder.path().join(format!("codebook-{:016x}.bin", book.id())), book.bytes()).expect("written");
    let mut manifest = VectorManifest {
        fingerprint: 1,
        model: "toy".into(),
        dimension: DIMENSION as u32,
        heads: HEADS as u32,
        codec,
        codebook: book.id(),
        ..VectorManifest::default()
    };
    let mut decoded = HashMap::new();
    let layout = CodeLayout::new(&codec, DIMENSION, HEADS);
    for s in 0..segments {
        let mut builder = SegmentBuilder::default();
        for _ in 0..units / segments {
            let (key, mut codes) = (random.next() & !0xFFFF, Vec::new());
            // One in seven has no rows.
            let len = random.below(7);
            for i in 0..if len == 0 { 0 } else { HEADS + len - 1 } {
                let topic = random.below(topics.len());
                let head = i < HEADS;
                let scale = (0.5 + random.below(100) as f32 / 100.0) * if head { HEAD_LENGTH } else { 1.0 };
                let row = SplitRow { direction: near(&mut random, &topics[topic], 0.5), scale, head };
                book.encode(&row, &mut codes, &mut Vec::new());
            }
            let mut rows = Vec::new();
            for (code, head) in layout.rows(&codes) {
                let mut row = vec![0.0; DIMENSION];
                book.direction(code, head.is_some(), &mut row);
                rows.extend(row.iter().map(|x| x * book.scales()[usize::from(code[2])]));
            }
            decoded.insert(key, Multivector::from_values(DIMENSION, HEADS, rows));
            builder.add(key, Cow::Owned(codes));
        }
        let name = format!("{s}.seg");
        let format = segment_format(&manifest, &book);
        builder.write(&folder.path().join(&name), &format, &Disk::default()).expect("written");
        manifest.segments.push(name);
    }
    let vectors = Vectors::open(folder.path(), &manifest).expect("vectors");
    MadeStore { _folder: folder, vectors, decoded, topics }
}

impl MadeStore {
    /// A query with this many rows besides its heads.
    fn query(&self, random: &mut Random, rows: usize) -> Multivector {
        let rows = (0..HEADS + rows).map(|_| {
            let topic = &self.topics[random.below(self.topics.len())].clone();
            near(random, topic, 0.3)
        });
        Multivector::from_values(DIMENSION, HEADS, rows.flatten().collect())
    }

    fn hash(&self, place: VectorPlace) -> u64 {
        self.vectors.hash(place).expect("a place").value()
    }

    /// The naive search: decodes, scores and sorts every allowed unit.
    fn naive(&self, query: &Multivector, n: usize, allowed: &Allowed) -> Vec<(u64, f32)> {
        let places = places(&self.vectors).filter(|p| allowed.contains(*p));
        let mut all: Vec<(u64, f32)> =
            places.map(|p| self.hash(p)).map(|h| (h, query.maxsim(&self.decoded[&h]))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(n);
        all
    }
}

fn places(vectors: &Vectors) -> impl Iterator<Item = VectorPlace> {
    (0..vectors.len() as u32).map(VectorPlace)
}

fn everything(vectors: &Vectors) -> Allowed {
    let mut allowed = Allowed::none(vectors.len());
    places(vectors).for_each(|p| allowed.insert(p));
    allowed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn with_enough_effort_the_search_is_exhaustive(
        seed in any::<u64>(), segments in 1usize..4, rows in 1usize..6, n in 1usize..40, share in 1u64..5)
    {
        let store = made(seed, 150, segments);
        let mut random = Random(seed ^ 1);
        let query = store.query(&mut random, rows);
        let mut allowed = Allowed::none(store.vectors.len());
        places(&store.vectors).filter(|_| random.next().is_multiple_of(share)).for_each(|p| allowed.insert(p));
        let naive = store.naive(&query, n, &allowed);
        let found = store.vectors.search(&query, n, &allowed, Effort::default()).expect("found");
        prop_assert_eq!(found.len(), naive.len());
        for ((place, score), (_, expected)) in found.iter().zip(&naive) {
            prop_assert!((score - expected).abs() < 1e-4, "{} {}", score, expected);
            prop_assert!(allowed.contains(*place));
        }
        let places: Vec<VectorPlace> = places(&store.vectors).collect();
        let scores = store.vectors.score(&query, &places).expect("scores");
        for (place, score) in places.iter().zip(scores) {
            let hash = store.hash(*place);
            prop_assert!((score - query.maxsim(&store.decoded[&hash])).abs() < 1e-4);
            prop_assert_eq!(TextHash::new(hash).and_then(|hash| store.vectors.place(hash)), Some(*place));
        }
    }
}

#[test]
fn each_step_brings_nearly_all_of_the_best() {
    let store = made(5, 6_000, 3);
    let allowed = everything(&store.vectors);
    let found = |effort| {
        let (mut found, mut random) = (0, Random(9));
        for _ in 0..20 {
            let query = store.query(&mut random, 8);
            let best = store.vectors.search(&query, 20, &allowed, effort).expect("found");
            let naive: Vec<u64> = store.naive(&query, 20, &allowed).into_iter().map(|n| n.0).collect();
            found += best.iter().filter(|(place, _)| naive.contains(&store.hash(*place))).count();
        }
        found
    };
    // The lists with exact scores of all their units; rough scores over all units; and both. Rough scores take a head
    // for its centroid, exact ones have it to four bits per component, and heads weigh most, so more units are scored
    // than rows of equal length would need.
    let effort = Effort { probes: 9, rough: 1_500, exact: 500, ..Effort::default() };
    let (listed, rough) = (found(Effort { exact: 1_500, ..effort }), found(Effort { rough: 6_000, ..effort }));
    let both = found(effort);
    assert!(listed >= 390 && rough >= 380 && both >= 380, "{listed}, {rough} and {both} of 400");
}

#[test]
fn places_allowed_before_and_after_the_lists_are_the_same() {
    let (store, mut random) = (made(5, 6_000, 3), Random(11));
    for share in [1, 2, 5] {
        let mut allowed = Allowed::none(store.vectors.len());
        places(&store.vectors).filter(|_| random.next().is_multiple_of(share)).for_each(|p| allowed.insert(p));
        let query = store.query(&mut random, 8);
        let effort = Effort { probes: 6, rough: 500, exact: 100, ..Effort::default() };
        let question = store.vectors.question(&query).expect("a question");
        let before = question.listed(|place| allowed.contains(place), effort.probes, effort.rough).expect("found");
        let ask = &mut |places: &[VectorPlace]| places.iter().map(|p| allowed.contains(*p)).collect();
        let after = question.listed_asking(ask, effort.probes, effort.rough).expect("found");
        assert_eq!(super::in_store(before), super::in_store(after));
    }
}

#[test]
fn another_dimension_is_an_error_and_no_rows_find_nothing() {
    let store = made(3, 30, 1);
    let allowed = everything(&store.vectors);
    for query in
        [Multivector::from_values(2, 0, vec![1.0, 0.0]), Multivector::from_values(DIMENSION, 1, vec![1.0; DIMENSION])]
    {
        assert!(store.vectors.search(&query, 5, &allowed, Effort::default()).is_err());
        assert!(store.vectors.score(&query, &[VectorPlace(0)]).is_err());
    }
    let none = Multivector::default();
    assert_eq!(store.vectors.search(&none, 5, &allowed, Effort::default()).expect("nothing"), vec![]);
}

/// A segment of a few units with changed bytes after its header and valid checksums: no disk does that, but anybody can
/// write such a file.
fn forged(changes: &[(prop::sample::Index, u8)]) -> (tempfile::TempDir, std::path::PathBuf, SegmentFormat) {
    const HEADER_BYTES: usize = 80;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.seg");
    let layout = CodeLayout { heads: 1, head_bytes: 4, row_bytes: 4 };
    let format = SegmentFormat { fingerprint: 1, codebook: 2, centroids: 9, layout };
    let mut builder = SegmentBuilder::default();
    for key in 1..30u64 {
        let rows = (0..key % 5).flat_map(|row| [(key + row) as u8 % 9, 0, 7, 7]);
        builder.add(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !0xFFFF, Cow::Owned(rows.collect()));
    }
    builder.write(&path, &format, &Disk::default()).expect("written");
    let mut bytes = std::fs::read(&path).expect("bytes");
    for (at, value) in changes {
        // Counts and lengths in the header too.
        let at = 40 + at.index(bytes.len() - 40);
        if !(64..HEADER_BYTES).contains(&at) {
            bytes[at] = *value;
        }
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    let (units, starts) = (word(40), if word(44) > 0 { 0 } else { 4 * word(40) + 4 });
    let lists_at = HEADER_BYTES + 6 * units + starts + 4 * units.div_ceil(16) + word(48);
    let table = bytes.get(HEADER_BYTES..lists_at).map_or(0, xxh3_64).to_le_bytes();
    bytes[64..72].copy_from_slice(&table);
    let header = xxh3_64(&bytes[..72]).to_le_bytes();
    bytes[72..80].copy_from_slice(&header);
    std::fs::write(&path, &bytes).expect("written");
    (folder, path, format)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_forged_segment_is_read_or_refused(changes in proptest::collection::vec(any::<(prop::sample::Index, u8)>(), 0..12)) {
        let (_folder, path, format) = forged(&changes);
        let Ok(segment) = VectorSegment::open(&path, &format) else { return Ok(()) };
        let _ = segment.verify();
        for ordinal in 0..segment.len() + 2 {
            let _ = segment.codes(ordinal);
            let _ = segment.find(segment.key(ordinal));
        }
        for list in 0..20 {
            let _ = segment.list(list, |ordinal| assert!(ordinal < segment.len()));
        }
    }

    #[test]
    fn a_codebook_of_any_bytes_is_read_or_refused(
        words in proptest::collection::vec(prop::sample::select(vec![0u32, 1, 2, 3, 16, 255, u32::MAX, 1 << 30]), 4),
        rest in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let codebook = super::codebook::Codebook::new(
            Array2::from_elem((2, 4), 0.5f32).view(), &[0.0, 0.1], &[0.5; 16], RowLengths { max: 1.0, head: 1.0, other: 1.0 },
        ).expect("a codebook");
        let mut bytes = codebook.bytes().to_vec();
        bytes.truncate(8);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(&rest);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let _ = Codebook::from_bytes(&bytes);
    }
}
