//! Definitions of languages without a grammar, read from lines by the patterns of their row (`language/by_lines`).

use colgrep_core::{UnitKind, UnitRole};
use regex::Regex;

use super::blocks::add_blocks;
use super::build::Builder;
use super::collect::{Definition, FileCaptures, What};
use super::lines::{Bytes, Lines};
use super::{LINE_BYTES_MAX, Parsed, UNIT_BYTES_BASE, UNIT_BYTES_PER_BYTE, imports, plain};
use crate::budget::{Budget, Spent};
use crate::language::Language;
use crate::language::by_lines::{CompiledOutline, DefinitionExtent};

/// Marks of comments that extend over lines, with the marks that end them.
const BLOCKS: [(&str, &str); 15] = [
    ("/*", "*/"),
    ("/+", "+/"),
    ("/-", "-/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("{", "}"),
    ("{#", "#}"),
    ("{{--", "--}}"),
    ("#|", "|#"),
    ("#[", "]#"),
    ("%{", "%}"),
    ("<!--", "-->"),
    ("<%#", "%>"),
    ("@*", "*@"),
    ("\"\"\"", "\"\"\""),
];
/// First words of lines that define nothing, although they look like a function's first line.
const STATEMENTS: [&str; 22] = [
    "return",
    "else",
    "elsif",
    "elif",
    "if",
    "while",
    "for",
    "foreach",
    "switch",
    "case",
    "when",
    "new",
    "throw",
    "await",
    "yield",
    "delete",
    "goto",
    "catch",
    "using",
    "echo",
    "defer",
    "synchronized",
];
/// Words behind others that are no name, although a bracket follows.
const NO_NAMES: [&str; 10] = ["if", "else", "elsif", "elif", "while", "for", "foreach", "switch", "catch", "function"];
/// Keywords of one language that name functions in others. Neither they nor a name after nothing but them is defined.
const KEYWORDS: [(&str, &[&str]); 1] =
    [("dlang", &["assert", "cast", "debug", "is", "mixin", "pragma", "typeid", "typeof", "version"])];
/// Words of one language that a type or an attribute in brackets may begin with, and a name may follow.
const ATTRIBUTES: [(&str, &[&str]); 1] = [(
    "dlang",
    &["align", "const", "deprecated", "extern", "immutable", "in", "inout", "out", "package", "scope", "shared"],
)];
/// Words before a bracket that are not called.
const NOT_CALLED: [&str; 32] = [
    "if", "elseif", "elsif", "elif", "else", "while", "for", "foreach", "switch", "return", "case", "when", "catch",
    "and", "or", "not", "in", "is", "of", "do", "then", "until", "match", "function", "sub", "fn", "fun", "func",
    "def", "let", "sizeof", "typeof",
];

/// Words that begin a block which `end` closes.
const BLOCK_WORDS: [&str; 5] = ["asm", "begin", "case", "record", "try"];
/// Which of them, with the bracket, begin a definition's own body.
const BODY_WORDS: [&str; 3] = ["asm", "begin", "{"];

/// How much of a first line is searched for the definition's end, in bytes.
const REST_BYTES_MAX: usize = 400;
/// First characters of an outermost form of a Lisp.
const FORM_BEGINNINGS: [char; 7] = ['(', '[', '#', '\'', '`', ',', '@'];

/// Cuts a text into units by the lines of its language's outline.
pub(super) fn parse(text: &str, language: &'static Language, outline: &CompiledOutline) -> Parsed {
    units(text, language, outline).unwrap_or_else(|spent| plain(text, language, &spent.to_string()))
}

fn units(text: &str, language: &'static Language, outline: &CompiledOutline) -> Result<Parsed, Spent> {
    let budget = Budget::new();
    let lines = Lines::new(text);
    let mut reader = OutlineReader {
        lines: &lines,
        language,
        outline,
        found: FileCaptures::default(),
        open: Vec::new(),
        last: 0,
        comment: None,
        headings: 0,
    };
    for number in 1..=lines.count() {
        budget.check()?;
        reader.read(number);
    }
    reader.close(0, reader.last);
    let mut found = reader.found;
    let imports = imports(text, &mut found);
    let room = UNIT_BYTES_BASE + UNIT_BYTES_PER_BYTE * text.len();
    let mut units = Builder { text, lines: &lines, language, found: &mut found, budget: &budget, room }.units()?;
    add_blocks(&mut units, &lines, language);
    Ok(Parsed { units, imports, note: None })
}

/// A definition whose last line is not known yet.
#[derive(Debug)]
struct OpenDefinition<'a> {
    indentation: usize,
    first: u32,
    extent: DefinitionExtent,
    last: Option<&'a Regex>,
    /// Whether it is a form in brackets, as in Lisps.
    is_form: bool,
    /// Whether a semicolon ends its first line.
    is_statement: bool,
    name: &'a str,
    /// The last lines of definitions inside it that are not units, innermost last.
    inner: Vec<&'a Regex>,
    definition: Definition,
}

