//! Text as typed: the places that hold a whole query, the longest run of its words, or what stands in quotes.

use colgrep_core::bm25::{Field, idf};
use colgrep_core::clue::Certainty;
use colgrep_core::query::Query;
use colgrep_core::token::{is_stop_word, words};
use colgrep_core::verbatim::{Agreement, Standing, Typed, has_values, is_question};
use rustc_hash::FxHashSet;

use super::printed::{Told, made_of};
use super::{Point, Search};
use crate::rounds::{FilesWithAllRequest, HolderCount, Look, Seen, WeightedFilesRequest};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::{run_of, term_of_word};

/// Units that hold a word, at most, for the word to lead to files.
const UNITS_OF_A_WORD_MAX: u64 = 20_000;
/// Files that are read to see whether they hold the text, those that hold most of its words first.
const FILES_READ_MAX: usize = 64;
/// Files that may hold all of a text's words in a row for it to be a known place.
const FILES_IN_A_ROW_MAX: usize = 256;
/// The same for a plain word, in any of its forms: what more files hold is a word of the trade.
const FILES_OF_A_PLAIN_WORD_MAX: usize = 8;
/// The same for an operator: `operator==` stands in few of the files that hold `operator`.
const FILES_OF_AN_OPERATOR_MAX: usize = 2_048;
/// The same for what stands in quotes: who quotes wants every place.
const FILES_READ_OF_A_PHRASE_MAX: usize = 512;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;
/// The same for what stands in quotes.
const BYTES_READ_OF_A_PHRASE_MAX: u64 = 64 << 20;
/// Share of the text's weight that a file's words must have for the file to be read: a plain word may be a value, too.
const WEIGHT_SHARE_MIN: f32 = 0.5;
/// The same for what reads like a program's message: its values stand nowhere, or elsewhere.
const WEIGHT_SHARE_OF_A_MESSAGE_MIN: f32 = 0.4;
/// Share of the text's weight that a run of its words must have, where the text reads like a program's message.
const RUN_SHARE_OF_A_MESSAGE_MIN: f32 = 0.25;
/// The same for any other text: people's own words stand together by chance.
const RUN_SHARE_MIN: f32 = 0.7;
/// Words that must agree in a row where the text is no code: fewer stand in any text.
const WORDS_MIN: usize = 4;
/// The same for what a literal has in front of a value.
const WORDS_BEFORE_A_VALUE_MIN: usize = 2;
/// Pieces beside links that a text must have for a number in it to be a value.
const PIECES_AROUND_A_NUMBER_MIN: usize = 3;
/// Words of a value behind a message's colon, at most.
const VALUE_WORDS_MAX: usize = 2;
/// Words around quotes that are no stop words, at least, for a message.
const CONTENT_WORDS_MIN: usize = 2;
/// Words that must agree to the character where the text is written as prose is not.
const WORDS_OF_CODE_MIN: usize = 2;
/// The same where the text is all that a literal of code holds.
const WORDS_OF_A_LITERAL_MIN: usize = 2;
/// Files that have such a literal: what stands in more of them is nobody's only place.
const FILES_OF_A_LITERAL_MAX: usize = 3;
/// Strength of a place where the text is a part of something longer: `1.0.0` in `1.0.0-beta`.
const STRENGTH_OF_A_PART: f32 = 0.5;
/// Strength of a place that tells of a flag outside of a literal, where nothing declares it.
const STRENGTH_OF_A_FLAG_TOLD: f32 = 0.7;
/// Strength of a run of words with other punctuation or case between them.
const STRENGTH_OF_OTHER_MARKS: f32 = 0.9;

/// How a text is looked for.
struct Manner {
    /// Words that it must have, all of which must stand in a row.
    words_min: usize,
    /// Whether other punctuation, spaces and case between the words do.
    is_loose: bool,
    /// Whether nothing counts but literals of code that hold nothing else: a few plain words stand together by chance.
    only_literals: bool,
}

/// Where a text stands in a file.
struct Placed {
    file: FilePlace,
    standing: Standing,
    seen: Seen,
}

