//! What a history withstands, and what else looks into it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::mcp::Client;
use crate::common::past::{commit, git, repository, rows, session, subjects, transcripts, written};
use crate::common::{Sandbox, run_in};
use serde_json::{Value, json};

#[test]
fn the_session_that_asks_is_left_out() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let path = folder.join("s1.jsonl");
    fs::write(&path, session(&sandbox)).expect("a file");
    fs::write(folder.join("s11.jsonl"), session(&sandbox)).expect("a file");
    let (path, at) =
        (path.display().to_string(), |line: u32| format!("{}:{line}\n", folder.join("s11.jsonl").display()));
    for name in ["s1", "s1.jsonl", path.as_str()] {
        let left = sandbox.run(&["log", "--sessions", "-l", "--not-session", name]);
        assert_eq!(left.out, at(6) + &at(2), "{name}: {left:?}");
    }
    assert_eq!(sandbox.run(&["log", "--sessions", "--not-session", "s1", "--not-session", "s11"]).status, 1);
    assert_eq!(sandbox.run(&["log", "-l", "--sessions"]).out.lines().count(), 4);
}

#[test]
fn a_history_of_another_version_or_a_damaged_one_is_made_anew() {
    let (sandbox, names) = repository();
    let before = sandbox.run(&["log", "-l"]).out;
    let files: Vec<PathBuf> = written(&sandbox).into_iter().map(|(path, _)| path).collect();
    assert!(files.len() > 3 && before.lines().count() == 4, "{files:?}");
    for path in &files {
        if !path.exists() || fs::metadata(path).expect("a file").len() == 0 {
            continue;
        }
        fs::write(path, "nothing of the kind").expect("a file");
        let ran = sandbox.run(&["log", "-l"]);
        assert_eq!((ran.status, ran.out.as_str()), (0, before.as_str()), "{}: {ran:?}", path.display());
        assert_eq!(sandbox.run(&["log", "retries at five", "-l", "-k", "1"]).out.trim(), names[0]);
    }
}

/// How many indexes of histories there are.
fn histories(sandbox: &Sandbox) -> usize {
    let folders = fs::read_dir(sandbox.data()).expect("a folder").flatten();
    folders.filter(|e| e.file_name().to_string_lossy().ends_with(".history")).count()
}

#[test]
fn clear_leaves_nothing_of_what_agents_wrote() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn zebra() {}\n");
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    let asks = |folder: &Path| {
        let ran = run_in(&sandbox, folder, &["log"]);
        assert!(ran.status == 0 && histories(&sandbox) == 1, "{ran:?}");
    };
    // Of no repository, where the setting is gone meanwhile, and where no settings can be read.
    let root = sandbox.root();
    asks(&root);
    let file = sandbox.data().with_file_name("config").join("colgrep/config.toml");
    let settings = fs::read_to_string(&file).expect("the user's settings");
    assert_eq!(sandbox.run(&["settings", "sessions", "--unset"]).status, 0);
    let ran = sandbox.run(&["clear"]);
    assert!(ran.status == 0 && histories(&sandbox) == 0, "{ran:?}");
    fs::write(&file, settings).expect("a file");
    asks(&root);
    sandbox.write(".colgrep.toml", "no settings at all");
    let ran = sandbox.run(&["clear"]);
    assert!(ran.status == 0 && histories(&sandbox) == 0, "{ran:?}");
    fs::remove_file(root.join(".colgrep.toml")).expect("a file");
    // Of a repository that is gone, or of which git is.
    let own = root.join("own");
    for (gone, named) in [("own", "own"), ("own", "--gone"), ("own/.git", "own")] {
        fs::create_dir_all(&own).expect("a folder");
        git(&own, "2026-01-01T12:00:00+0000", &["init", "-q"]);
        git(&own, "2026-01-01T12:00:00+0000", &["commit", "-q", "--allow-empty", "-m", "Cap retries"]);
        asks(&own);
        fs::remove_dir_all(root.join(gone)).expect("a folder");
        let told = sandbox.run(&["status"]).out;
        assert!(told.contains("1 index of projects that no longer exist") && told.contains("ROOT/own;"), "{told}");
        let ran = sandbox.run(&["clear", named]);
        assert!(ran.status == 0 && histories(&sandbox) == 0, "{gone} {named}: {ran:?}");
    }
}

