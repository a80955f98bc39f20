//! Definitions that a grammar could not read, by their first lines: `fn NAME(`, `class … NAME {`. They count in texts
//! with syntax errors or without a parse, on lines of no other definition.

use std::ops::Range;

use colgrep_core::{UnitKind, UnitRole};

use super::LINE_BYTES_MAX;
use super::collect::{Definition, FileCaptures, What};
use super::lines::{Bytes, Lines};
use crate::language::Language;

/// Words that may precede a keyword.
const MODIFIERS: [&str; 29] = [
    "pub",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "async",
    "unsafe",
    "inline",
    "virtual",
    "sealed",
    "partial",
    "open",
    "override",
    "data",
    "case",
    "implicit",
    "suspend",
    "fileprivate",
    "readonly",
    "extern",
    "const",
    "constexpr",
    "new",
    "local",
];
/// Keywords of types that a body follows. The others (`typedef`, `namespace`, `type`) put another name first.
const TYPES: [&str; 9] = ["class", "struct", "enum", "trait", "interface", "protocol", "object", "union", "record"];
/// Words that a condition in brackets follows.
const STATEMENTS: [&str; 4] = ["for", "if", "switch", "while"];
/// Lines after a type's name that may have its bracket.
const BRACKET_LINES: usize = 4;
/// Pattern number of these definitions: after those of every query.
const PATTERN: usize = usize::MAX;

/// What a line declares: whether it is a type, and where in the line its name is.
#[derive(Debug, PartialEq)]
struct Announced {
    is_type: bool,
    name: Range<usize>,
}

/// Adds the definitions that lines declare and that no capture has.
pub(super) fn add(found: &mut FileCaptures, lines: &Lines<'_>, language: &Language) {
    let taken = Taken::new(found, lines);
    let mut inside = Inside::default();
    // Those whose last line is not yet known, outermost first: indentation and position.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut added: Vec<(u32, u32, Announced)> = Vec::new();
    let mut last_text = 0;
    for number in 1..=lines.count() {
        let line = lines.line(number);
        let word = line.trim();
        if word.is_empty() {
            continue;
        }
        let is_code = inside.next(word);
        let indentation = indentation_of(line);
        if is_code && !goes_on(word) {
            while let Some((_, at)) = open.pop_if(|(outer, _)| indentation <= *outer) {
                let closes =
                    added[at].0 < number && closes(word) && indentation == indentation_of(lines.line(added[at].0));
                added[at].1 = if closes { number } else { last_text };
            }
        }
        last_text = number;
        if !is_code || line.len() > LINE_BYTES_MAX || taken.has(number) {
            continue;
        }
        let Some(announced) = announced(line, language) else { continue };
        if announced.is_type && !has_body(lines, number, language) {
            continue;
        }
        // The content of a function belongs to it.
        if open.iter().any(|(_, at)| !added[*at].2.is_type) {
            continue;
        }
        open.push((indentation, added.len()));
        added.push((number, number, announced));
    }
    open.iter().for_each(|(_, at)| added[*at].1 = last_text);
    let definitions = added.into_iter().filter_map(|(first, end, announced)| {
        let end = taken.cut(first, end);
        let line = lines.bytes(first, first);
        let text = lines.line(first);
        let start = line.start + indentation_of(text);
        let last = lines.bytes(first, end.max(first));
        let end = last.start + lines.text[last.clone()].trim_end().len();
        let what = if announced.is_type { UnitKind::Class } else { UnitKind::Function };
        let what = What::Unit(what, UnitRole::Definition);
        let name = line.start + announced.name.start..line.start + announced.name.end;
        (end > start).then(|| Definition {
            body: Some((line.start + text.trim_end().len()).min(end)..end),
            ..Definition::new(what, PATTERN, start..end, name)
        })
    });
    found.definitions.extend(definitions);
}

