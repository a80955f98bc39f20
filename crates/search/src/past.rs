//! Finds the corpus's files among those that past commits similar to the question changed.

use rustc_hash::FxHashMap;

use super::Request;
use super::rounds::{Coordinator, PathsRequest};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Maximum of files that become candidates for this reason, strongest first.
const FILES_MAX: usize = 50;

/// The shares of existing files that the filter allows.
pub(super) fn past(rounds: &Coordinator<'_>, request: &Request<'_>) -> Result<FxHashMap<FilePlace, f32>> {
    let past = request.background.past;
    if past.is_empty() {
        return Ok(FxHashMap::default());
    }
    let paths = past.iter().map(|(path, _)| path.clone()).collect();
    let files = rounds.ask(&PathsRequest { paths })?;
    let mut here: Vec<(FilePlace, f32)> =
        files.into_iter().zip(past).filter_map(|(file, (_, share))| Some((file?, *share))).collect();
    here.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    here.truncate(FILES_MAX);
    Ok(here.into_iter().collect())
}
