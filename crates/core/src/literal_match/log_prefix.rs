//! Prefixes that loggers, runtimes and compilers put before a program's message.

use super::patch::inside_marks;

/// Maximum of parts in a prefix.
const PARTS_MAX: usize = 8;
/// Bytes of a part.
const PART_BYTES_MAX: usize = 96;
/// Words of a part in brackets, or before a colon.
const PART_WORDS_MAX: usize = 4;

/// Levels of log messages.
const LEVELS: &[&str] =
    &["critical", "debug", "error", "fatal", "info", "note", "notice", "panic", "severe", "trace", "warn", "warning"];
/// Endings of the names of errors.
const ENDS_OF_ERRORS: &[&str] = &["Error", "Exception", "Failure", "Fault", "Panic", "Warning"];
/// Beginnings of what runtimes print.
const WRAPPERS: &[&str] = &["Caused by:", "Uncaught ", "Unhandled exception.", "PHP "];

/// The text after one part of a prefix, and whether that part is certainly one.
type StrippedPart<'t> = Option<(&'t str, bool)>;
/// Strips a part of a prefix; the second argument is the name of the program.
type StripPart = for<'t> fn(&'t str, &str) -> StrippedPart<'t>;

/// The parts that a prefix may have, each with an example; the first that fits counts.
const PARTS: &[(&str, StripPart)] = &[
    ("Caused by:", |text, _| WRAPPERS.iter().find_map(|wrapper| Some((text.strip_prefix(wrapper)?, true)))),
    ("Exception in thread \"main\" ", |text, _| {
        let thread = text.strip_prefix("Exception in thread \"")?;
        thread.split_once("\" ").map(|(_, behind)| (behind, true))
    }),
    ("/srv/a.rb:12:in `run': ", |text, _| {
        let (front, behind) = text.split_once("': ")?;
        let (place, _) = front.split_once(":in `").or_else(|| front.split_once(":in '"))?;
        let is_place = place.ends_with(|c: char| c.is_ascii_digit()) && !place.contains(char::is_whitespace);
        is_place.then_some((behind, true))
    }),
    ("thread 'main' panicked at ", |text, _| {
        let (name, behind) = text.strip_prefix("thread '")?.split_once("panicked at ")?;
        let quoted = behind.strip_prefix('\'');
        let message = quoted.map(|inside| inside.rsplit_once("', ").map_or(inside, |(message, _)| message));
        (name.len() <= PART_BYTES_MAX).then_some((message.unwrap_or(behind), true))
    }),
    ("[acme.net]", bracketed),
    // pytest begins each line of an exception with an `E`.
    ("** ", |text, _| {
        let (word, behind) = text.split_once(char::is_whitespace)?;
        let is_mark = matches!(word, "-" | "|" | "--" | "**") || (word == "E" && behind.starts_with("  "));
        is_mark.then_some((behind, false))
    }),
    ("2026-01-02T10:11:12Z ", |text, _| {
        let (word, behind) = text.split_once(char::is_whitespace)?;
        is_time(word).then_some((behind, true))
    }),
    ("ERROR ", |text, _| {
        let (word, behind) = text.split_once(char::is_whitespace)?;
        (is_level(word) && !word.contains(char::is_lowercase)).then_some((behind, false))
    }),
    ("okhttp3.OkHttpClient - ", |text, _| {
        let (word, behind) = text.split_once(char::is_whitespace)?;
        (is_qualified(word) && behind.trim_start().starts_with("- ")).then_some((behind, true))
    }),
    ("tool: ", named),
];

/// The text after the whole prefix, if there is one. A word with a colon and a group in brackets count only before a
/// sentence or next to a certain part: people write "config: default port" too.
pub fn message_behind_prefix(text: &str) -> Option<&str> {
    messages_behind_prefix(text, "").pop()
}

