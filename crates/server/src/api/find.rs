//! The tool `search`: what its parameters ask for. One tool ranks, lists lines, reads a unit and finds similar ones.

use std::sync::Arc;

use anyhow::{Result, bail};
use colgrep_engine::Scope;
use colgrep_engine::request::filter::allows_path;
use colgrep_engine::request::rules::{PathRules, is_below};
use colgrep_index::ids::StableId;
use colgrep_index::update::ReadFirst;
use colgrep_render::words::in_short;

use super::ends::ToolAnswer;
use super::files::{lines_of, outline};
use super::forms::{SearchForm, has_limits};
use super::levels::{call_start, levels};
use super::params;
use super::ranking::RootPaths;
use super::read::{NamesWithin, mistyped, read_in_file, read_named, written_lines};
use super::state::ServerState;
use super::tools::{facts, pattern, places, rank, related_within, scope, wanted as wanted_files};

pub fn search(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    let [name, file, like] = [&asked.name, &asked.file, &asked.like].map(|text| text.trim());
    if ![name, like].concat().is_empty() {
        state.check_here()?;
    }
    let form = form(state, asked)?;
    let asked = &without_redundancy(state, asked, form)?;
    form.check(asked)?;
    let narrowed = || {
        let mut narrowed = asked.clone();
        let around = asked.context.filter(|lines| *lines > 0 && asked.lines.unwrap_or(0) == 0);
        narrowed.lines = around.or(asked.lines);
        narrowed.paths.extend(Some(std::mem::take(&mut narrowed.file)).filter(|file| !file.trim().is_empty()));
        narrowed
    };
    match form {
        SearchForm::Similar => {
            state.check_lines(like)?;
            if !like.starts_with('#') && state.locate(written_lines(state, like).0).is_err() {
                bail!(
                    "like takes FILE:LINE or the #id of a unit, and {:?} is no file here; lines count from 1",
                    in_short(like)
                );
            }
            // Beside an id, the file says which root's unit is meant.
            let within = if like.starts_with('#') { asked.clone() } else { narrowed() };
            related_within(state, &related(like, &narrowed()), scope(asked)?, places(state, &within)?.0)
        }
        SearchForm::Name => {
            state.check_lines(name)?;
            let within = NamesWithin { roots: places(state, &narrowed())?.0, scope: scope(asked)? };
            read_named(state, name, &unit(state, name, "", asked), &within)
        }
        SearchForm::NameInFile | SearchForm::Place => {
            read_in_file(state, &unit(state, name, file, asked), &facts(asked)?.kinds)
        }
        SearchForm::Levels => levels(state, &narrowed(), asked.depth.unwrap_or(1)),
        SearchForm::Ranking | SearchForm::List => {
            let mut answer = rank(state, &narrowed())?;
            let names = asked.calls.iter().chain(&asked.called_by).filter(|name| !name.trim().is_empty());
            if answer.hits.as_ref().is_none_or(Vec::is_empty) && state.shards().is_none() {
                let within = NamesWithin { roots: places(state, &narrowed())?.0, scope: Scope::default() };
                answer.remarks.push_str(&mistyped(state, names, &within)?);
            }
            Ok(answer)
        }
        SearchForm::Lines => lines(state, &narrowed()),
        SearchForm::Outline => {
            let (file, offset, project) = (file.to_string(), asked.offset.unwrap_or_default(), String::new());
            let asked = params::Outline { file, all: asked.all, offset, project, max_tokens: asked.max_tokens };
            Ok(outline(state, &asked)?.into())
        }
    }
}

/// The same call without limits that the file it names passes: many agents say twice where they look.
fn without_redundancy(state: &ServerState, asked: &params::Search, form: SearchForm) -> Result<params::Search> {
    let mut alone = asked.clone();
    let file = written_lines(state, asked.file.trim()).0;
    let Ok((root, full, below)) = state.locate(file) else { return Ok(alone) };
    if !full.is_file() || !has_limits(asked) {
        return Ok(alone);
    }
    let (roots, _) = places(state, asked)?;
    let is_inside =
        |(other, paths): &RootPaths<'_>| Arc::ptr_eq(other, root) && paths.iter().any(|path| is_below(&below, path));
    if !roots.iter().any(is_inside) {
        return Ok(alone);
    }
    (alone.paths, alone.groups) = (Vec::new(), Vec::new());
    if form.is_of_file() {
        let (snapshot, settings, _) = state.opened(root, &ReadFirst::default())?;
        let rules = PathRules::new(&state.with_names(&scope(asked)?), false, &settings, &root.project)?.named(&below);
        if allows_path(&below, &rules, &snapshot.files) {
            (alone.include, alone.exclude, alone.languages) = (Vec::new(), Vec::new(), Vec::new());
            (alone.code_only, alone.tests) = (false, None);
        }
    }
    Ok(alone)
}

/// What is asked for.
fn form(state: &ServerState, asked: &params::Search) -> Result<SearchForm> {
    let [name, file, like] = [&asked.name, &asked.file, &asked.like].map(|text| text.trim());
    let facts = facts(asked)?;
    if !like.is_empty() {
        return Ok(SearchForm::Similar);
    }
    if !name.is_empty() || has_lines(state, file) {
        let unit = unit(state, name, file, asked);
        let is_folder = || state.locate(&unit.file).is_ok_and(|(_, full, _)| full.is_dir());
        let is_anywhere = unit.id.is_empty() && (unit.file.is_empty() || is_folder());
        let is_named = unit.id.is_empty() && unit.name.is_some_and(|name| !name.is_empty());
        return Ok(match (is_anywhere, is_named) {
            (true, _) => SearchForm::Name,
            (false, true) => SearchForm::NameInFile,
            (false, false) => SearchForm::Place,
        });
    }
    let has_query = !asked.query.trim().is_empty() || !asked.queries.is_empty();
    let has_depth = asked.depth.is_some_and(|depth| depth > 0);
    if has_depth {
        call_start(&facts)?;
    }
    Ok(match () {
        () if has_depth => SearchForm::Levels,
        () if has_query => SearchForm::Ranking,
        () if !facts.allow_all() => SearchForm::List,
        () if pattern(asked).is_some() => SearchForm::Lines,
        () if !file.is_empty() => SearchForm::Outline,
        () => SearchForm::Ranking,
    })
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
        context: asked.lines.unwrap_or_default(),
        offset: asked.offset.unwrap_or_default(),
        max_tokens: asked.max_tokens,
        ..params::Grep::default()
    };
    let files_max = asked.results.map(|files| wanted_files(Some(files)));
    lines_of(state, &wanted, scope(asked)?, (files_max, false))
}
