//! The server's transport: messages of bounded length, a bounded number of them under way.
//!
//! The protocol's library drops a line that is too long or no JSON without an answer, and begins every request at once.
//! Here each line is answered, and requests beyond the bound wait in the client's pipe.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ConstString as _, ErrorCode, ErrorData, InitializeResultMethod, JsonRpcMessage, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData as RpcError, RoleServer};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinSet;

use super::batch::{Batches, Outgoing};

/// Longest message, in bytes. The longest question is far shorter.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Maximum number of requests that wait for their turn, and of answers that wait for the client to read them.
const WAITING_MAX: usize = 64;
const READ_AHEAD: usize = 4;
/// How long a client that has closed its end is waited for to read the last refusals; as long as the library waits.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Bounds of the messages under way.
#[derive(Clone)]
pub struct IntakeLimits {
    /// Room for requests that are at work.
    pub work: Arc<Semaphore>,
    /// Room for requests that wait or are at work.
    pub requests: Arc<Semaphore>,
    /// Room for answers on their way.
    answers: Arc<Semaphore>,
}

impl IntakeLimits {
    /// Bounds with `at_work_max` requests at work.
    pub fn new(at_work_max: usize) -> IntakeLimits {
        let room = |n| Arc::new(Semaphore::new(n));
        IntakeLimits { work: room(at_work_max), requests: room(at_work_max + WAITING_MAX), answers: room(WAITING_MAX) }
    }
}

/// A message, or an invalid line's error with the request to answer; or a batch of them.
enum IntakeLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    Refused(Option<RequestId>, RpcError),
    Batch(Batch),
}

/// An array of messages.
struct Batch {
    /// Its elements, where batches are taken.
    lines: Vec<IntakeLine>,
    /// The errors for the requests in it, where they are not.
    refusals: Vec<(Option<RequestId>, RpcError)>,
}

/// The server's end of the pipes.
pub struct Pipes {
    lines: mpsc::Receiver<IntakeLine>,
    output: Arc<Mutex<tokio::io::Stdout>>,
    load: IntakeLimits,
    refusals: JoinSet<io::Result<()>>,
    batches: Batches,
    /// Messages of a batch that were not handed on yet.
    of_batch: VecDeque<RxJsonRpcMessage<RoleServer>>,
}

impl Pipes {
    /// Opens standard input and output. A thread of its own reads, since a read can't be cancelled.
    pub fn open(load: &IntakeLimits) -> Pipes {
        let (sender, lines) = mpsc::channel(READ_AHEAD);
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(lines)) = next_line(&mut input) {
                if lines.into_iter().any(|line| sender.blocking_send(line).is_err()) {
                    break;
                }
            }
        });
        let output = Arc::new(Mutex::new(tokio::io::stdout()));
        let (batches, of_batch) = Default::default();
        Pipes { lines, output, load: load.clone(), refusals: JoinSet::new(), batches, of_batch }
    }

    /// Writes beside the work in progress.
    fn answer(&mut self, outgoing: Outgoing) {
        let (output, answers) = (Arc::clone(&self.output), Arc::clone(&self.load.answers));
        self.refusals.spawn(write(output, answers, outgoing));
    }

    fn refuse(&mut self, id: Option<RequestId>, error: RpcError) {
        self.answer(Outgoing::Message(Box::new(JsonRpcMessage::error(error, id))));
    }

    /// Takes in a batch, whose messages follow one by one.
    fn take_batch(&mut self, batch: Batch) {
        if !self.batches.are_taken() {
            return batch.refusals.into_iter().for_each(|(id, error)| self.refuse(id, error));
        }
        let (mut messages, mut errors) = (Vec::new(), Vec::new());
        for line in batch.lines {
            match line {
                IntakeLine::Message(message) => messages.push(*message),
                IntakeLine::Refused(id, error) => errors.extend(value(&JsonRpcMessage::error(error, id))),
                IntakeLine::Batch(_) => {}
            }
        }
        let answers = self.batches.begin(&messages, errors);
        answers.into_iter().for_each(|answers| self.answer(Outgoing::Batch(answers)));
        self.of_batch.extend(messages);
    }
}

