//! `ignored`: trees with ignore files whose lines are drawn from a grammar of all that git reads in them, walked here
//! and listed by `git ls-files`: both find the same files, and again after a few changes, when the walk lists only what
//! differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_index::walk::{DirCache, GitPlaces, LeftOut, WalkOptions, Walked, walk_again};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::{Tally, TortureArgs, case_seed, go_through};
use crate::process::printed;

/// Names of files and folders.
const NAMES: [&str; 27] = [
    "a",
    "b",
    "ab",
    "abc",
    "a.js",
    "x.{js,ts}",
    "{{c}}",
    "a1.c",
    "[x]",
    "é",
    "A",
    "B.JS",
    "a b",
    "a ",
    "a\t",
    "#a",
    "!a",
    "*",
    "a\\b",
    "foo",
    "foobar",
    "x-y",
    "a]",
    "^",
    "a\r",
    ".h",
    "日本",
];
/// Parts of patterns that stand for themselves, or nearly.
const PLAIN: [&[u8]; 29] = [
    b"a",
    b"b",
    b"A",
    b".",
    b"js",
    b"c",
    b"x",
    b"{js,ts}",
    b"{{c}}",
    b"1",
    "é".as_bytes(),
    b"-",
    b" ",
    b"\t",
    b"#",
    b"!",
    b"foo",
    b"bar",
    b"\\a",
    b"\\*",
    b"\\[",
    b"\\ ",
    b"\\\\",
    b"\\#",
    b"\\!",
    b"\\/",
    b"\\",
    b"]",
    b"^",
];
/// Parts that stand for several texts, and some that are not closed.
const WILD: [&[u8]; 35] = [
    b"*",
    b"*",
    b"*",
    b"?",
    b"**",
    b"***",
    b"[ab]",
    b"[!a]",
    b"[^a]",
    b"[a-c]",
    b"[[:digit:]]",
    b"[[:alpha:]]",
    b"[![:alnum:]]",
    b"[[:upper:]x]",
    b"[]a]",
    b"[!]]",
    b"[a-",
    b"[[:nope:]]",
    b"[[:alpha:]",
    b"[\\]]",
    b"[a\\-c]",
    b"[\xc3\xa9]",
    b"[b-]",
    b"[--a]",
    b"[c-a]",
    b"[[:space:]]",
    b"[[:punct:]]",
    b"[*]",
    b"[A-Z]",
    b"[/]",
    b"[a/b]",
    b"[",
    b"[[:graph:]-z]",
    b"[\x80-\xff]",
    b"[[:cntrl:][:xdigit:]]",
];
/// What ends a line now and then.
const ENDS: [&[u8]; 6] = [b" ", b"  ", b"\t", b"\r", b"/", b"\0z"];

/// How long a change is ago that a walk trusts.
const SETTLED: Duration = Duration::from_millis(60);

/// How git comes to know of the user's ignore file.
const CONFIGURATIONS: [&str; 6] = [
    "",
    "[core]\n\texcludesFile = EXCLUDES\n",
    "[include]\n\tpath = included\n",
    "[includeIf \"gitdir:tree/\"]\n\tpath = included\n",
    "[includeIf \"gitdir/i:**/TREE/.git\"]\n\tpath = included\n",
    "[includeIf \"onbranch:ma*\"]\n\tpath = included\n",
];

/// One component of a pattern.
fn component(random: &mut StdRng) -> Vec<u8> {
    match random.random_range(0..20) {
        0..3 => [&b"**"[..], b"*", b"***"].choose(random).expect("a part").to_vec(),
        3..6 => NAMES.choose(random).expect("a name").as_bytes().to_vec(),
        _ => {
            let parts = random.random_range(1..5);
            let part = |random: &mut StdRng| {
                let all: &[&[u8]] = if random.random_bool(0.55) { &PLAIN } else { &WILD };
                *all.choose(random).expect("a part")
            };
            (0..parts).map(|_| part(random)).collect::<Vec<_>>().concat()
        }
    }
}

