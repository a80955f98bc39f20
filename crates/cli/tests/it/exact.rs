//! A word or a name as typed, in any spelling, comes before other forms and parts of it, and where it is introduced
//! before where it is mentioned.

use crate::common::{Sandbox, leads};

/// Files that hold other forms of words, as often as they can.
fn forms(sandbox: &Sandbox) {
    for n in 0..20 {
        let text = format!(
            "/// Takes care of it, and cares for the careful carer {n}.\npub fn care_{n}(opened: u32, _used: u32) -> u32 {{\n    \
             // Open: we care, and use what is used.\n    open_care(opened)\n}}\n"
        );
        sandbox.write(&format!("src/care{n}.rs"), &text);
    }
}

#[test]
fn the_word_itself_comes_before_other_forms_and_parts_of_it() {
    let sandbox = Sandbox::new();
    forms(&sandbox);
    sandbox.write(
        "src/stream.h",
        "/* The stream takes care of the tree, which is cared for\n * by others.\n *\n * It goes on without caring about the tree. */\n\
         struct stream {\n    int opens;\n};\n",
    );
    sandbox.write("src/last.cs", "namespace Last {\n    class A {\n        void G() { using (b) { } }\n    }\n}\n");
    leads(
        &sandbox,
        &[
            ("caring", "src/stream.h:4:"),
            ("opens", "src/stream.h:6:"),
            ("using", "src/last.cs:3:"),
            ("Caring", "src/stream.h:4:"),
        ],
    );
    let ran = sandbox.run(&["care", "-k", "1"]);
    assert!(ran.out.starts_with("src/care"), "{ran:?}");
}

#[test]
fn a_line_with_the_word_is_shown_before_one_with_a_part_of_a_name() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def run(open_port):\n    open_port(open_port, ports)\n    return port\n");
    leads(&sandbox, &[("port", "a.py:3:"), ("ports", "a.py:2:"), ("open_port", "a.py:1:")]);
}

#[test]
fn every_spelling_of_a_name_that_is_no_definition_finds_it() {
    let sandbox = Sandbox::new();
    for n in ["Pixel", "Color", "Label", "Point", "Grid"] {
        let text = format!(
            "export function getValueFor{n}(scale) {{\n  return scale.value;\n}}\n\nexport class Scale{n} {{\n  \
             getScaleValue() {{ return getValueFor{n}(this.scale); }}\n}}\n"
        );
        sandbox.write(&format!("src/scale{n}.js"), &text);
    }
    let spellings = ["get-value-scale", "getValueScale", "get_value_scale", "GetValueScale", "getvaluescale"];
    for form in ["getValueScale", "get_value_scale", "get-value-scale"] {
        sandbox.write("src/x.txt", &format!("first\n\n  {form} := a\n"));
        let found: Vec<String> = spellings.iter().map(|query| sandbox.run(&[query, "-k", "1"]).out).collect();
        assert!(found.iter().all(|out| out.starts_with("src/x.txt:3:")), "{form}: {found:?}");
    }
    for (query, line) in [("1000000", "LIMIT = 1_000_000"), ("86,400", "max 86400"), ("2_500_000", "2,500,000 rows")] {
        sandbox.write("src/x.txt", &format!("first\n\n  {line}\n"));
        assert!(sandbox.run(&[query, "-k", "1"]).out.starts_with("src/x.txt:3:"), "{query}");
    }
    sandbox.write("src/x.txt", "first\n\n  getValueScale := a\n");
    // Where it occurs in several spellings, each finds all.
    sandbox.write("src/y.go", "package x\n\nfunc f() {\n\tgetValueScale := 1\n\t_ = getValueScale\n}\n");
    sandbox.write("src/z.py", "def f(a):\n    get_value_scale = a\n    return get_value_scale\n");
    for query in spellings {
        let mut found: Vec<String> =
            sandbox.run(&[query, "-k", "3", "-l"]).paths().iter().map(ToString::to_string).collect();
        found.sort();
        assert_eq!(found, ["src/x.txt", "src/y.go", "src/z.py"], "{query}");
    }
}

