//! Limits the memory and time of parsing one file.
//!
//! A grammar forks at an ambiguity, and 30 kB of the wrong text took gigabytes and minutes: at the end of the text the
//! parser copies every path through its forked stack, in one step without callbacks. So a [`Budget`] bounds three
//! things at each callback: the time of this thread, the bytes allocated by the C library (`counted.rs`), and the nodes
//! of the parser's stacks. Memory and time of that last step grow with the square of the third.

mod counted;

use std::time::Duration;

/// CPU time of one file in parser, query and embedded languages together; two seconds with everything else and the
/// parser's delay between checks. A 1 MiB file of any language takes well under one.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes that the syntax tree of any text may take, those for each byte of the text besides, and the most of all. Of
/// 46,000 files most take 10 to 60 a byte, and tables of numbers 100 and more.
const BYTES_BASE: usize = 16 << 20;
const BYTES_PER_BYTE: usize = 112;
const BYTES_MAX: usize = 256 << 20;
/// Nodes of the parser's stacks, forks included. Only one of 46,000 files on a machine had more, a table of 1,700 names
/// that is not C by itself. A stack of this size with an ambiguity at each node takes 40 MB and a tenth of a second at
/// the end of its text.
const STACK_NODES_MAX: usize = 4_096;

/// What a file took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Spent {
    /// Time.
    #[error("took too long to parse")]
    Time,
    /// Memory for its syntax tree.
    #[error("took too much memory to parse")]
    Memory,
    /// Ways to read it at once.
    #[error("is too ambiguous or too deeply nested to parse")]
    Stack,
    /// Text of its units, which may share lines.
    #[error("holds too many definitions")]
    Units,
}

/// The most that one parse held at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peak {
    /// Bytes that the C library held.
    pub bytes: usize,
    /// Nodes of the parser's stacks.
    pub stack_nodes: usize,
}

/// Limits of one file, from its creation on. Counts are per thread: it must not change threads or overlap with another
/// budget.
#[derive(Debug)]
pub struct Budget {
    deadline: Duration,
    bytes_max: usize,
}

impl Budget {
    /// For a text of `len` bytes.
    pub fn new(len: usize) -> Budget {
        counted::begin();
        let bytes_max = len.saturating_mul(BYTES_PER_BYTE).saturating_add(BYTES_BASE).min(BYTES_MAX);
        Budget { deadline: thread_time() + TIME_MAX, bytes_max }
    }

    /// # Errors
    /// What is used up.
    pub fn check(&self) -> Result<(), Spent> {
        let now = counted::now();
        if now.stack_nodes > STACK_NODES_MAX {
            Err(Spent::Stack)
        } else if now.bytes > self.bytes_max {
            Err(Spent::Memory)
        } else if thread_time() > self.deadline {
            Err(Spent::Time)
        } else {
            Ok(())
        }
    }
}

/// The peak of this thread's use since its last budget was made, above what it used before.
pub fn peak() -> Peak {
    counted::peak()
}

/// CPU time of this thread, which does not depend on the load of the machine.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Time since some moment of this process.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn thread_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}
