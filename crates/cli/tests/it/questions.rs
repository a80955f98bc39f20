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
    for query in [
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
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with("src/upload.js:1:"), "{query}: {ran:?}");
    }
    for query in [
        "read a file",
        "how do I read a file",
        "read file",
        "reading a file",
        "where is a file read",
        "how are files read",
        "the function that reads a file",
    ] {
        let ran = sandbox.run(&["--query", query, "-k", "1"]);
        assert!(ran.out.starts_with("src/read.js:1:"), "{query}: {ran:?}");
    }
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
        ("uv_run_timers", "src/loop.c:5:"),
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
        ("parseRequestHeder", "src/socket.js:7:"),
        ("parseReqestHeaders", "src/socket.js:7:"),
    ] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{typed}: {ran:?}");
        assert!(ran.err.contains("is read as"), "{typed}: {ran:?}");
    }
    // Other names, and names that the text contains.
    for typed in ["MIN_BUFFER_SIZE", "uv_spawn_99", "uv_spawn", "open_session", "BUFFER_SIZE", "zzqq_session"] {
        let ran = sandbox.run(&["--query", typed, "-k", "1"]);
        assert!(!ran.err.contains("is read as"), "{typed}: {ran:?}");
    }
}
