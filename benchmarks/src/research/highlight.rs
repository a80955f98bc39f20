//! `research highlight`: what colouring lines by the grammars' own highlight queries would take, in place of syntect.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_syntax::language::pattern::Patterns;
use colgrep_syntax::language::{self, Language};

use crate::report::print;

/// Runs of each measurement, of which the median counts.
const RUNS: usize = 9;

/// `research highlight`.
#[derive(Clone, Debug, clap::Args)]
pub struct HighlightArgs {
    /// Folder with the sources of the grammars' crates (cargo's registry), which hold `queries/highlights.scm`
    #[arg(long, value_name = "DIR")]
    crates: PathBuf,
    /// Source files to colour
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &HighlightArgs) -> Result<()> {
    let mut out = String::from("| language | query, bytes | read in, ms | |\n|---|---:|---:|---|\n");
    for row in language::known() {
        let (Some(grammar), Some(query)) = (row.grammar, query_of(&args.crates, row)) else { continue };
        let grammar = grammar();
        let ms = median(|| drop(std::hint::black_box(Patterns::new(&grammar, &query))));
        let refused = Patterns::new(&grammar, &query).err().map(|error| error.to_string()).unwrap_or_default();
        writeln!(out, "| {} | {} | {ms:.2} | {refused} |", row.name, query.len())?;
    }
    out.push_str("\n| file | bytes | parse, ms | match, ms | captures |\n|---|---:|---:|---:|---:|\n");
    for file in &args.files {
        out.push_str(&of_file(file, &args.crates)?);
    }
    print(&out)
}

/// A row of the table of files: the whole file parsed, and all of its captures found.
fn of_file(file: &Path, crates: &Path) -> Result<String> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let row = language::detect(file, &bytes);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let (Some(grammar), Some(query)) = (row.grammar, query_of(crates, row)) else {
        return Ok(format!("| {name} | {} | – | – | no query |\n", bytes.len()));
    };
    let grammar = grammar();
    let Ok(patterns) = Patterns::new(&grammar, &query) else {
        return Ok(format!("| {name} | {} | – | – | not read |\n", bytes.len()));
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&grammar)?;
    let parse = median(|| drop(std::hint::black_box(parser.parse(&bytes, None))));
    let tree = parser.parse(&bytes, None).context("not parsed")?;
    let mut captures = 0;
    let find = median(|| {
        captures = 0;
        let _ = patterns.matches::<()>(tree.root_node(), &bytes, || Ok(()), |_, found| captures += found.len());
    });
    Ok(format!("| {name} | {} | {parse:.2} | {find:.2} | {captures} |\n", bytes.len()))
}

/// The highlight query that the crate of a language's grammar ships.
fn query_of(crates: &Path, row: &Language) -> Option<String> {
    let names: Vec<String> = std::iter::once(row.name).chain(row.aliases.iter().copied()).map(crate_of).collect();
    let is_its = |folder: &str| {
        names
            .iter()
            .any(|name| folder.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| c.is_numeric())))
    };
    let folders = std::fs::read_dir(crates).ok()?.flatten();
    let mut own = folders.filter(|entry| is_its(&entry.file_name().to_string_lossy()));
    std::fs::read_to_string(own.next()?.path().join("queries/highlights.scm")).ok()
}

/// The beginning of the name of a grammar's folder, up to the version.
fn crate_of(name: &str) -> String {
    format!("arborium-{}-", name.replace(['_', ' '], "-").replace("csharp", "c-sharp"))
}

/// The median time of a piece of work, in milliseconds.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times[RUNS / 2]
}
