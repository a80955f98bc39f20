//! Requests as the package writes them: JSON, every field checked.

use std::path::{Path, PathBuf};

use colgrep_core::UnitKind;
use colgrep_core::tag::{Hint, TagKind};
use colgrep_engine::history::{Bound, EntrySource, HistoryRequest};
use colgrep_engine::request::split_line;
use colgrep_engine::{
    Changes, Detail, OpenOptions, Pattern, Question, RankBy, SearchRequest, Standpoint, Tests, Weakest,
};
use colgrep_index::mode::VectorMode;
use serde::Deserialize;

use crate::failure::{Failure, Result};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Open {
    model: Option<String>,
    hidden: Option<bool>,
    no_ignore: bool,
    filesize_max: Option<u64>,
    index_mode: Option<String>,
    any_root: bool,
}

/// One search. Fields that are not given are left to settings and defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SearchQuestion {
    query: Option<String>,
    like: Option<LikeTarget>,
    k: Option<usize>,
    per_file: Option<usize>,
    paths: Vec<PathBuf>,
    include: Vec<String>,
    exclude: Vec<String>,
    languages: Vec<String>,
    code_only: Option<bool>,
    tests: Option<String>,
    changed: bool,
    since: Option<String>,
    pattern: Option<String>,
    fixed: bool,
    ignore_case: bool,
    word: bool,
    calls: Vec<String>,
    called_by: Vec<String>,
    kinds: Vec<String>,
    by: Option<String>,
    min_strength: Option<f32>,
    near: Option<String>,
    hints: Vec<(String, String)>,
    explain: bool,
}

/// What others are compared with: a unit by its id, or by a file and a line.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum LikeTarget {
    Unit(String),
    Line(PathBuf, u32),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HistoryQuestion {
    query: Option<String>,
    paths: Vec<String>,
    sources: Vec<String>,
    since: Option<String>,
    until: Option<String>,
    k: Option<usize>,
    by: Option<String>,
    whole: bool,
    explain: bool,
}

/// One of several names, or a sentence that lists them.
fn named<T>(what: &str, name: &str, known: &[(&str, T)]) -> Result<T>
where
    T: Copy,
{
    known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        Failure::request(format!("{what}: {name:?} is none of {}", names.join(", ")))
    })
}

fn by(name: Option<&str>) -> Result<RankBy> {
    let known = [("both", RankBy::Both), ("words", RankBy::Words), ("meaning", RankBy::Meaning)];
    named("by", name.unwrap_or("both"), &known)
}

pub fn open_options(json: &str) -> Result<OpenOptions> {
    let asked: Open = serde_json::from_str(json)?;
    let modes = [VectorMode::Full, VectorMode::Lite, VectorMode::Keyword].map(|mode| (mode.name(), mode));
    let mut options = OpenOptions::default();
    (options.model, options.hidden, options.no_ignore) = (asked.model, asked.hidden, asked.no_ignore);
    (options.filesize_max, options.any_root) = (asked.filesize_max, asked.any_root);
    options.vectors = asked.index_mode.as_deref().map(|name| named("index_mode", name, &modes)).transpose()?;
    Ok(options)
}

/// A search from JSON; paths are meant from `root`.
pub fn search(json: &str, root: &Path) -> Result<SearchRequest> {
    let asked: SearchQuestion = serde_json::from_str(json)?;
    let mut request = SearchRequest::default();
    request.question = match (asked.query, asked.like) {
        (Some(query), None) if query.trim().is_empty() => return Err(Failure::request("the query is empty")),
        (Some(query), None) => Question::Text(query),
        (None, Some(LikeTarget::Line(file, line))) => Question::Like { file: root.join(file), line },
        (None, Some(LikeTarget::Unit(id))) => {
            let known = id.parse().map_err(|_| Failure::request(format!("{id:?} is no id of a unit")))?;
            Question::LikeUnit(known)
        }
        (None, None) => Question::Every,
        (Some(_), Some(_)) => return Err(Failure::request("a query and a unit to compare with: one of them")),
    };
    let scope = &mut request.scope;
    scope.paths = asked.paths.iter().map(|path| root.join(path)).collect();
    if scope.paths.is_empty() {
        scope.paths.push(root.to_path_buf());
    }
    (scope.include, scope.exclude, scope.types) = (asked.include, asked.exclude, asked.languages);
    scope.code_only = asked.code_only;
    let tests = [("auto", Tests::Auto), ("only", Tests::Only), ("exclude", Tests::Exclude)];
    scope.tests = asked.tests.as_deref().map(|name| named("tests", name, &tests)).transpose()?;
    scope.changes = match asked.since {
        Some(since) => Some(Changes::Since(since)),
        None => asked.changed.then_some(Changes::Uncommitted),
    };
    scope.pattern = asked.pattern.map(|expression| {
        let mut pattern = Pattern::new(expression);
        (pattern.fixed, pattern.ignore_case, pattern.word) = (asked.fixed, asked.ignore_case, asked.word);
        pattern
    });
    (scope.facts.calls, scope.facts.called_by) = (asked.calls, asked.called_by);
    let kinds = UnitKind::ALL.map(|kind| (kind.name(), kind));
    scope.facts.kinds = asked.kinds.iter().map(|name| named("kinds", name, &kinds)).collect::<Result<_>>()?;
    if request.question == Question::Every && request.scope.facts.allow_all() {
        return Err(Failure::request("a list needs calls, called_by or kinds"));
    }
    let tags = TagKind::ALL.map(|kind| (kind.name(), kind));
    request.background.hints = asked
        .hints
        .into_iter()
        .map(|(kind, word)| Ok(Hint { kind: named("hints", &kind, &tags)?, word }))
        .collect::<Result<_>>()?;
    request.background.near = asked.near.map(|written| match split_line(&written) {
        Some((file, line)) => Standpoint { file: root.join(file), line: Some(line) },
        None => Standpoint { file: root.join(written), line: None },
    });
    request.ranking.by = by(asked.by.as_deref())?;
    let shape = &mut request.shape;
    (shape.files, shape.units_per_file, shape.explain) = (asked.k, asked.per_file, asked.explain);
    if let Some(least) = asked.min_strength {
        if !(0.0..=1.0).contains(&least) {
            return Err(Failure::request(format!("min_strength: {least} is not from 0 to 1")));
        }
        shape.weakest = Weakest::Strength(least);
    }
    shape.detail = Detail::Relations;
    Ok(request)
}

/// A question about a history, from JSON; paths are meant from `root`.
pub fn history(json: &str, root: &Path) -> Result<HistoryRequest> {
    let asked: HistoryQuestion = serde_json::from_str(json)?;
    let sources = [("commit", EntrySource::Commit), ("session", EntrySource::Session)];
    let bound = |text: &Option<String>| text.as_deref().map(Bound::read).transpose();
    let mut request = HistoryRequest {
        query: asked.query.filter(|query| !query.trim().is_empty()),
        folder: root.to_path_buf(),
        paths: asked.paths,
        sources: asked.sources.iter().map(|name| named("sources", name, &sources)).collect::<Result<_>>()?,
        since: bound(&asked.since)?,
        until: bound(&asked.until)?,
        entries: asked.k,
        whole: asked.whole,
        explain: asked.explain,
        ..HistoryRequest::default()
    };
    request.ranking.by = by(asked.by.as_deref())?;
    Ok(request)
}
