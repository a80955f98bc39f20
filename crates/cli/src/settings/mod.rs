//! Settings: the user's file and a repository's committed `.colgrep.toml`, typed and validated by one table of keys.
//!
//! Precedence: flag > environment > repository > user > default.

mod file;
mod keys;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::rank;
use colgrep_index::mode::VectorMode;

pub use file::{remove, write};
pub use keys::{KEYS, Value, check_name, names, typed};

use crate::args::{Color, FusionArg, IndexMode, SearchArgs, Tests, WalkArgs};
use crate::env::{Env, profile};
use crate::project::Project;

/// Name of the settings file that a repository commits.
pub const REPOSITORY_FILE: &str = ".colgrep.toml";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing says otherwise.
    Default,
    /// The user's or the repository's file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(String),
    /// The index, as `init` made it.
    Index,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Index => f.write_str("the index, as `colgrep init` made it"),
            Source::Variable(name) => write!(f, "environment: {name}"),
        }
    }
}

/// The settings in force, flags aside.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<String, (Value, PathBuf)>,
    /// What the index around is to keep for the ranking by meaning.
    kept: VectorMode,
}

impl Settings {
    /// Reads the user's file and that of the repository around `start`, and looks what the index around it keeps.
    ///
    /// # Errors
    /// When one of them can't be read, or holds an unknown key or an unfit value.
    pub fn load(env: &Env, start: &Path) -> Result<Settings> {
        let kept = Project::around(start, env).map_or(VectorMode::default(), |(project, _)| project.store.mode());
        Settings::beside(kept, env, start)
    }

