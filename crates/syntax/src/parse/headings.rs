//! Sections of prose without a grammar: titles with a row of one punctuation character below (reStructuredText, plain
//! text), or with AsciiDoc's rows of `=` in front.
//!
//! D. Goodger, "reStructuredText Markup Specification" (docutils), Sections; "AsciiDoc Language Documentation", Section
//! Titles and Delimited Blocks.

use std::collections::HashMap;

use super::blocks::{add_blocks, blocks_only};
use super::build::Builder;
use super::collect::{Definition, FileCaptures, What};
use super::lines::{Bytes, Lines};
use super::{Parsed, UNIT_BYTES_BASE, UNIT_BYTES_PER_BYTE, plain};
use crate::budget::{Budget, Spent};
use crate::language::{Language, Reader};
use colgrep_core::{Unit, UnitKind, UnitRole};

/// Longest title, in characters: longer lines are paragraphs.
const TITLE_CHARS_MAX: usize = 200;
/// A row of this length marks a title in reStructuredText even if the title above is longer.
const SHORT_ROW: usize = 4;
/// How many characters shorter than its title a row may be in plain text.
const ROW_SLACK: usize = 2;
/// AsciiDoc's characters of underlines, by level.
const ASCIIDOC_ROWS: &str = "=-~^+";
/// Marks that open and close verbatim blocks of AsciiDoc, repeated at least four times.
const VERBATIM: &str = "-.+/";

/// A title with its place in the outline.
#[derive(Debug)]
struct Heading {
    /// 0 for the outermost.
    level: usize,
    /// The heading's first line: the row above, if there is one.
    first: u32,
    /// The title's line.
    line: u32,
    /// The title in the text.
    name: Bytes,
}

/// Cuts prose into sections by its headings.
pub(super) fn parse(text: &str, language: &'static Language, reader: Reader) -> Parsed {
    sections(text, language, reader).unwrap_or_else(|spent| plain(text, language, &spent.to_string()))
}

fn sections(text: &str, language: &'static Language, reader: Reader) -> Result<Parsed, Spent> {
    let budget = Budget::new();
    let lines = Lines::new(text);
    let headings = match reader {
        Reader::Rows => rows(&lines),
        Reader::Stars => marked(&lines, star_title),
        Reader::Commands => marked(&lines, command_title),
        Reader::Pod => marked(&lines, pod_title),
        _ => underlined(&lines, language.name != "text"),
    };
    if headings.is_empty() {
        return Ok(Parsed { units: blocks_only(text, language), ..Parsed::default() });
    }
    let mut found = FileCaptures { definitions: definitions(&headings, &lines), ..FileCaptures::default() };
    let room = UNIT_BYTES_BASE + UNIT_BYTES_PER_BYTE * text.len();
    let mut units = Builder { text, lines: &lines, language, found: &mut found, budget: &budget, room }.units()?;
    take_rows_above(&mut units, &headings);
    add_blocks(&mut units, &lines, language);
    Ok(Parsed { units, ..Parsed::default() })
}

/// Each heading with everything below it, to the next of its level or of an outer one.
fn definitions(headings: &[Heading], lines: &Lines<'_>) -> Vec<Definition> {
    let begins: Vec<(usize, usize)> =
        headings.iter().map(|heading| (heading.level, lines.bytes(heading.first, heading.first).start)).collect();
    let ends = ends(&begins, lines.text.len());
    let what = What::Unit(UnitKind::Section, UnitRole::Definition);
    let definition = |(heading, end): (&Heading, usize)| {
        Definition::new(what, 0, name_of(lines, heading.line).start..end, heading.name.clone())
    };
    headings.iter().zip(ends).filter(|(heading, _)| !heading.name.is_empty()).map(definition).collect()
}

