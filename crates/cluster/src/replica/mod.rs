//! Replicas: pooled connections, response times, and which ones are avoided for a while.

mod connection;

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

pub use connection::{Connection, Lost, answered};

use crate::message::{Welcome, WireFailure};
use crate::tokens::AccessTokens;

/// Maximum number and age of pooled connections. Servers close idle ones later.
const IDLE_MAX: usize = 16;
const IDLE: Duration = Duration::from_secs(30);
/// How often a failed replica is greeted, and how long an overtaken one comes last.
const REST: Duration = Duration::from_secs(2);
/// Timeout of such a greeting. No search waits for it.
const GREETING: Duration = Duration::from_secs(2);
/// Number of response times that are remembered.
const TIMES: usize = 256;
/// Minimum number of response times for an estimate.
const TIMES_MIN: usize = 20;

#[derive(Clone, Debug)]
pub struct ReplicaTimeouts {
    /// Timeout of a connection and its greeting.
    pub connect: Duration,
    /// Delay before another replica is asked too, until the shard's response times are known.
    pub first: Duration,
    /// Bounds of that delay afterwards: twice the 95th percentile of the response times.
    pub hedge: RangeInclusive<Duration>,
    pub answer: Duration,
}

impl Default for ReplicaTimeouts {
    fn default() -> ReplicaTimeouts {
        ReplicaTimeouts {
            connect: Duration::from_millis(1_000),
            first: Duration::from_millis(400),
            hedge: Duration::from_millis(30)..=Duration::from_millis(1_000),
            answer: Duration::from_secs(10),
        }
    }
}

/// Bytes sent and received.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Bytes to the replica.
    pub sent: AtomicU64,
    /// Bytes from the replica.
    pub received: AtomicU64,
}

/// A process that serves a shard.
#[derive(Debug)]
pub struct Replica {
    /// Host and port.
    pub address: String,
    /// The tokens of all replicas, if they expect any.
    tokens: Option<Arc<AccessTokens>>,
    /// Bytes sent and received.
    pub traffic: Traffic,
    idle: Mutex<Vec<Connection>>,
    health: Mutex<Health>,
    /// The answer to the last greeting.
    said: Mutex<Option<Arc<Welcome>>>,
}

#[derive(Debug, Default)]
struct Health {
    /// Why searches avoid it, if they do.
    closed: Option<String>,
    /// True while a thread greets it until it answers.
    is_greeted: bool,
    /// Until when other replicas come first.
    late: Option<Instant>,
}

impl Replica {
    /// A replica without history.
    pub fn new(address: String, tokens: Option<Arc<AccessTokens>>) -> Replica {
        let (traffic, idle, health, said) = Default::default();
        Replica { address, tokens, traffic, idle, health, said }
    }

    /// The tokens that it may expect; none if it expects none.
    pub fn tokens(&self) -> Vec<String> {
        self.tokens.as_ref().map(|tokens| tokens.of(&self.address)).unwrap_or_default()
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a pooled connection.
    pub fn take(&self) -> Option<Connection> {
        let mut idle = self.idle();
        idle.retain(|connection| connection.used.elapsed() < IDLE);
        idle.pop()
    }

    /// Pools a connection without open questions.
    pub fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        if connection.open == 0 && idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// Records a failure. Searches avoid the replica until it answers a greeting, which is repeated in the background.
    pub fn failed(self: &Arc<Replica>, why: &Lost) {
        self.idle().clear();
        let mut health = self.health();
        health.closed = Some(why.to_string());
        if !std::mem::replace(&mut health.is_greeted, true) {
            let (replica, is_gone) = (Arc::downgrade(self), matches!(why, Lost::Gone(_)));
            let work = move || greet_again(&replica, is_gone);
            let spawned = std::thread::Builder::new().name("greets".into()).spawn(work);
            if spawned.is_err() {
                // Without a thread, the next search finds out.
                (health.closed, health.is_greeted) = (None, false);
            }
        }
    }

    /// Replaces the reason if searches already avoid the replica.
    pub fn still(&self, why: &Lost) {
        let mut health = self.health();
        health.closed = health.closed.take().map(|_| why.to_string());
    }

    /// Greets the replica on a new connection, which is pooled.
    ///
    /// # Errors
    /// When it does not answer in time, or refuses.
    pub fn greet(self: &Arc<Replica>, until: Instant) -> Result<(), Lost> {
        match Connection::open(self, until) {
            // A replica that says so is alive.
            Err(Lost::Failed(WireFailure::Full)) => Ok(()),
            connection => connection.map(|connection| self.keep(connection)),
        }
    }

    /// Records that another replica was faster: this one comes last for a while.
    pub fn overtaken(&self) {
        self.health().late = Some(Instant::now() + REST);
    }

    /// Records an answer.
    pub fn answered(&self) {
        self.health().closed = None;
    }

    /// The answer to the last greeting; `None` before the first.
    pub fn said(&self) -> Option<Arc<Welcome>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the answer to a greeting.
    fn says(&self, welcome: Arc<Welcome>) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(welcome);
    }

