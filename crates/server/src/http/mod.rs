//! `colgrep serve`: the requests of the MCP server over HTTP, and a page on them for people.
//!
//! It listens on loopback unless a token guards it, and opens no connection of its own. The memory that clients can
//! occupy is bounded: connections, requests, unread answers (`docs/architecture.md`, "Bounded memory").

mod api;
mod gate;
mod guard;
mod listen;
mod mcp;
mod metrics;
mod named;
mod openapi;
mod page;
mod problem;
mod routes;
mod shard;
mod shard_list;
mod shard_metrics;
mod turns;

use colgrep_index::update::ReadFirst;
use std::io::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::settings::env::Env;
use gate::Admission;
use guard::{Caller, Guard};
use listen::BoundSocket;
use metrics::Metrics;
use page::view::RootNames;
use problem::Problem;
use tracing::{info, warn};

use crate::api::Shards;
use crate::api::ended::CallEnd;
use crate::api::state::ServerState;
use crate::api::{AT_WORK_A_CORE_MAX, NotServed, Tool, left_out, tools};
use crate::args::ServeArgs;
use crate::log::{self, LogFormat};
use colgrep_engine::OpenOptions;
use colgrep_render::advice::for_tools;
use colgrep_render::highlight::Syntaxes;
use colgrep_render::panic::contained;
use colgrep_render::shards::wrong;

/// Threads that read and write sockets: little work, but none that waits for a search.
const SOCKET_THREADS: usize = 2;
/// Extra threads for work that libraries do in threads.
const SPARE_THREADS: usize = 4;
/// How often a server looks which of its folders are there.
const LOOK: Duration = Duration::from_secs(2);
/// How often a server over shards looks which of them answer.
const LOOK_AT_SHARDS: Duration = Duration::from_secs(1);
/// Why a server is not ready whose disk is full.
const NO_ROOM: &str = "indexes can't be updated: no room on the disk";
/// After how many looks an index that can't be opened is tried again.
const TRY: u32 = 15;

/// What all requests share.
pub struct App {
    state: ServerState,
    tools: Vec<Tool>,
    gate: Admission,
    guard: Guard,
    metrics: Metrics,
    /// Time that a request may take.
    patience: Duration,
    logs_queries: bool,
    /// The syntaxes that colour code, loaded when first needed.
    syntaxes: OnceLock<Syntaxes>,
}

impl App {
    /// Does `work` for a caller on a thread for searches, when there is room; it stops once the caller is gone.
    ///
    /// # Errors
    /// When there is no room, it takes too long, or it fails.
    pub async fn work<T: Send + 'static>(
        self: &Arc<App>,
        caller: &Caller,
        work: impl FnOnce(&App, &ServerState) -> Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let end = tokio::time::Instant::now() + self.patience;
        let late = |_| Problem::late(self.patience);
        let place = tokio::time::timeout_at(end, self.gate.enter(&caller.key)).await.map_err(late)??;
        let call_end = CallEnd::default();
        let _ends = call_end.when_dropped();
        let state = self.state.for_caller(caller.allowed.clone()).until(&call_end);
        let app = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            // Whoever asked may be gone: the place is kept until the work is over.
            let _place = place;
            contained(|| work(&app, &state)).flatten()
        });
        match tokio::time::timeout_at(end, task).await.map_err(late)? {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(Problem::of(&error).naming(&RootNames::of(&self.state).places())),
            Err(error) => Err(Problem::failed(error.to_string())),
        }
    }
}

/// Refuses flags that would protect nothing, since users rely on them.
fn check(args: &ServeArgs) -> Result<()> {
    let own = match args.shard {
        true => "--token-file names the one that coordinators bring to this shard",
        false => "--token-file names the one that requests to this server bring",
    };
    if args.shard_token_file.is_some() && args.shards.is_none() {
        bail!("--shard-token-file is for a server over shards (serve --shards FILE), which brings that token; {own}");
    }
    if args.rights && args.shards.is_none() {
        let who = match args.shard {
            true => "a shard hears from the server over shards what a caller may see: start that with --rights",
            false => "a server of folders shows all of them to everybody with its token",
        };
        bail!("--rights is for a server over shards (serve --shards FILE); {who}");
    }
    if args.log_queries && (args.shard || args.log == LogFormat::Plain) {
        bail!("--log-queries is for a server that logs its requests, with --log text or --log json");
    }
    if args.timeout == 0 {
        bail!("--timeout 0 leaves no time for any request; the least is 1 second");
    }
    if args.at_once == Some(0) {
        bail!("--at-once 0 lets no request in; the least is 1");
    }
    Ok(())
}

