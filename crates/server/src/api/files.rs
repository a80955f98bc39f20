//! The tools `grep`, `outline` and `read_unit`, which read files, and `status`.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use colgrep_engine::notice::IndexState;
use colgrep_engine::project::settings_at;
use colgrep_engine::request::split_lines;
use colgrep_engine::{Notice, Pattern, Scope};
use colgrep_index::source::read_file;
use colgrep_syntax::read::lines_between;

use super::ends::ToolAnswer;
use super::page::{page, page_with, tokens_wanted};
use super::params;
use super::ranking::lacking_in;
use super::state::{Root, ServerState};
use super::units::{check_file, unit_with};
use super::unserved::{Unserved, check_rest};
use colgrep_render::escape::escape_control;
use colgrep_render::grep::{self as plain_grep, ServedPath};
use colgrep_render::line::escaped;
use colgrep_render::notice::{self, coverage};
use colgrep_render::outline::{self as file_outline, Outlined};
use colgrep_render::path::{in_root, typed};
use colgrep_render::words::{counted, counted_are};

/// The largest file that is read whole for its units, in bytes.
const WHOLE_BYTES_MAX: u64 = 16 << 20;

/// The text and the units of a file of a root: read once, so that both are of the same file. `asked` is its name in
/// messages.
///
/// # Errors
/// When it is not a text file, or has more than `bytes_max` bytes, with `too_large`.
pub fn text_and_units(
    root: &Root,
    below: &str,
    asked: &str,
    (bytes_max, too_large): (u64, &str),
) -> Result<(String, Vec<Outlined>)> {
    let full = root.project.root.join(below);
    file_outline::check_file(&full)?;
    let bytes = read_file(&root.project.root, below, bytes_max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => anyhow!("{asked} is larger than {} MiB, {too_large}", bytes_max >> 20),
        _ => anyhow::Error::from(error).context(format!("could not read {}", full.display())),
    })?;
    file_outline::text_and_units(&full, bytes)
}

/// The same for the tools.
fn read_whole(root: &Root, below: &str, asked: &str) -> Result<(String, Vec<Outlined>)> {
    text_and_units(root, below, asked, (WHOLE_BYTES_MAX, "and is not read whole; `grep` finds its lines"))
}

/// `grep`.
pub fn grep(state: &ServerState, asked: &params::Grep) -> Result<ToolAnswer> {
    let mut scope = Scope::default();
    (scope.include, scope.exclude) = (asked.include.clone(), asked.exclude.clone());
    lines_of(state, asked, scope, false)
}

