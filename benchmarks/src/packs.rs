//! `pack`: whether an answer of limited length both names the right file and proves it, with the right unit in full.
//!
//! The right unit of a file is, in this order: the annotation's lines; the definitions that were written down by hand
//! (`--units`); those that the question names; the unit that the same question finds when it is asked of this file
//! alone, so that the pack is measured and not the ranking's choice.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use colgrep_core::collapse::PerFile;
use colgrep_core::query::last_segment;
use colgrep_core::unit::UnitRole;
use colgrep_core::{Unit, UnitKind};
use colgrep_engine::answer::pack::{self, BYTES_A_TOKEN, Grade, UNITS_PER_FILE};
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery, Within};
use colgrep_engine::settings::Settings;
use colgrep_engine::{Detail, Scope};
use colgrep_syntax::language::by_name;
use colgrep_syntax::parse::parse;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::FINE;
use crate::corpus::{BenchCorpus, BenchRepository, BenchTask, CorpusArgs, TaskBackground, Vars, read_json};
use crate::metric::{DEPTH, matches};
use crate::report::{Origin, OutputArgs, bar};

/// Units of each file that are looked at for what there was to choose from.
const UNITS_LOOKED_AT: usize = 8;
/// Words of a question shorter than this name no definition.
const NAME_CHARS_MIN: usize = 3;

/// `pack`.
#[derive(Clone, Debug, clap::Args)]
pub struct PacksArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// File of right units, as written by hand: repository → question → names of definitions
    #[arg(long, value_name = "FILE")]
    pub units: Option<PathBuf>,
    /// Tokens of a pack (repeatable)
    #[arg(long, value_name = "N", default_values_t = [500, 1_000, 2_000])]
    pub tokens: Vec<usize>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How the right unit of a file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KnownBy {
    /// The annotation names lines.
    Lines,
    /// Somebody who read the file wrote down their names.
    Written,
    /// The question names definitions.
    Names,
    /// The question finds it in the file.
    Found,
}

/// What came of one question whose right file is among the first ten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackRecord {
    /// The set of annotations.
    pub set: String,
    pub repository: String,
    /// What sort of question it is.
    pub category: String,
    /// The question.
    pub query: String,
    /// Rank of the first right file.
    pub rank: usize,
    pub strength: f32,
    /// How the right unit is known.
    pub known: KnownBy,
    /// The right units, as `path:first-last`.
    pub right: Vec<String>,
    /// Bytes of the smallest of them.
    pub bytes: usize,
    /// For each size of pack: whether it includes the right file, and a right unit in full.
    pub packs: Vec<(bool, bool)>,
    /// Bytes of the packs.
    pub sizes: Vec<usize>,
    /// What there was to choose from, by file.
    pub choice: Vec<ChoiceRecord>,
}

/// A file that a pack may name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceRecord {
    pub strength: f32,
    /// Whether it is right.
    pub is_right: bool,
    /// Its best units: whether each is right, and its bytes as a line, in short and in full.
    pub units: Vec<(bool, [usize; 3])>,
}

