//! The corpus of a measurement: annotated queries, their right answers, and the opened indexes.

mod args;
mod ask;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::token::Tokenizer;
use colgrep_engine::history::cochange::{Histories, Past};
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::update;
use colgrep_engine::request::rules::is_below;
use colgrep_engine::session::project_searcher::{ProjectSearcher, RankQuery, Within};
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{Settings, ValueSource};
use colgrep_engine::{RankBy, Scope};
use colgrep_index::source::hash;
use colgrep_index::store::FileRecord;
use colgrep_search::Retrieval;
use colgrep_syntax::language::{Category, by_name, facts};
use serde::{Deserialize, Serialize};

pub use args::{CorpusArgs, RankingArgs, SetArg, Vars};
pub use ask::{AnnotatedBackground, TaskBackground};

use crate::metric;
use crate::paired::{Paired, PairedDifference};
use crate::report::bar;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// The repository's name: its folder, and its annotation file without `.json`.
    pub name: String,
    /// Its main language.
    #[serde(default)]
    pub language: Option<String>,
    /// The subfolder that is indexed and searched.
    #[serde(default)]
    pub benchmark_root: Option<String>,
}

/// One annotated query, as the file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Annotation {
    pub query: String,
    /// Files that answer it.
    pub relevant: Vec<TargetFile>,
    /// Files that answer it too; they count like the others.
    #[serde(default)]
    pub secondary: Vec<TargetFile>,
    /// What sort of query it is.
    #[serde(default)]
    pub category: Option<String>,
    /// Evidence that is given with the query.
    #[serde(flatten)]
    pub given: AnnotatedBackground,
}

impl Annotation {
    /// Paths of the files that answer it, of either sort.
    fn targets(&self) -> impl Iterator<Item = &str> {
        self.relevant.iter().chain(&self.secondary).map(TargetFile::path)
    }

    /// Its category, or `?` if it has none.
    fn category(&self) -> &str {
        self.category.as_deref().unwrap_or("?")
    }
}

/// A file, as a path or as an object with a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TargetFile {
    Path(String),
    /// An object with more about it.
    Object {
        path: String,
    },
}

impl TargetFile {
    pub fn path(&self) -> &str {
        match self {
            TargetFile::Path(path) | TargetFile::Object { path } => path,
        }
    }
}

/// One query with its right answers.
#[derive(Clone, Debug)]
pub struct BenchTask {
    /// Position of its set in [`BenchCorpus::sets`].
    pub set: usize,
    /// Position of its repository in [`BenchCorpus::repositories`].
    pub repository: usize,
    pub query: String,
    pub category: String,
    /// Paths that answer it.
    pub targets: Vec<String>,
    /// Evidence that is given with the query.
    pub background: TaskBackground,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationSet {
    /// The folder's name.
    pub name: String,
    /// Its weight in sums.
    pub weight: f64,
}

/// A repository with its opened index.
#[derive(Debug)]
pub struct BenchRepository {
    pub name: String,
    /// Its main language.
    pub language: String,
    /// Its index, limited to the folder where that is a part of a larger project.
    pub place: ProjectSearcher,
    /// The model of the ranking by meaning; none for keywords alone.
    pub model: Option<Arc<Model>>,
    /// Which rankings take part.
    pub by: RankBy,
    pub fusion: Fusion,
    /// Its past, opened where it is asked for.
    histories: Histories,
    env: Env,
    settings: Settings,
}

impl BenchRepository {
    /// Indexes the folder (or brings its index up to date) in the project that colgrep would choose for it.
    pub fn open(
        name: &str,
        language: Option<&str>,
        folder: &Path,
        env: &Env,
        model: Option<Arc<Model>>,
        ranking: &RankingArgs,
    ) -> Result<BenchRepository> {
        let (project, below) = Project::around(folder, env)?;
        tell_of_settings(name, env, folder)?;
        let encoding = model.as_ref().and_then(|m| m.encoding(None));
        let (snapshot, _) =
            update(&project, None, true, encoding.as_ref(), &()).with_context(|| format!("indexing {name}"))?;
        // Ignore the settings of this machine, so that records are reproducible.
        let (within, settings) = (Within::paths(vec![below]), Settings::default());
        let place =
            ProjectSearcher::new(project, Arc::new(snapshot), within, &Scope::default(), false, &settings, &|| false)?;
        let (name, by, fusion) = (name.to_string(), ranking.by(), ranking.fusion());
        let mut repository = BenchRepository {
            name,
            language: String::new(),
            place,
            model,
            by,
            fusion,
            histories: Histories::default(),
            settings: Settings::default(),
            env: env.clone(),
        };
        repository.language = language.map_or_else(|| repository.main_language(), String::from);
        Ok(repository)
    }

