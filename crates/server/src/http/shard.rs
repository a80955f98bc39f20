//! `colgrep serve --shard`: repositories as one shard, for coordinators.
//!
//! It serves a generation: a new one is built as soon as an index changes, while searches under way keep the one that
//! they began with.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use colgrep_cluster::{Catalog, Generation, HostedRepository, ShardLoad, ShardServer};
use colgrep_engine::project::damage::{Suspicion, repair_after};
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::env::Env;
use tracing::{info, warn};

use super::guard::Guard;
use super::listen::told_to_end;
use super::named::{NamedRepository, named};
use super::shard_list::{FailedUpdates, Looked, OwnRepository, RepositoryList};
use super::{NO_ROOM, shard_metrics, tell_refused};
use crate::api::state::{Root, ServerState};
use crate::args::ServeArgs;
use colgrep_engine::OpenOptions;
use colgrep_render::advice::for_tools;
use colgrep_render::panic::contained;

/// How often the indexes are looked at.
const LOOK: Duration = Duration::from_millis(500);

struct Repositories {
    /// The environment of the process.
    env: Env,
    state: Mutex<ServerState>,
    all: Mutex<Vec<Arc<OwnRepository>>>,
    now: Mutex<Option<Arc<Generation>>>,
    /// The damage that a search met and that was not repaired yet.
    damage: Mutex<Option<colgrep_index::Error>>,
    /// Why repositories are not served now, by their names.
    missing: Mutex<BTreeMap<String, String>>,
    /// The names of those whose index can't be written for want of room.
    no_room: Mutex<BTreeSet<String>>,
    /// The updates that failed, as the list of repositories tells them.
    not_updated: Mutex<FailedUpdates>,
}

impl Catalog for Repositories {
    fn now(&self) -> Option<Arc<Generation>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn damaged(&self, error: colgrep_index::Error) {
        warn!("an index is damaged and is repaired: {}", error.full());
        *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    fn broke(&self, panic: &colgrep_index::Error) {
        warn!("a connection ended by a fault of colgrep: {}", panic.full());
    }

    fn trouble(&self) -> Option<String> {
        let no_room = self.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        (!no_room.is_empty()).then(|| NO_ROOM.to_string())
    }

    fn remark(&self) -> Option<String> {
        (!self.not_updated().is_empty()).then(|| "not all repositories could be updated".to_string())
    }

    fn metrics(&self, load: &ShardLoad) -> Option<String> {
        let root = self.all().iter().find_map(|own| own.root.get().cloned());
        let data = root.as_ref().map(|root| root.project.store.folder());
        let numbers = (self.missing().len(), self.not_updated().len());
        shard_metrics::text(self.now().as_deref(), numbers, load, data).ok()
    }

    fn missing(&self) -> Vec<(String, String)> {
        // One that can't be opened in its new folder is served from the old one.
        let now = self.now();
        let is_served = |name: &str| now.iter().flat_map(|now| &now.repositories).any(|one| one.name == name);
        let mut missing = self.lost().clone();
        let all = self.all();
        // One that was never fetched is not in the list.
        let is_listed = |name: &String| all.iter().any(|own| own.named.name == *name);
        missing.extend(self.not_updated().clone().into_iter().filter(|(name, _)| !is_listed(name)));
        missing.into_iter().filter(|(name, _)| !is_served(name)).collect()
    }
}

impl Repositories {
    /// The repositories that are to be served now.
    fn all(&self) -> Vec<Arc<OwnRepository>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves other repositories from now on. Those that keep their name and folder stay open. A name that moves to
    /// another folder is served from the old one until the index of the new one is complete.
    fn serve(&self, next: Vec<NamedRepository>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A library stays loaded for the whole process, so it must not come from inside any of them.
        state.env = self.env.working_on(next.iter().map(|one| &one.folder));
        drop(state);
        let names: BTreeSet<String> = next.iter().map(|one| one.name.clone()).collect();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |named: NamedRepository| {
            let known = all.iter().find(|own| own.named == named);
            let before = || all.iter().find(|own| own.named.name == named.name).and_then(|own| own.served());
            known.cloned().unwrap_or_else(|| Arc::new(OwnRepository::new(named.clone(), before())))
        };
        let next: Vec<Arc<OwnRepository>> = next.into_iter().map(own).collect();
        *all = next;
        drop(all);
        self.lost().retain(|name, _| names.contains(name));
        self.no_room.lock().unwrap_or_else(PoisonError::into_inner).retain(|name| names.contains(name));
    }

