//! Documents: sections, their keywords and entities, the line that is shown of them.

use crate::common::Sandbox;
use serde_json::Value;

const RST: &str = "\
=====
Guide
=====

Timeouts
--------

A request that takes longer than 30 seconds is given up. The limit holds for the whole exchange, from the first byte \
that is sent to the last that is read, and ``set_timeout`` of the WebSocket client changes it.

Retries
~~~~~~~

What fails is sent again, at most three times, and each pause is twice as long as the one before it::

    # Pauses
    # ------
    client.retry(times=3)

Logging
-------

Lines go to the file that the setting names, and a new file begins each day at midnight, when the old one is packed.
";

fn guide() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("docs/guide.rst", RST);
    sandbox.write(
        "docs/scaling.adoc",
        "= Scaling\n\nThe Kubernetes autoscaler adds nodes when pods of the cluster can't be placed. Kubernetes itself \
         knows nothing of the cloud, so the autoscaler asks it.\n\n== Limits\n\nSet `minNodes` and `maxNodes`, so that \
         the autoscaler neither empties a pool of nodes nor fills the whole account with machines that are idle.\n",
    );
    sandbox.write("NOTES.txt", "Release\n=======\n\nTag the commit, push it, and wait for the builds.\n");
    sandbox
}

fn outline(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    let ran = sandbox.run(&["outline", file, "--json"]);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err))
}

#[test]
fn sections_have_their_headings_names_and_lines() {
    let sandbox = guide();
    let names = |file: &str| -> Vec<String> {
        let row = |unit: &Value| format!("{} {}", unit["line"], unit["qualified_name"].as_str().unwrap_or_default());
        outline(&sandbox, file).iter().map(row).collect()
    };
    assert_eq!(
        names("docs/guide.rst"),
        ["2 Guide", "5 Guide.Timeouts", "10 Guide.Timeouts.Retries", "19 Guide.Logging"]
    );
    assert_eq!(names("docs/scaling.adoc"), ["1 Scaling", "5 Scaling.Limits"]);
    assert_eq!(names("NOTES.txt"), ["1 Release"]);
}

