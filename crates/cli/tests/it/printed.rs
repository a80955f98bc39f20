//! Printed messages: values, prefixes and the program's own name surround the words of a literal.

use crate::common::{Sandbox, leads};

/// Literals of several programs, and places that contain the values of their messages, or a whole message.
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
        "src/roles.py",
        "def check(user, role):\n    if role not in user.roles:\n        \
         raise PermissionError(f\"user {user.name} has no role {role}\")\n    \
         log.warning(\"retrying in {} seconds\".format(delay))\n",
    );
    sandbox.write(
        "tests/test_roles.py",
        "def test_role(e, log):\n    assert str(e) == \"user bob has no role admin\"\n    \
         assert log.text == \"retrying in 30 seconds\"\n",
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
            // Values that occur elsewhere, and a literal that begins like a prefix.
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
            ("open terminal failed: not a terminal", "src/find.c:5:"),
            ("unknown option: --foobar", "src/options.go:4:"),
            ("Error: No nodes replied within time constraint", "src/control.py:3:"),
            ("user bob has no role admin", "src/roles.py:3:"),
            ("retrying in 30 seconds", "src/roles.py:4:"),
        ],
    );
    let ran = sandbox.run(&["--tests", "only", "-k", "1", "--query", "unknown option: --foobar"]);
    assert!(ran.out.starts_with("tests/test_core.rb:2:"), "{ran:?}");
}

#[test]
fn a_message_in_a_question_is_looked_up_by_itself() {
    let sandbox = printers();
    sandbox.write(
        "src/Writer.php",
        "<?php\nfunction write($error, $record)\n{\n    \
         throw new ValueException('Writing to the log file failed: '.$error . details($record));\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("where does 'Exceeded 30 redirects.' come from", "src/sessions.py:3:"),
            ("why do I get `Logger acme parents recursive`?", "src/sessions.py:12:"),
            ("note 'retrying in 30 seconds'", "src/roles.py:4:"),
            ("help: 'Logger acme parents recursive'", "src/sessions.py:12:"),
            ("why do I get Logger acme parents recursive", "src/sessions.py:12:"),
            ("who logs retrying in 30 seconds?", "src/roles.py:4:"),
            // A test asserts it, and code has a template.
            ("why do I get \"retrying in 30 seconds\"?", "src/roles.py:4:"),
            ("why do I get \"Writing to the log file failed: disk full\"?", "src/Writer.php:4:"),
        ],
    );
    // A query for tests shows the test that asserts the message.
    let ran = sandbox.run(&["-l", "--query", "where are the tests of \"retrying in 30 seconds\""]);
    assert_eq!(ran.out, "tests/test_roles.py\n", "{ran:?}");
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

#[test]
fn what_a_program_asks_behind_its_message_is_no_question() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/find.php",
        "<?php\nfunction find($name, $all)\n{\n    $message = sprintf('Command \"%s\" is not defined.', $name);\n    \
         if (1 == count($all)) {\n        $message .= \"\\n\\nDid you mean this?\\n    \";\n    } else {\n        \
         $message .= \"\\n\\nDid you mean one of these?\\n    \";\n    }\n}\n",
    );
    sandbox.write(
        "src/helper.php",
        "<?php\nfunction helper($name)\n{\n    \
         fail(sprintf('Cannot retrieve helper \"%s\". Did you mean one of these commands?', $name));\n}\n",
    );
    leads(
        &sandbox,
        &[
            ("Command \"foo:baz\" is not defined. Did you mean this?", "src/find.php:4:"),
            ("Command \"foo:baz\" is not defined. Did you mean one of these?", "src/find.php:4:"),
            ("Command \"foo:baz\" is not defined.\n\nDid you mean this?\n    foo:bar", "src/find.php:4:"),
            (
                "Command \"foo:baz\" is not defined.\n\nDid you mean one of these?\n    foo:bar\n    foo:bat",
                "src/find.php:4:",
            ),
        ],
    );
    // A question of somebody's own asks for what it quotes.
    let ran = sandbox.run(&["--query", "which command is not defined in \"foo:baz\"?"]);
    assert_eq!(ran.status, 1, "{ran:?}");
}

