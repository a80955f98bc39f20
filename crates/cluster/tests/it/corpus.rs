//! A corpus of small repositories, served as shards on loopback, and asked here as one for comparison.

use colgrep_index::update::ReadFirst;
use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use colgrep_cluster::{
    AccessTokens, Catalog, Cluster, ClusterScope, Generation, HostedRepository, ReplicaTimeouts, ShardServer,
};
use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::summary::Audience;
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::open;
use colgrep_engine::session::corpus::{self, Parts, RankedTogether};
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery, Within};
use colgrep_engine::settings::Settings;
use colgrep_engine::{Detail, Env, OpenOptions, RankBy, Scope};
use tempfile::TempDir;

const WORDS: [&str; 16] = [
    "parse", "request", "socket", "retry", "cache", "token", "session", "header", "index", "vector", "shard", "merge",
    "score", "commit", "buffer", "worker",
];

fn word(seed: u64) -> &'static str {
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    WORDS[(mixed % 16).min((mixed >> 8) % 17) as usize % 16]
}

fn text(kind: &str, seed: u64) -> String {
    let mut text = String::new();
    for at in 0..1 + seed % 4 {
        let one = seed.wrapping_mul(131).wrapping_add(at * 7);
        let (a, b, c) = (word(one), word(one ^ 1), word(one ^ 2));
        let said: Vec<&str> = (0..3 + one % 6).map(|i| word(one.wrapping_mul(31) + i)).collect();
        let (said, n) = (said.join(" "), one % 900);
        let _ = match kind {
            "py" => writeln!(text, "def {a}_{b}(x):\n    \"\"\"{said}\"\"\"\n    return {c}(x, {n})\n"),
            "rs" => writeln!(text, "/// {said}\npub fn {a}_{b}(x: u32) -> u32 {{\n    {c}(x + {n})\n}}\n"),
            "js" => {
                writeln!(text, "// {said}\nfunction {a}Of{b}(x) {{\n  throw new Error(\"no {a} of {c} {n}\");\n}}\n")
            }
            _ => writeln!(text, "# {a} and {b}\n\n{said}. The {c} is {n}.\n"),
        };
    }
    text
}

/// Repositories with indexes.
pub struct Corpus {
    pub folder: TempDir,
    pub model: Model,
    pub repositories: Vec<HostedRepository>,
}

pub const NAMES: [&str; 7] = ["acme", "acme-web", "zeta", "lib.core", "tools", "docs", "web"];

/// A question that all repositories answer.
pub const QUERY: &str = "retry the socket when the session is closed";

/// Bytes as a frame of the protocol.
pub fn frame(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// The scope of a caller who may see every repository.
pub fn everything(scope: &Scope) -> ClusterScope<'_> {
    ClusterScope { allowed: None, scope }
}

fn write(root: &Path, at: u64) {
    for file in 0..5 + at % 4 {
        let seed = at << 16 | file;
        let kind = ["py", "rs", "js", "md"][(seed % 4) as usize];
        let folder = ["src/core", "lib/net", "tests/unit", "docs/guide", "src/vendor"][(seed % 5) as usize];
        let path = root.join(format!("{folder}/{}{file}.{kind}", word(seed ^ 13)));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        // Vendored texts are the same everywhere.
        fs::write(path, text(kind, if folder == "src/vendor" { file } else { seed })).expect("a file");
    }
}

impl Corpus {
    /// The repositories with these names.
    pub fn new(names: &[&str]) -> Corpus {
        let folder = tempfile::tempdir().expect("a folder");
        let model = Model::open(None, true, &Env::default()).expect("the model");
        let mut corpus = Corpus { folder, model, repositories: Vec::new() };
        for (at, name) in names.iter().enumerate() {
            write(&corpus.root(name), at as u64);
            let repository = corpus.opened(name);
            corpus.repositories.push(repository);
        }
        corpus
    }

    fn root(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("its path").join(name)
    }

