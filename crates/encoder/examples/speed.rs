//! Speed of a model on one core: loading, the tokenizer alone, documents, queries.
//!
//! `cargo run --release -p colgrep-encoder --example speed [FOLDER] [FILE …]`; the folder holds the files of a native
//! model or of an ONNX one, without it the embedded model is measured. Without files, the text is this crate's own
//! source. It is cut into documents of 12 lines. Figures are the best of five rounds, in time on the core.

#![expect(clippy::disallowed_methods, reason = "a program of its own, which reads its environment")]

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use colgrep_encoder::{EMBEDDED, Encoder, Files, ModelSpec, Multivector, Native, RuntimeEnv, open};

/// Lines of a document.
const LINES: usize = 12;
/// Documents of a call.
const BATCH: usize = 64;
/// Rounds of each measurement.
const ROUNDS: usize = 5;

/// Time that this process has been on a core, where the system tells (Linux); else the time of day.
///
/// On a busy machine the two differ, and the first is what the code costs.
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

    fn files(&self) -> Files<'_> {
        Files { config: &self.config, vocabulary: &self.vocabulary, weights: &self.weights }
    }
}

/// Loading and tokenizing, which only the native engine has apart.
fn native(files: Files<'_>, documents: &[&str], out: &mut String) -> Result<(), Box<dyn Error>> {
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
fn encode(model: &dyn Encoder, documents: &[&str], out: &mut String) -> Result<(), Box<dyn Error>> {
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

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().map(PathBuf::from).filter(|path| path.is_dir());
    if folder.is_some() {
        arguments.remove(0);
    }
    let text = if arguments.is_empty() {
        [include_str!("../src/native/mod.rs"), include_str!("../src/native/mixer.rs"), include_str!("../src/lib.rs")]
            .concat()
            .repeat(20)
    } else {
        arguments.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?.concat()
    };
    let lines: Vec<&str> = text.lines().collect();
    let documents: Vec<String> = lines.chunks(LINES).map(|lines| lines.join("\n")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();

    let mut out = format!("{} documents, {} bytes\n", documents.len(), text.len());
    match folder {
        None => native(EMBEDDED, &documents, &mut out)?,
        Some(folder) if folder.join("model.safetensors").exists() && folder.join("vocab.txt").exists() => {
            native(Read::new(&folder)?.files(), &documents, &mut out)?;
        }
        Some(folder) => {
            let path = |name| std::env::var_os(name).map(PathBuf::from);
            let env = RuntimeEnv {
                ort_dylib_path: path("ORT_DYLIB_PATH"),
                virtual_env: path("VIRTUAL_ENV"),
                ..RuntimeEnv::default()
            };
            let start = Instant::now();
            let model = open(&ModelSpec::Folder(folder), &env)?;
            writeln!(out, "open        {:8.2} ms", start.elapsed().as_secs_f64() * 1e3)?;
            encode(model.as_ref(), &documents, &mut out)?;
        }
    }
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}
