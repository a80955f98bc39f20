//! Parses what a query asks for besides its words: a line of a file, a definition, callers, a phrase.
//!
//! Parsing never fails and removes no word from the query, since the index may lack what an intent names.
//! `colgrep-search` resolves intents in an index.

mod all_places;
mod decorated_names;
mod line_numbers;
mod node_ids;
mod paths;
mod phrases;
mod questions;
mod shell_names;
mod test_names;

use std::collections::HashSet;

pub use all_places::all_places_of;
pub use decorated_names::names_around;
pub use node_ids::split_node_ids;
pub use paths::is_written;
use paths::{
    anchors_apart, file_name, links_as_paths, odd_names, path_words, read_path, stands_behind_in, whole_places,
};
use phrases::{are_arguments, phrases};
pub use questions::is_joint;
use questions::{NameQuestion, name_asked_for, name_beside};
use serde::{Deserialize, Serialize};
pub use shell_names::{
    flags_in, key_path, lookup_form, mark_behind, name_inside, names_called, names_in_piece, qualified_names,
    quoted_names, sign_before,
};
pub use test_names::{test_named, test_titled};

use crate::code_line::MODIFIERS;
use crate::identifier_style::is_token;
use crate::language::LanguageFacts;
use crate::literal_match::message_behind_prefix;

/// The evidence by which a query points at a unit, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Certainty {
    /// The unit contains the query inside a longer word, or in another spelling.
    Part,
    /// The unit contains a run of the query's words.
    Run,
    /// The unit contains all of the query's words in order.
    Words,
    /// The unit contains the query to the character.
    Exact,
    /// The query names its file and a line of it.
    Location,
}

impl Certainty {
    /// The text for explanations.
    pub const fn told(self) -> &'static str {
        match self {
            Certainty::Part => "a part of a word here",
            Certainty::Run => "a run of its words here",
            Certainty::Words => "its words here in order",
            Certainty::Exact => "exactly here",
            Certainty::Location => "line named here",
        }
    }
}

/// How a query points at a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    /// The evidence.
    pub certainty: Certainty,
    /// 0 to 1: orders pointers of one certainty.
    pub strength: f32,
    /// The line to show, from 1.
    pub line: u32,
}

/// A line of a file, as in `src/a.rs:12`, a frame of a stack trace or a compiler's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path as written, with `/` between components; for a Java frame, with the folders of its package.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

/// A definition with its keyword: `class Session`, `pub fn spawn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDeclaration {
    pub keyword: String,
    pub name: String,
}

/// What a query asks for besides its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intents {
    /// Lines of files, the innermost frames of a stack first.
    pub locations: Vec<Location>,
    /// Paths and file names without a line, as written.
    pub mentions: Vec<String>,
    /// Other words that may be names of files: `Makefile`, `.gitignore`, `_utils`.
    pub names: Vec<String>,
    /// The one of `mentions` or `names` that ends the text after the word "in": if several files match, the place to
    /// search.
    pub place: Option<String>,
    /// Phrases in double quotes; empty for a text of several lines or one that names a line.
    pub phrases: Vec<String>,
    /// Whether each of them is an argument of a flag, so that it need not occur.
    pub are_arguments: bool,
    /// The definition, if the query is just a keyword and a name.
    pub declaration: Option<NamedDeclaration>,
    /// The name whose callers are requested; the whole text if the query asks for all places of a name.
    pub callers_of: Option<String>,
    /// The name whose definition a question asks for.
    pub definition_of: Option<String>,
    /// The name of the type that the requested types extend or implement.
    pub subtypes_of: Option<String>,
    /// The name in a query of just a name and a file: `Client in client.py`.
    pub beside_file: Option<String>,
    /// Names, codes, numbers and paths: words that occur either as written or not at all.
    pub tokens: Vec<String>,
    /// Whether the query consists of tokens and names no line.
    pub is_tokens: bool,
}

/// Quotation marks around a word.
const QUOTES: &[char] = &['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', '‹', '›'];
/// Punctuation after a word of a sentence.
const SENTENCE_ENDS: &[char] = &[',', ';', '?', '!', '…'];

impl Intents {
    /// Whether a text is just a file's path or name.
    pub fn is_name_alone(&self, text: &str) -> bool {
        self.mentions.iter().chain(&self.names).any(|name| is_written(text, name))
    }

