//! `parsers`: mutated sources of every language, each parsed in a worker process. Workers may crash or run out of time;
//! this process may not, and innocent texts in between keep their units.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_syntax::language::{self, Language};
use colgrep_syntax::parse::{CRASHED, parse_in_process};
use colgrep_syntax::worker::{WorkerPool, this_program};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use tree_sitter::{Node, Parser};

use super::bombs::{Bomb, mutate, samples};
use super::{Tally, TortureArgs, case_seed, go_through};

/// Longest mutated text, in bytes.
const TEXT_BYTES_MAX: usize = 400_000;
/// Bytes that one mutation adds, at most.
const ADDED_BYTES_MAX: usize = 100_000;
/// Cases between two checks of an innocent text.
const CHECK_INTERVAL: u64 = 25;
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

/// Runs the kind.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let (files, bombs) = (samples()?, Bomb::all()?);
    let sources = ParsedSample::all(&files)?;
    let pool = WorkerPool::new(this_program().context("the path of this program")?);
    let mut outcomes: BTreeMap<&'static str, ParserOutcome> = BTreeMap::new();
    let mut crashed: Vec<String> = Vec::new();
    let cases = (0..args.cases as u64).collect();
    let mut tally = go_through(args, "parsers, mutated texts", cases, |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let Some(source) = sources.choose(&mut random) else { return Ok(Vec::new()) };
        let mut text = source.text.clone();
        for _ in 0..random.random_range(1..6) {
            match random.random_range(0..3) {
                0 => {
                    let mut bytes = text.into_bytes();
                    mutate(&mut bytes, &files, &bombs, &mut random);
                    text = String::from_utf8_lossy(&bytes).into_owned();
                }
                _ => mutate_nodes(&mut text, source, &sources, &mut random),
            }
            text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        }
        let began = Instant::now();
        let note = pool.parse(&text, source.language).note.unwrap_or_default();
        let outcome = outcomes.entry(source.language.name).or_default();
        outcome.seconds = outcome.seconds.max(began.elapsed().as_secs_f64());
        outcome.texts += 1;
        if note.starts_with(CRASHED) {
            outcome.crashes += 1;
            *counts.entry("crashes of workers").or_default() += 1;
            crashed.push(format!("case {case}: {}, {} bytes", source.name, text.len()));
        } else if note.starts_with(TOO_SLOW) {
            outcome.too_slow += 1;
            *counts.entry("too slow").or_default() += 1;
        } else {
            *counts.entry(if note.is_empty() { "parsed" } else { "noted" }).or_default() += 1;
        }
        let mut failures = Vec::new();
        if case.is_multiple_of(CHECK_INTERVAL)
            && let Some(innocent) = sources.choose(&mut random)
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
fn mutate_nodes(text: &mut String, source: &ParsedSample, sources: &[ParsedSample], random: &mut StdRng) {
    let other = if random.random_bool(0.8) { source } else { sources.choose(random).unwrap_or(source) };
    let (node, inner) = other.node(random);
    // Where the text still has it; anywhere, otherwise.
    let at = text.find(node).unwrap_or_else(|| {
        let at = random.random_range(0..=text.len());
        text.floor_char_boundary(at)
    });
    let found = if text[at..].starts_with(node) { at..at + node.len() } else { at..at };
    let times =
        |bytes: usize, random: &mut StdRng| random.random_range(1..=(ADDED_BYTES_MAX / bytes.max(1)).clamp(1, 4_000));
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
