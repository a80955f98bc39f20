//! Files that no row of the table names: whether they hold programs all the same.

/// Extensions of programs, grammars, shaders and templates that the table has no row for.
const CODE_EXTENSIONS: &[&str] = &[
    "abap", "ac", "ada", "adb", "ado", "ads", "agda", "ahk", "apex", "as", "asm", "astro", "avdl", "awk", "bas", "bat",
    "bazel", "blade", "bzl", "cairo", "capnp", "cbl", "cl", "clj", "cljc", "cljs", "cls", "cmake", "cmd", "cob",
    "coffee", "comp", "cr", "cshtml", "cu", "cuh", "d", "dats", "di", "do", "ejs", "el", "elm", "erb", "erl", "f",
    "f03", "f08", "f77", "f90", "f95", "fbs", "fish", "for", "frag", "fs", "fsi", "fsx", "fut", "g4", "gd", "gleam",
    "glsl", "gradle", "groovy", "haml", "hbs", "hlsl", "hrl", "hx", "hy", "idr", "in", "inc", "ino", "j2", "jai",
    "jinja", "jinja2", "jsp", "k", "l", "lalrpop", "lean", "lhs", "liquid", "lisp", "ll", "ls", "lsp", "m", "m4",
    "metal", "mlir", "mll", "mly", "mojo", "move", "mustache", "nasm", "nim", "nu", "odin", "p6", "pas", "peg", "pest",
    "pl", "pp", "pro", "prolog", "pug", "purs", "q", "r", "raku", "razor", "re", "rei", "res", "rkt", "roc", "s",
    "sas", "sed", "slim", "sml", "ss", "stan", "star", "sv", "svh", "t", "tcl", "td", "thrift", "thy", "tmpl",
    "trigger", "ts", "twig", "v", "vala", "vb", "vbs", "vert", "vhd", "vhdl", "vim", "wat", "wgsl", "y", "yy",
];

/// Whether a file that no row names is data by the look of its path: it has an extension, and none of a program's.
pub fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().trim_start_matches('.');
    name.rsplit_once('.').is_some_and(|(_, extension)| !CODE_EXTENSIONS.contains(&&*extension.to_lowercase()))
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
            ("views/a.html.erb", false),
            ("tmux.1", true),
            ("caddytest/a.caddyfiletest", true),
            ("queries/go/highlights.scm", true),
        ] {
            assert_eq!(is_data(path), expected, "{path}");
        }
        assert!(CODE_EXTENSIONS.is_sorted());
    }
}
