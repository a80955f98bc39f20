//! The tools' work, as text.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;
use colgrep_core::Unit;
use colgrep_core::collapse::FileHit;
use colgrep_engine::hint::Hinted;
use colgrep_engine::line::{QueryWords, own_line};
use colgrep_engine::model::Model;
use colgrep_engine::project::{Project, settings_at};
use colgrep_index::lexical::UnitFilter;
use colgrep_index::search::{Answer, Request};
use colgrep_index::source::read_text;
use colgrep_index::store::Snapshot;
use colgrep_index::update::repair;
use colgrep_syntax::read::lines_between;
use rayon::prelude::*;

use super::desk::{Desk, Root};
use super::page::{page, tokens_wanted};
use super::params;
use crate::args::{SearchArgs, Tests};
use crate::command::outline::{self as file_outline, Outlined};
use crate::command::search::like::Like;
use crate::command::search::{
    Ask, Filter, PathRules, Without, check_length, coverage, damage, like, maker, not_ranked,
};
use crate::command::{counted, counted_are, grep as plain_grep};
use crate::output::escape::escape_control;
use crate::output::line::shortened;
use crate::output::path::typed;

/// Files of an answer, if the question does not say.
const RESULTS_DEFAULT: usize = 10;
/// Files that the first pages are cut from; the next ones from twice as many, and so on.
const WINDOW_FILES: usize = 64;
/// Files of an answer at most.
const RESULTS_MAX: usize = 1_000;

/// `search`.
pub fn search(desk: &Desk, asked: &params::Search) -> Result<String> {
    if asked.per_file == Some(0) {
        bail!("per_file: 0 asks for nothing; give 1 or more");
    }
    if asked.query.trim().is_empty() {
        bail!("query is empty: say what to look for, in words or as a name");
    }
    check_length(asked.query.as_bytes())?;
    let tests = match &asked.tests {
        None => None,
        Some(text) => Some(
            Tests::from_str(text, true)
                .map_err(|_| anyhow::anyhow!("tests takes auto, only or exclude, not {text:?}"))?,
        ),
    };
    let args = SearchArgs {
        regexp: asked.pattern.iter().cloned().collect(),
        include: asked.include.clone(),
        exclude: asked.exclude.clone(),
        types: asked.languages.clone(),
        code_only: asked.code_only,
        tests,
        ..SearchArgs::default()
    };
    let mut places: Vec<(&Arc<Root>, Vec<String>)> = Vec::new();
    for path in &asked.paths {
        let (root, _, below) = desk.locate(path)?;
        match places.iter_mut().find(|(r, _)| Arc::ptr_eq(r, root)) {
            Some((_, all)) => all.push(below),
            None => places.push((root, vec![below])),
        }
    }
    if places.is_empty() {
        places = desk.roots().map(|r| (r, vec![r.below.clone()])).collect();
    }
    let wanted = wanted(asked.results)?;
    let mut lists = Vec::new();
    for (root, below) in &places {
        let question = Question {
            query: &asked.query,
            wanted: asked.offset.saturating_add(wanted),
            per_file: asked.per_file,
            content: asked.content,
        };
        lists.push(Ranking { desk, root, below, args: &args, question, like: None }.ranked()?);
    }
    Ok(page_of(lists, asked.offset, wanted, asked.max_tokens))
}

/// Number of files that an answer is to hold.
fn wanted(results: Option<usize>) -> Result<usize> {
    match results {
        Some(0) => bail!("results: 0 asks for nothing; give 1 or more"),
        asked => Ok(asked.unwrap_or(RESULTS_DEFAULT).min(RESULTS_MAX)),
    }
}

/// `find_related`.
pub fn find_related(desk: &Desk, asked: &params::Related) -> Result<String> {
    let (root, full, path) = desk.locate(&asked.file)?;
    if !full.is_file() {
        bail!("{} is no file", asked.file);
    }
    let wanted = wanted(asked.results)?;
    let below = std::slice::from_ref(&root.below);
    let args = SearchArgs::default();
    let list = mended(root, || {
        let like = like::like(&root.project, &*desk.snapshot(root)?, &path, asked.line, desk.model(root)?)?;
        let question = Question {
            query: &like.query,
            wanted: asked.offset.saturating_add(wanted),
            per_file: None,
            content: asked.content,
        };
        Ranking { desk, root, below, args: &args, question, like: Some(&like) }.once()
    })?;
    Ok(page_of(vec![list], asked.offset, wanted, asked.max_tokens))
}

