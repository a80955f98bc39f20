//! `ablate`: switches each retriever, stage and knob of the retrieval off in turn, to see what it is worth.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::rank::{STAGES, Stage};
use colgrep_engine::settings::variable::variable;

use crate::FINE;
use crate::corpus::{BenchCorpus, CorpusArgs, RankingArgs, Vars};
use crate::pools::{Pools, is_of_retrieval};
use crate::report::{Origin, bar, check_folders, print, write_text};

#[derive(Clone, Debug, clap::Args)]
pub struct AblateArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// Write the tables here too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Put what can be switched off into this file, between its lines `<!-- ablation -->` and `<!-- /ablation -->`,
    /// without the knobs whose difference is noise
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
}

/// The knobs of `knobs` that can be switched off and are on.
fn in_force<'k>(knobs: &'k Knobs, all: &'k [Knob]) -> impl Iterator<Item = (Knob, f64)> + 'k {
    all.iter().filter_map(|k| Some((*k, k.declaration().off?))).filter(|(k, n)| knobs.number(*k) != *n)
}

fn without(knobs: &Knobs, off: impl Iterator<Item = (Knob, f64)>) -> Result<Knobs> {
    let mut changed = knobs.clone();
    for (knob, value) in off {
        changed.set(knob, &value.to_string())?;
    }
    Ok(changed)
}

/// One line of a table.
struct AblationRow {
    name: String,
    scores: Vec<f64>,
}

/// Which rows a table shows.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    All,
    /// Those whose difference is significant; the others are counted.
    Significant,
}

pub fn run(args: &AblateArgs, vars: &Vars) -> Result<u8> {
    check_folders(&[&args.markdown, &args.into])?;
    if let Some(path) = &args.into {
        put_into(path, "")?;
    }
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let knobs = corpus.knobs.clone();
    let mut pools = Pools::retrieve(&corpus, &knobs)?;
    let base = pools.rank(&knobs, 0);
    let stages = active(&pools, &knobs);
    let mut removed = Vec::new();
    for stage in &stages {
        let changed = without(&knobs, in_force(&knobs, stage.knobs))?;
        removed.push(AblationRow { name: format!("`{}`", stage.name), scores: pools.rank(&changed, 0) });
    }
    let mut single = Vec::new();
    for stage in &stages {
        for (knob, value) in in_force(&knobs, stage.knobs) {
            let changed = without(&knobs, std::iter::once((knob, value)))?;
            single.push(AblationRow {
                name: format!("`{}` {}", variable(knob), arrow(&knobs, knob, value)),
                scores: pools.rank(&changed, 0),
            });
        }
    }
    // All off, then on again one after another, in pipeline order.
    let mut added = Vec::new();
    for count in 0..=stages.len() {
        let off = stages[count..].iter().flat_map(|s| in_force(&knobs, s.knobs));
        let name = match count {
            0 => "none: best unit a file".to_string(),
            n => format!("+ `{}`", stages[n - 1].name),
        };
        added.push(AblationRow { name, scores: pools.rank(&without(&knobs, off)?, 0) });
    }
    drop(pools);
    let retrieval: Vec<Knob> = Knob::ALL.iter().copied().filter(|k| is_of_retrieval(*k)).collect();
    let off: Vec<(Knob, f64)> = in_force(&knobs, &retrieval).collect();
    let progress = bar(off.len() as u64, "retrieving");
    let mut fields = Vec::new();
    for (knob, value) in off {
        let changed = without(&knobs, std::iter::once((knob, value)))?;
        let scores = Pools::retrieve(&corpus, &changed)?.rank(&changed, 0);
        fields.push(AblationRow { name: format!("`{}` {}", variable(knob), arrow(&knobs, knob, value)), scores });
        progress.inc(1);
    }
    progress.finish_and_clear();
    let mut retrievers = Vec::new();
    let ranking = &args.corpus.ranking;
    if !ranking.keyword_only && !ranking.semantic_only {
        for (name, keyword_only) in [("`bm25`", false), ("`semantic`", true)] {
            let ranking = RankingArgs { keyword_only, semantic_only: !keyword_only, fusion: None, ..ranking.clone() };
            let half = BenchCorpus::open(&CorpusArgs { ranking, ..args.corpus.clone() }, vars)?;
            retrievers
                .push(AblationRow { name: name.to_string(), scores: Pools::retrieve(&half, &knobs)?.rank(&knobs, 0) });
        }
    }
    let table = Tables { corpus: &corpus, base: &base };
    let head = format!(
        "Made by `colgrep-bench ablate`: {}, {}, profile {}, {} queries on {} repositories: NDCG@10 {:.4}{}.\n\nA difference is given with its paired standard error (the larger of: queries independent, repositories independent); within two of them it is noise.\n",
        Origin::here().text(),
        corpus.ranking,
        knobs.profile().name(),
        corpus.tasks.len(),
        corpus.repositories.len(),
        table.mean(&base),
        table.sets()
    );
    let text = |knobs_shown: Rows| {
        [
            head.clone(),
            table.text("A retriever off", "without", &retrievers, Rows::All),
            table.text("A stage off", "without", &removed, Rows::All),
            table.text("A knob of a stage off", "knob", &single, knobs_shown),
            table.text("A knob of the retrieval off", "knob", &fields, knobs_shown),
        ]
        .concat()
    };
    let whole = text(Rows::All) + &table.text("Stages on, one after another", "stage", &added, Rows::All);
    print(&whole)?;
    if let Some(path) = &args.markdown {
        write_text(path, &whole)?;
    }
    if let Some(path) = &args.into {
        write_text(path, &put_into(path, &text(Rows::Significant))?)?;
    }
    Ok(FINE)
}

