//! What stands beside the name of a file: a folder, which tells files of one name apart, and a name that none of them holds.

use colgrep_core::clue::is_written;
use colgrep_core::query::{Query, last_segment};
use colgrep_core::token::is_stop_word;
use colgrep_core::written::is_odd;

use super::{Search, best_of};
use crate::locate::Fit;
use crate::rounds::{FileMeant, LocateRequest, Look};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Words beside a file's name that may be its folders, at most.
const FOLDERS_MAX: usize = 3;
/// Files that are read for a name.
const FILES_READ_MAX: usize = 64;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;

impl Search<'_> {
    /// The files of a bare name that lie in the folder which is all that a text says beside it: `LICENSE in lib/net`.
    pub(super) fn in_folder(&self, text: &str, name: &str) -> Result<Vec<FileMeant>> {
        let is_beside = |word: &&str| !is_written(word, name) && !is_stop_word(&word.to_lowercase());
        let bare = |word: &str| word.trim_matches(['"', '\'', '`', ',']).to_string();
        let folder: Vec<String> = text.split_whitespace().filter(is_beside).take(FOLDERS_MAX + 1).map(bare).collect();
        if name.contains('/') || !(1..=FOLDERS_MAX).contains(&folder.len()) {
            return Ok(Vec::new());
        }
        let written = format!("{}/{name}", folder.join("/"));
        let asked = LocateRequest { paths: vec![written.clone()], ..LocateRequest::default() };
        let meant = best_of(&self.rounds.ask(&asked)?, 0, &written).filter(|(fit, _)| *fit == Fit::Whole);
        let files = meant.map(|(_, files)| files).unwrap_or_default();
        Ok(files.into_iter().filter(|file| file.is_allowed).collect())
    }

    /// Points at what a name means that stands beside several files of one name, where none of them holds it: they are no
    /// place of it then. Tells whether it has a definition.
    pub(super) fn elsewhere(&mut self, query: &Query, written: &str) -> Result<bool> {
        if self.found.files.len() < 2 || self.is_held(last_segment(written))? {
            return Ok(false);
        }
        self.found.files.clear();
        self.found.meant.clear();
        if is_odd(written) { self.asked_for(query, written) } else { Ok(false) }
    }

    /// Whether a file that is named holds a name, or may do so.
    fn is_held(&self, name: &str) -> Result<bool> {
        let mut named: Vec<FilePlace> = self.found.files.keys().copied().collect();
        named.sort_unstable();
        let files = self.readable(&named, FILES_READ_MAX, BYTES_READ_MAX)?;
        let holds = self.rounds.scan(&files, Look::typed(name))?.iter().any(|(_, seen)| seen.holds_all());
        Ok(holds || files.len() < named.len())
    }
}
