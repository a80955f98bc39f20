//! `research space`: what the parts of indexes take on disk, and each field before blocks are compressed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_index::lexical::Lexical;

use crate::report::print;

#[derive(Clone, Debug, clap::Args)]
pub struct SpaceArgs {
    /// Folders of indexes
    #[arg(required = true)]
    indexes: Vec<PathBuf>,
    /// Bytes of their source, for shares
    #[arg(long, default_value_t = 0)]
    source: u64,
}

/// Bytes by purpose and field.
type Space = BTreeMap<(String, String), u64>;

pub(super) fn run(args: &SpaceArgs) -> Result<()> {
    let (mut files, mut fields) = (Space::new(), Space::new());
    for index in &args.indexes {
        add_files(index, &mut files)?;
        for (purpose, field, bytes) in Lexical::open(&index.join("lexical"))?.space()? {
            *fields.entry((purpose.to_string(), field)).or_default() += bytes;
        }
    }
    let mut out = table("files by ending", &files, args.source)?;
    out.push_str(&table("before blocks are compressed", &fields, args.source)?);
    print(&out)
}

/// Adds the bytes of all files below a folder, by the endings of their names.
fn add_files(folder: &Path, files: &mut Space) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files(&path, files)?;
            continue;
        }
        let ending = path.extension().map_or_else(String::new, |ending| ending.to_string_lossy().into_owned());
        *files.entry((ending, String::new())).or_default() += path.metadata()?.len();
    }
    Ok(())
}

/// Rows by size, the greatest first.
fn table(title: &str, space: &Space, source: u64) -> Result<String> {
    let mut rows: Vec<_> = space.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let share = |bytes: u64| if source > 0 { format!("{:.4}", bytes as f64 / source as f64) } else { String::new() };
    let sum = space.values().sum();
    let mut out = String::new();
    writeln!(out, "{title}: {sum} {}", share(sum))?;
    for ((purpose, field), bytes) in rows {
        writeln!(out, "  {purpose:10} {field:13} {bytes:12} {}", share(*bytes))?;
    }
    Ok(out)
}
