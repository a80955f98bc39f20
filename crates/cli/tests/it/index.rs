//! The index as a user meets it: what is written and when, status and clear, kills and races.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::{Ran, Sandbox, git, git_in};
use colgrep_index::store::FORMAT_VERSION;
use insta::assert_snapshot;

/// Every file below `folder` with its size and time of change.
fn state(folder: &Path) -> BTreeMap<String, (u64, SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let metadata = entry.metadata().expect("metadata");
        if metadata.is_dir() {
            all.extend(state(&entry.path()));
        } else {
            all.insert(entry.path().display().to_string(), (metadata.len(), metadata.modified().expect("a time")));
        }
    }
    all
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let before = state(&sandbox.data());
    assert!(!before.is_empty());
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(sandbox.run(&["parse request"]).status, 0);
    assert!(sandbox.run(&["init"]).err.contains("nothing changed"));
    assert_eq!(sandbox.run(&["status"]).status, 0);
    assert_eq!(state(&sandbox.data()), before);
}

#[test]
fn changes_are_seen_by_the_next_search() {
    let sandbox = Sandbox::of("relay");
    let found = |query: &str| sandbox.run(&[query, "-l", "-k", "1"]).out.trim_end().to_string();
    assert_eq!(found("zeppelin"), "");
    sandbox.write("src/airship.rs", "fn zeppelin() {}\n");
    assert_eq!(found("zeppelin"), "src/airship.rs");
    sandbox.write("src/airship.rs", "fn balloon() {}\n");
    assert_eq!(found("zeppelin"), "");
    assert_eq!(found("balloon"), "src/airship.rs");
    fs::rename(sandbox.root().join("src/airship.rs"), sandbox.root().join("src/craft.rs")).expect("a rename");
    assert_eq!(found("balloon"), "src/craft.rs");
    fs::remove_file(sandbox.root().join("src/craft.rs")).expect("a removal");
    assert_eq!(found("balloon"), "");
    sandbox.write(".colgrepignore", "queue/\n");
    assert!(!sandbox.run(&["RingBuffer struct", "-l"]).out.contains("queue/"));
}

#[test]
fn looking_at_a_project_makes_nothing() {
    let sandbox = Sandbox::of("relay");
    for command in ["status", "doctor"] {
        sandbox.run(&[command]);
        assert!(!sandbox.data().exists(), "{command}");
    }
}

#[test]
fn status_counts_what_was_skipped_and_why() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("logo.png", "\u{89}PNG\0\0");
    sandbox.write("yarn.lock", "a@1:\n  version 1\n");
    sandbox.write("empty.py", "\n");
    sandbox.write("big.txt", &"word ".repeat(300_000));
    sandbox.write("bundle.js", &"x();".repeat(5_000));
    assert_eq!(sandbox.run(&["status"]).status, 1, "not indexed yet");
    let ran = sandbox.run(&["init"]);
    assert!(ran.status == 0 && ran.err.contains("5 files skipped"), "{}", ran.err);
    let shown = sandbox.run(&["status"]).out;
    assert!(!shown.contains('%'), "an index is larger than a little source, and that says nothing: {shown}");
    let skipped: Vec<&str> = shown.lines().filter(|l| l.starts_with("skipped")).collect();
    assert_snapshot!("skipped", skipped.join("\n"));
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(
        (&json["indexed"], &json["complete"], &json["skipped"]["binary"]["files"]),
        (&true.into(), &true.into(), &1.into())
    );
    assert_eq!(json["languages"]["rust"], 7);
}

#[test]
fn clear_of_a_part_of_a_project_removes_nothing() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let before = state(&sandbox.data());
    for part in ["src", "src/http/parse.rs", "./src/"] {
        let refused = sandbox.run(&["clear", part]);
        assert_eq!((refused.status, refused.out.as_str()), (2, ""), "{refused:?}");
        let told = ["is only a part of the project ROOT", "`colgrep clear ROOT`", "`colgrep search clear "];
        assert!(told.iter().all(|part| refused.err.contains(part)), "{refused:?}");
    }
    assert_eq!(state(&sandbox.data()), before);
    assert_eq!(sandbox.run(&["clear", "."]).status, 0);
    assert!(state(&sandbox.data()).is_empty());
}

