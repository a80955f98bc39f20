//! The file table of whatever bytes: with the right sum anybody can write one.

use colgrep_index::ids::FileId;
use colgrep_index::store::{FileRecord, FileTable};
use proptest::prelude::*;
use proptest::sample::Index;

fn table() -> FileTable {
    let file = |i: u32| FileRecord {
        id: FileId(i),
        path: format!("src/part{i}.rs"),
        size: u64::from(i) << 40,
        mtime_ns: -i64::from(i),
        language: "rust".into(),
        note: i.is_multiple_of(2).then(|| "parsed with syntax errors".into()),
        ..FileRecord::default()
    };
    let unreadable = vec![("a".to_string(), "no permission".to_string())];
    FileTable {
        root: "/project".into(),
        next_id: 9,
        files: (0..9).map(file).collect(),
        unreadable,
        ..FileTable::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_table_of_any_bytes_is_read_or_refused(
        changes in proptest::collection::vec(any::<(Index, u8)>(), 0..6), cut in any::<Index>(), is_cut in any::<bool>(),
    ) {
        let mut bytes = postcard::to_stdvec(&table()).expect("a table");
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(table) = postcard::from_bytes::<FileTable>(&bytes) {
            prop_assert!(table.files.len() <= bytes.len());
            let _ = (table.skipped(), table.indexed().count(), table.walk_options());
        }
    }

    #[test]
    fn a_table_of_noise_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = postcard::from_bytes::<FileTable>(&bytes);
    }
}
