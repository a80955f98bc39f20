//! Several shards as one: the shard of a process that holds several repositories. It merges what they answer as a
//! coordinator does, so whoever asks it is sent one answer a round.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};

use super::best::Best;
use super::numbering::Numbering;
use super::rounds::Rounds;
use super::shard::{
    Asked, Bar, CandidatesAsked, CandidatesFound, Choice, Chosen, ChosenAsked, ChosenFound, Context, ContextsAsked,
    Cut, DefinitionFound, DefinitionsAsked, Extent, FactsAsked, FactsFound, FileMeant, HolderCount, HoldingAsked,
    Likeness, LineOf, LocateAsked, LocateFound, Look, Marks, Meaning, Outline, Places, Reach, Scored, Seen, Shard,
    ShardSearch, Statistics, TextNear, UnitFound, Words,
};
use crate::locate::FILES_MAX;
use colgrep_index::error::{Error, Result};
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::lexical::Run;

/// Several shards as one.
pub struct Group<'a> {
    shards: Vec<&'a dyn Shard>,
    extent: Extent,
    addresses: Addresses,
}

impl std::fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group({} shards)", self.shards.len())
    }
}

/// How units of the group are addressed: the segments of its shards are counted through.
#[derive(Clone, Debug, Default)]
struct Addresses {
    /// For each shard the number of its first segment in the group, then that behind the last.
    firsts: Vec<u32>,
}

impl Addresses {
    /// The address in the group of a unit that is addressed by its shard.
    fn outer(&self, unit: UnitId) -> UnitId {
        let first = self.firsts.get(unit.part() as usize).copied().unwrap_or_default();
        UnitId::new(first + unit.within_part().segment(), unit.doc())
    }

    /// The same the other way round. An address that is none leads to no unit.
    fn inner(&self, unit: UnitId) -> UnitId {
        let shards = self.firsts.len().saturating_sub(1);
        let at = self.firsts[..shards].partition_point(|first| *first <= unit.segment()).saturating_sub(1);
        let known = self.firsts.last().is_some_and(|end| unit.segment() < *end);
        match known {
            true => UnitId::new(unit.segment() - self.firsts[at], unit.doc()).in_part(at as u32),
            false => UnitId::new(UnitId::SEGMENTS_MAX - 1, u32::MAX),
        }
    }

    fn inners(&self, units: &[UnitId]) -> Vec<UnitId> {
        units.iter().map(|unit| self.inner(*unit)).collect()
    }

    fn found(&self, unit: UnitFound) -> UnitFound {
        UnitFound { unit: self.outer(unit.unit), ..unit }
    }
}

impl<'a> Group<'a> {
    /// These shards as one.
    ///
    /// # Errors
    /// When there are more of them, or of their segments, than addresses of units have room for.
    pub fn new(shards: Vec<&'a dyn Shard>) -> Result<Group<'a>> {
        let extents: Vec<Extent> = shards.iter().map(|shard| shard.extent()).collect();
        let mut firsts = vec![0u32];
        for extent in &extents {
            firsts.push(firsts[firsts.len() - 1].saturating_add(extent.segments));
        }
        let segments = firsts[firsts.len() - 1];
        if shards.len() > UnitId::PARTS_MAX as usize || segments >= UnitId::SEGMENTS_MAX {
            return Err(Error::TooManyRepositories { repositories: shards.len(), segments });
        }
        let numbering = Numbering::new(&extents);
        let extent = Extent {
            repositories: numbering.repositories(&extents),
            places: extents.iter().map(|extent| extent.places).sum(),
            documents: extents.iter().map(|extent| extent.documents).sum(),
            segments,
            is_filtered: extents.iter().any(|extent| extent.is_filtered),
        };
        Ok(Group { shards, extent, addresses: Addresses { firsts } })
    }

    /// The shard and the address there of a unit of the group.
    pub fn own_unit(&self, unit: UnitId) -> (usize, UnitId) {
        let unit = self.addresses.inner(unit);
        (unit.part() as usize, unit.within_part())
    }

    /// What stands in front of the paths of the group's repositories, each with the shard that it lies in.
    pub fn fronts(&self) -> Vec<(String, usize)> {
        let of_shard = |(at, shard): (usize, &&dyn Shard)| {
            shard.extent().repositories.into_iter().map(move |repository| (repository.front, at))
        };
        self.shards.iter().enumerate().flat_map(of_shard).collect()
    }
}

impl Shard for Group<'_> {
    fn extent(&self) -> Extent {
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

    fn ask<'s>(&'s self, asked: &Asked<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        let rounds = Rounds::ask(&self.shards, asked)?;
        Ok(Box::new(GroupSearch {
            rounds,
            addresses: &self.addresses,
            best: Mutex::default(),
            by_words: OnceLock::new(),
        }))
    }
}

