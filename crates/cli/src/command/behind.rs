//! Background indexing: a process of the lowest priority that finishes what a search had no time for, then exits.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::{Left, Opening, go_on};
use colgrep_engine::session::Session;
use colgrep_engine::settings::env::Env;

use super::limit_threads;
use crate::FOUND;
use crate::args::{InitArgs, Plan};

/// The flag of `init` that marks a background process.
const FLAG: &str = "--behind";
/// Work between two commits, after which the index is checked again.
const PORTION: Duration = Duration::from_secs(10);
/// A pause between portions, in which a search that waits gets the lock.
const PAUSE: Duration = Duration::from_millis(50);
/// How long it waits for another process before it leaves the rest to the next search.
const BUSY_MAX: Duration = Duration::from_secs(60);
/// Longest life of such a process.
const LIFE: Duration = Duration::from_secs(3_600);
/// What the threads give way by: the most that there is.
#[cfg(unix)]
const NICENESS: i32 = 19;

/// Starts a process for each project with an unfinished index, unless one is running. A failure here is ignored: the
/// next search tries again.
pub fn start(session: &Session, plan: &Plan) {
    for project in session.unfinished().filter(|project| !project.store.is_worked_behind()) {
        let Some(mut command) = command(&project.root, plan) else { return };
        let _ = command.spawn();
    }
}

/// The process for one project, of this program under whatever name it has.
fn command(root: &Path, plan: &Plan) -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["init", FLAG, "--quiet"]);
    if let Some(model) = &plan.open.model {
        command.arg(format!("--model={model}"));
    }
    if let Some(mode) = plan.open.vectors {
        command.arg(format!("--index-mode={}", mode.name()));
    }
    if let Some(threads) = plan.threads {
        command.arg(format!("--threads={threads}"));
    }
    command.arg("--").arg(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Elsewhere the process does this itself, see `run`.
    #[cfg(windows)]
    {
        const DETACHED_PROCESS: u32 = 0x0000_0008;
        const IDLE_PRIORITY_CLASS: u32 = 0x0000_0040;
        std::os::windows::process::CommandExt::creation_flags(&mut command, DETACHED_PROCESS | IDLE_PRIORITY_CLASS);
    }
    Some(command)
}

/// The work of such a process: portion by portion until nothing is left, the project is gone, or others are at it.
///
/// # Errors
/// When the project's settings or the model can't be read, or the index can't be written.
pub fn run(args: &InitArgs, env: &Env) -> Result<u8> {
    #[cfg(unix)]
    {
        // It lives on when the terminal or the caller's group of processes ends.
        let _ = rustix::process::setsid();
        let _ = rustix::process::nice(NICENESS);
    }
    let (mut project, _) = Project::around(super::folder_or_here(args.path.as_deref()), env)?;
    let Some(_alone) = project.store.behind_lock() else { return Ok(FOUND) };
    let settings = project.settings(env)?;
    limit_threads(args.walk.threads);
    let opening: Opening = args.walk.open_options(args.model.clone()).with(&settings);
    let model = Model::of_index(&opening.choice, &env.working_on([&project.root]))?;
    let (begun, mut last_done) = (Instant::now(), Instant::now());
    while begun.elapsed() < LIFE && last_done.elapsed() < BUSY_MAX {
        match go_on(&project, model.as_ref(), PORTION)? {
            Left::Nothing => break,
            Left::Some(done) if done > 0 => last_done = Instant::now(),
            Left::Some(_) | Left::Busy => {}
        }
        std::thread::sleep(PAUSE);
    }
    Ok(FOUND)
}
