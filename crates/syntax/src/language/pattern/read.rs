//! Parses the text of a query into patterns.

use regex::bytes::Regex;
use tree_sitter::Language;

use super::{ChildStep, ERROR_KIND, Item, Kind, NodePattern, Predicate, Times, TreePattern, Value};

/// A parser of queries.
pub(super) struct QueryReader<'a> {
    pub(super) language: &'a Language,
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) captures: Vec<String>,
    /// Predicates of the current pattern.
    pub(super) predicates: Vec<Predicate>,
}

type Read<T> = Result<T, String>;

impl QueryReader<'_> {
    pub(super) fn line(&self) -> usize {
        1 + self.text[..self.at.min(self.text.len())].matches('\n').count()
    }

    /// Skips white space and comments; returns the next character.
    pub(super) fn skip_space(&mut self) -> Option<char> {
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
    pub(super) fn pattern(&mut self) -> Read<TreePattern> {
        let start = self.at;
        if self.take('(') {
            if matches!(self.skip_space(), Some('(' | '[' | '"')) {
                let mut step = self.step()?;
                let mut following = Vec::new();
                let mut anchored = false;
                while !self.take(')') {
                    if self.text[self.at..].starts_with("(#") {
                        self.predicate()?;
                    } else if self.take('.') {
                        anchored = true;
                    } else {
                        following.push(ChildStep { anchored: std::mem::take(&mut anchored), ..self.step()? });
                    }
                }
                self.suffix(&mut step)?;
                return Ok(TreePattern { step, following, predicates: std::mem::take(&mut self.predicates) });
            }
            self.at = start;
        }
        let mut step = self.step()?;
        self.suffix(&mut step)?;
        Ok(TreePattern { step, following: Vec::new(), predicates: std::mem::take(&mut self.predicates) })
    }

    /// Parses one predicate, in parentheses; it belongs to the enclosing pattern.
    fn predicate(&mut self) -> Read<()> {
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
        let predicate = match name.trim_start_matches("not-") {
            "eq" => {
                let value = match other {
                    Some(other) => Value::Capture(other),
                    None => Value::Text(first()?),
                };
                Predicate::Equal { capture, value, negated }
            }
            "match" => {
                let regex = Regex::new(&first()?).map_err(|e| e.to_string())?;
                Predicate::Match { capture, regex, negated }
            }
            "any-of" => Predicate::AnyOf { capture, values, negated },
            _ => return Err(format!("#{name}? is not known here")),
        };
        self.predicates.push(predicate);
        Ok(())
    }

    /// A node, literal, wildcard or alternation, with its quantifier and captures.
    fn step(&mut self) -> Read<ChildStep> {
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
        let mut step = ChildStep { item, field: None, captures: Vec::new(), times: Times::Once, anchored: false };
        self.suffix(&mut step)?;
        Ok(step)
    }

    /// A step with an optional field.
    fn child(&mut self) -> Read<ChildStep> {
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

    fn suffix(&mut self, step: &mut ChildStep) -> Read<()> {
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

    /// The kind of that name, or its subtypes if it is a supertype.
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
