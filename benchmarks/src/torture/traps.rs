//! `traps`: clones that want something of colgrep run or read. Traps are drawn and combined; every command walks in.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;

use super::apart::apart;
use super::subject::link;
use super::{Tally, TortureArgs, case_seed, go_through};
use crate::process::{Ended, printed, run as ended};
use crate::speed::process::Program;

/// Content of files outside the project.
const CANARY: &str = "canary_9d03";
/// Content of its secrets. Only a search for every matching line shows them, as grep does.
const SECRET: &str = "secret_51ee";
/// Traps of one clone, at most.
const TRAPS_MAX: usize = 6;
/// Names that a program of a clone could take to be started in place of the real one.
const NAMES: [&str; 9] = ["git", "sh", "ssh", "less", "cc", "hg", "python3", "colgrep", "uname"];
/// Settings of git that name programs. PROGRAM is replaced by one of the clone's.
const CONFIGURED: [&str; 19] = [
    "[core]\n\tfsmonitor = PROGRAM\n",
    "[core]\n\thooksPath = hooks\n",
    "[core]\n\tpager = PROGRAM\n\teditor = PROGRAM\n\taskPass = PROGRAM\n",
    "[core]\n\tsshCommand = PROGRAM\n\tgitProxy = PROGRAM\n",
    "[core]\n\tvirtualFilesystem = PROGRAM\n",
    "[core]\n\talternateRefsCommand = PROGRAM\n",
    "[filter \"x\"]\n\tclean = PROGRAM\n\tsmudge = PROGRAM\n\trequired = true\n",
    "[filter \"x\"]\n\tprocess = PROGRAM\n",
    "[filter \"x\"]\n\tclean = PROGRAM\n[filter \"y.z\"]\n\tprocess = PROGRAM\n",
    "[diff]\n\texternal = PROGRAM\n",
    "[diff \"d\"]\n\tcommand = PROGRAM\n\ttextconv = PROGRAM\n\tcachetextconv = true\n",
    "[merge \"d\"]\n\tdriver = PROGRAM\n",
    "[alias]\n\tdiff = !PROGRAM\n\tlog = !PROGRAM\n\trev-parse = !PROGRAM\n\tstatus = !PROGRAM\n",
    "[credential]\n\thelper = !PROGRAM\n",
    "[gpg]\n\tprogram = PROGRAM\n[log]\n\tshowSignature = true\n",
    "[include]\n\tpath = ../.config-of-the-clone\n",
    "[remote \"origin\"]\n\turl = ext::PROGRAM %S\n\tpromisor = true\n\tuploadpack = PROGRAM\n[protocol \"ext\"]\n\tallow = always\n",
    "[uploadpack]\n\tpackObjectsHook = PROGRAM\n",
    "[trace2]\n\teventTarget = /dev/null\n[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n",
];
/// Settings of colgrep that a clone could bring.
const SETTINGS: [&str; 7] = [
    "model = \"./m\"\n",
    "model = \"../outside\"\nindex_mode = \"full\"\n",
    "hidden = true\nmax_filesize = \"100G\"\n",
    "hidden = true\nignore = [\"!.env\", \"!*\"]\n",
    "index_mode = \"full\"\nmodel = \"default\"\n",
    "model = \"evil/model\"\n",
    "ignore = [\"../**\"]\n",
];
/// What is asked of the clone.
const COMMANDS: [&[&str]; 16] = [
    &["trapped"],
    &["trapped", "--changed"],
    &["trapped", "--since=HEAD"],
    &["-e", "trapped|canary|secret", "--changed"],
    &["-e", "trapped|canary|secret", "--since", "HEAD"],
    &["-e", "canary|secret", "--hidden"],
    &["init"],
    &["init", "--index-mode", "lite"],
    &["status"],
    &["doctor"],
    &["settings"],
    &["--like", "changed.rs:1"],
    &["outline", "changed.rs"],
    &["hook", "claude-code"],
    &["log", "trapped"],
    &["log", "first", "--json"],
];

/// A clone and its surroundings.
struct TrapScene {
    folder: tempfile::TempDir,
    library: Option<PathBuf>,
}

impl TrapScene {
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn root(&self) -> PathBuf {
        self.at("project")
    }

