//! The unit queries: tree-sitter's query language, compiled and matched by our own engine. tree-sitter's takes every
//! process 0.1 to 1.3 s to analyse a query, more than indexing most files.
//!
//! Supported: nodes with fields, `!field`, `_` and `(_)`, literals, alternations, `?` `*` `+`, anchors, captures, and
//! the predicates `#eq?` `#match?` `#any-of?` with their `#not-` forms. A pattern is one node (or an alternation of
//! nodes), optionally in parentheses with predicates and following siblings. A repeated child takes all siblings that
//! match.

mod read;

use std::ops::ControlFlow;

use regex::bytes::Regex;
use tree_sitter::{Language, Node, TreeCursor};

use read::QueryReader;

/// Kind of the nodes for text that the grammar could not read.
const ERROR_KIND: u16 = u16::MAX;

/// An error in the text of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
#[non_exhaustive]
pub struct PatternError {
    /// The line, from 1, with inherited queries in their places.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A compiled query.
#[derive(Debug)]
pub struct Patterns {
    captures: Vec<String>,
    patterns: Vec<TreePattern>,
    /// Patterns by the kind of their outermost node.
    by_kind: Vec<Vec<u16>>,
    for_errors: Vec<u16>,
}

#[derive(Debug)]
struct TreePattern {
    step: ChildStep,
    /// Siblings that must follow it.
    following: Vec<ChildStep>,
    predicates: Vec<Predicate>,
}

#[derive(Debug)]
enum Predicate {
    Equal { capture: u16, value: Value, negated: bool },
    Match { capture: u16, regex: Regex, negated: bool },
    AnyOf { capture: u16, values: Vec<String>, negated: bool },
}

#[derive(Debug)]
enum Value {
    Text(String),
    Capture(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Once,
    Optional,
    Many,
    AtLeastOnce,
}

/// One child in a pattern.
#[derive(Debug)]
struct ChildStep {
    item: Item,
    field: Option<u16>,
    captures: Vec<u16>,
    times: Times,
    /// No named sibling may be between the previous step and this one.
    anchored: bool,
}

#[derive(Debug)]
enum Item {
    Node(NodePattern),
    OneOf(Vec<ChildStep>),
}

#[derive(Debug)]
struct NodePattern {
    kind: Kind,
    /// A literal: a keyword or a punctuation mark.
    anonymous: bool,
    absent_fields: Vec<u16>,
    children: Vec<ChildStep>,
    /// No named child may follow the last step.
    anchored_end: bool,
}

impl NodePattern {
    /// A node without further conditions; a literal unless said otherwise.
    fn leaf(kind: Kind) -> NodePattern {
        NodePattern { kind, anonymous: true, absent_fields: Vec::new(), children: Vec::new(), anchored_end: false }
    }
}

#[derive(Debug)]
enum Kind {
    /// `_`
    Any,
    /// `(_)`
    AnyNamed,
    /// A kind, or all subtypes of a supertype.
    Of(Vec<u16>),
}

/// A node with the field that it fills in its parent.
#[derive(Clone, Copy)]
struct Child<'t> {
    node: Node<'t>,
    kind: u16,
    is_named: bool,
    field: Option<u16>,
}

impl<'t> Child<'t> {
    fn new(node: Node<'t>, field: Option<u16>) -> Child<'t> {
        Child { node, kind: node.kind_id(), is_named: node.is_named(), field }
    }
}

/// The unmatched rest of a pattern: `steps` against [`Matcher::children`] at `from..end`.
#[derive(Clone, Copy)]
struct Rest<'a> {
    steps: &'a [ChildStep],
    from: usize,
    end: usize,
    /// Whether no named sibling may follow the last step.
    anchored_end: bool,
}

/// Captures of a match with their nodes, in order of the pattern.
pub type Captures<'t> = Vec<(u16, Node<'t>)>;

