//! Whether a word is written like a name in code rather than a word of a sentence. The predicates differ because each
//! was measured with its own rule; the test shows the differences.

use crate::fold::folded;
use crate::token::parts;

/// Whether a word has at least two letters, all of them capitals.
fn is_in_capitals(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    letters().nth(1).is_some() && letters().all(char::is_uppercase)
}

/// Whether a word in a sentence has a form that only names have: camelCase, snake_case, ACRONYMWord. Finds the names in
/// a query.
pub fn is_name_in_query(word: &str) -> bool {
    if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return false;
    }
    let chars: Vec<char> = word.chars().collect();
    let hump = chars.windows(2).any(|w| (w[0].is_lowercase() || w[0].is_numeric()) && w[1].is_uppercase());
    let snake = chars.iter().position(|c| *c == '_').is_some_and(|i| i > 0 && i + 1 < chars.len());
    let capitals = chars.iter().take_while(|c| c.is_uppercase()).count();
    let acronym = capitals >= 2 && chars.get(capitals).is_some_and(|c| c.is_lowercase());
    hump || snake || acronym
}

/// Whether a word has capitals after its first letter or marks of code. Tells questions for callers and definitions
/// from sentences.
pub fn is_odd(word: &str) -> bool {
    let word = word.trim_end_matches(['?', ',', '.']);
    word.chars().skip(1).any(char::is_uppercase) || word.contains(['_', '(', '.', ':', '`', '$', '#'])
}

/// Whether a word does not look like a plain word: in capitals, with a digit, with marks of names, paths and codes, or
/// like a header. Such words are looked up as typed.
pub fn is_token(word: &str) -> bool {
    let has_marks = word.contains(|c: char| c == '_' || c.is_ascii_digit() || matches!(c, '.' | ':' | '#' | '='));
    // `request/response` and `rate-limit` are two words each.
    let is_path = word.starts_with('/') || word.matches('/').nth(1).is_some();
    let is_header = word.contains('-') && word.split('-').all(|part| part.starts_with(char::is_uppercase));
    let is_long = word.chars().filter(|c| c.is_alphanumeric()).nth(1).is_some();
    is_long && !word.ends_with("()") && (is_in_capitals(word) || has_marks || is_path || is_header)
}

/// Whether a text of one piece does not look like a plain word: in capitals, with several parts, digits or punctuation.
/// It is then looked up as typed.
pub fn is_piece(text: &str) -> bool {
    let is_odd = |c: char| c == '_' || c.is_ascii_digit() || !(c.is_alphanumeric() || c == '\'' || c == '?');
    is_in_capitals(text) || text.contains(is_odd) || parts(text).nth(1).is_some()
}

/// A name of several parts in the other styles: `max_retries` as `max-retries`, `maxRetries`, `MaxRetries`, `MAX_RETRIES`,
/// `max.retries`. A digit belongs to the part before it. None for the name of a type (`MaxRetries`, `Content-Type`), whose
/// values are often called after it.
pub fn other_styles(name: &str) -> Vec<String> {
    let lower: Vec<String> = name.split(['_', '-', '.']).flat_map(parts_of_segment).collect();
    let is_of_parts = lower.iter().filter(|part| part.contains(char::is_alphabetic)).nth(1).is_some();
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_cut = name.split('.').any(str::is_empty);
    let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    if !is_of_parts || is_type || is_cut || !name.starts_with(char::is_alphabetic) || !name.chars().all(is_of_name) {
        return Vec::new();
    }
    let [pascal, camel] = humped(&lower);
    let snake = lower.join("_");
    let constant = snake.to_uppercase();
    let styles = [snake, lower.join("-"), camel, pascal, constant, lower.join(".")];
    styles.into_iter().filter(|style| style != name).collect()
}

/// A word with a capital at its beginning.
pub fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Parts of a name joined in Pascal case and in camel case.
pub fn humped(parts: &[String]) -> [String; 2] {
    let pascal: String = parts.iter().map(|part| capitalized(part)).collect();
    let camel = parts.iter().take(1).cloned().chain(parts.iter().skip(1).map(|part| capitalized(part))).collect();
    [pascal, camel]
}

