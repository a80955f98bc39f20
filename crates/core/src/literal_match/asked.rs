//! Messages that a person quotes, or asks about.

use std::ops::Range;

/// Quotation marks around a message, besides `"`, which asks for an exact phrase.
const QUOTES: &[(char, char)] = &[('\'', '\''), ('`', '`'), ('‘', '’'), ('“', '”')];
/// Maximum of quotes in a text that are looked up.
const QUOTES_MAX: usize = 4;
/// Minimum of words in a message without quotes: fewer are a person's own.
const WORDS_MIN: usize = 4;

/// Questions about a message, which is at the place of `…`; `a|b` is either word.
const FORMS: &[&str] = &[
    "why do|does|did i|we|it get|print|say|see …",
    "why am|are i|we getting|seeing …",
    "where does|did … come from",
    "where is … coming from",
    "where is … emitted|logged|printed|raised|reported|thrown",
    "what does … mean",
    "what|who causes|emits|logs|prints|raises|reports|throws|triggers …",
    "how to fix|resolve|solve …",
    "how do|can i|we fix|resolve|solve …",
];
/// What people call a message before they write it.
const KINDS: &[&str] = &["error", "exception", "message", "warning"];

/// The texts of several words in quotes other than double ones, which open and close at the ends of words. None in a
/// text of several lines.
pub fn quoted_messages(text: &str) -> Vec<&str> {
    let text = text.trim();
    if text.contains('\n') {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (open, close) in QUOTES {
        let opens_at = |at: usize| text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
        let closes_at =
            |at: usize| text[at..].chars().next().is_none_or(|c| c.is_whitespace() || ".,;:!?)".contains(c));
        let opens = text.match_indices(*open).filter(|(at, _)| opens_at(*at));
        let opens: Vec<usize> = opens.map(|(at, mark)| at + mark.len()).collect();
        let closes = text.match_indices(*close).filter(|(at, mark)| closes_at(at + mark.len()));
        let closes: Vec<usize> = closes.map(|(at, _)| at).collect();
        // Messages have quotes, too.
        let widest = opens.first().zip(closes.last()).map(|(from, to)| (*from, *to));
        let nearest = |from: &usize| Some((*from, *closes.iter().find(|to| *to > from)?));
        let places = widest.into_iter().chain(opens.iter().filter_map(nearest));
        all.extend(places.filter_map(|(from, to)| text.get(from..to)));
    }
    all.retain(|inside| inside.trim().contains(char::is_whitespace));
    all.dedup();
    all.truncate(QUOTES_MAX);
    all
}

/// The messages that a question may be about, if it has one of some forms: "why do I get …", "where does … come from".
/// Without what people call it ("the error …"), too. A text in double quotes is a phrase.
pub fn messages_asked_about(text: &str) -> Vec<&str> {
    let text = text.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(place) = FORMS.iter().find_map(|form| place_in_form(form, &words)) else { return Vec::new() };
    let called = words[place.clone()].iter().take(2).position(|word| is_one_of(word, KINDS));
    let behind_kind = called.map(|at| place.start + at + 1..place.end);
    let places = [place].into_iter().chain(behind_kind).filter(|place| place.len() >= WORDS_MIN);
    let at = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let messages = places.map(|Range { start, end }| {
        let last = words[end - 1];
        text[at(words[start])..at(last) + last.len()].trim_end_matches('?')
    });
    messages.filter(|message| !(message.starts_with('"') && message.ends_with('"'))).collect()
}

/// The words at the place of the message, if a text has this form.
fn place_in_form(form: &str, words: &[&str]) -> Option<Range<usize>> {
    let (front, back) = form.split_once('…')?;
    let [front, back] = [front, back].map(|part| part.split_whitespace().collect::<Vec<_>>());
    let place = front.len()..words.len().checked_sub(back.len())?;
    let fit = |words: &[&str], form: &[&str]| {
        words.iter().zip(form).all(|(word, own)| is_one_of(word, &own.split('|').collect::<Vec<_>>()))
    };
    let is_long = place.len() >= WORDS_MIN;
    (is_long && fit(words, &front) && fit(&words[place.end..], &back)).then_some(place)
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    let word = word.trim_end_matches(['?', '.', ',', ':']);
    known.iter().any(|own| word.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_several_words_are_told_from_names_and_apostrophes() {
        for (text, expected) in [
            ("where does 'no route to x' come from", "no route to x"),
            ("why `no route to x`?", "no route to x"),
            ("help: ‘no route to x’", "no route to x"),
            ("bug ('it can't be open')", "it can't be open"),
            ("what throws 'unknown command 'a' for 'b c'.'", "unknown command 'a' for 'b c'.|unknown command 'a|b c"),
            ("why 'no route' when I call 'x'", "no route' when I call 'x|no route"),
            ("where is 'timeout' set", ""),
            ("the users' keys can't be 'empty", ""),
            ("say \"no route\"", ""),
            ("a\n'no route'", ""),
        ] {
            assert_eq!(quoted_messages(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn what_a_question_is_about_is_told_from_its_own_words() {
        for (text, expected) in [
            ("why do I get Route [a] not defined.", "Route [a] not defined."),
            ("Why am I getting key 7 is not set?", "key 7 is not set"),
            ("where does Route [a] not defined. come from?", "Route [a] not defined."),
            ("where is key 7 is not set raised", "key 7 is not set"),
            ("what does key 7 is not set mean", "key 7 is not set"),
            ("who logs key 7 is not set", "key 7 is not set"),
            ("how do I fix the error: key 7 is not set", "the error: key 7 is not set|key 7 is not set"),
            ("why do I get \"key 7 is not set\"?", ""),
            ("how to fix broken links", ""),
            ("how is key 7 is not set kept", ""),
            ("where does", ""),
            ("", ""),
        ] {
            assert_eq!(messages_asked_about(text).join("|"), expected, "{text}");
        }
    }
}
