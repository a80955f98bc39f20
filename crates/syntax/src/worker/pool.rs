//! The workers of a process, from the side that asks them: at most one for each core, started when first needed.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::{ARGUMENT, HELLO, LENGTH_BYTES, write_request};
use crate::language::Language;
use crate::parse::{Parsed, parse_failed, parse_in_process};
use crate::structure::{self, StructureMatches};

/// How long a read from a worker waits; then it counts as silent. It bounds its processor time by itself (`sandbox.rs`),
/// so this one is for a worker that was stopped or taken over.
const SILENCE: Duration = Duration::from_secs(30);
/// Silences of a worker that takes processor time in each of them, as on a machine that is too busy for it. The first one
/// only shows how much time it has taken so far.
const SILENCES_MAX: usize = 20;
/// Workers that get the same file, if each of them ends. A crash counts as the file's fault only in a new worker, since the
/// files before may have damaged an older one; so does being killed from outside, after as many workers.
const TRIES: usize = 3;
/// How long workers without work are kept.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// Bytes that a response may have, and those for each byte of the text besides: somewhat more than the units of a file may
/// take.
const RESPONSE_BYTES_BASE: usize = 32 << 20;
const RESPONSE_BYTES_PER_BYTE: usize = 16;
/// Texts that are remembered as the end of workers.
const REFUSED_MAX: usize = 4_096;

/// A text, its language, and a structural pattern, or an empty one for its units.
type WorkerRequest<'r> = (&'r str, &'static Language, &'r str);

/// Why there is no answer from a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum ParseFailure {
    #[error("{}", crate::parse::CRASHED)]
    Crashed,
    /// By SIGKILL, which a user or a system without memory sends.
    #[error("{}", crate::parse::CRASHED)]
    Killed,
    #[error("{}", crate::budget::Spent::Time)]
    TooSlow,
    #[error("could not be parsed, since no worker process started")]
    NoWorker,
}

/// The workers of one program.
#[derive(Debug)]
pub struct WorkerPool {
    program: PathBuf,
    workers_max: usize,
    state: Mutex<PoolState>,
    returned: Condvar,
    /// Texts that ended their workers, by their hash: not tried again in this process.
    refused: Mutex<HashMap<u64, ParseFailure>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct PoolState {
    idle: Vec<ParseWorker>,
    /// Workers that are idle, at work or being started.
    count: usize,
    /// Whether any worker has ever started; `None` before the first try.
    starts: Option<bool>,
    last_used: Instant,
    /// Whether a thread waits to end idle workers.
    is_watched: bool,
}

impl WorkerPool {
    /// Workers of `program`, none of which is started yet.
    pub fn new(program: PathBuf) -> Arc<WorkerPool> {
        let state =
            PoolState { idle: Vec::new(), count: 0, starts: None, last_used: Instant::now(), is_watched: false };
        Arc::new(WorkerPool {
            program,
            workers_max: std::thread::available_parallelism().map_or(1, usize::from),
            state: Mutex::new(state),
            returned: Condvar::new(),
            refused: Mutex::default(),
            hasher: RandomState::new(),
        })
    }

    /// Cuts `text` into units as [`parse`](crate::parse::parse) does, in a worker. A text that ends its workers becomes
    /// plain blocks, with a note. Where no worker ever started, the text is parsed in this process.
    pub fn parse(self: &Arc<Self>, text: &str, language: &'static Language) -> Parsed {
        match self.ask_once((text, language, ""), |parsed| is_plausible(parsed, text)) {
            Ok(parsed) => parsed,
            Err(ParseFailure::NoWorker) if !self.has_started() => parse_in_process(text, language),
            Err(failure) => parse_failed(text, language, &failure.to_string()),
        }
    }

