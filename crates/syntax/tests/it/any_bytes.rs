//! Readers of arbitrary bytes (decoders, the pattern engine, the parser) return an answer or an error.

use colgrep_syntax::language::pattern::Patterns;
use colgrep_syntax::language::{LANGUAGES, by_name, expand};
use colgrep_syntax::parse::{PANICKED, parse};
use colgrep_syntax::read::{decode, lines_between};
use proptest::prelude::*;
use proptest::sample::Index;

/// Pieces of queries, well-formed or not.
const PIECES: [&str; 24] = [
    "(",
    ")",
    "[",
    "]",
    "_",
    "(_)",
    "\"fn\"",
    "@x",
    "@definition.function",
    "#eq?",
    "#match?",
    "#any-of?",
    "#not-eq?",
    "name:",
    "!body",
    "?",
    "*",
    "+",
    ".",
    "function_item",
    "identifier",
    "\"",
    ";",
    "\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_decoded_or_left_out(
        name in prop::sample::select(vec!["a.rs", "a.md", "a.ipynb", "a.rst", "a.css", "a", "a.svg", "a.json"]),
        start in prop::sample::select(vec![&b""[..], b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"{\"cells\":[", b"#!"]),
        bytes in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) {
        if let Ok(text) = decode(name, [start, &bytes].concat()) {
            let lines = text.text.lines().count();
            prop_assert!(lines_between(&text.text, 1, lines.max(1), str::lines).len() <= lines.max(1));
        }
    }

    #[test]
    fn any_query_compiles_or_says_why_not(pieces in proptest::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        let grammar = by_name("rust").and_then(|rust| rust.grammar).expect("a grammar")();
        if let Err(error) = Patterns::new(&grammar, &pieces.join(" ")) {
            prop_assert!(error.line >= 1 && !error.what.is_empty());
        }
    }

    #[test]
    fn a_query_with_a_part_missing_or_twice_compiles_or_says_why_not(
        language in any::<Index>(), from in any::<Index>(), len in 0usize..60, twice in any::<bool>(),
    ) {
        let with_grammar: Vec<_> = LANGUAGES.iter().filter(|l| l.grammar.is_some()).collect();
        let row = with_grammar[language.index(with_grammar.len())];
        let query = expand(row.query);
        let from = query.floor_char_boundary(from.index(query.len().max(1)));
        let to = query.floor_char_boundary((from + len).min(query.len()));
        let changed = match twice {
            true => format!("{}{}{}", &query[..to], &query[from..to], &query[to..]),
            false => format!("{}{}", &query[..from], &query[to..]),
        };
        let _ = Patterns::new(&row.grammar.expect("a grammar")(), &changed);
    }

    #[test]
    fn units_of_any_text_lie_in_it(language in any::<Index>(), text in "(fn|def|class|[a-z({\\[<>})\\];:\"'#/*\n\t =.,é]){0,200}") {
        let row = &LANGUAGES[language.index(LANGUAGES.len())];
        let lines = text.lines().count() as u32;
        let parsed = parse(&text, row);
        prop_assert!(parsed.note.as_deref() != Some(PANICKED));
        for unit in parsed.units {
            prop_assert!(unit.span.line >= 1 && unit.span.line <= unit.span.end, "{:?}", unit.span);
            prop_assert!(unit.span.end <= lines.max(1), "{:?} of {lines}", unit.span);
        }
    }
}

#[test]
fn a_name_may_end_with_its_text_before_its_second_quote() {
    let sql = by_name("sql").expect("SQL");
    for text in ["END close_year;\nCREATE INDEX \"né", "CREATE INDEX `né", "CREATE INDEX \"n\u{fffd}"] {
        let parsed = parse(text, sql);
        assert!(parsed.note.as_deref() != Some(PANICKED), "{text}: {parsed}");
    }
}
