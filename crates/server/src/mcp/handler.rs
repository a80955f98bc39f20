//! The requests of MCP, whatever carries them: which tools there are, and their calls.

use std::pin::Pin;
use std::sync::Arc;

use colgrep_render::words::in_short;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString as _, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, Extensions, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool as ListedTool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::listing::listed;
use super::report::{Reporter, forward};
use super::roots::ClientRoots;
use super::{INSTRUCTIONS, INSTRUCTIONS_OVER_SHARDS};
use crate::api::ended::CallEnd;
use crate::api::state::ServerState;
use crate::api::{ApiAnswer, Tool, answer, bounded, offered};

/// The key of a request's metadata by which a program asks for the answer as structured content too.
const STRUCTURED: &str = "colgrep/structured";

pub type CallWork = Box<dyn FnOnce() -> anyhow::Result<ApiAnswer> + Send>;
/// An answer that is being worked on; the error is for the agent to read.
pub type PendingAnswer<'w> = Pin<Box<dyn Future<Output = Result<ApiAnswer, String>> + Send + 'w>>;

/// Who works on requests, and for whom.
pub trait Worker: Send + Sync + 'static {
    /// Does the work of a request in another thread, when there is room.
    fn work(&self, request: &Extensions, work: CallWork) -> PendingAnswer<'_>;

    /// Waits for room among the requests that wait; it is taken until what is returned is dropped.
    fn admit(&self) -> Pin<Box<dyn Future<Output = Box<dyn Send>> + Send + '_>>;

    /// The repositories that the caller of a request may see; all where nothing limits it.
    fn allowed(&self, request: &Extensions) -> Option<Vec<String>>;
}

#[derive(Clone)]
pub struct McpServer {
    roots: ClientRoots,
    tools: Arc<[Tool]>,
    listed: Arc<[ListedTool]>,
    worker: Arc<dyn Worker>,
}

impl McpServer {
    /// A server of what the state has, or of its client's roots where none were given.
    pub fn new(state: ServerState, worker: Arc<dyn Worker>) -> McpServer {
        let tools = offered(&state);
        McpServer { listed: listed(&tools).into(), tools: tools.into(), roots: ClientRoots::new(state), worker }
    }

    /// A server of what the state has, whatever roots its clients name.
    pub fn with_own_roots(state: ServerState, worker: Arc<dyn Worker>) -> McpServer {
        McpServer::new(state.with_own_roots(), worker)
    }

    /// Answers a call in another thread, so that pings are answered while an index is built.
    async fn answer(
        &self,
        tool: &Tool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = match tool.call(request.arguments.clone().unwrap_or_default()) {
            Ok(call) => call,
            Err(error) => return Ok(failed(error.to_string(), None).into()),
        };
        let max_tokens = call.max_tokens;
        let _room = self.worker.admit().await;
        let state = match self.roots.for_call(&request, &context).await {
            Ok(state) => state,
            Err(required) => return Ok((*required).into()),
        };
        let end = CallEnd::default();
        // However this ends, nobody waits for the work then.
        let _ends = end.when_dropped();
        let mut state = state.for_caller(self.worker.allowed(&context.extensions)).until(&end);
        let forwarded = context.meta.get_progress_token().map(|token| {
            let (reporter, from) = Reporter::new();
            state.listener = Arc::new(reporter);
            tokio::spawn(forward(from, token, context.peer.clone()))
        });
        let work = self.worker.work(&context.extensions, Box::new(move || answer(&state, call)));
        let answered = tokio::select! {
            answered = work => answered,
            () = context.ct.cancelled() => Err("the call was cancelled".to_string()),
        };
        match answered {
            Ok(answer) => {
                if let Some(forwarded) = forwarded {
                    // Progress comes before the answer.
                    let _ = forwarded.await;
                }
                let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text())]);
                if context.meta.get(STRUCTURED) == Some(&Value::Bool(true)) {
                    result.structured_content = Some(answer.content());
                }
                Ok(result.into())
            }
            // A mistake in the question is the agent's to read and mend.
            Err(why) => Ok(failed(why, max_tokens).into()),
        }
    }
}

