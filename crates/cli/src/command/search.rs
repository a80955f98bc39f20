//! A search: the request to the engine, and the printed answer.

use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use colgrep_engine::project::settings_at;
use colgrep_engine::request::operators::is_filter;
use colgrep_engine::request::rules::type_list;
use colgrep_engine::{Detail, Engine, Env, Question, Scope, SearchRequest, Session, Weakest};

#[cfg(feature = "cluster")]
use super::over;
#[cfg(feature = "share")]
use super::pull;
use super::{behind, grep, levels, limit_threads, many};
use crate::args::{Plan, Task, command_like};
use crate::{FAILED, FOUND, NOTHING};
use colgrep_render::console::Console;
use colgrep_render::empty::{self, Naming};
use colgrep_render::end;
use colgrep_render::json;
use colgrep_render::path::{is_stdin, is_stream};
use colgrep_render::remarks::RemarkKind;
use colgrep_render::words::{in_short, shell_word};

pub(super) fn run(mut plan: Plan, env: &Env) -> Result<u8> {
    match &plan.task {
        Task::JsonSchema => {
            writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&json::schema())?)?;
            return Ok(FOUND);
        }
        Task::TypeList => {
            write!(std::io::stdout(), "{}", type_list(&settings_at(Path::new("."), env)?))?;
            return Ok(FOUND);
        }
        Task::Grep | Task::Files | Task::Rank | Task::Without | Task::Many(_) | Task::Levels(_) => {}
    }
    if let Some(file) = &plan.shards {
        #[cfg(feature = "cluster")]
        return over::run(&plan, file, env);
        #[cfg(not(feature = "cluster"))]
        return super::left_out(&format!("searches over shards ({})", file.display()), "cluster");
    }
    add_groups(&mut plan, env)?;
    let plan = &plan;
    let paths = &plan.request.scope.paths;
    let first = paths.iter().find(|path| !is_stdin(path) && !is_stream(path) && path.exists());
    let start = first.map_or(Path::new("."), PathBuf::as_path);
    limit_threads(plan.threads);
    let console = Console::of_search(plan.output.quiet, plan.lines.no_messages, env);
    if let Task::Grep | Task::Files = plan.task {
        let settings = settings_at(start, env)?;
        let status = match plan.task {
            Task::Files => grep::names(plan, env, &settings)?,
            _ => grep::run(plan, env, &settings)?,
        };
        plan.hold_remarks(&console, &settings);
        console.finish(settings.is_on("quiet"));
        return Ok(status);
    }
    #[cfg(feature = "share")]
    pull::before_search(plan, env, start)?;
    #[cfg(not(feature = "share"))]
    if plan.remote.is_some() {
        return super::left_out("--remote", "share");
    }
    let engine = Engine::new(env.clone()).options(plan.open.clone()).listener(console.clone());
    let mut session = engine.session(start)?;
    plan.hold_remarks(&console, session.settings());
    let status = ask(plan, env, &mut session, &console)?;
    // It follows the last result even if both streams are the same.
    console.finish(session.settings().is_on("quiet"));
    // A remark reports an unreadable path, or an index that could not be updated; what was found is printed.
    let status = match status {
        FOUND if plan.output.silent => FOUND,
        _ if session.has_unreadable() || session.may_lack() => FAILED,
        status => status,
    };
    behind::start(&session, plan);
    Ok(status)
}

/// Adds the folders of groups to the paths.
fn add_groups(plan: &mut Plan, env: &Env) -> Result<()> {
    if plan.groups.is_empty() {
        return Ok(());
    }
    let settings = settings_at(Path::new("."), env)?;
    for group in &plan.groups {
        plan.request.scope.paths.extend(settings.group(group, env)?);
    }
    Ok(())
}

