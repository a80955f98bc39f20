//! One question put to a replica, and to others where that is late or gone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::{Frame, Remote};
use crate::message::{Begun, Failure};
use crate::replica::{Lane, Lost, Patience, Replica, answered};

/// How long one end of a race is waited for at a time.
const STEP: Duration = Duration::from_millis(2);

/// What a replica gave: the connection, and the answer to the last question.
type Run = Result<(Lane, Vec<u8>), Lost>;

/// What threads beside a race tell it.
enum Told {
    /// What a rival gave.
    Ran(Arc<Replica>, Run),
    /// Whether the replica in use answers a greeting.
    Greeted(Result<(), Lost>),
}

/// One question, asked of one replica after the other until one answers.
pub struct Race<'r> {
    remote: &'r Remote,
    /// The connection in use, on which the question is open.
    lane: Option<Lane>,
    frames: Arc<Vec<Frame>>,
    generation: Option<u64>,
    rivals: Vec<Arc<Replica>>,
    /// Rivals that are being asked.
    running: Vec<Arc<Replica>>,
    /// Whether one of them said anything.
    is_heard: Arc<AtomicBool>,
    from_beside: Receiver<Told>,
    to_here: Sender<Told>,
    /// When it was asked.
    pub started: Instant,
    /// When the next rival is asked.
    next: Instant,
    /// When the replica in use is greeted, to learn whether it hangs; none while that is going on.
    look: Option<Instant>,
    /// How long a replica has before another one is asked too.
    patience: Duration,
    why: Option<Lost>,
}

