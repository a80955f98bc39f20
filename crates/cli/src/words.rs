//! Numbers in words.

use indicatif::DecimalBytes;

/// A number with its noun: `1 file`, `2 files`.
pub fn counted(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The same with its verb: `1 file is`, `2 files are`.
pub fn counted_are(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{} {}", counted(n, noun), if n == 1 { "is" } else { "are" })
}

/// Bytes in words: `1.50 MB`.
pub fn in_words(bytes: u64) -> String {
    DecimalBytes(bytes).to_string()
}
