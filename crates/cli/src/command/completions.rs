//! `colgrep completions SHELL`: what the shell needs to complete colgrep's flags.

use std::io::Write as _;

use anyhow::Result;
use clap::CommandFactory as _;

use crate::FOUND;
use crate::args::{Args, CompletionsArgs};

pub(super) fn run(args: &CompletionsArgs) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "colgrep", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(FOUND)
}
