//! Frames of a pasted trace: the function of the frame's line, and the line of code below it.

use crate::query::last_segment;
use crate::token::is_word_char;

/// Details of a frame besides the file and the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFrame<'t> {
    /// The function of the line, without its owner.
    pub function: &'t str,
    /// The enclosing type or module of the function, if the frame names it.
    pub owner: Option<&'t str>,
    /// The line of code, if the frame prints it, as Python's do.
    pub code: Option<&'t str>,
}

/// The frame in a text that names this line of a file called so, in any folder; `None` if it names no function.
pub fn frame_of<'t>(text: &'t str, file: &str, line: u32) -> Option<TraceFrame<'t>> {
    let name = file.rsplit('/').next().filter(|name| !name.is_empty())?;
    let lines: Vec<&str> = text.lines().collect();
    let mut places = lines.iter().copied().enumerate().filter_map(|(i, own)| {
        let is_place =
            |at: &usize| !own[..*at].ends_with(is_word_char) && number_in(&own[at + name.len()..]) == Some(line);
        let at = own.match_indices(name).map(|(at, _)| at).find(is_place)?;
        Some((i, &own[..at], &own[at + name.len()..]))
    });
    places.find_map(|(i, front, behind)| {
        let above = i.checked_sub(1).map_or("", |above| lines[above].trim());
        let path = FORMS.iter().find_map(|(_, read)| read(front.trim_start(), behind, above))?;
        let mut parts = names_of(path);
        let function = parts.next().filter(|name| is_name(name))?;
        let owner = parts.next();
        // `Pool$1.run`: a method of an anonymous type, which may be in any function.
        if owner.is_some_and(is_number) {
            return None;
        }
        let owner = owner.filter(|name| is_name(name));
        let is_python = front.trim_start().starts_with("File \"") || behind.contains(": in ");
        let below = lines.get(i + 1).copied().filter(|below| is_python && depth(below) > depth(lines[i]));
        let code = below.map(str::trim);
        Some(TraceFrame { function, owner, code })
    })
}

/// The function that this line of a file calls, in a frame that names that one: `#0 /srv/a.php(7): run()`.
pub fn called_by_frame<'t>(text: &'t str, file: &str, line: u32) -> Option<&'t str> {
    let name = file.rsplit('/').next().filter(|name| !name.is_empty())?;
    text.lines().find_map(|own| {
        let (front, behind) = own.split_once(name)?;
        let is_here = !front.ends_with(is_word_char) && behind.starts_with('(') && number_in(behind) == Some(line);
        let (called, _) = behind.split_once("): ").filter(|_| is_here)?.1.split_once('(')?;
        Some(last_segment(called)).filter(|name| is_name(name))
    })
}

/// Reads the function of a frame from the text before and after the file's name on its line, and from the line above.
type ReadFunction = for<'t> fn(front: &'t str, behind: &'t str, above: &'t str) -> Option<&'t str>;

