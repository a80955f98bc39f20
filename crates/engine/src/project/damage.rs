//! Damage of an index, found while working on it.

use colgrep_index::ErrorKind;
use colgrep_index::update::caught;

use crate::error::{Error, Result};

/// Does `work` on an index, with errors of its own: a panic in it is an error like any other damage.
///
/// # Errors
/// Those of `work`, and [`ErrorKind::Unusable`] where it panicked.
pub fn guarded<T, E: From<colgrep_index::Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    caught(work).unwrap_or_else(|panic| Err(panic.into()))
}

/// In what way an index shows itself damaged, if this is what the error says or was caused by.
pub fn damage(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    let of_index = chain.find_map(|error| match error.downcast_ref::<Error>() {
        Some(error) => error.of_index(),
        None => error.downcast_ref::<colgrep_index::Error>(),
    })?;
    (of_index.kind() == ErrorKind::Unusable).then(|| of_index.full())
}
