//! The requests of `served` over HTTP: parameters in JSON, the structured answer in JSON.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use colgrep_engine::Refused;
use colgrep_engine::request::QUERY_BYTES_MAX;
use http_body::Body as _;
use serde::Serialize;
use serde_json::{Map, Value};

use axum::routing::MethodRouter;

use super::App;
use super::guard::Caller;
use super::problem::Problem;
use crate::api::Tool;
use crate::api::state::ServerState;

/// The longest body that is taken, in bytes.
pub const BODY_BYTES_MAX: usize = 256 << 10;
/// Bytes of a longer body that are read and dropped. A client that is cut off while it sends may never see why.
const DROPPED_BYTES_MAX: usize = 4 << 20;

pub type Route = MethodRouter<Arc<App>>;

/// The query of a request, kept with its answer for the log.
#[derive(Clone, Debug)]
pub struct AskedQuery(pub String);

pub const PATH: &str = "/api/v1/";

/// Whether a request has parameters: it is asked by POST then.
pub fn has_parameters(tool: &Tool) -> bool {
    tool.input.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty())
}

pub fn requests(tools: &[Tool]) -> impl Iterator<Item = (String, Route)> {
    tools.iter().enumerate().map(|(at, tool)| {
        let mut route = Route::new();
        if has_parameters(tool) {
            route =
                route.post(async move |State(app): State<Arc<App>>, request: Request| answer(app, at, request).await);
        }
        route = route.get(async move |State(app): State<Arc<App>>, request: Request| by_get(app, at, request).await);
        (format!("{PATH}{}", tool.name), route)
    })
}

async fn answer(app: Arc<App>, at: usize, request: Request) -> Result<Response, Problem> {
    let caller = caller(&request);
    let parameters = parameters(&app, request, &app.tools[at].input).await?;
    answered(&app, at, parameters, caller).await
}

/// A request whose parameters are those of its address, as in `?query=retry&languages=go&languages=rust`.
async fn by_get(app: Arc<App>, at: usize, request: Request) -> Result<Response, Problem> {
    let caller = caller(&request);
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(request.uri())
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "invalid", error.body_text()))?;
    let parameters = of_pairs(pairs);
    check_required(&parameters, &app.tools[at].input)?;
    answered(&app, at, parameters, caller).await
}

/// Parameters of an address; a repeated one is a list.
fn of_pairs(pairs: Vec<(String, String)>) -> Map<String, Value> {
    let mut parameters = Map::new();
    for (name, value) in pairs {
        match parameters.get_mut(&name) {
            Some(Value::Array(all)) => all.push(value.into()),
            Some(one) => *one = Value::Array(vec![one.take(), value.into()]),
            None => {
                parameters.insert(name, value.into());
            }
        }
    }
    parameters
}

pub fn caller(request: &Request) -> Caller {
    request.extensions().get::<Caller>().cloned().unwrap_or_default()
}

async fn answered(
    app: &Arc<App>,
    at: usize,
    parameters: Map<String, Value>,
    caller: Caller,
) -> Result<Response, Problem> {
    let query = parameters.get("query").and_then(Value::as_str).filter(|_| app.logs_queries).map(str::to_string);
    let call = app.tools[at].call(parameters).map_err(|error| Problem::invalid(error.to_string()))?;
    let work = move |_: &App, state: &ServerState| {
        let answer = crate::api::answer(state, call)?;
        Ok((answer.is_partial(), answer.content()))
    };
    let mut response = match app.work(&caller, work).await {
        Ok((is_partial, content)) => {
            app.metrics.count_partial(is_partial);
            json(app, &content)?
        }
        Err(problem) => problem.into_response(),
    };
    if let Some(query) = query {
        response.extensions_mut().insert(AskedQuery(query));
    }
    Ok(response)
}

/// An answer in JSON.
///
/// # Errors
/// When there is no room for it.
pub fn json(app: &App, content: &impl Serialize) -> Result<Response, Problem> {
    let bytes = serde_json::to_vec(content).map_err(|error| Problem::failed(error.to_string()))?;
    Ok(([(CONTENT_TYPE, "application/json")], app.gate.body(bytes)?).into_response())
}

/// Reads the body of a request: an object of JSON with all that its schema requires.
///
/// # Errors
/// When it is another one, too long, or does not come.
pub async fn parameters(
    app: &App,
    request: Request,
    schema: &Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    if !is_json(request.headers()) {
        let detail = "parameters come as an object of JSON, with Content-Type: application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", detail));
    }
    let read = tokio::time::timeout(app.patience, whole(request.into_body()));
    let bytes = read.await.map_err(|_| Problem::late(app.patience))??;
    let parameters: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid", format!("the body is not a JSON object: {error}"))
    })?;
    check_required(&parameters, schema)?;
    Ok(parameters)
}

/// Refuses parameters that lack what the schema requires.
fn check_required(parameters: &Map<String, Value>, schema: &Map<String, Value>) -> Result<(), Problem> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !parameters.contains_key(*name)) {
        Some(name) => Err(Problem::invalid(format!("the parameter `{name}` is missing"))),
        None => Ok(()),
    }
}

/// All of a body.
///
/// # Errors
/// When it is too long, or breaks off.
pub async fn whole(mut body: Body) -> Result<Vec<u8>, Problem> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "invalid", error.to_string()))?;
        let Ok(piece) = frame.into_data() else { continue };
        length += piece.len();
        if length <= BODY_BYTES_MAX {
            bytes.extend_from_slice(&piece);
        } else if length > DROPPED_BYTES_MAX {
            break;
        }
    }
    if length <= BODY_BYTES_MAX {
        return Ok(bytes);
    }
    let query = Refused::TooLong { bytes_max: QUERY_BYTES_MAX };
    let detail = format!("the body is larger than {} KiB, the most that is read; {query}", BODY_BYTES_MAX >> 10);
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail))
}

/// Whether the body is JSON. A form of another site's page can't say so without asking first.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_repeated_parameter_of_an_address_is_a_list() {
        let pairs = [("query", "a b"), ("languages", "go"), ("languages", "rust"), ("languages", "c")];
        let given = of_pairs(pairs.map(|(name, value)| (name.to_string(), value.to_string())).to_vec());
        assert_eq!(Value::Object(given), json!({"query": "a b", "languages": ["go", "rust", "c"]}));
    }
}
