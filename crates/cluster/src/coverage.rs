//! Which shards an answer covers.

use std::sync::Arc;

use serde::Serialize;

use crate::message::{IndexProgress, Welcome};

/// What a caller with rights to some repositories learns of shards that don't answer.
pub(crate) const NOT_NOW: &str = "it can't be searched now";

/// A shard without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingShard {
    /// Its number, from 1.
    pub shard: usize,
    pub replicas: Vec<String>,
    pub why: String,
}

/// A repository that a shard can't serve now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnservedRepository {
    pub repository: String,
    /// The shard's number, from 1; 0 where the caller may not know it.
    #[serde(skip_serializing_if = "is_hidden")]
    pub shard: usize,
    pub why: String,
}

/// A repository that several shards serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepeatedRepository {
    pub repository: String,
    /// The number of the shard whose index is the newest, from 1. It alone is searched for this repository.
    pub shard: usize,
    /// The numbers of the other shards.
    pub others: Vec<usize>,
}

impl RepeatedRepository {
    /// A repository of several shards, given by their positions, the one that is searched first.
    pub(crate) fn new(repository: &str, shards: &[usize]) -> Option<RepeatedRepository> {
        let (first, others) = shards.split_first()?;
        let others = others.iter().map(|at| at + 1).collect();
        Some(RepeatedRepository { repository: repository.to_string(), shard: first + 1, others })
    }
}

/// A repository with an incomplete index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartialRepository {
    pub repository: String,
    /// The shard's number, from 1; 0 where the caller may not know it.
    #[serde(skip_serializing_if = "is_hidden")]
    pub shard: usize,
    /// Number of files whose current content is indexed, if not all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_known: Option<u64>,
    /// Number of files in the tree, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_in_tree: Option<u64>,
    pub units: u64,
    /// Number of units without vectors so far.
    pub units_without_vectors: u64,
    /// True if the index can't be updated for want of room on the disk.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_no_room: bool,
    /// True if the newest index could not be fetched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_not_fetched: bool,
}

impl PartialRepository {
    /// A repository of the shard with this number, from 1.
    pub(crate) fn new(repository: &str, shard: usize, known: IndexProgress) -> PartialRepository {
        let IndexProgress { files, units, units_without_vectors, has_no_room, is_not_fetched } = known;
        PartialRepository {
            repository: repository.to_string(),
            shard,
            files_known: files.map(|files| files.known),
            files_in_tree: files.and_then(|files| files.in_tree),
            units,
            units_without_vectors,
            has_no_room,
            is_not_fetched,
        }
    }

    /// Describes the state of the index.
    pub fn told(&self) -> String {
        let files = self.files_known.map(|known| match self.files_in_tree {
            Some(all) if all > known => format!("{known} of {all} files as they are now"),
            _ => format!("{known} files, not compared with those that are there now"),
        });
        let (without, units) = (self.units_without_vectors, self.units);
        let vectors = (without > 0).then(|| format!("{without} of {units} units by words alone so far"));
        let room = self.has_no_room.then(|| "no room on its disk to write more".to_string());
        let fetched = self.is_not_fetched.then(|| "its newest index could not be fetched".to_string());
        files.into_iter().chain(vectors).chain(room).chain(fetched).collect::<Vec<_>>().join(", ")
    }
}

/// True if the shard's number is hidden from the caller.
pub(crate) fn is_hidden(shard: &usize) -> bool {
    *shard == 0
}

/// A shard's number in a message; nothing where the caller may not know it.
pub fn in_shard(shard: usize) -> String {
    if shard == 0 { String::new() } else { format!(" (shard {shard})") }
}

/// Which shards an answer covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShardCoverage {
    /// Number of shards that were asked.
    pub asked: usize,
    /// Number of shards that answered.
    pub answered: usize,
    /// The shards that didn't.
    pub missing: Vec<MissingShard>,
    /// Repositories that the answering shards can't serve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unserved: Vec<UnservedRepository>,
    /// Repositories whose indexes are being updated, so the answer covers them in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<PartialRepository>,
    /// Repositories that several shards serve. Each is still searched in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<RepeatedRepository>,
}

