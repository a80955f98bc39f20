//! `forge`: files of an index and frames of the wire with right checksums and wrong content, as others may send them.
//! Nothing of it may end the process, and no index may stay unreadable.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use colgrep_cluster::{Cluster, HostedRepository, ReplicaTimeouts, ShardServer, VERSION};
use colgrep_engine::Env;
use colgrep_engine::project::Project;
use colgrep_engine::project::open::update;
use colgrep_engine::settings::Settings;
use colgrep_index::lexical::forge;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Adoption, Snapshot, Store, opened_table, sealed_table};
use colgrep_index::update::{UnreadableIndex, caught, repair};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use xxhash_rust::xxh3::xxh3_64;

use super::subject::{Subject, copy, files_below, first_difference};
use super::{PANICS, Tally, TortureArgs, case_seed, go_through};
use crate::shards::wire::FixedRepositories;

/// Cases of each part.
const CASES: u64 = 5_000;
/// Bytes of the header of a segment of vectors; where the sums of its table and of the header are.
const HEADER_BYTES: usize = 80;
const TABLE_SUM: usize = 64;
const HEADER_SUM: usize = 72;

/// Runs the kind.
///
/// # Errors
/// When a case can't be set up.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    Ok(vec![indexes(args)?, frames(args)?])
}

fn indexes(args: &TortureArgs) -> Result<Tally> {
    let subject = Subject::new()?;
    let before = subject.data("before");
    let store = subject.store(&before);
    subject.update(&store, true, true)?;
    subject.change()?;
    subject.update(&store, true, true)?;
    let expected = subject.expected(true)?;
    let folder = store.folder().to_path_buf();
    let mut files = files_below(&folder, 1)?;
    // Sums of lengths are never sent.
    files.retain(|path| !path.ends_with("lengths.bin"));
    let data = subject.data("data");
    go_through(args, "forged indexes", (0..CASES).collect(), |case, counts| {
        copy(&before, &data)?;
        let store = subject.store(&data);
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let file = &files[*case as usize % files.len()];
        let path = store.folder().join(file.strip_prefix(&folder)?);
        forged(&path, &mut random)?;
        let case = format!("case {case}: {}", path.display());
        // What panics while it is read counts as damage, as in the program.
        let panics = PANICS.load(Ordering::Relaxed);
        let mut failures = Vec::new();
        *counts.entry(adopted(&subject, &store)?).or_default() += 1;
        failures.extend(
            as_it_is(&subject, &store, &expected, counts).map(|(kind, what)| (kind, format!("{case}: {what}"))),
        );
        let caught = PANICS.swap(panics, Ordering::Relaxed) - panics;
        *counts.entry("panics, caught").or_default() += caught;
        fs::remove_dir_all(&data)?;
        Ok(failures)
    })
}

/// Searches a forged index as it is, and as often as a user would; gives what is wrong after that.
fn as_it_is(
    subject: &Subject,
    store: &Store,
    expected: &str,
    counts: &mut BTreeMap<&'static str, u64>,
) -> Option<(&'static str, String)> {
    let opened = caught(|| store.open()).flatten();
    let met = opened.and_then(|snapshot| {
        subject.answers(&snapshot).inspect_err(|error| {
            // As a search does.
            let unreadable = UnreadableIndex { snapshot: &snapshot, is_alone: true };
            let _ = repair(store, Some(unreadable).filter(|_| error.is_of_content()));
        })
    });
    match met {
        Ok(found) if found == expected => {
            *counts.entry("not met").or_default() += 1;
            return None;
        }
        // Who writes an index can falsify answers, and nothing more.
        Ok(_) => {
            *counts.entry("other answers").or_default() += 1;
            return None;
        }
        Err(_) => *counts.entry("errors").or_default() += 1,
    }
    match subject.update(store, false, true).and_then(|snapshot| subject.answers(&snapshot)) {
        Ok(found) if found == expected => None,
        Ok(found) => Some(("other answer after a repair", first_difference(expected, &found))),
        // Vectors of other content may show only now; `init` verifies all.
        Err(_) => match subject.update(store, true, true).and_then(|snapshot| subject.answers(&snapshot)) {
            Ok(_) => None,
            Err(error) => Some(("lasting", error.full())),
        },
    }
}

/// Takes over a copy of a forged index, as a pull does; says how that went.
fn adopted(subject: &Subject, store: &Store) -> Result<&'static str> {
    let data = subject.data("pulled");
    let own = subject.store(&data);
    let incoming = own.incoming();
    let lock = incoming.lock(true)?;
    copy(store.folder(), incoming.folder())?;
    let adoption = Adoption {
        root: &subject.root,
        options: Default::default(),
        mode: VectorMode::Full,
        by_init: true,
        takes_vectors: true,
        origin: "forged",
        before: &own,
    };
    let taken = caught(|| incoming.adopt(&lock, &adoption)).flatten();
    drop(lock);
    fs::remove_dir_all(&data)?;
    Ok(if taken.is_ok() { "taken over" } else { "refused" })
}

