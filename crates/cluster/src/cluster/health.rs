//! The health of the shards: which replicas answer, what they serve, and what is wrong.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::Cluster;
use crate::check::{are_served, checked, is_begun};
use crate::coverage::{
    MissingShard, NOT_NOW, PartialRepository, RepeatedRepository, ShardCoverage, UnservedRepository, is_hidden,
};
use crate::error::{Error, Result};
use crate::foreign_text::plain;
use crate::frame::{QUESTION_BYTES_MAX, framed};
use crate::message::{Begin, Begun, IndexProgress, Put, ServedRepository, Welcome, WireQuestion};
use crate::replica::{Connection, Lost, Replica};

#[derive(Clone, Debug, Default, Serialize)]
pub struct ClusterHealth {
    #[serde(flatten)]
    pub coverage: ShardCoverage,
    pub shards: Vec<ShardHealth>,
    /// Why the current file of the shards was rejected.
    pub file: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ShardHealth {
    /// Its number, from 1; 0 where the caller may not know it.
    #[serde(skip_serializing_if = "is_hidden")]
    pub shard: usize,
    /// Its replicas; none where the caller may not know them.
    pub replicas: Vec<ReplicaHealth>,
    /// The repositories of the replica that serves most of them. Those that only other replicas serve are listed as
    /// missing.
    pub repositories: Vec<ServedRepository>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplicaHealth {
    /// Host and port.
    pub address: String,
    /// Identifies the state of its indexes.
    pub generation: Option<String>,
    /// Why it does not answer, if it doesn't.
    pub why: Option<String>,
}

struct ReplicaReport {
    generation: u64,
    repositories: Vec<ServedRepository>,
}

impl ClusterHealth {
    /// The names of all served repositories, ascending.
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

    /// The part that a caller with access to some repositories may see: those repositories, but no shards or replicas.
    /// Arguments as for [`ShardCoverage::limited`].
    fn limited(self, allowed: Option<&[String]>, said: &dyn Fn(usize) -> Vec<Arc<Welcome>>) -> ClusterHealth {
        let served = |shard: &ShardHealth| -> Vec<String> {
            let served = shard.repositories.iter().filter(|one| one.missing.is_none());
            served.map(|one| one.name.clone()).collect()
        };
        let located: Vec<Vec<String>> = self.shards.iter().map(served).collect();
        let coverage = self.coverage.limited(&|_| true, allowed, &located, said);
        let hidden =
            |one: ServedRepository| ServedRepository { missing: one.missing.map(|_| NOT_NOW.to_string()), ..one };
        let own = self.shards.into_iter().filter(|shard| !shard.repositories.is_empty());
        let shards = own.map(|shard| ShardHealth {
            repositories: shard.repositories.into_iter().map(hidden).collect(),
            ..ShardHealth::default()
        });
        ClusterHealth { coverage, shards: shards.collect(), file: None }
    }

    /// Records what the replicas of each shard serve, each list with the replica's address. A shard without an answer
    /// is missing.
    fn hear(&mut self, answering: Vec<Vec<(String, Vec<ServedRepository>)>>) {
        (self.coverage.asked, self.coverage.answered) =
            (self.shards.len(), answering.iter().filter(|said| !said.is_empty()).count());
        for (shard, said) in self.shards.iter_mut().zip(answering) {
            if !said.is_empty() {
                shard.repositories = together(said);
                continue;
            }
            let replicas = shard.replicas.iter().map(|replica| replica.address.clone()).collect();
            let why = shard.replicas.iter().find_map(|replica| replica.why.clone());
            let why = why.unwrap_or_else(|| "it has no replica".to_string());
            self.coverage.missing.push(MissingShard { shard: shard.shard, replicas, why });
        }
    }

    /// The served repositories, each with the positions of its shards, the one with the newest index first.
    fn places(&self) -> BTreeMap<String, Vec<usize>> {
        let mut served: BTreeMap<String, Vec<(Reverse<u64>, usize)>> = BTreeMap::new();
        for (at, shard) in self.shards.iter().enumerate() {
            for one in shard.repositories.iter().filter(|one| one.missing.is_none()) {
                served.entry(one.name.clone()).or_default().push((Reverse(one.written_ms), at));
            }
        }
        let ordered = |mut shards: Vec<(Reverse<u64>, usize)>| {
            shards.sort_unstable();
            shards.into_iter().map(|(_, at)| at).collect()
        };
        served.into_iter().map(|(name, shards)| (name, ordered(shards))).collect()
    }

    /// Adds repositories that silent replicas served earlier and that are not in `names`, as missing. Each silent
    /// replica comes with the position of its shard and its address.
    fn add_silent(
        &mut self,
        silent: &[(usize, &str, Arc<Welcome>)],
        names: &BTreeMap<String, Vec<usize>>,
        allowed: Option<&[String]>,
    ) {
        for (at, address, said) in silent {
            let own = &mut self.shards[*at].repositories;
            let is_told = |name: &String| allowed.is_none_or(|names| names.contains(name)) && !names.contains_key(name);
            // The repositories of a missing shard are not listed.
            let is_away = self.coverage.missing.iter().any(|away| away.shard == at + 1);
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

    /// Reports repositories that are not served by any shard, those that several serve, and those whose index is
    /// incomplete.
    fn tell_lacking(&mut self, names: &BTreeMap<String, Vec<usize>>) {
        let repeated = names.iter().filter(|(_, shards)| shards.len() > 1);
        self.coverage.repeated = repeated.filter_map(|(name, shards)| RepeatedRepository::new(name, shards)).collect();
        for shard in &self.shards {
            for one in &shard.repositories {
                let shard = shard.shard;
                let known = IndexProgress {
                    files: one.known_files,
                    units: one.units,
                    units_without_vectors: one.units_without_vectors,
                    has_no_room: one.has_no_room,
                    is_not_fetched: one.is_not_fetched,
                };
                match one.missing.clone() {
                    Some(_) if names.contains_key(&one.name) => {}
                    Some(why) => {
                        self.coverage.unserved.push(UnservedRepository { repository: one.name.clone(), shard, why })
                    }
                    None if !known.is_all() => {
                        self.coverage.partial.push(PartialRepository::new(&one.name, shard, known))
                    }
                    None => {}
                }
            }
        }
    }
}

impl Cluster {
    /// Asks every replica what it serves of what the caller may see.
    ///
    /// # Errors
    /// When the file of the shards is invalid.
    pub fn health(&self, allowed: Option<&[String]>) -> Result<ClusterHealth> {
        let begin = Begin { allowed: allowed.map(<[String]>::to_vec), ..Begin::default() };
        let frame = |question: WireQuestion| {
            let put: Put = (0, question);
            framed(&put, QUESTION_BYTES_MAX).map_err(|error| Error::Refused(error.to_string()))
        };
        let frames = (frame(WireQuestion::Begin(Box::new(begin.clone())))?, frame(WireQuestion::Served)?);
        let told = |connection: &mut Connection| {
            let until = Instant::now() + self.patience.answer;
            let _: Begun = checked(&connection.ask(&frames.0, until)?, "begin", |begun| is_begun(&begin, begun))?;
            let served = |served: &Vec<_>| are_served(served);
            let mut told: Vec<ServedRepository> = checked(&connection.ask(&frames.1, until)?, "served", served)?;
            // Drops what the caller may not see, in case the shard doesn't.
            told.retain(|one| allowed.is_none_or(|names| names.contains(&one.name)));
            told.iter_mut().filter_map(|one| one.missing.as_mut()).for_each(|why| *why = plain(why));
            Ok(told)
        };
        let mut seen = self.health_by(&told, allowed)?;
        if allowed.is_some() {
            let (shards, _) = self.shards()?;
            let replicas = |at: usize| shards.get(at).into_iter().flat_map(|shard| &shard.all);
            let said = |at: usize| replicas(at).filter_map(|replica| replica.said()).collect();
            seen = seen.limited(allowed, &said);
        }
        Ok(seen)
    }

    /// Greets every replica and remembers the result for [`Cluster::last_health`]. Begins no session.
    ///
    /// # Errors
    /// When the file of the shards is invalid.
    pub fn greet(&self) -> Result<()> {
        let lost = |name: &String| ServedRepository {
            name: name.clone(),
            missing: Some("it can't be served now".into()),
            ..ServedRepository::default()
        };
        let told = |connection: &mut Connection| {
            let Welcome { repositories, written_ms, no_room, not_fetched, unserved, .. } = &*connection.welcome;
            let named = |(name, ms): (&String, &u64)| ServedRepository {
                name: name.clone(),
                written_ms: *ms,
                has_no_room: no_room.contains(name),
                is_not_fetched: not_fetched.contains(name),
                ..ServedRepository::default()
            };
            let served = repositories.iter().zip(written_ms.iter().chain(std::iter::repeat(&0)));
            Ok(served.map(named).chain(unserved.iter().map(lost)).collect())
        };
        let seen = self.health_by(&told, None)?;
        self.known().seen = Some(Arc::new(seen));
        Ok(())
    }

    /// The result of the last [`Cluster::greet`].
    pub fn last_health(&self) -> Option<Arc<ClusterHealth>> {
        self.known().seen.clone()
    }

    /// Connects to every replica. `told` asks it which of the allowed repositories it serves.
    fn health_by(
        &self,
        told: &(dyn Fn(&mut Connection) -> Result<Vec<ServedRepository>, Lost> + Sync),
        allowed: Option<&[String]>,
    ) -> Result<ClusterHealth> {
        let (shards, pool) = self.shards()?;
        let each: Vec<(usize, &Arc<Replica>)> =
            shards.iter().enumerate().flat_map(|(at, shard)| shard.all.iter().map(move |one| (at, one))).collect();
        let ask = |(_, replica): &(usize, &Arc<Replica>)| {
            let connection = Connection::open(replica, Instant::now() + self.patience.connect);
            let mut connection = connection.inspect_err(|lost| replica.still(lost))?;
            let repositories = told(&mut connection)?;
            // Searches ask it again from now on, not only after its next greeting in the background.
            replica.answered();
            Ok(ReplicaReport { repositories, generation: connection.welcome.generation })
        };
        let said: Vec<Result<ReplicaReport, Lost>> =
            pool.install(|| each.par_iter().with_max_len(1).map(ask).collect());
        let numbered = |at| ShardHealth { shard: at + 1, ..ShardHealth::default() };
        let mut seen = ClusterHealth { shards: (0..shards.len()).map(numbered).collect(), ..ClusterHealth::default() };
        let mut answering: Vec<Vec<(String, Vec<ServedRepository>)>> = vec![Vec::new(); shards.len()];
        // What silent replicas served earlier.
        let mut silent: Vec<(usize, &str, Arc<Welcome>)> = Vec::new();
        for ((at, replica), said) in each.into_iter().zip(said) {
            let shard = &mut seen.shards[at];
            let mut row = ReplicaHealth { address: replica.address.clone(), ..ReplicaHealth::default() };
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
        seen.tell_lacking(&names);
        seen.file = self.refused_file();
        Ok(seen)
    }
}

/// Merges what replicas serve, each list with the replica's address: the longest list, plus what only other replicas
/// serve as missing, since searches prefer the replica with the longest list.
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
