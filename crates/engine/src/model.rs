//! The model of the ranking by meaning: which one is chosen, opened once, and how the index keeps its vectors.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use colgrep_encoder::{EMBEDDED_CODEBOOK, Encoder, ModelSpec, Multivector, RuntimeEnv};
use colgrep_index::mode::VectorMode;
use colgrep_index::search::{Mode, Semantic};
use colgrep_index::store::Snapshot;
use colgrep_index::update::Encoding;
use colgrep_index::vector::{Codebook, Memory};

use crate::env::Env;

/// Candidates that a search encodes itself where the index keeps no vectors: with the embedded model, about 15 ms of a
/// core.
const LITE_CANDIDATES: usize = 50;
/// Longest time that a search spends on vectors before it answers with those that are there.
const SEARCH_BUDGET: Duration = Duration::from_secs(8);
/// Vectors of texts that a server remembers, in bytes: a thousand of the longest with the model in the program.
const MEMORY_BYTES: usize = 32 << 20;

/// A model, open, and what is done with it.
pub struct Model {
    encoder: Arc<dyn Encoder>,
    codebook: Option<Codebook>,
    mode: Mode,
    stored: bool,
    /// As a person would write it.
    spec: ModelSpec,
    memory: Option<Memory>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({}, {:?})", self.encoder.name(), self.mode)
    }
}

/// Which rankings a search is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankBy {
    /// Words and meaning.
    #[default]
    Both,
    /// Words and structure alone.
    Words,
    /// Meaning alone.
    Meaning,
}

/// A model as flags and settings choose it.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What was written: a folder, a hub's name or `default`; the model in the program where nothing was.
    pub name: Option<String>,
    /// The repository's file that names it, if no person did.
    pub repository: Option<PathBuf>,
    /// What the index keeps for the ranking by meaning.
    pub vectors: VectorMode,
}

