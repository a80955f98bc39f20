//! Which repositories' settings the user trusts: by the path of the file and all that stands in it.
//!
//! The text itself is kept, not a hash of it: any change ends the trust, and nothing has to resist a forger.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::{Value, read_file};
use crate::env::Env;

/// Name of the list, in the folder of indexes.
const LIST: &str = "trusted.json";

/// A repository's settings file as it was when the user said that it is trusted.
#[derive(Debug, Serialize, Deserialize)]
struct Trusted {
    path: PathBuf,
    text: String,
}

fn list(env: &Env) -> Result<Vec<Trusted>> {
    let path = env.data_folder()?.join(LIST);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

fn write(env: &Env, list: &[Trusted]) -> Result<()> {
    let folder = env.data_folder()?;
    let path = folder.join(LIST);
    let write = || -> Result<()> {
        fs::create_dir_all(&folder)?;
        // Beside it first: whoever reads it meanwhile sees the old list or the new one.
        let beside = folder.join(format!(".{LIST}-{}", std::process::id()));
        let mut file = fs::File::create(&beside)?;
        file.write_all(&serde_json::to_vec(list)?)?;
        file.sync_all()?;
        Ok(fs::rename(&beside, &path)?)
    };
    write().with_context(|| format!("could not write {}", path.display()))
}

/// Whether the user trusts the file at `path` with this text.
pub(super) fn is_trusted_text(env: &Env, path: &Path, text: &str) -> bool {
    // Without a list to read, nothing is.
    list(env).is_ok_and(|list| list.iter().any(|known| known.path == path && known.text == text))
}

/// Whether the user trusts the file at `path` as it is now.
pub fn is_trusted(env: &Env, path: &Path) -> bool {
    read_file(path).is_ok_and(|text| is_trusted_text(env, path, &text))
}

/// Remembers that the settings in the file at `path` are trusted, as they are now.
///
/// # Errors
/// When they can't be read, or the list can't be written.
pub fn trust(env: &Env, path: &Path) -> Result<()> {
    let text = read_file(path)?;
    super::file::read(&text).with_context(|| format!("{}", path.display()))?;
    let mut list = list(env)?;
    list.retain(|known| known.path != path);
    list.push(Trusted { path: path.to_path_buf(), text });
    write(env, &list)
}

/// Forgets that; whether it was so.
///
/// # Errors
/// When the list can't be read or written.
pub fn untrust(env: &Env, path: &Path) -> Result<bool> {
    let mut list = list(env)?;
    let before = list.len();
    list.retain(|known| known.path != path);
    if list.len() < before {
        write(env, &list)?;
    }
    Ok(list.len() < before)
}

/// Whether a setting of a repository that nobody trusts is taken: what shows answers, or narrows what is indexed.
/// `filesize_max` is the largest file by the user's settings.
pub(super) fn is_harmless(key: &str, value: &Value, filesize_max: u64) -> bool {
    match (key, value) {
        ("hidden", Value::Text(on)) => on != "true",
        ("max_filesize", Value::Text(size)) => size.parse().is_ok_and(|size: u64| size <= filesize_max),
        // Every other one is run by a library of native code.
        ("model", Value::Text(name)) => name == "default",
        // These act on the order alone, as a constant of the ranking does; tags, where a hint asks for them.
        (key, Value::List(_)) if key.starts_with("tags.") || key.starts_with("terms.") => true,
        // A link may start any program that the system knows a scheme for.
        ("hyperlink_format", _) => false,
        _ => true,
    }
}

/// Settings of a repository that are not taken, since the user has not trusted it.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The repository's file.
    pub path: PathBuf,
    /// What it says.
    pub values: Vec<(String, Value)>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let values: Vec<_> = self.values.iter().map(|(key, value)| shortened(format!("{key} = {value}"))).collect();
        let are = if values.len() == 1 { "is" } else { "are" };
        write!(f, "{}: {} {are} not taken until you trust the file", self.path.display(), values.join(", "))
    }
}

fn shortened(mut text: String) -> String {
    const SHOWN_MAX: usize = 80;
    if text.len() > SHOWN_MAX {
        text.truncate(text.floor_char_boundary(SHOWN_MAX));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_or_narrows_is_harmless() {
        for (key, value, harmless) in [
            ("hidden", "true", false),
            ("hidden", "false", true),
            ("max_filesize", "1048577", false),
            ("max_filesize", "1000", true),
            ("model", "default", true),
            ("model", "owner/name", false),
            ("hyperlink_format", "file", false),
            ("results", "7", true),
            ("ranking.alpha", "0.5", true),
        ] {
            let value = Value::Text(value.to_string());
            assert_eq!(is_harmless(key, &value, 1 << 20), harmless, "{key} = {value}");
        }
        for key in ["tags.hot", "terms.token"] {
            assert!(is_harmless(key, &Value::List(vec!["a".to_string()]), 1), "{key}");
        }
        assert!(is_harmless("ignore", &Value::List(vec!["a".to_string()]), 1));
    }

    #[test]
    fn trust_is_for_a_text_at_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::read([("COLGREP_DATA_DIR".into(), folder.path().join("data").into())].into_iter()).unwrap();
        let path = folder.path().join("settings.toml");
        fs::write(&path, "hidden = true\n").unwrap();
        assert!(!is_trusted_text(&env, &path, "hidden = true\n"));
        trust(&env, &path).unwrap();
        trust(&env, &path).unwrap();
        assert!(is_trusted_text(&env, &path, "hidden = true\n"));
        assert!(!is_trusted_text(&env, &path, "hidden = false\n"));
        assert!(!is_trusted_text(&env, Path::new("/other"), "hidden = true\n"));
        assert!(untrust(&env, &path).unwrap() && !untrust(&env, &path).unwrap());
        assert!(!is_trusted_text(&env, &path, "hidden = true\n"));
        fs::write(folder.path().join("data").join(LIST), "{").unwrap();
        assert!(trust(&env, &path).is_err() && !is_trusted_text(&env, &path, "hidden = true\n"));
    }
}
