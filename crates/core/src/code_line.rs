//! Recognizes lines of code by their form: which one names a definition, calls a name, or has no content.

mod attribute;
mod call;
mod comment;
mod label;
mod member;
mod nested;
mod receiver;

use attribute::Attributes;
pub use call::{calling_line, calling_lines, using_lines};
pub use comment::is_comment;
pub use label::introducing_line;
pub use member::member_line;
pub use nested::KeyPath;
pub use receiver::{CallReceiver, call_receiver};

use crate::token::{is_stop_word, is_word_char};

/// Keywords that bind a value inside a function: such names are looked up only if nothing else is found.
const BINDINGS: &[&str] =
    &["let", "const", "var", "val", "local", "static", "data", "output", "variable", "resource", "#define", "typedef"];

/// Words before a declaration's keyword, in any language.
pub(crate) const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "crate",
    "default",
    "export",
    "extern",
    "final",
    "implicit",
    "inline",
    "internal",
    "local",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "sealed",
    "static",
    "typedef",
    "unsafe",
    "virtual",
];
/// Other words directly before a definition's keyword; another keyword may be there too (`enum class`).
const QUALIFIERS: &[&str] = &[
    "actual",
    "annotation",
    "await",
    "case",
    "companion",
    "const",
    "data",
    "declare",
    "expect",
    "external",
    "fileprivate",
    "infix",
    "inner",
    "mutating",
    "operator",
    "readonly",
    "return",
    "suspend",
    "tailrec",
    "value",
];
/// Marks before a statement on its line.
const OPENERS: [char; 13] = ['{', '}', '(', ')', '[', ']', ';', ':', ',', '=', '>', '&', '|'];
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Quotes of a literal of several lines.
const LONG_QUOTES: &[&str] = &["\"\"\"", "'''"];
/// Maximum of bytes read of a line.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Lines of a unit that are searched for its name first: attributes, decorators and templates come before it.
pub const NAME_LINES_MAX: usize = 20;
/// Opening marks of comments of several lines, at the beginning of a line, with their closing marks.
const BLOCKS: &[(&str, &str)] = &[("/*", "*/"), ("<!--", "-->"), ("=begin", "=end"), ("{-", "-}")];

/// Where `name` occurs in a line as a whole word.
pub fn word_at(line: &str, name: &str) -> Option<usize> {
    words_at(line, name).next()
}

fn words_at<'l>(line: &'l str, name: &'l str) -> impl Iterator<Item = usize> + 'l {
    let begins = name.starts_with(is_word_char);
    let ends = name.ends_with(is_word_char);
    let is_whole = move |at: &usize| {
        let before = begins && line[..*at].ends_with(is_word_char);
        let after = ends && line[at + name.len()..].starts_with(is_word_char);
        !before && !after
    };
    let places = (!name.is_empty()).then(|| line.match_indices(name).map(|(at, _)| at).filter(is_whole));
    places.into_iter().flatten()
}

/// The index of the line that names a definition, among all of its lines: of the first [`NAME_LINES_MAX`], the first with
/// the name as a word outside comments and attributes, else the first with it as a word; else the first such line below
/// them, since a declaration may have many names; else the first of the beginning that contains it.
pub fn naming_line<'l>(lines: impl Iterator<Item = &'l str> + Clone, name: &str) -> Option<usize> {
    let mut attributes = Attributes::default();
    let head = lines.clone().take(NAME_LINES_MAX);
    let named = head.clone().position(|line| {
        attributes = attributes.below(line);
        words_at(line, name).any(|at| !is_comment(line) && !attributes.hold(at))
    });
    let first = |holds: &dyn Fn(&str) -> bool| head.clone().position(holds);
    let below = || {
        let is_named = |line: &str| word_at(line, name).is_some() && !is_comment(line);
        lines.clone().skip(NAME_LINES_MAX).position(is_named).map(|at| at + NAME_LINES_MAX)
    };
    named
        .or_else(|| first(&|line| word_at(line, name).is_some()))
        .or_else(below)
        .or_else(|| first(&|line| line.contains(name)))
}

/// Keywords of anonymous functions.
pub const LAMBDAS: [&str; 3] = ["func", "function", "lambda"];

