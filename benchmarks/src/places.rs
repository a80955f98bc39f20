//! `places`: whether the unit that one would open is the first that is shown, for questions that name it in other words.
//!
//! Each question was written while reading the code, without a search engine. Its label is the line range of the unit to
//! edit (`place`), plus units that are equally correct (`also`). A row of an answer is right if at least half of the
//! shown unit is in a labelled place and at least half of that place is in the unit. A third of the repositories form
//! the test set, which `--aside` measures.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_core::strength::FLOOR;
use colgrep_engine::answer::pack::{self, BYTES_A_TOKEN};
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_engine::project::model::Model;
use colgrep_engine::{Detail, Env, Weakest};
use colgrep_index::source::read_text;
use serde::{Deserialize, Serialize};

use crate::FINE;
use crate::corpus::{BenchRepository, RankingArgs, Vars, annotation_files, read_json};
use crate::paired::Paired;
use crate::report::{Origin, OutputArgs, bar, grouped, shares_row};

/// Rows among which a place counts as found.
const ROWS: usize = 5;
const PACKS: [usize; 3] = [500, 1_000, 2_000];

/// Which questions about places are asked, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct PlacesSelection {
    /// Folder of places: `repositories.json`, and `questions/` with a file for each repository
    #[arg(long, value_name = "DIR")]
    pub places: PathBuf,
    /// Folder with a folder of sources, `OWNER+NAME`, for each repository
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Measure the held-out repositories instead of those to tune on
    #[arg(long)]
    pub aside: bool,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "OWNER+NAME")]
    pub only: Vec<String>,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
}

impl PlacesSelection {
    /// Calls `ask` with the folder of each repository and its questions, and gathers the answers.
    pub(crate) fn each<T>(
        &self,
        env: &Env,
        mut ask: impl FnMut(&Path, &PlacesRepository) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let model = self.ranking.model(env)?;
        let asked = asked(&self.places, self.aside, &self.only)?;
        let bar = bar(asked.len() as u64, "asking");
        let mut answers = Vec::new();
        for repository in &asked {
            let (root, _) = repository.open(&self.repos, env, model.clone(), &self.ranking)?;
            answers.extend(ask(&root, repository)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(answers)
    }
}

#[derive(Clone, Debug, clap::Args)]
pub struct PlacesArgs {
    /// Repositories and questions.
    #[command(flatten)]
    pub asked: PlacesSelection,
    /// Print what changed against this record of the same questions
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A repository with questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlacesSource {
    /// `owner/name`.
    name: String,
    /// The commit whose lines the places name.
    revision: String,
    /// Whether it is held out.
    aside: bool,
    /// The language of most of its code.
    language: String,
}

/// A question and the unit that answers it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceQuestion {
    pub(crate) question: String,
    /// Its form.
    pub(crate) kind: String,
    /// The unit that one would edit.
    pub(crate) place: CodePlace,
    /// Units that answer as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<CodePlace>,
    /// Whether a second reader has checked the label.
    #[serde(default)]
    read: u8,
}

impl PlaceQuestion {
    /// The places that answer it.
    pub(crate) fn places(&self) -> impl Iterator<Item = &CodePlace> {
        std::iter::once(&self.place).chain(&self.also)
    }
}

/// The lines of a unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodePlace {
    /// Path from the repository's root, `/` between components.
    pub(crate) path: String,
    /// The unit's name, for readers.
    name: String,
    /// First and last line, from 1.
    pub(crate) lines: (u32, u32),
}

impl CodePlace {
    fn holds(&self, path: &str, line: usize) -> bool {
        self.path == path && (self.lines.0 as usize..=self.lines.1 as usize).contains(&line)
    }

    fn is_unit(&self, path: &str, unit: &UnitAnswer) -> bool {
        self.path == path && self.is_mostly(unit.unit.span.line, unit.unit.span.end)
    }

