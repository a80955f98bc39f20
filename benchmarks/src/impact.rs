//! `impact`: whether the files that future commits changed together are found from one of them.
//!
//! Each commit between the checkout and a later revision gives up to three questions: one of its files with the units
//! that it changed there; right are its other files. The later commits are neither in the index nor in the history.
//! Compared are the impact of these units, changes in the past alone, and ripgrep for the names of the units.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::GitChange;
use colgrep_engine::project::git::{FileVersions, versions};
use colgrep_engine::relations::changed::ChangedCode;
use colgrep_engine::relations::graph::CallGraph;
use colgrep_engine::relations::impact::affected;
use serde::{Deserialize, Serialize};

use crate::FINE;
use crate::corpus::{BenchRepository, RankingArgs, Vars};
use crate::metric::{ndcg, ranks};
use crate::paired::Paired;
use crate::process::printed;
use crate::report::{Origin, OutputArgs, bar, grouped, median};
use crate::speed::process::Program;

/// Most files of a commit that is used; larger commits are sweeping changes.
const COMMIT_FILES_MAX: usize = 10;
/// Questions of one commit, at most.
const QUESTIONS_MAX: usize = 3;
/// Files of an answer.
const DEPTH: usize = 10;
/// Names that ripgrep searches for, at most.
const NAMES_MAX: usize = 20;
/// The arms; others are compared with the second.
const ARMS: [&str; 3] = ["impact", "changed together in the past", "grep for the names of changed units"];
const BASE: usize = 1;

#[derive(Clone, Debug, clap::Args)]
pub struct ImpactBenchArgs {
    /// Clones with an older commit checked out
    #[arg(required = true, value_name = "DIR")]
    pub repositories: Vec<PathBuf>,
    /// The ref up to which commits are asked for; none of the refs that git log --all lists
    #[arg(long, value_name = "REF", default_value = "FUTURE")]
    pub future: String,
    /// Commits of each repository, at most: those that follow the checkout
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub commits: usize,
    /// Folder that keeps the indexes (default: `benchmark` in colgrep's own)
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImpactRecord {
    pub origin: Origin,
    pub questions: Vec<ImpactQuestion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImpactQuestion {
    pub repository: String,
    pub commit: String,
    /// The file that is given.
    pub file: String,
    /// Number of its units that the commit changed.
    pub units: usize,
    /// The other files.
    pub right: Vec<String>,
    /// The first files of each arm.
    pub found: Vec<Vec<String>>,
    /// NDCG@10 of each arm.
    pub scores: Vec<f64>,
    /// Time of the impact once the change is read, in milliseconds.
    pub ms: f64,
}

impl ImpactRecord {
    pub fn markdown(&self) -> String {
        let mut text = format!("# Impact on future commits\n\n{}\n", self.origin.text());
        let arms: String = ARMS.iter().map(|arm| format!(" {arm} |")).collect();
        text += &format!("\n| NDCG@10 | questions |{arms}\n|---|---:|{}\n", "---:|".repeat(ARMS.len()));
        let row = |name: &str, group: &[&ImpactQuestion]| {
            let mean = |at: usize| group.iter().map(|q| q.scores[at]).sum::<f64>() / group.len().max(1) as f64;
            let cells: String = (0..ARMS.len()).map(|at| format!(" {:.4} |", mean(at))).collect();
            format!("| {name} | {} |{cells}\n", group.len())
        };
        text += &row("all", &self.questions.iter().collect::<Vec<_>>());
        text.extend(grouped(&self.questions, |q| &q.repository).iter().map(|(name, group)| row(name, group)));
        text += &format!("\n| against {} | wins | losses | difference | |\n|---|---:|---:|---|---|\n", ARMS[BASE]);
        for (at, arm) in ARMS.iter().enumerate().filter(|(at, _)| *at != BASE) {
            let paired =
                Paired::of_equals(self.questions.iter().map(|q| (&q.repository, q.scores[at] - q.scores[BASE])));
            let (wins, losses, verdict) = (paired.wins, paired.losses, paired.verdict());
            text += &format!("| {arm} | {wins} | {losses} | {} | {verdict} |\n", paired.text());
        }
        let times = self.questions.iter().map(|question| question.ms).collect();
        text += &format!("\nMedian time once the change is read: {:.1} ms.\n", median(times));
        text
    }
}

pub fn run(args: &ImpactBenchArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let ranking = RankingArgs { data_dir: args.data_dir.clone(), keyword_only: true, ..RankingArgs::default() };
    let env = ranking.environment(vars)?;
    let bar = bar(args.repositories.len() as u64, "asking");
    let mut questions = Vec::new();
    for folder in &args.repositories {
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        let name = folder.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().into_owned());
        let repository = BenchRepository::open(&name, None, &folder, &env, None, &ranking)?;
        let commits = future_commits(&folder, &args.future, args.commits)?;
        if let Some(first) = commits.first() {
            check_unknown(&folder, first)?;
        }
        for commit in commits {
            questions.extend(ask(&repository, &commit)?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if questions.is_empty() {
        bail!("nothing to ask: no commit up to {} changed several files that are checked out", args.future);
    }
    let record = ImpactRecord { origin: Origin::here(), questions };
    args.output.publish(&record.markdown(), &record)?;
    Ok(FINE)
}

/// The commits that follow the checkout, the next one first, without merges.
fn future_commits(folder: &Path, future: &str, most: usize) -> Result<Vec<String>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["rev-list", "--reverse", "--no-merges", &format!("HEAD..{future}"), "--"]);
    Ok(String::from_utf8_lossy(&printed(&mut command)?).lines().take(most).map(String::from).collect())
}

/// Fails if a branch or a tag has a commit that is asked for: the history that is indexed covers them all.
fn check_unknown(folder: &Path, commit: &str) -> Result<()> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit]);
    let known = printed(&mut command)?;
    let (folder, known) = (folder.display(), String::from_utf8_lossy(&known));
    if !known.trim().is_empty() {
        bail!(
            "{folder}: the history knows the future by {:?}; delete all branches and tags that follow the checkout",
            known.trim()
        );
    }
    Ok(())
}

