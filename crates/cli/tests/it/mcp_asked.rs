//! What agents ask for: lines of a file, parameters that go together, reasons for nothing, pages, roots that fail.

use crate::common::Sandbox;
use crate::common::mcp::{Client, address};
use crate::common::serve::Server;
use serde_json::{Value, json};

const QUEUE: &str = "src/queue.py";

/// A class with two methods, two functions, and a test.
fn queue() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        QUEUE,
        "MAX_OPEN = 5\n\nclass JobQueue:\n    def push(self, job):\n        self.jobs.append(job)\n        \
         notify(job)\n\n    def pop(self):\n        return self.jobs.pop()\n\ndef notify(job):\n    for l in LISTENERS:\n        \
         l(job)\n",
    );
    sandbox.write("tests/test_queue.py", "def test_push():\n    queue.push(3)\n");
    sandbox
}

/// The offset that an answer names for its next page.
fn next_offset(text: &str) -> Option<usize> {
    let (_, rest) = text.rsplit_once("offset ")?;
    rest.split_once(')')?.0.parse().ok()
}

/// All pages of a call, one after the other.
fn pages(client: &mut Client, asked: &Value) -> Vec<String> {
    let (mut pages, mut offset) = (Vec::new(), 0);
    loop {
        let mut page = asked.clone();
        page["offset"] = json!(offset);
        pages.push(client.good("search", page));
        match next_offset(pages.last().expect("a page")) {
            Some(next) if next > offset => offset = next,
            _ => return pages,
        }
    }
}

#[test]
fn lines_of_a_file_are_all_read() {
    let sandbox = queue();
    sandbox.write("long.py", &(1..=300).map(|n| format!("x{n} = {n}\n")).collect::<String>());
    let mut client = Client::start(&sandbox, &[]);
    for (lines, first, last) in [("1-99", "1-13", "13:         l(job)"), ("6-11", "6-11", "11: def notify(job):")] {
        let text = client.good("search", json!({"file": format!("{QUEUE}:{lines}")}));
        let (from, _) = first.split_once('-').expect("lines");
        assert!(
            text.starts_with(&format!("{QUEUE}:{first}\n{from}: ")) && text.ends_with(&format!("{last}\n")),
            "{text}"
        );
    }
    // The lines of a unit, as answers write them, and those around one line are that unit.
    for lines in ["4-6", "5", "5-5"] {
        let text = client.good("search", json!({"file": format!("{QUEUE}:{lines}")}));
        assert!(text.starts_with(&format!("{QUEUE}:4-6 method JobQueue.push\n")), "{lines}: {text}");
    }
    let pages = pages(&mut client, &json!({"file": "long.py:20-250", "max_tokens": 200}));
    let numbers: Vec<u32> =
        pages.iter().flat_map(|page| page.lines()).filter_map(|line| line.split_once(": x")?.0.parse().ok()).collect();
    assert_eq!(numbers, (20..=250).collect::<Vec<u32>>());
    assert!(pages.len() > 3 && pages.iter().all(|page| page.len() <= 800), "{} pages", pages.len());
    let (text, failed) = client.call("search", json!({"file": format!("{QUEUE}:90-99")}));
    assert!(failed && text.contains("has no line 90; it ends with line 13"), "{text}");
}

