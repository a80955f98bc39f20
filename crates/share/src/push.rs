//! Pushing: blobs first, the manifest last.
//!
//! A blob is used again only where the manifest that is moved on names it, or it is young: everything else may be about to
//! be pruned, and is put under a name of its own. So what a manifest names is never an object that a prune has chosen.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use colgrep_index::store::{FORMAT_VERSION, IndexPart, PartContent, Shipment};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::bucket::{Bucket, Newest, Stock};
use crate::error::{Error, Result};
use crate::hash::{of_bytes, of_file};
use crate::manifest::{Manifest, ManifestSnapshot, PartRecord, VectorFacts};
use crate::shelf::since_1970;
use crate::takes::Takes;
use crate::watch::{TransferPhase, TransferWatch};

/// Bytes of a piece of a large blob. Stores ask for 5 MiB at least, and take 10,000 pieces.
const PIECE_BYTES: usize = 8 << 20;
/// Blobs that are sent at once, each with one piece in memory.
const AT_ONCE: usize = 4;
/// Time after which a push looks again what is there before it relies on it.
const LOOKS_AGAIN_AFTER: Duration = Duration::from_secs(3_600);
/// Age up to which a blob that nothing names is used again: half of what a prune leaves alone at least.
const REUSED_FOR: Duration = Duration::from_secs(12 * 3_600);
/// How often a push that others overtake begins again.
const TRIES: u32 = 100;
/// Pause before it does, at most; it doubles from a hundredth of it.
const PAUSE_MAX: Duration = Duration::from_millis(800);

/// Metadata that is pushed with the files of an index.
#[derive(Clone, Debug, Default)]
pub struct Sent<'a> {
    /// The commit that is checked out.
    pub commit: Option<&'a str>,
    /// The branch that is checked out.
    pub branch: Option<&'a str>,
    /// How lines end ([`ManifestSnapshot::lines`]).
    pub lines: Option<&'a str>,
    /// Which files the index takes in.
    pub takes: Takes,
    /// Send every file, also those that are there; replace an unreadable manifest.
    pub anew: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pushed {
    /// Blobs sent, and their bytes.
    pub blobs: u64,
    pub bytes: u64,
    /// Bytes of the whole index.
    pub bytes_in_all: u64,
    /// Whether the remote had this very index.
    pub was_there: bool,
    /// How often another push was faster.
    pub races: u32,
}

pub(crate) async fn push(
    bucket: &Bucket,
    shipment: &Shipment,
    sent: &Sent<'_>,
    watch: &dyn TransferWatch,
) -> Result<Pushed> {
    let records = hashed(&shipment.parts, watch)?;
    let mut report = Pushed { bytes_in_all: records.iter().map(|r| r.bytes).sum(), ..Pushed::default() };
    let mut ours: HashMap<String, String> = HashMap::new();
    for tries in 0..TRIES {
        let Newest { number, manifest, passed } = match bucket.newest().await {
            Err(Error::DamagedManifest { .. }) if sent.anew => bucket.unreadable().await?,
            newest => newest?,
        };
        if tries == 0 {
            passed.iter().for_each(|error| watch.passed(error));
        }
        let mut manifest = manifest.unwrap_or_else(|| Manifest::new(bucket.name()));
        let (stock, looked) = (bucket.stock().await?, SystemTime::now());
        let snapshot = snapshot(records.clone(), shipment, sent);
        let is_whole = |s: &ManifestSnapshot| s.parts.iter().all(|part| stock.has(part.key(), part.bytes));
        if let Some(same) = manifest.same(&snapshot).filter(|same| !sent.anew && is_whole(same)) {
            bucket.check(same.parts.iter()).await?;
            // Of a push that was thought lost, the manifest may have it already.
            return Ok(Pushed { was_there: report.blobs == 0, races: tries, ..report });
        }
        let chosen = choose(records.clone(), &manifest, &stock, &ours, sent.anew);
        bucket.check(chosen.iter().filter(|c| !c.missing).map(|c| &c.record)).await?;
        send(bucket, &chosen, &shipment.parts, watch, &mut report).await?;
        let sent_now = chosen.iter().filter(|c| c.missing).map(|c| &c.record);
        ours.extend(sent_now.map(|record| (record.sha256.clone(), record.key().to_string())));
        // What was there a while ago may have been pruned. By the clock: a machine may have slept.
        if looked.elapsed().is_ok_and(|time| time > LOOKS_AGAIN_AFTER) {
            continue;
        }
        let records = chosen.into_iter().map(|c| c.record).collect();
        manifest.add(ManifestSnapshot { parts: records, ..snapshot });
        if bucket.advance(number, &manifest).await? {
            bucket.trim().await?;
            return Ok(Pushed { races: tries, ..report });
        }
        watch.raced();
        let pause = PAUSE_MAX.min((PAUSE_MAX / 100) * 2u32.pow(tries.min(7)));
        tokio::time::sleep(pause).await;
    }
    Err(Error::Races { place: bucket.place().to_string() })
}

