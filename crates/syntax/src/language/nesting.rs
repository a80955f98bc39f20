//! Texts nested so deeply that a grammar's scanner loses its place or ends the process.
//!
//! A scanner keeps its open blocks in a state of 1,023 bytes; a larger one is lost (`scanner.rs`): 256 quotes in
//! Markdown, 300 levels in YAML. 40,000 nested comments use up the stack in OCaml's scanner. Such texts become plain
//! blocks.

/// Columns of indentation and markers at the beginning of a line.
const LEAD_MAX: usize = 160;
/// Comments in OCaml; the largest files of people have a tenth of that.
const COMMENTS_MAX: usize = 10_000;

/// Markdown and YAML: a line that begins with many spaces, quotes or list markers.
pub(super) fn leads(text: &str) -> bool {
    text.lines().any(|line| {
        let is_lead = |b: u8| {
            b.is_ascii_whitespace()
                || b.is_ascii_digit()
                || matches!(b, b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'?' | b':')
        };
        line.bytes().take_while(|b| is_lead(*b)).nth(LEAD_MAX).is_some()
            // A rule across the page; with spaces between, YAML reads lists in lists.
            && !matches!(line.trim().as_bytes(), [first @ (b'-' | b'*'), rest @ ..] if rest.iter().all(|b| b == first))
    })
}

/// OCaml: comments inside comments, each of which its scanner reads by a call of its own. Counts what is opened: what is
/// closed may stand in a text inside a comment.
pub(super) fn comments(text: &str) -> bool {
    text.matches("(*").nth(COMMENTS_MAX).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_not_too_deep() {
        let deep = |n: usize| (0..n).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>();
        assert!(!leads("> quoted\n\n- a\n  - b\n    1. c\n"));
        assert!(!leads(&"-".repeat(300)) && !leads(&deep(100)));
        assert!(leads(&(">".repeat(255) + " x")) && leads(&("- ".repeat(300) + "x")) && leads(&deep(300)));
        assert!(leads(&"- ".repeat(300)) && !leads(&"*".repeat(300)));
        assert!(!comments(&"(* a *)\n".repeat(10_000)) && comments(&"(* ".repeat(10_001)));
    }
}
