//! The engine as a program sees it: requests in, answers out.

mod spelled;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use colgrep_engine::notice::{Listener, Notice};
use colgrep_engine::{Detail, Engine, Env, Error, OpenOptions, Pattern, Question, RankBy, Refused, SearchRequest};
use tempfile::TempDir;

/// A folder for each project, and one for the indexes.
fn projects(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

const FILES: [(&str, &str); 4] = [
    ("one/queue.rs", "/// Waits until the queue has room.\nfn push(item: u32) {\n    room();\n}\n"),
    ("one/ring.rs", "/// A ring buffer with room for the queue.\nstruct Ring;\n"),
    ("one/notes.md", "# Plans\n\nNothing yet.\n"),
    ("two/lib.py", "def wait_for_room(queue):\n    return queue.room\n"),
];

fn engine(folder: &Path) -> Engine {
    let mut options = OpenOptions::default();
    // A file lies in no project of its own here.
    options.any_root = true;
    Engine::new(Env::default().data_in(folder.join(".index"))).options(options)
}

fn paths(answer: &colgrep_engine::Answer) -> Vec<&str> {
    answer.files.iter().map(|f| f.path.as_str()).collect()
}

/// Repositories whose names have no word characters and whose files lie deep: an index of the folder around them has
/// the same terms and texts as one of each.
const REPOSITORIES: [(&str, &str); 6] = [
    ("+/src/a/core/queue.rs", "/// Waits until the queue has room.\nfn push(item: u32) {\n    room();\n}\n"),
    ("+/src/a/core/ring.rs", "/// A ring buffer with room for the queue.\nstruct Ring;\n\nfn room() {}\n"),
    ("+/doc/a/core/notes.md", "# Plans\n\nA queue that never waits for room.\n"),
    ("=/src/b/core/lib.py", "def wait_for_room(queue):\n    return queue.room\n\ndef push(queue):\n    return 1\n"),
    ("=/src/b/core/queue.rs", "/// Waits until the queue has room.\nfn push(item: u32) {\n    room();\n}\n"),
    ("=/test/b/core/lib_test.py", "def test_wait_for_room():\n    assert wait_for_room(1)\n"),
];

#[test]
fn several_projects_are_one_corpus() {
    let folder = projects(&REPOSITORIES);
    let (one, each) = (folder.path().join(".one"), folder.path().join(".each"));
    let base = folder.path().canonicalize().expect("a path");
    let told = |answer: &colgrep_engine::Answer| -> Vec<String> {
        let row = |file: &colgrep_engine::FileAnswer| {
            let path = file.root.join(&file.path).strip_prefix(&base).expect("below").to_path_buf();
            let units: Vec<_> =
                file.units.iter().map(|unit| (unit.unit.span, unit.line.number, unit.line.marks.clone())).collect();
            format!(
                "{} {:08x} {:08x} {units:?} {:?}",
                path.display(),
                file.score.to_bits(),
                file.strength.to_bits(),
                file.also_here
            )
        };
        answer.files.iter().map(row).collect()
    };
    let queries = [
        "queue room",
        "push",
        "how does it wait for room",
        "ring buffer",
        "\"queue has room\"",
        "who calls room",
        "lib.py",
        "wait push",
        "plans",
        "fn push",
        "lib.py:4",
        "nowhere queue",
    ];
    for by in [RankBy::Words, RankBy::Both] {
        for query in queries {
            let asked = || {
                let mut request = SearchRequest::new(query).by(by).files(5);
                request.shape.explain = true;
                request
            };
            let expected = engine(&one).search(&asked().within(folder.path())).expect("an answer");
            for names in [["+", "="], ["=", "+"]] {
                let [a, b] = names.map(|name| folder.path().join(name));
                let got = engine(&each).search(&asked().within(&a).within(&b)).expect("an answer");
                assert_eq!(told(&got), told(&expected), "{query} {by:?}");
                let steps = |answer: &colgrep_engine::Answer| {
                    answer.files.first().map(|file| format!("{:?}", file.units[0].steps))
                };
                assert_eq!(steps(&got), steps(&expected), "{query} {by:?}");
            }
        }
    }
    let given = engine(&each)
        .search(&SearchRequest::new("ring buffer").within(folder.path().join("=")).within(folder.path().join("+")));
    let given = given.expect("an answer");
    assert_eq!(given.files[0].given, Some((folder.path().join("+"), "src/a/core/ring.rs".to_string())));
}

#[test]
fn a_repository_without_vectors_is_ranked_with_others() {
    let folder = projects(&REPOSITORIES);
    let data = folder.path().join(".data");
    let search = |path: &str, by| {
        engine(&data)
            .search(&SearchRequest::new("queue room").by(by).within(folder.path().join(path)))
            .expect("an answer")
    };
    search("+", RankBy::Words);
    search("=", RankBy::Both);
    let request = SearchRequest::new("queue room").within(folder.path().join("+")).within(folder.path().join("="));
    let mut options = OpenOptions::default();
    (options.any_root, options.update) = (true, false);
    let engine = Engine::new(Env::default().data_in(data.join(".index"))).options(options);
    let answer = engine.search(&request).expect("an answer");
    let roots: std::collections::BTreeSet<_> = answer.files.iter().map(|file| file.root.clone()).collect();
    assert_eq!(roots.len(), 2, "{:?}", paths(&answer));
}

#[test]
fn an_answer_holds_lines_marks_and_steps() {
    let folder = projects(&FILES);
    let mut request = SearchRequest::new("queue room").within(folder.path().join("one/queue.rs"));
    request.shape.explain = true;
    let answer = engine(folder.path()).search(&request).expect("an answer");
    let [file] = answer.files.as_slice() else { panic!("one file: {answer:?}") };
    let unit = &file.units[0];
    assert_eq!((file.language.as_str(), unit.unit.name.as_str(), unit.name_line), ("rust", "push", 2));
    assert_eq!((unit.line.number, unit.line.text.as_str(), unit.line.is_in_file), (2, "fn push(item: u32) {", true));
    assert!(unit.line.matches.is_none() && file.matching_lines.is_none());
    assert_eq!(unit.steps.as_ref().map(|steps| steps.is_empty()), Some(false));
    request.scope.pattern = Some(Pattern::new(r"room\(\)"));
    let answer = engine(folder.path()).search(&request).expect("an answer");
    let line = &answer.files[0].units[0].line;
    assert_eq!((line.number, line.text.trim()), (3, "room();"));
    let places = [line.matches.as_deref().unwrap_or_default(), &line.marks].concat();
    assert_eq!(places, [4..10, 4..8], "the pattern's place, and that of a word of the query");
    // As far as a line of JSON: an answer is plain data.
    assert!(serde_json::to_string(&answer).expect("JSON").contains("\"number\":3"));
}

#[test]
fn names_alone_come_once_and_without_text() {
    let folder = projects(&FILES);
    let mut request = SearchRequest::new("room").within(folder.path().join("one")).detail(Detail::Names);
    (request.shape.single_units, request.shape.every_match) = (true, true);
    let answer = engine(folder.path()).search(&request).expect("an answer");
    assert_eq!(paths(&answer).len(), 2);
    assert!(answer.files.iter().all(|f| f.text.is_empty() && f.units.is_empty() && f.matches == 1), "{answer:?}");
}

#[test]
fn a_session_answers_from_what_it_opened() {
    let folder = projects(&FILES);
    let one = folder.path().join("one");
    let mut session = engine(folder.path()).session(&one).expect("a session");
    let mut request = SearchRequest::new("queue").within(&one).by(RankBy::Words);
    assert_eq!(session.search(&request).expect("an answer").files.len(), 2);
    fs::write(one.join("late.rs"), "fn queue() {}\n").expect("a file");
    request.scope.include = vec!["*.rs".to_string()];
    assert_eq!(session.search(&request).expect("an answer").files.len(), 2, "the index is as it was opened");
    assert_eq!(engine(folder.path()).search(&request).expect("an answer").files.len(), 3);
    let without: Vec<String> = session
        .files_without(&SearchRequest::new("queue").within(&one))
        .expect("names")
        .into_iter()
        .map(|f| f.path)
        .collect();
    assert_eq!(without, ["notes.md"]);
}

#[test]
fn units_like_one_are_found_by_its_line() {
    let folder = projects(&FILES);
    let mut request = SearchRequest::default();
    request.question = Question::Like { file: folder.path().join("one/queue.rs"), line: 3 };
    request.ranking.by = RankBy::Words;
    let answer = engine(folder.path()).search(&request).expect("an answer");
    assert!(answer.query.starts_with("push Waits until the queue has room"), "{}", answer.query);
    assert_eq!(paths(&answer), ["ring.rs"], "not the unit itself");
    request.question = Question::Like { file: folder.path().join("one/queue.rs"), line: 99 };
    let error = engine(folder.path()).search(&request).expect_err("no such line");
    assert!(matches!(error, Error::Refused(Refused::NoUnit { line: 99, .. })), "{error:#}");
}

/// Keeps what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<Notice>>);

impl Listener for Heard {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        self.0.lock().expect("heard").push(notice.clone());
    }
}

