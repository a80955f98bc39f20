//! The best units by words, and the files that match best by name.

use std::sync::OnceLock;

use colgrep_core::UnitId;
use colgrep_core::statistics::Statistics;
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::cut;
use serde::{Deserialize, Serialize};

use super::{BestUnitsRequest, Coordinator, LocalSearch, Replay, Round, ScoreOutline, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks for candidates. Sent once per search, before every round that scores, since it carries the statistics of the
/// corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CandidatesRequest {
    /// The sum of all shards' statistics.
    pub statistics: Statistics,
    /// Maximum number of units.
    pub units_max: usize,
    /// Number of files to cover: if the best units are in fewer files, the best unit of each further file is added.
    pub files_min: usize,
    /// Maximum number of files that match by name.
    pub named_max: usize,
    /// True if the shard returns an outline of the scores and keeps the units for [`BestUnitsRequest`]. Few of a shard's
    /// best units are among the best of all.
    pub in_outline: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CandidatesResponse {
    /// Units by words, best first; empty if an outline was requested.
    pub units: Vec<UnitFound>,
    /// The outline of their scores, if requested.
    pub outline: ScoreOutline,
    /// Files that match by name or definition, best first.
    pub named: Vec<NamedFileHit>,
}

/// A file that matches by name or definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NamedFileHit {
    pub file: FilePlace,
    /// How well it matches.
    pub weight: f32,
    /// If the whole query is one name, the allowed units that define it in this file.
    pub definitions: Vec<UnitId>,
}

impl Round for CandidatesRequest {
    type Answer = CandidatesResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<CandidatesResponse> {
        let lexical = &search.snapshot.lexical;
        let _ = search.sums.set(self.statistics.clone());
        let _ =
            search.named.set(lexical.named_files(search.query, &search.names, &self.statistics, search.filter())?);
        let units = search.looked_up.scorer(search.scoring()?).search(self.units_max, self.files_min)?;
        let units = units.iter().map(|hit| search.shard.found(hit)).collect();
        let named = best_named(search, self.named_max);
        let answer = CandidatesResponse { units, named, ..CandidatesResponse::default() };
        Ok(withhold(answer, self, &search.withheld))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<CandidatesResponse> {
        let request = CandidatesRequest { in_outline: corpus.is_far(), ..self.clone() };
        let mut all = CandidatesResponse::default();
        let (mut outlines, mut units) = (Vec::new(), Vec::new());
        for (shard, found) in corpus.each(&request)?.into_iter().enumerate() {
            for mut named in found.named {
                named.file = corpus.file(shard, named.file);
                named.definitions.iter_mut().for_each(|unit| *unit = corpus.unit(shard, *unit));
                all.named.push(named);
            }
            outlines.push(found.outline);
            units.push(found.units);
        }
        all.units = match request.in_outline {
            true => self.best_by_outlines(corpus, &outlines)?,
            false => self.cut(corpus.all_found(units)).0,
        };
        all.named.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.file.cmp(&b.file)));
        all.named.truncate(self.named_max);
        Ok(withhold(all, self, &corpus.withheld))
    }

    fn is_valid(&self, answer: &CandidatesResponse, extent: &ShardExtent) -> bool {
        let is_named = |one: &NamedFileHit| {
            one.file.is_valid(extent) && one.weight.is_valid(extent) && one.definitions.is_valid(extent)
        };
        answer.units.is_valid(extent) && answer.outline.is_valid(self.units_max) && answer.named.iter().all(is_named)
    }

    fn replay(&self) -> Replay {
        Replay::Always
    }
}

impl CandidatesRequest {
    /// The best units of all shards, from the outlines of their scores.
    fn best_by_outlines(&self, corpus: &Coordinator<'_>, outlines: &[ScoreOutline]) -> Result<Vec<UnitFound>> {
        let least = ScoreOutline::least(outlines.iter(), self.units_max);
        let best = |least: Option<f32>| -> Result<_> {
            let found = corpus.each(&BestUnitsRequest { least: least.unwrap_or(f32::NEG_INFINITY) })?;
            Ok(self.cut(corpus.all_found(found)))
        };
        match best(least)? {
            // The best are in too few files, so lower ones are needed.
            (_, false) if least.is_some() => Ok(best(None)?.0),
            (units, _) => Ok(units),
        }
    }

    /// The best of units, as one index would return them, and whether they cover enough files.
    fn cut(&self, mut units: Vec<UnitFound>) -> (Vec<UnitFound>, bool) {
        units.sort_by(UnitFound::by_score);
        cut(units, self.units_max, self.files_min, |unit| unit.file)
    }
}

/// The files that match best by name or definition.
fn best_named(search: &LocalSearch<'_>, files_max: usize) -> Vec<NamedFileHit> {
    let named = search.named.get().into_iter().flatten();
    let mut files: Vec<(FilePlace, FileId, f32)> =
        named.map(|(file, named)| (search.shard.place(*file), *file, named.weight())).collect();
    files.retain(|file| file.2 > 0.0);
    files.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    files.truncate(files_max);
    let is_allowed =
        |unit: &UnitId| search.filter().is_none_or(|filter| search.snapshot.lexical.is_allowed(*unit, filter));
    // A query that is one name asks for the unit that defines it.
    let definitions = |file: FileId| match search.named.get().and_then(|named| named.get(&file)) {
        Some(named) if search.query.is_symbol() => {
            named.definitions.iter().map(|definition| definition.unit).filter(is_allowed).collect()
        }
        _ => Vec::new(),
    };
    let hit = |(file, id, weight)| NamedFileHit { file, weight, definitions: definitions(id) };
    files.into_iter().map(hit).collect()
}

/// Replaces the units of an answer by the outline of their scores, if requested, and keeps them for
/// [`BestUnitsRequest`].
fn withhold(
    mut answer: CandidatesResponse,
    request: &CandidatesRequest,
    withheld: &OnceLock<Vec<UnitFound>>,
) -> CandidatesResponse {
    if request.in_outline {
        let scores = answer.units.iter().map(|unit| unit.score).collect();
        answer.outline = ScoreOutline::of(scores, request.units_max);
        let _ = withheld.set(std::mem::take(&mut answer.units));
    }
    answer
}
