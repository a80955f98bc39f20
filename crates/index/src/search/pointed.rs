//! What a query points at beside its words: a line of a file, a file by name, text that stands as typed.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use colgrep_core::UnitId;
use colgrep_core::bm25::idf;
use colgrep_core::clue::{Certainty, Clues, Declaration, Pointer};
use colgrep_core::query::{Query, last_segment};
use colgrep_core::token::{Tokenizer, is_stop_word, is_word_char};
use colgrep_core::verbatim::{Agreement, Standing, Typed};
use colgrep_syntax::language;
use rayon::prelude::*;

use super::is_text;
use super::locate::{Fit, files_called, files_named};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{CodeName, UnitFilter, UnitHit, term_of_word};
use crate::source::read_text;
use crate::store::{FileRecord, Snapshot};

/// Units that hold a word, at most, for the word to lead to files.
const UNITS_OF_A_WORD_MAX: u64 = 20_000;
/// Files that are read to see whether they hold the text, those that hold most of its words first.
const FILES_READ_MAX: usize = 64;
/// The same for what stands in quotes: who quotes wants every place.
const FILES_READ_OF_A_PHRASE_MAX: usize = 512;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;
/// The same for what stands in quotes.
const BYTES_READ_OF_A_PHRASE_MAX: u64 = 64 << 20;
/// Share of the text's weight that a file's words must have for the file to be read.
const WEIGHT_SHARE_MIN: f32 = 0.7;
/// Share of the text's weight that a run of its words must have, where the text reads like a program's message.
const RUN_SHARE_OF_A_MESSAGE_MIN: f32 = 0.4;
/// The same for any other text: people's own words stand together by chance.
const RUN_SHARE_MIN: f32 = 0.7;
/// Lines behind a unit's first among which its name is looked for: attributes and decorators stand in front.
const NAME_LINES_MAX: usize = 20;
/// Words that must agree in a row where the text is no code: fewer stand in any text.
const WORDS_MIN: usize = 4;
/// The same where it is code.
const WORDS_OF_CODE_MIN: usize = 2;
/// Units that one name points at, at most.
const UNITS_POINTED_MAX: usize = 50;
/// Places of a pasted trace that are followed.
const LOCATIONS_MAX: usize = 16;

/// All that a query points at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointers {
    /// Units, by what points best at each.
    pub units: HashMap<UnitId, Pointer>,
    /// Files that are named, with a share of 1: several of one name share.
    pub files: HashMap<FileId, f32>,
    /// Where phrases stand in quotes: the files that hold them all. Nothing else is an answer.
    pub only: Option<HashSet<FileId>>,
}

/// Looks at what a query points at. `is_defined`: the query is one name that is defined here, so that its definition
/// says more than the places where it stands.
///
/// # Errors
/// When the index can't be read.
pub fn pointers(
    snapshot: &Snapshot,
    query: &Query,
    is_defined: bool,
    tokenizer: &mut Tokenizer,
    filter: Option<&dyn UnitFilter>,
) -> Result<Pointers> {
    let clues = &query.clues;
    let mut search = Search { snapshot, filter, found: Pointers::default() };
    search.locations(clues)?;
    search.mentions(clues);
    search.declared(clues)?;
    search.callers(clues)?;
    let stands_whole = !is_defined && search.typed(query, tokenizer)?;
    // A pasted line may hold quotes of its own.
    if !clues.phrases.is_empty() && !stands_whole {
        search.phrases(&clues.phrases, tokenizer)?;
    }
    Ok(search.found)
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    filter: Option<&'a dyn UnitFilter>,
    found: Pointers,
}

