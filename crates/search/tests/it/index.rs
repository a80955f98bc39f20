//! Compares the index with slower, simpler implementations: a naive BM25F, and a full rebuild.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::project::request;
use colgrep_core::bm25::{Bm25, FIELD_COUNT, Field, idf};
use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::path::stem_of;
use colgrep_core::query::Query;
use colgrep_core::tag::{Hint, Hints};
use colgrep_core::token::Tokenizer;
use colgrep_core::{Unit, UnitKind};
use colgrep_index::lexical::Scoring;
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::{Progress, Updater};
use colgrep_search::{QueryContext, Request, search_one};
use colgrep_syntax::language;
use colgrep_syntax::parse::parse;
use proptest::prelude::*;

fn open(root: &Path, data: &Path) -> Snapshot {
    Updater::new(&Store::new(data.to_path_buf()), root).run().expect("an index").0
}

const FILES: [(&str, &str); 5] = [
    (
        "src/parser.py",
        "class RequestParser:\n    \"\"\"Parses requests.\"\"\"\n    def parse(self, request):\n        return request.body\n\n    def parse_header(self, header):\n        return header.split()\n",
    ),
    (
        "src/server.rs",
        "/// Serves a request.\npub fn serve(request: Request) -> Response {\n    parse(request)\n}\n\nconst MAX_REQUESTS: usize = 8;\n",
    ),
    ("lib/util.js", "export function parseQuery(text) { return text.split('&'); }\nexport const LIMIT = 3;\n"),
    ("README.md", "# Requests\n\nHow a request is parsed.\n\n## Limits\n\nEight requests.\n"),
    ("data.txt", "parse parse parse request\n"),
];

/// The formula, straight from the units, for every unit of every file: (path, line) → score.
fn naive_scores(text: &str, bm25: &Bm25) -> BTreeMap<(String, u32), f32> {
    let mut tokenizer = Tokenizer::default();
    let query = Query::new(text, "/project", language::facts(), &mut tokenizer);
    let mut units: Vec<(String, Unit, [Vec<String>; FIELD_COUNT])> = Vec::new();
    for (path, source) in FILES {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        for unit in parse(source, language::detect(Path::new(path), source.as_bytes())).units {
            let fields = Field::ALL.map(|field| match field {
                Field::Name => unit.name.clone(),
                Field::Parent => unit.parent.clone(),
                Field::Doc => unit.docstring.clone(),
                Field::Body => unit.body.clone(),
                Field::Stem => stem_of(file).to_string(),
                Field::Folder => folder.to_string(),
                Field::Keyword => unit.keywords.join("\n"),
                Field::Entity => unit.entities.values().flatten().cloned().collect::<Vec<_>>().join("\n"),
            });
            units.push((path.to_string(), unit, fields.map(|f| tokenizer.terms(&f))));
        }
    }
    let n = units.len();
    let average = |f: usize| units.iter().map(|u| u.2[f].len()).sum::<usize>() as f32 / n as f32;
    let mut scores = BTreeMap::new();
    for term in &query.terms {
        let df = units.iter().filter(|u| u.2.iter().any(|field| field.contains(&term.text))).count();
        for (path, unit, fields) in &units {
            let mut frequency = 0.0;
            for (f, field) in fields.iter().enumerate() {
                let tf = field.iter().filter(|t| **t == term.text).count();
                if tf > 0 {
                    let normal = bm25.length_normal(f, field.len() as f32, average(f));
                    frequency += bm25.field_frequency(f, tf as f32, normal);
                }
            }
            let score = bm25.term_score(term, idf(n as u64, df as u64), frequency);
            if score > 0.0 {
                *scores.entry((path.clone(), unit.span.line)).or_insert(0.0) +=
                    score * bm25.unit_factor(unit.kind, unit.role);
            }
        }
    }
    scores
}

