//! The binary on other forms of what somebody knows of the text: a flag, a field, a path, a trace, a line that was cut.

use crate::common::{Ran, Sandbox, git, leads};

#[test]
fn fields_are_found_inside_their_type() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/config.rs",
        "/// The theme of it all.\npub struct Config {\n    /// A theme.\n    pub theme: String,\n    pub page_width: usize,\n}\n\n\
         pub enum Mode {\n    Paged,\n    Wrapped(usize),\n}\n",
    );
    sandbox.write(
        "src/printer.rs",
        "pub struct Printer {\n    config: Config,\n}\n\nimpl Printer {\n    pub fn theme(&mut self, theme: &str) {\n        \
         self.config.theme = theme.to_owned();\n        self.config.page_width = 3;\n    }\n}\n",
    );
    sandbox.write("src/reader.py", "class Reader:\n    def __init__(self, source):\n        self.source = source\n");
    leads(
        &sandbox,
        &[
            ("Config.theme", "src/config.rs:4:"),
            ("Config::page_width", "src/config.rs:5:"),
            ("Config#page_width", "src/config.rs:5:"),
            ("Mode::Wrapped", "src/config.rs:10:"),
            ("Reader.source", "src/reader.py:3:"),
            // What is a unit of its own is found as ever.
            ("Printer.theme", "src/printer.rs:6:"),
        ],
    );
    let ran = sandbox.run(&["--query", "Config.colour", "-k", "1"]);
    assert!(!ran.out.contains("config.rs:4:"), "the type has no such field: {ran:?}");
}

#[test]
fn paths_name_their_file_however_they_are_written() {
    let sandbox = Sandbox::new();
    sandbox.write("src/net/tcp.rs", "//! Sockets.\n\npub fn open(port: u16) -> u16 {\n    port + 1\n}\n");
    sandbox.write("src/bin/host.rs", "pub fn host() {\n    open(1);\n}\n");
    sandbox.write(
        "docs/files.md",
        "# Files\n\nsrc/net/tcp.rs and src/bin/host.rs: tcp.rs, host.rs, src/net/tcp, net/tcp, and foo/bar/tcp.rs.\n",
    );
    leads(
        &sandbox,
        &[
            ("./src/net/tcp.rs", "src/net/tcp.rs:"),
            ("src\\net\\tcp.rs", "src/net/tcp.rs:"),
            ("**/host.rs", "src/bin/host.rs:"),
            ("host.*", "src/bin/host.rs:"),
            ("net/tcp.*", "src/net/tcp.rs:"),
            // Without its ending, and with folders of elsewhere.
            ("src/net/tcp", "src/net/tcp.rs:"),
            ("net/tcp", "src/net/tcp.rs:"),
            ("foo/bar/tcp.rs", "src/net/tcp.rs:"),
            ("line 4 of src/net/tcp.rs", "src/net/tcp.rs:4:"),
            ("src/net/tcp.rs line 4", "src/net/tcp.rs:4:"),
        ],
    );
}

#[test]
fn files_of_one_name_come_before_what_mentions_it() {
    let sandbox = Sandbox::new();
    sandbox.write("src/http.rs", "pub fn plain() -> u8 {\n    1\n}\n");
    sandbox.write("src/core/http.rs", "pub fn core_send() -> u8 {\n    2\n}\n");
    sandbox.write("tests/http.rs", "#[test]\nfn sends() {\n    assert!(true);\n}\n");
    sandbox.write("src/adapters.rs", "// Of http.rs.\npub const HTTP: &str = \"./http.rs\";\n");
    sandbox.write("README.md", "# Files\n\nRead http.rs, src/core/http.rs and http.rs. See docs/README.md.\n");
    sandbox.write("docs/README.md", "# More\n\nNothing.\n");
    for (query, k, expected) in [
        ("http.rs", "3", "src/http.rs\nsrc/core/http.rs\ntests/http.rs\n"),
        ("core/http.rs", "1", "src/core/http.rs\n"),
        ("README.md", "2", "README.md\ndocs/README.md\n"),
    ] {
        assert_eq!(sandbox.run(&["--query", query, "-l", "-k", k]).out, expected, "{query}");
    }
    leads(&sandbox, &[("plain in http.rs", "src/http.rs:1:"), ("core_send http.rs", "src/core/http.rs:1:")]);
}