#[test]
fn a_word_that_reads_like_german_is_found_where_it_stands() {
    let sandbox = Sandbox::new();
    for n in 0..20 {
        sandbox.write(&format!("r{n}.py"), &format!("def render_head_{n}(head):\n    return render(head)\n"));
    }
    sandbox.write("creole.py", "def g(headerEnd):\n    return headerEnd\n");
    leads(&sandbox, &[("headerend", "creole.py:1:"), ("headerEnd", "creole.py:1:"), ("header-end", "creole.py:1:")]);
}

#[test]
fn a_rare_name_in_a_sentence_comes_before_its_other_words() {
    let sandbox = Sandbox::new();
    for n in 0..20 {
        sandbox.write(&format!("r{n}.py"), &format!("def read_request_{n}(request):\n    return read(request)\n"));
    }
    sandbox.write("notes.md", "# Requests\n\nA request is read without `__proto__`.\n");
    sandbox.write("merge.py", "def f(a):\n    return [k for k in a if k != '__proto__']\n");
    sandbox.write("proxy.py", "def g(a):\n    return a.get('X-Forwarded-For') or a.max_hops\n");
    leads(
        &sandbox,
        &[
            ("what reads __proto__ of a request", "merge.py:"),
            ("where does a request read X-Forwarded-For", "proxy.py:"),
            ("which code reads max_hops() of a request?", "proxy.py:"),
            ("how is MaxHops read", "proxy.py:"),
        ],
    );
}

#[test]
fn as_many_files_are_shown_as_hold_the_name() {
    let sandbox = Sandbox::new();
    for n in 0..700 {
        let text = format!("def acl_{n}(acl):\n    return acl.categories(acl, categories)\n");
        sandbox.write(&format!("a/f{n}.py"), &text);
    }
    for n in 0..40 {
        let filler = format!("    \"key{n}\": \"value\",\n").repeat(20);
        sandbox.write(&format!("json/c{n}.json"), &format!("{{\n{filler}    \"acl_categories\": [\"X{n}\"]\n}}\n"));
    }
    for (wanted, expected) in [("10", 10), ("30", 30), ("40", 40), ("300", 40)] {
        let ran = sandbox.run(&["acl_categories", "-k", wanted, "-l"]);
        let held = ran.paths().iter().filter(|path| path.starts_with("json/")).count();
        assert_eq!((held, ran.paths().len()), (expected, expected), "{wanted}");
    }
}