/// Perl: adds the sections of documentation between the code, and the text of those that are titled with the name of a
/// sub to its documentation.
pub(super) fn add_pod(found: &mut FileCaptures, lines: &Lines<'_>) {
    let headings = marked(lines, pod_title);
    let mut texts: HashMap<&str, Bytes> = HashMap::new();
    for heading in &headings {
        let Some(name) = titled_sub(&lines.text[heading.name.clone()]) else { continue };
        let text = heading.line + 1..=lines.count();
        let end = text.clone().find(|line| lines.line(*line).starts_with('=')).unwrap_or(lines.count() + 1) - 1;
        if *text.start() <= end {
            texts.entry(name).or_insert(lines.bytes(*text.start(), end));
        }
    }
    for sub in found.definitions.iter_mut().filter(|definition| definition.what.is_callable()) {
        sub.doc.extend(texts.remove(&lines.text[sub.name.clone()]));
    }
    found.definitions.extend(definitions(&headings, lines));
}

/// The sub that a title names: `push`, `push($item)`, `$queue->push($item)`.
fn titled_sub(title: &str) -> Option<&str> {
    let call = title.split('(').next()?.trim_end();
    let name = call.rsplit("->").next()?;
    (!name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(name)
}

/// The end of each heading's section: the next heading of its level or an outer one, else the end of the text. A
/// heading is given by its level and position.
fn ends(headings: &[(usize, usize)], text_len: usize) -> Vec<usize> {
    let mut ends = vec![text_len; headings.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, (level, start)) in headings.iter().enumerate() {
        while let Some(closed) = open.pop_if(|top| headings[*top].0 >= *level) {
            ends[closed] = *start;
        }
        open.push(i);
    }
    ends
}

/// Markdown: extends an underlined heading, whose row is its `body`, over everything below it to the next heading of
/// its level or an outer one. The grammar does this only for other headings.
pub(super) fn nest(definitions: &mut [Definition], text: &str) {
    if definitions.iter().all(|definition| definition.body.is_none()) {
        return;
    }
    definitions.sort_by_key(|definition| definition.bytes.start);
    let (mut headings, mut begins) = (Vec::new(), Vec::new());
    for definition in definitions.iter_mut() {
        let start = definition.bytes.start;
        let line = text[..start].rfind('\n').map_or(0, |before| before + 1);
        // A heading in a quote is not a heading of the document.
        if !text[line..start].trim().is_empty() {
            continue;
        }
        let level = match &definition.body {
            Some(row) if text[row.clone()].trim_start().starts_with('=') => 1,
            Some(_) => 2,
            None => text[start..].trim_start().bytes().take_while(|byte| *byte == b'#').count(),
        };
        begins.push((level, line));
        headings.push(definition);
    }
    for (heading, end) in headings.into_iter().zip(ends(&begins, text.len())) {
        // For other headings the grammar may know an earlier end.
        heading.bytes.end = if heading.body.is_some() { end } else { heading.bytes.end.min(end) };
    }
}

/// The row above a title belongs to its section, although the section's line is the title's.
fn take_rows_above(units: &mut [Unit], headings: &[Heading]) {
    for unit in units.iter_mut().filter(|unit| unit.kind == UnitKind::Section) {
        if let Ok(at) = headings.binary_search_by_key(&unit.span.line, |heading| heading.line) {
            unit.span.first = headings[at].first;
        }
    }
}

/// A line of one repeated punctuation character: the character, and its count.
fn row(line: &str) -> Option<(char, usize)> {
    let line = line.trim_end();
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.chars().all(|c| c == first).then_some((first, line.len()))
}

/// Whether a row of this length means something else: `..` a comment, `::` an announcement, `>>>` a prompt.
fn is_marker((c, length): (char, usize)) -> bool {
    matches!(c, '.' | ':' | '>') && length < SHORT_ROW
}

fn title_chars(line: &str) -> Option<usize> {
    let title = line.trim();
    let chars = title.chars().take(TITLE_CHARS_MAX + 1).count();
    (chars <= TITLE_CHARS_MAX && title.contains(char::is_alphanumeric)).then_some(chars)
}

/// The place of a line's text.
fn name_of(lines: &Lines<'_>, line: u32) -> Bytes {
    let (bytes, text) = (lines.bytes(line, line), lines.line(line));
    let start = bytes.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// Titles with a row below, and perhaps one above. Levels are in order of first use, outermost first. Plain text may be
/// Markdown too: titles after `#` with blank lines around them.
fn underlined(lines: &Lines<'_>, is_markup: bool) -> Vec<Heading> {
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut headings = Vec::new();
    let at = |line: u32| if (1..=lines.count()).contains(&line) { lines.line(line) } else { "" };
    let is_free = |line: u32| at(line).trim().is_empty() || (is_markup && at(line).starts_with(".. "));
    let mut line = 1;
    while line <= lines.count() {
        let title = line;
        line += 1;
        let stands_alone = || is_free(title - 1) && at(title + 1).trim().is_empty();
        if let Some((level, name)) =
            row_in_front(at(title).trim_end()).filter(|_| !is_markup && at(title).starts_with('#'))
            && stands_alone()
        {
            let start = lines.bytes(title, title).start + at(title).trim_end().len() - name.len();
            let length = name.trim_end_matches('#').trim_end().len();
            headings.push(Heading { level, first: title, line: title, name: start..start + length });
            continue;
        }
        let (Some(chars), Some(below)) = (title_chars(at(title)), row(at(title + 1))) else { continue };
        let is_long = below.1 + if is_markup { 0 } else { ROW_SLACK } >= chars || (is_markup && below.1 >= SHORT_ROW);
        if is_marker(below) || !is_long || row(at(title)).is_some() {
            continue;
        }
        let has_row_above = title > 1 && row(at(title - 1)) == Some(below) && is_free(title.saturating_sub(2));
        if !has_row_above && (!is_free(title - 1) || at(title).starts_with(char::is_whitespace)) {
            continue;
        }
        let style = (below.0, has_row_above);
        let known = styles.iter().position(|s| *s == style);
        let level = known.unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        let first = if has_row_above { title - 1 } else { title };
        headings.push(Heading { level, first, line: title, name: name_of(lines, title) });
        line = title + 2;
    }
    headings
}

/// Titles by `title_of`, which returns the level and the place of the title on a line; an empty title ends all
/// sections.
fn marked(lines: &Lines<'_>, title_of: impl Fn(&str) -> Option<(usize, Bytes)>) -> Vec<Heading> {
    let heading = |line: u32| {
        let (level, title) = title_of(lines.line(line))?;
        let start = lines.bytes(line, line).start;
        Some(Heading { level, first: line, line, name: start + title.start..start + title.end })
    };
    (1..=lines.count()).filter_map(heading).collect()
}

/// Org: `** TODO Title :tag:`.
fn star_title(line: &str) -> Option<(usize, Bytes)> {
    let rest = line.trim_start_matches('*');
    let level = line.len() - rest.len();
    let mut title = rest.strip_prefix([' ', '\t']).filter(|_| level > 0)?.trim();
    for word in ["TODO", "DONE"] {
        title = title.strip_prefix(word).filter(|rest| rest.starts_with(' ')).unwrap_or(title).trim_start();
    }
    if let Some((before, tags)) = title.rsplit_once(" :")
        && tags.ends_with(':')
        && !tags.contains(' ')
    {
        title = before.trim_end();
    }
    title_chars(title).map(|_| (level, place_in(line, title)))
}

/// Commands of LaTeX that begin a section, outermost first.
const COMMANDS: [&str; 6] = ["part", "chapter", "section", "subsection", "subsubsection", "paragraph"];

/// LaTeX: `\section*[Short]{Title}`.
fn command_title(line: &str) -> Option<(usize, Bytes)> {
    let rest = line.trim_start().strip_prefix('\\')?;
    let name = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let level = COMMANDS.iter().position(|command| *command == &rest[..name])?;
    let rest = rest[name..].trim_start_matches('*');
    let rest = if rest.starts_with('[') { &rest[rest.find(']')? + 1..] } else { rest };
    let rest = rest.strip_prefix('{')?;
    let mut depth = 1;
    let is_close = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    };
    let title = rest[..rest.find(is_close).unwrap_or(rest.len())].trim();
    title_chars(title).map(|_| (level, place_in(line, title)))
}

/// POD: `=head1 Title`, or `=cut` with an empty title.
fn pod_title(line: &str) -> Option<(usize, Bytes)> {
    let command = line.strip_prefix('=')?;
    if command.trim_end() == "cut" {
        return Some((0, 0..0));
    }
    let rest = command.strip_prefix("head")?;
    let level = rest.chars().next()?.to_digit(10).filter(|level| (1..=6).contains(level))?;
    let title = rest[1..].strip_prefix([' ', '\t'])?.trim();
    title_chars(title).map(|_| (level as usize, place_in(line, title)))
}

fn place_in(line: &str, part: &str) -> Bytes {
    let start = part.as_ptr().addr() - line.as_ptr().addr();
    start..start + part.len()
}

/// AsciiDoc: `== Title` with one to six `=` (or `#`), and titles with a row of the same length below.
fn rows(lines: &Lines<'_>) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut closes: Option<&str> = None;
    let at = |line: u32| if (1..=lines.count()).contains(&line) { lines.line(line).trim_end() } else { "" };
    let is_free = |line: u32| at(line).is_empty() || at(line).starts_with('[');
    let mut line = 1;
    while line <= lines.count() {
        let (number, text) = (line, at(line));
        line += 1;
        if let Some(close) = closes {
            closes = closes.filter(|_| text != close);
            continue;
        }
        let is_discrete = matches!(at(number.saturating_sub(1)), "[discrete]" | "[float]");
        if let Some((level, title)) = row_in_front(text).filter(|_| !is_discrete) {
            let start = lines.bytes(number, number).start + text.len() - title.len();
            let name = start..start + title.len();
            headings.push(Heading { level, first: number, line: number, name });
        } else if let Some(level) = row_below(text, at(number + 1)).filter(|_| is_free(number.saturating_sub(1))) {
            if !is_discrete {
                headings.push(Heading { level, first: number, line: number, name: name_of(lines, number) });
            }
            line += 1;
        } else if opens(text) {
            closes = Some(text);
        }
    }
    headings
}

/// `=== Title`: its level and its title.
fn row_in_front(line: &str) -> Option<(usize, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '=' | '#'))?;
    let rest = line.trim_start_matches(mark);
    let level = line.len() - rest.len() - 1;
    let title = rest.strip_prefix([' ', '\t'])?.trim();
    (level < 6 && title_chars(title).is_some()).then_some((level, title))
}

