//! From a pattern as written to what it means in a language.
//!
//! A grammar reads whole files and has no holes, so a pattern is parsed with words in place of its metavariables and in
//! several [contexts](CONTEXTS), such as a function's body. What parses without a fault, with the pattern and each
//! metavariable as whole nodes, is a reading. Names differ by grammar (a variable of PHP begins with `$`, a constructor
//! of Haskell with a capital), hence [`NAMES`]; where a grammar wants more than a name, as for a parameter of Java,
//! [`FORMS`] mend it. A list may also be written as nothing, since few grammars take a name for a member or a case. No
//! language has rules of its own.

use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::vec::IntoIter;

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::{Language as _, Pattern};
use tree_sitter::{Node, Tree};

use super::code::CodeTree;
use crate::budget::{Budget, Spent};
use crate::language::Language;
use crate::parse::prepared;

/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 2 << 10;
/// Maximum number of metavariables of a pattern: each adds parses. Time to match may double with each `$$$`.
const HOLES_MAX: usize = 32;
const LISTS_MAX: usize = 12;
/// Deepest nesting of a pattern: matching calls itself for each level.
const DEPTH_MAX: usize = 100;
/// Maximum number of readings in a language.
const READINGS_MAX: usize = 6;

/// What may be around code, the likeliest first.
const CONTEXTS: [(&str, &str); 23] = [
    ("", ""),
    ("x = ", ""),
    ("void f() { ", " }"),
    ("fn f() { ", " }"),
    ("func f() { ", " }"),
    ("class C { ", " }"),
    ("<?php ", ""),
    ("<?php class C { ", " }"),
    ("struct S { ", " }"),
    ("contract C { ", " }"),
    ("contract C { function f() public { ", " } }"),
    ("a { ", " }"),
    ("{ ", " }"),
    ("let x = ", ""),
    ("const x = ", ""),
    ("let x: ", " = y;"),
    ("val x: ", " = y"),
    ("var x ", ""),
    ("", " x;"),
    ("SELECT ", ""),
    ("message M { ", " }"),
    ("type T { ", " }"),
    ("a:\n\t", "\n"),
];
/// How a hole is named by its number, where it is not left as written.
const NAMES: [Option<&str>; 3] = [None, Some("qzhole"), Some("Qzhole")];
/// What a hole may be written as, with `@` for its name.
const FORMS: [&str; 11] =
    ["@", "@;", "@ @", "@ @;", "@: @", "@ = @", "@ = @;", "\"@\"", "\"@\": \"@\"", "@ = \"@\"", "@ @ = 1;"];
/// A hole that is left out.
const NOTHING: &str = "";
/// Ends that turn a pattern into a statement.
const ENDS: [&str; 2] = ["", ";"];
/// Bodies that turn a pattern into a definition or a block. The pattern then matches any body.
const BODIES: [&str; 3] = [" {}", ": 0", "\nend"];
/// What shows that a context is one of a language, if it parses there with one of these inside.
const FILLERS: [&str; 4] = ["", "x", "x;", "x x;"];
/// Faults of a parse that are counted, and those that mending is tried with.
const FAULTS_MAX: usize = 64;
const MENDED_FAULTS_MAX: usize = 8;

/// Why a pattern can't be searched for in any language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// It is too long.
    #[error("it is longer than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
    /// It has too many metavariables.
    #[error("it has more than {HOLES_MAX} metavariables, or more than {LISTS_MAX} of them are $$$")]
    TooManyHoles,
    /// It has no text of its own.
    #[error("it matches any code; write what is around the metavariables, as in 'foo($A, $$$)'")]
    MatchesAll,
}

/// Refuses a pattern that no language can read.
///
/// # Errors
/// Why.
pub fn check(pattern: &str) -> Result<(), PatternFault> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(PatternFault::TooLong);
    }
    let pieces = pieces(pattern);
    let holes =
        || pieces.iter().filter_map(|piece| if let PatternPiece::Hole(hole) = piece { Some(*hole) } else { None });
    if holes().count() > HOLES_MAX || holes().filter(|hole| hole.starts_with("$$$")).count() > LISTS_MAX {
        return Err(PatternFault::TooManyHoles);
    }
    let is_text = |piece: &PatternPiece<'_>| matches!(piece, PatternPiece::Text(text) if !text.trim().is_empty());
    if pieces.iter().any(is_text) { Ok(()) } else { Err(PatternFault::MatchesAll) }
}

/// A way to read a pattern.
pub(super) struct PatternReading {
    pub(super) pattern: Pattern,
    /// Texts that every match contains.
    pub(super) literals: Vec<String>,
}

