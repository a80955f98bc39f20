//! `cluster`: shards with two replicas each and a coordinator, as plain processes on loopback, lose parts while they are
//! asked. No answer is lost or partial while each shard has a replica left, none is wrong, and what is lost is named.

mod asking;
mod fleet;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::{Tally, TortureArgs, case_seed, go_through};
use asking::{AskedOutcome, AskingClient, PAUSE, until};
use fleet::{NOTICED, ReplicaPlace, SHARDS, TestCluster};

/// How long a fault lasts, in milliseconds.
const FAULT_MS: std::ops::Range<u64> = 200..2_500;
/// What is written to whoever connects to a replica that was replaced by something else.
const NOISE: &[u8] = &[0x17, 0, 0, 0, 0xff, 0xfe, b'H', b'T', b'T', b'P', 0, 1, 2, 3, 0x80, 0x80, 0x80, 0x80];

type FaultCounts = BTreeMap<&'static str, u64>;

#[derive(Clone, Copy, Debug)]
enum ClusterFault {
    Killed(ReplicaPlace),
    /// A replica hangs: its connections stay open, and nothing comes.
    Silent(ReplicaPlace),
    /// Something else listens at a replica's address.
    Noise(ReplicaPlace),
    /// A replica is killed, and a file of its index is damaged.
    Damaged(ReplicaPlace),
    /// No replica of a shard has room to update its index: of one, the coordinator reads the other.
    Full(usize),
    /// The bucket of a shard's indexes is away: what updates its replicas says so in their lists.
    BucketLost(usize),
    /// All replicas of a shard are killed.
    ShardLost(usize),
    CoordinatorLost,
    /// A repository moves to another shard and back.
    Moved,
}

impl ClusterFault {
    /// Draws faults that happen at once: of several, each shard loses at most one replica.
    fn draw(random: &mut StdRng) -> Vec<ClusterFault> {
        let mut place = |shard| ReplicaPlace { shard, replica: random.random_range(0..fleet::REPLICAS) };
        let places: Vec<ReplicaPlace> = (0..SHARDS).map(&mut place).collect();
        let of_replica = |place: ReplicaPlace, random: &mut StdRng| {
            let kinds = [ClusterFault::Killed, ClusterFault::Silent, ClusterFault::Noise];
            kinds.choose(random).map(|kind| kind(place))
        };
        match random.random_range(0..11) {
            0 => vec![ClusterFault::ShardLost(random.random_range(0..SHARDS))],
            1 => vec![ClusterFault::CoordinatorLost],
            2 => vec![ClusterFault::Damaged(places[0])],
            3 => vec![ClusterFault::Full(places[0].shard)],
            4 => vec![ClusterFault::Moved],
            5 => vec![ClusterFault::BucketLost(places[0].shard)],
            6..9 => of_replica(places[random.random_range(0..SHARDS)], random).into_iter().collect(),
            _ => places.into_iter().filter_map(|place| of_replica(place, random)).collect(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            ClusterFault::Killed(_) => "replicas killed",
            ClusterFault::Silent(_) => "replicas silent",
            ClusterFault::Noise(_) => "replicas replaced by noise",
            ClusterFault::Damaged(_) => "indexes damaged",
            ClusterFault::Full(_) => "disks full",
            ClusterFault::BucketLost(_) => "buckets lost",
            ClusterFault::ShardLost(_) => "shards lost",
            ClusterFault::CoordinatorLost => "coordinators lost",
            ClusterFault::Moved => "repositories moved",
        }
    }

    /// Whether answers may be partial, if they say so.
    fn allows_partial(self) -> bool {
        use ClusterFault::{BucketLost, Damaged, Full, ShardLost};
        matches!(self, ShardLost(_) | Damaged(_) | Full(_) | BucketLost(_))
    }

    /// Whether requests may be without an answer.
    fn allows_lost(self) -> bool {
        matches!(self, ClusterFault::CoordinatorLost)
    }
}

/// Something that listens at an address and speaks another protocol, until it is dropped.
struct NoiseListener {
    is_over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl NoiseListener {
    fn at(address: &str) -> Result<NoiseListener> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let work = move || {
            while !over.load(Ordering::Acquire) {
                match listener.accept() {
                    // Whoever connected may be gone.
                    Ok((mut stream, _)) => drop(stream.write_all(NOISE)),
                    Err(_) => std::thread::sleep(PAUSE / 10),
                }
            }
        };
        Ok(NoiseListener { is_over, thread: Some(std::thread::spawn(work)) })
    }
}

impl Drop for NoiseListener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn at_most(counts: &mut FaultCounts, what: &'static str, time: Duration) {
    let longest = counts.entry(what).or_default();
    *longest = (*longest).max(time.as_millis() as u64);
}

/// Runs the kind. A case is one fault, or several at once, and the way back.
///
/// # Errors
/// When the processes can't be started.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    if !cfg!(target_os = "linux") {
        // Faults are made with `kill` and `prlimit`.
        return Ok(Vec::new());
    }
    let mut fleet = TestCluster::start(args)?;
    let tally = go_through(args, "cluster", (0..args.cases as u64).collect(), |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let faults = ClusterFault::draw(&mut random);
        faults.iter().for_each(|fault| *counts.entry(fault.name()).or_default() += 1);
        let asking = AskingClient::begin(&fleet.coordinator.address, &fleet.expected)?;
        let suffered = suffer(&mut fleet, &faults, &mut random, counts);
        let outcomes = asking.end();
        let told = |text: String| format!("case {case}, {faults:?}: {text}");
        let mut failures: Vec<(&'static str, String)> =
            suffered.err().map(|error| ("stuck", told(format!("{error:#}")))).into_iter().collect();
        for outcome in outcomes {
            let (kind, count, text) = match outcome {
                AskedOutcome::Whole => ("", "answers", String::new()),
                AskedOutcome::Partial(text) => ("partial answer", "partial answers", text),
                AskedOutcome::Lost(text) => ("lost answer", "requests without an answer", text),
                AskedOutcome::Wrong(text) => ("wrong answer", "wrong answers", text),
            };
            *counts.entry(count).or_default() += 1;
            let is_allowed = match count {
                "answers" => true,
                "partial answers" => faults.iter().any(|fault| fault.allows_partial()),
                "requests without an answer" => faults.iter().any(|fault| fault.allows_lost()),
                _ => false,
            };
            if !is_allowed {
                failures.push((kind, told(text)));
            }
        }
        if failures.iter().any(|(kind, _)| *kind == "stuck") {
            // The next case begins with processes that are well.
            match TestCluster::start(args) {
                Ok(next) => fleet = next,
                Err(error) => failures.push(("stuck", told(format!("no new processes: {error:#}")))),
            }
        }
        Ok(failures)
    })?;
    Ok(vec![tally])
}

