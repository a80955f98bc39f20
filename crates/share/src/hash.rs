//! SHA-256, by which files of an index are addressed: what others could have written is checked by it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};

use ring::digest::{Context, SHA256};

/// Bytes read at a time.
const AT_ONCE: usize = 1 << 20;

/// A hash under way.
pub(crate) struct Hasher(Context);

impl Hasher {
    pub(crate) fn new() -> Hasher {
        Hasher(Context::new(&SHA256))
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// 64 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.0.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The hash of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    let mut hasher = Hasher::new();
    hasher.add(bytes);
    hasher.finish()
}

/// The hash of a file from its current position; `done` receives the number of bytes read.
pub(crate) fn of_file(mut file: &File, mut done: impl FnMut(u64)) -> io::Result<String> {
    let mut hasher = Hasher::new();
    let mut room = vec![0; AT_ONCE];
    loop {
        match file.read(&mut room)? {
            0 => return Ok(hasher.finish()),
            n => {
                hasher.add(&room[..n]);
                done(n as u64);
            }
        }
    }
}

pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a blob may have such a name: its hash, and a few digits where it was put again.
pub(crate) fn is_key(name: &str) -> bool {
    let (hash, suffix) = name.split_once('-').map_or((name, None), |(hash, suffix)| (hash, Some(suffix)));
    let is_suffix = |s: &str| (1..=16).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash(hash) && suffix.is_none_or(is_suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_bytes(b"abc"), abc);
        assert!(is_hash(abc) && !is_hash(&abc[1..]) && !is_hash(&abc.to_uppercase()) && !is_hash("../x"));
    }
}
