//! The model of the ranking by meaning: which one is chosen, opened once, and how the index keeps its vectors.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use colgrep_encoder::{EMBEDDED_CODEBOOK, Encoder, ModelSpec, Multivector};
use colgrep_index::semantic::{Mode, Semantic};
use colgrep_index::vector::{Codebook, Encoding};

use crate::args::{IndexMode, SearchArgs, WalkArgs};
use crate::env::Env;
use crate::settings::Settings;

/// Candidates that a search encodes itself where the index keeps no vectors: with reading and parsing their files, about
/// 80 ms of a core.
const LITE_CANDIDATES: usize = 50;
/// Longest time that a search spends on vectors before it answers with those that are there.
const SEARCH_BUDGET: Duration = Duration::from_secs(8);

/// A model, open, and what is done with it.
pub struct Model {
    encoder: Arc<dyn Encoder>,
    codebook: Option<Codebook>,
    mode: Mode,
    stored: bool,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({}, {:?})", self.encoder.name(), self.mode)
    }
}

impl Model {
    /// Opens the model that flags and settings choose for a search; `None` for one by keywords alone.
    ///
    /// # Errors
    /// When it can't be opened.
    pub(crate) fn of_search(args: &SearchArgs, env: &Env) -> Result<Option<Model>> {
        let mode = if args.semantic_only { Mode::SemanticOnly } else { Mode::Hybrid };
        match args.walk.index_mode.unwrap_or_default() {
            // Counting, and naming what does not match, is about words: by meaning everything is near by some measure.
            _ if args.keyword_only || args.count || args.files_without_match => Ok(None),
            IndexMode::Keyword if !args.semantic_only => Ok(None),
            index_mode => Model::open(args.model.as_deref(), index_mode == IndexMode::Full, mode, env).map(Some),
        }
    }

    /// Opens the model that an index is made with; `None` where it keeps no vectors.
    ///
    /// # Errors
    /// When it can't be opened.
    pub(crate) fn of_index(walk: &WalkArgs, model: Option<&str>, env: &Env) -> Result<Option<Model>> {
        match walk.index_mode.unwrap_or_default() {
            IndexMode::Full => Model::open(model, true, Mode::Hybrid, env).map(Some),
            IndexMode::Lite | IndexMode::Keyword => Ok(None),
        }
    }

    /// Opens a model by what somebody wrote; the one in the program where nobody did.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open(name: Option<&str>, stored: bool, mode: Mode, env: &Env) -> Result<Model> {
        let spec = name.filter(|n| !n.is_empty()).map_or(Ok(ModelSpec::Embedded), ModelSpec::parse)?;
        let encoder = colgrep_encoder::open(&spec, &env.runtime())?;
        let codebook = match spec {
            ModelSpec::Embedded => Some(Codebook::from_bytes(EMBEDDED_CODEBOOK)?),
            ModelSpec::Folder(_) | ModelSpec::Hub(_) => None,
        };
        Ok(Model { encoder, codebook, mode, stored })
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

    /// How a search uses it.
    pub fn semantic(&self) -> Semantic<'_> {
        let encode_max = if self.stored { 0 } else { LITE_CANDIDATES };
        Semantic { mode: self.mode, encode_max, ..Semantic::new(&*self.encoder) }
    }

    /// The vectors of a unit's text.
    ///
    /// # Errors
    /// When the model can't be run.
    pub(crate) fn document(&self, text: &str) -> Result<Option<Multivector>> {
        Ok(self.encoder.encode_documents(&[text])?.into_iter().next())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.encoder.name()
    }
}

/// The model that the settings of a folder name.
///
/// # Errors
/// When a file of them is not to be understood.
pub(crate) fn chosen(env: &Env, folder: &Path) -> Result<Option<String>> {
    Ok(Settings::load(env, folder)?.model().map(str::to_string))
}

/// The index mode of that name, as settings write it.
pub(crate) fn index_mode(name: &str) -> Option<IndexMode> {
    IndexMode::from_str(name, true).ok()
}