    /// The same, where it is known what the index keeps.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub(crate) fn beside(kept: VectorMode, env: &Env, start: &Path) -> Result<Settings> {
        let mut settings = Settings { kept, ..Settings::default() };
        let user = env.settings_file().filter(|p| p.is_file());
        for path in user.into_iter().chain(repository_file(env, start)) {
            let text = std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
            for (key, mut value) in file::read(&text).with_context(|| format!("{}", path.display()))? {
                if let ("model", Value::Text(name), Some(folder)) = (key.as_str(), &mut value, path.parent()) {
                    *name = model_from(folder, name);
                }
                settings.values.insert(key, (value, path.clone()));
            }
        }
        Ok(settings)
    }

    /// The value that a file gives.
    fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some((Value::Text(text), _)) => Some(text),
            _ => None,
        }
    }

    fn list(&self, key: &str) -> &[String] {
        match self.values.get(key) {
            Some((Value::List(list), _)) => list,
            _ => &[],
        }
    }

    fn number(&self, key: &str) -> Option<usize> {
        self.text(key).and_then(|t| t.parse().ok())
    }

    fn is_on(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    /// Patterns, as in a `.gitignore` at the project's root, of files that no search gives.
    pub fn ignore(&self) -> &[String] {
        self.list("ignore")
    }

    /// Own types of files: name and globs.
    pub fn types(&self) -> BTreeMap<&str, &[String]> {
        let own = self.values.iter().filter_map(|(key, (value, _))| match (key.strip_prefix("types."), value) {
            (Some(name), Value::List(globs)) => Some((name, globs.as_slice())),
            _ => None,
        });
        own.collect()
    }

    /// Fills in what the flags leave open.
    pub fn fill(&self, args: &mut SearchArgs) {
        fn choice<T: clap::ValueEnum>(text: Option<&str>) -> Option<T> {
            text.and_then(|t| T::from_str(t, true).ok())
        }
        args.results = args.results.or(self.number("results"));
        args.per_file = args.per_file.or(self.number("per_file"));
        args.lines = args.lines.or(self.number("lines"));
        args.tests = args.tests.or(choice::<Tests>(self.text("tests")));
        args.color = args.color.or(choice::<Color>(self.text("color")));
        args.fusion = args.fusion.or(choice::<FusionArg>(self.text("fusion")));
        args.hyperlink_format = args.hyperlink_format.take().or(self.text("hyperlink_format").map(str::to_string));
        args.model = args.model.take().or(self.model().map(str::to_string));
        args.code_only |= self.is_on("code_only") && !args.no_code_only;
        match choice::<Color>(self.text("heading")) {
            Some(Color::Always) if !args.no_heading => args.heading = true,
            Some(Color::Never) if !args.heading => args.no_heading = true,
            _ => {}
        }
        self.fill_walk(&mut args.walk);
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

    /// The index mode that a file sets.
    pub fn index_mode(&self) -> Option<IndexMode> {
        self.text("index_mode").and_then(crate::model::index_mode)
    }

    /// Fills in what the flags of the walk leave open.
    pub fn fill_walk(&self, walk: &mut WalkArgs) {
        walk.hidden |= self.is_on("hidden") && !walk.no_hidden;
        walk.index_mode = walk.index_mode.or(self.index_mode()).or(Some(self.kept.into()));
        walk.max_filesize = walk.max_filesize.or(self.text("max_filesize").and_then(|t| t.parse().ok()));
    }

    /// The ranking's constants in force. `flag` is the profile's flag, `alpha` that of the same name.
    ///
    /// # Errors
    /// When a value does not fit its knob.
    pub fn knobs(&self, env: &Env, flag: Option<&str>, alpha: Option<&str>) -> Result<Knobs> {
        let flag = flag.map(profile).transpose()?;
        let chosen = flag.or(env.profile).or(self.text("profile").and_then(Profile::from_name));
        let mut knobs = Knobs::of(chosen.unwrap_or_default());
        let known = rank::knobs();
        let own = self.values.iter().filter_map(|(key, (value, _))| match (keys::knob_name(key), value) {
            (Some(name), Value::Text(text)) => Some((name, text.as_str())),
            _ => None,
        });
        for (name, text) in own {
            knobs.set(&known, &name, text)?;
        }
        for (name, text) in &env.knobs {
            knobs.set(&known, name, text)?;
        }
        if let Some(alpha) = alpha {
            knobs.set(&known, "COLGREP_ALPHA", alpha).map_err(|e| anyhow::anyhow!("--alpha: {e}"))?;
        }
        Ok(knobs)
    }

    /// Every setting with its value in force (flags aside) and where that comes from; own types are listed too.
    pub fn all(&self, env: &Env) -> Vec<(String, Value, Source)> {
        let mut rows: Vec<(String, Value, Source)> = Vec::new();
        let from_file = |key: &str| self.values.get(key).map(|(v, p)| (v.clone(), Source::File(p.clone())));
        for key in KEYS {
            let from_variable = match key.name {
                "profile" => env.profile.map(|p| (p.name().to_string(), "COLGREP_PROFILE")),
                "color" => env
                    .color
                    .map(|on| if on { ("always", "CLICOLOR_FORCE") } else { ("never", "NO_COLOR or CLICOLOR") })
                    .map(|(v, n)| (v.to_string(), n)),
                _ => None,
            };
            let (value, source) = from_variable
                .map(|(value, name)| (Value::Text(value), Source::Variable(name.to_string())))
                .or_else(|| from_file(key.name))
                .or_else(|| {
                    let told = key.name == "index_mode" && self.kept != VectorMode::default();
                    told.then(|| (Value::Text(self.kept.name().to_string()), Source::Index))
                })
                .unwrap_or_else(|| (key.default_value(), Source::Default));
            rows.push((key.name.to_string(), value, source));
        }
        for (name, globs) in self.types() {
            let key = format!("types.{name}");
            let source = from_file(&key).map_or(Source::Default, |(_, source)| source);
            rows.push((key, Value::List(globs.to_vec()), source));
        }
        let base = self.knobs(env, None, None).unwrap_or_else(|_| Knobs::of(Profile::Default));
        for knob in rank::knobs() {
            let key = keys::knob_key(knob);
            let source = match env.knobs.get(knob.env) {
                Some(_) => Source::Variable(knob.env.to_string()),
                None => from_file(&key).map_or(Source::Default, |(_, source)| source),
            };
            rows.push((key, Value::Text(base.exact(knob).to_string()), source));
        }
        rows
    }
}

/// A model as a settings file in `folder` names it: a folder is meant from there.
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
