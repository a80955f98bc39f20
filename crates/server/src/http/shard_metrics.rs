//! Metrics of a shard, from known state: no index is opened.

use std::path::Path;

use colgrep_cluster::{Generation, HostedRepository, ShardLoad};
use colgrep_index::disk::free_bytes;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::metrics::resident_bytes;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RepositoryLabel {
    repository: String,
}

/// The state of all indexes.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct GenerationLabel {
    generation: String,
}

/// A metric of each repository: name, help, value.
type RepositoryMetric = (&'static str, &'static str, fn(&HostedRepository) -> i64);

const REPOSITORY_METRICS: [RepositoryMetric; 5] = [
    ("index_files", "Files in the index", |one| one.snapshot.files.indexed().count() as i64),
    ("index_units", "Units in the index", |one| one.snapshot.files.units() as i64),
    ("index_complete", "1 where the index knows all files as they are", |one| {
        i64::from(one.snapshot.files.complete && one.known_files.is_none())
    }),
    ("index_no_room", "1 where the index can't be updated for want of room on the disk", |one| one.has_no_room.into()),
    ("index_written_timestamp_seconds", "When the index was written, in seconds since 1970", |one| {
        (one.snapshot.written_ms() / 1_000) as i64
    }),
];

/// The metrics as text. `unserved` and `not_updated` are numbers of repositories, `data` is the folder of the indexes.
///
/// # Errors
/// Never, in practice: text is written to memory.
pub fn text(
    generation: Option<&Generation>,
    (unserved, not_updated): (usize, usize),
    load: &ShardLoad,
    data: Option<&Path>,
) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::with_prefix("colgrep");
    let mut set = |name: &str, help: &str, value: i64| {
        let gauge = Gauge::<i64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    };
    set("ready", "1 once all indexes were opened", generation.is_some().into());
    set("shard_connections", "Connections of coordinators", load.connections as i64);
    set("shard_sessions", "Searches that are under way", load.sessions as i64);
    set("repositories_unserved", "Repositories that can't be served", unserved as i64);
    set("repositories_not_updated", "Repositories whose last update failed, by the list of them", not_updated as i64);
    set("resident_memory_bytes", "Memory of the process", resident_bytes().unwrap_or_default());
    if let Some(free) = data.and_then(free_bytes).and_then(|free| i64::try_from(free).ok()) {
        set("disk_free_bytes", "Free bytes on the disk of the indexes", free);
    }
    if let Some(generation) = generation {
        let info = Family::<GenerationLabel, Gauge>::default();
        let generation_of = GenerationLabel { generation: format!("{:016x}", generation.fingerprint) };
        info.get_or_create(&generation_of).set(1);
        registry.register("generation_info", "The state of all indexes", info);
        for (name, help, value) in REPOSITORY_METRICS {
            let family = Family::<RepositoryLabel, Gauge>::default();
            for one in &generation.repositories {
                family.get_or_create(&RepositoryLabel { repository: one.name.clone() }).set(value(one));
            }
            registry.register(name, help, family);
        }
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}
