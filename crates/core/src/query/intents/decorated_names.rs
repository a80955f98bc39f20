//! Names inside other syntax: a regular expression, a symbol of a profile or a crash, a link.

use crate::literal_match::is_of_no_name;
use crate::token::is_word_char;

/// Parts of an expression that match blanks, words or brackets, replaced by a blank.
const BLANKS: &[&str] = &[
    "\\s*", "\\s+", "\\s", "\\w*", "\\w+", "\\S*", "\\S+", ".*?", ".+?", ".*", ".+", "\\(", "\\)", "\\[", "\\]", "\\{",
    "\\}",
];
/// Boundaries of words in an expression.
const BOUNDS: &[&str] = &["\\b", "\\B", "\\<", "\\>"];

/// The names in an expression (`\bopen_port\(`, `def\s+open`, `open|close`, `*port*`, `/open/i`), a symbol
/// (`github.com/acme/net.(*Conn).Close.func1`, `acme::Conn::close::h0123456789abcdef`, `openPort+0x1a2`,
/// `server(openPort+0x1a2)[0x55d0]`) or a link in Markdown. `None` for any other text.
pub fn names_around(text: &str) -> Option<String> {
    let text = text.trim();
    let inside = slashed(text);
    let is_plain = |text: &&str| text.chars().all(|c| is_word_char(c) || matches!(c, ' ' | '-' | '.'));
    let plain = || inside.filter(is_plain).map(str::to_string);
    let read = linked(text)
        .or_else(|| offset(text))
        .or_else(|| compiled(text))
        .or_else(|| symbol(text))
        .or_else(|| expression(inside.unwrap_or(text)))
        .or_else(plain)?;
    let names = read.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_name = names.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
    (is_name && names != text).then_some(names)
}

/// `open_port` of `/open_port/i`, as some languages write expressions.
fn slashed(text: &str) -> Option<&str> {
    let (inside, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    (!inside.contains('/') && flags.chars().all(|c| "dgimsuvxy".contains(c))).then_some(inside)
}

/// `open_port` of ``[`open_port`](https://docs.example.com)``.
fn linked(text: &str) -> Option<String> {
    let (name, target) = text.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let name = name.trim_matches('`');
    let is_one = !name.is_empty() && name.chars().all(|c| is_word_char(c) || matches!(c, '.' | ':' | '(' | ')' | '!'));
    (is_one && !target.contains(char::is_whitespace)).then(|| name.to_string())
}

/// `open_port` of `open_port+0x1a2` and `server(open_port+0x1a2)[0x55d0]`.
fn offset(text: &str) -> Option<String> {
    let (front, behind) = text.split_once("+0x")?;
    let behind = behind.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    let is_end = |c: char| c.is_ascii_hexdigit() || matches!(c, '/' | 'x' | ')' | '[' | ']');
    let name = front.rsplit(['(', ' ', '!']).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| is_word_char(c) || matches!(c, ':' | '.'));
    (is_name && behind.chars().all(is_end)).then(|| name.to_string())
}

/// `acme::Conn::close` of `acme::Conn::close::{{closure}}::h0123456789abcdef`, `<acme::Conn as Drop>::close` and
/// `_ZN4acme4Conn5closeEv`.
fn compiled(text: &str) -> Option<String> {
    let mangled = text.trim_start_matches('_').strip_prefix("ZN").filter(|_| text.starts_with('_'));
    let mut path = mangled.map_or_else(|| text.to_string(), lengths_read);
    let inside = path.strip_prefix('<').and_then(|rest| rest.split_once(">::"));
    if let Some((owner, rest)) = inside {
        path = format!("{}::{rest}", owner.split(" as ").next()?);
    }
    let parts = path.split("::").filter(|part| {
        let part = part.trim_matches(['{', '}']);
        !is_of_no_name(part.split('#').next().unwrap_or(part))
    });
    let parts: Vec<&str> = parts.collect();
    let are_names = parts.len() > 1 && parts.iter().all(|part| !part.is_empty() && part.chars().all(is_word_char));
    are_names.then(|| parts.join("::")).filter(|path| path != text)
}

/// The names in a mangled path, each behind its length: `a::run` of `1a3runE`.
fn lengths_read(mut rest: &str) -> String {
    let mut names = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length: usize = rest[..digits].parse().unwrap_or(0);
        let Some(name) = rest[digits..].get(..length).filter(|name| !name.is_empty()) else { return names.join("::") };
        names.push(name);
        rest = &rest[digits + length..];
    }
}

