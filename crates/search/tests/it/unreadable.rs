//! Indexes whose checksums are right and whose content makes no sense.

use std::fs;
use std::path::PathBuf;

use colgrep_index::lexical::forge;
use colgrep_index::store::Snapshot;
use colgrep_index::update::{UnreadableIndex, caught, check, repair};
use colgrep_index::{Error, ErrorKind};

use crate::project::{FILES, Project, answers, ask, same};
use crate::toy::{Toy, codebook, encoding};

fn file(project: &Project, ending: &str) -> PathBuf {
    let mut files = fs::read_dir(project.store().lexical_folder()).expect("a folder").flatten().map(|e| e.path());
    files.find(|path| path.extension().is_some_and(|e| e == ending)).expect("a file")
}

/// An index that alone was read.
fn alone(snapshot: &Snapshot) -> Option<UnreadableIndex<'_>> {
    Some(UnreadableIndex { snapshot, is_alone: true })
}

/// Makes every stored document unreadable, and opens the index.
fn forged(project: &Project) -> Snapshot {
    let store = file(project, "store");
    let mut content = forge::unsealed(&store).expect("a file");
    let documents = content.len() / 2;
    content[..documents].fill(0xFF);
    forge::seal(&store, &content).expect("written");
    project.store().open().expect("an index whose checksums are right")
}

#[test]
fn a_content_that_makes_no_sense_is_rebuilt_once() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let encoding = encoding(&toy, &book);
    let expected = answers(&project.update(Some(&encoding)).0, &toy);
    toy.count();
    let snapshot = forged(&project);
    let key = snapshot.lexical.units_of_texts(|_| true).first().expect("a unit").0;
    let error = snapshot.lexical.unit(key).expect_err("no unit");
    assert!(error.kind() == ErrorKind::Unusable && error.is_of_content(), "{}", error.full());
    assert!(check(&project.store()).expect("an index").damage.is_empty(), "its checksums are right");
    // Without the snapshot, the repair believes the checksums.
    repair(&project.store(), None).expect("sound");
    assert!(!project.store().open().expect("an index").files.files.is_empty());
    repair(&project.store(), alone(&snapshot)).expect("repaired");
    let (mended, report) = project.update(Some(&encoding));
    assert!(report.units > 0 && report.encoded == 0 && toy.count() == 0, "vectors made here stay: {report:?}");
    assert!(same(&answers(&mended, &toy), &expected));
    // Another process met the same damage, and comes late.
    repair(&project.store(), alone(&snapshot)).expect("sound");
    assert!(!project.update(Some(&encoding)).1.wrote);
    // A failure that survives the rebuild is none of the index.
    assert!(project.store().refuses(""));
    let again = forged(&project);
    repair(&project.store(), alone(&again)).expect("left alone");
    assert!(!project.store().open().expect("an index").files.files.is_empty());
}

#[test]
fn forged_files_of_the_index_end_a_search_at_most() {
    let project = Project::with(&FILES);
    let expected = ask(&project.update(None).0, "page", None, None).expect("an answer");
    let sound: Vec<(PathBuf, Vec<u8>)> = ["idx", "pos", "term", "store", "fast", "fieldnorm"]
        .into_iter()
        .map(|ending| file(&project, ending))
        .map(|path| (path.clone(), forge::unsealed(&path).expect("a file")))
        .collect();
    let mut failed = 0;
    for (path, content) in &sound {
        for at in (0..content.len()).step_by(1 + content.len() / 24) {
            let mut bytes = content.clone();
            bytes[at] ^= 0xFF;
            forge::seal(path, &bytes).expect("written");
            // Opening it is an error at most, and so are repairs, which open it too.
            match project.store().open() {
                Ok(snapshot) => {
                    let done = caught(|| ask(&snapshot, "page", None, None)).flatten();
                    let is_of_content = done.as_ref().is_err_and(Error::is_of_content);
                    assert!(!is_of_content || snapshot.has_failed(), "{done:?}");
                    assert!(done.is_err() || !snapshot.has_failed());
                    failed += usize::from(is_of_content);
                }
                Err(_) => drop(repair(&project.store(), None)),
            }
            forge::seal(path, content).expect("written");
        }
    }
    assert!(failed > 0);
    let now = ask(&project.update(None).0, "page", None, None).expect("an answer");
    assert_eq!(now, expected);
}

#[test]
fn an_index_that_cannot_even_be_opened_is_rebuilt() {
    for ending in ["idx", "pos", "term", "fieldnorm"] {
        let project = Project::with(&FILES);
        let expected = ask(&project.update(None).0, "page", None, None).expect("an answer");
        let path = file(&project, ending);
        let mut content = forge::unsealed(&path).expect("a file");
        // The length of the list of fields, which comes before the JSON that ends the file.
        let json = br#"{"version""#;
        let end = content.windows(json.len()).rposition(|part| part == json).expect("the end of the file");
        content[end - 4..end].fill(0x7F);
        forge::seal(&path, &content).expect("written");
        let error = project.store().open().expect_err("no index");
        assert!(error.kind() == ErrorKind::Unusable && error.is_of_content(), "{ending}: {}", error.full());
        assert!(!check(&project.store()).expect("an index").damage.is_empty(), "{ending}");
        repair(&project.store(), None).expect("left to the update");
        let (mended, report) = project.update(None);
        assert!(report.units > 0, "{ending}: {report:?}");
        assert_eq!(ask(&mended, "page", None, None).expect("an answer"), expected, "{ending}");
    }
}
