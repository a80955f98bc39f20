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

/// Which shards an answer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Shards that were asked.
    pub asked: usize,
    /// Those that answered.
    pub answered: usize,
    /// The others.
    pub missing: Vec<Away>,
}

impl Standing {
    /// What the caller has to know, where a shard is missing.
    pub fn told(&self) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        let of = |away: &Away| format!("shard {} ({}): {}", away.shard, away.replicas.join(", "), away.why);
        let all: Vec<String> = self.missing.iter().map(of).collect();
        Some(format!(
            "{} of {} shards answered, the others are left out: {}",
            self.answered,
            self.asked,
            all.join("; ")
        ))
    }
}
