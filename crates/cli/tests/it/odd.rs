//! Odd corners: bytes that are no text, other encodings, terminals, and searches while another process builds.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::common::{Ran, Sandbox, on_terminal};

fn write(sandbox: &Sandbox, path: &str, bytes: &[u8]) {
    fs::write(sandbox.root().join(path), bytes).expect("a file");
}

/// Whether the system keeps files from this user (it keeps nothing from root).
#[cfg(unix)]
fn can_be_locked_out(sandbox: &Sandbox) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.root().join("locked.txt");
    fs::write(&path, "zebra\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permissions");
    fs::read(&path).is_err()
}

#[test]
fn utf_16_without_a_mark_is_searched_like_any_text() {
    let sandbox = Sandbox::new();
    let text = "def zebra():\n    return 'größe'\n";
    let utf16 = |to_bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>();
    write(&sandbox, "little.py", &utf16(u16::to_le_bytes));
    write(&sandbox, "big.py", &utf16(u16::to_be_bytes));
    // A zero byte alone does not make it UTF-16.
    write(&sandbox, "other.py", b"def zebra():\n\0");
    for args in [&["zebra"][..], &["-e", "^def zebra"]] {
        let mut lines: Vec<String> = sandbox.run(args).out.lines().map(String::from).collect();
        lines.retain(|line| !line.starts_with("other.py"));
        lines.sort_unstable();
        assert_eq!(lines, ["big.py:1:def zebra():", "little.py:1:def zebra():"], "{args:?}");
    }
    assert_eq!(sandbox.run(&["-e", "größe", "zebra", "-l"]).out.lines().count(), 2);
    let status = sandbox.run(&["status"]);
    assert!(status.out.contains("skipped   1 (binary): other.py"), "{status:?}");
    // From stdin too.
    let mut command = sandbox.command(&["-e", "größe", "-"]);
    let file = std::fs::File::open(sandbox.root().join("little.py")).expect("a file");
    let ran = Ran::of(command.stdin(file).output().expect("a search"), &sandbox.root());
    assert_eq!(ran.out, "<stdin>:2:    return 'größe'\n");
}

#[test]
fn bytes_that_are_no_text_are_unchanged_in_a_pipe() {
    let sandbox = Sandbox::new();
    write(&sandbox, "latin.py", b"def zebra():  # caf\xE9\r\n    return '\xFC'\n");
    let bytes = |args: &[&str]| sandbox.command(args).output().expect("a search").stdout;
    let line = b"latin.py:1:def zebra():  # caf\xE9\n";
    assert_eq!(bytes(&["zebra"]), line);
    assert_eq!(bytes(&["zebra", "-c"]), [&line[..], b"latin.py-2-    return '\xFC'\n"].concat());
    assert_eq!(bytes(&["zebra", "-n", "2"]), [&line[..], b"latin.py-2-    return '\xFC'\n"].concat());
    assert_eq!(bytes(&["zebra", "--vimgrep"]), b"latin.py:1:5:def zebra():  # caf\xE9\n");
    assert_eq!(bytes(&["-e", "zebra"]), b"latin.py:1:def zebra():  # caf\xE9\r\n");
    // JSON holds text alone.
    let rows: serde_json::Value = serde_json::from_slice(&bytes(&["zebra", "--json"])).expect("JSON");
    assert!(rows[0]["unit"]["code"].as_str().is_some_and(|code| code.contains("caf\u{fffd}")), "{rows}");
}

