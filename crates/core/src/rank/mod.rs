//! The ranking pipeline: an ordered list of stages over one pool of candidates.
//!
//! A stage is a file here and a line in [`STAGES`]. It reads the query, the knobs and the facts in the
//! pool, and changes scores; the runner alone sorts, checks that scores stay finite, and records
//! what every stage did. Boosts are in shares of the best possible base score, which is 1.

pub mod coherence;
pub mod definition;
pub mod depth;
pub mod exact_definition;
pub mod folder;
pub mod multi_unit;
pub mod path_penalty;
pub mod proximity;
pub mod sibling;
pub mod stem;
pub mod stem_share;

use std::collections::HashMap;
use std::sync::Arc;

use crate::bm25;
use crate::fuse::{self, Evidence, Fusion, Ranking, SEMANTIC, SEMANTIC_DEPTH};
use crate::knob::{Knob, Knobs, Shape};
use crate::path::PathFacts;
use crate::query::Query;
use crate::unit::{UnitId, UnitKind, UnitRole};

/// One step of the ranking.
pub struct Stage {
    /// Its name; the trace shows the pool behind it as `after_<name>`.
    pub name: &'static str,
    /// What it does and why, in a sentence.
    pub doc: &'static str,
    /// Where the idea comes from.
    pub source: &'static str,
    /// The constants it reads.
    pub knobs: &'static [&'static Knob],
    /// Whether what it adds counts only as far as the query's words are trusted. Where they are not, the order is one
    /// of meaning, whose scores lie close together: a boost by words would mislead, and any other decide alone.
    pub doubted: bool,
    /// Changes the pool's scores; the candidates keep their order.
    pub apply: fn(&Query, &Knobs, &mut Pool),
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stage({})", self.name)
    }
}

/// Every stage, in the order in which they run. The published pipeline's stages keep its order.
pub static STAGES: &[Stage] = &[
    multi_unit::STAGE,
    path_penalty::EARLY,
    stem::STAGE,
    definition::STAGE,
    coherence::STAGE,
    stem_share::STAGE,
    exact_definition::STAGE,
    proximity::STAGE,
    folder::STAGE,
    depth::STAGE,
    sibling::STAGE,
    path_penalty::LATE,
];

/// How many units each retriever brings.
pub static POOL_UNITS: Knob = Knob {
    env: "COLGREP_POOL_UNITS",
    doc: "Units that each retriever brings into the pool.",
    default: 600.0,
    classic: 100.0,
    shape: Shape::Whole,
    range: (10.0, 10_000.0),
    grid: &[100.0, 300.0, 600.0, 1000.0],
    source: "default: prototype; classic: ColGREP, pull request 99",
};

/// How many files beyond the retrieved units may enter by their names or by what they define.
pub static POOL_NAMED_FILES: Knob = Knob {
    env: "COLGREP_POOL_NAMED_FILES",
    doc: "Files that enter the pool by their name or by a definition in them, whatever rank their units have.",
    default: 100.0,
    classic: 0.0,
    shape: Shape::Whole,
    range: (0.0, 10_000.0),
    grid: &[0.0, 30.0, 100.0, 300.0],
    source: "prototype: recall of the first 30 files .983 without them",
};

/// How many units get their full semantic score.
pub static EXACT_UNITS: Knob = Knob {
    env: "COLGREP_EXACT_UNITS",
    doc: "Units whose text is encoded again for their full semantic score, the nearest by what the index keeps; for models that are light enough.",
    default: 128.0,
    classic: 256.0,
    shape: Shape::Whole,
    range: (0.0, 10_000.0),
    grid: &[0.0, 30.0, 50.0, 100.0, 200.0, 400.0],
    source: "docs/ranking.md: full scores for the nearest",
};

/// Every knob, in pipeline order.
pub fn knobs() -> Vec<&'static Knob> {
    let mut all = vec![&POOL_UNITS, &POOL_NAMED_FILES, &EXACT_UNITS];
    all.extend(bm25::KNOBS.iter().chain(fuse::KNOBS));
    for stage in STAGES {
        for knob in stage.knobs {
            if !all.iter().any(|k| std::ptr::eq(*k, *knob)) {
                all.push(knob);
            }
        }
    }
    all
}