#[test]
fn a_plain_search_opens_no_history_unless_it_counts() {
    let (sandbox, _) = repository();
    let histories = || histories(&sandbox);
    assert_eq!(sandbox.run_with(&[("COLGREP_HISTORY_BOOST", "0")], &["retries"]).status, 0);
    assert_eq!(histories(), 0);
    let ran = sandbox.run_with(&[("COLGREP_HISTORY_BOOST", "0.1")], &["retries at five", "--explain"]);
    assert!(ran.out.contains("history +"), "{ran:?}");
    assert_eq!(histories(), 1);
    // Sizes tell it from the project.
    let told = sandbox.run(&["--stats"]).out;
    assert!(told.contains("history of ROOT\n    4 entries, ") && told.contains("ROOT\n    4 files, "), "{told}");
    let stats: serde_json::Value = serde_json::from_str(&sandbox.run(&["--stats", "--json"]).out).expect("JSON");
    let of = |is_history: bool| {
        let rows = stats["indexes"].as_array().expect("indexes");
        rows.iter().find(|row| row["is_history"] == is_history).expect("a row")["files"].clone()
    };
    assert_eq!((&of(false), of(true)), (&stats["files"], 4.into()), "{stats}");
}

#[test]
fn a_repository_runs_no_program_of_its_own() {
    let (sandbox, _) = repository();
    let root = sandbox.root();
    let touched = sandbox.data().with_file_name("touched");
    let program = format!("touch {}", touched.display());
    for (key, value) in [
        ("core.fsmonitor", program.as_str()),
        ("core.pager", &program),
        ("gpg.program", &program),
        ("log.showSignature", "true"),
        ("diff.external", &program),
        ("diff.x.textconv", &program),
        ("diff.x.command", &program),
        ("filter.x.clean", &program),
        ("filter.x.process", &program),
        // No program, but it has no end.
        ("mailmap.file", "/dev/zero"),
    ] {
        git(&root, "2026-01-01T12:00:00+0000", &["config", key, value]);
    }
    sandbox.write(".gitattributes", "* diff=x filter=x\n");
    assert_eq!(sandbox.run(&["log", "retries"]).status, 0);
    assert_eq!(sandbox.run(&["log", "--", "src/http.rs:1"]).status, 0);
    assert!(!touched.exists());
}

#[test]
fn vectors_that_come_later_are_made_of_what_the_index_keeps() {
    let (sandbox, _) = repository();
    let sandbox = sandbox.with_meaning();
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    assert_eq!(sandbox.run(&["log", "retries", "--keyword-only"]).status, 0);
    let segments = || -> Vec<PathBuf> {
        let files = written(&sandbox).into_iter().map(|(path, _)| path);
        files.filter(|path| path.extension().is_some_and(|e| e == "store")).collect()
    };
    let before = segments();
    let ran = sandbox.run(&["log", "retries", "--explain"]);
    assert!(ran.out.contains("semantic"), "{ran:?}");
    assert_eq!(segments(), before, "nothing was read from git or transcripts again");
}

#[test]
fn a_file_is_looked_for_under_its_earlier_names_too() {
    let (sandbox, names) = repository();
    let root = sandbox.root();
    let moved = |from: &str, to: &str| git(&root, "2026-01-05T12:00:00+0000", &["mv", from, to]);
    fs::create_dir(root.join("lib")).expect("a folder");
    moved("src/parse.rs", "lib/read.rs");
    let first = commit(&sandbox, "2026-01-05", &[], "Read what was parsed");
    // Another file, which has the name that is free again.
    let other = commit(&sandbox, "2026-01-06", &["src/parse.rs"], "Parse something else");
    let listed = sandbox.run(&["log", "lib/read.rs", "-l"]);
    let expected = [first.as_str(), &names[2], &names[1]];
    assert_eq!(listed.out.lines().collect::<Vec<_>>(), expected, "{listed:?}");
    let told = "lib/read.rs was looked for under its earlier name too: src/parse.rs";
    assert!(listed.err.contains(told) && !listed.out.contains(&other), "{listed:?}");
    assert!(!sandbox.run(&["log", "lib/read.rs", "--quiet"]).err.contains("earlier"));
    let asked = sandbox.run(&["log", "lazily", "lib/read.rs", "--json", "--keyword-only"]);
    assert_eq!(subjects(&asked)[0], "Parse headers lazily");
    moved("lib/read.rs", "lib/take.rs");
    let staged = sandbox.run(&["log", "lib/take.rs", "-l"]);
    assert_eq!(staged.out, listed.out, "moved, and not committed yet: {staged:?}");
    assert!(staged.err.contains("earlier names too: lib/read.rs, src/parse.rs"), "{staged:?}");
    let unmoved = sandbox.run(&["log", "src/http.rs"]);
    assert!(!unmoved.err.contains("earlier"), "{unmoved:?}");
}

