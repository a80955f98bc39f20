//! What a file's bytes can hold, in a few bits: which files a text or a pattern need not be looked for in.
//!
//! A signature is a Bloom filter with one hash (Bloom, CACM 1970) over a file's sequences of four bytes, letters of ASCII
//! in lower case, with three bits for two different ones: 3.6 % of the source. A text of `n` bytes asks for `n - 3` bits;
//! each is set by chance in 49 of 100 files, so twelve bytes that a file does not hold are refused in 998 of 1,000. What is
//! refused is surely not there; what passes has to be read. Sequences of four tell more than the three of codesearch and
//! Zoekt for the same bits, and there is no list of files for each of them, which would take ten times as much.
//!
//! A signature lies in [`STRIPS`], each with the bits of its own sequences, so that a text reads the few strips that tell
//! most of it. Neighbours in a text mostly share a strip: it is that of the pair of bytes in a sequence whose hash is least
//! (a minimizer, Roberts et al., Bioinformatics 2004).

use std::cmp::Reverse;
use std::ops::Range;

/// Bytes of a sequence.
pub const GRAM: usize = 4;
/// Least source of a tree whose files get signatures, in bytes: a smaller one is read as fast as its signatures are opened.
pub const SOURCE_BYTES_MIN: u64 = 64 << 20;
/// Largest file that gets a signature although it is not indexed, in bytes: it is read for that alone.
pub const SIGNED_BYTES_MAX: u64 = 32 << 20;
/// Most different sequences of a file that has a signature: what has more is packed data, and the signature would be long.
const DIFFERENT_MAX: usize = 1 << 22;
/// Sequences of a file that are gathered, beside twice those that are known to differ, before equal ones are dropped.
const GATHERED_MAX: usize = 1 << 18;
/// Marks of text in two bytes a character: what is searched of such a file is not what it holds.
const WIDE: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Parts of a signature.
pub const STRIPS: usize = 8;
/// Sequences of a text that are enough to be asked for: by chance one file in 2,500 has all of them.
const ENOUGH: usize = 11;

/// What a file's bytes can hold: 64 bits a number. All strips are empty where it would tell nothing, and else none is.
pub type Signature = [Vec<u64>; STRIPS];

/// The sequences of some bytes, the first byte highest; letters of ASCII in any case are the same.
fn sequences(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut last = 0;
    let all = bytes.iter().map(move |byte| {
        last = last << 8 | u32::from(byte.to_ascii_lowercase());
        last
    });
    all.skip(GRAM - 1)
}

/// A permutation of 32 bits that spreads neighbours: the finalizer of MurmurHash3 (Appleby).
fn mixed(mut bits: u32) -> u32 {
    bits = (bits ^ bits >> 16).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ bits >> 13).wrapping_mul(0xC2B2_AE35);
    bits ^ bits >> 16
}

/// A sequence as signatures know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gram {
    /// Its strip.
    pub strip: usize,
    hash: u32,
}

impl Gram {
    fn of(sequence: u32) -> Gram {
        let pairs = [sequence >> 16, sequence >> 8 & 0xFFFF, sequence & 0xFFFF].map(mixed);
        let least = pairs.into_iter().min().unwrap_or_default();
        Gram { strip: least as usize % STRIPS, hash: mixed(sequence) }
    }

    /// Its bit in a strip of so many numbers: which number, and the bit in it.
    pub fn bit(self, words: usize) -> (usize, u64) {
        let bit = ((u64::from(self.hash) * 64 * words as u64) >> 32) as usize;
        (bit / 64, 1 << (bit % 64))
    }
}

/// The signature of a file's bytes.
pub fn signature(bytes: &[u8]) -> Signature {
    let mut strips = Signature::default();
    if WIDE.iter().any(|mark| bytes.starts_with(mark)) {
        return strips;
    }
    let mut all = Vec::with_capacity(bytes.len().min(GATHERED_MAX));
    let mut kept = 0;
    for sequence in sequences(bytes) {
        if all.len() >= 2 * kept + GATHERED_MAX {
            all.sort_unstable();
            all.dedup();
            kept = all.len();
            if kept > DIFFERENT_MAX {
                return strips;
            }
        }
        all.push(sequence);
    }
    all.sort_unstable();
    all.dedup();
    let grams = || all.iter().map(|sequence| Gram::of(*sequence));
    let mut counts = [0; STRIPS];
    grams().for_each(|gram| counts[gram.strip] += 1);
    for (strip, count) in strips.iter_mut().zip(counts) {
        *strip = vec![0; usize::div_ceil(count * 3 / 2, 64).max(1)];
    }
    for gram in grams() {
        let strip = &mut strips[gram.strip];
        let (word, bit) = gram.bit(strip.len());
        strip[word] |= bit;
    }
    strips
}

/// What a file must hold to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Nothing that a signature could tell.
    Nothing,
    /// A text; letters of ASCII may be in any case.
    Text(Vec<u8>),
    /// All of these.
    All(Vec<Needed>),
    /// One of these.
    Any(Vec<Needed>),
}

impl Needed {
    /// Whether a signature can refuse a file.
    pub fn is_selective(&self) -> bool {
        match self {
            Needed::Nothing => false,
            Needed::Text(text) => text.len() >= GRAM,
            Needed::All(all) => all.iter().any(Needed::is_selective),
            Needed::Any(any) => !any.is_empty() && any.iter().all(Needed::is_selective),
        }
    }
}

