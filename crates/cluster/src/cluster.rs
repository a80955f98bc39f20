//! Many shards as one corpus: whom a search asks, what it does without, and what it says of that.

mod look;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use colgrep_core::token::{Tokenizer, words};
use colgrep_engine::Scope;
use colgrep_engine::notice::Listener;
use colgrep_engine::request::check_length;
use colgrep_engine::session::corpus::{RankedTogether, rank_shards};
use colgrep_engine::session::project_searcher::Asked;
use colgrep_search::Shard;
pub use look::{Seen, SeenReplica, SeenShard};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::file::Places;
use crate::gathered::Gathered;
use crate::message::{Begin, Failure};
use crate::remote::Remote;
use crate::replica::{Lost, Patience, Replica, Replicas, Spent};
use crate::standing::{Away, Partial, Standing, Unserved};

/// How often a search begins anew after a shard was lost in the middle of it.
const ATTEMPTS: usize = 4;
/// How often a shard may be lost in one search before it is done without.
const LOSSES_MAX: usize = 2;
/// How long it is taken for granted which repositories a shard has: one that holds none of a caller's is not asked.
const REPOSITORIES_KNOWN: Duration = Duration::from_secs(10);
/// Threads that wait for shards, at least and at most.
const THREADS: RangeInclusive<usize> = 4..=128;

/// Whose search it is, and where it looks.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The repositories that the caller may see; all where nothing limits it.
    pub allowed: Option<&'a [String]>,
    /// What is searched. Its paths begin with the name of a repository.
    pub scope: &'a Scope,
}

/// Shards, as a file names them.
pub struct Cluster {
    file: PathBuf,
    token: Option<String>,
    at_once: usize,
    patience: Patience,
    known: Mutex<Known>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("file", &self.file).finish_non_exhaustive()
    }
}

/// What is known of the shards.
#[derive(Default)]
struct Known {
    /// Of which state of the file.
    stamp: Option<(SystemTime, u64)>,
    /// Why the file that is there now was not taken.
    why: Option<String>,
    shards: Vec<Arc<Replicas>>,
    replicas: HashMap<String, Arc<Replica>>,
    /// The repositories of each shard, and when it said so.
    repositories: HashMap<usize, (Instant, Vec<String>)>,
    pool: Option<Arc<ThreadPool>>,
    /// What the last greeting saw.
    seen: Option<Arc<Seen>>,
}

impl Cluster {
    /// The shards that a file names. Every replica is sent the token, where there is one; `at_once` searches run side by side.
    ///
    /// # Errors
    /// When the file can't be read, or names no shards.
    pub fn new(file: &Path, token: Option<String>, at_once: usize, patience: Patience) -> Result<Cluster> {
        let cluster = Cluster { file: file.to_path_buf(), token, at_once, patience, known: Mutex::default() };
        cluster.take_over(&mut cluster.known(), Places::read(file)?)?;
        cluster.known().stamp = stamp(file);
        Ok(cluster)
    }

