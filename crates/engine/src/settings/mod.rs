//! Settings: the user's file and a repository's committed `.colgrep.toml`, typed and validated by one table of keys.
//!
//! Precedence: flag > environment > repository > user > default. A repository that the user has not trusted may only
//! set what affects the display or narrows what is indexed ([`Settings::refused`]).

pub mod cloud;
pub mod did_you_mean;
pub mod env;
pub mod variable;

mod file;
mod keys;
mod kind;
mod size;
mod trust;

use std::collections::BTreeMap;
use std::io::ErrorKind::FileTooLarge;
use std::path::{Component, Path, PathBuf};

use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_index::disk::read_regular;
use colgrep_index::mode::VectorMode;
use colgrep_index::walk::WalkOptions;

pub use file::read;
pub use keys::{KEYS, Key, SettingValue, check_name, names, share, typed};
pub use kind::{SettingKind, Untrusted};
pub use size::parse_size;
pub use trust::{UntrustedSettings, is_trusted, trust, untrust};

use crate::error::{Error, Refused as RefusedRequest, Result, SettingError};
use crate::request::RankingOptions;
use crate::settings::did_you_mean::nearest;
use crate::settings::env::Env;
use crate::settings::variable::variable;

/// Name of the settings file that a repository commits.
pub const REPOSITORY_FILE: &str = ".colgrep.toml";
/// Largest settings file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// Nothing says otherwise.
    Default,
    /// The user's or the repository's file.
    File(PathBuf),
    Variable(String),
    /// The index, as `init` made it.
    Index,
}

impl std::fmt::Display for ValueSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueSource::Default => f.write_str("default"),
            ValueSource::File(path) => write!(f, "{}", path.display()),
            ValueSource::Index => f.write_str("the index, as `colgrep init` made it"),
            ValueSource::Variable(name) => write!(f, "environment: {name}"),
        }
    }
}

/// The settings in force, flags aside.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<String, (SettingValue, PathBuf)>,
    files: Vec<PathBuf>,
    /// What the index around is to keep for the ranking by meaning.
    kept: VectorMode,
    /// What the repository's file says and nobody trusts.
    refused: Option<UntrustedSettings>,
}

impl Settings {
    /// Reads the user's file and the file of the repository around `start`.
    ///
    /// # Errors
    /// When one of them can't be read, or has an unknown key or an unfit value.
    pub fn read(env: &Env, start: &Path) -> Result<Settings> {
        let SettingsFiles { user, repository } = SettingsFiles::at(env, start);
        let files = user.iter().chain(&repository).cloned().collect();
        let mut settings = Settings { files, ..Settings::default() };
        if let Some(path) = user {
            for (key, value) in values_of(&read_file(&path)?, &path)? {
                settings.insert(key, value, &path);
            }
        }
        if let Some(path) = repository {
            settings.add_repository(env, &path)?;
        }
        Ok(settings)
    }

    /// The settings at another place: a copy where the same files apply there.
    pub fn beside(&self, env: &Env, start: &Path) -> Result<Settings> {
        let SettingsFiles { user, repository } = SettingsFiles::at(env, start);
        let is_same = self.files.iter().eq(user.iter().chain(&repository));
        if is_same { Ok(self.clone()) } else { Settings::read(env, start) }
    }

