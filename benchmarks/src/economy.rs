//! `economy`: how much an agent reads, and how often it asks, until the right place has been printed.
//!
//! No model takes part: each arm is a fixed sequence of calls, and a question ends with the call whose output has the
//! place. All arms are judged by their output alone: a place is printed once at least half of its lines
//! are, or 30 of them; a file of annotations, once one of its lines is. A call counts with all of its output, since nobody
//! gets half of it.

mod grep;
mod printed;
pub mod questions;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use colgrep_engine::answer::pack;
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_engine::{Detail, Env, SearchRequest, Session, Weakest};
use colgrep_render::console::Console;
use colgrep_render::{OutputOptions, OutputRequest};
use grep::{ATTEMPTS, GrepArm, WINDOW_LINES, densest};
use printed::{FileLines, PlaceLines, PrintedLines};
use questions::{EconomyRepository, EconomySelection};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::FINE;
use crate::corpus::{RankingArgs, Vars};
use crate::report::{Origin, OutputArgs, grouped, median};
use crate::speed::process::Program;
use crate::tool_client::ToolClient;

/// Units that are opened from a list, one after another: as many as there are windows with grep.
const UNITS_OPENED: usize = ATTEMPTS;
/// Letters of a line of a file that are read; longer lines are generated.
const LINE_LETTERS_MAX: usize = 200;
/// Characters within which places are counted; 4,000 and 8,000 are about 1,000 and 2,000 tokens.
const WITHIN: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// The arms; others are compared with the first.
const ARMS: [Arm; 7] = [
    Arm { name: "grep: two words, then 60 lines; three times at most", calls: ArmCalls::Grep },
    Arm { name: "list, then units; three at most", calls: ArmCalls::List },
    Arm { name: "pack of 250 tokens", calls: ArmCalls::Packs(&[250]) },
    Arm { name: "pack of 500 tokens", calls: ArmCalls::Packs(&[500]) },
    Arm { name: "pack of 1,000 tokens", calls: ArmCalls::Packs(&[1_000]) },
    Arm { name: "pack of 500 tokens, then of 2,000", calls: ArmCalls::Packs(&[500, 2_000]) },
    Arm { name: "MCP `search`, then of 2,000 tokens", calls: ArmCalls::Tool(&[None, Some(2_000)]) },
];

