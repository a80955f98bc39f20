//! Edits texts for grammars that can't read common code. The results have the same length in bytes.

use std::iter::repeat_n;

use super::macros::MacroNames;
use super::{conditions, macros, pieces};

/// Bash: applies [`bats_tests`] and [`narrow`].
pub(super) fn bash(text: &str) -> Option<String> {
    let tests = bats_tests(text);
    narrow(tests.as_deref().unwrap_or(text)).or(tests)
}

/// Characters beyond Latin-1 as letters. The scanners of Bash and Markdown pass any character to C's `isdigit`, whose
/// table has 256 entries: reading far beyond it crashes the process.
pub(super) fn narrow(text: &str) -> Option<String> {
    let is_wide = |c: char| c > '\u{FF}';
    let narrowed = |c| if is_wide(c) { repeat_n('x', c.len_utf8()) } else { repeat_n(c, 1) };
    text.contains(is_wide).then(|| text.chars().flat_map(narrowed).collect())
}

/// Bats: a test's block becomes a command of its own, which the Bash grammar can read: `@test "…" ;{`.
fn bats_tests(text: &str) -> Option<String> {
    edit_lines(text, "@test ", |line| {
        if line.trim_ascii_start().starts_with(b"@test ") && line.trim_ascii_end().ends_with(b" {") {
            let brace = line.trim_ascii_end().len() - 1;
            line[brace - 1] = b';';
        }
    })
}

/// Make: applies [`make_references`], [`make_substitutions`] and [`make_patterns`].
pub(super) fn make(text: &str) -> Option<String> {
    let references = make_references(text);
    let text = references.as_deref().unwrap_or(text);
    let substitutions = make_substitutions(text);
    make_patterns(substitutions.as_deref().unwrap_or(text)).or(substitutions).or(references)
}

/// Make: recipes, values and prerequisites whose references go on in the next line, as words. The grammar loses what
/// follows them.
fn make_references(text: &str) -> Option<String> {
    let mut bytes: Option<Vec<u8>> = None;
    let (mut at, mut is_text, mut goes_on) = (0, false, false);
    // Whether the line continues another, and what it belongs to: a recipe, or a value.
    let (mut is_inner, mut is_recipe, mut is_value) = (false, false, false);
    for line in text.split_inclusive('\n') {
        let (start, code) = (at, line.trim_end());
        at += line.len();
        match code.split_whitespace().next() {
            Some("define") => is_text = true,
            Some("endef") => is_text = false,
            _ => {}
        }
        let opens = code.matches('(').count() > code.matches(')').count() && code.ends_with('\\');
        let head = if is_inner { None } else { make_sign(code.as_bytes(), 0) };
        if !is_inner {
            let is_assignment = code.split_whitespace().nth(1).is_some_and(|sign| sign.ends_with('='));
            is_recipe = line.starts_with('\t') && !is_assignment;
            is_value = !is_recipe && head.is_some_and(|sign| code.as_bytes()[sign] == b'=');
        }
        let begin = if goes_on || is_recipe || is_inner && is_value { Some(0) } else { head };
        is_inner = code.ends_with('\\');
        let Some(begin) = begin.filter(|_| !is_text && (goes_on || opens)) else { continue };
        goes_on = is_inner;
        // Prerequisites are called, so that none are better than wrong ones. Nothing joins blank lines.
        let word = if is_recipe || is_value { b'x' } else { b' ' };
        let end = start + code.len() - usize::from(goes_on && word == b'x');
        let bytes = bytes.get_or_insert_with(|| text.as_bytes().to_vec());
        for byte in bytes[start + begin..end].iter_mut().skip_while(|byte| matches!(**byte, b':' | b'=')) {
            if !byte.is_ascii_whitespace() || !is_recipe {
                *byte = word;
            }
        }
    }
    String::from_utf8(bytes?).ok()
}

/// The first sign of a line that is in no reference: the colon of a rule, or the equals sign of an assignment.
fn make_sign(line: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    line.iter().enumerate().skip(from).find_map(|(at, byte)| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_sign = *byte == b'=' || *byte == b':' && line.get(at + 1) != Some(&b'=');
        (depth == 0 && is_sign).then_some(at)
    })
}

