//! Pulling: takes the index nearest to what is checked out, verifies each of its files, and replaces the local index in
//! one step.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use colgrep_index::disk::free_bytes;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Adoption, FORMAT_VERSION, POINT_PART, Store, WriteLock};
use colgrep_index::update::caught;
use colgrep_index::vector::VectorManifest as Vectors;
use colgrep_index::walk::{LeftOut, WalkOptions, walk};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::bucket::Bucket;
use crate::error::{Error, Result};
use crate::hash::of_file;
use crate::manifest::{Manifest, ManifestSnapshot, PartRecord, SNAPSHOTS_MAX, VectorFacts};
use crate::takes::Takes;
use crate::watch::{TransferPhase, TransferWatch};

/// Blobs that are fetched at once.
const AT_ONCE: usize = 4;
/// How often a blob that arrives damaged is fetched.
const TRIES: u32 = 3;
/// Bytes that an index may have whatever the project is, and those for each byte of the project's files. Indexes have .4
/// to 1.2 bytes a byte; they may be of another state of the project. A project that is much smaller than its shared
/// index, as a sparse checkout is, is indexed here in less time than the index is fetched.
const INDEX_BYTES_BASE: u64 = 64 << 20;
const INDEX_BYTES_PER_BYTE: u64 = 16;

/// Which of the indexes of a repository is looked for.
pub struct Wanted<'a> {
    /// The commit that is checked out.
    pub commit: Option<&'a str>,
    /// The branch that is checked out.
    pub branch: Option<&'a str>,
    /// How lines end ([`ManifestSnapshot::lines`]).
    pub lines: Option<&'a str>,
    /// Which files the project's index takes in.
    pub takes: &'a Takes,
    /// The number of commits between each of some commits and the checked out one, if known.
    pub distances: &'a dyn Fn(&[&str]) -> HashMap<String, u64>,
    /// Whether vectors are those that this machine would make.
    pub fits: &'a dyn Fn(&Vectors) -> bool,
    /// Whether an index ([`ManifestSnapshot::id`]) turned out to be unreadable before.
    pub refused: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted").field("commit", &self.commit).field("branch", &self.branch).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub struct RemoteIndex {
    /// The repository's name, of those that were asked for.
    pub name: String,
    pub snapshot: ManifestSnapshot,
    /// Whether its vectors are those that this machine would make.
    pub fits: bool,
    /// How many commits separate it from what is checked out, if known.
    pub distance: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pulled {
    pub fetched: u64,
    pub bytes: u64,
    /// Bytes that were here already.
    pub bytes_kept: u64,
}

/// The indexes that can be taken of those that a remote has under some names (the best first), the best first: vectors
/// come first, since they cost most to make, then equal line ends, the nearest commit, one that takes in the same files, the
/// same branch, the newest.
pub(crate) fn ranked(known: &[(&str, Manifest)], wanted: &Wanted<'_>) -> Vec<RemoteIndex> {
    let mut found = Vec::new();
    for (place, (name, manifest)) in known.iter().enumerate() {
        let readable = |s: &ManifestSnapshot| s.format == FORMAT_VERSION && !(wanted.refused)(&s.id());
        for (age, snapshot) in manifest.snapshots().rev().enumerate().filter(|(_, s)| readable(s)) {
            let fits = snapshot.vectors.as_ref().and_then(VectorFacts::described).is_some_and(|v| (wanted.fits)(&v));
            let alike = (fits, snapshot.lines.as_deref() == wanted.lines);
            found.push((
                alike,
                (place, age),
                RemoteIndex { name: name.to_string(), snapshot: snapshot.clone(), fits, distance: None },
            ));
        }
    }
    let best = found.iter().map(|(alike, ..)| *alike).max();
    let is_own = |found: &RemoteIndex| wanted.commit.is_some() && found.snapshot.commit.as_deref() == wanted.commit;
    for (.., found) in &mut found {
        found.distance = is_own(found).then_some(0);
    }
    // Git is asked once, and only without an index of the exact commit.
    if !found.iter().any(|(alike, _, found)| Some(*alike) == best && found.distance == Some(0)) {
        let mut commits: Vec<&str> = found.iter().filter_map(|(.., f)| f.snapshot.commit.as_deref()).collect();
        commits.truncate(SNAPSHOTS_MAX);
        let distances = (wanted.distances)(&commits);
        for (.., found) in &mut found {
            found.distance = found.snapshot.commit.as_ref().and_then(|commit| distances.get(commit)).copied();
        }
    }
    found.sort_by_key(|(alike, order, found)| {
        let takes_same = found.snapshot.takes.as_ref() == Some(wanted.takes);
        let same_branch = found.snapshot.branch.as_deref() == wanted.branch;
        (Reverse(*alike), found.distance.unwrap_or(u64::MAX), Reverse(takes_same), Reverse(same_branch), *order)
    });
    found.into_iter().map(|(.., found)| found).collect()
}

