//! The vector store in updates, with a toy model.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::project::{FILES, Project, QUERIES, answers, ask, many, same, semantic};
use crate::toy::{Toy, codebook, encoding};
use colgrep_index::ErrorKind;
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::{Encoding, Updater, repair};
use colgrep_index::vector::Codec;
use colgrep_search::Mode;
use proptest::prelude::*;

fn segments(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.store().vectors_folder()).expect("vectors");
    entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "seg")).collect()
}

#[test]
fn nothing_is_encoded_twice() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    let (first, _) = project.update(Some(&encoding));
    let before = answers(&first, &toy);
    let all = toy.count();
    // One unit changes, then changes back, with a lexical update without the model in between.
    let text = FILES[0].1;
    project.write("src/net.py", &text.replace("drop(url)", "drop(url, now)"));
    let (_, report) = project.update(Some(&encoding));
    assert_eq!((report.encoded, toy.count(), report.without_vectors), (1, 1, 0));
    assert_eq!(report.reused, all - 1);
    project.write("src/net.py", text);
    let (stale, _) = project.update(None);
    assert!(!stale.files.vectors.as_ref().expect("vectors").complete);
    let (back, report) = project.update(Some(&encoding));
    assert_eq!((report.encoded, toy.count(), report.units), (0, 0, 0));
    assert!(same(&answers(&back, &toy), &before));
    // Other walk options need another lexical index, but the texts are the same.
    let options = colgrep_index::walk::WalkOptions { hidden: true, ..Default::default() };
    let (_, report) = Updater::new(&project.store(), &project.root)
        .walk_options(Some(options))
        .encoding(Some(&encoding))
        .run()
        .expect("an index");
    assert!(report.units == all && report.encoded == 0 && toy.count() == 0, "{report:?}");
}

#[test]
fn another_model_means_other_vectors_alone() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let (first, _) = project.update(Some(&encoding(&toy, &book)));
    let (before, all) = (answers(&first, &toy), toy.count());
    let other = Toy { fingerprint: 2, ..Toy::new() };
    let (second, report) = project.update(Some(&encoding(&other, &book)));
    assert_eq!((report.units, report.encoded, other.count()), (0, all, all));
    assert!(same(&answers(&second, &other), &before));
    assert_eq!(segments(&project).len(), 1, "the other model's segments are gone");
}

#[test]
fn an_interrupted_build_keeps_what_it_had() {
    let (project, book) = (many(60), codebook());
    let broken = Toy { fails_at: 20, ..Toy::new() };
    let error = project.try_update(Some(&encoding(&broken, &book))).expect_err("broken");
    assert_eq!(error.kind(), ErrorKind::Model, "{error}");
    // The lexical half is committed, and a search uses the vectors that exist.
    let snapshot = project.store().open().expect("an index");
    let kept = snapshot.vectors.as_ref().expect("vectors").len() as u64;
    assert!((1..60).contains(&kept) && !snapshot.files.vectors.as_ref().expect("vectors").complete, "{kept}");
    let toy = Toy::new();
    assert!(!ask(&snapshot, "handle", Some(semantic(&toy, Mode::Hybrid)), None).expect("an answer").is_empty());
    let slow = Toy { pause: Duration::from_millis(5), ..Toy::new() };
    let budget = Encoding { budget: Some(Duration::from_millis(30)), ..encoding(&slow, &book) };
    let (_, report) = project.update(Some(&budget));
    assert_eq!(report.without_vectors + report.reused + report.encoded, 60, "{report:?}");
    assert!(report.encoded > 0 && report.without_vectors > 0 && report.reused == kept, "{report:?}");
    let (last, report) = project.update(Some(&encoding(&toy, &book)));
    assert_eq!(toy.count() + slow.count() + kept, 60, "{report:?}");
    let whole = many(60);
    let (fresh, _) = whole.update(Some(&encoding(&toy, &book)));
    assert!(same(&answers(&last, &toy), &answers(&fresh, &toy)));
}

#[test]
fn a_store_makes_its_own_codebook_and_keeps_it() {
    let (project, toy) = (many(120), Toy::new());
    // Files that differ only by a number need fine codes.
    let codec = Codec { bits: 4, head_bits: 4, rows_max: 24, similarity: 100 };
    let own = Encoding { codec, ..Encoding::new(&toy) };
    let (snapshot, report) = project.update(Some(&own));
    assert_eq!((report.encoded, report.without_vectors, toy.count()), (120, 0, 120));
    let codebook = snapshot.vectors.as_ref().expect("vectors").manifest().codebook;
    let hits = ask(&snapshot, "handle 77", Some(semantic(&toy, Mode::SemanticOnly)), None).expect("an answer");
    assert_eq!(hits[0].0, "src/part0/file77.py");
    project.write("src/new.py", "def brand_new():\n    return 1\n");
    let (snapshot, report) = project.update(Some(&own));
    assert_eq!((report.encoded, toy.count()), (1, 1));
    assert_eq!(snapshot.vectors.as_ref().expect("vectors").manifest().codebook, codebook);
    // The same files give the same codebook.
    let (other, _) = many(120).update(Some(&own));
    assert_eq!(other.vectors.as_ref().expect("vectors").manifest().codebook, codebook);
}