#[derive(Clone, Debug, clap::Args)]
pub struct EconomyArgs {
    /// Repositories and questions.
    #[command(flatten)]
    pub asked: EconomySelection,
    /// The program whose `mcp` is asked (default: the one that is linked in here)
    #[arg(long, value_name = "FILE")]
    pub colgrep: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A way to ask.
#[derive(Clone, Copy, Debug)]
struct Arm {
    name: &'static str,
    calls: ArmCalls,
}

#[derive(Clone, Copy, Debug)]
enum ArmCalls {
    /// ripgrep and windows of files.
    Grep,
    /// `colgrep QUESTION`, then the units of its rows.
    List,
    /// `colgrep QUESTION --pack TOKENS`.
    Packs(&'static [usize]),
    /// The tool `search` with this length, or its usual one.
    Tool(&'static [Option<usize>]),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EconomyRecord {
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    /// What is asked for: places to tune on, held-out places, or annotated files.
    pub asked_for: String,
    /// The arms, in the order of each question's.
    pub arms: Vec<String>,
    pub questions: Vec<QuestionCost>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuestionCost {
    pub repository: String,
    /// The form of the question.
    pub kind: String,
    pub query: String,
    pub arms: Vec<ArmCost>,
}

/// What a question costs with one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmCost {
    /// Whether the place was printed.
    pub is_found: bool,
    /// Characters of all output up to then, or of all calls.
    pub characters: usize,
    pub calls: usize,
}

impl ArmCost {
    /// Whether it found the place and the other did not, or found it with fewer characters.
    fn beats(&self, other: &ArmCost) -> bool {
        self.is_found && (!other.is_found || self.characters < other.characters)
    }
}

impl EconomyRecord {
    /// The summary: all questions, then each kind.
    pub fn markdown(&self) -> String {
        let EconomyRecord { asked_for, ranking, .. } = self;
        let mut text = format!("# Economy on {asked_for}: {ranking}\n\n{}, rg {}\n", self.origin.text(), rg_version());
        text += &self.table("all", &self.questions.iter().collect::<Vec<_>>());
        text.extend(grouped(&self.questions, |q| &q.kind).iter().map(|(kind, group)| self.table(kind, group)));
        text
    }

    fn table(&self, name: &str, questions: &[&QuestionCost]) -> String {
        let within: String = WITHIN.iter().map(|characters| format!(" within {characters} |")).collect();
        let mut text = format!(
            "\n| {name}: {} questions | found |{within} characters, median | mean | calls | cheaper than grep | dearer |\n|---|{}\n",
            questions.len(),
            "---:|".repeat(6 + WITHIN.len())
        );
        let count = questions.len().max(1) as f64;
        for (at, arm) in self.arms.iter().enumerate() {
            let costs: Vec<ArmCost> = questions.iter().map(|question| question.arms[at]).collect();
            let share = |is: &dyn Fn(&ArmCost) -> bool| costs.iter().filter(|cost| is(cost)).count() as f64 / count;
            let mean = |value: fn(&ArmCost) -> usize| costs.iter().map(|cost| value(cost) as f64).sum::<f64>() / count;
            let within: String = WITHIN
                .map(|most| format!(" {:.3} |", share(&|cost| cost.is_found && cost.characters <= most)))
                .concat();
            let beats = |is: fn(&ArmCost, &ArmCost) -> bool| {
                questions.iter().filter(|question| is(&question.arms[at], &question.arms[0])).count()
            };
            text += &format!(
                "| {arm} | {:.3} |{within} {:.0} | {:.0} | {:.2} | {} | {} |\n",
                share(&|cost| cost.is_found),
                median(costs.iter().map(|cost| cost.characters as f64).collect()),
                mean(|cost| cost.characters),
                mean(|cost| cost.calls),
                beats(ArmCost::beats),
                beats(|own, grep| grep.beats(own)),
            );
        }
        text
    }
}

/// The version of ripgrep, as it says itself.
fn rg_version() -> String {
    let output = Program::on_path("rg").and_then(|rg| rg.command(&["--version"]).output().ok());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split_whitespace().nth(1).unwrap_or("unknown").to_string()
}

pub fn run(args: &EconomyArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let ranking = &args.asked.ranking;
    let env = ranking.environment(vars)?;
    let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&env.data_folder()?);
    let questions = args.asked.each(&env, |repository| ask(ranking, &env, &program, repository))?;
    let asked_for = match (&args.asked.places, args.asked.aside) {
        (None, _) => "annotated files",
        (Some(_), true) => "held-out places",
        (Some(_), false) => "places to tune on",
    };
    let record = EconomyRecord {
        origin: Origin::here(),
        ranking: ranking.text(),
        asked_for: asked_for.to_string(),
        arms: ARMS.iter().map(|arm| arm.name.to_string()).collect(),
        questions,
    };
    args.output.publish(&record.markdown(), &record)?;
    Ok(FINE)
}

/// Asks all questions about one repository.
fn ask(
    ranking: &RankingArgs,
    env: &Env,
    program: &Program,
    repository: &EconomyRepository,
) -> Result<Vec<QuestionCost>> {
    let EconomyRepository { name, root, questions } = repository;
    let mut desk = EconomyDesk {
        ranking,
        session: ranking.session(root, env)?,
        grep: GrepArm::new(root)?,
        tool: ToolClient::start(program, root)?,
        files: FileLines::new(root),
        root: root.clone(),
    };
    let mut costs = Vec::new();
    for question in questions {
        let of_question = || format!("{name}: {:?}", question.text);
        let places = question.places(&desk.files).with_context(of_question)?;
        let cost = |arm: &Arm| desk.cost(arm.calls, &question.text, &places).with_context(of_question);
        costs.push(QuestionCost {
            repository: name.clone(),
            kind: question.kind.clone(),
            query: question.text.clone(),
            arms: ARMS.iter().map(cost).collect::<Result<_>>()?,
        });
    }
    Ok(costs)
}

/// What the arms ask in one repository.
struct EconomyDesk<'a> {
    ranking: &'a RankingArgs,
    session: Session,
    grep: GrepArm,
    tool: ToolClient,
    files: FileLines,
    root: PathBuf,
}

/// A question that is being asked.
struct Spending<'a> {
    files: &'a FileLines,
    places: &'a [PlaceLines],
    printed: PrintedLines,
    cost: ArmCost,
}

impl Spending<'_> {
    /// Counts a call with its output; whether the place is printed now.
    fn spend(&mut self, output: &str) -> bool {
        self.printed.read(output, self.files);
        self.count(output.chars().count())
    }

    /// Counts the output of `count` lines of a file, beginning with `first`.
    fn spend_lines(&mut self, path: &str, first: usize, count: usize) -> bool {
        let lines = self.files.of(path).unwrap_or_default();
        let mut characters = 0;
        for (line, number) in lines.iter().zip(1..).skip(first.saturating_sub(1)).take(count) {
            self.printed.add(path, number);
            characters += line.chars().count().min(LINE_LETTERS_MAX) + 1;
        }
        self.count(characters)
    }

    fn count(&mut self, characters: usize) -> bool {
        self.cost.calls += 1;
        self.cost.characters += characters;
        self.cost.is_found = self.places.iter().any(|place| self.printed.has(place));
        self.cost.is_found
    }
}