/// The level of a title by the row below it.
fn row_below(title: &str, below: &str) -> Option<usize> {
    let (mark, length) = row(below)?;
    let level = ASCIIDOC_ROWS.find(mark)?;
    let chars = title_chars(title).filter(|chars| chars.abs_diff(length) <= 1 && length > 1)?;
    (chars > 1 && title.starts_with(char::is_alphanumeric)).then_some(level)
}

/// Whether a line opens a verbatim block.
fn opens(line: &str) -> bool {
    let is_row = row(line).is_some_and(|(mark, length)| VERBATIM.contains(mark) && length >= SHORT_ROW);
    is_row || line.starts_with("```") || line == "|==="
}

#[cfg(test)]
mod tests {
    use crate::language;
    use crate::parse::parse;

    /// Lines, kind and qualified name of every unit.
    fn outline(name: &str, text: &str) -> Vec<String> {
        let language = language::by_name(name).expect("a row");
        let units = parse(text, language).units;
        let row =
            |u: &colgrep_core::Unit| format!("{}-{} {} {}", u.span.line, u.span.end, u.kind.name(), u.qualified_name());
        units.iter().map(|u| row(u).trim_end().to_string()).collect()
    }

    #[test]
    fn underlined_titles_nest_in_order_of_appearance() {
        let text = "=====\nGuide\n=====\n\nFirst words.\n\n.. _limits:\n\nTimeouts\n--------\n\nFive seconds.\n\n\
                    Retries\n~~~~~~~\n\nThree.\n\nErrors\n------\n\nNone::\n\n    Not a title\n    -----------\n";
        for name in ["rst", "text"] {
            let expected = [
                "2-25 section Guide",
                "9-17 section Guide.Timeouts",
                "14-17 section Guide.Timeouts.Retries",
                "19-25 section Guide.Errors",
            ];
            assert_eq!(outline(name, text), expected, "{name}");
        }
        let units = parse(text, language::by_name("rst").expect("a row")).units;
        assert_eq!((units[0].span.first, units[0].span.line), (1, 2), "the row above is the section's");
        assert!(units[1].body.starts_with("Timeouts\n--------\n") && !units[1].body.contains("Three"));
    }

