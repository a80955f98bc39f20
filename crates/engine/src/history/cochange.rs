//! Evidence from a project's history: files that changed together with a file, and files that past commits like a
//! question changed. Histories stay open between questions, so that git is asked again only where a branch moved.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use colgrep_core::knob::Knobs;
use colgrep_index::history::TogetherFile;

use crate::error::Result;
use crate::history::{HistoryPlace, OpenHistory};
use crate::notice::Listener;
use crate::project::Project;
use crate::project::damage::guarded;
use crate::settings::Settings;
use crate::settings::env::Env;

/// Open histories by the folder of their index, each with the stamp of its repository when it was opened.
#[derive(Debug, Default)]
pub struct Histories(Mutex<HashMap<PathBuf, (u64, OpenHistory)>>);

/// Access to the histories of projects, for one question.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    /// Histories that are open already.
    pub histories: &'a Histories,
    pub settings: &'a Settings,
    pub env: &'a Env,
    /// Receives notices of the work.
    pub listener: &'a dyn Listener,
}

impl std::fmt::Debug for Past<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Past").field("histories", &self.histories).finish_non_exhaustive()
    }
}

impl Past<'_> {
    /// Files that past commits changed together with the one at `path`, strongest first. Empty where no history can be
    /// read: the search continues without one.
    pub fn together(&self, project: &Project, path: &str) -> Vec<TogetherFile> {
        self.ask(project, |history| history.together(path))
    }

    /// Files that past commits like the question changed, in the same form. Where the knob of their boost is 0, no
    /// history is opened.
    pub fn evidence(&self, project: &Project, question: &str, knobs: &Knobs) -> Vec<(String, f32)> {
        if knobs.history_boost <= 0.0 {
            return Vec::new();
        }
        self.ask(project, |history| history.evidence(question, knobs))
    }

    /// Asks the history of a project's repository; empty without a readable history. A damaged history is reported and
    /// rebuilt, as when it is searched directly.
    fn ask<T>(&self, project: &Project, question: impl Fn(&OpenHistory) -> Result<Vec<T>>) -> Vec<T> {
        let Ok(place) = HistoryPlace::of(project, self.settings, self.env) else { return Vec::new() };
        let asked = place.repaired(self.listener, || {
            let Some(history) = self.open(&place)? else { return Ok(Vec::new()) };
            let found = guarded(|| question(&history));
            if found.is_err() {
                // Drop the open history, which the rebuild does not replace.
                self.known().remove(place.store.folder());
            }
            found
        });
        asked.unwrap_or_default()
    }

    /// The open histories. The lock is not held while one is opened, so that other histories stay available.
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, (u64, OpenHistory)>> {
        self.histories.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The history at a place, brought up to date; none where there is no repository.
    fn open(&self, place: &HistoryPlace) -> Result<Option<OpenHistory>> {
        // Taken before the history is opened: changes meanwhile are seen the next time.
        let Some(stamp) = place.stamp() else { return Ok(None) };
        let folder = place.store.folder();
        if let Some((_, history)) = self.known().get(folder).filter(|(before, _)| *before == stamp) {
            // Another root of the same repository has other paths.
            return Ok(Some(OpenHistory { place: place.clone(), ..history.clone() }));
        }
        // On a thread of its own: opening splits its work, and a worker that waits for the parts would take up another
        // question meanwhile, which would wait for ever until this one's is open.
        let opened = thread::scope(|scope| scope.spawn(|| place.open(None, self.listener)).join());
        let history = opened.unwrap_or_else(|panic| resume_unwind(panic))?;
        if !history.place.store.is_locked() {
            self.known().insert(folder.to_path_buf(), (stamp, history.clone()));
        }
        Ok(Some(history))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use colgrep_core::knob::{Knob, Profile};
    use rayon::prelude::*;

    use super::*;
    use crate::notice::Notice;

    /// Makes a repository of `count` commits, each of one file.
    fn repository(root: &Path, count: usize) {
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(args).current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").stdout(Stdio::null());
            command
        };
        assert!(git(&["init", "-q"]).status().expect("git").success());
        let mut child = git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().expect("git");
        let mut commits = child.stdin.take().expect("a pipe");
        for i in 0..count {
            let message = format!("Cap retries of part {i}");
            let (length, time) = (message.len(), 1_760_000_000 + i);
            let head = format!("commit refs/heads/main\ncommitter A <a@b.c> {time} +0000\ndata {length}\n{message}\n");
            write!(commits, "{head}M 644 inline src/part{i}.rs\ndata 1\nx\n").expect("git that reads");
        }
        drop(commits);
        assert!(child.wait().expect("git").success());
    }

    /// A project of 2,000 commits below `folder`, and an environment that has the place of its indexes there.
    #[expect(clippy::disallowed_methods, reason = "git is looked for where the test itself finds it")]
    fn project(folder: &Path) -> (Project, Env) {
        let root = folder.join("project");
        std::fs::create_dir(&root).expect("a folder");
        repository(&root, 2_000);
        let data = folder.join("data").into_os_string();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let vars = [("COLGREP_DATA_DIR".into(), data), ("PATH".into(), path)];
        let env = Env::read(vars.into_iter()).expect("an environment");
        (Project::around(&root, &env).expect("a project").0, env)
    }

    /// Knobs by which a history counts.
    fn counting() -> Knobs {
        let mut knobs = Knobs::of(Profile::Default);
        knobs.set(Knob::HistoryBoost, "0.1").expect("a value");
        knobs
    }

    /// Records reports of a damaged index.
    #[derive(Default)]
    struct DamageNotes(Mutex<Vec<String>>);

    impl Listener for DamageNotes {
        fn notice(&self, notice: &Notice) {
            if let Notice::Damaged(how) = notice {
                self.0.lock().expect("a lock").push(how.clone());
            }
        }
    }

    #[test]
    fn a_damaged_history_is_told_and_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let (project, env) = project(folder.path());
        let (settings, knobs, told) = (Settings::default(), counting(), DamageNotes::default());
        let ask = || {
            let histories = Histories::default();
            let past = Past { histories: &histories, settings: &settings, env: &env, listener: &told };
            // The second time it is open.
            let found = past.evidence(&project, "retries of part 7", &knobs);
            assert_eq!(past.evidence(&project, "retries of part 7", &knobs), found);
            found
        };
        let sound = ask();
        assert!(sound.len() == 20 && told.0.lock().expect("a lock").is_empty());
        let place = HistoryPlace::of(&project, &settings, &env).expect("a history");
        let files = std::fs::read_dir(place.store.lexical_folder()).expect("a folder").flatten().map(|e| e.path());
        let of_terms = files.filter(|path| path.extension().is_some_and(|e| e == "term"));
        // A slow machine commits in between. Small files are read whole when the index is opened, which would find
        // their damage.
        let largest = of_terms.max_by_key(|path| path.metadata().expect("a file").len()).expect("a file of terms");
        let mut bytes = std::fs::read(&largest).expect("a file");
        // What the end says is read when the index is opened, too.
        (bytes.len() / 20..bytes.len() * 3 / 4).step_by(1_024).for_each(|at| bytes[at] ^= 1);
        std::fs::write(&largest, bytes).expect("damage");
        assert_eq!(ask(), sound);
        let told = told.0.into_inner().expect("a lock");
        assert_eq!(told.len(), 1, "{told:?}");
    }

    #[test]
    fn questions_on_all_threads_open_a_history_once_and_wait_for_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let (project, env) = project(folder.path());
        let (histories, settings, knobs) = (Histories::default(), Settings::default(), counting());
        let past = Past { histories: &histories, settings: &settings, env: &env, listener: &() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let found: Vec<usize> = pool.install(|| {
            let of = |part: usize| past.evidence(&project, &format!("retries of part {part}"), &knobs).len();
            (0..64).into_par_iter().map(of).collect()
        });
        assert_eq!(found, [20; 64]);
        assert_eq!(histories.0.lock().expect("a lock").len(), 1);
    }
}