impl EconomyDesk<'_> {
    fn cost(&mut self, calls: ArmCalls, question: &str, places: &[PlaceLines]) -> Result<ArmCost> {
        let EconomyDesk { ranking, session, grep, tool, files, root } = self;
        let mut spending = Spending { files, places, printed: PrintedLines::default(), cost: ArmCost::default() };
        match calls {
            ArmCalls::Grep => {
                let mut seen = HashSet::new();
                for attempt in 0..ATTEMPTS {
                    let Some(list) = grep.list(question, attempt)? else { continue };
                    if spending.spend(&list.output) {
                        break;
                    }
                    let Some((path, first)) = densest(&list, files, &mut seen) else { continue };
                    if spending.spend_lines(&path, first, WINDOW_LINES) {
                        break;
                    }
                }
            }
            ArmCalls::List => {
                let mut request = ranking.request(question, root, colgrep_engine::FILES_DEFAULT)?;
                request.shape.weakest = Weakest::Floor;
                let (output, rows) = printed_answer(session, &request, root, None)?;
                if !spending.spend(&output) {
                    for file in rows.iter().take(UNITS_OPENED) {
                        let Some(unit) = file.units.first() else { continue };
                        let (first, count) = window(unit);
                        if spending.spend_lines(&file.path, first, count) {
                            break;
                        }
                    }
                }
            }
            ArmCalls::Packs(sizes) => {
                for tokens in sizes {
                    let mut request = ranking.request(question, root, pack::FILES_MAX)?.detail(Detail::Parts);
                    (request.shape.weakest, request.shape.units_per_file) =
                        (Weakest::Floor, Some(pack::UNITS_PER_FILE));
                    if spending.spend(&printed_answer(session, &request, root, Some(*tokens))?.0) {
                        break;
                    }
                }
            }
            ArmCalls::Tool(sizes) => {
                for tokens in sizes {
                    let arguments = match tokens {
                        Some(tokens) => json!({"query": question, "max_tokens": tokens}),
                        None => json!({"query": question}),
                    };
                    if spending.spend(&tool.call("search", &arguments)?) {
                        break;
                    }
                }
            }
        }
        Ok(spending.cost)
    }
}

/// The answer as `colgrep` prints it into a pipe in the repository's folder, and its files.
fn printed_answer(
    session: &mut Session,
    request: &SearchRequest,
    root: &Path,
    pack: Option<usize>,
) -> Result<(String, Vec<FileAnswer>)> {
    let results = session.rank(request)?;
    let wish = OutputRequest { pack, quiet: true, ..OutputRequest::default() };
    let options = OutputOptions { wish, ..OutputOptions::default() };
    let mut out = Vec::new();
    colgrep_render::print(&mut out, &results, &options, None, &Console::new(true, &Env::default()))?;
    let text = String::from_utf8_lossy(&out).replace(&format!("{}/", root.display()), "");
    Ok((text, results.files(0..results.len())?))
}

/// The first line that is read of a unit, and the number of lines: all of it, or those around the shown line.
fn window(unit: &UnitAnswer) -> (usize, usize) {
    let (first, last) = (unit.unit.span.line as usize, unit.last_line.max(unit.unit.span.line as usize));
    let count = last + 1 - first;
    if count <= WINDOW_LINES {
        return (first, count);
    }
    let before = unit.line.number.saturating_sub(WINDOW_LINES / 2);
    (before.clamp(first, last + 1 - WINDOW_LINES), WINDOW_LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_costs_and_losses_are_counted() {
        let cost = |is_found, characters| ArmCost { is_found, characters, calls: 2 };
        let question = |kind: &str, grep, pack| QuestionCost {
            repository: "o+n".into(),
            kind: kind.into(),
            query: "q".into(),
            arms: vec![grep, pack],
        };
        let record = EconomyRecord {
            origin: Origin::here(),
            ranking: "hybrid".into(),
            asked_for: "places to tune on".into(),
            arms: vec!["grep".into(), "pack".into()],
            questions: vec![
                question("where", cost(true, 900), cost(true, 800)),
                question("where", cost(false, 9_000), cost(true, 3_000)),
                question("how", cost(true, 1_500), cost(false, 2_000)),
                question("how", cost(false, 8_600), cost(false, 2_200)),
            ],
        };
        let text = record.markdown();
        assert!(
            text.contains("| grep | 0.500 | 0.250 | 0.500 | 0.500 | 0.500 | 5050 | 5000 | 2.00 | 0 | 0 |"),
            "{text}"
        );
        assert!(
            text.contains("| pack | 0.500 | 0.250 | 0.250 | 0.500 | 0.500 | 2100 | 2000 | 2.00 | 2 | 1 |"),
            "{text}"
        );
        assert!(text.contains("| where: 2 questions |") && text.contains("| how: 2 questions |"), "{text}");
    }

    #[test]
    fn of_a_long_unit_the_lines_around_the_shown_one_are_read() {
        use colgrep_core::Unit;
        use colgrep_core::unit::Span;
        for ((first, end), line, expected) in [
            ((10, 20), 12, (10, 11)),
            ((10, 200), 12, (10, 60)),
            ((10, 200), 100, (70, 60)),
            ((10, 200), 199, (141, 60)),
        ] {
            let mut unit = UnitAnswer::default();
            unit.unit = Unit { span: Span { first, line: first, end }, ..Unit::default() };
            (unit.last_line, unit.line.number) = (end as usize, line);
            assert_eq!(window(&unit), expected, "{first}-{end} {line}");
        }
    }
}