#[test]
fn a_name_beside_its_file_is_found_where_that_defines_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/auth.py",
        "def digest(data):\n    def sha_utf8(x):\n        return hash(x)\n    return sha_utf8(data), sha_utf8(data)\n\n\n\
         class Adapter:\n    \"\"\"Sends.\"\"\"\n\n    def send(self):\n        return Adapter()\n\n\nADAPTER = Adapter()\n",
    );
    sandbox.write("src/other.py", "from auth import Adapter as Base\n\n\nclass Adapter(Base):\n    pass\n");
    sandbox.write(
        "src/pane.c",
        "static void\tcheck_pane(int);\n\nvoid\nuse_pane(int x)\n{\n\tcheck_pane(x);\n\tcheck_pane(x + 1);\n}\n\n\
         static void\ncheck_pane(int x)\n{\n\tx++;\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("Adapter in src/auth.py", "src/auth.py:7:"),
            ("src/auth.py Adapter", "src/auth.py:7:"),
            ("src/auth.py:Adapter", "src/auth.py:7:"),
            ("where is Adapter defined in src/auth.py", "src/auth.py:7:"),
            ("the class Adapter of auth.py", "src/auth.py:7:"),
            ("Adapter in other.py", "src/other.py:4:"),
            // A function inside another one is not a unit.
            ("sha_utf8 in src/auth.py", "src/auth.py:2:"),
            // No announcement where the body is here.
            ("check_pane in pane.c", "src/pane.c:11:"),
            // A file that is not here says nothing of the name.
            ("use_pane in gone_zzqq.c", "src/pane.c:4:"),
        ],
    );
}

#[test]
fn a_file_that_is_not_here_hides_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("src/session.py", "def follow_redirects(response):\n    return response.redirects\n");
    sandbox.write("src/models.py", "class Response:\n    redirects = 3\n");
    sandbox.write("docs/build.txt", "py and py: all of them are py, and `py` is run by py.\n");
    let of = |query: &str| sandbox.run(&["--query", query, "-l"]);
    let (alone, beside) = (of("redirects"), of("zzqqx.py redirects"));
    assert!(alone.status == 0 && alone.out.contains("src/session.py"), "{alone:?}");
    assert_eq!((beside.status, &beside.out), (0, &alone.out), "{beside:?}");
    assert!(beside.err.contains("\"zzqqx.py\" is left out, since nothing here holds it as typed"), "{beside:?}");
    assert_eq!(of("redirects in the file src/zzqqx.py").out, alone.out);
}

#[test]
fn lines_that_are_cut_or_marked_find_their_place() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/input.php",
        "<?php\nfunction input($name) {\n    throw new InvalidValue(sprintf('The \"%s\" input does not exist.', $name));\n}\n\
         function other($name) {\n    throw new InvalidValue(sprintf('The \"%s\" other one does not exist.', $name));\n}\n",
    );
    sandbox.write(
        "src/set.php",
        "<?php\nfunction set($name) {\n    if ($name === null) {\n        \
         throw new InvalidValue(sprintf('The helper \"%s\" is not defined.', $name));\n    }\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("throw new InvalidValue(sprintf('The hel", "src/set.php:4:"),
            ("throw new InvalidValue(sprintf('The \"%s\" oth", "src/input.php:6:"),
            ("<<<<<<< HEAD\n    if ($name === null) {\n=======\n    if (!$name) {\n>>>>>>> main", "src/set.php:3:"),
            ("@@ -3,1 +3,1 @@ final class Set\n     if ($name === null) {\n", "src/set.php:3:"),
            // A frame whose line is gone: the function that it called.
            ("#0 /srv/src/set.php(90): set(1)", "src/set.php:2:"),
            ("#0 /srv/src/input.php(90): App\\other(1)", "src/input.php:5:"),
        ],
    );
}

