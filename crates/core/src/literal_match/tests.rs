//! Tests of texts as typed.

use super::alignment::begins_with_value;
use super::*;

/// Agreement, words and the text of the file's line from the match on.
fn found(text: &str, file: &str) -> String {
    // Stop words are not selective.
    let weight = |word: &str| if word.len() > 3 { word.len() as f32 } else { 0.0 };
    let Some(standing) = PastedText::new(text, weight).find(file) else { return "nothing".to_string() };
    let line = file[standing.start..].lines().next().unwrap_or_default();
    format!("{:?} {} {line}", standing.agreement, standing.words)
}

#[test]
fn a_text_is_found_as_typed_or_by_its_longest_run() {
    let file = "use net;\n// opens a socket\nfn open_socket(host: &str) {\n    fail(\"no route to %s, try another host\");\n}\n";
    for (text, expected) in [
        ("fn open_socket(host: &str) {", "Exact 4 fn open_socket(host: &str) {"),
        ("fn open_socket (host : &str)", "Words 4 fn open_socket(host: &str) {"),
        ("Opens A Socket", "Words 3 opens a socket"),
        ("no route to db7, try another host", "Run 6 no route to %s, try another host\");"),
        ("open_socket", "Exact 1 open_socket(host: &str) {"),
        ("socket", "Exact 1 socket"),
        ("pen_sock", "nothing"),
        ("another universe", "Run 1 another host\");"),
        ("xyz", "nothing"),
        ("", "nothing"),
    ] {
        assert_eq!(found(text, file), expected, "{text:?}");
    }
}

#[test]
fn questions_are_told_from_messages() {
    for (text, expected) in [
        ("how are cookies kept", true),
        ("Where is 'timeout' set?", true),
        ("could we see the session?", true),
        ("Could not find server '42'.", false),
        ("could not open the socket", false),
        ("Is not a socket", false),
        ("can we not open it", true),
        ("the trait bound `A: B` is not satisfied", false),
        ("connection reset by peer", false),
        ("The server hangs. Why does it?", true),
        ("Command is not defined. Did you mean this?", false),
        ("unknown command, did you mean build?", false),
    ] {
        assert_eq!(is_question(text), expected, "{text}");
    }
}

#[test]
fn a_single_piece_counts_where_it_is_no_word_of_a_sentence() {
    for (text, expected) in [
        ("MAX_LEN", true),
        ("E0502", true),
        ("1.2.3", true),
        ("Content-Type", true),
        (".btn-primary", true),
        ("/api/v1", true),
        ("CacheReader", true),
        ("operator==", true),
        ("HTTP", true),
        ("session", false),
        ("Session", false),
        ("empty?", false),
    ] {
        assert_eq!(PastedText::new(text, |_| 1.0).is_token(), expected, "{text}");
    }
}

#[test]
fn of_several_places_the_one_with_more_of_the_text_counts() {
    let file = "log(\"int %d is no multiple of %d\")\nlog(\"float %d is no multiple of %d\")\nv = \"1.0.0-beta\"\nw = \"1.0.0\"\n";
    for (text, expected) in
        [("float 3 is no multiple of 2", "Run 5 float %d is no multiple of %d\")"), ("1.0.0", "Exact 3 1.0.0\"")]
    {
        assert_eq!(found(text, file), expected, "{text:?}");
        let weight = |word: &str| word.len() as f32;
        let standing = PastedText::new(text, weight).find(file).expect("a match");
        assert_eq!(file[..standing.start].lines().count() % 2, 0, "{text:?}: the second of each two lines");
    }
}

#[test]
fn a_whole_literal_counts_before_the_same_words_elsewhere() {
    let file = "// no such key\nlet other = \"no such key in it\";\nfail('no such key\\n');\nfail(\"No such key.\");\nrun(\"swap-pane\", \"worker\", \"--pool\")\n";
    for (text, expected, line) in [
        ("no such key", true, 3),
        ("No such key", true, 4),
        ("such key in", false, 2),
        ("no SUCH key in it", true, 2),
        ("other", false, 2),
        ("swap pane", false, 5),
        ("worker pool", false, 5),
    ] {
        let standing = PastedText::new(text, |word| word.len() as f32).find(file).expect("a match");
        let found = (standing.is_literal, 1 + file[..standing.start].matches('\n').count());
        assert_eq!(found, (expected, line), "{text}");
    }
}

#[test]
fn a_run_in_front_of_a_value_is_told() {
    let file = "no such module here\nfail(f\"no such module {name}\");\nfail(\"bad option: \" + name)\n";
    for (text, expected, line) in
        [("no such module foo", true, 2), ("no such module", false, 1), ("bad option: foo", true, 3)]
    {
        let standing = PastedText::new(text, |word| word.len() as f32).find(file).expect("a match");
        let found = (standing.is_before_value, 1 + file[..standing.start].matches('\n').count());
        assert_eq!(found, (expected, line), "{text}");
    }
    for text in [" %s", ": {}", " '#{name}'", ": \" << name", " \\(name)", "\", name)", ": ${name}"] {
        assert!(begins_with_value(text), "{text}");
    }
    assert!(!begins_with_value("\")") && !begins_with_value(" here, too"));
}

