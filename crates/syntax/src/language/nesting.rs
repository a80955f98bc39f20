//! Texts nested so deeply that a grammar's scanner would end the process.
//!
//! A scanner keeps its open blocks in a state of 1,024 bytes and tree-sitter aborts the process where they do not
//! fit: 256 quotes in Markdown, 300 levels in YAML, 600 interpolations in Kotlin. An abort can't be caught, so such
//! texts are told by their look, well below those numbers, and cut into plain blocks.

/// Columns of indentation and markers at the beginning of a line.
const LEAD_MAX: usize = 160;
/// Interpolations inside interpolations.
const INTERPOLATION_MAX: usize = 100;

/// Markdown and YAML: a line that begins with many spaces, quotes or list markers.
pub(super) fn leads(text: &str) -> bool {
    text.lines().any(|line| {
        let is_lead = |b: u8| {
            b.is_ascii_whitespace()
                || b.is_ascii_digit()
                || matches!(b, b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'?' | b':')
        };
        line.bytes().take_while(|b| is_lead(*b)).nth(LEAD_MAX).is_some()
            && !line.bytes().all(|b| b == b'-' || b == b'*' || b.is_ascii_whitespace())
    })
}

/// Kotlin: strings inside interpolations of strings. Counts what is opened, since braces of code hide what is closed.
pub(super) fn interpolations(text: &str) -> bool {
    let mut open = 0usize;
    for line in text.lines() {
        open = (open + line.matches("${").count()).saturating_sub(line.matches('}').count());
        if open > INTERPOLATION_MAX {
            return true;
        }
    }
    false
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
        assert!(!interpolations(&"val a = \"${b}\"\n".repeat(1000)));
        assert!(interpolations(&"\"${".repeat(500)));
    }
}
