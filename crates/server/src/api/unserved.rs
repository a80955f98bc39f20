//! Roots that can't be served now: which, why, and how answers tell it. What the others answer leaves them out.

use std::fmt;
use std::path::Path;

use anyhow::Result;
use colgrep_cluster::ShardCoverage;
use serde::Serialize;

use colgrep_render::advice::for_tools;

/// A root that can't be served now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unserved {
    pub root: String,
    /// Why not, on one line.
    pub why: String,
}

impl Unserved {
    /// A folder that an error is about.
    pub fn new(folder: &Path, error: &anyhow::Error) -> Unserved {
        Unserved { root: folder.display().to_string(), why: on_one_line(&for_tools(error)) }
    }
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why.starts_with(&self.root) {
            true => f.write_str(&self.why),
            false => write!(f, "{}: {}", self.root, self.why),
        }
    }
}

/// The subject of a request can't be served now, which is not the request's fault.
#[derive(Debug)]
pub struct NotServed(pub String);

impl fmt::Display for NotServed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotServed {}

/// What is known of a root that can't be served.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) why: String,
    /// Whether its index could not be opened, which shows only when that is tried.
    pub(super) of_index: bool,
}

/// The remark of an answer on the roots that it leaves out; `None` if it leaves out nothing.
pub fn told(unserved: &[Unserved]) -> Option<String> {
    let each: Vec<String> = unserved.iter().map(ToString::to_string).collect();
    (!each.is_empty()).then(|| format!("repositories that can't be searched now are left out: {}", each.join("; ")))
}

/// Whether an answer leaves out shards or repositories.
pub(super) fn is_partial(standing: Option<&ShardCoverage>, unserved: &[Unserved]) -> bool {
    !unserved.is_empty() || standing.is_some_and(|standing| !standing.is_whole())
}

/// Fails where something is left out, and nothing is left.
///
/// # Errors
/// When it is so.
pub fn check_rest(is_empty: bool, unserved: &[Unserved]) -> Result<()> {
    match told(unserved).filter(|_| is_empty) {
        Some(_) => {
            let each: Vec<String> = unserved.iter().map(ToString::to_string).collect();
            Err(NotServed(each.join("; ")).into())
        }
        None => Ok(()),
    }
}

/// A message of several lines, as those on settings are, on one.
fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
