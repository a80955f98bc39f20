//! Results and files as the page shows them: lines of code as spans of text, each with a class of its syntax. The page
//! makes elements of them and never reads text as markup.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use colgrep_engine::answer::{BestLine, FileAnswer, UnitAnswer};
use colgrep_syntax::read::lines_between;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::state::{Root, ServerState};
use colgrep_render::escape::{escape_control, escape_line};
use colgrep_render::highlight::Syntaxes;
use colgrep_render::outline::Outlined;

/// Lines shown before and after the one that answers, unless the request says how many.
pub const AROUND: usize = 4;
/// The most that a request may ask for.
pub const AROUND_MAX: usize = 50;
/// Lines before the first shown one that its colours may depend on.
const BEFORE: usize = 200;
/// The longest part of a line that is shown, in bytes.
const LINE_BYTES_MAX: usize = 600;
/// Bytes shown before the first mark of a longer line.
const FRONT_BYTES: usize = 120;
/// Lines of a file that are coloured.
const COLOURED_MAX: usize = 5_000;

/// A run of text.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TextRun {
    /// Without a class.
    Plain(String),
    /// The class of its syntax, and the text.
    Classed(&'static str, String),
    /// The class (empty for none), the text, and that it is a word of the question.
    Marked(&'static str, String, bool),
}

/// A line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageRow {
    /// Its number, from 1.
    number: usize,
    /// Its text.
    spans: Vec<TextRun>,
}

/// A unit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnitRow {
    /// function, method, class, constant, document, section or rawcode.
    kind: &'static str,
    /// Its qualified name; empty where it has none.
    name: String,
    /// Its first line.
    line: u32,
    /// Its last line.
    end_line: u32,
    /// How many names enclose it.
    depth: usize,
    /// The line that answers, of a result's units after the best one.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<PageRow>,
}

/// A file of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageHit {
    /// The repository, by the name that the page knows it by.
    repository: String,
    /// The file's path from there.
    path: String,
    /// Its language.
    language: String,
    /// How likely it is right, 0 to 1.
    strength: f32,
    /// The line that answers, from 1.
    line: usize,
    /// Its units, best first.
    units: Vec<UnitRow>,
    /// How many other units match.
    also_here: u64,
    /// The lines around the one that answers.
    rows: Vec<PageRow>,
}

/// Finds the parts of a line to mark.
pub type LineMarks = Box<dyn Fn(&str) -> Vec<Range<usize>>>;

/// The roots, each with a name that no other has.
pub struct RootNames(Vec<(String, Arc<Root>)>);

impl RootNames {
    /// The folders' names, with as many of the folders above as tell them apart.
    pub fn of(state: &ServerState) -> RootNames {
        let roots: Vec<&Arc<Root>> = state.roots().collect();
        let name = |root: &Root, parts: usize| {
            let all: Vec<_> = root.folder.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
            escape_control(&all[all.len().saturating_sub(parts)..].join("/"))
        };
        let unique = |root: &Arc<Root>| {
            let alone =
                |parts: &usize| roots.iter().filter(|other| name(other, *parts) == name(root, *parts)).count() == 1;
            let parts = (1..root.folder.components().count()).find(alone).unwrap_or(usize::MAX);
            (name(root, parts), Arc::clone(root))
        };
        RootNames(roots.iter().map(|root| unique(root)).collect())
    }

    /// Names and roots.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Root>)> {
        self.0.iter().map(|(name, root)| (name.as_str(), root))
    }

    /// The root of a name.
    pub fn root(&self, name: &str) -> Option<&Arc<Root>> {
        self.iter().find(|(own, _)| *own == name).map(|(_, root)| root)
    }

    /// Where the roots and their indexes are on this machine, the longest path first, each with what callers know it as.
    pub fn places(&self) -> Vec<(String, String)> {
        let of = |(name, root): (&str, &Arc<Root>)| {
            let (folder, index) =
                (root.folder.display().to_string(), root.project.store.folder().display().to_string());
            [(folder, name.to_string()), (index, format!("the index of {name}"))]
        };
        let mut places: Vec<(String, String)> = self.iter().flat_map(of).collect();
        places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        places
    }

    /// A path that begins with a root's name, in full; any other as it is.
    pub fn full(&self, path: &str) -> String {
        let below = |(name, root): (&str, &Arc<Root>)| {
            let rest = path.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| root.folder.join(rest.trim_start_matches('/')))
        };
        self.iter().find_map(below).map_or_else(|| path.to_string(), |full| full.to_string_lossy().into_owned())
    }

    /// The name of the root of a project's file, and the file's path from that root.
    pub fn place<'a>(&'a self, project: &'a Path, path: &'a str) -> (&'a str, &'a str) {
        let below = |(name, root): (&'a str, &'a Arc<Root>)| {
            let rest = path.strip_prefix(root.below.as_str())?;
            let rest = if root.below.is_empty() { rest } else { rest.strip_prefix('/')? };
            (root.project.root == project).then_some((name, rest))
        };
        // Over shards, a repository is its name.
        let of_shard = project.to_str().filter(|_| project.is_relative()).unwrap_or_default();
        self.iter().find_map(below).unwrap_or((of_shard, path))
    }
}

