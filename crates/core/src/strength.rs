//! Strength: how likely a found file is right, 0 to 1, on one scale for all queries and projects.
//!
//! Scores order the files of one query and mean nothing beyond it: the best of a poor lot has the score of the best of a
//! good one. Strength looks at what is comparable (shares of what could be reached at most) and weighs it with a
//! logistic function, fitted by `colgrep-bench strength` on questions asked of their own repository and of another one.

use std::collections::HashMap;

use crate::clue::Certainty;
use crate::collapse::FileHit;
use crate::fuse::Retriever;
use crate::knob::Knobs;
use crate::path::PathClass;
use crate::query::Query;
use crate::rank::{FileFacts, Retrieved};
use crate::unit::{UnitId, UnitRole};

/// Number of signs.
pub const SIGNS: usize = 23;

/// What a file's strength is made of. Shares lie in 0–1.
pub type Signs = [f32; SIGNS];

/// Their names, in order.
pub const NAMES: [&str; SIGNS] = [
    "words: best unit's BM25F of what is possible",
    "words: share of the query's weight that the file holds",
    "words: share of the query's weight that the project knows",
    "words: lead over the file ten ranks below",
    "meaning: best unit's likeness of the question's with itself",
    "meaning: lead over the fiftieth unit",
    "score of the ranking",
    "score relative to the first",
    "rank, natural logarithm",
    "1 where it defines the name that the query is",
    "1 where the query is a name that it does not define",
    "1 where it defines a name inside the query",
    "number of the query's words, natural logarithm",
    "1 for tests, examples, vendored files, prose",
    "words: share of the query's weight that the best unit holds",
    "meaning: lead over the tenth unit",
    "words: strength of the best unit of all",
    "share of the query's topic that the path names",
    "rank by words, natural logarithm",
    "rank by meaning, natural logarithm",
    "files of the project, natural logarithm",
    "doubt",
    "neighbouring words near each other",
];

/// Bias, then a weight for each sign.
type Weights = [f32; SIGNS + 1];

/// Of the ranking by words and meaning. Source of all three: `colgrep-bench strength` over the tuning sets
/// (docs/ranking.md, "Strength").
const BOTH: Weights = [
    -10.072, -2.1918, 0.1371, 1.5319, 1.4871, 1.9359, 5.88, 1.51, 3.1794, -0.5004, -1.8696, -2.772, 0.3518, 0.783,
    -0.4656, 1.7449, 2.1162, 0.8408, 1.8105, -0.0989, -0.1236, -0.1647, 0.7468, 0.5867,
];
/// Of the ranking by words alone.
const WORDS: Weights = [
    -7.7929, -2.5961, 0.1663, 1.8372, 1.8565, 0.0, 0.0, 2.3612, 1.9409, -0.6592, -2.4268, -2.5886, 0.1074, 0.1341,
    -0.1436, 1.3383, 0.0, 0.8683, 0.8053, -0.045, 0.0, -0.2865, 0.0, 0.6539,
];
/// Of the ranking by meaning alone.
const MEANING: Weights = [
    -10.5739, 0.0, 0.3802, 1.6167, 0.0, -0.0414, 8.0657, 1.8839, 2.966, -0.6746, -1.777, -2.5363, 0.4324, 0.6813,
    0.0149, 2.116, 1.3375, -0.8246, 1.1165, 0.0, 0.1217, -0.1428, 1.4523, 0.6121,
];

/// Below it, a file is most likely none of the right ones: people and agents are not shown it unless they ask. It keeps
/// 95 % of the right files among the first three.
pub const FLOOR: f32 = 0.07;
/// Below it, a file is near by meaning at best. Of questions asked of a wrong project, 83 % have nothing above it.
pub const RULE: f32 = 0.2;

/// Strength of a file that holds a name or code which the whole query is.
const HOLDS_THE_TOKEN: f32 = 0.85;
/// The most that a file can have which does not.
const LACKS_THE_TOKEN: f32 = 0.03;

/// The unit that a lead by meaning is measured from: far behind what could be right.
const FAR_UNIT: usize = 50;
/// A unit that is still near.
const NEAR_UNIT: usize = 10;
/// The file that a lead by words is measured from.
const FAR_FILE: usize = 10;
/// Rank of a file that a ranking does not have.
const NO_RANK: usize = 600;