/// One line of an ignore file, without its end.
fn line(random: &mut StdRng) -> Vec<u8> {
    let components: Vec<Vec<u8>> = (0..random.random_range(1..4)).map(|_| component(random)).collect();
    let mut line = components.join(&b'/');
    for (front, chance) in [(b'/', 0.2), (b'!', 0.2), (b'#', 0.02), (b' ', 0.02)] {
        if random.random_bool(chance) {
            line.insert(0, front);
        }
    }
    if random.random_bool(0.25) {
        line.push(b'/');
    }
    if random.random_bool(0.15) {
        line.extend_from_slice(ENDS.choose(random).expect("an end"));
    }
    line
}

fn ignore_file(random: &mut StdRng) -> Vec<u8> {
    let lines: Vec<Vec<u8>> = (0..random.random_range(1..6)).map(|_| line(random)).collect();
    let front = if random.random_bool(0.1) { "\u{feff}" } else { "" };
    let end: &[u8] = if random.random_bool(0.8) { b"\n" } else { b"" };
    [front.as_bytes(), &lines.join(&b'\n'), end].concat()
}

/// A path of one to four names.
fn path(random: &mut StdRng) -> String {
    let names = random.random_range(1..5);
    (0..names).map(|_| *NAMES.choose(random).expect("a name")).collect::<Vec<_>>().join("/")
}

/// Writes a tree below `folder`, and the user's configuration beside it.
fn write(folder: &Path, random: &mut StdRng) -> Result<()> {
    let tree = folder.join("tree");
    let mut folders = vec![tree.clone()];
    for _ in 0..40 {
        let file = tree.join(path(random));
        let parent = file.parent().context("a folder")?;
        // A folder may be where a file is already, and a file where a folder is.
        if fs::create_dir_all(parent).is_ok() && !file.exists() {
            fs::write(&file, "")?;
            folders.push(parent.to_path_buf());
        }
    }
    for _ in 0..random.random_range(1..4) {
        let inside = folders.choose(random).context("a folder")?;
        fs::write(inside.join(".gitignore"), ignore_file(random))?;
    }
    if random.random_bool(0.3) {
        fs::create_dir_all(tree.join(".git/info"))?;
        fs::write(tree.join(".git/info/exclude"), ignore_file(random))?;
    }
    // Some people share such a file between repositories.
    #[cfg(unix)]
    if random.random_bool(0.1) {
        fs::create_dir_all(tree.join(".git/info"))?;
        fs::remove_file(tree.join(".git/info/exclude")).ok();
        std::os::unix::fs::symlink(folder.join("excludes"), tree.join(".git/info/exclude"))?;
    }
    fs::write(folder.join("excludes"), ignore_file(random))?;
    configure(folder, random)?;
    if random.random_bool(0.1) {
        let own = fs::read_to_string(tree.join(".git/config"))?;
        fs::write(tree.join(".git/config"), own + &fs::read_to_string(folder.join("included"))?)?;
    }
    Ok(())
}

/// Writes the user's configuration.
fn configure(folder: &Path, random: &mut StdRng) -> Result<()> {
    fs::write(folder.join("included"), format!("[core]\n\texcludesFile = {}\n", folder.join("excludes").display()))?;
    let mut config = CONFIGURATIONS.choose(random).context("a configuration")?.replace("EXCLUDES", "~/excludes");
    let ignore_case = random.random_bool(0.25);
    write!(config, "[core]\n\tignoreCase = {ignore_case}\n")?;
    Ok(fs::write(folder.join("config"), config)?)
}

/// Runs git in the tree with this configuration alone.
fn git(folder: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder.join("tree")).env("HOME", folder).env_remove("XDG_CONFIG_HOME");
    command.env("GIT_CONFIG_GLOBAL", folder.join("config")).env("GIT_CONFIG_NOSYSTEM", "1");
    printed(&mut command)
}

