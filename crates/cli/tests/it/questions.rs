//! How the binary reads questions: frames, contractions, mistyped names, plain words that are names of files, and names
//! that are no single identifier.

use crate::common::{Sandbox, leads};

#[test]
fn one_question_in_other_words_has_one_answer() {
    let sandbox = Sandbox::new();
    sandbox
        .write("src/events.py", "def dispatch(event):\n    for handler in event.handlers:\n        handler(event)\n");
    sandbox.write("src/queue.py", "class Queue:\n    def push(self, event):\n        self.events.append(event)\n");
    sandbox.write("src/mail.py", "def my_mail(i):\n    return i\n\n\ndef can_send(mail):\n    return mail\n");
    let answer = |query: &str| sandbox.run(&["--query", query, "--all"]).out;
    let expected = answer("cannot dispatch an event");
    assert!(expected.starts_with("src/events.py:1:"), "{expected}");
    for query in [
        "can't dispatch an event",
        "can’t dispatch an event",
        "Can't dispatch an event",
        "cant dispatch an event",
        "can not dispatch an event",
        "I cannot dispatch an event",
        "we can't dispatch an event",
        "my event cannot dispatch",
    ] {
        let ran = answer(query);
        assert!(ran.starts_with("src/events.py:1:"), "{query}: {ran}");
        assert_eq!(ran.lines().count(), expected.lines().count(), "{query}: {ran}");
        assert!(!ran.contains("mail.py"), "{query}: {ran}");
    }
}

#[test]
fn a_plain_word_is_no_path() {
    let sandbox = Sandbox::new();
    sandbox.write("public/another/file", "hello\n");
    sandbox.write("src/upload.js", "export function upload(file) {\n  return send(file);\n}\n");
    sandbox.write("src/read.js", "export function read(file) {\n  return open(file).text();\n}\n");
    let questions = [
        "upload a file",
        "upload the file",
        "upload file",
        "file upload",
        "uploading a file",
        "how do I upload a file",
        "how is a file uploaded",
        "where is a file uploaded",
        "which function uploads a file",
        "I want to upload a file",
        "can I upload a file",
        "code that uploads a file",
        "what happens when a file is uploaded",
        "show me how to upload a file",
    ];
    leads(&sandbox, &questions.map(|query| (query, "src/upload.js:1:")));
    let questions = [
        "read a file",
        "how do I read a file",
        "read file",
        "reading a file",
        "where is a file read",
        "how are files read",
        "the function that reads a file",
    ];
    leads(&sandbox, &questions.map(|query| (query, "src/read.js:1:")));
    leads(
        &sandbox,
        &[
            ("file", "public/another/file:"),
            ("public/another/file", "public/another/file:"),
            ("another/file", "public/another/file:"),
            ("upload in read.js", "src/read.js:"),
        ],
    );
}

#[test]
fn a_mistyped_name_is_searched_as_the_nearest_one() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/loop.c",
        "int uv_spawn(int a) {\n  return run(a);\n}\n\nstatic int uv__run_timers(int b) {\n  return run(b);\n}\n\n\
         int uv_fs_scandir(int c) {\n  return run(c);\n}\n",
    );
    sandbox.write(
        "src/client.py",
        "class ClientSession:\n    def request_body(self):\n        return 1\n\n\ndef close_session():\n    return 2\n\n\n\
         MAX_BUFFER_SIZE = 3\n",
    );
    sandbox.write(
        "src/socket.js",
        "export class WebSocketClient {\n  openConnection() {\n    return 1;\n  }\n}\n\n\
         export function parseRequestHeaders(text) {\n  return text;\n}\n",
    );
    for (typed, expected) in [
        ("uv_spwan", "src/loop.c:1:"),
        ("uv_spawnn", "src/loop.c:1:"),
        ("uv_spwan()", "src/loop.c:1:"),
        ("where is uv_spwan defined", "src/loop.c:1:"),
        ("how does uv_spwan start a process", "src/loop.c:1:"),
        ("uv_fs_sacndir", "src/loop.c:9:"),
        ("uv_fs_scandirr", "src/loop.c:9:"),
        ("ClientSesion", "src/client.py:1:"),
        ("ClientSessoin", "src/client.py:1:"),
        ("CleintSession", "src/client.py:1:"),
        ("close_sesion", "src/client.py:6:"),
        ("close_sessoin", "src/client.py:6:"),
        ("closeSesion", "src/client.py:6:"),
        ("reqeust_body", "src/client.py:2:"),
        ("MAX_BUFER_SIZE", "src/client.py:10:"),
        ("WebSocketClinet", "src/socket.js:1:"),
        ("WebSoketClient", "src/socket.js:1:"),
        ("openConection", "src/socket.js:2:"),
        ("openconection", "src/socket.js:2:"),
        ("clientsesion", "src/client.py:1:"),
        ("closesesion", "src/client.py:6:"),
        ("parseRequestHeder", "src/socket.js:7:"),
        ("parseReqestHeaders", "src/socket.js:7:"),
    ] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{typed}: {ran:?}");
        assert!(ran.err.contains("is read as"), "{typed}: {ran:?}");
    }
    // Another spelling of a name needs no remark.
    leads(&sandbox, &[("uv_run_timers", "src/loop.c:5:"), ("webSocketClient", "src/socket.js:1:")]);
    // Other names, and names that the text contains.
    for typed in
        ["MIN_BUFFER_SIZE", "uv_spawn_99", "uv_spawn", "open_session", "BUFFER_SIZE", "zzqq_session", "openings"]
    {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(!ran.err.contains("is read as"), "{typed}: {ran:?}");
    }
}