#[test]
fn files_of_entries_can_be_asked_for_from_a_folder_below() {
    let (sandbox, _) = repository();
    let sources = sandbox.root().join("src");
    let below = |path: &str| {
        let found = rows(&run_in(&sandbox, &sources, &["log", "--json", "--", path]));
        found.iter().map(|row| row["files"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(below("retry.rs"), [json!(["src/http.rs", "src/retry.rs"])]);
    assert_eq!(below("src/retry.rs"), below("retry.rs"));
    fs::remove_file(sources.join("retry.rs")).expect("a file");
    assert_eq!(below("src/retry.rs"), [json!(["src/http.rs", "src/retry.rs"])], "gone");
    assert!(below("src/other.rs").is_empty());
    // Like all its tools, a server names files relative to its root.
    commit(&sandbox, "2026-01-09", &["src/late.rs", "README.md"], "Close the door");
    let mut server = Client::start(&sandbox, &[&sources.display().to_string()]);
    let told = server.call("history", json!({"query": "close the door", "results": 1})).0;
    assert!(told.contains("\n    late.rs retry.rs\n"), "{told}");
}

#[test]
fn entries_of_several_roots_are_ranked_together() {
    let beside = Sandbox::new();
    git(&beside.root(), "2026-01-01T12:00:00+0000", &["init", "-q"]);
    let write = ["Write the answer", "Write JSON", "Answer with words"];
    write.iter().for_each(|subject| drop(commit(&beside, "2026-01-02", &["src/answer.rs"], subject)));
    let (sandbox, _) = repository();
    let roots = [beside.root().display().to_string(), sandbox.root().display().to_string()];
    let mut server = Client::start(&sandbox, &[&roots[0], &roots[1]]);
    let mut asked = |query: &str| server.call("history", json!({"query": query, "results": 3})).0;
    let first = |text: &str| text.lines().next().unwrap_or_default().to_string();
    for (query, subject) in [
        ("cap retries at five", "Cap retries at five"),
        ("write the answer", "Write the answer"),
        ("changes to src/parse.rs", "Parse headers lazily"),
        ("", "Say how to build"),
    ] {
        let told = asked(query);
        assert!(first(&told).contains(subject), "{query}: {told}");
    }
}

#[test]
fn a_commit_of_two_roots_of_one_repository_is_one_entry() {
    let (sandbox, _) = repository();
    commit(&sandbox, "2026-01-10", &["web/page.js", "api/page.rs"], "Draw the page");
    let folders = ["web", "api"].map(|name| sandbox.root().join(name).display().to_string());
    let mut server = Client::start(&sandbox, &[&folders[0], &folders[1]]);
    let told = server.call("history", json!({"query": ""})).0;
    assert_eq!(told.matches("Draw the page").count(), 1, "{told}");
    assert!(told.contains("api/page.rs web/page.js"), "{told}");
}

#[test]
fn a_server_sees_new_commits_and_a_root_without_a_history_stops_nothing() {
    let (sandbox, _) = repository();
    let beside = Sandbox::new();
    beside.write("a.rs", "");
    let (root, beside) = (sandbox.root().display().to_string(), beside.root().display().to_string());
    let mut server = Client::start(&sandbox, &[&root, &beside]);
    let newest = |server: &mut Client| server.call("history", json!({"query": "", "results": 1})).0;
    assert!(newest(&mut server).contains("2026-01-04 Say how to build"), "{}", newest(&mut server));
    // What changed together with a file is asked of a history that stays open until a branch moves.
    let near = |server: &mut Client| {
        server.call("search", json!({"query": "quetzal", "near": "src/retry.rs", "results": 9})).0
    };
    assert!(!near(&mut server).contains("src/late.rs"));
    commit(&sandbox, "2026-01-09", &["src/late.rs", "src/retry.rs"], "Close the door");
    assert!(newest(&mut server).contains("2026-01-09 Close the door"), "{}", newest(&mut server));
    // Of several roots, a path begins with the name of its own.
    let here = sandbox.root();
    let above = here.parent().and_then(Path::parent).expect("a folder");
    let name = here.strip_prefix(above).expect("a folder below").display();
    let mut of = |paths: Value| server.call("history", json!({"paths": paths, "results": 9})).0;
    for path in ["README.md".to_string(), format!("{name}/README.md"), format!("{name}/README.md:1")] {
        let told = of(json!([path]));
        assert!(told.contains("Say how to build") && !told.contains("Parse headers"), "{path}: {told}");
    }
    assert!(near(&mut server).contains("src/late.rs"), "{}", near(&mut server));
}
