//! Limits of memory and time for programs that are run: git reads files that a repository names, and these may have no
//! end.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Maximum of its own memory (`RLIMIT_DATA`), in bytes. git takes a third of it in the largest repository known here.
#[cfg(target_os = "linux")]
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Maximum processor time, in seconds.
#[cfg(target_os = "linux")]
const SECONDS_MAX: u64 = 600;

/// Maximum time in which it computes nothing, as one that waits for the other end of a pipe.
pub const IDLE_MAX: Duration = Duration::from_secs(20);

/// Maximum of an error stream that is kept, in bytes.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// Limits a process that was just started, where the system can do that (Linux). Beyond its limits it fails.
pub fn bound(child: &Child) {
    bound_to(child, IDLE_MAX);
}

fn bound_to(child: &Child, idle_max: Duration) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, getrlimit, pidfd_open, prlimit};
        for (resource, most) in [(Resource::Data, MEMORY_BYTES_MAX), (Resource::Cpu, SECONDS_MAX)] {
            // A lower limit of this process stays.
            let Rlimit { current, maximum } = getrlimit(resource);
            let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
            let limit = Rlimit { current: lower(current), maximum: lower(maximum) };
            // A process that has ended already needs none.
            let _ = prlimit(Some(Pid::from_child(child)), resource, limit);
        }
        // Older systems have no such handles, and a system without threads is too busy to watch.
        if let Ok(process) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) {
            let id = child.id();
            let watch = move || end_when_idle(&process, id, idle_max);
            let _ = std::thread::Builder::new().name("watch".into()).spawn(watch);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (child, idle_max);
}

/// Waits for the end of a process, and ends it when its processor time stops increasing.
#[cfg(target_os = "linux")]
fn end_when_idle(process: &std::os::fd::OwnedFd, id: u32, idle_max: Duration) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Signal, pidfd_send_signal};
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    let (mut before, mut since) = (None, std::time::Instant::now());
    while poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&second)) == Ok(0) {
        let now = colgrep_syntax::worker::processor_ticks(id);
        if now != before {
            (before, since) = (now, std::time::Instant::now());
        } else if since.elapsed() >= idle_max {
            // It may have ended in this moment.
            let _ = pidfd_send_signal(process, Signal::KILL);
            return;
        }
    }
}

/// Runs a command with limits, which reads `input`, and returns its output. Ends it once it has printed more than
/// `bytes_max`: a repository of a few kilobytes can make git print any amount.
///
/// # Errors
/// When it can't be started or waited for, and [`io::ErrorKind::FileTooLarge`] if it prints more.
pub fn output(command: &mut Command, input: &str, bytes_max: u64) -> io::Result<Output> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    bound(&child);
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        // In threads of their own: it may print before it has read everything, and fill one pipe while it closes none.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let said = scope.spawn(move || err.map_or_else(Default::default, said));
        let mut stdout = Vec::new();
        let read = out.map_or(Ok(0), |out| out.take(bytes_max.saturating_add(1)).read_to_end(&mut stdout));
        let is_longer = stdout.len() as u64 > bytes_max;
        if is_longer || read.is_err() {
            let _ = child.kill();
        }
        let (status, stderr) = (child.wait()?, said.join().unwrap_or_default());
        read?;
        if is_longer {
            let why = format!("it prints more than {} MiB", bytes_max >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(Output { status, stdout, stderr })
    })
}

/// The beginning of an error stream, which is read to its end.
fn said(mut stream: ChildStderr) -> Vec<u8> {
    let mut said = Vec::new();
    // What can't be read is missing from a message.
    let _ = stream
        .by_ref()
        .take(SAID_BYTES_MAX)
        .read_to_end(&mut said)
        .and_then(|_| io::copy(&mut stream, &mut io::sink()));
    said
}

/// Runs a command as [`output`] does without input, ends it after `time`, and returns what it printed until then, at most
/// `bytes_max`.
///
/// # Errors
/// When it can't be started, read or waited for.
pub fn printed_within(command: &mut Command, time: Duration, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    bound(&child);
    let out = child.stdout.take();
    let (done, end) = mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        let read = out.map_or(Ok(0), |out| out.take(bytes_max).read_to_end(&mut bytes));
        // Whoever waits may have waited long enough.
        let _ = done.send(());
        read.map(|_| bytes)
    };
    let reader = std::thread::Builder::new().name("read".into()).spawn(read);
    if reader.is_ok() {
        let _ = end.recv_timeout(time);
    }
    // It may have ended in this moment.
    let _ = child.kill();
    child.wait()?;
    reader?.join().unwrap_or_else(|_| Ok(Vec::new()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_waits_for_ever_is_ended() {
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", "read line"]).stdin(Stdio::piped()).spawn().expect("a shell");
        let open = child.stdin.take();
        bound_to(&child, Duration::from_secs(1));
        let status = child.wait().expect("an end");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
        drop(open);
    }

    #[test]
    fn a_process_that_prints_too_much_or_too_long_is_ended() {
        let mut shell = Command::new("sh");
        let slow = shell.args(["-c", "echo one; exec sleep 60"]);
        assert_eq!(printed_within(slow, Duration::from_secs(1), 99).expect("a shell"), b"one\n");
        let mut shell = Command::new("sh");
        let endless = shell.args(["-c", "while :; do echo one; done"]);
        assert_eq!(printed_within(endless, Duration::from_secs(9), 6).expect("a shell"), b"one\non");
        let mut shell = Command::new("sh");
        assert_eq!(printed_within(shell.args(["-c", "echo"]), Duration::from_secs(9), 9).expect("a shell"), b"\n");
    }

    #[test]
    fn a_process_that_prints_too_much_is_no_answer() {
        let mut shell = Command::new("sh");
        let endless = shell.args(["-c", "while :; do echo one; done"]);
        assert_eq!(output(endless, "", 9).expect_err("no end").kind(), io::ErrorKind::FileTooLarge);
        // Everything is read, whichever pipe fills first.
        let mut shell = Command::new("sh");
        let script = "head -c 300000 /dev/zero >&2; head -c 300000; exit 3";
        let input = "x".repeat(300_000);
        let all = output(shell.args(["-c", script]), &input, 300_000).expect("a shell");
        assert_eq!((all.status.code(), all.stdout.len()), (Some(3), input.len()));
        assert_eq!(all.stderr.len() as u64, SAID_BYTES_MAX);
    }

    #[test]
    fn a_process_has_limits() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "read line; ulimit -d; ulimit -t"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("a shell");
        bound(&child);
        child.stdin.take().expect("a pipe").write_all(b"\n").expect("a reader");
        let output = child.wait_with_output().expect("an end");
        let (kib, seconds) = (MEMORY_BYTES_MAX >> 10, SECONDS_MAX);
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{kib}\n{seconds}\n"));
    }
}
