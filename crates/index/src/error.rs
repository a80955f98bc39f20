//! Errors of an index. Callers say what to do about them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A line of an ignore file that matches nothing, since it is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line:?}: {why}")]
pub struct IgnorePatternError {
    pub(crate) line: String,
    pub(crate) why: &'static str,
}

/// Any error of a library below this crate.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What kind of failure it is: callers act on this, people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or folder could not be read or written.
    Io,
    /// There is no index yet.
    Missing,
    /// The index was written by another version of colgrep, or is damaged, and has to be rebuilt.
    Unusable,
    /// Another process is writing the index.
    Busy,
    /// The model can't be run.
    Model,
    /// A remote shard does not answer.
    Away,
}

/// Operations that change the files of an index. All others only read.
const CHANGES: [&str; 8] = ["create", "write", "flush", "replace", "remove", "move", "open", "lock"];

/// A failure of the index.
///
/// The cause is the [`source`](std::error::Error::source), not part of the message; [`Error::full`] joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refuses to read or write something.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// The failed operation, such as "read".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file of the project is not text.
    #[error("{} is {reason}", path.display())]
    NoText {
        path: PathBuf,
        /// What it contains instead.
        reason: &'static str,
    },
    #[error("pattern to ignore")]
    Pattern(#[source] IgnorePatternError),
    #[error("could not start threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
    /// A segment would exceed the limits of its format.
    #[error("{}: more than 4 GiB of vectors in one project", .0.display())]
    TooManyVectors(PathBuf),
    /// Several indexes together have more segments than unit addresses can tell apart.
    #[error("{repositories} repositories with {segments} segments are too many for one shard; split it")]
    TooManyRepositories { repositories: usize, segments: u32 },
    /// A remote shard does not answer.
    #[error("{0}")]
    Away(String),
    /// A round of a search was requested before the one that it builds on; the index is fine.
    #[error("{0} is asked out of turn")]
    OutOfTurn(&'static str),
    /// The file table can't be serialized.
    #[error("file table")]
    Table(#[source] Source),
    /// There is no index in a folder.
    #[error("no index in {}", .0.display())]
    NoIndex(PathBuf),
    /// The first build in a folder has not committed yet.
    #[error("no index in {} yet; its first build is under way or was stopped", .0.display())]
    NotCommitted(PathBuf),
    /// The index is of another version, described here.
    #[error("the index was written by another version of colgrep ({0})")]
    OtherVersion(String),
    /// The model's vectors differ from those in the index.
    #[error("the model gives {asked}, the index has {kept}")]
    OtherModel {
        /// Description of the model's vectors.
        asked: String,
        /// The vectors in the index.
        kept: usize,
    },
    /// A part of the index is damaged or missing.
    #[error("{what}")]
    Damaged {
        /// The part, and how the damage shows unless there is a source.
        what: String,
        /// The reader's error.
        source: Option<Source>,
    },
    /// Reading the index panicked.
    #[error("reading the index failed inside ({0})")]
    Panicked(String),
    /// Another process holds the write lock.
    #[error("another colgrep is writing {}", .0.display())]
    Busy(PathBuf),
    /// The caller has the work stopped.
    #[error("nobody waits for the answer any more")]
    Stopped,
    /// Other processes kept committing while the index was opened.
    #[error("the index changes too fast to be read; try again")]
    Changing,
    /// The model can't be run.
    #[error(transparent)]
    Model(#[from] colgrep_encoder::Error),
    /// The inverted index can't be read or written.
    #[error("index")]
    Inverted(#[source] Inverted),
}

/// An error of tantivy. Its message includes its causes.
#[derive(Debug)]
pub struct Inverted(tantivy::TantivyError);

impl std::fmt::Display for Inverted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use tantivy::TantivyError as T;
        use tantivy::directory::error::OpenReadError;
        // tantivy prints these as debug output.
        match &self.0 {
            T::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
                let (path, said) = (filepath.display().to_string(), io_error.to_string());
                if said.contains(&path) { f.write_str(&said) } else { write!(f, "{path}: {said}") }
            }
            T::IoError(error) if lacks_room(&self.0) => write!(f, "no room for a thread or its memory: {error}"),
            T::IoError(error) => error.fmt(f),
            // tantivy does not say why; a failure that the disk recorded is reported instead.
            T::ErrorInThread(_) => f.write_str("a thread that writes it ended, most likely for want of memory"),
            other => other.fmt(f),
        }
    }
}

impl std::error::Error for Inverted {}

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the system on `path`; `doing` names the failed operation, such as "read".
    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::Io { doing, path: path.to_path_buf(), source }
    }

    /// Something is damaged; `what` describes it.
    pub(crate) fn damaged(what: impl Into<String>) -> Error {
        Error::Damaged { what: what.into(), source: None }
    }

    /// The file at `path` is damaged or missing: `source` is the reader's error.
    pub(crate) fn damaged_file(path: &Path, source: impl Into<Source>) -> Error {
        Error::Damaged { what: path.display().to_string(), source: Some(source.into()) }
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Io { .. } | Error::NoText { .. } | Error::Pattern(_) | Error::Threads(_) => ErrorKind::Io,
            Error::TooManyVectors(_) | Error::TooManyRepositories { .. } | Error::Table(_) => ErrorKind::Io,
            Error::Stopped => ErrorKind::Io,
            Error::Away(_) | Error::OutOfTurn(_) => ErrorKind::Away,
            Error::NoIndex(_) | Error::NotCommitted(_) => ErrorKind::Missing,
            Error::OtherVersion(_) | Error::OtherModel { .. } => ErrorKind::Unusable,
            Error::Damaged { .. } | Error::Panicked(_) => ErrorKind::Unusable,
            Error::Busy(_) | Error::Changing => ErrorKind::Busy,
            Error::Model(_) => ErrorKind::Model,
            Error::Inverted(Inverted(error)) => kind_of(error),
        }
    }

    /// The system's error kind if it refused a change of stored data, or memory; `None` for a failed read.
    pub fn refused(&self) -> Option<std::io::ErrorKind> {
        use std::io::ErrorKind::OutOfMemory;
        match self {
            Error::Io { doing, source, .. } if CHANGES.contains(doing) || source.kind() == OutOfMemory => {
                Some(source.kind())
            }
            Error::Threads(_) => Some(OutOfMemory),
            Error::Inverted(Inverted(error)) if lacks_room(error) => Some(OutOfMemory),
            _ => None,
        }
    }

    /// Whether content was read that makes no sense. Checksums tell most damage, but not what was written wrong, or
    /// forged. A missing file, another version and another model are unusable too, and not content.
    pub fn is_of_content(&self) -> bool {
        use std::io::ErrorKind as Os;
        let is_content =
            |error: &std::io::Error| matches!(error.kind(), Os::InvalidData | Os::UnexpectedEof | Os::Other);
        match self {
            Error::Panicked(_) => true,
            Error::Damaged { source, .. } => {
                let io = source.as_ref().and_then(|source| source.downcast_ref::<std::io::Error>());
                io.is_none_or(is_content)
            }
            Error::Inverted(Inverted(error)) if is_inconsistent(error) => true,
            Error::Inverted(Inverted(tantivy::TantivyError::IoError(error))) => is_content(error),
            _ => false,
        }
    }

    /// True if the index can't be written for want of room: the disk is full, or a quota or a limit is reached.
    pub fn has_no_room(&self) -> bool {
        self.refused().is_some_and(is_no_room)
    }

    /// The message and those of all causes, joined by colons.
    pub fn full(&self) -> String {
        full(self)
    }
}

