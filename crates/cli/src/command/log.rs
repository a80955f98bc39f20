//! `colgrep log`: commits and agents' sessions, ranked by a question or the newest first.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::Result;
use colgrep_engine::history::{Absent, HistoryPlace};
use colgrep_engine::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::request::check_length;
use colgrep_engine::{Env, OpenOptions};

use crate::args::LogArgs;
use crate::console::{Console, tell_refused};
use crate::output::entries;
use crate::{FOUND, NOTHING};

pub(super) fn run(args: &LogArgs, env: &Env) -> Result<u8> {
    let here = Path::new(".");
    let settings = settings_at(here, env)?;
    let wish = args.output();
    if !wish.quiet {
        tell_refused(&settings);
    }
    let request = args.request();
    // Before git is asked for anything.
    check_length(request.query.as_deref().unwrap_or_default().as_bytes())?;
    let place = HistoryPlace::around(here, &settings, env)?;
    // Nothing is ranked where nothing is looked for; then the next question makes vectors.
    let is_ranked = request.query.as_deref().is_some_and(|query| !query.trim().is_empty());
    let opening = OpenOptions::default().with(&settings);
    let model = if is_ranked { Model::of_search(&opening.choice, request.ranking.by, env)? } else { None };
    let console = Console::new(wish.quiet, env.trace);
    let answer = place.answer(&request, (&settings, env), model.as_ref(), &*console)?;
    if !wish.quiet {
        for written in &answer.uncommitted {
            remark!("colgrep: {written} is not committed yet");
        }
        for absent in &answer.absent {
            remark!("colgrep: {}", told(absent));
        }
    }
    entries::print(&answer.entries, &wish.with(&settings, env, std::io::stdout().is_terminal()))?;
    Ok(if answer.entries.is_empty() { NOTHING } else { FOUND })
}

/// What a history has nothing of, and what to do.
pub(super) fn told(absent: &Absent) -> String {
    let advice = match absent {
        Absent::Commits => "; `git commit` makes the first",
        Absent::Folders => "; `colgrep settings sessions FOLDER` names one, as ~/.claude/projects or ~/.codex/sessions",
        Absent::Folder(_) => "; `colgrep settings sessions FOLDER` names another",
        _ => "",
    };
    format!("{absent}{advice}")
}