#[test]
fn other_encodings_are_read_as_text() {
    let sandbox = Sandbox::new();
    let utf16 = |swap: bool| -> Vec<u8> {
        let text = "\u{feff}def zebra():\n    return 1\n".encode_utf16();
        text.flat_map(|u| if swap { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    write(&sandbox, "little.py", &utf16(false));
    write(&sandbox, "big.py", &utf16(true));
    write(&sandbox, "bom.py", b"\xEF\xBB\xBFdef zebra():\n    return 1\n");
    write(&sandbox, "crlf.py", b"def zebra():\r\n    return 1\r\n");
    write(&sandbox, "latin.py", b"# caf\xE9\ndef zebra():\n    return 1\n");
    let ran = sandbox.run(&["zebra"]);
    let mut lines: Vec<&str> = ran.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "big.py:1:def zebra():",
            "bom.py:1:def zebra():",
            "crlf.py:1:def zebra():",
            "latin.py:2:def zebra():",
            "little.py:1:def zebra():"
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["zebra", "--json"]).out).expect("JSON");
    for hit in json.as_array().expect("hits") {
        assert_eq!(hit["unit"]["code"], "def zebra():\n    return 1", "{}", hit["unit"]["file"]);
    }
    // `$` matches before the whole line end; a byte order mark is not part of the first line.
    let ran = sandbox.run(&["-e", r"^def zebra\(\):$"]);
    assert_eq!((ran.status, ran.out.lines().count()), (0, 5), "{ran:?}");
    // Lines are printed verbatim, in JSON without their ends.
    assert_eq!(ran.out.matches('\r').count(), 1, "{ran:?}");
    assert!(ran.out.contains("crlf.py:1:def zebra():\r\n"), "{ran:?}");
    let json = sandbox.run(&["-e", r"^def zebra\(\):$", "--json"]).out;
    assert_eq!((json.matches(r#""def zebra():""#).count(), json.contains("\\r")), (5, false), "{json}");
}

#[test]
fn what_stands_before_a_nul_byte_is_text() {
    let sandbox = Sandbox::new();
    write(&sandbox, "early.bin", b"a\0b zebra\n");
    let mut late = "zebra line of text\n".repeat(1_000).into_bytes();
    late.extend(b"\0 zebra behind it\nzebra last\n");
    write(&sandbox, "late.txt", &late);
    let ran = sandbox.run(&["-e", "zebra", "early.bin"]);
    let told = "early.bin: binary file matches (found \"\\0\" byte around offset 1)\n";
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, told, ""), "in ripgrep's words");
    let ran = sandbox.run(&["-e", "zebra", "late.txt"]);
    assert_eq!((ran.status, ran.out.lines().count()), (0, 1_001), "{}", ran.err);
    assert!(ran.out.ends_with("late.txt: binary file matches (found \"\\0\" byte around offset 19000)\n"), "{ran:?}");
    let ran = sandbox.run(&["-e", "zebra", "early.bin", "--json"]);
    assert_eq!((ran.out.trim_end(), ran.err.trim_end()), ("[]", "colgrep: early.bin: binary file matches"));
    assert_eq!(sandbox.run(&["-e", "zebra", "-l", "early.bin", "late.txt"]).out, "early.bin\nlate.txt\n");
    assert_eq!(sandbox.run(&["-e", "zebra", "-s", "early.bin"]).err, "");
    // As grep -c counts (and rg where it does not map the file): a NUL byte ends a line.
    write(&sandbox, "lines.bin", b"zebra\0zebra\nzebra\n");
    assert_eq!(sandbox.run(&["-e", "zebra", "--count", "lines.bin"]).out, "lines.bin:3\n");
}

#[test]
fn carriage_returns_are_text_where_the_pattern_asks_for_them() {
    let sandbox = Sandbox::new();
    write(&sandbox, "c.txt", b"ab\r\ncb\nb\r\n");
    let both = "c.txt:1:ab\r\nc.txt:3:b\r\n";
    for (args, expected) in [
        (&["-e", r"\r"][..], both),
        (&["-F", "-e", "b\r"], both),
        (&["-e", r"b[\r]$"], both),
        (&["-e", r"b\r", "-x"], "c.txt:3:b\r\n"),
        (&["-e", r"b\r", "-o"], "c.txt:1:b\r\nc.txt:3:b\r\n"),
        (&["-e", r"\r", "-v"], "c.txt:2:cb\n"),
        (&["-e", r"b\z"], "c.txt:2:cb\n"),
        (&["-e", "b$"], "c.txt:1:ab\r\nc.txt:2:cb\nc.txt:3:b\r\n"),
        (&["-e", "b$", "-o"], "c.txt:1:b\nc.txt:2:b\nc.txt:3:b\n"),
        (&["-e", "b$", "--column", "-C", "1"], "c.txt:1:2:ab\r\nc.txt:2:2:cb\nc.txt:3:1:b\r\n"),
        (&["-e", "c", "-C", "1"], "c.txt-1-ab\r\nc.txt:2:cb\nc.txt-3-b\r\n"),
        (&["-U", "-e", r"ab\r\ncb"], "c.txt:1:ab\r\nc.txt:2:cb\n"),
        (&["ab", "-e", r"\r", "-l"], "c.txt\n"),
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.status, ran.out.as_str()), (0, expected), "{args:?}: {}", ran.err);
    }
    for args in [&["-e", r"b\n"][..], &["-F", "-e", "b\n"], &["-e", r"\r\n"]] {
        let ran = sandbox.run(args);
        assert!(ran.status == 2 && ran.err.contains("asks for the end of a line"), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("use -F"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn matches_of_nothing_are_not_painted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "axxb\nplain\n");
    let ran = sandbox.run(&["-e", "x*", "--color", "always"]);
    let text: Vec<String> = ran.out.lines().map(|l| l.rsplit(':').next().unwrap_or_default().to_string()).collect();
    assert_eq!(text, ["a\u{1b}[1m\u{1b}[31mxx\u{1b}[0mb", "plain"]);
}

#[test]
fn standard_input_is_a_place_for_patterns() {
    let sandbox = Sandbox::of("relay");
    let piped = |args: &[&str], bytes: &[u8]| {
        let mut running =
            sandbox.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        running.stdin.take().unwrap().write_all(bytes).unwrap();
        Ran::of(running.wait_with_output().unwrap(), &sandbox.root())
    };
    let text = b"+fn zebra() {\r\n \xff\n-fn zebra_old() {";
    assert_eq!(piped(&["-e", "zebra", "-"], text).out, "<stdin>:1:+fn zebra() {\r\n<stdin>:3:-fn zebra_old() {\n");
    assert_eq!(piped(&["-e", "zebra", "--count", "-"], text).out, "<stdin>:2\n");
    assert_eq!(piped(&["-e", "nosuch", "-"], text).status, 1);
    let json = piped(&["-e", "old", "--jsonl", "-"], text).out;
    assert_eq!(json, "{\"file\":\"<stdin>\",\"line\":3,\"text\":\"-fn zebra_old() {\"}\n");
    // Among other places, and a file of that name.
    sandbox.write("-", "zebra in a file\n");
    let ran = piped(&["-e", "zebra", "-", "./-"], b"zebra\n");
    assert_eq!(ran.out, "<stdin>:1:zebra\n./-:1:zebra in a file\n");
    // A ranking is of units, which a stream has none of.
    let ran = piped(&["zebra", "-"], b"zebra\n");
    assert!(ran.status == 2 && ran.err.contains("searched by -e alone"), "{ran:?}");
}

#[test]
fn very_long_lines_are_cut_for_people_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("long.py", &format!("def zebra(): return '{}'\n", "x".repeat(20_000)));
    let ran = sandbox.run(&["zebra"]);
    assert!(ran.out.len() > 20_000, "no terminal: {} characters", ran.out.len());
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["zebra", "--json"]).out).expect("JSON");
    assert!(json[0]["unit"]["code"].as_str().is_some_and(|c| c.len() > 20_000), "programs get it whole");
    assert!(sandbox.run(&["-e", "zebra"]).out.len() > 20_000, "and so does grep");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_is_told_and_is_status_2() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "zebra\n");
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.txt");
    fs::write(sandbox.root().join(name), "zebra\n").expect("a file");
    let bytes = |args: &[&str]| sandbox.command(args).output().expect("a run");
    let ran = bytes(&["-e", "zebra"]);
    assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]), "grep knows no bad names");
    assert_eq!(ran.stdout, b"a.txt:1:zebra\nbad\xff.txt:1:zebra\n");
    assert_eq!(bytes(&["-e", "zebra", "-l", "-0", "--include", "bad*"]).stdout, b"bad\xff.txt\0");
    let row: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["-e", "zebra", "--jsonl", "--include", "bad*"]).out).expect("JSON");
    assert_eq!(row["file"], "ROOT/bad\u{fffd}.txt", "JSON holds text alone");
    let by_name = sandbox.command(&["-e", "zebra"]).arg(name).output().expect("a run");
    assert_eq!(by_name.stdout, b"bad\xff.txt:1:zebra\n");
    let ranked = sandbox.run(&["zebra", "-l"]);
    assert_eq!((ranked.status, ranked.out.as_str()), (0, "a.txt\n"));
    assert!(sandbox.run(&["status"]).out.contains("its name is not UTF-8"), "status counts it");
    fs::remove_file(sandbox.root().join(name)).expect("a removal");
    if can_be_locked_out(&sandbox) {
        let ran = sandbox.run(&["-e", "zebra"]);
        assert!(ran.status == 2 && ran.err.contains("locked.txt"), "{ran:?}");
        assert_eq!(ran.out, "a.txt:1:zebra\n", "what matched is printed all the same");
        assert_eq!(sandbox.run(&["-e", "zebra", "-q"]).status, 0, "-q is content with a match, as grep's");
    }
}

