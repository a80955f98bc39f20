//! COLGREP_TRACE: one line of JSON a step on stderr, for scripts that study the ranking.

use std::io::Write as _;

use colgrep_core::UnitId;
use colgrep_core::rank::Ranked;
use colgrep_engine::explain::Explanation;
use colgrep_index::search::{Answer, Watch};
use serde_json::json;

/// Files or units shown a step.
const SHOWN_MAX: usize = 100;

/// Writes every step.
#[derive(Debug)]
pub struct Trace {
    query: String,
}

impl Trace {
    /// A trace of one query.
    pub fn new(query: &str) -> Trace {
        Trace { query: query.to_string() }
    }

    fn line(&self, step: &str, what: &str, items: serde_json::Value, scores: Vec<f32>) {
        let line = json!({"query": self.query, "step": step, what: items, "scores": scores});
        // As it is: JSON for scripts.
        let _ = writeln!(std::io::stderr(), "__COLGREP_TRACE__ {line}");
    }

    fn ranked(&self, step: &str, ranked: &Ranked<'_>) {
        let shown = ranked.units.iter().take(SHOWN_MAX);
        let files: Vec<String> = shown.clone().map(|u| format!("{}:{}", ranked.files[u.file].path, u.line)).collect();
        self.line(step, "files", json!(files), shown.map(|u| u.score).collect());
    }

    /// The last step: the answer itself.
    pub fn last(&mut self, answer: &Answer) {
        let files: Vec<&str> = answer.hits.iter().map(|h| answer.files[h.file].path.as_str()).collect();
        self.line("final", "files", json!(files), answer.hits.iter().map(|h| h.score).collect());
    }
}

/// The explanation and the trace of one search, either or both.
#[derive(Debug, Default)]
pub struct Watchers {
    /// Steps kept for printing below each hit.
    pub explanation: Option<Explanation>,
    /// Steps written to stderr.
    pub trace: Option<Trace>,
}

impl Watch for Watchers {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        if let Some(explanation) = &mut self.explanation {
            explanation.ranking(step, hits);
        }
        if let Some(trace) = &mut self.trace {
            trace.ranking(step, hits);
        }
    }

    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>) {
        if let Some(explanation) = &mut self.explanation {
            explanation.stage(step, ranked);
        }
        if let Some(trace) = &mut self.trace {
            trace.stage(step, ranked);
        }
    }
}

impl Watch for Trace {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        let shown = hits.iter().take(SHOWN_MAX);
        let ids: Vec<UnitId> = shown.clone().map(|h| h.0).collect();
        self.line(step, "ids", json!(ids), shown.map(|h| h.1).collect());
    }

    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>) {
        self.ranked(&format!("after_{step}"), ranked);
    }
}
