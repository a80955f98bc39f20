//! The table of languages: one row each, and the file's path or first bytes that choose a row.

mod nesting;
pub mod pattern;
mod prepare;
mod sniff;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use pattern::Patterns;

/// Bytes at the front that tell a file's language.
const HEAD_BYTES: usize = 64 << 10;

/// What a file of a language is for. Ranking and `--code-only` go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Programs, and the schemas and build rules that count as such.
    Code,
    /// Text for people.
    Prose,
    /// Configuration, data and markup.
    Data,
    /// A file whose extension no row names.
    Unknown,
}

/// One row of the table.
pub struct Language {
    /// Lower-case name, as in `-t NAME` and in JSON.
    pub name: &'static str,
    /// Other names that `-t` takes.
    pub aliases: &'static [&'static str],
    /// Extensions without the dot, lower case.
    pub extensions: &'static [&'static str],
    /// Whole file names, as written.
    pub file_names: &'static [&'static str],
    /// Names of interpreters in a `#!` line.
    pub interpreters: &'static [&'static str],
    /// What its files are for.
    pub category: Category,
    /// The grammar, for languages that have one.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// The text of `queries/<name>.scm`: what is a unit (`docs/architecture.md` lists the captures).
    pub query: &'static str,
    /// Whether neighbouring functions of one name are the clauses of one function.
    pub merges_clauses: bool,
    /// Gives the grammar another text of equal length to read, where it can't read what people write
    /// (`None`: as it is). Names, documentation and bodies still come from the file.
    pub prepare: Option<fn(&str) -> Option<String>>,
    /// Whether a text is nested too deeply for the grammar's scanner, which would end the process.
    pub too_deep: Option<fn(&str) -> bool>,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Language({})", self.name)
    }
}

/// A grammar and its compiled unit query.
pub struct Compiled {
    /// The grammar.
    pub grammar: tree_sitter::Language,
    /// The query of `queries/<name>.scm`.
    pub query: Patterns,
}

const NONE: Language = Language {
    name: "",
    aliases: &[],
    extensions: &[],
    file_names: &[],
    interpreters: &[],
    category: Category::Code,
    grammar: None,
    query: "",
    merges_clauses: false,
    prepare: None,
    too_deep: None,
};

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

use Category::{Data, Prose, Unknown};

