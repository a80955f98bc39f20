//! `colgrep knobs`: every constant of the ranking, its value in force, and where it comes from.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use colgrep_core::knob::{Knob, Knobs, Profile, Shape};
use colgrep_core::rank;
use colgrep_engine::env::Env;
use colgrep_engine::project::settings_at;
use serde_json::json;

use crate::FOUND;
use crate::args::KnobsArgs;

pub(super) fn run(args: &KnobsArgs, env: &Env) -> Result<u8> {
    let settings = settings_at(Path::new("."), env)?;
    let knobs = settings.knobs(env, args.profile.as_deref(), None)?;
    let mut out = std::io::stdout().lock();
    if args.markdown {
        write!(out, "{}", markdown())?;
    } else if args.json {
        let rows: Vec<_> = rank::knobs().iter().map(|k| as_json(k, &knobs, env)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
    } else {
        for knob in rank::knobs() {
            let from = match (env.knobs.contains_key(knob.env), knobs.is_set(knob)) {
                (true, _) => "environment",
                (false, true) => "settings",
                (false, false) => knobs.profile().name(),
            };
            let (low, high) = knob.range;
            writeln!(out, "{}={}  ({from}; {low} to {high})", knob.env, knobs.exact(knob))?;
            writeln!(out, "    {} [{}]", knob.doc, knob.source)?;
        }
    }
    Ok(FOUND)
}

fn as_json(knob: &Knob, knobs: &Knobs, env: &Env) -> serde_json::Value {
    json!({
        "name": knob.env,
        "value": knobs.exact(knob),
        "set_by_environment": env.knobs.contains_key(knob.env),
        "set_by_settings": knobs.is_set(knob) && !env.knobs.contains_key(knob.env),
        "default": knob.value_in(Profile::Default),
        "classic": knob.value_in(Profile::Classic),
        "range": [knob.range.0, knob.range.1],
        "shape": match knob.shape { Shape::Real => "real", Shape::Whole => "whole", Shape::Switch => "switch" },
        "grid": knob.grid,
        "doc": knob.doc,
        "source": knob.source,
    })
}

/// The table of `docs/generated/knobs.md`; a test keeps that file current.
pub fn markdown() -> String {
    let mut text = String::from(
        "<!-- Made by `colgrep knobs --markdown`; a test keeps it current. -->\n\n| knob | default | classic | range | what it does | source |\n|---|---|---|---|---|---|\n",
    );
    for knob in rank::knobs() {
        let (low, high) = knob.range;
        text += &format!(
            "| `{}` | {} | {} | {low} – {high} | {} | {} |\n",
            knob.env, knob.default, knob.classic, knob.doc, knob.source
        );
    }
    text
}
