//! The line of a unit that calls a name, by its form: outside comments and literals if there is one.

use super::{is_comment, numbered_code, words_at};
use crate::language::LanguageFacts;
use crate::token::is_word_char;

/// Beginnings of lines that declare types and contain no call.
const SIGNATURES: &[&str] = &["@callback ", "@macrocallback ", "@opaque ", "@spec ", "@type ", "@typep "];
/// Prefixes of literals: `b'x'`, `rb'x'`.
const LITERAL_LETTERS: &str = "bBfFLrRuU";
const LITERAL_LETTERS_MAX: usize = 2;

/// Whether a line calls `name`, with arguments in brackets, rather than defining it.
pub(super) fn calls(line: &str, name: &str, facts: &LanguageFacts) -> bool {
    let is_call = |at: usize| {
        let behind = line[at + name.len()..].trim_start_matches(['!', '?']);
        let behind = behind.strip_prefix("::").unwrap_or(behind);
        behind.starts_with('(') || (behind.starts_with('<') && behind.contains(">("))
    };
    words_at(line, name).any(is_call) && is_use(line, name, facts)
}

/// Whether a line uses `name`, rather than defining or explaining it.
pub(super) fn is_use(line: &str, name: &str, facts: &LanguageFacts) -> bool {
    let is_announced = |at: usize| {
        let word = line[..at].split_whitespace().next_back().unwrap_or_default();
        facts.is_declaration_keyword(word)
    };
    words_at(line, name).any(|at| !is_announced(at)) && !is_comment(line)
}

/// The index of the line of a unit that calls one of some names. `marks` begin the comments of its language; comments,
/// literals and signatures count only if no other line has a name.
pub fn calling_line<'l>(
    lines: impl Iterator<Item = &'l str> + Clone,
    names: &[&str],
    marks: &[&str],
    facts: &LanguageFacts,
) -> Option<usize> {
    type LineTest = fn(&str, &str, &LanguageFacts) -> bool;
    let in_code = |look: LineTest| {
        let mut code = numbered_code(lines.clone());
        let found = code.find(|(_, line)| names.iter().any(|name| is_in_code(line, name, marks, facts, look)));
        found.map(|(number, _)| number as usize - 1)
    };
    let anywhere = |look: LineTest| lines.clone().position(|line| names.iter().any(|name| look(line, name, facts)));
    // In languages whose calls have no parentheses, any use of the name is one.
    in_code(calls).or_else(|| in_code(is_use)).or_else(|| anywhere(calls)).or_else(|| anywhere(is_use))
}

/// The lines of a program, from 1, that call `name` outside comments and literals.
pub fn calling_lines(text: &str, name: &str, marks: &[&str], facts: &LanguageFacts) -> Vec<u32> {
    lines_in_code(text, |line| is_in_code(line, name, marks, facts, calls))
}

/// The lines of a program, from 1, that use `name` outside comments and literals.
pub fn using_lines(text: &str, name: &str, marks: &[&str], facts: &LanguageFacts) -> Vec<u32> {
    lines_in_code(text, |line| is_in_code(line, name, marks, facts, is_use))
}

fn lines_in_code(text: &str, is_meant: impl Fn(&str) -> bool) -> Vec<u32> {
    numbered_code(text.lines()).filter(|(_, line)| is_meant(line)).map(|(number, _)| number).collect()
}

fn is_in_code(
    line: &str,
    name: &str,
    marks: &[&str],
    facts: &LanguageFacts,
    look: fn(&str, &str, &LanguageFacts) -> bool,
) -> bool {
    let is_signature = || SIGNATURES.iter().any(|mark| line.trim_start().starts_with(mark));
    look(line, name, facts) && !is_signature() && look(&code_of(line, marks), name, facts)
}

/// A line with blanks in place of comments and literals. `marks` begin the comments of its language; without any, the
/// line is unchanged.
pub(super) fn code_of(line: &str, marks: &[&str]) -> String {
    if marks.is_empty() {
        return line.to_string();
    }
    let mut code = String::with_capacity(line.len());
    // Closing marks of the open literals and of the values inside them, outermost first.
    let mut open: Vec<char> = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let (front, rest) = line.split_at(at);
        let behind = &rest[c.len_utf8()..];
        let mut length = c.len_utf8();
        let mut is_code = true;
        match open.last().copied() {
            Some(close @ ('"' | '\'' | '`')) => {
                is_code = c == close;
                if c == close {
                    open.pop();
                } else if c == '\\' && !behind.starts_with('(') {
                    length += behind.chars().next().map_or(0, char::len_utf8);
                } else if let Some(end) = value_end(c, close, front, behind) {
                    open.push(end);
                }
            }
            within => {
                if within.is_none()
                    && let Some(length_of_comment) = comment(front, rest, marks)
                {
                    (length, is_code) = (length_of_comment, false);
                } else if opens_literal(c, front, behind, marks) {
                    open.push(c);
                } else if within == Some(c) {
                    open.pop();
                } else if let ('{', Some('}')) | ('(', Some(')')) = (c, within) {
                    open.extend(within);
                }
            }
        }
        code.push(if is_code { c } else { ' ' });
        at += length;
    }
    code
}

