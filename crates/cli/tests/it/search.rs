//! The binary on a small project: what it prints, how it filters, how it exits.

use crate::common::Sandbox;
use insta::assert_snapshot;

#[test]
fn a_first_search_indexes_and_answers() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run(&["parse request", "-k", "4"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_snapshot!("parse_request", ran.out);
}

#[test]
fn a_name_finds_its_definition_first() {
    let sandbox = Sandbox::of("relay");
    for (query, expected) in [
        ("RingBuffer", "src/queue/ring.rs:3:pub struct RingBuffer {"),
        ("Dashboard", "web/dashboard.ts:4:export class Dashboard {"),
        ("QUEUE_CAPACITY", "src/main.rs:10:const QUEUE_CAPACITY: usize = 1024;"),
        ("fetchStats", "web/api.ts:6:export const fetchStats = async (): Promise<Stats> => {"),
        ("listen for web hooks", "src/http/server.rs:5:pub struct Server {"),
        ("dead letter queue after giving up", "docs/retry.md:5:## Giving up"),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert_eq!(ran.out.trim_end(), expected, "{query}");
    }
}

#[test]
fn k_counts_distinct_files_exactly() {
    let sandbox = Sandbox::new();
    for i in 0..40 {
        sandbox.write(&format!("f{i}.py"), &"def widget():\n    return widget\n\n".repeat(1 + i % 5));
    }
    for k in [1, 7, 40] {
        let ran = sandbox.run(&["widget", "-l", "-k", &k.to_string()]);
        let mut files: Vec<&str> = ran.out.lines().collect();
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), k, "-k {k}: {}", ran.out);
    }
    assert_eq!(sandbox.run(&["widget", "-l", "-k", "1000"]).out.lines().count(), 40);
}

#[test]
fn forms_of_output() {
    let sandbox = Sandbox::of("relay");
    assert_snapshot!("files_only", sandbox.run(&["ring buffer", "-l", "-k", "3"]).out);
    assert_snapshot!("content", sandbox.run(&["parse_request", "-c", "-k", "1"]).out);
    assert_snapshot!("lines", sandbox.run(&["RingBuffer", "-n", "3", "-k", "1"]).out);
    assert_snapshot!("per_file", sandbox.run(&["ring buffer push pop", "--per-file", "3", "-k", "1"]).out);
    assert_snapshot!("colour", sandbox.run(&["RingBuffer", "--color", "always", "-k", "1"]).out);
    assert_snapshot!("explain", sandbox.run(&["RingBuffer", "--explain", "-k", "1"]).out);
}

#[test]
fn json_has_every_field_of_the_contract() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run(&["parse_request", "--json", "-k", "1"]);
    let hits: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_snapshot!("json", serde_json::to_string_pretty(&hits).expect("JSON"));
    assert_eq!(sandbox.run(&["zzzqqq", "--json"]).out.trim(), "[]");
}

#[test]
fn lines_cover_every_matched_unit_of_the_file() {
    let sandbox = Sandbox::new();
    let text = "def parse_request(text):\n    return text\n\n\ndef close():\n    pass\n\n\ndef check_request(text):\n    return text\n\n\ndef last():\n    pass\n";
    sandbox.write("a.py", text);
    let lines = |args: &[&str]| {
        let hits: serde_json::Value = serde_json::from_str(&sandbox.run(args).out).expect("JSON");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let (unit, best) = (&hits[0]["unit"], &hits[0]["matches"][0]);
        [&unit["line"], &unit["end_line"], &best["line"], &best["end_line"]].map(number)
    };
    assert_eq!(lines(&["parse request", "--json"]), [1, 10, 1, 2]);
    assert_eq!(lines(&["parse request", "--json", "--per-file", "2"]), [1, 10, 1, 2]);
    assert_eq!(lines(&["parse request", "--json", "--units"]), [1, 2, 1, 2], "a row is a unit");
    assert_eq!(lines(&["close", "--json"]), [5, 6, 5, 6]);
}

