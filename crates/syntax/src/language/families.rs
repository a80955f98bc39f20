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
