//! The processes of a cluster, each with its own copy of the repositories and indexes of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::json;

use super::asking::{AskedOutcome, ExpectedHits, ask, hits, until};
use crate::serve::HttpClient;
use crate::speed::process::Program;
use crate::torture::TortureArgs;
use crate::torture::subject::files_below;

/// Number of shards, and of replicas of each.
pub const SHARDS: usize = 2;
pub const REPLICAS: usize = 2;
/// Repositories of each shard, and files of a repository.
const REPOSITORIES: usize = 2;
const FILES: usize = 6;
/// How long a coordinator, or a shard, takes to notice a change.
pub const NOTICED: Duration = Duration::from_millis(2_500);
/// Bytes that a process may write into a file once its disk is full.
const FULL_BYTES: &str = "1024";

const VERBS: [&str; 6] = ["parse", "evict", "push", "verify", "delay", "close"];
const WORDS: [&str; 6] = ["request", "cache", "queue", "token", "retry", "socket"];

/// A replica of a shard.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaPlace {
    /// The shard's number, from 0.
    pub shard: usize,
    /// The replica's, from 0.
    pub replica: usize,
}

/// A process that listens on loopback. It ends when it is dropped.
pub struct ClusterProcess {
    program: Program,
    args: Vec<String>,
    /// Where it listens, once it did.
    pub address: String,
    child: Option<Child>,
}

impl ClusterProcess {
    fn new(program: Program, args: Vec<String>) -> ClusterProcess {
        ClusterProcess { program, args, address: "127.0.0.1:0".into(), child: None }
    }

    /// Starts it where it listened before, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(&mut self) -> Result<()> {
        self.kill();
        let args: Vec<&str> = self.args.iter().map(String::as_str).chain(["--listen", &self.address]).collect();
        let mut command = self.program.command(&args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut out = BufReader::new(child.stdout.take().context("an output")?);
        self.child = Some(child);
        let mut line = String::new();
        out.read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/');
        ensure!(!address.is_empty(), "{:?} does not start", self.args);
        self.address = address.to_string();
        until("ready", || self.get("/readyz").is_some_and(|(status, _)| status == 200))?;
        Ok(())
    }

    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When it does not run.
    pub fn signal(&self, name: &str) -> Result<()> {
        self.told("kill", &["-s", name])
    }

    /// Runs a command whose last argument is the number of the process.
    fn told(&self, command: &str, args: &[&str]) -> Result<()> {
        let id = self.child.as_ref().context("a process")?.id().to_string();
        let status = Command::new(command).args(args).arg(&id).status()?;
        ensure!(status.success(), "{command} {args:?}: {status}");
        Ok(())
    }

    fn get(&self, path: &str) -> Option<(u16, String)> {
        HttpClient::new(&self.address).get(path).ok()
    }
}

impl Drop for ClusterProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

pub struct TestCluster {
    folder: tempfile::TempDir,
    replicas: Vec<Vec<ClusterProcess>>,
    /// A shard of its own, to which a repository can move.
    spare: ClusterProcess,
    /// What searches go to.
    pub coordinator: ClusterProcess,
    /// The answers of the cluster that is well.
    pub expected: Arc<ExpectedHits>,
}

/// The names of a shard's repositories.
fn names(shard: usize) -> impl Iterator<Item = String> {
    (0..REPOSITORIES).map(move |at| format!("r{shard}{at}"))
}

/// Writes a repository.
fn write(folder: &Path, name: &str) -> Result<()> {
    let root = folder.join(name);
    fs::create_dir_all(root.join(".git"))?;
    fs::create_dir_all(root.join("src"))?;
    for at in 0..FILES {
        let (verb, word, other) = (VERBS[at], WORDS[(at * 3 + name.len()) % 6], VERBS[(at + 2) % 6]);
        let text = format!(
            "def {verb}_{word}_{name}(limit):\n    \"\"\"Lets {name} {verb} the {word}.\"\"\"\n    return {other}(limit)\n\n\n\
             def {other}_{word}_{at}(value):\n    return {verb}_{word}_{name}(value)\n"
        );
        fs::write(root.join(format!("src/{name}_{at}.py")), text)?;
    }
    Ok(())
}