#[test]
fn damage_is_an_error_or_mended_and_never_another_answer() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    let (first, _) = project.update(Some(&encoding));
    let (expected, all) = (answers(&first, &toy), toy.count());
    let one = |snapshot: &Snapshot, query| ask(snapshot, query, Some(semantic(&toy, Mode::Hybrid)), None);
    let by_query = QUERIES.map(|q| one(&first, q).expect("an answer"));
    let length = fs::metadata(&segments(&project)[0]).expect("a file").len() as usize;
    drop(first);
    let (mut seen, mut at_open) = (0, 0);
    let cuts = [0, 1, 63, 64, length / 2, length - 1].map(|at| (at, true));
    for (at, cut) in (0..length).step_by(29).map(|at| (at, false)).chain(cuts) {
        let path = segments(&project).remove(0);
        let mut bytes = fs::read(&path).expect("bytes");
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 0x10,
        }
        fs::remove_file(&path).expect("removed");
        fs::write(&path, bytes).expect("written");
        let snapshot = project.store().open().expect("the lexical half");
        assert!(snapshot.damage.is_some() != snapshot.vectors.is_some());
        at_open += u32::from(snapshot.damage.is_some());
        if snapshot.vectors.is_some() {
            for (query, expected) in QUERIES.iter().zip(&by_query) {
                match one(&snapshot, query) {
                    Ok(found) => assert!(same(&found, expected), "byte {at}: {query}"),
                    Err(error) => {
                        seen += 1;
                        assert_eq!(error.kind(), ErrorKind::Unusable, "{error}");
                    }
                }
            }
        }
        drop(snapshot);
        toy.count();
        let (mended, report) = project.update(Some(&encoding));
        assert!(report.units == 0 && report.encoded == all && toy.count() == all, "byte {at}: {report:?}");
        assert!(same(&answers(&mended, &toy), &expected));
    }
    assert!(seen > 3 && at_open > 3, "{seen} {at_open}");
    let entries = fs::read_dir(project.store().vectors_folder()).expect("vectors").flatten().map(|e| e.path());
    for path in entries.filter(|p| p.extension().is_some_and(|e| e == "bin")) {
        fs::write(&path, b"colgcbk1").expect("written");
    }
    let snapshot = project.store().open().expect("the lexical half");
    assert!(snapshot.vectors.is_none() && snapshot.damage.is_some());
    let (mended, _) = project.update(Some(&encoding));
    assert!(same(&answers(&mended, &toy), &expected));
}

