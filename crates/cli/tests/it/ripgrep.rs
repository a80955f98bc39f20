//! Flags of ripgrep: those that mean here what they mean there, and the sentence for each of the others.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::{Ran, Sandbox};

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn alpha() {\n    zebra(1); zebra(2)\n}\n");
    sandbox.write("deep/b.py", "def beta():\n    zebra\n");
    sandbox.write("deep/er/C.PY", "zebra = 3\n");
    sandbox.write("ignored.rs", "zebra\n");
    sandbox.write(".ignore", "ignored.rs\n");
    sandbox.write(".hidden.rs", "zebra\n");
    sandbox
}

/// Runs each row's words and compares what is printed, line by line.
fn check(sandbox: &Sandbox, rows: &[(&str, &str)]) {
    for (words, expected) in rows {
        let ran = sandbox.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.out.replace('\0', "0").trim_end().replace('\n', " | "), *expected, "{words}: {}", ran.err);
    }
}

#[test]
fn files_are_chosen_as_ripgrep_chooses_them() {
    check(
        &project(),
        &[
            ("-e zebra -l", "a.rs | deep/b.py | deep/er/C.PY"),
            ("-e zebra -l -T py", "a.rs"),
            ("zebra -l -k 9 -T py", "a.rs"),
            ("zebra -l -k 9 -T py -T rust", ""),
            ("-e zebra -l --iglob *.py", "deep/b.py | deep/er/C.PY"),
            ("-e zebra -l --iglob !*.py", "a.rs"),
            ("-e zebra -l -d 1", "a.rs"),
            ("-e zebra -l -d 2", "a.rs | deep/b.py"),
            ("-e zebra -l --max-depth 1 deep", "deep/b.py"),
            ("-e zebra -l -d 0 a.rs deep", "a.rs"),
            ("zebra -l -d 1", "a.rs"),
            ("zebra -l -d 1 deep", "deep/b.py"),
            ("-e zebra -l -u", "a.rs | deep/b.py | deep/er/C.PY | ignored.rs"),
            ("-e zebra -l -uu", ".hidden.rs | a.rs | deep/b.py | deep/er/C.PY | ignored.rs"),
            ("-e zebra -l -.", ".hidden.rs | a.rs | deep/b.py | deep/er/C.PY"),
            ("-e zebra -l -j 1", "a.rs | deep/b.py | deep/er/C.PY"),
        ],
    );
}

#[test]
fn files_are_listed_and_sorted() {
    let sandbox = project();
    for (path, days) in [("a.rs", 1), ("deep/b.py", 3), ("deep/er/C.PY", 2)] {
        let file = std::fs::File::options().append(true).open(sandbox.root().join(path)).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * days)).expect("a time");
    }
    check(
        &sandbox,
        &[
            ("--files", "a.rs | deep/b.py | deep/er/C.PY"),
            ("--files deep", "deep/b.py | deep/er/C.PY"),
            ("--files -0 -t rust", "a.rs0"),
            ("--files -g *.py", "deep/b.py"),
            ("--files --jsonl deep/er", "{\"file\":\"ROOT/deep/er/C.PY\"}"),
            ("--files --sort modified", "a.rs | deep/er/C.PY | deep/b.py"),
            ("--files --sortr modified", "deep/b.py | deep/er/C.PY | a.rs"),
            ("-e zebra -l --sort modified", "a.rs | deep/er/C.PY | deep/b.py"),
            ("-e zebra -l --sortr path", "deep/er/C.PY | deep/b.py | a.rs"),
            ("-e zebra -l --sort none", "a.rs | deep/b.py | deep/er/C.PY"),
        ],
    );
    // Sorted as paths, not as text: a folder before a file whose name begins with the folder's.
    sandbox.write("deep/er.c", "zebra\n");
    check(
        &sandbox,
        &[
            ("-e zebra -l --sort path deep", "deep/b.py | deep/er/C.PY | deep/er.c"),
            ("-e zebra -l --sort path deep a.rs", "deep/b.py | deep/er/C.PY | deep/er.c | a.rs"),
            ("-e zebra -l --sortr path deep a.rs", "deep/er.c | deep/er/C.PY | deep/b.py | a.rs"),
        ],
    );
    for (words, status) in [("--files -q", 0), ("--files -t zig", 1), ("--files nowhere", 2)] {
        assert_eq!(sandbox.run(&words.split(' ').collect::<Vec<_>>()).status, status, "{words}");
    }
    sandbox.refuses(&["zebra", "--sort", "path"], "whose results are ranked");
    sandbox.refuses(&["--calls", "zebra", "--sort", "path"], "whose lists are sorted by path");
}

