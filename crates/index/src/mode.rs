//! The vector mode of an index: chosen when it is made, followed by later updates.

use serde::Serialize;

/// What an index keeps for the ranking by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorMode {
    /// Vectors of every unit.
    #[default]
    Full,
    /// No vectors: searches make those of their best candidates.
    Lite,
    /// No vectors, and searches are by keywords alone.
    Keyword,
}

impl VectorMode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            VectorMode::Full => "full",
            VectorMode::Lite => "lite",
            VectorMode::Keyword => "keyword",
        }
    }

    /// What stands behind the generation's number in a commit's payload: nothing for the default.
    pub(crate) fn suffix(self) -> String {
        if self == VectorMode::Full { String::new() } else { format!(" {}", self.name()) }
    }

    /// What a commit's payload says.
    pub(crate) fn of_payload(payload: &str) -> VectorMode {
        let named = |mode: &VectorMode| payload.split(' ').nth(3) == Some(mode.name());
        [VectorMode::Lite, VectorMode::Keyword].into_iter().find(named).unwrap_or_default()
    }
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
        for mode in [VectorMode::Full, VectorMode::Lite, VectorMode::Keyword] {
            assert_eq!(VectorMode::of_payload(&format!("colgrep 3 17{}", mode.suffix())), mode);
        }
    }
}
