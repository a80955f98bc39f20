//! What the history of a project tells a search: files that changed together with one, and files that were changed for
//! the like of a question. Histories stay open between questions, so that git is asked again only where a branch moved.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use colgrep_core::knob::Knobs;

use crate::env::Env;
use crate::history::{HistoryPlace, OpenHistory};
use crate::notice::Listener;
use crate::project::Project;
use crate::settings::Settings;

/// Open histories by their index' folders, each with the stamp that its repository had.
#[derive(Debug, Default)]
pub struct Histories(Mutex<HashMap<PathBuf, (u64, OpenHistory)>>);

/// The past of projects, as one question sees it.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    /// What is open already.
    pub histories: &'a Histories,
    /// The settings in force.
    pub settings: &'a Settings,
    /// The environment.
    pub env: &'a Env,
    /// Who is told of the work.
    pub listener: &'a dyn Listener,
}

impl std::fmt::Debug for Past<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Past").field("histories", &self.histories).finish_non_exhaustive()
    }
}

impl Past<'_> {
    /// Files that past commits changed together with the one at `path`, the strongest first, with shares of the
    /// strongest. Without a history, or where it can't be read, there are none: all else is as good without.
    pub fn together(&self, project: &Project, path: &str) -> Vec<(String, f32)> {
        self.open(project).and_then(|history| history.together(path).ok()).unwrap_or_default()
    }

    /// Files that past commits like the question changed, in the same form. Where their boost is 0, no history is opened.
    pub fn evidence(&self, project: &Project, question: &str, knobs: &Knobs) -> Vec<(String, f32)> {
        if knobs.history_boost <= 0.0 {
            return Vec::new();
        }
        self.open(project).and_then(|history| history.evidence(question, knobs).ok()).unwrap_or_default()
    }

    /// The history of a project's repository, brought up to date.
    fn open(&self, project: &Project) -> Option<OpenHistory> {
        let place = HistoryPlace::of(project, self.settings, self.env).ok()?;
        // Before the history is opened: what changes meanwhile is seen the next time.
        let stamp = place.stamp()?;
        let folder = place.store.folder().to_path_buf();
        // The lock is not held while a history is opened: that splits its work, and a thread that waits for its parts may
        // take up another question, which would wait for the lock for ever.
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
