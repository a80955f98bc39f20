//! Parses a query: its weighted terms, its names, what it asks for.

mod asked_classes;
mod contractions;
pub mod intents;
pub mod languages;
pub(crate) mod wording;

use std::borrow::Cow;
use std::ops::Range;

use asked_classes::{asked_classes, asks_for_prose};
use contractions::without_contractions;
use wording::Wording;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::filler::without_fillers;
use crate::fold::folded;
use crate::identifier_style::{is_name_in_query, is_token};
use crate::language::LanguageFacts;
use crate::long::Long;
use crate::path::{PathClass, fold_agent, joined, project_terms, stem_of};
use crate::token::{Tokenizer, is_stop_word, is_word_char, parts, spellings, words};
use crate::variant::Variants;
use intents::{Intents, bare};
use languages::Translation;

/// One distinct term of the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryTerm {
    /// The term, as in the index.
    pub text: String,
    /// Whether it is a stop word.
    pub stop: bool,
    /// Whether it is a compound: a whole word that has several parts, as `parseRequest` has.
    pub compound: bool,
}

/// A name in the query that may be defined somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identifier {
    /// Its last segment, as written: `Client` of `http.Client`.
    pub name: String,
    /// Whether the query is just this name.
    pub whole_query: bool,
}

/// Maximum of words beside a name with humps in a sentence about it.
const WORDS_BESIDE_NAME_MAX: usize = 2;

/// A query, read once for all retrievers and stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The query as typed, without fillers if these are left out, and with contractions written out.
    pub text: String,
    pub typed: String,
    /// Distinct terms, in order, without those of words that carry only the form of the query ("how do I").
    pub terms: Vec<QueryTerm>,
    /// Terms of the parts, without stop words, with order and repetitions as typed; proximity reads neighbours from it.
    pub sequence: Vec<String>,
    /// Its names: the whole query, or words that look like names in a sentence.
    pub identifiers: Vec<Identifier>,
    /// The word or name that it is, if it is of one piece and has no other marks: a text may hold it in any spelling.
    pub written: Option<String>,
    /// The only word of a sentence that looks like a name in code.
    pub name_inside: Option<String>,
    /// Plain lower-case words of four letters and more that may name a definition.
    pub plain_words: Vec<String>,
    /// [`spellings`] of the whole query as one name; empty if it is already one.
    pub compounds: Vec<String>,
    /// Each two and three neighbouring words joined, lower case: `ratelimit` for "rate limit".
    pub joined_words: FxHashSet<String>,
    /// Topic terms: distinct, no stop words, −er/−or folded, without the project's own name where others remain.
    pub topic_terms: Vec<String>,
    /// Lower-case words and parts, unstemmed.
    pub words: Vec<String>,
    /// Classes of files that the query asks for by name.
    pub asks_for: Vec<PathClass>,
    /// Whether it asks for documentation.
    pub asks_for_prose: bool,
    /// What it asks for besides its words.
    pub intents: Intents,
    /// Platforms and languages that it asks for.
    pub variants: Variants,
    /// Typed words that the index lacks, each with its respelling.
    pub respelled: Vec<(String, String)>,
    /// Terms that tables gave for its words ([`Query::expand`]), as written in the tables.
    pub expansions: Vec<String>,
    /// Its title and details, if it is a long text.
    pub long: Option<Long>,
    /// How it is read, if it is not in English.
    pub translation: Option<Translation>,
    /// The text that was typed, if it is not in English, however it is read.
    pub foreign: Option<String>,
}

/// The parts of a query that an index looks up. They are sent to another process, while the sender ranks with the whole
/// query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryParts {
    pub terms: Vec<QueryTerm>,
    pub sequence: Vec<String>,
    pub identifiers: Vec<Identifier>,
    pub written: Option<String>,
    pub plain_words: Vec<String>,
    pub topic_terms: Vec<String>,
    pub compounds: Vec<String>,
}

