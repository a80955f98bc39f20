//! `serve`: searches over HTTP by many clients at once: how many a second, how long they wait, and what memory the server
//! has over time.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::FINE;
use crate::process::memory_row;
use crate::speed::process::Program;

/// Questions, in turn: words, names, a whole sentence, one that nothing answers.
const QUESTIONS: [&str; 12] = [
    "parse request",
    "where are timeouts handled",
    "retry with a pause between attempts",
    "error handling",
    "read the configuration file",
    "connection pool",
    "serialize to json",
    "test helper for temporary folders",
    "how is a header's value escaped",
    "cache of recently used entries",
    "Router",
    "zygomorphic quokka",
];
/// Answers before the clock starts.
const WARM_UP: usize = 24;
/// Looks at the server's memory during a load.
const LOOKS: u32 = 12;
/// Longest wait for an answer.
const WAIT: Duration = Duration::from_secs(180);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, clap::Args)]
pub struct ServeBenchArgs {
    /// Folders to serve
    #[arg(required = true)]
    roots: Vec<PathBuf>,
    /// The program; without it the one linked in here
    #[arg(long)]
    colgrep: Option<PathBuf>,
    /// Where its indexes are; without it a folder that goes at the end
    #[arg(long)]
    data: Option<PathBuf>,
    /// Numbers of clients
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    clients: Vec<usize>,
    /// Seconds for each number of clients
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Seconds of a load by as many clients as the middle number says, with looks at the memory
    #[arg(long, default_value_t = 0)]
    load: u64,
    /// Requests that the server works on at once
    #[arg(long)]
    at_once: Option<usize>,
}

pub(crate) struct LoadedServer {
    child: Child,
    pub(crate) host: String,
}

impl LoadedServer {
    /// Starts a server of some folders, on a port of this machine that is free.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start(program: &Program, roots: &[PathBuf], at_once: Option<usize>) -> Result<LoadedServer> {
        let mut command = program.command(&["serve", "--quiet", "--listen", "127.0.0.1:0"]);
        if let Some(at_once) = at_once {
            command.args(["--at-once", &at_once.to_string()]);
        }
        let mut child = command.args(roots).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("an output")?).read_line(&mut line)?;
        let host = line.trim().trim_end_matches('/').strip_prefix("http://").unwrap_or_default().to_string();
        if host.is_empty() {
            bail!("the server did not start");
        }
        Ok(LoadedServer { child, host })
    }
}

impl Drop for LoadedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that takes every status for an answer and keeps its connection.
pub(crate) struct HttpClient {
    base: String,
    agent: ureq::Agent,
}

/// What clients saw.
#[derive(Clone, Debug, Default)]
struct ClientCounts {
    /// Milliseconds of each answer.
    answers: Vec<f64>,
    /// Requests that were sent away.
    refused: usize,
}

impl HttpClient {
    pub(crate) fn new(host: &str) -> HttpClient {
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).timeout_global(Some(WAIT));
        HttpClient { base: format!("http://{host}"), agent: config.build().into() }
    }

    /// The status of the answer to a query.
    fn ask(&self, query: &str) -> Result<u16> {
        Ok(self.post("/api/v1/search", &json!({"query": query}))?.0)
    }

    /// The status of an answer, and what it says.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<(u16, String)> {
        let request = self.agent.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        said(request.send(body.to_string())?)
    }

    pub(crate) fn get(&self, path: &str) -> Result<(u16, String)> {
        said(self.agent.get(format!("{}{path}", self.base)).call()?)
    }
}

fn said(mut answer: ureq::http::Response<ureq::Body>) -> Result<(u16, String)> {
    let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
    Ok((answer.status().as_u16(), String::from_utf8_lossy(&text).into_owned()))
}