/// The most bytes of an index that is taken for the project at `root`.
///
/// # Errors
/// When the root can't be read.
pub(crate) fn index_bytes_max(root: &Path, options: &WalkOptions) -> Result<u64> {
    let files = walk(root, &LeftOut::default(), options)?.bytes(options.filesize_max);
    Ok(INDEX_BYTES_BASE.saturating_add(files.saturating_mul(INDEX_BYTES_PER_BYTE)))
}

/// Fetches the files of an index of at most `bytes_max` bytes into `incoming`, except those that are there or in `store`
/// already.
pub(crate) async fn fetch(
    bucket: &Bucket,
    found: &RemoteIndex,
    incoming: &Store,
    store: &Store,
    bytes_max: u64,
    watch: &dyn TransferWatch,
) -> Result<Pulled> {
    found.snapshot.check().map_err(|why| Error::DamagedManifest { place: bucket.place().to_string(), why })?;
    let wanted = found.snapshot.parts.iter().filter(|part| found.fits || !part.name.starts_with("vectors/"));
    check_size(&found.name, wanted.clone().map(|part| part.bytes), bytes_max)?;
    let mut pulled = Pulled::default();
    let mut missing = Vec::new();
    for part in wanted {
        if is_here(incoming, part) || taken_over(incoming, store, part)? {
            pulled.bytes_kept += part.bytes;
        } else {
            missing.push(part);
        }
    }
    check_room(&found.name, missing.iter().map(|part| part.bytes).sum(), free_bytes(incoming.folder()))?;
    watch.begin(TransferPhase::Fetching, missing.iter().map(|part| part.bytes).sum());
    (pulled.fetched, pulled.bytes) = (missing.len() as u64, missing.iter().map(|part| part.bytes).sum());
    // The commit point comes last: before it, the folder is no index.
    let (point, others): (Vec<_>, Vec<_>) = missing.into_iter().partition(|part| part.name == POINT_PART);
    for parts in [others, point] {
        let fetches = parts.into_iter().map(|part| fetch_one(bucket, part, incoming, watch));
        futures_util::stream::iter(fetches).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    }
    Ok(pulled)
}

/// Refuses an index with more bytes than one of this project has: a manifest may say anything.
fn check_size(name: &str, parts: impl Iterator<Item = u64>, bytes_max: u64) -> Result<()> {
    let bytes = parts.fold(0, u64::saturating_add);
    if bytes <= bytes_max { Ok(()) } else { Err(Error::TooLarge { name: name.to_string(), bytes, bytes_max }) }
}

/// Refuses an index that would take more than nine tenths of what is free on the disk: a manifest may say anything, and
/// the rest of the machine needs the disk too.
fn check_room(name: &str, bytes: u64, free: Option<u64>) -> Result<()> {
    match free {
        Some(free) if bytes > free - free / 10 => Err(Error::NoRoom { name: name.to_string(), bytes, free }),
        _ => Ok(()),
    }
}

/// Whether a store has a part with these very bytes.
fn is_here(store: &Store, part: &PartRecord) -> bool {
    store.part(&part.name, part.bytes).is_some_and(|file| of_file(&file, |_| {}).is_ok_and(|hash| hash == part.sha256))
}

