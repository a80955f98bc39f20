//! Text → units. Parsing never fails: what can't be parsed becomes plain blocks and a note.
//!
//! A language's query (`language/queries/<name>.scm`) says what is a definition; everything else
//! here is the same for all languages: nesting, documentation, bodies, and the blocks of lines
//! that no definition covers.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use colgrep_core::{Span, Unit, UnitKind, UnitRole};
use tree_sitter::{Node, ParseOptions, Parser, Range};

use crate::language::{self, Category, Compiled, Language};

/// Lines in a block of text that no definition covers. The prototypes' value; 30 to 80 lines rank alike.
const BLOCK_LINES: u32 = 50;
/// Longest signature kept, in bytes.
const SIGNATURE_BYTES_MAX: usize = 600;
/// Longest documentation kept, in bytes.
const DOCSTRING_BYTES_MAX: usize = 8_000;
/// Longest name kept, in bytes.
const NAME_BYTES_MAX: usize = 160;
/// Calls, variables, parameters and bases kept a unit.
const LIST_LEN_MAX: usize = 64;
/// Time one file may take in the parser and in the query, each. A 1 MiB file of any language here takes well under a second.
const FILE_TIME_MAX: Duration = Duration::from_secs(4);

/// What parsing made of one file.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The units, by first line, an enclosing unit before what it encloses.
    pub units: Vec<Unit>,
    /// The file's import statements, as written, white space folded.
    pub imports: Vec<String>,
    /// What went wrong, if anything, in a few words.
    pub note: Option<String>,
}

impl std::fmt::Display for Parsed {
    /// One line a unit (lines, kind, qualified name), its facts indented below: for tests and for a look.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for import in &self.imports {
            writeln!(f, "import {import}")?;
        }
        for unit in &self.units {
            let role = match unit.role {
                UnitRole::Definition => "",
                UnitRole::Declaration => ".declaration",
                UnitRole::Extension => ".extension",
                UnitRole::Test => ".test",
            };
            let (span, name) = (unit.span, unit.qualified_name());
            writeln!(f, "{}-{} {}{role} {name}", span.line, span.end, unit.kind.name())?;
            for (what, text) in [
                ("signature", unit.signature.clone()),
                ("doc", unit.docstring.replace('\n', " / ")),
                ("parameters", unit.parameters.join(" | ")),
                ("returns", unit.return_type.clone()),
                ("extends", unit.extends.join(" | ")),
                ("calls", unit.calls.join(" ")),
                ("variables", unit.variables.join(" ")),
            ] {
                if !text.is_empty() {
                    writeln!(f, "    {what} {text}")?;
                }
            }
        }
        if let Some(note) = &self.note {
            writeln!(f, "note {note}")?;
        }
        Ok(())
    }
}

/// Cuts `text` into units by `language`.
pub fn parse(text: &str, language: &'static Language) -> Parsed {
    match language.compiled() {
        Some(compiled) => parse_with(text, language, compiled),
        None => Parsed { units: blocks_only(text, language), ..Parsed::default() },
    }
}

/// As [`parse`], with a query of the caller's (the `units` example tries queries with it).
pub fn parse_with(text: &str, language: &'static Language, compiled: &Compiled) -> Parsed {
    let lines = Lines::new(text);
    let mut found = Found::default();
    let mut note = None;
    match collect(text, compiled, &[], &mut found) {
        Ok(has_error) => {
            if has_error {
                note = Some("parsed with syntax errors".to_string());
            }
            for (name, ranges) in std::mem::take(&mut found.embedded) {
                let inner = language::by_name(&name).and_then(Language::compiled);
                if let Some(inner) = inner
                    && collect(text, inner, &ranges, &mut found).is_err()
                {
                    note = Some(format!("embedded {name} took too long"));
                }
            }
        }
        Err(TooLong) => {
            return Parsed {
                units: blocks_only(text, language),
                imports: Vec::new(),
                note: Some("took too long to parse; indexed as plain blocks".to_string()),
            };
        }
    }
    let mut imports: Vec<String> = Vec::new();
    for range in &found.imports {
        let import = fold_space(&text[range.clone()], SIGNATURE_BYTES_MAX);
        if imports.len() < 4 * LIST_LEN_MAX && !imports.contains(&import) {
            imports.push(import);
        }
    }
    let mut units = Builder { text, lines: &lines, language, found: &mut found }.units();
    add_blocks(&mut units, &lines, language);
    Parsed { units, imports, note }
}

