//! Compares pruned scores with exhaustive ones.

use std::fmt::Write as _;

use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::token::Tokenizer;
use colgrep_core::{LanguageFacts, Unit, UnitKind, UnitRole};
use colgrep_syntax::parse::Parsed;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::disk::Disk;
use crate::lexical::{FileDocument, UnitPlace, Writer};

const PLAIN: PruningSizes = PruningSizes { postings: u64::MAX, shard: DocId::MAX };
const CAREFUL: PruningSizes = PruningSizes { postings: 0, shard: 100 };

/// A pseudo-random number below `n`.
fn draw(seed: u64, i: u64, n: u64) -> u64 {
    xxh3_64(&[seed.to_le_bytes(), i.to_le_bytes()].concat()) % n
}

/// A word: low numbers are frequent, high ones rare.
fn word(seed: u64, i: u64) -> String {
    let most = 1 << (1 + draw(seed, 2 * i, 8));
    format!("word{}", draw(seed, 2 * i + 1, most))
}

fn words(seed: u64, count: u64) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        let _ = write!(text, "{} ", word(seed, i));
        text
    })
}

fn unit(seed: u64, line: u32) -> Unit {
    let mut unit = Unit { name: word(seed, 1_000), body: words(seed, 3 + draw(seed, 0, 40)), ..Unit::default() };
    if seed.is_multiple_of(3) {
        unit.docstring = words(seed ^ 1, 6);
    }
    unit.kind = UnitKind::ALL[draw(seed, 1, UnitKind::ALL.len() as u64) as usize];
    unit.role = UnitRole::ALL[draw(seed, 2, UnitRole::ALL.len() as u64) as usize];
    (unit.span.first, unit.span.line, unit.span.end) = (line, line, line + 5);
    unit
}

/// An index of 240 files of up to 7 units in several segments, some files removed.
fn index(seed: u64) -> (tempfile::TempDir, Lexical) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::open(folder.path(), &Disk::default()).expect("a writer");
    for file in 0..240u64 {
        let units = (0..1 + draw(seed, file, 7)).map(|u| unit(seed ^ (file << 8 | u), 10 * u as u32 + 1)).collect();
        let parsed = Parsed { units, ..Parsed::default() };
        let path = format!("{}/{}.rs", word(seed, file), word(seed ^ 2, file));
        writer
            .add(&FileDocument { id: FileId(file as u32), path: &path, parsed, ..FileDocument::default() })
            .expect("added");
        if file % 100 == 99 {
            writer.commit("colgrep 0 0").expect("committed");
        }
    }
    (0..240).step_by(17).map(FileId).for_each(|file| writer.delete(file));
    writer.commit("colgrep 0 0").expect("committed");
    writer.finish().expect("finished");
    let lexical = Lexical::open(folder.path()).expect("an index");
    (folder, lexical)
}

struct Odd;

