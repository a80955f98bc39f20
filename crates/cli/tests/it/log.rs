//! `colgrep log`: commits and made transcripts of agents' sessions, turn by turn.

use std::fs;

use crate::common::Sandbox;
use crate::common::past::{asked, commit, did, git, lines, repository, rows, session, subjects, transcripts, written};
use serde_json::{Value, json};

#[test]
fn commits_are_listed_newest_first_as_git_writes_them() {
    let (sandbox, names) = repository();
    let ran = sandbox.run(&["log"]);
    let expected = [
        (3, "2026-01-04 Say how to build"),
        (2, "2026-01-03 Keep the connection open"),
        (1, "2026-01-02 Parse headers lazily"),
        (0, "2026-01-01 Cap retries at five"),
    ];
    let expected: String = expected.iter().map(|(at, rest)| format!("{} {rest}\n", &names[*at][..7])).collect();
    assert_eq!((ran.status, ran.out.as_str()), (0, expected.as_str()), "{ran:?}");
    assert_eq!(sandbox.run(&["log", "-l", "-k", "1"]).out.trim(), names[3]);
    assert_eq!(sandbox.run(&["log", "-q"]).out, "");
}

#[test]
fn commits_of_one_second_are_listed_as_they_were_made() {
    let sandbox = Sandbox::new();
    git(&sandbox.root(), "2026-01-01T12:00:00+0000", &["init", "-q"]);
    let mut names: Vec<String> =
        (0..6).map(|i| commit(&sandbox, "2026-01-01", &["a.rs"], &format!("Step {i}"))).collect();
    let listed = |sandbox: &Sandbox| sandbox.run(&["log", "-l"]).out;
    assert_eq!(listed(&sandbox).lines().rev().collect::<Vec<_>>(), names);
    names.extend((6..9).map(|i| commit(&sandbox, "2026-01-01", &["a.rs"], &format!("Step {i}"))));
    assert_eq!(listed(&sandbox).lines().rev().collect::<Vec<_>>(), names, "those that came later too");
    let mentioned = sandbox.run(&["log", "zebra in a.rs", "-l", "-k", "9"]).out;
    assert_eq!(mentioned.lines().rev().collect::<Vec<_>>(), names, "the newest of equals comes first");
}

#[test]
fn of_more_equal_commits_than_are_looked_at_the_newest_are_found() {
    let sandbox = Sandbox::new();
    git(&sandbox.root(), "2026-01-01T12:00:00+0000", &["init", "-q", "-b", "main"]);
    let stream: String = (0..700)
        .map(|i| {
            let from = if i == 0 { String::new() } else { format!("from :{i}\n") };
            let time = 1_767_225_600 + i;
            format!(
                "commit refs/heads/main\nmark :{}\ncommitter A <a@b.c> {time} +0000\ndata 6\nStep 7\n{from}\n",
                i + 1
            )
        })
        .collect();
    let mut import = std::process::Command::new("git");
    import.args(["fast-import", "--quiet"]).current_dir(sandbox.root()).stdin(std::process::Stdio::piped());
    let mut import = import.spawn().expect("git");
    std::io::Write::write_all(&mut import.stdin.take().expect("a pipe"), stream.as_bytes()).expect("a stream");
    assert!(import.wait().expect("git").success());
    let listed = |sandbox: &Sandbox, args: &[&str]| sandbox.run(&[&["log", "-l", "-k", "9"], args].concat()).out;
    let found = listed(&sandbox, &["step 7"]);
    assert_eq!((found.lines().count(), &found), (9, &listed(&sandbox, &[])), "all are equal, so the newest come first");
    git(&sandbox.root(), "2026-01-01T12:00:00+0000", &["reset", "-q", "--hard"]);
    let newest = commit(&sandbox, "2026-02-01", &["a.rs"], "Step 7");
    assert_eq!(listed(&sandbox, &["step 7"]).lines().next(), Some(newest.as_str()), "one that came later too");
}

