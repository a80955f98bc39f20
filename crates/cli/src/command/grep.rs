//! `-e PATTERN` alone: every matching line, as grep prints it, by ripgrep's engine.

use anyhow::Result;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_render::grep::{LineOutcome, LineSearch, print_files, print_lines};

use crate::args::Plan;
use crate::{FAILED, FOUND, NOTHING};

fn search(plan: &Plan) -> LineSearch<'_> {
    LineSearch {
        scope: &plan.request.scope,
        open: &plan.open,
        lines: &plan.lines,
        wish: &plan.output,
        sorting: plan.sorting,
    }
}

fn status(outcome: LineOutcome) -> u8 {
    match outcome {
        LineOutcome { failed: true, .. } => FAILED,
        LineOutcome { found: true, .. } => FOUND,
        LineOutcome { found: false, .. } => NOTHING,
    }
}

pub(super) fn run(plan: &Plan, env: &Env, settings: &Settings) -> Result<u8> {
    Ok(status(print_lines(&search(plan), env, settings)?))
}

/// `--files`: the names of the files that a grep would search.
pub(super) fn names(plan: &Plan, env: &Env, settings: &Settings) -> Result<u8> {
    Ok(status(print_files(&search(plan), env, settings)?))
}
