//! Speed of the embedded engine on one core: loading, the tokenizer alone, documents, queries.
//!
//! `cargo run --release -p colgrep-encoder --example speed [FILE …]`; without files, on this crate's own source.
//! The text is cut into documents of 12 lines. Figures are the best of five rounds.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use colgrep_encoder::{EMBEDDED, Encoder, Native};

/// Lines of a document.
const LINES: usize = 12;
/// Documents of a call.
const BATCH: usize = 64;
/// Rounds of each measurement.
const ROUNDS: usize = 5;

fn best<T>(mut run: impl FnMut() -> T) -> (T, Duration) {
    let mut measure = || {
        let start = Instant::now();
        let result = run();
        (result, start.elapsed())
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
    // The first load touches the file's pages as a new process does.
    let start = Instant::now();
    let model = Native::new(EMBEDDED)?;
    let first = start.elapsed();
    let (_, load) = best(|| Native::new(EMBEDDED).map(|_| ()));

    let files: Vec<String> = std::env::args().skip(1).collect();
    let text = if files.is_empty() {
        [include_str!("../src/native/mod.rs"), include_str!("../src/native/mixer.rs"), include_str!("../src/lib.rs")]
            .concat()
            .repeat(20)
    } else {
        files.iter().map(std::fs::read_to_string).collect::<Result<Vec<_>, _>>()?.concat()
    };
    let lines: Vec<&str> = text.lines().collect();
    let documents: Vec<String> = lines.chunks(LINES).map(|lines| lines.join("\n")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();

    let count = |limit| documents.iter().map(|text| model.pieces(text, limit).len()).sum::<usize>();
    let (pieces, split) = best(|| count(usize::MAX / 2));
    let read = count(model.document_pieces_max());
    let (rows, encode) = best(|| {
        documents
            .chunks(BATCH)
            .map(|batch| model.encode_documents(batch).map(|texts| texts.iter().map(|text| text.len()).sum::<usize>()))
            .sum::<Result<usize, _>>()
    });
    let rows = rows?;
    let (_, query) = best(|| model.encode_query("how are requests retried after a timeout"));

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