#[test]
fn a_question_finds_the_commit_that_says_why() {
    let (sandbox, names) = repository();
    let ran = sandbox.run(&["log", "why do retries stop at five", "--json"]);
    let first = &rows(&ran)[0];
    assert_eq!(first["id"], names[0].as_str(), "{ran:?}");
    assert_eq!(first["source"], "commit");
    assert_eq!(first["date"], "2026-01-01");
    assert_eq!(first["files"], json!(["src/http.rs", "src/retry.rs"]));
    assert!(first["score"].as_f64().expect("a score") > 0.0);
    let whole = sandbox.run(&["log", "retries", "-c", "-k", "1"]).out;
    assert!(whole.ends_with("    Cap retries at five\n\n    Since the server sleeps otherwise.\n"), "{whole}");
    assert!(sandbox.run(&["log", "retries", "-n", "1", "-k", "1"]).out.ends_with("    Cap retries at five\n"));
    let lines = sandbox.run(&["log", "retries", "--jsonl"]).out;
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");
    assert!(sandbox.run(&["log", "retries", "--explain"]).out.contains("bm25"));
    let none = sandbox.run(&["log", "xylophone"]);
    assert_eq!((none.status, none.out.as_str()), (1, ""));
}

#[test]
fn a_path_limits_to_what_mentions_it_newest_first() {
    let (sandbox, _) = repository();
    assert_eq!(
        subjects(&sandbox.run(&["log", "--json", "--", "src/http.rs"])),
        ["Keep the connection open", "Cap retries at five"]
    );
    assert_eq!(subjects(&sandbox.run(&["log", "--json", "--", "src"])).len(), 3, "a folder");
    assert_eq!(subjects(&sandbox.run(&["log", "connection", "src/parse.rs", "--json"]))[0], "Keep the connection open");
    fs::remove_file(sandbox.root().join("src/retry.rs")).expect("a file");
    assert_eq!(subjects(&sandbox.run(&["log", "--json", "--", "src/retry.rs"])), ["Cap retries at five"], "gone");
    let unknown = sandbox.run(&["log", "--json", "--", "src/other.rs"]);
    assert_eq!((unknown.status, unknown.out.as_str()), (1, "[]\n"), "{unknown:?}");
    assert!(unknown.err.contains("nothing in the history mentions src/other.rs"), "{unknown:?}");
    assert_eq!(sandbox.run(&["log", "--json", "src/other.rs"]).err, unknown.err, "a path without a question");
    let unquoted = sandbox.run(&["log", "frobnicate", "the", "xylophone"]).err;
    assert!(
        unquoted.contains("colgrep log 'frobnicate the xylophone'") && !unquoted.contains("mentions the"),
        "{unquoted}"
    );
    let one_of_two = sandbox.run(&["log", "--json", "--", "src/other.rs", "src/http.rs"]);
    assert!(one_of_two.status == 0 && one_of_two.err.contains("src/other.rs"), "{one_of_two:?}");
    sandbox.write("src/new.rs", "");
    assert_eq!(sandbox.run(&["log", "--", "src/new.rs"]).status, 1, "there, and in no commit yet");
    sandbox.refuses(&["log", "--", "/etc/passwd"], "outside");
}

#[test]
fn one_argument_that_names_what_is_there_is_no_question() {
    let (sandbox, names) = repository();
    let out = |args: &[&str]| sandbox.run(&[&["log", "-l"], args].concat()).out;
    for path in ["src/http.rs", "src/http.rs:4", "src", "./src/retry.rs"] {
        assert_eq!(out(&[path]), out(&["--", path]), "{path}");
    }
    assert_eq!(out(&["src/http.rs:4"]).trim(), names[2]);
    assert_eq!(out(&["src", "src/http.rs"]), out(&["src", "--", "src/http.rs"]), "a question in front of a path");
    assert_eq!(out(&[""]), out(&[]));
    fs::remove_file(sandbox.root().join("src/retry.rs")).expect("a file");
    assert_ne!(out(&["src/retry.rs"]), "", "one that is gone is looked for in words");
}