fn snapshot(records: Vec<PartRecord>, shipment: &Shipment, sent: &Sent<'_>) -> ManifestSnapshot {
    ManifestSnapshot {
        format: FORMAT_VERSION,
        commit: sent.commit.map(str::to_string),
        branch: sent.branch.map(str::to_string),
        lines: sent.lines.map(str::to_string),
        takes: Some(sent.takes.clone()),
        pushed: since_1970(SystemTime::now()).cast_unsigned(),
        files: shipment.table.indexed().count() as u64,
        units: shipment.table.units(),
        vectors: shipment.table.vectors.as_ref().map(VectorFacts::of),
        ..ManifestSnapshot::of(records)
    }
}

fn hashed(parts: &[IndexPart], watch: &dyn TransferWatch) -> Result<Vec<PartRecord>> {
    watch.begin(TransferPhase::Hashing, parts.iter().map(|part| part.bytes).sum());
    let hash = |part: &IndexPart| {
        let sha256 = hash_of(part, &|bytes| watch.done(bytes)).map_err(|source| unread(part, source))?;
        Ok(PartRecord { name: part.name.clone(), bytes: part.bytes, sha256, ..PartRecord::default() })
    };
    parts.iter().map(hash).collect()
}

/// The hash of a part; `done` receives the number of bytes read.
pub(crate) fn hash_of(part: &IndexPart, done: &dyn Fn(u64)) -> std::io::Result<String> {
    match &part.content {
        PartContent::Bytes(bytes) => Ok(of_bytes(bytes)),
        PartContent::File(file) => rewound(file).and_then(|()| of_file(file, done)),
    }
}

fn unread(part: &IndexPart, source: std::io::Error) -> Error {
    Error::Io { what: format!("could not read {} of the index", part.name), source }
}

fn rewound(mut file: &File) -> std::io::Result<()> {
    file.rewind()
}

/// A part with the object that will store it.
struct Chosen {
    record: PartRecord,
    /// Whether that has to be sent.
    missing: bool,
}

/// Chooses an object for each part: one that can be relied upon, else a new one. `ours` are those that this push has put.
fn choose(
    records: Vec<PartRecord>,
    manifest: &Manifest,
    stock: &Stock,
    ours: &HashMap<String, String>,
    anew: bool,
) -> Vec<Chosen> {
    let now = since_1970(SystemTime::now());
    // If this machine's clock were slow, everything would seem young.
    let now = now.max(stock.latest);
    let named = manifest.keys();
    let age = |key: &str| stock.blobs.get(key).map_or(i64::MAX, |listed| now - listed.written);
    let is_young = |key: &str, bytes| stock.has(key, bytes) && age(key) < REUSED_FOR.as_secs().cast_signed();
    let mut chosen: HashMap<String, Option<String>> = HashMap::new();
    let mut choose = |record: PartRecord| {
        let (hash, bytes) = (&record.sha256, record.bytes);
        // Two parts may have the same bytes.
        if let Some(key) = chosen.get(hash) {
            return Chosen { record: PartRecord { key: key.clone(), ..record }, missing: false };
        }
        let own = ours.get(hash).filter(|key| is_young(key, bytes));
        let by_name = || named.iter().find(|key| key.starts_with(hash.as_str()) && stock.has(key, bytes));
        let known = match own {
            Some(key) => Some(key.clone()),
            None if anew => None,
            None => by_name().map(|key| key.to_string()).or_else(|| is_young(hash, bytes).then(|| hash.clone())),
        };
        let missing = known.is_none();
        // To put the same bytes where they already are harms nobody who reads them.
        let free = !stock.blobs.contains_key(hash) || named.contains(hash.as_str());
        let key = known.unwrap_or_else(|| if free { hash.clone() } else { format!("{hash}-{:08x}", unique()) });
        let key = Some(key).filter(|key| key != hash);
        chosen.insert(hash.clone(), key.clone());
        Chosen { record: PartRecord { key, ..record }, missing }
    };
    records.into_iter().map(&mut choose).collect()
}