struct Question<'a> {
    query: &'a str,
    wanted: usize,
    per_file: Option<usize>,
    content: bool,
}

/// One root's blocks, best first, and remarks (a line each) where its index is not complete or leaves out what is asked.
struct Ranked {
    blocks: Vec<String>,
    remarks: String,
    more: bool,
}

/// One root's ranking: what is asked, and where.
struct Ranking<'a> {
    desk: &'a Desk,
    root: &'a Arc<Root>,
    below: &'a [String],
    args: &'a SearchArgs,
    question: Question<'a>,
    /// The unit that others are to be like.
    like: Option<&'a Like>,
}

impl Ranking<'_> {
    /// Ranks; an index that shows itself damaged is mended, once.
    fn ranked(&self) -> Result<Ranked> {
        mended(self.root, || self.once())
    }

    fn once(&self) -> Result<Ranked> {
        let (desk, root, question) = (self.desk, self.root, &self.question);
        let model = desk.model(root)?;
        let snapshot = desk.snapshot(root)?;
        let settings = desk.settings(root)?;
        let mut args = self.args.clone();
        args.walk.quiet = true;
        args.fill(&settings);
        let knobs = settings.knobs(&desk.env, None, None)?;
        let rules = PathRules::new(&args, &settings, &root.project)?;
        let filter = Filter::new(&args, &rules, self.below, &root.project, &snapshot)?;
        let inner = filter.as_ref().map(|f| f as &dyn UnitFilter);
        let without = self.like.map(|like| Without { inner, file: like.file, line: like.line });
        let ask = Ask {
            request: Request {
                query: question.query,
                knobs: &knobs,
                fusion: args.fusion.unwrap_or_default().into(),
                files: question.wanted,
                units_per_file: question.per_file.unwrap_or(1).clamp(1, 100),
                filter: without.as_ref().map(|w| w as &dyn UnitFilter).or(inner),
                semantic: None,
            },
            model,
            like: self.like.and_then(|l| l.vectors.as_ref()),
            units: false,
            explain: false,
            trace: desk.env.trace,
        };
        let (blocks, more) = self.in_windows(&ask, &snapshot, filter.as_ref())?;
        let building = (!snapshot.files.complete)
            .then(|| format!("(the index is being built: {})\n", coverage(&root.project, &snapshot, model)));
        let lacking = || Some(format!("({})\n", lacking(root, &snapshot, model)?));
        let mut remarks = building.or_else(lacking).unwrap_or_default();
        for Hinted { what, tool, .. } in not_ranked(self.below, &root.project, &snapshot) {
            remarks.push_str(&format!("({}; {tool})\n", escape_control(&what)));
        }
        Ok(Ranked { blocks, remarks, more })
    }

    /// The blocks of the files that are wanted, and whether there may be more. What is asked of an index for more files
    /// may rank them otherwise, since more is retrieved then: pages go through the ranking of a window, and on through
    /// that of the next one, without what they had. So they repeat no file and lose none.
    fn in_windows(&self, ask: &Ask<'_>, snapshot: &Snapshot, filter: Option<&Filter>) -> Result<(Vec<String>, bool)> {
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        let mut files = WINDOW_FILES;
        loop {
            let (mut answer, _) = Ask { request: Request { files, ..ask.request }, ..*ask }.of(snapshot)?;
            let are_all = answer.hits.len() < files;
            let paths = &answer.files;
            answer.hits.retain(|hit| seen.insert(paths[hit.file].path.clone()));
            let room = self.question.wanted - all.len();
            let more = answer.hits.len() > room || !are_all;
            answer.hits.truncate(room);
            all.extend(blocks(&self.root.project, snapshot, &answer, filter, &self.question)?);
            if are_all || all.len() == self.question.wanted {
                return Ok((all, more));
            }
            files = files.saturating_mul(2);
        }
    }
}

/// Does `work`; where the root's index shows itself damaged, mends it and does the work again, once.
fn mended<T>(root: &Root, work: impl Fn() -> Result<T>) -> Result<T> {
    match work() {
        Err(error) if damage(&error).is_some() => {
            root.forget();
            repair(&root.project.store)?;
            work()
        }
        done => done,
    }
}

/// What the ranking by meaning lacks in a root's index, and who makes it.
fn lacking(root: &Root, snapshot: &Snapshot, model: Option<&Model>) -> Option<String> {
    model?.lacking(snapshot, || root.is_encoding().then_some("this server").or_else(|| maker(&root.project)))
}