    /// Why searches avoid it, if they do.
    pub fn why_closed(&self) -> Option<String> {
        self.health().closed.clone()
    }

    fn is_late(&self) -> bool {
        self.health().late.is_some_and(|until| until > Instant::now())
    }
}

/// Greets a failed replica until it answers or is dropped. If the connection was lost, the first greeting follows at
/// once, since its error is the better reason: that the connection is refused, for example.
fn greet_again(replica: &Weak<Replica>, is_gone: bool) {
    let begun = Instant::now();
    if is_gone
        && let Some(replica) = replica.upgrade()
        && let Err(lost) = replica.greet(begun + REST)
    {
        replica.still(&lost);
    }
    std::thread::sleep(REST.saturating_sub(begun.elapsed()));
    let mut is_first = true;
    loop {
        if !std::mem::take(&mut is_first) {
            std::thread::sleep(REST);
        }
        let Some(replica) = replica.upgrade() else { return };
        let greeted = replica.greet(Instant::now() + GREETING);
        let mut health = replica.health();
        match greeted {
            Err(lost) if health.closed.is_some() => health.closed = Some(lost.to_string()),
            _ => {
                (health.closed, health.is_greeted) = (None, false);
                return;
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionTraffic {
    /// Number of questions.
    pub asked: u64,
    /// Bytes of the questions.
    pub sent: u64,
    /// Bytes of the answers.
    pub received: u64,
}

impl QuestionTraffic {
    pub fn add(&mut self, other: &QuestionTraffic) {
        self.asked += other.asked;
        self.sent += other.sent;
        self.received += other.received;
    }
}

#[derive(Debug)]
pub struct Replicas {
    pub all: Vec<Arc<Replica>>,
    /// Traffic by kind of question, for answers that were used.
    spent: Mutex<BTreeMap<&'static str, QuestionTraffic>>,
    /// Questions that were put to another replica too, since one was slow or failed.
    pub hedges: AtomicU64,
    next: AtomicUsize,
    times: Mutex<VecDeque<Duration>>,
}

impl Replicas {
    /// Groups the replicas of a shard.
    pub fn new(all: Vec<Arc<Replica>>) -> Replicas {
        let (spent, times) = (Mutex::default(), Mutex::default());
        Replicas { all, spent, hedges: AtomicU64::new(0), next: AtomicUsize::new(0), times }
    }

    /// Records the traffic of a question.
    pub fn spent(&self, kind: &'static str, sent: usize, received: usize) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.entry(kind).or_default().add(&QuestionTraffic { asked: 1, sent: sent as u64, received: received as u64 });
    }

    pub fn by_kind(&self) -> BTreeMap<&'static str, QuestionTraffic> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Greets unknown replicas in parallel, if there are several, to learn which serves most repositories. Waits until
    /// all have answered, but at most `first`.
    pub fn greet(&self, first: Duration, connect: Duration) {
        let unknown: Vec<&Arc<Replica>> =
            self.all.iter().filter(|one| one.said().is_none() && one.why_closed().is_none()).collect();
        if self.all.len() < 2 || unknown.is_empty() {
            return;
        }
        let (until, (to_here, greeted)) = (Instant::now() + connect, channel());
        for replica in unknown {
            let (replica, to_here) = (Arc::clone(replica), to_here.clone());
            let work = move || {
                if let Err(lost) = replica.greet(until) {
                    replica.failed(&lost);
                }
                drop(to_here);
            };
            // Without a thread, the replica becomes known when it is asked.
            let _ = std::thread::Builder::new().name("greets".into()).spawn(work);
        }
        drop(to_here);
        // Nothing is sent: the channel closes when the last thread ends.
        let _: Result<(), _> = greeted.recv_timeout(first);
    }

    /// The replicas in the order in which to try them: those with the most repositories first, among these round-robin,
    /// and overtaken ones last.
    pub fn in_turn(&self) -> Vec<Arc<Replica>> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all: Vec<Arc<Replica>> =
            (0..self.all.len()).map(|at| Arc::clone(&self.all[(first + at) % self.all.len()])).collect();
        let served = |replica: &Arc<Replica>| replica.said().map_or(0, |said| said.repositories.len());
        all.sort_by_cached_key(|replica| (Reverse(served(replica)), replica.is_late()));
        all
    }

    /// Records a response time.
    pub fn took(&self, time: Duration) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() == TIMES {
            times.pop_front();
        }
        times.push_back(time);
    }

    /// Delay before another replica is asked too: twice the 95th percentile of the response times.
    pub fn patience(&self, first: Duration, within: RangeInclusive<Duration>) -> Duration {
        let mut times: Vec<Duration> =
            self.times.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        if times.len() < TIMES_MIN {
            return first;
        }
        let at = times.len() * 95 / 100;
        let (_, p95, _) = times.select_nth_unstable(at);
        (2 * *p95).clamp(*within.start(), *within.end())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;
    use crate::frame::framed;
    use crate::message::Challenge;

    fn replica(address: &str) -> Arc<Replica> {
        Arc::new(Replica::new(address.into(), None))
    }

    #[test]
    fn a_replica_that_failed_is_left_alone_until_it_answers_a_greeting() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let one = replica(&listener.local_addr().expect("an address").to_string());
        assert_eq!(one.why_closed(), None);
        one.failed(&Lost::Late);
        assert_eq!(one.why_closed().as_deref(), Some("no answer in time"));
        // The first greeting is refused, the second one answered.
        let challenge = Challenge { nonce: [7; 32], proofs: Vec::new() };
        let challenge = framed(&Ok::<_, WireFailure>(challenge), 100).expect("a frame");
        let welcome = framed(&Ok::<_, WireFailure>(Welcome::default()), 100).expect("a frame");
        let refusal = framed(&Err::<Welcome, _>(WireFailure::Token), 100).expect("a frame");
        let mut stream = listener.accept().expect("a greeting").0;
        stream.write_all(&refusal).expect("written");
        let mut other = listener.accept().expect("a greeting").0;
        assert_eq!(one.why_closed().as_deref(), Some("the token is missing or wrong"));
        other.write_all(&[challenge, welcome].concat()).expect("written");
        while one.why_closed().is_some() {
            std::thread::yield_now();
        }
        assert!(one.take().is_some(), "the connection is kept");
    }

    #[test]
    fn the_last_failure_of_a_replica_is_why_it_is_left_alone() {
        let one = replica("127.0.0.1:1");
        let gone = |kind| Lost::Gone(std::io::Error::from(kind));
        one.still(&gone(std::io::ErrorKind::ConnectionRefused));
        assert_eq!(one.why_closed(), None, "it is not left alone");
        one.failed(&gone(std::io::ErrorKind::ConnectionReset));
        one.still(&Lost::Late);
        one.still(&gone(std::io::ErrorKind::ConnectionRefused));
        assert!(one.why_closed().is_some_and(|why| why.contains("refused")), "{:?}", one.why_closed());
    }

    #[test]
    fn replicas_take_turns_and_late_ones_come_last() {
        let all = Replicas::new(vec![replica("a:1"), replica("b:1"), replica("c:1")]);
        let order = || all.in_turn().iter().map(|one| one.address[..1].to_string()).collect::<String>();
        assert_eq!([order(), order(), order(), order()], ["abc", "bca", "cab", "abc"]);
        all.all[1].overtaken();
        assert_eq!([order(), order()], ["cab", "cab"]);
        let serves = |at: usize, names: &[&str]| {
            let repositories = names.iter().map(ToString::to_string).collect();
            all.all[at].says(Arc::new(Welcome { repositories, ..Welcome::default() }));
        };
        serves(0, &["x"]);
        serves(1, &["x", "y"]);
        serves(2, &["x"]);
        assert_eq!([order(), order()], ["bac", "bca"], "the fullest first");
    }

    #[test]
    fn patience_follows_the_times() {
        let all = Replicas::new(vec![replica("a:1")]);
        let ms = Duration::from_millis;
        let patience = || all.patience(ms(400), ms(20)..=ms(1_000));
        (0..19).for_each(|_| all.took(ms(10)));
        assert_eq!(patience(), ms(400), "too few");
        (0..81).for_each(|_| all.took(ms(10)));
        assert_eq!(patience(), ms(20));
        (0..10).for_each(|_| all.took(ms(60)));
        assert_eq!(patience(), ms(120));
        (0..100).for_each(|_| all.took(ms(5_000)));
        assert_eq!(patience(), ms(1_000));
    }
}
