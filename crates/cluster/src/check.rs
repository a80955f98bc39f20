//! Answers compared with their questions: as many items as were asked for, files and units that the shard has, numbers that
//! can be added up. What a shard says is another process's word; whatever passes here can be put in order and shown.

use std::collections::BTreeMap;

use colgrep_core::bm25::FIELD_COUNT;
use colgrep_core::statistics::{Statistics, TermCount};
use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use colgrep_engine::answer::summary::EndFound;
use colgrep_engine::answer::{BestLine, FileAnswer, UnitAnswer};
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_search::shard::{
    CandidatesFound, Chosen, ChosenFound, Context, DefinitionFound, Extent, FactsFound, FileFound, FileMeant,
    HolderCount, Likeness, LocateFound, Named, Outline, Reach, Repository, Scored, Seen, TextNear, UnitFound,
};
use serde::de::DeserializeOwned;

use crate::message::{Asked, Begun, Known, KnownFiles, Question, ServedRepository};
use crate::replica::{Lost, answered};

/// The largest count that is believed: those of all shards can be added up and estimated with.
const COUNT_MAX: u64 = 1 << 40;
/// The last line that a file may have.
const LINE_MAX: u32 = 1 << 30;
/// Files of a shard: the places of those of all shards have room in one number.
const PLACES_MAX: u32 = u32::MAX >> 10;
/// Scores that an outline may tell, and how much further apart they may be where more are wanted.
const OUTLINE_MAX: usize = 128;
const OUTLINE_STEPS: usize = 64;

/// An answer that can be compared with its question.
pub trait Fits {
    /// Whether it is an answer to what was asked, from a shard of this extent.
    fn fits(&self, asked: &Question, told: &Extent) -> bool;

    /// Number of its items, where it is a list.
    fn items(&self) -> Option<usize> {
        None
    }
}

/// The answer in a frame, where it fits the question.
///
/// # Errors
/// When there is none, or it does not fit.
pub fn checked<T: DeserializeOwned + Fits>(bytes: &[u8], asked: &Question, told: &Extent) -> Result<T, Lost> {
    let answer: T = answered(bytes)?;
    match is_sound(&answer, asked, told) {
        true => Ok(answer),
        false => Err(Lost::Nonsense(format!("its answer to {:?} does not fit the question", asked.name()))),
    }
}

/// Whether an answer has as many items as were asked for, and each of them fits.
fn is_sound<T: Fits>(answer: &T, asked: &Question, told: &Extent) -> bool {
    let is_whole = length(asked).zip(answer.items()).is_none_or(|(wanted, items)| wanted == items);
    is_whole && answer.fits(asked, told)
}

/// Number of items of the answer to a question that asks about a list, one after the other.
fn length(asked: &Question) -> Option<usize> {
    match asked {
        Question::Topics(terms) | Question::Counts(terms, _) => Some(terms.len()),
        Question::Stored(units) | Question::Likeness(units) | Question::TextOf(units) | Question::Lines(units, _) => {
            Some(units.len())
        }
        Question::Tokens(files, _) | Question::Sizes(files) | Question::Look(files, _) => Some(files.len()),
        Question::Around(lines) => Some(lines.len()),
        Question::Runs(runs) => Some(runs.len()),
        Question::FilesAt(paths) => Some(paths.len()),
        Question::Show(asked) => Some(asked.files.len()),
        _ => None,
    }
}

impl<T: Fits> Fits for Vec<T> {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.iter().all(|one| one.fits(asked, told))
    }

    fn items(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: Fits> Fits for Option<T> {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.as_ref().is_none_or(|one| one.fits(asked, told))
    }
}

impl<A: Fits, B: Fits> Fits for (A, B) {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.0.fits(asked, told) && self.1.fits(asked, told)
    }
}

/// What any value of a type is an answer to.
macro_rules! any {
    ($($type:ty),*) => {
        $(impl Fits for $type {
            fn fits(&self, _: &Question, _: &Extent) -> bool {
                true
            }
        })*
    };
}

any!(bool, String, Tokens, TextHash);

impl Fits for f32 {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        self.is_finite()
    }
}

impl Fits for u64 {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        *self <= COUNT_MAX
    }
}