#[test]
fn what_has_no_effect_is_refused_with_what_it_stands_beside() {
    let sandbox = queue();
    let mut client = Client::start(&sandbox, &[]);
    let (name, place) = (json!({"name": "push"}), json!({"file": format!("{QUEUE}:4")}));
    let like = json!({"like": format!("{QUEUE}:4")});
    let calls = json!({"calls": "notify"});
    let by_name = "without effect beside `name`, which reads the unit";
    let by_place = "without effect beside a place (FILE:LINE, #id), which reads what is there";
    for (asked, added, why) in [
        (&name, json!({"query": "pop"}), format!("`query`: {by_name}")),
        (&name, json!({"pattern": "pop"}), format!("`pattern`: {by_name}")),
        (&name, json!({"calls": "notify", "near": QUEUE}), format!("`calls` and `near`: {by_name}")),
        (&name, json!({"queries": ["pop"]}), format!("`queries`: {by_name}")),
        (&name, json!({"depth": 2, "calls": "notify"}), format!("`calls` and `depth`: {by_name}")),
        (
            &name,
            json!({"results": 3, "lines": 2, "context": 1}),
            format!("`context` and `results` and `lines`: {by_name}"),
        ),
        (&calls, json!({"depth": 2, "content": true}), "`content`: without effect beside `depth`".to_string()),
        (&place, json!({"query": "pop"}), format!("`query`: {by_place}")),
        (&place, json!({"pattern": "pop"}), format!("`pattern`: {by_place}")),
        (&place, json!({"languages": ["go"]}), format!("`languages`: {by_place}")),
        (&like, json!({"query": "pop"}), "`query`: without effect beside `like`".to_string()),
        (&like, json!({"name": "pop"}), "`name`: without effect beside `like`".to_string()),
        (&calls, json!({"near": QUEUE}), "`near`: without effect beside `calls`, `called_by` or `kind`".to_string()),
        (&calls, json!({"depth": 2, "query": "pop"}), "`query`: without effect beside `depth`".to_string()),
        (&json!({"query": "pop"}), json!({"word": true}), "`word`: only with `pattern`".to_string()),
        (&json!({"query": "pop"}), json!({"fixed": true}), "`fixed`: only with `pattern`".to_string()),
        (
            &json!({"query": "pop"}),
            json!({"depth": 1, "calls": "notify", "ignore_case": true}),
            "`query` and `ignore_case`: without effect beside `depth`".to_string(),
        ),
        (&json!({"file": QUEUE}), json!({"tests": "only"}), "`tests`: without effect beside `file` alone".to_string()),
    ] {
        let mut asked = asked.clone();
        asked.as_object_mut().expect("an object").extend(added.as_object().expect("an object").clone());
        let (text, failed) = client.call("search", asked.clone());
        assert!(failed && text.contains(&why) && text.contains("leave "), "{asked}: {text}");
    }
    // What can be combined is.
    let refused = client.call("search", json!({"name": "push", "languages": ["go"]}));
    assert!(refused.1 && refused.0.contains("no file here passes `languages` go"), "{}", refused.0);
    assert!(client.good("search", json!({"name": "push", "languages": ["python"]})).contains("JobQueue.push"));
    assert!(client.call("search", json!({"name": "push", "file": QUEUE, "kind": "class"})).1);
    let within = json!({"like": format!("{QUEUE}:4"), "file": "tests"});
    assert!(!client.good("search", within).contains(QUEUE));
    assert!(client.good("search", json!({"calls": "NOTIFY", "ignore_case": true})).contains("JobQueue.push"));
    let few = client.good("search", json!({"pattern": "push", "results": 1}));
    assert!(few.contains(QUEUE) && !few.contains("tests/"), "{few}");
    for asked in [json!({"kind": "method"}), json!({"pattern": "pop", "query": "pop"}), like] {
        let with = |client: &mut Client, name: &str| {
            let mut asked = asked.clone();
            asked[name] = json!(1);
            client.good("search", asked)
        };
        let (around, plain) = (with(&mut client, "context"), client.good("search", asked.clone()));
        assert!(around == with(&mut client, "lines") && around != plain, "{asked}: {around}");
    }
}

#[test]
fn limits_that_a_named_file_passes_are_no_contradiction() {
    let sandbox = queue();
    let mut client = Client::start(&sandbox, &[]);
    let folder = QUEUE.rsplit_once('/').map_or(".", |(folder, _)| folder);
    for limit in [
        json!({"paths": [folder]}),
        json!({"paths": [QUEUE, "tests"]}),
        json!({"languages": ["python"]}),
        json!({"include": ["*.py"], "exclude": ["*.go"], "code_only": true, "tests": "exclude"}),
    ] {
        for asked in
            [json!({"file": QUEUE, "name": "push"}), json!({"file": QUEUE}), json!({"file": format!("{QUEUE}:4")})]
        {
            let alone = client.good("search", asked.clone());
            let mut both = asked.clone();
            both.as_object_mut().expect("an object").extend(limit.as_object().expect("an object").clone());
            assert_eq!(client.good("search", both.clone()), alone, "{both}");
        }
    }
    for limit in [json!({"paths": ["tests"]}), json!({"languages": ["go"]}), json!({"exclude": ["*.py"]})] {
        let mut asked = json!({"file": QUEUE, "name": "push"});
        asked.as_object_mut().expect("an object").extend(limit.as_object().expect("an object").clone());
        let (text, failed) = client.call("search", asked.clone());
        assert!(failed && text.contains("without effect beside `name`"), "{asked}: {text}");
    }
    // A file in a folder is what is searched.
    let text = client.good("search", json!({"query": "push", "file": QUEUE, "paths": ["."]}));
    assert!(text.contains(QUEUE) && !text.contains("tests/"), "{text}");
}

