//! Limits of memory and time for programs that are run: git reads files that a repository names, and these may have no
//! end.

use std::io;
use std::process::{Child, Command, Output, Stdio};

/// Maximum of its own memory (`RLIMIT_DATA`), in bytes. git takes a third of it in the largest repository known here.
#[cfg(target_os = "linux")]
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Maximum processor time, in seconds.
#[cfg(target_os = "linux")]
const SECONDS_MAX: u64 = 600;

/// Limits a process that was just started, where the system can do that (Linux). Beyond its limits it fails.
pub fn bound(child: &Child) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
        for (resource, most) in [(Resource::Data, MEMORY_BYTES_MAX), (Resource::Cpu, SECONDS_MAX)] {
            // A lower limit of this process stays.
            let Rlimit { current, maximum } = getrlimit(resource);
            let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
            let limit = Rlimit { current: lower(current), maximum: lower(maximum) };
            // A process that has ended already needs none.
            let _ = prlimit(Some(Pid::from_child(child)), resource, limit);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = child;
}

/// Runs a command with limits and without input, and returns its output.
///
/// # Errors
/// When it can't be started or waited for.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    bound(&child);
    child.wait_with_output()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;

    use super::*;

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
