//! The parts of a corpus, and what one search asks them.
//!
//! A corpus is one index or several. A [`Shard`] is one of them: in this process, or behind a wire. A search goes to all
//! shards in rounds, each a method of [`ShardSearch`]: the question of a round and its answer are plain data, numbers of
//! files and addresses of units are those of the shard, and what decides what is kept (statistics, cut-offs, which files
//! are wanted) comes from the coordinator, which has merged the answers of the round before ([`Corpus`](super::Corpus)).
//! So the answer over several shards is that of one index of all, to the bit, however the files lie in shards.
//!
//! | round | question | answer |
//! |---|---|---|
//! | [`Words::statistics`] | the query | [`Statistics`], which are added up |
//! | [`Words::candidates`], [`Words::best`] | the sum | the best units and the files that answer best by name |
//! | [`Meaning::reach`], [`Meaning::choose`] and [`Meaning::chosen`] (up to twice), [`Meaning::nearest`] | cut-offs | scores by meaning |
//! | [`Places`] | what the query points at, where there is such a thing | files, units, lines |
//! | [`Words::scored`] | units and files that must be candidates | the same, scored |
//! | [`Words::facts`] | files and units that are candidates | what the stages need of them |
//! | [`Words::topics`] | topic terms of their paths | numbers of files |
//! | [`Meaning::likeness`], [`Meaning::text_of`] | units | stored scores, texts to be encoded |
//! | [`Words::holders`], [`Words::tokens`] | files of the answer | what they hold of the query |

mod ask;
mod texts;

use colgrep_core::query::Query;
use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};

pub use ask::*;
pub use texts::*;

use colgrep_index::error::Result;
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::lexical::Run;

/// One part of a corpus.
pub trait Shard: Sync {
    /// What it holds.
    fn extent(&self) -> Extent;

    /// Whether what it tells goes over a wire: it then tells as little as will do.
    fn is_far(&self) -> bool {
        false
    }

    /// Whether a term stands in the name of a unit or in the topic of a file.
    ///
    /// # Errors
    /// When the index can't be read.
    fn is_name(&self, term: &str) -> Result<bool>;

    /// Begins a search. What it looks up may be kept until the search ends.
    ///
    /// # Errors
    /// When the index can't be read.
    fn ask<'s>(&'s self, asked: &Asked<'s>) -> Result<Box<dyn ShardSearch + 's>>;
}

/// One search in one shard.
pub trait ShardSearch: Words + Meaning + Places + Send + Sync {}

impl<T: Words + Meaning + Places + Send + Sync> ShardSearch for T {}

/// What a search begins with. Another process is sent [`QueryParts`](colgrep_core::query::QueryParts) and makes a query of
/// them; the rest is plain data, the question's vectors as rows.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The query, as it was read for the whole corpus.
    pub query: &'a Query,
    /// The constants of the ranking by words.
    pub bm25: colgrep_core::bm25::Bm25,
    /// The question's vectors, where meaning takes part.
    pub meaning: Option<Meant<'a>>,
}

/// The ranking by words: statistics, candidates, facts.
pub trait Words {
    /// The counts of the shard.
    ///
    /// # Errors
    /// When the index can't be read, as for each of these.
    fn statistics(&self) -> Result<Statistics>;

