//! `colgrep mcp`: an MCP server on standard input and output.

use anyhow::Result;
use colgrep_engine::settings::env::Env;

use super::limit_threads;
use crate::FOUND;
use crate::args::McpCommand;

pub(super) fn run(args: &McpCommand, env: &Env) -> Result<u8> {
    limit_threads(args.walk.threads);
    colgrep_server::mcp::run(&args.server, args.walk.open_options(None), env)?;
    Ok(FOUND)
}
