//! Languages without a grammar here whose definitions are read from lines: patterns of first lines, and how far each
//! definition extends. One constant per language; the table lists them.

mod compiled;
mod data;
mod markup;
mod programs;
mod systems;

pub use compiled::CompiledOutline;
pub(super) use data::*;
pub(super) use markup::*;
pub(super) use programs::*;
pub(super) use systems::*;

/// A row of the table: constant, name, extensions, marks of comments, first lines, then other fields of the outline and,
/// after `;`, of the row.
macro_rules! lined {
    ($id:ident, $name:literal, $extensions:expr, $comments:expr, [$($head:expr),* $(,)?]
        $(, $field:ident: $value:expr)* $(; $($row_field:ident: $row_value:expr),*)?) => {
        pub(in crate::language) const $id: Language = {
            const HEADS: &[DefinitionLine] = &[$($head),*];
            const LINES: &LineOutline = &LineOutline { heads: HEADS, $($field: $value,)* ..OUTLINE };
            Language {
                name: $name,
                extensions: &$extensions,
                comments: $comments,
                reader: Some(Reader::Outline(LINES)),
                $($($row_field: $row_value,)*)?
                ..Language::NONE
            }
        };
    };
}
use lined;

/// How the definitions of a language begin and end, and its calls and imports.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineOutline {
    /// Lines that begin a definition; the first that matches counts.
    pub heads: &'static [DefinitionLine],
    /// A pattern of lines that import; empty for none.
    pub imports: &'static str,
    /// A pattern whose last group is a called name; empty for none.
    pub calls: &'static str,
    /// Patterns of the lines around the part of a file that declares functions without their bodies; empty for none.
    pub headings: [&'static str; 2],
    /// A pattern of lines that belong to the definition above them although they are indented like its first, such as
    /// conditions; empty for none.
    pub continues: &'static str,
    /// Whether the case of letters is irrelevant.
    pub ignores_case: bool,
}

/// The first line of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionLine {
    /// What it defines, as a query would capture it: `function`, `class`, `function.declaration`.
    pub what: &'static str,
    /// A pattern of the line after its indentation, or of the whole line if it begins with `^`. The last group is the
    /// name, one before it qualifies the name.
    pub pattern: &'static str,
    /// Where the definition ends.
    pub extent: DefinitionExtent,
    /// Whether it is a constructor, which only a class of the same name contains.
    pub is_constructor: bool,
}

/// Where a definition ends that begins on some line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionExtent {
    /// On its first line.
    Line,
    /// With the last line that is indented further, and a closing line (`}`, `end`, `</a>`) after it.
    Indented,
    /// With the first line that matches and is indented as the first one is.
    Closed(&'static str),
    /// With the first line that matches.
    Ended(&'static str),
    /// Before the next definition of the same or a lower level.
    Next(u8),
}

impl DefinitionLine {
    const fn new(what: &'static str, pattern: &'static str) -> DefinitionLine {
        DefinitionLine { what, pattern, extent: DefinitionExtent::Indented, is_constructor: false }
    }

    const fn constructor(self) -> DefinitionLine {
        DefinitionLine { is_constructor: true, ..self }
    }

    const fn line(self) -> DefinitionLine {
        DefinitionLine { extent: DefinitionExtent::Line, ..self }
    }

    const fn closed(self, pattern: &'static str) -> DefinitionLine {
        DefinitionLine { extent: DefinitionExtent::Closed(pattern), ..self }
    }

    const fn ended(self, pattern: &'static str) -> DefinitionLine {
        DefinitionLine { extent: DefinitionExtent::Ended(pattern), ..self }
    }

    const fn level(self, level: u8) -> DefinitionLine {
        DefinitionLine { extent: DefinitionExtent::Next(level), ..self }
    }
}

const fn function(pattern: &'static str) -> DefinitionLine {
    DefinitionLine::new("function", pattern)
}

const fn declaration(pattern: &'static str) -> DefinitionLine {
    DefinitionLine::new("function.declaration", pattern).line()
}

const fn class(pattern: &'static str) -> DefinitionLine {
    DefinitionLine::new("class", pattern)
}

const fn constant(pattern: &'static str) -> DefinitionLine {
    DefinitionLine::new("constant", pattern)
}

const fn section(pattern: &'static str) -> DefinitionLine {
    DefinitionLine::new("section", pattern)
}

const OUTLINE: LineOutline =
    LineOutline { heads: &[], imports: "", calls: "", headings: ["", ""], continues: "", ignores_case: false };

/// Calls in languages with brackets after the name.
const CALLS: &str = r"([A-Za-z_]\w*)\s?\(";
/// Calls in Lisps.
const LISP_CALLS: &str = r"\(([A-Za-z*+!<>=?_-][^\s()\[\]{}]*)";
/// A function of the C family with its body: `static int f(int a) {`.
const C_FUNCTION: DefinitionLine =
    function(r"\[?[\w@<][\w<>\[\],.*&?@:]*\s+(?:[\w<>\[\],.*&?@:]+\s+)*[*&]*(\w+)\s*\([^;{}=]*(?:\{.*|=>.*)?$");
/// A type of the C family.
const C_TYPE: DefinitionLine =
    class(r"(?:[\w@]+\s+)*?(?:class|struct|interface|trait|enum|union)\s+(\w+)(?:[^;=()]*|[^;=(){]*\{.*)$");

/// Marks of comments.
const SLASHES: &[&str] = &["//", "/*"];
const HASH: &[&str] = &["#"];
const DASHES: &[&str] = &["--"];
const SEMICOLON: &[&str] = &[";"];
