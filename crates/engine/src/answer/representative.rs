//! Chooses the unit that represents a file: the implementation, never a test inside it, a licence or a block of
//! imports, unless the query asks for one.

use colgrep_core::code_line::{is_comment, is_import, is_licence, is_of_head, opens_import, tells};
use colgrep_core::collapse::FileHit;
use colgrep_core::path::PathClass;
use colgrep_core::query::Query;
use colgrep_core::rank::RankedUnit;
use colgrep_core::spelling::NameFit;
use colgrep_core::token::{Tokenizer, is_word_char};
use colgrep_core::{Unit, UnitKind, UnitRole};
use colgrep_index::store::Snapshot;
use colgrep_search::is_test_inside;
use colgrep_syntax::read::{self, lines_between};

use crate::answer::FileAnswer;
use crate::answer::snippet::QueryWords;
use crate::error::Result;

/// Beginnings of query terms that ask for the head of a file (licence, imports, package).
const HEAD_TERMS: [&str; 8] = ["licens", "licenc", "copyright", "import", "includ", "requir", "modul", "packag"];
/// Number of words from which a comment's line explains something, rather than marking something for a tool.
const EXPLAINING_WORDS_MIN: usize = 4;
/// Least score of a unit that [`also_here`] counts, as a share of the file's.
const ALSO_SHARE: f32 = 0.5;

/// Maximum number of a file's units that are examined for an implementation, and for a replacement of a head left out
/// of a pack.
const LOOKED_AT_MAX: usize = 16;

/// The units shown of a file, whose text is in `file`. If the best is a test inside the file, or the file's head, the
/// best matching implementation comes before it, if there is one; it contains a word of the query, or the name that the
/// query is, if the best does. If the best lacks that name, a unit with it comes first. In a pack, heads that explain
/// nothing give way to the next units.
pub fn standing(
    (snapshot, answer, words): (&Snapshot, &colgrep_search::CorpusAnswer, &QueryWords),
    hit: &FileHit,
    file: &FileAnswer,
    is_packed: bool,
) -> Result<Vec<RankedUnit>> {
    let shown = with_name(snapshot, answer, words, hit, file)?;
    let shown = with_implementation(snapshot, answer, words, shown, file)?;
    if !is_packed || answer.files[hit.file].is_text || file.matching_lines.is_some() || asks_for_heads(&answer.query) {
        return Ok(shown);
    }
    without_heads(snapshot, answer, shown, &file.text)
}

/// The units of a hit. If the best lacks the name that the query is, or has it less exactly than another, the best that
/// has it comes before it.
fn with_name(
    snapshot: &Snapshot,
    answer: &colgrep_search::CorpusAnswer,
    words: &QueryWords,
    hit: &FileHit,
    file: &FileAnswer,
) -> Result<Vec<RankedUnit>> {
    let shown = hit.units.clone();
    let is_meant = shown[0].pointed_line.is_some() || file.matching_lines.is_some();
    let best = if is_meant { NameFit::Inside } else { words.fit_in(&file.text) };
    if best == NameFit::Inside {
        return Ok(shown);
    }
    let is_best = |unit: &RankedUnit| -> Result<bool> {
        Ok(fit_of(words, &snapshot.lexical.unit(unit.unit)?.unit(&[]), &file.text) == best)
    };
    if is_best(&shown[0])? {
        return Ok(shown);
    }
    for other in answer.units.iter().filter(|unit| unit.file == hit.file).take(LOOKED_AT_MAX) {
        if is_best(other)? {
            return Ok(with_first(shown, *other));
        }
    }
    Ok(shown)
}

/// How the lines of a unit hold the name that the query is.
fn fit_of(words: &QueryWords, unit: &Unit, text: &str) -> NameFit {
    own(unit, &lines_of(unit, text)).iter().map(|line| words.fit_in(line)).max().unwrap_or_default()
}

/// As many units, with this one first.
fn with_first(mut shown: Vec<RankedUnit>, first: RankedUnit) -> Vec<RankedUnit> {
    let count = shown.len();
    shown.retain(|unit| unit.unit != first.unit);
    shown.insert(0, first);
    shown.truncate(count);
    shown
}

