//! Tests the reading of long queries by examples.

use super::*;

fn read(text: &str) -> Option<Long> {
    Long::read(text, &LanguageFacts::sample())
}

#[test]
fn an_issue_is_read_by_its_parts() {
    let text = "[Bug] Sockets leak in `Pool.take`\n\n### Steps to reproduce\n\nOpen a socket, and then close it again.\n\n\
        ```rust\nuse net::Pool;\npool.take();\n```\n\n### Environment\n- OS: Linux\n";
    let long = read(text).expect("a long query");
    assert_eq!(long.title, "Sockets leak in `Pool.take`");
    assert_eq!(long.told, "Sockets leak in `Pool.take`\n\nOpen a socket, and then close it again.\n\npool.take();");
    assert_eq!(long.parts, ["Sockets leak in `Pool.take`", "Open a socket, and then close it again."]);
}

#[test]
fn what_is_no_issue_is_left_as_it_is() {
    let line = "a socket is opened for each host that is named and ";
    for (text, expected) in [
        ("how to close a socket", None),
        ("how to close a socket\n", None),
        // A frame with a program's output around it, and code, are literals.
        ("Traceback (most recent call last):\n  File \"a.rs\", line 7, in run\nValueError: no such host", None),
        ("error: no such host here\n  --> src/a.rs:3:9", None),
        ("RuntimeError:\n  no such host is known to it", None),
        ("[error] GenServer #PID<0.1.0> terminating\n** (RuntimeError) no such host is known to it", None),
        ("fn open(host: &str) {\n    connect(host);", None),
        // A title with code below, or a few words with more below, is a long query.
        (
            "sockets leak where hosts are many\nfor host in hosts { open(host); }",
            Some("sockets leak where hosts are many"),
        ),
        ("打开套接字失败\nopen(host)", Some("打开套接字失败")),
        ("Leak\nA socket is opened and never closed.", Some("Leak")),
        (
            "### Describe the bug\n\nSockets leak where hosts are many.\nIt is so.",
            Some("Sockets leak where hosts are many."),
        ),
        ("### Describe the bug\n\nSockets leak here.", Some("Sockets leak here.")),
        ("<!-- Please fill in\nall of it -->\nLeak\nA socket is opened and never closed.", Some("Leak")),
        ("\u{feff}[Bug] Leak\nA socket is opened and never closed.", Some("Leak")),
        ("Please help!\n\nLeak\nA socket is opened and never closed.", Some("Leak")),
        ("fails\n  File \"a.rs\", line 7, in run\nThis is what I get when I run it.", None),
        (
            "fails\n  File \"a.rs\", line 7, in run\nThis is what I get when I run it on the host that was named last.",
            Some("fails"),
        ),
        (line.repeat(4).as_str(), None),
        (format!("it leaks much. {}", line.repeat(4)).as_str(), Some("it leaks much.")),
    ] {
        let title = read(text).map(|long| long.title);
        match expected {
            // Of a line without an end, the title is cut.
            None if text.len() > LONG => assert!(title.is_some_and(|title| title.len() <= TITLE_MAX)),
            expected => assert_eq!(title.as_deref(), expected, "{text}"),
        }
    }
}