/// A program with flags, variables and settings, and files that repeat them.
fn program() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/cli.rs",
        "pub fn build() -> Command {\n    Command::new(\"tool\")\n        .arg(Arg::new(\"line-limit\").long(\"line-limit\"))\n        \
         .arg(Arg::new(\"plain\").long(\"plain\"))\n}\n",
    );
    sandbox.write(
        "src/app.rs",
        "/// Other values for `--line-limit` are not allowed; `--plain` is.\npub fn limit(found: &Found) -> usize {\n    \
         found.get_one(\"line-limit\")\n}\n\npub fn pager() -> Option<String> {\n    env::var(\"TOOL_PAGER\").ok()\n}\n",
    );
    sandbox
        .write("src/settings.py", "CLOSE_AFTER = 3\n\n\ndef found(x):\n    return [x for x in \"x\" if x == \"x\"]\n");
    sandbox.write(
        "completions/tool.fish.in",
        "complete -c tool -l line-limit -d 'limit of a line'\ncomplete -c tool --line-limit --plain\n",
    );
    sandbox.write("completions/_tool.ps1", "function tool { '--line-limit', '--plain', 'unexpected argument' }\n");
    sandbox.write("man/tool.1", "tool \\- prints\n\n--line-limit\nlimit of a line\n\n--plain\nplain\n");
    sandbox
}

