//! Repositories whose configuration names programs: asked what changed, nothing of it is run.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::{Sandbox, git};

/// A commit that no repository has: a partial clone would fetch it.
const MISSING: &str = "0123456789012345678901234567890123456789";

/// A repository of two files, of which `changed.rs` differs and `touched.rs` has only another time, and a program that
/// leaves a trace when it runs.
struct Trap {
    sandbox: Sandbox,
}

impl Trap {
    fn new() -> Trap {
        let trap = Trap { sandbox: Sandbox::new() };
        trap.sandbox.write("changed.rs", "fn old() {}\n");
        trap.sandbox.write("touched.rs", "fn trapped() {}\n");
        // A filter is called without words.
        let program = format!("#!/bin/sh\ntouch '{}'\n[ $# != 0 ] || cat\n", trap.marker().display());
        fs::write(trap.program(), program).expect("a script");
        fs::set_permissions(trap.program(), fs::Permissions::from_mode(0o755)).expect("a script");
        trap.git(&["init", "-q"]);
        trap.git(&["add", "."]);
        trap.git(&["commit", "-qm", "first"]);
        trap
    }

    fn marker(&self) -> PathBuf {
        self.sandbox.data().with_file_name("was-run")
    }

    fn program(&self) -> PathBuf {
        self.sandbox.data().with_file_name("program")
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.sandbox, words)
    }

    /// Sets rows of the configuration, with `PROGRAM` replaced by the program.
    fn config(&self, rows: &[(&str, &str)]) {
        for (key, value) in rows {
            self.git(&["config", key, &value.replace("PROGRAM", &self.program().display().to_string())]);
        }
    }

    /// Makes the files differ, in content and in time alone, in `folder`.
    fn spring(&self, folder: &str) {
        self.sandbox.write(&format!("{folder}changed.rs"), "fn trapped() {}\n");
        let touched = fs::File::options().append(true).open(self.sandbox.root().join(format!("{folder}touched.rs")));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        touched.expect("a file").set_modified(later).expect("a time");
    }

    /// What a search for changed files gives, after a look that nothing was run.
    fn answer(&self, what: &str, flag: &str) -> crate::common::Ran {
        let ran = self.sandbox.run_with(&[("PATH", "/usr/local/bin:/usr/bin:/bin")], &["-e", "trapped", "-l", flag]);
        assert!(!self.marker().exists(), "{what}: a program was run: {ran:?}");
        ran
    }

    /// The folder that git keeps of the repository in `folder`.
    fn git_folder(&self, folder: &str) -> PathBuf {
        self.sandbox.root().join(folder).join(".git")
    }
}

/// Writes an executable copy of `program`.
fn executable(program: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    fs::copy(program, to).expect("a script");
}

#[test]
fn the_index_of_git_is_neither_locked_nor_written() {
    // Git notes the new times of files whose content is the same, under a lock: a `git add` in that moment failed.
    let trap = Trap::new();
    trap.spring("");
    let index = trap.sandbox.root().join(".git/index");
    let before = fs::read(&index).expect("git's index");
    let ran = trap.answer("a file of another time", "--changed");
    assert_eq!((ran.status, ran.out.as_str()), (0, "changed.rs\n"), "{ran:?}");
    assert!(fs::read(&index).expect("git's index") == before);
}

#[test]
fn programs_of_a_configuration_are_not_run_and_the_answer_is_right() {
    let filtered = "*.rs filter=x.y diff=d\n";
    for (what, attributes, config) in [
        ("clean", filtered, &[("filter.x.y.clean", "PROGRAM")][..]),
        ("clean, required", filtered, &[("filter.x.y.clean", "PROGRAM"), ("filter.x.y.required", "true")]),
        ("process", filtered, &[("filter.x.y.process", "PROGRAM"), ("filter.x.y.required", "true")]),
        ("process before clean", filtered, &[("filter.x.y.clean", "PROGRAM"), ("filter.x.y.process", "PROGRAM")]),
        ("hooks", "", &[("core.hooksPath", "hooks-of-the-tree")]),
        ("monitor", "", &[("core.fsmonitor", "PROGRAM")]),
        ("external diff", "", &[("diff.external", "PROGRAM")]),
        ("external diff by attribute", filtered, &[("diff.d.command", "PROGRAM")]),
        ("textconv", filtered, &[("diff.d.textconv", "PROGRAM"), ("diff.d.cachetextconv", "true")]),
        ("pager", "", &[("core.pager", "PROGRAM"), ("pager.diff", "PROGRAM"), ("alias.diff", "!PROGRAM")]),
    ] {
        let trap = Trap::new();
        executable(&trap.program(), &trap.sandbox.root().join("hooks-of-the-tree/post-index-change"));
        trap.sandbox.write(".gitattributes", attributes);
        trap.git(&["add", "."]);
        trap.git(&["commit", "-qm", "second"]);
        trap.config(config);
        trap.spring("");
        assert_eq!(trap.answer(what, "--changed").out, "changed.rs\n", "{what}");
        trap.spring("");
        assert_eq!(trap.answer(what, "--since=HEAD~1").out, "changed.rs\n", "{what}");
    }
}

