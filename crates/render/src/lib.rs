//! Answers and messages as text: for people, for programs and for agents.

/// Writes a message to stderr, control characters escaped. Errors of stderr itself are ignored.
#[macro_export]
macro_rules! remark {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let text = $crate::escape::escape_text(&format!($($text)*));
        let _ = writeln!(std::io::stderr(), "{text}");
    }};
}

pub mod address;
pub mod advice;

pub mod budget;
pub mod console;
pub mod empty;
mod enclosing;
pub mod end;
pub mod entries;
pub mod escape;
pub mod explain;
pub mod grep;
pub mod highlight;
mod human;
mod hyperlink;
pub mod json;
pub mod line;
pub mod matches;
pub mod notice;
pub mod outline;
pub mod pack;
pub mod panic;
pub mod path;
pub mod related;
pub mod remarks;
mod rows;
#[cfg(feature = "cluster")]
pub mod shards;
pub mod style;
mod trace;
pub mod words;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use budget::TokenBudget;
use colgrep_engine::Detail;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::results::Results;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use escape::{escape_control, escape_name};
pub use hyperlink::Links;
use style::paint;

use crate::console::Console;
use crate::remarks::RemarkKind;
use crate::words::{counted, in_short};

/// When a feature that suits a terminal is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    fn from_name(name: &str) -> When {
        match name {
            "always" => When::Always,
            "never" => When::Never,
            _ => When::Auto,
        }
    }
}

pub struct FormatFlag {
    /// Its name, without the dashes.
    pub name: &'static str,
    pub help: &'static str,
    /// The identifiers of the flags that it can't be combined with, besides those of other formats.
    pub excludes: &'static [&'static str],
    /// How much of each file it prints.
    pub detail: Detail,
    /// Arguments, and what they print in the project `relay` of the tests.
    pub example: (&'static str, &'static str),
}

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// `path:line:column:text`.
    Vimgrep,
    Json,
    /// One JSON object a line.
    JsonLines,
}

impl Format {
    /// The formats with flags, in the order of the help.
    pub const FLAGS: &[(Format, FormatFlag)] =
        &[(Format::Vimgrep, human::VIMGREP), (Format::Json, json::ARRAY), (Format::JsonLines, json::LINES)];

    /// Whether rows are written for programs.
    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::JsonLines)
    }
}

/// Options of the output, as the user gave them; `None` is left to the settings.
#[derive(Clone, Debug, Default)]
pub struct OutputRequest {
    /// How results are written.
    pub format: Format,
    /// Only the names of files, with numbers or without.
    pub names_only: bool,
    /// The number of matches after each name.
    pub count: bool,
    /// A NUL byte after each file name.
    pub null: bool,
    /// Whole units.
    pub content: bool,
    /// Number of lines of each unit.
    pub lines: Option<usize>,
    /// Number of lines before each that is shown.
    pub before: Option<usize>,
    /// Number of lines after each that is shown.
    pub behind: Option<usize>,
    /// Number for whichever of the two is not given.
    pub around: Option<usize>,
    /// Maximum number of tokens.
    pub max_tokens: Option<usize>,
    /// A pack, and its number of tokens.
    pub pack: Option<usize>,
    pub quiet: bool,
    pub silent: bool,
    /// File names on lines of their own.
    pub heading: Option<bool>,
    /// Whether several lines of a file are shown according to the flags.
    pub many_lines: bool,
    /// Whether the number of results was asked for: then all are printed, however high the terminal is.
    pub all: bool,
    /// No line numbers.
    pub no_number: bool,
    /// No file names.
    pub no_name: bool,
    /// The column of the first match too.
    pub column: bool,
    /// Maximum number of bytes of a printed line.
    pub line_bytes_max: Option<usize>,
    pub color: Option<When>,
    pub links: Option<String>,
}

impl OutputRequest {
    /// Applies settings, environment and terminal.
    ///
    /// # Errors
    /// When the format of links can't be parsed.
    pub fn with(&self, settings: &Settings, env: &Env, terminal: bool) -> Result<OutputOptions> {
        let lines = self.lines.or(settings.number("lines"));
        let wish = OutputRequest {
            lines,
            quiet: self.quiet || settings.is_on("quiet"),
            many_lines: self.many_lines
                || lines.is_some_and(|n| n > 1)
                || settings.number("per_file").is_some_and(|n| n > 1),
            heading: self.heading.or_else(|| match When::from_name(settings.text("heading")?) {
                When::Auto => None,
                when => Some(when == When::Always),
            }),
            color: self.color.or(settings.text("color").map(When::from_name)),
            links: self.links.clone().or(settings.text("hyperlink_format").map(str::to_string)),
            ..self.clone()
        };
        let look = Look::new(&wish, env, terminal)?;
        Ok(OutputOptions { wish, look })
    }
}

#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    pub wish: OutputRequest,
    pub look: Look,
}

