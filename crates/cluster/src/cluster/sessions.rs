//! The sessions of a search: which shards are asked, and which one answers for a repository that several serve.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::Cluster;
use crate::coverage::{
    MissingShard, NOT_NOW, PartialRepository, RepeatedRepository, ShardCoverage, UnservedRepository,
};
use crate::error::{Error, Result};
use crate::foreign_text::plain;
use crate::message::{Begin, Begun, WireFailure};
use crate::replica::{Lost, Replicas};
use crate::shard_client::ShardClient;

/// How often a search may lose a shard before it continues without it.
const LOSSES_MAX: usize = 2;
/// How long the list of a shard's repositories is trusted. A shard without any of the caller's is not asked.
const REPOSITORIES_KNOWN: Duration = Duration::from_secs(10);

/// The shards that a search lost: for each, how often, and why the last time.
pub type Losses = HashMap<usize, (usize, String)>;

#[derive(Default)]
pub struct Sessions {
    /// The shards that have something of the search.
    pub clients: Vec<ShardClient>,
    /// What the answer will cover.
    pub coverage: ShardCoverage,
}

impl Sessions {
    /// True if a shard serves a repository of this name.
    pub fn serves(&self, name: &str) -> bool {
        self.clients.iter().any(|client| client.begun.serves(name))
    }
}

/// The repositories that a shard listed, and when; `None` once its indexes have changed since.
pub type ListedAt = (Option<Instant>, Vec<String>);

/// What the shards answered at the start, each with its number, from 0.
type StartAnswers = Vec<(usize, Result<ShardClient, Lost>)>;

struct SessionStart<'s> {
    cluster: &'s Cluster,
    shards: &'s [Arc<Replicas>],
    pool: &'s ThreadPool,
    begin: &'s Begin,
    losses: &'s Losses,
    /// The repositories of each shard, as it listed them last.
    listed: HashMap<usize, ListedAt>,
}

impl Cluster {
    /// Begins a session in every shard that may contain something of the search.
    ///
    /// # Errors
    /// When no shard answers, or one refuses the request.
    pub(super) fn begin(&self, begin: &Begin, losses: &Losses) -> Result<Sessions> {
        let (shards, pool) = self.shards()?;
        let listed = self.known().repositories.clone();
        let start = SessionStart { cluster: self, shards: &shards, pool: &pool, begin, losses, listed };
        let (asked, others): (Vec<usize>, Vec<usize>) = (0..shards.len()).partition(|at| start.may_serve(*at));
        let mut answers = start.ask(&asked);
        if start.has_moved(&answers) {
            answers.extend(start.ask(&others));
            answers.sort_by_key(|(at, _)| *at);
        }
        let repeated = start.settle(&mut answers);
        start.sessions(answers, repeated)
    }
}