/// How frames write the function of their line, with its owner; each with an example.
const FORMS: &[(&str, ReadFunction)] = &[
    ("File \"a.py\", line 7, in run", |front, behind, _| {
        let is_python = front.starts_with("File \"");
        behind.split_once(" in ").filter(|_| is_python).map(|(_, function)| function.trim())
    }),
    // pytest.
    ("app/a.py:7: in run", |front, behind, _| {
        let behind = behind.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
        behind.strip_prefix(" in ").filter(|_| !front.contains(char::is_whitespace)).map(str::trim)
    }),
    ("a.rb:7:in 'block in App#run'", |_, behind, _| {
        let quoted = behind.split_once(":in ")?.1.trim_start_matches(['`', '\'', '"']).split(['\'', '"']).next()?;
        quoted.split_whitespace().next_back()
    }),
    // A debugger's frame; PHP's names the function that the line calls.
    ("#1  0x07 in run (port=3) at a.c:7", |front, _, _| {
        let (called, _) = front.rsplit_once(") at ").filter(|_| front.starts_with('#'))?;
        called.split(" (").next()?.split_whitespace().next_back()
    }),
    ("at async Pool.take [as run] (/a.js:7:1)", |front, _, _| {
        let (called, _) = front.strip_prefix("at ")?.split_once('(')?;
        called.split('[').next()?.split_whitespace().next_back()
    }),
    ("12: acme::pool::take\nat ./src/pool.rs:7:1", |front, _, above| {
        let (number, path) = above.split_once(": ").filter(|_| front.starts_with("at ") && !front.contains('('))?;
        is_number(number).then_some(path)
    }),
    ("take@webpack:///./a.js:7:1", |front, _, _| {
        front.split_once('@').filter(|(_, address)| address.contains("://")).map(|(called, _)| called)
    }),
    ("(app 0.1.0) lib/a.ex:7: App.run/1", |_, behind, _| {
        let called = behind.strip_prefix(':')?.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
        let (function, arity) = called.rsplit_once('/').filter(|_| called.starts_with(' '))?;
        function.split_whitespace().next_back().filter(|_| is_number(arity.trim()))
    }),
    ("main.(*Pool).Take(0x7)\n/src/a.go:7 +0x1d", |front, _, above| {
        let is_path = front.starts_with('/') && !front.contains(char::is_whitespace);
        let begun =
            above.strip_prefix("created by ").map(|begun| begun.split(" in goroutine ").next().unwrap_or(begun));
        let called = begun.or_else(|| above.strip_suffix(')').and_then(|called| Some(called.rsplit_once('(')?.0)));
        called.filter(|called| is_path && called.contains('.') && !called.contains(char::is_whitespace))
    }),
];

/// The names in the path of a function, last one first, without runtimes' names for anonymous functions and without the
/// number of parameters.
fn names_of(path: &str) -> impl Iterator<Item = &str> {
    // `Take[...]`: type arguments of a generic function in Go.
    let path = path.strip_suffix("[...]").unwrap_or(path);
    let parts = path.rsplit(['.', ':', '#', '$', '/', '`']).map(|part| part.trim_matches(['(', ')', '*', '{', '}']));
    parts.filter(|part| !part.is_empty()).skip_while(|part| is_of_no_name(part))
}

/// Whether a part of a path numbers or marks an anonymous function, or is a version: `func1`, `{{closure}}`, a hash.
pub(crate) fn is_of_no_name(part: &str) -> bool {
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number(part)
        || part == "closure"
        || part.strip_prefix("func").is_some_and(is_number)
        || part.strip_prefix('h').is_some_and(is_hash)
}

