//! Calls over several levels: who calls a name, who calls those, and so on; or what it calls.
//!
//! Each unit comes once, at its first level, so cycles end. Tests are leaves. Names that many units define are followed
//! only where a call is resolved, and the answer names them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use colgrep_core::UnitId;
use colgrep_index::lexical::{CodeName, split_callee};

use crate::error::Result;
use crate::relations::graph::{CallGraph, GraphUnit};

/// Maximum number of definitions for a name to be followed without resolving the call.
pub const DEFINITIONS_MAX: usize = 5;
/// Callers of a name with more definitions among which resolved calls are still looked for.
pub(super) const COMMON_CALLERS_MAX: usize = 300;
/// Units of an answer, at most.
pub const UNITS_MAX: usize = 1_000;
/// Levels, at most.
pub const DEPTH_MAX: usize = 32;

/// Which way calls are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallDirection {
    /// To the units that call.
    Callers,
    /// To the units that are called.
    Callees,
}

/// A unit that is reached by calls.
#[derive(Clone, Debug)]
pub struct CallStep {
    pub unit: GraphUnit,
    /// Its level, from 1.
    pub level: usize,
    /// Whether every call on the way is resolved; otherwise one is known by its name alone.
    pub is_certain: bool,
    /// The name that is called in the last step.
    pub callee: String,
    /// The qualified name at the start of the way.
    pub origin: String,
    pub is_test: bool,
}

/// The units that are reached by calls.
#[derive(Clone, Debug, Default)]
pub struct CallLevels {
    /// The units: by level, tests after others, resolved calls first, then by path and line.
    pub steps: Vec<CallStep>,
    /// Names that were not followed by name alone, with the number of their definitions.
    pub common: Vec<(String, usize)>,
    /// Whether there are more than [`UNITS_MAX`] units.
    pub is_cut: bool,
}

struct Reached {
    /// Whether the names at the start are followed by name alone however common they are.
    are_starts_asked: bool,
    found: CallLevels,
    seen: HashSet<UnitId>,
    common: BTreeMap<String, usize>,
}

/// A unit from which the next level is reached.
#[derive(Clone)]
struct Frontier {
    unit: GraphUnit,
    is_certain: bool,
    origin: String,
}

/// A unit whose callers are wanted, with all units that a call of it may mean.
type Wanted<'f> = (&'f Frontier, Rc<HashSet<UnitId>>);

impl CallLevels {
    /// The units that are reached from those of `names`, in at most `depth` levels. A name that nothing here defines has
    /// callers all the same.
    pub fn of_names(
        graph: &CallGraph<'_>,
        names: &[CodeName],
        direction: CallDirection,
        depth: usize,
    ) -> Result<CallLevels> {
        let mut starts = Vec::new();
        let mut reached = Reached::new(true);
        for name in names {
            let units = graph.snapshot.lexical.units_of_name(name)?;
            starts.extend(graph.units(units.iter().map(|(hit, _)| *hit))?);
            if units.is_empty() && direction == CallDirection::Callers {
                let callers = graph.snapshot.lexical.callers_of(name, None)?;
                let text = name.text().to_string();
                for unit in graph.units(callers)? {
                    reached.add(graph, unit, (1, false), (text.clone(), text.clone()));
                }
            }
        }
        reached.follow(graph, starts, direction, depth)
    }

    /// The units that are reached from these, in at most `depth` levels. Unless they `are_asked` for, their names are
    /// bounded like any other.
    pub fn of_units(
        graph: &CallGraph<'_>,
        starts: Vec<GraphUnit>,
        direction: CallDirection,
        depth: usize,
        are_asked: bool,
    ) -> Result<CallLevels> {
        Reached::new(are_asked).follow(graph, starts, direction, depth)
    }
}

impl Reached {
    fn new(are_starts_asked: bool) -> Reached {
        Reached { are_starts_asked, found: CallLevels::default(), seen: HashSet::new(), common: BTreeMap::new() }
    }

    fn add(
        &mut self,
        graph: &CallGraph<'_>,
        unit: GraphUnit,
        (level, is_certain): (usize, bool),
        (callee, origin): (String, String),
    ) {
        if !self.seen.insert(unit.hit.key) {
            return;
        }
        if self.found.steps.len() >= UNITS_MAX {
            self.found.is_cut = true;
            return;
        }
        let is_test = graph.is_test(&unit);
        self.found.steps.push(CallStep { unit, level, is_certain, callee, origin, is_test });
    }