/// Makes faults, and undoes them.
fn suffer(
    fleet: &mut TestCluster,
    faults: &[ClusterFault],
    random: &mut StdRng,
    counts: &mut FaultCounts,
) -> Result<()> {
    let mut noise = Vec::new();
    for fault in faults {
        match *fault {
            ClusterFault::Killed(place) => fleet.replica(place).kill(),
            ClusterFault::Silent(place) => fleet.replica(place).signal("STOP")?,
            ClusterFault::Noise(place) => {
                fleet.replica(place).kill();
                noise.push(NoiseListener::at(&fleet.replica(place).address)?);
            }
            ClusterFault::Damaged(place) => {
                // What is damaged while it is open can't be told from what was read.
                fleet.replica(place).kill();
                fleet.damage(place, random)?;
            }
            ClusterFault::Full(shard) => {
                (0..fleet::REPLICAS).try_for_each(|replica| fleet.fill(ReplicaPlace { shard, replica }, true))?;
                at_most(
                    counts,
                    "ms until a full disk is named at most",
                    until("named", || fleet.tells("no room", "repositories_no_room"))?,
                );
            }
            ClusterFault::BucketLost(shard) => {
                fleet.lose_bucket(shard, true)?;
                at_most(
                    counts,
                    "ms until a lost bucket is named at most",
                    until("named", || fleet.tells("could be updated", "repositories_not_updated"))?,
                );
            }
            ClusterFault::ShardLost(shard) => {
                (0..fleet::REPLICAS).for_each(|replica| fleet.replica(ReplicaPlace { shard, replica }).kill());
                at_most(
                    counts,
                    "ms until a lost shard is named at most",
                    until("named", || fleet.tells("shard", "shards_missing"))?,
                );
            }
            ClusterFault::CoordinatorLost => fleet.coordinator.kill(),
            ClusterFault::Moved => fleet.move_repository()?,
        }
    }
    std::thread::sleep(Duration::from_millis(random.random_range(FAULT_MS)));
    drop(noise);
    for fault in faults {
        match *fault {
            ClusterFault::Killed(place) | ClusterFault::Noise(place) | ClusterFault::Damaged(place) => {
                fleet.replica(place).start()?
            }
            ClusterFault::Silent(place) => fleet.replica(place).signal("CONT")?,
            ClusterFault::Full(shard) => {
                (0..fleet::REPLICAS).try_for_each(|replica| fleet.fill(ReplicaPlace { shard, replica }, false))?;
            }
            ClusterFault::BucketLost(shard) => fleet.lose_bucket(shard, false)?,
            ClusterFault::ShardLost(shard) => {
                (0..fleet::REPLICAS).try_for_each(|replica| fleet.replica(ReplicaPlace { shard, replica }).start())?;
            }
            ClusterFault::CoordinatorLost => fleet.coordinator.start()?,
            ClusterFault::Moved => {}
        }
    }
    let whole = until("whole answers", || fleet.is_whole()).context("after the fault")?;
    at_most(counts, "ms until answers are whole again at most", whole);
    // The next fault may take the other replica.
    std::thread::sleep(NOTICED);
    until("all replicas answer", || fleet.all_answer())?;
    Ok(())
}