impl PackRecord {
    /// Bytes of the smallest right unit in full; none where none was among those to choose from.
    fn smallest(&self) -> Option<usize> {
        let units = self.choice.iter().flat_map(|file| &file.units);
        units.filter(|(is_right, _)| *is_right).map(|(_, sizes)| sizes[2]).min()
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PacksRecord {
    /// Where, when and of what it was taken.
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    /// Tokens of the packs.
    pub tokens: Vec<usize>,
    /// Questions whose right file is not among the first ten.
    pub missed: usize,
    /// The others.
    pub questions: Vec<PackRecord>,
}

impl PacksRecord {
    /// The summary.
    pub fn markdown(&self) -> String {
        let mut groups: BTreeMap<String, Vec<&PackRecord>> = BTreeMap::new();
        for question in &self.questions {
            groups.entry(question.set.clone()).or_default().push(question);
            groups.entry(format!("{}: {}", question.set, question.category)).or_default().push(question);
            let known = match question.known {
                KnownBy::Lines => "unit known by lines",
                KnownBy::Written => "unit written down by hand",
                KnownBy::Names => "unit known by its name in the question",
                KnownBy::Found => "unit that the question finds in its file",
            };
            groups.entry(format!("~ {known}")).or_default().push(question);
        }
        let columns: String =
            self.tokens.iter().map(|n| format!(" file in {n} | unit in {n} | of those that fit |")).collect();
        let line = "---:|".repeat(1 + 3 * self.tokens.len());
        let mut text = format!(
            "# Packs: {}\n\n{}\n\n{} of {} questions have a right file among the first {DEPTH}.\n\n| | questions |{columns}\n|---|{line}\n",
            self.ranking,
            self.origin.text(),
            self.questions.len(),
            self.questions.len() + self.missed
        );
        text += &self.row("all", &self.questions.iter().collect::<Vec<_>>());
        text.extend(groups.iter().map(|(name, group)| self.row(name, group)));
        text
    }

    fn row(&self, name: &str, group: &[&PackRecord]) -> String {
        let share = |n: usize| n as f64 / group.len().max(1) as f64;
        let cell = |at: usize| {
            let file = group.iter().filter(|q| q.packs[at].0).count();
            let unit = group.iter().filter(|q| q.packs[at].1).count();
            let fit =
                group.iter().filter(|q| q.smallest().is_none_or(|bytes| bytes <= self.tokens[at] * BYTES_A_TOKEN));
            let of_fit = unit as f64 / fit.count().max(1) as f64;
            format!(" {:.3} | {:.3} | {of_fit:.3} |", share(file), share(unit))
        };
        format!("| {name} | {} |{}\n", group.len(), (0..self.tokens.len()).map(cell).collect::<String>())
    }
}

/// Runs the command.
pub fn run(args: &PacksArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let written: Written = args.units.as_deref().map(read_json).transpose()?.unwrap_or_default();
    let bar = bar(corpus.tasks.len() as u64, "packing");
    let questions = corpus.tasks.par_iter().map(|task| {
        let record = ask(&corpus, task, &args.tokens, &written);
        bar.inc(1);
        record
    });
    let questions: Vec<Option<PackRecord>> = questions.collect::<Result<_>>()?;
    bar.finish_and_clear();
    let missed = questions.iter().filter(|q| q.is_none()).count();
    let record = PacksRecord {
        origin: Origin::here(),
        ranking: corpus.ranking.clone(),
        tokens: args.tokens.clone(),
        missed,
        questions: questions.into_iter().flatten().collect(),
    };
    args.output.publish(&record.markdown(), &record)?;
    Ok(FINE)
}

/// The packs of one question; none where no right file is among the first ten.
fn ask(corpus: &BenchCorpus, task: &BenchTask, tokens: &[usize], written: &Written) -> Result<Option<PackRecord>> {
    let repository = &corpus.repositories[task.repository];
    let mut files = answer(corpus, task, UNITS_LOOKED_AT, None)?;
    let is_right = |file: &&FileAnswer| {
        let path = repository.absolute(&file.path);
        task.targets.iter().any(|target| matches(&path, target))
    };
    let Some(rank) = files.iter().position(|file| is_right(&file)) else { return Ok(None) };
    let mut spots: Vec<(KnownBy, RightUnit)> = Vec::new();
    for file in files.iter().filter(is_right) {
        spots.extend(spots_of(corpus, task, repository, file, written)?);
    }
    // What is known best counts alone.
    let known = spots.iter().map(|(known, _)| *known).min().unwrap_or(KnownBy::Found);
    let spots: Vec<RightUnit> = spots.into_iter().filter(|(by, _)| *by == known).map(|(_, spot)| spot).collect();
    let is_spot = |file: &FileAnswer, unit: &UnitAnswer| {
        let span = unit.unit.span;
        let given = |spot: &RightUnit| span.line <= spot.first && spot.last <= span.end && unit.parts.is_empty();
        let is_it = |spot: &RightUnit| (span.line, span.end) == (spot.first, spot.last);
        spots.iter().any(|spot| spot.path == file.path && (is_it(spot) || given(spot)))
    };
    let choices = files.iter().map(|file| ChoiceRecord {
        strength: file.strength,
        is_right: is_right(&file),
        units: file
            .units
            .iter()
            .enumerate()
            .map(|(at, unit)| (is_spot(file, unit), pack::sizes(&file.path, file, at)))
            .collect(),
    });
    let choice = choices.collect();
    files.iter_mut().for_each(|file| file.units.truncate(UNITS_PER_FILE));
    let (mut packs, mut sizes) = (Vec::new(), Vec::new());
    for tokens in tokens {
        let pieces = pack::pack(&files, tokens * BYTES_A_TOKEN, false, |file| file.path.clone());
        let has_file = pieces.iter().any(|piece| is_right(&&files[piece.file]));
        let has_unit = pieces
            .iter()
            .filter(|piece| piece.grade == Grade::Full)
            .any(|piece| is_spot(&files[piece.file], &files[piece.file].units[piece.unit]));
        packs.push((has_file, has_unit));
        sizes.push(pieces.iter().map(|piece| piece.text.len()).sum());
    }
    Ok(Some(PackRecord {
        set: corpus.sets[task.set].name.clone(),
        repository: repository.name.clone(),
        category: task.category.clone(),
        query: task.query.clone(),
        rank: rank + 1,
        strength: files[rank].strength,
        known,
        right: spots.iter().map(|spot| format!("{}:{}-{}", spot.path, spot.first, spot.last)).collect(),
        bytes: spots.iter().map(|spot| spot.bytes).min().unwrap_or_default(),
        packs,
        sizes,
        choice,
    }))
}

struct RightUnit {
    path: String,
    first: u32,
    last: u32,
    bytes: usize,
}

/// Right units by hand: repository → question → names, of which the last parts may be given alone.
type Written = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The right units of a right file.
fn spots_of(
    corpus: &BenchCorpus,
    task: &BenchTask,
    repository: &BenchRepository,
    file: &FileAnswer,
    written: &Written,
) -> Result<Vec<(KnownBy, RightUnit)>> {
    let language = by_name(&file.language);
    let units = language.map(|language| parse(&file.text, language).units).unwrap_or_default();
    let lines: Vec<&str> = file.text.lines().collect();
    let spot = |first: u32, last: u32| {
        let own = lines.iter().skip(first.saturating_sub(1) as usize).take((last + 1).saturating_sub(first) as usize);
        RightUnit { path: file.path.clone(), first, last, bytes: own.map(|line| line.len() + 1).sum() }
    };
    let path = repository.absolute(&file.path);
    let given = task.lines.iter().filter(|(target, ..)| matches(&path, target));
    // Definitions that enclose the lines or lie within them.
    let given: Vec<(KnownBy, RightUnit)> = given
        .flat_map(|(_, first, last)| {
            let touched = units.iter().filter(|unit| unit.kind.is_definition());
            touched
                .filter(|unit| (*first <= unit.span.line && unit.span.line <= *last) || unit.span.line == first + 1)
                .map(|unit| (KnownBy::Lines, spot(unit.span.line, unit.span.end)))
                .collect::<Vec<_>>()
        })
        .collect();
    if !given.is_empty() {
        return Ok(given);
    }
    if let Some(names) = written.get(&repository.name).and_then(|questions| questions.get(&task.query)) {
        let is_named = |unit: &&Unit| {
            let own = unit.qualified_name();
            names
                .iter()
                .any(|name| own.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
        };
        let named = units.iter().filter(|unit| unit.kind != UnitKind::RawCode).filter(is_named);
        return Ok(named.map(|unit| (KnownBy::Written, spot(unit.span.line, unit.span.end))).collect());
    }
    let named = names(&task.query);
    let named: Vec<(KnownBy, RightUnit)> = units
        .iter()
        .filter(|unit| unit.kind.is_definition() && unit.role != UnitRole::Test)
        .filter(|unit| named.contains(&last_segment(&unit.name).to_lowercase()))
        .map(|unit| (KnownBy::Names, spot(unit.span.line, unit.span.end)))
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let found = answer(corpus, task, 1, Some(&file.path))?;
    let found = found.iter().flat_map(|file| &file.units).map(|unit| &unit.unit.span);
    Ok(found.map(|span| (KnownBy::Found, spot(span.line, span.end))).collect())
}

/// Words of a question that may name definitions: those that are written as names, or all of a question of at most two
/// words; in lower case, the last part of each.
fn names(query: &str) -> HashSet<String> {
    let words: Vec<&str> =
        query.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let is_name = |word: &&str| {
        let inner = word.chars().skip(1).any(|c| c.is_uppercase() || c == '_' || c == '.' || c == ':' || c == '#');
        inner && word.chars().any(char::is_lowercase)
    };
    let all = words.len() <= 2;
    let named = words.iter().filter(|word| all || is_name(word));
    let last = named.map(|word| last_segment(word.rsplit(['#', '/']).next().unwrap_or(word)).to_lowercase());
    last.filter(|name| name.chars().count() >= NAME_CHARS_MIN).collect()
}

/// Ranks, with `units_per_file`, and returns the text shown of the files, as in a search. `path` limits it to a file.
pub fn answer(
    corpus: &BenchCorpus,
    task: &BenchTask,
    units_per_file: usize,
    path: Option<&str>,
) -> Result<Vec<FileAnswer>> {
    let repository = &corpus.repositories[task.repository];
    let TaskBackground { near, hints, terms } = &task.background;
    let files = if path.is_some() { 1 } else { DEPTH };
    let asked = RankQuery {
        by: repository.by,
        fusion: repository.fusion,
        model: repository.model.as_deref(),
        near: near.as_ref(),
        hints,
        terms: terms.as_ref(),
        units_per_file: PerFile::Units(units_per_file),
        ..RankQuery::new(&task.query, &corpus.knobs, files)
    };
    let single = |path: &str| {
        let within = Within::paths(vec![path.to_string()]);
        let (project, snapshot) = (repository.place.project.clone(), Arc::clone(&repository.place.snapshot));
        ProjectSearcher::new(project, snapshot, within, &Scope::default(), false, &Settings::default())
    };
    let limited = path.map(single).transpose()?;
    let place = limited.as_ref().unwrap_or(&repository.place);
    let ranked = place.rank(&asked, &())?;
    Ok(place.files(&ranked, &(0..ranked.len()).collect::<Vec<_>>(), Detail::Parts)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_inside_a_question_are_known() {
        for (query, expected) in [
            ("absl::StrCat and StrAppend for joining", "strappend strcat"),
            ("how res.redirect builds the Location header", "redirect"),
            ("Session", "session"),
            ("Rails::Engine", "engine"),
            ("refuse to add an arrow between vertices", ""),
            ("parse_args of the CLI", "parse_args"),
        ] {
            let mut found: Vec<String> = names(query).into_iter().collect();
            found.sort();
            assert_eq!(found.join(" "), expected, "{query}");
        }
    }
}
