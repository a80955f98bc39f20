//! `mcp`: requests to a server, whole and mutated. Each one that has a number is answered, and the server lives.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::subject::Subject;
use super::{Tally, TortureArgs, case_seed, go_through};
use crate::process::peak_memory;
use crate::speed::process::Program;

/// Requests of one case: sent at once, then a ping.
const REQUESTS: usize = 20;
/// Longest wait for an answer.
const WAIT: Duration = Duration::from_secs(60);
/// Most memory that the server may have resident, in bytes.
const MEMORY_MAX: u64 = 400 << 20;
/// Content of a file outside the root, which must never be disclosed.
pub(super) const CANARY: &str = "canary_47f1";

pub(super) struct McpClient {
    server: Child,
    to: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl McpClient {
    pub(super) fn start(args: &TortureArgs, subject: &Subject) -> Result<McpClient> {
        let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&subject.data("data"));
        let mut command = program.command(&["mcp", "--index-mode", "keyword"]);
        command.arg(&subject.root).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn()?;
        let (to, from) = (server.stdin.take(), server.stdout.take().context("an output")?);
        let (sender, answers) = channel();
        std::thread::spawn(move || read(from, |line| sender.send(line).is_ok()));
        let mut client = McpClient { server, to, answers };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                           "clientInfo": {"name": "torture", "version": "1"}});
        client.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}).to_string())?;
        client.answer()?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        Ok(client)
    }

    fn send(&mut self, line: &str) -> Result<()> {
        let to = self.to.as_mut().context("an input")?;
        to.write_all(line.as_bytes())?;
        to.write_all(b"\n")?;
        Ok(to.flush()?)
    }

    fn answer(&self) -> Result<String> {
        self.answers.recv_timeout(WAIT).context("no answer")
    }

    /// Closes the input; whether the server then ends by itself, with 0.
    pub(super) fn end(mut self) -> Result<bool> {
        self.to = None;
        Ok(self.server.wait()?.success())
    }
}

fn read(from: ChildStdout, mut give: impl FnMut(String) -> bool) {
    let mut from = BufReader::new(from);
    let mut line = String::new();
    while from.read_line(&mut line).is_ok_and(|n| n > 0) && give(std::mem::take(&mut line)) {}
}

/// Runs the kind. Cases are requests, sent by the score.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let subject = Subject::new()?;
    std::fs::write(subject.data("outside.txt"), CANARY)?;
    let outside = subject.data("outside.txt");
    let mut client = Some(McpClient::start(args, &subject)?);
    let batches = (0..args.cases.div_ceil(REQUESTS) as u64).collect();
    let mut memory = 0;
    let mut tally = go_through(args, "mcp, 20 requests a case", batches, |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let mut live = match client.take() {
            Some(client) => client,
            None => McpClient::start(args, &subject)?,
        };
        let lines: Vec<String> = (0..REQUESTS).map(|i| line(i, &outside, &mut random)).collect();
        let failures = match talk(&mut live, &lines, counts) {
            Ok(failures) => failures,
            Err(error) => {
                live.server.kill()?;
                live.server.wait()?;
                return Ok(vec![("server lost", format!("case {case}: {error:#}: {lines:?}"))]);
            }
        };
        memory = memory.max(peak_memory(live.server.id()));
        client = Some(live);
        Ok(failures.into_iter().map(|(kind, text)| (kind, format!("case {case}: {text}"))).collect())
    })?;
    if client.map_or(Ok(true), McpClient::end)? {
        tally.count("clean end");
    } else {
        tally.fail("exit status", "the server's last".into());
    }
    *tally.counts.entry("MB at most").or_default() = memory >> 20;
    if memory > MEMORY_MAX {
        tally.fail("memory", format!("{} MB", memory >> 20));
    }
    Ok(vec![tally])
}