#[test]
fn a_notebook_with_large_outputs_is_indexed() {
    let sandbox = Sandbox::new();
    let cell = |source: &str, outputs: &str| {
        format!(
            "  {{\"cell_type\": \"code\", \"metadata\": {{}},\n   \"source\": [\"{source}\"],\n   \"outputs\": [{outputs}]}}"
        )
    };
    let image = format!("\n    {{\"data\": {{\"image/png\": \"{}\"}}}}\n   ", "iVBORw0KGgo".repeat(300_000));
    let cells = [cell("def zebra_stripes():\\n    pass", &image), cell("okapi = 1", "")].join(",\n");
    let notebook = |cells: &str| format!("{{\"cells\": [\n{cells}\n], \"metadata\": {{}}, \"nbformat\": 4}}\n");
    sandbox.write("a.ipynb", &notebook(&cells));
    let code = cell(&"zebra_stripes()\\n".repeat(100_000), "");
    sandbox.write("large.ipynb", &notebook(&code));
    let ran = sandbox.run(&["zebra_stripes", "-k", "1"]);
    assert!(ran.out.starts_with("a.ipynb:3:"), "{ran:?}");
    // Lines after an output keep their numbers.
    assert!(sandbox.run(&["okapi", "-k", "1"]).out.starts_with("a.ipynb:8:"));
    let status = sandbox.run(&["status"]);
    assert!(status.out.contains("1 (larger than the size limit): large.ipynb"), "{status:?}");
}

#[test]
fn clear_removes_one_index_or_all() {
    let sandbox = Sandbox::of("relay");
    assert_eq!(sandbox.run(&["clear"]).status, 1);
    sandbox.run(&["init"]);
    assert_eq!(sandbox.run(&["clear"]).status, 0);
    assert!(state(&sandbox.data()).is_empty());
    sandbox.run(&["init"]);
    fs::create_dir_all(sandbox.data().join("not-an-index")).expect("a folder");
    fs::write(sandbox.data().join("not-an-index/lock"), "mine").expect("a file");
    assert_eq!(sandbox.run(&["clear", "--all"]).status, 0);
    assert!(sandbox.data().join("not-an-index").is_dir(), "what is no index stays");
}

#[test]
fn a_subfolder_uses_the_index_around_it() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let before = fs::read_dir(sandbox.data()).expect("data").count();
    let ran = sandbox.run(&["RingBuffer", "src/queue", "-l", "--all"]);
    assert_eq!(ran.out, "src/queue/ring.rs\nsrc/queue/mod.rs\n");
    assert_eq!(fs::read_dir(sandbox.data()).expect("data").count(), before);
    // Files are named as grep names them: below the path that was given.
    let src = sandbox.root().join("src");
    let root = sandbox.root().display().to_string();
    for (path, expected) in [
        (".", "http/parse.rs"),
        ("./", "./http/parse.rs"),
        ("../src/http", "../src/http/parse.rs"),
        ("http/parse.rs", "http/parse.rs"),
        (root.as_str(), "ROOT/src/http/parse.rs"),
    ] {
        let from_src = |args: &[&str]| {
            Ran::of(sandbox.command(args).current_dir(&src).output().expect("a run"), &sandbox.root()).out
        };
        let ranked = from_src(&["parse_request", "-l", "-k", "1", path]);
        assert_eq!(ranked.trim_end(), expected, "{path}");
        assert!(from_src(&["-e", "parse_request", "-l", path]).lines().any(|l| l == expected), "{path}");
        let with = from_src(&["parse_request", "-L", path]);
        assert!(
            !with.contains("parse.rs") && with.lines().all(|l| l.ends_with(".rs") || path == root),
            "{path}: {with}"
        );
    }
    let like = sandbox.command(&["--like", "queue/ring.rs:14", "-l"]).current_dir(&src).output().expect("a run");
    let like = Ran::of(like, &sandbox.root());
    assert!(like.out.lines().all(|l| !l.starts_with('/')) && like.out.contains("http/server.rs\n"), "{like:?}");
}

