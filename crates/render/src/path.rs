//! How files are named in output: relative to the given path, or to the current folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use colgrep_engine::FileAnswer;
use colgrep_engine::session::corpus::fronts;

static HERE: RwLock<Option<Option<PathBuf>>> = RwLock::new(None);

/// The roots of a server with several, each with the prefix of its paths.
static ROOTS: RwLock<Vec<(PathBuf, String)>> = RwLock::new(Vec::new());

/// The current folder, as it was looked up.
fn here() -> Option<PathBuf> {
    if let Some(known) = HERE.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return known.clone();
    }
    let here = std::env::current_dir().and_then(|d| d.canonicalize()).ok();
    HERE.write().unwrap_or_else(PoisonError::into_inner).insert(here).clone()
}

/// Looks the current folder up again after a change.
pub fn moved() {
    *HERE.write().unwrap_or_else(PoisonError::into_inner) = None;
    here();
}

/// Whether the current folder is the one that was looked up: it may be gone, or another one now.
pub fn stands() -> bool {
    let now = std::env::current_dir().and_then(|d| d.canonicalize()).ok();
    now.is_some() && now == here()
}

/// Names files from now on as a server of these roots does: with several roots, each path begins with its root's name,
/// since another root may have the same path.
pub fn serves(roots: &[&Path]) {
    let named = roots.iter().map(|root| root.to_path_buf()).zip(fronts(roots));
    let named = if roots.len() > 1 { named.collect() } else { Vec::new() };
    *ROOTS.write().unwrap_or_else(PoisonError::into_inner) = named;
}

/// The name of a file or folder in one of several roots, by its absolute path; none where there are not several.
pub fn in_root(full: &Path) -> Option<String> {
    named_in(&ROOTS.read().unwrap_or_else(PoisonError::into_inner), full)
}

fn named_in(roots: &[(PathBuf, String)], full: &Path) -> Option<String> {
    // Of roots inside each other, the inner one.
    let around = roots.iter().filter(|(root, _)| full.starts_with(root));
    let (root, front) = around.max_by_key(|(root, _)| root.components().count())?;
    let rest = full.strip_prefix(root).ok()?.to_string_lossy();
    let name = if rest.is_empty() { front.trim_end_matches('/').to_string() } else { format!("{front}{rest}") };
    Some(plain(&name, std::path::MAIN_SEPARATOR))
}

/// How standard input is named, in ripgrep's words.
pub const STDIN: &str = "<stdin>";

/// Whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path leads to a named pipe or a character device, such as a shell's `<(command)`: it has no size, and its
/// end may never come.
#[cfg(unix)]
pub fn is_stream(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    path.metadata().is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_char_device())
}

/// Whether a path leads to a named pipe or a character device; these have no paths here.
#[cfg(not(unix))]
pub fn is_stream(_: &Path) -> bool {
    false
}

/// An absolute path in the form that people type: without Windows' prefix `\\?\`, with its own separators throughout.
pub fn plain(path: &str, separator: char) -> String {
    if separator != '\\' {
        return path.to_string();
    }
    let path = match path.strip_prefix(r"\\?\UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => path.strip_prefix(r"\\?\").unwrap_or(path).to_string(),
    };
    path.replace('/', "\\")
}

/// The absolute path of an existing file, links followed.
pub fn absolute_name(path: &Path) -> String {
    let full = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_default();
    plain(&full.to_string_lossy(), std::path::MAIN_SEPARATOR)
}

/// The absolute path of a project's file.
pub fn absolute(root: &Path, path: &str) -> String {
    plain(&root.join(path).to_string_lossy(), std::path::MAIN_SEPARATOR)
}

/// The path as it would be typed in the current folder, without escapes: relative if it lies below; of several roots as
/// [`in_root`] has it.
pub fn typed(root: &Path, path: &str) -> String {
    let full = root.join(path);
    if let Some(name) = in_root(&full) {
        return name;
    }
    match here().as_ref().and_then(|h| full.strip_prefix(h).ok()).map(Path::to_string_lossy) {
        Some(relative) if !relative.is_empty() => plain(&relative, std::path::MAIN_SEPARATOR),
        _ => plain(&full.to_string_lossy(), std::path::MAIN_SEPARATOR),
    }
}

