//! A shard elsewhere: its rounds are questions to one of its replicas. Where that is late, another one is asked the same
//! from the beginning, and the first answer counts.

mod race;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use colgrep_engine::show::ShowAsked;
use colgrep_index::error::{Error, Result};
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::search::Shard;
use colgrep_index::search::shard::{
    Asked, Bar, CandidatesAsked, CandidatesFound, Choice, Chosen, Context, ContextsAsked, Cut, DefinitionFound,
    DefinitionsAsked, Extent, FactsAsked, FactsFound, HolderCount, HoldingAsked, Likeness, LineOf, LocateAsked,
    LocateFound, Look, Meaning, Places, Scored, Seen, ShardSearch, Statistics, TextNear, TextsFound, UnitFound, Words,
};
use race::Race;
use serde::de::DeserializeOwned;

use crate::frame::{QUESTION_BYTES_MAX, framed};
use crate::message::{self, Ask, Begun, Failure, Put, Question};
use crate::replica::{Lane, Lost, Patience, Replicas, answered};

/// A frame that is sent to any replica.
type Frame = Arc<Vec<u8>>;

/// A shard elsewhere, for one search.
#[derive(Debug)]
pub struct Remote {
    /// Its number, from 0.
    pub at: usize,
    replicas: Arc<Replicas>,
    patience: Patience,
    /// What it said at the beginning.
    pub begun: Begun,
    names: HashMap<String, bool>,
    line: Mutex<Line>,
}

/// The connection in use.
#[derive(Debug, Default)]
struct Line {
    lane: Option<Lane>,
    /// What another replica has to be asked before it can go on.
    history: Vec<(u8, Past, Frame)>,
    /// Searches that lie inside each other now.
    depth: u8,
    /// Why there is no connection any more.
    lost: Option<String>,
}

/// What a question of the past was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    Begin,
    Ask,
    Round,
    Choice,
}

impl Drop for Remote {
    fn drop(&mut self) {
        let line = self.line.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What a connection was told at its beginning is out of date where the indexes changed.
        let is_current = |lane: &Lane| lane.welcome.generation == self.begun.generation;
        let Some(mut lane) = line.lane.take().filter(is_current) else { return };
        let Ok(done) = framed(&(0u8, Question::Done), QUESTION_BYTES_MAX) else { return };
        if lane.tell(&done) {
            Arc::clone(&lane.replica).keep(lane);
        }
    }
}

impl Remote {
    /// Begins a search in the shard, whose number is `at`.
    ///
    /// # Errors
    /// When no replica answers.
    pub fn begin(
        at: usize,
        replicas: &Arc<Replicas>,
        begin: &message::Begin,
        patience: &Patience,
    ) -> std::result::Result<Remote, Lost> {
        let frame = Arc::new(framed(&(0u8, Question::Begin(Box::new(begin.clone()))), QUESTION_BYTES_MAX)?);
        let mut remote = Remote {
            at,
            replicas: Arc::clone(replicas),
            patience: patience.clone(),
            begun: Begun::default(),
            names: HashMap::new(),
            line: Mutex::default(),
        };
        let bytes = remote.race(&mut remote.line(), &frame)?;
        remote.begun = answered(&bytes)?;
        remote.names = begin.terms.iter().cloned().zip(remote.begun.names.iter().copied()).collect();
        remote.line().history.push((0, Past::Begin, frame));
        Ok(remote)
    }

    /// The names of its repositories, where they are known as they are now.
    pub fn repositories(&self) -> Option<Vec<String>> {
        let line = self.line();
        let welcome = &line.lane.as_ref()?.welcome;
        (welcome.generation == self.begun.generation).then(|| welcome.repositories.clone())
    }

    /// Why it gives no answer any more, if so.
    pub fn lost(&self) -> Option<String> {
        self.line().lost.clone()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks what is shown.
    ///
    /// # Errors
    /// When no replica answers.
    pub fn show<T: DeserializeOwned>(&self, asked: ShowAsked) -> std::result::Result<T, Lost> {
        self.ask_of((0, Question::Show(Box::new(asked))), None)
    }

    /// Asks a question; where `past` is said, another replica would have to be asked it too.
    fn ask_of<T: DeserializeOwned>(&self, put: Put, past: Option<Past>) -> std::result::Result<T, Lost> {
        let frame = Arc::new(framed(&put, QUESTION_BYTES_MAX)?);
        let mut line = self.line();
        let answer = self.race(&mut line, &frame).and_then(|bytes| answered(&bytes));
        match (&answer, past) {
            (Err(Lost::Failed(Failure::Request(_))), _) | (Ok(_), None) => {}
            (Err(lost), _) => line.lost = Some(lost.to_string()),
            (Ok(_), Some(past)) => {
                // The first choice of texts makes those before it void.
                if matches!(put.1, Question::Choose(Choice::All | Choice::Lists, _)) {
                    line.history.retain(|(depth, old, _)| *depth != put.0 || *old != Past::Choice);
                }
                line.history.push((put.0, past, frame));
            }
        }
        answer
    }

    fn away(&self, lost: &Lost) -> Error {
        Error::Away(format!("shard {}: {lost}", self.at + 1))
    }

    /// The answer to a question from the replica in use, or from another one where that is late or gone.
    fn race(&self, line: &mut Line, frame: &Frame) -> std::result::Result<Vec<u8>, Lost> {
        let mut race =
            Race::new(self, line.lane.take(), line.history.iter().map(|(.., frame)| Arc::clone(frame)), frame);
        let result = race.run();
        let (lane, bytes) = result?;
        lane.replica.answered();
        self.replicas.took(race.started.elapsed());
        line.lane = Some(lane);
        Ok(bytes)
    }
}

impl Shard for Remote {
    fn extent(&self) -> Extent {
        self.begun.extent.clone()
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        match self.names.get(term) {
            Some(is_name) => Ok(*is_name),
            None => self.ask_of((0, Question::IsName(term.to_string())), None).map_err(|lost| self.away(&lost)),
        }
    }