    fn new(library: Option<&Path>) -> Result<TrapScene> {
        let scene = TrapScene { folder: tempfile::tempdir()?, library: library.map(Path::to_path_buf) };
        for folder in ["project", "home", "outside"] {
            fs::create_dir(scene.at(folder))?;
        }
        fs::write(scene.at("outside/secret.rs"), format!("fn {CANARY}() {{}}\n"))?;
        let program = format!("#!/bin/sh\ntouch '{}'\n[ $# != 0 ] || cat\n", scene.marker().display());
        fs::write(scene.program(), program)?;
        executable(&scene.program())?;
        scene.write("changed.rs", "fn old() {}\n")?;
        scene.write("touched.rs", "fn trapped() {}\n")?;
        let words: [&[&str]; 3] = [&["init", "-q"], &["add", "."], &["commit", "-qm", "first"]];
        words.iter().try_for_each(|words| scene.git(words))?;
        scene.write("changed.rs", "fn trapped() {}\n")?;
        Ok(scene)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    fn append(&self, path: &str, text: &str) -> Result<()> {
        let text = text.replace("PROGRAM", &self.program().display().to_string());
        Ok(fs::OpenOptions::new().append(true).create(true).open(self.root().join(path))?.write_all(text.as_bytes())?)
    }

    fn git(&self, words: &[&str]) -> Result<()> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(self.root());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", self.at("home"));
        printed(&mut git).map(drop)
    }

    /// The program that leaves the marker.
    fn program(&self) -> PathBuf {
        self.at("program")
    }

    fn marker(&self) -> PathBuf {
        self.at("was-run")
    }

    /// Sets a trap drawn by chance and names it.
    fn plant(&self, random: &mut StdRng) -> Result<String> {
        let kind = random.random_range(0..12);
        let name = match kind {
            0..4 => {
                self.append(".gitattributes", "*.rs filter=x diff=d merge=d\n*.md filter=y.z\n")?;
                let config = CONFIGURED.choose(random).copied().unwrap_or_default();
                let place =
                    *[".git/config", ".git/config", ".config-of-the-clone"].choose(random).unwrap_or(&".git/config");
                if place != ".git/config" {
                    self.append(".git/config", "[include]\n\tpath = ../.config-of-the-clone\n")?;
                }
                self.append(place, config)?;
                format!("{config:?} in {place}")
            }
            4 => {
                for hook in
                    ["post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc", "reference-transaction"]
                {
                    for folder in ["hooks", ".git/hooks"] {
                        self.copy_program(&format!("{folder}/{hook}"))?;
                    }
                }
                "hooks".to_string()
            }
            5 => {
                NAMES.iter().try_for_each(|name| {
                    ["", "bin/", ".venv/bin/"]
                        .iter()
                        .try_for_each(|folder| self.copy_program(&format!("{folder}{name}")))
                })?;
                "programs by name".to_string()
            }
            6 | 7 => {
                let settings = SETTINGS.choose(random).copied().unwrap_or_default();
                self.write(".colgrep.toml", settings)?;
                ["m/tokenizer.json", "m/config.json"].iter().try_for_each(|name| self.write(name, "{}"))?;
                ["m/model.onnx", "m/model_quantized.onnx"].iter().try_for_each(|name| self.write(name, "onnx"))?;
                format!("{settings:?}")
            }
            8 => {
                for folder in [".venv/lib/python3.11/site-packages/onnxruntime/capi", "lib", "", "m"] {
                    for name in ["libonnxruntime.so", "libonnxruntime.so.1.17.1", "libonnxruntime.so.1"] {
                        let to = self.root().join(folder).join(name);
                        fs::create_dir_all(to.parent().context("a folder")?)?;
                        self.library.as_ref().map(|library| fs::copy(library, &to)).transpose()?;
                    }
                }
                "a library".to_string()
            }
            9 => {
                for (name, to) in
                    [("link.rs", "../outside/secret.rs"), ("folder", "../outside"), ("up", ".."), ("m2", "/")]
                {
                    link(to, &self.root().join(name))?;
                }
                "links out".to_string()
            }
            10 => {
                self.write(".env", &format!("TRAPPED={SECRET}\n"))?;
                self.write("id_rsa", &format!("trapped {SECRET}"))?;
                self.write("deploy/prod.pem", &format!("trapped {SECRET}"))?;
                "secrets".to_string()
            }
            _ => {
                // A repository whose configuration is elsewhere in the clone.
                fs::rename(self.root().join(".git"), self.root().join("real"))?;
                self.write(".git", "gitdir: real\n")?;
                self.append("real/config", "[core]\n\tfsmonitor = PROGRAM\n")?;
                fs::rename(self.root().join(".git"), self.root().join(".git-file"))?;
                fs::rename(self.root().join("real"), self.root().join(".git"))?;
                self.append(".git/config", "[core]\n\tworktree = ..\n")?;
                "git's folder elsewhere".to_string()
            }
        };
        Ok(name)
    }

    fn copy_program(&self, path: &str) -> Result<()> {
        let to = self.root().join(path);
        fs::create_dir_all(to.parent().context("a folder")?)?;
        fs::copy(self.program(), &to)?;
        executable(&to)
    }