#[test]
fn flags_are_found_where_they_are_declared() {
    let sandbox = program();
    for (query, expected) in [
        ("--line-limit", "src/cli.rs:3:"),
        ("--line-limit=3", "src/cli.rs:3:"),
        ("--line-limit 3", "src/cli.rs:3:"),
        ("tool --plain", "src/cli.rs:4:"),
        ("--line-limit flag", "src/cli.rs:3:"),
        ("error: unexpected argument '--plain' found", "src/cli.rs:4:"),
    ] {
        let ran = sandbox.run(&["--keyword-only", "-k", "1", "--query", query]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn names_in_marks_or_with_a_value_are_found_as_the_name_is() {
    let sandbox = program();
    for (query, expected) in [
        ("$TOOL_PAGER", "src/app.rs:7:"),
        ("${TOOL_PAGER}", "src/app.rs:7:"),
        ("%TOOL_PAGER%", "src/app.rs:7:"),
        ("os.environ[\"TOOL_PAGER\"]", "src/app.rs:7:"),
        ("TOOL_PAGER=less", "src/app.rs:7:"),
        ("export TOOL_PAGER=1", "src/app.rs:7:"),
        ("CLOSE_AFTER=1", "src/settings.py:1:"),
        // The value in quotes is not a condition.
        ("CLOSE_AFTER = \"x\"", "src/settings.py:1:"),
    ] {
        let ran = sandbox.run(&["-k", "1", "--query", query]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
    let ran = sandbox.run(&["--query", "${NO_SUCH_NAME}"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "what stands nowhere is not found: {ran:?}");
}

#[test]
fn what_a_command_is_given_in_quotes_is_no_condition_where_it_stands_nowhere() {
    let sandbox = program();
    let ran = sandbox.run(&["-k", "1", "--query", "./gradlew test --tests \"src.app.pager\""]);
    assert!(ran.out.starts_with("src/app.rs:6:"), "{ran:?}");
    let quoted = sandbox.run(&["--query", "where is \"no such text\" here"]);
    assert_eq!((quoted.status, quoted.out.as_str()), (1, ""), "{quoted:?}");
}

#[test]
fn names_are_found_as_other_languages_write_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/context.go",
        "package app\n\n// FormFile returns a file.\nfunc (c *Context) FormFile(name string) error {\n\treturn nil\n}\n\n\
         func (c *Context) GetUint32Slice(key string) []uint32 {\n\treturn nil\n}\n",
    );
    sandbox.write("web/color-wheel.tsx", "export function paint(size: number) {\n  return size;\n}\n");
    sandbox.write("web/tab.bar.ts", "export function show(size: number) {\n  return size;\n}\n");
    for (query, expected) in [
        // The index has the stem of `formfile`.
        ("form_file", "src/context.go:4:"),
        ("get_uint32_slice", "src/context.go:8:"),
        ("colorwheel", "web/color-wheel.tsx:"),
        ("tabbar", "web/tab.bar.ts:"),
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
        // The result shows how the name is written.
        assert!(!ran.err.contains("is read as"), "{query}: {}", ran.err);
    }
    for query in ["form_mode", "colorwheels"] {
        let ran = sandbox.run(&["--query", query]);
        assert!(!ran.err.contains("is read as"), "{query}: {}", ran.err);
    }
}

#[test]
fn a_place_is_looked_for_where_the_user_stands_and_in_what_is_searched() {
    let sandbox = Sandbox::new();
    git(&sandbox, &["init", "-q"]);
    sandbox.write("util.go", "package a\n\nfunc One() {}\n\nfunc Two() {}\n");
    sandbox.write("lib/util.go", "package lib\n\nfunc Red() {}\n\nfunc Blue() {}\n");
    sandbox.write("lib/deep/util.go", "package deep\n\nfunc Up() {}\n\nfunc Down() {}\n");
    sandbox.write("lib/deep/only.go", "package deep\n\nfunc Only() {}\n");
    let run_in = |folder: &str, args: &[&str]| {
        let mut command = sandbox.command(args);
        let output = command.current_dir(sandbox.root().join(folder)).output();
        Ran::of(output.expect("a binary that starts"), &sandbox.root())
    };
    for (folder, args, expected) in [
        ("", &["util.go:5"][..], "util.go:5:func Two"),
        ("lib", &["util.go:5"], "util.go:5:func Blue"),
        ("lib", &["./util.go:5"], "util.go:5:func Blue"),
        ("lib/deep", &["util.go:5"], "util.go:5:func Down"),
        ("lib", &["deep/util.go:5"], "deep/util.go:5:func Down"),
        ("lib", &["only.go:3"], "deep/only.go:3:func Only"),
        ("lib", &["../util.go:5", ".."], "../util.go:5:func Two"),
        ("lib/deep", &["../util.go:5", ".."], "../util.go:5:func Blue"),
        // From the root, and of a path of which only the end fits.
        ("lib", &["lib/deep/util.go:5"], "deep/util.go:5:func Down"),
        ("", &["util.go:5", "lib/deep"], "lib/deep/util.go:5:func Down"),
        ("", &["util.go:5", "--include", "lib/util.go"], "lib/util.go:5:func Blue"),
    ] {
        let ran = run_in(folder, &[args, &["-k", "1"]].concat());
        assert!(ran.out.starts_with(expected), "{folder}: {args:?}: {ran:?}");
    }
    let outside = run_in("lib", &["../util.go:5"]);
    assert!(!outside.out.contains("func Blue"), "another file than the one that is written: {outside:?}");
}

#[test]
fn a_call_that_stands_nowhere_is_read_as_what_it_calls() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/clock.py",
        "def make_aware(dt, tz=None):\n    return dt\n\n\nclass Clock:\n    def set_to(self, w):\n        pass\n",
    );
    sandbox.write("src/user.py", "from clock import make_aware\n\nmake_aware(later)\n\nclock.set_to(9)\n");
    sandbox.write(
        "src/more.py",
        "def a(c):\n    c.set_to(8)\n\n\ndef b(c):\n    c.set_to(7)\n\n\ndef d(c):\n    c.set_to(6)\n",
    );
    for (query, read, expected) in [
        ("make_aware(now)", "make_aware", "src/clock.py:1:"),
        ("make_aware(now,tz)", "make_aware", "src/clock.py:1:"),
        ("x=make_aware(now)", "make_aware", "src/clock.py:1:"),
        ("makeAware(now)", "make_aware", "src/clock.py:1:"),
        ("Clock(1)", "Clock", "src/clock.py:5:"),
        ("Clock.set_to(now)", "Clock.set_to", "src/clock.py:6:"),
        ("self.set_to(now)", "self.set_to", "src/clock.py:6:"),
        // Of a chain the rarest name.
        ("make_aware(now).set_to(1)", "make_aware", "src/clock.py:1:"),
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("\"{query}\" is read as \"{read}\"")), "{query}: {}", ran.err);
    }
    let stands = sandbox.run(&["--query", "make_aware(later)", "-k", "1"]);
    assert!(stands.out.starts_with("src/user.py:3:") && !stands.err.contains("is read as"), "{stands:?}");
    for args in
        [&["\"make_aware(now)\""][..], &["-F", "-e", "make_aware(now)"], &["frob_it(1)"], &["console.set_to(now)"]]
    {
        let ran = sandbox.run(args);
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{args:?}: {ran:?}");
    }
}