#[test]
fn a_commits_name_alone_leads_to_it() {
    let (sandbox, names) = repository();
    for name in &names {
        let upper = name[..9].to_uppercase();
        for id in [&name[..7], name.as_str(), upper.as_str()] {
            for flags in [&["--keyword-only"][..], &[]] {
                let ran = sandbox.run(&[&["log", id, "-l", "-k", "1"], flags].concat());
                assert_eq!((ran.status, ran.out.trim()), (0, name.as_str()), "{id} {flags:?}: {ran:?}");
            }
        }
        let elsewhere = sandbox.run(&["log", &name[..7], "--sessions", "--keyword-only"]);
        assert_eq!((elsewhere.status, elsewhere.out.as_str()), (1, ""), "{elsewhere:?}");
    }
}

#[test]
fn a_line_leads_to_the_commit_that_changed_it_last() {
    let (sandbox, names) = repository();
    assert_eq!(sandbox.run(&["log", "-l", "--", "src/http.rs:1"]).out.trim(), names[0]);
    assert_eq!(sandbox.run(&["log", "-l", "--", "src/http.rs:4"]).out.trim(), names[2]);
    let both = format!("{}\n{}\n", names[2], names[0]);
    for args in [&["log", "-l", "src/http.rs:1-4"][..], &["log", "-l", "--", "src/http.rs:1-9"]] {
        assert_eq!(sandbox.run(args).out, both, "{args:?}: each commit of the lines once");
    }
    assert_eq!(sandbox.run(&["log", "-l", "--", "src/http.rs:4-4"]).out.trim(), names[2]);
    let text = fs::read_to_string(sandbox.root().join("src/http.rs")).expect("a file");
    sandbox.write("src/http.rs", &format!("// mine\n{text}"));
    let mine = sandbox.run(&["log", "-l", "--", "src/http.rs:1"]);
    assert!(mine.status == 1 && mine.err.contains("not committed"), "{mine:?}");
    let part = sandbox.run(&["log", "-l", "--", "src/http.rs:1-2"]);
    assert!(part.out.trim() == names[0] && part.err.contains("src/http.rs:1 is not committed yet"), "{part:?}");
}

#[test]
fn words_that_no_commit_has_are_told() {
    let (sandbox, _) = repository();
    for (query, said) in [
        ("frobnicate", "nothing in the history mentions \"frobnicate\""),
        ("why does it frobnicate", "nothing in the history mentions \"frobnicate\""),
        ("frobnicate the xylophone", "nothing in the history mentions \"frobnicate\" or \"xylophone\""),
        ("retry in ZorkPort", "nothing in the history mentions \"ZorkPort\""),
        ("retry frobnicated", ""),
        ("retry", ""),
    ] {
        let ran = sandbox.run(&["log", query]);
        assert_eq!(ran.err.trim().trim_start_matches("colgrep: "), said, "{query}: {ran:?}");
    }
}

#[test]
fn lines_that_no_commit_can_have_are_refused_in_our_words() {
    let (sandbox, _) = repository();
    sandbox.write("src/new.rs", "new\n");
    fs::remove_file(sandbox.root().join("src/retry.rs")).expect("a file");
    for (place, said) in [
        ("src/retry.rs:1-2", "src/retry.rs is no longer in the tree"),
        ("src/new.rs:1", "git does not track src/new.rs"),
        ("src:1", "src is a folder"),
        ("src/http.rs:999", "counted from 1, so there is no line 999"),
    ] {
        for args in [&["log", place][..], &["log", "--", place], &["log", "connection", place]] {
            let ran = sandbox.run(args);
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
            assert!(ran.err.contains(said) && !ran.err.contains("git blame"), "{args:?}: {ran:?}");
        }
    }
    commit(&sandbox, "2026-01-05", &[], "Retry no more");
    sandbox.refuses(&["log", "src/retry.rs:1-2"], "`colgrep log -- src/retry.rs`");
    sandbox.refuses(&["log", "--", "src/never.rs:1"], "src/never.rs: no such file");
    assert_ne!(sandbox.run(&["log", "retries:5"]).status, 2, "words that no file is called");
}

