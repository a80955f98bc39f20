//! The end of an answer: the rule between likely and near results, and the remarks behind the last one.

use std::io::{self, Write};
use std::path::PathBuf;

use colgrep_core::strength::RULE;
use colgrep_engine::end::End;

use super::Options;
use super::style::{self, paint};
use crate::words::{counted, in_short, in_whole, quoted};

/// Maximum width of the rule, in columns.
const RULE_COLUMNS_MAX: usize = 60;

/// Writes the rule between results that are likely right and those near at best; on a terminal only, and not between
/// bare names.
///
/// # Errors
/// When `out` refuses.
pub fn write_rule(out: &mut impl Write, options: &Options) -> io::Result<()> {
    let Some(width) = options.look.width.filter(|_| !options.wish.names_only) else { return Ok(()) };
    let label = "── near at best ";
    let columns = width.min(RULE_COLUMNS_MAX).saturating_sub(label.chars().count());
    paint(out, style::DIM, options.look.color, format!("{label}{}", "─".repeat(columns)))?;
    writeln!(out)
}

/// The remarks behind the last result, a line each; `paths` are the searched ones, as typed. If the rule `is_marked` on
/// a terminal, no remark says again which results are near.
pub fn remarks(end: &End, is_marked: bool, paths: &str) -> Vec<String> {
    // What nobody would paste again is not printed again.
    let with = |flag: &str| match in_whole(&end.query) {
        true => format!("colgrep {flag} {}{paths}", shell_word(&end.query)),
        false => format!("the same with {flag}"),
    };
    let mut lines = Vec::new();
    if end.shown == 0 && end.is_tokens {
        let tokens = in_short(end.query.trim().trim_matches('"'));
        lines.push(format!("nothing holds \"{tokens}\"; nearest by meaning: {}", with("--semantic-only")));
    } else if end.shown == 0 && end.weak > 0 {
        lines.push(format!("nothing here is likely right; {} shows what is near", with("--all")));
    } else if end.shown > 0 && end.is_ruled && end.strongest < RULE && !is_marked {
        let strength = format!("strength {:.2} of 1 at most", end.strongest);
        lines.push(format!("none of these is likely right, all are near at best ({strength})"));
    }
    if !end.quoted.is_empty() {
        lines.push(unquoted(&end.quoted));
    }
    lines.extend(reword(end));
    // Nobody takes one result for all.
    if end.shown > 1 && end.holders > end.shown {
        lines.push(holders(end, paths));
    }
    lines
}

/// The remark on phrases in quotes that no file holds.
pub fn unquoted(phrases: &[String]) -> String {
    let all = if phrases.len() > 1 { "all of " } else { "" };
    let told = format!("no file that is searched holds {all}{} as it stands in quotes", quoted(phrases));
    format!("{told}; without them its words count like others")
}

/// The remark on words that stand nowhere, with near ones that do, where no result is likely right.
fn reword(end: &End) -> Option<String> {
    if end.strongest >= RULE || end.unknown.is_empty() || (end.is_tokens && end.near.is_empty()) {
        return None;
    }
    let unknown = quoted(&end.unknown);
    Some(match end.near.is_empty() {
        true => format!("nothing here holds {unknown}"),
        false if end.is_tokens => format!("what is written nearly so and stands here: {}", end.near.join(", ")),
        false => format!("nothing here holds {unknown}; words that are near and stand here: {}", end.near.join(", ")),
    })
}

/// The remark on how many files hold all words, and how to list them.
fn holders(end: &End, paths: &str) -> String {
    let (files, shown) = (counted(end.holders as u64, "file"), end.shown);
    let count = end.patterns.len();
    let held = match count {
        1 => format!("{:?}", end.query.trim()),
        _ => format!("all {count} words"),
    };
    if end.is_elsewhere {
        return format!("{files} hold {held}, of which {shown} are shown; -k shows more");
    }
    let list = end.patterns.iter().enumerate().map(|(at, pattern)| {
        let fixed = if pattern.chars().all(|c| c.is_alphanumeric() || c == '_') { "" } else { "F" };
        let (piped, paths) = if at == 0 { ("", paths) } else { (" | xargs -0 ", "") };
        // Names that nobody reads end with a NUL.
        let zero = if at + 1 < count { "0" } else { "" };
        format!("{piped}colgrep -il{zero}{fixed} -e {}{paths}", shell_word(pattern))
    });
    let list: String = list.collect();
    format!("{files} hold {held}, of which {shown} are shown; {list} lists all with these letters")
}

