//! The first days of a new user: which folder is the project, how long an answer takes, which files remain.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::common::process::until;
use crate::common::{Ran, Sandbox, run_in};

/// A sandbox whose project is a folder with a repository in it.
fn nested() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("outer.rs", "fn zebra_outside() {}\n");
    sandbox.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("repo/inner.rs", "fn zebra_inside() {}\n");
    sandbox
}

#[test]
fn a_repository_is_a_project_of_its_own_below_a_folder_that_a_search_indexed() {
    let sandbox = nested();
    let repository = sandbox.root().join("repo");
    assert_eq!(sandbox.run(&["zebra", "-l"]).out.lines().count(), 2);
    assert_eq!(run_in(&sandbox, &repository, &["zebra", "-l"]).out, "inner.rs\n", "the parent's index is not asked");
    assert!(run_in(&sandbox, &repository, &["status"]).out.starts_with("project   ROOT/repo\n"));
    // A folder of no repository still belongs to the index above it.
    sandbox.write("plain/other.rs", "fn zebra_plain() {}\n");
    assert!(run_in(&sandbox, &sandbox.root().join("plain"), &["status"]).out.starts_with("project   ROOT\n"));
}

#[test]
fn an_index_that_init_made_takes_in_the_repositories_below() {
    let sandbox = nested();
    let repository = sandbox.root().join("repo");
    // A search made it first; `init` then says that it is wanted, and a search keeps that.
    assert_eq!(sandbox.run(&["zebra", "-l"]).status, 0);
    assert!(run_in(&sandbox, &repository, &["status"]).out.starts_with("project   ROOT/repo\n"));
    assert_eq!(sandbox.run(&["init"]).status, 0);
    sandbox.write("more.rs", "fn zebra_more() {}\n");
    assert_eq!(sandbox.run(&["zebra", "-l"]).out.lines().count(), 3);
    assert!(run_in(&sandbox, &repository, &["status"]).out.starts_with("project   ROOT\n"));
    assert_eq!(sandbox.run(&["clear"]).status, 0);
    assert!(run_in(&sandbox, &repository, &["status"]).out.starts_with("project   ROOT/repo\n"));
}

#[test]
fn folders_that_are_no_projects_ask_first() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn zebra() {}\n");
    let temporary = sandbox.root().display().to_string();
    let ran = sandbox.run_with(&[("TMPDIR", &temporary)], &["zebra"]);
    assert!(ran.status == 2 && ran.err.contains("ROOT is the folder of temporary files"), "{ran:?}");
    let inside = sandbox.root().join("inside");
    fs::create_dir(&inside).expect("a folder");
    fs::write(inside.join("b.rs"), "fn zebra() {}\n").expect("a file");
    for (repositories, status) in [(&["one/.git/HEAD"][..], 0), (&["one/.git/HEAD", "deep/two/.git/HEAD"], 2)] {
        let sandbox = Sandbox::new();
        sandbox.write("a.rs", "fn zebra() {}\n");
        repositories.iter().for_each(|path| sandbox.write(path, ""));
        let ran = sandbox.run(&["zebra", "-l"]);
        assert_eq!(ran.status, status, "{ran:?}");
        if status == 2 {
            assert!(ran.err.contains("ROOT holds several git repositories (deep/two, one); name one"), "{ran:?}");
            assert_eq!(sandbox.run(&["zebra", "-l", "-y"]).out, "a.rs\n");
            assert_eq!(sandbox.run(&["zebra", "-l"]).out, "a.rs\n", "asked once");
        }
    }
}

#[test]
fn a_great_many_files_of_no_repository_ask_first() {
    let sandbox = Sandbox::new();
    for folder in 0..51 {
        let folder = sandbox.root().join(format!("f{folder}"));
        fs::create_dir(&folder).expect("a folder");
        for file in 0..981 {
            fs::write(folder.join(format!("{file}.bin")), "").expect("a file");
        }
    }
    sandbox.refuses(&["zebra"], "is not a git repository and has more than 50000 files");
    sandbox.write(".gitignore", "f1*/\n");
    assert_eq!(sandbox.run(&["zebra"]).status, 1, "what is ignored does not count");
}

#[test]
fn no_line_comes_twice_and_groups_are_told_apart_under_headings() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "ring.py",
        "class Ring:\n    def push(self):\n        zebra()\n\n\nx = 1\n\n\ndef zebra_two():\n    zebra()\n",
    );
    let ran = sandbox.run(&["zebra", "-e", "zebra\\(\\)", "--per-file", "9", "-k", "1"]);
    let mut lines: Vec<&str> = ran.out.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), lines[0]), (all, "ring.py:10:    zebra()  [function zebra_two 9-10]"), "{ran:?}");
    let grouped = sandbox.run(&["zebra", "-e", "zebra\\(\\)", "--per-file", "2", "-k", "1", "-C", "1", "--heading"]);
    assert!(grouped.out.contains("\n--\n") && grouped.out.starts_with("ring.py\n"), "{grouped:?}");
}

