//! `colgrep mcp`: searches for coding agents, as an MCP server on standard input and output.
//!
//! The index stays open between calls and is looked at again only when the system says that a file changed. Between
//! calls nothing runs, but the making of vectors that a call had no time for. Nothing outside the roots is read.

mod history;
mod intake;
mod page;
mod params;
mod state;
mod tools;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use colgrep_engine::env::Env;
use intake::{Load, Pipes};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestMethod, CallToolResult, ConstString as _, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use state::ServerState;

use super::limit_threads;
use crate::FOUND;
use crate::args::McpArgs;
use crate::hint::for_tools;

/// What the server says of itself: facts, in the order of use.
const INSTRUCTIONS: &str = "colgrep searches the code below its roots without network. `search` ranks units (functions, \
classes, constants, headings) by words, names and meaning; `grep` gives every line that matches a regular expression; `outline` \
lists the units of a file; `read_unit` gives one unit's lines; `find_related` gives units like the one on a line; \
`history` ranks commits and sessions: why code is as it is; \
`status` tells what is indexed. Answers are text with paths from the first root; tokens are counted as bytes / 4; a last \
line in parentheses gives the offset of the next page.";

/// Requests that are worked on at once, for each core. The others wait their turn.
const AT_WORK_A_CORE_MAX: usize = 2;

pub(super) fn run(args: &McpArgs, env: &Env) -> Result<u8> {
    limit_threads(args.walk.threads);
    let state = Arc::new(ServerState::new(args, env)?);
    let at_work_max = AT_WORK_A_CORE_MAX * rayon::current_num_threads();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        // Those at work, and one that writes.
        .max_blocking_threads(at_work_max + 1)
        .build()
        .context("no runtime for the server")?;
    runtime.block_on(async {
        let load = Load::new(at_work_max);
        let pipes = Pipes::open(&load);
        let server = Server { state, load, tool_router: Server::tool_router() };
        let running = server.serve(pipes).await.context("the client did not begin as MCP says")?;
        running.waiting().await.context("the server stopped")?;
        anyhow::Ok(())
    })?;
    // The thread that reads standard input may still wait for a line that never comes.
    runtime.shutdown_background();
    Ok(FOUND)
}

/// The server: one state, many tools.
#[derive(Clone)]
struct Server {
    state: Arc<ServerState>,
    load: Load,
    tool_router: ToolRouter<Self>,
}

impl Server {
    /// Runs `work` beside the protocol, so that pings are answered while an index is built.
    async fn answer(
        &self,
        work: impl FnOnce(&ServerState) -> Result<String> + Send + 'static,
    ) -> Result<CallToolResult, ErrorData> {
        let full = |error: tokio::sync::AcquireError| ErrorData::internal_error(error.to_string(), None);
        let _waits = self.load.requests.acquire().await.map_err(full)?;
        let _works = self.load.work.acquire().await.map_err(full)?;
        let state = Arc::clone(&self.state);
        let answered = tokio::task::spawn_blocking(move || work(&state)).await;
        match answered {
            Ok(Ok(text)) => Ok(CallToolResult::success(vec![ContentBlock::text(text)])),
            // A mistake in the question is the agent's to read and mend.
            Ok(Err(error)) => Ok(CallToolResult::error(vec![ContentBlock::text(for_tools(&error))])),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

#[tool_router]
impl Server {
    /// Ranks units of code and text by a question in words or names; gives path, lines, kind, name and signature of each.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn search(&self, Parameters(asked): Parameters<params::Search>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| tools::search(state, &asked)).await
    }

    /// Gives every line that matches a regular expression, as path:line:text.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn grep(&self, Parameters(asked): Parameters<params::Grep>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| tools::grep(state, &asked)).await
    }

    /// Lists the units of a file in order: lines, kind, signature.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn outline(&self, Parameters(asked): Parameters<params::Outline>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| tools::outline(state, &asked)).await
    }

    /// Gives the numbered lines of one unit: the one around a line, or the one of a name.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn read_unit(&self, Parameters(asked): Parameters<params::ReadUnit>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| tools::read_unit(state, &asked)).await
    }

    /// Ranks units that are like the unit on a line of a file.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn find_related(&self, Parameters(asked): Parameters<params::Related>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| tools::find_related(state, &asked)).await
    }

    /// Ranks commits, and agents' sessions where the user's settings name them, by a question; or gives the newest.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn history(&self, Parameters(asked): Parameters<params::History>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| history::history(state, &asked)).await
    }

    /// Tells the roots, what is indexed, and whether changes are noticed as they happen.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn status(&self) -> Result<CallToolResult, ErrorData> {
        self.answer(tools::status).await
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("colgrep", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    /// Answers requests that the library read and does not know: a method of ours with other parameters than MCP's is told
    /// from a method that is not served (JSON-RPC 2.0, section 5.1).
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        Err(match method.as_str() {
            CallToolRequestMethod::VALUE => {
                ErrorData::invalid_params("tools/call takes a name and an object of arguments", None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }
}
