//! The servers of colgrep: MCP on standard input and output, and HTTP with a page for people. Both answer the requests
//! of one table ([`api`]).

pub mod api;
pub mod args;
pub mod http;
mod log;
pub mod mcp;
