//! Builds units from captures: nesting, names, bodies, and the facts of each.

use std::borrow::Cow;
use std::collections::HashMap;

use colgrep_core::{Span, Unit, UnitKind, UnitRole};

use super::blocks::{add_blocks_between, block_kind};
use super::collect::{Definition, FileCaptures, What};
use super::doc::{DocComments, Head, doc_comments};
use super::features;
use super::lines::{Bytes, Lines, OwnLines, body_lines, takes_lines};
use super::text::{
    clean_comment, clean_heading, clean_name, clean_row, clean_title, clean_underlined, fold_space, push_line,
    push_part, split_list, truncate, without_directives,
};
use super::{
    BODY_BYTES_MAX, BYTES_PER_DEFINITION, DEFINITIONS_BASE, DEPTH_MAX, DOCSTRING_BYTES_MAX, INNER_FUNCTION_LINES_MIN,
    LARGE_FUNCTION_LINES, LINE_BYTES_MAX, LIST_LEN_MAX, NAME_BYTES_MAX, SIGNATURE_BYTES_MAX,
};
use crate::budget::{Budget, Spent};
use crate::language::{Language, Reader};

/// Maximum of parameters, bases and pieces of documentation that are read per definition.
const PARTS_MAX: usize = 4 * LIST_LEN_MAX;

/// Builds units from a query's captures.
pub(super) struct Builder<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a Lines<'a>,
    pub(super) language: &'static Language,
    pub(super) found: &'a mut FileCaptures,
    pub(super) budget: &'a Budget,
    /// Remaining bytes for the texts of units.
    pub(super) room: usize,
}

