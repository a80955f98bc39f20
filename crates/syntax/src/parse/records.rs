//! Rows of data: the objects of a JSON array, or one per line, as searchable units.

use colgrep_core::{Span, Unit, UnitKind};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::blocks::add_blocks;
use super::lines::Lines;
use super::text::{fold_space, truncate};
use super::{DOCSTRING_BYTES_MAX, LIST_LEN_MAX, NAME_BYTES_MAX, PARSED_BYTES_MAX, Parsed};
use crate::budget::Budget;
use crate::language::Language;

/// Maximum of rows that become units; later ones stay in blocks of lines.
const ROWS_MAX: usize = 4_096;
/// Fields that name a row, in order of preference.
const NAMES: [&str; 4] = ["name", "title", "query", "id"];
/// The field that describes a row.
const DESCRIPTION: &str = "description";

/// Splits a text into its rows. `None` if it is neither an array of objects nor objects one per line, or none of them
/// has a name.
pub(super) fn parse(text: &str, language: &Language) -> Option<Parsed> {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    if text.len() > PARSED_BYTES_MAX {
        return None;
    }
    let lines = Lines::new(text);
    let units = match begin.chars().next()? {
        '[' => array(text, &lines)?,
        '{' => one_a_line(&lines)?,
        _ => return None,
    };
    let mut parsed = Parsed { units, ..Parsed::default() };
    if parsed.units.is_empty() {
        return None;
    }
    add_blocks(&mut parsed.units, &lines, language);
    Some(parsed)
}

/// The rows of an array; `None` if it contains anything else.
fn array(text: &str, lines: &Lines<'_>) -> Option<Vec<Unit>> {
    let Value::Array(array) = read(text)? else { return None };
    let rows: Option<Vec<&Object<'_>>> = array.elements.iter().map(Value::as_object).collect();
    let unit = |row: &&Object<'_>| unit(row, text, 0, lines);
    Some(rows?.iter().take(ROWS_MAX).filter_map(unit).collect())
}

/// The rows of lines; `None` if one of the first is not an object.
fn one_a_line(lines: &Lines<'_>) -> Option<Vec<Unit>> {
    let budget = Budget::new();
    let mut units = Vec::new();
    for number in 1..=lines.count().min(ROWS_MAX as u32) {
        if lines.is_blank(number) {
            continue;
        }
        budget.check().ok()?;
        let line = lines.line(number).trim_start_matches('\u{feff}');
        match read(line) {
            Some(Value::Object(row)) => {
                let start = lines.bytes(number, number).end - line.len();
                units.extend(unit(&row, line, start, lines));
            }
            // An unfinished last line.
            _ if !units.is_empty() => {}
            _ => return None,
        }
    }
    Some(units)
}

fn read(text: &str) -> Option<Value<'_>> {
    parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?.value
}

/// A row that has a name; `text` is its source, `start` bytes after the beginning of the file.
fn unit(row: &Object<'_>, text: &str, start: usize, lines: &Lines<'_>) -> Option<Unit> {
    let name = NAMES.into_iter().find_map(|field| scalar(row, field))?;
    let (begin, end) = (start + row.start(), start + row.end());
    let first = lines.line_of(begin);
    let mut docstring = row.get_string(DESCRIPTION).map(|text| text.value.to_string()).unwrap_or_default();
    truncate(&mut docstring, DOCSTRING_BYTES_MAX);
    Some(Unit {
        kind: UnitKind::Section,
        name: fold_space(&name, NAME_BYTES_MAX),
        span: Span { first, line: first, end: lines.line_of(end.saturating_sub(1)).max(first) },
        docstring,
        tags: row.properties.iter().flat_map(tags).take(LIST_LEN_MAX).collect(),
        body: text[row.start()..row.end()].to_string(),
        ..Unit::default()
    })
}

/// A field's text, if it is a nonempty string or a number.
fn scalar(row: &Object<'_>, field: &str) -> Option<String> {
    match &row.get(field)?.value {
        Value::StringLit(text) if !text.value.trim().is_empty() => Some(text.value.to_string()),
        Value::NumberLit(number) => Some(number.value.to_string()),
        _ => None,
    }
}

/// The tags of a field that is a list: `field=value` for each string in it.
fn tags(field: &ObjectProp<'_>) -> Vec<String> {
    let Value::Array(list) = &field.value else { return Vec::new() };
    let words = list.elements.iter().filter_map(Value::as_string_lit).filter(|word| !word.value.trim().is_empty());
    let name = field.name.as_str();
    words.map(|word| fold_space(&format!("{name}={}", word.value), NAME_BYTES_MAX)).collect()
}

#[cfg(test)]
mod tests {
    use crate::language::by_name;
    use crate::parse::parse;

    fn shown(language: &str, text: &str) -> Vec<String> {
        let units = parse(text, by_name(language).expect("a row")).units;
        let row = |u: &colgrep_core::Unit| {
            format!(
                "{}-{} {} {} | {} | {}",
                u.span.line,
                u.span.end,
                u.kind.name(),
                u.name,
                u.docstring,
                u.tags.join(" ")
            )
        };
        units.iter().map(row).collect()
    }

    #[test]
    fn objects_one_a_line_are_units() {
        let text = "{\"name\": \"slab\", \"description\": \"Gives pages.\", \"subsystems\": [\"memory\"], \"tags\": [\"hot\"]}\n\n\
                    {\"id\": 7, \"note\": [1]}\n{\"nothing\": 1}\n{\"title\": \"cut";
        assert_eq!(
            shown("jsonl", text),
            [
                "1-1 section slab | Gives pages. | subsystems=memory tags=hot",
                "3-3 section 7 |  | ",
                "4-5 rawcode  |  | ",
            ]
        );
        assert_eq!(shown("jsonl", "no json\n"), ["1-1 rawcode  |  | "]);
    }

    #[test]
    fn rows_behind_the_first_4096_stay_in_blocks_of_lines() {
        let text: String = (0..4_200).map(|row| format!("{{\"id\": {row}}}\n")).collect();
        let units = shown("jsonl", &text);
        let rows = units.iter().filter(|unit| unit.contains(" section ")).count();
        assert!(rows == 4_096 && units.len() == 4_096 + 3, "{rows} of {}", units.len());
        assert!(units.last().is_some_and(|unit| unit.starts_with("4197-4200 rawcode")), "{:?}", units.last());
    }

    #[test]
    fn objects_of_an_array_are_units() {
        let text = "[\n  {\n    \"query\": \"read a page\",\n    \"purposes\": [\"input\"]\n  },\n  {\"title\": \"B\"}, {\"title\": \"C\"}\n]\n";
        assert_eq!(
            shown("json", text),
            [
                "1-1 rawcode  |  | ",
                "2-5 section read a page |  | purposes=input",
                "6-6 section B |  | ",
                "6-6 section C |  | ",
                "7-7 rawcode  |  | ",
            ]
        );
        // Anything else is read by the grammar.
        for other in ["[1, {\"name\": \"a\"}]\n", "{\"name\": \"a\",\n \"b\": {\n}}\n", "[{\"x\": 1}]\n"] {
            assert!(shown("json", other).iter().all(|row| !row.contains("section a")), "{other}");
        }
    }
}