impl From<&Query> for QueryParts {
    fn from(query: &Query) -> QueryParts {
        let Query { terms, sequence, identifiers, written, plain_words, topic_terms, compounds, .. } = query.clone();
        QueryParts { terms, sequence, identifiers, written, plain_words, topic_terms, compounds }
    }
}

impl From<QueryParts> for Query {
    /// A query with these parts and no others.
    fn from(parts: QueryParts) -> Query {
        let QueryParts { terms, sequence, identifiers, written, plain_words, topic_terms, compounds } = parts;
        Query { terms, sequence, identifiers, written, plain_words, topic_terms, compounds, ..Query::default() }
    }
}

/// Whether `text` can be one written name: no white space, and only characters of names and the marks that join them.
fn is_one_name(text: &str, languages: &LanguageFacts) -> bool {
    let glue = |c: char| matches!(c, ':' | '\\' | '.' | '-' | '>' | '#' | '/');
    // `rate-limit` and `request/response` are two words each; `a->b` and `src/client.py` are one name.
    let words = text.replace("->", "").contains('-') || (text.contains('/') && !languages.is_file_name(text));
    if words {
        return false;
    }
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '@' | '$') || glue(c))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '!' | '?') || glue(c))
}

/// The segments of a written path of names: `a::b`, `a->b`, `a.b`, `a#b`, `a/b`, `a\b`.
fn segments(name: &str) -> impl Iterator<Item = &str> {
    name.split("::").flat_map(|n| n.split("->")).flat_map(|n| n.split(['\\', '.', '#', '/'])).filter(|s| !s.is_empty())
}

impl Query {
    /// Parses a query without the [fillers](crate::filler) of a sentence. `is_name` says whether the project uses a
    /// term in names.
    pub fn without_fillers(
        typed: &str,
        root: &str,
        languages: &LanguageFacts,
        tokenizer: &mut Tokenizer,
        mut is_name: impl FnMut(&str) -> bool,
    ) -> Query {
        let asked = without_fillers(typed, |word| is_name(tokenizer.normal(word)));
        let query = Query::new(asked.as_deref().unwrap_or(typed), root, languages, tokenizer);
        Query { typed: typed.to_string(), ..query }
    }

    /// Reads a query typed in a project whose root folder is `root`.
    pub fn new(text: &str, root: &str, languages: &LanguageFacts, tokenizer: &mut Tokenizer) -> Query {
        let typed = text.to_string();
        let text = &*without_contractions(text);
        let mut query =
            Query { text: text.to_string(), typed, intents: Intents::parse(text, languages), ..Query::default() };
        let wording = Wording::new(text);
        let form = wording.form();
        let is_form = |place: Range<usize>| {
            let at = form.partition_point(|form| form.end < place.end);
            form.get(at).is_some_and(|form| form.start <= place.start)
        };
        let mut seen: FxHashSet<String> = FxHashSet::default();
        tokenizer.tokenize(text, |token| {
            if is_form(token.start..token.end) {
                return;
            }
            if seen.insert(token.term.to_string()) {
                let stop = !token.compound && is_stop_word(&text[token.start..token.end].to_lowercase());
                query.terms.push(QueryTerm { text: token.term.to_string(), stop, compound: token.compound });
            }
            if !token.compound && !is_stop_word(&text[token.start..token.end].to_lowercase()) {
                query.sequence.push(token.term.to_string());
            }
        });
        let mut seen: FxHashSet<String> = FxHashSet::default();
        for word in words(text).filter(|word| !is_form(word.clone())) {
            let word = &text[word];
            let lower = folded(word).into_owned();
            let mut split: Vec<String> = parts(word).map(|p| folded(&word[p]).into_owned()).collect();
            if split.len() > 1 {
                split.push(joined(word));
            }
            query.words.extend(split);
            if lower.chars().count() >= 4 && !is_stop_word(&lower) && seen.insert(lower.clone()) {
                query.plain_words.push(lower);
            }
        }
        query.identifiers = identifiers(text, languages);
        query.written = written(text);
        query.compounds = if query.is_symbol() { Vec::new() } else { spellings(text) };
        query.joined_words = joined_words(text);
        let project = project_terms(root, languages, tokenizer);
        query.topic_terms = topic_terms(&query.sequence, query.is_symbol(), &project);
        if query.intents.phrases.is_empty() && !query.is_symbol() {
            // Among more words, a name with humps may be a product's.
            let is_short = || query.content_words().count() <= WORDS_BESIDE_NAME_MAX + 1;
            let name = name_inside(text, &project, tokenizer);
            query.name_inside = name.filter(|name| name.contains(['_', '-']) || is_short());
        }
        query.asks_for = asked_classes(&wording);
        query.asks_for_prose = asks_for_prose(&wording);
        query.variants = Variants::asked(text, languages);
        query
    }