impl SessionStart<'_> {
    /// True if a shard may serve something of the search, as far as is known.
    fn may_serve(&self, at: usize) -> bool {
        let is_recent = |said: &Option<Instant>| said.is_some_and(|said| said.elapsed() < REPOSITORIES_KNOWN);
        let known = self.listed.get(&at).filter(|(said, _)| is_recent(said));
        // A repository that only one replica serves is reported as missing if another replica answers.
        let said = || self.shards[at].all.iter().filter_map(|replica| replica.said());
        let is_said = || said().any(|said| said.repositories.iter().any(|name| self.begin.wants(name)));
        known.is_none_or(|(_, own)| own.iter().any(|name| self.begin.wants(name))) || is_said()
    }

    fn ask(&self, asked: &[usize]) -> StartAnswers {
        self.pool.install(|| asked.par_iter().with_max_len(1).map(|at| (*at, self.begun(*at))).collect())
    }

    /// Begins a session in a shard.
    fn begun(&self, at: usize) -> Result<ShardClient, Lost> {
        if let Some((_, why)) = self.losses.get(&at).filter(|(times, _)| *times >= LOSSES_MAX) {
            return Err(Lost::Gone(std::io::Error::other(why.clone())));
        }
        let ask = |begin: &Begin| ShardClient::begin(at, &self.shards[at], begin, &self.cluster.patience);
        let known = self.listed.get(&at).filter(|_| self.begin.allowed.is_some());
        let Some((_, own)) = known else { return ask(self.begin) };
        let client = ask(&self.begin.told_to(own))?;
        // A shard that serves other repositories by now may need the whole list.
        if client.repositories().as_ref() == Some(own) { Ok(client) } else { ask(self.begin) }
    }

    /// True if a repository of the search is in none of the shards that were asked: another one may serve it by now.
    fn has_moved(&self, answers: &StartAnswers) -> bool {
        let begun = || answers.iter().filter_map(|(_, answer)| answer.as_ref().ok()).map(|client| &client.begun);
        let listed = answers.iter().filter_map(|(at, _)| self.listed.get(at)).flat_map(|(_, own)| own);
        let named = self.begin.below.iter().map(|(name, _)| name);
        let unserved = begun().flat_map(|begun| &begun.unserved).map(|(name, _)| name);
        let served: HashSet<&str> = begun().flat_map(Begun::names_served).collect();
        let mut missing = listed.chain(named).chain(unserved).filter(|name| !served.contains(name.as_str()));
        missing.any(|name| self.begin.wants(name))
    }

    /// Leaves each repository that several shards serve to the one with the newest index of it. The others begin again
    /// without it.
    fn settle(&self, answers: &mut StartAnswers) -> Vec<RepeatedRepository> {
        let mut served: BTreeMap<String, Vec<(u64, Reverse<usize>)>> = BTreeMap::new();
        for (at, client) in answers.iter().filter_map(|(at, answer)| Some((*at, answer.as_ref().ok()?))) {
            let written: HashMap<&str, u64> =
                client.begun.written_ms.iter().rev().map(|(name, ms)| (name.as_str(), *ms)).collect();
            for name in client.begun.names_served() {
                let ms = written.get(name).copied().unwrap_or(0);
                served.entry(name.to_string()).or_default().push((ms, Reverse(at)));
            }
        }
        served.retain(|_, shards| shards.len() > 1);
        let mut left_out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut repeated = Vec::new();
        for (repository, mut shards) in served {
            shards.sort_unstable_by_key(|shard| Reverse(*shard));
            let shards: Vec<usize> = shards.into_iter().map(|(_, Reverse(at))| at).collect();
            shards[1..].iter().for_each(|at| left_out.entry(*at).or_default().push(repository.clone()));
            repeated.extend(RepeatedRepository::new(&repository, &shards));
        }
        let again = |(place, (at, answer)): (usize, &(usize, Result<ShardClient, Lost>))| {
            let own = answer.as_ref().ok()?.begun.names_served().map(str::to_string);
            Some((place, *at, self.begin.without(left_out.get(at)?, own)))
        };
        let again: Vec<(usize, usize, Begin)> = answers.iter().enumerate().filter_map(again).collect();
        let ask = |(place, at, begin): &(usize, usize, Begin)| {
            (*place, ShardClient::begin(*at, &self.shards[*at], begin, &self.cluster.patience))
        };
        let begun: Vec<(usize, Result<ShardClient, Lost>)> =
            self.pool.install(|| again.par_iter().with_max_len(1).map(ask).collect());
        for (place, mut answer) in begun {
            if let (Ok(new), Ok(old)) = (&mut answer, &mut answers[place].1) {
                // The second start names nothing that the shard can't serve.
                new.begun.unserved = std::mem::take(&mut old.begun.unserved);
            }
            answers[place].1 = answer;
        }
        repeated
    }

    /// The sessions that began, and what they cover.
    fn sessions(&self, answers: StartAnswers, repeated: Vec<RepeatedRepository>) -> Result<Sessions> {
        let coverage = ShardCoverage { asked: answers.len(), repeated, ..ShardCoverage::default() };
        let mut sessions = Sessions { clients: Vec::new(), coverage };
        let coverage = &mut sessions.coverage;
        let mut refused = None;
        for (at, answer) in answers {
            match answer {
                Ok(client) => {
                    let mut known = self.cluster.known();
                    match client.repositories() {
                        Some(own) => drop(known.repositories.insert(at, (Some(Instant::now()), own))),
                        // What it served is remembered: another shard may serve it now.
                        None => known.repositories.entry(at).or_default().0 = None,
                    }
                    drop(known);
                    coverage.answered += 1;
                    let unserved = client.unserved(self.begin).into_iter();
                    let of_shard = |(repository, why)| UnservedRepository { repository, shard: at + 1, why };
                    coverage.unserved.extend(unserved.map(of_shard));
                    let partial = client.begun.partial.iter();
                    coverage.partial.extend(partial.map(|(name, known)| PartialRepository::new(name, at + 1, *known)));
                    sessions.clients.push(client);
                }
                Err(lost) => {
                    if let Lost::Failed(WireFailure::Request(said)) = &lost {
                        refused.get_or_insert_with(|| plain(said));
                    }
                    let replicas = self.shards[at].all.iter().map(|one| one.address.clone()).collect();
                    let has_none = self.shards[at].all.is_empty();
                    let why = if has_none { "it has no replica".into() } else { lost.to_string() };
                    coverage.missing.push(MissingShard { shard: at + 1, replicas, why });
                }
            }
        }
        let is_none = coverage.asked > 0 && coverage.answered == 0;
        // What one shard can't serve, another one may.
        let unserved = std::mem::take(&mut coverage.unserved).into_iter();
        let unserved = unserved.filter(|one| !sessions.serves(&one.repository)).collect();
        sessions.coverage.unserved = unserved;
        // A shard may have nothing that the caller may see.
        sessions.clients.retain(|client| !client.begun.extent.repositories.is_empty());
        // A request that can't be answered is refused by all who have something of it. What one of several says is its
        // own failure.
        if let Some(said) = refused.filter(|_| sessions.clients.is_empty()) {
            return Err(Error::Refused(said));
        }
        if self.begin.allowed.is_some() {
            let silent = |at: usize| self.shards[at].all.iter().filter_map(|replica| replica.said()).collect();
            let names = |client: &ShardClient| client.begun.names_served().map(str::to_string).collect();
            let located: Vec<Vec<String>> = sessions.clients.iter().map(names).collect();
            let (wants, allowed) = (|name: &str| self.begin.wants(name), self.begin.allowed.as_deref());
            sessions.coverage = std::mem::take(&mut sessions.coverage).limited(&wants, allowed, &located, &silent);
        }
        if is_none {
            let coverage = &sessions.coverage;
            let why = coverage.missing.first().map_or_else(|| NOT_NOW.to_string(), |away| away.why.clone());
            let asked = if self.begin.allowed.is_some() { 1 } else { coverage.asked };
            return Err(Error::NoneAnswers { asked, why });
        }
        Ok(sessions)
    }
}
