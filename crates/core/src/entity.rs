//! Entities in prose, recognized by their form: code, names, paths, commands, versions, addresses, quantities. A
//! labelling model would add hundreds of megabytes and little for software documentation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identifier_style::is_name_in_text;
use crate::language::LanguageFacts;

/// Entities kept of one label.
const OF_LABEL_MAX: usize = 8;
/// Longest entity, in bytes.
const BYTES_MAX: usize = 80;
/// Maximum of bytes read of a text.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Kind of an entity. The names are those of the JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Text in back-ticks that is none of the kinds below.
    Code,
    /// A name in camel case or in upper case.
    Name,
    /// A path or the name of a file.
    Path,
    /// Text to type in a shell.
    Command,
    Version,
    /// A web address.
    Url,
    /// A number with its unit.
    Quantity,
}

/// The entities of a text by label, each once, in order of appearance.
pub type Entities = BTreeMap<Label, Vec<String>>;

/// Programs whose name at the beginning of code makes it a command.
const PROGRAMS: &[&str] = &[
    "apk",
    "apt",
    "apt-get",
    "aws",
    "bash",
    "brew",
    "bundle",
    "cargo",
    "cat",
    "cd",
    "chmod",
    "cmake",
    "composer",
    "cp",
    "curl",
    "dart",
    "deno",
    "dnf",
    "docker",
    "docker-compose",
    "dotnet",
    "echo",
    "export",
    "flutter",
    "gcloud",
    "gem",
    "git",
    "go",
    "gradle",
    "helm",
    "java",
    "julia",
    "kubectl",
    "ls",
    "make",
    "mix",
    "mkdir",
    "mvn",
    "node",
    "npm",
    "npx",
    "pacman",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "poetry",
    "psql",
    "pytest",
    "python",
    "python3",
    "rake",
    "rm",
    "ruby",
    "rustup",
    "sbt",
    "sh",
    "ssh",
    "sudo",
    "swift",
    "systemctl",
    "tar",
    "terraform",
    "uv",
    "wget",
    "yarn",
    "yum",
    "zig",
];
/// Words that make a quantity of the number before them.
const UNITS: &[&str] = &[
    "%",
    "b",
    "bit",
    "bits",
    "byte",
    "bytes",
    "characters",
    "cores",
    "cpu",
    "cpus",
    "day",
    "days",
    "gb",
    "ghz",
    "gib",
    "hour",
    "hours",
    "hz",
    "kb",
    "khz",
    "kib",
    "lines",
    "mb",
    "mhz",
    "mib",
    "microseconds",
    "milliseconds",
    "min",
    "minute",
    "minutes",
    "month",
    "months",
    "ms",
    "nanoseconds",
    "ns",
    "percent",
    "pixels",
    "px",
    "requests",
    "s",
    "sec",
    "second",
    "seconds",
    "tb",
    "threads",
    "tib",
    "times",
    "tokens",
    "us",
    "week",
    "weeks",
    "year",
    "years",
    "µs",
];

/// The entities of `text`, which may be Markdown, reStructuredText, AsciiDoc or plain.
pub fn entities(text: &str, facts: &LanguageFacts) -> Entities {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let mut found = EntityMatch { facts, entities: Entities::new() };
    let mut fence: Option<(&str, bool)> = None;
    for line in text.lines() {
        let word = line.trim();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| word.starts_with(mark)) {
            let language = word.trim_start_matches(&mark[..1]).trim_start_matches(['{', '.']);
            let language = language.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let is_shell = matches!(language, "sh" | "bash" | "console" | "shell" | "zsh" | "terminal");
            fence = if fence.is_some() { None } else { Some((mark, is_shell)) };
            continue;
        }
        if let Some(typed) = word.strip_prefix("$ ") {
            found.add(Label::Command, typed);
        } else if matches!(fence, Some((_, true))) || (fence.is_none() && line.starts_with("    ")) {
            if is_command(word) {
                found.add(Label::Command, word);
            }
        } else if fence.is_none() {
            found.line(line);
        }
    }
    found.entities
}

struct EntityMatch<'a> {
    facts: &'a LanguageFacts,
    entities: Entities,
}

