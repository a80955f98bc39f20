//! The model of the ranking by meaning: which one is chosen, opened once, and how the index keeps its vectors.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use colgrep_encoder::{Encoder, ModelSpec, Multivector, RuntimeEnv};
use colgrep_index::mode::VectorMode;
use colgrep_index::store::Snapshot;
use colgrep_index::update::{Encoding, UpdateBudget};
use colgrep_index::vector::{Codebook, Memory};
use colgrep_search::{Mode, Semantic};

use crate::error::{Refused, Result};
use crate::project::Project;
use crate::request::RankBy;
use crate::settings::env::Env;

/// Candidates that a search encodes itself where the index keeps no vectors: with the embedded model, about 15 ms of a
/// core.
pub const LITE_CANDIDATES: usize = 50;
/// Longest time that a search spends on vectors before it answers with those that are there: where somebody waits, and
/// else.
const HURRIED_BUDGET: Duration = Duration::from_millis(400);
const SEARCH_BUDGET: Duration = Duration::from_secs(8);
/// Vectors of texts that a server remembers, in bytes: a thousand of the longest with the model in the program.
const MEMORY_BYTES: usize = 32 << 20;

/// An open model, and whether indexes keep its vectors.
pub struct Model {
    encoder: Arc<dyn Encoder>,
    codebook: Option<Codebook>,
    /// Whether indexes keep its vectors; else a search encodes its best candidates.
    stored: bool,
    /// What it was opened by: the one in the program, a folder or a hub's name.
    spec: ModelSpec,
    /// Vectors that searches made, in a server.
    memory: Option<Memory>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({})", self.encoder.name())
    }
}

/// A model as flags and settings choose it.
#[derive(Clone, Debug, Default)]
pub struct ModelChoice {
    /// What was written: a folder, a hub's name or `default`; the model in the program where nothing was.
    pub name: Option<String>,
    /// The repository's file that names it, if no person did.
    pub repository: Option<PathBuf>,
    /// What the index keeps for the ranking by meaning.
    pub vectors: VectorMode,
}

impl Model {
    /// Opens the model of a search; `None` for one by keywords alone.
    pub fn of_search(choice: &ModelChoice, by: RankBy, env: &Env) -> Result<Option<Model>> {
        if by == RankBy::Words || (by == RankBy::Both && choice.vectors == VectorMode::Keyword) {
            return Ok(None);
        }
        let env = without_download(choice, env)?;
        Model::open(choice.name.as_deref(), choice.vectors == VectorMode::Full, &env).map(Some)
    }

    /// Opens the model that an index is made with; `None` where it keeps no vectors.
    pub fn of_index(choice: &ModelChoice, env: &Env) -> Result<Option<Model>> {
        if choice.vectors != VectorMode::Full {
            return Ok(None);
        }
        let env = without_download(choice, env)?;
        Model::open(choice.name.as_deref(), true, &env).map(Some)
    }

    /// Opens a model by its name; the embedded one without a name. `stored` is whether indexes keep its vectors.
    pub fn open(name: Option<&str>, stored: bool, env: &Env) -> Result<Model> {
        let spec = name.filter(|n| !n.is_empty()).map_or(Ok(ModelSpec::Embedded), ModelSpec::parse)?;
        // The model in the program needs nothing of the environment, which takes a look around each place to tell.
        let runtime = if spec == ModelSpec::Embedded { RuntimeEnv::default() } else { runtime(env) };
        let encoder = colgrep_encoder::open(&spec, &runtime)?;
        let codebook = match spec {
            ModelSpec::Embedded => Some(Codebook::embedded()?),
            _ => None,
        };
        Ok(Model { encoder, codebook, stored, spec, memory: None })
    }

    /// The same model, which remembers what searches encode: for a server.
    pub fn remembering(self) -> Model {
        Model { memory: Some(Memory::new(MEMORY_BYTES)), ..self }
    }

