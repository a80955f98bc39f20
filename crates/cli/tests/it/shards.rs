//! Several projects in one search, and named groups of them.

use std::fs;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::several::several;
use serde_json::{Value, json};

/// Two repositories, `api` and `worker`, and a group of both in the user's settings.
fn sandbox() -> Sandbox {
    let sandbox = several(&["api", "worker"]);
    sandbox.write("worker/tests/backoff_test.py", "def test_backoff():\n    assert backoff(1)\n");
    let settings = sandbox.root().parent().expect("a folder").join("config/colgrep/config.toml");
    let groups = "index_mode = \"keyword\"\n\n[groups]\nbackend = [\"~/project/api\", \"~/project/worker\"]\nlost = [\"~/gone\"]\n";
    fs::write(settings, groups).expect("a file");
    sandbox
}

#[test]
fn several_projects_are_ranked_together_whatever_their_order() {
    let sandbox = sandbox();
    for query in ["retry request", "push job", "where are jobs queued", "backoff.py", "who calls backoff"] {
        let rows = |paths: [&str; 2]| sandbox.run(&[query, paths[0], paths[1], "--explain", "--all"]);
        let (one, other) = (rows(["api", "worker"]), rows(["worker", "api"]));
        assert_eq!((one.status, &one.out), (0, &other.out), "{query}: {}", one.err);
    }
    let ran = sandbox.run(&["retry request", "api", "worker", "--all"]);
    assert_eq!(ran.paths().iter().take(2).copied().collect::<Vec<_>>(), ["api/src/retry.rs", "worker/lib/backoff.py"]);
    assert_eq!(
        sandbox.run(&["push job", "api", "worker", "-k", "1", "-l"]).out.lines().count(),
        1,
        "-k counts all files"
    );
    let ran = sandbox.run(&["retry", "api", "worker", "--json", "-k", "9"]);
    assert!(ran.out.contains("ROOT/api/src/retry.rs") && ran.out.contains("ROOT/worker/lib/backoff.py"), "{}", ran.out);
    let named = sandbox.run(&["push job", "api", "worker", "-t", "python", "-l", "-k", "1"]);
    assert_eq!(named.out, "worker/lib/queue.py\n", "a filter");
    assert_eq!(sandbox.run(&["-e", "retry", "retry request", "api", "worker", "-l", "--all"]).paths().len(), 3);
    let pack = sandbox.run(&["retry request", "api", "worker", "--pack", "2000"]);
    assert!(pack.out.contains("retry_request") && pack.out.contains("backoff"), "{}", pack.out);
    let near = sandbox.run(&["push job", "api", "worker", "--near", "worker/lib/backoff.py", "-k", "9", "--json"]);
    assert_eq!(near.status, 0, "{}", near.err);
}

#[test]
fn a_group_of_the_settings_is_searched_by_its_name() {
    let sandbox = sandbox();
    let (group, paths) = (sandbox.run(&["retry request", "--group", "backend", "--json"]), ["api", "worker"]);
    assert_eq!(group.out, sandbox.run(&["retry request", paths[0], paths[1], "--json"]).out);
    let text = sandbox.run(&["retry request", "--group", "backend"]);
    assert!(
        text.out.contains("project/api/src/retry.rs:") || text.out.contains("ROOT/api/src/retry.rs:"),
        "{}",
        text.out
    );
    let unknown = sandbox.run(&["retry", "--group", "backed"]);
    assert_eq!((unknown.status, unknown.out.as_str()), (2, ""));
    assert!(
        unknown.err.contains("there is no group \"backed\"") && unknown.err.contains("\"backend\""),
        "{}",
        unknown.err
    );
    let lost = sandbox.run(&["retry", "api", "--group", "lost"]);
    assert_eq!((lost.status, lost.out.as_str()), (2, ""));
    assert!(lost.err.contains("gone"), "{}", lost.err);
}

#[test]
fn a_root_that_is_gone_is_named_and_never_left_out() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["retry", "api", "./nowhere"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("nowhere"), "{}", ran.err);
}

#[test]
fn a_server_of_several_roots_ranks_them_together() {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox, &["api", "worker"]);
    let text = client.good("search", json!({"query": "retry request", "all": true, "pack": 0}));
    let first: Vec<usize> = ["retry.rs", "backoff.py"].iter().filter_map(|name| text.find(name)).collect();
    assert!(first.len() == 2 && first[0] < first[1], "{text}");
    assert!(text.contains("worker/lib/backoff.py"), "{text}");
    let few = client.good("search", json!({"query": "push", "results": 1, "pack": 0}));
    assert_eq!(few.matches("queue.").count(), 1, "results count files of all roots: {few}");
    let one = client.good("search", json!({"query": "push", "paths": [sandbox.root().join("worker")], "pack": 0}));
    assert!(one.contains("queue.py") && !one.contains("queue.rs"), "{one}");
}

