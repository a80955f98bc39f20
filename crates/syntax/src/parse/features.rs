//! The conditions under which units are compiled: features, names of `#ifdef`, build tags.

use colgrep_core::Unit;

use super::collect::{Condition, Definition};
use super::{LIST_LEN_MAX, NAME_BYTES_MAX};
use crate::budget::{Budget, Spent};

/// Maximum of conditions read of one file.
const CONDITIONS_MAX: usize = 1_024;
/// Words of a condition that are not names.
const GLUE: [&str; 8] = ["all", "any", "build", "defined", "feature", "go", "if", "not"];

/// Adds the names of each condition to the units in its scope.
///
/// # Errors
/// When this takes too much time.
pub(super) fn fill(
    units: &mut [Option<Unit>],
    definitions: &[Definition],
    conditions: &[Condition],
    text: &str,
    budget: &Budget,
) -> Result<(), Spent> {
    for Condition { text: own, scope } in conditions.iter().take(CONDITIONS_MAX) {
        budget.check()?;
        let holds = |d: &&Definition| d.bytes.start <= own.start && own.end <= d.bytes.end;
        let around = || definitions.iter().filter(holds).map(|d| d.bytes.clone()).min_by_key(ExactSizeIterator::len);
        let Some(scope) = scope.clone().or_else(around) else { continue };
        let names: Vec<&str> = names(&text[own.clone()]).collect();
        // Definitions are sorted by their beginnings.
        let first = definitions.partition_point(|d| d.bytes.start < scope.start);
        let inside = definitions[first..].iter().take_while(|d| d.bytes.start < scope.end);
        for (unit, definition) in units[first..].iter_mut().zip(inside) {
            let Some(unit) = unit.as_mut().filter(|_| definition.bytes.end <= scope.end) else { continue };
            for name in &names {
                if unit.features.len() < LIST_LEN_MAX && !unit.features.iter().any(|known| known == name) {
                    unit.features.push((*name).to_string());
                }
            }
        }
    }
    Ok(())
}

/// The names in a condition: quoted ones, if there are any, else its words.
fn names(condition: &str) -> impl Iterator<Item = &str> {
    let quoted = condition.contains('"');
    let parts: Vec<&str> = match quoted {
        true => condition.split('"').skip(1).step_by(2).collect(),
        false => condition.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).collect(),
    };
    let is_name = |name: &&str| {
        let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        begins && name.len() <= NAME_BYTES_MAX
    };
    parts.into_iter().filter(is_name).filter(move |name| quoted || !GLUE.contains(name)).take(LIST_LEN_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::by_name;
    use crate::parse::parse;

    #[test]
    fn conditions_give_their_names() {
        for (condition, expected) in [
            ("(feature = \"serde\")", "serde"),
            ("(all(unix, feature = \"fast-path\", not(feature = \"x\")))", "fast-path x"),
            ("defined(USE_SSL) && !defined(NO_TLS) && VERSION > 3", "USE_SSL NO_TLS VERSION"),
            ("//go:build linux && !cgo", "linux cgo"),
            ("// +build go1.20", "go1.20"),
            ("0", ""),
        ] {
            assert_eq!(names(condition).collect::<Vec<_>>().join(" "), expected, "{condition}");
        }
    }

    #[test]
    fn units_have_the_features_that_they_are_compiled_with() {
        for (language, text, expected) in [
            (
                "rust",
                "#[cfg(feature = \"a\")]\nmod m {\n    #[cfg(feature = \"b\")]\n    fn f() {}\n    fn g() {}\n}\n#[cfg(test)]\nfn h() {}\n",
                "m.f: a b, m.g: a, h: ",
            ),
            (
                "c",
                "#ifndef X_H\n#define X_H\n#ifdef HAVE_A\nint f(void) { return 1; }\n#endif\n#if defined(B)\nint g(void) { return 1; }\n#endif\nint h(void) { return 1; }\n#endif\n",
                "f: HAVE_A, g: B, h: ",
            ),
            (
                "c",
                "#ifdef A\nint f(void) { return 1; }\n#elif defined(B)\nint g(void) { return 1; }\n#else\nint h(void) { return 1; }\n#endif\n#ifndef C\nint i(void) { return 1; }\n#else\nint j(void) { return 1; }\n#endif\n",
                "f: A, g: B, h: , i: , j: C",
            ),
            (
                "csharp",
                "#if NET8_0\nclass A { }\n#elif NET6_0\nclass B { }\n#else\nclass C { }\n#endif\n",
                "A: NET8_0, B: NET6_0, C: ",
            ),
            (
                "rust",
                "#![cfg(feature = \"all\")]\n#[cfg_attr(feature = \"serde\", derive(Serialize), doc = \"text\")]\nstruct S;\nmod m {\n    #![cfg(feature = \"m\")]\n    #[cfg_attr(any(feature = \"x\", unix), serde(rename = \"z\"))]\n    struct T;\n}\n",
                "S: all serde, m.T: all m x",
            ),
            ("go", "//go:build linux && !cgo\n\npackage x\n\nfunc F() {}\n", "F: linux cgo"),
            ("csharp", "#if DEBUG\nclass A { void F() {} }\n#endif\nclass B { }\n", "A: DEBUG, A.F: DEBUG, B: "),
        ] {
            let units = parse(text, by_name(language).expect("a row")).units;
            let named = units.iter().filter(|u| u.kind.is_definition());
            let shown: Vec<String> =
                named.map(|u| format!("{}: {}", u.qualified_name(), u.features.join(" "))).collect();
            assert_eq!(shown.join(", "), expected, "{language}");
        }
    }
}
