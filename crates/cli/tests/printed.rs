//! The binary on printed messages: values, fronts and the program's own name stand around the words of a literal.

mod common;

use common::{Sandbox, leads};

/// Literals of several programs, and places that hold the values of their messages, or all of one.
fn printers() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/net.py",
        "def connect(url, exc):\n    logger.error(\"worker: Cannot connect to %s: %s.\", url, exc)\n\n\n\
         RETRIED = \"\"\"\\\nTrying %s again: attempt %s.\n%s\n\"\"\"\n",
    );
    sandbox.write("examples/app.py", "app = App(\n    broker='redis://localhost:6379/0',\n    timed='out',\n)\n");
    sandbox.write("src/amqp.py", "class Amqp:\n    Connection = Connection\n    refused = Errno\n");
    sandbox.write(
        "lang/en/validation.php",
        "<?php\n\nreturn [\n    'present' => 'The :attribute field must be present.',\n    \
         'required' => 'The :attribute field is required.',\n    \
         'required_without' => 'The :attribute field is required when :values is not present.',\n];\n",
    );
    sandbox.write(
        "src/Email.php",
        "<?php\nclass Email\n{\n    /**\n     * Ensure that the email field has a valid record, which is required.\n     */\n    \
         public function validate()\n    {\n        return $this->field;\n    }\n}\n",
    );
    sandbox.write(
        "src/sessions.py",
        "def resolve(resp, most):\n    if len(resp.history) >= most:\n        \
         raise TooManyRedirects(f\"Exceeded {most} redirects.\", response=resp)\n\n\n\
         def check(value):\n    fail(\"Expected two integers.\"\n         f\"Got {len(value)} instead.\")\n\n\n\
         def parents(seen, l):\n    raise RuntimeError(f'Logger {l.name!r} parents recursive')\n",
    );
    sandbox.write("src/limits.py", "REDIRECT_LIMIT = 30  # redirects are exceeded\nGOT = 5\n");
    sandbox.write(
        "src/find.c",
        "int find_target(struct item *item)\n{\n\tif (item == NULL)\n\t\tcmdq_error(item, \"no mouse target\");\n\t\
         return cmdq_error(item, \"open terminal failed: %s\", item->cause);\n}\n",
    );
    sandbox.write(
        "tests/targets.sh",
        "#!/bin/sh\ncheck_fail \"no mouse target\" \"{mouse}\"\n\
         check_fail 'open terminal failed: not a terminal' new -d\n",
    );
    sandbox.write(
        "src/options.go",
        "package app\n\nfunc parse(arg string) error {\n\treturn errors.New(\"unknown option: \" + arg)\n}\n",
    );
    sandbox.write("tests/test_core.rb", "def test_invalid\n  assert_includes lines, 'unknown option: --foobar'\nend\n");
    sandbox.write(
        "src/control.py",
        "def status(replies):\n    if not replies:\n        \
         raise CommandError(message='No nodes replied within time constraint')\n",
    );
    sandbox.write(
        "tests/test_control.py",
        "def test_status(res):\n    assert res.output == 'Error: No nodes replied within time constraint'\n",
    );
    sandbox
}

#[test]
fn messages_lead_to_the_literal_that_they_were_made_of() {
    let sandbox = printers();
    let refused = "worker: Cannot connect to amqp://guest:**@127.0.0.1:5672//: [Errno 111] Connection refused.";
    let logged = format!("[2026-11-25 10:11:12,345: ERROR/MainProcess] {refused}");
    leads(
        &sandbox,
        &[
            // Values that stand elsewhere, and a literal that begins like a front.
            ("worker: Cannot connect to redis://localhost:6379/0: timed out", "src/net.py:2:"),
            ("worker: Cannot connect to redis://localhost:6379/0: timed out.", "src/net.py:2:"),
            (refused, "src/net.py:2:"),
            (logged.as_str(), "src/net.py:2:"),
            ("Trying redis://localhost:6379/0 again: attempt 3.", "src/net.py:6:"),
            ("The email field is required.", "lang/en/validation.php:5:"),
            // Single words on both sides of a value.
            ("Exceeded 30 redirects.", "src/sessions.py:3:"),
            ("net.TooManyRedirects: Exceeded 30 redirects.", "src/sessions.py:3:"),
            ("Got 5 instead.", "src/sessions.py:8:"),
            ("Logger acme parents recursive", "src/sessions.py:12:"),
            // The program's own name.
            ("project: no mouse target", "src/find.c:4:"),
            // Code before the tests that assert what it prints.
            ("no mouse target", "src/find.c:4:"),
            ("unknown option: --foo", "src/options.go:4:"),
            // But what is all of a literal was copied from there.
            ("open terminal failed: not a terminal", "tests/targets.sh:3:"),
            ("unknown option: --foobar", "tests/test_core.rb:2:"),
            ("Error: No nodes replied within time constraint", "tests/test_control.py:2:"),
        ],
    );
    let ran = sandbox.run(&["--tests", "only", "-k", "1", "--query", "unknown option: --foobar"]);
    assert!(ran.out.starts_with("tests/test_core.rb:2:"), "{ran:?}");
}

#[test]
fn what_lacks_a_word_of_a_literal_or_has_more_was_not_made_of_it() {
    let sandbox = printers();
    for query in [
        "Exceeded 30 of the many redirects",
        "Exceeded 30 limits.",
        "Got 5 back.",
        "redirects exceeded by sessions",
        "Logger acme children recursive",
        "The email field is optional.",
        "config: mouse of a target",
        "project: mouse of a target",
        "how many redirects are exceeded",
    ] {
        let ran = sandbox.run(&["--explain", "--all", "--query", query]);
        assert!(ran.status == 0 && !ran.out.contains("pointed +"), "{query}: {}", ran.out);
    }
}