impl UnitFilter for Odd {
    fn allows_file(&self, file: FileId) -> bool {
        file.0 % 2 == 1
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        unit.first < 40
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_out_does_not_matter(seed in any::<u64>()) {
        let (_folder, lexical) = index(seed);
        prop_assert!(lexical.segments.len() > 1 && lexical.segments.iter().any(|s| s.reader.has_deletes()));
        let bm25 = Bm25::new(&Knobs::of(Profile::Default));
        let order = FileOrder::new(260, (0..260).map(FileId));
        for i in 0..24 {
            let text = format!("{} and {}", words(seed ^ i, 1 + i % 6), word(seed, i));
            let query = Query::new(&text, "/project", &LanguageFacts::default(), &mut Tokenizer::default());
            let file = |n| FileId(draw(seed, 10 * i + n, 260) as u32);
            let files: Vec<FileId> = (0..3).map(file).collect();
            let unit = |n| lexical.units_of(file(n), None).expect("units").first().map(|u| u.key);
            let mut units: Vec<UnitId> = (3..6).filter_map(unit).collect();
            let filter: Option<&dyn UnitFilter> = if i % 4 == 3 { Some(&Odd) } else { None };
            if filter.is_some() {
                units.clear();
            }
            let wanted = (1 + draw(seed, 7 * i, 40) as usize, draw(seed, 9 * i, 60) as usize);
            let search = |sizes| {
                let looked_up = lexical.look_up_in(&query, &bm25, sizes).expect("terms");
                let statistics = looked_up.statistics().expect("counts");
                let scoring = Scoring { statistics: &statistics, bm25: &bm25, filter, order: &order };
                let scorer = looked_up.scorer(scoring);
                let mut hits = scorer.search(wanted.0, wanted.1).expect("hits");
                let found: HashSet<FileId> = hits.iter().map(|h| h.file).collect();
                let absent: Vec<FileId> = files.iter().copied().filter(|file| !found.contains(file)).collect();
                let mut known: HashSet<UnitId> = hits.iter().map(|h| h.key).collect();
                let of_files = scorer.best_of(&absent).expect("units");
                let named = scorer.scores_of(&units).expect("units");
                hits.extend(of_files.into_iter().chain(named).filter(|h| known.insert(h.key)));
                hits.sort_by(|a, b| scorer.by_score(a, b));
                (hits, statistics)
            };
            let (plain, careful) = (search(PLAIN), search(CAREFUL));
            prop_assert_eq!(&plain.0, &careful.0, "{}", &text);
            prop_assert_eq!(&plain.1, &careful.1);
            let looked_up = lexical.look_up_in(&query, &bm25, PLAIN).expect("terms");
            let scoring = Scoring { statistics: &plain.1, bm25: &bm25, filter, order: &order };
            let all = looked_up.scorer(scoring).search(usize::MAX >> 4, 0).expect("all");
            let chosen = cut(all.clone(), wanted.0, wanted.1, |h| h.file).0;
            let named_files = files.clone();
            let files: HashSet<FileId> = chosen.iter().map(|h| h.file).collect();
            let first_of = |h: &UnitHit| !files.contains(&h.file) && all.iter().find(|a| a.file == h.file) == Some(h);
            let named = |h: &&UnitHit| units.contains(&h.key) || named_files.contains(&h.file) && first_of(h);
            let naive: Vec<UnitHit> =
                all.iter().filter(|h| chosen.contains(h) || named(h)).copied().collect();
            let scored: Vec<UnitHit> = plain.0.iter().filter(|h| h.score > 0.0).copied().collect();
            prop_assert_eq!(scored, naive);
        }
    }
}

#[test]
fn kept_lengths_are_those_summed_up() {
    let (folder, lexical) = index(7);
    let summed = lexical.lengths();
    let again = Lexical::open(folder.path()).expect("an index");
    again.keep_lengths(folder.path(), &Disk::default());
    let kept = Lexical::open(folder.path()).expect("an index");
    assert!(kept.segments.iter().all(|s| s.lengths.get().is_some()) && kept.lengths() == summed);
    let path = folder.path().join("lengths.bin");
    let mut bytes = std::fs::read(&path).expect("bytes");
    bytes[20] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let damaged = Lexical::open(folder.path()).expect("an index");
    assert!(damaged.segments.iter().all(|s| s.lengths.get().is_none()) && damaged.lengths() == summed);
}

#[test]
fn the_cut_keeps_enough_files() {
    let hit = |doc, file, score| UnitHit {
        key: key(0, doc),
        file: FileId(file),
        kind: UnitKind::Function,
        role: UnitRole::Definition,
        line: 1,
        end: 1,
        name_hit: false,
        score,
    };
    let hits = vec![hit(0, 1, 9.0), hit(1, 1, 8.0), hit(2, 2, 1.0), hit(3, 3, 0.5), hit(4, 4, 0.2)];
    let files = |units_max, files_min| {
        let (hits, enough) = cut(hits.clone(), units_max, files_min, |h| h.file);
        (hits.iter().map(|h| h.file.0).collect::<Vec<_>>(), enough)
    };
    assert_eq!(files(2, 1), (vec![1, 1], true));
    assert_eq!(files(2, 3), (vec![1, 1, 2, 3], true));
    assert_eq!(files(99, 99), (vec![1, 1, 2, 3, 4], false));
}