#[test]
fn a_place_that_can_not_be_written_is_told() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("taken", "a file");
    let taken = sandbox.root().join("taken").display().to_string();
    let ran = sandbox.run_with(&[("COLGREP_DATA_DIR", &taken)], &["ring buffer"]);
    assert!(ran.status == 2 && ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.contains("has no place; COLGREP_DATA_DIR=FOLDER names another one: could not create"), "{ran:?}");
}

#[test]
fn lines_are_printed_to_a_pipe_unchanged() {
    let sandbox = Sandbox::new();
    let line = "def zebra(): \tpass # \u{1b}[31mred  ";
    sandbox.write("a.py", &format!("class Stripes:\n\t{line}\n"));
    for args in [&["zebra"][..], &["zebra", "-c"], &["-e", "zebra"]] {
        assert!(sandbox.run(args).out.ends_with(&format!("a.py:2:\t{line}\n")), "{args:?}");
    }
    for args in [&["zebra", "--vimgrep"][..], &["-e", "zebra", "--vimgrep"]] {
        assert_eq!(sandbox.run(args).out, format!("a.py:2:6:\t{line}\n"), "{args:?}");
    }
    sandbox.write("evil\u{1b}[31m.py", "def zebra(): pass\n");
    for args in [&["zebra", "-l"][..], &["-e", "zebra", "-l"]] {
        assert!(!sandbox.run(args).out.contains('\u{1b}'), "a name could forge a line: {args:?}");
        let ended = [args, &["-0"]].concat();
        assert!(sandbox.run(&ended).out.contains("evil\u{1b}[31m.py\0"), "names that end in NUL: {ended:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_drives_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("evil\u{1b}[31m.py", &format!("zebra = '\u{1b}[31m\u{9b}1m'\t# {}\n", "stripe ".repeat(20)));
    sandbox.write("a_turned.py", "def zebra_turned():\n    pass  # zebra \u{202e}\n");
    sandbox.run(&["init"]);
    let ranked = ["zebra", "zebra -l", "zebra -L nothing", "zebra --vimgrep", "zebra --pack 300", "zebra --json"];
    for command in ranked.into_iter().chain(["-e zebra", "-e zebra -l", "-e zebra --jsonl", "outline e*"]) {
        let command =
            format!("colgrep {command}{}", if command.starts_with("outline") { "" } else { " --color never" });
        let Some(text) = on_terminal(&sandbox, "xterm", &command) else { return };
        assert!(!text.replace('\n', "").contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{command}: {text:?}");
        assert!(["\\u{1b}", "\\u001b", "nothing"].iter().any(|s| text.contains(s)), "{command}: {text:?}");
    }
    let whole = on_terminal(&sandbox, "xterm", "colgrep -e zebra").expect("a terminal");
    assert!(whole.contains("\u{1b}[1m\u{1b}[31mzebra\u{1b}[0m = '\\u{1b}[31m\\u{9b}1m'\t# stripe"), "{whole:?}");
    assert!(whole.trim_end().ends_with("stripe stripe"), "-e shows every line whole: {whole:?}");
    for args in
        [&["zebra", "no/\u{1b}[31m"][..], &["-e", "(\u{1b}[31m"], &["--no\u{1b}[31m"], &["x", "-t", "\u{1b}[31m"]]
    {
        let ran = sandbox.run(args);
        assert!(ran.status == 2 && !ran.err.contains('\u{1b}'), "{args:?}: {ran:?}");
    }
}

#[test]
fn colour_follows_the_environment() {
    let sandbox = Sandbox::of("relay");
    for (vars, flags, coloured) in [
        (&[][..], &[][..], false),
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[], false),
        (&[("CLICOLOR_FORCE", "1")], &["--color", "never"], false),
        (&[("NO_COLOR", "1")], &["--color", "always"], true),
        (&[("CLICOLOR_FORCE", "1")], &["--json"], false),
        (&[("CLICOLOR_FORCE", "1")], &["--vimgrep"], false),
    ] {
        let out = sandbox.run_with(vars, &[&["RingBuffer"], flags].concat()).out;
        assert_eq!(out.contains('\u{1b}'), coloured, "{vars:?} {flags:?}: {out}");
    }
}

#[test]
fn a_search_beside_a_writer_says_what_it_knows() {
    let sandbox = Sandbox::of("relay");
    // A file that the index skips has been read too: the sum is the same before and after.
    sandbox.write("package-lock.json", "{}\n");
    sandbox.run(&["init"]);
    let index = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    sandbox.write("src/new.rs", "fn brand_new_gadget() {}\n");
    let lock = fs::File::open(index.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let hurried = &[("COLGREP_WAIT", "0")];
    let ran = sandbox.run_with(hurried, &["ring buffer", "-l", "-k", "1"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "src/queue/ring.rs\n"));
    assert_eq!(
        ran.err.trim_end(),
        "colgrep: another colgrep is indexing; this answer may lack the latest changes (14 of 15 files read)"
    );
    assert_eq!(sandbox.run_with(hurried, &["ring buffer", "--quiet"]).err, "");
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(json["building"], "14 of 15 files read");
    assert!(sandbox.run(&["doctor"]).out.contains("a build is under way: 14 of 15 files read"));
    drop(lock);
    assert_eq!(sandbox.run(&["gadget", "-l"]).out, "src/new.rs\n");
}

#[test]
fn a_search_during_the_first_build_answers_from_its_first_part() {
    let sandbox = Sandbox::of("relay");
    for folder in ["web", "docs", "tests", "vendor"] {
        fs::rename(sandbox.root().join(folder), sandbox.data().with_file_name(folder)).expect("a folder moved away");
    }
    sandbox.run(&["init"]);
    for folder in ["web", "docs", "tests", "vendor"] {
        fs::rename(sandbox.data().with_file_name(folder), sandbox.root().join(folder)).expect("a folder moved back");
    }
    let index = fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    // Another process has locked the index and committed nothing yet.
    let aside = sandbox.data().with_file_name("aside");
    fs::create_dir(&aside).expect("a folder");
    let lock = fs::File::open(index.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let parts: Vec<_> = fs::read_dir(&index).expect("an index").flatten().filter(|e| e.file_name() != "lock").collect();
    for part in &parts {
        fs::rename(part.path(), aside.join(part.file_name())).expect("a part moved away");
    }
    let search = || {
        let mut command = sandbox.command(&["ring buffer", "-l", "-k", "1"]);
        command.env_remove("COLGREP_WAIT").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a search")
    };
    let mut waiting = search();
    // What it says before it waits.
    let mut lines = BufReader::new(waiting.stderr.take().expect("a pipe")).lines();
    let said = lines.next().expect("a line").expect("a text");
    assert!(said.contains("waiting for another colgrep that is building this index"), "{said}");
    for command in ["status", "doctor"] {
        let out = sandbox.run(&[command]).out;
        assert!(out.contains("a build is under way: nothing of it can be searched yet"), "{command}: {out}");
    }
    // Its first commit.
    for part in &parts {
        if part.file_name() != "lexical" {
            fs::rename(aside.join(part.file_name()), part.path()).expect("a part moved back");
        }
    }
    fs::rename(aside.join("lexical"), index.join("lexical")).expect("the commit");
    let ran = Ran::of(waiting.wait_with_output().expect("an end"), &sandbox.root());
    assert_eq!((ran.status, ran.out.as_str()), (0, "src/queue/ring.rs\n"), "{ran:?}");
    let said = lines.collect::<Result<Vec<_>, _>>().expect("texts").join("\n");
    assert!(said.contains("this answer covers a part (8 of 13 files read)"), "{said}");
    // It ends without a commit: the one who waits builds.
    for part in fs::read_dir(&index).expect("an index").flatten().filter(|e| e.file_name() != "lock") {
        let _ = fs::remove_file(part.path());
        let _ = fs::remove_dir_all(part.path());
    }
    let mut waiting = search();
    let mut lines = BufReader::new(waiting.stderr.take().expect("a pipe")).lines();
    let said = lines.next().expect("a line").expect("a text");
    assert!(said.contains("waiting for another colgrep that is building this index"), "{said}");
    for command in ["status", "doctor"] {
        let out = sandbox.run(&[command]).out;
        assert!(out.contains("a build is under way: nothing of it can be searched yet"), "{command}: {out}");
    }
    drop(lock);
    let ran = Ran::of(waiting.wait_with_output().expect("an end"), &sandbox.root());
    assert_eq!((ran.status, ran.out.as_str()), (0, "src/queue/ring.rs\n"), "{ran:?}");
}

#[test]
fn extensions_and_first_lines_tell_the_language() {
    let sandbox = Sandbox::new();
    sandbox.write("a.C", "class Zebra {\n  void run();\n};\n");
    sandbox.write("tool", "\u{feff}#!/usr/bin/env python3\ndef zebra_tool():\n    pass\n");
    sandbox.write("facts.pl", "zebra(tom).\nzebra(ann).\n");
    let languages: serde_json::Value = serde_json::from_str(&sandbox.run(&["zebra", "--json"]).out).expect("JSON");
    let mut told: Vec<String> = languages
        .as_array()
        .expect("hits")
        .iter()
        .map(|h| {
            let file = h["unit"]["file"].as_str().unwrap_or_default();
            format!("{} {}", file.rsplit('/').next().unwrap_or_default(), h["unit"]["language"].as_str().unwrap_or("?"))
        })
        .collect();
    told.sort();
    assert_eq!(told, ["a.C cpp", "facts.pl prolog", "tool python"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_headings_and_lines_that_fit() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("wide.py", &format!("def zebra(): return '{}'\n", "x".repeat(500)));
    sandbox.run(&["init"]);
    let Some(text) = on_terminal(&sandbox, "xterm", "colgrep zebra; colgrep -e zebra") else { return };
    let lines: Vec<&str> = text.lines().collect();
    let start = "\u{1b}[35mwide.py\u{1b}[0m:\u{1b}[32m1\u{1b}[0m:\u{1b}[";
    assert!(lines[0].starts_with(start), "a line a result, its number and syntax: {text:?}");
    assert_eq!(lines[1], "\u{1b}[35mwide.py\u{1b}[0m", "a heading over the lines of a file: {text}");
    let mut bare = lines[0].to_string();
    while let Some(at) = bare.find('\u{1b}') {
        let end = at + bare[at..].find('m').expect("an end of the escape");
        bare.replace_range(at..=end, "");
    }
    assert!(bare.chars().count() <= 60 && bare.ends_with('…'), "{bare}");
    let dumb = on_terminal(&sandbox, "dumb", "colgrep zebra; colgrep -e zebra").expect("a terminal");
    assert!(dumb.starts_with("wide.py:1:def zebra()") && !dumb.contains('\u{1b}'), "{dumb:?}");
    let forced = on_terminal(&sandbox, "dumb", "colgrep zebra --color always").expect("a terminal");
    assert!(forced.contains("\u{1b}[35mwide.py"), "{forced:?}");
}

#[test]
fn an_empty_file_has_an_empty_outline() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.py", "");
    for (args, expected) in [(&["outline", "empty.py"][..], ""), (&["outline", "empty.py", "--json"], "[]\n")] {
        let ran = sandbox.run(args);
        assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (1, expected, ""), "{args:?}");
    }
}

#[test]
fn one_file_is_no_files() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def zebra():\n    pass\n");
    sandbox.write("empty.py", "");
    let init = sandbox.run(&["init"]);
    assert!(init.err.contains(": 1 file indexed (2 read, 0 removed, 1 unit, "), "{}", init.err);
    assert!(init.err.contains("1 file skipped;"), "{}", init.err);
    assert!(sandbox.run(&["--stats"]).out.contains("1 index in "), "{}", sandbox.run(&["--stats"]).out);
}

#[test]
fn thousands_of_different_words_are_searched_in_part() {
    let sandbox = Sandbox::of("relay");
    let query = |words: usize| (0..words).map(|n| format!("zq{n} ")).collect::<String>();
    let told = "only the first 1000 different words of the query are searched";
    for (query, is_cut) in [
        (format!("parse request {}", query(4_000)), true),
        (format!("parse request {}", query(100)), false),
        (format!("parse request {}", "word ".repeat(4_000)), false),
    ] {
        let ran = sandbox.run(&["--query", &query, "-k", "1"]);
        assert!(ran.status < 2, "{ran:?}");
        assert_eq!(ran.err.contains(told), is_cut, "{}", ran.err);
    }
}

#[test]
fn queries_have_a_length() {
    let sandbox = Sandbox::of("relay");
    let longest = "word ".repeat(13_000);
    sandbox.write("queries.txt", &format!("parse request\n{longest}\n{longest}{longest}\n"));
    let ran = sandbox.run(&["--queries-from", "queries.txt"]);
    assert!(ran.status == 2 && ran.out.lines().count() == 3, "{ran:?}");
    assert!(ran.err.contains("queries.txt, line 3: a query has at most 65536 bytes"), "{}", ran.err);
    let mut queries = b"zzzqqq\ncaf\xE9\n".to_vec();
    queries.extend("word ".repeat(40_000).as_bytes());
    queries.extend(b"\nRingBuffer\n");
    write(&sandbox, ".queries.txt", &queries);
    fs::remove_file(sandbox.root().join("queries.txt")).expect("a removal");
    let ran = sandbox.run(&["--queries-from", ".queries.txt", "-k", "1"]);
    let rows: Vec<serde_json::Value> = ran.out.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let told: Vec<String> = rows
        .iter()
        .map(|r| format!("{} {} {}", r["line"], r["error"], r["hits"].as_array().map_or(9, Vec::len)))
        .collect();
    let too_long = "\"a query has at most 65536 bytes; say in fewer words what to look for\"";
    assert_eq!(told, ["null null 0", "2 \"it is not UTF-8\" 0", &format!("3 {too_long} 0"), "null null 1"]);
    assert_eq!((ran.status, &rows[1]["query"]), (2, &"caf\u{fffd}".into()), "{ran:?}");
    assert!(ran.err.contains("queries.txt, line 2: it is not UTF-8\n"), "{}", ran.err);
    let ran = sandbox.run(&[&longest[..64_000], "-q"]);
    assert!(ran.status < 2, "{ran:?}");
    assert_eq!(sandbox.run(&[&"word ".repeat(20_000), "-q"]).status, 2);
}

#[test]
fn a_relative_home_holds_no_index() {
    let sandbox = Sandbox::of("relay");
    for command in [&["parse"][..], &["init"], &["status"]] {
        let mut command = sandbox.command(command);
        command.env_remove("COLGREP_DATA_DIR").env_remove("XDG_CONFIG_HOME").env("HOME", "home");
        let ran = Ran::of(command.output().expect("a run"), &sandbox.root());
        assert!(ran.status == 2 && ran.err.contains("HOME is not set to an absolute path"), "{ran:?}");
    }
    assert!(!sandbox.root().join("home").exists());
}

#[test]
fn what_looks_like_a_secret_is_not_ranked_and_is_found_by_its_lines() {
    let sandbox = Sandbox::new();
    for path in ["server.pem", ".env", ".env.example", "keys/id_rsa", "plain.rs"] {
        sandbox.write(path, "fn password_of_zebra() {}\n");
    }
    let ranked = |args: &[&str]| {
        let mut paths: Vec<_> = sandbox.run(args).out.lines().map(str::to_string).collect();
        paths.sort();
        paths.join(" ")
    };
    assert_eq!(ranked(&["zebra", "-l"]), "plain.rs");
    assert_eq!(ranked(&["init", "--hidden"]), "");
    assert_eq!(ranked(&["zebra", "-l"]), ".env.example plain.rs");
    assert!(sandbox.run(&["status"]).out.contains("3 (looks like a secret)"), "{}", sandbox.run(&["status"]).out);
    let named = sandbox.run(&["zebra", "-l", "server.pem"]);
    assert!(named.err.contains("server.pem is not indexed (looks like a secret)"), "{named:?}");
    assert_eq!(ranked(&["-e", "zebra", "-l"]), "keys/id_rsa plain.rs server.pem");
    assert_eq!(ranked(&["-e", "zebra", "-l", ".env"]), ".env");
}

#[cfg(unix)]
#[test]
fn a_file_swapped_for_a_link_is_not_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("a/zebra.rs", "fn zebra() {\n    // a zebra\n}\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let secret = sandbox.data().with_file_name("secret");
    fs::write(&secret, "fn zebra_secret() {\n    // zebra elsewhere\n}\n").expect("a file");
    fs::remove_file(sandbox.root().join("a/zebra.rs")).expect("a file");
    std::os::unix::fs::symlink(&secret, sandbox.root().join("a/zebra.rs")).expect("a link");
    for flags in [&["--no-update"][..], &["--no-update", "-c"], &["--no-update", "--json"], &["--no-update", "-n", "3"]]
    {
        let ran = sandbox.run(&[&["zebra"], flags].concat());
        assert!(!ran.out.contains("elsewhere") && !ran.out.contains("secret"), "{flags:?}: {ran:?}");
    }
}

#[test]
fn a_lock_that_is_a_folder_is_named() {
    let sandbox = Sandbox::of("relay");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let index = fs::read_dir(sandbox.data()).expect("a folder").flatten().next().expect("an index").path();
    fs::remove_file(index.join("lock")).expect("a file");
    fs::create_dir(index.join("lock")).expect("a folder");
    sandbox.write("src/new.rs", "fn zebra() {}\n");
    sandbox.refuses(&["init"], "lock: it is a folder; remove it");
}

#[cfg(unix)]
#[test]
fn a_name_with_a_line_end_forges_no_line() {
    let sandbox = Sandbox::new();
    let forged = "x.py\nsafe.py:1:def zebra(): trusted()\u{1b}[2J.py";
    sandbox.write(forged, "def zebra():\n    pass\n");
    let shown = "x.py\\nsafe.py:1:def zebra(): trusted()\\u{1b}[2J.py";
    for args in [
        &["zebra"][..],
        &["zebra", "-l"],
        &["zebra", "-c"],
        &["zebra", "--vimgrep"],
        &["zebra", "--heading", "-n", "2"],
        &["zebra", "--pack", "200"],
        &["-e", "zebra"],
        &["-e", "zebra", "-l"],
        &["-e", "zebra", "--count"],
        &["-e", "zebra", "--heading"],
        &["-e", "zebra", "--vimgrep"],
        &["-e", "nothing", "-L"],
        &["--files"],
    ] {
        let out = sandbox.run(args).out;
        assert!(out.starts_with(shown), "{args:?}: {out:?}");
        assert!(out.lines().all(|line| !line.starts_with("safe.py")) && !out.contains('\u{1b}'), "{args:?}: {out:?}");
    }
    for args in [&["zebra", "-l", "-0"][..], &["-e", "zebra", "-l", "-0"], &["-e", "zebra", "-0"]] {
        let out = sandbox.run(args).out;
        assert!(out.starts_with(&format!("{forged}\0")), "NUL ends a name as it is: {args:?}: {out:?}");
    }
}