#[test]
fn where_a_key_or_label_is_introduced_comes_before_where_it_is_mentioned() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"a\"\n\n[features]\ndefault = [\"x\"]\nx = [\"fast-feat\"]\nfast-feat = []\n",
    );
    sandbox.write("src/lib.rs", "#[cfg(feature = \"fast-feat\")]\npub fn fast() {}\n");
    sandbox
        .write("package.json", "{\n  \"name\": \"a\",\n  \"scripts\": {\n    \"lint-fix\": \"eslint --fix\"\n  }\n}\n");
    sandbox.write("notes.txt", "# Notes\n\nRun lint-fix before you push: npm run lint-fix.\n");
    sandbox.write(
        "a.tex",
        "\\section{One}\nSee \\ref{sec:my-part} and \\ref{fig:two_cars}.\n\n\\section{Two}\n\\label{sec:my-part}\nText here.\n\
         \\begin{figure}\n\\caption{Cars}\n\\label{fig:two_cars}\n\\end{figure}\n",
    );
    sandbox.write(
        "a.rst",
        "Intro\n=====\n\nSee my-target_ or :ref:`my-target`.\n\n.. _my-target:\n\nOther\n-----\n\nText.\n",
    );
    leads(
        &sandbox,
        &[
            ("fast-feat", "Cargo.toml:7:"),
            ("lint-fix", "package.json:4:"),
            ("sec:my-part", "a.tex:5:"),
            ("fig:two_cars", "a.tex:9:"),
            ("my-target", "a.rst:6:"),
        ],
    );
    for (path, text, rows) in [
        (
            "client.py",
            "\"\"\"Uses timeout_s.\"\"\"\n\nclass Client:\n    \"\"\"timeout_s and pool_size.\"\"\"\n    pool_size: int = 3\n\n    \
             def send(self):\n        return self.timeout_s\n\n    def __init__(self, t):\n        self.timeout_s = t\n",
            &[("timeout_s", "client.py:11:"), ("pool_size", "client.py:5:")][..],
        ),
        (
            "b.go",
            "package a\n\n// Server has MaxConns.\ntype Server struct {\n\tMaxConns int\n}\n",
            &[("MaxConns", "b.go:5:")],
        ),
        (
            "b.rs",
            "/// Has buf_len.\npub struct Buf {\n    name: String,\n    buf_len: usize,\n}\n",
            &[("buf_len", "b.rs:4:")],
        ),
        (
            "b.cpp",
            "// foo_bar_\nclass A {\n  int f() const { return foo_bar_; }\n private:\n  int foo_bar_ = 0;\n};\n",
            &[("foo_bar_", "b.cpp:5:")],
        ),
        (
            "App.vue",
            "<template>\n  <a @click=\"submitOrder\">{{ fullName }}</a>\n</template>\n<script>\nexport default {\n  methods: {\n    \
             submitOrder() {\n    },\n    async fullName(a) {\n    },\n  },\n};\n</script>\n",
            &[("submitOrder", "App.vue:7:"), ("fullName", "App.vue:9:")],
        ),
        (
            "pyproject.toml",
            "# tool.ruff.lint\n[tool.ruff]\na = 1\n\n[tool.ruff.lint]\nb = 1\n\n[[tool.mypy.overrides]]\nc = 1\n",
            &[
                ("tool.ruff.lint", "pyproject.toml:5:"),
                ("[tool.ruff.lint]", "pyproject.toml:5:"),
                ("ruff.lint", "pyproject.toml:5:"),
                ("tool.mypy.overrides", "pyproject.toml:8:"),
            ],
        ),
        (
            "index.html",
            "<a href=\"#checkout-form\">x</a>\n<form id=\"checkout-form\">\n<a href='#sideBar'></a>\n<div id='sideBar'></div>\n\
             <input name=card_number>\n",
            &[("checkout-form", "index.html:2:"), ("sideBar", "index.html:4:"), ("card_number", "index.html:5:")],
        ),
        (
            "b.jsx",
            "export const A = () => (\n  <a href=\"#main-nav\">\n    <nav id=\"main-nav\" />\n  </a>\n);\n",
            &[("main-nav", "b.jsx:3:")],
        ),
        (
            "b.tex",
            "See \\ref{sec:intro}.\n\\section{Intro}\\label{sec:intro}\nText sec:intro.\n",
            &[("sec:intro", "b.tex:2:")],
        ),
        (
            "one.json",
            "{\"name\":\"a\",\"scripts\":{\"build_all\":\"x\"},\"maxRetries\":3}\n",
            &[("build_all", "one.json:1:"), ("maxRetries", "one.json:1:")],
        ),
        ("b.conf", "x\ncache-control: 3\n", &[("cache-control", "b.conf:2:")]),
        ("h.py", "h[\"Cache-Control\"] = 1\n", &[("Cache-Control", "h.py:1:")]),
    ] {
        sandbox.write(path, text);
        // Earlier by its path, it mentions every name twice.
        let mentions: String = rows.iter().map(|(name, _)| format!("# {name}\nuse({name:?})\n")).collect();
        sandbox.write("a_use.py", &mentions);
        if path != "h.py" && path != "b.conf" {
            leads(&sandbox, rows);
        }
    }
    sandbox.write("a_use.py", "\n");
    leads(&sandbox, &[("cache-control", "b.conf:2:"), ("Cache-Control", "h.py:1:")]);
}

