//! The binary on what somebody knows of the text: a place, a message, a line, a name with its keyword, a phrase.

use crate::common::{Sandbox, leads};

/// A project in which other files too contain the words of each known text, more often and in better places.
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
        "/// Any host, open or not.\npub struct Host;\n\nimpl Host {\n    pub fn socket(&self) {}\n}\n\n\
         pub fn first(hosts: &[Host]) -> &Host {\n    hosts.first().expect(\"Open no socket.\")\n}\n",
    );
    sandbox.write("docs/socket.md", "# Socket\n\nA socket could be open on any host.\n");
    sandbox
}

#[test]
fn what_is_known_of_the_text_comes_first_on_its_line() {
    let sandbox = project();
    leads(
        &sandbox,
        &[
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
            // A few words that are the whole literal.
            ("open no socket", "src/host.rs:9:"),
            // A definition with its keyword, preceded by an attribute.
            ("struct Socket", "src/net/tcp.rs:4:"),
            ("who calls open", "src/net/mod.rs:6:"),
            // A file by its name, whatever its words rank.
            ("any socket on a host in host.rs", "src/host.rs:"),
        ],
    );
}

#[test]
fn what_is_pasted_from_elsewhere_finds_its_place_here() {
    let sandbox = project();
    leads(
        &sandbox,
        &[
            // Quotes from a program, not from the user.
            ("src/net/tcp.rs:12: got \"no such value\" here", "src/net/tcp.rs:12:"),
            ("run( \"no such value\" )\n  File \"src/net/tcp.rs\", line 10, in open", "src/net/tcp.rs:10:"),
            ("Error: could not open socket \"no such value\" on any host", "src/net/tcp.rs:10:"),
            ("{\"level\":\"error\",\"pid\":33,\"msg\":\"could not open socket\",\"id\":\"ab\"}", "src/net/tcp.rs:10:"),
            // Another version of the file, with more lines: the line that is shown is one of here.
            ("src/net/tcp.rs:900", "src/net/tcp.rs:8:pub fn open"),
            // Frames of a browser, of a module's cache, and places with columns.
            ("open@http://localhost:3000/src/net/tcp.rs:12:5", "src/net/tcp.rs:12:"),
            ("open (webpack-internal:///./src/net/tcp.rs:12:5)", "src/net/tcp.rs:12:"),
            ("/go/pkg/mod/acme/net@v1.9.1/tcp.rs:12 +0x1d", "src/net/tcp.rs:12:"),
            ("e: /b/src/net/tcp.rs: (12, 5): no such value", "src/net/tcp.rs:12:"),
        ],
    );
    // A kind without that line does not answer for it.
    let ran = sandbox.run(&["--kind", "class", "--query", "src/net/tcp.rs:9", "-k", "1"]);
    assert!(!ran.out.contains("tcp.rs:9:"), "{ran:?}");
}