impl OpenDefinition<'_> {
    /// Whether a line, which may begin another definition, is its last.
    fn ends_with(&self, line: &str, indentation: usize, is_head: bool) -> bool {
        let matches = || self.last.is_some_and(|last| last.is_match(line));
        match self.extent {
            DefinitionExtent::Indented => {
                indentation == self.indentation && !is_head && !self.is_form && closes(line.trim_start())
            }
            DefinitionExtent::Closed(_) => matches() && (indentation == self.indentation || self.is_named_by(line)),
            DefinitionExtent::Ended(_) => matches(),
            DefinitionExtent::Line | DefinitionExtent::Next(_) => false,
        }
    }

    /// Whether a line, which begins a definition of extent `head` or none, is outside of it.
    fn ends_before(&self, line: &str, indentation: usize, head: Option<DefinitionExtent>, goes_on: bool) -> bool {
        let is_left = indentation <= self.indentation;
        match (self.extent, head) {
            // A line of a form that begins with anything else is part of a text.
            (DefinitionExtent::Indented, _) if self.is_form => {
                is_left && line.trim_start().starts_with(FORM_BEGINNINGS)
            }
            (DefinitionExtent::Indented, _) => is_left && (self.is_statement || !goes_on),
            (DefinitionExtent::Next(own), Some(DefinitionExtent::Next(other))) => other <= own,
            // Without a last line of its own, a function ends before the next definition, anything else before the next
            // of its kind.
            (DefinitionExtent::Closed(_), Some(_)) if self.definition.what.is_callable() => is_left,
            (DefinitionExtent::Closed(_) | DefinitionExtent::Ended(_), Some(other)) => is_left && other == self.extent,
            _ => false,
        }
    }

    /// Whether a closing line repeats the name: `end function NAME;`.
    fn is_named_by(&self, line: &str) -> bool {
        let words = line.trim_end_matches([';', ' ', '\t']);
        words.split_whitespace().next_back().is_some_and(|word| word.eq_ignore_ascii_case(self.name))
    }
}

/// The column where a line's text begins; a tab goes to the next multiple of eight.
fn column_of(line: &str) -> usize {
    let spaces = line.chars().take_while(|c| c.is_whitespace());
    spaces.fold(0, |column, c| if c == '\t' { column / 8 * 8 + 8 } else { column + 1 })
}

/// Whether a line indented like a definition's first still belongs to it: brackets that open or continue.
fn goes_on(word: &str) -> bool {
    word.starts_with(['{', '(', ')', ']'])
}