    /// Whether at least half of each are the same lines.
    fn is_mostly(&self, first: u32, last: u32) -> bool {
        let both = (self.lines.1.min(last) + 1).saturating_sub(self.lines.0.max(first));
        let long = |first: u32, last: u32| (last + 1).saturating_sub(first);
        2 * both >= long(first, last) && 2 * both >= long(self.lines.0, self.lines.1)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacesRecord {
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    /// Whether it measures the held-out repositories.
    pub aside: bool,
    /// Every question.
    pub questions: Vec<PlaceRecord>,
}

/// What came of one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceRecord {
    pub repository: String,
    pub language: String,
    /// The form of the question.
    pub kind: String,
    pub query: String,
    /// The place, as `path:first-last name`.
    pub right: String,
    /// The rows, as `path:line name`, best first.
    pub shown: Vec<String>,
    /// Rank, from 1, of the first right row.
    pub rank: Option<usize>,
    /// The same without rows below the floor of strength.
    pub rank_above_floor: Option<usize>,
    /// Rank of the first row of a right file.
    pub file_rank: Option<usize>,
    /// Whether the line that the first row shows is inside a right place.
    pub is_line_inside: bool,
    /// For each size of pack, whether it has at least half of a right place's lines.
    pub packs: [bool; PACKS.len()],
}

impl PlaceRecord {
    /// What is counted, in the order of tables.
    fn measures(&self) -> [bool; 9] {
        let [small, middle, large] = self.packs;
        [
            self.rank == Some(1),
            self.rank.is_some(),
            self.rank_above_floor.is_some(),
            self.is_line_inside,
            self.file_rank == Some(1),
            self.file_rank.is_some(),
            small,
            middle,
            large,
        ]
    }
}

/// What questions are grouped by.
type GroupKey = fn(&PlaceRecord) -> &str;

/// The heads of [`PlaceRecord::measures`].
const MEASURES: [&str; 9] = [
    "unit first",
    "unit in 5",
    "above the floor",
    "first line inside",
    "file first",
    "file in 5",
    "pack 500",
    "pack 1000",
    "pack 2000",
];

impl PlacesRecord {
    /// The summary: shares of all questions, and by kind, language and repository.
    pub fn markdown(&self) -> String {
        let which = if self.aside { "held out" } else { "to tune on" };
        let mut text = format!("# Places {which}: {}\n\n{}\n", self.ranking, self.origin.text());
        let keys: [(&str, GroupKey); 4] = [
            ("", |_| "all"),
            ("kind", |question| &question.kind),
            ("language", |question| &question.language),
            ("repository", |question| &question.repository),
        ];
        for (head, key) in keys {
            text += &format!("\n| {head} | questions | {} |\n|---|{}\n", MEASURES.join(" | "), "---:|".repeat(10));
            for (name, group) in grouped(&self.questions, key) {
                text += &shares_row(name, group.into_iter().map(PlaceRecord::measures));
            }
        }
        text
    }

    /// What changed since `before`, with errors over repositories.
    pub fn against(&self, before: &PlacesRecord) -> String {
        let known: HashMap<(&str, &str), &PlaceRecord> =
            before.questions.iter().map(|q| ((q.repository.as_str(), q.query.as_str()), q)).collect();
        let known = |now: &PlaceRecord| known.get(&(now.repository.as_str(), now.query.as_str())).copied();
        let pairs: Vec<(&PlaceRecord, &PlaceRecord)> =
            self.questions.iter().filter_map(|now| Some((known(now)?, now))).collect();
        let mut text = "\n| against before | gained | lost | difference | |\n|---|---:|---:|---|---|\n".to_string();
        for (at, name) in MEASURES.iter().enumerate() {
            let value = |question: &PlaceRecord| f64::from(u8::from(question.measures()[at]));
            let paired = Paired::of_equals(pairs.iter().map(|(old, now)| (&now.repository, value(now) - value(old))));
            let (gained, lost, verdict) = (paired.wins, paired.losses, paired.verdict());
            text += &format!("| {name} | {gained} | {lost} | {} | {verdict} |\n", paired.text());
        }
        text
    }
}

pub fn run(args: &PlacesArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let ranking = &args.asked.ranking;
    let env = ranking.environment(vars)?;
    let questions = args.asked.each(&env, |root, repository| ask(ranking, &env, root, repository))?;
    let record = PlacesRecord { origin: Origin::here(), ranking: ranking.text(), aside: args.asked.aside, questions };
    let mut markdown = record.markdown();
    if let Some(path) = &args.against {
        markdown += &record.against(&read_json(path)?);
    }
    args.output.publish(&markdown, &record)?;
    Ok(FINE)
}

#[derive(Debug)]
pub struct PlacesRepository {
    /// `owner+name`.
    pub name: String,
    source: PlacesSource,
    pub(crate) questions: Vec<PlaceQuestion>,
}

impl PlacesRepository {
    /// The folder of its sources in `sources`, and its index, brought up to date.
    pub(crate) fn open(
        &self,
        sources: &Path,
        env: &Env,
        model: Option<Arc<Model>>,
        ranking: &RankingArgs,
    ) -> Result<(PathBuf, BenchRepository)> {
        let root = sources.join(&self.name);
        let root = root.canonicalize().with_context(|| root.display().to_string())?;
        let repository = BenchRepository::open(&self.name, None, &root, env, model, ranking)?;
        Ok((root, repository))
    }