    #[test]
    fn underlined_titles_of_markdown_nest_like_others() {
        let text = "Guide\n=====\n\ntext\n\nTimeouts\n--------\n\ntext\n\n### Deep\n\n> Quoted\n> ------\n\ntext\n\n\
                    Other\n-----\n\ntext\n";
        let expected = [
            "1-21 section Guide",
            "6-16 section Guide.Timeouts",
            "11-16 section Guide.Timeouts.Deep",
            "18-21 section Guide.Other",
        ];
        assert_eq!(outline("markdown", text), expected);
        let mixed = "Guide\n=====\n\n## Timeouts\n\nFive.\n\n### Deep\n\nb\n\nErrors\n======\n\nNone.\n";
        let expected = [
            "1-10 section Guide",
            "4-10 section Guide.Timeouts",
            "8-10 section Guide.Timeouts.Deep",
            "12-15 section Errors",
        ];
        assert_eq!(outline("markdown", mixed), expected);
        let other = "# Guide\n\nFirst\n-----\n\nA.\n\n## Second\n\nB.\n";
        let expected = ["1-10 section Guide", "3-6 section Guide.First", "8-10 section Guide.Second"];
        assert_eq!(outline("markdown", other), expected);
    }

    #[test]
    fn rows_of_other_meaning_head_nothing() {
        for (name, text) in [
            ("rst", "Text\n====  ====\nA     B\n====  ====\n"),
            ("rst", "a paragraph of\ntwo lines\n---------\n"),
            ("rst", "Example\n::\n\n  code\n"),
            ("rst", "words\n\n----------\n\nwords\n"),
            ("text", "A sentence that is far longer than the row.\n-----\n"),
            ("text", "-----\n-----\n"),
            ("asciidoc", "----\n== not a title\n----\n"),
            ("asciidoc", "=no space\n"),
            ("asciidoc", "[discrete]\n== Aside\n"),
        ] {
            assert!(outline(name, text).iter().all(|unit| unit.contains(" document")), "{name}: {text}");
        }
    }

