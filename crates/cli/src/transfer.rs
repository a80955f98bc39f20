//! How far a push or a pull is, on stderr: a bar on a terminal, and a word where it takes long elsewhere.

use colgrep_engine::settings::env::Env;
use colgrep_render::remark;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use colgrep_share::{Error, TransferPhase, TransferWatch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use colgrep_render::words::in_words;

/// Time without a message where no bar is shown.
const SILENT: Duration = Duration::from_secs(2);
/// Fewer bytes are done before a bar could be read.
const SHOWN_BYTES_MIN: u64 = 4 << 20;

/// Standard error.
pub(crate) struct Transfer {
    bar: ProgressBar,
    quiet: bool,
    no_progress: bool,
    begun: Mutex<Instant>,
    told: AtomicBool,
}

impl Transfer {
    pub(crate) fn new(quiet: bool, env: &Env) -> Transfer {
        let no_progress = quiet || env.no_progress;
        let target = if no_progress { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        Transfer { bar, quiet, no_progress, begun: Mutex::new(Instant::now()), told: AtomicBool::new(false) }
    }

    fn elapsed(&self) -> Duration {
        self.begun.lock().map_or(Duration::ZERO, |begun| begun.elapsed())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn verb(phase: TransferPhase) -> &'static str {
    match phase {
        TransferPhase::Hashing => "reading the index",
        TransferPhase::Sending => "sending",
        TransferPhase::Fetching => "fetching",
        _ => "working",
    }
}

impl TransferWatch for Transfer {
    fn begin(&self, phase: TransferPhase, bytes: u64) {
        if let Ok(mut begun) = self.begun.lock() {
            *begun = Instant::now();
        }
        self.told.store(false, Relaxed);
        let template = "{spinner} {msg} {bytes}/{total_bytes}, {bytes_per_sec} {wide_bar} {eta} left";
        self.bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        self.bar.set_length(bytes);
        self.bar.set_message(verb(phase));
        if bytes > SHOWN_BYTES_MIN {
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn done(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.bar.is_hidden() && !self.no_progress && self.elapsed() >= SILENT && !self.told.swap(true, Relaxed) {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            remark!("colgrep: {}; {} of {} so far", self.bar.message(), in_words(done), in_words(all));
        }
    }

    fn raced(&self) {
        if !self.quiet {
            remark!("colgrep: another push was faster; looking again");
        }
    }

    fn again(&self, place: &str) {
        if !self.quiet {
            remark!("colgrep: {place} arrived damaged; fetching it again");
        }
    }
    fn passed(&self, error: &Error) {
        if !self.quiet {
            remark!("colgrep: {}; another one is used", error.full());
        }
    }

    fn slow(&self, place: &str) {
        if !self.no_progress {
            remark!("colgrep: waiting for {place}");
        }
    }

    fn waits(&self) {
        if !self.quiet {
            remark!("colgrep: another process takes an index for this project; waiting for it");
        }
    }
}
