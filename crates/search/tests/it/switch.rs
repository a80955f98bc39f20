//! Branch switches, and updates without time: nothing is encoded twice, and the rest is left to the next update.

use std::fs;
use std::time::Duration;

use crate::project::{FILES, Project, answers, many, same};
use crate::toy::{Toy, codebook, encoding};
use colgrep_index::update::{UpdateBudget, Updater, check};

/// Gives the project the files of a branch; no two files share a text.
fn switch(project: &Project, branch: &str, files: usize) {
    let _ = fs::remove_dir_all(project.root.join("src"));
    for i in 0..files {
        project.write(&format!("src/{branch}{i}.py"), &format!("def {branch}_{i}():\n    return {i}\n"));
    }
}

#[test]
fn a_switch_of_branch_and_back_encodes_nothing_twice() {
    let (project, toy, book) = (Project::new(), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    switch(&project, "main", 40);
    let (first, _) = project.update(Some(&encoding));
    let (before, bytes) = (answers(&first, &toy), first.vectors.as_ref().expect("vectors").bytes_on_disk());
    assert_eq!(toy.count(), 40);
    switch(&project, "old", 10);
    let (old, _) = project.update(Some(&encoding));
    assert_eq!(toy.count(), 10);
    // A search reads no unused vectors, and none are lost or damaged.
    let vectors = old.vectors.as_ref().expect("vectors");
    assert_eq!((vectors.len(), old.files.vectors.as_ref().expect("vectors").spare.len()), (10, 1));
    assert!(vectors.bytes_on_disk() < bytes);
    let checked = check(&project.store()).expect("an index");
    assert!(checked.damage.is_empty() && checked.stray.is_empty(), "{checked:?}");
    for round in 0..3 {
        switch(&project, "main", 40);
        let (main, report) = project.update(Some(&encoding));
        assert_eq!((toy.count(), report.encoded, report.without_vectors), (0, 0, 0), "{round}");
        assert!(same(&answers(&main, &toy), &before), "{round}");
        switch(&project, "old", 10);
        let (old, _) = project.update(Some(&encoding));
        assert_eq!(toy.count(), 0, "{round}");
        assert!(old.files.vectors.as_ref().expect("vectors").spare.len() <= 2, "texts are set aside once");
    }
    // Damage to spare segments only costs encoding time.
    let spare = old.files.vectors.as_ref().expect("vectors").spare[0].name.clone();
    let path = project.store().vectors_folder().join(spare);
    let mut damaged = fs::read(&path).expect("a segment");
    damaged[8] ^= 1;
    fs::write(&path, damaged).expect("a segment");
    assert_eq!(check(&project.store()).expect("an index").damage.len(), 1);
    switch(&project, "main", 40);
    let (main, _) = project.update(Some(&encoding));
    assert_eq!(toy.count(), 40);
    assert!(same(&answers(&main, &toy), &before));
}

#[test]
fn an_update_without_time_leaves_the_rest_to_the_next() {
    let (project, toy, book) = (many(400), Toy::new(), codebook());
    for i in 0..400 {
        project.write(&format!("wide/w{i}.py"), &format!("def wide_{i}():\n    return \"{}\"\n", "x".repeat(2_000)));
    }
    let encoding = encoding(&toy, &book);
    let store = project.store();
    let now = Some(UpdateBudget { first: Duration::ZERO, later: Duration::ZERO });
    let updater = Updater::new(&store, &project.root).encoding(Some(&encoding));
    let (part, report) = updater.budget(now).run().expect("an index");
    let known = part.files.files.len() as u64;
    assert!(known > 0 && !part.files.complete, "{report:?}");
    assert_eq!((report.in_tree, report.unread), (800, 800 - known), "{report:?}");
    assert_eq!(toy.count(), 0, "words come first");
    let (next, _) = updater.budget(now).run().expect("an index");
    assert!(next.files.files.len() as u64 > known);
    // An interrupted update ends between two rounds; the last one does the rest, and makes the same index.
    let (asked, report) = updater.interrupted(&|| true).run().expect("an index");
    assert!(report.unread > 0 && !asked.files.complete);
    let (whole, report) = updater.run().expect("an index");
    assert!(whole.files.complete && report.unread == 0 && whole.files.files.len() == 800);
    assert_eq!(toy.count(), 800);
    let store = colgrep_index::store::Store::new(project.data.join("fresh-00000000"));
    let (fresh, _) = Updater::new(&store, &project.root).encoding(Some(&encoding)).run().expect("an index");
    assert!(same(&answers(&whole, &toy), &answers(&fresh, &toy)));
}

#[test]
fn whoever_waits_for_the_lock_is_seen() {
    let project = Project::with(&FILES);
    project.update(None);
    let store = project.store();
    let lock = store.lock(false).expect("the lock");
    assert!(!store.is_awaited());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| store.lock_within(Duration::from_secs(60), &|| {}).map(drop));
        while !store.is_awaited() {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(lock);
        waits.join().expect("a thread").expect("the lock");
    });
    assert!(!store.is_awaited());
    let behind = store.behind_lock().expect("a free background lock");
    assert!(store.is_worked_behind() && store.behind_lock().is_none());
    drop(behind);
    assert!(!store.is_worked_behind());
    // Lock files belong to the folder.
    assert!(check(&store).expect("an index").stray.is_empty() && store.is_ours());
}