    /// Takes over which updates failed, and says so where that changed.
    fn tell_updates(&self, next: &FailedUpdates) {
        let mut known = self.not_updated();
        if *known == *next {
            return;
        }
        let failed: Vec<String> = next.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        match failed.is_empty() {
            true => info!("all repositories can be updated again"),
            false => warn!("repositories that could not be updated are served as they are: {}", failed.join("; ")),
        }
        known.clone_from(next);
    }

    /// Checks the indexes that are due, and serves the current state of all.
    fn look(&self) {
        let all = self.all();
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(error) = damage {
            let read: Vec<_> = all.iter().filter_map(|own| own.root.get()).map(|root| (root, root.opened())).collect();
            let suspicions = Suspicion::of_each(read.iter().map(|(_, snapshot)| snapshot.as_deref()));
            for ((root, snapshot), suspicion) in read.iter().zip(suspicions) {
                root.forget();
                // What is left damaged is found again by the next search.
                let _ = repair_after(&error, &root.project.store, snapshot.as_deref(), suspicion);
            }
            all.iter().for_each(|own| own.forget());
        }
        for own in all.iter().filter(|own| own.is_due()) {
            let found = self.repository(own, own.take());
            own.looked(Looked { found, at: Instant::now() });
        }
        let mut found: Vec<HostedRepository> = all.iter().filter_map(|own| own.served()).collect();
        let not_updated = self.not_updated().clone();
        found.iter_mut().for_each(|one| one.is_not_fetched = not_updated.contains_key(&one.name));
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing is served until every index was read once; later, a partial index is reported as such.
        if now.is_none() && !found.iter().all(|one| one.snapshot.files.complete) {
            return;
        }
        let next = Generation::new(found);
        let told = |one: &HostedRepository| (one.known_files, one.has_no_room, one.is_not_fetched);
        let is_same_repository = |(a, b): (&HostedRepository, &HostedRepository)| {
            Arc::ptr_eq(&a.snapshot, &b.snapshot) && told(a) == told(b)
        };
        let is_same = |now: &Arc<Generation>| {
            now.fingerprint == next.fingerprint
                && now.repositories.iter().zip(&next.repositories).all(is_same_repository)
        };
        if !now.as_ref().is_some_and(is_same) {
            *now = Some(Arc::new(next));
        }
    }

    /// A repository's current state; `before` is the result of the last check.
    fn repository(&self, own: &OwnRepository, before: Option<HostedRepository>) -> Option<HostedRepository> {
        let opened = contained(|| {
            let root = self.root(own)?;
            let state = self.state();
            let snapshot = state.snapshot(&root)?;
            // While vectors are made here, changed files are indexed in between.
            let is_behind =
                |known: &colgrep_cluster::FileProgress| known.in_tree != Some(known.known) || !root.is_encoding();
            let known_files = root.known_files().filter(is_behind);
            let mut repository = match before.filter(|before| Arc::ptr_eq(&before.snapshot, &snapshot)) {
                Some(before) => before,
                None => {
                    let mut project = root.project.clone();
                    project.settings(&state.env)?;
                    let settings = state.settings(&root)?;
                    let mode = state.options.with(&settings).choice.vectors;
                    HostedRepository::new(own.named.name.clone(), project, snapshot, settings).with_mode(mode)
                }
            };
            (repository.known_files, repository.has_no_room) = (known_files, root.has_no_room());
            Ok(repository)
        });
        self.tell_room(own);
        match opened.flatten() {
            Ok(repository) => {
                self.lost().remove(&own.named.name);
                Some(repository)
            }
            Err(error) => {
                self.is_lost(own, &error);
                None
            }
        }
    }

    /// Remembers whether the index of a repository could be written, and says where that changed.
    fn tell_room(&self, own: &OwnRepository) {
        let Some(root) = own.root.get() else { return };
        let mut no_room = self.no_room.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, folder) = (&own.named.name, root.project.store.folder().display());
        if !root.has_no_room() && no_room.remove(name) {
            info!("{name}: its index can be written again");
        } else if root.has_no_room() && no_room.insert(name.clone()) {
            warn!("{name}: no room to write its index in {folder}; it is searched as it is");
        }
    }

    /// The root of a repository, opened where it was not there before.
    fn root(&self, own: &OwnRepository) -> Result<Arc<Root>> {
        if let Some(root) = own.root.get() {
            return Ok(Arc::clone(root));
        }
        self.entered(own, self.state().root(&own.named.folder, false)?)
    }

