//! The remarks after an answer: the number of files left out as too weak, of files that contain all words, and
//! suggestions for rewording the question.

use std::collections::{BTreeMap, HashSet};

use colgrep_core::identifier_style::{is_name_in_query, is_name_in_question};
use colgrep_core::query::intents::{Intents, lookup_form};
use colgrep_core::query::languages::Translation;
use colgrep_core::query::{Query, SELVES, last_segment};
use colgrep_core::spelling::Spelling;
use colgrep_core::statistics::TermCount;
use colgrep_core::token::{Tokenizer, is_stop_word, parts, words};
use colgrep_index::ids::FileId;
use colgrep_index::source::read_text;
use colgrep_index::store::Mention;
use colgrep_syntax::read::looks_secret;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::notice::{NotRanked, Notice};
use crate::request::filter::{allows_path, is_allowed, not_ranked, tracked_left_out, unreadable};
use crate::request::rules::is_below;
use crate::session::project_searcher::ProjectSearcher;

/// Longest question, in words, for which files with all its words are counted: no file is expected to contain all words
/// of a long one.
const WORDS_COUNTED_MAX: usize = 4;
/// A word in more units than this is not looked up; it counts as one that occurs everywhere.
const UNITS_OF_A_WORD_MAX: u64 = 200_000;
/// Words of a question that are looked up, from the first on: each costs a look at its units. A pasted text has thousands.
const WORDS_LOOKED_UP_MAX: usize = 24;
/// Maximum number of unknown words reported.
const UNKNOWN_MAX: usize = 4;
/// Maximum number of unknown words, or parts of names, for which similar words are suggested. Each is compared with the
/// index's own words, about 10 ms in a large project.
const PARTS_MAX: usize = 4;
/// Maximum number of words suggested for each.
const ALIKE_MAX: usize = 2;
/// Shortest unknown word, in letters, for which words of similar spelling are looked for: shorter ones resemble too
/// many.
const LETTERS_OF_ALIKE_MIN: usize = 4;
/// Shortest one, in letters, in which two changes are still the same word mistyped; in shorter ones, one is.
const LETTERS_OF_TWO_CHANGES: usize = 8;
/// Shortest suggestion, in letters.
const LETTERS_MIN: usize = 3;

/// The remarks after the last result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// The question, as typed.
    pub query: String,
    /// Whether it consists of exact tokens alone (names, codes, numbers), which occur exactly as written or nowhere.
    pub is_tokens: bool,
    /// Whether it asks for all places of a name.
    pub is_everywhere: bool,
    /// [`SearchRequest::has_end`](crate::request::SearchRequest::has_end): whether weak results are marked as weak.
    pub is_ruled: bool,
    /// Number of results.
    pub shown: usize,
    /// Whether these are as many as were asked for.
    pub is_full: bool,
    /// Strength of the strongest result; 0 without any.
    pub strongest: f32,
    /// Number of judged files that were left out as too weak.
    pub weak: usize,
    /// The strength below which they are.
    pub least: f32,
    /// Number of files whose text contains all words of the question; 0 where they were not counted.
    pub holders: usize,
    /// Patterns that find these files where all of them match: the words of the question, the rarest first, each cut to
    /// the part that all its forms share.
    pub patterns: Vec<String>,
    /// These words as typed, in the same order.
    pub words: Vec<String>,
    /// Whether of one of them other forms were counted too (`token` for `tokenizer`).
    pub are_forms: bool,
    /// The first few words of the question that occur nowhere in the project; where a result is likely right, only the
    /// names that are asked for.
    pub unknown: Vec<String>,
    /// Words of the question that only text contains which is not indexed: lock files, minified and large files, outputs
    /// of notebooks.
    pub unindexed: Vec<String>,
    /// Words of the question that only files contain which look like secrets; for the owner alone.
    pub secret: Vec<String>,
    /// Words of the question that files contain which git tracks and an ignore rule or their name leaves out of the index,
    /// each with these files; for the owner alone.
    pub left_out: Vec<(String, Vec<NotRanked>)>,
    /// Words of the question that such files contain outside of the scope, or what looks like a secret there; for the owner
    /// alone.
    pub closed_outside: Vec<String>,
    /// Words of the question that files contain, but none that the scope leaves.
    pub outside: Vec<String>,
    /// Words of the question that no file is known to contain, of which some were not read.
    pub unread: Vec<String>,
    /// Words of the question, as typed, that occur nowhere, each with what it was read as.
    pub read_as: Vec<(String, String)>,
    /// Suggestions: words of the project that are spelled like unknown ones.
    pub near: Vec<String>,
    /// The quoted phrases of the question, where there is no result because nothing contains them verbatim.
    pub quoted: Vec<String>,
    /// Whether a file of the scope contains one of the tokens after all, in another spelling or inside a word, or files
    /// were left unread.
    pub is_held: bool,
    /// Whether the files are on other machines, so that nothing here lists them.
    pub is_elsewhere: bool,
}