    /// Adds a repository's settings as far as they are allowed.
    fn add_repository(&mut self, env: &Env, path: &Path) -> Result<()> {
        let link = || SettingError::Link { path: path.to_path_buf() };
        // An error would show lines of whatever a link leads to.
        let text = match if path.is_symlink() { Err(link()) } else { read_file(path) } {
            Ok(text) => text,
            // A clone must not break every search: what can't be read has nobody's trust.
            Err(error) => {
                let unread = vec![Error::from(error).full()];
                self.refused = Some(UntrustedSettings { path: path.to_path_buf(), values: Vec::new(), unread });
                return Ok(());
            }
        };
        let is_trusted = std::cell::LazyCell::new(|| trust::is_trusted_text(env, path, &text));
        let filesize_max = self.filesize_max().unwrap_or(WalkOptions::default().filesize_max);
        let (mut refused, mut unread) = (Vec::new(), Vec::new());
        let read = match file::read_each(&text) {
            Ok(read) => read,
            Err(error) => vec![Err(error)],
        };
        for one in read {
            let (key, mut value) = match one {
                Ok(known) => known,
                // A clone must not break every search: invalid values are ignored until the user trusts the file.
                Err(error) if !*is_trusted => {
                    unread.push(Error::from(error).full());
                    continue;
                }
                Err(error) => return Err(in_file(error, path).into()),
            };
            if let ("model", SettingValue::Text(name)) = (key.as_str(), &value)
                && is_of_another_machine(name)
            {
                let (path, name) = (path.to_path_buf(), name.clone());
                let error = SettingError::OtherMachine { path, name };
                if *is_trusted {
                    return Err(error.into());
                }
                unread.push(Error::from(error).full());
                continue;
            }
            if trust::is_users_own(&key) || (!trust::is_harmless(&key, &value, filesize_max) && !*is_trusted) {
                refused.push((key, value));
                continue;
            }
            // The user's exclusions come last and win.
            if let ("ignore", SettingValue::List(patterns)) = (key.as_str(), &mut value)
                && !self.ignore().is_empty()
                && !*is_trusted
            {
                patterns.extend_from_slice(self.ignore());
            }
            self.insert(key, value, path);
        }
        if !refused.is_empty() || !unread.is_empty() {
            self.refused = Some(UntrustedSettings { path: path.to_path_buf(), values: refused, unread });
        }
        Ok(())
    }

    fn insert(&mut self, key: String, mut value: SettingValue, path: &Path) {
        if let ("model", SettingValue::Text(name), Some(folder)) = (key.as_str(), &mut value, path.parent()) {
            *name = model_from(folder, name);
        }
        self.values.insert(key, (value, path.to_path_buf()));
    }

    /// The ignored settings of the repository's file.
    pub fn refused(&self) -> Option<&UntrustedSettings> {
        self.refused.as_ref()
    }

    /// The same settings over an index that keeps so much for the ranking by meaning.
    #[must_use]
    pub fn of_index(self, kept: VectorMode) -> Settings {
        Settings { kept, ..self }
    }

