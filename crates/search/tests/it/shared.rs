//! Sending an index to another root, and adopting it while the disk fails at each step.

use std::fs;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::project::{FILES, Project, answers};
use crate::toy::{Toy, codebook, encoding};
use colgrep_index::Result;
use colgrep_index::disk::{ChangeGate, Disk, DiskChange};
use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Adoption, IndexPart, PartContent, Shipment, Store, sealed_table};
use colgrep_index::update::{UnreadableIndex, check, repair};
use colgrep_index::vector::{VectorManifest, Vectors};
use colgrep_index::walk::WalkOptions;

/// A disk that fails from the nth change on.
#[derive(Debug)]
struct Dies {
    left: AtomicUsize,
}

impl ChangeGate for Dies {
    fn pass(&self, _: DiskChange, _: &Path) -> io::Result<()> {
        let alive = |left: usize| left.checked_sub(1);
        let passed = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, alive);
        passed.map(drop).map_err(|_| io::Error::other("dead"))
    }
}

fn bytes(shipment: &Shipment) -> Vec<(String, Vec<u8>)> {
    let of = |content: &PartContent| match content {
        PartContent::Bytes(bytes) => bytes.clone(),
        PartContent::File(file) => {
            let mut all = Vec::new();
            let mut file = file;
            file.rewind().and_then(|()| file.read_to_end(&mut all)).expect("a file");
            all
        }
    };
    shipment.parts.iter().map(|part| (part.name.clone(), of(&part.content))).collect()
}

/// Writes the parts next to the index of a project and adopts them.
fn take(parts: &[(String, Vec<u8>)], project: &Project, store: &Store) -> Result<()> {
    let incoming = store.incoming();
    let lock = incoming.lock(false)?;
    for (name, bytes) in parts {
        let mut part = incoming.new_part(name)?;
        part.add(bytes)?;
        part.finish()?;
    }
    let store_lock = store.lock(false)?;
    let adoption = Adoption {
        root: &project.root,
        options: WalkOptions::default(),
        mode: VectorMode::Full,
        by_init: true,
        takes_vectors: true,
        origin: "here",
        before: store,
    };
    incoming.adopt(&lock, &adoption)?;
    incoming.replace(lock, store, store_lock)
}

#[test]
fn an_index_taken_over_is_the_old_or_the_new_one_wherever_the_disk_fails() {
    let (toy, codebook) = (Toy::new(), codebook());
    let encoding = encoding(&toy, &codebook);
    let sender = Project::with(&FILES);
    let expected = answers(&sender.update(Some(&encoding)).0, &toy);
    let shipment = sender.store().ship(&|_| Ok(false)).expect("a sound index");
    let parts = bytes(&shipment);
    let root = sender.root.to_string_lossy().into_owned();
    assert!(parts.iter().all(|(_, b)| !b.windows(root.len()).any(|part| part == root.as_bytes())));
    let mut deaths = 0;
    for step in 0.. {
        let receiver = Project::with(&FILES[..2]);
        receiver.write("src/own.py", "def own_words(here):\n    return here\n");
        let before = answers(&receiver.update(Some(&encoding)).0, &toy);
        // Ranking reads calls from the files of what is taken over.
        FILES[2..].iter().for_each(|(path, text)| receiver.write(path, text));
        let folder = receiver.store().folder().to_path_buf();
        let gate = Arc::new(Dies { left: AtomicUsize::new(step) });
        let died = take(&parts, &receiver, &Store::on(folder, Disk::gated(gate))).is_err();
        // In any case there is a whole index.
        let now = receiver.store().open().expect("an index");
        assert!(check(&receiver.store()).expect("an index").damage.is_empty(), "step {step}");
        assert_eq!(now.files.root, receiver.root.to_string_lossy(), "step {step}");
        let shown = answers(&now, &toy);
        assert!(shown == before || shown == expected, "step {step}: {shown:?}");
        // The next update does the rest, and encodes nothing that either index has.
        take(&parts, &receiver, &receiver.store()).unwrap_or_else(|error| panic!("step {step}: {}", error.full()));
        toy.count();
        let (snapshot, report) = receiver.update(Some(&encoding));
        assert_eq!((report.units, toy.count()), (1, 0), "step {step}: its own file is parsed, its text known");
        assert_eq!((snapshot.files.pulled.as_str(), snapshot.files.files.len()), ("here", 5));
        receiver.update(Some(&encoding));
        let left = fs::read_dir(&receiver.data).expect("a folder").flatten().count();
        assert_eq!(left, 1, "step {step}: no leftovers next to the index");
        deaths += usize::from(died);
        if !died {
            break;
        }
    }
    assert!(deaths > 30, "{deaths} steps failed");
}