#[test]
fn a_pasted_line_of_few_words_is_found_as_it_stands() {
    let sandbox = Sandbox::new();
    for n in 0..6 {
        let text = format!(
            "local M = {{}}\n\n---Opens x {n}.\n---@param x string\nfunction M.open{n}(x)\n  return x\nend\n\n---The param x? of T: T?\nlocal T = 3\n"
        );
        sandbox.write(&format!("src/m{n}.lua"), &text);
        let text = format!(
            "\"\"\"Imports warnings: import all warnings.\"\"\"\n\ndef import_warnings_{n}(warning):\n    \"\"\"Import the warnings.\"\"\"\n    warnings = [warning]\n"
        );
        sandbox.write(&format!("src/a{n}.py"), &text);
    }
    sandbox.write("src/lua.lua", "local M = {}\n---@param x? T\n---@return T?\nfunction M.a(x)\nend\n");
    sandbox.write("src/A.java", "class A {\n  /**\n   * {@inheritDoc}\n   */\n  void f() {}\n\n  /**\n   * @inheritDoc\n   */\n  void g() {}\n}\n");
    sandbox.write("src/B.java", "/** The inherit doc of it. */\nclass InheritDoc {\n  void inheritDoc() {}\n}\n");
    sandbox.write("src/w.py", "import warnings\nfrom os import path\n\ndef f():\n    warnings.warn(1)\n");
    sandbox.write("src/f.rs", "use std::fmt;\nuse std::io::Write;\n\npub fn f() {}\n");
    sandbox.write("src/a.rs", "use std::fmt::Display;\n\n/// Formats std: use std fmt.\npub fn g() {}\n");
    sandbox.write("src/x.c", "#include <zlib.h>\n#include \"own.h\"\n\nint f() { return 1; }\n");
    sandbox.write("src/zlib.h", "/* include zlib h */\nint include_zlib(int h);\n");
    leads(
        &sandbox,
        &[
            ("---@param x? T", "src/lua.lua:2:"),
            ("---@return T?", "src/lua.lua:3:"),
            (" * @inheritDoc", "src/A.java:8:"),
            ("* {@inheritDoc}", "src/A.java:3:"),
            ("import warnings", "src/w.py:1:"),
            ("from os import path", "src/w.py:2:"),
            ("use std::fmt;", "src/f.rs:1:"),
            ("use std::io::Write;", "src/f.rs:2:"),
            ("#include <zlib.h>", "src/x.c:1:"),
            ("#include \"own.h\"", "src/x.c:2:"),
        ],
    );
}

#[test]
fn code_that_says_a_message_comes_before_a_test_that_expects_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/z.rs",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    #[should_panic(expected = \"buffer is too small\")]\n    fn a() { grow(9); }\n    \
         #[test]\n    fn b() { assert_eq!(f(), Err(\"index out of reach\".into())); }\n    #[test]\n    \
         #[should_panic(expected = \"queue is full\")]\n    fn c() { push(9); }\n}\n\npub fn grow(n: usize) {\n    \
         panic!(\"buffer is too small\");\n}\npub fn f() -> Result<(), String> { Err(\"index out of reach\".into()) }\n\
         pub fn push(n: usize) {\n    panic!(\"queue is full of {} items\", n);\n}\n",
    );
    sandbox.write(
        "a_tests/q.rs",
        "#[test]\n#[should_panic(expected = \"queue is full of 9 items\")]\nfn a() { push(9); }\n",
    );
    leads(
        &sandbox,
        &[
            ("buffer is too small", "src/z.rs:14:"),
            ("index out of reach", "src/z.rs:16:"),
            ("queue is full", "src/z.rs:18:"),
            ("queue is full of 9 items", "src/z.rs:18:"),
        ],
    );
    sandbox
        .write("src/store.js", "function work(name) {\n  throw new Error(`[${ns}] cannot open store ${name}`);\n}\n");
    sandbox.write(
        "a_tests/store.test.js",
        "it(\"fails\", () => {\n  expect(() => work(1)).toThrow(\"cannot open store main\");\n});\n",
    );
    sandbox.write(
        "src/W.java",
        "class W {\n  void work(String a) {\n    throw new X(String.format(\"Key %s not in ring %s\", a, a));\n  }\n}\n",
    );
    sandbox.write(
        "a_tests/WTest.java",
        "class WTest {\n  void fails() {\n    assertEquals(\"Key k1 not in ring r2\", work());\n  }\n}\n",
    );
    sandbox
        .write("src/M.cs", "class M {\n  void Work() {\n    throw new X($\"Cannot map {type} to column\");\n  }\n}\n");
    sandbox.write(
        "a_tests/MTest.cs",
        "class T {\n  void F() {\n    Assert.Equal(\"Cannot map Foo to column\", m);\n  }\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("cannot open store main", "src/store.js:2:"),
            ("Key k1 not in ring r2", "src/W.java:3:"),
            ("Cannot map Foo to column", "src/M.cs:3:"),
            ("Cannot map Foo to column.", "src/M.cs:3:"),
        ],
    );
}