/// Closing mark of a value that `c` opens inside a literal that `close` ends: `"#{x}"`, `"$(x)"`, `"\(x)"`, `"{x}"`.
fn value_end(c: char, close: char, front: &str, behind: &str) -> Option<char> {
    // An unmatched bracket opens nothing.
    let is_closed = || behind.split(close).next().is_some_and(|own| own.contains('}'));
    match c {
        '{' if front.ends_with(['#', '$']) || is_closed() => Some('}'),
        '(' if front.ends_with(['$', '\\']) => Some(')'),
        _ => None,
    }
}

/// Length in bytes of the comment that `rest` begins with, `front` being the line before it.
fn comment(front: &str, rest: &str, marks: &[&str]) -> Option<usize> {
    let mark = marks.iter().find(|mark| rest.starts_with(**mark))?;
    let inner = &rest[mark.len()..];
    // `$#`, `x--`, `-->`
    let is_apart = front.is_empty() || front.ends_with(char::is_whitespace);
    if !matches!(*mark, "//" | "/*" | "(*") && (!is_apart || inner.starts_with('>')) {
        return None;
    }
    let close = match *mark {
        "/*" => Some("*/"),
        "(*" => Some("*)"),
        _ => None,
    };
    let end = close.and_then(|close| Some(mark.len() + inner.find(close)? + close.len()));
    Some(end.unwrap_or(rest.len()))
}

/// Whether a quote opens a literal.
fn opens_literal(c: char, front: &str, behind: &str, marks: &[&str]) -> bool {
    match c {
        '"' => !front.ends_with('\\'),
        // In other languages it calls a program, or encloses a name.
        '`' => marks.contains(&"//") && !marks.contains(&"#"),
        // `don't`, `x'`, `&'a str`
        '\'' => {
            let letters = &front[front.trim_end_matches(is_word_char).len()..];
            let is_free = letters.len() <= LITERAL_LETTERS_MAX && letters.chars().all(|c| LITERAL_LETTERS.contains(c));
            is_free && behind.contains('\'')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLASHES: &[&str] = &["//", "/*"];
    const HASH: &[&str] = &["#"];
    const DASHES: &[&str] = &["--"];

    #[test]
    fn a_call_at_the_end_of_a_long_line_is_one() {
        let text = format!("short(1)\n{}alpha(2)\n", "b = 2;".repeat(2_000));
        assert_eq!(calling_lines(&text, "alpha", &["//"], &LanguageFacts::sample()), [2]);
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        for (line, marks, expected) in [
            ("refresh(n) // resize windows now", SLASHES, false),
            ("refresh(n); /* windows(1) */ go()", SLASHES, false),
            ("/* so */ windows(1)", SLASHES, true),
            ("const s = \"windows(1)\";", SLASHES, false),
            ("const s = 'a' + `windows(1)`;", SLASHES, false),
            ("const s = `a ${windows(1)}`;", SLASHES, true),
            ("say(\"{\"); windows(1)", SLASHES, true),
            ("say(\"\\\"\", windows(1))", SLASHES, true),
            ("if c == '\"' { windows(1) }", SLASHES, true),
            ("refresh n # resize windows now", HASH, false),
            ("say \"#{windows(1)} # a\"", HASH, true),
            ("say \"$(windows 1)\"", HASH, true),
            ("x = `windows 1`", HASH, true),
            ("f'{windows(1)}'", HASH, true),
            ("b'windows(1)'", HASH, false),
            ("[ $# -gt 1 ] && windows", HASH, true),
            ("don't = windows(1)", HASH, true),
            ("keys n = refresh n -- resize windows now", DASHES, false),
            ("x' <- foldl' windows y", DASHES, true),
            ("\"windows(1)\" // it", &[], true),
        ] {
            assert_eq!(code_of(line, marks).contains("windows"), expected, "{line}");
        }
    }

    #[test]
    fn the_line_of_a_call_is_code_where_there_is_one() {
        let facts = LanguageFacts::default().with_declaration_keywords(["def", "function"]);
        for (lines, marks, expected) in [
            (
                &["def k(n):", "\"\"\"Says open(1).", "See open(2).", "\"\"\"", "s = \"open(1)\"", "open(n)"][..],
                HASH,
                5,
            ),
            (&["def put(n)", "refresh n # open(1) later", "open n"], HASH, 2),
            (&["@spec open(name())", "def open(n), do: Port.open(n)"], HASH, 1),
            (&["def k(n)", "say \"open(1)\""], HASH, 1),
            (&["function k(n) {", "// open(1) is slow", "/* a", "open(2)", "*/", "open.call(this)"], SLASHES, 5),
        ] {
            assert_eq!(calling_line(lines.iter().copied(), &["open"], marks, &facts), Some(expected), "{lines:?}");
        }
        let text = "open(1)\n# open(2)\n\"\"\"\nopen(3)\n\"\"\"\ns = 'open(4)'\nopen(5)\n";
        assert_eq!(calling_lines(text, "open", HASH, &facts), [1, 7]);
    }
}