/// Whether a line binds a function to `name` (`f := func() {`).
pub fn binds_function(line: &str, name: &str) -> bool {
    let is_bound = |at: usize| {
        let behind = line[at + name.len()..].trim_start();
        let value = behind.strip_prefix(":=").or_else(|| behind.strip_prefix('=')).map(str::trim_start);
        let is_lambda = |value: &str| {
            let rest = LAMBDAS.iter().find_map(|word| value.strip_prefix(word));
            rest.is_some_and(|rest| !rest.starts_with(is_word_char))
        };
        value.is_some_and(is_lambda)
    };
    words_at(line, name).any(is_bound) && !is_comment(line)
}

/// Whether a line declares `name`: a statement begins with one of the keywords, apart from qualifiers, and the name
/// follows it. Prose has more words around the two.
pub fn announces(line: &str, name: &str, keywords: &[&str]) -> bool {
    let is_announced = |at: usize| {
        let front = line[..at].trim_end();
        let mut before = keywords.iter().filter_map(|keyword| front.strip_suffix(*keyword));
        let begins = before.any(|before| begins_statement(before, keywords));
        front.len() < at && begins && !goes_on_in_prose(&line[at + name.len()..])
    };
    words_at(line, name).any(is_announced) && !is_comment(line)
}

/// Whether a statement may begin after `front`, the start of a line: outside literals, it has only qualifiers, or marks
/// that end a statement or open a block before them.
fn begins_statement(front: &str, keywords: &[&str]) -> bool {
    if front.ends_with(is_word_char) || QUOTES.iter().any(|quote| front.matches(*quote).count() % 2 == 1) {
        return false;
    }
    let mut front = front.trim_end();
    loop {
        let bare = front.trim_end_matches(is_word_char);
        let word = &front[bare.len()..];
        if word.is_empty() {
            return bare.is_empty() || bare.ends_with(OPENERS);
        }
        if ![MODIFIERS, QUALIFIERS, keywords].iter().any(|words| words.contains(&word)) {
            return false;
        }
        front = bare.trim_end();
    }
}

/// Whether the text after a name reads like prose.
fn goes_on_in_prose(behind: &str) -> bool {
    let word = behind.trim_start().split(|c: char| !is_word_char(c)).next().unwrap_or_default();
    let is_bare = !behind.contains(['(', '{', '=']) && !matches!(word, "do" | "where");
    behind.starts_with(['.', ',', ')', '"', '\'', '`', '?', '!']) || (is_bare && is_stop_word(word))
}

/// The lines of a program with their numbers, without those inside comments and literals of several lines.
pub fn lines_of_code(text: &str) -> impl Iterator<Item = (u32, &str)> {
    numbered_code(text.lines()).map(|(number, line)| (number, cut(line)))
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

fn numbered_code<'l>(lines: impl Iterator<Item = &'l str>) -> impl Iterator<Item = (u32, &'l str)> {
    let mut closing: Option<&str> = None;
    (1u32..).zip(lines).filter(move |(_, line)| {
        let is_inside = closing.is_some();
        closing = closing_behind(cut(line), closing);
        !is_inside
    })
}

/// Whether a line opens a comment of several lines; `{-1, 0}` is a row of a table.
fn opens_block(line: &str, open: &str) -> bool {
    line.strip_prefix(open)
        .is_some_and(|rest| open != "{-" || rest.is_empty() || rest.starts_with([' ', '-', '|', '#']))
}

/// Where a literal of several lines opens; a mark inside other quotes (`"'''"`) does not count.
fn long_quote(line: &str, mark: &str) -> Option<usize> {
    let is_alone = |at: &usize| {
        let own = mark.chars().next();
        let is_other = |c: Option<char>| c.is_some_and(|c| QUOTES.contains(&c)) && c != own;
        !is_other(line[..*at].chars().next_back()) && !is_other(line[at + mark.len()..].chars().next())
    };
    line.match_indices(mark).map(|(at, _)| at).find(is_alone)
}

