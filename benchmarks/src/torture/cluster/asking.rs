//! A client that asks as long as a fault lasts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::serve::HttpClient;

/// Longest wait for an answer, and for anything else that has to come.
const WAIT: Duration = Duration::from_secs(180);
/// How often it is looked for.
pub const PAUSE: Duration = Duration::from_millis(50);

/// The results of each query.
pub type ExpectedHits = BTreeMap<String, Value>;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedOutcome {
    /// The answer of a cluster that is well.
    Whole,
    /// An answer that says what it lacks.
    Partial(String),
    Lost(String),
    /// Another answer, which does not say so.
    Wrong(String),
}

/// A thread that asks one question after the other.
pub struct AskingClient {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<AskedOutcome>>,
}

impl AskingClient {
    pub fn begin(address: &str, expected: &Arc<ExpectedHits>) -> Result<AskingClient> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, address, expected) = (Arc::clone(&is_over), address.to_string(), Arc::clone(expected));
        let work = move || {
            let mut outcomes = Vec::new();
            for query in expected.keys().cycle() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                let outcome = ask(&address, query, &expected);
                if matches!(outcome, AskedOutcome::Lost(_)) {
                    std::thread::sleep(PAUSE);
                }
                outcomes.push(outcome);
            }
            outcomes
        };
        Ok(AskingClient { is_over, thread: std::thread::Builder::new().name("asks".into()).spawn(work)? })
    }

    /// Ends; what came of each request.
    pub fn end(self) -> Vec<AskedOutcome> {
        self.is_over.store(true, Ordering::Release);
        self.thread.join().unwrap_or_else(|_| vec![AskedOutcome::Lost("the client ended".into())])
    }
}

/// Waits until something is so; the time that it took.
///
/// # Errors
/// When it takes too long.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<Duration> {
    let began = Instant::now();
    while !is_so() {
        if began.elapsed() > WAIT {
            bail!("not within {} s: {what}", WAIT.as_secs());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(began.elapsed())
}

pub fn ask(address: &str, query: &str, expected: &ExpectedHits) -> AskedOutcome {
    match hits(address, query) {
        Err(error) => AskedOutcome::Lost(format!("{query}: {error:#}")),
        Ok((_, lacks)) if !lacks.is_empty() => AskedOutcome::Partial(format!("{query}: {lacks}")),
        Ok((hits, _)) if Some(&hits) == expected.get(query) => AskedOutcome::Whole,
        Ok((hits, _)) => AskedOutcome::Wrong(format!("{query}: {hits}")),
    }
}

/// The results of a query, and what the answer says that it lacks.
///
/// # Errors
/// When there is no answer.
pub fn hits(address: &str, query: &str) -> Result<(Value, String)> {
    let body = json!({"query": query, "results": 10, "pack": 0});
    let (status, text) = HttpClient::new(address).post("/api/v1/search", &body)?;
    if status != 200 {
        bail!("{status}: {}", text.trim());
    }
    let mut answer: Value = serde_json::from_str(&text)?;
    let lacks = ["missing", "unserved", "partial"].map(|part| answer["shards"][part].take());
    let lacks = lacks.iter().filter(|part| part.as_array().is_some_and(|part| !part.is_empty()));
    let lacks: Vec<String> = lacks.map(ToString::to_string).collect();
    Ok((answer["hits"].take(), lacks.join(" ")))
}
