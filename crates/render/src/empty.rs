//! Why nothing was found, where that is about how it was asked for.

use std::path::Path;

use anyhow::Result;
use colgrep_core::query::last_segment;
use colgrep_engine::request::filter::changed_left_out;
use colgrep_engine::request::operators::texts_of;
use colgrep_engine::request::{Facts, Pattern};
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_engine::{Changes, Question, Scope, UnknownCalls};

use crate::end::{SearchLimit, path_filters, text_filters};
use crate::notice::with_reason;
use crate::words::{in_shell, in_short, shell_word};

/// Operators of grep's basic regular expressions that are literal here, and how to write them.
const BASIC_OPERATORS: [(&str, &str); 4] = [("\\|", "a|b"), ("\\{", "a{2}"), ("\\+", "a+"), ("\\?", "a?")];

/// How an answer begins that denies files.
const NO_FILE: &str = "no file ";

/// Why a search for lines found nothing in `files` files.
pub fn of_lines(scope: &Scope, files: usize, naming: Naming) -> Option<String> {
    if files > 0 {
        let may_be_path = scope.paths.is_empty() && naming == Naming::Flags;
        let of_pattern = scope.pattern.as_ref().and_then(|pattern| of_pattern(pattern, may_be_path));
        // The command line has no more to say than grep.
        let passed = passed(scope, naming).filter(|_| naming == Naming::Parameters);
        return of_pattern.or_else(|| Some(format!("no file {} that passes{} matches", place(scope), passed?)));
    }
    of_filters(scope, naming).or_else(|| {
        let more = if naming == Naming::Flags { "; -uu searches hidden and ignored files too" } else { "" };
        Some(format!("there is no file to search {}{more}", place(scope)))
    })
}

/// Why a search for units found nothing; `has_files`: whether the filters leave any file.
pub fn of_units(
    scope: &Scope,
    question: &Question,
    has_files: bool,
    unknown: &UnknownCalls,
    naming: Naming,
) -> Option<String> {
    if !has_files {
        return of_filters(scope, naming).or_else(|| {
            let more = if naming == Naming::Flags { "; -uu -e PATTERN searches hidden and ignored files" } else { "" };
            Some(format!("no file {} is indexed{more}", place(scope)))
        });
    }
    let of_pattern = || scope.pattern.as_ref().and_then(|pattern| of_pattern(pattern, false));
    of_pattern().or_else(|| of_facts(scope, unknown, naming).filter(|_| *question == Question::Every))
}

/// Why a search for changed files found nothing: `why`, or the changed files that are not indexed.
///
/// # Errors
/// As [`changed_left_out`].
pub fn of_changes(why: String, scope: &Scope, settings: &Settings, env: &Env) -> Result<String> {
    let Some(about) = why.strip_prefix(NO_FILE).filter(|_| scope.changes.is_some()) else { return Ok(why) };
    let left_out = changed_left_out(scope, settings, env)?;
    let Some(first) = left_out.first() else { return Ok(why) };
    let others = if left_out.len() > 1 { format!(" and {} more", left_out.len() - 1) } else { String::new() };
    Ok(format!("no searched file {about}; left out: {}{others}", with_reason(first)))
}

/// How filters are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By flags of the command line.
    Flags,
    /// By parameters of tools.
    Parameters,
}

fn place(scope: &Scope) -> String {
    let paths: Vec<String> = scope.paths.iter().map(|path| shell_word(&path.to_string_lossy())).collect();
    if paths.is_empty() { "here".to_string() } else { format!("in {}", in_short(&paths.join(" "))) }
}

/// Which filters leave no file.
fn of_filters(scope: &Scope, naming: Naming) -> Option<String> {
    let filters = named(&as_written(scope), naming);
    let mut changes = Scope::default();
    changes.changes = scope.changes.clone();
    match &scope.changes {
        _ if filters.is_empty() => None,
        Some(Changes::Uncommitted) if filters == named(&path_filters(&changes), naming) => {
            Some(format!("{NO_FILE}here differs from the last commit"))
        }
        Some(Changes::Since(since)) if filters == named(&path_filters(&changes), naming) => {
            Some(format!("{NO_FILE}here differs from {}", in_short(since)))
        }
        _ => {
            let more = literal_glob(scope).filter(|_| naming == Naming::Flags).unwrap_or_default();
            Some(format!("{NO_FILE}{} passes{filters}{more}", place(scope)))
        }
    }
}

