//! `rot`: files of an index are changed; nothing of it may show in an answer, and `init` has to heal it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::subject::{Subject, copy, faults, files_below, first_difference};
use super::{Tally, TortureArgs, case_seed, go_through};

/// Version of the one large file.
const LARGE: usize = 150;
/// Changes drawn.
const CASES: u64 = 5_000;

pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    Ok(vec![of_subject(args, &Subject::new()?, "rot")?, of_subject(args, &Subject::history()?, "rot of a history")?])
}

fn of_subject(args: &TortureArgs, subject: &Subject, part: &str) -> Result<Tally> {
    let before = subject.data("before");
    let store = subject.store(&before);
    // Several segments, with deletions.
    subject.update(&store, true, true)?;
    subject.change()?;
    subject.update(&store, true, true)?;
    // Large enough not to be read whole when it is opened.
    subject.write(2, LARGE)?;
    subject.update(&store, true, true)?;
    let expected = subject.expected(true)?;
    let folder = store.folder().to_path_buf();
    let files = files_below(&folder, 0)?;
    let data = subject.data("data");
    go_through(args, part, (0..CASES).collect(), |case, counts| {
        copy(&before, &data)?;
        let store = subject.store(&data);
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        // Each file as often as the others, small or large.
        let file = &files[*case as usize % files.len()];
        let path = store.folder().join(file.strip_prefix(&folder)?);
        let done = damage(&path, &files, &folder, store.folder(), &mut random)?;
        let case = format!("case {case}: {done} {}", path.display());
        let mut failures = Vec::new();
        // As it is: an error or the right answer.
        match store.open().and_then(|snapshot| subject.answers(&snapshot)) {
            Ok(found) if found == expected => *counts.entry("not met").or_default() += 1,
            Ok(found) if is_without_vectors(&store) => {
                // Said by the snapshot, and the words' answers are right.
                *counts.entry("without vectors, and said").or_default() += 1;
                drop(found);
            }
            Ok(found) => {
                failures.push(("silent other answer", format!("{case}: {}", first_difference(&expected, &found))))
            }
            Err(_) => *counts.entry("errors").or_default() += 1,
        }
        for (whole, name) in [(false, "search"), (true, "init")] {
            match subject.update(&store, whole, true).and_then(|snapshot| subject.answers(&snapshot)) {
                Ok(found) if found == expected => {}
                Ok(found) => {
                    let difference = first_difference(&expected, &found);
                    failures.push(("other answer after an update", format!("{case}, {name}: {difference}")));
                }
                // A search's update does not look for damage; what its reading meets is repaired by the program.
                Err(_) if !whole => *counts.entry("errors of a search, repaired").or_default() += 1,
                Err(error) => failures.push(("not healed", format!("{case}: {error}"))),
            }
        }
        failures.extend(faults(&store, &case));
        fs::remove_dir_all(&data)?;
        Ok(failures)
    })
}

/// Whether an index says that its vectors can't be read.
fn is_without_vectors(store: &colgrep_index::store::Store) -> bool {
    store.open().is_ok_and(|snapshot| snapshot.damage.is_some())
}

/// Changes a file in a way drawn by chance and says how.
fn damage(path: &Path, files: &[PathBuf], from: &Path, to: &Path, random: &mut StdRng) -> Result<String> {
    let mut bytes = fs::read(path)?;
    let at = random.random_range(0..bytes.len().max(1));
    let kind = random.random_range(0..7);
    let said = match kind {
        0..3 if !bytes.is_empty() => {
            let bit = random.random_range(0..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped in")
        }
        3 => {
            bytes.truncate(at);
            format!("cut to {at} bytes:")
        }
        4 => {
            let end = bytes.len().min(at + random.random_range(1..5_000));
            bytes[at.min(end)..end].fill(0);
            format!("zeros at {at}..{end} of")
        }
        5 => {
            fs::remove_file(path)?;
            return Ok("removed:".to_string());
        }
        6 => {
            let other = files.choose(random).map_or(path, PathBuf::as_path);
            bytes = fs::read(to.join(other.strip_prefix(from)?))?;
            format!("{} in place of", other.display())
        }
        _ => {
            bytes.extend([0; 10]);
            "ten bytes more:".to_string()
        }
    };
    fs::write(path, bytes)?;
    Ok(said)
}
