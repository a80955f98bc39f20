//! Which shards an answer comes from.

use serde::Serialize;

use crate::message::Known;

/// A shard that gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Away {
    /// Its number, from 1.
    pub shard: usize,
    /// The addresses of its replicas.
    pub replicas: Vec<String>,
    /// Why not.
    pub why: String,
}

/// A repository that a shard can't serve now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unserved {
    /// Its name.
    pub repository: String,
    /// The shard's number, from 1.
    pub shard: usize,
    /// Why not.
    pub why: String,
}

/// A repository whose index does not know all of it yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Partial {
    /// Its name.
    pub repository: String,
    /// The shard's number, from 1.
    pub shard: usize,
    /// Files that it knows as they are now, where these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_known: Option<u64>,
    /// Of so many, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_in_tree: Option<u64>,
    /// Its units.
    pub units: u64,
    /// Those whose vectors are not there yet.
    pub units_without_vectors: u64,
}

impl Partial {
    /// A repository of the shard with this number, from 1.
    pub(crate) fn new(repository: &str, shard: usize, known: Known) -> Partial {
        let Known { files, units, units_without_vectors } = known;
        Partial {
            repository: repository.to_string(),
            shard,
            files_known: files.map(|files| files.known),
            files_in_tree: files.and_then(|files| files.in_tree),
            units,
            units_without_vectors,
        }
    }

    /// What its index knows, in words.
    pub fn told(&self) -> String {
        let files = self.files_known.map(|known| match self.files_in_tree {
            Some(all) if all > known => format!("{known} of {all} files as they are now"),
            _ => format!("{known} files, not compared with those that are there now"),
        });
        let (without, units) = (self.units_without_vectors, self.units);
        let vectors = (without > 0).then(|| format!("{without} of {units} units by words alone so far"));
        files.into_iter().chain(vectors).collect::<Vec<_>>().join(", ")
    }
}

/// Which shards an answer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Shards that were asked.
    pub asked: usize,
    /// Those that answered.
    pub answered: usize,
    /// The others.
    pub missing: Vec<Away>,
    /// Repositories that shards which answered can't serve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unserved: Vec<Unserved>,
    /// Repositories whose indexes are being brought up to date: the answer knows a part of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<Partial>,
}

impl Standing {
    /// Whether nothing is left out.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.unserved.is_empty()
    }

    /// What the caller has to know, where a shard is missing or a repository is not served.
    pub fn told(&self) -> Option<String> {
        let of = |away: &Away| format!("shard {} ({}): {}", away.shard, away.replicas.join(", "), away.why);
        let missing: Vec<String> = self.missing.iter().map(of).collect();
        let of = |one: &Unserved| format!("{} (shard {}): {}", one.repository, one.shard, one.why);
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

    /// What the caller has to know while indexes are being brought up to date.
    pub fn unfinished(&self) -> Option<String> {
        let of = |one: &Partial| format!("{} (shard {}): {}", one.repository, one.shard, one.told());
        let partial: Vec<String> = self.partial.iter().map(of).collect();
        let lead = "indexes are being brought up to date, and this answer knows a part";
        (!partial.is_empty()).then(|| format!("{lead}: {}", partial.join("; ")))
    }
}
