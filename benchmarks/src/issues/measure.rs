//! Lays out each instance's commit, indexes it, and asks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::request::Tests;
use colgrep_engine::{Env, OpenOptions, RankBy, SearchRequest, Session};

use super::clone::Mirror;
use super::draw::{text_in_set, text_of};
use super::record::{InstanceRecord, IssueRecord};
use super::text::InstanceText;
use super::{Instance, IssuesArgs, List, TextOrigin};
use crate::corpus::{BenchRepository, RankingArgs, Vars, read_json};
use crate::metric::DEPTH;
use crate::report::{self, bar};

/// How an instance is asked, and with which knobs: the name in records.
struct Way {
    name: String,
    is_whole: bool,
    by: RankBy,
    env: Env,
}

/// What a run measures with.
struct IssueMeasure<'a> {
    args: &'a IssuesArgs,
    ranking: RankingArgs,
    env: Env,
    ways: Vec<Way>,
    sets: BTreeMap<String, String>,
    /// Trees and indexes.
    work: PathBuf,
}

/// Measures the lists.
///
/// # Errors
/// When a list can't be read, no clone is there, a text is another than the list's, or a commit can't be searched.
pub fn measure(args: &IssuesArgs, vars: &Vars) -> Result<IssueRecord> {
    let mut instances = Vec::new();
    let mut sets = BTreeMap::new();
    for path in &args.list {
        let list: List = read_json(path)?;
        sets.extend(list.sets);
        instances.extend(list.instances);
    }
    instances.retain(|instance| args.only.is_empty() || args.only.contains(&instance.repository));
    let temporary = tempfile::tempdir()?;
    let work = args.work.clone().unwrap_or_else(|| temporary.path().to_path_buf());
    std::fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let work = work.canonicalize()?;
    let ranking = RankingArgs { data_dir: Some(work.join("indexes")), ..RankingArgs::default() };
    let env = ranking.environment(vars)?;
    let ways = ways(args, &ranking, vars)?;
    let measure = IssueMeasure { args, ranking, env, ways, sets, work };
    let bar = bar(instances.len() as u64, "asking");
    let mut asked = Vec::new();
    for of_one in instances.chunk_by(|a, b| a.repository == b.repository) {
        asked.extend(measure.repository(of_one)?);
        bar.inc(of_one.len() as u64);
    }
    bar.finish_and_clear();
    if asked.is_empty() {
        bail!("nothing to ask: no clone of the repositories in question lies in {}", args.clones.display());
    }
    let names = measure.ways.iter().map(|way| way.name.clone()).collect();
    Ok(IssueRecord { origin: report::Origin::here(), narrow: args.narrow, ways: names, asked })
}

/// Each way to ask with the knobs in force, then each with the knobs to try.
fn ways(args: &IssuesArgs, ranking: &RankingArgs, vars: &Vars) -> Result<Vec<Way>> {
    let mut ways = Vec::new();
    let tried = args.tried.iter().map(|setting| (format!(" [{setting}]"), setting.as_str()));
    for (note, setting) in [(String::new(), "")].into_iter().chain(tried) {
        let mut with = vars.to_vec();
        for one in setting.split(',').filter(|one| !one.is_empty()) {
            let (knob, value) = one.split_once('=').with_context(|| format!("--try {one}: write KNOB=VALUE"))?;
            with.retain(|(name, _)| *name != *knob);
            with.push((OsString::from(knob), OsString::from(value)));
        }
        let env = ranking.environment(&with).with_context(|| format!("--try {setting}"))?;
        for (what, is_whole) in [("whole text", true), ("title", false)] {
            for (ranked, by, left_out) in
                [("hybrid", RankBy::Both, args.keyword_only), ("words", RankBy::Words, args.hybrid_only)]
            {
                if !left_out {
                    ways.push(Way { name: format!("{what}, {ranked}{note}"), is_whole, by, env: env.clone() });
                }
            }
        }
    }
    Ok(ways)
}

impl IssueMeasure<'_> {
    /// Asks for the instances of one repository, one after the other, so that the index of one is brought up to the next.
    fn repository(&self, instances: &[Instance]) -> Result<Vec<InstanceRecord>> {
        let name = &instances[0].repository;
        let Some(clone) = Mirror::find(&self.args.clones, name) else {
            eprintln!("colgrep-bench: {name}: no clone in {}; left out", self.args.clones.display());
            return Ok(Vec::new());
        };
        let tree = self.work.join(name.replacen('/', "+", 1));
        let index = self.work.join(format!("{}.index", name.replacen('/', "+", 1)));
        let mut asked = Vec::new();
        for instance in instances {
            let text = self.text(&clone, instance).with_context(|| instance.id())?;
            clone.lay_out(&instance.base, &tree, &index).with_context(|| instance.id())?;
            asked.push(self.ask(instance, &text, &tree).with_context(|| instance.id())?);
        }
        for folder in [&tree, &self.work.join("indexes")] {
            std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        std::fs::remove_file(&index)?;
        eprintln!("colgrep-bench: {name}: {} asked", asked.len());
        Ok(asked)
    }

    /// An instance's text, which must be the one that the list was made of.
    fn text(&self, clone: &Mirror, instance: &Instance) -> Result<InstanceText> {
        let text = match &instance.origin {
            TextOrigin::Fix { fix } => text_of(&clone.commit(fix)?).context("the message of the fix is no issue")?,
            TextOrigin::Set { set, key } => {
                let revision = self.sets.get(set).with_context(|| format!("the list names no revision of {set}"))?;
                let set = Mirror::find(&self.args.clones, set).with_context(|| format!("no clone of {set}"))?;
                text_in_set(&set, revision, key)?
            }
        };
        if text.hash() != instance.text {
            bail!("its text is not the one that the list was made of; draw the list anew");
        }
        Ok(text)
    }

    /// Asks for one instance in all ways.
    fn ask(&self, instance: &Instance, text: &InstanceText, tree: &Path) -> Result<InstanceRecord> {
        let model = self.ranking.model(&self.env)?.filter(|_| !self.args.keyword_only);
        let repository = BenchRepository::open(&instance.repository, None, tree, &self.env, model, &self.ranking)?;
        let indexed: BTreeSet<&str> = repository.files().map(|file| file.path.as_str()).collect();
        let unread = instance.files.iter().filter(|file| !indexed.contains(file.as_str())).count();
        let mut ranks = BTreeMap::new();
        for way in &self.ways {
            let mut options = OpenOptions::default();
            options.update = false;
            let mut session = Session::new(way.env.clone(), tree, &options, Arc::new(()))?;
            let query = if way.is_whole { text.whole() } else { text.title.clone() };
            let mut request = SearchRequest::new(query).within(tree).files(DEPTH).by(way.by);
            if self.args.narrow {
                (request.scope.code_only, request.scope.tests) = (Some(true), Some(Tests::Exclude));
            }
            let answer = session.search(&request)?;
            let rank = |file: &String| answer.files.iter().position(|found| found.path == *file).map(|at| at + 1);
            ranks.insert(way.name.clone(), instance.files.iter().map(rank).collect());
        }
        let (repository, language) = (instance.repository.clone(), instance.language.clone());
        let from = match &instance.origin {
            TextOrigin::Set { .. } => "issues",
            TextOrigin::Fix { .. } => "commits",
        };
        Ok(InstanceRecord { id: instance.id(), repository, language, from: from.to_string(), unread, ranks })
    }
}
