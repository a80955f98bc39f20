//! How much of a file's name the query explains, and how much of the query the name.

use super::stem::share_beginning;
use super::{FileFacts, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

const SOURCE: &str = "prototype: stem features together +.044 (docs/ranking.md)";

macro_rules! knob {
    ($id:ident, $env:literal, $doc:literal, $default:expr) => {
        static $id: Knob = Knob {
            env: $env,
            doc: $doc,
            default: $default,
            classic: 0.0,
            shape: Shape::Real,
            range: (0.0, 5.0),
            grid: &[0.0, 0.067, 0.1, 0.133, 0.2, 0.267, 0.333],
            source: SOURCE,
        };
    };
}

knob!(
    SHARE,
    "COLGREP_STEM_SHARE_BOOST",
    "Times the idf-weighted share of the stem's terms that the query holds.",
    0.267
);
knob!(FULL, "COLGREP_STEM_FULL_BOOST", "Added when the query holds every part of the stem.", 0.067);
knob!(
    AGREEMENT,
    "COLGREP_STEM_AGREEMENT_BOOST",
    "Times the product of the stem's share in the query and the query's share in the stem.",
    0.1
);
knob!(
    PREFIX_SHARE,
    "COLGREP_STEM_PREFIX_SHARE_BOOST",
    "Times the length ratio of the best shared beginning, over the number of the stem's terms.",
    0.267
);
knob!(
    JOINED,
    "COLGREP_STEM_JOINED_BOOST",
    "Added when neighbouring words of the query, written as one, are the stem.",
    0.267
);

/// Graded stem evidence.
pub const STAGE: Stage = Stage {
    name: "stem_share",
    doc: "A stem that the query explains wholly says more than one that shares a word; a stem such as mod or index speaks by its folder, −er and −or fold onto the verb, the project's own name says nothing.",
    source: SOURCE,
    knobs: &[&SHARE, &FULL, &AGREEMENT, &PREFIX_SHARE, &JOINED],
    by_words: true,
    apply,
};

fn apply(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    let signals = pool.once((STAGE.name, 0), |pool| signals(query, pool));
    pool.add_signals(&signals, [&SHARE, &AGREEMENT, &FULL, &PREFIX_SHARE, &JOINED].map(|k| knobs.get(k)));
}

/// For each file, what the knobs weigh, in the order of [`apply`].
fn signals(query: &Query, pool: &Pool) -> Vec<f32> {
    let is_topic = |t: &String| query.topic_terms.contains(t);
    let known: f32 = query
        .topic_terms
        .iter()
        .filter(|t| pool.topic_frequency.get(*t).is_some_and(|n| *n > 0))
        .map(|t| pool.topic_idf(t))
        .sum();
    let of_file = |file: &FileFacts| {
        let topic = &file.facts.topic_terms;
        let total: f32 = topic.iter().map(|t| pool.topic_idf(t)).sum();
        let matched: f32 = topic.iter().filter(|t| is_topic(t)).map(|t| pool.topic_idf(t)).sum();
        let precision = if total > 0.0 { matched / total } else { 0.0 };
        let mut distinct: Vec<&String> = topic.iter().filter(|t| is_topic(t)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let found: f32 = distinct.iter().map(|t| pool.topic_idf(t)).sum();
        let recall = if known > 0.0 { found / known } else { 0.0 };
        [
            precision,
            precision * recall,
            f32::from(u8::from(explains_all(query, file))),
            best_prefix(query, topic) / topic.len().max(1) as f32,
            f32::from(u8::from(is_joined(query, file))),
        ]
    };
    pool.files.iter().flat_map(of_file).collect()
}

fn explains_all(query: &Query, file: &FileFacts) -> bool {
    let has = |term: &String| query.terms.iter().any(|t| !t.stop && t.text == *term);
    !file.facts.stem_parts.is_empty() && file.facts.stem_parts.iter().all(has)
}

/// Length ratio of the best pair of a stem's term and a query's term of which one begins with the other.
fn best_prefix(query: &Query, topic: &[String]) -> f32 {
    let mut best = 0.0f32;
    for own in topic.iter().filter(|t| !query.topic_terms.contains(t)) {
        for term in &query.topic_terms {
            if share_beginning(own, term) {
                best = best.max(own.len().min(term.len()) as f32 / own.len().max(term.len()) as f32);
            }
        }
    }
    best
}

fn is_joined(query: &Query, file: &FileFacts) -> bool {
    let whole = file.facts.stem.to_lowercase();
    query.joined_words.contains(&file.facts.stem_joined) || query.joined_words.contains(whole.trim_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};

    fn check(knob: &Knob, text: &str, paths: &[&str], expected: &[i32]) {
        let mut set: Vec<(&Knob, &str)> =
            [&SHARE, &FULL, &AGREEMENT, &PREFIX_SHARE, &JOINED].map(|k| (k, "0")).to_vec();
        set.push((knob, "1"));
        assert_eq!(added(&STAGE, &query(text), &knobs(&set), &mut pool(paths)), expected, "{} for {text:?}", knob.env);
    }

    #[test]
    fn each_signal_alone() {
        // The terms' frequencies are equal in these pools, so shares are plain fractions.
        check(&SHARE, "parse request", &["request.go", "request_log.go", "log.go"], &[100, 50, 0]);
        check(&SHARE, "the parser", &["parse.go", "parsing/mod.rs"], &[100, 100]);
        check(&FULL, "parse request body", &["request.go", "parse_request.go", "parse_header.go"], &[100, 100, 0]);
        check(&AGREEMENT, "request body", &["request_body.go", "request.go"], &[100, 48]);
        check(&PREFIX_SHARE, "authentication", &["auth.go", "auth_token.go"], &[57, 29]);
        check(&JOINED, "rate limit middleware", &["ratelimit.go", "rate.go"], &[100, 0]);
    }

    #[test]
    fn the_projects_name_is_no_topic() {
        check(&SHARE, "project router", &["project.go", "router.go"], &[0, 100]);
        check(&SHARE, "project", &["project.go"], &[100]);
    }
}
