//! Which shards an answer comes from.

use serde::Serialize;

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
}