/// Drops the variables of functions that the grammar could not read: statements that are indented and in no type or
/// namespace. No function is named like a statement.
pub(super) fn drop_locals(found: &mut FileCaptures, lines: &Lines<'_>) {
    let containers = found.definitions.iter().filter(|definition| definition.what.is_container());
    let mut containers: Vec<Bytes> = containers.map(|definition| definition.bytes.clone()).collect();
    containers.sort_by_key(|bytes| (bytes.start, bytes.end));
    // The outermost, so that one of them decides.
    let mut end = 0;
    containers.retain(|bytes| {
        let is_outermost = bytes.end > end;
        end = end.max(bytes.end);
        is_outermost
    });
    found.definitions.retain(|definition| {
        let Range { start, end } = definition.bytes;
        let text = &lines.text[start..end];
        if definition.what.is_callable() && STATEMENTS.contains(&&lines.text[definition.name.clone()]) {
            return false;
        }
        let is_variable = matches!(definition.what, What::Unit(UnitKind::Constant, _)) && text.ends_with(';');
        let is_indented = lines.text[..start].ends_with([' ', '\t']);
        let is_inside = || containers[..containers.partition_point(|bytes| bytes.start <= start)].last();
        !is_variable
            || !is_indented
            || text.starts_with("typedef")
            || is_inside().is_some_and(|bytes| bytes.end >= end && *bytes != definition.bytes)
    });
}

/// Bytes of blank space before a line's text.
fn indentation_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line indented like a definition's first still belongs to the definition: brackets that open or continue,
/// labels, lines of the preprocessor.
fn goes_on(word: &str) -> bool {
    word.starts_with(['{', ')', ']', '#', ':', '<'])
        || matches!(word, "public:" | "private:" | "protected:" | "signals:" | "where")
}

/// Whether a line indented like a definition's first is its last.
fn closes(word: &str) -> bool {
    word.starts_with('}') || word == "end" || word.starts_with("end ") || word.starts_with("end;")
}

/// Whether a type's body begins on its line or soon after it.
fn has_body(lines: &Lines<'_>, number: u32, language: &Language) -> bool {
    if !language.types_need_brackets || lines.line(number).contains('{') {
        return true;
    }
    let behind = (number + 1..=lines.count()).map(|n| lines.line(n).trim());
    let mut behind = behind.filter(|line| !line.starts_with('#')).take(BRACKET_LINES);
    behind
        .find(|line| line.starts_with('{') || line.ends_with('{') || line.ends_with(';'))
        .is_some_and(|line| !line.ends_with(';'))
}

/// The lines that other definitions cover.
struct Taken {
    /// First line of the name's line and last line of callables and constants, sorted.
    leaves: Vec<(u32, u32)>,
    /// Lines with names, sorted.
    names: Vec<u32>,
    /// First and last lines of all, by first line.
    all: Vec<(u32, u32)>,
}

impl Taken {
    fn new(found: &FileCaptures, lines: &Lines<'_>) -> Taken {
        let span = |d: &Definition| (lines.line_of(d.bytes.start), lines.end_line(&d.bytes));
        let is_leaf = |d: &&Definition| !d.what.is_container();
        let mut leaves: Vec<(u32, u32)> = found.definitions.iter().filter(is_leaf).map(span).collect();
        leaves.sort_unstable();
        // The furthest end so far, so that one lookup tells whether a line is in any leaf.
        let mut furthest = 0;
        leaves.iter_mut().for_each(|leaf| {
            furthest = furthest.max(leaf.1);
            leaf.1 = furthest;
        });
        let mut names: Vec<u32> = found.definitions.iter().map(|d| lines.line_of(d.name.start)).collect();
        names.sort_unstable();
        let mut all: Vec<(u32, u32)> = found.definitions.iter().map(span).collect();
        all.sort_unstable();
        Taken { leaves, names, all }
    }

    /// Whether a line names a definition or is inside one without members.
    fn has(&self, line: u32) -> bool {
        if self.names.binary_search(&line).is_ok() {
            return true;
        }
        let before = self.leaves.partition_point(|leaf| leaf.0 <= line);
        before > 0 && self.leaves[before - 1].1 >= line
    }

    /// The last line of a definition from `first` to `end`, cut so that it does not partly overlap another.
    fn cut(&self, first: u32, end: u32) -> u32 {
        let from = self.all.partition_point(|one| one.0 <= first);
        let across = self.all[from..].iter().take_while(|one| one.0 <= end).find(|one| one.1 > end);
        let end = across.map_or(end, |one| one.0 - 1);
        let around = self.all[..from].iter().filter(|one| one.0 < first && one.1 >= first).map(|one| one.1);
        around.min().map_or(end, |outer| end.min(outer))
    }
}

