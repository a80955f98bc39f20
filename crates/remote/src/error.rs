//! What can go wrong between an index and a remote. What to do about it is said by whoever asked.

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
        /// What is wrong with it.
        why: String,
    },
    /// An address of a network without encryption.
    #[error("{address} is reached over http, where others on the way can read and change what is sent")]
    Plain {
        /// The address.
        address: String,
    },
    /// Nobody may read or write there, or nobody with these credentials.
    #[error("{place}: no right to {doing} there")]
    Denied {
        /// What was tried, such as "read".
        doing: &'static str,
        /// The object or folder.
        place: String,
        /// What the store says.
        source: object_store::Error,
    },
    /// The store does not do what was asked.
    #[error("{place}: could not {doing}")]
    Store {
        /// What was tried.
        doing: &'static str,
        /// The object or folder.
        place: String,
        /// What the store says.
        source: object_store::Error,
    },
    /// The remote has no index of a repository.
    #[error("{place} has no index of {}", names.join(", nor of "))]
    Unknown {
        /// The remote.
        place: String,
        /// The names by which it was looked for.
        names: Vec<String>,
    },
    /// The remote has no index of this format.
    #[error("the indexes of {name} in {place} are of format {}, and this colgrep reads {own}", formats(found))]
    OtherFormat {
        /// The repository.
        name: String,
        /// The remote.
        place: String,
        /// Their formats.
        found: Vec<u32>,
        /// The one that is read here.
        own: u32,
    },
    /// A manifest of a layout that is not known yet.
    #[error("{place} was written by a newer colgrep (layout {layout}); nothing was changed")]
    NewerLayout {
        /// The manifest.
        place: String,
        /// Its layout.
        layout: u64,
    },
    /// A manifest that can't be read.
    #[error("{place} is damaged: {why}")]
    DamagedManifest {
        /// The manifest.
        place: String,
        /// How that shows.
        why: String,
    },
    /// A file of an index that is not what the manifest says, also when it is fetched again.
    #[error("{place} is damaged: {why} (fetched {tries} times)")]
    DamagedBlob {
        /// The object.
        place: String,
        /// How that shows.
        why: String,
        /// How often it was fetched.
        tries: u32,
    },
    /// A manifest that others move faster than it can be read.
    #[error("{place}: others push faster than this one can; try again")]
    Races {
        /// The repository's folder.
        place: String,
    },
    /// A file of this machine can't be read, or a runtime not be started.
    #[error("{what}")]
    Io {
        /// What was tried.
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

fn formats(found: &[u32]) -> String {
    found.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The message and those of all causes, joined by colons.
    pub fn full(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |error| error.source());
        causes.fold(self.to_string(), |text, cause| format!("{text}: {cause}"))
    }

    /// An error of the store while `doing` something to the object at `place`.
    pub(crate) fn store(doing: &'static str, place: String, source: object_store::Error) -> Error {
        match source {
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Error::Denied { doing, place, source }
            }
            source if is_denied(&source) => Error::Denied { doing, place, source },
            source => Error::Store { doing, place, source },
        }
    }
}

/// Whether the system says so behind an error of a folder.
fn is_denied(error: &object_store::Error) -> bool {
    let mut chain = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    chain.any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
    })
}
