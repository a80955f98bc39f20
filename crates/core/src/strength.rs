//! Strength: how likely a found file is right, 0 to 1, on one scale for all queries and projects. Unlike scores, which
//! order the files of one query, it weighs comparable features with a logistic function, fitted by
//! `colgrep-bench strength`.

use rustc_hash::{FxHashMap, FxHashSet};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::collapse::FileHit;
use crate::fold::folded;
use crate::fuse::Retriever;
use crate::knob::Knobs;
use crate::literal_match::is_whole;
use crate::path::PathClass;
use crate::query::Query;
use crate::query::intents::Certainty;
use crate::rank::{Context, FileFacts, NamedDefinition, Retrieved};
use crate::spelling::{NameFit, Spelling};
use crate::token::words;
use crate::unit::{UnitId, UnitRole};

pub const SIGNS: usize = 24;

/// The inputs of a file's strength. Shares are 0 to 1.
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
    "words: strength of the best unit of all, squared",
];

/// Bias, then a weight for each sign.
type Weights = [f32; SIGNS + 1];

/// Of the ranking by words and meaning. Source of all three: `colgrep-bench strength` over the tuning sets
/// (docs/research/strength.md).
const BOTH: Weights = [
    -11.4578, -1.1109, -0.1177, 0.7931, 1.5068, 1.05, 5.1692, 1.261, 3.3101, -0.5515, -0.6862, -2.2171, 0.4598, 1.1148,
    -0.5439, 1.3576, 3.3057, 8.4022, 1.8855, -0.0431, -0.1102, -0.1679, 1.1399, 0.8558, -6.8834,
];
/// Of a purely lexical ranking.
const WORDS: Weights = [
    -8.5823, -1.5828, -0.0051, 1.0668, 1.9045, 0.0, 0.0, 1.9512, 2.1649, -0.7359, -1.2705, -2.202, 0.1826, 0.4448,
    -0.2385, 0.8787, 0.0, 6.9494, 1.0289, -0.01, 0.0, -0.2812, 0.0, 0.8925, -5.8686,
];
/// Of a purely semantic ranking.
const MEANING: Weights = [
    -11.5714, 0.0, 0.0385, 0.946, 0.0, -0.4623, 6.5969, 1.5652, 3.3051, -0.708, -0.5998, -2.0514, 0.5691, 0.9648,
    -0.0577, 1.9655, 3.1332, 5.8982, 1.3019, 0.0, 0.1113, -0.1428, 1.6084, 0.9271, -5.6351,
];

/// Files below it are most likely wrong and are shown only on request. 99 % of the right files among the first three
/// are above it (docs/ranking.md, "Strength").
pub const FLOOR: f32 = 0.03;
/// Files below it are related at best. Of questions asked of a wrong project, 82 % have no file above it; of the right
/// files among the first three, 88 % are above it.
pub const RULE: f32 = 0.17;

/// Strength of a file that contains all tokens of a query of tokens only.
const HOLDS_THE_TOKEN: f32 = 0.85;
/// The same if it contains some of them, one inside something longer, or one in another spelling.
const HOLDS_A_PART: f32 = 0.5;
/// The same if it contains a token inside another word, and no file has more.
const HOLDS_INSIDE: f32 = 0.3;
/// Maximum strength of a file without any token.
const LACKS_THE_TOKEN: f32 = 0.02;

/// The unit from which a semantic lead is measured: far below any right one.
const FAR_UNIT: usize = 50;
/// The unit that counts as near.
const NEAR_UNIT: usize = 10;
/// The file from which a lexical lead is measured.
const FAR_FILE: usize = 10;
/// Rank of a file missing from a ranking.
const NO_RANK: usize = 600;

/// What is known of the given files besides the candidates.
#[derive(Clone, Copy, Debug)]
pub struct GivenFiles<'a> {
    pub query: &'a Query,
    pub knobs: &'a Knobs,
    /// The candidates and facts about them.
    pub retrieved: &'a Retrieved,
    /// The files, best first.
    pub hits: &'a [FileHit],
    /// Which of the query's words each of them contains.
    pub held: &'a [HeldWeight],
}

