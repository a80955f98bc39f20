//! Checks every language of the table: its query compiles, and parsing `languages/<name>/sample.<ext>` gives the units
//! in `expected.txt`. To print the current units: `cargo run -p colgrep-syntax --example units -- SAMPLE`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use colgrep_syntax::language::{self, LANGUAGES, Reader};
use colgrep_syntax::parse;
use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator as _};

fn sample(name: &str) -> Option<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.file_name().is_some_and(|n| n != "expected.txt"));
    let [file] = files.as_slice() else { panic!("{} must contain one sample", folder.display()) };
    Some((file.clone(), fs::read_to_string(file).expect("a readable sample")))
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
    for language in LANGUAGES.iter().filter(|l| l.grammar.is_some() || l.reader.is_some()) {
        let Some((file, text)) = sample(language.name) else {
            wrong.push(format!("{}: no sample", language.name));
            continue;
        };
        let detected = language::detect(&file, text.as_bytes()).name;
        if detected != language.name {
            wrong.push(format!("{}: the sample is taken for {detected}", language.name));
        }
        let expected = fs::read_to_string(file.with_file_name("expected.txt")).unwrap_or_default();
        let found = parse::parse(&text, language).to_string();
        if found != expected {
            wrong.push(format!("{}: expected\n{expected}\nfound\n{found}", language.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_line_with_text_belongs_to_a_unit() {
    // In a notebook, only lines of cells belong to units.
    for language in LANGUAGES.iter().filter(|language| language.name != "jupyter") {
        let Some((_, text)) = sample(language.name) else { continue };
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
    for language in LANGUAGES.iter().filter(|l| l.grammar.is_some()) {
        let Some((_, text)) = sample(language.name) else { continue };
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
