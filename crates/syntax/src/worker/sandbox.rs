//! The limits of a worker, which it sets on itself before it reads anything.
//!
//! Every system bounds what it can: Linux all of it, other Unix systems processor time, files and core dumps, Windows
//! nothing.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as AsOwn;
#[cfg(windows)]
use std::os::windows::io::AsHandle as AsOwn;

/// Most memory of a worker, in bytes. Of 46,000 files most take 10 to 60 bytes for each byte of text, and tables of numbers
/// 100 and more.
#[cfg(unix)]
const MEMORY_MAX: u64 = 320 << 20;
/// Processor time of one file, in seconds, at least: the system counts whole seconds, so it may have one more. Parsers stop
/// by themselves after half of that (`budget.rs`), unless a single step takes longer.
#[cfg(unix)]
const SECONDS_MAX: u64 = if cfg!(debug_assertions) { 5 } else { 2 };

/// A standard stream without the buffer and the lock around it.
pub(super) fn owned(stream: impl AsOwn) -> io::Result<File> {
    #[cfg(unix)]
    return Ok(File::from(stream.as_fd().try_clone_to_owned()?));
    #[cfg(windows)]
    return Ok(File::from(stream.as_handle().try_clone_to_owned()?));
}

/// The limits of a worker that change with each file.
pub(super) struct WorkerLimits {
    #[cfg(unix)]
    seconds_max: Option<u64>,
}

/// Gives up all rights that a worker doesn't need. A system that lacks one of the means still has the others.
#[cfg(unix)]
pub(super) fn enter() -> WorkerLimits {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let set = |resource, limit| setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    let _ = set(Resource::Core, 0);
    let _ = set(Resource::Nofile, 0);
    let _ = set(if cfg!(target_os = "linux") { Resource::Data } else { Resource::As }, MEMORY_MAX);
    let limits = WorkerLimits { seconds_max: getrlimit(Resource::Cpu).maximum };
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::thread::set_name(c"colgrep");
        // Where core dumps go to a program, the limit above doesn't count.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        // The first look at a clock asks the system where the clocks are, which the filter refuses.
        limits.allow_another_file();
        filter_calls();
    }
    limits
}

#[cfg(not(unix))]
pub(super) fn enter() -> WorkerLimits {
    WorkerLimits {}
}

impl WorkerLimits {
    /// Gives the next file its processor time, counted from now. The system ends a worker that takes more (SIGXCPU).
    pub(super) fn allow_another_file(&self) {
        #[cfg(unix)]
        {
            use rustix::process::{Resource, Rlimit, setrlimit};
            use rustix::time::{ClockId, clock_gettime};

            let taken = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
            let _ =
                setrlimit(Resource::Cpu, Rlimit { current: Some(taken + 1 + SECONDS_MAX), maximum: self.seconds_max });
        }
    }
}

/// From here on, every thread may only compute, allocate, use the streams that are open, and end. Other calls fail.
#[cfg(target_os = "linux")]
fn filter_calls() {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    const CALLS: [libc::c_long; 19] = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
    ];
    let program = || -> Option<BpfProgram> {
        let if_zero = |argument, operator| {
            let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, 0).ok()?;
            Some(vec![SeccompRule::new(vec![condition]).ok()?])
        };
        // No limits of other processes, and no memory that holds code.
        let no_code = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
        let restricted = [
            (libc::SYS_prlimit64, if_zero(0, SeccompCmpOp::Eq)?),
            (libc::SYS_mmap, if_zero(2, no_code.clone())?),
            (libc::SYS_mprotect, if_zero(2, no_code)?),
        ];
        let rules = CALLS.into_iter().map(|call| (call, Vec::new())).chain(restricted).collect();
        let refused = SeccompAction::Errno(libc::EPERM as u32);
        let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, std::env::consts::ARCH.try_into().ok()?);
        filter.ok()?.try_into().ok()
    };
    if let Some(program) = program() {
        let _ = seccompiler::apply_filter_all_threads(&program);
    }
}
