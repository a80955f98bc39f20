//! The server of a shard. Each connection has one session after another. The number of questions in progress is
//! bounded, a broken frame or a panic closes only its own connection, and a session keeps the generation that it began
//! with.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use colgrep_engine::project::damage::guarded;
use colgrep_engine::session::project_searcher::{ProjectSearcher, Within};
use colgrep_index::update::caught;
use colgrep_search::rounds::{ListedRound as _, ReachRequest, StatisticsRequest};
use colgrep_search::shard::{QueryVectors, Reach, ShardOverview, ShardQuery};
use colgrep_search::{Layout, LocalShard, Shard, ShardGroup};
use serde::Serialize;

use crate::answer::{answer, end, lines, read, served, show};
use crate::catalog::{Catalog, Generation, HostedRepository, ShardLoad};
use crate::fair_queue::{FairQueue, Permit};
use crate::frame::{ANSWER_BYTES_MAX, Frames, HELLO_BYTES_MAX, QUESTION_BYTES_MAX, framed, message, with_head};
use crate::handshake::{ConnectionEnd, Nonces, nonce};
use crate::message::{
    Begin, Begun, Challenge, Credential, Hello, MAGIC, Put, VERSION, WireFailure, WireQuery, WireQuestion,
};
use crate::strangers::{STRANGERS_MAX, Strangers};
use crate::tokens::{AccessTokens, bearer};

/// Maximum number of connections of clients that know the token. Further clients are refused with that reason.
const CONNECTIONS_MAX: usize = 256;
/// Maximum number of threads for connections: of clients, of strangers, and of strangers that were just ended.
const THREADS_MAX: usize = CONNECTIONS_MAX + 2 * STRANGERS_MAX;
/// Timeout of a hello.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// Timeout of an idle connection.
const IDLE_PATIENCE: Duration = Duration::from_secs(120);
/// Timeout of a write.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);
/// How often an idle connection checks whether the server is shutting down.
const POLL: Duration = Duration::from_millis(200);
/// How long a shutdown waits for sessions.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// Timeout and pause of the wait for a free thread.
const THREAD_PATIENCE: Duration = Duration::from_secs(1);
const THREAD_PAUSE: Duration = Duration::from_millis(5);
/// Pause after the system fails to accept a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum depth of nested searches.
const DEPTH_MAX: u8 = 4;
/// Questions that are processed at once, per core.
const AT_WORK_A_CORE_MAX: usize = 2;

/// The media type of metrics.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub struct ShardServer {
    held: Arc<dyn Catalog>,
    tokens: Option<Arc<AccessTokens>>,
    queue: FairQueue,
    connections: AtomicUsize,
    threads: AtomicUsize,
    strangers: Strangers,
    is_over: AtomicBool,
    searching: Mutex<usize>,
}

impl std::fmt::Debug for ShardServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardServer").field("connections", &self.connections).finish_non_exhaustive()
    }
}

impl ShardServer {
    /// A server of a catalog. With tokens, every connection must prove that it knows one of them.
    pub fn new(held: Arc<dyn Catalog>, tokens: Option<Arc<AccessTokens>>) -> Arc<ShardServer> {
        let queue = FairQueue::new(AT_WORK_A_CORE_MAX * rayon::current_num_threads());
        let (connections, threads, strangers) = Default::default();
        let (is_over, searching) = (AtomicBool::new(false), Mutex::new(0));
        Arc::new(ShardServer { held, tokens, queue, connections, threads, strangers, is_over, searching })
    }

