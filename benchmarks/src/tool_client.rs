//! A client of `colgrep mcp` over its pipes: one call after the other.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::speed::process::Program;

#[derive(Debug)]
pub struct ToolClient {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    calls: u64,
}

impl ToolClient {
    /// Starts a server over `root`.
    pub fn start(program: &Program, root: &Path) -> Result<ToolClient> {
        let mut command = program.command(&["mcp", "-y"]);
        command.arg(root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn()?;
        let (to, from) = (server.stdin.take(), server.stdout.take().context("a server without an output")?);
        let mut client = ToolClient { server, to, from: BufReader::new(from), calls: 0 };
        let name = json!({"name": "colgrep-bench", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": name});
        client.request("initialize", &hello)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The text of the answer of a tool.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let blocks = answer["content"].as_array().with_context(|| format!("{tool} {arguments}: {answer}"))?;
        Ok(blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                bail!("colgrep mcp ended before it answered {method}");
            }
            let mut answer: Value =
                serde_json::from_str(&line).with_context(|| format!("colgrep mcp said {line:?}"))?;
            if answer["id"] != self.calls {
                continue;
            }
            if answer.get("error").is_some() || answer["result"]["isError"] == true {
                bail!("colgrep mcp, {method} {params}: {answer}");
            }
            return Ok(answer["result"].take());
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let to = self.to.as_mut().context("a server without an input")?;
        writeln!(to, "{message}")?;
        Ok(to.flush()?)
    }
}

impl Drop for ToolClient {
    fn drop(&mut self) {
        // A server ends with its input.
        self.to = None;
        let _ = self.server.wait();
    }
}