    fn ask<'s>(&'s self, asked: &Asked<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        let meaning = asked.meaning.map(|meant| message::Meaning {
            dimension: meant.question.dimension() as u32,
            heads: meant.question.heads() as u32,
            values: meant.question.values().to_vec(),
            fingerprint: meant.fingerprint,
            effort: meant.effort,
        });
        let ask = Ask { query: asked.query.into(), bm25: asked.bm25, meaning };
        let depth = self.line().depth + 1;
        let told =
            self.ask_of((depth, Question::Ask(Box::new(ask))), Some(Past::Ask)).map_err(|lost| self.away(&lost))?;
        self.line().depth = depth;
        Ok(Box::new(RemoteSearch { remote: self, depth, told }))
    }
}

/// One search in a shard elsewhere.
struct RemoteSearch<'s> {
    remote: &'s Remote,
    /// How many searches lie around it, itself included.
    depth: u8,
    told: message::Asked,
}

impl Drop for RemoteSearch<'_> {
    /// What is asked next belongs to the search around it, if there is one, and ends this one there too.
    fn drop(&mut self) {
        let mut line = self.remote.line();
        line.depth = self.depth - 1;
        line.history.retain(|(depth, ..)| *depth < self.depth);
    }
}

impl RemoteSearch<'_> {
    fn round<T: DeserializeOwned>(&self, question: Question) -> Result<T> {
        self.asked(question, None)
    }

    /// A round; not asked where nothing is asked about.
    fn about<T: DeserializeOwned + Default>(&self, is_nothing: bool, question: impl FnOnce() -> Question) -> Result<T> {
        if is_nothing { Ok(T::default()) } else { self.round(question()) }
    }

    fn asked<T: DeserializeOwned>(&self, question: Question, past: Option<Past>) -> Result<T> {
        self.remote.ask_of((self.depth, question), past).map_err(|lost| self.remote.away(&lost))
    }
}

impl Words for RemoteSearch<'_> {
    fn statistics(&self) -> Result<Statistics> {
        Ok(self.told.statistics.clone())
    }

    fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound> {
        let [units, files, named] = [asked.units_max, asked.files_min, asked.named_max].map(|n| n as u64);
        self.asked(Question::Candidates(asked.statistics.clone(), units, files, named), Some(Past::Round))
    }

    fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored> {
        self.about(files.is_empty() && units.is_empty(), || Question::Scored(files.to_vec(), units.to_vec()))
    }

    fn facts(&self, asked: &FactsAsked) -> Result<FactsFound> {
        self.round(Question::Facts(asked.clone()))
    }

    fn topics(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.about(terms.is_empty(), || Question::Topics(terms.to_vec()))
    }

    fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        self.about(units.is_empty(), || Question::Holders(units.to_vec()))
    }

    fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
        self.about(files.is_empty(), || Question::Tokens(files.to_vec(), tokens.to_vec()))
    }

    fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>> {
        self.about(units.is_empty(), || Question::Stored(units.to_vec()))
    }
}

impl Meaning for RemoteSearch<'_> {
    fn texts(&self) -> Result<TextsFound> {
        Ok(self.told.texts)
    }

    fn hashes(&self) -> Result<Vec<TextHash>> {
        self.about(self.told.texts.texts == Some(0), || Question::Hashes)
    }

    fn choose(&self, by: Choice, cut: &Cut) -> Result<Chosen> {
        self.asked(Question::Choose(by, *cut), Some(Past::Choice))
    }

    fn chosen(&self, least: f32) -> Result<Vec<(TextHash, f32)>> {
        self.round(Question::Chosen(least))
    }

    fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>> {
        self.round(Question::Nearest(bar))
    }

    fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>> {
        self.about(units.is_empty(), || Question::Likeness(units.to_vec()))
    }

    fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>> {
        self.about(units.is_empty(), || Question::TextOf(units.to_vec()))
    }
}

impl Places for RemoteSearch<'_> {
    fn located(&self, asked: &LocateAsked) -> Result<LocateFound> {
        self.round(Question::Located(asked.clone()))
    }

    fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>> {
        self.round(Question::Definitions(asked.clone()))
    }

    fn callers(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>> {
        self.round(Question::Callers(name.to_string(), is_loose))
    }

    fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>> {
        self.about(lines.is_empty(), || Question::Around(lines.to_vec()))
    }

    fn runs(&self, runs: &[Vec<(String, u32)>]) -> Result<Vec<Vec<FilePlace>>> {
        self.about(runs.is_empty(), || Question::Runs(runs.to_vec()))
    }

    fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        self.about(terms.is_empty(), || Question::Counts(terms.to_vec(), units_max))
    }

    fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>> {
        self.round(Question::Holding(asked.clone()))
    }

    fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>> {
        self.about(terms.is_empty(), || Question::HoldingAll(terms.to_vec()))
    }

    fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>> {
        self.about(files.is_empty(), || Question::Sizes(files.to_vec()))
    }

    fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<Vec<Seen>>> {
        self.about(files.is_empty(), || Question::Look(files.to_vec(), look.clone()))
    }

    fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>> {
        self.about(units.is_empty(), || Question::Lines(units.to_vec(), line.clone()))
    }

    fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<Vec<(FilePlace, Context)>> {
        self.round(Question::Contexts(asked.near.clone(), asked.wants_tests))
    }

    fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>> {
        let owned = || paths.iter().map(|path| (*path).to_string()).collect();
        self.about(paths.is_empty(), || Question::FilesAt(owned()))
    }
}
