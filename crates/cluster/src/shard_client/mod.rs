//! A shard in another process: each round is a question to one of its replicas. If that is slow, another replica is
//! asked the same questions from the start, and the first answer counts.

mod hedge;
mod search;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::show::ShowAsked;
use colgrep_engine::answer::summary::{EndAsked, EndFound};
use colgrep_index::error::{Error, Result};
use colgrep_search::Shard;
use colgrep_search::rounds::{Replay, ShardSearch};
use colgrep_search::shard::{ShardExtent, ShardOverview, ShardQuery};
use hedge::Hedge;
use search::RemoteSearch;
use serde::de::DeserializeOwned;

use crate::check::{self, checked};
use crate::foreign_text::plain;
use crate::frame::{HEAD_BYTES, QUESTION_BYTES_MAX, framed};
use crate::message::{Begin, Begun, LinesFound, Put, WireFailure, WireQuery, WireQuestion, WireVectors};
use crate::replica::{Connection, Lost, ReplicaTimeouts, Replicas};

/// A frame that can be sent to any replica.
type Frame = Arc<Vec<u8>>;

/// A shard in another process, for one session.
#[derive(Debug)]
pub struct ShardClient {
    /// Its number, from 0.
    pub at: usize,
    replicas: Arc<Replicas>,
    patience: ReplicaTimeouts,
    /// Its answer at the start.
    pub begun: Begun,
    names: HashMap<String, bool>,
    line: Mutex<Conversation>,
}

/// The connection in use.
#[derive(Debug, Default)]
struct Conversation {
    connection: Option<Connection>,
    /// The questions that another replica needs to see before it can take over, each with its depth.
    history: Vec<(u8, Replay, Frame)>,
    /// Number of nested searches.
    depth: u8,
    /// Why there is no connection any more.
    lost: Option<String>,
    /// Why the request can't be sent.
    refused: Option<String>,
}

impl Drop for ShardClient {
    fn drop(&mut self) {
        let line = self.line.get_mut().unwrap_or_else(PoisonError::into_inner);
        // After a change of the indexes, the connection's greeting is outdated.
        let is_current = |connection: &Connection| connection.welcome.generation == self.begun.generation;
        let Some(mut connection) = line.connection.take().filter(is_current) else { return };
        let Ok(done) = framed(&(0u8, WireQuestion::Done), QUESTION_BYTES_MAX) else { return };
        if connection.tell(&done) {
            Arc::clone(&connection.replica).keep(connection);
        }
    }
}

impl ShardClient {
    /// Begins a session in the shard with the number `at`.
    pub fn begin(
        at: usize,
        replicas: &Arc<Replicas>,
        begin: &Begin,
        patience: &ReplicaTimeouts,
    ) -> std::result::Result<ShardClient, Lost> {
        let put = (0u8, WireQuestion::Begin(Box::new(begin.clone())));
        let frame = frame_of(&put)?;
        let mut client = ShardClient {
            at,
            replicas: Arc::clone(replicas),
            patience: patience.clone(),
            begun: Begun::default(),
            names: HashMap::new(),
            line: Mutex::default(),
        };
        replicas.greet(patience.first, patience.connect);
        let begun = client.asked(&mut client.line(), &put.1, &frame, |begun| check::is_begun(begin, begun))?;
        client.begun = begun;
        client.names = begin.terms.iter().cloned().zip(client.begun.names.iter().copied()).collect();
        client.line().history.push((0, Replay::Always, frame));
        Ok(client)
    }

    /// The names of its repositories, including those that it can't serve, if the list is current.
    pub fn repositories(&self) -> Option<Vec<String>> {
        let line = self.line();
        let welcome = &line.connection.as_ref()?.welcome;
        let all = || welcome.repositories.iter().chain(&welcome.unserved).cloned().collect();
        (welcome.generation == self.begun.generation).then(all)
    }

    /// The repositories that would be searched but can't be served, each with the reason.
    pub fn unserved(&self, begin: &Begin) -> Vec<(String, String)> {
        let mut unserved: Vec<(String, String)> =
            self.begun.unserved.iter().map(|(name, why)| (name.clone(), plain(why))).collect();
        for replica in &self.replicas.all {
            let Some(said) = replica.said() else { continue };
            for name in said.repositories.iter().filter(|name| begin.wants(name) && !self.begun.serves(name)) {
                if !unserved.iter().any(|(known, _)| known == name) {
                    let why = format!("replica {} serves it, and another one answered that does not", replica.address);
                    unserved.push((name.clone(), why));
                }
            }
        }
        unserved
    }

