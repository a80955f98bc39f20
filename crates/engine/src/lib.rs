//! colgrep-engine: a project, its settings, the model and the search over its index.
//!
//! Between the index and whatever asks (the command line, the MCP server, the benchmark). It prints nothing, and reads
//! neither the process's environment nor its arguments by itself.

pub mod env;
pub mod explain;
pub mod git;
pub mod hint;
pub mod line;
pub mod model;
mod nearest;
pub mod project;
pub mod settings;
pub mod variable;
