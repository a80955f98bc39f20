//! A panic ends in a sentence and exit status 2, as any other failure does.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// Place and message of the last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Does `work`; a panic in it becomes an error that says where it was.
///
/// # Errors
/// Where `work` panicked.
pub fn contained<T>(work: impl FnOnce() -> T) -> anyhow::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string().replace('\n', " ");
            // Damage in an index shows as a panic at worst, and is then repaired, so print its place only if backtraces
            // are enabled.
            if Backtrace::capture().status() == BacktraceStatus::Captured {
                before(panic);
            }
        }));
    });
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        anyhow::anyhow!("it failed inside, which is a fault of colgrep: {last}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_where() {
        let error = contained(|| [0; 3][std::hint::black_box(7)]).expect_err("a panic");
        let text = error.to_string();
        assert!(text.contains("panic.rs") && text.contains("out of bounds"), "{text}");
        assert_eq!(contained(|| 7).expect("no panic"), 7);
    }
}