struct TooLong;

/// Byte offsets of line starts.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
            .filter(|&start| start < text.len() || start == 0)
            .collect();
        Lines { text, starts }
    }

    /// Number of lines; an empty text has one, empty, line.
    fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte offset, from 1.
    fn line_of(&self, byte: usize) -> u32 {
        self.starts.partition_point(|&start| start <= byte).max(1) as u32
    }

    /// The text of a line (from 1), its line break included.
    fn line(&self, line: u32) -> &'a str {
        let start = self.starts[line as usize - 1];
        let end = self.starts.get(line as usize).copied().unwrap_or(self.text.len());
        &self.text[start..end]
    }

    /// The text of lines `first..=end`.
    fn lines(&self, first: u32, end: u32) -> &'a str {
        let start = self.starts[first as usize - 1];
        let end = self.starts.get(end as usize).copied().unwrap_or(self.text.len());
        &self.text[start..end]
    }

    fn is_blank(&self, line: u32) -> bool {
        self.line(line).trim().is_empty()
    }

    /// Whether only white space stands before `byte` on its line.
    fn starts_line(&self, byte: usize) -> bool {
        let line = self.line_of(byte);
        self.text[self.starts[line as usize - 1]..byte].trim().is_empty()
    }

    /// The last line that `range` has text on.
    fn end_line(&self, range: &std::ops::Range<usize>) -> u32 {
        let trimmed = self.text[range.clone()].trim_end().len();
        self.line_of(range.start + trimmed.saturating_sub(1).min(self.text.len()))
    }
}

type Bytes = std::ops::Range<usize>;

/// A definition as the query found it, before nesting.
#[derive(Debug)]
struct Definition {
    what: What,
    pattern: usize,
    bytes: Bytes,
    name: Bytes,
    parent: Option<Bytes>,
    body: Option<Bytes>,
    doc: Vec<Bytes>,
    parameters: Vec<Bytes>,
    return_type: Option<Bytes>,
    extends: Vec<Bytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Unit(UnitKind, UnitRole),
    /// Only lends its name to what it encloses.
    Namespace,
}

impl What {
    /// Reads a capture name such as `function` or `class.extension`.
    fn from_capture(name: &str) -> Option<What> {
        let (kind, role) = name.split_once('.').unwrap_or((name, ""));
        let role = match role {
            "" => UnitRole::Definition,
            "declaration" => UnitRole::Declaration,
            "extension" => UnitRole::Extension,
            "test" => UnitRole::Test,
            _ => return None,
        };
        let kind = match kind {
            "function" => UnitKind::Function,
            "method" => UnitKind::Method,
            "class" => UnitKind::Class,
            "constant" => UnitKind::Constant,
            "section" => UnitKind::Section,
            "namespace" => return Some(What::Namespace),
            _ => return None,
        };
        Some(What::Unit(kind, role))
    }

    fn is_callable(self) -> bool {
        matches!(self, What::Unit(UnitKind::Function | UnitKind::Method, _))
    }

    fn is_container(self) -> bool {
        matches!(self, What::Unit(UnitKind::Class | UnitKind::Section, _) | What::Namespace)
    }
}