/// Files of an answer of `search`, and its text.
fn hits(client: &mut Client, arguments: Value) -> Vec<String> {
    let found = client.result("search", arguments);
    assert_ne!(found["isError"], true, "{found}");
    let hits = found["structuredContent"]["hits"].as_array().expect("hits");
    hits.iter().map(|hit| hit["file"].as_str().expect("a file").to_string()).collect()
}

#[test]
fn a_server_answers_about_groups_and_a_call_about_some_of_them() {
    let sandbox = sandbox();
    let settings = sandbox.root().parent().expect("a folder").join("config/colgrep/config.toml");
    let groups = "index_mode = \"keyword\"\n\n[groups]\nbackend = [\"~/project/api\", \"~/project/worker\"]\n\
                  jobs = [\"~/project/worker\"]\nlost = [\"~/gone\"]\nelsewhere = [\"~/other\"]\n";
    fs::write(settings, groups).expect("a file");
    sandbox.write("../other/src/retry.rs", "pub fn retry_elsewhere() {}\n");
    // A root that is also in the group counts once.
    let mut client = Client::start(&sandbox, &["api", "--group", "backend"]);
    let status = client.result("status", json!({}));
    assert_eq!(status["structuredContent"]["roots"].as_array().map(Vec::len), Some(2), "{status}");
    // Ranked as one corpus: as on the command line over the same projects.
    for query in ["retry request", "push job", "who calls backoff"] {
        let here = sandbox.run(&[query, "--group", "backend", "--json", "--all", "-k", "10"]);
        let rows: Vec<Value> = serde_json::from_str(&here.out).expect("rows");
        let name = |row: &Value| row["unit"]["file"].as_str().expect("a file").replace("ROOT/", "");
        let found = hits(&mut client, json!({"query": query, "all": true, "pack": 0}));
        assert_eq!(found, rows.iter().map(name).collect::<Vec<_>>(), "{query}");
    }
    let jobs = hits(&mut client, json!({"query": "retry request", "groups": ["jobs"], "all": true, "pack": 0}));
    assert!(!jobs.is_empty() && jobs.iter().all(|file| file.starts_with("worker/")), "{jobs:?}");
    let both = json!({"query": "retry request", "groups": ["jobs"], "paths": ["src/retry.rs"], "all": true, "pack": 0});
    assert!(hits(&mut client, both).iter().any(|file| file == "api/src/retry.rs"), "paths count together with groups");
    let lines = client.good("grep", json!({"pattern": "limit", "groups": ["jobs"]}));
    assert!(lines.contains("backoff.py") && !lines.contains("retry.rs"), "{lines}");
    for (group, why) in [
        ("backed", "there is no group \"backed\""),
        ("lost", "the group \"lost\""),
        ("elsewhere", "`--group elsewhere` starts a server that answers about it"),
    ] {
        let (text, is_error) = client.call("search", json!({"query": "retry", "groups": [group]}));
        assert!(is_error && text.contains(why), "{group}: {text}");
    }
    for (args, why) in [
        (&["mcp", "--group", "backed"][..], "there is no group \"backed\""),
        (&["mcp", "--group", "lost"], "gone"),
        (&["serve", "--group", "backed"], "there is no group \"backed\""),
    ] {
        sandbox.refuses(args, why);
    }
}

