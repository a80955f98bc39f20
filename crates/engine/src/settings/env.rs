//! The environment, read once: the only place that knows its variables' names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_encoder::RuntimeEnv;
use colgrep_index::walk::GitPlaces;

use crate::error::{Result, SettingError};
use crate::settings::cloud::Cloud;
use crate::settings::variable::{self, OWN};

/// The system loader's own search path.
const LOADER_PATH: &str = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

/// A text that no message and no trace shows.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Where indexes are kept, if not in the usual place.
    data_folder: Option<PathBuf>,
    /// Whether background processes may be started, where the environment says so.
    pub background: Option<bool>,
    /// Whether a search waits until its index is complete, or answers from what is indexed; if unset, it updates the
    /// index for a limited time.
    pub wait: Option<bool>,
    /// Whether nothing is written to stderr of how far the work is.
    pub no_progress: bool,
    /// Whether ranking steps are written to stderr.
    pub trace: bool,
    /// Profile of knob values.
    pub profile: Option<Profile>,
    /// Knobs set, with their values as written.
    pub knobs: BTreeMap<Knob, String>,
    /// Folder of the user's settings, if not in the usual place.
    config_folder: Option<PathBuf>,
    /// Codex' own folder, if not in the home folder.
    pub codex_home: Option<PathBuf>,
    /// Claude Code's own folder, if not in the home folder.
    pub claude_home: Option<PathBuf>,
    /// The folder that Gemini CLI takes for the home folder.
    pub gemini_home: Option<PathBuf>,
    /// Cline's folder (`CLINE_DIR`).
    pub cline_home: Option<PathBuf>,
    /// OpenCode's folder (`OPENCODE_CONFIG_DIR`), which it reads besides the usual one.
    pub opencode_home: Option<PathBuf>,
    /// Amp's settings file, if not in the usual place.
    pub amp_settings: Option<PathBuf>,
    /// Copilot's own folder, if not in the home folder.
    pub copilot_home: Option<PathBuf>,
    /// What models need of the environment.
    runtime: RuntimeEnv,
    /// What the command works on: no library is loaded from the projects around these paths.
    places: Vec<PathBuf>,
    /// The system's folder for temporary files, where the environment names it.
    pub temporary: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Colour asked for (true) or refused (false).
    pub color: Option<bool>,
    /// The token that requests to `serve` have to bring.
    pub token: Option<Secret>,
    /// The token that this process brings to shards.
    pub shard_token: Option<Secret>,
    /// Whether the terminal shows no colours (`TERM=dumb`).
    pub dumb_terminal: bool,
    /// What cloud tools read.
    cloud: Cloud,
    /// Variables that say where git's configuration is.
    git: BTreeMap<String, OsString>,
}

impl Env {
    /// The token of shards, and the name of the variable that it is from.
    pub fn shard_token(&self) -> Option<(String, String)> {
        Some((self.shard_token.as_ref()?.reveal().to_string(), "COLGREP_SHARD_TOKEN".to_string()))
    }

