//! Searches of the tree itself with the help of an index: only files that can't match are left out.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use colgrep_index::signature::{Needed, Sought};
use colgrep_index::store::Store;
use colgrep_index::update::Updater;
use colgrep_index::walk::{LeftOut, WalkOptions, Walked};

/// Longer than a tick of the kernel's clock: more recent changes are not trusted.
const TICK: Duration = Duration::from_millis(80);

fn words(seed: usize) -> String {
    (0..60).map(|i| format!("fn word_{:x}() {{}}\n", (seed * 60 + i) * 2_654_435_761 % 0xFFFF_FFFF)).collect()
}

/// A tree made large enough for signatures by files without matches.
fn tree(root: &Path) {
    fs::create_dir_all(root.join("large")).expect("a folder");
    for i in 0..65 {
        File::create(root.join(format!("large/{i}.bin"))).and_then(|file| file.set_len(1 << 20)).expect("a file");
    }
    for i in 0..40 {
        let folder = root.join(format!("src/{}", i % 5));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{i}.rs")), words(i)).expect("a file");
    }
    fs::write(root.join("src/needle.rs"), "fn needle_in_the_stack() {}\n").expect("a file");
    fs::write(root.join("large/needle.bin"), b"\0needle_in_the_stack").expect("a file");
    fs::write(root.join("deploy.pem"), "a secret\n").expect("a file");
    std::thread::sleep(TICK);
}

fn narrowed(store: &Store, root: &Path, text: &str) -> Walked {
    let left_out = LeftOut { folder: Some(store.folder()), ..LeftOut::default() };
    let sought = Sought::new(&Needed::Text(text.as_bytes().to_vec()));
    let known = store.known_files().expect("an index");
    known.narrowed(root, &left_out, &WalkOptions::default(), Some(&sought)).expect("a walk")
}

#[test]
fn files_that_cannot_match_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("tree");
    tree(&root);
    let store = Store::new(folder.path().join("index"));
    assert!(store.known_files().is_none(), "no index yet");
    Updater::new(&store, &root).run().expect("an index");
    let has = |walked: &Walked, path: &str| walked.files.iter().any(|file| file.path == path);
    let left_out = |walked: &Walked| 65 + 43 - walked.files.len();

    let found = narrowed(&store, &root, "needle_in_the_stack");
    // Unindexed files have a signature too, except possible secrets, which are never left out.
    assert!(["src/needle.rs", "large/needle.bin", "deploy.pem"].iter().all(|path| has(&found, path)));
    assert!(left_out(&found) >= 65 + 35, "{} left out", left_out(&found));
    let found = narrowed(&store, &root, "quite another thing");
    assert!(!has(&found, "src/needle.rs") && !has(&found, "large/needle.bin") && left_out(&found) >= 65 + 36);

    // A file that changed is not left out, whatever its signature, even if its size and time were restored.
    let path = root.join("src/0/5.rs");
    let before = fs::metadata(&path).expect("a file");
    let text = fs::read_to_string(&path).expect("a text");
    fs::write(&path, text.replacen("word_", "warp_", 1)).expect("written");
    File::options().append(true).open(&path).and_then(|f| f.set_modified(before.modified()?)).expect("a time");
    assert_eq!(fs::metadata(&path).expect("a file").len(), before.len());
    fs::write(root.join("src/new.rs"), "fn new() {}\n").expect("written");
    fs::write(root.join("large/0.bin"), b"\0warp_".repeat((1 << 20) / 6)).expect("written");
    fs::remove_file(root.join("src/1/6.rs")).expect("removed");
    let found = narrowed(&store, &root, "quite another thing");
    assert!(["src/0/5.rs", "src/new.rs", "large/0.bin"].iter().all(|path| has(&found, path)));
    assert!(!has(&found, "src/1/6.rs"));

    // A later update knows the changed files too.
    std::thread::sleep(TICK);
    Updater::new(&store, &root).run().expect("an update");
    let found = narrowed(&store, &root, "quite another thing");
    assert!(["src/0/5.rs", "src/new.rs", "large/0.bin"].iter().all(|path| !has(&found, path)));
    assert!(["src/0/5.rs", "large/0.bin"].iter().all(|path| has(&narrowed(&store, &root, "warp_"), path)));
}

#[test]
fn a_small_tree_has_no_signatures() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("tree");
    fs::create_dir(&root).expect("a folder");
    fs::write(root.join("a.rs"), "fn a() {}\n").expect("a file");
    let store = Store::new(folder.path().join("index"));
    Updater::new(&store, &root).run().expect("an index");
    let found = narrowed(&store, &root, "quite another thing");
    assert_eq!(found.files.len(), 1);
}

#[test]
fn files_of_folders_that_change_places_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("tree");
    tree(&root);
    let path = |name: &str| root.join(name);
    // Two files of equal size and time: written within one tick, or with swapped records.
    for name in ["one", "two"] {
        fs::create_dir(path(name)).expect("a folder");
    }
    let mut files = ["one/a.rs", "two/a.rs"].map(|name| File::create(path(name)).expect("a file"));
    for (file, text) in files.iter_mut().zip(["fn marmalade_jar() {}", "fn chocolates_x() {} "]) {
        std::io::Write::write_all(file, text.as_bytes()).expect("written");
    }
    drop(files);
    std::thread::sleep(TICK);
    let store = Store::new(folder.path().join("index"));
    Updater::new(&store, &root).run().expect("an index");
    for (from, to) in [("one", "between"), ("two", "one"), ("between", "two")] {
        fs::rename(path(from), path(to)).expect("renamed");
    }
    std::thread::sleep(TICK);
    let (snapshot, report) = Updater::new(&store, &root).run().expect("an update");
    assert_eq!(report.changed, 2, "{report:?}");
    drop(snapshot);
    let found = narrowed(&store, &root, "marmalade_jar");
    let has = |name: &str| found.files.iter().any(|file| file.path == name);
    assert!(has("two/a.rs") && !has("one/a.rs"));
    assert_eq!(Updater::new(&store, &root).run().expect("an update").1.changed, 0, "it is known now");
}

#[test]
fn an_index_that_is_open_answers_whatever_is_committed_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("tree");
    tree(&root);
    let store = Store::new(folder.path().join("index"));
    let update = || Updater::new(&store, &root).run().expect("an index");
    let change = |path: &str| {
        fs::write(root.join(path), "fn changed() {}\n").expect("written");
        std::thread::sleep(TICK);
        update();
    };
    update();
    // Each update removes the previous file of deletions.
    change("src/0/0.rs");
    let snapshot = store.open().expect("an index");
    change("src/1/1.rs");
    change("src/2/2.rs");
    let sought = Sought::new(&Needed::Text(b"quite another thing".to_vec()));
    let without = snapshot.without(&root, &sought).expect("an answer");
    assert!(without.count_ones(..) >= 65 + 30, "{} left out", without.count_ones(..));
}