/// Who hears the remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Whoever has the files.
    Owner,
    /// Somebody who is served only some of them: for the others, files that look like secrets or are left out of the index
    /// are not there.
    Client,
}

/// What the remarks ask of the parts of a corpus. Empty fields are not looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndAsked {
    /// Words whose units are counted.
    pub units: Vec<String>,
    /// Words whose files are counted: those of each word, and the allowed files that contain all words.
    pub files: Vec<String>,
    /// Terms for which similar terms are looked up.
    pub like: Vec<String>,
    /// Terms whose spelling in a file is wanted.
    pub spelled: Vec<String>,
    /// Texts to search the files for, in any case, each with whether other spellings count.
    pub texts: Vec<(String, bool)>,
}

/// What parts of a corpus tell for the remarks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndFound {
    /// For each word, the number of units that contain it.
    pub units: Vec<TermCount>,
    /// For each word, the number of files that contain it.
    pub files: Vec<u64>,
    /// Number of allowed files whose text contains all of these words.
    pub holders: u64,
    /// For each term the similar ones, with their edit distance and the number of units that contain them.
    pub like: Vec<BTreeMap<String, (u32, u64)>>,
    /// For each term, the path prefix of a project that has it, and how a file there spells it.
    pub spelled: Vec<Option<(String, String)>>,
    /// For each text, whether files contain it.
    pub texts: Vec<TextFound>,
}

/// Whether the files of a part of a corpus contain a text, in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFound {
    /// Whether an indexed file does, or one that is not indexed outside of the scope.
    pub is_anywhere: bool,
    /// Whether an indexed one does that the scope allows.
    pub is_allowed: bool,
    /// Whether some files were not read, so that nobody knows.
    pub is_partial: bool,
    /// Whether, of the scope, only text that is not indexed has it.
    pub is_skipped: bool,
    /// Whether a file of the scope does that looks like a secret. Not sent to other processes.
    #[serde(skip)]
    pub is_secret: bool,
    /// Files of the scope with the text that git tracks and that are left out of the index. Not sent either.
    #[serde(skip)]
    pub left_out: Vec<NotRanked>,
    /// Whether such a file has the text outside of the scope, or one that looks like a secret. Not sent either.
    #[serde(skip)]
    pub is_closed_outside: bool,
}

impl TextFound {
    fn add(&mut self, other: TextFound) {
        self.is_anywhere |= other.is_anywhere;
        self.is_allowed |= other.is_allowed;
        self.is_partial |= other.is_partial;
        self.is_skipped |= other.is_skipped;
        self.is_secret |= other.is_secret;
        self.left_out.extend(other.left_out);
        self.is_closed_outside |= other.is_closed_outside;
    }

    /// Adds a file that contains the text and is not indexed.
    fn add_skipped(&mut self, path: &str, place: &ProjectSearcher, left_out: &[NotRanked]) {
        let is_inside = place.within.below.iter().any(|below| is_below(path, below));
        let is_in_scope = is_inside && allows_path(path, &place.rules, &place.snapshot.files);
        let record = place.snapshot.files.at(path);
        let is_secret = looks_secret(path) && record.is_none_or(|record| record.skip.is_some());
        let left_out = left_out.iter().find(|file| file.path == path);
        match (is_in_scope, left_out) {
            (true, Some(file)) => self.left_out.push(file.clone()),
            (true, None) if is_secret => self.is_secret = true,
            (true, None) => self.is_skipped = true,
            (false, None) if !is_secret => self.is_anywhere = true,
            (false, _) => self.is_closed_outside = true,
        }
    }