#[test]
fn names_that_need_marks_are_found_by_their_path() {
    let sandbox = Sandbox::new();
    sandbox.write("src/odd.kt", "class `odd-name`(val count: Long) {\n    fun total(): Long = count\n}\n");
    sandbox.write("src/even.kt", "class Even(val count: Long) {\n    fun total(): Long = count\n}\n");
    leads(&sandbox, &[("`odd-name`.total", "src/odd.kt:2:"), ("odd-name.total", "src/odd.kt:2:")]);
    leads(&sandbox, &[("`Even`.total", "src/even.kt:2:")]);
}

#[test]
fn traces_lead_to_what_raised_their_messages() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/storage.py",
        "def open_storage(uri):\n    if not uri.host:\n        \
         raise ValueError(f\"Got a storage URI without a hostname: {uri}\")\n\n\n\
         def close_storage(uri):\n    raise RuntimeError(\"no implicit conversion of a storage into a string\")\n",
    );
    sandbox.write(
        "src/misc.py",
        "def walk(module):\n    \"\"\"Walks a module.\n\n    Traceback (most recent call last):\n    \
         ValueError, ArgumentError, RuntimeError: in main, of a run.\n    \"\"\"\n",
    );
    // Every frame below is of a file that is called so elsewhere.
    sandbox.write("lib/app.rb", &format!("{}run\n", "# A line of a licence.\n".repeat(14)));
    let message = "Got a storage URI without a hostname: 42";
    for (query, expected) in [
        (
            format!(
                "Traceback (most recent call last):\n  File \"/home/u/main.py\", line 12, in <module>\n    run()\n\
                 ValueError: {message}"
            ),
            "src/storage.py:3:",
        ),
        (
            format!(
                "Exception in thread \"main\" java.lang.IllegalStateException: {message}\n\t\
                 at com.acme.App.main(app.rb:12)"
            ),
            "src/storage.py:3:",
        ),
        (format!("/home/u/app.rb:12:in `run': {message} (ArgumentError)"), "src/storage.py:3:"),
        (
            format!(
                "panic: {message}\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/u/app.rb:12 +0x1d\nexit status 2"
            ),
            "src/storage.py:3:",
        ),
        (
            format!("Unhandled exception. System.Exception: {message}\n   at App.Main() in /home/u/app.rb:line 12"),
            "src/storage.py:3:",
        ),
        (format!("[error] GenServer #PID<0.1.0> terminating\n** (RuntimeError) {message}"), "src/storage.py:3:"),
        (
            format!(
                "PHP Fatal error:  Uncaught RuntimeException: {message} in /srv/app.rb:12\nStack trace:\n#0 {{main}}\n  \
                 thrown in /srv/app.rb on line 12"
            ),
            "src/storage.py:3:",
        ),
        ("RuntimeError:\n       no implicit conversion of a storage into a string".to_string(), "src/storage.py:7:"),
        // With the file's name alone, it decides; a path that fits outweighs a message.
        ("/home/u/app.rb:12:in `run'".to_string(), "lib/app.rb:12:"),
        (format!("/home/u/lib/app.rb:12:in `run': {message}"), "lib/app.rb:12:"),
    ] {
        let ran = sandbox.run(&["--query", &query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn tests_are_found_by_what_their_runners_print() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "test/QueueTest.php",
        "<?php\n\nnamespace Acme\\Queue\\Tests\\Helper;\n\nclass QueueTest\n{\n    public function testPush()\n    {\n        \
         return 1;\n    }\n}\n",
    );
    sandbox.write(
        "test/queue_test.go",
        "package queue\n\nimport \"example.com/acme/queue/internal\"\n\n\
         func TestTakeAll(t *testing.T) {\n\tinternal.Take(t)\n}\n",
    );
    sandbox.write(
        "test/queues.spec.ts",
        "describe('queue', () => {\n  it('is empty at first', () => {});\n  it('takes all that was put', () => {});\n});\n",
    );
    leads(
        &sandbox,
        &[
            ("1) Acme\\Queue\\Tests\\Helper\\QueueTest::testPush", "test/QueueTest.php:7:"),
            ("[xUnit.net 00:00:01.23]     Acme.Queue.Tests.Helper.QueueTest.testPush [FAIL]", "test/QueueTest.php:7:"),
            ("--filter FullyQualifiedName~QueueTest.testPush", "test/QueueTest.php:7:"),
            ("Test Case 'QueueTest.testPush' failed (0.0 seconds)", "test/QueueTest.php:7:"),
            ("QueueTest/testPush", "test/QueueTest.php:7:"),
            ("go test -run ^TestTakeAll$ example.com/acme/queue/internal", "test/queue_test.go:5:"),
            ("--- FAIL: TestTakeAll (0.00s)", "test/queue_test.go:5:"),
            ("  ● queue › takes all that was put", "test/queues.spec.ts:3:"),
        ],
    );
}

#[test]
fn all_places_of_a_name_are_found_however_they_are_asked_for() {
    let sandbox = Sandbox::new();
    for n in 1..=7 {
        sandbox.write(&format!("m{n}.py"), &format!("def f{n}(allow_hops=True):\n    return g(allow_hops)\n"));
    }
    sandbox.write("guide.md", "# Guide\n\nPass allow_hops to stop.\n");
    sandbox.write("tests/test_m.py", "def test_a():\n    assert f1(allow_hops=False)\n");
    sandbox.write("src/net.rs", "pub fn open_socket(port: u16) -> u16 {\n    port\n}\n");
    sandbox.write("src/host.rs", "pub fn host() -> u16 {\n    open_socket(1)\n}\n");
    for query in [
        "find all references to allow_hops",
        "all usages of allow_hops",
        "every place that mentions allow_hops",
        "everywhere allow_hops is used",
        "rename allow_hops to follow_hops",
        "replace allow_hops everywhere",
    ] {
        let ran = sandbox.run(&[query, "-l", "-k", "20"]);
        assert_eq!(ran.out.lines().count(), 9, "{query}: {ran:?}");
        let ran = sandbox.run(&[query, "-k", "3"]);
        assert!(ran.err.contains("9 files hold \"allow_hops\", 3 shown"), "{query}: {ran:?}");
    }
    // Who calls it comes before its definition.
    let ran = sandbox.run(&["rename open_socket to open_port", "-l", "-k", "20"]);
    assert_eq!(ran.out, "src/host.rs\nsrc/net.rs\n", "{ran:?}");
}

#[test]
fn a_name_behind_its_type_is_found_inside_a_question_and_with_its_mark() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/session.py",
        "class Session:\n    \"\"\"Resolves and sends.\"\"\"\n\n    def send(self):\n        return self.resolve()\n\n    \
         def resolve(self):\n        return 1\n",
    );
    sandbox.write("src/client.py", "class Client:\n    def resolve(self):\n        return 2\n");
    sandbox.write(
        "lib/sd.rb",
        "module Sd\n  def self.watchdog(unset = false)\n    1\n  end\n\n  def self.watchdog?\n    false\n  end\n\n  \
         def self.ready?\n    true\n  end\n\n  def self.ready(x)\n    x\n  end\nend\n",
    );
    leads(
        &sandbox,
        &[
            ("how does Session.resolve work", "src/session.py:7:"),
            ("why does Session::resolve() return early?", "src/session.py:7:"),
            ("explain Client#resolve", "src/client.py:2:"),
            ("Sd.watchdog?", "lib/sd.rb:6:"),
            ("watchdog?", "lib/sd.rb:6:"),
            ("where is Sd.watchdog? defined", "lib/sd.rb:6:"),
            ("Sd.watchdog", "lib/sd.rb:2:"),
            ("Sd.ready", "lib/sd.rb:14:"),
            ("how does Sd.ready? work", "lib/sd.rb:10:"),
        ],
    );
}

