//! Damage of an index, found while working on it.

use colgrep_index::ErrorKind;
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::{UnreadableIndex, caught, repair};

use crate::error::{Error, Result};

/// Does `work` on an index, with errors of its own: a panic in it is an error like any other damage.
///
/// # Errors
/// Those of `work`, and [`ErrorKind::Unusable`] where it panicked.
pub fn guarded<T, E: From<colgrep_index::Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    caught(work).unwrap_or_else(|panic| Err(panic.into()))
}

/// The error of an index that an error is or was caused by.
fn of_index<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e colgrep_index::Error> {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    chain.find_map(|error| match error.downcast_ref::<Error>() {
        Some(error) => error.of_index(),
        None => error.downcast_ref::<colgrep_index::Error>(),
    })
}

/// In what way an index shows itself damaged, if this is what the error says or was caused by.
pub fn damage(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let of_index = of_index(error)?;
    (of_index.kind() == ErrorKind::Unusable).then(|| of_index.full())
}

/// Repairs an index after an error that [`damage`] describes; `snapshot` was read. If the error is of one of several
/// indexes that were read together (`is_alone` is false), only those from elsewhere count as unreadable.
pub fn repair_after(
    error: &(dyn std::error::Error + 'static),
    store: &Store,
    snapshot: Option<&Snapshot>,
    is_alone: bool,
) -> colgrep_index::Result<()> {
    let is_of_content = of_index(error).is_some_and(colgrep_index::Error::is_of_content);
    let is_suspect = |snapshot: &&Snapshot| is_of_content && (is_alone || !snapshot.files.pulled.is_empty());
    repair(store, snapshot.filter(is_suspect).map(|snapshot| UnreadableIndex { snapshot, is_alone }))
}
