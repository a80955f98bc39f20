//! The tool `search`: what its parameters ask for. One tool ranks, lists lines, reads a unit and finds similar ones.

use anyhow::{Result, bail};
use colgrep_index::ids::StableId;
use colgrep_render::words::in_short;

use super::ends::ToolAnswer;
use super::files::{lines_of, outline};
use super::levels::levels;
use super::params;
use super::read::{NamesWithin, read_named, read_unit, written_lines};
use super::state::ServerState;
use super::tools::{facts, pattern, places, rank, related_within, scope};

pub fn search(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    let [name, file, like] = [&asked.name, &asked.file, &asked.like].map(|text| text.trim());
    if ![name, like].concat().is_empty() {
        state.check_here()?;
    }
    if !like.is_empty() {
        if !like.starts_with('#') && state.locate(written_lines(state, like).0).is_err() {
            bail!("like takes FILE:LINE or the #id of a unit, and {:?} is no file here", in_short(like));
        }
        return related_within(state, &related(like, asked), scope(asked)?, places(state, asked)?.0);
    }
    if !name.is_empty() || has_lines(state, file) {
        let unit = unit(state, name, file, asked);
        let is_folder = || state.locate(&unit.file).is_ok_and(|(_, full, _)| full.is_dir());
        if unit.id.is_empty() && (unit.file.is_empty() || is_folder()) {
            let mut asked = asked.clone();
            asked.paths.extend(Some(unit.file.clone()).filter(|folder| !folder.is_empty()));
            let ((roots, is_everywhere), kinds) = (places(state, &asked)?, facts(&asked)?.kinds);
            return read_named(state, name, &unit, &NamesWithin { roots, kinds, is_everywhere });
        }
        return read_unit(state, &unit);
    }
    let is_ranking = !asked.query.trim().is_empty() || !asked.queries.is_empty() || !facts(asked)?.allow_all();
    if let (true, Some(depth)) = (file.is_empty(), asked.depth.filter(|depth| *depth > 0)) {
        return levels(state, asked, depth);
    }
    if file.is_empty() {
        return match is_ranking || pattern(asked).is_none() {
            true => rank(state, asked),
            false => lines(state, asked),
        };
    }
    if !is_ranking && pattern(asked).is_none() {
        let (file, offset) = (file.to_string(), asked.offset.unwrap_or_default());
        let asked = params::Outline { file, offset, max_tokens: asked.max_tokens, ..params::Outline::default() };
        return Ok(outline(state, &asked)?.into());
    }
    let mut narrowed = asked.clone();
    narrowed.paths.push(std::mem::take(&mut narrowed.file));
    search(state, &narrowed)
}

/// Whether a file is written with lines.
fn has_lines(state: &ServerState, written: &str) -> bool {
    let (file, lines) = written_lines(state, written);
    lines.is_some() && state.locate(file).is_ok()
}

/// The unit to read: of a name, an id, or a place as answers write it.
fn unit(state: &ServerState, name: &str, file: &str, asked: &params::Search) -> params::ReadUnit {
    // `#secret` is a name in JavaScript.
    let (id, name) = match name.strip_prefix('#').filter(|id| id.parse::<StableId>().is_ok()) {
        Some(id) => (id, ""),
        None => ("", name),
    };
    let (name, file) = if file.is_empty() && has_lines(state, name) { ("", name) } else { (name, file) };
    params::ReadUnit {
        id: id.to_string(),
        file: file.to_string(),
        name: Some(name.to_string()),
        offset: asked.offset,
        max_tokens: asked.max_tokens,
        ..params::ReadUnit::default()
    }
}

/// Units like the one at a place or with an id.
fn related(like: &str, asked: &params::Search) -> params::Related {
    let (id, file) = match like.strip_prefix('#') {
        Some(id) => (id, asked.file.trim()),
        None => ("", like),
    };
    params::Related {
        id: id.to_string(),
        file: file.to_string(),
        results: asked.results,
        offset: asked.offset.unwrap_or_default(),
        content: asked.content,
        lines: asked.lines,
        max_tokens: asked.max_tokens,
        ..params::Related::default()
    }
}

/// Every line with the pattern.
fn lines(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    let wanted = params::Grep {
        pattern: pattern(asked).cloned().unwrap_or_default(),
        paths: asked.paths.clone(),
        groups: asked.groups.clone(),
        fixed: asked.fixed,
        ignore_case: asked.ignore_case,
        word: asked.word,
        context: asked.context.or(asked.lines).unwrap_or_default(),
        offset: asked.offset.unwrap_or_default(),
        max_tokens: asked.max_tokens,
        ..params::Grep::default()
    };
    lines_of(state, &wanted, scope(asked)?, false)
}
