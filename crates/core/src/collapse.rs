//! Collapse: from ranked units to ranked files, each with its best units.

use rustc_hash::FxHashMap;
use std::cmp::{Ordering, Reverse};

use serde::{Deserialize, Serialize};

use crate::rank::{Fused, Ranked, RankedUnit, Retrieved};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileHit {
    /// Position in [`Ranked::files`].
    pub file: usize,
    /// The file's score: its best unit's.
    pub score: f32,
    /// How likely it is right, 0 to 1, on one scale for all queries; 0 until [`crate::strength`] sets it.
    pub strength: f32,
    /// Its best units, best first; at least one.
    pub units: Vec<RankedUnit>,
}

/// Maximum of sections shown per document by default.
const SECTIONS_MAX: usize = 3;

/// How many units of a file are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerFile {
    /// One. In documentation, whose pages have many topics, also other sections of a file that are among the best `k`
    /// units, counting at most `SECTIONS_MAX` per page.
    #[default]
    Usual,
    Units(usize),
}

/// The first `k` distinct files, or all if there are fewer, each with its best units.
pub fn collapse(ranked: &Ranked<'_>, k: usize, per_file: PerFile) -> Vec<FileHit> {
    let mut hits = first_of_each(ranked, k, if let PerFile::Units(units) = per_file { units } else { 1 });
    if per_file == PerFile::Usual && ranked.is_documentation {
        let first =
            answers(&ranked.units, true).take(k).filter(|unit| hits.iter().all(|hit| hit.units[0].unit != unit.unit));
        for section in first.copied().collect::<Vec<_>>() {
            let hit = hits.iter_mut().find(|hit| hit.file == section.file);
            hit.into_iter().for_each(|hit| hit.units.push(section));
        }
    }
    hits
}

/// The best units. Of documentation, whose pages have many units, at most `SECTIONS_MAX` per file.
pub fn answers(ranked: &[RankedUnit], is_documentation: bool) -> impl Iterator<Item = &RankedUnit> {
    let mut shown: FxHashMap<usize, usize> = FxHashMap::default();
    ranked.iter().filter(move |unit| {
        let shown = shown.entry(unit.file).or_default();
        *shown += 1;
        !is_documentation || *shown <= SECTIONS_MAX
    })
}

fn first_of_each(ranked: &Ranked<'_>, k: usize, per_file: usize) -> Vec<FileHit> {
    let mut hits: Vec<FileHit> = Vec::with_capacity(k.min(ranked.files.len()));
    let mut position: Vec<Option<usize>> = vec![None; ranked.files.len()];
    for unit in &ranked.units {
        if let Some(at) = position[unit.file] {
            let shown = &mut hits[at].units;
            if shown.len() < per_file {
                shown.push(*unit);
            }
        } else if hits.len() < k {
            position[unit.file] = Some(hits.len());
            hits.push(FileHit { file: unit.file, score: unit.score, strength: 0.0, units: vec![*unit] });
        }
    }
    hits
}

/// A score with its tie-breaker.
type Key = (f32, Reverse<u32>);

