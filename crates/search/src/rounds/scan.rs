//! Searches the texts of files.

use std::borrow::Cow;
use std::path::Path;

use colgrep_core::UnitKind;
use colgrep_core::code_line::{
    KeyPath, announces, binds_function, calling_lines, introducing_line, is_binding, lines_of_code, using_lines,
};
use colgrep_core::identifier_style::is_name_in_example;
use colgrep_core::literal_match::{Agreement, LiteralMatch, PastedText};
use colgrep_core::path::PathClass;
use colgrep_core::spelling::{Spelled, Spelling};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::store::FileRecord;
use colgrep_syntax::language::{self, Category};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LINE_MAX, LocalSearch, Round};
use crate::file_kind::{has_test_modules, is_data, is_test_inside, is_text};
use crate::shard::ShardExtent;

/// Maximum of tests inside a file that are skipped for another place.
const TESTS_MAX: usize = 16;
/// Names or extensions of manifests, each with the path of the key that names the package or project itself, which may leave out
/// the file's stem, or with the beginning of that line.
const OWN_NAMES: &[(&str, &str)] = &[
    ("Cargo.toml", "package.name"),
    ("Project.toml", "name"),
    ("pyproject.toml", "project.name"),
    ("pyproject.toml", "tool.poetry.name"),
    ("setup.cfg", "metadata.name"),
    ("setup.py", "name"),
    ("package.json", "name"),
    ("composer.json", "name"),
    ("pubspec.yaml", "name"),
    ("mix.exs", "app"),
    ("pom.xml", "project.artifactId"),
    ("go.mod", "module "),
    (".cabal", "name"),
    (".gemspec", "s.name"),
    (".gemspec", "spec.name"),
];

/// Asks to read files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanRequest {
    pub files: Vec<FilePlace>,
    pub look: ScanTarget,
}

/// What to look for in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScanTarget {
    /// A text as typed, or a run of its words.
    Typed { text: String, weights: Vec<f32> },
    /// Lines of code that have one of some keywords before a name, or that bind a function to it.
    Announces { name: String, keywords: Vec<String> },
    /// Lines that call a name.
    Calls(String),
    /// Lines that use a name in any way.
    Uses(String),
    /// The line of this number, or if it is blank the nearest that is not; 0 if it is gone.
    Near(u32),
    /// A name in any spelling, or another text in any case.
    Spelled(String),
    /// A text in any case.
    AnyCase(String),
    /// A key inside others, by its path.
    Keys(String),
}