impl PatternReading {
    /// Whether a node is of the kind that the pattern is of.
    pub(super) fn may_begin(&self, node: &ast_grep_core::Node<'_, CodeTree>) -> bool {
        match &self.pattern.node {
            PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => *kind_id == node.kind_id(),
            PatternNode::MetaVar { .. } => false,
        }
    }
}

/// A part of a pattern as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPiece<'p> {
    Text(&'p str),
    /// A metavariable: `$A`, `$_`, `$$A` for any token, `$$$` or `$$$A` for any number of nodes.
    Hole(&'p str),
}

fn pieces(pattern: &str) -> Vec<PatternPiece<'_>> {
    let (mut pieces, mut text, mut at) = (Vec::new(), 0, 0);
    let count =
        |from: usize, is: fn(&u8) -> bool| pattern.as_bytes()[from..].iter().take_while(|byte| is(byte)).count();
    while let Some(found) = pattern[at..].find('$') {
        let start = at + found;
        let dollars = count(start, |byte| *byte == b'$');
        let name = start + dollars;
        let length = count(name, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        let begins = length > 0 && !pattern.as_bytes()[name].is_ascii_digit();
        at = name + length;
        // `$Name` is not a metavariable.
        let goes_on = pattern[at..].starts_with(|c: char| c.is_alphanumeric());
        if !goes_on && (matches!(dollars, 1..=3) && begins || dollars == 3 && length == 0) {
            pieces.extend((text < start).then(|| PatternPiece::Text(&pattern[text..start])));
            pieces.push(PatternPiece::Hole(&pattern[start..at]));
            text = at;
        }
    }
    pieces.extend((text < pattern.len()).then(|| PatternPiece::Text(&pattern[text..])));
    pieces
}

/// What a metavariable stands for, in the notation of ast-grep.
fn meaning(hole: &str) -> MetaVariable {
    let name = hole.trim_start_matches('$');
    let is_named = !name.is_empty() && !name.starts_with('_');
    match (hole.len() - name.len(), is_named) {
        (3, true) => MetaVariable::MultiCapture(name.to_string()),
        (3, false) => MetaVariable::Multiple,
        (dollars, true) => MetaVariable::Capture(name.to_string(), dollars == 1),
        (dollars, false) => MetaVariable::Dropped(dollars == 1),
    }
}

/// The ways to read a pattern in a language; none if it is no code there.
///
/// # Errors
/// When the time is used up.
pub(super) fn readings(pattern: &str, language: &'static Language) -> Result<Vec<PatternReading>, Spent> {
    let (pattern, budget) = (pattern.trim(), Budget::new());
    // What ends a declaration may be a node of its own.
    let shorter = pattern.strip_suffix(';').map(str::trim_end);
    for is_mended in [false, true] {
        for pattern in std::iter::once(pattern).chain(shorter) {
            let found = readings_of(pattern, language, is_mended, &budget)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Ok(Vec::new())
}

/// The ways to read a pattern as it is, or with other forms of its holes.
fn readings_of(
    pattern: &str,
    language: &'static Language,
    is_mended: bool,
    budget: &Budget,
) -> Result<Vec<PatternReading>, Spent> {
    let pieces = pieces(pattern);
    let holes: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| if let PatternPiece::Hole(hole) = piece { Some(*hole) } else { None })
        .collect();
    if is_mended && holes.is_empty() {
        return Ok(Vec::new());
    }
    let mut forms = vec![vec![FORMS[0]; holes.len()]];
    if holes.iter().any(|hole| hole.starts_with("$$$")) {
        forms.push(holes.iter().map(|hole| if hole.starts_with("$$$") { NOTHING } else { FORMS[0] }).collect());
    }
    let mut reader = PatternReader {
        pieces,
        language,
        budget,
        readings: Vec::new(),
        known: Vec::new(),
        is_whole: false,
        is_too_deep: false,
    };
    let contexts = reader.contexts()?;
    let passes = if is_mended { &[&ENDS[..]][..] } else { &[&ENDS[..], &BODIES[..]] };
    for ends in passes {
        for (context, name) in contexts.iter().flat_map(|context| NAMES.map(|name| (*context, name))) {
            for (end, forms) in ends.iter().flat_map(|end| forms.iter().map(move |forms| (*end, forms))) {
                let mut draft = PatternDraft { context, end, name, forms: forms.clone() };
                if is_mended {
                    reader.mend(&mut draft)?;
                }
                reader.read(&draft)?;
                if reader.is_too_deep || (is_mended && !reader.readings.is_empty()) {
                    return Ok(reader.readings);
                }
            }
        }
        if reader.is_whole {
            break;
        }
    }
    Ok(reader.readings)
}

/// A way to write a pattern as code.
struct PatternDraft {
    context: (&'static str, &'static str),
    end: &'static str,
    name: Option<&'static str>,
    /// The form of each hole.
    forms: Vec<&'static str>,
}

/// A pattern written as code.
#[derive(Default)]
struct WrittenPattern {
    text: String,
    /// Where the pattern is in it, and where its holes.
    pattern: Range<usize>,
    holes: Vec<Range<usize>>,
    meanings: HashMap<String, MetaVariable>,
    /// Where holes are left out, in order.
    left_out: Vec<(usize, MetaVariable)>,
}

struct PatternReader<'p> {
    pieces: Vec<PatternPiece<'p>>,
    language: &'static Language,
    budget: &'p Budget,
    readings: Vec<PatternReading>,
    /// The readings in short, to tell new ones from known ones.
    known: Vec<String>,
    /// Whether the pattern is one as it is written.
    is_whole: bool,
    /// Whether it is code with too many levels, which other contexts hardly change.
    is_too_deep: bool,
}

impl PatternReader<'_> {
    fn write(&self, draft: &PatternDraft) -> WrittenPattern {
        let mut written = WrittenPattern { text: draft.context.0.to_string(), ..WrittenPattern::default() };
        let mut names: Vec<&str> = Vec::new();
        for piece in &self.pieces {
            let start = written.text.len();
            match piece {
                PatternPiece::Text(text) => written.text.push_str(text),
                PatternPiece::Hole(hole) => {
                    // The same name for the same hole: some grammars compare, as for tags.
                    let number = names.iter().position(|name| name == hole).unwrap_or(names.len());
                    if number == names.len() {
                        names.push(hole);
                    }
                    let name = draft.name.map_or_else(|| hole.to_string(), |name| format!("{name}{number}"));
                    let form = draft.forms[written.holes.len()].replace('@', &name);
                    written.text.push_str(&form);
                    written.holes.push(start..written.text.len());
                    match form.as_str() {
                        NOTHING => written.left_out.push((start, meaning(hole))),
                        _ => drop(written.meanings.insert(form, meaning(hole))),
                    }
                }
            }
        }
        written.pattern = draft.context.0.len()..written.text.len();
        written.text.push_str(draft.end);
        written.text.push_str(draft.context.1);
        written
    }

    fn parse(&self, text: &str) -> Result<Option<CodeTree>, Spent> {
        CodeTree::parse(text, &prepared(text, self.language), self.language, &[], self.budget)
    }

    /// The contexts that the language has, worked out once.
    fn contexts(&self) -> Result<Vec<(&'static str, &'static str)>, Spent> {
        static KNOWN: Mutex<BTreeMap<&str, Vec<(&str, &str)>>> = Mutex::new(BTreeMap::new());
        let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(self.language.name) {
            return Ok(known.clone());
        }
        let mut contexts = vec![CONTEXTS[0]];
        for (before, after) in CONTEXTS.into_iter().skip(1) {
            for filler in FILLERS {
                let code = self.parse(&format!("{before}{filler}{after}"))?;
                if code.is_some_and(|code| !code.tree().root_node().has_error()) {
                    contexts.push((before, after));
                    break;
                }
            }
        }
        lock().insert(self.language.name, contexts.clone());
        Ok(contexts)
    }

    /// Adds what a draft means, if it is code and new.
    fn read(&mut self, draft: &PatternDraft) -> Result<(), Spent> {
        if self.readings.len() == READINGS_MAX {
            return Ok(());
        }
        let written = self.write(draft);
        let Some(code) = self.parse(&written.text)? else { return Ok(()) };
        let (pattern, root) = (written.pattern.clone(), code.tree().root_node());
        if faults(code.tree(), &written.holes) > 0 {
            return Ok(());
        }
        self.is_too_deep = depth(root) > DEPTH_MAX;
        if self.is_too_deep {
            return Ok(());
        }
        // The node of the pattern, or of a statement with its end, which is left out of the pattern again.
        let ends = |node: &Node<'_>, end: usize| {
            let behind = written.text.get(end..node.end_byte());
            node.start_byte() == pattern.start && behind.is_none_or(|behind| behind.trim().is_empty())
        };
        let spanning = |end: usize| {
            let node = root.descendant_for_byte_range(pattern.start, end);
            node.filter(|node| node.end_byte() >= end && ends(node, end))
        };
        let whole = spanning(pattern.end);
        let is_whole = whole.is_some();
        let closed = || spanning(pattern.end + draft.end.len()).filter(|_| !draft.end.is_empty());
        let Some(range) = whole.or_else(closed).map(|node| node.byte_range()) else { return Ok(()) };
        let root = code.with_holes(written.meanings).root();
        let top = root.root();
        let Some(node) = top.dfs().filter(|node| node.range() == range).last() else { return Ok(()) };
        let mut left_out = written.left_out.into_iter().peekable();
        let Some(meant) = meant(&node, &mut left_out) else { return Ok(()) };
        // Pieces of code side by side are no node of their own.
        if left_out.next().is_some() || node.parent().is_none() {
            return Ok(());
        }
        // What declares alone may be a definition without its body.
        let is_signature = node.kind().contains("signature");
        let is_closed = node.children().last().is_some_and(|last| last.range().start >= written.pattern.end);
        let mut pattern = Pattern::from(node);
        pattern.node = meant;
        if let PatternNode::Internal { children, .. } = &mut pattern.node {
            if !(is_whole || (is_closed && children.pop().is_some())) {
                return Ok(());
            }
            // Some grammars have a body where none is written.
            while children
                .pop_if(|child| matches!(child, PatternNode::Terminal { text, .. } if text.is_empty()))
                .is_some()
            {}
        }
        let is_code = match &pattern.node {
            PatternNode::MetaVar { .. } => false,
            // Markup takes anything for text.
            PatternNode::Terminal { text, .. } => {
                text.starts_with(['"', '\'', '`']) || text.chars().all(|c| c.is_alphanumeric() || "_$@.-".contains(c))
            }
            PatternNode::Internal { children, .. } => !children.is_empty(),
        };
        let mut outline = String::new();
        outline_of(&pattern.node, &mut outline);
        if is_code && !self.known.contains(&outline) {
            let mut literals = Vec::new();
            add_literals(&pattern.node, &mut literals);
            self.is_whole |= draft.end.is_empty() && !is_signature;
            self.readings.push(PatternReading { pattern, literals });
            self.known.push(outline);
        }
        Ok(())
    }

    /// Gives each hole the form with the fewest faults of the whole.
    fn mend(&self, draft: &mut PatternDraft) -> Result<(), Spent> {
        let count = |draft: &PatternDraft| {
            let written = self.write(draft);
            let code = self.parse(&written.text)?;
            Ok(code.map_or(FAULTS_MAX, |code| faults(code.tree(), &written.holes)))
        };
        let mut fewest = count(draft)?;
        if fewest > MENDED_FAULTS_MAX {
            return Ok(());
        }
        for hole in 0..draft.forms.len() {
            let mut best = draft.forms[hole];
            for form in FORMS {
                draft.forms[hole] = form;
                let faults = if fewest > 0 { count(draft)? } else { FAULTS_MAX };
                if faults < fewest {
                    (fewest, best) = (faults, form);
                }
            }
            draft.forms[hole] = best;
        }
        Ok(())
    }
}

