//! The vector mode of an index: chosen when it is made, followed by later updates.

use serde::Serialize;

/// What an index stores for the semantic ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorMode {
    /// Vectors of every unit.
    #[default]
    Full,
    /// No vectors: searches compute those of their best candidates.
    Lite,
    /// No vectors: searches use only keywords.
    Keyword,
}

impl VectorMode {
    pub fn name(self) -> &'static str {
        match self {
            VectorMode::Full => "full",
            VectorMode::Lite => "lite",
            VectorMode::Keyword => "keyword",
        }
    }

    /// The suffix after the generation's number in a commit's payload: empty for the default.
    pub(crate) fn suffix(self) -> String {
        if self == VectorMode::Full { String::new() } else { format!(" {}", self.name()) }
    }

    /// Parses a commit's payload.
    pub(crate) fn of_payload(payload: &str) -> VectorMode {
        let named = |mode: &VectorMode| marks(payload).any(|word| word == mode.name());
        [VectorMode::Lite, VectorMode::Keyword].into_iter().find(named).unwrap_or_default()
    }
}

/// The mark of an index that the user asked for, rather than one that a search built on its way.
const BY_INIT: &str = "init";

/// The suffix after the generation's number and the mode in the payload of an index that `init` made.
pub(crate) fn init_suffix(by_init: bool) -> &'static str {
    if by_init { " init" } else { "" }
}

/// Whether `init` made the index, by a commit's payload.
pub(crate) fn is_by_init(payload: &str) -> bool {
    marks(payload).any(|word| word == BY_INIT)
}

/// The words after the generation's number.
fn marks(payload: &str) -> impl Iterator<Item = &str> {
    payload.split(' ').skip(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_says_what_is_kept() {
        for (payload, expected) in [
            ("colgrep 3 17", VectorMode::Full),
            ("colgrep 3 17 lite", VectorMode::Lite),
            ("colgrep 9 17 keyword", VectorMode::Keyword),
            ("colgrep 3 17 other", VectorMode::Full),
            ("", VectorMode::Full),
        ] {
            assert_eq!(VectorMode::of_payload(payload), expected, "{payload}");
        }
        for (mode, by_init) in [
            (VectorMode::Full, false),
            (VectorMode::Full, true),
            (VectorMode::Lite, true),
            (VectorMode::Keyword, false),
            (VectorMode::Keyword, true),
        ] {
            let payload = format!("colgrep 3 17{}{}", mode.suffix(), init_suffix(by_init));
            assert_eq!((VectorMode::of_payload(&payload), is_by_init(&payload)), (mode, by_init), "{payload}");
        }
    }
}
