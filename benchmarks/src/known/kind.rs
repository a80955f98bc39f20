//! What sorts of known items there are.

use serde::{Deserialize, Serialize};

/// What somebody knows of the text that they look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A string literal of 4 to 12 words that occurs once.
    Literal,
    /// A string literal of two or three words that occurs once.
    ShortLiteral,
    /// A message as printed, with values for the placeholders of its literal.
    Message,
    /// Four words of a literal in double quotes.
    Phrase,
    /// A name that is declared once.
    Name,
    /// The same with its keyword.
    KeywordName,
    /// The declaration's line, up to its body.
    Signature,
    /// A whole line of code that occurs once.
    Line,
    /// A constant of at most two files.
    Constant,
    /// A header's name, a version or an error's code, of at most two files.
    Token,
    /// `path:LINE`.
    Place,
    /// `File "/srv/app/path", line LINE`.
    PythonFrame,
    /// A frame or a compiler's message as the file's language writes it.
    Frame,
    /// `who calls NAME`: the lines that call it.
    Callers,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 14] = [
        Kind::Literal,
        Kind::ShortLiteral,
        Kind::Message,
        Kind::Phrase,
        Kind::Name,
        Kind::KeywordName,
        Kind::Signature,
        Kind::Line,
        Kind::Constant,
        Kind::Token,
        Kind::Place,
        Kind::PythonFrame,
        Kind::Frame,
        Kind::Callers,
    ];

    /// Its name in records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Literal => "literal",
            Kind::ShortLiteral => "short literal",
            Kind::Message => "message",
            Kind::Phrase => "phrase",
            Kind::Name => "name",
            Kind::KeywordName => "keyword and name",
            Kind::Signature => "signature",
            Kind::Line => "line",
            Kind::Constant => "constant",
            Kind::Token => "token",
            Kind::Place => "path:line",
            Kind::PythonFrame => "File \"path\", line",
            Kind::Frame => "frame",
            Kind::Callers => "who calls",
        }
    }

    /// Whether it is drawn from declarations.
    pub(super) fn is_declaration(self) -> bool {
        matches!(self, Kind::Name | Kind::KeywordName | Kind::Signature | Kind::Callers)
    }
}