/// Draws a tree and compares what git and a walk find in it.
fn try_one(seed: u64) -> Result<Vec<(&'static str, String)>> {
    let mut random = StdRng::seed_from_u64(seed);
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().canonicalize()?;
    fs::create_dir(folder.join("tree"))?;
    fs::write(folder.join("config"), "")?;
    git(&folder, &["init", "-q", "-b", "main"])?;
    // Git writes down whether names differ by case alone; the configuration drawn here is to count.
    git(&folder, &["config", "--unset-all", "core.ignorecase"]).ok();
    write(&folder, &mut random)?;
    let scene = IgnoredScene {
        places: GitPlaces {
            files: vec![folder.join("config")],
            ignore: Some(folder.join(".config/git/ignore")),
            home: Some(folder.clone()),
            settings: Vec::new(),
        },
        folder,
    };
    // Recent changes are not trusted by the walk after them.
    sleep(SETTLED);
    let before = scene.walk(None)?;
    let mut failures = scene.compare(&before, seed)?;
    for _ in 0..random.random_range(1..4) {
        change(&scene.folder, &mut random)?;
    }
    let again = scene.walk(Some(&before))?;
    failures.extend(scene.compare(&again, seed)?.into_iter().map(|(_, told)| ("after changes", told)));
    Ok(failures)
}

/// Changes something in the tree, its rules or the configuration.
fn change(folder: &Path, random: &mut StdRng) -> Result<()> {
    let tree = folder.join("tree");
    let (one, other) = (tree.join(path(random)), tree.join(path(random)));
    // What can't be done in this tree is not done.
    match random.random_range(0..8) {
        0 => fs::rename(&one, &other).ok(),
        1 => fs::remove_dir_all(&one).or_else(|_| fs::remove_file(&one)).ok(),
        2 => fs::create_dir_all(one.parent().context("a folder")?).and_then(|()| fs::write(&one, "new")).ok(),
        3 => fs::write(one.join(".gitignore"), ignore_file(random)).ok(),
        4 => fs::write(tree.join(".gitignore"), ignore_file(random)).ok(),
        5 => fs::create_dir_all(tree.join(".git/info"))
            .and_then(|()| fs::write(tree.join(".git/info/exclude"), ignore_file(random)))
            .ok(),
        6 => fs::write(folder.join("excludes"), ignore_file(random)).ok(),
        _ => Some(configure(folder, random)?),
    };
    Ok(())
}

/// A tree with ignore files.
struct IgnoredScene {
    folder: PathBuf,
    places: GitPlaces,
}

impl IgnoredScene {
    fn walk(&self, before: Option<&Walked>) -> Result<Walked> {
        let options = WalkOptions { hidden: true, ..WalkOptions::default() };
        let left_out = LeftOut { git: Some(&self.places), ..LeftOut::default() };
        let path = |place: usize| before.map_or("", |before| before.files[place].path.as_str());
        let known = before.map(|before| DirCache {
            tree: &before.tree,
            files: before.files.len(),
            path: &path,
            unreadable: &before.unreadable,
            skips: None,
        });
        Ok(walk_again(&self.folder.join("tree"), &left_out, &options, known.as_ref())?)
    }

    /// What a walk and git find differently.
    fn compare(&self, walked: &Walked, seed: u64) -> Result<Vec<(&'static str, String)>> {
        let listed = git(&self.folder, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        let listed = String::from_utf8(listed)?;
        let by_git: BTreeSet<&str> = listed.split_terminator('\0').collect();
        let by_walk: BTreeSet<&str> = walked.files.iter().map(|file| file.path.as_str()).collect();
        let told = |path: &&str| format!("{path:?} with seed {seed:#x}");
        let missed = by_git.difference(&by_walk).map(|path| ("ignored, and not by git", told(path)));
        let more = by_walk.difference(&by_git).map(|path| ("ignored by git alone", told(path)));
        Ok(missed.chain(more).collect())
    }
}

pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let seeds = (0..args.cases as u64).map(|case| case_seed(args.seed, case)).collect();
    let try_one = |seed: &u64, _: &mut BTreeMap<&'static str, u64>| try_one(*seed);
    Ok(vec![go_through(args, "ignore files of a tree", seeds, try_one)?])
}
