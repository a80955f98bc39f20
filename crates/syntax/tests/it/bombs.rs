//! Texts of a few kilobytes that took gigabytes to parse. Memory is counted, not timed.

use colgrep_syntax::budget::peak;
use colgrep_syntax::language::by_name;
use colgrep_syntax::parse::{Parsed, parse};

/// Parses `text` repeated, and checks the cost.
fn parsed(language: &str, text: &str, times: usize) -> Parsed {
    let parsed = parse(&text.repeat(times), by_name(language).expect("a row"));
    let mb = peak().bytes >> 20;
    assert!(mb < 64, "{language} {text:?} x {times}: {mb} MB");
    let units: usize = parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + u.signature.len()).sum();
    assert!(units >> 20 < 24, "{language} {text:?} x {times}: units of {units} bytes");
    parsed
}

#[test]
fn bombs_become_plain_blocks() {
    for (language, text, times, why) in [
        // Every path through the forked stack was copied at the end: 7.3, 3.1 GB.
        ("csharp", "a<b", 10_000, "is too ambiguous"),
        ("java", "a<b", 10_000, "is too ambiguous"),
        // Each name had the whole file as its text: 5.5 GB at 20,000 of them.
        ("cpp", "def a(): pass\n", 6_000, "holds too many definitions"),
        ("python", "a=1\n", 12_000, "holds too many definitions"),
        // One step of the parser took 1.4 s.
        ("svelte", "yield+{\tnot", 50_000, "is too large"),
    ] {
        let note = parsed(language, text, times).note.unwrap_or_default();
        // On a busy machine the bound of time may come first.
        let is_bounded = note.starts_with(why) || note.starts_with("took too long to parse");
        assert!(is_bounded && note.ends_with("; indexed as plain blocks"), "{language}: {note:?}");
    }
}

#[test]
fn what_a_scanner_has_no_room_for_ends_nothing() {
    // 360 bytes of Perl and 4 kB of Ruby used to crash the process; the next file is still read.
    for (language, text) in [("perl", "\"@{["), ("ruby", "<<Adef a%Q["), ("perl", "\"${"), ("kotlin", "\"${a")] {
        for times in [80, 90, 120, 200, 256, 400, 3_000] {
            parsed(language, text, times);
        }
    }
    // A quoted here-document word with a line break, and braces that only comments close.
    for length in [200, 250, 255, 256, 300, 1_000, 1_030, 5_000] {
        parsed("ruby", &format!("<<\"\n{}\"\n", "0".repeat(length)), 1);
        parsed("ruby", &format!("a <<~'{}', <<-B\n", "w".repeat(length)), 3);
    }
    for times in [1_022, 1_023, 1_024, 1_025, 3_000] {
        parsed("kotlin", "\"${ /* } */ ", times);
        parsed("kotlin", "\"${ \"}\" + ", times);
        parsed("kotlin", "\"\"\"${ // }\n", times);
    }
    // Scanners that call themselves for each level.
    for (language, text) in [("ocaml", "(* "), ("svelte", "{`${")] {
        let note = parsed(language, text, 100_000).note.unwrap_or_default();
        assert!(note.starts_with("is nested too deeply"), "{language}: {note:?}");
    }
}

#[test]
fn shorter_ones_are_parsed() {
    for (language, text) in [("csharp", "a<b"), ("java", "a<b"), ("cpp", "def a(): pass\n")] {
        assert_eq!(parsed(language, text, 300).note.as_deref(), Some("parsed with syntax errors"), "{language}");
    }
}

#[test]
fn nodes_of_the_parsers_stack_are_counted() {
    // Fails if tree-sitter's `StackNode` has another size than in `budget/counted.rs`.
    parsed("c", "int a = (", 1);
    let few = peak().stack_nodes;
    parsed("c", "(", 1_000);
    let many = peak().stack_nodes;
    assert!(few < 100 && (900..3_000).contains(&many), "{few} and {many}");
}
