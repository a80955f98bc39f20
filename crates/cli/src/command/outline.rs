//! `colgrep outline FILE`: the units of one file, read from the file itself.

use anyhow::Result;
use colgrep_render::outline::{OutlineOptions, print};

use crate::args::OutlineArgs;
use crate::{FOUND, NOTHING};

pub(super) fn run(args: &OutlineArgs) -> Result<u8> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let options = OutlineOptions { all: args.all, enriched: args.enriched, json: args.json };
    Ok(if print(&mut out, &args.file, options)? { FOUND } else { NOTHING })
}
