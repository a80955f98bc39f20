//! What remarks of a search are about.

/// What a remark of a search is about, from what matters least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemarkKind {
    /// How good or complete the results are.
    Quality,
    /// Settings and ignore files that have no effect.
    Options,
    /// Results that were left out for want of room.
    Cut,
    NotFound,
    /// How the words and flags of the command line were read.
    CommandLine,
    /// Files that the answer does not cover yet, or no longer covers.
    Partial,
    /// A named path that is not searched.
    NamedPath,
}
