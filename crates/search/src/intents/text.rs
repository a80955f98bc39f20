//! Text as typed: where a whole query occurs, the longest run of its words, or the source of the message that it is.

use colgrep_core::bm25::{Field, idf};
use colgrep_core::identifier_style::other_styles;
use colgrep_core::literal_match::{
    Agreement, LiteralMatch, PastedText, has_sure_prefix, has_values, is_question, messages_asked_about,
    messages_behind_prefix, messages_of, quoted_messages, split_advice,
};
use colgrep_core::query::intents::Certainty;
use colgrep_core::token::{is_stop_word, words};
use rustc_hash::FxHashSet;

use super::definitions::{DEFINITIONS_MAX, Defining};
use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point};
use super::text_evidence::{
    Explained, Placed, PlacedText, RUN_SHARE_MIN, RUN_SHARE_OF_MESSAGE_MIN, STRENGTH_BEHIND_USE, STRENGTH_OF_MENTION,
    TextEvidence, WORDS_MIN, WORDS_OF_CODE_MIN, is_cut_off,
};
use super::{Intent, Pointers, Resolved, ResolvedSoFar, Settled};
use crate::rounds::{HolderCount, LineOf, ScanTarget, ScannedLine, WeightedFilesRequest};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::term_of_word;

/// Maximum of units with a word for the word to lead to files.
const UNITS_OF_WORD_MAX: u64 = 20_000;
/// Maximum of files with all words of a text in a row for it to be a known place: a single word.
const FILES_OF_TOKEN_MAX: usize = 256;
/// The same for a plain word, in any of its forms: one in more files is common vocabulary.
const FILES_OF_PLAIN_WORD_MAX: usize = 8;
/// The same for an operator: `operator==` occurs in few of the files that contain `operator`.
const FILES_OF_OPERATOR_MAX: usize = 2_048;
/// The same for other texts, and for phrases: a quote asks for every place.
pub(super) const FILES_READ_FOR_ALL_MAX: usize = 512;
/// Maximum of bytes in these files.
pub(super) const BYTES_READ_FOR_ALL_MAX: u64 = 64 << 20;
/// Share of the text's weight that a file must contain to be read: a plain word may be a value too.
const WEIGHT_SHARE_MIN: f32 = 0.5;
/// The same for a message: its values occur nowhere, or elsewhere.
pub(super) const WEIGHT_SHARE_OF_MESSAGE_MIN: f32 = 0.4;
/// Minimum of words besides links in a text for a number in it to be a value.
const PIECES_AROUND_NUMBER_MIN: usize = 3;
/// Maximum of words in a value after a message's colon.
const VALUE_WORDS_MAX: usize = 2;
/// Minimum of words before a value that is a name, too, for a message.
const WORDS_BEFORE_VALUE_MIN: f32 = 3.0;
/// Maximum of files with a literal of few plain words for it to be a known place.
const FILES_OF_LITERAL_MAX: usize = 3;

pub(super) const TEXT: Intent = Intent {
    name: "text as typed",
    doc: "The definition or heading of that name; a heading of one or two words only if the case agrees. A name with \
          hyphens behind its module's. Otherwise the places with the whole text, or the longest run of its words; of a \
          name first where a key, a label, a member or a variable introduces it, of few words whole lines; a literal with \
          placeholders if the text has all of its words in order. If code lacks it: what follows the prefix of a log or a \
          runtime, the messages of a trace, or a message without the advice after it. A single word must look like a name; \
          a question's own words count only together.",
    examples: &[
        ("if port == 0 {", "if port == 0 {"),
        ("could not open socket 8080", "could not open socket 8080"),
        ("2026-01-02T10:11:12Z ERROR bat::app: Invalid syntax", "2026-01-02T10:11:12Z ERROR bat::app: Invalid syntax"),
        ("Content-Type", "Content-Type"),
        ("Get-DiskReport", "Get-DiskReport"),
        ("`Max-Age`.get", "`Max-Age`.get"),
        ("Getting started", "Getting started"),
        ("operator==", "operator=="),
        ("unknown command 'a', did you mean 'b'?", "unknown command 'a', did you mean 'b'?"),
    ],
    parse: |query| vec![query.text.clone()],
    resolve: |lookup, found, _| lookup.query_text(found),
    settles: &[Settled::Text, Settled::Message],
    yields_to: &[Settled::Name],
};

