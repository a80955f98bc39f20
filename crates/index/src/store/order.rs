//! The order of files, which breaks ties between scores independently of how the index was built.

use super::{FileRecord, Snapshot};
use crate::ids::FileOrder;

impl Snapshot {
    /// Positions of all files by path.
    pub fn order(&self) -> &FileOrder {
        self.order.get_or_init(|| FileOrder::new(self.files.next_id, self.files.files.iter().map(|file| file.id)))
    }

    /// The order of files with equal scores: by path, and in a history newest first.
    pub fn ties(&self) -> &FileOrder {
        if self.files.source == 0 {
            return self.order();
        }
        self.ages.get_or_init(|| {
            let mut files: Vec<&FileRecord> = self.files.files.iter().collect();
            files.sort_by(|a, b| b.mtime_ns.cmp(&a.mtime_ns).then_with(|| a.path.cmp(&b.path)));
            FileOrder::new(self.files.next_id, files.into_iter().map(|file| file.id))
        })
    }
}