/// Changes the content of a file of an index in a few places, and all checksums over it.
fn forged(path: &Path, random: &mut StdRng) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).context("a name")?;
    let is_of = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
    if name == "meta.json" {
        let bytes = fs::read(path)?;
        let mut content = forge::unsealed_point(&bytes).context("a commit point")?.to_vec();
        changed(&mut content, random);
        fs::write(path, forge::sealed_point(&content))?;
    } else if is_of("lexical") && name != "lengths.bin" {
        let mut content = forge::unsealed(path)?;
        changed(&mut content, random);
        forge::seal(path, &content)?;
    } else if let Some(generation) = name.strip_prefix("files-").and_then(|rest| rest.strip_suffix(".bin")) {
        let generation: u64 = generation.parse()?;
        let Ok(mut table) = opened_table(generation, &fs::read(path)?) else { bail!("a damaged table") };
        let at = random.random_range(0..table.files.len());
        match random.random_range(0..6) {
            0 => table.next_id = random.random(),
            1 => table.files[at].id.0 = random.random(),
            2 => table.files[at].path = "../outside".into(),
            3 => table.files[at].units = random.random(),
            4 => drop(table.files.remove(at)),
            _ => table.files[at].language = "no such language".into(),
        }
        let Ok(bytes) = sealed_table(generation, &table) else { bail!("no table") };
        fs::write(path, bytes)?;
    } else {
        let mut bytes = fs::read(path)?;
        changed(&mut bytes, random);
        if name.ends_with(".seg") {
            sum_segment(&mut bytes);
        } else if bytes.len() > 8 {
            let end = bytes.len() - 8;
            let sum = xxh3_64(&bytes[..end]).to_le_bytes();
            bytes[end..].copy_from_slice(&sum);
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Changes one to eight bytes, or cuts a part out.
fn changed(bytes: &mut Vec<u8>, random: &mut StdRng) {
    if bytes.is_empty() {
        return;
    }
    if random.random_ratio(1, 8) {
        let from = random.random_range(0..bytes.len());
        let end = bytes.len().min(from + random.random_range(1..64));
        bytes.drain(from..end);
        return;
    }
    for _ in 0..random.random_range(1..=8) {
        let at = random.random_range(0..bytes.len());
        bytes[at] = match random.random_range(0..3) {
            0 => 0xFF,
            1 => 0,
            _ => random.random(),
        };
    }
}

/// Writes the sums of a segment of vectors, as far as its numbers lie in it.
fn sum_segment(bytes: &mut [u8]) {
    let word = |at: usize| bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    if bytes.len() < HEADER_BYTES {
        return;
    }
    let (units, even_bytes, directory_bytes) = (word(40), word(44), word(48));
    let starts = if even_bytes > 0 { 0 } else { 4 * (units + 1) };
    let lists_at = HEADER_BYTES + 6 * units + starts + 4 * units.div_ceil(16) + directory_bytes;
    if let Some(table) = bytes.get(HEADER_BYTES..lists_at) {
        let sum = xxh3_64(table).to_le_bytes();
        bytes[TABLE_SUM..HEADER_SUM].copy_from_slice(&sum);
    }
    let sum = xxh3_64(&bytes[..HEADER_SUM]).to_le_bytes();
    bytes[HEADER_SUM..HEADER_BYTES].copy_from_slice(&sum);
}

fn frames(args: &TortureArgs) -> Result<Tally> {
    let subject = Subject::new()?;
    let env = Env::default().data_in(subject.data("served"));
    let (mut project, _) = Project::around(&subject.root, &env)?;
    project.settings(&env)?;
    let settings = Settings::read(&env, &subject.root)?;
    let snapshot: Arc<Snapshot> = Arc::new(update(&project, None, true, None, &())?.0);
    let served = HostedRepository::new("project".into(), project, snapshot, settings);
    let server = ShardServer::new(FixedRepositories::new(vec![served]), None);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let own = Arc::clone(&server);
    std::thread::spawn(move || own.serve(&listener));
    let file = subject.data("shards.json");
    fs::write(&file, format!("{{\"shards\": [[\"{address}\"]]}}"))?;
    let cluster = Cluster::new(&file, None, 1, ReplicaTimeouts::default())?;
    let tally = go_through(args, "forged frames", (0..CASES).collect(), |case, counts| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        let answered = noise(address, &mut random)?;
        *counts.entry(if answered { "answered" } else { "closed" }).or_default() += 1;
        let mut failures = Vec::new();
        // Others are served as before.
        if case % 16 == 0 {
            let seen = cluster.health(None)?;
            if seen.names() != ["project"] {
                failures.push(("not served", format!("case {case}: {seen:?}")));
            }
        }
        Ok(failures)
    });
    server.end(address);
    tally
}

/// Shakes hands, or nearly, and sends frames of noise. Returns whether anything came back.
fn noise(address: SocketAddr, random: &mut StdRng) -> Result<bool> {
    let frame = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
    let mut sent = Vec::new();
    // The magic number, the version, a random number; and a credential without a proof.
    let mut hello = [&b"colgrep\x01"[..], &[VERSION as u8], &[7; 32]].concat();
    if random.random_ratio(1, 8) {
        changed(&mut hello, random);
    }
    sent.extend(frame(&hello));
    sent.extend(frame(&[0]));
    for _ in 0..random.random_range(1..6) {
        let mut bytes: Vec<u8> = (0..random.random_range(0..200)).map(|_| random.random()).collect();
        // Most are questions by their first bytes: a depth, a kind.
        if bytes.len() > 2 && random.random_ratio(3, 4) {
            (bytes[0], bytes[1]) = (random.random_range(0..3), random.random_range(0..10));
        }
        let mut one = frame(&bytes);
        if random.random_ratio(1, 10) {
            changed(&mut one, random);
        }
        sent.extend(one);
    }
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    // The server may have closed it already.
    let _ = stream.write_all(&sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Ok(answer.len() > 80)
}
