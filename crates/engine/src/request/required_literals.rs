//! The literals that a file needs so that a pattern can match in it.

use colgrep_index::signature::Needed;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::request::Pattern;

/// Maximum number of texts of a pattern that are looked up: for more, reading the files is as fast.
const TEXTS_MAX: usize = 256;
/// Longest text that is made of a repetition, in bytes.
const REPEATED_BYTES_MAX: usize = 64;

/// The literals that every matching file contains.
pub fn needed(pattern: &Pattern) -> Needed {
    // As ripgrep's engine joins them.
    let one = |text: &String| match pattern.fixed {
        true => format!("(?:{})", regex_syntax::escape(text)),
        false => format!("(?:{text})"),
    };
    let all: Vec<String> = pattern.expressions.iter().map(one).collect();
    let mut parser = ParserBuilder::new();
    // With smart case, both ways of reading match the same ASCII letters if case is ignored here.
    parser.utf8(false).multi_line(true).crlf(true).case_insensitive(pattern.ignore_case || pattern.smart_case);
    let Ok(hir) = parser.build().parse(&all.join("|")) else { return Needed::Nothing };
    let needed = of(&hir).needed();
    if texts(&needed) > TEXTS_MAX { Needed::Nothing } else { needed }
}

fn texts(needed: &Needed) -> usize {
    match needed {
        Needed::Nothing => 0,
        Needed::Text(_) => 1,
        Needed::All(parts) | Needed::Any(parts) => parts.iter().map(texts).sum(),
    }
}

/// What a part of a pattern matches.
enum PatternPart {
    /// This and nothing else, letters of ASCII in any case.
    Exactly(Vec<u8>),
    /// Other text too, but always including this.
    Holding(Needed),
}

impl PatternPart {
    fn needed(self) -> Needed {
        match self {
            PatternPart::Exactly(text) => Needed::Text(text),
            PatternPart::Holding(needed) => needed,
        }
    }
}

fn of(hir: &Hir) -> PatternPart {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => PatternPart::Exactly(Vec::new()),
        HirKind::Literal(literal) => text(&literal.0),
        HirKind::Class(class) => of_class(class),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Concat(parts) => joined(parts.iter().map(of)),
        HirKind::Alternation(parts) => {
            PatternPart::Holding(Needed::Any(parts.iter().map(|part| of(part).needed()).collect()))
        }
    }
}

/// A text as the searcher sees it: a NUL byte ends a line, and a line end may be two bytes.
fn text(bytes: &[u8]) -> PatternPart {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0);
    if bytes.iter().any(ends) {
        let parts = bytes.split(|byte| ends(byte)).map(|part| Needed::Text(part.to_vec()));
        return PatternPart::Holding(Needed::All(parts.collect()));
    }
    PatternPart::Exactly(bytes.to_vec())
}

/// A letter in any case is that letter; where other characters count as it too (`ſ` as `s`), or in other classes, nothing
/// is known.
fn of_class(class: &Class) -> PatternPart {
    let mut letters: Vec<u32> = match class {
        Class::Unicode(class) => class.iter().flat_map(|range| [range.start().into(), range.end().into()]).collect(),
        Class::Bytes(class) => class.iter().flat_map(|range| [range.start().into(), range.end().into()]).collect(),
    };
    // Ranges of one character alone.
    let single = letters.chunks_exact(2).all(|range| range[0] == range[1]);
    letters.dedup();
    let byte = |letter: u32| u8::try_from(letter).ok().filter(u8::is_ascii);
    let folded: Option<Vec<u8>> = letters.iter().map(|l| byte(*l).map(|b| b.to_ascii_lowercase())).collect();
    match folded.as_deref() {
        Some([first, rest @ ..]) if single && rest.iter().all(|other| other == first) => text(&[*first]),
        _ => PatternPart::Holding(Needed::Nothing),
    }
}

fn of_repetition(repetition: &Repetition) -> PatternPart {
    let Repetition { min, max, sub, .. } = repetition;
    if *min == 0 {
        return PatternPart::Holding(Needed::Nothing);
    }
    match of(sub) {
        PatternPart::Exactly(text) => {
            let times = (*min as usize).min(REPEATED_BYTES_MAX / text.len().max(1)).max(1);
            let repeated = text.repeat(times);
            match *max == Some(*min) && times == *min as usize {
                true => PatternPart::Exactly(repeated),
                false => PatternPart::Holding(Needed::Text(repeated)),
            }
        }
        holding => holding,
    }
}

/// Concatenated parts: neighbours that match one text alone become one text.
fn joined(parts: impl Iterator<Item = PatternPart>) -> PatternPart {
    let (mut run, mut all) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            PatternPart::Exactly(text) => run.extend(text),
            PatternPart::Holding(needed) => {
                all.push(Needed::Text(std::mem::take(&mut run)));
                all.push(needed);
            }
        }
    }
    if all.is_empty() {
        return PatternPart::Exactly(run);
    }
    all.push(Needed::Text(run));
    all.retain(|needed| !matches!(needed, Needed::Nothing) && *needed != Needed::Text(Vec::new()));
    PatternPart::Holding(Needed::All(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(needed: &Needed) -> String {
        let all = |parts: &[Needed], by: &str| format!("({})", parts.iter().map(told).collect::<Vec<_>>().join(by));
        match needed {
            Needed::Nothing => "?".to_string(),
            Needed::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Needed::All(parts) => all(parts, "&"),
            Needed::Any(parts) => all(parts, "|"),
        }
    }

    #[test]
    fn texts_of_patterns() {
        let regex = Pattern::new;
        let any_case = |text: &str| Pattern { ignore_case: true, ..Pattern::new(text) };
        let fixed = |text: &str| Pattern { fixed: true, ..Pattern::new(text) };
        let two = Pattern { expressions: vec!["abcd".into(), "e.f".into()], ..Pattern::default() };
        for (pattern, expected) in [
            (regex("hello world"), "hello world"),
            (regex(r"\bfn\s+parse_\w+\("), "(fn&parse_&()"),
            (regex("(abc|def)ghi"), "((abc|def)&ghi)"),
            (regex("ab?cdef"), "(a&cdef)"),
            (regex("(ab){3}c"), "abababc"),
            (regex("(ab)+c"), "(ab&c)"),
            (regex("x.*y"), "(x&y)"),
            (regex("a*"), "?"),
            (regex(""), ""),
            (regex("a|"), "(a|)"),
            (regex(r"(?i)Path"), "path"),
            (any_case("Path_To"), "path_to"),
            // A long s and the sign of Kelvin count as s and k.
            (any_case("backoffs"), "(bac&off)"),
            (any_case("straße"), "(tra&e)"),
            (fixed("a.b(c"), "a.b(c"),
            (two, "(abcd|(e&f))"),
            (regex("[ab]cdef"), "(cdef)"),
            (regex(r"one\ntwo"), "(one&two)"),
            (regex("("), "?"),
            (regex("abcd)|(?:efgh"), "(abcd|efgh)"),
        ] {
            assert_eq!(told(&needed(&pattern)), expected, "{:?}", pattern.expressions);
        }
        let many = Pattern { expressions: (0..300).map(|i| format!("word{i}x")).collect(), ..Pattern::default() };
        assert_eq!(needed(&many), Needed::Nothing);
    }
}
