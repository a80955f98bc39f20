//! What goes wrong, as problem details (RFC 9457).

use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use colgrep_cluster::Error as WireError;
use colgrep_encoder::Error as ModelError;
use colgrep_engine::{Error as EngineError, Refused};
use colgrep_index::{Error as IndexError, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::NotServed;
use colgrep_render::advice::for_tools;

/// The media type of a problem.
pub const PROBLEM: &str = "application/problem+json";

/// What went wrong, in the form of RFC 9457.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Always `about:blank`: `code` tells problems apart.
    r#type: &'static str,
    /// The status in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What went wrong and what to do.
    detail: String,
    /// A name for programs: invalid, unauthorized, forbidden, not_found, method_not_allowed, too_large, media_type,
    /// overloaded, late, not_ready, away, failed.
    code: &'static str,
    /// Seconds after which to try again.
    #[serde(skip)]
    retry_after: Option<u32>,
}

impl Problem {
    /// A problem.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        let title = status.canonical_reason().unwrap_or_default().to_string();
        Problem {
            r#type: "about:blank",
            title,
            status: status.as_u16(),
            detail: detail.into(),
            code,
            retry_after: None,
        }
    }

    /// One that goes away by itself.
    fn for_now(code: &'static str, detail: impl Into<String>) -> Problem {
        Problem { retry_after: Some(1), ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail) }
    }

    /// The request can't be answered.
    pub fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    }

    /// Something failed here.
    pub fn failed(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", detail)
    }

    /// There is no room for a request.
    pub fn overloaded() -> Problem {
        Problem::for_now("overloaded", "too many requests at once; try again")
    }

    /// There is no room for a connection.
    pub fn crowded() -> Problem {
        Problem::for_now("overloaded", "too many open connections; close some, or try again")
    }

    /// A request takes too long.
    pub fn late(patience: Duration) -> Problem {
        Problem::for_now("late", format!("no answer within {} s (--timeout)", patience.as_secs()))
    }

    /// No index is open yet.
    pub fn not_ready(detail: impl Into<String>) -> Problem {
        Problem::for_now("not_ready", detail)
    }

    /// An answer is too long.
    pub fn too_long(bytes_max: usize) -> Problem {
        Problem::invalid(format!("the answer is longer than {bytes_max} bytes; ask for less"))
    }

    /// An error of the code that answers: of the request, unless it is one of the machine or of its settings, or what is
    /// asked is away: shards, or folders.
    pub fn of(error: &anyhow::Error) -> Problem {
        if error.chain().any(|cause| cause.is::<NotServed>()) {
            return Problem::for_now("away", for_tools(error));
        }
        let is_away = |cause: &(dyn std::error::Error + 'static)| {
            let engine = match cause.downcast_ref::<WireError>() {
                Some(WireError::NoneAnswers { .. }) => return true,
                Some(WireError::Engine(error)) => Some(error),
                _ => cause.downcast_ref::<EngineError>(),
            };
            let index = engine.and_then(EngineError::of_index).or_else(|| cause.downcast_ref::<IndexError>());
            index.is_some_and(|error| error.kind() == ErrorKind::Away)
        };
        // Nobody can ask otherwise, until somebody serves one of them under another name.
        let is_twice =
            |cause: &(dyn std::error::Error + 'static)| matches!(cause.downcast_ref(), Some(WireError::Twice { .. }));
        if error.chain().any(is_twice) {
            return Problem::not_ready(for_tools(error));
        }
        if error.chain().any(is_away) {
            return Problem::for_now("away", for_tools(error));
        }
        // A file without text is the caller's choice.
        let index = |error: &IndexError| !matches!(error, IndexError::NoText { .. });
        // Only refusals are the request's fault, except for a group of the settings that leads nowhere.
        let engine = |error: &EngineError| match error {
            EngineError::Refused(refused) => {
                matches!(refused, Refused::EmptyGroup { .. } | Refused::GroupFolder { .. })
            }
            other => other.of_index().is_none_or(index),
        };
        let is_ours = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<IndexError>().is_some_and(index)
                || cause.is::<ModelError>()
                || cause.downcast_ref::<EngineError>().is_some_and(engine)
        };
        let is_long = |cause: &(dyn std::error::Error + 'static)| {
            matches!(cause.downcast_ref(), Some(EngineError::Refused(Refused::TooLong { .. })))
        };
        if error.chain().any(is_long) {
            return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", for_tools(error));
        }
        match error.chain().any(is_ours) {
            true => Problem::failed(for_tools(error)),
            false => Problem::invalid(for_tools(error)),
        }
    }

    /// The same without where folders are on this machine: each of these paths is written as its name.
    pub fn naming(mut self, places: &[(String, String)]) -> Problem {
        for (path, name) in places {
            self.detail = self.detail.replace(path.as_str(), name);
        }
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Seconds after which to try again.
    #[cfg(test)]
    pub fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }
}

/// The code of the problem that an answer is, for metrics.
#[derive(Clone, Copy, Debug)]
pub struct ProblemCode(pub &'static str);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        response.extensions_mut().insert(ProblemCode(self.code));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"colgrep\""));
        }
        response
    }
}