/// What to type instead of a glob that is the name of a file or folder, as in `src/[id].tsx`.
fn literal_glob(scope: &Scope) -> Option<String> {
    let is_special = |c: char| "*?[]{}\\".contains(c);
    let is_name = |glob: &str| glob.contains(is_special) && Path::new(glob.trim_start_matches('/')).exists();
    let (_, of_any_case) = texts_of(&scope.include_any_case);
    let as_written = scope.include.iter().map(|glob| ("-g", glob));
    let mut globs = as_written.chain(of_any_case.iter().map(|glob| ("--iglob", glob)));
    let (flag, name) = globs.find(|(_, glob)| is_name(glob))?;
    let escaped: String = name.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect();
    Some(format!("; it exists, but a glob takes it for a pattern: {flag} {}", in_shell(&escaped)))
}

/// The filters of files, each after a space, where there are any.
pub fn passed(scope: &Scope, naming: Naming) -> Option<String> {
    Some(named(&as_written(scope), naming)).filter(|filters| !filters.is_empty())
}

/// The filters by path and git; those of the query as they stand in it.
fn as_written(scope: &Scope) -> Vec<SearchLimit> {
    let (of_query, globs) = texts_of(&scope.include_any_case);
    let (not_of_query, not_globs) = texts_of(&scope.exclude_any_case);
    let mut others = scope.clone();
    (others.include_any_case, others.exclude_any_case) = (globs, not_globs);
    let of_query = of_query.iter().map(|text| format!("file:{text}"));
    let not_of_query = not_of_query.iter().map(|text| format!("-file:{text}"));
    let in_query = |value| SearchLimit { flag: "", parameter: "query", value: Some(value) };
    path_filters(&others).into_iter().chain(of_query.chain(not_of_query).map(in_query)).collect()
}

/// Filters, each after a space.
fn named(filters: &[SearchLimit], naming: Naming) -> String {
    let name = |filter: &SearchLimit| match naming {
        Naming::Flags => filter.as_flag(),
        Naming::Parameters => filter.as_parameter(),
    };
    filters.iter().map(|filter| format!(" {}", name(filter))).collect()
}

/// Which units there are none of. That a place has none at all is said only if nothing else limits the search; else the
/// filters that may have taken them away are named; nor that nothing calls a name that occurs.
pub fn of_facts(scope: &Scope, unknown: &UnknownCalls, naming: Naming) -> Option<String> {
    let AskedUnits { kind, clauses } = AskedUnits::of(&scope.facts, unknown.are_named)?;
    let filters: Vec<SearchLimit> = as_written(scope).into_iter().chain(text_filters(scope)).collect();
    let (place, that) = (place(scope), that(&clauses));
    let told = match filters.is_empty() {
        true if unknown.are_named => format!("no {kind} {place} {clauses}"),
        true => format!("there is no {kind} {place}{that}"),
        false => format!("no {kind} {place}{that} passes{}", named(&filters, naming)),
    };
    let more =
        Some(unknown).filter(|unknown| unknown.are_named).map(|unknown| may_be_called(&scope.facts, unknown, naming));
    Some(told + &more.unwrap_or_default())
}

/// That nothing is known to call the name whose callers a query asks for, though it occurs.
pub fn of_callers(scope: &Scope, name: &str, unknown: &UnknownCalls, naming: Naming) -> Option<String> {
    let mut scope = scope.clone();
    scope.facts = Facts::calling(name);
    unknown.are_named.then(|| of_facts(&scope, unknown, naming)).flatten()
}

