//! What a caller knows besides the query: term tables, hints and tags.

use crate::common::Sandbox;
use serde_json::Value;

/// Two names for one thing: the query's word occurs in one file, the domain's name for it in the other.
fn tokens() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/lexer.py", "def next_token(text):\n    \"\"\"Gives a next token.\"\"\"\n    return text[0]\n");
    sandbox
        .write("src/auth.py", "def read_jwt(header):\n    \"\"\"Takes a JWT off a header.\"\"\"\n    return header\n");
    sandbox.write(".terms.json", r#"{"token": ["JWT", "bearer"], "load-balancer": "ingress"}"#);
    sandbox
}

#[test]
fn a_table_adds_terms_where_a_word_of_it_stands_in_the_query() {
    let sandbox = tokens();
    let plain = sandbox.run(&["refresh the token", "-l"]);
    assert!(!plain.out.contains("auth.py"), "{}", plain.out);
    let expanded = sandbox.run(&["refresh the token", "-l", "--expand", ".terms.json"]);
    assert!(expanded.out.contains("auth.py"), "{}", expanded.out);
    let explained = sandbox.run(&["refresh the token", "--expand", ".terms.json", "--explain"]);
    assert!(explained.out.contains("    expand +JWT +bearer · bm25 "), "{}", explained.out);
    let json = sandbox.run(&["refresh the token", "--expand", ".terms.json", "--explain", "--json"]);
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json[0]["explain"][0]["terms"], serde_json::json!(["JWT", "bearer"]));
    // Untouched without a match.
    for query in ["next_token", "header"] {
        let (with, without) = (&[query, "--explain", "--expand", ".terms.json"], &[query, "--explain"]);
        assert_eq!(sandbox.run(with).out, sandbox.run(without).out, "{query}");
    }
}

#[test]
fn a_table_may_stand_in_the_settings_and_one_is_known_by_name() {
    let sandbox = tokens();
    sandbox.write(".colgrep.toml", "[terms]\ntoken = [\"JWT\"]\n");
    let found = |args: &[&str]| sandbox.run(&[&["refresh the token", "-l"], args].concat()).out.contains("auth.py");
    assert!(found(&[]) && !found(&["--no-expand"]), "the repository's terms hold, and are left out on demand");
    sandbox.write(".colgrep.toml", "");
    sandbox.write("src/sizes.go", "package sizes\n\n// HPA sizes a workload.\ntype Sizer struct{}\n");
    let known = |args: &[&str]| sandbox.run(&[&["autoscaling", "-l"], args].concat()).out.contains("sizes.go");
    assert!(!known(&[]) && known(&["--expand", "kubernetes"]));
    let set = sandbox.run(&["settings", "terms.token", "JWT, bearer"]);
    assert!(set.status == 0 && set.err.contains("terms.token = [JWT, bearer]"), "{}", set.err);
    assert!(sandbox.run(&["settings"]).out.contains("terms.token = [JWT, bearer]"));
    assert!(found(&[]));
}

#[test]
fn what_is_no_table_is_refused_with_what_to_do() {
    let sandbox = tokens();
    sandbox.write("bad.json", "token = JWT");
    sandbox.write("list.json", "[\"token\"]");
    sandbox.write("number.json", "{\"token\": [1]}");
    for given in ["bad.json", "list.json", "number.json", "docker", "missing.json"] {
        let ran = sandbox.run(&["token", "--expand", given]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{given}: {}", ran.err);
        assert!(
            ran.err.contains(given) && ran.err.contains("--expand takes kubernetes, or a file of JSON"),
            "{}",
            ran.err
        );
    }
    for args in [
        &["-e", "token", "--expand", ".terms.json"][..],
        &["token", "--semantic-only", "--expand", ".terms.json"],
        &["--like", "src/auth.py:1", "--expand", ".terms.json"],
    ] {
        assert_eq!(sandbox.run(args).status, 2, "{args:?}");
    }
}

#[test]
fn hints_multiply_what_meets_them_and_leave_out_nothing() {
    let sandbox = Sandbox::new();
    for part in ["http", "queue"] {
        sandbox.write(&format!("src/{part}/parse_item.py"), "def parse_item(text):\n    return text.strip()\n");
    }
    let first = |args: &[&str]| sandbox.run(&[&["parse item"], args].concat()).paths()[0].to_string();
    assert_eq!(first(&[]), "src/http/parse_item.py");
    assert_eq!(first(&["--hint", "subsystem=queue"]), "src/queue/parse_item.py");
    let hints = ["--hint", "subsystem=queue", "--hint", "purpose=parsing", "--hint", "feature=none"];
    let explained = sandbox.run(&[&["parse item", "--explain"], &hints[..]].concat()).out;
    let rows: Vec<&str> = explained.lines().collect();
    assert!(rows[1].contains(" hints ×1.495 ") && rows[3].contains(" hints ×1.150 "), "{explained}");
    // 004.8: without hints no step of that name.
    assert!(!sandbox.run(&["parse item", "--explain"]).out.contains("hints"));
    let knob =
        sandbox.run_with(&[("COLGREP_HINT_SUBSYSTEM", "2")], &[&["parse item", "--explain"], &hints[..]].concat());
    assert!(knob.out.contains("hints ×2.300"), "{}", knob.out);
    sandbox.write(".colgrep.toml", "[tags]\nhot-path = [\"src/queue/\"]\n");
    assert_eq!(first(&["--hint", "tag=hot path"]), "src/queue/parse_item.py");
}

#[test]
fn many_times_what_is_shown_is_ranked() {
    let sandbox = Sandbox::new();
    // Far more than the two or three times what is shown that is asked for.
    for part in 0..30 {
        sandbox.write(&format!("src/p{part:02}/parse_item.py"), "def parse_item(text):\n    return text.strip()\n");
    }
    let shown = |args: &[&str]| sandbox.run(&[&["parse item", "-k", "2"], args].concat()).out;
    assert!(!shown(&[]).contains("src/p29/"), "{}", shown(&[]));
    let hinted = shown(&["--hint", "subsystem=p29"]);
    assert!(hinted.starts_with("src/p29/") && hinted.lines().count() == 2, "{hinted}");
}

#[test]
fn what_is_no_hint_is_refused_with_the_kinds() {
    let sandbox = tokens();
    for hint in ["module=http", "http", "=http", "tag="] {
        let ran = sandbox.run(&["token", "--hint", hint]);
        assert_eq!(ran.status, 2, "{hint}: {}", ran.err);
        let kinds = "subsystem, purpose, type, concept, feature, tag, keyword";
        assert!(ran.err.contains(kinds) || hint == "tag=", "{hint}: {}", ran.err);
    }
    assert_eq!(sandbox.run(&["-e", "token", "--hint", "tag=a"]).status, 2);
}
