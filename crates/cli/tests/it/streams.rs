//! `-e PATTERN` over streams and large files: lines come as they are found, in order, within bounded memory.

#![cfg(target_os = "linux")]

use std::io::{BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::common::Sandbox;
use crate::common::process::{Process, until};
use crate::starved::limited;

/// KiB by which a search may grow while it prints: portions that are searched ahead, each with its parts.
const GROWTH_KIB_MAX: u64 = 24 << 10;

/// Starts a search with pipes for what it reads and prints.
fn start(sandbox: &Sandbox, args: &[&str]) -> Process {
    let mut command = sandbox.command(args);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::start(piped).expect("a search")
}

fn output(process: &mut Process) -> BufReader<ChildStdout> {
    BufReader::new(process.0.stdout.take().expect("a pipe"))
}

/// Writes lines without end, until nobody reads them.
fn write_for_ever(process: &mut Process, line: &str) {
    let mut input = process.0.stdin.take().expect("a pipe");
    let lines = line.repeat(1_000);
    std::thread::spawn(move || while input.write_all(lines.as_bytes()).is_ok() {});
}

fn line(output: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    line
}

/// The most memory that a process had so far, in KiB.
fn peak_kib(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Waits for the end; the status, and what it says.
fn end(mut process: Process) -> (Option<i32>, String) {
    until("ended", || process.0.try_wait().expect("a process").is_some());
    let mut said = String::new();
    process.0.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (process.0.wait().expect("a process").code(), said)
}

#[test]
fn the_first_lines_of_endless_input_come_at_once_and_its_reader_may_go() {
    let sandbox = Sandbox::new();
    for (args, expected) in [
        (&["-e", "foo", "-"][..], "<stdin>:1:foo bar\n"),
        (&["-e", "foo", "-o", "-"], "<stdin>:1:foo\n"),
        (&["-e", "foo", "-C", "2", "-"], "<stdin>:1:foo bar\n"),
        (&["-e", "nothing", "-v", "-"], "<stdin>:1:foo bar\n"),
        (&["-e", "foo", "--jsonl", "-"], "{\"file\":\"<stdin>\",\"line\":1,\"text\":\"foo bar\"}\n"),
        (&["-e", "foo", "--vimgrep", "-"], "<stdin>:1:1:foo bar\n"),
    ] {
        let mut search = start(&sandbox, args);
        write_for_ever(&mut search, "foo bar\n");
        let mut out = output(&mut search);
        assert_eq!(line(&mut out), expected, "{args:?}");
        drop(out);
        assert_eq!(end(search), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_search_of_endless_input_ends_once_its_answer_is_known() {
    let sandbox = Sandbox::new();
    for (args, expected) in [
        (&["-e", "foo", "-l", "-"][..], "<stdin>\n"),
        (&["-e", "foo", "-q", "-"], ""),
        (&["-e", "foo", "-m", "2", "-"], "<stdin>:1:foo bar\n<stdin>:2:foo bar\n"),
        (&["-e", "foo", "-m", "2", "--count", "-"], "<stdin>:2\n"),
        (&["-e", "foo", "-m", "1", "-A", "1", "-"], "<stdin>:1:foo bar\n<stdin>-2-foo bar\n"),
        (&["-e", "foo", "--max-tokens", "10", "-"], "<stdin>:1:foo bar\n<stdin>:2:foo bar\n"),
    ] {
        let mut search = start(&sandbox, args);
        write_for_ever(&mut search, "foo bar\n");
        let mut all = String::new();
        output(&mut search).read_to_string(&mut all).expect("text");
        assert_eq!(all, expected, "{args:?}");
        assert_eq!(end(search).0, Some(0), "{args:?}");
    }
}

#[test]
fn a_line_is_shown_before_the_next_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one foo\n");
    let mut search = start(&sandbox, &["-e", "foo", "a.txt", "-", "a.txt"]);
    let mut out = output(&mut search);
    let mut input = search.0.stdin.take().expect("a pipe");
    assert_eq!(line(&mut out), "a.txt:1:one foo\n");
    for number in [1, 3, 5] {
        input.write_all(b"foo\nbar\n").expect("a reader");
        assert_eq!(line(&mut out), format!("<stdin>:{number}:foo\n"));
    }
    drop(input);
    assert_eq!(line(&mut out), "a.txt:1:one foo\n");
    drop(out);
    assert_eq!(end(search), (Some(0), String::new()));
}

#[test]
fn a_named_pipe_is_read_only_where_it_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one foo\n");
    let pipe = sandbox.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let walked = sandbox.run(&["-e", "foo"]);
    assert_eq!((walked.status, walked.out.as_str(), walked.err.as_str()), (0, "a.txt:1:one foo\n", ""));
    let mut search = start(&sandbox, &["-e", "foo", "a.txt", "pipe", "/dev/null"]);
    let mut out = output(&mut search);
    assert_eq!(line(&mut out), "a.txt:1:one foo\n", "before the pipe has a writer");
    let mut input = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a reader");
    for number in [1, 2] {
        input.write_all(b"foo\n").expect("a reader");
        assert_eq!(line(&mut out), format!("pipe:{number}:foo\n"));
    }
    drop(input);
    assert_eq!(line(&mut out), "");
    drop(out);
    assert_eq!(end(search), (Some(0), String::new()));
    let nothing = sandbox.run(&["-e", "foo", "/dev/null"]);
    assert_eq!((nothing.status, nothing.out.as_str(), nothing.err.as_str()), (1, "", ""));
    let ranked = sandbox.run(&["foo", "pipe"]);
    assert!(ranked.status == 2 && ranked.err.contains("pipe is a stream, which -e alone searches"), "{ranked:?}");
}

#[test]
fn memory_is_bounded_while_lines_are_read_from_stdin() {
    let sandbox = Sandbox::new();
    let mut search = start(&sandbox, &["-e", "foo", "-"]);
    write_for_ever(&mut search, "foo bar and some more text on this line\n");
    let mut out = output(&mut search);
    line(&mut out);
    let before = peak_kib(&search.0);
    let mut read = vec![0; 64 << 20];
    out.read_exact(&mut read).expect("lines without end");
    let grown = peak_kib(&search.0) - before;
    assert!(grown <= GROWTH_KIB_MAX, "{grown} KiB for {} MiB", read.len() >> 20);
    // Without a reader, nothing more is read either.
    std::thread::sleep(Duration::from_millis(500));
    let grown = peak_kib(&search.0) - before;
    assert!(grown <= GROWTH_KIB_MAX, "{grown} KiB while nobody reads");
}

#[test]
fn memory_is_bounded_while_the_lines_of_files_are_printed() {
    let sandbox = Sandbox::new();
    for i in 0..3 {
        sandbox.write(&format!("small/{i}.log"), &"needle in a log\n".repeat(16 << 10));
        sandbox.write(&format!("large/{i}.log"), &"needle in a log\n".repeat(2 << 20));
    }
    let mut peaks = [0; 2];
    for (peak, folder) in peaks.iter_mut().zip(["small", "large"]) {
        let mut search = start(&sandbox, &["-e", "needle", folder]);
        let mut out = output(&mut search);
        line(&mut out);
        // It waits for a reader now.
        std::thread::sleep(Duration::from_secs(1));
        *peak = peak_kib(&search.0);
        drop(out);
        assert_eq!(end(search), (Some(0), String::new()), "{folder}");
    }
    let [small, large] = peaks;
    assert!(large <= small + GROWTH_KIB_MAX, "{large} KiB, and {small} KiB for a small file");
}

#[test]
fn the_rest_of_a_large_file_is_not_read_for_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "needle\n");
    // 64 GiB without a block on disk: to read them takes a minute at best.
    let large = std::fs::File::create(sandbox.root().join("b.bin")).expect("a file");
    large.set_len(64 << 30).expect("a sparse file");
    let started = Instant::now();
    let mut search = start(&sandbox, &["-e", "needle", "--max-tokens", "1", "a.txt", "b.bin"]);
    let mut all = String::new();
    output(&mut search).read_to_string(&mut all).expect("text");
    assert_eq!((all.as_str(), end(search).0), ("", Some(0)));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn files_are_printed_in_order_whatever_their_size() {
    let sandbox = Sandbox::new();
    let mut expected = String::new();
    for i in 0..120 {
        let lines = if i % 17 == 3 { 9_000 } else { i % 3 };
        sandbox.write(&format!("src/{i:03}.txt"), &"a needle\nand hay\n".repeat(lines));
        expected.extend((0..lines).map(|line| format!("src/{i:03}.txt:{}:a needle\n", 2 * line + 1)));
    }
    sandbox.write("z.txt", "needle\n");
    let mut search = start(&sandbox, &["-e", "needle", "src", "-", "z.txt", "src/001.txt"]);
    search.0.stdin.take().expect("a pipe").write_all(b"needle\n").expect("a reader");
    let mut all = String::new();
    output(&mut search).read_to_string(&mut all).expect("text");
    expected.push_str("<stdin>:1:needle\nz.txt:1:needle\nsrc/001.txt:1:a needle\n");
    assert!(all == expected, "{} bytes for {}", all.len(), expected.len());
    assert_eq!(end(search), (Some(0), String::new()));
}

#[test]
fn output_in_parts_is_that_of_one_file() {
    let sandbox = Sandbox::new();
    let lines = 5_000;
    sandbox.write("a.txt", &"a needle\nand hay\nand straw\nand grass\n".repeat(lines));
    sandbox.write("b.txt", "needle\n");
    let rows = |from: usize, text: &str| {
        let all = (0..lines).map(|i| format!("{}:{text}\n", 4 * i + from));
        all.collect::<Vec<_>>()
    };
    // The first file alone, though its output comes in parts.
    let ran = sandbox.run(&["-e", "needle", "-k", "1"]);
    assert!(ran.out == rows(1, "a needle").iter().map(|row| format!("a.txt:{row}")).collect::<String>());
    // One heading for each file, and an empty line between them.
    let ran = sandbox.run(&["-e", "needle", "--heading"]);
    assert!(ran.out == format!("a.txt\n{}\nb.txt\n1:needle\n", rows(1, "a needle").concat()));
    // Marks between groups of lines, and none where a part begins.
    let ran = sandbox.run(&["-e", "needle", "-I", "-A", "1"]);
    let groups: Vec<String> = (0..lines).map(|i| format!("{}:a needle\n{}-and hay\n", 4 * i + 1, 4 * i + 2)).collect();
    assert!(ran.out == format!("{}--\n1:needle\n", groups.join("--\n")));
    let ran = sandbox.run(&["-e", "needle", "--json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.out).expect("an array");
    assert_eq!(rows.len(), lines + 1);
    let ran = sandbox.run(&["-e", "needle", "--count"]);
    assert_eq!(ran.out, format!("a.txt:{lines}\nb.txt:1\n"));
    let ran = sandbox.run(&["-e", "needle", "-L"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""));
}

#[test]
fn a_reader_that_goes_ends_every_command_quietly() {
    let sandbox = Sandbox::new();
    for i in 0..200 {
        let units: String = (0..200).map(|j| format!("fn needle_{i}_{j}() {{}}\n")).collect();
        sandbox.write(&format!("some/rather/long/folder/{i}.rs"), &units);
    }
    assert_eq!(sandbox.run(&["init"]).status, 0);
    for args in [
        &["-e", "needle"][..],
        &["-e", "needle", "--json"],
        &["-e", "needle", "-l"],
        &["-e", "nothing", "-L"],
        &["--files"],
        &["--kind", "function"],
        &["--kind", "function", "--json"],
        &["needle", "-k", "500", "--per-file", "50"],
        &["outline", "some/rather/long/folder/1.rs"],
        &["--help"],
        &["man"],
        &["completions", "bash"],
        &["knobs"],
    ] {
        let mut search = start(&sandbox, args);
        drop(search.0.stdout.take());
        let (status, said) = end(search);
        assert_eq!(status, Some(0), "{args:?}: {said}");
        assert!(!said.contains("pipe") && !said.contains("panic"), "{args:?}: {said}");
    }
}

#[test]
fn closed_output_is_an_error_for_what_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn needle() {}\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    for (args, status) in [
        (&["-e", "needle"][..], 2),
        (&["-e", "needle", "-l"], 2),
        (&["needle"], 2),
        (&["needle", "--json"], 2),
        (&["--kind", "function"], 2),
        (&["--files"], 2),
        (&["outline", "a.rs"], 2),
        (&["--help"], 2),
        (&["status"], 2),
        // Nothing is printed.
        (&["-e", "needle", "-q"], 0),
        (&["-e", "nothing"], 1),
    ] {
        let ran = limited(&sandbox, "exec >&-", args);
        assert_eq!(ran.status, status, "{args:?}: {ran:?}");
        assert_eq!(ran.err.contains("standard output is closed"), status == 2, "{args:?}: {ran:?}");
    }
}