    #[test]
    fn asciidoc_nests_by_the_length_of_its_rows() {
        let text = "= Guide\n:toc:\n\nIntro.\n\n[[limits]]\n== Timeouts\n\n[source,sh]\n----\n== comment\nrun\n----\n\n\
                    === Retries [[r]]\n\nThree.\n\n== Errors ==\n\nNone.\n";
        let expected = [
            "1-21 section Guide",
            "7-17 section Guide.Timeouts",
            "15-17 section Guide.Timeouts.Retries",
            "19-21 section Guide.Errors",
        ];
        assert_eq!(outline("asciidoc", text), expected);
        let older = "Guide\n=====\n\nTimeouts\n--------\nFive.\n\nRetries\n~~~~~~~\nThree.\n";
        let expected = ["1-10 section Guide", "4-10 section Guide.Timeouts", "8-10 section Guide.Timeouts.Retries"];
        assert_eq!(outline("asciidoc", older), expected);
    }

    #[test]
    fn plain_text_may_be_markdown() {
        let text = "% Manual\n\n# Name\n\nWords.\n\n## Options {.options}\n\n# a comment\nx = 1\n\n# Files\n\nMore.\n";
        let expected = ["1-1 document", "3-10 section Name", "7-10 section Name.Options", "12-14 section Files"];
        assert_eq!(outline("text", text), expected);
    }

    #[test]
    fn titles_are_what_is_read() {
        for (name, written, read) in [
            ("rst", "``run()`` and :ref:`limits <limits>`\n====================================\n", "run() and limits"),
            ("rst", "The :class:`~http.Client` class\n===============================\n", "The http.Client class"),
            ("rst", "`Docs <https://a.b>`_ first\n===========================\n", "Docs first"),
            ("asciidoc", "== [[a]]The `run` command ==\n", "The `run` command"),
        ] {
            let units = parse(written, language::by_name(name).expect("a row")).units;
            assert_eq!(units[0].name, read);
        }
    }
}