#[test]
fn programs_that_other_files_name_are_not_run() {
    type Set = fn(&Trap);
    let set: [(&str, Set); 5] = [
        ("a hook that lies there", |trap| {
            executable(&trap.program(), &trap.git_folder("").join("hooks/post-index-change"));
        }),
        ("attributes of .git", |trap| {
            trap.config(&[("filter.x.clean", "PROGRAM")]);
            fs::create_dir_all(trap.git_folder("").join("info")).expect("a folder");
            fs::write(trap.git_folder("").join("info/attributes"), "*.rs filter=x\n").expect("a file");
        }),
        ("attributes by configuration", |trap| {
            trap.config(&[("filter.x.clean", "PROGRAM"), ("core.attributesFile", "../config/attributes")]);
            fs::write(trap.sandbox.data().with_file_name("config/attributes"), "*.rs filter=x\n").expect("a file");
        }),
        ("an included file", |trap| {
            let text = format!("[filter \"x\"]\nclean = {}\n[core]\nfsmonitor = {0}\n", trap.program().display());
            trap.sandbox.write(".config-of-the-tree", &text);
            trap.sandbox.write(".gitattributes", "*.rs filter=x\n");
            trap.config(&[("include.path", "../.config-of-the-tree")]);
        }),
        ("the configuration of a worktree", |trap| {
            trap.sandbox.write(".gitattributes", "*.rs filter=x\n");
            trap.config(&[("extensions.worktreeConfig", "true")]);
            let program = trap.program().display().to_string();
            trap.git(&["config", "--worktree", "filter.x.clean", &program]);
        }),
    ];
    for (what, set) in set {
        let trap = Trap::new();
        set(&trap);
        trap.spring("");
        assert_eq!(trap.answer(what, "--changed").out, "changed.rs\n", "{what}");
    }
}

#[test]
fn programs_of_a_submodule_are_not_run() {
    for (what, config) in [
        ("clean", &[("filter.x.clean", "PROGRAM")][..]),
        ("process", &[("filter.x.process", "PROGRAM"), ("filter.x.required", "true")]),
        ("monitor", &[("core.fsmonitor", "PROGRAM")]),
        ("hooks", &[("core.hooksPath", "hooks-of-the-tree")]),
    ] {
        let (trap, part) = (Trap::new(), Trap::new());
        part.sandbox.write(".gitattributes", "*.rs filter=x\n");
        part.git(&["add", "."]);
        part.git(&["commit", "-qm", "attributes"]);
        let from = part.sandbox.root().display().to_string();
        trap.git(&["submodule", "--quiet", "add", &from, "part"]);
        trap.git(&["commit", "-qm", "a submodule"]);
        executable(&trap.program(), &trap.sandbox.root().join("part/hooks-of-the-tree/post-index-change"));
        for (key, value) in config {
            let value = value.replace("PROGRAM", &trap.program().display().to_string());
            trap.git(&["-C", "part", "config", key, &value]);
        }
        trap.spring("part/");
        assert_eq!(trap.answer(what, "--changed").out, "part/changed.rs\n", "{what}");
    }
}

#[test]
fn nothing_is_fetched_through_programs() {
    for (what, config) in [
        ("a helper", &[("remote.origin.url", "ext::PROGRAM %S"), ("protocol.ext.allow", "always")][..]),
        ("upload-pack", &[("remote.origin.url", "."), ("remote.origin.uploadpack", "PROGRAM")]),
        ("ssh", &[("remote.origin.url", "ssh://nowhere/x"), ("core.sshCommand", "PROGRAM")]),
        ("a proxy", &[("remote.origin.url", "git://nowhere/x"), ("core.gitProxy", "PROGRAM")]),
    ] {
        let trap = Trap::new();
        let partial = [("remote.origin.promisor", "true"), ("extensions.partialClone", "origin")];
        trap.config(&[config, &partial[..], &[("core.repositoryFormatVersion", "1")]].concat());
        trap.spring("");
        let ran = trap.answer(what, &format!("--since={MISSING}"));
        assert!(ran.status == 2 && ran.err.contains("no commit, branch or tag"), "{what}: {ran:?}");
        assert_eq!(trap.answer(what, "--changed").out, "changed.rs\n", "{what}");
    }
}

#[test]
fn what_can_not_be_switched_off_is_refused() {
    // An equals sign ends the name of a setting on git's command line.
    let trap = Trap::new();
    trap.sandbox.write(".gitattributes", "*.rs filter=a=b\n");
    trap.config(&[("filter.a=b.clean", "PROGRAM")]);
    trap.spring("");
    let ran = trap.answer("an equals sign", "--changed");
    assert!(ran.status == 2 && ran.err.contains("can't be switched off"), "{ran:?}");
    // Far more than fits on a command line.
    let trap = Trap::new();
    let many: String = (0..20_000).map(|i| format!("[filter \"{i}\"]\nclean = false\n")).collect();
    let config = trap.git_folder("").join("config");
    let text = fs::read_to_string(&config).expect("a file") + &many;
    fs::write(&config, text).expect("a file");
    let ran = trap.answer("many filters", "--changed");
    assert!(ran.status == 2 && ran.err.contains("more filters"), "{ran:?}");
}

