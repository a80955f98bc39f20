//! The table of languages, one per row, and the detection of a file's row by its path or first bytes.

mod attributes;
pub mod by_lines;
mod conditions;
mod cython;
mod families;
mod listing;
mod macros;
pub mod others;
pub mod pattern;
mod pieces;
mod prepare;
mod rust_items;
mod sniff;
mod table;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use colgrep_core::{LanguageFacts, LanguagePaths};

use by_lines::{CompiledOutline, LineOutline};
pub use families::{is_constructor, may_call};
pub use listing::markdown;
use pattern::{PatternError, Patterns};
pub use table::LANGUAGES;

/// The hash of this folder: of the table, the queries, the patterns of lines.
pub const HASH: u32 = match u32::from_str_radix(env!("LANGUAGES_HASH"), 16) {
    Ok(hash) => hash,
    Err(_) => panic!("a number of the build script"),
};

/// Bytes at the front from which a file's language is detected.
const HEAD_BYTES: usize = 64 << 10;

/// The purpose of a language's files, which ranking and `--code-only` use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Category {
    /// Programs, and the schemas and build rules that count as such.
    Code,
    /// Text for people.
    Prose,
    /// Configuration, data and markup.
    Data,
    /// A file whose extension is not in the table.
    Unknown,
}

/// A reader for texts without a grammar for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reader {
    /// Titles with a row of one punctuation character below, perhaps one above: nested in order of first appearance.
    Underlined,
    /// Org: titles after a row of `*`.
    Stars,
    /// LaTeX: titles in the brackets of `\\section` and its like.
    Commands,
    /// POD: titles after `=head1`, also between the code of a Perl file.
    Pod,
    /// AsciiDoc: titles after a row of `=`, and underlined ones.
    Rows,
    /// A Jupyter notebook: cells, each in its own language.
    Notebook,
    /// JSON objects in an array, or one per line. Anything else is read by the grammar, if there is one.
    Records,
    /// Statements of SQL, whose heads define; the grammar adds facts.
    Statements,
    /// Lines that begin definitions, by patterns.
    Outline(&'static LineOutline),
}

/// One row of the table.
#[non_exhaustive]
pub struct Language {
    /// Lower-case name, as in `-t NAME` and in JSON.
    pub name: &'static str,
    /// Other names that `-t` accepts.
    pub aliases: &'static [&'static str],
    /// Extensions without the dot, lower case.
    pub extensions: &'static [&'static str],
    /// Its extensions that are also common names of members: a word of a query with one of these (`counter.inc`) is not
    /// read as a file.
    pub member_extensions: &'static [&'static str],
    /// Whole file names, as written.
    pub file_names: &'static [&'static str],
    /// File names up to their first dot: `Makefile` of `Makefile.am`.
    pub file_stems: &'static [&'static str],
    /// Ends of file names that decide before the extension does: `.blade.php`.
    pub file_suffixes: &'static [&'static str],
    /// Names of interpreters in a `#!` line.
    pub interpreters: &'static [&'static str],
    /// The purpose of its files.
    pub category: Category,
    /// The grammar, for languages that have one.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// The text of `queries/<name>.scm`, which defines units (`docs/architecture.md` lists the captures). A line
    /// `; inherits: NAME` includes the query of that language or fragment ([`expand`]).
    pub query: &'static str,
    /// Which paths are tests, typings, generated, and the like.
    pub paths: LanguagePaths,
    /// Lock files of its package managers, which are never indexed.
    pub lock_files: &'static [&'static str],
    /// Extensions of files that are often minified or bundled into enormous lines.
    pub minified_extensions: &'static [&'static str],
    /// Keywords before the name of a type: `class`.
    pub type_keywords: &'static [&'static str],
    /// Keywords before the name of a function: `fn`.
    pub function_keywords: &'static [&'static str],
    /// Words before another name that a file defines: `const`.
    pub value_keywords: &'static [&'static str],
    /// How code refers to what is declared in another way: beginnings of references, each with that of the declared
    /// name (`var.` and `variable.`).
    pub references: &'static [(&'static str, &'static str)],
    /// Beginnings of its comments. Empty if literals contain code (`@click="open(1)"`), and for languages that are not
    /// programs.
    pub comments: &'static [&'static str],
    /// True if a type without a bracket after its name is only a forward declaration (`class Later;`), for code that
    /// the grammar can't parse.
    pub types_need_brackets: bool,
    /// Whether tests are in modules of the files that they test.
    pub has_test_modules: bool,
    /// Whether an attribute marks a function as a test, or the item below it as used in tests only.
    pub is_test: Option<fn(&str) -> bool>,
    /// Whether a line is a row of data, as in an `INSERT` of SQL.
    pub is_data_row: Option<fn(&str) -> bool>,
    /// Whether `///` comments contain XML.
    pub has_xml_docs: bool,
    /// Whether an indented variable outside of any type is a local of a function that the grammar could not read.
    pub indents_locals: bool,
    /// Whether names of sections are Markdown, with links and images.
    pub has_markdown_headings: bool,
    /// How its files are read without a grammar, or before it; `None`: in blocks of lines.
    pub reader: Option<Reader>,
    /// Whether neighbouring functions of one name are the clauses of one function.
    pub merges_clauses: bool,
    /// Edits a text, keeping its length, where the grammar can't read common code (`None`: unchanged). Names,
    /// documentation and bodies still come from the file.
    pub prepare: Option<fn(&str) -> Option<String>>,
}

