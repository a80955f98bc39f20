//! `colgrep mcp`: searches for coding agents, as an MCP server on standard input and output.
//!
//! The index stays open between calls and is looked at again only when the system says that a file changed. Between
//! calls nothing runs, but the making of vectors that a call had no time for. Nothing outside the roots is read.

mod intake;
mod report;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::settings::env::Env;
use intake::{IntakeLimits, Pipes};
use report::{Reporter, forward};
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString as _, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, Implementation, JsonObject, ProgressToken, ServerCapabilities,
    ServerConfig, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt as _, tool_handler};
use tokio::sync::watch;

use crate::api::state::ServerState;
use crate::api::{AT_WORK_A_CORE_MAX, Shards, Tool, answer, offered, schema, unread};
use crate::args::McpArgs;
use colgrep_engine::OpenOptions;
use colgrep_render::advice::for_tools;
use colgrep_render::words::in_short;

/// What the server says of itself: facts, in the order of use.
pub const INSTRUCTIONS: &str = "colgrep searches the code below its roots without network. `search` ranks units (functions, \
classes, constants, headings) by words, names and meaning; `grep` gives every line that matches a regular expression; `outline` \
lists the units of a file; `read_unit` gives one unit's lines; `find_related` gives units like the one on a line; \
`history` ranks commits and sessions: why code is as it is; \
`status` tells what is indexed. Answers are text with paths from the root; of several roots each path begins with the name of \
its own, in answers and in parameters. Tokens are counted as bytes / 4; a last \
line in parentheses gives the offset of the next page. Each answer names its roots, what git has checked out there, and how \
current the index is.";

/// The same of a server over shards.
const INSTRUCTIONS_OVER_SHARDS: &str = "colgrep searches the code of repositories that other machines serve, as one index of all. \
`search` ranks units (functions, classes, constants, headings) by words, names and meaning; `grep` gives matching \
lines of indexed files; `status` tells the repositories and which shards answer. Paths begin with the name of a repository, in answers and in the parameter `paths`; the files themselves \
are not on this machine. Answers are text; tokens are counted as bytes / 4; a last line in parentheses gives the offset of the \
next page. Where shards do not answer, an answer says which.";

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
    let at_work_max = AT_WORK_A_CORE_MAX * rayon::current_num_threads();
    let state = match &args.shards {
        Some(file) => {
            let shards = Shards::open(file, args.shard_token_file.as_deref(), env, at_work_max, false)?;
            ServerState::over(shards, options, env)
        }
        None => ServerState::new(&args.roots, &args.groups, options, env)?,
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
        let tool_router = offered(&state).into_iter().map(route).fold(ToolRouter::new(), ToolRouter::with_route);
        let (state, rooted) = (Arc::new(Mutex::new(state)), Arc::new(watch::Sender::new(false)));
        let server = McpServer { state, load, tool_router, rooted, turn: Arc::default() };
        let running = server.serve(pipes).await.context("the client did not begin as MCP says")?;
        running.waiting().await.context("the server stopped")?;
        anyhow::Ok(())
    })?;
    // The thread that reads standard input may still wait for a line that never comes.
    runtime.shutdown_background();
    Ok(())
}

/// The server: one state, many tools.
#[derive(Clone)]
struct McpServer {
    /// As the next call finds it.
    state: Arc<Mutex<ServerState>>,
    load: IntakeLimits,
    tool_router: ToolRouter<Self>,
    /// Whether the client has said which roots it has, or has none to say.
    rooted: Arc<watch::Sender<bool>>,
    /// Held while roots are asked for and taken: the last answer counts.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// How long a client is waited for that has roots and does not say which.
const ROOTS_PATIENCE: Duration = Duration::from_secs(2);

tokio::task_local! {
    /// Where the progress of the current call goes, if the client wants to know.
    static REPORT: Option<(ProgressToken, Peer<RoleServer>)>;
}

impl McpServer {
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
        let _turn = self.turn.lock().await;
        if let Ok(Ok(listed)) = tokio::time::timeout(ROOTS_PATIENCE, peer.list_roots()).await {
            let roots: Vec<String> = listed.roots.into_iter().map(|root| root.uri).collect();
            let mut state = self.state();
            let taken = tokio::task::spawn_blocking(move || state.take_roots(&roots).map(|()| state)).await;
            if let Ok(Ok(state)) = taken {
                *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
            }
        }
    }