/// Whether lines are inside a comment or a text of several lines.
#[derive(Default)]
struct Inside {
    comment: bool,
    text: Option<&'static str>,
}

impl Inside {
    /// Processes a line; returns whether it is code.
    fn next(&mut self, word: &str) -> bool {
        if let Some(quotes) = self.text {
            if word.contains(quotes) {
                self.text = None;
            }
            return false;
        }
        let was = self.comment;
        if word.starts_with("/*") || was {
            self.comment = !word.contains("*/");
            return !was && !word.starts_with("/*");
        }
        self.text = ["\"\"\"", "'''"].into_iter().find(|quotes| word.matches(quotes).count() % 2 == 1);
        !["//", "*", "--", "#"].iter().any(|mark| word.starts_with(mark)) || word.starts_with("#[")
    }
}

/// The declaration on a line, if any.
fn announced(line: &str, language: &Language) -> Option<Announced> {
    let mut at = indentation_of(line);
    let mut is_type = false;
    loop {
        let word = word_at(line, at);
        let behind = at + word.len();
        let is_function = language.function_keywords.contains(&word);
        let is_keyword = is_function || TYPES.contains(&word) && language.type_keywords.contains(&word);
        if !is_keyword {
            // `pub(crate)`, `[[nodiscard]]` and the like are skipped with the word before them.
            if is_type || !MODIFIERS.contains(&word) {
                break;
            }
            at = behind_space(line, behind_brackets(line, behind));
            continue;
        }
        if !line[behind..].starts_with([' ', '\t', '*']) {
            break;
        }
        at = behind_space(line, behind);
        if is_function {
            return function_name(line, at).map(|name| Announced { is_type: false, name });
        }
        is_type = true;
    }
    if is_type { type_name(line, at).map(|name| Announced { is_type: true, name }) } else { None }
}

/// The name of a function after its keyword: after Go's receiver, or the last before the brackets.
fn function_name(line: &str, at: usize) -> Option<Range<usize>> {
    let mut at = behind_space(line, at + line[at..].len() - line[at..].trim_start_matches('*').len());
    if line[at..].starts_with('(') {
        at = behind_space(line, behind_brackets(line, at));
    }
    let open = at + line[at..].find('(')?;
    let word = word_at(line, at);
    let behind = line[at + word.len()..].trim_start();
    if !word.is_empty() && behind.starts_with(['(', '[']) {
        return Some(at..at + word.len());
    }
    // `read<'a>(`, and Kotlin's `<T> Collection<T>.joinAll(`.
    let head = &line[at..open];
    let dotted = head.rfind('.').filter(|dot| head[*dot..].chars().skip(1).all(is_word));
    match dotted {
        Some(dot) if open > at + dot + 1 => Some(at + dot + 1..open),
        _ if !word.is_empty() && behind.starts_with('<') => Some(at..at + word.len()),
        _ if word.is_empty() && head.starts_with('<') => {
            let last = head.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
            (!last.is_empty()).then(|| open - last.len()..open)
        }
        _ => None,
    }
}

