//! What an index keeps for the ranking by meaning: a wish of whoever made it, which later updates follow.

use serde::Serialize;

use crate::error::Result;
use crate::store::{FileTable, Store};

/// What an index keeps for the ranking by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeps {
    /// Vectors of every unit.
    #[default]
    Full,
    /// No vectors: searches make those of their best candidates.
    Lite,
    /// No vectors, and searches are by keywords alone.
    Keyword,
}

impl Keeps {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Keeps::Full => "full",
            Keeps::Lite => "lite",
            Keeps::Keyword => "keyword",
        }
    }

    /// What stands behind the generation's number in a commit's payload: nothing for the default.
    pub(crate) fn suffix(self) -> String {
        if self == Keeps::Full { String::new() } else { format!(" {}", self.name()) }
    }

    /// What a commit's payload says.
    pub(crate) fn of_payload(payload: &str) -> Keeps {
        let named = |keeps: &Keeps| payload.split(' ').nth(3) == Some(keeps.name());
        [Keeps::Lite, Keeps::Keyword].into_iter().find(named).unwrap_or_default()
    }
}

/// Makes the index in `store` one that keeps so much from now on; vectors that it is not to keep are dropped. Waits for
/// another writer. Gives whether anything had to be changed.
///
/// # Errors
/// When there is no index that can be read, or the disk refuses.
pub fn keep(store: &Store, keeps: Keeps) -> Result<bool> {
    let is_so = |files: &FileTable| files.keeps == keeps && (keeps == Keeps::Full || files.vectors.is_none());
    if is_so(&store.open()?.files) {
        return Ok(false);
    }
    let _lock = store.lock(true)?;
    let mut table = store.open()?.files;
    if is_so(&table) {
        return Ok(false);
    }
    table.keeps = keeps;
    if keeps != Keeps::Full {
        table.vectors = None;
    }
    store.commit_table(&table)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_says_what_is_kept() {
        for (payload, expected) in [
            ("colgrep 3 17", Keeps::Full),
            ("colgrep 3 17 lite", Keeps::Lite),
            ("colgrep 9 17 keyword", Keeps::Keyword),
            ("colgrep 3 17 other", Keeps::Full),
            ("", Keeps::Full),
        ] {
            assert_eq!(Keeps::of_payload(payload), expected, "{payload}");
        }
        for keeps in [Keeps::Full, Keeps::Lite, Keeps::Keyword] {
            assert_eq!(Keeps::of_payload(&format!("colgrep 3 17{}", keeps.suffix())), keeps);
        }
    }
}
