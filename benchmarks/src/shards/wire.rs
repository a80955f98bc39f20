//! `shards --wire`: compares repositories in remote shards, on loopback, with the same ones as one corpus of this
//! process: whether answers are equal, and how many bytes are sent. With rights, this process has only what the caller
//! of a question may see, so an equal answer shows that the others had no influence.

use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_cluster::{
    Catalog, Cluster, ClusterScope, Generation, HostedRepository, QuestionTraffic, ReplicaTimeouts, ShardServer,
};
use colgrep_core::knob::{Knobs, Profile};
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::update;
use colgrep_engine::session::corpus::{self, Parts, RankedTogether};
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery, Within};
use colgrep_engine::settings::Settings;
use colgrep_engine::{Detail, Env, RankBy, Scope};
use xxhash_rust::xxh3::xxh3_64;

use super::{ShardsArgs, draw, link};
use crate::{FINE, REGRESSION};

const SHARDS: usize = 6;
/// Files of an answer.
const FILES: usize = 10;
/// What the design allows: bytes a shard, and bytes a query besides.
const SHARD_BYTES_MAX: u64 = 15_000;
const QUERY_BYTES_MAX: u64 = 200_000;

/// Repositories that do not change.
pub(crate) struct FixedRepositories(Arc<Generation>);

impl FixedRepositories {
    pub(crate) fn new(repositories: Vec<HostedRepository>) -> Arc<FixedRepositories> {
        Arc::new(FixedRepositories(Arc::new(Generation::new(repositories))))
    }
}

impl Catalog for FixedRepositories {
    fn now(&self) -> Option<Arc<Generation>> {
        Some(Arc::clone(&self.0))
    }

    fn damaged(&self, error: colgrep_index::Error) {
        eprintln!("an index is damaged: {}", error.full());
    }

    fn broke(&self, panic: &colgrep_index::Error) {
        eprintln!("a connection ended by a panic: {}", panic.full());
    }
}

fn opened(args: &ShardsArgs, name: &str, model: Option<&Model>) -> Result<HostedRepository> {
    let root = args.work.join(name);
    link(&args.repos.join(name), &root)?;
    let env = Env::default().data_in(args.work.join(".index"));
    let (mut project, _) = Project::around(&root, &env)?;
    project.settings(&env)?;
    let settings = Settings::read(&env, &root)?;
    // A search would go without vectors that take long, on a machine at work more of them.
    let encoding = model.and_then(|model| model.encoding(None));
    let (snapshot, _) = update(&project, None, true, encoding.as_ref(), &())?;
    Ok(HostedRepository::new(name.to_string(), project, Arc::new(snapshot), settings))
}

/// Serves the repositories of each shard, by the hash of their names.
fn served(repositories: &[HostedRepository]) -> Result<Vec<(SocketAddr, Arc<ShardServer>)>> {
    let shard = |repository: &HostedRepository| (xxh3_64(repository.name.as_bytes()) % SHARDS as u64) as usize;
    let mut servers = Vec::new();
    for at in 0..SHARDS {
        let own: Vec<HostedRepository> = repositories.iter().filter(|one| shard(one) == at).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let server = ShardServer::new(FixedRepositories::new(own), None);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, running) = (listener.local_addr()?, Arc::clone(&server));
        std::thread::spawn(move || running.serve(&listener));
        servers.push((address, server));
    }
    Ok(servers)
}

/// All that an answer shows.
fn told(ranked: &RankedTogether, parts: &dyn Parts) -> Result<String> {
    let files = ranked.files(parts, 0..ranked.len(), Detail::Lines).map_err(|failed| failed.1)?;
    let mut told = String::new();
    for file in &files {
        let name = file.root.file_name().unwrap_or_default().to_string_lossy();
        told += &format!("{name}/{} {:x} {:x}\n", file.path, file.score.to_bits(), file.strength.to_bits());
        for unit in &file.units {
            told += &format!("  {} {:x} {:?}\n", unit.id, unit.score.to_bits(), unit.line);
        }
    }
    Ok(told)
}

/// Bytes and times of all questions of one kind.
#[derive(Default)]
struct Sums {
    equal: usize,
    here: f64,
    through: f64,
    /// Bytes of each query.
    queries: Vec<u64>,
    /// Bytes of each query in each shard.
    shards: Vec<u64>,
}

fn at(values: &mut [u64], share: f64) -> f64 {
    values.sort_unstable();
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share) as usize).map_or(0.0, |bytes| *bytes as f64 / 1e3)
}

