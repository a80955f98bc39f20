//! Units as the symbols of a language server.

use colgrep_core::query::last_segment;
use colgrep_core::{Unit, UnitKind};
use colgrep_engine::answer::snippet::own_line;
use colgrep_syntax::language::Language;
use colgrep_syntax::parse::parse_file;
use serde::{Deserialize, Serialize};

use super::text::TextRange;

/// A symbol of a document, with those inside it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    name: String,
    detail: String,
    kind: u8,
    range: TextRange,
    selection_range: TextRange,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<DocumentSymbol>,
    #[serde(skip)]
    lines: (u32, u32),
}

impl DocumentSymbol {
    /// Whether a unit that follows lies inside. Where both share a first or last line, its parent tells.
    fn encloses(&self, unit: &Unit) -> bool {
        let (line, (first, end)) = (unit.span.line, self.lines);
        let is_between = first < line && line < end;
        end >= line.max(unit.span.end) && (is_between || last_segment(&unit.parent) == last_segment(&self.name))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an item of the hierarchy")]
pub(super) struct CallItem {
    pub(super) name: String,
    pub(super) kind: u8,
    /// Clients may give back `null` where it was empty.
    #[serde(default, deserialize_with = "super::text::text_or_null")]
    pub(super) detail: String,
    pub(super) uri: String,
    pub(super) range: TextRange,
    pub(super) selection_range: TextRange,
}

/// The protocol's number for a kind.
pub(super) const fn kind_of(kind: UnitKind) -> u8 {
    match kind {
        UnitKind::Document => 1,
        UnitKind::Class => 5,
        UnitKind::Method => 6,
        UnitKind::Function => 12,
        UnitKind::Constant => 14,
        UnitKind::Section => 15,
        UnitKind::RawCode => 13,
    }
}

/// The named units of a text, each enclosing one before its members.
pub(super) fn units_of(path: &str, text: &str, language: &'static Language) -> Vec<Unit> {
    let mut units = parse_file(path, text, language).1.units;
    units.retain(|unit| !unit.name.is_empty() && unit.kind != UnitKind::RawCode);
    units
}

/// The range of a unit, with its documentation, and that of its name, which lies inside.
pub(super) fn ranges_of(unit: &Unit, lines: &[&str]) -> (TextRange, TextRange) {
    // A text may have fewer lines by now.
    let within = |line: u32| (line as usize).clamp(1, lines.len().max(1));
    let (first, end) = (within(unit.span.first.min(unit.span.line)), within(unit.span.end));
    let name_line = within(own_line(lines, unit, end) as u32).max(first);
    (TextRange::of_lines(lines, first, end.max(name_line)), TextRange::of_name(lines, name_line, &unit.name))
}

pub(super) fn document_symbols(units: Vec<Unit>, text: &str) -> Vec<DocumentSymbol> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut open): (Vec<DocumentSymbol>, Vec<DocumentSymbol>) = (Vec::new(), Vec::new());
    let close = |found: &mut Vec<DocumentSymbol>, open: &mut Vec<DocumentSymbol>| {
        if let Some(symbol) = open.pop() {
            open.last_mut().map_or(found, |outer| &mut outer.children).push(symbol);
        }
    };
    for unit in units {
        let (range, selection_range) = ranges_of(&unit, &lines);
        while open.last().is_some_and(|outer| !outer.encloses(&unit)) {
            close(&mut found, &mut open);
        }
        open.push(DocumentSymbol {
            kind: kind_of(unit.kind),
            range,
            selection_range,
            children: Vec::new(),
            lines: (unit.span.line, unit.span.end),
            detail: unit.signature,
            name: unit.name,
        });
    }
    while !open.is_empty() {
        close(&mut found, &mut open);
    }
    found
}

#[cfg(test)]
mod tests {
    use colgrep_syntax::language;

    use super::*;

    fn symbols_of(path: &str, text: &str) -> Vec<DocumentSymbol> {
        document_symbols(units_of(path, text, language::of_file(path, text.as_bytes())), text)
    }

    fn told(symbols: &[DocumentSymbol]) -> String {
        let one = |symbol: &DocumentSymbol| match symbol.children.as_slice() {
            [] => symbol.name.clone(),
            inner => format!("{}({})", symbol.name, told(inner)),
        };
        symbols.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn members_lie_inside_their_class() {
        let text = "class Ring:\n    \"\"\"A ring.\"\"\"\n\n    def push(self):\n        pass\n\n    def pop(self):\n        pass\n\n\ndef other():\n    pass\n";
        let symbols = symbols_of("ring.py", text);
        assert_eq!(told(&symbols), "Ring(push pop) other");
        for (path, text, expected) in [
            ("a.rs", "fn a() {} fn b() {}\n", "a b"),
            ("a.rs", "fn a() {\n} fn b() {}\n", "a b"),
            ("a.rs", "impl Ring {\n    fn push() {} } fn b() {}\n", "Ring(push) b"),
            ("a.js", "class A { x() {} y() {} } class B { z() {} }\n", "A(x y) B(z)"),
            ("a.md", "# One\n## Two\n# Three\n", "One(Two) Three"),
        ] {
            assert_eq!(told(&symbols_of(path, text)), expected, "{text}");
        }
        let push = &symbols[0].children[0];
        assert_eq!((push.kind, push.selection_range.start.line, push.selection_range.start.character), (6, 3, 8));
    }
}