/// Every language. The position of a row is not stored anywhere: rows may move.
pub static LANGUAGES: &[Language] = &[
    row!("bash", arborium_bash, aliases: &["sh", "shell"], extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
        file_names: &[".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"], interpreters: &["sh", "bash", "zsh", "ksh", "dash", "bats"],
        prepare: Some(prepare::bash)),
    row!("c", arborium_c, extensions: &["c"]),
    row!("cpp", arborium_cpp, aliases: &["c++", "cxx"], extensions: &["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cu", "cuh"]),
    row!("csharp", arborium_c_sharp, aliases: &["cs", "c#"], extensions: &["cs", "csx"]),
    row!("css", arborium_css, extensions: &["css"], category: Data),
    row!("dart", arborium_dart, extensions: &["dart"], interpreters: &["dart"]),
    row!("dockerfile", arborium_dockerfile, aliases: &["docker"], extensions: &["dockerfile"], file_names: &["Dockerfile", "Containerfile"]),
    row!("elixir", arborium_elixir, extensions: &["ex", "exs"], interpreters: &["elixir"], merges_clauses: true),
    row!("go", arborium_go, aliases: &["golang"], extensions: &["go"]),
    row!("graphql", arborium_graphql, extensions: &["graphql", "gql", "graphqls"]),
    row!("haskell", arborium_haskell, aliases: &["hs"], extensions: &["hs"], interpreters: &["runhaskell"], merges_clauses: true),
    row!("hcl", arborium_hcl, aliases: &["terraform"], extensions: &["hcl", "tf", "tfvars"]),
    row!("html", arborium_html, extensions: &["html", "htm", "xhtml"], category: Data),
    row!("java", arborium_java, extensions: &["java"]),
    row!("javascript", arborium_javascript, aliases: &["js", "jsx"], extensions: &["js", "jsx", "mjs", "cjs"], interpreters: &["node"]),
    row!("json", arborium_json, extensions: &["json", "jsonc", "json5", "webmanifest"], file_names: &[".babelrc", ".eslintrc"], category: Data),
    row!("julia", arborium_julia, extensions: &["jl"], interpreters: &["julia"]),
    row!("kotlin", arborium_kotlin, aliases: &["kt"], extensions: &["kt", "kts"], too_deep: Some(nesting::interpolations)),
    row!("lua", arborium_lua, extensions: &["lua"], interpreters: &["lua", "luajit"]),
    row!("make", arborium_make, aliases: &["makefile"], extensions: &["mk", "mak"], file_names: &["Makefile", "makefile", "GNUmakefile"], interpreters: &["make"]),
    row!("markdown", arborium_markdown, aliases: &["md"], extensions: &["md", "markdown", "mdx", "mdown"], category: Prose, too_deep: Some(nesting::leads),
        prepare: Some(prepare::narrow)),
    row!("nix", arborium_nix, extensions: &["nix"]),
    row!("objc", arborium_objc, aliases: &["objective-c"], extensions: &["mm"]),
    row!("ocaml", arborium_ocaml, aliases: &["ml"], extensions: &["ml"]),
    row!("perl", arborium_perl, aliases: &["pl"], extensions: &["pm"], interpreters: &["perl"]),
    Language {
        name: "php",
        extensions: &["php", "phtml", "php5", "php7"],
        interpreters: &["php"],
        grammar: Some(|| tree_sitter_php::LANGUAGE_PHP.into()),
        query: include_str!("queries/php.scm"),
        ..NONE
    },
    row!("powershell", arborium_powershell, aliases: &["ps1", "pwsh"], extensions: &["ps1", "psm1", "psd1"], interpreters: &["pwsh"]),
    row!("proto", arborium_proto, aliases: &["protobuf"], extensions: &["proto"]),
    row!("python", arborium_python, aliases: &["py"], extensions: &["py", "pyi", "pyx", "pxd", "pyw"], file_names: &["SConstruct", "SConscript", "wscript"],
        interpreters: &["python", "python2", "python3", "uv"]),
    row!("r", arborium_r, extensions: &[], interpreters: &["Rscript"]),
    row!("ruby", arborium_ruby, aliases: &["rb"], extensions: &["rb", "rake", "gemspec", "ru"], file_names: &["Rakefile", "Gemfile", "Vagrantfile", "Podfile", "Fastfile", "Guardfile"],
        interpreters: &["ruby", "jruby"]),
    row!("rust", arborium_rust, aliases: &["rs"], extensions: &["rs"]),
    row!("scala", arborium_scala, extensions: &["scala", "sc", "sbt"], interpreters: &["scala"]),
    row!("solidity", arborium_solidity, aliases: &["sol"], extensions: &["sol"]),
    row!("sql", arborium_sql, extensions: &["sql", "ddl", "dml"]),
    row!("svelte", arborium_svelte, extensions: &["svelte"]),
    row!("swift", arborium_swift, extensions: &["swift"], interpreters: &["swift"], prepare: Some(prepare::swift_conditions)),
    row!("toml", arborium_toml, extensions: &["toml"], file_names: &["Cargo.lock", "poetry.lock"], category: Data),
    row!("tsx", arborium_tsx, extensions: &["tsx"]),
    row!("typescript", arborium_typescript, aliases: &["ts"], extensions: &["mts", "cts"], interpreters: &["deno", "tsx", "ts-node", "bun"]),
    row!("vue", arborium_vue, extensions: &["vue"]),
    row!("yaml", arborium_yaml, aliases: &["yml"], extensions: &["yaml", "yml"], file_names: &[".clang-format", ".clang-tidy"], category: Data, too_deep: Some(nesting::leads)),
    row!("zig", arborium_zig, extensions: &["zig", "zon"]),
    // Rows without a grammar: their files are cut into blocks of lines.
    Language { name: "ocaml-interface", aliases: &["mli"], extensions: &["mli"], ..NONE },
    Language { name: "restructuredtext", aliases: &["rst"], extensions: &["rst", "rest"], category: Prose, ..NONE },
    Language { name: "asciidoc", aliases: &["adoc"], extensions: &["adoc", "asciidoc"], category: Prose, ..NONE },
    Language {
        name: "text",
        aliases: &["txt"],
        extensions: &["txt", "org", "tex", "pod", "rdoc", "log"],
        file_names: &["LICENSE", "COPYING", "README", "NOTICE", "AUTHORS", "CHANGES", "CHANGELOG", "TODO"],
        category: Prose,
        ..NONE
    },
    Language {
        name: "xml",
        extensions: &[
            "xml",
            "svg",
            "xsd",
            "xsl",
            "plist",
            "csproj",
            "vbproj",
            "props",
            "targets",
            "resx",
            "storyboard",
            "xib",
        ],
        category: Data,
        ..NONE
    },
    Language {
        name: "ini",
        extensions: &["ini", "cfg", "conf", "properties", "env", "editorconfig"],
        category: Data,
        ..NONE
    },
    Language { name: "csv", extensions: &["csv", "tsv"], category: Data, ..NONE },
    Language {
        name: "style",
        aliases: &["scss", "sass", "less"],
        extensions: &["scss", "sass", "less", "styl"],
        category: Data,
        ..NONE
    },
    Language { name: "unknown", category: Unknown, ..NONE },
];

