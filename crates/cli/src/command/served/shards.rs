//! A server over shards elsewhere: what it knows of them, whose search a request is, and what it can't answer.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};
use colgrep_engine::RankBy;
use colgrep_engine::env::Env;
use colgrep_engine::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_wire::{Cluster, Patience, Seen};

use super::state::ServerState;
use super::token::token_in;

/// Why there is no list of units over shards.
pub const NO_LIST: &str = "over shards a search needs a query; calls, called_by and kind filter what it finds";

/// The shards that a server answers over.
#[derive(Debug)]
pub struct Shards {
    /// The shards.
    pub cluster: Cluster,
    /// Whether a request has to say which repositories its caller may see.
    pub needs_rights: bool,
    model: OnceLock<Option<Model>>,
}

impl Shards {
    /// A server over the shards that a file names, whose token stands in another file or in the environment; `at_once`
    /// searches run side by side.
    ///
    /// # Errors
    /// When a file can't be read, or names no shards.
    pub fn open(
        file: &Path,
        token_file: Option<&Path>,
        env: &Env,
        at_once: usize,
        needs_rights: bool,
    ) -> Result<Arc<Shards>> {
        let token = match token_file {
            Some(path) => Some(token_in(path)?.trim().to_string()),
            None => env.shard_token.as_ref().map(|token| token.reveal().to_string()),
        };
        let cluster = Cluster::new(file, token, at_once, Patience::default())?;
        Ok(Arc::new(Shards { cluster, needs_rights, model: OnceLock::new() }))
    }

    /// The settings of the folder that the server was started in: they say how all shards are ranked.
    ///
    /// # Errors
    /// When a settings file can't be understood.
    pub fn settings(&self, state: &ServerState) -> Result<Settings> {
        Ok(settings_at(Path::new("."), &state.env)?)
    }

    /// The model that the settings choose.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn model(&self, state: &ServerState, settings: &Settings) -> Result<Option<&Model>> {
        if self.model.get().is_none() {
            let opening = state.options.with(settings);
            let model = Model::of_search(&opening.choice, RankBy::Both, &state.env)?;
            let _ = self.model.set(model.map(Model::remembering));
        }
        Ok(self.model.get().and_then(Option::as_ref))
    }
}

impl ServerState {
    /// A server over shards, without a root of its own.
    pub fn over(shards: Arc<Shards>, walk: &crate::args::WalkArgs, env: &Env) -> ServerState {
        let mut state = ServerState::empty(walk, env);
        state.shards = Some(shards);
        state
    }

    /// The shards that the server answers over, where it does.
    pub fn shards(&self) -> Option<&Shards> {
        self.shards.as_deref()
    }

    /// The same server for a caller who may see these repositories alone.
    #[must_use]
    pub fn for_caller(&self, allowed: Option<Vec<String>>) -> ServerState {
        let mut state = self.clone();
        state.allowed = allowed.map(Arc::from);
        state
    }

    /// The repositories that the caller may see; all where nothing limits it.
    pub fn allowed(&self) -> Option<&[String]> {
        self.allowed.as_deref()
    }

    /// Fails where the server answers over shards, for what needs the files.
    ///
    /// # Errors
    /// When it does.
    pub fn check_here(&self) -> Result<()> {
        match self.shards {
            Some(_) => {
                bail!("this server answers over shards and has no files of its own: `search` and `status` alone")
            }
            None => Ok(()),
        }
    }
}

/// The state of the shards, a line each.
pub fn told(cluster: &Cluster, seen: &Seen) -> String {
    let Seen { standing, repositories, twice } = seen;
    let mut text = format!("{} of {} shards answer\n", standing.answered, standing.asked);
    for away in &standing.missing {
        text.push_str(&format!("  shard {} ({}) does not: {}\n", away.shard, away.replicas.join(", "), away.why));
    }
    if let Some(why) = twice {
        text.push_str(&format!("  nothing is searched: {why}\n"));
    }
    if let Some(why) = cluster.refused_file() {
        text.push_str(&format!("  the file of the shards is not taken over as it is now: {why}\n"));
    }
    text.push_str(&format!("{} repositories: {}\n", repositories.len(), repositories.join(", ")));
    text
}