#[test]
fn vectors_that_were_taken_over_outlive_failures_that_may_be_of_another_index() {
    let (toy, codebook) = (Toy::new(), codebook());
    let encoding = encoding(&toy, &codebook);
    let sender = Project::with(&FILES);
    sender.update(Some(&encoding));
    let parts = bytes(&sender.store().ship(&|_| Ok(false)).expect("a sound index"));
    let failures = |alone: [bool; 3]| -> Vec<(u64, u64)> {
        let receiver = Project::with(&FILES);
        take(&parts, &receiver, &receiver.store()).expect("taken");
        let mut made = Vec::new();
        for is_alone in alone {
            let snapshot = receiver.update(Some(&encoding)).0;
            let unreadable = UnreadableIndex { snapshot: &snapshot, is_alone };
            repair(&receiver.store(), Some(unreadable)).expect("repaired");
            toy.count();
            let report = receiver.update(Some(&encoding)).1;
            made.push((report.units, toy.count()));
        }
        assert!(receiver.store().refuses("here"));
        made
    };
    let (units, texts) = failures([true; 3])[0];
    assert!(units > 0 && texts > 0, "all of it is made here");
    assert_eq!(failures([false; 3]), [(units, 0), (0, 0), (0, 0)], "the documents alone");
    assert_eq!(failures([false, false, true]), [(units, 0), (0, 0), (0, texts)], "and the vectors, once it is certain");
}

#[test]
fn files_of_the_same_content_are_not_read_again() {
    let (sender, receiver) = (Project::with(&FILES), Project::with(&FILES));
    sender.update(None);
    receiver.update(None);
    let parts = bytes(&sender.store().ship(&|_| Ok(false)).expect("a sound index"));
    take(&parts, &receiver, &receiver.store()).expect("taken");
    let (_, report) = receiver.update(None);
    assert_eq!((report.changed, report.units, report.bytes), (0, 0, 0), "their times were known");
    let stranger = Project::with(&FILES);
    take(&parts, &stranger, &stranger.store()).expect("taken");
    let (_, report) = stranger.update(None);
    assert_eq!((report.changed, report.units), (4, 0), "read, and not parsed");
}

#[test]
fn an_index_begins_with_that_of_another_worktree() {
    let (toy, codebook) = (Toy::new(), codebook());
    let encoding = encoding(&toy, &codebook);
    let (one, two) = (Project::with(&FILES), Project::with(&FILES[1..]));
    two.write("src/own.py", "def own_words(here):\n    return here\n");
    assert!(!two.store().begin_with(&one.store(), &two.root).expect("no index to begin with"));
    one.update(Some(&encoding));
    assert!(two.store().begin_with(&one.store(), &two.root).expect("a sound index"));
    toy.count();
    let (snapshot, report) = two.update(Some(&encoding));
    assert_eq!((report.units, report.removed, toy.count()), (1, 1, 1), "its own file, and that it lacks");
    assert_eq!(snapshot.files.root, two.root.to_string_lossy());
    assert!(check(&two.store()).expect("an index").damage.is_empty());
    // Each goes its own way.
    let (own, before) = (answers(&snapshot, &toy), answers(&one.store().open().expect("an index"), &toy));
    assert_ne!(own, before);
    two.write("src/own.py", "");
    two.update(Some(&encoding));
    assert_eq!(answers(&one.update(Some(&encoding)).0, &toy), before);
    assert!(check(&one.store()).expect("an index").damage.is_empty());
    // Where there is an index, it stays.
    assert!(!two.store().begin_with(&one.store(), &two.root).expect("an index"));
}

