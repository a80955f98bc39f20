//! A file whose name contains a word of the query.

use rustc_hash::FxHashSet;

use super::fused::Fused;
use super::retrieved::{FileFacts, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::query::Query;
use crate::token::is_stop_word;

/// The published stem boost, on words split before they are lower-cased.
pub const STAGE: Stage = Stage {
    name: "path_stem_boost",
    doc: "Files are named after what they do: a query word in the stem is strong evidence, a shared beginning weaker.",
    source: "semble's stem boost, as in ColGREP pull request 99; default: prototype",
    knobs: &[Knob::StemBoost, Knob::StemPrefixBoost, Knob::StemStopwords, Knob::StemPluralSnake, Knob::BoostOfBest],
    doubted: true,
    prepare: Prepare { knobs: &[Knob::StemStopwords, Knob::StemPluralSnake], signals },
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let best = fused.boost_unit(input.knobs);
    input.add_signals(fused, [best * input.knobs.stem_boost, best * input.knobs.stem_prefix_boost]);
}

/// Two signals per file: 1 if a word of the query is in the stem; else 1 if a word and a part of the stem begin alike.
fn signals(query: &Query, knobs: &Knobs, retrieved: &Retrieved) -> Signals {
    let (by_parts, no_stop_words) = (knobs.stem_plural_snake, knobs.stem_stopwords);
    let terms: FxHashSet<&str> = match by_parts {
        true => query.terms.iter().filter(|t| !(no_stop_words && t.stop)).map(|t| t.text.as_str()).collect(),
        false => query.words.iter().map(String::as_str).filter(|w| !(no_stop_words && is_stop_word(w))).collect(),
    };
    // `myfunc` means `my_func.py`, `rate limit` means `ratelimit.go`: no part of either is a part of the other.
    let is_word = |word: &str| !(no_stop_words && is_stop_word(word)) && query.words.iter().any(|w| w == word);
    let is_joined = |stem: &str| by_parts && (query.joined_words.contains(stem) || is_word(stem));
    let of_file = |file: &FileFacts| {
        let stem: Vec<&str> = stem_terms(file, by_parts);
        if stem.iter().any(|s| terms.contains(s)) || is_joined(&file.path_facts.stem_joined) {
            [1.0, 0.0]
        } else {
            let begins_alike = stem.iter().any(|s| terms.iter().any(|t| share_beginning(s, t)));
            [0.0, f32::from(u8::from(begins_alike))]
        }
    };
    Signals::PerFile(retrieved.files.iter().flat_map(of_file).collect())
}

fn stem_terms(file: &FileFacts, by_parts: bool) -> Vec<&str> {
    match by_parts {
        true => file.path_facts.stem_terms.iter().map(String::as_str).collect(),
        false => vec![file.path_facts.stem_joined.as_str()],
    }
}

/// Whether one begins with the other, both of three letters and more.
pub(super) fn share_beginning(a: &str, b: &str) -> bool {
    let long = |s: &str| s.chars().nth(2).is_some();
    long(a) && long(b) && (a.starts_with(b) || b.starts_with(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    fn check(set: &[(Knob, &str)], text: &str, path: &str, expected: i32) {
        let mut all = vec![(Knob::StemBoost, "0.4"), (Knob::StemPrefixBoost, "0.2")];
        all.extend(set);
        let added = Example::of(&[path]).added(&STAGE, &query(text), &knobs(&all));
        assert_eq!(added, [expected], "{text:?} in {path}");
    }

    #[test]
    fn stems_match_by_their_parts() {
        for (text, path, expected) in [
            ("parse request", "a/parseRequest.ts", 40),
            ("parse request", "a/requests.py", 40),
            ("dependency graph", "dependencies.rs", 40),
            ("authentication", "auth.go", 20),
            ("how to get it", "get.go", 40),
            ("how to do it", "to.go", 0),
            ("parse request", "router.go", 0),
            ("myfunc", "my_func.py", 40),
            ("rate limit", "ratelimit.go", 40),
            ("of the to", "ofthe.go", 40),
        ] {
            check(&[], text, path, expected);
        }
    }

    #[test]
    fn switches_bring_back_whole_stems_and_stop_words() {
        check(&[(Knob::StemPluralSnake, "0")], "parse request", "a/parse_request.ts", 20);
        check(&[(Knob::StemPluralSnake, "0")], "the router", "router.ts", 40);
        check(&[(Knob::StemStopwords, "0")], "how to do it", "to.go", 40);
    }
}
