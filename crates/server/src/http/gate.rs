//! How much is under way at once: requests at work, requests that wait, and answers that nobody has read yet.

use core::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use colgrep_cluster::oldest_of_most;
use http_body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::guard::CallerKey;
use super::problem::Problem;
use super::turns::{RequestTurn, TurnQueue};

/// Maximum number of requests that wait for their turn.
pub const WAITING_MAX: usize = 64;
pub const CONNECTIONS_MAX: usize = 256;
/// Connections beyond those, which are asked about the server's health alone; more wait in the system's queue.
const SPARE_MAX: usize = 16;
/// Answers on their way to clients, all together, in KiB.
const UNREAD_KIB_MAX: usize = 64 << 10;
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// An answer goes out in pieces of this many bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Time in which a connection ends that makes room for another one.
const LEAVING: Duration = Duration::from_millis(500);
/// Time in which a client has to read an answer.
const READING: Duration = Duration::from_secs(60);

/// Bounds of the requests under way.
pub struct Admission {
    /// The requests that wait or are at work.
    turns: Arc<TurnQueue>,
    /// Room for answers on their way, in KiB.
    unread: Arc<Semaphore>,
    connections: Arc<Semaphore>,
    /// Who has a whole place, the oldest first.
    guests: Mutex<Vec<Weak<Guest>>>,
    /// Room for connections beyond those.
    spare: Arc<Semaphore>,
}

/// A connection's place; given back when it is dropped.
#[derive(Debug)]
pub struct Seat {
    /// Whether there was room for it; beyond that, only health is asked about.
    pub is_whole: bool,
    pub guest: Arc<Guest>,
    _place: OwnedSemaphorePermit,
}

/// Who is at the other end of a connection.
#[derive(Debug)]
pub struct Guest {
    from: IpAddr,
    /// Whether it made a request that not everybody may make.
    is_known: AtomicBool,
    /// Requests whose answers are not read yet.
    requests: AtomicUsize,
    /// Whether it was asked to leave.
    is_asked: AtomicBool,
    leaves: Notify,
}

/// How much it costs a guest to leave, from little to much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuestState {
    /// Nobody knows whether it may ask anything.
    Stranger,
    /// It was answered, and asks nothing now.
    Idle,
    /// It waits for an answer, or reads one.
    Busy,
}

impl Guest {
    fn new(from: IpAddr) -> Arc<Guest> {
        let (is_known, requests, is_asked, leaves) = Default::default();
        Arc::new(Guest { from, is_known, requests, is_asked, leaves })
    }

    pub fn address(&self) -> IpAddr {
        self.from.to_canonical()
    }

    /// Remembers that it made a request that not everybody may make.
    pub fn is_let_in(&self) {
        self.is_known.store(true, Ordering::Release);
    }

    /// Counts a request until the guard is dropped.
    pub fn asks(self: &Arc<Guest>) -> GuestRequest {
        self.requests.fetch_add(1, Ordering::AcqRel);
        GuestRequest(Arc::clone(self))
    }

    fn state(&self) -> GuestState {
        match (self.is_known.load(Ordering::Acquire), self.requests.load(Ordering::Acquire)) {
            (false, _) => GuestState::Stranger,
            (true, 0) => GuestState::Idle,
            (true, _) => GuestState::Busy,
        }
    }

    /// Waits until somebody else needs its place. Returns whether it may go on with a request that arrives just now.
    pub async fn is_to_leave(&self) -> bool {
        self.leaves.notified().await;
        self.state() == GuestState::Idle
    }
}

/// A request of a guest; counted until it is dropped.
#[derive(Debug)]
pub struct GuestRequest(Arc<Guest>);

impl Drop for GuestRequest {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

impl GuestRequest {
    /// Counts the request until its answer's body is sent.
    pub fn until_sent(self, body: Body) -> Body {
        Body::new(AskedBody { body, _request: self })
    }
}

/// A body that keeps its request counted.
struct AskedBody {
    body: Body,
    _request: GuestRequest,
}

impl http_body::Body for AskedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is under way.
pub struct HttpLoad {
    pub working: usize,
    pub waiting: usize,
    /// Answers that clients have not read yet, in KiB.
    pub unread_kib: usize,
    pub connections: usize,
}

impl Admission {
    /// A gate that lets `at_once` requests work.
    pub fn new(at_once: usize) -> Admission {
        let room = |n| Arc::new(Semaphore::new(n));
        let (connections, spare) = (room(CONNECTIONS_MAX), room(SPARE_MAX));
        let (unread, guests) = (room(UNREAD_KIB_MAX), Mutex::default());
        Admission { turns: TurnQueue::new(at_once, WAITING_MAX), unread, connections, guests, spare }
    }