/// Everything the query captured in one file.
#[derive(Debug, Default)]
struct Found {
    definitions: Vec<Definition>,
    comments: Vec<Bytes>,
    attributes: Vec<Bytes>,
    docs: Vec<Bytes>,
    imports: Vec<Bytes>,
    calls: Vec<Bytes>,
    variables: Vec<Bytes>,
    embedded: HashMap<String, Vec<Range>>,
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Runs the grammar and its query over `text` (only over `ranges`, if any are given) and adds to `found`.
/// Returns whether the tree holds syntax errors.
fn collect(text: &str, compiled: &Compiled, ranges: &[Range], found: &mut Found) -> Result<bool, TooLong> {
    PARSER.with_borrow_mut(|parser| {
        if parser.set_language(&compiled.grammar).is_err() || parser.set_included_ranges(ranges).is_err() {
            return Ok(true);
        }
        let bytes = text.as_bytes();
        let deadline = Instant::now() + FILE_TIME_MAX;
        let mut in_time = |_: &tree_sitter::ParseState| match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut in_time);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        let Some(tree) = tree else {
            parser.reset();
            return Err(TooLong);
        };
        let root = tree.root_node();
        let deadline = Instant::now() + FILE_TIME_MAX;
        let query = &compiled.query;
        let in_time = query.matches(
            root,
            bytes,
            || Instant::now() < deadline,
            |pattern, captures| {
                add_match(captures.iter().map(|(c, node)| (query.capture_name(*c), *node)), pattern, found);
            },
        );
        if in_time { Ok(root.has_error()) } else { Err(TooLong) }
    })
}

/// Sorts one match of the query into `found`: a definition with its parts, or single facts.
fn add_match<'t>(captures: impl Iterator<Item = (&'t str, Node<'t>)>, pattern: usize, found: &mut Found) {
    let mut definition: Option<(What, Bytes)> = None;
    let mut parts: Vec<(&str, Bytes)> = Vec::new();
    for (name, node) in captures {
        let bytes = node.byte_range();
        match name {
            "comment" => found.comments.push(bytes),
            "attribute" => found.attributes.push(bytes),
            "import" => found.imports.push(bytes),
            "call" => found.calls.push(bytes),
            "variable" => found.variables.push(bytes),
            "name" | "parent" | "body" | "doc" | "parameters" | "return" | "extends" => parts.push((name, bytes)),
            _ => {
                if let Some(language) = name.strip_prefix("embedded.") {
                    found.embedded.entry(language.to_string()).or_default().push(node.range());
                } else if let Some(what) = What::from_capture(name) {
                    match &mut definition {
                        // A definition captured twice in one match spans both nodes.
                        Some((_, span)) => *span = span.start.min(bytes.start)..span.end.max(bytes.end),
                        None => definition = Some((what, bytes)),
                    }
                }
            }
        }
    }
    let all = |part: &str| parts.iter().filter(|(n, _)| *n == part).map(|(_, b)| b.clone()).collect::<Vec<_>>();
    let Some((what, bytes)) = definition else {
        found.docs.extend(all("doc"));
        return;
    };
    let first = |part: &str| parts.iter().find(|(n, _)| *n == part).map(|(_, b)| b.clone());
    let name = first("name").unwrap_or(bytes.start..bytes.start);
    found.definitions.push(Definition {
        what,
        pattern,
        name,
        parent: first("parent"),
        body: first("body"),
        doc: all("doc"),
        parameters: all("parameters"),
        return_type: first("return"),
        extends: all("extends"),
        bytes,
    });
}

/// Turns what the query found into units.
struct Builder<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
    language: &'static Language,
    found: &'a mut Found,
}

