//! Files that past commits like the question changed: which of the index they are.

use std::collections::HashMap;

use super::Request;
use crate::ids::FileId;
use crate::store::Snapshot;

/// Files that become candidates for that alone, at most, the strongest first.
const FILES_MAX: usize = 50;

/// The shares of those that are here, as far as the filter allows them.
pub(super) fn past(snapshot: &Snapshot, request: &Request<'_>) -> HashMap<FileId, f32> {
    if request.background.past.is_empty() {
        return HashMap::new();
    }
    let shares: HashMap<&str, f32> =
        request.background.past.iter().map(|(path, share)| (path.as_str(), *share)).collect();
    let share_of = |path: &str| shares.get(path).copied();
    let is_allowed = |file: FileId| request.filter.is_none_or(|filter| filter.allows_file(file));
    let here = snapshot.files.indexed().filter_map(|file| Some((file.id, share_of(&file.path)?)));
    let mut here: Vec<(FileId, f32)> = here.filter(|(file, _)| is_allowed(*file)).collect();
    here.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    here.truncate(FILES_MAX);
    here.into_iter().collect()
}
