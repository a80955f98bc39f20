//! Questions for the callers of a name.

use crate::identifier_style::is_odd;

/// Questions for the callers of the name behind them, in lower case.
const CALLER_QUESTIONS: &[&str] = &[
    "who calls",
    "who invokes",
    "who is calling",
    "who uses",
    "what calls",
    "what invokes",
    "what is calling",
    "what uses",
    "which function calls",
    "which functions call",
    "everything that calls",
    "functions calling",
    "functions that call",
    "where do we call",
    "where do we use",
    "call sites of",
    "callers of",
    "callers",
    "calls to",
    "usages of",
    "uses of",
    "references to",
    "where is",
];
/// Requests in front of them.
const CALLER_REQUESTS: &[&str] =
    &["find all", "find", "get all", "get", "list all", "list", "show me all", "show me", "show all", "show", "all"];
/// Words that ask for the callers of the name in front of them.
const CALLERS: &[&str] = &["callers", "references", "usages"];

/// The name in "who calls NAME", "callers of NAME() in src", "where is NAME used", "NAME callers".
pub(super) fn callers_of(text: &str) -> Option<String> {
    let lower = text.trim().to_lowercase();
    let behind = |start: &str| lower.strip_prefix(start).filter(|rest| rest.starts_with(' ')).map(str::trim_start);
    let asked = CALLER_REQUESTS.iter().find_map(|request| behind(request)).unwrap_or(&lower);
    let question = CALLER_QUESTIONS.iter().find(|q| asked.strip_prefix(**q).is_some_and(|rest| rest.starts_with(' ')));
    let mut words = text.split_whitespace();
    let Some(question) = question else {
        let (name, last) = (words.next()?, words.next()?);
        let asks = words.next().is_none() && CALLERS.contains(&last.trim_end_matches('?').to_lowercase().as_str());
        return called(name).filter(|_| asks && is_odd(name));
    };
    let front = lower[..lower.len() - asked.len()].split_whitespace().count() + question.split(' ').count();
    let written = words.nth(front)?;
    let tail = words.next().map(|word| word.trim_end_matches(['?', '.', ',']).to_lowercase());
    match tail.as_deref() {
        _ if *question == "callers" && !is_odd(written) => return None,
        // "where is X" alone asks for X itself.
        None if *question == "where is" => return None,
        None | Some("used" | "called" | "invoked" | "referenced") => {}
        Some(_) if *question == "where is" => return None,
        // A word of a sentence is no name.
        Some("in" | "from" | "within" | "and") if is_odd(written) => {}
        Some(_) => return None,
    }
    called(written)
}

/// A name without a sentence's punctuation, quotes and `()`.
pub(super) fn called(written: &str) -> Option<String> {
    let name = written.trim_end_matches(['?', ',', '.']).trim_matches(['`', '"', '\'']).trim_end_matches("()");
    (!name.is_empty()).then(|| name.to_string())
}
