//! Line numbers, as people and programs write them after a path or before one.

use super::QUOTES;
use crate::language::LanguageFacts;

/// `a.rs:12:5`, `a.rb:12:in`, `a.rs#L12`, `a.rs:L12`, `a.rs:12-20` → the path and its line. No file has a line 0.
pub(super) fn split_line(word: &str) -> (&str, Option<u32>) {
    if let Some((path, rest)) = word.split_once("#L") {
        return (path, leading_number(rest));
    }
    if let Some((path, line)) = word.split_once("@L").and_then(|(path, rest)| Some((path, leading_number(rest)?))) {
        return (path, Some(line));
    }
    for (at, _) in word.match_indices(':') {
        let behind = &word[at + 1..];
        if let Some(line) = line_number(behind) {
            return (&word[..at], Some(line));
        }
        if behind.split(':').next() == Some("0") {
            return (&word[..at], None);
        }
    }
    (word, None)
}

/// `a.rs#12` → the path and its line, if the path ends in a file's name: `o/n#12` is an issue.
pub(super) fn line_behind_hash<'w>(word: &'w str, facts: &LanguageFacts) -> Option<(&'w str, Option<u32>)> {
    let (path, line) = word.split_once('#')?;
    let name = path.rsplit('/').next()?.to_lowercase();
    let is_file = name.contains('.') && facts.is_file_name(&name);
    Some((path, whole_number(line))).filter(|(_, line)| is_file && line.is_some())
}

/// The line right after a path: `(12)`, `(12,5)`, `", line 12`, ` on line 12`, ` (lines 12-20)`, ` around line 12`, and
/// at the end ` L12`; with a column also `[12,5]`, ` (12, 5)` and ` 12:5`.
pub(super) fn line_behind(rest: &str) -> Option<u32> {
    if let Some(line) = rest.strip_prefix('(').and_then(leading_number) {
        return Some(line);
    }
    if let Some(line) = line_and_column(rest) {
        return Some(line);
    }
    let rest = rest.trim_start_matches(QUOTES).trim_start_matches([',', ' ', ')', '(']);
    let rest = ["on ", "at ", "around ", "near "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    match rest.strip_prefix("lines ").or_else(|| rest.strip_prefix("line ")) {
        Some(number) => leading_number(number),
        // `cache.c L22 cache` names no line.
        None => {
            let word = rest.split([' ', '\n']).next().filter(|word| word.starts_with('L'))?;
            let is_last = !rest[word.len()..].contains(char::is_alphanumeric);
            marked(word).filter(|_| is_last)
        }
    }
}

/// The line of `L12` and `L5-L9`. `L1` and `L2` are names.
fn marked(word: &str) -> Option<u32> {
    leading_number(word.strip_prefix('L')?).filter(|line| *line > 9 || word.contains('-'))
}

/// The line right before a path: `line 12 of `, `line 12 in the file `, `lines 12-20 of `, `lines 12 to 20 of `,
/// `L12 of `.
pub(super) fn line_in_front(before: &str) -> Option<u32> {
    let words = before.trim_end_matches(QUOTES).split_whitespace().rev();
    let mut words = words.skip_while(|word| matches!(*word, "file" | "the"));
    let preposition = words.next().filter(|word| matches!(*word, "in" | "of"))?;
    let last = words.next()?;
    if last.starts_with('L') {
        return marked(last).filter(|_| preposition == "of");
    }
    let (number, told) = match words.next()? {
        "to" | "and" | "through" | "until" => (words.next()?, words.next()?),
        told => (last, told),
    };
    let is_line = ["line", "lines"].iter().any(|word| told.eq_ignore_ascii_case(word));
    leading_number(number).filter(|_| is_line)
}

/// The line in `[12,5]`, ` (12, 5)` and ` 12:5` at the end of a text; `8080:80 port mapping` has none.
fn line_and_column(rest: &str) -> Option<u32> {
    let pair = rest.trim_start_matches(' ');
    let (pair, between, end) = match pair.as_bytes().first()? {
        b'[' if pair.len() == rest.len() => (&pair[1..], ',', ']'),
        b'(' => (&pair[1..], ',', ')'),
        _ => (pair, ':', '\n'),
    };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (line, behind) = pair.split_at(digits(pair));
    let column = behind.strip_prefix(between)?.trim_start_matches(' ');
    let (column, behind) = column.split_at(digits(column));
    let is_end = behind.starts_with(end)
        || (end == '\n' && (behind.is_empty() || behind.starts_with(['-', '\r']) || behind.starts_with("  ")));
    whole_number(column).filter(|_| is_end).and_then(|_| whole_number(line))
}

/// The line that a text begins with: `12` and `L12`.
pub(super) fn line_number(text: &str) -> Option<u32> {
    leading_number(text.strip_prefix('L').unwrap_or(text))
}

/// Parses a text as a number above 0.
pub(super) fn whole_number(text: &str) -> Option<u32> {
    leading_number(text).filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The number above 0 at the beginning of a text, if no letter follows.
pub(super) fn leading_number(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let is_word = text[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if is_word { None } else { text[..digits].parse().ok().filter(|n| *n > 0) }
}
