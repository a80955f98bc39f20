//! Respells words that the index lacks: `closesocket` as `close_socket`, "slow loris" as `slowloris`, a mistyped
//! `close_scoket` as the nearest name of a definition, or else the nearest word of a file; replaces a call that occurs
//! nowhere, `open(port)`, by what it calls, and a pattern, `\bopen\(`, by the names in it.

use std::ops::Range;

use colgrep_core::bm25::Field;
use colgrep_core::identifier_style::{self, is_name_in_query};
use colgrep_core::literal_match::{Agreement, has_values};
use colgrep_core::query::intents::{key_path, name_inside, names_around, names_called, names_in_piece};
use colgrep_core::query::{Query, SELVES, last_segment};
use colgrep_core::statistics::Statistics;
use colgrep_core::token::{Tokenizer, is_stop_word, is_word_char, parts, words};

use super::absent::{Respelled, without_absent};
use super::intents::best_of;
use super::locate::{Fit, MODULE_END};
use super::rounds::{
    Coordinator, DefinitionsRequest, FilesWithAllRequest, HolderCount, LocateRequest, NearNames, NearNamesRequest,
    PhrasesRequest, ScanTarget, ScannedLine, SizesRequest,
};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::{Run, run_of};

/// Lengths of words that are split: parts of shorter ones are too short, longer ones have too many parts.
const LETTERS: Range<usize> = 5..33;
/// Minimum of letters in each part between spaces: shorter ones are adjacent by chance.
const LETTERS_OF_A_PART_MIN: usize = 3;
/// Minimum of letters in a plain word that is compared with names.
const LETTERS_OF_WORD_MIN: usize = 7;
/// Maximum of words in a query whose unknown ones are all respelled. Longer queries say enough without them, and the
/// model reads each word as typed; only names in them are compared with those of definitions.
const WORDS_MAX: usize = 3;
/// Maximum of words in a query with such names.
const WORDS_AROUND_NAMES_MAX: usize = 32;
/// Maximum of files that are read to see whether a call occurs. If more files have its words in a row, it does.
const FILES_READ_MAX: usize = 512;

/// A respelling of words in a query.
struct Respelling {
    /// The respelled part of the query's text.
    place: Range<usize>,
    text: String,
}

