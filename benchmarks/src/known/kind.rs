//! What sorts of known items there are.

use serde::{Deserialize, Serialize};

/// What somebody knows of the text that they look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownKind {
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

impl KnownKind {
    pub const ALL: [KnownKind; 14] = [
        KnownKind::Literal,
        KnownKind::ShortLiteral,
        KnownKind::Message,
        KnownKind::Phrase,
        KnownKind::Name,
        KnownKind::KeywordName,
        KnownKind::Signature,
        KnownKind::Line,
        KnownKind::Constant,
        KnownKind::Token,
        KnownKind::Place,
        KnownKind::PythonFrame,
        KnownKind::Frame,
        KnownKind::Callers,
    ];

    /// Its name in records and tables.
    pub fn name(self) -> &'static str {
        match self {
            KnownKind::Literal => "literal",
            KnownKind::ShortLiteral => "short literal",
            KnownKind::Message => "message",
            KnownKind::Phrase => "phrase",
            KnownKind::Name => "name",
            KnownKind::KeywordName => "keyword and name",
            KnownKind::Signature => "signature",
            KnownKind::Line => "line",
            KnownKind::Constant => "constant",
            KnownKind::Token => "token",
            KnownKind::Place => "path:line",
            KnownKind::PythonFrame => "File \"path\", line",
            KnownKind::Frame => "frame",
            KnownKind::Callers => "who calls",
        }
    }

    /// Whether it is drawn from declarations.
    pub(super) fn is_declaration(self) -> bool {
        matches!(self, KnownKind::Name | KnownKind::KeywordName | KnownKind::Signature | KnownKind::Callers)
    }
}