    /// Waits for a turn in the caller's queue.
    ///
    /// # Errors
    /// When too many requests are already waiting.
    pub async fn enter(&self, caller: &CallerKey) -> Result<RequestTurn, Problem> {
        self.turns.take(caller).await.ok_or_else(Problem::overloaded)
    }

    /// Waits until there is room for a connection from this address, or a spare place. Closes another connection if all
    /// places are taken, so that one client can't lock others out.
    pub async fn connect(&self, from: IpAddr) -> Option<Seat> {
        let whole = || Arc::clone(&self.connections).acquire_owned();
        let first = match Arc::clone(&self.connections).try_acquire_owned() {
            Ok(place) => Some(place),
            Err(_) if self.makes_room(from) => tokio::time::timeout(LEAVING, whole()).await.ok().transpose().ok()?,
            Err(_) => None,
        };
        let (is_whole, place) = match first {
            Some(place) => (true, place),
            None => tokio::select! {
                biased;
                place = whole() => (true, place.ok()?),
                place = Arc::clone(&self.spare).acquire_owned() => (false, place.ok()?),
            },
        };
        let guest = Guest::new(from);
        if is_whole {
            self.guests().push(Arc::downgrade(&guest));
        }
        Some(Seat { is_whole, guest, _place: place })
    }

    fn guests(&self) -> MutexGuard<'_, Vec<Weak<Guest>>> {
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.retain(|guest| guest.strong_count() > 0);
        guests
    }

    /// Asks a connection to close: an unauthenticated one, else one without a request, else any; each time the oldest of the
    /// machine that has most of them. No machine makes room for one that has more connections, and none gives up requests
    /// for one that has about as many. Returns whether there is one.
    fn makes_room(&self, from: IpAddr) -> bool {
        let all: Vec<Arc<Guest>> = self.guests().iter().filter_map(Weak::upgrade).collect();
        let count = |machine: IpAddr| all.iter().filter(|guest| guest.from == machine).count();
        let own = count(from);
        let oldest = |state: GuestState| {
            let least = own + if state == GuestState::Busy { 2 } else { 0 };
            let is_one = |guest: &&Arc<Guest>| {
                !guest.is_asked.load(Ordering::Acquire) && guest.state() == state && count(guest.from) >= least
            };
            let those: Vec<&Arc<Guest>> = all.iter().filter(is_one).collect();
            let machines: Vec<IpAddr> = those.iter().map(|guest| guest.from).collect();
            oldest_of_most(&machines).map(|at| those[at])
        };
        let found = [GuestState::Stranger, GuestState::Idle, GuestState::Busy].into_iter().find_map(oldest);
        found
            .inspect(|guest| guest.is_asked.store(true, Ordering::Release))
            .inspect(|guest| guest.leaves.notify_one())
            .is_some()
    }

    /// Waits until no connection is left.
    pub async fn emptied(&self) {
        let _ = self.connections.acquire_many(CONNECTIONS_MAX as u32).await;
        let _ = self.spare.acquire_many(SPARE_MAX as u32).await;
    }

    /// What is under way.
    pub fn load(&self) -> HttpLoad {
        let (working, waiting) = self.turns.counts();
        HttpLoad {
            working,
            waiting,
            unread_kib: UNREAD_KIB_MAX - self.unread.available_permits(),
            connections: CONNECTIONS_MAX - self.connections.available_permits(),
        }
    }

    /// An answer's body, which counts until the client has read it.
    ///
    /// # Errors
    /// When it is too long, or clients leave too many answers unread.
    pub fn body(&self, bytes: Vec<u8>) -> Result<Body, Problem> {
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(Problem::too_long(ANSWER_BYTES_MAX));
        }
        let kib = bytes.len().div_ceil(1 << 10).try_into().unwrap_or(u32::MAX);
        let room = Arc::clone(&self.unread).try_acquire_many_owned(kib).map_err(|_| Problem::overloaded())?;
        Ok(Body::new(HeldBody { bytes: bytes.into(), end: Instant::now() + READING, _room: room }))
    }
}

/// A body that keeps its memory reserved until its last piece is taken.
struct HeldBody {
    bytes: Bytes,
    end: Instant,
    _room: OwnedSemaphorePermit,
}