#[test]
fn what_stands_behind_a_file_and_is_no_line_is_no_question() {
    let (sandbox, _) = repository();
    for place in ["src/http.rs:0", "src/http.rs:2-1", "src/http.rs:", "src/http.rs:12x", "src/http.rs:abc"] {
        for args in [&["log", place][..], &["log", "--", place], &["log", "connection", place]] {
            let ran = sandbox.run(args);
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
            assert!(ran.err.contains("src/http.rs:12"), "what is read: {ran:?}");
        }
    }
    for question in ["src/http.rs: keep the connection", "src/http.rs::connection", "src:connection"] {
        let ran = sandbox.run(&["log", question]);
        assert_eq!(ran.status, 0, "{question}: {ran:?}");
    }
}

#[test]
fn what_there_is_nothing_of_is_told() {
    let (sandbox, _) = repository();
    let err = |args: &[&str]| sandbox.run(args).err;
    let none = sandbox.run(&["log", "--sessions"]);
    assert!(none.status == 1 && none.err.contains("colgrep settings sessions FOLDER"), "{none:?}");
    assert!(!err(&["log", "--sessions", "--quiet"]).contains("session"));
    let unanswered = err(&["log", "xylophone"]);
    assert!(unanswered.contains("nothing in the history mentions \"xylophone\""), "{unanswered}");
    assert!(!unanswered.contains("session"), "who names no folders misses no sessions");
    assert!(err(&["log", "--since", "2030-01-01"]).contains("nothing in the history answers that"));
    let folder = transcripts(&sandbox);
    assert!(!err(&["log", "--sessions"]).contains("session"), "a folder without a session of this project");
    fs::remove_dir(&folder).expect("a folder");
    let gone = format!("{}: the setting sessions names this folder, which is not there", folder.display());
    let ran = sandbox.run(&["log", "--sessions"]);
    assert!(ran.status == 1 && ran.err.contains(&gone), "{ran:?}");
    assert!(!err(&["log"]).contains("session"), "there are commits");
    assert!(sandbox.run(&["doctor"]).out.contains(&gone));
    let empty = Sandbox::new();
    git(&empty.root(), "2026-01-01T12:00:00+0000", &["init", "-q"]);
    let ran = empty.run(&["log"]);
    assert!(ran.status == 1 && ran.err.contains("has no commit yet"), "{ran:?}");
}

#[test]
fn days_and_kinds_limit_too() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    for (args, expected) in [
        (&["--commits"][..], 4),
        (&["--sessions"][..], 2),
        (&["--since", "2026-01-04"][..], 3),
        (&["--until", "2026-01-02"][..], 2),
        (&["--since", "2026-01-02", "--until", "2026-01-03"][..], 2),
        (&["--since", "2026-01-05T10:00:00Z"][..], 1),
        (&["--not-session", "s1"][..], 4),
        (&["-k", "3"][..], 3),
    ] {
        let ran = sandbox.run(&[&["log", "--json"], args].concat());
        assert_eq!(rows(&ran).len(), expected, "{args:?}: {ran:?}");
    }
    sandbox.refuses(&["log", "--since", "banana"], "2026-01-31");
    let cut = sandbox.run(&["log", "--max-tokens", "25"]);
    assert!(cut.out.lines().count() < 6 && cut.err.contains("--max-tokens 25"), "{cut:?}");
}

#[test]
fn a_second_look_writes_nothing_and_a_new_commit_is_found_at_once() {
    let (sandbox, mut names) = repository();
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    sandbox.run(&["log"]);
    let before = written(&sandbox);
    sandbox.run(&["log"]);
    sandbox.run(&["log", "retries"]);
    assert_eq!(written(&sandbox), before);
    names.push(commit(&sandbox, "2026-01-09", &["src/late.rs"], "Close the door"));
    assert_eq!(sandbox.run(&["log", "-l", "-k", "1"]).out.trim(), names[4]);
    assert_eq!(sandbox.run(&["log", "--commits", "-l"]).out.lines().count(), 5);
}

