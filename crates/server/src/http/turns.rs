//! Turns of requests: a bounded number works, and the others wait in a queue for each caller. The queues take turns, so
//! a caller with many requests delays its own.

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
    /// The callers that wait, the next one first.
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
    /// Removes the next request from its queue.
    fn pop(&mut self) -> Option<Sender<RequestTurn>> {
        let key = self.order.pop_front()?;
        let queue = self.queues.get_mut(&key)?;
        let (_, next) = queue.pop_front()?;
        self.waiting -= 1;
        match queue.is_empty() {
            true => drop(self.queues.remove(&key)),
            false => self.order.push_back(key),
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
    }

    /// Makes room for a request of a caller: the newest request of the longest queue has to go, unless that queue is
    /// about as long as the caller's own. Returns whether there is room.
    fn make_room(&mut self, key: &CallerKey) -> bool {
        let own = self.queues.get(key).map_or(0, VecDeque::len);
        let longest = self.queues.iter().max_by_key(|(_, queue)| queue.len());
        let Some((longest, queue)) = longest.filter(|(_, queue)| queue.len() > own + 1) else { return false };
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
            let number = state.next;
            state.next += 1;
            state.waiting += 1;
            if !state.queues.contains_key(key) {
                state.order.push_back(key.clone());
            }
            state.queues.entry(key.clone()).or_default().push_back((number, sender));
            (number, turn)
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

    fn key(name: &'static str) -> CallerKey {
        let mut headers = HeaderMap::new();
        headers.insert(crate::http::guard::CALLER, name.parse().expect("a name"));
        CallerKey::new(None, &headers, None)
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
