//! One question put to a replica, and to others where that is late or gone.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::{Frame, Remote};
use crate::message::{Begun, Failure};
use crate::replica::{Lane, Lost, Replica, answered};

/// How long one end of a race is waited for at a time.
const STEP: Duration = Duration::from_millis(2);

/// What a replica gave: the connection, and the answer to the last question.
type Run = Result<(Lane, Vec<u8>), Lost>;

/// One question, asked of one replica after the other until one answers.
pub struct Race<'r> {
    remote: &'r Remote,
    /// The connection in use, on which the question is open.
    lane: Option<Lane>,
    frames: Arc<Vec<Frame>>,
    generation: Option<u64>,
    rivals: Vec<Arc<Replica>>,
    /// Rivals that are being asked.
    running: usize,
    from_rivals: Receiver<(Arc<Replica>, Run)>,
    to_here: Sender<(Arc<Replica>, Run)>,
    /// When it was asked.
    pub started: Instant,
    /// When the next rival is asked.
    next: Instant,
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
        let (to_here, from_rivals) = channel();
        let started = Instant::now();
        let patience = remote.replicas.patience(remote.patience.first, remote.patience.hedge.clone());
        let mut race = Race {
            remote,
            lane: None,
            frames,
            generation,
            rivals,
            running: 0,
            from_rivals,
            to_here,
            started,
            next: started,
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

    fn lost(&mut self, replica: &Replica, lost: Lost) {
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
        loop {
            if let Some(Lost::Failed(Failure::Request(_))) = &self.why {
                break;
            }
            let is_due = self.lane.is_none() && self.running == 0;
            if is_due || Instant::now() >= self.next {
                let is_started = self.start();
                if is_due && !is_started {
                    break;
                }
            }
            if Instant::now() >= end {
                if let Some(lane) = self.lane.take() {
                    self.lost(&Arc::clone(&lane.replica), Lost::Late);
                }
                break;
            }
            if let Some(won) = self.waited(end) {
                return Ok(won);
            }
        }
        Err(self.why.take().unwrap_or(Lost::Late))
    }

    /// Waits a while for the connection in use and for rivals.
    fn waited(&mut self, end: Instant) -> Option<(Lane, Vec<u8>)> {
        let until = if self.running > 0 { Instant::now() + STEP } else { self.next }.min(end);
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
        match self.from_rivals.recv_timeout(patience) {
            Ok((_, Ok(won))) => {
                if let Some(lane) = &self.lane {
                    lane.replica.overtaken();
                }
                Some(won)
            }
            Ok((rival, Err(lost))) => {
                self.running -= 1;
                self.lost(&rival, lost);
                None
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Asks the next rival, in a thread of its own. Whether there is one.
    fn start(&mut self) -> bool {
        // Where it answers at once, no other one is needed.
        self.next = Instant::now() + self.patience;
        let rival = loop {
            match self.rivals.pop() {
                None => return false,
                Some(rival) if rival.may_be_tried() => break rival,
                Some(rival) => {
                    let why = rival.why_closed().unwrap_or_default();
                    self.why.get_or_insert(Lost::Gone(io::Error::other(why)));
                }
            }
        };
        let (frames, generation, to_here) = (Arc::clone(&self.frames), self.generation, self.to_here.clone());
        let now = Instant::now();
        let (greeted, until) = (now + self.remote.patience.connect, now + self.remote.patience.answer);
        let asked = Arc::clone(&rival);
        let work = move || {
            let run = run(&asked, &frames, generation, greeted, until);
            // If another one was faster, nobody wants it.
            let _ = to_here.send((asked, run));
        };
        match std::thread::Builder::new().name("rival".into()).spawn(work) {
            Ok(_) => self.running += 1,
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

/// Asks a replica one question after the other, and gives the answer to the last.
fn run(replica: &Arc<Replica>, frames: &[Frame], generation: Option<u64>, greeted: Instant, until: Instant) -> Run {
    let Some((begin, rest)) = frames.split_first() else { return Err(Lost::Late) };
    // A connection that was kept may have been closed meanwhile.
    let kept = replica.take().and_then(|mut lane| lane.ask(begin, until).ok().map(|bytes| (lane, bytes)));
    let (mut lane, bytes) = match kept {
        Some(kept) => kept,
        None => {
            let mut lane = Lane::open(replica, greeted)?;
            let bytes = lane.ask(begin, until)?;
            (lane, bytes)
        }
    };
    let mut last = checked(bytes)?;
    if let Some(generation) = generation {
        let begun: Begun = answered(&last)?;
        if begun.generation != generation {
            return Err(Lost::OtherGeneration);
        }
    }
    for frame in rest {
        last = checked(lane.ask(frame, until)?)?;
    }
    Ok((lane, last))
}
