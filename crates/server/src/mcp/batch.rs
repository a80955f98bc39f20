//! Batches: arrays of messages, which the version 2025-03-26 of the protocol takes, and no other. The answers to the
//! requests of one are an array too, once all are there.

use std::collections::HashSet;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, ProtocolVersion, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

/// The batches of a client that are being answered.
#[derive(Default)]
pub struct Batches {
    /// Whether client and server agreed on the version that has batches.
    are_taken: bool,
    open: Vec<OpenBatch>,
}

struct OpenBatch {
    /// Requests without an answer.
    waiting: HashSet<RequestId>,
    answers: Vec<Value>,
}

impl OpenBatch {
    /// The answers, once all are there; nothing answers notifications.
    fn whole(self) -> Option<Value> {
        (!self.answers.is_empty()).then(|| self.answers.into())
    }
}

impl Batches {
    /// Whether the client may send batches.
    pub fn are_taken(&self) -> bool {
        self.are_taken
    }

    /// Takes in a batch: the messages to answer, and the answers to what is no message. Returns what can be sent at once.
    pub fn begin(&mut self, messages: &[RxJsonRpcMessage<RoleServer>], answers: Vec<Value>) -> Option<Value> {
        let ids = messages.iter().filter_map(|message| match message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        });
        let batch = OpenBatch { waiting: ids.collect(), answers };
        if batch.waiting.is_empty() {
            return batch.whole();
        }
        self.open.push(batch);
        None
    }

    /// Notes what the client cancels, which is not answered. Returns a batch that has all other answers.
    pub fn receive(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> Option<Value> {
        let JsonRpcMessage::Notification(note) = message else { return None };
        let ClientNotification::CancelledNotification(cancelled) = &note.notification else { return None };
        self.settle(cancelled.params.request_id.as_ref()?, None).flatten()
    }

    /// What is to be sent for a message of the server: itself, or with the last answer the answers of its batch.
    ///
    /// # Errors
    /// When the message can't be written as JSON.
    pub fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> io::Result<Option<Outgoing>> {
        let id = match &message {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(hello) = &response.result {
                    self.are_taken = hello.protocol_version == ProtocolVersion::V_2025_03_26;
                }
                Some(&response.id)
            }
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(id) = id.filter(|id| self.open.iter().any(|batch| batch.waiting.contains(*id))) else {
            return Ok(Some(Outgoing::Message(Box::new(message))));
        };
        let answer = serde_json::to_value(&message)?;
        Ok(self.settle(&id.clone(), Some(answer)).flatten().map(Outgoing::Batch))
    }

    /// Settles a request of a batch; the answers of the batch, if this was its last. `None` if no batch has it.
    fn settle(&mut self, id: &RequestId, answer: Option<Value>) -> Option<Option<Value>> {
        let at = self.open.iter().position(|batch| batch.waiting.contains(id))?;
        let batch = &mut self.open[at];
        batch.waiting.remove(id);
        batch.answers.extend(answer);
        let is_whole = batch.waiting.is_empty();
        Some(is_whole.then(|| self.open.remove(at)).and_then(OpenBatch::whole))
    }
}

/// What goes out as one line.
pub enum Outgoing {
    Message(Box<TxJsonRpcMessage<RoleServer>>),
    /// The answers of a batch.
    Batch(Value),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message<M: serde::de::DeserializeOwned>(value: &Value) -> M {
        serde_json::from_value(value.clone()).expect("a message")
    }

    #[test]
    fn a_batch_is_answered_once_and_whole() {
        let mut batches = Batches::default();
        let ping = |id: i32| message(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        let pong = |id: i32| json!({"jsonrpc": "2.0", "id": id, "result": {}});
        let is_alone = |sent| matches!(sent, Ok(Some(Outgoing::Message(_))));
        let note = message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(batches.begin(&[note], Vec::new()), None);
        assert_eq!(batches.begin(&[], vec![json!(1)]), Some(json!([1])));
        assert_eq!(batches.begin(&[ping(1), ping(2), ping(3)], vec![json!("refused")]), None);
        assert!(matches!(batches.send(message(&pong(2))), Ok(None)));
        assert!(is_alone(batches.send(message(&pong(4)))));
        let cancelled = |id: i32| {
            message(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        };
        assert_eq!(batches.receive(&cancelled(3)), None);
        assert!(matches!(
            batches.send(message(&pong(1))),
            Ok(Some(Outgoing::Batch(answers))) if answers == json!(["refused", pong(2), pong(1)])
        ));
        assert!(is_alone(batches.send(message(&pong(1)))));
        assert_eq!(batches.begin(&[ping(5)], Vec::new()), None);
        assert_eq!(batches.receive(&cancelled(5)), None, "nothing is answered");
    }
}