/// Whether a line indented like a definition's first may be its last.
fn closes(word: &str) -> bool {
    let word = word.trim_start_matches(['@', '<', '%', '{', ' ', '-']);
    word.starts_with(['}', '/']) || word.get(..3).is_some_and(|end| end.eq_ignore_ascii_case("end"))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn contains_word(words: &[&str], word: &str) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

struct OutlineReader<'a> {
    lines: &'a Lines<'a>,
    language: &'static Language,
    outline: &'a CompiledOutline,
    found: FileCaptures,
    /// Definitions around the current line, outermost first.
    open: Vec<OpenDefinition<'a>>,
    /// The last line of code.
    last: u32,
    /// The comment around the current line: where it begins, and its closing mark.
    comment: Option<(usize, &'static str)>,
    /// How many of the lines were read around the part that declares functions without their bodies.
    headings: usize,
}

impl<'a> OutlineReader<'a> {
    fn read(&mut self, number: u32) {
        let line = self.lines.line(number).trim_end();
        let code = line.trim();
        let start = self.lines.bytes(number, number).start;
        let indentation = line.len() - line.trim_start().len();
        if code.is_empty() || self.is_comment(code, start + indentation) {
            let is_inside = self.open.last().is_some_and(|open| column_of(line) > open.indentation);
            if is_inside && !code.is_empty() {
                self.last = number;
            }
            return;
        }
        if line.len() > LINE_BYTES_MAX {
            self.last = number;
            return;
        }
        let next = self.outline.headings.as_ref().and_then(|headings| headings.get(self.headings));
        // Behind `=`, the word is of a type.
        let is_heading = |next: &Regex| {
            next.is_match(line) && !(self.last > 0 && self.lines.line(self.last).trim_end().ends_with('='))
        };
        if next.is_some_and(is_heading) {
            self.headings += 1;
            self.close(0, self.last);
        }
        let (head, column) = (self.head(line).or_else(|| self.head_before_bracket(line, number)), column_of(line));
        let inner = self.open.last_mut().and_then(|code| code.inner.pop_if(|last| last.is_match(line)));
        if inner.is_some() {
            self.last = number;
            return;
        }
        let ends_with =
            self.open.iter().rposition(|open| open.first < number && open.ends_with(line, column, head.is_some()));
        let extent = head.as_ref().map(|(at, _)| self.outline.heads[*at].0.extent);
        let goes_on =
            goes_on(code) || self.outline.continues.as_ref().is_some_and(|continues| continues.is_match(line));
        let ends_before = self.open.iter().position(|open| open.ends_before(line, column, extent, goes_on));
        match (ends_with, ends_before) {
            (Some(with), before) if before.is_none_or(|before| with <= before) => {
                self.close(with + 1, self.last);
                self.close(with, number);
                self.last = number;
                return;
            }
            (_, Some(before)) => self.close(before, self.last),
            _ => {}
        }
        self.last = number;
        if self.outline.imports.as_ref().is_some_and(|imports| imports.is_match(line)) {
            self.found.imports.push(start + indentation..start + indentation + code.len());
        }
        self.add_calls(line, start, head.as_ref().map_or(0, |(at, names)| self.behind_head(line, *at, names)));
        let Some((at, names)) = head else { return };
        match self.open.last() {
            Some(code) if !code.definition.what.is_container() => self.begin_inside(line, at, &names),
            _ => self.begin(number, at, &names),
        }
    }

    /// The row of the outline that a line matches, and the places of the names in the line.
    fn head(&self, line: &str) -> Option<(usize, Vec<Bytes>)> {
        let code = line.trim_start();
        let (word, rest) = code.split_at(code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len()));
        let is_statement = STATEMENTS.contains(&word) && (rest.is_empty() || rest.starts_with([' ', '\t', '(']));
        let rows = self.outline.heads.iter().enumerate();
        let rows = rows.filter(|(_, (row, ..))| !(is_statement && row.what.starts_with("function")));
        let class = self.open.iter().rfind(|open| open.indentation < column_of(line));
        let class = class.filter(|open| open.definition.what.is_container()).map(|open| open.name);
        rows.filter_map(|(at, (_, pattern, _))| Some((at, pattern.captures(line)?))).find_map(|(at, captures)| {
            let names: Vec<Bytes> = captures.iter().skip(1).flatten().map(|group| group.range()).collect();
            let name = names.last().filter(|name| !name.is_empty())?;
            if self.outline.heads[at].0.is_constructor && class != Some(&line[name.clone()]) {
                return None;
            }
            // `static if (…) {` defines nothing; a name at the beginning may be such a word.
            let (before, word) = (line[..name.start].trim(), &line[name.clone()]);
            let is_own = self.is_own(&KEYWORDS, word) || self.is_own(&ATTRIBUTES, word);
            let is_keyword = self.outline.heads[at].0.what == "function"
                && (NO_NAMES.contains(&word) || is_own || self.is_own(&KEYWORDS, before))
                && line[name.end..].trim_start().starts_with('(')
                && !code.starts_with('(');
            (!is_keyword || (before.is_empty() && !is_own)).then_some((at, names))
        })
    }

    /// The same of a line whose bracket follows on the next: `void run` before `(int count)`.
    fn head_before_bracket(&self, line: &str, number: u32) -> Option<(usize, Vec<Bytes>)> {
        if number == self.lines.count() || !line.ends_with(is_word) {
            return None;
        }
        let next = self.lines.line(number + 1).trim();
        let is_bracket = next.starts_with('(') && next.len() <= LINE_BYTES_MAX;
        let head = is_bracket.then(|| self.head(&format!("{line} {next}"))).flatten();
        head.filter(|(_, names)| names.iter().all(|name| name.end <= line.len()))
    }

    /// Whether a word is in this language's list.
    fn is_own(&self, lists: &[(&str, &[&str])], word: &str) -> bool {
        lists.iter().any(|(language, words)| *language == self.language.name && words.contains(&word))
    }

    fn begin(&mut self, number: u32, at: usize, names: &[Bytes]) {
        let outline: &'a CompiledOutline = self.outline;
        let (row, pattern, last) = &outline.heads[at];
        let (Some(mut what), Some((name, qualifiers))) = (What::from_capture(row.what), names.split_last()) else {
            return;
        };
        let (mut extent, mut last) = (row.extent, last.as_ref());
        if self.headings == 1 && what == What::Unit(UnitKind::Function, UnitRole::Definition) {
            what = What::Unit(UnitKind::Function, UnitRole::Declaration);
            (extent, last) = (DefinitionExtent::Indented, None);
        }
        let line = self.lines.line(number);
        let start = self.lines.bytes(number, number).start;
        let indentation = line.len() - line.trim_start().len();
        let place = |bytes: &Bytes| start + bytes.start..start + bytes.end;
        let head = line.trim_end().trim_end_matches('{').trim_end();
        let definition = Definition {
            parent: qualifiers.last().map(place),
            // The rest, once the end is known.
            body: Some(start + head.len()..start + head.len()),
            ..Definition::new(what, at, start + indentation..start + line.trim_end().len(), place(name))
        };
        self.open.push(OpenDefinition {
            indentation: column_of(line),
            first: number,
            extent,
            last,
            is_form: line.trim_start().starts_with('('),
            is_statement: line.trim_end().ends_with(';'),
            name: &line[name.clone()],
            inner: Vec::new(),
            definition,
        });
        let ends_here = last.is_some_and(|last| match extent {
            DefinitionExtent::Closed(_) => {
                let head = pattern.find(line).map_or(name.end, |head| head.end());
                self.is_closed_on_line(&line[..head], &line[head..], last)
            }
            _ => self.ends_on_line(&line[name.end..], last),
        });
        if extent == DefinitionExtent::Line || ends_here {
            self.close(self.open.len() - 1, number);
        }
    }

    /// Notes a definition inside of code: it is no unit, but its last line is not the outer one's.
    fn begin_inside(&mut self, line: &str, at: usize, names: &[Bytes]) {
        let outline: &'a CompiledOutline = self.outline;
        let (row, _, last) = &outline.heads[at];
        let is_ended = |extent| matches!(extent, DefinitionExtent::Ended(_));
        let (Some(last), Some(name), Some(code)) = (last, names.last(), self.open.last()) else { return };
        if is_ended(row.extent)
            && is_ended(code.extent)
            && column_of(line) > code.indentation
            && !self.ends_on_line(&line[name.end..], last)
        {
            self.open.last_mut().into_iter().for_each(|code| code.inner.push(last));
        }
    }

    /// Whether the rest of a first line contains what ends the definition: `function f(); endfunction`.
    fn ends_on_line(&self, rest: &str, last: &Regex) -> bool {
        let comment = self.language.comments.iter().filter_map(|mark| rest.find(*mark)).min();
        let code = &rest[..rest.floor_char_boundary(comment.unwrap_or(rest.len()).min(REST_BYTES_MAX))];
        code.match_indices([' ', '\t', ';']).any(|(at, _)| last.is_match(&code[at + 1..]))
    }

    /// Whether the rest of a first line ends with the mark that closes the definition, not only a block inside of it:
    /// `function f: Integer; begin g; end;`.
    fn is_closed_on_line(&self, head: &str, rest: &str, last: &Regex) -> bool {
        let code = self.code(rest);
        let own: Vec<&str> = head.split(|c| !is_word(c) && c != '.').collect();
        let is_own = |name: &str| own.iter().any(|word| word.eq_ignore_ascii_case(name));
        let (mut opened, mut closed, mut has_body, mut is_last) = (0, 0, false, false);
        let mut rest = code.trim();
        while let Some(first) = rest.chars().next() {
            let Some(mark) = last.find(rest) else {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
                let word = &rest[..length];
                opened += usize::from(word == "{" || contains_word(&BLOCK_WORDS, word));
                has_body |= contains_word(&BODY_WORDS, word);
                rest = rest[length..].trim_start();
                continue;
            };
            rest = &rest[mark.end()..];
            let is_name = |c: char| is_word(c) || c == '.' || c.is_whitespace();
            let (names, after) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
            rest = after;
            let mut names = names.split_whitespace().map(|name| name.trim_end_matches('.')).filter(|n| !n.is_empty());
            let is_of_definition = names.clone().all(is_own);
            // Any other word closes a statement: `end if`, `end loop`.
            let is_of_block = names.next().is_some_and(|name| contains_word(&BLOCK_WORDS, name));
            closed += usize::from(is_of_definition || is_of_block || !is_word(first));
            is_last = is_of_definition && rest.trim_start_matches([';', ' ', '\t']).is_empty();
        }
        is_last && closed >= opened + usize::from(!has_body)
    }

    /// A line's code, with a space in place of each quoted text and comment.
    fn code(&self, line: &str) -> String {
        let (mut code, mut rest) = (String::new(), line);
        while let Some(next) = rest.chars().next() {
            let comment = self.language.comments.iter().find(|mark| rest.starts_with(**mark));
            let skipped = match (comment, next) {
                (Some(mark), _) => {
                    let block = BLOCKS.iter().find(|(open, _)| open == mark);
                    Some((mark.len(), block.map_or("\n", |(_, close)| *close)))
                }
                (None, '"') => Some((1, "\"")),
                // After a name, the quote of an attribute: `A'First`.
                (None, '\'') if !code.ends_with(|c| is_word(c) || c == ')') => Some((1, "'")),
                _ => None,
            };
            let Some((open, close)) = skipped else {
                code.push(next);
                rest = &rest[next.len_utf8()..];
                continue;
            };
            code.push(' ');
            rest = rest[open..].find(close).map_or("", |at| &rest[open + at + close.len()..]);
        }
        code
    }

    /// Ends the definitions from position `from` on with line `end`.
    fn close(&mut self, from: usize, end: u32) {
        for OpenDefinition { first, mut definition, .. } in self.open.drain(from.min(self.open.len())..) {
            let last = self.lines.bytes(first, end.max(first));
            definition.bytes.end = last.start + self.lines.text[last].trim_end().len();
            if let Some(body) = &mut definition.body {
                body.end = definition.bytes.end.max(body.start);
            }
            self.found.definitions.push(definition);
        }
    }

    /// Whether a line is part of a comment; notes the comment.
    fn is_comment(&mut self, code: &str, start: usize) -> bool {
        if let Some((begin, close)) = self.comment {
            if code.contains(close) {
                self.found.comments.push(begin..start + code.len());
                self.comment = None;
            }
            return true;
        }
        let begins = |mark: &&str| code.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark));
        let blocks = BLOCKS.iter().filter(|(open, _)| self.language.comments.contains(open));
        let block = blocks.filter(|(open, _)| code.starts_with(open)).max_by_key(|(open, _)| open.len());
        if let Some((open, close)) = block {
            match code[open.len()..].find(close) {
                None => self.comment = Some((start, close)),
                Some(at) if code[open.len() + at + close.len()..].trim().is_empty() => {
                    self.found.comments.push(start..start + code.len());
                }
                // Code follows.
                Some(_) => return false,
            }
            return true;
        }
        let is_comment = self.language.comments.iter().any(begins);
        if is_comment {
            self.found.comments.push(start..start + code.len());
        }
        is_comment
    }

    /// Where the content of a definition begins on its first line: after the name, or where a body does.
    fn behind_head(&self, line: &str, at: usize, names: &[Bytes]) -> usize {
        let name = names.last().map_or(0, |name| name.end);
        let is_value = ["constant", "section"].contains(&self.outline.heads[at].0.what);
        if is_value { name } else { line[name..].find(['{', '=']).map_or(line.len(), |body| name + body) }
    }

    /// Notes the calls on a line from `from` on, outside of texts and of a comment at its end.
    fn add_calls(&mut self, line: &str, start: usize, from: usize) {
        let Some(calls) = &self.outline.calls else { return };
        let texts: Vec<usize> = line.match_indices('"').map(|(at, _)| at).collect();
        let is_text = |at: usize| texts.partition_point(|quote| *quote < at) % 2 == 1;
        let comment = |mark: &&str| line.match_indices(*mark).map(|(at, _)| at).find(|at| !is_text(*at));
        let marks = self.language.comments.iter().filter(|mark| mark.len() > 1 || **mark == "#");
        let end = marks.filter_map(comment).min().unwrap_or(line.len());
        for captures in calls.captures_iter(&line[..end]) {
            let Some(name) = captures.iter().flatten().last() else { continue };
            if name.start() >= from
                && !is_text(name.start())
                && !NOT_CALLED.contains(&name.as_str().to_ascii_lowercase().as_str())
            {
                self.found.calls.push(start + name.start()..start + name.end());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::language::by_name;
    use crate::parse::parse;

    /// Lines, kind and qualified name of every definition.
    fn outline(name: &str, text: &str) -> Vec<String> {
        let units = parse(text, by_name(name).expect("a row")).units;
        let definitions = units.iter().filter(|u| !u.name.is_empty());
        definitions
            .map(|u| format!("{}-{} {} {}", u.span.line, u.span.end, u.kind.name(), u.qualified_name()))
            .collect()
    }

    #[test]
    fn definitions_end_as_their_row_says() {
        for (language, text, expected) in [
            // Indented, without a closing line.
            ("gdscript", "func a():\n\tb()\n\n\tc()\nvar d = 1\n", &["1-4 function a", "5-5 constant d"][..]),
            // A bracket on its own line opens the body.
            ("vala", "void a ()\n{\n    b ();\n}\n\nvoid c () {\n}\n", &["1-4 function a", "6-7 function c"]),
            // The closing line of the outer one ends what is open in it.
            (
                "ada",
                "package A is\n   procedure B is\n   begin\n      C;\nend A;\n",
                &["1-5 class A", "2-4 method A.B"],
            ),
            // A declaration over several lines has no closing line.
            (
                "ada",
                "package A is\n   function B\n     (C : D) return E;\n   F : constant G := 1;\nend A;\n",
                &["1-5 class A", "2-3 method A.B", "4-4 constant A.F"],
            ),
            // Whatever is indented how, up to the closing word.
            (
                "systemverilog",
                "module a;\nassign b = c;\nendmodule\nmodule d;\nendmodule\n",
                &["1-3 class a", "4-5 class d"],
            ),
            // Up to the next of the same level.
            (
                "ini",
                "[a]\nb = 1\n\n[c]\nd = 2\n",
                &["1-2 section a", "2-2 constant a.b", "4-5 section c", "5-5 constant c.d"],
            ),
            // Names that begin like a statement.
            ("erlang", "throw_it(a) ->\n    b.\n", &["1-2 function throw_it"]),
            ("commonlisp", "(defmacro switch (a)\n  b)\n", &["1-2 function switch"]),
            // Keywords of another language.
            ("groovy", "def debug(a) {\n}\n", &["1-2 function debug"]),
            ("tcl", "proc http:get {a} {\n}\nproc b::c:d {} {\n}\n", &["1-2 function http:get", "3-4 method b.c:d"]),
            ("scheme", "(define* (a)\n  b)\n(define/c (d)\n  e)\n", &["1-2 function a", "3-4 function d"]),
            ("justfile", "new-day:\n    a\nreturn: new-day\n", &["1-2 function new-day", "3-3 function return"]),
            // A text with unindented lines.
            ("scheme", "(define (a)\n  \"B\nend c\"\n  (d))\n(define e 1)\n", &["1-4 function a", "5-5 constant e"]),
            // A last line that names the definition, however it is indented.
            (
                "vhdl",
                " function a return b is\n  begin\n  end function a;\n  function c return d is\n  begin\n  end function c;\n",
                &["1-3 function a", "4-6 function c"],
            ),
            // Marks inside of a first line end nothing.
            (
                "llvm",
                "define void @a({ ptr, i64 } %b, i32 %c) {\n  ret void\n}\ndefine void @d() { ret void }\n",
                &["1-3 function a", "4-4 function d"],
            ),
            (
                "ada",
                "procedure A (B : String := \"the end\") is -- end\nbegin\n   C;\nend A;\nprocedure D is begin E; end D; -- F\n",
                &["1-4 function A", "5-5 function D"],
            ),
            (
                "ada",
                "package A is type B is record C : D; end record;\n   procedure E;\nend A;\npackage F is end F;\n",
                &["1-3 class A", "2-2 method A.E", "4-4 class F"],
            ),
            (
                "pascal",
                "function A: B; begin if c then begin d; end;\n  e;\nend;\nfunction F: B; begin G('it''s begin'); end; { H }\n",
                &["1-3 function A", "4-4 function F"],
            ),
            (
                "pascal",
                "type\n  A = record B, C: Integer; end; // D\n  E = record\n    F: Integer;\n  end;\n",
                &["2-2 class A", "3-5 class E"],
            ),
            (
                "pascal",
                "function A: B; begin\n  Append\nend;\nprocedure C; begin Append\nend;\n",
                &["1-3 function A", "4-5 function C"],
            ),
            (
                "pascal",
                "program P;\ntype\n  A =\n    interface\n    function B: C;\n  end;\nfunction D: C;\nbegin\n  E;\nend;\n",
                &["5-6 function B", "7-10 function D"],
            ),
            (
                "pascal",
                "unit U;\ninterface\nfunction A: B;\nimplementation\ntype\n  C =\n  interface\n  end;\nfunction A: B;\n\
                 begin\n  D;\nend;\n",
                &["3-3 function A", "9-12 function A"],
            ),
            ("vhdl", "a : process begin if b then c; end if;\nend process;\n", &["1-2 function a"]),
            // At the end of the text.
            ("fishshell", "function a\n    b", &["1-2 function a"]),
        ] {
            assert_eq!(outline(language, text), expected, "{language}");
        }
    }

    #[test]
    fn comments_and_statements_define_nothing() {
        for (language, text) in [
            ("vala", "/*\nvoid a () {\n}\n*/\n"),
            ("vala", "// void a () {\n"),
            ("groovy", "return b(c) {\n}\n"),
            ("dlang", "static if (a)\n{\n}\nint function(b) c =\n    null;\n"),
            ("dlang", "static assert(a!b,\n    \"c\");\ndebug writeln(d,\n    e);\n"),
            ("pascal", "{ procedure A;\nbegin end; }\n"),
            ("pascal", "const\n  Total = (1 + 2);\n  Title = ('x');\n  Top = (Total);\n"),
            ("groovy", "pipeline {\n    Given(a) { b }\n}\nGiven(a) { b }\n"),
            ("tcl", "proc $a {} {\n}\n"),
            ("scheme", "(defined? a)\n(defined? (b))\n"),
            ("racket", "(defined? a)\n(defined? (b))\n"),
        ] {
            assert_eq!(outline(language, text), [""; 0], "{language}: {text}");
        }
    }

    #[test]
    fn calls_are_outside_of_texts_and_heads() {
        let text = "fn a(b: C(d)) {\n    e(\"f(g)\", h(1)) // i(j)\n    if (k) {}\n}\n";
        let units = parse(text, by_name("gleam").expect("a row")).units;
        assert_eq!(units[0].calls, ["e", "h"]);
    }
}