#[test]
fn a_piece_that_occurs_nowhere_is_read_as_what_it_names() {
    let sandbox = Sandbox::new();
    sandbox.write("app/server.py", "@app.route(\"/flask/users\")\ndef list_users():\n    return queue_depth(7)\n");
    sandbox.write("app/conf.yml", "database:\n  pool:\n    max_size: 20\nserver:\n  order_timeout: 30\n");
    sandbox.write("pool/pool.go", "package pool\n\nfunc (p *Pool) Acquire(n int) {\n\tp.take(n)\n}\n");
    sandbox.write("src/acme/queue.rs", "pub fn run_worker() {\n    poll();\n}\n");
    sandbox.write("src/com/acme/Parser.java", "package com.acme;\n\npublic class Parser {\n  Parser() {}\n}\n");
    sandbox.write("web/cart.rb", "def checkout(cart)\n  gateway = pick(cart)\nend\n");
    for (query, file) in [
        ("gateway=zzq7", "web/cart.rb"),
        ("checkout: zzq7", "web/cart.rb"),
        ("gateway: \"zzq7\"", "web/cart.rb"),
        ("queue_depth=7731", "app/server.py"),
        ("https://api.example.com/flask/users", "app/server.py"),
        ("http://localhost:3000/flask/users?page=1#top", "app/server.py"),
        ("/flask/users?page=1", "app/server.py"),
        ("/flask/users/42", "app/server.py"),
        ("order_timeout: 3", "app/conf.yml"),
        ("$.database.pool.max_size", "app/conf.yml"),
        ("pool.(*Pool).Acquire(0xc000010, 0x5)", "pool/pool.go"),
        ("acme::queue::run_worker::{{closure}}", "src/acme/queue.rs"),
        ("com.acme.Parser.<init>", "src/com/acme/Parser.java"),
        ("Lcom/acme/Parser;", "src/com/acme/Parser.java"),
        ("java.lang.NoClassDefFoundError: com.acme.Parser", "src/com/acme/Parser.java"),
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1", "-l"]);
        assert_eq!(ran.out, format!("{file}\n"), "{query}: {ran:?}");
    }
    // What is wrong in a name is no word more or less.
    for query in ["gateway.zork", "acme::queue::zork_worker"] {
        let ran = sandbox.run(&["--query", query, "-l"]);
        assert_eq!((ran.out.as_str(), ran.status), ("", 1), "{query}: {ran:?}");
    }
}

