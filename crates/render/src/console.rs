//! Reports the engine's work on stderr: remarks, a progress bar, ranking steps for scripts. A search prints one remark at
//! most, after its results: the one that matters most.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use colgrep_engine::notice::{Listener, Notice, Traced};
use colgrep_engine::project::model::{Lacking, MissingVectors};
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{Settings, UntrustedSettings};
use colgrep_index::update::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::remarks::RemarkKind;
use crate::words::counted;
use crate::{notice, trace};

/// The remark of a search, and how many further ones of its kind there were.
#[derive(Debug)]
struct HeldRemark {
    kind: RemarkKind,
    text: String,
    others: usize,
}

impl HeldRemark {
    fn line(&self) -> String {
        let more = match (self.kind, self.others as u64) {
            (RemarkKind::NamedPath, others @ 1..) => format!("; and {}", counted(others, "more path")),
            _ => String::new(),
        };
        format!("colgrep: {}{more}", self.text)
    }
}

/// Standard error.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    trace: bool,
    /// Whether progress is hidden.
    no_progress: bool,
    /// Whether messages about unreadable files are hidden.
    no_messages: bool,
    /// Whether remarks wait for [`Console::finish`], which prints one of them.
    holds: bool,
    held: Mutex<Option<HeldRemark>>,
}

impl Console {
    /// With remarks and a progress bar unless it is `quiet`, and ranking steps; the last two as the environment says.
    pub fn new(quiet: bool, env: &Env) -> Arc<Console> {
        Arc::new(Console::with(quiet, env))
    }

    /// The same for a search; where `no_messages` is set, without remarks on files that can't be read.
    pub fn of_search(quiet: bool, no_messages: bool, env: &Env) -> Arc<Console> {
        Arc::new(Console { no_messages, holds: true, ..Console::with(quiet, env) })
    }

    fn with(quiet: bool, env: &Env) -> Console {
        let (trace, no_progress) = (env.trace, env.no_progress);
        Console { quiet, trace, no_progress, no_messages: false, holds: false, held: Mutex::default() }
    }

    /// Keeps a remark of a search, unless there is one that matters as much.
    pub fn hold(&self, kind: RemarkKind, text: impl Into<String>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *held {
            Some(HeldRemark { kind: known, others, .. }) if *known == kind => *others += 1,
            Some(HeldRemark { kind: known, .. }) if *known > kind => {}
            other => *other = Some(HeldRemark { kind, text: text.into(), others: 0 }),
        }
    }

    /// Keeps the remark on ignored settings of a repository, if there are any.
    pub fn hold_refused(&self, settings: &Settings) {
        if let Some(refused) = settings.refused() {
            self.hold(RemarkKind::Options, told_refused(refused));
        }
    }

    /// Prints the remark of a search, if there is one and a setting doesn't forbid it.
    pub fn finish(&self, is_quiet: bool) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(held) = held.filter(|_| !self.quiet && !is_quiet) {
            remark!("{}", held.line());
        }
    }

    /// The remark that [`Console::finish`] would print by now.
    pub(crate) fn pending(&self) -> Option<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().filter(|_| !self.quiet).map(HeldRemark::line)
    }
}

/// Whether an earlier search or another process has told it, and nobody has to do anything: while units get their
/// vectors in the background, searches say nothing of it after the one that started it.
fn is_known(notice: &Notice) -> bool {
    let Notice::Lacking { lacking: Lacking { what, .. }, is_being_built: true, .. } = notice else { return false };
    matches!(what, MissingVectors::Units { .. })
}

/// What a notice of a search is about.
fn kind(notice: &Notice) -> RemarkKind {
    match notice {
        Notice::NotRanked(_) => RemarkKind::NamedPath,
        Notice::OtherWalk { .. } | Notice::Moved { .. } | Notice::NearUnknown(_) => RemarkKind::Options,
        Notice::TooLarge { .. } | Notice::Lacking { .. } | Notice::HistoryLacks { .. } => RemarkKind::Quality,
        _ => RemarkKind::Partial,
    }
}

impl Listener for Console {
    fn hears(&self) -> bool {
        !self.quiet
    }

    fn notice(&self, notice: &Notice) {
        if self.no_messages && notice.is_of_unreadable() || self.holds && is_known(notice) {
            return;
        }
        let is_immediate = !self.holds || matches!(notice, Notice::Runtime(_) | Notice::WaitsForFirstPart);
        if !is_immediate {
            self.hold(kind(notice), notice::text(notice));
        // Report a foreign library even if quiet.
        } else if !self.quiet || matches!(notice, Notice::Runtime(_)) {
            remark!("colgrep: {}", notice::text(notice));
        }
    }

