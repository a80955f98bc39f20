//! How a line is cut, escaped and marked.

use std::io::{self, Write};
use std::ops::Range;

use anstream::adapter::strip_str;
use anstyle::Style;
use unicode_width::UnicodeWidthChar as _;

use super::escape::is_driving;
use super::style::{MARK, paint};

/// Longest line that a terminal of unknown width, or an agent, gets whole, in columns.
pub const COLUMNS_MAX: usize = 300;
/// Columns that a tab takes at most; tabs are printed unchanged.
const TAB_COLUMNS: usize = 8;

/// Writes a line of source. For a terminal of `columns` it is cut to that width and control characters are escaped;
/// else it is written verbatim. `syntax` are styles with the number of bytes each covers, from the line's beginning;
/// `marks` are byte ranges to emphasise.
pub fn write(
    out: &mut impl Write,
    line: &str,
    columns: Option<usize>,
    color: bool,
    syntax: &[(Style, usize)],
    marks: &[Range<usize>],
) -> io::Result<()> {
    if columns.is_none() && !color {
        return out.write_all(line.as_bytes());
    }
    let line = if columns.is_some() { line.trim_end() } else { line };
    let (terminal, columns) = (columns.is_some(), columns.unwrap_or(usize::MAX).max(1));
    let mut run = (Style::new(), String::new());
    let (mut used, mut segment, mut segment_end) = (0, 0, syntax.first().map_or(usize::MAX, |s| s.1));
    let mut shown = String::new();
    let mut all = line.char_indices().peekable();
    while let Some((at, c)) = all.next() {
        while at >= segment_end {
            segment += 1;
            segment_end = segment_end.saturating_add(syntax.get(segment).map_or(usize::MAX, |s| s.1));
        }
        shown.clear();
        match c {
            c if terminal && c != '\t' && is_driving(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
        let width: usize = shown.chars().map(char_columns).sum();
        // The last column is kept for the ellipsis, if more follows.
        if used + width > columns || (used + width == columns && all.peek().is_some()) {
            run.1.push('…');
            break;
        }
        used += width;
        let base = syntax.get(segment).map_or_else(Style::new, |s| s.0);
        let style = if marks.iter().any(|m| m.contains(&at)) { base | MARK.get_effects() } else { base };
        if style != run.0 {
            paint(out, run.0, color && run.0 != Style::new(), &run.1)?;
            run = (style, String::new());
        }
        run.1.push_str(&shown);
    }
    paint(out, run.0, color && run.0 != Style::new(), &run.1)
}

/// Columns that a character takes at most.
fn char_columns(c: char) -> usize {
    if c == '\t' { TAB_COLUMNS } else { c.width().unwrap_or(0) }
}

/// Columns that a line takes on a terminal at most.
pub fn columns(line: &str) -> usize {
    line.chars().map(char_columns).sum()
}

/// Rows that printed lines take on a terminal of `width` columns, which wraps what is longer.
pub fn screen_rows(printed: &str, width: usize) -> usize {
    let plain = strip_str(printed).to_string();
    plain.lines().map(|line| columns(line).div_ceil(width.max(1)).max(1)).sum()
}

/// A line as plain text, cut to 300 columns.
pub fn shortened(line: &str) -> String {
    cut(line, COLUMNS_MAX)
}

/// A line as plain text, not cut: what a page of a tool has no room for, it says.
pub fn escaped(line: &str) -> String {
    cut(line, usize::MAX)
}

/// A line as plain text, truncated to a number of columns.
pub fn cut(line: &str, columns: usize) -> String {
    let mut out = Vec::new();
    // Writing into memory does not fail.
    let _ = write(&mut out, line, Some(columns), false, &[], &[]);
    String::from_utf8_lossy(&out).into_owned()
}

/// Where a line that is cut to `columns` is shown from, in bytes: its beginning, or a little before the first mark if
/// that is beyond the cut; further to the left if the rest would leave columns empty.
pub fn shown_from(line: &str, columns: usize, marks: &[Range<usize>]) -> usize {
    let Some(mark) = marks.first() else { return 0 };
    let line = line.trim_end();
    // Bytes may match inside of a character.
    let (start, end) = (line.floor_char_boundary(mark.start), line.floor_char_boundary(mark.end));
    if line[..end].chars().count() < columns || line.chars().nth(columns).is_none() {
        return 0;
    }
    // A column is kept for the ellipsis.
    last_columns(&line[..start], columns / 3).min(last_columns(line, columns.saturating_sub(1)))
}

/// Where the last `columns` of a line begin, in bytes.
fn last_columns(line: &str, columns: usize) -> usize {
    let mut used = 0;
    let fits = |(_, c): &(usize, char)| {
        used += char_columns(*c);
        used <= columns
    };
    line.char_indices().rev().take_while(fits).last().map_or(line.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_to_the_terminal() {
        for (line, columns, expected) in [
            ("struct RingBuffer", Some(80), "struct RingBuffer"),
            ("struct RingBuffer", Some(17), "struct RingBuffer"),
            ("struct RingBuffer", Some(10), "struct Ri…"),
            ("\tx\u{1b}[31m  ", Some(80), "\tx\\u{1b}[31m"),
            ("\tx\u{1b}[31m  ", None, "\tx\u{1b}[31m  "),
            ("if \u{202e}x", Some(80), "if \\u{202e}x"),
            ("if \u{202e}x", None, "if \u{202e}x"),
            ("日本語の行", Some(6), "日本…"),
        ] {
            let mut out = Vec::new();
            write(&mut out, line, columns, false, &[], &[]).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{line:?} in {columns:?}");
        }
        let long = "x".repeat(10_000);
        let mut out = Vec::new();
        write(&mut out, &long, None, false, &[], &[]).unwrap();
        assert_eq!(out, long.as_bytes());
        assert_eq!(shortened(&long).chars().count(), COLUMNS_MAX);
    }

    #[test]
    fn wrapped_lines_take_several_rows_and_escape_sequences_none() {
        let link = "\u{1b}]8;;file:///a/very/long/path.rs\u{1b}\\\u{1b}[35mp.rs\u{1b}[0m\u{1b}]8;;\u{1b}\\:1:x";
        for (printed, width, expected) in [
            ("", 10, 0),
            ("a\n\nb\n", 10, 3),
            ("0123456789\n", 10, 1),
            ("0123456789a\n", 10, 2),
            ("日本語の行末\n", 10, 2),
            ("\tif x\n", 10, 2),
            (link, 10, 1),
            (&"x".repeat(1_000), usize::MAX, 1),
        ] {
            assert_eq!(screen_rows(printed, width), expected, "{printed:?} in {width}");
        }
    }

    #[test]
    fn a_line_is_shown_around_what_is_marked_in_it() {
        let line = format!("{}needle{}", "é".repeat(50), "x".repeat(50));
        for (columns, mark, expected) in [
            (200, 100..106, 0),
            (56, 100..106, 64),
            (57, 100..106, 0),
            (30, 100..106, 80),
            (30, 0..2, 0),
            (2, 100..106, 100),
        ] {
            assert_eq!(shown_from(&line, columns, std::slice::from_ref(&mark)), expected, "{columns} {mark:?}");
        }
        assert_eq!(shown_from(&line, 10, &[]), 0);
        for (columns, behind, expected) in [(30, "", 27), (30, "  ", 27), (30, "(x)", 30), (30, "\t;", 36)] {
            let line = format!("{}needle{behind}", "a".repeat(50));
            assert_eq!(shown_from(&line, columns, &[Range { start: 50, end: 56 }]), expected, "filled: {behind:?}");
        }
        assert_eq!(shown_from("a needle", 8, &[Range { start: 2, end: 8 }]), 0, "all of it has room");
    }

    #[test]
    fn marks_lie_on_the_syntax() {
        let mut out = Vec::new();
        let keyword = anstyle::AnsiColor::Blue.on_default();
        write(
            &mut out,
            "struct RingBuffer",
            None,
            true,
            &[(keyword, 6), (Style::new(), 11)],
            &[Range { start: 7, end: 11 }],
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "\u{1b}[34mstruct\u{1b}[0m \u{1b}[1m\u{1b}[4mRing\u{1b}[0mBuffer");
    }
}
