//! The table of languages, one per row.

use colgrep_core::LanguagePaths;

use super::Category::{Data, Prose, Unknown};
use super::{Language, Reader, attributes, by_lines, cython, prepare, rust_items};

const NONE: Language = Language::NONE;

/// Whether a line of SQL gives values: `INSERT INTO t VALUES (1, 'a');`, or a further row of it.
fn is_sql_data_row(line: &str) -> bool {
    let line = line.trim_start();
    let begins = |word: &str| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    line.starts_with('(') || ["insert ", "replace into ", "values"].into_iter().any(begins)
}

const SLASHES: &[&str] = &["//", "/*"];
const HASH: &[&str] = &["#"];
const DASHES: &[&str] = &["--"];

macro_rules! fragment {
    ($name:literal) => {
        ($name, include_str!(concat!("queries/", $name, ".scm")))
    };
}

/// Parts of queries that several languages inherit, by name.
pub(super) static FRAGMENTS: [(&str, &str); 4] =
    [fragment!("c_base"), fragment!("c_family"), fragment!("ecmascript"), fragment!("jsx")];

macro_rules! row {
    ($name:literal, $grammar:ident $(, $field:ident: $value:expr)* $(,)?) => {
        Language {
            name: $name,
            grammar: Some(|| $grammar::language().into()),
            query: include_str!(concat!("queries/", $name, ".scm")),
            $($field: $value,)*
            ..NONE
        }
    };
}

