//! The full vectors of texts that a server met: it is asked about the same neighbourhoods again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use colgrep_encoder::Multivector;

use crate::ids::TextHash;

/// Vectors of texts of one model, by the hash of the text, up to a number of bytes.
#[derive(Debug)]
pub struct Memory {
    bytes_max: usize,
    held: Mutex<Held>,
}

/// Two generations: what is asked for moves to the younger one, and the older one goes when that has half of the room.
#[derive(Debug, Default)]
struct Held {
    young: HashMap<TextHash, Arc<Multivector>>,
    young_bytes: usize,
    old: HashMap<TextHash, Arc<Multivector>>,
}

impl Held {
    fn add(&mut self, hash: TextHash, vectors: Arc<Multivector>, bytes_max: usize) {
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
    size_of_val(vectors.values()) + size_of::<(TextHash, Multivector)>()
}

impl Memory {
    /// An empty one.
    pub fn new(bytes_max: usize) -> Memory {
        Memory { bytes_max, held: Mutex::default() }
    }

    /// The vectors of a text, if they are known.
    pub(crate) fn get(&self, hash: TextHash) -> Option<Arc<Multivector>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vectors) = held.young.get(&hash) {
            return Some(Arc::clone(vectors));
        }
        let vectors = held.old.remove(&hash)?;
        held.add(hash, Arc::clone(&vectors), self.bytes_max);
        Some(vectors)
    }

    /// Remembers the vectors of a text.
    pub(crate) fn add(&self, hash: TextHash, vectors: Arc<Multivector>) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).add(hash, vectors, self.bytes_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_goes_first() {
        let vectors = || Arc::new(Multivector::from_values(1, 0, vec![0.0; 100]));
        let memory = Memory::new(10 * size(&vectors()));
        let bytes = || {
            let held = memory.held.lock().expect("no panic");
            held.young.values().chain(held.old.values()).map(|v| size(v)).sum::<usize>()
        };
        let text = |value: u64| TextHash::new(value).expect("not 0");
        for hash in 1..=100 {
            memory.add(text(hash), vectors());
            assert!(memory.get(text(1)).is_some() && bytes() <= memory.bytes_max, "{hash}");
        }
        assert!(memory.get(text(100)).is_some() && memory.get(text(2)).is_none());
        memory.add(text(200), Arc::new(Multivector::from_values(1, 0, vec![0.0; 1_000])));
        assert!(memory.get(text(200)).is_none(), "larger than all room");
    }
}