    /// The language of the most units of code.
    fn main_language(&self) -> String {
        let mut units: BTreeMap<&str, u32> = BTreeMap::new();
        for file in self.files().filter(|f| by_name(&f.language).is_some_and(|l| l.category == Category::Code)) {
            *units.entry(&file.language).or_default() += file.units;
        }
        units.into_iter().max_by_key(|(_, n)| *n).map_or("unknown", |(name, _)| name).to_string()
    }

    /// The indexed files that may be returned.
    pub fn files(&self) -> impl Iterator<Item = &FileRecord> {
        let below = |path: &str| self.place.within.below.iter().any(|below| is_below(path, below));
        self.place.snapshot.files.indexed().filter(move |f| below(&f.path))
    }

    /// The first half of a search for `files` files, as colgrep does it.
    pub fn retrieve(&self, task: &BenchTask, knobs: &Knobs, files: usize) -> Result<Retrieval> {
        let (by, fusion, model) = (self.by, self.fusion, self.model.as_deref());
        let TaskBackground { near, hints, terms } = &task.background;
        let (near, terms) = (near.as_ref(), terms.as_ref());
        let past = self.past().evidence(&self.place.project, &task.query, knobs);
        let asked = RankQuery::new(&task.query, knobs, files);
        Ok(self.place.retrieve(&RankQuery { by, fusion, model, near, hints, terms, past: &past, ..asked })?)
    }

    /// Its past, up to the commit that is checked out.
    pub fn past(&self) -> Past<'_> {
        Past { histories: &self.histories, settings: &self.settings, env: &self.env, listener: &() }
    }

    /// A file's path as colgrep prints it.
    pub fn absolute(&self, path: &str) -> String {
        self.place.project.root.join(path).to_string_lossy().replace('\\', "/")
    }
}

/// Everything that is measured.
#[derive(Debug)]
pub struct BenchCorpus {
    pub sets: Vec<AnnotationSet>,
    /// The repositories, by name.
    pub repositories: Vec<BenchRepository>,
    /// The queries, by set, repository and order in the file.
    pub tasks: Vec<BenchTask>,
    /// Constants in force: profile, then the environment.
    pub knobs: Knobs,
    /// Which rankings take part, and by which model: [`RankingArgs::text`].
    pub ranking: String,
}

/// Remarks that settings files are disregarded, if one sets the ranking: records must be the same for everybody.
fn tell_of_settings(name: &str, env: &Env, folder: &Path) -> Result<()> {
    let is_of_ranking = |key: &str| key.starts_with("ranking.") || ["profile", "model", "fusion"].contains(&key);
    for (key, value, source) in Settings::read(env, folder)?.all(env) {
        if let (true, ValueSource::File(file)) = (is_of_ranking(&key), source) {
            eprintln!(
                "colgrep-bench: {name}: {key} = {value} in {} is not read here; give it as a COLGREP_ variable or a flag",
                file.display()
            );
        }
    }
    Ok(())
}

impl BenchCorpus {
    /// Reads the annotations and opens the indexes, building those that are missing. A repository without sources is
    /// left out with a remark.
    pub fn open(args: &CorpusArgs, vars: &Vars) -> Result<BenchCorpus> {
        let env = args.ranking.environment(vars)?;
        let knobs = args.ranking.knobs(&env)?;
        let model = args.ranking.model(&env)?;
        if !args.repos.is_dir() {
            bail!("--repos {}: there is no such folder", args.repos.display());
        }
        let specs: Vec<Spec> = args.specs.as_deref().map(read_json).transpose()?.unwrap_or_default();
        let mut found: BTreeMap<String, Vec<(usize, Vec<Annotation>)>> = BTreeMap::new();
        let mut sets = Vec::new();
        for (set, SetArg { folder, weight }) in args.annotations.iter().enumerate() {
            for (name, path) in annotation_files(folder)? {
                if args.only.is_empty() || args.only.contains(&name) {
                    let mut annotations = read_annotations(&path)?;
                    annotations.retain(|a| args.category.is_empty() || args.category.iter().any(|c| c == a.category()));
                    found.entry(name).or_default().push((set, annotations));
                }
            }
            sets.push(AnnotationSet { name: set_name(folder), weight: *weight });
        }
        if let Some(name) = args.only.iter().find(|name| !found.contains_key(*name)) {
            bail!("--only {name}: no folder of annotations has a {name}.json");
        }
        let kept: BTreeSet<&str> =
            found.values().flatten().flat_map(|(_, annotations)| annotations).map(Annotation::category).collect();
        if let Some(name) = args.category.iter().find(|name| !kept.contains(name.as_str())) {
            bail!("--category {name}: no annotation has this category");
        }
        let bar = bar(found.len() as u64, "indexing");
        let (mut repositories, mut tasks) = (Vec::new(), Vec::new());
        for (name, annotations) in found {
            let spec = specs.iter().find(|s| s.name == name);
            let folder = args.repos.join(&name).join(spec.and_then(|s| s.benchmark_root.as_deref()).unwrap_or(""));
            bar.inc(1);
            if !folder.is_dir() {
                eprintln!("colgrep-bench: {name}: there is no folder {}; left out", folder.display());
                continue;
            }
            let language = spec.and_then(|s| s.language.as_deref());
            repositories.push(BenchRepository::open(&name, language, &folder, &env, model.clone(), &args.ranking)?);
            for (set, annotations) in annotations {
                tell_of_absent(&name, &annotations, &repositories[repositories.len() - 1]);
                let (at, folder) = (repositories.len() - 1, &args.annotations[set].folder);
                for annotation in annotations {
                    let given = annotation.given.clone().without(&args.without);
                    let background = given.read(folder, &repositories[at]).with_context(|| annotation.query.clone())?;
                    tasks.push(BenchTask { background, ..BenchTask::new(annotation, set, at) });
                }
            }
        }
        bar.finish_and_clear();
        let corpus = BenchCorpus { sets, repositories, tasks, knobs, ranking: args.ranking.text() }.sorted();
        if corpus.tasks.is_empty() {
            bail!("no query to measure: --annotations holds none for the repositories in {}", args.repos.display());
        }
        Ok(corpus)
    }