    /// Checks that an opened root can serve as a repository.
    fn entered(&self, own: &OwnRepository, root: Arc<Root>) -> Result<Arc<Root>> {
        check_whole(&root)?;
        // A link may lead there by now.
        let is_same = |other: &&Arc<OwnRepository>| other.root.get().is_some_and(|known| known.folder == root.folder);
        if let Some(other) = self.all().iter().find(is_same) {
            bail!("{} is the folder of {} too", root.folder.display(), other.named.name);
        }
        Ok(Arc::clone(own.root.get_or_init(|| root)))
    }

    /// Remembers why a repository is not served, and says so. What was said already need not be said again.
    fn is_lost(&self, own: &OwnRepository, error: &anyhow::Error) {
        let (name, why) = (&own.named.name, for_tools(error));
        let is_served = own.served().is_some();
        if self.lost().insert(name.clone(), why.clone()).as_ref() != Some(&why) {
            let state = if is_served { "is still served from its old folder" } else { "is not served" };
            warn!("{name} {state}: {why}");
        }
    }

    fn not_updated(&self) -> MutexGuard<'_, FailedUpdates> {
        self.not_updated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the roots that are there, and says why others are not.
    ///
    /// # Errors
    /// When none is there, or one is a part of a repository.
    fn open(&self) -> Result<()> {
        let mut first = None;
        let all = self.all();
        for own in &all {
            let opened = contained(|| self.state().root(&own.named.folder, false)).flatten();
            if let Ok(root) = &opened {
                check_whole(root)?;
            }
            if let Err(error) = opened.and_then(|root| self.entered(own, root)) {
                self.is_lost(own, &error);
                first.get_or_insert(error);
            }
        }
        match first {
            Some(error) if all.iter().all(|own| own.root.get().is_none()) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Refuses a folder inside a project.
fn check_whole(root: &Root) -> Result<()> {
    if !root.below.is_empty() {
        bail!(
            "{} lies in the project {}; a shard serves whole repositories",
            root.folder.display(),
            root.project.root.display()
        );
    }
    Ok(())
}

/// Serves a shard until shutdown.
///
/// # Errors
/// When no root is one, the token is missing, or the address is taken.
pub fn run(args: &ServeArgs, options: OpenOptions, quiet: bool, env: &Env) -> Result<()> {
    let tokens = Guard::new(args, env)?.into_tokens();
    let settings = settings_at(Path::new("."), env)?;
    let mut list = args.repositories.clone().map(RepositoryList::new);
    let mut all = match &mut list {
        Some(list) => list.read()?,
        None => {
            let mut given = args.roots.clone();
            for group in &args.groups {
                given.extend(settings.members(group, env)?.0);
            }
            named(&given)?
        }
    };
    let state = ServerState::empty(options, env);
    if all.is_empty() {
        let Ok(root) = state.root(Path::new("."), true) else {
            bail!(
                "--shard serves repositories, and the current folder is none: name their folders, as in: colgrep serve \
                 --shard ~/src/api web=~/src/page"
            );
        };
        all.push(NamedRepository::of(&root.folder)?);
    }
    let (none, now, damage, missing, no_room, not_updated) = Default::default();
    let state = Mutex::new(state);
    let held =
        Arc::new(Repositories { env: env.clone(), state, all: none, now, damage, missing, no_room, not_updated });
    held.serve(all);
    held.open()?;
    let taken = || {
        format!("could not listen on {}; --listen ADDRESS:PORT names another one, port 0 takes a free one", args.listen)
    };
    let listener = ShardServer::bind(args.listen).with_context(taken)?;
    let address = listener.local_addr()?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{address}")?;
    out.flush()?;
    drop(out);
    if !quiet {
        let token = if tokens.is_some() { "; coordinators bring the token" } else { "" };
        let opened = held.all().into_iter().filter(|own| own.root.get().is_some());
        let names: Vec<String> = opened.map(|own| own.named.name.clone()).collect();
        info!("serves {} as a shard{token}; ctrl-c ends it", names.join(", "));
    }
    let server = ShardServer::new(Arc::<Repositories>::clone(&held), tokens.clone());
    let own = Arc::clone(&server);
    std::thread::Builder::new().name("listens".into()).spawn(move || own.serve(&listener))?;
    std::thread::Builder::new().name("looks".into()).spawn(move || {
        let mut refused = None;
        loop {
            if let Some(next) = list.as_mut().and_then(RepositoryList::changed) {
                held.serve(next);
            }
            if let Some(list) = &list {
                held.tell_updates(list.not_updated());
            }
            held.look();
            let why = tokens.as_ref().and_then(|tokens| tokens.refused());
            tell_refused(&why, &mut refused);
            std::thread::sleep(if held.now().is_some() { LOOK } else { LOOK / 5 });
        }
    })?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime for the server")?;
    runtime.block_on(told_to_end());
    server.end(address);
    Ok(())
}