    /// Reads a long query without its noise. Only the title can ask for something; quotes and sentences below it are
    /// not commands.
    pub fn of_long(typed: &str, long: Long, root: &str, languages: &LanguageFacts, tokenizer: &mut Tokenizer) -> Query {
        let title = Query::new(&long.title, root, languages, tokenizer);
        let mut query = Query::new(&long.told, root, languages, tokenizer);
        let Intents { locations, mentions, names, .. } = Intents::parse(typed, languages);
        query.intents = Intents { locations, mentions, names, ..Intents::default() };
        (query.typed, query.name_inside) = (typed.to_string(), None);
        (query.asks_for, query.asks_for_prose, query.variants) = (title.asks_for, title.asks_for_prose, title.variants);
        query.long = Some(long);
        query
    }

    /// Adds what was typed in another language than English. Its words find comments and documents in that language.
    /// Unless the corpus `has` all of them, they weigh like stop words, because the English terms already say the same.
    pub fn add_typed(&mut self, typed: &str, translation: Translation, has: bool, tokenizer: &mut Tokenizer) {
        self.typed = typed.to_string();
        // A name in another language occurs in the code as it is typed.
        if !translation.has_form {
            self.written = written(typed);
        }
        tokenizer.tokenize(&translation.words, |token| {
            if !self.terms.iter().any(|term| term.text == token.term) {
                let (text, compound) = (token.term.to_string(), token.compound);
                self.terms.push(QueryTerm { text, stop: !has, compound });
            }
        });
        self.translation = Some(translation);
    }

    /// Turns the title of a long query into a query; its quotes are not conditions.
    #[must_use]
    pub fn into_title(mut self) -> Query {
        self.intents.phrases.clear();
        self.name_inside = None;
        self
    }

    /// The texts that the model reads: for a long query at most `parts_max` of its parts.
    pub fn read_by_model(&self, parts_max: usize) -> Vec<&str> {
        match &self.long {
            Some(long) if parts_max > 0 => long.parts.iter().take(parts_max).map(String::as_str).collect(),
            _ => vec![&self.text],
        }
    }

    /// What it asks for besides its words, for explanations.
    pub fn told(&self) -> Vec<String> {
        let translation = self.translation.iter().map(|read| format!("{} for {:?}", read.language.name(), read.text));
        let title = self.long.iter().map(|long| format!("title {:?}", long.title));
        translation.chain(title).chain(self.intents.told()).collect()
    }

    /// Whether the query is just one name.
    pub fn is_symbol(&self) -> bool {
        self.identifiers.iter().any(|i| i.whole_query)
    }

    /// Whether the query asks for all places of the name that it is ([`crate::query::intents::all_places_of`]).
    pub fn is_everywhere(&self) -> bool {
        self.intents.callers_of.as_deref() == Some(self.text.as_str())
    }

