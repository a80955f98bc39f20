//! The full vectors of texts that a server met: it is asked about the same neighbourhoods again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use colgrep_encoder::Multivector;

/// Vectors of texts of one model, by hash ([`text_hash`](crate::units::text_hash)), up to a number of bytes.
#[derive(Debug)]
pub struct Memory {
    bytes_max: usize,
    held: Mutex<Held>,
}

/// Two generations: what is asked for moves to the younger one, and the older one goes when that has half of the room.
#[derive(Debug, Default)]
struct Held {
    young: HashMap<u64, Arc<Multivector>>,
    young_bytes: usize,
    old: HashMap<u64, Arc<Multivector>>,
}

impl Held {
    fn add(&mut self, hash: u64, vectors: Arc<Multivector>, bytes_max: usize) {
        let bytes = size(&vectors);
        if self.young_bytes + bytes > bytes_max / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if 2 * bytes <= bytes_max && self.young.insert(hash, vectors).is_none() {
            self.young_bytes += bytes;
        }
    }
}

fn size(vectors: &Multivector) -> usize {
    size_of_val(vectors.values()) + size_of::<(u64, Multivector)>()
}

impl Memory {
    /// An empty one.
    pub fn new(bytes_max: usize) -> Memory {
        Memory { bytes_max, held: Mutex::default() }
    }

    /// The vectors of a text, if they are known.
    pub(crate) fn get(&self, hash: u64) -> Option<Arc<Multivector>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vectors) = held.young.get(&hash) {
            return Some(Arc::clone(vectors));
        }
        let vectors = held.old.remove(&hash)?;
        held.add(hash, Arc::clone(&vectors), self.bytes_max);
        Some(vectors)
    }

    /// Remembers the vectors of a text.
    pub(crate) fn add(&self, hash: u64, vectors: Arc<Multivector>) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).add(hash, vectors, self.bytes_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_goes_first() {
        let vectors = || Arc::new(Multivector::new(1, 0, vec![0.0; 100]));
        let memory = Memory::new(10 * size(&vectors()));
        let bytes = || {
            let held = memory.held.lock().expect("no panic");
            held.young.values().chain(held.old.values()).map(|v| size(v)).sum::<usize>()
        };
        for hash in 0..100 {
            memory.add(hash, vectors());
            assert!(memory.get(0).is_some() && bytes() <= memory.bytes_max, "{hash}");
        }
        assert!(memory.get(99).is_some() && memory.get(1).is_none());
        memory.add(200, Arc::new(Multivector::new(1, 0, vec![0.0; 1_000])));
        assert!(memory.get(200).is_none(), "larger than all room");
    }
}
