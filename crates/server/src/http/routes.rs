//! The routes, and what surrounds every one: who may ask, headers, metrics.

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

use super::guard::Caller;
use super::metrics::OPENMETRICS;
use super::problem::{Problem, ProblemCode};
use super::{App, api, openapi, page};

/// Where the page is.
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

/// All routes.
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
    let checked = super::guard::check_head(request.uri(), request.headers());
    let checked = checked.and_then(|()| app.guard.check(request.headers(), route == PAGE, is_open)).and_then(|()| {
        let shards = app.state.shards();
        let is_needed = shards.is_some_and(|shards| shards.needs_rights) && of_repositories(&route) && !is_open;
        Caller::read(request.headers(), shards.is_some(), is_needed)
    });
    let mut response = match checked {
        Ok(caller) => {
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
    app.metrics.answered(&route, response.status().as_u16(), begun.elapsed());
    response
}

/// Whether a route's answer includes data of repositories.
fn of_repositories(route: &str) -> bool {
    route.starts_with(api::PATH) || route.starts_with("/page/")
}

/// Ready once the index of every root that can be served was opened; over shards once one answers. Says what is known, and
/// asks nobody.
async fn ready(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let text = |text| Ok(([(CONTENT_TYPE, "text/plain")], text));
    if let Some(shards) = app.state.shards() {
        return match shards.cluster.last_health() {
            // Names are given only to authenticated callers.
            Some(seen) if seen.twice.is_some() => {
                Err(Problem::not_ready("several shards serve a repository of one name; `status` says which"))
            }
            Some(seen) if seen.coverage.is_whole() => text("ready\n"),
            Some(seen) if seen.coverage.missing.is_empty() => text("ready, and not all repositories are served\n"),
            Some(seen) if seen.coverage.answered > 0 => text("ready, and not all shards answer\n"),
            Some(_) => Err(Problem::not_ready("no shard answers")),
            None => Err(Problem::not_ready("the shards are being looked at")),
        };
    }
    let (served, unserved): (Vec<_>, Vec<_>) = app.state.roots().partition(|root| root.trouble().is_none());
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