#[test]
fn a_reader_beside_a_build_sees_whole_generations() {
    let (project, toy, book) = (many(40), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    project.update(Some(&encoding));
    let (done, reads) = (AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let snapshot = project.store().open().expect("an index");
                assert!(snapshot.damage.is_none(), "{:?}", snapshot.damage);
                let found = ask(&snapshot, "handle 7", Some(semantic(&toy, Mode::Hybrid)), None).expect("an answer");
                assert_eq!(found[0].0, "src/part0/file7.py");
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
        for i in 0..40 {
            project
                .write(&format!("src/part{}/file{i}.py", i % 7), &format!("def handle_{i}():\n    return fresh_{i}\n"));
            project.update(Some(&encoding));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.into_inner() > 5);
}

#[test]
fn another_worktree_lends_its_vectors() {
    let (project, toy) = (many(30), Toy::new());
    let name = |path: &Path| path.display().to_string();
    let two = project.root.with_file_name("two");
    project.write(".git/worktrees/two/gitdir", &name(&two.join(".git")));
    project.write(".git/worktrees/two/commondir", "../..");
    let own = Encoding::new(&toy);
    let (first, _) = project.update(Some(&own));
    assert_eq!(toy.count(), 30);
    let other = Project { _folder: tempfile::tempdir().expect("a folder"), root: two, data: project.data.clone() };
    other.write(".git", &format!("gitdir: {}", name(&project.root.join(".git/worktrees/two"))));
    for file in first.files.indexed() {
        other.write(&file.path, &fs::read_to_string(project.root.join(&file.path)).expect("a file"));
    }
    other.write("src/own.py", "def only_here():\n    return 1\n");
    let (second, report) = other.update(Some(&own));
    assert_eq!((toy.count(), report.encoded, report.reused, report.without_vectors), (1, 1, 30, 0));
    fs::remove_file(other.root.join("src/own.py")).expect("removed");
    drop(second);
    let (second, _) = other.update(Some(&own));
    assert!(same(&answers(&second, &toy), &answers(&first, &toy)));
}

#[test]
fn what_is_dead_is_set_aside_when_it_is_more_than_half() {
    let (project, toy, book) = (many(60), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    let stored = |snapshot: &Snapshot| snapshot.vectors.as_ref().expect("vectors").len();
    let rewrite = |from: usize, to: usize| {
        for i in from..to {
            project.write(&format!("src/part{}/file{i}.py", i % 7), &format!("def other_{i}():\n    return {i}\n"));
        }
        project.update(Some(&encoding)).0
    };
    assert_eq!(stored(&project.update(Some(&encoding)).0), 60);
    assert_eq!(stored(&rewrite(0, 50)), 110);
    let compact = rewrite(50, 60);
    assert_eq!(stored(&compact), 120);
    let compact = {
        drop(compact);
        project.write("src/part0/file0.py", "def changed():\n    return 0\n");
        project.update(Some(&encoding)).0
    };
    let spare = compact.files.vectors.as_ref().expect("vectors").spare.len();
    assert_eq!((stored(&compact), spare, segments(&project).len()), (60, 1, 2));
    toy.count();
    let fresh = Project::new();
    for file in compact.files.indexed() {
        fresh.write(&file.path, &fs::read_to_string(project.root.join(&file.path)).expect("a file"));
    }
    assert!(same(&answers(&compact, &toy), &answers(&fresh.update(Some(&encoding)).0, &toy)));
}

/// With a time limit, as in a search.
fn of_search<'a>(encoding: Encoding<'a>) -> Encoding<'a> {
    Encoding { budget: Some(Duration::from_secs(60)), ..encoding }
}

#[test]
fn a_search_leaves_another_models_vectors() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    project.update(Some(&encoding(&toy, &book)));
    let (all, before) = (toy.count(), segments(&project));
    let other = Toy { fingerprint: 2, ..Toy::new() };
    let (_, report) = project.update(Some(&of_search(encoding(&other, &book))));
    assert!(!report.wrote && other.count() == 0, "{report:?}");
    project.write(
        "src/new.py",
        "def brand_new():
    return 1
",
    );
    let (snapshot, report) = project.update(Some(&of_search(encoding(&other, &book))));
    assert!(report.units == 1 && report.encoded == 0 && other.count() == 0, "{report:?}");
    assert_eq!((segments(&project), snapshot.vectors.as_ref().map(|v| v.len() as u64)), (before, Some(all)));
    let (_, report) = project.update(Some(&of_search(encoding(&toy, &book))));
    assert_eq!((report.encoded, report.without_vectors), (1, 0));
    // Another version of the same model is still the same model.
    let newer = Encoding { codec: Codec { rows_max: 12, ..Codec::default() }, ..encoding(&toy, &book) };
    assert_eq!(project.update(Some(&of_search(newer))).1.encoded, all + 1);
}

#[test]
fn a_search_makes_no_codebook() {
    let (project, toy) = (Project::with(&FILES), Toy::new());
    for _ in 0..2 {
        let (snapshot, _) = project.update(Some(&of_search(Encoding::new(&toy))));
        assert!(snapshot.files.vectors.is_none() && toy.count() == 0);
    }
    let all = project.update(Some(&Encoding::new(&toy))).1.encoded;
    project.write(
        "src/new.py",
        "def brand_new():
    return 1
",
    );
    assert!(all > 5 && project.update(Some(&of_search(Encoding::new(&toy)))).1.encoded == 1, "one more");
}

/// Names and sizes of all files of an index.
fn listing(folder: &Path) -> BTreeSet<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let below = |e: fs::DirEntry| match e.metadata().expect("metadata") {
        m if m.is_dir() => listing(&e.path()),
        m => BTreeSet::from([(e.path(), m.len())]),
    };
    entries.flat_map(below).collect()
}

#[test]
fn what_made_nothing_commits_nothing() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let late = Encoding { budget: Some(Duration::ZERO), ..encoding(&toy, &book) };
    let lack = project.update(Some(&late)).1.without_vectors;
    let before = listing(project.store().folder());
    let (_, report) = project.update(Some(&late));
    assert!(lack > 5 && report.without_vectors == lack && !report.wrote, "{report:?}");
    assert_eq!(listing(project.store().folder()), before);
}