    /// The value that a file gives: a word, or a number or switch as text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some((SettingValue::Text(text), _)) => Some(text),
            _ => None,
        }
    }

    fn list(&self, key: &str) -> &[String] {
        match self.values.get(key) {
            Some((SettingValue::List(list), _)) => list,
            _ => &[],
        }
    }

    /// A number that a file gives.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.text(key).and_then(|t| t.parse().ok())
    }

    /// The strength below which no output has a file, where a settings file says so.
    pub fn strength_min(&self) -> Option<f32> {
        self.text("min_strength").and_then(|text| share(text).ok())
    }

    /// Whether a file switches it on.
    pub fn is_on(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    /// Patterns, as in a `.gitignore` at the project's root, of files that are not indexed.
    pub fn ignore(&self) -> &[String] {
        self.list("ignore")
    }

    /// Folders with transcripts of agents' sessions; `~` is the user's home.
    pub fn sessions(&self, env: &Env) -> Vec<PathBuf> {
        self.list("sessions").iter().map(|written| from_home(written, env)).collect()
    }

    /// The names of the groups of projects.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.table("groups").into_keys()
    }

    /// The folders of a group of projects; relative ones are resolved from the folder of the settings file.
    ///
    /// # Errors
    /// When there is no group of that name, or it names no folder, or one that is not there.
    pub fn group(&self, name: &str, env: &Env) -> Result<Vec<PathBuf>> {
        let (folders, file) = self.members(name, env)?;
        match folders.iter().find(|folder| !folder.exists()) {
            None => Ok(folders),
            Some(gone) => {
                let (name, folder) = (name.to_string(), gone.clone());
                Err(RefusedRequest::GroupFolder { name, file: file.to_path_buf(), folder }.into())
            }
        }
    }

    /// The same with folders that are not there, and the file that names them.
    ///
    /// # Errors
    /// When there is no group of that name, or it names no folder.
    pub fn members(&self, name: &str, env: &Env) -> Result<(Vec<PathBuf>, &Path)> {
        let groups = self.table("groups");
        let (Some(folders), Some((_, file))) = (groups.get(name), self.values.get(&format!("groups.{name}"))) else {
            let known: Vec<String> = groups.keys().map(ToString::to_string).collect();
            let near = nearest(name, groups.keys().copied()).map(str::to_string);
            let is_untrusted =
                |refused: &&UntrustedSettings| refused.values.iter().any(|(key, _)| *key == format!("groups.{name}"));
            let untrusted = self.refused.iter().find(is_untrusted).map(|refused| refused.path.clone());
            return Err(RefusedRequest::Group { name: name.to_string(), near, known, untrusted }.into());
        };
        if folders.is_empty() {
            return Err(RefusedRequest::EmptyGroup { name: name.to_string(), file: file.clone() }.into());
        }
        let base = file.parent().unwrap_or(Path::new(""));
        let folder = |written: &String| {
            let joined = base.join(from_home(written, env));
            // `..` after a link is not the folder before it.
            let has_detour = joined.components().any(|part| part == Component::ParentDir);
            joined.canonicalize().ok().filter(|_| has_detour).unwrap_or(joined)
        };
        Ok((folders.iter().map(folder).collect(), file.as_path()))
    }

    /// Own types of files: name and globs.
    pub fn types(&self) -> BTreeMap<&str, &[String]> {
        self.table("types")
    }

    /// Names that people gave to files, for hints: name and globs.
    pub fn tags(&self) -> BTreeMap<&str, &[String]> {
        self.table("tags")
    }

    /// Terms for words of a query: word and terms.
    pub fn terms(&self) -> BTreeMap<&str, &[String]> {
        self.table("terms")
    }

    /// The entries of a table whose keys the user names.
    fn table(&self, table: &str) -> BTreeMap<&str, &[String]> {
        let own = self.values.iter().filter_map(|(key, (value, _))| match (key.split_once('.'), value) {
            (Some((of, name)), SettingValue::List(list)) if of == table => Some((name, list.as_slice())),
            _ => None,
        });
        own.collect()
    }

    /// The model of the ranking by meaning, if one is set.
    pub fn model(&self) -> Option<&str> {
        self.text("model")
    }

    /// The repository's file, if the model in force is the one that it names.
    pub fn repository_model(&self) -> Option<&Path> {
        let (_, path) = self.values.get("model")?;
        Some(path.as_path()).filter(|p| p.file_name().is_some_and(|n| n == REPOSITORY_FILE))
    }

    /// What an index is to keep, as a file says.
    pub fn index_mode(&self) -> Option<VectorMode> {
        let name = self.text("index_mode")?;
        [VectorMode::Full, VectorMode::Lite, VectorMode::Keyword].into_iter().find(|mode| mode.name() == name)
    }

    /// What the index around keeps.
    pub fn kept(&self) -> VectorMode {
        self.kept
    }

    /// How rankings become one, as a file says.
    pub fn fusion(&self) -> Option<Fusion> {
        match self.text("fusion")? {
            "rrf" => Some(Fusion::ReciprocalRank),
            _ => Some(Fusion::MinMax),
        }
    }

    /// The largest file that is indexed, in bytes, as a file says.
    pub fn filesize_max(&self) -> Option<u64> {
        self.text("max_filesize").and_then(|t| t.parse().ok())
    }

    /// The ranking's constants in force: `options` before the environment, that before the files.
    ///
    /// # Errors
    /// When a value does not fit its knob.
    pub fn knobs(&self, env: &Env, options: &RankingOptions) -> Result<Knobs> {
        let chosen = options.profile.or(env.profile).or(self.text("profile").and_then(Profile::from_name));
        let mut knobs = Knobs::of(chosen.unwrap_or_default());
        let own = self.values.iter().filter_map(|(key, (value, _))| match (keys::knob_of(key), value) {
            (Some(knob), SettingValue::Text(text)) => Some((knob, text)),
            _ => None,
        });
        for (knob, text) in own.chain(env.knobs.iter().map(|(knob, text)| (*knob, text))) {
            variable::set(&mut knobs, knob, text)?;
        }
        if let Some(alpha) = options.alpha {
            variable::set(&mut knobs, Knob::Alpha, &alpha.to_string())?;
        }
        Ok(knobs)
    }

    /// Every setting with its value in force (flags aside) and where that comes from; own types, tags, terms and groups are
    /// listed too.
    pub fn all(&self, env: &Env) -> Vec<(String, SettingValue, ValueSource)> {
        let mut rows: Vec<(String, SettingValue, ValueSource)> = Vec::new();
        let from_file = |key: &str| self.values.get(key).map(|(v, p)| (v.clone(), ValueSource::File(p.clone())));
        for key in KEYS {
            let from_variable = match key.name {
                "background" => env.background.map(|on| (on.to_string(), "COLGREP_BACKGROUND or CI")),
                "profile" => env.profile.map(|p| (p.name().to_string(), "COLGREP_PROFILE")),
                "color" => env
                    .color
                    .map(|on| if on { ("always", "CLICOLOR_FORCE") } else { ("never", "NO_COLOR or CLICOLOR") })
                    .map(|(v, n)| (v.to_string(), n)),
                _ => None,
            };
            let (value, source) = from_variable
                .map(|(value, name)| (SettingValue::Text(value), ValueSource::Variable(name.to_string())))
                .or_else(|| from_file(key.name))
                .or_else(|| {
                    let told = key.name == "index_mode" && self.kept != VectorMode::default();
                    told.then(|| (SettingValue::Text(self.kept.name().to_string()), ValueSource::Index))
                })
                .unwrap_or_else(|| (key.default_value(), ValueSource::Default));
            rows.push((key.name.to_string(), value, source));
        }
        for (table, ..) in keys::OPEN_TABLES {
            for (name, list) in self.table(table) {
                let key = format!("{table}.{name}");
                let source = from_file(&key).map_or(ValueSource::Default, |(_, source)| source);
                rows.push((key, SettingValue::List(list.to_vec()), source));
            }
        }
        let base = self.knobs(env, &RankingOptions::default()).unwrap_or_else(|_| Knobs::of(Profile::Default));
        for &knob in Knob::ALL {
            let key = keys::knob_key(knob);
            let source = match env.knobs.get(&knob) {
                Some(_) => ValueSource::Variable(variable(knob)),
                None => from_file(&key).map_or(ValueSource::Default, |(_, source)| source),
            };
            rows.push((key, SettingValue::Text(base.number(knob).to_string()), source));
        }
        rows
    }
}