/// True if the system refuses a write with this error for want of room on the disk.
pub fn is_no_room(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind as Os;
    matches!(kind, Os::StorageFull | Os::QuotaExceeded | Os::FileTooLarge)
}

/// The message of any error with its causes, the first cause next.
pub fn full(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Runs `work` on an index and treats a panic as damage: reading a correctly written index does not panic. No other
/// code of the libraries catches panics; callers that answer from an index do so inside this one.
///
/// # Errors
/// [`Error::Panicked`] if `work` panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T> {
    // State shared with `work` is dropped together with the index, or guarded by locks that ignore poisoning.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Error::Panicked(message(panic.as_ref()).to_string()))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

/// Whether a missing, truncated or changed file of the index causes this error.
pub(crate) fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as Os;
    matches!(error.kind(), Os::NotFound | Os::InvalidData | Os::UnexpectedEof | Os::Other)
}

/// Whether tantivy reports this error when the system refuses its threads or their memory.
fn lacks_room(error: &tantivy::TantivyError) -> bool {
    use std::io::ErrorKind as Os;
    use tantivy::TantivyError as T;
    match error {
        T::ErrorInThread(_) => true,
        T::SystemError(said) => said.starts_with("Failed to spawn"),
        T::IoError(error) => matches!(error.kind(), Os::WouldBlock | Os::OutOfMemory),
        _ => false,
    }
}

