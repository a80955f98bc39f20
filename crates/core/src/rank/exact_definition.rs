//! The file that defines a name in the query.

use rustc_hash::FxHashMap;

use super::fused::Fused;
use super::retrieved::{Candidate, FileFacts, NamedDefinition, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::path::joined;
use crate::query::{Identifier, Query};
use crate::unit::{UnitId, UnitKind};

/// Weight of a definition whose case differs from the query's. Prototype.
const OTHER_CASE: f32 = 0.8;

/// Boosts the files that define the query's names.
pub const STAGE: Stage = Stage {
    name: "exact_definition",
    doc: "Who types a name looks for its definition; a name inside a sentence, or a plain word that few definitions bear, is a weaker form of the same.",
    source: "prototype: exact definitions +.0115",
    knobs: &[
        Knob::SymbolTypeBoost,
        Knob::SymbolFunctionBoost,
        Knob::SymbolConstantBoost,
        Knob::SymbolStemBoost,
        Knob::NameTypeBoost,
        Knob::NameFunctionBoost,
        Knob::NameStemBoost,
        Knob::TextualTypeBoost,
        Knob::WordDefinitionBoost,
    ],
    doubted: true,
    prepare: Prepare::by(signals),
    apply,
};

#[derive(Default)]
struct DefinitionEvidence {
    types: f32,
    functions: f32,
    constants: f32,
    stem: f32,
}

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let knobs = input.knobs;
    let symbol = [knobs.symbol_type_boost, knobs.symbol_function_boost, knobs.symbol_constant_boost];
    let weights = [
        symbol[0],
        symbol[1],
        symbol[2],
        knobs.symbol_stem_boost,
        knobs.name_type_boost,
        knobs.name_function_boost,
        knobs.name_stem_boost,
        knobs.textual_type_boost,
        knobs.word_definition_boost,
    ];
    input.add_signals(fused, weights);
    if symbol.iter().all(|boost| *boost <= 0.0) {
        return;
    }
    let before = fused.scores.clone();
    lead(input.retrieved, input.query.is_symbol(), &mut fused.scores);
    // Doubt reduces a file's boosts, not the order of its units: add in advance what the runner will take back.
    if fused.doubt > 0.0 && fused.doubt < 1.0 {
        let kept = 1.0 - fused.doubt;
        for (score, old) in fused.scores.iter_mut().zip(before).filter(|(score, old)| **score != *old) {
            *score = old + (*score - old) / kept;
        }
    }
}

/// Puts the unit that defines the name before the others of its file: it takes the best unit's score, and each unit
/// ahead of it takes the score of the next. The file keeps its score. The name is the query itself or, unless
/// `is_symbol`, its words written as one.
fn lead(retrieved: &Retrieved, is_symbol: bool, scores: &mut [f32]) {
    let candidates: &[Candidate] = &retrieved.candidates;
    // Of several definitions the one in the query's own case leads, then a type, then the first.
    let rank = |d: &NamedDefinition| (!d.exact_case, d.kind != UnitKind::Class, d.unit);
    let leading = |file: &FileFacts| {
        let is_meant = |d: &&NamedDefinition| d.role.defines() && d.is_compound() != is_symbol;
        let defined = file.definitions.iter().filter(is_meant);
        defined.min_by_key(|d| rank(d)).map(|d| d.unit)
    };
    let leaders: FxHashMap<usize, UnitId> =
        retrieved.files.iter().enumerate().filter_map(|(i, file)| Some((i, leading(file)?))).collect();
    let mut of_file: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (i, candidate) in candidates.iter().enumerate().filter(|(_, c)| leaders.contains_key(&c.file)) {
        of_file.entry(candidate.file).or_default().push(i);
    }
    for (file, mut units) in of_file {
        units.sort_by(|&a, &b| {
            scores[b].total_cmp(&scores[a]).then_with(|| candidates[a].tie_order().cmp(&candidates[b].tie_order()))
        });
        let Some(at) = units.iter().position(|i| candidates[*i].unit == leaders[&file]) else { continue };
        let sorted: Vec<f32> = units[..=at].iter().map(|i| scores[*i]).collect();
        // The former best may have the same score as the next: a little less, so that later sums keep the order.
        let behind = sorted[0] - sorted[0].abs() * 1e-5;
        for (i, score) in units[..at].iter().zip(&sorted[1..]) {
            scores[*i] = score.min(behind);
        }
        scores[units[at]] = sorted[0];
    }
}

