//! The embedded model's tokenizer: words to ids of vocabulary pieces, by greedy longest match.
//!
//! WordPiece as in BERT (Devlin et al., NAACL 2019): repeatedly takes the longest piece that the rest of a word begins
//! with; pieces inside a word are written with `##`. A word that pieces can't cover is one unknown piece.

use std::borrow::Cow;

use super::table::{self, Hash, TableBytes, Unfit, text_of};
use super::words::words;
use crate::Error;

/// Id of the piece for words that the vocabulary does not cover.
pub(crate) const UNKNOWN: u32 = 1;
/// Words of more characters are data (hashes, base64) and are left out.
const WORD_CHARS_MAX: usize = 40;
/// Maximum of pieces per word; the rest is left out.
const WORD_PIECES_MAX: usize = 6;

/// A vocabulary with its lookup table.
pub(crate) struct Vocabulary<'a> {
    /// The file, a piece per line.
    file: &'a [u8],
    /// Where each piece begins in it, and ids by the hash of their pieces ([`table`]).
    starts: Cow<'a, [u8]>,
    slots: Cow<'a, [u8]>,
    /// Length of the longest piece without its mark, in bytes.
    piece_bytes_max: usize,
}

impl<'a> Vocabulary<'a> {
    /// Reads a vocabulary file: one piece per line, its id the line's number from 0.
    ///
    /// # Errors
    /// When it lacks the special pieces, or has a piece twice or too many pieces.
    pub(crate) fn new(file: &'a str) -> Result<Vocabulary<'a>, Error> {
        if !file.starts_with("[PAD]\n[UNK]\n") {
            return Err(Error::Unfit("vocab.txt must begin with [PAD] and [UNK]; export the model again".into()));
        }
        let TableBytes { starts, slots, longest } = table::make(file).map_err(|unfit| {
            Error::Unfit(match unfit {
                Unfit::Twice(piece) => format!("vocab.txt holds {piece} twice; export the model again"),
                Unfit::Many(pieces) => {
                    format!("vocab.txt has {pieces} pieces, this program reads 65,535; export the model again")
                }
            })
        })?;
        let (starts, slots) = (Cow::Owned(starts), Cow::Owned(slots));
        Ok(Vocabulary { file: file.as_bytes(), starts, slots, piece_bytes_max: longest })
    }

    /// A vocabulary with a precomputed table: the bytes of its two parts, and the length of its longest piece.
    pub(crate) fn made(file: &'a str, starts: &'a [u8], slots: &'a [u8], piece_bytes_max: usize) -> Vocabulary<'a> {
        Vocabulary { file: file.as_bytes(), starts: starts.into(), slots: slots.into(), piece_bytes_max }
    }

    /// Whether the piece with an id has this text, at a word's start or inside it.
    #[inline]
    fn is(&self, id: u32, text: &[u8], inside: bool) -> bool {
        let line = self.file.get(table::number(&self.starts, id as usize) as usize..).unwrap_or_default();
        // A marked piece has its text after the mark, so its line is longer.
        let piece_len = text.len() + if inside { table::INSIDE.len() } else { 0 };
        let is_whole = line.get(piece_len).is_none_or(|byte| *byte == b'\n');
        is_whole && line.get(..piece_len).is_some_and(|piece| text_of(piece) == (text, inside))
    }

    /// Number of pieces.
    pub(crate) fn len(&self) -> usize {
        table::len(&self.starts)
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

    /// The longest piece that `rest` begins with: its id, and its length in bytes. `hashes` is a scratch buffer.
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
            let text = &rest.as_bytes()[..len];
            let id = table::candidates(&self.slots, hashes[len - 1]).find(|id| self.is(*id, text, inside))?;
            Some((id, len))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const FILE: &str =
        "[PAD]\n[UNK]\n[Q]\n[D]\nparse\nrequest\n##r\n##s\n##er\na\nb\n##a\n##b\nß\n語\n##ab\ni\n##\u{307}";

    /// A naive implementation: every prefix from the longest, in a map.
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