/// How to search for a text.
struct Manner {
    /// Words that it must have, and that must occur in a row.
    words_min: usize,
    /// Whether punctuation, spaces and case may differ between the words.
    is_loose: bool,
    /// Whether only literals of code that contain nothing else count: a few plain words occur together by chance.
    only_literals: bool,
}

impl IntentLookup<'_> {
    /// Where the query occurs, or the messages in it if code does not contain it.
    fn query_text(&mut self, found: &ResolvedSoFar) -> Result<Resolved> {
        let query = self.query;
        let mut named = self.written()?;
        if named.units.is_empty() && found.pointers.files.is_empty() {
            named = self.behind_module()?;
        }
        if named.is_certain_of(Certainty::Exact) {
            return Ok(Resolved { pointers: named, settled: vec![Settled::Text], ..Resolved::default() });
        }
        let is_known = found.pointers.is_sure();
        let mut best = self.with_fillers_or_without(found)?;
        if query.long.is_some() {
            best.pointers.units.retain(|_, pointer| pointer.certainty > Certainty::Run);
        } else if !is_known && best.explained < Explained::Whole {
            let mut messages = messages_of(&query.text);
            // A program's advice is a literal of its own, and follows many messages.
            if messages.is_empty() {
                messages.extend(split_advice(&query.text).map(|(message, _)| message));
            }
            if messages.is_empty() {
                best = self.or_behind_prefix(&query.text, best, found)?;
            } else if !best.pointers.is_sure() {
                let mut all = PlacedText { is_message: true, is_whole: best.is_whole, ..PlacedText::default() };
                for message in messages {
                    let placed = self.message(message, found)?;
                    all.pointers.merge(placed.pointers);
                    all.is_whole |= placed.is_whole;
                }
                if !all.pointers.units.is_empty() {
                    best = all;
                }
            }
            if best.explained < Explained::Whole
                && let Some(asked) = self.asked_about(found)?
            {
                best = asked;
            }
        }
        // A dotted name that occurs is most often a member.
        let is_unknown = !best.is_whole && !best.is_message && found.pointers.units.is_empty();
        let is_mention = best.is_mention && !query.text.contains('.');
        if (is_mention || (is_unknown && found.pointers.files.is_empty())) && query.long.is_none() {
            let mut introduced = self.in_other_styles(query.text.trim(), is_mention)?;
            if !introduced.units.is_empty() {
                best.pointers.units.values_mut().for_each(|mention| mention.strength *= STRENGTH_OF_MENTION);
                // Code that uses the name as typed comes first.
                let share = if best.used.units.is_empty() { 1.0 } else { STRENGTH_BEHIND_USE };
                introduced.units.values_mut().for_each(|pointer| pointer.strength *= share);
                best.pointers.merge(std::mem::take(&mut best.used));
                best.pointers.merge(introduced);
            }
        }
        let settled = [(best.is_whole, Settled::Text), (best.is_message, Settled::Message)];
        let settled = settled.into_iter().filter(|(is, _)| *is).map(|(_, settled)| settled).collect();
        let replaces = best.is_message;
        named.merge(best.pointers);
        Ok(Resolved { pointers: named, settled, replaces, ..Resolved::default() })
    }

    /// The message that the query quotes or asks about, if code prints it: people quote other things, too, and their own
    /// words follow "why do I get".
    fn asked_about(&mut self, found: &ResolvedSoFar) -> Result<Option<PlacedText>> {
        let query = self.query;
        let quoted = quoted_messages(&query.typed).into_iter().map(|message| (message, Explained::Nothing));
        let asked = messages_asked_about(&query.typed).into_iter().map(|message| (message, Explained::Whole));
        for (message, least) in quoted.chain(asked) {
            let placed = self.message(message, found)?;
            if !placed.printed_in.is_empty() && placed.explained >= least {
                return Ok(Some(PlacedText { is_message: true, ..placed }));
            }
        }
        Ok(None)
    }

    /// Where a message occurs, or what follows its prefix.
    pub(super) fn message(&mut self, text: &str, found: &ResolvedSoFar) -> Result<PlacedText> {
        let placed = self.text(text, found)?;
        self.or_behind_prefix(text, placed, found)
    }

    /// What defines or introduces a name in another style, or has it as a literal of code: an option or a key. Beside one
    /// that `occurs` as typed, a type is another thing.
    fn in_other_styles(&mut self, name: &str, occurs: bool) -> Result<Pointers> {
        let (mut pointers, mut places) = (Pointers::default(), Vec::new());
        // What a constant is called like in mixed case is another thing.
        let is_mixed = |style: &str| style.contains(char::is_lowercase) && style.contains(char::is_uppercase);
        let is_other = |style: &str| {
            is_mixed(style) && (occurs && style.starts_with(char::is_uppercase) || !name.contains(char::is_lowercase))
        };
        for style in other_styles(name).into_iter().filter(|style| !is_other(style)) {
            let Defining { units, is_aside, .. } = self.defining(&style, &[style.as_str()], None)?;
            // A unit called by a path is a section of data.
            if !is_aside && units.len() <= DEFINITIONS_MAX && !style.contains('.') {
                pointers.merge(self.point_at_lines(&units, &LineOf::Name(style.clone()), 1.0)?);
            }
            let files = self.files_with_run(&style)?;
            if files.len() > FILES_OF_TOKEN_MAX {
                continue;
            }
            let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
            let mut found = self.rounds.scan(&files, ScanTarget::typed(&style))?;
            // Code sets a member by a path.
            found.iter_mut().for_each(|(_, seen)| seen.introduces &= seen.is_text || !style.contains('.'));
            places.extend(found);
        }
        keep_own_names(&mut places, |(_, seen)| seen);
        let is_literal = |seen: &ScannedLine| seen.standing.is_some_and(|found| is_key_of_code(&found, seen));
        let (introducing, mut others): (Vec<_>, Vec<_>) = places.into_iter().partition(|(_, seen)| seen.introduces);
        others.retain(|(_, seen)| is_literal(seen));
        pointers.merge(self.point(&Point::at_all(&introducing, 1.0))?);
        let strength = if pointers.units.is_empty() { 1.0 } else { STRENGTH_OF_MENTION };
        pointers.merge(self.point(&Point::at_all(&others, strength))?);
        Ok(pointers)
    }

    /// Where the query occurs as typed, else without its fillers, which may be part of a message.
    fn with_fillers_or_without(&mut self, found: &ResolvedSoFar) -> Result<PlacedText> {
        let query = self.query;
        if query.typed != query.text {
            let typed = self.text(&query.typed, found)?;
            if typed.pointers.units.values().any(|pointer| pointer.certainty >= Certainty::Words) {
                return Ok(typed);
            }
            let bare = self.text(&query.text, found)?;
            return Ok(if typed.explained > bare.explained { typed } else { bare });
        }
        self.text(&query.text, found)
    }

    /// The text after the prefix of a log or a runtime, longest rest first, if that explains more than `best`, the
    /// result for the whole text. The names in a prefix occur together elsewhere, so a run of them is weaker than the
    /// message after it; a run left by cutting more off is weaker than the literal that made more of the text. A text
    /// in tests or documents was copied from there, unless it certainly has a prefix (`code: Errors.LIMIT`).
    fn or_behind_prefix(&mut self, text: &str, mut best: PlacedText, found: &ResolvedSoFar) -> Result<PlacedText> {
        if best.is_whole && best.explained == Explained::Aside && !has_sure_prefix(text, self.program) {
            return Ok(best);
        }
        for message in messages_behind_prefix(text, self.program) {
            if best.explained == Explained::Whole {
                break;
            }
            let placed = self.text(message, found)?;
            if placed.explained > best.explained
                || (placed.explained, best.explained) == (Explained::Run, Explained::Run)
            {
                best = PlacedText { is_message: true, is_whole: best.is_whole || placed.is_whole, ..placed };
            }
        }
        Ok(best)
    }

    /// Where a text occurs as typed, or a run of its words.
    pub(super) fn text(&mut self, text: &str, found: &ResolvedSoFar) -> Result<PlacedText> {
        let bare = PastedText::new(text, |_| 0.0);
        let manner = how_to_look(text, &bare);
        if manner.only_literals && text.trim() != unquoted(text) {
            return self.text(unquoted(text), found);
        }
        if bare.len() < WORDS_MIN && text.trim().contains(char::is_whitespace) {
            let is_unknown = found.pointers.units.is_empty() && found.pointers.files.is_empty();
            let may_be_part = manner.only_literals && is_unknown && !is_question(text);
            let lines = self.whole_lines(text, may_be_part)?;
            if lines.is_whole {
                return Ok(lines);
            }
        }
        if bare.len() < manner.words_min {
            return Ok(PlacedText::default());
        }
        // A question's own words occur together by chance, and most often in documents.
        let asks = is_question(text);
        let may_fill =
            !asks && !has_values(text) && weights_of_front(text).iter().sum::<f32>() >= WORDS_BEFORE_VALUE_MIN;
        let with_front = may_fill.then(|| self.files_with_front(text)).transpose()?;
        // Only a program says "unknown action zzqq".
        let ends_in_value = (manner.only_literals && self.ends_in_value(text)?)
            || with_front.as_ref().map_or(Ok(false), |files| self.fills_literal(text, files))?;
        let only_literals = manner.only_literals && !ends_in_value;
        let is_plain = only_literals || (bare.len() == 1 && !bare.is_token() && !bare.is_code());
        if is_plain && self.is_name_of_something(text)? {
            return Ok(PlacedText::default());
        }
        let is_message = has_values(text) || ends_in_value;
        let held_min = if is_message { WEIGHT_SHARE_OF_MESSAGE_MIN } else { WEIGHT_SHARE_MIN };
        let (mut typed, by_weight) = self.holders(text, held_min)?;
        if ends_in_value {
            let of_front = words(front_of(text)).count();
            typed = PastedText::weighed(text, &typed.weights()[..of_front.min(typed.len())]);
        }
        let mut files = self.files_with_run(text)?;
        if files.len() > files_in_a_row_max(&typed, is_plain) {
            return Ok(PlacedText::default());
        }
        let in_a_row = files.len();
        let may_be_run = (typed.len() >= WORDS_MIN || is_message) && !only_literals && !asks;
        if may_be_run {
            let known: FxHashSet<FilePlace> = files.iter().copied().collect();
            files.extend(by_weight.into_iter().filter(|file| !known.contains(file)));
        }
        let bytes_max = if in_a_row > FILES_READ_MAX { BYTES_READ_FOR_ALL_MAX } else { BYTES_READ_MAX };
        let files = self.readable(&files, in_a_row.max(FILES_READ_MAX), bytes_max)?;
        let mut places = self.placed(&typed, text, &files)?;
        keep_own_names(&mut places, |place| &mut place.seen);
        let is_open = |place: &Placed| place.standing.agreement == Agreement::Run || place.is_asserted();
        if may_be_run && places.iter().all(is_open) {
            let with_front = with_front.map_or_else(|| self.files_with_front(text), Ok)?;
            places.extend(self.before_last_piece(&typed, text, with_front, &files)?);
            if places.iter().all(|place| place.standing.made_from.is_none()) {
                places.extend(self.around_values(&typed, text, &files)?);
            }
        }
        if is_plain {
            // Plain words in tests and documents are about something else.
            // A test that asserts it shows that it is the beginning of a message.
            let asserts = places.iter().any(Placed::is_asserted);
            let is_literal = |found: &LiteralMatch| found.is_literal && found.agreement >= Agreement::Words;
            let is_message = |found: &LiteralMatch| asserts && found.agreement == Agreement::Exact;
            let is_meant = |found: &LiteralMatch| typed.len() == 1 || is_literal(found) || is_message(found);
            places.retain(|place| place.seen.is_own_name || (!place.seen.is_aside && is_meant(&place.standing)));
            // Two words in lower case name a thing more often than they are a message.
            let names_thing = typed.len() == 2 && !text.starts_with(char::is_uppercase);
            if only_literals && places.len() > if names_thing { 1 } else { FILES_OF_LITERAL_MAX } {
                return Ok(PlacedText::default());
            }
        }
        let is_asserted = !is_message && typed.len() >= WORDS_MIN && places.iter().any(Placed::is_asserted);
        if is_asserted {
            let known: FxHashSet<FilePlace> = files.iter().copied().collect();
            let (_, mut more) = self.holders(text, WEIGHT_SHARE_OF_MESSAGE_MIN)?;
            more.retain(|file| !known.contains(file));
            let more = self.readable(&more, FILES_READ_MAX, BYTES_READ_MAX)?;
            places.extend(self.placed(&typed, text, &more)?);
        }
        let is_message = is_message || is_asserted;
        let rules = TextEvidence {
            is_message,
            asks,
            is_loose: manner.is_loose,
            share_min: if is_message { RUN_SHARE_OF_MESSAGE_MIN } else { RUN_SHARE_MIN },
            // The words of a file's name may occur together elsewhere.
            names_file: found.pointers.means_a_file(),
            is_introduced: places.iter().any(|place| place.seen.introduces),
            is_quoted: text.starts_with(['"', '\'', '`']),
            prefixes: if is_message && !asks { typed.messages_behind_prefix(self.program) } else { Vec::new() },
            words_of_paths: self.words_of_paths_in(text, found),
            typed: &typed,
        };
        let is_printed_here = places.iter().any(|place| rules.is_made(place));
        let is_whole = places.iter().any(|place| place.standing.agreement == Agreement::Exact);
        let (mut explained, mut printed_in) = (Explained::Nothing, FxHashSet::default());
        let mut points = Vec::new();
        for place in &places {
            let Some(certainty) = rules.certainty(place, is_printed_here) else { continue };
            let strength = rules.strength(place, is_printed_here);
            printed_in.extend(rules.is_printed(place).then_some(place.file));
            let share = rules.is_made(place).then_some(place.standing.share);
            explained = explained.max(Explained::by(certainty, strength, place.seen.is_aside, share));
            points.push(Point { file: place.file, line: place.seen.line, certainty, strength });
        }
        let is_introduced = rules.is_introduced;
        let is_key = places.iter().any(|place| is_key_of_code(&place.standing, &place.seen));
        let is_mention = is_whole && !is_introduced && !is_key && typed.name() == Some(text.trim());
        let pointers = self.point(&points)?;
        let mut used = Pointers::default();
        if is_mention {
            let is_exact = |place: &&Placed| place.standing.agreement == Agreement::Exact && !place.seen.is_aside;
            let files: Vec<FilePlace> = places.iter().filter(is_exact).map(|place| place.file).collect();
            let using = self.rounds.scan(&files, ScanTarget::Uses(text.trim().to_string()))?;
            points.retain(|point| using.iter().any(|(file, _)| *file == point.file));
            used = self.point(&points)?;
        }
        Ok(PlacedText { pointers, is_whole, is_introduced, is_mention, explained, used, printed_in, is_message: false })
    }

    /// The lines of code that are the text: a few words occur together by chance, but hardly as a line of their own. If
    /// they may be a part of a line, too, the one in the only file that has them together, unless they name something.
    fn whole_lines(&mut self, text: &str, may_be_part: bool) -> Result<PlacedText> {
        let mut files = self.files_with_run(text)?;
        files.sort_unstable();
        let are_few = files.len() <= FILES_READ_MAX;
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let mut places = self.placed(&PastedText::new(text, |_| 1.0), text, &files)?;
        let is_only = may_be_part
            && are_few
            && places.iter().filter(|place| place.seen.holds_all()).count() == 1
            && !self.is_name_of_something(text)?
            && !self.are_of_names(text)?
            && !self.is_about_definition(text)?;
        places.retain(|Placed { standing, seen, .. }| {
            let is_whole = standing.agreement == Agreement::Exact && standing.is_alone;
            (standing.is_line && !seen.is_text) || (is_only && is_whole && !seen.is_aside)
        });
        let point = |place: &Placed| Point {
            file: place.file,
            line: place.seen.line,
            certainty: Certainty::Exact,
            strength: 1.0,
        };
        let points: Vec<Point> = places.iter().map(point).collect();
        let explained = if points.is_empty() { Explained::Nothing } else { Explained::Whole };
        Ok(PlacedText {
            pointers: self.point(&points)?,
            is_whole: !points.is_empty(),
            explained,
            ..PlacedText::default()
        })
    }

    /// The number of words in each path of the text, if files that the query names exist: a template of paths
    /// (`${name}/src/index.ts`) matches any path with that end, and is weaker evidence than the file.
    fn words_of_paths_in(&self, text: &str, found: &ResolvedSoFar) -> Vec<usize> {
        if found.pointers.files.is_empty() {
            return Vec::new();
        }
        let paths = self.query.intents.mentions.iter().chain(&self.query.intents.names);
        paths.filter(|path| text.contains(path.as_str())).map(|path| words(path).count()).collect()
    }

    /// Whether the last of three plain words occurs nowhere, and so is a value if a literal begins with the others.
    fn ends_in_value(&mut self, text: &str) -> Result<bool> {
        let Some((front, last)) = text.trim().rsplit_once(char::is_whitespace) else { return Ok(false) };
        if front.split_whitespace().count() < WORDS_OF_CODE_MIN {
            return Ok(false);
        }
        let Some(term) = term_of_word(last, self.tokenizer) else { return Ok(false) };
        Ok(self.rounds.term_counts(&[term], 0)?.iter().all(|count| count.units.most() == 0))
    }

    /// The files with the words of a text up to its last piece in a row; none if they are too many.
    fn files_with_front(&mut self, text: &str) -> Result<Vec<FilePlace>> {
        let run = colgrep_index::lexical::run_of(front_of(text), self.tokenizer);
        let files = if run.len() < WORDS_OF_CODE_MIN { Vec::new() } else { self.rounds.files_with_phrase(&run)? };
        Ok(if files.len() > FILES_READ_MAX { Vec::new() } else { files })
    }

    /// Whether a literal of code in these files is the text up to its last piece, and continues with a value: that piece
    /// is one, although it may be a name elsewhere. Fewer words before it, and those of a name, name a thing.
    fn fills_literal(&mut self, text: &str, with_front: &[FilePlace]) -> Result<bool> {
        if with_front.is_empty() || self.is_name_of_something(text)? {
            return Ok(false);
        }
        let weights = weights_of_front(text);
        let files = self.readable(with_front, FILES_READ_MAX, BYTES_READ_MAX)?;
        let fills = |Placed { standing, seen, .. }: &Placed| {
            let is_front = standing.is_before_value && standing.made_from == Some(0) && standing.is_same;
            is_front && standing.words == weights.len() && !seen.is_aside
        };
        Ok(self.placed(&PastedText::weighed(text, &weights), text, &files)?.iter().any(fills))
    }

    /// Where the text occurs up to its last piece, which is a value or cut, in files that are not yet `read`: others
    /// have more of its weight if that piece is common vocabulary.
    fn before_last_piece(
        &self,
        typed: &PastedText<'_>,
        text: &str,
        mut files: Vec<FilePlace>,
        read: &[FilePlace],
    ) -> Result<Vec<Placed>> {
        files.retain(|file| !read.contains(file));
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let mut places = self.placed(typed, text, &files)?;
        places.retain(|place| place.standing.is_before_value || is_cut_off(&place.standing));
        Ok(places)
    }

    /// The literals that made the text, in files with all of its words but those in quotes or brackets, or with a digit,
    /// that are not yet `read`: of common words, the value has most of the weight.
    fn around_values(&mut self, typed: &PastedText<'_>, text: &str, read: &[FilePlace]) -> Result<Vec<Placed>> {
        let Some(around) = without_values(text) else { return Ok(Vec::new()) };
        let mut files = self.files_with_words(&around)?;
        if files.len() > FILES_READ_FOR_ALL_MAX {
            return Ok(Vec::new());
        }
        files.retain(|file| !read.contains(file));
        let files = self.readable(&files, FILES_READ_FOR_ALL_MAX, BYTES_READ_FOR_ALL_MAX)?;
        let mut places = self.placed(typed, text, &files)?;
        places.retain(|place| place.standing.made_from.is_some());
        Ok(places)
    }

    /// Whether a word is part of the name of a unit, a file or a folder, or several words are joined in one
    /// (`errorHandling`): a name is stronger evidence than text.
    fn is_name_of_something(&mut self, text: &str) -> Result<bool> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let terms = [words.join("_"), words.concat()].map(|name| self.tokenizer.normal(&name).to_string());
        Ok(self.rounds.term_counts(&terms, 0)?.iter().any(is_in_names))
    }

    /// Whether every word is part of some name. A query for a topic uses the names of the code, a remembered comment also
    /// other words.
    fn are_of_names(&mut self, text: &str) -> Result<bool> {
        let terms: Vec<Option<String>> = words(text)
            .map(|word| term_of_word(&text[word], self.tokenizer).filter(|term| !is_stop_word(term)))
            .collect();
        let Some(terms) = terms.into_iter().collect::<Option<Vec<String>>>() else { return Ok(false) };
        Ok(self.rounds.term_counts(&terms, 0)?.iter().all(is_in_names))
    }

    /// Whether a word is the name of a definition: the text is about that.
    fn is_about_definition(&mut self, text: &str) -> Result<bool> {
        for word in words(text).map(|word| &text[word]).filter(|word| !is_stop_word(word)) {
            let Defining { units, is_aside, .. } = self.defining(word, &[word], None)?;
            if !units.is_empty() && !is_aside {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The text with the weights of its words, and the files with at least `share_min` of its weight, heaviest first.
    pub(super) fn holders<'t>(&mut self, text: &'t str, share_min: f32) -> Result<(PastedText<'t>, Vec<FilePlace>)> {
        let pieces = text.split_whitespace().count();
        // A link next to its number (`[1.2.0](https://…)`) is not a message around a value.
        let beside_links = text.split_whitespace().filter(|piece| !piece.contains("://")).count();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        // A number or an address in a message is most often a value that the source lacks.
        let value_start = value_start(text);
        let is_value = |word: &str| {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            at >= value_start
                || (beside_links >= PIECES_AROUND_NUMBER_MIN && is_number(word))
                || (pieces >= WORDS_MIN && is_in_address(text, at))
        };
        let mut of_words: Vec<Option<usize>> = Vec::new();
        let mut terms: Vec<String> = Vec::new();
        PastedText::new(text, |word| {
            let term = term_of_word(word, self.tokenizer).filter(|term| !is_value(word) && !is_stop_word(term));
            of_words.push(term.map(|term| {
                terms.iter().position(|known| *known == term).unwrap_or_else(|| {
                    terms.push(term);
                    terms.len() - 1
                })
            }));
            0.0
        });
        let counts = if terms.is_empty() { Vec::new() } else { self.rounds.term_counts(&terms, UNITS_OF_WORD_MAX)? };
        let weight = |count: &HolderCount| match count.files {
            files if files > 0 && count.units.most() <= UNITS_OF_WORD_MAX => idf(self.statistics.units, files),
            _ => 0.0,
        };
        let weights: Vec<f32> = counts.iter().map(weight).collect();
        let of_words: Vec<f32> = of_words.into_iter().map(|term| term.map_or(0.0, |term| weights[term])).collect();
        let typed = PastedText::weighed(text, &of_words);
        let terms: Vec<(String, f32)> = terms.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
        if terms.is_empty() {
            return Ok((typed, Vec::new()));
        }
        let all: f32 = terms.iter().map(|(_, weight)| weight).sum();
        let asked = WeightedFilesRequest { terms, least: share_min * all, files_max: FILES_READ_FOR_ALL_MAX };
        Ok((typed, self.rounds.ask(&asked)?.into_iter().map(|(file, _)| file).collect()))
    }

    /// Reads files and returns, for each match, where and how it agrees.
    pub(super) fn placed(&self, typed: &PastedText<'_>, text: &str, files: &[FilePlace]) -> Result<Vec<Placed>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let look = ScanTarget::Typed { text: text.to_string(), weights: typed.weights().to_vec() };
        let placed = |(file, seen): (FilePlace, ScannedLine)| Some(Placed { file, standing: seen.standing?, seen });
        Ok(self.rounds.scan(files, look)?.into_iter().filter_map(placed).collect())
    }
}

/// Whether a term is part of the name of a unit, a file or a folder.
fn is_in_names(count: &HolderCount) -> bool {
    let is_name = |field: &Field| matches!(field, Field::Name | Field::Parent | Field::Stem | Field::Folder);
    Field::ALL.iter().zip(count.units.in_field).any(|(field, units)| is_name(field) && units > 0)
}

/// Of the data that introduces the name of a package, keeps the manifest that says that it is its own, if one does:
/// another that depends on it only mentions it.
fn keep_own_names<P>(places: &mut [P], seen: impl Fn(&mut P) -> &mut ScannedLine) {
    if places.iter_mut().any(|place| seen(place).is_own_name) {
        for seen in places.iter_mut().map(seen) {
            seen.introduces &= seen.is_own_name || !seen.is_text;
        }
    }
}

/// Whether a place is a whole literal of code, as typed, and no test or the like.
fn is_key_of_code(found: &LiteralMatch, seen: &ScannedLine) -> bool {
    found.is_literal && found.is_same && found.agreement == Agreement::Exact && !seen.is_aside && !seen.is_text
}

/// Where a message's value begins after its last colon; its end if fewer than two words precede the colon (the name of
/// a program or an error, followed by the message) or more words follow than values have.
fn value_start(text: &str) -> usize {
    let is_value = |at: &usize| {
        let [front, behind] = [&text[..*at], &text[*at + 1..]];
        front.split_whitespace().nth(1).is_some() && behind.split_whitespace().nth(VALUE_WORDS_MAX).is_none()
    };
    text.rfind(": ").filter(is_value).unwrap_or(text.len())
}

/// The weights of a text's words up to its last piece: 0 for stop words, 1 for others.
fn weights_of_front(text: &str) -> Vec<f32> {
    let front = front_of(text);
    words(front).map(|word| if is_stop_word(&front[word].to_lowercase()) { 0.0 } else { 1.0 }).collect()
}

/// A text without its last piece.
fn front_of(text: &str) -> &str {
    text.trim().rsplit_once(char::is_whitespace).map_or("", |(front, _)| front)
}

/// A text without its pieces in quotes or brackets, or with a digit; `None` if it has no such piece, or if too few others
/// are left.
fn without_values(text: &str) -> Option<String> {
    let is_value = |piece: &str| {
        let piece = piece.trim_end_matches(['.', ',', ':', ';', '!', '?']);
        let is_inside = |(open, close): (char, char)| {
            piece.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|inside| !inside.is_empty())
        };
        let has_digit = || piece.contains(|c: char| c.is_ascii_digit());
        has_digit() || [('[', ']'), ('\'', '\''), ('"', '"'), ('`', '`')].into_iter().any(is_inside)
    };
    let around: Vec<&str> = text.split_whitespace().filter(|piece| !is_value(piece)).collect();
    let is_around = around.len() >= WORDS_OF_CODE_MIN && around.len() < text.split_whitespace().count();
    is_around.then(|| around.join(" "))
}

