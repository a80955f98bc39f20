//! A remote, open: what the command line asks of it.

use std::collections::HashSet;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use colgrep_index::mode::VectorMode;
use colgrep_index::store::{FORMAT_VERSION, IndexPart, Shipment, Store};
use colgrep_index::walk::WalkOptions;
use tokio::runtime::Runtime;

use crate::address::StoreAddress;
use crate::bucket::{Bucket, Newest};
use crate::error::{Error, Result};
use crate::manifest::{Manifest, ManifestSnapshot};
use crate::open::{Access, StoreTimeouts, open};
use crate::prune::prune;
use crate::pull::{self, Becomes, Pulled, RemoteIndex, Wanted};
use crate::push::{self, Pushed, Sent};
use crate::shelf::ObjectDir;
use crate::watch::TransferWatch;

/// Indexes that a pull tries to take.
const TRIES: usize = 8;
/// Names by which a repository is looked for.
const NAMES_MAX: usize = 4;
/// How long a remote may fail to answer before that is reported.
const SILENT: Duration = Duration::from_secs(1);

/// A place where indexes are shared.
#[derive(Debug)]
pub struct Remote {
    shelf: ObjectDir,
    place: String,
    patience: StoreTimeouts,
    runtime: Runtime,
}

#[derive(Clone, Debug, Default)]
pub struct RemoteState(HashSet<String>);

impl RemoteState {
    /// Whether it has the bytes of a part.
    ///
    /// # Errors
    /// Where the part can't be read.
    pub fn has(&self, part: &IndexPart) -> std::io::Result<bool> {
        Ok(!self.0.is_empty() && self.0.contains(&push::hash_of(part, &|_| {})?))
    }
}

type NamedManifests<'n> = Vec<(&'n str, Manifest)>;

impl Remote {
    /// Opens a place. A folder needs no network, and none is touched for it.
    ///
    /// # Errors
    /// Where the address or the credentials are not to be understood.
    pub fn open(place: &StoreAddress, access: &Access<'_>) -> Result<Remote> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = if place.is_folder() { runtime.enable_time() } else { runtime.enable_all() };
        let runtime = runtime.build().map_err(|source| Error::Io { what: "could not start".to_string(), source })?;
        let (store, root) = open(place, access)?;
        let shown = place.to_string();
        let shelf = ObjectDir::new(store, root, place.folder().map(Path::to_path_buf), &shown);
        let shelf = shelf.with_pace(access.patience.pace());
        Ok(Remote { shelf, place: shown, patience: access.patience, runtime })
    }

    fn bucket(&self, name: &str) -> Bucket {
        Bucket::new(&self.shelf, name)
    }

    /// What the remote has of the repository `name`, by hash: better known before an index is built than after.
    ///
    /// # Errors
    /// Where it can't be reached or read.
    pub fn known(&self, name: &str, watch: &dyn TransferWatch) -> Result<RemoteState> {
        let newest = self.asked(self.bucket(name).newest(), watch)?;
        Ok(RemoteState(newest.manifest.iter().flat_map(Manifest::hashes).map(str::to_string).collect()))
    }

    /// Pushes an index of the repository `name`.
    ///
    /// # Errors
    /// Where it can't be read or the store does not take it.
    pub fn push(&self, name: &str, shipment: &Shipment, sent: &Sent<'_>, watch: &dyn TransferWatch) -> Result<Pushed> {
        let bucket = self.bucket(name);
        bucket.begin()?;
        self.runtime.block_on(push::push(&bucket, shipment, sent, watch))
    }

    /// Removes what no manifest of `name` names and is older than `age`; how many blobs, and their bytes. A push under way
    /// must not take longer than half of the age.
    pub fn prune(&self, name: &str, age: Duration) -> Result<(u64, u64)> {
        self.runtime.block_on(prune(&self.bucket(name), age))
    }