#[test]
fn what_stands_in_quotes_stands_in_every_answer() {
    let sandbox = project();
    assert_eq!(sandbox.run(&["\"socket could be\"", "-l"]).out, "docs/socket.md\n");
    let ran = sandbox.run(&["\"host could be\"", "-l"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "each word is here, the phrase is not");
    assert!(ran.err.contains("no searched file contains \"host could be\""), "{ran:?}");
    let both = sandbox.run(&["\"any host\" and \"tcp::open\"", "-l"]);
    assert_eq!((both.status, both.out.as_str()), (0, "src/net/mod.rs\n"));
}

#[test]
fn a_phrase_may_begin_inside_a_word_and_have_other_marks_between_words() {
    let sandbox = Sandbox::new();
    sandbox.write("a.go", "func serve() {\n\th.ServeHTTP(w, r)\n\tlog(\"Connection reset by peer\")\n}\n");
    sandbox.write("b.go", "\tx := prepend = (<>)\n\tappend(one)\n\tif a => b {\n");
    sandbox
        .write("c.txt", "数据库连接失败时重试\nデータベース接続\n한국어검색 엔진\nun cafe\u{301} cre\u{300}me ici\n");
    for (query, expected) in [
        ("\"HTTP(w, r)\"", "a.go:2:"),
        ("\"h.Serve\"", "a.go:2:"),
        ("\"connection res\"", "a.go:3:"),
        ("\"连接失败\"", "c.txt:1:"),
        ("\"接続\"", "c.txt:2:"),
        ("\"검색 엔진\"", "c.txt:3:"),
        ("\"café crème\"", "c.txt:4:"),
        ("\"=>\"", "b.go:3:"),
        ("\"append(one)\"", "b.go:2:"),
        ("\"Reset (by peer)\"", "a.go:3:"),
        ("\"append(two)\"", ""),
    ] {
        let ran = sandbox.run(&[query]);
        let is_as_expected = if expected.is_empty() { ran.out.is_empty() } else { ran.out.starts_with(expected) };
        assert!(is_as_expected && ran.status == i32::from(expected.is_empty()), "{query}: {ran:?}");
    }
    // A name is written without the blank.
    sandbox.write("d.go", "type ConnectionReset struct{}\n");
    for query in ["\"Connection reset\"", "\"connection reset\"", "\"CONNECTION RESET\""] {
        assert_eq!(sandbox.run(&[query, "-l"]).out, "a.go\n", "{query}");
    }
}

#[test]
fn the_published_pipeline_knows_nothing_of_it() {
    let sandbox = project();
    let ran = sandbox.run(&["--profile", "classic", "--query", "src/net/tcp.rs:12", "--explain", "-k", "1"]);
    assert!(ran.status == 0 && !ran.out.contains("pointed") && !ran.out.contains("mention"), "{}", ran.out);
    let ran = sandbox.run(&["--query", "src/net/tcp.rs:12", "--explain", "-k", "1"]);
    assert!(ran.out.contains("pointed +"), "{}", ran.out);
}

/// Messages as programs write them, and other files with their words.
fn messages() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/app.rs",
        "pub fn find(name: &str) -> Result<(), String> {\n    \
         let all = 1;\n    \
         Err(format!(\"Command \\\"{}\\\" is ambiguous.\\nDid you mean one of these?\", name))\n}\n\n\
         pub fn boot(index: u8, pid: u32, took: f32) {\n    \
         log(format!(\"- Worker {index} (PID: {pid}) booted in {took}s, phase: {index}\"));\n}\n\n\
         pub fn connect(host: &str) {\n    fail(format!(\"Failed to connect to {host}\"));\n}\n\n\
         pub fn act(name: &str) {\n    fail(format!(\"Unknown action: {name}\"));\n    \
         fail(format!(\"Unknown input format {name}\"));\n    \
         fail(format!(\"{name} not found. Please select a different --format-engine or install {name}\"));\n}\n",
    );
    // More files than are read for their words, each with the words of a value and of a message, but apart.
    for i in 0..70 {
        let page = format!("pub fn page{i}() {{\n    connect(\"acme.example\").or_else(fail);\n}}\n");
        sandbox.write(&format!("src/pages/page{i}.rs"), &page);
    }
    sandbox.write(
        "src/cert.rs",
        "pub fn cert(x: Option<u8>) -> u8 {\n    x.expect(\"Certificate not configured\")\n}\n\n\
         pub fn routes() {\n    fail(\"exhausted all routes\");\n}\n",
    );
    sandbox.write(
        "src/argument.rs",
        "//! Arguments, ambiguous or not, of a command; what is configured for a worker that booted.\n\
         pub mod acme { pub mod net { pub struct ArgumentError; } }\n\n\
         /// Handling of an error: what the client does, and what command a worker runs.\n\
         pub fn error_handling() {}\n",
    );
    sandbox.write(
        "src/args.rs",
        "pub fn args(app: App) -> App {\n    app.arg(Arg::new(\"unbuffered\").short('u'))\n}\n\n\
         pub struct Options {\n    pub connect_timeout: float,\n}\n\n\
         pub fn engine(app: App) -> App {\n    app.arg(Arg::new(\"x\").long(\"format-engine\"))\n}\n",
    );
    sandbox
}

