//! What is asked of units' code, and the units that satisfy it.

use std::collections::{HashMap, HashSet};

use colgrep_core::{UnitId, UnitKind};
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{CodeName, UnitPlace};
use colgrep_index::store::Snapshot;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What is known of a unit's code. All that is given applies together; of several names or kinds one suffices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Facts {
    /// Units that call one of these names.
    pub calls: Vec<String>,
    /// Definitions of what the units of one of these names call.
    pub called_by: Vec<String>,
    /// Units of these kinds; empty: of all.
    pub kinds: Vec<UnitKind>,
    /// Upper and lower case of names match alike.
    pub ignore_case: bool,
}

impl Facts {
    /// What calls a name.
    pub fn calling(name: &str) -> Facts {
        Facts { calls: vec![name.to_string()], ..Facts::default() }
    }

    /// Whether all units pass.
    pub fn allow_all(&self) -> bool {
        !self.name_calls() && self.kinds.is_empty()
    }

    /// Whether they ask for callers or callees.
    pub fn name_calls(&self) -> bool {
        !self.calls.is_empty() || !self.called_by.is_empty()
    }
}

/// The units that satisfy facts.
#[derive(Debug, Default)]
pub(crate) struct UnitsWithFacts {
    /// Allowed kinds; empty: all.
    kinds: Vec<UnitKind>,
    /// Allowed units, each with its file, where the facts name calls.
    by_calls: Option<HashMap<UnitId, FileId>>,
}

impl UnitsWithFacts {
    /// Looks up what the facts name.
    pub(crate) fn new(facts: &Facts, snapshot: &Snapshot) -> Result<UnitsWithFacts> {
        Ok(UnitsWithFacts { kinds: facts.kinds.clone(), by_calls: by_calls(facts, snapshot)? })
    }

    /// The files of the allowed units; `None`: any file may have some.
    pub(crate) fn files(&self) -> Option<HashSet<FileId>> {
        Some(self.by_calls.as_ref()?.values().copied().collect())
    }

    /// Whether a unit satisfies the facts.
    pub(crate) fn allow(&self, unit: &UnitPlace) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&unit.kind))
            && self.by_calls.as_ref().is_none_or(|units| units.contains_key(&unit.key))
    }
}

/// The units, each with its file, that satisfy the facts about calls; `None` if the facts don't restrict calls.
fn by_calls(facts: &Facts, snapshot: &Snapshot) -> Result<Option<HashMap<UnitId, FileId>>> {
    let names = |names: &[String]| names.iter().map(|name| CodeName::new(name, facts.ignore_case)).collect::<Vec<_>>();
    let (mut callers, mut callees) = (HashMap::new(), HashMap::new());
    for name in names(&facts.calls) {
        callers.extend(snapshot.lexical.callers_of(&name, None)?.iter().map(|unit| (unit.key, unit.file)));
    }
    for name in names(&facts.called_by) {
        let called = snapshot.called_by(&name)?;
        callees.extend(called.iter().map(|unit| (unit.key, unit.file)));
    }
    Ok(match (facts.calls.is_empty(), facts.called_by.is_empty()) {
        (true, true) => None,
        (false, true) => Some(callers),
        (true, false) => Some(callees),
        (false, false) => Some(callers.into_iter().filter(|(unit, _)| callees.contains_key(unit)).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_need_an_allowed_kind_and_an_allowed_call() {
        let unit =
            |end| UnitPlace { key: UnitId::new(0, end), file: FileId(2), kind: UnitKind::Function, first: 1, end };
        let kinds = UnitsWithFacts { kinds: vec![UnitKind::Class], ..UnitsWithFacts::default() };
        assert!(!kinds.allow(&unit(1)) && UnitsWithFacts::default().allow(&unit(1)));
        let named = HashMap::from([(UnitId::new(0, 7), FileId(2))]);
        let units = UnitsWithFacts { by_calls: Some(named), ..UnitsWithFacts::default() };
        assert!(units.allow(&unit(7)) && !units.allow(&unit(8)));
    }
}
