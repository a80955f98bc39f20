//! Facts about the candidates that the stage `order` compares: words, calls among them, documentation.

use colgrep_core::query::{Query, last_segment};
use colgrep_core::rank::{ComparedCall, ComparedFacts, Retrieved};
use colgrep_core::statistics::Statistics;
use colgrep_core::{UnitId, UnitKind};
use colgrep_index::error::Result;
use colgrep_syntax::language::may_call;
use rustc_hash::FxHashMap;

use super::held_in_groups;
use super::rounds::{Coordinator, TraitsRequest, UnitTraits};

/// Compared functions that a call may mean. A name of more says little about each.
const CALLEES_MAX: usize = 3;

/// Looks up what the stage needs of the candidates at these positions.
pub(crate) fn look_up(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    retrieved: &mut Retrieved,
    compared: &[usize],
) -> Result<()> {
    let units: Vec<UnitId> = compared.iter().map(|at| retrieved.candidates[*at].unit).collect();
    let groups = units.iter().copied().zip(0..).collect();
    let held = held_in_groups(rounds, query, statistics, groups, compared.len())?;
    let traits = rounds.ask(&TraitsRequest { units })?;
    for ((at, held), traits) in compared.iter().zip(held).zip(&traits) {
        let UnitTraits { calls, documentation, .. } = traits;
        let facts = ComparedFacts { held: held.unit, calls: calls.len() as u32, documentation: *documentation };
        retrieved.candidates[*at].compared = Some(facts);
    }
    retrieved.calls = calls(retrieved, compared, &traits);
    Ok(())
}

/// Calls by name among compared candidates of one repository.
fn calls(retrieved: &Retrieved, compared: &[usize], traits: &[UnitTraits]) -> Vec<ComparedCall> {
    let repository = |at: usize| retrieved.files[retrieved.candidates[at].file].repository.as_str();
    let is_function = |at: usize| matches!(retrieved.candidates[at].kind, UnitKind::Function | UnitKind::Method);
    let mut functions: FxHashMap<(&str, &str), Vec<(usize, &str)>> = FxHashMap::default();
    for (at, traits) in compared.iter().zip(traits).filter(|(at, _)| is_function(**at)) {
        let named = functions.entry((repository(*at), traits.name.as_str())).or_default();
        named.push((*at, &traits.language));
    }
    let mut calls = Vec::new();
    for (caller, traits) in compared.iter().zip(traits) {
        for name in &traits.calls {
            let Some(named) = functions.get(&(repository(*caller), last_segment(name))) else { continue };
            let callees = || named.iter().filter(|(_, language)| may_call(&traits.language, language));
            let count = callees().count();
            if count <= CALLEES_MAX {
                let others = callees().map(|(callee, _)| *callee).filter(|callee| callee != caller);
                let (caller, callees) = (*caller, count as u32);
                calls.extend(others.map(|callee| ComparedCall { caller, callee, callees }));
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use colgrep_core::rank::{Candidate, FileFacts};

    use super::*;

    #[test]
    fn a_call_means_the_compared_functions_of_its_repository() {
        let file = |repository: &str| FileFacts { repository: repository.into(), ..FileFacts::default() };
        let unit = |file: usize, kind: UnitKind| Candidate { file, kind, ..Candidate::default() };
        let retrieved = Retrieved {
            files: vec![file("a/"), file("b/")],
            candidates: vec![
                unit(0, UnitKind::Function),
                unit(0, UnitKind::Method),
                unit(0, UnitKind::Constant),
                unit(1, UnitKind::Function),
            ],
            ..Retrieved::default()
        };
        let traits = |name: &str, calls: &[&str]| UnitTraits {
            name: name.into(),
            calls: calls.iter().map(|call| (*call).into()).collect(),
            ..UnitTraits::default()
        };
        let mut all = [
            traits("run", &["self.parse", "limit", "run"]),
            traits("parse", &[]),
            traits("limit", &[]),
            traits("other", &["parse"]),
        ];
        let expected = [ComparedCall { caller: 0, callee: 1, callees: 1 }];
        assert_eq!(calls(&retrieved, &[0, 1, 2, 3], &all), expected);
        // Nor does it mean one in a language that it can't call.
        for (language, count) in [("typescript", 1), ("python", 0)] {
            (all[0].language, all[1].language) = ("javascript".into(), language.into());
            assert_eq!(calls(&retrieved, &[0, 1, 2, 3], &all).len(), count, "{language}");
        }
    }

    #[test]
    fn a_name_of_many_functions_says_nothing() {
        let of = |count: usize| {
            let retrieved = Retrieved {
                files: vec![FileFacts::default()],
                candidates: vec![Candidate { kind: UnitKind::Function, ..Candidate::default() }; count],
                ..Retrieved::default()
            };
            let traits = |name: &str, calls: &[&str]| UnitTraits {
                name: name.into(),
                calls: calls.iter().map(|call| (*call).into()).collect(),
                ..UnitTraits::default()
            };
            let mut all = vec![traits("get", &[]); count];
            all[0] = traits("run", &["get"]);
            let compared: Vec<usize> = (0..count).collect();
            calls(&retrieved, &compared, &all).len()
        };
        assert_eq!((of(CALLEES_MAX + 1), of(CALLEES_MAX + 2)), (CALLEES_MAX, 0));
    }
}