impl Builder<'_> {
    fn units(&mut self) -> Vec<Unit> {
        let definitions = self.distinct_definitions();
        let enclosing = enclosing(&definitions);
        // What stands inside a function belongs to the function.
        let kept: Vec<bool> = (0..definitions.len())
            .map(|i| ancestors(i, &enclosing).all(|a| !definitions[a].what.is_callable() && definitions[a].what.is_container()))
            .collect();
        let comments = doc_comments(self.found, self.lines);
        let mut units: Vec<Option<Unit>> = (0..definitions.len())
            .map(|i| (kept[i]).then(|| self.unit(i, &definitions, &enclosing, &comments)).flatten())
            .collect();
        self.fill_bodies(&mut units, &definitions, &enclosing);
        self.fill_facts(&mut units, &definitions, &enclosing);
        let mut units: Vec<Unit> = units.into_iter().flatten().collect();
        units.sort_by(|a, b| (a.span.line, b.span.end).cmp(&(b.span.line, a.span.end)));
        if self.language.merges_clauses {
            units = merge_clauses(units);
        }
        units
    }

    /// One definition a name: several patterns may match one (plain, exported, decorated). The widest
    /// span counts, and the first pattern in the query file says what it is.
    fn distinct_definitions(&mut self) -> Vec<Definition> {
        let mut by_name: HashMap<(usize, usize), Definition> = HashMap::new();
        for mut new in std::mem::take(&mut self.found.definitions) {
            use std::collections::hash_map::Entry;
            match by_name.entry((new.name.start, new.name.end)) {
                Entry::Vacant(slot) => {
                    slot.insert(new);
                }
                Entry::Occupied(mut slot) => {
                    let old = slot.get_mut();
                    let span = old.bytes.start.min(new.bytes.start)..old.bytes.end.max(new.bytes.end);
                    if new.pattern < old.pattern {
                        std::mem::swap(old, &mut new);
                    }
                    // The parts that a second match of the same pattern adds (one base class a match).
                    for (list, more) in [
                        (&mut old.doc, new.doc),
                        (&mut old.parameters, new.parameters),
                        (&mut old.extends, new.extends),
                    ] {
                        for part in more {
                            if !list.contains(&part) {
                                list.push(part);
                            }
                        }
                    }
                    old.body = old.body.take().or(new.body);
                    old.parent = old.parent.take().or(new.parent);
                    old.return_type = old.return_type.take().or(new.return_type);
                    old.bytes = span;
                }
            }
        }
        let mut definitions: Vec<Definition> = by_name.into_values().collect();
        definitions.sort_by(|a, b| {
            (a.bytes.start, b.bytes.end, a.pattern, a.name.start).cmp(&(b.bytes.start, a.bytes.end, b.pattern, b.name.start))
        });
        definitions
    }

    fn piece(&self, bytes: &Bytes, bytes_max: usize) -> String {
        fold_space(&self.text[bytes.clone()], bytes_max)
    }

    fn pieces(&self, all: &[Bytes]) -> Vec<String> {
        all.iter().map(|b| self.piece(b, NAME_BYTES_MAX)).filter(|s| !s.is_empty()).take(LIST_LEN_MAX).collect()
    }

    fn unit(
        &self,
        i: usize,
        definitions: &[Definition],
        enclosing: &[Option<usize>],
        comments: &DocComments,
    ) -> Option<Unit> {
        let definition = &definitions[i];
        let What::Unit(mut kind, role) = definition.what else { return None };
        let mut parents: Vec<String> = ancestors(i, enclosing)
            .map(|a| clean_name(&self.text[definitions[a].name.clone()]))
            .filter(|name| !name.is_empty())
            .collect();
        parents.reverse();
        if let Some(parent) = &definition.parent {
            parents.push(clean_name(&self.text[parent.clone()]));
        }
        let in_class = definition.parent.is_some()
            || ancestors(i, enclosing).any(|a| matches!(definitions[a].what, What::Unit(UnitKind::Class, _)));
        if kind == UnitKind::Function && in_class && role != UnitRole::Test {
            kind = UnitKind::Method;
        }
        let Head { first, line, start, mut doc } = comments.head_of(&definition.bytes, self.lines);
        let end = self.lines.end_line(&definition.bytes).max(line);
        let inner = definition.doc.iter().map(|b| clean_comment(&self.text[b.clone()]));
        for piece in inner {
            push_line(&mut doc, &piece);
        }
        truncate(&mut doc, DOCSTRING_BYTES_MAX);
        let signature_end = match &definition.body {
            Some(body) if body.start > start => body.start,
            _ => start + self.text[start..definition.bytes.end].lines().next().unwrap_or_default().len(),
        };
        let parameters = definition.parameters.iter().flat_map(|b| split_list(&self.text[b.clone()])).take(LIST_LEN_MAX);
        Some(Unit {
            kind,
            role,
            name: clean_name(&self.text[definition.name.clone()]),
            parent: parents.join("."),
            span: Span { first, line, end },
            signature: fold_space(&self.text[start..signature_end], SIGNATURE_BYTES_MAX),
            docstring: doc,
            parameters: parameters.collect(),
            return_type: definition.return_type.as_ref().map(|b| self.piece(b, NAME_BYTES_MAX)).unwrap_or_default(),
            extends: self.pieces(&definition.extends),
            ..Unit::default()
        })
    }

    /// A unit's body is its lines; a container leaves to its members all but their first lines.
    fn fill_bodies(&self, units: &mut [Option<Unit>], definitions: &[Definition], enclosing: &[Option<usize>]) {
        let mut left_out: Vec<Vec<(u32, u32)>> = vec![Vec::new(); units.len()];
        for (i, unit) in units.iter().enumerate() {
            let Some(unit) = unit else { continue };
            if unit.kind == UnitKind::Constant {
                continue;
            }
            for a in ancestors(i, enclosing) {
                if definitions[a].what.is_container() {
                    left_out[a].push((unit.span.line + 1, unit.span.end));
                }
            }
        }
        for (unit, mut gaps) in units.iter_mut().zip(left_out) {
            let Some(unit) = unit else { continue };
            gaps.sort_unstable();
            let mut at = unit.span.line;
            for (first, end) in gaps {
                if first > at {
                    unit.body.push_str(self.lines.lines(at, (first - 1).min(unit.span.end)));
                }
                at = at.max(end + 1);
            }
            if at <= unit.span.end {
                unit.body.push_str(self.lines.lines(at, unit.span.end));
            }
        }
    }

    /// Gives calls, local variables and inner documentation to the innermost unit around them.
    fn fill_facts(&self, units: &mut [Option<Unit>], definitions: &[Definition], enclosing: &[Option<usize>]) {
        let owner = |byte: usize| {
            let after = definitions.partition_point(|d| d.bytes.start <= byte);
            let mut at = after.checked_sub(1);
            while let Some(i) = at {
                if definitions[i].bytes.end > byte && units[i].is_some() {
                    return Some(i);
                }
                // The enclosing chain holds every definition that can still reach `byte`.
                at = enclosing[i];
            }
            None
        };
        let facts = |all: &[Bytes]| -> Vec<(usize, Bytes)> {
            let mut sorted = all.to_vec();
            sorted.sort_by_key(|b| (b.start, b.end));
            sorted.into_iter().filter_map(|b| owner(b.start).map(|i| (i, b))).collect()
        };
        let calls = facts(&self.found.calls);
        let variables = facts(&self.found.variables);
        let docs = facts(&self.found.docs);
        let mut seen: HashSet<(usize, &str)> = HashSet::new();
        for (i, bytes) in calls {
            let name = &self.text[bytes];
            if let Some(unit) = &mut units[i]
                && unit.calls.len() < LIST_LEN_MAX
                && name.len() <= NAME_BYTES_MAX
                && seen.insert((i, name))
            {
                unit.calls.push(name.to_string());
            }
        }
        seen.clear();
        for (i, bytes) in variables {
            let name = &self.text[bytes];
            if let Some(unit) = &mut units[i]
                && unit.variables.len() < LIST_LEN_MAX
                && name.len() <= NAME_BYTES_MAX
                && seen.insert((i, name))
            {
                unit.variables.push(name.to_string());
            }
        }
        for (i, bytes) in docs {
            if let Some(unit) = &mut units[i]
                && unit.docstring.len() < DOCSTRING_BYTES_MAX
            {
                push_line(&mut unit.docstring, &clean_comment(&self.text[bytes]));
                truncate(&mut unit.docstring, DOCSTRING_BYTES_MAX);
            }
        }
    }
}