    /// Whether it is certain that no file contains the text.
    fn is_denied(&self) -> bool {
        let is_closed = self.is_secret || self.is_closed_outside || !self.left_out.is_empty();
        !self.is_anywhere && !self.is_partial && !self.is_skipped && !is_closed
    }
}

impl EndFound {
    /// Adds the findings of another part.
    pub fn add(&mut self, other: EndFound) {
        grown(&mut self.units, other.units, |sum, more| sum.add(&more));
        grown(&mut self.files, other.files, |sum, more| *sum += more);
        self.holders += other.holders;
        grown(&mut self.like, other.like, |all, own| {
            for (term, (changes, units)) in own {
                all.entry(term).or_insert((changes, 0)).1 += units;
            }
        });
        // Of several projects, the first by name, whatever the order of the parts.
        grown(&mut self.spelled, other.spelled, |first, own| {
            *first = [first.take(), own].into_iter().flatten().min();
        });
        grown(&mut self.texts, other.texts, TextFound::add);
    }
}

/// Adds a list to another, item by item.
fn grown<T: Default>(all: &mut Vec<T>, own: Vec<T>, mut add: impl FnMut(&mut T, T)) {
    all.resize_with(all.len().max(own.len()), T::default);
    all.iter_mut().zip(own).for_each(|(all, own)| add(all, own));
}

/// Answers for places, each with the prefix of its paths.
pub fn end_of(places: &[(&str, &ProjectSearcher)], asked: &EndAsked, audience: Audience) -> Result<EndFound> {
    let mut all = EndFound::default();
    for (front, place) in places {
        all.add(of_place(front, place, asked, audience)?);
    }
    Ok(all)
}

fn of_place(front: &str, place: &ProjectSearcher, asked: &EndAsked, audience: Audience) -> Result<EndFound> {
    let lexical = &place.snapshot.lexical;
    let units = asked.units.iter().map(|word| lexical.count_of_word(word)).collect::<std::result::Result<_, _>>()?;
    let (mut files, mut held): (Vec<u64>, Vec<HashSet<FileId>>) = (Vec::new(), Vec::new());
    for word in &asked.files {
        let (all, by_text) = lexical.files_with_word(word)?;
        files.push(all.len() as u64);
        held.push(by_text);
    }
    let is_allowed = |file: &&FileId| place.filter().is_none_or(|filter| filter.allows_file(**file));
    let holders = held.split_first().map_or(0, |(first, others)| {
        first.iter().filter(|file| others.iter().all(|files| files.contains(*file))).filter(is_allowed).count()
    });
    Ok(EndFound {
        units,
        files,
        holders: holders as u64,
        like: asked.like.iter().map(|term| terms_like(place, term)).collect::<Result<_>>()?,
        spelled: asked
            .spelled
            .iter()
            .map(|term| Ok(spelled(place, term)?.map(|word| (front.to_string(), word))))
            .collect::<Result<_>>()?,
        texts: texts_found(place, &asked.texts, audience)?,
    })
}

fn texts_found(place: &ProjectSearcher, texts: &[(String, bool)], audience: Audience) -> Result<Vec<TextFound>> {
    let filter = place.filter();
    let spelling =
        |(text, is_free): &(String, bool)| if *is_free { Spelling::new(text) } else { Spelling::of_text(text) };
    let spellings: Vec<Spelling> = texts.iter().map(spelling).collect();
    let found = |Mention { is_anywhere, is_allowed, is_partial }| TextFound {
        is_anywhere,
        is_allowed,
        is_partial,
        ..TextFound::default()
    };
    let mut found: Vec<TextFound> = place.snapshot.mentions(&spellings, filter)?.into_iter().map(found).collect();
    let denied = found.iter_mut().zip(texts).filter(|(found, _)| !found.is_allowed && !found.is_partial);
    let (denied, spellings): (Vec<&mut TextFound>, Vec<Spelling>) =
        denied.map(|(found, (text, _))| (found, Spelling::of_text(text))).unzip();
    if !denied.is_empty() {
        let left_out = match audience {
            Audience::Owner => tracked_left_out(&place.project, &place.snapshot.files)?,
            Audience::Client => Vec::new(),
        };
        let besides: Vec<&str> = left_out.iter().map(|file| file.path.as_str()).collect();
        let with_secrets = audience == Audience::Owner;
        let (held, is_unread) = place.snapshot.in_skipped(&spellings, with_secrets, &besides);
        for (found, paths) in denied.into_iter().zip(held) {
            paths.iter().for_each(|path| found.add_skipped(path, place, &left_out));
            found.is_partial = is_unread;
        }
    }
    Ok(found)
}