/// The clause of the units that are asked for, after a space.
fn that(clauses: &str) -> String {
    if clauses.is_empty() { String::new() } else { format!(" that {clauses}") }
}

/// Where calls of the names may be that nothing knows.
fn may_be_called(facts: &Facts, unknown: &UnknownCalls, naming: Naming) -> String {
    let languages: Vec<&str> = unknown.languages.iter().map(String::as_str).collect();
    let languages = match languages.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; calls are not known in files of {last}"),
        Some((last, others)) => format!("; calls are not known in files of {} and {last}", others.join(", ")),
    };
    let name = facts.calls.iter().chain(&facts.called_by).next().map_or("", |name| last_segment(name));
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let search = match (naming, is_word) {
        (Naming::Flags, true) => format!("-w -e {name}"),
        (Naming::Flags, false) => format!("-F -e {}", shell_word(name)),
        (Naming::Parameters, _) => format!("`pattern` {name}"),
    };
    format!("{languages}; {search} shows where the name occurs")
}

/// Why a query found nothing though files pass: no unit is what the scope asks for, or none of those that are
/// (`is_any`) answers.
pub fn of_query(scope: &Scope, is_any: bool, unknown: &UnknownCalls, naming: Naming) -> Option<String> {
    let place = place(scope);
    match AskedUnits::of(&scope.facts, false) {
        Some(_) if !is_any => of_facts(scope, unknown, naming),
        Some(AskedUnits { kind, clauses }) => {
            Some(format!("no {kind} {place}{} answers the query; without it, all are listed", that(&clauses)))
        }
        None if !scope.has_pattern() => None,
        None => {
            let filters: Vec<SearchLimit> = as_written(scope).into_iter().chain(text_filters(scope)).collect();
            let passed = named(&filters, naming);
            Some(match is_any {
                true => format!("nothing {place} that passes{passed} answers the query"),
                false => format!("nothing {place} passes{passed}"),
            })
        }
    }
}

/// The units that facts ask for, in words.
struct AskedUnits {
    kind: String,
    clauses: String,
}

