//! The questions that are asked: about places, or annotated with files.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_engine::Env;

use super::printed::{FileLines, PlaceLines};
use crate::corpus::{BenchRepository, RankingArgs, Spec, annotation_files, read_annotations, read_json};
use crate::places::{PlaceQuestion, asked};
use crate::report::bar;

/// Which questions are asked, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct EconomySelection {
    /// Folder of places, as `places` reads it
    #[arg(long, value_name = "DIR", conflicts_with = "annotations", required_unless_present = "annotations")]
    pub places: Option<PathBuf>,
    /// Folder of annotations, as `run` reads it: found is a file once a line of it is printed (repeatable)
    #[arg(long, value_name = "DIR")]
    pub annotations: Vec<PathBuf>,
    /// The annotated repositories' subfolders (default: whole repository)
    #[arg(long, value_name = "FILE", requires = "annotations")]
    pub specs: Option<PathBuf>,
    /// Folder with a folder of sources for each repository: `OWNER+NAME` of places, `NAME` of annotations
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Measure the held-out repositories instead of those to tune on
    #[arg(long, requires = "places")]
    pub aside: bool,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Ask every Nth question of a repository
    #[arg(long, value_name = "N", default_value = "1")]
    pub every: NonZeroUsize,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
}

#[derive(Debug)]
pub(super) struct EconomyRepository {
    pub(super) name: String,
    /// The folder that is searched.
    pub(super) root: PathBuf,
    pub(super) questions: Vec<EconomyQuestion>,
}

#[derive(Clone, Debug)]
pub(super) struct EconomyQuestion {
    pub(super) text: String,
    pub(super) kind: String,
    targets: Vec<EconomyTarget>,
}

/// What answers a question.
#[derive(Clone, Debug)]
enum EconomyTarget {
    /// Lines of a file.
    Lines(String, usize, usize),
    File(String),
}

impl EconomyQuestion {
    /// What has to be printed, one of them.
    ///
    /// # Errors
    /// When the sources don't have it.
    pub(super) fn places(&self, files: &FileLines) -> Result<Vec<PlaceLines>> {
        let place = |target: &EconomyTarget| match target {
            EconomyTarget::Lines(path, first, last) => PlaceLines::new(files, path, *first, *last)
                .with_context(|| format!("{path} has no lines {first}-{last}: are the sources of the right commit?")),
            EconomyTarget::File(path) => {
                PlaceLines::anywhere(files, path).with_context(|| format!("{path} is no text of the sources"))
            }
        };
        self.targets.iter().map(place).collect()
    }
}

impl EconomySelection {
    /// Calls `ask` with each repository, its index up to date, and gathers the answers.
    ///
    /// # Errors
    /// When a repository can't be read or searched, or there is nothing to ask.
    pub(super) fn each<T>(
        &self,
        env: &Env,
        mut ask: impl FnMut(&EconomyRepository) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let model = self.ranking.model(env)?;
        let repositories = match &self.places {
            Some(places) => self.about_places(places)?,
            None => self.about_files()?,
        };
        let bar = bar(repositories.len() as u64, "asking");
        let mut answers = Vec::new();
        for mut repository in repositories {
            repository.questions = repository.questions.into_iter().step_by(self.every.get()).collect();
            let EconomyRepository { name, root, .. } = &repository;
            let root = root.canonicalize().with_context(|| root.display().to_string())?;
            BenchRepository::open(name, None, &root, env, model.clone(), &self.ranking)?;
            repository.root = root;
            answers.extend(ask(&repository)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(answers)
    }

    fn about_places(&self, places: &Path) -> Result<Vec<EconomyRepository>> {
        let repositories = asked(places, self.aside, &self.only)?.into_iter().map(|repository| {
            let question = |question: &PlaceQuestion| EconomyQuestion {
                text: question.question.clone(),
                kind: question.kind.clone(),
                targets: question
                    .places()
                    .map(|place| {
                        let (first, last) = place.lines;
                        EconomyTarget::Lines(place.path.clone(), first as usize, last as usize)
                    })
                    .collect(),
            };
            let questions = repository.questions.iter().map(question).collect();
            EconomyRepository { root: self.repos.join(&repository.name), name: repository.name, questions }
        });
        Ok(repositories.collect())
    }

    fn about_files(&self) -> Result<Vec<EconomyRepository>> {
        let specs: Vec<Spec> = self.specs.as_deref().map(read_json).transpose()?.unwrap_or_default();
        let mut repositories = Vec::new();
        let folders: Vec<Vec<(String, PathBuf)>> =
            self.annotations.iter().map(|folder| annotation_files(folder)).collect::<Result<_>>()?;
        for (name, path) in folders.into_iter().flatten() {
            if !self.only.is_empty() && !self.only.contains(&name) {
                continue;
            }
            let below = specs.iter().find(|spec| spec.name == name).and_then(|spec| spec.benchmark_root.clone());
            let root = self.repos.join(&name).join(below.as_deref().unwrap_or_default());
            if !root.is_dir() {
                eprintln!("colgrep-bench: {name}: there is no folder {}; left out", root.display());
                continue;
            }
            // Paths are those of the repository.
            let prefix = below.map_or_else(String::new, |below| format!("{below}/"));
            let questions = read_annotations(&path)?.into_iter().map(|annotation| EconomyQuestion {
                kind: annotation.category.clone().unwrap_or_else(|| "question".into()),
                targets: annotation
                    .relevant
                    .iter()
                    .map(|file| {
                        let path = file.path();
                        EconomyTarget::File(path.strip_prefix(&prefix).unwrap_or(path).to_string())
                    })
                    .collect(),
                text: annotation.query,
            });
            repositories.push(EconomyRepository { questions: questions.collect(), name, root });
        }
        if repositories.is_empty() {
            bail!("nothing to ask: --annotations has no questions about the repositories in {}", self.repos.display());
        }
        Ok(repositories)
    }
}