#[test]
fn a_row_of_units_is_that_unit_and_comes_once() {
    let sandbox = Sandbox::new();
    let code = "// Blocks of a file.\nuse std::fs;\n\npub fn read_block() {}\n\npub fn write_block() {}\n";
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn reads_a_block() {}\n\n    #[test]\n    fn writes_a_block() {}\n}\n";
    sandbox.write("src/block.rs", &format!("{code}\n{tests}"));
    let ask = |format: &str| sandbox.run(&["block", "--units", "-k", "9", "--all", format]).out;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ask("--json")).expect("JSON");
    let ids: std::collections::HashSet<&str> = rows.iter().filter_map(|row| row["unit"]["id"].as_str()).collect();
    assert!(ids.len() == rows.len() && rows.len() >= 4, "{rows:?}");
    for row in &rows {
        assert_eq!(row["score"], row["matches"][0]["score"], "{row}");
    }
    for name in ["read_block", "write_block", "reads_a_block", "writes_a_block"] {
        assert_eq!(rows.iter().filter(|row| row["unit"]["name"] == name).count(), 1, "{name}");
    }
    let vimgrep = ask("--vimgrep");
    let lines: std::collections::HashSet<&str> = vimgrep.lines().collect();
    assert_eq!(lines.len(), rows.len(), "{vimgrep}");
    // A file shows what it does, and no test inside it.
    let best = sandbox.run(&["writes a block", "-k", "1", "--json"]).out;
    assert!(best.contains("\"name\":\"write_block\""), "{best}");
}

#[test]
fn a_name_in_words_shows_what_it_names() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "lib/pool.rb",
        "class ThreadPool\n  MAX = 4\n\n  # Thread of a pool.\n  def initialize(thread, pool)\n    @pool = pool\n    @thread = thread\n  end\n\n  def size\n    @pool.size\n  end\nend\n",
    );
    sandbox.write(
        "lib/bar.rb",
        "def bar_progress(bar)\n  # Progress of the bar.\n  bar.progress\nend\n\ndef progress_bar\n  1\nend\n",
    );
    for (query, file, line) in
        [("thread pool", "lib/pool.rb", 1), ("Thread Pool", "lib/pool.rb", 1), ("progress bar", "lib/bar.rb", 6)]
    {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.out.starts_with(&format!("{file}:{line}:")), "{query}: {ran:?}");
    }
}

#[test]
fn the_schema_names_every_field_of_the_output() {
    let sandbox = Sandbox::of("relay");
    let schema: serde_json::Value = serde_json::from_str(&sandbox.run(&["--json-schema"]).out).expect("JSON");
    assert_eq!(schema["x-version"], 1);
    let ran = sandbox.run(&["parse_request", "--json", "-k", "1", "--explain"]);
    let hits: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let steps = hits[0]["explain"].as_array().expect("steps").iter().map(|step| (step, "Step"));
    let parts = [(&hits[0], "Hit"), (&hits[0]["unit"], "JsonUnit"), (&hits[0]["matches"][0], "Match")];
    for (object, definition) in parts.into_iter().chain(steps) {
        for field in schema["$defs"][definition]["required"].as_array().expect("fields") {
            let is_there = object.get(field.as_str().expect("a name")).is_some();
            assert!(is_there, "{definition} has no {field}: {object}");
        }
        let known = schema["$defs"][definition]["properties"].as_object().expect("properties");
        for field in object.as_object().expect("an object").keys() {
            assert!(known.contains_key(field), "{definition}.{field} is not in the schema");
        }
    }
}

#[test]
fn filters_apply_before_the_ranking() {
    let sandbox = Sandbox::of("relay");
    let files = |args: &[&str]| {
        let mut all = vec!["request parse", "-l", "-k", "1"];
        all.extend(args);
        sandbox.run(&all).out.trim_end().to_string()
    };
    assert_eq!(files(&[]), "src/http/parse.rs");
    assert_eq!(files(&["--include", "*.py"]), "vendor/tinyjson/parse.py");
    assert_eq!(files(&["-t", "python"]), "vendor/tinyjson/parse.py");
    assert_eq!(files(&["--exclude", "parse.rs"]), "src/http/server.rs");
    assert_eq!(files(&["--exclude-dir", "src", "--exclude-dir", "vendor"]), "tests/parse_test.rs");
    assert_eq!(files(&["tests"]), "tests/parse_test.rs", "a subfolder searches only itself");
    assert_eq!(files(&["web", "tests", "src/http/server.rs"]), "src/http/server.rs", "several paths");
    assert_eq!(files(&["-e", "is_err"]), "tests/parse_test.rs", "a pattern filters before the ranking");
    assert!(!sandbox.run(&["retry configuration", "--code-only", "-l"]).out.contains(".md"));
}