impl ShardCoverage {
    /// True if nothing is left out.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.unserved.is_empty()
    }

    /// Limits the coverage to what a caller with access to some repositories may see: those repositories, and no shards.
    /// `wants` is whether one is searched, `located` are those that each answering shard has, and `said` what the
    /// replicas of a shard without an answer served before. A repository that such a shard may have is unserved.
    pub(crate) fn limited(
        self,
        wants: &dyn Fn(&str) -> bool,
        allowed: Option<&[String]>,
        located: &[Vec<String>],
        said: &dyn Fn(usize) -> Vec<Arc<Welcome>>,
    ) -> ShardCoverage {
        let mut unserved: Vec<String> = self.unserved.into_iter().map(|one| one.repository).collect();
        for away in &self.missing {
            let said = said(away.shard - 1);
            let may_have = |name: &&String| {
                let is_known =
                    |said: &Arc<Welcome>| said.repositories.iter().chain(&said.unserved).any(|own| own == *name);
                said.is_empty() || said.iter().any(is_known)
            };
            let is_away = |name: &&String| wants(name) && !located.iter().flatten().any(|own| own == *name);
            unserved.extend(allowed.unwrap_or_default().iter().filter(is_away).filter(may_have).cloned());
        }
        unserved.sort_unstable();
        unserved.dedup();
        let hidden = |repository: String| UnservedRepository { repository, shard: 0, why: NOT_NOW.to_string() };
        let partial = self.partial.into_iter().map(|one| PartialRepository { shard: 0, ..one }).collect();
        let answered = located.iter().filter(|own| !own.is_empty()).count();
        ShardCoverage {
            asked: answered,
            answered,
            missing: Vec::new(),
            unserved: unserved.into_iter().map(hidden).collect(),
            partial,
            repeated: Vec::new(),
        }
    }

    /// A warning about missing shards and repositories that are not served, if there are any.
    pub fn told(&self) -> Option<String> {
        let of = |away: &MissingShard| format!("shard {} ({}): {}", away.shard, away.replicas.join(", "), away.why);
        let missing: Vec<String> = self.missing.iter().map(of).collect();
        let of = |one: &UnservedRepository| format!("{}{}: {}", one.repository, in_shard(one.shard), one.why);
        let unserved: Vec<String> = self.unserved.iter().map(of).collect();
        let missing = (!missing.is_empty()).then(|| {
            let (answered, asked) = (self.answered, self.asked);
            format!("{answered} of {asked} shards answered, the others are left out: {}", missing.join("; "))
        });
        let unserved = (!unserved.is_empty())
            .then(|| format!("repositories that can't be searched now are left out: {}", unserved.join("; ")));
        let all: Vec<String> = missing.into_iter().chain(unserved).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// A note on repositories that several shards serve, if there are any.
    pub fn repeated(&self) -> Option<String> {
        let of = |one: &RepeatedRepository| {
            let others: Vec<String> = one.others.iter().map(ToString::to_string).collect();
            format!(
                "{} (shard {} has the newest index, also in shard {})",
                one.repository,
                one.shard,
                others.join(", ")
            )
        };
        let repeated: Vec<String> = self.repeated.iter().map(of).collect();
        let lead = "repositories that several shards serve are searched in one of them";
        (!repeated.is_empty()).then(|| format!("{lead}: {}", repeated.join("; ")))
    }

    /// A warning about indexes that are being updated, if there are any.
    pub fn unfinished(&self) -> Option<String> {
        let of = |one: &PartialRepository| format!("{}{}: {}", one.repository, in_shard(one.shard), one.told());
        let partial: Vec<String> = self.partial.iter().map(of).collect();
        let lead = "indexes are being brought up to date, and this answer knows a part";
        (!partial.is_empty()).then(|| format!("{lead}: {}", partial.join("; ")))
    }
}
