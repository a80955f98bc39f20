//! Access to a text by lines.

use colgrep_core::UnitKind;

use super::{BLOCK_LINES, BODY_BYTES_MAX, SECTION_LINES_MAX};

/// Byte offsets of line starts.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1))
            .filter(|&start| start < text.len() || start == 0)
            .collect();
        Lines { text, starts }
    }

    /// Number of lines; an empty text has one, empty, line.
    pub(super) fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line_of(&self, byte: usize) -> u32 {
        self.starts.partition_point(|&start| start <= byte).max(1) as u32
    }

    /// The text of a line (from 1), its line break included.
    pub(super) fn line(&self, line: u32) -> &'a str {
        &self.text[self.bytes(line, line)]
    }

    /// Byte range of lines `first..=end`.
    pub(super) fn bytes(&self, first: u32, end: u32) -> Bytes {
        self.starts[first as usize - 1]..self.starts.get(end as usize).copied().unwrap_or(self.text.len())
    }

    /// The text of lines `first..=end` as a body, up to the size limit.
    pub(super) fn body(&self, first: u32, end: u32) -> String {
        let text = &self.text[self.bytes(first, end)];
        text[..text.floor_char_boundary(BODY_BYTES_MAX)].to_string()
    }

    pub(super) fn is_blank(&self, line: u32) -> bool {
        self.line(line).trim().is_empty()
    }

    /// Bytes before `byte` on its line.
    pub(super) fn column(&self, byte: usize) -> usize {
        byte - self.starts[self.line_of(byte) as usize - 1]
    }

    /// Bytes of white space that the line of `byte` begins with.
    pub(super) fn indentation(&self, byte: usize) -> usize {
        let line = self.line(self.line_of(byte));
        line.len() - line.trim_start().len()
    }

    /// Whether only white space precedes `byte` on its line.
    pub(super) fn starts_line(&self, byte: usize) -> bool {
        self.text[byte - self.column(byte)..byte].trim_start().is_empty()
    }

    /// The last line with text of `range`.
    pub(super) fn end_line(&self, range: &std::ops::Range<usize>) -> u32 {
        let trimmed = self.text[range.clone()].trim_end().len();
        self.line_of(range.start + trimmed.saturating_sub(1).min(self.text.len()))
    }
}

/// Consecutive lines of a unit's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLines {
    /// The first of them.
    pub first: u32,
    /// The last of them; before `first` if it is empty.
    pub end: u32,
    /// The next line that is not the unit's own: a member's first, or the one after the unit.
    pub next: u32,
}

/// The lines of a unit on `line` to `end` outside its members, which are given by first and last line. The first line
/// of each member counts as the unit's.
pub(super) fn own_lines(line: u32, end: u32, members: impl IntoIterator<Item = (u32, u32)>) -> Vec<OwnLines> {
    let mut members: Vec<(u32, u32)> = members.into_iter().collect();
    members.sort_unstable();
    let (mut own, mut at) = (Vec::new(), line);
    for (first, last) in members {
        if first >= at && at <= end {
            own.push(OwnLines { first: at, end: first.min(end), next: first });
        }
        at = at.max(last + 1);
    }
    if at <= end {
        own.push(OwnLines { first: at, end, next: end + 1 });
    }
    own
}

/// Whether a member of this kind takes its lines out of the body of its enclosing unit. Constants do not; blocks are
/// made of lines that nothing else has.
pub fn takes_lines(kind: UnitKind) -> bool {
    !matches!(kind, UnitKind::Constant | UnitKind::RawCode | UnitKind::Document)
}

/// The lines of the body of a unit of `kind` on `line` to `end`, and whether they are only the beginning of a long
/// section. `members` are the first and last lines of enclosed units that [`takes_lines`] names; `text` gives the text
/// of a line. The parser builds bodies with this, and anyone who knows a unit's place can rebuild them.
pub fn body_lines<'t>(
    kind: UnitKind,
    line: u32,
    end: u32,
    members: impl IntoIterator<Item = (u32, u32)>,
    text: impl Fn(u32) -> &'t str,
) -> (Vec<OwnLines>, bool) {
    let mut own = own_lines(line, end, members);
    let count: u32 = own.iter().map(|lines| lines.end - lines.first + 1).sum();
    let is_cut = kind == UnitKind::Section && count > SECTION_LINES_MAX;
    let mut left = if is_cut { BLOCK_LINES } else { count };
    for lines in &mut own {
        let last = (lines.first + left).saturating_sub(1);
        if lines.end > last {
            lines.end = if left > 0 { cut_behind(lines.first, last, lines.end, &text) } else { last };
        }
        left = left.saturating_sub(lines.end + 1 - lines.first);
    }
    (own, is_cut)
}