/// The matching lines of what the scope takes in; with `text_only` without binary files that nobody named.
pub fn lines_of(state: &ServerState, asked: &params::Grep, mut scope: Scope, text_only: bool) -> Result<ToolAnswer> {
    state.check_here()?;
    if asked.pattern.is_empty() {
        bail!("pattern is empty: give a regular expression");
    }
    let mut pattern = Pattern::served(&asked.pattern);
    (pattern.fixed, pattern.word, pattern.ignore_case) = (asked.fixed, asked.word, asked.ignore_case);
    scope.pattern = Some(pattern);
    let located = state.located(&asked.paths, &asked.groups)?;
    let mut folders: Vec<_> = located.into_iter().map(|(root, full, _)| (root, full)).collect();
    let mut unserved = Vec::new();
    if folders.is_empty() {
        folders = state.roots().map(|r| (r, r.folder.clone())).collect();
        unserved.extend_from_slice(state.lost());
    }
    folders.retain(|(root, _)| {
        let away = state.check(root).err().map(|error| Unserved::new(&root.folder, &error));
        let is_there = away.is_none();
        unserved.extend(away.filter(|away| !unserved.contains(away)));
        is_there
    });
    check_rest(folders.is_empty(), &unserved)?;
    let here = std::env::current_dir().unwrap_or_default();
    // A line takes at least one token, so lines beyond this number can't be on the page.
    let enough = asked.offset.saturating_add(tokens_wanted(asked.max_tokens) + 1);
    let (mut lines, mut unreadable) = (Vec::new(), Vec::new());
    // With nested folders, each matching line is given once; context lines may repeat those of other folders.
    let holding = |one: &Path| folders.iter().filter(|(_, around)| one.starts_with(around)).count();
    let overlap = folders.iter().any(|(_, one)| holding(one) > 1);
    let mut given = HashSet::new();
    let mut is_new = |line: &String| !overlap || asked.context > 0 || given.insert(line.clone());
    for (root, folder) in folders {
        if lines.len() >= enough {
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
        let enough = enough - lines.len();
        let around = (asked.context, text_only);
        let served = state.served(root)?;
        let serves = |full: &Path| served.has(full);
        let at = ServedPath { path: &path, root: &root.project.root, serves: &serves };
        let (found, unread) = plain_grep::lines(&scope, around, &state.options, (&settings, &state.env), &at, enough)?;
        lines.extend(found.into_iter().filter(&mut is_new));
        unreadable.extend(unread);
    }
    let text = page(&lines, asked.offset, asked.max_tokens, "lines", lines.len() >= enough);
    Ok(ToolAnswer::without(not_read(here, unreadable) + &text, lines.is_empty(), unserved))
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

/// `outline`.
pub fn outline(state: &ServerState, asked: &params::Outline) -> Result<String> {
    state.check_here()?;
    let (root, _, below) = state.locate(written_lines(state, &asked.file).0)?;
    let (_, units) = read_whole(root, &below, &asked.file)?;
    let blocks: Vec<String> = file_outline::shown(&units, asked.all).into_iter().map(file_outline::row).collect();
    Ok(page(&blocks, asked.offset, asked.max_tokens, "units", false))
}

/// A file, and the lines written after its name: `FILE:LINE`, `FILE:FROM-TO`. A file whose own name has that form takes
/// precedence.
pub(super) fn written_lines<'a>(state: &ServerState, written: &'a str) -> (&'a str, Option<(u32, u32)>) {
    match split_lines(written) {
        Some((file, lines)) if state.locate(written).is_err() => (file, Some(lines)),
        _ => (written, None),
    }
}

/// `read_unit`: parses the file itself, so it sees the newest text.
pub fn read_unit(state: &ServerState, asked: &params::ReadUnit) -> Result<String> {
    state.check_here()?;
    check_file(&asked.id, &asked.file)?;
    let (file, lines) = written_lines(state, &asked.file);
    let with_id = unit_with(state, &asked.id, file)?;
    let line = asked.line.or(lines.map(|(first, _)| first));
    let (root, below) = match &with_id {
        Some((root, below, ..)) => (*root, below.clone()),
        None => state.locate(file).map(|(root, _, below)| (root, below))?,
    };
    let (text, units) = read_whole(root, &below, file)?;
    let name = asked.name.as_deref().filter(|name| !name.is_empty());
    let named = |u: &&Outlined| name.is_none_or(|name| u.qualified_name == name || u.name == name);
    let mut named = units.iter().filter(named);
    // By distance from the line, then by length: the smallest unit around the line comes first.
    let distance = |u: &&Outlined, line: u32| u.line.saturating_sub(line) + line.saturating_sub(u.end_line);
    let spans = |wanted| move |u: &&Outlined| (u.line, u.end_line) == wanted;
    // The documentation of a method belongs to the method more than to its class.
    let around = |u: &&Outlined, line: u32| (u.first..=u.end_line).contains(&line);
    let unit = match (name, line) {
        _ if let Some((_, _, line, end)) = with_id => units.iter().find(spans((line, end))),
        (None, Some(_)) if let Some(unit) = lines.and_then(|wanted| units.iter().find(spans(wanted))) => Some(unit),
        (Some(_), Some(line)) => named.min_by_key(|u| (distance(u, line), u.end_line - u.line)),
        (Some(_), None) => named.next(),
        (None, Some(line)) => named.filter(|u| around(u, line)).min_by_key(|u| u.end_line - u.first),
        (None, None) => bail!("give `line` or `name` of the unit in {file}"),
    };
    let unit = unit.with_context(|| {
        let which = match (name, line) {
            (Some(name), _) => format!("named {name}"),
            (None, line) => format!("on line {}", line.unwrap_or_default()),
        };
        format!("{file} has no unit {which}; `outline` lists its units")
    })?;
    // Its documentation is shown to whoever asks for a line of it.
    let first = if line.is_some_and(|line| (unit.first..unit.line).contains(&line)) { unit.first } else { unit.line };
    let lines = lines_between(&text, first as usize, unit.end_line as usize, str::lines);
    let path = escape_control(&typed(&root.project.root, &below));
    let mut blocks =
        vec![format!("{path}:{}-{} {} {}\n", unit.line, unit.end_line, unit.unit_type, unit.qualified_name)];
    for number in first as usize..=unit.end_line as usize {
        let Some(text) = lines.get(number - 1) else { break };
        blocks.push(format!("{number}: {}\n", escaped(text)));
    }
    // The first block names the unit.
    let at = line.filter(|line| (first..=unit.end_line).contains(line));
    let at = at.map_or(0, |line| (line - first) as usize + 1).min(blocks.len() - 1);
    Ok(page_with(&blocks, asked.offset, at, asked.max_tokens, "lines"))
}

/// `status`.
pub fn status(state: &ServerState, asked: &params::Status) -> Result<ToolAnswer> {
    let answered = state_of(state)?;
    let lines: Vec<String> = answered.text.split_inclusive('\n').map(str::to_string).collect();
    Ok(ToolAnswer { text: page(&lines, asked.offset, asked.max_tokens, "lines", false), ..answered })
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
    for Unserved { root, why } in state.lost() {
        text.push_str(&format!("root {root}\n  is not searched: {}\n", escape_control(why)));
    }
    Ok(ToolAnswer { unserved: state.unserved(), ..ToolAnswer::from(text) })
}

/// How changes of a root's files are noticed.
fn noticed(root: &Root) -> &'static str {
    if root.is_watched() { "as they happen" } else { "by a look at all files before each answer" }
}
