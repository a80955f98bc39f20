//! The lookup table of a vocabulary's pieces. The built-in model's is computed at build time (`build.rs` compiles this
//! file too), another model's when it is opened.

/// Marks a piece inside a word in the vocabulary file.
pub(crate) const INSIDE: &[u8] = b"##";
/// Maximum of pieces: their numbers from 1 fill half of a slot.
const PIECES_MAX: usize = u16::MAX as usize;
/// Bytes of a number in a table.
const NUMBER: usize = 4;

/// A table as bytes without alignment. Numbers have 32 bits, lowest byte first.
pub(crate) struct TableBytes {
    /// First byte of each piece's line in the file.
    pub(crate) starts: Vec<u8>,
    /// A power of 2 of slots. A slot is 0, or the piece's number from 1 and 16 bits of its hash. A piece is in the
    /// first free slot from the one of its hash.
    pub(crate) slots: Vec<u8>,
    /// Length of the longest piece without its mark, in bytes.
    pub(crate) longest: usize,
}

/// Why a table can't be built.
pub(crate) enum Unfit {
    /// The file has this piece twice.
    Twice(String),
    /// There are more pieces than a slot can name.
    Many(usize),
}

/// FNV-1a (Fowler, Noll, Vo), which hashes all prefixes of a word in one pass.
#[derive(Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    /// Begins the hash of a piece at a word's start or inside it.
    pub(crate) fn begin(inside: bool) -> Hash {
        let hash = Hash(0xcbf2_9ce4_8422_2325);
        if inside { hash.with(b'#') } else { hash }
    }

    #[inline]
    pub(crate) fn with(self, byte: u8) -> Hash {
        Hash((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// Folds the well-mixed middle into the ends that the table uses.
    #[inline]
    pub(crate) fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// The text of a piece without its mark, and whether it had one; the mark by itself is a piece of its own.
pub(crate) fn text_of(piece: &[u8]) -> (&[u8], bool) {
    match piece.strip_prefix(INSIDE) {
        Some(text) if !text.is_empty() => (text, true),
        _ => (piece, false),
    }
}

/// The number at a position of a table.
#[inline]
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(NUMBER * at..).and_then(|rest| rest.first_chunk()).map_or(0, |number| u32::from_le_bytes(*number))
}

/// The number of entries in a table.
pub(crate) fn len(bytes: &[u8]) -> usize {
    bytes.len() / NUMBER
}

/// The pieces with this hash, by number from 0, and some others.
#[inline]
pub(crate) fn candidates(slots: &[u8], hash: u64) -> impl Iterator<Item = u32> {
    let mask = len(slots).wrapping_sub(1);
    let mut at = hash as usize & mask;
    let tag = (hash >> 48) as u32;
    std::iter::from_fn(move || {
        loop {
            let slot = number(slots, at);
            at = (at + 1) & mask;
            match slot {
                0 => return None,
                slot if slot >> 16 == tag => return Some((slot & 0xffff) - 1),
                _ => {}
            }
        }
    })
}

/// Builds the table of a vocabulary file with a piece per line.
pub(crate) fn make(file: &str) -> Result<TableBytes, Unfit> {
    let pieces: Vec<&str> = file.strip_suffix('\n').unwrap_or(file).split('\n').collect();
    if pieces.len() > PIECES_MAX {
        return Err(Unfit::Many(pieces.len()));
    }
    let count = (pieces.len() * 8 / 5 + 1).next_power_of_two();
    let mut slots = vec![0u32; count];
    let mut made = TableBytes { starts: Vec::with_capacity(NUMBER * pieces.len()), slots: Vec::new(), longest: 0 };
    let mut start = 0u32;
    for (id, piece) in pieces.iter().enumerate() {
        let (text, inside) = text_of(piece.as_bytes());
        let hash = text.iter().copied().fold(Hash::begin(inside), Hash::with).finish();
        let tag = (hash >> 48) as u32;
        let mut at = hash as usize & (count - 1);
        while slots[at] != 0 {
            if pieces[(slots[at] & 0xffff) as usize - 1] == *piece {
                return Err(Unfit::Twice((*piece).to_string()));
            }
            at = (at + 1) & (count - 1);
        }
        slots[at] = tag << 16 | (id as u32 + 1);
        made.starts.extend(start.to_le_bytes());
        made.longest = made.longest.max(text.len());
        start += piece.len() as u32 + 1;
    }
    made.slots = slots.into_iter().flat_map(u32::to_le_bytes).collect();
    Ok(made)
}
