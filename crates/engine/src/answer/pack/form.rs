//! A unit of a pack as text: its head, and the lines that its grade allows.

use std::borrow::Cow;
use std::collections::BTreeSet;

use colgrep_core::Unit;
use colgrep_core::code_line::is_comment;
use colgrep_syntax::read::{self, lines_between};

use super::Grade;
use crate::answer::{FileAnswer, UnitAnswer};

/// Longest line shown, in characters; of a one-line piece, the line that answers.
const LINE_CHARS_MAX: usize = 160;
const NAMED_CHARS_MAX: usize = 60;
/// Lines of a comment that are kept around the one that answers, on either side.
const AROUND_COMMENT_LINES: usize = 1;
/// Lines kept around the one that answers, on either side, where a body is cut.
const AROUND_LINES: usize = 3;
/// Lines shown of one comment, with and without room for more.
const COMMENT_LINES_MAX: usize = 8;
const COMMENT_LINES_MIN: usize = 1;

/// How a unit is written: its grade, and the number of lines shown of a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) grade: Grade,
    comment_lines: usize,
}

pub(super) const LINE: Form = Form { grade: Grade::Line, comment_lines: 0 };
pub(super) const BRIEF: Form = Form { grade: Grade::Brief, comment_lines: 0 };
pub(super) const CUT: Form = Form { grade: Grade::Cut, comment_lines: COMMENT_LINES_MAX };
pub(super) const FULL: Form = Form { grade: Grade::Full, comment_lines: COMMENT_LINES_MIN };
pub(super) const COMMENTED: Form = Form { grade: Grade::Full, comment_lines: COMMENT_LINES_MAX };

/// The lines of a file, as far as its units reach, by their numbers from 1 ([`lines_between`]).
pub(super) fn lines_of(file: &FileAnswer) -> Vec<&str> {
    let spans = || file.units.iter().map(|answered| (answered.unit.span, answered.last_line));
    let first = spans().map(|(span, _)| span.first.min(span.line)).min().unwrap_or_default();
    let end = spans().map(|(span, last)| last.max(span.line as usize)).max().unwrap_or_default();
    lines_between(&file.text, first as usize, end, read::lines)
}

/// A unit as text, and the numbers of the lines of its file that are in it.
pub(super) struct PackedUnit {
    pub(super) text: String,
    pub(super) lines: Vec<usize>,
}

/// A unit's head, and as much of its text as its grade allows, from the lines of its file ([`lines_of`]) that are not
/// `hidden`, in about `room` bytes. Cut text fits exactly; full text stops soon after the limit.
pub(super) fn written(
    name: &str,
    id: &str,
    lines: &[&str],
    answered: &UnitAnswer,
    form: Form,
    room: usize,
    hidden: &BTreeSet<usize>,
) -> PackedUnit {
    let (unit, grade) = (&answered.unit, form.grade);
    let (line, end) = (unit.span.line as usize, answered.last_line.max(unit.span.line as usize));
    let head = format!("{name}:{line}-{end} {} {}", unit.kind.name(), unit.qualified_name());
    let mut text = head.trim_end().to_string() + id;
    let best = answered.line.number;
    if grade == Grade::Line {
        let (line, is_new) = (answered.line.text.trim(), !hidden.contains(&best));
        let line = Some(short(line, NAMED_CHARS_MAX)).filter(|_| is_new);
        text.extend(line.iter().map(|line| format!(": {line}")));
        text.push('\n');
        let is_whole = line.is_some_and(|line| matches!(line, Cow::Borrowed(_)));
        return PackedUnit { text, lines: Vec::from_iter(is_whole.then_some(best)) };
    }
    text.push('\n');
    if grade == Grade::Brief {
        let named = lines.get(answered.name_line.wrapping_sub(1)).map_or("", |line| line.trim());
        let (more, shown) = brief(unit, answered, named, hidden);
        return PackedUnit { text: text + &more, lines: shown };
    }
    let mut numbers = own_numbers(answered, end.min(lines.len()));
    numbers.retain(|number| !hidden.contains(number));
    while numbers.pop_if(|number| lines[*number - 1].trim().is_empty()).is_some() {}
    let indent = common_indent(numbers.iter().map(|number| lines[number - 1]));
    // Only the first row of a run and the one that answers are numbered: numbers on every row would take a quarter of
    // the tokens.
    let row = |to: &mut String, number: usize, is_next: bool| {
        if !is_next || number == best {
            to.push_str(&number.to_string());
            to.push_str(": ");
        }
        to.push_str(&short(lines[number - 1].get(indent..).unwrap_or_default().trim_end(), LINE_CHARS_MAX));
        to.push('\n');
    };
    let bytes = |number: usize| {
        let mut text = String::new();
        row(&mut text, number, false);
        text.len()
    };
    // Of text between definitions, comments may be all there is.
    let comment_lines = if unit.kind.is_definition() { form.comment_lines } else { COMMENT_LINES_MAX };
    let (mut full, mut cut);
    let kept: &mut dyn Iterator<Item = usize> = match grade {
        Grade::Full => {
            full = without_long_comments(&numbers, lines, best, comment_lines);
            &mut full
        }
        _ => {
            let room = room.saturating_sub(text.len());
            cut = kept_lines(&numbers, best, line, bytes, room).into_iter();
            &mut cut
        }
    };
    let mut shown: Vec<usize> = Vec::new();
    for number in kept {
        let is_next = shown.last().is_some_and(|last| number == last + 1);
        if grade == Grade::Cut && !shown.is_empty() && !is_next {
            text.push_str(GAP);
        }
        row(&mut text, number, is_next);
        shown.push(number);
        if grade == Grade::Full && text.len() > room {
            break;
        }
    }
    if grade == Grade::Cut && shown.last().is_some_and(|last| *last < end) {
        text.push_str(GAP);
    }
    PackedUnit { text, lines: shown }
}

