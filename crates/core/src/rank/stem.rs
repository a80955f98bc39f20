//! A file whose name holds a word of the query.

use std::collections::HashSet;

use super::{FileFacts, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;
use crate::token::is_stop_word;

const SOURCE: &str = "semble's stem boost, as in ColGREP pull request 99; default: prototype";

static STEM_BOOST: Knob = Knob {
    env: "COLGREP_STEM_BOOST",
    doc: "Added when a word of the query is a part of the file's stem.",
    default: 0.133,
    classic: 0.40,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.07, 0.133, 0.2, 0.4],
    source: SOURCE,
};

static STEM_PREFIX_BOOST: Knob = Knob {
    env: "COLGREP_STEM_PREFIX_BOOST",
    doc: "Added instead when a word of the query begins like a part of the stem (three letters and more).",
    default: 0.067,
    classic: 0.20,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.033, 0.067, 0.133, 0.2],
    source: SOURCE,
};

static STOPWORDS: Knob = Knob {
    env: "COLGREP_STEM_STOPWORDS",
    doc: "1: stop words of the query never match a stem.",
    default: 1.0,
    classic: 1.0,
    shape: Shape::Switch,
    range: (0.0, 1.0),
    grid: &[0.0, 1.0],
    source: SOURCE,
};

static PLURAL_SNAKE: Knob = Knob {
    env: "COLGREP_STEM_PLURAL_SNAKE",
    doc: "1: stems are compared by their parts in word-stem form (requests.py for request); 0: whole and as written.",
    default: 1.0,
    classic: 1.0,
    shape: Shape::Switch,
    range: (0.0, 1.0),
    grid: &[0.0, 1.0],
    source: SOURCE,
};

/// The published stem boost, on words split before they are lower-cased.
pub const STAGE: Stage = Stage {
    name: "path_stem_boost",
    doc: "Files are named after what they do: a query word in the stem is strong evidence, a shared beginning weaker.",
    source: SOURCE,
    knobs: &[&STEM_BOOST, &STEM_PREFIX_BOOST, &STOPWORDS, &PLURAL_SNAKE],
    by_words: true,
    apply,
};

fn apply(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    let (hit, prefix) = (knobs.get(&STEM_BOOST), knobs.get(&STEM_PREFIX_BOOST));
    let by_parts = knobs.is_on(&PLURAL_SNAKE);
    let no_stop_words = knobs.is_on(&STOPWORDS);
    let variant = 2 * usize::from(by_parts) + usize::from(no_stop_words);
    let matches = pool.once((STAGE.name, variant), |pool| matches(query, pool, by_parts, no_stop_words));
    pool.add_signals(&matches, [hit, prefix]);
}

/// For each file, whether a word of the query is in the stem; and, if none, whether one begins alike.
fn matches(query: &Query, pool: &Pool, by_parts: bool, no_stop_words: bool) -> Vec<f32> {
    let terms: HashSet<&str> = match by_parts {
        true => query.terms.iter().filter(|t| !(no_stop_words && t.stop)).map(|t| t.text.as_str()).collect(),
        false => query.words.iter().map(String::as_str).filter(|w| !(no_stop_words && is_stop_word(w))).collect(),
    };
    let of_file = |file: &FileFacts| {
        let stem: Vec<&str> = stem_terms(file, by_parts);
        if stem.iter().any(|s| terms.contains(s)) {
            [1.0, 0.0]
        } else {
            let begins_alike = stem.iter().any(|s| terms.iter().any(|t| share_beginning(s, t)));
            [0.0, f32::from(u8::from(begins_alike))]
        }
    };
    pool.files.iter().flat_map(of_file).collect()
}

fn stem_terms(file: &FileFacts, by_parts: bool) -> Vec<&str> {
    match by_parts {
        true => file.facts.stem_terms.iter().map(String::as_str).collect(),
        false => vec![file.facts.stem_joined.as_str()],
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
    use crate::rank::testing::{added, knobs, pool, query};

    fn check(set: &[(&Knob, &str)], text: &str, path: &str, expected: i32) {
        let mut all = vec![(&STEM_BOOST, "0.4"), (&STEM_PREFIX_BOOST, "0.2")];
        all.extend(set);
        let got = added(&STAGE, &query(text), &knobs(&all), &mut pool(&[path]));
        assert_eq!(got, [expected], "{text:?} in {path}");
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
        ] {
            check(&[], text, path, expected);
        }
    }

    #[test]
    fn switches_bring_back_whole_stems_and_stop_words() {
        check(&[(&PLURAL_SNAKE, "0")], "parse request", "a/parse_request.ts", 20);
        check(&[(&PLURAL_SNAKE, "0")], "the router", "router.ts", 40);
        check(&[(&STOPWORDS, "0")], "how to do it", "to.go", 40);
    }
}
