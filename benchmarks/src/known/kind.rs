//! What sorts of known items there are.

use serde::{Deserialize, Serialize};

colgrep_core::named! {
    /// What somebody knows of the text that they look for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum KnownKind {
        /// A string literal of 4 to 12 words that occurs once.
        Literal = "literal",
        /// A string literal of two or three words that occurs once.
        ShortLiteral = "short literal",
        /// A message as printed, with values for the placeholders of its literal.
        Message = "message",
        /// Four words of a literal in double quotes.
        Phrase = "phrase",
        /// A name that is declared once.
        Name = "name",
        /// The same with its keyword.
        KeywordName = "keyword and name",
        /// The declaration's line, up to its body.
        Signature = "signature",
        /// A whole line of code that occurs once.
        Line = "line",
        /// A constant of at most two files.
        Constant = "constant",
        /// A header's name, a version or an error's code, of at most two files.
        Token = "token",
        /// `path:LINE`.
        Place = "path:line",
        /// `File "/srv/app/path", line LINE`.
        PythonFrame = "File \"path\", line",
        /// A frame or a compiler's message as the file's language writes it.
        Frame = "frame",
        /// `who calls NAME`: the lines that call it.
        Callers = "who calls",
    }
}

impl KnownKind {
    /// Whether it is drawn from declarations.
    pub(super) fn is_declaration(self) -> bool {
        matches!(self, KnownKind::Name | KnownKind::KeywordName | KnownKind::Signature | KnownKind::Callers)
    }
}
