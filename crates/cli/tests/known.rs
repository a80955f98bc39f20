//! The binary on what somebody knows of the text: a place, a message, a line, a name with its keyword, a phrase.

mod common;

use common::Sandbox;

/// A project in which the words of each known text stand in other files too, more often and in better places.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/net/tcp.rs",
        "//! Sockets.\n\n#[derive(Debug)]\npub struct Socket {\n    port: u16,\n}\n\npub fn open(port: u16) -> Socket {\n    \
         if port == 0 {\n        panic!(\"could not open socket {} on any host\", port);\n    }\n    Socket { port }\n}\n",
    );
    sandbox.write(
        "src/net/mod.rs",
        "//! Opens sockets: could one not open a socket on this host, any other host is tried.\npub mod tcp;\n\n\
         /// Opens any socket on any host.\npub fn open_any_socket() {\n    tcp::open(1);\n}\n",
    );
    sandbox.write(
        "src/host.rs",
        "/// Any host, open or not.\npub struct Host;\n\nimpl Host {\n    pub fn socket(&self) {}\n}\n",
    );
    sandbox.write("docs/socket.md", "# Socket\n\nA socket could be open on any host.\n");
    sandbox
}

#[test]
fn what_is_known_of_the_text_comes_first_on_its_line() {
    let sandbox = project();
    for (query, expected) in [
        // Places, as people and programs write them.
        ("src/net/tcp.rs:12", "src/net/tcp.rs:12:"),
        ("tcp.rs:12:5", "src/net/tcp.rs:12:"),
        ("File \"/srv/app/src/net/tcp.rs\", line 10, in open", "src/net/tcp.rs:10:"),
        ("   --> src/net/tcp.rs:8:1", "src/net/tcp.rs:8:"),
        // A message as its program prints it, with a value where the source has none.
        ("could not open socket 8080 on any host", "src/net/tcp.rs:10:"),
        // A line, and a part of one in quotes.
        ("if port == 0 {", "src/net/tcp.rs:9:"),
        ("\"could not open socket\"", "src/net/tcp.rs:10:"),
        // A definition with its keyword, whose attribute stands in front.
        ("struct Socket", "src/net/tcp.rs:4:"),
        ("who calls open", "src/net/mod.rs:6:"),
        // A file by its name, whatever its words rank.
        ("any socket on a host in host.rs", "src/host.rs:"),
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn what_stands_in_quotes_stands_in_every_answer() {
    let sandbox = project();
    assert_eq!(sandbox.run(&["\"socket could be\"", "-l"]).out, "docs/socket.md\n");
    let ran = sandbox.run(&["\"host could be\"", "-l"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "each word is here, the phrase is not");
    let both = sandbox.run(&["\"any host\" and \"tcp::open\"", "-l"]);
    assert_eq!((both.status, both.out.as_str()), (0, "src/net/mod.rs\n"));
}

#[test]
fn the_published_pipeline_knows_nothing_of_it() {
    let sandbox = project();
    let ran = sandbox.run(&["--profile", "classic", "--query", "src/net/tcp.rs:12", "--explain", "-k", "1"]);
    assert!(ran.status == 0 && !ran.out.contains("pointed") && !ran.out.contains("mention"), "{}", ran.out);
    let ran = sandbox.run(&["--query", "src/net/tcp.rs:12", "--explain", "-k", "1"]);
    assert!(ran.out.contains("pointed +"), "{}", ran.out);
}
