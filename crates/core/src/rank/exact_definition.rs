//! The file that defines a name which the query holds.

use std::collections::HashMap;

use super::{FileFacts, NamedDefinition, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::path::joined;
use crate::query::{Identifier, Query};
use crate::unit::{UnitId, UnitKind, UnitRole};

const SOURCE: &str = "prototype: exact definitions together +.0115 (docs/ranking.md)";
/// Weight of a definition whose upper and lower case differ from the query's. Prototype.
const OTHER_CASE: f32 = 0.8;

macro_rules! knob {
    ($id:ident, $env:literal, $doc:literal, $default:expr) => {
        static $id: Knob = Knob {
            env: $env,
            doc: $doc,
            default: $default,
            classic: 0.0,
            shape: Shape::Real,
            range: (0.0, 5.0),
            grid: &[0.0, 0.133, 0.2, 0.267, 0.333, 0.5, 0.667, 1.0],
            source: SOURCE,
        };
    };
}

knob!(
    SYMBOL_TYPE,
    "COLGREP_SYMBOL_TYPE_BOOST",
    "Query is one name: added where a type of that name is defined.",
    0.667
);
knob!(
    SYMBOL_FUNCTION,
    "COLGREP_SYMBOL_FUNCTION_BOOST",
    "Query is one name: added where a function of that name is defined.",
    0.667
);
knob!(
    SYMBOL_CONSTANT,
    "COLGREP_SYMBOL_CONSTANT_BOOST",
    "Query is one name: added where a constant or field of that name is defined.",
    0.0
);
knob!(SYMBOL_STEM, "COLGREP_SYMBOL_STEM_BOOST", "Query is one name: added to the file named so.", 0.333);
knob!(
    NAME_TYPE,
    "COLGREP_NAME_TYPE_BOOST",
    "A name inside a sentence: added where a type of that name is defined.",
    0.2
);
knob!(
    NAME_FUNCTION,
    "COLGREP_NAME_FUNCTION_BOOST",
    "A name inside a sentence: added where a function or constant of that name is defined.",
    0.2
);
knob!(NAME_STEM, "COLGREP_NAME_STEM_BOOST", "A name inside a sentence: added to the file named so.", 0.2);
knob!(
    TEXTUAL_TYPE,
    "COLGREP_TEXTUAL_TYPE_BOOST",
    "Added where the text defines a type of that name, whatever the grammar made of it.",
    0.133
);
knob!(
    WORD,
    "COLGREP_WORD_DEFINITION_BOOST",
    "A plain word that names one of n ≤ 6 definitions: added times 1/√n.",
    0.267
);

static KNOBS: [&Knob; 9] = [
    &SYMBOL_TYPE,
    &SYMBOL_FUNCTION,
    &SYMBOL_CONSTANT,
    &SYMBOL_STEM,
    &NAME_TYPE,
    &NAME_FUNCTION,
    &NAME_STEM,
    &TEXTUAL_TYPE,
    &WORD,
];

/// Boosts the files that define the query's names.
pub const STAGE: Stage = Stage {
    name: "exact_definition",
    doc: "Who types a name looks for its definition; a name inside a sentence, or a plain word that few definitions bear, is a weaker form of the same.",
    source: SOURCE,
    knobs: &KNOBS,
    doubted: true,
    apply,
};

#[derive(Default)]
struct Evidence {
    types: f32,
    functions: f32,
    constants: f32,
    stem: f32,
}

fn apply(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    let signals = pool.once((STAGE.name, 0), |pool| pool.files.iter().flat_map(|f| signals(query, f)).collect());
    pool.add_signals(&signals, KNOBS.map(|k| knobs.get(k)));
    if query.is_symbol() && [&SYMBOL_TYPE, &SYMBOL_FUNCTION, &SYMBOL_CONSTANT].iter().any(|k| knobs.get(k) > 0.0) {
        lead(pool);
    }
}

/// Puts the unit that defines the name before the others of its file: it takes the score of the file's best unit, and
/// each of those that stood before it that of the next. The file keeps its score.
fn lead(pool: &mut Pool) {
    // Of several definitions the one in the query's own case leads, then a type, then the first.
    let rank = |d: &NamedDefinition| (!d.exact_case, d.kind != UnitKind::Class, d.unit);
    let leading = |file: &FileFacts| {
        let defined = file.definitions.iter().filter(|d| d.role == UnitRole::Definition);
        defined.min_by_key(|d| rank(d)).map(|d| d.unit)
    };
    let leaders: HashMap<usize, UnitId> =
        pool.files.iter().enumerate().filter_map(|(i, file)| Some((i, leading(file)?))).collect();
    let mut of_file: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, candidate) in pool.candidates.iter().enumerate().filter(|(_, c)| leaders.contains_key(&c.file)) {
        of_file.entry(candidate.file).or_default().push(i);
    }
    for (file, mut units) in of_file {
        let candidates = &mut pool.candidates;
        units.sort_by(|a, b| {
            let (a, b) = (&candidates[*a], &candidates[*b]);
            b.score.total_cmp(&a.score).then_with(|| a.place().cmp(&b.place()))
        });
        let Some(at) = units.iter().position(|i| candidates[*i].unit == leaders[&file]) else { continue };
        let scores: Vec<f32> = units[..=at].iter().map(|i| candidates[*i].score).collect();
        for (i, score) in units[..at].iter().zip(&scores[1..]) {
            candidates[*i].score = *score;
        }
        // Ahead of a unit above it that has the same score.
        candidates[units[at]].score = if at > 0 { scores[0].next_up() } else { scores[0] };
    }
}

