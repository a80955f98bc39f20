//! A project in a folder of its own, and the binary run in it.

pub mod agents;
pub mod browser;
pub mod mcp;
pub mod past;
pub mod process;
pub mod serve;
pub mod several;
pub mod shard;
pub mod shared;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A project with its own place for indexes; both go when it is dropped.
pub struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// An empty project, ranked by keywords alone: what these tests expect is exact, and the model is slow unoptimised.
    pub fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("project")).expect("a folder");
        let sandbox = Sandbox { folder };
        fs::create_dir_all(sandbox.settings().parent().expect("a folder")).expect("a folder");
        fs::write(sandbox.settings(), "index_mode = \"keyword\"\n").expect("a file");
        sandbox
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("config/colgrep/config.toml")
    }

    /// The same project, ranked as everybody's is.
    pub fn with_meaning(self) -> Sandbox {
        fs::remove_file(self.settings()).expect("a file");
        self
    }

    /// A copy of a fixture project.
    pub fn of(fixture: &str) -> Sandbox {
        let sandbox = Sandbox::new();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture), &sandbox.root());
        sandbox
    }

    /// The project's root.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().expect("a folder")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// The binary, ready to run in the project with no environment but its own.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colgrep"));
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("COLGREP_DATA_DIR", self.data())
            .env("COLGREP_BACKGROUND", "0")
            .env("COLGREP_WAIT", "1")
            // Progress lines appear after some seconds, which happens on a busy machine only.
            .env("COLGREP_PROGRESS", "0")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("a binary that starts"), &self.root())
    }

    /// Runs the binary, which has to refuse with a message that contains `why`.
    #[track_caller]
    pub fn refuses(&self, args: &[&str], why: &str) {
        let ran = self.run(args);
        assert!(ran.status == 2 && ran.err.contains(why), "{args:?}: {ran:?}");
    }

    /// Runs the binary with variables set.
    pub fn run_with(&self, vars: &[(&str, &str)], args: &[&str]) -> Ran {
        Ran::of(self.command(args).envs(vars.iter().copied()).output().expect("a binary that starts"), &self.root())
    }
}

/// Runs the binary in another folder.
pub fn run_in(sandbox: &Sandbox, folder: &Path, args: &[&str]) -> Ran {
    let output = sandbox.command(args).current_dir(folder).output().expect("a binary that starts");
    Ran::of(output, &sandbox.root())
}

/// Runs git in a folder with nobody's settings; what it prints.
pub fn git_in(folder: &Path, env: &[(&str, &str)], args: &[&str]) -> String {
    let fixed = ["init.defaultBranch=main", "user.name=A", "user.email=a@example.com", "protocol.file.allow=always"];
    let mut command = Command::new("git");
    command.args(fixed.iter().flat_map(|setting| ["-c", setting])).args(args).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").envs(env.iter().copied());
    let output = command.output().expect("git");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// Runs git in a project; what it prints.
pub fn git(sandbox: &Sandbox, args: &[&str]) -> String {
    git_in(&sandbox.root(), &[], args)
}

/// What a run gave; the project's root reads `ROOT`.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// From a finished process.
    pub fn of(output: Output, root: &Path) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root.display().to_string(), "ROOT");
        Ran { status: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The first fields of `path:line:text` rows.
    pub fn paths(&self) -> Vec<&str> {
        self.out.lines().filter_map(|l| l.split(':').next()).collect()
    }
}

/// What commands print on a terminal of 60 columns, which `script` lends; nothing where that is missing.
pub fn on_terminal(sandbox: &Sandbox, term: &str, commands: &str) -> Option<String> {
    let mut script = Command::new("script");
    let like = sandbox.command(&[]);
    let command = format!("stty cols 60 rows 24; {}", commands.replace("colgrep", env!("CARGO_BIN_EXE_colgrep")));
    script.args(["-qec", &command, "/dev/null"]).current_dir(sandbox.root()).stdin(Stdio::null()).env_clear();
    script.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?)))).env("PATH", "/usr/bin:/bin").env("TERM", term);
    let output = script.output().ok().filter(|o| !o.stdout.is_empty())?;
    Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}

/// Checks that the answer to each query begins so.
pub fn leads(sandbox: &Sandbox, rows: &[(&str, &str)]) {
    for (query, expected) in rows {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

/// Runs each row's words and compares what is printed, line by line.
pub fn check(sandbox: &Sandbox, rows: &[(&str, &str)]) {
    for (words, expected) in rows {
        let args: Vec<&str> = words.split(' ').map(|w| if w == "QUERY" { "parse request" } else { w }).collect();
        let ran = sandbox.run(&args);
        assert_eq!(ran.out.replace('\0', "0").trim_end().replace('\n', " | "), *expected, "{words}: {}", ran.err);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a fixture").flatten() {
        let target = to.join(entry.file_name().to_string_lossy().trim_end_matches(".fixture"));
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}