fn with_implementation(
    snapshot: &Snapshot,
    answer: &colgrep_search::CorpusAnswer,
    words: &QueryWords,
    shown: Vec<RankedUnit>,
    file: &FileAnswer,
) -> Result<Vec<RankedUnit>> {
    let of_file = shown[0].file;
    let facts = &answer.files[of_file];
    let by_path = facts.is_text || facts.path_facts.class.has(PathClass::TEST);
    let is_meant = shown[0].pointed_line.is_some() || file.matching_lines.is_some();
    if by_path || is_meant || asks_for_others(&answer.query) {
        return Ok(shown);
    }
    let is_weak = |unit: &Unit| {
        is_test_inside(unit.role, &unit.parent, &file.language) || is_head(unit, || lines_of(unit, &file.text))
    };
    let best = snapshot.lexical.unit(shown[0].unit)?.unit(&[]);
    if !is_weak(&best) {
        return Ok(shown);
    }
    let has_word = |unit: &Unit| has_word(&answer.query, unit, &file.text);
    let (needs_word, fit) = (has_word(&best), fit_of(words, &best, &file.text));
    let others = answer.units.iter().filter(|unit| unit.file == of_file && is_implementation(unit));
    for other in others.take(LOOKED_AT_MAX) {
        let unit = snapshot.lexical.unit(other.unit)?.unit(&[]);
        if !is_weak(&unit) && (!needs_word || has_word(&unit)) && fit_of(words, &unit, &file.text) >= fit {
            return Ok(with_first(shown, *other));
        }
    }
    Ok(shown)
}

/// The units without heads that explain nothing and that the query does not point at; the file's next ranked units
/// replace them. The first unit always stays.
fn without_heads(
    snapshot: &Snapshot,
    answer: &colgrep_search::CorpusAnswer,
    shown: Vec<RankedUnit>,
    text: &str,
) -> Result<Vec<RankedUnit>> {
    let Some(first) = shown.first() else { return Ok(shown) };
    let is_other = |unit: &&RankedUnit| unit.file == first.file && shown.iter().all(|known| known.unit != unit.unit);
    let others = answer.units.iter().filter(is_other).take(LOOKED_AT_MAX);
    let mut kept = vec![*first];
    for unit in shown[1..].iter().chain(others) {
        if kept.len() == shown.len() {
            break;
        }
        let is_raw = unit.kind == UnitKind::RawCode && unit.pointed_line.is_none();
        if !is_raw || !is_bare(&snapshot.lexical.unit(unit.unit)?.unit(&[]), text) {
            kept.push(*unit);
        }
    }
    Ok(kept)
}

/// The parts of lines outside any definition, in a pack, without imports, unless the query asks for these. The line that
/// answers always stays. None where no line is an import.
pub fn parts_without_imports<E>(
    query: &Query,
    unit: &Unit,
    lines: &[&str],
    best: usize,
    imports: impl FnOnce() -> std::result::Result<Vec<String>, E>,
) -> std::result::Result<Vec<(u32, u32)>, E> {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    if unit.kind != UnitKind::RawCode || asks_for_heads(query) {
        return Ok(parts);
    }
    let (imports, mut are_any) = (imports()?, false);
    let own = own(unit, lines);
    for (number, is_import) in (unit.span.line..).zip(are_imports(own, &imports)) {
        are_any |= is_import;
        match parts.last_mut() {
            _ if is_import && number as usize != best => {}
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let line = |number: u32| lines.get(number as usize - 1).map_or("", |line| line.trim());
    let any = |(first, last): &(u32, u32), is: &dyn Fn(&str) -> bool| (*first..=*last).any(|number| is(line(number)));
    // What is left between imports may be blank, and all of it say nothing.
    parts.retain(|part| any(part, &|line| !line.is_empty()));
    let says = |line: &str| tells(line) && !is_of_head(line) && !line.starts_with("<?");
    if !explains(own) && !parts.iter().any(|part| any(part, &says)) {
        parts = vec![(best as u32, best as u32)];
    }
    Ok(if are_any { parts } else { Vec::new() })
}

/// Which of some lines are of an import, as the file has them, with the lines that go on in its brackets.
fn are_imports(lines: &[&str], imports: &[String]) -> Vec<bool> {
    let begun = |import: &String| import.lines().next().unwrap_or_default().trim().to_string();
    let begun: Vec<String> = imports.iter().map(begun).filter(|begun| !begun.is_empty()).collect();
    let (mut in_comment, mut depth) = (false, 0);
    let mut is_import = |line: &str| {
        // `require("a").setup({` uses what it imports.
        let ends = || begun.iter().any(|begun| line.trim_end_matches([';', ',']).ends_with(begun.as_str()));
        let (begins, goes_on) = (is_import(line), depth > 0);
        let is_import = !in_comment && !begun.is_empty() && (goes_on || begins || (!is_comment(line) && ends()));
        if goes_on || (begins && line.ends_with(['(', '{', '[']) && !line.contains('#')) {
            depth = (depth + opened(line)).max(0);
        }
        in_comment = goes_on_as_comment(in_comment, line);
        is_import
    };
    lines.iter().map(|line| is_import(line.trim())).collect()
}

/// Whether a unit is a head, and no comment of it explains anything.
fn is_bare(unit: &Unit, text: &str) -> bool {
    let lines = lines_of(unit, text);
    !explains(own(unit, &lines)) && is_head(unit, || lines)
}

/// The lines of a file as far as a unit reaches, by their numbers from 1.
fn lines_of<'t>(unit: &Unit, text: &'t str) -> Vec<&'t str> {
    lines_between(text, unit.span.line as usize, unit.span.end as usize, read::lines)
}