/// The remarks for a ranking: for its query, the number of files left out as too weak, and the strength below which
/// they were. Words are looked up only where they could matter: `is_weak` is whether no result is likely right.
/// `is_empty` is whether nothing was ranked, and `ask` asks all parts.
///
/// # Errors
/// When a part can't be read or does not answer.
pub fn end(
    (query, weak, least): (&Query, usize, f32),
    is_empty: bool,
    is_weak: bool,
    ask: &dyn Fn(&EndAsked) -> Result<EndFound>,
) -> Result<End> {
    let read_as = query.respelled.clone();
    let (is_tokens, is_everywhere) = (query.intents.is_tokens, query.is_everywhere());
    let mut end = End { is_tokens, is_everywhere, weak, least, read_as, ..End::default() };
    let (mut written, names) = (written(query), names(query));
    let unsaid = qualifiers(query).into_iter().map(String::from).filter(|name| !written.contains(name));
    let unsaid: Vec<String> = unsaid.collect();
    written.extend(unsaid);
    let is_named = |word: &String| names.contains(&word.as_str());
    // The index knows that the parts of `1.2.3` are adjacent, but not what separates or surrounds them.
    let is_word = |word: &String| words(word).eq(std::iter::once(0..word.len()));
    let are_words = !query.intents.is_tokens || query.intents.tokens.iter().all(is_word);
    let is_counted = points_nowhere(query) && are_words && written.len() <= WORDS_COUNTED_MAX;
    if is_empty && weak == 0 {
        end.quoted.clone_from(&query.intents.phrases);
    }
    // "Who calls" is not searched for in any text.
    if asks_for_callers(query) || (!is_counted && !is_weak) {
        written.retain(is_named);
    }
    if written.is_empty() {
        deny(&mut end, query, is_weak, ask)?;
        return Ok(end);
    }
    let counts = ask(&EndAsked { units: written.clone(), ..EndAsked::default() })?.units;
    let is_looked_up = |at: usize| counts.get(at).is_none_or(|count| count.most() <= UNITS_OF_A_WORD_MAX);
    let files: Vec<String> =
        written.iter().enumerate().filter(|(at, _)| is_looked_up(*at)).map(|(_, word)| word.clone()).collect();
    let found = match files.is_empty() {
        true => EndFound::default(),
        false => ask(&EndAsked { files, ..EndAsked::default() })?,
    };
    // A word that nearly every file contains is assumed to be in all.
    let mut of_words = found.files.iter().copied();
    let mut counted: Vec<(u64, String)> = Vec::new();
    for (at, word) in written.into_iter().enumerate() {
        let files = if is_looked_up(at) { of_words.next().unwrap_or_default() } else { u64::MAX };
        counted.push((files, word));
    }
    let unknown = counted.iter().filter(|(files, _)| *files == 0).map(|(_, word)| word.clone());
    end.unknown = unknown.take(UNKNOWN_MAX).collect();
    // The index keeps no underscores around a word.
    let is_whole = |text: &str| !text.starts_with('_') && !text.ends_with('_');
    if is_counted && is_whole(query.text.trim()) && counted.iter().any(|(files, _)| *files < u64::MAX) {
        end.holders = found.holders as usize;
        counted.sort_by_key(|(files, _)| *files);
        end.words = counted.into_iter().map(|(_, word)| word).collect();
        end.patterns = end.words.iter().map(|word| pattern(word)).collect();
        let is_form = |word: &String| Tokenizer::default().normal(word) != word.to_lowercase();
        end.are_forms = end.words.iter().any(is_form);
    }
    if !is_weak {
        end.unknown.retain(is_named);
    }
    deny(&mut end, query, is_weak, ask)?;
    if !end.unknown.is_empty() {
        end.near = near(query, &end.unknown, ask)?;
    }
    Ok(end)
}