/// Searches, prints the answer and returns the exit status.
fn ask(plan: &Plan, env: &Env, session: &mut Session, console: &Console) -> Result<u8> {
    let paths = &plan.request.scope.paths;
    paths.iter().try_for_each(|path| check_exists(path, plan))?;
    if let Task::Levels(depth) = plan.task {
        return levels::run(plan, depth, env, session, console);
    }
    let terminal = std::io::stdout().is_terminal();
    let options = plan.output.with(session.settings(), env, terminal)?;
    if let Task::Many(file) = &plan.task {
        return many::run(file, &plan.request, &options, session);
    }
    if let Task::Without = plan.task {
        let files = session.files_without(&plan.request)?;
        if !options.wish.silent {
            colgrep_render::print_names(&files, &options)?;
        }
        return Ok(if files.is_empty() { NOTHING } else { FOUND });
    }
    let results = session.rank(&plan.request)?;
    let (is_empty, has_end, unknown_calls) = (results.is_empty(), results.has_end, results.unknown_calls.clone());
    if options.wish.silent {
        return Ok(if is_empty { NOTHING } else { FOUND });
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    // With tracing on, a program reads stderr.
    let is_told = !env.trace && is_empty && !results.only_matches && !options.wish.format.is_json();
    let (scope, question) = (&plan.request.scope, &plan.request.question);
    let why = is_told
        .then(|| {
            empty::of_units(scope, question, results.has_files, &unknown_calls, Naming::Flags)
                .or_else(|| of_command(plan))
        })
        .flatten();
    let limits = (!env.trace && why.is_none()).then(|| end::typed(scope));
    colgrep_render::print(&mut out, &results, &options, limits.as_deref(), console)?;
    out.flush()?;
    if let Some(misread) = plan.misread.as_ref().filter(|_| results.only_matches) {
        console.hold(RemarkKind::CommandLine, misread);
    }
    if let Some((name, unknown)) =
        results.uncalled.as_ref().filter(|_| limits.is_some() && !options.wish.format.is_json())
        && let Some(told) = empty::of_callers(scope, name, unknown, Naming::Flags)
    {
        console.hold(RemarkKind::NotFound, told);
    }
    if let Question::Text(query) = question
        && scope.paths.is_empty()
        && query.contains('/')
        && Path::new(query).is_dir()
    {
        let folder = shell_word(query);
        console.hold(RemarkKind::CommandLine, format!("{folder} is a folder; colgrep QUERY {folder} searches in it"));
    }
    // Where printing the end gave a remark already, that one stays.
    let why = match (why, question) {
        (None, Question::Text(_)) if is_told && (scope.has_pattern() || !scope.facts.allow_all()) => {
            let is_any = has_units(scope, session)?;
            empty::of_query(scope, is_any, &unknown_calls, Naming::Flags)
        }
        (None, Question::Text(text)) if is_told && has_end => {
            let limits = end::typed(scope);
            let place = if limits.is_empty() { "here".to_string() } else { format!("within `{}`", limits.trim()) };
            Some(format!("nothing {place} answers {:?}", in_short(text)))
        }
        (why, _) => why,
    };
    if let Some(why) = why {
        console.hold(RemarkKind::NotFound, empty::of_changes(why, scope, session.settings(), env)?);
    }
    Ok(if is_empty { NOTHING } else { FOUND })
}

/// The command that may be meant by a word that nothing answers.
fn of_command(plan: &Plan) -> Option<String> {
    let Question::Text(word) = &plan.request.question else { return None };
    let is_limited =
        end::has_filters(&plan.request.scope) || matches!(plan.request.shape.weakest, Weakest::Strength(_));
    let command = command_like(word).filter(|_| !is_limited)?;
    Some(format!("nothing here answers {word:?}; {}", meant_command(&command, plan)))
}

/// The advice to run a command, with the paths as its arguments.
fn meant_command(command: &str, plan: &Plan) -> String {
    let paths = plan.request.scope.paths.iter().map(|path| format!(" {}", shell_word(&path.to_string_lossy())));
    format!("if a command is meant: colgrep {command}{}", paths.collect::<String>())
}

/// Whether any unit is what the scope asks for, whatever the question.
fn has_units(scope: &Scope, session: &mut Session) -> Result<bool> {
    let mut every = SearchRequest::default();
    (every.question, every.scope, every.shape.files) = (Question::Every, scope.clone(), Some(1));
    every.shape.detail = Detail::Names;
    Ok(!session.rank(&every)?.is_empty())
}

/// Refuses a word that is no path: it was probably meant for the query.
fn check_exists(path: &Path, plan: &Plan) -> Result<()> {
    let is_word = path.components().count() == 1 && path != Path::new("-");
    if !is_word || path.exists() || path.is_symlink() {
        return Ok(());
    }
    let query = match (&plan.task, &plan.request.question) {
        (_, Question::Text(query)) if !query.is_empty() => query.as_str(),
        (task, question) => {
            let flag = match (task, question) {
                (Task::Levels(_), _) => "--depth",
                (Task::Many(_), _) => "--queries-from",
                (_, Question::Like { .. } | Question::LikeUnit(_)) => "--like",
                _ => "a list",
            };
            bail!("there is no file or folder {:?}, and {flag} takes no query beside it", path.to_string_lossy())
        }
    };
    // Paths and globs at the end do not belong to the question.
    let paths = &plan.request.scope.paths;
    let is_glob = |path: &Path| path.to_string_lossy().contains('*') && !is_filter(&path.to_string_lossy());
    let is_place = |path: &&PathBuf| path.exists() || is_glob(path);
    let places = paths.iter().rev().take_while(is_place).count();
    let (words, places) = paths.split_at(paths.len() - places);
    let words = words.iter().map(|path| path.to_string_lossy());
    let all: Vec<_> = std::iter::once(query.into()).chain(words).filter(|word| !word.is_empty()).collect();
    let word = path.to_string_lossy();
    let place = |path: &PathBuf| {
        let flag = if !path.exists() && is_glob(path) { "-g " } else { "" };
        format!(" {flag}{}", shell_word(&path.to_string_lossy()))
    };
    let places: String = places.iter().map(place).collect();
    // A question is no reason to delete an index.
    let meant = command_like(query).filter(|command| command != "clear");
    let meant = meant.map(|command| format!(" {}; otherwise", meant_command(&command, plan))).unwrap_or_default();
    let quoted = shell_word(&all.join(" "));
    if all.len() == 1 {
        bail!("there is no file or folder {word:?}; -g takes a glob: colgrep {quoted}{places}");
    }
    bail!("there is no file or folder {word:?};{meant} put the question in quotes: colgrep {quoted}{places}")
}