/// For each definition (sorted by start, widest first) the innermost one around it.
fn enclosing(definitions: &[Definition]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut result = Vec::with_capacity(definitions.len());
    for (i, definition) in definitions.iter().enumerate() {
        while let Some(&top) = open.last() {
            if definitions[top].bytes.end >= definition.bytes.end && definitions[top].bytes != definition.bytes {
                break;
            }
            // Two names of one statement (`const A = 1, B = 2`) stand beside each other.
            open.pop();
        }
        result.push(open.last().copied());
        open.push(i);
    }
    result
}

fn ancestors(i: usize, enclosing: &[Option<usize>]) -> impl Iterator<Item = usize> {
    std::iter::successors(enclosing[i], |&a| enclosing[a])
}

/// A comment or attribute that begins its line.
struct Leading {
    bytes: Bytes,
    first: u32,
    end: u32,
    is_comment: bool,
}

/// The comments and attributes that may belong to a definition below or around them, by position.
struct DocComments {
    pieces: Vec<Leading>,
}

/// What stands above a definition: its documentation, and where it and the definition begin.
struct Head {
    /// First line of the documentation (or of the definition).
    first: u32,
    /// Line of the definition, attributes included.
    line: u32,
    /// Offset of the definition's own first word.
    start: usize,
    doc: String,
}