#[test]
fn a_pattern_alone_is_grep() {
    let sandbox = Sandbox::of("relay");
    assert_snapshot!("grep", sandbox.run(&["-e", "ParseError"]).out);
    assert_snapshot!("grep_context", sandbox.run(&["-e", "MissingPath,", "-n", "1"]).out);
    assert_eq!(sandbox.run(&["-e", "parse", "-w", "-l", "src"]).out, "src/http/mod.rs\nsrc/http/server.rs\n");
    assert_eq!(sandbox.run(&["-e", "b\"GET /\"", "-F"]).paths(), ["tests/parse_test.rs"]);
    assert_eq!(sandbox.run(&["-e", "QUEUE_capacity", "-i", "-l"]).out, "src/main.rs\n");
    assert_eq!(sandbox.run(&["-e", "nowhere_at_all"]).status, 1);
}

#[test]
fn exit_statuses_and_messages() {
    let sandbox = Sandbox::of("relay");
    for (args, status, message) in [
        (&["parse"][..], 0, ""),
        (&["zzzqqq"], 1, ""),
        (&["-e", "a(b"], 2, "is not a valid pattern; use -F"),
        (&["-e", "a(b", "query words"], 2, "unclosed group"),
        (&[], 2, "Usage: colgrep [OPTIONS] QUERY [PATH]..."),
        (&["-l"], 2, "no query"),
        (&["  "], 2, "the query is empty"),
        (
            &["-g", "*.rs", "-t", "rust"],
            2,
            "no query; beside -g and -t, say what to look for, or list files with --files",
        ),
        (&["", "--changed"], 2, "the query is empty; beside --changed, say"),
        (&["parse", "-k", "0"], 2, "it takes a number from 1 on"),
        (&["parse", "no/such/folder"], 2, "no/such/folder"),
        (&["-e", "TODO", "src/typo.rs"], 2, "src/typo.rs: "),
        (&["parse", "-t", "klingon"], 2, "is neither a known language"),
        (&["parse", "--include", "a["], 2, "is not a valid glob"),
        (&["parse", "--profile", "best"], 2, "there are default and classic"),
        (&["--no-such-flag"], 2, "--no-such-flag"),
        (&["--help"], 0, ""),
        (&["--version"], 0, ""),
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.status, status, "{args:?}: {ran:?}");
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
        assert!(status == 0 || ran.out.is_empty(), "{args:?}: stdout holds results alone: {}", ran.out);
    }
}

#[test]
fn version_tells_this_program_from_others_of_its_name() {
    let sandbox = Sandbox::of("relay");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(sandbox.run(&["-V"]).out, format!("colgrep {version}\n"));
    let whole = sandbox.run(&["--version"]).out;
    assert!(whole.starts_with(&format!("colgrep {version}\nRanked code search")), "{whole}");
    assert!(whole.contains("Not the program called colgrep on crates.io"), "{whole}");
}

#[test]
fn a_named_file_that_is_not_indexed_is_told_with_the_reason() {
    let sandbox = Sandbox::of("relay");
    sandbox.write(".lint.yml", "linters: all\n");
    sandbox.write(".ci/lint.yml", "linters: all\n");
    sandbox.write(".ignore", "*.log\n");
    sandbox.write("run.log", "linters: all\n");
    sandbox.write("big.yml", &"linters: all\n".repeat(100_000));
    for (path, why) in [
        (".lint.yml", ".lint.yml is not indexed (hidden), so it is not ranked; `colgrep -e PATTERN .lint.yml` finds"),
        (".ci", ".ci is not indexed (hidden)"),
        ("run.log", "run.log is not indexed (ignored)"),
        ("big.yml", "big.yml is not indexed (larger than the size limit)"),
    ] {
        let ran = sandbox.run(&["linters", path]);
        assert!(ran.status == 1 && ran.err.contains(why), "{path}: {ran:?}");
        assert_eq!(sandbox.run(&["-e", "linters", path, "-q"]).status, 0, "what the remark names works: {path}");
    }
    sandbox.write("empty.yml", "\n");
    assert!(sandbox.run(&["linters", "empty.yml"]).err.contains("colgrep: empty.yml is empty; "));
    assert!(sandbox.run(&["linters", ".lint.yml"]).err.contains("`colgrep init --hidden` indexes"));
    sandbox.run(&["init", "--hidden"]);
    assert_eq!(sandbox.run(&["linters", ".lint.yml", "-l"]).out, ".lint.yml\n");
}

#[test]
fn without_update_the_index_is_taken_as_it_is() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run(&["parse", "--no-update"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("no index") && ran.err.contains("colgrep init"), "{}", ran.err);
    sandbox.run(&["init"]);
    sandbox.write("src/new.rs", "fn brand_new_gadget() {}\n");
    assert_eq!(sandbox.run(&["gadget", "--no-update"]).status, 1);
    assert_eq!(sandbox.run(&["gadget", "-l"]).out, "src/new.rs\n");
}