/// Writes a file that is never seen half-written.
fn replace(path: &Path, text: &str) -> Result<()> {
    let next = path.with_extension("next");
    fs::write(&next, text)?;
    Ok(fs::rename(next, path)?)
}

impl TestCluster {
    /// Starts all processes, and asks all queries.
    ///
    /// # Errors
    /// When a process does not start, or answers differ.
    pub fn start(args: &TortureArgs) -> Result<TestCluster> {
        let folder = tempfile::tempdir()?;
        let program = Program::colgrep(args.colgrep.as_deref())?;
        let shard = |name: &str, repositories: &[String]| -> Result<ClusterProcess> {
            let own = folder.path().join(name);
            repositories.iter().try_for_each(|name| write(&own.join("src"), name))?;
            fs::write(own.join("list"), list(&own, repositories))?;
            let list = own.join("list").display().to_string();
            let args = ["serve", "--shard", "--index-mode", "keyword", "--quiet", "--repositories", &list];
            let mut node = ClusterProcess::new(program.with_data(&own.join("data")), args.map(str::to_string).to_vec());
            node.start()?;
            Ok(node)
        };
        let mut replicas = Vec::new();
        for at in 0..SHARDS {
            let own: Vec<String> = names(at).collect();
            let started = (0..REPLICAS).map(|replica| shard(&format!("s{at}-{replica}"), &own));
            replicas.push(started.collect::<Result<Vec<ClusterProcess>>>()?);
        }
        let spare = shard("spare", &names(0).take(1).collect::<Vec<_>>())?;
        let file = folder.path().join("shards.json").display().to_string();
        let over = ["serve", "--index-mode", "keyword", "--quiet", "--shards", &file];
        let data = folder.path().join("coordinator");
        let coordinator = ClusterProcess::new(program.with_data(&data), over.map(str::to_string).to_vec());
        let mut fleet = TestCluster { folder, replicas, spare, coordinator, expected: Arc::default() };
        fleet.name_shards(false)?;
        fleet.coordinator.start()?;
        until("all replicas answer", || fleet.all_answer())?;
        let mut expected = ExpectedHits::new();
        for query in VERBS.iter().zip(WORDS).map(|(verb, word)| format!("{verb} the {word}")) {
            let (found, lacks) = hits(&fleet.coordinator.address, &query)?;
            ensure!(
                lacks.is_empty() && found.as_array().is_some_and(|found| !found.is_empty()),
                "{query}: {found} {lacks}"
            );
            expected.insert(query, found);
        }
        fleet.expected = Arc::new(expected);
        Ok(fleet)
    }

    pub fn replica(&mut self, place: ReplicaPlace) -> &mut ClusterProcess {
        &mut self.replicas[place.shard][place.replica]
    }

    fn own(&self, place: ReplicaPlace) -> PathBuf {
        self.folder.path().join(format!("s{}-{}", place.shard, place.replica))
    }

    /// Writes the file that names the shards.
    fn name_shards(&self, with_spare: bool) -> Result<()> {
        let addresses = |nodes: &Vec<ClusterProcess>| nodes.iter().map(|node| node.address.clone()).collect::<Vec<_>>();
        let mut shards: Vec<Vec<String>> = self.replicas.iter().map(addresses).collect();
        shards.extend(with_spare.then(|| vec![self.spare.address.clone()]));
        replace(&self.folder.path().join("shards.json"), &json!({ "shards": shards }).to_string())
    }

    /// A metric of the coordinator, without its prefix.
    fn metric(&self, name: &str) -> Option<u64> {
        let text = self.coordinator.get("/metrics")?.1;
        text.lines().find_map(|line| line.strip_prefix(&format!("colgrep_{name} "))?.parse().ok())
    }

    /// Whether `/readyz` of the coordinator says a text, and a metric counts something.
    pub fn tells(&self, text: &str, metric: &str) -> bool {
        let is_told = self.coordinator.get("/readyz").is_some_and(|(_, told)| told.contains(text));
        is_told && self.metric(metric).is_some_and(|count| count > 0)
    }

