//! The embedded model's tokenizer: words to ids of vocabulary pieces, by greedy longest match.
//!
//! WordPiece as in BERT (Devlin et al., NAACL 2019): the longest piece that the rest of a word begins with, again
//! and again; pieces inside a word are written with `##`. A word that no pieces cover is one unknown piece.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::words::words;
use crate::Error;

/// Id of the piece for words that the vocabulary does not cover.
pub(crate) const UNKNOWN: u32 = 1;
/// Words of more characters are data (hashes, base64) and are left out.
const WORD_CHARS_MAX: usize = 40;
/// Pieces taken of one word; what follows is left out.
const WORD_PIECES_MAX: usize = 6;
/// What marks a piece inside a word in the vocabulary file.
const INSIDE: &[u8] = b"##";

/// A vocabulary, ready to look pieces up in.
pub(crate) struct Vocabulary<'a> {
    /// Pieces by id, as written in the file.
    pieces: Vec<&'a [u8]>,
    /// Ids by the hash of their pieces.
    ids: HashTable<u32>,
    /// Length of the longest piece without its mark, in bytes.
    piece_bytes_max: usize,
}

/// FNV-1a (Fowler, Noll, Vo), which hashes all beginnings of a word in one pass over it.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    /// Begins a piece that stands at a word's start or inside it.
    fn begin(inside: bool) -> Hash {
        let hash = Hash(0xcbf2_9ce4_8422_2325);
        if inside { hash.with(b'#') } else { hash }
    }

    /// With one more byte.
    #[inline]
    fn with(self, byte: u8) -> Hash {
        Hash((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// Folds the well-mixed middle into the ends that the table reads.
    #[inline]
    fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// Whether what begins here is marked as a piece inside a word; the mark alone is a piece of its own.
fn is_inside(piece: &[u8]) -> bool {
    piece.starts_with(INSIDE) && !matches!(piece.get(INSIDE.len()), None | Some(b'\n'))
}

/// The text of a piece without its mark, and whether it had one.
fn text_of(piece: &[u8]) -> (&[u8], bool) {
    if is_inside(piece) { (&piece[INSIDE.len()..], true) } else { (piece, false) }
}

impl<'a> Vocabulary<'a> {
    /// Reads a vocabulary file: a piece a line, its id the line's number from 0.
    ///
    /// # Errors
    /// When it lacks the special pieces or holds a piece twice.
    pub(crate) fn new(file: &'a str) -> Result<Vocabulary<'a>, Error> {
        if !file.starts_with("[PAD]\n[UNK]\n") {
            return Err(Error::Unfit("vocab.txt must begin with [PAD] and [UNK]; export the model again".into()));
        }
        // One pass over the bytes cuts and hashes: this is most of the program's time to start.
        let count = file.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let mut pieces: Vec<&'a [u8]> = Vec::with_capacity(count);
        let mut ids: HashTable<u32> = HashTable::with_capacity(count);
        let (bytes, mut start, mut piece_bytes_max) = (file.as_bytes(), 0, 0);
        while start < bytes.len() {
            let inside = is_inside(&bytes[start..]);
            let text = start + if inside { INSIDE.len() } else { 0 };
            let (mut end, mut hash) = (text, Hash::begin(inside));
            while end < bytes.len() && bytes[end] != b'\n' {
                hash = hash.with(bytes[end]);
                end += 1;
            }
            let piece = &bytes[start..end];
            let hash_of = |id: &u32| {
                let (text, inside) = text_of(pieces[*id as usize]);
                text.iter().copied().fold(Hash::begin(inside), Hash::with).finish()
            };
            match ids.entry(hash.finish(), |id| pieces[*id as usize] == piece, hash_of) {
                Entry::Occupied(_) => {
                    let piece = &file[start..end];
                    return Err(Error::Unfit(format!("vocab.txt holds {piece} twice; export the model again")));
                }
                Entry::Vacant(slot) => slot.insert(pieces.len() as u32),
            };
            piece_bytes_max = piece_bytes_max.max(end - text);
            pieces.push(piece);
            start = end + 1;
        }
        Ok(Vocabulary { pieces, ids, piece_bytes_max })
    }

    /// Number of pieces.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Appends the ids of `text`'s pieces to `ids`, at most `limit` of them.
    pub(crate) fn encode(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        let end = ids.len() + limit;
        let (mut lower, mut hashes) = (String::new(), Vec::new());
        for word in words(text) {
            let word = &text[word];
            if word.len() > WORD_CHARS_MAX && word.chars().count() > WORD_CHARS_MAX {
                continue;
            }
            lower.clear();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower = word.to_lowercase();
            }
            self.word(&lower, &mut hashes, ids);
            if ids.len() >= end {
                ids.truncate(end);
                return;
            }
        }
    }

    /// Appends the ids of one word's pieces.
    fn word(&self, word: &str, hashes: &mut Vec<u64>, ids: &mut Vec<u32>) {
        let start = ids.len();
        let mut at = 0;
        while at < word.len() {
            let Some((id, len)) = self.longest(&word[at..], at > 0, hashes) else {
                ids.truncate(start);
                ids.push(UNKNOWN);
                return;
            };
            ids.push(id);
            at += len;
        }
        ids.truncate(start + WORD_PIECES_MAX);
    }

    /// The longest piece that `rest` begins with: its id, and its length in bytes. `hashes` is scratch.
    #[inline]
    fn longest(&self, rest: &str, inside: bool, hashes: &mut Vec<u64>) -> Option<(u32, usize)> {
        let longest = rest.len().min(self.piece_bytes_max);
        let mut hash = Hash::begin(inside);
        hashes.clear();
        hashes.extend(rest.as_bytes()[..longest].iter().map(|byte| {
            hash = hash.with(*byte);
            hash.finish()
        }));
        (1..=longest).rev().find_map(|len| {
            let bytes = &rest.as_bytes()[..len];
            let is = |id: &u32| {
                let (text, text_inside) = text_of(self.pieces[*id as usize]);
                text_inside == inside && text == bytes
            };
            self.ids.find(hashes[len - 1], is).map(|id| (*id, len))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const FILE: &str =
        "[PAD]\n[UNK]\n[Q]\n[D]\nparse\nrequest\n##r\n##s\n##er\na\nb\n##a\n##b\nß\n語\n##ab\ni\n##\u{307}";

    /// The same by the book: every prefix from the longest, in a map.
    fn naive(vocabulary: &HashMap<String, u32>, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        for word in words(text).map(|range| &text[range]).filter(|word| word.chars().count() <= WORD_CHARS_MAX) {
            let chars: Vec<char> = word.to_lowercase().chars().collect();
            let (mut found, mut at) = (Vec::new(), 0);
            while at < chars.len() {
                let piece = (at + 1..=chars.len()).rev().find_map(|end| {
                    let piece: String = chars[at..end].iter().collect();
                    let key = if at > 0 { format!("##{piece}") } else { piece };
                    vocabulary.get(&key).map(|id| (*id, end))
                });
                match piece {
                    Some((id, end)) => {
                        found.push(id);
                        at = end;
                    }
                    None => {
                        found = vec![UNKNOWN];
                        break;
                    }
                }
            }
            found.truncate(WORD_PIECES_MAX);
            ids.extend(found);
        }
        ids
    }

    #[test]
    fn examples() {
        let vocabulary = Vocabulary::new(FILE).unwrap();
        for (text, expected) in [
            ("parseRequests", &[4, 5, 7][..]),
            ("Parser PARSER", &[4, 6, 4, 6]),
            ("parserz", &[UNKNOWN]),
            ("abab", &[9, 12, 15]),
            ("aaaaaaaaa", &[9, 11, 11, 11, 11, 11]),
            ("İ", &[16, 17]),
            ("語語", &[14, 14]),
            ("+-", &[]),
        ] {
            let mut ids = Vec::new();
            vocabulary.encode(text, 100, &mut ids);
            assert_eq!(ids, expected, "{text}");
        }
        let mut ids = vec![7];
        vocabulary.encode("a b a b", 3, &mut ids);
        assert_eq!(ids, [7, 9, 10, 9], "cut at the limit");
    }

    #[test]
    fn broken_files() {
        for (file, expected) in [("a\nb", "must begin with [PAD]"), ("[PAD]\n[UNK]\na\na", "holds a twice")] {
            assert!(Vocabulary::new(file).err().unwrap().full().contains(expected), "{file}");
        }
    }

    proptest::proptest! {
        #[test]
        fn equal_to_the_naive_twin(text in "([abrsqzABß語İ_ ]|parse|request|Request|er|\\PC){0,60}") {
            let vocabulary = Vocabulary::new(FILE).unwrap();
            let map = FILE.lines().zip(0..).map(|(piece, id)| (piece.to_string(), id)).collect();
            let mut ids = Vec::new();
            vocabulary.encode(&text, usize::MAX / 2, &mut ids);
            proptest::prop_assert_eq!(ids, naive(&map, &text));
        }
    }
}