impl Fits for u32 {
    /// A position among the units that were asked about, or a line.
    fn fits(&self, asked: &Question, _: &Extent) -> bool {
        match asked {
            Question::Holders(units) => (*self as usize) < units.len(),
            _ => *self <= LINE_MAX,
        }
    }
}

impl Fits for FilePlace {
    fn fits(&self, _: &Question, told: &Extent) -> bool {
        self.0 < told.places
    }
}

impl Fits for UnitId {
    fn fits(&self, _: &Question, told: &Extent) -> bool {
        self.segment() < told.segments
    }
}

impl Fits for UnitFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let UnitFound { unit, file, line, score, .. } = self;
        unit.fits(asked, told) && file.fits(asked, told) && *line <= LINE_MAX && score.is_finite()
    }
}

impl Fits for Begun {
    fn fits(&self, asked: &Question, _: &Extent) -> bool {
        let Question::Begin(begin) = asked else { return false };
        let Extent { repositories, places, documents, segments, .. } = &self.extent;
        let is_wanted = |name: Option<&str>| name.is_some_and(|name| begin.wants(name));
        let follow = |(a, b): (&Repository, &Repository)| a.front < b.front && a.first <= b.first;
        self.names.len() == begin.terms.len()
            && *documents <= COUNT_MAX
            && *segments < UnitId::SEGMENTS_MAX
            && *places <= PLACES_MAX
            && repositories.iter().zip(repositories.iter().skip(1)).all(follow)
            && repositories.iter().all(|one| one.first.0 <= *places && is_wanted(one.front.strip_suffix('/')))
            && self.unserved.iter().all(|(name, _)| begin.wants(name))
            && self.partial.iter().all(|(name, known)| begin.wants(name) && known.fits(asked, &self.extent))
    }
}

impl Fits for Known {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Known { files, units, units_without_vectors } = self;
        files.fits(asked, told) && units.fits(asked, told) && units_without_vectors <= units
    }
}

impl Fits for KnownFiles {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.known.fits(asked, told) && self.in_tree.fits(asked, told)
    }
}

impl Fits for Asked {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::Ask(ask) = asked else { return false };
        let Statistics { terms, words, topics, .. } = &self.statistics;
        self.statistics.fits(asked, told)
            && terms.len() == ask.query.terms.len()
            && words.len() == ask.query.plain_words.len()
            && topics.len() == ask.query.topic_terms.len()
            && self.reach.fits(asked, told)
    }
}

impl Fits for Statistics {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Statistics { units, lengths, files, terms, words, topics } = self;
        let counts = [units, files].into_iter().chain(lengths).chain(words).chain(topics);
        terms.fits(asked, told) && counts.into_iter().all(|count| count.fits(asked, told))
    }
}

impl Fits for TermCount {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let fields: &[u64; FIELD_COUNT] = &self.in_field;
        self.units.fits(asked, told) && fields.iter().all(|count| count.fits(asked, told))
    }
}

impl Fits for Reach {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.units.fits(asked, told)
    }
}

impl Fits for Outline {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let best = match asked {
            Question::Candidates(_, units_max, ..) => usize::try_from(*units_max).unwrap_or(usize::MAX),
            Question::Choose(_, cut) => cut.best,
            _ => return false,
        };
        let step_max = (best / OUTLINE_STEPS).max(1);
        let is_step = self.scores.is_empty() || (1..=step_max).contains(&(self.step as usize));
        is_step && self.scores.len() <= OUTLINE_MAX && self.scores.fits(asked, told)
    }
}

impl Fits for CandidatesFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let CandidatesFound { units, outline, named } = self;
        units.fits(asked, told) && outline.fits(asked, told) && named.fits(asked, told)
    }
}

impl Fits for Named {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.file.fits(asked, told) && self.weight.is_finite() && self.definitions.fits(asked, told)
    }
}

impl Fits for Scored {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::Scored(files, units) = asked else { return false };
        self.of_files.len() <= files.len()
            && self.units.len() <= units.len()
            && self.of_files.fits(asked, told)
            && self.units.fits(asked, told)
    }
}

