//! `colgrep impact`: what else a change affects.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Result, anyhow};
use colgrep_engine::{Engine, Env, Error, OpenOptions};
use colgrep_render::console::{Console, tell_refused};
use colgrep_render::related::{files_of, of_modes, print_impact};
use colgrep_render::remark;
use colgrep_render::words::in_short;

use super::limit_threads;
use crate::args::ImpactArgs;
use crate::{FOUND, NOTHING};

/// Why nothing is affected by a change without a file.
fn of_no_change(args: &ImpactArgs, modes: &[String]) -> String {
    match (args.staged, args.change.as_slice()) {
        _ if !modes.is_empty() => of_modes(modes),
        (true, _) => "nothing is staged".to_string(),
        (_, []) => "no file here differs from the last commit; name a commit, A...B, or files".to_string(),
        (_, change) => format!("{} changes no file here", in_short(&change.join(" "))),
    }
}

/// A change that git does not know, where its name is that of a folder: a branch may have that name too.
fn of_folder(error: Error, change: &[String]) -> anyhow::Error {
    match (&error, change) {
        (Error::Refused(_), [name]) if Path::new(name).is_dir() => {
            anyhow!("{} is a folder; name its files, or one commit or A...B", in_short(name))
        }
        _ => error.into(),
    }
}

pub(super) fn run(args: &ImpactArgs, env: &Env) -> Result<u8> {
    let request = args.request()?;
    limit_threads(None);
    let console = Console::new(args.quiet, env);
    let engine = Engine::new(env.clone()).options(OpenOptions::default()).listener(console);
    let mut session = engine.session(Path::new("."))?;
    if !args.quiet {
        tell_refused(session.settings());
    }
    let answer = session.impact(&request).map_err(|error| of_folder(error, &args.change))?;
    let options = args.output().with(session.settings(), env, std::io::stdout().is_terminal())?;
    if options.wish.names_only {
        colgrep_render::print_names(&files_of(answer.affected.iter().map(|one| &one.file)), &options)?;
    } else {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        print_impact(&mut out, &answer, &options)?;
        out.flush()?;
    }
    if answer.changed.files.is_empty() && !options.wish.quiet && !options.wish.format.is_json() {
        remark!("colgrep: {}", of_no_change(args, &answer.changed.modes));
    }
    Ok(if answer.affected.is_empty() { NOTHING } else { FOUND })
}