/// Several roots' blocks take turns, since their scores can't be compared.
fn page_of(mut lists: Vec<Ranked>, offset: usize, wanted: usize, max_tokens: Option<usize>) -> String {
    let longest = lists.iter().map(|l| l.blocks.len()).max().unwrap_or(0);
    let more = lists.iter().any(|l| l.more);
    let remarks: String = lists.iter().map(|l| l.remarks.as_str()).collect();
    let mut all = Vec::new();
    for rank in 0..longest {
        for list in &mut lists {
            if let Some(block) = list.blocks.get_mut(rank) {
                all.push(std::mem::take(block));
            }
        }
    }
    let end = offset.saturating_add(wanted);
    let cut = all.len() > end;
    all.truncate(end);
    remarks + &page(&all, offset, max_tokens, "results", more || cut)
}

/// A block of text for each file of the answer, made side by side.
fn blocks(
    project: &Project,
    snapshot: &Snapshot,
    answer: &Answer,
    filter: Option<&Filter>,
    question: &Question<'_>,
) -> Result<Vec<String>> {
    let words = QueryWords::new(question.query, snapshot)?;
    let block = |hit: &FileHit| {
        let path = &answer.files[hit.file].path;
        let text = read_text(&project.root, path).unwrap_or_default();
        let units = hit.units.iter().map(|candidate| Ok(snapshot.lexical.unit(candidate.unit)?));
        let units: Vec<Unit> = units.collect::<Result<_>>()?;
        let first = units.iter().map(|unit| unit.span.first.min(unit.span.line)).min().unwrap_or_default();
        let end = units.iter().map(|unit| unit.span.end).max().unwrap_or_default();
        let lines = lines_between(&text, first as usize, end as usize, str::lines);
        let shown = escape_control(&typed(&project.root, path));
        let matching = filter.and_then(|f| f.matches_of(path, snapshot));
        let block = |unit| unit_block(&shown, &lines, unit, &words, matching, question.content);
        Ok(units.iter().map(block).collect())
    };
    answer.hits.par_iter().map(block).collect()
}

fn unit_block(
    path: &str,
    lines: &[&str],
    unit: &Unit,
    words: &QueryWords,
    matching: Option<&[u32]>,
    content: bool,
) -> String {
    let (first, end) = (unit.span.line as usize, (unit.span.end as usize).min(lines.len()));
    let mut block =
        format!("{path}:{first}-{end} {} {}", unit.kind.name(), unit.qualified_name()).trim_end().to_string();
    block.push('\n');
    if content {
        numbered(&mut block, lines, first, end);
        return block;
    }
    if !unit.signature.is_empty() {
        block.push_str(&format!("    {}\n", shortened(&unit.signature)));
    }
    let best = words.best_line(lines, unit, matching);
    if let Some(text) = lines.get(best.wrapping_sub(1))
        && (unit.signature.is_empty() || best != own_line(lines, unit, end))
    {
        block.push_str(&format!("    {best}: {}\n", shortened(text.trim())));
    }
    block
}

fn numbered(block: &mut String, lines: &[&str], first: usize, end: usize) {
    for number in first..=end {
        let Some(text) = lines.get(number.wrapping_sub(1)) else { break };
        block.push_str(&format!("{number}: {}\n", shortened(text)));
    }
}

/// `grep`.
pub fn grep(desk: &Desk, asked: &params::Grep) -> Result<String> {
    if asked.pattern.is_empty() {
        bail!("pattern is empty: give a regular expression");
    }
    let args = SearchArgs {
        regexp: vec![asked.pattern.clone()],
        fixed_strings: asked.fixed,
        ignore_case: asked.ignore_case,
        word_regexp: asked.word,
        context: Some(asked.context),
        include: asked.include.clone(),
        exclude: asked.exclude.clone(),
        no_messages: true,
        walk: desk.walk.clone(),
        ..SearchArgs::default()
    };
    let mut folders = Vec::new();
    for path in &asked.paths {
        folders.push(desk.locate(path)?.1);
    }
    if folders.is_empty() {
        folders = desk.roots().map(|r| r.folder.clone()).collect();
    }
    let here = std::env::current_dir().unwrap_or_default();
    // A line takes a token at least: what lies beyond can't be on this page.
    let enough = asked.offset.saturating_add(tokens_wanted(asked.max_tokens) + 1);
    let mut lines: Vec<String> = Vec::new();
    for folder in folders {
        if lines.len() >= enough {
            break;
        }
        let path = match folder.strip_prefix(&here) {
            Ok(rest) if rest.as_os_str().is_empty() => Path::new(".").to_path_buf(),
            Ok(rest) => rest.to_path_buf(),
            Err(_) => folder.clone(),
        };
        let mut args = args.clone();
        let settings = settings_at(&folder, &desk.env)?;
        args.walk.fill(&settings);
        // The setting is about the index.
        args.walk.max_filesize = desk.walk.max_filesize;
        lines.extend(plain_grep::lines(&args, &desk.env, &settings, &path, enough - lines.len())?);
    }
    Ok(page(&lines, asked.offset, asked.max_tokens, "lines", lines.len() >= enough))
}