    /// Matches a pattern as [`find`](structure::find) does, in a worker. Where no worker ever started, this process does
    /// it.
    ///
    /// # Errors
    /// Why the text can't be parsed.
    pub fn find(
        self: &Arc<Self>,
        text: &str,
        language: &'static Language,
        pattern: &str,
    ) -> Result<StructureMatches, String> {
        let is_plausible = |found: &Result<StructureMatches, String>| {
            let is_inside = |(start, end): &(u32, u32)| start <= end && *end as usize <= text.len();
            found.as_ref().map_or(true, |found| found.places.iter().all(is_inside))
        };
        match self.ask_once((text, language, pattern), is_plausible) {
            Ok(found) => found,
            Err(ParseFailure::NoWorker) if !self.has_started() => structure::find_in_process(text, language, pattern),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// Whether any worker has ever started.
    pub fn has_started(&self) -> bool {
        lock(&self.state).starts == Some(true)
    }

    /// The answer of a worker, unless the same request ended workers before.
    fn ask_once<T: DeserializeOwned>(
        self: &Arc<Self>,
        request: WorkerRequest<'_>,
        is_plausible: impl Fn(&T) -> bool,
    ) -> Result<T, ParseFailure> {
        if let Some(failure) = self.known_failure(request) {
            return Err(failure);
        }
        let answer = self.ask(request, is_plausible);
        if let Err(failure) = &answer
            && *failure != ParseFailure::NoWorker
        {
            self.remember(request, *failure);
        }
        answer
    }

    fn key(&self, (text, language, pattern): WorkerRequest<'_>) -> u64 {
        self.hasher.hash_one((language.name, pattern, text))
    }

    fn known_failure(&self, request: WorkerRequest<'_>) -> Option<ParseFailure> {
        let refused = lock(&self.refused);
        // Nearly always: no need to hash the text.
        if refused.is_empty() {
            return None;
        }
        drop(refused);
        let key = self.key(request);
        lock(&self.refused).get(&key).copied()
    }

    fn remember(&self, request: WorkerRequest<'_>, failure: ParseFailure) {
        let key = self.key(request);
        let mut refused = lock(&self.refused);
        if refused.len() >= REFUSED_MAX {
            refused.clear();
        }
        refused.insert(key, failure);
    }

    /// The answer of a worker, the first one or another.
    fn ask<T: DeserializeOwned>(
        self: &Arc<Self>,
        request: WorkerRequest<'_>,
        is_plausible: impl Fn(&T) -> bool,
    ) -> Result<T, ParseFailure> {
        let mut idle = self.check_out()?;
        let mut failure = ParseFailure::NoWorker;
        for _ in 0..TRIES {
            let is_new = idle.is_none();
            let Some(mut worker) = idle.take().or_else(|| ParseWorker::start(&self.program).ok()) else { continue };
            match worker.ask(request, &is_plausible) {
                Ok(answer) => {
                    self.check_in(Some(worker), true);
                    return Ok(answer);
                }
                Err(reason) => failure = reason,
            }
            if failure == ParseFailure::TooSlow || (failure == ParseFailure::Crashed && is_new) {
                break;
            }
        }
        self.check_in(None, failure != ParseFailure::NoWorker);
        Err(failure)
    }

    /// The right to use one worker, with an idle one if there is any. Waits while all are at work.
    fn check_out(&self) -> Result<Option<ParseWorker>, ParseFailure> {
        let mut state = lock(&self.state);
        loop {
            if state.starts == Some(false) {
                return Err(ParseFailure::NoWorker);
            }
            if let Some(worker) = state.idle.pop() {
                return Ok(Some(worker));
            }
            if state.count < self.workers_max {
                state.count += 1;
                return Ok(None);
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the right back, with the worker if it is still sound. `started`: whether any worker started meanwhile.
    fn check_in(self: &Arc<Self>, worker: Option<ParseWorker>, started: bool) {
        let mut state = lock(&self.state);
        state.starts = state.starts.max(Some(started));
        state.last_used = Instant::now();
        match worker {
            Some(worker) => state.idle.push(worker),
            None => state.count -= 1,
        }
        if !state.idle.is_empty() && !state.is_watched {
            let pool = Arc::downgrade(self);
            let watch = move || {
                while pool.upgrade().is_some_and(|pool| pool.is_in_use()) {
                    std::thread::sleep(IDLE_MAX);
                }
            };
            state.is_watched = std::thread::Builder::new().name("idle-workers".into()).spawn(watch).is_ok();
        }
        drop(state);
        self.returned.notify_all();
    }

    /// Ends idle workers if nobody has used one for a while. Returns whether there are still any.
    fn is_in_use(&self) -> bool {
        if lock(&self.state).last_used.elapsed() < IDLE_MAX {
            return true;
        }
        self.end_idle();
        let mut state = lock(&self.state);
        state.is_watched = state.count > 0;
        state.is_watched
    }

    /// Ends the workers that have nothing to do.
    pub fn end_idle(&self) {
        let mut state = lock(&self.state);
        let mut idle = std::mem::take(&mut state.idle);
        state.count -= idle.len();
        drop(state);
        self.returned.notify_all();
        // All at once; dropping them waits for each.
        for worker in &mut idle {
            let _ = worker.child.kill();
        }
    }
}

/// The connection to a worker.
#[cfg(unix)]
type Channel = std::os::unix::net::UnixStream;

#[cfg(not(unix))]
type Channel = PipeChannel;

/// Two pipes as one connection.
#[cfg(not(unix))]
#[derive(Debug)]
struct PipeChannel {
    from: std::process::ChildStdout,
    to: std::process::ChildStdin,
}

#[cfg(not(unix))]
impl Read for PipeChannel {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.from.read(bytes)
    }
}

#[cfg(not(unix))]
impl Write for PipeChannel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Starts the command with its standard input and output connected to here. A socket, unlike a pipe, has time limits.
#[cfg(unix)]
fn connect(command: &mut Command) -> io::Result<(Child, Channel)> {
    use std::os::fd::OwnedFd;
    use std::os::unix::process::CommandExt as _;

    let (here, there) = Channel::pair()?;
    here.set_read_timeout(Some(SILENCE))?;
    here.set_write_timeout(Some(2 * SILENCE))?;
    let there = OwnedFd::from(there);
    command.stdout(there.try_clone()?).stdin(there);
    // Ctrl-C is for the program, which may still want its answer.
    command.arg0("colgrep").process_group(0);
    Ok((command.spawn()?, here))
}

#[cfg(not(unix))]
fn connect(command: &mut Command) -> io::Result<(Child, Channel)> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(from), Some(to)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(io::Error::other("a process without streams"));
    };
    Ok((child, PipeChannel { from, to }))
}

/// One worker process. It ends when it is dropped, and by itself when this process does.
#[derive(Debug)]
struct ParseWorker {
    child: Child,
    channel: Channel,
    /// The last message, for its room.
    frame: Vec<u8>,
}

impl Drop for ParseWorker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ParseWorker {
    /// Starts one and waits until it is ready.
    fn start(program: &Path) -> io::Result<ParseWorker> {
        let mut command = Command::new(program);
        command.arg(ARGUMENT).env_clear().stderr(Stdio::null());
        let (child, channel) = connect(&mut command)?;
        // The other end belongs to the worker alone, so that its end is seen here.
        drop(command);
        let mut worker = ParseWorker { child, channel, frame: vec![0; HELLO.len()] };
        worker.channel.read_exact(&mut worker.frame)?;
        if worker.frame == HELLO { Ok(worker) } else { Err(io::Error::other("another program answers")) }
    }

    fn ask<T: DeserializeOwned>(
        &mut self,
        request: WorkerRequest<'_>,
        is_plausible: impl Fn(&T) -> bool,
    ) -> Result<T, ParseFailure> {
        let answer = self.exchange(request).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ParseFailure::TooSlow,
            _ => self.how_it_ended(),
        })?;
        is_plausible(&answer).then_some(answer).ok_or(ParseFailure::Crashed)
    }