#[test]
fn a_home_folder_is_refused_without_yes() {
    let sandbox = Sandbox::of("relay");
    let root = sandbox.root().display().to_string();
    let ran = sandbox.run_with(&[("HOME", &root)], &["parse"]);
    assert!(ran.status == 2 && ran.err.contains("pass -y"), "{ran:?}");
    // It has no such flag.
    let ran = sandbox.run_with(&[("HOME", &root)], &["impact", "--staged"]);
    assert!(ran.status == 2 && !ran.err.contains("pass -y") && ran.err.contains("`colgrep init -y"), "{ran:?}");
    assert_eq!(sandbox.run_with(&[("HOME", &root)], &["parse", "-y", "-l", "-k", "1"]).status, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_project_is_refused_without_yes() {
    let sandbox = Sandbox::of("relay");
    for (args, message) in [
        (&["auth", "/etc"][..], "/etc is not a project"),
        (&["init", "/proc/self"], "is not a project"),
        (&["auth", "/dev/null"], "/dev/null is a stream, which -e alone searches"),
        (&["outline", "/dev/zero"], "neither a file nor a folder"),
        (&["init", "/dev/null"], "neither a file nor a folder"),
        (&["--like", "/etc/passwd:3"], "is in no project; name its folder /etc"),
        (&["root", "/etc/passwd"], "search the file with -e PATTERN"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 2 && ran.err.contains(message), "{args:?}: {ran:?}");
    }
    for args in [["status", "/etc"], ["doctor", "/etc"]] {
        assert!(sandbox.run(&args).out.contains("/etc is not a project"), "{args:?} promises no index");
    }
    assert!(!sandbox.data().exists(), "nothing was indexed");
    assert_eq!(sandbox.run(&["-e", "^root:", "-l", "/etc/passwd"]).out, "/etc/passwd\n");
    // A file below the current folder belongs to that.
    assert_eq!(sandbox.run(&["RingBuffer", "src/queue/ring.rs", "-l"]).out, "src/queue/ring.rs\n");
    assert!(sandbox.run(&["status"]).out.starts_with("project   ROOT\n"));
}

#[test]
fn an_index_of_another_version_or_a_damaged_one_is_built_anew() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("another version", |folder| {
            let meta = folder.join("lexical/meta.json");
            let text =
                fs::read_to_string(&meta).expect("meta").replace(&format!("colgrep {FORMAT_VERSION} "), "colgrep 0 ");
            fs::write(meta, text).expect("meta");
        }),
        ("no table", |folder| {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                if entry.file_name().to_string_lossy().starts_with("files-") {
                    fs::remove_file(entry.path()).expect("a removal");
                }
            }
        }),
        ("a broken meta.json", |folder| fs::write(folder.join("lexical/meta.json"), "{").expect("meta")),
        ("no positions", |folder| {
            for entry in fs::read_dir(folder.join("lexical")).expect("a folder").flatten() {
                if entry.path().extension().is_some_and(|e| e == "pos") {
                    fs::remove_file(entry.path()).expect("a removal");
                }
            }
        }),
        ("a truncated segment", |folder| {
            for entry in fs::read_dir(folder.join("lexical")).expect("a folder").flatten() {
                if entry.path().extension().is_some_and(|e| e == "idx" || e == "fast") {
                    fs::write(entry.path(), "x").expect("a segment");
                }
            }
        }),
    ];
    for (what, damage) in damages {
        let sandbox = Sandbox::of("relay");
        sandbox.run(&["init"]);
        let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
        damage(&folder);
        let ran = sandbox.run(&["ring buffer", "--no-update"]);
        assert!(ran.status == 2 && ran.err.contains("colgrep init"), "{what}: {ran:?}");
        let ran = sandbox.run(&["ring buffer", "-l", "-k", "1"]);
        assert_eq!((ran.status, ran.out.as_str()), (0, "src/queue/ring.rs\n"), "{what}: {}", ran.err);
    }
}

