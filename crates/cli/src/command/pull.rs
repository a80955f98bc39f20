//! `colgrep pull`: takes a shared index, and brings it up to date with what is checked out.

use colgrep_render::remark;
use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_engine::notice::Listener;
use colgrep_engine::project::Project;
use colgrep_engine::project::identity::Identity;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::{Opening, name_runtime, update};
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_index::mode::VectorMode;
use colgrep_share::{Error as RemoteError, Pulled, RemoteIndex, StoreAddress, StoreTimeouts, Takes};

use super::limit_threads;
use super::share::{self, Taking, called};
use crate::args::{Plan, PullArgs};
use crate::transfer::Transfer;
use crate::{FOUND, NOTHING};
use colgrep_render::advice;
use colgrep_render::console::{Console, tell_refused};
use colgrep_render::words::{counted, in_words};

pub(super) fn run(args: &PullArgs, env: &Env) -> Result<u8> {
    let started = Instant::now();
    let quiet = args.walk.quiet;
    let mut project = share::project(args.path.as_deref(), env, args.walk.yes)?;
    let settings = project.settings(env)?;
    if !quiet {
        tell_refused(&settings);
    }
    let remote = share::remote(args.url.as_deref(), &project, &settings, env, StoreTimeouts::Ample)?;
    let (identity, names) = share::identity(&project, args.name.as_deref())?;
    if args.list {
        let transfer = Transfer::new(quiet, env);
        let mut commits = remote.commits(&names, &transfer)?;
        // It may have been shared before it had its address.
        if commits.is_empty() && args.name.is_none() {
            let last: Vec<String> = Identity::last_name(&project).into_iter().collect();
            commits = remote.commits(&last, &transfer)?;
        }
        return list(&commits);
    }
    limit_threads(args.walk.threads);
    let opening = args.walk.open_options(args.model.clone()).with(&settings);
    let model = Model::of_index(&opening.choice, &env.working_on([&project.root]))?;
    let console = Console::new(quiet, env);
    name_runtime(&*console);
    let (names, model) = (&names[..], model.as_ref());
    let takes = Takes::of(&opening.walk, settings.ignore());
    let taking = Taking {
        project: &project,
        identity: &identity,
        names,
        by_commit: args.name.is_none(),
        opening: &opening,
        takes: &takes,
        model,
        remote: &remote,
    };
    let transfer = Transfer::new(quiet, env);
    let found = match taking.find(&transfer) {
        Err(error @ RemoteError::Unknown { .. }) => {
            remark!("colgrep: {}", advice::told(&error.into()));
            return Ok(NOTHING);
        }
        found => found?,
    };
    let best = found[0].clone();
    let taken = if taking.is_taken(&best) { None } else { taking.take(found, &transfer)? };
    drop(transfer);
    let encoding = model.and_then(|model| model.encoding(None));
    let (snapshot, report) = update(&project, Some(&opening.walk), true, encoding.as_ref(), &*console)?;
    if quiet {
        return Ok(FOUND);
    }
    say(taken.as_ref(), &best, &opening, &takes);
    let others = format!("{} read and {} removed", counted(report.changed, "file"), report.removed);
    let (parsed, encoded) = (counted(report.units, "unit"), counted(report.encoded, "text"));
    let indexed = counted(snapshot.files.indexed().count() as u64, "file");
    let seconds = started.elapsed().as_secs_f64();
    remark!(
        "{}: {indexed} indexed ({others}, {parsed} parsed, {encoded} encoded) in {seconds:.2} s",
        project.root.display()
    );
    Ok(FOUND)
}

/// Prints commits whose indexes a remote has, with their branches.
fn list(commits: &[(String, Option<String>)]) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    for (commit, branch) in commits {
        let line = format!("{commit} {}", branch.as_deref().unwrap_or_default());
        writeln!(out, "{}", share::plain(line.trim_end()))?;
    }
    out.flush()?;
    Ok(if commits.is_empty() { NOTHING } else { FOUND })
}

