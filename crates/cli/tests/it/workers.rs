//! Parsing in worker processes: hostile files cost themselves their units and nothing else, and units through a worker are
//! those of a parse in process.

use std::fs;

use colgrep_syntax::language;
use colgrep_syntax::parse::{CRASHED, Parsed, parse_in_process};
use colgrep_syntax::worker::WorkerPool;
use serde_json::json;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::samples::samples;

/// Files that crash the scanner of their grammar, or keep it in one step for many seconds.
fn hostile() -> [(&'static str, String); 3] {
    [
        ("here.rb", format!("<<\"\n{}\"\n", "0".repeat(255))),
        ("braces.kt", "\"${ /* } */ ".repeat(1_025)),
        ("tag.svelte", format!("</{}>\n", "w".repeat(80_000))),
    ]
}

/// A project of hostile files with an innocent one beside each.
fn mixed() -> Sandbox {
    let sandbox = Sandbox::new();
    hostile().iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.write("ring.rb", "class Ring\n  def rotate_left(by)\n    @at += by\n  end\nend\n");
    sandbox.write("Queue.kt", "class Queue {\n    fun drainAll(): Int {\n        return 1\n    }\n}\n");
    sandbox.write("Page.svelte", "<script>\nfunction openDrawer() {\n  return 1;\n}\n</script>\n<p>text</p>\n");
    sandbox
}

/// What finds the innocent files.
const INNOCENT: [(&str, &str); 3] =
    [("rotate_left", "ring.rb"), ("drainAll", "Queue.kt"), ("openDrawer", "Page.svelte")];

#[test]
fn hostile_files_end_nothing() {
    let sandbox = mixed();
    let built = sandbox.run(&["init"]);
    assert_eq!(built.status, 0, "{built:?}");
    for (query, path) in INNOCENT {
        let ran = sandbox.run(&[query, "-l"]);
        assert!(ran.status == 0 && ran.out.starts_with(path), "{query}: {ran:?}");
        let outline = sandbox.run(&["outline", path]);
        assert!(outline.status == 0 && outline.out.contains(query), "{outline:?}");
    }
    for (path, _) in &hostile()[..2] {
        let outline = sandbox.run(&["outline", "--all", path]);
        assert_eq!(outline.status, 0, "{outline:?}");
    }
    // They are not parsed again, which shows in the time alone; what they hold is found.
    let again = sandbox.run(&["init"]);
    assert_eq!(again.status, 0, "{again:?}");
    let lines = sandbox.run(&["-e", "0{255}", "-l"]);
    assert!(lines.status == 0 && lines.out.contains("here.rb"), "{lines:?}");
}

#[test]
fn a_server_outlives_hostile_files() {
    let sandbox = mixed();
    let mut client = Client::start(&sandbox, &[]);
    for (query, path) in INNOCENT {
        let found = client.good("search", json!({"query": query}));
        assert!(found.contains(path), "{query}: {found}");
    }
    for (path, _) in &hostile()[..2] {
        client.good("outline", json!({"file": path, "all": true}));
        client.good("outline", json!({"file": path, "all": true}));
    }
    assert!(client.good("outline", json!({"file": "ring.rb"})).contains("rotate_left"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_worker_parses_every_language_as_the_process_does() {
    let pool = WorkerPool::new(env!("CARGO_BIN_EXE_colgrep").into());
    let mut wrong = Vec::new();
    // Without a last line break and with an odd character too, which makes other texts of them.
    for [name, _, sample, _] in samples() {
        let language = language::by_name(&name).expect("a row");
        for text in [sample.clone(), sample.trim_end().to_string(), sample.replace(' ', "  ").replace('e', "é")] {
            let (there, here) = (pool.parse(&text, language), parse_in_process(&text, language));
            if there != here {
                wrong.push(format!("{}: in a worker\n{there}\nin process\n{here}", language.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pool.has_started());
}

#[test]
fn a_text_that_ends_its_workers_becomes_blocks_and_the_next_one_has_units() {
    let pool = WorkerPool::new(env!("CARGO_BIN_EXE_colgrep").into());
    let rust = language::by_name("rust").expect("a row");
    let names = |parsed: &Parsed| parsed.units.iter().map(|unit| unit.name.clone()).collect::<Vec<_>>();
    for (path, text) in hostile() {
        let language = language::of_file(path, text.as_bytes());
        for _ in 0..2 {
            let parsed = pool.parse(&text, language);
            let note = parsed.note.unwrap_or_default();
            assert!(!parsed.units.is_empty(), "{path}: {note}");
            let is_told = note.starts_with(CRASHED) || note.starts_with("took too long to parse");
            assert!(is_told && note.ends_with("; indexed as plain blocks"), "{path}: {note:?}");
        }
        assert_eq!(names(&pool.parse("fn one() {}\n", rust)), ["one"]);
    }
    assert!(pool.has_started());
}

/// A text that takes gigabytes, minutes or the scanner's state beyond its bounds, repeated.
fn bombs() -> Vec<(&'static str, String)> {
    let mut bombs = Vec::new();
    for (language, text) in [("perl", "\"@{["), ("ruby", "<<Adef a%Q["), ("perl", "\"${"), ("kotlin", "\"${a")] {
        bombs.extend([80, 90, 120, 200, 256, 400, 3_000].map(|times| (language, text.repeat(times))));
    }
    // A quoted here-document word with a line break, and braces that only comments close.
    for length in [200, 255, 256, 1_030, 5_000] {
        bombs.push(("ruby", format!("<<\"\n{}\"\n", "0".repeat(length))));
        bombs.push(("ruby", format!("a <<~'{}', <<-B\n", "w".repeat(length)).repeat(3)));
    }
    for text in ["\"${ /* } */ ", "\"${ \"}\" + ", "\"\"\"${ // }\n"] {
        bombs.extend([1_022, 1_025, 3_000].map(|times| ("kotlin", text.repeat(times))));
    }
    // Scanners that call themselves for each level, and blocks that they lose track of.
    bombs.extend([("ocaml", "(* ".repeat(100_000)), ("svelte", "{`${".repeat(100_000))]);
    bombs.extend([("markdown", ">".repeat(300) + " x\n"), ("yaml", "- ".repeat(400) + "\n")]);
    // Every path through the forked stack is copied at the end: 7.3, 3.1 GB.
    bombs.extend(["csharp", "java"].map(|language| (language, "a<b".repeat(10_000))));
    for language in ["c", "javascript", "json", "rust", "python"] {
        bombs.extend(["(", "{", "class A{"].map(|open| (language, open.repeat(50_000))));
    }
    bombs
}

#[test]
fn bombs_end_their_workers_at_most() {
    let pool = WorkerPool::new(env!("CARGO_BIN_EXE_colgrep").into());
    for (name, text) in bombs() {
        let parsed = pool.parse(&text, language::by_name(name).expect("a row"));
        let begins = &text[..text.len().min(20)];
        assert!(!parsed.units.is_empty(), "{name} {begins:?}: {:?}", parsed.note);
        let units: usize = parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + u.signature.len()).sum();
        assert!(units >> 20 < 24, "{name} {begins:?}: units of {units} bytes");
    }
    assert!(pool.has_started());
}

#[test]
fn a_program_that_is_no_worker_leaves_parsing_to_the_process() {
    let rust = language::by_name("rust").expect("a row");
    for program in ["/nonexistent/colgrep", "/bin/true", "/bin/cat"] {
        let pool = WorkerPool::new(program.into());
        let parsed = pool.parse("fn one() {}\n", rust);
        assert_eq!((parsed.units.len(), parsed.note), (1, None), "{program}");
        assert!(!pool.has_started());
    }
}

#[cfg(unix)]
#[test]
fn a_worker_that_answers_nonsense_costs_a_file_its_units() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let rust = language::by_name("rust").expect("a row");
    for (number, answer) in
        ["exec /bin/cat", "exec /usr/bin/yes", "exec /bin/sleep 0", "printf 'no length'"].iter().enumerate()
    {
        let program = folder.path().join(format!("worker{number}"));
        let hello = format!("printf 'colgrep {} parses\\n'", env!("CARGO_PKG_VERSION"));
        fs::write(&program, format!("#!/bin/sh\n{hello}\n{answer}\n")).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a script that may run");
        let pool = WorkerPool::new(program);
        let parsed = pool.parse("fn one() {}\nfn two() {}\n", rust);
        let note = parsed.note.unwrap_or_default();
        assert!(note.starts_with(CRASHED) && !parsed.units.is_empty(), "{answer}: {note:?}");
        assert!(pool.has_started(), "{answer}");
    }
}

#[cfg(target_os = "linux")]
mod processes {
    use std::collections::BTreeSet;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    fn workers_of(process: u32) -> BTreeSet<u32> {
        let all = fs::read_dir("/proc").expect("the processes").flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_worker = |number: &u32| {
            let read = |file: &str| fs::read_to_string(format!("/proc/{number}/{file}")).unwrap_or_default();
            read("status").contains(&format!("\nPPid:\t{process}\n")) && read("cmdline").contains("--parse-worker")
        };
        numbers.filter(is_worker).collect()
    }

    fn kill(process: u32) {
        let killed = Command::new("/bin/sh").args(["-c", &format!("kill -9 {process}")]).status();
        assert!(killed.is_ok());
    }

    #[test]
    fn a_killed_worker_loses_nothing() {
        let sandbox = Sandbox::new();
        for file in 0..300 {
            let text: String = (0..40).map(|i| format!("def part_{file}_{i}(a):\n    return a + {i}\n\n")).collect();
            sandbox.write(&format!("m{file}.py"), &text);
        }
        let mut init = sandbox.command(&["init"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a start");
        let mut killed = BTreeSet::new();
        let status = loop {
            if let Some(status) = init.try_wait().expect("a status") {
                break status;
            }
            // Some, and not each as soon as it starts.
            if killed.len() < 6
                && let Some(worker) = workers_of(init.id()).difference(&killed).next().copied()
            {
                kill(worker);
                killed.insert(worker);
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(status.code(), Some(0));
        assert!(!killed.is_empty(), "it was over before a worker was seen");
        let told = sandbox.run(&["status"]);
        assert!(told.out.contains("files     300 (12000 units") && !told.out.contains(CRASHED), "{told:?}");
        for file in [0, 7, 150, 299] {
            let ran = sandbox.run(&[&format!("part_{file}_39"), "-l"]);
            assert!(ran.out.starts_with(&format!("m{file}.py")), "{ran:?}");
        }
    }

    #[test]
    fn a_search_that_reads_nothing_new_starts_no_worker() {
        let sandbox = Sandbox::of("relay");
        assert_eq!(sandbox.run(&["init"]).status, 0);
        let mut client = Client::start(&sandbox, &[]);
        assert!(client.good("search", json!({"query": "ring buffer"})).contains("ring.rs"));
        assert_eq!(workers_of(client.server.id()), BTreeSet::new());
        client.good("outline", json!({"file": "src/queue/ring.rs"}));
        assert_eq!(workers_of(client.server.id()).len(), 1);
        assert_eq!(client.end(), Some(0));
    }

    #[test]
    fn a_worker_is_confined_and_ends_with_its_program() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colgrep"));
        let mut worker =
            command.arg("--parse-worker").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a start");
        let mut hello = String::new();
        BufReader::new(worker.stdout.take().expect("a pipe")).read_line(&mut hello).expect("a line");
        assert!(hello.starts_with("colgrep "), "{hello}");
        let read = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", worker.id())).expect("a file");
        let (status, limits) = (read("status"), read("limits"));
        assert!(status.contains("Seccomp:\t2\n") && status.contains("NoNewPrivs:\t1\n"), "{status}");
        for limit in ["Max core file size", "Max open files", "Max data size", "Max cpu time"] {
            let row = limits.lines().find(|line| line.starts_with(limit)).expect("a row");
            assert!(!row.trim_start_matches(limit).trim_start().starts_with("unlimited"), "{row}");
        }
        drop(worker.stdin.take());
        assert_eq!(worker.wait().expect("an end").code(), Some(0));
    }
}
