//! Tells requests for tests, benchmarks, examples and documentation from questions about the code that handles them:
//! "tests of the parser", but "which code lowers the score of test files".

use super::contractions::is_in;
use super::wording::Wording;
use crate::path::PathClass;

const TEST_WORDS: &str = "test tests testing spec specs mock mocks fixture fixtures testcase";
const BENCHMARK_WORDS: &str = "bench benchmark benchmarks benchmarking";
const EXAMPLE_WORDS: &str = "example examples sample samples demo demos tutorial tutorials";
const PROSE_WORDS: &str = "readme doc docs documentation changelog guide guides tutorial tutorials manual license licence \
                           contributing faq";

/// Words between a preposition or a verb and the name of a class.
const DETERMINERS: &str =
    "a all an and any each end every existing integration my no of or our the these this unit your";
/// Prepositions after which a class is where to look.
const PLACES: &str = "among in inside under within";
/// The same, unless what is said of the class is about its files: "a port for tests", but "penalty for test files".
const PURPOSES: &str = "by during for";
/// Nouns that a class describes: "test files".
const NOUNS: &str = "code directories directory file filenames files folder folders names path paths";
/// Verbs for what code does with files of a class.
const HANDLING: &str = "classify demote detect exclude filter hide ignore lower penalise penalize recognise recognize";
/// Words that introduce the subject of tests, examples and the like.
const OF_SUBJECT: &str = "about covering do does for in of on that to which with";

/// The classes of files that a query asks for.
pub(super) fn asked_classes(wording: &Wording) -> Vec<PathClass> {
    let classes =
        [(PathClass::TEST, TEST_WORDS), (PathClass::BENCHMARK, BENCHMARK_WORDS), (PathClass::EXAMPLE, EXAMPLE_WORDS)];
    classes.into_iter().filter(|(_, names)| asks_for(wording, names)).map(|(class, _)| class).collect()
}

/// Whether a query asks for documentation.
pub(super) fn asks_for_prose(wording: &Wording) -> bool {
    asks_for(wording, PROSE_WORDS)
}

/// Whether one of these words names what a query asks for.
fn asks_for(wording: &Wording, names: &str) -> bool {
    let words = wording.lower();
    (0..words.len()).any(|at| is_in(names, words[at]) && is_asked_for(wording, &words, at))
}

/// Whether the query asks for the class named by the word at a position.
fn is_asked_for(wording: &Wording, words: &[&str], at: usize) -> bool {
    let first = words[0];
    let next = words.get(at + 1).copied();
    let has_article = at > 0 && is_in("a an that the this", words[at - 1]);
    // "Test whether a value is a ref" searches for the code that tests it.
    if words[at] == "test" && matches!(next, Some("if" | "whether")) && !has_article {
        return false;
    }
    let before = (0..at).rev().find(|i| !is_between(words, *i));
    let verb = before.map_or("", |i| words[i]);
    let has_content = before.is_some_and(|before| wording.has_content_before(before));
    if is_in(PLACES, verb) {
        return true;
    }
    if HANDLING.split_whitespace().any(|handling| verb == handling || is_form(verb, handling)) {
        return false;
    }
    let noun = (at + 1..words.len()).find(|i| !is_of_class(words[*i]) && !is_in("and or", words[*i]));
    let noun = noun.filter(|noun| is_in(NOUNS, words[*noun]));
    let begins_subject = words.get(noun.unwrap_or(at) + 1).is_none_or(|word| is_in(OF_SUBJECT, word));
    let asks = is_in("how what when where why", first) && !begins_subject;
    if noun.is_some() && (asks || wording.has_content_before(at)) {
        return false;
    }
    match verb {
        "are" | "is" | "was" | "were" if has_content || is_in("how when why", first) => false,
        "are" | "is" | "was" | "were" if first == "where" => begins_subject,
        "if" | "when" | "whether" if wording.frame() > 0 => false,
        verb if is_in(PURPOSES, verb) => true,
        _ => !wording.names_subject(),
    }
}