    /// Each question, with a function that says whether lines of a file answer it.
    pub fn questions(&self) -> impl Iterator<Item = (&str, impl Fn(&str, u32, u32) -> bool)> {
        self.questions.iter().map(|question| {
            let is_right = |path: &str, first: u32, last: u32| {
                question.places().any(|place| place.path == path && place.is_mostly(first, last))
            };
            (question.question.as_str(), is_right)
        })
    }
}

/// The questions in a folder of places: those of the held-out repositories, or of the others; with `only`, of these
/// repositories alone.
pub fn asked(places: &Path, is_aside: bool, only: &[String]) -> Result<Vec<PlacesRepository>> {
    let sources: Vec<PlacesSource> = read_json(&places.join("repositories.json"))?;
    let mut sources: HashMap<String, PlacesSource> =
        sources.into_iter().map(|source| (source.name.replace('/', "+"), source)).collect();
    let mut asked = Vec::new();
    for (name, path) in annotation_files(&places.join("questions"))? {
        let source = sources.remove(&name).with_context(|| format!("repositories.json does not name {name}"))?;
        if source.aside == is_aside && (only.is_empty() || only.contains(&name)) {
            asked.push(PlacesRepository { questions: read_json(&path)?, name, source });
        }
    }
    if asked.is_empty() {
        bail!("nothing to ask: {} has no questions about these repositories", places.display());
    }
    Ok(asked)
}

/// Asks all questions about one repository.
fn ask(ranking: &RankingArgs, env: &Env, root: &Path, repository: &PlacesRepository) -> Result<Vec<PlaceRecord>> {
    let PlacesRepository { name, source, questions } = repository;
    let mut session = ranking.session(root, env)?;
    let mut records = Vec::new();
    for question in questions {
        let mut request = ranking.request(&question.question, root, ROWS)?;
        request.shape.weakest = Weakest::Strength(0.0);
        let rows = session.search(&request).with_context(|| format!("{name}: {:?}", question.question))?.files;
        let mut request = request.files(pack::FILES_MAX).detail(Detail::Parts);
        (request.shape.weakest, request.shape.units_per_file) = (Weakest::Floor, Some(pack::UNITS_PER_FILE));
        let packed = session.search(&request)?.files;
        let places: Vec<&CodePlace> = question.places().collect();
        records.push(PlaceRecord {
            repository: name.clone(),
            language: source.language.clone(),
            packs: packs(root, &places, &packed)?,
            ..record(question, &places, &rows)
        });
    }
    Ok(records)
}

fn record(question: &PlaceQuestion, places: &[&CodePlace], files: &[FileAnswer]) -> PlaceRecord {
    let rows: Vec<(&FileAnswer, &UnitAnswer)> =
        files.iter().filter_map(|file| Some((file, file.units.first()?))).collect();
    let is_right =
        |(file, unit): &(&FileAnswer, &UnitAnswer)| places.iter().any(|place| place.is_unit(&file.path, unit));
    let is_line_inside =
        rows.first().is_some_and(|(file, unit)| places.iter().any(|place| place.holds(&file.path, unit.line.number)));
    let rank = |at: Option<usize>| at.map(|at| at + 1);
    let text = |(file, unit): &(&FileAnswer, &UnitAnswer)| {
        format!("{}:{} {}", file.path, unit.line.number, unit.unit.qualified_name())
    };
    let CodePlace { path, name, lines: (first, last) } = &question.place;
    PlaceRecord {
        repository: String::new(),
        language: String::new(),
        kind: question.kind.clone(),
        query: question.question.clone(),
        right: format!("{path}:{first}-{last} {name}"),
        shown: rows.iter().map(text).collect(),
        rank: rank(rows.iter().position(is_right)),
        rank_above_floor: rank(rows.iter().filter(|(file, _)| file.strength >= FLOOR).position(is_right)),
        file_rank: rank(rows.iter().position(|(file, _)| places.iter().any(|place| place.path == file.path))),
        is_line_inside,
        packs: [false; PACKS.len()],
    }
}

/// Whether packs of an answer have at least half of the lines of one of the places.
fn packs(root: &Path, places: &[&CodePlace], files: &[FileAnswer]) -> Result<[bool; PACKS.len()]> {
    let mut texts = Vec::new();
    for place in places {
        let text = read_text(root, &place.path).with_context(|| format!("a place is in {}", place.path))?;
        let (first, last) = (place.lines.0 as usize, place.lines.1 as usize);
        if first == 0 || first > last || last > text.lines().count() {
            bail!("{} has no lines {first}-{last}: are the sources of the right commit?", place.path);
        }
        let lines = text.lines().take(last).skip(first - 1).map(str::trim).filter(|line| !line.is_empty());
        texts.push((place.path.as_str(), lines.map(String::from).collect::<Vec<_>>()));
    }
    Ok(PACKS.map(|tokens| {
        let pieces = pack::pack(files, tokens * BYTES_A_TOKEN, false, |file| file.path.clone());
        texts.iter().any(|(path, lines)| {
            let own: String = pieces
                .iter()
                .filter(|piece| files[piece.file].path == *path)
                .map(|piece| piece.text.as_str())
                .collect();
            2 * lines.iter().filter(|line| own.contains(line.as_str())).count() >= lines.len()
        })
    }))
}

#[cfg(test)]
mod tests {
    use colgrep_core::Unit;
    use colgrep_core::unit::Span;

