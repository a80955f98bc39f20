//! Evidence from a project's history: files that changed together with a file, and files that past commits like a
//! question changed. Histories stay open between questions, so that git is asked again only where a branch moved.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use colgrep_core::knob::Knobs;

use crate::env::Env;
use crate::history::{HistoryPlace, OpenHistory};
use crate::notice::Listener;
use crate::project::Project;
use crate::settings::Settings;

/// Open histories by the folder of their index, each with the stamp of its repository when it was opened.
#[derive(Debug, Default)]
pub struct Histories(Mutex<HashMap<PathBuf, (u64, OpenHistory)>>);

/// Access to the histories of projects, for one question.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    /// Histories that are open already.
    pub histories: &'a Histories,
    /// The settings in force.
    pub settings: &'a Settings,
    /// The environment.
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
    /// Files that past commits changed together with the one at `path`, strongest first, with values relative to the
    /// strongest. Empty where no history can be read: the search goes on without.
    pub fn together(&self, project: &Project, path: &str) -> Vec<(String, f32)> {
        self.open(project).and_then(|history| history.together(path).ok()).unwrap_or_default()
    }

    /// Files that past commits like the question changed, in the same form. Where the knob of their boost is 0, no
    /// history is opened.
    pub fn evidence(&self, project: &Project, question: &str, knobs: &Knobs) -> Vec<(String, f32)> {
        if knobs.history_boost <= 0.0 {
            return Vec::new();
        }
        self.open(project).and_then(|history| history.evidence(question, knobs).ok()).unwrap_or_default()
    }

    /// The history of a project's repository, brought up to date.
    fn open(&self, project: &Project) -> Option<OpenHistory> {
        let place = HistoryPlace::of(project, self.settings, self.env).ok()?;
        // Taken before the history is opened: changes meanwhile are seen the next time.
        let stamp = place.stamp()?;
        let folder = place.store.folder().to_path_buf();
        // The lock is not held while a history is opened: opening runs on the thread pool, and a thread that waits for
        // its parts may take up another question, which would wait for the lock for ever.
        let known = || self.histories.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, history)) = known().get(&folder).filter(|(before, _)| *before == stamp) {
            // Another root of the same repository has other paths.
            return Some(OpenHistory { place, ..history.clone() });
        }
        let history = place.open(None, self.listener).ok()?;
        if !history.place.store.is_locked() {
            known().insert(folder, (stamp, history.clone()));
        }
        Some(history)
    }
}
