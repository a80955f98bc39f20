//! Text as typed: the places that hold a whole query, the longest run of its words, or what stands in quotes.

use std::collections::{HashMap, HashSet};

use colgrep_core::bm25::idf;
use colgrep_core::clue::Certainty;
use colgrep_core::query::Query;
use colgrep_core::token::is_stop_word;
use colgrep_core::verbatim::{Agreement, Standing, Typed, has_values, is_question};

use super::{Pointers, Search};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{run_of, term_of_word};
use crate::search::is_text;
use crate::store::FileRecord;

/// Units that hold a word, at most, for the word to lead to files.
const UNITS_OF_A_WORD_MAX: u64 = 20_000;
/// Files that are read to see whether they hold the text, those that hold most of its words first.
const FILES_READ_MAX: usize = 64;
/// Files that may hold all of a text's words in a row for it to be a known place.
const FILES_IN_A_ROW_MAX: usize = 256;
/// The same for an operator: `operator==` stands in few of the files that hold `operator`.
const FILES_OF_AN_OPERATOR_MAX: usize = 2_048;
/// The same for what stands in quotes: who quotes wants every place.
const FILES_READ_OF_A_PHRASE_MAX: usize = 512;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;
/// The same for what stands in quotes.
const BYTES_READ_OF_A_PHRASE_MAX: u64 = 64 << 20;
/// Share of the text's weight that a file's words must have for the file to be read.
const WEIGHT_SHARE_MIN: f32 = 0.7;
/// The same for what reads like a program's message: its values stand nowhere, or elsewhere.
const WEIGHT_SHARE_OF_A_MESSAGE_MIN: f32 = 0.4;
/// Share of the text's weight that a run of its words must have, where the text reads like a program's message.
const RUN_SHARE_OF_A_MESSAGE_MIN: f32 = 0.25;
/// The same for any other text: people's own words stand together by chance.
const RUN_SHARE_MIN: f32 = 0.7;
/// Words that must agree in a row where the text is no code: fewer stand in any text.
const WORDS_MIN: usize = 4;
/// Words that must agree to the character where the text is written as prose is not.
const WORDS_OF_CODE_MIN: usize = 2;
/// Strength of a place where the text is a part of something longer: `1.0.0` in `1.0.0-beta`.
const STRENGTH_OF_A_PART: f32 = 0.5;
/// Strength of a run of words with other punctuation or case between them.
const STRENGTH_OF_OTHER_MARKS: f32 = 0.9;

/// How a text is looked for.
struct Look {
    /// Words that it must have, all of which must stand in a row.
    words_min: usize,
    /// Whether other punctuation, spaces and case between the words do.
    is_loose: bool,
}

