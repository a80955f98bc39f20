//! The tools `grep` and `outline`, which read files, and `status`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use colgrep_cluster::{ClusterScope, LINES_MAX, LineFound};
use colgrep_engine::notice::IndexState;
use colgrep_engine::project::settings_at;
use colgrep_engine::{Notice, Pattern, Scope};

use super::ends::{ToolAnswer, remark};
use super::page::{page, page_tokens};
use super::params;
use super::ranking::lacking_in;
use super::read::{read_whole, written_lines};
use super::shards::Shards;
use super::state::{Root, ServerState};
use super::unserved::{Unserved, check_rest};
use colgrep_render::empty::Naming;
use colgrep_render::empty::of_lines;
use colgrep_render::escape::escape_control;
use colgrep_render::grep::{self as plain_grep, LineBounds, ServedPath};
use colgrep_render::line::{escaped, shortened};
use colgrep_render::notice::{self, coverage};
use colgrep_render::outline as file_outline;
use colgrep_render::path::in_root;
use colgrep_render::shards::remarks;
use colgrep_render::words::{counted, counted_are};

pub fn grep(state: &ServerState, asked: &params::Grep) -> Result<ToolAnswer> {
    let mut scope = Scope::default();
    (scope.include, scope.exclude) = (asked.include.clone(), asked.exclude.clone());
    lines_of(state, asked, scope, (None, false))
}

/// The matching lines of what the scope takes in: of so many files, if that is said, and with `text_only` without binary
/// files that nobody named.
pub fn lines_of(
    state: &ServerState,
    asked: &params::Grep,
    mut scope: Scope,
    (files_max, text_only): (Option<usize>, bool),
) -> Result<ToolAnswer> {
    if asked.pattern.is_empty() {
        bail!("pattern is empty: give a regular expression");
    }
    let mut pattern = Pattern::served(&asked.pattern);
    (pattern.fixed, pattern.word, pattern.ignore_case) = (asked.fixed, asked.word, asked.ignore_case);
    scope.pattern = Some(pattern);
    if let Some(shards) = state.shards() {
        return lines_over(shards, state, asked, scope, files_max);
    }
    let located = state.located(&asked.paths, &asked.groups)?;
    let mut folders: Vec<_> = located.into_iter().map(|(root, full, _)| (root, full)).collect();
    let mut unserved = Vec::new();
    if folders.is_empty() {
        folders = state.roots().map(|r| (r, r.folder.clone())).collect();
        unserved.extend_from_slice(state.lost());
    }
    let scope = state.with_names(&scope);
    folders.retain(|(root, _)| {
        let away = state.check(root).err().map(|error| Unserved::new(&root.folder, &error));
        let is_there = away.is_none();
        unserved.extend(away.filter(|away| !unserved.contains(away)));
        is_there
    });
    check_rest(folders.is_empty(), &unserved)?;
    let here = std::env::current_dir().unwrap_or_default();
    // A line takes at least one token, so lines beyond this number can't be on the page.
    let enough = asked.offset.saturating_add(page_tokens(asked.max_tokens) + 1);
    let (mut lines, mut unreadable, mut searched) = (Vec::new(), Vec::new(), 0);
    let mut files_left = files_max.unwrap_or(usize::MAX);
    // With nested folders, each matching line is given once; context lines may repeat those of other folders.
    let holding = |one: &Path| folders.iter().filter(|(_, around)| one.starts_with(around)).count();
    let overlap = folders.iter().any(|(_, one)| holding(one) > 1);
    let mut given = HashSet::new();
    let mut is_new = |line: &String| !overlap || asked.context > 0 || given.insert(line.clone());
    for (root, folder) in folders {
        if lines.len() >= enough || files_left == 0 {
            break;
        }
        let path = match folder.strip_prefix(&here) {
            // With several roots, lines begin with their root's name.
            _ if in_root(&folder).is_some() => folder.clone(),
            Ok(rest) if rest.as_os_str().is_empty() => Path::new(".").to_path_buf(),
            Ok(rest) => rest.to_path_buf(),
            Err(_) => folder.clone(),
        };
        let settings = settings_at(&folder, &state.env)?;
        let bounds = LineBounds { lines: enough - lines.len(), files: files_left };
        let around = (asked.context, text_only);
        let served = state.served(root)?;
        let serves = |full: &Path| served.has(full);
        let stops = || state.end.has_come();
        let at = ServedPath { path: &path, root: &root.project.root, serves: &serves, stops: &stops };
        let found = plain_grep::lines(&scope, around, &state.options, (&settings, &state.env), &at, bounds)?;
        lines.extend(found.lines.into_iter().filter(&mut is_new));
        unreadable.extend(found.unreadable);
        searched += found.searched;
        files_left -= found.files;
    }
    let text = page(&lines, asked.offset, asked.max_tokens, "line", lines.len() >= enough);
    let is_told = lines.is_empty() && unreadable.is_empty();
    let mut as_asked = scope.clone();
    as_asked.paths = asked.paths.iter().chain(&asked.groups).map(PathBuf::from).collect();
    let why = is_told.then(|| of_lines(&as_asked, searched, Naming::Parameters)).flatten();
    let cut = files_max.filter(|_| files_left == 0).map(|files| {
        format!("only lines of the first {} are listed; a larger `results` lists more", counted(files as u64, "file"))
    });
    Ok(ToolAnswer::without(text, not_read(here, unreadable) + &remark(why.or(cut)), unserved))
}