fn say(taken: Option<&(RemoteIndex, Pulled)>, found: &RemoteIndex, opening: &Opening, takes: &Takes) {
    let Some((found, pulled)) = taken else {
        return remark!("{}: the index of {} is here already", found.name, called(&found.snapshot));
    };
    let away = match found.distance {
        Some(0) => ", what is checked out".to_string(),
        Some(n) => format!(", {} from what is checked out", counted(n, "commit")),
        None => String::new(),
    };
    let kept = match pulled.bytes_kept {
        0 => String::new(),
        bytes => format!(", {} were here", in_words(bytes)),
    };
    let bytes = in_words(pulled.bytes);
    remark!("{}: the index of {}{away} ({bytes} fetched{kept})", found.name, called(&found.snapshot));
    if opening.choice.vectors == VectorMode::Full && !found.fits {
        let whose = found.snapshot.vectors.as_ref().map_or("it has none", |vectors| vectors.model.as_str());
        remark!("colgrep: its vectors are not of this model ({whose}); they are made here");
    }
    let differing = found.snapshot.takes.as_ref().map(|its| takes.differing(its)).unwrap_or_default();
    if !differing.is_empty() {
        remark!(
            "colgrep: it was made with another {}, so it takes in other files; those that differ are read here",
            differing.join(" and another ")
        );
    }
}

/// Pulls the index of a search's project from a remote first: for a flag, only the index of the exact commit; for a
/// setting, any index, but only if the project has none. Failures are reported, and the search continues without it.
///
/// # Errors
/// When the flag's value is no address.
pub(super) fn before_search(plan: &Plan, env: &Env, start: &std::path::Path) -> Result<()> {
    if let Some(url) = &plan.remote {
        StoreAddress::parse(url, env.home.as_deref()).context("--remote")?;
    }
    if !plan.open.update {
        return Ok(());
    }
    let Ok((mut project, _)) = Project::around(start, env) else { return Ok(()) };
    if plan.remote.is_none() && project.store.exists() {
        return Ok(());
    }
    // What is wrong with the settings or the project, the search says.
    let Ok(settings) = project.settings(env) else { return Ok(()) };
    if plan.remote.is_none() && settings.text("remote").is_none() {
        return Ok(());
    }
    if project.check_size(env, plan.open.any_root).is_err() {
        return Ok(());
    }
    let quiet = plan.output.quiet;
    match taken(plan, env, &project, &settings) {
        _ if quiet => {}
        Ok(None) => {}
        Ok(Some((found, pulled))) => {
            let (name, index, bytes) = (&found.name, called(&found.snapshot), in_words(pulled.bytes));
            remark!("colgrep: took the index of {name} ({index}), {bytes}");
        }
        Err(error) => remark!("colgrep: {}; the search goes on without", advice::told(&error)),
    }
    Ok(())
}

fn taken(plan: &Plan, env: &Env, project: &Project, settings: &Settings) -> Result<Option<(RemoteIndex, Pulled)>> {
    let remote = share::remote(plan.remote.as_deref(), project, settings, env, StoreTimeouts::Short)?;
    let (identity, names) = share::identity(project, None)?;
    let opening = plan.open.with(settings);
    let model = Model::of_index(&opening.choice, &env.working_on([&project.root]))?;
    let (names, model) = (&names[..], model.as_ref());
    let takes = Takes::of(&opening.walk, settings.ignore());
    let taking = Taking {
        project,
        identity: &identity,
        names,
        by_commit: true,
        opening: &opening,
        takes: &takes,
        model,
        remote: &remote,
    };
    let transfer = Transfer::new(plan.output.quiet, env);
    let found = taking.find(&transfer)?;
    let has_one = project.store.exists();
    if has_one && (taking.is_taken(&found[0]) || found[0].distance != Some(0)) {
        return Ok(None);
    }
    let Some(taken) = taking.take(found, &transfer)? else { return Ok(None) };
    drop(transfer);
    // Every file has another time than where the index was made: each is read and compared by its hash, in no hurry.
    let console = Console::new(plan.output.quiet, env);
    let progress: &dyn Listener = &*console;
    update(project, Some(&opening.walk), true, None, progress)?;
    Ok(Some(taken))
}
