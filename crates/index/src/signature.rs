//! Signatures of files, which rule out files that can't contain a text or match a pattern.
//!
//! A signature is a Bloom filter with one hash (Bloom, CACM 1970) over a file's sequences of four bytes, or six in a
//! large file ([`LONG_FROM_BYTES`]), ignoring ASCII case. Three bits for two distinct sequences take 3.7 % of the
//! source and set each bit in 49 of 100 files; a query tests at most eleven, so twelve bytes that a file lacks are
//! ruled out in 998 of 1,000.
//!
//! A signature is split into [`STRIPS`], so that a query reads just the most selective ones. A sequence's strip is that
//! of the pair among its first four bytes with the lowest hash (a minimizer, Roberts et al., Bioinformatics 2004), so
//! neighbours mostly share one.

use std::cmp::Reverse;
use std::ops::Range;

use colgrep_syntax::read::Utf16Order;

/// Bytes of a sequence.
pub const GRAM: usize = 4;
/// Bytes of a sequence of a large file.
const LONG_GRAM: usize = 6;
/// Size in bytes from which a file counts as large.
pub const LONG_FROM_BYTES: usize = 256 << 10;
/// Minimum size of a tree's source for signatures, in bytes: a smaller one is read as fast as its signatures.
pub const SOURCE_BYTES_MIN: u64 = 64 << 20;
/// Largest unindexed file that gets a signature, in bytes: it is read just for that.
pub const SIGNED_BYTES_MAX: u64 = 32 << 20;
/// Maximum of distinct sequences in a file with a signature: a file with more is packed data and would need a long one.
const DIFFERENT_MAX: usize = 1 << 22;
/// Sequences of a file gathered before duplicates are dropped, in addition to twice the number of distinct ones.
const GATHERED_MAX: usize = 1 << 18;
/// Marks of UTF-16: such a file is searched in a converted form, not byte by byte.
const WIDE: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Parts of a signature.
pub const STRIPS: usize = 8;
/// Maximum of a text's sequences that are tested: by chance one file in 2,500 has all of them.
const ENOUGH: usize = 11;

/// A Bloom filter over a file's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentFilter {
    /// Whether its sequences are those of a large file.
    pub is_long: bool,
    /// 64 bits per number. Either all are empty, since the filter would be useless, or none is.
    pub strips: [Vec<u64>; STRIPS],
}

impl ContentFilter {
    /// Whether it rules out nothing.
    pub fn is_empty(&self) -> bool {
        self.strips[0].is_empty()
    }

    /// Whether the file may contain a sequence.
    pub fn has(&self, gram: Gram) -> bool {
        let strip = &self.strips[gram.strip];
        let (word, bit) = gram.bit(strip.len());
        strip.get(word).is_none_or(|bits| bits & bit != 0)
    }

    /// Bytes of its bits.
    pub fn size(&self) -> usize {
        self.strips.iter().map(|strip| size_of_val(strip.as_slice())).sum()
    }
}

/// The sequences of `length` bytes, at most eight, first byte highest; ASCII case is ignored.
fn sequences(bytes: &[u8], length: usize) -> impl Iterator<Item = u64> {
    let (mut last, kept) = (0, u64::MAX >> (64 - 8 * length));
    let all = bytes.iter().map(move |byte| {
        last = (last << 8 | u64::from(byte.to_ascii_lowercase())) & kept;
        last
    });
    all.skip(length - 1)
}

/// A permutation of 32 bits that spreads neighbours: the finalizer of MurmurHash3 (Appleby).
fn mixed(mut bits: u32) -> u32 {
    bits = (bits ^ bits >> 16).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ bits >> 13).wrapping_mul(0xC2B2_AE35);
    bits ^ bits >> 16
}

/// A sequence, reduced to its strip and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gram {
    pub strip: usize,
    hash: u32,
}

impl Gram {
    /// A sequence of four or of six bytes.
    fn of(sequence: u64, length: usize) -> Gram {
        let first = (sequence >> (8 * (length - GRAM))) as u32;
        let pairs = [first >> 16, first >> 8 & 0xFFFF, first & 0xFFFF].map(mixed);
        let least = pairs.into_iter().min().unwrap_or_default();
        let [low, high] = [sequence as u32, (sequence >> 32) as u32];
        Gram { strip: least as usize % STRIPS, hash: mixed(low ^ mixed(high)) }
    }

