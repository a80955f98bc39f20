//! Looks at the shards: which replicas answer, what they serve, and what is wrong.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::{BegunAll, Cluster, full};
use crate::check::{are_served, checked, is_begun};
use crate::error::{Error, Result};
use crate::frame::{QUESTION_BYTES_MAX, framed};
use crate::message::{Begin, Begun, Known, Put, Question, ServedRepository, Welcome};
use crate::replica::{Lane, Lost, Replica};
use crate::standing::{Away, Partial, Standing, Unserved};

/// A look at the shards.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Seen {
    /// Which of them answer.
    #[serde(flatten)]
    pub standing: Standing,
    /// What each serves.
    pub shards: Vec<SeenShard>,
    /// What is wrong where several shards serve a repository of one name: a search over these is refused.
    pub twice: Option<String>,
    /// Why the file of the shards, as it is now, was not taken over.
    pub file: Option<String>,
}

/// A shard.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SeenShard {
    /// Its number, from 1.
    pub shard: usize,
    /// Its replicas.
    pub replicas: Vec<SeenReplica>,
    /// Its repositories, by the replica that serves most of them; those that others serve alone are missing.
    pub repositories: Vec<ServedRepository>,
}

/// A replica of a shard.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SeenReplica {
    /// Host and port.
    pub address: String,
    /// What tells its indexes from others; not told to those who may see a part of them.
    pub generation: Option<String>,
    /// Why it does not answer, where it does not.
    pub why: Option<String>,
}

/// What a replica said.
struct Said {
    generation: u64,
    repositories: Vec<ServedRepository>,
}

