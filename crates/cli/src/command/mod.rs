//! The subcommands, one a file.

mod behind;
mod clear;
mod completions;
mod doctor;
pub mod grep;
#[cfg(feature = "serve")]
mod hook;
mod impact;
mod init;
#[cfg(feature = "serve")]
mod install;
pub mod knobs;
mod levels;
mod log;
#[cfg(feature = "lsp")]
mod lsp;
pub mod man;
mod many;
#[cfg(feature = "serve")]
mod mcp;
mod others;
mod outline;
#[cfg(feature = "cluster")]
mod over;
#[cfg(feature = "share")]
mod pull;
#[cfg(feature = "share")]
mod push;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod set_model;
mod settings;
#[cfg(feature = "share")]
mod share;
mod stats;
mod status;

use std::path::Path;

use anyhow::Result;
use colgrep_engine::settings::env::Env;

use crate::args::{Args, Command, Plan};
use crate::limits;

/// Runs the command and returns the exit status.
///
/// # Errors
/// Anything that ends in exit status 2.
pub fn run(args: &Args, env: &Env) -> Result<u8> {
    match &args.command {
        None if args.stats => stats::run(args.search.format().is_json(), env),
        None => search::run(Plan::read(&args.search)?, env),
        Some(Command::Search(search)) => search::run(Plan::read(search)?, env),
        Some(Command::Log(log)) => log::run(log, env),
        Some(Command::Impact(impact)) => impact::run(impact, env),
        Some(Command::Init(init)) => init::run(init, env),
        Some(Command::Status(status)) => status::run(status, env),
        #[cfg(feature = "share")]
        Some(Command::Push(push)) => push::run(push, env),
        #[cfg(feature = "share")]
        Some(Command::Pull(pull)) => pull::run(pull, env),
        Some(Command::Clear(clear)) => clear::run(clear, env),
        Some(Command::Outline(outline)) => outline::run(outline),
        Some(Command::Settings(settings)) => settings::run(settings, env),
        Some(Command::SetModel(model)) => set_model::run(model, env),
        Some(Command::Doctor(doctor)) => doctor::run(doctor, env),
        Some(Command::Knobs(knobs)) => knobs::run(knobs, env),
        #[cfg(feature = "serve")]
        Some(Command::Mcp(mcp)) => mcp::run(mcp, env),
        #[cfg(feature = "serve")]
        Some(Command::Serve(serve)) => serve::run(serve, env),
        #[cfg(feature = "serve")]
        Some(Command::Install(agent)) => install::install(agent, env),
        #[cfg(feature = "serve")]
        Some(Command::Uninstall(agent)) => install::uninstall(agent, env),
        #[cfg(feature = "serve")]
        Some(Command::Hook(hook)) => hook::run(hook, env),
        #[cfg(feature = "lsp")]
        Some(Command::Lsp(lsp)) => lsp::run(lsp, env),
        #[cfg(not(feature = "lsp"))]
        Some(Command::Lsp(_)) => left_out("lsp", "lsp"),
        Some(Command::Completions(completions)) => completions::run(completions),
        Some(Command::Man(man)) => man::run(man),
        #[cfg(not(feature = "share"))]
        Some(Command::Push(_) | Command::Pull(_)) => left_out("push and pull", "share"),
        #[cfg(not(feature = "serve"))]
        Some(Command::Mcp(_) | Command::Serve(_) | Command::Install(_) | Command::Uninstall(_) | Command::Hook(_)) => {
            left_out("mcp, serve, install and hook", "serve")
        }
    }
}

/// Refuses what this build leaves out.
#[cfg(not(all(feature = "cluster", feature = "lsp", feature = "serve", feature = "share")))]
fn left_out(what: &str, feature: &str) -> Result<u8> {
    anyhow::bail!("{what}: this colgrep was built without the Cargo feature `{feature}`; build it with that feature")
}

fn limit_threads(threads: Option<usize>) {
    let cores = std::thread::available_parallelism().map_or(4, usize::from);
    let wanted = match threads.filter(|n| *n > 0) {
        Some(threads) => threads.min(4 * cores),
        None if limits::is_tight() => 1,
        None => cores,
    };
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).start_handler(limits::widen_heap_of_thread);
    // Fails where the system gives no more threads; one is there already.
    if pool(wanted).build_global().is_err() {
        let _ = pool(1).use_current_thread().build_global();
    }
}

/// The folder of a command: the given one, or the current one.
fn folder_or_here(path: Option<&Path>) -> &Path {
    path.unwrap_or(Path::new("."))
}