    /// Its bit in a strip of `words` numbers: which number, and the bit in it.
    pub fn bit(self, words: usize) -> (usize, u64) {
        let bit = ((u64::from(self.hash) * 64 * words as u64) >> 32) as usize;
        (bit / 64, 1 << (bit % 64))
    }
}

/// The signature of a file's bytes.
pub fn signature(bytes: &[u8]) -> ContentFilter {
    if WIDE.iter().any(|mark| bytes.starts_with(mark)) || Utf16Order::of(bytes).is_some() {
        return ContentFilter::default();
    }
    if bytes.len() >= LONG_FROM_BYTES {
        let all = different(sequences(bytes, LONG_GRAM));
        return all
            .map_or_else(ContentFilter::default, |all| of_grams(true, || all.iter().map(|s| Gram::of(*s, LONG_GRAM))));
    }
    // Shorter numbers sort faster.
    let all = different(sequences(bytes, GRAM).map(|sequence| sequence as u32));
    all.map_or_else(ContentFilter::default, |all| of_grams(false, || all.iter().map(|s| Gram::of(u64::from(*s), GRAM))))
}

/// The distinct sequences; `None` if there are too many.
fn different<T: Copy + Ord>(sequences: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let (mut all, mut kept) = (Vec::new(), 0);
    for sequence in sequences {
        if all.len() >= 2 * kept + GATHERED_MAX {
            all.sort_unstable();
            all.dedup();
            kept = all.len();
            if kept > DIFFERENT_MAX {
                return None;
            }
        }
        all.push(sequence);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn of_grams<I: Iterator<Item = Gram>>(is_long: bool, grams: impl Fn() -> I) -> ContentFilter {
    let mut signature = ContentFilter { is_long, ..ContentFilter::default() };
    let mut counts = [0; STRIPS];
    grams().for_each(|gram| counts[gram.strip] += 1);
    for (strip, count) in signature.strips.iter_mut().zip(counts) {
        *strip = vec![0; usize::div_ceil(count * 3 / 2, 64).max(1)];
    }
    for gram in grams() {
        let strip = &mut signature.strips[gram.strip];
        let (word, bit) = gram.bit(strip.len());
        strip[word] |= bit;
    }
    signature
}

/// What a file must contain to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Nothing that a signature can rule out.
    Nothing,
    /// A text; letters of ASCII may be in any case.
    Text(Vec<u8>),
    All(Vec<Needed>),
    Any(Vec<Needed>),
}

impl Needed {
    /// Whether a signature can rule out a file.
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
#[derive(Clone, Debug, Default)]
pub struct Sought {
    /// Sequences of four bytes, and of six.
    short: Vec<Gram>,
    long: Vec<Gram>,
    node: Node,
}

#[derive(Clone, Debug, Default)]
enum Node {
    #[default]
    Always,
    /// Ranges of both kinds of sequences.
    Grams(Range<usize>, Range<usize>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Sought {
    /// The tests of signatures for `needed`.
    pub fn new(needed: &Needed) -> Sought {
        let mut sought = Sought::default();
        sought.node = sought.node(needed);
        sought
    }

    fn node(&mut self, needed: &Needed) -> Node {
        match needed {
            Needed::Text(text) if text.len() >= GRAM => {
                // A search by lines treats a NUL byte as a line end.
                let lines = || text.split(|byte| matches!(byte, 0 | b'\n'));
                let grams =
                    |length| lines().flat_map(move |line| sequences(line, length).map(move |s| Gram::of(s, length)));
                let from = [self.short.len(), self.long.len()];
                self.short.extend(telling(grams(GRAM).collect()));
                let asked: Vec<usize> = self.short[from[0]..].iter().map(|gram| gram.strip).collect();
                self.long.extend(grams(LONG_GRAM).filter(|gram| asked.contains(&gram.strip)));
                Node::Grams(from[0]..self.short.len(), from[1]..self.long.len())
            }
            Needed::Nothing | Needed::Text(_) => Node::Always,
            Needed::All(parts) => Node::All(parts.iter().map(|part| self.node(part)).collect()),
            Needed::Any(parts) if parts.is_empty() => Node::Always,
            Needed::Any(parts) => Node::Any(parts.iter().map(|part| self.node(part)).collect()),
        }
    }

    /// Whether this strip is tested.
    pub fn asks(&self, strip: usize) -> bool {
        self.short.iter().any(|gram| gram.strip == strip)
    }

    /// Whether a file may match, given `is_set` for the bits of its signature and whether that is a large file's.
    pub fn may_match(&self, is_long: bool, is_set: impl Fn(Gram) -> bool) -> bool {
        self.holds(&self.node, is_long, &is_set)
    }

    fn holds(&self, node: &Node, is_long: bool, is_set: &impl Fn(Gram) -> bool) -> bool {
        match node {
            Node::Always => true,
            Node::Grams(_, range) if is_long => self.long[range.clone()].iter().all(|gram| is_set(*gram)),
            Node::Grams(range, _) => self.short[range.clone()].iter().all(|gram| is_set(*gram)),
            Node::All(nodes) => nodes.iter().all(|node| self.holds(node, is_long, is_set)),
            Node::Any(nodes) => nodes.iter().any(|node| self.holds(node, is_long, is_set)),
        }
    }
}

/// The sequences of a text from its most selective strips, as many as needed.
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

    fn may_match(needed: &Needed, signature: &ContentFilter) -> bool {
        Sought::new(needed).may_match(signature.is_long, |gram| signature.has(gram))
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
        assert_eq!(signature(b"\xff\xfea\0b\0"), ContentFilter::default());
        assert!(may_match(&text("abcdef"), &ContentFilter::default()));
        assert_eq!(signature(b"abc").strips, [const { [0] }; STRIPS]);
        assert!(!may_match(&text("abcdef"), &signature(b"abc")), "three bytes can't contain six");
        assert!(!text("abc").is_selective() && text("abcd").is_selective());
        assert!(!Needed::Any(vec![text("abcd"), text("a")]).is_selective());
        assert!(Needed::All(vec![text("abcd"), text("a")]).is_selective());
    }

    #[test]
    fn a_large_file_is_refused_though_it_holds_all_short_sequences() {
        let text = "spawn_blocking";
        let parts: String = text.as_bytes().windows(GRAM).map(|part| String::from_utf8_lossy(part) + "\n").collect();
        let small = signature(parts.as_bytes());
        let large = signature(parts.repeat(LONG_FROM_BYTES / parts.len() + 1).as_bytes());
        let needed = Needed::Text(text.into());
        assert!(may_match(&needed, &small) && !may_match(&needed, &large));
        assert!(may_match(&Needed::Text(b"spaw".to_vec()), &large), "four bytes tell nothing of six");
    }

    #[test]
    fn a_long_text_asks_few_strips() {
        let sought = Sought::new(&text("spawn_blocking_with_a_long_name"));
        assert!((ENOUGH..ENOUGH + 8).contains(&sought.short.len()), "{}", sought.short.len());
        let asked = (0..STRIPS).filter(|strip| sought.asks(*strip)).count();
        assert!(asked <= 3, "{asked} strips");
        assert!((0..STRIPS).all(|strip| !Sought::new(&Needed::Nothing).asks(strip)));
    }

    proptest! {
        #[test]
        fn nothing_that_is_there_is_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..3_000), from in 0..3_000_usize, length in 0..40_usize,
            is_large in any::<bool>(),
        ) {
            let mut whole = bytes.clone();
            whole.resize(if is_large { LONG_FROM_BYTES + bytes.len() } else { bytes.len() }, b'x');
            let signature = signature(&whole);
            prop_assert_eq!(signature.is_long, is_large);
            let from = from.min(bytes.len());
            let part = &bytes[from..bytes.len().min(from + length)];
            prop_assert!(may_match(&Needed::Text(part.to_vec()), &signature));
            prop_assert!(may_match(&Needed::Text(part.to_ascii_uppercase()), &signature));
        }
    }
}