#[test]
fn lines_are_printed_as_ripgrep_prints_them() {
    let sandbox = project();
    check(
        &sandbox,
        &[
            ("-e zebra -N a.rs", "a.rs:    zebra(1); zebra(2)"),
            ("-e zebra -I a.rs", "2:    zebra(1); zebra(2)"),
            ("-e zebra -IN a.rs", "    zebra(1); zebra(2)"),
            ("-e zebra -I --column a.rs", "2:5:    zebra(1); zebra(2)"),
            ("-e zebra -o --column a.rs", "a.rs:2:5:zebra | a.rs:2:15:zebra"),
            ("-e zebra --column -v deep/b.py", "deep/b.py:1:def beta():"),
            (
                "-e zebra --jsonl --column deep/b.py",
                "{\"file\":\"ROOT/deep/b.py\",\"line\":2,\"column\":5,\"text\":\"    zebra\"}",
            ),
            ("-e zebra -M 10 a.rs deep/b.py", "a.rs:2:[Omitted long matching line] | deep/b.py:2:    zebra"),
            (
                "-e zebra -M 8 -B1 deep/b.py",
                "deep/b.py-1-[Omitted long context line] | deep/b.py:2:[Omitted long matching line]",
            ),
            ("-e zebra -M 0 deep/b.py", "deep/b.py:2:    zebra"),
            ("alpha -N -k 1", "a.rs:fn alpha() {"),
            ("alpha -I -k 1", "1:fn alpha() {"),
            ("alpha --column -k 1", "a.rs:1:4:fn alpha() {"),
            ("alpha -IN -M 4 -k 1", "fn a…"),
            ("alpha -e zebra --column -k 1", "a.rs:2:5:    zebra(1); zebra(2)  [function alpha 1-3]"),
        ],
    );
    let pretty = sandbox.run(&["-e", "zebra", "-p", "a.rs"]).out;
    assert_eq!(pretty, sandbox.run(&["-e", "zebra", "--color=always", "--heading", "a.rs"]).out);
    assert!(pretty.contains('\u{1b}') && pretty.lines().count() == 2, "{pretty}");
}

#[test]
fn a_match_that_ends_in_a_line_end_is_printed_as_ripgrep_prints_it() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", "ab x = 1\nsecond\n");
    sandbox.write("w.txt", "ab x = 1\r\nsecond\r\n");
    sandbox.write("u.txt", "x needle needle\nneedle\n");
    let run = |args: &[&str]| sandbox.run(args).out.trim_end().replace('\n', " | ");
    for (args, expected) in [
        (&["-U", "-o", "-e", "x = 1\\n", "t.txt"][..], "t.txt:1:x = 1"),
        (&["-U", "-o", "-e", "1\\nsec", "t.txt"], "t.txt:1:1 | t.txt:2:sec"),
        (&["-U", "--column", "-e", "x = 1\\n", "t.txt"], "t.txt:1:4:ab x = 1"),
        (&["-U", "--vimgrep", "-e", "x = 1\\n", "t.txt"], "t.txt:1:4:ab x = 1"),
        (&["-U", "--column", "-e", "x = 1\\r\\n", "w.txt"], "w.txt:1:4:ab x = 1"),
        (&["-U", "--count", "-e", "x = 1\\n", "t.txt"], "t.txt:1"),
        (&["-U", "--count", "-e", "needle", "u.txt"], "u.txt:2"),
        (&["-U", "--count", "-e", "needle\\n", "u.txt"], "u.txt:2"),
        (&["-U", "--count", "-o", "-e", "needle", "u.txt"], "u.txt:3"),
        (&["--column", "-e", "$", "t.txt"], "t.txt:1:9:ab x = 1 | t.txt:2:7:second"),
        (&["--vimgrep", "-e", "$", "t.txt"], "t.txt:1:9:ab x = 1 | t.txt:2:7:second"),
    ] {
        assert_eq!(run(args), expected, "{args:?}");
    }
}

#[test]
fn where_no_line_is_printed_a_binary_file_that_nobody_named_is_left_out_as_ripgrep_does() {
    let sandbox = Sandbox::new();
    sandbox.write("a.bin", "PNG\0zebra\n");
    sandbox.write("b.txt", "zebra\n");
    check(
        &sandbox,
        &[
            ("-e zebra -l", "b.txt"),
            ("-e PNG -l", ""),
            ("-e zebra --count", "b.txt:1"),
            ("-e zebra -l --jsonl", "{\"file\":\"ROOT/b.txt\"}"),
            ("-e zebra -L", ""),
            ("-e nowhere -L", "b.txt"),
            ("-e zebra -l a.bin", "a.bin"),
            ("-e zebra --count a.bin b.txt", "a.bin:1 | b.txt:1"),
            ("-e nowhere -L a.bin", "a.bin"),
            ("-e PNG -U -l", ""),
        ],
    );
    for (words, status) in [("-e PNG -q", 1), ("-e PNG -q a.bin", 0), ("-e zebra -q", 0)] {
        assert_eq!(sandbox.run(&words.split(' ').collect::<Vec<_>>()).status, status, "{words}");
    }
}