/// Errors of a parse, and holes that are no whole nodes.
fn faults(tree: &Tree, holes: &[Range<usize>]) -> usize {
    let root = tree.root_node();
    let is_whole = |hole: &&Range<usize>| {
        hole.is_empty()
            || root.descendant_for_byte_range(hole.start, hole.end).is_some_and(|node| node.byte_range() == **hole)
    };
    let (mut faults, mut cursor) = (holes.iter().filter(|hole| !is_whole(hole)).count(), tree.walk());
    while faults < FAULTS_MAX {
        let node = cursor.node();
        faults += usize::from(node.is_error() || node.is_missing());
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return faults;
            }
        }
    }
    faults
}

/// Levels of a tree.
fn depth(root: Node<'_>) -> usize {
    let (mut cursor, mut deepest) = (root.walk(), 0);
    loop {
        deepest = deepest.max(cursor.depth() as usize);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return deepest;
            }
        }
    }
}

/// A node as a pattern. As ast-grep-core does it, except for text that is in no node below: some grammars have no
/// nodes inside a string, or for parts of a name, and others no name for an identifier, which would be compared by
/// its kind alone. `None` if a hole is beside such text. What is left out is taken where it belongs, in order.
fn meant(
    node: &ast_grep_core::Node<'_, CodeTree>,
    left_out: &mut Peekable<IntoIter<(usize, MetaVariable)>>,
) -> Option<PatternNode> {
    if let Some(meta_var) = node.lang().extract_meta_var(&node.text()) {
        return Some(PatternNode::MetaVar { meta_var });
    }
    let (range, whole) = (node.range(), node.text());
    let mut at = range.start;
    let mut is_hidden = false;
    let mut children = Vec::new();
    for child in node.children() {
        let next = child.range();
        is_hidden |= !whole.get(at - range.start..next.start - range.start)?.trim().is_empty();
        while let Some((_, meta_var)) = left_out.next_if(|(at, _)| range.start < *at && *at <= next.start) {
            children.push(PatternNode::MetaVar { meta_var });
        }
        at = next.end;
        let inner = child.get_inner_node();
        // Comments don't count.
        if !inner.is_missing() && !inner.is_extra() {
            children.push(meant(&child, left_out)?);
        }
    }
    is_hidden |= !whole.get(at - range.start..)?.trim().is_empty();
    if !children.is_empty() && !is_hidden {
        return Some(PatternNode::Internal { kind_id: node.kind_id(), children });
    }
    let is_named = !is_keyword(node, &whole);
    let terminal = PatternNode::Terminal { text: whole.to_string(), is_named, kind_id: node.kind_id() };
    (!children.iter().any(has_hole)).then_some(terminal)
}

