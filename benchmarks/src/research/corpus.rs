//! `research corpus`: the units of every file below a folder, a JSON line a file: what the encoder is trained on.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::path::PathClass;
use colgrep_index::walk::{LeftOut, WalkOptions, walk};
use colgrep_syntax::read::{decode, skip_by_name};
use colgrep_syntax::{language, parse};
use rayon::prelude::*;

#[derive(Clone, Debug, clap::Args)]
pub struct CorpusUnitsArgs {
    /// The folder
    folder: PathBuf,
}

pub(super) fn run(args: &CorpusUnitsArgs) -> Result<()> {
    let root = &args.folder;
    let walked = walk(root, &LeftOut::default(), &WalkOptions::default())?;
    let lines: Vec<Option<String>> = walked.files.par_iter().map(|found| file(root, &found.path)).collect();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in lines.into_iter().flatten() {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// The JSON line of one file; `None` if it is not text.
fn file(root: &Path, path: &str) -> Option<String> {
    if skip_by_name(path).is_some() {
        return None;
    }
    let bytes = std::fs::read(root.join(path)).ok()?;
    let row = language::detect(Path::new(path), &bytes[..bytes.len().min(64 << 10)]);
    let text = decode(path, bytes).ok()?;
    let parsed = parse::parse(&text.text, row);
    let class = PathClass::of(path, language::facts());
    let line = serde_json::json!({
        "path": path,
        "language": row.name,
        "generated": text.generated,
        "test": class.has(PathClass::TEST.with(PathClass::BENCHMARK)),
        "vendored": class.has(PathClass::VENDORED.with(PathClass::TYPINGS)),
        "units": parsed.units,
    });
    Some(line.to_string())
}
