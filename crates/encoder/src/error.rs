//! Errors of models.

use std::io;
use std::path::PathBuf;

/// Any error of a library below this crate.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a model can't be opened or run.
///
/// A message says what failed and, for a problem of the model, how to fix it. It does not include its
/// [`source`](std::error::Error::source); [`Error::full`] joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that names no model.
    #[error(
        "{0:?} is neither a folder that exists nor a model of the hub (owner/name); `default` is the model in the program"
    )]
    UnknownModel(String),
    /// The model needs a feature that this program was built without.
    #[error("this program was built without {feature}; {instead}")]
    NotBuilt {
        /// The feature, in words and by its name.
        feature: &'static str,
        /// What works without it.
        instead: String,
    },
    /// There is no folder of that name.
    #[error("there is no model folder {}", .0.display())]
    NoFolder(PathBuf),
    /// A file or folder of a model can't be read.
    #[error("{} can't be read", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of a model is missing, or a placeholder for one that was not fetched.
    #[error("{0}")]
    Missing(String),
    /// A file of a model is damaged, or has an unknown layout.
    #[error("{what}")]
    Damaged {
        /// The file, and how to get another.
        what: String,
        /// The reader's error.
        source: Source,
    },
    /// A model's files contradict each other, or this program can't run the model that they describe.
    #[error("{0}")]
    Unfit(String),
    /// Files of one folder fail together, such as a model and its tokenizer.
    #[error("{what}")]
    Model {
        /// The folder, and the attempt.
        what: String,
        source: Box<Error>,
    },
    /// A model of the hub is not on this machine and can't be fetched.
    #[error("the model {id} is not in {} and can't be fetched from {endpoint}", cache.display())]
    NotFetched {
        /// `owner/name`.
        id: String,
        cache: PathBuf,
        /// The hub that was asked, or would have been.
        endpoint: String,
        source: Source,
    },
    /// A model of the hub can't be opened, and a folder here has its name.
    #[error("{id} means a model of the hub; ./{id} would be the folder here")]
    FolderOfThatName {
        /// `owner/name`.
        id: String,
        /// Why the hub's can't be opened.
        source: Box<Error>,
    },
    /// No folder is known for models of the hub.
    #[error("no folder for models of the hub is known here; set HF_HOME to one")]
    NoCache,
    /// A model of the hub has no ONNX file.
    #[error(
        "{id} has no ONNX model ({files}); export it, for a PyLate model with `pylate-onnx-export {id}`, and name the \
         folder that this makes"
    )]
    NoOnnx {
        /// `owner/name`.
        id: String,
        /// The names of the missing files.
        files: String,
    },
    /// No shared library of ONNX Runtime can be used.
    #[error("{0}")]
    NoRuntime(String),
    /// ONNX Runtime refuses a model, or fails on a text.
    #[error("{what}")]
    Runtime {
        /// The failed operation.
        what: String,
        /// The runtime's error.
        source: Source,
    },
    /// An error of another implementation of [`Encoder`](crate::Encoder).
    #[error(transparent)]
    Other(Source),
}

impl Error {
    /// An error of another implementation of [`Encoder`](crate::Encoder).
    pub fn other(error: impl Into<Source>) -> Error {
        Error::Other(error.into())
    }

    /// The message and those of all causes, joined by colons.
    pub fn full(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |error| error.source());
        causes.fold(self.to_string(), |text, cause| format!("{text}: {cause}"))
    }

    pub(crate) fn damaged(what: impl Into<String>, source: impl Into<Source>) -> Error {
        Error::Damaged { what: what.into(), source: source.into() }
    }

    #[cfg(feature = "onnx")]
    pub(crate) fn runtime(what: String, source: ort::Error) -> Error {
        Error::Runtime { what, source: source.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once_each() {
        let cause = io::Error::other("the disk is gone");
        let read = Error::Read { path: "model.onnx".into(), source: cause };
        let error = Error::Model { what: "models/x".into(), source: Box::new(read) };
        assert_eq!(error.to_string(), "models/x");
        assert_eq!(error.full(), "models/x: model.onnx can't be read: the disk is gone");
        assert_eq!(Error::other("out of memory").full(), "out of memory");
    }
}