/// The query as the index spells its words, as what it calls, or without names of missing files. `None` if all of it
/// occurs, or no respelling does.
pub(super) fn respelled(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelled>> {
    let text = query.text.as_str();
    if query.long.is_some() || !query.intents.locations.is_empty() {
        return Ok(None);
    }
    let read_whole =
        |text: String| Ok(Some(Respelled { words: vec![(query.text.trim().to_string(), text.clone())], text }));
    if !query.intents.phrases.is_empty() {
        return names_known(rounds, query, tokenizer)?.map_or(Ok(None), read_whole);
    }
    if let Some(read) = without_absent(rounds, query, statistics, tokenizer)? {
        return Ok(Some(read));
    }
    if reads_key(rounds, text, tokenizer)? {
        return Ok(None);
    }
    let called = match called(rounds, query, statistics, tokenizer)? {
        Some(name) => Some(name.to_string()),
        None => around(rounds, query, tokenizer)?,
    };
    if called.is_none()
        && let Some(text) = names_known(rounds, query, tokenizer)?
    {
        return read_whole(text);
    }
    if called.is_none()
        && let Some(name) = query.written.as_deref()
        && let Some(text) = hyphenated(rounds, name, query, statistics, tokenizer)?
    {
        return Ok(Some(Respelled { words: vec![(name.to_string(), text.clone())], text }));
    }
    let called = called.as_deref();
    let text = called.unwrap_or(text);
    let words: Vec<Range<usize>> = words(text).take(WORDS_AROUND_NAMES_MAX + 1).collect();
    let is_short = words.len() <= WORDS_MAX || called.is_some();
    // The names in a message are another program's.
    if words.len() > WORDS_AROUND_NAMES_MAX || (!is_short && (has_values(text) || text.trim().contains('\n'))) {
        return Ok(None);
    }
    let is_path = query.is_symbol() && words.len() > 1;
    let is_alone = words.len() == 1;
    let is_name = |word: &str| is_path || is_name_in_query(word) || is_alone;
    let is_read = |word: &str| is_written(word) && (is_short || is_name_in_query(word));
    let unknown = words.iter().enumerate().filter(|(_, word)| is_read(&text[(*word).clone()]));
    let unknown = unknown.filter(|(_, word)| stands_nowhere(&text[(*word).clone()], query, statistics, tokenizer));
    let unknown: Vec<usize> = unknown.map(|(at, _)| at).collect();
    let mut found: Vec<Respelling> = Vec::new();
    for at in unknown {
        if found.last().is_some_and(|known| known.place.end >= words[at].end) {
            continue;
        }
        let (place, word) = (words[at].clone(), &text[words[at].clone()]);
        let mut spelling = if is_short { joined(rounds, text, &words, at, tokenizer)? } else { None };
        if spelling.is_none() && is_short && is_plain(word) {
            spelling = apart(rounds, text, place.clone(), words.len() == 1, tokenizer)?;
        }
        if spelling.is_none() && !is_plain(word) {
            spelling = otherwise(rounds, text, place.clone(), tokenizer)?;
        }
        if spelling.is_none() && is_name(word) {
            spelling = near(rounds, word)?.map(|text| Respelling { place, text });
        }
        // Spellings of neighbouring words may overlap; the first one wins.
        found.extend(spelling.filter(|new| found.last().is_none_or(|known| known.place.end <= new.place.start)));
    }
    let is_here = |name: &&str| !stands_nowhere(last_segment(name), query, statistics, tokenizer);
    if found.is_empty() && called.filter(is_here).is_none() {
        return Ok(None);
    }
    let mut read = text.to_string();
    for spelling in found.iter().rev() {
        read.replace_range(spelling.place.clone(), &spelling.text);
    }
    let words = match called {
        Some(_) => vec![(query.text.trim().to_string(), read.clone())],
        None => found.into_iter().map(|spelling| (text[spelling.place].to_string(), spelling.text)).collect(),
    };
    Ok(Some(Respelled { text: read, words }))
}

/// Whether a text reads a path of keys, and one file has all of these.
fn reads_key(rounds: &Coordinator<'_>, text: &str, tokenizer: &mut Tokenizer) -> Result<bool> {
    let path = key_path(text).filter(|path| *path != text.trim() && path.contains(['.', ':']));
    let Some(path) = path else { return Ok(false) };
    Ok(!rounds.ask(&FilesWithAllRequest { terms: tokenizer.part_terms(path) })?.is_empty())
}

/// The name that the query calls, if it is a call with arguments that occurs in none of the searched files.
fn called<'q>(
    rounds: &Coordinator<'_>,
    query: &'q Query,
    statistics: &Statistics,
    tokenizer: &mut Tokenizer,
) -> Result<Option<&'q str>> {
    let text = query.text.trim();
    let names = names_called(text);
    if names.is_empty() || query.is_symbol() {
        return Ok(None);
    }
    // `getenv('NAME')` searches for the variable.
    if name_inside(text).is_some_and(|inside| !stands_nowhere(inside, query, statistics, tokenizer)) {
        return Ok(None);
    }
    if stands_somewhere(rounds, text, Agreement::Words, tokenizer)? {
        return Ok(None);
    }
    // The rarest known name of a chain is the most specific; an unknown one may have another spelling.
    let mut rarest: Option<(&str, u64)> = None;
    for name in names {
        let term = tokenizer.normal(last_segment(name)).to_string();
        let units: u64 = rounds.term_counts(&[term], 0)?.iter().map(|count| count.units.most()).sum();
        let units = if units == 0 { u64::MAX } else { units };
        if rarest.is_none_or(|(_, known)| units < known) && is_owner_here(name, query, statistics, tokenizer) {
            rarest = Some((name, units));
        }
    }
    Ok(rarest.map(|(name, _)| name))
}

/// The names in a query with code around them that occurs in none of the searched files, if the index has one of them.
fn around(rounds: &Coordinator<'_>, query: &Query, tokenizer: &mut Tokenizer) -> Result<Option<String>> {
    let text = query.text.trim();
    let Some(names) = names_around(text) else { return Ok(None) };
    if stands_somewhere(rounds, text, Agreement::Exact, tokenizer)? {
        return Ok(None);
    }
    let terms = tokenizer.terms(&names);
    let is_here = rounds.term_counts(&terms, 0)?.iter().any(|count| count.units.most() > 0);
    Ok(is_here.then_some(names))
}

