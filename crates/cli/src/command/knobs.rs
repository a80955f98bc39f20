//! `colgrep knobs`: every constant of the ranking, its value in force, and where it comes from.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use colgrep_core::knob::{Knob, KnobShape, Knobs, Profile};
use colgrep_engine::RankingOptions;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::env::{Env, profile};
use colgrep_engine::settings::variable::variable;
use serde_json::json;

use crate::FOUND;
use crate::args::KnobsArgs;

pub(super) fn run(args: &KnobsArgs, env: &Env) -> Result<u8> {
    let settings = settings_at(Path::new("."), env)?;
    let mut ranking = RankingOptions::default();
    ranking.profile = args.profile.as_deref().map(profile).transpose()?;
    let knobs = settings.knobs(env, &ranking)?;
    let mut out = std::io::stdout().lock();
    if args.markdown {
        write!(out, "{}", markdown())?;
    } else if args.json {
        let rows: Vec<_> = Knob::ALL.iter().map(|k| as_json(*k, &knobs, env)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
    } else {
        for &knob in Knob::ALL {
            let from = match (env.knobs.contains_key(&knob), knobs.is_set(knob)) {
                (true, _) => "environment",
                (false, true) => "settings",
                (false, false) => knobs.profile().name(),
            };
            let declared = knob.declaration();
            let (low, high) = declared.range;
            writeln!(out, "{}={}  ({from}; {low} to {high})", variable(knob), knobs.number(knob))?;
            writeln!(out, "    {} [{}]", declared.doc, declared.source)?;
        }
    }
    Ok(FOUND)
}

fn as_json(knob: Knob, knobs: &Knobs, env: &Env) -> serde_json::Value {
    let declared = knob.declaration();
    json!({
        "name": variable(knob),
        "value": knobs.number(knob),
        "set_by_environment": env.knobs.contains_key(&knob),
        "set_by_settings": knobs.is_set(knob) && !env.knobs.contains_key(&knob),
        "default": declared.value_in(Profile::Default),
        "classic": declared.value_in(Profile::Classic),
        "range": [declared.range.0, declared.range.1],
        "shape": match declared.shape { KnobShape::Real => "real", KnobShape::Whole => "whole", KnobShape::Switch => "switch" },
        "grid": declared.grid,
        "doc": declared.doc,
        "source": declared.source,
    })
}

/// The table of `docs/generated/knobs.md`; a test keeps that file current.
pub fn markdown() -> String {
    let mut text = String::from(
        "<!-- Made by `colgrep knobs --markdown`; a test keeps it current. -->\n\n| knob | default | classic | range | what it does | source |\n|---|---|---|---|---|---|\n",
    );
    for knob in Knob::ALL {
        let declared = knob.declaration();
        let (low, high) = declared.range;
        text += &format!(
            "| `{}` | {} | {} | {low}–{high} | {} | {} |\n",
            variable(*knob),
            declared.default,
            declared.classic,
            declared.doc,
            declared.source
        );
    }
    text
}