    /// A repository with its index, brought up to date.
    pub fn opened(&self, name: &str) -> HostedRepository {
        let env = Env::default().data_in(self.folder.path().join(".index"));
        let mut options = OpenOptions::default();
        options.any_root = true;
        let (mut project, _) = Project::around(&self.root(name), &env).expect("a project");
        let settings = project.settings(&env).map(|_| Settings::read(&env, &self.root(name)).expect("settings"));
        let settings = settings.expect("settings");
        let opening = options.with(&settings);
        let opened = open(&opening, (&env, &project), Some(&self.model), &ReadFirst::default(), &());
        let (snapshot, _) = opened.expect("an index");
        HostedRepository::new(name.to_string(), project, Arc::new(snapshot), settings)
    }

    /// The repositories of one of `count` shards.
    pub fn part(&self, at: usize, count: usize) -> Vec<HostedRepository> {
        self.repositories.iter().skip(at).step_by(count).cloned().collect()
    }

    /// The answer of all repositories, or of those that are named, as one corpus of this process.
    pub fn here(&self, names: Option<&[String]>, scope: &Scope, query: &str, hybrid: bool) -> String {
        let is_wanted = |one: &&HostedRepository| names.is_none_or(|names| names.contains(&one.name));
        let place = |one: &HostedRepository| {
            let HostedRepository { project, snapshot, settings, .. } = one;
            ProjectSearcher::new(
                project.clone(),
                Arc::clone(snapshot),
                Within::everything(),
                scope,
                false,
                settings,
                &|| false,
            )
            .expect("a place")
        };
        let places: Vec<ProjectSearcher> = self.repositories.iter().filter(is_wanted).map(place).collect();
        if places.is_empty() {
            return String::new();
        }
        asked(self, query, hybrid, |asked| {
            let ranked = corpus::rank(&places.iter().collect::<Vec<_>>(), asked, &()).expect("a ranking");
            told(&ranked, &places)
        })
    }
}

/// Asks with knobs that cut early, so that cuts matter.
pub fn asked<T>(corpus: &Corpus, query: &str, hybrid: bool, ask: impl FnOnce(&RankQuery<'_>) -> T) -> T {
    let mut knobs = Knobs::of(Profile::Default);
    knobs.set(Knob::PoolUnits, "40").expect("a value");
    knobs.set(Knob::PoolNamedFiles, "8").expect("a value");
    let model = hybrid.then_some(&corpus.model);
    let by = if hybrid { RankBy::Both } else { RankBy::Words };
    ask(&RankQuery {
        model,
        by,
        units_per_file: PerFile::Units(2),
        strength_min: 0.01,
        explain: true,
        ..RankQuery::new(query, &knobs, 12)
    })
}

/// All parts of an answer: paths, units, lines, marks, bits of scores and strengths, steps of scores, final remarks.
pub fn told(ranked: &RankedTogether, parts: &dyn Parts) -> String {
    let files = ranked.files(parts, 0..ranked.len(), Detail::Relations).expect("files");
    let mut told = String::new();
    for file in &files {
        told += &of_file(file);
    }
    if !ranked.ranked.is_empty() {
        for is_weak in [false, true] {
            let mut end = parts.end(ranked, is_weak, Audience::Client).expect("the remarks");
            end.is_elsewhere = false;
            told += &format!("{end:?}\n");
        }
    }
    told
}

fn of_file(file: &FileAnswer) -> String {
    let name = file.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let FileAnswer { path, score, strength, also_here, language, .. } = file;
    let mut told = format!("{name}/{path} {language} {:x} {:x} +{also_here}", score.to_bits(), strength.to_bits());
    told += &format!(" {:?} {:?}\n", file.matched_lines, file.imports);
    for unit in &file.units {
        let first = unit.unit.span.line as usize;
        let text = file.text.lines().nth(first - 1).unwrap_or_default();
        told += &format!("  {} {:x} {:?} {text:?} {:?}\n", unit.id, unit.score.to_bits(), unit.line, unit.steps);
        told += &format!("  {:?} {:?} {} {}\n", unit.unit, unit.called_by, unit.name_line, unit.last_line);
    }
    told
}

/// The generation that a server in a test serves.
#[derive(Default)]
pub struct Shelf {
    pub now: Mutex<Option<Arc<Generation>>>,
    /// Repositories that can't be served, with the reasons.
    pub missing: Mutex<Vec<(String, String)>>,
    /// Damage that was reported.
    pub damaged: Mutex<Vec<String>>,
    /// How often a panic is still met outside the indexes, and those that were reported.
    pub panics: AtomicUsize,
    pub broken: Mutex<Vec<String>>,
}

impl Catalog for Shelf {
    fn now(&self) -> Option<Arc<Generation>> {
        self.now.lock().expect("unbroken").clone()
    }

    fn damaged(&self, error: colgrep_index::Error) {
        self.damaged.lock().expect("unbroken").push(error.full());
    }

    fn broke(&self, panic: &colgrep_index::Error) {
        self.broken.lock().expect("unbroken").push(panic.full());
    }

    fn missing(&self) -> Vec<(String, String)> {
        let one_less = |left: usize| left.checked_sub(1);
        let is_met = self.panics.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less).is_ok();
        assert!(!is_met, "outside the indexes");
        self.missing.lock().expect("unbroken").clone()
    }
}