#[test]
fn commits_that_are_gone_are_gone() {
    let (sandbox, names) = repository();
    sandbox.run(&["log"]);
    let (root, date) = (sandbox.root(), "2026-01-10T12:00:00+0000");
    git(&root, date, &["commit", "-q", "--amend", "-m", "Say how to test"]);
    assert_eq!(subjects(&sandbox.run(&["log", "--json", "-k", "1"])), ["Say how to test"]);
    assert!(!sandbox.run(&["log", "-l"]).out.contains(&names[3]));
    git(&root, date, &["reset", "-q", "--hard", &names[1]]);
    let left = sandbox.run(&["log", "-l"]).out;
    assert_eq!(left.lines().collect::<Vec<_>>(), [names[1].as_str(), names[0].as_str()]);
    // The objects of old tips are gone too.
    git(&root, date, &["reflog", "expire", "--expire=now", "--all"]);
    git(&root, date, &["gc", "-q", "--prune=now"]);
    commit(&sandbox, "2026-01-11", &["a.rs"], "Go on");
    assert_eq!(sandbox.run(&["log", "-l"]).out.lines().count(), 3);
}

#[test]
fn worktrees_share_one_history() {
    let (sandbox, names) = repository();
    let (root, beside) = (sandbox.root(), sandbox.root().with_file_name("beside"));
    git(&root, "2026-01-01T12:00:00+0000", &["worktree", "add", "-q", "-b", "side", &beside.display().to_string()]);
    let folder = transcripts(&sandbox);
    // A session in the other worktree, of which the paths are the same files.
    let there = beside.display().to_string();
    let text = lines(&[
        asked(&there, "2026-01-07T09:00:00Z", "Look at the parser"),
        did(&there, "Yes.", &[("Read", json!({"file_path": format!("{there}/src/parse.rs")}))]),
    ]);
    fs::write(folder.join("s2.jsonl"), text).expect("a file");
    let here = sandbox.run(&["log", "--json", "--", "src/parse.rs"]);
    assert_eq!(subjects(&here)[0], "Look at the parser", "{here:?}");
    // 001.8: a path of either worktree is the same file.
    for path in ["../beside/src/parse.rs", &format!("{there}/src/parse.rs")] {
        assert_eq!(sandbox.run(&["log", "--json", path]).out, here.out, "{path}");
    }
    assert_eq!(sandbox.run(&["log", "-l", "../beside/src/http.rs:1"]).out.trim(), names[0]);
    // Lines are those of the worktree that is named.
    fs::write(beside.join("src/http.rs"), "// mine\n").expect("a file");
    let mine = sandbox.run(&["log", "../beside/src/http.rs:1"]);
    assert!(mine.status == 1 && mine.err.contains("../beside/src/http.rs:1 is not committed yet"), "{mine:?}");
    assert_eq!(sandbox.run(&["log", "-l", "src/http.rs:1"]).out.trim(), names[0]);
    let mut other = sandbox.command(&["log", "-l"]);
    let out = other.current_dir(&beside).output().expect("a binary").stdout;
    assert_eq!(String::from_utf8_lossy(&out).lines().count(), 5);
    let stores: Vec<_> = fs::read_dir(sandbox.data()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(stores.len(), 1, "{stores:?}");
    assert!(stores[0].to_string_lossy().ends_with(".history"));
}

#[test]
fn turns_are_places_that_mention_paths() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let path = folder.join("s1.jsonl");
    fs::write(&path, session(&sandbox)).expect("a file");
    let ran = sandbox.run(&["log", "client gives up early", "--sessions"]);
    let expected = format!("{}:2: Why does the client give up so early?\n", path.display());
    assert!(ran.out.starts_with(&expected), "{ran:?}");
    let row = &rows(&sandbox.run(&["log", "client gives up early", "--sessions", "--json"]))[0];
    assert_eq!(row["source"], "session");
    assert_eq!(row["id"], format!("{}:2", path.display()));
    assert_eq!(row["date"], "2026-01-05");
    // 001.8: outside paths are dropped; 001.1: each path once.
    assert_eq!(row["files"], json!(["src/http.rs", "src/retry.rs"]));
    let whole = sandbox.run(&["log", "client", "--sessions", "-c", "-k", "1"]).out;
    for part in ["Please look.", "It doubles the pause each time.", "Edit src/retry.rs"] {
        assert!(whole.contains(part), "{part} in {whole}");
    }
    assert!(!whole.contains("zanzibar") && !whole.contains("quetzal"), "{whole}");
    assert_eq!(
        subjects(&sandbox.run(&["log", "--sessions", "--json", "--", "src/limit.rs"])),
        ["Now make the limit a setting"]
    );
}

