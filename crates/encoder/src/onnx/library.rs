//! Finds and loads the shared library of ONNX Runtime.
//!
//! A process loads at most one, and keeps it. Nothing is downloaded: a library comes with the Python package
//! `onnxruntime`, with the system, or beside this program.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::{Error, RuntimeEnv};

/// A loaded library.
#[derive(Clone)]
pub(crate) struct Library {
    /// Where sessions are made.
    pub(crate) environment: Environment,
    /// The file that was taken.
    pub(crate) path: PathBuf,
}

/// The library of this process, once one is loaded.
static LOADED: Mutex<Option<Library>> = Mutex::new(None);

/// A file that was tried in vain, and why.
pub(crate) type Tried = (PathBuf, String);

/// The library of this process: loaded before, or the first that loads of [`candidates`].
///
/// # Errors
/// When none loads, with how to get one. The files tried are added to `tried`.
pub(crate) fn library(env: &RuntimeEnv, tried: &mut Vec<Tried>) -> Result<Library, Error> {
    let mut loaded = LOADED.lock().map_err(|_| Error("loading ONNX Runtime failed before".into()))?;
    if let Some(library) = &*loaded {
        return Ok(library.clone());
    }
    for path in candidates(env) {
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
            .map_err(|error| Error(format!("ONNX Runtime of {} does not start: {error}", path.display())))?;
        // Errors are returned too; the library would write them to stderr a second time.
        environment.set_log_level(LogLevel::Fatal);
        let library = Library { environment, path };
        *loaded = Some(library.clone());
        return Ok(library);
    }
    Err(missing(env, tried))
}

/// Why a file does not load; the loader's own words are one level down.
fn why(error: &LoadDynamicError) -> String {
    match error {
        LoadDynamicError::Dlopen { error, .. } => {
            std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
        }
        other => other.to_string(),
    }
}

/// What to do where no library loads.
fn missing(env: &RuntimeEnv, tried: &[Tried]) -> Error {
    if let Some(named) = &env.ort_dylib_path {
        let why = match tried {
            [] => "no library is there".to_string(),
            [(_, why), ..] => why.clone(),
        };
        return Error(format!(
            "ORT_DYLIB_PATH={} can't be loaded: {why}; name a libonnxruntime of version 1.{} or later, or unset it",
            named.display(),
            ort::MINOR_VERSION
        ));
    }
    let mut message = format!(
        "this model needs ONNX Runtime 1.{} or later, and no library of it was found; `pip install onnxruntime` in \
         the Python environment in use brings one, and ORT_DYLIB_PATH=FILE names any other",
        ort::MINOR_VERSION
    );
    // A file that is there but does not load says more than names that the system's loader does not know.
    if let Some((path, why)) = tried.iter().find(|(path, _)| path.is_absolute()) {
        message.push_str(&format!(" (found {}: {why})", path.display()));
    }
    Error(message)
}

/// Files to try, in order: the one that ORT_DYLIB_PATH names (then no other), beside the executable, in Python
/// environments, in system folders, and last by name, wherever the system's loader looks.
pub(crate) fn candidates(env: &RuntimeEnv) -> Vec<PathBuf> {
    if let Some(named) = &env.ort_dylib_path {
        return if named.is_dir() { libraries(named) } else { vec![named.clone()] };
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(folder) = env.executable.as_deref().and_then(Path::parent) {
        folders.extend([folder.to_path_buf(), folder.join("../lib")]);
    }
    for prefix in python_prefixes(env) {
        folders.extend(site_packages(&prefix).into_iter().map(|site| site.join("onnxruntime").join("capi")));
        folders.push(prefix.join("lib"));
    }
    folders.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from));
    let mut files: Vec<PathBuf> = Vec::new();
    for file in folders.iter().flat_map(|folder| libraries(folder)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files.push(PathBuf::from(format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)));
    files
}

/// Where packages and people install libraries.
const SYSTEM_FOLDERS: [&str; 8] = [
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/homebrew/lib",
    "/opt/onnxruntime/lib",
];

