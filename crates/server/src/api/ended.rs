//! The end of a call: whoever asked may be gone before the answer is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use colgrep_engine::notice::{Listener, Notice, Traced};
use colgrep_index::update::Progress;

/// Whether nobody waits for a call any more.
#[derive(Clone, Debug, Default)]
pub struct CallEnd(Arc<AtomicBool>);

/// Ends a call when it is dropped.
#[derive(Debug)]
pub struct EndGuard(CallEnd);

impl CallEnd {
    /// A guard that ends the call.
    pub fn when_dropped(&self) -> EndGuard {
        EndGuard(self.clone())
    }

    /// Whether it has ended.
    pub fn has_come(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

/// A listener, until a call has ended.
pub struct UntilEnd<'l> {
    /// Hears.
    pub listener: &'l dyn Listener,
    /// The end of the call.
    pub end: CallEnd,
}

impl Listener for UntilEnd<'_> {
    fn hears(&self) -> bool {
        self.listener.hears()
    }

    fn notice(&self, notice: &Notice) {
        self.listener.notice(notice);
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        self.listener.progress()
    }

    fn stops(&self) -> bool {
        self.end.has_come() || self.listener.stops()
    }

    fn traces(&self) -> bool {
        self.listener.traces()
    }

    fn trace(&self, query: &str, step: &Traced<'_>) {
        self.listener.trace(query, step);
    }
}
