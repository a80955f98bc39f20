//! Removes names of missing files from a query.

use colgrep_core::path::stem_of;
use colgrep_core::query::Query;
use colgrep_core::query::intents::{is_joint, is_written};
use colgrep_core::statistics::Statistics;
use colgrep_core::token::{Tokenizer, is_stop_word, parts, words};
use colgrep_syntax::language;

use super::rounds::{Coordinator, LocateRequest};
use colgrep_index::error::Result;

/// A query's text with words respelled that the index lacks.
pub(super) struct Respelled {
    pub text: String,
    /// Each such word as typed, with its respelling.
    pub words: Vec<(String, String)>,
}

/// The query without names of missing files, if a word of the name is not in the index: nothing can match it, and its
/// extension matches other files. Words of the name that the index has stay. `None` without such a name, or if nothing
/// would be left.
pub(super) fn without_absent(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelled>> {
    if query.text.trim().contains('\n') {
        return Ok(None);
    }
    let mut stands = |word: &str| {
        let term = tokenizer.normal(word);
        let at = query.terms.iter().position(|known| known.text == term);
        at.and_then(|at| statistics.terms.get(at)).is_none_or(|count| count.most() > 0)
    };
    // Each path with the words of its file's name that the index has.
    let mut unknown: Vec<(&String, String)> = Vec::new();
    for path in query.intents.mentions.iter().filter(|path| language::facts().is_file_name(&path.to_lowercase())) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut rest: Vec<&str> = words_of(stem_of(name));
        let all = rest.len();
        rest.retain(|word| stands(word));
        if rest.len() < all {
            unknown.push((path, rest.join(" ")));
        }
    }
    if unknown.is_empty() {
        return Ok(None);
    }
    let paths = unknown.iter().map(|(path, _)| (*path).clone()).collect();
    let found = rounds.ask(&LocateRequest { paths, text: query.text.clone(), ..LocateRequest::default() })?;
    // `first.md` may end a name with spaces.
    if !found.spelled.is_empty() {
        return Ok(None);
    }
    let is_here = |at: usize| found.paths.get(at).is_some_and(|(best, _)| best.shared > 0);
    let absent: Vec<(&String, String)> =
        unknown.into_iter().enumerate().filter(|(at, _)| !is_here(*at)).map(|(_, path)| path).collect();
    Ok(left_out(&query.text, &absent))
}

/// The text with the rest of each path in its place, and without the words that join it to the text before.
fn left_out(text: &str, absent: &[(&String, String)]) -> Option<Respelled> {
    let (mut kept, mut left): (Vec<&str>, Vec<(String, String)>) = Default::default();
    let mut has_others = false;
    for word in text.split_whitespace() {
        let Some((path, rest)) = absent.iter().find(|(path, _)| is_written(word, path)) else {
            has_others |= words(word).any(|place| !is_stop_word(&word[place].to_lowercase()));
            kept.push(word);
            continue;
        };
        if rest.is_empty() {
            while kept.last().is_some_and(|last| is_joint(last)) {
                kept.pop();
            }
        } else {
            kept.push(rest);
        }
        left.push(((*path).clone(), rest.clone()));
    }
    (has_others && !left.is_empty()).then(|| Respelled { text: kept.join(" "), words: left })
}

fn words_of(name: &str) -> Vec<&str> {
    words(name).map(|place| &name[place]).flat_map(|word| parts(word).map(move |part| &word[part])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_a_name_goes_with_it_and_the_rest_stays() {
        for (text, rest, expected) in [
            ("nope.py redirects", "", "redirects"),
            ("how are redirects followed in the file `a/nope.py`?", "", "how are redirects followed"),
            ("redirects in nope.py", "old", "redirects in old"),
            ("nope.py", "", ""),
            ("where is nope.py", "", ""),
            ("redirects in other.py", "", ""),
        ] {
            let path = String::from(if text.contains('/') { "a/nope.py" } else { "nope.py" });
            let read = left_out(text, &[(&path, rest.to_string())]).map(|read| read.text);
            assert_eq!(read.unwrap_or_default(), expected, "{text}");
        }
    }
}
