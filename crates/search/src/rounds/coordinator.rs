//! Searches a corpus of shards as one: asks the shards in parallel, and translates between their file numbers and unit
//! addresses and those of the corpus.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_core::UnitId;
use colgrep_index::error::{Error, Result};
use colgrep_index::ids::FilePlace;
use rayon::prelude::*;

use super::top_k::TopTexts;
use super::{Ask, ListedRound, Shard, ShardSearch};
use crate::Stops;
use crate::file_ids::{FileIds, UnitIds};
use crate::shard::{ShardExtent, ShardQuery, UnitFound};

/// One search in a corpus.
pub struct Coordinator<'a> {
    searches: Vec<Box<dyn ShardSearch + 'a>>,
    files: FileIds,
    units: UnitIds<'a>,
    extents: Vec<ShardExtent>,
    /// True if a shard is remote.
    is_far: bool,
    /// The candidates by words, if only the outline of their scores was returned.
    pub(super) withheld: OnceLock<Vec<UnitFound>>,
    /// The texts chosen last.
    selection: Mutex<TopTexts>,
    /// Whether nobody wants further rounds.
    stops: Option<Stops<'a>>,
}

impl std::fmt::Debug for Coordinator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Coordinator({} shards)", self.searches.len())
    }
}

impl<'a> Coordinator<'a> {
    /// Starts a search in all shards.
    pub(crate) fn new(
        shards: &'a [&'a dyn Shard],
        query: &ShardQuery<'a>,
        units: UnitIds<'a>,
    ) -> Result<Coordinator<'a>> {
        let extents: Vec<ShardExtent> = shards.iter().map(|shard| shard.extent()).collect();
        Ok(Coordinator {
            searches: side_by_side(shards, |shard| shard.search(query))?,
            files: FileIds::new(&extents),
            units,
            extents,
            is_far: shards.iter().any(|shard| shard.is_far()),
            withheld: OnceLock::new(),
            selection: Mutex::default(),
            stops: None,
        })
    }

    /// The same search, which ends where `stops` is true.
    pub(crate) fn until(self, stops: Option<Stops<'a>>) -> Coordinator<'a> {
        Coordinator { stops, ..self }
    }

    fn goes_on(&self) -> Result<()> {
        if self.stops.is_some_and(|stops| stops()) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// The answer of the corpus. A single shard's answer is returned unchanged.
    pub(crate) fn ask<R: ListedRound>(&self, request: &R) -> Result<R::Answer> {
        self.goes_on()?;
        match &*self.searches {
            _ if request.is_empty() => Ok(R::Answer::default()),
            [one] => request.put_to(&**one),
            _ => request.gather(self),
        }
    }

    /// The answers of all shards to the same request, in shard order.
    pub(crate) fn each<R: ListedRound>(&self, request: &R) -> Result<Vec<R::Answer>> {
        side_by_side(&self.searches, |search| request.put_to(&**search))
    }

    /// The answers of all shards to a request each, in shard order. A shard with an empty request is not asked.
    pub(crate) fn each_own<R: ListedRound>(&self, requests: &[R]) -> Result<Vec<R::Answer>> {
        let asked: Vec<(usize, &R)> = requests.iter().enumerate().filter(|(_, request)| !request.is_empty()).collect();
        let found = side_by_side(&asked, |(shard, request)| request.put_to(&*self.searches[*shard]))?;
        let mut answers: Vec<R::Answer> = requests.iter().map(|_| R::Answer::default()).collect();
        asked.iter().zip(found).for_each(|((shard, _), answer)| answers[*shard] = answer);
        Ok(answers)
    }

    /// Asks each shard about its own items, and returns the answers in the order of all items. `own` gives the shard of
    /// an item and the item as the shard knows it.
    pub(crate) fn scatter<I: Copy, O, R: ListedRound<Answer = Vec<T>>, T>(
        &self,
        items: &[I],
        own: impl Fn(I) -> (usize, O),
        request: impl Fn(Vec<O>) -> R,
    ) -> Result<Vec<T>> {
        let mut of_shards: Vec<Vec<O>> = self.searches.iter().map(|_| Vec::new()).collect();
        let mut shards: Vec<usize> = Vec::with_capacity(items.len());
        for (shard, item) in items.iter().map(|item| own(*item)) {
            of_shards[shard].push(item);
            shards.push(shard);
        }
        let requests: Vec<R> = of_shards.into_iter().map(request).collect();
        let mut answers: Vec<_> = self.each_own(&requests)?.into_iter().map(Vec::into_iter).collect();
        Ok(shards.into_iter().filter_map(|shard| answers[shard].next()).collect())
    }

    /// [`Coordinator::scatter`] over files.
    pub(crate) fn scatter_files<R: ListedRound<Answer = Vec<T>>, T>(
        &self,
        files: &[FilePlace],
        request: impl Fn(Vec<FilePlace>) -> R,
    ) -> Result<Vec<T>> {
        self.scatter(files, |file| self.of_file(file), request)
    }

    /// [`Coordinator::scatter`] over units.
    pub(crate) fn scatter_units<R: ListedRound<Answer = Vec<T>>, T>(
        &self,
        units: &[UnitId],
        request: impl Fn(Vec<UnitId>) -> R,
    ) -> Result<Vec<T>> {
        self.scatter(units, |unit| self.of_unit(unit), request)
    }

    /// Number of shards.
    pub(crate) fn count(&self) -> usize {
        self.searches.len()
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.searches.len() == 1
    }

    pub(crate) fn is_far(&self) -> bool {
        self.is_far
    }

    /// File places of all indexes, including skipped files.
    pub(crate) fn places(&self) -> u32 {
        self.extents.iter().map(|extent| extent.places).sum()
    }

    pub(crate) fn documents(&self) -> u64 {
        self.extents.iter().map(|extent| extent.documents).sum()
    }

    /// The texts chosen last.
    pub(crate) fn selection(&self) -> MutexGuard<'_, TopTexts> {
        self.selection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard of a file, and its place there.
    pub(crate) fn of_file(&self, file: FilePlace) -> (usize, FilePlace) {
        self.files.local(file)
    }

    /// The shard of a unit, and its address there.
    pub(crate) fn of_unit(&self, unit: UnitId) -> (usize, UnitId) {
        self.units.local(unit)
    }

    /// The corpus's place of a shard's file.
    pub(crate) fn file(&self, shard: usize, file: FilePlace) -> FilePlace {
        self.files.global(shard, file)
    }

    /// The corpus's address of a shard's unit.
    pub(crate) fn unit(&self, shard: usize, unit: UnitId) -> UnitId {
        self.units.global(shard, unit)
    }

    /// A shard's unit with its address and file in the corpus.
    pub(crate) fn found(&self, shard: usize, unit: UnitFound) -> UnitFound {
        UnitFound { unit: self.unit(shard, unit.unit), file: self.file(shard, unit.file), ..unit }
    }

    /// The units of all shards, shard by shard.
    pub(crate) fn all_found(&self, of_shards: Vec<Vec<UnitFound>>) -> Vec<UnitFound> {
        let all = of_shards.into_iter().enumerate();
        all.flat_map(|(shard, units)| units.into_iter().map(move |unit| self.found(shard, unit))).collect()
    }

    /// The files of all shards, ascending.
    pub(crate) fn all_files(&self, of_shards: impl IntoIterator<Item = Vec<FilePlace>>) -> Vec<FilePlace> {
        let all = of_shards.into_iter().enumerate();
        let mut files: Vec<FilePlace> =
            all.flat_map(|(shard, files)| files.into_iter().map(move |file| self.file(shard, file))).collect();
        files.sort_unstable();
        files
    }
}

impl<R: ListedRound> Ask<R> for Coordinator<'_> {
    fn ask(&self, request: &R) -> Result<R::Answer> {
        Coordinator::ask(self, request)
    }
}

/// Runs `ask` on all items, in parallel if there are several.
fn side_by_side<T: Sync, U: Send>(items: &[T], ask: impl Fn(&T) -> Result<U> + Sync) -> Result<Vec<U>> {
    match items {
        [one] => Ok(vec![ask(one)?]),
        items => items.par_iter().with_max_len(1).map(&ask).collect(),
    }
}