/// Whether a place of a text is in a URL.
fn is_in_address(text: &str, at: usize) -> bool {
    let front = text[..at].rsplit(char::is_whitespace).next().unwrap_or_default();
    let behind = text[at..].split(char::is_whitespace).next().unwrap_or_default();
    front.contains("://") || behind.contains("://")
}

/// A text without the single quotes or backticks around all of it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |mark: char| text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    inside('\'').or_else(|| inside('`')).filter(|inside| !inside.is_empty()).unwrap_or(text)
}

/// Maximum of files with all words of a text in a row for it to lead to them.
fn files_in_a_row_max(typed: &PastedText<'_>, is_plain: bool) -> usize {
    match typed.len() {
        1 if typed.is_operator() => FILES_OF_OPERATOR_MAX,
        1 if is_plain => FILES_OF_PLAIN_WORD_MAX,
        1 => FILES_OF_TOKEN_MAX,
        _ if is_plain => FILES_READ_MAX,
        _ => FILES_READ_FOR_ALL_MAX,
    }
}

/// A single word is searched if it does not look like a plain word, or is very rare; a few words if the marks between
/// them are not those of prose, or if a literal consists of them.
fn how_to_look(text: &str, typed: &PastedText<'_>) -> Manner {
    let manner = |words_min, is_loose| Manner { words_min, is_loose, only_literals: false };
    match text.split_whitespace().count() {
        1 if typed.is_token() => manner(1, !typed.is_operator()),
        _ if typed.is_code() && typed.len() == 1 => manner(1, false),
        _ if typed.is_code() => manner(WORDS_OF_CODE_MIN, true),
        1 => manner(1, true),
        2.. if typed.is_marked() => manner(WORDS_OF_CODE_MIN, typed.len() >= WORDS_MIN),
        2.. if typed.len() < WORDS_MIN && has_values(text) => manner(WORDS_OF_CODE_MIN, false),
        2.. if typed.len() < WORDS_MIN => Manner { only_literals: true, ..manner(WORDS_OF_CODE_MIN, true) },
        _ => manner(WORDS_MIN, true),
    }
}
