//! Questions for the callers, the definition or the subtypes of a name, and for a name in a file.

use super::is_written;
use crate::identifier_style::is_odd;

/// What a question asks about a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameQuestion {
    Callers,
    Definition,
    Subtypes,
}

/// The forms of questions. `NAME` is any word, `NAME!` one that does not look like a plain word, `…` any words, and
/// `KIND` one of [`KINDS`], `IN` nothing, a word of [`DONE`], or a word of [`WHERE`] after a `NAME!`.
const FORMS: &[(NameQuestion, &str)] = &[
    (NameQuestion::Callers, "who|what calls|invokes|uses NAME IN"),
    (NameQuestion::Callers, "who|what is calling NAME IN"),
    (NameQuestion::Callers, "who|what reads|references NAME! IN"),
    (NameQuestion::Callers, "where is NAME! read …"),
    (NameQuestion::Callers, "which function|functions call|calls NAME IN"),
    (NameQuestion::Callers, "everything that calls NAME IN"),
    (NameQuestion::Callers, "functions calling NAME IN"),
    (NameQuestion::Callers, "functions that call NAME IN"),
    (NameQuestion::Callers, "where do we call|use NAME IN"),
    (NameQuestion::Callers, "call sites of NAME IN"),
    (NameQuestion::Callers, "callers|usages|uses of NAME IN"),
    (NameQuestion::Callers, "calls|references to NAME IN"),
    (NameQuestion::Callers, "callers NAME! IN"),
    (NameQuestion::Callers, "where is NAME used|called|invoked|referenced …"),
    (NameQuestion::Callers, "NAME! callers|references|usages"),
    (NameQuestion::Definition, "where is NAME!"),
    (NameQuestion::Definition, "where is NAME declared|defined|implemented"),
    (NameQuestion::Definition, "where is the KIND NAME declared|defined|implemented"),
    (NameQuestion::Definition, "where is the NAME KIND"),
    (NameQuestion::Definition, "where is the NAME KIND declared|defined|implemented"),
    (NameQuestion::Definition, "… definition of NAME"),
    (NameQuestion::Definition, "… definition of the KIND NAME"),
    (NameQuestion::Definition, "NAME definition"),
    (NameQuestion::Definition, "who|what defines NAME"),
    (NameQuestion::Definition, "what is CONSTANT"),
    (NameQuestion::Definition, "where is NAME! set"),
    (NameQuestion::Definition, "value|default of NAME!"),
    (NameQuestion::Definition, "default value of NAME!"),
    (NameQuestion::Definition, "what is the value|default of NAME!"),
    (NameQuestion::Definition, "what is the default value of NAME!"),
    (NameQuestion::Subtypes, "extends|implements NAME"),
    (NameQuestion::Subtypes, "who|what extends|implements|subclasses NAME IN"),
    (NameQuestion::Subtypes, "who|what inherits from NAME IN"),
    (NameQuestion::Subtypes, "which|what class|classes|type|types extend|extends|implement|implements NAME IN"),
    (NameQuestion::Subtypes, "classes|types|everything that extend|extends|implement|implements NAME IN"),
    (NameQuestion::Subtypes, "classes|types extending|implementing NAME IN"),
    (NameQuestion::Subtypes, "subclasses|subtypes|implementations|implementers|implementors of NAME IN"),
    (NameQuestion::Subtypes, "NAME! subclasses|subtypes|implementations|implementers|implementors"),
];
/// What a definition may be called.
const KINDS: &[&str] =
    &["class", "constant", "enum", "function", "interface", "macro", "method", "struct", "trait", "type"];
/// Participles after the name in questions for callers.
const DONE: &[&str] = &["called", "invoked", "referenced", "used"];
/// Words after a name that restrict the question or begin another one.
const WHERE: &[&str] = &["and", "from", "in", "within"];
/// Requests before a question for callers or subtypes.
const REQUESTS: &[&str] =
    &["find all", "find", "get all", "get", "list all", "list", "show me all", "show me", "show all", "show", "all"];