/// Whether parts of an index do not fit each other, as in a forged one: a document that its list of blocks lacks is an
/// invalid argument to tantivy.
fn is_inconsistent(error: &tantivy::TantivyError) -> bool {
    use tantivy::TantivyError as T;
    matches!(error, T::DataCorruption(_) | T::InvalidArgument(_) | T::InternalError(_) | T::FieldNotFound(_))
}

fn kind_of(error: &tantivy::TantivyError) -> ErrorKind {
    use tantivy::TantivyError as T;
    use tantivy::directory::error::OpenReadError;
    match error {
        // Errors such as too many open files are not damage.
        T::OpenReadError(OpenReadError::IoError { io_error, .. }) if !is_damage(io_error) => ErrorKind::Io,
        error if is_inconsistent(error) => ErrorKind::Unusable,
        T::IncompatibleIndex(_) | T::SchemaError(_) | T::OpenReadError(_) => ErrorKind::Unusable,
        T::IoError(e) if is_damage(e) => ErrorKind::Unusable,
        T::LockFailure(..) => ErrorKind::Busy,
        _ => ErrorKind::Io,
    }
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Error {
        Error::Inverted(Inverted(error))
    }
}

#[cfg(test)]
mod tests {
    use tantivy::directory::error::OpenReadError;

    use super::*;

    #[test]
    fn only_content_that_makes_no_sense_asks_for_a_rebuild() {
        use std::io::ErrorKind as Os;
        let path = Path::new("a/b");
        for (error, is_of_content) in [
            (caught(|| [0; 3][std::hint::black_box(7)]).expect_err("a panic"), true),
            (Error::damaged("a stored unit is damaged"), true),
            (Error::damaged_file(path, std::io::Error::from(Os::InvalidData)), true),
            (Error::damaged_file(path, std::io::Error::from(Os::NotFound)), false),
            (tantivy::TantivyError::from(std::io::Error::from(Os::UnexpectedEof)).into(), true),
            (tantivy::TantivyError::from(std::io::Error::from(Os::NotFound)).into(), false),
            (tantivy::TantivyError::InvalidArgument("Failed to lookup Doc #7.".into()).into(), true),
            (Error::OtherVersion("7".into()), false),
            (Error::OtherModel { asked: "4 rows".into(), kept: 2 }, false),
            (Error::Away("a shard".into()), false),
        ] {
            assert_eq!(error.is_of_content(), is_of_content, "{}", error.full());
        }
    }

    #[test]
    fn causes_are_told_once_each_and_kinds_follow_them() {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = Path::new("a/b");
        for (error, kind, text) in [
            (Error::io("read", path, gone()), ErrorKind::Io, "could not read a/b: entity not found"),
            (Error::damaged_file(path, gone()), ErrorKind::Unusable, "a/b: entity not found"),
            (Error::damaged("the end is cut"), ErrorKind::Unusable, "the end is cut"),
            (Error::NoIndex(path.into()), ErrorKind::Missing, "no index in a/b"),
            (Error::OutOfTurn("a score"), ErrorKind::Away, "a score is asked out of turn"),
            (tantivy::TantivyError::from(gone()).into(), ErrorKind::Unusable, "index: entity not found"),
            (tantivy::TantivyError::from(full()).into(), ErrorKind::Io, "index: no storage space"),
            (
                tantivy::TantivyError::from(OpenReadError::wrap_io_error(full(), path.into())).into(),
                ErrorKind::Io,
                "index: a/b: no storage space",
            ),
        ] {
            assert_eq!((error.kind(), error.full().as_str()), (kind, text));
            assert_eq!((error.refused(), error.has_no_room()), (None, false), "{text}");
        }
        let written = Error::io("write", path, full());
        assert_eq!((written.refused(), written.has_no_room()), (Some(std::io::ErrorKind::StorageFull), true));
        let again = || std::io::Error::from(std::io::ErrorKind::WouldBlock);
        for (error, text) in [
            (tantivy::TantivyError::ErrorInThread("killed".into()), "most likely for want of memory"),
            (tantivy::TantivyError::SystemError("Failed to spawn it".into()), "Failed to spawn it"),
            (tantivy::TantivyError::from(again()), "no room for a thread"),
        ] {
            let error = Error::from(error);
            assert!(error.full().contains(text), "{}", error.full());
            assert_eq!(error.refused(), Some(std::io::ErrorKind::OutOfMemory), "{text}");
            assert_eq!(error.kind(), ErrorKind::Io, "{text}");
        }
    }
}
