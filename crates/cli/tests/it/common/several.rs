//! Repositories that are searched together.

use std::fs;

use super::Sandbox;

const FILES: [(&str, &str); 6] = [
    (
        "api/src/retry.rs",
        "/// Retries a request until the server answers.\npub fn retry_request(limit: u32) {\n    wait(limit);\n}\n",
    ),
    (
        "api/src/queue.rs",
        "/// A queue of jobs.\npub struct Queue;\n\npub fn push(job: u32) {\n    retry_request(job);\n}\n",
    ),
    (
        "worker/lib/backoff.py",
        "def backoff(limit):\n    \"\"\"Waits before a retry of a request.\"\"\"\n    return limit\n",
    ),
    ("worker/lib/queue.py", "def push(job):\n    return job\n"),
    ("web/src/app.js", "// Retries the request of a page.\nfunction retryPage(limit) {\n  return fetch(limit);\n}\n"),
    ("web/docs/plan.md", "# Plan\n\nA request is tried again.\n"),
];

/// A folder with some of the repositories `api`, `worker` and `web`.
pub fn several(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        let own = |(path, _): &&(&str, &str)| path.split('/').next() == Some(*name);
        FILES.iter().filter(own).for_each(|(path, text)| sandbox.write(path, text));
        fs::create_dir_all(sandbox.root().join(name).join(".git")).expect("a folder");
    }
    sandbox
}