/// Those of them that are the unit's.
fn own<'l, 't>(unit: &Unit, lines: &'l [&'t str]) -> &'l [&'t str] {
    let (first, end) = (unit.span.line.max(1) as usize - 1, (unit.span.end as usize).min(lines.len()));
    lines.get(first..end).unwrap_or_default()
}

/// Whether a unit's own lines contain a word of the query.
fn has_word(query: &Query, unit: &Unit, text: &str) -> bool {
    let (lines, mut tokenizer, mut found) = (lines_of(unit, text), Tokenizer::default(), false);
    for line in own(unit, &lines) {
        tokenizer.tokenize_text(line, |token| found |= query.content_terms().any(|term| term.text == token.term));
    }
    found
}

/// Whether a query asks for tests or heads of files, so that the best unit is kept, whatever it is.
fn asks_for_others(query: &Query) -> bool {
    query.asks_for.contains(&PathClass::TEST) || asks_for_heads(query)
}

/// Whether a query asks for heads of files.
fn asks_for_heads(query: &Query) -> bool {
    query.terms.iter().any(|term| HEAD_TERMS.iter().any(|head| term.text.starts_with(head)))
}

/// Whether lines outside any definition contain nothing but comments, imports and brackets, and words before these
/// (`const (`).
fn is_head<'t>(unit: &Unit, lines: impl FnOnce() -> Vec<&'t str>) -> bool {
    if unit.kind != UnitKind::RawCode {
        return false;
    }
    let (mut in_comment, mut depth) = (false, 0);
    own(unit, &lines()).iter().map(|line| line.trim()).all(|line| {
        let goes_on = depth > 0 && !line.contains('=');
        let is_import = goes_on || opens_import(line);
        let is_head =
            in_comment || is_import || is_opener(line) || !line.contains(char::is_alphanumeric) || is_of_head(line);
        if is_import && !in_comment {
            depth += opened(line);
        }
        in_comment = goes_on_as_comment(in_comment, line);
        is_head
    })
}

/// Whether a line does nothing but open what others say.
fn is_opener(line: &str) -> bool {
    let word = line.strip_suffix(['(', '{', '[']);
    word.is_some_and(|word| word.trim_end().chars().all(is_word_char))
}

/// Number of brackets that a line opens beyond those that it closes.
fn opened(line: &str) -> i32 {
    let change = |c: char| match c {
        '(' | '{' | '[' => 1,
        ')' | '}' | ']' => -1,
        _ => 0,
    };
    line.chars().map(change).sum()
}

/// Whether a comment is still open at the end of a line.
fn goes_on_as_comment(in_comment: bool, line: &str) -> bool {
    (in_comment || line.starts_with("/*")) && !line.contains("*/")
}

/// Whether a comment among lines explains something, and none is a licence's.
fn explains(own: &[&str]) -> bool {
    let (mut in_comment, mut any) = (false, false);
    for line in own.iter().map(|line| line.trim()) {
        let words = line.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).count();
        any |= (in_comment || is_comment(line)) && words >= EXPLAINING_WORDS_MIN;
        in_comment = goes_on_as_comment(in_comment, line);
    }
    any && !own.iter().any(|line| is_licence(line))
}

/// Whether a unit may represent its file in place of a test or a head.
fn is_implementation(unit: &RankedUnit) -> bool {
    unit.kind.is_definition() && matches!(unit.role, UnitRole::Definition | UnitRole::Extension)
}