impl Model {
    /// Opens the model of a search; `None` for one by keywords alone.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn of_search(choice: &Choice, by: RankBy, env: &Env) -> Result<Option<Model>> {
        let mode = match (by, choice.vectors) {
            (RankBy::Words, _) | (RankBy::Both, VectorMode::Keyword) => return Ok(None),
            (RankBy::Both, _) => Mode::Hybrid,
            (RankBy::Meaning, _) => Mode::SemanticOnly,
        };
        let env = without_download(choice, env)?;
        Model::open(choice.name.as_deref(), choice.vectors == VectorMode::Full, mode, &env).map(Some)
    }

    /// Opens the model that an index is made with; `None` where it keeps no vectors.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn of_index(choice: &Choice, env: &Env) -> Result<Option<Model>> {
        if choice.vectors != VectorMode::Full {
            return Ok(None);
        }
        let env = without_download(choice, env)?;
        Model::open(choice.name.as_deref(), true, Mode::Hybrid, &env).map(Some)
    }

    /// Opens a model by what somebody wrote; the one in the program where nobody did.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open(name: Option<&str>, stored: bool, mode: Mode, env: &Env) -> Result<Model> {
        let spec = name.filter(|n| !n.is_empty()).map_or(Ok(ModelSpec::Embedded), ModelSpec::parse)?;
        // The model in the program needs nothing of the environment, which takes a look around each place to tell.
        let runtime = if spec == ModelSpec::Embedded { RuntimeEnv::default() } else { env.runtime() };
        let encoder = colgrep_encoder::open(&spec, &runtime)?;
        let codebook = match spec {
            ModelSpec::Embedded => Some(Codebook::from_bytes(EMBEDDED_CODEBOOK)?),
            _ => None,
        };
        Ok(Model { encoder, codebook, mode, stored, spec, memory: None })
    }

    /// The same model, which remembers what searches encode: for a server.
    pub fn remembering(self) -> Model {
        Model { memory: Some(Memory::new(MEMORY_BYTES)), ..self }
    }

    /// The wish that the index keep this model's vectors; `None` where it is to keep none.
    pub fn encoding(&self, budget: Option<Duration>) -> Option<Encoding<'_>> {
        let encoding = Encoding { codebook: self.codebook.as_ref(), budget, ..Encoding::new(&*self.encoder) };
        self.stored.then_some(encoding)
    }

    /// The same for a search, which waits only so long.
    pub fn encoding_of_search(&self) -> Option<Encoding<'_>> {
        self.encoding(Some(SEARCH_BUDGET))
    }

    /// How a search uses it in an index: what is stored, or, where nothing of this model is, the best candidates.
    pub fn semantic(&self, snapshot: &Snapshot) -> Semantic<'_> {
        let own = snapshot.vectors.as_ref().is_some_and(|v| v.manifest().fingerprint == self.encoder.fingerprint());
        let encode_max = if self.stored && own { 0 } else { LITE_CANDIDATES };
        Semantic { mode: self.mode, encode_max, memory: self.memory.as_ref(), ..Semantic::new(&*self.encoder) }
    }

    /// The vectors of a unit's text.
    ///
    /// # Errors
    /// When the model can't be run.
    pub fn document(&self, text: &str) -> Result<Option<Multivector>> {
        Ok(self.encoder.encode_documents(&[text])?.into_iter().next())
    }

    /// Whether a search would make vectors for an index.
    pub fn lacks(&self, snapshot: &Snapshot) -> bool {
        self.encoding_of_search().is_some_and(|e| !e.is_done(snapshot))
    }

    /// What the ranking by meaning lacks in an index that should keep this model's vectors, and who makes it: `maker`,
    /// if somebody is at it, else `init`.
    pub fn lacking(&self, snapshot: &Snapshot, maker: impl FnOnce() -> Option<&'static str>) -> Option<String> {
        let encoding = self.encoding_of_search()?;
        let only = format!("by meaning, a search ranks only the best {LITE_CANDIDATES} units by words");
        let init = format!("`colgrep init --model {}`", self.spec);
        let maker = |init: &str| maker().map_or_else(|| init.to_string(), str::to_string);
        match &snapshot.files.vectors {
            None => {
                Some(format!("the index has no vectors of {}: {only}; {} makes them", self.in_words(), maker(&init)))
            }
            Some(stored) if stored.fingerprint != self.encoder.fingerprint() => Some(format!(
                "the index has vectors of the model {}, not of {}: {only}; {init} replaces them",
                stored.model,
                self.in_words()
            )),
            Some(_) if snapshot.damage.is_some() => {
                let damage = snapshot.damage.as_ref().map_or("", |e| e.message());
                Some(format!("{damage}: {only}; {} makes the vectors anew", maker("`colgrep init`")))
            }
            Some(_) if encoding.is_done(snapshot) => None,
            Some(_) => {
                let coverage = snapshot.coverage();
                let (lack, all) = (Some(coverage.without_vectors()).filter(|lack| *lack > 0)?, coverage.units);
                Some(format!(
                    "{lack} of {all} units are ranked by words alone so far; {} makes the rest of their vectors",
                    maker("`colgrep init`")
                ))
            }
        }
    }

    /// What messages call it.
    fn in_words(&self) -> String {
        match &self.spec {
            ModelSpec::Embedded => "the embedded model".to_string(),
            other => format!("the model {other}"),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.encoder.name()
    }
}

/// The environment to open a model in. Where only a repository's file names it, nothing is fetched: whoever clones a
/// repository has not asked for that.
///
/// # Errors
/// When such a model is one of the hub's and not on this machine.
fn without_download<'e>(choice: &Choice, env: &'e Env) -> Result<Cow<'e, Env>> {
    let (Some(name), Some(file)) = (&choice.name, &choice.repository) else { return Ok(Cow::Borrowed(env)) };
    let Ok(ModelSpec::Hub(id)) = ModelSpec::parse(name) else { return Ok(Cow::Borrowed(env)) };
    let runtime = env.runtime();
    let cache = runtime.hf_home.or_else(|| Some(runtime.home?.join(".cache").join("huggingface")));
    if !cache.is_some_and(|c| c.join("hub").join(format!("models--{}", id.replace('/', "--"))).is_dir()) {
        bail!(
            "{} names the model {id} of the Hugging Face hub, which is not on this machine, and a repository's file \
             fetches nothing; `colgrep init --model {id}` fetches it, and `--model default` takes the one in the program",
            file.display()
        );
    }
    Ok(Cow::Owned(env.offline()))
}
