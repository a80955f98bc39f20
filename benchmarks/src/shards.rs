//! `shards`: checks that a corpus in several indexes answers like one index, to the bit: path, line, bits of score and
//! strength, units and what was left out.
//!
//! Questions are drawn from the corpus and asked of every number of shards, by words and hybrid, with a filter and
//! without, before and after files are edited, removed and added.

pub(crate) mod wire;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use colgrep_core::Unit;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::token::words;
use colgrep_encoder::{EMBEDDED_CODEBOOK, Encoder, ModelSpec, RuntimeEnv};
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{UnitFilter, UnitPlace};
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::{Encoding, Updater};
use colgrep_index::vector::{Codebook, Memory};
use colgrep_search::{Corpus, CorpusAnswer, Layout, LocalShard, Request, Semantic, Shard, search};
use xxhash_rust::xxh3::xxh3_64;

use crate::{FINE, REGRESSION};

/// Numbers of shards that are compared with one.
const COUNTS: [usize; 4] = [1, 2, 6, 16];
/// Files of an answer.
const FILES: usize = 10;
/// Vectors that are remembered between searches, in bytes.
const MEMORY_BYTES: usize = 256 << 20;

#[derive(Clone, Debug, clap::Args)]
pub struct ShardsArgs {
    /// Folder with a folder of sources for each repository
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Questions
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub queries: usize,
    /// Only the first N repositories
    #[arg(long, value_name = "N")]
    pub repositories: Option<usize>,
    /// Folder for copies and indexes; removed at the end
    #[arg(long, value_name = "DIR")]
    pub work: PathBuf,
    /// By words alone, without vectors
    #[arg(long)]
    pub keyword_only: bool,
    /// Repositories with indexes of their own in six remote shards; counts the bytes sent
    #[arg(long)]
    pub wire: bool,
    /// With --wire: each question may see a third of the repositories, drawn anew, and is held against these alone
    #[arg(long, requires = "wire")]
    pub rights: bool,
}

/// The corpus in some number of indexes.
struct Sharded {
    roots: Vec<PathBuf>,
    snapshots: Vec<Snapshot>,
}

struct ModelWithCodebook {
    encoder: std::sync::Arc<dyn Encoder>,
    book: Codebook,
    memory: Memory,
}

