//! How many questions are worked on at once: the others wait their turn.

use std::sync::{Condvar, Mutex, PoisonError};

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

    /// Waits for a place.
    pub fn take(&self) -> Turn<'_> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            left = self.given_back.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}