impl Search<'_> {
    /// Points at where the text stands as typed, or a run of its words. Whether all of it stands somewhere to the
    /// character.
    pub(super) fn text(&mut self, text: &str) -> Result<bool> {
        self.told = Told::Nothing;
        let bare = Typed::new(text, |_| 0.0);
        let manner = how_to_look(text, &bare);
        if manner.only_literals && text.trim() != unquoted(text) {
            return self.text(unquoted(text));
        }
        if bare.len() < manner.words_min {
            return Ok(false);
        }
        // Nobody says "unknown action zzqq" but a program.
        let ends_in_value = manner.only_literals && self.ends_in_value(text)?;
        let manner = if ends_in_value { Manner { only_literals: false, ..manner } } else { manner };
        let is_plain = manner.only_literals || (bare.len() == 1 && !bare.is_token() && !bare.is_code());
        if is_plain && self.names(text)? {
            return Ok(false);
        }
        let is_message = has_values(text) || ends_in_value;
        let held_min = if is_message { WEIGHT_SHARE_OF_A_MESSAGE_MIN } else { WEIGHT_SHARE_MIN };
        let (typed, by_weight) = self.holders(text, held_min)?;
        let run = run_of(text, self.tokenizer);
        let mut files = match run.is_empty() {
            true => self.files_with_all(text)?,
            false => self.rounds.files_with_phrase(&run)?,
        };
        if files.len() > files_in_a_row_max(&typed, is_plain) {
            return Ok(false);
        }
        // A question's own words stand together by chance, and most often in documents.
        let asks = is_question(text);
        // A run of words leads to files that do not hold all of them.
        let has_runs = typed.len() >= WORDS_MIN || is_message;
        let in_a_row = files.len();
        let may_be_run = has_runs && !manner.only_literals && !asks;
        if may_be_run {
            let known: FxHashSet<FilePlace> = files.iter().copied().collect();
            files.extend(by_weight.into_iter().filter(|file| !known.contains(file)));
        }
        let bytes_max = if in_a_row > FILES_READ_MAX { BYTES_READ_OF_A_PHRASE_MAX } else { BYTES_READ_MAX };
        let files = self.readable(&files, in_a_row.max(FILES_READ_MAX), bytes_max)?;
        let share_min = if is_message { RUN_SHARE_OF_A_MESSAGE_MIN } else { RUN_SHARE_MIN };
        // The words of a file's name may stand together elsewhere.
        let names_one = self.found.files.keys().any(|file| self.means(*file));
        let mut stands_whole = false;
        let mut points = Vec::new();
        let mut places = self.standing(&typed, text, &files)?;
        if may_be_run && places.iter().all(|place| place.standing.agreement == Agreement::Run) {
            places.extend(self.before_a_value(&typed, text, &files)?);
        }
        if is_plain {
            keep_plain(&mut places, typed.len());
            // Two words in small letters name a thing more often than they are a message.
            let names_thing = typed.len() == 2 && !text.starts_with(char::is_uppercase);
            let files_max = if names_thing { 1 } else { FILES_OF_A_LITERAL_MAX };
            if manner.only_literals && places.len() > files_max {
                return Ok(false);
            }
        }
        let fronts = if is_message && !asks { typed.behind_fronts(self.program) } else { Vec::new() };
        // What makes paths (`${name}/src/index.ts`) made any path that ends so: the file that is here says more.
        let written = self.written.iter().filter(|path| text.contains(path.as_str()));
        let of_paths: Vec<usize> = written.map(|path| words(path).count()).collect();
        let is_in_path = |standing: &Standing| {
            let holds =
                |of_path: &usize| *of_path >= standing.words && typed.len().saturating_sub(*of_path) < standing.words;
            of_paths.iter().any(holds)
        };
        let is_made = |place: &Placed| {
            let is_known = is_message && !asks && !place.seen.is_aside && place.standing.share >= share_min;
            is_known && made_of(&place.standing, &fronts) && !is_in_path(&place.standing)
        };
        let is_printed_here = places.iter().any(is_made);
        let is_quoted = text.starts_with(['"', '\'', '`']);
        for place in places {
            let is_made = is_made(&place);
            let Placed { file, standing, seen: Seen { line, is_text, is_aside, .. } } = place;
            let is_run = standing.share >= share_min && is_run_of(&standing, is_message);
            stands_whole |= standing.agreement == Agreement::Exact;
            // What is all of a literal may have been copied there, and who writes quotes wants what stands in them.
            let is_copied = standing.is_literal || is_quoted;
            let certainty = match standing.agreement {
                // A test or a document that holds what code prints says less than that code, whatever values it has.
                Agreement::Exact if is_aside && is_printed_here && !is_copied => Certainty::Words,
                Agreement::Exact => Certainty::Exact,
                // A program may declare it without its dashes.
                Agreement::Words if typed.is_flag() && standing.is_literal => Certainty::Exact,
                Agreement::Words if manner.is_loose => Certainty::Words,
                // All of the text but its values, which may be anything: the name of a file that is here, too.
                Agreement::Run if is_made => Certainty::Words,
                Agreement::Run if asks || is_text || names_one => continue,
                // More than a run that ends in front of the word that was cut.
                Agreement::Run if is_cut_off(&standing) => Certainty::Words,
                Agreement::Run if is_run => Certainty::Run,
                Agreement::Words | Agreement::Run => continue,
            };
            let part = if standing.is_alone { 1.0 } else { STRENGTH_OF_A_PART };
            let same = if standing.is_same { 1.0 } else { STRENGTH_OF_OTHER_MARKS };
            let told = if typed.is_flag() && !standing.is_literal { STRENGTH_OF_A_FLAG_TOLD } else { 1.0 };
            // What a message's values weigh is no matter.
            let share = if is_made { (1.0 + standing.share) / 2.0 } else { standing.share };
            let strength = share * part * same * told;
            self.told = self.told.max(Told::of(certainty, strength, is_aside, is_made.then_some(standing.share)));
            points.push(Point { file, line, certainty, strength });
        }
        self.point(&points)?;
        Ok(stands_whole)
    }

    /// Whether the last of three plain words stands nowhere: a value, where a literal begins with the others.
    fn ends_in_value(&mut self, text: &str) -> Result<bool> {
        let Some((front, last)) = text.trim().rsplit_once(char::is_whitespace) else { return Ok(false) };
        if front.split_whitespace().count() < WORDS_BEFORE_A_VALUE_MIN {
            return Ok(false);
        }
        let Some(term) = term_of_word(last, self.tokenizer) else { return Ok(false) };
        Ok(self.rounds.term_counts(&[term], 0)?.iter().all(|count| count.units.most() == 0))
    }

    /// Where the text stands up to its last piece, in front of a value or with that one cut off, in files that are not
    /// `read` yet: others hold more of its weight where the last piece is a word of the trade.
    fn before_a_value(&mut self, typed: &Typed<'_>, text: &str, read: &[FilePlace]) -> Result<Vec<Placed>> {
        let front = text.trim().rsplit_once(char::is_whitespace).map_or("", |(front, _)| front);
        let run = run_of(front, self.tokenizer);
        if run.len() < WORDS_BEFORE_A_VALUE_MIN {
            return Ok(Vec::new());
        }
        let mut files = self.rounds.files_with_phrase(&run)?;
        if files.len() > FILES_READ_MAX {
            return Ok(Vec::new());
        }
        files.retain(|file| !read.contains(file));
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let mut places = self.standing(typed, text, &files)?;
        places.retain(|place| place.standing.is_before_value || is_cut_off(&place.standing));
        Ok(places)
    }

    /// Whether a word is a part of the name of a unit, a file or a folder, or several are written as one there
    /// (`errorHandling`): what is called so says more than what holds it.
    fn names(&mut self, text: &str) -> Result<bool> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let terms: Vec<String> =
            [words.join("_"), words.concat()].iter().map(|name| self.tokenizer.normal(name).to_string()).collect();
        let counts = self.rounds.term_counts(&terms, 0)?;
        let of_names = |count: &HolderCount| {
            let is_name = |field: &Field| matches!(field, Field::Name | Field::Parent | Field::Stem | Field::Folder);
            Field::ALL.iter().zip(count.units.in_field).any(|(field, units)| is_name(field) && units > 0)
        };
        Ok(counts.iter().any(of_names))
    }

    /// Whether the query is a program's message that holds values in quotes: what stands around them, or a run of it,
    /// stands in code.
    pub(super) fn is_message(&mut self, query: &Query) -> Result<bool> {
        let phrases = &query.clues.phrases;
        let around =
            phrases.iter().fold(query.text.clone(), |text, phrase| text.replace(&format!("\"{phrase}\""), " "));
        let content = around.split_whitespace().filter(|word| !is_stop_word(&word.to_lowercase()));
        if content.count() < CONTENT_WORDS_MIN || is_question(&around) {
            return Ok(false);
        }
        let (typed, files) = self.holders(&query.text, WEIGHT_SHARE_OF_A_MESSAGE_MIN)?;
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let stands = |Placed { standing, seen, .. }: &Placed| {
            !seen.is_text && is_run_of(standing, true) && standing.share >= RUN_SHARE_OF_A_MESSAGE_MIN
        };
        Ok(self.standing(&typed, &query.text, &files)?.iter().any(stands))
    }

    /// The text made ready to be looked for, and the files that hold at least `share_min` of its weight, those with most
    /// first.
    fn holders<'t>(&mut self, text: &'t str, share_min: f32) -> Result<(Typed<'t>, Vec<FilePlace>)> {
        let pieces = text.split_whitespace().count();
        // A link beside its number (`[1.2.0](https://…)`) is no message around one.
        let beside_links = text.split_whitespace().filter(|piece| !piece.contains("://")).count();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        // A number or an address in a message is most often a value that the source does not have.
        let of_value = value_of(text);
        let is_value = |word: &str| {
            let place = word.as_ptr() as usize - text.as_ptr() as usize;
            place >= of_value
                || (beside_links >= PIECES_AROUND_A_NUMBER_MIN && is_number(word))
                || (pieces >= WORDS_MIN && is_in_address(text, place))
        };
        let mut of_words: Vec<Option<usize>> = Vec::new();
        let mut terms: Vec<String> = Vec::new();
        Typed::new(text, |word| {
            let term = term_of_word(word, self.tokenizer).filter(|term| !is_value(word) && !is_stop_word(term));
            of_words.push(term.map(|term| {
                terms.iter().position(|known| *known == term).unwrap_or_else(|| {
                    terms.push(term);
                    terms.len() - 1
                })
            }));
            0.0
        });
        let counts = self.rounds.term_counts(&terms, UNITS_OF_A_WORD_MAX)?;
        let weight = |count: &HolderCount| match count.files {
            _ if count.units.most() > UNITS_OF_A_WORD_MAX => 0.0,
            0 => 0.0,
            files => idf(self.statistics.units, files),
        };
        let weights: Vec<f32> = counts.iter().map(weight).collect();
        let of_words: Vec<f32> = of_words.into_iter().map(|term| term.map_or(0.0, |term| weights[term])).collect();
        let typed = Typed::weighed(text, &of_words);
        let terms: Vec<(String, f32)> = terms.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
        if terms.is_empty() {
            return Ok((typed, Vec::new()));
        }
        let all: f32 = terms.iter().map(|(_, weight)| weight).sum();
        let asked = WeightedFilesRequest { terms, least: share_min * all, files_max: FILES_READ_OF_A_PHRASE_MAX };
        Ok((typed, self.rounds.ask(&asked)?.into_iter().map(|(file, _)| file).collect()))
    }

    /// Reads `files` and gives, for each that agrees, where and how.
    fn standing(&self, typed: &Typed<'_>, text: &str, files: &[FilePlace]) -> Result<Vec<Placed>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let look = Look::Typed { text: text.to_string(), weights: typed.weights().to_vec() };
        let placed = |(file, seen): (FilePlace, Seen)| Some(Placed { file, standing: seen.standing?, seen });
        Ok(self.rounds.scan(files, look)?.into_iter().filter_map(placed).collect())
    }

    /// The files that may hold a phrase. Stop words have no positions, and documentation is indexed without its markup:
    /// where positions show nothing, those that hold all of its words.
    fn files_of_phrase(&mut self, phrase: &str) -> Result<Vec<FilePlace>> {
        let run = run_of(phrase, self.tokenizer);
        let in_a_row = if run.is_empty() { Vec::new() } else { self.rounds.files_with_phrase(&run)? };
        if in_a_row.is_empty() { self.files_with_all(phrase) } else { Ok(in_a_row) }
    }

    /// The files that hold all words of a text, stop words too.
    fn files_with_all(&mut self, text: &str) -> Result<Vec<FilePlace>> {
        let terms = self.tokenizer.terms(text);
        self.rounds.ask(&FilesWithAllRequest { terms })
    }

    /// What stands in quotes: nothing but the files that hold it all is an answer.
    pub(super) fn phrases(&mut self, phrases: &[String]) -> Result<()> {
        let mut only: Option<FxHashSet<FilePlace>> = None;
        let mut found = Vec::new();
        for phrase in phrases {
            let files = self.files_of_phrase(phrase)?;
            let files = self.readable(&files, FILES_READ_OF_A_PHRASE_MAX, BYTES_READ_OF_A_PHRASE_MAX)?;
            let mut places = self.standing(&Typed::new(phrase, |_| 1.0), phrase, &files)?;
            places.retain(|place| place.standing.agreement >= Agreement::Words);
            let holders: FxHashSet<FilePlace> = places.iter().map(|place| place.file).collect();
            only = Some(only.map_or_else(|| holders.clone(), |only| &only & &holders));
            found.extend(places);
        }
        let Some(only) = only else { return Ok(()) };
        // Who names a file asks for what stands in that one.
        let names_one = self.found.files.keys().any(|file| self.means(*file));
        let here = found.into_iter().filter(|place| only.contains(&place.file));
        let point = |Placed { file, standing, seen: Seen { line, .. } }: Placed| {
            let certainty = match standing.agreement {
                _ if names_one && !self.means(file) => Certainty::Run,
                Agreement::Exact => Certainty::Exact,
                _ => Certainty::Words,
            };
            Point { file, line, certainty, strength: 1.0 }
        };
        let points: Vec<Point> = here.map(point).collect();
        self.point(&points)?;
        self.found.only = Some(only);
        Ok(())
    }
}