impl Sharded {
    /// Lays out the repositories in `count` folders, as links where that is possible.
    fn lay_out(args: &ShardsArgs, names: &[String], count: usize) -> Result<Sharded> {
        let mut roots = Vec::new();
        for name in names {
            let shard = xxh3_64(name.as_bytes()) % count as u64;
            let root = args.work.join(format!("{count}-{shard}"));
            link(&args.repos.join(name), &root.join(name))?;
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        roots.sort();
        Ok(Sharded { roots, snapshots: Vec::new() })
    }

    fn update(&mut self, model: Option<&ModelWithCodebook>) -> Result<()> {
        self.snapshots.clear();
        for root in &self.roots {
            let encoding = model.map(|m| Encoding { codebook: Some(&m.book), ..Encoding::new(&*m.encoder) });
            let store = Store::new(root.with_extension("index"));
            self.snapshots.push(Updater::new(&store, root).encoding(encoding.as_ref()).run()?.0);
        }
        Ok(())
    }

    /// The answer to a question, as text.
    fn answer(&self, query: &str, knobs: &Knobs, semantic: Option<Semantic<'_>>, filters: &[Some3]) -> Result<String> {
        let filter = |at: usize| filters.get(at).map(|filter| filter as &dyn UnitFilter);
        let shards: Vec<LocalShard<'_>> = self
            .snapshots
            .iter()
            .enumerate()
            .map(|(at, snapshot)| LocalShard::new(snapshot, filter(at)).layout(Layout::Folders))
            .collect();
        let shards: Vec<&dyn Shard> = shards.iter().map(|shard| shard as &dyn Shard).collect();
        let request = Request { strength_min: 0.03, semantic, ..Request::new(query, knobs, FILES) };
        let paths = self.snapshots.first().map(|snapshot| &snapshot.path_facts);
        Ok(told(&search(&Corpus { shards: &shards, name: "", paths }, &request, None)?))
    }

    fn filters(&self) -> Vec<Some3> {
        self.snapshots.iter().map(Some3::of).collect()
    }
}

/// Allows about two thirds of the files, by their paths.
struct Some3(Vec<bool>);

impl Some3 {
    fn of(snapshot: &Snapshot) -> Some3 {
        let mut allowed = vec![false; snapshot.files.next_id as usize];
        for file in snapshot.files.indexed() {
            allowed[file.id.0 as usize] = !xxh3_64(file.path.as_bytes()).is_multiple_of(3);
        }
        Some3(allowed)
    }
}

impl UnitFilter for Some3 {
    fn allows_file(&self, file: FileId) -> bool {
        self.0.get(file.0 as usize).copied().unwrap_or_default()
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        !unit.first.is_multiple_of(11)
    }
}

/// All that an answer says, scores to the bit.
fn told(answer: &CorpusAnswer) -> String {
    let path = |file: usize| answer.files[file].whole_path();
    let mut told = format!("{} {}\n", answer.weak, answer.is_documentation);
    for hit in &answer.hits {
        let lines: Vec<u32> = hit.units.iter().map(|unit| unit.line).collect();
        told += &format!("{} {lines:?} {:x} {:x}\n", path(hit.file), hit.score.to_bits(), hit.strength.to_bits());
    }
    for unit in &answer.units {
        told += &format!("{} {} {:x}\n", path(unit.file), unit.line, unit.score.to_bits());
    }
    told
}

/// Links a folder's files into another, or copies them.
fn link(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            link(&entry.path(), &target)?;
        } else if kind.is_file() && fs::hard_link(entry.path(), &target).is_err() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Questions drawn from the units of an index, spread evenly.
fn draw(snapshot: &Snapshot, wanted: usize) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    snapshot.lexical.each_unit(None, |key, _, hash| keys.push((hash.value().rotate_left(17), key)));
    keys.sort_unstable();
    keys.dedup_by_key(|(hash, _)| *hash);
    let mut queries: Vec<String> = Vec::new();
    for (at, (_, key)) in keys.into_iter().enumerate() {
        if queries.len() == wanted {
            break;
        }
        let Some(query) = question(&snapshot.unit(key)?, at) else { continue };
        if !queries.contains(&query) {
            queries.push(query);
        }
    }
    Ok(queries)
}

/// A question that somebody could ask for a unit.
fn question(unit: &Unit, at: usize) -> Option<String> {
    let sentence = unit.docstring.split(['.', '\n']).map(str::trim).find(|said| words(said).count() >= 3);
    let said = || sentence.map(|said| said.split_whitespace().take(12).collect::<Vec<_>>().join(" "));
    let name = || Some(unit.name.clone()).filter(|name| name.len() > 2 && !name.contains('\n'));
    match at % 8 {
        0..=2 => said(),
        3 => name(),
        4 => Some(format!("{} {}", unit.parent.split('.').next_back()?, name()?)),
        5 => Some(unit.signature.chars().take(60).collect()).filter(|line: &String| words(line).count() > 1),
        6 => Some(format!("who calls {}", unit.calls.first()?)),
        _ => Some(format!("how does {} {}", name()?, unit.calls.first()?)),
    }
}

/// Edits, removes and adds files in every layout alike.
fn edit(sharded: &[Sharded], names: &[String]) -> Result<()> {
    for root in sharded.iter().flat_map(|one| &one.roots) {
        for (at, name) in names.iter().enumerate() {
            let folder = root.join(name);
            if !folder.is_dir() {
                continue;
            }
            if at % 13 == 5 {
                fs::remove_dir_all(&folder)?;
                continue;
            }
            let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
            files.retain(|path| path.is_file());
            files.sort();
            if let Some(file) = files.get(at % files.len().max(1)) {
                let mut text = fs::read(file)?;
                text.extend_from_slice(b"\n\nretry the socket when the session token is closed\n");
                // The link goes, not what it leads to.
                fs::remove_file(file)?;
                fs::write(file, text)?;
            }
            fs::write(
                folder.join("added.py"),
                "def parse_added_header(x):\n    \"\"\"Parse it.\"\"\"\n    return x\n",
            )?;
        }
    }
    Ok(())
}