/// Marks lines that are cut out.
const GAP: &str = "…\n";

/// Bytes of white space that all nonblank lines begin with.
fn common_indent<'l>(lines: impl Iterator<Item = &'l str>) -> usize {
    let mut known: Option<&str> = None;
    for line in lines {
        let blank = blank(line);
        let common = match known {
            _ if blank.len() == line.len() => continue,
            None => blank,
            Some(known) => {
                let same = known.bytes().zip(blank.bytes()).take_while(|(a, b)| a == b).count();
                &known[..known.floor_char_boundary(same)]
            }
        };
        if common.is_empty() {
            return 0;
        }
        known = Some(common);
    }
    known.map_or(0, str::len)
}

/// The white space that a line begins with.
fn blank(line: &str) -> &str {
    match line.bytes().position(|byte| !matches!(byte, b' ' | b'\t')) {
        // Nearly every line.
        Some(at) if line.as_bytes()[at].is_ascii_graphic() => &line[..at],
        _ => &line[..line.len() - line.trim_start().len()],
    }
}

/// The lines of a unit with each comment cut to `lines_max` lines; a comment with the answering line keeps those around
/// it.
fn without_long_comments<'l>(
    numbers: &'l [usize],
    lines: &'l [&str],
    best: usize,
    lines_max: usize,
) -> impl Iterator<Item = usize> + 'l {
    let around = best.saturating_sub(AROUND_COMMENT_LINES)..=best + AROUND_COMMENT_LINES;
    let (mut end, mut run) = (None, 0);
    let mut is_kept = move |number: usize| {
        let line = lines[number - 1].trim();
        let is_inside = end.is_some();
        end = match end {
            Some(mark) => Some(mark).filter(|mark| !line.contains(mark)),
            None => open_comment(line),
        };
        let is_comment = is_inside || end.is_some() || (is_comment(line) && !is_code(line));
        run = if is_comment { run + 1 } else { 0 };
        run <= lines_max || around.contains(&number)
    };
    numbers.iter().copied().filter(move |number| is_kept(*number))
}

/// Whether a line that begins like a comment is code where no comment is open: a star is an operator, `# define` a macro.
fn is_code(line: &str) -> bool {
    let word = line.strip_prefix('#').map(|rest| rest.split_whitespace().next().unwrap_or_default());
    line.starts_with('*') || word.is_some_and(|word| DIRECTIVES.contains(&word))
}

/// Directives of the C preprocessor.
const DIRECTIVES: [&str; 11] =
    ["define", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "undef", "pragma", "error"];

/// What ends the comment, or the documentation in quotes, that a line opens and does not end.
fn open_comment(line: &str) -> Option<&'static str> {
    // `r"""`, `@doc ~S"""`; a text that is given to a name is code.
    let bare = line.strip_prefix('@').and_then(|line| line.split_once(' ')).map_or(line, |(_, text)| text);
    let bare = bare.trim_start_matches(|c: char| c == '~' || c.is_ascii_alphabetic());
    let marks = [("/*", "*/"), ("{-", "-}"), ("<!--", "-->"), ("--[[", "]]"), ("=begin", "=end")];
    let quotes = [("\"\"\"", "\"\"\""), ("'''", "'''")];
    let opens =
        |text: &str, (begin, end): (&str, &str)| text.strip_prefix(begin).is_some_and(|rest| !rest.contains(end));
    let quoted = quotes.into_iter().find(|marks| opens(bare, *marks));
    marks.into_iter().find(|marks| opens(line, *marks)).or(quoted).map(|(_, end)| end)
}

