//! The unit queries: tree-sitter's query language, compiled and matched by our own small engine.
//!
//! tree-sitter's engine analyses a query against the whole parse table before its first use: 0.1 to 1.3 s
//! for the queries here, more than most files take to index, and paid again by every process. This one
//! looks at nothing but the nodes at hand: patterns are filed under the kind of their outermost node, the
//! tree is walked once, and each node is offered to the patterns of its kind. A test holds both engines
//! against each other.
//!
//! What it knows: nodes with fields, `!field`, `_` and `(_)`, literals, alternations, `?` `*` `+`, anchors,
//! captures, and the predicates `#eq?` `#match?` `#any-of?` with their `#not-` forms. A pattern is one node
//! (or an alternation of nodes), maybe in parentheses with predicates and siblings that follow. A repeated
//! child takes all siblings that match.

use std::ops::ControlFlow;

use regex::bytes::Regex;
use tree_sitter::{Language, Node, TreeCursor};

/// Kind of nodes that stand for text the grammar could not read.
const ERROR_KIND: u16 = u16::MAX;

/// A compiled query.
#[derive(Debug)]
pub struct Patterns {
    captures: Vec<String>,
    patterns: Vec<Pattern>,
    /// Patterns by the kind of their outermost node.
    by_kind: Vec<Vec<u16>>,
    for_errors: Vec<u16>,
}

#[derive(Debug)]
struct Pattern {
    step: Step,
    /// Siblings that must follow it.
    following: Vec<Step>,
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

/// One child that a pattern asks for.
#[derive(Debug)]
struct Step {
    item: Item,
    field: Option<u16>,
    captures: Vec<u16>,
    times: Times,
    /// No named sibling may stand between the step before and this one.
    anchored: bool,
}

#[derive(Debug)]
enum Item {
    Node(NodePattern),
    OneOf(Vec<Step>),
}

#[derive(Debug)]
struct NodePattern {
    kind: Kind,
    /// A literal: it stands for a keyword or a punctuation mark.
    anonymous: bool,
    absent_fields: Vec<u16>,
    children: Vec<Step>,
    /// No named child may follow the last step.
    anchored_end: bool,
}

impl NodePattern {
    /// A node of which nothing more is asked; a literal unless said otherwise.
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
    /// A kind, or all kinds that a supertype stands for.
    Of(Vec<u16>),
}

/// A node with the field that it fills in its parent.
#[derive(Clone, Copy)]
struct Child<'t> {
    node: Node<'t>,
    field: Option<u16>,
}

/// What a match captured: capture and node, in order of the pattern.
pub type Captures<'t> = Vec<(u16, Node<'t>)>;

impl Patterns {
    /// Compiles `text` for `language`.
    ///
    /// # Errors
    /// Says what is wrong and on which line.
    pub fn new(language: &Language, text: &str) -> Result<Patterns, String> {
        let mut reader = Reader { language, text, at: 0, captures: Vec::new() };
        let mut patterns = Vec::new();
        while reader.skip_space().is_some() {
            patterns.push(reader.pattern().map_err(|e| format!("line {}: {e}", reader.line()))?);
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

    /// Calls `found` with every match below `root`: the pattern's position in the file, and what it captured.
    /// Asks `go_on` now and then whether there is time left; gives `false` where there was not.
    pub fn matches<'t>(
        &self,
        root: Node<'t>,
        text: &[u8],
        mut go_on: impl FnMut() -> bool,
        mut found: impl FnMut(usize, &Captures<'t>),
    ) -> bool {
        let mut walk = root.walk();
        let mut matcher = Matcher { cursor: root.walk() };
        let mut captures = Captures::new();
        let mut nodes = 0u32;
        loop {
            let node = walk.node();
            let kind = node.kind_id();
            let candidates = match kind {
                ERROR_KIND => &self.for_errors,
                _ => &self.by_kind[usize::from(kind)],
            };
            if !candidates.is_empty() {
                let child = Child { node, field: walk.field_id().map(u16::from) };
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
                        let siblings = siblings_behind(node);
                        matcher.steps(&pattern.following, &siblings, 0, false, captures, &mut |_, captures| {
                            matched(captures)
                        })
                    });
                }
            }
            nodes += 1;
            if nodes.is_multiple_of(1024) && !go_on() {
                return false;
            }
            if walk.goto_first_child() {
                continue;
            }
            while !walk.goto_next_sibling() {
                if !walk.goto_parent() {
                    return true;
                }
            }
        }
    }
}