impl Language {
    /// A row without anything.
    const NONE: Language = Language {
        name: "",
        aliases: &[],
        extensions: &[],
        member_extensions: &[],
        file_names: &[],
        file_stems: &[],
        file_suffixes: &[],
        interpreters: &[],
        category: Category::Code,
        grammar: None,
        query: "",
        paths: LanguagePaths::NONE,
        lock_files: &[],
        minified_extensions: &[],
        type_keywords: &[],
        function_keywords: &[],
        value_keywords: &[],
        references: &[],
        comments: &[],
        types_need_brackets: true,
        has_test_modules: false,
        is_test: None,
        is_data_row: None,
        has_xml_docs: false,
        indents_locals: false,
        has_markdown_headings: false,
        reader: None,
        merges_clauses: false,
        prepare: None,
    };

    /// Iterates over the keywords that a name follows, of types, functions and values.
    pub fn keywords(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.type_keywords, self.function_keywords, self.value_keywords].into_iter().flatten().copied()
    }

    /// The declared name that a reference means, if it is written in another way: `variable.region` for `var.region`.
    pub fn declared_name(&self, reference: &str) -> Option<String> {
        let declared = |(used, declared): &(&str, &str)| Some(format!("{declared}{}", reference.strip_prefix(used)?));
        self.references.iter().find_map(declared)
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Language({})", self.name)
    }
}

/// Why a query of a language can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The row has no grammar to match a query with.
    #[error("{language} has no grammar")]
    NoGrammar {
        /// The row's name.
        language: &'static str,
    },
    /// The query does not compile for the grammar.
    #[error("{language}.scm does not compile")]
    Wrong {
        /// The row's name.
        language: &'static str,
        /// Position and cause.
        source: PatternError,
    },
}

/// A grammar and its compiled unit query.
#[non_exhaustive]
pub struct Compiled {
    /// The grammar.
    pub grammar: tree_sitter::Language,
    /// The query of `queries/<name>.scm`.
    pub query: Patterns,
}

struct Lookup {
    by_name: HashMap<&'static str, usize>,
    by_extension: HashMap<&'static str, usize>,
    by_file_name: HashMap<&'static str, usize>,
    by_file_stem: HashMap<&'static str, usize>,
    by_interpreter: HashMap<&'static str, usize>,
}

static LOOKUP: LazyLock<Lookup> = LazyLock::new(|| {
    let mut lookup = Lookup {
        by_name: HashMap::new(),
        by_extension: HashMap::new(),
        by_file_name: HashMap::new(),
        by_file_stem: HashMap::new(),
        by_interpreter: HashMap::new(),
    };
    for (i, language) in LANGUAGES.iter().enumerate() {
        for name in language.aliases.iter().chain([&language.name]) {
            lookup.by_name.insert(name, i);
        }
        lookup.by_extension.extend(language.extensions.iter().map(|e| (*e, i)));
        lookup.by_file_name.extend(language.file_names.iter().map(|n| (*n, i)));
        lookup.by_file_stem.extend(language.file_stems.iter().map(|n| (*n, i)));
        lookup.by_interpreter.extend(language.interpreters.iter().map(|n| (*n, i)));
    }
    lookup
});

static COMPILED: LazyLock<Vec<OnceLock<Option<Compiled>>>> =
    LazyLock::new(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());

static OUTLINES: LazyLock<Vec<OnceLock<Option<CompiledOutline>>>> =
    LazyLock::new(|| LANGUAGES.iter().map(|_| OnceLock::new()).collect());

/// The row of that name or alias, any case.
pub fn by_name(name: &str) -> Option<&'static Language> {
    LOOKUP.by_name.get(name.to_lowercase().as_str()).map(|&i| &LANGUAGES[i])
}

/// Beginnings of comments in the language of that name.
pub fn comment_marks(name: &str) -> &'static [&'static str] {
    by_name(name).map(|language| language.comments).unwrap_or_default()
}

/// The row for files outside the table.
pub fn unknown() -> &'static Language {
    LANGUAGES.last().expect("the table has rows")
}