#[test]
fn a_message_is_found_whatever_its_values_and_whatever_stands_in_front() {
    let sandbox = messages();
    leads(
        &sandbox,
        &[
            // Values in quotes are the program's, and pieces on both sides of one count together.
            ("Command \"17\" is ambiguous.", "src/app.rs:3:"),
            ("Command \"build\" is ambiguous.", "src/app.rs:3:"),
            ("[12345] - Worker 0 (PID: 12346) booted in 0.02s, phase: 0", "src/app.rs:7:"),
            ("Failed to connect to example.com", "src/app.rs:11:"),
            // A value of plain words that many files contain.
            ("Failed to connect to acme.example", "src/app.rs:11:"),
            // Two words before one that occurs nowhere.
            ("Unknown action frobnicate", "src/app.rs:15:"),
            // Words before one that is a name here.
            ("Unknown input format cert", "src/app.rs:16:"),
            ("Unknown input format argument", "src/app.rs:16:"),
            // A message in quotes in a question.
            ("where does \"Unknown input format cert\" come from", "src/app.rs:16:"),
            ("why do I get \"Failed to connect to example.com\"?", "src/app.rs:11:"),
            // A flag inside a message.
            ("acme not found. Please select a different --format-engine or install acme", "src/app.rs:17:"),
            // A message that its runtime prints as a literal.
            ("ArgumentError: \"Failed to connect to example.com\"", "src/app.rs:11:"),
            // After the prefix of a log, a runtime or an error.
            ("ArgumentError: Certificate not configured", "src/cert.rs:2:"),
            ("2026-11-25 10:11:12 [acme.net.core] INFO: Certificate not configured", "src/cert.rs:2:"),
            ("[acme\\net\\ArgumentError] Certificate not configured", "src/cert.rs:2:"),
            ("Exception in thread \"main\" acme.net.ArgumentError: exhausted all routes", "src/cert.rs:6:"),
            // Code with other quotes, and a text that was cut off.
            ("Arg::new('unbuffered')", "src/args.rs:2:"),
            ("connect_timeout: flo", "src/args.rs:6:"),
        ],
    );
}

#[test]
fn questions_in_words_point_at_no_message() {
    let sandbox = messages();
    for query in [
        "error handling in the client",
        "how does a client connect to a host",
        "connect to the host",
        "unknown action options",
        "which command is ambiguous",
        "worker booted in phase",
        "error: handling in the client",
        "config: routes of the client",
        "how to fix the error handling in the client",
    ] {
        let ran = sandbox.run(&["--query", query, "--explain", "--all"]);
        // Less than a step of certainty is the order of words and their forms.
        let is_pointed = ran.out.split("pointed +").skip(1).any(|added| !added.starts_with("0."));
        assert!(ran.status == 0 && !is_pointed, "{query}: {}", ran.out);
    }
    // A quote at the end of a question stays a condition.
    let ran = sandbox.run(&["where is \"ambiguous command\" printed", "-l"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{ran:?}");
}

/// Sources in which the target is not a unit of its own, or follows something that only looks like it.
fn odd_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/run.js",
        "// Runs steps.\nexport function runAll(steps) {\n  function finishStep(step) {\n    return step.done === true;\n  }\n  \
         return steps.map(finishStep);\n}\nconst version = '1.0.0-beta';\nrunAll([]);\n",
    );
    sandbox.write("src/old.js", "const oldest = '1.0.0';\nfunction other() { return oldest !== version; }\n");
    sandbox.write(
        "src/escape.ex",
        "defmodule Escape do\n  @deprecated \"use html_escape/2\"\n  @spec html_escape(binary) :: binary\n  \
         def html_escape(text) do\n    text\n  end\nend\n",
    );
    sandbox.write(
        "src/value.cpp",
        "struct Value { int a; };\nstd::ostream& operator<<(std::ostream& out, Value v);\n\
         bool operator==(const Value& a, const Value& b) { return a.a == b.a; }\n",
    );
    sandbox.write(
        "src/log.py",
        "def whole(n, m):\n    raise ValueError(f'int {n} is no multiple of {m}')\n\n\n\
         def real(n, m):\n    raise ValueError(f'float {n} is no multiple of {m}')\n",
    );
    sandbox.write("test/unit tests/has step", "#!/bin/sh\n. ../step.sh\nhas_step one || exit 1\n");
    sandbox
}

