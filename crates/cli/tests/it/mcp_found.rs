//! What agents are given: units by qualified names, paths as answers write them, reasons for nothing.

use std::path::Path;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use serde_json::json;

#[test]
fn a_name_is_found_as_a_query_finds_it() {
    let sandbox = Sandbox::new();
    sandbox.write("vec.cpp", "namespace a::b {\nclass Vec { void push(int); };\nvoid Vec::push(int) { grow(); }\n}\n");
    sandbox.write("gin.go", "package gin\n\ntype Context struct{}\n\nfunc New() *Context { return nil }\n");
    sandbox.write("context.go", "package gin\n\nfunc (c *Context) JSON(code int) { c.render() }\n");
    sandbox.write("src/Logger.php", "<?php\nnamespace Monolog;\nclass Logger {\n  function pushHandler($h) {}\n}\n");
    sandbox.write("acme/registry.py", "class Registry:\n    def register(self, one):\n        pass\n");
    sandbox.write("src/inner/deep.rs", "pub fn leaf_fn() {}\n");
    sandbox.write(
        "src/ring.rs",
        "macro_rules! ring_macro { () => {} }\npub struct Ring;\nimpl Ring {\n    pub fn r#type(&self) {}\n}\n",
    );
    sandbox.write("acme/api.py", "def ask():\n    return 1\n");
    sandbox.write("acme/client.py", "class Client:\n    def ask(self):\n        return ask()\n");
    sandbox.write("walk.ml", "let walk x = x\n\nlet walk' x = walk x + 1\n");
    sandbox.write("Ring.hs", "module Ring where\n\nfoldRing' :: Int -> Int\nfoldRing' x = x\n\n(<+>) :: Int -> Int -> Int\na <+> b = a + b\n");
    let mut client = Client::start(&sandbox, &[]);
    for (name, place) in [
        ("a::b::Vec::push", "vec.cpp:3-3 "),
        ("gin.New", "gin.go:5-5 "),
        ("(*Context).JSON", "context.go:3-3 "),
        ("Monolog\\Logger::pushHandler", "src/Logger.php:4-4 "),
        ("acme.Registry.register", "acme/registry.py:2-3 "),
        ("acme.ask", "acme/api.py:1-2 function ask"),
        ("crate::inner::deep::leaf_fn", "src/inner/deep.rs:1-1 "),
        ("ring_macro!", "src/ring.rs:1-1 "),
        ("Ring::r#type", "src/ring.rs:4-4 "),
        ("walk'", "walk.ml:3-3 "),
        ("'walk'", "walk.ml:1-1 "),
        ("foldRing'", "Ring.hs:"),
        ("(<+>)", "Ring.hs:"),
    ] {
        let (text, failed) = client.call("search", json!({"name": name}));
        assert!(!failed && text.starts_with(place), "{name}: {text}");
    }
    let (text, failed) = client.call("search", json!({"name": "gin.NoSuch"}));
    assert!(failed && text.contains("no unit in what is searched is named \"gin.NoSuch\""), "{text}");
    for (name, near) in [
        ("PUSHHANDLER", "pushHandler"),
        ("pushHandlr", "did you mean src/Logger.php:4-4 method "),
        ("Logger.pushHandlr", "did you mean src/Logger.php:4-4 method "),
        ("json", "JSON"),
    ] {
        let (text, failed) = client.call("search", json!({"name": name}));
        assert!(failed && text.contains(near), "{name}: {text}");
    }
    assert!(client.good("search", json!({"calls": ["pushHandlr"]})).contains("did you mean \"pushHandler\"?"));
    let (text, failed) = client.call("outline", json!({"file": "registry.py"}));
    assert!(failed && text.contains("did you mean acme/registry.py?"), "{text}");
    for include in [json!("*.go,*.php"), json!(sandbox.root().join("src/**").display().to_string())] {
        let text = client.good("search", json!({"pattern": "pushHandler", "include": include}));
        assert!(text.starts_with("src/Logger.php:"), "{text}");
    }
    let (text, failed) = client.call("search", json!({"name": "json", "file": "context.go"}));
    assert!(failed && text.contains("context.go has no unit named json; did you mean \"JSON\"?"), "{text}");
}

#[test]
fn globs_take_the_paths_of_several_roots() {
    let sandbox = Sandbox::new();
    for root in ["one", "two"] {
        sandbox.write(&format!("{root}/.git/HEAD"), "ref: refs/heads/main\n");
        sandbox.write(&format!("{root}/mux.go"), "package mux\n\nfunc NewMux() {}\n");
        sandbox.write(&format!("{root}/sub/mux.go"), "package sub\n\nfunc NewMux() {}\n");
    }
    let folders = ["one", "two"].map(|root| sandbox.root().join(root));
    let mut client = Client::in_folder(&sandbox, Path::new("/"), Some(&[folders[0].as_path(), folders[1].as_path()]));
    let (include, exclude) = (json!(["two/*.go"]), json!(["one/", "two/sub"]));
    for asked in [
        json!({"query": "NewMux", "include": include, "pack": 0}),
        json!({"query": "NewMux", "exclude": exclude, "pack": 0}),
        json!({"pattern": "NewMux", "include": include}),
        json!({"pattern": "NewMux", "exclude": exclude}),
        json!({"name": "NewMux", "include": include}),
        json!({"kind": ["function"], "exclude": exclude}),
    ] {
        let text = client.good("search", asked.clone());
        let is_one = text.starts_with("two/mux.go:") && !text.contains("sub/mux.go") && !text.contains("one/mux.go");
        assert!(is_one, "{asked}: {text}");
    }
    for args in [
        &["NewMux", "one", "two", "--include", "two/*.go", "-l"][..],
        &["NewMux", "one", "two", "--exclude", "one/", "--exclude", "two/sub", "-l"],
        &["-e", "NewMux", "one", "two", "--include", "two/*.go", "-l"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.out, "two/mux.go\n", "{args:?}: {ran:?}");
    }
}

#[test]
fn nothing_has_its_reason() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    for (asked, why) in [
        (json!({"query": "RingBuffer", "calls": ["nosuch"]}), "there is no definition here that calls nosuch"),
        (json!({"query": "zzzqq", "pattern": "fn"}), "nothing here that passes `pattern` fn answers the query"),
        (json!({"queries": ["RingBuffer"], "pattern": "zzz"}), "nothing here passes `pattern` zzz"),
        (
            json!({"pattern": "zzz", "tests": "only", "paths": ["tests"]}),
            "no file in tests that passes `tests` only matches",
        ),
    ] {
        let text = client.good("search", asked.clone());
        assert!(text.contains(&format!("({why})\n")), "{asked}: {text}");
    }
    let (text, _) = client.call("search", json!({"name": "RingBuffer", "tests": "only"}));
    assert!(text.contains("named \"RingBuffer\" and passes `tests` only; "), "{text}");
    for (args, told) in [
        (&["RingBuffer", "--calls", "nosuch"][..], "there is no definition here that calls nosuch"),
        (&["-e", "zzz", "RingBuffer"], "nothing here passes -e zzz"),
        (&["-e", "capacity", "zzzqq"], "there is no file or folder \"zzzqq\" here, so it is the query"),
        (&["-e", "capacity", "RingBuffer"], ""),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.err.contains(told) && ran.err.is_empty() == told.is_empty(), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("so it is") || told.contains("so it is"), "{args:?}: {}", ran.err);
    }
}