#[test]
fn a_name_is_that_of_a_unit_that_passes() {
    let sandbox = Sandbox::new();
    let tests = "#[cfg(test)]\nmod tests {\n    fn twice() {\n        super::twice();\n    }\n}\n";
    sandbox.write("src/lib.rs", &format!("pub fn twice() {{\n    once();\n}}\n\npub fn once() {{}}\n\n{tests}"));
    let mut client = Client::start(&sandbox, &[]);
    let mut read = |name: &str, tests: &str| client.call("search", json!({"name": name, "tests": tests})).0;
    assert!(read("twice", "only").starts_with("src/lib.rs:9-11 "), "{}", read("twice", "only"));
    assert!(read("twice", "exclude").starts_with("src/lib.rs:1-3 function twice\n"), "{}", read("twice", "exclude"));
    assert!(!read("twice", "exclude").contains("also of this name"), "{}", read("twice", "exclude"));
    assert!(read("once", "only").contains("no unit in what is searched is named \"once\""), "{}", read("once", "only"));
}

#[test]
fn a_name_that_several_units_of_a_file_have_shows_one_and_names_the_others() {
    let sandbox = Sandbox::new();
    let class = |name: &str| format!("class {name}:\n    def run(self):\n        return {name}\n\n\n");
    sandbox.write("a.py", &["A", "B", "C"].map(class).concat());
    let mut client = Client::start(&sandbox, &[]);
    let both = "(also of this name: a.py:7-8 method B.run; a.py:12-13 method C.run)";
    for (asked, first, others) in [
        (json!({"name": "run", "file": "a.py"}), "a.py:2-3 method A.run\n", both),
        (json!({"name": "B.run", "file": "a.py"}), "a.py:7-8 method B.run\n", ""),
        (json!({"name": "run", "file": "a.py:8"}), "a.py:7-8 method B.run\n", ""),
        (json!({"file": "a.py#L8"}), "a.py:7-8 method B.run\n", ""),
        (json!({"file": "a.py#L7-L8"}), "a.py:7-8 method B.run\n", ""),
    ] {
        let text = client.good("search", asked.clone());
        assert!(text.starts_with(first) && text.trim_end().ends_with(others), "{asked}: {text}");
        assert_eq!(text.contains("also of this name"), !others.is_empty(), "{asked}: {text}");
    }
}

#[test]
fn nothing_found_has_its_reason_in_every_protocol() {
    let sandbox = queue();
    let mut client = Client::start(&sandbox, &[]);
    let go = "(no file here passes `languages` go)";
    for (asked, why) in [
        (json!({"query": "push", "include": ["*.rs"]}), "(no file here passes `include` *.rs)"),
        (json!({"query": "push", "languages": ["go"]}), go),
        (json!({"query": "lang:go push"}), go),
        (json!({"pattern": "push", "include": ["*.rs"]}), "(no file here passes `include` *.rs)"),
        (json!({"pattern": "push\\|pop"}), "the operator has no backslash: a|b"),
        (json!({"calls": "notify", "languages": ["go"]}), go),
        (json!({"calls": "notify", "depth": 2, "languages": ["go"]}), go),
        (json!({"like": format!("{QUEUE}:4"), "languages": ["go"]}), go),
        (json!({"calls": "nobody"}), "(there is no definition here that calls nobody)"),
        (json!({"query": "push", "offset": 50}), "(no further result: there "),
        (json!({"calls": "notify", "offset": 50}), "(no further unit: there is 1 unit)"),
        (json!({"pattern": "push", "offset": 50}), "(no further line: there are 3 lines)"),
    ] {
        let text = client.good("search", asked.clone());
        assert!(text.contains(why) && !text.contains("nothing in what"), "{asked}: {text}");
    }
    let server = Server::start(&sandbox, &[]);
    server.ready();
    let answer = server.get("/api/v1/search?query=push&languages=go", &[]);
    assert!(answer.json()["answer"].as_str().is_some_and(|text| text.contains(go)), "{answer:?}");
    let page = server.good("/page/results", &json!({"query": "lang:go push"}));
    assert_eq!(page["remarks"], json!(["no file here passes Language go"]), "{page}");
}

