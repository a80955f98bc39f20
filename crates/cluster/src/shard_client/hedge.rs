//! Asks a replica a question, and further ones if it is slow or fails.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::{Frame, ShardClient};
use crate::message::{Begun, WireFailure};
use crate::replica::{Connection, Lost, Replica, ReplicaTimeouts, answered};

/// How long each source of an answer is polled.
const STEP: Duration = Duration::from_millis(2);

/// The connection of a replica, and its answer to the last question.
type Run = Result<(Connection, Vec<u8>), Lost>;

/// What background threads report.
enum HedgeEvent {
    /// The result of a rival.
    Ran(Arc<Replica>, Run),
    /// Whether the replica in use answers a greeting.
    Greeted(Result<(), Lost>),
}

/// A question that is put to one replica after another until one answers.
pub struct Hedge<'r> {
    client: &'r ShardClient,
    /// The connection in use, on which the question was sent.
    connection: Option<Connection>,
    frames: Arc<Vec<Frame>>,
    generation: Option<u64>,
    rivals: Vec<Arc<Replica>>,
    /// Rivals in progress.
    running: Vec<Arc<Replica>>,
    /// True once one of them has sent something.
    is_heard: Arc<AtomicBool>,
    from_beside: Receiver<HedgeEvent>,
    to_here: Sender<HedgeEvent>,
    /// When the question was sent.
    pub started: Instant,
    /// When the next rival starts.
    next: Instant,
    /// When to greet the replica in use, to find out whether it hangs; `None` while a greeting is in progress.
    greet_at: Option<Instant>,
    /// Delay before another replica is asked too.
    patience: Duration,
    why: Option<Lost>,
}