/// A server on loopback, which ends when it is dropped.
pub struct Serving {
    pub address: SocketAddr,
    pub shelf: Arc<Shelf>,
    server: Arc<ShardServer>,
}

impl Serving {
    pub fn new(repositories: Vec<HostedRepository>, token: Option<&str>) -> Serving {
        Serving::at("127.0.0.1:0", repositories, token)
    }

    pub fn at(address: &str, repositories: Vec<HostedRepository>, token: Option<&str>) -> Serving {
        let shelf = Arc::new(Shelf::default());
        *shelf.now.lock().expect("unbroken") = Some(Arc::new(Generation::new(repositories)));
        let server = ShardServer::new(Arc::<Shelf>::clone(&shelf), tokens(token));
        let listener = TcpListener::bind(address).expect("a listener");
        let address = listener.local_addr().expect("its address");
        let own = Arc::clone(&server);
        std::thread::spawn(move || own.serve(&listener));
        Serving { address, shelf, server }
    }

    pub fn name(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.server.end(self.address);
    }
}

fn tokens(token: Option<&str>) -> Option<Arc<AccessTokens>> {
    token.map(|token| AccessTokens::new(token, "the test", |_, _| Ok(())).expect("a token"))
}

/// Writes the file that names shards, and opens it.
pub fn cluster(folder: &Path, shards: &[Vec<String>], token: Option<&str>, patience: ReplicaTimeouts) -> Cluster {
    let file = folder.join("shards.json");
    name(&file, shards);
    Cluster::new(&file, tokens(token), 2, patience).expect("shards")
}

/// Writes the file that names shards.
pub fn name(file: &Path, shards: &[Vec<String>]) {
    let text = format!("{{\"shards\": {shards:?}}}");
    fs::write(file, text).expect("the file");
}

/// Patience that ends within a test.
pub fn hurried() -> ReplicaTimeouts {
    ReplicaTimeouts {
        connect: Duration::from_millis(400),
        first: Duration::from_millis(300),
        hedge: Duration::from_millis(100)..=Duration::from_millis(300),
        answer: Duration::from_millis(1_500),
    }
}

/// Answers of a cluster, in the form of [`Corpus::here`].
pub fn through(
    cluster: &Cluster,
    corpus: &Corpus,
    wanted: &colgrep_cluster::ClusterScope<'_>,
    query: &str,
    hybrid: bool,
) -> (String, colgrep_cluster::ShardCoverage) {
    asked(corpus, query, hybrid, |asked| {
        let (ranked, gathered) = cluster.rank(wanted, asked, &()).expect("an answer");
        (told(&ranked, &gathered), gathered.coverage().clone())
    })
}