/// A project large enough that indexing it takes a while.
fn large() -> Sandbox {
    let sandbox = Sandbox::new();
    for i in 0..400 {
        let body: String = (0..60)
            .map(|j| {
                format!("def handler_{i}_{j}(request):\n    value = request.field_{j}\n    return value + {i}\n\n")
            })
            .collect();
        sandbox.write(&format!("pkg{}/module_{i}.py", i % 20), &body);
    }
    sandbox
}

fn answers(sandbox: &Sandbox) -> String {
    ["handler_17_3", "request field", "module 250 value"]
        .map(|q| sandbox.run(&[q, "--json", "-k", "10"]).out)
        .join("\n")
}

#[test]
fn a_killed_build_leaves_an_index_that_the_next_run_repairs() {
    let sandbox = large();
    sandbox.run(&["init"]);
    let expected = answers(&sandbox);
    sandbox.run(&["clear"]);
    // The moment of the kill moves through the whole build, and through updates of what it left.
    for milliseconds in [5, 20, 40, 60, 80, 110, 150, 200, 260, 330, 420, 550] {
        let mut child =
            sandbox.command(&["init"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a binary");
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        let _ = child.wait();
        let ran = sandbox.run(&["handler_17_3", "--no-update", "-l", "-k", "1"]);
        let unbuilt = ran.status == 2 && ran.err.contains("colgrep init");
        assert!(ran.status < 2 || unbuilt, "after {milliseconds} ms: {ran:?}");
        if milliseconds % 3 == 0 {
            sandbox.write("pkg1/extra.py", &format!("def extra_{milliseconds}():\n    return 1\n"));
        }
    }
    fs::remove_file(sandbox.root().join("pkg1/extra.py")).expect("a removal");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    assert_eq!(answers(&sandbox), expected);
}

#[test]
fn runs_side_by_side_never_corrupt_the_index() {
    let sandbox = large();
    let spawn =
        |args: &[&str]| sandbox.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a binary");
    let children = [
        spawn(&["init"]),
        spawn(&["init"]),
        spawn(&["request field", "-l"]),
        spawn(&["handler_17_3", "-l", "-k", "1"]),
        spawn(&["status"]),
    ];
    for (i, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().expect("an end");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|c| c < 2), "run {i}: {error}");
    }
    let together = answers(&sandbox);
    sandbox.run(&["clear"]);
    assert_eq!(answers(&sandbox), together);
}

#[test]
fn texts_that_would_end_the_process_are_indexed_as_blocks() {
    let sandbox = Sandbox::new();
    sandbox.write("quotes.md", &(">".repeat(255) + " zebra\n"));
    sandbox.write("lists.md", &("- ".repeat(300) + "zebra\n"));
    sandbox.write("deep.yaml", &(0..300).map(|i| format!("{}zebra:\n", " ".repeat(i))).collect::<String>());
    sandbox.write("strings.kt", &format!("val zebra = {}\n", "\"${".repeat(1030)));
    sandbox.write("list.yaml", &format!("{}\nzebra: 1\n", "- ".repeat(400)));
    sandbox.write("strings.pl", &format!("my $zebra = {}\n", "\"${".repeat(200)));
    sandbox.write("words.rb", &format!("zebra = <<~{0}\n{0}\n", "E".repeat(300)));
    let ran = sandbox.run(&["zebra", "-l"]);
    assert_eq!((ran.status, ran.out.lines().count()), (0, 7), "{ran:?}");
}

