//! Pages: as many blocks of text as fit a budget, and where the next page begins.

use colgrep_engine::answer::pack::BYTES_A_TOKEN;

use colgrep_render::advice::without_middle;
use colgrep_render::budget::TokenBudget;
use colgrep_render::words::{counted, plural};

/// Default length of an answer, in tokens.
const TOKENS_DEFAULT: usize = 2_000;
/// Shortest length of an answer, in tokens.
pub const TOKENS_MIN: usize = 50;
/// Greatest length of an answer, in tokens; clients cut what is longer.
pub const TOKENS_MAX: usize = 25_000;
/// Bytes kept for the last line, which says where the next page begins.
const LAST_LINE_BYTES: usize = 56;
/// Tokens of an answer that are kept for remarks and the state of the roots; a fifth of a shorter answer.
pub const REMARK_TOKENS: usize = 128;
/// Marks a first block that was cut.
const CUT: &str = "(cut; a larger max_tokens shows the rest of it)\n";

/// The length of a whole answer in tokens, within bounds.
pub fn tokens_wanted(max_tokens: Option<usize>) -> usize {
    max_tokens.unwrap_or(TOKENS_DEFAULT).clamp(TOKENS_MIN, TOKENS_MAX)
}

/// The tokens of an answer that its page may take.
pub fn page_tokens(max_tokens: Option<usize>) -> usize {
    let whole = tokens_wanted(max_tokens);
    whole - (whole / 5).min(REMARK_TOKENS)
}

/// The page of an answer with the lines of its remarks and its `last` line, as far as they fit. The last line has
/// precedence over the remarks.
pub fn whole_answer(page: &str, remarks: &str, last: &str, tokens: usize) -> String {
    let mut budget = TokenBudget::new(Some(tokens));
    let mut text = page.to_string();
    if !budget.take(page.len()) {
        return text;
    }
    let last = if budget.take(last.len()) { last } else { "" };
    text.extend(remarks.split_inclusive('\n').filter(|line| budget.take(line.len())));
    text.push_str(last);
    text
}

/// The text of an error, as far as it fits an answer.
pub fn bounded(why: String, max_tokens: Option<usize>) -> String {
    without_middle(why, tokens_wanted(max_tokens) * BYTES_A_TOKEN)
}

/// Joins blocks from `offset` on while they fit. `more` is whether blocks may follow the last one given. The first
/// block is cut if it alone is too long: at a line's end, or in its first line where not even that fits.
pub fn page(blocks: &[String], offset: usize, max_tokens: Option<usize>, what: &str, more: bool) -> String {
    paged(blocks, offset, max_tokens, what, more).0
}

/// The same, and the number of blocks on the page.
pub fn paged(blocks: &[String], offset: usize, max_tokens: Option<usize>, what: &str, more: bool) -> (String, usize) {
    filled(blocks, offset, TokenBudget::new(Some(page_tokens(max_tokens))), what, more)
}

/// The page at `offset`; without one, the page with the block `at`. Each page but the first repeats the first block,
/// which introduces the others, and says where the previous page begins.
pub fn page_with(blocks: &[String], offset: Option<usize>, at: usize, max_tokens: Option<usize>, what: &str) -> String {
    let (mut start, mut before) = (0, 0);
    loop {
        let mut budget = TokenBudget::new(Some(page_tokens(max_tokens)));
        let mut front = match blocks.first().filter(|_| start > 0) {
            Some(first) => {
                format!("{first}({} earlier {}: offset {before})\n", start - 1, plural(start as u64 - 1, what))
            }
            None => String::new(),
        };
        let room = budget.bytes_left().unwrap_or_default();
        if front.len() + TOKENS_MIN * BYTES_A_TOKEN <= room {
            budget.take(front.len());
        } else {
            front.clear();
        }
        let (text, shown) = filled(blocks, start, budget, what, false);
        let next = start + shown;
        if shown == 0 || offset.map_or(at < next, |offset| offset == start) {
            return front + &text;
        }
        (before, start) = (start, offset.map_or(next, |offset| offset.min(next)));
    }
}

/// `is 1 line`, `are 2 lines`.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", if n == 1 { "is" } else { "are" }, counted(n as u64, what))
}

