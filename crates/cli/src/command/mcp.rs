//! `colgrep mcp`: searches for coding agents, as an MCP server on standard input and output.
//!
//! The index stays open between calls and is looked at again only when the system says that a file changed. Between
//! calls nothing runs, but the making of vectors that a call had no time for. Nothing outside the roots is read.

mod about;
mod block;
mod ends;
mod files;
mod history;
mod intake;
mod local;
mod page;
mod params;
mod report;
mod schema;
mod state;
mod tools;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_engine::env::Env;
use ends::Answered;
use intake::{Load, Pipes};
use report::{Reporter, forward};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString as _, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, Implementation, ProgressToken, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use serde_json::json;
use state::ServerState;
use tokio::sync::watch;

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
line in parentheses gives the offset of the next page. Each answer names its roots, what git has checked out there, and how \
current the index is.";

/// Requests that are worked on at once, for each core. The others wait their turn.
const AT_WORK_A_CORE_MAX: usize = 2;

pub(super) fn run(args: &McpArgs, env: &Env) -> Result<u8> {
    limit_threads(args.walk.threads);
    let state = ServerState::new(args, env)?;
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
        let (state, rooted) = (Arc::new(Mutex::new(state)), Arc::new(watch::Sender::new(false)));
        let mut tool_router = Server::tool_router();
        tool_router.map.values_mut().for_each(|route| schema::describe(&mut route.attr));
        let server = Server { state, load, tool_router, rooted };
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
    /// As the next call finds it.
    state: Arc<Mutex<ServerState>>,
    load: Load,
    tool_router: ToolRouter<Self>,
    /// Whether the client has said which roots it has, or has none to say.
    rooted: Arc<watch::Sender<bool>>,
}

/// How long a client is waited for that has roots and does not say which.
const ROOTS_PATIENCE: Duration = Duration::from_secs(2);

tokio::task_local! {
    /// Where the progress of the current call goes, if the client wants to know.
    static REPORT: Option<(ProgressToken, Peer<RoleServer>)>;
}

impl Server {
    fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the client's roots, unless the server was given its own.
    #[expect(deprecated, reason = "clients of today have roots, whatever becomes of them")]
    async fn take_roots(&self, peer: &Peer<RoleServer>) {
        let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        if !has_roots || self.state().is_fixed() {
            return;
        }
        if let Ok(Ok(listed)) = tokio::time::timeout(ROOTS_PATIENCE, peer.list_roots()).await {
            let roots: Vec<String> = listed.roots.into_iter().map(|root| root.uri).collect();
            let mut state = self.state();
            let taken = tokio::task::spawn_blocking(move || state.take_roots(&roots).then_some(state)).await;
            if let Ok(Some(state)) = taken {
                *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
            }
        }
    }

    /// Runs `work` beside the protocol, so that pings are answered while an index is built.
    async fn answer<A: Into<Answered>>(
        &self,
        work: impl FnOnce(&ServerState) -> Result<A> + Send + 'static,
    ) -> Result<CallToolResult, ErrorData> {
        let full = |error: tokio::sync::AcquireError| ErrorData::internal_error(error.to_string(), None);
        let _waits = self.load.requests.acquire().await.map_err(full)?;
        let _works = self.load.work.acquire().await.map_err(full)?;
        let mut rooted = self.rooted.subscribe();
        // Who never says is answered about what the server was started in.
        let _ = tokio::time::timeout(ROOTS_PATIENCE, rooted.wait_for(|is_rooted| *is_rooted)).await;
        let mut state = self.state();
        let forwarded = REPORT.try_with(Clone::clone).ok().flatten().map(|(token, peer)| {
            let (reporter, from) = Reporter::new();
            state.listener = Arc::new(reporter);
            tokio::spawn(forward(from, token, peer))
        });
        let answered = tokio::task::spawn_blocking(move || {
            state.check_roots()?;
            let answered: Answered = work(&state)?.into();
            anyhow::Ok((answered, about::rows(&state)))
        });
        let answered = answered.await;
        if let Some(forwarded) = forwarded {
            // Progress comes before the answer.
            let _ = forwarded.await;
        }
        match answered {
            Ok(Ok((Answered { text, remarks, hits }, roots))) => {
                let about = remarks + &about::text(&roots);
                let mut result =
                    CallToolResult::success(vec![ContentBlock::text(text.as_str()), ContentBlock::text(about)]);
                let mut content = json!({"answer": text, "roots": roots});
                if let Some(hits) = hits {
                    content["hits"] = hits.into();
                }
                result.structured_content = Some(content);
                Ok(result)
            }
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
        self.answer(move |state| files::grep(state, &asked)).await
    }

    /// Lists the units of a file in order: lines, kind, signature.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn outline(&self, Parameters(asked): Parameters<params::Outline>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| files::outline(state, &asked)).await
    }

    /// Gives the numbered lines of one unit: the one around a line, or the one of a name.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn read_unit(&self, Parameters(asked): Parameters<params::ReadUnit>) -> Result<CallToolResult, ErrorData> {
        self.answer(move |state| files::read_unit(state, &asked)).await
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
        self.answer(files::status).await
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("colgrep", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let (Some(arguments), Some(route)) = (&mut request.arguments, self.tool_router.map.get(&request.name)) {
            schema::fit(arguments, &route.attr.input_schema);
        }
        let report = context.meta.get_progress_token().map(|token| (token, context.peer.clone()));
        REPORT.scope(report, self.tool_router.call(ToolCallContext::new(self, request, context))).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.take_roots(&context.peer).await;
        self.rooted.send_replace(true);
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.take_roots(&context.peer).await;
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