impl EntityMatch<'_> {
    fn add(&mut self, label: Label, entity: &str) {
        let entity = entity.trim();
        if entity.is_empty() || entity.len() > BYTES_MAX || !entity.contains(|c: char| c.is_alphanumeric()) {
            return;
        }
        let of_label = self.entities.entry(label).or_default();
        if of_label.len() < OF_LABEL_MAX && !of_label.iter().any(|known| known == entity) {
            of_label.push(entity.to_string());
        }
    }

    /// A line of prose: code between back-ticks, and the words outside.
    fn line(&mut self, line: &str) {
        let mut rest = line;
        while let Some(at) = rest.find('`') {
            self.words(&rest[..at]);
            let marks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
            let inner = &rest[at + marks..];
            let Some(end) = inner.find(&rest[at..at + marks]) else {
                rest = inner;
                continue;
            };
            let before = &rest[..at];
            // The text of a link (RST), with its target: not code.
            if marks == 1 && inner[..end].ends_with('>') && inner[..end].contains(" <") {
                self.words(&inner[..end]);
            } else {
                // After a role (RST) these marks shorten the displayed text.
                let has_role = before.ends_with(':');
                let code = if has_role { inner[..end].trim_start_matches(['~', '!']) } else { &inner[..end] };
                self.code(code, has_role);
            }
            rest = inner[end..].trim_start_matches('`');
        }
        self.words(rest);
    }

    /// Text between back-ticks.
    fn code(&mut self, code: &str, has_role: bool) {
        let label = match self.form(code) {
            Some(label @ (Label::Path | Label::Version | Label::Url | Label::Quantity)) => label,
            _ if !has_role && is_command(code) && code.contains(' ') => Label::Command,
            _ => Label::Code,
        };
        self.add(label, code);
    }

    fn words(&mut self, text: &str) {
        let marks = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '<' | '>' | '"' | '|' | ';');
        let words = text.split(marks).flat_map(|word| {
            let is_number = is_grouped(word);
            word.split(move |c: char| c == ',' && !is_number)
        });
        let mut words = words.filter(|word| !word.is_empty()).peekable();
        let mut before = "";
        while let Some(written) = words.next() {
            let word = written.trim_matches(|c: char| matches!(c, '*' | '\'' | '!' | '?' | '{' | '}'));
            let word = word.trim_end_matches(['.', ':', '_']);
            let next = words.peek().copied().unwrap_or_default().trim_end_matches(['.', ':', '?', '!']);
            if is_number(word) && is_unit(next) {
                self.add(Label::Quantity, &format!("{word} {next}"));
                words.next();
            } else if let Some(label) = self.form(word) {
                self.add(label, word);
            } else if is_number(word) && word.contains('.') && is_named_version(before) {
                self.add(Label::Version, word);
            }
            before = word;
        }
    }

    fn form(&self, word: &str) -> Option<Label> {
        if word.contains(char::is_whitespace) {
            return None;
        }
        let label = match () {
            () if is_address(word) || word.starts_with("www.") => Label::Url,
            () if is_version(word) => Label::Version,
            () if is_quantity(word) => Label::Quantity,
            () if self.is_path(word) => Label::Path,
            () if is_name_in_text(word) => Label::Name,
            () => return None,
        };
        Some(label)
    }

    fn is_path(&self, word: &str) -> bool {
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-~*{}$@+".contains(c));
        let begins = ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start)) && word.len() > 2;
        let segments = word.split('/').filter(|part| !part.is_empty()).count();
        let last = word.rsplit('/').next().unwrap_or(word);
        let is_file = self.facts.is_file_name(last) && last.len() > 3;
        is_plain
            && word.contains(char::is_alphabetic)
            && (begins || is_file || (word.contains('/') && (segments > 2 || (segments > 1 && word.ends_with('/')))))
    }
}

fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let program = words.next().unwrap_or_default();
    let is_word = program.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c));
    let has_flag = words.clone().any(|word| {
        word.strip_prefix('-').is_some_and(|flag| flag.starts_with(|c: char| c.is_ascii_lowercase() || c == '-'))
    });
    is_word && !program.is_empty() && words.next().is_some() && (PROGRAMS.contains(&program) || has_flag)
}

/// `https://a.b/c`, `redis://localhost:6379`.
fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        let is_scheme = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
        is_scheme && (rest.contains('.') || rest.starts_with(char::is_alphanumeric))
    })
}

/// Whether a word is a number with commas between groups of digits, perhaps with its unit: `1,024`, `10,000ms`.
fn is_grouped(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let mut groups = number.split('.').next().unwrap_or_default().split(',');
    let is_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let begins = groups.next().is_some_and(|first| (1..4).contains(&first.len()) && is_digits(first));
    let mut rest = groups.peekable();
    begins && rest.peek().is_some() && rest.all(|group| group.len() == 3 && is_digits(group))
}