    /// The corpus with its queries by set.
    fn sorted(mut self) -> BenchCorpus {
        self.tasks.sort_by_key(|t| (t.set, t.repository));
        self
    }

    /// Each query's share in the weighted mean over the sets: `weight / Σ weights / queries of its set`. Sums to 1.
    pub fn weights(&self) -> Vec<f64> {
        let mut counts = vec![0usize; self.sets.len()];
        for task in &self.tasks {
            counts[task.set] += 1;
        }
        let sum: f64 = self.sets.iter().zip(&counts).filter(|(_, n)| **n > 0).map(|(s, _)| s.weight).sum();
        self.tasks.iter().map(|t| self.sets[t.set].weight / sum / counts[t.set] as f64).collect()
    }

    /// The paired difference of two score lists over all queries.
    pub fn paired(&self, new: &[f64], old: &[f64]) -> Paired {
        let weights = self.weights();
        let one =
            |i: usize| PairedDifference { group: self.tasks[i].repository, weight: weights[i], value: new[i] - old[i] };
        Paired::of(&(0..new.len()).map(one).collect::<Vec<_>>())
    }

    /// Hash of the rankings that take part, the queries, their answers, the weights and the indexed files.
    pub fn fingerprint(&self) -> u64 {
        let mut text = self.ranking.clone() + "\n";
        for (task, weight) in self.tasks.iter().zip(self.weights()) {
            let repository = &self.repositories[task.repository].name;
            text += &format!("{repository}\n{}\n{}\n{weight}\n", task.query, task.targets.join("\n"));
        }
        for file in self.repositories.iter().flat_map(|r| &r.place.snapshot.files.files) {
            text += &format!("{} {:x}\n", file.path, file.hash);
        }
        hash(text.as_bytes()) as u64
    }
}

impl BenchTask {
    pub fn new(annotation: Annotation, set: usize, repository: usize) -> BenchTask {
        let targets = annotation.targets().map(String::from).collect();
        let category = annotation.category().to_string();
        BenchTask { set, repository, query: annotation.query, category, targets, background: TaskBackground::default() }
    }
}

/// Keys of an annotation.
const KEYS: [&str; 7] = ["query", "relevant", "secondary", "category", "near", "hints", "expand"];
/// Ignored keys: those of semble's sets, the unit of a paraphrase, and what a translation was made from.
const PASSED_OVER: [&str; 5] = ["related", "seed", "unit", "original", "mixed"];

/// Refuses annotations with a key that nothing reads: a name that is not quite right would be measured without what it
/// gives.
fn check_keys(annotations: &[serde_json::Map<String, serde_json::Value>]) -> Result<()> {
    let is_known = |key: &str| KEYS.contains(&key) || PASSED_OVER.contains(&key);
    match annotations.iter().flat_map(|annotation| annotation.keys()).find(|key| !is_known(key)) {
        Some(key) => bail!("{key:?} is no key of an annotation; there are {}", KEYS.join(", ")),
        None => Ok(()),
    }
}

