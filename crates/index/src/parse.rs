//! Text → units. Parsing never fails: what can't be parsed becomes plain blocks and a note.
//!
//! A language's query (`language/queries/<name>.scm`) says what is a definition; everything else
//! here is the same for all languages: nesting, documentation, bodies, and the blocks of lines
//! that no definition covers.

use std::borrow::Cow;
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
/// Longest body kept, in bytes; the lines beyond it still belong to the unit.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Of a line longer than this, in bytes (minified code), a unit's body holds only the unit's own part.
const LINE_BYTES_MAX: usize = 1_000;
/// A section with more lines of its own leaves all but the first [`BLOCK_LINES`] to blocks.
const SECTION_LINES_MAX: u32 = 200;
/// Definitions nested deeper belong to the one around them.
const DEPTH_MAX: usize = 32;
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
    let prepared = language.prepare.and_then(|prepare| prepare(text)).filter(|p| p.len() == text.len());
    let mut read = prepared.map_or(Cow::Borrowed(text), Cow::Owned);
    // Some scanners never return from a last line without its end (Perl's from `word # comment`).
    if !read.ends_with('\n') {
        read.to_mut().push('\n');
    }
    match collect(&read, text.len(), compiled, &[], &mut found) {
        Ok(has_error) => {
            if has_error {
                note = Some("parsed with syntax errors".to_string());
            }
            for (name, ranges) in std::mem::take(&mut found.embedded) {
                let inner = language::by_name(&name).and_then(Language::compiled);
                if let Some(inner) = inner
                    && collect(&read, text.len(), inner, &ranges, &mut found).is_err()
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
    found.imports.sort_by_key(|b| (b.start, b.end));
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
        &self.text[self.bytes(line, line)]
    }

    /// Where lines `first..=end` lie in the text.
    fn bytes(&self, first: u32, end: u32) -> Bytes {
        self.starts[first as usize - 1]..self.starts.get(end as usize).copied().unwrap_or(self.text.len())
    }

    /// The text of lines `first..=end` as a body: no more than fits.
    fn body(&self, first: u32, end: u32) -> String {
        let text = &self.text[self.bytes(first, end)];
        text[..text.floor_char_boundary(BODY_BYTES_MAX)].to_string()
    }

    fn is_blank(&self, line: u32) -> bool {
        self.line(line).trim().is_empty()
    }

    /// Bytes before `byte` on its line.
    fn column(&self, byte: usize) -> usize {
        byte - self.starts[self.line_of(byte) as usize - 1]
    }

    /// Bytes of white space that the line of `byte` begins with.
    fn indentation(&self, byte: usize) -> usize {
        let line = self.line(self.line_of(byte));
        line.len() - line.trim_start().len()
    }

    /// Whether only white space stands before `byte` on its line.
    fn starts_line(&self, byte: usize) -> bool {
        self.text[byte - self.column(byte)..byte].trim_start().is_empty()
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
/// What it captures ends at `len`.
fn collect(text: &str, len: usize, compiled: &Compiled, ranges: &[Range], found: &mut Found) -> Result<bool, TooLong> {
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
                add_match(captures.iter().map(|(c, node)| (query.capture_name(*c), *node)), len, pattern, found);
            },
        );
        if in_time { Ok(root.has_error()) } else { Err(TooLong) }
    })
}