impl Fits for FactsFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::Facts(facts) = asked else { return false };
        let fits = |file: &FileFound| {
            file.definitions.iter().all(|one| one.unit.fits(asked, told))
                && file.word_definitions.is_finite()
                && file.pairs.len() <= facts.parts.len()
        };
        self.files.len() == facts.files.len()
            && self.name_hits.len() == facts.units.len()
            && self.pairs.len() == facts.parts.len()
            && self.pairs.fits(asked, told)
            && self.files.iter().all(fits)
    }
}

impl Fits for Unit {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        [self.span.first, self.span.line, self.span.end].iter().all(|line| *line <= LINE_MAX)
    }
}

impl Fits for Chosen {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let told_of = self.outline.scores.len() as u64 * u64::from(self.outline.step);
        self.count.fits(asked, told) && self.outline.fits(asked, told) && told_of <= self.count
    }
}

impl Fits for ChosenFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.open.fits(asked, told)
    }
}

impl Fits for TextNear {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.score.is_finite() && self.units.fits(asked, told)
    }
}

impl Fits for Likeness {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.score.fits(asked, told)
    }
}

impl Fits for LocateFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::Located(located) = asked else { return false };
        self.paths.len() == located.paths.len()
            && self.names.len() == located.names.len()
            && self.paths.fits(asked, told)
            && self.names.fits(asked, told)
            && self.spelled.fits(asked, told)
    }
}

impl Fits for FileMeant {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.file.fits(asked, told)
    }
}

impl Fits for DefinitionFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.unit.fits(asked, told)
    }
}

impl Fits for HolderCount {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        self.units.fits(asked, told) && self.files.fits(asked, told)
    }
}

impl Fits for Seen {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        self.line <= LINE_MAX && self.standing.is_none_or(|standing| standing.share.is_finite())
    }
}

impl Fits for Context {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        let Context { partner, imported, importer, together, .. } = self;
        [partner, imported, importer, together].iter().all(|share| share.is_finite())
    }
}

impl Fits for FileAnswer {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::Show(show) = asked else { return false };
        show.files.iter().any(|file| file.path == self.path)
            && self.score.is_finite()
            && self.strength.is_finite()
            && (self.matches, self.also_here).fits(asked, told)
            && self.matching_lines.fits(asked, told)
            && self.matched_lines.fits(asked, told)
            && self.units.fits(asked, told)
    }
}

impl Fits for UnitAnswer {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let is_line = |line: usize| line <= LINE_MAX as usize;
        self.unit.fits(asked, told)
            && self.score.is_finite()
            && [self.line.number, self.name_line, self.last_line].into_iter().all(is_line)
            && self.parts.fits(asked, told)
            && self.line.fits(asked, told)
    }
}

impl Fits for BestLine {
    fn fits(&self, _: &Question, _: &Extent) -> bool {
        let ranges = self.marks.iter().chain(self.matches.iter().flatten());
        let is_within = |range: &std::ops::Range<usize>| range.start <= range.end && range.end <= self.text.len();
        let is_whole = |at: usize| self.text.is_char_boundary(at);
        ranges.into_iter().all(is_within) && self.marks.iter().all(|mark| is_whole(mark.start) && is_whole(mark.end))
    }
}

impl Fits for EndFound {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let Question::End(end) = asked else { return false };
        let EndFound { units, files, holders, like, spelled, names, texts } = self;
        let counts = like.iter().flat_map(BTreeMap::values).map(|(_, units)| units);
        units.len() == end.units.len()
            && files.len() == end.files.len()
            && like.len() == end.like.len()
            && spelled.len() == end.spelled.len()
            && texts.len() == end.texts.len()
            && names.len() == end.named.len()
            && units.fits(asked, told)
            && counts.chain(files).chain([holders]).all(|count| count.fits(asked, told))
    }
}

impl Fits for ServedRepository {
    fn fits(&self, asked: &Question, told: &Extent) -> bool {
        let ServedRepository { files, units, units_without_vectors, known_files, languages, .. } = self;
        let counts = [files, units, units_without_vectors].into_iter().chain(languages.values());
        counts.into_iter().all(|count| count.fits(asked, told)) && known_files.fits(asked, told)
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