/// A result as the page shows it, with this many lines before and after the one that answers.
pub fn hit(file: &FileAnswer, names: &RootNames, syntaxes: &Syntaxes, lines: usize) -> PageHit {
    let (repository, path) = names.place(&file.root, &file.path);
    let best = file.units.first();
    PageHit {
        repository: repository.to_string(),
        path: path.to_string(),
        language: file.language.clone(),
        strength: file.strength,
        line: best.map_or(1, |unit| unit.line.number),
        units: file.units.iter().enumerate().map(|(at, unit)| unit_row(unit, at > 0)).collect(),
        also_here: file.also_here,
        rows: best.map(|best| around(file, best, syntaxes, lines)).unwrap_or_default(),
    }
}

fn unit_row(answered: &UnitAnswer, has_line: bool) -> UnitRow {
    let (unit, line) = (&answered.unit, &answered.line);
    let name = escape_control(&unit.qualified_name());
    let shown =
        has_line.then(|| PageRow { number: line.number.max(1), spans: spans(line.text.trim(), &[], &trimmed(line)) });
    UnitRow { kind: unit.kind.name(), name, line: unit.span.line, end_line: unit.span.end, depth: 0, shown }
}

/// What is marked in a line: words of the question, without one what the pattern matches.
fn marked(line: &BestLine) -> &[Range<usize>] {
    if line.marks.is_empty() { line.matches.as_ref().unwrap_or(&line.marks) } else { &line.marks }
}

/// The same in the line without the white space before it.
fn trimmed(line: &BestLine) -> Vec<Range<usize>> {
    let before = line.text.len() - line.text.trim_start().len();
    marked(line).iter().map(|mark| mark.start.saturating_sub(before)..mark.end.saturating_sub(before)).collect()
}

/// The lines around the one that answers, within its unit unless more than usual are wanted.
fn around(file: &FileAnswer, best: &UnitAnswer, syntaxes: &Syntaxes, lines: usize) -> Vec<PageRow> {
    let line = &best.line;
    if !line.is_in_file {
        return vec![PageRow { number: line.number.max(1), spans: spans(&line.text, &[], &line.marks) }];
    }
    let (mut start, mut end) = (best.unit.span.line as usize, (best.unit.span.end as usize).max(line.number));
    if lines > AROUND {
        (start, end) = (start.min(line.number.saturating_sub(lines)), end.max(line.number + lines));
    }
    let first = line.number.saturating_sub(lines).max(start.min(line.number)).max(1);
    let last = (first + 2 * lines).min(end);
    let from = start.clamp(first.saturating_sub(BEFORE).max(1), first);
    let texts = lines_between(&file.text, from, last, str::lines);
    let Some(known) = texts.get(from - 1..last.min(texts.len())) else { return Vec::new() };
    let head = file.text.lines().next().unwrap_or_default();
    let classes = syntaxes.classes(&file.path, head, known, known.len());
    let row = |(at, text): (usize, &&str)| {
        let number = from + at;
        let marks = if number == line.number { marked(line) } else { &[] };
        PageRow { number, spans: spans(text, classes.get(at).map_or(&[], Vec::as_slice), marks) }
    };
    known.iter().enumerate().skip(first - from).map(row).collect()
}

/// A whole file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WholeFile {
    /// The repository.
    repository: String,
    /// Its path from there.
    path: String,
    /// Its lines, from the first.
    lines: Vec<Vec<TextRun>>,
    /// Its units in order.
    units: Vec<UnitRow>,
    /// Its address at the host of its repository, as it is in the commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
}

impl WholeFile {
    /// The same with an address at a host.
    pub fn hosted(self, host: Option<String>) -> WholeFile {
        WholeFile { host, ..self }
    }
}

