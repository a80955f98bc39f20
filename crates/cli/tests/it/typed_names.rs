//! A name as people type it: which line shows it, what denies it, and in what spelling it is found.

use crate::common::{Sandbox, git, leads};

const RING: &str = "#ifndef ACME_NET_RING_H_\n#define ACME_NET_RING_H_\n\nnamespace acme {\nnamespace net {\n\
    class Ring {\n  void Push(int h);\n};\n}  // namespace net\n}  // namespace acme\n#endif  // ACME_NET_RING_H_\n";

#[test]
fn the_line_shown_holds_the_name_in_any_case() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.h", RING);
    sandbox
        .write("crc.c", "#if defined(ACME_TEST_MAIN)\nint main(int argc, char **argv) {\n  return argc;\n}\n#endif\n");
    sandbox.write(
        "doc.md",
        "# Moving on\n\n## What was renamed\n\nSome text here.\n\n* `animationObject` is now `anim`\n",
    );
    // Where the best block of a text has the words alone, another has the name.
    let near = "/* ACME QUEUE COUNT key specs: ACME QUEUE key specs */\n".repeat(60);
    sandbox.write("commands.txt", &format!("first\n{}ACME_QUEUE_COUNT_Specs\n{near}", "\n".repeat(48)));
    for (query, file) in [
        ("acme_net_ring_h_", "ring.h"),
        ("acme_test_main", "crc.c"),
        ("animationobject", "doc.md"),
        ("acme_queue_count_specs", "commands.txt"),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        let line = ran.out.lines().next().unwrap_or_default().to_lowercase();
        assert!(line.starts_with(file) && line.contains(query), "{query}: {ran:?}");
    }
}

#[test]
fn every_name_of_a_long_declaration_has_its_line() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..40).map(|n| format!("field{}{}_v = 0", n / 10, n % 10)).collect();
    sandbox.write("e.c", &format!("int {};\n", names.join(",\n    ")));
    for (query, line) in [("field03_v", 4), ("field39_v", 40), ("FIELD39_V", 40)] {
        let ran = sandbox.run(&[query]);
        assert!(ran.out.starts_with(&format!("e.c:{line}:")), "{query}: {ran:?}");
    }
}

#[test]
fn a_name_of_stop_words_alone_is_a_name() {
    let sandbox = Sandbox::new();
    sandbox.write("a.yml", "first: 1\nx: \"ToDo\"\ny: can_be\n");
    sandbox.write("b.py", "def other():\n    pass\n");
    for (query, line) in [("toDo", 2), ("to_do", 2), ("ToDo", 2), ("can-be", 3)] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.status == 0 && ran.out.starts_with(&format!("a.yml:{line}:")), "{query}: {ran:?}");
    }
}

#[test]
fn a_stop_word_alone_has_one_answer_in_every_form() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        let text =
            format!("using System;\nnamespace A{n} {{ public class C{n} {{ int G() {{ return this.x; }} }} }}\n");
        sandbox.write(&format!("C{n}.cs"), &text);
    }
    for query in ["using", "this"] {
        for flags in [&[][..], &["-l"], &["-q"], &["--count"], &["--json"]] {
            let ran = sandbox.run(&[&[query], flags].concat());
            assert_eq!(ran.status, 0, "{query} {flags:?}: {ran:?}");
        }
    }
}

#[test]
fn what_only_a_secret_holds_is_not_denied() {
    let sandbox = Sandbox::new();
    sandbox.write("cert.pem", "zpem_secret\n");
    sandbox.write("b.py", "x = 1\n");
    sandbox.write("keys/a.pem", "zpem_more\n");
    git(&sandbox, &["init", "-q"]);
    let folder = sandbox.run(&["zpem_more", "keys"]);
    assert!(folder.err.contains("keys is not indexed (looks like a secret)"), "{folder:?}");
    let ran = sandbox.run(&["zpem_secret"]);
    assert!(ran.status == 1 && ran.out.is_empty() && !ran.err.contains("nothing"), "{ran:?}");
    assert!(ran.err.contains("(files that look like secrets) holds \"zpem_secret\""), "{ran:?}");
    let denied = sandbox.run(&["zpem_other"]);
    assert!(denied.err.contains("nothing here holds \"zpem_other\""), "{denied:?}");
}

