//! `bombs`: sources that are dear to parse, mutated ones, and trees that are dear to walk. Time and memory stay bounded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_syntax::language::{self, LANGUAGES, Language};
use colgrep_syntax::parse::{PANICKED, parse};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::subject::link;
use super::{Tally, TortureArgs, case_seed, go_through};
use crate::process::{Ended, run as ended};
use crate::speed::process::Program;

/// Short texts that are expensive when repeated: a language and a text in a row.
const FOUND: &str = include_str!("bombs.tsv");
/// How large the repeated texts get, in bytes.
const SIZES: [usize; 3] = [30_000, 280_000, 1_000_000];
/// Most memory of a whole build, in bytes.
const MEMORY_MAX: u64 = 300 << 20;
/// Most that one file may take: seconds for all its workers on a busy machine, and bytes of its units.
const SECONDS_MAX: f64 = 30.0;
const UNIT_BYTES_MAX: usize = 64 << 20;
/// Mutated sources of one build.
const BATCH: usize = 250;
/// Longest mutated source, in bytes.
const SOURCE_BYTES_MAX: usize = 200_000;

pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    Ok(vec![repeated(args)?, mutated(args)?, trees(args)?])
}

/// A text repeated to a size.
pub(super) struct Bomb {
    language: &'static Language,
    text: String,
    bytes: usize,
}

impl Bomb {
    pub(super) fn all() -> Result<Vec<Bomb>> {
        let mut bombs = Vec::new();
        for row in FOUND.lines().filter(|row| !row.starts_with('#')) {
            let (name, text) = row.split_once('\t').context("a language and a text")?;
            let language = language::by_name(name).with_context(|| format!("no language {name}"))?;
            let text: String = serde_json::from_str(text)?;
            bombs.extend(SIZES.map(|bytes| Bomb { language, text: text.clone(), bytes }));
        }
        Ok(bombs)
    }
}

/// Each bomb of each language.
fn repeated(args: &TortureArgs) -> Result<Tally> {
    let mut worst: BTreeMap<&'static str, Worst> = BTreeMap::new();
    let mut tally = go_through(args, "bombs, repeated texts", Bomb::all()?, |bomb, counts| {
        let text = bomb.text.repeat(bomb.bytes / bomb.text.len());
        let began = Instant::now();
        let parsed = parse(&text, bomb.language);
        let seconds = began.elapsed().as_secs_f64();
        let bytes = parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + u.signature.len()).sum();
        let case = format!("{} {:?} to {} bytes", bomb.language.name, bomb.text, bomb.bytes);
        *counts.entry(if parsed.note.is_some() { "noted" } else { "parsed" }).or_default() += 1;
        let mut failures = Vec::new();
        if parsed.note.as_deref() == Some(PANICKED) {
            failures.push(("panic", case.clone()));
        }
        if seconds > SECONDS_MAX {
            failures.push(("time", format!("{case}: {seconds:.1} s")));
        }
        if bytes > UNIT_BYTES_MAX {
            failures.push(("memory", format!("{case}: {} MB", bytes >> 20)));
        }
        worst.entry(bomb.language.name).or_default().take(seconds, bytes, &bomb.text);
        Ok(failures)
    })?;
    let most = |of: fn(&Worst) -> f64| worst.values().map(of).fold(0.0, f64::max) as u64;
    *tally.counts.entry("ms at most").or_default() = most(|worst| worst.seconds * 1e3);
    *tally.counts.entry("MB of units at most").or_default() = most(|worst| worst.bytes as f64 / MEGABYTE);
    tally.details = by_language(&worst);
    Ok(tally)
}

const MEGABYTE: f64 = (1u64 << 20) as f64;

/// The most that the texts of a language took.
#[derive(Debug, Default)]
struct Worst {
    seconds: f64,
    bytes: usize,
    /// The text that took the longest.
    text: String,
}

impl Worst {
    fn take(&mut self, seconds: f64, bytes: usize, text: &str) {
        if seconds >= self.seconds {
            (self.seconds, self.text) = (seconds, text.to_string());
        }
        self.bytes = self.bytes.max(bytes);
    }
}

fn by_language(worst: &BTreeMap<&'static str, Worst>) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("\n| language | s | MB of units | slowest text |\n|---|---|---|---|\n");
    for (language, Worst { seconds, bytes, text: slowest }) in worst {
        let shown = format!("{slowest:?}").replace('|', "\\|");
        let _ = writeln!(text, "| {language} | {seconds:.2} | {:.0} | `{shown}` |", *bytes as f64 / MEGABYTE);
    }
    text
}

#[path = "../../../crates/syntax/tests/languages/mod.rs"]
mod of_languages;

/// The samples that the tests of the languages use: one a language, with the name of its file.
pub(super) fn samples() -> Vec<(String, Vec<u8>)> {
    let samples = of_languages::samples().into_iter().map(|[_, file, text, _]| (file, text.into_bytes()));
    samples.filter(|(file, _)| file.starts_with("sample")).collect()
}