/// One search in a group.
struct GroupSearch<'a> {
    rounds: Rounds<'a>,
    addresses: &'a Addresses,
    /// The texts that were chosen last, and the last of them, where some were left out.
    best: Mutex<Best>,
    /// Candidates by words, where they were told in outline.
    by_words: OnceLock<Vec<UnitFound>>,
}

impl GroupSearch<'_> {
    fn best(&self) -> MutexGuard<'_, Best> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cut that the shards of the group are told: what the whole corpus decided, else what the group did.
    fn within(&self, cut: &Cut) -> Cut {
        Cut { bar: cut.bar.or(self.best().bar), ..*cut }
    }
}

impl Words for GroupSearch<'_> {
    fn statistics(&self) -> Result<Statistics> {
        self.rounds.statistics()
    }

    fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound> {
        let mut found = self.rounds.candidates(asked)?;
        found.units.iter_mut().for_each(|unit| *unit = self.addresses.found(*unit));
        for unit in found.named.iter_mut().flat_map(|named| &mut named.definitions) {
            *unit = self.addresses.outer(*unit);
        }
        if asked.in_outline {
            found.outline = Outline::of(found.units.iter().map(|unit| unit.score).collect(), asked.units_max);
            let _ = self.by_words.set(std::mem::take(&mut found.units));
        }
        Ok(found)
    }

    fn best(&self, least: f32) -> Result<Vec<UnitFound>> {
        let units = self.by_words.get().into_iter().flatten();
        Ok(units.filter(|unit| unit.score.total_cmp(&least).is_ge()).copied().collect())
    }

    fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored> {
        let Scored { of_files, units } = self.rounds.scored(files, &self.addresses.inners(units))?;
        let outer = |units: Vec<UnitFound>| units.into_iter().map(|unit| self.addresses.found(unit)).collect();
        Ok(Scored { of_files: outer(of_files), units: outer(units) })
    }

    fn facts(&self, asked: &FactsAsked) -> Result<FactsFound> {
        let units = self.addresses.inners(&asked.units);
        let mut found = self.rounds.facts(&FactsAsked { units, ..asked.clone() })?;
        for definition in found.files.iter_mut().flat_map(|file| &mut file.definitions) {
            definition.unit = self.addresses.outer(definition.unit);
        }
        Ok(found)
    }

    fn topics(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.rounds.topics(terms)
    }

    fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        self.rounds.holders(&self.addresses.inners(units))
    }

    fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
        self.rounds.tokens(files, tokens)
    }

    fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>> {
        self.rounds.stored(&self.addresses.inners(units))
    }
}

