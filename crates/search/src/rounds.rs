//! A corpus of shards, asked as one: files are numbered by path over all of them, units are told apart by their shard, and
//! answers are merged.

use std::collections::HashMap;

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::best::{Best, Lists, best_of};
use super::numbering::Numbering;
use super::shard::{
    Asked, Bar, CandidatesAsked, CandidatesFound, Choice, ChosenAsked, ChosenFound, ContextsAsked, Cut,
    DefinitionFound, DefinitionsAsked, Extent, FactsAsked, FactsFound, HolderCount, HoldingAsked, Likeness, LineOf,
    LocateAsked, LocateFound, Look, Marks, Outline, Reach, Scored, Seen, Shard, ShardSearch, Statistics, TextNear,
    UnitFound,
};
use crate::shard::{Context, FileMeant};
use colgrep_index::error::Result;
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::lexical::{Run, cut};

/// One search in a corpus: the shards, asked side by side.
pub(crate) struct Rounds<'a> {
    searches: Vec<Box<dyn ShardSearch + 'a>>,
    numbering: Numbering,
    extents: Vec<Extent>,
    /// Whether a shard is behind a wire.
    is_far: bool,
}

impl<'a> Rounds<'a> {
    /// Begins a search in all shards.
    pub(super) fn ask(shards: &'a [&'a dyn Shard], asked: &Asked<'a>) -> Result<Rounds<'a>> {
        let extents: Vec<Extent> = shards.iter().map(|shard| shard.extent()).collect();
        let searches = side_by_side(shards, |shard| shard.ask(asked))?;
        let is_far = shards.iter().any(|shard| shard.is_far());
        Ok(Rounds { searches, numbering: Numbering::new(&extents), extents, is_far })
    }

    pub(super) fn is_alone(&self) -> bool {
        self.searches.len() == 1
    }

    /// Files of all indexes, those that are skipped among them.
    pub(super) fn places(&self) -> u32 {
        self.extents.iter().map(|extent| extent.places).sum()
    }

    /// Documents of all indexes.
    pub(super) fn documents(&self) -> u64 {
        self.extents.iter().map(|extent| extent.documents).sum()
    }

    /// What every shard answers, in their order.
    pub(super) fn each<T: Send>(&self, ask: impl Fn(&dyn ShardSearch) -> Result<T> + Sync) -> Result<Vec<T>> {
        side_by_side(&self.searches, |search| ask(&**search))
    }

