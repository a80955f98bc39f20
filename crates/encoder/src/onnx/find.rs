//! Lists the files that may be loaded as ONNX Runtime, in order.
//!
//! Loading a library runs its code, and a cloned repository can contain one. So the search takes nothing below a
//! project's root and ignores relative and empty entries of search paths, which depend on the current folder. The
//! exception is a file that the user names in `ORT_DYLIB_PATH` by its full path.

use std::path::{Path, PathBuf};

use crate::RuntimeEnv;

/// A file that is refused, and why.
pub(crate) type Refused = (PathBuf, String);

/// The result of the search.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Files to try, in order. The last may be a bare name, for the system's loader.
    pub(crate) files: Vec<PathBuf>,
    /// Existing files that must not be loaded.
    pub(crate) refused: Vec<Refused>,
}

/// The library's name for the system's loader.
fn library_name() -> PathBuf {
    PathBuf::from(format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

/// Files to try, in order: the one that ORT_DYLIB_PATH names (then no other), next to the executable, in Python
/// environments, in the loader's own folders, in those of the system, and last by name, wherever the loader looks.
pub(crate) fn candidates(env: &RuntimeEnv) -> Candidates {
    if let Some(named) = &env.ort_dylib_path {
        let refused = |why: &str| Candidates { refused: vec![(named.clone(), why.into())], ..Candidates::default() };
        return match named {
            named if !named.is_absolute() => refused("it is no full path, so that it depends on the current folder"),
            named if named.is_dir() => Candidates { files: libraries(named), ..Candidates::default() },
            named => Candidates { files: vec![named.clone()], ..Candidates::default() },
        };
    }
    let mut found = Candidates::default();
    for folder in folders(env).iter().filter(|folder| folder.is_absolute()) {
        for file in libraries(folder) {
            let known = found.files.contains(&file) || found.refused.iter().any(|(refused, _)| *refused == file);
            match project_around(&file, &env.projects) {
                _ if known => {}
                Some(root) => found.refused.push((file, format!("it lies inside the project {}", root.display()))),
                None => found.files.push(file),
            }
        }
    }
    if loader_is_safe(env) {
        found.files.push(library_name());
    }
    found
}

/// Folders that are searched for libraries.
fn folders(env: &RuntimeEnv) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(folder) = env.executable.as_deref().and_then(Path::parent) {
        folders.push(folder.to_path_buf());
        folders.extend(folder.parent().map(|prefix| prefix.join("lib")));
    }
    for prefix in python_prefixes(env) {
        folders.extend(site_packages(&prefix).into_iter().map(|site| site.join("onnxruntime").join("capi")));
        folders.push(prefix.join("lib"));
    }
    folders.extend(loader_folders(env).iter().cloned());
    folders.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from));
    folders
}

/// The entries of the loader's search path that the environment sets.
fn loader_folders(env: &RuntimeEnv) -> &[PathBuf] {
    if cfg!(windows) { &env.path } else { &env.library_path }
}

/// Whether a bare name can't lead to a file of a project. On systems other than Linux, loaders search the current
/// folder too; on Linux, glibc does so for an empty entry of its search path, splits it at `;` as well as at `:`, and
/// expands `$ORIGIN`.
fn loader_is_safe(env: &RuntimeEnv) -> bool {
    let is_plain = |folder: &PathBuf| {
        folder.is_absolute()
            && !folder.to_string_lossy().contains([';', '$'])
            && project_around(folder, &env.projects).is_none()
    };
    cfg!(target_os = "linux") && env.library_path.iter().all(is_plain)
}