/// Whether a file's language is not in the table.
pub fn is_unknown(language: &'static Language) -> bool {
    std::ptr::eq(language, unknown())
}

/// All rows except [`unknown`].
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
    if let Some(&i) = LOOKUP.by_file_stem.get(stem) {
        return &LANGUAGES[i];
    }
    let has_suffix = |language: &&Language| language.file_suffixes.iter().any(|suffix| file_name.ends_with(suffix));
    if let Some(language) = LANGUAGES.iter().find(has_suffix) {
        return language;
    }
    let written = file_name.rsplit_once('.').map(|(_, e)| e).unwrap_or_default();
    // The only extension whose case distinguishes languages.
    let extension = if written == "C" { "cpp".to_string() } else { written.to_lowercase() };
    if let Some(name) = sniff::shared_extension(&extension, head) {
        return by_name(name).unwrap_or(unknown());
    }
    if let Some(&i) = LOOKUP.by_extension.get(extension.as_str()) {
        return &LANGUAGES[i];
    }
    if let Some(&i) = sniff::interpreter(head).and_then(|name| LOOKUP.by_interpreter.get(name)) {
        return &LANGUAGES[i];
    }
    if others::is_prose(file_name) { by_name("text").unwrap_or(unknown()) } else { unknown() }
}

/// As [`detect`], for a file's whole content, only the first 64 KiB of which are read.
pub fn of_file(path: &str, bytes: &[u8]) -> &'static Language {
    detect(Path::new(path), &bytes[..bytes.len().min(HEAD_BYTES)])
}

static FACTS: LazyLock<LanguageFacts> = LazyLock::new(|| {
    let is_member = |extension: &&str| LANGUAGES.iter().any(|l| l.member_extensions.contains(extension));
    let extensions = LANGUAGES.iter().flat_map(|l| l.extensions.iter().copied().chain(l.shared_extensions()));
    let keywords = LANGUAGES.iter().flat_map(|l| l.keywords());
    let code = LANGUAGES.iter().filter(|l| l.category == Category::Code);
    let code = code.map(|l| (l.aliases.iter().copied().chain([l.name]).collect(), l.extensions));
    LanguageFacts::new(extensions.filter(|e| !is_member(e)), LANGUAGES.iter().map(|l| l.paths))
        .with_declaration_keywords(keywords)
        .with_languages(code)
});

/// Facts about all languages for the rules of queries and paths.
pub fn facts() -> &'static LanguageFacts {
    &FACTS
}

/// The beginning of a line that includes another query.
const INHERITS: &str = "; inherits: ";

/// `query` with inherited queries in place of the lines that name them. An unknown name is dropped.
pub fn expand(query: &str) -> String {
    let mut text = String::with_capacity(query.len());
    for line in query.lines() {
        match line.strip_prefix(INHERITS) {
            Some(name) => text.push_str(&expand(query_named(name.trim()).unwrap_or_default())),
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// The query of a language, or a fragment that only other queries use.
fn query_named(name: &str) -> Option<&'static str> {
    let fragment = table::FRAGMENTS.iter().find(|(fragment, _)| *fragment == name).map(|(_, query)| *query);
    fragment.or_else(|| by_name(name).map(|language| language.query))
}

impl Language {
    /// Extensions that its files share with other languages; the content of a file decides.
    pub fn shared_extensions(&self) -> impl Iterator<Item = &'static str> {
        sniff::shared_with(self.name)
    }

    /// The grammar with its query, compiled once per process; `None` without a grammar, or if the query does not
    /// compile (which the table's test reports).
    pub fn compiled(&'static self) -> Option<&'static Compiled> {
        let i = LANGUAGES.iter().position(|l| std::ptr::eq(l, self))?;
        COMPILED[i].get_or_init(|| self.compile(self.query).ok()).as_ref()
    }

    /// The outline by which its files are read, compiled once per process; `None` without one, or if a pattern is wrong
    /// (which the table's test reports).
    pub fn outline(&'static self) -> Option<&'static CompiledOutline> {
        let Some(Reader::Outline(outline)) = self.reader else { return None };
        let i = LANGUAGES.iter().position(|l| std::ptr::eq(l, self))?;
        OUTLINES[i].get_or_init(|| outline.compile().ok()).as_ref()
    }

    /// Compiles `query`, with what it inherits, for this language's grammar.
    ///
    /// # Errors
    /// Where the query is wrong (lines count from 1, inherited ones too), or that there is no grammar.
    pub fn compile(&self, query: &str) -> Result<Compiled, QueryError> {
        let grammar = self.grammar.ok_or(QueryError::NoGrammar { language: self.name })?();
        let query = Patterns::new(&grammar, &expand(query))
            .map_err(|source| QueryError::Wrong { language: self.name, source })?;
        Ok(Compiled { grammar, query })
    }
}
