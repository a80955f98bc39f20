//! Translates file numbers and unit addresses between a shard and its corpus.

use colgrep_core::UnitId;
use colgrep_index::ids::FilePlace;

use crate::shard::{RepositoryExtent, ShardExtent};

/// The places of all shards' files among the files of the corpus, by path.
#[derive(Clone, Debug, Default)]
pub struct FileIds {
    /// For each shard and each of its repositories, the first place in the shard and in the corpus.
    of_shard: Vec<Vec<(u32, u32)>>,
    /// The repositories of the corpus by path: first place in the corpus, shard, first place in the shard.
    all: Vec<(u32, usize, u32)>,
}

impl FileIds {
    pub fn new(extents: &[ShardExtent]) -> FileIds {
        let mut all: Vec<(&RepositoryExtent, usize, u32)> = Vec::new();
        for (shard, extent) in extents.iter().enumerate() {
            for (at, repository) in extent.repositories.iter().enumerate() {
                let end = extent.repositories.get(at + 1).map_or(extent.places, |next| next.first.0);
                all.push((repository, shard, end.saturating_sub(repository.first.0)));
            }
        }
        all.sort_by(|a, b| a.0.front.cmp(&b.0.front).then(a.1.cmp(&b.1)));
        let mut ids = FileIds { of_shard: vec![Vec::new(); extents.len()], all: Vec::new() };
        let mut base = 0;
        for (repository, shard, files) in all {
            ids.of_shard[shard].push((repository.first.0, base));
            ids.all.push((base, shard, repository.first.0));
            base += files;
        }
        ids.of_shard.iter_mut().for_each(|repositories| repositories.sort_unstable());
        ids
    }

    /// The repositories of the corpus by path, with their first places.
    pub fn repositories(&self, extents: &[ShardExtent]) -> Vec<RepositoryExtent> {
        let own = |(base, shard, first): &(u32, usize, u32)| {
            let known = extents[*shard].repositories.iter().find(|known| known.first.0 == *first);
            RepositoryExtent {
                front: known.map_or_else(String::new, |known| known.front.clone()),
                first: FilePlace(*base),
            }
        };
        self.all.iter().map(own).collect()
    }

    /// The corpus's place of a shard's file.
    pub fn global(&self, shard: usize, file: FilePlace) -> FilePlace {
        let repositories = &self.of_shard[shard];
        let at = repositories.partition_point(|(first, _)| *first <= file.0);
        let (first, base) = at.checked_sub(1).map_or((0, 0), |at| repositories[at]);
        FilePlace(base + (file.0 - first))
    }

    /// The shard of a file of the corpus, and its place there.
    pub fn local(&self, file: FilePlace) -> (usize, FilePlace) {
        let at = self.all.partition_point(|(base, ..)| *base <= file.0);
        let (base, shard, first) = at.checked_sub(1).map_or((0, 0, 0), |at| self.all[at]);
        (shard, FilePlace(first + (file.0 - base)))
    }
}

/// How the units of a corpus are addressed.
#[derive(Clone, Copy, Debug)]
pub enum UnitIds<'a> {
    /// The address contains the shard's number ([`UnitId::in_part`]).
    Parts,
    /// The segments of all shards are numbered consecutively. The slice has the first number of each shard, and the
    /// number after the last one.
    Segments(&'a [u32]),
}

impl UnitIds<'_> {
    /// The corpus's address of a shard's unit.
    pub fn global(self, shard: usize, unit: UnitId) -> UnitId {
        match self {
            UnitIds::Parts => unit.in_part(shard as u32),
            UnitIds::Segments(firsts) => {
                UnitId::new(firsts.get(shard).copied().unwrap_or_default() + unit.segment(), unit.doc())
            }
        }
    }

    /// The shard of a unit of the corpus, and its address there. An invalid address gets one that belongs to no unit.
    pub fn local(self, unit: UnitId) -> (usize, UnitId) {
        match self {
            UnitIds::Parts => (unit.part() as usize, unit.within_part()),
            UnitIds::Segments(firsts) => {
                let shards = firsts.len().saturating_sub(1);
                let at = firsts[..shards].partition_point(|first| *first <= unit.segment()).saturating_sub(1);
                match firsts.last().is_some_and(|end| unit.segment() < *end) {
                    true => (at, UnitId::new(unit.segment() - firsts[at], unit.doc())),
                    false => (0, UnitId::new(UnitId::SEGMENTS_MAX - 1, u32::MAX)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_units_translate_both_ways() {
        // The second shard has no segments.
        let firsts = [0, 3, 3, 5];
        for ids in [UnitIds::Parts, UnitIds::Segments(&firsts)] {
            for (shard, segment) in [(0, 0), (0, 2), (2, 0), (2, 1)] {
                let unit = UnitId::new(segment, 7);
                assert_eq!(ids.local(ids.global(shard, unit)), (shard, unit), "{ids:?}");
            }
        }
        assert_eq!(UnitIds::Segments(&firsts).global(2, UnitId::new(1, 7)), UnitId::new(4, 7));
        assert_eq!(
            UnitIds::Segments(&firsts).local(UnitId::new(5, 7)).1,
            UnitId::new(UnitId::SEGMENTS_MAX - 1, u32::MAX)
        );
    }

    #[test]
    fn files_are_numbered_by_path_over_all_shards() {
        let extent = |repositories: &[(&str, u32)], places| ShardExtent {
            repositories: repositories
                .iter()
                .map(|(front, first)| RepositoryExtent { front: (*front).into(), first: FilePlace(*first) })
                .collect(),
            places,
            ..ShardExtent::default()
        };
        let extents = [extent(&[("a/", 0), ("c/", 2)], 5), extent(&[("b/", 0)], 4)];
        let ids = FileIds::new(&extents);
        let global: Vec<u32> = (0..5).map(|file| ids.global(0, FilePlace(file)).0).collect();
        assert_eq!(global, [0, 1, 6, 7, 8]);
        assert_eq!(ids.global(1, FilePlace(3)), FilePlace(5));
        for file in (0..9).map(FilePlace) {
            let (shard, own) = ids.local(file);
            assert_eq!(ids.global(shard, own), file);
        }
        let fronts: Vec<String> = ids.repositories(&extents).into_iter().map(|one| one.front).collect();
        assert_eq!(fronts, ["a/", "b/", "c/"]);
    }
}