/// A path as grep names it: `given` as the user wrote it (a folder or file), and `rest` below it.
pub fn below(given: &Path, rest: &Path) -> PathBuf {
    let mut path = if given.as_os_str() == "." { PathBuf::new() } else { given.to_path_buf() };
    // Component by component, for the system's own separators.
    path.extend(rest.components());
    path
}

/// How a file is named: below the path that was given, as grep names it, else as it would be typed from here.
pub fn shown(file: &FileAnswer) -> PathBuf {
    match &file.given {
        Some((given, rest)) => below(given, Path::new(rest)),
        None => from_here(&file.root, &file.path),
    }
}

/// The path of a project's file as it would be typed from here: relative if it or the current folder lies in the
/// project, else in full; of several roots as [`in_root`] has it.
pub fn from_here(root: &Path, path: &str) -> PathBuf {
    let full = root.join(path);
    if let Some(name) = in_root(&full) {
        return name.into();
    }
    let Some(here) = here() else { return full };
    match (full.strip_prefix(&here), here.strip_prefix(root)) {
        (Ok(relative), _) => below(Path::new("."), relative),
        (_, Ok(inside)) => {
            let up: PathBuf = inside.components().map(|_| OsStr::new("..")).collect();
            below(&up, Path::new(path))
        }
        _ => full.to_str().map_or(full.clone(), |f| plain(f, std::path::MAIN_SEPARATOR).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_as_they_were_given() {
        for (given, rest, expected) in [
            (".", "src/a.rs", "src/a.rs"),
            ("./", "src/a.rs", "./src/a.rs"),
            ("..", "a.rs", "../a.rs"),
            ("/x/src/", "a.rs", "/x/src/a.rs"),
            ("src/a.rs", "", "src/a.rs"),
        ] {
            assert_eq!(below(Path::new(given), Path::new(rest)).as_os_str(), expected, "{given} {rest}");
        }
        let here = here().unwrap();
        let (up, name) = (here.parent().unwrap(), here.file_name().unwrap().to_str().unwrap());
        for (root, path, expected) in [
            (here.as_path(), "src/a.rs", Path::new("src/a.rs")),
            (up, &format!("{name}/a.rs"), Path::new("a.rs")),
            (up, "x/a.rs", Path::new("../x/a.rs")),
            (&up.join("other"), "a.rs", &up.join("other/a.rs")),
        ] {
            assert_eq!(from_here(root, path), expected, "{path} in {}", root.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn of_several_roots_a_path_begins_with_the_name_of_its_own() {
        let roots = ["/src/api", "/old/api", "/src/web", "/src/web/plugins"].map(Path::new);
        let named: Vec<(PathBuf, String)> = roots.iter().map(|root| root.to_path_buf()).zip(fronts(&roots)).collect();
        for (full, expected) in [
            ("/src/api/src/a.rs", Some("src/api/src/a.rs")),
            ("/old/api/src/a.rs", Some("old/api/src/a.rs")),
            ("/src/web/a.js", Some("web/a.js")),
            ("/src/web", Some("web")),
            ("/src/web/plugins/a.js", Some("plugins/a.js")),
            ("/src/other/a.js", None),
        ] {
            assert_eq!(named_in(&named, Path::new(full)).as_deref(), expected, "{full}");
        }
    }

    #[test]
    fn windows_paths_are_written_as_typed() {
        for (path, separator, expected) in [
            (r"\\?\C:\me\src/a.rs", '\\', r"C:\me\src\a.rs"),
            (r"\\?\UNC\host\share/a.rs", '\\', r"\\host\share\a.rs"),
            ("src/a.rs", '\\', r"src\a.rs"),
            (r"src/odd\name.rs", '/', r"src/odd\name.rs"),
        ] {
            assert_eq!(plain(path, separator), expected);
        }
    }
}