    /// Reads the variables.
    ///
    /// # Errors
    /// When a COLGREP_ variable is unknown or not to be understood.
    pub fn read(vars: impl Iterator<Item = (OsString, OsString)>) -> Result<Env> {
        let mut env = Env::default();
        let mut xdg_folder = None;
        let mut no_color = None;
        let mut forced = None;
        let mut is_automatic = false;
        for (name, value) in vars {
            let Some(name) = name.to_str() else { continue };
            let text = || value.to_string_lossy().into_owned();
            match name {
                "COLGREP_DATA_DIR" if !value.is_empty() => env.data_folder = Some(PathBuf::from(&value)),
                "COLGREP_TOKEN" if !value.is_empty() => env.token = Some(Secret(text())),
                "COLGREP_SHARD_TOKEN" if !value.is_empty() => env.shard_token = Some(Secret(text())),
                "COLGREP_TRACE" => env.trace = switch(name, text())?.unwrap_or_default(),
                "COLGREP_PROGRESS" => env.no_progress = switch(name, text())? == Some(false),
                "COLGREP_WAIT" => env.wait = switch(name, text())?,
                "COLGREP_BACKGROUND" => env.background = switch(name, text())?,
                // Where a machine builds and tests, nothing is to outlive a command.
                "CI" => is_automatic = !matches!(text().as_str(), "" | "0" | "false"),
                "COLGREP_PROFILE" if !value.is_empty() => {
                    env.profile = Some(profile(&text())?);
                }
                // The specification says of relative ones that they do not count.
                "XDG_DATA_HOME" if Path::new(&value).has_root() => {
                    xdg_folder = Some(PathBuf::from(&value).join("colgrep").join("indices"))
                }
                "XDG_CONFIG_HOME" if Path::new(&value).has_root() => {
                    env.config_folder = Some(PathBuf::from(&value).join("colgrep"));
                    env.git.insert(name.to_string(), value);
                }
                name if name.starts_with("GIT_CONFIG_") => {
                    env.git.insert(name.to_string(), value);
                }
                "CODEX_HOME" if !value.is_empty() => env.codex_home = Some(PathBuf::from(&value)),
                "CLAUDE_CONFIG_DIR" if !value.is_empty() => env.claude_home = Some(PathBuf::from(&value)),
                "CLINE_DIR" if !value.is_empty() => env.cline_home = Some(PathBuf::from(&value)),
                "GEMINI_CLI_HOME" if !value.is_empty() => env.gemini_home = Some(PathBuf::from(&value)),
                "OPENCODE_CONFIG_DIR" if !value.is_empty() => env.opencode_home = Some(PathBuf::from(&value)),
                "AMP_SETTINGS_FILE" if !value.is_empty() => env.amp_settings = Some(PathBuf::from(&value)),
                "COPILOT_HOME" if !value.is_empty() => env.copilot_home = Some(PathBuf::from(&value)),
                "ORT_DYLIB_PATH" if !value.is_empty() => env.runtime.ort_dylib_path = Some(PathBuf::from(&value)),
                "VIRTUAL_ENV" if !value.is_empty() => env.runtime.virtual_env = Some(PathBuf::from(&value)),
                "CONDA_PREFIX" if !value.is_empty() => env.runtime.conda_prefix = Some(PathBuf::from(&value)),
                name if name == LOADER_PATH && !value.is_empty() => {
                    env.runtime.library_path = std::env::split_paths(&value).collect();
                }
                "PATH" => env.runtime.path = std::env::split_paths(&value).collect(),
                "HF_HOME" if !value.is_empty() => env.runtime.hf_home = Some(PathBuf::from(&value)),
                "HF_TOKEN" if !value.is_empty() => env.runtime.hf_token = Some(text()),
                "HF_ENDPOINT" if !value.is_empty() => env.runtime.hf_endpoint = Some(text()),
                "HF_HUB_OFFLINE" => env.runtime.offline = !matches!(text().as_str(), "" | "0"),
                "HOME" | "USERPROFILE" if Path::new(&value).has_root() => env.home = Some(PathBuf::from(&value)),
                "TMPDIR" | "TEMP" | "TMP" if Path::new(&value).has_root() => {
                    env.temporary = Some(PathBuf::from(&value))
                }
                name if env.cloud.takes(name, &value) => {}
                "TERM" => env.dumb_terminal = text() == "dumb",
                "NO_COLOR" if !value.is_empty() => no_color = Some(false),
                "CLICOLOR" if text() == "0" => no_color = Some(false),
                "CLICOLOR_FORCE" if !matches!(text().as_str(), "" | "0") => forced = Some(true),
                // One that is empty counts as unset, as those above do.
                _ if name.starts_with("COLGREP_") && !OWN.contains(&name) && !value.is_empty() => {
                    let knob = variable::knob_of(name)?;
                    variable::set(&mut Knobs::of(Profile::Default), knob, &text())?;
                    env.knobs.insert(knob, text());
                }
                _ => {}
            }
        }
        env.data_folder = env.data_folder.or(xdg_folder);
        env.color = no_color.or(forced);
        env.background = env.background.or(is_automatic.then_some(false));
        Ok(env)
    }

    /// What cloud tools read of the variables.
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Where git's configuration is.
    pub(crate) fn git_places(&self) -> GitPlaces {
        GitPlaces::new(self.home.as_deref(), |name| self.git.get(name).cloned())
    }

