//! Numbers, lists and paths in words, for people and for shells.

use indicatif::DecimalBytes;

/// A number with its noun: `1 file`, `2 files`, `2 entries`.
pub fn counted(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{n} {}", plural(n, noun))
}

/// A noun for so many: `file`, `files`, `entries`.
pub fn plural(n: impl Into<u64>, noun: &str) -> String {
    match (n.into(), noun.strip_suffix('y')) {
        (1, _) => noun.to_string(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    }
}

/// The same with its verb: `1 file is`, `2 files are`.
pub fn counted_are(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{} {}", counted(n, noun), if n == 1 { "is" } else { "are" })
}

/// Words in quotes, with commas between them: `"a", "b"`; of a long one the beginning.
pub fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("{:?}", in_short(word))).collect::<Vec<_>>().join(", ")
}

/// Characters that a remark repeats of a query.
const QUERY_CHARS_MAX: usize = 80;

/// A query as a remark repeats it: the beginning of a long one, on one line.
pub fn in_short(query: &str) -> String {
    let query = query.trim();
    match in_whole(query) {
        true => query.to_string(),
        false => query.lines().next().unwrap_or_default().chars().take(QUERY_CHARS_MAX).collect::<String>() + "…",
    }
}

/// Whether a query is so short that a remark may repeat all of it.
pub fn in_whole(query: &str) -> bool {
    query.trim().chars().nth(QUERY_CHARS_MAX).is_none() && !query.trim().contains('\n')
}

/// Bytes in words: `1.50 MB`.
pub fn in_words(bytes: u64) -> String {
    DecimalBytes(bytes).to_string()
}

/// A query or a path as a shell reads it back.
pub fn shell_word(text: &str) -> String {
    let text = text.trim();
    let word = in_shell(text);
    if text.starts_with('-') { format!("--query {word}") } else { word }
}

/// A word as a shell reads it back.
pub(crate) fn in_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match text.chars().all(is_plain) && !text.is_empty() {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_word_back() {
        for (text, expected) in [
            ("E0502", "E0502"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("--no-index", "--query --no-index"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }
}
