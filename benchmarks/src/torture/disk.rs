//! A gate that lets a number of changes pass and then refuses: one, as a failing disk does, or all, as a kill does.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use colgrep_index::disk::{ChangeGate, DiskChange};

/// What happens at the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// That change fails: the disk is full.
    Fails,
    /// It and all later ones never happen.
    Killed,
}

/// Counts changes and refuses from one on.
#[derive(Debug)]
pub(super) struct StopAt {
    step: u64,
    stop: Stop,
    seen: AtomicU64,
    refused: Mutex<Option<(DiskChange, PathBuf)>>,
}

impl StopAt {
    /// Refuses the change number `step`, from 1; 0 refuses none.
    pub(super) fn new(step: u64, stop: Stop) -> StopAt {
        StopAt { step, stop, seen: AtomicU64::new(0), refused: Mutex::new(None) }
    }

    /// Changes asked for.
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::SeqCst)
    }

    /// The first change refused, in words.
    pub(super) fn refused(&self) -> String {
        let refused = self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        refused
            .as_ref()
            .map_or_else(|| "nothing".to_string(), |(change, path)| format!("{change:?} {}", path.display()))
    }
}

impl ChangeGate for StopAt {
    fn pass(&self, change: DiskChange, path: &Path) -> io::Result<()> {
        let now = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let refuses = self.step > 0 && (now == self.step || self.stop == Stop::Killed && now > self.step);
        if !refuses {
            return Ok(());
        }
        let mut refused = self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        refused.get_or_insert_with(|| (change, path.to_path_buf()));
        Err(io::ErrorKind::StorageFull.into())
    }
}