impl AskedUnits {
    /// `may_be`: whether units may call a name although none is known to.
    fn of(facts: &Facts, may_be: bool) -> Option<AskedUnits> {
        if facts.allow_all() {
            return None;
        }
        let kinds: Vec<&str> = facts.kinds.iter().map(|kind| kind.name()).collect();
        let [calls, is, begin, and] = match may_be {
            true => ["call", "be", "is known to ", " and to "],
            false => ["calls", "is", "", " and "],
        };
        let mut clauses = Vec::new();
        if !facts.calls.is_empty() {
            clauses.push(format!("{calls} {}", facts.calls.join(" or ")));
        }
        if !facts.called_by.is_empty() {
            clauses.push(format!("{is} called by {}", facts.called_by.join(" or ")));
        }
        let kind = if kinds.is_empty() { "definition".to_string() } else { kinds.join(" or ") };
        let clauses =
            if clauses.is_empty() { String::new() } else { begin.to_string() + &in_short(&clauses.join(and)) };
        Some(AskedUnits { kind, clauses })
    }
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
            assert_eq!(of_lines(&scope, 0, Naming::Flags).as_deref(), Some(expected));
        }
        let nothing = of_units(&scope(|_| {}), &Question::Every, false, &UnknownCalls::default(), Naming::Flags);
        assert_eq!(
            nothing.as_deref(),
            Some("no file here is indexed; -uu -e PATTERN searches hidden and ignored files")
        );
    }

    #[test]
    fn operators_of_basic_patterns_are_told() {
        for (text, expected) in [
            (r"a\|b", r"\| in a pattern is the character |; the operator has no backslash: a|b"),
            (r"a\{2\}", r"\{ in a pattern is the character {; the operator has no backslash: a{2}"),
            (r"a\+b", r"\+ in a pattern is the character +; the operator has no backslash: a+"),
            (r"a\?", r"\? in a pattern is the character ?; the operator has no backslash: a?"),
            (r"a\\|b", ""),
            ("a|b", ""),
            ("nothing", ""),
        ] {
            assert_eq!(of_lines(&pattern(text), 3, Naming::Flags).unwrap_or_default(), expected, "{text}");
        }
        assert_eq!(of_lines(&scope(|_| {}), 3, Naming::Flags), None);
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
        let none = UnknownCalls::default();
        for (scope, expected) in [
            (facts(&["f"], &[], &[]), "there is no definition here that calls f"),
            (facts(&["f", "g"], &["h"], &[]), "there is no definition here that calls f or g and is called by h"),
            (facts(&[], &[], &[UnitKind::Class]), "there is no class here"),
            (facts(&["f"], &[], &[UnitKind::Method]), "there is no method here that calls f"),
        ] {
            assert_eq!(of_units(&scope, &Question::Every, true, &none, Naming::Flags).as_deref(), Some(expected));
        }
        let named = |languages: &[&str]| UnknownCalls {
            are_named: true,
            languages: languages.iter().map(ToString::to_string).collect(),
        };
        for (scope, unknown, expected) in [
            (
                facts(&["A.f"], &[], &[]),
                named(&[]),
                "no definition here is known to call A.f; -w -e f shows where the name occurs",
            ),
            (
                facts(&["f-g"], &["h"], &[]),
                named(&["fsharp", "yaml"]),
                "no definition here is known to call f-g and to be called by h; calls are not known in files of fsharp \
                 and yaml; -F -e f-g shows where the name occurs",
            ),
        ] {
            assert_eq!(of_facts(&scope, &unknown, Naming::Flags).as_deref(), Some(expected));
        }
        let told = of_facts(
            &scope(|scope| {
                scope.facts.calls = vec!["f".to_string()];
                scope.types = vec!["go".to_string()];
            }),
            &named(&["yaml"]),
            Naming::Parameters,
        );
        let expected = "no definition here that is known to call f passes `languages` go; calls are not known in files \
                        of yaml; `pattern` f shows where the name occurs";
        assert_eq!(told.as_deref(), Some(expected));
    }

    #[test]
    fn filters_that_may_have_taken_units_away_are_named() {
        let asked = |change: &dyn Fn(&mut Scope)| {
            scope(|scope| {
                scope.facts.calls = vec!["f".to_string()];
                change(scope);
            })
        };
        for (scope, as_flags, as_parameters) in [
            (
                asked(&|scope| scope.paths = vec!["src".into()]),
                "there is no definition in src that calls f",
                "there is no definition in src that calls f",
            ),
            (
                asked(&|scope| scope.tests = Some(colgrep_engine::Tests::Only)),
                "no definition here that calls f passes --tests only",
                "no definition here that calls f passes `tests` only",
            ),
            (
                asked(&|scope| (scope.types, scope.exclude) = (vec!["go".into()], vec!["*.py".into()])),
                "no definition here that calls f passes -t go --exclude '*.py'",
                "no definition here that calls f passes `languages` go `exclude` *.py",
            ),
            (
                asked(&|scope| scope.pattern = Some(Pattern::new("a b"))),
                "no definition here that calls f passes -e 'a b'",
                "no definition here that calls f passes `pattern` a b",
            ),
            (
                asked(&|scope| scope.structure = Some("f($A)".into())),
                "no definition here that calls f passes --ast 'f($A)'",
                "no definition here that calls f passes `pattern` f($A)",
            ),
        ] {
            let none = UnknownCalls::default();
            assert_eq!(of_facts(&scope, &none, Naming::Flags).as_deref(), Some(as_flags));
            assert_eq!(of_facts(&scope, &none, Naming::Parameters).as_deref(), Some(as_parameters));
        }
    }

    #[test]
    fn filters_in_a_query_are_named_as_they_stand_there() {
        let mut request = colgrep_engine::SearchRequest::new("push file:nosuch -file:vendor file:*.py");
        request.read_filters(false);
        assert_eq!(
            of_filters(&request.scope, Naming::Flags).as_deref(),
            Some("no file here passes --iglob '*.py' file:nosuch -file:vendor")
        );
    }
}
