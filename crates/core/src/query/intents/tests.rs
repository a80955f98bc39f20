//! Tests intents by examples.

use super::*;

#[test]
fn what_was_found_is_told() {
    for (text, expected) in [
        ("parse request", ""),
        ("src/net/tcp.rs:12", "place src/net/tcp.rs:12, token src/net/tcp.rs:12"),
        ("timeouts in \"could not open\"", "phrase \"could not open\""),
        ("Exception in thread \"main\" could not \"open\" it", "phrase \"open\""),
        ("struct Socket", "declaration struct Socket"),
        ("who calls open()", "callers of open"),
        ("what extends Session", "subtypes of Session"),
        ("operator==", "token operator=="),
        ("MAX_LEN in client.py", "name MAX_LEN of a file, file client.py, token MAX_LEN, token client.py"),
    ] {
        assert_eq!(read(text).told().join(", "), expected, "{text:?}");
    }
}

#[test]
fn tokens_are_told_from_words() {
    for (text, expected, are_all) in [
        ("MAX_LEN", "MAX_LEN", true),
        ("MISCONF", "MISCONF", true),
        ("E0502", "E0502", true),
        ("v1.2.3", "v1.2.3", true),
        ("404", "404", true),
        ("/api/v1", "/api/v1", true),
        ("Content-Type", "Content-Type", true),
        ("http.Handler", "http.Handler", true),
        ("`max_len` 'MIN_LEN'", "max_len MIN_LEN", true),
        ("“max_len”, «MIN_LEN»…", "max_len MIN_LEN", true),
        ("MAX LEN", "MAX LEN", true),
        ("what does E0502 mean?", "E0502", false),
        ("session", "", false),
        ("readValue", "", false),
        ("run()", "", false),
        ("request/response", "", false),
        ("rate-limit", "", false),
        ("X", "", false),
        ("src/net/tcp.rs", "src/net/tcp.rs", true),
        ("https://github.com/o/n/blob/main/src/a.py", "src/a.py", true),
        // A line of a file is kept as typed.
        ("tcp.rs:12", "tcp.rs:12", false),
    ] {
        let intents = read(text);
        assert_eq!((intents.tokens.join(" ").as_str(), intents.is_tokens), (expected, are_all), "{text:?}");
    }
}

fn read(text: &str) -> Intents {
    let endings = ["rs", "py", "c", "java", "js", "go", "rb", "cs", "php", "ex", "tsx", "yml"];
    let keywords = ["fn", "class", "struct", "def", "func", "type", "trait", "const"];
    Intents::parse(text, &LanguageFacts::new(endings, []).with_declaration_keywords(keywords))
}

#[test]
fn what_is_named_inside_a_file_stands_apart_from_it() {
    for (text, mentions, tokens) in [
        ("src/a.py#copy", "src/a.py", "src/a.py"),
        ("see src/a.py#copy_all, then", "src/a.py", "src/a.py copy_all"),
        ("[first](docs/a.py#first-steps)", "docs/a.py", ""),
        ("src/a.py#L12", "", "src/a.py#L12"),
        ("C# in a.py", "a.py", "a.py"),
        ("Session#copy", "", "Session#copy"),
    ] {
        let intents = read(text);
        let found = (
            intents.mentions.join(" "),
            intents.tokens.iter().filter(|t| !t.contains('[')).cloned().collect::<Vec<_>>(),
        );
        assert_eq!((found.0.as_str(), found.1.join(" ").as_str()), (mentions, tokens), "{text:?}");
    }
}