/// The siblings behind a node; their fields are not looked up.
fn siblings_behind(node: Node<'_>) -> Vec<Child<'_>> {
    let siblings = std::iter::successors(node.next_sibling(), Node::next_sibling);
    siblings.map(|node| Child { node, field: None }).collect()
}

fn file_under(step: &Step, pattern: u16, by_kind: &mut [Vec<u16>], for_errors: &mut Vec<u16>) {
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

struct Matcher<'t> {
    cursor: TreeCursor<'t>,
}

/// Called where everything so far matched; says whether further ways to match are wanted.
type Next<'a, 't> = dyn FnMut(&mut Matcher<'t>, &mut Captures<'t>) -> ControlFlow<()> + 'a;

impl<'t> Matcher<'t> {
    fn children(&mut self, node: Node<'t>) -> Vec<Child<'t>> {
        let mut children = Vec::with_capacity(node.child_count() as usize);
        self.cursor.reset(node);
        if self.cursor.goto_first_child() {
            loop {
                children.push(Child { node: self.cursor.node(), field: self.cursor.field_id().map(u16::from) });
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        children
    }

    /// Offers `child` to `step`, and calls `next` for every way in which it matches.
    fn step(
        &mut self,
        step: &Step,
        child: Child<'t>,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't>,
    ) -> ControlFlow<()> {
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
                if !pattern.kind.is(child.node) {
                    return ControlFlow::Continue(());
                }
                if pattern.absent_fields.iter().any(|f| child.node.child_by_field_id(*f).is_some()) {
                    return ControlFlow::Continue(());
                }
                captures.extend(step.captures.iter().map(|c| (*c, child.node)));
                if pattern.children.is_empty() {
                    next(self, captures)
                } else {
                    let children = self.children(child.node);
                    self.steps(&pattern.children, &children, 0, pattern.anchored_end, captures, next)
                }
            }
        };
        captures.truncate(before);
        flow
    }

    /// Matches `steps` against `children[from..]` in order, and calls `next` for every way in which they do.
    fn steps(
        &mut self,
        steps: &[Step],
        children: &[Child<'t>],
        from: usize,
        anchored_end: bool,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't>,
    ) -> ControlFlow<()> {
        let Some((step, rest)) = steps.split_first() else {
            if anchored_end && children[from..].iter().any(|c| c.node.is_named()) {
                return ControlFlow::Continue(());
            }
            return next(self, captures);
        };
        if matches!(step.times, Times::Many | Times::AtLeastOnce) {
            return self.repeated(step, rest, children, from, anchored_end, captures, next);
        }
        let mut any = false;
        for (i, child) in children.iter().enumerate().skip(from) {
            if step.field.is_none() || step.field == child.field {
                self.step(step, *child, captures, &mut |matcher, captures| {
                    matcher.steps(rest, children, i + 1, anchored_end, captures, &mut |matcher, captures| {
                        any = true;
                        next(matcher, captures)
                    })
                })?;
            }
            // Behind an anchor, the first named sibling is the only chance (any sibling, for a literal).
            if step.anchored && (child.node.is_named() || step.is_literal()) {
                break;
            }
        }
        if step.times == Times::Optional && !any {
            return self.steps(rest, children, from, anchored_end, captures, next);
        }
        ControlFlow::Continue(())
    }

    /// A repeated step takes every sibling that matches, each in its first way.
    #[expect(clippy::too_many_arguments, reason = "the state of one recursion")]
    fn repeated(
        &mut self,
        step: &Step,
        rest: &[Step],
        children: &[Child<'t>],
        from: usize,
        anchored_end: bool,
        captures: &mut Captures<'t>,
        next: &mut Next<'_, 't>,
    ) -> ControlFlow<()> {
        let before = captures.len();
        let mut taken = Captures::new();
        let mut behind = from;
        for (i, child) in children.iter().enumerate().skip(from) {
            if step.field.is_some() && step.field != child.field {
                continue;
            }
            let mut matched = false;
            let _ = self.step(step, *child, captures, &mut |_, captures| {
                matched = true;
                taken.extend_from_slice(&captures[before..]);
                ControlFlow::Break(())
            });
            captures.truncate(before);
            if matched {
                behind = i + 1;
            } else if step.anchored && child.node.is_named() {
                break;
            }
        }
        if behind == from && step.times == Times::AtLeastOnce {
            return ControlFlow::Continue(());
        }
        captures.append(&mut taken);
        let flow = self.steps(rest, children, behind, anchored_end, captures, next);
        captures.truncate(before);
        flow
    }
}

impl Step {
    /// Whether it stands for a keyword or a punctuation mark.
    fn is_literal(&self) -> bool {
        match &self.item {
            Item::Node(pattern) => pattern.anonymous,
            Item::OneOf(steps) => steps.iter().any(Step::is_literal),
        }
    }
}

impl Kind {
    fn is(&self, node: Node<'_>) -> bool {
        match self {
            Kind::Any => true,
            Kind::AnyNamed => node.is_named(),
            Kind::Of(kinds) => kinds.contains(&node.kind_id()),
        }
    }
}

/// Reads the text of a query.
struct Reader<'a> {
    language: &'a Language,
    text: &'a str,
    at: usize,
    captures: Vec<String>,
}

type Read<T> = Result<T, String>;

impl Reader<'_> {
    fn line(&self) -> usize {
        1 + self.text[..self.at.min(self.text.len())].matches('\n').count()
    }

    /// Skips white space and comments; gives the next character.
    fn skip_space(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            match trimmed.chars().next() {
                Some(';') => self.at += trimmed.find('\n').unwrap_or(trimmed.len()),
                next => return next,
            }
        }
    }

    fn take(&mut self, expected: char) -> bool {
        let is = self.skip_space() == Some(expected);
        if is {
            self.at += expected.len_utf8();
        }
        is
    }

    fn expect(&mut self, expected: char) -> Read<()> {
        match self.take(expected) {
            true => Ok(()),
            false => Err(format!("expected {expected:?}")),
        }
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/'))).unwrap_or(rest.len());
        let start = self.at;
        self.at += end;
        &self.text[start..self.at]
    }

    fn string(&mut self) -> Read<String> {
        self.expect('"')?;
        let mut value = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(value);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, '0')) => value.push('\0'),
                    Some((_, other)) => value.push(other),
                    None => break,
                },
                _ => value.push(c),
            }
        }
        Err("a string does not end".to_string())
    }

    fn capture(&mut self) -> Read<u16> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.').to_string();
        self.at += name.len();
        if name.is_empty() {
            return Err("a capture has no name".to_string());
        }
        Ok(match self.captures.iter().position(|c| *c == name) {
            Some(i) => i as u16,
            None => {
                self.captures.push(name);
                (self.captures.len() - 1) as u16
            }
        })
    }

    /// One top-level pattern: a node, maybe in parentheses with predicates.
    fn pattern(&mut self) -> Read<Pattern> {
        let start = self.at;
        let mut predicates = Vec::new();
        if self.take('(') {
            if matches!(self.skip_space(), Some('(' | '[' | '"')) {
                let mut step = self.step()?;
                let mut following = Vec::new();
                let mut anchored = false;
                while !self.take(')') {
                    if self.text[self.at..].starts_with("(#") {
                        predicates.push(self.predicate()?);
                    } else if self.take('.') {
                        anchored = true;
                    } else {
                        following.push(Step { anchored: std::mem::take(&mut anchored), ..self.step()? });
                    }
                }
                self.suffix(&mut step)?;
                return Ok(Pattern { step, following, predicates });
            }
            self.at = start;
        }
        let mut step = self.step()?;
        // Predicates may also stand inside the outermost node.
        if let Item::Node(_) = &step.item {
            predicates.append(&mut self.pending_predicates(start)?);
        }
        self.suffix(&mut step)?;
        Ok(Pattern { step, following: Vec::new(), predicates })
    }

    /// Predicates inside the node that was just read from `start`: read again for them alone.
    fn pending_predicates(&mut self, start: usize) -> Read<Vec<Predicate>> {
        let end = self.at;
        let mut predicates = Vec::new();
        self.at = start;
        while self.at < end {
            let rest = &self.text[self.at..end];
            let Some(i) = rest.find("(#") else { break };
            self.at += i;
            predicates.push(self.predicate()?);
        }
        self.at = end;
        Ok(predicates)
    }

    fn predicate(&mut self) -> Read<Predicate> {
        self.expect('(')?;
        self.expect('#')?;
        let name = self.word().to_string();
        self.expect('?')?;
        self.expect('@')?;
        let capture = self.capture()?;
        let mut values = Vec::new();
        let mut other = None;
        while !self.take(')') {
            if self.take('@') {
                other = Some(self.capture()?);
            } else {
                values.push(self.string()?);
            }
        }
        let negated = name.starts_with("not-");
        let first = || values.first().cloned().ok_or_else(|| format!("#{name}? needs a value"));
        match name.trim_start_matches("not-") {
            "eq" => {
                let value = match other {
                    Some(other) => Value::Capture(other),
                    None => Value::Text(first()?),
                };
                Ok(Predicate::Equal { capture, value, negated })
            }
            "match" => {
                let regex = Regex::new(&first()?).map_err(|e| e.to_string())?;
                Ok(Predicate::Match { capture, regex, negated })
            }
            "any-of" => Ok(Predicate::AnyOf { capture, values, negated }),
            _ => Err(format!("#{name}? is not known here")),
        }
    }

    /// A node, literal, wildcard or alternation, with its quantifier and captures.
    fn step(&mut self) -> Read<Step> {
        let item = match self.skip_space() {
            Some('(') => Item::Node(self.node()?),
            Some('[') => {
                self.at += 1;
                let mut steps = Vec::new();
                while !self.take(']') {
                    steps.push(self.child()?);
                }
                Item::OneOf(steps)
            }
            Some('"') => {
                let literal = self.string()?;
                Item::Node(NodePattern::leaf(Kind::Of(vec![self.kind_id(&literal, false)?])))
            }
            Some('_') => {
                self.at += 1;
                Item::Node(NodePattern { anonymous: false, ..NodePattern::leaf(Kind::Any) })
            }
            other => return Err(format!("unexpected {other:?}")),
        };
        let mut step = Step { item, field: None, captures: Vec::new(), times: Times::Once, anchored: false };
        self.suffix(&mut step)?;
        Ok(step)
    }

    /// A step that may have a field in front.
    fn child(&mut self) -> Read<Step> {
        self.skip_space();
        let start = self.at;
        let name = self.word().to_string();
        if !name.is_empty() && name != "_" && self.take(':') {
            let field = self.field_id(&name)?;
            let mut step = self.step()?;
            step.field = Some(field);
            return Ok(step);
        }
        self.at = start;
        self.step()
    }

    fn suffix(&mut self, step: &mut Step) -> Read<()> {
        loop {
            match self.skip_space() {
                Some('@') => {
                    self.at += 1;
                    let capture = self.capture()?;
                    step.captures.push(capture);
                }
                Some('?') => step.times = self.times(Times::Optional),
                Some('*') => step.times = self.times(Times::Many),
                Some('+') => step.times = self.times(Times::AtLeastOnce),
                _ => return Ok(()),
            }
        }
    }

    fn times(&mut self, times: Times) -> Times {
        self.at += 1;
        times
    }

    fn node(&mut self) -> Read<NodePattern> {
        self.expect('(')?;
        self.skip_space();
        let kind = match self.word().to_string().as_str() {
            "_" => Kind::AnyNamed,
            "ERROR" => Kind::Of(vec![ERROR_KIND]),
            "" => return Err("a node needs a kind".to_string()),
            name => self.kinds(name.rsplit('/').next().unwrap_or(name))?,
        };
        let mut pattern = NodePattern { anonymous: false, ..NodePattern::leaf(kind) };
        let mut anchored = false;
        loop {
            match self.skip_space() {
                Some(')') => {
                    self.at += 1;
                    pattern.anchored_end = anchored;
                    return Ok(pattern);
                }
                Some('.') => {
                    self.at += 1;
                    anchored = true;
                }
                Some('!') => {
                    self.at += 1;
                    let field = self.word().to_string();
                    pattern.absent_fields.push(self.field_id(&field)?);
                }
                Some('(') if self.text[self.at..].starts_with("(#") => {
                    self.predicate()?;
                }
                Some(_) => {
                    let mut step = self.child()?;
                    step.anchored = std::mem::take(&mut anchored);
                    pattern.children.push(step);
                }
                None => return Err("a node does not end".to_string()),
            }
        }
    }

    fn kind_id(&self, name: &str, named: bool) -> Read<u16> {
        match self.language.id_for_node_kind(name, named) {
            0 => Err(format!("the grammar has no node {name:?}")),
            id => Ok(id),
        }
    }

    /// The kinds that a name stands for: itself, or its subtypes if it is a supertype.
    fn kinds(&self, name: &str) -> Read<Kind> {
        let id = self.kind_id(name, true)?;
        if !self.language.node_kind_is_supertype(id) {
            return Ok(Kind::Of(vec![id]));
        }
        let mut kinds = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            for &subtype in self.language.subtypes_for_supertype(id) {
                if self.language.node_kind_is_supertype(subtype) {
                    open.push(subtype);
                } else if !kinds.contains(&subtype) {
                    kinds.push(subtype);
                }
            }
        }
        Ok(Kind::Of(kinds))
    }

    fn field_id(&self, name: &str) -> Read<u16> {
        let id = self.language.field_id_for_name(name).map(u16::from);
        id.ok_or_else(|| format!("the grammar has no field {name:?}"))
    }
}
