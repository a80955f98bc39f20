//! `colgrep --stats`: how large the indexes of all projects are.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use colgrep_engine::settings::env::Env;
use serde::Serialize;

use super::others::{all_stores, history_of, worktree_of};
use crate::{FOUND, NOTHING};
use colgrep_render::words::{counted, in_words};

#[derive(Serialize)]
struct Stats {
    folder: String,
    #[serde(flatten)]
    all: IndexSizes,
    indexes: Vec<Index>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct IndexSizes {
    files: u64,
    units: u64,
    source_bytes: u64,
    index_bytes: u64,
}

#[derive(Serialize)]
struct Index {
    index: String,
    /// The project, or the folder of the repository whose history it is; none where the index can't be read.
    root: Option<String>,
    /// Whether it is of a history: its files are commits and sessions.
    is_history: bool,
    /// Whether the project is still there.
    exists: bool,
    error: Option<String>,
    #[serde(flatten)]
    sizes: IndexSizes,
}

pub(super) fn run(json: bool, env: &Env) -> Result<u8> {
    let mut stores = all_stores(env)?;
    stores.sort_by(|a, b| a.folder().cmp(b.folder()));
    let mut stats =
        Stats { folder: env.data_folder()?.display().to_string(), all: IndexSizes::default(), indexes: vec![] };
    for store in &stores {
        let mut sizes = IndexSizes { index_bytes: store.bytes_on_disk(), ..IndexSizes::default() };
        let (mut root, mut error) = (None, None);
        match store.open() {
            Ok(snapshot) => {
                for file in snapshot.files.indexed() {
                    sizes.files += 1;
                    sizes.units += u64::from(file.units);
                    sizes.source_bytes += file.size;
                }
                root = Some(snapshot.files.root);
            }
            Err(why) => error = Some(colgrep_render::advice::of_index(&why)),
        }
        let exists = root.as_ref().is_some_and(|r| Path::new(r).is_dir());
        let is_history = history_of(store).is_some();
        if !is_history {
            stats.all.files += sizes.files;
            stats.all.units += sizes.units;
            stats.all.source_bytes += sizes.source_bytes;
        }
        stats.all.index_bytes += sizes.index_bytes;
        let index = store.folder().display().to_string();
        stats.indexes.push(Index { index, root, is_history, exists, error, sizes });
    }
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&stats)?)?;
    } else {
        print(&stats, &mut out)?;
    }
    Ok(if stats.indexes.is_empty() { NOTHING } else { FOUND })
}

fn print(stats: &Stats, out: &mut impl std::io::Write) -> std::io::Result<()> {
    for index in &stats.indexes {
        if let Some(error) = &index.error {
            writeln!(out, "{}\n    {error}", index.index)?;
            continue;
        }
        let root = index.root.as_deref().unwrap_or_default();
        let gone = " (the project is gone; `colgrep clear --gone` removes the indexes of such)";
        let gone = if index.exists { "" } else { gone };
        if index.is_history {
            let IndexSizes { files, index_bytes, .. } = index.sizes;
            let (entries, disk) = (counted(files, "entry"), in_words(index_bytes));
            writeln!(
                out,
                "history of {}{gone}\n    {entries}, {disk} on disk",
                worktree_of(Path::new(root)).display()
            )?;
        } else {
            writeln!(out, "{root}{gone}\n    {}", index.sizes)?;
        }
    }
    let indexes = if stats.indexes.len() == 1 { "index" } else { "indexes" };
    writeln!(out, "{} {indexes} in {}: {}", stats.indexes.len(), stats.folder, stats.all)
}

impl std::fmt::Display for IndexSizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (source, disk) = (in_words(self.source_bytes), in_words(self.index_bytes));
        let (files, units) = (counted(self.files, "file"), counted(self.units, "unit"));
        write!(f, "{files}, {units}, {source} of source, {disk} on disk")
    }
}