#[test]
fn keys_are_found_by_their_paths() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "config/app.yaml",
        "cache:\n  pool:\n    max_size: 7\ndata:\n  # pool\n  pool:\n    max_size: 10\n  retry:\n    limit: 5\n",
    );
    sandbox.write("app.tf", "disk {\n  main {\n    label = 1\n  }\n}\n");
    sandbox.write("setup.json", "{\n  \"hosts\": {\n    \"main\": {\n      \"portNumber\": 1\n    }\n  }\n}\n");
    sandbox.write("tool.toml", "[lint.main]\nsort = 1\nrules.depth = 2\n");
    sandbox.write("src/use.py", "def max_size(pool):\n    return config.get(\"data.pool.min_size\")\n");
    leads(
        &sandbox,
        &[
            ("data.pool.max_size", "config/app.yaml:7:"),
            ("cache.pool.max_size", "config/app.yaml:3:"),
            ("data:retry:limit", "config/app.yaml:9:"),
            ("retry.limit", "config/app.yaml:9:"),
            ("app.data.retry.limit", "config/app.yaml:9:"),
            ("$.data.retry.limit", "config/app.yaml:9:"),
            ("${data.retry.limit}", "config/app.yaml:9:"),
            ("config.get(\"data.pool.max_size\")", "config/app.yaml:7:"),
            ("config['data']['retry']['limit']", "config/app.yaml:9:"),
            ("DATA_POOL_MAX_SIZE", "config/app.yaml:7:"),
            ("DATA__RETRY__LIMIT", "config/app.yaml:9:"),
            ("disk.main.label", "app.tf:3:"),
            ("hosts.main.port-number", "setup.json:4:"),
            ("lint.main.sort", "tool.toml:2:"),
            ("lint.main.rules.depth", "tool.toml:3:"),
        ],
    );
    let ran = sandbox.run(&["data.retry.max_size", "-k", "1"]);
    assert!(!ran.out.starts_with("config/app.yaml:7:"), "another key of that name: {ran:?}");
}

