//! A question at the end of a text: a program's advice after its message, or a person's question.

use super::{AUXILIARIES, INTERROGATIVES, REQUESTS};

/// Beginnings of a program's advice, in lower case.
const ADVICE: &[&str] = &["did you mean", "maybe you meant", "perhaps you meant"];

/// A program's message and the advice after it: `no such command: buidl.`, `Did you mean build?`. `None` without a
/// message, or if the question continues ("what did you mean by").
pub fn split_advice(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let at = ADVICE.iter().filter_map(|advice| lower.find(advice)).min()?;
    let front = text[..at].trim_end_matches([' ', '\t', '\r']);
    let is_end = front.ends_with(['\n', '.', '!', ',', ';', ':', '(', '"', '\'', '`']);
    let message = front.trim().trim_end_matches([',', ';', '(']).trim_end();
    (is_end && message.contains(char::is_alphanumeric)).then_some((message, &text[at..]))
}

/// Whether a text ends in a person's own question. After another sentence, programs ask too.
pub(super) fn ends_in_question(text: &str) -> bool {
    let Some(text) = text.trim_end().strip_suffix('?') else { return false };
    let begins = |end: &&str| text.rfind(*end).map(|at| at + end.len());
    match [". ", "! ", "? ", "\n"].iter().filter_map(begins).max() {
        None => split_advice(text).is_none(),
        Some(at) => {
            let first = text[at..].split_whitespace().next().unwrap_or_default().to_lowercase();
            [INTERROGATIVES, AUXILIARIES, REQUESTS].iter().any(|words| words.contains(&first.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_from_the_advice_behind_it() {
        for (text, expected) in [
            ("Command \"a\" is not defined. Did you mean this?", Some("Command \"a\" is not defined.")),
            ("Command \"a\" is not defined.  \n\n  Did you mean this?\n    b", Some("Command \"a\" is not defined.")),
            ("unknown command \"a\", did you mean \"b\"?", Some("unknown command \"a\"")),
            ("unknown option '--a' (Did you mean --b?)", Some("unknown option '--a'")),
            ("what did you mean by this", None),
            ("Did you mean this?", None),
            ("no such host", None),
        ] {
            assert_eq!(split_advice(text).map(|(message, _)| message), expected, "{text}");
        }
    }

    #[test]
    fn questions_of_programs_are_told_from_those_of_people() {
        for (text, expected) in [
            ("the server hangs?", true),
            ("The server hangs. How is the timeout set?", true),
            ("The server hangs. Can it be stopped?", true),
            ("Command is not defined. Did you mean this?", false),
            ("Unknown option, did you mean build?", false),
            ("The server hangs.", false),
        ] {
            assert_eq!(ends_in_question(text), expected, "{text}");
        }
    }
}
