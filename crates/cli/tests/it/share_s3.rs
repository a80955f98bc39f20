//! Indexes shared through a server of Amazon's protocol: moto, from PyPI (`pip install 'moto[server]'`).
//!
//! TEST_S3_SERVER names its program, `moto_server`; without, these tests say that they are skipped. `.ci/run` sets it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::process::{Process, request};
use crate::common::shared::{
    answer, clone_of, commit, done_by, find_what_was_pushed, killed, push_at_once, repository, run_by, timed,
};
use crate::common::{Ran, Sandbox, git};

/// moto, which asks whether an object exists and writes it in two steps, with one write at a time.
const SERVER: &str = "
import threading
from moto.s3.responses import S3Response
from moto.server import main

put, lock = S3Response.put_object, threading.Lock()

def put_one(response):
    with lock:
        return put(response)

S3Response.put_object = put_one
main()
";

/// A server with a bucket `team`.
struct Bucket {
    _process: Process,
    /// Where it listens, `HOST:PORT`.
    address: String,
}

impl Bucket {
    /// Starts one; after `open` requests it takes no keys but those that it gave. `None` where there is no program.
    #[expect(clippy::disallowed_methods, reason = "the caller's environment says where the server's program is")]
    fn start(open: Option<u32>) -> Option<Bucket> {
        let Some(program) = std::env::var_os("TEST_S3_SERVER") else {
            eprintln!("skipped: TEST_S3_SERVER names no moto_server");
            return None;
        };
        let mut command = Command::new(Path::new(&program).with_file_name("python"));
        command.args(["-c", SERVER, "-H", "127.0.0.1", "-p", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(open) = open {
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", open.to_string());
        }
        let mut process = Process::start(&mut command).expect("a server");
        let server = Bucket { address: process.says("http://"), _process: process };
        server.request("PUT", "/team", b"");
        Some(server)
    }

    /// A request; what the server answers.
    fn request(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        // By default, the server checks whether there are keys, not which.
        let keys = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        request(method, &format!("http://{}{path}", self.address), &[("authorization", keys)], body).1
    }

    /// The objects' keys that contain a word.
    fn keys(&self, word: &str) -> Vec<String> {
        let listed = String::from_utf8(self.request("GET", "/team?list-type=2&max-keys=1000", b"")).expect("XML");
        let keys = listed.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        keys.filter(|key| key.contains(word)).map(str::to_string).collect()
    }

    fn command(&self, sandbox: &Sandbox, args: &[&str]) -> Command {
        let mut command = sandbox.command(args);
        command.env("AWS_ENDPOINT_URL", format!("http://{}", self.address)).env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "testing").env("AWS_SECRET_ACCESS_KEY", "testing");
        command
    }

    fn run(&self, sandbox: &Sandbox, args: &[&str]) -> Ran {
        run_by(sandbox, &mut self.command(sandbox, args))
    }

    fn done(&self, sandbox: &Sandbox, args: &[&str]) -> Ran {
        done_by(sandbox, &mut self.command(sandbox, args))
    }
}

const URL: &str = "s3://team/colgrep";

#[test]
fn a_bucket_gives_back_what_it_got_and_mends_what_is_damaged() {
    let Some(server) = Bucket::start(None) else { return };
    let ours = repository().with_meaning();
    server.done(&ours, &["push", URL]);
    let theirs = clone_of(&ours).with_meaning();
    let pulled = server.done(&theirs, &["pull", URL]);
    assert!(pulled.err.contains("0 units parsed, 0 texts encoded"), "{}", pulled.err);
    assert_eq!(answer(&theirs), answer(&ours));
    assert!(server.done(&ours, &["push", URL]).err.contains("nothing was sent"));
    for key in server.keys("/blobs/") {
        let path = format!("/team/{key}");
        let sound = server.request("GET", &path, b"");
        let mut flipped = sound.clone();
        flipped[sound.len() / 2] ^= 1;
        server.request("PUT", &path, &flipped);
        let fresh = clone_of(&ours).with_meaning();
        let refused = server.run(&fresh, &["pull", URL]);
        assert!(refused.status == 2 && refused.err.contains("its SHA-256 is another"), "{key}: {}", refused.err);
    }
    server.done(&ours, &["push", URL, "--anew"]);
    server.done(&clone_of(&ours).with_meaning(), &["pull", URL]);
    // What nothing names and is not old stays.
    assert!(server.done(&ours, &["push", URL, "--prune"]).err.contains("0 files removed"));
}

#[test]
fn of_pushes_at_once_each_moves_the_manifest_once() {
    let Some(server) = Bucket::start(None) else { return };
    let ours = repository();
    let push = |clone: &Sandbox, args: &[&str]| server.command(clone, args);
    let clones = push_at_once(&ours, URL, push);
    assert_eq!(server.keys("/manifest-").len(), 4);
    find_what_was_pushed(&clones, URL, push);
}

#[test]
fn a_killed_push_or_pull_loses_nothing_in_a_bucket() {
    let Some(server) = Bucket::start(None) else { return };
    let ours = repository();
    server.done(&ours, &["push", URL]);
    let theirs = clone_of(&ours);
    server.done(&theirs, &["init"]);
    // What a whole one takes on this machine.
    ours.write("src/changing.rs", "pub fn changing() {}\n");
    commit(&ours, "Change");
    let push = timed(&mut server.command(&ours, &["push", URL]));
    git(&theirs, &["pull", "-q"]);
    let pull = timed(&mut server.command(&theirs, &["pull", URL]));
    let (mut pushes, mut pulls) = (0, 0);
    for n in 0..8 {
        ours.write("src/changing.rs", &format!("pub fn changing{n}() {{}}\n"));
        commit(&ours, "Change");
        pushes += u32::from(killed(&mut server.command(&ours, &["push", URL]), push * n / 8));
        let fresh = clone_of(&ours);
        server.done(&fresh, &["pull", URL]);
        assert_eq!(fresh.run(&[&format!("changing{n}")]).paths(), ["src/changing.rs"]);
        server.done(&ours, &["push", URL]);
        git(&theirs, &["pull", "-q"]);
        pulls += u32::from(killed(&mut server.command(&theirs, &["pull", URL]), pull * n / 8));
        server.done(&theirs, &["doctor", "--verify"]);
    }
    assert!(pushes > 1 && pulls > 1, "{pushes} pushes and {pulls} pulls were at work");
    server.done(&theirs, &["pull", URL]);
    assert_eq!(answer(&theirs), answer(&ours));
}

#[test]
fn no_right_no_bucket_and_no_server_are_said() {
    let Some(server) = Bucket::start(Some(1)) else { return };
    let ours = repository();
    for command in ["push", "pull"] {
        let refused = server.run(&ours, &[command, URL]);
        assert!(refused.status == 2 && refused.err.contains("no right to list there"), "{}", refused.err);
        assert!(refused.err.contains("credentials are set") && !refused.err.contains("testing"), "{}", refused.err);
    }
    let searched = server.run(&ours, &["ring", "--remote", URL]);
    assert!(searched.status == 0 && searched.err.contains("the search goes on without"), "{}", searched.err);
    let Some(server) = Bucket::start(None) else { return };
    let refused = server.run(&ours, &["push", "s3://nobodys/x"]);
    assert!(refused.status == 2 && refused.err.contains("NoSuchBucket"), "{}", refused.err);
    let mut command = server.command(&ours, &["pull", URL]);
    drop(server);
    let refused = Ran::of(command.output().expect("a process"), &ours.root());
    assert!(refused.status == 2 && refused.err.contains("could not list"), "{}", refused.err);
    // Without encryption, this machine alone is reached.
    let refused = ours.run_with(
        &[("AWS_ENDPOINT_URL", "http://192.0.2.1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")],
        &["push", URL],
    );
    assert!(refused.status == 2 && refused.err.contains("remote_http"), "{}", refused.err);
}
