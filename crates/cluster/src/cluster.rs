//! Many shards as one corpus: which shards a search asks, how it copes with lost ones, and what it reports.

mod health;
mod sessions;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use colgrep_core::token::{Tokenizer, words};
use colgrep_engine::Scope;
use colgrep_engine::notice::Listener;
use colgrep_engine::request::check_length;
use colgrep_engine::session::corpus::{RankedTogether, rank_shards};
use colgrep_engine::session::project_searcher::RankQuery;
use colgrep_index::error::full;
use colgrep_search::Shard;
pub use health::{ClusterHealth, ReplicaHealth, ShardHealth};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sessions::{ListedAt, Losses, Sessions};

use crate::coverage::{NOT_NOW, ShardCoverage};
use crate::error::{Error, Result};
use crate::foreign_text::plain;
use crate::gathered::Gathered;
use crate::message::{Begin, LinesFound, WireFailure};
use crate::replica::{Lost, QuestionTraffic, Replica, ReplicaTimeouts, Replicas};
use crate::shard_addresses::ShardAddresses;
use crate::shard_client::ShardClient;
use crate::tokens::{AccessTokens, stamp};

/// How often a search starts over after losing a shard.
const ATTEMPTS: usize = 4;
/// Minimum and maximum number of threads that wait for shards.
const THREADS: RangeInclusive<usize> = 4..=128;

/// Which repositories the caller may see, and where the search looks.
#[derive(Clone, Copy, Debug)]
pub struct ClusterScope<'a> {
    /// The repositories that the caller may see; all if `None`.
    pub allowed: Option<&'a [String]>,
    /// What is searched. Its paths start with the name of a repository.
    pub scope: &'a Scope,
}

/// The shards that a file names.
pub struct Cluster {
    file: PathBuf,
    tokens: Option<Arc<AccessTokens>>,
    at_once: usize,
    patience: ReplicaTimeouts,
    known: Mutex<ClusterState>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("file", &self.file).finish_non_exhaustive()
    }
}

/// What is known of the shards.
#[derive(Default)]
struct ClusterState {
    /// The state of the file that was read.
    stamp: Option<(SystemTime, u64)>,
    /// Why the current file was rejected.
    why: Option<String>,
    shards: Vec<Arc<Replicas>>,
    replicas: HashMap<String, Arc<Replica>>,
    /// The repositories of each shard, as it listed them last.
    repositories: HashMap<usize, ListedAt>,
    pool: Option<Arc<ThreadPool>>,
    /// The result of the last greeting.
    seen: Option<Arc<ClusterHealth>>,
}

impl Cluster {
    /// Opens the shards that a file names. Each replica and this process prove to each other that they know one of the
    /// replica's `tokens`. `at_once` searches run in parallel.
    ///
    /// # Errors
    /// When the file can't be read, or names no shards.
    pub fn new(
        file: &Path,
        tokens: Option<Arc<AccessTokens>>,
        at_once: usize,
        patience: ReplicaTimeouts,
    ) -> Result<Cluster> {
        let cluster = Cluster { file: file.to_path_buf(), tokens, at_once, patience, known: Mutex::default() };
        cluster.take_over(&mut cluster.known(), ShardAddresses::read(file)?)?;
        cluster.known().stamp = stamp(file);
        Ok(cluster)
    }

    /// The same with the usual timeouts.
    pub fn open(file: &Path, tokens: Option<Arc<AccessTokens>>, at_once: usize) -> Result<Cluster> {
        Cluster::new(file, tokens, at_once, ReplicaTimeouts::default())
    }

    /// Tokens from a text, given with the name of where it is from.
    ///
    /// # Errors
    /// When there is none in it.
    pub fn tokens(given: Option<(String, String)>) -> Result<Option<Arc<AccessTokens>>> {
        given.map(|(text, place)| AccessTokens::new(&text, &place, |_, _| Ok(()))).transpose()
    }

    /// Why the current file of tokens was rejected, if it was.
    pub fn refused_token(&self) -> Option<String> {
        self.tokens.as_ref()?.refused()
    }

