//! Shards in processes of their own.

use std::process::{Command, Stdio};

use serde_json::json;

use super::Sandbox;
use super::process::{Process, request, until};

/// A process that serves a shard; it ends when it is dropped.
pub struct Shard {
    pub process: Process,
    /// Host and port.
    pub address: String,
}

impl Shard {
    /// Starts a command that serves a shard, and waits until it does.
    pub fn of(command: &mut Command) -> Shard {
        Shard::of_heard(command, Stdio::null())
    }

    /// The same; what it says on stderr goes there.
    pub fn of_heard(command: &mut Command, heard: impl Into<Stdio>) -> Shard {
        let mut process = Process::start(command.stdout(Stdio::piped()).stderr(heard)).expect("a shard");
        let shard = Shard { address: process.says(""), process };
        until("ready", || shard.health("/readyz").0 == 200);
        shard
    }

    /// Serves these repositories of the sandbox.
    pub fn start(sandbox: &Sandbox, listen: &str, roots: &[&str]) -> Shard {
        Shard::of(&mut sandbox.command(&[&["serve", "--shard", "--listen", listen], roots].concat()))
    }

    /// The status and the text of what it answers over HTTP.
    pub fn health(&self, path: &str) -> (u16, String) {
        let (status, body) = request("GET", &format!("http://{}{path}", self.address), &[], b"");
        (status, String::from_utf8_lossy(&body).into_owned())
    }
}

/// Writes the file of the shards: the addresses of each one's replicas.
pub fn name(sandbox: &Sandbox, shards: &[&[&str]]) {
    sandbox.write("shards.json", &json!({ "shards": shards }).to_string());
}