/// A number that another push hardly has.
fn unique() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let text = format!("{now} {} {:?}", std::process::id(), std::thread::current().id());
    u32::from_str_radix(&of_bytes(text.as_bytes())[..8], 16).unwrap_or_default()
}

/// Sends the parts that are missing.
async fn send(
    bucket: &Bucket,
    chosen: &[Chosen],
    parts: &[IndexPart],
    watch: &dyn TransferWatch,
    report: &mut Pushed,
) -> Result<()> {
    let missing: Vec<(&Chosen, &IndexPart)> = chosen.iter().zip(parts).filter(|(c, _)| c.missing).collect();
    watch.begin(TransferPhase::Sending, missing.iter().map(|(_, part)| part.bytes).sum());
    report.blobs += missing.len() as u64;
    report.bytes += missing.iter().map(|(_, part)| part.bytes).sum::<u64>();
    let sends = missing.into_iter().map(|(chosen, part)| send_one(bucket, chosen.record.key(), part, watch));
    futures_util::stream::iter(sends).buffer_unordered(AT_ONCE).try_collect::<()>().await
}

async fn send_one(bucket: &Bucket, key: &str, part: &IndexPart, watch: &dyn TransferWatch) -> Result<()> {
    let file = match &part.content {
        PartContent::Bytes(bytes) => {
            bucket.put(key, bytes.clone()).await?;
            watch.done(part.bytes);
            return Ok(());
        }
        PartContent::File(file) => file,
    };
    rewound(file).map_err(|source| unread(part, source))?;
    let mut left = part.bytes;
    let mut next = || {
        let mut piece = vec![0; left.min(PIECE_BYTES as u64) as usize];
        let mut file = file;
        file.read_exact(&mut piece).map_err(|source| unread(part, source))?;
        left -= piece.len() as u64;
        watch.done(piece.len() as u64);
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    };
    if part.bytes <= PIECE_BYTES as u64 {
        return bucket.put(key, next()?.unwrap_or_default()).await;
    }
    bucket.put_pieces(key, next).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::ListedBlob;

    /// A part, and the stock that has it under a key, a number of hours before the last object.
    fn part(content: &[u8]) -> PartRecord {
        PartRecord::of("files-1.bin", content)
    }

    fn stock(of: &[(&str, i64)]) -> Stock {
        let now = since_1970(SystemTime::now());
        // The store's clock is two days ahead of this machine's.
        let latest = now + 2 * 86_400;
        let listed =
            |(key, hours): &(&str, i64)| (key.to_string(), ListedBlob { bytes: 1, written: latest - hours * 3_600 });
        Stock { blobs: of.iter().map(listed).collect(), latest }
    }

    fn chosen(manifest: &Manifest, stock: &Stock, ours: &[(String, String)]) -> (bool, String) {
        let chosen = choose(vec![part(b"x")], manifest, stock, &ours.iter().cloned().collect(), false);
        (chosen[0].missing, chosen[0].record.key().to_string())
    }

    #[test]
    fn only_what_is_there_and_named_or_young_is_relied_upon() {
        let hash = of_bytes(b"x");
        let (none, mut naming) = (Manifest::new("h/n"), Manifest::new("h/n"));
        naming.add(ManifestSnapshot::of(vec![part(b"x")]));
        let put = |key: &str| (true, key.to_string());
        let relies = |key: &str| (false, key.to_string());
        // Named: as long as the blob exists.
        assert_eq!(chosen(&naming, &stock(&[(&hash, 900)]), &[]), relies(&hash));
        assert_eq!(chosen(&naming, &stock(&[]), &[]), put(&hash), "it is gone");
        // Not named: while it is young by the later of both clocks.
        assert_eq!(chosen(&none, &stock(&[(&hash, 11)]), &[]), relies(&hash));
        let (missing, key) = chosen(&none, &stock(&[(&hash, 13)]), &[]);
        assert!(missing && key != hash && crate::hash::is_key(&key), "{key}");
        // What this push has put counts no longer than others' blobs.
        let other = format!("{hash}-1f");
        let ours = [(hash.clone(), other.clone())];
        assert_eq!(chosen(&none, &stock(&[(&other, 1)]), &ours), relies(&other));
        assert_eq!(chosen(&none, &stock(&[]), &ours), put(&hash), "somebody removed it");
        assert!(chosen(&none, &stock(&[(&other, 13)]), &ours).0, "it may be pruned");
    }
}