    /// The indexes that the remote has under these names (the best first) and that can be read here, the best first.
    ///
    /// # Errors
    /// [`Error::Unknown`] where it knows none of the names, [`Error::OtherFormat`] where it has none that can be read here.
    pub fn find(&self, names: &[String], wanted: &Wanted<'_>, watch: &dyn TransferWatch) -> Result<Vec<RemoteIndex>> {
        let (known, failed) = self.manifests(names, watch)?;
        let found = pull::ranked(&known, wanted);
        failed.iter().filter(|_| !found.is_empty()).for_each(|error| watch.passed(error));
        match (failed, known.first()) {
            _ if !found.is_empty() => Ok(found),
            (Some(error), _) => Err(error),
            (None, None) => {
                let missing = if self.shelf.is_missing() { " (there is no such folder)" } else { "" };
                Err(Error::Unknown { place: format!("{}{missing}", self.place), names: names.to_vec() })
            }
            (None, Some((name, _))) => {
                let (name, place) = (name.to_string(), self.place.clone());
                if known.iter().any(|(_, manifest)| manifest.formats().contains(&FORMAT_VERSION)) {
                    return Err(Error::Refused { name, place });
                }
                Err(Error::OtherFormat { name, place })
            }
        }
    }

    /// The commits whose indexes can be read here, each with the branch that was checked out, the newest first.
    ///
    /// # Errors
    /// Where the remote can't be reached or read.
    pub fn commits(&self, names: &[String], watch: &dyn TransferWatch) -> Result<Vec<(String, Option<String>)>> {
        let (known, failed) = self.manifests(names, watch)?;
        if let Some(error) = failed.filter(|_| known.is_empty()) {
            return Err(error);
        }
        let snapshots = known.iter().flat_map(|(_, manifest)| manifest.snapshots().rev());
        // They are given to git, and a manifest may say anything.
        let is_hash =
            |commit: &String| matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit());
        let mut commits: Vec<(String, Option<String>)> = Vec::new();
        for snapshot in snapshots.filter(|snapshot| snapshot.format == FORMAT_VERSION) {
            let named = snapshot.commit.clone().filter(is_hash).map(|commit| (commit, snapshot.branch.clone()));
            commits.extend(named.filter(|named| !commits.contains(named)));
        }
        Ok(commits)
    }

    /// The newest manifest of each name that has indexes, and why another name could not be read.
    fn manifests<'n>(
        &self,
        names: &'n [String],
        watch: &dyn TransferWatch,
    ) -> Result<(NamedManifests<'n>, Option<Error>)> {
        let mut known = Vec::new();
        let mut failed = None;
        for name in names.iter().take(NAMES_MAX) {
            match self.asked(self.bucket(name).newest(), watch) {
                Ok(Newest { manifest, passed, .. }) => {
                    passed.iter().for_each(|error| watch.passed(error));
                    known.extend(manifest.filter(|manifest| !manifest.is_empty()).map(|m| (name.as_str(), m)));
                }
                Err(error) if error.is_of_one_name() => drop(failed.get_or_insert(error)),
                Err(error) => return Err(error),
            }
        }
        Ok((known, failed))
    }

    /// Takes the first complete one of some indexes ([`Remote::find`]) as the index of the project at `root`, in
    /// `store`, which stays unchanged until the last step. `looks_again` finds them anew where one can't be taken:
    /// others may have been pushed meanwhile. `None` where another process has taken the first one meanwhile.
    ///
    /// # Errors
    /// Where none can be fetched, or the disk refuses.
    pub fn pull(
        &self,
        mut found: Vec<RemoteIndex>,
        (store, root): (&Store, &Path),
        (options, mode): (WalkOptions, VectorMode),
        looks_again: &dyn Fn() -> Result<Vec<RemoteIndex>>,
        watch: &dyn TransferWatch,
    ) -> Result<Option<(RemoteIndex, Pulled)>> {
        let incoming = store.incoming();
        let patience = self.patience.for_locks();
        let lock = incoming.lock_within(patience, &|| watch.waits())?;
        let taken = store.open().map_or(String::new(), |snapshot| snapshot.files.pulled);
        if found.first().is_some_and(|first| first.snapshot.id() == taken) {
            incoming.remove(&lock)?;
            return Ok(None);
        }
        let bytes_max = pull::index_bytes_max(root, &options)?;
        let mut failed: Vec<ManifestSnapshot> = Vec::new();
        let mut first: Option<Error> = None;
        while let Some(next) = found.into_iter().find(|found| !failed.contains(&found.snapshot)) {
            // Report the first failure when another index is tried.
            first.iter().filter(|_| failed.len() == 1).for_each(|error| watch.passed(error));
            let bucket = self.bucket(&next.name);
            match self.runtime.block_on(pull::fetch(&bucket, &next, &incoming, store, bytes_max, watch)) {
                Ok(pulled) => {
                    let becomes = Becomes { root, options, mode, patience };
                    pull::install(&next, &incoming, lock, store, becomes, watch)?;
                    return Ok(Some((next, pulled)));
                }
                Err(error) if error.is_of_one_index() && failed.len() < TRIES => {
                    first.get_or_insert(error);
                    failed.push(next.snapshot);
                    found = looks_again()?;
                }
                Err(error) => {
                    // What was fetched is worth keeping, but not the room that nobody has.
                    if error.is_full() {
                        let _ = incoming.remove(&lock);
                    }
                    return Err(error);
                }
            }
        }
        Err(first.unwrap_or_else(|| Error::Races { place: self.place.clone() }))
    }

    /// Waits for what is asked of the remote; says so after a second.
    fn asked<T>(&self, question: impl Future<Output = Result<T>>, watch: &dyn TransferWatch) -> Result<T> {
        self.runtime.block_on(async {
            let mut question = pin!(question);
            if let Ok(answer) = tokio::time::timeout(SILENT, &mut question).await {
                return answer;
            }
            watch.slow(&self.place);
            let Some(patience) = self.patience.for_questions() else { return question.await };
            tokio::time::timeout(patience, question).await.unwrap_or_else(|_| {
                let why = format!("it takes more than {} s to say which indexes it has", patience.as_secs());
                Err(Error::Store { doing: "read", place: self.place.clone(), why })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use colgrep_index::disk::{ChangeGate, Disk, DiskChange};

    use super::*;
    use crate::hash::of_bytes;
    use crate::manifest::PartRecord;

    /// A disk on which no byte has room.
    #[derive(Debug)]
    struct Full;

    impl ChangeGate for Full {
        fn pass(&self, change: DiskChange, _: &Path) -> io::Result<()> {
            if change == DiskChange::Write { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_pull_leaves_a_full_disk_no_fuller() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("its path");
        let place = StoreAddress::parse(&folder.join("share").display().to_string(), None).expect("a folder");
        let access = Access { cloud: &Default::default(), home: None, plain: false, patience: StoreTimeouts::Ample };
        let remote = Remote::open(&place, &access).expect("a folder");
        let parts = vec![PartRecord::of("files-1.bin", b"table"), PartRecord::of("lexical/meta.json", b"point")];
        let bucket = remote.bucket("h/n");
        for content in [b"table", b"point"] {
            remote.runtime.block_on(bucket.put(&of_bytes(content), content.to_vec())).expect("put");
        }
        let of = |parts| RemoteIndex {
            name: "h/n".into(),
            snapshot: ManifestSnapshot::of(parts),
            fits: false,
            distance: None,
        };
        let found = of(parts);
        // The first one tried lacks a blob. The reported error is the one that ended the pull.
        let gone = of(vec![PartRecord::of("files-2.bin", b"nowhere"), found.snapshot.parts[1].clone()]);
        let data = folder.join("data");
        let store = Store::on(data.join("index"), Disk::gated(Arc::new(Full)));
        let options = (WalkOptions::default(), VectorMode::Keyword);
        let pulled = remote.pull(vec![gone], (&store, &folder), options, &|| Ok(vec![found.clone()]), &());
        let refused = pulled.expect_err("no room");
        assert!(refused.is_full(), "{}", refused.full());
        assert_eq!(std::fs::read_dir(&data).expect("a folder").count(), 0, "nothing is left");
    }

    #[test]
    fn an_index_far_larger_than_the_project_is_not_fetched() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("its path");
        let place = StoreAddress::parse(&folder.join("share").display().to_string(), None).expect("a folder");
        let access = Access { cloud: &Default::default(), home: None, plain: false, patience: StoreTimeouts::Ample };
        let remote = Remote::open(&place, &access).expect("a folder");
        let large = PartRecord { bytes: 1 << 30, ..PartRecord::of("vectors/1.seg", b"x") };
        let mut parts = vec![PartRecord::of("files-1.bin", b"table"), PartRecord::of("lexical/meta.json", b"point")];
        parts.push(large);
        let snapshot = ManifestSnapshot::of(parts);
        let found = RemoteIndex { name: "h/n".into(), snapshot, fits: true, distance: None };
        let store = Store::new(folder.join("data/index"));
        let options = (WalkOptions::default(), VectorMode::Full);
        let looks_again = || Ok(vec![found.clone()]);
        let refused = remote.pull(vec![found.clone()], (&store, &folder), options, &looks_again, &());
        assert!(matches!(refused, Err(Error::TooLarge { bytes, .. }) if bytes > 1 << 30), "{refused:?}");
    }
}
