//! Observes one ranking: keeps its steps for an explanation, and passes them to the listener.

use colgrep_core::UnitId;
use colgrep_core::rank::Ranked;
use colgrep_search::{Timing, Watch};

use crate::answer::explain::Explanation;
use crate::notice::{Listener, Traced};

/// Keeps the steps of a ranking, hands them on, or both.
pub(crate) struct Watcher<'a> {
    /// The steps so far, where an explanation is asked for.
    pub(crate) explanation: Option<Explanation>,
    /// The query and the listener, where it traces.
    pub(crate) trace: Option<(&'a str, &'a dyn Listener)>,
    /// How long the parts of the search took.
    pub(crate) timing: Timing,
}

impl Watch for Watcher<'_> {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        if let Some(explanation) = &mut self.explanation {
            explanation.ranking(step, hits);
        }
        if let Some((query, listener)) = self.trace {
            listener.trace(query, &Traced::Ranking(step, hits));
        }
    }

    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>) {
        if let Some(explanation) = &mut self.explanation {
            explanation.stage(step, ranked);
        }
        if let Some((query, listener)) = self.trace {
            listener.trace(query, &Traced::Stage(step, ranked));
        }
    }

    fn timing(&mut self, timing: &Timing) {
        self.timing = *timing;
    }
}
