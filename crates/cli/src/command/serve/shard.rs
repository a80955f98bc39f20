//! `colgrep serve --shard`: repositories as one shard, for coordinators.
//!
//! What is served is a generation: it is made anew beside the one in use as soon as an index changed, and searches that
//! are under way go on with the one that they began with.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::env::Env;
use colgrep_engine::project::settings_at;
use colgrep_index::update::repair;
use colgrep_wire::{Generation, Held, Repository, Server};

use super::guard::Guard;
use super::listen::told_to_end;
use crate::FOUND;
use crate::args::ServeArgs;
use crate::command::limit_threads;
use crate::command::served::state::{Root, ServerState};
use crate::hint::for_tools;
use crate::panic::contained;

/// How often the indexes are looked at; and where no system tells of changes, so that each look reads the tree.
const LOOK: Duration = Duration::from_millis(500);
const LOOK_AT_TREE: Duration = Duration::from_secs(10);

/// The repositories that are served.
struct Repositories {
    state: ServerState,
    /// Their names, in the order of the roots.
    names: Vec<String>,
    now: Mutex<Option<Arc<Generation>>>,
    is_damaged: AtomicBool,
    /// Why repositories are not served now, by their names.
    missing: Mutex<BTreeMap<String, String>>,
}

impl Held for Repositories {
    fn now(&self) -> Option<Arc<Generation>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn damaged(&self, why: &str) {
        remark!("colgrep: an index is damaged and is repaired: {why}");
        self.is_damaged.store(true, Ordering::Release);
    }

    fn missing(&self) -> Vec<(String, String)> {
        self.lost().iter().map(|(name, why)| (name.clone(), why.clone())).collect()
    }
}

impl Repositories {
    /// Looks at all indexes, and serves them as they are now.
    fn look(&self) {
        if self.is_damaged.swap(false, Ordering::AcqRel) {
            for root in self.state.roots() {
                root.forget();
                // What is left damaged is found again by the next search.
                let _ = repair(&root.project.store);
            }
        }
        let found = self.state.roots().zip(&self.names).filter_map(|(root, name)| self.repository(root, name));
        let found: Vec<Repository> = found.collect();
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        // Until every index was read once, a part would be taken for the whole.
        if now.is_none() && !found.iter().all(|one| one.snapshot.files.complete) {
            return;
        }
        let next = Generation::new(found);
        let is_same = |now: &Arc<Generation>| {
            now.fingerprint == next.fingerprint
                && now.repositories.iter().zip(&next.repositories).all(|(a, b)| Arc::ptr_eq(&a.snapshot, &b.snapshot))
        };
        if !now.as_ref().is_some_and(is_same) {
            *now = Some(Arc::new(next));
        }
    }

    fn repository(&self, root: &Arc<Root>, name: &str) -> Option<Repository> {
        let opened = contained(|| {
            let snapshot = self.state.snapshot(root)?;
            let mut project = root.project.clone();
            project.settings(&self.state.env)?;
            Ok(Repository::new(name.to_string(), project, snapshot, self.state.settings(root)?))
        });
        match opened.flatten() {
            Ok(repository) => {
                self.lost().remove(name);
                Some(repository)
            }
            Err(error) => {
                let why = for_tools(&error);
                // What was said already need not be said again.
                if self.lost().insert(name.to_string(), why.clone()).as_ref() != Some(&why) {
                    remark!("colgrep: {name} is not served: {why}");
                }
                None
            }
        }
    }

