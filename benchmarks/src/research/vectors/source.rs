//! Synthetic source: functions of words whose frequencies fall as in a language (Zipf).

use std::fmt::Write as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

const WORDS: f64 = 30_000.0;
const UNITS_A_FILE: usize = 40;
const FILES_A_FOLDER: usize = 50;

/// A word by a number that looks random: rank r is drawn with a probability of about 1/r.
fn word(random: u64) -> String {
    let rank = WORDS.powf((random >> 11) as f64 / (1u64 << 53) as f64) as u64;
    let (mut hash, mut word) = (xxh3_64(&rank.to_le_bytes()), String::new());
    for _ in 0..2 + rank.ilog2() / 6 {
        word.push(b"bcdfghklmnprstvz"[hash as usize % 16] as char);
        word.push(b"aeiou"[(hash >> 4) as usize % 5] as char);
        hash >>= 8;
    }
    word
}

fn words(seed: u64, count: u64) -> impl Iterator<Item = String> {
    (0..count).map(move |i| word(xxh3_64(&(seed << 8 | i).to_le_bytes())))
}

/// Writes files with `units` functions below `root`; returns their bytes.
pub fn write(root: &Path, units: usize) -> std::io::Result<u64> {
    let mut bytes = 0;
    for file in 0..units.div_ceil(UNITS_A_FILE) {
        let folder = root.join(format!("part{}", file / FILES_A_FOLDER));
        std::fs::create_dir_all(&folder)?;
        let mut text = String::new();
        for unit in file * UNITS_A_FILE..((file + 1) * UNITS_A_FILE).min(units) {
            let all: Vec<String> = words(unit as u64, 70).collect();
            let _ = writeln!(text, "def {}_{}_{}({}, {}):", all[0], all[1], unit, all[2], all[3]);
            let _ = writeln!(text, "    \"\"\"{}.\"\"\"", all[4..14].join(" "));
            for line in all[14..].chunks(7) {
                let _ = writeln!(
                    text,
                    "    {} = {}.{}({}, {}[{}] + {})",
                    line[0], line[1], line[2], line[3], line[4], line[5], line[6]
                );
            }
            text.push('\n');
        }
        bytes += text.len() as u64;
        std::fs::write(folder.join(format!("{}_{file}.py", word(xxh3_64(&file.to_le_bytes())))), text)?;
    }
    Ok(bytes)
}

/// A question of six words.
pub fn query(i: usize) -> String {
    words(1 << 40 | i as u64, 6).collect::<Vec<_>>().join(" ")
}
