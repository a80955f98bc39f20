//! Long queries: the files that their title finds on its own, and those that their text names.

use colgrep_core::long::Long;
use colgrep_core::query::Query;
use colgrep_core::query::intents::Intents;
use colgrep_core::rank::{self, Fused, LongFacts};
use rustc_hash::{FxHashMap, FxHashSet};

use super::intents::{allowed, best_of};
use super::locate::Fit;
use super::reading::KnownQuery;
use super::retrieve::with_retrieval;
use super::rounds::{Coordinator, LocateRequest};
use super::{Corpus, Request};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Files that the title brings, at most, the best first.
const TITLE_FILES_MAX: usize = 100;
/// Paths of the text that are looked up: a trace may have hundreds.
const PATHS_MAX: usize = 64;
/// Files that a name without folders may mean, at most.
const BARE_FILES_MAX: usize = 3;

/// What the parts of a long query say of files; nothing for any other query.
///
/// # Errors
/// When an index can't be read.
pub(super) fn long_facts(
    (corpus, rounds): (&Corpus<'_>, &Coordinator<'_>),
    request: &Request<'_>,
    query: &Query,
) -> Result<FxHashMap<FilePlace, LongFacts>> {
    let mut found: FxHashMap<FilePlace, LongFacts> = FxHashMap::default();
    let Some(long) = &query.long else { return Ok(found) };
    if request.knobs.long_title > 0.0 {
        titled(corpus, request, long, &mut found)?;
    }
    if request.knobs.long_path > 0.0 {
        paths(rounds, &query.intents, &mut found)?;
    }
    Ok(found)
}

/// Ranks the title as a query of its own: each file's score as a share of the best.
fn titled(
    corpus: &Corpus<'_>,
    request: &Request<'_>,
    long: &Long,
    found: &mut FxHashMap<FilePlace, LongFacts>,
) -> Result<()> {
    let title = Request { query: &long.title, ..*request };
    let own = with_retrieval(corpus, &title, KnownQuery::Title, |_, retrieval| Ok(retrieval))?;
    let fused = Fused::new(&own.retrieved, request.fusion, request.knobs);
    let ranked = rank::run(&own.query, request.knobs, &own.retrieved, fused, None);
    // Text that stands as typed is far above all scores: it is best, and leaves the scale to the others.
    let pointed: FxHashSet<_> =
        own.retrieved.candidates.iter().filter(|c| c.pointer.is_some()).map(|c| c.unit).collect();
    let scores = ranked.units.iter().filter(|unit| !pointed.contains(&unit.unit)).map(|unit| unit.score);
    let best = scores.fold(0.0, f32::max);
    let mut files = FxHashSet::default();
    for unit in &ranked.units {
        if best > 0.0 && files.len() < TITLE_FILES_MAX && files.insert(unit.file) {
            let place = FilePlace(own.retrieved.files[unit.file].place);
            found.entry(place).or_default().title = (unit.score / best).clamp(0.0, 1.0);
        }
    }
    Ok(())
}

/// Files whose paths stand in the text, of a trace the innermost frames first. A name without folders counts where few
/// files bear it; a path of which nothing but the name fits is of another project.
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
