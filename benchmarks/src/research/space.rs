//! `research space`: what each field of an index takes on disk.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;

use crate::report::print;

/// `research space`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The folder `lexical` of an index
    folder: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut out = String::new();
    let index = tantivy::Index::open_in_dir(&args.folder)?;
    let usage = index.reader()?.searcher().space_usage()?;
    for segment in usage.segments() {
        writeln!(out, "segment of {} documents, {:?}", segment.num_docs(), segment.total())?;
        for (what, fields) in [
            ("terms", segment.termdict()),
            ("postings", segment.postings()),
            ("positions", segment.positions()),
            ("fast", segment.fast_fields()),
            ("lengths", segment.fieldnorms()),
        ] {
            for field in fields.fields() {
                writeln!(out, "  {what:10} {field:?}")?;
            }
        }
        writeln!(out, "  store {:?}", segment.store().total())?;
    }
    print(&out)
}
