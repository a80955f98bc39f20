//! The routes, and what surrounds every one: who may ask, headers, metrics.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use colgrep_cluster::ShardCoverage;
use tracing::Level;

use super::gate::Guest;
use super::guard::{Caller, CallerKey, PeerAddress};
use super::metrics::OPENMETRICS;
use super::problem::{Problem, ProblemCode};
use super::{App, NO_ROOM, api, mcp, openapi, page};
use crate::log;

pub const PAGE: &str = "/";
/// Paths that need no token: they reveal nothing of any repository.
const OPEN: [&str; 3] = [PAGE, "/healthz", "/readyz"];

/// The routes about the server's health.
fn health() -> Router<Arc<App>> {
    let lives = get(async || ([(CONTENT_TYPE, "text/plain")], "ok\n"));
    Router::new().route("/healthz", lives).route("/readyz", get(ready))
}

/// The routes for connections beyond those that there is room for: health, and to come again.
pub fn beside(app: &Arc<App>) -> Router {
    let router = health().fallback(async || Problem::crowded());
    router.layer(from_fn_with_state(Arc::clone(app), around)).with_state(Arc::clone(app))
}

pub fn router(app: &Arc<App>) -> Router {
    let mut router = health().route("/metrics", get(metrics)).route(
        "/openapi.json",
        get(async |State(app): State<Arc<App>>| axum::Json(openapi::document(&app.state, page::described))),
    );
    for (path, kind, text) in page::ASSETS {
        let packed = Bytes::from(page::packed(text));
        let answer = async move |headers: HeaderMap| {
            let plain =
                [(CONTENT_TYPE, HeaderValue::from_static(kind)), (VARY, HeaderValue::from_static("Accept-Encoding"))];
            match page::takes_gzip(&headers) {
                true => (plain, [(CONTENT_ENCODING, "gzip")], packed.clone()).into_response(),
                false => (plain, text).into_response(),
            }
        };
        router = router.route(path, get(answer));
    }
    for (path, asked) in api::requests(&app.tools) {
        router = router.route(&path, asked);
    }
    router
        .route(mcp::PATH, mcp::route(app))
        .route("/page/about", get(page::about))
        .route("/page/results", post(page::results))
        .route("/page/facets", post(page::facets))
        .route("/page/file", post(page::file))
        .fallback(async || {
            Problem::new(StatusCode::NOT_FOUND, "not_found", "there is nothing here; /openapi.json lists what there is")
        })
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "method_not_allowed",
                "this is asked by another method; see Allow",
            )
        })
        .layer(from_fn_with_state(Arc::clone(app), around))
        .with_state(Arc::clone(app))
}

