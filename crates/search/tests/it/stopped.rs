//! Interruptions at critical steps of a commit, damage that searches do not meet, the state of the disk at each commit,
//! hidden changes, and foreign files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::project::{FILES, Project};
use crate::toy::{Toy, codebook, encoding};
use colgrep_index::disk::{ChangeGate, Disk, DiskChange};
use colgrep_index::store::{Store, project_folder};
use colgrep_index::update::{Updater, check};

/// A disk that records each change and fails from a given one on.
#[derive(Debug, Default)]
struct Watched {
    changes: Mutex<Vec<(DiskChange, PathBuf)>>,
    stop: Option<usize>,
    stopped: AtomicBool,
}

impl Watched {
    fn changes(&self) -> Vec<(DiskChange, PathBuf)> {
        self.changes.lock().expect("no panic").clone()
    }
}

impl ChangeGate for Watched {
    fn pass(&self, change: DiskChange, path: &Path) -> io::Result<()> {
        let mut changes = self.changes.lock().expect("no panic");
        if self.stop == Some(changes.len()) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other("dead"));
        }
        changes.push((change, path.to_path_buf()));
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

/// An indexed project whose files then changed, so that the next commit deletes documents.
fn changed() -> Project {
    let project = Project::with(&FILES);
    project.update(None);
    project.write("src/net.py", "def fetch_page(url):\n    return get(url)\n");
    project
}

/// Updates a copy of the project's index on a disk that fails from a given change on.
fn stopped(project: &Project, data: &Path, stop: Option<usize>) -> (Store, Arc<Watched>) {
    copy(&project.data, data);
    let gate = Arc::new(Watched { stop, ..Watched::default() });
    let folder = project_folder(data, &project.root);
    let done = Updater::new(&Store::on(folder.clone(), Disk::gated(gate.clone())), &project.root).run();
    assert_eq!(done.is_err(), stop.is_some(), "{stop:?}");
    (Store::new(folder), gate)
}

#[test]
fn a_stop_between_deletions_and_the_commit_point_is_healed() {
    let project = changed();
    let places = tempfile::tempdir().expect("a folder");
    let (_, whole) = stopped(&project, &places.path().join("whole"), None);
    let changes = whole.changes();
    let is = |(change, path): &(DiskChange, PathBuf), wanted, name: &str| {
        *change == wanted && path.file_name().is_some_and(|own| own.to_string_lossy().ends_with(name))
    };
    let deletions = changes.iter().position(|change| is(change, DiskChange::Create, ".del")).expect("deletions");
    let points = (deletions..changes.len()).filter(|at| is(&changes[*at], DiskChange::Rename, "meta.json"));
    let points: Vec<usize> = points.collect();
    assert!(!points.is_empty(), "{changes:?}");
    for point in points {
        let (store, _) = stopped(&project, &places.path().join(point.to_string()), Some(point));
        // Update as a search does, then as `init` does.
        for round in 0..2 {
            let (snapshot, _) = Updater::new(&store, &project.root).run().expect("a working index");
            let file = snapshot.files.files.iter().find(|file| file.path == "src/net.py").expect("the file");
            assert_eq!(file.units, 1, "{round}");
        }
        let checked = check(&store).expect("an index");
        assert!(checked.damage.is_empty() && checked.stray.is_empty(), "{checked:?}");
    }
}

#[test]
fn init_heals_what_no_search_met() {
    let project = changed();
    let (snapshot, _) = project.update(None);
    let files = snapshot.files.files.len();
    drop(snapshot);
    let sound = project.store().folder().to_path_buf();
    let mut paths = Vec::new();
    for folder in [&sound, &sound.join("lexical")] {
        paths.extend(fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()));
    }
    // Lock files are empty.
    paths.retain(|path| path.metadata().is_ok_and(|m| m.is_file() && m.len() > 0));
    assert!(paths.len() > 8, "{paths:?}");
    let flip: fn(&Path) = |path| {
        let mut bytes = fs::read(path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(path, bytes).expect("written");
    };
    let mut damages: Vec<fn(&Path)> = vec![flip];
    #[cfg(unix)]
    damages.push(|path| {
        // A pipe in its place would block whoever opens it.
        fs::remove_file(path).expect("removed");
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).expect("a pipe");
    });
    for (path, damage) in paths.iter().flat_map(|path| damages.iter().map(move |damage| (path, damage))) {
        let name = path.strip_prefix(&sound).expect("inside");
        let data = tempfile::tempdir().expect("a folder");
        let store = Store::new(project_folder(data.path(), &project.root));
        copy(&sound, store.folder());
        damage(&store.folder().join(name));
        // Nothing changed in the tree.
        let (snapshot, _) = Updater::new(&store, &project.root).run().expect("an index");
        assert_eq!(snapshot.files.files.len(), files, "{name:?}");
        let checked = check(&store).expect("an index");
        assert!(checked.damage.is_empty() && checked.stray.is_empty(), "{name:?}: {checked:?}");
    }
}

/// Whether the content and the directory entry of a created file or folder are flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flushed {
    content: bool,
    entry: bool,
}

const FLUSHED: Flushed = Flushed { content: true, entry: true };