#[test]
fn messages_lead_to_what_they_name() {
    let sandbox = Sandbox::new();
    for name in ["Queue", "Stack"] {
        let text = format!(
            "<?php\nnamespace Acme\\Relay;\n\nclass {name}\n{{\n    public function push(int $item): void\n    {{\n    }}\n}}\n"
        );
        sandbox.write(&format!("src/Relay/{name}.php"), &text);
    }
    sandbox.write("src/app.php", "<?php\nuse Acme\\Relay\\Queue;\n$q = new Queue();\n$q->push(1);\n");
    sandbox.write(
        "lib/bar.rb",
        "module Acme\n  class Bar\n    def push_item(item)\n      @items << item\n    end\n  end\nend\n",
    );
    sandbox.write("net/wire.py", "\"\"\"Wires.\"\"\"\nimport os\n\nclass Widget:\n    def turn(self):\n        pass\n");
    sandbox.write("app.py", "from net.wire import Widget\n\nWidget().turn()\n");
    sandbox.write(
        "java/com/acme/Foo.java",
        "package com.acme;\n\npublic class Foo {\n  static class Inner {\n    void run() {\n    }\n  }\n}\n",
    );
    sandbox.write(
        "java/com/acme/App.java",
        "package com.acme;\n\nclass App {\n  void f() {\n    try { new Foo(); } catch (ClassNotFoundException e) {}\n  }\n}\n",
    );
    sandbox.write(
        "src/relay.rs",
        "pub struct Ring;\n\nimpl Ring {\n    pub fn advance(&mut self) {\n        drop(1);\n    }\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("Class \"Acme\\Relay\\Queue\" not found", "src/Relay/Queue.php:4:"),
            ("Target class [Acme\\Relay\\Queue] does not exist.", "src/Relay/Queue.php:4:"),
            ("Call to undefined method Acme\\Relay\\Queue::push()", "src/Relay/Queue.php:6:"),
            ("Call to undefined method Acme\\Relay\\Queue::pusch()", "src/Relay/Queue.php:4:"),
            ("#3 [internal function]: Acme\\Relay\\Queue->push(1)", "src/Relay/Queue.php:6:"),
            ("undefined method 'push_item' for an instance of Acme::Bar", "lib/bar.rb:3:"),
            ("private method `push_item' called for #<Acme::Bar:0x0000>", "lib/bar.rb:3:"),
            ("'Widget' object has no attribute 'turn'", "net/wire.py:5:"),
            ("'Widget' object has no attribute 'spin'", "net/wire.py:4:"),
            ("cannot import name 'Widget' from 'net.wire' (/srv/net/wire.py)", "net/wire.py:4:"),
            ("No module named 'net.wire'", "net/wire.py:1:"),
            ("ClassNotFoundException: com.acme.Foo", "java/com/acme/Foo.java:3:"),
            ("Caused by: java.lang.ClassNotFoundException: com.acme.Foo", "java/com/acme/Foo.java:3:"),
            ("relay::Ring::advance::h0123456789abcdef", "src/relay.rs:4:"),
            ("<relay::Ring as core::ops::Fn>::advance::{{closure}}", "src/relay.rs:4:"),
            ("_ZN5relay4Ring7advance17h0123456789abcdefE", "src/relay.rs:4:"),
        ],
    );
}

#[test]
fn a_part_of_a_word_is_found_within_limits_outside_of_which_it_is_a_word() {
    let sandbox = Sandbox::new();
    sandbox.write("lib/a.py", "def px(a):\n    return a\n");
    sandbox.write("web/b.css", ".b {\n  width: 15px;\n}\n");
    for limits in [&["web"][..], &["-g", "*.css"], &["-t", "css"], &["web/b.css"]] {
        let ran = sandbox.run(&[&["--query", "px"], limits].concat());
        assert!(ran.out.starts_with("web/b.css:2:"), "{limits:?}: {ran:?}");
    }
}

#[test]
fn a_plain_word_whose_definition_is_asked_for_is_a_name() {
    let sandbox = Sandbox::new();
    sandbox.write("lib/render.ex", "defmodule A do\n  def frames(renderer) do\n    renderer\n  end\nend\n");
    sandbox.write("lib/view.ex", "defmodule B do\n  def defined(x), do: x\n\n  def onend(y), do: y\nend\n");
    for query in ["where is onend defined", "definition of onend", "onend definition", "who defines onend"] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with("lib/view.ex:4:"), "{query}: {ran:?}");
    }
}
