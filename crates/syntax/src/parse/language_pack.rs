//! Units of languages outside the table, by the grammars of `tree-sitter-language-pack`, with the cargo feature
//! `language-pack`. That crate fetches a grammar when a file needs it; if it can't, the file is cut into blocks.

use colgrep_core::{Span, Unit, UnitKind, UnitRole};
use tree_sitter_language_pack::{ProcessConfig, StructureItem, StructureKind, detect_language, process};

use super::blocks::add_blocks;
use super::lines::{Lines, own_lines};
use super::text::{fold_space, truncate};
use super::{BODY_BYTES_MAX, DEPTH_MAX, Parsed, SIGNATURE_BYTES_MAX};
use crate::budget::TIME_MAX;
use crate::language;

/// Cuts a file into units by the pack's grammar for its path; also returns the language's name. `None` if the pack has
/// no language for it or can't get its grammar.
pub fn parse(path: &str, text: &str) -> Option<(String, Parsed)> {
    let name = detect_language(path)?;
    let config = ProcessConfig::new(name).with_parse_timeout_ms(Some(TIME_MAX.as_millis() as u64));
    let result = process(text, &config).ok()?;
    let lines = Lines::new(text);
    let mut units = Vec::new();
    add_items(&result.structure, "", &lines, 0, &mut units);
    add_blocks(&mut units, &lines, language::unknown());
    Some((name.to_string(), Parsed { units, ..Parsed::default() }))
}

fn add_items(items: &[StructureItem], parent: &str, lines: &Lines<'_>, depth: usize, units: &mut Vec<Unit>) {
    for item in items {
        let line_of = |zero_based: usize| (zero_based as u32 + 1).min(lines.count());
        let (line, end) = (line_of(item.span.start_line), line_of(item.span.end_line));
        let (kind, role) = match &item.kind {
            StructureKind::Function if parent.is_empty() => (UnitKind::Function, UnitRole::Definition),
            StructureKind::Function | StructureKind::Method => (UnitKind::Method, UnitRole::Definition),
            StructureKind::Impl => (UnitKind::Class, UnitRole::Extension),
            StructureKind::Other(_) => (UnitKind::Constant, UnitRole::Definition),
            _ => (UnitKind::Class, UnitRole::Definition),
        };
        let members = item.children.iter().map(|child| (line_of(child.span.start_line), line_of(child.span.end_line)));
        let own = own_lines(line, end, members).into_iter().flat_map(|own| own.first..=own.end);
        let mut body: String = own.map(|line| lines.line(line)).collect();
        truncate(&mut body, BODY_BYTES_MAX);
        let unit = Unit {
            kind,
            role,
            name: item.name.clone().unwrap_or_default(),
            parent: parent.to_string(),
            span: Span { first: line, line, end },
            signature: fold_space(item.signature.as_deref().unwrap_or_default(), SIGNATURE_BYTES_MAX),
            docstring: item.doc_comment.clone().unwrap_or_default(),
            body,
            ..Unit::default()
        };
        let qualified = unit.qualified_name();
        units.push(unit);
        if depth < DEPTH_MAX {
            add_items(&item.children, &qualified, lines, depth + 1, units);
        }
    }
}