/// Make: static pattern rules, `a.o b.o: %.o: %.c`, without their pattern. The grammar loses what follows them.
fn make_patterns(text: &str) -> Option<String> {
    edit_lines(text, "%", |line| {
        if line.starts_with(b"\t") || line.starts_with(b"#") {
            return;
        }
        let colon = |from| make_sign(line, from).filter(|at| line[*at] == b':');
        let Some(first) = colon(0) else { return };
        let behind = first + 1 + usize::from(line.get(first + 1) == Some(&b':'));
        if let Some(second) = colon(behind)
            && line[behind..second].contains(&b'%')
        {
            line[behind..=second].fill(b' ');
        }
    })
}

/// Make: references with an empty substitution, `$(SRC:.c=)`, as names. The grammar loses what follows them.
fn make_substitutions(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    for (equals, _) in text.match_indices('=') {
        let start = text[..equals].rfind(|c: char| c.is_ascii_whitespace() || "()${}=".contains(c));
        let colon = start.and_then(|start| text[start..equals].find(':').map(|colon| start + colon));
        if let Some(colon) = colon.filter(|_| text[equals + 1..].starts_with([')', '}'])) {
            bytes[colon..=equals].fill(b'_');
            changed = true;
        }
    }
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// Lua: without the types of Luau's variables, `local x: number = 3`, whose last word the grammar takes for a variable.
pub(super) fn lua(text: &str) -> Option<String> {
    edit_lines(text, ": ", |line| {
        let start = line.len() - line.trim_ascii_start().len();
        if !line[start..].starts_with(b"local ") || line[start..].starts_with(b"local function") {
            return;
        }
        let (mut depth, mut colon, mut at) = (0i32, None, start);
        while at < line.len() {
            match line[at] {
                // A type may be a quoted text.
                quote @ (b'"' | b'\'') => match line[at + 1..].iter().position(|byte| *byte == quote) {
                    Some(length) => at += length + 1,
                    None => break,
                },
                b'-' if line[at..].starts_with(b"--") => break,
                b'=' | b';' | b'[' | b']' if depth == 0 => break,
                b'<' | b'{' | b'(' => depth += 1,
                b'>' if line[at - 1] == b'-' => {}
                b'>' | b'}' | b')' => depth -= 1,
                b':' if depth == 0 => colon = colon.or(Some(at)),
                b',' if depth == 0 => colon.take().into_iter().for_each(|from| line[from..at].fill(b' ')),
                _ => {}
            }
            at += 1;
        }
        colon.into_iter().for_each(|from| line[from..at].fill(b' '));
    })
}

/// YAML: without the statements of templates (lines of nothing but `{{- if .Values.port }}`), and with names in place of
/// their expressions (`name: {{ .Values.name }}`).
pub(super) fn yaml(text: &str) -> Option<String> {
    edit_lines(text, "{{", |line| {
        let (mut expressions, mut is_statement, mut at) = (Vec::new(), true, 0);
        while let Some(open) = line[at..].windows(2).position(|two| two == b"{{").map(|open| at + open) {
            let Some(length) = line[open..].windows(2).position(|two| two == b"}}") else { break };
            is_statement &= line[at..open].trim_ascii().is_empty();
            at = open + length + 2;
            expressions.push(open..at);
        }
        is_statement &= line[at..].trim_ascii().is_empty();
        for expression in expressions {
            line[expression].fill(if is_statement { b' ' } else { b'x' });
        }
    })
}

/// C and Objective-C: applies [`conditions::c`] and [`macros::c_macros`].
pub(super) fn c(text: &str) -> Option<String> {
    c_family(text, MacroNames::One)
}

/// C++: as [`c`].
pub(super) fn cpp(text: &str) -> Option<String> {
    c_family(text, MacroNames::Two)
}

fn c_family(text: &str, names: MacroNames) -> Option<String> {
    let values = macro_values(text);
    let text = values.as_deref().unwrap_or(text);
    let whole = conditions::c(text);
    macros::c_macros(whole.as_deref().unwrap_or(text), names).or(whole).or(values)
}

/// C: without the comments inside of macros, where the grammar ends their values.
fn macro_values(text: &str) -> Option<String> {
    let mut bytes: Option<Vec<u8>> = None;
    for (at, _) in text.match_indices("define") {
        let before = text[..at].trim_end_matches([' ', '\t']).strip_suffix('#');
        let is_first = |before: &str| before.is_empty() || before.ends_with('\n');
        if !before.is_some_and(|before| is_first(before.trim_end_matches([' ', '\t']))) {
            continue;
        }
        let end = pieces::end_of_line(text.as_bytes(), at);
        let mut from = at;
        while let Some(start) = text[from..end].find("/*").map(|open| from + open) {
            let Some(stop) = text[start..end].find("*/").map(|close| start + close + 2) else { break };
            if !text[stop..end].trim().is_empty() {
                // What joins lines stays.
                let comment = &mut bytes.get_or_insert_with(|| text.as_bytes().to_vec())[start..stop];
                comment.iter_mut().filter(|byte| !b"\\\r\n".contains(byte)).for_each(|byte| *byte = b' ');
            }
            from = stop;
        }
    }
    String::from_utf8(bytes?).ok()
}

/// Directives of the C preprocessor.
const DIRECTIVES: [&str; 11] =
    ["if", "ifdef", "ifndef", "else", "elif", "endif", "define", "undef", "include", "error", "warning"];

/// Haskell: without the lines of the C preprocessor. The grammar loses the branches after the first.
pub(super) fn haskell(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut goes_on, mut changed) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let code = line.trim_end();
        let word = code.strip_prefix('#').map(|rest| rest.trim_start().split(|c: char| !c.is_ascii_lowercase()));
        if goes_on || word.and_then(|mut words| words.next()).is_some_and(|word| DIRECTIVES.contains(&word)) {
            bytes[at..at + code.len()].fill(b' ');
            (goes_on, changed) = (code.ends_with('\\'), true);
        }
        at += line.len();
    }
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// C#: applies [`conditions::csharp`] and [`macros::csharp_extensions`].
pub(super) fn csharp(text: &str) -> Option<String> {
    let whole = conditions::csharp(text);
    macros::csharp_extensions(whole.as_deref().unwrap_or(text)).or(whole)
}

