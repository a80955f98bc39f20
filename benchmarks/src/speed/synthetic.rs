//! A made-up project of any size: the same files every time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

const VERBS: [&str; 12] =
    ["parse", "read", "write", "merge", "split", "open", "close", "send", "check", "sort", "count", "find"];
const NOUNS: [&str; 16] = [
    "request", "response", "token", "buffer", "queue", "index", "record", "stream", "error", "header", "cache",
    "route", "session", "table", "page", "signal",
];
const FOLDER_FILES: usize = 50;

/// Writes a project of `files` Python and Rust files; gives one of them, to be changed.
pub fn write(root: &Path, files: usize) -> Result<PathBuf> {
    let mut rng = StdRng::seed_from_u64(1);
    let mut last = root.to_path_buf();
    for i in 0..files {
        let folder = root.join(format!("part_{:03}", i / FOLDER_FILES));
        if i % FOLDER_FILES == 0 {
            fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
        }
        let python = i % 2 == 0;
        let name = word(&mut rng);
        let file = folder.join(format!("{name}_{i}.{}", if python { "py" } else { "rs" }));
        let mut text = String::new();
        for _ in 0..rng.random_range(3..12) {
            text += &function(&mut rng, python);
        }
        fs::write(&file, text).with_context(|| format!("{}", file.display()))?;
        last = file;
    }
    Ok(last)
}

fn word(rng: &mut StdRng) -> String {
    let pick = |words: &[&'static str], rng: &mut StdRng| words.choose(rng).copied().unwrap_or_default();
    format!("{}_{}", pick(&VERBS, rng), pick(&NOUNS, rng))
}

fn function(rng: &mut StdRng, python: bool) -> String {
    let (name, number) = (word(rng), rng.random_range(0..100_000));
    let lines: Vec<String> = (0..rng.random_range(2..10)).map(|i| format!("value_{i} = {}({i})", word(rng))).collect();
    match python {
        true => format!(
            "def {name}_{number}(value):\n    \"\"\"Will {} it.\"\"\"\n    {}\n    return value\n\n\n",
            name.replace('_', " the "),
            lines.join("\n    ")
        ),
        false => format!(
            "/// Will {} it.\nfn {name}_{number}(value: u32) -> u32 {{\n    let {};\n    value\n}}\n\n",
            name.replace('_', " the "),
            lines.join(";\n    let ")
        ),
    }
}

/// Changes a file of the project: another text at each call.
pub fn change(file: &Path, run: u32) -> Result<()> {
    let mut text = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    text += &format!("// change {run}\n");
    // Colgrep waits for the clock's next tick where a file is as new as this one; that is not its work.
    fs::write(file, text).with_context(|| format!("{}", file.display()))?;
    std::thread::sleep(std::time::Duration::from_millis(50));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_the_same_every_time() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (file_a, file_b) = (write(a.path(), 120).unwrap(), write(b.path(), 120).unwrap());
        assert_eq!(fs::read(&file_a).unwrap(), fs::read(&file_b).unwrap());
        assert_eq!(fs::read_dir(a.path()).unwrap().count(), 3);
        let before = fs::read(&file_a).unwrap();
        change(&file_a, 1).unwrap();
        assert_ne!(before, fs::read(&file_a).unwrap());
    }
}
