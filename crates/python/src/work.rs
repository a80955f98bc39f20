//! Runs the engine without holding Python's interpreter lock: other threads continue, Ctrl-C stops the work, progress
//! is reported.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use pyo3::prelude::*;

use crate::failure::{Failure, Result};
use crate::watch::CallWatch;

/// Stack of the thread that works, in bytes: a thread of Python may have less than the engine needs.
const STACK_BYTES: usize = 8 << 20;
/// Pause between two looks at signals and progress.
const POLL: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own, without holding the interpreter lock. On Ctrl-C the work is stopped, and the
/// Python exception is returned afterwards.
pub fn run<T: Send>(
    py: Python<'_>,
    watch: &CallWatch,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        scope(|scope| {
            let (done, ended) = channel::<()>();
            let contained = move || {
                // Dropped however the work ends, which closes the channel.
                let _done = done;
                catch_unwind(AssertUnwindSafe(work))
            };
            let thread = Builder::new().name("colgrep".into()).stack_size(STACK_BYTES);
            let thread = thread.spawn_scoped(scope, contained).map_err(|e| Failure::fault(e.to_string()))?;
            let mut raised = None;
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = Python::attach(|py| look(py, watch, progress.as_ref())).err();
                    if raised.is_some() {
                        watch.stop();
                    }
                }
            }
            let worked = thread.join().unwrap_or_else(Err);
            if raised.is_none() && worked.as_ref().is_ok_and(|worked| worked.is_ok()) {
                // The end of the last phase.
                raised = Python::attach(|py| look(py, watch, progress.as_ref())).err();
            }
            match (raised, worked) {
                (Some(raised), _) => Err(raised),
                (None, Ok(worked)) => Ok(worked?),
                (None, Err(_)) => Err(Failure::fault("a fault of colgrep: please report how it came about").into()),
            }
        })
    })
}

/// Refuses to work in a process that was forked after earlier work: its threads are missing, and waiting for them would
/// never end.
///
/// # Errors
/// In such a process.
pub fn check_process() -> Result<()> {
    static OWN: OnceLock<u32> = OnceLock::new();
    match *OWN.get_or_init(std::process::id) == std::process::id() {
        true => Ok(()),
        false => Err(Failure::request(
            "this process was forked off one that had used colgrep, so its threads are missing; start it by \"spawn\" or \
             \"forkserver\" (multiprocessing.set_start_method)",
        )),
    }
}

/// Checks for signals, and reports the progress.
fn look(py: Python<'_>, watch: &CallWatch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    let (phase, done, all) = watch.progress();
    if let Some(progress) = progress.filter(|_| all > 0) {
        progress.call1(py, (phase, done, all))?;
    }
    Ok(())
}
