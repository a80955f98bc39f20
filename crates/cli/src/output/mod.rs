//! What is printed: for people, for programs, and how scores came about.

pub mod budget;
pub mod escape;
pub mod explain;
mod highlight;
mod human;
mod hyperlink;
pub mod json;
pub mod line;
pub mod path;
pub mod style;
pub mod trace;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use budget::Budget;
use colgrep_engine::env::Env;
use escape::escape_control;
pub use hyperlink::Links;
use style::paint;

use crate::args::{Color, SearchArgs};
use crate::command::{Found, Place, counted};

/// Whether to colour: the flag, else the environment, else only a terminal.
pub fn wants_color(flag: Option<Color>, environment: Option<bool>, terminal: bool) -> bool {
    match flag.unwrap_or_default() {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => environment.unwrap_or(terminal),
    }
}

/// How lines are dressed.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Colour, and links.
    pub color: bool,
    /// File names on lines of their own.
    pub heading: bool,
    /// Columns of the terminal; none where stdout is no terminal, and what is printed stays as it is.
    pub width: Option<usize>,
    /// Links to files.
    pub links: Links,
}

impl Look {
    /// What flags, environment and terminal say.
    ///
    /// # Errors
    /// On a format of links that is not to be understood.
    pub fn new(args: &SearchArgs, env: &Env, terminal: bool) -> Result<Look> {
        let plain = args.for_programs() || args.vimgrep;
        let color = !plain && wants_color(args.color, env.color, terminal && !env.dumb_terminal);
        let links = Links::new(args.hyperlink_format.as_deref())?;
        let columns = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        Ok(Look {
            color,
            heading: !args.vimgrep && (args.heading || (terminal && !args.no_heading && !plain)),
            width: terminal.then(|| columns().unwrap_or(line::COLUMNS_MAX)),
            links: if color { links } else { Links::default() },
        })
    }

    /// Writes a file's name, coloured and linked to a line of the file at `full`: its own bytes, or, for a terminal,
    /// text without control characters.
    pub fn write_name(&self, out: &mut impl Write, name: &Path, full: &str, line: usize) -> io::Result<()> {
        let (before, behind) = self.links.around(full, line);
        write!(out, "{before}")?;
        match self.width {
            Some(_) => paint(out, style::PATH, self.color, escape_control(&name.to_string_lossy()))?,
            None => paint(out, style::PATH, self.color, name.as_os_str().as_encoded_bytes())?,
        }
        write!(out, "{behind}")
    }
}

/// Prints `hits`, each as (position in `found`, position in its hits).
///
/// # Errors
/// When `out` refuses or an index can't be read.
pub fn print(
    out: &mut impl Write,
    found: &[Found<'_>],
    hits: &[(usize, usize)],
    args: &SearchArgs,
    env: &Env,
    query: &str,
    terminal: bool,
) -> Result<()> {
    let mut budget = Budget::new(args.max_tokens);
    let mut named = HashSet::new();
    // With --units a file may come again.
    let is_new = |&&(f, h): &&(usize, usize)| !args.names_only() || named.insert((f, found[f].path(h)));
    let hits: Vec<(usize, usize)> = hits.iter().filter(is_new).copied().collect();
    let hits = hits.as_slice();
    let shown = if args.json || args.jsonl {
        json::print(out, found, hits, args, &mut budget)?
    } else {
        let look = Look::new(args, env, terminal)?;
        human::print(out, found, hits, args, query, &look, &mut budget)?
    };
    tell_cut(args, None, shown, hits.len());
    Ok(())
}

/// Says where `--max-tokens` left results out, of which query if there are several.
pub fn tell_cut(args: &SearchArgs, query: Option<&str>, shown: usize, found: usize) {
    if shown < found && !args.walk.quiet {
        let (query, found) = (query.map_or(String::new(), |q| format!("{q}: ")), counted(found as u64, "result"));
        let tokens = args.max_tokens.unwrap_or_default();
        remark!("colgrep: {query}{shown} of {found} fit into --max-tokens {tokens}");
    }
}

/// Prints the names of files, each given by its project and its path from the root.
///
/// # Errors
/// When stdout refuses.
pub fn print_names(names: &[(&Place, &str)], args: &SearchArgs, env: &Env, terminal: bool) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let full = |place: &Place, path: &str| path::absolute(&place.project.root, path);
    let mut rows = names.iter().map(|(place, path)| json::Line::of_file(full(place, path), None));
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&rows.collect::<Vec<_>>())?)?;
    } else if args.jsonl {
        rows.try_for_each(|row| anyhow::Ok(writeln!(out, "{}", serde_json::to_string(&row)?)?))?;
    } else {
        let look = Look::new(args, env, terminal)?;
        for (place, path) in names {
            let name = place.shown(path);
            if args.null {
                out.write_all(name.as_os_str().as_encoded_bytes())?;
            } else {
                look.write_name(&mut out, &name, &full(place, path), 1)?;
            }
            out.write_all(if args.null { b"\0" } else { b"\n" })?;
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_by_flag_then_environment_then_terminal() {
        for (flag, environment, terminal, expected) in [
            (None, None, true, true),
            (Some(Color::Auto), None, false, false),
            (None, Some(false), true, false),
            (None, Some(true), false, true),
            (Some(Color::Always), Some(false), false, true),
            (Some(Color::Never), Some(true), true, false),
        ] {
            assert_eq!(wants_color(flag, environment, terminal), expected);
        }
    }
}