/// Serves HTTP until shutdown.
///
/// # Errors
/// When flags contradict each other, no root can be served, or the address is taken.
pub fn run(args: &ServeArgs, options: OpenOptions, quiet: bool, env: &Env) -> Result<()> {
    check(args)?;
    log::start(args.log);
    if args.shard {
        return shard::run(args, options, quiet, env);
    }
    let guard = Guard::new(args, env)?;
    if args.rights && !guard.has_token() {
        bail!(
            "--rights: without a token anybody can claim any right; --token-file FILE names one that the gateway alone has"
        );
    }
    let at_once = args.at_once.unwrap_or(AT_WORK_A_CORE_MAX * rayon::current_num_threads());
    let mut state = match &args.shards {
        Some(file) => {
            let shards = Shards::open(file, args.shard_token_file.as_deref(), env, at_once, args.rights)?;
            ServerState::over(shards, options, env)
        }
        None => ServerState::new(&args.roots, &args.groups, options, env)?,
    };
    state.indexed_only = true;
    state.check_roots()?;
    let app = Arc::new(App {
        state,
        tools: tools(),
        gate: Admission::new(at_once),
        guard,
        metrics: Metrics::new(),
        patience: Duration::from_secs(args.timeout),
        logs_queries: args.log_queries,
        syntaxes: OnceLock::new(),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(SOCKET_THREADS)
        .max_blocking_threads(at_once + SPARE_THREADS)
        .enable_all()
        .build()
        .context("no runtime for the server")?;
    let served = runtime.block_on(async {
        let listener = BoundSocket::bind(args.listen)?;
        tell(&app, &listener, quiet)?;
        open_roots(&app, quiet)?;
        listener.serve(&app).await;
        anyhow::Ok(())
    });
    // A search that takes longer than the shutdown allows is abandoned.
    runtime.shutdown_background();
    served
}

/// Prints the address, the only output, and says what is served.
fn tell(app: &App, listener: &BoundSocket, quiet: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "http://{}/", listener.address)?;
    out.flush()?;
    if !quiet {
        let served = app.state.roots().filter(|root| root.trouble().is_none());
        let mut roots: Vec<String> = served.map(|root| root.folder.display().to_string()).collect();
        roots.extend(app.state.shards().map(|shards| format!("the shards of {}", shards.cluster.file().display())));
        let token = if app.guard.has_token() { "; requests bring the token" } else { "" };
        info!("serves {}{token}; ctrl-c ends it", roots.join(", "));
    }
    Ok(())
}

/// Opens every index, one after the other, so that the first request need not wait for it; then watches which roots, or
/// shards, can be served. In a thread of its own: requests have all others.
fn open_roots(app: &Arc<App>, quiet: bool) -> Result<()> {
    let app = Arc::clone(app);
    let work = move || {
        for root in app.state.roots() {
            let opened = contained(|| app.state.opened(root, &ReadFirst::default()).map(drop)).flatten();
            // Problems found at the start were already reported.
            if let Err(error) = opened
                && !error.is::<NotServed>()
            {
                warn!("{}: {}", root.folder.display(), for_tools(&error));
            }
        }
        match app.state.shards() {
            Some(shards) => watch(&app, shards, quiet),
            None => watch_roots(&app, quiet),
        }
    };
    std::thread::Builder::new().name("opens".into()).spawn(work).context("no thread for the indexes")?;
    Ok(())
}

/// Looks again and again which roots can be served, and says where that changed. What was never opened is opened as soon as
/// it can be, what can't be opened is tried now and then.
fn watch_roots(app: &App, quiet: bool) {
    let (state, mut refused) = (&app.state, None);
    let (mut before, mut no_room_before) = (state.unserved(), Vec::new());
    for look in 1_u32.. {
        std::thread::sleep(LOOK);
        tell_refused(&app.guard.refused_token(), &mut refused);
        for root in state.roots() {
            // Where even that fails, what is known counts.
            let _ = contained(|| {
                let is_due = match state.look(root) {
                    None => !root.is_ready() || root.has_no_room(),
                    Some(_) => look.is_multiple_of(TRY),
                };
                if is_due {
                    let _ = state.opened(root, &ReadFirst::default());
                }
            });
        }
        let now = state.unserved();
        if now != before && !quiet {
            match left_out(&now) {
                Some(told) => warn!("{told}"),
                None => info!("all repositories can be searched again"),
            }
        }
        before = now;
        let no_room = state.roots().filter(|root| root.has_no_room());
        let no_room: Vec<String> = no_room.map(|root| root.folder.display().to_string()).collect();
        if no_room != no_room_before && !quiet {
            let folders = no_room.join(", ");
            match no_room.is_empty() {
                true => info!("all indexes can be written again"),
                false => warn!("no room to write the indexes of {folders}; they are searched as they are"),
            }
        }
        no_room_before = no_room;
    }
}

/// Says why a changed file of tokens is not taken over; once.
fn tell_refused(now: &Option<String>, before: &mut Option<String>) {
    if let Some(why) = now.as_ref().filter(|_| now != before) {
        warn!("the tokens are not taken over as they are now: {why}");
    }
    before.clone_from(now);
}

/// Looks again and again which shards answer, and says where that changed.
fn watch(app: &App, shards: &Shards, quiet: bool) {
    let mut before = Default::default();
    let (mut refused, mut refused_for_shards) = (None, None);
    loop {
        tell_refused(&app.guard.refused_token(), &mut refused);
        tell_refused(&shards.cluster.refused_token(), &mut refused_for_shards);
        // Where even that fails, the last look counts.
        let _ = contained(|| shards.cluster.greet());
        let seen = shards.cluster.last_health().unwrap_or_default();
        let missing: Vec<usize> = seen.coverage.missing.iter().map(|away| away.shard).collect();
        let unserved: Vec<String> = seen.coverage.unserved.iter().map(|one| one.repository.clone()).collect();
        let now = (missing, unserved, wrong(&seen));
        if now != before && !quiet {
            let told: Vec<String> = seen.coverage.told().into_iter().chain(now.2.clone()).collect();
            if told.is_empty() {
                info!("all shards answer again");
            }
            told.iter().for_each(|line| warn!("{line}"));
        }
        before = now;
        std::thread::sleep(LOOK_AT_SHARDS);
    }
}