impl Patterns {
    /// Compiles `text` for `language`.
    ///
    /// # Errors
    /// What is wrong and on which line.
    pub fn new(language: &Language, text: &str) -> Result<Patterns, PatternError> {
        let mut reader = QueryReader { language, text, at: 0, captures: Vec::new(), predicates: Vec::new() };
        let mut patterns = Vec::new();
        while reader.skip_space().is_some() {
            patterns.push(reader.pattern().map_err(|what| PatternError { line: reader.line(), what })?);
        }
        let mut by_kind = vec![Vec::new(); language.node_kind_count()];
        let mut for_errors = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            file_under(&pattern.step, i as u16, &mut by_kind, &mut for_errors);
        }
        Ok(Patterns { captures: reader.captures, patterns, by_kind, for_errors })
    }

    /// The capture's name.
    pub fn capture_name(&self, capture: u16) -> &str {
        &self.captures[usize::from(capture)]
    }

    /// Calls `found` with every match below `root`: the pattern's position in the file, and its captures. Checks
    /// `go_on` now and then.
    ///
    /// # Errors
    /// The error of `go_on`.
    pub fn matches<'t, E>(
        &self,
        root: Node<'t>,
        text: &[u8],
        mut go_on: impl FnMut() -> Result<(), E>,
        found: impl FnMut(usize, &Captures<'t>),
    ) -> Result<(), E> {
        let mut error = None;
        let mut go_on = || {
            error = go_on().err();
            error.is_none()
        };
        self.walk(root, text, &mut go_on, found);
        error.map_or(Ok(()), Err)
    }

    fn walk<'t>(
        &self,
        root: Node<'t>,
        text: &[u8],
        go_on: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(usize, &Captures<'t>),
    ) {
        let mut walk = root.walk();
        let mut matcher = Matcher {
            cursor: root.walk(),
            go_on,
            steps: 0,
            stopped: false,
            children: Vec::new(),
            outermost: root.id(),
            shared: None,
        };
        let mut captures = Captures::new();
        loop {
            let node = walk.node();
            let kind = node.kind_id();
            let candidates = match kind {
                ERROR_KIND => &self.for_errors,
                _ => &self.by_kind[usize::from(kind)],
            };
            if !candidates.is_empty() {
                let child = Child::new(node, walk.field_id().map(u16::from));
                matcher.begin(node);
                for &p in candidates {
                    let pattern = &self.patterns[usize::from(p)];
                    let mut matched = |captures: &Captures<'t>| {
                        if pattern.predicates.iter().all(|predicate| predicate.holds(captures, text)) {
                            found(usize::from(p), captures);
                        }
                        ControlFlow::Continue(())
                    };
                    let _ = matcher.step(&pattern.step, child, &mut captures, &mut |matcher, captures| {
                        if pattern.following.is_empty() {
                            return matched(captures);
                        }
                        let (from, end) = matcher.add_siblings_behind(node);
                        matcher.count(end - from);
                        let rest = Rest { steps: &pattern.following, from, end, anchored_end: false };
                        let flow = matcher.steps(rest, captures, &mut |_, captures| matched(captures));
                        matcher.children.truncate(from);
                        flow
                    });
                }
            }
            matcher.count(1);
            if matcher.stopped {
                return;
            }
            if walk.goto_first_child() {
                continue;
            }
            while !walk.goto_next_sibling() {
                if !walk.goto_parent() {
                    return;
                }
            }
        }
    }
}

fn file_under(step: &ChildStep, pattern: u16, by_kind: &mut [Vec<u16>], for_errors: &mut Vec<u16>) {
    let file = |list: &mut Vec<u16>| {
        if list.last() != Some(&pattern) {
            list.push(pattern);
        }
    };
    match &step.item {
        Item::OneOf(steps) => steps.iter().for_each(|s| file_under(s, pattern, by_kind, for_errors)),
        Item::Node(NodePattern { kind: Kind::Of(kinds), .. }) => {
            for &kind in kinds {
                file(if kind == ERROR_KIND { for_errors } else { &mut by_kind[usize::from(kind)] });
            }
        }
        Item::Node(_) => by_kind.iter_mut().for_each(file),
    }
}

