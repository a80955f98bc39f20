//! Several shards as one: the shard of a process that serves several repositories. A [`Coordinator`] merges their
//! answers, so a client receives one answer per round.

use colgrep_core::UnitId;
use colgrep_index::error::{Error, Result};

use crate::file_ids::{FileIds, UnitIds};
use crate::rounds::{Coordinator, Shard, ShardSearch};
use crate::shard::{ShardExtent, ShardQuery};

pub struct ShardGroup<'a> {
    shards: Vec<&'a dyn Shard>,
    extent: ShardExtent,
    /// For each shard, the number of its first segment in the group; then the number after the last segment.
    firsts: Vec<u32>,
}

impl std::fmt::Debug for ShardGroup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group({} shards)", self.shards.len())
    }
}

impl<'a> ShardGroup<'a> {
    /// Groups shards.
    ///
    /// # Errors
    /// When there are more shards or segments than unit addresses can tell apart.
    pub fn new(shards: Vec<&'a dyn Shard>) -> Result<ShardGroup<'a>> {
        let extents: Vec<ShardExtent> = shards.iter().map(|shard| shard.extent()).collect();
        let mut firsts = vec![0u32];
        for extent in &extents {
            firsts.push(firsts[firsts.len() - 1].saturating_add(extent.segments));
        }
        let segments = firsts[firsts.len() - 1];
        if shards.len() > UnitId::PARTS_MAX as usize || segments >= UnitId::SEGMENTS_MAX {
            return Err(Error::TooManyRepositories { repositories: shards.len(), segments });
        }
        let extent = ShardExtent {
            repositories: FileIds::new(&extents).repositories(&extents),
            places: extents.iter().map(|extent| extent.places).sum(),
            documents: extents.iter().map(|extent| extent.documents).sum(),
            segments,
            is_filtered: extents.iter().any(|extent| extent.is_filtered),
        };
        Ok(ShardGroup { shards, extent, firsts })
    }

    /// The shard of a unit of the group, and its address there.
    pub fn own_unit(&self, unit: UnitId) -> (usize, UnitId) {
        UnitIds::Segments(&self.firsts).local(unit)
    }

    /// The path prefixes of the group's repositories, each with its shard.
    pub fn fronts(&self) -> Vec<(String, usize)> {
        let of_shard = |(at, shard): (usize, &&dyn Shard)| {
            shard.extent().repositories.into_iter().map(move |repository| (repository.front, at))
        };
        self.shards.iter().enumerate().flat_map(of_shard).collect()
    }
}

impl Shard for ShardGroup<'_> {
    fn extent(&self) -> ShardExtent {
        self.extent.clone()
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        for shard in &self.shards {
            if shard.is_name(term)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn search<'s>(&'s self, query: &ShardQuery<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        Ok(Box::new(Coordinator::new(&self.shards, query, UnitIds::Segments(&self.firsts))?))
    }
}
