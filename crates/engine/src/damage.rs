//! Damage of an index, met while working on it.

use anyhow::Result;
use colgrep_index::ErrorKind;
use colgrep_index::update::caught;

/// Does `work` on an index: a panic in it is an error like any other damage.
///
/// # Errors
/// Those of `work`, and [`ErrorKind::Unusable`] where it panicked.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|panic| Err(panic.into()))
}

/// In what way an index shows itself damaged, if this is what the error says.
pub fn damage(error: &anyhow::Error) -> Option<String> {
    let error = error.downcast_ref::<colgrep_index::Error>()?;
    (error.kind() == ErrorKind::Unusable).then(|| error.full())
}
