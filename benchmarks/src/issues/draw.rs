//! Draws the list of instances from clones, by rules that give the same list from the same clones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use colgrep_core::path::PathClass;
use colgrep_engine::request::QUERY_BYTES_MAX;
use colgrep_syntax::language::{Category, facts, of_file};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::clone::{LinearCommit, Mirror};
use super::text::{InstanceText, ResolvedPull, checked_out, instructed, patched, reported};
use super::{Instance, TextOrigin};
use crate::selfeval::{clean, is_chore};

/// Files of source that a fix changes at most.
const FILES_MAX: usize = 3;
/// Folders whose code is a page's, a program's around the project, or somebody else's.
const BESIDE: [&str; 17] = [
    "doc",
    "docs",
    "docs_src",
    "documentation",
    "website",
    "site",
    "changelog",
    "changes",
    "news",
    "ci",
    ".github",
    "guides",
    "tutorial",
    "tutorials",
    "misc",
    "scripts",
    "script",
];
/// Ends of files that say how a project is built.
const BUILT_BY: [&str; 17] = [
    "vagrantfile",
    "rakefile",
    "gemfile",
    "dockerfile",
    "makefile",
    "cmakelists.txt",
    "meson.build",
    "setup.py",
    ".mk",
    ".cmake",
    ".gradle",
    ".gradle.kts",
    ".bazel",
    ".bzl",
    ".sbt",
    "mix.exs",
    "build.zig",
];
/// Classes of files that don't count as the source of a fix.
const ASIDE: PathClass = PathClass::TEST.with(PathClass::BENCHMARK).with(PathClass::EXAMPLE).with(PathClass::VENDORED);

/// What the list is drawn from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstanceSources {
    /// Instances of one repository in a set at most.
    pub most: usize,
    /// Instances of one history at most.
    pub most_of_history: usize,
    /// Instances of one repository that the same file answers, at most.
    pub most_of_file: usize,
    /// Public sets of issues with their fixes.
    pub sets: Vec<InstanceSet>,
    /// Repositories whose commits tell of problems: `OWNER/NAME` → where its history is read.
    pub histories: BTreeMap<String, ClonedHistory>,
}

/// A set, in a repository of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstanceSet {
    /// What it is, and under which licence.
    pub note: String,
    /// The repository of the set.
    pub repository: String,
    /// The revision that is read.
    pub revision: String,
    /// The repositories of its issues: `OWNER/NAME` → their place in the set.
    pub parts: BTreeMap<String, InstancePart>,
}

/// The issues of one repository in a set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstancePart {
    /// The repository's main language.
    pub language: String,
    /// A file of JSON lines, or how the names of folders begin, each with an instruction, a patch and a script.
    pub path: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClonedHistory {
    /// The repository's main language.
    pub language: String,
    /// The newest commit that is looked at.
    pub revision: String,
}

/// One entry of a set.
struct InstanceEntry {
    /// Where in the set it is.
    key: String,
    /// The commit below its fix.
    base: String,
    /// What was reported; none where no issue has a body.
    text: Option<InstanceText>,
    /// The fix.
    patch: String,
}

/// A possible instance, and when the commit below its fix was made.
struct InstanceCandidate {
    time: i64,
    instance: Instance,
}

/// Draws the list, sorted by repository and time. `reserved` are repositories that are never looked into, in lower case.
pub fn draw(sources: &InstanceSources, clones: &Path, reserved: &BTreeSet<String>) -> Result<Vec<Instance>> {
    let parts = sources.sets.iter().flat_map(|set| set.parts.keys());
    if let Some(name) = parts.chain(sources.histories.keys()).find(|name| reserved.contains(&name.to_lowercase())) {
        bail!("{name} is reserved; take it out of the sources");
    }
    let mut by_repository: BTreeMap<&str, (usize, Vec<InstanceCandidate>)> = BTreeMap::new();
    for set in &sources.sets {
        let clone = find(clones, &set.repository)?;
        for (name, part) in &set.parts {
            let found = of_set(set, &clone, name, part, &find(clones, name)?)?;
            by_repository.insert(name, (sources.most, found));
        }
    }
    for (name, history) in &sources.histories {
        let found = of_history(name, history, &find(clones, name)?)?;
        if by_repository.insert(name, (sources.most_of_history, found)).is_some() {
            bail!("{name} is in a set and a history; take one out of the sources");
        }
    }
    let mut list = Vec::new();
    for (name, (most, candidates)) in by_repository {
        let of = candidates.len();
        let drawn = pick(candidates, most, sources.most_of_file);
        eprintln!("colgrep-bench: {name}: {} of {of}", drawn.len());
        list.extend(drawn);
    }
    Ok(list)
}