/// Whether to colour: the flag, else the environment, else only a terminal.
pub fn wants_color(flag: Option<When>, environment: Option<bool>, terminal: bool) -> bool {
    match flag.unwrap_or_default() {
        When::Always => true,
        When::Never => false,
        When::Auto => environment.unwrap_or(terminal),
    }
}

/// How output looks: colours, headings, width, links.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Colour, and links.
    pub color: bool,
    /// File names on lines of their own.
    pub heading: bool,
    /// Columns of the terminal; `None` where stdout is no terminal and lines are printed as they are.
    pub width: Option<usize>,
    /// Rows of the terminal; `None` where all results are to be printed.
    pub height: Option<usize>,
    pub links: Links,
}

impl Look {
    fn new(wish: &OutputRequest, env: &Env, terminal: bool) -> Result<Look> {
        let plain = wish.format != Format::Text;
        let color = !plain && wants_color(wish.color, env.color, terminal && !env.dumb_terminal);
        let links = Links::new(wish.links.as_deref())?;
        let size = || terminal_size::terminal_size_of(std::io::stdout());
        let columns = || size().map(|(width, _)| usize::from(width.0));
        Ok(Look {
            color,
            heading: wish.format != Format::Vimgrep
                && !wish.no_name
                && wish.heading.unwrap_or(terminal && !plain && wish.many_lines),
            height: size().filter(|_| terminal && !plain && !wish.all).map(|(_, height)| usize::from(height.0)),
            width: terminal.then(|| columns().unwrap_or(line::COLUMNS_MAX)),
            links: if color { links } else { Links::default() },
        })
    }

    /// Writes a file's name, coloured and linked to a line of the file at `full`. Control characters are escaped;
    /// for a pipe, all other bytes stay.
    pub fn write_name(&self, out: &mut impl Write, name: &Path, full: &str, line: usize) -> io::Result<()> {
        let (before, behind) = self.links.around(full, line);
        write!(out, "{before}")?;
        self.write_plain_name(out, name)?;
        write!(out, "{behind}")
    }

    fn write_plain_name(&self, out: &mut impl Write, name: &Path) -> io::Result<()> {
        match self.width {
            Some(_) => paint(out, style::PATH, self.color, escape_control(&name.to_string_lossy())),
            None => paint(out, style::PATH, self.color, escape_name(name.as_os_str().as_encoded_bytes())),
        }
    }
}

/// Location of a line, which is printed before it.
#[derive(Clone, Copy, Debug)]
pub struct LineLocation<'a> {
    /// The file's name as shown.
    pub name: &'a Path,
    /// Its absolute path.
    pub full: &'a str,
    /// The line's number.
    pub line: usize,
    /// The column of its first match, where that is shown.
    pub column: Option<usize>,
    /// Separator of the parts: `:` or grep's other marks.
    pub separator: char,
}

impl OutputOptions {
    /// Writes the location before a line's text: file, number and column, as requested, as one link.
    pub fn write_spot(&self, out: &mut impl Write, spot: &LineLocation<'_>) -> io::Result<()> {
        let OutputOptions { wish, look } = self;
        let separator = spot.separator;
        let names = !look.heading && !wish.no_name;
        if names && wish.null {
            out.write_all(spot.name.as_os_str().as_encoded_bytes())?;
            out.write_all(b"\0")?;
        }
        let numbers = !wish.no_number || wish.format == Format::Vimgrep;
        let mut begun = false;
        let (before, behind) = look.links.around(spot.full, spot.line);
        if names && !wish.null {
            write!(out, "{before}")?;
            look.write_plain_name(out, spot.name)?;
            begun = true;
        }
        if numbers {
            write!(out, "{}", if begun { separator.to_string() } else { before })?;
            paint(out, style::LINE, look.color, spot.line.to_string())?;
            begun = true;
        }
        if let Some(column) = spot.column {
            if begun {
                write!(out, "{separator}")?;
            }
            write!(out, "{column}")?;
        }
        if begun {
            write!(out, "{behind}")?;
        }
        if begun || spot.column.is_some() { write!(out, "{separator}") } else { Ok(()) }
    }
}