    /// The best units by words, and the files that answer best by name or definition. Comes once and before the other
    /// rounds but the first: it tells the statistics of the corpus.
    ///
    /// # Errors
    /// When the index can't be read.
    fn candidates(&self, asked: &CandidatesAsked<'_>) -> Result<CandidatesFound>;

    /// Of the candidates by words, those with this score or a better one, best first.
    ///
    /// # Errors
    /// When the index can't be read.
    fn best(&self, least: f32) -> Result<Vec<UnitFound>>;

    /// Of each of the files the best unit, or the first one, with score 0, where none holds a term of the query; and each
    /// of the units with its score, 0 as well. The filter decides of files; units are given whatever it says.
    ///
    /// # Errors
    /// When the index can't be read.
    fn scored(&self, files: &[FilePlace], units: &[UnitId]) -> Result<Scored>;

    /// What the stages need to know of files and units.
    ///
    /// # Errors
    /// When the index can't be read.
    fn facts(&self, asked: &FactsAsked) -> Result<FactsFound>;

    /// In how many files' topics each of the terms stands.
    ///
    /// # Errors
    /// When the index can't be read.
    fn topics(&self, terms: &[String]) -> Result<Vec<u64>>;

    /// For each term of the query, the positions among `units` of those that hold it.
    ///
    /// # Errors
    /// When the index can't be read.
    fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>>;

    /// What the text and the path of each file hold of the query's tokens.
    ///
    /// # Errors
    /// When the index can't be read.
    fn tokens(&self, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>>;

    /// What the index keeps of units.
    ///
    /// # Errors
    /// When the index can't be read.
    fn stored(&self, units: &[UnitId]) -> Result<Vec<Unit>>;
}

/// The ranking by meaning: the nearest texts, in steps whose cut-offs hold for the whole corpus.
pub trait Meaning {
    /// How many units it may give.
    ///
    /// # Errors
    /// When the index can't be read, as for each of these.
    fn reach(&self) -> Result<Reach>;

    /// Chooses texts by a cheap score: by the inverted lists first, then by centroids.
    ///
    /// # Errors
    /// When the vectors are damaged.
    fn choose(&self, by: Choice, cut: &Cut) -> Result<Chosen>;

    /// Of the texts chosen last, those that are asked for.
    ///
    /// # Errors
    /// When the vectors are damaged.
    fn chosen(&self, asked: &ChosenAsked) -> Result<ChosenFound>;

    /// Of the texts chosen last with at least this score, the hashes of those that these marks tell in short.
    ///
    /// # Errors
    /// When the vectors are damaged.
    fn marked(&self, marks: &Marks, sure: f32) -> Result<Vec<TextHash>>;

    /// The texts chosen last by their vectors, as far as the bar lets them, each with its units; they stay chosen.
    ///
    /// # Errors
    /// When the vectors are damaged.
    fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>>;

    /// Scores of units from stored vectors.
    ///
    /// # Errors
    /// When the vectors are damaged.
    fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>>;

    /// The texts of units as a model reads them; none where the file changed or is gone.
    ///
    /// # Errors
    /// When the index can't be read.
    fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>>;
}

/// What a query points at: files by name, definitions, text as typed, where the reader stands.
pub trait Places {
    /// The files that written paths and names mean.
    ///
    /// # Errors
    /// When the index can't be read, as for each of these.
    fn located(&self, asked: &LocateAsked) -> Result<LocateFound>;

    /// The allowed units that define a name, written so, by file and line.
    ///
    /// # Errors
    /// When the index can't be read.
    fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>>;

    /// The allowed units that call a name, by file and line: punctuation at its ends aside, if it is taken loosely.
    ///
    /// # Errors
    /// When the index can't be read.
    fn callers(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>>;

    /// For each line of a file the smallest allowed unit around it, else the last one before it.
    ///
    /// # Errors
    /// When the index can't be read.
    fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>>;

    /// For each run of terms, the files, ascending, in one of whose units they stand in a row.
    ///
    /// # Errors
    /// When the index can't be read.
    fn runs(&self, runs: &[Run]) -> Result<Vec<Vec<FilePlace>>>;

    /// How many units and files have each term; files of one that more than `units_max` units have are not counted.
    ///
    /// # Errors
    /// When the index can't be read.
    fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>>;

    /// The allowed files that hold at least so much of the weight of terms, those with most first.
    ///
    /// # Errors
    /// When the index can't be read.
    fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>>;

    /// The files, ascending, that hold all of the terms.
    ///
    /// # Errors
    /// When the index can't be read.
    fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>>;

    /// The sizes of files, in bytes; none for those that the filter excludes.
    ///
    /// # Errors
    /// When the index can't be read.
    fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>>;

    /// What stands in each of the files.
    ///
    /// # Errors
    /// When the index can't be read.
    fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<Vec<Seen>>>;

    /// Of each unit the line that names or calls something, else its own.
    ///
    /// # Errors
    /// When the index can't be read.
    fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>>;

    /// How files of the reader's repository stand to the one where the reader is, as far as the filter allows them; none
    /// where that file is of another shard.
    ///
    /// # Errors
    /// When the index can't be read.
    fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<Vec<(FilePlace, Context)>>;

    /// The allowed files at these paths.
    ///
    /// # Errors
    /// When the index can't be read.
    fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>>;
}
