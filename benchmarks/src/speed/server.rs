//! A server's answers: `colgrep mcp` as an agent's client talks to it.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::process::Program;
use super::{Questions, Spread};
use crate::tool_client::ToolClient;

/// Answers that are not counted: the first opens the index, the next ones fill the server's caches.
const WARM_UP: u32 = 3;

/// Asks a server for a search again and again and gives the time of each answer, in milliseconds, once it is warm.
pub fn answers(program: &Program, folder: &Path, query: &str, runs: u32) -> Result<Vec<f64>> {
    let mut server = warm(program, folder, query)?;
    (0..runs).map(|_| search(&mut server, query)).collect()
}

/// Asks a server that `query` has warmed all questions, one after the other, then all of them once more.
pub fn questions(program: &Program, folder: &Path, query: &str, questions: &[String]) -> Result<Questions> {
    let mut server = warm(program, folder, query)?;
    let mut round = || -> Result<Spread> {
        let times: Vec<f64> = questions.iter().map(|q| search(&mut server, q)).collect::<Result<_>>()?;
        Ok(Spread::of(&times))
    };
    Ok(Questions { count: questions.len(), first_ms: round()?, again_ms: round()? })
}

/// A server that has answered a query a few times.
fn warm(program: &Program, folder: &Path, query: &str) -> Result<ToolClient> {
    let mut server = ToolClient::start(program, folder)?;
    (0..WARM_UP).try_for_each(|_| search(&mut server, query).map(drop))?;
    Ok(server)
}

/// The time until the answer was there, in milliseconds.
fn search(server: &mut ToolClient, query: &str) -> Result<f64> {
    let started = Instant::now();
    server.call("search", &json!({"query": query}))?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}