#[test]
fn a_denial_within_a_filter_names_it() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.py", "def alpha_zed(x):\n    return x\n");
    sandbox.write("docs/a.md", "# Title\n\nText of it.\n");
    for (args, limits) in
        [(&["-g", "*.md"][..], "--include '*.md'"), (&["docs"], "docs"), (&["-T", "python"], "-T python")]
    {
        let ran = sandbox.run(&[&["alpha_zed"], args].concat());
        let told = format!("nothing within `{limits}` holds \"alpha_zed\", but other parts of the project do");
        assert!(ran.status == 1 && ran.err.contains(&told), "{args:?}: {ran:?}");
    }
    let ran = sandbox.run(&["beta_zed", "docs"]);
    assert!(ran.err.contains("nothing here holds \"beta_zed\""), "{ran:?}");
}

#[test]
fn a_byte_order_mark_before_a_query_is_no_part_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.cs", "#nullable enable\nclass A {}\n");
    let ran = sandbox.run(&["\u{feff}#nullable"]);
    assert!(ran.status == 0 && ran.out.starts_with("a.cs:1:") && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn a_dotted_name_is_found_where_its_parts_are_joined() {
    let sandbox = Sandbox::new();
    sandbox
        .write("src/pay.py", "import os\n\n\ndef charge(amount):\n    return os.environ[\"STRIPE_API_KEY\"], amount\n");
    sandbox.write("web/conf.ts", "export const settings = {\n  springDatasourceUrl: \"jdbc:x\",\n  other: 3,\n};\n");
    sandbox.write("src/pool.py", "def size():\n    return os.environ[\"POOL_MAX_SIZE\"]\n");
    sandbox.write("conf/a.properties", "other=1\npool.max.size=3\n");
    for (query, expected) in [
        ("stripe.api.key", "src/pay.py:5:"),
        ("spring.datasource.url", "web/conf.ts:2:"),
        // As typed first.
        ("pool.max.size", "conf/a.properties:2:"),
    ] {
        let ran = sandbox.run(&[query]);
        assert!(ran.out.starts_with(expected) && !ran.err.contains("nothing here holds"), "{query}: {ran:?}");
    }
    let denied = sandbox.run(&["stripea.pi.key"]);
    assert!(denied.err.contains("nothing here holds \"stripea.pi.key\""), "{denied:?}");
}

#[test]
fn what_introduces_a_name_in_another_style_comes_before_a_mention() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "# Tool\n\nFor attempts see max_retries, for a trial dry_run, for time maxWaitTime.\n");
    sandbox.write("conf/app.yaml", "server:\n  host: localhost\n  max-retries: 3\n");
    sandbox
        .write("src/main.go", "package main\n\nimport \"flag\"\n\nvar dry = flag.Bool(\"dry-run\", false, \"try\")\n");
    sandbox.write("src/wait.py", "def max_wait_time(a):\n    return a\n");
    sandbox.write("src/use.py", "def use(client, config):\n    return client.send(config.max_retries)\n");
    leads(
        &sandbox,
        &[("max_retries", "src/use.py:2:"), ("dry_run", "src/main.go:5:"), ("maxWaitTime", "src/wait.py:1:")],
    );
    let ran = sandbox.run(&["max_retries"]);
    assert!(ran.out.lines().nth(1).is_some_and(|row| row.starts_with("conf/app.yaml:3:")), "{ran:?}");
    // What a place introduces as typed is no mention.
    sandbox.write("src/own.py", "max_retries = 5\n");
    leads(&sandbox, &[("max_retries", "src/own.py:1:")]);
}

#[test]
fn what_introduces_a_name_comes_before_mentions_in_its_own_style() {
    let key = |name: &str, file: &str, text: &str, queries: &[&str]| {
        let sandbox = Sandbox::new();
        sandbox.write(file, text);
        sandbox.write("a/guide.md", &format!("# Guide\n\n## Server\n\nThe {name} option sets it, see `{name}`.\n"));
        sandbox.write("a/use.py", &format!("def use(config):\n    # reads {name}\n    return config[\"{name}\"]\n"));
        for n in 0..5 {
            let text = "class Client:\n    def name(self):\n        return 1\n    def files(self):\n        return 1\n";
            sandbox.write(&format!("a/client{n}.py"), text);
        }
        let line = text.lines().position(|line| line.contains(name)).expect("a line with the name") + 1;
        let expected = format!("{file}:{line}:");
        let rows: Vec<(&str, &str)> = queries.iter().map(|query| (*query, expected.as_str())).collect();
        leads(&sandbox, &rows);
    };
    let yaml = "server:\n  a: 1\n  max-open-files: 3\n";
    key("max-open-files", "z/app.yaml", yaml, &["max_open_files", "maxOpenFiles", "MAX_OPEN_FILES", "max.open.files"]);
    key("max_open_files", "z/app.toml", "[server]\nmax_open_files = 3\n", &["MAX_OPEN_FILES", "max-open-files"]);
    key("maxOpenFiles", "z/app.json", "{\n  \"maxOpenFiles\": 3\n}\n", &["max.open.files", "max-open-files"]);
    key("max.open.files", "z/a.properties", "a=1\nmax.open.files=3\n", &["max_open_files", "maxOpenFiles"]);
    key("MAX_OPEN_FILES", "z/settings.py", "A = 1\nMAX_OPEN_FILES = 3\n", &["max_open_files"]);
    key("S3_BUCKET_NAME", "z/e.sh", "#!/bin/sh\nexport S3_BUCKET_NAME=abc\n", &["s3.bucket.name"]);
    key("NODE_NAME_2", "z/e.sh", "#!/bin/sh\nNODE_NAME_2=abc\n", &["node.name.2"]);
}

