//! The tool `impact`: what else a change affects.

use std::sync::Arc;

use anyhow::{Result, bail};
use colgrep_engine::project::git::versions;
use colgrep_engine::relations::changed::{ChangedCode, LineSpan};
use colgrep_engine::relations::graph::CallGraph;
use colgrep_engine::relations::impact::{IMPACT_FILES_DEFAULT, changed_at};
use colgrep_engine::request::near::check_place;
use colgrep_engine::request::unread_line;
use colgrep_engine::session::project_searcher::{ProjectSearcher, Within};
use colgrep_engine::{
    ChangeSpec, Error as EngineError, GitChange, ImpactAnswer, ImpactRequest, Refused, Scope, Standpoint, Tests,
};
use colgrep_index::update::ReadFirst;
use colgrep_render::related::{affected_line, of_modes};
use colgrep_render::words::{counted, in_short};

use super::ends::ToolAnswer;
use super::page::page;
use super::params;
use super::ranking::{remarks_on, repaired};
use super::read::written_lines;
use super::state::{Root, ServerState};

/// Greatest number of files.
const FILES_MAX: usize = 1_000;

enum RootChange {
    Git(GitChange),
    /// Files, from the root of their project, of which the units on lines, or else all units, are taken as changed.
    Places(Vec<(String, Option<LineSpan>)>),
}

/// `impact`: of the root with the named files, or of each root that git knows the change of.
pub fn impact(state: &ServerState, asked: &params::Impact) -> Result<ToolAnswer> {
    state.check_here()?;
    let wanted = asked.results.unwrap_or(IMPACT_FILES_DEFAULT).min(FILES_MAX);
    let end = asked.offset.saturating_add(wanted);
    let mut request = ImpactRequest::new(ChangeSpec::Git(GitChange::Uncommitted));
    // One more shows whether a page follows.
    request.files = end.saturating_add(1);
    if let Some(name) = &asked.tests {
        let Some(tests) = Tests::from_name(name) else { bail!("tests takes auto, only or exclude, not {name:?}") };
        request.tests = tests;
    }
    let (roots, change) = meant(state, &asked.change)?;
    let (mut rows, mut remarks, mut failed) = (Vec::new(), String::new(), None);
    let (mut files, mut units, mut answered, mut modes) = (0, 0, 0, Vec::new());
    for root in &roots {
        let answer = repaired(&[(*root, vec![root.below.clone()])], || in_root(state, root, &change, &request));
        let (answer, told) = match answer {
            Ok(answer) => answer,
            // Another root may know the change.
            Err(error) if roots.len() > 1 => {
                failed.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        answered += 1;
        files += answer.changed.files.len() as u64;
        units += answer.changed.units.len() as u64;
        modes.extend(answer.changed.modes);
        remarks.push_str(&told);
        rows.extend(answer.affected.iter().map(|one| (one.score, affected_line(one))));
    }
    if let Some(error) = failed.filter(|_| answered == 0) {
        return Err(error);
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let blocks: Vec<String> = rows.into_iter().map(|(_, line)| line).collect();
    let more = blocks.len() > end;
    let text = match blocks.is_empty() {
        true => "no other file is affected\n".to_string(),
        false => page(&blocks[..blocks.len().min(end)], asked.offset, asked.max_tokens, "file", more),
    };
    if files == 0 && !modes.is_empty() {
        remarks.push_str(&format!("({})\n", of_modes(&modes)));
    }
    remarks.push_str(&format!("({} in {})\n", counted(units, "changed unit"), counted(files, "file")));
    Ok(ToolAnswer { text, remarks, ..ToolAnswer::default() })
}

/// The roots of a change, and the change: places if all words are files, otherwise what git knows.
fn meant<'s>(state: &'s ServerState, words: &[String]) -> Result<(Vec<&'s Arc<Root>>, RootChange)> {
    let words: Vec<&str> = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    let mut places: Vec<(&Arc<Root>, String, Option<LineSpan>)> = Vec::new();
    let mut missing = None;
    let is_file = |path: &str| state.locate(path).is_ok_and(|(_, full, _)| full.is_file());
    for word in &words {
        if let Some(unread) = unread_line(word, is_file, is_file) {
            return Err(EngineError::from(Refused::not_a_line(unread)).into());
        }
        let (file, lines) = written_lines(state, word);
        match state.locate(file) {
            Ok((root, full, below)) if full.is_file() => {
                let at = Standpoint { file: full, line: lines.map(|(first, _)| first) };
                check_place(&at, &root.project.root, &below)?;
                places.push((root, below, lines));
            }
            _ => _ = missing.get_or_insert(*word),
        }
    }
    match (missing, words.as_slice()) {
        (_, []) => Ok((state.roots().collect(), RootChange::Git(GitChange::Uncommitted))),
        // Git walks the whole history with the caller's pattern, for minutes if that is chosen so.
        (Some(_), [name]) if name.contains("{/") || name.starts_with(":/") => {
            bail!("{:?} is a pattern of messages; name a commit by its hash, a branch or a tag", in_short(name))
        }
        (Some(_), [name]) => Ok((state.roots().collect(), RootChange::Git(GitChange::named(name)))),
        (Some(missing), _) => {
            bail!("there is no file {:?}; name one commit, one A...B, or files", in_short(missing))
        }
        (None, _) => {
            let root = places[0].0;
            if places.iter().any(|(other, ..)| !Arc::ptr_eq(other, root)) {
                bail!("the files of one change are of one root; ask for each root");
            }
            let files = places.into_iter().map(|(_, below, lines)| (below, lines)).collect();
            Ok((vec![root], RootChange::Places(files)))
        }
    }
}

/// What a change affects in one root, with remarks on its index.
fn in_root(
    state: &ServerState,
    root: &Arc<Root>,
    change: &RootChange,
    request: &ImpactRequest,
) -> Result<(ImpactAnswer, String)> {
    let (snapshot, settings, _) = state.opened(root, &ReadFirst::default())?;
    let within = Within::paths(vec![root.below.clone()]);
    let stops = || state.end.has_come();
    let place =
        ProjectSearcher::new(root.project.clone(), snapshot, within, &Scope::default(), false, &settings, &stops)?;
    let changed = match change {
        RootChange::Places(places) => changed_at(&CallGraph::new(&place.snapshot), places)?,
        RootChange::Git(change) => {
            // Files outside the root are not read.
            let mut folder = root.project.clone();
            folder.root.clone_from(&root.folder);
            let mut files = versions(&folder, change)?;
            for file in files.iter_mut().filter(|_| !root.below.is_empty()) {
                file.path = format!("{}/{}", root.below, file.path);
            }
            ChangedCode::of(&files)
        }
    };
    let remarks = remarks_on(root, &place, None);
    Ok((place.impact(changed, &state.past(&settings), request)?, remarks))
}