impl Predicate {
    fn holds(&self, captures: &Captures<'_>, text: &[u8]) -> bool {
        let of = |capture: u16| captures.iter().filter(move |c| c.0 == capture).map(|c| &text[c.1.byte_range()]);
        match self {
            Predicate::Equal { capture, value, negated } => match value {
                Value::Text(value) => of(*capture).all(|t| (t == value.as_bytes()) != *negated),
                Value::Capture(other) => of(*capture).zip(of(*other)).all(|(a, b)| (a == b) != *negated),
            },
            Predicate::Match { capture, regex, negated } => of(*capture).all(|t| regex.is_match(t) != *negated),
            Predicate::AnyOf { capture, values, negated } => {
                of(*capture).all(|t| values.iter().any(|v| v.as_bytes() == t) != *negated)
            }
        }
    }
}

/// Nodes visited between two calls of `go_on`.
const STEPS_BETWEEN_CHECKS: usize = 4_096;

struct Matcher<'t, 'g> {
    cursor: TreeCursor<'t>,
    go_on: &'g mut dyn FnMut() -> bool,
    /// Nodes visited since the last check.
    steps: usize,
    /// Whether the check failed: nothing matches any more.
    stopped: bool,
    /// A stack of the children of the nodes being matched.
    children: Vec<Child<'t>>,
    /// The id of the node that whole patterns are tried at.
    outermost: usize,
    /// The place of its children, which all patterns share, at the bottom of the stack; `None` before the first use.
    shared: Option<(usize, usize)>,
}

/// Called when everything so far matched; returns whether to look for further matches.
type Next<'a, 't, 'g> = dyn FnMut(&mut Matcher<'t, 'g>, &mut Captures<'t>) -> ControlFlow<()> + 'a;

impl<'t, 'g> Matcher<'t, 'g> {
    /// Counts visited nodes.
    fn count(&mut self, nodes: usize) {
        self.steps += nodes;
        if self.steps >= STEPS_BETWEEN_CHECKS && !self.stopped {
            self.steps = 0;
            self.stopped = !(self.go_on)();
        }
    }

    /// Prepares for the patterns of another node.
    fn begin(&mut self, node: Node<'t>) {
        self.children.clear();
        (self.outermost, self.shared) = (node.id(), None);
    }

    /// Matches the children of a node with those of a pattern.
    fn inside(
        &mut self,
        node: Node<'t>,
        pattern: &NodePattern,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't, 'g>,
    ) -> ControlFlow<()> {
        let is_shared = node.id() == self.outermost;
        let (from, end) = self.shared.filter(|_| is_shared).unwrap_or_else(|| self.add_children(node));
        self.shared = self.shared.or(is_shared.then_some((from, end)));
        self.count(end - from);
        let rest = Rest { steps: &pattern.children, from, end, anchored_end: pattern.anchored_end };
        let flow = self.steps(rest, captures, next);
        if !is_shared {
            self.children.truncate(from);
        }
        flow
    }