#[test]
fn a_tree_that_looks_like_a_bare_repository_is_none() {
    let trap = Trap::new();
    for entry in fs::read_dir(trap.git_folder("")).expect("a folder").flatten() {
        fs::rename(entry.path(), trap.sandbox.root().join(entry.file_name())).expect("a file");
    }
    fs::remove_dir(trap.git_folder("")).expect("a folder");
    let program = trap.program().display().to_string();
    let root = trap.sandbox.root().display().to_string();
    let filter = format!("[filter \"x\"]\nclean = {program}\n");
    trap.sandbox.write("config", &format!("[core]\nrepositoryformatversion = 0\nworktree = {root}\n{filter}"));
    trap.sandbox.write(".gitattributes", "*.rs filter=x\n");
    trap.spring("");
    let ran = trap.answer("a bare repository", "--changed");
    assert!(ran.status == 2 && ran.err.contains("needs a git repository"), "{ran:?}");
}

#[test]
fn submodules_that_lead_to_each_other_end() {
    let trap = Trap::new();
    let head = trap.git(&["rev-parse", "HEAD"]);
    // Two names that lead back to the root by a link: each round would double them.
    for name in ["a", "b"] {
        std::os::unix::fs::symlink("..", trap.sandbox.root().join(name)).expect("a link");
        let entry = format!("160000,{head},{name}/project");
        trap.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    trap.spring("");
    assert!(trap.answer("links", "--changed").out.starts_with("changed.rs\n"));
}

#[test]
fn an_ignore_file_is_regular_and_what_is_not_heeded_is_told_once() {
    let trap = Trap::new();
    let root = trap.sandbox.root();
    for folder in ["", "a/", "b/"] {
        trap.sandbox.write(&format!("{folder}x.rs"), "fn trapped() {}\n");
        std::os::unix::fs::symlink("/dev/zero", root.join(format!("{folder}.gitignore"))).expect("a link");
    }
    for args in [&["trapped", "-l", "-k", "9"][..], &["-e", "trapped", "-l"], &["init"]] {
        let ran = trap.sandbox.run(args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
        let told: Vec<_> = ran.err.lines().filter(|line| line.contains(".gitignore")).collect();
        assert_eq!(
            told,
            [
                "colgrep: .gitignore: a link or special file is not followed as an ignore file; and 2 more ignore files are not applied"
            ],
            "{args:?}: {ran:?}"
        );
        if args[0] != "init" {
            assert_eq!(ran.out.lines().count(), 4, "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn secrets_are_ranked_where_they_are_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("tls/server.pem", "trapped key\n");
    sandbox.write("id_rsa", "trapped key\n");
    sandbox.write("plain.rs", "fn trapped() {}\n");
    let found = || sandbox.run(&["trapped", "-l", "-k", "9"]).out;
    assert_eq!(found(), "plain.rs\n");
    assert!(sandbox.run(&["status"]).out.contains("looks like a secret"));
    let asked = sandbox.run(&["trapped", "id_rsa", "-l"]);
    assert!(asked.err.contains("`colgrep init --secrets`"), "{asked:?}");
    // A clone can't ask for them.
    sandbox.write(".colgrep.toml", "secrets = true\n");
    sandbox.run(&["init"]);
    assert_eq!(found(), "plain.rs\n");
    sandbox.run(&["settings", "--trust"]);
    sandbox.run(&["init"]);
    assert_eq!(found().lines().count(), 3);
    sandbox.run(&["settings", "--untrust"]);
    sandbox.run(&["init"]);
    assert_eq!(found(), "plain.rs\n");
    sandbox.run(&["init", "--secrets"]);
    assert_eq!(found().lines().count(), 3, "and kept");
}

#[test]
fn git_is_no_program_of_the_tree() {
    let trap = Trap::new();
    executable(&trap.program(), &trap.sandbox.root().join("git"));
    executable(&trap.program(), &trap.sandbox.root().join("bin/git"));
    trap.spring("");
    let inside = trap.sandbox.root().join("bin").display().to_string();
    for first in [".", "", "bin", &inside] {
        let path = format!("{first}:/usr/local/bin:/usr/bin:/bin");
        let ran = trap.sandbox.run_with(&[("PATH", &path)], &["-e", "trapped", "-l", "--changed"]);
        assert!(!trap.marker().exists(), "{first:?}: a program was run: {ran:?}");
        assert_eq!(ran.out, "changed.rs\n", "{first:?}: {ran:?}");
    }
}
