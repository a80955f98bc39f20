//! Other search tools, one small adapter each; those that are not on PATH are left out with a remark.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::process::Program;
use super::{PeerSpeed, SpeedArgs, Spread};

/// How another tool is called.
struct Peer {
    name: &'static str,
    search: &'static str,
    /// Its arguments: query, folder, index folder.
    search_args: fn(&str, &str, &str) -> Vec<String>,
    /// The program that indexes, where that is a step of its own, and its arguments: folder, index folder.
    index: Option<(&'static str, IndexArgs)>,
}

type IndexArgs = fn(&str, &str) -> Vec<String>;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_string()).collect()
}

/// Ranked search tools, as their own documentation calls them.
const RANKED: [Peer; 5] = [
    Peer {
        name: "probe",
        search: "probe",
        search_args: |query, folder, _| words(&["search", query, folder, "--max-results", "10"]),
        index: None,
    },
    Peer {
        name: "sifs",
        search: "sifs",
        search_args: |query, folder, _| words(&["search", query, "--source", folder, "--limit", "10"]),
        index: None,
    },
    Peer {
        name: "semble",
        search: "semble",
        search_args: |query, folder, _| words(&["search", query, folder, "--top-k", "10"]),
        index: None,
    },
    Peer {
        name: "ck",
        search: "ck",
        search_args: |query, folder, _| words(&["--sem", "--topk", "10", query, folder]),
        index: Some(("ck", |folder, _| words(&["--index", folder]))),
    },
    Peer {
        name: "zoekt",
        search: "zoekt",
        search_args: |query, _, index| words(&["-index_dir", index, query]),
        index: Some(("zoekt-index", |folder, index| words(&["-index", index, folder]))),
    },
];

/// Measures every peer on a folder. Ripgrep reads it in place; the others, which may write into it, get a copy.
///
/// # Errors
/// When colgrep fails; a peer that fails is a row that says so.
pub fn measure(args: &SpeedArgs, colgrep: &Program, folder: &Path, scratch: &Path) -> Result<Vec<PeerSpeed>> {
    let mut rows = ripgrep(args, colgrep, folder)?;
    let here: Vec<&Peer> = RANKED.iter().filter(|p| Program::on_path(p.search).is_some()).collect();
    let copy = scratch.join("copy");
    if !here.is_empty() {
        copy_tree(folder, &copy)?;
    }
    for peer in &RANKED {
        let row = if here.iter().any(|p| p.name == peer.name) {
            ranked(args, colgrep, peer, folder, &copy, &scratch.join("peer-index"))
                .unwrap_or_else(|error| skipped(peer.name, &format!("failed: {}", error.root_cause())))
        } else {
            skipped(peer.name, "not on PATH, skipped")
        };
        rows.push(row);
    }
    if copy.exists() {
        std::fs::remove_dir_all(&copy).context("removing a copy")?;
    }
    Ok(rows)
}

fn skipped(name: &str, what: &str) -> PeerSpeed {
    PeerSpeed { name: name.to_string(), what: what.to_string(), index_ms: None, query_ms: None, ratio: None }
}

/// Runs two programs by turns; gives the second's times and the ratios of the first's to the second's.
fn by_turns(
    runs: u32,
    first: &dyn Fn() -> Result<super::RunSample>,
    second: &dyn Fn() -> Result<super::RunSample>,
) -> Result<(Spread, Spread)> {
    let (mut times, mut ratios) = (Vec::new(), Vec::new());
    // One run of each that is not counted, so that files are cached for both.
    first()?;
    second()?;
    for _ in 0..runs {
        let (a, b) = (first()?, second()?);
        times.push(b.ms);
        ratios.push(a.ms / b.ms);
    }
    Ok((Spread::of(&times), Spread::of(&ratios)))
}

fn ripgrep(args: &SpeedArgs, colgrep: &Program, folder: &Path) -> Result<Vec<PeerSpeed>> {
    let Some(rg) = Program::on_path("rg") else { return Ok(vec![skipped("ripgrep", "not on PATH, skipped")]) };
    let folder = folder.to_string_lossy();
    let word = args.word.as_str();
    let mut rows = Vec::new();
    for (what, own) in [
        (format!("rg -F {word}: colgrep {word}, ranked"), vec!["-k", "10", word, &folder]),
        (format!("rg -F {word}: colgrep -F -e {word}, every line"), vec!["-F", "-e", word, &folder]),
    ] {
        let result = by_turns(args.runs, &|| colgrep.run(&own), &|| rg.run(&["-F", word, &folder]));
        let (query, ratio) = result?;
        rows.push(PeerSpeed {
            name: "ripgrep".into(),
            what,
            index_ms: None,
            query_ms: Some(query),
            ratio: Some(ratio),
        });
    }
    Ok(rows)
}

fn ranked(
    args: &SpeedArgs,
    colgrep: &Program,
    peer: &Peer,
    folder: &Path,
    copy: &Path,
    index: &Path,
) -> Result<PeerSpeed> {
    let (own_folder, copy, index_text) = (folder.to_string_lossy(), copy.to_string_lossy(), index.to_string_lossy());
    let _ = std::fs::remove_dir_all(index);
    std::fs::create_dir_all(index)?;
    let mut index_ms = None;
    if let Some((program, index_args)) = peer.index {
        let program = Program::on_path(program).with_context(|| format!("{program} is not on PATH"))?;
        let given = index_args(&copy, &index_text);
        index_ms = Some(program.run(&given.iter().map(String::as_str).collect::<Vec<_>>())?.ms);
    }
    let program = Program::on_path(peer.search).with_context(|| format!("{} is not on PATH", peer.search))?;
    let given = (peer.search_args)(&args.query, &copy, &index_text);
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    program.try_out(&given)?;
    let own = ["-k", "10", args.query.as_str(), &own_folder];
    let (query, ratio) = by_turns(args.runs, &|| colgrep.run(&own), &|| program.run(&given))?;
    Ok(PeerSpeed {
        name: peer.name.to_string(),
        what: "the query, whole process".to_string(),
        index_ms,
        query_ms: Some(query),
        ratio: Some(ratio),
    })
}

/// Copies a folder with everything below it; links are left out.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("{}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("{}", from.display()))?.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()? {
            kind if kind.is_dir() => copy_tree(&source, &target)?,
            kind if kind.is_file() => {
                std::fs::copy(&source, &target).with_context(|| format!("{}", source.display()))?;
            }
            _ => {}
        }
    }
    Ok(())
}