#[cfg(unix)]
#[test]
fn what_never_ends_and_what_is_at_fault_is_told() {
    let sandbox = project();
    for (args, told) in [
        (&["-f", "/dev/zero"][..], "-f /dev/zero: more than 16 MiB of patterns"),
        (&["--queries-from", "/dev/zero"], "could not read /dev/zero: a line of more than 16 MiB"),
        (&["-e", "zebra", "-e", "1\\n", "-e", "x"], "\"1\\\\n\" asks for the end of a line"),
        (&["-e", "\\r", "-e", "(", "-e", "x"], "\"(\""),
    ] {
        sandbox.refuses(args, told);
    }
}

#[test]
fn patterns_cross_lines_and_come_from_files() {
    let sandbox = project();
    sandbox.write("patterns.txt", "alpha\nbeta\n");
    sandbox.write("empty.txt", "");
    check(
        &sandbox,
        &[
            ("-U -e alpha[^z]*zebra a.rs", "a.rs:1:fn alpha() { | a.rs:2:    zebra(1); zebra(2)"),
            ("-U -o -e alpha[^z]*zebra a.rs", "a.rs:1:alpha() { | a.rs:2:    zebra"),
            ("-U -e alpha[^z]*zebra --vimgrep a.rs", "a.rs:1:4:fn alpha() {"),
            ("-U -e alpha[^z]*zebra --column a.rs", "a.rs:1:4:fn alpha() { | a.rs:2:1:    zebra(1); zebra(2)"),
            ("-U -e alpha[^z]*zebra --count a.rs", "a.rs:1"),
            ("-U -e beta(?s:.)*zebra -l", "deep/b.py"),
            ("-U -e zebra. -o a.rs", "a.rs:2:zebra( | a.rs:2:zebra("),
            ("zebra -U -e alpha[^z]*zebra -l -k 9", "a.rs"),
            ("-f patterns.txt -l -t rust -t python", "a.rs | deep/b.py"),
            ("-f patterns.txt -e nothing -l -t rust", "a.rs"),
            ("zebra -f patterns.txt -l -k 9 -t python", "deep/b.py"),
        ],
    );
    sandbox.refuses(&["-e", "a\nb"], "; -U (--multiline) searches across lines");
    for (file, told) in [("empty.txt", "there is no pattern in it"), ("nowhere.txt", "-f nowhere.txt")] {
        sandbox.refuses(&["-f", file], told);
    }
    let mut child = sandbox
        .command(&["-f", "-", "-l", "deep"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a run");
    child.stdin.take().expect("a pipe").write_all(b"beta\n").expect("a listener");
    let ran = Ran::of(child.wait_with_output().expect("an end"), &sandbox.root());
    assert_eq!(ran.out, "deep/b.py\n");
}

#[test]
fn every_other_flag_has_a_sentence() {
    let sandbox = project();
    for (words, told) in [
        ("-e x --replace y", "--replace is not supported: nothing is replaced"),
        ("-e x --replace=y", "--replace is not supported: "),
        ("-e x -z", "-z is not supported: unpack it first"),
        ("-e x --passthru", "-C N prints"),
        ("-ie x --trim", "--trim is not supported"),
        ("--type-add web:*.html -e x", "colgrep settings types.web"),
        ("-e x --pre cat", "no program is run on files"),
        ("-e x --no-ignore-vcs", "--no-ignore disregards"),
        ("--pcre2 -e x", "-P is not supported"),
        ("-e x -c", "(--count counts)"),
    ] {
        let ran = sandbox.run(&words.split(' ').collect::<Vec<_>>());
        assert!(ran.status == 2 && ran.err.contains(told), "{words}: {ran:?}");
        assert!(!ran.err.contains("For more information"), "{words}: {ran:?}");
    }
}

/// Every flag of ripgrep 15's help (https://github.com/BurntSushi/ripgrep, `crates/core/flags/defs.rs`), negations
/// included, with a value where it takes one.
const FLAGS: &str = "\
    -e x|--regexp x|-f patterns.txt|--file patterns.txt|-A 1|--after-context 1|-B 1|--before-context 1|--binary|\
    --no-binary|--block-buffered|--no-block-buffered|-b|--byte-offset|--no-byte-offset|-s|--case-sensitive|\
    --color never|--colors path:fg:red|--column|--no-column|-C 1|--context 1|--context-separator --|\
    --no-context-separator|-c|--count|--count-matches|--crlf|--no-crlf|--debug|--dfa-size-limit 1M|-E utf-8|\
    --encoding utf-8|--no-encoding|--engine default|--field-context-separator -|--field-match-separator :|--files|-l|\
    --files-with-matches|--files-without-match|-F|--fixed-strings|--no-fixed-strings|-L|--follow|--no-follow|\
    --generate man|-g *.rs|--glob *.rs|--glob-case-insensitive|--no-glob-case-insensitive|--heading|--no-heading|-.|\
    --hidden|--no-hidden|--hostname-bin hostname|--hyperlink-format none|--iglob *.rs|-i|--ignore-case|\
    --ignore-file patterns.txt|--ignore-file-case-insensitive|--no-ignore-file-case-insensitive|--include-zero|\
    --no-include-zero|-v|--invert-match|--no-invert-match|--json|--no-json|--line-buffered|--no-line-buffered|-n|\
    --line-number|-N|--no-line-number|-x|--line-regexp|-M 99|--max-columns 99|--max-columns-preview|\
    --no-max-columns-preview|-m 1|--max-count 1|-d 1|--max-depth 1|--maxdepth 1|--max-filesize 1M|--mmap|--no-mmap|-U|\
    --multiline|--no-multiline|--multiline-dotall|--no-multiline-dotall|--no-config|--no-ignore|--ignore|\
    --no-ignore-dot|--ignore-dot|--no-ignore-exclude|--ignore-exclude|--no-ignore-files|--ignore-files|\
    --no-ignore-global|--ignore-global|--no-ignore-messages|--ignore-messages|--no-ignore-parent|--ignore-parent|\
    --no-ignore-vcs|--ignore-vcs|--no-messages|--messages|--no-require-git|--require-git|--no-unicode|--unicode|-0|\
    --null|--null-data|--one-file-system|--no-one-file-system|-o|--only-matching|--path-separator /|--passthru|\
    --passthrough|-P|--pcre2|--no-pcre2|--pcre2-version|--pcre2-unicode|--no-pcre2-unicode|--pre cat|--no-pre|\
    --pre-glob *.rs|-p|--pretty|-q|--quiet|--regex-size-limit 1M|--replace y|-z|--search-zip|--no-search-zip|-S|\
    --smart-case|--sort path|--sortr path|--sort-files|--no-sort-files|--stats|--no-stats|--stop-on-nonmatch|-a|--text|\
    --no-text|-j 2|--threads 2|--trace|--trim|--no-trim|-t rust|--type rust|-T rust|--type-not rust|\
    --type-add web:*.html|--type-clear rust|--type-list|-u|-uu|-uuu|--unrestricted|-V|--version|--vimgrep|-w|\
    --word-regexp|-H|--with-filename|-I|--no-filename|--auto-hybrid-regex|--no-auto-hybrid-regex|-h|--help";

#[test]
fn every_flag_of_ripgrep_works_or_says_what_to_do_instead() {
    let sandbox = project();
    sandbox.write("patterns.txt", "alpha\n");
    for flag in FLAGS.split('|') {
        let words: Vec<&str> = ["-e", "alpha"].into_iter().chain(flag.split(' ')).collect();
        let ran = sandbox.run(&words);
        let is_told = ran.status == 2 && ran.err.starts_with("colgrep: ") && ran.err.lines().count() <= 2;
        assert!(ran.status < 2 || is_told, "{flag}: {ran:?}");
        assert!(!ran.err.contains("Usage: ") && !ran.err.contains("unexpected"), "{flag}: {ran:?}");
    }
}

#[test]
fn what_json_leaves_out_is_said() {
    let sandbox = project();
    let ran = sandbox.run(&["zebra", "--json", "-C", "2", "-n", "3"]);
    assert!(ran.status == 0 && ran.err.contains("ignoring -n and -C: JSON rows have"), "{ran:?}");
    assert_eq!(sandbox.run(&["zebra", "--json", "-C", "2", "--quiet"]).err, "");
    for form in ["--json", "-l", "--count", "--vimgrep"] {
        let ran = sandbox.run(&["zebra", form, "--heading"]);
        assert!(ran.status == 0 && ran.err.contains("ignoring --heading: "), "{form}: {ran:?}");
        let ran = sandbox.run(&["zebra", form, "-p"]);
        assert!(ran.status == 0 && ran.err.contains("ignoring the heading of -p: "), "{form}: {ran:?}");
    }
    let ran = sandbox.run(&["--calls", "zebra", "--depth", "2", "--heading"]);
    assert!(ran.status != 2, "{ran:?}");
    sandbox.write("queries", "zebra\n");
    let ran = sandbox.run(&["--queries-from", "queries", "--heading"]);
    assert!(ran.status == 0 && ran.err.contains("ignoring --heading: --queries-from prints JSON"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_path_that_can_not_be_read() {
    let sandbox = project();
    std::os::unix::fs::symlink("nowhere", sandbox.root().join("link")).expect("a link");
    let ran = sandbox.run(&["-e", "zebra", "link"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("link: No such file"), "{ran:?}");
}