/// Every language. Row positions are not stored anywhere, so rows may move, but `unknown` stays last.
pub static LANGUAGES: &[Language] = &[
    row!("bash", arborium_bash, comments: HASH, aliases: &["sh", "shell"], extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
        file_names: &[".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"], interpreters: &["sh", "bash", "zsh", "ksh", "dash", "bats"],
        prepare: Some(prepare::bash), paths: LanguagePaths { test_extensions: &["bats"], ..LanguagePaths::NONE }, function_keywords: &["function"]),
    row!("c", arborium_c, comments: SLASHES, indents_locals: true, prepare: Some(prepare::c), extensions: &["c"], member_extensions: &["inc"], type_keywords: &["struct", "enum", "union", "typedef"], value_keywords: &["#define"]),
    row!("cpp", arborium_cpp, comments: SLASHES, indents_locals: true, prepare: Some(prepare::cpp), aliases: &["c++", "cxx"], extensions: &["cc", "cpp", "cxx", "c++", "cppm", "ixx", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "tcc", "txx", "inl", "cu", "cuh", "ino", "metal"], member_extensions: &["inc"], paths: LanguagePaths { camel_tests: &["cc", "cpp", "cxx"], surefire_tests: &["cc", "cpp", "cxx"], ..LanguagePaths::NONE }, type_keywords: &["class", "struct", "enum", "union", "namespace", "concept", "typedef"], value_keywords: &["#define"]),
    row!("csharp", arborium_c_sharp, comments: SLASHES, prepare: Some(prepare::csharp), aliases: &["cs", "c#"], extensions: &["cs", "csx"], paths: LanguagePaths { camel_tests: &["cs"], surefire_tests: &["cs"], generated: &[".g.cs"], folder_modules: &["cs"], ..LanguagePaths::NONE }, type_keywords: &["class", "struct", "enum", "interface", "record", "namespace"], has_xml_docs: true, value_keywords: &["const"]),
    row!("css", arborium_css, extensions: &["css"], paths: LanguagePaths { built: &["css"], ..LanguagePaths::NONE }, category: Data, minified_extensions: &["css"]),
    row!("dart", arborium_dart, comments: SLASHES, extensions: &["dart"], interpreters: &["dart"], paths: LanguagePaths { generated: &[".g.dart"], ..LanguagePaths::NONE }, type_keywords: &["class", "enum", "typedef", "extension"]),
    row!("dockerfile", arborium_dockerfile, comments: HASH, aliases: &["docker"], extensions: &["dockerfile"], file_names: &["Dockerfile", "Containerfile"], file_stems: &["Dockerfile", "Containerfile"]),
    row!("elixir", arborium_elixir, comments: HASH, types_need_brackets: false, extensions: &["ex", "exs"], interpreters: &["elixir"], merges_clauses: true, lock_files: &["mix.lock"], type_keywords: &["defmodule"], function_keywords: &["def", "defp", "defmacro", "defmacrop"]),
    row!("go", arborium_go, comments: SLASHES, aliases: &["golang"], extensions: &["go"], paths: LanguagePaths { folder_modules: &["go"], ..LanguagePaths::NONE }, lock_files: &["go.sum"], type_keywords: &["type"], function_keywords: &["func"], value_keywords: &["const", "var"]),
    row!("graphql", arborium_graphql, comments: HASH, extensions: &["graphql", "gql", "graphqls"], type_keywords: &["type", "interface", "enum", "union"]),
    row!("haskell", arborium_haskell, comments: DASHES, prepare: Some(prepare::haskell), types_need_brackets: false, aliases: &["hs"], extensions: &["hs"], interpreters: &["runhaskell"], merges_clauses: true, paths: LanguagePaths { camel_tests: &["hs"], test_files: &["Spec.hs"], ..LanguagePaths::NONE }, type_keywords: &["data", "newtype", "type", "class", "module"]),
    row!("hcl", arborium_hcl, comments: &["#", "//", "/*"], aliases: &["terraform"], extensions: &["hcl", "tf", "tfvars", "tofu", "nomad"], value_keywords: &["resource", "module", "variable", "output", "data"], references: &[("var.", "variable."), ("data.", "")]),
    row!("html", arborium_html, extensions: &["html", "htm", "xhtml"], category: Data, minified_extensions: &["html", "htm"]),
    row!("java", arborium_java, comments: SLASHES, extensions: &["java"], paths: LanguagePaths { camel_tests: &["java"], surefire_tests: &["java"], barrels: &["package-info.java"], role_stems: &["package"], layout_folders: &["java"], ..LanguagePaths::NONE }, type_keywords: &["class", "interface", "enum", "record"]),
    row!("javascript", arborium_javascript, comments: SLASHES, aliases: &["js", "jsx"], extensions: &["js", "jsx", "mjs", "cjs", "es6"], interpreters: &["node"], paths: LanguagePaths { test_parts: &["cy"], built: &["js", "mjs", "cjs"], role_stems: &["index"], ..LanguagePaths::NONE }, lock_files: &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"], minified_extensions: &["js", "mjs", "cjs", "map"], type_keywords: &["class"], function_keywords: &["function"], value_keywords: &["const", "let", "var"]),
    row!("json", arborium_json, extensions: &["json", "jsonc", "json5", "webmanifest"], file_names: &[".babelrc", ".eslintrc"], category: Data, reader: Some(Reader::Records), minified_extensions: &["json"]),
    row!("julia", arborium_julia, comments: HASH, types_need_brackets: false, extensions: &["jl"], interpreters: &["julia"], paths: LanguagePaths { test_files: &["runtests.jl"], ..LanguagePaths::NONE }, type_keywords: &["struct", "module", "type"], function_keywords: &["function"], value_keywords: &["macro", "const"]),
    row!("kotlin", arborium_kotlin, comments: SLASHES, aliases: &["kt"], extensions: &["kt", "kts"], prepare: Some(prepare::kotlin), paths: LanguagePaths { camel_tests: &["kt"], surefire_tests: &["kt"], layout_folders: &["kotlin"], ..LanguagePaths::NONE }, type_keywords: &["class", "interface", "object"], function_keywords: &["fun"], value_keywords: &["val", "var"]),
    row!("lua", arborium_lua, comments: DASHES, prepare: Some(prepare::lua), types_need_brackets: false, extensions: &["lua", "luau", "rockspec"], interpreters: &["lua", "luajit", "luau"], function_keywords: &["function"], value_keywords: &["local"]),
    row!("make", arborium_make, comments: HASH, prepare: Some(prepare::make), aliases: &["makefile"], extensions: &["mk", "mak"], file_names: &["Makefile", "makefile", "GNUmakefile"], interpreters: &["make"], file_stems: &["Makefile"]),
    row!("markdown", arborium_markdown, aliases: &["md"], extensions: &["md", "markdown", "mdx", "mdown"], category: Prose,
        prepare: Some(prepare::narrow), has_markdown_headings: true),
    row!("rmarkdown", arborium_markdown, aliases: &["rmd", "quarto", "qmd"], extensions: &["rmd", "qmd"], category: Prose,
        prepare: Some(prepare::narrow), has_markdown_headings: true),
    row!("nix", arborium_nix, comments: HASH, extensions: &["nix"]),
    row!("objc", arborium_objc, comments: SLASHES, indents_locals: true, prepare: Some(prepare::c), aliases: &["objective-c"], extensions: &["mm"], member_extensions: &["m"], paths: LanguagePaths { camel_tests: &["m", "mm"], ..LanguagePaths::NONE }, type_keywords: &["struct", "enum", "union", "typedef"], value_keywords: &["@interface", "@protocol", "@implementation"]),
    row!("ocaml", arborium_ocaml, comments: &["(*"], aliases: &["ml"], extensions: &["ml"], type_keywords: &["type", "module", "class"], value_keywords: &["let", "val"]),
    row!("perl", arborium_perl, comments: HASH, reader: Some(Reader::Pod), aliases: &["pl"], extensions: &["pm"], interpreters: &["perl"], member_extensions: &["t"], function_keywords: &["sub"]),
    Language {
        name: "php",
        extensions: &["php", "phtml", "php5", "php7"],
        interpreters: &["php"],
        member_extensions: &["inc"],
        paths: LanguagePaths { camel_tests: &["php"], ..LanguagePaths::NONE },
        lock_files: &["composer.lock"],
        type_keywords: &["class", "interface", "trait", "enum", "namespace"],
        function_keywords: &["function"],
        value_keywords: &["const"],
        comments: &["#", "//", "/*"],
        grammar: Some(|| tree_sitter_php::LANGUAGE_PHP.into()),
        query: include_str!("queries/php.scm"),
        ..NONE
    },
    row!("powershell", arborium_powershell, comments: HASH, aliases: &["ps1", "pwsh"], extensions: &["ps1", "psm1", "psd1"], interpreters: &["pwsh"], function_keywords: &["function"]),
    row!("proto", arborium_proto, comments: SLASHES, aliases: &["protobuf"], extensions: &["proto"], type_keywords: &["enum"], value_keywords: &["message", "service", "rpc"]),
    row!("python", arborium_python, comments: HASH, prepare: Some(cython::as_python), types_need_brackets: false, aliases: &["py", "starlark"], extensions: &["py", "pyi", "pyx", "pxd", "pyw", "bzl", "bazel", "star", "vy", "sage"],
        file_names: &["SConstruct", "SConscript", "wscript", "BUILD", "BUCK", "Snakefile", "WORKSPACE", "WORKSPACE.bzlmod", "Tiltfile"],
        interpreters: &["python", "python2", "python3", "uv"], paths: LanguagePaths { test_files: &["conftest.py"], typings: &[".pyi"], barrels: &["__init__.py"], role_stems: &["__init__"], layout_folders: &["python"], ..LanguagePaths::NONE }, lock_files: &["poetry.lock", "uv.lock", "Pipfile.lock"], type_keywords: &["class"], function_keywords: &["def"]),
    row!("r", arborium_r, comments: HASH, extensions: &[], interpreters: &["Rscript"], member_extensions: &["r"]),
    Language {
        name: "ruby",
        grammar: Some(|| arborium_ruby::language().into()),
        query: include_str!("queries/ruby.scm"),
        comments: HASH,
        types_need_brackets: false,
        aliases: &["rb"],
        extensions: &["rb", "rake", "gemspec", "podspec", "jbuilder", "rbi", "ru"],
        file_names: &[
            "Rakefile",
            "Gemfile",
            "Vagrantfile",
            "Podfile",
            "Fastfile",
            "Appfile",
            "Guardfile",
            "Brewfile",
            "Dangerfile",
            "Capfile",
            "Berksfile",
            "Thorfile",
            "Puppetfile",
        ],
        interpreters: &["ruby", "jruby"],
        lock_files: &["Gemfile.lock"],
        type_keywords: &["class", "module"],
        function_keywords: &["def"],
        ..NONE
    },
    row!("rust", arborium_rust, comments: SLASHES, prepare: Some(rust_items::rust_items), aliases: &["rs"], extensions: &["rs"], paths: LanguagePaths { role_stems: &["mod", "lib"], ..LanguagePaths::NONE }, lock_files: &["Cargo.lock"], type_keywords: &["struct", "enum", "union", "trait", "type"], has_test_modules: true, is_test: Some(attributes::rust_test), function_keywords: &["fn"], value_keywords: &["const", "static", "macro_rules!"]),
    row!("scala", arborium_scala, comments: SLASHES, extensions: &["scala", "sc", "sbt"], interpreters: &["scala"], member_extensions: &["sc"], paths: LanguagePaths { camel_tests: &["scala"], surefire_tests: &["scala"], role_stems: &["package"], layout_folders: &["scala"], ..LanguagePaths::NONE }, type_keywords: &["class", "trait", "object", "enum", "type"], function_keywords: &["def"], value_keywords: &["val", "var"]),
    row!("solidity", arborium_solidity, comments: SLASHES, aliases: &["sol"], extensions: &["sol"], paths: LanguagePaths { camel_tests: &["sol"], test_parts: &["t"], ..LanguagePaths::NONE }, type_keywords: &["struct", "enum", "interface"], function_keywords: &["function"], value_keywords: &["modifier", "event", "contract", "library"]),
    Language {
        name: "sql",
        grammar: Some(|| arborium_sql::language().into()),
        query: include_str!("queries/sql.scm"),
        reader: Some(Reader::Statements),
        comments: &["--", "/*"],
        is_data_row: Some(is_sql_data_row),
        extensions: &["sql", "ddl", "dml", "pgsql", "psql", "plsql", "pks", "pkb"],
        ..NONE
    },
    row!("svelte", arborium_svelte, extensions: &["svelte"]),
    row!("swift", arborium_swift, comments: SLASHES, extensions: &["swift"], interpreters: &["swift"], prepare: Some(prepare::swift), paths: LanguagePaths { camel_tests: &["swift"], ..LanguagePaths::NONE }, type_keywords: &["class", "struct", "enum", "protocol", "extension", "actor"], function_keywords: &["func"], value_keywords: &["let", "var"]),
    row!("toml", arborium_toml, extensions: &["toml"], file_names: &["Cargo.lock", "poetry.lock"], category: Data),
    row!("tsx", arborium_tsx, comments: SLASHES, extensions: &["tsx"], function_keywords: &["function"], value_keywords: &["const", "let", "var"]),
    row!("typescript", arborium_typescript, comments: SLASHES, aliases: &["ts"], extensions: &["mts", "cts"], interpreters: &["deno", "tsx", "ts-node", "bun"], paths: LanguagePaths { typings: &[".d.ts"], ..LanguagePaths::NONE }, type_keywords: &["class", "interface", "enum", "type", "namespace", "module"], function_keywords: &["function"], value_keywords: &["const", "let", "var"]),
    row!("vue", arborium_vue, extensions: &["vue"]),
    row!("yaml", arborium_yaml, prepare: Some(prepare::yaml), aliases: &["yml"], extensions: &["yaml", "yml"], file_names: &[".clang-format", ".clang-tidy"], category: Data),
    row!("zig", arborium_zig, comments: SLASHES, extensions: &["zig", "zon"], function_keywords: &["fn"], value_keywords: &["const", "var"]),
    // Rows without a grammar: their files have a special reader, or are cut into blocks of lines.
    Language {
        name: "restructuredtext",
        aliases: &["rst"],
        extensions: &["rst", "rest"],
        member_extensions: &["rest"],
        category: Prose,
        reader: Some(Reader::Underlined),
        ..NONE
    },
    Language {
        name: "asciidoc",
        aliases: &["adoc"],
        extensions: &["adoc", "asciidoc"],
        category: Prose,
        reader: Some(Reader::Rows),
        ..NONE
    },
    Language {
        name: "org",
        extensions: &["org"],
        member_extensions: &["org"],
        category: Prose,
        reader: Some(Reader::Stars),
        ..NONE
    },
    Language {
        name: "latex",
        aliases: &["tex"],
        extensions: &["tex", "ltx"],
        category: Prose,
        reader: Some(Reader::Commands),
        ..NONE
    },
    Language {
        name: "pod",
        extensions: &["pod"],
        member_extensions: &["pod"],
        category: Prose,
        reader: Some(Reader::Pod),
        ..NONE
    },
    Language {
        name: "jupyter",
        aliases: &["notebook", "ipynb"],
        extensions: &["ipynb"],
        reader: Some(Reader::Notebook),
        ..NONE
    },
    Language {
        name: "text",
        aliases: &["txt"],
        extensions: &["txt", "rdoc", "log"],
        member_extensions: &["log"],
        file_names: &["LICENSE", "COPYING", "README", "NOTICE", "AUTHORS", "CHANGES", "CHANGELOG", "TODO"],
        category: Prose,
        reader: Some(Reader::Underlined),
        ..NONE
    },
    Language {
        name: "jsonl",
        aliases: &["ndjson"],
        extensions: &["jsonl", "ndjson"],
        category: Data,
        reader: Some(Reader::Records),
        ..NONE
    },
    Language { name: "csv", extensions: &["csv", "tsv"], category: Data, ..NONE },
    // Languages whose definitions are read from lines.
    by_lines::ADA,
    by_lines::ANTLR,
    by_lines::APEX,
    by_lines::ASSEMBLER,
    by_lines::ASTRO,
    by_lines::AWK,
    by_lines::BATCH,
    by_lines::BICEP,
    by_lines::BLADE,
    by_lines::CAPNP,
    by_lines::CLOJURE,
    by_lines::CMAKE,
    by_lines::COBOL,
    by_lines::COFFEESCRIPT,
    by_lines::CRYSTAL,
    by_lines::CUE,
    by_lines::DLANG,
    by_lines::EEX,
    by_lines::ELM,
    by_lines::EMACS_LISP,
    by_lines::ERB,
    by_lines::ERLANG,
    by_lines::FENNEL,
    by_lines::FISH,
    by_lines::FLATBUFFERS,
    by_lines::FORTRAN,
    by_lines::FSHARP,
    by_lines::GDSCRIPT,
    by_lines::GLEAM,
    by_lines::GLSL,
    by_lines::GO_TEMPLATE,
    by_lines::GROOVY,
    by_lines::HANDLEBARS,
    by_lines::HAXE,
    by_lines::HLSL,
    by_lines::INI,
    by_lines::JANET,
    by_lines::JINJA,
    by_lines::JSONNET,
    by_lines::JUST,
    by_lines::KCONFIG,
    by_lines::LEAN,
    by_lines::LISP,
    by_lines::LLVM,
    by_lines::M4,
    by_lines::MATLAB,
    by_lines::MESON,
    by_lines::MOJO,
    by_lines::MOVE,
    by_lines::NIM,
    by_lines::NUSHELL,
    by_lines::OCAML_INTERFACE,
    by_lines::ODIN,
    by_lines::PASCAL,
    by_lines::PEST,
    by_lines::PKL,
    by_lines::PRISMA,
    by_lines::PROLOG,
    by_lines::PUPPET,
    by_lines::PURESCRIPT,
    by_lines::QML,
    by_lines::RACKET,
    by_lines::RAKU,
    by_lines::RAZOR,
    by_lines::REGO,
    by_lines::RESCRIPT,
    by_lines::ROBOT,
    by_lines::SCHEME,
    by_lines::SMITHY,
    by_lines::STYLE,
    by_lines::SYSTEM_VERILOG,
    by_lines::TCL,
    by_lines::THRIFT,
    by_lines::TYPESPEC,
    by_lines::VALA,
    by_lines::VHDL,
    by_lines::VIM,
    by_lines::VISUAL_BASIC,
    by_lines::VLANG,
    by_lines::WGSL,
    by_lines::XML,
    // The row for the files of all other languages.
    Language {
        name: "unknown",
        category: Unknown,
        paths: LanguagePaths {
            camel_tests: &["groovy", "fs"],
            surefire_tests: &["groovy"],
            test_extensions: &["snap"],
            ..LanguagePaths::NONE
        },
        ..NONE
    },
];