    /// The file that names the shards.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the file says; what is known of replicas that it still names is kept.
    fn take_over(&self, known: &mut Known, places: Places) -> Result<()> {
        let mut replicas: HashMap<String, Arc<Replica>> = HashMap::new();
        let mut shards = Vec::new();
        for addresses in &places.shards {
            let own = addresses.iter().map(|address| {
                let kept = known.replicas.get(address).or(replicas.get(address)).cloned();
                let replica = kept.unwrap_or_else(|| Arc::new(Replica::new(address.clone(), self.token.clone())));
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

    /// The shards as the file names them now. A file that is being written, or says something else, changes nothing.
    fn shards(&self) -> Result<(Vec<Arc<Replicas>>, Arc<ThreadPool>)> {
        let mut known = self.known();
        let now = stamp(&self.file);
        if now != known.stamp {
            known.stamp = now;
            match Places::read(&self.file) {
                Ok(places) => self.take_over(&mut known, places)?,
                Err(error) => known.why = Some(full(&error)),
            }
        }
        let pool = known.pool.clone().map_or_else(|| ThreadPoolBuilder::new().build().map(Arc::new), Ok)?;
        Ok((known.shards.clone(), pool))
    }

    /// Why the file of the shards, as it is now, was not taken over.
    pub fn refused_file(&self) -> Option<String> {
        self.known().why.clone()
    }

    /// Bytes that went to each shard and came from it, all replicas together.
    pub fn traffic(&self) -> Vec<(u64, u64)> {
        let read = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        let of_shard = |shard: &Arc<Replicas>| {
            let all = shard.all.iter().map(|replica| &replica.traffic);
            all.fold((0, 0), |sum, one| (sum.0 + read(&one.sent), sum.1 + read(&one.received)))
        };
        self.known().shards.iter().map(of_shard).collect()
    }

    /// What went over the wire, by the kind of question.
    pub fn traffic_by_kind(&self) -> BTreeMap<&'static str, Spent> {
        let mut all: BTreeMap<&'static str, Spent> = BTreeMap::new();
        for shard in &self.known().shards {
            shard.by_kind().iter().for_each(|(kind, spent)| all.entry(kind).or_default().add(spent));
        }
        all
    }

    /// Number of shards that the file names.
    pub fn count(&self) -> usize {
        self.shards().map_or(0, |(shards, _)| shards.len())
    }

    /// Ranks the files of all shards as those of one index. A shard that is lost in the middle is begun anew with another
    /// replica; one without any is done without, and the answer is that of an index of the others.
    ///
    /// # Errors
    /// When no shard answers, the request can't be answered, or the model can't be run.
    pub fn rank(
        &self,
        wanted: &Wanted<'_>,
        asked: &Asked<'_>,
        listener: &dyn Listener,
    ) -> Result<(RankedTogether, Gathered)> {
        check_length(asked.query.as_bytes())?;
        let begin = begin(wanted, asked)?;
        let (_, pool) = self.shards()?;
        let mut losses: HashMap<usize, (usize, String)> = HashMap::new();
        for attempt in 1.. {
            let begun = self.begin(&begin, &losses)?;
            self.check_names(&begin, &begun)?;
            BegunAll::check_once(begun.repositories())?;
            let shards: Vec<&dyn Shard> = begun.remotes.iter().map(|remote| remote as &dyn Shard).collect();
            let lacks = begun.remotes.iter().any(|remote| remote.begun.lacks);
            if shards.is_empty() {
                let ranked =
                    RankedTogether { ranked: Vec::new(), order: Vec::new(), best: Vec::new(), strength_min: 0.0 };
                return Ok((ranked, Cluster::gathered(begun, pool)));
            }
            match pool.install(|| rank_shards(&shards, lacks, asked, listener)) {
                Ok(ranked) => return Ok((ranked, Cluster::gathered(begun, pool))),
                Err(error) if error.is_away() && begun.remotes.iter().any(|remote| remote.refused().is_some()) => {
                    let said = begun.remotes.iter().find_map(Remote::refused).unwrap_or_default();
                    return Err(Error::Refused(said));
                }
                Err(error) if error.is_away() && attempt < ATTEMPTS => {
                    for (remote, why) in begun.remotes.iter().filter_map(|remote| Some((remote, remote.lost()?))) {
                        let lost = losses.entry(remote.at).or_default();
                        *lost = (lost.0 + 1, why);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the last attempt ends it")
    }

    /// The text of a file that a shard has in an index, whose path begins with the name of a repository.
    ///
    /// # Errors
    /// When there is no such file, or not for this caller, or the shard that has it does not answer.
    pub fn read(&self, allowed: Option<&[String]>, path: &Path) -> Result<String> {
        let (repository, below) = repository_of(path)?;
        let begin = Begin {
            allowed: allowed.map(<[String]>::to_vec),
            below: vec![(repository.clone(), String::new())],
            ..Begin::default()
        };
        let begun = self.begin(&begin, &HashMap::new())?;
        self.check_names(&begin, &begun)?;
        BegunAll::check_once(begun.repositories())?;
        match (begun.remotes.first(), begun.standing.told()) {
            (Some(remote), _) => remote.read(repository, below).map_err(|lost| match lost {
                Lost::Failed(Failure::Request(said)) => Error::Refused(said),
                lost => Error::NoneAnswers { asked: 1, why: lost.to_string() },
            }),
            (None, Some(why)) => Err(Error::NoneAnswers { asked: begun.standing.missing.len().max(1), why }),
            (None, None) => Err(Error::Refused(format!("{} is nowhere", path.display()))),
        }
    }

    fn gathered(begun: BegunAll, pool: Arc<ThreadPool>) -> Gathered {
        Gathered::new(begun.remotes, begun.standing, pool)
    }

    /// Refuses names that no shard knows, where all are there to say so.
    fn check_names(&self, begin: &Begin, begun: &BegunAll) -> Result<()> {
        if !begun.standing.missing.is_empty() {
            return Ok(());
        }
        let known = begun.repositories();
        let is_known =
            |name| known.contains_key(name) || begun.standing.unserved.iter().any(|one| one.repository == *name);
        let Some((name, _)) = begin.below.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
        let silent = self.silent();
        let may = match silent.len() {
            0 => String::new(),
            _ => format!("; what {} may serve, which never answered, is not known", silent.join(", ")),
        };
        Err(Error::Refused(format!(
            "there is no repository {name:?} in the shards; a path begins with the name of one, as in an answer{may}"
        )))
    }

    /// The addresses of replicas that are left alone and never said what they serve.
    fn silent(&self) -> Vec<String> {
        let known = self.known();
        let all = known.shards.iter().flat_map(|shard| &shard.all);
        let is_silent = |replica: &&Arc<Replica>| replica.said().is_none() && replica.why_closed().is_some();
        all.filter(is_silent).map(|replica| replica.address.clone()).collect()
    }

    /// Begins a search in every shard that may hold something of it.
    fn begin(&self, begin: &Begin, losses: &HashMap<usize, (usize, String)>) -> Result<BegunAll> {
        let (shards, pool) = self.shards()?;
        let repositories = self.known().repositories.clone();
        let may_hold = |at: &usize| {
            let known = repositories.get(at).filter(|(said, _)| said.elapsed() < REPOSITORIES_KNOWN);
            // What one replica alone serves is told where another one answers.
            let said = || shards[*at].all.iter().filter_map(|replica| replica.said());
            let is_said = || said().any(|said| said.repositories.iter().any(|name| begin.wants(name)));
            known.is_none_or(|(_, own)| own.iter().any(|name| begin.wants(name))) || is_said()
        };
        let asked: Vec<usize> = (0..shards.len()).filter(may_hold).collect();
        let begun = |at: &usize| {
            if let Some((_, why)) = losses.get(at).filter(|(times, _)| *times >= LOSSES_MAX) {
                return Err(Lost::Gone(std::io::Error::other(why.clone())));
            }
            let ask = |begin: &Begin| Remote::begin(*at, &shards[*at], begin, &self.patience);
            let Some((_, own)) = repositories.get(at).filter(|_| begin.allowed.is_some()) else { return ask(begin) };
            let remote = ask(&begin.told_to(own))?;
            // One that serves others by now may have to be told of them.
            if remote.repositories().as_ref() == Some(own) { Ok(remote) } else { ask(begin) }
        };
        let begun: Vec<(usize, Result<Remote, Lost>)> =
            pool.install(|| asked.par_iter().with_max_len(1).map(|at| (*at, begun(at))).collect());
        let (mut remotes, mut standing) = (Vec::new(), Standing { asked: asked.len(), ..Standing::default() });
        for (at, one) in begun {
            match one {
                Ok(remote) => {
                    let own = remote.repositories().map(|own| (Instant::now(), own));
                    match own {
                        Some(own) => self.known().repositories.insert(at, own),
                        None => self.known().repositories.remove(&at),
                    };
                    standing.answered += 1;
                    let unserved = remote.unserved(begin).into_iter();
                    let of_shard = |(repository, why)| Unserved { repository, shard: at + 1, why };
                    standing.unserved.extend(unserved.map(of_shard));
                    let partial = remote.begun.partial.iter();
                    standing.partial.extend(partial.map(|(name, known)| Partial::new(name, at + 1, *known)));
                    remotes.push(remote);
                }
                Err(Lost::Failed(Failure::Request(said))) => return Err(Error::Refused(said)),
                Err(lost) => {
                    let replicas = shards[at].all.iter().map(|one| one.address.clone()).collect();
                    let why = if shards[at].all.is_empty() { "it has no replica".into() } else { lost.to_string() };
                    standing.missing.push(Away { shard: at + 1, replicas, why });
                }
            }
        }
        if standing.asked > 0 && standing.answered == 0 {
            let why = standing.missing.first().map(|away| away.why.clone()).unwrap_or_default();
            return Err(Error::NoneAnswers { asked: standing.asked, why });
        }
        // A shard may hold none of what the caller may see.
        remotes.retain(|remote| !remote.begun.extent.repositories.is_empty());
        Ok(BegunAll { remotes, standing })
    }
}

/// A search that began.
struct BegunAll {
    remotes: Vec<Remote>,
    standing: Standing,
}

impl BegunAll {
    /// The repositories, each with the numbers of the shards that serve it, from 1.
    fn repositories(&self) -> BTreeMap<String, Vec<usize>> {
        let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for remote in &self.remotes {
            for one in &remote.begun.extent.repositories {
                all.entry(one.front.trim_end_matches('/').to_string()).or_default().push(remote.at + 1);
            }
        }
        all
    }

    /// Refuses names that several shards give a repository.
    fn check_once(repositories: BTreeMap<String, Vec<usize>>) -> Result<()> {
        let all: Vec<_> = repositories.into_iter().filter(|(_, shards)| shards.len() > 1).collect();
        if all.is_empty() { Ok(()) } else { Err(Error::Twice { all }) }
    }
}

/// The message that begins a search.
fn begin(wanted: &Wanted<'_>, asked: &Asked<'_>) -> Result<Begin> {
    let below = wanted.scope.paths.iter().map(|path| repository_of(path)).collect::<Result<_>>()?;
    let mut scope = wanted.scope.clone();
    scope.paths = Vec::new();
    let mut tokenizer = Tokenizer::default();
    let terms: HashSet<String> =
        words(asked.query).map(|word| tokenizer.normal(&asked.query[word]).to_string()).collect();
    Ok(Begin {
        allowed: wanted.allowed.map(<[String]>::to_vec),
        below,
        scope,
        terms: terms.into_iter().collect(),
        model: asked.model.map(colgrep_engine::project::model::Model::fingerprint),
    })
}

/// The repository that a path begins with, and the path from there.
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

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn full(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