/// What a query of tokens that occurs in none of the searched files names, if the index has it: the name before a value
/// (`level=7731`), the path of an address, a dotted name by its words. `None` if a name is most likely a wrong one.
fn names_known(rounds: &Coordinator<'_>, query: &Query, tokenizer: &mut Tokenizer) -> Result<Option<String>> {
    let text = query.text.trim();
    let named = names_in_piece(text);
    // Other intents resolve names, and several tokens are looked for one by one.
    let are_pieces = !named.is_empty() && named.iter().all(|name| is_piece_of_name(name));
    let value = query.intents.phrases.first().filter(|phrase| text.ends_with(&format!("\"{phrase}\"")));
    let is_asked = match value {
        Some(_) => query.intents.phrases.len() == 1 && named.len() == 2,
        None => query.intents.is_tokens && query.intents.phrases.is_empty() && !query.is_symbol(),
    };
    if !is_asked || !are_pieces || stands_somewhere(rounds, text, Agreement::Words, tokenizer)? {
        return Ok(None);
    }
    // What is defined here says more than the name of an error.
    if let Some(subject) = named.get(1)
        && is_owned(rounds, subject)?
    {
        return Ok(Some((*subject).to_string()));
    }
    for name in named {
        if name != text && stands_somewhere(rounds, name, Agreement::Words, tokenizer)? {
            return Ok(Some(name.to_string()));
        }
        let all: Vec<&str> =
            name.split(|c: char| !is_word_char(c) || c == '$').filter(|piece| !piece.is_empty()).collect();
        let is_number = |piece: &str| piece.starts_with(|c: char| c.is_ascii_digit());
        let pieces: Vec<&str> = all.iter().copied().filter(|piece| !is_number(piece)).collect();
        // Other intents read what is no more than a name, also `SHA-256`.
        let is_name = pieces.len() == all.len() || name.chars().all(|c| is_word_char(c) || c == '-');
        if name == text && is_name && !text.contains('$') {
            return Ok(None);
        }
        let terms: Vec<String> = pieces.iter().map(|piece| tokenizer.normal(piece).to_string()).collect();
        let counts = rounds.term_counts(&terms, 0)?;
        let is_known = |at: &usize| counts.get(*at).is_some_and(|count| count.units.most() > 0);
        let known: Vec<&str> = (0..pieces.len()).filter(is_known).map(|at| pieces[at]).collect();
        // `console.log` means no other `log`, and `Session.gte` no other member.
        let is_last = pieces.len().checked_sub(1).is_some_and(|last| is_known(&last));
        let are_most = known.len() == pieces.len() || (known.len() > 1 && 2 * known.len() >= pieces.len());
        let read = known.join(" ");
        if is_last && are_most && read != text && read.contains(char::is_alphabetic) {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// Whether a qualified name is defined in what qualifies it.
fn is_owned(rounds: &Coordinator<'_>, name: &str) -> Result<bool> {
    let last = last_segment(name);
    let is_name = |c: char| is_word_char(c) || matches!(c, '.' | ':' | '\\');
    if !name.chars().all(is_name) {
        return Ok(false);
    }
    let owner = name.strip_suffix(last).map(last_segment).filter(|owner| !owner.is_empty()).map(String::from);
    let asked = DefinitionsRequest { name: last.to_string(), owner, ..DefinitionsRequest::default() };
    Ok(asked.owner.is_some() && rounds.ask(&asked)?.iter().any(|found| found.is_named && found.is_owned))
}

/// Whether a text is one piece that may be a name or a path.
fn is_piece_of_name(text: &str) -> bool {
    !text.contains(char::is_whitespace) && text.contains(char::is_alphabetic)
}

/// Whether a text occurs in a searched file, at least in `least` agreement, or too many files have its words for it not
/// to.
fn stands_somewhere(rounds: &Coordinator<'_>, text: &str, least: Agreement, tokenizer: &mut Tokenizer) -> Result<bool> {
    let run = run_of(text, tokenizer);
    let files = match run.is_empty() {
        true => rounds.ask(&FilesWithAllRequest { terms: tokenizer.terms(text) })?,
        false => rounds.files_with_phrase(&run)?,
    };
    let sizes = rounds.ask(&SizesRequest { files: files.clone() })?;
    let files: Vec<FilePlace> = files.into_iter().zip(sizes).filter_map(|(file, size)| size.map(|_| file)).collect();
    let stands = |seen: &ScannedLine| seen.standing.is_some_and(|standing| standing.agreement >= least);
    Ok(files.len() > FILES_READ_MAX
        || rounds.scan(&files, ScanTarget::typed(text))?.iter().any(|(_, seen)| stands(seen)))
}

/// Whether the qualifier of a called name occurs, too: `console.log` means no other `log`.
fn is_owner_here(name: &str, query: &Query, statistics: &Statistics, tokenizer: &mut Tokenizer) -> bool {
    let path: Vec<&str> = name.split(['.', ':', '\\']).filter(|part| !part.is_empty()).collect();
    match path.as_slice() {
        [.., owner, _] => SELVES.contains(owner) || !stands_nowhere(owner, query, statistics, tokenizer),
        _ => true,
    }
}

/// Whether a word consists of letters, in one part or several; of a name of several parts some may be numbers.
fn is_written(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let of_letters = || parts(word).filter(|part| word[part.clone()].bytes().all(is_letter)).count();
    let is_name = || word.starts_with(|c: char| !c.is_ascii_digit()) && of_letters() > 1;
    let is_of_name = |byte: u8| is_letter(byte) || byte.is_ascii_digit();
    let is_one = word.bytes().all(is_letter) || (word.bytes().all(is_of_name) && is_name());
    is_one && LETTERS.contains(&word.trim_matches('_').len())
}

fn is_plain(word: &str) -> bool {
    !word.contains('_') && parts(word).nth(1).is_none()
}

fn stands_nowhere(word: &str, query: &Query, statistics: &Statistics, tokenizer: &mut Tokenizer) -> bool {
    if is_stop_word(&word.to_lowercase()) {
        return false;
    }
    let term = tokenizer.normal(word.trim_matches('_'));
    let at = query.terms.iter().position(|known| known.text == term);
    at.and_then(|at| statistics.terms.get(at)).is_some_and(|count| count.most() == 0)
}

/// The word joined with its neighbour: with the next one, else with the one before.
fn joined(
    rounds: &Coordinator<'_>,
    text: &str,
    words: &[Range<usize>],
    at: usize,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelling>> {
    let pair = |first: usize| Some((words.get(first)?.clone(), words.get(first + 1)?.clone()));
    let pairs = [pair(at), at.checked_sub(1).and_then(pair)].into_iter().flatten();
    let beside = pairs.filter(|(a, b)| matches!(&text[a.end..b.start], " " | "-"));
    let spellings: Vec<Respelling> = beside
        .map(|(a, b)| Respelling { place: a.start..b.end, text: format!("{}{}", &text[a], &text[b]).to_lowercase() })
        .filter(|spelling| spelling.text.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .collect();
    let terms: Vec<String> = spellings.iter().map(|spelling| tokenizer.normal(&spelling.text).to_string()).collect();
    known(rounds, spellings, &terms)
}

/// The word with an underscore between its parts, or two if it is the whole query; else as the name of a code file, or
/// as two adjacent words.
fn apart(
    rounds: &Coordinator<'_>,
    text: &str,
    place: Range<usize>,
    is_alone: bool,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelling>> {
    let word = text[place.clone()].to_lowercase();
    let mut terms: Vec<String> = (1..word.len()).map(|at| format!("{}_{}", &word[..at], &word[at..])).collect();
    if is_alone {
        let twice = |(a, b): (usize, usize)| format!("{}_{}_{}", &word[..a], &word[a..b], &word[b..]);
        let cuts = (1..word.len()).flat_map(|a| (a + 1..word.len()).map(move |b| (a, b)));
        terms.extend(cuts.map(twice));
    }
    let spelling = |text: &String| Respelling { place: place.clone(), text: text.clone() };
    if let Some(found) = known(rounds, terms.iter().map(spelling).collect(), &terms)? {
        return Ok(Some(found));
    }
    if let Some(stem) = stem(rounds, &word, is_alone, tokenizer)? {
        return Ok(Some(Respelling { place, text: stem }));
    }
    let cuts = LETTERS_OF_A_PART_MIN..(word.len() + 1).saturating_sub(LETTERS_OF_A_PART_MIN);
    let pairs: Vec<String> = cuts.map(|at| format!("{} {}", &word[..at], &word[at..])).collect();
    let runs: Vec<Run> = pairs.iter().map(|pair| run_of(pair, tokenizer)).collect();
    // The index has no positions of stop words.
    let (pairs, runs): (Vec<String>, Vec<Run>) = pairs.into_iter().zip(runs).filter(|(_, run)| run.len() == 2).unzip();
    let files = rounds.ask(&PhrasesRequest { phrases: runs })?;
    let most = files.iter().zip(pairs).filter(|(files, _)| !files.is_empty()).max_by_key(|(files, _)| files.len());
    Ok(most.map(|(_, text)| Respelling { place, text }))
}

/// The word as the stem of a code file, with a hyphen or, if it is the whole query, a dot between its parts:
/// `color-wheel` for `colorwheel`, if there is a `color-wheel.tsx`.
fn stem(rounds: &Coordinator<'_>, word: &str, is_alone: bool, tokenizer: &mut Tokenizer) -> Result<Option<String>> {
    let cuts: Vec<(&str, &str)> = (1..word.len()).map(|at| word.split_at(at)).collect();
    let both = cuts.iter().flat_map(|(a, b)| [*a, *b]);
    let terms: Vec<String> = both.map(|part| tokenizer.normal(part).to_string()).collect();
    let counts = rounds.term_counts(&terms, 0)?;
    let is_in_stems = |count: &HolderCount| {
        Field::ALL.iter().zip(count.units.in_field).any(|(field, units)| *field == Field::Stem && units > 0)
    };
    let known = cuts.iter().zip(counts.chunks(2)).filter(|(_, both)| both.iter().all(is_in_stems));
    let marks: &[char] = if is_alone { &['-', '.'] } else { &['-'] };
    let stems: Vec<String> =
        known.flat_map(|((a, b), _)| marks.iter().map(move |mark| format!("{a}{mark}{b}"))).collect();
    if stems.is_empty() {
        return Ok(None);
    }
    let paths = stems.iter().map(|stem| format!("{stem}{MODULE_END}")).collect();
    let asked = LocateRequest { paths, ..LocateRequest::default() };
    let found = rounds.ask(&asked)?;
    let is_called = |at: usize| {
        let meant = best_of(&found, at, &asked.paths[at]);
        meant.is_some_and(|(fit, files)| fit == Fit::Whole && files.iter().any(|file| file.is_allowed))
    };
    Ok((0..stems.len()).find(|at| is_called(*at)).map(|at| stems[at].clone()))
}

/// A word of several parts in the other naming style: `match_request` as `MatchRequest`, and `closeSocket` as
/// `close_socket`; else in the singular: `open_ports` as `open_port`.
fn otherwise(
    rounds: &Coordinator<'_>,
    text: &str,
    place: Range<usize>,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelling>> {
    let word = &text[place.clone()];
    let mut lower: Vec<String> = Vec::new();
    for part in parts(word).map(|part| word[part].to_lowercase()) {
        match lower.last_mut() {
            // `uint32` is one word in any name.
            Some(last) if part.starts_with(|c: char| c.is_ascii_digit()) => last.push_str(&part),
            _ => lower.push(part),
        }
    }
    if let Some(found) = composed(rounds, &lower, &place, tokenizer)? {
        return Ok(Some(found));
    }
    let one = lower.last().and_then(|last| last.strip_suffix('s')).filter(|one| one.len() >= LETTERS_OF_A_PART_MIN);
    let Some(one) = one.map(String::from) else { return Ok(None) };
    lower.pop();
    lower.push(one);
    composed(rounds, &lower, &place, tokenizer)
}

/// Parts of a name as in an index: joined by underscores, or as one word.
fn composed(
    rounds: &Coordinator<'_>,
    lower: &[String],
    place: &Range<usize>,
    tokenizer: &mut Tokenizer,
) -> Result<Option<Respelling>> {
    let (snake, joined) = (lower.join("_"), lower.concat());
    let terms = [snake.clone(), tokenizer.normal(&joined).to_string()];
    let spellings = [snake, joined.clone()].map(|text| Respelling { place: place.clone(), text });
    let Some(found) = known(rounds, spellings.into(), &terms)? else { return Ok(None) };
    // A definition is found by its name as written.
    let text = if found.text == joined { humped(rounds, lower, tokenizer)? } else { found.text };
    Ok(Some(Respelling { place: place.clone(), text }))
}

/// The name in Pascal case, camel case or as one word, whichever most definitions use; without any as files write it, or
/// if only its case differs in camel case, which keeps the parts apart: longer names may contain them.
fn humped(rounds: &Coordinator<'_>, parts: &[String], tokenizer: &mut Tokenizer) -> Result<String> {
    let [pascal, camel] = identifier_style::humped(parts);
    let mut best = (0, camel.clone());
    for name in [pascal, camel, parts.concat()] {
        let asked = DefinitionsRequest { name: name.clone(), ..DefinitionsRequest::default() };
        let count = rounds.ask(&asked)?.iter().filter(|found| found.is_named).count();
        if count > best.0 {
            best = (count, name);
        }
    }
    let (count, name) = best;
    if count > 0 {
        return Ok(name);
    }
    // Words with the same stem are one term: `closeSessions` may occur as `closeSession` alone.
    let written = nearest(rounds, &name, true)?;
    let term = tokenizer.normal(&name).to_string();
    let other = written.most_common().filter(|other| written.changes > 0 && tokenizer.normal(other) == term);
    Ok(other.map_or(name, String::from))
}

/// The names nearest to this one: of definitions, or among the words of files.
fn nearest(rounds: &Coordinator<'_>, name: &str, among_words: bool) -> Result<NearNames> {
    let asked = NearNamesRequest { names: vec![name.to_string()], among_words };
    Ok(rounds.ask(&asked)?.pop().unwrap_or_default())
}

/// The name of a definition that is nearly this one, or without any, for a name of several parts, such a word of a file;
/// unless this one is a part of longer names.
fn near(rounds: &Coordinator<'_>, word: &str) -> Result<Option<String>> {
    let mut found = nearest(rounds, word, false)?;
    let has_hyphen = word.contains('-');
    if (found.names.is_empty() || has_hyphen) && !is_plain(word) {
        let written = nearest(rounds, word, true)?;
        // Words with hyphens are seldom definitions.
        if found.names.is_empty() || (!written.names.is_empty() && written.changes <= found.changes) {
            found = written;
        }
    }
    let Some(name) = found.most_common() else { return Ok(None) };
    // A plain word is like many others.
    let is_word = word.chars().all(char::is_lowercase);
    let is_inflected = || ["ed", "er", "ing", "s"].iter().any(|ending| word.ends_with(ending));
    if is_word && (found.changes > 1 || word.chars().count() < LETTERS_OF_WORD_MIN || is_inflected()) {
        return Ok(None);
    }
    let is_part = found.changes > 0 && stands_inside(rounds, word)?;
    Ok((!is_part).then(|| name.to_string()))
}

/// The name that is nearly this one with hyphens, if the index lacks a word of it, also joined with its neighbour.
fn hyphenated(
    rounds: &Coordinator<'_>,
    name: &str,
    query: &Query,
    statistics: &Statistics,
    tokenizer: &mut Tokenizer,
) -> Result<Option<String>> {
    let words: Vec<Range<usize>> = words(name).collect();
    let mut is_unknown = |word: &Range<usize>| {
        let word = &name[word.clone()];
        is_written(word) && stands_nowhere(word, query, statistics, tokenizer)
    };
    let unknown = words.iter().position(&mut is_unknown).filter(|_| name.contains('-'));
    match unknown {
        Some(at) if joined(rounds, name, &words, at, tokenizer)?.is_none() => near(rounds, name),
        _ => Ok(None),
    }
}

/// Whether a searched file contains a word, in any spelling, which the index lacks as a term.
fn stands_inside(rounds: &Coordinator<'_>, word: &str) -> Result<bool> {
    let files: Vec<FilePlace> = (0..rounds.places()).map(FilePlace).collect();
    let sizes = rounds.ask(&SizesRequest { files: files.clone() })?;
    let files: Vec<FilePlace> = files.into_iter().zip(sizes).filter_map(|(file, size)| size.map(|_| file)).collect();
    Ok(!rounds.scan(&files, ScanTarget::Spelled(word.to_string()))?.is_empty())
}

/// The spelling whose term occurs in most units; `None` if no term occurs.
fn known(rounds: &Coordinator<'_>, spellings: Vec<Respelling>, terms: &[String]) -> Result<Option<Respelling>> {
    if terms.is_empty() {
        return Ok(None);
    }
    let counts = rounds.term_counts(terms, 0)?;
    let units = counts.iter().map(|count| count.units.most());
    let known = spellings.into_iter().zip(units).filter(|(_, units)| *units > 0);
    Ok(known.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(spelling, _)| spelling))
}