impl<'r> Hedge<'r> {
    /// Sends a question on the connection in use. `past` has the questions that another replica needs to see first.
    pub fn new(
        client: &'r ShardClient,
        connection: Option<Connection>,
        past: impl Iterator<Item = Frame>,
        frame: &Frame,
    ) -> Hedge<'r> {
        let frames: Arc<Vec<Frame>> = Arc::new(past.chain([Arc::clone(frame)]).collect());
        let generation = (frames.len() > 1).then_some(client.begun.generation);
        let in_use = connection.as_ref().map(|connection| connection.replica.address.clone());
        let mut rivals = client.replicas.in_turn();
        rivals.retain(|rival| Some(&rival.address) != in_use.as_ref());
        rivals.reverse();
        let (to_here, from_beside) = channel();
        let started = Instant::now();
        let patience = client.replicas.patience(client.patience.first, client.patience.hedge.clone());
        let mut hedge = Hedge {
            client,
            connection: None,
            frames,
            generation,
            rivals,
            running: Vec::new(),
            is_heard: Arc::default(),
            from_beside,
            to_here,
            started,
            next: started,
            greet_at: Some(started + client.patience.first),
            patience,
            why: None,
        };
        if let Some(mut connection) = connection {
            match connection.send(frame) {
                Ok(()) => (hedge.connection, hedge.next) = (Some(connection), started + patience),
                Err(lost) => hedge.lost(&connection.replica, lost),
            }
        }
        hedge
    }

    fn lost(&mut self, replica: &Arc<Replica>, lost: Lost) {
        if !matches!(lost, Lost::OtherGeneration | Lost::Failed(WireFailure::Request(_) | WireFailure::Full)) {
            replica.failed(&lost);
        }
        self.why = Some(lost);
    }

    /// Waits for the first answer, and starts rivals when it is late.
    pub fn run(&mut self) -> Run {
        let end = self.started + self.client.patience.answer;
        // Bounds the wait for greetings, even if all replicas hang.
        let greeted = self.started + 2 * self.client.patience.connect;
        loop {
            let is_due = self.connection.is_none() && self.running.is_empty();
            if is_due || Instant::now() >= self.next {
                let is_started = self.start();
                if is_due && !is_started {
                    break;
                }
            }
            let is_silent = || self.connection.is_none() && !self.is_heard.load(Ordering::Acquire);
            if Instant::now() >= end || (Instant::now() >= greeted && is_silent()) {
                let asked = self.connection.take().map(|connection| Arc::clone(&connection.replica));
                for replica in std::mem::take(&mut self.running).into_iter().chain(asked) {
                    self.lost(&replica, Lost::Late);
                }
                break;
            }
            if self.connection.is_some() && self.greet_at.is_some_and(|greet_at| Instant::now() >= greet_at) {
                self.greet();
            }
            if let Some(won) = self.waited(end) {
                return Ok(won);
            }
        }
        Err(self.why.take().unwrap_or(Lost::Late))
    }

    /// Polls the connection in use and the rivals.
    fn waited(&mut self, end: Instant) -> Option<(Connection, Vec<u8>)> {
        let is_told = !self.running.is_empty() || self.greet_at.is_none();
        let until = if is_told { Instant::now() + STEP } else { self.next.min(self.greet_at.unwrap_or(end)) }.min(end);
        if let Some(mut connection) = self.connection.take() {
            match connection.wait(until).and_then(|bytes| bytes.map(checked).transpose()) {
                Ok(Some(bytes)) => return Some((connection, bytes)),
                Ok(None) => self.connection = Some(connection),
                Err(lost) => self.lost(&Arc::clone(&connection.replica), lost),
            }
        }
        let patience = match self.connection {
            Some(_) => Duration::ZERO,
            None => self.next.min(end).saturating_duration_since(Instant::now()).max(STEP),
        };
        match self.from_beside.recv_timeout(patience) {
            Ok(HedgeEvent::Ran(_, Ok(won))) => {
                if let Some(connection) = &self.connection {
                    connection.replica.overtaken();
                }
                Some(won)
            }
            Ok(HedgeEvent::Ran(rival, Err(lost))) => {
                self.running.retain(|one| !Arc::ptr_eq(one, &rival));
                self.lost(&rival, lost);
                None
            }
            Ok(HedgeEvent::Greeted(Ok(()))) => {
                self.greet_at = Some(Instant::now() + self.client.patience.connect);
                None
            }
            Ok(HedgeEvent::Greeted(Err(lost))) => {
                if let Some(connection) = self.connection.take() {
                    self.lost(&Arc::clone(&connection.replica), lost);
                }
                None
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Greets the replica in use on another connection, in a thread. A replica that is busy with a question answers,
    /// one that hangs does not.
    fn greet(&mut self) {
        let Some(replica) = self.connection.as_ref().map(|connection| Arc::clone(&connection.replica)) else { return };
        self.greet_at = None;
        let (until, to_here) = (Instant::now() + self.client.patience.connect, self.to_here.clone());
        let work = move || drop(to_here.send(HedgeEvent::Greeted(replica.greet(until))));
        if std::thread::Builder::new().name("greets".into()).spawn(work).is_err() {
            self.greet_at = Some(until);
        }
    }

    /// Starts the next rival in a thread. Returns whether there is one.
    fn start(&mut self) -> bool {
        // If it fails at once, the next one starts without delay.
        self.next = Instant::now() + self.patience;
        let rival = loop {
            match self.rivals.pop() {
                None => return false,
                Some(rival) => match rival.why_closed() {
                    None => break rival,
                    Some(why) => drop(self.why.get_or_insert(Lost::Gone(io::Error::other(why)))),
                },
            }
        };
        if self.connection.is_some() || !self.running.is_empty() {
            self.client.replicas.hedges.fetch_add(1, Ordering::Relaxed);
        }
        let patience = self.client.patience.clone();
        let until = Instant::now() + patience.answer;
        let run = Rival {
            replica: Arc::clone(&rival),
            frames: Arc::clone(&self.frames),
            generation: self.generation,
            patience,
            until,
            is_heard: Arc::clone(&self.is_heard),
        };
        let (asked, to_here) = (Arc::clone(&rival), self.to_here.clone());
        // If another one was faster, nobody receives this.
        let work = move || drop(to_here.send(HedgeEvent::Ran(asked, run.run())));
        match std::thread::Builder::new().name("rival".into()).spawn(work) {
            Ok(_) => self.running.push(rival),
            Err(error) => self.lost(&rival, error.into()),
        }
        true
    }
}

/// Checks that a frame contains an answer rather than a failure.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, Lost> {
    match bytes.first() {
        Some(0) => Ok(bytes),
        _ => Err(answered::<()>(&bytes).err().unwrap_or_else(|| io::Error::from(io::ErrorKind::InvalidData).into())),
    }
}

/// A replica that is asked in parallel.
struct Rival {
    replica: Arc<Replica>,
    frames: Arc<Vec<Frame>>,
    generation: Option<u64>,
    patience: ReplicaTimeouts,
    until: Instant,
    is_heard: Arc<AtomicBool>,
}

impl Rival {
    /// Asks all questions in order, and returns the answer to the last one.
    fn run(&self) -> Run {
        let Some((begin, rest)) = self.frames.split_first() else { return Err(Lost::Late) };
        // The server may have closed a pooled connection.
        let kept = self.replica.take().map(|mut connection| (self.ask(&mut connection, begin), connection));
        let (mut connection, bytes) = match kept {
            Some((Ok(bytes), connection)) => (connection, bytes),
            Some((Err(Lost::Late), _)) => return Err(Lost::Late),
            Some((Err(_), _)) | None => {
                let mut connection = Connection::open(&self.replica, Instant::now() + self.patience.connect)?;
                self.is_heard.store(true, Ordering::Release);
                let bytes = self.ask(&mut connection, begin)?;
                (connection, bytes)
            }
        };
        let mut last = checked(bytes)?;
        if let Some(generation) = self.generation {
            let begun: Begun = answered(&last)?;
            if begun.generation != generation {
                return Err(Lost::OtherGeneration);
            }
        }
        for frame in rest {
            last = checked(self.ask(&mut connection, frame)?)?;
        }
        Ok((connection, last))
    }

    /// Asks a question and waits for its answer, as long as the replica answers greetings.
    fn ask(&self, connection: &mut Connection, frame: &[u8]) -> Result<Vec<u8>, Lost> {
        connection.send(frame)?;
        let mut greet_at = Instant::now() + self.patience.first;
        loop {
            if let Some(bytes) = connection.wait(greet_at.min(self.until))? {
                self.is_heard.store(true, Ordering::Release);
                return Ok(bytes);
            }
            if Instant::now() >= self.until {
                return Err(Lost::Late);
            }
            self.replica.greet(Instant::now() + self.patience.connect)?;
            self.is_heard.store(true, Ordering::Release);
            greet_at = Instant::now() + self.patience.connect;
        }
    }
}
