//! Which project a path belongs to, and where its index is.

pub mod damage;
pub mod dedup_roots;
pub mod git;
pub mod identity;
pub(crate) mod index_migration;
pub mod model;
pub mod open;
pub(crate) mod subprocess_limits;
pub mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Store, Upkeep, project_folder};
use colgrep_index::walk::{GitPlaces, LeftOut, WalkOptions, holds_more_than};

use crate::error::{Refused, Result};
use crate::settings::Settings;
use crate::settings::env::Env;

/// System folders, which are not projects; two of them contain home folders.
const SYSTEM: [&str; 19] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/private/etc",
    "/private/var",
];
/// Folders of temporary files, where the environment names no other.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/private/tmp"];
/// Maximum number of files of a folder that is indexed without confirmation; a repository may have more.
const FILES_MAX: usize = 50_000;
/// Maximum number of entries examined for repositories in a folder and its subfolders.
const LOOKED_AT_MAX: usize = 10_000;
/// Folders without source files at any depth.
const KERNEL: [&str; 2] = ["/proc", "/sys"];

/// The settings in force at `start`, those of the index around it included.
///
/// # Errors
/// When one of the files can't be read, or has an unknown key or an unfit value.
pub fn settings_at(start: &Path, env: &Env) -> Result<Settings> {
    let settings = Settings::read(env, start)?;
    Ok(match Project::found(start, env) {
        Ok((project, _)) => settings.of_index(project.mode()),
        Err(_) => settings,
    })
}

/// A project: its root and its store.
#[derive(Clone, Debug)]
pub struct Project {
    /// Absolute root.
    pub root: PathBuf,
    pub store: Store,
    /// How the index was kept when the project was found; none where there was no index.
    upkeep: Option<Upkeep>,
    /// What its settings leave out of the index, as in a `.gitignore` at the root; read by `Project::settings`.
    pub ignored: Vec<String>,
    /// Where git's configuration is.
    git: GitPlaces,
    /// Whether the root is only the folder of a file that was named, not one with an index, a git root or the current
    /// folder.
    of_a_file: bool,
    /// Where programs are looked for: folders of PATH that are absolute and outside the root.
    pub(crate) programs: OsString,
}