#[test]
fn every_word_of_a_long_unit_is_found() {
    let sandbox = Sandbox::new();
    let comment: String =
        (0..400).map(|i| format!("// A line of documentation, number {i}, that goes on.\n")).collect();
    sandbox.write("doc.go", &format!("package a\n\n{comment}// lastwordofdoc\nfunc F() {{}}\n"));
    let body: String = (0..5000).map(|i| format!("    value_{i} = compute({i})\n")).collect();
    sandbox.write("body.py", &format!("def long():\n{body}    lastwordofbody = 1\n"));
    assert_eq!(sandbox.run(&["lastwordofdoc", "-l"]).out, "doc.go\n");
    assert_eq!(sandbox.run(&["lastwordofbody", "-l"]).out, "body.py\n");
}

#[test]
fn a_searchs_flags_leave_the_index_as_init_made_it() {
    let sandbox = Sandbox::of("relay");
    sandbox.write(".hidden.py", "def hidden_gadget():\n    pass\n");
    sandbox.run(&["init"]);
    let ran = sandbox.run(&["parse request", "--max-filesize", "10", "-l"]);
    assert!(ran.status == 0 && ran.err.contains("colgrep init"), "{ran:?}");
    assert_eq!(sandbox.run(&["hidden_gadget", "--hidden"]).status, 1);
    sandbox.run(&["init", "--hidden"]);
    assert_eq!(sandbox.run(&["hidden_gadget", "-l"]).out, ".hidden.py\n");
}

#[test]
fn large_files_are_named_when_they_are_left_out() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("huge.txt", &"gigantic words\n".repeat(100_000));
    let ran = sandbox.run(&["parse request"]);
    assert!(ran.status == 0 && ran.err.contains("skipped 1 file larger than 1.00 MiB"), "{}", ran.err);
    sandbox.write("src/new.rs", "fn parse_later() {}\n");
    let later = sandbox.run(&["parse_later"]);
    assert_eq!((later.status, later.err.as_str()), (0, ""), "once, when the index is built");
    let absent = sandbox.run(&["zebra crossing"]).err;
    assert!(absent.contains("nothing here holds \"zebra\", \"crossing\""), "{absent}");
    assert_eq!(sandbox.run(&["-e", "gigantic", "-l"]).out, "huge.txt\n", "grep reads every file");
}

#[test]
fn an_empty_index_has_one_size() {
    let sandbox = Sandbox::new();
    sandbox.write("logo.png", "\u{89}PNG\0\0");
    sandbox.run(&["init"]);
    let out = sandbox.run(&["status"]).out;
    assert!(out.matches("on disk").count() == 1 && !out.contains('%'), "{out}");
}

#[test]
fn init_and_clear_wait_for_a_writer_and_say_so() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    for (words, is_left) in [("clear", false), ("init", true)] {
        fs::create_dir_all(&folder).expect("a folder");
        // This test is the writer; for `init` one that clears.
        let lock = fs::File::create(folder.join("lock")).expect("a lock");
        lock.try_lock().expect("a free lock");
        let mut child = sandbox.command(&[words]).stderr(Stdio::piped()).spawn().expect("a binary");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        assert!(line.starts_with("colgrep: waiting for another colgrep that is updating"), "{words}: {line:?}");
        if words == "init" {
            fs::remove_file(folder.join("lock")).expect("a removal");
            fs::remove_dir_all(&folder).expect("a removal");
        }
        drop(lock);
        std::io::copy(&mut said, &mut std::io::sink()).expect("the rest");
        assert_eq!((words, child.wait().expect("an end").code()), (words, Some(0)));
        assert_eq!(folder.join("lexical/meta.json").exists(), is_left, "{words}");
    }
}

