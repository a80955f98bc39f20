//! Makes texts readable for a grammar where macros precede names: upper-case attributes in C and C++; and extensions in
//! C#. Removed text becomes spaces, so that offsets stay the same.

use std::ops::Range;

use super::pieces::{Piece, end_of_string, pieces};

/// Words before a type's name.
const TYPE_WORDS: [&str; 4] = ["class", "struct", "enum", "union"];
/// Words of types that a macro does not follow as an attribute.
const PRIMITIVES: [&str; 13] = [
    "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "unsigned", "void", "volatile",
    "wchar_t",
];
/// Words that may precede an attribute at the beginning of a declaration.
const LEADING: [&str; 9] =
    ["inline", "static", "constexpr", "virtual", "friend", "explicit", "extern", "consteval", "typedef"];
/// Words after a list of parameters.
const TRAILING: [&str; 4] = ["const", "noexcept", "override", "final"];

/// C#: blanks `extension(string s) {` and its bracket, so that its members are parsed as those of the class around it.
pub(super) fn csharp_extensions(text: &str) -> Option<String> {
    if !text.contains("extension(") && !text.contains("extension<") {
        return None;
    }
    let pieces = pieces(text);
    let mut prepared = PreparedText { text, bytes: text.as_bytes().to_vec(), changed: false };
    // Whether each open block is an extension's.
    let mut blocks = Vec::new();
    // The first piece of an extension's head.
    let mut head = None;
    for (i, (piece, place)) in pieces.iter().enumerate() {
        let begins = i.checked_sub(1).is_none_or(|before| matches!(pieces[before].0, Piece::Sign(b'{' | b'}' | b';')));
        match piece {
            Piece::Word if begins && &text[place.clone()] == "extension" => head = Some(place.start),
            Piece::Sign(b';') => head = None,
            Piece::Sign(b'{') => {
                blocks.push(head.is_some());
                head.take().into_iter().for_each(|start| prepared.blank(start..place.end));
            }
            Piece::Sign(b'}') if blocks.pop() == Some(true) => prepared.blank(place.clone()),
            _ => {}
        }
    }
    if prepared.changed { String::from_utf8(prepared.bytes).ok() } else { None }
}

/// Access labels of C++, which another word may follow (`public slots:`).
const ACCESS: [&str; 3] = ["public", "private", "protected"];

/// Names of macros that define a function although they have no underscore.
const DEFINERS: [&str; 4] = ["TEST", "BENCHMARK", "SCENARIO", "DEFUN"];
/// Pieces of a declaration's head that are looked at.
const HEAD_PIECES_MAX: usize = 200;
/// Pieces of a block in which a member is looked for.
const BLOCK_PIECES_MAX: usize = 1_000;

/// Where a macro that defines something may have its names.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MacroNames {
    /// The grammar reads `TEST(name) {` only.
    One,
    /// It reads `TEST(suite, name) {` as well.
    Two,
}