    fn lost(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pause(&self) -> Duration {
        if self.state.roots().all(|root| root.is_watched()) { LOOK } else { LOOK_AT_TREE }
    }
}

/// Serves a shard until the process is told to end.
///
/// # Errors
/// When a root is none, the token is missing, or the address is taken.
pub fn run(args: &ServeArgs, env: &Env) -> Result<u8> {
    limit_threads(args.walk.threads);
    let token = Guard::new(args, env)?.into_token();
    let settings = settings_at(Path::new("."), env)?;
    let mut given = args.roots.clone();
    for group in &args.groups {
        given.extend(settings.group(group, env)?);
    }
    let (names, roots) = named(&given)?;
    let state = ServerState::new(&roots, &[], &args.walk, env)?;
    if state.roots().next().is_none() {
        bail!(
            "--shard serves repositories, and the current folder is none: name their folders, as in: colgrep serve --shard \
               ~/src/api web=~/src/page"
        );
    }
    if let Some(root) = state.roots().find(|root| !root.below.is_empty()) {
        bail!(
            "{} lies in the project {}; a shard serves whole repositories",
            root.folder.display(),
            root.project.root.display()
        );
    }
    let names = if names.is_empty() { vec![name_of(&state.roots().next().context("no root")?.folder)?] } else { names };
    let taken = || {
        format!("could not listen on {}; --listen ADDRESS:PORT names another one, port 0 takes a free one", args.listen)
    };
    let listener = Server::bind(args.listen).with_context(taken)?;
    let address = listener.local_addr()?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{address}")?;
    out.flush()?;
    drop(out);
    if !args.walk.quiet {
        let token = if token.is_some() { "; coordinators bring the token" } else { "" };
        remark!("colgrep: serves {} as a shard{token}; ctrl-c ends it", names.join(", "));
    }
    let (now, is_damaged, missing) = (Mutex::default(), AtomicBool::new(false), Mutex::default());
    let held = Arc::new(Repositories { state, names, now, is_damaged, missing });
    let server = Server::new(Arc::<Repositories>::clone(&held), token);
    let own = Arc::clone(&server);
    std::thread::Builder::new().name("listens".into()).spawn(move || own.serve(&listener))?;
    std::thread::Builder::new().name("looks".into()).spawn(move || {
        loop {
            held.look();
            let pause = if held.now().is_some() { held.pause() } else { LOOK / 5 };
            std::thread::sleep(pause);
        }
    })?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime for the server")?;
    runtime.block_on(told_to_end());
    server.end(address);
    Ok(FOUND)
}

/// Names and folders of the repositories, as `NAME=PATH` or by the folder's name.
fn named(given: &[PathBuf]) -> Result<(Vec<String>, Vec<PathBuf>)> {
    let (mut names, mut roots): (Vec<String>, Vec<PathBuf>) = Default::default();
    for given in given {
        let split = given.to_str().and_then(|text| text.split_once('=')).filter(|_| !given.exists());
        let (name, root) = match split {
            Some((name, "")) => bail!("{name}= names no folder; the repository's path stands behind it: {name}=PATH"),
            Some((name, root)) => (name.to_string(), PathBuf::from(root)),
            None => (name_of(given)?, given.clone()),
        };
        if name.trim() != name
            || name.is_empty()
            || name.contains('/')
            || name.chars().any(char::is_control)
            || matches!(&*name, "." | "..")
        {
            bail!(
                "{name:?} is no name of a repository: it stands in front of paths, holds no / and has no blank at its ends"
            );
        }
        if names.contains(&name) {
            bail!("two repositories are called {name}; name one of them: OTHER={}", root.display());
        }
        names.push(name);
        roots.push(root);
    }
    Ok((names, roots))
}

fn name_of(root: &Path) -> Result<String> {
    let full = root.canonicalize().with_context(|| root.display().to_string())?;
    let name = full
        .file_name()
        .with_context(|| format!("{} has no name; give it one: NAME={}", full.display(), full.display()))?;
    Ok(name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_called_as_their_folders_or_as_they_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |path: &str| folder.path().join(path);
        for path in ["a/web", "b/web", "x=y"] {
            std::fs::create_dir_all(of(path)).expect("a folder");
        }
        let other = PathBuf::from(format!("other={}", of("b/web").display()));
        let (names, roots) = named(&[of("a/web"), other, of("x=y")]).expect("names");
        assert_eq!(names, ["web", "other", "x=y"]);
        assert_eq!(roots, [of("a/web"), of("b/web"), of("x=y")]);
        for (given, why) in [
            (vec![of("a/web"), of("b/web")], "two repositories are called web"),
            (vec![PathBuf::from("a/b=x")], "no name of a repository"),
            (vec![PathBuf::from("=x")], "no name of a repository"),
            (vec![PathBuf::from(" =x")], "no name of a repository"),
            (vec![PathBuf::from("web=")], "names no folder"),
            (vec![of("gone")], "gone"),
        ] {
            let said = format!("{:#}", named(&given).expect_err(why));
            assert!(said.contains(why), "{said}");
        }
    }
}
