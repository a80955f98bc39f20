//! Why nothing was found, where that is about how it was asked for.

use std::path::Path;

use colgrep_engine::request::{Facts, Pattern};
use colgrep_engine::{Changes, Question, Scope};

use crate::end::{Audience, limits, shell_word};
use crate::words::in_short;

/// Operators of grep's basic regular expressions that are literal here, and how to write them.
const BASIC_OPERATORS: [(&str, &str); 2] = [("\\|", "a|b"), ("\\{", "a{2}")];

/// Why a search for lines found nothing in `files` files.
pub fn of_lines(scope: &Scope, files: usize, audience: Audience) -> Option<String> {
    if files > 0 {
        let may_be_path = scope.paths.is_empty() && audience == Audience::Shell;
        return scope.pattern.as_ref().and_then(|pattern| of_pattern(pattern, may_be_path));
    }
    of_filters(scope, audience).or_else(|| {
        let more = if audience == Audience::Shell { "; -uu searches hidden and ignored files too" } else { "" };
        Some(format!("there is no file to search {}{more}", place(scope)))
    })
}

/// Why a search for units found nothing; `has_files`: whether the filters leave any file.
pub fn of_units(scope: &Scope, question: &Question, has_files: bool, audience: Audience) -> Option<String> {
    if !has_files {
        return of_filters(scope, audience).or_else(|| {
            let more =
                if audience == Audience::Shell { "; -uu -e PATTERN searches hidden and ignored files" } else { "" };
            Some(format!("no file {} is indexed{more}", place(scope)))
        });
    }
    let of_facts = || if *question == Question::Every { of_facts(&scope.facts) } else { None };
    of_facts().or_else(|| scope.pattern.as_ref().and_then(|pattern| of_pattern(pattern, false)))
}

fn place(scope: &Scope) -> String {
    let paths: Vec<String> = scope.paths.iter().map(|path| shell_word(&path.to_string_lossy())).collect();
    if paths.is_empty() { "here".to_string() } else { format!("in {}", in_short(&paths.join(" "))) }
}

/// Which filters leave no file.
fn of_filters(scope: &Scope, audience: Audience) -> Option<String> {
    let filters = limits(scope, audience);
    let mut changes = Scope::default();
    changes.changes = scope.changes.clone();
    match &scope.changes {
        _ if filters.is_empty() => None,
        Some(Changes::Uncommitted) if filters == limits(&changes, audience) => {
            Some("no file here differs from the last commit".to_string())
        }
        Some(Changes::Since(since)) if filters == limits(&changes, audience) => {
            Some(format!("no file here differs from {}", in_short(since)))
        }
        _ => {
            let and = if audience == Audience::Shell { " " } else { " and " };
            Some(format!("no file here passes {}", filters.join(and)))
        }
    }
}

/// Which units there are none of.
pub fn of_facts(facts: &Facts) -> Option<String> {
    if facts.allow_all() {
        return None;
    }
    let kinds: Vec<&str> = facts.kinds.iter().map(|kind| kind.name()).collect();
    let mut clauses = Vec::new();
    if !facts.calls.is_empty() {
        clauses.push(format!("calls {}", facts.calls.join(" or ")));
    }
    if !facts.called_by.is_empty() {
        clauses.push(format!("is called by {}", facts.called_by.join(" or ")));
    }
    let kind = if kinds.is_empty() { "definition".to_string() } else { kinds.join(" or ") };
    let clauses = if clauses.is_empty() { String::new() } else { format!(" that {}", clauses.join(" and ")) };
    Some(in_short(&format!("there is no {kind} here{clauses}")).to_string())
}

/// What in a pattern looks as if it meant something else; `may_be_path`: whether no path is given.
fn of_pattern(pattern: &Pattern, may_be_path: bool) -> Option<String> {
    let expressions = &pattern.expressions;
    if let ([expression], true) = (expressions.as_slice(), may_be_path)
        && Path::new(expression).is_file()
    {
        let path = shell_word(expression);
        return Some(format!("-e takes a pattern, and {path} is a file: colgrep -e PATTERN {path} searches it"));
    }
    if pattern.fixed {
        return None;
    }
    let used = BASIC_OPERATORS.iter().find(|(basic, _)| expressions.iter().any(|one| has_escaped(one, basic)));
    used.map(|(basic, written)| {
        let plain = basic.trim_start_matches('\\');
        format!("{basic} in a pattern is the character {plain}; the operator has no backslash: {written}")
    })
}