#[test]
fn words_that_occur_together_once_come_before_them_apart() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/clean.rs",
        "/// Cleans a link.\n///\n/// It drops superfluous path elements, which some hosts reject.\npub fn clean(link: &str) \
         -> String {\n    link.into()\n}\n",
    );
    let path = |name: &str| {
        format!(
            "/// Elements of a path.\npub struct PathElement;\n\nimpl PathElement {{\n    /// Whether an element of the path \
             is superfluous.\n    pub fn {name}(&self, path: &str, elements: &[PathElement]) -> bool {{\n        \
             path.len() > elements.len()\n    }}\n}}\n"
        )
    };
    sandbox.write("src/path.rs", &path("is_needless"));
    sandbox.write("src/some.rs", "/// Some path element, or some host.\npub fn some_hosts() {}\n");
    leads(
        &sandbox,
        &[
            ("superfluous path elements", "src/clean.rs:3:"),
            ("drops superfluous", "src/clean.rs:3:"),
            // A name is stronger.
            ("some hosts", "src/some.rs:2:"),
            // Together in no place.
            ("path superfluous", "src/path.rs:"),
        ],
    );
    // Names have all of the words, so they are a topic.
    sandbox.write("src/path.rs", &path("is_superfluous"));
    let ran = sandbox.run(&["--query", "superfluous path elements", "-k", "1"]);
    assert!(ran.out.starts_with("src/path.rs:"), "{ran:?}");
}

#[test]
fn a_literal_is_found_whatever_the_weight_of_its_value() {
    let sandbox = Sandbox::new();
    for n in 0..6 {
        let text = format!("/// A driver, and what it supports; not all is.\npub fn driver_{n}() {{}}\n");
        sandbox.write(&format!("src/driver{n}.rs"), &text);
    }
    sandbox.write("src/smtp.rs", "/// A mailer that is a driver.\npub fn smtp() {}\n");
    sandbox.write(
        "src/manager.rs",
        "pub fn made(name: &str) {\n    fail(format!(\"Driver [{name}] not supported.\"));\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("Driver [smtp] not supported.", "src/manager.rs:2:"),
            ("Driver 'smtp' not supported", "src/manager.rs:2:"),
            ("RuntimeError: Driver [smtp] not supported.", "src/manager.rs:2:"),
        ],
    );
}

#[test]
fn a_heading_that_is_a_question_comes_before_its_answers() {
    let sandbox = Sandbox::new();
    sandbox.write("docs/net.md", "# What extends Socket\n\nWhat is built on it.\n\n## Who calls open_port\n\nText.\n");
    sandbox.write(
        "src/net.py",
        "class Socket:\n    pass\n\n\nclass Tcp(Socket):\n    pass\n\n\ndef open_port():\n    return Socket()\n\n\n\
         def serve():\n    return open_port()\n",
    );
    leads(
        &sandbox,
        &[
            ("What extends Socket", "docs/net.md:1:"),
            ("what extends Socket?", "docs/net.md:1:"),
            ("Who calls open_port", "docs/net.md:5:"),
            ("what subclasses Socket", "src/net.py:5:"),
        ],
    );
}