    /// Binds a socket to listen on.
    pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
        TcpListener::bind(address)
    }

    /// Answers connections on a socket until [`ShardServer::end`].
    pub fn serve(self: &Arc<ShardServer>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((stream, from)) => self.open(stream, from.ip()),
                // Too many open files, or the client has disconnected.
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Stops accepting sessions, and waits a while for the current ones. `address` is the socket's.
    pub fn end(&self, address: SocketAddr) {
        self.is_over.store(true, Ordering::Release);
        // Wakes the accepting thread.
        let _ = TcpStream::connect_timeout(&address, HELLO_PATIENCE).map(|stream| stream.shutdown(Shutdown::Both));
        let end = Instant::now() + LAST_PATIENCE;
        while Instant::now() < end && *self.searching.lock().unwrap_or_else(PoisonError::into_inner) > 0 {
            std::thread::sleep(POLL / 10);
        }
    }

    /// True if a client with this token may ask.
    fn knows(&self, given: &[u8]) -> bool {
        self.tokens.as_ref().is_none_or(|tokens| tokens.position(given).is_some())
    }

    fn metrics(&self) -> String {
        let connections = self.connections.load(Ordering::Acquire);
        let sessions = *self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        self.held.metrics(&ShardLoad { connections, sessions }).unwrap_or_default()
    }

    /// Serves a connection in a thread of its own, if there is room for one. Everybody may connect, so the room for
    /// those who have not proved anything is their own, and who waits longest there makes room.
    fn open(self: &Arc<ShardServer>, stream: TcpStream, from: IpAddr) {
        let Ok(own) = stream.try_clone() else { return };
        let stranger = self.strangers.enter(from, own);
        // Threads of connections that were just ended are gone in a moment.
        let end = Instant::now() + THREAD_PATIENCE;
        let thread = loop {
            match CountedPlace::within(self, |server| &server.threads, THREADS_MAX) {
                Some(thread) => break thread,
                None if Instant::now() < end => std::thread::sleep(THREAD_PAUSE),
                None => return self.strangers.leave(stranger),
            }
        };
        let server = Arc::clone(self);
        let work = move || {
            // The client has been told what went wrong, if possible.
            if let Err(panic) = caught(|| server.connection(stream, stranger)) {
                server.held.broke(&panic);
            }
            server.strangers.leave(stranger);
            drop(thread);
        };
        if std::thread::Builder::new().name("shard".into()).spawn(work).is_err() {
            self.strangers.leave(stranger);
        }
    }

    fn connection(self: &Arc<ShardServer>, stream: TcpStream, stranger: u64) -> io::Result<()> {
        let mut line = ServerConnection { frames: Frames::new(stream, WRITE_PATIENCE)?, server: self };
        let Some(_place) = line.greeted(stranger)? else { return Ok(()) };
        let mut next = None;
        loop {
            let question = match next.take() {
                Some(question) => question,
                None => line.question(true)?,
            };
            match question.1 {
                _ if self.is_over.load(Ordering::Acquire) => return Ok(()),
                WireQuestion::Begin(begin) => {
                    let _searching = Searching::new(&self.searching);
                    next = line.session(&begin)?;
                }
                WireQuestion::Done => {}
                _ => return line.fail(WireFailure::Broken("a search begins with its beginning".into())),
            }
        }
    }
}

/// A slot counted against one of the server's limits, released on drop.
struct CountedPlace {
    server: Arc<ShardServer>,
    of: fn(&ShardServer) -> &AtomicUsize,
}

impl CountedPlace {
    /// One more, unless there are `most`.
    fn within(server: &Arc<ShardServer>, of: fn(&ShardServer) -> &AtomicUsize, most: usize) -> Option<CountedPlace> {
        let count = CountedPlace { server: Arc::clone(server), of };
        (of(server).fetch_add(1, Ordering::AcqRel) < most).then_some(count)
    }
}

impl Drop for CountedPlace {
    fn drop(&mut self) {
        (self.of)(&self.server).fetch_sub(1, Ordering::AcqRel);
    }
}

/// Counts a session until it is dropped.
struct Searching<'s>(&'s Mutex<usize>);

impl<'s> Searching<'s> {
    fn new(count: &'s Mutex<usize>) -> Searching<'s> {
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Searching(count)
    }
}

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

struct ServerConnection<'s> {
    frames: Frames,
    server: &'s Arc<ShardServer>,
}

