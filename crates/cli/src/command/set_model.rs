//! `colgrep set-model ID|FOLDER`: writes the setting `model`, once the model that is named was opened.

use colgrep_render::remark;
use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_encoder::ModelSpec;
use colgrep_engine::project::model::runtime;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::env::Env;

use crate::FOUND;
use crate::args::SetModelArgs;
use crate::settings;

/// Opens a model and returns the form in which its name is stored: folders absolute.
pub(super) fn checked(name: &str, env: &Env) -> Result<String> {
    let spec = match ModelSpec::parse(name)? {
        ModelSpec::Folder(path) => {
            ModelSpec::Folder(path.canonicalize().with_context(|| format!("{}", path.display()))?)
        }
        spec => spec,
    };
    colgrep_encoder::open(&spec, &runtime(env))?;
    Ok(spec.to_string())
}

pub(super) fn run(args: &SetModelArgs, env: &Env) -> Result<u8> {
    let model = checked(&args.model, env)?;
    let path = env.settings_file().context("no folder for settings is known here; set XDG_CONFIG_HOME to one")?;
    let quoted = serde_json::to_string(&model)?;
    let alone = settings::alone(env);
    settings::write(&path, "model", &quoted)?;
    drop(alone);
    remark!(
        "model = {model}, written to {}; `colgrep init` in a project replaces the vectors of another model",
        path.display()
    );
    if let Some(file) = settings_at(Path::new("."), env)?.repository_model() {
        remark!("here {} names a model too, and goes before it", file.display());
    }
    Ok(FOUND)
}