pub fn run(args: &ServeBenchArgs) -> Result<u8> {
    let own = tempfile::tempdir()?;
    let data = args.data.as_deref().unwrap_or(own.path());
    let program = Program::colgrep(args.colgrep.as_deref())?.with_data(data);
    for root in &args.roots {
        program.run(&["init", &root.display().to_string()])?;
    }
    let server = LoadedServer::start(&program, &args.roots, args.at_once)?;
    let client = HttpClient::new(&server.host);
    for question in QUESTIONS.iter().cycle().take(WARM_UP) {
        client.ask(question)?;
    }
    drop(client);
    let mut table = String::from(
        "| clients | answers/s | p50 | p99 | longest | sent away | memory |\n|---|---|---|---|---|---|---|\n",
    );
    for clients in &args.clients {
        let time = Duration::from_secs(args.seconds);
        let seen = load(&server.host, *clients, time)?;
        let memory = memory_of(&server);
        let _ = writeln!(table, "| {clients} | {} | {memory} |", row(&seen, time));
    }
    std::io::stdout().write_all(table.as_bytes())?;
    if args.load > 0 {
        over_time(&server, args)?;
    }
    Ok(FINE)
}

/// What `clients` see in `time`, each with its own connection and one question after the other.
fn load(host: &str, clients: usize, time: Duration) -> Result<ClientCounts> {
    let all = Mutex::new(ClientCounts::default());
    let end = Instant::now() + time;
    let one = |number: usize| -> Result<()> {
        let (client, mut seen) = (HttpClient::new(host), ClientCounts::default());
        for question in QUESTIONS.iter().cycle().skip(number) {
            let begun = Instant::now();
            if begun >= end {
                break;
            }
            match client.ask(question)? {
                200 => seen.answers.push(begun.elapsed().as_secs_f64() * 1e3),
                503 => seen.refused += 1,
                status => bail!("{question}: status {status}"),
            }
        }
        let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.answers.extend(seen.answers);
        all.refused += seen.refused;
        Ok(())
    };
    std::thread::scope(|scope| {
        let asks: Vec<_> = (0..clients).map(|number| scope.spawn(move || one(number))).collect();
        asks.into_iter().try_for_each(|ask| ask.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
    })?;
    Ok(all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn row(seen: &ClientCounts, time: Duration) -> String {
    let mut sorted = seen.answers.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(place).map_or_else(|| "-".to_string(), |ms| format!("{ms:.0} ms"))
    };
    let rate = sorted.len() as f64 / time.as_secs_f64();
    format!("{rate:.0} | {} | {} | {} | {}", at(0.5), at(0.99), at(1.0), seen.refused)
}

/// Memory of the server now; nothing where the system does not tell.
fn memory_of(server: &LoadedServer) -> String {
    match memory_row(server.child.id(), "VmRSS:") {
        0 => "-".to_string(),
        bytes => format!("{} MB", bytes >> 20),
    }
}

/// A load in parts, measuring the memory after each.
fn over_time(server: &LoadedServer, args: &ServeBenchArgs) -> Result<()> {
    let clients = args.clients.get(args.clients.len() / 2).copied().unwrap_or(8);
    let part = Duration::from_secs(args.load) / LOOKS;
    let mut table = format!(
        "\n{clients} clients for {} s\n\n| s | answers/s | p50 | p99 | longest | sent away | memory |\n|---|---|---|---|---|---|---|\n",
        args.load
    );
    for look in 1..=LOOKS {
        let seen = load(&server.host, clients, part)?;
        let _ = writeln!(table, "| {} | {} | {} |", (part * look).as_secs(), row(&seen, part), memory_of(server));
    }
    Ok(std::io::stdout().write_all(table.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_give_rate_and_quantiles() {
        let seen = ClientCounts { answers: (1..=100).rev().map(f64::from).collect(), refused: 3 };
        assert_eq!(row(&seen, Duration::from_secs(10)), "10 | 51 ms | 100 ms | 100 ms | 3");
        assert_eq!(row(&ClientCounts::default(), Duration::from_secs(1)), "0 | - | - | - | 0");
    }
}
