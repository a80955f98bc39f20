//! A client of the MCP server: lines of JSON-RPC over a pipe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::Sandbox;

pub struct Client {
    pub server: Child,
    pub to: Option<ChildStdin>,
    pub from: BufReader<ChildStdout>,
    number: u64,
    /// Replacement for `ROOT` in texts, if any.
    root: Option<String>,
    /// What it answers to `roots/list`; none where it has no roots.
    pub roots: Option<Vec<String>>,
    /// What it answers to `roots/list` instead: the rest of the message, or nothing at all where it is null.
    pub roots_answer: Option<Value>,
    /// Notifications that it received.
    pub notified: Vec<Value>,
}

impl Client {
    /// Starts a server for roots of the project, and shakes hands.
    pub fn start(sandbox: &Sandbox, roots: &[&str]) -> Client {
        let mut client = Client::of(sandbox.command(&[&["mcp"], roots].concat()).stderr(Stdio::inherit()), None);
        client.root = Some(sandbox.root().display().to_string());
        client
    }

    /// Starts a server in a folder, and shakes hands as a client with roots of its own.
    pub fn in_folder(sandbox: &Sandbox, folder: &Path, roots: Option<&[&Path]>) -> Client {
        let roots = roots.map(|all| all.iter().map(|root| address(root)).collect());
        Client::of(sandbox.command(&["mcp"]).current_dir(folder), roots)
    }

    /// Starts a server in a folder for a version of the protocol without sessions: nobody shakes hands.
    pub fn without_session(sandbox: &Sandbox, folder: &Path, roots: &[&str]) -> Client {
        Client::open(sandbox.command(&[&["mcp"], roots].concat()).current_dir(folder), None)
    }

    fn open(command: &mut Command, roots: Option<Vec<String>>) -> Client {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let (to, from) = (server.stdin.take(), BufReader::new(server.stdout.take().expect("a pipe")));
        Client { server, to, from, number: 0, root: None, roots, roots_answer: None, notified: Vec::new() }
    }

    fn of(command: &mut Command, roots: Option<Vec<String>>) -> Client {
        let mut client = Client::open(command, roots);
        let capabilities = if client.roots.is_some() { json!({"roots": {"listChanged": true}}) } else { json!({}) };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "colgrep");
        assert!(hello["result"]["instructions"].as_str().expect("instructions").contains("`search`"));
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("an open pipe");
        writeln!(to, "{message}").expect("a listening server");
        to.flush().expect("a listening server");
    }

    /// The next message, after answering requests for roots.
    pub fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("a message") > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["method"] != "roots/list" {
                return message;
            }
            if let Some(mut answer) = self.roots_answer.clone() {
                if answer.is_object() {
                    (answer["jsonrpc"], answer["id"]) = (json!("2.0"), message["id"].clone());
                    self.send(&answer);
                }
                continue;
            }
            let roots: Vec<Value> = self.roots.iter().flatten().map(|uri| json!({"uri": uri})).collect();
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}}));
        }
    }

    /// Sends a request and waits for the response; other messages are kept.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}));
        loop {
            let message = self.next();
            if message["id"] == self.number {
                return message;
            }
            self.notified.push(message);
        }
    }

    /// Calls a tool as a program does that asks for structured content; its unmodified result.
    pub fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"colgrep/structured": true}});
        self.ask("tools/call", params)["result"].clone()
    }

    /// Calls a tool in a version of the protocol without sessions, with what the client can and what it answers to an
    /// earlier result; the unmodified result.
    pub fn stateless(&mut self, tool: &str, arguments: Value, capabilities: Value, answers: Value) -> Value {
        let mut params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            },
        });
        if !answers.is_null() {
            params["inputResponses"] = answers;
        }
        self.ask("tools/call", params)["result"].clone()
    }

    /// Calls a tool; the text of its answer without the line on the roots, and whether it is an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        if let Some(message) = answer["error"]["message"].as_str() {
            return (message.to_string(), true);
        }
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
        let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
        let text = if text[last..].starts_with("(root ") { &text[..last] } else { text };
        let text = self.root.as_ref().map_or_else(|| text.to_string(), |root| text.replace(root, "ROOT"));
        (text, answer["result"]["isError"] == true)
    }

    /// The text of an answer that is no error.
    pub fn good(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{tool}: {text}");
        text
    }

    /// Closes the pipe; the server's exit status.
    pub fn end(mut self) -> Option<i32> {
        self.to.take();
        self.server.wait().expect("an end").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.to.take();
        let _ = self.server.wait();
    }
}

pub fn address(folder: &Path) -> String {
    format!("file://{}", folder.display().to_string().replace(' ', "%20"))
}