#[test]
fn a_mistyped_name_that_is_no_definition_is_searched_as_the_nearest_one() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/engine.go",
        "package web\n\ntype Engine struct {\n\tMaxMultipartMemory int64\n\tRemoteIPHeaders []string\n\
         \tUnescapePathValues bool\n\tsocketTimeout int\n}\n",
    );
    sandbox.write("src/cors.py", "def start(app, allow_origin_regex=None):\n    app.run(allow_origin_regex)\n");
    sandbox.write("src/send.js", "export function send(config) {\n  return write(config.maxBodyLength);\n}\n");
    for (typed, read, path) in [
        ("MaxMultpartMemory", "MaxMultipartMemory", "src/engine.go:"),
        ("max_multpart_memory", "MaxMultipartMemory", "src/engine.go:"),
        ("RemoteIPHeadrs", "RemoteIPHeaders", "src/engine.go:"),
        ("UnescapePathValus", "UnescapePathValues", "src/engine.go:"),
        ("socket_timeouts", "socketTimeout", "src/engine.go:"),
        ("allow_orgin_regex", "allow_origin_regex", "src/cors.py:"),
        ("alow_origin_regex", "allow_origin_regex", "src/cors.py:"),
        ("maxBodyLenght", "maxBodyLength", "src/send.js:"),
    ] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(ran.out.starts_with(path), "{typed}: {ran:?}");
        assert!(ran.err.contains(&format!("\"{typed}\" is read as \"{read}\"")), "{typed}: {ran:?}");
    }
    sandbox.write("conf/app.yaml", "server:\n  host: localhost\n  max-retries: 3\n");
    for (typed, read, path) in [
        ("max-retires", "max-retries", "conf/app.yaml:3:"),
        ("allow-orgin-regex", "allow_origin_regex", "src/cors.py:"),
        ("socket-timeuot", "socketTimeout", "src/engine.go:"),
    ] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(ran.out.starts_with(path), "{typed}: {ran:?}");
        assert!(ran.err.contains(&format!("\"{typed}\" is read as \"{read}\"")), "{typed}: {ran:?}");
    }
    for typed in ["MinMultipartMemory", "deny_origin_regex", "allow_origin_regex", "BodyLength", "min-retries"] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(!ran.err.contains("is read as"), "{typed}: {ran:?}");
    }
}

