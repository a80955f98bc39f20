//! Which files an index takes in: settings differ, and so do indexes of one commit.

use std::collections::BTreeMap;

use colgrep_index::walk::WalkOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hash::of_bytes;

/// Digits of the hash of patterns.
const DIGITS: usize = 16;

/// Which files an index takes in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Takes {
    /// Hidden files too.
    pub hidden: bool,
    /// The largest, in bytes.
    pub filesize_max: u64,
    /// Identifies the patterns of the setting `ignore`; empty without patterns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ignore: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

impl Takes {
    /// By these options of the walk and patterns of files that are left out. Keys and ignored files are never shared.
    pub fn of(options: &WalkOptions, ignore: &[String]) -> Takes {
        let hash = || of_bytes(ignore.join("\n").as_bytes())[..DIGITS].to_string();
        let ignore = if ignore.is_empty() { String::new() } else { hash() };
        Takes { hidden: options.hidden, filesize_max: options.filesize_max, ignore, rest: BTreeMap::new() }
    }

    /// The settings by which it differs from another one.
    pub fn differing(&self, other: &Takes) -> Vec<&'static str> {
        let differs = [
            (self.hidden != other.hidden, "hidden"),
            (self.filesize_max != other.filesize_max, "max_filesize"),
            (self.ignore != other.ignore, "ignore"),
        ];
        differs.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect()
    }
}
