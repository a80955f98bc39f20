//! Questions in other languages than English.

use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::strength::FLOOR;
use colgrep_index::store::Snapshot;
use colgrep_search::{CorpusAnswer, Request, search_one};

use crate::project::{Project, request};

const FILES: [(&str, &str); 5] = [
    ("src/pool.py", "def take(self):\n    \"\"\"Takes a connection from the pool.\"\"\"\n    return self.free.pop()\n"),
    ("src/session.py", "def sweep(store):\n    \"\"\"Deletes expired sessions.\"\"\"\n    store.clear()\n"),
    ("src/upload.py", "def check(size):\n    \"\"\"Limits the size of an uploaded file.\"\"\"\n    return size < 10\n"),
    ("src/lamp.py", "def walk(lamps):\n    \"\"\"Обходит фонари на берегу.\"\"\"\n    return lamps\n"),
    ("docs/leitfaden.md", "# Leuchtturm\n\nDer Wärter putzt jeden Abend die Laterne.\n"),
];

fn ask(snapshot: &Snapshot, query: &str) -> CorpusAnswer {
    let knobs = Knobs::of(Profile::Default);
    let request = Request { files: 5, units_per_file: PerFile::Usual, ..request(query, &knobs) };
    search_one(snapshot, None, &request, None).expect("an answer")
}

fn first(answer: &CorpusAnswer) -> Option<&str> {
    answer.hits.first().map(|hit| answer.files[hit.file].path.as_str())
}

#[test]
fn a_question_finds_what_its_english_form_finds() {
    let project = Project::with(&FILES);
    let snapshot = project.update(None).0;
    let english = ask(&snapshot, "where are expired sessions deleted");
    assert_eq!(first(&english), Some("src/session.py"));
    assert!(english.query.translation.is_none());
    for question in [
        "过期的会话在哪里删除",
        "期限切れのセッションを削除する処理",
        "만료된 세션을 삭제하는 코드",
        "где удаляются просроченные сессии",
        "dónde se eliminan las sesiones expiradas",
        "wo werden abgelaufene Sitzungen gelöscht",
        "où sont supprimées les sessions expirées",
        "onde as sessões expiradas são excluídas",
    ] {
        let answer = ask(&snapshot, question);
        assert_eq!(first(&answer), Some("src/session.py"), "{question}");
        let told = answer.query.told();
        assert!(told.first().is_some_and(|told| told.contains(" for \"") && told.contains("session")), "{told:?}");
    }
}

fn is_shown(answer: &CorpusAnswer, path: &str) -> bool {
    answer.hits.iter().any(|hit| answer.files[hit.file].path == path && hit.strength >= FLOOR)
}

#[test]
fn words_without_a_question_are_found_as_typed_too() {
    let files = [
        ("src/names.py", "# 日本語のコメント\n変数名 = 1\nユーザー名_取得 = 2\n"),
        ("src/read.py", "def get_number(book):\n    return book.name\n"),
        ("src/pool.go", "package pool\n\n// 连接池\nfunc connectionPool() {}\n"),
        ("src/suche.py", "größe_ändern = 3  # Datei löschen\n"),
        ("src/delete.py", "def delete_file(path):\n    path.unlink()\n"),
    ];
    let project = Project::with(&files);
    let snapshot = project.update(None).0;
    for (words, path) in [
        ("取得", "src/names.py"),
        ("名_取得", "src/names.py"),
        ("数", "src/names.py"),
        ("连接池", "src/pool.go"),
        ("Datei löschen", "src/suche.py"),
    ] {
        assert!(is_shown(&ask(&snapshot, words), path), "{words}");
    }
    // In English, too.
    assert!(is_shown(&ask(&snapshot, "取得"), "src/read.py"));
}

#[test]
fn comments_and_documents_in_the_language_are_found_by_their_words() {
    let project = Project::with(&FILES);
    let snapshot = project.update(None).0;
    for (question, path) in
        [("обходит фонари", "src/lamp.py"), ("wie putzt der Wärter die Laterne", "docs/leitfaden.md")]
    {
        assert_eq!(first(&ask(&snapshot, question)), Some(path), "{question}");
    }
}

#[test]
fn a_text_is_found_where_it_stands_in_any_kind_of_file() {
    let files = [
        ("data/ja.json", "{\n  \"e1\": \"配列が空です\"\n}\n"),
        ("data/ru.yaml", "a: 1\nb: Файл не найден на сервере\n"),
        ("data/zh.txt", "注意：无法连接到服务器，请重试\n"),
        ("data/ko.po", "msgid \"x\"\nmsgstr \"파일을 찾을 수 없습니다\"\n"),
        ("docs/fr.md", "# Notes\n\nLe fichier est introuvable\n"),
        ("views/login.html", "<html>\n<p>Datei nicht gefunden</p>\n</html>\n"),
        ("src/c.py", "def a():\n    \"\"\"Missing file.\"\"\"\n\n\ndef empty_array(x):\n    return not x\n"),
        ("src/d.py", "def file_not_found(server):\n    \"\"\"File not found, cannot connect to server.\"\"\"\n"),
        ("src/db.py", "def connect():\n    \"\"\"连接数据库\"\"\"\n"),
        ("CHANGELOG.md", "修复数据库连接的文档。\n"),
    ];
    let project = Project::with(&files);
    let snapshot = project.update(None).0;
    for (text, path) in [
        ("配列が空です", "data/ja.json"),
        ("Файл не найден на сервере", "data/ru.yaml"),
        ("无法连接到服务器", "data/zh.txt"),
        ("파일을 찾을 수 없습니다", "data/ko.po"),
        ("Le fichier est introuvable", "docs/fr.md"),
        ("Datei nicht gefunden", "views/login.html"),
        // A part of a sentence is about it.
        ("数据库连接", "src/db.py"),
    ] {
        let answer = ask(&snapshot, text);
        assert_eq!(first(&answer), Some(path), "{text}");
        assert!(is_shown(&answer, path), "{text}");
    }
}
