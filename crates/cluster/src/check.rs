//! Checks of the answers that are no rounds: as many items as were requested, repositories of the session, and numbers that
//! can be summed, sorted and shown. [`Round::is_valid`](colgrep_search::rounds::Round::is_valid) checks those of rounds.

use std::collections::BTreeMap;

use colgrep_core::UnitId;
use colgrep_core::query::QueryParts;
use colgrep_engine::answer::show::ShowAsked;
use colgrep_engine::answer::summary::{EndAsked, EndFound};
use colgrep_engine::answer::{BestLine, FileAnswer, UnitAnswer};
use colgrep_search::rounds::{COUNT_MAX, LINE_MAX, PLACES_MAX, Validate};
use colgrep_search::shard::{RepositoryExtent, ShardExtent, ShardOverview};
use serde::de::DeserializeOwned;

use crate::foreign_text::is_name;
use crate::message::{Begin, Begun, FileProgress, IndexProgress, LinesFound, ServedRepository};
use crate::replica::{Lost, answered};

/// The answer in a frame, if it fits the question with this name.
///
/// # Errors
/// When the frame has no answer, or one that does not fit.
pub fn checked<T: DeserializeOwned>(bytes: &[u8], name: &str, is_valid: impl FnOnce(&T) -> bool) -> Result<T, Lost> {
    let answer = answered(bytes)?;
    match is_valid(&answer) {
        true => Ok(answer),
        false => Err(Lost::Nonsense(format!("its answer to {name:?} does not fit the question"))),
    }
}

/// The answer to [`Question::Begin`](crate::message::Question::Begin).
pub fn is_begun(begin: &Begin, begun: &Begun) -> bool {
    let ShardExtent { repositories, places, documents, segments, .. } = &begun.extent;
    let is_wanted = |name: Option<&str>| name.is_some_and(|name| begin.wants(name) && is_name(name));
    let follow = |(a, b): (&RepositoryExtent, &RepositoryExtent)| a.front < b.front && a.first <= b.first;
    begun.names.len() == begin.terms.len()
        && *documents <= COUNT_MAX
        && *segments < UnitId::SEGMENTS_MAX
        && *places <= PLACES_MAX
        && repositories.iter().zip(repositories.iter().skip(1)).all(follow)
        && repositories.iter().all(|one| one.first.0 <= *places && is_wanted(one.front.strip_suffix('/')))
        && begun.unserved.iter().all(|(name, _)| begin.wants(name) && is_name(name))
        && begun.partial.iter().all(|(name, known)| begin.wants(name) && is_name(name) && is_known(known))
        && begun.written_ms.iter().all(|(name, _)| begin.wants(name) && is_name(name))
}

fn is_known(known: &IndexProgress) -> bool {
    let IndexProgress { files, units, units_without_vectors, .. } = known;
    are_files(files.as_ref()) && *units <= COUNT_MAX && units_without_vectors <= units
}

fn are_files(files: Option<&FileProgress>) -> bool {
    files.is_none_or(|files| files.known <= COUNT_MAX && files.in_tree.is_none_or(|all| all <= COUNT_MAX))
}

/// The answer to [`Question::Search`](crate::message::Question::Search).
pub fn is_overview(query: &QueryParts, overview: &ShardOverview, extent: &ShardExtent) -> bool {
    let ShardOverview { statistics, reach } = overview;
    statistics.is_valid(extent)
        && statistics.terms.len() == query.terms.len()
        && statistics.words.len() == query.plain_words.len()
        && statistics.topics.len() == query.topic_terms.len()
        && reach.units <= COUNT_MAX
}

/// The answer to [`Question::Show`](crate::message::Question::Show).
pub fn is_shown(show: &ShowAsked, files: &[FileAnswer], extent: &ShardExtent) -> bool {
    let is_file = |file: &FileAnswer| {
        show.files.iter().any(|asked| asked.path == file.path)
            && file.score.is_finite()
            && file.strength.is_finite()
            && [file.matches, file.also_here].is_valid(extent)
            && file.matching_lines.is_valid(extent)
            && file.matched_lines.is_valid(extent)
            && file.units.iter().all(|unit| is_unit(unit, extent))
    };
    files.len() == show.files.len() && files.iter().all(is_file)
}

fn is_unit(answer: &UnitAnswer, extent: &ShardExtent) -> bool {
    let is_line = |line: usize| line <= LINE_MAX as usize;
    answer.unit.is_valid(extent)
        && answer.score.is_finite()
        && [answer.line.number, answer.name_line, answer.last_line].into_iter().all(is_line)
        && answer.parts.is_valid(extent)
        && is_best_line(&answer.line)
}

fn is_best_line(line: &BestLine) -> bool {
    let ranges = line.marks.iter().chain(line.matches.iter().flatten());
    let is_within = |range: &std::ops::Range<usize>| range.start <= range.end && range.end <= line.text.len();
    let is_whole = |at: usize| line.text.is_char_boundary(at);
    ranges.into_iter().all(is_within) && line.marks.iter().all(|mark| is_whole(mark.start) && is_whole(mark.end))
}

/// The answer to [`Question::Lines`](crate::message::Question::Lines).
pub fn are_lines(lines_max: u32, found: &LinesFound, extent: &ShardExtent) -> bool {
    let is_own = |path: &str| extent.repositories.iter().any(|one| path.starts_with(&one.front));
    found.lines.len() <= lines_max as usize
        && found.lines.iter().all(|one| (1..=LINE_MAX).contains(&one.line) && is_own(&one.path))
}

/// The answer to [`Question::End`](crate::message::Question::End).
pub fn is_end(end: &EndAsked, found: &EndFound, extent: &ShardExtent) -> bool {
    let EndFound { units, files, holders, like, spelled, texts } = found;
    let counts = like.iter().flat_map(BTreeMap::values).map(|(_, units)| units);
    units.len() == end.units.len()
        && files.len() == end.files.len()
        && like.len() == end.like.len()
        && spelled.len() == end.spelled.len()
        && texts.len() == end.texts.len()
        && units.is_valid(extent)
        && counts.chain(files).chain([holders]).all(|count| *count <= COUNT_MAX)
}

/// The answer to [`Question::Served`](crate::message::Question::Served).
pub fn are_served(repositories: &[ServedRepository]) -> bool {
    repositories.iter().all(|one| {
        let ServedRepository { files, units, units_without_vectors, known_files, languages, .. } = one;
        let mut counts = [files, units, units_without_vectors].into_iter().chain(languages.values());
        counts.all(|count| *count <= COUNT_MAX)
            && are_files(known_files.as_ref())
            && is_name(&one.name)
            && languages.keys().all(|language| is_name(language))
    })
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
