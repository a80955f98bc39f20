//! Names in every spelling, and parts of names: a search finds them and never denies what a file contains.

use colgrep_engine::request::Weakest;
use colgrep_engine::{Detail, RankBy, SearchRequest};

use super::{engine, projects};

const FILES: [(&str, &str); 11] = [
    ("net.c", "int family = AF_INET6;\nvoid API_V2_handler(void) { isIPv4(USE_LIBSSH2); }\n"),
    ("convert.js", "function toMP3(x) { return x }\nconst my_2nd_try = is_3d(retry_4xx)\n"),
    (
        "api.go",
        "package api\n\nfunc listAPIs() {}\nfunc exportPDFs() {}\nfunc gRPCDial() {}\ntype OAuthToken struct{}\n",
    ),
    ("dialog.go", "package dialog\n\nfunc open2FADialog() {}\nfunc MySQLConnect() {}\ntype WebSocketServer struct{}\n"),
    ("server.yaml", "max-open-files: 3\naria-label: name\nx-request-id: on\ncontent-type: text\n"),
    ("hash.py", "def sha256_hex(data):\n    return utf8Decode(data)\n"),
    ("menu.py", "cafe\u{301}_menu = 1\nΟΔΟΣ = 2\n"),
    ("cafe\u{301}_list.py", "pass\n"),
    ("codec.c", "int x = h264Enc(aes256gcm());\n"),
    ("levels.rb", "def levels(h, aes)\n  h + aes\nend\n"),
    ("runner.rb", "def stop\n  running = misconfigured\nend\n"),
];

/// The paths that a search shows, and the words that it reports as absent.
fn found(folder: &std::path::Path, query: &str) -> (Vec<String>, Vec<String>) {
    let mut session = engine(folder).session(folder).expect("a session");
    let mut request = SearchRequest::new(query).within(folder).by(RankBy::Words).detail(Detail::Names);
    request.shape.weakest = Weakest::Floor;
    let results = session.rank(&request).expect("results");
    let end = results.end().expect("an end");
    let mut denied = end.unknown.clone();
    // A word that is read as another spelling must not occur as typed.
    let stands = |typed: &str| FILES.iter().any(|(_, text)| text.to_lowercase().contains(&typed.to_lowercase()));
    denied.extend(end.read_as.iter().filter(|(typed, _)| stands(typed)).map(|(typed, _)| typed.clone()));
    if end.shown == 0 && end.is_tokens && !end.is_held {
        denied.push(query.to_string());
    }
    (results.files(0..results.len()).expect("files").into_iter().map(|file| file.path).collect(), denied)
}

#[test]
fn parts_of_names_are_found_in_any_spelling() {
    let folder = projects(&FILES);
    for (queries, path) in [
        (&["inet6", "INET6", "af-inet6", "v2", "libssh2", "ipv4", "api v2"][..], "net.c"),
        (&["mp3", "2nd", "3d", "4xx", "2nd_try", "my-2nd"], "convert.js"),
        (&["apis", "pdf", "pdfs", "PDFs", "grpc", "gRPC", "RPCDial", "rpc_dial", "oauth", "oauth_token"], "api.go"),
        (
            &["2fa", "open2fa", "mysql", "my_sql", "mysql-connect", "websocket", "web_socket", "socketserver"],
            "dialog.go",
        ),
        (&["max-open-files", "max_open_files", "maxOpenFiles", "MAX_OPEN_FILES", "max open files"], "server.yaml"),
        (&["aria_label", "ariaLabel", "x_request_id", "content_type", "ContentType", "open_files"], "server.yaml"),
        (&["sha256", "SHA-256", "sha_256", "UTF-8", "utf8", "UTF_8"], "hash.py"),
        // Its letters alone are a word of another file.
        (&["H-264", "h_264", "AES-256", "AES_256"], "codec.c"),
        (&["café_menu", "cafe\u{301}_menu", "CAFÉ_MENU", "οδος", "ΟΔΟΣ"], "menu.py"),
        (&["café_list.py", "cafe\u{301}_list", "café_list"], "cafe\u{301}_list.py"),
        (&["nning", "NNING", "MISCONF", "configure"], "runner.rb"),
    ] {
        for query in queries {
            let (paths, denied) = found(folder.path(), query);
            assert_eq!(paths.first().map(String::as_str), Some(path), "{query}: {paths:?}");
            assert!(denied.is_empty(), "{query}: {denied:?}");
        }
    }
}

#[test]
fn what_stands_nowhere_is_still_told() {
    let folder = projects(&FILES);
    for query in ["zzqqx", "inet7", "max_closed_files", "SHA-384"] {
        let (paths, denied) = found(folder.path(), query);
        assert!(paths.is_empty() && !denied.is_empty(), "{query}: {paths:?}, {denied:?}");
    }
}

#[test]
fn a_name_as_written_comes_before_other_spellings_of_it() {
    let folder = projects(&[
        ("a.yaml", "max-open-files: 3\n"),
        ("b.rs", "fn max_open_files() {}\n"),
        ("c.rs", "fn misconfigured() {}\n"),
        ("d.rs", "const MISCONF: u32 = 1;\n"),
    ]);
    assert_eq!(found(folder.path(), "max_open_files").0, ["b.rs", "a.yaml"]);
    assert_eq!(found(folder.path(), "max-open-files").0, ["a.yaml", "b.rs"]);
    assert_eq!(found(folder.path(), "MISCONF").0, ["d.rs"]);
}

#[test]
fn another_spelling_hides_no_longer_name_that_contains_the_name_as_typed() {
    let folder = projects(&[
        ("light.go", "package tui\n\nfunc set(w *Window, sign string) { w.wrapSign = sign }\n"),
        ("preview.rb", "def test_preview_wrap_sign_between_fragments\n  run\nend\n"),
        ("socket.c", "int closesocket(int s) { return s; }\n"),
    ]);
    for query in ["wrap_sign", "Wrap_Sign", "WRAP_SIGN", "wrapSign"] {
        let (mut paths, denied) = found(folder.path(), query);
        paths.sort_unstable();
        assert_eq!((paths, denied), (vec!["light.go".to_string(), "preview.rb".to_string()], Vec::new()), "{query}");
    }
    assert_eq!(found(folder.path(), "close_socket").0, ["socket.c"]);
}