/// One unit on its way through the pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The unit.
    pub unit: UnitId,
    /// Its file: a position in [`Pool::files`].
    pub file: usize,
    /// What it is.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// Whether a content term of the query stands in its name.
    pub name_hit: bool,
    /// Its score so far.
    pub score: f32,
}

impl Candidate {
    /// Orders units of one file that have equal scores.
    pub fn place(&self) -> (u32, UnitId) {
        (self.line, self.unit)
    }
}

/// A definition of a name that the query holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDefinition {
    /// Which of [`Query::identifiers`].
    pub identifier: usize,
    /// The unit that defines it.
    pub unit: UnitId,
    /// What defines it.
    pub kind: UnitKind,
    /// How it stands to what it names.
    pub role: UnitRole,
    /// Whether upper and lower case agree too.
    pub exact_case: bool,
}

/// What is known of a file in the pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFacts {
    /// Relative path, `/` between components.
    pub path: String,
    /// What the path tells.
    pub facts: PathFacts,
    /// Whether it is prose, configuration or data rather than code.
    pub is_text: bool,
    /// Definitions of names that the query holds.
    pub definitions: Vec<NamedDefinition>,
    /// Identifiers of the query that the text defines as types in ways no grammar needs to understand.
    pub textual_types: Vec<usize>,
    /// The highest 1/√n among plain words of the query that name one of n definitions, one of them here.
    pub word_definitions: f32,
    /// Σ idf · tf / (tf + 1.2) over neighbouring query terms that stand within 8 tokens here.
    pub near: f32,
    /// The same for terms that stand side by side in the query's order.
    pub adjacent: f32,
    /// Score behind the multi-unit stage.
    pub base: f32,
}

/// The candidates of one query and what is known of their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// The units.
    pub candidates: Vec<Candidate>,
    /// Their files.
    pub files: Vec<FileFacts>,
    /// Number of files in the index.
    pub files_total: u64,
    /// In how many files' topics a term stands (terms of the pool's topics and of the query).
    pub topic_frequency: HashMap<String, u64>,
    /// The retrievers' rankings of the units, before they are fused.
    pub rankings: Vec<Ranking>,
    /// What decides the retrievers' weights.
    pub evidence: Evidence,
    /// Share that is taken off what stages give by words: 0 where the words are trusted, or are all there is.
    pub doubt: f32,
    /// What stages keep of the query and the files, see [`Pool::once`].
    pub kept: Kept,
}

/// What stages keep of a query and a pool's files, by the stage and which of its variants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept(Vec<(KeptKey, Arc<[f32]>)>);

