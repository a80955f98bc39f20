//! `colgrep settings`: shows values and their sources; writes the user's file.

use colgrep_render::remark;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{
    KEYS, REPOSITORY_FILE, ValueSource, check_name, is_trusted, repository_file, trust, typed, untrust,
};
use serde_json::json;

use super::set_model::checked;
use crate::args::SettingsArgs;
use crate::settings::{alone, remove, write};
use crate::{FOUND, NOTHING};
use colgrep_render::console::told_refused;
use colgrep_render::escape::escape_text;

pub(super) fn run(args: &SettingsArgs, env: &Env) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    let file = || env.settings_file().context("no folder for settings is known here; set XDG_CONFIG_HOME to one");
    // `A B` is a list as well as `A, B` and `[A, B]`, which a shell also takes apart.
    let has_marks = args.value.iter().any(|value| value.ends_with(',') || value.starts_with('['));
    match (&args.key, args.value.join(if has_marks { " " } else { ", " })) {
        (Some(key), value) if !args.value.is_empty() => {
            let path = file()?;
            let value = match key.as_str() {
                // As `set-model` does: with one that can't be opened, every search would fail.
                "model" => serde_json::to_string(&checked(value.trim_matches('"'), env)?)?,
                _ => value,
            };
            let _alone = alone(env);
            let kept = write(&path, key, &value)?;
            remark!("{key} = {kept}, written to {}", path.display());
            return Ok(FOUND);
        }
        (Some(key), _) if args.unset => {
            let path = file()?;
            let _alone = alone(env);
            if remove(&path, key)? {
                remark!("{key} taken out of {}", path.display());
                return Ok(FOUND);
            }
            remark!("{key} is not set in {}", path.display());
            return Ok(NOTHING);
        }
        _ => {}
    }
    if let Some(key) = &args.key {
        check_name(key)?;
    }
    if args.trust || args.untrust {
        return decide(args.trust, env);
    }
    let settings = settings_at(Path::new("."), env)?;
    let rows = settings.all(env);
    let rows: Vec<_> = rows.into_iter().filter(|r| args.key.as_ref().is_none_or(|k| *k == r.0)).collect();
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(key, value, source)| json!({"key": key, "value": typed(key, value), "source": source.to_string()}))
            .collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
        return Ok(FOUND);
    }
    if args.key.is_none() {
        if let Ok(path) = file() {
            let state = if path.is_file() { "" } else { " (not there yet)" };
            writeln!(out, "# user: {}{state}", path.display())?;
        }
        match repository_file(env, Path::new(".")) {
            Some(path) => {
                let trusted = if is_trusted(env, &path) { " (trusted)" } else { "" };
                writeln!(out, "# repository: {}{trusted}", path.display())?;
            }
            None => writeln!(out, "# repository: no {} around this folder", REPOSITORY_FILE)?,
        }
        if let Some(refused) = settings.refused() {
            writeln!(out, "# {}", escape_text(&told_refused(refused)))?;
        }
    }
    for (key, value, source) in &rows {
        // The ranking's constants are many: those at their defaults are `colgrep knobs`' to list.
        if key.starts_with("ranking.") && *source == ValueSource::Default && args.key.is_none() && !args.show {
            continue;
        }
        writeln!(out, "{}", escape_text(&format!("{key} = {value}  ({source})")))?;
        if let Some(known) = KEYS.iter().find(|k| k.name == key).filter(|_| args.key.is_some()) {
            writeln!(out, "    {}", known.doc)?;
        }
    }
    Ok(FOUND)
}

/// Trusts the repository's file around here, or no more.
fn decide(trusted: bool, env: &Env) -> Result<u8> {
    let path = repository_file(env, Path::new("."))
        .with_context(|| format!("there is no {REPOSITORY_FILE} around this folder"))?;
    let _alone = alone(env);
    if trusted {
        trust(env, &path)?;
        remark!("{} is trusted as it is now; any change ends that", path.display());
    } else if !untrust(env, &path)? {
        remark!("{} was not trusted", path.display());
        return Ok(NOTHING);
    } else {
        remark!("{} is no longer trusted", path.display());
    }
    Ok(FOUND)
}
