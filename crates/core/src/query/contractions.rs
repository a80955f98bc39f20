//! Writes contractions out, so that "can't", "cannot" and "can not" are the same question.

use std::borrow::Cow;

/// Characters that people type as an apostrophe.
pub(super) const APOSTROPHES: &[char] = &['\'', '’', 'ʼ', '‘', '´', '＇'];

/// Contractions with "not" whose first part changes.
const IRREGULAR: [(&str, &str); 4] =
    [("can't", "cannot"), ("won't", "will not"), ("shan't", "shall not"), ("ain't", "is not")];
/// Auxiliaries that "n't" is appended to.
const NEGATED: &str = "are could dare did do does had has have is might must need ought should was were would";
/// What an apostrophe and these letters stand for.
const ENDINGS: [(&str, &str); 6] =
    [("re", "are"), ("ve", "have"), ("ll", "will"), ("d", "would"), ("m", "am"), ("s", "is")];
/// Words that these endings are appended to. After any other word, `s` marks a possessive.
const BEFORE_ENDINGS: &str = "he here how i it she that there they this we what when where which who why you";

/// A query with its contractions written out, including those typed without an apostrophe. Text in quotes, text of
/// several lines and a single word are unchanged: they may be code.
pub(super) fn without_contractions(text: &str) -> Cow<'_, str> {
    let is_code = text.contains(['"', '`', '“', '\n']) || text.split_whitespace().nth(1).is_none();
    if is_code {
        return Cow::Borrowed(text);
    }
    let mut told = String::with_capacity(text.len());
    let mut has_changed = false;
    let mut words = text.split_inclusive(char::is_whitespace).peekable();
    while let Some(word) = words.next() {
        let blank = word.len() - word.trim_end().len();
        let (written, blank) = word.split_at(word.len() - blank);
        let bare = written.trim_matches(|c: char| !c.is_alphanumeric());
        let next = words.peek().map(|next| next.trim_end().trim_end_matches(['.', ',', ';', '?', '!']));
        if written.eq_ignore_ascii_case("can") && next.is_some_and(|next| next.eq_ignore_ascii_case("not")) {
            told.push_str(written);
            has_changed = true;
            continue;
        }
        match written_out(bare) {
            Some(long) => {
                told.push_str(&written.replacen(bare, &long, 1));
                has_changed = true;
            }
            None => told.push_str(written),
        }
        told.push_str(blank);
    }
    if has_changed { Cow::Owned(told) } else { Cow::Borrowed(text) }
}

fn written_out(word: &str) -> Option<String> {
    if word.is_empty() {
        return None;
    }
    let lower = word.to_lowercase().replace(APOSTROPHES, "'");
    let is_same = |short: &str| lower == short || lower == short.replace('\'', "");
    if let Some((_, long)) = IRREGULAR.iter().find(|(short, _)| is_same(short)) {
        return Some((*long).to_string());
    }
    if let Some(front) = lower.strip_suffix("n't").or_else(|| lower.strip_suffix("nt"))
        && is_in(NEGATED, front)
    {
        return Some(format!("{front} not"));
    }
    if is_same("let's") && lower.contains('\'') {
        return Some("let us".into());
    }
    let (front, end) = lower.split_once('\'')?;
    let (_, long) = ENDINGS.iter().find(|(short, _)| *short == end)?;
    is_in(BEFORE_ENDINGS, front).then(|| format!("{} {long}", &word[..front.len()]))
}

/// Whether a list of words, separated by blanks, has a word.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_are_written_out() {
        for (text, expected) in [
            ("can't dispatch", "cannot dispatch"),
            ("can’t dispatch", "cannot dispatch"),
            ("canʼt dispatch", "cannot dispatch"),
            ("Can't dispatch", "cannot dispatch"),
            ("can not dispatch", "cannot dispatch"),
            ("cant dispatch", "cannot dispatch"),
            ("cannot dispatch", "cannot dispatch"),
            ("events that won't fire", "events that will not fire"),
            ("why doesn't it retry?", "why does not it retry?"),
            ("why doesnt it retry", "why does not it retry"),
            ("it isn't closed.", "it is not closed."),
            ("where's the parser", "where is the parser"),
            ("what’s a unit", "what is a unit"),
            ("I'm looking for the parser", "I am looking for the parser"),
            ("what we've parsed", "what we have parsed"),
            ("they're closed", "they are closed"),
            ("let's close it", "let us close it"),
            ("(don't close)", "(do not close)"),
            // Possessives, code and quotes.
            ("the user's name", "the user's name"),
            ("x' is a prime", "x' is a prime"),
            ("lets close it", "lets close it"),
            ("were ill", "were ill"),
            ("can't", "can't"),
            ("\"can't dispatch\" event", "\"can't dispatch\" event"),
            ("`can't` dispatch", "`can't` dispatch"),
            ("can't dispatch\nevent", "can't dispatch\nevent"),
            ("can nothing close", "can nothing close"),
            ("", ""),
        ] {
            assert_eq!(without_contractions(text), expected, "{text}");
        }
    }
}
