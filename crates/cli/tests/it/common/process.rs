//! A program that serves while a test runs, and requests to it.

use std::io::{self, BufRead as _, BufReader, Read};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long something is waited for that has to come.
const PATIENCE: Duration = Duration::from_secs(300);

/// A process, which is ended when this is dropped.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    pub fn start(command: &mut Command) -> io::Result<Process> {
        command.spawn().map(Process)
    }

    /// The rest of the first line that contains `mark`, from the stream that is piped.
    pub fn says(&mut self, mark: &str) -> String {
        let stream: Box<dyn Read + Send> = match (self.0.stdout.take(), self.0.stderr.take()) {
            (Some(out), _) => Box::new(out),
            (None, err) => Box::new(err.expect("a pipe")),
        };
        let mut lines = BufReader::new(stream).lines();
        let behind = |line: String| Some(line.split_once(mark)?.1.trim().to_string());
        let said = lines.by_ref().map_while(Result::ok).find_map(behind);
        // What it says later would fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        said.unwrap_or_else(|| panic!("no line with {mark:?}"))
    }
}

/// Waits until something is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "it is never {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A client that takes every status for an answer.
pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).proxy(None).timeout_global(Some(PATIENCE)).build().into()
}

/// One request; the status and the body that a server answers.
pub fn request(method: &str, address: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, Vec<u8>) {
    let mut request = ureq::http::Request::builder().method(method).uri(address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = agent().run(request.body(body.to_vec()).expect("a request")).expect("an answer");
    let body = answer.body_mut().with_config().limit(64 << 20).read_to_vec().expect("a body");
    (answer.status().as_u16(), body)
}
