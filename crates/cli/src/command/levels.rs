//! `--calls NAME --depth N` and `--called-by NAME --depth N`: calls over several levels.

use std::io::{IsTerminal as _, Write as _};

use anyhow::Result;
use colgrep_engine::{CallDirection, CallLevelsRequest, CallStart, Env, Session};
use colgrep_render::console::Console;
use colgrep_render::empty::{Naming, of_facts};
use colgrep_render::related::{files_of, print_levels};
use colgrep_render::remarks::RemarkKind;

use crate::args::Plan;
use crate::{FOUND, NOTHING};

/// Follows calls, prints the units and returns the exit status.
///
/// # Errors
/// When an index can't be read, or standard output refuses.
pub fn run(plan: &Plan, depth: usize, env: &Env, session: &mut Session, console: &Console) -> Result<u8> {
    let facts = &plan.request.scope.facts;
    let (names, direction) = match facts.calls.is_empty() {
        false => (facts.calls.clone(), CallDirection::Callers),
        true => (facts.called_by.clone(), CallDirection::Callees),
    };
    let start = CallStart::Names(names);
    let request = CallLevelsRequest { start, direction, depth, scope: plan.request.scope.clone() };
    let answer = session.call_levels(&request)?;
    if !plan.output.silent {
        let options = plan.output.with(session.settings(), env, std::io::stdout().is_terminal())?;
        if options.wish.names_only {
            colgrep_render::print_names(&files_of(answer.rows.iter().map(|row| &row.file)), &options)?;
        } else {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            print_levels(&mut out, &answer, direction, &options, console)?;
            out.flush()?;
        }
    }
    let is_nothing = answer.rows.is_empty() && answer.common.is_empty();
    if is_nothing {
        let unknown = session.unknown_calls(facts)?;
        of_facts(&plan.request.scope, &unknown, Naming::Flags)
            .into_iter()
            .for_each(|told| console.hold(RemarkKind::NotFound, told));
    }
    Ok(if answer.rows.is_empty() { NOTHING } else { FOUND })
}
