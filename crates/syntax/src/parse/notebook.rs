//! Jupyter notebooks ("The Notebook file format", nbformat 4, and 3 with its worksheets): their cells, each in its own
//! language. Outputs are left out; lines are those of the file.

use std::cell::OnceCell;
use std::ops::Range;

use colgrep_core::{Span, Unit};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::blocks::blocks_only;
use super::lines::Lines;
use super::{Parsed, plain};
use crate::budget::Budget;
use crate::language::{self, Language, Reader};

/// Maximum of cells read of one notebook.
const CELLS_MAX: usize = 4_096;
/// Prefix of a cell's first line that names its language: `%%bash`.
const CELL_MAGIC: &str = "%%";

/// A cell's text, and for each of its lines the line of the file.
pub(crate) struct CellSource {
    /// The text.
    pub(crate) text: String,
    lines: Vec<u32>,
    /// The strings of the file that it is made of.
    strings: Vec<SourceString>,
}

/// A string of the file.
struct SourceString {
    /// Where it begins in the cell's text.
    from: usize,
    /// Its place in the file.
    place: Range<usize>,
    /// Where escapes end, in the text that they stand for and as they are written, from its beginning.
    escapes: OnceCell<Vec<(usize, usize)>>,
}

/// Cuts a notebook into the units of its cells.
pub(super) fn parse(text: &str, language: &'static Language) -> Parsed {
    let Some(sources) = sources(text) else { return plain(text, language, "is no notebook") };
    let budget = Budget::new();
    let mut all = Parsed::default();
    for (source, row) in sources {
        let parsed = match budget.check() {
            Ok(()) => super::parse(&source.text, row),
            Err(_) => Parsed { units: blocks_only(&source.text, row), ..Parsed::default() },
        };
        all.note = all.note.or(parsed.note);
        all.imports.extend(parsed.imports);
        all.units.extend(parsed.units.into_iter().map(|unit| Unit { span: source.in_file(unit.span), ..unit }));
    }
    all.units.sort_by_key(|unit| (unit.span.line, std::cmp::Reverse(unit.span.end)));
    all
}

/// The cells of a notebook, each with its language; `None` if the text is none.
pub(crate) fn sources(text: &str) -> Option<Vec<(CellSource, &'static Language)>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let Some(Value::Object(notebook)) = parsed.ok()?.value else { return None };
    let (lines, of_code) = (Lines::new(text), code_language(&notebook));
    let source = |cell: &Object<'_>| {
        let mut source = read_source(cell, &lines)?;
        let row = match string(cell, "cell_type") {
            Some("markdown" | "heading") => language::by_name("markdown"),
            Some("code") => source.take_magics().or(of_code),
            _ => language::by_name("text"),
        };
        let row = row.filter(|row| row.reader != Some(Reader::Notebook));
        Some((source, row.unwrap_or(language::unknown())))
    };
    Some(cells(&notebook).take(CELLS_MAX).filter_map(source).collect())
}

/// The cells in order: those of worksheets (version 3), or the notebook's own.
fn cells<'n, 't>(notebook: &'n Object<'t>) -> impl Iterator<Item = &'n Object<'t>> {
    let objects = |object: &'n Object<'t>, name| {
        let all = object.get_array(name).map(|array| array.elements.iter()).into_iter().flatten();
        all.filter_map(|value: &'n Value<'t>| value.as_object())
    };
    objects(notebook, "worksheets").flat_map(move |sheet| objects(sheet, "cells")).chain(objects(notebook, "cells"))
}

fn string<'n>(object: &'n Object<'_>, name: &str) -> Option<&'n str> {
    object.get_string(name).map(|text| text.value.as_ref())
}

