//! Collects progress and notices of the engine, and whether Python wants it to stop.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};

use colgrep_engine::notice::{Listener, NotUpdated, Notice};
use colgrep_index::update::Progress;

/// Listens to the engine during one call. Numbers are read by the thread that Python waits on.
#[derive(Debug, Default)]
pub struct CallWatch {
    notices: Mutex<Vec<String>>,
    stops: AtomicBool,
    encodes: AtomicBool,
    done: AtomicU64,
    all: AtomicU64,
}

impl CallWatch {
    /// Has the work end soon.
    pub fn stop(&self) {
        self.stops.store(true, Relaxed);
    }

    /// Notices since the last time, in words.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The phase, what is done of it, and all of it: files, then units.
    pub fn progress(&self) -> (&'static str, u64, u64) {
        let phase = if self.encodes.load(Relaxed) { "vectors" } else { "files" };
        (phase, self.done.load(Relaxed), self.all.load(Relaxed))
    }

    fn start(&self, encodes: bool, all: u64) {
        self.encodes.store(encodes, Relaxed);
        self.done.store(0, Relaxed);
        self.all.store(all, Relaxed);
    }
}

impl Listener for CallWatch {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        let text = words(notice);
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.contains(&text) {
            notices.push(text);
        }
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        Box::new(Counter(self))
    }

    fn stops(&self) -> bool {
        self.stops.load(Relaxed)
    }
}

struct Counter<'a>(&'a CallWatch);

impl Progress for Counter<'_> {
    fn begin(&self, files: u64) {
        self.0.start(false, files);
    }

    fn file_done(&self, _units: u64) {
        self.0.done.fetch_add(1, Relaxed);
    }

    fn vectors_begin(&self, units: u64) {
        self.0.start(true, units);
    }

    fn vectors_done(&self, units: u64) {
        self.0.done.fetch_add(units, Relaxed);
    }
}

/// A notice as a program's log wants it.
fn words(notice: &Notice) -> String {
    match notice {
        Notice::Incomplete(_) => "the index is not complete; update() finishes it".to_string(),
        Notice::Unfinished { unread, in_tree, .. } => {
            format!("the answer does not know {unread} of {in_tree} files as they are now; update() reads them")
        }
        Notice::OtherWalk { .. } => "the index was made with other options; update() applies those given".to_string(),
        Notice::TooLarge { files, filesize_max } => format!("{files} files are larger than {filesize_max} bytes"),
        Notice::AsItIs { why: NotUpdated::Failed { why, .. }, .. } => {
            format!("the index could not be brought up to date ({why}); the answer is from what there is")
        }
        Notice::AsItIs { .. } => "another process writes the index; the answer is from what there is".to_string(),
        Notice::WaitsForFirstPart => "another process builds the index; its first part is waited for".to_string(),
        Notice::FirstPart(_) => "another process builds the index; the answer is from its first part".to_string(),
        Notice::Lacking { .. } => "units without vectors are ranked by words alone; update() makes vectors".to_string(),
        Notice::Moved { from } => {
            format!("using the index of {}, from where this repository was moved", from.display())
        }
        Notice::Damaged(how) => format!("{how}; rebuilding what is damaged"),
        Notice::HistoryAsItIs => "another process writes the history's index; it is asked as it is".to_string(),
        Notice::HistoryLacks { without, all } => {
            format!("{without} of {all} entries of the history have no vectors yet; the next questions make them")
        }
        Notice::NotRanked(of) | Notice::NearUnknown(of) => {
            format!("nothing of {} is indexed", of.root.join(&of.path).display())
        }
        other => format!("{other:?}"),
    }
}