/// Takes a part from the index that is there, if that has it.
fn taken_over(incoming: &Store, store: &Store, part: &PartRecord) -> Result<bool> {
    if part.name == POINT_PART || !is_here(store, part) {
        return Ok(false);
    }
    incoming.link_part(&part.name, store)?;
    // It may have been replaced between the two.
    Ok(is_here(incoming, part))
}

async fn fetch_one(bucket: &Bucket, part: &PartRecord, incoming: &Store, watch: &dyn TransferWatch) -> Result<()> {
    let place = bucket.place_of(part.key());
    for tries in 1.. {
        match fetch_once(bucket, part, incoming, watch).await? {
            None => return Ok(()),
            Some(_) if tries < TRIES => watch.again(&place),
            Some(why) => return Err(Error::DamagedBlob { place, why: why.to_string(), tries }),
        }
    }
    Ok(())
}

/// Fetches a part; returns what is wrong with it, if anything.
async fn fetch_once(
    bucket: &Bucket,
    part: &PartRecord,
    incoming: &Store,
    watch: &dyn TransferWatch,
) -> Result<Option<&'static str>> {
    let mut file = incoming.new_part(&part.name)?;
    let take = |bytes: &[u8]| {
        file.add(bytes)?;
        watch.done(bytes.len() as u64);
        Ok(())
    };
    let fault = bucket.get_part(part, take).await?;
    file.finish()?;
    Ok(fault)
}

/// What a pulled index becomes here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Becomes<'a> {
    pub(crate) root: &'a Path,
    pub(crate) options: WalkOptions,
    pub(crate) mode: VectorMode,
    pub(crate) patience: Duration,
}