impl http_body::Body for HeldBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        if Instant::now() > self.end {
            return Poll::Ready(Some(Err(std::io::ErrorKind::TimedOut.into())));
        }
        let length = self.bytes.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.bytes.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(core::net::Ipv4Addr::LOCALHOST);

    fn blocked<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn as_many_work_as_may_and_the_rest_wait_or_are_sent_away() {
        blocked(async {
            let gate = Arc::new(Admission::new(2));
            let places = [
                gate.enter(&CallerKey::default()).await.expect("a place"),
                gate.enter(&CallerKey::default()).await.expect("a place"),
            ];
            let waiting: Vec<_> = (0..WAITING_MAX)
                .map(|_| {
                    tokio::spawn({
                        let gate = Arc::clone(&gate);
                        async move { gate.enter(&CallerKey::default()).await.map(drop) }
                    })
                })
                .collect();
            while gate.load().waiting != WAITING_MAX {
                tokio::task::yield_now().await;
            }
            let refused = gate.enter(&CallerKey::default()).await.expect_err("no place");
            assert_eq!((refused.status(), refused.retry_after()), (StatusCode::SERVICE_UNAVAILABLE, Some(1)));
            drop(places);
            for one in waiting {
                one.await.expect("a task").expect("a place in the end");
            }
            let load = gate.load();
            assert_eq!((load.working, load.waiting), (0, 0));
        });
    }

    #[test]
    fn beyond_the_last_connection_a_few_are_taken_for_a_moment() {
        blocked(async {
            let gate = Admission::new(1);
            let mut seats = Vec::new();
            for at in 0..CONNECTIONS_MAX + SPARE_MAX {
                let seat = gate.connect(HERE).await.expect("a seat");
                seat.guest.is_let_in();
                assert_eq!(seat.is_whole, at < CONNECTIONS_MAX, "{at}");
                seats.push((seat.guest.asks(), seat));
            }
            let waits = tokio::time::timeout(Duration::from_millis(10), gate.connect(HERE));
            assert!(waits.await.is_err(), "the next one waits");
            seats.remove(0);
            assert!(gate.connect(HERE).await.expect("a seat").is_whole);
        });
    }

    #[test]
    fn strangers_keep_nobody_out() {
        blocked(async {
            let gate = Arc::new(Admission::new(1));
            let honest = gate.connect(HERE).await.expect("a seat");
            honest.guest.is_let_in();
            for at in 0..3 * CONNECTIONS_MAX {
                let seat = gate.connect(HERE).await.expect("a seat");
                assert!(seat.is_whole, "{at}: an older stranger leaves");
                tokio::spawn(async move {
                    let seat = seat;
                    assert!(!seat.guest.is_to_leave().await, "it asked nothing that it may ask");
                });
                tokio::task::yield_now().await;
            }
            let left = tokio::time::timeout(Duration::from_millis(10), honest.guest.is_to_leave());
            assert!(left.await.is_err(), "who is known stays");
            assert_eq!(gate.load().connections, CONNECTIONS_MAX);
        });
    }

    #[test]
    fn a_client_with_very_many_connections_keeps_no_other_out() {
        const OTHER: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 2));
        for is_busy in [false, true] {
            blocked(async {
                let gate = Arc::new(Admission::new(1));
                let leaves = |seat: Seat| {
                    seat.guest.is_let_in();
                    let request = is_busy.then(|| seat.guest.asks());
                    tokio::spawn(async move {
                        seat.guest.is_to_leave().await;
                        drop((request, seat));
                    })
                };
                let mut loud = Vec::new();
                for _ in 0..CONNECTIONS_MAX {
                    loud.push(leaves(gate.connect(HERE).await.expect("a seat")));
                }
                tokio::task::yield_now().await;
                let quiet = gate.connect(OTHER).await.expect("a seat");
                assert!(quiet.is_whole, "the oldest connection of the other client makes room");
                loud.swap_remove(0).await.expect("a task");
                // The loud one makes room for its own connections, as far as they have no requests; the quiet one never.
                assert_eq!(gate.connect(HERE).await.expect("a seat").is_whole, !is_busy);
                let asked = tokio::time::timeout(Duration::from_millis(10), quiet.guest.is_to_leave());
                assert!(asked.await.is_err());
            });
        }
    }

    #[test]
    fn answers_count_until_they_are_read() {
        let gate = Admission::new(1);
        assert_eq!(
            gate.body(vec![0; ANSWER_BYTES_MAX + 1]).expect_err("too long").status(),
            StatusCode::UNPROCESSABLE_ENTITY
        );
        let held: Vec<Body> = (0..UNREAD_KIB_MAX * 1024 / ANSWER_BYTES_MAX)
            .map(|_| gate.body(vec![7; ANSWER_BYTES_MAX]).expect("room"))
            .collect();
        assert_eq!(gate.body(vec![0; 1]).expect_err("no room").status(), StatusCode::SERVICE_UNAVAILABLE);
        let read: Vec<Bytes> =
            held.into_iter().map(|body| blocked(axum::body::to_bytes(body, usize::MAX)).expect("bytes")).collect();
        assert!(read.iter().all(|bytes| bytes.len() == ANSWER_BYTES_MAX && bytes.iter().all(|b| *b == 7)));
        assert!(gate.body(vec![0; 1]).is_ok(), "room again");
    }
}
