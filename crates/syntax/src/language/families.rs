//! Which languages call each other.

/// Languages whose programs call each other directly; any other calls its own alone.
const FAMILIES: &[&[&str]] = &[
    &["c", "cpp", "objc", "swift", "assembler", "llvm"],
    &["javascript", "typescript", "tsx", "coffeescript", "rescript", "vue", "svelte", "astro", "html", "qml"],
    &["java", "kotlin", "scala", "groovy", "clojure"],
    &["csharp", "fsharp", "visualbasic", "razor"],
    &["elixir", "erlang", "gleam", "eex"],
    &["python", "mojo", "jupyter", "jinja", "robotframework"],
    &["ruby", "erb"],
    &["php", "blade"],
    &["go", "gotemplate"],
    &["ocaml", "ocaml-interface"],
    &["lua", "fennel", "vimscript"],
    &["r", "rmarkdown"],
    &["systemverilog", "vhdl"],
];

/// Languages of interfaces, which programs in any language call.
const INTERFACES: &[&str] = &["proto", "thrift", "capnp", "smithy", "graphql", "typespec"];

/// Whether a call in one language may mean a definition in another; both as in the table.
pub fn may_call(caller: &str, callee: &str) -> bool {
    caller == callee
        || INTERFACES.contains(&callee)
        || FAMILIES.iter().any(|family| family.contains(&caller) && family.contains(&callee))
}

/// Names of the methods that run where their class is called, and the languages in which they do; in any if none is named.
const CONSTRUCTORS: &[(&str, &[&str])] = &[
    ("__construct", &[]),
    ("__init__", &[]),
    ("__new__", &[]),
    ("constructor", &[]),
    ("initialize", &["ruby", "erb"]),
    ("init", &["swift"]),
    ("this", &["scala"]),
];

/// Whether a method of a class runs where the class is called, as in `Tank(3)`, `new Tank(3)` and `Tank.new(3)`.
pub fn is_constructor(language: &str, class: &str, method: &str) -> bool {
    let is_named = |(name, languages): &(&str, &[&str])| {
        *name == method && (languages.is_empty() || languages.contains(&language))
    };
    !class.is_empty() && (class == method || CONSTRUCTORS.iter().any(is_named))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::language::LANGUAGES;

    #[test]
    fn languages_call_their_family_and_interfaces() {
        for (caller, callee, expected) in [
            ("rust", "rust", true),
            ("python", "javascript", false),
            ("vue", "typescript", true),
            ("kotlin", "java", true),
            ("java", "csharp", false),
            ("go", "proto", true),
            ("proto", "go", false),
        ] {
            assert_eq!(may_call(caller, callee), expected, "{caller} {callee}");
        }
    }

    #[test]
    fn every_name_is_a_row_and_of_one_family() {
        let mut seen = BTreeSet::new();
        for name in FAMILIES.iter().copied().flatten().chain(INTERFACES) {
            assert!(LANGUAGES.iter().any(|row| row.name == *name), "{name}");
            assert!(seen.insert(name), "{name}");
        }
    }
}