#[test]
fn what_is_no_unit_is_found_on_its_line() {
    let sandbox = odd_project();
    leads(
        &sandbox,
        &[
            // A function inside another.
            ("finishStep", "src/run.js:3:"),
            ("function finishStep", "src/run.js:3:"),
            // Behind its attributes.
            ("html_escape", "src/escape.ex:4:"),
            ("def html_escape", "src/escape.ex:4:"),
            // A version, and not the one that begins like it.
            ("1.0.0", "src/old.js:1:"),
            ("1.0.0-beta", "src/run.js:8:"),
            ("operator==", "src/value.cpp:3:"),
            // Of two messages that end alike, the one with the other words.
            ("float 2.5 is no multiple of 2", "src/log.py:6:"),
            // Calls outside of any function.
            ("who calls runAll", "src/run.js:9:"),
            // Paths with spaces.
            ("test/unit tests/has step:3", "test/unit tests/has step:3:"),
            ("File \"/srv/app/test/unit tests/has step\", line 2", "test/unit tests/has step:2:"),
            // Frames of a library with a file of the same name, then of this project.
            (
                "Traceback (most recent call last):\n  File \"/srv/app/src/log.py\", line 6, in real\n    raise\n  \
             File \"/usr/lib/python3/site-packages/other/run.js\", line 2, in f\n",
                "src/log.py:6:",
            ),
        ],
    );
}

#[test]
fn a_query_without_a_word_is_searched_as_text() {
    let sandbox = odd_project();
    for (query, expected) in [("!==", "src/old.js:2:"), ("<<(", "src/value.cpp:2:"), ("(&[", ""), ("&& {{", "")] {
        let ran = sandbox.run(&[query]);
        assert_eq!(
            (ran.out.lines().count(), ran.status),
            (usize::from(!expected.is_empty()), u8::from(expected.is_empty()).into())
        );
        assert!(
            ran.out.starts_with(expected) && ran.err.contains("has no words to rank by: searching for it as text"),
            "{ran:?}"
        );
    }
    // A binary file can contain anything: it answers only where it is named.
    std::fs::write(sandbox.root().join("a.png"), b"a\0b !== c\n").expect("a file");
    assert!(sandbox.run(&["!=="]).out.starts_with("src/old.js:2:"));
    assert!(sandbox.run(&["!==", "a.png"]).out.starts_with("a.png: binary file matches"));
    assert!(sandbox.run(&["-F", "-e", "!=="]).out.starts_with("a.png: binary file matches"));
    let ran = sandbox.run(&["!==", "--pack", "300", "--all"]);
    assert!(ran.err.contains("(-F -e); ignoring --all and --pack"), "{ran:?}");
}

