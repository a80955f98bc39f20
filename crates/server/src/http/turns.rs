//! Turns of requests: a bounded number works, and the others wait in a queue for each caller. Clients take turns, and so do
//! the callers of one client, so a caller with many requests delays its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot::{Sender, channel};

use super::guard::CallerKey;

/// Requests at work and requests that wait.
#[derive(Debug)]
pub struct TurnQueue {
    at_once: usize,
    waiting_max: usize,
    state: Mutex<TurnState>,
}

#[derive(Debug, Default)]
struct TurnState {
    /// Requests that may begin now.
    free: usize,
    /// Requests that wait, in all queues.
    waiting: usize,
    /// The next number of a waiting request.
    next: u64,
    queues: BTreeMap<CallerKey, VecDeque<(u64, Sender<RequestTurn>)>>,
    /// The clients that wait, the next one first.
    clients: VecDeque<String>,
    /// The callers that wait, of each client the next one first.
    order: VecDeque<CallerKey>,
}

/// A request's turn to work; passed on when it is dropped.
#[derive(Debug)]
pub struct RequestTurn(Arc<TurnQueue>);

impl Drop for RequestTurn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.pop();
            state.free += usize::from(next.is_none());
            next
        };
        // If the request is gone, its turn is dropped here, and goes to the one after it.
        let _ = next.map(|next| next.send(RequestTurn(Arc::clone(&self.0))));
    }
}

impl TurnState {
    /// Adds a request to its caller's queue. Returns its number.
    fn push(&mut self, key: &CallerKey, sender: Sender<RequestTurn>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting += 1;
        if !self.waits(key.client()) {
            self.clients.push_back(key.client().to_string());
        }
        if !self.queues.contains_key(key) {
            self.order.push_back(key.clone());
        }
        self.queues.entry(key.clone()).or_default().push_back((number, sender));
        number
    }

    /// Removes the next request from its queue.
    fn pop(&mut self) -> Option<Sender<RequestTurn>> {
        let client = self.clients.pop_front()?;
        let at = self.order.iter().position(|key| key.client() == client)?;
        let key = self.order.remove(at)?;
        let queue = self.queues.get_mut(&key)?;
        let (_, next) = queue.pop_front()?;
        self.waiting -= 1;
        match queue.is_empty() {
            true => drop(self.queues.remove(&key)),
            false => self.order.push_back(key),
        }
        if self.waits(&client) {
            self.clients.push_back(client);
        }
        Some(next)
    }

    /// Removes a request from its queue, if it still waits there.
    fn remove(&mut self, key: &CallerKey, number: u64) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let before = queue.len();
        queue.retain(|(own, _)| *own != number);
        self.waiting -= before - queue.len();
        if queue.is_empty() {
            self.queues.remove(key);
            self.order.retain(|own| own != key);
        }
        if !self.waits(key.client()) {
            self.clients.retain(|own| own != key.client());
        }
    }

    /// Whether a request of a client waits.
    fn waits(&self, client: &str) -> bool {
        self.order.iter().any(|key| key.client() == client)
    }

    fn queues_of(&self, client: &str) -> impl Iterator<Item = (&CallerKey, &VecDeque<(u64, Sender<RequestTurn>)>)> {
        self.queues.iter().filter(move |(key, _)| key.client() == client)
    }

    /// Makes room for a request of a caller: the newest request in the longest queue of the client with most has to go, or,
    /// where no client has more than the caller's own, in the longest queue of that one, unless that queue is about as long
    /// as the caller's own. Returns whether there is room.
    fn make_room(&mut self, key: &CallerKey) -> bool {
        let waiting = |client: &str| self.queues_of(client).map(|(_, queue)| queue.len()).sum::<usize>();
        let own = waiting(key.client());
        let most = self.clients.iter().max_by_key(|client| waiting(client)).filter(|client| waiting(client) > own + 1);
        let spared = self.queues.get(key).map_or(0, VecDeque::len) + 1;
        let (client, spared) = most.map_or((key.client(), spared), |most| (most.as_str(), 0));
        let longest = self.queues_of(client).max_by_key(|(_, queue)| queue.len());
        let Some((longest, queue)) = longest.filter(|(_, queue)| queue.len() > spared) else { return false };
        let (longest, newest) = (longest.clone(), queue.back().map(|(number, _)| *number));
        newest.inspect(|number| self.remove(&longest, *number)).is_some()
    }
}

/// A request that waits; leaves its queue when it is dropped.
struct WaitingRequest<'t> {
    turns: &'t TurnQueue,
    key: &'t CallerKey,
    number: u64,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.turns.state().remove(self.key, self.number);
    }
}