/// Sends all lines and a ping, and takes answers until all who wait for one have theirs.
pub(super) fn talk(
    client: &mut McpClient,
    lines: &[String],
    counts: &mut BTreeMap<&'static str, u64>,
) -> Result<Vec<(&'static str, String)>> {
    let mut waiting: BTreeSet<String> = lines.iter().filter_map(|line| number(line)).collect();
    let nameless_wanted = lines.iter().filter(|line| is_nobodys(line)).count();
    waiting.insert("\"ping\"".into());
    for line in lines {
        client.send(line)?;
    }
    client.send(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#)?;
    let (mut nameless, mut failures) = (0, Vec::new());
    while !waiting.is_empty() || nameless < nameless_wanted {
        let answer = client.answer().with_context(|| format!("{waiting:?}, {nameless} of {nameless_wanted}"))?;
        let parsed: Value = serde_json::from_str(&answer).with_context(|| format!("answer {answer:?}"))?;
        match parsed.get("id") {
            None | Some(Value::Null) => nameless += 1,
            Some(id) if waiting.remove(&id.to_string()) => {}
            Some(id) => bail!("an answer that nobody waits for: {id}"),
        }
        let kind = if parsed.get("error").is_some() { "errors" } else { "results" };
        *counts.entry(kind).or_default() += 1;
        if answer.contains(CANARY) {
            failures.push(("told from outside", answer.clone()));
        }
        if answer.contains("panicked") || answer.contains("\"code\":-32603") {
            failures.push(("failed inside", answer));
        }
    }
    Ok(failures)
}

/// The fields of a line that identify the request. A number in the rest may fit no type.
#[derive(Default, Deserialize)]
struct MessageHead {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// A value that is there, null too.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl MessageHead {
    /// `None` if the line is not an object.
    fn of(line: &str) -> Option<MessageHead> {
        serde_json::from_str(line).ok().filter(|_| line.trim_start().starts_with('{'))
    }

    fn is_answer(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }
}

/// The number that a line waits for an answer to, as JSON.
fn number(line: &str) -> Option<String> {
    let id = MessageHead::of(line).filter(|head| !head.is_answer())?.id?;
    (id.is_string() || id.is_i64()).then(|| id.to_string())
}

/// Whether a line is answered without a number: it is not JSON, or doesn't identify its sender.
fn is_nobodys(line: &str) -> bool {
    let Some(head) = MessageHead::of(line) else { return !line.trim().is_empty() };
    let is_notification = head.method.is_some() && head.id.as_ref().is_none_or(Value::is_null);
    !head.is_answer() && !is_notification && !head.id.is_some_and(|id| id.is_string() || id.is_i64())
}

/// A request, which most of the time is changed: in its values, or in its bytes.
fn line(number: usize, outside: &PathBuf, random: &mut StdRng) -> String {
    let mut request = request(random);
    for _ in 0..random.random_range(0..3) {
        let wild = wild(outside, random);
        change(&mut request, wild, random);
    }
    request["id"] = json!(number);
    if random.random_range(0..20) == 0 {
        let odd = [
            json!(format!("a{number}")),
            json!(-1 - number as i64),
            json!(1.5),
            json!({}),
            json!([]),
            json!(u64::MAX),
            json!(true),
        ];
        request["id"] = odd.choose(random).cloned().unwrap_or_default();
    }
    let line = request.to_string();
    if random.random_range(0..8) > 0 {
        return line;
    }
    broken(line, random)
}

/// A line with bytes cut out, repeated or replaced.
fn broken(line: String, random: &mut StdRng) -> String {
    let mut bytes = line.into_bytes();
    let (a, b) = (random.random_range(0..bytes.len()), random.random_range(0..bytes.len()));
    let (from, to) = (a.min(b), a.max(b));
    match random.random_range(0..4) {
        0 => bytes.truncate(from),
        1 => drop(bytes.drain(from..to)),
        2 => bytes[from] = random.random_range(0x20..0x7f),
        _ => {
            let part = bytes[from..to].to_vec();
            bytes.splice(to..to, part.repeat(random.random_range(1..200)));
        }
    }
    // Keep it on one line, and invalid: a valid message might expect an answer of its own.
    let text = String::from_utf8_lossy(&bytes).replace(['\n', '\r'], " ");
    if serde_json::from_str::<Value>(&text).is_ok() { "{".repeat(3) } else { text }
}

/// A good request of a tool, or of the protocol.
fn request(random: &mut StdRng) -> Value {
    let calls = [
        (
            "search",
            json!({"query": "parse header", "results": 5, "paths": ["src"], "include": ["*.rs"], "content": true}),
        ),
        (
            "search",
            json!({"query": "how a page is stored", "pattern": "Ring\\d", "tests": "auto", "offset": 2, "per_file": 2}),
        ),
        ("grep", json!({"pattern": "fn \\w+", "paths": ["src/part1"], "context": 2, "ignore_case": true})),
        ("outline", json!({"file": "src/part1/header.rs"})),
        ("read_unit", json!({"file": "src/part1/header.rs", "name": "send_1", "line": 3})),
        ("find_related", json!({"file": "src/part0/header.rs", "line": 4, "results": 3})),
        ("history", json!({"query": "how a page is stored", "paths": ["src/part1"], "results": 3})),
        ("status", json!({})),
    ];
    let Some((name, arguments)) = calls.choose(random) else { return Value::Null };
    let method = *["tools/call", "tools/call", "tools/call", "tools/call", "tools/list", "ping"]
        .choose(random)
        .unwrap_or(&"ping");
    let params = if method == "tools/call" { json!({"name": name, "arguments": arguments}) } else { json!({}) };
    json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params})
}

/// A value that no good client sends.
fn wild(outside: &PathBuf, random: &mut StdRng) -> Value {
    let long = 1 << random.random_range(4..17);
    let values = [
        json!(null),
        json!(-1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e308),
        json!(0),
        json!([]),
        json!({}),
        json!(""),
        json!("\u{0}\u{1b}[31m\u{202e}"),
        json!("a".repeat(long)),
        json!("(".repeat(long.min(4_000))),
        json!("(a*)*b{1,1000}{1,1000}"),
        json!("**/".repeat(200)),
        json!(vec!["*.rs"; long.min(5_000)]),
        json!("../outside.txt"),
        json!(outside),
        json!("/proc/self/environ"),
        json!("src/../../outside.txt"),
        json!(".git/config"),
        json!("word ".repeat(long)),
    ];
    values.choose(random).cloned().unwrap_or_default()
}

/// Puts a value somewhere into another: in place of a part, or as one more.
fn change(value: &mut Value, wild: Value, random: &mut StdRng) {
    match value {
        Value::Object(object) if !object.is_empty() && random.random_range(0..5) > 0 => {
            let at = random.random_range(0..object.len());
            if let Some((_, inner)) = object.iter_mut().nth(at) {
                change(inner, wild, random);
            }
        }
        Value::Object(object) => {
            object.insert(["x", "file", "query", "paths"].choose(random).unwrap_or(&"x").to_string(), wild);
        }
        Value::Array(list) if !list.is_empty() => {
            let at = random.random_range(0..list.len());
            change(&mut list[at], wild, random);
        }
        _ => *value = wild,
    }
}
