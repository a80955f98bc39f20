//! Extracts the messages of pasted traces, without frames and what runtimes print around them.

use super::log_prefix::{ends_in_line, message_behind_prefix, without_end};

/// Maximum of messages of a trace that are looked up: the first and the last ones, since some runtimes print the cause
/// first and others last.
const MESSAGES_MAX: usize = 4;

/// Lines that runtimes print above frames or a message.
const HEADS: &[&str] = &[
    "Caused by:",
    "During handling of the above exception, another exception occurred:",
    "Error:",
    "Stack trace:",
    "The above exception was the direct cause of the following exception:",
    "Traceback (most recent call last):",
    "Unhandled exception.",
    "Unhandled exception:",
];
/// Beginnings of lines that only frames follow.
const DUMPS: &[&str] = &["goroutine ", "stack backtrace:"];
/// Beginnings of lines among frames that carry no information.
const ASIDES: &[&str] = &["--- End of ", "created by ", "note: run with ", "thrown in "];

/// The classified lines of a text.
#[derive(Default)]
struct Trace<'t> {
    /// Lines that are neither frames nor heads, without what runtimes append.
    messages: Vec<&'t str>,
    /// Whether there is a frame or a head.
    is_trace: bool,
    /// Whether people wrote one of the messages: it has no prefix, and no head above it.
    has_words: bool,
}

/// The messages of a pasted trace, with their prefixes; empty if the text is not a trace.
pub fn messages_of(text: &str) -> Vec<&str> {
    let Trace { mut messages, is_trace, .. } = read(text);
    if !is_trace {
        return Vec::new();
    }
    if messages.len() > MESSAGES_MAX {
        let half = MESSAGES_MAX / 2;
        messages.drain(half..messages.len() - half);
    }
    messages
}

/// Whether a text is a trace without words of people around it.
pub fn is_trace(text: &str) -> bool {
    let Trace { messages, is_trace, has_words } = read(text);
    is_trace && !has_words && (1..=MESSAGES_MAX).contains(&messages.len())
}

fn read(text: &str) -> Trace<'_> {
    let mut trace = Trace::default();
    // Python prints the line of code below a frame, indented further.
    let mut code_below: Option<usize> = None;
    let mut is_below_head = false;
    for line in text.lines() {
        let bare = line.trim();
        let depth = line.len() - line.trim_start().len();
        if bare.is_empty() || code_below.is_some_and(|least| depth > least) {
            continue;
        }
        code_below = None;
        if DUMPS.iter().any(|dump| bare.starts_with(dump)) && bare.ends_with(':') {
            trace.is_trace = true;
            break;
        }
        if is_frame(bare) {
            (trace.is_trace, is_below_head) = (true, false);
            code_below = bare.starts_with("File \"").then_some(depth);
        } else if is_head(bare) {
            (trace.is_trace, is_below_head) = (true, true);
        } else if is_aside(bare) {
            is_below_head = false;
        } else {
            trace.has_words |= message_behind_prefix(bare).is_none() && !(is_below_head && depth > 0);
            trace.messages.push(without_end(bare));
            is_below_head = false;
        }
    }
    trace
}

/// Tells whether a line has a form.
type LineForm = fn(&str) -> bool;

/// The forms of frames, each with an example.
const FRAMES: &[(&str, LineForm)] = &[
    ("File \"a.py\", line 7, in run", |line| is_behind(line, "File \"", |rest| rest.contains("\", line "))),
    ("at run (/srv/a.js:3:9)", |line| {
        is_behind(line, "at ", |rest| {
            let first = rest.split_whitespace().next().unwrap_or_default();
            ends_in_line(rest) || (rest.ends_with(')') && first.contains(['.', '/', '<', '(']))
        })
    }),
    ("from /srv/a.rb:3:in `run'", |line| is_behind(line, "from ", |rest| rest.contains(":in ") || ends_in_line(rest))),
    ("# ./spec/a_spec.rb:12:in `run'", |line| {
        is_behind(line, "# ", |rest| rest.contains(":in ") || ends_in_line(rest))
    }),
    // `#12 Fix it` is the number of an issue.
    ("#0 /srv/a.php(9): run()", |line| {
        is_behind(line, "#", |rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && (rest.contains(['(', '{']) || rest.contains(" 0x"))
        })
    }),
    ("--> src/a.rs:3:9", |line| is_behind(line, "--> ", ends_in_line)),
    ("... 3 more", |line| line.starts_with("... ") && line.ends_with(" more")),
    ("/srv/a.go:12", |line| !line.contains(char::is_whitespace) && line.contains('/') && ends_in_line(line)),
    ("(app 0.1.0) lib/app.ex:3: App.run/1", |line| {
        let Some((inside, behind)) = line.strip_prefix('(').and_then(|rest| rest.split_once(") ")) else {
            return false;
        };
        let version = inside.rsplit(' ').next().unwrap_or_default();
        let place = behind.split_whitespace().next().unwrap_or_default();
        version.starts_with(|c: char| c.is_ascii_digit()) && ends_in_line(place.trim_end_matches(':'))
    }),
];