#[test]
fn a_file_that_changed_unseen_is_indexed_as_it_is() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let path = project.root.join("src/net.py");
    // A future modification time hides the change.
    let stamp = SystemTime::now() + Duration::from_secs(86_400);
    let stamped = || fs::File::options().write(true).open(&path).and_then(|f| f.set_modified(stamp)).expect("a time");
    stamped();
    project.update(None);
    fs::write(&path, FILES[0].1.replace("download_page", "absorbed_page")).expect("a file");
    stamped();
    let (snapshot, report) = project.update(Some(&of_search(encoding(&toy, &book))));
    assert_eq!((report.changed, report.without_vectors), (1, 0), "{report:?}");
    let found = ask(&snapshot, "absorbed", None, None).expect("an answer");
    assert_eq!(found.first().map(|f| f.0.as_str()), Some("src/net.py"));
    assert!(!project.update(Some(&of_search(encoding(&toy, &book)))).1.wrote);
}

#[test]
fn mending_takes_out_what_is_damaged_and_nothing_else() {
    let flip = |path: &Path, at: usize| {
        let mut bytes = fs::read(path).expect("bytes");
        bytes[at] ^= 0x10;
        fs::remove_file(path).expect("removed");
        fs::write(path, bytes).expect("written");
    };
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    project.update(Some(&encoding));
    let first = segments(&project).remove(0);
    let many = toy.count();
    project.write(
        "src/new.py",
        "def brand_new():
    return 1
",
    );
    let expected = answers(&project.update(Some(&encoding)).0, &toy);
    assert_eq!((segments(&project).len(), toy.count()), (2, 1));
    let before = listing(project.store().folder());
    repair(&project.store(), None).expect("sound");
    assert_eq!(listing(project.store().folder()), before, "sound parts are unchanged");

    flip(&first, fs::metadata(&first).expect("a file").len() as usize - 1);
    let error = ask(&project.store().open().expect("an index"), "page", Some(semantic(&toy, Mode::SemanticOnly)), None);
    assert_eq!(error.expect_err("damage").kind(), ErrorKind::Unusable);
    repair(&project.store(), None).expect("repaired");
    assert!(!first.exists() && segments(&project).len() == 1);
    let (mended, report) = project.update(Some(&of_search(encoding)));
    assert!(report.units == 0 && report.encoded == many && toy.count() == many, "{report:?}");
    assert!(same(&answers(&mended, &toy), &expected));
    drop(mended);

    let mut lexical = fs::read_dir(project.store().lexical_folder()).expect("a folder").flatten().map(|e| e.path());
    let store = lexical.find(|p| p.extension().is_some_and(|e| e == "store")).expect("documents");
    flip(&store, 20);
    repair(&project.store(), None).expect("repaired");
    let (mended, report) = project.update(Some(&of_search(encoding)));
    assert!(report.units == many + 1 && report.encoded == 0 && toy.count() == 0, "{report:?}");
    assert!(same(&answers(&mended, &toy), &expected));
}

#[derive(Clone, Debug)]
enum Edit {
    Write(u8, Vec<u8>),
    Remove(u8),
    Update(bool),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        5 => (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..8)).prop_map(|(a, b)| Edit::Write(a, b)),
        1 => any::<u8>().prop_map(Edit::Remove),
        3 => any::<bool>().prop_map(Edit::Update),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn updates_give_what_a_full_rebuild_gives(edits in proptest::collection::vec(edit(), 1..20)) {
        let (project, toy, book) = (Project::new(), Toy::new(), codebook());
        let encoding = encoding(&toy, &book);
        let path = |n: u8| format!("src/m{}/f{}.py", n % 3, n % 5);
        let word = |b: &u8| ["page", "download", "delete", "numbers", "matrix"][usize::from(*b) % 5];
        for edit in edits {
            match edit {
                Edit::Write(n, seed) => {
                    let unit = |b: &u8| format!("def {}_{}(x):\n    return {}\n\n", word(b), b % 4, word(&(b / 5)));
                    project.write(&path(n), &seed.iter().map(unit).collect::<String>());
                }
                Edit::Remove(n) => {
                    let _ = fs::remove_file(project.root.join(path(n)));
                }
                Edit::Update(with) => {
                    project.update(with.then_some(&encoding));
                }
            }
        }
        let updated = project.update(Some(&encoding)).0;
        let fresh = Store::new(project.data.join("fresh-00000000"));
        let rebuilt = Updater::new(&fresh, &project.root).encoding(Some(&encoding)).run().expect("an index").0;
        prop_assert!(same(&answers(&updated, &toy), &answers(&rebuilt, &toy)));
    }
}