impl TurnQueue {
    /// `at_once` requests work, and `waiting_max` wait.
    pub fn new(at_once: usize, waiting_max: usize) -> Arc<TurnQueue> {
        let state = Mutex::new(TurnState { free: at_once, ..TurnState::default() });
        Arc::new(TurnQueue { at_once, waiting_max, state })
    }

    fn state(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; `None` if too many requests wait already.
    pub async fn take(self: &Arc<TurnQueue>, key: &CallerKey) -> Option<RequestTurn> {
        let (number, turn) = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(RequestTurn(Arc::clone(self)));
            }
            if state.waiting >= self.waiting_max && !state.make_room(key) {
                return None;
            }
            let (sender, turn) = channel();
            (state.push(key, sender), turn)
        };
        let _waiting = WaitingRequest { turns: self, key, number };
        turn.await.ok()
    }

    /// Requests at work, and requests that wait.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (self.at_once - state.free, state.waiting)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::http::guard::{CALLER, PeerAddress};

    /// A caller; after `@` comes the last number of its client's address.
    fn key(name: &'static str) -> CallerKey {
        let (name, client) = name.split_once('@').unwrap_or((name, ""));
        let mut headers = HeaderMap::new();
        headers.insert(CALLER, name.parse().expect("a name"));
        let peer = client.parse().ok().map(|last| PeerAddress([10, 0, 0, last].into()));
        CallerKey::new(None, &headers, peer)
    }

    fn ask(turns: &Arc<TurnQueue>, name: &'static str, done: &Arc<Mutex<Vec<&'static str>>>) -> JoinHandle<bool> {
        let (turns, done) = (Arc::clone(turns), Arc::clone(done));
        tokio::spawn(async move {
            let turn = turns.take(&key(name)).await;
            if turn.is_some() {
                done.lock().expect("unbroken").push(name);
            }
            turn.is_some()
        })
    }

    async fn waiting(turns: &TurnQueue, count: usize) {
        while turns.counts().1 != count {
            tokio::task::yield_now().await;
        }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(test);
    }

    #[test]
    fn a_caller_with_many_requests_shuts_out_no_other() {
        run(async {
            let (turns, done) = (TurnQueue::new(1, 6), Arc::default());
            let first = turns.take(&key("loud")).await.expect("a turn");
            let mut loud: Vec<_> = (0..6).map(|_| ask(&turns, "loud", &done)).collect();
            waiting(&turns, 6).await;
            assert!(turns.take(&key("loud")).await.is_none(), "its own queue is full");
            // Two others come late; the newest requests of the loud one make room for them.
            let quiet: Vec<_> = ["a", "b", "a"].map(|name| ask(&turns, name, &done)).into();
            for one in loud.drain(3..) {
                assert!(!one.await.expect("a task"));
            }
            assert_eq!(turns.counts(), (1, 6));
            drop(first);
            for one in loud.into_iter().chain(quiet) {
                assert!(one.await.expect("a task"));
            }
            assert_eq!(*done.lock().expect("unbroken"), ["loud", "a", "b", "loud", "a", "loud"], "they take turns");
            assert_eq!(turns.counts(), (0, 0));
        });
    }

    #[test]
    fn a_client_that_makes_up_callers_shuts_out_no_other() {
        run(async {
            let (turns, done) = (TurnQueue::new(1, 4), Arc::default());
            let first = turns.take(&key("a@1")).await.expect("a turn");
            let mut loud: Vec<_> = ["a@1", "b@1", "c@1", "d@1"].map(|name| ask(&turns, name, &done)).into();
            waiting(&turns, 4).await;
            assert!(turns.take(&key("e@1")).await.is_none(), "its own places are taken");
            let quiet: Vec<_> = ["x@2", "x@2"].map(|name| ask(&turns, name, &done)).into();
            let mut refused = 0;
            for one in loud.split_off(2) {
                refused += usize::from(!one.await.expect("a task"));
            }
            assert_eq!((refused, turns.counts()), (2, (1, 4)));
            drop(first);
            for one in loud.into_iter().chain(quiet) {
                assert!(one.await.expect("a task"));
            }
            assert_eq!(*done.lock().expect("unbroken"), ["a@1", "x@2", "b@1", "x@2"], "the two clients take turns");
            assert_eq!(turns.counts(), (0, 0));
        });
    }

    #[test]
    fn a_request_that_is_gone_takes_no_turn() {
        run(async {
            let (turns, done) = (TurnQueue::new(1, 4), Arc::default());
            let first = turns.take(&key("a")).await.expect("a turn");
            let gone = ask(&turns, "b", &done);
            let stays = ask(&turns, "c", &done);
            waiting(&turns, 2).await;
            gone.abort();
            assert!(gone.await.is_err());
            assert_eq!(turns.counts(), (1, 1));
            drop(first);
            assert!(stays.await.expect("a task"));
            assert_eq!(turns.counts(), (0, 0));
        });
    }
}