#[test]
fn what_no_flag_explains_is_a_query_where_it_is_written_as_no_flag_is() {
    let sandbox = odd_project();
    for query in ["-> html escape", "- html escape", "->html_escape"] {
        let ran = sandbox.run(&[query, "-k", "1", "src"]);
        assert!(ran.out.starts_with("src/escape.ex:"), "{query}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["--no-such-flag"]).status, 2);
}

/// Words of every day that are keywords of some language, or names of things of several kinds.
fn wordy_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("app/core/__init__.py", "\"\"\"The core.\"\"\"\nVERSION = 1\n");
    sandbox.write(
        "app/core/pager.py",
        "class Pager:\n    \"\"\"Shows\n    class names.\n    \"\"\"\n\n    def show(self, page):\n        return page\n",
    );
    sandbox.write(
        "app/view.py",
        "from app.core.pager import Pager\n\n\nclass View:\n    def pager(self):\n        return Pager()\n\n    \
         def render(self, text):\n        raise ValueError(\"no class names in here\")\n",
    );
    sandbox.write(
        "app/use.py",
        "import app.core.pager\nfrom app.core.pager import Pager\n\nUSED = app.core.pager.Pager\n",
    );
    sandbox.write("app/sdk.py", "def com(names):\n    return sorted(names, key=lambda name: name.lower())\n");
    sandbox.write("app/links.py", "HOME = \"https://github.com/acme\"\n");
    sandbox.write("tests/test_view.py", "def render():\n    return \"module names\"\n");
    sandbox.write("docs/names.md", "# Names\n\nThe message body, the event loop and the\nclass names of a module.\n");
    sandbox
}

#[test]
fn words_of_every_day_are_no_declarations() {
    let sandbox = wordy_project();
    for query in ["message body", "event loop", "class names", "module names", "type key", "pager"] {
        let ran = sandbox.run(&["--query", query, "--explain", "--all", "-k", "5"]);
        // Less than a step of certainty is the order of words and their forms.
        let is_pointed = ran.out.split("pointed +").skip(1).any(|added| !added.starts_with("0."));
        assert!(ran.status == 0 && !is_pointed, "{query}: {}", ran.out);
    }
}

#[test]
fn names_are_read_as_languages_write_them() {
    let sandbox = wordy_project();
    leads(
        &sandbox,
        &[
            // That a test is called so too does not count.
            ("render", "app/view.py:8:"),
            ("View.render", "app/view.py:8:"),
            ("View.render/1", "app/view.py:8:"),
            ("&View.render/1", "app/view.py:8:"),
            ("View.render(text:)", "app/view.py:8:"),
            ("View.render(", "app/view.py:8:"),
            ("View.render<T>", "app/view.py:8:"),
            (":meth:`~app.view.View.render`", "app/view.py:8:"),
            ("app.core.pager:Pager", "app/core/pager.py:1:"),
            // A module is its file, in front of those that import it.
            ("app.core.pager", "app/core/pager.py:"),
            ("app::core::pager", "app/core/pager.py:"),
            ("app.core", "app/core/__init__.py:"),
            // The last part of an address defines nothing.
            ("github.com", "app/links.py:1:"),
            ("@app/view.py", "app/view.py:"),
            ("“view.py”", "app/view.py:"),
        ],
    );
}

#[test]
fn files_and_definitions_are_found_by_their_whole_names_wherever_they_lie() {
    let sandbox = Sandbox::new();
    sandbox.write("app/control_cli.py", "class Control:\n    def run(self):\n        return 1\n");
    sandbox.write("app/main.py", "from app import control_cli\n\ncontrol_cli.Control().run()\n");
    sandbox.write("app/settings.py", "import os\nflag = os.environ.get(\"TEST_APP\")\n");
    sandbox.write("app/pages.py", "def pages(pager):\n    return pager.pages()\n");
    sandbox.write("tests/support/fake_pager.py", "class Fake:\n    pass\n");
    sandbox.write(
        "tests/test_app.py",
        "from tests.support import fake_pager\n\n\ndef test_pages_of_a_pager():\n    \
         assert pages(fake_pager.Fake())\n\n\ndef test_pages():\n    assert fake_pager\n",
    );
    sandbox.write("web/resolve-assets.spec.js", "it('resolves', () => {\n  check();\n});\n");
    sandbox.write("web/assets.js", "// Like resolve-assets.\nexport function resolve() {}\n");
    leads(
        &sandbox,
        &[
            // Stems, before the files that import them or contain a part.
            ("control_cli", "app/control_cli.py:"),
            ("fake_pager", "tests/support/fake_pager.py:"),
            ("test_app", "tests/test_app.py:"),
            // A constant is not a stem.
            ("TEST_APP", "app/settings.py:2:"),
            ("resolve-assets.spec", "web/resolve-assets.spec.js:"),
            // Definitions that are asked for in words, on their own line.
            ("where is test_pages defined", "tests/test_app.py:8:"),
            ("the definition of test_pages", "tests/test_app.py:8:"),
            ("where is test_pages_of_a_pager", "tests/test_app.py:4:"),
        ],
    );
}

#[test]
fn a_file_that_its_stem_means_is_code_and_shown_where_the_stem_stands() {
    let sandbox = Sandbox::new();
    let block = |name: &str| format!("start\n{name} /api {{\n{}}}\n}}\n", "  respond 200\n".repeat(48));
    sandbox.write("adapt/handle_path.conftest", &block("handle_path"));
    sandbox.write(
        "src/directives.go",
        "package d\n\nfunc init() {\n\tRegister(\"handle_path\", parse)\n}\n\nfunc parse() {}\n",
    );
    sandbox.write("lib/route_table.tcl", &block("route_table"));
    leads(
        &sandbox,
        &[
            ("handle_path", "src/directives.go:4:"),
            ("route_table", "lib/route_table.tcl:2:"),
            ("src/directives.go#999", "src/directives.go:"),
        ],
    );
}

#[test]
fn the_shown_line_and_the_strength_stand_in_json() {
    let sandbox = odd_project();
    let ran = sandbox.run(&["finishStep", "--json"]);
    let hits: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let first = &hits[0];
    assert_eq!((first["line_shown"].as_u64(), first["column"].as_u64()), (Some(3), Some(12)), "{first}");
    assert_eq!(first["text"], "  function finishStep(step) {");
    let strengths: Vec<f64> = hits.as_array().expect("rows").iter().filter_map(|h| h["strength"].as_f64()).collect();
    assert!(strengths[0] > 0.9 && strengths.iter().all(|s| (0.0..=1.0).contains(s)), "{strengths:?}");
}

#[test]
fn a_definition_is_shown_behind_attributes_of_several_lines() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Reply.kt",
        "package r\n\nclass Reply(\n  @get:JvmName(\"shake\") val shake: String?,\n) {\n  @Deprecated(\n    \
         message = \"moved to val\",\n    replaceWith = ReplaceWith(expression = \"shake\"),\n  )\n  \
         fun shake(): String? = shake\n\n  open class Builder {\n    \
         open fun shake(s: String?) = apply { this.s = s }\n  }\n}\n",
    );
    // What a type inside declares is not the outer one's.
    leads(
        &sandbox,
        &[
            ("Reply.shake", "Reply.kt:10:"),
            ("where is Reply.shake defined", "Reply.kt:10:"),
            ("Builder.shake", "Reply.kt:13:"),
        ],
    );
    let ran = sandbox.run(&["--query", "Reply.shake", "-k", "1", "-n", "1"]);
    assert!(!ran.out.contains("open fun shake"), "{}", ran.out);
}

