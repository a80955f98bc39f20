//! Numbers and lists in words.

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

/// Words in quotes, with commas between them: `"a", "b"`.
pub fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

/// Bytes in words: `1.50 MB`.
pub fn in_words(bytes: u64) -> String {
    DecimalBytes(bytes).to_string()
}
