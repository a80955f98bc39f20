//! A name as people type it: which line shows it, what denies it, and in what spelling it is found.

use crate::common::{Sandbox, git};

const RING: &str = "#ifndef ACME_NET_RING_H_\n#define ACME_NET_RING_H_\n\nnamespace acme {\nnamespace net {\n\
    class Ring {\n  void Push(int h);\n};\n}  // namespace net\n}  // namespace acme\n#endif  // ACME_NET_RING_H_\n";

#[test]
fn the_line_shown_holds_the_name_in_any_case() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.h", RING);
    sandbox
        .write("crc.c", "#if defined(ACME_TEST_MAIN)\nint main(int argc, char **argv) {\n  return argc;\n}\n#endif\n");
    sandbox.write(
        "doc.md",
        "# Moving on\n\n## What was renamed\n\nSome text here.\n\n* `animationObject` is now `anim`\n",
    );
    // Where the best block of a text has the words alone, another has the name.
    let near = "/* ACME QUEUE COUNT key specs: ACME QUEUE key specs */\n".repeat(60);
    sandbox.write("commands.txt", &format!("first\n{}ACME_QUEUE_COUNT_Specs\n{near}", "\n".repeat(48)));
    for (query, file) in [
        ("acme_net_ring_h_", "ring.h"),
        ("acme_test_main", "crc.c"),
        ("animationobject", "doc.md"),
        ("acme_queue_count_specs", "commands.txt"),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        let line = ran.out.lines().next().unwrap_or_default().to_lowercase();
        assert!(line.starts_with(file) && line.contains(query), "{query}: {ran:?}");
    }
}

#[test]
fn every_name_of_a_long_declaration_has_its_line() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..40).map(|n| format!("field{}{}_v = 0", n / 10, n % 10)).collect();
    sandbox.write("e.c", &format!("int {};\n", names.join(",\n    ")));
    for (query, line) in [("field03_v", 4), ("field39_v", 40), ("FIELD39_V", 40)] {
        let ran = sandbox.run(&[query]);
        assert!(ran.out.starts_with(&format!("e.c:{line}:")), "{query}: {ran:?}");
    }
}

#[test]
fn a_name_of_stop_words_alone_is_a_name() {
    let sandbox = Sandbox::new();
    sandbox.write("a.yml", "first: 1\nx: \"ToDo\"\ny: can_be\n");
    sandbox.write("b.py", "def other():\n    pass\n");
    for (query, line) in [("toDo", 2), ("to_do", 2), ("ToDo", 2), ("can-be", 3)] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.status == 0 && ran.out.starts_with(&format!("a.yml:{line}:")), "{query}: {ran:?}");
    }
}

#[test]
fn a_stop_word_alone_has_one_answer_in_every_form() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        let text =
            format!("using System;\nnamespace A{n} {{ public class C{n} {{ int G() {{ return this.x; }} }} }}\n");
        sandbox.write(&format!("C{n}.cs"), &text);
    }
    for query in ["using", "this"] {
        for flags in [&[][..], &["-l"], &["-q"], &["--count"], &["--json"]] {
            let ran = sandbox.run(&[&[query], flags].concat());
            assert_eq!(ran.status, 0, "{query} {flags:?}: {ran:?}");
        }
    }
}

#[test]
fn what_only_a_secret_holds_is_not_denied() {
    let sandbox = Sandbox::new();
    sandbox.write("cert.pem", "zpem_secret\n");
    sandbox.write("b.py", "x = 1\n");
    sandbox.write("keys/a.pem", "zpem_more\n");
    git(&sandbox, &["init", "-q"]);
    let folder = sandbox.run(&["zpem_more", "keys"]);
    assert!(folder.err.contains("keys is not indexed (looks like a secret)"), "{folder:?}");
    let ran = sandbox.run(&["zpem_secret"]);
    assert!(ran.status == 1 && ran.out.is_empty() && !ran.err.contains("nothing"), "{ran:?}");
    assert!(ran.err.contains("(files that look like secrets) holds \"zpem_secret\""), "{ran:?}");
    let denied = sandbox.run(&["zpem_other"]);
    assert!(denied.err.contains("nothing here holds \"zpem_other\""), "{denied:?}");
}

#[test]
fn a_denial_within_a_filter_names_it() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.py", "def alpha_zed(x):\n    return x\n");
    sandbox.write("docs/a.md", "# Title\n\nText of it.\n");
    for (args, limits) in
        [(&["-g", "*.md"][..], "--include '*.md'"), (&["docs"], "docs"), (&["-T", "python"], "-T python")]
    {
        let ran = sandbox.run(&[&["alpha_zed"], args].concat());
        let told = format!("nothing within `{limits}` holds \"alpha_zed\", but other parts of the project do");
        assert!(ran.status == 1 && ran.err.contains(&told), "{args:?}: {ran:?}");
    }
    let ran = sandbox.run(&["beta_zed", "docs"]);
    assert!(ran.err.contains("nothing here holds \"beta_zed\""), "{ran:?}");
}

#[test]
fn a_byte_order_mark_before_a_query_is_no_part_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.cs", "#nullable enable\nclass A {}\n");
    let ran = sandbox.run(&["\u{feff}#nullable"]);
    assert!(ran.status == 0 && ran.out.starts_with("a.cs:1:") && ran.err.is_empty(), "{ran:?}");
}