/// The text after each possible end of the prefix, longest first: a literal may begin with what looks like a part
/// (`consumer: Cannot connect to %s`). The name of the `program` is certainly a part.
pub fn messages_behind_prefix<'t>(text: &'t str, program: &str) -> Vec<&'t str> {
    let text = text.trim();
    // Lines of a file with version control's marks.
    if let Some(lines) = inside_marks(text) {
        return vec![lines];
    }
    let (mut rest, mut parts) = (text, Vec::new());
    for _ in 0..PARTS_MAX {
        let Some((behind, is_sure)) = behind_part(rest, program) else { break };
        rest = behind.trim_start();
        if !rest.contains(char::is_alphanumeric) {
            break;
        }
        parts.push((rest, is_sure));
    }
    let (mut found, mut is_sure) = (Vec::new(), false);
    for (i, (rest, is_sure_here)) in parts.iter().copied().enumerate() {
        is_sure |= is_sure_here;
        let goes_on = parts.get(i + 1).is_some_and(|(_, next)| *next) && !may_open_literal(rest, program);
        if !goes_on && (is_sure || rest.starts_with(char::is_uppercase)) {
            found.push(without_quotes(without_end(rest)));
        }
    }
    found
}

/// Whether a text certainly has a prefix, followed by more than a name, a path or a call: `error: Errors.LIMIT` may be
/// a line of code.
pub fn has_sure_prefix(text: &str, program: &str) -> bool {
    behind_part(text.trim(), program).is_some_and(|(behind, is_sure)| is_sure && !is_one_piece(behind))
}

/// Strips suffixes that runtimes append to a message: ` in /srv/a.php:12`, ` (ArgumentError)`,
/// `: file a.swift, line 3`.
pub(super) fn without_end(text: &str) -> &str {
    let is_one_word = |text: &str| !text.contains(char::is_whitespace);
    let is_place = |place: &str, line: &str| {
        place.contains(['/', '\\', '.']) && ends_in_line(place) && is_one_word(&place.replacen(line, ":", 1))
    };
    let is_error = |name: &str| is_one_word(name) && ENDS_OF_ERRORS.iter().any(|end| name.ends_with(*end));
    let cut = |between: &str, is_end: &dyn Fn(&str) -> bool| {
        let (front, end) = text.rsplit_once(between)?;
        (is_end(end) && front.contains(char::is_alphanumeric)).then(|| front.trim_end())
    };
    cut(" in ", &|end| is_place(end, " on line "))
        .or_else(|| cut(": file ", &|end| is_place(end, ", line ")))
        .or_else(|| cut(" (", &|end| end.strip_suffix(')').is_some_and(is_error)))
        .unwrap_or(text)
}

/// The sentence inside the double quotes around a text: some runtimes print messages as literals.
fn without_quotes(text: &str) -> &str {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.filter(|inside| !inside.contains('"') && inside.trim().contains(char::is_whitespace)).unwrap_or(text)
}

/// Whether a text ends in the number of a line: `a.js:3:9)`, `a.cs:line 3`, `a.php on line 3`.
pub(super) fn ends_in_line(text: &str) -> bool {
    let text = text.trim_end_matches(')');
    let front = text.trim_end_matches(|c: char| c.is_ascii_digit());
    front.len() < text.len() && (front.ends_with(':') || front.ends_with("line "))
}

fn behind_part<'t>(text: &'t str, program: &str) -> StrippedPart<'t> {
    PARTS.iter().find_map(|(_, strip)| strip(text, program))
}

/// A group in brackets: a thread, a logger, a level, a time, the name of an exception.
fn bracketed<'t>(text: &'t str, _: &str) -> StrippedPart<'t> {
    let close = match text.chars().next()? {
        '[' => ']',
        '(' => ')',
        _ => return None,
    };
    let (inner, behind) = text[1..].split_once(close)?;
    let inner = inner.trim();
    let is_part = inner.len() <= PART_BYTES_MAX && !inner.contains('"') && count_of_words(inner) <= PART_WORDS_MAX;
    // `[a]b` and `(a).b` are code.
    let is_end = behind.starts_with([':', ' ', '\t', '\n']);
    let is_number = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit());
    let is_sure = is_number || is_named_so(inner) || inner.split_whitespace().any(is_time);
    (is_part && is_end).then(|| (behind.strip_prefix(':').unwrap_or(behind), is_sure))
}