    /// The words that carry its subject, as written: no stop words, and none that carry only its form.
    pub fn content_words(&self) -> impl Iterator<Item = &str> {
        let form = Wording::new(&self.text).form();
        let is_content = move |place: &Range<usize>| !form.contains(place);
        let content = words(&self.text).filter(is_content).map(|place| &self.text[place]);
        content.filter(|word| !is_stop_word(&word.to_lowercase()))
    }

    /// Terms that are not stop words, or all terms if there are no others.
    pub fn content_terms(&self) -> impl Iterator<Item = &QueryTerm> {
        let all_stop = self.terms.iter().all(|t| t.stop);
        self.terms.iter().filter(move |t| all_stop || !t.stop)
    }

    /// Distinct neighbouring pairs of [`Query::sequence`].
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        let mut seen: FxHashSet<(&str, &str)> = FxHashSet::default();
        for pair in self.sequence.windows(2) {
            let pair = (pair[0].as_str(), pair[1].as_str());
            if pair.0 != pair.1 && seen.insert(pair) {
                pairs.push(pair);
            }
        }
        pairs
    }
}

/// How code refers to its own object or module: these are not owners of a name.
pub const SELVES: &[&str] = &["Self", "cls", "crate", "self", "super", "this"];

/// The last segment of a written path of names, without the punctuation of calls and references.
pub fn last_segment(name: &str) -> &str {
    let name = name.trim().trim_matches(['.', ':', '/', '#', '\\']);
    let last = segments(name).last().unwrap_or(name);
    last.trim_matches(['!', '?', '=', '&', '*', '~', '(', ')', ' ', '@', '$', '>', '-'])
}

/// The name of a base class, without its module and its type parameters.
pub fn base_name(base: &str) -> &str {
    let plain = base.split(['<', '[', '(', ' ']).next().unwrap_or(base);
    last_segment(plain)
}

/// Prefixes of references in Elixir's documentation: to types, callbacks and modules.
const REFERENCES: [&str; 3] = ["t:", "c:", "m:"];

/// A single name, written as in some language, as a plain path of names: without arity (`Job.new/2`), labels and
/// brackets of a call (`stack(for:)`, `open(`), labels of a selector (`loadIt:withMode:`), type arguments
/// (`Vec<T>::push`), Sphinx roles and PHP's `::class`; an entry point `m.n:Class` as `m.n.Class`, and Lua's `Queue:push`
/// as `Queue.push`. Any other text is unchanged.
pub fn plain_path(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let role = || text.strip_prefix(':')?.strip_suffix('`')?.split_once(":`");
    let name = role().map_or(text, |(_, target)| target.trim_start_matches(['~', '!']));
    let name = without_arity(name).unwrap_or(name);
    let name = without_call(name).unwrap_or(name);
    let name = name.strip_suffix("::class").unwrap_or(name);
    let name = without_labels(name).unwrap_or(name);
    let name = without_type_arguments(name);
    let is_word = |word: &str| word.starts_with(is_name_start) && word.chars().all(is_word_char);
    let is_type = |owner: &str| owner.starts_with(char::is_uppercase) && owner.chars().any(char::is_lowercase);
    let is_module = |module: &str| (module.contains('.') || is_type(module)) && module.split('.').all(is_word);
    match name.split_once(':') {
        Some((module, object)) if is_module(module) && is_word(object) => Cow::Owned(format!("{module}.{object}")),
        _ => name,
    }
}

/// A text that is one word, one name, with hyphens perhaps, or one number.
fn written(text: &str) -> Option<String> {
    let text = text.trim();
    let is_long = text.chars().nth(1).is_some();
    let is_number = || text.bytes().all(|byte| byte.is_ascii_digit());
    let is_name =
        text.chars().all(|c| is_word_char(c) || c == '-') && (text.contains(char::is_alphabetic) || is_number());
    (is_long && is_name && !text.starts_with('-') && !text.ends_with('-')).then(|| text.to_string())
}

