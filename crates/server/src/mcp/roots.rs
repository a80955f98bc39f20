//! The roots of a client: asked for once and again when they change, or with every call in versions of the protocol
//! without sessions.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult, ProtocolVersion};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::watch;

use crate::api::state::ServerState;

/// How long to wait for a client to name its roots.
const PATIENCE: Duration = Duration::from_secs(2);
/// Why the roots of a client are not known that does not answer.
const UNANSWERED: &str = "it does not answer roots/list";
/// The name under which roots are asked for and answered.
const ROOTS: &str = "roots";

#[derive(Clone)]
pub struct ClientRoots {
    /// As the next call finds it.
    state: Arc<Mutex<ServerState>>,
    /// Whether the client has said which roots it has, or has none to say.
    rooted: Arc<watch::Sender<bool>>,
    /// Held while roots are asked for and taken: the last answer counts.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl ClientRoots {
    /// A client whose roots are not known yet.
    pub fn new(state: ServerState) -> ClientRoots {
        ClientRoots {
            state: Arc::new(Mutex::new(state)),
            rooted: Arc::new(watch::Sender::new(false)),
            turn: Arc::default(),
        }
    }

    /// The state with the roots as they are known.
    pub fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks a client with a session for its roots.
    #[expect(deprecated, reason = "clients of today have roots, whatever becomes of them")]
    pub async fn ask(&self, peer: &Peer<RoleServer>) {
        let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        if has_roots && !self.state().is_fixed() {
            let turn = self.turn.lock().await;
            let named = match tokio::time::timeout(PATIENCE, peer.list_roots()).await {
                Ok(Ok(listed)) => Ok(listed.roots.into_iter().map(|root| root.uri).collect()),
                Ok(Err(ServiceError::McpError(refused))) => Err(format!("it refuses roots/list: {}", refused.message)),
                Ok(Err(error)) => Err(format!("its answer to roots/list can't be read: {error}")),
                Err(_) => Err(UNANSWERED.to_string()),
            };
            self.take(named).await;
            drop(turn);
        }
        self.rooted.send_replace(true);
    }

    /// The state to answer a call with.
    ///
    /// # Errors
    /// When the client must be asked first; the error is the question.
    pub async fn for_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<ServerState, Box<InputRequiredResult>> {
        if self.state().is_fixed() {
            return Ok(self.state());
        }
        let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
        let version = context.protocol_version();
        if version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
            let mut rooted = self.rooted.subscribe();
            // A client that never answers gets the folder that the server was started in.
            let is_known = tokio::time::timeout(PATIENCE, rooted.wait_for(|is_rooted| *is_rooted)).await.is_ok();
            // Roots that are being taken count.
            drop(self.turn.lock().await);
            let mut state = self.state();
            let had_roots = context.peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
            if !is_known && had_roots && !*self.rooted.borrow() {
                state.lack_roots(UNANSWERED);
            }
            return Ok(state);
        }
        if !has_roots {
            return Ok(self.state());
        }
        match request.input_responses.as_ref().and_then(|answers| answers.get(ROOTS)) {
            Some(answer) => {
                let _turn = self.turn.lock().await;
                Ok(self.take(addresses(answer)).await)
            }
            // Nothing tells of changes, so each call asks.
            None => {
                let asked = [(ROOTS.to_string(), roots_request())];
                Err(Box::new(InputRequiredResult::from_input_requests(asked.into())))
            }
        }
    }

    /// Takes the roots at these addresses over, or the reason why the client named none; the state with them.
    async fn take(&self, roots: Result<Vec<String>, String>) -> ServerState {
        let mut state = self.state();
        let take = move || match roots {
            Ok(roots) => state.take_roots(&roots).map(|()| state),
            Err(why) => {
                state.lack_roots(&why);
                Ok(state)
            }
        };
        let taken = tokio::task::spawn_blocking(take).await;
        if let Ok(Ok(state)) = taken {
            *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        }
        self.state()
    }
}

/// The request for a client's roots.
#[expect(deprecated, reason = "clients of today have roots, whatever becomes of them")]
fn roots_request() -> InputRequest {
    InputRequest::ListRoots(rmcp::model::ListRootsRequest::default())
}

/// The addresses in a client's answer.
///
/// # Errors
/// When it is no list of roots; why not.
fn addresses(answer: &Value) -> Result<Vec<String>, String> {
    let roots = answer["roots"].as_array().ok_or("its answer to roots/list has no list `roots`")?;
    let address = |root: &Value| Some(root["uri"].as_str()?.to_string());
    let all = roots.iter().map(|root| address(root).ok_or("a root in its answer to roots/list has no `uri`"));
    Ok(all.collect::<Result<_, _>>()?)
}