/// How much of the query's weight a file contains; weight is inverse document frequency, and stop words have none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldWeight {
    /// Share that all its candidates contain together, 0 to 1.
    pub file: f32,
    /// Share that the best of them contains.
    pub unit: f32,
    /// Which of the query's tokens its text contains, if the query is tokens only.
    pub tokens: Tokens,
}

/// How much of a query's tokens a file contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tokens {
    #[default]
    Nothing,
    /// One inside another word, in any case: `MISCONF` in `misconfigured`.
    Inside,
    /// One of several, one as a part of something longer, or the same name in another spelling.
    Part,
    /// Each of them as written, ignoring case.
    All,
}

impl Tokens {
    /// What a file at `path` with this text contains of `tokens`. Its path counts: `app.routing.base` is
    /// `app/routing/base.py`.
    pub fn held(path: &str, text: &str, tokens: &[String]) -> Tokens {
        let (written, path, lower) = (path, folded(path), folded(text));
        let of_token = |typed: &String| {
            let token = folded(typed).into_owned();
            let folders = token.replace("::", "/").replace(['.', '\\'], "/");
            let in_path = [&token, &folders].map(|way| Tokens::one_held(&path, way));
            // A part of a path is hardly more than a word, and `MISCONF` is not part of `misconfigured`.
            let is_held = in_path.contains(&Tokens::All) || Tokens::one_held(&lower, &token) == Tokens::All;
            let held = if is_held { Tokens::All } else { Tokens::one_held(text, typed) };
            if held > Tokens::Nothing { held } else { Tokens::spelled(written, text, typed) }
        };
        let held: Vec<Tokens> = tokens.iter().map(of_token).collect();
        match held.iter().min() {
            Some(Tokens::All) => Tokens::All,
            _ => held.into_iter().max().unwrap_or_default().min(Tokens::Part),
        }
    }

    /// Whether the file contains a token in another spelling, or inside a word.
    fn spelled(path: &str, text: &str, token: &str) -> Tokens {
        let spelling = Spelling::new(token);
        // A match inside a word of the path is no evidence.
        if spelling.find(path).is_some_and(|found| found.is_cut) {
            return Tokens::Part;
        }
        let mut held = Tokens::Nothing;
        spelling.each(text, |_, form, fit| {
            // A dot may be the access to a member.
            let is_inside = fit == NameFit::Inside || (fit == NameFit::Apart && form.contains(['.', '/']));
            held = held.max(if is_inside { Tokens::Inside } else { Tokens::Part });
            held < Tokens::Part
        });
        held
    }

    fn one_held(text: &str, token: &str) -> Tokens {
        let (mut starts, mut held) = (memmem::find_iter(text.as_bytes(), token.as_bytes()), Tokens::Nothing);
        while let (true, Some(at)) = (held < Tokens::All, starts.next()) {
            held = if is_whole(text, at..at + token.len()) { Tokens::All } else { Tokens::Part };
        }
        held
    }
}

pub fn strengths(given: &GivenFiles<'_>) -> Vec<f32> {
    let weights = weights(given.retrieved);
    let known = known(given);
    signs(given).iter().zip(known).map(|(signs, known)| known.applied(|| weighed(weights, signs))).collect()
}

/// What is known about a file's strength without the fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum KnownStrength {
    /// Exactly this: the query points at the file, or the file contains the query's tokens.
    Is(f32),
    AtMost(f32),
    AtLeast(f32),
    Nothing,
}

impl KnownStrength {
    /// The strength, given the fitted one.
    pub fn applied<T: From<f32> + PartialOrd>(self, weighed: impl FnOnce() -> T) -> T {
        let least = |a: T, b: T| if b < a { b } else { a };
        let most = |a: T, b: T| if b > a { b } else { a };
        match self {
            KnownStrength::Is(strength) => strength.into(),
            KnownStrength::AtMost(strength) => least(weighed(), strength.into()),
            KnownStrength::AtLeast(strength) => most(weighed(), strength.into()),
            KnownStrength::Nothing => weighed(),
        }
    }
}

