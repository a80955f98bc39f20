//! Numbers in words.

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

/// Bytes in words: `1.5 MB`.
pub fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
