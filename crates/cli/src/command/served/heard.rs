//! What is heard while an index is opened.

use std::sync::{Mutex, PoisonError};

use colgrep_engine::notice::{Listener, Notice, Traced};
use colgrep_index::update::Progress;

use crate::notice;

/// Hears of an index that is opened whether it was brought up to date; the rest is the listener's.
pub struct Heard<'l> {
    listener: &'l dyn Listener,
    /// Why the index is as it is, where it was not compared with the files.
    unlike: Mutex<Option<String>>,
}

impl<'l> Heard<'l> {
    /// Hears what is told to a listener.
    pub fn new(listener: &'l dyn Listener) -> Heard<'l> {
        Heard { listener, unlike: Mutex::default() }
    }

    /// Why the index is as it is, where it was not compared with the files.
    pub fn unlike(self) -> Option<String> {
        self.unlike.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Heard<'_> {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        if let Notice::AsItIs { .. } | Notice::FirstPart(_) = notice {
            *self.unlike.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice::text(notice));
        }
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