    fn follow(
        mut self,
        graph: &CallGraph<'_>,
        starts: Vec<GraphUnit>,
        direction: CallDirection,
        depth: usize,
    ) -> Result<CallLevels> {
        self.seen.extend(starts.iter().map(|unit| unit.hit.key));
        let start = |unit: GraphUnit| Frontier { origin: unit.qualified_name(), unit, is_certain: true };
        let mut frontier: Vec<Frontier> = starts.into_iter().map(start).collect();
        for level in 1..=depth.min(DEPTH_MAX) {
            // Callers of a name that nothing defines are of the first level too.
            let from = if level == 1 { 0 } else { self.found.steps.len() };
            match direction {
                CallDirection::Callers => self.callers(graph, &frontier, level)?,
                CallDirection::Callees => self.callees(graph, &frontier, level)?,
            }
            let next = self.found.steps[from..].iter().filter(|step| !step.is_test && !step.unit.name.is_empty());
            frontier = next
                .map(|step| Frontier {
                    unit: step.unit.clone(),
                    is_certain: step.is_certain,
                    origin: step.origin.clone(),
                })
                .collect();
            if frontier.is_empty() || self.found.is_cut {
                break;
            }
        }
        let key = |step: &CallStep| {
            (step.level, step.is_test, !step.is_certain, graph.path(step.unit.hit.file), step.unit.hit.line)
        };
        self.found.steps.sort_by(|a, b| key(a).cmp(&key(b)));
        self.found.common = self.common.into_iter().collect();
        Ok(self.found)
    }

    fn callers(&mut self, graph: &CallGraph<'_>, frontier: &[Frontier], level: usize) -> Result<()> {
        let mut by_name: BTreeMap<(String, &str), Vec<Wanted<'_>>> = BTreeMap::new();
        for one in frontier {
            let (names, meant) = graph.called_as(&one.unit)?;
            let (meant, language) = (Rc::new(meant), graph.language(one.unit.hit.file));
            for name in names {
                by_name.entry((name, language)).or_default().push((one, Rc::clone(&meant)));
            }
        }
        for ((name, language), wanted) in by_name {
            let name = name.as_str();
            let is_other = |unit: &&GraphUnit| wanted.iter().all(|(_, meant)| !meant.contains(&unit.hit.key));
            let count = wanted.len() + graph.definitions(name, language)?.iter().filter(is_other).count();
            let is_common = count > DEFINITIONS_MAX && !(level == 1 && self.are_starts_asked);
            let callers = graph.callers(name)?;
            if is_common && callers.len() > COMMON_CALLERS_MAX {
                self.common.insert(name.to_string(), count);
                continue;
            }
            let mut uncertain = Vec::new();
            for (hit, callee) in callers {
                if self.seen.contains(&hit.key) {
                    continue;
                }
                let caller = graph.unit(hit)?;
                let targets = graph.targets(&caller, callee)?;
                let of = |meant: &HashSet<UnitId>| targets.definitions.iter().any(|unit| meant.contains(&unit.hit.key));
                let Some((meant, _)) = wanted.iter().find(|(_, meant)| of(meant)) else { continue };
                let found = (callee.to_string(), meant.origin.clone());
                match targets.is_certain {
                    true => self.add(graph, caller, (level, meant.is_certain), found),
                    false => uncertain.push((caller, found)),
                }
            }
            if is_common {
                if !uncertain.is_empty() {
                    self.common.insert(name.to_string(), count);
                }
                continue;
            }
            for (caller, found) in uncertain {
                self.add(graph, caller, (level, false), found);
            }
        }
        for one in frontier {
            for (alias, files) in graph.aliases_of(&one.unit)? {
                for (hit, callee) in graph.callers(&alias)? {
                    if files.contains(&hit.file) && !self.seen.contains(&hit.key) {
                        let found = (callee.to_string(), one.origin.clone());
                        self.add(graph, graph.unit(hit)?, (level, one.is_certain), found);
                    }
                }
            }
        }
        Ok(())
    }

    fn callees(&mut self, graph: &CallGraph<'_>, frontier: &[Frontier], level: usize) -> Result<()> {
        let keys: Vec<UnitId> = frontier.iter().map(|one| one.unit.hit.key).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (one, unit) in frontier.iter().zip(graph.snapshot.units(&keys)?) {
            for callee in &unit.calls {
                let targets = graph.targets(&one.unit, callee)?;
                let count = targets.definitions.len();
                if !targets.is_certain && count > DEFINITIONS_MAX {
                    counts.insert(split_callee(callee).1.to_string(), count);
                    continue;
                }
                let is_certain = one.is_certain && targets.is_certain;
                for definition in targets.definitions.iter().cloned() {
                    self.add(graph, definition, (level, is_certain), (callee.clone(), one.origin.clone()));
                }
            }
        }
        self.common.extend(counts);
        Ok(())
    }
}