    /// Sends a request and waits for its answer.
    fn exchange<T: DeserializeOwned>(&mut self, (text, language, pattern): WorkerRequest<'_>) -> io::Result<T> {
        write_request(&mut self.frame, text, language, pattern)?;
        self.channel.write_all(&self.frame)?;
        let (id, mut length) = (self.child.id(), [0; LENGTH_BYTES]);
        read_patiently(&mut self.channel, &mut length, || processor_ticks(id))?;
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > RESPONSE_BYTES_BASE.saturating_add(RESPONSE_BYTES_PER_BYTE.saturating_mul(text.len())) {
            return Err(io::Error::other("too long a response"));
        }
        self.frame.resize(length, 0);
        read_patiently(&mut self.channel, &mut self.frame, || processor_ticks(id))?;
        postcard::from_bytes(&self.frame).map_err(io::Error::other)
    }

    /// Ends the worker, and says why it had no answer.
    fn how_it_ended(&mut self) -> ParseFailure {
        // Changes nothing for a worker that is at its end already.
        let _ = self.child.kill();
        let status = self.child.wait();
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt as _;
            match status.ok().and_then(|status| status.signal()) {
                Some(libc::SIGXCPU) => ParseFailure::TooSlow,
                Some(libc::SIGKILL) => ParseFailure::Killed,
                _ => ParseFailure::Crashed,
            }
        }
        #[cfg(not(unix))]
        status.map_or(ParseFailure::Killed, |_| ParseFailure::Crashed)
    }
}

