//! COLGREP_TRACE: one line of JSON a step on stderr, for scripts that study the ranking.

use std::io::Write as _;

use colgrep_core::UnitId;
use colgrep_engine::notice::Traced;
use serde_json::json;

/// Files or units shown a step.
const SHOWN_MAX: usize = 100;

pub fn write(query: &str, step: &Traced<'_>) {
    let line = |step: &str, what: &str, items: serde_json::Value, scores: Vec<f32>| {
        let line = json!({"query": query, "step": step, what: items, "scores": scores});
        // Written without escapes: JSON for scripts.
        let _ = writeln!(std::io::stderr(), "__COLGREP_TRACE__ {line}");
    };
    match step {
        Traced::Ranking(step, hits) => {
            let shown = hits.iter().take(SHOWN_MAX);
            let ids: Vec<UnitId> = shown.clone().map(|h| h.0).collect();
            line(step, "ids", json!(ids), shown.map(|h| h.1).collect());
        }
        Traced::Stage(step, ranked) => {
            let shown = ranked.units.iter().take(SHOWN_MAX);
            let files: Vec<String> =
                shown.clone().map(|u| format!("{}:{}", ranked.files[u.file].path, u.line)).collect();
            line(&format!("after_{step}"), "files", json!(files), shown.map(|u| u.score).collect());
        }
        Traced::Final(answer) => {
            let files: Vec<&str> = answer.hits.iter().map(|h| answer.files[h.file].path.as_str()).collect();
            line("final", "files", json!(files), answer.hits.iter().map(|h| h.score).collect());
        }
        Traced::Timing(timing) => {
            let line = json!({"query": query, "step": "timing", "ms": timing});
            let _ = writeln!(std::io::stderr(), "__COLGREP_TRACE__ {line}");
        }
        _ => {}
    }
}
