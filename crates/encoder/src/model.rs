//! Parses names of models, and opens models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Encoder, Error, Native, RuntimeEnv, RuntimeReport};

/// The name of a model, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSpec {
    /// The built-in model.
    #[default]
    Embedded,
    /// An ONNX model's folder, or one of several model files in it.
    Folder(PathBuf),
    /// A model of the Hugging Face hub, `owner/name`.
    Hub(String),
}

impl ModelSpec {
    /// Parses a name: `default`, a folder, or `owner/name`. That is one of the hub even where the current folder has
    /// such a folder: a clone could bring its own model under the name of the user's.
    ///
    /// # Errors
    /// [`Error::UnknownModel`] for any other text.
    pub fn parse(text: &str) -> Result<ModelSpec, Error> {
        let path = Path::new(text);
        if text == "default" {
            return Ok(ModelSpec::Embedded);
        }
        if path.is_absolute() || text.starts_with('.') || text.contains('\\') {
            return Ok(ModelSpec::Folder(path.to_path_buf()));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        match text.split_once('/') {
            Some((owner, name))
                if !owner.is_empty() && !name.is_empty() && (owner.to_owned() + name).chars().all(allowed) =>
            {
                Ok(ModelSpec::Hub(text.to_string()))
            }
            _ if path.exists() => Ok(ModelSpec::Folder(path.to_path_buf())),
            _ => Err(Error::UnknownModel(text.to_string())),
        }
    }
}

impl std::fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelSpec::Embedded => f.write_str("default"),
            ModelSpec::Folder(path) => path.display().fmt(f),
            ModelSpec::Hub(id) => f.write_str(id),
        }
    }
}

/// Opens a model. The built-in one opens in a fraction of a millisecond and depends on no file.
///
/// # Errors
/// When the model or a dependency is missing or damaged, with what to do.
pub fn open(spec: &ModelSpec, env: &RuntimeEnv) -> Result<Arc<dyn Encoder>, Error> {
    match spec {
        ModelSpec::Embedded => Ok(Arc::new(Native::embedded()?)),
        ModelSpec::Folder(path) => folder(path, env),
        ModelSpec::Hub(id) => match hub(id, env).and_then(|path| folder(&path, env)) {
            // The folder never replaces the hub's model, but the user may have meant it.
            Err(source) if Path::new(id).is_dir() => {
                Err(Error::FolderOfThatName { id: id.clone(), source: Box::new(source) })
            }
            opened => opened,
        },
    }
}

/// The feature that a program without ONNX lacks.
#[cfg(not(feature = "onnx"))]
const NO_ONNX: &str = "ONNX models (feature `onnx`)";

#[cfg(feature = "onnx")]
fn folder(path: &Path, env: &RuntimeEnv) -> Result<Arc<dyn Encoder>, Error> {
    Ok(Arc::new(crate::onnx::Onnx::open(path, env)?))
}

#[cfg(not(feature = "onnx"))]
fn folder(_: &Path, _: &RuntimeEnv) -> Result<Arc<dyn Encoder>, Error> {
    Err(Error::NotBuilt { feature: NO_ONNX, instead: "`default` is the model in it".into() })
}

#[cfg(feature = "hub")]
fn hub(id: &str, env: &RuntimeEnv) -> Result<PathBuf, Error> {
    crate::hub::fetch(id, env)
}

#[cfg(not(feature = "hub"))]
fn hub(id: &str, _: &RuntimeEnv) -> Result<PathBuf, Error> {
    let instead = format!(
        "put model.onnx, tokenizer.json and onnx_config.json of https://huggingface.co/{id} into a folder and name that"
    );
    Err(Error::NotBuilt { feature: "downloads (feature `hub`)", instead })
}

/// The library of ONNX Runtime that a model has loaded into this process.
pub fn loaded_runtime() -> Option<PathBuf> {
    #[cfg(feature = "onnx")]
    return crate::onnx::library_path();
    #[cfg(not(feature = "onnx"))]
    None
}

/// Describes ONNX Runtime on this machine. Loads no library, since that would run its code; one that a model has loaded
/// gives more details.
pub fn runtime_report(env: &RuntimeEnv) -> RuntimeReport {
    #[cfg(feature = "onnx")]
    return crate::onnx::report(env);
    #[cfg(not(feature = "onnx"))]
    {
        let _ = env;
        let problem = Some(format!("this program was built without {NO_ONNX}"));
        RuntimeReport { problem, ..RuntimeReport::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        let folder = tempfile::tempdir().unwrap();
        let existing = folder.path().to_str().unwrap();
        for (text, expected) in [
            ("default", ModelSpec::Embedded),
            (existing, ModelSpec::Folder(existing.into())),
            ("./models/x", ModelSpec::Folder("./models/x".into())),
            ("/models/x", ModelSpec::Folder("/models/x".into())),
            ("src", ModelSpec::Folder("src".into())),
            ("lightonai/LateOn-Code-edge", ModelSpec::Hub("lightonai/LateOn-Code-edge".into())),
            // A folder of this crate, in which its tests run.
            ("src/native", ModelSpec::Hub("src/native".into())),
        ] {
            let found = ModelSpec::parse(text).unwrap();
            assert_eq!(ModelSpec::parse(&found.to_string()).unwrap(), expected, "{text}");
        }
        for text in ["", "nothing", "a/b/c", "a/", "https://huggingface.co/a/b", "a b/c"] {
            assert!(ModelSpec::parse(text).unwrap_err().full().contains("neither a folder"), "{text}");
        }
    }

    #[test]
    fn a_folder_with_the_name_of_a_model_is_told_of_but_not_taken() {
        let home = tempfile::tempdir().unwrap();
        let env = RuntimeEnv { hf_home: Some(home.path().into()), offline: true, ..RuntimeEnv::default() };
        let refused = |name: &str| open(&ModelSpec::parse(name).unwrap(), &env).err().expect("no model").full();
        // A folder of this crate, in which its tests run.
        let told = refused("src/native");
        assert!(
            told.starts_with("src/native means a model of the hub; ./src/native would be the folder here: "),
            "{told}"
        );
        assert!(!refused("src/nowhere").contains("./src/nowhere"));
        assert!(!refused("./src/native").contains("hub"));
    }

    #[test]
    fn the_embedded_model_opens_anywhere() {
        let model = open(&ModelSpec::default(), &RuntimeEnv::default()).unwrap();
        let rows = model.encode_query("parse request").unwrap();
        assert_eq!(rows.dimension(), model.dimension());
        assert!(rows.len() > 1);
    }
}
