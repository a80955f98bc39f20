//! Syntax highlighting by syntect with bat's collection of syntaxes, in the terminal's own colours.
//!
//! Loaded when the first coloured line is printed. A language without a syntax is printed without colours.

use anstyle::{Ansi256Color, AnsiColor, Color, Style};
use syntect::highlighting::{FontStyle, HighlightIterator, HighlightState, Highlighter, Theme};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

/// Maximum number of coloured lines in a block, from its first.
const LINES_MAX: usize = 500;
/// Longest coloured line, in bytes. A longer one ends the colours of its block.
const LINE_BYTES_MAX: usize = 2 << 10;

/// Styles of a line, each with the number of bytes it covers.
pub type Styled = Vec<(Style, usize)>;

/// The syntaxes and the theme.
#[derive(Debug)]
pub struct Syntaxes {
    set: SyntaxSet,
    theme: Theme,
}

impl Syntaxes {
    /// Loads both.
    pub fn load() -> Syntaxes {
        let themes = two_face::theme::extra();
        Syntaxes {
            set: two_face::syntax::extra_newlines(),
            theme: themes[two_face::theme::EmbeddedThemeName::Ansi].clone(),
        }
    }

    fn syntax(&self, path: &str, first_line: &str) -> Option<&SyntaxReference> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or(name, |(_, e)| e);
        self.set
            .find_syntax_by_extension(name)
            .or_else(|| self.set.find_syntax_by_extension(extension))
            .or_else(|| self.set.find_syntax_by_first_line(first_line))
    }

    /// The styles of consecutive lines of the file at `path`; empty without a syntax.
    pub fn styles(&self, path: &str, first_line: &str, lines: &[&str]) -> Vec<Styled> {
        let Some(syntax) = self.syntax(path, first_line) else { return Vec::new() };
        let highlighter = Highlighter::new(&self.theme);
        let mut parser = ParseState::new(syntax);
        let mut state = HighlightState::new(&highlighter, ScopeStack::new());
        let mut styled = Vec::new();
        for line in lines.iter().take(LINES_MAX) {
            if line.len() > LINE_BYTES_MAX {
                break;
            }
            let text = format!("{line}\n");
            let Ok(operations) = parser.parse_line(&text, &self.set) else { break };
            let parts = HighlightIterator::new(&mut state, &operations, &text, &highlighter);
            styled.push(parts.map(|(style, part)| (in_terminal(style), part.len())).collect());
        }
        styled
    }
}

/// A style of the `ansi` theme in the terminal's palette: bat writes the palette's number where alpha is 0, and means
/// the terminal's own colour where it is 1 (`src/terminal.rs` of bat).
fn in_terminal(style: syntect::highlighting::Style) -> Style {
    let color = style.foreground;
    let foreground = match (color.a, color.r) {
        (0, KEYWORD) => Some(Color::Ansi(AnsiColor::BrightBlue)),
        (0, number @ 0..=7) => Some(Color::Ansi(BASIC[usize::from(number)])),
        (0, number) => Some(Color::Ansi256(Ansi256Color(number))),
        _ => None,
    };
    let mut own = Style::new().fg_color(foreground);
    if style.font_style.contains(FontStyle::BOLD) {
        own = own.bold();
    }
    own
}

/// The palette's number for keywords. Paths have the same colour, so keywords get another.
const KEYWORD: u8 = 5;

const BASIC: [AnsiColor; 8] = [
    AnsiColor::Black,
    AnsiColor::Red,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Blue,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::White,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_has_the_colour_of_paths() {
        let syntaxes = Syntaxes::load();
        let styles = syntaxes.styles("src/a.rs", "", &["pub fn push(item: u32) { return 1 }"]);
        let path = super::super::style::PATH.get_fg_color();
        assert!(styles.iter().flatten().all(|(style, _)| style.get_fg_color() != path), "{styles:?}");
    }

    #[test]
    fn code_is_coloured_by_its_file() {
        let syntaxes = Syntaxes::load();
        for (path, line, coloured) in [
            ("src/a.rs", "pub fn push(item: u32) {}", true),
            ("a.ts", "export const a = async () => 1;", true),
            ("main.py", "def f(x): return 'text'", true),
            ("Makefile", "all: $(OBJECTS)", true),
            ("notes.zzz", "pub fn push()", false),
        ] {
            let styles = syntaxes.styles(path, line, &[line]);
            let any = styles.iter().flatten().any(|(style, _)| style.get_fg_color().is_some());
            assert_eq!(any, coloured, "{path}: {styles:?}");
            if coloured {
                assert_eq!(styles[0].iter().map(|(_, n)| n).sum::<usize>(), line.len() + 1, "{path}");
            }
        }
    }
}