fn order(a: Key, b: Key) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Positions of the files that [`collapse`] would return, from unsorted scores. Used by sweeps over many settings, not
/// by searches.
pub fn first_files(retrieved: &Retrieved, fused: &Fused, k: usize) -> Vec<usize> {
    let mut best = vec![None; retrieved.files.len()];
    for (at, (candidate, score)) in retrieved.candidates.iter().zip(&fused.scores).enumerate() {
        let (best, own) = (&mut best[candidate.file], (*score, Reverse(fused.tie(at))));
        if best.is_none_or(|best| order(own, best).is_gt()) {
            *best = Some(own);
        }
    }
    let path = |file: usize| &retrieved.files[file].path;
    let mut first: Vec<(Key, usize)> = Vec::with_capacity(k + 1);
    for (file, key) in best.into_iter().enumerate() {
        let Some(key) = key else { continue };
        let before = |other: &(Key, usize)| order(other.0, key).then_with(|| path(file).cmp(path(other.1))).is_gt();
        let at = first.partition_point(before);
        if at < k {
            first.truncate(k - 1);
            first.insert(at, (key, file));
        }
    }
    first.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rank::testing::Example;

    proptest! {
        #[test]
        fn exactly_k_distinct_files_in_the_order_of_their_best_units(
            files in proptest::collection::vec((0usize..8, 0.0f32..1.0), 0..40), k in 0usize..12, per_file in 1usize..4)
        {
            // Few distinct scores, so that many are equal.
            let scored: Vec<(u32, usize, f32)> =
                files.iter().enumerate().map(|(i, (f, s))| (i as u32, *f, (s * 4.0).round() / 4.0)).collect();
            let example = Example::with_units(&["a", "b", "c", "d", "e", "f", "g", "h"], &scored);
            let first = first_files(&example.retrieved, &example.fused, k);
            let ranked = Ranked::new(&example.retrieved, &example.fused);
            let hits = collapse(&ranked, k, PerFile::Units(per_file));
            let mut distinct: Vec<usize> = files.iter().map(|f| f.0).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(hits.len(), k.min(distinct.len()));
            prop_assert_eq!(first, hits.iter().map(|h| h.file).collect::<Vec<_>>());
            for (i, hit) in hits.iter().enumerate() {
                prop_assert!(hits[..i].iter().all(|h| h.file != hit.file));
                prop_assert!(i == 0 || hits[i - 1].score >= hit.score);
                let best = files.iter().filter(|f| f.0 == hit.file).map(|f| (f.1 * 4.0).round() / 4.0).fold(0.0, f32::max);
                prop_assert_eq!(hit.score, best);
                let count = files.iter().filter(|f| f.0 == hit.file).count();
                prop_assert_eq!(hit.units.len(), count.min(per_file));
            }
        }
    }

    #[test]
    fn a_page_shows_its_sections_among_the_first_and_no_more_than_three() {
        let scores = [(0, 0, 0.9), (1, 0, 0.8), (2, 1, 0.7), (3, 0, 0.6), (4, 0, 0.5), (5, 2, 0.4), (6, 1, 0.3)];
        let example = Example::with_units(&["a.md", "b.md", "c.md"], &scores);
        let shown = |k: usize, per_file: PerFile, is_documentation: bool| -> Vec<Vec<u32>> {
            let ranked = Ranked { is_documentation, ..Ranked::new(&example.retrieved, &example.fused) };
            let hits = collapse(&ranked, k, per_file);
            hits.iter().map(|hit| hit.units.iter().map(|unit| unit.unit.doc()).collect()).collect()
        };
        assert_eq!(shown(1, PerFile::Usual, true), [[0]], "one answer is one section");
        assert_eq!(shown(2, PerFile::Usual, true), [vec![0, 1], vec![2]], "{scores:?}");
        // The fourth section of a page is not shown, and takes up no place.
        assert_eq!(shown(5, PerFile::Usual, true), [vec![0, 1, 3], vec![2], vec![5]]);
        assert_eq!(shown(6, PerFile::Usual, true), [vec![0, 1, 3], vec![2, 6], vec![5]]);
        assert_eq!(shown(5, PerFile::Usual, false), [[0], [2], [5]], "one unit per file of code");
        assert_eq!(shown(5, PerFile::Units(2), true), [vec![0, 1], vec![2, 6], vec![5]]);
    }

    #[test]
    fn of_equal_reciprocal_ranks_meaning_comes_first() {
        use crate::fuse::{Evidence, Fusion, Ranking, Retriever};
        use crate::knob::{Knob, Knobs, Profile};
        use crate::unit::UnitId;
        let mut example = Example::of(&["a.rs", "b.rs"]);
        let ranking = |retriever, unit| Ranking { retriever, hits: vec![(UnitId::new(0, unit), 1.0)] };
        example.retrieved.rankings = vec![ranking(Retriever::Lexical, 0), ranking(Retriever::Semantic, 1)];
        example.retrieved.evidence = Evidence { names: true, coverage: 1.0, ..Evidence::default() };
        let mut knobs = Knobs::of(Profile::Default);
        knobs.set(Knob::Alpha, "0.5").expect("a number");
        for (method, first) in [(Fusion::ReciprocalRank, 1), (Fusion::MinMax, 0)] {
            let fused = Fused::new(&example.retrieved, method, &knobs);
            let units = Ranked::new(&example.retrieved, &fused).units;
            assert!(units[0].score == units[1].score && units[0].file == first, "{method:?} {units:?}");
            assert_eq!(first_files(&example.retrieved, &fused, 2)[0], first, "{method:?}");
        }
    }
}
