//! A connection to a replica.

use std::io;
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::Replica;
use crate::foreign_text::{is_name, plain};
use crate::frame::{ANSWER_BYTES_MAX, Frames, HEAD_BYTES, HELLO_BYTES_MAX, framed, message};
use crate::handshake::{ConnectionEnd, Nonces, nonce};
use crate::message::{Challenge, Credential, Hello, MAGIC, VERSION, Welcome, WireFailure};

/// Why a replica gave no answer.
#[derive(Debug)]
pub enum Lost {
    /// The connection failed.
    Gone(io::Error),
    /// It did not answer in time.
    Late,
    /// Its indexes changed since the session began.
    OtherGeneration,
    /// It does not know the token.
    Unproved,
    /// Its message is invalid.
    Nonsense(String),
    Failed(WireFailure),
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lost::Gone(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the connection was closed")
            }
            Lost::Gone(error) => error.fmt(f),
            Lost::Late => f.write_str("no answer in time"),
            Lost::OtherGeneration => f.write_str("it has other indexes than the search began with"),
            Lost::Unproved => f.write_str("it does not know the token; nothing was sent to it"),
            Lost::Nonsense(what) => write!(f, "it speaks nonsense: {}", plain(what)),
            Lost::Failed(WireFailure::Version(theirs)) => {
                write!(
                    f,
                    "it speaks version {theirs} of the messages between shards, this program version {VERSION}: shards and \
                     whoever searches over them have to be of one release of colgrep"
                )
            }
            Lost::Failed(WireFailure::Token) => f.write_str("the token is missing or wrong"),
            Lost::Failed(WireFailure::Full) => f.write_str("too many open connections"),
            Lost::Failed(WireFailure::Request(said) | WireFailure::Broken(said)) => f.write_str(&plain(said)),
        }
    }
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Lost {
        Lost::Gone(error)
    }
}

/// A greeted connection.
#[derive(Debug)]
pub struct Connection {
    pub replica: Arc<Replica>,
    /// Its answer to the greeting.
    pub welcome: Arc<Welcome>,
    frames: Frames,
    pub used: Instant,
    /// Number of questions without an answer.
    pub open: usize,
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.frames.stream().shutdown(Shutdown::Both);
    }
}

impl Connection {
    /// Connects to a replica and greets it.
    ///
    /// # Errors
    /// When it does not answer in time, or refuses.
    pub fn open(replica: &Arc<Replica>, until: Instant) -> Result<Connection, Lost> {
        let mut last = Lost::Gone(io::Error::other(format!("{} is the name of no machine", replica.address)));
        for address in replica.address.to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Connection::greet(replica, stream, until),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(Lost::Late),
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    fn greet(replica: &Arc<Replica>, stream: TcpStream, until: Instant) -> Result<Connection, Lost> {
        let mut frames = Frames::new(stream, until.saturating_duration_since(Instant::now()))?;
        let hello = Hello { magic: MAGIC, version: VERSION, nonce: nonce()? };
        frames.write(&framed(&hello, HELLO_BYTES_MAX)?)?;
        let bytes = frames.read(ANSWER_BYTES_MAX, until)?.ok_or(Lost::Late)?;
        let challenge: Challenge = answered(&bytes)?;
        let nonces = Nonces { hello: hello.nonce, challenge: challenge.nonce };
        let tokens = replica.tokens();
        let known = |token: &&String| nonces.is_proved_by_one(token, ConnectionEnd::Shard, &challenge.proofs);
        let token = tokens.iter().find(known);
        if token.is_none() && !tokens.is_empty() {
            return Err(Lost::Unproved);
        }
        let proof = token.map(|token| nonces.proof(token, ConnectionEnd::Coordinator));
        frames.write(&framed(&Credential { proof }, HELLO_BYTES_MAX)?)?;
        let bytes = frames.read(ANSWER_BYTES_MAX, until)?.ok_or(Lost::Late)?;
        let welcome: Welcome = answered(&bytes)?;
        if !welcome.repositories.iter().chain(&welcome.unserved).all(|name| is_name(name)) {
            return Err(Lost::Nonsense("invalid repository names".into()));
        }
        let welcome = Arc::new(welcome);
        replica.says(Arc::clone(&welcome));
        let (replica, used) = (Arc::clone(replica), Instant::now());
        Ok(Connection { replica, welcome, frames, used, open: 0 })
    }

    /// Sends a question.
    pub fn send(&mut self, frame: &[u8]) -> Result<(), Lost> {
        self.used = Instant::now();
        self.replica.traffic.sent.fetch_add(frame.len() as u64, Ordering::Relaxed);
        self.frames.write(frame)?;
        self.open += 1;
        Ok(())
    }

    /// Sends a message that has no answer. Returns whether that succeeded.
    pub fn tell(&mut self, frame: &[u8]) -> bool {
        self.replica.traffic.sent.fetch_add(frame.len() as u64, Ordering::Relaxed);
        self.frames.write(frame).is_ok()
    }

    /// Waits for the next answer; `None` if it does not arrive in time.
    pub fn wait(&mut self, until: Instant) -> Result<Option<Vec<u8>>, Lost> {
        let read = self.frames.read(ANSWER_BYTES_MAX, until)?;
        if let Some(bytes) = &read {
            self.open -= 1;
            self.replica.traffic.received.fetch_add((HEAD_BYTES + bytes.len()) as u64, Ordering::Relaxed);
        }
        Ok(read)
    }

    /// Sends a question and waits for its answer.
    ///
    /// # Errors
    /// When it does not arrive in time.
    pub fn ask(&mut self, frame: &[u8], until: Instant) -> Result<Vec<u8>, Lost> {
        self.send(frame)?;
        self.wait(until)?.ok_or(Lost::Late)
    }
}

/// Decodes the answer in a frame.
///
/// # Errors
/// When the frame is invalid or contains a failure.
pub fn answered<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Lost> {
    let read = message::<Result<T, WireFailure>>(bytes);
    read.map_err(|error| Lost::Nonsense(error.to_string()))?.map_err(Lost::Failed)
}
