//! A server's answers: `colgrep mcp` as an agent's client talks to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::process::Program;
use super::{Questions, Spread};

/// Answers that are not counted: the first opens the index, the next ones fill the server's caches.
const WARM_UP: u32 = 3;

/// Asks a server for a search again and again and gives the time of each answer, in milliseconds, once it is warm.
pub fn answers(program: &Program, folder: &Path, query: &str, runs: u32) -> Result<Vec<f64>> {
    let mut server = TimedServer::warm(program, folder, query)?;
    (0..runs).map(|_| server.search(query)).collect()
}

/// Asks a server that `query` has warmed all questions, one after the other, then all of them once more.
pub fn questions(program: &Program, folder: &Path, query: &str, questions: &[String]) -> Result<Questions> {
    let mut server = TimedServer::warm(program, folder, query)?;
    let mut round = || -> Result<Spread> {
        let times: Vec<f64> = questions.iter().map(|q| server.search(q)).collect::<Result<_>>()?;
        Ok(Spread::of(&times))
    };
    Ok(Questions { count: questions.len(), first_ms: round()?, again_ms: round()? })
}

struct TimedServer {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    calls: u64,
}

impl TimedServer {
    fn start(program: &Program, folder: &Path) -> Result<TimedServer> {
        let mut command = program.command(&["mcp", "-y", &folder.to_string_lossy()]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().context("a server without an output")?);
        let mut server = TimedServer { process, to, from, calls: 0 };
        let client = json!({"name": "colgrep-bench", "version": env!("CARGO_PKG_VERSION")});
        server
            .call("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}))?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// A server that has answered a query a few times.
    fn warm(program: &Program, folder: &Path, query: &str) -> Result<TimedServer> {
        let mut server = TimedServer::start(program, folder)?;
        for _ in 0..WARM_UP {
            server.search(query)?;
        }
        Ok(server)
    }

    /// Searches, and gives the time until the answer was there, in milliseconds.
    fn search(&mut self, query: &str) -> Result<f64> {
        let started = Instant::now();
        self.call("tools/call", &json!({"name": "search", "arguments": {"query": query}}))?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let to = self.to.as_mut().context("a server without an input")?;
        writeln!(to, "{message}")?;
        Ok(to.flush()?)
    }

    /// Calls a method and waits for its answer.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                bail!("colgrep mcp ended before it answered {method}");
            }
            let answer: Value = serde_json::from_str(&line).with_context(|| format!("colgrep mcp said {line:?}"))?;
            if answer["id"] != self.calls {
                continue;
            }
            if answer.get("error").is_some() || answer["result"]["isError"] == true {
                bail!("colgrep mcp, {method}: {answer}");
            }
            return Ok(answer);
        }
    }
}

impl Drop for TimedServer {
    fn drop(&mut self) {
        // A server ends with its input.
        self.to = None;
        let _ = self.process.wait();
    }
}