/// Number of a file's further matching units, without raw code: those with at least half the file's `score`. Units that
/// the query points at score far above all others; where one gave the file its score, the best unit of the corpus that
/// the query does not point at (`best`) is the measure.
pub fn also_here(all: &[RankedUnit], best: Option<f32>, file: usize, score: f32, shown: &[RankedUnit]) -> u64 {
    let measure = best.map_or(score, |best| best.min(score));
    let matches = |unit: &&RankedUnit| {
        unit.file == file
            && unit.score >= ALSO_SHARE * measure
            && unit.kind != UnitKind::RawCode
            && shown.iter().all(|s| s.unit != unit.unit)
    };
    all.iter().filter(matches).count() as u64
}

/// The best score of units that the query does not point at.
pub fn best_unpointed(all: &[RankedUnit]) -> Option<f32> {
    all.iter().filter(|unit| unit.pointed_line.is_none()).map(|unit| unit.score).reduce(f32::max)
}

#[cfg(test)]
mod tests {
    use colgrep_core::language::LanguageFacts;
    use colgrep_core::unit::Span;

    use super::*;

    #[test]
    fn heads_are_comments_imports_and_brackets() {
        for (text, expected) in [
            ("// Copyright\n\nuse std::fs;\n", true),
            ("/*\n Licensed under\n the terms\n*/\n#include <x.h>\n", true),
            ("/* one */\nint x = 1;\n", false),
            ("}\n#endif\n", true),
            ("import os\nprint(os)\n", false),
            ("main()\n", false),
            ("package a\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n)\n", true),
            ("use a::{\n    b::{c, d},\n    e,\n};\n", true),
            ("import {\n  a,\n} from './a';\nrun(a);\n", false),
            ("use constant {\n    LIMIT => 3,\n};\n", false),
            ("const (\n", true),
            (")\n", true),
            ("open(3) {\n", false),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let unit = Unit { span: Span { first: 1, line: 1, end: 9 }, ..Unit::default() };
            assert_eq!(is_head(&unit, || lines.clone()), expected, "{text}");
            assert!(!is_head(&Unit { kind: UnitKind::Function, ..unit }, || lines));
        }
    }

    #[test]
    fn a_comment_that_is_no_licence_explains() {
        for (text, expected) in [
            ("// Evicts entries by their age.\nuse std::fs;\n", true),
            ("/*\nThe reader wakes the matcher.\n*/\n", true),
            ("// Copyright 2020 The Authors of this\n// Evicts entries by their age.\n", false),
            ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport os\n", false),
            ("package a\n", false),
            (")\n", false),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(explains(&lines), expected, "{text}");
        }
    }

    #[test]
    fn imports_are_no_part_of_a_pack() {
        let go = ["package p", "", "// It throttles", "import (", "\t\"os\"", "\t\"time\"", ")", "", "var x = 1"];
        let js = ["const a = require(\"a\")", "app(a)", "import {", "  b,", "} from 'b'"];
        let sql = ["select a", "from b"];
        let facts = LanguageFacts::default();
        for (lines, imports, query, best, expected) in [
            (&go[..], &["\"os\"", "\"time\""][..], "throttle", 9, vec![(2, 3), (8, 9)]),
            (&go, &["\"os\"", "\"time\""], "throttle", 5, vec![(2, 3), (5, 5), (8, 9)]),
            (&go, &["\"os\"", "\"time\""], "what does it import", 5, vec![]),
            (&js, &["require(\"a\")", "import {\n  b,\n} from 'b'"], "app", 2, vec![(2, 2)]),
            (&js[2..], &["import {"], "app", 2, vec![(2, 2)]),
            (&go[..8], &["\"os\""], "os", 5, vec![(2, 3), (5, 5)]),
            (&sql, &[], "a of b", 1, vec![]),
        ] {
            let span = Span { first: 1, line: 1, end: lines.len() as u32 };
            let unit = Unit { kind: UnitKind::RawCode, span, ..Unit::default() };
            let imports = || Ok::<_, ()>(imports.iter().map(|import| (*import).to_string()).collect());
            let parts = parts_without_imports(
                &Query::new(query, "", &facts, &mut Tokenizer::default()),
                &unit,
                lines,
                best,
                imports,
            );
            assert_eq!(parts, Ok(expected), "{query} {best} {lines:?}");
        }
    }
}
