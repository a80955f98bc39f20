//! Flags of a command line, where a program declares or reads them.

use memchr::memmem;

use super::{Agreement, LINE_BYTES_MAX, Standing, Typed};
use crate::token::{is_word_char, parts};
use crate::written::flag_name;

/// Words for what a line declares; who reads a flag mostly names it alone.
const DECLARING: &[&str] = &["arg", "argument", "flag", "long", "on", "opt", "option", "isoption", "parser"];
/// Words of a line that reads a flag, whatever else it says.
const READING: &[&str] = &["get", "matches"];
/// Share of a literal without the dashes: it may be any other word.
const SHARE_WITHOUT_DASHES: f32 = 0.9;
/// Share of a literal on a line that says of no declaration.
const SHARE_READ: f32 = 0.8;

impl Typed<'_> {
    /// Whether it is a long flag and nothing else.
    pub fn is_flag(&self) -> bool {
        flag_name(self.text).is_some()
    }

    /// Where the flag that the text is stands in a literal: at its beginning, since the name of a value may follow
    /// (`"--port PORT"`), or all of one without its dashes (`long("line-limit")`, `:line_limit`).
    pub(super) fn flag(&self, file: &str) -> Option<Standing> {
        let name = flag_name(self.text)?;
        let goes_on = |c: char| c == '-' || is_word_char(c);
        let begins = |at: usize, text: &str| !file[at + text.len()..].starts_with(goes_on);
        let dashed = [format!("\"{}", self.text), format!("'{}", self.text)];
        if let Some((start, share)) = best(file, &dashed, begins) {
            return Some(self.in_literal(Agreement::Exact, start, share));
        }
        let mut plain = vec![format!("\"{name}\""), format!("'{name}'")];
        // One word is a symbol of anything.
        if name.contains('-') {
            plain.push(format!(":{}", name.replace('-', "_")));
        }
        let is_whole =
            |at: usize, text: &str| !text.starts_with(':') || (begins(at, text) && !file[..at].ends_with(':'));
        let (start, share) = best(file, &plain, is_whole)?;
        Some(self.in_literal(Agreement::Words, start, share * SHARE_WITHOUT_DASHES))
    }

    fn in_literal(&self, agreement: Agreement, start: usize, share: f32) -> Standing {
        Standing {
            agreement,
            words: self.len(),
            share,
            start,
            is_alone: true,
            is_same: true,
            is_literal: true,
            is_before_value: false,
        }
    }
}

/// The first place of any of `texts` on a line that declares, else the first of all, behind its mark, with its share.
fn best(file: &str, texts: &[String], is_one: impl Fn(usize, &str) -> bool) -> Option<(usize, f32)> {
    let mut first = None;
    for text in texts {
        let places = memmem::find_iter(file.as_bytes(), text.as_bytes()).filter(|at| is_one(*at, text));
        for at in places {
            if declares(file, at) {
                return Some((at + 1, 1.0));
            }
            first.get_or_insert((at + 1, SHARE_READ));
        }
    }
    first
}

/// Whether what stands in front of a place on its line, or on the line before where nothing does, says that it declares
/// something.
fn declares(file: &str, at: usize) -> bool {
    let front = file[file.floor_char_boundary(at.saturating_sub(LINE_BYTES_MAX))..at].trim_end();
    let line = front.rsplit('\n').next().unwrap_or_default();
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
            ("--line-limit", "option :line_limit", "Words 0 0.90"),
            ("--line-limit", "@options[:line_limit]", "Words 0 0.72"),
            ("--line-limit", "Limit::line_limit", ""),
            ("--port", "'--ports' \"--port-range\" :port `--port`", ""),
        ] {
            let typed = Typed::new(text, |_| 1.0);
            let told = |found: Standing| {
                let line = file[..found.start].matches('\n').count();
                format!("{:?} {line} {:.2}", found.agreement, found.share)
            };
            assert_eq!(typed.flag(file).map(told).unwrap_or_default(), expected, "{text} in {file:?}");
        }
        let found = Typed::new("--port", |_| 1.0).find("see `--port`").map(|found| (found.agreement, found.is_literal));
        assert_eq!(found, Some((Agreement::Exact, false)), "prose declares nothing");
    }
}