impl<'r> Race<'r> {
    /// Asks a question on the connection in use; `past` is what another replica has to be asked before.
    pub fn new(remote: &'r Remote, lane: Option<Lane>, past: impl Iterator<Item = Frame>, frame: &Frame) -> Race<'r> {
        let frames: Arc<Vec<Frame>> = Arc::new(past.chain([Arc::clone(frame)]).collect());
        let generation = (frames.len() > 1).then_some(remote.begun.generation);
        let in_use = lane.as_ref().map(|lane| lane.replica.address.clone());
        let mut rivals = remote.replicas.in_turn();
        rivals.retain(|rival| Some(&rival.address) != in_use.as_ref());
        rivals.reverse();
        let (to_here, from_beside) = channel();
        let started = Instant::now();
        let patience = remote.replicas.patience(remote.patience.first, remote.patience.hedge.clone());
        let mut race = Race {
            remote,
            lane: None,
            frames,
            generation,
            rivals,
            running: Vec::new(),
            is_heard: Arc::default(),
            from_beside,
            to_here,
            started,
            next: started,
            look: Some(started + remote.patience.first),
            patience,
            why: None,
        };
        if let Some(mut lane) = lane {
            match lane.send(frame) {
                Ok(()) => (race.lane, race.next) = (Some(lane), started + patience),
                Err(lost) => race.lost(&lane.replica, lost),
            }
        }
        race
    }

    fn lost(&mut self, replica: &Arc<Replica>, lost: Lost) {
        if !matches!(lost, Lost::OtherGeneration | Lost::Failed(Failure::Request(_) | Failure::Full)) {
            replica.failed(&lost);
        }
        self.why = Some(lost);
    }

    /// Waits for the first answer, and asks further replicas as it gets late.
    ///
    /// # Errors
    /// When no replica answers.
    pub fn run(&mut self) -> Run {
        let end = self.started + self.remote.patience.answer;
        // Nobody has so many replicas that hang that a search waits longer for a greeting.
        let greeted = self.started + 2 * self.remote.patience.connect;
        loop {
            if let Some(Lost::Failed(Failure::Request(_))) = &self.why {
                break;
            }
            let is_due = self.lane.is_none() && self.running.is_empty();
            if is_due || Instant::now() >= self.next {
                let is_started = self.start();
                if is_due && !is_started {
                    break;
                }
            }
            let is_silent = || self.lane.is_none() && !self.is_heard.load(Ordering::Acquire);
            if Instant::now() >= end || (Instant::now() >= greeted && is_silent()) {
                let asked = self.lane.take().map(|lane| Arc::clone(&lane.replica));
                for replica in std::mem::take(&mut self.running).into_iter().chain(asked) {
                    self.lost(&replica, Lost::Late);
                }
                break;
            }
            if self.lane.is_some() && self.look.is_some_and(|look| Instant::now() >= look) {
                self.greet();
            }
            if let Some(won) = self.waited(end) {
                return Ok(won);
            }
        }
        Err(self.why.take().unwrap_or(Lost::Late))
    }

    /// Waits a while for the connection in use and for rivals.
    fn waited(&mut self, end: Instant) -> Option<(Lane, Vec<u8>)> {
        let is_told = !self.running.is_empty() || self.look.is_none();
        let until = if is_told { Instant::now() + STEP } else { self.next.min(self.look.unwrap_or(end)) }.min(end);
        if let Some(mut lane) = self.lane.take() {
            match lane.wait(until).and_then(|bytes| bytes.map(checked).transpose()) {
                Ok(Some(bytes)) => return Some((lane, bytes)),
                Ok(None) => self.lane = Some(lane),
                Err(lost) => self.lost(&Arc::clone(&lane.replica), lost),
            }
        }
        let patience = match self.lane {
            Some(_) => Duration::ZERO,
            None => self.next.min(end).saturating_duration_since(Instant::now()).max(STEP),
        };
        match self.from_beside.recv_timeout(patience) {
            Ok(Told::Ran(_, Ok(won))) => {
                if let Some(lane) = &self.lane {
                    lane.replica.overtaken();
                }
                Some(won)
            }
            Ok(Told::Ran(rival, Err(lost))) => {
                self.running.retain(|one| !Arc::ptr_eq(one, &rival));
                self.lost(&rival, lost);
                None
            }
            Ok(Told::Greeted(Ok(()))) => {
                self.look = Some(Instant::now() + self.remote.patience.connect);
                None
            }
            Ok(Told::Greeted(Err(lost))) => {
                if let Some(lane) = self.lane.take() {
                    self.lost(&Arc::clone(&lane.replica), lost);
                }
                None
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Greets the replica in use on another connection, in a thread of its own: one that works on a question answers that,
    /// one that hangs does not.
    fn greet(&mut self) {
        let Some(replica) = self.lane.as_ref().map(|lane| Arc::clone(&lane.replica)) else { return };
        self.look = None;
        let (until, to_here) = (Instant::now() + self.remote.patience.connect, self.to_here.clone());
        let work = move || drop(to_here.send(Told::Greeted(replica.greet(until))));
        if std::thread::Builder::new().name("greets".into()).spawn(work).is_err() {
            self.look = Some(until);
        }
    }

    /// Asks the next rival, in a thread of its own. Whether there is one.
    fn start(&mut self) -> bool {
        // Where it answers at once, no other one is needed.
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
        let patience = self.remote.patience.clone();
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
        // If another one was faster, nobody wants it.
        let work = move || drop(to_here.send(Told::Ran(asked, run.run())));
        match std::thread::Builder::new().name("rival".into()).spawn(work) {
            Ok(_) => self.running.push(rival),
            Err(error) => self.lost(&rival, error.into()),
        }
        true
    }
}

/// An answer that is one.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, Lost> {
    match bytes.first() {
        Some(0) => Ok(bytes),
        _ => Err(answered::<()>(&bytes).err().unwrap_or_else(|| io::Error::from(io::ErrorKind::InvalidData).into())),
    }
}

/// A replica that is asked beside others.
struct Rival {
    replica: Arc<Replica>,
    frames: Arc<Vec<Frame>>,
    generation: Option<u64>,
    patience: Patience,
    until: Instant,
    is_heard: Arc<AtomicBool>,
}

impl Rival {
    /// Asks one question after the other, and gives the answer to the last.
    fn run(&self) -> Run {
        let Some((begin, rest)) = self.frames.split_first() else { return Err(Lost::Late) };
        // A connection that was kept may have been closed meanwhile.
        let kept = self.replica.take().map(|mut lane| (self.ask(&mut lane, begin), lane));
        let (mut lane, bytes) = match kept {
            Some((Ok(bytes), lane)) => (lane, bytes),
            Some((Err(Lost::Late), _)) => return Err(Lost::Late),
            Some((Err(_), _)) | None => {
                let mut lane = Lane::open(&self.replica, Instant::now() + self.patience.connect)?;
                self.is_heard.store(true, Ordering::Release);
                let bytes = self.ask(&mut lane, begin)?;
                (lane, bytes)
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
            last = checked(self.ask(&mut lane, frame)?)?;
        }
        Ok((lane, last))
    }

    /// Asks a question and waits for its answer, as long as the replica answers greetings meanwhile.
    fn ask(&self, lane: &mut Lane, frame: &[u8]) -> Result<Vec<u8>, Lost> {
        lane.send(frame)?;
        let mut look = Instant::now() + self.patience.first;
        loop {
            if let Some(bytes) = lane.wait(look.min(self.until))? {
                self.is_heard.store(true, Ordering::Release);
                return Ok(bytes);
            }
            if Instant::now() >= self.until {
                return Err(Lost::Late);
            }
            self.replica.greet(Instant::now() + self.patience.connect)?;
            self.is_heard.store(true, Ordering::Release);
            look = Instant::now() + self.patience.connect;
        }
    }
}