    /// Asks every shard about those of the items that are its own; the answers are in the order of the items.
    fn scattered<I: Copy, O: Sync + Send, T: Send>(
        &self,
        items: &[I],
        own: impl Fn(I) -> (usize, O),
        ask: impl Fn(&dyn ShardSearch, &[O]) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let mut of_shards: Vec<(Vec<usize>, Vec<O>)> = self.searches.iter().map(|_| Default::default()).collect();
        for (at, item) in items.iter().enumerate() {
            let (shard, own) = own(*item);
            let (positions, items) = &mut of_shards[shard];
            positions.push(at);
            items.push(own);
        }
        let asked: Vec<(usize, &[O])> = of_shards.iter().map(|(_, items)| items.as_slice()).enumerate().collect();
        let asked: Vec<(usize, &[O])> = asked.into_iter().filter(|(_, items)| !items.is_empty()).collect();
        let answers = side_by_side(&asked, |(shard, items)| ask(&*self.searches[*shard], items))?;
        let mut all: Vec<Option<T>> = items.iter().map(|_| None).collect();
        for ((shard, _), answers) in asked.iter().zip(answers) {
            for (at, answer) in of_shards[*shard].0.iter().zip(answers) {
                all[*at] = Some(answer);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }

    fn of_unit(unit: UnitId) -> (usize, UnitId) {
        (unit.part() as usize, unit.within_part())
    }

    pub(super) fn of_file(&self, file: FilePlace) -> (usize, FilePlace) {
        self.numbering.in_shard(file)
    }

    /// A shard's unit among those of all.
    pub(super) fn unit(&self, shard: usize, unit: UnitFound) -> UnitFound {
        UnitFound { unit: unit.unit.in_part(shard as u32), file: self.numbering.among_all(shard, unit.file), ..unit }
    }

    fn file(&self, shard: usize, file: FilePlace) -> FilePlace {
        self.numbering.among_all(shard, file)
    }

    /// Files of all shards, ascending.
    fn files(&self, of_shards: Vec<Vec<FilePlace>>) -> Vec<FilePlace> {
        let all = of_shards.into_iter().enumerate();
        let mut files: Vec<FilePlace> =
            all.flat_map(|(shard, files)| files.into_iter().map(move |file| self.file(shard, file))).collect();
        files.sort_unstable();
        files
    }

    pub(super) fn statistics(&self) -> Result<Statistics> {
        let mut sum = Statistics::default();
        self.each(|shard| shard.statistics())?.iter().for_each(|of_shard| sum.add(of_shard));
        Ok(sum)
    }

    /// The best units of all, and the files that answer best by name.
    pub(super) fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound> {
        let asked = &CandidatesAsked { in_outline: self.is_far && !self.is_alone(), ..*asked };
        let found = self.each(|shard| shard.candidates(asked))?;
        let mut all = CandidatesFound::default();
        let (mut outlines, mut units) = (Vec::new(), Vec::new());
        for (shard, found) in found.into_iter().enumerate() {
            for mut named in found.named {
                named.file = self.file(shard, named.file);
                named.definitions.iter_mut().for_each(|unit| *unit = unit.in_part(shard as u32));
                all.named.push(named);
            }
            outlines.push(found.outline);
            units.push(found.units);
        }
        all.units = match asked.in_outline {
            true => self.best_by_words(asked, &outlines)?,
            false if self.is_alone() => self.of_all(units),
            false => cut_units(self.of_all(units), asked).0,
        };
        if !self.is_alone() {
            all.named.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.file.cmp(&b.file)));
            all.named.truncate(asked.named_max);
        }
        Ok(all)
    }

    /// The best units of all, from outlines of each shard's scores.
    fn best_by_words(&self, asked: &CandidatesAsked<'_>, outlines: &[Outline]) -> Result<Vec<UnitFound>> {
        let least = Outline::least(outlines.iter(), asked.units_max);
        let best = |least: Option<f32>| -> Result<_> {
            let found = self.each(|shard| shard.best(least.unwrap_or(f32::NEG_INFINITY)))?;
            Ok(cut_units(self.of_all(found), asked))
        };
        match best(least)? {
            // The best lie in too few files: those behind them are wanted too.
            (_, false) if least.is_some() => Ok(best(None)?.0),
            (units, _) => Ok(units),
        }
    }

    /// Units of shards among those of all.
    fn of_all(&self, of_shards: Vec<Vec<UnitFound>>) -> Vec<UnitFound> {
        let all = of_shards.into_iter().enumerate();
        all.flat_map(|(shard, units)| units.into_iter().map(move |unit| self.unit(shard, unit))).collect()
    }

    /// The best unit of each of the files, and the units, each with its score.
    pub(super) fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored> {
        let mut asked: Vec<(Vec<FilePlace>, Vec<UnitId>)> = vec![Default::default(); self.searches.len()];
        for (shard, file) in files.iter().map(|file| self.of_file(*file)) {
            asked[shard].0.push(file);
        }
        for (shard, unit) in units.iter().map(|unit| Rounds::of_unit(*unit)) {
            asked[shard].1.push(unit);
        }
        let asked: Vec<_> = asked.into_iter().enumerate().collect();
        let found = side_by_side(&asked, |(shard, (files, units))| self.searches[*shard].scored(files, units))?;
        let mut all = Scored::default();
        for (shard, found) in found.into_iter().enumerate() {
            all.of_files.extend(found.of_files.into_iter().map(|unit| self.unit(shard, unit)));
            all.units.extend(found.units.into_iter().map(|unit| self.unit(shard, unit)));
        }
        Ok(all)
    }