/// What is known of each file: what the query points at, and what its tokens decide. Never below the floor are a file
/// that contains any of the query's words, and one related to the reader's current file; never below the rule is one that defines the name that the query is, in any case. No file is below the floor for a
/// long query, of which every file contains little.
pub fn known(given: &GivenFiles<'_>) -> Vec<KnownStrength> {
    let (by_tokens, is_long) = (by_tokens(given), given.query.long.is_some());
    let most = given.held.iter().map(|held| held.tokens).max().unwrap_or_default();
    // A name in another spelling may share no term with the query.
    let with_name = given.retrieved.candidates.iter().filter(|candidate| candidate.fit > NameFit::Inside);
    let with_name: FxHashSet<usize> = with_name.map(|candidate| candidate.file).collect();
    let of_hit = |((pointed, held), hit): ((Option<f32>, &HeldWeight), &FileHit)| match (pointed, held.tokens) {
        (Some(strength), _) => KnownStrength::Is(strength),
        (None, Tokens::All) if by_tokens => KnownStrength::Is(HOLDS_THE_TOKEN),
        (None, Tokens::Part) if by_tokens => KnownStrength::Is(HOLDS_A_PART),
        (None, Tokens::Inside) if by_tokens && most == Tokens::Inside => KnownStrength::Is(HOLDS_INSIDE),
        // A token such as `Session.get` may be defined as `get`.
        _ if by_tokens && defines(given.query, &given.retrieved.files[hit.file]).0 => KnownStrength::Is(HOLDS_A_PART),
        _ if is_long || given.retrieved.files[hit.file].context != Context::default() => KnownStrength::AtLeast(FLOOR),
        _ if by_tokens || given.retrieved.lacks_name => KnownStrength::AtMost(LACKS_THE_TOKEN),
        // People type capitals on purpose.
        _ if is_called(given.query, &given.retrieved.files[hit.file]) => KnownStrength::AtLeast(RULE),
        _ if held.file > 0.0 || with_name.contains(&hit.file) => KnownStrength::AtLeast(FLOOR),
        _ => KnownStrength::Nothing,
    };
    pointed(given).into_iter().zip(given.held).zip(given.hits).map(of_hit).collect()
}

/// Whether tokens decide: a purely semantic search does not ask for files that contain them.
fn by_tokens(given: &GivenFiles<'_>) -> bool {
    given.query.intents.is_tokens && has(given.retrieved, Retriever::Lexical)
}

/// Whether a ranking took part.
fn has(retrieved: &Retrieved, retriever: Retriever) -> bool {
    retrieved.ranking(retriever).is_some()
}

