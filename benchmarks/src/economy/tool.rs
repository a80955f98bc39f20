//! The arm of an agent's tool: `colgrep mcp`, spoken to over its pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::speed::process::Program;

/// A client of an MCP server over one repository.
#[derive(Debug)]
pub(super) struct ToolClient {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
}

impl ToolClient {
    /// Starts a server over `root`.
    pub(super) fn start(program: &Program, root: &Path) -> Result<ToolClient> {
        let mut command = program.command(&["mcp"]);
        command.arg(root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn()?;
        let to = server.stdin.take().context("an input")?;
        let from = BufReader::new(server.stdout.take().context("an output")?);
        let mut client = ToolClient { server, to, from, calls: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                           "clientInfo": {"name": "economy", "version": "1"}});
        client.request("initialize", &hello)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The text of the answer of a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let blocks = answer["content"].as_array().with_context(|| format!("{tool} {arguments}: {answer}"))?;
        Ok(blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                anyhow::bail!("{method}: the server ended");
            }
            let mut answer: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if answer["id"] == id {
                if !answer["error"].is_null() {
                    anyhow::bail!("{method} {params}: {}", answer["error"]);
                }
                return Ok(answer["result"].take());
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.to, "{message}")?;
        Ok(self.to.flush()?)
    }
}

impl Drop for ToolClient {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
