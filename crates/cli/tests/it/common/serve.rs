//! A server over HTTP, and a client of it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Sandbox;
use super::process::{Process, agent, until};

/// A running server; it ends when it is dropped.
pub struct Server {
    pub process: Process,
    /// `127.0.0.1:PORT`.
    pub host: String,
    /// Prefix of paths.
    pub base: String,
    agent: ureq::Agent,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Server {
    /// Serves the sandbox's project, or what `args` say, on a free port.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Server {
        Server::of(&mut sandbox.command(&[&["serve", "--listen", "127.0.0.1:0"], args].concat()))
    }

    pub fn of(command: &mut Command) -> Server {
        Server::of_heard(command, Stdio::null())
    }

    /// Starts a command that serves; what it says on stderr goes there.
    pub fn of_heard(command: &mut Command, heard: impl Into<Stdio>) -> Server {
        let command = command.stdout(Stdio::piped()).stderr(heard);
        let mut process = Process::start(command).expect("a server");
        let host = process.says("http://").trim_end_matches('/').to_string();
        Server { process, base: format!("http://{host}"), host, agent: agent() }
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        reply(request.call().expect("an answer"))
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(path, &body.to_string(), &[("content-type", "application/json")])
    }

    /// POST of text, with headers.
    pub fn send(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.agent.post(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        reply(request.send(body).expect("an answer"))
    }

    /// A good answer to a POST.
    pub fn good(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path} {body}: {answer:?}");
        answer.json()
    }

    /// What comes back for these bytes, up to the connection's end.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        // A server that has answered may have closed already.
        let _ = stream.write_all(bytes);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Waits until it answers without building.
    pub fn ready(&self) -> &Server {
        until("ready", || self.get("/readyz", &[]).status == 200);
        self
    }
}

fn reply(mut answer: ureq::http::Response<ureq::Body>) -> Reply {
    let text = answer.body_mut().read_to_string().expect("a text");
    Reply { status: answer.status().as_u16(), headers: answer.headers().clone(), text }
}
