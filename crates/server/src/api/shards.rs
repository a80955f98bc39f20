//! A server over shards elsewhere: what it knows of them, whose search a request is, and what it can't answer.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use colgrep_cluster::{AccessTokens, Cluster, ClusterHealth, Error as WireError};
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_engine::{OpenOptions, RankBy};

use super::token::warn_of_readers;

/// Why there is no list of units over shards.
pub const NO_LIST: &str = "over shards a search needs a query; calls, called_by and kind filter what it finds";

/// How long settings count before their files are read again.
const SETTINGS_KNOWN: Duration = Duration::from_secs(10);

/// The shards that a server answers over.
#[derive(Debug)]
pub struct Shards {
    pub cluster: Cluster,
    /// Whether a request has to say which repositories its caller may see.
    pub needs_rights: bool,
    model: OnceLock<Option<Model>>,
    /// The settings as they were read last, and when.
    settings: Mutex<Option<(Instant, Settings)>>,
}

impl Shards {
    /// A server over the shards that a file names, with the token from another file or the environment; `at_once`
    /// searches run in parallel.
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
            Some(path) => Some(AccessTokens::of_file(path, |_, _| Ok(()))?),
            None => Cluster::tokens(env.shard_token())?,
        };
        warn_of_readers(token.as_deref());
        let cluster = Cluster::open(file, token, at_once)?;
        Ok(Arc::new(Shards { cluster, needs_rights, model: OnceLock::new(), settings: Mutex::default() }))
    }

    /// What is served of what a caller may see.
    ///
    /// # Errors
    /// When no shard answers.
    pub fn seen(&self, allowed: Option<&[String]>) -> Result<ClusterHealth> {
        let seen = self.cluster.health(allowed)?;
        match (seen.coverage.answered, seen.coverage.missing.first()) {
            (0, Some(away)) => Err(WireError::NoneAnswers { asked: seen.coverage.asked, why: away.why.clone() }.into()),
            _ => Ok(seen),
        }
    }

    /// The settings of the folder that the server was started in: they say how all shards are ranked. Read again after
    /// ten seconds; what can't be understood is read by each request until it can.
    ///
    /// # Errors
    /// When a settings file can't be understood.
    pub fn settings(&self, env: &Env) -> Result<Settings> {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, settings)) = known.as_ref().filter(|(read, _)| read.elapsed() < SETTINGS_KNOWN) {
            return Ok(settings.clone());
        }
        let settings = settings_at(Path::new("."), env)?;
        *known = Some((Instant::now(), settings.clone()));
        Ok(settings)
    }

    /// The model that the settings choose.
    pub fn model(&self, options: &OpenOptions, env: &Env, settings: &Settings) -> Result<Option<&Model>> {
        if self.model.get().is_none() {
            let opening = options.with(settings);
            let model = Model::of_search(&opening.choice, RankBy::Both, env)?;
            let _ = self.model.set(model.map(Model::remembering));
        }
        Ok(self.model.get().and_then(Option::as_ref))
    }
}
