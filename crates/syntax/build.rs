//! Sets `LANGUAGES_HASH`, the hash of everything below `src/language`: the units of a file depend on it.

use std::path::{Path, PathBuf};
use std::{fs, io};

const FOLDER: &str = "src/language";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut files = Vec::new();
    collect(Path::new(FOLDER), &mut files)?;
    files.sort();
    let mut hash: u32 = 0x811c_9dc5;
    for file in files {
        // FNV-1a. A checkout may convert line ends.
        for byte in fs::read(file)?.into_iter().filter(|byte| *byte != b'\r') {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    println!("cargo::rustc-env=LANGUAGES_HASH={hash:x}");
    Ok(())
}

/// Adds the files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