#[test]
fn names_with_marks_mean_their_definition() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "disk.ps1",
        "# Runs Get-DiskReport for all.\nGet-DiskReport -All\nfunction Get-DiskReport {\n  param($All)\n  \"report\"\n}\n\
         Get-DiskReport\n",
    );
    sandbox.write(
        "Makefile",
        ".PHONY: test-unit build-it\nall: build-it test-unit\ntest-unit:\n\tgo test ./...\nbuild-it:\n\tgo build\n",
    );
    sandbox.write(
        "deploy.sh",
        "#!/bin/bash\n# usage: deploy-app NAME\ntrap 'deploy-app x' EXIT\ndeploy-app() {\n  echo \"$1\"\n}\ndeploy-app foo\n",
    );
    sandbox.write(
        "Prime.hs",
        "module Prime where\ng y = step' y + 1\n-- step' is nice\nstep' :: Int -> Int\nstep' n = n + 1\n",
    );
    sandbox.write(
        "page.css",
        ".btn { color: red }\na:hover .btn-primary { color: red }\n.btn-primary { color: blue }\n\
         .btn-primary:hover { color: red }\n#main-menu { color: red }\n",
    );
    sandbox.write(
        "main.tf",
        "resource \"aws_subnet\" \"x\" { vpc_id = aws_vpc.this.id }\nresource \"aws_vpc\" \"this\" { cidr_block = var.cidr }\n\
         variable \"cidr\" { default = \"10\" }\ndata \"aws_ami\" \"ubuntu\" { most_recent = true }\n\
         output \"image\" { value = data.aws_ami.ubuntu.id }\n",
    );
    sandbox.write(
        "ci/ci.yml",
        "name: ci\non: push\njobs:\n  notify:\n    needs: [deploy, build-and-test]\n    runs-on: x\n  deploy:\n    \
         needs: build-and-test\n    runs-on: ubuntu\n  build-and-test:\n    runs-on: ubuntu\n",
    );
    sandbox.write(
        "queue.lua",
        "-- Queue:push puts one.\nlocal Queue = {}\nfunction Queue:push(one)\n  return one\nend\n\
         function Other:push()\n  return 1\nend\nreturn Queue\n",
    );
    sandbox.write(
        "Loader.m",
        "@implementation Loader\n- (void)go { [self loadIt:@\"x\" withMode:2]; }\n\
         - (void)loadIt:(NSString *)it withMode:(int)mode {\n  run(it);\n}\n@end\n",
    );
    sandbox.write(
        "session.py",
        "class Request:\n    def request(self):\n        return 1\n\n\nclass Session:\n    def get(self):\n        \
         return self.request()\n\n    def request(self):\n        return 2\n",
    );
    sandbox.write("compose.yaml", "services:\n  proxy:\n    depends_on: [web_app]\n  web_app:\n    image: relay\n");
    sandbox.write(
        "put.rb",
        "class Put\n  def fire_all\n    1\n  end\n\n  def self.fire_all(jobs)\n    jobs\n  end\nend\n",
    );
    leads(
        &sandbox,
        &[
            ("Get-DiskReport", "disk.ps1:3:"),
            ("get-diskreport", "disk.ps1:3:"),
            ("where is Get-DiskReport defined", "disk.ps1:3:"),
            ("test-unit", "Makefile:3:"),
            ("build-it", "Makefile:5:"),
            ("deploy-app", "deploy.sh:4:"),
            ("deploy-app()", "deploy.sh:4:"),
            ("step'", "Prime.hs:4:"),
            (".btn-primary", "page.css:3:"),
            ("btn-primary", "page.css:3:"),
            (".btn-primary:hover", "page.css:4:"),
            ("a:hover .btn-primary", "page.css:2:"),
            ("#main-menu", "page.css:5:"),
            ("main-menu", "page.css:5:"),
            ("aws_vpc.this", "main.tf:2:"),
            ("aws_subnet.x", "main.tf:1:"),
            ("var.cidr", "main.tf:3:"),
            ("where is var.cidr defined", "main.tf:3:"),
            ("data.aws_ami.ubuntu", "main.tf:4:"),
            ("jobs.deploy", "ci/ci.yml:7:"),
            ("jobs.build-and-test", "ci/ci.yml:10:"),
            ("build-and-test", "ci/ci.yml:10:"),
            ("web_app", "compose.yaml:4:"),
            ("services.web_app", "compose.yaml:4:"),
            ("Put.fire_all", "put.rb:6:"),
            ("Put#fire_all", "put.rb:2:"),
            ("Queue:push", "queue.lua:3:"),
            ("loadIt:withMode:", "Loader.m:3:"),
            ("Session.request", "session.py:10:"),
        ],
    );
}

#[test]
fn a_heading_word_for_word_is_that_heading() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "README.md",
        "# Relay\n\nText of usage.\n\n## Getting started\n\nHello.\n\n## Write a file\n\nText.\n\n### `open()` and close\n\nText.\n\n\
         ## FAQ: what fails?\n\nText.\n",
    );
    sandbox.write(
        "guide.rst",
        "Timeouts\n========\n\nHow long it takes.\n\nRetry policies\n--------------\n\nText.\n\nWhat's new in 2.0?\n\
         ------------------\n\nText.\n",
    );
    sandbox.write(
        "book.adoc",
        "= The Book\n\n== Installing on Linux\n\nText.\n\n== Usage\n\nText of usage.\n\n=== Limits of a server\n\nText.\n",
    );
    sandbox.write("settings.md", "# Settings\n\n## backoff\n\nText.\n\n## timeout\n\nText.\n");
    sandbox.write("src/limits.py", "def timeout(backoff):\n    backoff.start(backoff)\n    return backoff\n");
    let all = "Getting started. Write a file. open() and close. FAQ: what fails? Timeouts. Retry policies. What's new in \
               2.0? The Book. Installing on Linux. Usage. Limits of a server.";
    sandbox
        .write("src/all.py", &format!("# {all}\ndef usage():\n    \"\"\"{all}\"\"\"\n    return \"Retry policies\"\n"));
    leads(
        &sandbox,
        &[
            ("Getting started", "README.md:5:"),
            ("Write a file", "README.md:9:"),
            ("write a file", "README.md:9:"),
            ("`open()` and close", "README.md:13:"),
            ("open() and close", "README.md:13:"),
            ("FAQ: what fails?", "README.md:17:"),
            ("FAQ: what fails", "README.md:17:"),
            ("Timeouts", "guide.rst:1:"),
            ("Retry policies", "guide.rst:6:"),
            ("What's new in 2.0?", "guide.rst:11:"),
            ("What's new in 2.0", "guide.rst:11:"),
            ("what's new in 2.0", "guide.rst:11:"),
            ("What’s new in 2.0?", "guide.rst:11:"),
            ("The Book", "book.adoc:1:"),
            ("Installing on Linux", "book.adoc:3:"),
            ("installing on linux", "book.adoc:3:"),
            ("Installing on Linux.", "book.adoc:3:"),
            ("Usage", "book.adoc:7:"),
            ("Limits of a server", "book.adoc:11:"),
            ("limits of a server?", "book.adoc:11:"),
            // A plain word or two name a topic, but for a heading that is that word where no code defines it.
            ("usage", "src/all.py:2:"),
            ("backoff", "settings.md:3:"),
            ("timeout", "src/limits.py:1:"),
        ],
    );
}
