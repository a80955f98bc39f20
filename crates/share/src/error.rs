//! Errors between an index and a remote. Callers add the advice.

/// What functions of this crate give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not pushed or pulled.
///
/// The cause is the [`source`](std::error::Error::source) and no part of the message; [`Error::full`] joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that leads to no object store.
    #[error("{address}: {why}")]
    Address {
        /// As it was given, without user and password.
        address: String,
        why: String,
    },
    /// An address of a network without encryption.
    #[error("{address} is reached over http, where others on the way can read and change what is sent")]
    Plain { address: String },
    /// Nobody may read or write there, or nobody with these credentials.
    #[error("{place}: no right to {doing} there ({why})")]
    Denied {
        /// What was tried, such as "read".
        doing: &'static str,
        /// The object or folder.
        place: String,
        /// What the store says.
        why: String,
    },
    /// An object is not there.
    #[error("{place}: it is not there any more")]
    Gone { place: String },
    #[error("{place}: could not {doing}: {why}")]
    Store {
        doing: &'static str,
        /// The object or folder.
        place: String,
        /// What the store says.
        why: String,
    },
    /// The remote has no index of a repository.
    #[error("{place} has no index of {}", names.join(", nor of "))]
    Unknown { place: String, names: Vec<String> },
    /// The remote has no index of this format.
    #[error("the indexes of {name} in {place} were made by other versions of colgrep")]
    OtherFormat { name: String, place: String },
    /// All indexes that fit turned out to be unreadable before.
    #[error(
        "the index of {name} in {place} could not be read before, though its checksums are right; it is not pulled again"
    )]
    Refused { name: String, place: String },
    /// A manifest of a layout that is not known yet.
    #[error("{place} was written by a newer colgrep (layout {layout}); nothing was changed")]
    NewerLayout { place: String, layout: u64 },
    /// A manifest that can't be read.
    #[error("{place} is damaged: {why}")]
    DamagedManifest { place: String, why: String },
    /// A manifest that is whole, and not understood.
    #[error("{place} is not understood: {why}")]
    Foreign { place: String, why: String },
    /// A manifest of another repository.
    #[error("{place} is of the repository {found}")]
    OtherRepository {
        place: String,
        /// The repository that it names.
        found: String,
    },
    /// A link in the place of a folder.
    #[error("{place} is a link; nothing is removed through one")]
    Link { place: String },
    /// A file of an index that is not what the manifest says, also when it is fetched again.
    #[error("{place} is damaged: {why}{}", fetched(*tries))]
    DamagedBlob {
        place: String,
        why: String,
        /// How often it was fetched.
        tries: u32,
    },
    /// An index that is larger than what is free on this machine's disk.
    #[error("the index of {name} has {bytes} bytes, and {free} are free on the disk here")]
    NoRoom { name: String, bytes: u64, free: u64 },
    /// An index that is larger than one of this project can be.
    #[error("the index of {name} has {bytes} bytes, more than the {bytes_max} that one of this project may have")]
    TooLarge { name: String, bytes: u64, bytes_max: u64 },
    /// A manifest that others move faster than it can be read.
    #[error("{place}: others push faster than this one can; try again")]
    Races {
        /// The repository's folder.
        place: String,
    },
    /// A file of this machine can't be read, or a runtime not be started.
    #[error("{what}")]
    Io {
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The index can't be read or written.
    #[error(transparent)]
    Index(#[from] colgrep_index::Error),
    /// Certificates or keys can't be used.
    #[error("the library for https can't be set up: {0}")]
    Tls(String),
}

/// How often an object was fetched, where that was more than once.
fn fetched(tries: u32) -> String {
    if tries > 1 { format!(" (fetched {tries} times)") } else { String::new() }
}

impl Error {
    /// The message and those of all causes, joined by colons.
    pub fn full(&self) -> String {
        colgrep_index::error::full(self)
    }

    /// Whether it is about one index of a repository, so that another may be whole.
    pub(crate) fn is_of_one_index(&self) -> bool {
        use Error::{DamagedBlob, DamagedManifest, Gone, NoRoom, TooLarge};
        matches!(self, Gone { .. } | DamagedBlob { .. } | DamagedManifest { .. } | NoRoom { .. } | TooLarge { .. })
    }

    /// Whether it is about what the remote has under one name, so that other names may be in order.
    pub(crate) fn is_of_one_name(&self) -> bool {
        use Error::{DamagedManifest, Foreign, NewerLayout, OtherRepository};
        matches!(self, DamagedManifest { .. } | Foreign { .. } | NewerLayout { .. } | OtherRepository { .. })
    }

    /// Whether this machine's disk is full.
    pub(crate) fn is_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        let io = causes(self).find_map(|cause| cause.downcast_ref::<std::io::Error>());
        matches!(self, Error::Index(_)) && io.is_some_and(|e| matches!(e.kind(), StorageFull | QuotaExceeded))
    }

    /// An error of the store while `doing` something to the object at `place`.
    pub(crate) fn store(doing: &'static str, place: String, error: object_store::Error) -> Error {
        use object_store::Error as E;
        match error {
            E::NotFound { .. } => Error::Gone { place },
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Error::Denied { doing, place, why: said(&error) },
            error if is_denied(&error) => Error::Denied { doing, place, why: said(&error) },
            error => Error::Store { doing, place, why: said(&error) },
        }
    }
}