    /// The same for a command that works on these files and folders, besides the current one.
    pub fn working_on<P: Into<PathBuf>>(&self, places: impl IntoIterator<Item = P>) -> Env {
        let places = self.places.iter().cloned().chain(places.into_iter().map(P::into)).collect();
        Env { places, ..self.clone() }
    }

    /// The same with the indexes in this folder.
    #[must_use]
    pub fn data_in(self, folder: impl Into<PathBuf>) -> Env {
        Env { data_folder: Some(folder.into()), ..self }
    }

    /// What models need of the variables.
    pub(crate) fn runtime(&self) -> RuntimeEnv {
        let executable = std::env::current_exe().ok();
        RuntimeEnv { executable, home: self.home.clone(), ..self.runtime.clone() }
    }

    /// What the command works on, besides the current folder.
    pub(crate) fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// The path by which this program is called: on PATH, or else as it was started, where that leads to this very file.
    /// Package managers keep such paths, and move the file itself with each version.
    pub fn program(&self) -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        let real = program.canonicalize().ok();
        let name = format!("colgrep{}", std::env::consts::EXE_SUFFIX);
        let called = std::env::args_os().next().map(PathBuf::from).filter(|c| c.components().count() > 1);
        let called = called.and_then(|c| std::path::absolute(c).ok());
        let on_path = self.runtime.path.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
        let same = on_path.chain(called).find(|path| real.is_some() && path.canonicalize().ok() == real);
        Some(same.unwrap_or(program))
    }

    /// Whether a program of this name is on PATH.
    pub fn is_on_path(&self) -> bool {
        let name = format!("colgrep{}", std::env::consts::EXE_SUFFIX);
        self.runtime.path.iter().any(|folder| folder.is_absolute() && folder.join(&name).is_file())
    }

    /// PATH for the programs that a command runs on the project at `root`. A folder of the project, or a relative one,
    /// could contain programs from whoever wrote the project, and is left out.
    pub(crate) fn programs(&self, root: &Path) -> OsString {
        let outside =
            |folder: &&PathBuf| folder.is_absolute() && !folder.canonicalize().is_ok_and(|real| real.starts_with(root));
        let folders = self.runtime.path.iter().filter(outside);
        let joined = std::env::join_paths(folders).unwrap_or_default();
        match (self.runtime.path.is_empty(), joined.is_empty()) {
            // Where PATH is not set, systems look here.
            (true, _) => "/usr/bin:/bin".into(),
            // An empty PATH would mean the current folder; use a path without programs.
            (false, true) => "/dev/null".into(),
            (false, false) => joined,
        }
    }

    /// Where indexes are kept.
    ///
    /// # Errors
    /// When neither the environment nor the platform names a place, or a relative one.
    pub fn data_folder(&self) -> Result<PathBuf> {
        // A relative one would depend on the current folder, and lie in searched trees.
        match &self.data_folder {
            Some(folder) if folder.has_root() => return Ok(folder.clone()),
            Some(folder) => return Err(SettingError::RelativeFolder { folder: folder.clone() }.into()),
            None => {}
        }
        match dirs::data_dir().filter(|folder| folder.has_root()) {
            Some(folder) => Ok(folder.join("colgrep").join("indices")),
            None => Err(SettingError::NoFolder.into()),
        }
    }

    /// The same without a network for models.
    pub fn offline(&self) -> Env {
        Env { runtime: RuntimeEnv { offline: true, ..self.runtime.clone() }, ..self.clone() }
    }

    /// The folder of programs' settings, if the environment names one.
    pub fn config_home(&self) -> Option<PathBuf> {
        self.config_folder.as_ref().and_then(|f| f.parent()).map(Path::to_path_buf)
    }

    /// The file of the user's settings, whether or not it exists; `None` where no place is known.
    pub fn settings_file(&self) -> Option<PathBuf> {
        let of_platform = || Some(dirs::config_dir().filter(|folder| folder.has_root())?.join("colgrep"));
        let folder = self.config_folder.clone().or_else(of_platform)?;
        Some(folder.join("config.toml"))
    }

    /// Knob values in force: the profile's (`flag` before the environment's), then the variables.
    ///
    /// # Errors
    /// When a value does not fit its knob.
    pub fn knobs(&self, flag: Option<Profile>) -> Result<Knobs> {
        let mut knobs = Knobs::of(flag.or(self.profile).unwrap_or_default());
        for (knob, value) in &self.knobs {
            variable::set(&mut knobs, *knob, value)?;
        }
        Ok(knobs)
    }
}