#[test]
fn scores_equal_the_naive_formula() {
    let (root, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (path, text) in FILES {
        fs::create_dir_all(root.path().join(path).parent().unwrap()).unwrap();
        fs::write(root.path().join(path), text).unwrap();
    }
    let snapshot = open(root.path(), data.path());
    let bm25 = Bm25::new(&Knobs::of(Profile::Default));
    for text in ["request", "parse the request", "RequestParser", "parse_header", "limits", "server util", "zebra"] {
        let query = Query::new(text, "/project", language::facts(), &mut Tokenizer::default());
        let looked_up = snapshot.lexical.look_up(&query, &bm25).unwrap();
        let statistics = looked_up.statistics().unwrap();
        let scoring = Scoring { statistics: &statistics, bm25: &bm25, filter: None, order: snapshot.order() };
        let hits = looked_up.scorer(scoring).search(1000, 0).unwrap();
        let path = |file| snapshot.files.files.iter().find(|f| f.id == file).unwrap().path.clone();
        let found: BTreeMap<(String, u32), f32> = hits.iter().map(|h| ((path(h.file), h.line), h.score)).collect();
        let expected = naive_scores(text, &bm25);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{text}");
        for (unit, score) in &found {
            assert!(
                (score - expected[unit]).abs() < 1e-3 * score.max(1.0),
                "{text}: {unit:?} {score} and {}",
                expected[unit]
            );
        }
    }
}

#[test]
fn the_lock_of_a_removed_folder_is_nobodys() {
    let data = tempfile::tempdir().unwrap();
    let store = Store::new(data.path().join("project-00000000"));
    let first = store.lock(true).unwrap();
    let holds = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _lock = store.lock(true).unwrap();
            holds.store(true, Ordering::SeqCst);
        });
        std::thread::sleep(Duration::from_millis(200));
        store.remove(&first).unwrap();
        assert!(!store.folder().exists());
        // The other thread may have taken and released the new lock already.
        let second = store.lock(true).unwrap();
        let held = holds.load(Ordering::SeqCst);
        drop(first);
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(holds.load(Ordering::SeqCst), held, "two processes hold it");
        drop(second);
    });
    assert!(holds.load(Ordering::SeqCst));
}

/// A first build that is slow at its first file, and what is searchable when it reaches its last.
struct SlowBuild {
    store: Store,
    done: AtomicUsize,
    files: usize,
    before_last: OnceLock<usize>,
}

impl Progress for SlowBuild {
    fn begin(&self, _: u64) {}

    fn file_done(&self, _: u64) {
        let done = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        if done == 1 {
            std::thread::sleep(Duration::from_millis(1_100));
        }
        if done == self.files {
            let searchable = self.store.open().map_or(0, |snapshot| snapshot.files.files.len());
            self.before_last.set(searchable).expect("one last file");
        }
    }
}

#[test]
fn a_slow_first_build_of_little_source_can_be_searched_before_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (root, files) = (folder.path().join("project"), 8);
    fs::create_dir(&root).unwrap();
    for i in 0..files {
        fs::write(root.join(format!("{i}.txt")), format!("number {i}\n").repeat(8_000)).unwrap();
    }
    let store = || Store::new(folder.path().join("data"));
    let build = SlowBuild { store: store(), done: AtomicUsize::new(0), files, before_last: OnceLock::new() };
    let (snapshot, _) = Updater::new(&store(), &root).progress(&build).run().expect("an index");
    assert_eq!(snapshot.files.files.len(), files);
    let searchable = *build.before_last.get().expect("a last file");
    assert!(searchable > 0 && searchable < files, "{searchable} of {files}");
}

/// The fields of each hit that a search shows: path, line, kind, score.
fn answers(snapshot: &Snapshot) -> Vec<(String, String, u32, UnitKind, f32)> {
    let knobs = Knobs::of(Profile::Default);
    let mut all = Vec::new();
    for query in ["parse request", "alpha", "beta gamma", "Delta", "handle_delta", "file note", "three four"] {
        let answer = search_one(snapshot, None, &request(query, &knobs), None).unwrap();
        for hit in &answer.hits {
            for unit in &hit.units {
                all.push((query.to_string(), answer.files[hit.file].path.clone(), unit.line, unit.kind, unit.score));
            }
        }
    }
    all
}

#[derive(Clone, Debug)]
enum Edit {
    Write(u8, u8, Vec<u8>),
    Remove(u8, u8),
    Rename(u8, u8, u8),
    Update,
}

fn path_of(folder: u8, file: u8) -> String {
    let name = ["alpha", "beta_test", "delta", "parse_request", "mod", "notes"][usize::from(file) % 6];
    let extension = ["py", "rs", "md"][usize::from(folder) % 3];
    ["", "src/", "src/gamma/", "tests/"][usize::from(folder) % 4].to_string() + name + "." + extension
}