/// A path as somebody wrote it in a settings file; `~` is the user's home.
fn from_home(written: &str, env: &Env) -> PathBuf {
    let home = || env.home.clone().unwrap_or_else(|| PathBuf::from("~"));
    match written.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            home().join(rest.trim_start_matches(['/', '\\']))
        }
        _ => PathBuf::from(written),
    }
}

/// The settings files in force at a place; the repository's takes precedence over the user's.
struct SettingsFiles {
    user: Option<PathBuf>,
    repository: Option<PathBuf>,
}

impl SettingsFiles {
    fn at(env: &Env, start: &Path) -> SettingsFiles {
        SettingsFiles {
            user: env.settings_file().filter(|path| path.is_file()),
            repository: repository_file(env, start),
        }
    }
}

/// The values of a settings file's text.
fn values_of(text: &str, path: &Path) -> Result<Vec<(String, SettingValue)>, SettingError> {
    file::read(text).map_err(|error| in_file(error, path))
}

/// Adds the file to the error of one entry.
fn in_file(error: SettingError, path: &Path) -> SettingError {
    SettingError::File { path: path.to_path_buf(), source: Box::new(error) }
}

/// The text of a settings file.
fn read_file(path: &Path) -> Result<String, SettingError> {
    let read = || String::from_utf8(read_regular(path, FILE_BYTES_MAX)?).map_err(std::io::Error::other);
    read().map_err(|source| match source.kind() {
        FileTooLarge => SettingError::TooLarge { path: path.to_path_buf(), bytes_max: FILE_BYTES_MAX },
        _ => SettingError::Io { doing: "read", path: path.to_path_buf(), source },
    })
}

/// Whether a path names a share (`\\server\share`): on Windows a look at it sends the user's name there.
fn is_of_another_machine(name: &str) -> bool {
    let mut first = name.chars();
    matches!((first.next(), first.next()), (Some('\\' | '/'), Some('\\' | '/')))
}

/// A model as named in a settings file in `folder`, from which folders are resolved.
fn model_from(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let is_folder = name != "default" && (path.exists() || name.starts_with('.') || name.contains('\\'));
    if is_folder { path.to_string_lossy().into_owned() } else { name.to_string() }
}

/// The settings file of the repository around `start`: the nearest one up to the git root, else below the home folder.
pub fn repository_file(env: &Env, start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    let home = env.home.as_ref().and_then(|h| h.canonicalize().ok());
    let git = start.ancestors().find(|a| a.join(".git").exists()).map(Path::to_path_buf);
    for folder in start.ancestors() {
        if git.is_none() && (home.as_deref() == Some(folder) || folder.parent().is_none()) && folder != start {
            return None;
        }
        let path = folder.join(REPOSITORY_FILE);
        if path.is_file() {
            return Some(path);
        }
        if git.as_deref() == Some(folder) {
            return None;
        }
    }
    None
}