/// Swift: applies [`swift_conditions`] and [`swift_macros`].
pub(super) fn swift(text: &str) -> Option<String> {
    let whole = swift_conditions(text);
    swift_macros(whole.as_deref().unwrap_or(text)).or(whole)
}

/// Swift: without the lines of conditional compilation, which may be between any two lines while the grammar expects
/// them only between statements.
fn swift_conditions(text: &str) -> Option<String> {
    edit_lines(text, "#if", |line| {
        let directive = line.trim_ascii();
        // Multi-byte characters must not be cut by spaces: nodes of the grammar end between characters.
        if ["#if", "#else", "#endif"].iter().any(|d| directive.starts_with(d.as_bytes())) && directive.is_ascii() {
            line.fill(b' ');
        }
    })
}

/// Bytes that are searched for the sign before an expression.
const SIGN_DISTANCE: usize = 200;
/// Signs before an expression.
const BEFORE_EXPRESSIONS: [u8; 4] = *b"=(,:";

/// Swift: macros without arguments (`= #_sourceLocation`) as names, in place of expressions. The grammar knows only a
/// few of them, and loses what follows the others.
fn swift_macros(text: &str) -> Option<String> {
    if !text.contains('#') {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    for (at, _) in text.match_indices('#') {
        let name = text[at + 1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let begins = text.as_bytes().get(at + 1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        let next = text.as_bytes().get(at + 1 + name);
        let before = text[..at].bytes().rev().take(SIGN_DISTANCE).find(|b| !b.is_ascii_whitespace());
        if begins
            && next.is_none_or(|b| !b"({<".contains(b))
            && !["if", "elseif", "else", "endif"].contains(&&text[at + 1..at + 1 + name])
            && before.is_some_and(|b| BEFORE_EXPRESSIONS.contains(&b))
        {
            bytes[at] = b' ';
            changed = true;
        }
    }
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// Words before `constructor`.
const KOTLIN_MODIFIERS: [&str; 6] = ["internal", "private", "protected", "public", "expect", "actual"];

/// Kotlin: applies [`kotlin_constructors`] and [`kotlin_blocks`].
pub(super) fn kotlin(text: &str) -> Option<String> {
    let constructors = kotlin_constructors(text);
    kotlin_blocks(constructors.as_deref().unwrap_or(text)).or(constructors)
}

/// Kotlin: a semicolon after the last member of a class on one line, without which the grammar loses the class.
fn kotlin_blocks(text: &str) -> Option<String> {
    edit_lines(text, " }", |line| {
        if !line.trim_ascii_end().ends_with(b"}") {
            return;
        }
        let types = [&b"class "[..], b"interface ", b"object "];
        let is_type = |at: usize| types.iter().any(|word| line[at..].starts_with(word));
        let Some(begin) = (0..line.len()).find(|at| is_type(*at)) else { return };
        let (mut depth, mut is_text, mut last) = (0usize, false, b' ');
        for i in begin..line.len() {
            match line[i] {
                b'"' => is_text = !is_text,
                b'/' if last == b'/' => return,
                b'{' if !is_text => depth += 1,
                b'}' if !is_text && depth > 0 => {
                    depth -= 1;
                    if line[i - 1] == b' ' && !matches!(last, b'{' | b';') {
                        line[i - 1] = b';';
                    }
                }
                _ => {}
            }
            if line[i] != b' ' {
                last = line[i];
            }
        }
    })
}

/// Kotlin: a class's primary constructor on the line of the class's name. The grammar ends the class at the line's end,
/// unless an annotation precedes the constructor.
fn kotlin_constructors(text: &str) -> Option<String> {
    if !text.contains("constructor") {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    // Where the class's name ends, if only modifiers of its constructor followed.
    let mut header: Option<usize> = None;
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let start = next;
        next += line.len();
        let own = line.trim();
        let constructor = header.and_then(|end| own.find("constructor").map(|at| (end, at)));
        if let Some((end, at)) = constructor
            && are_modifiers(&own[..at])
            && own[at + "constructor".len()..].trim_start().starts_with('(')
        {
            let column = line.len() - line.trim_start().len();
            bytes[end..start + column].iter_mut().filter(|b| b.is_ascii_whitespace()).for_each(|b| *b = b' ');
            (changed, header) = (true, None);
            continue;
        }
        if header.is_some() && !own.is_empty() && are_modifiers(own) {
            continue;
        }
        header = names_class(own).then(|| start + line.trim_end().len());
    }
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// Whether a line ends with the name of a class, its type parameters and modifiers of its constructor.
fn names_class(line: &str) -> bool {
    let Some((before, rest)) = line.rsplit_once("class ").filter(|_| !line.starts_with(['/', '*'])) else {
        return false;
    };
    let rest = rest.trim_start();
    let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let mut behind = rest[name..].trim_start();
    if behind.starts_with('<') {
        behind = behind.rfind('>').map_or("", |end| &behind[end + 1..]);
    }
    name > 0 && !before.ends_with(char::is_alphanumeric) && are_modifiers(behind)
}

/// Whether a text consists of annotations and modifiers of a constructor.
fn are_modifiers(text: &str) -> bool {
    let mut rest = text.trim();
    while !rest.is_empty() {
        let is_annotation = rest.starts_with('@');
        let from = usize::from(is_annotation);
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
        let name = rest[from..].find(|c: char| !is_inside(c)).unwrap_or(rest.len() - from);
        if name == 0 || !is_annotation && !KOTLIN_MODIFIERS.contains(&&rest[..name]) {
            return false;
        }
        rest = &rest[from + name..];
        if is_annotation && rest.starts_with('(') {
            let Some(end) = rest.find(')') else { return false };
            rest = &rest[end + 1..];
        }
        rest = rest.trim_start();
    }
    true
}

/// The text with `edit` applied to each line, if it contains `marker`. `edit` writes only ASCII over ASCII.
fn edit_lines(text: &str, marker: &str, edit: impl Fn(&mut [u8])) -> Option<String> {
    if !text.contains(marker) {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    bytes.split_mut(|&b| b == b'\n').for_each(edit);
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_substitutions_of_make_become_names() {
        for (text, expected) in [
            ("A = $(B:.c=)\nall: ${C:%.o=}\n", Some("A = $(B____)\nall: ${C_____}\n")),
            ("A = $(B:.c=.o)\n", None),
            ("A:=\n(B=)\n", None),
        ] {
            assert_eq!(make(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn patterns_of_static_rules_are_taken_off() {
        for (text, expected) in [
            ("a.o b.o: %.o: %.c\n", "a.o b.o:      %.c\n"),
            ("$(patsubst %,a/%,$(B:c=d)):: a/%:\n\tcc\n", "$(patsubst %,a/%,$(B:c=d))::     \n\tcc\n"),
            ("%.o: %.c\n", "%.o: %.c\n"),
            ("A := %:b\n", "A := %:b\n"),
            ("\ta: %: b\n", "\ta: %: b\n"),
        ] {
            assert_eq!(make(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn types_of_luau_are_taken_off() {
        for (text, expected) in [
            ("local a: number = b\n", "local a         = b\n"),
            ("  local a: B<C, D>, e: F? = g: h\n", "  local a         , e     = g: h\n"),
            ("local a: (b: number) -> ()\n", "local a                   \n"),
            ("local function f(a: number): string\n", "local function f(a: number): string\n"),
            ("a: b\n", "a: b\n"),
            ("local s=\"a: b\"\n", "local s=\"a: b\"\n"),
            ("local s -- a: b\n", "local s -- a: b\n"),
            ("local a: \"b,=\" | 'c'=d\n", "local a             =d\n"),
            ("local a: b; local c = d: e\n", "local a   ; local c = d: e\n"),
            ("local a: b]]\n", "local a   ]]\n"),
        ] {
            assert_eq!(lua(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(lua("local a = 1\n"), None);
    }

    #[test]
    fn templates_in_yaml_become_names() {
        for (text, expected) in [
            ("  {{- if .A }}\na: {{ .B }}-c\n", "              \na: xxxxxxxx-c\n"),
            ("{{ if a }}{{ b }}\n", "                 \n"),
            ("a: {{ b\n", "a: {{ b\n"),
            ("  {{ $a }}: {{ $b | quote }}\n", "  xxxxxxxx: xxxxxxxxxxxxxxxx\n"),
            ("{{ $a }}: {{ b\n", "xxxxxxxx: {{ b\n"),
        ] {
            assert_eq!(yaml(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(yaml("a: {b: c}\n"), None);
    }

    #[test]
    fn directives_of_haskell_are_taken_off() {
        for (text, expected) in [
            ("#if A\na = 1\n# else\na = 2\n#endif\n", Some("     \na = 1\n      \na = 2\n      \n")),
            ("#define A \\\n  1\nb = 2\n", Some("           \n   \nb = 2\n")),
            ("#!/usr/bin/env runhaskell\na # b = 1\n", None),
        ] {
            assert_eq!(haskell(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn members_of_kotlin_on_one_line_are_separated() {
        for (text, expected) in [
            (
                "class A { companion object { const val B = 1 } }\n",
                Some("class A { companion object { const val B = 1;};}\n"),
            ),
            ("class A { val b = \"}\" }\n", Some("class A { val b = \"}\";}\n")),
            ("class A { }\n", None),
            ("class A {\n  val b = c { d }\n}\n", None),
            ("class A // { b }\n", None),
        ] {
            assert_eq!(kotlin_blocks(text).filter(|edited| edited != text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn macros_of_swift_become_names() {
        for (text, expected) in [
            ("func a(l: Loc = #_sourceLocation) {}", Some("func a(l: Loc =  _sourceLocation) {}")),
            ("f(#line, a:\n  #fileID)", Some("f( line, a:\n   fileID)")),
            ("try #require(a)", None),
            ("let a = #Predicate<B> { $0 }", None),
            ("let a = #selector(b)", None),
            ("let a = #\"b\"#", None),
            ("  #if A", None),
        ] {
            assert_eq!(swift_macros(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn constructors_of_kotlin_stand_beside_their_class() {
        for (text, expected) in [
            (
                "class A\n  @JvmOverloads\n  constructor(\n    val b: Int,\n  ) {\n",
                Some("class A   @JvmOverloads   constructor(\n    val b: Int,\n  ) {\n"),
            ),
            (
                "class A<B : C>\r\n  internal constructor() : D()\n",
                Some("class A<B : C>    internal constructor() : D()\n"),
            ),
            (
                "data class A\n@B(\"c d\") private\nconstructor()\n",
                Some("data class A @B(\"c d\") private constructor()\n"),
            ),
            ("class A @Inject\nconstructor()\n", Some("class A @Inject constructor()\n")),
            ("class A {\n  constructor(b: Int) : this()\n}\n", None),
            ("class A\n\nfun constructor() {}\n", None),
            ("// Of a class A\nconstructor()\n", None),
            ("subclass A\nconstructor()\n", None),
        ] {
            assert_eq!(kotlin(text).as_deref(), expected, "{text}");
        }
    }
}