/// The language of the notebook's kernel; Python by default.
fn code_language(notebook: &Object<'_>) -> Option<&'static Language> {
    let metadata = notebook.get_object("metadata");
    let said = |part, name| string(metadata?.get_object(part)?, name);
    let named = [said("language_info", "name"), said("kernelspec", "language"), said("kernelspec", "name")];
    named.into_iter().flatten().find_map(language::by_name).or_else(|| language::by_name("python"))
}

/// A cell's text: a list of lines, or one string. `None` for anything else, or if it is empty.
fn read_source(cell: &Object<'_>, lines: &Lines<'_>) -> Option<CellSource> {
    let value = &cell.get("source").or_else(|| cell.get("input"))?.value;
    let parts = match value {
        Value::Array(array) => array.elements.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut source = CellSource { text: String::new(), lines: Vec::new(), strings: Vec::new() };
    for part in parts.iter().filter_map(Value::as_string_lit) {
        let line = lines.line_of(part.start());
        let begins = source.text.is_empty() || source.text.ends_with('\n');
        let breaks = part.value.matches('\n').count() - usize::from(part.value.ends_with('\n'));
        let new = if part.value.is_empty() { 0 } else { breaks + usize::from(begins) };
        source.lines.extend(std::iter::repeat_n(line, new));
        let (from, place) = (source.text.len(), part.start()..part.end());
        source.strings.push(SourceString { from, place, escapes: OnceCell::new() });
        source.text.push_str(&part.value);
    }
    (!source.text.trim().is_empty()).then_some(source)
}

impl CellSource {
    /// Comments out the notebook's own commands (`%matplotlib`, `!pip`), and returns the language of a first line such
    /// as `%%bash`.
    fn take_magics(&mut self) -> Option<&'static Language> {
        let named = self.text.trim_start().strip_prefix(CELL_MAGIC).and_then(|rest| rest.split_whitespace().next());
        let named = named.and_then(language::by_name);
        let is_magic = |line: &str| line.starts_with(['%', '!']) && !line.starts_with("!=");
        if self.text.lines().any(is_magic) {
            let line = |line: &str| if is_magic(line) { format!("#{}", &line[1..]) } else { line.to_string() };
            self.text = self.text.split_inclusive('\n').map(line).collect();
        }
        named
    }

    /// Lines of the cell as lines of the file.
    fn in_file(&self, span: Span) -> Span {
        let line = |n: u32| self.lines.get((n as usize).saturating_sub(1)).or(self.lines.last()).copied().unwrap_or(1);
        Span { first: line(span.first), line: line(span.line), end: line(span.end) }
    }

    /// Bytes of the cell as bytes of the file.
    pub(crate) fn bytes_in_file(&self, file: &str, (start, end): (u32, u32)) -> Option<(u32, u32)> {
        let byte = |at: usize, inside: usize| {
            let string = self.strings.get(self.strings.partition_point(|string| string.from <= inside) - 1)?;
            let written = file.get(string.place.start + 1..string.place.end - 1)?;
            let escapes = string.escapes.get_or_init(|| escapes(written));
            u32::try_from(string.place.start + 1 + written_len(escapes, at - string.from)).ok()
        };
        let (start, end) = (start as usize, end as usize);
        // The end may be that of a string.
        Some((byte(start, start)?, byte(end, end.saturating_sub(1).max(start))?))
    }
}

/// Where the escapes of a string end, as JSON writes it: bytes of the text up to there, and written ones.
fn escapes(written: &str) -> Vec<(usize, usize)> {
    let (mut found, mut read, mut at) = (Vec::new(), 0, 0);
    let unit = |at: usize| u32::from_str_radix(written.get(at + 2..at + 6)?, 16).ok();
    while let Some(plain) = written[at..].find('\\') {
        let escape = at + plain;
        let (long, stands_for) = match written[escape..].chars().nth(1) {
            Some('u') => match unit(escape) {
                // Two of them are one character.
                Some(0xD800..=0xDBFF) => (12, 4),
                code => (6, code.and_then(char::from_u32).map_or(1, char::len_utf8)),
            },
            _ => (2, 1),
        };
        read += plain + stands_for;
        at = written.floor_char_boundary(escape + long);
        found.push((read, at));
    }
    found
}

/// The length of the beginning of a string, as JSON writes it, that stands for this many bytes.
fn written_len(escapes: &[(usize, usize)], bytes: usize) -> usize {
    let before = escapes.partition_point(|(read, _)| *read <= bytes);
    let (read, at) = before.checked_sub(1).map_or((0, 0), |last| escapes[last]);
    at + bytes - read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> String {
        let parsed = super::super::parse(text, language::by_name("jupyter").expect("a row"));
        let row = |u: &Unit| format!("{}-{} {} {}\n", u.span.line, u.span.end, u.kind.name(), u.qualified_name());
        parsed.units.iter().map(row).collect::<String>() + parsed.note.as_deref().unwrap_or_default()
    }

    #[test]
    fn cells_are_read_in_their_language_without_outputs() {
        let text = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "source": [
    "# Plan\n",
    "\n",
    "Words."
   ]
  },
  {
   "cell_type": "code",
   "outputs": [ { "text": [ "def hidden(): pass\n" ] } ],
   "source": [
    "%matplotlib inline\n",
    "import os\n",
    "def load(path):\n",
    "    return open(path)"
   ]
  },
  { "cell_type": "code", "source": "%%bash\nstart() {\n  run\n}" },
  { "cell_type": "code", "source": [] }
 ],
 "metadata": { "kernelspec": { "language": "python" } },
 "nbformat": 4
}
"##;
        let expected = "6-8 section Plan\n15-16 rawcode \n17-18 function load\n21-21 function start\n";
        assert_eq!(outline(text), expected);
        let parsed = super::super::parse(text, language::by_name("jupyter").expect("a row"));
        assert_eq!(parsed.imports, ["import os"]);
        assert!(parsed.units.iter().all(|unit| !unit.body.contains("hidden") && !unit.body.contains("\\n")));
    }

    #[test]
    fn bytes_of_a_cell_are_found_in_the_file() {
        let text = r#"{"cells": [{"cell_type": "code", "source": ["a\t= 'é'\n", "b = \"\u00e9\ud83d\ude00\" + c"]}]}"#;
        let (source, row) = sources(text).expect("a notebook").remove(0);
        assert_eq!(row.name, "python");
        for (part, written) in [
            ("a", "a"),
            ("= 'é'", "= 'é'"),
            ("'é'\nb", r#"'é'\n", "b"#),
            ("\"é😀\"", r#"\"\u00e9\ud83d\ude00\""#),
            ("+ c", "+ c"),
        ] {
            let at = source.text.find(part).expect("a part");
            let (start, end) = source.bytes_in_file(text, (at as u32, (at + part.len()) as u32)).expect("a place");
            assert_eq!(&text[start as usize..end as usize], written, "{part:?}");
        }
    }

    #[test]
    fn other_notebooks_are_read_as_well_as_they_can_be() {
        for (text, expected) in [
            ("{no json", "1-1 rawcode \nis no notebook; indexed as plain blocks"),
            (r#"{"cells": [{"cell_type": "code", "source": 7}]}"#, ""),
            (
                r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["f <- function(x) x"]}]}],
                   "metadata": {"language_info": {"name": "R"}}}"#,
                "1-1 function f\n",
            ),
            (r##"{"cells": [{"cell_type": "markdown", "source": ["# A", " B\n", "c"]}]}"##, "1-1 section A B\n"),
        ] {
            assert_eq!(outline(text), expected, "{text}");
        }
    }
}
