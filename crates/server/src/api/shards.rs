//! A server over shards elsewhere: what it knows of them, whose search a request is, and what it can't answer.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use colgrep_cluster::{
    Cluster, ClusterHealth, Error as WireError, ReplicaHealth, ReplicaTimeouts, ServedRepository, ShardCoverage,
};
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_engine::{OpenOptions, RankBy};

use super::token::token_in;
use colgrep_render::escape::escape_control;
use colgrep_render::words::counted;

/// Why there is no list of units over shards.
pub const NO_LIST: &str = "over shards a search needs a query; calls, called_by and kind filter what it finds";

/// How long settings count before their files are read again.
const SETTINGS_KNOWN: Duration = Duration::from_secs(10);

/// The shards that a server answers over.
#[derive(Debug)]
pub struct Shards {
    /// The shards.
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
        let cluster = cluster(file, token_file, env, at_once)?;
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
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn model(&self, options: &OpenOptions, env: &Env, settings: &Settings) -> Result<Option<&Model>> {
        if self.model.get().is_none() {
            let opening = options.with(settings);
            let model = Model::of_search(&opening.choice, RankBy::Both, env)?;
            let _ = self.model.set(model.map(Model::remembering));
        }
        Ok(self.model.get().and_then(Option::as_ref))
    }
}

/// The shards that a file names, with the token from another file or the environment; `at_once` searches run in
/// parallel.
///
/// # Errors
/// When a file can't be read, names no shards, or has no token.
pub fn cluster(file: &Path, token_file: Option<&Path>, env: &Env, at_once: usize) -> Result<Cluster> {
    let (token, place) = match token_file {
        Some(path) => (Some(token_in(path)?), path.display().to_string()),
        None => (env.shard_token.as_ref().map(|token| token.reveal().to_string()), "COLGREP_SHARD_TOKEN".to_string()),
    };
    let token = token.map(|token| token.trim().to_string());
    if token.as_ref().is_some_and(String::is_empty) {
        bail!("{place} holds no token; write the one that the shards were started with into it, or leave it out");
    }
    Ok(Cluster::new(file, token, at_once, ReplicaTimeouts::default())?)
}

/// The state of shards and replicas, a line each.
pub fn told(seen: &ClusterHealth) -> String {
    let ClusterHealth { coverage: standing, shards, .. } = seen;
    let mut text = format!("{} of {} shards answer\n", standing.answered, standing.asked);
    let names = seen.names();
    let noun = if names.len() == 1 { "repository" } else { "repositories" };
    text.push_str(&format!("{} {noun}: {}\n", names.len(), names.join(", ")));
    let mut say = |line: String| text.push_str(&format!("{}\n", escape_control(&line)));
    wrong(seen).into_iter().for_each(&mut say);
    for shard in shards {
        let away = standing.missing.iter().find(|away| away.shard == shard.shard);
        let state = away.map_or("answers".to_string(), |away| format!("does not answer: {}", away.why));
        say(format!("shard {} {state}", shard.shard));
        for ReplicaHealth { address, generation, why } in &shard.replicas {
            let of = generation.as_ref().map_or(String::new(), |generation| format!(", generation {generation}"));
            say(match why {
                Some(why) => format!("  replica {address} does not answer: {why}"),
                None => format!("  replica {address} answers{of}"),
            });
        }
        for one in &shard.repositories {
            say(match &one.missing {
                Some(why) => format!("  {} is not served: {why}", one.name),
                None => format!("  {}: {}{}", one.name, counts(one), lacking(standing, shard.shard, &one.name)),
            });
        }
    }
    text
}

/// Problems other than missing shards, a line each.
pub fn wrong(seen: &ClusterHealth) -> Vec<String> {
    let twice = seen.twice.as_ref().map(|why| format!("nothing is searched: {why}"));
    let file = seen.file.as_ref().map(|why| format!("the file of the shards is not taken over as it is now: {why}"));
    twice.into_iter().chain(file).collect()
}

fn counts(one: &ServedRepository) -> String {
    format!("{}, {}", counted(one.files, "file"), counted(one.units, "unit"))
}

/// What the index of a repository does not know yet.
fn lacking(standing: &ShardCoverage, shard: usize, name: &str) -> String {
    let partial = standing.partial.iter().find(|one| one.shard == shard && one.repository == name);
    partial.map_or(String::new(), |one| format!("; it knows {}", one.told()))
}

/// What the caller has to know about the sources of an answer, a line each: what is left out, and what is only partly
/// indexed.
pub fn remarks(standing: &ShardCoverage) -> String {
    let line = |told: String| format!("({})\n", escape_control(&told));
    standing.told().into_iter().chain(standing.unfinished()).map(line).collect()
}