/// Refuses annotations that no search can satisfy: queries without words or answers, an answer named twice.
fn check(annotations: &[Annotation]) -> Result<()> {
    let mut tokenizer = Tokenizer::default();
    for annotation in annotations {
        let query = &annotation.query;
        let mut seen = HashSet::new();
        if Query::new(query, "", facts(), &mut tokenizer).terms.is_empty() {
            bail!("{query:?} holds no word to look for");
        }
        if annotation.targets().next().is_none() {
            bail!("{query:?} has no right answer; name one in `relevant`, or take the query out");
        }
        if let Some(twice) = annotation.targets().find(|t| !seen.insert(*t)) {
            bail!("{query:?} names {twice} twice");
        }
    }
    Ok(())
}

/// Names right answers that the index does not have.
fn tell_of_absent(name: &str, annotations: &[Annotation], repository: &BenchRepository) {
    let files: Vec<String> = repository.files().map(|f| repository.absolute(&f.path)).collect();
    let is_absent = |t: &&str| !files.iter().any(|f| metric::matches(f, t));
    let absent: BTreeSet<&str> = annotations.iter().flat_map(Annotation::targets).filter(is_absent).collect();
    if !absent.is_empty() {
        let absent: Vec<&str> = absent.into_iter().collect();
        eprintln!("colgrep-bench: {name}: right answers that are not in the index: {}", absent.join(", "));
    }
}

/// A set is named after its folder, or after the parent folder if the name is generic.
fn set_name(folder: &Path) -> String {
    let mut names = folder.iter().rev().map(|n| n.to_string_lossy().into_owned());
    names.find(|n| n != "annotations").unwrap_or_else(|| "annotations".to_string())
}

pub(crate) fn read_annotations(path: &Path) -> Result<Vec<Annotation>> {
    let annotations: Vec<Annotation> = read_json(path)?;
    let checked = check_keys(&read_json::<Vec<_>>(path)?).and_then(|()| check(&annotations));
    checked.with_context(|| format!("{}", path.display()))?;
    Ok(annotations)
}

/// Name and path of each annotation file of a folder, by name.
pub(crate) fn annotation_files(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("annotations in {}", folder.display()))?;
    let mut files: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter_map(|e| Some((e.file_name().to_str()?.strip_suffix(".json")?.to_string(), e.path())))
        .collect();
    files.sort();
    Ok(files)
}

pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not what was expected", path.display()))
}

#[cfg(test)]
mod tests {
    use super::args::parse_set;
    use super::*;

    #[test]
    fn sets_have_weights() {
        for (text, expected) in [
            ("a/b", Ok(("a/b", 1.0))),
            ("a/b=0.5", Ok(("a/b", 0.5))),
            ("a=x", Err("\"x\" is no weight; write a number above 0")),
            ("a=0", Err("\"0\" is no weight; write a number above 0")),
        ] {
            let expected = expected.map(|(f, weight)| SetArg { folder: f.into(), weight }).map_err(String::from);
            assert_eq!(parse_set(text), expected, "{text}");
        }
    }

    #[test]
    fn annotations_that_no_search_could_answer_are_refused() {
        for (text, expected) in [
            (r#"{"query": "q", "relevant": ["a"], "secondary": ["b"]}"#, ""),
            (r#"{"query": " ", "relevant": ["a"]}"#, "\" \" holds no word"),
            (r#"{"query": "...", "relevant": ["a"]}"#, "\"...\" holds no word"),
            (r#"{"query": "q", "relevant": []}"#, "\"q\" has no right answer"),
            (r#"{"query": "q", "relevant": ["a"], "secondary": ["a"]}"#, "\"q\" names a twice"),
        ] {
            let found =
                check(&[serde_json::from_str(text).unwrap()]).map_or_else(|e| e.to_string(), |()| String::new());
            assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{text}: {found}");
        }
    }

    #[test]
    fn a_key_that_nothing_reads_is_refused() {
        for (keys, expected) in [
            (r#""query": "q", "relevant": ["a"], "hints": [], "near": "a", "expand": "t", "category": "c""#, ""),
            (r#""query": "q", "relevant": ["a"], "secondary": [], "seed": "s", "related": [], "unit": "u""#, ""),
            (r#""query": "q", "relevant": ["a"], "category": "zh", "original": "07346280c5da", "mixed": true"#, ""),
            (r#""query": "q", "relevant": ["a"], "hint": ["type=a"]"#, "\"hint\" is no key"),
        ] {
            let annotation = serde_json::from_str(&format!("{{{keys}}}")).unwrap();
            let found = check_keys(&[annotation]).map_or_else(|e| e.to_string(), |()| String::new());
            assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{keys}: {found}");
        }
    }

    #[test]
    fn annotations_take_both_forms_of_targets() {
        let text = r#"{"query": "q", "relevant": ["a", {"path": "b", "why": 1}], "secondary": ["c"]}"#;
        let task = BenchTask::new(serde_json::from_str(text).unwrap(), 0, 0);
        assert_eq!((task.targets.join(" "), task.category.as_str()), ("a b c".to_string(), "?"));
    }
}