/// Files that are rarely what is looked for.
const ASIDE: PathClass = PathClass::TEST
    .with(PathClass::BENCHMARK)
    .with(PathClass::COMPAT)
    .with(PathClass::EXAMPLE)
    .with(PathClass::VENDORED);

/// What is known of the files that are given, beside what was retrieved.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The query.
    pub query: &'a Query,
    /// The knobs.
    pub knobs: &'a Knobs,
    /// Everything that was retrieved.
    pub retrieved: &'a Retrieved,
    /// The files, best first.
    pub hits: &'a [FileHit],
    /// What each of them holds of the query's words.
    pub held: &'a [Held],
}

/// How much of the query's weight a file holds; weight is inverse document frequency, stop words have none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// Share that all its candidates hold together, 0 to 1.
    pub file: f32,
    /// Share that the best of them holds.
    pub unit: f32,
    /// Whether they hold each word of the query as written.
    pub whole: bool,
}

/// The strength of each file: by what points at it, else by its signs.
pub fn strengths(given: &Given<'_>) -> Vec<f32> {
    let weights = weights(given.retrieved);
    let is_token = is_exact_token(given.query);
    let of_file = |((signs, pointed), held): ((&Signs, Option<f32>), &Held)| match (pointed, is_token) {
        (Some(strength), _) => strength,
        (None, true) if held.whole => HOLDS_THE_TOKEN,
        (None, true) => weighed(weights, signs).min(LACKS_THE_TOKEN),
        (None, false) => weighed(weights, signs),
    };
    signs(given).iter().zip(pointed(given)).zip(given.held).map(of_file).collect()
}

/// Whether a query is one name, code or number that stands somewhere as written or nowhere: `MAX_LEN`, `E0502`, `1.2.3`.
pub fn is_exact_token(query: &Query) -> bool {
    let text = query.text.trim();
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    let capitals = letters().count() >= 2 && letters().all(char::is_uppercase);
    let has_marks = text.contains(|c: char| c == '_' || c.is_ascii_digit() || matches!(c, '.' | '/' | ':' | '#' | '='));
    let is_alone = !text.contains(char::is_whitespace) && !text.ends_with("()");
    is_alone && !query.terms.is_empty() && (capitals || has_marks)
}

/// The weights for the rankings that took part.
fn weights(retrieved: &Retrieved) -> &'static Weights {
    let has = |retriever| retrieved.rankings.iter().any(|r| r.retriever == retriever && !r.hits.is_empty());
    match (has(Retriever::Lexical), has(Retriever::Semantic)) {
        (_, false) => &WORDS,
        (false, true) => &MEANING,
        (true, true) => &BOTH,
    }
}