/// The components of a path, joined by slashes.
pub fn slashed(path: &Path) -> String {
    path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl Project {
    /// The project around `path`, and `path` relative to its root (`/` between components; empty for the root itself).
    ///
    /// The root is the nearest ancestor with an index, else the git root, else the folder given; for a file, the current
    /// folder if the file lies below it. An index above the git root counts only if `init` made it: one that a search
    /// made of some folder must not take in every repository below.
    ///
    /// # Errors
    /// When `path` does not exist, or is neither a file nor a folder.
    pub fn around(path: &Path, env: &Env) -> Result<(Project, String)> {
        let (mut project, below) = Project::found(path, env)?;
        project.programs = env.programs(&project.root);
        Ok((project, below))
    }

    /// The same without its programs, which take a look at each folder of PATH.
    fn found(path: &Path, env: &Env) -> Result<(Project, String)> {
        if path.as_os_str().is_empty() {
            return Err(Refused::EmptyPath.into());
        }
        let full = path.canonicalize().map_err(|source| match path.metadata() {
            // A pipe that a shell names, as /dev/fd/63, has no path of its own.
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Refused::Special { path: path.to_path_buf() },
            _ => Refused::Path { path: path.to_path_buf(), source },
        })?;
        let is_file = full.is_file();
        if !is_file && !full.is_dir() {
            return Err(Refused::Special { path: path.to_path_buf() }.into());
        }
        let folder = if is_file { full.parent().unwrap_or(&full) } else { &full };
        let data = env.data_folder()?;
        let store = |root: &Path| Store::new(project_folder(&data, root));
        let git = folder.ancestors().find(|a| a.join(".git").exists());
        let indexed = folder.ancestors().find_map(|ancestor| {
            let upkeep = store(ancestor).upkeep()?;
            let counts = git.is_none_or(|git| ancestor.starts_with(git)) || upkeep.by_init;
            counts.then_some((ancestor, upkeep))
        });
        let (indexed, upkeep) = indexed.unzip();
        let here = || std::env::current_dir().and_then(|d| d.canonicalize()).ok().filter(|h| full.starts_with(h));
        let known = indexed.or(git).map(Path::to_path_buf).or_else(|| if is_file { here() } else { None });
        let of_a_file = is_file && known.is_none();
        let root = known.unwrap_or_else(|| folder.to_path_buf());
        let below = full.strip_prefix(&root).unwrap_or(Path::new(""));
        let below = slashed(below);
        let store = store(&root);
        let programs = OsString::new();
        let git = env.git_places();
        Ok((Project { root, store, upkeep, ignored: Vec::new(), git, of_a_file, programs }, below))
    }

    /// The vector mode of its index when it was found.
    pub fn mode(&self) -> VectorMode {
        self.upkeep.unwrap_or_default().mode
    }

    /// The vector mode of its index now.
    pub fn kept_mode(&self) -> VectorMode {
        self.store.upkeep().unwrap_or_default().mode
    }

    /// The settings of the root. Its `ignore` patterns apply from now on.
    ///
    /// # Errors
    /// When a file of them is not to be understood.
    pub fn settings(&mut self, env: &Env) -> Result<Settings> {
        let settings = Settings::read(env, &self.root)?.of_index(self.kept_mode());
        self.ignored = settings.ignore().to_vec();
        Ok(settings)
    }

    /// The same, where the settings of another place are read already.
    pub fn settings_beside(&mut self, known: &Settings, env: &Env) -> Result<Settings> {
        let settings = known.beside(env, &self.root)?;
        self.ignored = settings.ignore().to_vec();
        Ok(settings)
    }

    /// What a walk for the index leaves out in addition to ignored and hidden files.
    pub fn left_out(&self) -> LeftOut<'_> {
        LeftOut { folder: Some(self.store.folder()), patterns: &self.ignored, git: Some(&self.git) }
    }

    /// Refuses to index a home folder, a folder of the system, the whole disk, everything next to a file, several
    /// repositories at once, or a great many files outside a repository, unless confirmed.
    ///
    /// # Errors
    /// When `root` is one of them and `yes` is not given.
    pub fn check_size(&self, env: &Env, yes: bool) -> Result<()> {
        if yes || self.upkeep.is_some() || self.store.exists() {
            return Ok(());
        }
        let root = || self.root.clone();
        if self.of_a_file {
            return Err(Refused::LoneFile { root: root() }.into());
        }
        let home = env.home.as_ref().and_then(|h| h.canonicalize().ok());
        let of_system =
            SYSTEM.iter().any(|s| self.root == Path::new(s)) || KERNEL.iter().any(|k| self.root.starts_with(k));
        if self.root.parent().is_none() || home.as_deref() == Some(&self.root) || of_system {
            return Err(Refused::NoProject { root: root() }.into());
        }
        let temporary = TEMPORARY.iter().map(Path::new).chain(env.temporary.as_deref());
        if temporary.filter_map(|t| t.canonicalize().ok()).any(|temporary| temporary == self.root) {
            return Err(Refused::Temporary { root: root() }.into());
        }
        if self.root.join(".git").exists() { Ok(()) } else { self.check_content() }
    }

    /// Refuses a folder outside a repository because of its content.
    fn check_content(&self) -> Result<()> {
        let root = || self.root.clone();
        if let [first, second, ..] = repositories_below(&self.root, 2).as_slice() {
            let (first, second) = (first.clone(), second.clone());
            return Err(Refused::Repositories { root: root(), first, second }.into());
        }
        if holds_more_than(FILES_MAX, &self.root, &self.left_out(), &WalkOptions::default()).unwrap_or(false) {
            return Err(Refused::ManyFiles { root: root(), files: FILES_MAX }.into());
        }
        Ok(())
    }
}

/// At most `most` Git repositories in a folder and its direct subfolders, as paths relative to the folder. Skips hidden
/// folders, and entries beyond a limit.
pub fn repositories_below(root: &Path, most: usize) -> Vec<PathBuf> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().take(LOOKED_AT_MAX).flatten();
        let is_shown = |entry: &std::fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
        let shown = entries.filter(|e| is_shown(e) && e.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut paths: Vec<PathBuf> = shown.map(|e| e.path()).collect();
        paths.sort_unstable();
        paths
    };
    let (mut found, mut looked_at) = (Vec::new(), 0);
    for folder in folders(root) {
        let below = if folder.join(".git").exists() { vec![folder] } else { folders(&folder) };
        looked_at += below.len() + 1;
        found.extend(below.into_iter().filter(|folder| folder.join(".git").exists()).take(most));
        if found.len() >= most || looked_at > LOOKED_AT_MAX {
            break;
        }
    }
    found.iter().take(most).map(|path| path.strip_prefix(root).unwrap_or(path).to_path_buf()).collect()
}