/// Authenticates a request, counts it, and adds the headers of every answer.
async fn around(State(app): State<Arc<App>>, path: Option<MatchedPath>, mut request: Request, next: Next) -> Response {
    let (_in_flight, begun) = (app.metrics.begin(), Instant::now());
    let route = path.as_ref().map_or("other", MatchedPath::as_str).to_string();
    let is_asset = page::ASSETS.iter().any(|(path, ..)| *path == route);
    let is_open = is_asset || OPEN.contains(&route.as_str());
    let (id, method) = (request_id(request.headers()), request.method().to_string());
    let peer = request.extensions().get::<PeerAddress>().copied();
    let checked = super::guard::check_head(request.uri(), request.headers());
    let checked = checked.and_then(|()| app.guard.check(request.headers(), route == PAGE, is_open)).and_then(|token| {
        let key = CallerKey::new(token, request.headers(), peer);
        let shards = app.state.shards();
        let is_needed = shards.is_some_and(|shards| shards.needs_rights) && of_repositories(&route) && !is_open;
        Caller::read(request.headers(), shards.is_some(), is_needed, key)
    });
    let key = checked.as_ref().ok().map(|caller| caller.key.to_string());
    let mut response = match checked {
        Ok(caller) => {
            if let Some(guest) = request.extensions().get::<Arc<Guest>>().filter(|_| !is_open) {
                guest.is_let_in();
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    if let Some(code) = response.extensions().get::<ProblemCode>() {
        app.metrics.refused(code.0);
    }
    super::guard::add_headers(response.headers_mut());
    // What is embedded may change with the program, and answers with every file.
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static(if is_asset { "no-cache" } else { "no-store" }));
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    app.metrics.answered(&route, status, took);
    let code = response.extensions().get::<ProblemCode>().map(|code| code.0);
    let query = response.extensions().get::<api::AskedQuery>().filter(|_| app.logs_queries).map(|asked| &*asked.0);
    // The level of an event is a constant.
    macro_rules! tell {
        ($level:expr) => {
            tracing::event!(
                target: log::REQUESTS,
                $level,
                {
                    "request.id" = &*id,
                    "http.request.method" = &*method,
                    "http.route" = &*route,
                    "http.response.status_code" = status,
                    "http.server.request.duration" = took.as_secs_f64(),
                    "caller" = key.as_deref(),
                    "error.type" = code,
                    "query" = query,
                },
                "request"
            )
        };
    }
    if status < 500 {
        tell!(Level::INFO)
    } else {
        tell!(Level::WARN)
    }
    response
}

/// The header with a request's id, which is in its answer and in the log.
const REQUEST_ID: &str = "x-request-id";
/// The longest id that is taken over, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// The id that a request brings, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_one = |id: &&str| (1..=REQUEST_ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
    // A hasher with keys of its own is random enough to tell requests apart.
    given.filter(is_one).map_or_else(|| format!("{:016x}", RandomState::new().hash_one(Instant::now())), str::to_string)
}

/// Whether a route's answer includes data of repositories.
fn of_repositories(route: &str) -> bool {
    route.starts_with(api::PATH) || route.starts_with("/page/") || route == mcp::PATH
}

/// Ready once the index of every root that can be served was opened; over shards once one answers. Says what is known, and
/// asks nobody.
async fn ready(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let text = |text: &str| Ok(([(CONTENT_TYPE, "text/plain")], text.to_string()));
    if let Some(shards) = app.state.shards() {
        let Some(seen) = shards.cluster.last_health() else {
            return Err(Problem::not_ready("the shards are being looked at"));
        };
        let ShardCoverage { answered, missing, unserved, partial, .. } = &seen.coverage;
        if *answered == 0 && !missing.is_empty() {
            return Err(Problem::not_ready("no shard answers"));
        }
        let troubles = [
            (!missing.is_empty(), "not all shards answer"),
            (!unserved.is_empty(), "not all repositories are served"),
            (partial.iter().any(|one| one.has_no_room), "not all indexes can be updated: no room on the disk"),
            (partial.iter().any(|one| one.is_not_fetched), "not all repositories could be updated"),
        ];
        let troubles: Vec<&str> = troubles.into_iter().filter(|(is_so, _)| *is_so).map(|(_, told)| told).collect();
        let told = if troubles.is_empty() { String::new() } else { format!(", and {}", troubles.join("; ")) };
        return text(&format!("ready{told}\n"));
    }
    let (served, unserved): (Vec<_>, Vec<_>) = app.state.roots().partition(|root| root.trouble().is_none());
    if app.state.roots().any(|root| root.has_no_room()) {
        return Err(Problem::not_ready(NO_ROOM));
    }
    match served.iter().all(|root| root.is_ready()) {
        true if served.is_empty() => Err(Problem::not_ready("no repository can be searched now")),
        // Which they are is said where callers are known.
        true if !unserved.is_empty() || !app.state.lost().is_empty() => {
            text("ready, and not all repositories can be searched\n")
        }
        true => text("ready\n"),
        false => Err(Problem::not_ready("the indexes are being opened")),
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let text = app.metrics.text(&app).map_err(|_| Problem::failed("the metrics could not be gathered"))?;
    Ok(([(header::CONTENT_TYPE, OPENMETRICS)], text))
}