impl Transport<RoleServer> for Pipes {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, answers) = (Arc::clone(&self.output), Arc::clone(&self.load.answers));
        let outgoing = self.batches.send(item);
        async move {
            match outgoing? {
                Some(outgoing) => write(output, answers, outgoing).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // No message is read while no request can begin, or while the client does not read its answers.
            drop(self.load.requests.acquire().await.ok()?);
            drop(self.load.answers.acquire().await.ok()?);
            let line = match self.of_batch.pop_front() {
                Some(message) => Some(IntakeLine::Message(Box::new(message))),
                None => self.lines.recv().await,
            };
            match line {
                Some(IntakeLine::Message(message)) => {
                    if let Some(answers) = self.batches.receive(&message) {
                        self.answer(Outgoing::Batch(answers));
                    }
                    return Some(*message);
                }
                Some(line) => {
                    match line {
                        IntakeLine::Refused(id, error) => self.refuse(id, error),
                        IntakeLine::Batch(batch) => self.take_batch(batch),
                        IntakeLine::Message(_) => {}
                    }
                    // Lets the answer take its place among `answers` before the next look.
                    tokio::task::yield_now().await;
                    while self.refusals.try_join_next().is_some() {}
                }
                None => {
                    // The library waits for answers of its own alone.
                    let last = async { while self.refusals.join_next().await.is_some() {} };
                    let _ = tokio::time::timeout(LAST_PATIENCE, last).await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close();
        Ok(())
    }
}

/// Writes a message as a line, once there is room among `answers`.
async fn write(output: Arc<Mutex<tokio::io::Stdout>>, answers: Arc<Semaphore>, outgoing: Outgoing) -> io::Result<()> {
    let _room = answers.acquire().await.map_err(io::Error::other)?;
    let mut line = match outgoing {
        Outgoing::Message(message) => encoded(&message)?,
        Outgoing::Batch(answers) => serde_json::to_vec(&answers)?,
    };
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// A message as its line. JSON-RPC 2.0 wants a null where it is not known whom an error answers; the library leaves the
/// field out.
fn encoded(item: &TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    if !matches!(item, JsonRpcMessage::Error(error) if error.id.is_none()) {
        return Ok(serde_json::to_vec(item)?);
    }
    Ok(serde_json::to_vec(&value(item)?)?)
}

/// The same as a value.
fn value(item: &TxJsonRpcMessage<RoleServer>) -> io::Result<Value> {
    let mut message = serde_json::to_value(item)?;
    if matches!(item, JsonRpcMessage::Error(error) if error.id.is_none()) {
        message["id"] = Value::Null;
    }
    Ok(message)
}

/// Reads the next line as a message or a batch, or as the refusal of one; empty for a skipped line, `None` at the end of
/// the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<IntakeLine>>> {
    let mut bytes = Vec::new();
    if input.take(MESSAGE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() > MESSAGE_BYTES_MAX && bytes.last() != Some(&b'\n') {
        return too_long(&bytes, input).map(|line| Some(vec![line]));
    }
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    Ok(Some(messages(text)))
}

fn messages(text: &[u8]) -> Vec<IntakeLine> {
    match text.trim_ascii() {
        [] => Vec::new(),
        [b'[', ..] => batch(text),
        _ => message(text).into_iter().collect(),
    }
}

/// The error for the body of a request over HTTP that is no message.
pub fn refused(body: &[u8]) -> Option<Vec<u8>> {
    let refusal = |line| match line {
        IntakeLine::Refused(id, error) => Some((id, error)),
        IntakeLine::Batch(batch) => batch.refusals.into_iter().next(),
        IntakeLine::Message(_) => None,
    };
    let (id, error) = messages(body).into_iter().find_map(refusal)?;
    encoded(&JsonRpcMessage::error(error, id)).ok()
}

/// An element of a batch over HTTP: a message as it is written, or the error for what is none.
pub type BatchPart = Result<Vec<u8>, Value>;

/// The elements of a body that is a batch; `None` if it has no message.
pub fn batch_parts(body: &[u8]) -> Option<Vec<BatchPart>> {
    if body.trim_ascii().first() != Some(&b'[') {
        return None;
    }
    let all: Vec<Value> = serde_json::from_slice(body).ok()?;
    let part = |one: &Value| {
        let text = serde_json::to_vec(one).ok()?;
        match message(&text)? {
            IntakeLine::Refused(id, error) => Some(Err(value(&JsonRpcMessage::error(error, id)).ok()?)),
            IntakeLine::Message(_) | IntakeLine::Batch(_) => Some(Ok(text)),
        }
    };
    let parts: Vec<BatchPart> = all.iter().filter_map(part).collect();
    parts.iter().any(Result::is_ok).then_some(parts)
}

/// A line with a batch: its messages, and an error for each that expects an answer.
fn batch(text: &[u8]) -> Vec<IntakeLine> {
    let all: Vec<Value> = match serde_json::from_slice(text) {
        Ok(all) => all,
        Err(error) => return vec![IntakeLine::Refused(None, ErrorData::parse_error(error.to_string(), None))],
    };
    let refused = |id| {
        let why = "this version of the protocol has no batches: send each request by itself";
        (id, ErrorData::invalid_request(why, None))
    };
    let requests = all.iter().filter(|one| one.get("method").is_some());
    let ids = requests.filter_map(|one| serde_json::from_value::<RequestId>(one.get("id")?.clone()).ok());
    let mut refusals: Vec<_> = ids.map(|id| refused(Some(id))).collect();
    if refusals.is_empty() {
        refusals.push(refused(None));
    }
    if all.is_empty() {
        return refusals.into_iter().map(|(id, error)| IntakeLine::Refused(id, error)).collect();
    }
    let lines = all.iter().filter_map(|one| message(&serde_json::to_vec(one).ok()?)).collect();
    vec![IntakeLine::Batch(Batch { lines, refusals })]
}

/// The fields of a message that tell whom to answer.
#[derive(Default, Deserialize)]
struct Envelope {
    /// `Some(Null)` where it is null.
    #[serde(default, deserialize_with = "there")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<IgnoredAny>,
}

/// A field that is there, be it null.
fn there<'d, D: serde::Deserializer<'d>>(field: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(field).map(Some)
}

impl Envelope {
    fn id(self) -> Option<RequestId> {
        self.id.and_then(|id| serde_json::from_value(id).ok())
    }
}

/// The id of an `initialize` that the library takes for an unknown request, since its parameters don't fit: as a first
/// message that would end the server.
fn misfit(message: &RxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    (custom.method == InitializeResultMethod::VALUE).then(|| request.id.clone())
}

/// A whole line as a message; `None` for an unknown notification, which gets no answer.
fn message(text: &[u8]) -> Option<IntakeLine> {
    if let Ok(message) = serde_json::from_slice(text) {
        if let Some(id) = misfit(&message) {
            let why = "initialize takes protocolVersion, capabilities, and clientInfo with name and version";
            return Some(IntakeLine::Refused(Some(id), ErrorData::invalid_params(why, None)));
        }
        // The library takes a request with a null id for a notification, which gets no answer.
        let is_request = || serde_json::from_slice::<Envelope>(text).is_ok_and(|envelope| envelope.id.is_some());
        if !matches!(message, JsonRpcMessage::Notification(_)) || !is_request() {
            return Some(IntakeLine::Message(Box::new(message)));
        }
    }
    Some(match serde_json::from_slice::<IgnoredAny>(text) {
        Err(error) => IntakeLine::Refused(None, ErrorData::parse_error(error.to_string(), None)),
        Ok(_) => {
            let envelope: Envelope = serde_json::from_slice(text).unwrap_or_default();
            if envelope.method.is_some() && envelope.id.is_none() {
                return None;
            }
            let error = "this is not a JSON-RPC 2.0 request: it has `jsonrpc`, `id`, `method` and `params`";
            IntakeLine::Refused(envelope.id(), ErrorData::invalid_request(error, None))
        }
    })
}

/// Reads a line that is too long to its end, keeps only its id, and refuses it.
fn too_long(start: &[u8], rest: &mut impl BufRead) -> io::Result<IntakeLine> {
    let mut rest = UntilNewline { input: rest, is_over: false };
    let parsed: Result<Envelope, _> = serde_json::from_reader(io::BufReader::new(start.chain(&mut rest)));
    io::copy(&mut rest, &mut io::sink())?;
    Ok(match parsed {
        Ok(envelope) => {
            let said = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
            IntakeLine::Refused(envelope.id(), ErrorData::new(ErrorCode::INVALID_REQUEST, said, None))
        }
        Err(error) => IntakeLine::Refused(None, ErrorData::parse_error(error.to_string(), None)),
    })
}

/// Reads the rest of a line.
struct UntilNewline<'a, R> {
    input: &'a mut R,
    is_over: bool,
}

impl<R: BufRead> Read for UntilNewline<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let there = if self.is_over { &[][..] } else { self.input.fill_buf()? };
        let end = there.iter().position(|b| *b == b'\n');
        let taken = end.unwrap_or(there.len()).min(room.len());
        room[..taken].copy_from_slice(&there[..taken]);
        self.is_over |= end == Some(taken);
        let newline = usize::from(self.is_over && end == Some(taken));
        self.input.consume(taken + newline);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(line: IntakeLine, said: &mut Vec<String>) {
        let told = |(id, error): (Option<RequestId>, RpcError)| {
            format!("{} to {}", error.code.0, id.map_or_else(|| "nobody".into(), |id| id.to_string()))
        };
        match line {
            IntakeLine::Message(message) => said.push(match *message {
                JsonRpcMessage::Request(request) => format!("request {}", request.id),
                _ => "message".to_string(),
            }),
            IntakeLine::Refused(id, error) => said.push(told((id, error))),
            IntakeLine::Batch(batch) => {
                said.push(format!("or {}", batch.refusals.into_iter().map(told).collect::<Vec<_>>().join(", ")));
                batch.lines.into_iter().for_each(|line| tell(line, said));
            }
        }
    }

    fn lines(input: &str) -> Vec<String> {
        let mut input = input.as_bytes();
        let mut said = Vec::new();
        while let Some(lines) = next_line(&mut input).expect("memory can be read") {
            if lines.is_empty() {
                said.push("left out".to_string());
            }
            lines.into_iter().for_each(|line| tell(line, &mut said));
        }
        said
    }

    #[test]
    fn each_line_is_a_message_or_told_to_whom_it_concerns() {
        let long = "x".repeat(3 * MESSAGE_BYTES_MAX);
        let start = r#"{"jsonrpc":"2.0","id":5,"method":"ping","x":""#;
        let exact = format!(r#"{start}{}"}}"#, "y".repeat(MESSAGE_BYTES_MAX - start.len() - 2));
        let input = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r",
            "{not json",
            r#" [{"id":1,"method":"ping"},{"method":"x"},{"id":"b","method":"y"},{"id":3,"result":{}},4]"#,
            r#"[{"method":"x"}]"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"id":"b","method":"y"}]"#,
            "[]",
            "[1,",
            r#"{"id":3,"method":7}"#,
            r#"{"id":{},"jsonrpc":"2.0","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"1.0","method":"notifications/x"}"#,
            &exact,
            &format!(r#"{{"jsonrpc":"2.0","id":"six","method":"{long}"}}"#),
            &format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"id":9,"query":"{long}"}},"id":7}}"#),
            &long,
            &"[".repeat(MESSAGE_BYTES_MAX),
            r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#,
        ];
        assert_eq!(
            lines(&input.join("\n")),
            [
                "request 1",
                "left out",
                "request 2",
                "-32700 to nobody",
                "or -32600 to 1, -32600 to b",
                "-32600 to 1",
                "-32600 to b",
                "-32600 to 3",
                "-32600 to nobody",
                "or -32600 to nobody",
                "or -32600 to 1, -32600 to b",
                "request 1",
                "message",
                "-32600 to b",
                "-32600 to nobody",
                "-32700 to nobody",
                "-32600 to 3",
                "-32600 to nobody",
                "-32600 to nobody",
                "-32600 to nobody",
                "message",
                "left out",
                "request 5",
                "-32600 to six",
                "-32600 to 7",
                "-32700 to nobody",
                "-32700 to nobody",
                "request 8",
            ]
        );
    }
}