/// The only word of a sentence that looks like a name in code, and is neither an acronym nor the project's own name.
fn name_inside(text: &str, project: &[String], tokenizer: &mut Tokenizer) -> Option<String> {
    // `HTTP`, `URLs` and `UTF8` are words, `2nd` and `10ms` too.
    let is_acronym = |word: &str| !word.trim_end_matches('s').contains(char::is_lowercase);
    let is_of_parts = |word: &str| parts(word).nth(1).is_some() && word.starts_with(char::is_alphabetic);
    let is_code = |word: &&str| match word.contains('-') {
        true => is_token(word) && !word.contains(|c: char| c.is_ascii_digit()),
        false => word.contains('_') || (is_of_parts(word) && !is_acronym(word)),
    };
    let bare = text.split_whitespace().map(|word| bare(word).trim_end_matches("()"));
    let mut names = bare.filter(is_code).filter_map(written);
    let name = names.next().filter(|name| name != text.trim() && names.all(|other| other == *name))?;
    let whole = fold_agent(tokenizer.normal(&joined(&name)));
    let is_project =
        project.contains(&whole) || tokenizer.part_terms(&name).iter().all(|term| project.contains(&fold_agent(term)));
    (!is_project).then_some(name)
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// `Job.new/2`, `&Job.new/2` and `t:Job.t/0` without Elixir's marks around the name. `http/2` is a protocol.
fn without_arity(written: &str) -> Option<&str> {
    let (name, arity) = written.split_once('/')?;
    let reference = REFERENCES.iter().find_map(|reference| name.strip_prefix(reference));
    let name = reference.or_else(|| name.strip_prefix('&')).unwrap_or(name);
    let is_arity = (1..=2).contains(&arity.len()) && arity.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = name.starts_with(is_name_start) && !name.eq_ignore_ascii_case("http");
    (is_arity && is_name).then_some(name)
}

/// `open()`, `stack(for:)` and the unfinished `open(` without the brackets.
fn without_call(written: &str) -> Option<&str> {
    let (name, given) = written.split_once('(')?;
    let labels = given.strip_suffix(')');
    let is_label = |label: &str| label.chars().all(is_word_char);
    let are_labels = |labels: &str| labels.is_empty() || (labels.ends_with(':') && labels.split(':').all(is_label));
    let is_call = given.is_empty() || labels.is_some_and(are_labels);
    (is_call && name.ends_with(|c: char| is_word_char(c) || matches!(c, '>' | '!' | '?'))).then_some(name)
}

/// The first part of an Objective-C selector; a single label has several parts, as no word before a colon has.
fn without_labels(written: &str) -> Option<&str> {
    let labels = written.strip_suffix(':')?;
    let mut all = labels.split(':');
    let first = all.next()?;
    let is_label = |label: &str| label.starts_with(is_name_start) && label.chars().all(is_word_char);
    let is_selector = labels.split(':').all(is_label) && (all.next().is_some() || is_name_in_query(first));
    is_selector.then_some(first)
}

/// Strips paired angle brackets and their contents: `Vec<T>::push`, `collect::<Vec<_>>`.
fn without_type_arguments(written: &str) -> Cow<'_, str> {
    if !written.contains('<') {
        return Cow::Borrowed(written);
    }
    let (mut name, mut depth, mut before) = (String::new(), 0usize, ' ');
    for c in written.chars() {
        match c {
            '<' if depth > 0 || is_word_char(before) || before == ':' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => name.push(c),
            _ if is_word_char(c) || matches!(c, ',' | ' ' | '.' | ':' | '&' | '*' | '?' | '[' | ']' | '\'') => {}
            _ => return Cow::Borrowed(written),
        }
        before = c;
    }
    let is_paired = depth == 0 && name.starts_with(is_name_start);
    if is_paired { Cow::Owned(name.trim_end_matches("::").to_string()) } else { Cow::Borrowed(written) }
}

