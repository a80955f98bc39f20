//! How much of a file's name the query explains, and how much of the query the name explains.

use super::fused::Fused;
use super::retrieved::{FileFacts, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use super::stem::share_beginning;
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// Graded stem evidence.
pub const STAGE: Stage = Stage {
    name: "stem_share",
    doc: "A stem that the query explains wholly says more than one that shares a word; a stem such as mod or index speaks by its folder, −er and −or fold onto the verb, the project's own name says nothing.",
    source: "prototype: stem features +.044",
    knobs: &[
        Knob::StemShareBoost,
        Knob::StemFullBoost,
        Knob::StemAgreementBoost,
        Knob::StemPrefixShareBoost,
        Knob::StemJoinedBoost,
    ],
    doubted: true,
    prepare: Prepare::by(signals),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let knobs = input.knobs;
    let weights = [
        knobs.stem_share_boost,
        knobs.stem_agreement_boost,
        knobs.stem_full_boost,
        knobs.stem_prefix_share_boost,
        knobs.stem_joined_boost,
    ];
    input.add_signals(fused, weights);
}

/// The signals of each file, in the order of the weights in [`apply`].
fn signals(query: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    let is_topic = |t: &String| query.topic_terms.contains(t);
    let known: f32 = query
        .topic_terms
        .iter()
        .filter(|t| retrieved.topic_frequency.get(*t).is_some_and(|n| *n > 0))
        .map(|t| retrieved.topic_idf(t))
        .sum();
    let of_file = |file: &FileFacts| {
        let topic = &file.path_facts.topic_terms;
        let total: f32 = topic.iter().map(|t| retrieved.topic_idf(t)).sum();
        let matched: f32 = topic.iter().filter(|t| is_topic(t)).map(|t| retrieved.topic_idf(t)).sum();
        let precision = if total > 0.0 { matched / total } else { 0.0 };
        let mut distinct: Vec<&String> = topic.iter().filter(|t| is_topic(t)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let found: f32 = distinct.iter().map(|t| retrieved.topic_idf(t)).sum();
        let recall = if known > 0.0 { found / known } else { 0.0 };
        [
            precision,
            precision * recall,
            f32::from(u8::from(explains_all(query, file))),
            best_prefix(query, topic) / topic.len().max(1) as f32,
            f32::from(u8::from(is_joined(query, file))),
        ]
    };
    Signals::PerFile(retrieved.files.iter().flat_map(of_file).collect())
}

fn explains_all(query: &Query, file: &FileFacts) -> bool {
    let has = |term: &String| query.terms.iter().any(|t| !t.stop && t.text == *term);
    !file.path_facts.stem_parts.is_empty() && file.path_facts.stem_parts.iter().all(has)
}

/// Greatest length ratio of a stem's term and a query's term, one of which begins with the other.
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
    let whole = || file.path_facts.stem.to_lowercase();
    query.joined_words.contains(&file.path_facts.stem_joined) || query.joined_words.contains(whole().trim_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    fn check(knob: Knob, text: &str, paths: &[&str], expected: &[i32]) {
        let mut set: Vec<(Knob, &str)> = STAGE.knobs.iter().map(|k| (*k, "0")).collect();
        set.push((knob, "1"));
        let added = Example::of(paths).added(&STAGE, &query(text), &knobs(&set));
        assert_eq!(added, expected, "{} for {text:?}", knob.name());
    }

    #[test]
    fn each_signal_alone() {
        // The terms' frequencies are equal in these pools, so shares are plain fractions.
        check(Knob::StemShareBoost, "parse request", &["request.go", "request_log.go", "log.go"], &[100, 50, 0]);
        check(Knob::StemShareBoost, "the parser", &["parse.go", "parsing/mod.rs"], &[100, 100]);
        check(
            Knob::StemFullBoost,
            "parse request body",
            &["request.go", "parse_request.go", "parse_header.go"],
            &[100, 100, 0],
        );
        check(Knob::StemAgreementBoost, "request body", &["request_body.go", "request.go"], &[100, 48]);
        check(Knob::StemPrefixShareBoost, "authentication", &["auth.go", "auth_token.go"], &[57, 29]);
        check(Knob::StemJoinedBoost, "rate limit middleware", &["ratelimit.go", "rate.go"], &[100, 0]);
    }

    #[test]
    fn files_without_a_topic_of_the_query_need_no_frequencies() {
        let set: Vec<(Knob, &str)> = STAGE.knobs.iter().map(|knob| (*knob, "1")).collect();
        let query = query("parse request");
        let paths = ["request.go", "request_log.go", "log_socket.go", "parsing/queue.go", "pars.go"];
        let (mut whole, mut less) = (Example::of(&paths), Example::of(&paths));
        let of_query = |terms: &[String]| terms.iter().any(|term| query.topic_terms.contains(term));
        let needed: Vec<String> = less
            .retrieved
            .files
            .iter()
            .map(|file| file.path_facts.topic_terms.clone())
            .collect::<Vec<_>>()
            .into_iter()
            .filter(|terms| of_query(terms))
            .flatten()
            .collect();
        less.retrieved.topic_frequency.retain(|term, _| needed.contains(term));
        assert!(less.retrieved.topic_frequency.len() < whole.retrieved.topic_frequency.len());
        whole.apply(&STAGE, &query, &knobs(&set));
        less.apply(&STAGE, &query, &knobs(&set));
        assert_eq!(whole.fused, less.fused);
    }

    #[test]
    fn the_projects_name_is_no_topic() {
        check(Knob::StemShareBoost, "project router", &["project.go", "router.go"], &[0, 100]);
        check(Knob::StemShareBoost, "project", &["project.go"], &[100]);
    }
}