impl<'s> ServerConnection<'s> {
    /// Waits for a permit to work. Fails if the client disconnects meanwhile.
    fn permit(&self) -> io::Result<Permit<'s>> {
        self.server.queue.take(|| self.frames.is_open()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Runs work on the indexes when there is room. A panic in it counts as damage of an index; a panic elsewhere does
    /// not.
    fn at_work<T>(&self, work: impl FnOnce() -> colgrep_engine::Result<T>) -> io::Result<colgrep_engine::Result<T>> {
        let _permit = self.permit()?;
        Ok(guarded(work))
    }

    /// Shakes hands. Returns the connection's place if questions may follow.
    fn greeted(&mut self, stranger: u64) -> io::Result<Option<CountedPlace>> {
        let until = Instant::now() + HELLO_PATIENCE;
        let read = self.frames.read(HELLO_BYTES_MAX, until);
        if self.frames.come().starts_with(b"GET ") {
            self.frames.read_head(HELLO_BYTES_MAX, until)?;
            return self.health().map(|()| None);
        }
        let hello: Option<Hello> = read?.and_then(|bytes| message(&bytes).ok());
        let Some(hello) = hello.filter(|hello| hello.magic == MAGIC && hello.version == VERSION) else {
            return self.fail(WireFailure::Version(VERSION)).map(|()| None);
        };
        let tokens = self.server.tokens.as_ref().map(|tokens| tokens.all());
        let nonces = Nonces { hello: hello.nonce, challenge: nonce()? };
        let proofs = tokens
            .iter()
            .flat_map(|tokens| tokens.iter())
            .map(|token| nonces.proof(token, ConnectionEnd::Shard))
            .collect();
        self.answer(&Challenge { nonce: nonces.challenge, proofs })?;
        let credential = self.frames.read(HELLO_BYTES_MAX, until)?;
        let credential: Option<Credential> = credential.and_then(|bytes| message(&bytes).ok());
        let proof = credential.and_then(|credential| credential.proof);
        let is_proved = |token: &String| nonces.is_proved(token, ConnectionEnd::Coordinator, proof.as_ref());
        if tokens.is_some_and(|tokens| !tokens.iter().any(is_proved)) {
            return self.fail(WireFailure::Token).map(|()| None);
        }
        self.server.strangers.leave(stranger);
        let Some(place) = CountedPlace::within(self.server, |server| &server.connections, CONNECTIONS_MAX) else {
            return self.fail(WireFailure::Full).map(|()| None);
        };
        let Some(generation) = self.server.held.now() else {
            return self.fail(WireFailure::Broken("the indexes are being opened".into())).map(|()| None);
        };
        let unserved = self.server.held.missing().into_iter().map(|(name, _)| name).collect();
        self.answer(&generation.welcome(unserved)).map(|()| Some(place))
    }

    /// Answers an HTTP request: whether the server runs, whether it is ready, or its metrics, which need the token.
    fn health(&mut self) -> io::Result<()> {
        const PLAIN: &str = "text/plain";
        let is_open = self.server.held.now().is_some();
        let opening = (!is_open).then(|| "the indexes are being opened".to_string());
        let why = self.server.held.trouble().or(opening);
        let head = String::from_utf8_lossy(self.frames.come()).into_owned();
        let path = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let (status, kind, text) = match (path, why) {
            ("/healthz", _) => ("200 OK", PLAIN, "ok\n".into()),
            ("/readyz", None) => {
                let remark = self.server.held.remark().map(|remark| format!(", and {remark}"));
                ("200 OK", PLAIN, format!("ready{}\n", remark.unwrap_or_default()))
            }
            ("/readyz", Some(why)) => ("503 Service Unavailable", PLAIN, format!("{why}\n")),
            ("/metrics", _) if !self.server.knows(token_in(&head)) => {
                ("401 Unauthorized", PLAIN, "metrics need the token: Authorization: Bearer TOKEN\n".into())
            }
            ("/metrics", _) => ("200 OK", OPENMETRICS, self.server.metrics()),
            _ => {
                let text = "this is a shard of colgrep: it answers coordinators, /healthz, /readyz and /metrics\n";
                ("404 Not Found", PLAIN, text.into())
            }
        };
        let mut stream = self.frames.stream();
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        )
    }

