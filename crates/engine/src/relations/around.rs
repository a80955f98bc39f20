//! What lies around a unit: the other definitions of its file, and what it calls.

use colgrep_core::{Unit, UnitId, UnitKind};
use colgrep_index::lexical::split_callee;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::relations::graph::{CallGraph, GraphUnit};

/// Definitions and calls of one unit, at most.
const PLACES_MAX: usize = 40;
/// Names with more definitions leave no single one.
const DEFINITIONS_MAX: u64 = 50;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Its file, from the project's root.
    pub path: String,
    /// The other functions, methods and types of its file, nearest first.
    pub defined: Vec<NamedPlace>,
    /// The definitions that it calls, in the order of the names, as far as a name leaves one definition.
    pub called: Vec<NamedPlace>,
}

/// Where a name is defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlace {
    /// The name, with those around it.
    pub name: String,
    /// The file, from the project's root.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

impl Surroundings {
    /// The surroundings of the unit with this key.
    pub fn of(graph: &CallGraph<'_>, key: UnitId, unit: &Unit) -> Result<Surroundings> {
        let lexical = &graph.snapshot.lexical;
        let Some(hit) = lexical.hit(key) else { return Ok(Surroundings::default()) };
        let is_function = |kind: UnitKind| kind.is_definition() && kind != UnitKind::Constant;
        let mut beside = lexical.units_of(hit.file, None)?;
        beside.retain(|other| other.key != key && is_function(other.kind));
        beside.sort_by_key(|other| other.line.abs_diff(hit.line));
        beside.truncate(PLACES_MAX);
        let defined = graph.units(beside)?;
        let caller = graph.unit(hit)?;
        let mut called: Vec<GraphUnit> = Vec::new();
        for callee in unit.calls.iter().take(PLACES_MAX) {
            if lexical.definition_count(split_callee(callee).1)? > DEFINITIONS_MAX {
                continue;
            }
            if let [only] = graph.targets(&caller, callee)?.definitions.as_slice()
                && only.hit.key != key
                && called.iter().all(|known| known.hit.key != only.hit.key)
            {
                called.push(only.clone());
            }
        }
        let place = |unit: GraphUnit| NamedPlace {
            name: unit.qualified_name(),
            path: graph.path(unit.hit.file).to_string(),
            line: unit.hit.line,
        };
        Ok(Surroundings {
            path: graph.path(hit.file).to_string(),
            defined: defined.into_iter().map(place).collect(),
            called: called.into_iter().map(place).collect(),
        })
    }
}
