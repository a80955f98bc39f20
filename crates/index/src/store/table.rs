//! The file table as its file holds it.

use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd::bulk::{compress, decompress};
use zstd::zstd_safe::get_frame_content_size;

use super::FileTable;
use crate::error::{Error, Result, Source};

/// Compression: paths repeat each other, hashes and times do not.
const LEVEL: i32 = 3;
/// Most bytes of a table for each of its file. No table comes near it; what somebody forged must not fill the memory.
const SPREAD_MAX: u64 = 256;

/// What stands behind a table to tell damage: it also binds the table to its generation.
fn sum(generation: u64, table: &[u8]) -> [u8; 8] {
    xxh3_64_with_seed(table, generation).to_le_bytes()
}

/// The bytes of a table's file.
///
/// # Errors
/// When the table can't be written down.
pub fn sealed_table(generation: u64, table: &FileTable) -> Result<Vec<u8>> {
    let plain = postcard::to_stdvec(table).map_err(|e| Error::Table(e.into()))?;
    let mut bytes = compress(&plain, LEVEL).map_err(|e| Error::Table(e.into()))?;
    bytes.extend(sum(generation, &bytes));
    Ok(bytes)
}

/// The table that a file holds.
///
/// # Errors
/// What is wrong with it.
pub fn opened_table(generation: u64, bytes: &[u8]) -> std::result::Result<FileTable, Source> {
    let sealed = bytes.split_last_chunk().filter(|(table, own)| sum(generation, table) == **own);
    let (packed, _) = sealed.ok_or("is damaged")?;
    let length = get_frame_content_size(packed).ok().flatten();
    let length = length.filter(|length| *length <= SPREAD_MAX * packed.len() as u64).ok_or("is no table")?;
    Ok(postcard::from_bytes(&decompress(packed, length as usize)?)?)
}

#[cfg(test)]
mod tests {
    use super::super::FileRecord;
    use super::*;

    #[test]
    fn a_table_comes_back_smaller() {
        let file = |i: u32| FileRecord { path: format!("crates/index/src/store/table{i}.rs"), ..FileRecord::default() };
        let table = FileTable { files: (0..300).map(file).collect(), ..FileTable::default() };
        let bytes = sealed_table(7, &table).expect("bytes");
        assert!(bytes.len() < postcard::to_stdvec(&table).expect("bytes").len() / 4);
        assert_eq!(opened_table(7, &bytes).expect("a table"), table);
        opened_table(8, &bytes).expect_err("of another generation");
        opened_table(7, &bytes[1..]).expect_err("cut");
        // A sum that is right tells nothing of what stands before it.
        let plain = [postcard::to_stdvec(&table).expect("bytes"), Vec::new()].concat();
        let forged = [plain.as_slice(), &sum(7, &plain)].concat();
        opened_table(7, &forged).expect_err("not compressed");
        let bomb = compress(&vec![0; 64 << 20], LEVEL).expect("bytes");
        let bomb = [bomb.as_slice(), &sum(7, &bomb)].concat();
        assert!(bomb.len() < 64 << 10);
        assert_eq!(opened_table(7, &bomb).expect_err("too much").to_string(), "is no table");
    }
}