    /// The next question. Between sessions (`is_idle`), the server may shut down.
    fn question(&mut self, is_idle: bool) -> io::Result<Put> {
        let end = Instant::now() + IDLE_PATIENCE;
        loop {
            let read = match self.frames.read(QUESTION_BYTES_MAX, (Instant::now() + POLL).min(end)) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.fail(WireFailure::Broken(error.to_string()))?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            if let Some(bytes) = read {
                let question = message(&bytes);
                if let Err(error) = &question {
                    self.fail(WireFailure::Broken(error.to_string()))?;
                }
                return question;
            }
            if (is_idle && self.server.is_over.load(Ordering::Acquire)) || Instant::now() >= end {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    fn answer(&mut self, answer: &impl Serialize) -> io::Result<()> {
        match framed_answer(&Ok(answer)) {
            Ok(frame) => self.frames.write(&frame),
            Err(error) => self.fail(WireFailure::Request(format!("the answer is too long: {error}"))),
        }
    }

    fn fail(&mut self, failure: WireFailure) -> io::Result<()> {
        let frame = framed_answer::<()>(&Err(failure))?;
        self.frames.write(&frame)
    }

    /// Sends a result of a library.
    fn told<T: Serialize>(&mut self, done: colgrep_engine::Result<T>) -> io::Result<()> {
        match done {
            Ok(done) => self.answer(&done),
            Err(error) => self.fail(self.failure(error)),
        }
    }

    fn failure(&self, error: colgrep_engine::Error) -> WireFailure {
        match error.into_index() {
            Err(error) => WireFailure::Request(error.full()),
            Ok(index) => {
                let failure = WireFailure::Broken(index.full());
                if index.kind() == colgrep_index::ErrorKind::Unusable {
                    self.server.held.damaged(index);
                }
                failure
            }
        }
    }

    /// One session. Returns the start of the next one if the client sends it without ending this one.
    fn session(&mut self, begin: &Begin) -> io::Result<Option<Put>> {
        let Some(generation) = self.server.held.now() else {
            self.fail(WireFailure::Broken("the indexes are being opened".into()))?;
            return Ok(None);
        };
        let allowed = allowed(&generation, begin);
        // A repository that was opened meanwhile is in this generation.
        let is_served = |name: &str| generation.repositories.iter().any(|one| one.name == name);
        let unserved = self.server.held.missing().into_iter();
        let unserved = unserved.filter(|(name, _)| begin.wants(name) && !is_served(name)).collect();
        let known = allowed.iter().map(|one| (one.name.clone(), one.known(begin.model.is_some())));
        let partial = known.filter(|(_, known)| !known.is_all()).collect();
        let written_ms = allowed.iter().map(|one| (one.name.clone(), one.written_ms())).collect();
        let places: Vec<ProjectSearcher> =
            match self.at_work(|| allowed.iter().map(|repository| place(repository, begin)).collect())? {
                Ok(places) => places,
                Err(error) => {
                    self.fail(self.failure(error))?;
                    return Ok(None);
                }
            };
        let shards: Vec<LocalShard<'_>> = places
            .iter()
            .zip(&allowed)
            .map(|(place, repository)| {
                LocalShard::new(&place.snapshot, place.filter()).layout(Layout::One(format!("{}/", repository.name)))
            })
            .collect();
        let group = match ShardGroup::new(shards.iter().map(|shard| shard as &dyn Shard).collect()) {
            Ok(group) => group,
            Err(error) => {
                self.fail(WireFailure::Broken(error.full()))?;
                return Ok(None);
            }
        };
        let lacks = |model: u64| {
            let has = |place: &ProjectSearcher| {
                place.snapshot.vectors.as_ref().is_some_and(|v| v.manifest().fingerprint == model)
            };
            !places.iter().all(has)
        };
        let names = || begin.terms.iter().map(|term| Ok(group.is_name(term)?)).collect::<colgrep_engine::Result<_>>();
        self.told(guarded(names).map(|names| Begun {
            generation: generation.fingerprint,
            extent: group.extent(),
            names,
            lacks: begin.model.is_some_and(lacks),
            unserved,
            partial,
            written_ms,
        }))?;
        let mut next = self.question(false)?;
        loop {
            next = match next {
                (1, WireQuestion::Search(query)) => self.search(1, &group, &places, &query)?,
                (_, WireQuestion::Begin(_)) => return Ok(Some(next)),
                (_, WireQuestion::Done) => return Ok(None),
                (_, WireQuestion::Served) => {
                    let lost = self.server.held.missing().into_iter().filter(|(name, _)| begin.allows(name));
                    self.answer(&served(allowed.iter().copied(), lost))?;
                    self.question(false)?
                }
                (_, other) => {
                    self.aside(&group, &places, other)?;
                    self.question(false)?
                }
            };
        }
    }

    /// Answers questions that are also allowed outside a search. Any other question is an error.
    fn aside(&mut self, group: &ShardGroup<'_>, places: &[ProjectSearcher], question: WireQuestion) -> io::Result<()> {
        match question {
            WireQuestion::IsName(term) => {
                let is_name = self.at_work(|| Ok(group.is_name(&term)?))?;
                self.told(is_name)
            }
            WireQuestion::Show(asked) => {
                let shown = self.at_work(|| show(group, places, &asked))?;
                self.told(shown)
            }
            WireQuestion::End(asked) => {
                let found = self.at_work(|| end(group, places, &asked))?;
                self.told(found)
            }
            WireQuestion::Lines(lines_max) => {
                let found = self.at_work(|| lines(group, places, lines_max))?;
                self.told(found)
            }
            WireQuestion::Read(repository, path) => {
                match self.at_work(|| Ok(read(group, places, &repository, &path)))? {
                    Ok(Ok(text)) => self.answer(&text),
                    Ok(Err(why)) => self.fail(WireFailure::Request(why)),
                    Err(error) => self.fail(self.failure(error)),
                }
            }
            _ => self.fail(WireFailure::Broken("a round before what is asked".into())),
        }
    }

    /// Answers the rounds of the search at a depth. Returns the question after them.
    fn search(
        &mut self,
        depth: u8,
        group: &ShardGroup<'_>,
        places: &[ProjectSearcher],
        wire: &WireQuery,
    ) -> io::Result<Put> {
        let query = wire.query.clone().into();
        let question = match &wire.vectors {
            None => None,
            Some(vectors) => match vectors.question() {
                Some(question) => Some(question),
                None => {
                    self.fail(WireFailure::Broken("vectors of no whole number of rows".into()))?;
                    return self.question(false);
                }
            },
        };
        let vectors = wire.vectors.as_ref().zip(question.as_ref());
        let vectors = vectors.map(|(vectors, question)| QueryVectors {
            question,
            fingerprint: vectors.fingerprint,
            effort: vectors.effort,
        });
        let started = self.at_work(|| {
            let search = group.search(&ShardQuery { query: &query, bm25: wire.bm25, vectors })?;
            let statistics = StatisticsRequest.put_to(&*search)?;
            let reach = if vectors.is_some() { ReachRequest.put_to(&*search)? } else { Reach::default() };
            Ok((search, ShardOverview { statistics, reach }))
        });
        let (search, overview) = match started? {
            Ok(started) => started,
            Err(error) => {
                self.told::<()>(Err(error))?;
                return self.question(false);
            }
        };
        self.answer(&overview)?;
        let mut next = self.question(false)?;
        loop {
            match next {
                (_, WireQuestion::Begin(_)) => return Ok(next),
                (_, question @ (WireQuestion::Show(_) | WireQuestion::IsName(_) | WireQuestion::End(_))) => {
                    self.aside(group, places, question)?
                }
                (at, WireQuestion::Search(inner)) if at == depth + 1 && depth < DEPTH_MAX => {
                    next = self.search(at, group, places, &inner)?;
                    continue;
                }
                (at, _) if at < depth => return Ok(next),
                (at, WireQuestion::Search(_)) if at == depth => return Ok(next),
                (_, WireQuestion::Round(round)) => match self.at_work(|| Ok(answer(&*search, &round)?))? {
                    Ok(bytes) => match with_head(bytes, ANSWER_BYTES_MAX) {
                        Ok(frame) => self.frames.write(&frame)?,
                        Err(error) => self.fail(WireFailure::Request(format!("the answer is too long: {error}")))?,
                    },
                    Err(error) => self.told::<()>(Err(error))?,
                },
                _ => self.fail(WireFailure::Broken("a question that is no round".into()))?,
            }
            next = self.question(false)?;
        }
    }
}

/// The token in the head of an HTTP request; empty if there is none.
fn token_in(head: &str) -> &[u8] {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut given = fields.filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    given.find_map(|(_, value)| bearer(value.trim().as_bytes())).unwrap_or_default()
}

fn framed_answer<T: Serialize>(answer: &Result<&T, WireFailure>) -> io::Result<Vec<u8>> {
    framed(answer, ANSWER_BYTES_MAX)
}

/// The repositories that the caller may see and that are searched.
fn allowed<'g>(generation: &'g Generation, begin: &Begin) -> Vec<&'g HostedRepository> {
    let allowed: Option<HashSet<&str>> = begin.allowed.as_ref().map(|names| names.iter().map(String::as_str).collect());
    let wanted: HashSet<&str> = begin.below.iter().map(|(name, _)| name.as_str()).collect();
    let is_allowed = |repository: &&HostedRepository| {
        let name = repository.name.as_str();
        allowed.as_ref().is_none_or(|names| names.contains(name))
            && (wanted.is_empty() || wanted.contains(name))
            && !begin.scope.repositories_not.contains(&repository.name)
    };
    generation.repositories.iter().filter(is_allowed).collect()
}

fn place(repository: &HostedRepository, begin: &Begin) -> colgrep_engine::Result<ProjectSearcher> {
    let own = begin.below.iter().filter(|(name, _)| *name == repository.name).map(|(_, below)| below.clone());
    let below: Vec<String> = own.collect();
    let within = if below.is_empty() { Within::everything() } else { Within::paths(below) };
    let HostedRepository { name, project, snapshot, settings, .. } = repository;
    within.check_exists(name, project, snapshot)?;
    ProjectSearcher::new(project.clone(), Arc::clone(snapshot), within, &begin.scope, false, settings, &|| false)
}