/// Makes the fetched index the project's: checked whole, then in the place of the one before in one step.
pub(crate) fn install(
    found: &RemoteIndex,
    incoming: &Store,
    lock: WriteLock,
    store: &Store,
    becomes: Becomes<'_>,
    watch: &dyn TransferWatch,
) -> Result<()> {
    let Becomes { root, options, mode, patience } = becomes;
    let store_lock = store.lock_within(patience, &|| watch.waits())?;
    let origin = found.snapshot.id();
    let adoption =
        Adoption { root, options, mode, by_init: true, takes_vectors: found.fits, origin: &origin, before: store };
    if let Err(error) = caught(|| incoming.adopt(&lock, &adoption)).flatten() {
        // Its files were what the manifest says, so fetching them again would change nothing.
        let _ = incoming.remove(&lock);
        if error.is_of_content() {
            store.refuse(&origin)?;
        }
        return Err(error.into());
    }
    Ok(incoming.replace(lock, store, store_lock)?)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn snapshot(commit: &str, branch: &str) -> ManifestSnapshot {
        ManifestSnapshot {
            format: FORMAT_VERSION,
            commit: Some(commit.into()),
            branch: Some(branch.into()),
            ..ManifestSnapshot::of(vec![])
        }
    }

    fn takes() -> Takes {
        Takes::of(&WalkOptions::default(), &["gen/".to_string()])
    }

    fn manifest(snapshots: impl IntoIterator<Item = ManifestSnapshot>) -> Manifest {
        let mut manifest = Manifest::new("h/n");
        snapshots.into_iter().for_each(|snapshot| manifest.add(snapshot));
        manifest
    }

    /// The commits in order of their rank, and what git was asked.
    fn order(known: &[(&str, Manifest)], lines: Option<&str>, far: &[(&str, u64)]) -> (Vec<String>, Vec<Vec<String>>) {
        let asked = RefCell::new(Vec::new());
        let distances = |commits: &[&str]| {
            asked.borrow_mut().push(commits.iter().map(|c| c.to_string()).collect());
            far.iter().map(|(commit, n)| (commit.to_string(), *n)).collect()
        };
        let wanted = Wanted {
            commit: Some("own"),
            branch: Some("main"),
            lines,
            takes: &takes(),
            distances: &distances,
            fits: &|_| false,
            refused: &|_| false,
        };
        let ranked = ranked(known, &wanted);
        let commits = ranked.iter().map(|f| format!("{}:{}", f.name, f.snapshot.commit.clone().unwrap_or_default()));
        (commits.collect(), asked.into_inner())
    }

    #[test]
    fn the_nearest_is_taken_whoever_pushed_it_and_git_is_asked_once() {
        let fork = manifest([snapshot("old", "main"), snapshot("side", "x")]);
        let upstream = manifest([snapshot("near", "main"), snapshot("far", "main")]);
        let known = [("fork", fork), ("upstream", upstream)];
        let (found, asked) = order(&known, None, &[("near", 2), ("far", 9), ("old", 700)]);
        assert_eq!(found, ["upstream:near", "upstream:far", "fork:old", "fork:side"]);
        assert_eq!(asked.len(), 1);
        // Where git knows none of them: the first name, the same branch, the newest.
        let (found, _) = order(&known, None, &[]);
        assert_eq!(found, ["fork:old", "upstream:far", "upstream:near", "fork:side"]);
        // The very commit is there: nobody is asked.
        let (found, asked) = order(&[("n", manifest([snapshot("a", "main"), snapshot("own", "x")]))], None, &[]);
        assert_eq!((found[0].as_str(), asked.len()), ("n:own", 0));
        // Of however many there are, 32 are looked at.
        let many = manifest((0..32).map(|n| snapshot(&n.to_string(), &n.to_string())));
        let all = [("a", many.clone()), ("b", many.clone()), ("c", many)];
        assert_eq!(order(&all, None, &[]).1[0].len(), SNAPSHOTS_MAX);
    }

    #[test]
    fn an_index_leaves_room_on_the_disk() {
        for (bytes, free, fits) in [
            (0, Some(0), true),
            (1, Some(0), false),
            (90, Some(100), true),
            (91, Some(100), false),
            (u64::MAX, None, true),
        ] {
            assert_eq!(check_room("h/n", bytes, free).is_ok(), fits, "{bytes} of {free:?}");
        }
    }

    #[test]
    fn an_index_is_bounded_by_the_files_of_the_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes_max = || index_bytes_max(folder.path(), &WalkOptions::default()).expect("a folder");
        assert_eq!(bytes_max(), INDEX_BYTES_BASE);
        std::fs::write(folder.path().join("a.rs"), vec![b' '; 1_000]).expect("a file");
        assert_eq!(bytes_max(), INDEX_BYTES_BASE + 1_000 * INDEX_BYTES_PER_BYTE);
        for (parts, fits) in [(&[60, 40][..], true), (&[60, 41], false), (&[u64::MAX, u64::MAX], false)] {
            assert_eq!(check_size("h/n", parts.iter().copied(), 100).is_ok(), fits, "{parts:?}");
        }
    }

    #[test]
    fn files_of_the_same_line_ends_are_worth_a_few_commits() {
        let crlf = ManifestSnapshot { lines: Some("crlf".into()), ..snapshot("far", "main") };
        let known = [("n", manifest([crlf, snapshot("near", "main")]))];
        let far = [("near", 0), ("far", 3)];
        assert_eq!(order(&known, Some("crlf"), &far).0[0], "n:far");
        assert_eq!(order(&known, None, &far).0[0], "n:near");
    }

    #[test]
    fn what_takes_in_the_same_files_comes_before_what_differs() {
        let with = |commit: &str, takes: Option<Takes>| ManifestSnapshot { takes, ..snapshot(commit, "main") };
        let hidden = WalkOptions { hidden: true, ..WalkOptions::default() };
        let hidden = Takes::of(&hidden, &[]);
        let both = || manifest([with("own", Some(takes())), with("own", Some(hidden.clone())), with("own", None)]);
        assert_eq!(both().snapshots().count(), 3, "of one commit, each is kept");
        let distances = |_: &[&str]| HashMap::new();
        for own in [takes(), hidden.clone()] {
            let wanted = Wanted {
                commit: Some("own"),
                branch: Some("main"),
                lines: None,
                takes: &own,
                distances: &distances,
                fits: &|_| false,
                refused: &|_| false,
            };
            assert_eq!(ranked(&[("n", both())], &wanted)[0].snapshot.takes.as_ref(), Some(&own));
        }
        assert_eq!(takes().differing(&hidden), ["hidden", "ignore"]);
        assert!(takes().differing(&takes()).is_empty());
    }
}
