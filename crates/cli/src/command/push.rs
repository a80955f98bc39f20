//! `colgrep push`: brings the index up to date and sends it to where a team shares indexes.

use colgrep_render::remark;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use colgrep_engine::project::Project;
use colgrep_engine::project::git::uncommitted;
use colgrep_engine::project::identity::Identity;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::{name_runtime, update};
use colgrep_engine::settings::env::Env;
use colgrep_engine::{Error as EngineError, OpenOptions, Refused, Settings};
use colgrep_index::store::{FileTable, Snapshot};
use colgrep_share::{Error as RemoteError, Pushed, Remote, RemoteState, Sent, StoreAddress, StoreTimeouts, Takes};

use super::{limit_threads, share};
use crate::FOUND;
use crate::args::PushArgs;
use crate::transfer::Transfer;
use colgrep_render::console::{Console, tell_refused};
use colgrep_render::words::{counted, in_words, shell_word};

const DAY: u64 = 86_400;

pub(super) fn run(args: &PushArgs, env: &Env) -> Result<u8> {
    let started = Instant::now();
    let mut project = share::project(args.path.as_deref(), env, false)?;
    let settings = project.settings(env)?;
    if !args.quiet {
        tell_refused(&settings);
    }
    check_target(args, &project, &settings, env)?;
    let remote = share::remote(args.url.as_deref(), &project, &settings, env, StoreTimeouts::Ample)?;
    let (identity, names) = share::identity(&project, args.name.as_deref())?;
    let name = &names[0];
    let transfer = Transfer::new(args.quiet, env);
    let known = match remote.known(name, &transfer) {
        // Start over with an empty manifest.
        Err(RemoteError::DamagedManifest { .. }) if args.anew => RemoteState::default(),
        known => known?,
    };
    drop(transfer);
    limit_threads(None);
    let snapshot = updated(&project, args.quiet, &settings, env)?;
    if snapshot.files.indexed().next().is_none() {
        bail!("{} holds no file that is indexed", project.root.display());
    }
    drop(snapshot);
    let shipment = project.store.ship(&|part| known.has(part))?;
    // Check the files that are sent, rather than an earlier state.
    check_content(&project, &shipment.table, args.dirty)?;
    if Identity::of(&project).unwrap_or_default().commit != identity.commit {
        bail!("another commit was checked out meanwhile; push again");
    }
    let (commit, branch) = (identity.commit.as_deref(), identity.branch.as_deref());
    let takes = Takes::of(&shipment.table.walk_options(), settings.ignore());
    let sent = Sent { commit, branch, lines: identity.lines, takes, anew: args.anew };
    let transfer = Transfer::new(args.quiet, env);
    let pushed = remote.push(name, &shipment, &sent, &transfer)?;
    drop(transfer);
    if !args.quiet {
        say(&pushed, name, started);
    }
    if let Some(days) = args.prune {
        prune(&remote, name, days, args.quiet)?;
    }
    Ok(FOUND)
}

/// Refuses a place that can't be meant: no address, or a folder of the project itself. Somebody may have meant to search
/// for the word.
fn check_target(args: &PushArgs, project: &Project, settings: &Settings, env: &Env) -> Result<()> {
    let as_search = || {
        let words = args.url.iter().map(String::as_str).chain(args.path.as_ref().and_then(|path| path.to_str()));
        let words: Vec<String> = words.map(shell_word).collect();
        format!("`colgrep search push {}` searches for the word", words.join(" "))
    };
    let Some(url) = args.url.as_deref().or(settings.text("remote")) else { return Ok(()) };
    match StoreAddress::parse(url, env.home.as_deref()) {
        Err(error) if args.url.is_some() && !url.contains("://") => bail!("{}; {}", error.full(), as_search()),
        Ok(place) if place.is_part_of(&project.root) && !place.holds(&project.root) => {
            let root = project.root.display();
            bail!("{place} is part of the project {root}; name a folder outside of it; {}", as_search())
        }
        _ => Ok(()),
    }
}

/// Updates the index as `init` does, keeping its options.
fn updated(project: &Project, quiet: bool, settings: &Settings, env: &Env) -> Result<Snapshot> {
    let opening = OpenOptions::default().with(settings);
    let model = Model::of_index(&opening.choice, &env.working_on([&project.root]))?;
    let encoding = model.as_ref().and_then(|model| model.encoding(None));
    let console = Console::new(quiet, env);
    name_runtime(&*console);
    let options = Some(opening.walk).filter(|_| !project.store.exists());
    Ok(update(project, options.as_ref(), true, encoding.as_ref(), &*console)?.0)
}

/// Refuses to send files that are not meant to be shared: ignored files, keys and passwords, and, unless `dirty`,
/// uncommitted files.
fn check_content(project: &Project, table: &FileTable, dirty: bool) -> Result<()> {
    let kept = [(table.secrets, "--secrets", "keys and passwords"), (table.no_ignore, "--no-ignore", "ignored files")];
    if let Some((_, flag, what)) = kept.iter().find(|(is_on, ..)| *is_on) {
        bail!(
            "this index was made with {flag} and holds {what}, which are not shared; `colgrep init` makes it without"
        );
    }
    let changed = match uncommitted(project) {
        // Outside a repository there is nothing to compare with.
        Err(EngineError::Refused(Refused::NoRepository { .. })) if !has_git(&project.root) => return Ok(()),
        // Whatever else git can't tell may be a file that nobody committed.
        Err(error) if !dirty => {
            let why = error.full();
            bail!("git does not say what is not committed ({why}), and others would get it; mend that, or pass --dirty")
        }
        Err(_) => return Ok(()),
        Ok(changed) => changed,
    };
    let differing: Vec<&str> =
        table.indexed().map(|file| file.path.as_str()).filter(|path| changed.contains(path)).collect();
    if let (Some(first), false) = (differing.first(), dirty) {
        let others = match differing.len() - 1 {
            0 => "differs".to_string(),
            n => format!("and {n} more differ"),
        };
        bail!("{first} {others} from the commit, and others would get what is not committed; commit, or pass --dirty");
    }
    Ok(())
}

/// Whether a folder lies in a repository, judged by its files.
fn has_git(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok())
}

fn say(pushed: &Pushed, name: &str, started: Instant) {
    let all = in_words(pushed.bytes_in_all);
    let seconds = started.elapsed().as_secs_f64();
    if pushed.was_there {
        return remark!("{name}: this very index ({all}) is there, nothing was sent");
    }
    let races = match pushed.races {
        0 => String::new(),
        1 => ", after another push was faster".to_string(),
        n => format!(", after {n} others were faster"),
    };
    let sent = format!("{} sent ({} of {all})", counted(pushed.blobs, "file"), in_words(pushed.bytes));
    remark!("{name}: {sent}{races} in {seconds:.2} s");
}

fn prune(remote: &Remote, name: &str, days: u32, quiet: bool) -> Result<()> {
    let (blobs, bytes) = remote.prune(name, Duration::from_secs(u64::from(days) * DAY))?;
    if !quiet {
        remark!("{name}: {} removed that no index needs ({})", counted(blobs, "file"), in_words(bytes));
    }
    Ok(())
}