    /// Facts of the files, in their order, and of the units.
    pub(super) fn facts(&self, asked: &FactsAsked) -> Result<FactsFound> {
        let of_shard = |shard: usize| {
            let files: Vec<(usize, FilePlace)> = asked.files.iter().map(|file| self.of_file(*file)).collect();
            let units = asked.units.iter().map(|unit| Rounds::of_unit(*unit));
            FactsAsked {
                files: files.into_iter().filter(|file| file.0 == shard).map(|file| file.1).collect(),
                units: units.filter(|unit| unit.0 == shard).map(|unit| unit.1).collect(),
                parts: asked.parts.clone(),
            }
        };
        let questions: Vec<(usize, FactsAsked)> = (0..self.searches.len()).map(|at| (at, of_shard(at))).collect();
        let found = side_by_side(&questions, |(shard, asked)| self.searches[*shard].facts(asked))?;
        let mut all = FactsFound { pairs: vec![(0, 0); asked.parts.len()], ..FactsFound::default() };
        let mut parts = Vec::new();
        for (shard, mut found) in found.into_iter().enumerate() {
            for (sum, more) in all.pairs.iter_mut().zip(&found.pairs) {
                *sum = (sum.0 + more.0, sum.1 + more.1);
            }
            for definition in found.files.iter_mut().flat_map(|file| &mut file.definitions) {
                definition.unit = definition.unit.in_part(shard as u32);
            }
            parts.push((found.files.into_iter(), found.name_hits.into_iter()));
        }
        for file in &asked.files {
            all.files.push(parts[self.of_file(*file).0].0.next().unwrap_or_default());
        }
        for unit in &asked.units {
            all.name_hits.push(parts[unit.part() as usize].1.next().unwrap_or_default());
        }
        Ok(all)
    }

    pub(super) fn topics(&self, terms: &[String]) -> Result<Vec<u64>> {
        let mut sums = vec![0; terms.len()];
        for counts in self.each(|shard| shard.topics(terms))? {
            sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    /// For each of the query's terms, the positions among `units` of those that hold it.
    pub(super) fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        let mut of_shards: Vec<Vec<(UnitId, u32)>> = vec![Vec::new(); self.searches.len()];
        for (unit, at) in units.iter().zip(0..) {
            of_shards[unit.part() as usize].push((unit.within_part(), at));
        }
        let asked: Vec<(usize, &Vec<(UnitId, u32)>)> =
            of_shards.iter().enumerate().filter(|(_, units)| !units.is_empty()).collect();
        let found = side_by_side(&asked, |(shard, units)| {
            let own: Vec<UnitId> = units.iter().map(|unit| unit.0).collect();
            self.searches[*shard].holders(&own)
        })?;
        let mut all: Vec<Vec<u32>> = Vec::new();
        for ((_, units), terms) in asked.iter().zip(found) {
            all.resize(all.len().max(terms.len()), Vec::new());
            for (all, own) in all.iter_mut().zip(terms) {
                all.extend(own.into_iter().filter_map(|at| Some(units.get(at as usize)?.1)));
            }
        }
        Ok(all)
    }

    /// How much all shards may give by meaning.
    pub(super) fn reach(&self) -> Result<Reach> {
        let sum = |sum: Reach, more: Reach| Reach {
            units: sum.units + more.units,
            is_placed: sum.is_placed && more.is_placed,
        };
        let nothing = Reach { units: 0, is_placed: true };
        Ok(self.each(|shard| shard.reach())?.into_iter().fold(nothing, sum))
    }

    pub(super) fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
        self.scattered(files, |file| self.of_file(file), |shard, files| shard.tokens(files, tokens))
    }

    pub(super) fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>> {
        self.scattered(units, Rounds::of_unit, |shard, units| shard.stored(units))
    }

    /// Chooses texts in every shard. Of several shards, gives the best of all, each once, and the last of them as the bar
    /// where some are left out; with their scores where `is_whole`.
    pub(super) fn choose(&self, by: Choice, cut: &Cut, is_whole: bool) -> Result<Best> {
        let cut = Cut { is_alone: cut.is_alone && self.is_alone(), ..*cut };
        let chosen = self.each(|shard| shard.choose(by, &cut))?;
        let all: u64 = chosen.iter().map(|chosen| chosen.count).sum();
        if cut.is_alone || by == Choice::All || all == 0 {
            return Ok(Best { count: all as usize, bar: None, texts: Vec::new() });
        }
        best_of(self, &chosen, cut.best, self.is_far && !is_whole)
    }