/// Prints results, and passes remarks to `console`. `scope` is the limits of the search, as [`end::typed`]; `None`
/// suppresses remarks on the answer.
pub fn print(
    out: &mut impl Write,
    results: &Results<'_>,
    options: &OutputOptions,
    scope: Option<&str>,
    console: &Console,
) -> Result<()> {
    let told = end_remark(results, options, scope)?;
    if let Some(tokens) = options.wish.pack {
        let files = results.iter().collect::<Result<Vec<_>, _>>()?;
        let shown = pack::print(out, &files, tokens, options)?;
        if shown == 0 && !files.is_empty() {
            let found = counted(files.len() as u64, "result");
            console.hold(RemarkKind::Cut, format!("not even the first of {found} fits into --pack {tokens}"));
        }
        told.into_iter().for_each(|(kind, text)| console.hold(kind, text));
        return Ok(());
    }
    let mut budget = TokenBudget::new(options.wish.max_tokens);
    let (shown, has_part) = if options.wish.format.is_json() {
        (json::print(out, results, &options.wish, &mut budget)?, false)
    } else {
        let of_end = told.iter().map(|(_, text)| format!("colgrep: {text}"));
        let remarks: Vec<String> = console.pending().into_iter().chain(of_end).collect();
        human::print(out, results, options, &mut budget, &remarks)?
    };
    let found = results.len();
    told.into_iter().for_each(|(kind, text)| console.hold(kind, text));
    if shown < found {
        let told = match options.wish.max_tokens {
            Some(tokens) => format!("{shown} of {} fit into --max-tokens {tokens}", counted(found as u64, "result")),
            None if has_part && shown == 0 => {
                format!("a part of the list fits on the screen; -k {found} or a pager shows all")
            }
            None => format!("{shown} of {found} results fit on the screen; -k {found} or a pager shows all"),
        };
        console.hold(RemarkKind::Cut, told);
    }
    Ok(())
}

/// The remark after the last result.
fn end_remark(
    results: &Results<'_>,
    options: &OutputOptions,
    scope: Option<&str>,
) -> Result<Option<(RemarkKind, String)>> {
    let Some(scope) = scope.filter(|_| !options.wish.quiet && !options.wish.format.is_json()) else { return Ok(None) };
    // On a terminal the rule marks weak results.
    let is_marked = options.look.width.is_some() && options.wish.pack.is_none();
    let told = end::remark(&results.end()?, is_marked, scope);
    if !results.only_matches {
        return Ok(told);
    }
    let none = "the pattern matches, but no unit with a match answers the query".to_string();
    let why = told.map_or(none, |(_, text)| text);
    Ok(Some((RemarkKind::NotFound, format!("{why}; without the query, -e lists the matches"))))
}

/// Remarks that `--max-tokens` left results out; names the query if there are several.
pub fn tell_cut(wish: &OutputRequest, query: Option<&str>, shown: usize, found: usize) {
    if shown < found && !wish.quiet {
        let (query, found) =
            (query.map_or(String::new(), |q| format!("{}: ", in_short(q))), counted(found as u64, "result"));
        let tokens = wish.max_tokens.unwrap_or_default();
        remark!("colgrep: {query}{shown} of {found} fit into --max-tokens {tokens}");
    }
}

/// Prints the names of files, as many as `--max-tokens` lets through.
pub fn print_names(files: &[FileAnswer], options: &OutputOptions) -> Result<()> {
    let mut budget = TokenBudget::new(options.wish.max_tokens);
    let names = files.iter().map(|file| (path::shown(file), path::absolute(&file.root, &file.path)));
    let mut shown = 0;
    // JSON has the absolute path alone; text has the name and the end of its line.
    let length = |(name, full): &(PathBuf, String)| match options.wish.format.is_json() {
        true => full.len(),
        false => name.as_os_str().len() + 1,
    };
    write_names(names.take_while(|name| budget.take(length(name))).inspect(|_| shown += 1), options)?;
    tell_cut(&options.wish, None, shown, files.len());
    Ok(())
}

/// Prints names of files as shown, each with the absolute path.
pub fn write_names(files: impl Iterator<Item = (PathBuf, String)>, options: &OutputOptions) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let row = |(_, full): (PathBuf, String)| json::Line::of_file(full, None);
    match options.wish.format {
        format if format.is_json() => rows::write_rows(&mut out, files.map(row), format)?,
        _ => {
            for (name, full) in files {
                if options.wish.null {
                    out.write_all(name.as_os_str().as_encoded_bytes())?;
                } else {
                    options.look.write_name(&mut out, &name, &full, 1)?;
                }
                out.write_all(if options.wish.null { b"\0" } else { b"\n" })?;
            }
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_headings_only_over_several_lines() {
        let look = |wish: OutputRequest, terminal| Look::new(&wish, &Env::default(), terminal).expect("a look").heading;
        let many = || OutputRequest { many_lines: true, ..OutputRequest::default() };
        for (wish, terminal, expected) in [
            (OutputRequest::default(), true, false),
            (many(), true, true),
            (many(), false, false),
            (OutputRequest { heading: Some(true), ..OutputRequest::default() }, false, true),
            (OutputRequest { heading: Some(false), ..many() }, true, false),
        ] {
            assert_eq!(look(wish.clone(), terminal), expected, "{wish:?}");
        }
    }

    #[test]
    fn colour_by_flag_then_environment_then_terminal() {
        for (flag, environment, terminal, expected) in [
            (None, None, true, true),
            (Some(When::Auto), None, false, false),
            (None, Some(false), true, false),
            (None, Some(true), false, true),
            (Some(When::Always), Some(false), false, true),
            (Some(When::Never), Some(true), true, false),
        ] {
            assert_eq!(wants_color(flag, environment, terminal), expected);
        }
    }
}