    /// Puts the children of a node on the stack. Returns their place: the first and the end.
    fn add_children(&mut self, node: Node<'t>) -> (usize, usize) {
        let from = self.children.len();
        self.cursor.reset(node);
        if self.cursor.goto_first_child() {
            loop {
                self.children.push(Child::new(self.cursor.node(), self.cursor.field_id().map(u16::from)));
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        (from, self.children.len())
    }

    /// Puts the siblings after a node on the stack, without their fields. Returns their place.
    fn add_siblings_behind(&mut self, node: Node<'t>) -> (usize, usize) {
        let from = self.children.len();
        let siblings = std::iter::successors(node.next_sibling(), Node::next_sibling);
        self.children.extend(siblings.map(|node| Child::new(node, None)));
        (from, self.children.len())
    }

    /// Matches `child` with `step`, and calls `next` for every way in which it matches.
    fn step(
        &mut self,
        step: &ChildStep,
        child: Child<'t>,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't, 'g>,
    ) -> ControlFlow<()> {
        self.count(1);
        if self.stopped {
            return ControlFlow::Break(());
        }
        let before = captures.len();
        let flow = match &step.item {
            Item::OneOf(steps) => {
                captures.extend(step.captures.iter().map(|c| (*c, child.node)));
                steps.iter().try_for_each(|s| {
                    if s.field.is_some() && s.field != child.field {
                        return ControlFlow::Continue(());
                    }
                    self.step(s, child, captures, next)
                })
            }
            Item::Node(pattern) => {
                if !pattern.kind.is(child) {
                    return ControlFlow::Continue(());
                }
                if pattern.absent_fields.iter().any(|f| child.node.child_by_field_id(*f).is_some()) {
                    return ControlFlow::Continue(());
                }
                captures.extend(step.captures.iter().map(|c| (*c, child.node)));
                if pattern.children.is_empty() {
                    next(self, captures)
                } else {
                    self.inside(child.node, pattern, captures, next)
                }
            }
        };
        captures.truncate(before);
        flow
    }

    /// Matches the rest of a pattern in order, and calls `next` for every way in which it matches.
    fn steps(&mut self, all: Rest<'_>, captures: &mut Captures<'t>, next: &mut Next<'_, 't, 'g>) -> ControlFlow<()> {
        let Rest { steps, from, end, anchored_end } = all;
        let Some((step, steps)) = steps.split_first() else {
            if anchored_end && self.children[from..end].iter().any(|c| c.is_named) {
                return ControlFlow::Continue(());
            }
            return next(self, captures);
        };
        if matches!(step.times, Times::Many | Times::AtLeastOnce) {
            return self.repeated(step, Rest { steps, ..all }, captures, next);
        }
        let mut any = false;
        for i in from..end {
            let child = self.children[i];
            if step.field.is_none() || step.field == child.field {
                self.step(step, child, captures, &mut |matcher, captures| {
                    matcher.steps(Rest { steps, from: i + 1, ..all }, captures, &mut |matcher, captures| {
                        any = true;
                        next(matcher, captures)
                    })
                })?;
            }
            // After an anchor, only the first named sibling can match (any sibling, for a literal).
            if step.anchored && (child.is_named || step.is_literal()) {
                break;
            }
        }
        if step.times == Times::Optional && !any {
            return self.steps(Rest { steps, ..all }, captures, next);
        }
        ControlFlow::Continue(())
    }

    /// A repeated step before `rest` takes every sibling that matches, each in its first way.
    fn repeated(
        &mut self,
        step: &ChildStep,
        rest: Rest<'_>,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't, 'g>,
    ) -> ControlFlow<()> {
        let Rest { from, end, .. } = rest;
        let before = captures.len();
        let mut taken = Captures::new();
        let mut behind = from;
        for i in from..end {
            let child = self.children[i];
            if step.field.is_some() && step.field != child.field {
                continue;
            }
            let mut matched = false;
            let _ = self.step(step, child, captures, &mut |_, captures| {
                matched = true;
                taken.extend_from_slice(&captures[before..]);
                ControlFlow::Break(())
            });
            captures.truncate(before);
            if matched {
                behind = i + 1;
            } else if step.anchored && child.is_named {
                break;
            }
        }
        if behind == from && step.times == Times::AtLeastOnce {
            return ControlFlow::Continue(());
        }
        captures.append(&mut taken);
        let flow = self.steps(Rest { from: behind, ..rest }, captures, next);
        captures.truncate(before);
        flow
    }
}

impl ChildStep {
    /// Whether it is a keyword or a punctuation mark.
    fn is_literal(&self) -> bool {
        match &self.item {
            Item::Node(pattern) => pattern.anonymous,
            Item::OneOf(steps) => steps.iter().any(ChildStep::is_literal),
        }
    }
}

impl Kind {
    fn is(&self, child: Child<'_>) -> bool {
        match self {
            Kind::Any => true,
            Kind::AnyNamed => child.is_named,
            Kind::Of(kinds) => kinds.contains(&child.kind),
        }
    }
}