/// The lines of a unit without those of its members, its documentation first.
fn own_numbers(answered: &UnitAnswer, end: usize) -> Vec<usize> {
    let span = answered.unit.span;
    let (first, line) = (span.first.min(span.line).max(1) as usize, span.line.max(1) as usize);
    if answered.parts.is_empty() {
        return (first..=end).collect();
    }
    let parts = answered.parts.iter().flat_map(|(first, last)| *first as usize..=(*last as usize).min(end));
    (first..line.min(end + 1)).chain(parts).collect()
}

/// The lines of a unit that fit into `room` bytes: its first, those around the one that answers, its last, then on from
/// the first.
fn kept_lines(numbers: &[usize], best: usize, line: usize, bytes: impl Fn(usize) -> usize, room: usize) -> Vec<usize> {
    let around = best.saturating_sub(AROUND_LINES)..=best + AROUND_LINES;
    let wanted = std::iter::once(line)
        .chain(std::iter::once(best))
        .chain(around)
        .chain(numbers.last().copied())
        .chain(numbers.iter().copied());
    // Room for the marks of cut lines.
    let mut left = room.saturating_sub(3 * GAP.len());
    let mut kept = Vec::new();
    for number in wanted {
        if !numbers.contains(&number) || kept.contains(&number) {
            continue;
        }
        if bytes(number) > left {
            break;
        }
        left -= bytes(number);
        kept.push(number);
    }
    kept.sort_unstable();
    kept
}

/// Signature, first sentence of the documentation, and the line that answers where it is another; and the numbers of the
/// lines that are shown so. `named` is the line with its name.
fn brief(unit: &Unit, answered: &UnitAnswer, named: &str, hidden: &BTreeSet<usize>) -> (String, Vec<usize>) {
    let (mut text, mut shown) = (String::new(), Vec::new());
    if !unit.signature.is_empty() {
        text.push_str(&format!("    {}\n", short(&unit.signature, LINE_CHARS_MAX)));
        shown.extend(named.starts_with(&unit.signature).then_some(answered.name_line));
    }
    let sentence = unit.docstring.split(". ").next().unwrap_or_default().lines().next().unwrap_or_default().trim();
    if !sentence.is_empty() {
        text.push_str(&format!("    {}\n", short(sentence, LINE_CHARS_MAX)));
    }
    let best = answered.line.number;
    if !hidden.contains(&best) && (unit.signature.is_empty() || best != answered.name_line) {
        text.push_str(&format!("    {best}: {}\n", short(answered.line.text.trim(), LINE_CHARS_MAX)));
        shown.push(best);
    }
    (text, shown)
}

fn short(line: &str, chars_max: usize) -> Cow<'_, str> {
    // No line has more characters than bytes.
    let cut = if line.len() > chars_max { line.char_indices().nth(chars_max) } else { None };
    match cut {
        Some((at, _)) => Cow::Owned(format!("{}…", &line[..at])),
        None => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_comments_are_cut_in_a_unit_in_full() {
        let mut lines: Vec<String> = (1..=30).map(|n| format!("/// Row {n}.")).collect();
        lines.extend(
            ["fn a() {", "    x", "    *y = 1;", "    *z = 1;", "    /* b", "       c */", "}"].map(String::from),
        );
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let numbers: Vec<usize> = (1..=37).collect();
        let kept = |lines_max| without_long_comments(&numbers, &lines, 20, lines_max).collect::<Vec<_>>();
        assert_eq!(kept(8), (1..=8).chain(19..=21).chain(31..=37).collect::<Vec<_>>());
        assert_eq!(kept(1), (1..=1).chain(19..=21).chain(31..=35).chain([37]).collect::<Vec<_>>());
    }

    #[test]
    fn comments_of_many_languages_are_opened() {
        for (line, expected) in [
            ("/** A", Some("*/")),
            ("/* A */", None),
            ("\"\"\"A thing.", Some("\"\"\"")),
            ("r'''A thing.'''", None),
            ("@moduledoc ~S\"\"\"", Some("\"\"\"")),
            ("query = \"\"\"select", None),
            ("--[[ A", Some("]]")),
            ("a * b", None),
        ] {
            assert_eq!(open_comment(line), expected, "{line}");
        }
    }

    #[test]
    fn rows_lose_the_indentation_that_all_have() {
        for (lines, expected) in [
            (&["    a", "", "      b"][..], 4),
            (&["\ta", "\t\tb"], 1),
            (&["\ta", "    b"], 0),
            (&["\u{3000}a", "\u{3001}b"], 0),
            (&["", " "], 0),
        ] {
            assert_eq!(common_indent(lines.iter().copied()), expected, "{lines:?}");
        }
    }
}
