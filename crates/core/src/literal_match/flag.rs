//! Flags of a command line, in the code that declares or reads them.

use memchr::memmem;

use super::{Agreement, LINE_BYTES_MAX, LiteralMatch, PastedText};
use crate::identifier_style::flag_name;
use crate::token::{is_word_char, parts};

/// Words of lines that declare a flag; those that read one mostly have only its name.
const DECLARING: &[&str] = &["arg", "argument", "flag", "long", "on", "opt", "option", "isoption", "parser"];
/// Words of lines that read a flag, whatever their other words.
const READING: &[&str] = &["get", "matches"];
/// Share of a literal without the dashes: it may be any word.
const SHARE_WITHOUT_DASHES: f32 = 0.9;
/// Share of a literal on a line without a declaration.
const SHARE_READ: f32 = 0.8;

impl PastedText<'_> {
    /// Whether it is just a long flag.
    pub fn is_flag(&self) -> bool {
        flag_name(self.text).is_some()
    }

    /// The literal of a flag: one that begins with it, since the name of a value may follow (`"--port PORT"`), or that is its
    /// name (`long("line-limit")`, `:line_limit`).
    pub(super) fn flag(&self, file: &str) -> Option<LiteralMatch> {
        let name = flag_name(self.text)?;
        let goes_on = |c: char| c == '-' || is_word_char(c);
        let begins = |at: usize, text: &str| !file[at + text.len()..].starts_with(goes_on);
        let dashed = [format!("\"{}", self.text), format!("'{}", self.text)];
        let dashed = best(file, &dashed, begins);
        if let Some((start, true)) = dashed {
            return Some(self.in_literal(Agreement::Exact, start, 1.0));
        }
        // `--release) build=release ;;`
        if let Some(start) = memmem::find_iter(file.as_bytes(), self.text.as_bytes()).find(|at| self.is_arm(file, *at))
        {
            return Some(self.in_literal(Agreement::Exact, start, 1.0));
        }
        let mut plain = vec![format!("\"{name}\""), format!("'{name}'")];
        // One word may be any symbol, and most often is another literal.
        let is_one_word = !name.contains('-');
        if !is_one_word {
            plain.push(format!(":{}", name.replace('-', "_")));
        }
        let is_whole = |at: usize, text: &str| match is_one_word {
            true => is_given_to_declaring(&file[..at]),
            false => !text.starts_with(':') || (begins(at, text) && !file[..at].ends_with(':')),
        };
        let plain = best(file, &plain, is_whole);
        match (dashed, plain) {
            (_, Some((start, true))) => Some(self.in_literal(Agreement::Words, start, SHARE_WITHOUT_DASHES)),
            (Some((start, _)), _) => Some(self.in_literal(Agreement::Exact, start, SHARE_READ)),
            (None, plain) => {
                plain.map(|(start, _)| self.in_literal(Agreement::Words, start, SHARE_READ * SHARE_WITHOUT_DASHES))
            }
        }
    }

    /// Whether an arm of a shell's `case` begins with the flag.
    fn is_arm(&self, file: &str, at: usize) -> bool {
        if !file[at + self.text.len()..].trim_start_matches(' ').starts_with([')', '|']) {
            return false;
        }
        let front = in_front(file, at).rsplit('\n').next().unwrap_or_default().trim_start();
        let is_of_flags = |c: char| is_word_char(c) || matches!(c, '-' | '|' | ' ');
        let begins = front.is_empty() || (front.starts_with('-') && front.trim_end().ends_with('|'));
        begins && front.chars().all(is_of_flags)
    }

    fn in_literal(&self, agreement: Agreement, start: usize, share: f32) -> LiteralMatch {
        LiteralMatch { share, is_literal: true, ..self.all_at(agreement, start) }
    }
}

/// The first place of any of `texts` after its quote, preferably on a line that declares something, and whether it is
/// on one.
fn best(file: &str, texts: &[String], is_one: impl Fn(usize, &str) -> bool) -> Option<(usize, bool)> {
    let mut first = None;
    for text in texts {
        let places = memmem::find_iter(file.as_bytes(), text.as_bytes()).filter(|at| is_one(*at, text));
        for at in places {
            if declares(file, at) {
                return Some((at + 1, true));
            }
            first.get_or_insert((at + 1, false));
        }
    }
    first
}

/// Whether a literal is the argument of a call that declares flags: `.long("port")`, `flag.Int("port"`. An argument of
/// a command (`.arg("test")`) is not.
fn is_given_to_declaring(front: &str) -> bool {
    let Some(front) = front.trim_end().strip_suffix('(') else { return false };
    let is_path = |c: char| is_word_char(c) || matches!(c, '.' | ':');
    let path = &front[front.trim_end_matches(is_path).len()..];
    let names: Vec<String> = parts(path).map(|part| path[part].to_lowercase()).collect();
    names.iter().any(|name| DECLARING.contains(&name.as_str())) && names.last().is_some_and(|last| last != "arg")
}

/// The text before a place, at most one line's length.
fn in_front(file: &str, at: usize) -> &str {
    &file[file.floor_char_boundary(at.saturating_sub(LINE_BYTES_MAX))..at]
}

/// Whether the line before a place, or the previous line if that is empty, names a declaration of flags.
fn declares(file: &str, at: usize) -> bool {
    let line = in_front(file, at).trim_end().rsplit('\n').next().unwrap_or_default();
    let said: Vec<String> = parts(line).map(|part| line[part].to_lowercase()).collect();
    let says = |all: &[&str]| said.iter().any(|word| all.contains(&word.as_str()));
    says(DECLARING) && !says(READING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_where_it_is_declared() {
        for (text, file, expected) in [
            ("--line-limit", "// --line-limit\nArg::new(\"line-limit\")", "Words 1 0.90"),
            ("--line-limit", "get_flag(\"line-limit\")", "Words 0 0.72"),
            ("--port", "args = ['--port']\no.on \"--port PORT\" do", "Exact 1 1.00"),
            ("--port", "parser.add_argument(\n    \"--port\",", "Exact 1 1.00"),
            ("--port", "[\"--port\"]", "Exact 0 0.80"),
            ("--port", "fail(\"--port is no number\")\nArg::new(\"port\")", "Words 1 0.90"),
            ("--port", "case $1 in\n  -p | --port) port=$2 ;;", "Exact 1 1.00"),
            ("--port", "flag.Int(\"port\", 80)", "Words 0 0.90"),
            ("--port", "return \"port\"\nrun.arg(\"port\")\noption('host', 'port')", ""),
            ("--line-limit", "option :line_limit", "Words 0 0.90"),
            ("--line-limit", "@options[:line_limit]", "Words 0 0.72"),
            ("--line-limit", "Limit::line_limit", ""),
            ("--port", "'--ports' \"--port-range\" :port `--port`", ""),
        ] {
            let typed = PastedText::new(text, |_| 1.0);
            let told = |found: LiteralMatch| {
                let line = file[..found.start].matches('\n').count();
                format!("{:?} {line} {:.2}", found.agreement, found.share)
            };
            assert_eq!(typed.flag(file).map(told).unwrap_or_default(), expected, "{text} in {file:?}");
        }
        let found =
            PastedText::new("--port", |_| 1.0).find("see `--port`").map(|found| (found.agreement, found.is_literal));
        assert_eq!(found, Some((Agreement::Exact, false)), "prose declares nothing");
    }
}