/// The answer to a request that can't be answered.
fn failed(why: String, max_tokens: Option<usize>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(bounded(why, max_tokens))])
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let is_over_shards = self.roots.state().shards().is_some();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("colgrep", env!("CARGO_PKG_VERSION")))
            .with_instructions(if is_over_shards { INSTRUCTIONS_OVER_SHARDS } else { INSTRUCTIONS })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.listed.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<ListedTool> {
        self.listed.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == request.name) else {
            let known: Vec<&str> = self.listed.iter().map(|tool| &*tool.name).collect();
            let why = format!("there is no tool {:?} here; there are {}", in_short(&request.name), known.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        };
        self.answer(tool, request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.roots.ask(&context.peer).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.roots.ask(&context.peer).await;
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use colgrep_engine::OpenOptions;
    use colgrep_engine::settings::env::Env;
    use rmcp::ServiceExt as _;
    use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
    use rmcp::transport::Transport;
    use serde_json::json;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;

    /// A client that says what it is told to, and hears nothing.
    struct ScriptedClient(UnboundedReceiver<Value>);

    impl Transport<RoleServer> for ScriptedClient {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            serde_json::from_value(self.0.recv().await?).ok()
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Does no work, and gives it away once nobody waits for it: `None` where it begins.
    struct IdleWorker(UnboundedSender<Option<CallWork>>);

    struct HeldWork(Option<CallWork>, UnboundedSender<Option<CallWork>>);

    impl Drop for HeldWork {
        fn drop(&mut self) {
            let _ = self.1.send(self.0.take());
        }
    }

    impl Worker for IdleWorker {
        fn work(&self, _: &Extensions, work: CallWork) -> PendingAnswer<'_> {
            let held = HeldWork(Some(work), self.0.clone());
            let _ = self.0.send(None);
            Box::pin(async move {
                let _held = held;
                std::future::pending().await
            })
        }

        fn admit(&self) -> Pin<Box<dyn Future<Output = Box<dyn Send>> + Send + '_>> {
            Box::pin(async { Box::new(()) as Box<dyn Send> })
        }

        fn allowed(&self, _: &Extensions) -> Option<Vec<String>> {
            None
        }
    }

    async fn soon<T>(receiver: &mut UnboundedReceiver<T>) -> T {
        tokio::time::timeout(Duration::from_secs(60), receiver.recv()).await.expect("in time").expect("an end")
    }

    #[test]
    fn the_work_of_a_cancelled_call_stops() {
        let data = tempfile::tempdir().expect("a folder");
        // The folder of this crate, in which its tests run.
        let (here, env) = ([".".into()], Env::default().data_in(data.path()));
        let state = ServerState::new(&here, &[], OpenOptions::default(), &env).expect("a root");
        let ((say, said), (give, mut given)) = (unbounded_channel(), unbounded_channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let work = runtime.block_on(async {
            let request = |id: u32, method: &str, params: Value| {
                say.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).expect("a server");
            };
            let note = |method: &str, params: Value| {
                say.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).expect("a server");
            };
            let client = json!({"name": "test", "version": "1"});
            request(
                0,
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
            );
            note("notifications/initialized", json!({}));
            let server = McpServer::new(state, Arc::new(IdleWorker(give)));
            let _running = server.serve(ScriptedClient(said)).await.expect("a client");
            request(1, "tools/call", json!({"name": "search", "arguments": {"query": "cancel a call"}}));
            assert!(soon(&mut given).await.is_none(), "it begins");
            note("notifications/cancelled", json!({"requestId": 1}));
            soon(&mut given).await.expect("the work")
        });
        let error = work().expect_err("nobody waits");
        let of_index = error.downcast_ref::<colgrep_engine::Error>().and_then(colgrep_engine::Error::of_index);
        assert!(matches!(of_index, Some(colgrep_index::Error::Stopped)), "{error:#}");
    }
}