/// C and C++: removes upper-case words in the places of attributes (alone on a line, between `class` and a name, before
/// a declaration, between a parameter's name and the comma, between parameters and a body, at the end of a declaration)
/// and of access labels, and reduces macros that define a function or an enumeration, or that make the name of a function
/// (`PREFIX(open)(…)`), to the name.
pub(super) fn c_macros(text: &str, names: MacroNames) -> Option<String> {
    let pieces = pieces(text);
    let mut prepared = PreparedText { text, bytes: text.as_bytes().to_vec(), changed: false };
    // The pieces that are kept, so that consecutive attributes are recognized.
    let mut kept: Vec<(Piece, &str)> = Vec::new();
    let mut scope = DeclarationScope::default();
    let mut i = 0;
    while i < pieces.len() {
        let (piece, ref place) = pieces[i];
        let word = &text[place.clone()];
        if scope.is_outside()
            && let Some(name) = wrapped_name(&pieces, i, text)
            && scope.has_type(&kept)
        {
            // `int PREFIX(open)(const char *path) {`: leaves the name alone.
            prepared.blank(place.start..pieces[name].1.start);
            prepared.blank(pieces[name + 1].1.clone());
            kept.push((pieces[name].0, &text[pieces[name].1.clone()]));
            i = name + 2;
            continue;
        }
        let is_test = names == MacroNames::One && is_capitalized(word) && scope.blocks.is_empty();
        let is_macro = piece == Piece::Upper || DEFINERS.contains(&word) || is_test;
        let end = if is_macro { behind_arguments(&pieces, i) } else { i + 1 };
        if piece != Piece::Upper && !is_macro && !matches!(piece, Piece::Word) {
            scope.step(piece, &kept, begins_line(text, place.start));
        } else if let Some(end) = scope.label(&pieces, i, text, &kept) {
            prepared.blank(place.start..pieces[end - 1].1.end);
            i = end;
            continue;
        } else if piece == Piece::Upper
            && (is_attribute(text, &pieces, i, end, &kept) || scope.is_attribute(&pieces, end, &kept))
        {
            prepared.blank(place.start..pieces[end - 1].1.end);
            i = end;
            continue;
        } else if is_capitals(word)
            && let Some(end) = scope.behind_head(&pieces, i, &kept)
        {
            prepared.blank(place.start..pieces[end - 1].1.end);
            i = end;
            continue;
        } else if is_capitals(word) && (scope.is_modifier(&pieces, i, &kept) || scope.is_convention(&pieces, i, &kept))
        {
            prepared.blank(place.clone());
            i += 1;
            continue;
        } else if end > i + 1 && pieces.get(end).is_some_and(|p| p.0 == Piece::Sign(b'{')) && scope.is_outside() {
            let arguments = pieces[i + 1].1.end..pieces[end - 1].1.start;
            let typedef = kept.last().filter(|(_, word)| *word == "typedef").map(|_| pieces[i - 1].1.clone());
            if word.ends_with("_ENUM") || word.ends_with("_OPTIONS") {
                prepared.enumeration(place.start, arguments, typedef);
            } else if scope.begins(&kept) {
                prepared.function(word, arguments, names);
            }
        } else if end > i + 1
            && word.starts_with("DEFINE_")
            && pieces.get(end).is_some_and(|p| p.0 == Piece::Sign(b';'))
            && scope.is_outside()
        {
            prepared.variable(pieces[i + 1].1.end..pieces[end - 1].1.start);
        }
        kept.push((piece, word));
        i += 1;
    }
    // Removed arguments may contain multi-byte characters, which become spaces as a whole.
    if prepared.changed { String::from_utf8(prepared.bytes).ok() } else { None }
}

/// `WINAPI`, `A_B`: upper case, and longer than the name of a type parameter.
fn is_capitals(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && word.bytes().any(|b| b.is_ascii_uppercase())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// `Test`, `ParameterizedTest`.
fn is_capitalized(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_uppercase()) && bytes.any(|b| b.is_ascii_lowercase())
}

/// Whether only white space is before a byte on its line.
fn begins_line(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].iter().rev().find(|b| !matches!(b, b' ' | b'\t')).is_none_or(|b| *b == b'\n')
}

/// The edited bytes of a text.
struct PreparedText<'a> {
    text: &'a str,
    bytes: Vec<u8>,
    changed: bool,
}