#[test]
fn doctor_reads_all_and_init_heals_what_it_finds() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let doctor = || sandbox.run(&["doctor", "--verify"]);
    assert_eq!(doctor().status, 0, "{:?}", doctor());
    let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    let mut files = fs::read_dir(folder.join("lexical")).expect("a folder").flatten().map(|entry| entry.path());
    let store = files.find(|path| path.extension().is_some_and(|end| end == "store")).expect("stored units");
    let mut bytes = fs::read(&store).expect("a file");
    bytes[0] ^= 1;
    fs::write(&store, bytes).expect("damage");
    let (found, name) = (doctor(), store.file_name().expect("a name").to_string_lossy().into_owned());
    assert!(found.status == 2 && (found.out + &found.err).contains(&name), "{name}");
    // Nothing changed in the tree.
    assert_eq!(sandbox.run(&["init"]).status, 0);
    assert_eq!(doctor().status, 0, "{:?}", doctor());
}

/// A project whose lexical files are larger than those that are checked when an index is opened.
fn wordy() -> Sandbox {
    let (sandbox, mut state) = (Sandbox::new(), 1_u64);
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{}", (state >> 40) % 4_000)
    };
    for i in 0..120 {
        let mut text = String::new();
        for _ in 0..60 {
            let name = (0..24).map(|_| word()).collect::<Vec<_>>().join("_");
            text += &format!("def handler_{name}(request):\n    #");
            (0..6).for_each(|_| text += &format!(" {}", word()));
            text += &format!("\n    value = {}(request.{})\n", word(), word());
            text += &format!("    return walk(value, {}) + {}({i})\n\n", word(), word());
        }
        sandbox.write(&format!("module_{i}.py"), &text);
    }
    sandbox
}

#[test]
fn a_folder_in_the_place_of_the_commit_point_is_no_obstacle() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def zebra():\n    return 1\n");
    for args in [&["init"][..], &["zebra", "-l"]] {
        assert_eq!(sandbox.run(&["init"]).status, 0);
        let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
        fs::remove_file(folder.join("lexical/meta.json")).expect("removed");
        fs::create_dir(folder.join("lexical/meta.json")).expect("a folder");
        assert_eq!(sandbox.run(args).status, 0, "{args:?}");
        assert_eq!(sandbox.run(&["zebra", "-l"]).out, "a.py\n");
    }
}

#[test]
fn damage_is_repaired_before_anything_is_said_wherever_it_shows() {
    let sandbox = wordy();
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let folder = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    for (end, args) in [
        ("idx", &["--calls", "walk", "-k", "3"][..]),
        ("idx", &["-e", "return", "--calls", "walk", "-k", "3"]),
        ("store", &["walk w7", "-k", "3"]),
        ("store", &["walk w7", "--json", "-k", "3"]),
        ("store", &["walk w7", "--jsonl", "-k", "30"]),
        ("store", &["--calls", "walk", "--json", "-k", "3"]),
    ] {
        let sound = sandbox.run(args);
        let files = fs::read_dir(folder.join("lexical")).expect("a folder").flatten().map(|entry| entry.path());
        // A slow machine commits some of them before the rest.
        let is_large = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() > 80_000);
        let files = files.filter(|path| path.extension().is_some_and(|e| e == end) && is_large(path));
        let files: Vec<PathBuf> = files.collect();
        assert!(!files.is_empty(), "{end}");
        for path in files {
            let mut bytes = fs::read(&path).expect("a file");
            // What the end says is read when the index is opened.
            let last = bytes.len() - 10_000;
            (bytes.len() / 20..last).step_by(1_024).for_each(|at| bytes[at] ^= 1);
            fs::write(&path, bytes).expect("damage");
        }
        let ran = sandbox.run(args);
        assert!(ran.err.contains("is damaged; rebuilding what is damaged"), "{args:?}: {ran:?}");
        assert_eq!((ran.status, &ran.out), (0, &sound.out), "{args:?}");
    }
}

