//! Which repositories' settings the user trusts: by the path of the file, its text, and the files of the model that it
//! names.
//!
//! The text itself is kept, not a hash of it: any change ends the trust, and no hash has to resist forgery. A model's files are
//! large, so their size and times are kept, including the inode's change time, which nobody can set.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::keys::{self, KEYS, SettingValue};
use super::kind::Untrusted;
use super::{model_from, read_file, values_of};
use crate::error::{Result, SettingError};
use crate::settings::env::Env;

/// Name of the list, in the folder of indexes.
const LIST: &str = "trusted.json";

/// A repository's settings file as it was when the user said that it is trusted.
#[derive(Debug, Serialize, Deserialize)]
struct Trusted {
    path: PathBuf,
    text: String,
    #[serde(default)]
    model: Vec<Stamp>,
}

/// A file of a model, by its path: size and times, in nanoseconds.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    size: u64,
    times: [i64; 2],
}

/// Maximum depth of folders, and number of entries, examined for a model's files. A model has a dozen.
const MODEL_DEPTH_MAX: usize = 4;
const MODEL_FILES_MAX: usize = 1_000;

/// The files of the model that the settings in the file at `path` name, where that is a folder.
fn model_files(path: &Path, text: &str) -> Vec<Stamp> {
    let values = super::file::read(text).unwrap_or_default();
    let model = values.into_iter().find_map(|(key, value)| match value {
        SettingValue::Text(name) if key == "model" => Some(name),
        _ => None,
    });
    let mut stamps = Vec::new();
    let place = model.zip(path.parent()).map(|(name, folder)| PathBuf::from(model_from(folder, &name)));
    // The name of a hub model is not a path.
    if let Some(place) = place.filter(|place| place.is_absolute()) {
        stamps_below(&place, MODEL_DEPTH_MAX, &mut stamps);
    }
    stamps.sort();
    stamps
}

fn stamps_below(folder: &Path, depth: usize, stamps: &mut Vec<Stamp>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // A link counts as its target.
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() && depth > 0 => stamps_below(&path, depth - 1, stamps),
            Ok(metadata) if stamps.len() < MODEL_FILES_MAX => {
                stamps.push(Stamp { size: metadata.len(), times: times(&metadata), path });
            }
            _ => {}
        }
    }
}

/// Time of the last change of a file's content, and of its inode.
fn times(metadata: &fs::Metadata) -> [i64; 2] {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let ns = |s: i64, ns: i64| s.wrapping_mul(1_000_000_000).wrapping_add(ns);
        [ns(metadata.mtime(), metadata.mtime_nsec()), ns(metadata.ctime(), metadata.ctime_nsec())]
    }
    #[cfg(not(unix))]
    {
        let since = |time: std::io::Result<std::time::SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            since.map_or(0, |since| since.as_nanos() as i64)
        };
        [since(metadata.modified()), since(metadata.created())]
    }
}

fn list(env: &Env) -> Result<Vec<Trusted>> {
    let path = env.data_folder()?.join(LIST);
    match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)
            .map_err(|error| SettingError::Damaged { path: path.clone(), source: error.into() })?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(SettingError::Io { doing: "read", path, source }.into()),
    }
}

fn write(env: &Env, list: &[Trusted]) -> Result<()> {
    let folder = env.data_folder()?;
    let path = folder.join(LIST);
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        // Written to a temporary file first, so that readers see the old list or the new one.
        let beside = folder.join(format!(".{LIST}-{}", std::process::id()));
        let mut file = fs::File::create(&beside)?;
        file.write_all(&serde_json::to_vec(list)?)?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    };
    Ok(write().map_err(|source| SettingError::Io { doing: "write", path: path.clone(), source })?)
}

/// Whether the user trusts the file at `path` with this text.
pub(super) fn is_trusted_text(env: &Env, path: &Path, text: &str) -> bool {
    // Without a list to read, nothing is.
    list(env).is_ok_and(|list| {
        let mut known = list.iter().filter(|known| known.path == path && known.text == text);
        known.any(|known| known.model == model_files(path, text))
    })
}

