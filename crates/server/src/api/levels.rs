//! The tool `search` with a `depth`: calls over several levels.

use anyhow::{Result, bail};
use colgrep_engine::request::Facts;
use colgrep_engine::session::project_searcher::{ProjectSearcher, Within};
use colgrep_engine::{CallDirection, Question, Scope, UnknownCalls};
use colgrep_index::update::ReadFirst;
use colgrep_render::empty::Naming;
use colgrep_render::empty::of_units;
use colgrep_render::escape::escape_control;
use colgrep_render::path::typed;
use colgrep_render::related::{common_names, level_line};

use super::ends::{ToolAnswer, remark};
use super::page::page;
use super::params;
use super::ranking::{RootPaths, remarks_on, repaired};
use super::state::ServerState;
use super::tools::{facts, limits, places, scope};
use super::unserved::{Unserved, check_rest};

/// Where calls are followed from, and in which direction.
///
/// # Errors
/// When not one of `calls` and `called_by` is given.
pub fn call_start(facts: &Facts) -> Result<(&[String], CallDirection)> {
    match (facts.calls.is_empty(), facts.called_by.is_empty()) {
        (false, true) => Ok((&facts.calls, CallDirection::Callers)),
        (true, false) => Ok((&facts.called_by, CallDirection::Callees)),
        _ => bail!("depth follows one of `calls` and `called_by`"),
    }
}

/// The units that are reached by calls, from the names of `calls` or of `called_by`.
pub fn levels(state: &ServerState, asked: &params::Search, depth: usize) -> Result<ToolAnswer> {
    state.check_here()?;
    let facts = facts(asked)?;
    let (names, direction) = call_start(&facts)?;
    // The names are where calls begin, not what is shown.
    let mut shown = state.with_names(&scope(asked)?);
    (shown.facts.calls, shown.facts.called_by) = (Vec::new(), Vec::new());
    let (roots, is_everywhere) = places(state, asked)?;
    let (mut blocks, mut remarks, mut unserved) = (Vec::new(), String::new(), Vec::new());
    let (mut answered, mut is_cut, mut has_files) = (0, false, false);
    let mut unknown = UnknownCalls::default();
    if is_everywhere {
        unserved.extend_from_slice(state.lost());
    }
    for place in &roots {
        let reached = repaired(std::slice::from_ref(place), || {
            reached(state, place, (&facts, &shown), (names, direction, depth))
        });
        let ReachedLines { lines, remarks: told, is_cut: cut, has_files: has, unknown: names } = match reached {
            Ok(reached) => reached,
            Err(error) if roots.len() == 1 => return Err(error),
            Err(error) => {
                unserved.push(Unserved::new(&place.0.folder, &error));
                continue;
            }
        };
        answered += 1;
        is_cut |= cut;
        has_files |= has;
        unknown.are_named |= names.are_named;
        unknown.languages.extend(names.languages);
        remarks.push_str(&told);
        blocks.extend(lines);
    }
    check_rest(answered == 0, &unserved)?;
    if blocks.is_empty() && remarks.is_empty() {
        remarks.push_str(&remark(of_units(&limits(asked)?, &Question::Every, has_files, &unknown, Naming::Parameters)));
    }
    if is_cut {
        remarks.push_str("(there are more units; a lower `depth` or `paths` limit the list)\n");
    }
    let text = page(&blocks, asked.offset.unwrap_or_default(), asked.max_tokens, "unit", false);
    Ok(ToolAnswer::without(text, remarks, unserved))
}

/// The units of one root.
struct ReachedLines {
    /// A line each.
    lines: Vec<String>,
    remarks: String,
    /// Whether there are more.
    is_cut: bool,
    /// Whether the filters leave any file.
    has_files: bool,
    unknown: UnknownCalls,
}

fn reached(
    state: &ServerState,
    (root, below): &RootPaths<'_>,
    (facts, scope): (&Facts, &Scope),
    (names, direction, depth): (&[String], CallDirection, usize),
) -> Result<ReachedLines> {
    let (snapshot, settings, _) = state.opened(root, &ReadFirst::default())?;
    let within = Within::paths(below.clone());
    let stops = || state.end.has_come();
    let place = ProjectSearcher::new(root.project.clone(), snapshot, within, scope, false, &settings, &stops)?;
    let answer = place.call_levels(names, direction, depth)?;
    let mut remarks = remarks_on(root, &place, None);
    remarks.extend(common_names(&answer).map(|told| format!("({told})\n")));
    let name = |path: &str| escape_control(&typed(&root.project.root, path));
    let lines = answer.rows.iter().map(|row| level_line(&name(&row.file.path), row, direction)).collect();
    let has_files = !answer.rows.is_empty() || place.has_files();
    let mut unknown = UnknownCalls::default();
    if answer.rows.is_empty() {
        place.add_unknown_calls(facts, &mut unknown)?;
    }
    Ok(ReachedLines { lines, remarks, is_cut: answer.is_cut, has_files, unknown })
}