/// The parts of a name between its marks, in lower case; only a change of case begins another: `s3`, `k8s`, `s3` and
/// `bucket` of `s3Bucket`.
fn parts_of_segment(segment: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let has_humps = segment.contains(char::is_lowercase) && segment.contains(char::is_uppercase);
    for part in parts(segment).map(|part| &segment[part]) {
        let begins = has_humps && part.starts_with(char::is_uppercase);
        match found.last_mut().filter(|_| !begins) {
            Some(last) => last.push_str(&folded(part)),
            None => found.push(folded(part).into_owned()),
        }
    }
    found
}

/// The name of a long flag without its dashes: `line-limit` of `--line-limit`.
pub fn flag_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--").filter(|name| name.len() > 1)?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_of_name)).then_some(name)
}

/// Whether a name in a question does not look like a plain word. Answers report it if it occurs nowhere.
pub fn is_name_in_question(name: &str) -> bool {
    name.contains('_') || name.chars().skip(1).any(char::is_uppercase)
}

/// Whether a name differs from a plain word, so that an example in documentation may introduce it.
pub fn is_name_in_example(name: &str) -> bool {
    name.contains(|c: char| c.is_uppercase() || c == '_')
}

/// `WebSocket`, `HTTPServer`, `JWT`, `MAX_LEN`, `UTF-8`: at least two humps, or upper case throughout. Finds the entities of a
/// text.
pub fn is_name_in_text(word: &str) -> bool {
    // A hyphen belongs to a name that has a number; otherwise it joins words.
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || (c == '-' && word.contains(char::is_numeric));
    if word.chars().count() < 2 || word.starts_with('-') || !word.chars().all(is_of_name) {
        return false;
    }
    let pairs = || word.chars().zip(word.chars().skip(1));
    let humps = pairs().filter(|(a, b)| a.is_lowercase() && b.is_uppercase()).count();
    let capitals = word.chars().take_while(|c| c.is_uppercase()).count();
    // `URLs` is a plural.
    let is_acronym = capitals > 1 && word.chars().nth(capitals).is_some_and(char::is_lowercase);
    let is_plural = word.chars().count() == capitals + 1;
    is_in_capitals(word) || (!word.contains('-') && (humps > 0 || (is_acronym && !is_plural)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_several_parts_has_other_styles() {
        for (name, expected) in [
            ("max_retries", "max-retries maxRetries MaxRetries MAX_RETRIES max.retries"),
            ("max-retries", "max_retries maxRetries MaxRetries MAX_RETRIES max.retries"),
            ("maxRetries", "max_retries max-retries MaxRetries MAX_RETRIES max.retries"),
            ("MAX_RETRIES", "max_retries max-retries maxRetries MaxRetries max.retries"),
            ("max.retries", "max_retries max-retries maxRetries MaxRetries MAX_RETRIES"),
            ("s3.url", "s3_url s3-url s3Url S3Url S3_URL"),
            ("s3Url", "s3_url s3-url S3Url S3_URL s3.url"),
            ("K8S_URL", "k8s_url k8s-url k8sUrl K8sUrl k8s.url"),
            ("node.name.2", "node_name_2 node-name-2 nodeName2 NodeName2 NODE_NAME_2"),
            ("MaxRetries", ""),
            ("Content-Type", ""),
            ("retries", ""),
            ("sha256", ""),
            ("--max-retries", ""),
            ("e.g.", ""),
            ("1.2.3", ""),
        ] {
            assert_eq!(other_styles(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn each_step_takes_other_words_for_names() {
        let steps =
            [is_name_in_query, is_odd, is_token, is_piece, is_name_in_question, is_name_in_example, is_name_in_text];
        for (word, expected) in [
            ("Router", "-----y-"),
            ("parseRequest", "yy-yyyy"),
            ("_private", "-yyyyy-"),
            ("HTTP", "-yyyyyy"),
            ("E0502", "--yy-y-"),
            ("foo()", "-y-y---"),
            ("v2", "--yy---"),
            ("request", "-------"),
        ] {
            let found: String = steps.iter().map(|is_name| if is_name(word) { 'y' } else { '-' }).collect();
            assert_eq!(found, expected, "{word}");
        }
    }
}