/// Wants the work stopped after a number of looks.
struct StopsAfter(AtomicUsize);

impl Listener for StopsAfter {
    fn stops(&self) -> bool {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends_wherever_it_is() {
    let folder = projects(&FILES);
    let mut request = SearchRequest::new("queue room").within(folder.path().join("one")).by(RankBy::Words);
    request.scope.pattern = Some(Pattern::new("room"));
    let whole = engine(folder.path()).search(&request).expect("an answer");
    let mut stopped = 0;
    loop {
        let engine = engine(folder.path()).listener(Arc::new(StopsAfter(AtomicUsize::new(stopped))));
        match engine.search(&request) {
            Ok(answer) => break assert_eq!(answer, whole),
            Err(error) => {
                let of_index = error.of_index();
                assert!(matches!(of_index, Some(colgrep_index::Error::Stopped)), "after {stopped} looks: {error:#}");
            }
        }
        stopped += 1;
    }
    // Before the search, in each file, and between its rounds.
    assert!(stopped > 10, "{stopped} looks");
}

#[test]
fn what_happens_on_the_way_is_told_as_data() {
    let folder = projects(&[("one/a.rs", "fn a() {}\n"), ("one/large.rs", "fn large() {}\n// and more than that\n")]);
    let heard = Arc::new(Heard::default());
    let mut options = OpenOptions::default();
    options.filesize_max = Some(20);
    let engine = engine(folder.path()).options(options).listener(heard.clone());
    let request = SearchRequest::new("large").within(folder.path().join("one")).by(RankBy::Words);
    engine.search(&request).expect("an answer");
    let mut request = SearchRequest::new("large").within(folder.path().join("one/large.rs"));
    request.scope.types = vec!["cobolt".to_string()];
    let error = engine.search(&request).expect_err("no such language");
    assert!(matches!(&error, Error::Refused(Refused::Type { name, .. }) if name == "cobolt"), "{error:#}");
    request.scope.types.clear();
    engine.search(&request.by(RankBy::Words)).expect("an answer");
    let heard = heard.0.lock().expect("heard");
    assert!(matches!(heard[0], Notice::TooLarge { files: 1, filesize_max: 20 }), "{heard:?}");
    assert!(matches!(&heard[heard.len() - 1], Notice::NotRanked(of) if of.path == "large.rs"), "{heard:?}");
}