/// Asks all questions of all layouts; prints how many answers are equal. Whether all are.
fn compare(sharded: &[Sharded], queries: &[String], model: Option<&ModelWithCodebook>, when: &str) -> Result<bool> {
    let knobs = Knobs::of(Profile::Default);
    let mut all_equal = true;
    let filters: Vec<Vec<Some3>> = sharded.iter().map(Sharded::filters).collect();
    let modes: &[bool] = if model.is_some() { &[false, true] } else { &[false] };
    for (is_hybrid, is_filtered) in modes.iter().flat_map(|mode| [(*mode, false), (*mode, true)]) {
        let mut equal = vec![0usize; sharded.len()];
        let mut seconds = vec![0.0; sharded.len()];
        let mut first_difference = None;
        for query in queries {
            let mut expected = None;
            for (at, one) in sharded.iter().enumerate() {
                let semantic = model
                    .filter(|_| is_hybrid)
                    .map(|m| Semantic { memory: Some(&m.memory), ..Semantic::new(&*m.encoder) });
                let started = Instant::now();
                let answer = one.answer(query, &knobs, semantic, if is_filtered { &filters[at] } else { &[] })?;
                seconds[at] += started.elapsed().as_secs_f64();
                let expected = expected.get_or_insert_with(|| answer.clone());
                equal[at] += usize::from(*expected == answer);
                if *expected != answer && first_difference.is_none() {
                    first_difference = Some((query.clone(), COUNTS[at]));
                }
            }
        }
        let mode = if is_hybrid { "hybrid" } else { "keyword" };
        let filtered = if is_filtered { "yes" } else { "no" };
        for (at, count) in COUNTS.iter().enumerate() {
            let ms = 1e3 * seconds[at] / queries.len().max(1) as f64;
            let row = format!("{count} | {} of {} | {ms:.1}", equal[at], queries.len());
            writeln!(std::io::stdout(), "| {when} | {mode} | {filtered} | {row} |")?;
            all_equal &= equal[at] == queries.len();
        }
        if let Some((query, count)) = first_difference {
            eprintln!("the first difference: {query:?} in {count} shards");
        }
    }
    Ok(all_equal)
}

pub fn run(args: &ShardsArgs) -> Result<u8> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&args.repos).with_context(|| args.repos.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names.truncate(args.repositories.unwrap_or(usize::MAX));
    ensure!(!names.is_empty(), "{} has no repositories", args.repos.display());
    if args.work.exists() {
        bail!("{} exists; name a new folder", args.work.display());
    }
    fs::create_dir_all(&args.work)?;
    let done = if args.wire { wire::run(args, &names) } else { measure(args, &names) };
    fs::remove_dir_all(&args.work)?;
    done
}

fn measure(args: &ShardsArgs, names: &[String]) -> Result<u8> {
    let model = match args.keyword_only {
        true => None,
        false => Some(ModelWithCodebook {
            encoder: colgrep_encoder::open(&ModelSpec::Embedded, &RuntimeEnv::default())?,
            book: Codebook::from_bytes(EMBEDDED_CODEBOOK)?,
            memory: Memory::new(MEMORY_BYTES),
        }),
    };
    let mut sharded = Vec::new();
    for count in COUNTS {
        let mut one = Sharded::lay_out(args, names, count)?;
        one.update(model.as_ref())?;
        eprintln!("{count} shards in {} indexes", one.roots.len());
        sharded.push(one);
    }
    let queries = draw(&sharded[0].snapshots[0], args.queries)?;
    let units: u64 = sharded[0].snapshots.iter().map(|snapshot| snapshot.files.units()).sum();
    let mut out = std::io::stdout();
    writeln!(out, "{} repositories, {units} units, {} questions\n", names.len(), queries.len())?;
    writeln!(out, "| | mode | filter | shards | equal to one index | ms a search |\n|---|---|---|---|---|---|")?;
    let mut all_equal = compare(&sharded, &queries, model.as_ref(), "built")?;
    edit(&sharded, names)?;
    for one in &mut sharded {
        one.update(model.as_ref())?;
    }
    all_equal &= compare(&sharded, &queries, model.as_ref(), "edited")?;
    Ok(if all_equal { FINE } else { REGRESSION })
}