/// The logistic function of weighed signs.
fn weighed(weights: &Weights, signs: &Signs) -> f32 {
    let sum: f32 = weights[0] + signs.iter().zip(&weights[1..]).map(|(sign, weight)| sign * weight).sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

/// The strength of files that the query points at, which nothing has to be weighed for: at least nine of ten of these
/// were right (`colgrep-bench known`).
pub fn pointed(given: &Given<'_>) -> Vec<Option<f32>> {
    let mut best: HashMap<usize, Certainty> = HashMap::new();
    for candidate in &given.retrieved.candidates {
        if let Some(pointer) = candidate.pointer {
            let known = best.entry(candidate.file).or_insert(pointer.certainty);
            *known = (*known).max(pointer.certainty);
        }
    }
    let strength = |hit: &FileHit| match best.get(&hit.file) {
        Some(Certainty::Location) => Some(0.99),
        Some(Certainty::Exact) => Some(0.98),
        Some(Certainty::Words) => Some(0.95),
        Some(Certainty::Run) => Some(0.9),
        None => (given.retrieved.files[hit.file].mentioned > 0.0).then_some(0.9),
    };
    given.hits.iter().map(strength).collect()
}

/// One ranking, by files.
struct ByFile {
    /// The best score of each file's units.
    best: HashMap<usize, f32>,
    /// The place of each file, from 0; equal scores share one, since their order depends on the index's history.
    ranks: HashMap<usize, usize>,
    /// The score of the file [`FAR_FILE`] places behind the first; 0 where there is none.
    far: f32,
}

impl ByFile {
    fn new(retrieved: &Retrieved, retriever: Retriever) -> ByFile {
        let file_of: HashMap<UnitId, usize> = retrieved.candidates.iter().map(|c| (c.unit, c.file)).collect();
        let mut best: HashMap<usize, f32> = HashMap::new();
        for (unit, score) in retrieved.rankings.iter().filter(|r| r.retriever == retriever).flat_map(|r| &r.hits) {
            if let Some(file) = file_of.get(unit) {
                let known = best.entry(*file).or_insert(*score);
                *known = known.max(*score);
            }
        }
        let mut files: Vec<(usize, f32)> = best.iter().map(|(file, score)| (*file, *score)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        let far = files.get(FAR_FILE).map_or(0.0, |file| file.1);
        let ranks = files.iter().map(|(file, score)| (*file, files.partition_point(|f| f.1 > *score))).collect();
        ByFile { best, ranks, far }
    }

    /// Natural logarithm of a file's place, from 1.
    fn rank(&self, file: usize) -> f32 {
        (1.0 + self.ranks.get(&file).copied().unwrap_or(NO_RANK) as f32).ln()
    }
}

/// The signs of each file.
pub fn signs(given: &Given<'_>) -> Vec<Signs> {
    let Given { query, retrieved, hits, .. } = *given;
    let evidence = &retrieved.evidence;
    let mass = evidence.mass.max(f32::MIN_POSITIVE);
    let (possible, itself) = (mass * (1.0 + given.knobs.k1), evidence.likeness.max(f32::MIN_POSITIVE));
    let words = ByFile::new(retrieved, Retriever::Lexical);
    let meaning = ByFile::new(retrieved, Retriever::Semantic);
    let near = retrieved.rankings.iter().find(|r| r.retriever == Retriever::Semantic).map_or(&[][..], |r| &r.hits);
    let likeness_at = |rank: usize| near.get(rank).or(near.last()).map_or(0.0, |hit| hit.1);
    let (nearer, far) = (likeness_at(NEAR_UNIT), likeness_at(FAR_UNIT));
    let first = hits.first().map_or(1.0, |hit| hit.score).max(f32::MIN_POSITIVE);
    let topic = |has: &dyn Fn(&String) -> bool| -> f32 {
        query.topic_terms.iter().filter(|term| has(term)).map(|term| retrieved.topic_idf(term)).sum()
    };
    let all_topics = topic(&|_| true).max(f32::MIN_POSITIVE);
    let mut all = Vec::with_capacity(hits.len());
    for (rank, (hit, held)) in hits.iter().zip(given.held).enumerate() {
        let file = &retrieved.files[hit.file];
        let by_words = words.best.get(&hit.file).copied().unwrap_or_default();
        let likeness = meaning.best.get(&hit.file).copied().unwrap_or(far);
        let (whole, inside) = defines(query, file);
        all.push([
            share(by_words, possible),
            held.file,
            evidence.known,
            share(by_words - words.far, possible),
            share(likeness, itself),
            share(likeness - far, itself),
            hit.score.clamp(0.0, 4.0),
            share(hit.score, first),
            (1.0 + rank as f32).ln(),
            sign(whole),
            sign(query.is_symbol() && !whole),
            sign(inside),
            (1.0 + evidence.words as f32).ln(),
            sign(file.is_text || file.path_facts.class.has(ASIDE)),
            held.unit,
            ((likeness - nearer) / itself).clamp(-1.0, 1.0),
            evidence.strength,
            share(topic(&|term| file.path_facts.topic_terms.contains(term)), all_topics),
            words.rank(hit.file),
            meaning.rank(hit.file),
            (1.0 + retrieved.files_total as f32).ln(),
            if near.is_empty() { 0.0 } else { evidence.doubt(given.knobs) },
            share(file.near, mass),
        ]);
    }
    all
}

fn share(value: f32, most: f32) -> f32 {
    (value / most).clamp(0.0, 1.0)
}

fn sign(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Whether a file defines the name that the query is, and one that it holds, in its own case.
fn defines(query: &Query, file: &FileFacts) -> (bool, bool) {
    let defined = |whole: bool| {
        file.definitions.iter().any(|d| {
            let is_meant = query.identifiers.get(d.identifier).is_some_and(|name| name.whole_query == whole);
            d.exact_case && d.role == UnitRole::Definition && is_meant
        })
    };
    (defined(true), defined(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::Pointer;
    use crate::collapse::{PerFile, collapse};
    use crate::fuse::{Evidence, Ranking};
    use crate::knob::Profile;
    use crate::rank::Ranked;
    use crate::rank::testing::{Example, query};

    /// The strengths of two files of which the first holds all of the query's words.
    fn of(text: &str, prepare: impl Fn(&mut Example)) -> Vec<f32> {
        let mut example = Example::with_units(&["src/a.rs", "src/b.rs"], &[(0, 0, 1.4), (1, 1, 0.3)]);
        let hits = |scores: [f32; 2]| scores.iter().zip(0..).map(|(s, doc)| (UnitId::new(0, doc), *s)).collect();
        example.retrieved.rankings = vec![
            Ranking { retriever: Retriever::Lexical, hits: hits([20.0, 3.0]) },
            Ranking { retriever: Retriever::Semantic, hits: hits([12.0, 6.0]) },
        ];
        example.retrieved.files_total = 100;
        example.retrieved.evidence = Evidence {
            words: 3,
            known: 1.0,
            mass: 12.0,
            likeness: 20.0,
            strength: 0.6,
            coverage: 1.0,
            ..Evidence::default()
        };
        prepare(&mut example);
        let (knobs, query) = (Knobs::of(Profile::Default), query(text));
        let ranked = Ranked::new(&example.retrieved, &example.fused);
        let hits = collapse(&ranked, 9, PerFile::Units(1));
        let held = [Held { file: 1.0, unit: 1.0, whole: true }, Held { file: 0.2, unit: 0.2, whole: false }];
        let given = Given { query: &query, knobs: &knobs, retrieved: &example.retrieved, hits: &hits, held: &held };
        strengths(&given)
    }

    #[test]
    fn what_holds_the_query_is_strong_and_the_rest_weak() {
        let strengths = of("parse request body", |_| {});
        assert!(strengths[0] > RULE && strengths[1] < FLOOR, "{strengths:?}");
        let unknown = of("parse request body", |example| {
            (example.retrieved.evidence.known, example.retrieved.evidence.strength) = (0.2, 0.1);
            example.retrieved.rankings[0].hits.clear();
        });
        assert!(unknown[0] < strengths[0], "{unknown:?}");
    }

    #[test]
    fn what_is_pointed_at_or_named_is_never_cut() {
        for certainty in [Certainty::Run, Certainty::Words, Certainty::Exact, Certainty::Location] {
            let strengths = of("parse request body", |example| {
                example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 1.0, line: 1 });
            });
            assert!(strengths[1] >= 0.9, "{certainty:?}");
        }
        assert!(of("parse in b.rs", |example| example.retrieved.files[1].mentioned = 1.0)[1] >= 0.9);
    }

    #[test]
    fn an_exact_token_is_held_or_not() {
        for (text, expected) in [
            ("MAX_LEN", true),
            ("MISCONF", true),
            ("E0502", true),
            ("v1.2.3", true),
            ("/api/v1", true),
            ("session", false),
            ("readValue", false),
            ("MAX LEN", false),
            ("run()", false),
        ] {
            assert_eq!(is_exact_token(&query(text)), expected, "{text}");
        }
        let strengths = of("MAX_LEN", |_| {});
        assert_eq!(strengths, [HOLDS_THE_TOKEN, strengths[1].min(LACKS_THE_TOKEN)]);
    }

    #[test]
    fn a_strength_is_a_chance() {
        for text in ["parse", "parse request", "Router"] {
            assert!(of(text, |_| {}).iter().all(|s| (0.0..=1.0).contains(s)), "{text}");
        }
    }
}