/// Where a message's value begins behind its last colon; its end, where fewer than two words stand in front (a program's or
/// an error's name, with the message behind), or more behind than values have.
fn value_of(text: &str) -> usize {
    let is_value = |at: &usize| {
        let [front, behind] = [&text[..*at], &text[*at + 1..]];
        front.split_whitespace().nth(1).is_some() && behind.split_whitespace().nth(VALUE_WORDS_MAX).is_none()
    };
    text.rfind(": ").filter(is_value).unwrap_or(text.len())
}

/// Whether an address stands around a place of a text.
fn is_in_address(text: &str, at: usize) -> bool {
    let front = text[..at].rsplit(char::is_whitespace).next().unwrap_or_default();
    let behind = text[at..].split(char::is_whitespace).next().unwrap_or_default();
    front.contains("://") || behind.contains("://")
}

/// A text without the marks of quotation that stand around all of it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |mark: char| text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    inside('\'').or_else(|| inside('`')).filter(|inside| !inside.is_empty()).unwrap_or(text)
}

/// Whether so many words in a row are no chance; in a message a value behind them may make up for their number.
fn is_run_of(standing: &Standing, is_message: bool) -> bool {
    let is_front = is_message && standing.is_before_value && standing.words >= WORDS_BEFORE_A_VALUE_MIN;
    // A short literal on both sides of a value, of which all of the text was made.
    let is_whole = standing.made_from == Some(0);
    is_front || is_whole || is_cut_off(standing) || standing.words >= WORDS_MIN
}