/// The project that contains a path, as named or with its links resolved.
fn project_around<'a>(path: &Path, projects: &'a [PathBuf]) -> Option<&'a Path> {
    let real = path.canonicalize();
    let lies_in = |root: &Path| path.starts_with(root) || real.as_ref().is_ok_and(|real| real.starts_with(root));
    let is_around = |root: &&PathBuf| lies_in(root) || root.canonicalize().is_ok_and(|root| lies_in(&root));
    projects.iter().find(is_around).map(PathBuf::as_path)
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
    let path = env.path.iter().filter(|folder| folder.is_absolute());
    for file in path.flat_map(|folder| interpreters.map(|name| folder.join(name))) {
        // As named, and with links resolved: an environment's interpreter is a link to the system's.
        for file in [Some(file.clone()), file.canonicalize().ok()].into_iter().flatten().filter(|f| f.exists()) {
            let folder = file.parent().unwrap_or(Path::new(""));
            let prefix = if folder.ends_with("bin") { folder.parent().unwrap_or(folder) } else { folder };
            prefixes.push(prefix.to_path_buf());
        }
    }
    prefixes.extend(env.home.iter().map(|home| home.join(".local")));
    let mut distinct: Vec<PathBuf> = Vec::new();
    for prefix in prefixes.into_iter().filter(|prefix| prefix.is_absolute()) {
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

/// Files in a folder that are named like the library, newest version first.
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

/// Names in a folder; empty if it can't be read.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The numbers in a file's name, for sorting by version.
pub(crate) fn version(file: &Path) -> Vec<u32> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where Python puts the library below a prefix.
    const CAPI: &str = "lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.0";

    fn write(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
    }

    /// The files of a search below `root`.
    fn below(root: &Path, env: &RuntimeEnv) -> Vec<PathBuf> {
        candidates(env).files.into_iter().filter(|path| path.starts_with(root)).collect()
    }

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
            "lib/libonnxruntime.so",
            "own/libonnxruntime.so.1",
        ];
        let others = ["app/libonnxruntime_providers_shared.so", "app/colgrep", "win/python.exe", "app/libother.so"];
        write(root, &files);
        write(root, &others);
        let env = RuntimeEnv {
            executable: Some(root.join("app/colgrep")),
            virtual_env: Some(root.join("venv")),
            conda_prefix: Some(root.join("conda")),
            path: vec![root.join("win"), root.join("nowhere")],
            library_path: if cfg!(windows) { Vec::new() } else { vec![root.join("own")] },
            ..RuntimeEnv::default()
        };
        let order: &[usize] = if cfg!(windows) { &[0, 6, 3, 2, 1, 4, 5] } else { &[0, 6, 3, 2, 1, 4, 5, 7] };
        assert_eq!(below(root, &env), order.iter().map(|i| root.join(files[*i])).collect::<Vec<_>>());
        let last = candidates(&env).files.pop().unwrap();
        assert_eq!(last.is_relative(), cfg!(target_os = "linux"), "the loader's turn comes last: {last:?}");

        let named = RuntimeEnv { ort_dylib_path: Some(root.join("own.so")), ..env.clone() };
        assert_eq!(candidates(&named).files, [root.join("own.so")], "a named file is the only one");
        let named = RuntimeEnv { ort_dylib_path: Some(root.join("conda/lib")), ..env };
        assert_eq!(candidates(&named).files, [root.join(files[4])], "or a folder");
    }

    /// A repository with a library at every place that is searched, cloned next to an installation outside.
    #[test]
    fn nothing_of_a_project_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().canonicalize().unwrap();
        let clone = outside.join("clone");
        let committed = [
            &format!(".venv/{CAPI}"),
            &format!(".local/{CAPI}"),
            "libonnxruntime.so",
            "lib/libonnxruntime.so",
            "bin/colgrep",
            "bin/python3",
            "bin/libonnxruntime.so",
        ];
        write(&clone, &committed);
        write(&outside, &[&format!("venv/{CAPI}")]);
        let env = RuntimeEnv { projects: vec![clone.clone()], ..RuntimeEnv::default() };
        let venv = |path: &Path| Some(path.to_path_buf());
        let rows: [(&str, RuntimeEnv, &str); 7] = [
            ("an environment", RuntimeEnv { virtual_env: venv(&clone.join(".venv")), ..env.clone() }, committed[0]),
            ("conda's", RuntimeEnv { conda_prefix: venv(&clone), ..env.clone() }, committed[3]),
            ("PATH", RuntimeEnv { path: vec![clone.join("bin")], ..env.clone() }, committed[3]),
            ("the program", RuntimeEnv { executable: venv(&clone.join("bin/colgrep")), ..env.clone() }, committed[6]),
            (
                "a way round",
                RuntimeEnv { virtual_env: venv(&outside.join("venv/../clone/.venv")), ..env.clone() },
                committed[0],
            ),
            ("the home", RuntimeEnv { home: venv(&clone), ..env.clone() }, committed[1]),
            (
                "the root by another name",
                RuntimeEnv {
                    projects: vec![outside.join("venv/../clone")],
                    virtual_env: venv(&clone.join(".venv")),
                    ..env.clone()
                },
                committed[0],
            ),
        ];
        for (what, env, refused) in rows {
            let found = candidates(&env);
            assert_eq!(below(&outside, &env), Vec::<PathBuf>::new(), "{what}");
            let is_told = |(file, why): &Refused| {
                file.canonicalize().is_ok_and(|file| file == clone.join(refused)) && why.contains("inside the project")
            };
            assert!(found.refused.iter().any(is_told), "{what}: {found:?}");
        }
        let env = RuntimeEnv { virtual_env: venv(&outside.join("venv")), ..env };
        assert_eq!(below(&outside, &env), [outside.join("venv").join(CAPI)], "a library next to it is");
        let named = clone.join("libonnxruntime.so");
        let env = RuntimeEnv { ort_dylib_path: Some(named.clone()), ..env };
        assert_eq!(candidates(&env).files, [named], "one that the user names by its full path is");
    }

    #[cfg(unix)]
    #[test]
    fn links_into_a_project_and_out_of_it_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().canonicalize().unwrap();
        write(&outside, &["clone/evil.so", "elsewhere/libonnxruntime.so", "venv/lib/other"]);
        let (clone, lib) = (outside.join("clone"), outside.join("venv/lib"));
        std::os::unix::fs::symlink(clone.join("evil.so"), lib.join("libonnxruntime.so")).unwrap();
        std::os::unix::fs::symlink(outside.join("elsewhere"), clone.join("lib")).unwrap();
        for prefix in [outside.join("venv"), clone.clone()] {
            let env = RuntimeEnv {
                conda_prefix: Some(prefix.clone()),
                projects: vec![clone.clone()],
                ..RuntimeEnv::default()
            };
            assert_eq!(below(&outside, &env), Vec::<PathBuf>::new(), "{prefix:?}");
            assert_eq!(candidates(&env).refused.len(), 1, "{prefix:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn relative_and_empty_entries_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[CAPI, "bin/python3", "libonnxruntime.so"]);
        let up = "../".repeat(std::env::current_dir().unwrap().components().count() - 1);
        let relative = Path::new(&up).join(folder.path().strip_prefix("/").unwrap());
        assert!(relative.is_relative() && relative.join(CAPI).exists());
        let env = RuntimeEnv::default();
        for env in [
            RuntimeEnv { virtual_env: Some(relative.clone()), ..env.clone() },
            RuntimeEnv { conda_prefix: Some(relative.clone()), ..env.clone() },
            RuntimeEnv { path: vec![PathBuf::new(), relative.join("bin"), ".".into()], ..env.clone() },
            RuntimeEnv { library_path: vec![relative.clone(), PathBuf::new()], ..env.clone() },
            RuntimeEnv { home: Some(relative.clone()), ..env.clone() },
            RuntimeEnv { executable: Some(relative.join("bin/colgrep")), ..env.clone() },
            RuntimeEnv { virtual_env: Some(PathBuf::new()), conda_prefix: Some(".".into()), ..env.clone() },
        ] {
            let with = candidates(&env).files;
            let without = candidates(&RuntimeEnv::default()).files;
            assert!(with.iter().all(|file| without.contains(file)), "{with:?}");
        }
        for named in [relative.join("libonnxruntime.so"), relative, "libonnxruntime.so".into()] {
            let found = candidates(&RuntimeEnv { ort_dylib_path: Some(named), ..env.clone() });
            assert!(found.files.is_empty() && found.refused[0].1.contains("no full path"), "{found:?}");
        }
    }

    #[test]
    fn the_loader_is_asked_only_where_it_looks_in_no_project() {
        let folder = tempfile::tempdir().unwrap();
        let by_name = |entries: &[&str]| {
            let library_path = entries.iter().map(PathBuf::from).collect();
            let env = RuntimeEnv { library_path, projects: vec![folder.path().to_path_buf()], ..RuntimeEnv::default() };
            candidates(&env).files.contains(&library_name())
        };
        let inside = folder.path().join("lib");
        assert_eq!(by_name(&["/usr/lib"]), cfg!(target_os = "linux"));
        for entries in [&["/usr/lib", ""][..], &["lib"], &["/usr/lib;"], &["/x/$ORIGIN"], &[&inside.to_string_lossy()]]
        {
            assert!(!by_name(entries), "{entries:?}");
        }
    }
}