/// Sorts one match of the query into `found`: a definition with its parts, or single facts.
fn add_match<'t>(captures: impl Iterator<Item = (&'t str, Node<'t>)>, len: usize, pattern: usize, found: &mut Found) {
    let mut definition: Option<(What, Bytes)> = None;
    let mut parts: Vec<(&str, Bytes)> = Vec::new();
    for (name, node) in captures {
        let bytes = node.start_byte().min(len)..node.end_byte().min(len);
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
    let name = match first("name") {
        // The parser made the name up to mend an error.
        Some(name) if name.is_empty() => return,
        Some(name) => name,
        None => bytes.start..bytes.start,
    };
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
        let comments = doc_comments(self.found, self.lines, self.language);
        let definitions = self.distinct_definitions(&comments);
        let enclosing = enclosing(&definitions);
        // How deep each stands; none for what belongs to the unit around it (all that stands inside a function).
        let mut depths: Vec<Option<usize>> = Vec::with_capacity(definitions.len());
        // The name of each, with those of what encloses it.
        let mut names: Vec<(String, String)> = Vec::with_capacity(definitions.len());
        for (i, definition) in definitions.iter().enumerate() {
            let depth = match enclosing[i] {
                None => Some(0),
                Some(a) => depths[a].filter(|&d| d < DEPTH_MAX && definitions[a].what.is_container()).map(|d| d + 1),
            };
            depths.push(depth);
            if depth.is_none() {
                names.push(Default::default());
                continue;
            }
            let mut parents = String::new();
            if let Some((outer, name)) = enclosing[i].map(|a| &names[a]) {
                push_part(&mut parents, outer);
                push_part(&mut parents, name);
            }
            if let Some(parent) = &definition.parent {
                push_part(&mut parents, &clean_name(&self.text[parent.clone()]));
            }
            names.push((parents, self.name(definition)));
        }
        let mut units: Vec<Option<Unit>> = Vec::with_capacity(definitions.len());
        for (i, (parent, name)) in names.into_iter().enumerate() {
            let unit = depths[i].and_then(|_| self.unit(i, &definitions, &enclosing, &comments));
            units.push(unit.map(|unit| Unit { parent, name, ..unit }));
        }
        let blocks = self.fill_bodies(&mut units, &definitions, &enclosing);
        self.fill_facts(&mut units, &definitions, &enclosing);
        let mut units: Vec<Unit> = units.into_iter().flatten().collect();
        units.sort_by(|a, b| (a.span.line, b.span.end).cmp(&(b.span.line, a.span.end)));
        if self.language.merges_clauses {
            units = merge_clauses(units);
        }
        units.extend(blocks);
        units
    }

    fn name(&self, definition: &Definition) -> String {
        let name = &self.text[definition.name.clone()];
        match definition.what {
            What::Unit(UnitKind::Section, _) if self.language.name == "markdown" => clean_heading(name),
            What::Unit(UnitKind::Section, _) => clean_title(name),
            _ => clean_name(name),
        }
    }

    /// One definition a name: several patterns may match one (plain, exported, decorated). The widest
    /// span counts, and the first pattern in the query file says what it is.
    fn distinct_definitions(&mut self, comments: &DocComments) -> Vec<Definition> {
        let mut found = std::mem::take(&mut self.found.definitions);
        found.sort_by_key(|d| d.pattern);
        let mut by_name: HashMap<(usize, usize), Definition> = HashMap::new();
        for new in found {
            use std::collections::hash_map::Entry;
            match by_name.entry((new.name.start, new.name.end)) {
                Entry::Vacant(slot) => {
                    slot.insert(new);
                }
                Entry::Occupied(mut slot) => {
                    let old = slot.get_mut();
                    old.bytes = old.bytes.start.min(new.bytes.start)..old.bytes.end.max(new.bytes.end);
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
                }
            }
        }
        let mut definitions: Vec<Definition> = by_name.into_values().collect();
        for definition in &mut definitions {
            definition.bytes.end = comments.end_of(&definition.bytes, self.lines);
        }
        definitions.sort_by(|a, b| {
            (a.bytes.start, b.bytes.end, a.pattern, a.name.start).cmp(&(
                b.bytes.start,
                a.bytes.end,
                b.pattern,
                b.name.start,
            ))
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
        let in_class = definition.parent.is_some()
            || ancestors(i, enclosing).any(|a| matches!(definitions[a].what, What::Unit(UnitKind::Class, _)));
        if kind == UnitKind::Function && in_class && role != UnitRole::Test {
            kind = UnitKind::Method;
        }
        let before = definitions.partition_point(|d| d.bytes.start < definition.bytes.start);
        let previous = before.checked_sub(1).map_or(0, |before| definitions[before].bytes.start);
        let Head { first, line, start, mut doc } = comments.head_of(&definition.bytes, previous, self.lines);
        let end = self.lines.end_line(&definition.bytes).max(line);
        let inner = definition.doc.iter().map(|b| clean_comment(&self.text[b.clone()], comments.xml));
        for piece in inner {
            push_line(&mut doc, &piece);
        }
        truncate(&mut doc, DOCSTRING_BYTES_MAX);
        let signature_end = match &definition.body {
            Some(body) if body.start > start => body.start,
            // A prototype, an abstract method, an overload.
            None if definition.what.is_callable() => definition.bytes.end,
            _ => start + self.text[start..definition.bytes.end].lines().next().unwrap_or_default().len(),
        };
        let parameters =
            definition.parameters.iter().flat_map(|b| split_list(&self.text[b.clone()])).take(LIST_LEN_MAX);
        Some(Unit {
            kind,
            role,
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
    /// Returns the blocks that long sections leave.
    fn fill_bodies(
        &self,
        units: &mut [Option<Unit>],
        definitions: &[Definition],
        enclosing: &[Option<usize>],
    ) -> Vec<Unit> {
        let mut left_out: Vec<Vec<(u32, u32)>> = vec![Vec::new(); units.len()];
        for (i, unit) in units.iter().enumerate() {
            let Some(unit) = unit else { continue };
            if unit.kind == UnitKind::Constant {
                continue;
            }
            for a in ancestors(i, enclosing) {
                left_out[a].push((unit.span.line + 1, unit.span.end));
            }
        }
        let mut blocks = Vec::new();
        for ((unit, definition), mut gaps) in units.iter_mut().zip(definitions).zip(left_out) {
            let Some(unit) = unit else { continue };
            let is_leaf = gaps.is_empty();
            gaps.sort_unstable();
            // Its ranges of lines, and where a block cut from one would end: before the first line of a member.
            let mut own: Vec<(u32, u32, u32)> = Vec::new();
            let (mut at, last) = (unit.span.line, unit.span.end);
            for (first, end) in gaps {
                if first > at && at <= last {
                    own.push((at, last.min(first - 1), first - 1));
                }
                at = at.max(end + 1);
            }
            if at <= last {
                own.push((at, last, last + 1));
            }
            let own_lines: u32 = own.iter().map(|(first, end, _)| end - first + 1).sum();
            let is_cut = unit.kind == UnitKind::Section && own_lines > SECTION_LINES_MAX;
            let mut left = if is_cut { BLOCK_LINES } else { own_lines };
            let first_block = blocks.len();
            for (first, end, blocks_end) in own {
                let cut = end.min(first + left - 1);
                if cut >= first {
                    let text = &self.text[self.own_bytes(first, cut, &definition.bytes)];
                    let room = BODY_BYTES_MAX.saturating_sub(unit.body.len());
                    unit.body.push_str(&text[..text.floor_char_boundary(room)]);
                    left -= cut + 1 - first;
                }
                add_blocks_between(cut + 1, blocks_end, self.lines, block_kind(self.language), &mut blocks);
            }
            if is_cut {
                let parent = unit.qualified_name();
                blocks[first_block..].iter_mut().for_each(|block| block.parent.clone_from(&parent));
                if is_leaf {
                    unit.span.end = unit.span.line + BLOCK_LINES - 1;
                }
            }
        }
        blocks
    }

    /// Where lines `first..=end` of the definition at `bytes` lie; of very long lines only its own part.
    fn own_bytes(&self, first: u32, end: u32, bytes: &Bytes) -> Bytes {
        let mut own = self.lines.bytes(first, end);
        let (first_line, end_line) = (self.lines.bytes(first, first), self.lines.bytes(end, end));
        if first_line.len() > LINE_BYTES_MAX && first_line.contains(&bytes.start) {
            own.start = bytes.start;
        }
        if end_line.len() > LINE_BYTES_MAX && end_line.contains(&bytes.end) {
            own.end = bytes.end;
        }
        own
    }

    /// Gives calls, local variables and inner documentation to the innermost unit around them.
    fn fill_facts(&self, units: &mut [Option<Unit>], definitions: &[Definition], enclosing: &[Option<usize>]) {
        // The unit that what stands in a definition belongs to: its own, or that of what encloses it.
        let mut homes: Vec<Option<usize>> = Vec::with_capacity(units.len());
        for (i, unit) in units.iter().enumerate() {
            homes.push(if unit.is_some() { Some(i) } else { enclosing[i].and_then(|a| homes[a]) });
        }
        let facts = |all: &[Bytes]| -> Vec<(usize, Bytes)> {
            let mut sorted = all.to_vec();
            sorted.sort_by_key(|b| (b.start, b.end));
            let (mut open, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
            let mut owned = Vec::with_capacity(sorted.len());
            for bytes in sorted {
                while let Some(definition) = definitions.get(next).filter(|d| d.bytes.start <= bytes.start) {
                    while open.pop_if(|&mut top| definitions[top].bytes.end <= definition.bytes.start).is_some() {}
                    open.push(next);
                    next += 1;
                }
                while open.pop_if(|&mut top| definitions[top].bytes.end <= bytes.start).is_some() {}
                if let Some(owner) = open.last().and_then(|&i| homes[i])
                    && definitions[owner].name != bytes
                {
                    owned.push((owner, bytes));
                }
            }
            owned
        };
        let mut seen: HashSet<(usize, &str)> = HashSet::new();
        for (i, bytes) in facts(&self.found.calls) {
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
        for (i, bytes) in facts(&self.found.variables) {
            let name = &self.text[bytes];
            if let Some(unit) = &mut units[i]
                && unit.variables.len() < LIST_LEN_MAX
                && name.len() <= NAME_BYTES_MAX
                && seen.insert((i, name))
            {
                unit.variables.push(name.to_string());
            }
        }
        for (i, bytes) in facts(&self.found.docs) {
            if let Some(unit) = &mut units[i]
                && unit.docstring.len() < DOCSTRING_BYTES_MAX
            {
                push_line(&mut unit.docstring, &clean_comment(&self.text[bytes], has_xml_docs(self.language)));
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
    /// Whether `///` comments hold XML.
    xml: bool,
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

fn doc_comments(found: &Found, lines: &Lines<'_>, language: &Language) -> DocComments {
    let piece = |bytes: &Bytes, is_comment| {
        let (first, end) = (lines.line_of(bytes.start), lines.end_line(bytes));
        lines.starts_line(bytes.start).then(|| Leading { bytes: bytes.clone(), first, end, is_comment })
    };
    let mut pieces: Vec<Leading> = (found.comments.iter().filter_map(|b| piece(b, true)))
        .chain(found.attributes.iter().filter_map(|b| piece(b, false)))
        .collect();
    pieces.sort_by_key(|p| (p.bytes.start, std::cmp::Reverse(p.bytes.end)));
    // A comment inside an attribute is part of it.
    let mut end = 0;
    pieces.retain(|p| {
        let is_outer = p.bytes.end > end;
        end = end.max(p.bytes.end);
        is_outer
    });
    DocComments { pieces, xml: has_xml_docs(language) }
}

impl DocComments {
    /// Where a definition ends without the comments below it: a grammar may give it what stands above the next one.
    fn end_of(&self, bytes: &Bytes, lines: &Lines<'_>) -> usize {
        let mut end = bytes.start + lines.text[bytes.clone()].trim_end().len();
        let column = lines.column(bytes.start);
        let before = self.pieces.partition_point(|p| p.bytes.start < end);
        for piece in self.pieces[..before].iter().rev() {
            let is_last = piece.bytes.end >= end || lines.text[piece.bytes.end..end].trim_start().is_empty();
            if !is_last
                || !piece.is_comment
                || piece.bytes.start <= bytes.start
                || lines.column(piece.bytes.start) > column
            {
                break;
            }
            end = bytes.start + lines.text[bytes.start..piece.bytes.start].trim_end().len();
        }
        end
    }

    /// Reads what stands above the definition at `bytes`, or inside it in front of its first word.
    /// `previous` is where the definition before it begins.
    fn head_of(&self, bytes: &Bytes, previous: usize, lines: &Lines<'_>) -> Head {
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
        let indentation = lines.indentation(start);
        // Where what is already taken begins.
        let mut below = start;
        for piece in self.pieces[..next].iter().rev() {
            let text = &lines.text[piece.bytes.clone()];
            // A blank line may part `/** … */` from what it documents, and nothing any other comment.
            let gap = if docs.is_empty() && text.starts_with("/**") { 2 } else { 1 };
            // A comment further in ends what stands above (a block without a closing bracket).
            let is_inner =
                piece.is_comment && piece.bytes.start < bytes.start && lines.column(piece.bytes.start) > indentation;
            if piece.bytes.end > below || piece.end + gap < head.first || is_inner {
                break;
            }
            // Words that the grammar keeps out of the definition (`pub`, `static const int`) are no obstacle.
            let between = lines.text[piece.bytes.end..below].trim_start();
            let is_head = below == start && previous < piece.bytes.end && !between.contains(['\n', ';', '}']);
            if !between.is_empty() && !is_head {
                break;
            }
            below = piece.bytes.start;
            head.first = piece.first.min(head.first);
            if piece.is_comment {
                docs.push(clean_comment(text, self.xml));
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
                truncate(&mut last.body, BODY_BYTES_MAX);
                push_line(&mut last.docstring, &unit.docstring);
                if last.parameters.is_empty() {
                    last.parameters = unit.parameters;
                }
                if last.return_type.is_empty() {
                    last.return_type = unit.return_type;
                }
                for (list, more) in [(&mut last.calls, unit.calls), (&mut last.variables, unit.variables)] {
                    for name in more {
                        if list.len() < LIST_LEN_MAX && !list.contains(&name) {
                            list.push(name);
                        }
                    }
                }
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
    let mut at = 1;
    let mut blocks = Vec::new();
    for (first, end) in covered.into_iter().chain([(lines.count() + 1, lines.count() + 1)]) {
        add_blocks_between(at, first, lines, block_kind(language), &mut blocks);
        at = at.max(end + 1);
    }
    units.extend(blocks);
    units.sort_by(|a, b| (a.span.line, b.span.end).cmp(&(b.span.line, a.span.end)));
}

fn block_kind(language: &Language) -> UnitKind {
    if language.category == Category::Prose { UnitKind::Document } else { UnitKind::RawCode }
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
            body: lines.body(at, last),
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

/// Adds a name to those that enclose it.
fn push_part(names: &mut String, name: &str) {
    if !names.is_empty() && !name.is_empty() {
        names.push('.');
    }
    names.push_str(name);
}

/// `text` without the quotes around it, if one pair of them is around the whole.
fn unquote(text: &str) -> &str {
    let inner =
        ['"', '\'', '`'].into_iter().find_map(|quote| Some((quote, text.strip_prefix(quote)?.strip_suffix(quote)?)));
    match inner {
        Some((quote, inner)) => {
            let mut escaped = false;
            let ends = inner.chars().any(|c| {
                let ends = c == quote && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            if ends { text } else { inner }
        }
        None => text,
    }
}

/// A name as written, without quotes, type arguments or line breaks.
fn clean_name(text: &str) -> String {
    let text = text.trim();
    // A symbol of Ruby or Elixir.
    let text = match text.strip_prefix(':') {
        Some(symbol) if symbol.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')) => symbol,
        _ => text,
    };
    let unquoted = unquote(text);
    let name = if unquoted.len() < text.len() { unquoted } else { without_type_arguments(text) };
    fold_space(name, NAME_BYTES_MAX)
}

/// `Map<K, V>` → `Map`; anything else as it is (operators such as `<=>` too).
fn without_type_arguments(name: &str) -> &str {
    if !name.ends_with('>') {
        return name;
    }
    let mut depth = 0u32;
    for (i, c) in name.char_indices().rev() {
        match c {
            // The arrow of a function type closes nothing.
            '>' if name[..i].ends_with(['-', '=']) => {}
            '>' => depth += 1,
            '<' if depth == 1 && name[..i].ends_with(|c: char| c.is_alphanumeric() || c == '_') => return &name[..i],
            '<' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name
}

/// A title as written, on one line, without quotes around it.
fn clean_title(text: &str) -> String {
    fold_space(unquote(text.trim()), NAME_BYTES_MAX)
}

/// A Markdown heading's text: of links what is read, no images, no HTML tags, no closing `#`s.
fn clean_heading(text: &str) -> String {
    // Longer than any heading that is one.
    let text = text.trim();
    let text = text[..text.floor_char_boundary(8 * NAME_BYTES_MAX)].trim_end();
    let open = text.trim_end_matches('#');
    let mut rest = if open.is_empty() || open.ends_with(char::is_whitespace) { open } else { text };
    let mut plain = String::with_capacity(rest.len());
    while let Some(at) = rest.find(['`', '<', '[', '!']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_image = rest.starts_with("![");
        let taken = match rest.as_bytes()[0] {
            b'`' => rest[1..].find('`').map(|end| (&rest[..end + 2], end + 2)),
            b'<' => html_tag(rest).map(|end| ("", end)),
            b'!' if !is_image => None,
            _ => link(&rest[usize::from(is_image)..]).map(|(text, end)| match is_image {
                true => ("", end + 1),
                false => (text, end),
            }),
        };
        // Of a link's text the images and tags go, too.
        let (shown, end) = taken.unwrap_or((&rest[..1], 1));
        match shown.starts_with("![") {
            true => plain.push_str(&clean_heading(shown)),
            false => plain.push_str(shown),
        }
        rest = &rest[end..];
    }
    plain.push_str(rest);
    clean_title(&plain)
}

/// The length of the HTML tag that `text` begins with. Type arguments (`<T>`, `<https://…>`) are none.
fn html_tag(text: &str) -> Option<usize> {
    let name = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let after = name.trim_start_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let is_tag = name.starts_with(|c: char| c.is_ascii_lowercase()) && after.starts_with([' ', '/', '>']);
    if is_tag { text.find('>').map(|end| end + 1) } else { None }
}

/// The text of the link that `text` begins with (`[text](target)`, `[text][label]`), and the link's length.
fn link(text: &str) -> Option<(&str, usize)> {
    let mut depth = 0;
    let (middle, _) = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        depth == 0
    })?;
    let target = &text[middle + 1..];
    let end = match target.as_bytes().first()? {
        b'(' => target.find(')')?,
        b'[' => target.find(']')?,
        _ => return None,
    };
    Some((&text[1..middle], middle + 1 + end + 1))
}

/// Whether `///` comments hold XML.
fn has_xml_docs(language: &Language) -> bool {
    language.name == "csharp"
}

/// What may open or close a comment or a string of documentation.
const MARKERS: [&str; 16] = [
    "\"\"\"", "'''", "r\"\"\"", "~S\"\"\"", "{-|", "{-", "-}", "(**", "(*", "*)", "<!--", "-->", "--[[", "]]", "<#",
    "#>",
];

/// A comment's text without its markers; with `xml`, `///` lines lose their tags.
fn clean_comment(comment: &str, xml: bool) -> String {
    let comment = without_doc_call(comment.trim());
    let comment = &comment[..comment.floor_char_boundary(2 * DOCSTRING_BYTES_MAX)];
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let mut line = line.trim();
        let is_xml = xml && line.starts_with("///");
        for marker in MARKERS.iter().chain(&["=begin", "=end"]) {
            line = line.strip_prefix(marker).unwrap_or(line);
            line = line.strip_suffix(marker).unwrap_or(line);
        }
        let line = line.trim_start();
        // Roxygen.
        let line = line.strip_prefix("#'").unwrap_or(line);
        let line = line.trim_start_matches(['/', '*', '#', '!', ';', '%', '|']).trim_start();
        let line = line.strip_prefix("--").map_or(line, |rest| rest.trim_start_matches('-').trim_start());
        let line = line.trim_start_matches(['-', '|', '^']);
        let line = line.trim_end_matches("*/").trim();
        match is_xml {
            true => push_line(&mut text, &without_tags(line)),
            false => push_line(&mut text, line),
        }
    }
    text
}

/// `@doc "…"` (Elixir) and `desc "…"` (Rake) are what their string says; any other comment is itself,
/// without a plain pair of quotes around it.
fn without_doc_call(comment: &str) -> &str {
    let string = ["@doc", "@moduledoc", "@typedoc", "@shortdoc", "desc"].into_iter().find_map(|name| {
        let argument = comment.strip_prefix(name)?.trim_start_matches([' ', '(']);
        let argument = argument.strip_prefix("~S").or_else(|| argument.strip_prefix("~s")).unwrap_or(argument);
        argument.starts_with(['"', '\'']).then(|| argument.trim_end_matches(')'))
    });
    let text = string.unwrap_or(comment);
    if text.starts_with("\"\"\"") || text.starts_with("'''") { text } else { unquote(text) }
}

/// `line` without XML tags; of `<see cref="Name"/>` the name stays.
fn without_tags(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        match rest.find('>').filter(|_| name.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            Some(end) => {
                let tag = &rest[..end];
                if tag.ends_with('/') {
                    plain.push_str(tag.split(['"', '\'']).nth(1).unwrap_or_default());
                }
                rest = &rest[end + 1..];
            }
            None => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The items of a written list: `(a, b: T<U, V> = f(1, 2))` → `a`, `b: T<U, V>`.
fn split_list(text: &str) -> Vec<String> {
    let inner = without_parentheses(text.trim());
    let mut items = Vec::new();
    let (mut start, mut end) = (0, None);
    for (i, c, depth) in depths(inner) {
        let is_alone = || inner[..i].ends_with(char::is_whitespace) && inner[i + 1..].starts_with(char::is_whitespace);
        match c {
            ',' if depth == 0 => {
                items.push(&inner[start..end.unwrap_or(i)]);
                (start, end) = (i + 1, None);
            }
            // The default value.
            '=' if depth == 0 && end.is_none() && is_alone() => end = Some(i),
            _ => {}
        }
    }
    items.push(&inner[start..end.unwrap_or(inner.len())]);
    items.into_iter().map(|item| fold_space(item, NAME_BYTES_MAX)).filter(|item| !item.is_empty()).collect()
}

/// `text` without the parentheses around it, if one pair is around the whole.
fn without_parentheses(text: &str) -> &str {
    let closed_at = depths(text).find(|&(_, c, depth)| c == ')' && depth == 0).map(|(i, ..)| i);
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) if closed_at == Some(text.len() - 1) => inner,
        _ => text,
    }
}

/// Every character with its offset and how many brackets are open after it. Strings in double quotes are passed over.
fn depths(text: &str) -> impl Iterator<Item = (usize, char, u32)> {
    let (mut depth, mut before, mut in_string) = (0u32, ' ', false);
    text.char_indices().filter_map(move |(i, c)| {
        let last = std::mem::replace(&mut before, c);
        if c == '"' && last != '\\' {
            in_string = !in_string;
        } else if in_string {
            return None;
        }
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            // An arrow closes nothing.
            '>' if matches!(last, '-' | '=') => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        Some((i, c, depth))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::language::{LANGUAGES, by_name};

    fn parsed(language: &str, text: &str) -> Parsed {
        let parsed = parse(text, by_name(language).expect("a language"));
        assert_covered(language, text, &parsed);
        parsed
    }

    fn unit(parsed: &Parsed, name: &str) -> Unit {
        parsed
            .units
            .iter()
            .find(|u| u.qualified_name() == name)
            .unwrap_or_else(|| panic!("no {name} in\n{parsed}"))
            .clone()
    }

    fn assert_covered(language: &str, text: &str, parsed: &Parsed) {
        let mut covered = vec![false; text.split('\n').count() + 2];
        for unit in &parsed.units {
            let Span { first, line, end } = unit.span;
            assert!(1 <= first && first <= line && line <= end, "{language}: {:?} in\n{text}", unit.span);
            covered[first as usize..=end as usize].fill(true);
            assert!(unit.body.len() <= BODY_BYTES_MAX);
        }
        for (i, line) in text.split('\n').enumerate() {
            assert!(covered[i + 1] || line.trim().is_empty(), "{language}: line {} is in no unit:\n{text}", i + 1);
        }
    }

    #[test]
    fn names_lose_their_wrapping_only() {
        for (written, name) in [
            ("Map<K, V>", "Map"),
            ("Outer<A>.Inner<B>", "Outer<A>.Inner"),
            ("Box<dyn Fn(A) -> B>", "Box"),
            ("Vec<T>::push", "Vec<T>::push"),
            ("operator<", "operator<"),
            ("operator<=>", "operator<=>"),
            ("operator>>", "operator>>"),
            ("operator->", "operator->"),
            ("<|>", "<|>"),
            ("<>", "<>"),
            (":export", "export"),
            (":\"with space\"", "with space"),
            (":|", ":|"),
            ("::Top", "::Top"),
            ("\"renders Map<K>\"", "renders Map<K>"),
            ("`should work`", "should work"),
            ("foo'", "foo'"),
            ("\"a\".\"b\"", "\"a\".\"b\""),
            ("\"say \\\"x\\\"\"", "say \\\"x\\\""),
            ("a\n  b", "a b"),
            ("", ""),
            ("\"", "\""),
        ] {
            assert_eq!(clean_name(written), name, "{written}");
        }
        assert_eq!(clean_title("Array<T>"), "Array<T>");
    }

    #[test]
    fn headings_keep_what_is_read() {
        for (written, name) in [
            ("Install ##", "Install"),
            ("C#", "C#"),
            ("##", ""),
            ("[Guide](https://a.example/b) for `x`", "Guide for `x`"),
            ("[Guide][1] ![logo](a.png)", "Guide"),
            ("[![build](a.svg)](b) Title", "Title"),
            ("<a name=\"top\"></a>Top<br/>", "Top"),
            ("Map<K, V> and <https://a.example>", "Map<K, V> and <https://a.example>"),
            ("`Vec<u8>`", "Vec<u8>"),
            ("[1.2.0] - 2024", "[1.2.0] - 2024"),
            ("Oh! [", "Oh! ["),
        ] {
            assert_eq!(clean_heading(written), name, "{written}");
        }
    }

    #[test]
    fn comments_lose_their_markers() {
        for (written, text) in [
            ("/** One.\n * Two.\n */", "One.\nTwo."),
            ("-- | Haddock.", "Haddock."),
            ("{- | Haddock. -}", "Haddock."),
            ("--- Lua.", "Lua."),
            ("#' @param x It's a thing.", "@param x It's a thing."),
            ("# 'quoted' word", "'quoted' word"),
            ("@doc \"One line.\"", "One line."),
            ("@doc ~S\"\"\"\nLong.\n\"\"\"", "Long."),
            ("@moduledoc \"\"\"\nLong.\n\"\"\"", "Long."),
            ("desc 'Build it'", "Build it"),
            ("desc(\"Build it\")", "Build it"),
            ("# desc of it", "desc of it"),
            ("\"A string.\"", "A string."),
            ("\"\"\"A string.\"\"\"", "A string."),
            ("/// Of type Vec<u8>.", "Of type Vec<u8>."),
            ("\"a\" or \"b\"", "\"a\" or \"b\""),
        ] {
            assert_eq!(clean_comment(written, false), text, "{written}");
        }
        assert_eq!(clean_comment("/// <summary>Gets <see cref=\"A\"/> if a < b.</summary>", true), "Gets A if a < b.");
        assert_eq!(clean_comment("// List<int>", true), "List<int>");
    }

    #[test]
    fn lists_are_cut_at_their_own_commas() {
        for (written, items) in [
            ("(a, b: T<U, V> = f(1, 2))", vec!["a", "b: T<U, V>"]),
            ("((a, b), c)", vec!["(a, b)", "c"]),
            ("(f: (A) -> B, g: A => B, h)", vec!["f: (A) -> B", "g: A => B", "h"]),
            ("(x: { a = 1 })", vec!["x: { a = 1 }"]),
            ("(a)(b)", vec!["(a)(b)"]),
            ("f: (Int) -> (Int)", vec!["f: (Int) -> (Int)"]),
            ("(sep = \", \", b)", vec!["sep", "b"]),
            ("(a == b, c)", vec!["a == b", "c"]),
            ("()", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(split_list(written), items, "{written}");
        }
    }

    #[test]
    fn what_stands_above_belongs_to_the_nearest_definition() {
        let found = parsed(
            "java",
            "class C {\n  @Inject A a;\n  @Inject B b;\n\n  /** Doc. */\n\n  int c() { return 1; }\n\n  // Loose.\n\n  int d;\n}\n",
        );
        assert_eq!(unit(&found, "C.b").span, Span { first: 3, line: 3, end: 3 });
        assert_eq!(unit(&found, "C.c").docstring, "Doc.");
        assert_eq!(unit(&found, "C.d").docstring, "");
        let found = parsed("zig", "/// Doc.\npub const a = 1;\n");
        assert_eq!(unit(&found, "a").docstring, "Doc.");
    }

    #[test]
    fn comments_below_belong_to_what_follows() {
        let found = parsed("yaml", "a:\n  b: 1\n  # inner\n# about c\nc:\n  d: 2\n");
        assert_eq!(unit(&found, "a").span.end, 3);
        assert_eq!((unit(&found, "c").span.first, unit(&found, "c").docstring), (4, "about c".to_string()));
    }

    #[test]
    fn signatures_without_a_body_are_whole() {
        let found = parsed("c", "int add(\n    int a,\n    int b);\n");
        assert_eq!(unit(&found, "add").signature, "int add( int a, int b)");
    }

    #[test]
    fn bats_tests_hold_their_block() {
        let found = parsed("bash", "@test \"adds é\" {\n  run add\n}\n\n@test 'more' {  \n  run more\n}\n");
        let first = unit(&found, "adds é");
        assert_eq!((first.role, first.span.end, first.signature.as_str()), (UnitRole::Test, 3, "@test \"adds é\""));
        assert_eq!(first.body, "@test \"adds é\" {\n  run add\n}\n");
        assert_eq!(unit(&found, "more").span.line, 5);
    }

    #[test]
    fn swift_is_read_without_its_conditions() {
        let text = "class A {\n    var list: [Int] = [\n        1,\n        #if os(Linux) // é\n        #endif\n        #if os(Linux)\n        2,\n        #endif\n    ]\n    func b() -> Int { 1 }\n}\n";
        let found = parsed("swift", &text.replace(" // é\n        #endif", ""));
        assert_eq!(found.note, None);
        assert_eq!(unit(&found, "A.b").return_type, "Int");
        parsed("swift", text);
    }

    #[test]
    fn minified_files_are_not_copied_into_every_unit() {
        let text: String = (0..5_000).map(|i| format!("function f{i}(a){{return g{i}(a)}}")).collect();
        let found = parsed("javascript", &text);
        assert_eq!(unit(&found, "f7").body, "function f7(a){return g7(a)}");
        assert!(found.units.iter().map(|u| u.body.len()).sum::<usize>() < 2 * text.len());
    }

    #[test]
    fn long_sections_are_cut_into_blocks() {
        let text = format!("# Top\n{}## Under\ntext\n# Other\n{}", "line\n".repeat(300), "line\n".repeat(220));
        let found = parsed("markdown", &text);
        assert_eq!(unit(&found, "Other").span.end - unit(&found, "Other").span.line, BLOCK_LINES - 1);
        let blocks: Vec<&Unit> = found.units.iter().filter(|u| u.kind == UnitKind::Document).collect();
        assert_eq!(blocks.len(), 6 + 4);
        assert!(blocks.iter().all(|b| ["Top", "Other"].contains(&b.parent.as_str()) && b.body.lines().count() <= 50));
        assert_eq!(blocks.iter().map(|b| b.body.lines().count()).sum::<usize>(), 251 + 171);
    }

    #[test]
    fn a_last_line_may_lack_its_end() {
        for text in ["L #abc", "<<EOT\n$x abc", "sub a { 1 } # b"] {
            parsed("perl", text);
        }
    }

    #[test]
    fn hostile_nesting_ends() {
        for language in ["c", "javascript", "json", "rust", "python"] {
            for open in ["(", "{", "class A{"] {
                parsed(language, &open.repeat(50_000));
            }
        }
    }

    fn samples() -> Vec<(&'static Language, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages");
        let mut samples = Vec::new();
        for language in LANGUAGES.iter().filter(|l| l.grammar.is_some()) {
            let files = fs::read_dir(folder.join(language.name)).expect("a folder of samples");
            for file in files.filter_map(|f| f.ok()).filter(|f| f.file_name() != "expected.txt") {
                samples.push((language, fs::read_to_string(file.path()).expect("a readable sample")));
            }
        }
        samples
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_text_is_covered(text in "(?s)[ \t\n\"'`#@<>(){}\\[\\]:;,.=/*a-zA-Z0-9é\r-]{0,300}|\\PC{0,100}") {
            for language in LANGUAGES {
                assert_covered(language.name, &text, &parse(&text, language));
            }
        }

        #[test]
        fn mutated_samples_are_covered(
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..60, any::<bool>()), 1..6)
        ) {
            for (language, mut text) in samples() {
                for (at, len, doubles) in &edits {
                    let start = text.floor_char_boundary(at.index(text.len() + 1));
                    let end = text.floor_char_boundary((start + len).min(text.len())).max(start);
                    let piece = text[start..end].repeat(if *doubles { 2 } else { 0 });
                    text.replace_range(start..end, &piece);
                }
                assert_covered(language.name, &text, &parse(&text, language));
            }
        }
    }
}