/// Digits, perhaps with a point or commas in them.
fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
}

fn is_unit(word: &str) -> bool {
    UNITS.contains(&word.to_lowercase().as_str())
}

/// `10ms`, `85%`, `1.5GB`, `10,000ms`.
fn is_quantity(word: &str) -> bool {
    let at = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(word.len());
    at > 0 && at < word.len() && word.starts_with(|c: char| c.is_ascii_digit()) && is_unit(&word[at..])
}

/// `v2`, `1.2.3`, `v1.4.0-rc.1`.
fn is_version(word: &str) -> bool {
    let (numbers, has_mark) = word.strip_prefix(['v', 'V']).map_or((word, false), |rest| (rest, true));
    let end = numbers.find(['-', '+']).unwrap_or(numbers.len());
    let (numbers, more) = numbers.split_at(end);
    let parts: Vec<&str> = numbers.split('.').collect();
    let are_numbers =
        |all: &[&str]| all.iter().all(|p| !p.is_empty() && p.len() < 6 && p.bytes().all(|b| b.is_ascii_digit()));
    let has_wild = parts.last() == Some(&"x");
    let plain = if has_wild { &parts[..parts.len() - 1] } else { &parts[..] };
    let is_tail = more.chars().all(|c| c.is_ascii_alphanumeric() || "-+.".contains(c));
    !plain.is_empty() && plain.len() < 5 && are_numbers(plain) && is_tail && (has_mark || parts.len() > 2)
}

/// Whether `word` makes a version of the decimal number after it: `Python 3.12`, `version 2.0`.
fn is_named_version(word: &str) -> bool {
    let lower = word.to_lowercase();
    matches!(lower.as_str(), "version" | "versions" | "since" | "release")
        || (word.starts_with(char::is_uppercase)
            && word.chars().skip(1).any(char::is_lowercase)
            && word.chars().all(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_go_by_their_form() {
        let facts = LanguageFacts::sample();
        for (text, expected) in [
            ("Call ``run_all`` of `Pool`.", "Code: run_all, Pool"),
            ("A JWT for the WebSocket; MAX_LEN and Word stay.", "Name: JWT, WebSocket, MAX_LEN"),
            ("HTTPServer, IOError, OAuth2, IPv6, UTF-8.", "Name: HTTPServer, IOError, OAuth2, IPv6, UTF-8"),
            ("All URLs, Ids, a TODO-list, 3-4 and A-1.", ""),
            (
                "Edit /etc/hosts, ./setup or src/client.py and/or `a/b.rs`.",
                "Path: /etc/hosts, ./setup, src/client.py, a/b.rs",
            ),
            (
                "$ relay start\n```sh\ncargo test --all\nplain words\n```\nor `pip install relay`",
                "Command: relay start, cargo test --all, pip install relay",
            ),
            ("Since v2 and 1.4.0-rc.1, Python 3.12; not 3.14 alone.", "Version: v2, 1.4.0-rc.1, 3.12"),
            ("See https://a.b/c?d=e. And www.example.org!", "Url: https://a.b/c?d=e, www.example.org"),
            (
                "See http://localhost:8080/metrics or redis://localhost:6379; https:// and and://.",
                "Url: http://localhost:8080/metrics, redis://localhost:6379",
            ),
            ("Sends 1,024 bytes or 10,000 requests.", "Quantity: 1,024 bytes, 10,000 requests"),
            ("In 10,000ms; a,b,10 bytes and 1,2 seconds.", "Quantity: 10,000ms, 10 bytes, 2 seconds"),
            ("Waits 30 seconds, 10ms or 85%, at most 1.5 GB.", "Quantity: 30 seconds, 10ms, 85%, 1.5 GB"),
            ("The `Docs <https://a.bc/d>`_ page.", "Url: https://a.bc/d"),
            ("Nothing here, I say.", ""),
        ] {
            let found = entities(text, &facts);
            let found: Vec<String> =
                found.iter().map(|(label, all)| format!("{label:?}: {}", all.join(", "))).collect();
            assert_eq!(found.join("; "), expected, "{text}");
        }
    }

    #[test]
    fn entities_of_a_label_are_few_and_differ() {
        let text = (0..30).map(|i| format!("`name{}` ", i % 20)).collect::<String>();
        let found = entities(&text, &LanguageFacts::sample());
        assert_eq!(found[&Label::Code].len(), 8);
        assert_eq!(found[&Label::Code][..2], ["name0", "name1"]);
    }
}