/// A name with a colon: of a program, a logger or an error, or a file and a line of it.
fn named<'t>(text: &'t str, program: &str) -> StrippedPart<'t> {
    let at = text.match_indices(':').map(|(at, _)| at).find(|at| text[at + 1..].starts_with(char::is_whitespace))?;
    let (name, behind) = (&text[..at], &text[at + 1..]);
    let is_part = name.len() <= PART_BYTES_MAX && !name.contains(['"', '\'', '`']);
    let is_error =
        |word: &str| ["error", "exception", "fatal", "panic"].iter().any(|known| word.eq_ignore_ascii_case(known));
    match count_of_words(name) {
        _ if !is_part => None,
        1 => Some((behind, is_named_so(name) || (is_program(name, program) && !is_one_piece(behind)))),
        // `Fatal error`, `error (at <stdin>:1)`.
        2..=PART_WORDS_MAX => name.split_whitespace().any(is_error).then_some((behind, true)),
        _ => None,
    }
}

/// Whether a certain part of a prefix may also begin a literal: `Warning: disk full`. Logs write levels in capitals.
fn may_open_literal(rest: &str, program: &str) -> bool {
    let name = rest.split_once(": ").map_or("", |(name, _)| name);
    is_program(name, program) || (is_level(name) && name.contains(char::is_lowercase))
}

fn is_program(name: &str, program: &str) -> bool {
    !program.is_empty() && name.eq_ignore_ascii_case(program)
}

/// Whether a text is one name, path or call: `open(a, b)`. After a program's name it is the query itself, not a
/// message.
fn is_one_piece(text: &str) -> bool {
    let text = text.trim();
    let name = text.find('(').filter(|_| text.ends_with(')')).map_or(text, |at| &text[..at]);
    !name.contains(char::is_whitespace)
}

fn count_of_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Whether a part is a level, the name of an error, or a qualified name.
fn is_named_so(part: &str) -> bool {
    is_level(part) || ENDS_OF_ERRORS.iter().any(|end| part.ends_with(*end)) || is_qualified(part)
}

fn is_level(word: &str) -> bool {
    LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level))
}

/// Whether a name has several parts: a package's, a file's with its line.
fn is_qualified(name: &str) -> bool {
    name.contains(['.', '\\']) || name.contains("::")
}

