//! The roots of a client: asked for once and again when they change, or with every call in versions of the protocol
//! without sessions.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, InputRequest, InputRequiredResult, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::watch;

use crate::api::state::ServerState;

/// How long to wait for a client to name its roots.
const PATIENCE: Duration = Duration::from_secs(2);
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
            if let Ok(Ok(listed)) = tokio::time::timeout(PATIENCE, peer.list_roots()).await {
                self.take(listed.roots.into_iter().map(|root| root.uri).collect()).await;
            }
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
        let version = context.protocol_version();
        if version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
            let mut rooted = self.rooted.subscribe();
            // A client that never answers gets the folder that the server was started in.
            let _ = tokio::time::timeout(PATIENCE, rooted.wait_for(|is_rooted| *is_rooted)).await;
            // Roots that are being taken count.
            drop(self.turn.lock().await);
            return Ok(self.state());
        }
        let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
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

    /// Takes the roots at these addresses over; the state with them.
    async fn take(&self, roots: Vec<String>) -> ServerState {
        let mut state = self.state();
        let taken = tokio::task::spawn_blocking(move || state.take_roots(&roots).map(|()| state)).await;
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
fn addresses(answer: &Value) -> Vec<String> {
    let roots = answer["roots"].as_array().into_iter().flatten();
    roots.filter_map(|root| Some(root["uri"].as_str()?.to_string())).collect()
}