impl ScanTarget {
    /// A text as typed, with equal weights for its words.
    pub fn typed(text: &str) -> ScanTarget {
        ScanTarget::Typed { text: text.to_string(), weights: PastedText::new(text, |_| 1.0).weights().to_vec() }
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScannedLine {
    pub line: u32,
    /// How the text occurs there, for [`ScanTarget::Typed`].
    pub standing: Option<LiteralMatch>,
    /// True if the file is prose, configuration or data.
    pub is_text: bool,
    /// True if the file is that, or of an unknown language without programs, or a test, benchmark or example, or
    /// vendored, or for [`ScanTarget::Typed`] if the line is a row of data.
    pub is_aside: bool,
    /// True if the name consists of whole parts of an identifier, for [`ScanTarget::Spelled`]; if the path of keys is a
    /// whole one, for [`ScanTarget::Keys`].
    pub is_cut: bool,
    /// True if the text is a name and the line introduces it, for [`ScanTarget::Typed`].
    pub introduces: bool,
    /// True if that line says the name of the package or project itself.
    pub is_own_name: bool,
    /// True if a test inside the file has the text as a literal, too, for [`ScanTarget::Typed`].
    pub is_asserted: bool,
}

impl ScannedLine {
    /// True if all words of the text occur there.
    pub fn holds_all(&self) -> bool {
        self.standing.is_some_and(|standing| standing.agreement >= Agreement::Words)
    }
}

impl Round for ScanRequest {
    type Answer = Vec<Vec<ScannedLine>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Vec<ScannedLine>>> {
        let root = Path::new(&search.snapshot.files.root);
        let typed = match &self.look {
            ScanTarget::Typed { text, weights } => Some(PastedText::weighed(text, weights)),
            ScanTarget::Spelled(text) => return spelled(search, &self.files, &Spelling::new(text)),
            ScanTarget::AnyCase(text) => return spelled(search, &self.files, &Spelling::of_text(text)),
            _ => None,
        };
        let seen = |file: &FilePlace| -> Vec<ScannedLine> {
            let Some(record) = search.shard.record(*file) else { return Vec::new() };
            // A file that can't be read any more has no match.
            let Ok(text) = search.snapshot.texts.text(root, &record.path) else { return Vec::new() };
            match (&self.look, &typed) {
                (_, Some(typed)) => typed_in(search, typed, record, &text),
                (ScanTarget::Announces { name, keywords }, _) => announcing(record, &text, name, keywords),
                (ScanTarget::Near(line), _) => {
                    let says = |line: &str| line.contains(char::is_alphanumeric);
                    let lines = (1u32..).zip(text.lines()).filter(|(_, line)| says(line)).map(|(number, _)| number);
                    let is_gone = text.lines().nth((*line as usize).saturating_sub(1)).is_none();
                    let nearest = if is_gone { Some(0) } else { lines.min_by_key(|number| number.abs_diff(*line)) };
                    nearest.into_iter().map(|line| seen_in(record, line)).collect()
                }
                (ScanTarget::Calls(name) | ScanTarget::Uses(name), _) => {
                    let marks = language::comment_marks(&record.language);
                    let lines = match self.look {
                        ScanTarget::Uses(_) => using_lines,
                        _ => calling_lines,
                    };
                    let lines = lines(&text, name, marks, language::facts());
                    lines.into_iter().map(|line| seen_in(record, line)).collect()
                }
                (ScanTarget::Keys(path), _) => {
                    let found = KeyPath::new(path).find(&text, &record.path);
                    let seen = |(line, is_cut)| ScannedLine {
                        is_cut,
                        is_aside: repeats(&record.path),
                        ..seen_in(record, line)
                    };
                    found.map(seen).into_iter().collect()
                }
                (ScanTarget::Typed { .. } | ScanTarget::Spelled(_) | ScanTarget::AnyCase(_), None) => Vec::new(),
            }
        };
        Ok(self.files.par_iter().map(seen).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Vec<ScannedLine>>> {
        corpus.scatter_files(&self.files, |files| ScanRequest { files, look: self.look.clone() })
    }

    fn is_valid(&self, answer: &Vec<Vec<ScannedLine>>, _: &ShardExtent) -> bool {
        let is_valid = |seen: &ScannedLine| {
            seen.line <= LINE_MAX && seen.standing.is_none_or(|standing| standing.share.is_finite())
        };
        answer.len() == self.files.len() && answer.iter().flatten().all(is_valid)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Coordinator<'_> {
    /// The places found in the files, in file order.
    pub(crate) fn scan(&self, files: &[FilePlace], look: ScanTarget) -> Result<Vec<(FilePlace, ScannedLine)>> {
        let found = self.ask(&ScanRequest { files: files.to_vec(), look })?;
        Ok(files.iter().zip(found).flat_map(|(file, seen)| seen.into_iter().map(move |one| (*file, one))).collect())
    }
}

fn typed_in(search: &LocalSearch<'_>, typed: &PastedText<'_>, record: &FileRecord, text: &str) -> Vec<ScannedLine> {
    let Some(first) = typed.find(text) else { return Vec::new() };
    let (standing, in_test) = outside_tests(search, typed, record, text, first);
    let introduced = introduced(search, typed, record, text, &standing);
    let line = introduced
        .map(|(line, _)| line)
        .or_else(|| heading_with(search, typed, record, text, &standing))
        .unwrap_or_else(|| line_number(text, standing.start));
    let seen = seen_in(record, line);
    let is_row = language::by_name(&record.language).and_then(|own| own.is_data_row);
    let is_aside = in_test || seen.is_aside || is_row.is_some_and(|is_row| is_row(line_at(text, standing.start)));
    let is_asserted = standing.start != first.start && first.is_literal;
    let is_own_name = introduced.is_some_and(|(_, is_own_name)| is_own_name);
    let introduces = introduced.is_some();
    vec![ScannedLine { standing: Some(standing), is_aside, introduces, is_own_name, is_asserted, ..seen }]
}

/// The number of the line around a place of a text.
fn line_number(text: &str, at: usize) -> u32 {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u32
}

/// A place that agrees as well as the found one, or made the text, and is in no test inside the file; else the found one,
/// and true if it is in a test.
fn outside_tests(
    search: &LocalSearch<'_>,
    typed: &PastedText<'_>,
    record: &FileRecord,
    text: &str,
    found: LiteralMatch,
) -> (LiteralMatch, bool) {
    let (mut at, mut rest) = (found, Cow::Borrowed(text));
    for _ in 0..TESTS_MAX {
        let Some((first, last)) = test_around(search, record, line_number(text, at.start)) else {
            return (at, false);
        };
        let lines = (1..).zip(rest.split_inclusive('\n'));
        let kept = lines.map(|(number, line)| {
            let blank = if (first..=last).contains(&number) { line.trim_end_matches('\n').len() } else { 0 };
            " ".repeat(blank) + &line[blank..]
        });
        rest = Cow::Owned(kept.collect());
        match typed.find(&rest).filter(|next| next.agreement >= found.agreement || next.made_from.is_some()) {
            Some(next) => at = next,
            None => break,
        }
    }
    (found, true)
}

/// The first and the last line of the test inside a file that a line is in.
fn test_around(search: &LocalSearch<'_>, record: &FileRecord, line: u32) -> Option<(u32, u32)> {
    if !has_test_modules(&record.language) {
        return None;
    }
    let lexical = &search.snapshot.lexical;
    let hit = lexical.units_around(record.id, &[line], None).ok()?.pop()??;
    let unit = lexical.unit(hit.key).ok()?.unit(&[]);
    is_test_inside(unit.role, &unit.parent, &record.language).then_some((unit.span.first, unit.span.end))
}

/// The line that introduces the name that a text is, and whether it is the name of the package or project itself; none in
/// tests, examples and vendored files.
fn introduced(
    search: &LocalSearch<'_>,
    typed: &PastedText<'_>,
    record: &FileRecord,
    text: &str,
    found: &LiteralMatch,
) -> Option<(u32, bool)> {
    let piece = typed.piece().filter(|_| found.agreement == Agreement::Exact && !repeats(&record.path))?;
    if let Some(line) = line_of_own_name(text, piece, &record.path) {
        return Some((line, true));
    }
    let name = typed.name()?;
    let is_data = is_text(&record.language);
    let spans = search.snapshot.lexical.spans_of(record.id).ok()?;
    let types = spans.iter().filter(|span| span.kind == UnitKind::Class);
    let types: Vec<(u32, u32)> = types.map(|span| (span.line, span.end)).collect();
    introducing_line(text, name, is_data, &types).map(|line| (line, false))
}

/// The line of a manifest that says this name of its package or project, perhaps behind an owner: `github.com/acme/name`.
fn line_of_own_name(text: &str, name: &str, path: &str) -> Option<u32> {
    let file = path.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let is_of = |end: &str| file == end || (end.starts_with('.') && file.ends_with(end));
    OWN_NAMES.iter().filter(|(end, _)| is_of(end)).find_map(|(_, key)| {
        let line = if key.ends_with(' ') {
            (1..).zip(text.lines()).find(|(_, line)| line.starts_with(key))?.0
        } else {
            let keys = if key.contains('.') { (*key).to_string() } else { format!("{stem}.{key}") };
            KeyPath::new(&keys).find(text, path).filter(|(_, is_whole)| *is_whole)?.0
        };
        let said = text.lines().nth((line as usize).checked_sub(1)?)?;
        let said = said.rsplit_once("</").map_or(said, |(said, _)| said);
        let front = said.trim_end_matches([' ', '\t', ',', '"', '\'']).strip_suffix(name)?;
        front.ends_with([' ', '\t', '=', ':', '>', '/', '"', '\'']).then_some(line)
    })
}

/// The line around a place of a text.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// For each file, the line that contains a text in some spelling.
fn spelled(search: &LocalSearch<'_>, files: &[FilePlace], spelling: &Spelling) -> Result<Vec<Vec<ScannedLine>>> {
    let records: Vec<Option<&FileRecord>> = files.iter().map(|file| search.shard.record(*file)).collect();
    let found = search.snapshot.spelled(&records, spelling)?;
    let seen = |(record, spelled): (&Option<&FileRecord>, Option<Spelled>)| {
        let Spelled { line, is_cut } = spelled?;
        Some(ScannedLine { is_cut, ..seen_in((*record)?, line) })
    };
    Ok(records.iter().zip(found).map(|both| seen(both).into_iter().collect()).collect())
}

/// The line of the heading in a prose file that matches a text at least as well as the found place: a section is a
/// better answer than a link to it. Of several headings, the shortest.
fn heading_with(
    search: &LocalSearch<'_>,
    typed: &PastedText<'_>,
    record: &FileRecord,
    text: &str,
    found: &LiteralMatch,
) -> Option<u32> {
    let is_prose = language::by_name(&record.language).is_some_and(|own| own.category == Category::Prose);
    if !is_prose || found.agreement == Agreement::Run {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let length = |line: u32| {
        let heading = lines.get((line as usize).checked_sub(1)?)?;
        let own = typed.find(heading)?;
        ((own.agreement, own.is_alone) >= (found.agreement, found.is_alone)).then_some(heading.len())
    };
    let units = search.snapshot.lexical.units_of(record.id, search.filter()).ok()?;
    let sections = units.iter().filter(|unit| unit.kind == UnitKind::Section);
    sections.filter_map(|unit| Some((length(unit.line)?, unit.line))).min().map(|(_, line)| line)
}

/// Whether a file is a test, benchmark or example, or vendored.
fn repeats(path: &str) -> bool {
    PathClass::of(path, language::facts()).has(PathClass::REPEATS)
}

pub(super) fn seen_in(record: &FileRecord, line: u32) -> ScannedLine {
    let is_aside = is_data(&record.language, &record.path) || repeats(&record.path);
    ScannedLine { line, is_text: is_text(&record.language), is_aside, ..ScannedLine::default() }
}

/// The lines of a program that have one of some keywords before a name, or that bind a function to it. Keywords that the
/// language lacks don't count.
fn announcing(record: &FileRecord, text: &str, name: &str, keywords: &[String]) -> Vec<ScannedLine> {
    if is_text(&record.language) {
        return Vec::new();
    }
    let language = language::by_name(&record.language);
    let own: Vec<&str> = language.into_iter().flat_map(|language| language.keywords()).collect();
    // A language without keywords contains programs of other languages.
    let is_own = |keyword: &&str| own.is_empty() || own.contains(keyword);
    let keywords: Vec<&str> = keywords.iter().map(String::as_str).filter(is_own).collect();
    let is_of_functions = |keyword: &&str| language.is_none_or(|language| language.function_keywords.contains(keyword));
    let may_bind = keywords.iter().any(|keyword| is_binding(keyword) || is_of_functions(keyword));
    let announces = |line: &str| announces(line, name, &keywords) || (may_bind && binds_function(line, name));
    let mut lines: Vec<u32> =
        lines_of_code(text).filter(|(_, line)| announces(line)).map(|(number, _)| number).collect();
    // An example in a comment counts if the name is not a plain word.
    if lines.is_empty() && is_name_in_example(name) {
        lines.extend((1..).zip(text.lines()).filter(|(_, line)| announces(line)).map(|(number, _)| number));
    }
    lines.into_iter().map(|number| seen_in(record, number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_the_name_of_its_own_package() {
        for (path, text, name, expected) in [
            ("a/Cargo.toml", "[package]\nname = \"ring\"\n", "ring", Some(2)),
            ("a/Cargo.toml", "[package]\nname = \"a-ring\"\n", "ring", None),
            ("a/Cargo.toml", "[dependencies]\nring = \"1\"\n", "ring", None),
            ("package.json", "{\n  \"name\": \"@acme/ring\",\n  \"a\": 1\n}\n", "@acme/ring", Some(2)),
            ("package.json", "{\n  \"author\": {\n    \"name\": \"ring\"\n  }\n}\n", "ring", None),
            ("composer.json", "{\n  \"name\": \"acme/ring\",\n}\n", "ring", Some(2)),
            ("pubspec.yaml", "name: ring\n", "ring", Some(1)),
            ("setup.cfg", "[metadata]\nname = ring\n", "ring", Some(2)),
            ("setup.py", "setup(\n    name=\"ring\",\n)\n", "ring", Some(2)),
            ("mix.exs", "def project do\n  [\n    app: :ring,\n    version: \"1\"\n", "ring", Some(3)),
            ("go.mod", "module example.com/a/ring\n", "ring", Some(1)),
            ("go.mod", "module example.com/a\n\nrequire example.com/a/ring v1\n", "ring", None),
            ("ring.cabal", "name:    ring\nversion: 1\n", "ring", Some(1)),
            ("ring.gemspec", "Gem::Specification.new do |s|\n  s.name = \"ring\"\nend\n", "ring", Some(2)),
            (
                "pom.xml",
                "<project>\n  <parent>\n    <artifactId>a</artifactId>\n  </parent>\n  <artifactId>ring</artifactId>\n\
                 </project>\n",
                "ring",
                Some(5),
            ),
            ("app.toml", "[package]\nname = \"ring\"\n", "ring", None),
        ] {
            assert_eq!(line_of_own_name(text, name, path), expected, "{name} in {path}");
        }
    }
}