/// As many blocks from `offset` on as fit the budget, and their number.
fn filled(blocks: &[String], offset: usize, mut budget: TokenBudget, what: &str, more: bool) -> (String, usize) {
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
                let part = &block[..block.floor_char_boundary(bytes)];
                // A part of an id is none.
                let id = part.rfind(" #").filter(|at| !part[at + 1..].contains(char::is_whitespace));
                text.push_str(&part[..id.unwrap_or(part.len())]);
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
    let (all, many) = (blocks.len(), plural(2_u64, what));
    match (rest.len(), left, more) {
        (0, ..) if all > 0 && !more => text.push_str(&format!("(no further {what}: there {})\n", are(all, what))),
        (0, ..) => text.push_str(&format!("(no {many})\n")),
        (_, 0, false) => {}
        (_, 0, true) => text.push_str(&format!("(there may be more {many}: offset {next})\n")),
        (_, left, true) => text.push_str(&format!("({left} or more further {many}: offset {next})\n")),
        (_, left, false) => {
            text.push_str(&format!("({left} further {}: offset {next})\n", plural(left as u64, what)));
        }
    }
    (text, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_be_asked_for_by_what_it_holds_and_turned_both_ways() {
        let mut blocks = vec!["a.rs:1-40 function f\n".to_string()];
        blocks.extend((1..=40).map(|n| format!("{n:>2}: {}\n", "x".repeat(35))));
        let asked = |offset, at| page_with(&blocks, offset, at, Some(120), "line");
        let first = asked(None, 0);
        assert!(first.starts_with("a.rs:1-40 function f\n 1: x") && first.len() <= 480, "{first}");
        let second = first.rsplit_once("further lines: offset ").expect("a further page").1.trim_end_matches(")\n");
        let second: usize = second.parse().expect("a number");
        let by_line = asked(None, second);
        let front = format!("a.rs:1-40 function f\n({} earlier lines: offset 0)\n{second:>2}: x", second - 1);
        assert!(by_line.starts_with(&front) && by_line.len() <= 480, "{by_line}");
        assert_eq!(by_line, asked(Some(second), 0), "whoever turns the page reads the same");
        let last = asked(None, 40);
        assert!(last.contains("\n40: x") && last.contains("earlier lines: offset ") && !last.contains("further"));
        let odd = asked(Some(second + 1), 0);
        assert!(odd.contains(&format!("({second} earlier lines: offset {second})\n{:>2}: ", second + 1)), "{odd}");
        assert!(asked(Some(usize::MAX), 0).ends_with("(no further line: there are 41 lines)\n"));
        // No room for more than the lines.
        assert!(page_with(&blocks, None, 9, Some(50), "line").len() <= 200);
    }

    #[test]
    fn an_error_keeps_the_bound_with_both_its_ends() {
        assert_eq!(bounded("no such file".to_string(), Some(50)), "no such file");
        let told = bounded(format!("{} is no file; `include` takes globs", "é".repeat(5_000)), Some(50));
        assert!(told.len() <= 200 && told.starts_with("éé") && told.ends_with("é is no file; `include` takes globs"));
        assert!(told.contains("é […] é"), "{told}");
        assert!(bounded("x".repeat(9_000), None).len() <= 8_000);
    }

    #[test]
    fn remarks_and_the_last_line_keep_the_bound() {
        let (page, remarks, last) = ("x".repeat(150) + "\n", "(one)\n(a longer remark)\n(two)\n", "(root /a)\n");
        for (tokens, expected) in [
            (100, "(one)\n(a longer remark)\n(two)\n(root /a)\n"),
            (44, "(one)\n(two)\n(root /a)\n"),
            (41, "(root /a)\n"),
            (39, ""),
        ] {
            let text = whole_answer(&page, remarks, last, tokens);
            assert_eq!(text.strip_prefix(&page), Some(expected), "{tokens}");
        }
        assert_eq!([50, 400, 1_000].map(|tokens| page_tokens(Some(tokens))), [40, 320, 872]);
    }

    #[test]
    fn pages_follow_each_other() {
        let blocks: Vec<String> = (0..5).map(|i| format!("{i}{}\n", "x".repeat(58))).collect();
        for (offset, tokens, more, first, shown, last) in [
            (0, None, false, "0", 5, "xxx\n"),
            (0, Some(62), false, "0", 2, "(3 further hits: offset 2)\n"),
            (2, Some(62), true, "2", 2, "(1 or more further hits: offset 4)\n"),
            (4, Some(62), false, "4", 1, "xxx\n"),
            (2, Some(62), false, "2", 3, "xxx\n"),
            (4, Some(62), true, "4", 1, "(there may be more hits: offset 5)\n"),
            (9, None, false, "(", 0, "(no further hit: there are 5 hits)\n"),
            (9, None, true, "(", 0, "(no hits)\n"),
        ] {
            let text = page(&blocks, offset, tokens, "hit", more);
            let lines = text.lines().filter(|l| l.ends_with('x')).count();
            assert!(text.starts_with(first) && lines == shown && text.ends_with(last), "{offset} {tokens:?}: {text}");
        }
        let last = ["a\n".to_string(), "x".repeat(400) + "\n"];
        assert_eq!(page(&last, 0, Some(62), "hit", false), "a\n(1 further hit: offset 1)\n");
        let long = [format!("{}\nsecond\n", "y".repeat(40)), "z\n".repeat(200)];
        assert!(
            page(&long[1..], 0, Some(50), "line", false).ends_with("(cut; a larger max_tokens shows the rest of it)\n")
        );
        for (block, more, beginning) in [
            ("é".repeat(150), false, "ééé"),
            ("x".repeat(150), true, "xxx"),
            (format!("x #{}", "0".repeat(150)), true, "x…"),
        ] {
            let text = page(&[block, "next\n".to_string()], 0, Some(50), "line", more);
            assert!(text.starts_with(beginning) && text.contains("…\n(cut; ") && text.len() <= 200, "{text}");
        }
    }
}
