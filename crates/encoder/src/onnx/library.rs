//! Loads the shared library of ONNX Runtime: at most one per process, when a model first needs it. Nothing is
//! downloaded: it comes with the Python package `onnxruntime`, with the system, or next to this program.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::logging::LogLevel;

use super::find::{Candidates, Refused, candidates};
use crate::{Error, RuntimeEnv};

/// A loaded library.
#[derive(Clone)]
pub(crate) struct Library {
    /// Where sessions are made.
    pub(crate) environment: Environment,
    /// The loaded file.
    pub(crate) path: PathBuf,
}

/// The library of this process, once one is loaded.
static LOADED: Mutex<Option<Library>> = Mutex::new(None);

/// A file that did not load, and why.
type Tried = (PathBuf, String);

/// The library of this process: loaded before, or the first of [`candidates`] that loads.
///
/// # Errors
/// When none loads, with how to get one.
pub(crate) fn library(env: &RuntimeEnv) -> Result<Library, Error> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = &*loaded {
        return Ok(library.clone());
    }
    let Candidates { files, refused } = candidates(env);
    let mut tried: Vec<Tried> = Vec::new();
    for path in files {
        let builder = match ort::init_from(&path) {
            Ok(builder) => builder,
            Err(error) => {
                tried.push((path, why(&error)));
                continue;
            }
        };
        let environment = builder
            .with_name("colgrep")
            .with_telemetry(false)
            .build()
            .map_err(|error| Error::runtime(format!("ONNX Runtime of {} does not start", path.display()), error))?;
        // Errors are returned too, so the library need not write them to stderr.
        environment.set_log_level(LogLevel::Fatal);
        let library = Library { environment, path };
        *loaded = Some(library.clone());
        return Ok(library);
    }
    Err(missing(env, &tried, &refused))
}

/// The library of this process, if one is loaded.
pub(crate) fn loaded() -> Option<Library> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Why a file does not load; the loader's message is one level down.
fn why(error: &LoadDynamicError) -> String {
    match error {
        LoadDynamicError::Dlopen { error, .. } => {
            std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
        }
        other => other.to_string(),
    }
}

/// Explains what to do if no library loads.
fn missing(env: &RuntimeEnv, tried: &[Tried], refused: &[Refused]) -> Error {
    if let Some(named) = &env.ort_dylib_path {
        let why = tried.iter().chain(refused).next();
        let why = why.map_or("no library is there", |(_, why)| why);
        return Error::NoRuntime(format!(
            "ORT_DYLIB_PATH={} can't be loaded: {why}; name a libonnxruntime of version 1.{} or later by its full path, or unset it",
            named.display(),
            ort::MINOR_VERSION
        ));
    }
    let mut message = format!(
        "this model needs ONNX Runtime 1.{} or later, and no library of it was found; `pip install onnxruntime` in \
         the Python environment in use brings one, and ORT_DYLIB_PATH=FILE names any other",
        ort::MINOR_VERSION
    );
    // A file that exists but does not load is more informative than names that the system's loader does not know.
    if let Some((path, why)) = tried.iter().find(|(path, _)| path.is_absolute()) {
        message.push_str(&format!(" (found {}: {why})", path.display()));
    } else if let Some((path, why)) = refused.first() {
        message.push_str(&format!(" (found {}, which is not loaded, since {why})", path.display()));
    }
    Error::NoRuntime(message)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn no_library_says_how_to_get_one() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("libonnxruntime.so");
        std::fs::write(&broken, "no library").unwrap();
        let named = |path: &Path| RuntimeEnv { ort_dylib_path: Some(path.into()), ..RuntimeEnv::default() };
        for (path, expected) in [
            (broken.clone(), "libonnxruntime.so can't be loaded: "),
            (folder.path().join("nothing.so"), "nothing.so can't be loaded: "),
            (
                folder.path().join("nowhere"),
                "name a libonnxruntime of version 1.17 or later by its full path, or unset it",
            ),
        ] {
            let error = library(&named(&path)).err().expect(expected).full();
            assert!(error.contains(expected) && error.contains("ORT_DYLIB_PATH="), "{error}");
        }
        let error = missing(&RuntimeEnv::default(), &[(broken.clone(), "too short".into())], &[]).full();
        for part in ["`pip install onnxruntime`", "ORT_DYLIB_PATH=FILE", "libonnxruntime.so: too short"] {
            assert!(error.contains(part), "{error}");
        }
        let committed = (broken, "it lies inside the project /p".to_string());
        let error = missing(&RuntimeEnv::default(), &[], &[committed]).full();
        assert!(error.contains("libonnxruntime.so, which is not loaded, since it lies inside the project"), "{error}");
        let relative = named(Path::new("lib/onnxruntime.so"));
        let error = library(&relative).err().expect("an error").full();
        assert!(error.contains("ORT_DYLIB_PATH=lib/onnxruntime.so can't be loaded: it is no full path"), "{error}");
    }
}
