//! `parsers`: mutated sources of every language, each parsed in a worker process. Workers may crash or run out of time;
//! this process may not, and innocent texts in between keep their units.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_syntax::language::{self, Language};
use colgrep_syntax::parse::{CRASHED, PANICKED, parse_in_process};
use colgrep_syntax::worker::{WorkerPool, this_program};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use tree_sitter::{Node, Parser};

use super::bombs::{Bomb, mutate, samples};
use super::{Tally, TortureArgs, case_seed, go_through};

/// Lengths that mutated texts have at most, in bytes, each after its weight. Long texts find what costs time and memory,
/// short ones what a parser does wrong: a thousand of them take as long as a long one.
const LENGTHS: [(u32, usize); 3] = [(1, 400_000), (255, 1_500), (3_840, 240)];
/// Inputs of a case; workers parse them side by side.
const BATCH: usize = 64;
/// What the notes of texts that took too long begin with.
const TOO_SLOW: &str = "took too long";

/// A sample of a language with the places of the nodes of its syntax tree.
struct ParsedSample {
    name: String,
    language: &'static Language,
    text: String,
    /// Each named node with its parent.
    nodes: Vec<(Range<usize>, Range<usize>)>,
}

impl ParsedSample {
    fn all(files: &[(String, Vec<u8>)]) -> Result<Vec<ParsedSample>> {
        let source = |(name, bytes): &(String, Vec<u8>)| {
            let (language, text) = (language::of_file(name, bytes), String::from_utf8(bytes.clone())?);
            let mut nodes = Vec::new();
            if let Some(grammar) = language.grammar {
                let mut parser = Parser::new();
                parser.set_language(&grammar())?;
                let tree = parser.parse(&text, None).context("a sample that is parsed")?;
                add_nodes(tree.root_node(), &mut nodes);
                let is_whole = |range: &Range<usize>| text.get(range.clone()).is_some();
                nodes.retain(|(inner, outer)| is_whole(inner) && is_whole(outer));
            }
            Ok(ParsedSample { name: name.clone(), language, text, nodes })
        };
        files.iter().map(source).collect()
    }

    /// The whole text if it is short enough, or else that of a node that is, or the beginning of one.
    fn part(&self, bytes_max: usize, random: &mut StdRng) -> &str {
        if self.text.len() <= bytes_max {
            return &self.text;
        }
        let mut drawn = (0..4).map(|_| self.node(random).0);
        let node = drawn.find(|node| node.len() <= bytes_max).unwrap_or(&self.text);
        &node[..node.floor_char_boundary(bytes_max)]
    }

    /// The text of a node drawn by chance, and where a node inside it is. The whole text, where there is no tree.
    fn node(&self, random: &mut StdRng) -> (&str, Range<usize>) {
        let Some((inner, outer)) = self.nodes.choose(random) else { return (&self.text, 0..self.text.len()) };
        (&self.text[outer.clone()], inner.start - outer.start..inner.end - outer.start)
    }
}

fn add_nodes(node: Node<'_>, nodes: &mut Vec<(Range<usize>, Range<usize>)>) {
    for child in (0..node.child_count()).filter_map(|i| node.child(i)) {
        if child.is_named() {
            nodes.push((child.byte_range(), node.byte_range()));
        }
        add_nodes(child, nodes);
    }
}

/// What became of the texts of one language.
#[derive(Debug, Default)]
struct ParserOutcome {
    texts: u64,
    crashes: u64,
    too_slow: u64,
    seconds: f64,
}

struct MutatedText {
    name: String,
    language: &'static Language,
    text: String,
}

impl MutatedText {
    /// A text of `bytes_max` bytes at most.
    fn draw(
        sources: &[ParsedSample],
        files: &[(String, Vec<u8>)],
        bombs: &[Bomb],
        bytes_max: usize,
        random: &mut StdRng,
    ) -> MutatedText {
        let source = &sources[random.random_range(0..sources.len())];
        let mut text = source.part(bytes_max, random).to_string();
        for _ in 0..random.random_range(1..6) {
            match random.random_range(0..3) {
                0 => {
                    let mut bytes = text.into_bytes();
                    mutate(&mut bytes, files, bombs, random);
                    text = String::from_utf8_lossy(&bytes).into_owned();
                }
                _ => mutate_nodes(&mut text, source, sources, bytes_max / 4, random),
            }
            text.truncate(text.floor_char_boundary(bytes_max));
        }
        MutatedText { name: source.name.clone(), language: source.language, text }
    }
}

fn drawn_length(random: &mut StdRng) -> usize {
    LENGTHS.choose_weighted(random, |(weight, _)| *weight).map_or(0, |(_, bytes)| *bytes)
}

pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let (files, bombs) = (samples(), Bomb::all()?);
    let sources = ParsedSample::all(&files)?;
    let pool = WorkerPool::new(this_program().context("the path of this program")?);
    let mut outcomes: BTreeMap<&'static str, ParserOutcome> = BTreeMap::new();
    let mut crashed: Vec<String> = Vec::new();
    let batches = (0..args.cases.div_ceil(BATCH) as u64).collect();
    let part = "parsers, 64 mutated texts a case";
    let mut tally = go_through(args, part, batches, |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        // The last batch may be smaller.
        let count = BATCH.min(args.cases - *case as usize * BATCH);
        let texts: Vec<MutatedText> = (0..count)
            .map(|at| {
                // Even a short run tries one long text.
                let is_first = at == 0 && outcomes.is_empty();
                let bytes_max = if is_first { LENGTHS[0].1 } else { drawn_length(&mut random) };
                MutatedText::draw(&sources, &files, &bombs, bytes_max, &mut random)
            })
            .collect();
        let parsed = |MutatedText { language, text, .. }: &MutatedText| {
            let began = Instant::now();
            (pool.parse(text, language).note.unwrap_or_default(), began.elapsed().as_secs_f64())
        };
        let found: Vec<(String, f64)> = texts.par_iter().map(parsed).collect();
        let mut failures = Vec::new();
        for (MutatedText { name, language, text }, (note, seconds)) in texts.iter().zip(found) {
            let outcome = outcomes.entry(language.name).or_default();
            outcome.seconds = outcome.seconds.max(seconds);
            outcome.texts += 1;
            let told = || format!("case {case}: {name}, {} bytes", text.len());
            let what = if note.starts_with(CRASHED) {
                outcome.crashes += 1;
                crashed.push(told());
                "crashes of workers"
            } else if note.starts_with(TOO_SLOW) {
                outcome.too_slow += 1;
                "too slow"
            } else if note.starts_with(PANICKED) {
                failures.push(("panic", told()));
                "panics"
            } else if note.is_empty() {
                "parsed"
            } else {
                "noted"
            };
            *counts.entry(what).or_default() += 1;
        }
        if let Some(innocent) = sources.choose(&mut random)
            && pool.parse(&innocent.text, innocent.language) != parse_in_process(&innocent.text, innocent.language)
        {
            failures.push(("other units", format!("of {} after case {case}", innocent.name)));
        }
        if !pool.has_started() {
            failures.push(("no worker", format!("case {case}")));
        }
        Ok(failures)
    })?;
    tally.details = by_language(&outcomes);
    for line in crashed.iter().take(super::TOLD_MAX) {
        let _ = writeln!(tally.details, "crashed a worker: {line}");
    }
    Ok(vec![tally])
}

fn by_language(outcomes: &BTreeMap<&'static str, ParserOutcome>) -> String {
    let mut text = String::from("\n| language | texts | crashes | too slow | slowest, s |\n|---|---|---|---|---|\n");
    for (language, ParserOutcome { texts, crashes, too_slow, seconds }) in outcomes {
        let _ = writeln!(text, "| {language} | {texts} | {crashes} | {too_slow} | {seconds:.2} |");
    }
    text
}

/// Changes a text along the nodes of a syntax tree: splices one in, repeats, nests or deletes one.
/// Adds `added_max` bytes by repetition, at most.
fn mutate_nodes(
    text: &mut String,
    source: &ParsedSample,
    sources: &[ParsedSample],
    added_max: usize,
    random: &mut StdRng,
) {
    let other = if random.random_bool(0.8) { source } else { sources.choose(random).unwrap_or(source) };
    let (node, inner) = other.node(random);
    // Where the text still has it; anywhere, otherwise.
    let at = text.find(node).unwrap_or_else(|| {
        let at = random.random_range(0..=text.len());
        text.floor_char_boundary(at)
    });
    let found = if text[at..].starts_with(node) { at..at + node.len() } else { at..at };
    let times = |bytes: usize, random: &mut StdRng| random.random_range(1..=(added_max / bytes.max(1)).clamp(1, 4_000));
    let new = match random.random_range(0..4) {
        0 => String::new(),
        1 => node.repeat(times(node.len(), random)),
        2 => {
            let (before, behind) = (&node[..inner.start], &node[inner.end..]);
            let depth = times(before.len() + behind.len(), random);
            [&before.repeat(depth), &node[inner], &behind.repeat(depth)].concat()
        }
        _ => {
            let (spliced, _) = sources.choose(random).unwrap_or(source).node(random);
            [node, spliced].concat()
        }
    };
    text.replace_range(found, &new);
}
