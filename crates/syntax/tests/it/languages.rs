//! Checks every language of the table: its query compiles, and parsing the sample in `languages/<name>.txt` gives the
//! units below it. To print the units of a file: `cargo run -p colgrep-syntax --example units -- FILE`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::samples::samples;
use colgrep_syntax::language::{self, LANGUAGES, Language, Reader};
use colgrep_syntax::parse;
use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator as _};

/// The languages, each with the text of its sample.
fn texts() -> impl Iterator<Item = (&'static Language, String)> {
    let row = |name: &str| language::by_name(name).unwrap_or_else(|| panic!("{name} is no language"));
    samples().into_iter().map(move |[name, _, text, _]| (row(&name), text))
}

#[test]
fn every_query_compiles() {
    for language in LANGUAGES.iter().filter(|l| l.grammar.is_some()) {
        if let Err(error) = language.compile(language.query) {
            panic!("{error:?}");
        }
    }
}

#[test]
fn every_pattern_of_lines_compiles() {
    for language in LANGUAGES {
        let Some(Reader::Outline(outline)) = language.reader else { continue };
        if let Err(error) = outline.compile() {
            panic!("{}: {error}", language.name);
        }
        assert!(language.outline().is_some(), "{}", language.name);
    }
}

#[test]
fn whatever_a_query_inherits_is_there() {
    for language in LANGUAGES {
        let inherited = language.query.lines().filter_map(|l| l.strip_prefix("; inherits: "));
        for name in inherited {
            let mark = language::expand(&format!("; inherits: {name}\n"));
            assert!(mark.contains('('), "{}: {name} has no query", language.name);
        }
        assert!(!language::expand(language.query).contains("inherits:"), "{}", language.name);
    }
    let typescript = language::by_name("typescript").expect("a row").query;
    assert!(language::expand("; inherits: typescript\n(comment) @comment\n").ends_with("(comment) @comment\n"));
    assert!(language::expand(typescript).len() > typescript.len());
}

#[test]
fn every_sample_gives_the_expected_units() {
    let mut wrong = Vec::new();
    let mut missing: BTreeSet<&str> = LANGUAGES.iter().filter(|l| l.has_units()).map(|l| l.name).collect();
    for [name, file, text, expected] in samples() {
        missing.remove(name.as_str());
        let detected = language::detect(Path::new(&file), text.as_bytes());
        if detected.name != name {
            wrong.push(format!("{name}: the sample is taken for {}", detected.name));
        }
        let found = parse::parse(&text, language::by_name(&name).unwrap_or(detected)).to_string();
        if found != expected {
            wrong.push(format!("{name}: expected\n{expected}\nfound\n{found}"));
        }
    }
    wrong.extend(missing.into_iter().map(|name| format!("{name}: no sample")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_line_with_text_belongs_to_a_unit() {
    // In a notebook, only lines of cells belong to units.
    for (language, text) in texts().filter(|(language, _)| language.name != "jupyter") {
        let parsed = parse::parse(&text, language);
        for (i, line) in text.lines().enumerate() {
            let number = i as u32 + 1;
            let covered = parsed.units.iter().any(|u| (u.span.first..=u.span.end).contains(&number));
            assert!(covered || line.trim().is_empty(), "{}: line {number} is in no unit: {line}", language.name);
        }
    }
}

/// (pattern, capture, start, end) of everything captured.
type Captured = BTreeSet<(usize, String, usize, usize)>;

#[test]
fn our_engine_captures_what_tree_sitters_does() {
    let mut wrong = Vec::new();
    for (language, text) in texts().filter(|(language, _)| language.grammar.is_some()) {
        let ours = language.compile(language.query).expect("a query that compiles");
        let theirs = Query::new(&ours.grammar, &language::expand(language.query)).expect("a query that compiles");
        let mut parser = Parser::new();
        parser.set_language(&ours.grammar).expect("a grammar that fits");
        let tree = parser.parse(&text, None).expect("a tree");
        let mut expected = Captured::new();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&theirs, tree.root_node(), text.as_bytes());
        while let Some(found) = matches.next() {
            for capture in found.captures() {
                let name = theirs.capture_names()[capture.index as usize].to_string();
                let range = capture.node.byte_range();
                expected.insert((found.pattern_index, name, range.start, range.end));
            }
        }
        let mut captured = Captured::new();
        let in_time = ours.query.matches(
            tree.root_node(),
            text.as_bytes(),
            || Ok::<(), ()>(()),
            |pattern, captures| {
                for (capture, node) in captures {
                    let name = ours.query.capture_name(*capture).to_string();
                    captured.insert((pattern, name, node.start_byte(), node.end_byte()));
                }
            },
        );
        in_time.expect("no time limit");
        let missing: Vec<_> = expected.difference(&captured).collect();
        let extra: Vec<_> = captured.difference(&expected).collect();
        // Where a field is filled twice (the two functions of a Scala extension), theirs stops at the first.
        let extra_known = usize::from(language.name == "scala");
        if !missing.is_empty() || extra.len() > extra_known {
            wrong.push(format!("{}: missing {missing:?}, extra {extra:?}", language.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