/// Whether an expression has an escaped character whose backslash is not escaped itself.
fn has_escaped(expression: &str, escaped: &str) -> bool {
    expression.match_indices(escaped).any(|(at, _)| {
        let before = &expression[..at];
        (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
    })
}

#[cfg(test)]
mod tests {
    use colgrep_core::UnitKind;
    use colgrep_engine::Tests;

    use super::*;

    fn scope(change: impl Fn(&mut Scope)) -> Scope {
        let mut scope = Scope::default();
        change(&mut scope);
        scope
    }

    fn pattern(text: &str) -> Scope {
        scope(|scope| scope.pattern = Some(Pattern::new(text)))
    }

    #[test]
    fn an_empty_list_of_files_has_its_reason() {
        for (scope, expected) in [
            (scope(|_| {}), "there is no file to search here; -uu searches hidden and ignored files too"),
            (
                scope(|scope| scope.paths = vec!["a b".into(), "c".into()]),
                "there is no file to search in 'a b' c; -uu searches hidden and ignored files too",
            ),
            (scope(|scope| scope.types = vec!["rust".into()]), "no file here passes -t rust"),
            (scope(|scope| scope.include = vec!["*.rs".into()]), "no file here passes --include '*.rs'"),
            (scope(|scope| scope.changes = Some(Changes::Uncommitted)), "no file here differs from the last commit"),
            (scope(|scope| scope.changes = Some(Changes::Since("v1".into()))), "no file here differs from v1"),
            (
                scope(|scope| {
                    scope.changes = Some(Changes::Uncommitted);
                    scope.types = vec!["rust".into()];
                }),
                "no file here passes -t rust --changed",
            ),
        ] {
            assert_eq!(of_lines(&scope, 0, Audience::Shell).as_deref(), Some(expected));
        }
        let nothing = of_units(&scope(|_| {}), &Question::Every, false, Audience::Shell);
        assert_eq!(
            nothing.as_deref(),
            Some("no file here is indexed; -uu -e PATTERN searches hidden and ignored files")
        );
    }

    #[test]
    fn agents_are_told_parameters() {
        let limited = scope(|scope| {
            (scope.types, scope.include) = (vec!["rust".into(), "go".into()], vec!["*.rs".into()]);
            scope.tests = Some(Tests::Only);
        });
        let passes = "no file here passes `languages` \"rust\", \"go\" and `include` \"*.rs\" and `tests` only";
        assert_eq!(of_lines(&limited, 0, Audience::Tools).as_deref(), Some(passes));
        assert_eq!(of_units(&limited, &Question::Every, false, Audience::Tools).as_deref(), Some(passes));
        let nothing = of_lines(&scope(|_| {}), 0, Audience::Tools);
        assert_eq!(nothing.as_deref(), Some("there is no file to search here"));
    }

    #[test]
    fn operators_of_basic_patterns_are_told() {
        for (text, expected) in [
            (r"a\|b", r"\| in a pattern is the character |; the operator has no backslash: a|b"),
            (r"a\{2\}", r"\{ in a pattern is the character {; the operator has no backslash: a{2}"),
            (r"a\\|b", ""),
            ("a|b", ""),
            ("nothing", ""),
        ] {
            assert_eq!(of_lines(&pattern(text), 3, Audience::Shell).unwrap_or_default(), expected, "{text}");
        }
        assert_eq!(of_lines(&scope(|_| {}), 3, Audience::Shell), None);
    }

    #[test]
    fn units_that_are_nowhere_are_named() {
        let facts = |calls: &[&str], called_by: &[&str], kinds: &[UnitKind]| {
            scope(|scope| {
                scope.facts.calls = calls.iter().map(ToString::to_string).collect();
                scope.facts.called_by = called_by.iter().map(ToString::to_string).collect();
                scope.facts.kinds = kinds.to_vec();
            })
        };
        for (scope, expected) in [
            (facts(&["f"], &[], &[]), "there is no definition here that calls f"),
            (facts(&["f", "g"], &["h"], &[]), "there is no definition here that calls f or g and is called by h"),
            (facts(&[], &[], &[UnitKind::Class]), "there is no class here"),
            (facts(&["f"], &[], &[UnitKind::Method]), "there is no method here that calls f"),
        ] {
            assert_eq!(of_units(&scope, &Question::Every, true, Audience::Shell).as_deref(), Some(expected));
        }
    }
}