/// Whether a node without others is a word or a mark of the language, which its kind says: compared by its kind, as where
/// keywords have no case, `SELECT` is `select`.
fn is_keyword(node: &ast_grep_core::Node<'_, CodeTree>, text: &str) -> bool {
    let kind = node.kind();
    let kind = if node.is_named() { kind.strip_prefix("keyword_") } else { Some(&*kind) };
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(text))
}

fn has_hole(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => true,
        PatternNode::Internal { children, .. } => children.iter().any(has_hole),
        PatternNode::Terminal { .. } => false,
    }
}

/// Writes what distinguishes a pattern from others.
fn outline_of(node: &PatternNode, outline: &mut String) {
    match node {
        PatternNode::MetaVar { meta_var } => outline.push_str(&format!("{meta_var:?} ")),
        PatternNode::Terminal { text, kind_id, .. } => outline.push_str(&format!("{kind_id}:{text:?} ")),
        PatternNode::Internal { kind_id, children } => {
            outline.push_str(&format!("{kind_id}("));
            children.iter().for_each(|child| outline_of(child, outline));
            outline.push(')');
        }
    }
}

/// Adds the texts of names and literals. Keywords and punctuation may be written in another way, and other encodings
/// have other bytes beyond ASCII.
fn add_literals(node: &PatternNode, literals: &mut Vec<String>) {
    match node {
        PatternNode::Terminal { text, is_named: true, .. } => {
            let runs = text.split(|c: char| !c.is_ascii_graphic()).filter(|run| !run.is_empty());
            literals.extend(runs.map(str::to_string));
        }
        PatternNode::Internal { children, .. } => children.iter().for_each(|child| add_literals(child, literals)),
        PatternNode::Terminal { .. } | PatternNode::MetaVar { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metavariables_are_told_from_text() {
        let told = |pattern: &str| {
            let told = pieces(pattern).into_iter().map(|piece| match piece {
                PatternPiece::Text(text) => text.to_string(),
                PatternPiece::Hole(hole) => format!("<{hole}>"),
            });
            told.collect::<String>()
        };
        for (pattern, expected) in [
            ("foo($A, $$$)", "foo(<$A>, <$$$>)"),
            ("$$$ARGS$_$$OP", "<$$$ARGS><$_><$$OP>"),
            ("$name $Name $1 $$ $$$$ $$$1 $ $A1", "$name $Name $1 $$ $$$$ $$$1 $ <$A1>"),
            ("é$É", "é$É"),
            ("", ""),
        ] {
            assert_eq!(told(pattern), expected);
        }
        assert_eq!(meaning("$_A"), MetaVariable::Dropped(true));
        assert_eq!(meaning("$$$_A"), MetaVariable::Multiple);
        assert_eq!(meaning("$$A"), MetaVariable::Capture("A".to_string(), false));
    }

    #[test]
    fn patterns_are_bounded() {
        assert_eq!(check("foo($A, $$$)"), Ok(()));
        assert_eq!(check(&"f(".repeat(2_000)), Err(PatternFault::TooLong));
        assert_eq!(check(&"f($$$);".repeat(LISTS_MAX + 1)), Err(PatternFault::TooManyHoles));
        assert_eq!(check(&"f($A);".repeat(HOLES_MAX + 1)), Err(PatternFault::TooManyHoles));
        for all in ["", " ", "$A", "$$$", " $A $B "] {
            assert_eq!(check(all), Err(PatternFault::MatchesAll));
        }
    }
}
