//! `colgrep --stats`: how large the indexes of all projects are.

use std::io::Write as _;

use anyhow::Result;

use super::clear::all_stores;
use super::in_words;
use crate::env::Env;
use crate::{FOUND, NOTHING};

pub(super) fn run(env: &Env) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    let mut stores = all_stores(env)?;
    stores.sort_by(|a, b| a.folder().cmp(b.folder()));
    let (mut files, mut units, mut source, mut disk) = (0u64, 0u64, 0u64, 0u64);
    for store in &stores {
        let bytes = store.bytes_on_disk();
        disk += bytes;
        match store.open() {
            Ok(snapshot) => {
                let own: Vec<_> = snapshot.files.indexed().collect();
                let (n, u) = (own.len() as u64, own.iter().map(|f| u64::from(f.units)).sum::<u64>());
                let s: u64 = own.iter().map(|f| f.size).sum();
                let state = if std::path::Path::new(&snapshot.files.root).is_dir() {
                    ""
                } else {
                    " (the project is gone; `colgrep clear --all` removes all indexes)"
                };
                writeln!(
                    out,
                    "{}{state}\n    {n} files, {u} units, {} of source, {} on disk",
                    snapshot.files.root,
                    in_words(s),
                    in_words(bytes)
                )?;
                (files, units, source) = (files + n, units + u, source + s);
            }
            Err(error) => writeln!(out, "{}\n    {error}", store.folder().display())?,
        }
    }
    let folder = env.data_folder()?;
    writeln!(
        out,
        "{} indexes in {}: {files} files, {units} units, {} of source, {} on disk",
        stores.len(),
        folder.display(),
        in_words(source),
        in_words(disk)
    )?;
    Ok(if stores.is_empty() { NOTHING } else { FOUND })
}