#[test]
fn indexes_of_projects_that_are_gone_are_told_and_removed() {
    let sandbox = Sandbox::new();
    for name in ["here", "moved", "left", "last"] {
        sandbox.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        sandbox.write(&format!("{name}/a.rs"), "fn zebra() {}\n");
        assert_eq!(run_in(&sandbox, &sandbox.root().join(name), &["zebra", "-l"]).out, "a.rs\n");
    }
    let here = sandbox.root().join("here");
    for name in ["moved", "left", "last"] {
        fs::remove_dir_all(sandbox.root().join(name)).expect("a folder");
    }
    for command in ["status", "doctor"] {
        let told = run_in(&sandbox, &here, &[command]).out;
        assert!(
            told.contains("3 indexes of projects that no longer exist") && told.contains("`colgrep clear --gone`"),
            "{told}"
        );
    }
    let left = sandbox.root().join("left/inside").display().to_string();
    assert_eq!(run_in(&sandbox, &here, &["clear", &left]).status, 0, "by the path that it had");
    assert_eq!(run_in(&sandbox, &here, &["clear", &left]).status, 2, "there is none any more");
    let cleared = run_in(&sandbox, &here, &["clear", "--gone"]);
    assert_eq!((cleared.status, cleared.err.lines().count()), (0, 2), "{cleared:?}");
    assert_eq!(run_in(&sandbox, &here, &["clear", "--gone"]).status, 1);
    assert!(!run_in(&sandbox, &here, &["status"]).out.contains("no longer exist"));
    assert_eq!(fs::read_dir(sandbox.data()).expect("data").count(), 1, "that of the project that is there stays");
}

#[test]
fn indexes_that_nobody_used_for_months_are_offered() {
    let sandbox = Sandbox::new();
    for name in ["here", "old"] {
        sandbox.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        sandbox.write(&format!("{name}/a.rs"), "fn zebra() {}\n");
        assert_eq!(run_in(&sandbox, &sandbox.root().join(name), &["init", "--quiet"]).status, 0);
    }
    let here = sandbox.root().join("here");
    let days = |days: u64| SystemTime::now() - Duration::from_secs(days * 86_400);
    for (age, is_told) in [(80, false), (100, true)] {
        for index in fs::read_dir(sandbox.data()).expect("data").flatten() {
            let is_old = index.file_name().to_string_lossy().starts_with("old-");
            for part in fs::read_dir(index.path().join("lexical")).expect("an index").flatten().filter(|_| is_old) {
                let times = fs::FileTimes::new().set_modified(days(age)).set_accessed(days(age));
                let part = fs::File::options().append(true).open(part.path()).expect("a part");
                part.set_times(times).expect("times");
            }
        }
        for command in ["status", "doctor"] {
            let told = run_in(&sandbox, &here, &[command]).out;
            let offered = told.contains("1 index unused for three months")
                && told.contains("ROOT/old; `colgrep clear FOLDER` removes one");
            assert_eq!(offered, is_told, "{age} days: {told}");
        }
    }
}