impl Search<'_> {
    /// Points at where the query stands: as typed, else without its fillers. A message may hold such words of its own.
    pub(super) fn typed(&mut self, query: &Query) -> Result<bool> {
        if query.typed != query.text {
            let of_words = |found: &Pointers| found.units.values().filter(|p| p.certainty >= Certainty::Words).count();
            let known = self.found.clone();
            let stands_whole = self.text(&query.typed)?;
            if of_words(&self.found) > of_words(&known) {
                return Ok(stands_whole);
            }
            self.found = known;
        }
        self.text(&query.text)
    }

    /// Points at where the text stands as typed, or a run of its words. Whether all of it stands somewhere to the
    /// character.
    fn text(&mut self, text: &str) -> Result<bool> {
        let bare = Typed::new(text, |_| 0.0);
        let look = how_to_look(text, &bare);
        if bare.len() < look.words_min {
            return Ok(false);
        }
        let is_message = has_values(text);
        let held_min = if is_message { WEIGHT_SHARE_OF_A_MESSAGE_MIN } else { WEIGHT_SHARE_MIN };
        let (typed, by_weight) = self.holders(text, held_min)?;
        let run = run_of(text, self.tokenizer);
        let mut files = match run.is_empty() {
            true => self.files_with_all(text)?,
            false => self.snapshot.lexical.files_with_run(&run)?,
        };
        let row_max = match typed.len() {
            1 if typed.is_operator() => FILES_OF_AN_OPERATOR_MAX,
            1 => FILES_IN_A_ROW_MAX,
            _ => FILES_READ_OF_A_PHRASE_MAX,
        };
        if files.len() > row_max {
            return Ok(false);
        }
        // A run of words leads to files that do not hold all of them.
        let is_long = typed.len() >= WORDS_MIN;
        let in_a_row = files.len();
        if is_long {
            let known: HashSet<FileId> = files.iter().copied().collect();
            files.extend(by_weight.into_iter().filter(|file| !known.contains(file)));
        }
        let bytes_max = if in_a_row > FILES_READ_MAX { BYTES_READ_OF_A_PHRASE_MAX } else { BYTES_READ_MAX };
        let records = self.records(&files, in_a_row.max(FILES_READ_MAX), bytes_max);
        let share_min = if is_message { RUN_SHARE_OF_A_MESSAGE_MIN } else { RUN_SHARE_MIN };
        // A question's own words stand together by chance, and most often in documents.
        let asks = is_question(text);
        let in_text: HashSet<FileId> =
            records.iter().filter(|file| is_text(&file.language)).map(|file| file.id).collect();
        let mut stands_whole = false;
        for (file, line, standing) in self.standing(&typed, &records) {
            let is_run = is_long && standing.words >= WORDS_MIN && standing.share >= share_min;
            stands_whole |= standing.agreement == Agreement::Exact;
            let certainty = match standing.agreement {
                Agreement::Exact => Certainty::Exact,
                Agreement::Words if look.is_loose => Certainty::Words,
                Agreement::Run if is_run && !asks && !in_text.contains(&file) => Certainty::Run,
                Agreement::Words | Agreement::Run => continue,
            };
            let part = if standing.is_alone { 1.0 } else { STRENGTH_OF_A_PART };
            let same = if standing.is_same { 1.0 } else { STRENGTH_OF_OTHER_MARKS };
            self.point(file, line, certainty, standing.share * part * same)?;
        }
        Ok(stands_whole)
    }

    /// The text made ready to be looked for, and the files that hold at least `share_min` of its weight, those with most
    /// first.
    fn holders<'t>(&mut self, text: &'t str, share_min: f32) -> Result<(Typed<'t>, Vec<FileId>)> {
        let units = self.snapshot.files.units();
        let mut of_terms: HashMap<String, (f32, Vec<FileId>)> = HashMap::new();
        let mut failed = Ok(());
        let many = text.split_whitespace().nth(WORDS_MIN - 1).is_some();
        let typed = Typed::new(text, |word| {
            // A number in a message is most often a value that the source does not have.
            let is_value = many && word.starts_with(|c: char| c.is_ascii_digit());
            let term = term_of_word(word, self.tokenizer).filter(|term| !is_value && !is_stop_word(term));
            let Some(term) = term else { return 0.0 };
            if let Some((weight, _)) = of_terms.get(&term) {
                return *weight;
            }
            match self.snapshot.lexical.files_with(&term, UNITS_OF_A_WORD_MAX) {
                Ok(Some(files)) => {
                    let weight = if files.is_empty() { 0.0 } else { idf(units, files.len() as u64) };
                    of_terms.insert(term, (weight, files));
                    weight
                }
                Ok(None) => 0.0,
                Err(error) => {
                    failed = Err(error);
                    0.0
                }
            }
        });
        failed?;
        let all: f32 = of_terms.values().map(|(weight, _)| weight).sum();
        let mut held: HashMap<FileId, f32> = HashMap::new();
        for (weight, files) in of_terms.values() {
            for file in files.iter().filter(|file| self.allows(**file)) {
                *held.entry(*file).or_default() += weight;
            }
        }
        let mut held: Vec<(FileId, f32)> = held.into_iter().filter(|h| h.1 >= share_min * all).collect();
        held.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok((typed, held.into_iter().map(|(file, _)| file).collect()))
    }

    /// Reads `files` and gives, for each that agrees, where.
    fn standing(&self, typed: &Typed<'_>, files: &[&FileRecord]) -> Vec<(FileId, u32, Standing)> {
        self.look_into(files, |record, source| {
            let standing = typed.find(source)?;
            let line = 1 + memchr::memchr_iter(b'\n', &source.as_bytes()[..standing.start]).count();
            Some((record.id, line as u32, standing))
        })
    }

    /// The files that may hold a phrase. Stop words have no positions, and documentation is indexed without its markup:
    /// where positions show nothing, those that hold all of its words.
    fn files_of_phrase(&mut self, phrase: &str) -> Result<Vec<FileId>> {
        let run = run_of(phrase, self.tokenizer);
        let in_a_row = if run.is_empty() { Vec::new() } else { self.snapshot.lexical.files_with_run(&run)? };
        if in_a_row.is_empty() { self.files_with_all(phrase) } else { Ok(in_a_row) }
    }

    /// The files that hold all words of a text, stop words too.
    fn files_with_all(&mut self, text: &str) -> Result<Vec<FileId>> {
        let mut holders: Option<Vec<FileId>> = None;
        for term in self.tokenizer.terms(text) {
            let files = self.snapshot.lexical.files_with(&term, u64::MAX)?.unwrap_or_default();
            holders = Some(match holders {
                None => files,
                Some(known) => known.into_iter().filter(|file| files.binary_search(file).is_ok()).collect(),
            });
        }
        Ok(holders.unwrap_or_default())
    }

    /// What stands in quotes: nothing but the files that hold it all is an answer.
    pub(super) fn phrases(&mut self, phrases: &[String]) -> Result<()> {
        let mut only: Option<HashSet<FileId>> = None;
        let mut found = Vec::new();
        for phrase in phrases {
            let files = self.files_of_phrase(phrase)?;
            let records = self.records(&files, FILES_READ_OF_A_PHRASE_MAX, BYTES_READ_OF_A_PHRASE_MAX);
            let mut places = self.standing(&Typed::new(phrase, |_| 1.0), &records);
            places.retain(|(.., standing)| standing.agreement >= Agreement::Words);
            let holders: HashSet<FileId> = places.iter().map(|place| place.0).collect();
            only = Some(only.map_or_else(|| holders.clone(), |only| &only & &holders));
            found.extend(places);
        }
        let Some(only) = only else { return Ok(()) };
        // Who names a file asks for what stands in that one.
        let names_one = self.found.files.keys().any(|file| self.means(*file));
        for (file, line, standing) in found.into_iter().filter(|place| only.contains(&place.0)) {
            let certainty = match standing.agreement {
                _ if names_one && !self.means(file) => Certainty::Run,
                Agreement::Exact => Certainty::Exact,
                _ => Certainty::Words,
            };
            self.point(file, line, certainty, 1.0)?;
        }
        self.found.only = Some(only);
        Ok(())
    }
}

/// How a text is looked for as typed. One word is, where it is written as no word of a sentence is; few words are, where
/// what stands between them is not of prose.
fn how_to_look(text: &str, typed: &Typed<'_>) -> Look {
    let pieces = text.split_whitespace().count();
    match pieces {
        1 if typed.is_token() => Look { words_min: 1, is_loose: !typed.is_operator() },
        _ if typed.is_code() => Look { words_min: WORDS_OF_CODE_MIN, is_loose: true },
        2.. if typed.is_marked() => Look { words_min: WORDS_OF_CODE_MIN, is_loose: typed.len() >= WORDS_MIN },
        _ => Look { words_min: WORDS_MIN, is_loose: true },
    }
}
