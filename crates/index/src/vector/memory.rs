//! An in-memory cache of full vectors for a server, whose queries often have the same neighbours.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use colgrep_encoder::Multivector;
use lru::LruCache;

use crate::ids::TextHash;

/// Least-recently-used cache of the vectors of texts of one model, bounded in bytes.
#[derive(Debug)]
pub struct Memory {
    bytes_max: usize,
    held: Mutex<HeldMemory>,
}

#[derive(Debug)]
struct HeldMemory {
    vectors: LruCache<TextHash, Arc<Multivector>>,
    bytes: usize,
}

fn size(vectors: &Multivector) -> usize {
    size_of_val(vectors.values()) + size_of::<(TextHash, Multivector)>()
}

impl Memory {
    /// An empty cache for at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Memory {
        Memory { bytes_max, held: Mutex::new(HeldMemory { vectors: LruCache::unbounded(), bytes: 0 }) }
    }

    fn held(&self) -> MutexGuard<'_, HeldMemory> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached vectors of a text.
    pub fn get(&self, text: TextHash) -> Option<Arc<Multivector>> {
        self.held().vectors.get(&text).cloned()
    }

    /// Adds the vectors of a text, unless they exceed the bound by themselves.
    pub fn add(&self, text: TextHash, vectors: Arc<Multivector>) {
        let bytes = size(&vectors);
        if bytes > self.bytes_max {
            return;
        }
        let mut held = self.held();
        let replaced = held.vectors.put(text, vectors).map_or(0, |old| size(&old));
        held.bytes = held.bytes + bytes - replaced;
        while held.bytes > self.bytes_max
            && let Some((_, oldest)) = held.vectors.pop_lru()
        {
            held.bytes -= size(&oldest);
        }
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
            let held = memory.held();
            assert_eq!(held.bytes, held.vectors.iter().map(|(_, v)| size(v)).sum::<usize>());
            held.bytes
        };
        let text = |value: u64| TextHash::new(value).expect("not 0");
        for hash in 1..=100 {
            memory.add(text(hash), vectors());
            assert!(memory.get(text(1)).is_some() && bytes() <= memory.bytes_max, "{hash}");
        }
        assert!(memory.get(text(100)).is_some() && memory.get(text(2)).is_none());
        memory.add(text(100), vectors());
        assert_eq!(bytes(), memory.bytes_max, "a text counts once");
        memory.add(text(200), Arc::new(Multivector::from_values(1, 0, vec![0.0; 2_000])));
        assert!(memory.get(text(200)).is_none(), "larger than the bound");
    }
}