fn text_of(seed: &[u8]) -> String {
    let words = ["alpha", "beta", "gamma", "delta", "parse", "request", "three", "four", "note", "file"];
    let word = |b: u8| words[usize::from(b) % words.len()];
    let functions = seed.chunks(4).map(|c| {
        let name = c.iter().map(|b| word(*b)).collect::<Vec<_>>().join("_");
        let body = c.iter().map(|b| word(b.wrapping_add(3))).collect::<Vec<_>>().join(" ");
        format!("# {body}\ndef handle_{name}():\n    return \"{body}\"\n\n")
    });
    functions.collect()
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        5 => (any::<u8>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..24)).prop_map(|(a, b, c)| Edit::Write(a, b, c)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Edit::Remove(a, b)),
        1 => (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(a, b, c)| Edit::Rename(a, b, c)),
        2 => Just(Edit::Update),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn updates_give_what_a_full_rebuild_gives(edits in proptest::collection::vec(edit(), 1..24)) {
        let (root, data, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |path: String| root.path().join(path);
        for edit in edits {
            match edit {
                Edit::Write(folder, file, seed) => {
                    let path = at(path_of(folder, file));
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text_of(&seed)).unwrap();
                }
                Edit::Remove(folder, file) => {
                    let _ = fs::remove_file(at(path_of(folder, file)));
                }
                Edit::Rename(folder, from, to) => {
                    let _ = fs::rename(at(path_of(folder, from)), at(path_of(folder, to)));
                }
                Edit::Update => {
                    open(root.path(), data.path());
                }
            }
        }
        let (updated, rebuilt) = (open(root.path(), data.path()), open(root.path(), fresh.path()));
        let (a, b) = (answers(&updated), answers(&rebuilt));
        prop_assert_eq!(a.len(), b.len());
        for (x, y) in a.iter().zip(&b) {
            prop_assert_eq!((&x.0, &x.1, x.2, x.3), (&y.0, &y.1, y.2, y.3));
            prop_assert!((x.4 - y.4).abs() < 1e-4, "{:?} and {:?}", x, y);
        }
    }
}

#[test]
fn an_index_of_another_root_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("its path");
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for (root, text) in [("one", "fn first() {}\n"), ("two", "fn other() {}\n")] {
        fs::create_dir(base.join(root)).expect("a folder");
        let path = base.join(root).join("a.rs");
        fs::write(&path, text).expect("a file");
        fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
    }
    // Same folder, same path, same size, same time.
    for (root, name) in [("one", "first"), ("two", "other"), ("one", "first")] {
        let snapshot = open(&base.join(root), &base.join("data"));
        let file = snapshot.files.files[0].id;
        let units = snapshot.lexical.units_of(file, None).expect("units");
        assert_eq!(snapshot.lexical.unit(units[0].key).expect("a unit").name, name);
    }
}

#[test]
fn hints_read_the_facts_of_the_best_hundred_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, data) = (folder.path().join("project"), folder.path().join("data"));
    for part in 0..150 {
        let path = root.join(format!("part{part}/parse_item.py"));
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, "def parse_item(text):\n    return text.strip()\n").expect("a file");
    }
    let snapshot = open(&root, &data);
    let knobs = Knobs::of(Profile::Default);
    let read = AtomicUsize::new(0);
    let tags_of = |_: &str| {
        read.fetch_add(1, Ordering::Relaxed);
        Vec::new()
    };
    let asked = |hints: &[&str]| {
        let hints: Vec<Hint> = hints.iter().map(|hint| hint.parse().expect("a hint")).collect();
        let hints = Hints::new(&hints, &mut Tokenizer::default());
        let background = QueryContext { hints: Some(&hints), tags_of: Some(&tags_of), ..QueryContext::default() };
        let request = Request { files: 5, units_per_file: PerFile::Usual, background, ..request("parse item", &knobs) };
        search_one(&snapshot, None, &request, None).expect("an answer");
        read.swap(0, Ordering::Relaxed)
    };
    assert_eq!(asked(&["subsystem=part7", "tag=hot", "keyword=text"]), 100, "however many hints there are");
    assert_eq!(asked(&[]), 0, "without hints nothing is read");
}