#[test]
fn a_part_of_what_a_format_string_printed_is_found() {
    let file = "fail(f\"cannot open the store at {path}: version {v} is too new\")\n";
    for (text, expected) in [
        ("cannot open the store at /tmp/x: version 7 is too new", Some(0)),
        ("cannot open the store at /tmp/x", Some(0)),
        ("version 7 is too new", Some(0)),
        ("it fails, version 7 is too new", None),
        ("version 7 is too new for it", None),
        ("cannot open the door at /tmp/x", None),
    ] {
        let standing = PastedText::new(text, |_| 1.0).find(file).expect("a match");
        assert_eq!(standing.made_from, expected, "{text}");
    }
}

#[test]
fn a_literal_around_a_value_explains_a_text_of_which_it_has_half() {
    let file = "fail('option ' + name + ' must be ' + wanted)\n";
    for (text, expected) in [
        ("option timeout must be a number", Some(0)),
        ("option timeout must be positive", Some(0)),
        ("option timeout must not be a number", None),
        ("option timeout must be a number of seconds here", None),
        ("the option timeout must be a number", None),
    ] {
        let weight = |word: &str| if word.len() > 2 { 1.0 } else { 0.0 };
        let standing = PastedText::new(text, weight).find(file).expect("a match");
        assert_eq!(standing.made_from, expected, "{text}");
    }
}

#[test]
fn a_value_at_the_end_needs_no_share_however_many_words_its_piece_has() {
    let file = "fail(\"failed to connect to {host}\")\n";
    for (text, share) in [
        ("failed to connect to acme", 1.0),
        ("failed to connect to api.internal.acme.example", 1.0),
        ("failed to connect to some host in a far away place", 0.7),
    ] {
        let standing = PastedText::new(text, |_| 1.0).find(file).expect("a match");
        assert_eq!(standing.words, 4, "{text}");
        assert_eq!(standing.share > 0.75, share > 0.75, "{text}: {}", standing.share);
    }
}

#[test]
fn of_a_literal_the_pieces_between_its_values_count_together() {
    let file = "fail(\"expected :period to be a positive integer or tuple\")\nfail(\"expected #{key} to be a positive integer \
                or tuple, \" <>\n  \"got: #{value}\")\n// the queue does not exist\nfail(\"queue #{name} does not exist\")\n";
    for (text, words, share, line) in [
        // The literal that contains all of it wins over a longer run of another.
        ("expected x to be a positive integer or tuple, got: 80", 9, 1.0, 2),
        // A value of one word, in a text of plain ones.
        ("queue alpha does not exist", 4, 1.0, 5),
        // Without a value, or with too many words for one, nothing changes; nor for a question.
        ("queue does not exist", 4, 1.0, 4),
        ("queue of my own does not exist", 3, 0.67, 4),
        ("why queue alpha does not exist", 3, 0.5, 4),
    ] {
        let weight = |word: &str| if word.len() < 4 { 0.0 } else { 1.0 };
        let standing = PastedText::new(text, weight).find(file).expect("a match");
        let found = (standing.words, 1 + file[..standing.start].matches('\n').count());
        assert_eq!(found, (words, line), "{text}");
        assert!((standing.share - share).abs() < 0.11, "{text}: {}", standing.share);
    }
}

#[test]
fn of_two_literals_the_one_whose_next_sentence_says_another_thing_loses() {
    let file =
        "fail(f\"key {k} has value {v}. Not a valid bool.\")\nfail(f\"key {k} has value {v}. Not a valid {t}.\")\n";
    for (text, line) in [
        ("key 'x' has value 'y'. Not a valid int.", 2),
        ("key 'x' has value 'y'. Not a valid bool.", 1),
        ("key 'x' has value 'y'.", 1),
    ] {
        let standing = PastedText::new(text, |_| 1.0).find(file).expect("a match");
        assert_eq!(1 + file[..standing.start].matches('\n').count(), line, "{text}");
    }
}

#[test]
fn a_literal_that_all_of_a_text_was_made_of_is_told() {
    let file = "fail(\"no route to host %s\")\nfail(\"no path to %s today\")\nfail(\"Exceeded {n} redirects.\")\n\
                fail(\"Logger {name} parents recursive\")\nfail(\"bad option: \" + name)\nfail(\"pool is full\")\n\
                fail(\"{n} items of {m}\")\n";
    for (text, expected) in [
        ("no route to host db7", Some(0)),
        ("worker: no route to host db7", Some(1)),
        ("no route to host redis://db7.acme.example:6379/0: it timed out", Some(0)),
        ("no path to db7 today", Some(0)),
        ("no path to db7 tomorrow", None),
        // Few words on both sides of a value, or before one at the end.
        ("Exceeded 30 redirects.", Some(0)),
        ("Exceeded 30 of so many redirects", None),
        ("Exceeded 30", None),
        ("Logger acme parents recursive", Some(0)),
        ("Logger acme parents", None),
        ("bad option: --foo", Some(0)),
        ("bad option: foo is none of those", None),
        // A whole literal after a prefix.
        ("Error: pool is full", Some(1)),
        ("Error: pool is full now", None),
        // One word is not enough.
        ("3 items of 4", None),
    ] {
        let is_stop = |word: &str| matches!(word, "no" | "to" | "of" | "is" | "it");
        let weight = |word: &str| if is_stop(word) || word.contains(|c: char| c.is_ascii_digit()) { 0.0 } else { 1.0 };
        let made_from = PastedText::new(text, weight).find(file).and_then(|standing| standing.made_from);
        assert_eq!(made_from, expected, "{text}");
    }
    assert_eq!(PastedText::new("[1] tool: a: Bad b", |_| 1.0).messages_behind_prefix("tool"), [1, 2, 3]);
}