    /// The `n` nearest texts by their vectors, of those that were chosen before and that the bar lets: each once with the
    /// units of all shards.
    pub(super) fn nearest_of(&self, bar: Option<Bar>, n: usize) -> Result<Vec<TextNear>> {
        let cut = Cut { bar, best: n, is_alone: self.is_alone() };
        let chosen = self.each(|shard| shard.choose(Choice::Vectors, &cut))?;
        if cut.is_alone {
            return self.nearest(None);
        }
        let mut wanted = n;
        loop {
            let least = Outline::least(chosen.iter().map(|chosen| &chosen.outline), wanted);
            let mut near = self.nearest(least.map(Bar::of_all))?;
            if near.len() < n && least.is_some() {
                // Texts that several shards have count once.
                wanted += 2 * (n - near.len());
                continue;
            }
            near.truncate(n);
            return Ok(near);
        }
    }

    /// The texts chosen last in all shards, as far as the bar lets them, the nearest first: each once with the units of all.
    pub(super) fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>> {
        let mut merged: FxHashMap<TextHash, TextNear> = FxHashMap::default();
        for (shard, found) in self.each(|shard| shard.nearest(bar))?.into_iter().enumerate() {
            for text in found {
                let units: Vec<UnitFound> = text.units.iter().map(|unit| self.unit(shard, *unit)).collect();
                merged.entry(text.hash).or_insert_with(|| TextNear { units: Vec::new(), ..text }).units.extend(units);
            }
        }
        let mut near: Vec<TextNear> = merged.into_values().collect();
        near.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.hash.cmp(&b.hash)));
        Ok(near)
    }

    pub(super) fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>> {
        self.scattered(units, Rounds::of_unit, |shard, units| shard.likeness(units))
    }

    pub(super) fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>> {
        self.scattered(units, Rounds::of_unit, |shard, units| shard.text_of(units))
    }

    pub(super) fn located(&self, asked: &LocateAsked) -> Result<Vec<LocateFound>> {
        let mut all = self.each(|shard| shard.located(asked))?;
        for (shard, found) in all.iter_mut().enumerate() {
            let LocateFound { paths, names, spelled } = found;
            let lists = paths.iter_mut().map(|(_, files)| files);
            let lists = lists.chain(names).chain(spelled.iter_mut().map(|(_, files)| files));
            for meant in lists.flatten() {
                let FileMeant { file, .. } = meant;
                *file = self.file(shard, *file);
            }
        }
        Ok(all)
    }

    /// Definitions in all shards, by file and line.
    pub(super) fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>> {
        let found = self.each(|shard| shard.definitions(asked))?.into_iter().enumerate();
        let mut all: Vec<DefinitionFound> = found
            .flat_map(|(shard, found)| {
                found.into_iter().map(move |one| DefinitionFound { unit: self.unit(shard, one.unit), ..one })
            })
            .collect();
        all.sort_by_key(|one| one.unit.place());
        all.truncate(asked.max.unwrap_or(usize::MAX));
        Ok(all)
    }

    /// Callers of a name in all shards, by file and line; those that call it with other punctuation where none calls it
    /// as written.
    pub(super) fn callers(&self, name: &str) -> Result<Vec<UnitFound>> {
        let exact = self.callers_so(name, false)?;
        if exact.is_empty() { self.callers_so(name, true) } else { Ok(exact) }
    }

    /// Callers of a name in all shards, by file and line, as written or loosely.
    pub(super) fn callers_so(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>> {
        let found = self.each(|shard| shard.callers(name, is_loose))?.into_iter().enumerate();
        let mut all: Vec<UnitFound> =
            found.flat_map(|(shard, units)| units.into_iter().map(move |unit| self.unit(shard, unit))).collect();
        all.sort_by_key(UnitFound::place);
        Ok(all)
    }

    pub(super) fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>> {
        let own = |(file, line): (FilePlace, u32)| {
            let (shard, file) = self.of_file(file);
            (shard, (file, line))
        };
        let found = self.scattered(lines, own, |shard, lines| shard.around(lines))?;
        let among_all =
            |(unit, (file, _)): (Option<UnitFound>, &(FilePlace, u32))| Some(self.unit(self.of_file(*file).0, unit?));
        Ok(found.into_iter().zip(lines).map(among_all).collect())
    }

    /// For each run the files that have it, ascending.
    pub(super) fn runs(&self, runs: &[Run]) -> Result<Vec<Vec<FilePlace>>> {
        let mut found = self.each(|shard| shard.runs(runs))?;
        let of_run = |at: usize| self.files(found.iter_mut().map(|lists| std::mem::take(&mut lists[at])).collect());
        Ok((0..runs.len()).map(of_run).collect())
    }

    pub(super) fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        let mut sums = vec![HolderCount::default(); terms.len()];
        for counts in self.each(|shard| shard.counts(terms, units_max))? {
            for (sum, more) in sums.iter_mut().zip(counts) {
                sum.units.add(&more.units);
                sum.files += more.files;
            }
        }
        Ok(sums)
    }

    /// Files that hold most of the weight of terms, with that weight.
    pub(super) fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>> {
        let found = self.each(|shard| shard.holding(asked))?.into_iter().enumerate();
        let mut all: Vec<(FilePlace, f32)> = found
            .flat_map(|(shard, files)| files.into_iter().map(move |(file, weight)| (self.file(shard, file), weight)))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(asked.files_max);
        Ok(all)
    }

    pub(super) fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>> {
        Ok(self.files(self.each(|shard| shard.holding_all(terms))?))
    }

    pub(super) fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>> {
        self.scattered(files, |file| self.of_file(file), |shard, files| shard.sizes(files))
    }

    /// What stands in the files, in their order.
    pub(super) fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<(FilePlace, Seen)>> {
        let found = self.scattered(files, |file| self.of_file(file), |shard, files| shard.look(files, look))?;
        Ok(files.iter().zip(found).flat_map(|(file, seen)| seen.into_iter().map(move |one| (*file, one))).collect())
    }

    pub(super) fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>> {
        self.scattered(units, Rounds::of_unit, |shard, units| shard.lines(units, line))
    }

    pub(super) fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<HashMap<FilePlace, Context>> {
        let found = self.each(|shard| shard.contexts(asked))?.into_iter().enumerate();
        let among_all = |(shard, files): (usize, Vec<(FilePlace, Context)>)| {
            files.into_iter().map(move |(file, context)| (self.file(shard, file), context))
        };
        Ok(found.flat_map(among_all).collect())
    }

    /// The allowed files at paths of the corpus, in their order.
    pub(super) fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>> {
        let mut all = vec![None; paths.len()];
        for (shard, found) in self.each(|shard| shard.files_at(paths))?.into_iter().enumerate() {
            for (all, file) in all.iter_mut().zip(found) {
                *all = all.or_else(|| Some(self.file(shard, file?)));
            }
        }
        Ok(all)
    }
}

/// The best of units, as a shard of all would give them, and whether they lie in as many files as are wanted.
fn cut_units(mut units: Vec<UnitFound>, asked: &CandidatesAsked<'_>) -> (Vec<UnitFound>, bool) {
    units.sort_by(UnitFound::by_score);
    cut(units, asked.units_max, asked.files_min, |unit| unit.file)
}

impl Lists for Rounds<'_> {
    fn chosen(&self, asked: &ChosenAsked) -> Result<Vec<ChosenFound>> {
        self.each(|shard| shard.chosen(asked))
    }

    fn marked(&self, marks: &[Marks], sure: f32) -> Result<Vec<TextHash>> {
        let asked: Vec<(usize, &Marks)> = marks.iter().enumerate().filter(|(_, marks)| !marks.is_empty()).collect();
        let found = side_by_side(&asked, |(shard, marks)| self.searches[*shard].marked(marks, sure))?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// What is asked of each, at once where there are several.
fn side_by_side<T: Sync, U: Send>(items: &[T], ask: impl Fn(&T) -> Result<U> + Sync) -> Result<Vec<U>> {
    match items {
        [one] => Ok(vec![ask(one)?]),
        items => items.par_iter().with_max_len(1).map(&ask).collect(),
    }
}