#[test]
fn knobs_count_and_bad_ones_are_refused() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run_with(&[("COLGREP_K1", "many")], &["parse"]);
    assert_eq!((ran.status, ran.err.trim_end()), (2, "colgrep: COLGREP_K1=many: expected a number from 0 to 10"));
    let ran = sandbox.run_with(&[("COLGREP_KEY1", "1")], &["parse"]);
    assert!(ran.status == 2 && ran.err.contains("did you mean COLGREP_K1?"), "{}", ran.err);
    let ran = sandbox.run_with(&[("COLGREP_K1", "2.5")], &["knobs"]);
    assert!(ran.out.contains("COLGREP_K1=2.5  (environment; 0 to 10)"), "{}", ran.out);
    let first = |vars: &[(&str, &str)]| sandbox.run_with(vars, &["parse request tests", "-l", "-k", "1"]).out;
    assert_eq!(first(&[]), first(&[("COLGREP_PROFILE", "default")]));
    assert!(sandbox.run(&["parse", "--profile", "classic"]).status == 0);
}

#[test]
fn the_trace_has_a_line_a_step() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run_with(&[("COLGREP_TRACE", "1")], &["parse request", "-k", "2"]);
    let lines = ran.err.lines().map(|l| l.strip_prefix("__COLGREP_TRACE__ ").expect("a trace line"));
    let steps: Vec<String> = lines
        .map(|l| {
            let line: serde_json::Value = serde_json::from_str(l).expect("JSON");
            assert_eq!(line["query"], "parse request");
            if line["step"] == "timing" {
                for part in ["lexical", "semantic", "fuse", "rank", "total"] {
                    assert!(line["ms"][part].is_number(), "000.20: no {part} in {line}");
                }
                return "timing".to_string();
            }
            assert!(line["scores"].is_array() && (line["ids"].is_array() || line["files"].is_array()));
            line["step"].as_str().expect("a step").to_string()
        })
        .collect();
    for step in [
        "bm25",
        "fused",
        "after_path_penalty",
        "after_path_stem_boost",
        "after_definition_boost",
        "after_coherence_boost",
        "final",
    ] {
        assert!(steps.iter().any(|s| s == step), "no {step} in {steps:?}");
    }
    assert_eq!(steps.last().map(String::as_str), Some("timing"));
    assert_eq!(sandbox.run(&["parse request"]).err, "");
}

#[test]
fn a_full_stderr_is_no_failure() {
    let sandbox = Sandbox::of("relay");
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let status = sandbox.command(&["init"]).stderr(full).status().expect("a binary that starts");
    assert_eq!(status.code(), Some(0));
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let ran = sandbox.command(&["--help"]).stdout(full).output().expect("a binary that starts");
    assert_eq!(ran.status.code(), Some(2), "but a full stdout is: {ran:?}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    use std::io::Read as _;
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", &"some line of text\n".repeat(40_000));
    let mut child = sandbox
        .command(&["-e", "line"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a binary");
    let mut out = child.stdout.take().expect("a pipe");
    let mut first = [0u8; 10];
    out.read_exact(&mut first).expect("some output");
    drop(out);
    let ended = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn a_name_is_shown_where_it_is_defined() {
    let sandbox = Sandbox::new();
    let mux = "pub struct Mux {\n    routes: Vec<String>,\n}\n\n\
               /// A Mux, which is a Mux for a mux of Mux routes.\npub fn new_mux(mux: Mux) -> Mux {\n    mux\n}\n";
    sandbox.write("src/mux.rs", mux);
    sandbox.write("src/use.rs", "/// The mux of the Mux.\nfn mux_of(mux: &Mux) -> &Mux { mux }\n");
    for (args, expected) in [
        (&["Mux", "-k", "1"][..], "src/mux.rs:1:pub struct Mux {\n"),
        (&["mux", "-k", "1"], "src/mux.rs:1:pub struct Mux {\n"),
        (&["new_mux", "-k", "1"], "src/mux.rs:6:pub fn new_mux(mux: Mux) -> Mux {\n"),
        (&["Mux", "-k", "1", "-e", "-> Mux"], "src/mux.rs:6:pub fn new_mux(mux: Mux) -> Mux {\n"),
    ] {
        assert_eq!(sandbox.run(args).out, expected, "{args:?}");
    }
}