/// `outline`.
pub fn outline(desk: &Desk, asked: &params::Outline) -> Result<String> {
    let (_, full, _) = desk.locate(&asked.file)?;
    let units = file_outline::outline(&full)?;
    let blocks: Vec<String> = units.iter().map(file_outline::row).collect();
    Ok(page(&blocks, asked.offset, asked.max_tokens, "units", false))
}

/// `read_unit`: read from the file itself, so that what was just written is there.
pub fn read_unit(desk: &Desk, asked: &params::ReadUnit) -> Result<String> {
    let (root, full, below) = desk.locate(&asked.file)?;
    let units = file_outline::outline(&full)?;
    let name = asked.name.as_deref().filter(|name| !name.is_empty());
    let named = |u: &&Outlined| name.is_none_or(|name| u.qualified_name == name || u.name == name);
    let mut named = units.iter().filter(named);
    // How far from the line, then how long: the smallest around it goes first.
    let distance = |u: &&Outlined, line: u32| u.line.saturating_sub(line) + line.saturating_sub(u.end_line);
    let unit = match (name, asked.line) {
        (Some(_), Some(line)) => named.min_by_key(|u| (distance(u, line), u.end_line - u.line)),
        (Some(_), None) => named.next(),
        (None, Some(line)) => named.filter(|u| distance(u, line) == 0).min_by_key(|u| u.end_line - u.line),
        (None, None) => bail!("give `line` or `name` of the unit in {}", asked.file),
    };
    let unit = unit.with_context(|| {
        let which = match (name, asked.line) {
            (Some(name), _) => format!("named {name}"),
            (None, line) => format!("on line {}", line.unwrap_or_default()),
        };
        format!("{} has no unit {which}; `outline` lists its units", asked.file)
    })?;
    let text = read_text(&root.project.root, &below)?;
    let lines = lines_between(&text, unit.line as usize, unit.end_line as usize, str::lines);
    let path = escape_control(&typed(&root.project.root, &below));
    let mut blocks =
        vec![format!("{path}:{}-{} {} {}\n", unit.line, unit.end_line, unit.unit_type, unit.qualified_name)];
    for number in unit.line as usize..=unit.end_line as usize {
        let Some(text) = lines.get(number - 1) else { break };
        blocks.push(format!("{number}: {}\n", shortened(text)));
    }
    Ok(page(&blocks, asked.offset, asked.max_tokens, "lines", false))
}

/// `status`.
pub fn status(desk: &Desk) -> Result<String> {
    let mut text = String::new();
    for root in desk.roots() {
        let snapshot = desk.snapshot(root)?;
        let files = snapshot.files.indexed().count();
        let units: u64 = snapshot.files.indexed().map(|f| u64::from(f.units)).sum();
        text.push_str(&format!("root {}\n", root.folder.display()));
        text.push_str(&format!(
            "  {} and {} of the project {} are indexed\n",
            counted(files as u64, "file"),
            counted(units, "unit"),
            root.project.root.display()
        ));
        for (reason, paths) in snapshot.files.skipped() {
            text.push_str(&format!("  {} left out: {reason}\n", counted_are(paths.len() as u64, "file")));
        }
        let model = desk.model(root)?;
        if !snapshot.files.complete {
            text.push_str(&format!("  the index is being built: {}\n", coverage(&root.project, &snapshot, model)));
        } else if let Some(lacking) = lacking(root, &snapshot, model) {
            text.push_str(&format!("  {lacking}\n"));
        }
        let noticed = if root.is_watched() { "as they happen" } else { "by a look at all files before each answer" };
        text.push_str(&format!("  changes are noticed {noticed}\n"));
    }
    Ok(text)
}
