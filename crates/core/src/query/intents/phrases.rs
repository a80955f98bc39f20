//! Phrases in double quotes.

/// Phrases in double quotes that open after a space and close before one. A value in code or configuration
/// (`port = "8080"`) is not a phrase.
pub(super) fn phrases(text: &str) -> Vec<String> {
    let is_value = |front: &str| front.ends_with('=') || front.ends_with("\":");
    quoted(text).filter(|(front, _)| !is_value(front)).map(|(_, phrase)| phrase.to_string()).collect()
}

/// Whether all phrases of a text are arguments of flags.
pub(super) fn are_arguments(text: &str) -> bool {
    let is_flag = |word: &str| word.strip_prefix('-').is_some_and(|name| name.contains(char::is_alphabetic));
    let is_given = |front: &str| front.rsplit(char::is_whitespace).next().is_some_and(is_flag);
    quoted(text).all(|(front, _)| is_given(front))
}

/// The phrases in quotes, each with the text before it.
fn quoted(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let open = rest + text[rest..].find('"')?;
            let close = open + 1 + text[open + 1..].find('"')?;
            rest = close + 1;
            let front = &text[..open];
            let opens = front.chars().next_back().is_none_or(char::is_whitespace);
            let behind = text[rest..].chars().next();
            let closes = behind.is_none_or(|c| c.is_whitespace() || matches!(c, '.' | '?' | '!'));
            let phrase = text[open + 1..close].trim();
            if opens && closes && phrase.contains(char::is_alphanumeric) {
                return Some((front.trim_end(), phrase));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_arguments_are_no_quotes_of_people() {
        for (text, expected, given) in [
            ("timeouts in \"could not open\"", "could not open", false),
            ("\"a b\" and \"c d\"", "a b|c d", false),
            ("port = \"8080\"", "", false),
            ("\"port\": \"8080\"", "", false),
            ("say: \"could not open\"", "could not open", false),
            ("vitest -t \"opens it\"", "opens it", true),
            ("./gradlew test --tests \"a.B.c\"", "a.B.c", true),
            ("grep -n x \"opens it\"", "opens it", false),
            ("- \"opens it\"", "opens it", false),
        ] {
            let found = phrases(text);
            let is_given = !found.is_empty() && are_arguments(text);
            assert_eq!((found.join("|").as_str(), is_given), (expected, given), "{text:?}");
        }
    }
}