#[test]
fn a_file_called_by_a_name_shows_its_definition_of_that_name() {
    let sandbox = Sandbox::new();
    let text = "//! Tasks.\n\nuse std::fmt;\n\n/// A set of tasks.\npub struct JoinSet<T> {\n    inner: Vec<T>,\n}\n\n\
        impl<T> JoinSet<T> {\n    pub fn join(&self) -> usize {\n        self.set_len()\n    }\n}\n\n\
        impl<T> fmt::Debug for JoinSet<T> {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        \
        f.debug_struct(\"JoinSet\").finish()\n    }\n}\n";
    sandbox.write("src/task/join_set.rs", text);
    sandbox.write("src/task/mod.rs", "mod join_set;\npub use join_set::JoinSet;\n");
    leads(&sandbox, &[("join_set", "src/task/join_set.rs:6:")]);
}

#[test]
fn the_manifest_of_a_package_comes_before_those_that_depend_on_it() {
    let sandbox = Sandbox::new();
    let dependent = |name: &str| {
        format!("[package]\nname = \"{name}\"\n\n[dependencies]\nacme-util = {{ path = \"../acme-util\" }}\n")
    };
    sandbox.write("acme/Cargo.toml", &dependent("acme"));
    sandbox.write("bench/Cargo.toml", &dependent("bench"));
    sandbox.write("tools/Cargo.toml", "[package]\nname = \"acme-util\"\nversion = \"0.1.0\"\n");
    sandbox.write("web/package.json", "{\n  \"name\": \"acme-web\",\n  \"version\": \"1.0.0\"\n}\n");
    sandbox.write(
        "app/package.json",
        "{\n  \"name\": \"app\",\n  \"dependencies\": {\n    \"acme-web\": \"1.0.0\"\n  }\n}\n",
    );
    let plain = |name: &str| format!("[package]\nname = \"{name}\"\n\n[dependencies]\nquickparse = \"1\"\n");
    sandbox.write("cli/Cargo.toml", &plain("cli"));
    sandbox.write("zed/Cargo.toml", "[package]\nname = \"quickparse\"\nversion = \"0.1.0\"\n");
    sandbox.write("go/go.mod", "module example.com/acme/acme-ring\n\ngo 1.22\n");
    sandbox.write("a/go.mod", "module example.com/acme/app\n\nrequire example.com/acme/acme-ring v1.0.0\n");
    sandbox.write("README.md", "# Tools\n\nUses quickparse and acme-ring.\n");
    leads(
        &sandbox,
        &[
            ("acme-util", "tools/Cargo.toml:2:"),
            ("acme_util", "tools/Cargo.toml:2:"),
            ("acme-web", "web/package.json:2:"),
            ("quickparse", "zed/Cargo.toml:2:"),
            ("acme-ring", "go/go.mod:1:"),
        ],
    );
}

#[test]
fn a_name_that_code_uses_comes_before_another_style_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def connect(host, retry_delay=3):\n    return host\n");
    sandbox.write("z.js", "export function retryDelay() {\n  return 1;\n}\n");
    sandbox.write("p.go", "package p\n\ntype Pool struct {\n\tMaxSize int\n}\n");
    sandbox.write("h.py", "H = {\"user-agent\": 1}\n");
    sandbox.write("u.py", "def userAgents():\n    pass\n");
    sandbox.write("src/run.py", "import os\n\nMODES = os.environ[\"JOB_MODE\"], os.getenv(\"JOB_QUEUE\")\n");
    sandbox.write("a_demo.sh", "#!/bin/sh\nJOB_MODE=fast ./run.sh\nJOB_QUEUE=1 make\n");
    leads(
        &sandbox,
        &[
            ("retry_delay", "a.py:1:"),
            ("maxSize", "p.go:4:"),
            ("user-agetn", "h.py:1:"),
            ("JOB_QUEUE", "src/run.py:3:"),
            ("JOB_MODE", "src/run.py:3:"),
        ],
    );
}
