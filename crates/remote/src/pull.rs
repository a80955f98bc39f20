//! Pulling: the index that is nearest to what is checked out, each of its files checked, in one step in place of the
//! index that was there.

use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Adoption, FORMAT_VERSION, POINT_PART, Store, WriteLock};
use colgrep_index::update::caught;
use colgrep_index::vector::Manifest as Vectors;
use colgrep_index::walk::WalkOptions;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::bucket::Bucket;
use crate::error::{Error, Result};
use crate::hash::{Hasher, of_file};
use crate::manifest::{PartRecord, Snapshot};
use crate::watch::{Phase, Watch};

/// Blobs that are fetched at once.
const AT_ONCE: usize = 4;
/// How often a blob that arrives damaged is fetched.
const TRIES: u32 = 3;

/// Which of the indexes of a repository is looked for.
pub struct Wanted<'a> {
    /// The commit that is checked out.
    pub commit: Option<&'a str>,
    /// The branch that is checked out.
    pub branch: Option<&'a str>,
    /// How many commits lie between a commit and the one that is checked out, where that is known.
    pub distance: &'a dyn Fn(&str) -> Option<u64>,
    /// Whether vectors are those that this machine would make.
    pub fits: &'a dyn Fn(&Vectors) -> bool,
}

impl std::fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted").field("commit", &self.commit).field("branch", &self.branch).finish_non_exhaustive()
    }
}

/// An index that a remote has.
#[derive(Clone, Debug)]
pub struct Found {
    /// The repository's name, of those that were asked for.
    pub name: String,
    /// The index.
    pub snapshot: Snapshot,
    /// Whether its vectors are those that this machine would make.
    pub fits: bool,
    /// How many commits lie between it and what is checked out, where that is known.
    pub distance: Option<u64>,
}

/// What a pull did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pulled {
    /// Files fetched.
    pub fetched: u64,
    /// Bytes fetched.
    pub bytes: u64,
    /// Bytes that were here already.
    pub bytes_kept: u64,
}

/// Chooses the index to take: vectors first, since they cost most to make, then the nearest commit, the same branch, the
/// newest.
///
/// # Errors
/// Where none is of the format that is read here.
pub(crate) fn choose(name: &str, snapshots: &[Snapshot], wanted: &Wanted<'_>, place: &str) -> Result<Found> {
    let rated = snapshots.iter().enumerate().filter(|(_, snapshot)| snapshot.format == FORMAT_VERSION);
    let rated = rated.map(|(at, snapshot)| {
        let fits = snapshot.vectors.as_ref().and_then(|facts| facts.described()).is_some_and(|v| (wanted.fits)(&v));
        let distance = snapshot.commit.as_deref().and_then(|commit| match wanted.commit {
            Some(own) if own == commit => Some(0),
            _ => (wanted.distance)(commit),
        });
        let same_branch = snapshot.branch.as_deref() == wanted.branch;
        let rank = (fits, std::cmp::Reverse(distance.unwrap_or(u64::MAX)), same_branch, at);
        (rank, Found { name: name.to_string(), snapshot: snapshot.clone(), fits, distance })
    });
    if let Some((_, found)) = rated.max_by_key(|(rank, _)| *rank) {
        return Ok(found);
    }
    let mut found: Vec<u32> = snapshots.iter().map(|snapshot| snapshot.format).collect();
    found.sort_unstable();
    found.dedup();
    Err(Error::OtherFormat { name: name.to_string(), place: place.to_string(), found, own: FORMAT_VERSION })
}

/// Fetches the files of an index into `incoming`, but those that lie there or in `store` already.
pub(crate) async fn fetch(
    bucket: &Bucket,
    found: &Found,
    incoming: &Store,
    store: &Store,
    watch: &dyn Watch,
) -> Result<Pulled> {
    found.snapshot.check().map_err(|why| Error::DamagedManifest { place: bucket.place().to_string(), why })?;
    let wanted = found.snapshot.parts.iter().filter(|part| found.fits || !part.name.starts_with("vectors/"));
    let mut pulled = Pulled::default();
    let mut missing = Vec::new();
    for part in wanted {
        if is_here(incoming, part) || taken_over(incoming, store, part)? {
            pulled.bytes_kept += part.bytes;
        } else {
            missing.push(part);
        }
    }
    watch.begin(Phase::Fetching, missing.iter().map(|part| part.bytes).sum());
    (pulled.fetched, pulled.bytes) = (missing.len() as u64, missing.iter().map(|part| part.bytes).sum());
    // The commit point comes last: before it, the folder is no index.
    let (point, others): (Vec<_>, Vec<_>) = missing.into_iter().partition(|part| part.name == POINT_PART);
    for parts in [others, point] {
        let fetches = parts.into_iter().map(|part| fetch_one(bucket, part, incoming, watch));
        futures_util::stream::iter(fetches).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    }
    Ok(pulled)
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

async fn fetch_one(bucket: &Bucket, part: &PartRecord, incoming: &Store, watch: &dyn Watch) -> Result<()> {
    let place = bucket.place_of(&format!("blobs/{}", part.key()));
    for tries in 1.. {
        match fetch_once(bucket, part, incoming, watch).await? {
            None => return Ok(()),
            Some(_) if tries < TRIES => watch.again(&place),
            Some(why) => return Err(Error::DamagedBlob { place, why: why.to_string(), tries }),
        }
    }
    Ok(())
}

/// Fetches a part; what is wrong with it where it is not what it should be.
async fn fetch_once(
    bucket: &Bucket,
    part: &PartRecord,
    incoming: &Store,
    watch: &dyn Watch,
) -> Result<Option<&'static str>> {
    let (mut hasher, mut got, mut more) = (Hasher::new(), 0, false);
    let mut file = incoming.new_part(&part.name)?;
    bucket
        .get(part.key(), |bytes| {
            got += bytes.len() as u64;
            more |= got > part.bytes;
            // What is too long is not written to the end.
            if !more {
                hasher.add(bytes);
                file.add(bytes)?;
                watch.done(bytes.len() as u64);
            }
            Ok(())
        })
        .await?;
    file.finish()?;
    Ok(match got.cmp(&part.bytes) {
        std::cmp::Ordering::Less => Some("it is cut"),
        std::cmp::Ordering::Greater => Some("it is longer than it should be"),
        std::cmp::Ordering::Equal if hasher.finish() != part.sha256 => Some("its SHA-256 is another"),
        std::cmp::Ordering::Equal => None,
    })
}

/// What a pulled index becomes here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Becomes<'a> {
    pub(crate) root: &'a std::path::Path,
    pub(crate) options: WalkOptions,
    pub(crate) mode: VectorMode,
}

/// Makes the fetched index the project's: checked whole, then in the place of the one before in one step.
pub(crate) fn install(
    found: &Found,
    incoming: &Store,
    lock: WriteLock,
    store: &Store,
    becomes: Becomes<'_>,
) -> Result<()> {
    let Becomes { root, options, mode } = becomes;
    let store_lock = store.lock(true)?;
    let origin = found.snapshot.id();
    let adoption = Adoption { root, options, mode, takes_vectors: found.fits, origin: &origin, before: store };
    if let Err(error) = caught(|| incoming.adopt(&lock, &adoption)).flatten() {
        // Its files were what the manifest says, so fetching them again would change nothing.
        let _ = incoming.remove(&lock);
        return Err(error.into());
    }
    Ok(incoming.replace(lock, store, store_lock)?)
}