/// What a variable says that is 0 or 1; nothing where it is empty.
fn switch(name: &str, value: String) -> Result<Option<bool>> {
    match value.as_str() {
        "" => Ok(None),
        "0" => Ok(Some(false)),
        "1" => Ok(Some(true)),
        _ => Err(SettingError::Variable { name: name.to_string(), value, expected: "0 or 1".to_string() }.into()),
    }
}

/// The profile of that name.
///
/// # Errors
/// When no profile has that name.
pub fn profile(name: &str) -> Result<Profile> {
    match Profile::from_name(name) {
        Some(profile) => Ok(profile),
        None => Err(SettingError::Profile { name: name.to_string() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Env> {
        Env::read(vars.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))))
    }

    #[test]
    fn unknown_and_unfit_variables_are_errors() {
        for (name, value, expected) in [
            ("COLGREP_ALPHA", "0.5", ""),
            ("COLGREP_ALPHA", "", ""),
            ("COLGREP_ALPHA", "x", "COLGREP_ALPHA=x: expected a number from 0 to 1"),
            ("COLGREP_ALPHAS", "1", "COLGREP_ALPHAS is not a setting of colgrep; did you mean COLGREP_ALPHA?"),
            ("COLGREP_PROFILE", "old", "there is no profile \"old\"; there are default and classic"),
            ("COLGREP_BACKGROUND", "maybe", "COLGREP_BACKGROUND=maybe: expected 0 or 1"),
            ("COLGREP_WAIT", "yes", "COLGREP_WAIT=yes: expected 0 or 1"),
            ("COLGREP_TRACE", "2", "COLGREP_TRACE=2: expected 0 or 1"),
            ("COLGREP_TRACE", "", ""),
            ("COLGREP_WAIT", "0", ""),
            ("COLGREP_PROGRESS", "no", "COLGREP_PROGRESS=no: expected 0 or 1"),
            ("COLGREP_BACKGROUND", "1", ""),
            ("OTHER", "x", ""),
        ] {
            assert_eq!(read(&[(name, value)]).err().map(|e| e.to_string()).unwrap_or_default(), expected);
        }
    }

    #[test]
    fn places_by_precedence_whatever_the_order() {
        let folder = |vars: &[(&str, &str)]| read(vars).unwrap().data_folder().unwrap();
        let (own, xdg) = (("COLGREP_DATA_DIR", "/own"), ("XDG_DATA_HOME", "/xdg"));
        assert_eq!(folder(&[own, xdg]), PathBuf::from("/own"));
        assert_eq!(folder(&[xdg, own]), PathBuf::from("/own"));
        assert_eq!(folder(&[xdg]), PathBuf::from("/xdg/colgrep/indices"));
        assert_eq!(
            folder(&[xdg, ("XDG_DATA_HOME", "data")]),
            PathBuf::from("/xdg/colgrep/indices"),
            "relative: ignored"
        );
        let relative = read(&[("COLGREP_DATA_DIR", "own"), xdg]).unwrap().data_folder();
        assert_eq!(relative.unwrap_err().to_string(), "COLGREP_DATA_DIR is own, which is not an absolute path");
        assert_eq!(read(&[("HOME", "home"), ("XDG_CONFIG_HOME", "x")]).unwrap().config_home(), None);
        assert_eq!(read(&[("HOME", "home")]).unwrap().home, None);
    }

    #[test]
    fn the_flag_beats_the_environments_profile() {
        let env = read(&[("COLGREP_PROFILE", "classic"), ("COLGREP_K1", "2")]).unwrap();
        assert_eq!(env.knobs(None).unwrap().profile(), Profile::Classic);
        assert_eq!(read(&[("COLGREP_K1", ""), ("NO_COLOR", "")]).unwrap().knobs.len(), 0, "empty is unset");
        let knobs = env.knobs(Some(Profile::Default)).unwrap();
        assert_eq!((knobs.profile(), knobs.k1), (Profile::Default, 2.0));
    }
}
