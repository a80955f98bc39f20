//! Reports the engine's work on stderr: remarks, a progress bar, ranking steps for scripts.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use colgrep_engine::notice::{Listener, Notice, Traced};
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{Settings, UntrustedSettings};
use colgrep_index::update::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{notice, trace};

/// Standard error.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    quiet: bool,
    trace: bool,
    /// Whether progress is hidden.
    no_progress: bool,
    /// Whether messages about unreadable files are hidden.
    no_messages: bool,
}

impl Console {
    /// With remarks and a progress bar unless it is `quiet`, and ranking steps; the last two as the environment says.
    pub fn new(quiet: bool, env: &Env) -> Arc<Console> {
        Arc::new(Console { quiet, trace: env.trace, no_progress: env.no_progress, no_messages: false })
    }

    /// The same, and where `no_messages` is set, without remarks on files that can't be read.
    pub fn without_messages(&self, no_messages: bool) -> Arc<Console> {
        Arc::new(Console { no_messages, ..*self })
    }
}

impl Listener for Console {
    fn hears(&self) -> bool {
        !self.quiet
    }

    fn notice(&self, notice: &Notice) {
        if self.no_messages && notice.is_of_unreadable() {
            return;
        }
        // Report a foreign library even if quiet.
        if !self.quiet || matches!(notice, Notice::Runtime(_)) {
            remark!("colgrep: {}", notice::text(notice));
        }
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        Box::new(BuildProgress::new(self.quiet, self.no_progress))
    }

    fn traces(&self) -> bool {
        self.trace
    }

    fn trace(&self, query: &str, step: &Traced<'_>) {
        trace::write(query, step);
    }
}

/// How far the two phases of a build are, how fast they go and how long they will take, on stderr, on a terminal alone.
struct BuildProgress {
    bar: ProgressBar,
    quiet: bool,
    no_progress: bool,
    units: AtomicU64,
    started: Instant,
    /// Whether a reader without a progress bar was told to wait.
    told: AtomicBool,
}

/// Time without a message where no bar is shown.
const SILENT: Duration = Duration::from_secs(2);

const INDEXING: &str = "{spinner} indexing {human_pos}/{human_len} files, {msg} {wide_bar} {eta} left";
const ENCODING: &str = "{spinner} encoding {human_pos}/{human_len} units, {msg} {wide_bar} {eta} left";

impl Drop for BuildProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl BuildProgress {
    fn new(quiet: bool, no_progress: bool) -> BuildProgress {
        // Hidden by itself where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(
            None,
            if quiet || no_progress { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        let bar =
            BuildProgress { bar, quiet, no_progress, units: 0.into(), started: Instant::now(), told: false.into() };
        bar.style(INDEXING);
        bar
    }

    fn style(&self, template: &str) {
        self.bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    fn show(&self, len: u64) {
        self.bar.set_length(len);
        // A change of a few files is over before a bar could be read.
        if len > 50 {
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Says once, where no bar is shown, that the work takes a while, and how far it is.
    fn say_that_it_lasts(&self, what: &str) {
        let is_silent = self.quiet || self.no_progress;
        if self.bar.is_hidden() && !is_silent && self.started.elapsed() >= SILENT && !self.told.swap(true, Relaxed) {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            remark!("colgrep: {what}; {done} of {all} so far");
        }
    }

    /// Says how fast it goes: in files, where these are counted, and in units.
    fn say_rate(&self, files: Option<u64>, units: u64, since: Duration) {
        if !self.bar.is_hidden() {
            self.bar.set_message(rate(files, units, since));
        }
    }
}

/// The speed in whole numbers, with units.
fn rate(files: Option<u64>, units: u64, since: Duration) -> String {
    let rate = |done: u64| done as f64 / since.as_secs_f64().max(0.001);
    let files = files.map_or_else(String::new, |files| format!("{:.0} files/s, ", rate(files)));
    format!("{files}{:.0} units/s", rate(units))
}

/// Reports the ignored settings of a repository, once.
pub fn tell_refused(settings: &Settings) {
    static TOLD: Once = Once::new();
    if let Some(refused) = settings.refused() {
        TOLD.call_once(|| remark!("colgrep: {}", told_refused(refused)));
    }
}

/// The ignored settings of a repository, with what the user can do.
pub fn told_refused(refused: &UntrustedSettings) -> String {
    let way = if refused.asks_for_trust() { ": `colgrep settings --trust`" } else { "" };
    format!("{refused}{way}")
}

/// Says of ignore files that they are not heeded: once, whatever is walked again.
pub fn tell_unheeded(files: &[(String, String)]) {
    static TOLD: Once = Once::new();
    let Some((path, why)) = files.first() else { return };
    TOLD.call_once(|| match files.len() - 1 {
        0 => remark!("colgrep: {path}: {why}"),
        others => remark!("colgrep: {path}: {why}; and {others} more ignore files are not heeded"),
    });
}

impl Progress for BuildProgress {
    fn unheeded(&self, files: &[(String, String)]) {
        tell_unheeded(files);
    }

    fn waits(&self) {
        if !self.quiet {
            remark!("colgrep: waiting for another colgrep that writes this index");
        }
    }

    fn begin(&self, files: u64) {
        self.show(files);
    }

    fn file_done(&self, units: u64) {
        let all = self.units.fetch_add(units, Relaxed) + units;
        self.bar.inc(1);
        self.say_that_it_lasts("indexing files, which takes a while");
        self.say_rate(Some(self.bar.position()), all, self.started.elapsed());
    }

    fn vectors_begin(&self, units: u64) {
        self.bar.set_message("");
        self.style(ENCODING);
        self.bar.reset();
        self.show(units);
    }

    fn vectors_done(&self, units: u64) {
        self.bar.inc(units);
        self.say_that_it_lasts("making vectors of units, which takes a while");
        self.say_rate(None, self.bar.position(), self.bar.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_how_fast_it_goes_and_how_much_there_is() {
        let since = Duration::from_millis(2_400);
        assert_eq!(rate(Some(286), 3_000, since), "119 files/s, 1250 units/s");
        assert_eq!(rate(None, 3_000, since), "1250 units/s");
        for phase in [INDEXING, ENCODING] {
            assert!(phase.contains("{human_pos}/{human_len}") && phase.contains("{eta} left"), "{phase}");
        }
    }

    #[test]
    fn who_sees_no_bar_is_told_once_that_it_lasts() {
        let bar = |quiet: bool, no_progress: bool, age: Duration| {
            let mut bar = BuildProgress::new(quiet, no_progress);
            bar.bar = ProgressBar::hidden();
            bar.started = Instant::now().checked_sub(age).expect("a time");
            bar
        };
        for (quiet, no_progress, age, expected) in [
            (false, false, SILENT, true),
            (false, false, Duration::ZERO, false),
            (true, false, SILENT, false),
            (false, true, SILENT, false),
        ] {
            let bar = bar(quiet, no_progress, age);
            bar.begin(300);
            bar.file_done(1);
            assert_eq!(bar.told.load(Relaxed), expected, "{quiet} {no_progress} {age:?}");
        }
    }
}