/// Whether the word at a position may be between a class and what governs it. "Of" may in "all of the tests", not in
/// "score of tests".
fn is_between(words: &[&str], at: usize) -> bool {
    let is_of_all = words[at] != "of" || (at > 0 && words[at - 1] == "all");
    (is_in(DETERMINERS, words[at]) && is_of_all) || is_of_class(words[at])
}

fn is_of_class(word: &str) -> bool {
    [TEST_WORDS, BENCHMARK_WORDS, EXAMPLE_WORDS, PROSE_WORDS].iter().any(|names| is_in(names, word))
}

/// Whether a word is a verb with an ending: `lowers`, `skipped`.
fn is_form(word: &str, verb: &str) -> bool {
    let stem = verb.trim_end_matches('e');
    let end = word.strip_prefix(stem).unwrap_or_default();
    matches!(end, "s" | "es" | "ed" | "ing" | "ped" | "ping" | "ted" | "ting")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(text: &str) -> String {
        let wording = Wording::new(text);
        let asked = asked_classes(&wording).into_iter().map(|class| match class {
            PathClass::TEST => "tests",
            PathClass::BENCHMARK => "benchmarks",
            _ => "examples",
        });
        asked.chain(asks_for_prose(&wording).then_some("prose")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn requests_for_a_class_name_it() {
        for (text, expected) in [
            ("tests of the parser", "tests"),
            ("parser tests", "tests"),
            ("test for redirects", "tests"),
            ("unit test runner", "tests"),
            ("Specs for routing", "tests"),
            ("add a test for redirects", "tests"),
            ("how do I run the tests", "tests"),
            ("how to write a test for a handler", "tests"),
            ("how do the tests mock the clock", "tests"),
            ("how is the clock mocked in tests", "tests"),
            ("how is the clock mocked in test files", "tests"),
            ("how is the clock checked by the tests", "tests"),
            ("where are the tests of the parser", "tests"),
            ("where are the test files of the parser", "tests"),
            ("where are the tests", "tests"),
            ("where do tests check the clock", "tests"),
            ("which test covers redirects", "tests"),
            ("which tests check that redirects end", "tests"),
            ("the test that redirects end", "tests"),
            ("the test whether redirects end", "tests"),
            ("show me the tests of the parser", "tests"),
            ("find all tests for redirects", "tests"),
            ("find a free port for tests", "tests"),
            ("the thing that fakes a clock for the tests", "tests"),
            ("the base class of the mocks", "tests"),
            ("test fixtures for sessions", "tests"),
            ("tests with mocks of the clock", "tests"),
            ("example of a plugin", "examples"),
            ("show me an example of a plugin", "examples"),
            ("how to use sessions example", "examples"),
            ("benchmarks of the tokenizer", "benchmarks"),
            ("install guide", "prose"),
            ("documentation of the flags", "prose"),
            ("what does the readme say about flags", "prose"),
            ("where is the documentation", "prose"),
        ] {
            assert_eq!(classes(text), expected, "{text}");
        }
    }

    #[test]
    fn questions_about_a_class_ask_for_code() {
        for text in [
            "which code lowers the score of test files",
            "which code lowers the score of test and example files",
            "lower the score of test files",
            "penalty for test files",
            "how are test files penalised",
            "how are tests discovered",
            "why are example files ranked last",
            "what happens when a test fails",
            "where are test files detected",
            "where are tests skipped",
            "where is it decided that a file is a test",
            "detect whether a file is a test",
            "skip test files when ranking",
            "ignoring tests",
            "excludes all of the tests",
            "ignore benchmarks",
            "which function recognises benchmark files",
            "which function tests a route",
            "the code that runs the tests",
            "the thing that loads fixtures",
            "which code writes the changelog",
            "how are docs rendered",
            "where is the license checked",
            "the function that generates the manual",
            "test whether a value is a ref",
            "latest inspect specific",
        ] {
            assert_eq!(classes(text), "", "{text}");
        }
    }
}