/// Whether a word is a time or a date: digits and their separators.
fn is_time(word: &str) -> bool {
    let is_of_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '/' | '.' | ',' | '+' | 'T' | 'Z' | ' ');
    let between = word.chars().filter(|c| matches!(c, ':' | '-' | '/')).count();
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(is_of_time) && between >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_from_what_stands_in_front() {
        for (text, expected) in [
            ("ArgumentError: Cert not configured", "Cert not configured"),
            ("Error: Invalid character after +", "Invalid character after +"),
            ("2026-11-25 10:11:12 [scrapy.core.engine] INFO: Unsupported node iterator", "Unsupported node iterator"),
            ("2026-01-02T10:11:12Z ERROR bat::app: Invalid syntax", "Invalid syntax"),
            ("[2026-11-25T10:11:12+00:00] console.ERROR: no such key", "no such key"),
            ("[Symfony\\Console\\RuntimeException] An option cannot be empty.", "An option cannot be empty."),
            ("[Symfony\\Console\\RuntimeException]  \n  An option", "An option"),
            ("PHP Fatal error:  Uncaught LogicException: no such key", "no such key"),
            ("** (ArgumentError) no such key", "no such key"),
            ("** (EXIT from #PID<0.94.0>) no such key", "no such key"),
            ("10:11:12.123 [main] DEBUG okhttp3.OkHttpClient - url not set", "url not set"),
            ("Caused by: java.io.IOException: url not set", "url not set"),
            ("Exception in thread \"main\" java.lang.StateException: exhausted all routes", "exhausted all routes"),
            ("thread 'main' panicked at 'no such key', src/main.rs:3:5", "no such key"),
            ("thread 'main' panicked at src/main.rs:3:5:\nno such key", "no such key"),
            ("jq: error (at <stdin>:1): Reading a token", "Reading a token"),
            ("jq: Reading a token", "Reading a token"),
            ("main.swift:12: Fatal error: no such key", "no such key"),
            ("[bat error]: Reading a token", "Reading a token"),
            ("[12345] - Worker 0 booted", "Worker 0 booted"),
            ("E       ValueError: no such key", "no such key"),
            ("/srv/a.rb:12:in `block in run': no such key (ArgumentError)", "no such key"),
            ("a.rb:12:in 'Session#run': it's no such key (Acme::KeyError)", "it's no such key"),
            ("PHP Fatal error:  Uncaught Exception: no such key in /srv/a.php:12", "no such key"),
            ("PHP Fatal error:  Uncaught Exception: no such key in /srv/a.php on line 12", "no such key"),
            ("Fatal error: no such key: file app/a.swift, line 3", "no such key"),
            ("Error: no such key in 2.5", "no such key in 2.5"),
            ("KeyError: \"'a' is missing, and has no default.\"", "'a' is missing, and has no default."),
            ("panic: \"no such key\" in \"a\"", "\"no such key\" in \"a\""),
            ("error: \"key\"", "\"key\""),
            ("Error: no such key in part 12 (of it)", "no such key in part 12 (of it)"),
        ] {
            assert_eq!(message_behind_prefix(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn parts_strip_their_example() {
        for (at, (example, _)) in PARTS.iter().enumerate() {
            let text = format!("{example} No such key");
            let first = PARTS.iter().position(|(_, strip)| strip(&text, "tool").is_some());
            assert_eq!(first, Some(at), "{text}");
        }
    }

    #[test]
    fn the_longest_rest_comes_first() {
        for (text, expected) in [
            (
                "[2026-11-25 10:11:12,345: ERROR/MainProcess] worker: Cannot connect to a: b",
                "worker: Cannot connect to a: b|Cannot connect to a: b",
            ),
            ("worker: Cannot connect to a", "Cannot connect to a"),
            ("worker: cannot connect to a", ""),
            // The program's own name is a prefix before lower case, too.
            ("tool: no such key", "no such key"),
            ("Tool: worker: no such key", "worker: no such key|no such key"),
            // A name, a file or a call is not a message.
            ("tool: open_port", ""),
            ("tool: src/net.rs", ""),
            ("tool: open_port(a, b)", ""),
            ("tool: cannot open (a, b)", "cannot open (a, b)"),
            ("config: default port", ""),
            // No literal begins with the time or the level of a log; with a level it may.
            ("2026-11-25 10:11:12 [acme.net] INFO: no such key", "no such key"),
            ("[12345] Warning: disk full", "Warning: disk full|disk full"),
            ("[12345] tool: disk full", "tool: disk full|disk full"),
        ] {
            assert_eq!(messages_behind_prefix(text, "tool").join("|"), expected, "{text}");
        }
    }

    #[test]
    fn a_sure_front_is_told_from_a_key() {
        for (text, expected) in [
            ("Error: no such key", true),
            ("tool: no such key", true),
            ("code: Errors.LIMIT", false),
            ("error: Errors.LIMIT", false),
            ("line_number: Some(2)", false),
            ("no such key", false),
        ] {
            assert_eq!(has_sure_prefix(text, "tool"), expected, "{text}");
        }
    }

    #[test]
    fn what_people_ask_has_no_front() {
        for text in [
            "error handling in the client",
            "ERROR handling in the client",
            "config: default port",
            "how does x connect to y",
            "fix: cookie parsing",
            "std::io::Error",
            "src/main.rs:12:5",
            "Error:",
            "fn open(port: u16) -> Socket {",
            "[a, b, c].map(f)",
            "where is \"no such key\" printed",
            "1.2.3 release",
            "",
        ] {
            assert_eq!(message_behind_prefix(text), None, "{text}");
        }
    }
}