#[test]
fn a_line_that_is_blank_by_now_gives_way() {
    let sandbox = Sandbox::new();
    let gap = "\n".repeat(60);
    sandbox.write(
        "src/e.rs",
        &format!("pub fn open_port(port: u16) {{\n    if port == 0 {{\n        panic!(\"port must not be zero\");\n    }}\n}}\n{gap}pub fn last() {{\n    let a = 3;\n}}\n\n\n"),
    );
    leads(
        &sandbox,
        &[
            ("src/e.rs:50:5: port must not be zero", "src/e.rs:3:"),
            ("src/e.rs:50: port must not be zero", "src/e.rs:3:"),
            ("thread 'main' panicked at src/e.rs:50:5:\nport must not be zero", "src/e.rs:3:"),
            ("src/e.rs:50: open_port", "src/e.rs:1:"),
            ("src/e.rs:50 in open_port", "src/e.rs:1:"),
            ("src/e.rs:50:5", "src/e.rs:66:"),
            ("src/e.rs:10", "src/e.rs:3:"),
            ("src/e.rs:999: port must not be zero", "src/e.rs:3:"),
            ("src/e.rs:67:5: port must not be zero", "src/e.rs:67:"),
        ],
    );
}

#[test]
fn a_name_with_hyphens_is_found_behind_its_module() {
    let sandbox = Sandbox::new();
    sandbox.write("c.clj", "(ns acme.core)\n(defn join-room [a]\n a)\n");
    sandbox.write("acme/admin.clj", "(ns acme.admin)\n\n(defn leave-room [a]\n a)\n");
    sandbox.write("acme/core.clj", "(ns acme.core)\n\n\n(defn leave-room [a]\n a)\n");
    leads(
        &sandbox,
        &[
            ("acme.core/join-room", "c.clj:2:"),
            ("core/join-room", "c.clj:2:"),
            ("acme.core/leave-room", "acme/core.clj:4:"),
            ("acme.admin/leave-room", "acme/admin.clj:3:"),
        ],
    );
    let ran = sandbox.run(&["acme.core/no-room"]);
    assert!(ran.status == 1 && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_filter_of_kinds_shows_no_unit_without_the_name() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/a.py",
        "def alpha_zed(x):\n    return x\n\ndef alphaBet(x):\n    return x\n\nclass Bravo:\n    lim_zed = 3\n    bet = 3\n",
    );
    for (name, told) in [
        ("alpha_zed", "nothing within `--kind class` holds \"alpha_zed\", but other parts of the project do"),
        ("alphaBet", "no likely answer here; colgrep --all alphaBet --kind class shows weak ones"),
    ] {
        let ran = sandbox.run(&[name, "--kind", "class"]);
        assert!(ran.status == 1 && ran.out.is_empty() && ran.err.contains(told), "{ran:?}");
        assert!(!ran.err.contains("there is no file or folder"), "{ran:?}");
        let found = sandbox.run(&[name, "--kind", "function"]);
        assert!(found.status == 0 && found.out.starts_with("src/a.py:"), "{found:?}");
    }
    // A class holds what its members do, and a member is found by its class.
    sandbox.write("src/b.py", "class Charlie:\n    def delta_zed(self):\n        return 1\n");
    for args in [["delta_zed", "class"], ["Charlie.delta_zed", "method"]] {
        let ran = sandbox.run(&[args[0], "--kind", args[1]]);
        assert!(ran.status == 0 && ran.out.starts_with("src/b.py:"), "{ran:?}");
    }
}

#[test]
fn words_of_a_comment_come_behind_the_definition_that_they_name() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "auth.py",
        "def reset(user):\n    \"\"\"Reset the password of a user.\"\"\"\n    user.password = None\n",
    );
    sandbox.write("colors.py", "# do not use the color of password reset here\nRED = 1\n");
    sandbox.write("job.py", "def run(n):\n    raise IOError(\"could not open job %d for writing\" % n)\n");
    sandbox.write("docs/errors.md", "# Errors\n\n\"could not open job 7 for writing\" is shown when full.\n");
    sandbox.write(
        "limit.py",
        "def limit(n):\n    \"\"\"Cap of the page size 20 of the users in the list.\"\"\"\n    return n\n",
    );
    leads(
        &sandbox,
        &[
            ("password reset", "auth.py:"),
            ("where is \"could not open job 7 for writing\" documented", "docs/errors.md:3:"),
            ("where does \"could not open job 9 for writing\" come from", "job.py:2:"),
        ],
    );
    let ran = sandbox.run(&["--query", "where is \"page size 20 of men\" set"]);
    assert!(ran.status == 1 && ran.err.contains("no searched file contains"), "{ran:?}");
}
