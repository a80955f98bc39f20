//! Repair of an index that turns out to be damaged while it is read.

use crate::error::{ErrorKind, Result};
use crate::lexical::Lexical;
use crate::store::Store;
use crate::vector::{Manifest, Vectors};

/// Takes out of the index in `store` what is damaged, so that the next update makes it anew: segments of vectors, or
/// all documents, whose vectors stay. It waits for another writer, looks again, and changes nothing where all is sound:
/// of several processes that meet the same damage one repairs it. What opening shows is left to the update.
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

/// The manifest without segments that are not sound throughout; none without its codebook.
fn sound(store: &Store, manifest: &Manifest) -> Option<Manifest> {
    let vectors = Vectors::open_sound(&store.vectors_folder(), manifest, true).ok()?;
    let complete = manifest.complete && vectors.manifest().segments == manifest.segments;
    Some(Manifest { complete, ..vectors.manifest().clone() })
}