/// Whether all of a text stands there that was cut off inside a word.
fn is_cut_off(standing: &Standing) -> bool {
    standing.agreement == Agreement::Run && !standing.is_alone
}

/// Files that may hold all of a text's words in a row, at most, for it to lead to them.
fn files_in_a_row_max(typed: &Typed<'_>, is_plain: bool) -> usize {
    match typed.len() {
        1 if typed.is_operator() => FILES_OF_AN_OPERATOR_MAX,
        1 if is_plain => FILES_OF_A_PLAIN_WORD_MAX,
        1 => FILES_IN_A_ROW_MAX,
        _ if is_plain => FILES_READ_MAX,
        _ => FILES_READ_OF_A_PHRASE_MAX,
    }
}

/// Keeps the places that so many plain words lead to. Tests and documents hold such words, too, where they tell of
/// something else.
fn keep_plain(places: &mut Vec<Placed>, words: usize) {
    let is_literal = |standing: &Standing| standing.is_literal && standing.agreement >= Agreement::Words;
    places.retain(|place| !place.seen.is_aside && (words == 1 || is_literal(&place.standing)));
}

/// How a text is looked for as typed. One word is, where it is written as no word of a sentence is, or hardly stands
/// anywhere; few words are, where what stands between them is not of prose, or where a literal holds them and nothing
/// else.
fn how_to_look(text: &str, typed: &Typed<'_>) -> Manner {
    let pieces = text.split_whitespace().count();
    let manner = |words_min, is_loose| Manner { words_min, is_loose, only_literals: false };
    match pieces {
        1 if typed.is_token() => manner(1, !typed.is_operator()),
        _ if typed.is_code() && typed.len() == 1 => manner(1, false),
        _ if typed.is_code() => manner(WORDS_OF_CODE_MIN, true),
        1 => manner(1, true),
        2.. if typed.is_marked() => manner(WORDS_OF_CODE_MIN, typed.len() >= WORDS_MIN),
        2.. if typed.len() < WORDS_MIN && has_values(text) => manner(WORDS_BEFORE_A_VALUE_MIN, false),
        2.. if typed.len() < WORDS_MIN => Manner { only_literals: true, ..manner(WORDS_OF_A_LITERAL_MIN, true) },
        _ => manner(WORDS_MIN, true),
    }
}