    /// Answers in another thread, so that pings are answered while an index is built.
    async fn answer(&self, tool: &Tool, arguments: JsonObject) -> Result<CallToolResult, ErrorData> {
        let call = match tool.call(arguments) {
            Ok(call) => call,
            Err(error) => {
                let why = unread(&self.state(), &error);
                return Ok(failed(format!("failed to deserialize parameters: {why}")));
            }
        };
        let full = |error: tokio::sync::AcquireError| ErrorData::internal_error(error.to_string(), None);
        let _waits = self.load.requests.acquire().await.map_err(full)?;
        let _works = self.load.work.acquire().await.map_err(full)?;
        let mut rooted = self.rooted.subscribe();
        // Who never says is answered about what the server was started in.
        let _ = tokio::time::timeout(ROOTS_PATIENCE, rooted.wait_for(|is_rooted| *is_rooted)).await;
        // Roots that are being taken count.
        drop(self.turn.lock().await);
        let mut state = self.state();
        let forwarded = REPORT.try_with(Clone::clone).ok().flatten().map(|(token, peer)| {
            let (reporter, from) = Reporter::new();
            state.listener = Arc::new(reporter);
            tokio::spawn(forward(from, token, peer))
        });
        let answered = tokio::task::spawn_blocking(move || answer(&state, call)).await;
        if let Some(forwarded) = forwarded {
            // Progress comes before the answer.
            let _ = forwarded.await;
        }
        match answered {
            Ok(Ok(answer)) => {
                let mut result = CallToolResult::success(answer.texts().map(ContentBlock::text).to_vec());
                result.structured_content = Some(answer.content());
                Ok(result)
            }
            // A mistake in the question is the agent's to read and mend.
            Ok(Err(error)) => Ok(failed(for_tools(&error))),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

/// The answer to a request that can't be answered.
fn failed(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// A tool of the protocol.
fn route(tool: Tool) -> ToolRoute<McpServer> {
    let mut shown = rmcp::model::Tool::new(tool.name, tool.doc, schema::in_plain_types(&tool.input));
    shown.title = Some(tool.title.to_string());
    shown.output_schema = Some(schema::answers().into());
    shown.annotations = Some(ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false)));
    let tool = Arc::new(tool);
    ToolRoute::new_dyn(shown, move |context: ToolCallContext<'_, McpServer>| {
        let (tool, arguments) = (Arc::clone(&tool), context.arguments.unwrap_or_default());
        Box::pin(async move { Ok(context.service.answer(&tool, arguments).await?.into()) })
    })
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("colgrep", env!("CARGO_PKG_VERSION")))
            .with_instructions(if self.state().shards().is_some() { INSTRUCTIONS_OVER_SHARDS } else { INSTRUCTIONS })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tool_router.map.contains_key(&request.name) {
            let mut known: Vec<&str> = self.tool_router.map.keys().map(|name| &**name).collect();
            known.sort_unstable();
            let why = format!("there is no tool {:?} here; there are {}", in_short(&request.name), known.join(", "));
            return Err(ErrorData::invalid_params(why, None));
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

    /// Answers requests that the library parsed but does not know: invalid parameters for a method of MCP are
    /// distinguished from an unknown method (JSON-RPC 2.0, section 5.1).
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
            _ => {
                let why = format!("there is no method {:?} here", in_short(&method));
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None)
            }
        })
    }
}