/// The weights for the rankings that took part.
fn weights(retrieved: &Retrieved) -> &'static Weights {
    let has_meaning = retrieved.ranking(Retriever::Semantic).is_some_and(|ranking| !ranking.hits.is_empty());
    match (has(retrieved, Retriever::Lexical), has_meaning) {
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

/// The strength of files that the query points at, which needs no fit: at least nine of ten of them were right
/// (`colgrep-bench known`), fewer where files share a name.
pub fn pointed(given: &GivenFiles<'_>) -> Vec<Option<f32>> {
    let mut best: FxHashMap<usize, Certainty> = FxHashMap::default();
    for candidate in &given.retrieved.candidates {
        if let Some(pointer) = candidate.pointer {
            let known = best.entry(candidate.file).or_insert(pointer.certainty);
            *known = (*known).max(pointer.certainty);
        }
    }
    let by_tokens = by_tokens(given);
    let strength = |(hit, held): (&FileHit, &HeldWeight)| match best.get(&hit.file) {
        Some(Certainty::Words) if by_tokens && held.tokens < Tokens::Part => of_other_marks(&given.query.text),
        Some(Certainty::Run) if by_tokens && held.tokens < Tokens::Part => None,
        Some(Certainty::Part) => Some(HOLDS_A_PART),
        Some(Certainty::Location) => Some(0.99),
        Some(Certainty::Exact) => Some(0.98),
        Some(Certainty::Words) => Some(0.95),
        Some(Certainty::Run) => Some(0.9),
        None => {
            let share = given.retrieved.files[hit.file].mentioned;
            (share > 0.0).then_some((0.9 * share).max(FLOOR))
        }
    };
    given.hits.iter().zip(given.held).map(strength).collect()
}

/// The strength of a place with the words of the tokens in a row and other marks between them. Code stays the same with
/// other quotes and spaces; a name does not, and `[1, 2, 3]` is not `1.2.3`.
fn of_other_marks(tokens: &str) -> Option<f32> {
    let is_code = tokens.contains(['(', ')', '[', ']', '{', '}', '=', ';', ',', '"', '\'', '`']);
    let of_letters = words(tokens).filter(|word| tokens[word.clone()].contains(char::is_alphabetic)).count();
    (of_letters >= 2).then_some(if is_code { 0.95 } else { HOLDS_A_PART })
}

/// One ranking, by files.
struct ByFile {
    /// The best score of each file's units.
    best: FxHashMap<usize, f32>,
    /// The place of each file, from 0; ties share one, since their order depends on the index's history.
    ranks: FxHashMap<usize, usize>,
    /// The score of the file [`FAR_FILE`] places after the first; 0 if there is none.
    far: f32,
}

impl ByFile {
    fn new(retrieved: &Retrieved, retriever: Retriever) -> ByFile {
        let file_of: FxHashMap<UnitId, usize> = retrieved.candidates.iter().map(|c| (c.unit, c.file)).collect();
        let mut best: FxHashMap<usize, f32> = FxHashMap::default();
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

pub fn signs(given: &GivenFiles<'_>) -> Vec<Signs> {
    let GivenFiles { query, retrieved, hits, .. } = *given;
    let evidence = &retrieved.evidence;
    let mass = evidence.mass.max(f32::MIN_POSITIVE);
    let (possible, itself) = (mass * (1.0 + given.knobs.k1), evidence.likeness.max(f32::MIN_POSITIVE));
    let words = ByFile::new(retrieved, Retriever::Lexical);
    let meaning = ByFile::new(retrieved, Retriever::Semantic);
    let near = retrieved.ranking(Retriever::Semantic).map_or(&[][..], |ranking| &ranking.hits);
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
            sign(file.is_text || file.path_facts.class.has(PathClass::ASIDE)),
            held.unit,
            ((likeness - nearer) / itself).clamp(-1.0, 1.0),
            evidence.strength,
            share(topic(&|term| file.path_facts.topic_terms.contains(term)), all_topics),
            words.rank(hit.file),
            meaning.rank(hit.file),
            (1.0 + retrieved.files_total as f32).ln(),
            if near.is_empty() { 0.0 } else { evidence.doubt(given.knobs) },
            share(file.near, mass),
            evidence.strength * evidence.strength,
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

/// Whether a file defines, in its own case, the name that is the whole query, and a name in the query.
fn defines(query: &Query, file: &FileFacts) -> (bool, bool) {
    let defined = |whole: bool| has_definition(query, file, |d, is_whole| d.exact_case && is_whole == whole);
    (defined(true), defined(false))
}

/// Whether a file defines the name that is the whole query, ignoring case.
fn is_called(query: &Query, file: &FileFacts) -> bool {
    has_definition(query, file, |_, is_whole| is_whole)
}

/// Whether a file defines a name of the query that satisfies `is_meant`, whose second argument says whether the name is
/// the whole query.
fn has_definition(query: &Query, file: &FileFacts, is_meant: impl Fn(&NamedDefinition, bool) -> bool) -> bool {
    file.definitions.iter().filter(|defined| defined.role == UnitRole::Definition).any(|defined| {
        query.identifiers.get(defined.identifier).is_some_and(|name| is_meant(defined, name.whole_query))
    })
}

#[cfg(test)]
mod tests;
