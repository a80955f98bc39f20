//! Errors between a request and its answer. Callers add the advice in their own words.

mod refused;
mod setting;

use std::io;
use std::path::PathBuf;

pub use refused::{Refused, TermsError};
pub use setting::SettingError;

/// Any error of a library below this crate.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What functions of this crate give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
///
/// The cause is the [`source`](std::error::Error::source) and no part of the message; [`Error::full`] joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request can't be answered.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A setting, or a variable of the environment, is unknown or does not fit.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// An index can't be read or written.
    #[error(transparent)]
    Index(#[from] colgrep_index::Error),
    /// A project has no index that can be read, and none was to be made.
    #[error("{} has no index that this colgrep can read", root.display())]
    NoIndex {
        /// The project's root.
        root: PathBuf,
        /// Why it can't be read.
        source: colgrep_index::Error,
    },
    /// The folder of an index can't be made.
    #[error("the index of {} has no place", root.display())]
    NoPlace {
        /// The project's root.
        root: PathBuf,
        source: colgrep_index::Error,
    },
    /// A model can't be opened or run.
    #[error(transparent)]
    Model(#[from] colgrep_encoder::Error),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Error {
    /// The message and those of all causes, joined by colons.
    pub fn full(&self) -> String {
        colgrep_index::error::full(self)
    }

    /// The failure of an index that it is, or that caused it.
    pub fn of_index(&self) -> Option<&colgrep_index::Error> {
        match self {
            Error::Index(error) | Error::NoIndex { source: error, .. } | Error::NoPlace { source: error, .. } => {
                Some(error)
            }
            _ => None,
        }
    }

    /// The same by value.
    ///
    /// # Errors
    /// With itself, if it has nothing to do with an index.
    pub fn into_index(self) -> Result<colgrep_index::Error> {
        match self {
            Error::Index(error) | Error::NoIndex { source: error, .. } | Error::NoPlace { source: error, .. } => {
                Ok(error)
            }
            other => Err(other),
        }
    }

    /// Whether an index that it is about is away for now: a shard that does not answer.
    pub fn is_away(&self) -> bool {
        self.of_index().is_some_and(|error| error.kind() == colgrep_index::ErrorKind::Away)
    }
}

/// Why git has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// It can't be run.
    #[error("the program `git` could not be started; is it installed and on PATH?")]
    NotStarted(#[source] io::Error),
    #[error("{call}: {said}")]
    Failed {
        /// The program and its arguments.
        call: String,
        said: String,
    },
    /// A configuration names a filter that can't be switched off.
    #[error("the configuration of {} names a filter that can't be switched off", folder.display())]
    Filter {
        /// The repository's folder.
        folder: PathBuf,
    },
    /// A configuration names more filters than are switched off.
    #[error("the configuration of {} names more filters than are switched off", folder.display())]
    ManyFilters {
        /// The repository's folder.
        folder: PathBuf,
    },
    /// A folder that a repository lists as a repository inside it is not one.
    #[error("{} is not a repository", folder.display())]
    NoRepository { folder: PathBuf },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once_each_and_those_of_an_index_are_found() {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let index = || colgrep_index::Error::NoIndex("a".into());
        for (error, text, of_index) in [
            (Refused::EmptyPath.into(), "an empty path was given", false),
            (Refused::Path { path: "a".into(), source: gone() }.into(), "a: entity not found", false),
            (Error::from(index()), "no index in a", true),
            (
                Error::NoIndex { root: "b".into(), source: index() },
                "b has no index that this colgrep can read: no index in a",
                true,
            ),
            (
                SettingError::File {
                    path: "s.toml".into(),
                    source: Box::new(SettingError::Unknown { key: "x".into(), near: Some("k".into()) }),
                }
                .into(),
                "s.toml: there is no setting \"x\"; did you mean \"k\"?",
                false,
            ),
            (GitError::Failed { call: "git a".into(), said: "no".into() }.into(), "git a: no", false),
        ] {
            assert_eq!((error.full().as_str(), error.of_index().is_some()), (text, of_index));
        }
    }
}
