//! The state of shards as text.

use colgrep_cluster::{ClusterHealth, PartialRepository, ReplicaHealth, ServedRepository, ShardCoverage, in_shard};

use crate::escape::escape_control;
use crate::words::counted;

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
        // A caller limited to some repositories isn't told about shards.
        if shard.shard > 0 {
            say(format!("shard {} {state}", shard.shard));
        }
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
    let file = seen.file.as_ref().map(|why| format!("the file of the shards is not taken over as it is now: {why}"));
    let those = |lead: &str, is_so: fn(&PartialRepository) -> bool| {
        let those = seen.coverage.partial.iter().filter(|one| is_so(one));
        let those: Vec<String> = those.map(|one| format!("{}{}", one.repository, in_shard(one.shard))).collect();
        (!those.is_empty()).then(|| format!("{lead}: {}", those.join(", ")))
    };
    let no_room = those("indexes that can't be updated for want of room on the disk", |one| one.has_no_room);
    let not_fetched = those("repositories whose newest index could not be fetched", |one| one.is_not_fetched);
    seen.coverage.repeated().into_iter().chain(no_room).chain(not_fetched).chain(file).collect()
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
    standing.told().into_iter().chain(standing.unfinished()).chain(standing.repeated()).map(line).collect()
}
