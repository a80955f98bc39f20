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

/// Whether an error is of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// It is: nothing else was read, or work on this index failed.
    Certain,
    /// It is of one of several that were read together, nobody knows which.
    Shared,
    /// It is of another one.
    Cleared,
}

impl Suspicion {
    /// Whether an error is of each of some indexes that were read together.
    pub fn of_each<'s>(snapshots: impl IntoIterator<Item = Option<&'s Snapshot>>) -> Vec<Suspicion> {
        let failed: Vec<bool> =
            snapshots.into_iter().map(|snapshot| snapshot.is_some_and(Snapshot::has_failed)).collect();
        let (is_known, is_alone) = (failed.contains(&true), failed.len() == 1);
        let suspicion = |has_failed: bool| match (has_failed || is_alone, is_known) {
            (true, _) => Suspicion::Certain,
            (false, true) => Suspicion::Cleared,
            (false, false) => Suspicion::Shared,
        };
        failed.into_iter().map(suspicion).collect()
    }
}

/// Repairs an index after an error that [`damage`] describes; `snapshot` was read. If the error may be of another index,
/// only those from elsewhere count as unreadable.
pub fn repair_after(
    error: &(dyn std::error::Error + 'static),
    store: &Store,
    snapshot: Option<&Snapshot>,
    suspicion: Suspicion,
) -> colgrep_index::Result<()> {
    let is_of_content = of_index(error).is_some_and(colgrep_index::Error::is_of_content);
    let is_suspect = |snapshot: &&Snapshot| match suspicion {
        Suspicion::Certain => is_of_content,
        Suspicion::Shared => is_of_content && !snapshot.files.pulled.is_empty(),
        Suspicion::Cleared => false,
    };
    let is_alone = suspicion == Suspicion::Certain;
    repair(store, snapshot.filter(is_suspect).map(|snapshot| UnreadableIndex { snapshot, is_alone }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use crate::{Engine, OpenOptions, SearchRequest};

    #[test]
    fn of_several_indexes_the_one_that_failed_is_at_fault() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let data = tempfile::tempdir().expect("a folder");
        let env = crate::Env::default().data_in(data.path());
        let snapshots = folders.each_ref().map(|folder| {
            std::fs::write(folder.path().join("a.rs"), "fn zebra() {}\n").expect("a file");
            let engine = Engine::new(env.clone()).options(OpenOptions::default());
            let mut session = engine.session(folder.path()).expect("a session");
            session.search(&SearchRequest::new("zebra").within(folder.path())).expect("an answer");
            Project::around(folder.path(), &env).expect("a project").0.store.open().expect("an index")
        });
        let of_each = |count: usize| Suspicion::of_each(snapshots.iter().take(count).map(Some));
        assert_eq!((of_each(1), of_each(2)), (vec![Suspicion::Certain], vec![Suspicion::Shared; 2]));
        let panics = || -> colgrep_index::Result<()> { panic!("inside the index") };
        let _ = caught(|| snapshots[1].noted(panics)).expect_err("a panic");
        assert_eq!(of_each(2), [Suspicion::Cleared, Suspicion::Certain]);
        let stopped = snapshots[0].noted(|| Err::<(), _>(colgrep_index::Error::Stopped));
        assert!(stopped.is_err() && !snapshots[0].has_failed(), "that is no damage");
    }
}
