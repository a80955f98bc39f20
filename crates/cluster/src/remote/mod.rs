//! A shard elsewhere: its rounds are questions to one of its replicas. Where that is late, another one is asked the same
//! from the beginning, and the first answer counts.

mod race;
mod rounds;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::show::ShowAsked;
use colgrep_engine::answer::summary::{EndAsked, EndFound};
use colgrep_index::error::{Error, Result};
use colgrep_search::Shard;
use colgrep_search::rounds::{Replay, ShardSearch};
use colgrep_search::shard::{Extent, ShardOverview, ShardQuery};
use race::Race;
use rounds::RemoteSearch;
use serde::de::DeserializeOwned;

use crate::check::{self, checked};
use crate::frame::{HEAD_BYTES, QUESTION_BYTES_MAX, framed};
use crate::message::{Begin, Begun, Failure, Put, Question, WireQuery, WireVectors};
use crate::replica::{Lane, Lost, Patience, Replicas};

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
    /// The questions that another replica needs to see before it can take over, each with its depth.
    history: Vec<(u8, Replay, Frame)>,
    /// Searches that lie inside each other now.
    depth: u8,
    /// Why there is no connection any more.
    lost: Option<String>,
    /// Why the request can't be answered as it is.
    refused: Option<String>,
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
        begin: &Begin,
        patience: &Patience,
    ) -> std::result::Result<Remote, Lost> {
        let put = (0u8, Question::Begin(Box::new(begin.clone())));
        let frame = frame_of(&put)?;
        let mut remote = Remote {
            at,
            replicas: Arc::clone(replicas),
            patience: patience.clone(),
            begun: Begun::default(),
            names: HashMap::new(),
            line: Mutex::default(),
        };
        replicas.greet(patience.first, patience.connect);
        let begun = remote.asked(&mut remote.line(), &put.1, &frame, |begun| check::is_begun(begin, begun))?;
        remote.begun = begun;
        remote.names = begin.terms.iter().cloned().zip(remote.begun.names.iter().copied()).collect();
        remote.line().history.push((0, Replay::Always, frame));
        Ok(remote)
    }

    /// The names of its repositories, those that it can't serve too, where they are known as they are now.
    pub fn repositories(&self) -> Option<Vec<String>> {
        let line = self.line();
        let welcome = &line.lane.as_ref()?.welcome;
        let all = || welcome.repositories.iter().chain(&welcome.unserved).cloned().collect();
        (welcome.generation == self.begun.generation).then(all)
    }

    /// The repositories that the search looks into, and those that it would, with the reason why it can't.
    pub fn unserved(&self, begin: &Begin) -> Vec<(String, String)> {
        let mut unserved = self.begun.unserved.clone();
        let is_here =
            |name: &str| self.begun.extent.repositories.iter().any(|one| one.front.strip_suffix('/') == Some(name));
        for replica in &self.replicas.all {
            let Some(said) = replica.said() else { continue };
            for name in said.repositories.iter().filter(|name| begin.wants(name) && !is_here(name)) {
                if !unserved.iter().any(|(known, _)| known == name) {
                    let why = format!("replica {} serves it, and another one answered that does not", replica.address);
                    unserved.push((name.clone(), why));
                }
            }
        }
        unserved
    }

    /// Why it gives no answer any more, if so.
    pub fn lost(&self) -> Option<String> {
        self.line().lost.clone()
    }

    /// Why it can't answer the request as it is, if so.
    pub fn refused(&self) -> Option<String> {
        self.line().refused.clone()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks what is shown.
    ///
    /// # Errors
    /// When no replica answers.
    pub fn show(&self, asked: ShowAsked) -> std::result::Result<Vec<FileAnswer>, Lost> {
        let put = (0, Question::Show(Box::new(asked.clone())));
        self.ask_of(put, Replay::Never, |files: &Vec<_>| check::is_shown(&asked, files, &self.begun.extent))
    }

    /// Asks for the remarks behind the last result.
    ///
    /// # Errors
    /// When no replica answers.
    pub fn end(&self, asked: EndAsked) -> std::result::Result<EndFound, Lost> {
        let put = (0, Question::End(Box::new(asked.clone())));
        self.ask_of(put, Replay::Never, |found| check::is_end(&asked, found, &self.begun.extent))
    }

    /// Asks for the text of a file.
    ///
    /// # Errors
    /// When there is none, or no replica answers.
    pub fn read(&self, repository: String, path: String) -> std::result::Result<String, Lost> {
        self.ask_of((0, Question::Read(repository, path)), Replay::Never, |_| true)
    }

    /// Asks a question. `is_valid` compares the answer with it.
    fn ask_of<T: DeserializeOwned>(
        &self,
        put: Put,
        replay: Replay,
        is_valid: impl FnOnce(&T) -> bool,
    ) -> std::result::Result<T, Lost> {
        let mut line = self.line();
        let frame = frame_of(&put).inspect_err(|lost| line.refused = Some(lost.to_string()))?;
        let answer = self.asked(&mut line, &put.1, &frame, is_valid);
        match &answer {
            Err(Lost::Failed(Failure::Request(said))) => line.refused = Some(said.clone()),
            Err(lost) => line.lost = Some(lost.to_string()),
            Ok(_) if replay == Replay::Never => {}
            Ok(_) => {
                if replay == (Replay::Chain { starts: true }) {
                    line.history.retain(|(depth, old, _)| *depth != put.0 || !matches!(old, Replay::Chain { .. }));
                }
                line.history.push((put.0, replay, frame));
            }
        }
        answer
    }

    /// The answer to a question. A replica that sends an invalid one is left alone for a while.
    fn asked<T: DeserializeOwned>(
        &self,
        line: &mut Line,
        asked: &Question,
        frame: &Frame,
        is_valid: impl FnOnce(&T) -> bool,
    ) -> std::result::Result<T, Lost> {
        let bytes = self.race(line, frame)?;
        self.replicas.spent(asked.name(), frame.len(), HEAD_BYTES + bytes.len());
        checked(&bytes, asked.name(), is_valid).inspect_err(|lost| {
            if matches!(lost, Lost::Nonsense(_)) {
                line.lane.take().into_iter().for_each(|lane| lane.replica.failed(lost));
            }
        })
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

/// A question as a frame. One that is too long is refused: no replica has failed.
fn frame_of(put: &Put) -> std::result::Result<Frame, Lost> {
    let frame = framed(put, QUESTION_BYTES_MAX);
    frame.map(Arc::new).map_err(|error| Lost::Failed(Failure::Request(format!("the request is too long: {error}"))))
}

impl Shard for Remote {
    fn is_far(&self) -> bool {
        true
    }

    fn extent(&self) -> Extent {
        self.begun.extent.clone()
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        match self.names.get(term) {
            Some(is_name) => Ok(*is_name),
            None => {
                let put = (0, Question::IsName(term.to_string()));
                self.ask_of(put, Replay::Never, |_| true).map_err(|lost| self.away(&lost))
            }
        }
    }

    fn search<'s>(&'s self, query: &ShardQuery<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        let vectors = query.vectors.as_ref().map(WireVectors::new);
        let wire = WireQuery { query: query.query.into(), bm25: query.bm25, vectors };
        let (depth, parts) = (self.line().depth + 1, wire.query.clone());
        let is_valid = |overview: &ShardOverview| check::is_overview(&parts, overview, &self.begun.extent);
        let overview = self
            .ask_of((depth, Question::Search(Box::new(wire))), Replay::Always, is_valid)
            .map_err(|lost| self.away(&lost))?;
        self.line().depth = depth;
        Ok(Box::new(RemoteSearch { remote: self, depth, overview }))
    }
}