#[test]
fn values_that_stand_elsewhere_are_no_evidence_against_their_literal() {
    let file = "fail(\"worker: Cannot connect to %s: %s.\")\nopen(\"redis://localhost:6379/0\")\n";
    for text in [
        "worker: Cannot connect to redis://localhost:6379/0: timed out.",
        "worker: Cannot connect to redis://guest:secret@localhost:6379/0: timed out.",
    ] {
        // All of its values are rarer than its words.
        let is_own = |word: &str| matches!(word, "worker" | "Cannot" | "connect" | "to");
        let weight = |word: &str| if is_own(word) { 1.0 } else { 2.0 };
        let standing = PastedText::new(text, weight).find(file).expect("a match");
        assert_eq!((standing.start, standing.made_from), (6, Some(0)), "{text}");
    }
}

#[test]
fn a_text_that_was_cut_inside_a_word_is_found_but_no_word_of_a_sentence() {
    let file =
        "connect_timeout: float = 1.0\nprivate const val EXCEPTION = 2\n// parse the request headers\nx = 1.0.01\n";
    for (text, expected) in [
        ("connect_timeout: flo", true),
        ("private const val EXCE", true),
        ("vate const val EXCEPTION =", true),
        ("parse the request header", false),
        ("eout: flo", false),
        ("1.0.0", false),
    ] {
        let standing = PastedText::new(text, |_| 1.0).find(file);
        let is_cut = standing.is_some_and(|s| s.agreement == Agreement::Run && !s.is_alone && s.share >= 1.0);
        assert_eq!(is_cut, expected, "{text}");
    }
    let file = "// parse the request headers\nsink.write_short(address);\nfor path_and_stem in paths {}\n";
    for (text, expected) in [
        // A word that occurs nowhere may be cut in a sentence too, and its parts but the last are whole.
        ("parse the request header", true),
        ("for path_and_ste", true),
        ("sink.write_short(addr", true),
        // A single name may be a different one, and stop words are not cut.
        ("sink.write_shor", false),
        ("parse the", false),
    ] {
        let weight = |word: &str| if matches!(word, "header" | "path_and_ste" | "addr" | "the") { 0.0 } else { 1.0 };
        let standing = PastedText::new(text, weight).find(file);
        let is_cut = standing.is_some_and(|s| s.agreement == Agreement::Run && !s.is_alone && s.share >= 1.0);
        assert_eq!(is_cut, expected, "{text}");
    }
}

#[test]
fn code_is_told_from_prose() {
    for (text, expected) in
        [("x = compute(y)", true), ("a::b c", true), ("could not open file: x", false), ("it's here, isn't it?", false)]
    {
        assert_eq!(PastedText::new(text, |_| 1.0).is_code(), expected, "{text}");
    }
}

#[test]
fn the_share_is_that_of_the_weight() {
    let weight = |word: &str| if word == "rare" { 3.0 } else { 1.0 };
    let standing = PastedText::new("rare words here", weight).find("some rare words there").expect("a run");
    assert_eq!((standing.words, standing.share), (2, 0.8));
}

proptest::proptest! {
    #[test]
    fn any_text_in_any_file_ends_and_stays_inside(text in "[a-c_ .é漢]{0,20}", file in "[a-c_ .\né漢]{0,80}") {
        if let Some(standing) = PastedText::new(&text, |_| 1.0).find(&file) {
            assert!(file.is_char_boundary(standing.start) && standing.words <= words(&text).count());
            assert!((0.0..=1.0).contains(&standing.share));
        }
    }
}

#[test]
fn a_whole_line_comes_before_a_part_of_one() {
    for (text, file, expected) in [
        ("use std::fmt;", "pub use std::fmt;\n  use std::fmt;\r\n", (20, true)),
        ("use std::fmt;", "pub use std::fmt;\n", (4, false)),
        ("* @inheritDoc", "x * @inheritDoc y\n\t * @inheritDoc", (20, true)),
        ("import os", "import os.path\nimport os", (15, true)),
        ("a b", "a b", (0, true)),
        ("a b", "a b\nf(\"a b\")", (7, false)),
    ] {
        let found = PastedText::new(text, |_| 1.0).find(file).map(|found| (found.start, found.is_line));
        assert_eq!(found, Some(expected), "{text:?} in {file:?}");
    }
}