type KeptKey = (&'static str, usize);

impl Pool {
    /// What `work_out` makes of the pool, worked out once. It may look at what no knob and no stage changes: files and
    /// their facts, all but their base. So several settings over one pool share what it costs.
    pub fn once(&mut self, key: KeptKey, work_out: impl FnOnce(&Pool) -> Vec<f32>) -> Arc<[f32]> {
        if let Some((_, kept)) = self.kept.0.iter().find(|(k, _)| *k == key) {
            return Arc::clone(kept);
        }
        let kept: Arc<[f32]> = work_out(self).into();
        self.kept.0.push((key, Arc::clone(&kept)));
        kept
    }

    /// Gives every candidate the score of the fused rankings, and leaves the pool sorted.
    pub fn fuse(&mut self, method: Fusion, knobs: &Knobs) {
        self.fuse_in_place(method, knobs);
        self.sort();
    }

    /// Gives every candidate the score of the fused rankings. The semantic ranking weighs what
    /// [`Evidence::semantic_weight`] says, the lexical one the rest; alone, a ranking weighs all.
    pub fn fuse_in_place(&mut self, method: Fusion, knobs: &Knobs) {
        let alone = self.rankings.len() == 1;
        let semantic = if alone { 0.5 } else { self.evidence.semantic_weight(knobs) };
        self.doubt = 0.0;
        for ranking in &mut self.rankings {
            ranking.weight = if ranking.name == SEMANTIC { semantic } else { 1.0 - semantic };
            if ranking.name == SEMANTIC {
                ranking.floor = ranking.hits.get(knobs.whole(&SEMANTIC_DEPTH) - 1).map(|h| h.1);
                self.doubt = self.evidence.doubt(knobs);
            }
        }
        let fused = fuse::fuse(&self.rankings, method, knobs);
        for candidate in &mut self.candidates {
            candidate.score = fused.get(&candidate.unit).copied().unwrap_or(0.0);
        }
    }

    /// Takes the doubted share off what a stage changed.
    fn take_back(&mut self, before: &[f32]) {
        for (candidate, old) in self.candidates.iter_mut().zip(before) {
            candidate.score += self.doubt * (old - candidate.score);
        }
    }

    /// Adds `boost(file)` to every candidate of each file.
    pub fn add_per_file(&mut self, boost: impl Fn(&FileFacts) -> f32) {
        let boosts: Vec<f32> = self.files.iter().map(boost).collect();
        for candidate in &mut self.candidates {
            candidate.score += boosts[candidate.file];
        }
    }

    /// Multiplies every candidate's score by its file's factor.
    pub fn scale_per_file(&mut self, factor: impl Fn(&FileFacts) -> f32) {
        let factors: Vec<f32> = self.files.iter().map(factor).collect();
        for candidate in &mut self.candidates {
            candidate.score *= factors[candidate.file];
        }
    }

    /// `value(file)` scaled so that the pool's lowest is 0 and its highest 1; all 0 where they are equal.
    pub fn relative_per_file(&self, value: impl Fn(&FileFacts) -> f32) -> Vec<f32> {
        let values: Vec<f32> = self.files.iter().map(value).collect();
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = high - low;
        values.iter().map(|v| if range > 1e-9 { (v - low) / range } else { 0.0 }).collect()
    }

    /// Adds to every candidate what its file's `N` signals give together, each times its weight. `signals` holds those
    /// of the first file, then those of the next.
    pub fn add_signals<const N: usize>(&mut self, signals: &[f32], weights: [f32; N]) {
        let boost = |file: &[f32]| file.iter().zip(weights).map(|(signal, weight)| weight * signal).sum();
        let boosts: Vec<f32> = signals.chunks_exact(N).map(boost).collect();
        for candidate in &mut self.candidates {
            candidate.score += boosts[candidate.file];
        }
    }

    /// Inverse document frequency of a topic term over files.
    pub fn topic_idf(&self, term: &str) -> f32 {
        bm25::idf(self.files_total, self.topic_frequency.get(term).copied().unwrap_or(0))
    }

    /// Best first; ties by path, then line, then key.
    pub fn sort(&mut self) {
        let files = &self.files;
        self.candidates.sort_by(|a, b| {
            let by_path = || files[a.file].path.cmp(&files[b.file].path);
            b.score.total_cmp(&a.score).then_with(by_path).then_with(|| a.place().cmp(&b.place()))
        });
    }
}

/// Watches the pipeline: called with a step's name and the sorted pool behind it.
pub type Observer<'a> = dyn FnMut(&'static str, &Pool) + 'a;

/// Runs every stage over the pool and leaves it sorted.
pub fn run(query: &Query, knobs: &Knobs, pool: &mut Pool, mut observer: Option<&mut Observer<'_>>) {
    for stage in STAGES {
        apply(stage, query, knobs, pool);
        if let Some(observer) = &mut observer {
            pool.sort();
            observer(stage.name, pool);
        }
    }
    pool.sort();
}

