//! Speed of the embedded engine on one core: loading, the tokenizer alone, documents, queries.
//!
//! `cargo run --release -p colgrep-encoder --example speed [MODEL FOLDER] [FILE …]`; without a folder of native
//! model files, the embedded model, and without files, this crate's own source. The text is cut into documents of 12
//! lines. Figures are the best of five rounds, in time on the core.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use colgrep_encoder::{EMBEDDED, Encoder, Files, Native};

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let read: (String, String, Vec<u8>);
    let model = match arguments.first().map(std::path::PathBuf::from).filter(|path| path.is_dir()) {
        Some(folder) => {
            arguments.remove(0);
            let text = |name| std::fs::read_to_string(folder.join(name));
            read = (text("config.json")?, text("vocab.txt")?, std::fs::read(folder.join("model.safetensors"))?);
            Files { config: &read.0, vocabulary: &read.1, weights: &read.2 }
        }
        None => EMBEDDED,
    };
    // The first load touches the file's pages as a new process does.
    let start = Instant::now();
    let files = model;
    let model = Native::new(files)?;
    let first = start.elapsed();
    let (_, load) = best(100, || Native::new(files).map(|_| ()));

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

    let count = |limit| documents.iter().map(|text| model.pieces(text, limit).len()).sum::<usize>();
    let (pieces, split) = best(20, || count(usize::MAX / 2));
    let read = count(model.document_pieces_max());
    let (rows, encode) = best(2, || {
        documents
            .chunks(BATCH)
            .map(|batch| model.encode_documents(batch).map(|texts| texts.iter().map(|text| text.len()).sum::<usize>()))
            .sum::<Result<usize, _>>()
    });
    let rows = rows?;
    let (_, query) = best(500, || model.encode_query("how are requests retried after a timeout"));

    let rate = |n: usize, time: Duration| n as f64 / time.as_secs_f64() / 1e3;
    let mut out = String::new();
    writeln!(out, "{} documents, {pieces} pieces, {} bytes", documents.len(), text.len())?;
    writeln!(out, "load        {:8.2} ms (first {:.2} ms)", load.as_secs_f64() * 1e3, first.as_secs_f64() * 1e3)?;
    writeln!(out, "tokenizer   {:8.0} k pieces/s", rate(pieces, split))?;
    writeln!(out, "documents   {:8.0} k pieces/s, {rows} rows, {:.1} MB/s", rate(read, encode), {
        text.len() as f64 / encode.as_secs_f64() / 1e6
    })?;
    writeln!(out, "query       {:8.2} ms", query.as_secs_f64() * 1e3)?;
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}
