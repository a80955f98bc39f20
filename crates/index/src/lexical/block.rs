//! Blocks of a sealed file, plain or compressed, and a reader's cache of blocks.

use std::cell::RefCell;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use tantivy::directory::OwnedBytes;
use zstd::bulk::{Compressor, Decompressor};

/// Uncompressed bytes of a block, the minimum that a lookup reads.
pub(super) const BLOCK: usize = 4 << 10;
/// zstd's fastest: lists and positions repeat little, so higher levels save 1 to 3 % for three to ten times the work.
const LEVEL: i32 = 1;
/// Maximum of cached blocks per file: 8 MiB. Searches read the same few dozen hundreds of times.
const KEPT_MAX: usize = 2 << 10;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Runs `work` on a thread's instance, created on first use.
fn with<T, R>(
    own: &'static std::thread::LocalKey<RefCell<Option<T>>>,
    make: impl FnOnce() -> io::Result<T>,
    run: impl FnOnce(&mut T) -> io::Result<R>,
) -> io::Result<R> {
    own.with_borrow_mut(|own| {
        let own = match own {
            Some(own) => own,
            None => own.insert(make()?),
        };
        run(own)
    })
}

/// Appends a block to `to`, compressed if that saves at least `worth` bytes, and returns its length there.
///
/// # Errors
/// When out of memory.
pub(super) fn pack(block: &[u8], worth: usize, to: &mut Vec<u8>) -> io::Result<usize> {
    let make = || Compressor::new(LEVEL);
    let mut room = [0; BLOCK];
    let most = block.len().min(BLOCK).saturating_sub(worth);
    // The compressor fails for lack of room if the block is not worth it.
    let packed = with(&COMPRESSOR, make, |own| Ok(own.compress_to_buffer(block, &mut room[..most]).ok()))?;
    let bytes = packed.map_or(block, |length| &room[..length]);
    to.extend_from_slice(bytes);
    Ok(bytes.len())
}

/// Decompresses `packed` into `block`.
///
/// # Errors
/// When it is not a compressed block of this length.
pub(super) fn unpack(packed: &[u8], block: &mut [u8]) -> io::Result<()> {
    let length = with(&DECOMPRESSOR, Decompressor::new, |own| own.decompress_to_buffer(packed, &mut *block))?;
    if length == block.len() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Slots allocated at a time: most searches read few blocks of a file.
const SLOTS: usize = 64;

/// A cache of blocks. In a file with more blocks, several share a slot, and the last one read stays.
#[derive(Default)]
pub(super) struct BlockCache {
    slots: OnceLock<Box<[Slots]>>,
}

/// A block with its number.
type Slot = Mutex<Option<(usize, OwnedBytes)>>;

/// A group of slots, allocated on first use.
type Slots = OnceLock<Box<[Slot; SLOTS]>>;

impl BlockCache {
    fn slot(&self, number: usize, blocks: usize) -> &Slot {
        let at = number % blocks.clamp(1, KEPT_MAX);
        let parts = || (0..blocks.clamp(1, KEPT_MAX).div_ceil(SLOTS)).map(|_| OnceLock::new()).collect();
        let part = &self.slots.get_or_init(parts)[at / SLOTS];
        &part.get_or_init(|| Box::new([const { Mutex::new(None) }; SLOTS]))[at % SLOTS]
    }

    /// Block number `number` of a file, from the cache or from `read`.
    ///
    /// # Errors
    /// As `read`.
    pub(super) fn block(
        &self,
        number: usize,
        blocks: usize,
        read: impl FnOnce() -> io::Result<OwnedBytes>,
    ) -> io::Result<OwnedBytes> {
        let slot = self.slot(number, blocks);
        let known = || slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = known().as_ref().filter(|(at, _)| *at == number) {
            return Ok(block.clone());
        }
        // Unlocked: another thread may read the same block meanwhile.
        let block = read()?;
        *known() = Some((number, block.clone()));
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORTH: usize = BLOCK / 16;

    #[test]
    fn what_is_packed_is_unpacked() {
        let random = |i: usize| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes()) as u8;
        for length in [1, 100, WORTH, WORTH + 1, BLOCK - 1, BLOCK] {
            for (block, shrinks) in [
                ((0..length).map(random).collect::<Vec<u8>>(), false),
                ((0..length).map(|i| random(i) & 3).collect(), length > BLOCK / 2),
                (vec![7; length], length > 2 * WORTH),
            ] {
                let mut packed = b"before".to_vec();
                let size = pack(&block, WORTH, &mut packed).expect("packed");
                assert_eq!(packed.len(), 6 + size);
                assert_eq!(size < length, shrinks, "{length}");
                if shrinks {
                    let mut back = vec![0; length];
                    unpack(&packed[6..], &mut back).expect("unpacked");
                    assert_eq!(back, block);
                    unpack(&packed[6..], &mut vec![0; length - 1]).expect_err("another length");
                    unpack(&packed[7..], &mut vec![0; length]).expect_err("no block");
                } else {
                    assert_eq!(&packed[6..], block);
                }
            }
        }
    }

    #[test]
    fn a_block_is_read_once_while_it_has_its_place() {
        let kept = BlockCache::default();
        let reads = std::cell::Cell::new(0);
        let get = |number: usize| {
            let read = || {
                reads.set(reads.get() + 1);
                Ok(OwnedBytes::new(number.to_le_bytes().to_vec()))
            };
            let block = kept.block(number, 3 * KEPT_MAX, read).expect("a block");
            assert_eq!(block.as_slice(), number.to_le_bytes());
            reads.get()
        };
        assert_eq!([5, 6, 5, 6].map(get), [1, 2, 2, 2]);
        assert_eq!([5 + KEPT_MAX, 5, 6].map(get), [3, 4, 4]);
    }
}