#[test]
fn what_tools_answered_is_never_found() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    assert_eq!(sandbox.run(&["log", "client", "--sessions"]).status, 0);
    for word in ["zanzibar", "quetzal", "shadow"] {
        assert_eq!(sandbox.run(&["log", word]).status, 1, "{word}");
    }
    // No file of the index contains it either.
    for (path, _) in written(&sandbox) {
        let bytes = fs::read(&path).expect("a file");
        assert!(!bytes.windows(8).any(|w| w == b"zanzibar"), "{}", path.display());
    }
}

#[test]
fn the_last_turn_of_a_session_grows() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let path = folder.join("s1.jsonl");
    let root = sandbox.root().display().to_string();
    let mut text = session(&sandbox);
    fs::write(&path, &text).expect("a file");
    assert_eq!(sandbox.run(&["log", "--", "src/more.rs"]).status, 1, "nothing mentions it");
    text += &lines(&[did(&root, "And more.", &[("Read", json!({"file_path": "src/more.rs"}))])]);
    fs::write(&path, &text).expect("a file");
    let ran = sandbox.run(&["log", "--json", "--", "src/more.rs"]);
    assert_eq!(subjects(&ran), ["Now make the limit a setting"], "the same turn, with a new mention");
    assert_eq!(rows(&sandbox.run(&["log", "--sessions", "--json"])).len(), 2, "not a second one");
    // Without that line, the mention is gone with the turn.
    fs::write(&path, session(&sandbox)).expect("a file");
    sandbox.run(&["log"]);
    assert_eq!(sandbox.run(&["log", "--", "src/more.rs"]).status, 1);
}

#[test]
fn sessions_of_other_projects_and_folders_that_nobody_named_are_not_read() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let text = lines(&[asked("/elsewhere", "2026-01-07T09:00:00Z", "A private question")]);
    fs::write(folder.join("other.jsonl"), text).expect("a file");
    assert_eq!(sandbox.run(&["log", "--sessions"]).status, 1);
    assert_eq!(sandbox.run(&["log", "private"]).status, 1);
    // A repository's file can't name folders, trusted or not.
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    assert_eq!(sandbox.run(&["log", "--sessions"]).status, 0);
    assert_eq!(sandbox.run(&["settings", "sessions", "--unset"]).status, 0);
    sandbox.write(".colgrep.toml", &format!("sessions = [{:?}]\n", folder.display().to_string()));
    assert_eq!(sandbox.run(&["log", "--sessions"]).status, 1);
    sandbox.run(&["settings", "--trust"]);
    assert_eq!(sandbox.run(&["log", "--sessions"]).status, 1);
}