impl Search<'_> {
    fn allows(&self, file: FileId) -> bool {
        self.filter.is_none_or(|f| f.allows_file(file))
    }

    fn point(&mut self, file: FileId, line: u32, certainty: Certainty, strength: f32) -> Result<()> {
        if let Some(unit) = self.snapshot.lexical.unit_around(file, line, self.filter)? {
            let pointer = Pointer { certainty, strength, line };
            let known = self.found.units.entry(unit.key).or_insert(pointer);
            if (known.certainty, known.strength) < (certainty, strength) {
                *known = pointer;
            }
        }
        Ok(())
    }

    fn locations(&mut self, clues: &Clues) -> Result<()> {
        for (i, location) in clues.locations.iter().take(LOCATIONS_MAX).enumerate() {
            let Some((fit, files)) = files_named(&self.snapshot.files, &location.path) else { continue };
            let files: Vec<FileId> = files.iter().map(|f| f.id).filter(|file| self.allows(*file)).collect();
            for file in &files {
                // The last part of a foreign path alone is hardly more than a name.
                if fit > Fit::Name || files.len() == 1 {
                    self.point(*file, location.line, Certainty::Location, 1.0 / (1 + i) as f32)?;
                }
            }
        }
        Ok(())
    }

    /// The definition that keyword and name announce.
    fn declared(&mut self, clues: &Clues) -> Result<()> {
        let Some(Declaration { keyword, name }) = &clues.declaration else { return Ok(()) };
        let mut units = Vec::new();
        for unit in self.snapshot.lexical.definitions(name, self.filter)?.into_iter().take(UNITS_POINTED_MAX) {
            let signature = self.snapshot.lexical.unit(unit.key)?.signature;
            if signature.split(|c: char| !is_word_char(c)).any(|word| word == keyword) {
                units.push(unit);
            }
        }
        self.point_at_lines(&units, NAME_LINES_MAX, |line| stands_as_word(line, name).is_some());
        Ok(())
    }

    /// Who calls the name that is asked about, each with the line of the call.
    fn callers(&mut self, clues: &Clues) -> Result<()> {
        let Some(asked) = clues.callers_of.as_deref() else { return Ok(()) };
        let mut units = self.snapshot.lexical.callers_of(&CodeName::new(asked, false), self.filter)?;
        units.truncate(UNITS_POINTED_MAX);
        let name = last_segment(asked);
        self.point_at_lines(&units, usize::MAX, |line| calls(line, name));
        Ok(())
    }

    /// Points at units, each by the first of its lines, at most `lines_max`, that `is_meant`, else by its own line.
    fn point_at_lines(&mut self, units: &[UnitHit], lines_max: usize, is_meant: impl Fn(&str) -> bool) {
        let root = Path::new(&self.snapshot.files.root);
        let mut read: Option<(FileId, String)> = None;
        for unit in units {
            if read.as_ref().is_none_or(|(file, _)| *file != unit.file) {
                let record = self.snapshot.files.indexed().find(|f| f.id == unit.file);
                let text = record.and_then(|record| read_text(root, &record.path).ok()).unwrap_or_default();
                read = Some((unit.file, text));
            }
            let text = read.as_ref().map_or("", |(_, text)| text);
            let mut own = text.lines().zip(1u32..).skip(unit.line.saturating_sub(1) as usize).take(lines_max);
            let line = own.find(|(line, _)| is_meant(line)).map_or(unit.line, |(_, number)| number);
            self.found.units.insert(unit.key, Pointer { certainty: Certainty::Exact, strength: 0.5, line });
        }
    }

    fn mentions(&mut self, clues: &Clues) {
        let table = &self.snapshot.files;
        let by_path = clues.mentions.iter().filter_map(|mention| files_named(table, mention));
        let by_path = by_path.filter(|(fit, _)| *fit > Fit::Name).map(|(_, files)| files);
        let meant: Vec<Vec<&FileRecord>> = by_path.chain(files_called(table, &clues.names)).collect();
        for files in meant {
            let files: Vec<FileId> = files.iter().map(|f| f.id).filter(|file| self.allows(*file)).collect();
            let share = 1.0 / (files.len() as f32).sqrt();
            for file in files {
                let known = self.found.files.entry(file).or_default();
                *known = known.max(share);
            }
        }
    }

    /// The files that may hold a text, those with most of its words first, and the text made ready to be looked for.
    /// `None` where each of its words stands in so many places that none leads anywhere.
    fn holders<'t>(
        &self,
        text: &'t str,
        files_max: usize,
        bytes_max: u64,
        tokenizer: &mut Tokenizer,
    ) -> Result<Option<(Typed<'t>, Vec<&FileRecord>)>> {
        let units = self.snapshot.files.units();
        let mut of_terms: HashMap<String, (f32, Vec<FileId>)> = HashMap::new();
        let (mut failed, mut is_led) = (Ok(()), false);
        let many = text.split_whitespace().nth(WORDS_MIN - 1).is_some();
        let typed = Typed::new(text, |word| {
            // A number in a message is most often a value that the source does not have.
            let is_value = many && word.starts_with(|c: char| c.is_ascii_digit());
            let term = term_of_word(word, tokenizer).filter(|term| !is_value && !is_stop_word(term));
            let Some(term) = term else { return 0.0 };
            if let Some((weight, _)) = of_terms.get(&term) {
                return *weight;
            }
            match self.snapshot.lexical.files_with(&term, UNITS_OF_A_WORD_MAX) {
                Ok(Some(files)) => {
                    is_led = true;
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
        let mut held: Vec<(FileId, f32)> = held.into_iter().filter(|h| h.1 >= WEIGHT_SHARE_MIN * all).collect();
        held.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        held.truncate(files_max);
        let wanted: HashMap<FileId, usize> = held.iter().enumerate().map(|(i, (file, _))| (*file, i)).collect();
        let mut records: Vec<&FileRecord> =
            self.snapshot.files.indexed().filter(|f| wanted.contains_key(&f.id)).collect();
        records.sort_by_key(|record| wanted[&record.id]);
        let mut bytes = 0;
        records.retain(|record| {
            bytes += record.size;
            bytes <= bytes_max
        });
        Ok(is_led.then_some((typed, records)))
    }

    /// Reads `files` and gives, for each that agrees, where. A file that can't be read any more is none of them.
    fn standing(&self, typed: &Typed<'_>, files: &[&FileRecord]) -> Vec<(FileId, u32, Standing)> {
        let root = Path::new(&self.snapshot.files.root);
        let read = |record: &&FileRecord| {
            let source = read_text(root, &record.path).ok()?;
            let standing = typed.find(&source)?;
            let line = 1 + memchr::memchr_iter(b'\n', &source.as_bytes()[..standing.start]).count();
            Some((record.id, line as u32, standing))
        };
        files.par_iter().filter_map(read).collect()
    }

    /// Whether the whole query stands somewhere to the character: as typed, else without its fillers. A message may
    /// hold such words of its own.
    fn typed(&mut self, query: &Query, tokenizer: &mut Tokenizer) -> Result<bool> {
        if query.typed != query.text {
            let of_words = |found: &Pointers| found.units.values().filter(|p| p.certainty >= Certainty::Words).count();
            let known = self.found.clone();
            let stands_whole = self.text(&query.typed, tokenizer)?;
            if of_words(&self.found) > of_words(&known) {
                return Ok(stands_whole);
            }
            self.found = known;
        }
        self.text(&query.text, tokenizer)
    }

    /// Whether a text stands somewhere to the character.
    fn text(&mut self, text: &str, tokenizer: &mut Tokenizer) -> Result<bool> {
        if Typed::new(text, |_| 0.0).len() < least_words(text) {
            return Ok(false);
        }
        let mut stands_whole = false;
        let share_min = if has_values(text) { RUN_SHARE_OF_A_MESSAGE_MIN } else { RUN_SHARE_MIN };
        let Some((typed, files)) = self.holders(text, FILES_READ_MAX, BYTES_READ_MAX, tokenizer)? else {
            return Ok(false);
        };
        // A question's own words stand together by chance, and most often in documents.
        let is_question = text.split_whitespace().next().is_some_and(|word| is_stop_word(&word.to_lowercase()));
        let in_text: HashSet<FileId> =
            files.iter().filter(|file| is_text(&file.language)).map(|file| file.id).collect();
        for (file, line, standing) in self.standing(&typed, &files) {
            let is_long = standing.words >= WORDS_MIN && standing.share >= share_min;
            stands_whole |= standing.agreement == Agreement::Exact;
            let certainty = match standing.agreement {
                Agreement::Exact => Certainty::Exact,
                Agreement::Words => Certainty::Words,
                Agreement::Run if is_long && !is_question && !in_text.contains(&file) => Certainty::Run,
                Agreement::Run => continue,
            };
            self.point(file, line, certainty, standing.share)?;
        }
        Ok(stands_whole)
    }

    fn phrases(&mut self, phrases: &[String], tokenizer: &mut Tokenizer) -> Result<()> {
        let mut only: Option<HashSet<FileId>> = None;
        let mut found = Vec::new();
        for phrase in phrases {
            let holders = self.holders(phrase, FILES_READ_OF_A_PHRASE_MAX, BYTES_READ_OF_A_PHRASE_MAX, tokenizer)?;
            let Some((typed, files)) = holders else { continue };
            let mut places = self.standing(&typed, &files);
            places.retain(|(.., standing)| standing.agreement >= Agreement::Words);
            let holders: HashSet<FileId> = places.iter().map(|place| place.0).collect();
            only = Some(only.map_or_else(|| holders.clone(), |only| &only & &holders));
            found.extend(places);
        }
        let Some(only) = only else { return Ok(()) };
        for (file, line, standing) in found.into_iter().filter(|place| only.contains(&place.0)) {
            let certainty = if standing.agreement == Agreement::Exact { Certainty::Exact } else { Certainty::Words };
            self.point(file, line, certainty, 1.0)?;
        }
        self.found.only = Some(only);
        Ok(())
    }
}

/// Where `name` stands in a line as a whole word.
fn stands_as_word(line: &str, name: &str) -> Option<usize> {
    let is_whole =
        |at: usize| !line[..at].ends_with(is_word_char) && !line[at + name.len()..].starts_with(is_word_char);
    line.match_indices(name).map(|(at, _)| at).find(|at| is_whole(*at))
}

/// Whether a line calls `name` (plain, as written), rather than defining it or telling of it.
pub fn calls(line: &str, name: &str) -> bool {
    let is_comment = || ["//", "/*", "* ", "# ", "-- "].iter().any(|mark| line.trim_start().starts_with(mark));
    let Some(at) = stands_as_word(line, name).filter(|_| !is_comment()) else { return false };
    let before = line[..at].split_whitespace().next_back().unwrap_or_default();
    let behind = line[at + name.len()..].trim_start_matches(['!', '?', ':', '<', '>']);
    !language::facts().is_declaration_keyword(before) && (behind.is_empty() || behind.starts_with(['(', ' ', '{']))
}

/// Whether a text holds what programs put into their messages: numbers, quotes, paths, something behind a colon.
fn has_values(text: &str) -> bool {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    text.contains(['\'', '`', '"', '/', '%', '{']) || text.contains(": ") || text.split_whitespace().any(is_number)
}

/// Words that a text must have to be looked for as typed. One word is, where it is written as no word of a sentence is.
fn least_words(text: &str) -> usize {
    let typed = Typed::new(text, |_| 0.0);
    let is_token = |word: &str| {
        let letters = || word.chars().filter(|c| c.is_alphabetic());
        let capitals = letters().count() >= 2 && letters().all(char::is_uppercase);
        capitals || word.contains('_') || word.chars().any(|c| c.is_ascii_digit())
    };
    match text.split_whitespace().count() {
        1 if is_token(text.trim()) || text.trim().contains('-') => 1,
        _ if typed.is_code() => WORDS_OF_CODE_MIN,
        _ => WORDS_MIN,
    }
}