/// Installation prefixes of Python: the active environments, those whose interpreter is in PATH, the user's own.
fn python_prefixes(env: &RuntimeEnv) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = [&env.virtual_env, &env.conda_prefix].into_iter().flatten().cloned().collect();
    let interpreters = ["python3", "python", "python.exe"];
    for file in env.path.iter().flat_map(|folder| interpreters.map(|name| folder.join(name))) {
        // As it is named, and as its links lead: an environment's interpreter is a link to the system's.
        for file in [Some(file.clone()), file.canonicalize().ok()].into_iter().flatten().filter(|f| f.exists()) {
            let folder = file.parent().unwrap_or(Path::new(""));
            let prefix = if folder.ends_with("bin") { folder.parent().unwrap_or(folder) } else { folder };
            prefixes.push(prefix.to_path_buf());
        }
    }
    prefixes.extend(env.home.iter().map(|home| home.join(".local")));
    let mut distinct: Vec<PathBuf> = Vec::new();
    for prefix in prefixes {
        if !distinct.contains(&prefix) {
            distinct.push(prefix);
        }
    }
    distinct
}

/// The folders of installed packages below a prefix.
fn site_packages(prefix: &Path) -> Vec<PathBuf> {
    let mut sites = vec![prefix.join("Lib").join("site-packages")];
    for lib in ["lib", "lib64", "local/lib"] {
        let mut versions: Vec<PathBuf> = names(&prefix.join(lib))
            .into_iter()
            .filter(|name| name.starts_with("python3"))
            .map(|name| prefix.join(lib).join(name))
            .collect();
        versions.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
        sites.extend(versions.iter().flat_map(|folder| ["site-packages", "dist-packages"].map(|p| folder.join(p))));
    }
    sites
}

/// Files in a folder that are named like the library, the newest version first.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = names(folder)
        .into_iter()
        .filter(|name| {
            let name = name.to_ascii_lowercase();
            // `libonnxruntime_providers_shared` and the like are parts of it.
            match name.strip_prefix("lib").unwrap_or(&name).strip_prefix("onnxruntime") {
                Some(rest) => rest.starts_with('.') && [".so", ".dylib", ".dll"].iter().any(|end| rest.contains(end)),
                None => false,
            }
        })
        .map(|name| folder.join(name))
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(version(file)));
    files
}

/// Names in a folder; none if it can't be read.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The numbers in a file's name, to order versions by.
pub(crate) fn version(file: &Path) -> Vec<u32> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = [
            "app/libonnxruntime.so",
            "venv/lib/python3.9/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.0",
            "venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.19.0",
            "venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.1",
            "conda/lib/libonnxruntime.1.23.0.dylib",
            "win/Lib/site-packages/onnxruntime/capi/onnxruntime.dll",
        ];
        let others = ["app/libonnxruntime_providers_shared.so", "app/colgrep", "win/python.exe", "app/libother.so"];
        for file in files.iter().chain(&others) {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let env = RuntimeEnv {
            executable: Some(root.join("app/colgrep")),
            virtual_env: Some(root.join("venv")),
            conda_prefix: Some(root.join("conda")),
            path: vec![root.join("win"), root.join("nowhere")],
            ..RuntimeEnv::default()
        };
        let found: Vec<PathBuf> = candidates(&env).into_iter().filter(|path| path.starts_with(root)).collect();
        assert_eq!(found, [0, 3, 2, 1, 4, 5].map(|i| root.join(files[i])));
        let last = candidates(&env).pop().unwrap();
        assert!(last.is_relative() && last.to_string_lossy().contains("onnxruntime"), "the loader's turn comes last");

        let named = RuntimeEnv { ort_dylib_path: Some(root.join("own.so")), ..env.clone() };
        assert_eq!(candidates(&named), [root.join("own.so")], "a named file is the only one");
        let named = RuntimeEnv { ort_dylib_path: Some(root.join("conda/lib")), ..env };
        assert_eq!(candidates(&named), [root.join(files[4])], "or a folder");
    }

    #[test]
    fn no_library_says_how_to_get_one() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("libonnxruntime.so");
        std::fs::write(&broken, "no library").unwrap();
        let named = |path: &Path| RuntimeEnv { ort_dylib_path: Some(path.into()), ..RuntimeEnv::default() };
        for (path, expected) in [
            (broken.clone(), "libonnxruntime.so can't be loaded: "),
            (folder.path().join("nothing.so"), "nothing.so can't be loaded: "),
            (folder.path().join("nowhere"), "name a libonnxruntime of version 1.17 or later, or unset it"),
        ] {
            let mut tried = Vec::new();
            let error = library(&named(&path), &mut tried).err().expect(expected).0;
            assert!(error.contains(expected) && error.contains("ORT_DYLIB_PATH="), "{error}");
            assert_eq!(tried.len(), 1);
        }
        let error = missing(&RuntimeEnv::default(), &[(broken, "too short".into())]).0;
        for part in ["`pip install onnxruntime`", "ORT_DYLIB_PATH=FILE", "libonnxruntime.so: too short"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
