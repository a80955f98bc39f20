//! Repair of an index whose damage shows during its use.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorKind, Result};
use crate::lexical::Lexical;
use crate::store::Store;
use crate::vector::{VectorManifest, Vectors};

/// Removes the damaged parts of the index in `store`, so that the next update rebuilds them: segments of vectors, or
/// all documents (the vectors are kept). Waits for another writer and verifies again, so that only one of several
/// processes repairs the same damage. Damage that shows on opening the index is left to the update.
///
/// # Errors
/// When the disk refuses.
pub fn repair(store: &Store) -> Result<()> {
    let lock = store.lock(true)?;
    let mut table = match store.open() {
        Ok(snapshot) => snapshot.files,
        Err(error) if matches!(error.kind(), ErrorKind::Missing | ErrorKind::Unusable) => return Ok(()),
        Err(error) => return Err(error),
    };
    let vectors = table.vectors.as_ref().and_then(|manifest| sound(store, manifest));
    match Lexical::verify(&store.lexical_folder()) {
        Ok(()) if vectors == table.vectors => return Ok(()),
        Err(error) if error.kind() == ErrorKind::Unusable => {
            store.reset(&lock, true)?;
            (table.files, table.next_id, table.complete) = (Vec::new(), 0, false);
        }
        verified => verified?,
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
            repair(store)?;
            caught(work).flatten()
        }
        done => done,
    }
}

/// Runs `work` on an index and treats a panic as damage: reading a correctly written index does not panic. No other
/// code of the libraries catches panics; callers that answer from an index do so inside this one.
///
/// # Errors
/// [`ErrorKind::Unusable`] if `work` panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T> {
    // State shared with `work` is dropped together with the index, or guarded by locks that ignore poisoning.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said = message(panic.as_ref());
        Error::damaged(format!("reading the index failed inside ({said})"))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
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
