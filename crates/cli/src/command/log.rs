//! `colgrep log`: commits and agents' sessions, ranked by a question or the newest first.

use colgrep_render::remark;
use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::Result;
use colgrep_engine::history::{Absent, HistoryAnswer, HistoryPlace, HistoryRequest};
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::request::{check_length, split_lines};
use colgrep_engine::{Env, Error, OpenOptions, Refused, Result as EngineResult};

use crate::args::LogArgs;
use crate::{FOUND, NOTHING};
use colgrep_render::console::{Console, tell_refused};
use colgrep_render::end::cut_query;
use colgrep_render::entries;
use colgrep_render::words::shell_word;

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
    // Without a question nothing is ranked, and the next question makes vectors.
    let is_ranked = request.query.as_deref().is_some_and(|query| !query.trim().is_empty());
    let opening = OpenOptions::default().with(&settings);
    let model = if is_ranked { Model::of_search(&opening.choice, request.ranking.by, env)? } else { None };
    let console = Console::new(wish.quiet, env);
    check_gone(&request, |gone| place.answer(gone, (&settings, env), None, &*console))?;
    let answer = place.answer(&request, (&settings, env), model.as_ref(), &*console)?;
    if !wish.quiet {
        if let Some(cut) = request.query.as_deref().and_then(cut_query) {
            remark!("colgrep: {cut}");
        }
        for written in &answer.uncommitted {
            remark!("colgrep: {written} is not committed yet");
        }
        for earlier in &answer.earlier {
            remark!("colgrep: {earlier}");
        }
        let unquoted = unquoted(&request, &answer.absent);
        for absent in answer.absent.iter().filter(|absent| unquoted.is_none() || !matches!(absent, Absent::Path(_))) {
            remark!("colgrep: {}", told(absent));
        }
        if let Some(unquoted) = unquoted {
            remark!("colgrep: {unquoted}");
        }
        if answer.entries.is_empty() && answer.uncommitted.is_empty() && answer.absent.is_empty() {
            remark!("colgrep: nothing in the history answers that");
        }
    }
    entries::print(&answer.entries, &wish.with(&settings, env, std::io::stdout().is_terminal()))?;
    Ok(if answer.entries.is_empty() { NOTHING } else { FOUND })
}

/// Refuses lines of a file that only the history knows, if they are the only argument and so were taken for a question,
/// whose words would match anything.
fn check_gone(request: &HistoryRequest, ask: impl Fn(&HistoryRequest) -> EngineResult<HistoryAnswer>) -> Result<()> {
    let query = request.query.as_deref().filter(|query| request.paths.is_empty() && split_lines(query).is_some());
    let Some(query) = query else { return Ok(()) };
    match ask(&HistoryRequest { query: None, paths: vec![query.to_string()], ..request.clone() }) {
        Err(error @ Error::Refused(Refused::Gone { .. })) => Err(error.into()),
        _ => Ok(()),
    }
}

/// What to say of a question without quotes, whose words were taken for paths.
fn unquoted(request: &HistoryRequest, absent: &[Absent]) -> Option<String> {
    let query = request.query.as_deref().filter(|query| !query.is_empty() && !query.contains(char::is_whitespace))?;
    let is_word = |path: &String| !path.contains(['/', '.', ':']) && absent.contains(&Absent::Path(path.clone()));
    let word = request.paths.first().filter(|_| request.paths.iter().all(is_word))?;
    let words: Vec<&str> = std::iter::once(query).chain(request.paths.iter().map(String::as_str)).collect();
    let quoted = shell_word(&words.join(" "));
    Some(format!("the history has no file or folder {word:?}; put the question in quotes: colgrep log {quoted}"))
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