/// Builds over folders of mutated sources.
fn mutated(args: &TortureArgs) -> Result<Tally> {
    let samples = samples();
    let bombs: Vec<Bomb> = Bomb::all()?;
    let folder = tempfile::tempdir()?;
    let builder = RepeatedBuild::new(args, folder.path())?;
    let mut most = 0;
    let batches = (0..args.cases.div_ceil(BATCH) as u64).collect();
    let mut tally = go_through(args, "bombs, 250 mutated sources a case", batches, |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        for number in 0..BATCH.min(args.cases) {
            let Some((name, sample)) = samples.choose(&mut random) else { break };
            let mut bytes = sample.clone();
            for _ in 0..random.random_range(1..6) {
                mutate(&mut bytes, &samples, &bombs, &mut random);
            }
            bytes.truncate(SOURCE_BYTES_MAX);
            // As the sample, with its number before the first dot.
            fs::write(builder.root.join(name.replacen("sample", &format!("s{number}"), 1)), bytes)?;
            *counts.entry("sources").or_default() += 1;
        }
        let ended = builder.build()?;
        most = most.max(ended.memory);
        let case = format!("case {case}");
        let mut failures = builder.failures(&ended, &case);
        failures.extend(builder.panics(&case)?);
        Ok(failures)
    })?;
    *tally.counts.entry("MB at most").or_default() = most >> 20;
    Ok(tally)
}

/// Changes bytes of a source in a way drawn by chance.
pub(super) fn mutate(bytes: &mut Vec<u8>, samples: &[(String, Vec<u8>)], bombs: &[Bomb], random: &mut StdRng) {
    let (a, b) = (random.random_range(0..=bytes.len()), random.random_range(0..=bytes.len()));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 400));
    match random.random_range(0..9) {
        0 => bytes.truncate(from),
        1 => drop(bytes.drain(from..to)),
        2 => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte = random.random_range(0..=255)),
        3 => drop(bytes.splice(from..to, (from..to).map(|_| random.random_range(0..=255)).collect::<Vec<u8>>())),
        4 => {
            let part = bytes[from..to].repeat(random.random_range(2..60));
            drop(bytes.splice(to..to, part));
        }
        5 => {
            let open = *[b"(".as_slice(), b"[", b"{", b"<", b"/*", b"\"", b"if ", b"a.", b"\n\t"]
                .choose(random)
                .unwrap_or(&b"(".as_slice());
            drop(bytes.splice(from..from, open.repeat(random.random_range(2..4_000))));
        }
        6 => {
            let Some((_, other)) = samples.choose(random) else { return };
            drop(bytes.splice(from..to, other.iter().copied().take(2_000)));
        }
        7 => {
            let Some(bomb) = bombs.choose(random) else { return };
            drop(bytes.splice(from..from, bomb.text.repeat(random.random_range(2..3_000)).into_bytes()));
        }
        _ => {
            let odd = ["\u{feff}", "\u{0}", "\u{202e}", "\r", "\u{2028}", "\u{1F469}\u{200D}\u{1F4BB}", "é\u{301}"];
            drop(
                bytes.splice(
                    from..from,
                    odd.choose(random).unwrap_or(&"").repeat(random.random_range(1..50)).into_bytes(),
                ),
            );
        }
    }
}

/// Builds an index of one folder again and again.
struct RepeatedBuild {
    program: Program,
    root: PathBuf,
}

impl RepeatedBuild {
    fn new(args: &TortureArgs, folder: &Path) -> Result<RepeatedBuild> {
        let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&folder.join("data"));
        let root = folder.join("project");
        fs::create_dir_all(&root)?;
        Ok(RepeatedBuild { program, root })
    }

    fn build(&self) -> Result<Ended> {
        ended(self.program.command(&["init", "--quiet", "-y", "--index-mode", "keyword"]).arg(&self.root))
    }

    /// What `doctor` reports of files whose parser panicked: a build continues without their definitions.
    fn panics(&self, case: &str) -> Result<Option<(&'static str, String)>> {
        let doctor = ended(self.program.command(&["doctor"]).arg(&self.root))?;
        let told = doctor.out.lines().chain(doctor.err.lines()).find(|line| line.contains(PANICKED));
        Ok(told.map(|line| ("panic", format!("{case}: {line}"))))
    }

    fn failures(&self, ended: &Ended, case: &str) -> Vec<(&'static str, String)> {
        let mut failures: Vec<_> = ended.wrong().into_iter().collect();
        if ended.code() == Some(2) {
            failures.push(("not built", ended.err.clone()));
        }
        if ended.memory > MEMORY_MAX {
            failures.push(("memory", format!("{} MB", ended.memory >> 20)));
        }
        failures.into_iter().map(|(kind, text)| (kind, format!("{case}: {text}"))).collect()
    }
}

/// Files of a mebibyte in one tree, fewer for an unoptimised program.
const LARGE_FILES: usize = if cfg!(debug_assertions) { 4 } else { 40 };