#[test]
fn a_repository_that_was_moved_keeps_its_index() {
    let sandbox = Sandbox::new();
    for name in ["old", "other"] {
        sandbox.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        sandbox.write(&format!("{name}/a.rs"), &format!("fn zebra_of_{name}() {{}}\n"));
        assert_eq!(run_in(&sandbox, &sandbox.root().join(name), &["init", "--quiet"]).status, 0);
    }
    let (old, new) = (sandbox.root().join("old"), sandbox.root().join("new"));
    fs::rename(&old, &new).expect("a move");
    let data = || fs::read_dir(sandbox.data()).expect("data").count();
    let before = data();
    // A look at what is there changes nothing.
    assert!(run_in(&sandbox, &new, &["status"]).out.contains("no longer exist") && data() == before);
    let ran = run_in(&sandbox, &new, &["zebra", "-l"]);
    assert_eq!((ran.out.as_str(), ran.status), ("a.rs\n", 0), "{ran:?}");
    assert!(ran.err.contains("old, from where this repository was moved"), "{ran:?}");
    assert_eq!(data(), before, "no other index is made");
    let again = run_in(&sandbox, &new, &["zebra", "-l"]);
    assert!(again.out == "a.rs\n" && again.err.is_empty(), "{again:?}");
    assert!(!run_in(&sandbox, &new, &["status"]).out.contains("no longer exist"));
    // A copy of one that is still there has an index of its own.
    sandbox.write("copy/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("copy/a.rs", "fn zebra_of_other() {}\n");
    assert_eq!(run_in(&sandbox, &sandbox.root().join("copy"), &["zebra", "-l"]).out, "a.rs\n");
    assert_eq!(data(), before + 1);
}

#[test]
fn doctor_says_nothing_of_a_runtime_that_nobody_needs() {
    let sandbox = Sandbox::new().with_meaning();
    sandbox.write("a.rs", "fn zebra() {}\n");
    let ran = sandbox.run(&["doctor"]);
    assert!(!ran.out.contains("ONNX") && ran.out.contains("the one in the program"), "{ran:?}");
}

fn store(sandbox: &Sandbox) -> colgrep_index::store::Store {
    let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    colgrep_index::store::Store::new(folder)
}

#[test]
fn a_patient_search_waits_for_another_process_that_makes_vectors() {
    let sandbox = Sandbox::new().with_meaning();
    sandbox.write("a.py", "def zebra(herd):\n    return herd\n");
    let run = |args: &[&str]| sandbox.run_with(&[("CI", "true"), ("COLGREP_WAIT", "")], args);
    assert_eq!(run(&["zebra", "--wait", "--keyword-only"]).status, 0);
    let store = store(&sandbox);
    let lacks = || store.open().expect("an index").coverage().without_vectors();
    assert!(lacks() > 0);
    let lock = store.lock(false).expect("the lock");
    let asked = std::thread::scope(|scope| {
        let patient = scope.spawn(|| run(&["a herd of zebras", "--wait"]));
        until("awaited", || store.is_awaited());
        drop(lock);
        patient.join().expect("an answer")
    });
    assert!(asked.status == 0 && lacks() == 0, "{asked:?}");
}

#[test]
fn what_a_search_had_no_time_for_is_made_behind_it_by_a_process_that_ends() {
    let sandbox = Sandbox::new().with_meaning();
    for file in 0..60 {
        let body = |i: usize| (0..12).map(move |j| format!("    zebra.stripe_{i}_{j}(herd_{file}, grass_{j})\n"));
        let units = (0..12).map(|i| format!("def unit_{file}_{i}(zebra):\n{}\n", body(i).collect::<String>()));
        sandbox.write(&format!("f{file}.py"), &units.collect::<String>());
    }
    let question = &["stripes of a zebra", "-l", "-k", "1"];
    let asked = sandbox.run_with(&[("CI", "true"), ("COLGREP_BACKGROUND", ""), ("COLGREP_WAIT", "0")], question);
    assert!(asked.status == 0 && asked.err.contains("`colgrep init`"), "a search ends soon: {asked:?}");
    assert!(asked.err.contains("still indexing: this answer covers"), "some files are left: {asked:?}");
    assert!(!store(&sandbox).is_worked_behind(), "no process outlives a command where a machine tests");
    let patient = [question, &["--wait", "--keyword-only"][..]].concat();
    let asked = sandbox.run_with(&[("CI", "true"), ("COLGREP_BACKGROUND", ""), ("COLGREP_WAIT", "")], &patient);
    assert!(asked.status == 0 && !asked.err.contains("indexing"), "an answer from every file: {asked:?}");
    // Whatever the program is called.
    let (own, renamed) = (env!("CARGO_BIN_EXE_colgrep"), sandbox.data().with_file_name("renamed"));
    fs::hard_link(own, &renamed).or_else(|_| fs::copy(own, &renamed).map(|_| ())).expect("a program");
    let given = sandbox.command(question);
    let mut renamed = Command::new(&renamed);
    renamed.args(given.get_args()).current_dir(sandbox.root()).env_clear();
    renamed.envs(given.get_envs().filter_map(|(name, value)| Some((name, value?))));
    renamed.env("COLGREP_BACKGROUND", "1").env("COLGREP_WAIT", "0");
    let asked = Ran::of(renamed.output().expect("an answer"), &sandbox.root());
    let told = ["still indexing: this answer covers", "; a background process makes"];
    assert!(asked.status == 0 && told.iter().any(|part| asked.err.contains(part)), "{asked:?}");
    assert!(!asked.err.contains("colgrep init"), "{asked:?}");
    let lacks = || store(&sandbox).open().expect("an index").coverage().without_vectors();
    until("whole", || lacks() == 0 && !store(&sandbox).is_worked_behind());
    let asked = sandbox.run_with(&[("COLGREP_BACKGROUND", "1"), ("COLGREP_WAIT", "")], question);
    assert!(asked.status == 0 && !asked.err.contains("init") && !asked.err.contains("background"), "{asked:?}");
    assert!(!store(&sandbox).is_worked_behind(), "nothing is left to do");
}
