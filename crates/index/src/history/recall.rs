//! Ranking the entries of a history: by words, by meaning, and by the files that a question names.

use colgrep_core::clue::{Certainty, Clues, Pointer};
use colgrep_core::rank::{self, Fused, HISTORY_STAGES, Ranked};
use colgrep_syntax::language;

use crate::error::Result;
use crate::lexical::{EntryHit, Lexical, UnitFilter};
use crate::search::{Answer, Pointers, Request, Retrieval, Watch, retrieve_pointed};
use crate::store::Snapshot;

/// Paths that one mention may mean, at most: the most specific first.
const PATHS_MAX: usize = 16;

/// The entries that `filter` allows, the newest first.
pub fn in_order(snapshot: &Snapshot, filter: Option<&dyn UnitFilter>) -> Vec<EntryHit> {
    let mut entries = snapshot.lexical.entries(filter);
    entries.sort_unstable_by_key(|e| (std::cmp::Reverse(e.time), e.file, std::cmp::Reverse(e.line)));
    entries
}

/// Ranks entries; `request.files` is how many are wanted. Units of the answer are all that were ranked, best first, and
/// hits are left empty.
///
/// # Errors
/// When the index can't be read.
pub fn recall(snapshot: &Snapshot, request: &Request<'_>, mut watch: Option<&mut dyn Watch>) -> Result<Answer> {
    let pointers = mentions(&snapshot.lexical, request)?;
    let Retrieval { query, retrieved, .. } = retrieve_pointed(snapshot, request, pointers)?;
    let fused = Fused::new(&retrieved, request.fusion, request.knobs);
    if let Some(watch) = &mut watch {
        for ranking in &retrieved.rankings {
            watch.ranking(ranking.retriever.name(), &ranking.hits);
        }
        let ranked = Ranked::new(&retrieved, &fused);
        watch.ranking("fused", &ranked.units.iter().map(|u| (u.unit, u.score)).collect::<Vec<_>>());
    }
    let mut observer = |step, ranked: &Ranked<'_>| {
        if let Some(watch) = &mut watch {
            watch.stage(step, ranked);
        }
    };
    let ranked = rank::run_through(HISTORY_STAGES, &query, request.knobs, &retrieved, fused, Some(&mut observer));
    Ok(Answer { query, units: ranked.units, files: retrieved.files, ..Answer::default() })
}

/// The entries that mention a file which the question names.
fn mentions(lexical: &Lexical, request: &Request<'_>) -> Result<Pointers> {
    let clues = Clues::read(request.query, language::facts());
    let mut pointers = Pointers::default();
    for written in clues.mentions.iter().chain(clues.locations.iter().map(|location| &location.path)) {
        let mut paths: Vec<String> = lexical.paths_where(|path| is_meant(path, written))?.into_iter().collect();
        paths.sort_by_key(|path| path.len());
        for path in paths.iter().take(PATHS_MAX) {
            for entry in lexical.mentioning(path)? {
                if request.filter.is_none_or(|f| lexical.is_allowed(entry.key, f)) {
                    let pointer = Pointer { certainty: Certainty::Location, strength: 1.0, line: entry.line };
                    pointers.units.insert(entry.key, pointer);
                }
            }
        }
    }
    Ok(pointers)
}

/// Whether a path ends as it was written, upper and lower case alike.
fn is_meant(path: &str, written: &str) -> bool {
    let (path, written) = (path.to_lowercase(), written.to_lowercase());
    path.strip_suffix(&written).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_001_9_a_question_means_paths_that_end_as_it_names_them() {
        for (path, written, expected) in [
            ("src/client.py", "client.py", true),
            ("src/client.py", "src/Client.py", true),
            ("src/http_client.py", "client.py", false),
            ("src/client.py", "lib/src/client.py", false),
        ] {
            assert_eq!(is_meant(path, written), expected, "{path} {written}");
        }
    }
}
