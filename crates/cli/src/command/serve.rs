//! `colgrep serve`: an HTTP server, or a shard.

use anyhow::Result;
use colgrep_engine::settings::env::Env;

use super::limit_threads;
use crate::FOUND;
use crate::args::ServeCommand;

pub(super) fn run(args: &ServeCommand, env: &Env) -> Result<u8> {
    limit_threads(args.walk.threads);
    colgrep_server::http::run(&args.server, args.walk.open_options(None), args.walk.quiet, env)?;
    Ok(FOUND)
}
