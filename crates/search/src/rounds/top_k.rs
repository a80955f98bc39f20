//! Merges the best texts of several shards while sending few texts.
//!
//! Each shard sends an outline of its scores. Texts that are certainly among the best are sent in short, just to be
//! counted once across shards. Texts that may be among the best are sent whole, and the last of the best is one of
//! them.

use std::collections::{HashMap, HashSet};

use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;

use super::{ChooseResponse, ChosenRequest, ChosenResponse, Marks, ScoreOutline};
use crate::shard::TextCutoff;

/// The best texts of all shards.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopTexts {
    /// Their number; for a single shard, all that it chose.
    pub(crate) count: usize,
    /// The last of them, if some are left out.
    pub(crate) bar: Option<TextCutoff>,
    /// The texts with their scores, unordered, without those sent in short; empty for a single shard.
    pub(crate) texts: Vec<(TextHash, f32)>,
}

/// Lists of texts with scores, one per shard.
pub(super) trait TextLists {
    /// The answer of each list.
    fn chosen(&self, request: &ChosenRequest) -> Result<Vec<ChosenResponse>>;

    /// The hashes of the texts of each list that have its marks and at least the score `sure`.
    fn marked(&self, marks: Vec<Marks>, sure: f32) -> Result<Vec<TextHash>>;
}

/// The `best` texts of the lists, each once. With `in_short`, certain texts may be sent in short.
pub(super) fn top_k(
    lists: &impl TextLists,
    chosen: &[ChooseResponse],
    best: usize,
    in_short: bool,
) -> Result<TopTexts> {
    let outlines = || chosen.iter().map(|chosen| (&chosen.outline, chosen.count));
    let sure = if in_short { ScoreOutline::sure(outlines(), best) } else { None };
    let (mut asks_sure, mut below, mut certain, mut wanted) = (sure, sure, 0, best);
    let mut open: HashMap<TextHash, f32> = HashMap::new();
    loop {
        let least = ScoreOutline::least(outlines().map(|(outline, _)| outline), wanted);
        let request = ChosenRequest { sure: asks_sure, least: least.unwrap_or(f32::NEG_INFINITY), below };
        let found = lists.chosen(&request)?;
        if let Some(sure) = asks_sure.take() {
            certain = distinct(lists, found.iter().map(|found| &found.sure).collect(), sure)?;
        }
        open.extend(found.into_iter().flat_map(|found| found.open));
        let reached = certain + open.len();
        if let (Some(least), true) = (least, reached < best) {
            // A text that several shards have counts once, so lower ones are needed too.
            wanted += 2 * (best - reached);
            below = Some(below.map_or(least, |below| if below.total_cmp(&least).is_lt() { below } else { least }));
            continue;
        }
        let room = best.saturating_sub(certain);
        let (texts, bar) = first(open.into_iter().collect(), room, least.is_some(), sure);
        return Ok(TopTexts { count: certain + texts.len(), bar, texts });
    }
}

