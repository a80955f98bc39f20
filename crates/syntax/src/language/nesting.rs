//! Detects texts nested so deeply that a grammar's scanner loses its place or crashes; they become plain blocks.
//!
//! A scanner keeps its open blocks in 1,023 bytes of state; a larger state is dropped (`scanner.rs`): 256 quotes in
//! Markdown, 300 levels in YAML. Two scanners recurse at each level and overflow the stack: OCaml's in 40,000 nested
//! comments, Svelte's in 100,000 nested template literals.

/// Columns of indentation and markers at the beginning of a line.
const LEAD_MAX: usize = 160;
/// Openings of levels in OCaml and Svelte; the largest files of people have a tenth of that.
const OPENINGS_MAX: usize = 10_000;

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

/// OCaml: comments inside comments, each of which its scanner reads by a call of its own.
pub(super) fn comments(text: &str) -> bool {
    opens_often(text, "(*")
}

/// Svelte: template literals inside the expressions of others, each of which its scanner reads by two calls of its own.
pub(super) fn templates(text: &str) -> bool {
    opens_often(text, "${")
}

/// Whether `mark` may open more than [`OPENINGS_MAX`] levels. Counts only openings, since an apparent end of a level
/// may be text inside it.
fn opens_often(text: &str, mark: &str) -> bool {
    text.matches(mark).nth(OPENINGS_MAX).is_some()
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
        assert!(!templates(&"{`${a}`}\n".repeat(10_000)) && templates(&"{`${".repeat(10_001)));
    }
}