fn ask(repository: &BenchRepository, commit: &str) -> Result<Vec<ImpactQuestion>> {
    let project = &repository.place.project;
    let files = versions(project, &GitChange::Commit(commit.to_string()))?;
    let is_here = |file: &&FileVersions| repository.files().any(|record| record.path == file.path);
    let here: Vec<&FileVersions> = files.iter().filter(is_here).collect();
    if files.len() > COMMIT_FILES_MAX || here.len() < 2 {
        return Ok(Vec::new());
    }
    let mut questions = Vec::new();
    for given in here.iter().take(QUESTIONS_MAX) {
        let right: Vec<String> =
            here.iter().filter(|file| file.path != given.path).map(|file| file.path.clone()).collect();
        let changed = ChangedCode::of(&[FileVersions::clone(given)]);
        let together = repository.past().together(project, &given.path);
        let past: Vec<String> = together.iter().map(|file| file.path.clone()).collect();
        let begun = Instant::now();
        let graph = CallGraph::new(&repository.place.snapshot);
        let impact = affected(&graph, &changed, &[(given.path.clone(), together)])?;
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let impact: Vec<String> = impact.iter().map(|one| graph.path(one.file).to_string()).collect();
        let found: Vec<Vec<String>> = [impact, past, grep(repository, given, &changed)?]
            .into_iter()
            .map(|found| first(repository, found, &given.path))
            .collect();
        questions.push(ImpactQuestion {
            repository: repository.name.clone(),
            commit: commit.to_string(),
            file: given.path.clone(),
            units: changed.units.len(),
            scores: found.iter().map(|found| ndcg(&ranks(found, &right), DEPTH)).collect(),
            right,
            found,
            ms,
        });
    }
    Ok(questions)
}

/// The first files of an arm, of those that are indexed and not given.
fn first(repository: &BenchRepository, found: Vec<String>, given: &str) -> Vec<String> {
    let is_one = |path: &String| path != given && repository.files().any(|record| record.path == *path);
    found.into_iter().filter(is_one).take(DEPTH).collect()
}

/// The files with the most lines that name a changed unit, or the file where none is known.
fn grep(repository: &BenchRepository, given: &FileVersions, changed: &ChangedCode) -> Result<Vec<String>> {
    let mut names: Vec<String> = changed.units.iter().map(|unit| unit.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES_MAX);
    if names.is_empty() {
        names.extend(Path::new(&given.path).file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    let rg = Program::on_path("rg").context("ripgrep (rg) is not on PATH; one of the arms runs it")?;
    let mut command = rg.command(&["--no-config", "-c", "-w", "-F", "--color", "never"]);
    names.iter().for_each(|name| _ = command.args(["-e", name]));
    let output = command.arg("--").current_dir(&repository.place.project.root).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |line: &str| {
        let (path, count) = line.rsplit_once(':')?;
        Some((count.parse::<usize>().ok()?, path.to_string()))
    };
    let mut rows: Vec<(usize, String)> = text.lines().filter_map(row).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(rows.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_compared_question_by_question() {
        let question = |repository: &str, scores: [f64; 3]| ImpactQuestion {
            repository: repository.into(),
            commit: "c".into(),
            file: "a.rs".into(),
            units: 1,
            right: vec!["b.rs".into()],
            found: vec![Vec::new(); 3],
            scores: scores.to_vec(),
            ms: 2.0,
        };
        let questions = vec![question("one", [1.0, 0.5, 0.0]), question("two", [0.5, 0.5, 1.0])];
        let text = ImpactRecord { origin: Origin::here(), questions }.markdown();
        assert!(text.contains("| all | 2 | 0.7500 | 0.5000 | 0.5000 |"), "{text}");
        assert!(text.contains("| impact | 1 | 0 | +0.2500"), "{text}");
        assert!(text.contains("| grep for the names of changed units | 1 | 1 | +0.0000"), "{text}");
        assert!(text.contains("2.0 ms"), "{text}");
    }
}