/// The causes of an error, itself first.
fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// Where a machine in a cloud has its credentials from: what is asked where nothing else gives any.
const MACHINES_OWN: &str = "169.254.169.254";

/// What the store says, in a sentence: its code and message where it is a cloud's, else the last cause. The library's own
/// text repeats requests and answers for each of its layers.
fn said(error: &object_store::Error) -> String {
    let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
    let within = |tag: &str| Some(last.split_once(&format!("<{tag}>"))?.1.split_once(&format!("</{tag}>"))?.0.trim());
    match (within("Code"), within("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_string(),
        _ if causes(error).any(|cause| cause.to_string().contains(MACHINES_OWN)) => {
            "there are no credentials: neither in the environment, nor in a profile, nor from this machine".to_string()
        }
        _ => last,
    }
}

/// Whether a store, or the system below a folder, refuses for want of a right.
fn is_denied(error: &object_store::Error) -> bool {
    causes(error).any(|cause| {
        let io =
            cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        let text = cause.to_string();
        // Lists have no kind of error of their own for it.
        io || (cause.source().is_none() && ["401 Unauthorized", "403 Forbidden"].iter().any(|code| text.contains(code)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_is_told_once() {
        let generic = |text: &str| {
            let source = Box::new(std::io::Error::other(text.to_string()));
            Error::store("list", "s3://b/x".into(), object_store::Error::Generic { store: "S3", source }).full()
        };
        assert_eq!(
            generic(
                "Server returned 403 Forbidden: <Error><Code>InvalidKey</Code><Message>No such key.</Message></Error>"
            ),
            "s3://b/x: no right to list there (InvalidKey: No such key.)"
        );
        assert_eq!(generic("connection refused"), "s3://b/x: could not list: connection refused");
        let asked = generic("Error performing PUT http://169.254.169.254/latest/api/token: 403 Forbidden");
        assert!(asked.contains("there are no credentials"), "{asked}");
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let source = Box::new(denied);
        let error = Error::store("read", "/x".into(), object_store::Error::Generic { store: "folder", source });
        assert!(matches!(error, Error::Denied { .. }), "{error}");
        let source = Box::new(std::io::Error::other("gone"));
        let error = Error::store("read", "/x".into(), object_store::Error::NotFound { path: "x".into(), source });
        assert!(matches!(error, Error::Gone { .. }), "{error}");
    }
}
