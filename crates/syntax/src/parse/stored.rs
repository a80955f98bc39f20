//! A unit as an index stores it: without what can be recomputed from its file. Simple rules recompute 99 of 100
//! signatures, documentations and lists in the tuning repositories; others are stored whole.

use colgrep_core::entity::Entities;
use colgrep_core::{Span, Unit, UnitKind, UnitRole};
use serde::{Deserialize, Serialize};

use super::text::{clean_comment, depths, fold_space, push_line, split_list, truncate};
use super::{LINE_BYTES_MAX, LIST_LEN_MAX, SIGNATURE_BYTES_MAX};
use crate::read::{self, lines_between};

/// Maximum documentation of a unit that is shown, in bytes. All of it is searched.
const SHOWN_DOCSTRING_BYTES_MAX: usize = 8_000;
/// Maximum of lines above a signature (attributes), and before a documentation inside a unit.
const SKIPPED_MAX: u8 = 16;
const DOCSTRING_LINES_AHEAD: u32 = 64;
/// Maximum of lines where a documentation may begin.
const DOCSTRING_PLACES_MAX: usize = 8;
/// Maximum of bracketed groups in a signature that may be its parameters.
const GROUPS_MAX: u8 = 4;

/// A unit without what its file provides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredUnit {
    /// As in a [`Unit`].
    pub kind: UnitKind,
    /// As in a [`Unit`].
    pub role: UnitRole,
    /// As in a [`Unit`].
    pub name: String,
    /// As in a [`Unit`].
    pub parent: String,
    /// As in a [`Unit`]; empty if the index has it elsewhere.
    pub span: Span,
    signature: Signature,
    docstring: Docstring,
    parameters: Parameters,
    return_type: ReturnType,
    calls: Names,
    variables: Names,
    extends: Vec<String>,
    features: Vec<String>,
    tags: Vec<String>,
    body: String,
    keywords: Vec<String>,
    entities: Entities,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Signature {
    Whole(String),
    /// The definition's first line.
    Line,
    /// The same without the opening of its body.
    Head,
    /// This many bytes of the lines from one on, white space folded.
    Part {
        skipped: u8,
        start: u8,
        length: u16,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Docstring {
    Whole(String),
    /// All lines above the definition.
    Above {
        is_xml: bool,
    },
    /// This many lines, after skipping some from the unit's first.
    Lines {
        skipped: u16,
        count: u16,
        is_xml: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Parameters {
    Whole(Vec<String>),
    /// A bracketed group of the signature, by number.
    Group(u8),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ReturnType {
    Whole(String),
    /// This many bytes at the beginning of the signature.
    First(u8),
    /// This many at its end.
    Last(u8),
    Part {
        start: u16,
        length: u8,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Names {
    Whole(Vec<String>),
    /// Words of the unit's lines: the number of words between each and the previous one.
    Words(Vec<u16>),
}

impl Default for Signature {
    fn default() -> Signature {
        Signature::Whole(String::new())
    }
}

impl Default for Docstring {
    fn default() -> Docstring {
        Docstring::Whole(String::new())
    }
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters::Whole(Vec::new())
    }
}

impl Default for ReturnType {
    fn default() -> ReturnType {
        ReturnType::Whole(String::new())
    }
}

impl Default for Names {
    fn default() -> Names {
        Names::Whole(Vec::new())
    }
}

impl StoredUnit {
    /// The stored form of a unit, without its body and what the lines of its file provide (the first one first). The
    /// documentation is cut to what is shown.
    pub fn of(unit: &Unit, lines: &[&str]) -> StoredUnit {
        let span = unit.span;
        StoredUnit {
            kind: unit.kind,
            role: unit.role,
            name: unit.name.clone(),
            parent: unit.parent.clone(),
            span,
            signature: Signature::of(&unit.signature, span, lines),
            docstring: Docstring::of(&unit.docstring, span, lines),
            parameters: Parameters::of(&unit.parameters, &unit.signature),
            return_type: ReturnType::of(&unit.return_type, &unit.signature),
            calls: Names::of(&unit.calls, span, lines),
            variables: Names::of(&unit.variables, span, lines),
            extends: unit.extends.clone(),
            features: unit.features.clone(),
            tags: unit.tags.clone(),
            body: String::new(),
            keywords: unit.keywords.clone(),
            entities: unit.entities.clone(),
        }
    }

    /// A unit without a file: stored whole, with its body.
    pub fn whole(unit: &Unit) -> StoredUnit {
        let unit = unit.clone();
        StoredUnit {
            kind: unit.kind,
            role: unit.role,
            name: unit.name,
            parent: unit.parent,
            span: unit.span,
            signature: Signature::Whole(unit.signature),
            docstring: Docstring::Whole(unit.docstring),
            parameters: Parameters::Whole(unit.parameters),
            return_type: ReturnType::Whole(unit.return_type),
            calls: Names::Whole(unit.calls),
            variables: Names::Whole(unit.variables),
            extends: unit.extends,
            features: unit.features,
            tags: unit.tags,
            body: unit.body,
            keywords: unit.keywords,
            entities: unit.entities,
        }
    }

    /// Units of one file, with its text as indexed; if that is empty, so is what it would provide.
    pub fn units(stored: Vec<StoredUnit>, text: &str) -> Vec<Unit> {
        let first = stored.iter().map(|unit| unit.span.first.min(unit.span.line)).min().unwrap_or_default();
        let end = stored.iter().map(|unit| unit.span.end).max().unwrap_or_default();
        let lines = lines_between(text, first as usize, end as usize, read::lines);
        stored.into_iter().map(|unit| unit.unit(&lines)).collect()
    }

    /// Restores one unit from the lines of its file, the first one first; those outside the unit may be empty.
    pub fn unit(self, lines: &[&str]) -> Unit {
        let span = self.span;
        let signature = self.signature.text(span, lines);
        Unit {
            kind: self.kind,
            role: self.role,
            name: self.name,
            parent: self.parent,
            span,
            docstring: self.docstring.text(span, lines),
            parameters: self.parameters.list(&signature),
            return_type: self.return_type.text(&signature),
            extends: self.extends,
            calls: self.calls.list(span, lines),
            variables: self.variables.list(span, lines),
            features: self.features,
            tags: self.tags,
            body: self.body,
            keywords: self.keywords,
            entities: self.entities,
            signature,
        }
    }
}

/// A line by its number, cut to what the rules look at.
fn line<'t>(lines: &[&'t str], number: u32) -> &'t str {
    let line = lines.get((number as usize).wrapping_sub(1)).copied().unwrap_or_default();
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

impl Signature {
    fn of(signature: &str, span: Span, lines: &[&str]) -> Signature {
        let tells = |rule: &Signature| rule.text(span, lines) == signature;
        if signature.is_empty() {
            return Signature::default();
        }
        if let Some(rule) = [Signature::Head, Signature::Line].into_iter().find(tells) {
            return rule;
        }
        let first = signature.split(' ').next().unwrap_or_default();
        let part = |skipped: u8| {
            let number = span.line.checked_add(u32::from(skipped)).filter(|number| *number <= span.end)?;
            let at = fold_space(line(lines, number), SIGNATURE_BYTES_MAX).find(first)?;
            let (start, length) = (at.try_into().ok()?, signature.len().try_into().ok()?);
            Some(Signature::Part { skipped, start, length }).filter(tells)
        };
        (0..SKIPPED_MAX).find_map(part).unwrap_or_else(|| Signature::Whole(signature.to_string()))
    }

    fn text(self: &Signature, span: Span, lines: &[&str]) -> String {
        let own = line(lines, span.line);
        match self {
            Signature::Whole(text) => text.clone(),
            Signature::Line => fold_space(own, SIGNATURE_BYTES_MAX),
            Signature::Head => fold_space(own.trim_end().trim_end_matches(['{', ':', '=', ';']), SIGNATURE_BYTES_MAX),
            Signature::Part { skipped, start, length } => {
                let (start, end) = (usize::from(*start), usize::from(*start) + usize::from(*length));
                let mut folded = String::new();
                let numbers = span.line.saturating_add(u32::from(*skipped))..=span.end;
                for word in numbers.flat_map(|number| line(lines, number).split_whitespace()) {
                    if folded.len() >= end {
                        break;
                    }
                    if !folded.is_empty() {
                        folded.push(' ');
                    }
                    folded.push_str(word);
                }
                folded.get(start..end).unwrap_or_default().to_string()
            }
        }
    }
}

impl Docstring {
    fn of(docstring: &str, span: Span, lines: &[&str]) -> Docstring {
        let shown = &docstring[..docstring.floor_char_boundary(SHOWN_DOCSTRING_BYTES_MAX)];
        let Some(first) = shown.lines().next() else { return Docstring::default() };
        let tells = |rule: &Docstring| rule.text(span, lines) == shown;
        let above = [false, true].map(|is_xml| Docstring::Above { is_xml });
        if let Some(rule) = above.into_iter().find(tells) {
            return rule;
        }
        let last = span.end.min(span.line.saturating_add(DOCSTRING_LINES_AHEAD));
        let begins = |number: &u32| line(lines, *number).contains(first);
        let found = (span.first..=last).filter(begins).take(DOCSTRING_PLACES_MAX).find_map(|number| {
            let rule = |is_xml: bool| {
                let (mut text, mut end) = (String::new(), number);
                while end <= span.end && text.len() < shown.len() && shown.starts_with(&text) {
                    push_line(&mut text, &clean_comment(line(lines, end), is_xml));
                    end += 1;
                }
                let (skipped, count) = ((number - span.first).try_into().ok()?, (end - number).try_into().ok()?);
                Some(Docstring::Lines { skipped, count, is_xml }).filter(tells)
            };
            [false, true].into_iter().find_map(rule)
        });
        found.unwrap_or_else(|| Docstring::Whole(shown.to_string()))
    }

    fn text(&self, span: Span, lines: &[&str]) -> String {
        let (first, count, is_xml) = match self {
            Docstring::Whole(text) => return text.clone(),
            Docstring::Above { is_xml } => (span.first, span.line.saturating_sub(span.first), *is_xml),
            Docstring::Lines { skipped, count, is_xml } => {
                (span.first.saturating_add(u32::from(*skipped)), u32::from(*count), *is_xml)
            }
        };
        let mut text = String::new();
        for number in first..first.saturating_add(count).min(span.end.saturating_add(1)) {
            if text.len() > SHOWN_DOCSTRING_BYTES_MAX {
                break;
            }
            push_line(&mut text, &clean_comment(line(lines, number), is_xml));
        }
        truncate(&mut text, SHOWN_DOCSTRING_BYTES_MAX);
        text
    }
}

impl Parameters {
    fn of(parameters: &[String], signature: &str) -> Parameters {
        let tells = |rule: &Parameters| rule.list(signature) == parameters;
        match parameters {
            [] => Parameters::default(),
            _ => (0..GROUPS_MAX)
                .map(Parameters::Group)
                .find(tells)
                .unwrap_or_else(|| Parameters::Whole(parameters.to_vec())),
        }
    }

    fn list(&self, signature: &str) -> Vec<String> {
        match self {
            Parameters::Whole(list) => list.clone(),
            Parameters::Group(number) => {
                let group = group(signature, *number).unwrap_or_default();
                split_list(group).into_iter().take(LIST_LEN_MAX).collect()
            }
        }
    }
}

/// The group in round brackets in a signature, brackets included, by number; nested ones do not count.
fn group(signature: &str, number: u8) -> Option<&str> {
    let (mut start, mut seen) = (None, 0);
    for (at, c, depth) in depths(signature) {
        match (c, depth, start) {
            ('(', 1, None) => start = Some(at),
            (')', 0, Some(from)) if seen == number => return Some(&signature[from..=at]),
            (')', 0, Some(_)) => (start, seen) = (None, seen + 1),
            _ => {}
        }
    }
    None
}

impl ReturnType {
    fn of(text: &str, signature: &str) -> ReturnType {
        let rule = || {
            let start = signature.rfind(text)?;
            let length = text.len().try_into().ok()?;
            Some(match start {
                0 => ReturnType::First(length),
                _ if start + text.len() == signature.len() => ReturnType::Last(length),
                _ => ReturnType::Part { start: start.try_into().ok()?, length },
            })
        };
        match text {
            "" => ReturnType::default(),
            _ => rule().unwrap_or_else(|| ReturnType::Whole(text.to_string())),
        }
    }

    fn text(&self, signature: &str) -> String {
        let (start, length) = match self {
            ReturnType::Whole(text) => return text.clone(),
            ReturnType::First(length) => (0, *length),
            ReturnType::Last(length) => (signature.len().saturating_sub(usize::from(*length)), *length),
            ReturnType::Part { start, length } => (usize::from(*start), *length),
        };
        signature.get(start..start + usize::from(length)).unwrap_or_default().to_string()
    }
}

impl Names {
    fn of(names: &[String], span: Span, lines: &[&str]) -> Names {
        let mut words = words(span, lines);
        // A name that is not a word, or does not occur after the previous one: the names are stored whole.
        let mut gap = |name: &String| words.position(|word| word == name).and_then(|gap| gap.try_into().ok());
        match names {
            [] => Names::default(),
            _ => match names.iter().map(&mut gap).collect() {
                Some(gaps) => Names::Words(gaps),
                None => Names::Whole(names.to_vec()),
            },
        }
    }

    fn list(&self, span: Span, lines: &[&str]) -> Vec<String> {
        match self {
            Names::Whole(names) => names.clone(),
            Names::Words(gaps) => {
                let mut words = words(span, lines);
                gaps.iter().map_while(|gap| words.nth(usize::from(*gap))).map(str::to_string).collect()
            }
        }
    }
}

/// Whether a byte is part of a word: all bytes of characters beyond ASCII are.
const IS_WORD: [bool; 256] = {
    let mut is_word = [true; 256];
    let mut byte = 0;
    while byte < 128 {
        is_word[byte] = byte as u8 == b'_' || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    is_word
};

/// The words of a unit's lines.
fn words<'t>(span: Span, lines: &[&'t str]) -> impl Iterator<Item = &'t str> {
    (span.line..=span.end).flat_map(move |number| words_of_line(line(lines, number)))
}

fn words_of_line(line: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_word = |byte: &u8| IS_WORD[usize::from(*byte)];
        let bytes = line.as_bytes();
        let start = at + bytes[at..].iter().position(is_word)?;
        at = bytes[start..].iter().position(|byte| !is_word(byte)).map_or(bytes.len(), |length| start + length);
        Some(&line[start..at])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
/// Pushes a value.
/// Waits for room.
#[inline]
pub fn push<T: Fn(u8)>(
    self: &mut Ring<T>,
    value: T,
) -> Option<usize> {
    let at = self.index(value);
    \"\"\"A text inside.\"\"\"
    at.wait()
}
";

    fn unit() -> Unit {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_string()).collect::<Vec<_>>();
        Unit {
            kind: UnitKind::Method,
            name: "push".into(),
            parent: "Ring".into(),
            span: Span { first: 1, line: 3, end: 11 },
            signature: "fn push<T: Fn(u8)>( self: &mut Ring<T>, value: T, ) -> Option<usize>".into(),
            docstring: "Pushes a value.\nWaits for room.".into(),
            parameters: list(&["self: &mut Ring<T>", "value: T"]),
            return_type: "Option<usize>".into(),
            calls: list(&["index", "wait"]),
            variables: list(&["at"]),
            ..Unit::default()
        }
    }

    #[test]
    fn what_the_lines_of_a_file_tell_is_not_stored() {
        let lines: Vec<&str> = TEXT.lines().collect();
        let stored = StoredUnit::of(&unit(), &lines);
        assert_eq!(stored.signature, Signature::Part { skipped: 1, start: 4, length: 68 });
        assert_eq!(stored.docstring, Docstring::Above { is_xml: false });
        assert_eq!(stored.parameters, Parameters::Group(0));
        assert_eq!(stored.return_type, ReturnType::Last(13));
        assert_eq!(stored.calls, Names::Words(vec![18, 5]));
        assert_eq!(StoredUnit::units(vec![stored.clone()], TEXT), [unit()]);
        // Without the file, only the stored fields are there.
        let bare = stored.unit(&[]);
        assert_eq!((bare.name.as_str(), bare.parent.as_str(), bare.span), ("push", "Ring", unit().span));
        assert!(bare.signature.is_empty() && bare.docstring.is_empty() && bare.calls.is_empty());
    }

    #[test]
    fn what_they_would_tell_wrongly_is_stored_whole() {
        let other = Unit { signature: "fn pop()".into(), docstring: "Another.".into(), ..unit() };
        let other = Unit { calls: vec!["a.b".into()], return_type: "Box".into(), ..other };
        let lines: Vec<&str> = TEXT.lines().collect();
        let stored = StoredUnit::of(&other, &lines);
        assert_eq!(stored.signature, Signature::Whole("fn pop()".into()));
        assert_eq!(stored.unit(&lines), other);
        let inner = Unit { docstring: "A text inside.".into(), ..unit() };
        let stored = StoredUnit::of(&inner, &lines);
        assert_eq!(stored.docstring, Docstring::Lines { skipped: 8, count: 1, is_xml: false });
        let long = Unit { docstring: "word ".repeat(4_000), body: "a body".into(), ..unit() };
        let shown = StoredUnit::of(&long, &lines).unit(&lines);
        assert_eq!((shown.docstring.len(), shown.body.as_str()), (SHOWN_DOCSTRING_BYTES_MAX, ""));
        assert_eq!(StoredUnit::whole(&long).unit(&[]), long);
    }

    proptest! {
        #[test]
        fn a_unit_comes_back_as_it_was(
            text in "([ab(){}é/ :,\t-]{0,12}\n){0,12}",
            mut span in prop::array::uniform3(1u32..14),
            [signature, docstring, return_type] in prop::array::uniform3("[ab() é:-]{0,9}"),
            [parameters, calls, variables] in prop::array::uniform3(prop::collection::vec("[abé()]{0,3}", 0..3)),
        ) {
            span.sort_unstable();
            let [first, line, end] = span;
            let span = Span { first, line, end };
            let unit = Unit { span, signature, docstring, return_type, parameters, calls, variables, ..Unit::default() };
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(StoredUnit::units(vec![StoredUnit::of(&unit, &lines)], &text), [unit]);
        }
    }
}
