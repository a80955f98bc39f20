//! MCP: searches for coding agents, on standard input and output (`colgrep mcp`) or over HTTP (`colgrep serve`).
//!
//! The index stays open between calls and is looked at again only when the system says that a file changed. Between
//! calls nothing runs, but the making of vectors that a call had no time for. Nothing outside the roots is read.

mod batch;
mod handler;
mod intake;
mod listing;
mod report;
mod roots;

use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use colgrep_engine::OpenOptions;
use colgrep_engine::settings::env::Env;
use colgrep_render::advice::for_tools;
use colgrep_render::panic::contained;
use intake::{IntakeLimits, Pipes};
use rmcp::ServiceExt as _;
use rmcp::model::Extensions;
use rmcp::service::ServerInitializeError;

use crate::api::state::ServerState;
use crate::api::{AT_WORK_A_CORE_MAX, Shards};
use crate::args::McpArgs;
use crate::log::{self, LogFormat};
pub use handler::{CallWork, McpServer, PendingAnswer, Worker};
pub use intake::{BatchPart, batch_parts, refused};
pub use listing::LISTED;

/// What the server says of itself: facts, in the order of use.
pub const INSTRUCTIONS: &str = "colgrep searches the code below its roots without network. `search` ranks units (functions, \
classes, constants, headings) by words, names and meaning; with `pattern` alone it gives every line that matches, with \
`name` or `file` (FILE:LINE) the unit itself, with `calls` or `called_by` the callers or what is called. `outline` \
lists the units of a file; `history` ranks commits and sessions: why code is as it is; `impact` ranks \
what else a change affects; `status` tells what is indexed. \
Paths are from the root; with several roots, each path begins with the name of its root, in answers and in parameters. \
Tokens are counted as bytes / 4; a line in parentheses gives the offset of the next page. The last line of an answer \
names the roots, what git has checked out there, and how current the index is.";

/// The same of a server over shards.
const INSTRUCTIONS_OVER_SHARDS: &str = "colgrep searches the code of repositories that other machines serve, as one index of all. \
`search` ranks units (functions, classes, constants, headings) by words, names and meaning; with `pattern` alone it gives \
matching lines of indexed files; `status` tells the repositories and which shards answer. Paths begin with the name of a \
repository, in answers and in the parameter `paths`; the files themselves are not on this machine. Answers are text; tokens \
are counted as bytes / 4; a last line in parentheses gives the offset of the next page. Where shards do not answer, an answer says which.";

/// Serves MCP on standard input and output until the client closes them.
///
/// # Errors
/// When flags contradict each other, or no root can be served.
pub fn run(args: &McpArgs, options: OpenOptions, env: &Env) -> Result<()> {
    if args.shard_token_file.is_some() && args.shards.is_none() {
        bail!(
            "--shard-token-file: it is brought to shards, and none are named (mcp --shards FILE); a server of folders has no \
             token, since it answers whoever started it"
        );
    }
    log::start(LogFormat::Plain);
    let at_work_max = AT_WORK_A_CORE_MAX * rayon::current_num_threads();
    let state = match &args.shards {
        Some(file) => {
            let shards = Shards::open(file, args.shard_token_file.as_deref(), env, at_work_max, false)?;
            ServerState::over(shards, options, env)
        }
        None => ServerState::for_agents(&args.roots, &args.groups, options, env)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        // Those at work, and one that writes.
        .max_blocking_threads(at_work_max + 1)
        .build()
        .context("no runtime for the server")?;
    runtime.block_on(async {
        let load = IntakeLimits::new(at_work_max);
        let pipes = Pipes::open(&load);
        let server = McpServer::new(state, Arc::new(load));
        let running = server.serve(pipes).await.map_err(|error| match error {
            // The library prints its own types.
            ServerInitializeError::ExpectedInitializeRequest(_) => {
                anyhow!("the client's first message is no valid `initialize`, which has protocolVersion, capabilities and clientInfo")
            }
            error => anyhow::Error::from(error).context("the client did not begin as MCP says"),
        })?;
        running.waiting().await.context("the server stopped")?;
        anyhow::Ok(())
    })?;
    // The thread that reads standard input may still wait for a line that never comes.
    runtime.shutdown_background();
    Ok(())
}

impl Worker for IntakeLimits {
    fn work(&self, _: &Extensions, work: CallWork) -> PendingAnswer<'_> {
        Box::pin(async {
            let place = Arc::clone(&self.work).acquire_owned().await.map_err(|error| error.to_string())?;
            let work = move || {
                // A call that is cancelled keeps its place until its work is over.
                let _place = place;
                contained(work).flatten()
            };
            match tokio::task::spawn_blocking(work).await {
                Ok(answered) => answered.map_err(|error| for_tools(&error)),
                Err(error) => Err(error.to_string()),
            }
        })
    }

    fn admit(&self) -> Pin<Box<dyn Future<Output = Box<dyn Send>> + Send + '_>> {
        Box::pin(async {
            let room = Arc::clone(&self.requests).acquire_owned().await;
            Box::new(room) as Box<dyn Send>
        })
    }

    /// Whoever started the server may see all of it.
    fn allowed(&self, _: &Extensions) -> Option<Vec<String>> {
        None
    }
}
