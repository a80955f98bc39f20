//! The rounds of one search in a shard elsewhere: each is a question.

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use colgrep_index::error::Result;
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_search::shard::{
    Bar, CandidatesAsked, CandidatesFound, Choice, Chosen, ChosenAsked, ChosenFound, Context, ContextsAsked, Cut,
    DefinitionFound, DefinitionsAsked, FactsAsked, FactsFound, HolderCount, HoldingAsked, Likeness, LineOf,
    LocateAsked, LocateFound, Look, Marks, Meaning, Places, Reach, Scored, Seen, Statistics, TextNear, UnitFound,
    Words,
};
use serde::de::DeserializeOwned;

use super::{Past, Remote};
use crate::check::Fits;
use crate::message::{self, Question};

/// One search in a shard elsewhere.
pub struct RemoteSearch<'s> {
    /// The shard.
    pub remote: &'s Remote,
    /// How many searches lie around it, itself included.
    pub depth: u8,
    /// What it told at its beginning.
    pub told: message::Asked,
}

impl Drop for RemoteSearch<'_> {
    /// What is asked next belongs to the search around it, if there is one, and ends this one there too.
    fn drop(&mut self) {
        let mut line = self.remote.line();
        line.depth = self.depth - 1;
        line.history.retain(|(depth, ..)| *depth < self.depth);
    }
}

impl RemoteSearch<'_> {
    fn round<T: DeserializeOwned + Fits>(&self, question: Question) -> Result<T> {
        self.asked(question, None)
    }

    /// A round; not asked where nothing is asked about.
    fn about<T: DeserializeOwned + Fits + Default>(
        &self,
        is_nothing: bool,
        question: impl FnOnce() -> Question,
    ) -> Result<T> {
        if is_nothing { Ok(T::default()) } else { self.round(question()) }
    }

    fn asked<T: DeserializeOwned + Fits>(&self, question: Question, past: Option<Past>) -> Result<T> {
        self.remote.ask_of((self.depth, question), past).map_err(|lost| self.remote.away(&lost))
    }
}

impl Words for RemoteSearch<'_> {
    fn statistics(&self) -> Result<Statistics> {
        Ok(self.told.statistics.clone())
    }

    fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound> {
        let [units, files, named] = [asked.units_max, asked.files_min, asked.named_max].map(|n| n as u64);
        let question = Question::Candidates(asked.statistics.clone(), units, files, named, asked.in_outline);
        self.asked(question, Some(Past::Round))
    }

    fn best(&self, least: f32) -> Result<Vec<UnitFound>> {
        self.round(Question::Best(least))
    }

    fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored> {
        self.about(files.is_empty() && units.is_empty(), || Question::Scored(files.to_vec(), units.to_vec()))
    }

    fn facts(&self, asked: &FactsAsked) -> Result<FactsFound> {
        let mut found: FactsFound = self.round(Question::Facts(asked.clone()))?;
        let repositories = &self.remote.begun.extent.repositories;
        for (place, file) in asked.files.iter().zip(&mut found.files) {
            let behind = repositories.partition_point(|one| one.first <= *place);
            if let Some(own) = behind.checked_sub(1).and_then(|at| repositories.get(at)) {
                file.front.clone_from(&own.front);
            }
        }
        Ok(found)
    }

    fn topics(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.about(terms.is_empty(), || Question::Topics(terms.to_vec()))
    }

    fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        self.about(units.is_empty(), || Question::Holders(units.to_vec()))
    }

    fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
        self.about(files.is_empty(), || Question::Tokens(files.to_vec(), tokens.to_vec()))
    }

    fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>> {
        self.about(units.is_empty(), || Question::Stored(units.to_vec()))
    }
}

impl Meaning for RemoteSearch<'_> {
    fn reach(&self) -> Result<Reach> {
        Ok(self.told.reach)
    }

    fn choose(&self, by: Choice, cut: &Cut) -> Result<Chosen> {
        self.asked(Question::Choose(by, *cut), Some(Past::Choice))
    }

    fn chosen(&self, asked: &ChosenAsked) -> Result<ChosenFound> {
        self.round(Question::Chosen(*asked))
    }

    fn marked(&self, marks: &Marks, sure: f32) -> Result<Vec<TextHash>> {
        self.about(marks.is_empty(), || Question::Marked(marks.clone(), sure))
    }

    fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>> {
        self.round(Question::Nearest(bar))
    }

    fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>> {
        self.about(units.is_empty(), || Question::Likeness(units.to_vec()))
    }

    fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>> {
        self.about(units.is_empty(), || Question::TextOf(units.to_vec()))
    }
}

impl Places for RemoteSearch<'_> {
    fn located(&self, asked: &LocateAsked) -> Result<LocateFound> {
        self.round(Question::Located(asked.clone()))
    }

    fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>> {
        self.round(Question::Definitions(asked.clone()))
    }

    fn callers(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>> {
        self.round(Question::Callers(name.to_string(), is_loose))
    }

    fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>> {
        self.about(lines.is_empty(), || Question::Around(lines.to_vec()))
    }

    fn runs(&self, runs: &[Vec<(String, u32)>]) -> Result<Vec<Vec<FilePlace>>> {
        self.about(runs.is_empty(), || Question::Runs(runs.to_vec()))
    }

    fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        self.about(terms.is_empty(), || Question::Counts(terms.to_vec(), units_max))
    }

    fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>> {
        self.round(Question::Holding(asked.clone()))
    }

    fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>> {
        self.about(terms.is_empty(), || Question::HoldingAll(terms.to_vec()))
    }

    fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>> {
        self.about(files.is_empty(), || Question::Sizes(files.to_vec()))
    }

    fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<Vec<Seen>>> {
        self.about(files.is_empty(), || Question::Look(files.to_vec(), look.clone()))
    }

    fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>> {
        self.about(units.is_empty(), || Question::Lines(units.to_vec(), line.clone()))
    }

    fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<Vec<(FilePlace, Context)>> {
        self.round(Question::Contexts(asked.near.clone(), asked.wants_tests))
    }

    fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>> {
        let owned = || paths.iter().map(|path| (*path).to_string()).collect();
        self.about(paths.is_empty(), || Question::FilesAt(owned()))
    }
}
