//! Work whose processes are kept from networks: one that makes a socket to anything but this machine ends by a signal.

use anyhow::Result;

/// Does `work` in a thread from which no process reaches a network. On systems other than Linux, the network stays
/// available.
pub(super) fn apart<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let run = || {
        #[cfg(target_os = "linux")]
        forbid_networks()?;
        work()
    };
    // A filter stays with its thread for good, so the thread is a new one.
    let done = std::thread::scope(|scope| scope.spawn(run).join());
    done.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
}

#[cfg(target_os = "linux")]
fn forbid_networks() -> Result<()> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };
    let of_this_machine = libc::AF_UNIX as u64;
    let family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, of_this_machine)?;
    let sockets = (libc::SYS_socket, vec![SeccompRule::new(vec![family])?]);
    // A ring of requests to the system could make one too.
    let rings = (libc::SYS_io_uring_setup, Vec::new());
    let rules = [sockets, rings].into_iter().collect();
    let architecture = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, architecture)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}