struct Lookup {
    by_name: HashMap<&'static str, usize>,
    by_extension: HashMap<&'static str, usize>,
    by_file_name: HashMap<&'static str, usize>,
    by_interpreter: HashMap<&'static str, usize>,
}

static LOOKUP: LazyLock<Lookup> = LazyLock::new(|| {
    let mut lookup = Lookup {
        by_name: HashMap::new(),
        by_extension: HashMap::new(),
        by_file_name: HashMap::new(),
        by_interpreter: HashMap::new(),
    };
    for (i, language) in LANGUAGES.iter().enumerate() {
        for name in language.aliases.iter().chain([&language.name]) {
            lookup.by_name.insert(name, i);
        }
        lookup.by_extension.extend(language.extensions.iter().map(|e| (*e, i)));
        lookup.by_file_name.extend(language.file_names.iter().map(|n| (*n, i)));
        lookup.by_interpreter.extend(language.interpreters.iter().map(|n| (*n, i)));
    }
    lookup
});

static COMPILED: LazyLock<Vec<OnceLock<Option<Compiled>>>> =
    LazyLock::new(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());

/// The row of that name or alias, any case.
pub fn by_name(name: &str) -> Option<&'static Language> {
    LOOKUP.by_name.get(name.to_lowercase().as_str()).map(|&i| &LANGUAGES[i])
}

/// The row for files that no other row names.
pub fn unknown() -> &'static Language {
    LANGUAGES.last().expect("the table has rows")
}

/// Whether a file's language is none of the table's.
pub fn is_unknown(language: &'static Language) -> bool {
    std::ptr::eq(language, unknown())
}

/// The rows that are a language: all but [`unknown`].
pub fn known() -> impl Iterator<Item = &'static Language> {
    LANGUAGES.iter().filter(|language| !is_unknown(language))
}

/// The language of a file, by its name, then its first bytes. `head` may be cut anywhere.
pub fn detect(path: &Path, head: &[u8]) -> &'static Language {
    let file_name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if let Some(&i) = LOOKUP.by_file_name.get(file_name) {
        return &LANGUAGES[i];
    }
    let stem = file_name.split('.').next().unwrap_or_default();
    if matches!(stem, "Dockerfile" | "Containerfile" | "Makefile") {
        return by_name(if stem == "Makefile" { "make" } else { "dockerfile" }).unwrap_or(unknown());
    }
    let written = file_name.rsplit_once('.').map(|(_, e)| e).unwrap_or_default();
    // The one extension whose case tells languages apart.
    let extension = if written == "C" { "cpp".to_string() } else { written.to_lowercase() };
    if let Some(name) = sniff::shared_extension(&extension, head) {
        return by_name(name).unwrap_or(unknown());
    }
    if let Some(&i) = LOOKUP.by_extension.get(extension.as_str()) {
        return &LANGUAGES[i];
    }
    sniff::interpreter(head).and_then(|name| LOOKUP.by_interpreter.get(name)).map_or_else(unknown, |&i| &LANGUAGES[i])
}

/// As [`detect`], of a file's whole content, of which only the first 64 KiB are looked at.
pub fn of_file(path: &str, bytes: &[u8]) -> &'static Language {
    detect(Path::new(path), &bytes[..bytes.len().min(HEAD_BYTES)])
}

impl Language {
    /// Extensions that its files share with those of other languages; what is in a file decides.
    pub fn shared_extensions(&self) -> impl Iterator<Item = &'static str> {
        sniff::shared_with(self.name)
    }

    /// The grammar with its query, compiled once a process; `None` without a grammar.
    /// A query that does not compile counts as none (the table's test reports it).
    pub fn compiled(&'static self) -> Option<&'static Compiled> {
        let i = LANGUAGES.iter().position(|l| std::ptr::eq(l, self))?;
        COMPILED[i].get_or_init(|| self.compile(self.query).ok()).as_ref()
    }

    /// Compiles `query` for this language's grammar.
    ///
    /// # Errors
    /// Says where the query is wrong, or that there is no grammar.
    pub fn compile(&self, query: &str) -> Result<Compiled, String> {
        let grammar = self.grammar.ok_or_else(|| format!("{} has no grammar", self.name))?();
        let query = Patterns::new(&grammar, query).map_err(|e| format!("{}.scm: {e}", self.name))?;
        Ok(Compiled { grammar, query })
    }
}