/// Runs one stage over the pool. The candidates keep their order: scores saved behind a stage can be put back, to run
/// the later ones under other settings.
pub fn apply(stage: &Stage, query: &Query, knobs: &Knobs, pool: &mut Pool) {
    let doubted = stage.doubted && pool.doubt > 0.0;
    let before: Option<Vec<f32>> = doubted.then(|| pool.candidates.iter().map(|c| c.score).collect());
    (stage.apply)(query, knobs, pool);
    if let Some(before) = before {
        pool.take_back(&before);
    }
    for candidate in &mut pool.candidates {
        debug_assert!(candidate.score.is_finite(), "{} gave {candidate:?}", stage.name);
        if !candidate.score.is_finite() {
            candidate.score = 0.0;
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! A pool from a few words, for the stages' tables of examples.

    use super::*;
    use crate::knob::Profile;
    use crate::language::LanguageFacts;
    use crate::token::Tokenizer;

    /// A pool with one function unit of score 0.5 in each of `paths`.
    pub(crate) fn pool(paths: &[&str]) -> Pool {
        let mut tokenizer = Tokenizer::default();
        let mut pool = Pool { files_total: 1000, ..Pool::default() };
        for (i, path) in paths.iter().enumerate() {
            let facts = PathFacts::new(path, &LanguageFacts::sample(), &mut tokenizer);
            for term in &facts.topic_terms {
                *pool.topic_frequency.entry(term.clone()).or_default() += 1;
            }
            pool.files.push(FileFacts { path: (*path).to_string(), facts, ..FileFacts::default() });
            pool.candidates.push(candidate(i as u32, i, 0.5));
        }
        pool
    }

    pub(crate) fn candidate(doc: u32, file: usize, score: f32) -> Candidate {
        let unit = UnitId::new(0, doc);
        Candidate { unit, file, kind: UnitKind::Function, role: UnitRole::Definition, line: 1, name_hit: false, score }
    }

    pub(crate) fn query(text: &str) -> Query {
        Query::new(text, "/src/project", &LanguageFacts::sample(), &mut Tokenizer::default())
    }

    /// The default profile with some knobs set.
    pub(crate) fn knobs(set: &[(&Knob, &str)]) -> Knobs {
        let mut values = Knobs::of(Profile::Default);
        for (knob, value) in set {
            values.set(&super::knobs(), knob.env, value).expect("a knob and its value");
        }
        values
    }

    /// Applies `stage` and gives what it added to each candidate, in hundredths.
    pub(crate) fn added(stage: &Stage, query: &Query, knobs: &Knobs, pool: &mut Pool) -> Vec<i32> {
        let before: Vec<f32> = pool.candidates.iter().map(|c| c.score).collect();
        (stage.apply)(query, knobs, pool);
        pool.candidates.iter().zip(before).map(|(c, b)| ((c.score - b) * 100.0).round() as i32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::Profile;

    #[test]
    fn every_knob_is_declared_well() {
        let all = knobs();
        for (i, knob) in all.iter().enumerate() {
            assert!(knob.env.starts_with("COLGREP_"), "{}", knob.env);
            assert!(knob.doc.ends_with('.') && !knob.source.is_empty(), "{}: say what and whence", knob.env);
            assert!(!all[..i].iter().any(|k| k.env == knob.env), "{} twice", knob.env);
            for value in knob.grid.iter().chain([&knob.default, &knob.classic]) {
                assert!(knob.parse(&value.to_string()).is_ok(), "{} = {value} is out of its own range", knob.env);
            }
            assert!(!knob.grid.is_empty(), "{} has no grid", knob.env);
        }
        for stage in STAGES {
            assert!(stage.doc.ends_with('.') && !stage.source.is_empty() && !stage.knobs.is_empty(), "{}", stage.name);
        }
    }

    #[test]
    fn stages_leave_the_order_alone_and_give_the_same_when_they_come_again() {
        let query = testing::query("parse http request");
        for profile in Profile::ALL {
            for stage in STAGES {
                let mut pool = testing::pool(&["src/http/request.rs", "src/parse.rs", "tests/parse.rs", "parse.md"]);
                for i in 4..12 {
                    pool.candidates.push(testing::candidate(i, i as usize % 4, (i * 7 % 11) as f32 / 11.0));
                }
                let first = pool.candidates.clone();
                let units = |pool: &Pool| pool.candidates.iter().map(|c| c.unit).collect::<Vec<_>>();
                let before = units(&pool);
                apply(stage, &query, &Knobs::of(profile), &mut pool);
                assert_eq!(units(&pool), before, "{}", stage.name);
                let once = std::mem::replace(&mut pool.candidates, first);
                apply(stage, &query, &Knobs::of(profile), &mut pool);
                assert_eq!(pool.candidates, once, "{}", stage.name);
            }
        }
    }

    #[test]
    fn an_empty_pool_passes_through() {
        let mut pool = Pool::default();
        run(&testing::query("parse request"), &testing::knobs(&[]), &mut pool, None);
        assert_eq!(pool.candidates.len(), 0);
    }

    #[test]
    fn equal_scores_are_ordered_by_path_and_line() {
        let mut pool = testing::pool(&["b.rs", "a.rs"]);
        pool.candidates.push(Candidate { line: 9, ..testing::candidate(0, 1, 0.5) });
        pool.sort();
        let order: Vec<(usize, u32)> = pool.candidates.iter().map(|c| (c.file, c.line)).collect();
        assert_eq!(order, [(1, 1), (1, 9), (0, 1)]);
    }
}
