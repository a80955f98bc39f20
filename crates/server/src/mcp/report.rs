//! Reports the progress of a call to a client that gave a token for it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use colgrep_engine::notice::Listener;
use colgrep_index::update::Progress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Time between two notifications.
const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct CallProgress {
    done: u64,
    all: u64,
    what: &'static str,
}

/// Takes the progress of an update.
#[derive(Debug)]
pub struct Reporter {
    to: UnboundedSender<CallProgress>,
    /// Work of earlier updates and phases: progress never falls.
    before: AtomicU64,
}

impl Reporter {
    pub fn new() -> (Reporter, UnboundedReceiver<CallProgress>) {
        let (to, from) = unbounded_channel();
        (Reporter { to, before: AtomicU64::new(0) }, from)
    }
}

impl Listener for Reporter {
    fn progress(&self) -> Box<dyn Progress + '_> {
        Box::new(UpdatePhase { of: self, all: AtomicU64::new(0), done: AtomicU64::new(0), told: Mutex::new(None) })
    }
}

struct UpdatePhase<'a> {
    of: &'a Reporter,
    all: AtomicU64,
    done: AtomicU64,
    told: Mutex<Option<Instant>>,
}

impl UpdatePhase<'_> {
    fn begins(&self, all: u64, what: &'static str) {
        self.of.before.fetch_add(self.done.swap(0, Relaxed), Relaxed);
        self.all.store(all, Relaxed);
        *self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        self.advance(0, what);
    }

    fn advance(&self, done: u64, what: &'static str) {
        let done = self.done.fetch_add(done, Relaxed) + done;
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if told.is_none_or(|at| at.elapsed() >= EVERY) {
            *told = Some(Instant::now());
            let before = self.of.before.load(Relaxed);
            // The receiver may be gone.
            let _ = self.of.to.send(CallProgress { done: before + done, all: before + self.all.load(Relaxed), what });
        }
    }
}

impl Drop for UpdatePhase<'_> {
    fn drop(&mut self) {
        self.of.before.fetch_add(self.done.load(Relaxed), Relaxed);
    }
}

impl Progress for UpdatePhase<'_> {
    fn begin(&self, files: u64) {
        self.begins(files, "reading files");
    }

    fn file_done(&self, _: u64) {
        self.advance(1, "reading files");
    }

    fn vectors_begin(&self, units: u64) {
        self.begins(units, "making vectors of units");
    }

    fn vectors_done(&self, units: u64) {
        self.advance(units, "making vectors of units");
    }
}

/// Sends the steps to the client, until the call is over.
pub async fn forward(mut from: UnboundedReceiver<CallProgress>, token: ProgressToken, peer: Peer<RoleServer>) {
    let mut last = None;
    while let Some(CallProgress { done, all, what }) = from.recv().await {
        // Progress has to rise with each notification.
        if last.is_some_and(|last| done <= last) {
            continue;
        }
        last = Some(done);
        let note = ProgressNotificationParam::new(token.clone(), done as f64);
        let note = note.with_total(all as f64).with_message(format!("{what}: {done} of {all}"));
        if peer.notify_progress(note).await.is_err() {
            return;
        }
    }
}
