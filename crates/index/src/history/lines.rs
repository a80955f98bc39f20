//! Filters entries, and counts the lines of transcripts that were not understood.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::ids::FileId;
use crate::lexical::{EntryHit, UnitFilter, UnitPlace};
use crate::store::FileTable;

/// A filter for entries by their document and line.
#[derive(Clone, Debug, Default)]
pub struct AtLines(HashMap<FileId, HashSet<u32>>);

impl AtLines {
    /// The filter for some entries.
    pub fn new(entries: impl IntoIterator<Item = EntryHit>) -> AtLines {
        let mut lines: HashMap<FileId, HashSet<u32>> = HashMap::new();
        for entry in entries {
            lines.entry(entry.file).or_default().insert(entry.line);
        }
        AtLines(lines)
    }
}

impl UnitFilter for AtLines {
    fn allows_file(&self, file: FileId) -> bool {
        self.0.contains_key(&file)
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        self.0.get(&unit.file).is_some_and(|lines| lines.contains(&unit.first))
    }
}

/// Lines of transcripts that were not understood, and of how many transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unknown {
    pub lines: u64,
    /// Transcripts.
    pub files: u64,
}

impl Unknown {
    /// A record's note on lines of its transcript that were not understood.
    pub(super) fn note(lines: u64) -> Option<String> {
        (lines > 0).then(|| format!("{lines} lines of an unknown form"))
    }

    /// Sums the notes of all records.
    pub fn of(table: &FileTable) -> Unknown {
        let notes = table.files.iter().filter_map(|record| record.note.as_ref()?.split(' ').next()?.parse().ok());
        notes.fold(Unknown::default(), |sum, lines: u64| Unknown { lines: sum.lines + lines, files: sum.files + 1 })
    }
}