/// `Conn.Close` of Go's `github.com/acme/net.(*Conn).Close.func1` and `net.(*Conn).Close-fm`.
fn symbol(text: &str) -> Option<String> {
    if text.contains(char::is_whitespace) {
        return None;
    }
    let text = text.strip_suffix("-fm").unwrap_or(text);
    let called = text.split_once("(0x").map_or(text, |(front, _)| front).trim_end_matches("(...)");
    let name = called.rsplit('/').next()?;
    let is_far = name.len() < text.len();
    let (package, rest) = name.split_once('.')?;
    let is_of_package = package.chars().all(|c| is_word_char(c) || c == '-') && !package.is_empty();
    let (rest, has_receiver) = match rest.strip_prefix("(*").and_then(|rest| rest.split_once(')')) {
        Some((receiver, rest)) => (format!("{receiver}{rest}"), true),
        None => (rest.to_string(), false),
    };
    // Without a receiver, only a closure or an imported package distinguishes a symbol from `a.b`.
    let is_closure = |part: &&str| {
        let number = part.strip_prefix("func").or_else(|| part.strip_prefix("gowrap"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let parts: Vec<&str> = rest.split('.').collect();
    let own: Vec<&str> = parts.iter().copied().take_while(|part| !is_closure(part)).collect();
    let is_path = !own.is_empty() && own.iter().all(|part| !part.is_empty() && part.chars().all(is_word_char));
    // `host.example/page.html` is an address.
    let is_symbol = has_receiver || own.len() < parts.len() || (is_far && own[0].starts_with(char::is_uppercase));
    (is_of_package && is_path && is_symbol).then(|| own.join("."))
}

/// The words of an expression, or of a pattern of names.
fn expression(text: &str) -> Option<String> {
    let is_pattern = BLANKS.iter().chain(BOUNDS).any(|mark| text.contains(mark));
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| is_word_char(c) || matches!(c, '.' | ':' | '-'));
    let are_choices = text.contains('|') && text.split('|').all(is_word);
    let stars = text.trim_matches('*');
    let has_stars = stars.len() < text.len() && is_word(stars);
    let is_reference = text.strip_prefix('&').is_some_and(is_word);
    // `server.*` is a file with any extension.
    if text.strip_suffix(".*").is_some_and(is_word) {
        return None;
    }
    if !is_pattern && !are_choices && !has_stars && !is_reference {
        return None;
    }
    // `src\base\server.c` is a path of Windows.
    let is_inside_word = |(at, _): (usize, &str)| {
        let mut behind = text[at + 1..].chars();
        text[..at].ends_with(is_word_char)
            && behind.next().is_some_and(|c| c.is_ascii_alphabetic())
            && behind.next().is_some_and(is_word_char)
    };
    if text.match_indices('\\').any(is_inside_word) {
        return None;
    }
    let mut read = text.trim_start_matches(['^', '&']).trim_end_matches('$').trim_matches('*').to_string();
    for mark in BOUNDS {
        read = read.replace(mark, "");
    }
    for mark in BLANKS {
        read = read.replace(mark, " ");
    }
    let read = read.replace("\\.", ".").replace(['|', '(', ')', '?', '=', '"', '\''], " ");
    // Other marks of an expression match more than names.
    let is_plain = !read.contains(['\\', '[', ']', '{', '}', '+', '*', '^', '$']);
    is_plain.then(|| read.trim_matches([':', ' ']).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_is_written_around_them() {
        for (text, expected) in [
            (r"\bopen_port\b", "open_port"),
            (r"\<open_port\>", "open_port"),
            (r"open_port\(", "open_port"),
            (r"open_port\s*=", "open_port"),
            (r"def\s+open_port\s*\(", "def open_port"),
            ("def.*open_port", "def open_port"),
            ("open_port|close_port", "open_port close_port"),
            (r"\b(open_port|close_port)\b", "open_port close_port"),
            (r"net\.open_port\(", "net.open_port"),
            ("*open_port*", "open_port"),
            ("&open_port", "open_port"),
            ("^class .*Port$", "class Port"),
            ("github.com/acme/net.(*Conn).Close", "Conn.Close"),
            ("github.com/acme/net.(*Conn).Close.func1", "Conn.Close"),
            ("github.com/acme/net.(*Conn).Close.func2.1", "Conn.Close"),
            ("net.(*Conn).Close-fm", "Conn.Close"),
            ("net.(*Conn).Close(0xc0001, 0x1)", ""),
            ("net.(*Conn).Close(0xc0001)", "Conn.Close"),
            ("github.com/acme/net.Dial", "Dial"),
            ("acme/net.Dial", "Dial"),
            ("net.Dial(...)", "Dial"),
            ("acme::Conn::close::h0123456789abcdef", "acme::Conn::close"),
            ("acme::Conn::close::{{closure}}", "acme::Conn::close"),
            ("acme::run::{closure#0}::hfedcba9876543210", "acme::run"),
            ("<acme::Conn>::close", "acme::Conn::close"),
            ("<acme::Conn as core::ops::Drop>::drop", "acme::Conn::drop"),
            ("_ZN4acme4Conn5close17h0123456789abcdefE", "acme::Conn::close"),
            ("_ZN4acme4Conn5closeEv", "acme::Conn::close"),
            ("acme::Conn::close", ""),
            ("<acme::Conn>", ""),
            ("main.run.func1", "run"),
            ("openPort+0x12", "openPort"),
            ("openPort+0x12/0x80", "openPort"),
            ("server(openPort+0x1a2)[0x55d0c1a2]", "openPort"),
            ("server *:6379(openPort+0x1a2)[0x55d0c1a2]", "openPort"),
            ("[`open_port`](https://docs.example.com/x)", "open_port"),
            ("[open_port](port.md#open)", "open_port"),
            ("/open_port/", "open_port"),
            ("/open/gi", "open"),
            ("/open|close/", "open close"),
            (r"/\bopen_port\(/", "open_port"),
            ("/usr/lib/", ""),
            ("/open/port", ""),
            // As they are.
            ("open_port", ""),
            ("open port", ""),
            ("net.open_port", ""),
            ("a || b", ""),
            ("a+b", ""),
            ("x+0x12", ""),
            ("(*Conn).Close", ""),
            ("[read this](https://example.com)", ""),
            ("docs.example.com/page.html", ""),
            ("open[a-z]+", ""),
            (r"\d+", ""),
            (r"^\s*$", ""),
            ("**/*.rs", ""),
            ("&&", ""),
            ("server.*", ""),
            ("items.tags.0.name", ""),
            (r"lib\server.js", ""),
            (r"src\base\socket.c", ""),
            ("v1.2|v1.3", "v1.2 v1.3"),
        ] {
            assert_eq!(names_around(text).unwrap_or_default(), expected, "{text:?}");
        }
    }
}