#[test]
fn a_new_worktree_begins_with_the_index_of_another() {
    let sandbox = Sandbox::new();
    for name in ["zebra", "giraffe", "okapi"] {
        sandbox.write(&format!("src/{name}.py"), &format!("def feed_{name}(hay):\n    return hay\n"));
    }
    sandbox.write("only_here.py", "def wash_elephant(water):\n    return water\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "src"]);
    git(&sandbox, &["commit", "-q", "-m", "Feed"]);
    sandbox.run(&["init"]);
    let beside = sandbox.root().with_file_name("beside");
    git(&sandbox, &["worktree", "add", "-q", "-b", "side", &beside.display().to_string()]);
    fs::write(beside.join("src/okapi.py"), "def groom_pangolin(brush):\n    return brush\n").expect("a file");
    assert_eq!(git_in(&beside, &[], &["status", "--short"]).trim(), "M src/okapi.py");
    let here = |args: &[&str]| {
        Ran::of(sandbox.command(args).current_dir(&beside).output().expect("a binary that starts"), &beside)
    };
    let built = here(&["init"]);
    assert!(
        built.err.contains("3 files indexed (3 read, 1 removed, 1 unit,"),
        "only what differs is parsed: {built:?}"
    );
    for (word, in_first, in_new) in [("pangolin", false, true), ("zebra", true, true), ("elephant", true, false)] {
        let (first, new) = (sandbox.run(&[word, "-l"]), here(&[word, "-l"]));
        assert_eq!((first.status == 0, new.status == 0), (in_first, in_new), "{word}: {first:?}, {new:?}");
    }
}

#[test]
fn lines_of_an_old_index_are_compared_with_the_files() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn zebra_one() {\n    zebra_two();\n}\n\nfn zebra_two() {}\n\nfn zebra_three() {}\n");
    sandbox.write("b.rs", "fn zebra_four() {\n    zebra_two();\n}\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    sandbox.write("a.rs", "// It moved.\n\nfn zebra_two() {}\n");
    std::fs::remove_file(sandbox.root().join("b.rs")).expect("removed");
    let run = |args: &[&str]| sandbox.run(&[args, &["--no-update"]].concat());
    for args in [
        &["zebra_one"][..],
        &["zebra_one", "--vimgrep"],
        &["zebra_one", "--json"],
        &["zebra_one", "-C", "1"],
        &["zebra_one", "--content"],
        &["zebra_one", "--pack", "500"],
        &["zebra_four"],
        &["--kind", "function"],
        &["--calls", "zebra_two"],
        &["--calls", "zebra_two", "--depth", "2"],
        &["zebra_four", "-l"],
        &["zebra four", "-l", "--all"],
        &["--kind", "function", "-l"],
        &["nothing", "-L"],
    ] {
        let ran = run(args);
        for gone in ["zebra_one", "zebra_three", "zebra_four", "b.rs"] {
            assert!(!ran.out.contains(gone), "{args:?}: {ran:?}");
        }
        let numbered = ran.out.lines().filter_map(|line| line.strip_prefix("a.rs:")?.split(':').next());
        assert!(numbered.into_iter().all(|number| number == "3" || number.starts_with("3-3 ")), "{args:?}: {ran:?}");
    }
    assert_eq!(run(&["zebra_two"]).out, "a.rs:3:fn zebra_two() {}\n");
}

#[test]
fn lines_of_an_old_index_lie_in_their_units_and_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "import os\n\n\ndef foo():\n    return \"quagga herd\"\n");
    sandbox.write("notes.md", "Intro about the zebra stable.\n\n# Other\n\nThe okapi sleeps.\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    sandbox.write("a.py", &format!("{}\n\ndef foo():\n    return \"quagga herd\"\n", "import os\n".repeat(12)));
    sandbox.write("notes.md", "Intro about cows.\n\nMore.\n\n# Other\n\nThe okapi sleeps.\n");
    let run = |args: &[&str]| sandbox.run(&[args, &["--no-update"]].concat()).out;
    for place in ["a.py:4", "a.py:5", "quagga herd"] {
        let out = run(&[place]);
        assert!(out.starts_with("a.py:15:") || out.starts_with("a.py:16:"), "{place}: {out}");
    }
    assert_eq!(run(&["zebra stable", "-k", "1"]), "");
    assert!(run(&["okapi"]).starts_with("notes.md:7:The okapi sleeps."), "{}", run(&["okapi"]));
}
