//! The ranking by meaning, with the model in the program.

use std::fs;
use std::path::PathBuf;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use colgrep_index::store::Store;
use serde_json::json;

fn relay() -> Sandbox {
    Sandbox::of("relay").with_meaning()
}

#[test]
fn words_that_are_not_the_codes_find_it() {
    let sandbox = relay();
    let ran =
        sandbox.run(&["buffer of fixed size that drops the oldest entry when full", "-k", "3", "--semantic-only"]);
    assert!(ran.status == 0 && ran.paths().contains(&"src/queue/ring.rs"), "{ran:?}");
    let explained = sandbox.run(&["parse request", "-k", "1", "--explain"]);
    assert!(explained.out.contains("semantic") && explained.paths()[0] == "src/http/parse.rs", "{explained:?}");
}

#[test]
fn the_only_line_with_the_word_is_shown() {
    let sandbox = relay();
    let words = ["retry", "throttle", "evict", "jitter", "quota", "sanitize"];
    for i in 0..12 {
        let texts = words.map(|word| format!("/// To {word} it.\npub fn {word}_{i}() {{}}\n"));
        sandbox.write(&format!("src/other{i}.rs"), &texts.join("\n"));
    }
    for path in ["src/http/server.rs", "src/http/parse.rs", "src/queue/ring.rs", "web/api.ts"] {
        let text = fs::read_to_string(sandbox.root().join(path)).expect("a file");
        for word in words {
            sandbox.write(path, &format!("{text}// {word}\n"));
            let ran = sandbox.run(&[word, path, "-k", "1"]);
            let line = 1 + text.lines().count();
            assert!(ran.out.starts_with(&format!("{path}:{line}:// {word}")), "{path} {word}: {ran:?}");
        }
        sandbox.write(path, &text);
    }
}

#[test]
fn the_halves_side_by_side_answer_as_one_behind_the_other() {
    let sandbox = relay();
    sandbox.run(&["init"]);
    let ask = |threads: &str| {
        sandbox.run_with(&[("RAYON_NUM_THREADS", threads)], &["parse request", "--json", "-k", "5"]).out
    };
    let one = ask("1");
    assert!(one.contains("src/http/parse.rs"), "{one}");
    assert_eq!(ask("4"), one);
}

#[test]
fn vectors_are_kept_once_and_only_where_wanted() {
    let sandbox = relay();
    let first = sandbox.run(&["init"]);
    assert!(first.status == 0 && first.err.contains("texts encoded"), "{first:?}");
    let again = sandbox.run(&["init"]);
    assert!(again.err.contains("nothing changed"), "{again:?}");
    sandbox.write("src/queue/ring.rs", "//! A queue.\n\npub fn push() {}\n");
    let changed = sandbox.run(&["init"]);
    assert!(changed.err.contains("had theirs already") && !changed.err.contains("have none"), "{changed:?}");
    let lite = relay();
    for mode in ["lite", "keyword"] {
        let ran = lite.run(&["init", "--index-mode", mode]);
        assert!(ran.status == 0 && !ran.err.contains("encoded"), "{ran:?}");
        assert_eq!(lite.run(&["parse request", "-k", "1", "--index-mode", mode]).paths(), ["src/http/parse.rs"]);
    }
}

