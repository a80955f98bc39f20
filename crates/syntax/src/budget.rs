//! Limits the time of parsing one file.
//!
//! A grammar forks at an ambiguity, so the wrong text takes minutes. A [`Budget`] is checked at each callback of the
//! parser. It does not bound a single step, nor memory: at the end of a text the parser copies every path through its
//! forked stack, which took gigabytes for 30 kB of text. Worker processes bound both (`worker/sandbox.rs`).

use std::cell::Cell;
use std::time::{Duration, Instant};

/// CPU time of one file in parser, query and embedded languages together; two seconds with everything else and the
/// parser's delay between checks. A 1 MiB file of any language takes well under one.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(1);

/// The limit that a file exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Spent {
    /// Time.
    #[error("took too long to parse")]
    Time,
    /// Text of its units, which may share lines.
    #[error("holds too many definitions")]
    Units,
}

/// The time that is left for one file, from its creation on. It is the time of a thread, so the work must not change
/// threads.
#[derive(Debug)]
pub(crate) struct Budget {
    deadline: Duration,
    /// The earliest moment at which the deadline can be over: a thread takes no more time than passes.
    earliest: Cell<Instant>,
}

impl Budget {
    pub(crate) fn new() -> Budget {
        Budget { deadline: thread_time() + TIME_MAX, earliest: Cell::new(Instant::now() + TIME_MAX) }
    }

    /// # Errors
    /// When the time is used up.
    pub(crate) fn check(&self) -> Result<(), Spent> {
        // Unlike the time of a thread, this moment needs no system call.
        let now = Instant::now();
        if now < self.earliest.get() {
            return Ok(());
        }
        let left = self.deadline.checked_sub(thread_time()).ok_or(Spent::Time)?;
        self.earliest.set(now + left);
        Ok(())
    }
}

/// CPU time of this thread, which does not depend on the load of the machine.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Time since some moment of this process.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn thread_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}
