//! Candidates from a few words, for the stages' tables of examples.

use std::sync::Arc;

use super::{Candidate, FileFacts, Fused, Retrieved, Stage, StageInput, apply};
use crate::knob::{Knob, Knobs, Profile};
use crate::language::LanguageFacts;
use crate::path::PathFacts;
use crate::query::Query;
use crate::spelling::NameFit;
use crate::tag::Matched;
use crate::token::Tokenizer;
use crate::unit::{UnitId, UnitKind, UnitRole};

/// Candidates with scores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Example {
    pub(crate) retrieved: Retrieved,
    pub(crate) fused: Fused,
}

impl Example {
    /// One function unit of score 0.5 in each of `paths`, in a project of 1000 files.
    pub(crate) fn of(paths: &[&str]) -> Example {
        let mut tokenizer = Tokenizer::default();
        let mut example =
            Example { retrieved: Retrieved { files_total: 1000, ..Retrieved::default() }, fused: Fused::default() };
        for (i, path) in paths.iter().enumerate() {
            let path_facts = Arc::new(PathFacts::new(path, &LanguageFacts::sample(), &mut tokenizer));
            for term in &path_facts.topic_terms {
                *example.retrieved.topic_frequency.entry(term.clone()).or_default() += 1;
            }
            example.retrieved.files.push(FileFacts { path: (*path).to_string(), path_facts, ..FileFacts::default() });
            example.fused.file_scores.push(0.0);
            example.add(i as u32, i, 0.5);
        }
        example
    }

    /// An example with just these units, as (number, file, score).
    pub(crate) fn with_units(paths: &[&str], units: &[(u32, usize, f32)]) -> Example {
        let mut example = Example::of(paths);
        example.retrieved.candidates.clear();
        example.fused.scores.clear();
        for (unit, file, score) in units {
            example.add(*unit, *file, *score);
        }
        example
    }

    pub(crate) fn add(&mut self, unit: u32, file: usize, score: f32) {
        let (kind, role) = (UnitKind::Function, UnitRole::Definition);
        self.retrieved.candidates.push(Candidate {
            unit: UnitId::new(0, unit),
            file,
            kind,
            role,
            line: 1,
            end: 1,
            compared: None,
            name_hit: false,
            fit: NameFit::default(),
            pointer: None,
            hinted: Matched::default(),
        });
        self.fused.scores.push(score);
    }

    pub(crate) fn apply(&mut self, stage: &Stage, query: &Query, knobs: &Knobs) {
        let signals = (stage.prepare.signals)(query, knobs, &self.retrieved);
        apply(stage, &StageInput { query, knobs, retrieved: &self.retrieved, signals: &signals }, &mut self.fused);
    }

    /// Runs one stage and returns how much each candidate's score changed, in hundredths.
    pub(crate) fn added(&mut self, stage: &Stage, query: &Query, knobs: &Knobs) -> Vec<i32> {
        let before = self.fused.scores.clone();
        self.apply(stage, query, knobs);
        self.fused.scores.iter().zip(before).map(|(score, old)| ((score - old) * 100.0).round() as i32).collect()
    }

    pub(crate) fn score(&self, unit: u32) -> f32 {
        let at = self.retrieved.candidates.iter().position(|c| c.unit.doc() == unit);
        self.fused.scores[at.expect("a unit of the example")]
    }
}

pub(crate) fn query(text: &str) -> Query {
    Query::new(text, "/src/project", &LanguageFacts::sample(), &mut Tokenizer::default())
}

/// The default profile with some knobs set.
pub(crate) fn knobs(set: &[(Knob, &str)]) -> Knobs {
    let mut values = Knobs::of(Profile::Default);
    for (knob, value) in set {
        values.set(*knob, value).expect("a value of the knob");
    }
    values
}
