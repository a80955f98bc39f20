//! `research codebook`: trains the codebook that the embedded model brings along, from texts of units.

use std::path::PathBuf;

use anyhow::Result;
use colgrep_encoder::{Encoder as _, ModelFiles, Native};
use colgrep_index::vector::{Codec, train_codebook};

use crate::report::print;

/// Texts taken of each file, spread over it.
const TEXTS_A_FILE: usize = 40;
const CENTROIDS: usize = 1 << 10;

#[derive(Clone, Debug, clap::Args)]
pub struct CodebookArgs {
    /// The model's folder, into which codebook.bin is written
    assets: PathBuf,
    /// JSON lines with `text`, as crates/encoder/train/mine.py writes them
    #[arg(value_name = "MINED", required = true)]
    mined: Vec<PathBuf>,
}

pub(super) fn run(args: &CodebookArgs) -> Result<()> {
    let mut paths = args.mined.clone();
    paths.sort();
    let mut texts: Vec<String> = Vec::new();
    for path in &paths {
        let lines: Vec<serde_json::Value> =
            std::fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let step = lines.len().div_ceil(TEXTS_A_FILE).max(1);
        texts.extend(lines.iter().step_by(step).filter_map(|l| Some(l["text"].as_str()?.to_string())));
    }
    let read = |name: &str| std::fs::read(args.assets.join(name));
    let (config, vocabulary) = (String::from_utf8(read("config.json")?)?, String::from_utf8(read("vocab.txt")?)?);
    let weights = read("model.safetensors")?;
    let model = Native::new(ModelFiles { config: &config, vocabulary: &vocabulary, weights: &weights })?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let codebook = train_codebook(&model, &texts, CENTROIDS, &Codec::of(model.heads(), model.is_light()))?;
    // Under another name first, so that a kill leaves the old one whole.
    let part = args.assets.join("codebook.bin.part");
    std::fs::write(&part, codebook.bytes())?;
    std::fs::rename(&part, args.assets.join("codebook.bin"))?;
    print(&format!("{} texts, {CENTROIDS} centroids of {} components\n", texts.len(), model.dimension()))
}
