//! A text by its lines.

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
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
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

    /// Where lines `first..=end` lie in the text.
    pub(super) fn bytes(&self, first: u32, end: u32) -> Bytes {
        self.starts[first as usize - 1]..self.starts.get(end as usize).copied().unwrap_or(self.text.len())
    }

    /// The text of lines `first..=end` as a body: no more than fits.
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

    /// Whether only white space stands before `byte` on its line.
    pub(super) fn starts_line(&self, byte: usize) -> bool {
        self.text[byte - self.column(byte)..byte].trim_start().is_empty()
    }

    /// The last line that `range` has text on.
    pub(super) fn end_line(&self, range: &std::ops::Range<usize>) -> u32 {
        let trimmed = self.text[range.clone()].trim_end().len();
        self.line_of(range.start + trimmed.saturating_sub(1).min(self.text.len()))
    }
}

/// Lines that are a unit's own, one behind another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLines {
    /// The first of them.
    pub first: u32,
    /// The last of them; before `first` where none are left.
    pub end: u32,
    /// The first behind them that is not the unit's alone: the first of a member, or the one behind the unit.
    pub next: u32,
}

/// The lines of a unit on `line` to `end` that its members, from first to last line each, leave to it: all but theirs,
/// of which the first lines stay.
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

/// Whether a member of this kind takes its lines out of the body of what it lies in. Constants stay in it; blocks are
/// made of lines that nothing else has.
pub fn takes_lines(kind: UnitKind) -> bool {
    !matches!(kind, UnitKind::Constant | UnitKind::RawCode | UnitKind::Document)
}

/// The lines that make the body of a unit of `kind` on `line` to `end`, and whether that is only the beginning of a long
/// section. `members` are the lines, first and last, of what it encloses and [`takes_lines`]. The parser makes bodies
/// by this; with a unit's place known, the same body can be made without it.
pub fn body_lines(
    kind: UnitKind,
    line: u32,
    end: u32,
    members: impl IntoIterator<Item = (u32, u32)>,
) -> (Vec<OwnLines>, bool) {
    let mut own = own_lines(line, end, members);
    let count: u32 = own.iter().map(|lines| lines.end - lines.first + 1).sum();
    let is_cut = kind == UnitKind::Section && count > SECTION_LINES_MAX;
    let mut left = if is_cut { BLOCK_LINES } else { count };
    for lines in &mut own {
        lines.end = lines.end.min(lines.first + left - 1);
        left -= lines.end + 1 - lines.first;
    }
    (own, is_cut)
}

pub(super) type Bytes = std::ops::Range<usize>;
