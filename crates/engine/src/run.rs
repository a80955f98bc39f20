//! The one way through a search: request, settings and model become a query, and a backend ranks it.
//!
//! Command line, servers and programs differ in where they look and in what they show, so they bring a [`Backend`] and
//! take the ranking. What a request means is decided here alone.

use std::collections::HashSet;

use colgrep_core::collapse::PerFile;
use colgrep_core::expand::TermTable;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::literal_match::message_of_record;
use colgrep_core::strength::FLOOR;

use crate::error::{Error, Result};
use crate::history::cochange::Past;
use crate::notice::Listener;
use crate::project::model::Model;
use crate::request::like::Like;
use crate::request::near::NearFile;
use crate::request::{Detail, Question, RankBy, SearchRequest, Weakest, searched_part, terms};
use crate::session::corpus::{self, Parts, RankedTogether};
use crate::session::project_searcher::{ProjectSearcher, RankQuery};
use crate::settings::env::Env;
use crate::settings::{Settings, variable};

/// Default number of files in an answer.
pub const FILES_DEFAULT: usize = 15;

/// Where a search runs: projects of this process, or shards elsewhere.
pub trait Backend {
    /// Why there is no ranking.
    type Error: From<Error>;
    /// What shows the files of a ranking.
    type Parts<'b>: Parts
    where
        Self: 'b;

    /// Ranks files as those of one index.
    ///
    /// # Errors
    /// When an index can't be read, no shard answers, or the model can't be run.
    fn rank(
        &self,
        asked: &RankQuery<'_>,
        listener: &dyn Listener,
    ) -> Result<(RankedTogether, Self::Parts<'_>), Self::Error>;
}

impl Backend for Vec<ProjectSearcher> {
    type Error = Error;
    type Parts<'b> = &'b Vec<ProjectSearcher>;

    fn rank(&self, asked: &RankQuery<'_>, listener: &dyn Listener) -> Result<(RankedTogether, &Vec<ProjectSearcher>)> {
        Ok((corpus::rank(&self.iter().collect::<Vec<_>>(), asked, listener)?, self))
    }
}

/// A request with all that it needs for a ranking.
#[derive(Debug)]
pub struct PreparedSearch<'r> {
    request: &'r SearchRequest,
    query: &'r str,
    by: RankBy,
    knobs: Knobs,
    fusion: Fusion,
    terms: TermTable,
    units_per_file: PerFile,
    files: usize,
    strength_min: f32,
    like: Option<&'r Like>,
    near: Option<NearFile>,
    past: Vec<(String, f32)>,
}

impl<'r> PreparedSearch<'r> {
    /// Combines a request with the settings. The request wins, then the environment, then the settings.
    ///
    /// # Errors
    /// When a knob has an invalid value.
    pub fn new(request: &'r SearchRequest, settings: &Settings, env: &Env) -> Result<PreparedSearch<'r>> {
        let mut knobs = settings.knobs(env, &request.ranking)?;
        if request.shape.every_match {
            variable::set(&mut knobs, Knob::PoolUnits, &Knob::PoolUnits.declaration().range.1.to_string())?;
        }
        let query = match &request.question {
            Question::Text(query) => Some(searched_part(message_of_record(query).unwrap_or(query))),
            Question::Like { .. } | Question::LikeUnit(_) | Question::Every => None,
        };
        if query.is_none() {
            // A unit's words are not a long query, however many they are.
            variable::set(&mut knobs, Knob::LongQueries, "0")?;
        }
        let is_list = request.question == Question::Every;
        let usual = || settings.number("results").unwrap_or(FILES_DEFAULT);
        let per_file = request.shape.units_per_file.or(settings.number("per_file"));
        Ok(PreparedSearch {
            request,
            query: query.unwrap_or_default(),
            by: rankings(request),
            knobs,
            fusion: request.ranking.fusion.or(settings.fusion()).unwrap_or_default(),
            terms: if query.is_some() { terms::in_force(&request.background, settings) } else { TermTable::default() },
            units_per_file: per_file.map_or(PerFile::Usual, |units| PerFile::Units(units.max(1))),
            files: request.shape.files.unwrap_or_else(|| if is_list { usize::MAX } else { usual() }),
            strength_min: strength_min(request, settings),
            like: None,
            near: None,
            past: Vec::new(),
        })
    }

    /// Looks for units like this one.
    #[must_use]
    pub fn like(self, like: Option<&'r Like>) -> PreparedSearch<'r> {
        PreparedSearch { like, query: like.map_or(self.query, |like| &like.query), ..self }
    }

    /// Prefers what belongs to this file.
    #[must_use]
    pub fn near(self, near: Option<NearFile>) -> PreparedSearch<'r> {
        PreparedSearch { near, ..self }
    }

    /// Adds the files of these places that past commits like the question changed.
    #[must_use]
    pub fn past(self, places: &[ProjectSearcher], past: Past<'_>) -> PreparedSearch<'r> {
        if self.like.is_some() || !matches!(self.request.question, Question::Text(_)) {
            return self;
        }
        PreparedSearch { past: corpus::past_of(places, self.query, &self.knobs, past), ..self }
    }

    /// The text that is ranked by.
    pub fn query(&self) -> &str {
        self.query
    }

    /// Number of files that the answer has at most.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Ranks the best `files` files, with `model` unless only words count. Where only names are wanted, each comes once.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn rank<'b, B: Backend + ?Sized>(
        &self,
        backend: &'b B,
        model: Option<&Model>,
        files: usize,
        listener: &dyn Listener,
    ) -> Result<(RankedTogether, B::Parts<'b>), B::Error> {
        let shape = &self.request.shape;
        let asked = RankQuery {
            query: self.query,
            knobs: &self.knobs,
            fusion: self.fusion,
            by: self.by,
            model: model.filter(|_| self.by != RankBy::Words),
            like: self.like,
            hints: &self.request.background.hints,
            terms: (!self.terms.is_empty()).then_some(&self.terms),
            near: self.near.as_ref(),
            past: &self.past,
            files,
            units_per_file: self.units_per_file,
            strength_min: self.strength_min,
            single_units: shape.single_units,
            every_match: shape.every_match,
            explain: shape.explain,
        };
        let (mut ranked, parts) = backend.rank(&asked, listener)?;
        if shape.detail == Detail::Names {
            let mut named = HashSet::new();
            ranked.retain(|part, repository, path| named.insert((part, repository.to_string(), path.to_string())));
        }
        Ok((ranked, parts))
    }
}

/// The least strength of a file in an answer.
fn strength_min(request: &SearchRequest, settings: &Settings) -> f32 {
    match request.shape.weakest {
        Weakest::Strength(least) => least,
        Weakest::Any => settings.strength_min().unwrap_or_default(),
        Weakest::Floor => settings.strength_min().unwrap_or(if request.has_end() { FLOOR } else { 0.0 }),
    }
}

/// The rankings that count for a request. Lists and counts of every match use words alone: by meaning, everything matches
/// to some degree.
pub(crate) fn rankings(request: &SearchRequest) -> RankBy {
    let is_by_words = request.shape.every_match || request.question == Question::Every;
    if is_by_words { RankBy::Words } else { request.ranking.by }
}
