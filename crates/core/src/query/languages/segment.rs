//! Cuts a query into words, runs of unspaced script, and what is kept as typed: code, names, paths, quotes.

use crate::identifier_style::{is_name_in_query, is_token};

/// Quotes that keep what they enclose.
const QUOTES: [(char, char); 6] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»'), ('「', '」')];
/// Punctuation of sentences around words.
const AROUND_WORDS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '¿', '¡', '…', '(', ')', '\'', '’', '„', '“', '”', '‚', '‘', '。', '、', '，', '；',
    '：', '！', '？', '（', '）', '《', '》', '·', '「', '」', '『', '』', '«', '»', '—', '–',
];
/// Marks between the parts of a word in a sentence.
const INSIDE_WORDS: &[char] = &['-', '\'', '’'];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkKind {
    Word,
    /// A run of a script without spaces, or of Hangul.
    Unspaced,
    /// Anything else, kept as typed.
    Kept,
    Break,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'t> {
    pub text: &'t str,
    pub kind: ChunkKind,
}

/// The chunks of a query, in order, without spaces and punctuation of sentences. `is_unspaced` says which characters
/// belong to a script without spaces.
pub(super) fn chunks(text: &str, is_unspaced: fn(char) -> bool) -> Vec<Chunk<'_>> {
    let mut found = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            found.push(Chunk { text: "\n", kind: ChunkKind::Break });
        }
        if is_code(line) {
            found.push(Chunk { text: line, kind: ChunkKind::Kept });
        } else {
            of_line(line, is_unspaced, &mut found);
        }
    }
    found
}

fn is_code(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(['{', '}', ';']) || line.contains("==") || line.contains(" = ") || line.starts_with(['{', '<', '#'])
}

fn of_line<'t>(line: &'t str, is_unspaced: fn(char) -> bool, found: &mut Vec<Chunk<'t>>) {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if let Some(len) = quoted(&line[at..]) {
            found.push(Chunk { text: &line[at..at + len], kind: ChunkKind::Kept });
            at += len;
        } else if c.is_whitespace() || AROUND_WORDS.contains(&c) {
            at += c.len_utf8();
        } else if is_unspaced(c) {
            let len = line[at..].find(|c| !is_unspaced(c)).unwrap_or(line.len() - at);
            found.push(Chunk { text: &line[at..at + len], kind: ChunkKind::Unspaced });
            at += len;
        } else {
            let is_end = |c: char| c.is_whitespace() || is_unspaced(c) || "，。、；：！？（）「」『』《》".contains(c);
            let len = line[at..].find(is_end).unwrap_or(line.len() - at);
            of_piece(&line[at..at + len], found);
            at += len;
        }
    }
}

/// The length of a quote that the text begins with.
fn quoted(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let (_, last) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let rest = &text[first.len_utf8()..];
    // An apostrophe inside a word ends no quote.
    let is_end = |at: &usize| !rest[at + last.len_utf8()..].starts_with(char::is_alphanumeric);
    let inside = rest.match_indices(*last).map(|(at, _)| at).find(is_end)?;
    (inside > 0).then(|| first.len_utf8() + inside + last.len_utf8())
}

/// A piece without spaces: a word, words joined by hyphens, or something that is kept.
fn of_piece<'t>(piece: &'t str, found: &mut Vec<Chunk<'t>>) {
    let has_call = piece.contains("()") || (piece.contains('(') && piece.contains(')'));
    let word = match has_call {
        true => piece.trim_end_matches(['.', ',', ';', ':', '!', '?', '…']),
        // A dot may begin the name of a file.
        false => piece.trim_start_matches(|c| c != '.' && AROUND_WORDS.contains(&c)).trim_end_matches(AROUND_WORDS),
    };
    if word.is_empty() {
        return;
    }
    let is_plain = word.chars().all(|c| c.is_alphabetic() || INSIDE_WORDS.contains(&c));
    let is_name = is_name_in_query(word) || (word.is_ascii() && is_token(word) && !word.contains('-'));
    let kind = if is_plain && !is_name { ChunkKind::Word } else { ChunkKind::Kept };
    match kind {
        ChunkKind::Word if word.contains(INSIDE_WORDS) => {
            let parts = word.split(INSIDE_WORDS).filter(|part| !part.is_empty());
            found.extend(parts.map(|text| Chunk { text, kind: ChunkKind::Word }));
        }
        kind => found.push(Chunk { text: word, kind }),
    }
}
