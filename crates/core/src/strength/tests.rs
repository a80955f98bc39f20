//! The strength of files, by examples.

use super::*;
use crate::collapse::{PerFile, collapse};
use crate::fuse::{Evidence, Ranking};
use crate::knob::Profile;
use crate::query::intents::Pointer;
use crate::rank::testing::{Example, query};
use crate::rank::{NamedDefinition, Ranked};
use crate::unit::UnitKind;

/// The strengths of two files, the first of which contains all of the query's words.
fn of(text: &str, prepare: impl Fn(&mut Example)) -> Vec<f32> {
    let mut example = Example::with_units(&["src/a.rs", "src/b.rs"], &[(0, 0, 1.4), (1, 1, 0.3)]);
    let hits = |scores: [f32; 2]| scores.iter().zip(0..).map(|(s, doc)| (UnitId::new(0, doc), *s)).collect();
    example.retrieved.rankings = vec![
        Ranking { retriever: Retriever::Lexical, hits: hits([20.0, 3.0]) },
        Ranking { retriever: Retriever::Semantic, hits: hits([12.0, 6.0]) },
    ];
    example.retrieved.files_total = 100;
    example.retrieved.evidence = Evidence {
        words: 3,
        known: 1.0,
        mass: 12.0,
        likeness: 20.0,
        strength: 0.6,
        coverage: 1.0,
        ..Evidence::default()
    };
    prepare(&mut example);
    let (knobs, query) = (Knobs::of(Profile::Default), query(text));
    let ranked = Ranked::new(&example.retrieved, &example.fused);
    let hits = collapse(&ranked, 9, PerFile::Units(1));
    let held = [(1.0, Tokens::All), (0.2, Tokens::Nothing)].map(|(share, tokens)| HeldWeight {
        file: share,
        unit: share,
        tokens,
    });
    let given = GivenFiles { query: &query, knobs: &knobs, retrieved: &example.retrieved, hits: &hits, held: &held };
    strengths(&given)
}

#[test]
fn what_holds_the_query_is_strong_and_the_rest_weak() {
    let strengths = of("parse request body", |_| {});
    assert!(strengths[0] > RULE && strengths[1] == FLOOR, "{strengths:?}");
    let unknown = of("parse request body", |example| {
        (example.retrieved.evidence.known, example.retrieved.evidence.strength) = (0.2, 0.1);
        example.retrieved.rankings[0].hits.clear();
    });
    assert!(unknown[0] < strengths[0], "{unknown:?}");
}

#[test]
fn what_defines_the_name_that_is_asked_for_is_likely_right_in_any_case() {
    let defined = |text| {
        of(text, |example| {
            let (unit, kind, role) = (UnitId::new(0, 1), UnitKind::Class, UnitRole::Definition);
            let definition = NamedDefinition { identifier: 0, unit, kind, role, exact_case: false };
            example.retrieved.files[1].definitions = vec![definition];
        })[1]
    };
    assert!(defined("socket") >= RULE, "{}", defined("socket"));
    assert!(defined("where a socket is opened") < RULE, "it is one word of several");
}

#[test]
fn what_is_pointed_at_or_named_is_never_cut() {
    for certainty in [Certainty::Run, Certainty::Words, Certainty::Exact, Certainty::Location] {
        let strengths = of("parse request body", |example| {
            example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 1.0, line: 1 });
        });
        assert!(strengths[1] >= 0.9, "{certainty:?}");
    }
    let named = |share| of("parse in b.rs", |example| example.retrieved.files[1].mentioned = share)[1];
    assert!(named(1.0) >= 0.9 && named(0.5) < 0.9 && named(0.01) >= FLOOR);
}

#[test]
fn tokens_are_held_or_not() {
    let strengths = of("MAX_LEN", |_| {});
    assert_eq!(strengths, [HOLDS_THE_TOKEN, strengths[1].min(LACKS_THE_TOKEN)]);
    assert!(strengths[1] < FLOOR);
    let meaning = of("MAX_LEN", |example| drop(example.retrieved.rankings.remove(0)));
    assert!(meaning[0] != HOLDS_THE_TOKEN, "tokens do not decide a semantic search: {meaning:?}");
}

#[test]
fn a_place_with_all_words_of_a_piece_of_code_keeps_its_strength() {
    let at = |text, certainty| {
        of(text, |example| {
            example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 0.9, line: 1 });
        })[1]
    };
    for (text, expected) in [
        ("Arg::new('unbuffered')", 0.95),
        ("stats.fetch(:booted_workers,1)", 0.95),
        ("Session.get", HOLDS_A_PART),
        ("1.2.3", LACKS_THE_TOKEN),
        ("E0502", LACKS_THE_TOKEN),
        ("MAX_LEN", LACKS_THE_TOKEN),
    ] {
        let strength = at(text, Certainty::Words);
        assert!(strength == expected || (expected == LACKS_THE_TOKEN && strength < expected), "{text}: {strength}");
    }
    assert!(at("Arg::new('unbuffered')", Certainty::Run) < FLOOR, "a part of it is not it");
}

#[test]
fn a_text_holds_tokens_whole_in_part_or_not() {
    for (tokens, text, expected) in [
        ("MAX_LEN", "const max_len: u8 = 1;", Tokens::All),
        ("MAX_LEN", "MAX_LENGTH", Tokens::Part),
        ("MISCONF", "misconfigured", Tokens::Inside),
        ("max_open_files", "max-open-files: 3", Tokens::Part),
        ("aria_label", "ariaLabel", Tokens::Part),
        ("inet6", "AF_INET6", Tokens::Part),
        ("E0502 E0499", "E05021", Tokens::Part),
        ("A_B NAME", "named", Tokens::Inside),
        ("1.2.3", "1, 2, 3", Tokens::Nothing),
        ("stripe.api.key", "STRIPE_API_KEY", Tokens::Part),
        ("stripe.api.key", "the Stripe API key", Tokens::Nothing),
        ("E0502 E0499", "E0502", Tokens::Part),
        ("E0502 E0499", "E0499 and E0502", Tokens::All),
    ] {
        let tokens: Vec<String> = tokens.split(' ').map(String::from).collect();
        assert_eq!(Tokens::held("a.rs", text, &tokens), expected, "{tokens:?} in {text:?}");
    }
    for (token, expected) in [
        ("app.routing.base", Tokens::All),
        ("routing::base", Tokens::All),
        ("base.py", Tokens::All),
        ("outing.base", Tokens::Nothing),
    ] {
        assert_eq!(Tokens::held("app/routing/base.py", "", &[token.to_string()]), expected, "{token}");
    }
}

#[test]
fn what_holds_all_words_or_belongs_to_the_reader_is_never_below_the_floor() {
    let weak = |example: &mut Example| {
        example.retrieved.evidence.known = 0.0;
        example.retrieved.rankings.clear();
    };
    assert!(of("parse request body", weak)[0] >= FLOOR);
    let near = of("parse request body", |example| {
        weak(example);
        example.retrieved.files[1].context.imported = 0.5;
    });
    assert!(near[1] >= FLOOR, "{near:?}");
}

#[test]
fn a_strength_is_a_chance() {
    for text in ["parse", "parse request", "Router"] {
        assert!(of(text, |_| {}).iter().all(|s| (0.0..=1.0).contains(s)), "{text}");
    }
}