#[test]
fn of_files_of_one_name_the_folder_and_what_they_hold_say_which() {
    let sandbox = Sandbox::new();
    for folder in ["", "lib/net/", "lib/disk/"] {
        sandbox.write(&format!("{folder}LICENSE"), "Anybody may use this.\n");
        sandbox.write(&format!("{folder}README.md"), "# Read\n\nAnybody may read this.\n");
    }
    for folder in ["lib/net/", "lib/disk/"] {
        sandbox.write(&format!("{folder}setup.lua"), "local M = {}\nfunction M.setup(o)\n  return o\nend\nreturn M\n");
    }
    sandbox.write("src/colors.lua", "local M = {}\nfunction M.brightYellow(o)\n  return o\nend\nreturn M\n");
    leads(
        &sandbox,
        &[
            ("LICENSE in lib/net", "lib/net/LICENSE:"),
            ("disk LICENSE", "lib/disk/LICENSE:"),
            ("README.md in lib/net", "lib/net/README.md:"),
            ("LICENSE", "LICENSE:"),
            ("brightYellow setup.lua", "src/colors.lua:2:"),
            ("setup in setup.lua", "lib/"),
        ],
    );
}

#[test]
fn names_are_found_in_what_tools_write_around_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/port.py",
        "import os\n\n\ndef open_port(number):\n    return number\n\n\nclass Conn:\n    def close_port(self):\n        \
         return open_port(1)\n",
    );
    sandbox.write("src/open.py", "def open_all(ports):\n    for port in ports:\n        print(port)\n");
    sandbox
        .write("docs/port.md", "# Port\n\nHow to open a port, and how to close one.\n\n## Shared hosts\n\nOf any.\n");
    leads(
        &sandbox,
        &[
            (r"\bopen_port\b", "src/port.py:4:"),
            (r"open_port\(", "src/port.py:4:"),
            (r"def\s+open_port\s*\(", "src/port.py:4:"),
            ("*close_port*", "src/port.py:9:"),
            ("open_port+0x1a2", "src/port.py:4:"),
            ("server(open_port+0x1a2)[0x55d0]", "src/port.py:4:"),
            ("example.com/acme/net.(*Conn).close_port.func1", "src/port.py:9:"),
            ("[`open_port`](https://docs.example.com/x)", "src/port.py:4:"),
            ("close_ports", "src/port.py:9:"),
            ("docs/port.md#shared-hosts", "docs/port.md:5:"),
            ("src/port.py#close_port", "src/port.py:9:"),
            ("src/port.py (lines 9-10)", "src/port.py:9:"),
        ],
    );
    let said = sandbox.run(&["--query", r"\bopen_port\b"]);
    assert!(said.err.contains("open_port"), "it is told what was read: {said:?}");
    let text = sandbox.run(&["-e", r"\bopen_port\b"]);
    assert_eq!(text.out.lines().count(), 2, "-e takes the expression itself: {text:?}");
}