/// [`Needed`] in the terms of signatures.
#[derive(Clone, Debug)]
pub struct Sought {
    grams: Vec<Gram>,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Always,
    Grams(Range<usize>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Sought {
    /// What is asked of signatures for what is needed.
    pub fn new(needed: &Needed) -> Sought {
        let mut grams = Vec::new();
        let node = Sought::node(needed, &mut grams);
        Sought { grams, node }
    }

    fn node(needed: &Needed, all: &mut Vec<Gram>) -> Node {
        match needed {
            Needed::Text(text) if text.len() >= GRAM => {
                let from = all.len();
                // A search by lines takes a NUL byte for the end of one.
                let lines = text.split(|byte| matches!(byte, 0 | b'\n'));
                all.extend(telling(lines.flat_map(sequences).map(Gram::of).collect()));
                Node::Grams(from..all.len())
            }
            Needed::Nothing | Needed::Text(_) => Node::Always,
            Needed::All(parts) => Node::All(parts.iter().map(|part| Sought::node(part, all)).collect()),
            Needed::Any(parts) if parts.is_empty() => Node::Always,
            Needed::Any(parts) => Node::Any(parts.iter().map(|part| Sought::node(part, all)).collect()),
        }
    }

    /// Whether anything is asked of this strip.
    pub fn asks(&self, strip: usize) -> bool {
        self.grams.iter().any(|gram| gram.strip == strip)
    }

    /// Whether a file may match, by whether its signature has a bit, which is asked for when it is needed.
    pub fn may_match(&self, is_set: impl Fn(Gram) -> bool) -> bool {
        self.holds(&self.node, &is_set)
    }

    fn holds(&self, node: &Node, is_set: &impl Fn(Gram) -> bool) -> bool {
        match node {
            Node::Always => true,
            Node::Grams(range) => self.grams[range.clone()].iter().all(|gram| is_set(*gram)),
            Node::All(nodes) => nodes.iter().all(|node| self.holds(node, is_set)),
            Node::Any(nodes) => nodes.iter().any(|node| self.holds(node, is_set)),
        }
    }
}

/// Of a text's sequences those of the strips that tell most of it, as long as more is needed.
fn telling(mut grams: Vec<Gram>) -> Vec<Gram> {
    grams.sort_unstable();
    grams.dedup();
    let mut strips: Vec<&[Gram]> = grams.chunk_by(|one, other| one.strip == other.strip).collect();
    strips.sort_by_key(|strip| Reverse(strip.len()));
    let mut chosen = Vec::new();
    for strip in strips {
        if chosen.len() >= ENOUGH {
            break;
        }
        chosen.extend_from_slice(strip);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Needed {
        Needed::Text(text.as_bytes().to_vec())
    }

    fn may_match(needed: &Needed, signature: &Signature) -> bool {
        Sought::new(needed).may_match(|gram| {
            let strip = &signature[gram.strip];
            let (word, bit) = gram.bit(strip.len());
            strip.is_empty() || strip[word] & bit != 0
        })
    }

    #[test]
    fn what_is_not_there_is_mostly_refused() {
        let words: Vec<String> = (0..2_000).map(|i| format!("name_{:x}", mixed(i))).collect();
        let signature = signature(words.join("\n").as_bytes());
        let may = |needed: &Needed| may_match(needed, &signature);
        assert!(words.iter().all(|word| may(&text(word)) && may(&text(&word.to_uppercase()))));
        let passed = (0..2_000).filter(|i| may(&text(&format!("other {:x} thing", mixed(i + 5_000))))).count();
        assert!(passed < 20, "{passed} of 2,000");
        let [there, gone] = [text(&words[7]), text("some quite different text")];
        assert!(may(&Needed::Any(vec![gone.clone(), there.clone()])));
        assert!(!may(&Needed::All(vec![gone.clone(), there.clone()])));
        assert!(may(&Needed::Any(vec![gone, Needed::Nothing])) && may(&Needed::Any(Vec::new())) && may(&text("zzz")));
    }

    #[test]
    fn a_wide_text_and_a_short_one_pass() {
        assert_eq!(signature(b"\xff\xfea\0b\0"), Signature::default());
        assert!(may_match(&text("abcdef"), &Signature::default()));
        assert_eq!(signature(b"abc"), [const { [0] }; STRIPS]);
        assert!(!may_match(&text("abcdef"), &signature(b"abc")), "three bytes hold no six");
        assert!(!text("abc").is_selective() && text("abcd").is_selective());
        assert!(!Needed::Any(vec![text("abcd"), text("a")]).is_selective());
        assert!(Needed::All(vec![text("abcd"), text("a")]).is_selective());
    }

    #[test]
    fn a_long_text_asks_few_strips() {
        let sought = Sought::new(&text("spawn_blocking_with_a_long_name"));
        assert!((ENOUGH..ENOUGH + 8).contains(&sought.grams.len()), "{}", sought.grams.len());
        let asked = (0..STRIPS).filter(|strip| sought.asks(*strip)).count();
        assert!(asked <= 3, "{asked} strips");
        assert!((0..STRIPS).all(|strip| !Sought::new(&Needed::Nothing).asks(strip)));
    }

    proptest! {
        #[test]
        fn nothing_that_is_there_is_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..3_000), from in 0..3_000_usize, length in 0..40_usize,
        ) {
            let signature = signature(&bytes);
            let from = from.min(bytes.len());
            let part = &bytes[from..bytes.len().min(from + length)];
            prop_assert!(may_match(&Needed::Text(part.to_vec()), &signature));
            prop_assert!(may_match(&Needed::Text(part.to_ascii_uppercase()), &signature));
        }
    }
}