fn identifiers(text: &str, languages: &LanguageFacts) -> Vec<Identifier> {
    let path = plain_path(text);
    let text = text.trim();
    if is_one_name(&path, languages) {
        let text = &*path;
        // `client.py` names a file, not a definition called `py`.
        let name = if languages.is_file_name(text) {
            stem_of(text.rsplit('/').next().unwrap_or(text))
        } else {
            last_segment(text)
        };
        return match name.is_empty() {
            true => Vec::new(),
            false => vec![Identifier { name: name.to_string(), whole_query: true }],
        };
    }
    let mut found: Vec<Identifier> = Vec::new();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '>' | '\\' | '-');
    let name_like = text.split(|c| !in_name(c)).filter(|w| !w.is_empty());
    for (i, word) in name_like.enumerate() {
        let word = word.trim_matches(['.', ':', '-']);
        let last = last_segment(word);
        let is_path = segments(word).nth(1).is_some() && last.len() > 2;
        let is_capitalised = i > 0 && last.chars().next().is_some_and(char::is_uppercase) && last.len() > 2;
        if (is_name_in_query(last) || is_path || is_capitalised) && seen.insert(last) {
            found.push(Identifier { name: last.to_string(), whole_query: false });
        }
    }
    found
}

fn joined_words(text: &str) -> FxHashSet<String> {
    let all: Vec<String> = words(text).map(|w| folded(&text[w]).into_owned()).collect();
    [2, 3].into_iter().flat_map(|n| all.windows(n).map(|w| w.concat()).collect::<Vec<_>>()).collect()
}