/// Prints the remarks behind the last result.
pub fn tell(end: &End, is_marked: bool, paths: &str) {
    remarks(end, is_marked, paths).iter().for_each(|line| remark!("colgrep: {line}"));
}

/// Paths as they are typed behind a query, each once.
pub fn typed(paths: &[PathBuf]) -> String {
    let is_first = |(at, path): &(usize, &PathBuf)| !paths[..*at].contains(path);
    let each = paths.iter().enumerate().filter(is_first);
    each.map(|(_, path)| format!(" {}", shell_word(&path.to_string_lossy()))).collect()
}

/// A word as a shell reads it back.
pub fn shell_word(text: &str) -> String {
    let text = text.trim();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    let needs_option = text.starts_with('-');
    let word = match text.chars().all(is_plain) && !text.is_empty() {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    };
    if needs_option { format!("--query {word}") } else { word }
}

#[cfg(test)]
mod tests {
    use super::super::{Look, Wish};
    use super::*;

    fn end(change: impl Fn(&mut End)) -> End {
        let mut end = End::default();
        (end.query, end.is_ruled) = ("parse it".to_string(), true);
        change(&mut end);
        end
    }

    #[test]
    fn a_terminal_alone_has_a_rule() {
        for (width, names_only, expected) in
            [(Some(30), false, "── near at best ──────────────\n"), (Some(30), true, ""), (None, false, "")]
        {
            let wish = Wish { names_only, ..Wish::default() };
            let options = Options { wish, look: Look { width, ..Look::default() } };
            let mut out = Vec::new();
            write_rule(&mut out, &options).expect("memory takes all");
            assert_eq!(String::from_utf8_lossy(&out), expected, "{width:?} {names_only}");
        }
    }

    #[test]
    fn what_is_said_fits_what_was_found() {
        let words = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        let found = |strongest| end(move |end| (end.shown, end.strongest) = (2, strongest));
        let weak = end(|end| end.weak = 3);
        let tokens = end(|end| (end.is_tokens, end.query) = (true, "E0502".to_string()));
        let unknown = end(|end| {
            end.unknown = words(&["frob"]);
            end.near = words(&["grab", "take"]);
        });
        let quoted = end(|end| end.quoted = words(&["on any host"]));
        let many = end(|end| {
            (end.shown, end.strongest, end.holders) = (2, 0.9, 30);
            end.patterns = words(&["pars"]);
        });
        let elsewhere = end(|end| {
            (end.shown, end.strongest, end.holders, end.is_elsewhere) = (2, 0.9, 30, true);
            end.patterns = words(&["pars"]);
        });
        let three = end(|end| {
            (end.shown, end.strongest, end.holders) = (2, 0.9, 30);
            end.patterns = words(&["pars", "1.2", "it"]);
        });
        for (end, is_marked, expected) in [
            (found(0.9), false, ""),
            (found(0.1), true, ""),
            (found(0.1), false, "none of these is likely right, all are near at best (strength 0.10 of 1 at most)"),
            (weak, false, "nothing here is likely right; colgrep --all 'parse it' src shows what is near"),
            (tokens, false, "nothing holds \"E0502\"; nearest by meaning: colgrep --semantic-only E0502 src"),
            (unknown, false, "nothing here holds \"frob\"; words that are near and stand here: grab, take"),
            (
                many,
                false,
                "30 files hold \"parse it\", of which 2 are shown; colgrep -il -e pars src lists all with these letters",
            ),
            (elsewhere, false, "30 files hold \"parse it\", of which 2 are shown; -k shows more"),
            (
                three,
                false,
                "30 files hold all 3 words, of which 2 are shown; colgrep -il0 -e pars src | xargs -0 colgrep -il0F -e 1.2 | \
                 xargs -0 colgrep -il -e it lists all with these letters",
            ),
            (
                quoted,
                false,
                "no file that is searched holds \"on any host\" as it stands in quotes; without them its words count like others",
            ),
            (end(|_| {}), false, ""),
        ] {
            assert_eq!(remarks(&end, is_marked, " src").join("|"), expected, "{end:?}");
        }
    }

    #[test]
    fn a_path_that_was_given_twice_is_typed_once() {
        let paths = ["web", "it's", "web", "api"].map(PathBuf::from);
        assert_eq!(typed(&paths), " web 'it'\\''s' api");
    }

    #[test]
    fn a_shell_reads_a_word_back() {
        for (text, expected) in [
            ("E0502", "E0502"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("--no-index", "--query --no-index"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }
}