#[test]
fn codex_writes_another_form_and_unknown_lines_are_counted() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let root = sandbox.root().display().to_string();
    let message = |role: &str, kind: &str, text: &str| {
        let payload = json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        json!({"timestamp": "2026-01-08T09:00:00Z", "type": "response_item", "payload": payload})
    };
    let call = json!({"type": "function_call", "name": "shell",
        "arguments": json!({"command": ["bash", "-lc", "cat src/parse.rs"], "workdir": root}).to_string()});
    let text = lines(&[
        json!({"timestamp": "2026-01-08T09:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": root}}),
        message("user", "input_text", "<environment_context>secret</environment_context>"),
        message("user", "input_text", "Make the parser faster"),
        json!({"type": "response_item", "payload": call}),
        json!({"type": "response_item", "payload": {"type": "function_call_output", "output": "zanzibar"}}),
        message("assistant", "output_text", "It is lazy now."),
        json!({"type": "something_new"}),
    ]) + "no JSON\n";
    let day = folder.join("2026/01/08");
    fs::create_dir_all(&day).expect("a folder");
    fs::write(day.join("rollout-2026-01-08T09-00-00-c1.jsonl"), text).expect("a file");
    let ran = sandbox.run(&["log", "faster parser", "--sessions", "--json"]);
    let all = rows(&ran);
    assert_eq!((all.len(), &all[0]["subject"]), (1, &json!("Make the parser faster")), "{ran:?}");
    assert_eq!(all[0]["files"], json!(["src/parse.rs"]));
    assert_eq!(sandbox.run(&["log", "--sessions", "--not-session", "c1"]).status, 1);
    sandbox.run(&["init"]);
    let status = sandbox.run(&["status"]).out;
    assert!(status.contains("history   4 commits, 1 turn of 1 session"), "{status}");
    assert!(status.contains("2 lines of transcripts are of an unknown form"), "{status}");
}

#[test]
fn who_names_a_file_gets_what_mentions_it() {
    let (sandbox, names) = repository();
    let found = |query: &str, vars: &[(&str, &str)]| {
        let ran = sandbox.run_with(vars, &["log", query, "--json"]);
        rows(&ran)
            .into_iter()
            .map(|row| (row["id"].as_str().unwrap_or_default().to_string(), row["score"].clone()))
            .collect::<Vec<_>>()
    };
    // "headers" occurs in one commit; the other mentions the file and none of the words.
    let both = found("lazily in http.rs", &[]);
    let best = both[0].1.as_f64().expect("a score");
    let mentioned: Vec<_> = both.iter().filter(|(id, _)| *id == names[0] || *id == names[2]).collect();
    assert_eq!(mentioned.len(), 2, "{both:?}");
    for (_, score) in mentioned {
        assert!(score.as_f64().expect("a score") >= 0.599 * best, "{both:?}");
    }
    let far = found("lazily in http.rs", &[("COLGREP_MENTION_DISTANCE", "1")]);
    assert!(far.last().expect("entries").1.as_f64() < Some(0.59 * best), "{far:?}");
    let explained = sandbox.run(&["log", "lazily in HTTP.rs", "--explain"]).out;
    assert!(explained.contains("mention +"), "{explained}");
}

#[test]
fn where_there_is_nothing_to_look_in_git_is_named() {
    let sandbox = Sandbox::new();
    sandbox.refuses(&["log"], "git");
    // Outside a repository, sessions of the project are a history too.
    let folder = transcripts(&sandbox);
    let elsewhere = lines(&[asked("/elsewhere", "2026-01-07T09:00:00Z", "A private question")]);
    fs::write(folder.join("s2.jsonl"), elsewhere).expect("a file");
    let ran = sandbox.run(&["log", "question"]);
    assert!(ran.status == 2 && ran.err.contains("git") && ran.err.contains("sessions"), "{ran:?}");
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    sandbox.write("src/retry.rs", "");
    assert_eq!(sandbox.run(&["log"]).out.lines().count(), 2);
    assert_eq!(sandbox.run(&["log", "--", "src/retry.rs"]).out.lines().count(), 1);
    let empty = Sandbox::new();
    git(&empty.root(), "2026-01-01T12:00:00+0000", &["init", "-q"]);
    assert_eq!(empty.run(&["log"]).status, 1, "a repository without a commit");
}
