//! Failures as Python sees them: a kind that the package turns into one of its exceptions, and a sentence.

use colgrep_engine::Error;
use pyo3::PyErr;

pyo3::create_exception!(_colgrep, Native, pyo3::exceptions::PyException, "A failure: its kind and what happened.");

/// What functions of this crate give.
pub type Result<T> = std::result::Result<T, Failure>;

/// A kind of failure, and a sentence.
#[derive(Debug)]
pub struct Failure {
    kind: &'static str,
    text: String,
}

impl Failure {
    /// The request can't be answered.
    pub fn request(text: impl Into<String>) -> Failure {
        Failure { kind: "request", text: text.into() }
    }

    /// Something that should not happen.
    pub fn fault(text: impl Into<String>) -> Failure {
        Failure { kind: "fault", text: text.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let kind = match &error {
            Error::Refused(_) | Error::Setting(_) => "request",
            Error::Model(_) => "model",
            Error::Git(_) => "git",
            _ => "index",
        };
        Failure { kind, text: error.full() }
    }
}

impl From<colgrep_index::Error> for Failure {
    fn from(error: colgrep_index::Error) -> Failure {
        Failure { kind: "index", text: error.full() }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::request(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        Native::new_err((failure.kind, failure.text))
    }
}
