//! Trains the codebook that the embedded model brings along, from texts of units (JSON lines with `text`, as
//! `crates/encoder/train/mine.py` writes them):
//! `cargo run --release -p colgrep-index --example codebook -- ASSETS MINED.jsonl...`, which writes `ASSETS/codebook.bin`
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::path::PathBuf;

use colgrep_encoder::{Encoder as _, Files, Native};
use colgrep_index::vector::{Codec, train_codebook};

/// Texts taken of each file, spread over it.
const TEXTS_A_FILE: usize = 40;
const CENTROIDS: usize = 1 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let assets = PathBuf::from(args.next().ok_or("usage: codebook ASSETS MINED.jsonl...")?);
    let mut paths: Vec<String> = args.collect();
    paths.sort();
    let mut texts: Vec<String> = Vec::new();
    for path in &paths {
        let lines: Vec<serde_json::Value> =
            std::fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let step = lines.len().div_ceil(TEXTS_A_FILE).max(1);
        texts.extend(lines.iter().step_by(step).filter_map(|l| Some(l["text"].as_str()?.to_string())));
    }
    let read = |name: &str| std::fs::read(assets.join(name));
    let (config, vocabulary) = (String::from_utf8(read("config.json")?)?, String::from_utf8(read("vocab.txt")?)?);
    let weights = read("model.safetensors")?;
    let model = Native::new(Files { config: &config, vocabulary: &vocabulary, weights: &weights })?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let codebook = train_codebook(&model, &texts, CENTROIDS, &Codec::of(model.heads()))?;
    // Under another name first, so that a kill leaves the old one whole.
    let part = assets.join("codebook.bin.part");
    std::fs::write(&part, codebook.bytes())?;
    std::fs::rename(&part, assets.join("codebook.bin"))?;
    println!("{} texts, {CENTROIDS} centroids of {} components", texts.len(), model.dimension());
    Ok(())
}