impl PreparedText<'_> {
    fn blank(&mut self, range: Range<usize>) {
        self.bytes[range].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        self.changed = true;
    }

    /// `TEST_CASE("name", "tags") {` and `SYSCALL_DEFINE1(name, int, code) {`: leaves the name alone in the brackets.
    fn function(&mut self, word: &str, arguments: Range<usize>, names: MacroNames) {
        let Some(first) = argument(self.text, arguments.start, arguments.end) else {
            // `ParameterizedTest(struct row *row, suite, name) {`.
            let last = arguments.start + self.text[arguments.clone()].rfind(',').map_or(0, |comma| comma + 1);
            if let Some(name) = argument(self.text, last, arguments.end) {
                self.blank(arguments.start..name.start);
            }
            return;
        };
        let behind = first.end + self.text[first.end..arguments.end].find(',').map_or(0, |comma| comma + 1);
        let second = (behind > first.end).then(|| argument(self.text, behind, arguments.end)).flatten();
        let is_text = |argument: &Range<usize>| self.text[argument.clone()].starts_with('"');
        // Options may follow: `Test(suite, name, .init = setup)`.
        let is_last = |argument: &Range<usize>| {
            let rest = self.text[argument.end..arguments.end].trim_start().trim_start_matches(',').trim_start();
            rest.is_empty() || rest.starts_with('.')
        };
        let has_suite = ["TEST", "Test", "BENCH", "METHOD"].iter().any(|part| word.contains(part));
        let has_suite = (has_suite || word.ends_with("_F") || word == "Ensure") && !word.contains("FIXTURE");
        let kept = match second {
            _ if is_text(&first) => first,
            // `TEST_CASE_METHOD(Fixture, "name")`.
            Some(second) if is_text(&second) => second,
            Some(second) if has_suite && is_last(&second) => match names {
                MacroNames::One => second,
                MacroNames::Two => return,
            },
            // `A_METHOD(int, name)`.
            Some(second) if PRIMITIVES.contains(&&self.text[first.clone()]) => second,
            _ => first,
        };
        if self.text[kept.clone()].starts_with('"') {
            self.bytes[kept.clone()].fill(b's');
            self.changed = true;
        }
        for range in [arguments.start..kept.start, kept.end..arguments.end] {
            if !self.text[range.clone()].trim().is_empty() {
                self.blank(range);
            }
        }
    }

    /// `DEFINE_PER_CPU(struct queue, name);`: leaves the name alone in the brackets.
    fn variable(&mut self, arguments: Range<usize>) {
        let Some((first, _)) = self.text[arguments.clone()].split_once(',') else { return };
        let start = arguments.start + first.len() + 1;
        let is_type = first.trim().contains([' ', '*']) || PRIMITIVES.contains(&first.trim()) || first.ends_with("_t");
        if is_type && let Some(name) = argument(self.text, start, arguments.end) {
            self.blank(arguments.start..name.start);
            self.blank(name.end..arguments.end);
        }
    }

    /// `typedef NS_ENUM(NSInteger, Name) {`: becomes `enum Name {`.
    fn enumeration(&mut self, start: usize, arguments: Range<usize>, typedef: Option<Range<usize>>) {
        let Some(comma) = self.text[arguments.clone()].rfind(',') else { return };
        let Some(name) = argument(self.text, arguments.start + comma + 1, arguments.end) else { return };
        self.blank(start..name.start);
        self.blank(name.end..arguments.end + 1);
        self.bytes[start..start + 4].copy_from_slice(b"enum");
        typedef.into_iter().for_each(|word| self.blank(word));
    }
}

/// A name or a string of one line that is the whole argument at `from`.
fn argument(text: &str, from: usize, end: usize) -> Option<Range<usize>> {
    let start = from + text[from..end].len() - text[from..end].trim_start().len();
    let stop = match text.as_bytes().get(start)? {
        b'"' => end_of_string(text.as_bytes(), start).min(end),
        _ => start + text[start..end].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(end - start),
    };
    let behind = text[stop..end].trim_start();
    let is_whole = stop > start && text.is_char_boundary(stop) && (behind.is_empty() || behind.starts_with(','));
    (is_whole && !text.as_bytes()[start].is_ascii_digit() && !text[start..stop].contains('\n')).then_some(start..stop)
}

/// The open brackets around a piece, and the statement that it is part of.
#[derive(Default)]
struct DeclarationScope {
    /// Whether each open block holds declarations: of a namespace or a type.
    blocks: Vec<bool>,
    /// The first kept piece of the statement.
    statement: usize,
}

impl DeclarationScope {
    /// Whether it is outside of functions and values.
    fn is_outside(&self) -> bool {
        self.blocks.last().is_none_or(|holds| *holds)
    }