/// Replaces the tables in the file's text.
fn put_into(path: &Path, tables: &str) -> Result<String> {
    let page = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    put_between(&page, tables)
        .with_context(|| format!("{} has no lines `{BEGIN}` and `{END}` for the tables to go between", path.display()))
}

const BEGIN: &str = "<!-- ablation -->";
const END: &str = "<!-- /ablation -->";

/// Replaces the text between the marks of a page by `text`.
fn put_between(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", text.trim()))
}

fn arrow(knobs: &Knobs, knob: Knob, value: f64) -> String {
    format!("{} → {value}", knobs.number(knob))
}

/// Stages that change a score of any query here, those that share their knobs counted once.
fn active(pools: &Pools, knobs: &Knobs) -> Vec<&'static Stage> {
    let names = pools.active_stages(knobs);
    let mut seen: HashSet<&[Knob]> = HashSet::new();
    let mut key = |s: &Stage| seen.insert(s.knobs);
    let has_knobs = |s: &&Stage| in_force(knobs, s.knobs).next().is_some();
    STAGES.iter().filter(|s| names.contains(s.name)).filter(has_knobs).filter(|s| key(s)).collect()
}

/// Prints tables of differences to the same base.
struct Tables<'c> {
    corpus: &'c BenchCorpus,
    base: &'c [f64],
}

impl Tables<'_> {
    fn mean(&self, scores: &[f64]) -> f64 {
        self.corpus.weights().iter().zip(scores).map(|(w, s)| w * s).sum()
    }

    /// The base's mean in each set, where there are several: the whole is their weighted mean.
    fn sets(&self) -> String {
        let mean = |set: usize| {
            let scores = self.corpus.tasks.iter().zip(self.base).filter(|(t, _)| t.set == set).map(|(_, s)| *s);
            let scores: Vec<f64> = scores.collect();
            format!("{} {:.4}", self.corpus.sets[set].name, scores.iter().sum::<f64>() / scores.len().max(1) as f64)
        };
        match self.corpus.sets.len() {
            1 => String::new(),
            n => format!(", the weighted mean of {}", (0..n).map(mean).collect::<Vec<_>>().join(", ")),
        }
    }

    /// A table; nothing without rows.
    fn text(&self, title: &str, first: &str, rows: &[AblationRow], shown: Rows) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let categories = self.categories();
        let mut text = format!("\n### {title}\n\n| {first} | NDCG@10 | difference | |");
        text += &categories.keys().map(|c| format!(" {c} |")).collect::<String>();
        text += &format!("\n|---|---:|---:|---|{}\n", "---:|".repeat(categories.len()));
        let mut omitted = 0;
        for row in rows {
            let paired = self.corpus.paired(&row.scores, self.base);
            if shown == Rows::Significant && !matches!(paired.verdict(), "better" | "worse") {
                omitted += 1;
                continue;
            }
            text +=
                &format!("| {} | {:.4} | {} | {} |", row.name, self.mean(&row.scores), paired.text(), paired.verdict());
            for members in categories.values() {
                let mean = members.iter().map(|i| row.scores[*i] - self.base[*i]).sum::<f64>() / members.len() as f64;
                text += &format!(" {mean:+.4} |");
            }
            text.push('\n');
        }
        if omitted > 0 {
            text += &format!("\n{omitted} more show no significant difference.\n");
        }
        text
    }

    fn categories(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut categories: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, task) in self.corpus.tasks.iter().enumerate() {
            categories.entry(&task.category).or_default().push(i);
        }
        categories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_replace_those_of_before() {
        let page = "# A\n<!-- ablation -->\nold\n<!-- /ablation -->\nB\n";
        let new = put_between(page, "\nnew\n").unwrap();
        assert_eq!(new, "# A\n<!-- ablation -->\n\nnew\n\n<!-- /ablation -->\nB\n");
        assert_eq!(put_between(&new, "new").unwrap(), new, "again, the same");
        assert_eq!(put_between("# A\n<!-- ablation -->\n", "new"), None);
    }

    #[test]
    fn every_stage_can_be_switched_off() {
        for stage in STAGES {
            assert!(stage.knobs.iter().any(|k| k.declaration().off.is_some()), "{} can't be switched off", stage.name);
        }
    }
}