/// The same over shards, of indexed files.
fn lines_over(
    shards: &Shards,
    state: &ServerState,
    asked: &params::Grep,
    mut scope: Scope,
    files_max: Option<usize>,
) -> Result<ToolAnswer> {
    if !asked.groups.is_empty() || asked.context > 0 {
        bail!("this server answers over shards: `grep` takes no `groups` there, and gives no `context`");
    }
    scope.paths = asked.paths.iter().map(PathBuf::from).collect();
    let enough = asked.offset.saturating_add(page_tokens(asked.max_tokens) + 1).min(LINES_MAX as usize);
    let scope = ClusterScope { allowed: state.allowed(), scope: &scope };
    let (found, coverage) = shards.cluster.lines(&scope, enough as u32)?;
    let of = |one: &LineFound| escaped(&format!("{}:{}:{}", one.path, one.line, one.text));
    let files = found.lines.chunk_by(|one, next| one.path == next.path).take(files_max.unwrap_or(usize::MAX));
    let lines: Vec<String> = files.flatten().map(|one| format!("{}\n", shortened(&of(one)))).collect();
    let is_cut = found.is_cut && lines.len() == found.lines.len();
    let text = page(&lines, asked.offset, asked.max_tokens, "line", is_cut);
    // How many files the filters leave is not known here.
    let why = lines.is_empty().then(|| of_lines(scope.scope, 1, Naming::Parameters)).flatten();
    let remarks = remarks(&coverage) + &remark(why);
    Ok(ToolAnswer { text, remarks, standing: Some(coverage), ..ToolAnswer::default() })
}

/// The remark on what can't be read, with its line end, as a search has it; paths are from `here`.
fn not_read(here: PathBuf, mut unreadable: Vec<PathBuf>) -> String {
    unreadable.sort_unstable();
    unreadable.dedup();
    let Some(first) = unreadable.first() else { return String::new() };
    let first = first.to_string_lossy().into_owned();
    let notice = Notice::Unreadable { root: here, first, paths: unreadable.len() };
    format!("({})\n", escape_control(&notice::text(&notice)))
}

pub fn outline(state: &ServerState, asked: &params::Outline) -> Result<String> {
    state.check_here()?;
    let (root, _, below) = state.locate(written_lines(state, &asked.file).0)?;
    let (_, units) = read_whole(root, &below, &asked.file)?;
    let blocks: Vec<String> = file_outline::shown(&units, asked.all).into_iter().map(file_outline::row).collect();
    Ok(page(&blocks, asked.offset, asked.max_tokens, "unit", false))
}

pub fn status(state: &ServerState, asked: &params::Status) -> Result<ToolAnswer> {
    let answered = state_of(state)?;
    let lines: Vec<String> = answered.text.split_inclusive('\n').map(str::to_string).collect();
    Ok(ToolAnswer { text: page(&lines, asked.offset, asked.max_tokens, "line", false), ..answered })
}

/// The state of all roots, or of the shards.
fn state_of(state: &ServerState) -> Result<ToolAnswer> {
    if let Some(shards) = state.shards() {
        let seen = shards.cluster.health(state.allowed())?;
        return Ok(ToolAnswer {
            standing: Some(seen.coverage.clone()),
            ..ToolAnswer::from(colgrep_render::shards::told(&seen))
        });
    }
    let mut text = String::new();
    for root in state.roots() {
        if let Some(Unserved { root, why }) = state.look(root) {
            text.push_str(&format!("root {root}\n  can't be searched now: {}\n", escape_control(&why)));
            continue;
        }
        // `status` builds no index: that is left to searches.
        let Some(snapshot) = root.as_it_is() else {
            text.push_str(&format!(
                "root {}\n  nothing is indexed yet; the first search does it\n  changes are noticed {}\n",
                root.folder.display(),
                noticed(root)
            ));
            continue;
        };
        let files = snapshot.files.indexed().count();
        let units = snapshot.files.units();
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
        let model = state.model(root)?;
        if !snapshot.files.complete {
            text.push_str(&format!(
                "  the index is being built: {}\n",
                coverage(&IndexState::of(&root.project, &snapshot, model))
            ));
        } else if let Some(lacking) = lacking_in(root, &snapshot, model) {
            text.push_str(&format!("  {lacking}\n"));
        }
        text.push_str(&format!("  changes are noticed {}\n", noticed(root)));
    }
    for Unserved { root, why } in state.lost().iter().filter(|one| !state.is_area(&one.root)) {
        text.push_str(&format!("root {root}\n  is not searched: {}\n", escape_control(why)));
    }
    if !state.areas.is_empty() {
        let folders: Vec<String> = state.areas.iter().map(|area| area.display().to_string()).collect();
        let [folders, projects] = [folders.join(", "), state.repositories()].map(|text| escape_control(&text));
        text.push_str(&format!("folder of repositories {folders}\n  `project` takes one of them: {projects}\n"));
    }
    Ok(ToolAnswer { unserved: state.unserved(), ..ToolAnswer::from(text) })
}

/// How changes of a root's files are noticed.
fn noticed(root: &Root) -> &'static str {
    if root.is_watched() { "as they happen" } else { "by a look at all files before each answer" }
}
