//! The values that settings take, and which of them apply from an untrusted repository.

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// A whole number.
    Whole(u64, u64),
    /// A number from 0 to 1.
    Share,
    /// true or false.
    Switch,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// Bytes, or with K, M, G.
    Size,
    List,
    Terms,
    Folders,
    Links,
    /// A model's folder or name.
    Model,
    /// The address of an object store, or an absolute folder.
    Address,
}

/// When a setting is taken from the file of a repository that the user has not trusted: where it shows answers, or
/// narrows what is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    Taken,
    FalseOnly,
    DefaultOnly,
    /// Where it is at most what the user's own settings say.
    AtMostYours,
    /// Never; but of a repository that is trusted.
    No,
    /// Never, trusted or not.
    Never,
}
