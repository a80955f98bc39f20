//! The unit: the piece of a file that is indexed, scored and shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::entity::Entities;

/// The address of a unit in one snapshot of an index. Ranking breaks ties by it. In another snapshot the same address
/// may be another unit's.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitId(u64);

/// Bits of a segment's number that are left to segments; those above it number the parts of a corpus.
const PART_SHIFT: u32 = 20;

impl UnitId {
    /// Segments of one part of a corpus: their numbers are smaller.
    pub const SEGMENTS_MAX: u32 = 1 << PART_SHIFT;
    /// Maximum of parts in a corpus.
    pub const PARTS_MAX: u32 = 1 << (32 - PART_SHIFT);

    pub const fn new(segment: u32, doc: u32) -> UnitId {
        UnitId((segment as u64) << 32 | doc as u64)
    }

    /// The segment: a part of the index that was written at once.
    pub const fn segment(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The document in its segment.
    pub const fn doc(self) -> u32 {
        self.0 as u32
    }

    /// The address of a unit of one part of a corpus among the units of all parts. Part 0 keeps it unchanged.
    ///
    /// # Panics
    /// In a debug build, if the part or the segment is too large: there is room for 4,096 parts of a million segments.
    #[must_use]
    pub const fn in_part(self, part: u32) -> UnitId {
        let has_room = part < UnitId::PARTS_MAX && self.segment() < UnitId::SEGMENTS_MAX;
        debug_assert!(has_room, "room for parts and segments");
        UnitId(self.0 | (part as u64) << (32 + PART_SHIFT))
    }

    /// The unit's part of the corpus.
    pub const fn part(self) -> u32 {
        self.segment() >> PART_SHIFT
    }

    /// Its address within that part.
    #[must_use]
    pub const fn within_part(self) -> UnitId {
        UnitId::new(self.segment() & (UnitId::SEGMENTS_MAX - 1), self.doc())
    }
}

impl fmt::Debug for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.segment(), self.doc())
    }
}

crate::named! {
    /// Kind of a unit. The names are the `unit_type` values of the JSON output, the positions the codes in the index.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum UnitKind {
        /// A function outside any class.
        Function = "function",
        /// A function inside a class, trait, interface, module or the like.
        Method = "method",
        /// A class, struct, enum, trait, interface, object, module or type with members.
        Class = "class",
        /// A constant, static, field, type alias, macro value or top-level variable.
        Constant = "constant",
        /// A file of prose, or a part of it, outside any heading.
        Document = "document",
        /// A heading and the text below it; also a table or block of a configuration file.
        Section = "section",
        /// Lines that no other unit covers.
        #[default]
        RawCode = "rawcode",
    }
}

impl UnitKind {
    /// The kind of a name, ignoring case.
    pub fn from_name(name: &str) -> Option<UnitKind> {
        UnitKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Whether the unit defines a name of the program, rather than just containing text.
    pub const fn is_definition(self) -> bool {
        matches!(self, UnitKind::Function | UnitKind::Method | UnitKind::Class | UnitKind::Constant)
    }
}

/// How a definition relates to what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitRole {
    #[default]
    Definition,
    /// A bare declaration of something defined elsewhere (a C prototype, a forward declaration).
    Declaration,
    /// Members added to something defined elsewhere (an `impl`, an extension, an instance).
    Extension,
    /// A test written in the language's own test syntax.
    Test,
}

impl UnitRole {
    /// Every role, in declaration order: the position is the code stored in the index.
    pub const ALL: [UnitRole; 4] = [UnitRole::Definition, UnitRole::Declaration, UnitRole::Extension, UnitRole::Test];

    /// Whether it is the definition itself, including a test's.
    pub const fn defines(self) -> bool {
        matches!(self, UnitRole::Definition | UnitRole::Test)
    }
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First line that belongs to the unit, its leading comment included.
    pub first: u32,
    /// Line on which the definition itself begins (attributes and decorators included).
    pub line: u32,
    /// Last line.
    pub end: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub kind: UnitKind,
    /// How it relates to what it names.
    pub role: UnitRole,
    /// The name as written, without its parents; empty for raw code.
    pub name: String,
    /// The names of the enclosing units, outermost first, joined by a dot; empty at the top.
    pub parent: String,
    /// The lines it covers.
    pub span: Span,
    /// Text from the beginning of the definition to its body, white space folded.
    pub signature: String,
    /// The comment or string that documents it, comment markers removed.
    pub docstring: String,
    /// Parameters, as written, without default values if the grammar separates them.
    pub parameters: Vec<String>,
    /// The declared return type, as written.
    pub return_type: String,
    /// Base classes, implemented interfaces, the type that an extension extends.
    pub extends: Vec<String>,
    /// Names called inside, each once, in order of appearance.
    pub calls: Vec<String>,
    /// Names of local variables, each once, in order of appearance.
    pub variables: Vec<String>,
    /// The conditions under which it is compiled: features, names of `#ifdef`, build tags.
    pub features: Vec<String>,
    /// The list values of a row of data, each as `field=value`.
    pub tags: Vec<String>,
    /// The text of the unit's body for searching, without the bodies of nested units.
    pub body: String,
    /// Keywords of a section of prose, best first; empty for other units.
    pub keywords: Vec<String>,
    pub entities: Entities,
}

impl Unit {
    /// The name after its parents, joined by dots.
    pub fn qualified_name(&self) -> String {
        qualified(&self.parent, &self.name)
    }
}

/// A name after its parents, joined by dots.
pub fn qualified(parent: &str, name: &str) -> String {
    match (parent.is_empty(), name.is_empty()) {
        (true, _) => name.to_string(),
        (_, true) => parent.to_string(),
        _ => format!("{parent}.{name}"),
    }
}