    /// The parsed intents in words, for explanations.
    pub fn told(&self) -> Vec<String> {
        let Intents { locations, mentions, phrases, declaration, tokens, .. } = self;
        let each = |what: &'static str, all: &[String]| -> Vec<String> {
            all.iter().map(|one| format!("{what} {one}")).collect()
        };
        let places = locations.iter().map(|at| format!("place {}:{}", at.path, at.line)).collect();
        let declared = declaration.iter().map(|d| format!("declaration {} {}", d.keyword, d.name)).collect();
        let called = self.callers_of.iter().map(|name| format!("callers of {name}"));
        let defined = self.definition_of.iter().map(|name| format!("definition of {name}"));
        let extended = self.subtypes_of.iter().map(|name| format!("subtypes of {name}"));
        let beside = self.beside_file.iter().map(|name| format!("name {name} of a file"));
        let quoted = phrases.iter().map(|phrase| format!("phrase {phrase:?}")).collect();
        let words = [each("file", mentions), each("token", tokens)].concat();
        [places, quoted, declared, called.chain(defined).chain(extended).chain(beside).collect(), words].concat()
    }

    /// Parses a query.
    pub fn parse(text: &str, facts: &LanguageFacts) -> Intents {
        let linked = links_as_paths(text);
        let (typed, text) = (text, &*anchors_apart(&linked, facts));
        let mut intents = Intents {
            // Runtimes quote the names of threads.
            phrases: phrases(message_behind_prefix(text).unwrap_or(text)),
            declaration: declaration(text, facts),
            callers_of: name_asked_for(text, NameQuestion::Callers),
            definition_of: name_asked_for(text, NameQuestion::Definition),
            subtypes_of: name_asked_for(text, NameQuestion::Subtypes),
            tokens: text.split_whitespace().map(bare).filter(|word| is_token(word)).map(String::from).collect(),
            ..Intents::default()
        };
        // A sentence around a link is not a path with blanks.
        intents.locations.extend(whole_places(typed));
        for word in path_words(text) {
            let mut named = None;
            match read_path(text, &word, facts) {
                Some((path, Some(line))) => intents.locations.push(Location { path, line }),
                Some((path, None)) => {
                    named = Some(path.clone());
                    intents.mentions.push(path);
                }
                None => {
                    named = file_name(word.text).map(String::from);
                    intents.names.extend(named.clone());
                }
            }
            if word.text.contains(char::is_alphanumeric) {
                intents.place = named.filter(|_| stands_behind_in(&text[..word.start]));
            }
        }
        let mut seen = HashSet::new();
        intents.mentions.retain(|mention| seen.insert(mention.clone()));
        intents.names.extend(odd_names(text).map(String::from));
        intents.locations.dedup();
        let file = match intents.mentions.as_slice() {
            [] => intents.place.as_deref(),
            [one] => Some(one.as_str()),
            _ => None,
        };
        intents.beside_file = file.filter(|_| intents.locations.is_empty()).and_then(|file| name_beside(text, file));
        if ends_innermost(text) {
            intents.locations.reverse();
        }
        // In pasted lines, and in a message that names one, the quotes are the program's.
        if !intents.locations.is_empty() || text.trim().contains('\n') {
            intents.phrases.clear();
        }
        intents.are_arguments = !intents.phrases.is_empty() && are_arguments(text);
        let are_all = text.split_whitespace().count() == intents.tokens.len();
        intents.is_tokens = are_all && !intents.tokens.is_empty() && intents.locations.is_empty();
        intents
    }
}

/// Whether a text's frames are Python's, the only ones that end with the innermost. A pasted part of a trace has no
/// head, and no other language writes `File "a.py", line 7, in run`, or, as pytest, `a.py:7: in run`.
fn ends_innermost(text: &str) -> bool {
    let is_frame = |line: &str| {
        let place = line.trim_start().strip_prefix("File \"").and_then(|rest| rest.split_once("\", line "));
        let is_of_pytest = || line.split_once(".py:").is_some_and(|(_, behind)| behind.contains(": in "));
        place.is_some_and(|(_, behind)| behind.contains(", in ")) || is_of_pytest()
    };
    text.contains("most recent call last") || text.lines().any(is_frame)
}

/// A word without quotes around it or punctuation after it.
pub(super) fn bare(word: &str) -> &str {
    word.trim_end_matches(SENTENCE_ENDS).trim_matches(QUOTES).trim_end_matches(SENTENCE_ENDS)
}

/// Keyword and name, without modifiers before and punctuation after them; `None` if the text says more.
fn declaration(text: &str, facts: &LanguageFacts) -> Option<NamedDeclaration> {
    let mut words = text.split_whitespace().skip_while(|w| MODIFIERS.contains(w) || w.starts_with("pub("));
    let keyword = words.next().filter(|w| facts.is_declaration_keyword(w))?;
    let mut written = words.next()?;
    // `func (r *Router) Handle(` has a receiver before the name.
    if written.starts_with('(') {
        written = words.find(|w| w.ends_with(')')).and_then(|_| words.next())?;
    }
    let name = written.split(['(', '<', '{', ':', '=', '[', ';']).next()?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.contains(char::is_whitespace);
    let ends_here = written.len() > name.len() || words.next().is_none_or(|w| w.starts_with(['{', '(', '<', ':', '=']));
    (is_name && ends_here).then(|| NamedDeclaration { keyword: keyword.to_string(), name: name.to_string() })
}

#[cfg(test)]
mod tests;