    fn progress(&self) -> Box<dyn Progress + '_> {
        Box::new(BuildProgress::new(self))
    }

    fn traces(&self) -> bool {
        self.trace
    }

    fn trace(&self, query: &str, step: &Traced<'_>) {
        trace::write(query, step);
    }
}

/// How far the two phases of a build are, how fast they go and how long they will take, on stderr, on a terminal alone.
struct BuildProgress<'c> {
    bar: ProgressBar,
    console: &'c Console,
    units: AtomicU64,
    started: Instant,
    /// Whether a reader without a progress bar was told to wait.
    told: AtomicBool,
}

/// Time without a message where no bar is shown.
const SILENT: Duration = Duration::from_secs(2);

const INDEXING: &str = "{spinner} indexing {human_pos}/{human_len} files, {msg} {wide_bar} {eta} left";
const ENCODING: &str = "{spinner} encoding {human_pos}/{human_len} units, {msg} {wide_bar} {eta} left";

impl Drop for BuildProgress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl BuildProgress<'_> {
    fn new(console: &Console) -> BuildProgress<'_> {
        // Hidden by itself where stderr is no terminal.
        let is_hidden = console.quiet || console.no_progress;
        let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let bar = BuildProgress { bar, console, units: 0.into(), started: Instant::now(), told: false.into() };
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
        let is_silent = self.console.quiet || self.console.no_progress;
        if self.bar.is_hidden() && !is_silent && self.started.elapsed() >= SILENT && !self.told.swap(true, Relaxed) {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            remark!("colgrep: {what}: {done} of {all} so far");
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

/// Says of ignore files that they are not applied: once, whatever is walked again.
pub fn tell_unheeded(files: &[(String, String)]) {
    static TOLD: Once = Once::new();
    if let Some(told) = unheeded(files) {
        TOLD.call_once(|| remark!("colgrep: {told}"));
    }
}

/// The remark on ignore files that are not applied.
fn unheeded(files: &[(String, String)]) -> Option<String> {
    let (path, why) = files.first()?;
    Some(match files.len() - 1 {
        0 => format!("{path}: {why}"),
        others => format!("{path}: {why}; and {others} more ignore files are not applied"),
    })
}

impl Progress for BuildProgress<'_> {
    fn unheeded(&self, files: &[(String, String)]) {
        match unheeded(files).filter(|_| self.console.holds) {
            Some(told) => self.console.hold(RemarkKind::Options, told),
            None => tell_unheeded(files),
        }
    }

    fn waits(&self) {
        if !self.console.quiet {
            remark!("colgrep: waiting for another colgrep that is updating this index");
        }
    }

    fn begin(&self, files: u64) {
        self.show(files);
    }

    fn file_done(&self, units: u64) {
        let all = self.units.fetch_add(units, Relaxed) + units;
        self.bar.inc(1);
        self.say_that_it_lasts("reading new and changed files");
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
        self.say_that_it_lasts("encoding units");
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
    fn a_search_keeps_the_remark_that_matters_most() {
        let console = Console::of_search(false, false, &Env::default());
        let held = || console.held.lock().expect("a lock").as_ref().map(|held| (held.text.clone(), held.others));
        for (kind, text, expected) in [
            (RemarkKind::Quality, "not sure", ("not sure", 0)),
            (RemarkKind::NotFound, "nothing", ("nothing", 0)),
            (RemarkKind::Cut, "cut", ("nothing", 0)),
            (RemarkKind::NamedPath, "a is binary", ("a is binary", 0)),
            (RemarkKind::NamedPath, "b is binary", ("a is binary", 1)),
            (RemarkKind::Partial, "half", ("a is binary", 1)),
        ] {
            console.hold(kind, text);
            assert_eq!(held(), Some((expected.0.to_string(), expected.1)), "{text}");
        }
        console.finish(true);
        assert_eq!(held(), None, "once");
    }

    #[test]
    fn who_sees_no_bar_is_told_once_that_it_lasts() {
        let is_told = |quiet: bool, no_progress: bool, age: Duration| {
            let mut env = Env::default();
            env.no_progress = no_progress;
            let console = Console::with(quiet, &env);
            let mut bar = BuildProgress::new(&console);
            bar.bar = ProgressBar::hidden();
            bar.started = Instant::now().checked_sub(age).expect("a time");
            bar.begin(300);
            bar.file_done(1);
            bar.told.load(Relaxed)
        };
        for (quiet, no_progress, age, expected) in [
            (false, false, SILENT, true),
            (false, false, Duration::ZERO, false),
            (true, false, SILENT, false),
            (false, true, SILENT, false),
        ] {
            assert_eq!(is_told(quiet, no_progress, age), expected, "{quiet} {no_progress} {age:?}");
        }
    }
}