#[test]
fn a_frame_whose_line_has_moved_means_the_function_that_it_names() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "pkg/pool.py",
        "class Pool:\n    def fill(self):\n        self.n = 1\n        return self.n\n\n    \
         def drain(self):\n        if not self.n:\n            \
         raise PoolError(f\"Pool {self.n!r}: nothing left to drain\")\n        return 0\n\n\n\
         def outer():\n    def fill():\n        return 2\n    return fill\n",
    );
    sandbox.write(
        "src/acme/Call.kt",
        "package acme\n\nclass Call {\n  fun tag(): Int {\n    return 1\n  }\n\n  fun execute(): Int {\n    \
         check(isFirst) { \"Already Executed\" }\n    return 2\n  }\n}\n",
    );
    let head = "Traceback (most recent call last):\n";
    let frame = "  File \"/venv/site-packages/pkg/pool.py\", line";
    let raised =
        "    raise PoolError(f\"Pool {self.n!r}: nothing left to drain\")\nPoolError: Pool 0: nothing left to drain";
    for (query, expected) in [
        (format!("{head}{frame} 3, in drain\n{raised}"), "pkg/pool.py:8:"),
        (format!("{head}{frame} 3, in drain"), "pkg/pool.py:6:"),
        // A frame alone, also on an empty line, one behind the end and one above all functions.
        (format!("{frame} 3, in drain"), "pkg/pool.py:6:"),
        (format!("{frame} 5, in drain"), "pkg/pool.py:6:"),
        (format!("{frame} 11, in drain"), "pkg/pool.py:6:"),
        (format!("{frame} 900, in drain"), "pkg/pool.py:6:"),
        (format!("{frame} 1, in drain"), "pkg/pool.py:6:"),
        (format!("{frame} 7, in drain"), "pkg/pool.py:7:"),
        ("\tat acme.Call.execute(Call.kt:7)".into(), "src/acme/Call.kt:8:"),
        ("\tat acme.Call.execute(Call.kt:2)".into(), "src/acme/Call.kt:8:"),
        ("\tat acme.Call.execute(Call.kt:9)".into(), "src/acme/Call.kt:9:"),
        (
            "java.lang.IllegalStateException: Already Executed\n at acme.Call.execute(Call.kt:5)".into(),
            "src/acme/Call.kt:9:",
        ),
        // The line lies in the named definition, or nothing here has that name.
        (format!("{frame} 9, in drain\n{raised}"), "pkg/pool.py:9:"),
        (format!("{head}{frame} 4, in fill"), "pkg/pool.py:4:"),
        (format!("{head}{frame} 14, in fill"), "pkg/pool.py:14:"),
        (format!("{head}{frame} 3, in leave"), "pkg/pool.py:3:"),
        (format!("{head}{frame} 3, in <module>"), "pkg/pool.py:3:"),
        ("pkg/pool.py:3".into(), "pkg/pool.py:3:"),
    ] {
        let ran = sandbox.run(&["--query", &query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn what_stands_exactly_is_not_cut_and_one_letter_tells_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("src/errors.ts", "export function fail(): Errors {\n  return Errors.SAME_KEY\n}\n");
    sandbox.write("tests/fail.spec.ts", "it('fails', () => {\n  check([{ code: Errors.SAME_KEY }])\n})\n");
    sandbox.write(
        "src/wait.c",
        "#include \"wait.h\"\n\nstatic int cmd_wait_for(int channel);\n\nint cmd_wait_for(int channel)\n{\n\t\
         return channel;\n}\n",
    );
    sandbox.write("report.json", "{\n  \"files\": [\n    \"src/wait.c\",\n    \"src/cmd.c\"\n  ]\n}\n");
    sandbox.write(
        "src/cmd.c",
        "#include \"wait.h\"\n\nvoid cmd_log(int a)\n{\n\tlog_debug(\"%s: x=%u, y=%u%s\", a);\n}\n",
    );
    sandbox.write("src/input.c", "#include \"wait.h\"\n\nint input_osc_12(int y)\n{\n\treturn y;\n}\n");
    sandbox.write("src/run.c", "int main(void)\n{\n\treturn cmd_wait_for(2) + wait_more();\n}\n");
    leads(
        &sandbox,
        &[
            ("code: Errors.SAME_KEY", "tests/fail.spec.ts:2:"),
            // The program's name in front of a name, a file or a call.
            ("project: cmd_wait_for", "src/wait.c:5:"),
            ("project: wait.c", "src/wait.c:5:"),
            ("for x in input_osc_12(y):", "src/input.c:3:"),
        ],
    );
}

#[test]
fn a_file_comes_before_what_makes_paths_like_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write("packages/net-core/src/index.ts", "export function open(port) {\n  return port + 1\n}\n");
    sandbox.write("scripts/dev.js", "function build(target) {\n  bundle(`${target}/src/index.ts`)\n}\n");
    for i in 0..8 {
        sandbox.write(&format!("lib/page{i}.js"), &format!("function page{i}(a) {{\n  return a\n}}\n"));
    }
    leads(
        &sandbox,
        &[
            ("open packages/net-core/src/index.ts", "packages/net-core/src/index.ts:"),
            ("error in packages/net-core/src/index.ts", "packages/net-core/src/index.ts:"),
            ("modified:   packages/net-core/src/index.ts", "packages/net-core/src/index.ts:"),
        ],
    );
}

#[test]
fn a_heading_with_a_link_is_no_message_with_numbers() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "scripts/release.js",
        "function release() {\n  console.log(\n    \
         'Check status at https://github.com/acme/core/actions/workflows/release.yml',\n  )\n}\n",
    );
    let version = |i: u8| {
        let link = format!("https://github.com/acme/core/compare/v3.4.{}...v3.4.{i}", i - 1);
        format!("## [3.4.{i}]({link}) (2024-0{i}-09)\n\n### Bug Fixes\n\n* **net:** mend socket {i}\n\n")
    };
    let versions: String = (3..7).rev().map(version).collect();
    sandbox.write("changelogs/CHANGELOG-3.4.md", &format!("# Changes\n\n{versions}"));
    for i in 0..12 {
        sandbox.write(&format!("lib/page{i}.js"), &format!("function page{i}(a) {{\n  return a\n}}\n"));
    }
    let heading = "[3.4.6](https://github.com/acme/core/compare/v3.4.5...v3.4.6) (2024-06-09) section";
    leads(&sandbox, &[(heading, "changelogs/CHANGELOG-3.4.md:3:")]);
}

#[test]
fn rows_of_data_come_after_the_code_that_is_named_like_their_text() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "sql/seed.sql",
        "INSERT INTO steps (id, name) VALUES (1, 'validate email address');\nINSERT INTO steps VALUES\n  \
         (2, 'send welcome mail'),\n  (3, 'close the account');\n",
    );
    sandbox.write(
        "src/mail.py",
        "def validate_email(address):\n    \"\"\"Validate that an email address is well formed.\"\"\"\n    \
         return \"@\" in address\n\n\ndef send_welcome(user):\n    \"\"\"Send the welcome mail.\"\"\"\n    return user\n",
    );
    leads(&sandbox, &[("validate email address", "src/mail.py:1:"), ("send welcome mail", "src/mail.py:6:")]);
}