#[test]
fn the_mode_that_init_was_told_is_kept_with_the_index() {
    let sandbox = relay();
    let status =
        || -> serde_json::Value { serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON") };
    let explained = |flags: &[&str]| sandbox.run(&[&["parse request", "-k", "1", "--explain"], flags].concat()).out;
    sandbox.run(&["init"]);
    assert_eq!((&status()["index_mode"], &status()["vectors"]["with_vectors"]), (&"full".into(), &status()["units"]));
    let dropped = sandbox.run(&["init", "--index-mode", "keyword"]);
    assert!(dropped.err.contains("in mode keyword from now on: its vectors are dropped"), "{dropped:?}");
    assert!(files(index(&sandbox).join("vectors"), "seg").is_empty());
    sandbox.write("src/new.rs", "pub fn brand_new_gadget() {}\n");
    assert!(!explained(&[]).contains("semantic"), "a plain search follows the index");
    assert!(sandbox.run(&["status"]).out.contains("\nmode      keyword\nvectors   none"), "and makes no vectors");
    assert!(explained(&["--index-mode", "lite"]).contains("semantic"), "a flag goes before the index");
    assert!(sandbox.run(&["settings", "index_mode"]).out.starts_with("index_mode = keyword  (the index"));
    sandbox.run(&["init", "--index-mode", "lite", "--hidden"]);
    assert!(explained(&[]).contains("semantic") && status()["vectors"].is_null());
    assert_eq!(status()["index_mode"], "lite", "a new index keeps it too");
    assert!(sandbox.run(&["init", "--index-mode", "lite", "--hidden"]).err.contains("nothing changed"));
    // A setting works like the flag, and init without either resets to the default.
    sandbox.write(".colgrep.toml", "index_mode = \"keyword\"\n");
    sandbox.run(&["init"]);
    assert_eq!(status()["index_mode"], "keyword");
    sandbox.write(".colgrep.toml", "");
    sandbox.run(&["init"]);
    assert_eq!((&status()["index_mode"], &status()["vectors"]["with_vectors"]), (&"full".into(), &status()["units"]));
}

#[test]
fn servers_keep_to_the_mode_of_the_index() {
    let sandbox = relay();
    for mode in ["keyword", "lite"] {
        assert_eq!(sandbox.run(&["init", "--index-mode", mode]).status, 0);
        let mut client = Client::start(&sandbox, &[]);
        let told = client.good("search", json!({"query": "parse request"}));
        assert!(told.contains("src/http/parse.rs:") && !told.contains("no vectors"), "{mode}: {told}");
        client.end();
    }
}

#[test]
fn the_share_of_units_with_vectors_is_told() {
    let sandbox = relay();
    sandbox.run(&["init", "--index-mode", "lite"]);
    assert!(sandbox.run(&["status"]).out.contains("vectors   none"));
    sandbox.run(&["init"]);
    let status = sandbox.run(&["status"]).out;
    assert!(status.contains(", of colgrep-mixer-3\n"), "{status}");
    let status: serde_json::Value = serde_json::from_str(&sandbox.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(status["vectors"]["with_vectors"], status["units"]);
    // New words without their vectors, as while another process makes them.
    sandbox.write("src/new.rs", "pub fn brand_new_gadget() {}\n");
    sandbox.run(&["gadget", "--keyword-only"]);
    let status = sandbox.run(&["status"]).out;
    assert!(status.contains(", of colgrep-mixer-3; `colgrep init` makes the rest"), "{status}");
    assert!(sandbox.run(&["doctor"]).out.contains("`colgrep init` makes the rest"));
    let index = std::fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    let lock = std::fs::File::open(index.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    let ran = sandbox.run(&["gadget", "-l", "-k", "1"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "src/new.rs\n"), "{ran:?}");
    assert!(!ran.err.contains("words alone"), "each search would repeat it while vectors are made: {ran:?}");
}

#[test]
fn others_like_a_unit_are_near_its_vectors() {
    let sandbox = relay();
    let alike = "def read_settings(path):\n    with open(path) as stream:\n        return parse(stream.read())\n";
    sandbox.write("a.py", alike);
    sandbox.write("b.py", &alike.replace("settings", "options").replace("stream", "handle"));
    let ran = sandbox.run(&["--like", "a.py:2", "-k", "9", "--json", "--explain"]);
    let rows: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let mut near: Vec<(f64, &str)> = Vec::new();
    for row in rows.as_array().expect("rows") {
        let steps = row["explain"].as_array().expect("steps");
        let step = steps.iter().find(|s| s["step"] == "semantic").unwrap_or_else(|| panic!("no semantic step: {row}"));
        near.push((step["score"].as_f64().expect("a score"), row["unit"]["file"].as_str().expect("a file")));
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    assert_eq!(near[0].1, "ROOT/b.py", "{near:?}");
    assert!(near[0].0 > near[1].0 && near[0].0 > 1.0, "{near:?}");
}

#[test]
fn an_index_without_vectors_ranks_by_meaning_all_the_same() {
    let lite = relay();
    assert_eq!(lite.run(&["init", "--index-mode", "lite"]).status, 0);
    let ask = ["buffer that drops the oldest entry when full", "-k", "3", "--index-mode", "lite", "--explain"];
    let ran = lite.run(&ask);
    assert!(ran.out.contains("semantic") && ran.paths().contains(&"src/queue/ring.rs"), "{ran:?}");
    let status: serde_json::Value = serde_json::from_str(&lite.run(&["status", "--json"]).out).expect("JSON");
    assert!(status["vectors"].is_null() && status["units"].as_u64() > Some(10), "{status}");
    // The same folder with vectors: the lexical half stays, each unit gets its own.
    lite.run(&["init"]);
    let status: serde_json::Value = serde_json::from_str(&lite.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(status["vectors"]["with_vectors"], status["vectors"]["units"]);
    assert_eq!(status["vectors"]["units"], status["units"]);
    assert!(lite.run(&["status"]).out.contains("\nvectors   "));
    let healthy = lite.run(&["doctor"]);
    assert!(healthy.out.contains("units have vectors of"), "{healthy:?}");
}

#[test]
fn a_word_that_stands_nowhere_is_not_found() {
    let sandbox = relay();
    for args in [&["zzzqqq"][..], &["zzzqqq", "--count"]] {
        assert_eq!(sandbox.run(args).status, 1, "{args:?}");
    }
    let without = sandbox.run(&["RingBuffer", "-L", "src/queue", "src/http"]);
    assert!(without.status == 0 && without.out.contains("src/http/parse.rs"), "{without:?}");
}

fn index(sandbox: &Sandbox) -> PathBuf {
    fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path()
}

fn files(folder: PathBuf, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

#[test]
fn a_damaged_unit_costs_its_segment_and_nothing_else() {
    let sandbox = relay();
    sandbox.run(&["init"]);
    let folder = index(&sandbox);
    assert!(files(folder.join("vectors"), "bin").is_empty(), "the program carries its codebook");
    let documents = files(folder.join("lexical"), "idx");
    for (args, found) in [
        (&["parse request", "-k", "1"][..], "src/http/parse.rs"),
        (&["--like", "src/queue/ring.rs:10", "-k", "1", "--semantic-only"], "src/"),
    ] {
        let expected = sandbox.run(args);
        let segment = files(folder.join("vectors"), "seg").remove(0);
        let mut bytes = fs::read(&segment).expect("a segment");
        // Codes come last.
        let codes = bytes.len() * 2 / 3;
        bytes[codes..].iter_mut().for_each(|b| *b ^= 1);
        fs::remove_file(&segment).expect("removed");
        fs::write(&segment, bytes).expect("written");
        let ran = sandbox.run(args);
        assert!(ran.status == 0 && ran.out.starts_with(found) && ran.out == expected.out, "{ran:?}");
        assert!(ran.err.contains("rebuilding what is damaged") && !ran.err.contains("clear"), "{ran:?}");
        assert_eq!(files(folder.join("lexical"), "idx"), documents, "words and structure stay");
        assert_eq!(sandbox.run(args).err, "");
    }
}

#[test]
fn what_the_ranking_by_meaning_lacks_is_said() {
    let sandbox = relay();
    let ask = |flags: &[&str]| sandbox.run(&[&["parse request", "-l"], flags].concat());
    ask(&["--keyword-only"]);
    let none = "the index has no vectors of the embedded model";
    assert!(ask(&["--no-update"]).err.contains(none));
    let busy = {
        let _lock = Store::new(index(&sandbox)).lock(true).expect("the lock");
        ask(&[])
    };
    assert!(busy.status == 0 && busy.err.contains(none) && busy.err.contains("another colgrep makes"), "{busy:?}");
    for flags in [&["--keyword-only"][..], &["--index-mode", "lite"], &["--no-update", "--index-mode", "keyword"]] {
        assert_eq!(ask(flags).err, "", "{flags:?}");
    }
    assert_eq!((ask(&[]).err.as_str(), ask(&["--no-update"]).err.as_str()), ("", ""));
    fs::remove_dir_all(index(&sandbox).join("vectors")).expect("removed");
    let damaged = ask(&["--no-update"]);
    assert!(damaged.status == 0 && damaged.err.contains("`colgrep init` rebuilds the vectors"), "{damaged:?}");
    assert_eq!((ask(&[]).err.as_str(), ask(&["--no-update"]).err.as_str()), ("", ""));
}

#[test]
fn a_repositorys_file_fetches_no_model() {
    let sandbox = relay();
    let hub = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    hub.set_nonblocking(true).expect("a listener");
    let endpoint = format!("http://{}", hub.local_addr().expect("an address"));
    let vars = [("HF_ENDPOINT", endpoint.as_str())];
    sandbox.write(".colgrep.toml", "model = \"someorg/some-model\"\n");
    assert_eq!(sandbox.run(&["settings", "--trust"]).status, 0);
    for args in [&["parse request"][..], &["init"]] {
        let ran = sandbox.run_with(&vars, args);
        assert!(
            ran.status == 2 && ran.err.contains("ROOT/.colgrep.toml names the model someorg/some-model"),
            "{ran:?}"
        );
        assert!(ran.err.contains("`colgrep init --model someorg/some-model` fetches it"), "{ran:?}");
    }
    assert!(hub.accept().is_err(), "somebody asked the hub");
    assert_eq!(sandbox.run_with(&vars, &["parse request", "--model", "default", "-l", "-k", "1"]).status, 0);
    // A folder is meant from the file's own.
    sandbox.write("models/tiny/tokenizer.json", "{}");
    sandbox.write(".colgrep.toml", "model = \"models/tiny\"\n");
    assert_eq!(sandbox.run(&["settings", "--trust"]).status, 0);
    let below = sandbox.command(&["parse request"]).current_dir(sandbox.root().join("src")).output();
    let below = crate::common::Ran::of(below.expect("a run"), &sandbox.root());
    assert!(below.status == 2 && below.err.contains("ROOT/models/tiny"), "{below:?}");
    let set = sandbox.run(&["set-model", "default"]);
    assert!(set.status == 0 && set.err.contains("ROOT/.colgrep.toml names a model too, and goes before it"), "{set:?}");
}