#[test]
fn of_several_roots_every_tool_takes_the_names_that_answers_give() {
    let sandbox = several(&["api", "worker"]);
    for name in ["api", "worker"] {
        sandbox.write(&format!("{name}/README.md"), &format!("# The {name}\n\nIt is about jobs.\n"));
    }
    let mut client = Client::start(&sandbox, &["api", "worker"]);
    let mut found = hits(&mut client, json!({"query": "about jobs", "all": true, "pack": 0}));
    found.retain(|file| file.ends_with("README.md"));
    found.sort();
    assert_eq!(found, ["api/README.md", "worker/README.md"]);
    let packed = client.good("search", json!({"query": "backoff"}));
    assert!(packed.contains("worker/lib/backoff.py:1") && !packed.contains("ROOT"), "{packed}");
    let file = "worker/lib/backoff.py";
    for (tool, arguments, expected) in [
        ("outline", json!({"file": "worker/README.md"}), "The worker"),
        ("outline", json!({"file": "./api/README.md"}), "The api"),
        ("outline", json!({"file": sandbox.root().join(file)}), "backoff"),
        // A file in one root only needs no prefix.
        ("outline", json!({"file": "lib/backoff.py"}), "backoff"),
        ("read_unit", json!({"file": file, "name": "backoff"}), "worker/lib/backoff.py:1-3 function backoff\n"),
        ("find_related", json!({"file": "worker/lib/queue.py", "line": 1}), ""),
        ("grep", json!({"pattern": "def backoff", "paths": ["worker"]}), "worker/lib/backoff.py:1:def backoff("),
        ("grep", json!({"pattern": "about jobs"}), "api/README.md:3:It is about jobs.\nworker/README.md:3:"),
        ("search", json!({"query": "push", "paths": ["worker/lib"], "pack": 0}), "worker/lib/queue.py:"),
        ("search", json!({"query": "push", "near": "worker/lib/backoff.py:2", "pack": 0}), "worker/lib/queue.py:"),
    ] {
        let text = client.good(tool, arguments.clone());
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
    let several = "README.md is in several roots: say which is meant, api/README.md or worker/README.md";
    for (tool, arguments) in [
        ("outline", json!({"file": "README.md"})),
        ("search", json!({"query": "push", "near": "README.md:1"})),
        ("grep", json!({"pattern": "jobs", "paths": ["README.md"]})),
        ("history", json!({"paths": ["README.md:1"]})),
    ] {
        let (text, is_error) = client.call(tool, arguments);
        assert!(is_error && text.contains(several), "{tool}: {text}");
    }
    let (text, is_error) = client.call("outline", json!({"file": "web/README.md"}));
    assert!(is_error && text.contains("inside the roots of this server: ROOT/api, ROOT/worker"), "{text}");
    let mut alone = Client::start(&sandbox, &["api"]);
    let found = hits(&mut alone, json!({"query": "retry request", "all": true, "pack": 0}));
    assert!(found.contains(&"src/retry.rs".to_string()), "a lone root's name is left out: {found:?}");
}

#[test]
fn a_group_that_names_no_folder_is_refused_and_never_the_current_one() {
    let sandbox = sandbox();
    let settings = sandbox.root().parent().expect("a folder").join("config/colgrep/config.toml");
    let groups = "index_mode = \"keyword\"\n\n[groups]\nempty = []\nlost = [\"~/gone\"]\nround = [\"~/project/api/../worker\"]\n";
    fs::write(settings, groups).expect("a file");
    sandbox.write(".colgrep.toml", "[groups]\nteam = [\"api\"]\n");
    for (group, why) in [
        ("empty", "the group \"empty\" in "),
        ("lost", "which the group \"lost\" in "),
        ("team", "is not taken until you trust the file; `colgrep settings --trust`"),
    ] {
        let ran = sandbox.run(&["retry", "--group", group]);
        assert!(ran.status == 2 && ran.out.is_empty() && ran.err.contains(why), "{group}: {ran:?}");
    }
    let ran = sandbox.run(&["backoff", "--group", "round"]);
    assert!(ran.out.contains("backoff.py") && !ran.out.contains("..") && !ran.out.contains("api/"), "{ran:?}");
    let told = sandbox.run(&["doctor"]).out;
    assert!(told.contains("the group \"empty\"") && told.contains("the group \"lost\""), "{told}");
}

#[test]
fn a_file_of_a_repository_inside_another_is_searched_once() {
    let sandbox = Sandbox::new();
    sandbox.write("outer/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("outer/o.py", "def zebra_outside():\n    return 1\n");
    sandbox.write("outer/in1/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("outer/in1/i.py", "def zebra_inside():\n    return 2\n");
    sandbox.write("outer/in1/deep/d.py", "def zebra_deep():\n    return 3\n");
    let files = |args: &[&str]| -> Vec<String> {
        let ran = sandbox.run(&[&["zebra", "-l", "--all"], args].concat());
        let mut files: Vec<String> = ran.out.lines().map(String::from).collect();
        files.sort();
        files
    };
    let all = ["outer/in1/deep/d.py", "outer/in1/i.py", "outer/o.py"];
    assert_eq!(files(&["outer", "outer/in1"]), all);
    assert_eq!(files(&["outer/in1", "outer"]), all);
    assert_eq!(files(&["outer", "outer/in1/deep"]), all, "a part of the inner one");
    assert_eq!(files(&["outer/in1", "outer/o.py"]), all, "nothing is in both");
    assert_eq!(files(&["outer", "outer/in1", "-t", "python", "--exclude", "deep"]), [all[1], all[2]]);
    let listed = sandbox.run(&["--kind", "function", "-l", "outer", "outer/in1"]).out;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let counted = sandbox.run(&["zebra", "outer", "outer/in1", "-k", "1"]);
    assert!(!counted.err.contains("4 files") && !counted.err.contains("5 files"), "{}", counted.err);
    for (roots, files) in [
        (["outer", "outer/in1"], 3),
        (["outer/in1", "outer"], 3),
        (["outer/in1", "outer/in1/deep"], 2),
        (["outer/in1/deep", "outer/in1"], 2),
    ] {
        let mut client = Client::start(&sandbox, &roots);
        let mut found = hits(&mut client, json!({"query": "zebra", "all": true, "pack": 0}));
        assert_eq!(found.len(), files, "{roots:?}: {found:?}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), files, "{roots:?}: {found:?}");
    }
}

#[test]
fn what_an_index_was_made_with_is_told_of_the_project_by_its_name() {
    let sandbox = sandbox();
    sandbox.run(&["retry", "api", "worker"]);
    let ran = sandbox.run(&["retry", "api", "worker", "--hidden"]);
    assert!(ran.err.starts_with("colgrep: the index of ROOT/api was built with other --hidden"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "of several projects the first is named: {}", ran.err);
}
