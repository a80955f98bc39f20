//! Receives the progress of a push or a pull.

use crate::error::Error;

/// What is being done to the bytes that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferPhase {
    /// The index is read, to learn what it is addressed by.
    Hashing,
    /// Files are sent.
    Sending,
    Fetching,
}

/// Receives progress.
pub trait TransferWatch: Sync {
    /// A phase begins that handles this many bytes.
    fn begin(&self, _phase: TransferPhase, _bytes: u64) {}
    /// This many more bytes are done.
    fn done(&self, _bytes: u64) {}
    /// Another push moved the manifest first: it is read again.
    fn raced(&self) {}
    /// A file arrived damaged and is fetched again.
    fn again(&self, _place: &str) {}
    /// Something in the remote can't be used; something older is, or another index.
    fn passed(&self, _error: &Error) {}
    /// The remote has not answered for a second.
    fn slow(&self, _place: &str) {}
    /// Another process is at work on the same index; it is waited for.
    fn waits(&self) {}
}

/// Ignores progress.
impl TransferWatch for () {}
