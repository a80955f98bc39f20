//! `colgrep outline FILE`: the units of one file, read from the file itself.

use std::path::Path;

use anyhow::Result;
use colgrep_engine::request::split_lines;
use colgrep_render::outline::{OutlineOptions, print};

use crate::args::OutlineArgs;
use crate::{FOUND, NOTHING};

pub(super) fn run(args: &OutlineArgs) -> Result<u8> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let options = OutlineOptions { all: args.all, enriched: args.enriched, json: args.json };
    // `FILE:LINE`, as answers print it, means the file.
    let is_there = args.file.symlink_metadata().is_ok();
    let place = args.file.to_str().filter(|_| !is_there).and_then(split_lines);
    let file = place.map_or(args.file.as_path(), |(file, _)| Path::new(file));
    Ok(if print(&mut out, file, options)? { FOUND } else { NOTHING })
}