fn doc_comments(found: &Found, lines: &Lines<'_>) -> DocComments {
    let piece = |bytes: &Bytes, is_comment| {
        let (first, end) = (lines.line_of(bytes.start), lines.end_line(bytes));
        lines.starts_line(bytes.start).then(|| Leading { bytes: bytes.clone(), first, end, is_comment })
    };
    let mut pieces: Vec<Leading> = (found.comments.iter().filter_map(|b| piece(b, true)))
        .chain(found.attributes.iter().filter_map(|b| piece(b, false)))
        .collect();
    pieces.sort_by_key(|p| (p.bytes.start, p.bytes.end));
    DocComments { pieces }
}

impl DocComments {
    /// Reads what stands above the definition at `bytes`, or inside it in front of its first word.
    fn head_of(&self, bytes: &Bytes, lines: &Lines<'_>) -> Head {
        let mut start = bytes.start;
        let mut next = self.pieces.partition_point(|p| p.bytes.start < start);
        while let Some(piece) = self.pieces.get(next).filter(|p| p.bytes.start == start && p.bytes.end < bytes.end) {
            let rest = &lines.text[piece.bytes.end..bytes.end];
            start = bytes.end - rest.trim_start().len();
            next += 1;
        }
        let own = lines.line_of(start);
        let mut head = Head { first: own, line: own, start, doc: String::new() };
        let mut docs: Vec<String> = Vec::new();
        for piece in self.pieces[..next].iter().rev() {
            if piece.end >= own && piece.bytes.end > start || piece.end + 1 < head.first {
                break;
            }
            head.first = piece.first.min(head.first);
            if piece.is_comment {
                docs.push(clean_comment(&lines.text[piece.bytes.clone()]));
            } else if docs.is_empty() {
                head.line = piece.first.min(head.line);
            }
        }
        docs.iter().rev().for_each(|doc| push_line(&mut head.doc, doc));
        head
    }
}

/// Joins neighbouring functions of one name (the clauses of one function, or a type signature and its equations).
fn merge_clauses(units: Vec<Unit>) -> Vec<Unit> {
    let mut merged: Vec<Unit> = Vec::with_capacity(units.len());
    for unit in units {
        match merged.last_mut() {
            Some(last)
                if !unit.name.is_empty()
                    && last.name == unit.name
                    && last.parent == unit.parent
                    && unit.kind != UnitKind::Class
                    && last.kind != UnitKind::Class
                    && unit.span.line <= last.span.end + 2 =>
            {
                if unit.kind != UnitKind::Constant {
                    last.kind = unit.kind;
                    last.role = unit.role;
                }
                last.span.end = last.span.end.max(unit.span.end);
                last.body.push_str(&unit.body);
                push_line(&mut last.docstring, &unit.docstring);
                last.calls.extend(unit.calls);
            }
            _ => merged.push(unit),
        }
    }
    merged
}

