//! Texts nested so deeply that a grammar's scanner would end the process, or lose its place.
//!
//! A scanner keeps its open blocks in a state of 1,024 bytes. What is larger is lost (`scanner.rs`): 256 quotes in
//! Markdown, 300 levels in YAML, 600 interpolations in Kotlin. A word of 256 letters that ends a here-document makes
//! Ruby's scanner end the process, which can't be caught, and 40,000 comments inside each other use up the stack in
//! OCaml's. Such texts are told by their look, well below those numbers, and cut into plain blocks.

/// Columns of indentation and markers at the beginning of a line.
const LEAD_MAX: usize = 160;
/// Interpolations inside interpolations.
const INTERPOLATION_MAX: usize = 100;
/// Comments in OCaml; the largest files of people have a tenth of that.
const COMMENTS_MAX: usize = 10_000;
/// Length of the word that ends a here-document, in bytes.
const WORD_MAX: usize = 200;

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

/// OCaml: comments inside comments, each of which its scanner reads by a call of its own. Counts what is opened: what is
/// closed may stand in a text inside a comment.
pub(super) fn comments(text: &str) -> bool {
    text.matches("(*").nth(COMMENTS_MAX).is_some()
}

/// Ruby: here-documents that end with a word of more letters than its scanner counts.
pub(super) fn long_words(text: &str) -> bool {
    text.split("<<").skip(1).any(|behind| {
        let behind = behind.trim_start_matches(['-', '~']);
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let word = match quote {
            Some(quote) => behind[1..].find([quote, '\n']),
            None => behind.find(|c: char| !c.is_alphanumeric() && c != '_'),
        };
        word.unwrap_or(behind.len()) > WORD_MAX
    })
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
        assert!(leads(&"- ".repeat(300)) && !leads(&"*".repeat(300)));
        assert!(!comments(&"(* a *)\n".repeat(10_000)) && comments(&"(* ".repeat(10_001)));
        assert!(!long_words("a <<~TEXT\n  x\nTEXT\n1 << 2") && long_words(&format!("a <<~'{}'", "x y".repeat(100))));
        assert!(long_words(&format!("a <<-{}\n", "E".repeat(256))));
    }
}