    /// Processes a sign before it is kept.
    fn step(&mut self, piece: Piece, kept: &[(Piece, &str)], begins_line: bool) {
        match piece {
            Piece::Sign(b'{') => {
                self.blocks.push(self.is_outside() && holds_declarations(&kept[self.statement..]));
                self.statement = kept.len() + 1;
            }
            Piece::Sign(b'}') => {
                self.blocks.pop();
                self.statement = kept.len() + 1;
            }
            Piece::Sign(b';') => self.statement = kept.len() + 1,
            // A method or property of Objective-C, which nothing separates from the line before.
            Piece::Sign(b'-' | b'+' | b'@') if begins_line => self.statement = kept.len(),
            _ => {}
        }
    }

    /// Whether a declaration begins here, after nothing but words like `static`.
    fn begins(&self, kept: &[(Piece, &str)]) -> bool {
        kept[self.statement.min(kept.len())..].iter().all(|(_, word)| LEADING.contains(word))
    }

    /// Whether an upper-case word is between the type and the name of a function: `int MY_EXPORT open(`.
    fn is_modifier(&self, pieces: &[(Piece, Range<usize>)], at: usize, kept: &[(Piece, &str)]) -> bool {
        let is_name = pieces.get(at + 1).is_some_and(|p| matches!(p.0, Piece::Word | Piece::Upper));
        let has_parameters = pieces.get(at + 2).is_some_and(|p| p.0 == Piece::Sign(b'('));
        let ends_type = match kept.last() {
            Some((Piece::Word, word)) => {
                let others = ["const", "volatile", "typename", "return", "else"];
                !LEADING.contains(word) && !TYPE_WORDS.contains(word) && !others.contains(word)
            }
            Some((piece, _)) => *piece == Piece::Sign(b'*'),
            None => false,
        };
        is_name && has_parameters && ends_type && self.is_outside() && self.has_type(kept)
    }

    /// Whether the statement consists of words before the name of a function: its type, and words like `static`.
    fn has_type(&self, kept: &[(Piece, &str)]) -> bool {
        let statement = &kept[self.statement.min(kept.len())..];
        let is_part = |piece: Piece| matches!(piece, Piece::Word | Piece::Upper | Piece::Sign(b'*' | b'&' | b':'));
        !statement.is_empty() && statement.iter().all(|(piece, word)| is_part(*piece) && *word != "typedef")
    }

    /// Whether a word precedes the `*` of a pointer to a function: `(WINAPI *start)(void)`.
    fn is_convention(&self, pieces: &[(Piece, Range<usize>)], at: usize, kept: &[(Piece, &str)]) -> bool {
        let is_sign = |at: usize, sign: u8| pieces.get(at).is_some_and(|p| p.0 == Piece::Sign(sign));
        let is_name = pieces.get(at + 2).is_some_and(|p| matches!(p.0, Piece::Word | Piece::Upper));
        let opens = kept.last().is_some_and(|(piece, _)| *piece == Piece::Sign(b'('));
        let is_pointer = opens && is_sign(at + 1, b'*') && is_name && is_sign(at + 3, b')') && is_sign(at + 4, b'(');
        is_pointer && self.is_outside()
    }

    /// The end of a macro in the place of an access label: `MY_PRIVATE:`, `signals:`, `slots` of `public slots:`.
    fn label(&self, pieces: &[(Piece, Range<usize>)], at: usize, text: &str, kept: &[(Piece, &str)]) -> Option<usize> {
        let (piece, place) = &pieces[at];
        let colon = &pieces.get(at + 1).filter(|p| p.0 == Piece::Sign(b':'))?.1;
        if self.blocks.last() != Some(&true) || text[colon.end..].starts_with(':') {
            return None;
        }
        let (before, word) = kept.last()?;
        if ACCESS.contains(word) {
            return Some(at + 1);
        }
        let is_label = *piece == Piece::Upper || &text[place.clone()] == "signals";
        (is_label && matches!(before, Piece::Sign(b'{' | b'}' | b';' | b':'))).then_some(at + 2)
    }