#[test]
fn what_a_commit_names_is_flushed_before_it() {
    let project = Project::with(&FILES);
    let gate = Arc::new(Watched::default());
    let store = Store::on(project.store().folder().to_path_buf(), Disk::gated(gate.clone()));
    let (toy, codebook) = (Toy::new(), codebook());
    for version in 0..3 {
        project.write("src/net.py", &format!("def fetch_page_{version}(url):\n    return get(url)\n"));
        Updater::new(&store, &project.root).encoding(Some(&encoding(&toy, &codebook))).run().expect("an index");
    }
    let (mut made, mut commits) = (BTreeMap::<PathBuf, Flushed>::new(), 0);
    for (change, path) in gate.changes() {
        match change {
            // The store's own folder may be lost with its content: a missing index is rebuilt.
            DiskChange::CreateFolder if path == store.folder() => {}
            DiskChange::CreateFolder => drop(made.insert(path, Flushed { content: true, entry: false })),
            DiskChange::Create => drop(made.insert(path, Flushed::default())),
            DiskChange::Write => made.entry(path).or_default().content = false,
            DiskChange::Sync => made.entry(path).or_default().content = true,
            DiskChange::SyncFolder => {
                made.iter_mut().filter(|(file, _)| file.parent() == Some(&path)).for_each(|(_, f)| f.entry = true);
            }
            DiskChange::Remove => drop(made.remove(&path)),
            DiskChange::Rename => {
                let mut new = path.clone().into_os_string();
                new.push(".new");
                let flushed = made.remove(Path::new(&new)).expect("a file that was made");
                assert!(flushed.content, "{}", path.display());
                commits += usize::from(path.ends_with("meta.json"));
                // The first commit point is an empty index without files.
                if path.ends_with("meta.json") && commits > 1 {
                    // A cache for readers that no commit names.
                    let named = made.iter().filter(|(file, _)| !file.ends_with("lengths.bin"));
                    let late: Vec<_> = named.filter(|(_, flushed)| **flushed != FLUSHED).collect();
                    assert!(late.is_empty(), "commit {commits} names {late:?}");
                }
                made.insert(path, flushed);
            }
        }
    }
    assert!(commits >= 6, "{commits} commits");
}

fn units_of(project: &Project, path: &str) -> Vec<String> {
    let (snapshot, _) = project.update(None);
    let file = snapshot.files.files.iter().find(|file| file.path == path).expect("the file").id;
    let hits = snapshot.lexical.units_of(file, None).expect("units");
    hits.iter().map(|hit| snapshot.lexical.unit(hit.key).expect("a unit").name).collect()
}

#[cfg(unix)]
#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::with(&[("a.py", "def alpha(): pass\n"), ("b.py", "def omega(): pass\n")]);
    let [a, b, c] = ["a.py", "b.py", "c.py"].map(|name| project.root.join(name));
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    let stamped_with = |path: &Path, time| {
        fs::File::options().write(true).open(path).and_then(|f| f.set_modified(time)).expect("a time");
    };
    let stamped = |path: &Path| stamped_with(path, old);
    [&a, &b].into_iter().for_each(|path| stamped(path));
    assert_eq!(units_of(&project, "a.py"), ["alpha"]);
    // Two files of an archive are swapped.
    [(&a, &c), (&b, &a), (&c, &b)].into_iter().for_each(|(from, to)| fs::rename(from, to).expect("another name"));
    assert_eq!((units_of(&project, "a.py"), units_of(&project, "b.py")), (vec!["omega".into()], vec!["alpha".into()]));
    // Another text of the same size, with the same time.
    fs::write(&a, "def gamma(): pass\n").expect("a file");
    stamped(&a);
    assert_eq!(units_of(&project, "a.py"), ["gamma"]);
    // The same with a future time, then once more immediately.
    let later = SystemTime::now() + Duration::from_secs(100_000_000);
    for name in ["delta", "theta", "gamma"] {
        fs::write(&a, format!("def {name}(): pass\n")).expect("a file");
        stamped_with(&a, later);
        assert_eq!(units_of(&project, "a.py"), [name]);
    }
    // An unreadable file becomes readable. Root reads everything.
    let set = |mode| fs::set_permissions(&a, fs::Permissions::from_mode(mode)).expect("a mode");
    set(0);
    if fs::read(&a).is_err() {
        assert!(units_of(&project, "a.py").is_empty());
    }
    set(0o600);
    assert_eq!(units_of(&project, "a.py"), ["gamma"]);
}

#[test]
fn what_others_put_beside_the_index_stays() {
    let project = Project::with(&FILES);
    project.update(None);
    let folder = project.store().folder().to_path_buf();
    fs::create_dir(folder.join("more")).expect("a folder");
    let others = [folder.join("notes.txt"), folder.join("more/notes.txt")];
    others.iter().for_each(|path| fs::write(path, "kept").expect("a file"));
    // A rebuild, and the removal of the whole index.
    fs::write(project.store().lexical_folder().join("meta.json"), "{}").expect("damage");
    project.update(None);
    let lock = project.store().lock(false).expect("a free lock");
    project.store().remove(&lock).expect("removed");
    assert!(!project.store().exists());
    others.iter().for_each(|path| assert_eq!(fs::read_to_string(path).expect("a file"), "kept"));
    let left = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(left, 2, "nothing of the index is left");
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_stays() {
    let project = Project::with(&FILES);
    project.update(None);
    let other = project.root.with_file_name("other");
    let folders = [project.store().folder().to_path_buf(), project.store().lexical_folder()];
    for folder in folders.iter().rev() {
        fs::create_dir_all(&other).expect("a folder");
        fs::write(other.join("notes.txt"), "kept").expect("a file");
        fs::remove_dir_all(folder).expect("removed");
        std::os::unix::fs::symlink(&other, folder).expect("a link");
        let error = project.try_update(None).expect_err("no index through a link").full();
        assert!(error.contains("it is a link; remove it"), "{error}");
        assert!(project.store().lock(false).is_err());
        assert_eq!(fs::read_to_string(other.join("notes.txt")).expect("a file"), "kept");
        assert_eq!(fs::read_dir(&other).expect("a folder").count(), 1);
    }
}
