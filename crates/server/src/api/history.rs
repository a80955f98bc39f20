//! The tool `history`: commits and agents' sessions as text.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::history::{Absent, Bound, Earlier, EntrySource, HistoryEntry, HistoryPlace, HistoryRequest};
use colgrep_engine::request::{check_length, split_lines};
use colgrep_engine::session::corpus::fronts;
use colgrep_engine::{Error, Refused};

use super::ends::ToolAnswer;
use super::page::page;
use super::params;
use super::state::{Root, ServerState};
use super::unserved::{Unserved, check_rest};
use colgrep_render::console::Console;
use colgrep_render::escape::{escape_control, escape_text};
use colgrep_render::line::shortened;
use colgrep_render::path::{in_root, typed};

const ENTRIES_DEFAULT: usize = 10;
/// Greatest number of entries.
const ENTRIES_MAX: usize = 1_000;

/// `history`: of all roots, or of those with the given paths. Entries of several repositories are ranked together.
pub fn history(state: &ServerState, asked: &params::History) -> Result<ToolAnswer> {
    state.check_here()?;
    check_length(asked.query.as_bytes())?;
    let wanted = asked.results.unwrap_or(ENTRIES_DEFAULT).min(ENTRIES_MAX);
    let mut request = request(asked)?;
    let entries = asked.offset.saturating_add(wanted);
    // One more shows whether a page follows.
    request.entries = Some(entries.saturating_add(1));
    let (mut seen, mut lists, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let mut without = None;
    let asked_paths = asked.paths.iter().map(|path| meant(state, path)).collect::<Result<Vec<_>>>()?;
    let mut unserved = if asked.paths.is_empty() { state.lost().to_vec() } else { Vec::new() };
    let fronts = fronts(&state.roots().map(|root| root.folder.as_path()).collect::<Vec<_>>());
    for (root, front) in state.roots().zip(&fronts) {
        let paths = paths_in(state, root, &asked_paths);
        if paths.is_empty() && !asked.paths.is_empty() {
            continue;
        }
        if let Err(error) = state.check(root) {
            unserved.push(Unserved::new(&root.folder, &error));
            continue;
        }
        let settings = state.settings(root)?;
        let place = match HistoryPlace::of(&root.project, &settings, &state.env) {
            Ok(place) => place,
            // Another root may have a history.
            Err(error) => {
                without.get_or_insert(error);
                continue;
            }
        };
        // A folder of a repository shows what concerns the folder; two roots of one repository show it once.
        let paths = if paths.is_empty() && !root.below.is_empty() { vec![".".to_string()] } else { paths };
        if paths.is_empty() && seen.contains(&place.store.folder().to_path_buf()) {
            continue;
        }
        seen.push(place.store.folder().to_path_buf());
        let query = request.query.as_deref().map(|query| from_root(query, front, &root.folder));
        let request = HistoryRequest { query, folder: root.folder.clone(), paths, ..request.clone() };
        let model = if request.query.is_some() { state.model(root)? } else { None };
        let console = Console::new(true, &state.env);
        let answer = match place.answer(&request, (&settings, &state.env), model, &*console) {
            Err(error @ Error::Refused(Refused::NoHistory { .. })) => {
                without.get_or_insert(error);
                continue;
            }
            answer => answer?,
        };
        // With several roots, a path begins with its root's name.
        let named = |folder: &Path, path: &str| in_root(&folder.join(path)).unwrap_or_else(|| path.to_string());
        for place in &answer.uncommitted {
            remarks.push(format!("{} is not committed yet", named(&root.folder, place)));
        }
        for earlier in &answer.earlier {
            let names = earlier.names.iter().map(|name| served(root, name).unwrap_or_else(|| name.clone())).collect();
            remarks.push(Earlier { path: named(&root.folder, &earlier.path), names }.to_string());
        }
        for absent in answer.absent {
            remarks.push(match absent {
                Absent::Path(path) => Absent::Path(named(&root.folder, &path)).to_string(),
                // Another root's history may have it.
                Absent::Words(_) if state.roots().nth(1).is_some() => continue,
                absent => absent.to_string(),
            });
        }
        let mut entries = answer.entries;
        for entry in &mut entries {
            // Files outside the root can't be requested here.
            entry.files = entry.files.iter().filter_map(|path| served(root, path)).collect();
            entry.score *= answer.strength;
        }
        lists.push(entries);
    }
    if lists.is_empty() {
        check_rest(without.is_none(), &unserved)?;
        if let Some(error) = without {
            return Err(error.into());
        }
        bail!("{} lies outside the roots of this server", asked.paths.join(", "));
    }
    let blocks: Vec<String> = merged(lists, request.query.is_some()).iter().map(block).collect();
    let more = blocks.len() > entries;
    // Report a remark that applies to several roots once.
    let mut told: Vec<String> = Vec::new();
    for remark in remarks {
        let line = format!("({})\n", escape_control(&remark));
        if !told.contains(&line) {
            told.push(line);
        }
    }
    let text = page(&blocks[..blocks.len().min(entries)], asked.offset, asked.max_tokens, "entry", more);
    Ok(ToolAnswer::without(text, told.concat(), unserved))
}

/// A file of a project (`path` from its root) in the form that the server's tools take; `None` outside all roots.
fn served(root: &Root, path: &str) -> Option<String> {
    let full = root.project.root.join(path);
    in_root(&full).or_else(|| Some(full.strip_prefix(&root.folder).ok()?.to_string_lossy().into_owned()))
}

/// A question to one of several roots: a path in it that begins with the root's name becomes relative to the root.
fn from_root(query: &str, front: &str, folder: &Path) -> String {
    let of_word = |word: &str| {
        // The path may follow quotes.
        let (before, path) = word.split_at(word.find(|c: char| c.is_alphanumeric() || "._".contains(c)).unwrap_or(0));
        let is_there = || folder.join(path.trim_end()).exists();
        let rest = path.strip_prefix(front).filter(|rest| !rest.trim().is_empty() && !is_there());
        rest.map_or_else(|| word.to_string(), |rest| format!("{before}{rest}"))
    };
    if front.is_empty() { query.to_string() } else { query.split_inclusive(char::is_whitespace).map(of_word).collect() }
}

/// The entries of all histories: by their scores, which were made comparable, or the newest first where nothing is
/// looked for. Of equal ones, those of each history take turns. A commit of a repository that two roots lie in is one entry
/// with the files of both.
fn merged(lists: Vec<Vec<HistoryEntry>>, is_ranked: bool) -> Vec<HistoryEntry> {
    let of_list = |list: Vec<HistoryEntry>| list.into_iter().enumerate();
    let mut entries: Vec<(usize, HistoryEntry)> = lists.into_iter().flat_map(of_list).collect();
    entries.sort_by(|(rank, one), (other_rank, other)| {
        let order = if is_ranked { other.score.total_cmp(&one.score) } else { other.seconds.cmp(&one.seconds) };
        order.then(rank.cmp(other_rank))
    });
    let mut whole: Vec<HistoryEntry> = Vec::with_capacity(entries.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for (_, entry) in entries {
        match known.get(&entry.id) {
            Some(&at) => {
                let files = &mut whole[at].files;
                files.extend(entry.files);
                files.sort_unstable();
                files.dedup();
            }
            None => {
                known.insert(entry.id.clone(), whole.len());
                whole.push(entry);
            }
        }
    }
    whole
}

/// The request to every root, without its folder and paths.
fn request(asked: &params::History) -> Result<HistoryRequest> {
    if asked.commits && asked.sessions {
        bail!("the parameter `commits` cannot be used with `sessions`; leave out both for all of the history");
    }
    let bound = |name: &'static str, text: &Option<String>| -> Result<Option<Bound>> {
        text.as_deref().map(|text| Bound::read(text).context(name)).transpose()
    };
    Ok(HistoryRequest {
        query: Some(asked.query.clone()).filter(|query| !query.trim().is_empty()),
        sources: match (asked.commits, asked.sessions) {
            (true, false) => vec![EntrySource::Commit],
            (false, true) => vec![EntrySource::Session],
            _ => Vec::new(),
        },
        since: bound("since", &asked.since)?,
        until: bound("until", &asked.until)?,
        not_sessions: asked.not_session.iter().cloned().collect(),
        whole: asked.content,
        ..HistoryRequest::default()
    })
}

/// A path as it was written, perhaps with lines; of several roots where [`ServerState::meant`] finds it, in full.
fn meant(state: &ServerState, written: &str) -> Result<String> {
    if state.roots().nth(1).is_none() {
        return Ok(written.to_string());
    }
    let file = split_lines(written).map_or(written, |(file, _)| file);
    let whole = state.meant(written)?.filter(|full| full.exists());
    let (full, lines) = match whole {
        Some(full) => (Some(full), ""),
        None => (state.meant(file)?, &written[file.len()..]),
    };
    Ok(full.map_or_else(|| written.to_string(), |full| format!("{}{lines}", full.display())))
}

/// The paths in a root, compared by components because the files may be gone. With several roots they become relative
/// to it, and a path in a nested root belongs to that root.
fn paths_in(state: &ServerState, root: &Arc<Root>, paths: &[String]) -> Vec<String> {
    let are_several = state.roots().nth(1).is_some();
    let inside = |path: &String| {
        let mut parts = PathBuf::new();
        for part in root.folder.join(path).components() {
            match part {
                Component::ParentDir => drop(parts.pop()),
                Component::CurDir => {}
                other => parts.push(other),
            }
        }
        let rest = parts.strip_prefix(&root.folder).ok()?;
        if !are_several {
            return Some(path.clone());
        }
        let is_own = state.around(&parts).is_some_and(|around| Arc::ptr_eq(around, root));
        let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
        is_own.then(|| rest.to_string_lossy().into_owned())
    };
    paths.iter().filter_map(inside).collect()
}

/// An entry: its line, the files that it mentions, and its text where that is wanted.
fn block(entry: &HistoryEntry) -> String {
    let name = match &entry.place {
        Some((path, line)) => {
            format!("{}:{line}: {}", typed(Path::new("/"), &path.to_string_lossy()), entry.date)
        }
        None => format!("{} {}", entry.short, entry.date),
    };
    let mut block = format!("{} {}\n", escape_control(&name), shortened(&escape_control(&entry.subject)));
    if !entry.files.is_empty() {
        block.push_str(&format!("    {}\n", shortened(&escape_control(&entry.files.join(" ")))));
    }
    for line in entry.text.iter().flat_map(|text| text.lines()) {
        block.push_str(&format!("    {}\n", shortened(&escape_text(line))));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_begins_with_a_roots_name_is_meant_from_the_root() {
        let nowhere = Path::new("/nowhere");
        for (query, front, expected) in [
            ("gin/render/json.go", "gin/", "render/json.go"),
            ("why `gin/render/json.go` is so", "gin/", "why `render/json.go` is so"),
            ("gin/render/json.go", "oban/", "gin/render/json.go"),
            ("begin/render gin/ gin", "gin/", "begin/render gin/ gin"),
            ("gin/render/json.go", "", "gin/render/json.go"),
        ] {
            assert_eq!(from_root(query, front, nowhere), expected, "{query} {front}");
        }
    }
}