/// What the knobs weigh, in the order of [`KNOBS`].
fn signals(query: &Query, file: &FileFacts) -> [f32; 9] {
    let mut symbol = Evidence::default();
    let mut inside = Evidence::default();
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

fn gather(i: usize, identifier: &Identifier, file: &FileFacts, evidence: &mut Evidence) {
    for definition in file.definitions.iter().filter(|d| d.identifier == i && d.role == UnitRole::Definition) {
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
    let stem = &file.facts.stem_joined;
    if *stem == name || stem.strip_suffix('s') == Some(&name) {
        evidence.stem = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::Profile;
    use crate::rank::testing::{added, candidate, knobs, pool, query};

    fn check(text: &str, path: &str, kind: UnitKind, role: UnitRole, exact_case: bool, expected: i32) {
        let mut p = pool(&[path]);
        let unit = UnitId::default();
        p.files[0].definitions.push(NamedDefinition { identifier: 0, unit, kind, role, exact_case });
        let set: Vec<(&Knob, &str)> =
            STAGE.knobs.iter().copied().zip(["1", "0.9", "0.8", "0.5", "0.3", "0.2", "0.1", "0", "0"]).collect();
        assert_eq!(added(&STAGE, &query(text), &knobs(&set), &mut p), [expected], "{text:?} in {path}");
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
            let mut p = pool(&["a.go", "b.go"]);
            p.candidates = [(1, 0, 0.9), (2, 0, 0.7), (3, 0, 0.5), (4, 0, 0.5), (5, 1, 0.8), (6, 0, 0.2)]
                .map(|(unit, file, score)| candidate(unit, file, score))
                .to_vec();
            p.files[0].definitions = definitions.to_vec();
            p.files[1].definitions = definitions.to_vec();
            (STAGE.apply)(&query(text), &Knobs::of(profile), &mut p);
            p.sort();
            p.candidates.iter().map(|c| c.unit.doc()).collect::<Vec<_>>()
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
    fn a_plain_word_counts_only_in_a_sentence() {
        for (text, expected) in [("find the mixer", 50), ("mixer", 0)] {
            let mut p = pool(&["a.go"]);
            p.files[0].word_definitions = 0.5;
            let set = [(&WORD, "1"), (&SYMBOL_STEM, "0")];
            assert_eq!(added(&STAGE, &query(text), &knobs(&set), &mut p), [expected]);
        }
    }
}
