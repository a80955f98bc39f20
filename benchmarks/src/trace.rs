//! Traces: score and rank of the files that matter after each step of the ranking, compact enough for every query of a
//! record.

use std::collections::HashMap;

use colgrep_core::UnitId;
use colgrep_core::fuse::{Fusion, Retriever};
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Fused, Ranked, Retrieved, STAGES};
use serde::{Deserialize, Serialize};

/// Files of the answer's top that are traced, besides the right ones.
const TOP: usize = 15;
/// Name of the fusion's step.
const FUSED: &str = "fused";

/// The steps of a trace, in their order: the retrievers, their fusion, the stages. Stages that changed no score in any
/// of the traces are taken out of these, too.
pub fn steps(traces: &mut [&mut Vec<FileTrace>]) -> Vec<String> {
    let mut names = vec![Retriever::Lexical.name(), Retriever::Semantic.name(), FUSED];
    let first = names.len();
    names.extend(STAGES.iter().map(|s| s.name));
    for i in (first..names.len()).rev() {
        let files = || traces.iter().flat_map(|t| t.iter());
        if files().all(|f| f.scores[i] == f.scores[i - 1] && f.ranks[i] == f.ranks[i - 1]) {
            names.remove(i);
            for file in traces.iter_mut().flat_map(|t| t.iter_mut()) {
                file.scores.remove(i);
                file.ranks.remove(i);
            }
        }
    }
    names.into_iter().map(String::from).collect()
}

/// Scores and ranks of one file, one entry for each of the record's steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileTrace {
    /// Relative to the project.
    pub file: String,
    /// Whether it answers the query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub right: bool,
    /// The score of its best unit after each step, in thousandths; 0 where a retriever did not find it.
    pub scores: Vec<i32>,
    /// Its rank after each step; 0 where it has none.
    pub ranks: Vec<usize>,
}

/// Every file's score and rank after one step.
#[derive(Clone, Debug, Default)]
struct TraceStep(Vec<(f32, usize)>);

impl TraceStep {
    /// After the fusion or a stage.
    fn of(ranked: &Ranked<'_>) -> TraceStep {
        let mut files = vec![(0.0, 0); ranked.files.len()];
        let mut rank = 0;
        for unit in &ranked.units {
            let file = &mut files[unit.file];
            if file.1 == 0 {
                rank += 1;
                *file = (unit.score, rank);
            }
        }
        TraceStep(files)
    }

    /// From a retriever's ranking.
    fn of_ranking(retrieved: &Retrieved, retriever: Retriever) -> TraceStep {
        let file_of: HashMap<UnitId, usize> = retrieved.candidates.iter().map(|c| (c.unit, c.file)).collect();
        let hits = retrieved.rankings.iter().filter(|r| r.retriever == retriever).flat_map(|r| &r.hits);
        let mut hits: Vec<(usize, f32)> = hits.filter_map(|h| Some((*file_of.get(&h.0)?, h.1))).collect();
        let path = |file: usize| retrieved.files[file].path.as_str();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| path(a.0).cmp(path(b.0))));
        let mut files = vec![(0.0, 0); retrieved.files.len()];
        let mut rank = 0;
        for (file, score) in hits {
            if files[file].1 == 0 {
                rank += 1;
                files[file] = (score, rank);
            }
        }
        TraceStep(files)
    }
}

/// Ranks what was retrieved under observation; gives the way of the first files of the answer and of all that `is_right`.
pub fn trace(
    query: &Query,
    fusion: Fusion,
    knobs: &Knobs,
    retrieved: &Retrieved,
    is_right: impl Fn(&str) -> bool,
) -> Vec<FileTrace> {
    let fused = Fused::new(retrieved, fusion, knobs);
    let mut steps = vec![
        TraceStep::of_ranking(retrieved, Retriever::Lexical),
        TraceStep::of_ranking(retrieved, Retriever::Semantic),
        TraceStep::of(&Ranked::new(retrieved, &fused)),
    ];
    let mut observer = |_: &'static str, ranked: &Ranked<'_>| steps.push(TraceStep::of(ranked));
    let last = TraceStep::of(&rank::run(query, knobs, retrieved, fused, Some(&mut observer)));
    let right: Vec<bool> = retrieved.files.iter().map(|f| is_right(&f.path)).collect();
    let mut files: Vec<usize> = (0..retrieved.files.len()).filter(|f| last.0[*f].1 <= TOP || right[*f]).collect();
    files.sort_by_key(|file| last.0[*file].1);
    let of_file = |file: usize| FileTrace {
        file: retrieved.files[file].path.clone(),
        right: right[file],
        scores: steps.iter().map(|s| (s.0[file].0 * 1e3).round() as i32).collect(),
        ranks: steps.iter().map(|s| s.0[file].1).collect(),
    };
    files.into_iter().map(of_file).collect()
}

impl FileTrace {
    /// The effect of a step: the score that a retriever or the fusion gave, or the change that a stage made; with the
    /// rank after it. `None` if the file had no score, or the trace has no such step.
    pub fn at(&self, steps: &[String], step: &str) -> Option<Cell> {
        let i = steps.iter().position(|s| s == step)?;
        let (score, rank) = (*self.scores.get(i)?, *self.ranks.get(i)?);
        let fused = steps.iter().position(|s| s == FUSED)?;
        let before = if i > fused { *self.scores.get(i - 1)? } else { 0 };
        (rank > 0).then_some(Cell { score: score - before, is_change: i > fused, rank })
    }

    /// Score and rank in the answer.
    pub fn last(&self) -> Option<Cell> {
        Some(Cell { score: *self.scores.last()?, is_change: false, rank: *self.ranks.last()? })
    }
}

/// What a step did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// In thousandths.
    pub score: i32,
    /// Whether it is a change to the step before.
    pub is_change: bool,
    /// The rank after the step.
    pub rank: usize,
}

impl Cell {
    /// Formats as `+0.133 #2`.
    pub fn text(&self) -> String {
        let score = f64::from(self.score) / 1e3;
        if self.is_change { format!("{score:+.3} #{}", self.rank) } else { format!("{score:.3} #{}", self.rank) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_show_scores_then_changes() {
        let steps = ["bm25", "semantic", "fused", "depth"].map(String::from);
        let file = FileTrace { scores: vec![12_310, 0, 800, 933], ranks: vec![2, 0, 3, 1], ..FileTrace::default() };
        let text = |step| file.at(&steps, step).map(|c| c.text());
        assert_eq!(text("bm25").as_deref(), Some("12.310 #2"));
        assert_eq!((text("semantic"), text("gone")), (None, None));
        assert_eq!((text("fused").as_deref(), text("depth").as_deref()), (Some("0.800 #3"), Some("+0.133 #1")));
        assert_eq!(file.last().map(|c| c.text()).as_deref(), Some("0.933 #1"));
    }
}
