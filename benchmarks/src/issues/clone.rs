//! Clones of public repositories: their folders, the messages and changes of their commits, and checkouts.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Between commits in what git prints, and between the parts of one.
const COMMIT: char = '\x1e';
const PART: char = '\x1f';

/// A clone, bare or with a work tree. Nothing is written into it.
#[derive(Clone, Debug)]
pub struct Mirror {
    git: PathBuf,
}

/// A commit with one parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearCommit {
    /// Its name.
    pub id: String,
    /// Its parent's.
    pub parent: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    pub message: String,
}

impl Mirror {
    /// The clone of `repository` (`OWNER/NAME`) below `clones`: `OWNER+NAME`, `OWNER+NAME/repo` or `OWNER/NAME`.
    pub fn find(clones: &Path, repository: &str) -> Option<Mirror> {
        let flat = clones.join(repository.replacen('/', "+", 1));
        let places = [flat.join("repo"), flat, clones.join(repository)];
        let inside = places.into_iter().flat_map(|place| [place.join(".git"), place]);
        inside
            .into_iter()
            .find(|git| git.join("HEAD").is_file() && git.join("objects").is_dir())
            .map(|git| Mirror { git })
    }

    pub fn file(&self, revision: &str, path: &str) -> Result<Vec<u8>> {
        self.ask(&["cat-file", "blob", &format!("{revision}:{path}")], &[], None)
    }

    /// The folders directly below `folder` (that ends in `/`) whose names begin with `begin`, by name.
    pub fn folders(&self, revision: &str, folder: &str, begin: &str) -> Result<Vec<String>> {
        let listed = self.ask(&["ls-tree", "-d", "--name-only", revision, folder], &[], None)?;
        let text = String::from_utf8_lossy(&listed).into_owned();
        let named = text.lines().filter(|path| path.strip_prefix(folder).is_some_and(|name| name.starts_with(begin)));
        Ok(named.map(String::from).collect())
    }

    /// When a commit was made, in seconds since 1970; none where the clone lacks it.
    pub fn time(&self, revision: &str) -> Option<i64> {
        let told = self.ask(&["show", "-s", "--format=%ct", &format!("{revision}^{{commit}}")], &[], None).ok()?;
        String::from_utf8_lossy(&told).trim().parse().ok()
    }

    pub fn commit(&self, revision: &str) -> Result<LinearCommit> {
        let told = self.ask(&["show", "-s", &format(), revision], &[], None)?;
        let text = String::from_utf8_lossy(&told).into_owned();
        text.split(COMMIT).find_map(read).with_context(|| format!("{revision} has no parent"))
    }

    /// The ancestors of a revision that have one parent.
    pub fn commits(&self, revision: &str) -> Result<Vec<LinearCommit>> {
        let told = self.ask(&["log", "--no-merges", &format(), revision, "--"], &[], None)?;
        Ok(String::from_utf8_lossy(&told).split(COMMIT).filter_map(read).collect())
    }

    /// For each of these commits its name and the files of its parent that it changed or removed.
    pub fn changed<'c>(&self, commits: impl Iterator<Item = &'c LinearCommit>) -> Result<Vec<(String, Vec<String>)>> {
        let asked: String = commits.map(|commit| format!("{}\n", commit.id)).collect();
        let format = format!("--format={COMMIT}%H");
        let args = ["log", "--no-walk=unsorted", "--stdin", "--no-renames", "--name-status", &format];
        let told = self.ask(&args, &[], Some(asked.as_bytes()))?;
        let text = String::from_utf8_lossy(&told).into_owned();
        let of = |block: &str| {
            let mut lines = block.lines();
            let id = lines.next()?.to_string();
            let known = lines.filter_map(|line| line.split_once('\t')).filter(|(status, _)| *status != "A");
            Some((id, known.map(|(_, path)| path.to_string()).collect()))
        };
        Ok(text.split(COMMIT).filter_map(of).collect())
    }

    /// Lays out the files of a revision in `tree`, changing what differs from the revision that `index` (a file next to
    /// it) remembers. What the clone lacks is left out.
    pub fn lay_out(&self, revision: &str, tree: &Path, index: &Path) -> Result<()> {
        std::fs::create_dir_all(tree).with_context(|| tree.display().to_string())?;
        let vars = [("GIT_INDEX_FILE", index), ("GIT_WORK_TREE", tree)];
        if self.ask(&["read-tree", "--reset", "-u", revision], &vars, None).is_ok() {
            return Ok(());
        }
        self.ask(&["read-tree", revision], &vars, None)?;
        self.ask(&["clean", "-q", "-f", "-d", "-x"], &vars, None)?;
        let laid_out = self.ask(&["checkout-index", "-q", "-a", "-f", "-u"], &vars, None);
        // It fails too where a file's text is not in the clone, once all others are laid out.
        if std::fs::read_dir(tree)?.next().is_none() {
            laid_out?;
        }
        Ok(())
    }

    /// Runs git in `tree` or the clone, and gives what it prints.
    fn ask(&self, args: &[&str], vars: &[(&str, &Path)], input: Option<&[u8]>) -> Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("-c").arg("core.quotePath=false").arg("-c").arg("core.bare=false").arg("--git-dir").arg(&self.git);
        command.args(args).envs(vars.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some((_, tree)) = vars.iter().find(|(name, _)| *name == "GIT_WORK_TREE") {
            command.current_dir(tree);
        }
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().context("git")?;
        let pipe = child.stdin.take();
        let output = std::thread::scope(|scope| {
            scope.spawn(|| input.zip(pipe).map(|(input, mut pipe)| pipe.write_all(input)));
            child.wait_with_output()
        })?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!("git {} in {}: {}", args[0], self.git.display(), told.trim());
        }
        Ok(output.stdout)
    }
}

fn format() -> String {
    format!("--format={COMMIT}%H{PART}%P{PART}%ct{PART}%B")
}

fn read(block: &str) -> Option<LinearCommit> {
    let mut parts = block.splitn(4, PART);
    let mut part = || parts.next().map(str::trim);
    let (id, parents, time, message) = (part()?, part()?, part()?, part()?);
    let parent = parents.split(' ').next().filter(|parent| !parent.is_empty())?;
    Some(LinearCommit { id: id.into(), parent: parent.into(), time: time.parse().ok()?, message: message.into() })
}
