//! Recognizes comments by their form, in any language.

use crate::token::is_word_char;

/// Beginnings of comments in any language.
const COMMENT_MARKS: &[&str] = &["//", "/*", "# ", "#!", "--", ";", "<!--", "\"\"\"", "'''", "{-", "rem ", "=begin"];
/// Beginnings of comments that are code in other languages: `*p = open(x)`, `(*p)(x)`. In a comment, a blank, a mark or
/// the end of the line follows.
const COMMENT_MARKS_APART: &[&str] = &["*", "(*"];

/// Whether a line looks like a comment.
pub fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let may_be_one = |first: &u8| matches!(first, b'!'..=b'/' | b';'..=b'=' | b'r' | b'{');
    line.as_bytes().first().is_some_and(may_be_one)
        && (line == "#"
            || COMMENT_MARKS.iter().any(|mark| line.starts_with(mark))
            || line.strip_prefix('%').is_some_and(|behind| !is_literal(behind))
            || COMMENT_MARKS_APART.iter().filter_map(|mark| line.strip_prefix(mark)).any(stands_apart))
}

/// Whether no code follows a mark.
fn stands_apart(behind: &str) -> bool {
    let next = behind.trim_start_matches('*').chars().next();
    next.is_none_or(|c| c.is_whitespace() || matches!(c, '/' | ')' | '-' | '=' | '@'))
}

/// Whether `%` begins a literal: `%{a: 1}` and `%User{name: name}` (Elixir), `%w(a b)` (Ruby).
fn is_literal(behind: &str) -> bool {
    let name = behind.trim_start_matches(|c: char| is_word_char(c) || c == '.');
    let is_short = behind.len() - name.len() < 2;
    match name.chars().next() {
        Some('{') => is_short || behind.starts_with(char::is_uppercase),
        Some('(' | '[') => is_short && behind.starts_with(['w', 'i', 'q', 'Q', 'W', 'I', 'r', 's']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_begin_code_too_begin_a_comment_where_they_stand_apart() {
        for (line, expected) in [
            ("* opens it", true),
            ("*", true),
            ("*/", true),
            ("**/", true),
            ("*result = open(port);", false),
            ("**results = open(port);", false),
            ("(* opens it *)", true),
            ("(*port)(1);", false),
            ("% opens it", true),
            ("%% opens it", true),
            ("%Port{open: open(1)}", false),
            ("%{open: open(1)}", false),
            ("%w(open close)", false),
            ("%open(Port) ->", true),
            ("%%----", true),
            ("*@param open", true),
            ("*-------", true),
            ("// opens it", true),
            ("open(port)", false),
        ] {
            assert_eq!(is_comment(line), expected, "{line}");
        }
    }
}