    /// Why it does not answer any more, if so.
    pub fn lost(&self) -> Option<String> {
        self.line().lost.clone()
    }

    /// Why the request can't be sent, if it can't.
    pub fn refused(&self) -> Option<String> {
        self.line().refused.clone()
    }

    fn line(&self) -> MutexGuard<'_, Conversation> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks what to show of files.
    pub fn show(&self, asked: ShowAsked) -> std::result::Result<Vec<FileAnswer>, Lost> {
        let put = (0, WireQuestion::Show(Box::new(asked.clone())));
        self.ask_of(put, Replay::Never, |files: &Vec<_>| check::is_shown(&asked, files, &self.begun.extent))
    }

    /// Asks for the remarks after the last result.
    pub fn end(&self, asked: EndAsked) -> std::result::Result<EndFound, Lost> {
        let put = (0, WireQuestion::End(Box::new(asked.clone())));
        self.ask_of(put, Replay::Never, |found| check::is_end(&asked, found, &self.begun.extent))
    }

    /// Asks for the lines of the scope.
    pub fn lines(&self, lines_max: u32) -> std::result::Result<LinesFound, Lost> {
        let is_valid = |found: &LinesFound| check::are_lines(lines_max, found, &self.begun.extent);
        self.ask_of((0, WireQuestion::Lines(lines_max)), Replay::Never, is_valid)
    }

    /// Asks for the text of a file.
    ///
    /// # Errors
    /// When there is no such file, or no replica answers.
    pub fn read(&self, repository: String, path: String) -> std::result::Result<String, Lost> {
        self.ask_of((0, WireQuestion::Read(repository, path)), Replay::Never, |_| true)
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

    /// The answer to a question. A replica that sends an invalid one is avoided for a while.
    fn asked<T: DeserializeOwned>(
        &self,
        line: &mut Conversation,
        asked: &WireQuestion,
        frame: &Frame,
        is_valid: impl FnOnce(&T) -> bool,
    ) -> std::result::Result<T, Lost> {
        let bytes = self.hedge(line, frame)?;
        self.replicas.spent(asked.name(), frame.len(), HEAD_BYTES + bytes.len());
        checked(&bytes, asked.name(), is_valid).inspect_err(|lost| {
            if matches!(lost, Lost::Nonsense(_)) {
                line.connection.take().into_iter().for_each(|connection| connection.replica.failed(lost));
            }
        })
    }

    fn away(&self, lost: &Lost) -> Error {
        Error::Away(format!("shard {}: {lost}", self.at + 1))
    }

    /// The frame of the answer, from the replica in use, or from another one if that is slow or fails.
    fn hedge(&self, line: &mut Conversation, frame: &Frame) -> std::result::Result<Vec<u8>, Lost> {
        let mut hedge =
            Hedge::new(self, line.connection.take(), line.history.iter().map(|(.., frame)| Arc::clone(frame)), frame);
        let result = hedge.run();
        let (connection, bytes) = result?;
        connection.replica.answered();
        self.replicas.took(hedge.started.elapsed());
        line.connection = Some(connection);
        Ok(bytes)
    }
}

/// Encodes a question. One that is too long is refused, since no replica has failed.
fn frame_of(put: &Put) -> std::result::Result<Frame, Lost> {
    let frame = framed(put, QUESTION_BYTES_MAX);
    frame.map(Arc::new).map_err(|error| Lost::Failed(WireFailure::Request(format!("the request is too long: {error}"))))
}

impl Shard for ShardClient {
    fn is_far(&self) -> bool {
        true
    }

    fn extent(&self) -> ShardExtent {
        self.begun.extent.clone()
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        match self.names.get(term) {
            Some(is_name) => Ok(*is_name),
            None => {
                let put = (0, WireQuestion::IsName(term.to_string()));
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
            .ask_of((depth, WireQuestion::Search(Box::new(wire))), Replay::Always, is_valid)
            .map_err(|lost| self.away(&lost))?;
        self.line().depth = depth;
        Ok(Box::new(RemoteSearch { client: self, depth, overview }))
    }
}
