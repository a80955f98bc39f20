//! Files of languages outside the table: whether they are programs or text for people.

/// Extensions of programs, grammars, shaders and templates outside the table.
const CODE_EXTENSIONS: &[&str] = &[
    "abap", "ac", "ada", "adb", "ado", "ads", "agda", "ahk", "apex", "as", "asm", "astro", "avdl", "awk", "bas", "bat",
    "blade", "cairo", "capnp", "cbl", "cl", "clj", "cljc", "cljs", "cls", "cmd", "cob", "coffee", "comp", "cr",
    "cshtml", "cu", "cuh", "d", "dats", "di", "do", "eex", "ejs", "el", "elm", "erb", "erl", "f", "f03", "f08", "f77",
    "f90", "f95", "fbs", "fish", "for", "frag", "fs", "fsi", "fsx", "fut", "g4", "gd", "gleam", "glsl", "gohtml",
    "gotmpl", "gradle", "groovy", "haml", "hbs", "heex", "hlsl", "hrl", "hx", "hy", "idr", "in", "inc", "j2", "jai",
    "jinja", "jinja2", "jison", "jq", "jsp", "k", "l", "lalrpop", "lean", "leex", "lhs", "liquid", "lisp", "ll", "ls",
    "lsp", "m", "m4", "metal", "mlir", "mll", "mly", "mojo", "move", "mustache", "nasm", "nim", "njk", "nu", "odin",
    "p6", "pas", "peg", "pegjs", "pest", "pl", "pp", "pro", "prolog", "pug", "purs", "q", "r", "ragel", "raku",
    "razor", "re", "rei", "res", "rkt", "rl", "roc", "s", "sas", "sed", "slim", "sml", "ss", "stan", "sv", "svh", "t",
    "tcl", "td", "thrift", "thy", "tmpl", "tpl", "trigger", "ts", "twig", "v", "vala", "vb", "vbs", "vert", "vhd",
    "vhdl", "vim", "wat", "wgsl", "y", "yy",
];

/// Whether a file outside the table looks like data by its path: it has an extension that no program has.
pub fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().trim_start_matches('.');
    name.rsplit_once('.').is_some_and(|(_, extension)| !CODE_EXTENSIONS.contains(&&*extension.to_lowercase()))
}

/// Names of files of prose that have no extension, lower case.
const PROSE_NAMES: &[&str] = &[
    "authors",
    "changelog",
    "changes",
    "contributing",
    "contributors",
    "copying",
    "copyright",
    "credits",
    "history",
    "install",
    "licence",
    "license",
    "maintainers",
    "news",
    "notice",
    "readme",
    "thanks",
    "todo",
    "unlicense",
];
/// Those of them that may have a suffix: `LICENSE-MIT`, `COPYING.LESSER`, `ChangeLog-2019`, `README.ja`.
const OPEN_PROSE_NAMES: &[&str] =
    &["changelog", "changes", "copying", "licence", "license", "news", "notice", "readme", "unlicense"];

/// Whether a file outside the table is prose by its name, in any case.
pub(super) fn is_prose(file_name: &str) -> bool {
    let lower = file_name.to_lowercase();
    match lower.split_once(['-', '.', '_']) {
        None => PROSE_NAMES.contains(&lower.as_str()),
        Some((stem, _)) => OPEN_PROSE_NAMES.contains(&stem) && (!lower.contains('.') || is_data(&lower)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_a_row_are_told_from_data() {
        for (path, expected) in [
            ("src/core.clj", false),
            ("boot.S", false),
            ("bin/run", false),
            (".gitattributes", false),
            ("src/builtin.jq", false),
            ("ext/http.rl", false),
            ("lib/page.html.heex", false),
            ("views/a.html.erb", false),
            ("tmux.1", true),
            ("caddytest/a.caddyfiletest", true),
            ("queries/go/highlights.scm", true),
        ] {
            assert_eq!(is_data(path), expected, "{path}");
        }
        assert!(CODE_EXTENSIONS.is_sorted());
    }

    #[test]
    fn prose_without_an_extension_goes_by_its_name() {
        for (name, expected) in [
            ("ChangeLog", true),
            ("changes", true),
            ("CONTRIBUTORS", true),
            ("LICENSE-MIT", true),
            ("LICENSE.apache", true),
            ("COPYING.LESSER", true),
            ("COPYING-v2.1", true),
            ("ChangeLog-2019", true),
            ("README.ja", true),
            ("Install", true),
            ("Makefile", false),
            ("Gemfile", false),
            ("install-sh", false),
            ("licenses", false),
            ("license.clj", false),
            ("history.db", false),
            ("", false),
        ] {
            assert_eq!(is_prose(name), expected, "{name}");
        }
        for (path, head, language) in
            [("a/LICENSE-MIT", "MIT License\n", "text"), ("a/news", "#!/bin/sh\n", "bash"), ("a/Gemfile", "", "ruby")]
        {
            assert_eq!(crate::language::of_file(path, head.as_bytes()).name, language, "{path}");
        }
        assert!(PROSE_NAMES.is_sorted() && OPEN_PROSE_NAMES.iter().all(|name| PROSE_NAMES.contains(name)));
    }
}