/// Covers the lines that no unit covers with blocks.
fn add_blocks(units: &mut Vec<Unit>, lines: &Lines<'_>, language: &Language) {
    let mut covered: Vec<(u32, u32)> = units.iter().map(|u| (u.span.first, u.span.end)).collect();
    covered.sort_unstable();
    let kind = if language.category == Category::Prose { UnitKind::Document } else { UnitKind::RawCode };
    let mut at = 1;
    let mut blocks = Vec::new();
    for (first, end) in covered.into_iter().chain([(lines.count() + 1, lines.count() + 1)]) {
        add_blocks_between(at, first, lines, kind, &mut blocks);
        at = at.max(end + 1);
    }
    units.extend(blocks);
    units.sort_by(|a, b| (a.span.line, b.span.end).cmp(&(b.span.line, a.span.end)));
}

/// Adds blocks for the lines `first..end` (`end` excluded), blank lines at their edges left out.
fn add_blocks_between(first: u32, end: u32, lines: &Lines<'_>, kind: UnitKind, blocks: &mut Vec<Unit>) {
    let mut at = first;
    while at < end {
        if lines.is_blank(at) {
            at += 1;
            continue;
        }
        let limit = end.min(at + BLOCK_LINES);
        let last = (at..limit).rev().find(|&l| !lines.is_blank(l)).unwrap_or(at);
        blocks.push(Unit {
            kind,
            span: Span { first: at, line: at, end: last },
            body: lines.lines(at, last).to_string(),
            ..Unit::default()
        });
        at = limit;
    }
}

fn blocks_only(text: &str, language: &Language) -> Vec<Unit> {
    let mut units = Vec::new();
    add_blocks(&mut units, &Lines::new(text), language);
    units
}

/// Adds `more` to `text` on a line of its own.
fn push_line(text: &mut String, more: &str) {
    let more = more.trim();
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Cuts `text` to at most `bytes_max` bytes, at a character boundary.
fn truncate(text: &mut String, bytes_max: usize) {
    text.truncate(text.floor_char_boundary(bytes_max));
}

/// `text` with every run of white space as one space, cut to `bytes_max` bytes.
fn fold_space(text: &str, bytes_max: usize) -> String {
    let cut = &text[..text.floor_char_boundary(bytes_max.saturating_mul(2))];
    let mut folded = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate(&mut folded, bytes_max);
    folded
}

/// A name as written, without quotes, type arguments or line breaks.
fn clean_name(text: &str) -> String {
    let mut name = fold_space(text, NAME_BYTES_MAX);
    if let Some(generic) = name.find('<')
        && generic > 0
        && !name.starts_with("operator")
    {
        name.truncate(generic);
    }
    name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).to_string()
}

/// A comment's text without its markers.
fn clean_comment(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let mut line = line.trim();
        for quotes in ["\"\"\"", "'''", "r\"\"\"", "~S\"\"\"", "{-|", "{-", "-}", "(**", "(*", "*)", "<!--", "-->", "--[[", "]]", "<#", "#>", "=begin", "=end"] {
            line = line.strip_prefix(quotes).unwrap_or(line);
            line = line.strip_suffix(quotes).unwrap_or(line);
        }
        let line = line.trim_start_matches(['/', '*', '#', '!', ';', '%', '|']).trim_start();
        let line = line.strip_prefix("--").unwrap_or(line).trim_start_matches(['-', '|', '^']);
        let line = line.trim_end_matches("*/").trim();
        push_line(&mut text, line);
    }
    text
}

/// The items of a written list: `(a, b: T<U, V> = f(1, 2))` → `a`, `b: T<U, V>`.
fn split_list(text: &str) -> Vec<String> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    let mut items = Vec::new();
    let mut depth = 0i32;
    let mut start = 0;
    for (i, c) in inner.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = (depth - 1).max(0),
            ',' if depth == 0 => {
                items.push(&inner[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    items.push(&inner[start..]);
    items
        .into_iter()
        .map(|item| {
            let item = fold_space(item, NAME_BYTES_MAX);
            match item.split_once(" = ") {
                Some((before, _)) => before.to_string(),
                None => item,
            }
        })
        .filter(|item| !item.is_empty())
        .collect()
}
