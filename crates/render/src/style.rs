//! Colours, as ripgrep chose them.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

pub const PATH: Style = AnsiColor::Magenta.on_default();
pub const LINE: Style = AnsiColor::Green.on_default();
pub const MATCH: Style = AnsiColor::Red.on_default().bold();
/// Words of the query in a ranked result: on top of the syntax's colours.
pub const MARK: Style = Style::new().bold().underline();
pub const DIM: Style = Style::new().dimmed();

/// Writes `text`, in `style` if `color`.
pub fn paint(out: &mut impl Write, style: Style, color: bool, text: impl AsRef<[u8]>) -> io::Result<()> {
    if !color {
        return out.write_all(text.as_ref());
    }
    write!(out, "{style}")?;
    out.write_all(text.as_ref())?;
    write!(out, "{style:#}")
}