fn is_name(part: &str) -> bool {
    let bare = part.trim_end_matches(['?', '!']);
    bare.starts_with(|c: char| c.is_alphabetic() || c == '_') && bare.chars().all(is_word_char)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number after the name of a file, with only punctuation and the word "line" before it.
fn number_in(behind: &str) -> Option<u32> {
    let marks = |c: char| matches!(c, ':' | '"' | ',' | ' ' | '(' | '#' | 'L');
    let rest = behind.trim_start_matches(marks);
    let rest = rest.strip_prefix("line ").unwrap_or(rest);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_name_the_function_that_their_line_lies_in() {
        for (text, file, expected) in [
            ("  File \"/srv/a.py\", line 7, in run\n    open(it)\n", "/srv/a.py", "run||open(it)"),
            ("  File \"/srv/a.py\", line 7 in run\n  File \"b.py\", line 2 in x", "/srv/a.py", "run||"),
            ("  File \"/srv/a.py\", line 17, in go\n  File \"/srv/a.py\", line 7, in run", "/srv/a.py", "run||"),
            ("app/a.py:7: in run\n    open(it)\nb.py:2: Error", "app/a.py", "run||open(it)"),
            ("app/a.py:7 in run", "app/a.py", "run||"),
            ("\tat com.acme.Pool.take(Pool.java:7)", "com/acme/Pool.java", "take|Pool|"),
            ("\tat com.acme.Pool$1.lambda$take$0(Pool.java:7)", "com/acme/Pool.java", "take|lambda|"),
            ("    at async Pool.take [as run] (/srv/a.js:7:1)", "/srv/a.js", "take|Pool|"),
            ("    at new Pool (/srv/a.js:7:1)", "/srv/a.js", "Pool||"),
            ("take@webpack:///./a.js:7:1", "./a.js", "take||"),
            ("   at Acme.Pool.Take(String[] a) in /src/A.cs:line 7", "/src/A.cs", "Take|Pool|"),
            ("/srv/a.rb:7:in `block in run': no host (ArgumentError)", "/srv/a.rb", "run||"),
            ("\tfrom /srv/a.rb:7:in 'Acme::Pool#take'", "/srv/a.rb", "take|Pool|"),
            ("gin.(*Context).Next(...)\n\t/srv/a.go:7 +0x1d", "/srv/a.go", "Next|Context|"),
            ("main.run.func1({0x1, 0x2})\n\t/srv/a.go:7 +0x1d", "/srv/a.go", "run|main|"),
            ("created by net/http.(*Server).Serve in goroutine 1\n\t/srv/a.go:7", "/srv/a.go", "Serve|Server|"),
            ("   3: acme::pool::take::{{closure}}\n             at ./src/a.rs:7:5", "src/a.rs", "take|pool|"),
            ("    (app 0.1.0) lib/a.ex:7: App.run/1", "lib/a.ex", "run|App|"),
            ("#1  0x07 in run (port=3) at ../src/a.c:7", "src/a.c", "run||"),
        ] {
            let found = frame_of(text, file, 7).map(|TraceFrame { function, owner, code }| {
                [function, owner.unwrap_or_default(), code.unwrap_or_default()].join("|")
            });
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn frames_of_php_name_the_function_that_their_line_calls() {
        for (text, expected) in [
            ("#0 /srv/a.php(7): run()", Some("run")),
            ("#0 /srv/b.php(2): go()\n#1 /srv/a.php(7): App\\Pool->take(1)\n#2 {main}", Some("take")),
            ("#0 /srv/a.php(7): App\\Pool::take(1)", Some("take")),
            ("#0 /srv/a.php(7): App\\{closure}()", None),
            ("#0 /srv/a.php(70): run()", None),
            ("#0 /srv/data.php(7): run()", None),
            ("    at run (/srv/a.php:7:1)", None),
        ] {
            assert_eq!(called_by_frame(text, "/srv/a.php", 7), expected, "{text}");
        }
    }

    #[test]
    fn other_lines_name_none() {
        for (text, file) in [
            ("  File \"/srv/a.py\", line 7, in <module>\n    run()", "/srv/a.py"),
            ("  File \"/srv/a.py\", line 70, in run", "/srv/a.py"),
            ("    at Object.<anonymous> (/srv/a.js:7:1)", "/srv/a.js"),
            ("    at /srv/a.js:7:1", "/srv/a.js"),
            ("\tat com.acme.Pool.<init>(Pool.java:7)", "com/acme/Pool.java"),
            ("\tat com.acme.Pool$1.run(Pool.java:7)", "com/acme/Pool.java"),
            ("/srv/a.rb:7:in `<main>'", "/srv/a.rb"),
            // The function that the line calls.
            ("#0 /srv/a.php(7): run()", "/srv/a.php"),
            ("src/a.rs:7", "src/a.rs"),
            ("  --> src/a.rs:7:5", "src/a.rs"),
            ("/srv/a.c:7: undefined reference to run", "/srv/a.c"),
            ("see a.rs, line 7, in the docs", "a.rs"),
            ("see a.rs:7 in the docs", "a.rs"),
            ("a.py:7: in <module>", "a.py"),
        ] {
            assert_eq!(frame_of(text, file, 7), None, "{text}");
        }
    }
}