impl Seen {
    /// The names of all repositories that are served, ascending.
    pub fn names(&self) -> Vec<&str> {
        let served = self.repositories().filter(|one| one.missing.is_none());
        let mut names: Vec<&str> = served.map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The languages of all files, ascending.
    pub fn languages(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.repositories().flat_map(|one| one.languages.keys().map(String::as_str)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn repositories(&self) -> impl Iterator<Item = &ServedRepository> {
        self.shards.iter().flat_map(|shard| &shard.repositories)
    }

    /// Takes over what the replicas of each shard say that they serve, each with its address. A shard of which none
    /// answers is missing.
    fn hear(&mut self, answering: Vec<Vec<(String, Vec<ServedRepository>)>>) {
        (self.standing.asked, self.standing.answered) =
            (self.shards.len(), answering.iter().filter(|said| !said.is_empty()).count());
        for (shard, said) in self.shards.iter_mut().zip(answering) {
            if !said.is_empty() {
                shard.repositories = together(said);
                continue;
            }
            let replicas = shard.replicas.iter().map(|replica| replica.address.clone()).collect();
            let why = shard.replicas.iter().find_map(|replica| replica.why.clone());
            let why = why.unwrap_or_else(|| "it has no replica".to_string());
            self.standing.missing.push(Away { shard: shard.shard, replicas, why });
        }
    }

    /// The repositories that are served, each with the shards that do.
    fn places(&self) -> BTreeMap<String, Vec<usize>> {
        let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for shard in &self.shards {
            for one in shard.repositories.iter().filter(|one| one.missing.is_none()) {
                names.entry(one.name.clone()).or_default().push(shard.shard);
            }
        }
        names
    }

    /// Adds as missing what replicas that do not answer now (each with the place of its shard and its address) said that
    /// they serve, and nobody in `names` does.
    fn add_silent(
        &mut self,
        silent: &[(usize, &str, Arc<Welcome>)],
        names: &BTreeMap<String, Vec<usize>>,
        allowed: Option<&[String]>,
    ) {
        for (at, address, said) in silent {
            let own = &mut self.shards[*at].repositories;
            let is_told = |name: &String| allowed.is_none_or(|names| names.contains(name)) && !names.contains_key(name);
            // Of a shard that is missing, the repositories are not listed.
            let is_away = self.standing.missing.iter().any(|away| away.shard == at + 1);
            for name in said.repositories.iter().filter(|name| !is_away && is_told(name)) {
                if own.iter().all(|one| one.name != *name) {
                    let why = format!("replica {address} alone serves it, and does not answer");
                    own.push(ServedRepository {
                        name: name.clone(),
                        missing: Some(why),
                        ..ServedRepository::default()
                    });
                }
            }
        }
    }

    /// Tells which repositories are not served, and which are known in part.
    fn tell_lacking(&mut self) {
        for shard in &self.shards {
            for one in &shard.repositories {
                let shard = shard.shard;
                let known = Known {
                    files: one.known_files,
                    units: one.units,
                    units_without_vectors: one.units_without_vectors,
                };
                match one.missing.clone() {
                    Some(why) => self.standing.unserved.push(Unserved { repository: one.name.clone(), shard, why }),
                    None if !known.is_all() => self.standing.partial.push(Partial::new(&one.name, shard, known)),
                    None => {}
                }
            }
        }
    }
}

impl Cluster {
    /// Looks at every replica: whether it answers, and what it serves of what the caller may see.
    ///
    /// # Errors
    /// When the file of the shards is of no use.
    pub fn look(&self, allowed: Option<&[String]>) -> Result<Seen> {
        let begin = Begin { allowed: allowed.map(<[String]>::to_vec), ..Begin::default() };
        let frame = |question: Question| {
            let put: Put = (0, question);
            framed(&put, QUESTION_BYTES_MAX).map_err(|error| Error::Refused(error.to_string()))
        };
        let frames = (frame(Question::Begin(Box::new(begin.clone())))?, frame(Question::Served)?);
        let told = |lane: &mut Lane| {
            let until = Instant::now() + self.patience.answer;
            let _: Begun = checked(&lane.ask(&frames.0, until)?, "begin", |begun| is_begun(&begin, begun))?;
            let served = |served: &Vec<_>| are_served(served);
            let mut told: Vec<ServedRepository> = checked(&lane.ask(&frames.1, until)?, "served", served)?;
            // A shard says nothing of what the caller may not see, and nobody else does in its place.
            told.retain(|one| allowed.is_none_or(|names| names.contains(&one.name)));
            Ok(told)
        };
        let mut seen = self.seen_by(&told, allowed)?;
        if allowed.is_some() {
            // What tells of a change in one of them tells of those that are hidden too.
            let replicas = seen.shards.iter_mut().flat_map(|shard| &mut shard.replicas);
            replicas.for_each(|replica| replica.generation = None);
            // Of a shard that answers, and holds none of what the caller may see, nothing is said.
            let is_away = |shard: usize| seen.standing.missing.iter().any(|away| away.shard == shard);
            let is_told = |shard: &SeenShard| is_away(shard.shard) || !shard.repositories.is_empty();
            let shards = std::mem::take(&mut seen.shards);
            seen.shards = shards.into_iter().filter(is_told).collect();
            seen.standing.asked = seen.shards.len();
            seen.standing.answered = seen.standing.asked - seen.standing.missing.len();
        }
        Ok(seen)
    }

    /// Greets every replica, and remembers which answer: [`Cluster::last_seen`]. No search is begun.
    ///
    /// # Errors
    /// When the file of the shards is of no use.
    pub fn greet(&self) -> Result<()> {
        let named = |name: &String| ServedRepository { name: name.clone(), ..ServedRepository::default() };
        let lost = |name: &String| ServedRepository { missing: Some("it can't be served now".into()), ..named(name) };
        let told = |lane: &mut Lane| {
            let Welcome { repositories, unserved, .. } = &*lane.welcome;
            Ok(repositories.iter().map(named).chain(unserved.iter().map(lost)).collect())
        };
        let seen = self.seen_by(&told, None)?;
        self.known().seen = Some(Arc::new(seen));
        Ok(())
    }

    /// What the last greeting saw; asks nobody.
    pub fn last_seen(&self) -> Option<Arc<Seen>> {
        self.known().seen.clone()
    }

    /// Connects to every replica, and has `told` ask what it serves of what the caller may see.
    fn seen_by(
        &self,
        told: &(dyn Fn(&mut Lane) -> Result<Vec<ServedRepository>, Lost> + Sync),
        allowed: Option<&[String]>,
    ) -> Result<Seen> {
        let (shards, pool) = self.shards()?;
        let each: Vec<(usize, &Arc<Replica>)> =
            shards.iter().enumerate().flat_map(|(at, shard)| shard.all.iter().map(move |one| (at, one))).collect();
        let ask = |(_, replica): &(usize, &Arc<Replica>)| {
            let lane = Lane::open(replica, Instant::now() + self.patience.connect);
            let mut lane = lane.inspect_err(|lost| replica.still(lost))?;
            Ok(Said { repositories: told(&mut lane)?, generation: lane.welcome.generation })
        };
        let said: Vec<Result<Said, Lost>> = pool.install(|| each.par_iter().with_max_len(1).map(ask).collect());
        let numbered = |at| SeenShard { shard: at + 1, ..SeenShard::default() };
        let mut seen = Seen { shards: (0..shards.len()).map(numbered).collect(), ..Seen::default() };
        let mut answering: Vec<Vec<(String, Vec<ServedRepository>)>> = vec![Vec::new(); shards.len()];
        // What replicas that do not answer now said that they serve.
        let mut silent: Vec<(usize, &str, Arc<Welcome>)> = Vec::new();
        for ((at, replica), said) in each.into_iter().zip(said) {
            let shard = &mut seen.shards[at];
            let mut row = SeenReplica { address: replica.address.clone(), ..SeenReplica::default() };
            match said {
                Ok(said) => {
                    row.generation = Some(format!("{:016x}", said.generation));
                    answering[at].push((row.address.clone(), said.repositories));
                }
                Err(lost) => {
                    row.why = Some(lost.to_string());
                    silent.extend(replica.said().map(|said| (at, replica.address.as_str(), said)));
                }
            }
            shard.replicas.push(row);
        }
        seen.hear(answering);
        let names = seen.places();
        seen.add_silent(&silent, &names, allowed);
        seen.tell_lacking();
        seen.twice = BegunAll::check_once(names).err().map(|error| full(&error));
        seen.file = self.refused_file();
        Ok(seen)
    }
}

/// What replicas say that they serve, each with its address: the list of the fullest. What another one serves alone is
/// missing, since the fullest answers.
fn together(mut said: Vec<(String, Vec<ServedRepository>)>) -> Vec<ServedRepository> {
    said.sort_by_key(|(_, all)| Reverse(all.iter().filter(|one| one.missing.is_none()).count()));
    let mut said = said.into_iter();
    let mut all = said.next().map(|(_, all)| all).unwrap_or_default();
    for (address, others) in said {
        for other in others.into_iter().filter(|other| other.missing.is_none()) {
            if all.iter().all(|one| one.name != other.name) {
                let why = format!("replica {address} alone serves it, and another one serves more");
                all.push(ServedRepository { name: other.name, missing: Some(why), ..ServedRepository::default() });
            }
        }
    }
    all
}