/// Whether the user trusts the file at `path` in its current state.
pub fn is_trusted(env: &Env, path: &Path) -> bool {
    read_file(path).is_ok_and(|text| is_trusted_text(env, path, &text))
}

/// Remembers that the settings in the file at `path` are trusted, as they are now.
///
/// # Errors
/// When they can't be read, or the list can't be written.
pub fn trust(env: &Env, path: &Path) -> Result<()> {
    let text = read_file(path)?;
    values_of(&text, path)?;
    let mut list = list(env)?;
    list.retain(|known| known.path != path);
    let model = model_files(path, &text);
    list.push(Trusted { path: path.to_path_buf(), text, model });
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

/// Whether a setting of a repository that nobody trusts is taken, as the table of settings has it. `filesize_max` is
/// the largest file by the user's own.
pub(super) fn is_harmless(key: &str, value: &SettingValue, filesize_max: u64) -> bool {
    match (keys::untrusted(key), value) {
        (Untrusted::Taken, _) => true,
        (Untrusted::FalseOnly, SettingValue::Text(on)) => on == "false",
        (Untrusted::DefaultOnly, value) => {
            KEYS.iter().any(|known| known.name == key && known.default_value() == *value)
        }
        (Untrusted::AtMostYours, SettingValue::Text(size)) => size.parse().is_ok_and(|size: u64| size <= filesize_max),
        _ => false,
    }
}

/// Whether a setting is never taken from a repository's file.
pub(super) fn is_users_own(key: &str) -> bool {
    keys::untrusted(key) == Untrusted::Never
}

/// Settings of a repository that are not taken: the user has not trusted it, or they are the user's own to set.
#[derive(Clone, Debug)]
pub struct UntrustedSettings {
    /// The repository's file.
    pub path: PathBuf,
    pub values: Vec<(String, SettingValue)>,
    /// Why its other entries can't be understood.
    pub unread: Vec<String>,
}

impl UntrustedSettings {
    /// Whether some of them are taken once the user trusts the file.
    pub fn asks_for_trust(&self) -> bool {
        self.values.iter().any(|(key, _)| !is_users_own(key))
    }

    /// The settings that only the user may set, or the others, followed by the reason `why`.
    fn told(&self, users_own: bool, why: &str) -> Option<String> {
        let values = self.values.iter().filter(|(key, _)| is_users_own(key) == users_own);
        let values: Vec<_> = values.map(|(key, value)| shortened(format!("{key} = {value}"))).collect();
        let are = if values.len() == 1 { "is" } else { "are" };
        (!values.is_empty()).then(|| format!("{} {are} {why}", values.join(", ")))
    }
}

impl std::fmt::Display for UntrustedSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            self.told(true, "taken from your own settings alone"),
            self.told(false, "not taken until you trust the file"),
        ];
        let unread = (!self.unread.is_empty()).then(|| format!("ignored: {}", self.unread.join("; ")));
        let parts: Vec<String> = parts.into_iter().chain([unread]).flatten().collect();
        write!(f, "{}: {}", self.path.display(), parts.join("; "))
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
    use super::super::keys::OPEN_TABLES;
    use super::*;

    #[test]
    fn what_shows_or_narrows_is_harmless() {
        for (key, value, harmless) in [
            ("hidden", "true", false),
            ("hidden", "false", true),
            ("secrets", "true", false),
            ("background", "true", false),
            ("background", "false", true),
            ("max_filesize", "1048577", false),
            ("max_filesize", "1000", true),
            ("model", "default", true),
            ("model", "owner/name", false),
            ("hyperlink_format", "file", false),
            ("remote", "s3://bucket", false),
            ("remote_http", "true", false),
            ("remote_http", "false", true),
            ("results", "7", true),
            ("ranking.alpha", "0.5", true),
            ("unknown", "true", false),
            ("tables.unknown", "true", false),
        ] {
            let value = SettingValue::Text(value.to_string());
            assert_eq!(is_harmless(key, &value, 1 << 20), harmless, "{key} = {value}");
        }
        for key in ["tags.hot", "terms.token"] {
            assert!(is_harmless(key, &SettingValue::List(vec!["a".to_string()]), 1), "{key}");
        }
        assert!(is_harmless("ignore", &SettingValue::List(vec!["a".to_string()]), 1));
        for key in ["groups.backend", "sessions"] {
            assert!(!is_harmless(key, &SettingValue::List(vec!["a".to_string()]), 1), "{key}");
        }
    }

    #[test]
    fn trust_is_asked_for_where_it_helps() {
        let until_trust = "not taken until you trust the file";
        for (keys, expected, asks) in [
            (&["hidden"][..], format!("a.toml: hidden = true is {until_trust}"), true),
            (&["sessions"], "a.toml: sessions = true is taken from your own settings alone".to_string(), false),
            (
                &["hidden", "sessions", "secrets"],
                format!(
                    "a.toml: sessions = true is taken from your own settings alone; hidden = true, secrets = true are \
                     {until_trust}"
                ),
                true,
            ),
        ] {
            let values = keys.iter().map(|key| (key.to_string(), SettingValue::Text("true".to_string()))).collect();
            let refused = UntrustedSettings { path: "a.toml".into(), values, unread: Vec::new() };
            assert_eq!((refused.to_string(), refused.asks_for_trust()), (expected, asks));
        }
    }

    #[test]
    fn the_guide_says_of_each_setting_when_it_is_taken() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
        let guide = fs::read_to_string(guide).expect("the guide");
        let (_, section) = guide.split_once("### Untrusted repositories").expect("the section");
        let rows = section.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with('|'));
        let said = rows.flat_map(|row| {
            let (names, taken) = row.trim_matches(['|', ' ']).split_once(" | ").expect("two columns");
            names.split(", ").map(move |name| (name.trim_matches('`').to_string(), taken))
        });
        let said: Vec<(String, &str)> = said.collect();
        let tables = OPEN_TABLES.into_iter().map(|(table, ..)| table).chain(["ranking"]);
        let own = KEYS.iter().map(|key| key.name.to_string());
        let all: Vec<String> = own.chain(tables.map(|table| format!("{table}.*"))).collect();
        for (name, taken) in &said {
            let begins = match keys::untrusted(name) {
                Untrusted::Taken => "yes",
                Untrusted::FalseOnly => "`false` alone",
                Untrusted::DefaultOnly => "`default` alone",
                Untrusted::AtMostYours => "where it is at most yours",
                Untrusted::No => "no:",
                Untrusted::Never => "never",
            };
            assert!(taken.starts_with(begins) && all.contains(name), "{name}: {taken}");
        }
        let names: Vec<&String> = said.iter().map(|(name, _)| name).collect();
        let lacking: Vec<&String> = all.iter().filter(|name| !names.contains(name)).collect();
        assert!(lacking.is_empty() && names.len() == all.len(), "{lacking:?}");
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
        // A model's files are part of its identity, including their number.
        let model = folder.path().join("m");
        fs::create_dir(&model).unwrap();
        fs::write(model.join("model.onnx"), "before").unwrap();
        fs::write(&path, "model = \"./m\"\n").unwrap();
        trust(&env, &path).unwrap();
        assert!(is_trusted(&env, &path));
        fs::write(model.join("model.onnx"), "after!").unwrap();
        assert!(!is_trusted(&env, &path), "other bytes of the same number");
        trust(&env, &path).unwrap();
        fs::write(model.join("more.onnx"), "").unwrap();
        assert!(!is_trusted(&env, &path), "one more file");
        fs::write(folder.path().join("data").join(LIST), "{").unwrap();
        assert!(trust(&env, &path).is_err() && !is_trusted_text(&env, &path, "hidden = true\n"));
    }
}
