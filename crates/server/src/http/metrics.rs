//! Metrics in the text format of Prometheus and OpenMetrics.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use colgrep_cluster::{Cluster, ShardCoverage, ShardHealth};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::App;

/// The media type of the text.
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A route and the status of its answer.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AnsweredRoute {
    route: String,
    status: u16,
}

/// Why a request was refused.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalReason {
    code: &'static str,
}

/// A root.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Of {
    root: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReplicaLabel {
    shard: u64,
    replica: String,
}

/// A replica and the state of its indexes.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReplicaGeneration {
    shard: u64,
    replica: String,
    generation: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ShardLabel {
    shard: u64,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ShardRepository {
    shard: u64,
    repository: String,
}

/// What is known of shards, replicas and repositories, each with labels.
#[derive(Default)]
struct ClusterMetrics {
    up: Family<ReplicaLabel, Gauge>,
    generations: Family<ReplicaGeneration, Gauge>,
    hedges: Family<ShardLabel, Counter<u64, AtomicU64>>,
    written: Family<ShardRepository, Gauge>,
}

impl ClusterMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register("replica_up", "1 where the replica answers", self.up.clone());
        registry.register("replica_generation_info", "The state of the replica's indexes", self.generations.clone());
        registry.register(
            "hedges",
            "Questions that were put to a second replica, since the first one was slow",
            self.hedges.clone(),
        );
        registry.register(
            "index_written_timestamp_seconds",
            "When the repository's index was written, in seconds since 1970",
            self.written.clone(),
        );
    }

    /// Takes over the last look at the shards. What is not there any more has no metric.
    fn set(&self, cluster: &Cluster) {
        for (at, hedges) in cluster.hedges().into_iter().enumerate() {
            let shard = ShardLabel { shard: at as u64 + 1 };
            self.hedges.get_or_create(&shard).inner().store(hedges, Ordering::Relaxed);
        }
        self.up.clear();
        self.generations.clear();
        self.written.clear();
        let Some(seen) = cluster.last_health() else { return };
        for ShardHealth { shard, replicas, repositories } in &seen.shards {
            let shard = *shard as u64;
            for one in replicas {
                let replica = one.address.clone();
                if let Some(generation) = one.generation.clone() {
                    let of = ReplicaGeneration { shard, replica: replica.clone(), generation };
                    self.generations.get_or_create(&of).set(1);
                }
                self.up.get_or_create(&ReplicaLabel { shard, replica }).set(one.why.is_none().into());
            }
            for one in repositories.iter().filter(|one| one.missing.is_none()) {
                let of = ShardRepository { shard, repository: one.name.clone() };
                self.written.get_or_create(&of).set((one.written_ms / 1_000) as i64);
            }
        }
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Version {
    version: &'static str,
}

type Numbers = Family<Of, Gauge<i64, AtomicI64>>;

pub struct Metrics {
    registry: Registry,
    requests: Family<AnsweredRoute, Histogram>,
    refused: Family<RefusalReason, Counter<u64, AtomicU64>>,
    partial: Counter<u64, AtomicU64>,
    /// Requests that have no answer yet.
    in_flight: Gauge,
    working: Gauge,
    waiting: Gauge,
    unread: Gauge,
    connections: Gauge,
    memory: Gauge,
    files: Numbers,
    units: Numbers,
    complete: Numbers,
    stale: Numbers,
    unserved: Numbers,
    no_room: Numbers,
    shards: Gauge<i64, AtomicI64>,
    shards_missing: Gauge<i64, AtomicI64>,
    shards_unserved: Gauge<i64, AtomicI64>,
    shards_repeated: Gauge<i64, AtomicI64>,
    shards_no_room: Gauge<i64, AtomicI64>,
    shards_not_updated: Gauge<i64, AtomicI64>,
    cluster: ClusterMetrics,
}

/// A request that has no answer yet; counted until it is dropped.
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("colgrep");
        let requests = Family::<AnsweredRoute, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request's head to its answer, by route and status",
            Unit::Seconds,
            requests.clone(),
        );
        let refused = Family::default();
        registry.register("refused", "Requests that ended in a problem, by its code", refused.clone());
        let partial = Counter::default();
        registry.register("answers_partial", "Answers that lack shards or repositories, and say so", partial.clone());
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let in_flight = gauge("http_requests_in_flight", "Requests without an answer");
        let working = gauge("requests_at_work", "Requests that are worked on");
        let waiting = gauge("requests_waiting", "Requests that wait for their turn");
        let unread = gauge("unread_kib", "Answers that clients have not read yet");
        let connections = gauge("http_connections", "Connections");
        let memory = gauge("resident_memory_bytes", "Memory of the process");
        let mut numbers = |name: &str, help: &str| {
            let numbers = Numbers::default();
            registry.register(name, help, numbers.clone());
            numbers
        };
        let files = numbers("index_files", "Files in the index");
        let units = numbers("index_units", "Units in the index");
        let complete = numbers("index_complete", "1 where all files are indexed");
        let stale = numbers("index_stale", "1 where the next request looks for changes");
        let unserved = numbers("index_unserved", "1 where the repository can't be searched now");
        let no_room = numbers("index_no_room", "1 where the index can't be updated for want of room on the disk");
        let [shards, shards_missing, shards_unserved, shards_repeated, shards_no_room, shards_not_updated] = [
            ("shards", "Shards that are searched"),
            ("shards_missing", "Shards that do not answer"),
            ("repositories_unserved", "Repositories that shards which answer can't serve"),
            ("repositories_repeated", "Repositories that several shards serve; the newest index is searched"),
            ("repositories_no_room", "Repositories whose indexes can't be updated for want of room on the disk"),
            ("repositories_not_updated", "Repositories whose newest index could not be fetched"),
        ]
        .map(|(name, help)| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        });
        let cluster = ClusterMetrics::default();
        cluster.register(&mut registry);
        let build = Family::<Version, Gauge>::default();
        build.get_or_create(&Version { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version", build);
        Metrics {
            registry,
            requests,
            refused,
            partial,
            in_flight,
            working,
            waiting,
            unread,
            connections,
            memory,
            files,
            units,
            complete,
            stale,
            unserved,
            no_room,
            shards,
            shards_missing,
            shards_unserved,
            shards_repeated,
            shards_no_room,
            shards_not_updated,
            cluster,
        }
    }

    /// Counts a request until the guard is dropped.
    pub fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Counts an answer.
    pub fn answered(&self, route: &str, status: u16, took: Duration) {
        self.requests.get_or_create(&AnsweredRoute { route: route.into(), status }).observe(took.as_secs_f64());
    }

    /// Counts an answer if it leaves out shards or repositories.
    pub fn count_partial(&self, is_partial: bool) {
        self.partial.inc_by(is_partial.into());
    }

    /// Counts a problem.
    pub fn refused(&self, code: &'static str) {
        self.refused.get_or_create(&RefusalReason { code }).inc();
    }

    /// The metrics as text, from known state: no index is opened and no shard is asked.
    pub fn text(&self, app: &App) -> Result<String, std::fmt::Error> {
        let load = app.gate.load();
        self.working.set(load.working as i64);
        self.waiting.set(load.waiting as i64);
        self.unread.set(load.unread_kib as i64);
        self.connections.set(load.connections as i64);
        self.memory.set(resident_bytes().unwrap_or_default());
        for root in app.state.roots() {
            let of = Of { root: root.folder.display().to_string() };
            self.stale.get_or_create(&of).set(root.is_stale().into());
            self.unserved.get_or_create(&of).set(root.trouble().is_some().into());
            self.no_room.get_or_create(&of).set(root.has_no_room().into());
            let Some(snapshot) = root.opened() else { continue };
            let set = |numbers: &Numbers, number: u64| {
                numbers.get_or_create(&of).set(number.try_into().unwrap_or(i64::MAX));
            };
            set(&self.files, snapshot.files.indexed().count() as u64);
            set(&self.units, snapshot.files.units());
            set(&self.complete, snapshot.files.complete.into());
        }
        if let Some(shards) = app.state.shards() {
            // Before the first look none is known to answer.
            let (all, seen) = (shards.cluster.count(), shards.cluster.last_health());
            let missing = seen.as_ref().map_or(all, |seen| seen.coverage.missing.len());
            self.cluster.set(&shards.cluster);
            let count = |of: fn(&ShardCoverage) -> usize| seen.as_ref().map_or(0, |seen| of(&seen.coverage)) as i64;
            self.shards_unserved.set(count(|coverage| coverage.unserved.len()));
            self.shards_repeated.set(count(|coverage| coverage.repeated.len()));
            self.shards_no_room.set(count(|coverage| coverage.partial.iter().filter(|one| one.has_no_room).count()));
            let not_updated =
                |coverage: &ShardCoverage| coverage.partial.iter().filter(|one| one.is_not_fetched).count();
            self.shards_not_updated.set(count(not_updated));
            self.shards.set(all as i64);
            self.shards_missing.set(missing as i64);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Memory of this process; none where the system does not tell.
pub(super) fn resident_bytes() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<i64>().ok()? << 10)
}
