//! The ranking by words in one index.

use std::path::Path;

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::LocalSearch;
use crate::shard::{
    CandidatesAsked, CandidatesFound, FactsAsked, FactsFound, FileFound, Named, Outline, Scored, Statistics, UnitFound,
    Words,
};
use colgrep_index::error::{Error, Result};
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::{Sample, Scoring};

impl LocalSearch<'_> {
    fn sums(&self) -> Result<&Statistics> {
        self.sums.get().ok_or_else(|| Error::OutOfTurn("a score before the statistics"))
    }

    fn scoring(&self) -> Result<Scoring<'_>> {
        let (statistics, order) = (self.sums()?, self.snapshot.ties());
        Ok(Scoring { statistics, bm25: &self.asked.bm25, filter: self.filter(), order })
    }

    /// The files that answer best by name or definition, at most `files_max`.
    fn strongest(&self, files_max: usize) -> Vec<Named> {
        let named = self.named.get().into_iter().flatten();
        let mut files: Vec<(FilePlace, FileId, f32)> =
            named.map(|(file, named)| (self.shard.place(*file), *file, named.weight())).collect();
        files.retain(|file| file.2 > 0.0);
        files.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        files.truncate(files_max);
        let is_allowed =
            |unit: &UnitId| self.filter().is_none_or(|filter| self.snapshot.lexical.is_allowed(*unit, filter));
        // Who types a name wants the unit that defines it.
        let definitions = |file: FileId| match self.named.get().and_then(|named| named.get(&file)) {
            Some(named) if self.query.is_symbol() => {
                named.definitions.iter().map(|definition| definition.unit).filter(is_allowed).collect()
            }
            _ => Vec::new(),
        };
        files.into_iter().map(|(file, id, weight)| Named { file, weight, definitions: definitions(id) }).collect()
    }
}

impl Words for LocalSearch<'_> {
    fn statistics(&self) -> Result<Statistics> {
        let mut statistics = self.looked_up.statistics()?;
        statistics.files = self.snapshot.files.indexed().count() as u64;
        self.names.count(&mut statistics);
        Ok(statistics)
    }

    fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound> {
        let lexical = &self.snapshot.lexical;
        let _ = self.sums.set(asked.statistics.clone());
        let _ = self.named.set(lexical.named_files(self.query, &self.names, asked.statistics, self.filter())?);
        let units = self.looked_up.scorer(self.scoring()?).search(asked.units_max, asked.files_min)?;
        let mut units: Vec<UnitFound> = units.iter().map(|hit| self.shard.found(hit)).collect();
        let mut outline = Outline::default();
        if asked.in_outline {
            outline = Outline::of(units.iter().map(|unit| unit.score).collect(), asked.units_max);
            let _ = self.by_words.set(std::mem::take(&mut units));
        }
        Ok(CandidatesFound { units, outline, named: self.strongest(asked.named_max) })
    }

    fn best(&self, least: f32) -> Result<Vec<UnitFound>> {
        let units = self.by_words.get().into_iter().flatten();
        Ok(units.filter(|unit| unit.score.total_cmp(&least).is_ge()).copied().collect())
    }

    fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored> {
        if files.is_empty() && units.is_empty() {
            return Ok(Scored::default());
        }
        let scorer = self.looked_up.scorer(self.scoring()?);
        let files: Vec<FileId> = files.iter().map(|file| self.shard.number(*file)).collect();
        let (of_files, units) = (scorer.best_of(&files)?, scorer.scores_of(units)?);
        let found = |hits: Vec<_>| hits.iter().map(|hit| self.shard.found(hit)).collect();
        Ok(Scored { of_files: found(of_files), units: found(units) })
    }

    fn facts(&self, asked: &FactsAsked) -> Result<FactsFound> {
        let name_hits = self.looked_up.name_hits(&asked.units)?;
        let wanted: FxHashSet<FileId> = asked.files.iter().map(|file| self.shard.number(*file)).collect();
        let is_wanted = |file: FileId| wanted.contains(&file);
        let sample = Sample { is_wanted: &is_wanted, parts: &asked.parts, lot: &|file| self.shard.lot(file) };
        let found = self.snapshot.lexical.pairs(self.query, &sample)?;
        let pairs = found.iter().map(|pair| pair.sample).collect();
        let counts: Vec<FxHashMap<FileId, (u32, u32)>> =
            found.into_iter().map(|pair| pair.files.into_iter().collect()).collect();
        let facts = |file: &FilePlace| {
            let Some(record) = self.shard.record(*file) else { return FileFound::default() };
            let (front, path) = self.shard.path_of(record);
            let mut found = FileFound {
                front: front.to_string(),
                path: path.to_string(),
                language: record.language.clone(),
                is_generated: record.generated,
                pairs: counts.iter().map(|of_file| of_file.get(&record.id).copied().unwrap_or_default()).collect(),
                ..FileFound::default()
            };
            if let Some(named) = self.named.get().and_then(|named| named.get(&record.id)) {
                found.definitions.clone_from(&named.definitions);
                found.textual_types = named.textual_types.iter().map(|at| *at as u32).collect();
                found.word_definitions = named.word_definitions;
            }
            found
        };
        Ok(FactsFound { files: asked.files.iter().map(facts).collect(), name_hits, pairs })
    }

    fn topics(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.snapshot.lexical.topic_frequency(terms)
    }

    fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        self.looked_up.holders(units)
    }

    fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
        let root = Path::new(&self.snapshot.files.root);
        let held = |file: &FilePlace| {
            let Some(record) = self.shard.record(*file) else { return Tokens::default() };
            // What is gone holds nothing.
            let text = self.snapshot.texts.text(root, &record.path).unwrap_or_default();
            Tokens::held(self.shard.path_of(record).1, &text, tokens)
        };
        Ok(files.par_iter().map(held).collect())
    }

    fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>> {
        self.snapshot.units(units)
    }
}
