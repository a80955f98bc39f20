//! What can go wrong with an index, and what to do about it.

use std::fmt;
use std::path::Path;

/// What kind of failure it is: callers act on this, people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file or folder could not be read or written.
    Io,
    /// There is no index yet.
    Missing,
    /// The index was written by another version of colgrep, or is damaged: it has to be built anew.
    Unusable,
    /// Another process is writing the index.
    Busy,
    /// The model can't be run.
    Model,
}

/// A failure of the index.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What functions of this crate give.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// An operating system error on `path`; `doing` says what was tried, such as "read".
    pub(crate) fn io(doing: &str, path: &Path, error: &std::io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("could not {doing} {}: {error}", path.display()))
    }

    /// What failed, without the advice that goes with its kind.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.kind {
            ErrorKind::Unusable => f.write_str("; `colgrep init` builds it anew, `colgrep clear` removes it"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<colgrep_encoder::Error> for Error {
    fn from(error: colgrep_encoder::Error) -> Error {
        Error::new(ErrorKind::Model, error.full())
    }
}

/// Whether it is what a missing, cut or changed file of the index shows itself as.
fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as Os;
    matches!(error.kind(), Os::NotFound | Os::InvalidData | Os::UnexpectedEof | Os::Other)
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Error {
        use tantivy::TantivyError as T;
        use tantivy::directory::error::OpenReadError;
        let kind = match &error {
            // Too few handles, say, are no damage.
            T::OpenReadError(OpenReadError::IoError { io_error, .. }) if !is_damage(io_error) => ErrorKind::Io,
            T::DataCorruption(_) | T::IncompatibleIndex(_) | T::SchemaError(_) | T::OpenReadError(_) => {
                ErrorKind::Unusable
            }
            T::IoError(e) if is_damage(e) => ErrorKind::Unusable,
            T::LockFailure(..) => ErrorKind::Busy,
            _ => ErrorKind::Io,
        };
        Error::new(kind, format!("index: {error}"))
    }
}
