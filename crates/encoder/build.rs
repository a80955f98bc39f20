//! Precomputes what every process would compute when it opens the built-in model: the table of its vocabulary, and the
//! fingerprint of its files.

#[path = "src/native/table.rs"]
#[expect(dead_code, reason = "look-ups are the program's")]
mod table;

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// The files that shape a vector, in the order of the fingerprint.
const FILES: [&str; 3] = ["config.json", "vocab.txt", "model.safetensors"];

#[expect(clippy::disallowed_methods, reason = "Cargo tells by the environment")]
fn main() {
    let folder = |name: &str| PathBuf::from(std::env::var_os(name).expect("a variable of Cargo"));
    let (assets, out) = (folder("CARGO_MANIFEST_DIR").join("assets"), folder("OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/native/table.rs");
    let mut hash = Xxh3::new();
    for file in FILES {
        println!("cargo::rerun-if-changed=assets/{file}");
        let bytes = std::fs::read(assets.join(file)).expect("a file of the model");
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
    }
    let vocabulary = std::fs::read_to_string(assets.join(FILES[1])).expect("the vocabulary");
    let Ok(made) = table::make(&vocabulary) else { panic!("vocab.txt holds a piece twice, or too many") };
    write(&out, "starts.bin", &made.starts);
    write(&out, "slots.bin", &made.slots);
    let numbers = format!("({:#x}, {})", hash.digest(), made.longest);
    write(&out, "numbers.rs", numbers.as_bytes());
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("room for a table");
}
