//! What each language gives, read from its row, query or outline: the table of `docs/generated/languages.md`.

use std::collections::BTreeSet;

use super::{LANGUAGES, Language, Reader, by_name, expand};

/// Captures of queries and the facts that they give.
const FACTS: [(&str, &str); 8] = [
    ("function", "functions"),
    ("method", "functions"),
    ("class", "types"),
    ("constant", "constants"),
    ("section", "sections"),
    ("call", CALLS),
    ("import", IMPORTS),
    ("feature", "conditions"),
];
const CALLS: &str = "calls";
const IMPORTS: &str = "imports";
const TESTS: &str = "tests";
/// Facts in the order of the table: units, then what is known of them.
const GIVEN: [&str; 9] = ["functions", "types", "constants", "sections", "cells", "rows", CALLS, IMPORTS, TESTS];

impl Language {
    /// The facts that parsing its files gives: kinds of units, calls, imports, tests, conditions.
    fn facts(&self) -> BTreeSet<&'static str> {
        let mut facts = BTreeSet::new();
        let query = expand(self.query);
        let captures = query.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']'));
        for capture in captures.filter_map(|word| word.strip_prefix('@')) {
            match capture.strip_prefix("embedded.").and_then(by_name) {
                Some(inner) => facts.extend(inner.facts()),
                None => add_fact(capture, &mut facts),
            }
        }
        match self.reader {
            Some(Reader::Outline(outline)) => {
                outline.heads.iter().for_each(|head| add_fact(head.what, &mut facts));
                facts.extend((!outline.calls.is_empty()).then_some(CALLS));
                facts.extend((!outline.imports.is_empty()).then_some(IMPORTS));
            }
            Some(Reader::Notebook) => facts.extend(["cells"]),
            Some(Reader::Records) => facts.extend(["rows"]),
            Some(Reader::Statements) => facts.extend(["functions", "types", "constants"]),
            Some(_) => facts.extend(["sections"]),
            None => {}
        }
        facts.extend((self.is_test.is_some()).then_some(TESTS));
        facts
    }

    /// Whether all calls in its definitions are known: from its own syntax tree, not from patterns of lines.
    pub fn knows_calls(&self) -> bool {
        let query = expand(self.query);
        self.grammar.is_some() && query.contains("@call") && !query.contains("@embedded.")
    }

    /// Whether its files are cut into named units, rather than blocks of lines.
    pub fn has_units(&self) -> bool {
        self.grammar.is_some() || self.reader.is_some()
    }

    /// How its files are read.
    fn way(&self) -> &'static str {
        match (self.grammar, self.reader) {
            (Some(_), _) => "grammar",
            (None, Some(Reader::Outline(_))) => "lines",
            (None, Some(_)) => "reader",
            (None, None) => "blocks",
        }
    }
}

fn add_fact(capture: &str, facts: &mut BTreeSet<&'static str>) {
    let (kind, role) = capture.split_once('.').unwrap_or((capture, ""));
    facts.extend(FACTS.iter().filter(|(name, _)| *name == kind).map(|(_, fact)| *fact));
    facts.extend((role == "test").then_some(TESTS));
}

/// The table of all languages, in Markdown; a test keeps `docs/generated/languages.md` equal to it.
pub fn markdown() -> String {
    let count = |way: &str| LANGUAGES.iter().filter(|row| row.way() == way && row.has_units()).count();
    let all = LANGUAGES.iter().filter(|row| row.has_units()).count();
    let (grammars, lines, readers) = (count("grammar"), count("lines"), count("reader"));
    let mut text = format!(
        "<!-- Made by `just docs`; a test keeps it current. -->\n\n# Languages\n\ncolgrep cuts files of {all} languages and \
         file types into named units: {grammars} by tree-sitter grammars, {lines} by patterns of lines, {readers} by \
         readers of their own. Files of any other kind become blocks of lines.\n\nLanguages read by a grammar also have \
         parameters, return types, base types and local variables, where the language has them. An entry has the names for `-t`, the files, and what parsing gives.\n"
    );
    let mut rows: Vec<&Language> = LANGUAGES.iter().filter(|row| row.has_units()).collect();
    rows.sort_by_key(|row| row.name);
    for (way, heading) in [("grammar", "A grammar"), ("lines", "Patterns of lines"), ("reader", "A reader of its own")]
    {
        text += &format!("\n## {heading}\n\n");
        for row in rows.iter().filter(|row| row.way() == way) {
            let facts = row.facts();
            let names: Vec<String> = std::iter::once(&row.name).chain(row.aliases).map(|n| format!("`{n}`")).collect();
            let dotted = |ending: &str| format!(".{ending}");
            let mut files: Vec<String> = row.extensions.iter().copied().map(dotted).collect();
            files.extend(row.shared_extensions().map(dotted));
            files.extend([row.file_names, row.file_suffixes, row.file_stems].concat().into_iter().map(str::to_string));
            let mut seen = BTreeSet::new();
            files.retain(|file| seen.insert(file.clone()));
            let gives: Vec<&str> = GIVEN.into_iter().filter(|fact| facts.contains(fact)).collect();
            let (names, files, gives) = (names.join(" "), files.join(" "), gives.join(", "));
            text += &format!("- {names} ({files}): {gives}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_from_queries_and_outlines() {
        for (language, expected) in [
            ("rust", "calls conditions constants functions imports tests types"),
            ("ini", "constants sections"),
            ("rst", "sections"),
            ("jsonl", "rows"),
        ] {
            let facts: Vec<&str> = by_name(language).expect("a row").facts().into_iter().collect();
            assert_eq!(facts.join(" "), expected, "{language}");
        }
        for (language, expected) in
            [("rust", true), ("fsharp", false), ("yaml", false), ("vue", false), ("unknown", false)]
        {
            assert_eq!(by_name(language).expect("a row").knows_calls(), expected, "{language}");
        }
        let vue = by_name("vue").expect("a row").facts();
        assert!(vue.contains("functions") && vue.contains(IMPORTS), "of the scripts: {vue:?}");
    }

    #[test]
    fn the_table_of_languages_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/languages.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == markdown(), "docs/generated/languages.md is old; run `just docs`");
    }
}
