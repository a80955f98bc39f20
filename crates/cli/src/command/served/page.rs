//! Pages: as many blocks of text as a budget holds, and where the next page begins.

use crate::output::budget::Budget;

/// Default length of an answer, in tokens.
const TOKENS_DEFAULT: usize = 2_000;
/// Shortest length of an answer, in tokens.
pub const TOKENS_MIN: usize = 50;
/// Greatest length of an answer, in tokens.
const TOKENS_MAX: usize = 100_000;
/// Bytes kept for the last line, which says where the next page begins.
const LAST_LINE_BYTES: usize = 80;
/// Marks a first block that was cut.
const CUT: &str = "(cut; a larger max_tokens shows the rest of it)\n";

/// The length of an answer in tokens, within bounds.
pub fn tokens_wanted(max_tokens: Option<usize>) -> usize {
    max_tokens.unwrap_or(TOKENS_DEFAULT).clamp(TOKENS_MIN, TOKENS_MAX)
}

/// Joins blocks from `offset` on while they fit. `more` is whether blocks may follow behind the last one given.
/// The first block is cut if it alone is too long: at a line's end, or in its first line where not even that fits.
pub fn page(blocks: &[String], offset: usize, max_tokens: Option<usize>, what: &str, more: bool) -> String {
    let mut budget = Budget::new(Some(tokens_wanted(max_tokens)));
    // The last page needs no line that names the next one.
    let rest = blocks.get(offset..).unwrap_or_default();
    if more || rest.iter().map(String::len).sum::<usize>() > budget.bytes_left().unwrap_or_default() {
        budget.take(LAST_LINE_BYTES);
    }
    let mut text = String::new();
    let mut shown = 0;
    let mut cut = false;
    for block in rest {
        if budget.take(block.len()) {
            text.push_str(block);
            shown += 1;
            continue;
        }
        if shown == 0 {
            budget.take(CUT.len());
            let part = budget.take_lines(block.as_bytes());
            text.push_str(std::str::from_utf8(part).unwrap_or_default());
            if part.is_empty() {
                let bytes = budget.bytes_left().unwrap_or_default().saturating_sub("…\n".len());
                text.push_str(&block[..block.floor_char_boundary(bytes)]);
                text.push_str("…\n");
            }
            (shown, cut) = (1, true);
        }
        break;
    }
    let next = offset + shown;
    let left = blocks.len().saturating_sub(next);
    if cut {
        text.push_str(CUT);
    }
    match (rest.len(), left, more) {
        (0, ..) => text.push_str(&format!("(no {what})\n")),
        (_, 0, false) => {}
        (_, 0, true) => text.push_str(&format!("(there may be more {what}: offset {next})\n")),
        (_, left, more) => {
            let or_more = if more { " or more" } else { "" };
            text.push_str(&format!("({left}{or_more} further {what}: offset {next})\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        let blocks: Vec<String> = (0..5).map(|i| format!("{i}{}\n", "x".repeat(58))).collect();
        for (offset, tokens, more, first, shown, last) in [
            (0, None, false, "0", 5, "xxx\n"),
            (0, Some(50), false, "0", 2, "(3 further hits: offset 2)\n"),
            (2, Some(50), true, "2", 2, "(1 or more further hits: offset 4)\n"),
            (4, Some(50), false, "4", 1, "xxx\n"),
            (2, Some(50), false, "2", 3, "xxx\n"),
            (4, Some(50), true, "4", 1, "(there may be more hits: offset 5)\n"),
            (9, None, false, "(", 0, "(no hits)\n"),
        ] {
            let text = page(&blocks, offset, tokens, "hits", more);
            let lines = text.lines().filter(|l| l.ends_with('x')).count();
            assert!(text.starts_with(first) && lines == shown && text.ends_with(last), "{offset} {tokens:?}: {text}");
        }
        let long = [format!("{}\nsecond\n", "y".repeat(40)), "z\n".repeat(200)];
        assert!(
            page(&long[1..], 0, Some(50), "lines", false)
                .ends_with("(cut; a larger max_tokens shows the rest of it)\n")
        );
        for (block, more, beginning) in [("é".repeat(150), false, "ééé"), ("x".repeat(150), true, "xxx")] {
            let text = page(&[block, "next\n".to_string()], 0, Some(50), "lines", more);
            assert!(text.starts_with(beginning) && text.contains("…\n(cut; ") && text.len() <= 200, "{text}");
        }
    }
}