fn signals(query: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    Signals::PerFile(retrieved.files.iter().flat_map(|file| of_file(query, file)).collect())
}

/// The signals of a file, in the order of the weights in [`apply`].
fn of_file(query: &Query, file: &FileFacts) -> [f32; 9] {
    let mut symbol = DefinitionEvidence::default();
    let mut inside = DefinitionEvidence::default();
    for (i, identifier) in query.identifiers.iter().enumerate() {
        let evidence = if identifier.whole_query { &mut symbol } else { &mut inside };
        gather(i, identifier, file, evidence);
    }
    [
        symbol.types,
        symbol.functions,
        symbol.constants,
        symbol.stem,
        inside.types,
        inside.functions.max(inside.constants),
        inside.stem,
        f32::from(u8::from(!file.textual_types.is_empty())),
        if query.is_symbol() { 0.0 } else { file.word_definitions },
    ]
}

fn gather(i: usize, identifier: &Identifier, file: &FileFacts, evidence: &mut DefinitionEvidence) {
    for definition in file.definitions.iter().filter(|d| d.identifier == i && d.role.defines()) {
        let weight = if definition.exact_case { 1.0 } else { OTHER_CASE };
        let slot = match definition.kind {
            UnitKind::Class => &mut evidence.types,
            UnitKind::Function | UnitKind::Method => &mut evidence.functions,
            UnitKind::Constant => &mut evidence.constants,
            _ => continue,
        };
        *slot = slot.max(weight);
    }
    let name = joined(&identifier.name);
    let stem = &file.path_facts.stem_joined;
    if *stem == name || stem.strip_suffix('s') == Some(&name) {
        evidence.stem = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::Profile;
    use crate::rank::Ranked;
    use crate::rank::testing::{Example, knobs, query};
    use crate::unit::UnitRole;

    fn check(text: &str, path: &str, kind: UnitKind, role: UnitRole, exact_case: bool, expected: i32) {
        let mut example = Example::of(&[path]);
        let definition = NamedDefinition { identifier: 0, unit: UnitId::default(), kind, role, exact_case };
        example.retrieved.files[0].definitions.push(definition);
        let set: Vec<(Knob, &str)> =
            STAGE.knobs.iter().copied().zip(["1", "0.9", "0.8", "0.5", "0.3", "0.2", "0.1", "0", "0"]).collect();
        assert_eq!(example.added(&STAGE, &query(text), &knobs(&set)), [expected], "{text:?} in {path}");
    }

    #[test]
    fn definitions_count_by_kind_role_and_case() {
        use UnitKind::{Class, Constant, Function};
        use UnitRole::{Declaration, Definition, Extension};
        check("Router", "a.go", Class, Definition, true, 100);
        check("Router", "a.go", Class, Definition, false, 80);
        check("Router", "a.go", Class, Extension, true, 0);
        check("Router", "a.go", Function, Declaration, true, 0);
        check("route_all", "a.go", Function, Definition, true, 90);
        check("MAX_LEN", "a.go", Constant, Definition, true, 80);
        check("Router", "routers.go", Class, Definition, true, 150);
        check("how the RouteTable works", "a.go", Class, Definition, true, 30);
        check("how the RouteTable works", "route_table.go", Class, Definition, true, 40);
    }

    #[test]
    fn the_definition_leads_its_file_and_the_file_keeps_its_place() {
        use UnitKind::{Class, Function};
        let definition = |doc, kind, role, exact_case| NamedDefinition {
            identifier: 0,
            unit: UnitId::new(0, doc),
            kind,
            role,
            exact_case,
        };
        let order = |text: &str, definitions: &[NamedDefinition], profile: Profile| {
            let units = [(1, 0, 0.9), (2, 0, 0.7), (3, 0, 0.5), (4, 0, 0.5), (5, 1, 0.8), (6, 0, 0.2)];
            let mut example = Example::with_units(&["a.go", "b.go"], &units);
            example.retrieved.files[0].definitions = definitions.to_vec();
            example.retrieved.files[1].definitions = definitions.to_vec();
            example.apply(&STAGE, &query(text), &Knobs::of(profile));
            let ranked = Ranked::new(&example.retrieved, &example.fused);
            ranked.units.iter().map(|u| u.unit.doc()).collect::<Vec<_>>()
        };
        let types = definition(3, Class, UnitRole::Definition, true);
        assert_eq!(order("Router", &[types], Profile::Default), [3, 5, 1, 2, 4, 6]);
        assert_eq!(order("Router", &[types], Profile::Classic), [1, 5, 2, 3, 4, 6]);
        assert_eq!(order("how the RouteTable works", &[types], Profile::Default), [1, 5, 2, 3, 4, 6]);
        let announced = definition(3, Class, UnitRole::Declaration, true);
        assert_eq!(order("Router", &[announced], Profile::Default), [1, 5, 2, 3, 4, 6]);
        let function = definition(2, Function, UnitRole::Definition, true);
        assert_eq!(order("Router", &[function, types], Profile::Default)[0], 3);
        let other_case = NamedDefinition { exact_case: false, ..types };
        assert_eq!(order("Router", &[function, other_case], Profile::Default)[0], 2);
    }

    #[test]
    fn words_that_are_a_name_together_lead_their_file_whatever_the_doubt() {
        let definition = |doc, kind, identifier| NamedDefinition {
            identifier,
            unit: UnitId::new(0, doc),
            kind,
            role: UnitRole::Definition,
            exact_case: false,
        };
        let method = definition(2, UnitKind::Method, NamedDefinition::COMPOUND);
        let class = definition(3, UnitKind::Class, NamedDefinition::COMPOUND);
        for doubt in [0.0, 0.5, 0.9] {
            let order = |definitions: &[NamedDefinition], profile: Profile| {
                let units = [(1, 0, 0.9), (2, 0, 0.7), (3, 0, 0.3), (4, 1, 0.8)];
                let mut example = Example::with_units(&["a.rb", "b.rb"], &units);
                example.retrieved.files[0].definitions = definitions.to_vec();
                example.fused.doubt = doubt;
                example.apply(&STAGE, &query("thread pool"), &Knobs::of(profile));
                let ranked = Ranked::new(&example.retrieved, &example.fused);
                ranked.units.iter().map(|u| (u.unit.doc(), u.file)).collect::<Vec<_>>()
            };
            assert_eq!(order(&[method, class], Profile::Default), [(3, 0), (4, 1), (1, 0), (2, 0)], "{doubt}");
            assert_eq!(order(&[method], Profile::Default), [(2, 0), (4, 1), (1, 0), (3, 0)], "{doubt}");
            let other = definition(3, UnitKind::Class, 0);
            assert_eq!(order(&[other], Profile::Default), [(1, 0), (4, 1), (2, 0), (3, 0)], "{doubt}");
            assert_eq!(order(&[class], Profile::Classic), [(1, 0), (4, 1), (2, 0), (3, 0)], "{doubt}");
        }
    }

    #[test]
    fn a_plain_word_counts_only_in_a_sentence() {
        for (text, expected) in [("find the mixer", 50), ("mixer", 0)] {
            let mut example = Example::of(&["a.go"]);
            example.retrieved.files[0].word_definitions = 0.5;
            let knobs = knobs(&[(Knob::WordDefinitionBoost, "1"), (Knob::SymbolStemBoost, "0")]);
            assert_eq!(example.added(&STAGE, &query(text), &knobs), [expected]);
        }
    }
}
