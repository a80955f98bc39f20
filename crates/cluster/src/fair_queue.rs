//! Limits the number of questions in progress. Others wait in a queue.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a waiter checks whether its permit is still wanted.
const POLL: Duration = Duration::from_millis(50);

/// A limited number of permits.
#[derive(Debug)]
pub struct FairQueue {
    left: Mutex<usize>,
    given_back: Condvar,
}

/// A permit, which is returned on drop.
#[derive(Debug)]
pub struct Permit<'t>(&'t FairQueue);

impl FairQueue {
    /// A queue with `at_once` permits.
    pub fn new(at_once: usize) -> FairQueue {
        FairQueue { left: Mutex::new(at_once.max(1)), given_back: Condvar::new() }
    }

    /// Waits for a permit; `None` once it is not wanted any more.
    pub fn take(&self, is_wanted: impl Fn() -> bool) -> Option<Permit<'_>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            left = self.given_back.wait_timeout(left, POLL).unwrap_or_else(PoisonError::into_inner).0;
            if !is_wanted() {
                // This waiter may have consumed another one's notification.
                self.given_back.notify_one();
                return None;
            }
        }
        *left -= 1;
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn who_is_gone_waits_no_longer_and_takes_no_place() {
        let queue = FairQueue::new(1);
        let held = queue.take(|| true).expect("a place");
        let is_here = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let gone = scope.spawn(|| queue.take(|| is_here.load(Ordering::Acquire)).is_none());
            let waits = scope.spawn(|| queue.take(|| true).is_some());
            is_here.store(false, Ordering::Release);
            assert!(gone.join().expect("a thread"), "it was given a place that nobody wants");
            drop(held);
            assert!(waits.join().expect("a thread"), "who is here gets it");
        });
        assert_eq!(*queue.left.lock().expect("a lock"), 1, "all places are back");
    }
}
