//! MCP over Streamable HTTP, at one address.
//!
//! The server keeps no sessions: each request is answered by itself, as versions of the protocol from 2026-07-28 on have
//! it and earlier ones allow, so clients occupy no memory between requests. Names, origins, the token and rights are
//! checked as for every other route.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, post};
use rmcp::model::{Extensions, ProtocolVersion};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::App;
use super::api::{BODY_BYTES_MAX, is_json, whole};
use super::gate::ANSWER_BYTES_MAX;
use super::guard::Caller;
use super::problem::Problem;
use crate::mcp::{BatchPart, CallWork, McpServer, PendingAnswer, Worker, batch_parts, refused};

pub const PATH: &str = "/mcp";

/// The header of the protocol's version.
const VERSION: &str = "mcp-protocol-version";
/// Most messages of a batch: one after the other, they take the place of one request.
const BATCH_MAX: usize = 32;

/// The library's end of the route.
type McpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// Works on calls as on every other request of the server.
struct HttpWorker(Arc<App>);

impl Worker for HttpWorker {
    fn work(&self, request: &Extensions, work: CallWork) -> PendingAnswer<'_> {
        let caller = caller(request).cloned().unwrap_or_default();
        Box::pin(async move {
            let answer = self.0.work(&caller, |_, _| work()).await.map_err(Problem::into_detail)?;
            self.0.metrics.count_partial(answer.is_partial());
            Ok(answer)
        })
    }

    /// The gate admits requests.
    fn admit(&self) -> Pin<Box<dyn Future<Output = Box<dyn Send>> + Send + '_>> {
        Box::pin(async { Box::new(()) as Box<dyn Send> })
    }

    fn allowed(&self, request: &Extensions) -> Option<Vec<String>> {
        // An unknown caller may see nothing.
        caller(request).map_or_else(|| Some(Vec::new()), |caller| caller.allowed.clone())
    }
}

fn caller(request: &Extensions) -> Option<&Caller> {
    request.get::<Parts>()?.extensions.get::<Caller>()
}

pub fn route(app: &Arc<App>) -> MethodRouter<Arc<App>> {
    let server = McpServer::with_own_roots(app.state.clone(), Arc::new(HttpWorker(Arc::clone(app))));
    // Names and origins are checked for all routes.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = McpService::new(move || Ok(server.clone()), Arc::default(), config);
    let app = Arc::clone(app);
    post(async move |request: Request| answer(&app, &service, request).await)
}

/// Names the forms of an answer for a client that takes any: the library looks for their names alone.
fn name_accepted(headers: &mut HeaderMap) {
    let given = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let takes_any = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        parts.next() == Some("*/*") && !parts.any(|part| part == "q=0")
    };
    if !headers.contains_key(ACCEPT) || given.flat_map(|value| value.split(',')).any(takes_any) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Whether a client may send batches: one version of the protocol has them, which is named by no header.
fn takes_batches(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_none_or(|version| version.as_bytes() == ProtocolVersion::V_2025_03_26.as_str().as_bytes())
}

/// Answers the messages of a batch one after the other. Progress is left out.
async fn answer_batch(
    app: &App,
    service: &McpService,
    parts: &Parts,
    batch: Vec<BatchPart>,
) -> Result<Response, Problem> {
    if batch.len() > BATCH_MAX {
        return Err(Problem::invalid(format!("a batch has at most {BATCH_MAX} messages")));
    }
    let (mut answers, mut bytes) = (Vec::new(), 0);
    for part in batch {
        let message = match part {
            Ok(message) => message,
            Err(error) => {
                answers.push(error);
                continue;
            }
        };
        let request = Request::from_parts(parts.clone(), Body::from(message));
        let answer = to_bytes(Body::new(service.handle(request).await.into_body()), ANSWER_BYTES_MAX).await;
        let answer = answer.map_err(|_| Problem::too_long(ANSWER_BYTES_MAX))?;
        bytes += answer.len();
        if bytes > ANSWER_BYTES_MAX {
            return Err(Problem::too_long(ANSWER_BYTES_MAX));
        }
        // An answer alone, or one behind the events of its progress.
        let text = String::from_utf8_lossy(&answer);
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let messages = std::iter::once(&*text).chain(events).filter_map(|text| serde_json::from_str(text.trim()).ok());
        answers
            .extend(messages.filter(|message: &Value| message.get("id").is_some() && message.get("method").is_none()));
    }
    if answers.is_empty() {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    let body = app.gate.body(Value::from(answers).to_string().into_bytes())?;
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

async fn answer(app: &App, service: &McpService, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    name_accepted(&mut parts.headers);
    let read = tokio::time::timeout(app.patience, whole(body));
    let bytes = read.await.map_err(|_| Problem::late(app.patience))??;
    let batch = batch_parts(&bytes).filter(|_| is_json(&parts.headers) && takes_batches(&parts.headers));
    if let Some(batch) = batch {
        return answer_batch(app, service, &parts, batch).await;
    }
    // The library answers what is no message in a text of its own.
    if let Some(error) = refused(&bytes).filter(|_| is_json(&parts.headers)) {
        return Ok((StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], error).into_response());
    }
    let (parts, body) = service.handle(Request::from_parts(parts, Body::from(bytes))).await.into_parts();
    let is_json = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    // Progress and the answer after it come one by one; an answer alone counts until it is read.
    let body = match is_json {
        true => {
            let whole = to_bytes(Body::new(body), ANSWER_BYTES_MAX).await;
            app.gate.body(whole.map_err(|_| Problem::too_long(ANSWER_BYTES_MAX))?.into())?
        }
        false => Body::new(body),
    };
    Ok(Response::from_parts(parts, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_anything_takes_both_forms() {
        const BOTH: &str = "application/json, text/event-stream";
        for (given, expected) in [
            (&[][..], &[BOTH][..]),
            (&["*/*"], &[BOTH]),
            (&["text/html, */*;q=0.8"], &[BOTH]),
            (&["text/html", "*/*"], &[BOTH]),
            (&["*/*;q=0"], &["*/*;q=0"]),
            (&["application/json"], &["application/json"]),
            (&[BOTH], &[BOTH]),
        ] {
            let mut headers = HeaderMap::new();
            given.iter().for_each(|value| _ = headers.append(ACCEPT, HeaderValue::from_static(value)));
            name_accepted(&mut headers);
            assert_eq!(headers.get_all(ACCEPT).iter().collect::<Vec<_>>(), expected, "{given:?}");
        }
    }
}