/// Fills a buffer. Goes on after a second silence if the processor time of the other end, `ticks`, has grown since the
/// first.
fn read_patiently(from: &mut impl Read, buffer: &mut [u8], ticks: impl Fn() -> Option<u64>) -> io::Result<()> {
    let (mut filled, mut before, mut silences) = (0, None, 0);
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let now = ticks();
                silences += 1;
                if (silences > 1 && now <= before) || silences >= SILENCES_MAX {
                    return Err(error);
                }
                before = now;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Processor time that a process has taken, in ticks; `None` outside Linux.
pub fn processor_ticks(id: u32) -> Option<u64> {
    ticks(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// The same by a process's `stat` file (proc_pid_stat(5)): fields 14 and 15.
fn ticks(stat: &str) -> Option<u64> {
    // The name of the program, in brackets, may contain anything.
    let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Whether units can be those of the text: a worker may have been taken over.
fn is_plausible(parsed: &Parsed, text: &str) -> bool {
    let lines = 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let is_inside = |span: colgrep_core::Span| {
        (1..=span.end).contains(&span.first) && (1..=span.end).contains(&span.line) && span.end as usize <= lines
    };
    parsed.units.iter().all(|unit| is_inside(unit.span))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Gives a byte after each silence.
    struct SlowReader {
        is_silent: bool,
    }

    impl Read for SlowReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.is_silent = !self.is_silent;
            if self.is_silent {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            buffer[0] = 7;
            Ok(1)
        }
    }

    #[test]
    fn a_worker_that_is_at_work_may_be_silent_for_long() {
        let time = Cell::new(0);
        let works = || {
            time.set(time.get() + 1);
            Some(time.get())
        };
        let mut buffer = [0; 5];
        read_patiently(&mut SlowReader { is_silent: false }, &mut buffer, works).expect("five bytes");
        assert_eq!(buffer, [7; 5]);
        for ticks in [Some(3), None] {
            let error =
                read_patiently(&mut SlowReader { is_silent: false }, &mut buffer, || ticks).expect_err("silence");
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{ticks:?}");
        }
        // Not for ever, even so.
        let mut long = [0; SILENCES_MAX + 1];
        read_patiently(&mut SlowReader { is_silent: false }, &mut long, works).expect_err("too many silences");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_tells_the_time_of_a_process() {
        assert_eq!(ticks("1 (a) b) S 1 1 1 0 -1 4 2 0 0 0 30 12 0 0 20"), Some(42));
        let before = processor_ticks(std::process::id()).expect("this process");
        while processor_ticks(std::process::id()).expect("this process") == before {
            std::hint::spin_loop();
        }
    }
}
