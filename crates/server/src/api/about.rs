//! The state of the roots, part of every answer: their folders, what git has checked out there, how current the index
//! is.

use std::path::{Path, PathBuf};

use colgrep_index::disk::read_regular;
use colgrep_render::escape::escape_control;
use serde_json::{Value, json};

use super::state::{Root, ServerState};
use super::unserved::Unserved;

/// Largest of git's files that is read, in bytes.
const BYTES_MAX: u64 = 1 << 20;
/// Roots that a line of text names.
const ROWS_SHOWN: usize = 3;
/// Digits of a commit that are shown.
const DIGITS: usize = 12;

pub fn rows(state: &ServerState) -> Vec<Value> {
    let row = |root: &std::sync::Arc<Root>| {
        let head = head(&root.project.root).unwrap_or_default();
        json!({"root": root.folder.display().to_string(), "head": head, "index": root.freshness()})
    };
    let lost = |one: &Unserved| json!({"root": one.root, "head": "", "index": format!("not served: {}", one.why)});
    state.roots().map(row).chain(state.lost().iter().map(lost)).collect()
}

/// The rows as one line of text; of many rows the first ones.
pub fn text(rows: &[Value]) -> String {
    let row = |row: &Value| {
        let of = |key: &str| escape_control(row[key].as_str().unwrap_or_default());
        let head = if of("head").is_empty() { String::new() } else { format!(", HEAD {}", of("head")) };
        format!("root {}{head}, index {}", of("root"), of("index"))
    };
    let shown: Vec<String> = rows.iter().take(ROWS_SHOWN).map(row).collect();
    match rows.len().saturating_sub(ROWS_SHOWN) {
        _ if rows.is_empty() => String::new(),
        0 => format!("({})\n", shown.join("; ")),
        further => format!("({}; {further} more: `status`)\n", shown.join("; ")),
    }
}

/// Branch and commit that are checked out in the repository around a folder. Reads git's files and runs nothing.
fn head(root: &Path) -> Option<String> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists())?;
    let own = git_folder(top)?;
    let head = read(&own.join("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return commit(&head) };
    if !name.starts_with("refs/") || name.split('/').any(|part| part == ".." || part.is_empty()) {
        return None;
    }
    let common = read(&own.join("commondir")).map_or_else(|| own.clone(), |path| own.join(path.trim()));
    let loose = || [&own, &common].into_iter().find_map(|folder| commit(&read(&folder.join(name))?));
    let packed = || {
        let text = read(&common.join("packed-refs"))?;
        text.lines().find_map(|line| commit(line.strip_suffix(name)?.strip_suffix(' ')?))
    };
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    Some([branch, &loose().or_else(packed).unwrap_or_default()].join(" ").trim_end().to_string())
}

fn git_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    Some(top.join(read(&git)?.strip_prefix("gitdir:")?.trim()))
}

/// The beginning of a commit's hash; `None` where the text is no hash.
fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    let is_one = text.len() >= 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_one.then(|| text[..DIGITS].to_string())
}

fn read(path: &Path) -> Option<String> {
    String::from_utf8(read_regular(path, BYTES_MAX).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_one_line() {
        let row = |root: &str| json!({"root": root, "head": "main 0123", "index": "current"});
        let one = "(root /a, HEAD main 0123, index current)\n";
        assert_eq!((text(&[row("/a")]).as_str(), text(&[]).as_str()), (one, ""));
        let many: Vec<Value> = (0..9).map(|at| row(&format!("/{at}\n"))).collect();
        let line = text(&many);
        assert!(line.starts_with("(root /0") && line.ends_with("; 6 more: `status`)\n"), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }

    #[test]
    fn what_is_checked_out_is_read_from_gits_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        let is = |path: &str, expected: Option<&str>| {
            assert_eq!(head(&folder.path().join(path)).as_deref(), expected, "{path}");
        };
        let hash = "0123456789abcdef0123456789abcdef01234567";
        write("a/.git/HEAD", "ref: refs/heads/main\n");
        is("a", Some("main"));
        write("a/.git/packed-refs", &format!("# pack-refs\n{hash} refs/heads/main\n"));
        is("a", Some("main 0123456789ab"));
        write("a/.git/refs/heads/main", &format!("{}\n", hash.replace('0', "f")));
        is("a", Some("main f123456789ab"));
        write("a/.git/HEAD", &format!("{hash}\n"));
        is("a", Some("0123456789ab"));
        write("a/.git/worktrees/w/HEAD", "ref: refs/heads/main\n");
        write("a/.git/worktrees/w/commondir", "../..\n");
        write("w/.git", &format!("gitdir: {}\n", folder.path().join("a/.git/worktrees/w").display()));
        is("w", Some("main f123456789ab"));
        write("b/.git/HEAD", "ref: refs/../../secret\n");
        is("b", None);
        write("c/file", "");
        is("c", None);
    }
}
