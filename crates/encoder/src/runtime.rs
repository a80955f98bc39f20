//! The environment of models: shared libraries, caches, the network; and a report on ONNX Runtime.

use std::path::PathBuf;

/// The environment variables that matter to models, read by the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeEnv {
    /// `ORT_DYLIB_PATH`: ONNX Runtime's library, or the folder that contains it; then no other is tried.
    pub ort_dylib_path: Option<PathBuf>,
    /// This program's file.
    pub executable: Option<PathBuf>,
    /// `VIRTUAL_ENV`: the active Python environment.
    pub virtual_env: Option<PathBuf>,
    /// `CONDA_PREFIX`: the active conda environment.
    pub conda_prefix: Option<PathBuf>,
    /// The folders of `PATH`, which are searched for Python interpreters.
    pub path: Vec<PathBuf>,
    /// The folders of the system loader's own search path: `LD_LIBRARY_PATH`, on macOS `DYLD_LIBRARY_PATH`.
    pub library_path: Vec<PathBuf>,
    /// Roots of the current projects: no library below them is loaded, since a clone can contain one.
    pub projects: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `HF_HOME`: Hugging Face's folder, else `~/.cache/huggingface`; models are in `hub` below it.
    pub hf_home: Option<PathBuf>,
    /// `HF_TOKEN`: the key for models that need one.
    pub hf_token: Option<String>,
    /// `HF_ENDPOINT`: a mirror of the hub.
    pub hf_endpoint: Option<String>,
    /// `HF_HUB_OFFLINE`: use only cached files.
    pub offline: bool,
}

/// Facts about ONNX Runtime on this machine, found without loading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeReport {
    /// Whether this program was built with ONNX Runtime (the feature `onnx`).
    pub compiled: bool,
    /// Execution providers that were compiled in, in the order they are tried.
    pub providers: Vec<&'static str>,
    /// Files that an ONNX model may be run by; the first that loads is used.
    pub candidates: Vec<PathBuf>,
    /// Existing files that must not be loaded, and why.
    pub refused: Vec<(PathBuf, String)>,
    pub library: Option<PathBuf>,
    /// Its version, if its file name includes it.
    pub version: Option<String>,
    /// Its own build information.
    pub build: Option<String>,
    /// The first execution provider that opens sessions with this library.
    pub provider: Option<&'static str>,
    /// Why ONNX models can't be used, and what to do.
    pub problem: Option<String>,
}
