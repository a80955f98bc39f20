//! Makes texts readable for a grammar where macros enclose definitions or precede names: item macros in Rust,
//! upper-case attributes in C and C++. Removed text becomes spaces, so that offsets stay the same.

use std::ops::Range;

/// Words that begin an item in Rust.
const RUST_ITEMS: [&str; 15] = [
    "pub",
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "impl",
    "mod",
    "use",
    "const",
    "static",
    "type",
    "async",
    "unsafe",
    "macro_rules",
];

/// Rust: blanks the first line and last bracket of `cfg_rt! { pub fn spawn … }`, so that its content is parsed as
/// items. Blocks of anything else (`quote! { … }`, patterns) and definitions of macros are kept.
pub(super) fn rust_items(text: &str) -> Option<String> {
    if !text.contains("! {\n") {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let lines: Vec<(usize, &str)> =
        text.split_inclusive('\n').scan(0, |at, line| Some((*at, line)).inspect(|_| *at += line.len())).collect();
    let mut changed = false;
    // The open blocks, by indentation.
    let mut open: Vec<usize> = Vec::new();
    for (i, (start, line)) in lines.iter().enumerate() {
        let word = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let blank = |bytes: &mut Vec<u8>, from: usize, length: usize| bytes[from..from + length].fill(b' ');
        if opens_items(word) && begins_item(&lines[i + 1..]) {
            open.push(indentation);
            blank(&mut bytes, start + indentation, word.len());
            changed = true;
        } else if word == "}" && open.last() == Some(&indentation) {
            open.pop();
            blank(&mut bytes, start + indentation, 1);
        }
    }
    // An unclosed block is not one.
    if !changed || !open.is_empty() {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// `name! {` alone on its line; `macro_rules! name {` has another form, and quoted code is not an item.
fn opens_items(line: &str) -> bool {
    let name = line.strip_suffix("! {").unwrap_or_default();
    !name.is_empty()
        && !name.contains("quote")
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
}

/// Whether the first line that is not blank, a comment or an attribute begins an item.
fn begins_item(lines: &[(usize, &str)]) -> bool {
    let mut inside_attribute = false;
    for (_, line) in lines {
        let word = line.trim();
        if inside_attribute {
            inside_attribute = !word.ends_with(']');
            continue;
        }
        if word.is_empty() || word.starts_with("//") {
            continue;
        }
        if word.starts_with('#') {
            inside_attribute = !word.ends_with(']');
            continue;
        }
        let first = word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        // Names of values, as in a map's pattern, are not followed by an item.
        return RUST_ITEMS.contains(&first) && !word.contains("=>") || opens_items(word);
    }
    false
}

/// Words before a type's name.
const TYPE_WORDS: [&str; 4] = ["class", "struct", "enum", "union"];
/// Words that may precede an attribute at the beginning of a declaration.
const LEADING: [&str; 9] =
    ["inline", "static", "constexpr", "virtual", "friend", "explicit", "extern", "consteval", "typedef"];
/// Words after a list of parameters.
const TRAILING: [&str; 4] = ["const", "noexcept", "override", "final"];

/// A token between white space and comments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece {
    Word,
    /// A word in upper case with an underscore, which may be a macro.
    Upper,
    Sign(u8),
}

/// C and C++: removes upper-case words in the places of attributes: alone on a line, between `class` and a name, before
/// a declaration, between a parameter's name and the comma, between parameters and a body.
pub(super) fn c_attributes(text: &str) -> Option<String> {
    let pieces = pieces(text);
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    // The pieces that are kept, so that consecutive attributes are recognized.
    let mut kept: Vec<(Piece, &str)> = Vec::new();
    let mut i = 0;
    while i < pieces.len() {
        let (piece, ref place) = pieces[i];
        let end = if piece == Piece::Upper { behind_arguments(&pieces, i) } else { i + 1 };
        if piece == Piece::Upper && is_attribute(text, &pieces, i, end, &kept) {
            let last = pieces[end - 1].1.end;
            bytes[place.start..last].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
            changed = true;
            i = end;
            continue;
        }
        kept.push((piece, &text[place.clone()]));
        i += 1;
    }
    // Removed arguments may contain multi-byte characters, which become spaces as a whole.
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// The index of the piece after a word and its arguments, if it has any.
fn behind_arguments(pieces: &[(Piece, Range<usize>)], word: usize) -> usize {
    if pieces.get(word + 1).is_none_or(|p| p.0 != Piece::Sign(b'(')) {
        return word + 1;
    }
    let mut depth = 0;
    for (i, (piece, _)) in pieces.iter().enumerate().skip(word + 1).take(200) {
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

/// The words and signs of a text, without comments, strings and lines of the preprocessor.
pub(super) fn pieces(text: &str) -> Vec<(Piece, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut i, mut line_begins) = (0, true);
    while i < bytes.len() {
        let start = i;
        let byte = bytes[i];
        match byte {
            b'\n' => {
                line_begins = true;
                i += 1;
                continue;
            }
            b if b.is_ascii_whitespace() => {
                i += 1;
                continue;
            }
            b'#' if line_begins => i = end_of_line(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'/') => i = end_of_line(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'*') => {
                i = text[i + 2..].find("*/").map_or(bytes.len(), |end| i + end + 4)
            }
            b'"' if text[..i].ends_with('R') => i = end_of_raw(text, i),
            b'"' | b'\'' => i = end_of_string(bytes, i),
            b if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' || bytes[i] >= 0x80) {
                    i += 1;
                }
                found.push((if is_upper(&text[start..i]) { Piece::Upper } else { Piece::Word }, start..i));
            }
            _ => {
                i += 1;
                found.push((Piece::Sign(byte), start..i));
            }
        }
        line_begins = false;
    }
    found
}

/// `ABSL_API`: upper case with an underscore inside.
fn is_upper(word: &str) -> bool {
    let inside = word.trim_matches('_');
    inside.contains('_')
        && inside.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// The end of the line, including those that a backslash joins to it.
pub(super) fn end_of_line(bytes: &[u8], from: usize) -> usize {
    let mut i = from;
    while i < bytes.len()
        && (bytes[i] != b'\n' || bytes[i - 1] == b'\\' || bytes[i - 1] == b'\r' && bytes[i - 2] == b'\\')
    {
        i += 1;
    }
    i
}

/// The end of a string or character, at the latest the end of its line. `1'000` is a number.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    if quote == b'\'' && from > 0 && bytes[from - 1].is_ascii_alphanumeric() {
        return from + 1;
    }
    let mut i = from + 1;
    while i < bytes.len() && bytes[i] != quote && bytes[i] != b'\n' {
        i += if bytes[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(bytes.len())
}

/// The end of a raw string `R"x(…)x"`.
fn end_of_raw(text: &str, from: usize) -> usize {
    let Some(open) = text.as_bytes()[from..].iter().take(20).position(|b| *b == b'(') else { return from + 1 };
    let close = format!("){}\"", &text[from + 1..from + open]);
    text[from + open..].find(&close).map_or(text.len(), |end| from + open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_items_are_taken_off() {
        for (text, expected) in [
            (
                "cfg_rt! {\n    /// Doc.\n    #[inline]\n    pub fn spawn() {\n    }\n}\n",
                Some("         \n    /// Doc.\n    #[inline]\n    pub fn spawn() {\n    }\n \n"),
            ),
            (
                "io! {\n    macro_rules! m {\n        () => {};\n    }\n}\n",
                Some("     \n    macro_rules! m {\n        () => {};\n    }\n \n"),
            ),
            ("a! {\n    b! {\n        fn f() {}\n    }\n}\n", Some("    \n        \n        fn f() {}\n     \n \n")),
            ("quote! {\n    fn #name() {}\n}\n", None),
            ("macro_rules! m {\n    () => { fn f() {} };\n}\n", None),
            ("vec! {\n    1, 2\n}\n", None),
            ("cfg_rt! {\n    fn open() {\n", None),
        ] {
            assert_eq!(rust_items(text).as_deref(), expected, "{text}");
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
            // Types, names and values stay.
            ("SOME_TYPE name(int x) {", ""),
            ("SOME_TYPE value;", ""),
            ("int MAX_LEN = 5;", ""),
            ("enum E { FOO_BAR, FOO_BAZ };", ""),
            ("enum E {\n  FOO_BAR\n};", ""),
            ("if (x) LOG_IT(y);", ""),
            ("return MAX_LEN;", ""),
            ("static struct MY_TYPE make(int x) {", ""),
            ("TEST_F(A, B) {", ""),
            ("#define A_B class C_D E\nint x;", ""),
            ("// class A_B C {\n\"class A_B C {\"", ""),
            ("f(A_B, C_D);", ""),
            ("std::vector<A_B> x;", ""),
        ] {
            let expected = if expected.is_empty() { None } else { Some(expected) };
            assert_eq!(c_attributes(text).as_deref(), expected, "{text}");
        }
    }
}