    /// The end of an upper-case word between the head of a function or the name of a type and a body: `int f() LOCKS(x) {`,
    /// `struct A ALIGNED(8) {`.
    fn behind_head(&self, pieces: &[(Piece, Range<usize>)], at: usize, kept: &[(Piece, &str)]) -> Option<usize> {
        let mut statement = kept.get(self.statement..).filter(|_| self.is_outside())?;
        while let [head @ .., (_, word)] = statement
            && TRAILING.contains(word)
        {
            statement = head;
        }
        let is_head = match statement {
            [.., (_, kind), (Piece::Word, name)] => {
                let is_kind = |word: &str| TYPE_WORDS.contains(&word) || word == "namespace";
                is_kind(kind) && !is_kind(name) && !is_capitals(name)
            }
            [.., (Piece::Sign(b')'), _)] => follows_name(statement),
            _ => false,
        };
        let end = is_head.then(|| behind_arguments(pieces, at))?;
        let is_type = matches!(statement, [.., (_, "class" | "struct" | "union"), _]);
        let is_enumeration = matches!(statement, [.., (_, "enum"), _, _]);
        // `struct Vec ZERO_VEC { 0 };` is a variable.
        if is_type && !is_enumeration && is_initializer(pieces, end) {
            return None;
        }
        let has_bases = matches!(statement, [.., (_, "class" | "struct"), _]);
        let is_body = |piece: Piece| piece == Piece::Sign(b'{') || has_bases && piece == Piece::Sign(b':');
        pieces.get(end).is_some_and(|p| is_body(p.0)).then_some(end)
    }

    /// Whether an upper-case word that ends before the piece `end` is an attribute at the end of a declaration, or
    /// before one of Objective-C's.
    fn is_attribute(&self, pieces: &[(Piece, Range<usize>)], end: usize, kept: &[(Piece, &str)]) -> bool {
        let Some((next, _)) = pieces.get(end).filter(|_| self.is_outside()) else { return false };
        let statement = &kept[self.statement.min(kept.len())..];
        let is_last = matches!(next, Piece::Sign(b';' | b'{') | Piece::Upper);
        match statement {
            [] => *next == Piece::Sign(b'@'),
            [(Piece::Sign(b'-' | b'+'), _), (Piece::Sign(b'('), _), ..] => {
                is_last && kept.last().is_some_and(|(_, word)| *word != ":")
            }
            [(Piece::Sign(b'@'), _), (_, "property"), ..] => is_last && statement.len() > 3,
            // `typedef NSString *Name A_B;`, `typedef NSInteger Name A_B;`
            [(_, "typedef"), .., (Piece::Sign(b'*'), _), (Piece::Word, _)] => is_last,
            [(_, "typedef"), (Piece::Word, word), (Piece::Word, name)] => {
                is_last && ![*word, *name].iter().any(|word| TYPE_WORDS.contains(word) || PRIMITIVES.contains(word))
            }
            // `void f(int x) A_LOCKS(y);`
            [.., (Piece::Sign(b')'), _)] if *next == Piece::Sign(b';') => follows_name(statement),
            _ => false,
        }
    }
}

/// Whether the block that begins here holds values, and no members.
fn is_initializer(pieces: &[(Piece, Range<usize>)], open: usize) -> bool {
    if pieces.get(open).is_none_or(|p| p.0 != Piece::Sign(b'{')) {
        return false;
    }
    let is_colon = |at: usize| pieces.get(at).is_some_and(|p| p.0 == Piece::Sign(b':'));
    let mut depth = 0;
    for (at, (piece, _)) in pieces.iter().enumerate().skip(open).take(BLOCK_PIECES_MAX) {
        match piece {
            Piece::Sign(b'{') => depth += 1,
            Piece::Sign(b'}') if depth == 1 => return at > open + 1,
            Piece::Sign(b'}') => depth -= 1,
            // The end of a member, or of an access label.
            Piece::Sign(b';') if depth == 1 => return false,
            Piece::Sign(b':') if depth == 1 && !is_colon(at - 1) && !is_colon(at + 1) => return false,
            _ => {}
        }
    }
    false
}

/// Whether the first brackets of a statement follow a type and a name, so that they hold parameters. Looks at its
/// beginning alone.
fn follows_name(statement: &[(Piece, &str)]) -> bool {
    let open = statement.iter().take(HEAD_PIECES_MAX).position(|(piece, _)| *piece == Piece::Sign(b'('));
    open.is_some_and(|open| open > 1 && statement[open - 1].0 == Piece::Word)
}