pub fn run(args: &ShardsArgs, names: &[String]) -> Result<u8> {
    let model = if args.keyword_only { None } else { Some(Model::open(None, true, &Env::default())?.remembering()) };
    let repositories: Vec<HostedRepository> =
        names.iter().map(|name| opened(args, name, model.as_ref())).collect::<Result<_>>()?;
    let servers = served(&repositories)?;
    let file = args.work.join("shards.json");
    let addresses: Vec<Vec<String>> = servers.iter().map(|(address, _)| vec![address.to_string()]).collect();
    fs::write(&file, format!("{{\"shards\": {addresses:?}}}"))?;
    let cluster = Cluster::new(&file, None, 1, ReplicaTimeouts::default())?;
    let mut queries = Vec::new();
    for repository in &repositories {
        queries.extend(draw(&repository.snapshot, args.queries.div_ceil(repositories.len()))?);
    }
    queries.truncate(args.queries);
    let units: u64 = repositories.iter().map(|one| one.snapshot.files.units()).sum();
    let mut out = std::io::stdout();
    let shards = servers.len();
    writeln!(out, "{} repositories, {units} units, {shards} shards, {} questions\n", names.len(), queries.len())?;
    writeln!(
        out,
        "| mode | equal | ms here | ms through the wire | kB a query: half, 95 %, most | kB a shard: half, most |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    let bound = (SHARD_BYTES_MAX * shards as u64 + QUERY_BYTES_MAX) as f64 / 1e3;
    let (mut is_fine, mut kinds) = (true, Vec::new());
    for model in [None, model.as_ref()].into_iter().take(if model.is_some() { 2 } else { 1 }) {
        let before = cluster.traffic_by_kind();
        let mut sums = asked(&cluster, &repositories, &queries, model, args.rights).context("a search failed")?;
        let count = queries.len().max(1) as f64;
        let mode = if model.is_some() { "hybrid" } else { "keyword" };
        let most = at(&mut sums.queries, 1.0);
        writeln!(
            out,
            "| {mode} | {} of {} | {:.1} | {:.1} | {:.0}, {:.0}, {most:.0} | {:.1}, {:.1} |",
            sums.equal,
            queries.len(),
            1e3 * sums.here / count,
            1e3 * sums.through / count,
            at(&mut sums.queries, 0.5),
            at(&mut sums.queries, 0.95),
            at(&mut sums.shards, 0.5),
            at(&mut sums.shards, 1.0),
        )?;
        is_fine &= sums.equal == queries.len();
        let mut spent: Vec<(&str, QuestionTraffic)> = cluster.traffic_by_kind().into_iter().collect();
        for (kind, spent) in &mut spent {
            let old = before.get(kind).copied().unwrap_or_default();
            let QuestionTraffic { asked, sent, received } = *spent;
            *spent =
                QuestionTraffic { asked: asked - old.asked, sent: sent - old.sent, received: received - old.received };
        }
        spent.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.sent + spent.received));
        kinds.push((mode, spent));
        writeln!(out, "| | | | | bound {bound:.0}: {} | |", if most <= bound { "kept" } else { "broken" })?;
    }
    for (mode, kinds) in kinds {
        writeln!(out, "\n| {mode}: question | a query | kB sent | kB received |\n|---|---|---|---|")?;
        for (kind, spent) in kinds.iter().filter(|(_, spent)| spent.asked > 0) {
            let each = |n: u64| n as f64 / queries.len().max(1) as f64;
            let (sent, received) = (each(spent.sent) / 1e3, each(spent.received) / 1e3);
            writeln!(out, "| {kind} | {:.1} | {sent:.2} | {received:.2} |", each(spent.asked))?;
        }
    }
    servers.iter().for_each(|(address, server)| server.end(*address));
    Ok(if is_fine { FINE } else { REGRESSION })
}

fn asked(
    cluster: &Cluster,
    repositories: &[HostedRepository],
    queries: &[String],
    model: Option<&Model>,
    rights: bool,
) -> Result<Sums> {
    let scope = &Scope::default();
    let place = |one: &HostedRepository| {
        let (project, snapshot) = (one.project.clone(), Arc::clone(&one.snapshot));
        ProjectSearcher::new(project, snapshot, Within::everything(), scope, false, &one.settings, &|| false)
    };
    let knobs = Knobs::of(Profile::Default);
    let mut sums = Sums::default();
    for (number, query) in queries.iter().enumerate() {
        let may_see = |at: &usize| !rights || xxh3_64(format!("{number} {at}").as_bytes()).is_multiple_of(3);
        let seen: Vec<&HostedRepository> =
            (0..repositories.len()).filter(may_see).map(|at| &repositories[at]).collect();
        let allowed: Vec<String> = seen.iter().map(|one| one.name.clone()).collect();
        let places: Vec<ProjectSearcher> = seen.into_iter().map(place).collect::<Result<_, _>>()?;
        let wanted = ClusterScope { allowed: rights.then_some(&allowed), scope };
        let by = if model.is_some() { RankBy::Both } else { RankBy::Words };
        let asked = RankQuery { model, by, strength_min: 0.03, ..RankQuery::new(query, &knobs, FILES) };
        let before = cluster.traffic();
        let started = Instant::now();
        let (ranked, gathered) = cluster.rank(&wanted, &asked, &())?;
        let through = told(&ranked, &gathered)?;
        sums.through += started.elapsed().as_secs_f64();
        let bytes: Vec<u64> =
            cluster.traffic().iter().zip(&before).map(|(now, before)| now.0 + now.1 - before.0 - before.1).collect();
        sums.queries.push(bytes.iter().sum());
        sums.shards.extend(bytes);
        let started = Instant::now();
        let ranked = corpus::rank(&places.iter().collect::<Vec<_>>(), &asked, &())?;
        let here = told(&ranked, &places)?;
        sums.here += started.elapsed().as_secs_f64();
        if here == through {
            sums.equal += 1;
        } else if sums.queries.len() - sums.equal == 1 {
            eprintln!("the first difference: {query:?}\n{here}\n{through}");
        }
    }
    Ok(sums)
}