/// A tree that is hard to walk or to read.
type Tree = (&'static str, fn(&Path) -> Result<()>);

const TREES: [Tree; 12] = [
    ("1,300 folders, one in the other", |root| {
        // Nearly as long as a path may be.
        let mut path = root.to_path_buf();
        for _ in 0..1_300 {
            path.push("dd");
            fs::create_dir(&path)?;
        }
        Ok(fs::write(path.join("a.rs"), "fn deep() {}\n")?)
    }),
    ("20,000 small files", |root| {
        (0..20_000).try_for_each(|i| {
            let folder = root.join(format!("f{}", i / 500));
            fs::create_dir_all(&folder)?;
            Ok(fs::write(folder.join(format!("a{i}.py")), format!("def small_{i}(): pass\n"))?)
        })
    }),
    ("lines of a mebibyte", |root| {
        ["js", "css", "json", "md", "rs", "txt"]
            .iter()
            .try_for_each(|ending| Ok(fs::write(root.join(format!("line.{ending}")), "a b(c) ".repeat(149_000))?))
    }),
    ("many files of a mebibyte", |root| {
        (0..LARGE_FILES).try_for_each(|i| {
            let text: String = (0..24_000).map(|n| format!("def name_{i}_{n}(): return {n}\n")).collect();
            Ok(fs::write(root.join(format!("large{i}.py")), &text[..text.len().min(1 << 20)])?)
        })
    }),
    ("a table of a million names", |root| {
        let text: String = (0..130_000u32).map(|n| format!("x{:x} ", n.wrapping_mul(2_654_435_761))).collect();
        Ok(fs::write(root.join("names.txt"), text)?)
    }),
    ("20,000 patterns to ignore", |root| {
        fs::write(root.join(".gitignore"), (0..20_000).map(|i| format!("**/a{i}*b\n")).collect::<String>())?;
        Ok(fs::write(root.join("a.rs"), "fn a() {}\n")?)
    }),
    ("patterns with many stars", |root| {
        fs::write(root.join(".gitignore"), format!("{}\n", "*a".repeat(3_000)).repeat(30))?;
        Ok(fs::write(root.join(format!("{}.rs", "a".repeat(200))), "fn a() {}\n")?)
    }),
    ("ignore files that are links and pipes", |root| {
        let special = [".gitignore", ".ignore", ".colgrep.toml", ".git/info/exclude", ".git/config", ".git/HEAD"];
        for (i, name) in special.iter().enumerate() {
            let folder = root.join(format!("p{i}"));
            plant_special(&folder.join(name), i % 2 == 0)?;
            fs::write(folder.join("a.rs"), "fn a() {}\n")?;
        }
        Ok(())
    }),
    ("the project's own ignore files as pipes", |root| {
        plant_special(&root.join(".gitignore"), true)?;
        plant_special(&root.join(".ignore"), true)?;
        plant_special(&root.join(".git/info/exclude"), true)?;
        Ok(fs::write(root.join("a.rs"), "fn a() {}\n")?)
    }),
    ("files that are no files", |root| {
        plant_special(&root.join("pipe.rs"), true)?;
        plant_special(&root.join("zero.rs"), false)?;
        link("..", &root.join("up"))?;
        link("loop", &root.join("loop"))?;
        Ok(fs::write(root.join("a.rs"), "fn a() {}\n")?)
    }),
    ("names of odd bytes", |root| {
        for name in ["a\nb.rs", "\u{202e}sr.a", "-rf.rs", " .rs", "a\u{1b}[2J.rs", "*.rs", "con.rs"] {
            fs::write(root.join(name), "fn odd() {}\n")?;
        }
        Ok(())
    }),
    ("random bytes under every ending", |root| {
        let mut random = StdRng::seed_from_u64(1);
        LANGUAGES.iter().filter_map(|l| l.extensions.first()).try_for_each(|ending| {
            let bytes: Vec<u8> = (0..300_000).map(|_| random.random_range(1..=255)).collect();
            Ok(fs::write(root.join(format!("noise.{ending}")), bytes)?)
        })
    }),
];

fn trees(args: &TortureArgs) -> Result<Tally> {
    let mut most = 0;
    let mut tally = go_through(args, "bombs, trees", TREES.to_vec(), |(name, plant), counts| {
        let folder = tempfile::tempdir()?;
        let builder = RepeatedBuild::new(args, folder.path())?;
        plant(&builder.root)?;
        let began = Instant::now();
        let ended = builder.build()?;
        let seconds = began.elapsed().as_secs();
        let slowest = counts.entry("s at most").or_default();
        *slowest = seconds.max(*slowest);
        most = most.max(ended.memory);
        Ok(builder.failures(&ended, name))
    })?;
    *tally.counts.entry("MB at most").or_default() = most >> 20;
    Ok(tally)
}

/// A pipe that nobody writes to, or a link to a device without an end; nothing where the system has neither.
fn plant_special(path: &Path, pipe: bool) -> Result<()> {
    fs::create_dir_all(path.parent().context("a folder")?)?;
    if !pipe {
        return link("/dev/zero", path);
    }
    if cfg!(unix) {
        std::process::Command::new("mkfifo").arg(path).status()?;
    }
    Ok(())
}