/// Whether the block after the pieces of a statement holds declarations: of a namespace, a type, `extern "C"`.
fn holds_declarations(statement: &[(Piece, &str)]) -> bool {
    let is_sign = |(piece, _): &(Piece, &str)| matches!(piece, Piece::Sign(b'(' | b'='));
    let is_type = |(_, word): &(Piece, &str)| TYPE_WORDS.contains(word) || *word == "namespace";
    !statement.iter().any(is_sign) && (statement.iter().any(is_type) || matches!(statement, [(_, "extern")]))
}

/// The index of the name that a macro makes the name of a function: `open` of `PREFIX(open)(`.
fn wrapped_name(pieces: &[(Piece, Range<usize>)], at: usize, text: &str) -> Option<usize> {
    let signs = [(at + 1, b'('), (at + 3, b')'), (at + 4, b'(')];
    let is_sign = |(at, sign): (usize, u8)| pieces.get(at).is_some_and(|p| p.0 == Piece::Sign(sign));
    let is_name = || matches!(pieces[at + 2].0, Piece::Word | Piece::Upper);
    let word = &text[pieces[at].1.clone()];
    let is_macro = word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    (is_macro && signs.into_iter().all(is_sign) && is_name()).then_some(at + 2)
}

/// The index of the piece after a word and its arguments, if it has any.
fn behind_arguments(pieces: &[(Piece, Range<usize>)], word: usize) -> usize {
    if pieces.get(word + 1).is_none_or(|p| p.0 != Piece::Sign(b'(')) {
        return word + 1;
    }
    let mut depth = 0;
    for (i, (piece, _)) in pieces.iter().enumerate().skip(word + 1).take(HEAD_PIECES_MAX) {
        match piece {
            Piece::Sign(b'(') => depth += 1,
            Piece::Sign(b')') if depth == 1 => return i + 1,
            Piece::Sign(b')') => depth -= 1,
            _ => {}
        }
    }
    word + 1
}

fn is_attribute(text: &str, pieces: &[(Piece, Range<usize>)], at: usize, end: usize, kept: &[(Piece, &str)]) -> bool {
    let has_arguments = end > at + 1;
    let next = pieces.get(end).map(|(piece, place)| (*piece, &text[place.clone()]));
    let (next_piece, next_word) = next.unwrap_or((Piece::Sign(0), ""));
    let is_name = |piece: Piece| matches!(piece, Piece::Word | Piece::Upper);
    let before = kept.last().copied();
    let begins = match before {
        None => true,
        Some((Piece::Sign(sign), _)) => b";{}>:".contains(&sign),
        Some((Piece::Word, word)) => LEADING.contains(&word),
        Some((Piece::Upper, _)) => false,
    };
    if let Some((Piece::Word, word)) = before {
        if TYPE_WORDS.contains(&word) {
            // The name of a type that is used rather than defined may look like that.
            let behind = pieces.get(end + 1).map(|(piece, place)| (*piece, &text[place.clone()]));
            let is_definition = matches!(behind, Some((Piece::Sign(b'{' | b':' | b'<'), _)) | Some((_, "final")));
            return is_name(next_piece) && is_definition;
        }
        if TRAILING.contains(&word) {
            return next_piece == Piece::Sign(b'{');
        }
    }
    if before.is_some_and(|(piece, _)| piece == Piece::Sign(b')')) {
        return next_piece == Piece::Sign(b'{') && is_alone_or_called(has_arguments, next_word);
    }
    if let [.., (first, _), (second, _)] = kept
        && is_name(*second)
        && (is_name(*first) || matches!(first, Piece::Sign(b'&' | b'*' | b'>')))
        && !has_arguments
        && matches!(next_piece, Piece::Sign(b',' | b')'))
    {
        return true;
    }
    if !begins {
        return false;
    }
    let line_end = text[pieces[end - 1].1.end..].lines().next().unwrap_or_default().trim();
    let line_start = text[..pieces[at].1.start].rsplit('\n').next().unwrap_or_default().trim();
    let stands_alone = line_end.is_empty() && line_start.is_empty();
    let in_list = matches!(next_piece, Piece::Sign(b',' | b'=')) || (next_piece == Piece::Sign(b'}') && !closes(kept));
    if stands_alone && !in_list && next_piece != Piece::Sign(b';') {
        return !has_arguments || is_name(next_piece) || next_piece == Piece::Sign(b'}');
    }
    is_name(next_piece) && names_follow(text, &pieces[end..])
}