/// The last line of a piece that begins on line `first` and should end about line `last`, of lines up to `end`: code in
/// prose is not cut in two, unless the piece would get longer than an undivided section.
pub(super) fn cut_behind<'t>(first: u32, last: u32, end: u32, text: impl Fn(u32) -> &'t str) -> u32 {
    let mut code = Code::None;
    let mut safe = None;
    for line in first..=end.min(first + SECTION_LINES_MAX - 1) {
        code = code.next(text(line).trim_end());
        let is_inside = match code {
            Code::None => false,
            Code::Fence(..) => true,
            Code::Announced => line < end,
            // The code continues if the next line with text is indented.
            Code::Indented => (line + 1..=end.min(line + BLOCK_LINES))
                .map(&text)
                .find(|t| !t.trim().is_empty())
                .is_some_and(is_indented),
        };
        if is_inside {
            if line > last && safe.is_some() {
                break;
            }
            continue;
        }
        if line >= last {
            return if line == last || safe.is_none() { line } else { safe.unwrap_or(last) };
        }
        // A piece of a few lines is useless.
        safe = (line - first >= (last - first) / 2).then_some(line);
    }
    safe.unwrap_or(last)
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// How a line of prose relates to the code in it.
#[derive(Clone, Copy)]
enum Code<'t> {
    None,
    /// Between rows such as "```", which the same row closes.
    Fence(&'t str),
    /// After `::`, before the code.
    Announced,
    Indented,
}

impl<'t> Code<'t> {
    /// The state after `line`.
    fn next(self, line: &'t str) -> Code<'t> {
        let word = line.trim_start();
        let is_fence = |mark: &str| word.strip_prefix(mark).is_some_and(|rest| !rest.contains(mark));
        match self {
            Code::Fence(fence) if word.starts_with(fence) && word.trim_start_matches(&fence[..1]).is_empty() => {
                Code::None
            }
            Code::Fence(_) => self,
            Code::Announced | Code::Indented if word.is_empty() => self,
            Code::Announced | Code::Indented if is_indented(line) => Code::Indented,
            _ if is_fence("```") || is_fence("~~~") => {
                Code::Fence(&word[..word.len() - word.trim_start_matches(&word[..1]).len()])
            }
            _ if matches!(line, "----" | "....") => Code::Fence(line),
            _ if word.ends_with("::") || word.starts_with(".. code") || word.starts_with(".. sourcecode") => {
                Code::Announced
            }
            _ => Code::None,
        }
    }
}

pub(super) type Bytes = std::ops::Range<usize>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_prose_stays_whole() {
        let cut = |before: usize, code: &[&str], after: usize| {
            let lines = [vec!["words"; before], code.to_vec(), vec!["words"; after]].concat();
            cut_behind(1, 50, lines.len() as u32, |line| lines[line as usize - 1])
        };
        let fenced = |n: usize| [vec!["```sh"], vec!["run"; n], vec!["```"]].concat();
        let indented = |n: usize| [vec!["Like so::", ""], vec!["    run"; n], vec!["", "    end", ""]].concat();
        let delimited = |n: usize| [vec!["----"], vec!["# run"; n], vec!["----"]].concat();
        for (name, before, code, after, expected) in [
            ("no code", 90, vec![], 0, 50),
            ("before the fence", 40, fenced(20), 30, 40),
            ("code that ends before", 20, fenced(10), 90, 50),
            ("a piece that is code from its beginning", 0, fenced(70), 30, 72),
            ("longer than any piece", 0, fenced(400), 30, 50),
            ("indented", 40, indented(20), 30, 40),
            ("delimited", 40, delimited(20), 30, 40),
            ("a fence on one line", 49, vec!["```run```"], 30, 50),
        ] {
            assert_eq!(cut(before, &code, after), expected, "{name}");
        }
    }
}
