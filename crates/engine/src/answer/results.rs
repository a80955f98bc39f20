//! The results of a ranking, read lazily as they are consumed.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use colgrep_core::strength::RULE;

use crate::answer::FileAnswer;
use crate::answer::summary::{Audience, End};
use crate::error::{Error, Result};
use crate::project::damage::damage;
use crate::relations::unknown::UnknownCalls;
use crate::request::{Detail, Question, SearchRequest};
use crate::session::corpus::{Parts, RankedTogether};

/// Number of results worked out at a time, in parallel.
pub(crate) const PORTION: usize = 16;

/// A ranking over all projects of a session.
pub struct Results<'s> {
    /// The text that was ranked by.
    pub query: String,
    /// Whether it is a list by path and line, and nothing was ranked.
    pub is_list: bool,
    /// [`SearchRequest::has_end`]: whether weak results are marked as weak.
    pub has_end: bool,
    /// Whether nothing was found, though files match the scope's pattern: no unit with a match answers the question.
    pub only_matches: bool,
    /// Whether the filters of the scope leave a file; those of other machines do.
    pub has_files: bool,
    /// Where the names that facts about calls ask for occur, if nothing was found.
    pub unknown_calls: UnknownCalls,
    /// The name whose callers the query asks for, if none is known, and where it occurs.
    pub uncalled: Option<(String, UnknownCalls)>,
    /// Maximum number of results.
    pub(crate) wanted: usize,
    pub(crate) parts: &'s dyn Parts,
    pub(crate) ranked: RankedTogether,
    pub(crate) detail: Detail,
    /// Whether an index that turns out to be damaged is repaired.
    pub(crate) repairs: bool,
    /// The first results, where they are worked out already, until somebody takes them.
    pub(crate) first: Mutex<Vec<FileAnswer>>,
}

impl std::fmt::Debug for Results<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").field("query", &self.query).field("ranked", &self.ranked).finish_non_exhaustive()
    }
}

impl<'s> Results<'s> {
    /// The results of a request over shards that may be elsewhere.
    pub fn of_shards(
        (request, wanted): (&SearchRequest, usize),
        parts: &'s dyn Parts,
        ranked: RankedTogether,
    ) -> Results<'s> {
        let query = match &request.question {
            Question::Text(query) => query.clone(),
            Question::Like { .. } | Question::LikeUnit(_) | Question::Every => String::new(),
        };
        let (has_end, detail) = (request.has_end(), request.shape.detail);
        let (is_list, only_matches, repairs, first) = (false, false, false, Mutex::default());
        // Files elsewhere may have the names.
        let are_named = request.scope.facts.name_calls();
        let (has_files, unknown_calls) = (true, UnknownCalls { are_named, ..UnknownCalls::default() });
        Results {
            query,
            is_list,
            has_end,
            only_matches,
            has_files,
            unknown_calls,
            uncalled: None,
            wanted,
            parts,
            ranked,
            detail,
            repairs,
            first,
        }
    }
}

impl Results<'_> {
    /// Number of results.
    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.ranked.is_empty()
    }

    /// Number of results up to the last that reaches the rule ([`RULE`]); later ones are near at best. All of them
    /// where the answer has no end.
    pub fn certain(&self) -> usize {
        let is_certain = |at: &usize| self.ranked.strength(*at) >= RULE;
        if self.has_end { (0..self.len()).rfind(is_certain).map_or(0, |last| last + 1) } else { self.len() }
    }

    /// The remarks after the last result.
    pub fn end(&self) -> Result<End> {
        let strongest = (0..self.len()).map(|at| self.ranked.strength(at)).fold(0.0, f32::max);
        let end = match self.has_end || self.only_matches {
            true => self.parts.end(&self.ranked, strongest < RULE, Audience::Owner),
            false => Ok(End::default()),
        };
        let end = end.inspect_err(|error| (0..self.ranked.ranked.len()).for_each(|part| self.repair(part, error)))?;
        let (shown, is_full) = (self.len(), self.len() >= self.wanted);
        Ok(End { query: self.query.clone(), is_ruled: self.has_end, shown, is_full, strongest, ..end })
    }

    /// Repairs a part for the next search, if an error is damage of it.
    fn repair(&self, part: usize, error: &Error) {
        if self.repairs && damage(error).is_some() {
            self.parts.repair(part, error);
        }
    }

    /// Works out some of the results, in parallel, without those whose files have nothing of them any more. Damage that
    /// shows only here is repaired for the next search: earlier files may have been given out already.
    pub fn files(&self, range: Range<usize>) -> Result<Vec<FileAnswer>> {
        let mut files = match range.start {
            0 => std::mem::take(&mut *self.first.lock().unwrap_or_else(PoisonError::into_inner)),
            _ => Vec::new(),
        };
        files.truncate(range.end);
        let rest = range.start + files.len()..range.end;
        if !rest.is_empty() {
            let rest = self.ranked.files(self.parts, rest, self.detail).map_err(|failed| {
                let (place, error) = *failed;
                self.repair(place, &error);
                error
            });
            let is_there = |file: &FileAnswer| self.detail == Detail::Names || !file.units.is_empty();
            files.extend(rest?.into_iter().filter(is_there));
        }
        Ok(files)
    }

    /// All results, worked out in portions as they are taken.
    pub fn iter(&self) -> impl Iterator<Item = Result<FileAnswer>> + '_ {
        let starts = (0..self.len()).step_by(PORTION);
        starts.flat_map(|start| match self.files(start..self.len().min(start + PORTION)) {
            Ok(files) => files.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
    }
}