fn is_behind(line: &str, front: &str, is_one: impl Fn(&str) -> bool) -> bool {
    line.strip_prefix(front).is_some_and(is_one)
}

fn is_frame(line: &str) -> bool {
    FRAMES.iter().any(|(_, is_one)| is_one(line))
}

fn is_head(line: &str) -> bool {
    let is_one_word = !line.contains(char::is_whitespace);
    let name = line.strip_suffix(':').unwrap_or_default();
    HEADS.contains(&line)
        || (is_one_word && ["Error", "Exception"].iter().any(|end| name.ends_with(end)))
        || (line.starts_with("thread '") && line.contains("' panicked at ") && ends_in_line(name))
        || (line.starts_with("In ") && name.contains(" line ") && ends_in_line(name))
        || (line.starts_with("[error] ") && line.ends_with(" terminating"))
}

/// Whether a line among frames carries no information: a note, or marks below a part of the line above.
fn is_aside(line: &str) -> bool {
    ASIDES.iter().any(|aside| line.starts_with(aside)) || line.chars().all(|c| matches!(c, '^' | '~' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_match_their_example() {
        for (at, (example, _)) in FRAMES.iter().enumerate() {
            assert_eq!(FRAMES.iter().position(|(_, is_one)| is_one(example)), Some(at), "{example}");
        }
    }

    #[test]
    fn messages_are_told_from_frames() {
        for (text, expected) in [
            (
                "Traceback (most recent call last):\n  File \"/srv/app.py\", line 7, in run\n    open(it)\n    ^^^^^^^^\n\
                 ValueError: no such host: 42",
                "ValueError: no such host: 42",
            ),
            (
                "Exception in thread \"main\" a.StateException: no host\n\tat com.acme.Main.main(Main.kt:12)\n\t... 3 more\n\
                 Caused by: a.IOException: no port\n\tat java.base/a.B.c(Native Method)",
                "Exception in thread \"main\" a.StateException: no host|Caused by: a.IOException: no port",
            ),
            (
                "Unhandled exception. System.Exception: no host\n   at App.Main(String[] a) in /src/A.cs:line 12",
                "Unhandled exception. System.Exception: no host",
            ),
            (
                "PHP Fatal error:  Uncaught Exception: no host in /srv/a.php:12\nStack trace:\n#0 {main}\n  \
                 thrown in /srv/a.php on line 12",
                "PHP Fatal error:  Uncaught Exception: no host",
            ),
            (
                "/srv/a.rb:12:in `block in run': no host (ArgumentError)\n\tfrom /srv/a.rb:3:in `<main>'",
                "/srv/a.rb:12:in `block in run': no host",
            ),
            ("RuntimeError:\n       no host\n     # ./spec/a_spec.rb:12:in `run'", "no host"),
            (
                "panic: no host\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/a.go:12 +0x1d\nexit status 2",
                "panic: no host",
            ),
            (
                "thread 'main' panicked at src/a.rs:99:5:\nno host\nnote: run with `RUST_BACKTRACE=1`\nstack backtrace:\n   \
                 0: run\n             at ./src/a.rs:99:5",
                "no host",
            ),
            ("error: no port\n\nCaused by:\n    no host", "error: no port|no host"),
            ("** (ArgumentError) no host\n    (app 0.1.0) lib/app.ex:3: App.run/1", "** (ArgumentError) no host"),
            ("[error] GenServer #PID<0.1.0> terminating\n** (RuntimeError) no host", "** (RuntimeError) no host"),
            ("Uncaught Error: no host\n    at Object.<anonymous> (/srv/a.js:1:7)", "Uncaught Error: no host"),
            ("In Run.php line 12:\n\n  no host", "no host"),
            ("a: 1\nat /srv/a.js:1:7\nb: 2\nc: 3\nd: 4\ne: 5", "a: 1|b: 2|d: 4|e: 5"),
            // No trace.
            ("no host\nno port", ""),
            ("#12 Fix it\nno port", ""),
            ("wait at least 3 times\nfrom one to many", ""),
            ("ValueError: no host", ""),
            ("/srv/a.js:1:7", ""),
            ("", ""),
        ] {
            assert_eq!(messages_of(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn a_trace_is_told_from_what_people_write_around_one() {
        for (text, expected) in [
            ("RuntimeError:\n       no implicit conversion of 42", true),
            ("[error] GenServer #PID<0.1.0> terminating\n** (RuntimeError) no host to connect to", true),
            ("ValueError: no host\n  File \"a.py\", line 7, in run", true),
            ("TypeError:\nThe page is empty when I open it", false),
            ("It fails when I open a page:\n\nRuntimeError:\n  no host", false),
            ("no host\nno port", false),
            ("Stack trace:\n#0 {main}", false),
        ] {
            assert_eq!(is_trace(text), expected, "{text}");
        }
    }
}
