//! `issues`: whether a pasted issue finds the files that its fix changed.
//!
//! The texts come from public clones: from a set of issues, or from a fix's own message if it reads like one. Each
//! commit is checked out without history, indexed, and asked with the whole text and with the title alone.

mod clone;
mod draw;
mod measure;
mod record;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use self::text::InstanceText;
use crate::FINE;
use crate::corpus::{Vars, read_json};
use crate::report::{OutputArgs, write_json};

#[derive(Clone, Debug, clap::Args)]
pub struct IssuesArgs {
    /// Folder of clones with all history, bare or not, each in `OWNER+NAME` (default: the current folder)
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub clones: PathBuf,
    /// List of instances (repeatable)
    #[arg(long, value_name = "FILE", required_unless_present_any = ["draw", "record"])]
    pub list: Vec<PathBuf>,
    /// Draw the list anew from these sources and write it to --out, instead of measuring
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with = "list")]
    pub draw: Option<PathBuf>,
    /// Repositories that must not be drawn from, one `OWNER/NAME` a line
    #[arg(long, value_name = "FILE", requires = "draw")]
    pub reserved: Option<PathBuf>,
    /// Print the tables of these records together instead of measuring (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "draw"])]
    pub record: Vec<PathBuf>,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "OWNER/NAME")]
    pub only: Vec<String>,
    /// Measure words alone
    #[arg(long, conflicts_with = "hybrid_only")]
    pub keyword_only: bool,
    /// Measure words and meaning together alone
    #[arg(long)]
    pub hybrid_only: bool,
    /// As somebody asks who knows what to leave out: code alone, without tests
    #[arg(long)]
    pub narrow: bool,
    /// Measure with these knobs too, and score what is best on the other repositories on each (repeatable)
    #[arg(long = "try", value_name = "KNOB=VALUE[,…]")]
    pub tried: Vec<String>,
    /// Lay trees and indexes out here instead of in a temporary folder
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Print what changed against this record of the same instances
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A list of instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List {
    /// The sets that texts come from: repository → revision.
    pub sets: BTreeMap<String, String>,
    /// The instances, by repository and time.
    pub instances: Vec<Instance>,
}

/// One issue and the files that its fix changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// `OWNER/NAME`.
    pub repository: String,
    /// The repository's main language.
    pub language: String,
    /// The commit that is searched: the one below the fix.
    pub base: String,
    #[serde(flatten)]
    pub origin: TextOrigin,
    /// The files that answer, sorted.
    pub files: Vec<String>,
    /// The hash of the text (XXH3 of title and body).
    pub text: String,
}

/// Where the text of an instance comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextOrigin {
    Set {
        /// The repository of the set.
        set: String,
        /// Where in it: `FILE#NUMBER`, or a folder.
        key: String,
    },
    /// The fix's message.
    Fix {
        /// The commit.
        fix: String,
    },
}

impl Instance {
    fn new(
        repository: &str,
        language: &str,
        base: String,
        origin: TextOrigin,
        files: Vec<String>,
        text: &InstanceText,
    ) -> Instance {
        let (repository, language) = (repository.to_string(), language.to_string());
        Instance { repository, language, base, origin, files, text: text.hash() }
    }

    fn id(&self) -> String {
        let origin = match &self.origin {
            TextOrigin::Set { key, .. } => key,
            TextOrigin::Fix { fix } => fix,
        };
        format!("{}@{origin}", self.repository)
    }
}

pub fn run(args: &IssuesArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    if let (Some(path), Some(out)) = (&args.draw, &args.output.out) {
        let mut sources: draw::InstanceSources = read_json(path)?;
        if !args.only.is_empty() {
            sources.sets.iter_mut().for_each(|set| set.parts.retain(|name, _| args.only.contains(name)));
            sources.histories.retain(|name, _| args.only.contains(name));
        }
        let instances = draw::draw(&sources, &args.clones, &reserved(args.reserved.as_deref())?)?;
        let sets = sources.sets.iter().map(|set| (set.repository.clone(), set.revision.clone())).collect();
        write_json(out, &List { sets, instances })?;
        return Ok(FINE);
    }
    let record = match args.record.split_first() {
        Some((first, others)) => record::IssueRecord::together(first, others)?,
        None => measure::measure(args, vars)?,
    };
    record.publish(args)?;
    Ok(FINE)
}

/// The names of a file of repositories, in lower case.
fn reserved(path: Option<&Path>) -> Result<BTreeSet<String>> {
    let Some(path) = path else { return Ok(BTreeSet::new()) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text.lines().map(|line| line.trim().to_lowercase()).filter(|line| !line.starts_with('#')).collect())
}