    use super::*;

    fn place(first: u32, last: u32) -> CodePlace {
        CodePlace { path: "a.rs".into(), name: "f".into(), lines: (first, last) }
    }

    #[test]
    fn a_unit_is_right_where_it_and_the_place_are_mostly_the_same_lines() {
        for (unit, label, expected) in [
            ((10, 20), (10, 20), true),
            // Attributes above, a label that begins at the documentation.
            ((8, 20), (10, 20), true),
            ((10, 20), (7, 20), true),
            // The class around the method, and a closure inside the function.
            ((1, 60), (10, 20), false),
            ((14, 16), (10, 20), false),
            ((30, 40), (10, 20), false),
            ((5, 5), (5, 5), true),
        ] {
            let mut answer = UnitAnswer::default();
            answer.unit = Unit { span: Span { first: unit.0, line: unit.0, end: unit.1 }, ..Unit::default() };
            assert_eq!(place(label.0, label.1).is_unit("a.rs", &answer), expected, "{unit:?} {label:?}");
            assert!(!place(label.0, label.1).is_unit("b.rs", &answer));
        }
    }

    #[test]
    fn changes_are_counted_by_measure() {
        let question = |query: &str, rank: Option<usize>| PlaceRecord {
            repository: "o+n".into(),
            language: "rust".into(),
            kind: "where".into(),
            query: query.into(),
            right: String::new(),
            shown: Vec::new(),
            rank,
            rank_above_floor: rank,
            file_rank: Some(1),
            is_line_inside: false,
            packs: [false, true, true],
        };
        let record =
            |questions| PlacesRecord { origin: Origin::here(), ranking: "hybrid".into(), aside: false, questions };
        let before = record(vec![question("a", Some(2)), question("b", None), question("gone", Some(1))]);
        let after = record(vec![question("a", Some(1)), question("b", None), question("new", Some(1))]);
        let text = after.against(&before);
        assert!(text.contains("| unit first | 1 | 0 | +0.5000"), "{text}");
        assert!(text.contains("| unit in 5 | 0 | 0 | +0.0000"), "{text}");
        let summary = after.markdown();
        assert!(
            summary.contains("| all | 3 | 0.667 | 0.667 | 0.667 | 0.000 | 1.000 | 1.000 | 0.000 | 1.000 | 1.000 |"),
            "{summary}"
        );
    }
}