    /// What an update needs to keep this model's vectors in the index; `None` where it keeps none.
    pub fn encoding(&self, budget: Option<Duration>) -> Option<Encoding<'_>> {
        let encoding = Encoding { codebook: self.codebook.as_ref(), budget, ..Encoding::new(&*self.encoder) };
        self.stored.then_some(encoding)
    }

    /// The same for a search, which waits for vectors only so long, and in a hurry no longer than `hurried` allows.
    pub fn encoding_of_search(&self, hurried: Option<UpdateBudget>) -> Option<Encoding<'_>> {
        self.encoding(Some(hurried.map_or(SEARCH_BUDGET, |budget| HURRIED_BUDGET.min(budget.later))))
    }

    /// How a search of this index uses the model: by stored vectors; where the index has none of this model, by encoding
    /// the best [`LITE_CANDIDATES`] itself.
    pub fn semantic(&self, snapshot: &Snapshot, by: RankBy) -> Semantic<'_> {
        let own = snapshot.vectors.as_ref().is_some_and(|v| v.manifest().fingerprint == self.encoder.fingerprint());
        self.semantic_of(own, by)
    }

    /// The same, where it is known whether the indexes have vectors of this model.
    pub fn semantic_of(&self, own: bool, by: RankBy) -> Semantic<'_> {
        let mode = if by == RankBy::Meaning { Mode::SemanticOnly } else { Mode::Hybrid };
        let encode_max = if self.stored && own { 0 } else { LITE_CANDIDATES };
        Semantic { mode, encode_max, memory: self.memory.as_ref(), ..Semantic::new(&*self.encoder) }
    }

    /// The vectors of a unit's text.
    pub fn document(&self, text: &str) -> Result<Option<Multivector>> {
        Ok(self.encoder.encode_documents(&[text])?.into_iter().next())
    }

    /// Whether a search would make vectors for an index.
    pub fn lacks(&self, snapshot: &Snapshot) -> bool {
        self.encoding_of_search(None).is_some_and(|e| !e.is_done(snapshot))
    }

    /// What the ranking by meaning lacks in an index that should keep this model's vectors.
    pub fn lacking(&self, snapshot: &Snapshot) -> Option<Lacking> {
        let encoding = self.encoding_of_search(None)?;
        let what = match &snapshot.files.vectors {
            None => MissingVectors::All,
            Some(stored) if stored.fingerprint != self.encoder.fingerprint() => {
                MissingVectors::OtherModel { stored: stored.model.clone() }
            }
            Some(_) if snapshot.damage.is_some() => {
                MissingVectors::Damaged(snapshot.damage.as_ref().map_or_else(String::new, colgrep_index::Error::full))
            }
            Some(_) if encoding.is_done(snapshot) => return None,
            Some(_) => {
                let coverage = snapshot.coverage();
                let without = Some(coverage.without_vectors()).filter(|lack| *lack > 0)?;
                MissingVectors::Units { without, all: coverage.units }
            }
        };
        Some(Lacking { model: self.spec.clone(), what })
    }

    pub fn fingerprint(&self) -> u64 {
        self.encoder.fingerprint()
    }

    pub fn name(&self) -> &str {
        self.encoder.name()
    }
}

/// What the ranking by meaning lacks in an index.
#[derive(Clone, Debug)]
pub struct Lacking {
    /// The model whose vectors are meant.
    pub model: ModelSpec,
    pub what: MissingVectors,
}

/// Vectors that an index lacks. Without any, a search ranks only the best [`LITE_CANDIDATES`] units by meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingVectors {
    /// All vectors are missing.
    All,
    /// Those that are there are of another model.
    OtherModel {
        /// That model's name.
        stored: String,
    },
    /// They can't be read, for this reason.
    Damaged(String),
    /// Some units have none yet.
    Units {
        /// Units without vectors.
        without: u64,
        all: u64,
    },
}

/// The environment to open a model in. Where only a repository's file names it, nothing is fetched: whoever clones a
/// repository has not asked for that.
///
/// # Errors
/// When such a model is one of the hub's and not on this machine.
fn without_download<'e>(choice: &ModelChoice, env: &'e Env) -> Result<Cow<'e, Env>> {
    let (Some(name), Some(file)) = (&choice.name, &choice.repository) else { return Ok(Cow::Borrowed(env)) };
    let Ok(ModelSpec::Hub(id)) = ModelSpec::parse(name) else { return Ok(Cow::Borrowed(env)) };
    let runtime = env.runtime();
    let cache = runtime.hf_home.or_else(|| Some(runtime.home?.join(".cache").join("huggingface")));
    if !cache.is_some_and(|c| c.join("hub").join(format!("models--{}", id.replace('/', "--"))).is_dir()) {
        return Err(Refused::NotFetched { file: file.clone(), id }.into());
    }
    Ok(Cow::Owned(env.offline()))
}

/// What models need of the environment. No library is loaded from the projects around the current folder and around
/// what the command works on.
pub fn runtime(env: &Env) -> RuntimeEnv {
    let here = Path::new(".");
    let places = env.places().iter().map(PathBuf::as_path).chain([here]);
    let mut projects: Vec<PathBuf> = places.flat_map(|place| projects_around(place, env)).collect();
    projects.sort_unstable();
    projects.dedup();
    RuntimeEnv { projects, ..env.runtime() }
}

/// The root of the project around a path, and those of the enclosing repositories, except a home folder.
fn projects_around(place: &Path, env: &Env) -> Vec<PathBuf> {
    let Ok((project, _)) = Project::around(place, env) else { return Vec::new() };
    let home = env.home.as_ref().and_then(|home| home.canonicalize().ok());
    let is_repository = |folder: &&Path| home.as_deref() != Some(folder) && folder.join(".git").exists();
    let around = project.root.ancestors().skip(1).filter(is_repository).map(Path::to_path_buf);
    around.chain([project.root.clone()]).collect()
}