fn find(clones: &Path, repository: &str) -> Result<Mirror> {
    Mirror::find(clones, repository).with_context(|| {
        let place = clones.join(repository.replacen('/', "+", 1));
        format!("no clone: git clone --bare https://github.com/{repository} {}", place.display())
    })
}

/// Whether a fix of this file is looked for.
pub fn is_source(path: &str) -> bool {
    let is_beside = path
        .rsplit_once('/')
        .is_some_and(|(folders, _)| folders.split('/').any(|folder| BESIDE.contains(&folder.to_lowercase().as_str())));
    let lower = path.to_lowercase();
    let is_rule = BUILT_BY.iter().any(|end| lower.ends_with(end));
    !is_beside && !is_rule && of_file(path, b"").category == Category::Code && !PathClass::of(path, facts()).has(ASIDE)
}

/// The files that answer: the source among what was changed; none where that is too much.
fn answers(changed: &[String]) -> Option<Vec<String>> {
    let files: BTreeSet<&String> = changed.iter().filter(|path| is_source(path)).collect();
    (1..=FILES_MAX).contains(&files.len()).then(|| files.into_iter().cloned().collect())
}

/// The candidates of one repository in a set.
fn of_set(
    set: &InstanceSet,
    clone: &Mirror,
    name: &str,
    part: &InstancePart,
    source: &Mirror,
) -> Result<Vec<InstanceCandidate>> {
    let mut candidates = Vec::new();
    for InstanceEntry { key, base, text, patch } in entries(set, clone, part)? {
        let (Some(text), Some(files)) = (text, answers(&patched(&patch))) else { continue };
        let Some(time) = source.time(&base) else {
            eprintln!("colgrep-bench: {name}: the clone lacks {base}; an instance is left out");
            continue;
        };
        let origin = TextOrigin::Set { set: set.repository.clone(), key };
        let candidate =
            InstanceCandidate { time, instance: Instance::new(name, &part.language, base, origin, files, &text) };
        if text.whole().len() <= QUERY_BYTES_MAX {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// The entries of a set that are of one repository.
fn entries(set: &InstanceSet, clone: &Mirror, part: &InstancePart) -> Result<Vec<InstanceEntry>> {
    let text_of = |path: &str| Ok::<_, anyhow::Error>(String::from_utf8(clone.file(&set.revision, path)?)?);
    if part.path.ends_with(".jsonl") {
        let text = text_of(&part.path)?;
        let entry = |line: &str| {
            let resolved: ResolvedPull = serde_json::from_str(line).with_context(|| part.path.clone())?;
            let key = format!("{}#{}", part.path, resolved.number);
            let (base, text) = (resolved.base.sha.clone(), resolved.text());
            Ok(InstanceEntry { key, base, text, patch: resolved.fix_patch })
        };
        return text.lines().map(entry).collect();
    }
    let (folder, begin) = part.path.rsplit_once('/').context("a part names a folder")?;
    let mut entries = Vec::new();
    for task in clone.folders(&set.revision, &format!("{folder}/"), begin)? {
        let instruction = text_of(&format!("{task}/instruction.md"))?;
        let patch = text_of(&format!("{task}/solution/fix.patch"))?;
        let script = text_of(&format!("{task}/environment/prepare.sh"))?;
        let base = checked_out(&script).with_context(|| format!("{task}: the script checks nothing out"))?;
        entries.push(InstanceEntry { key: task, base, text: instructed(&instruction), patch });
    }
    Ok(entries)
}

pub fn text_in_set(clone: &Mirror, revision: &str, key: &str) -> Result<InstanceText> {
    let found = match key.split_once('#') {
        Some((path, number)) => {
            let text = String::from_utf8(clone.file(revision, path)?)?;
            let read = |line| serde_json::from_str::<ResolvedPull>(line).ok();
            let mut entries = text.lines().filter_map(read);
            entries.find(|entry| entry.number.to_string() == number).and_then(|entry| entry.text())
        }
        None => instructed(&String::from_utf8(clone.file(revision, &format!("{key}/instruction.md"))?)?),
    };
    found.with_context(|| format!("the set has no {key}"))
}

/// The text of a commit, where it reads like an issue.
pub fn text_of(commit: &LinearCommit) -> Option<InstanceText> {
    let subject = commit.message.lines().next()?;
    if is_chore(subject) {
        return None;
    }
    reported(&clean(subject), &commit.message).filter(|text| text.whole().len() <= QUERY_BYTES_MAX)
}

fn of_history(name: &str, history: &ClonedHistory, clone: &Mirror) -> Result<Vec<InstanceCandidate>> {
    let commits = clone.commits(&history.revision)?;
    let told: BTreeMap<&str, (&LinearCommit, InstanceText)> =
        commits.iter().filter_map(|commit| Some((commit.id.as_str(), (commit, text_of(commit)?)))).collect();
    let mut texts = BTreeSet::new();
    let mut candidates = Vec::new();
    for (id, changed) in clone.changed(told.values().map(|(commit, _)| *commit))? {
        let (Some((commit, text)), Some(files)) = (told.get(id.as_str()), answers(&changed)) else { continue };
        // The same fix on another branch asks the same.
        if texts.insert(text.title.clone()) {
            let (base, origin) = (commit.parent.clone(), TextOrigin::Fix { fix: id });
            let instance = Instance::new(name, &history.language, base, origin, files, text);
            candidates.push(InstanceCandidate { time: commit.time, instance });
        }
    }
    Ok(candidates)
}

/// At most `most`, spread over time: the candidates are cut into `most` equal parts, oldest first, and each gives the
/// one with the smallest hash whose files answer fewer than `most_of_file` of those drawn before.
fn pick(mut candidates: Vec<InstanceCandidate>, most: usize, most_of_file: usize) -> Vec<Instance> {
    let hash = |candidate: &InstanceCandidate| xxh3_64(candidate.instance.id().as_bytes());
    candidates.sort_by_key(|candidate| (candidate.time, hash(candidate)));
    let (all, parts) = (candidates.len(), most.min(candidates.len()));
    let mut drawn: Vec<Instance> = Vec::new();
    let mut of_file: BTreeMap<String, usize> = BTreeMap::new();
    for part in 0..parts {
        let mut these: Vec<&InstanceCandidate> =
            candidates[part * all / parts..(part + 1) * all / parts].iter().collect();
        these.sort_by_key(|candidate| hash(candidate));
        let is_free = |file: &String| of_file.get(file).is_none_or(|n| *n < most_of_file);
        if let Some(one) = these.into_iter().find(|candidate| candidate.instance.files.iter().all(is_free)) {
            one.instance.files.iter().for_each(|file| *of_file.entry(file.clone()).or_default() += 1);
            drawn.push(one.instance.clone());
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_code_beside_tests_pages_and_what_others_wrote() {
        for (path, expected) in [
            ("src/read.rs", true),
            ("lib/read.d.ts", true),
            ("tests/read.rs", false),
            ("src/read_test.go", false),
            ("docs/conf.py", false),
            ("README.md", false),
            ("package.json", false),
            ("vendor/read.c", false),
            ("examples/read.c", false),
            (".github/run.py", false),
            ("Makefile", false),
        ] {
            assert_eq!(is_source(path), expected, "{path}");
        }
        let paths = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(answers(&paths("b.c a.c README.md")), Some(paths("a.c b.c")));
        assert_eq!((answers(&paths("README.md")), answers(&paths("a.c b.c c.c d.c"))), (None, None));
    }

    #[test]
    fn the_draw_is_spread_over_time_and_over_files() {
        let candidate = |at: usize, file: &str| {
            let (origin, text) = (TextOrigin::Fix { fix: format!("f{at}") }, InstanceText::new("a title", "a body"));
            let instance = Instance::new("a/b", "c", format!("b{at}"), origin, vec![file.into()], &text);
            InstanceCandidate { time: at as i64, instance }
        };
        let drawn = |files: &dyn Fn(usize) -> String, most, of_file| {
            // Their order makes no difference.
            let candidates: Vec<InstanceCandidate> = (0..100).rev().map(|at| candidate(at, &files(at))).collect();
            pick(candidates, most, of_file).iter().map(|i| i.base[1..].parse().unwrap()).collect::<Vec<usize>>()
        };
        let spread = drawn(&|at| format!("{at}.c"), 10, 1);
        assert!(spread.len() == 10 && spread.iter().enumerate().all(|(i, at)| at / 10 == i), "{spread:?}");
        assert_eq!(drawn(&|_| "same.c".to_string(), 10, 3).len(), 3);
        assert_eq!(drawn(&|at| format!("{at}.c"), 1000, 1), (0..100).collect::<Vec<_>>());
    }
}