    /// The file that names the shards.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn known(&self) -> MutexGuard<'_, ClusterState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adopts the contents of the file. Keeps what is known of replicas that it still names.
    fn take_over(&self, known: &mut ClusterState, places: ShardAddresses) -> Result<()> {
        let mut replicas: HashMap<String, Arc<Replica>> = HashMap::new();
        let mut shards = Vec::new();
        for addresses in &places.shards {
            let own = addresses.iter().map(|address| {
                let kept = known.replicas.get(address).or(replicas.get(address)).cloned();
                let replica = kept.unwrap_or_else(|| Arc::new(Replica::new(address.clone(), self.tokens.clone())));
                replicas.insert(address.clone(), Arc::clone(&replica));
                replica
            });
            let own: Vec<Arc<Replica>> = own.collect();
            let is_same = |shard: &&Arc<Replicas>| {
                shard.all.iter().map(|one| &one.address).eq(own.iter().map(|one| &one.address))
            };
            let kept = known.shards.iter().find(is_same).cloned();
            shards.push(kept.unwrap_or_else(|| Arc::new(Replicas::new(own))));
        }
        let threads = (self.at_once * shards.len()).clamp(*THREADS.start(), *THREADS.end());
        if known.pool.as_ref().is_none_or(|pool| pool.current_num_threads() != threads) {
            let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("coordinator {at}"));
            known.pool = Some(Arc::new(pool.build()?));
        }
        (known.shards, known.replicas, known.repositories, known.why) = (shards, replicas, HashMap::new(), None);
        Ok(())
    }

    /// The shards that the file names now. A file that is incomplete or invalid changes nothing.
    fn shards(&self) -> Result<(Vec<Arc<Replicas>>, Arc<ThreadPool>)> {
        let mut known = self.known();
        let now = stamp(&self.file);
        if now != known.stamp {
            known.stamp = now;
            match ShardAddresses::read(&self.file) {
                Ok(places) => self.take_over(&mut known, places)?,
                Err(error) => known.why = Some(full(&error)),
            }
        }
        let pool = known.pool.clone().map_or_else(|| ThreadPoolBuilder::new().build().map(Arc::new), Ok)?;
        Ok((known.shards.clone(), pool))
    }

    /// Why the current file was rejected, if it was.
    pub fn refused_file(&self) -> Option<String> {
        self.known().why.clone()
    }

    /// Bytes sent to and received from each shard, over all its replicas.
    pub fn traffic(&self) -> Vec<(u64, u64)> {
        let read = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        let of_shard = |shard: &Arc<Replicas>| {
            let all = shard.all.iter().map(|replica| &replica.traffic);
            all.fold((0, 0), |sum, one| (sum.0 + read(&one.sent), sum.1 + read(&one.received)))
        };
        self.known().shards.iter().map(of_shard).collect()
    }

    /// For each shard, how many questions were put to a second replica, since the first one was slow.
    pub fn hedges(&self) -> Vec<u64> {
        self.known().shards.iter().map(|shard| shard.hedges.load(Ordering::Relaxed)).collect()
    }

    pub fn traffic_by_kind(&self) -> BTreeMap<&'static str, QuestionTraffic> {
        let mut all: BTreeMap<&'static str, QuestionTraffic> = BTreeMap::new();
        for shard in &self.known().shards {
            shard.by_kind().iter().for_each(|(kind, spent)| all.entry(kind).or_default().add(spent));
        }
        all
    }

    /// Number of shards that the file names.
    pub fn count(&self) -> usize {
        self.shards().map_or(0, |(shards, _)| shards.len())
    }

    /// Ranks the files of all shards as those of one index. After losing a shard, the search starts over with another
    /// replica. A shard without a live replica is left out, as if the index did not have its files.
    ///
    /// # Errors
    /// When no shard answers, the request can't be answered, or the model can't be run.
    pub fn rank(
        &self,
        wanted: &ClusterScope<'_>,
        asked: &RankQuery<'_>,
        listener: &dyn Listener,
    ) -> Result<(RankedTogether, Gathered)> {
        check_length(asked.query.as_bytes())?;
        let begin = begin(wanted, asked)?;
        let (_, pool) = self.shards()?;
        let mut losses = Losses::new();
        for attempt in 1.. {
            let begun = self.begin(&begin, &losses)?;
            self.check_names(&begin, &begun)?;
            let shards: Vec<&dyn Shard> = begun.clients.iter().map(|client| client as &dyn Shard).collect();
            let lacks = begun.clients.iter().any(|client| client.begun.lacks);
            if shards.is_empty() {
                let ranked =
                    RankedTogether { ranked: Vec::new(), order: Vec::new(), is_empty: true, strength_min: 0.0 };
                return Ok((ranked, Cluster::gathered(begun, begin.allowed.is_some(), pool)));
            }
            match pool.install(|| rank_shards(&shards, lacks, asked, listener)) {
                Ok(ranked) => return Ok((ranked, Cluster::gathered(begun, begin.allowed.is_some(), pool))),
                // Too long to be sent to anybody.
                Err(error) if error.is_away() && begun.clients.iter().any(|client| client.refused().is_some()) => {
                    let said = begun.clients.iter().find_map(ShardClient::refused).unwrap_or_default();
                    return Err(Error::Refused(said));
                }
                Err(error) if error.is_away() && attempt < ATTEMPTS => {
                    for (client, why) in begun.clients.iter().filter_map(|client| Some((client, client.lost()?))) {
                        let lost = losses.entry(client.at).or_default();
                        *lost = (lost.0 + 1, why);
                    }
                }
                Err(error) if error.is_away() && begin.allowed.is_some() => {
                    return Err(Error::NoneAnswers { asked: begun.coverage.asked, why: NOT_NOW.to_string() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the last attempt ends it")
    }

    /// The lines of the scope, by path and number, up to `lines_max`: those of indexed files that its pattern matches, or
    /// without a pattern one of each unit. After losing a shard, the search starts over with another replica.
    ///
    /// # Errors
    /// When no shard answers, or the request can't be answered.
    pub fn lines(&self, wanted: &ClusterScope<'_>, lines_max: u32) -> Result<(LinesFound, ShardCoverage)> {
        let begin = begin_of(wanted)?;
        let (_, pool) = self.shards()?;
        let mut losses = Losses::new();
        for attempt in 1.. {
            let begun = self.begin(&begin, &losses)?;
            self.check_names(&begin, &begun)?;
            let ask = |client: &ShardClient| (client.at, client.lines(lines_max));
            let answers: Vec<(usize, Result<LinesFound, Lost>)> =
                pool.install(|| begun.clients.par_iter().with_max_len(1).map(ask).collect());
            // Every shard refuses an invalid request. If only some refuse it, that is their failure.
            let refused = |(_, answer): &(usize, Result<LinesFound, Lost>)| match answer {
                Err(Lost::Failed(WireFailure::Request(said))) => Some(plain(said)),
                _ => None,
            };
            let all_refused: Option<Vec<String>> = answers.iter().map(refused).collect();
            if let Some(said) = all_refused.and_then(|all| all.into_iter().next()) {
                return Err(Error::Refused(said));
            }
            let (mut all, mut is_lost) = (LinesFound::default(), None);
            for (at, answer) in answers {
                match answer {
                    Ok(found) => {
                        all.lines.extend(found.lines);
                        all.is_cut |= found.is_cut;
                    }
                    Err(lost) => {
                        let known = losses.entry(at).or_default();
                        *known = (known.0 + 1, lost.to_string());
                        is_lost = Some(lost.to_string());
                    }
                }
            }
            match is_lost {
                Some(why) if attempt == ATTEMPTS => {
                    let why = if begin.allowed.is_some() { NOT_NOW.to_string() } else { why };
                    return Err(Error::NoneAnswers { asked: begun.coverage.asked, why });
                }
                Some(_) => {}
                None => {
                    all.lines.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
                    all.is_cut |= all.lines.len() > lines_max as usize;
                    all.lines.truncate(lines_max as usize);
                    return Ok((all, begun.coverage));
                }
            }
        }
        unreachable!("the last attempt ends it")
    }

    /// The text of an indexed file. The path starts with the name of a repository.
    ///
    /// # Errors
    /// When there is no such file, the caller may not see it, or its shard does not answer.
    pub fn read(&self, allowed: Option<&[String]>, path: &Path) -> Result<String> {
        let (repository, below) = repository_of(path)?;
        let begin = Begin {
            allowed: allowed.map(<[String]>::to_vec),
            below: vec![(repository.clone(), String::new())],
            ..Begin::default()
        };
        let begun = self.begin(&begin, &Losses::new())?;
        self.check_names(&begin, &begun)?;
        match (begun.clients.first(), begun.coverage.told()) {
            (Some(client), _) => client.read(repository, below).map_err(|lost| match lost {
                Lost::Failed(WireFailure::Request(said)) => Error::Refused(plain(&said)),
                _ if begin.allowed.is_some() => Error::NoneAnswers { asked: 1, why: NOT_NOW.to_string() },
                lost => Error::NoneAnswers { asked: 1, why: lost.to_string() },
            }),
            (None, Some(why)) => Err(Error::NoneAnswers { asked: begun.coverage.missing.len().max(1), why }),
            (None, None) => Err(Error::Refused(format!("{} is nowhere", path.display()))),
        }
    }

    fn gathered(begun: Sessions, is_limited: bool, pool: Arc<ThreadPool>) -> Gathered {
        Gathered::new(begun.clients, begun.coverage, is_limited, pool)
    }

    /// Rejects unknown repository names, if all shards are there to know them.
    fn check_names(&self, begin: &Begin, begun: &Sessions) -> Result<()> {
        if !begun.coverage.missing.is_empty() {
            return Ok(());
        }
        let is_known = |name| begun.serves(name) || begun.coverage.unserved.iter().any(|one| one.repository == *name);
        let Some((name, _)) = begin.below.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
        let silent = if begin.allowed.is_some() { Vec::new() } else { self.silent() };
        let may = match silent.len() {
            0 => String::new(),
            _ => format!("; what {} may serve, which never answered, is not known", silent.join(", ")),
        };
        Err(Error::Refused(format!(
            "there is no repository {name:?} in the shards; a path begins with the name of one, as in an answer{may}"
        )))
    }

    /// The addresses of unavailable replicas that have never listed their repositories.
    fn silent(&self) -> Vec<String> {
        let known = self.known();
        let all = known.shards.iter().flat_map(|shard| &shard.all);
        let is_silent = |replica: &&Arc<Replica>| replica.said().is_none() && replica.why_closed().is_some();
        all.filter(is_silent).map(|replica| replica.address.clone()).collect()
    }
}

/// The message that begins a session.
fn begin(wanted: &ClusterScope<'_>, asked: &RankQuery<'_>) -> Result<Begin> {
    let mut tokenizer = Tokenizer::default();
    let terms: HashSet<String> =
        words(asked.query).map(|word| tokenizer.normal(&asked.query[word]).to_string()).collect();
    Ok(Begin {
        terms: terms.into_iter().collect(),
        model: asked.model.map(colgrep_engine::project::model::Model::fingerprint),
        ..begin_of(wanted)?
    })
}

/// The message that begins a session without a question in words.
fn begin_of(wanted: &ClusterScope<'_>) -> Result<Begin> {
    let below = wanted.scope.paths.iter().map(|path| repository_of(path)).collect::<Result<_>>()?;
    let mut scope = wanted.scope.clone();
    scope.paths = Vec::new();
    Ok(Begin { allowed: wanted.allowed.map(<[String]>::to_vec), below, scope, ..Begin::default() })
}

/// The repository at the start of a path, and the rest of the path.
fn repository_of(path: &Path) -> Result<(String, String)> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Error::Refused(format!(
                    "{}: over shards a path begins with the name of a repository, as in an answer",
                    path.display()
                )));
            }
        }
    }
    match parts.split_first() {
        Some((repository, below)) => Ok((repository.clone(), below.join("/"))),
        None => Err(Error::Refused(
            "over shards a path begins with the name of a repository, as in an answer; leave the path out to search all of them"
                .into(),
        )),
    }
}
