//! `research encoder`: speed of a model on one core: loading, the tokenizer alone, documents, queries.
//!
//! The text is cut into documents of 12 lines. Figures are the best of five rounds, in time on the core.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use colgrep_encoder::{EMBEDDED, Encoder, ModelFiles, ModelSpec, Multivector, Native, open};
use colgrep_engine::settings::env::Env;

use crate::corpus::Vars;
use crate::report::print;

/// Lines of a document.
const LINES: usize = 12;
/// Documents of a call.
const BATCH: usize = 64;
/// Rounds of each measurement.
const ROUNDS: usize = 5;

/// Processor time of this process where the system reports it (Linux); else wall-clock time.
///
/// On a busy machine the two differ, and the first is the cost of the code.
fn now(start: Instant) -> Duration {
    let on_core = std::fs::read_to_string("/proc/self/schedstat").ok();
    match on_core.and_then(|line| line.split(' ').next()?.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => start.elapsed(),
    }
}

/// The result of `run`, and its time: the best of some rounds, each the mean of `repeats` runs. The system counts
/// in milliseconds, so that short runs want many repeats.
fn best<T>(repeats: u32, mut run: impl FnMut() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let mut measure = || {
        let start = now(begin);
        let mut result = run();
        for _ in 1..repeats {
            result = run();
        }
        (result, (now(begin) - start) / repeats)
    };
    let mut best = measure();
    for _ in 1..ROUNDS {
        let next = measure();
        if next.1 < best.1 {
            best = next;
        }
    }
    best
}

/// A folder of native model files, read.
struct Read {
    config: String,
    vocabulary: String,
    weights: Vec<u8>,
}

impl Read {
    fn new(folder: &Path) -> std::io::Result<Read> {
        let text = |name| std::fs::read_to_string(folder.join(name));
        let weights = std::fs::read(folder.join("model.safetensors"))?;
        Ok(Read { config: text("config.json")?, vocabulary: text("vocab.txt")?, weights })
    }

    fn files(&self) -> ModelFiles<'_> {
        ModelFiles { config: &self.config, vocabulary: &self.vocabulary, weights: &self.weights }
    }
}

/// Loading and tokenizing, which only the native engine has apart.
fn native(files: ModelFiles<'_>, documents: &[&str], out: &mut String) -> Result<()> {
    // The first load touches the file's pages as a new process does.
    let start = Instant::now();
    let model = Native::new(files)?;
    let first = start.elapsed();
    let (_, load) = best(100, || Native::new(files).map(|_| ()));
    let count = |limit| documents.iter().map(|text| model.pieces(text, limit).len()).sum::<usize>();
    let (pieces, split) = best(20, || count(usize::MAX / 2));
    writeln!(out, "load        {:8.2} ms (first {:.2} ms)", load.as_secs_f64() * 1e3, first.as_secs_f64() * 1e3)?;
    writeln!(out, "tokenizer   {:8.0} k pieces/s of {pieces}", pieces as f64 / split.as_secs_f64() / 1e3)?;
    encode(&model, documents, out)
}

/// Documents and a query. A document has a row for each piece and one more.
fn encode(model: &dyn Encoder, documents: &[&str], out: &mut String) -> Result<()> {
    let bytes = documents.iter().map(|text| text.len()).sum::<usize>() as f64;
    let rows = |texts: Vec<Multivector>| texts.iter().map(Multivector::len).sum::<usize>();
    let (rows, time) = best(2, || {
        documents.chunks(BATCH).map(|batch| model.encode_documents(batch).map(rows)).sum::<Result<usize, _>>()
    });
    let (rows, time) = (rows?, time.as_secs_f64());
    let (_, query) = best(100, || model.encode_query("how are requests retried after a timeout"));
    writeln!(out, "documents   {:8.0} k rows/s of {rows}, {:.2} MB/s", rows as f64 / time / 1e3, bytes / time / 1e6)?;
    writeln!(out, "query       {:8.2} ms", query.as_secs_f64() * 1e3)?;
    Ok(())
}

#[derive(Clone, Debug, clap::Args)]
pub struct EncoderArgs {
    /// Measure the model of this folder, of a native model or of an ONNX one, instead of the one in the program
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Texts to encode; the encoder's own source without any
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &EncoderArgs, vars: &Vars) -> Result<()> {
    let text = if args.files.is_empty() {
        [
            include_str!("../../../crates/encoder/src/native/mod.rs"),
            include_str!("../../../crates/encoder/src/native/mixer.rs"),
            include_str!("../../../crates/encoder/src/lib.rs"),
        ]
        .concat()
        .repeat(20)
    } else {
        args.files.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?.concat()
    };
    let lines: Vec<&str> = text.lines().collect();
    let documents: Vec<String> = lines.chunks(LINES).map(|lines| lines.join("\n")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();

    let mut out = format!("{} documents, {} bytes\n", documents.len(), text.len());
    match &args.model {
        None => native(EMBEDDED, &documents, &mut out)?,
        Some(folder) if folder.join("model.safetensors").exists() && folder.join("vocab.txt").exists() => {
            native(Read::new(folder)?.files(), &documents, &mut out)?;
        }
        Some(folder) => {
            let runtime = colgrep_engine::project::model::runtime(&Env::read(vars.iter().cloned())?);
            let start = Instant::now();
            let model = open(&ModelSpec::Folder(folder.clone()), &runtime)?;
            writeln!(out, "open        {:8.2} ms", start.elapsed().as_secs_f64() * 1e3)?;
            encode(model.as_ref(), &documents, &mut out)?;
        }
    }
    print(&out)
}