/// A file as the page shows it; `marks` are the parts of a line to mark.
pub fn whole(
    (repository, path): (&str, &str),
    text: &str,
    units: &[&Outlined],
    marks: &dyn Fn(&str) -> Vec<Range<usize>>,
    syntaxes: &Syntaxes,
) -> WholeFile {
    let lines: Vec<&str> = text.lines().collect();
    let classes = syntaxes.classes(path, lines.first().unwrap_or(&""), &lines, COLOURED_MAX);
    let line = |(at, text): (usize, &&str)| spans(text, classes.get(at).map_or(&[], Vec::as_slice), &marks(text));
    let unit = |unit: &&Outlined| UnitRow {
        kind: unit.unit_type,
        name: escape_control(if unit.name.is_empty() { &unit.summary } else { &unit.name }),
        line: unit.line,
        end_line: unit.end_line,
        depth: unit.depth,
        shown: None,
    };
    WholeFile {
        repository: repository.to_string(),
        path: path.to_string(),
        lines: lines.iter().enumerate().map(line).collect(),
        units: units.iter().map(unit).collect(),
        host: None,
    }
}

/// A line as runs of one class each; one that is very long is cut around its first mark.
fn spans(line: &str, classes: &[(&'static str, usize)], marks: &[Range<usize>]) -> Vec<TextRun> {
    let mut front = marks.first().map_or(0, |mark| mark.start.saturating_sub(FRONT_BYTES));
    if line.len() <= LINE_BYTES_MAX {
        front = 0;
    }
    let front = line.floor_char_boundary(front);
    let end = line.floor_char_boundary(front + LINE_BYTES_MAX);
    let mut runs: Vec<(&'static str, String, bool)> = Vec::new();
    let mut add = |class: &'static str, text: &str, marked: bool| match runs.last_mut() {
        Some(last) if last.0 == class && last.2 == marked => last.1.push_str(text),
        _ => runs.push((class, text.to_string(), marked)),
    };
    if front > 0 {
        add("", "…", false);
    }
    let mut segments = classes.iter();
    let (mut class, mut segment_end) = ("", 0);
    for (at, c) in line.char_indices().take_while(|(at, _)| *at < end) {
        while at >= segment_end {
            let (next, length) = segments.next().copied().unwrap_or(("", usize::MAX));
            (class, segment_end) = (next, segment_end.saturating_add(length));
        }
        if at < front {
            continue;
        }
        let mut buffer = [0; 4];
        let text = escape_line(c.encode_utf8(&mut buffer));
        add(class, &text, marks.iter().any(|mark| mark.contains(&at)));
    }
    if end < line.len() {
        add("", "…", false);
    }
    let span = |(class, text, marked): (&'static str, String, bool)| match (class, marked) {
        (class, true) => TextRun::Marked(class, text, true),
        ("", false) => TextRun::Plain(text),
        (class, false) => TextRun::Classed(class, text),
    };
    runs.into_iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(spans: &[TextRun]) -> String {
        let text = |span: &TextRun| match span {
            TextRun::Plain(text) | TextRun::Classed(_, text) => text.clone(),
            TextRun::Marked(_, text, _) => format!("[{text}]"),
        };
        spans.iter().map(text).collect()
    }

    #[test]
    fn runs_end_where_class_or_mark_does() {
        let classes = [("k", 2), ("", 1), ("f", 4), ("", 9)];
        let found = spans("fn push(é)", &classes, &[3..5, 8..10]);
        let expected = [
            TextRun::Classed("k", "fn".into()),
            TextRun::Plain(" ".into()),
            TextRun::Marked("f", "pu".into(), true),
            TextRun::Classed("f", "sh".into()),
            TextRun::Plain("(".into()),
            TextRun::Marked("", "é".into(), true),
            TextRun::Plain(")".into()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn long_lines_are_cut_around_the_first_mark_and_nothing_turns_the_text() {
        let long = format!("{}needle{}", "é".repeat(4_000), "x".repeat(4_000));
        let mark = 8_000..8_006;
        let shown = plain(&spans(&long, &[], std::slice::from_ref(&mark)));
        assert!(shown.starts_with("…é") && shown.contains("é[needle]x") && shown.ends_with("x…"), "{shown}");
        assert!(shown.len() < LINE_BYTES_MAX + 20);
        assert!(plain(&spans(&long, &[], &[])).ends_with("é…"));
        assert_eq!(plain(&spans("a\u{202e}b\tc<b>", &[], &[])), "a\\u{202e}b\tc<b>");
        assert!(spans("", &[], &[]).is_empty());
    }
}