#[test]
fn pages_of_a_list_reach_every_unit_once() {
    let sandbox = Sandbox::new();
    for file in 0..3 {
        let units = |n: usize| format!("def call_{file}_{n}():\n    target()\n\n");
        sandbox.write(&format!("f{file}.py"), &(0..20).map(units).collect::<String>());
    }
    let mut client = Client::start(&sandbox, &[]);
    for asked in [
        json!({"calls": "target", "max_tokens": 100}),
        json!({"kind": "function", "max_tokens": 150, "results": 1000}),
        json!({"kind": "function", "max_tokens": 150, "results": 1}),
        json!({"calls": "target", "max_tokens": 120, "content": true}),
    ] {
        let pages = pages(&mut client, &asked);
        let heads = pages.iter().flat_map(|page| page.lines()).filter(|line| line.contains(" function call_"));
        let names: Vec<&str> = heads.filter_map(|line| line.rsplit(' ').next()).collect();
        let expected: Vec<String> = (0..3).flat_map(|file| (0..20).map(move |n| format!("call_{file}_{n}"))).collect();
        assert_eq!(names, expected, "{asked}");
        assert!(pages.len() > 5 && pages.iter().all(|page| !page.contains("(cut;")), "{asked}");
    }
}

#[test]
fn a_client_without_usable_roots_is_told_what_is_searched() {
    let (sandbox, start) = (Sandbox::new(), tempfile::tempdir().expect("a folder"));
    let start = start.path().canonicalize().expect("a path");
    std::fs::create_dir(start.join(".git")).expect("a folder");
    std::fs::write(start.join("a.py"), "def zebra():\n    return 1\n").expect("a file");
    let (file, gone) = (start.join("a.py"), start.join("gone"));
    let instead = format!("searched instead: {}", start.display());
    let zebra = json!({"query": "zebra"});
    for (answer, why) in [
        (json!({"error": {"code": -32603, "message": "boom"}}), "it refuses roots/list: boom"),
        (json!({"result": {}}), "can't be read"),
        (json!({"result": {"roots": "x"}}), "can't be read"),
        (json!({"result": {"roots": [{"name": "x"}]}}), "can't be read"),
        (Value::Null, "it does not answer roots/list"),
        (json!({"result": {"roots": [{"uri": address(&gone)}]}}), "no root of the client can be searched"),
        (json!({"result": {"roots": [{"uri": address(&file)}]}}), "no root of the client can be searched"),
        (json!({"result": {"roots": [{"uri": "https://example.org/"}]}}), "no root of the client can be searched"),
    ] {
        let mut client = Client::in_folder(&sandbox, &start, Some(&[]));
        client.roots_answer = Some(answer.clone());
        for (tool, asked) in [("search", zebra.clone()), ("outline", json!({"file": "a.py"}))] {
            let text = client.good(tool, asked);
            assert!(text.contains("zebra") && text.contains(why) && text.contains(&instead), "{answer}: {text}");
        }
    }
    let mut client = Client::in_folder(&sandbox, &start, Some(&[]));
    client.roots_answer = Some(json!({"result": {"roots": [{"uri": format!("FILE:{}", start.display())}]}}));
    let text = client.good("search", zebra.clone());
    assert!(text.contains("zebra") && !text.contains("instead"), "{text}");
    // As programs write them that know nothing of addresses.
    for name in ["my project", "a#b", "100%", "50%25x", "naïve"] {
        let root = start.join(name);
        std::fs::create_dir(&root).expect("a folder");
        std::fs::write(root.join("a.py"), "def zebra():\n    return 1\n").expect("a file");
        let mut client = Client::in_folder(&sandbox, &start, Some(&[]));
        client.roots_answer = Some(json!({"result": {"roots": [{"uri": format!("file://{}", root.display())}]}}));
        let text = client.good("search", zebra.clone());
        assert!(text.contains("zebra") && !text.contains("instead"), "{name}: {text}");
    }
    // Without sessions, roots are asked for with each call.
    let mut client = Client::without_session(&sandbox, &start, &[]);
    for answer in [Value::Null, json!("x"), json!({"error": {"message": "boom"}}), json!({"roots": [{}]})] {
        let answers = json!({"roots": answer});
        let result = client.stateless("search", zebra.clone(), json!({"roots": {}}), answers);
        assert!(result.to_string().contains(&instead), "{answer}: {result}");
    }
}