impl Builder<'_> {
    /// # Errors
    /// When the units take too much room or time.
    pub(super) fn units(&mut self) -> Result<Vec<Unit>, Spent> {
        let comments = doc_comments(self.found, self.lines, self.language);
        let definitions = self.distinct_definitions(&comments);
        if definitions.len() > DEFINITIONS_BASE + self.text.len() / BYTES_PER_DEFINITION {
            return Err(Spent::Units);
        }
        let enclosing = enclosing(&definitions);
        let tests = self.tests(&definitions, &enclosing, &comments);
        // Nesting depth of each; `None` for a part of the unit around it (a definition inside a function, unless that
        // is too long to be shown as one unit).
        let mut depths: Vec<Option<usize>> = Vec::with_capacity(definitions.len());
        // The name of each, with those of its enclosing definitions.
        let mut names: Vec<(String, String)> = Vec::with_capacity(definitions.len());
        // Whether it is its enclosing definition, captured once more.
        let mut again: Vec<bool> = vec![false; definitions.len()];
        for (i, definition) in definitions.iter().enumerate() {
            if let Some(a) = enclosing[i].filter(|&a| self.is_again(&definitions[a], definition)) {
                depths.push(depths[a]);
                names.push(names[a].clone());
                again[i] = true;
                continue;
            }
            let depth = match enclosing[i] {
                None => Some(0),
                Some(a) => {
                    depths[a].filter(|&d| d < DEPTH_MAX && self.holds(&definitions[a], definition)).map(|d| d + 1)
                }
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
            let is_own = depths[i].is_some() && !again[i];
            let mut unit = is_own.then(|| self.unit(i, &definitions, &enclosing, &comments)).flatten();
            if let Some(unit) = &mut unit {
                let is_test = tests.get(i) == Some(&true) && definitions[i].what.is_callable();
                if is_test && unit.role == UnitRole::Definition {
                    unit.role = UnitRole::Test;
                }
                self.take_room(parent.len() + name.len() + unit.signature.len() + unit.docstring.len())?;
            }
            self.budget.check()?;
            units.push(unit.map(|unit| Unit { parent, name, ..unit }));
        }
        let blocks = self.fill_bodies(&mut units, &definitions, &enclosing)?;
        self.fill_facts(&mut units, &definitions, &enclosing);
        features::fill(&mut units, &definitions, &self.found.conditions, self.text, self.budget)?;
        let mut units: Vec<Unit> = units.into_iter().flatten().collect();
        units.sort_by(|a, b| (a.span.line, b.span.end).cmp(&(b.span.line, a.span.end)));
        if self.language.merges_clauses {
            units = merge_clauses(units);
        }
        units.extend(blocks);
        Ok(units)
    }

    /// Whether an attribute above each definition, or one around it, marks it as test-only; empty for a language
    /// without such attributes.
    fn tests(&self, definitions: &[Definition], enclosing: &[Option<usize>], comments: &DocComments) -> Vec<bool> {
        let Some(is_test) = self.language.is_test else { return Vec::new() };
        let mut tests: Vec<bool> = Vec::with_capacity(definitions.len());
        for (definition, outer) in definitions.iter().zip(enclosing) {
            let own = || comments.attributes_of(&definition.bytes, self.lines).into_iter().any(is_test);
            let is = outer.is_some_and(|a| tests[a]) || own();
            tests.push(is);
        }
        tests
    }

    fn line_count(&self, definition: &Definition) -> u32 {
        self.lines.end_line(&definition.bytes) + 1 - self.lines.line_of(definition.bytes.start)
    }

    fn is_large(&self, definition: &Definition) -> bool {
        definition.what.is_callable() && self.line_count(definition) >= LARGE_FUNCTION_LINES
    }

    /// Whether an enclosed definition is a unit of its own.
    fn holds(&self, outer: &Definition, inner: &Definition) -> bool {
        let is_unit = || inner.what.may_stand_alone() && self.line_count(inner) >= INNER_FUNCTION_LINES_MIN;
        outer.what.is_container() || (self.is_large(outer) && is_unit())
    }

    /// Whether two definitions are one long function: `const Card = memo(function Card() {`.
    fn is_again(&self, outer: &Definition, inner: &Definition) -> bool {
        let are_large = self.is_large(outer) && self.is_large(inner);
        are_large && self.line_count(inner) + INNER_FUNCTION_LINES_MIN > self.line_count(outer)
    }

    /// Takes room for a text of `bytes`.
    fn take_room(&mut self, bytes: usize) -> Result<(), Spent> {
        self.room = self.room.checked_sub(bytes).ok_or(Spent::Units)?;
        Ok(())
    }

    pub(super) fn name(&self, definition: &Definition) -> String {
        let name = &self.text[definition.name.clone()];
        match definition.what {
            What::Unit(UnitKind::Section, _) if self.language.has_markdown_headings => clean_heading(name),
            What::Unit(UnitKind::Section, _) => match self.language.reader {
                Some(Reader::Underlined) => clean_title(&clean_underlined(name)),
                Some(Reader::Rows) => clean_title(&clean_row(name)),
                _ => clean_title(name),
            },
            _ => clean_name(name),
        }
    }

    /// One definition per name: several patterns may match it (plain, exported, decorated). The widest span counts, and
    /// the first pattern in the query file decides its kind.
    pub(super) fn distinct_definitions(&mut self, comments: &DocComments) -> Vec<Definition> {
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
                    // Parts that a second match of the same pattern adds (one base class per match).
                    for (list, more) in [
                        (&mut old.doc, new.doc),
                        (&mut old.parameters, new.parameters),
                        (&mut old.extends, new.extends),
                    ] {
                        for part in more {
                            if list.len() < PARTS_MAX && !list.contains(&part) {
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

    pub(super) fn piece(&self, bytes: &Bytes, bytes_max: usize) -> String {
        fold_space(&self.text[bytes.clone()], bytes_max)
    }

    pub(super) fn pieces(&self, all: &[Bytes]) -> Vec<String> {
        all.iter().map(|b| self.piece(b, NAME_BYTES_MAX)).filter(|s| !s.is_empty()).take(LIST_LEN_MAX).collect()
    }

    pub(super) fn unit(
        &self,
        i: usize,
        definitions: &[Definition],
        enclosing: &[Option<usize>],
        comments: &DocComments,
    ) -> Option<Unit> {
        let definition = &definitions[i];
        let What::Unit(mut kind, role) = definition.what else { return None };
        let in_class = definition.parent.is_some()
            || ancestors(i, enclosing)
                .take_while(|&a| !definitions[a].what.is_callable())
                .any(|a| matches!(definitions[a].what, What::Unit(UnitKind::Class, _)));
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
        let mut signature = Cow::Borrowed(&self.text[start..signature_end]);
        if self.language.has_xml_docs && signature.contains('#') {
            signature = Cow::Owned(without_directives(&signature));
        }
        let parameters =
            definition.parameters.iter().flat_map(|b| split_list(&self.text[b.clone()])).take(LIST_LEN_MAX);
        Some(Unit {
            kind,
            role,
            span: Span { first, line, end },
            signature: fold_space(&signature, SIGNATURE_BYTES_MAX),
            docstring: doc,
            parameters: parameters.collect(),
            return_type: definition.return_type.as_ref().map(|b| self.piece(b, NAME_BYTES_MAX)).unwrap_or_default(),
            extends: self.pieces(&definition.extends),
            ..Unit::default()
        })
    }

    /// A unit's body is its lines, except that those of its members, apart from their first lines, are left to them.
    /// Returns the blocks of the rest of long sections.
    pub(super) fn fill_bodies(
        &mut self,
        units: &mut [Option<Unit>],
        definitions: &[Definition],
        enclosing: &[Option<usize>],
    ) -> Result<Vec<Unit>, Spent> {
        let mut members: Vec<Vec<(u32, u32)>> = vec![Vec::new(); units.len()];
        for (i, unit) in units.iter().enumerate() {
            let Some(unit) = unit else { continue };
            if !takes_lines(unit.kind) {
                continue;
            }
            for a in ancestors(i, enclosing) {
                members[a].push((unit.span.line, unit.span.end));
            }
        }
        let mut blocks = Vec::new();
        for ((unit, definition), members) in units.iter_mut().zip(definitions).zip(members) {
            let Some(unit) = unit else { continue };
            let is_leaf = members.is_empty();
            let text = |line| self.lines.line(line);
            let (own, is_cut) = body_lines(unit.kind, unit.span.line, unit.span.end, members, text);
            let kept = own.first().map(|own| own.end);
            let first_block = blocks.len();
            for OwnLines { first, end, next } in own {
                if end >= first {
                    let text = &self.text[self.own_bytes(first, end, &definition.bytes)];
                    let room = BODY_BYTES_MAX.saturating_sub(unit.body.len());
                    let text = &text[..text.floor_char_boundary(room)];
                    self.take_room(text.len())?;
                    unit.body.push_str(text);
                }
                let behind = blocks.len();
                add_blocks_between(end + 1, next, self.lines, block_kind(self.language), &mut blocks);
                self.take_room(blocks[behind..].iter().map(|block| block.body.len()).sum())?;
            }
            if is_cut {
                let parent = unit.qualified_name();
                blocks[first_block..].iter_mut().for_each(|block| block.parent.clone_from(&parent));
                if is_leaf {
                    unit.span.end = kept.unwrap_or(unit.span.line);
                }
            }
        }
        Ok(blocks)
    }

    /// Byte range of lines `first..=end` of the definition at `bytes`; of very long lines only its own part.
    pub(super) fn own_bytes(&self, first: u32, end: u32, bytes: &Bytes) -> Bytes {
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

    /// Adds calls, local variables and inner documentation to the innermost unit around them.
    pub(super) fn fill_facts(
        &self,
        units: &mut [Option<Unit>],
        definitions: &[Definition],
        enclosing: &[Option<usize>],
    ) {
        // The unit that the content of a definition belongs to: its own, or that of the enclosing definition.
        let mut homes: Vec<Option<usize>> = Vec::with_capacity(units.len());
        for (i, unit) in units.iter().enumerate() {
            homes.push(if unit.is_some() { Some(i) } else { enclosing[i].and_then(|a| homes[a]) });
        }
        // Decorators above a definition are its own.
        let start_of = |(unit, definition): (&Option<Unit>, &Definition)| {
            let start = definition.bytes.start;
            let head = unit.as_ref().map_or(start, |unit| self.lines.bytes(unit.span.line, unit.span.line).start);
            let next = self.found.decorators.partition_point(|at| *at < head);
            self.found.decorators.get(next).map_or(start, |at| start.min(*at))
        };
        let starts: Vec<usize> = units.iter().zip(definitions).map(start_of).collect();
        let facts = |all: &[Bytes]| -> Vec<(usize, Bytes)> {
            let mut sorted = all.to_vec();
            sorted.sort_by_key(|b| (b.start, b.end));
            let (mut open, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
            let mut owned = Vec::with_capacity(sorted.len());
            for bytes in sorted {
                while let Some(definition) = definitions.get(next).filter(|_| starts[next] <= bytes.start) {
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
        let add_name = |names: &mut Vec<String>, name: &str| {
            // The lists are short.
            let has_room = names.len() < LIST_LEN_MAX && name.len() <= NAME_BYTES_MAX;
            if has_room && !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        };
        for (i, bytes) in facts(&self.found.calls) {
            if let Some(unit) = &mut units[i] {
                add_name(&mut unit.calls, &self.text[bytes]);
            }
        }
        for (i, bytes) in facts(&self.found.variables) {
            if let Some(unit) = &mut units[i] {
                add_name(&mut unit.variables, &self.text[bytes]);
            }
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
        let binds = |unit: &Unit, name: &str| {
            let mut words = unit.parameters.iter().flat_map(|one| one.split(|c| !is_word(c)));
            unit.variables.iter().any(|known| known == name) || words.any(|word| word == name)
        };
        for (i, bytes) in facts(&self.found.bare_calls) {
            if let Some(unit) = &mut units[i]
                && !binds(unit, &self.text[bytes.clone()])
            {
                add_name(&mut unit.calls, &self.text[bytes]);
            }
        }
        for (i, bytes) in facts(&self.found.docs) {
            if let Some(unit) = &mut units[i]
                && unit.docstring.len() < DOCSTRING_BYTES_MAX
            {
                push_line(&mut unit.docstring, &clean_comment(&self.text[bytes], self.language.has_xml_docs));
                truncate(&mut unit.docstring, DOCSTRING_BYTES_MAX);
            }
        }
    }
}

/// For each definition (sorted by start, widest first) the innermost one around it.
pub(super) fn enclosing(definitions: &[Definition]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut result = Vec::with_capacity(definitions.len());
    for (i, definition) in definitions.iter().enumerate() {
        while let Some(&top) = open.last() {
            if definitions[top].bytes.end >= definition.bytes.end && definitions[top].bytes != definition.bytes {
                break;
            }
            // Two names of one statement (`const A = 1, B = 2`) are siblings.
            open.pop();
        }
        result.push(open.last().copied());
        open.push(i);
    }
    result
}

pub(super) fn ancestors(i: usize, enclosing: &[Option<usize>]) -> impl Iterator<Item = usize> {
    std::iter::successors(enclosing[i], |&a| enclosing[a])
}

/// Joins neighbouring functions of one name (the clauses of one function, or a type signature and its equations).
pub(super) fn merge_clauses(units: Vec<Unit>) -> Vec<Unit> {
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
