//! Syntax highlighting by syntect with bat's collection of syntaxes, in the terminal's own colours.
//!
//! Loaded when the first coloured line is printed. A language without a syntax is printed without colours.

use std::sync::OnceLock;

use anstyle::{Ansi256Color, AnsiColor, Color, Style};
use syntect::highlighting::{FontStyle, HighlightIterator, HighlightState, Highlighter, Theme};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Maximum number of coloured lines in a block, from its first.
const LINES_MAX: usize = 500;
/// Longest coloured line, in bytes. A longer one ends the colours of its block.
const LINE_BYTES_MAX: usize = 2 << 10;

/// Classes of a page's style sheet by scope. The innermost scope with a class counts, and the first matching row. A row
/// without a class hides those of outer scopes.
const CLASSES: [(&str, &str); 32] = [
    ("punctuation.definition.comment", "c"),
    ("punctuation.definition.string", "s"),
    ("comment", "c"),
    ("constant.character.escape", "e"),
    ("string", "s"),
    ("meta.interpolation", ""),
    ("meta.template.expression", ""),
    ("constant.numeric", "n"),
    ("constant", "n"),
    ("keyword.operator.word", "k"),
    ("keyword.operator.logical.python", "k"),
    ("keyword.operator", ""),
    ("keyword", "k"),
    ("storage.modifier", "k"),
    ("storage.type.function", "k"),
    ("storage", "k"),
    ("variable.language", "k"),
    ("entity.name.function", "f"),
    ("support.function", "f"),
    ("support.macro", "f"),
    ("variable.function", "f"),
    ("entity.name.tag", "k"),
    ("entity.name.section", "h"),
    ("markup.heading", "h"),
    ("entity.name", "t"),
    ("entity.other.inherited-class", "t"),
    ("entity.other.attribute-name", "a"),
    ("support.type", "t"),
    ("support.class", "t"),
    ("meta.annotation", "a"),
    ("meta.attribute", "a"),
    ("markup.raw", "s"),
];

/// Styles of a line, each with the number of bytes it covers.
pub type Styled = Vec<(Style, usize)>;

#[derive(Debug)]
pub struct Syntaxes {
    set: SyntaxSet,
    theme: Theme,
}

impl Syntaxes {
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

    /// The classes of consecutive lines of the file at `path`, each with the number of bytes that it covers; of the first
    /// `lines_max` lines, up to one that is too long.
    pub fn classes(
        &self,
        path: &str,
        first_line: &str,
        lines: &[&str],
        lines_max: usize,
    ) -> Vec<Vec<(&'static str, usize)>> {
        let Some(syntax) = self.syntax(path, first_line) else { return Vec::new() };
        let (mut parser, mut stack) = (ParseState::new(syntax), ScopeStack::new());
        let mut classes = Vec::new();
        for line in lines.iter().take(lines_max).take_while(|line| line.len() <= LINE_BYTES_MAX) {
            let text = format!("{line}\n");
            let Ok(operations) = parser.parse_line(&text, &self.set) else { break };
            let (mut at, mut row) = (0, Vec::new());
            for (end, operation) in &operations {
                if *end > at {
                    row.push((class(&stack), *end - at));
                    at = *end;
                }
                if stack.apply(operation).is_err() {
                    return classes;
                }
            }
            row.push((class(&stack), text.len() - at));
            classes.push(row);
        }
        classes
    }
}

/// The class of the innermost scope that has one.
fn class(stack: &ScopeStack) -> &'static str {
    static KNOWN: OnceLock<Vec<(Scope, &str)>> = OnceLock::new();
    let known = KNOWN
        .get_or_init(|| CLASSES.iter().filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, *class))).collect());
    let of = |scope: &Scope| known.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class);
    stack.as_slice().iter().rev().find_map(of).unwrap_or_default()
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
    fn code_has_classes_by_what_it_is() {
        let syntaxes = Syntaxes::load();
        for (path, line, expected) in [
            ("a.rs", "pub fn push(&self) -> u32 { 1 } // é", "k:pub k:fn f:push k:u32 n:1 c:// é"),
            ("a.py", "def f(x): return 'text' and 1", "k:def f:f k:return s:'text' k:and n:1"),
            ("a.ts", "export const a = async () => `x${1}`;", "k:export k:const f:a k:async k:=> s:`x n:1 s:`"),
            ("a.md", "# Title", "h:# Title"),
            ("a.zzz", "fn a", ""),
        ] {
            let rows = syntaxes.classes(path, line, &[line], 1);
            let (mut at, mut found) = (0, Vec::<(&str, String)>::new());
            for (class, length) in rows.iter().flatten() {
                let text = line.get(at..(at + length).min(line.len())).unwrap_or_default();
                at += length;
                match found.last_mut() {
                    Some(last) if last.0 == *class => last.1.push_str(text),
                    _ => found.push((class, text.to_string())),
                }
            }
            let named: Vec<String> = found
                .iter()
                .filter(|(class, _)| !class.is_empty())
                .map(|(class, text)| format!("{class}:{}", text.trim()))
                .collect();
            assert_eq!(named.join(" "), expected, "{path}: {rows:?}");
        }
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