#[test]
fn places_are_read_as_programs_print_them() {
    for (text, expected) in [
        ("src/net/tcp.rs:12", "src/net/tcp.rs 12"),
        ("src/net/tcp.rs:12:5", "src/net/tcp.rs 12"),
        ("./src/net/tcp.rs:12-20.", "src/net/tcp.rs 12"),
        ("tcp.rs#L12", "tcp.rs 12"),
        ("src/net/tcp.rs#999", "src/net/tcp.rs 999"),
        ("acme/net#12", ""),
        (r#"  File "/srv/app/b.py", line 7, in run"#, "/srv/app/b.py 7"),
        ("“src/b.py”, line 7", "src/b.py 7"),
        ("\tat com.acme.net.Tcp.open(Tcp.java:120)", "com/acme/net/Tcp.java 120"),
        ("    at handle (/app/src/a.js:3:9)", "/app/src/a.js 3"),
        ("    at Object.<anonymous> (/app/src/a.js:3:9)", "/app/src/a.js 3"),
        ("  --> src/a.rs:3:9", "src/a.rs 3"),
        ("\t/go/src/app/a.go:33 +0x1d", "/go/src/app/a.go 33"),
        ("from /srv/x.rb:4:in `call'", "/srv/x.rb 4"),
        ("a.c(12): error C2065", "a.c 12"),
        ("   at App.Run() in /src/App.cs:line 42", "/src/App.cs 42"),
        ("#0 /var/www/a.php(9): run()", "/var/www/a.php 9"),
        ("Fatal error in /var/www/a.php on line 9", "/var/www/a.php 9"),
        (r"C:\src\a.rs:12", "C:/src/a.rs 12"),
        ("test/Unit tests/a run:11", "test/Unit tests/a run 11"),
        ("File \"/srv/Unit tests/nvm_has\", line 10", "/srv/Unit tests/nvm_has 10"),
        ("    at run (file:///app/src/a.js:3:9)", "/app/src/a.js 3"),
        ("settle@webpack:///./node_modules/a/lib/settle.js:19:12", "/./node_modules/a/lib/settle.js 19"),
        ("run@http://localhost:3000/src/a.js:3:9", "src/a.js 3"),
        ("    at run (webpack-internal:///./src/a.js:3:9)", "/./src/a.js 3"),
        ("[ERROR] /b/src/a.java:[12,5] cannot find symbol", "/b/src/a.java 12"),
        ("e: /b/src/a.rs: (12, 5): unresolved reference", "/b/src/a.rs 12"),
        ("ERROR in ./src/a.js 12:5-9", "src/a.js 12"),
        ("package:app/core/a.rs 12:5  Pool.take", "package:app/core/a.rs 12"),
        ("             at ./src/a.rs:12:5", "src/a.rs 12"),
        ("src/a.rs:L12", "src/a.rs 12"),
        ("src/a.rs:0", ""),
        ("src/a.rs:0:5", ""),
        ("docker.yml 8080:80 port mapping", ""),
        ("sort in a.js [3, 1, 2]", ""),
        ("parse request", ""),
        ("https://github.com/psf/requests/blob/main/src/a.py#L500", "src/a.py 500"),
        ("see (https://github.com/psf/requests/blob/1f2e/src/a.py#L5-L9), which", "src/a.py 5"),
        ("it is https://github.com/o/n/blame/main/src/a.py?plain=1#L10-L20.", "src/a.py 10"),
        ("https://gitlab.com/g/sub/n/-/blob/main/a.rb#L3", "a.rb 3"),
        ("https://host/o/n/blob/v1/a.c#L7C2-L9C4", "a.c 7"),
        ("https://host/a/blob/main/b.rs#L4", ""),
        ("https://github.com/o/n/blob/main/a.py", ""),
        ("http://host/a.rs:12", ""),
        ("line 12 of src/a.rs", "src/a.rs 12"),
        ("what does Line 3 in the file `a.rs` do", "a.rs 3"),
        ("line 12 of src/server", ""),
        ("src/a.rs lines 12-20", "src/a.rs 12"),
        ("src/a.rs, lines 12 to 20", "src/a.rs 12"),
        ("src/a.rs (lines 12-20)", "src/a.rs 12"),
        ("src/a.rs (line 12)", "src/a.rs 12"),
        ("see src/a.rs L12", "src/a.rs 12"),
        ("src/a.rs L12-L20", "src/a.rs 12"),
        ("src/a.rs around line 12", "src/a.rs 12"),
        ("lines 12-20 of src/a.rs", "src/a.rs 12"),
        ("lines 12 to 20 of src/a.rs", "src/a.rs 12"),
        ("L12 of src/a.rs", "src/a.rs 12"),
        ("src/a.rs@L12", "src/a.rs 12"),
        ("src/a.py?plain=1#L12", "src/a.py 12"),
        ("cache.c L22 cache misses", ""),
        ("L2 in regularizers.py", ""),
        ("regularizers.py L2", ""),
        ("src/a.rs L5-L9", "src/a.rs 5"),
        ("a.rs lines of code", ""),
        ("12 lines of a.rs", ""),
        ("std::vec::Vec", ""),
        ("at 12:30 and 3:4", ""),
    ] {
        let locations = read(text).locations;
        let found: Vec<String> = locations.iter().map(|l| format!("{} {}", l.path, l.line)).collect();
        assert_eq!(found.join("; "), expected, "{text:?}");
    }
    let trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in x\n  File \"b.py\", line 2, in y\n";
    let lines = |text: &str| read(text).locations.iter().map(|l| l.line).collect::<Vec<u32>>();
    assert_eq!(lines(trace), [2, 1], "innermost first");
    let part = "  File \"a.py\", line 1, in x\n    y()\n  File \"b.py\", line 2, in y\nValueError: bad";
    assert_eq!(lines(part), [2, 1], "without its head");
    let crash = "  File \"b.py\", line 2 in y\n  File \"a.py\", line 1 in x\n";
    assert_eq!(lines(crash), [2, 1], "as a crash of Python prints it");
}

#[test]
fn files_are_mentioned_by_path_or_name() {
    for (text, expected) in [
        ("move helpers from _utils.py to `_client.py`", "_utils.py _client.py"),
        ("what does src/server do", "src/server"),
        ("see (docs/a.yml), please.", "docs/a.yml"),
        ("client.py", "client.py"),
        ("@src/client.py", "src/client.py"),
        ("retries of @client.py", "client.py"),
        ("“client.py” and «src/b.py» …", "client.py src/b.py"),
        ("src/client.py…", "src/client.py"),
        ("src/client.py:0", "src/client.py"),
        ("a.b.d", ""),
        ("e.g. this", ""),
        ("https://github.com/o/n/blob/main/src/a.py", "src/a.py"),
        ("https://github.com/o/n/issues/12", ""),
        ("1/2", "1/2"),
        ("/", ""),
        ("net/server.*", "net/server.*"),
        ("what do server.* do", "server.*"),
        ("src/.* server.*host *.rs", ""),
    ] {
        assert_eq!(read(text).mentions.join(" "), expected, "{text:?}");
    }
}

#[test]
fn a_name_alone_is_one_however_its_path_begins() {
    for text in [
        "src/a.rs",
        "./src/a.rs",
        "src\\a.rs",
        "**/a.rs",
        "/srv/a.rs",
        "@src/a.rs",
        "`src/a.rs`",
        "src/server/",
        "server.*",
        "LICENSE",
    ] {
        assert!(read(text).is_name_alone(text), "{text:?}");
    }
    for text in ["in src/a.rs", "a.rs b.rs", "src/a.rs:12", "server"] {
        assert!(!read(text).is_name_alone(text), "{text:?}");
    }
}

#[test]
fn words_are_names_of_files_where_no_other_word_is_written_so() {
    for (text, expected) in [
        ("add a target to the Makefile", "Makefile"),
        ("see LICENSE and get_latest", "LICENSE"),
        ("what does makefile do", "makefile"),
        ("sort the lines of .gitignore.", ".gitignore"),
        ("move it to _utils", "_utils"),
        ("what is __init__ for", ""),
        ("client.py and src/server do", ""),
        ("run bats-exec-file", "bats-exec-file"),
        ("see a-works(1)-b", "a-works a-works(1)-b"),
        ("parse the request", ""),
        ("A b 3.5", ""),
    ] {
        assert_eq!(read(text).names.join(" "), expected, "{text:?}");
    }
}

#[test]
fn the_file_that_ends_a_question_behind_in_is_the_place() {
    for (text, expected) in [
        ("move it to b.rs in src/a.rs", Some("src/a.rs")),
        ("copy the notices of b.rs in `LICENSE`.", Some("LICENSE")),
        ("in a.rs and b.rs", None),
        ("move it from a.rs to b.rs", None),
        ("what a.rs does in tests", None),
    ] {
        assert_eq!(read(text).place.as_deref(), expected, "{text:?}");
    }
}

#[test]
fn phrases_stand_in_double_quotes_of_their_own() {
    for (text, expected) in [
        (r#""connection reset by peer""#, "connection reset by peer"),
        (r#"where is "no such file" raised, and "bad magic"?"#, "no such file|bad magic"),
        (r#"fail("could not open")"#, ""),
        (r#"say "hello"#, ""),
        (r#""--""#, ""),
        (r#"src/a.rs:12: got "no such host" here"#, ""),
        (r#"KeyError: "no such key: 'a'.""#, ""),
        (r#"say: "no such key""#, "no such key"),
        ("mode = \"fast\" \nrun(mode)", ""),
    ] {
        assert_eq!(read(text).phrases.join("|"), expected, "{text:?}");
    }
}

#[test]
fn declarations_are_keyword_and_name_alone() {
    for (text, expected) in [
        ("class Session", "class Session"),
        ("pub async fn spawn", "fn spawn"),
        ("pub(crate) fn spawn<F>(future: F)", "fn spawn"),
        ("def parse(self, text):", "def parse"),
        ("func (r *Router) Handle(w Writer)", "func Handle"),
        ("type Mux struct", ""),
        ("type Mux", "type Mux"),
        ("struct Foo {", "struct Foo"),
        ("class of service handling", ""),
        ("Session class", ""),
        ("class", ""),
    ] {
        let found = read(text).declaration.map(|d| format!("{} {}", d.keyword, d.name));
        assert_eq!(found.unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn callers_are_asked_for_in_words() {
    for (text, expected) in [
        ("who calls spawn", "spawn"),
        ("Callers of `parse_request()`?", "parse_request"),
        ("where is Mux.Handle used?", "Mux.Handle"),
        ("where is Mux", ""),
        ("who calls the parser first", ""),
        ("find all callers of spawn", "spawn"),
        ("which functions call NewReader?", "NewReader"),
        ("who calls NewReader(), and why?", "NewReader"),
        ("Who calls NewReader in this project", "NewReader"),
        ("NewReader callers", "NewReader"),
        ("callers NewReader", "NewReader"),
        ("where is new_reader used in src", "new_reader"),
        ("uses of memory in tests", ""),
        ("callers should retry", ""),
        ("callers retry", ""),
        ("event callers", ""),
    ] {
        assert_eq!(read(text).callers_of.unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn definitions_are_asked_for_in_words() {
    for (text, expected) in [
        ("where is test_push defined", "test_push"),
        ("Where is `load` defined?", "load"),
        ("where is Mux.Handle", "Mux.Handle"),
        ("find the definition of parseRequest()", "parseRequest"),
        ("NewReader definition", "NewReader"),
        ("where is Mux.Handle used?", ""),
        // The index knows whether a plain word is a name.
        ("where is routing defined", "routing"),
        ("where is the function routing defined", "routing"),
        ("where is the routing function", "routing"),
        ("where is the routing table", ""),
        ("where is routing done", ""),
        ("where is new_reader closed by value", ""),
        ("a definition of done", "done"),
        ("what is MAX_LEN?", "MAX_LEN"),
        ("where is MAX_LEN set", "MAX_LEN"),
        ("value of MAX_LEN", "MAX_LEN"),
        ("what is the value of MAX_LEN", "MAX_LEN"),
        ("default of `limit`", "limit"),
        ("What is the default of max_len?", "max_len"),
        ("default value of MAX_LEN", "MAX_LEN"),
        ("what is the default value of MAX_LEN", "MAX_LEN"),
        ("what is routing", ""),
        ("what is a router", ""),
        ("what is MAX_LEN for", ""),
        ("where is routing set", ""),
        ("value of money", ""),
    ] {
        assert_eq!(read(text).definition_of.unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn subtypes_are_asked_for_in_words() {
    for (text, expected) in [
        ("what extends Session?", "Session"),
        ("who implements net.Session", "net.Session"),
        ("what inherits from Session", "Session"),
        ("which classes extend Session", "Session"),
        ("Find all classes that implement Session", "Session"),
        ("types implementing Session", "Session"),
        ("subclasses of Session", "Session"),
        ("list all implementations of `Session`", "Session"),
        ("implementations of NetSession in src", "NetSession"),
        ("NetSession subclasses", "NetSession"),
        ("extends Session", "Session"),
        ("implements Session", "Session"),
        ("class Pool extends Session", ""),
        ("what extends the session", ""),
        ("what extends sessions by a day", ""),
        ("session implementations", ""),
        ("implementations of a session", ""),
    ] {
        assert_eq!(read(text).subtypes_of.unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn a_name_is_told_from_the_file_beside_it() {
    for (text, expected) in [
        ("HTTPAdapter in src/adapters.py", "HTTPAdapter"),
        ("src/adapters.py HTTPAdapter", "HTTPAdapter"),
        ("HTTPAdapter @src/adapters.py", "HTTPAdapter"),
        ("where is `parse_it` defined in src/a.py?", "parse_it"),
        ("the function parse from the file src/a.py", "parse"),
        ("Session.get() of a.py", "Session.get"),
        ("find in a.py", "find"),
        ("CFLAGS in Makefile", "CFLAGS"),
        ("retry a request in a.py", ""),
        ("who calls spawn in a.py", ""),
        ("spawn in a.py:12", ""),
        ("(x) in a.py", ""),
        ("a.py b.py", ""),
        ("where is a.py", ""),
        ("a.py", ""),
        ("read in main", ""),
        ("asp.net", ""),
    ] {
        assert_eq!(read(text).beside_file.unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn names_of_tests_are_read_in_words() {
    for (text, expected) in [
        ("tests/test_q.py::TestQueue::test_push", "tests/test_q.py TestQueue test_push"),
        ("FAILED test_q.py::test_push[1-a] - boom", "FAILED test_q.py test_push - boom"),
        ("a::b::c of std::io", "a::b::c of std::io"),
        ("src/a.py:Queue.push", "src/a.py Queue.push"),
        ("src/a.py:12", "src/a.py:12"),
        ("src/a.py:L12", "src/a.py:L12"),
        ("src/a.py:parse the text", "src/a.py:parse the text"),
        ("std:io", "std:io"),
    ] {
        assert_eq!(split_node_ids(text, &LanguageFacts::sample()), expected);
    }
}