#[test]
fn a_table_that_leads_out_of_the_root_is_refused() {
    let sender = Project::with(&FILES);
    let (snapshot, _) = sender.update(None);
    let shipment = sender.store().ship(&|_| Ok(false)).expect("a sound index");
    let parts = bytes(&shipment);
    let generation = |name: &str| name.strip_prefix("files-")?.strip_suffix(".bin")?.parse::<u64>().ok();
    for path in ["../out.py", "/etc/passwd", "a//b", "a/./b", "", "src/../../x"] {
        let mut table = snapshot.files.clone();
        table.files.truncate(1);
        table.files[0].path = path.to_string();
        let mut crafted = parts.clone();
        for (name, bytes) in &mut crafted {
            if let Some(generation) = generation(name) {
                *bytes = sealed_table(generation, &table).expect("bytes");
            }
        }
        let receiver = Project::with(&FILES);
        let refused = take(&crafted, &receiver, &receiver.store()).expect_err(path);
        assert!(refused.full().contains("can't be in a tree"), "{path}: {}", refused.full());
    }
}

#[test]
fn what_is_gone_is_not_sent_unless_it_is_out_already() {
    let (toy, codebook) = (Toy::new(), codebook());
    let encoding = encoding(&toy, &codebook);
    let sender = Project::with(&FILES);
    let texts = sender.update(Some(&encoding)).0.vectors.expect("vectors").len();
    let first = bytes(&sender.store().ship(&|_| Ok(false)).expect("a sound index"));
    // A draft that was searched once and never committed.
    let net = fs::read_to_string(sender.root.join("src/net.py")).expect("a file");
    sender.write("src/draft.py", "def zebraquux_secret(customer):\n    return customer\n");
    sender.write("src/net.py", &format!("{net}\ndef zebraquux_page(url):\n    return url\n"));
    sender.update(Some(&encoding));
    fs::remove_file(sender.root.join("src/draft.py")).expect("a file");
    sender.write("src/net.py", &net);
    let before = answers(&sender.update(Some(&encoding)).0, &toy);
    // Parts that others have are unchanged, with their deletions in a separate file, and need not be sent again.
    let is_out = |part: &IndexPart| Ok(first.iter().any(|(name, _)| *name == part.name));
    let second = bytes(&sender.store().ship(&is_out).expect("a sound index"));
    assert!(second.iter().any(|(name, _)| name.ends_with(".del")));
    let kept = second.iter().filter(|part| first.contains(part)).count();
    assert!(kept >= first.len() - 2, "{kept} of {}", first.len());
    let all =
        Vectors::open(&sender.store().vectors_folder(), &VectorManifest { spare: Vec::new(), ..manifest(&sender) });
    assert_eq!(all.expect("vectors").len(), texts, "no other vectors");
    // If nothing was sent before, removed texts are not sent.
    let third = bytes(&sender.store().ship(&|_| Ok(false)).expect("a sound index"));
    assert!(!third.iter().any(|(name, _)| name.ends_with(".del")), "every document is of a file");
    let now = sender.store().open().expect("an index");
    assert_eq!(answers(&now, &toy), before);
    let receiver = Project::with(&FILES);
    take(&third, &receiver, &receiver.store()).expect("taken");
    let taken = receiver.store().open().expect("an index");
    assert_eq!(taken.vectors.as_ref().map(Vectors::len), Some(texts));
    assert_eq!(answers(&taken, &toy), before);
    // The next shipment is the same, and the draft's texts are not encoded again when it comes back.
    assert_eq!(bytes(&sender.store().ship(&|_| Ok(false)).expect("a sound index")), third);
    toy.count();
    sender.write("src/draft.py", "def zebraquux_secret(customer):\n    return customer\n");
    assert_eq!((sender.update(Some(&encoding)).1.units, toy.count()), (1, 0));
}

fn manifest(project: &Project) -> VectorManifest {
    project.store().open().expect("an index").files.vectors.expect("vectors")
}
