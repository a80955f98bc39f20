//! `colgrep set-model ID|FOLDER`: writes the setting `model`, after a look at what is named.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::FOUND;
use crate::args::SetModelArgs;
use crate::env::Env;
use crate::settings;

/// Files of which a model's folder holds one.
const WEIGHTS: [&str; 2] = ["model.onnx", "model_int8.onnx"];
/// The file that every model's folder holds.
const TOKENIZER: &str = "tokenizer.json";

/// Checks a model's folder or a hub's name and gives the form that is kept: folders absolute.
///
/// # Errors
/// When a folder lacks files, or the name is neither a folder nor a hub's.
pub fn checked(model: &str) -> Result<String> {
    let folder = Path::new(model);
    if folder.is_dir() {
        let full = folder.canonicalize().with_context(|| model.to_string())?;
        if !WEIGHTS.iter().any(|w| full.join(w).is_file()) {
            bail!("{} holds no {}", full.display(), WEIGHTS.join(" and no "));
        }
        if !full.join(TOKENIZER).is_file() {
            bail!("{} holds no {TOKENIZER}", full.display());
        }
        return Ok(full.to_string_lossy().into_owned());
    }
    let in_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match model.split_once('/') {
        Some((owner, name)) if in_name(owner) && in_name(name) => Ok(model.to_string()),
        _ => bail!("{model:?} is no folder and no hub's name; write a name as lightonai/LateOn-Code-edge"),
    }
}

pub(super) fn run(args: &SetModelArgs, env: &Env) -> Result<u8> {
    let model = checked(&args.model)?;
    let path = env.settings_file().context("no folder for settings is known here; set XDG_CONFIG_HOME to one")?;
    let quoted = serde_json::to_string(&model)?;
    settings::write(&path, "model", &quoted)?;
    remark!("model = {model}, written to {}; this build ranks by words alone and will not use it yet", path.display());
    Ok(FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_folders_or_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert!(checked(path).unwrap_err().to_string().contains("holds no model.onnx"));
        std::fs::write(folder.path().join("model_int8.onnx"), "").unwrap();
        assert!(checked(path).unwrap_err().to_string().contains("holds no tokenizer.json"));
        std::fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
        assert!(Path::new(&checked(path).unwrap()).is_absolute());
        for (name, fits) in
            [("lightonai/LateOn-Code-edge", true), ("nosuchfolder", false), ("a/b/c", false), ("../x", false)]
        {
            assert_eq!(checked(name).is_ok(), fits, "{name}");
        }
    }
}
