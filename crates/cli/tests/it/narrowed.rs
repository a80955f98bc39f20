//! `-e` with the index of a large tree prints the same as a search without an index.

use std::fs::File;
use std::time::Duration;

use crate::common::Sandbox;

/// Longer than a tick of the kernel's clock.
const TICK: Duration = Duration::from_millis(80);

/// A tree that is large enough for signatures, made so by empty files.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("large/.keep", "");
    for i in 0..64 {
        let file = File::create(sandbox.root().join(format!("large/{i}.bin"))).expect("a file");
        file.set_len(1 << 20).expect("a length");
    }
    for i in 0..60 {
        let call = if i % 7 == 0 { "open_Connection(1)" } else { "close()" };
        sandbox.write(
            &format!("src/{}/{i}.rs", i % 6),
            &format!("fn name_{i}() {{\n    {call};\n}}\n// straße {i}\r\n// Kelvin K{i}\n"),
        );
    }
    sandbox.write("notes.txt", "open_connection\nOPEN_CONNECTION\n");
    sandbox.write(".hidden/open_connection.rs", "open_connection\n");
    sandbox.write("ignored.log", "open_connection\n");
    sandbox.write(".gitignore", "*.log\n");
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("open_connection\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    std::fs::write(sandbox.root().join("wide.txt"), wide).expect("a file");
    std::fs::write(sandbox.root().join("binary.dat"), b"abc\0open_connection\n").expect("a file");
    // What is not indexed is searched all the same: too large, of a package manager, a secret, lines that NUL bytes end.
    sandbox
        .write("long.txt", &format!("{}open_connection\n{}", "words of a line\n".repeat(90_000), "more\n".repeat(9)));
    sandbox.write("other/long.txt", &"words of a line\n".repeat(90_000));
    sandbox.write("package-lock.json", "{\"open_connection\": 1}\n");
    sandbox.write("other/yarn.lock", "nothing\n");
    sandbox.write("deploy.pem", "open_connection\n");
    std::fs::write(sandbox.root().join("ends.dat"), b"one_line\0other_line\0\n").expect("a file");
    crate::common::git(&sandbox, &["init", "-q"]);
    std::thread::sleep(TICK);
    sandbox
}

const ASKED: [&str; 28] = [
    "-e open_connection",
    "-e open_Connection -n",
    "-i -e open_connection",
    "-S -e open_connection -c",
    "-e open_connection -v -c",
    "-e open_connection -L",
    "-e open_connection -l --hidden",
    "-e open_connection -l --no-ignore",
    "-e open_connection -l -uu",
    "-w -e open_connection",
    "-x -e open_connection",
    "-F -e open_Connection(1",
    "-e open_(conn|Conn)ection",
    "-e name_1[0-9] -o",
    "-e close\\(\\);$ -l",
    "-i -e STRASSE",
    "-i -e STRAẞE -c",
    "-i -e kelvin -c",
    "-U -e name_7\\(\\).\\n.*open -c",
    "-e nothing_of_this_kind",
    "-c -e open_connection",
    "-U -e one_line.other_line",
    "-U -e one_line\\nother_line",
    "-U -e one_line\\x00other_line",
    "-e open_connection src",
    "-e open_Connection src/0 notes.txt",
    "-e open_Connection -t rust --sort modified",
    "-e open_Connection -g *.txt --json",
];

/// Compares all answers with those of a search that knows no index.
fn compare(sandbox: &Sandbox, when: &str) {
    for words in ASKED {
        let words: Vec<&str> = words.split(' ').collect();
        let with = sandbox.run(&words);
        let nowhere = sandbox.root().join("../nowhere").display().to_string();
        let without = sandbox.run_with(&[("COLGREP_DATA_DIR", &nowhere)], &words);
        assert_eq!(
            (with.status, &with.out, &with.err),
            (without.status, &without.out, &without.err),
            "{when}: {words:?}"
        );
    }
    let files = sandbox.run(&["--files"]);
    assert!(files.out.lines().any(|line| line == "notes.txt") && files.status == 0, "{when}: {files:?}");
}

#[test]
fn matches_are_those_of_a_walk() {
    let sandbox = project();
    assert_eq!(sandbox.run(&["init"]).status, 0);
    compare(&sandbox, "as it was");
    sandbox.write("src/3/3.rs", "// open_connection now\n");
    sandbox.write("src/9/new.rs", "open_connection\n");
    sandbox.write("other/yarn.lock", "open_connection\n");
    sandbox.write("package-lock.json", "{}\n");
    std::fs::remove_file(sandbox.root().join("src/0/0.rs")).expect("removed");
    std::fs::rename(sandbox.root().join("src/1"), sandbox.root().join("src/one")).expect("renamed");
    compare(&sandbox, "changed");
    sandbox.write(".gitignore", "src/2/\n");
    compare(&sandbox, "other rules");
    std::thread::sleep(TICK);
    compare(&sandbox, "settled");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    compare(&sandbox, "known again");
}

#[test]
fn a_query_that_no_match_answers_is_told_from_a_pattern_without_a_match() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run(&["-e", "RingBuffer", "nopeword zqxjk"]);
    let lists = "without the query, -e lists the matches";
    assert!(ran.status == 1 && ran.err.contains("nothing here holds") && ran.err.contains(lists), "{ran:?}");
    assert!(ran.err.contains("zqxjk"), "{ran:?}");
    for args in
        [&["-e", "RingBuffer", "ring"][..], &["-e", "no such thing", "ring"], &["-q", "-e", "RingBuffer", "zqxjk"]]
    {
        assert!(!sandbox.run(args).err.contains(lists), "{args:?}");
    }
}
