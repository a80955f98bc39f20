//! How files are named in output: relative to the current folder where they lie below it, control characters escaped.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static HERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_dir().and_then(|d| d.canonicalize()).ok());

/// `text` with control characters written as escapes, so that a file's name can't drive the terminal.
pub fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// An absolute path in the form that people type: without Windows' `\\?\` in front, its own separators throughout.
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

/// The absolute path of a project's file.
pub fn absolute(root: &Path, path: &str) -> String {
    plain(&root.join(path).to_string_lossy(), std::path::MAIN_SEPARATOR)
}

/// The path as it would be typed from here, control characters as they are: relative if it lies below the current folder.
pub fn typed(root: &Path, path: &str) -> String {
    let full = root.join(path);
    match HERE.as_ref().and_then(|h| full.strip_prefix(h).ok()).map(Path::to_string_lossy) {
        Some(relative) if !relative.is_empty() => plain(&relative, std::path::MAIN_SEPARATOR),
        _ => plain(&full.to_string_lossy(), std::path::MAIN_SEPARATOR),
    }
}

/// Writes a file's name on a line of its own; with `null`, as it is with a NUL byte behind it.
///
/// # Errors
/// When `out` refuses.
pub fn write_name(out: &mut impl Write, root: &Path, path: &str, null: bool) -> io::Result<()> {
    match null {
        true => write!(out, "{}\0", typed(root, path)),
        false => writeln!(out, "{}", escape_control(&typed(root, path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(escape_control("a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
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