/// Words of the longest of them.
const REQUEST_WORDS_MAX: usize = 3;

/// Words that join a name to its file.
const JOINTS: &[&str] = &["at", "file", "from", "in", "inside", "of", "the", "within"];
/// Words of a question for a name in a file.
const SAID: &str = "class const constant declaration declared def defined definition enum find fn func function \
                    implementation implemented interface is macro method show struct trait type variable where";

pub(super) fn name_asked_for(text: &str, question: NameQuestion) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| bare(word)).collect();
    let is_request = |words: &[String]| words.is_empty() || REQUESTS.contains(&words.join(" ").as_str());
    let requests = (0..=REQUEST_WORDS_MAX.min(lower.len())).filter(|at| is_request(&lower[..*at]));
    let requests: Vec<usize> = requests.filter(|at| *at == 0 || question != NameQuestion::Definition).collect();
    let found = FORMS.iter().filter(|(own, _)| *own == question).find_map(|(_, form)| {
        let name_from = |form: &str, at: usize| name_in_form(form, &words[at..], &lower[at..]);
        match form.strip_prefix("… ") {
            Some(form) => (0..words.len()).find_map(|at| name_from(form, at)),
            None => requests.iter().find_map(|at| name_from(form, *at)),
        }
    });
    found.and_then(called)
}

/// The word at the place of the name, if the words have this form.
fn name_in_form<'t>(form: &str, words: &[&'t str], lower: &[String]) -> Option<&'t str> {
    let (mut name, mut at) = (None, 0);
    for part in form.split(' ') {
        match part {
            "…" => return name,
            "IN" => {
                let Some(behind) = lower.get(at).map(String::as_str) else { return name };
                return name.filter(|name| DONE.contains(&behind) || (WHERE.contains(&behind) && is_odd(name)));
            }
            "NAME" => name = Some(*words.get(at)?),
            "NAME!" => name = words.get(at).copied().filter(|word| is_odd(word)),
            // "What is OAuth" asks for an explanation.
            "CONSTANT" => name = words.get(at).copied().filter(|word| is_constant(word)),
            "KIND" => {
                lower.get(at).filter(|own| KINDS.contains(&own.as_str()))?;
            }
            word => {
                let own = lower.get(at)?;
                if !word.split('|').any(|word| word == own) {
                    return None;
                }
            }
        }
        at += 1;
    }
    name.filter(|_| at == words.len())
}

fn is_constant(word: &str) -> bool {
    word.contains('_') && word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}

/// A name without a sentence's punctuation, quotes and `()`.
pub(super) fn called(written: &str) -> Option<String> {
    let name = written.trim_end_matches(['?', ',', '.']).trim_matches(['`', '"', '\'']).trim_end_matches("()");
    (!name.is_empty()).then(|| name.to_string())
}

/// A word in lower case without trailing punctuation.
fn bare(word: &str) -> String {
    word.trim_end_matches(['?', '.', ',', ':']).to_lowercase()
}

/// Whether a word joins a name to its file: "in", "of".
pub fn is_joint(word: &str) -> bool {
    JOINTS.contains(&bare(word).as_str())
}

/// The name in "NAME in FILE", "FILE NAME", "where is NAME defined in FILE", if the text says nothing else. A word that
/// such questions begin with is the name if it is the only one (`find in FILE`).
pub(super) fn name_beside(text: &str, file: &str) -> Option<String> {
    if text.trim().contains('\n') {
        return None;
    }
    let is_beside = |word: &&str| !is_written(word, file) && !is_joint(word);
    let mut beside: Vec<&str> = text.split_whitespace().filter(is_beside).collect();
    if beside.len() > 1 {
        beside.retain(|word| !SAID.split_whitespace().any(|said| said == bare(word)));
    }
    let [written] = beside.as_slice() else { return None };
    called(written).filter(|name| is_name(name))
}

/// Whether a word can be a name or a path of names.
fn is_name(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_.:#$!?->~".contains(c);
    word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')) && word.chars().all(is_part)
}
