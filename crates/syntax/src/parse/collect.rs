//! Captures of a grammar and its query in a text, before nesting.

use std::collections::HashMap;
use std::ops::ControlFlow;

use colgrep_core::{UnitKind, UnitRole};
use tree_sitter::{Language, Node, ParseOptions, Parser, Range, Tree};

use super::lines::Bytes;
use crate::budget::{Budget, Spent};
use crate::language::Compiled;

/// A compile-time condition, as captured.
#[derive(Debug)]
pub(super) struct Condition {
    /// Its text.
    pub(super) text: Bytes,
    /// Its scope; `None`: the innermost definition around it.
    pub(super) scope: Option<Bytes>,
}

/// A definition as captured, before nesting.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) what: What,
    pub(super) pattern: usize,
    pub(super) bytes: Bytes,
    pub(super) name: Bytes,
    pub(super) parent: Option<Bytes>,
    pub(super) body: Option<Bytes>,
    pub(super) doc: Vec<Bytes>,
    pub(super) parameters: Vec<Bytes>,
    pub(super) return_type: Option<Bytes>,
    pub(super) extends: Vec<Bytes>,
}

impl Definition {
    /// A definition of which only kind, place and name are known.
    pub(super) fn new(what: What, pattern: usize, bytes: Bytes, name: Bytes) -> Definition {
        Definition {
            what,
            pattern,
            bytes,
            name,
            parent: None,
            body: None,
            doc: Vec::new(),
            parameters: Vec::new(),
            return_type: None,
            extends: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Unit(UnitKind, UnitRole),
    /// Only qualifies the names of enclosed definitions.
    Namespace,
}

impl What {
    /// Reads a capture name such as `function` or `class.extension`.
    pub(super) fn from_capture(name: &str) -> Option<What> {
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

    pub(super) fn is_callable(self) -> bool {
        matches!(self, What::Unit(UnitKind::Function | UnitKind::Method, _))
    }

    /// Whether it is a function or a type, and not a test.
    pub(super) fn may_stand_alone(self) -> bool {
        let is_function = matches!(self, What::Unit(UnitKind::Function | UnitKind::Method | UnitKind::Class, _));
        is_function && !matches!(self, What::Unit(_, UnitRole::Test))
    }

    pub(super) fn is_container(self) -> bool {
        matches!(self, What::Unit(UnitKind::Class | UnitKind::Section, _) | What::Namespace)
    }
}

/// Everything the query captured in one file.
#[derive(Debug, Default)]
pub(super) struct FileCaptures {
    pub(super) definitions: Vec<Definition>,
    pub(super) comments: Vec<Bytes>,
    pub(super) attributes: Vec<Bytes>,
    /// Where those begin whose calls are the definition's.
    pub(super) decorators: Vec<usize>,
    pub(super) docs: Vec<Bytes>,
    pub(super) imports: Vec<Bytes>,
    pub(super) calls: Vec<Bytes>,
    /// Words that are calls unless their unit binds them.
    pub(super) bare_calls: Vec<Bytes>,
    pub(super) variables: Vec<Bytes>,
    pub(super) conditions: Vec<Condition>,
    pub(super) embedded: HashMap<String, Vec<Range>>,
}

/// The tree of a text, or of these ranges of it; `None` if the grammar or the ranges can't be used.
///
/// # Errors
/// When the time is used up.
pub(crate) fn parse_tree(
    read: &str,
    grammar: &Language,
    ranges: &[Range],
    budget: &Budget,
) -> Result<Option<Tree>, Spent> {
    // A new one for each text, since a scanner that writes out of bounds damages the parser first.
    let mut parser = Parser::new();
    if parser.set_language(grammar).is_err() || parser.set_included_ranges(ranges).is_err() {
        return Ok(None);
    }
    let bytes = read.as_bytes();
    let mut spent = None;
    let mut go_on = |_: &tree_sitter::ParseState| {
        spent = budget.check().err();
        if spent.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    tree.map(Some).ok_or(spent.unwrap_or(Spent::Time))
}

/// Runs the grammar and its query over `read` (only over `ranges`, if any are given) and adds to `found`. Returns
/// whether the tree contains syntax errors. `read` is `text` prepared for the grammar: some bytes differ, and a newline
/// may be appended. Captured ranges refer to `text`, and cover whole characters of it.
///
/// # Errors
/// The exceeded limit.
pub(super) fn collect(
    read: &str,
    text: &str,
    compiled: &Compiled,
    ranges: &[Range],
    budget: &Budget,
    found: &mut FileCaptures,
) -> Result<bool, Spent> {
    let bytes = read.as_bytes();
    let Some(tree) = parse_tree(read, &compiled.grammar, ranges, budget)? else { return Ok(true) };
    let root = tree.root_node();
    let query = &compiled.query;
    query.matches(
        root,
        bytes,
        || budget.check(),
        |pattern, captures| {
            let named = captures.iter().map(|(c, node)| (query.capture_name(*c), *node));
            add_match(named, text, pattern, found);
        },
    )?;
    Ok(root.has_error())
}

/// Sorts one match of the query into `found`: a definition with its parts, or single facts.
pub(super) fn add_match<'t>(
    captures: impl Iterator<Item = (&'t str, Node<'t>)>,
    text: &str,
    pattern: usize,
    found: &mut FileCaptures,
) {
    let mut definition: Option<(What, Bytes)> = None;
    let mut parts: Vec<(&str, Bytes)> = Vec::new();
    let (mut features, mut scope): (Vec<Bytes>, Option<Bytes>) = (Vec::new(), None);
    let (mut arguments, mut otherwise): (Option<usize>, Option<usize>) = (None, None);
    let first_call = found.calls.len();
    let mut pattern_names: Vec<Bytes> = Vec::new();
    for (name, node) in captures {
        let (name, node) = match name.strip_suffix(".last") {
            Some(name) => {
                let (last, scope) = last_segment(node);
                if let Some(scope) = scope.filter(|_| name == "name") {
                    parts.push(("parent", bytes_of(scope, text)));
                }
                (name, last)
            }
            None => (name, node),
        };
        let mut bytes = bytes_of(node, text);
        let name = match name.split_once('.') {
            Some((name, "word")) => {
                bytes.end = bytes.start + word_len(&text[bytes.clone()]);
                name
            }
            // `global:Get-It`
            Some((name, "unscoped")) => {
                bytes.start += text[bytes.clone()].rfind(':').map_or(0, |colon| colon + 1);
                name
            }
            _ => name,
        };
        // The name of a conversion operator ends before its parameters: `operator bool(void) const noexcept(f())`.
        if name == "name"
            && node.kind() == "operator_cast"
            && let Some(declarator) = node.child_by_field_name("declarator")
        {
            let declarator = bytes_of(declarator, text);
            let bracket = text[declarator.clone()].find('(').unwrap_or(declarator.len());
            bytes.end = bytes.start + text[bytes.start..declarator.start + bracket].trim_end().len();
        }
        // `operator +`: from one node to another.
        if name == "name.end" {
            let begun = parts.iter_mut().rfind(|(part, _)| *part == "name");
            begun.into_iter().for_each(|(_, name)| name.end = name.end.max(bytes.end));
            continue;
        }
        match name {
            "comment" => found.comments.push(bytes),
            "decorator" => {
                found.decorators.push(bytes.start);
                found.attributes.push(bytes);
            }
            "attribute" => found.attributes.push(bytes),
            "import" => found.imports.push(bytes),
            "call" => found.calls.push(bytes),
            "call.bare" => found.bare_calls.push(bytes),
            "arguments" => arguments = Some(bytes.start),
            "variable" => found.variables.push(bytes),
            "variables" => add_bound_names(node, text, &mut found.variables),
            "words" => pattern_names.extend(words_of(&bytes, text)),
            "names" => add_bound_names(node, text, &mut pattern_names),
            "feature" => features.push(bytes),
            "conditional" => scope = Some(bytes),
            "otherwise" => otherwise = Some(bytes.start),
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
    // `x, (y)` does not call `x`.
    if let Some(at) = arguments
        && found.calls[first_call..].iter().any(|call| call.end != at)
    {
        found.calls.truncate(first_call);
    }
    if let (Some(scope), Some(otherwise)) = (&mut scope, otherwise) {
        scope.end = otherwise;
    }
    found.conditions.extend(features.into_iter().map(|text| Condition { text, scope: scope.clone() }));
    let all = |part: &str| parts.iter().filter(|(n, _)| *n == part).map(|(_, b)| b.clone()).collect::<Vec<_>>();
    let Some((what, bytes)) = definition else {
        found.docs.extend(all("doc"));
        return;
    };
    let first = |part: &str| parts.iter().find(|(n, _)| *n == part).map(|(_, b)| b.clone());
    let name = match first("name") {
        // The parser inserted the name to recover from an error.
        Some(name) if name.is_empty() => return,
        Some(name) => name,
        // A pattern makes a definition of each name that it binds.
        None if !pattern_names.is_empty() => {
            let named = pattern_names.into_iter().map(|name| Definition::new(what, pattern, bytes.clone(), name));
            found.definitions.extend(named);
            return;
        }
        None => bytes.start..bytes.start,
    };
    found.definitions.push(Definition {
        parent: first("parent"),
        body: first("body"),
        doc: all("doc"),
        parameters: all("parameters"),
        return_type: first("return"),
        extends: all("extends"),
        ..Definition::new(what, pattern, bytes, name)
    });
}

/// The bytes of a node, rounded to whole characters: after an error, or in prepared text, it may begin or end inside one.
fn bytes_of(node: Node<'_>, text: &str) -> Bytes {
    text.floor_char_boundary(node.start_byte())..text.ceil_char_boundary(node.end_byte())
}

/// The name inside a qualified name or a declarator, and the segment before it: `f` and `C` of `a::b::C::f<T>`.
fn last_segment(node: Node<'_>) -> (Node<'_>, Option<Node<'_>>) {
    let (mut last, mut scope) = (node, None);
    loop {
        scope = last.child_by_field_name("scope").or(scope);
        let is_declarator = last.kind().ends_with("_declarator");
        let declared = || last.child_by_field_name("declarator").or_else(|| last_named_child(last));
        let inner = last.child_by_field_name("name").or_else(|| is_declarator.then(declared).flatten());
        match inner {
            Some(inner) => last = inner,
            None => return (last, scope),
        }
    }
}

fn last_named_child(node: Node<'_>) -> Option<Node<'_>> {
    node.named_children(&mut node.walk()).last()
}

/// The length of a name that an assignment's operator or a comma may follow: 2 of `ll=` and `OBJ+`.
fn word_len(name: &str) -> usize {
    name.find(['=', '?', '+', ':', '!', ',']).unwrap_or(name.len())
}

/// The words between white space.
fn words_of(bytes: &Bytes, text: &str) -> impl Iterator<Item = Bytes> {
    let start = text.as_ptr().addr();
    text[bytes.clone()].split_whitespace().map(move |word| {
        let at = word.as_ptr().addr() - start;
        at..at + word.len()
    })
}

/// Ends of the kinds of nodes that a pattern consists of, in all grammars: names, and what holds them.
const BOUND: [&str; 6] = ["identifier", "identifier_pattern", "variable", "value_name", "constant", "name"];
const PATTERNS: [&str; 10] = [
    "pattern",
    "_parameters",
    "_parameter",
    "_list",
    "tuple",
    "tuple_expression",
    "rest_assignment",
    "variable_declaration",
    "list_literal",
    "variable_name",
];

/// Adds the names that a pattern binds: `a`, `c` and `e` of `{ a, b: c, d: [e = 1] }`.
fn add_bound_names(pattern: Node<'_>, text: &str, names: &mut Vec<Bytes>) {
    let mut cursor = pattern.walk();
    loop {
        let node = cursor.node();
        let is_one_of = |kinds: &[&str]| kinds.iter().any(|kind| node.kind().ends_with(kind));
        // A key, a default value, a type.
        let is_other = matches!(cursor.field_name(), Some("key" | "right" | "type"));
        if node.child_count() == 0 {
            if !is_other && is_one_of(&BOUND) {
                names.push(bytes_of(node, text));
            }
        } else if !is_other && is_one_of(&PATTERNS) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