/// The first `room` texts, and the last of them if others follow: because there are more, or because of `may_follow`. If
/// there is no room, the last one is one of those with the score `sure`.
fn first(
    mut texts: Vec<(TextHash, f32)>,
    room: usize,
    may_follow: bool,
    sure: Option<f32>,
) -> (Vec<(TextHash, f32)>, Option<TextCutoff>) {
    let by_score = |a: &(TextHash, f32), b: &(TextHash, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if !may_follow && texts.len() <= room {
        return (texts, None);
    }
    if texts.len() > room && room > 0 {
        texts.select_nth_unstable_by(room - 1, by_score);
    }
    texts.truncate(room);
    let last = texts.iter().copied().max_by(by_score).map(|(hash, score)| TextCutoff { score, hash });
    (texts, last.or(sure.map(TextCutoff::of_all)))
}

/// The number of different texts in lists of marks. Texts with the same mark are compared by their hashes.
fn distinct(lists: &impl TextLists, marks: Vec<&Marks>, sure: f32) -> Result<usize> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    marks.iter().flat_map(|marks| marks.iter()).for_each(|mark| *counts.entry(mark).or_default() += 1);
    let clear = counts.values().filter(|count| **count == 1).count();
    if clear == counts.len() {
        return Ok(clear);
    }
    let unclear = |marks: &&Marks| {
        let mut own: Vec<u32> = marks.iter().filter(|mark| counts[mark] > 1).collect();
        own.dedup();
        Marks::new(own)
    };
    let unclear = marks.iter().map(unclear).collect();
    let hashes: HashSet<TextHash> = lists.marked(unclear, sure)?.into_iter().collect();
    Ok(clear + hashes.len())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Lists that answer like shards, and count the texts that they send whole.
    struct CountingLists<'l> {
        lists: &'l [Vec<(TextHash, f32)>],
        whole: Cell<usize>,
    }

    impl TextLists for CountingLists<'_> {
        fn chosen(&self, request: &ChosenRequest) -> Result<Vec<ChosenResponse>> {
            let found: Vec<ChosenResponse> = self.lists.iter().map(|list| request.of(list.iter().copied())).collect();
            self.whole.set(self.whole.get() + found.iter().map(|found| found.open.len()).sum::<usize>());
            Ok(found)
        }

        fn marked(&self, marks: Vec<Marks>, sure: f32) -> Result<Vec<TextHash>> {
            let of_list = |(list, marks): (&Vec<(TextHash, f32)>, Marks)| {
                let marks: HashSet<u32> = marks.iter().collect();
                let is_asked = |text: &&(TextHash, f32)| text.1 >= sure && marks.contains(&Marks::of(text.0));
                list.iter().filter(is_asked).map(|text| text.0).collect::<Vec<_>>()
            };
            Ok(self.lists.iter().zip(marks).flat_map(of_list).collect())
        }
    }

    /// Lists that share some texts; scores have `levels` values, and some hashes share their first bits.
    fn lists(seed: u64, lengths: &[usize], texts: u64, levels: u64) -> Vec<Vec<(TextHash, f32)>> {
        let mut state = seed;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let of_text = |text: u64| {
            let mixed = (text + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let hash = (mixed % 997) << 40 | mixed >> 24;
            (TextHash::new(hash).expect("no zero"), (mixed % levels) as f32 / 7.0)
        };
        let mut list = |length: &usize| {
            let own: HashSet<u64> = (0..*length).map(|_| random() % texts).collect();
            own.into_iter().map(of_text).collect()
        };
        lengths.iter().map(&mut list).collect()
    }

    #[test]
    fn the_best_of_lists_are_those_of_one_list() {
        for (case, lengths) in
            [&[900, 900, 20][..], &[50, 40, 3_000, 700], &[0, 5, 1_000], &[2_000, 2_000]].iter().enumerate()
        {
            for (texts, levels) in [(100_000, 1 << 20), (1_500, 1 << 20), (1_500, 40), (100_000, 3)] {
                let all = lists(case as u64 * 7 + texts, lengths, texts, levels);
                let mut one: Vec<(TextHash, f32)> =
                    all.iter().flatten().copied().collect::<HashMap<_, _>>().into_iter().collect();
                one.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                for best in [1, 10, 300, 1_000, 1_400, 5_000] {
                    // A shard keeps its best.
                    let kept: Vec<Vec<(TextHash, f32)>> = all
                        .iter()
                        .map(|list| {
                            let mut list = list.clone();
                            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                            list.truncate(best);
                            list
                        })
                        .collect();
                    let chosen: Vec<ChooseResponse> = kept
                        .iter()
                        .map(|list| ChooseResponse {
                            count: list.len() as u64,
                            outline: ScoreOutline::of(list.iter().map(|text| text.1).collect(), best),
                        })
                        .collect();
                    let expected: HashSet<TextHash> = one.iter().take(best).map(|text| text.0).collect();
                    for in_short in [false, true] {
                        let told = CountingLists { lists: &kept, whole: Cell::new(0) };
                        let found = top_k(&told, &chosen, best, in_short).expect("the best");
                        let is_left = |text: &&(TextHash, f32)| found.bar.is_none_or(|bar| bar.lets(text.1, text.0));
                        let left: HashSet<TextHash> =
                            kept.iter().flatten().filter(is_left).map(|text| text.0).collect();
                        let which =
                            format!("{lengths:?}, {texts} texts, {levels} levels, {best} best, short {in_short}");
                        assert_eq!(left, expected, "{which}");
                        assert_eq!(found.count, expected.len(), "{which}");
                        if in_short && levels == 1 << 20 && texts > 10_000 && best == 1_000 && one.len() > 2 * best {
                            assert!(told.whole.get() < 300, "{} sent whole, {which}", told.whole.get());
                        }
                    }
                }
            }
        }
    }
}
