//! How many questions are worked on at once: the others wait their turn.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often whoever waits looks whether the place is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Room for so many at once.
#[derive(Debug)]
pub struct Turns {
    left: Mutex<usize>,
    given_back: Condvar,
}

/// A place; given back when it is dropped.
#[derive(Debug)]
pub struct Turn<'t>(&'t Turns);

impl Turns {
    /// Room for `at_once`.
    pub fn new(at_once: usize) -> Turns {
        Turns { left: Mutex::new(at_once.max(1)), given_back: Condvar::new() }
    }

    /// Waits for a place, as long as it is wanted; none where it is not wanted any more.
    pub fn take(&self, is_wanted: impl Fn() -> bool) -> Option<Turn<'_>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            left = self.given_back.wait_timeout(left, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if !is_wanted() {
                // It may have been woken in the place of another one.
                self.given_back.notify_one();
                return None;
            }
        }
        *left -= 1;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
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
        let turns = Turns::new(1);
        let held = turns.take(|| true).expect("a place");
        let is_here = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let gone = scope.spawn(|| turns.take(|| is_here.load(Ordering::Acquire)).is_none());
            let waits = scope.spawn(|| turns.take(|| true).is_some());
            is_here.store(false, Ordering::Release);
            assert!(gone.join().expect("a thread"), "it was given a place that nobody wants");
            drop(held);
            assert!(waits.join().expect("a thread"), "who is here gets it");
        });
        assert_eq!(*turns.left.lock().expect("a lock"), 1, "all places are back");
    }
}
