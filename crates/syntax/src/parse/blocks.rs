//! Blocks of the lines outside definitions.

use colgrep_core::{Span, Unit, UnitKind};

use super::BLOCK_LINES;
use super::lines::{Lines, cut_behind};
use crate::language::{Category, Language};

/// Covers the remaining lines with blocks.
pub(super) fn add_blocks(units: &mut Vec<Unit>, lines: &Lines<'_>, language: &Language) {
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

pub(super) fn block_kind(language: &Language) -> UnitKind {
    if language.category == Category::Prose { UnitKind::Document } else { UnitKind::RawCode }
}

/// Adds blocks for the lines `first..end` (`end` excluded), blank lines at their edges left out.
pub(super) fn add_blocks_between(first: u32, end: u32, lines: &Lines<'_>, kind: UnitKind, blocks: &mut Vec<Unit>) {
    let mut at = first;
    while at < end {
        if lines.is_blank(at) {
            at += 1;
            continue;
        }
        let limit = match kind {
            UnitKind::Document if end > at + BLOCK_LINES => {
                cut_behind(at, at + BLOCK_LINES - 1, end - 1, |line| lines.line(line)) + 1
            }
            _ => end.min(at + BLOCK_LINES),
        };
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

pub(super) fn blocks_only(text: &str, language: &Language) -> Vec<Unit> {
    let mut units = Vec::new();
    add_blocks(&mut units, &Lines::new(text), language);
    units
}
