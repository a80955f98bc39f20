//! What is heard while an index is opened.

use std::sync::{Mutex, PoisonError};

use colgrep_cluster::FileProgress;
use colgrep_engine::notice::{IndexState, Listener, Notice, Traced};
use colgrep_index::update::Progress;

use colgrep_render::notice;

/// Hears of an index that is opened whether it was brought up to date; the rest is the listener's.
pub struct Heard<'l> {
    listener: &'l dyn Listener,
    told: Mutex<Told>,
}

/// Why the index could not be compared with the files; and how many files are up to date in it, if not all.
type Told = (Option<String>, Option<FileProgress>);

impl<'l> Heard<'l> {
    /// Forwards to a listener and records what it hears.
    pub fn new(listener: &'l dyn Listener) -> Heard<'l> {
        Heard { listener, told: Mutex::default() }
    }

    /// What was recorded.
    pub fn told(self) -> Told {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Heard<'_> {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        let of = |state: &IndexState| FileProgress { known: state.files_read, in_tree: state.files_in_tree };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match notice {
            Notice::AsItIs { state, .. } | Notice::FirstPart(state) => {
                *told = (Some(notice::text(notice)), Some(of(state)));
            }
            Notice::Unfinished { unread, in_tree, .. } => {
                told.1 = Some(FileProgress { known: in_tree.saturating_sub(*unread), in_tree: Some(*in_tree) });
            }
            _ => {}
        }
        drop(told);
        self.listener.notice(notice);
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        self.listener.progress()
    }

    fn traces(&self) -> bool {
        self.listener.traces()
    }

    fn trace(&self, query: &str, step: &Traced<'_>) {
        self.listener.trace(query, step);
    }
}