/// Searches the files for words that the index lacks, and keeps as unknown only those that no file contains.
fn deny(end: &mut End, query: &Query, is_weak: bool, ask: &dyn Fn(&EndAsked) -> Result<EndFound>) -> Result<()> {
    let is_told = end.is_tokens && is_weak;
    let of_query = query.intents.tokens.iter().filter(|_| is_told).take(UNKNOWN_MAX);
    let tokens: Vec<String> = of_query.map(|token| lookup_form(token).to_string()).collect();
    let free = end.unknown.iter().chain(&tokens).cloned().map(|text| (text, true));
    // A respelled word occurs in its other spelling, so only the one that was typed is searched for.
    let texts: Vec<(String, bool)> = free.chain(end.read_as.iter().map(|(typed, _)| (typed.clone(), false))).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let found = ask(&EndAsked { texts: texts.clone(), ..EndAsked::default() })?.texts;
    for ((text, _), found) in texts.into_iter().zip(&found).filter(|(_, found)| !found.is_allowed) {
        let is_left_out = !found.left_out.is_empty() && end.left_out.iter().all(|(known, _)| *known != text);
        if is_left_out {
            end.left_out.push((text.clone(), found.left_out.clone()));
        }
        let list = match found {
            TextFound { is_skipped: true, .. } => &mut end.unindexed,
            TextFound { is_secret: true, .. } => &mut end.secret,
            _ if !found.left_out.is_empty() => continue,
            TextFound { is_partial: true, .. } => &mut end.unread,
            TextFound { is_anywhere: true, .. } => &mut end.outside,
            TextFound { is_closed_outside: true, .. } => &mut end.closed_outside,
            _ => continue,
        };
        if !list.contains(&text) {
            list.push(text);
        }
    }
    let mut found = found.into_iter();
    end.unknown.retain(|_| found.next().unwrap_or_default().is_denied());
    let of_tokens: Vec<TextFound> = found.by_ref().take(tokens.len()).collect();
    end.is_held = of_tokens.iter().any(|found| found.is_allowed || found.is_partial);
    end.read_as.retain(|_| found.next().unwrap_or_default().is_denied());
    Ok(())
}

/// Suggestions: words of the corpus that are spelled like the unknown ones, for a name like the parts of it that occur
/// nowhere.
fn near(query: &Query, unknown: &[String], ask: &dyn Fn(&EndAsked) -> Result<EndFound>) -> Result<Vec<String>> {
    let mut tokenizer = Tokenizer::default();
    let mut pieces: Vec<String> = Vec::new();
    for name in unknown {
        for word in words(name).map(|word| &name[word]) {
            for piece in parts(word).map(|part| &word[part]) {
                let is_long = piece.chars().count() >= LETTERS_OF_ALIKE_MIN;
                if is_long && pieces.len() < WORDS_LOOKED_UP_MAX && !pieces.iter().any(|known| known == piece) {
                    pieces.push(piece.to_string());
                }
            }
        }
    }
    let counts = ask(&EndAsked { units: pieces.clone(), ..EndAsked::default() })?.units;
    let absent = pieces.iter().zip(counts).filter(|(_, count)| count.most() == 0);
    let like: Vec<String> = absent.map(|(piece, _)| tokenizer.normal(piece).to_string()).take(PARTS_MAX).collect();
    if like.is_empty() {
        return Ok(Vec::new());
    }
    let found = ask(&EndAsked { like, ..EndAsked::default() })?;
    let spelled: Vec<String> = found.like.into_iter().flat_map(nearest).collect();
    if spelled.is_empty() {
        return Ok(Vec::new());
    }
    let mut near: Vec<String> = Vec::new();
    let words = ask(&EndAsked { spelled, ..EndAsked::default() })?.spelled;
    for (_, word) in words.into_iter().flatten() {
        let is_said = tokenizer.terms(&word).iter().all(|term| query.terms.iter().any(|t| t.text == *term));
        if !is_said && !is_stop_word(&word) && word.chars().count() >= LETTERS_MIN && !near.contains(&word) {
            near.push(word);
        }
    }
    Ok(near)
}