    /// Whether the coordinator saw every replica answer.
    pub fn all_answer(&self) -> bool {
        let Some((_, text)) = self.coordinator.get("/metrics") else { return false };
        let up = text.lines().filter(|line| line.starts_with("colgrep_replica_up{") && line.ends_with(" 1"));
        up.count() == SHARDS * REPLICAS
    }

    /// Whether every query has the answer of a cluster that is well.
    pub fn is_whole(&self) -> bool {
        let whole = |query: &String| ask(&self.coordinator.address, query, &self.expected) == AskedOutcome::Whole;
        self.expected.keys().all(whole)
    }

    /// Flips a bit of a file of a replica's index.
    ///
    /// # Errors
    /// When there is no file.
    pub fn damage(&self, place: ReplicaPlace, random: &mut StdRng) -> Result<()> {
        let files = files_below(&self.own(place).join("data"), 1)?;
        let file = files.choose(random).context("a file of an index")?;
        let at = random.random_range(0..fs::metadata(file)?.len());
        let mut file = fs::File::options().read(true).write(true).open(file)?;
        let mut byte = [0];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut byte)?;
        file.seek(SeekFrom::Start(at))?;
        Ok(file.write_all(&[byte[0] ^ (1 << random.random_range(0..8))])?)
    }

    /// Takes a replica's room to write, with something to write; or gives it back.
    ///
    /// # Errors
    /// When there is no `prlimit`.
    pub fn fill(&mut self, place: ReplicaPlace, is_full: bool) -> Result<()> {
        let file = self.own(place).join("src").join(format!("r{}0/src/large.py", place.shard));
        let node = self.replica(place);
        if is_full {
            node.told("prlimit", &[&format!("--fsize={FULL_BYTES}:unlimited"), "--pid"])?;
            let rows = (0..600).map(|at| format!("def zebra_{at}(stripe):\n    return stripe + {at}\n\n\n"));
            Ok(fs::write(file, rows.collect::<String>())?)
        } else {
            fs::remove_file(file)?;
            // An update that has read the file would otherwise find room, and its index be served until the next look.
            std::thread::sleep(NOTICED);
            node.told("prlimit", &["--fsize=unlimited:unlimited", "--pid"])
        }
    }

    /// Writes into the lists of a shard's replicas that no repository could be updated; or that all could.
    ///
    /// # Errors
    /// When a list can't be written.
    pub fn lose_bucket(&self, shard: usize, is_lost: bool) -> Result<()> {
        let own: Vec<String> = names(shard).collect();
        let failed: String = own.iter().map(|name| format!("#! {name}: the bucket does not answer\n")).collect();
        (0..REPLICAS).try_for_each(|replica| {
            let folder = self.own(ReplicaPlace { shard, replica });
            let failed = if is_lost { &*failed } else { "" };
            replace(&folder.join("list"), &format!("{}{failed}", list(&folder, &own)))
        })
    }

    /// Moves a repository to the spare shard and back: new first, then old.
    ///
    /// # Errors
    /// When it does not arrive.
    pub fn move_repository(&self) -> Result<()> {
        let is_repeated = |fleet: &TestCluster, count| fleet.metric("repositories_repeated") == Some(count);
        let lists = |fleet: &TestCluster, skipped: usize| -> Result<()> {
            let own: Vec<String> = names(0).skip(skipped).collect();
            (0..REPLICAS).try_for_each(|replica| {
                let own_folder = fleet.own(ReplicaPlace { shard: 0, replica });
                replace(&own_folder.join("list"), &list(&own_folder, &own))
            })
        };
        self.name_shards(true)?;
        until("in both shards", || is_repeated(self, 1))?;
        lists(self, 1)?;
        until("in the new shard alone", || is_repeated(self, 0))?;
        lists(self, 0)?;
        until("in both shards again", || is_repeated(self, 1))?;
        // Both replicas follow within a look.
        std::thread::sleep(NOTICED);
        self.name_shards(false)?;
        until("back", || is_repeated(self, 0))?;
        Ok(())
    }
}

/// The list of a shard's repositories below its folder.
fn list(own: &Path, names: &[String]) -> String {
    names.iter().map(|name| format!("{name}={}\n", own.join("src").join(name).display())).collect()
}