fn is_alone_or_called(has_arguments: bool, next: &str) -> bool {
    has_arguments || !next.is_empty()
}

/// Whether the last piece closes a block.
fn closes(kept: &[(Piece, &str)]) -> bool {
    kept.last().is_some_and(|(piece, _)| matches!(piece, Piece::Sign(b'}' | b';')))
}

/// Whether a type and a name follow, so that the text before is neither.
fn names_follow(text: &str, pieces: &[(Piece, Range<usize>)]) -> bool {
    let mut names = 0;
    for (piece, place) in pieces.iter().take(40) {
        match piece {
            Piece::Word | Piece::Upper => {
                let word = &text[place.clone()];
                if TYPE_WORDS.contains(&word) || matches!(word, "namespace" | "template" | "using" | "typedef" | "void")
                {
                    return true;
                }
                names += usize::from(!TRAILING.contains(&word) && !LEADING.contains(&word));
            }
            Piece::Sign(b'(' | b';' | b'=' | b'{' | b'[' | b')' | b'}') => return names > 1,
            // Parts of one name.
            Piece::Sign(b':') => names = names.saturating_sub(1),
            Piece::Sign(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_csharp_are_taken_off() {
        for (text, expected) in [
            (
                "class A {\n  extension<T>(B<T> b) where T : C\n  { int D() { } }\n  int E;\n}",
                Some("class A {\n                                  \n    int D() { }  \n  int E;\n}"),
            ),
            ("class A { void extension(int b) { } }", None),
        ] {
            assert_eq!(csharp_extensions(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn attributes_in_upper_case_are_taken_off() {
        for (text, expected) in [
            ("class ABSL_API Foo {", "class          Foo {"),
            ("struct A_B(8) Foo : Bar {};", "struct        Foo : Bar {};"),
            ("ABSL_NS_BEGIN\nclass A {};\nABSL_NS_END\n}", "             \nclass A {};\n           \n}"),
            ("FMT_API void print(int x);", "        void print(int x);"),
            ("static FMT_INLINE auto f() -> int;", "static            auto f() -> int;"),
            ("void f(const T& x A_BOUND, int y) A_LOCKS(mu) {", "void f(const T& x        , int y)             {"),
            ("void f(int x) A_LOCKS(mu);", "void f(int x)            ;"),
            ("int f(int x) LOCKS(mu) {", "int f(int x)           {"),
            ("void A::f() const PURE {", "void A::f() const      {"),
            ("struct Foo ALIGNED(8) {", "struct Foo            {"),
            ("enum class Foo FLAGS {", "enum class Foo       {"),
            ("class Foo A_B : Bar {", "class Foo     : Bar {"),
            ("namespace a _B_C(d) {", "namespace a         {"),
            ("class A {\n A_PRIVATE:\n  int x;\n};", "class A {\n           \n  int x;\n};"),
            ("class A {\npublic slots:\n  A b();\nsignals:\n};", "class A {\npublic      :\n  A b();\n        \n};"),
            ("typedef NS_ENUM(A, B) { C };", "        enum       B  { C };"),
            ("TEST_CASE(\"é\", \"b\") {", "TEST_CASE(ssss     ) {"),
            ("A_TEST_METHOD(B, \"c\", \"d\") {", "A_TEST_METHOD(   sss     ) {"),
            ("A_FIXTURE_TEST(b, C) {", "A_FIXTURE_TEST(b   ) {"),
            ("A_MODULE(b, c) {", "A_MODULE(b   ) {"),
            ("A_METHODS(int, c, d) {", "A_METHODS(     c   ) {"),
            ("namespace a {\nA_DEFINE3(b, int *, c)\n{", "namespace a {\nA_DEFINE3(b          )\n{"),
            ("- (void)a:(int)b A_B(c(1)) C_D;", "- (void)a:(int)b              ;"),
            ("A_B(c)\n@interface D", "      \n@interface D"),
            ("int A_B c(int d) {", "int     c(int d) {"),
            ("A_B int CD(e)(int f) {", "    int    e (int f) {"),
            ("char *A_B A_C(d)(int e);", "char *        d (int e);"),
            ("JNIEXPORT jint JNICALL A_b(int c) {", "JNIEXPORT jint         A_b(int c) {"),
            ("typedef unsigned long (WINAPI *a)(int b);", "typedef unsigned long (       *a)(int b);"),
            ("typedef NSString *A B_C;", "typedef NSString *A    ;"),
            ("typedef NSInteger A B_C;", "typedef NSInteger A    ;"),
            ("static DEFINE_PER_CPU(struct a, b);", "static DEFINE_PER_CPU(          b);"),
            ("enum class Foo FLAGS { A };", "enum class Foo       { A };"),
            ("struct Abc DEF { int e; };", "struct Abc     { int e; };"),
            ("class Foo ALIGNED { public: Foo(); };", "class Foo         { public: Foo(); };"),
            // Types, names and values stay.
            ("struct Vec ZERO_VEC { 0 };", ""),
            ("static const struct Vec ZERO_VEC { { 1, 2 }, A::f(3) };", ""),
            ("const A_B c(int d) {", ""),
            ("typedef int A_B(c)(int d);", ""),
            ("API(int) RUN(void) {", ""),
            ("struct API FOO {", ""),
            ("enum class FOO {", ""),
            ("struct A { enum b FOO : 3; };", ""),
            ("- (void) RUN {", ""),
            ("void f() { if (x) EACH(y) { g(); } }", ""),
            ("int a = A_B(c)(d);", ""),
            ("void a() { A_B(c)(d); }", ""),
            ("SOME_TYPE name(int x) {", ""),
            ("SOME_TYPE value;", ""),
            ("int MAX_LEN = 5;", ""),
            ("enum E { FOO_BAR, FOO_BAZ };", ""),
            ("enum E {\n  FOO_BAR\n};", ""),
            ("if (x) LOG_IT(y);", ""),
            ("return MAX_LEN;", ""),
            ("static struct MY_TYPE make(int x) {", ""),
            ("TEST_F(A, B) {", ""),
            ("TEST(A) {", ""),
            ("void f() {\n  FOR_EACH(x, list()) {\n  }\nA_B:\n  g();\n}", ""),
            ("extern int A_B(int);", ""),
            ("extern WORD a(int);", ""),
            ("typedef struct A_B C_D;", ""),
            ("typedef unsigned int A_B;", ""),
            ("typedef char *A_B;", ""),
            ("DEFINE_A(b, c);", ""),
            ("int a = (BCD *)(c);", ""),
            ("static A_TYPE x = A_B(1);", ""),
            ("class A {\n  A() : A_B(1) {}\n  int c = x ? A_B : 1;\n};", ""),
            ("#define A_B class C_D E\nint x;", ""),
            ("// class A_B C {\n\"class A_B C {\"", ""),
            ("f(A_B, C_D);", ""),
            ("std::vector<A_B> x;", ""),
        ] {
            let expected = if expected.is_empty() { None } else { Some(expected) };
            assert_eq!(c_macros(text, MacroNames::Two).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tests_of_c_keep_the_last_name() {
        for (text, expected) in [
            ("Test(a, b, .c = d) {", Some("Test(   b        ) {")),
            ("ATest(struct a *b, c, d) {", Some("ATest(                d) {")),
            ("Ensure(A, b) {", Some("Ensure(   b) {")),
            ("Describe(A) {", None),
            ("struct A {\n  Test(a, b) {", None),
            ("int Test(a, b) {", None),
            ("test(a, b) {", None),
        ] {
            assert_eq!(c_macros(text, MacroNames::One).as_deref(), expected, "{text}");
        }
    }
}