/// The nearest of similar terms, the most common first.
fn nearest(like: BTreeMap<String, (u32, u64)>) -> Vec<String> {
    let least = like.values().map(|(changes, _)| *changes).min();
    let mut near: Vec<(String, (u32, u64))> =
        like.into_iter().filter(|(_, (changes, _))| Some(*changes) == least).collect();
    near.sort_by(|(a, (_, units)), (b, (_, than))| than.cmp(units).then(a.cmp(b)));
    near.into_iter().take(ALIKE_MAX).map(|(term, _)| term).collect()
}

/// Terms of a place that may be `term` mistyped: the edit distance, in which two letters that are exchanged are one change,
/// and the number of units that contain them. Hardly anybody mistypes the first letter.
fn terms_like(place: &ProjectSearcher, term: &str) -> Result<BTreeMap<String, (u32, u64)>> {
    let letters = term.chars().count();
    let mut near: BTreeMap<String, (u32, u64)> = BTreeMap::new();
    if letters < LETTERS_OF_ALIKE_MIN {
        return Ok(near);
    }
    let changes_max = if letters < LETTERS_OF_TWO_CHANGES { 1 } else { 2 };
    let first = term.chars().next();
    place.snapshot.lexical.each_term(|known| {
        let is_similar = known.chars().next() == first && known.chars().count().abs_diff(letters) <= changes_max;
        let is_word = is_similar && known.chars().all(char::is_alphabetic);
        let changes = if is_word { strsim::osa_distance(known, term) } else { usize::MAX };
        if (1..=changes_max).contains(&changes) {
            near.insert(known.to_string(), (changes as u32, 0));
        }
    })?;
    // An index may have terms of which nothing is left.
    for (known, (_, units)) in &mut near {
        *units = place.snapshot.lexical.units_with(known)?;
    }
    near.retain(|_, (_, units)| *units > 0);
    Ok(near)
}

/// The word of a term, as the first file of a place that has it spells it; a word of a sentence in lower case.
fn spelled(place: &ProjectSearcher, term: &str) -> Result<Option<String>> {
    let Some(unit) = place.snapshot.lexical.unit_with_term(term, None)? else { return Ok(None) };
    let Some(record) = place.snapshot.files.indexed().find(|record| record.id == unit.file) else { return Ok(None) };
    let text = read_text(&place.project.root, &record.path).unwrap_or_default();
    let mut found = None;
    Tokenizer::default().tokenize_text(&text, |token| {
        if found.is_none() && token.term == term {
            let word = &text[token.start..token.end];
            found = Some(if is_name_in_query(word) { word.to_string() } else { word.to_lowercase() });
        }
    });
    Ok(found)
}

/// Whether a query has words alone: no place, no file, no definition, no callers, nothing in quotes.
fn points_nowhere(query: &Query) -> bool {
    let Intents { locations, mentions, phrases, declaration, .. } = &query.intents;
    let names_none = locations.is_empty() && mentions.is_empty() && phrases.is_empty() && declaration.is_none();
    names_none && !asks_for_callers(query)
}

/// Whether callers alone are asked for, and not all places of a name.
fn asks_for_callers(query: &Query) -> bool {
    query.intents.callers_of.is_some() && !query.is_everywhere()
}