fn topic_terms(sequence: &[String], symbol: bool, project: &[String]) -> Vec<String> {
    let mut topics: Vec<String> = Vec::new();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for term in sequence {
        let term = fold_agent(term);
        if seen.insert(term.to_string()) {
            topics.push(term);
        }
    }
    if !symbol && topics.iter().any(|t| !project.contains(t)) {
        topics.retain(|t| !project.contains(t));
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Query {
        Query::new(text, "/src/colgrep", &LanguageFacts::sample(), &mut Tokenizer::default())
    }

    #[test]
    fn names_are_told_from_words() {
        for (text, expected) in [
            ("Mux", "Mux!"),
            ("http.Client", "Client!"),
            ("std::vec::Vec", "Vec!"),
            ("foo->bar", "bar!"),
            ("empty?", "empty!"),
            ("parse request", ""),
            ("Parse request", ""),
            ("how does parseRequest work", "parseRequest"),
            ("where is max_len set", "max_len"),
            ("the Router middleware", "Router"),
            ("JSONDecoder and http.Handler", "JSONDecoder Handler"),
            ("client.py", "client!"),
            ("src/client.py", "client!"),
            ("app.dart", "app!"),
            ("infra/main.tf", "main!"),
            ("request/response", ""),
            ("rate-limit", ""),
            ("parse()", "parse!"),
            ("parse(", "parse!"),
            ("Oban.Job.new/2", "new!"),
            ("&Job.new/2", "new!"),
            ("init/1", "init!"),
            ("t:Job.t/0", "t!"),
            ("CommandParser.commandStack(for:)", "commandStack!"),
            ("run(_:with:)", "run!"),
            (":meth:`~acme.client.Client.send`", "send!"),
            ("acme.cli:Main", "Main!"),
            ("loadIt:withMode:", "loadIt!"),
            ("insertObject:", "insertObject!"),
            ("run:with:", "run!"),
            ("Queue:push", "push!"),
            ("host:port", "host:port!"),
            ("default:", "default!"),
            (r"Acme\Client::class", "Client!"),
            ("Logger.ForContext<T>", "ForContext!"),
            ("Vec<T>::push", "push!"),
            ("Map<K, V>::get", "get!"),
            ("collect::<Vec<_>>()", "collect!"),
            ("http/2", ""),
            ("print(\"a\")", ""),
            ("", ""),
        ] {
            let names: Vec<String> = read(text)
                .identifiers
                .iter()
                .map(|i| format!("{}{}", i.name, if i.whole_query { "!" } else { "" }))
                .collect();
            assert_eq!(names.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn intent_is_read_from_whole_words() {
        for (text, tests, examples) in [
            ("latest inspect specific", false, false),
            ("unit test runner", true, false),
            ("Specs for routing", true, false),
            ("test whether a value is a ref", false, false),
            ("parse the score of test files", false, false),
            ("example of a plugin", false, true),
        ] {
            let query = read(text);
            assert_eq!(query.asks_for.contains(&PathClass::TEST), tests, "{text}");
            assert_eq!(query.asks_for.contains(&PathClass::EXAMPLE), examples, "{text}");
        }
    }

    #[test]
    fn words_of_form_are_no_terms() {
        let terms = |text: &str| {
            let query = read(text);
            let content: Vec<&str> = query.terms.iter().filter(|t| !t.stop).map(|t| t.text.as_str()).collect();
            assert!(
                query.plain_words.iter().all(|word| !["cannot", "code", "sure"].contains(&word.as_str())),
                "{text}"
            );
            content.join(" ")
        };
        for text in ["cannot dispatch", "can not dispatch", "can't dispatch", "can’t dispatch", "I can't dispatch"] {
            assert_eq!(terms(text), "dispatch", "{text}");
        }
        for (text, expected) in [
            ("my sessions can expire", "session expir"),
            ("which code makes sure that my session expires", "session expir"),
            ("the user's session", "user session"),
            ("we", "we"),
            ("can", "can"),
            ("can-show", "can show"),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
        assert_eq!(read("can't dispatch").text, read("can not dispatch").text);
        assert_eq!(read("can't dispatch").typed, "can't dispatch");
    }

    #[test]
    fn a_sentence_has_at_most_one_name_in_it() {
        for (text, name) in [
            ("what reads `__proto__`?", "__proto__"),
            ("where is MAX_LEN checked, and who sets MAX_LEN", "MAX_LEN"),
            ("how does openSocket() fail", "openSocket"),
            ("which code sends X-Forwarded-For", "X-Forwarded-For"),
            ("decoding of base64", "base64"),
            ("openSocket", ""),
            ("openSocket or close_socket", ""),
            ("the HTTP request of a read-only client", ""),
            ("a palette of UTF-8 and 16-color", ""),
            ("which URLs are read", ""),
            ("encoding of UTF8", ""),
            ("when is the 2nd released", ""),
            ("how are the idle connections of PostgreSQL pooled", ""),
            ("where is http.Client used", ""),
            ("how does ColGrep start", ""),
            ("\"MAX_LEN\" in a file", ""),
        ] {
            assert_eq!(read(text).name_inside.unwrap_or_default(), name, "{text}");
        }
    }

    #[test]
    fn terms_pairs_and_topics() {
        let query = read("how the colgrep parser parses requestBody");
        let terms: Vec<String> = query
            .terms
            .iter()
            .map(|t| format!("{}{}{}", t.text, if t.stop { "-" } else { "" }, if t.compound { "+" } else { "" }))
            .collect();
        assert_eq!(terms.join(" "), "how- the- colgrep parser pars requestbodi+ request bodi");
        assert_eq!(
            query.pairs(),
            [("colgrep", "parser"), ("parser", "pars"), ("pars", "request"), ("request", "bodi")]
        );
        assert_eq!(query.topic_terms.join(" "), "pars request bodi");
        assert!(query.joined_words.contains("colgrepparser"));
        assert_eq!(read("colgrep").topic_terms, ["colgrep"], "the project's name alone is kept");
    }

    #[test]
    fn base_classes_are_named_without_modules_and_parameters() {
        for (base, expected) in
            [("Ring", "Ring"), ("net::Ring<T>", "Ring"), ("Generic[T]", "Generic"), ("models.Model", "Model")]
        {
            assert_eq!(base_name(base), expected, "{base}");
        }
    }
}