/// What closes the comment or literal left open at the end of a line; `closing` closes the one open at its start.
fn closing_behind(line: &str, mut closing: Option<&'static str>) -> Option<&'static str> {
    let mut rest = line.trim_start();
    // `"src/*"` does not open a comment.
    if closing.is_none()
        && let Some((open, close)) = BLOCKS.iter().find(|(open, _)| opens_block(rest, open))
    {
        (rest, closing) = (&rest[open.len()..], Some(*close));
    }
    loop {
        rest = match closing {
            Some(mark) => {
                let Some(at) = rest.find(mark) else { return closing };
                closing = None;
                &rest[at + mark.len()..]
            }
            None => {
                let opened = LONG_QUOTES.iter().filter_map(|mark| Some((long_quote(rest, mark)?, *mark)));
                let (at, mark) = opened.min()?;
                closing = Some(mark);
                &rest[at + mark.len()..]
            }
        };
    }
}

/// Whether a keyword binds a value, perhaps an anonymous function (`const f = () => …`), rather than declaring a
/// definition.
pub fn is_binding(keyword: &str) -> bool {
    BINDINGS.contains(&keyword)
}

/// Lines that only open, close or separate others.
const FRAMES: &[&str] = &[
    "begin",
    "break",
    "do",
    "done",
    "else",
    "end",
    "esac",
    "fi",
    "finally",
    "otherwise",
    "pass",
    "return",
    "then",
    "try",
    "#else",
    "#endif",
    "#pragma once",
    "private",
    "protected",
    "public",
    "where",
    "continue",
    "default",
];
const IMPORTS: &[&str] = &[
    "import ",
    "from ",
    "use ",
    "using ",
    "#include",
    "#import",
    "require(",
    "require ",
    "require_once",
    "package ",
    "extern crate ",
    "pub use ",
    "alias ",
    "source ",
    "@import",
    "open import",
    "export * from",
];
/// Beginnings of lines in a file's head: comments, imports, exports, names of modules and packages. Wider than
/// [`is_comment`] and [`IMPORTS`], since no single line decides.
const HEAD_LINES: [&str; 26] = [
    "//",
    "/*",
    "*",
    "#",
    "--",
    ";",
    "%",
    "\"\"\"",
    "'''",
    "import ",
    "import(",
    "from ",
    "use ",
    "pub use ",
    "using ",
    "package ",
    "require",
    "mod ",
    "pub mod ",
    "extern ",
    "export * ",
    "export {",
    "namespace ",
    "module ",
    "'use strict",
    "@file:",
];
/// Beginnings of imports that may continue over several lines in brackets; other [`IMPORTS`] end with their line.
const IMPORT_LINES: [&str; 5] = ["import ", "from ", "use ", "pub use ", "export {"];
const LICENCES: &[&str] = &["copyright", "spdx-license", "licensed under", "all rights reserved", "(c) 20"];

/// Whether a line names a licence or its owner.
pub fn is_licence(line: &str) -> bool {
    let lower = line.to_lowercase();
    LICENCES.iter().any(|mark| lower.contains(mark))
}

/// Whether a line, without indentation, belongs to a file's head by its beginning.
pub fn is_of_head(line: &str) -> bool {
    HEAD_LINES.iter().any(|head| line.starts_with(head))
}

/// Whether an unindented line begins an import that may continue on the next lines.
pub fn opens_import(line: &str) -> bool {
    IMPORT_LINES.iter().any(|import| line.starts_with(import))
}

/// Whether an unindented line begins an import.
pub fn is_import(line: &str) -> bool {
    IMPORTS.iter().any(|mark| line.starts_with(mark)) || opens_import(line)
}

/// Whether a line says what the code does: not a bracket, `#endif`, import or licence.
pub fn tells(line: &str) -> bool {
    let line = line.trim();
    let lower = line.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '#').trim();
    let is_endif = lower.starts_with("#endif");
    let is_import = IMPORTS.iter().any(|mark| lower.starts_with(mark));
    let is_licence = LICENCES.iter().any(|mark| lower.contains(mark));
    line.contains(char::is_alphabetic) && !FRAMES.contains(&bare) && !is_endif && !is_import && !is_licence
}

#[cfg(test)]
mod tests {
    use super::call::{calls, is_use};
    use super::*;
    use crate::language::LanguageFacts;

    fn facts() -> LanguageFacts {
        LanguageFacts::default().with_declaration_keywords(["fn", "class", "def", "function", "let", "func"])
    }

