//! The pace of a store that a search waits for: what comes too slowly is given up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use object_store::Error as StoreError;
use tokio::time::{Instant, timeout};

/// Time that one wait counts for at most: a thread that was busy with something else did not wait for the store.
const TICK: Duration = Duration::from_millis(500);

/// How slow a store may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Time for an answer without an object's content.
    pub(crate) answer: Duration,
    /// Time of waiting in which all objects under way together bring `bytes`.
    pub(crate) window: Duration,
    /// The fewest bytes in a window.
    pub(crate) bytes: u64,
}

/// What a store has brought, against its bounds. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    bounds: Option<Bounds>,
    arrived: Arc<AtomicU64>,
}

/// The content of one object on its way.
pub(crate) struct OnTheWay {
    pace: Pace,
    waited: Duration,
    /// What had arrived when the window began.
    before: u64,
}

fn slow(why: String) -> StoreError {
    StoreError::Generic { store: "network", source: Box::new(io::Error::new(io::ErrorKind::TimedOut, why)) }
}

impl Pace {
    /// A pace with bounds, or without.
    pub(crate) fn new(bounds: Option<Bounds>) -> Pace {
        Pace { bounds, arrived: Arc::default() }
    }

    /// Waits for an answer.
    ///
    /// # Errors
    /// When it takes too long, and those of the question.
    pub(crate) async fn answer<T>(
        &self,
        question: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let Some(Bounds { answer, .. }) = self.bounds else { return question.await };
        let late = |_| Err(slow(format!("no whole answer within {} s", answer.as_secs())));
        timeout(answer, question).await.unwrap_or_else(late)
    }

    /// Begins an object's content.
    pub(crate) fn begin(&self) -> OnTheWay {
        OnTheWay { pace: self.clone(), waited: Duration::ZERO, before: self.arrived.load(Relaxed) }
    }
}

impl OnTheWay {
    /// The next piece of the content; none at its end.
    ///
    /// # Errors
    /// When too little arrives, and those of the store.
    pub(crate) async fn next<B: AsRef<[u8]>>(
        &mut self,
        stream: &mut (impl Stream<Item = Result<B, StoreError>> + Unpin),
    ) -> Result<Option<B>, StoreError> {
        let Some(bounds) = self.pace.bounds else { return stream.next().await.transpose() };
        loop {
            let begun = Instant::now();
            let next = timeout(TICK.min(bounds.window), stream.next()).await;
            self.waited += begun.elapsed().min(TICK);
            if let Ok(Some(Ok(piece))) = &next {
                self.pace.arrived.fetch_add(piece.as_ref().len() as u64, Relaxed);
            }
            if let Ok(None | Some(Err(_))) = next {
                return next.ok().flatten().transpose();
            }
            if self.waited >= bounds.window {
                let arrived = self.pace.arrived.load(Relaxed);
                if arrived - self.before < bounds.bytes {
                    let rate = bounds.bytes / 1_000 / bounds.window.as_secs().max(1);
                    return Err(slow(format!("it sends fewer than {rate} kB a second, too few to wait for")));
                }
                (self.waited, self.before) = (Duration::ZERO, arrived);
            }
            if let Ok(next) = next {
                return next.transpose();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::time::sleep;

    use super::*;

    /// Reads `pieces` of `bytes` each, after a pause each; all of them where they come fast enough.
    async fn read(pieces: usize, bytes: usize, pause: Duration, bounds: Option<Bounds>) -> Result<usize, StoreError> {
        let next = move |left: usize| async move {
            if left == 0 {
                return None;
            }
            sleep(pause).await;
            Some((Ok::<_, StoreError>(vec![0_u8; bytes]), left - 1))
        };
        let mut content = Box::pin(stream::unfold(pieces, next));
        let (mut way, mut all) = (Pace::new(bounds).begin(), 0);
        while let Some(piece) = way.next(&mut content).await? {
            all += piece.len();
        }
        Ok(all)
    }

    #[tokio::test(start_paused = true)]
    async fn what_trickles_is_given_up_and_what_comes_fast_enough_is_read() {
        let millis = Duration::from_millis;
        let bounds = Some(Bounds { answer: millis(50), window: millis(50), bytes: 100 });
        assert!(read(usize::MAX, 1, millis(5), bounds).await.is_err(), "a byte at a time");
        assert!(read(usize::MAX, 1, Duration::from_secs(3_600), bounds).await.is_err(), "nothing");
        assert_eq!(read(20, 100, millis(5), bounds).await.expect("fast enough"), 2_000);
        assert_eq!(read(20, 1, millis(5), None).await.expect("no bounds"), 20);
        let pace = Pace::new(bounds);
        let never = async {
            sleep(Duration::from_secs(3_600)).await;
            Ok(())
        };
        assert!(pace.answer(never).await.is_err());
        assert_eq!(pace.answer(async { Ok(7) }).await.expect("an answer"), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn objects_under_way_together_count_together() {
        let bounds = Bounds { answer: Duration::ZERO, window: Duration::from_millis(50), bytes: 100 };
        let pace = Pace::new(Some(bounds));
        let mut way = pace.begin();
        // Another object brings enough for both.
        pace.arrived.fetch_add(1_000, Relaxed);
        let next = |left: usize| async move {
            sleep(Duration::from_millis(20)).await;
            (left > 0).then(|| (Ok::<_, StoreError>(vec![0_u8]), left - 1))
        };
        let mut content = Box::pin(stream::unfold(4, next));
        for _ in 0..3 {
            assert!(way.next(&mut content).await.expect("a piece").is_some());
        }
    }
}