impl Meaning for GroupSearch<'_> {
    fn reach(&self) -> Result<Reach> {
        self.rounds.reach()
    }

    fn choose(&self, by: Choice, cut: &Cut) -> Result<Chosen> {
        let best = self.rounds.choose(by, &self.within(cut), true)?;
        let outline = match cut.is_alone || by == Choice::All {
            true => Outline::default(),
            false => Outline::of(best.texts.iter().map(|text| text.1).collect(), cut.best),
        };
        let count = best.count as u64;
        *self.best() = best;
        Ok(Chosen { count, outline })
    }

    fn chosen(&self, asked: &ChosenAsked) -> Result<ChosenFound> {
        Ok(ChosenFound::of(self.best().texts.iter().copied(), asked))
    }

    fn marked(&self, marks: &Marks, sure: f32) -> Result<Vec<TextHash>> {
        let marks: HashSet<u32> = marks.iter().collect();
        let is_asked = |text: &&(TextHash, f32)| text.1.total_cmp(&sure).is_ge() && marks.contains(&Marks::of(text.0));
        Ok(self.best().texts.iter().filter(is_asked).map(|text| text.0).collect())
    }

    fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>> {
        let bar = bar.or(self.best().bar);
        let mut near = self.rounds.nearest(bar)?;
        near.iter_mut().flat_map(|text| &mut text.units).for_each(|unit| *unit = self.addresses.found(*unit));
        Ok(near)
    }

    fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>> {
        self.rounds.likeness(&self.addresses.inners(units))
    }

    fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>> {
        self.rounds.text_of(&self.addresses.inners(units))
    }
}

impl Places for GroupSearch<'_> {
    fn located(&self, asked: &LocateAsked) -> Result<LocateFound> {
        let mut all = LocateFound {
            paths: vec![(0, Vec::new()); asked.paths.len()],
            names: vec![Vec::new(); asked.names.len()],
            spelled: Vec::new(),
        };
        for found in self.rounds.located(asked)? {
            for (best, own) in all.paths.iter_mut().zip(found.paths) {
                match own.0.cmp(&best.0) {
                    std::cmp::Ordering::Greater => *best = own,
                    std::cmp::Ordering::Equal => best.1.extend(own.1),
                    std::cmp::Ordering::Less => {}
                }
            }
            all.names.iter_mut().zip(found.names).for_each(|(all, own)| all.extend(own));
            for (name, files) in found.spelled {
                match all.spelled.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => known.extend(files),
                    None => all.spelled.push((name, files)),
                }
            }
        }
        let lists = all.paths.iter_mut().map(|(_, files)| files).chain(&mut all.names);
        for files in lists.chain(all.spelled.iter_mut().map(|(_, files)| files)) {
            files.sort_by_key(|meant: &FileMeant| (!meant.is_exact, meant.file));
            files.truncate(FILES_MAX + 1);
        }
        Ok(all)
    }

    fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>> {
        let found = self.rounds.definitions(asked)?.into_iter();
        Ok(found.map(|one| DefinitionFound { unit: self.addresses.found(one.unit), ..one }).collect())
    }

    fn callers(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>> {
        let found = self.rounds.callers_so(name, is_loose)?.into_iter();
        Ok(found.map(|unit| self.addresses.found(unit)).collect())
    }

    fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>> {
        let found = self.rounds.around(lines)?.into_iter();
        Ok(found.map(|unit| unit.map(|unit| self.addresses.found(unit))).collect())
    }

    fn runs(&self, runs: &[Run]) -> Result<Vec<Vec<FilePlace>>> {
        self.rounds.runs(runs)
    }

    fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        self.rounds.counts(terms, units_max)
    }

    fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>> {
        self.rounds.holding(asked)
    }

    fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>> {
        self.rounds.holding_all(terms)
    }

    fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>> {
        self.rounds.sizes(files)
    }

    fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<Vec<Seen>>> {
        let mut seen: HashMap<FilePlace, Vec<Seen>> = HashMap::new();
        for (file, one) in self.rounds.look(files, look)? {
            seen.entry(file).or_default().push(one);
        }
        Ok(files.iter().map(|file| seen.remove(file).unwrap_or_default()).collect())
    }

    fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>> {
        self.rounds.lines(&self.addresses.inners(units), line)
    }

    fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<Vec<(FilePlace, Context)>> {
        Ok(self.rounds.contexts(asked)?.into_iter().collect())
    }

    fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>> {
        self.rounds.files_at(paths)
    }
}