    #[test]
    fn a_definition_is_named_behind_its_attributes_and_comments() {
        for (lines, name, expected) in [
            (&["@spec escape(binary)", "def escape(text) do"][..], "escape", Some(1)),
            (&["-spec escape(binary) -> binary when", "    Text :: binary.", "escape(Text) ->"], "escape", Some(2)),
            (&["@deprecated \"use escape\"", "def escape(text) do"], "escape", Some(1)),
            (&["@JvmName(\"reset\")", "internal fun reset() {"], "reset", Some(1)),
            (&["@Override public void run() {", "run(1);"], "run", Some(0)),
            (&["#[serde(rename = \"open\")]", "pub fn open() {"], "open", Some(1)),
            (&["#[inline] fn open() {", "open()"], "open", Some(0)),
            (&["// opens: open", "void open(int port)"], "open", Some(1)),
            (&["[Obsolete(\"Use Open\")]", "public void Open()"], "Open", Some(1)),
            (&["template <typename T>", "class Socket {"], "Socket", Some(1)),
            (&["sockets = []", "class Socket:"], "Socket", Some(1)),
            (&["@Inject Socket(Port port) {", "super(port);"], "Socket", Some(0)),
            (&["bool operator==(int a)"], "operator==", Some(0)),
            (
                &["@Deprecated(", "  message = \"moved\",", "  with = With(\"open\"),", ")", "fun open() = open"],
                "open",
                Some(4),
            ),
            (&["#[doc(", "    alias = \"open\"", ")] pub fn open() {", "open()"], "open", Some(2)),
            (&["@get(", "  '/open'", ")", "@cached", "def open():"], "open", Some(4)),
            (&["@spec open(", "  binary) :: atom", "def open(text) do"], "open", Some(2)),
            (&["@odd(", "fun open() {"], "open", Some(1)),
            (&["nothing here"], "Socket", None),
        ] {
            assert_eq!(naming_line(lines.iter().copied(), name), expected, "{lines:?}");
        }
        // A declaration of many names.
        let mut many = vec!["int field_port_max,"; NAME_LINES_MAX + 5];
        many.extend(["// field_port is last", "field_port;", "field_port = 1;"]);
        assert_eq!(naming_line(many.iter().copied(), "field_port"), Some(NAME_LINES_MAX + 6));
        assert_eq!(naming_line(many.iter().copied(), "d_port"), Some(0));
    }

    #[test]
    fn frames_imports_and_licences_tell_nothing() {
        for line in [
            "}",
            ")",
            "  );",
            "",
            "end",
            "#endif  // FOO_H",
            "} else {",
            "import os",
            "from a import b",
            "use a::b;",
            "#include <x.h>",
            "package middleware",
            "// Copyright 2020 The Authors",
            "done",
            "---",
            "return;",
        ] {
            assert!(!tells(line), "{line:?}");
        }
        for line in ["return open(port)", "// opens a socket", "endpoint = 3", "fn import_all() {", "important = 1"] {
            assert!(tells(line), "{line:?}");
        }
    }

    #[test]
    fn comments_and_literals_of_several_lines_are_no_code() {
        let text = "a = 'src/*'\n\"\"\"Tells of\nclass names.\n\"\"\"\nb = \"\"\"one\"\"\"\n/* c\nd */\n/* e */\nf";
        let lines: Vec<u32> = lines_of_code(text).map(|(number, _)| number).collect();
        assert_eq!(lines, [1, 2, 5, 6, 8, 9]);
    }

    #[test]
    fn definitions_calls_and_uses_are_told_apart() {
        let facts = facts();
        let keywords: Vec<&str> = facts.declaration_keywords().filter(|word| !is_binding(word)).collect();
        for (line, announced, called, used) in [
            ("  function open(port) {", true, false, false),
            ("pub fn open<T>(port: T)", true, false, false),
            ("let open = 3;", false, false, false),
            ("if !open(3) {", false, true, true),
            ("open!(3)", false, true, true),
            ("open::<u8>(3)", false, true, true),
            ("run open \"$1\"", false, false, true),
            ("// calls open(3)", false, false, false),
            ("reopen(3)", false, false, false),
            ("export default async function open(port) {", true, false, false),
            ("#[inline] pub(crate) const fn open() {", true, false, false),
            ("module.exports = { a: function open() {} };", true, false, false),
            ("the file or class open and its kin", false, false, false),
            ("let told = \"a; class open\";", false, false, false),
            ("class open, which", false, false, false),
            ("class open is one", false, false, false),
        ] {
            let found = (announces(line, "open", &keywords), calls(line, "open", &facts), is_use(line, "open", &facts));
            assert_eq!(found, (announced, called, used), "{line}");
        }
        assert!(announces("let open = 3;", "open", &["let"]) && is_binding("let"));
        for (line, expected) in [
            ("\topen := func(port int) error {", true),
            ("open = lambda port: port", true),
            ("open := functions(3)", false),
            ("// open := func", false),
            ("reopen := func() {", false),
        ] {
            assert_eq!(binds_function(line, "open"), expected, "{line}");
        }
    }
}