/// The name of a type after its keyword and any attributes in upper case.
fn type_name(line: &str, mut at: usize) -> Option<Range<usize>> {
    let code = line.split("//").next().unwrap_or_default().trim_end();
    loop {
        let word = word_at(code, at);
        if word.is_empty() {
            if code.get(at..)?.starts_with("[[") {
                at = behind_space(code, at + code[at..].find("]]")? + 2);
                continue;
            }
            return None;
        }
        let behind = behind_space(code, behind_brackets(code, at + word.len()));
        let is_attribute = word.contains('_') && !word.chars().any(char::is_lowercase);
        let next = word_at(code, behind);
        if is_attribute && (code[behind..].starts_with("[[") || !next.is_empty() && next != "final") {
            at = behind;
            continue;
        }
        // `struct Outer::Inner {`: the last part names it.
        let mut name = at..at + word.len();
        while let Some(separator) = ["::", "."].into_iter().find(|s| code[name.end..].starts_with(s)) {
            let next = name.end + separator.len();
            let part = word_at(code, next);
            if part.is_empty() {
                break;
            }
            name = next..next + part.len();
        }
        let tail = &code[name.end..];
        let is_head = !tail.contains([';', '=']) && (tail.contains('{') || !tail.contains([',', '(', ')']));
        return (is_head && !code[name.clone()].starts_with(|c: char| c.is_ascii_digit())).then_some(name);
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_at(line: &str, at: usize) -> &str {
    let rest = line.get(at..).unwrap_or_default();
    &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
}

fn behind_space(line: &str, at: usize) -> usize {
    line.len() - line[at..].trim_start().len()
}

/// The end of a pair of round brackets, if one opens there.
fn behind_brackets(line: &str, at: usize) -> usize {
    if !line[at..].starts_with('(') {
        return at;
    }
    let mut depth = 0;
    for (i, byte) in line.bytes().enumerate().skip(at) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return i + 1,
            b')' => depth -= 1,
            _ => {}
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::{LANGUAGES, by_name};
    use crate::parse::parse;

    /// Pieces of first lines, and multi-byte characters.
    const PIECES: [&str; 24] = [
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        ".",
        "::",
        ":",
        ",",
        ";",
        "=",
        "*",
        "//",
        " ",
        "a",
        "B_C",
        "final",
        "\u{fffd}",
        "é",
        "\u{1f980}",
    ];

    proptest! {
        #[test]
        fn a_name_is_whole_characters_of_its_line(
            language in 0..LANGUAGES.len(),
            keyword in any::<prop::sample::Index>(),
            rest in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..12),
        ) {
            let language = &LANGUAGES[language];
            let keywords: Vec<&str> = language.keywords().chain(["fn"]).collect();
            let line = format!("{} {}", keyword.get(&keywords), rest.concat());
            if let Some(found) = announced(&line, language) {
                prop_assert!(line.get(found.name.clone()).is_some_and(|name| !name.is_empty()), "{line}: {:?}", found.name);
            }
        }
    }

    #[test]
    fn first_lines_announce_names() {
        for (language, line, expected) in [
            ("rust", "    pub(crate) async fn read<'a>(&'a mut self) -> u8 {", "read"),
            ("rust", "pub trait AsyncReadExt: AsyncRead {", "AsyncReadExt"),
            ("rust", "let fn_name = 1;", ""),
            ("bash", "functional(x)", ""),
            ("bash", "function __bold() {", "__bold"),
            ("go", "func (r *Ring[T]) Push(x T) {", "Push"),
            ("kotlin", "public suspend fun Collection<Job>.joinAll(): Unit = forEach { it.join() }", "joinAll"),
            ("kotlin", "fun <T> first(list: List<T>): T {", "first"),
            ("kotlin", "fun <T\u{fffd}last(list: T): T {", "last"),
            ("cpp", "class A_LOCKABLE B_UNUSED(x) SpinLock {", "SpinLock"),
            ("cpp", "class A_SCOPED [[nodiscard]] Holder final : Base<int, int> {", "Holder"),
            ("cpp", "enum class TypeSpec : int {", "TypeSpec"),
            ("cpp", "struct Low::Arena {", "Arena"),
            ("cpp", "class K, class V,", ""),
            ("cpp", "class Foo;", ""),
            ("cpp", "struct Foo x = {1};", ""),
            ("cpp", "struct Foo *make(int x)", ""),
        ] {
            let found = announced(line, by_name(language).unwrap()).map(|a| &line[a.name]);
            assert_eq!(found.unwrap_or_default(), expected, "{line}");
        }
    }

    #[test]
    fn what_a_grammar_loses_is_found_by_its_lines() {
        let text = "class Early {\n  int x;\n};\n\nint broken( {{{\n\n/* class Comment {\n   class Inner {\n*/\n\
                    class Late : public Early {\n public:\n  int size() const;\n\n  enum class Mode {\n    A,\n  };\n};\n\n\
                    class Last\n{\n  int y;\n};\n";
        let units = parse(text, by_name("cpp").unwrap()).units;
        let found: Vec<String> = units
            .iter()
            .filter(|u| u.kind == UnitKind::Class)
            .map(|u| format!("{} {}-{}", u.qualified_name(), u.span.line, u.span.end))
            .collect();
        assert_eq!(found, ["Early 1-3", "Late 10-17", "Late.Mode 14-16", "Last 19-22"]);
    }
}
