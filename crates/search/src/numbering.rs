//! Where the files of the shards of a corpus stand among all.

use super::shard::{Extent, Repository};
use colgrep_index::ids::FilePlace;

/// Where the files of the shards stand among all, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    /// For each shard, of each of its repositories the first place there and among all.
    of_shard: Vec<Vec<(u32, u32)>>,
    /// The repositories of all by path: first place among all, shard, first place there.
    all: Vec<(u32, usize, u32)>,
}

impl Numbering {
    pub(super) fn new(extents: &[Extent]) -> Numbering {
        let mut all: Vec<(&Repository, usize, u32)> = Vec::new();
        for (shard, extent) in extents.iter().enumerate() {
            for (at, repository) in extent.repositories.iter().enumerate() {
                let end = extent.repositories.get(at + 1).map_or(extent.places, |next| next.first.0);
                all.push((repository, shard, end.saturating_sub(repository.first.0)));
            }
        }
        all.sort_by(|a, b| a.0.front.cmp(&b.0.front).then(a.1.cmp(&b.1)));
        let mut numbering = Numbering { of_shard: vec![Vec::new(); extents.len()], all: Vec::new() };
        let mut base = 0;
        for (repository, shard, files) in all {
            numbering.of_shard[shard].push((repository.first.0, base));
            numbering.all.push((base, shard, repository.first.0));
            base += files;
        }
        numbering.of_shard.iter_mut().for_each(|repositories| repositories.sort_unstable());
        numbering
    }

    /// The repositories of all shards, by path, with their first places among all.
    pub(super) fn repositories(&self, extents: &[Extent]) -> Vec<Repository> {
        let own = |(base, shard, first): &(u32, usize, u32)| {
            let known = extents[*shard].repositories.iter().find(|known| known.first.0 == *first);
            Repository { front: known.map_or_else(String::new, |known| known.front.clone()), first: FilePlace(*base) }
        };
        self.all.iter().map(own).collect()
    }

    /// The place among all of a shard's file.
    pub(super) fn among_all(&self, shard: usize, file: FilePlace) -> FilePlace {
        let repositories = &self.of_shard[shard];
        let at = repositories.partition_point(|(first, _)| *first <= file.0);
        let (first, base) = at.checked_sub(1).map_or((0, 0), |at| repositories[at]);
        FilePlace(base + (file.0 - first))
    }

    /// The shard of a file, and its place there.
    pub(super) fn in_shard(&self, file: FilePlace) -> (usize, FilePlace) {
        let at = self.all.partition_point(|(base, ..)| *base <= file.0);
        let (base, shard, first) = at.checked_sub(1).map_or((0, 0, 0), |at| self.all[at]);
        (shard, FilePlace(first + (file.0 - base)))
    }
}