/// The names that a question asks for, without which it can't be answered: the one whose callers are wanted, the one
/// that is declared, and those spelled unlike words. Pasted text and text that points at a file contain many names of
/// other projects.
fn names(query: &Query) -> Vec<&str> {
    let Intents { callers_of, declaration, .. } = &query.intents;
    let called = callers_of.iter().map(|name| last_segment(name));
    let declared = declaration.iter().map(|declared| declared.name.as_str());
    let is_question = points_nowhere(query) && query.long.is_none() && !query.text.trim().contains('\n');
    // A word of a translation is nobody's name.
    let is_typed = |name: &str| query.foreign.as_ref().is_none_or(|typed| typed.contains(name));
    let is_name = |name: &str, is_whole: bool| (is_whole || is_name_in_question(name)) && is_typed(name);
    let alone = query.identifiers.iter().filter(|name| is_question && is_name(&name.name, name.whole_query));
    called.chain(declared).chain(alone.map(|name| name.name.as_str())).chain(qualifiers(query)).collect()
}

/// The names before the last of a query that is one qualified name: `foo` and `bar` of `foo.bar.Default`. Without them, what
/// was found is another of that name. Single letters are parameters of types.
fn qualifiers(query: &Query) -> Vec<&str> {
    let whole = query.identifiers.iter().find(|name| name.whole_query);
    let front = whole.and_then(|whole| Some(&query.text[..query.text.rfind(whole.name.as_str())?])).unwrap_or_default();
    let path = front.rsplit(|c: char| c.is_whitespace() || c == '`').next().unwrap_or_default();
    words(path).map(|place| &path[place]).filter(|name| name.len() > 1 && !SELVES.contains(name)).collect()
}

/// The first words of a question, as typed, each once and without stop words; its tokens where it consists of these,
/// where a shell variable or a token with a value gives the names inside.
fn written(query: &Query) -> Vec<String> {
    if query.intents.is_tokens {
        return query
            .intents
            .tokens
            .iter()
            .take(WORDS_LOOKED_UP_MAX)
            .map(|token| lookup_form(token).to_string())
            .collect();
    }
    let mut seen = HashSet::new();
    let is_typed = |read: &&Translation| !read.has_form;
    let words: Vec<&str> = match query.translation.as_ref().filter(is_typed) {
        Some(read) => read.words.split(' ').collect(),
        None => query.content_words().collect(),
    };
    let each = words.into_iter().map(String::from).filter(|word| seen.insert(word.to_lowercase()));
    each.take(WORDS_LOOKED_UP_MAX).collect()
}

/// A pattern for all forms of a word that the index takes for one: the beginning that they share.
fn pattern(word: &str) -> String {
    let lower = word.to_lowercase();
    let mut tokenizer = Tokenizer::default();
    let stem = tokenizer.normal(&lower);
    let same = lower.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
    // `queri` is the stem of `query` and `queries`; `api` and `redi` are not stems of words in `y`.
    let is_of_y = stem.ends_with('i') && same == stem.len() && lower.trim_end_matches('s') != stem;
    let same = if is_of_y { same - 1 } else { same };
    match lower.chars().all(char::is_alphabetic) {
        true => lower[..lower.floor_char_boundary(same)].to_string(),
        false => word.to_string(),
    }
}

impl ProjectSearcher {
    /// The paths of the scope below which nothing is indexed. What can't be read and the rules leave out is missed by
    /// nobody.
    pub fn not_ranked(&self) -> impl Iterator<Item = NotRanked> + '_ {
        let is_missed = |of: &NotRanked| !of.why.is_unreadable() || is_allowed(&of.path, &self.rules, &self.snapshot);
        not_ranked(&self.within.below, &self.project, &self.snapshot).filter(is_missed)
    }

    /// Paths in the scope, below the given paths, that the system doesn't allow to be read.
    pub fn unreadable(&self) -> Option<Notice> {
        let paths = unreadable(&self.within.below, &self.rules, &self.snapshot);
        let first = (*paths.first()?).to_string();
        Some(Notice::Unreadable { root: self.project.root.clone(), first, paths: paths.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_every_form() {
        for (word, expected) in [
            ("session", "session"),
            ("Parsing", "pars"),
            ("queries", "quer"),
            ("query", "quer"),
            ("api", "api"),
            ("APIs", "api"),
            ("redis", "redi"),
            ("MAX_LEN", "MAX_LEN"),
            ("1.2.3", "1.2.3"),
        ] {
            assert_eq!(pattern(word), expected, "{word}");
        }
    }
}
