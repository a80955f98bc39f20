//! Repair of an index whose damage shows during its use.

use crate::error::{Error, ErrorKind, Result, caught};
use crate::lexical::Lexical;
use crate::store::{Snapshot, Store};
use crate::vector::{VectorManifest, Vectors};

/// An index whose content made no sense.
#[derive(Clone, Copy, Debug)]
pub struct UnreadableIndex<'s> {
    /// What was read.
    pub snapshot: &'s Snapshot,
    /// Whether nothing else was read together with it.
    pub is_alone: bool,
}

/// Removes the damaged parts of the index in `store`, so that the next update rebuilds them: segments of vectors, or
/// all documents (the vectors are kept). Waits for another writer and verifies again, so that only one of several
/// processes repairs the same damage. Damage that shows on opening the index is left to the update.
///
/// `unreadable` is the index whose content made no sense ([`Error::is_of_content`]). If all checksums of it are right, it
/// was written or forged so: it is rebuilt, and never pulled again. That is done once for an index, since a failure that
/// survives a rebuild is none of the index. Vectors that were pulled go with it, except where another index may be at
/// fault.
pub fn repair(store: &Store, unreadable: Option<UnreadableIndex<'_>>) -> Result<()> {
    let lock = store.lock(true)?;
    let mut table = match store.open() {
        Ok(snapshot) => snapshot.files,
        Err(error) if matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => return Ok(()),
        Err(error) => return Err(error),
    };
    let is_pulled = !table.pulled.is_empty();
    let mut vectors = table.vectors.as_ref().and_then(|manifest| sound(store, manifest));
    let is_rebuilt = match Lexical::verify(&store.lexical_folder()) {
        Err(error) if error.kind() == ErrorKind::Unusable => true,
        Err(error) => return Err(error),
        Ok(()) if vectors != table.vectors => false,
        Ok(()) => {
            let Some(unreadable) = unreadable.filter(|one| store.still_has(one.snapshot)) else { return Ok(()) };
            let is_first = !store.refuses(&table.pulled);
            match is_first {
                true => store.refuse(&table.pulled)?,
                false if is_pulled && unreadable.is_alone => {}
                false => return Ok(()),
            }
            // The vectors are from the same source.
            if is_pulled && (unreadable.is_alone || vectors.is_none()) {
                (vectors, table.pulled) = (None, String::new());
            }
            is_first
        }
    };
    if is_rebuilt {
        store.reset(&lock, vectors.is_some())?;
        (table.files, table.next_id, table.complete) = (Vec::new(), 0, false);
    }
    table.vectors = vectors;
    store.commit_table(&table)
}

/// The manifest without damaged segments; `None` if the codebook can't be read.
fn sound(store: &Store, manifest: &VectorManifest) -> Option<VectorManifest> {
    let vectors = Vectors::open_sound(&store.vectors_folder(), manifest, true).ok()?;
    let complete = manifest.complete && vectors.manifest().segments == manifest.segments;
    let mut sound = VectorManifest { complete, ..vectors.manifest().clone() };
    let is_sound = |name: &String| {
        let alone = VectorManifest { segments: vec![name.clone()], spare: Vec::new(), ..manifest.clone() };
        Vectors::damage(&store.vectors_folder(), &alone).is_empty()
    };
    sound.spare.retain(|segment| is_sound(&segment.name));
    Some(sound)
}

/// Runs `work` on an index. If it reports damage, repairs the index and runs `work` once more.
///
/// # Errors
/// Those of `work`, and of [`repair`].
pub(crate) fn repaired<T>(store: &Store, work: impl Fn() -> Result<T>) -> Result<T> {
    match caught(&work).flatten() {
        Err(error) if error.kind() == ErrorKind::Unusable => {
            let now = store.open().ok().filter(|_| matches!(error, Error::Panicked(_)));
            repair(store, now.as_ref().map(|snapshot| UnreadableIndex { snapshot, is_alone: true }))?;
            caught(work).flatten()
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_panic_is_damage_and_the_work_is_done_again_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("index"));
        let runs = Cell::new(0);
        let panics_until = |last: u32| {
            runs.set(runs.get() + 1);
            assert!(runs.get() > last, "inside the index");
            Ok(runs.get())
        };
        assert_eq!(repaired(&store, || panics_until(1)).expect("an answer"), 2);
        runs.set(0);
        let error = repaired(&store, || panics_until(9)).expect_err("damage");
        assert!(error.kind() == ErrorKind::Unusable && error.full().contains("inside the index"), "{}", error.full());
        assert_eq!(runs.get(), 2);
    }
}
