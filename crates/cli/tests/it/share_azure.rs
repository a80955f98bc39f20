//! Indexes shared through a server of Microsoft's protocol: Azurite, from npm (`npm install azurite`).
//!
//! TEST_AZURE_SERVER names its program, `azurite-blob`; without, this test says that it is skipped. `.ci/run` sets it.

use std::process::{Command, Stdio};

use crate::common::process::{Process, request};
use crate::common::shared::{answer, clone_of, done_by, find_what_was_pushed, push_at_once, repository, run_by};
use crate::common::{Ran, Sandbox};

/// The account and the key that the server begins with.
const ACCOUNT: &str = "team";
const KEY: &[u8] = b"key";
const URL: &str = "az://indexes/colgrep";

/// A server with a container `indexes`.
struct Container {
    _process: Process,
    /// Where it listens, `HOST:PORT`.
    address: String,
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let of = |three: &[u8]| -> String {
        let word = three.iter().chain([&0; 2]).take(3).fold(0, |word, byte| word << 8 | usize::from(*byte));
        let digit = |n: usize| if n <= three.len() { DIGITS[word >> (18 - 6 * n) & 63] as char } else { '=' };
        (0..4).map(digit).collect()
    };
    bytes.chunks(3).map(of).collect()
}

impl Container {
    #[expect(clippy::disallowed_methods, reason = "the caller's environment says where the server's program is")]
    fn start() -> Option<Container> {
        let Some(program) = std::env::var_os("TEST_AZURE_SERVER") else {
            eprintln!("skipped: TEST_AZURE_SERVER names no azurite-blob");
            return None;
        };
        let mut command = Command::new(program);
        command.args(["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry"]);
        command.arg("--skipApiVersionCheck").env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{}", base64(KEY)));
        let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::null())).expect("a server");
        let server = Container { address: process.says("listens on http://"), _process: process };
        server.make("indexes");
        Some(server)
    }

    /// Makes a container, as the protocol's shared keys sign that.
    fn make(&self, container: &str) {
        let dated = [("x-ms-date", "Mon, 23 Nov 2026 12:00:00 GMT"), ("x-ms-version", "2021-08-06")];
        let path = format!("/{ACCOUNT}/{container}");
        let headers = dated.map(|(name, value)| format!("{name}:{value}\n")).concat();
        let signed = format!("PUT{}{headers}/{ACCOUNT}{path}\nrestype:container", "\n".repeat(12));
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, KEY);
        let signature = base64(ring::hmac::sign(&key, signed.as_bytes()).as_ref());
        let authorization = format!("SharedKey {ACCOUNT}:{signature}");
        let headers = [&dated[..], &[("authorization", &authorization)]].concat();
        let address = format!("http://{}{path}?restype=container", self.address);
        let (status, answer) = request("PUT", &address, &headers, b"");
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&answer));
    }

    fn command(&self, sandbox: &Sandbox, args: &[&str]) -> Command {
        let mut command = sandbox.command(args);
        let (key, address) = (base64(KEY), &self.address);
        let endpoint = format!("BlobEndpoint=http://{address}/{ACCOUNT};");
        let connection = format!("DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={key};{endpoint}");
        command.env("AZURE_STORAGE_CONNECTION_STRING", connection);
        command
    }

    fn run(&self, sandbox: &Sandbox, args: &[&str]) -> Ran {
        run_by(sandbox, &mut self.command(sandbox, args))
    }

    fn done(&self, sandbox: &Sandbox, args: &[&str]) -> Ran {
        done_by(sandbox, &mut self.command(sandbox, args))
    }
}

#[test]
fn a_container_gives_back_what_it_got_and_every_push_is_found() {
    assert_eq!([&b"a"[..], b"ab", b"abc"].map(base64), ["YQ==", "YWI=", "YWJj"]);
    let Some(server) = Container::start() else { return };
    let ours = repository();
    server.done(&ours, &["push", URL]);
    let theirs = clone_of(&ours);
    assert!(server.done(&theirs, &["pull", URL]).err.contains("0 units parsed"));
    assert_eq!(answer(&theirs), answer(&ours));
    assert!(server.done(&ours, &["push", URL, "--prune"]).err.contains("nothing was sent"));
    let command = |clone: &Sandbox, args: &[&str]| server.command(clone, args);
    let clones = push_at_once(&ours, URL, command);
    find_what_was_pushed(&clones, URL, command);
    let refused = server.run(&ours, &["push", "az://nobodys/x"]);
    assert!(refused.status == 2 && refused.err.contains("ContainerNotFound"), "{}", refused.err);
}
