//! Long queries: the files that their title finds on its own, and those that their text names.

use colgrep_core::query::Query;
use colgrep_core::query::intents::Intents;
use colgrep_core::rank::LongFacts;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Request;
use super::intents::{allowed, best_of};
use super::locate::Fit;
use super::rounds::{Coordinator, LocateRequest};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Maximum of paths in the text that are looked up: a trace may have hundreds.
const PATHS_MAX: usize = 64;
/// Maximum of files that a name without folders may mean.
const BARE_FILES_MAX: usize = 3;

/// What the parts of a long query say about files; empty for any other query. `title` has the results for its title,
/// each with its share of the best score.
pub(super) fn long_facts(
    rounds: &Coordinator<'_>,
    request: &Request<'_>,
    query: &Query,
    title: Vec<(FilePlace, f32)>,
) -> Result<FxHashMap<FilePlace, LongFacts>> {
    let facts = |(file, title)| (file, LongFacts { title, ..LongFacts::default() });
    let mut found: FxHashMap<FilePlace, LongFacts> = title.into_iter().map(facts).collect();
    if query.long.is_some() && request.knobs.long_path > 0.0 {
        paths(rounds, &query.intents, &mut found)?;
    }
    Ok(found)
}

/// Files whose paths occur in the text; for a trace, the innermost frames first. A name without folders counts if few
/// files have it; a path that matches only by its name is another project's.
fn paths(rounds: &Coordinator<'_>, intents: &Intents, found: &mut FxHashMap<FilePlace, LongFacts>) -> Result<()> {
    let locations = intents.locations.iter().map(|at| (&at.path, true));
    let mentions = intents.mentions.iter().map(|path| (path, false));
    let (paths, are_frames): (Vec<String>, Vec<bool>) =
        locations.chain(mentions).take(PATHS_MAX).map(|(path, is_frame)| (path.clone(), is_frame)).unzip();
    if paths.is_empty() {
        return Ok(());
    }
    let asked = LocateRequest { paths, ..LocateRequest::default() };
    let located = rounds.ask(&asked)?;
    let mut frames: FxHashSet<FilePlace> = FxHashSet::default();
    for (at, (path, is_frame)) in asked.paths.iter().zip(are_frames).enumerate() {
        let Some((fit, files)) = best_of(&located, at, path) else { continue };
        let is_bare = !path.contains('/');
        if fit == Fit::Name || (is_bare && files.len() > BARE_FILES_MAX) {
            continue;
        }
        let depth = if is_frame { 1.0 + frames.len() as f32 } else { 1.0 };
        let share = 1.0 / (files.len() as f32 * depth.sqrt());
        for file in allowed(&files) {
            if is_frame {
                frames.insert(file);
            }
            let known = &mut found.entry(file).or_default().path;
            *known = known.max(share);
        }
    }
    Ok(())
}