    /// The surroundings that a user of the clone may have: relative folders on the path, an environment inside it.
    fn surroundings(&self, command: &mut Command, random: &mut StdRng) {
        let path =
            ["/usr/local/bin:/usr/bin:/bin", ".:/usr/local/bin:/usr/bin:/bin", ":bin:/usr/local/bin:/usr/bin:/bin"];
        command.env("PATH", path.choose(random).unwrap_or(&path[0]));
        command.env("HOME", self.at("home")).env("COLGREP_DATA_DIR", self.at("data"));
        if random.random_bool(0.5) {
            command.env("VIRTUAL_ENV", self.root().join(".venv")).env("CONDA_PREFIX", self.root());
        }
        command.current_dir(self.root());
    }

    fn failures(&self, what: &str, ended: &Ended) -> Result<Vec<(&'static str, String)>> {
        let mut failures: Vec<(&'static str, String)> = ended.wrong().into_iter().collect();
        if self.marker().exists() {
            fs::remove_file(self.marker())?;
            failures.push(("run", String::new()));
        }
        if ended.out.contains(CANARY) || ended.err.contains(CANARY) {
            failures.push(("read", ended.out.clone()));
        }
        if ended.out.contains(SECRET) && !what.contains("\"-e\"") {
            failures.push(("secret", ended.out.clone()));
        }
        Ok(failures.into_iter().map(|(kind, text)| (kind, format!("{what}: {text}"))).collect())
    }
}

fn executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let _ = path;
    Ok(())
}

/// A library that leaves a marker when it is loaded; `None` without a C compiler.
fn library(folder: &Path) -> Result<Option<PathBuf>> {
    let (source, library) = (folder.join("trap.c"), folder.join("libonnxruntime.so"));
    let text = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void run(void) {\n\
                char *home = getenv(\"HOME\"), path[4096];\n\
                if (home) { snprintf(path, sizeof path, \"%s/../was-run\", home); FILE *f = fopen(path, \"w\"); if (f) fclose(f); }\n}\n\
                const void *OrtGetApiBase(void) { return 0; }\n";
    fs::write(&source, text)?;
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output();
    Ok(built.is_ok_and(|output| output.status.success()).then_some(library))
}

/// Runs the kind, where there are shell scripts and links.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    if !cfg!(unix) {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    let library = library(folder.path())?;
    let program = Program::colgrep(args.colgrep.as_deref())?;
    let cases = (0..args.cases as u64).collect();
    let tally = go_through(args, "traps, clones", cases, |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let scene = TrapScene::new(library.as_deref())?;
        let mut planted = Vec::new();
        for _ in 0..random.random_range(1..=TRAPS_MAX) {
            planted.push(scene.plant(&mut random)?);
            *counts.entry("traps").or_default() += 1;
        }
        let mut failures = Vec::new();
        for _ in 0..3 {
            let words = COMMANDS.choose(&mut random).copied().unwrap_or_default();
            let mut command = program.command(words);
            scene.surroundings(&mut command, &mut random);
            let ended = apart(|| ended(&mut command))?;
            *counts.entry("commands").or_default() += 1;
            failures.extend(scene.failures(&format!("case {case}, {planted:?}, {words:?}"), &ended)?);
        }
        let ended = apart(|| served(&scene, &program, &mut random))?;
        *counts.entry("servers").or_default() += 1;
        failures.extend(scene.failures(&format!("case {case}, {planted:?}, mcp"), &ended)?);
        Ok(failures)
    })?;
    Ok(vec![tally])
}

/// A server in the clone, asked for all that it should not give.
fn served(scene: &TrapScene, program: &Program, random: &mut StdRng) -> Result<Ended> {
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "torture", "version": "1"}});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    let files = [
        "link.rs",
        "folder/secret.rs",
        "up/outside/secret.rs",
        "../outside/secret.rs",
        ".env",
        "id_rsa",
        "deploy/prod.pem",
        ".git/config",
    ];
    let outside = scene.at("outside/secret.rs");
    for (id, file) in files.iter().copied().chain(outside.to_str()).enumerate() {
        for (at, (name, arguments)) in [
            ("outline", json!({"file": file})),
            ("read_unit", json!({"file": file, "line": 1})),
            ("grep", json!({"pattern": "9d03|51ee", "paths": [file]})),
            ("find_related", json!({"file": file, "line": 1})),
            ("search", json!({"query": "trapped secret 9d03", "content": true, "paths": [file]})),
        ]
        .into_iter()
        .enumerate()
        {
            let params = json!({"name": name, "arguments": arguments});
            lines.push(json!({"jsonrpc": "2.0", "id": id * 10 + at + 1, "method": "tools/call", "params": params}));
        }
    }
    let mut command = program.command(&["mcp"]);
    scene.surroundings(&mut command, random);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut to = child.stdin.take().context("an input")?;
    let writer = std::thread::spawn(move || lines.iter().all(|line| writeln!(to, "{line}").is_ok()));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(Ended::of(&output))
}