#[test]
fn a_section_is_shown_by_its_heading() {
    let sandbox = guide();
    for (query, expected) in [
        ("how long may an exchange take", "docs/guide.rst:5:Timeouts"),
        ("pauses between attempts", "docs/guide.rst:10:Retries"),
        ("a pool without nodes", "docs/scaling.adoc:5:== Limits"),
        ("push the tag", "NOTES.txt:1:Release"),
        // A verbatim match is shown itself.
        ("a new file begins each day at midnight", "docs/guide.rst:22:"),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        let first = ran.out.lines().next().unwrap_or_default();
        assert!(first.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn a_heading_stands_before_what_links_to_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "README.md",
        "# Tool\n\n* [Retry policy](#retry-policy)\n* [RETRY_MAX](#retry_max)\n* [`[server.tls]`](#servertls)\n\n\
         See RETRY_MAX.\n\n## Retry policy\n\nFive times.\n\n## RETRY_MAX\n\nFive.\n\n## `[server.tls]` section\n\n\
         Keys.\n",
    );
    for (query, expected) in [
        ("RETRY_MAX", "README.md:13:## RETRY_MAX"),
        ("\"Retry policy\"", "README.md:9:## Retry policy"),
        ("[server.tls]", "README.md:17:"),
        // Text that no heading contains.
        ("\"See RETRY_MAX.\"", "README.md:7:See RETRY_MAX."),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn keywords_stand_in_the_outline() {
    let units = outline(&guide(), "docs/scaling.adoc");
    let keywords = |unit: &Value| -> Vec<String> {
        let words = unit["keywords"].as_array().expect("a list");
        words.iter().map(|word| word.as_str().expect("a keyword").to_lowercase()).collect()
    };
    let first = keywords(&units[0])[..3].join(" ");
    assert!(first.contains("autoscaler") && first.contains("kubernetes"), "{first}");
    assert!(units.iter().all(|unit| keywords(unit).iter().all(|words| words.split(' ').count() <= 3)), "{units:?}");
}

#[test]
fn entities_have_labels_of_their_own() {
    let sandbox = guide();
    let units = outline(&sandbox, "docs/guide.rst");
    let timeouts = &units[1]["entities"];
    assert_eq!(timeouts["code"], serde_json::json!(["set_timeout"]));
    assert_eq!(timeouts["name"], serde_json::json!(["WebSocket"]));
    assert_eq!(timeouts["quantity"], serde_json::json!(["30 seconds"]));
    let keywords = units[1]["keywords"].to_string();
    assert!(!keywords.contains("set_timeout"), "{keywords}");
    // A short section has no keywords, but the entities in it.
    sandbox.write("docs/short.adoc", "= Short\n\n== Timeouts\n\n`REQUEST_TIMEOUT` is 30 seconds.\n");
    let short = &outline(&sandbox, "docs/short.adoc")[1];
    assert_eq!(short["keywords"], serde_json::json!([]));
    assert_eq!(short["entities"], serde_json::json!({"code": ["REQUEST_TIMEOUT"], "quantity": ["30 seconds"]}));
    // 002.20: text without either, and code, has neither.
    sandbox.write("run.py", "def run():\n    \"\"\"Runs it.\"\"\"\n");
    for unit in outline(&sandbox, "NOTES.txt").iter().chain(&outline(&sandbox, "run.py")) {
        assert_eq!((&unit["keywords"], &unit["entities"]), (&serde_json::json!([]), &serde_json::json!({})), "{unit}");
    }
}

#[test]
fn the_enriched_text_has_its_head_an_empty_line_and_the_content() {
    let sandbox = guide();
    let printed = sandbox.run(&["outline", "docs/scaling.adoc", "--enriched"]).out;
    let (head, content) = printed.split_once("\n\n").expect("an empty line");
    let (keywords, entities) = (head.split(", ").count(), head.contains('|'));
    assert!((1..=7).contains(&keywords) && !entities && !head.contains('\n'), "{head}");
    assert!(content.starts_with("= Scaling\n\nThe Kubernetes autoscaler"), "{content}");
    assert!(content.contains(" | minNodes, maxNodes\n\n== Limits\n"), "{content}");
    // Without either, the text is unchanged.
    let plain = sandbox.run(&["outline", "NOTES.txt", "--enriched"]).out;
    assert_eq!(plain, "Release\n=======\n\nTag the commit, push it, and wait for the builds.\n");
    let json = sandbox.run(&["outline", "NOTES.txt", "--enriched", "--json"]).out;
    assert!(json.contains("\"enriched\": \"Release\\n=======\\n\\nTag"), "{json}");
}

#[test]
fn keywords_of_a_section_find_it_and_a_knob_switches_them_off() {
    let sandbox = guide();
    let score = |weight: &str| -> f64 {
        let args = ["autoscaler", "--keyword-only", "--json", "--explain"];
        let ran = sandbox.run_with(&[("COLGREP_KEYWORD_WEIGHT", weight)], &args);
        let answers: Value = serde_json::from_str(&ran.out).expect("JSON");
        let steps = answers[0]["explain"].as_array().or(answers[0]["units"][0]["explain"].as_array()).cloned();
        let first = steps.into_iter().flatten().next().unwrap_or_else(|| panic!("{answers}"));
        first["score"].as_f64().unwrap_or_else(|| panic!("{first}"))
    };
    let (off, on, twice) = (score("0"), score("1"), score("2"));
    assert!(off < on && on < twice, "{off} {on} {twice}");
}

#[test]
fn cells_of_notebooks_are_found_on_lines_of_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "plan.ipynb",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [{\"text\": \"def ghost_walk\"}],\n   \
         \"source\": [\n    \"import os\\n\",\n    \"def load_waits(path):\\n\",\n    \"    return path\"\n   ]\n  }\n ]\n}\n",
    );
    let found = sandbox.run(&["load_waits"]);
    assert!(found.out.starts_with("plan.ipynb:8:") && found.out.contains("def load_waits"), "{}", found.out);
    assert_eq!(sandbox.run(&["ghost_walk", "--keyword-only"]).out, "", "outputs are no source");
}

#[test]
fn an_index_serves_other_processes_from_whatever_volume() {
    let sandbox = guide();
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let elsewhere = sandbox.root().with_file_name("volume");
    std::fs::rename(sandbox.data(), &elsewhere).expect("a folder that moves");
    let volume = elsewhere.to_str().expect("UTF-8");
    let again = sandbox.run_with(&[("COLGREP_DATA_DIR", volume)], &["init"]);
    assert!(again.status == 0 && again.err.contains("nothing changed"), "{}", again.err);
    let found = sandbox.run_with(&[("COLGREP_DATA_DIR", volume)], &["pauses between attempts", "-k", "1"]);
    assert!(found.out.starts_with("docs/guide.rst:10:"), "{} {}", found.out, found.err);
    assert!(!sandbox.data().exists(), "nothing was made where it was");
}

#[test]
fn sections_of_a_documentation_stand_for_themselves() {
    let sandbox = guide();
    // One answer is one section; of more, several may be of one page, which stays one result.
    assert_eq!(sandbox.run(&["how are requests limited and sent again", "-k", "1"]).out.lines().count(), 1);
    let ran = sandbox.run(&["requests limited and sent again", "-k", "3"]);
    let of_guide = ran.paths().iter().filter(|path| **path == "docs/guide.rst").count();
    assert!(of_guide > 1 && of_guide <= 3, "{}", ran.out);
    let one = sandbox.run(&["requests limited and sent again", "-k", "3", "--per-file", "1"]);
    assert_eq!(one.paths().iter().filter(|path| **path == "docs/guide.rst").count(), 1, "{}", one.out);
    // Where there is code, a file has one line.
    for n in 0..40 {
        sandbox.write(&format!("src/part{n}.py"), "def limited(requests):\n    return sent(again(requests))\n");
    }
    let ran = sandbox.run(&["requests limited and sent again", "-k", "50", "--all"]);
    assert_eq!(ran.paths().iter().filter(|path| **path == "docs/guide.rst").count(), 1, "{}", ran.out);
}
