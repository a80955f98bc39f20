//! Parses what a query asks for besides its words: a line of a file, a definition, callers, a phrase.
//!
//! Parsing is pure, never fails and takes no word out of the query: what an intent names may not be here. `colgrep-search`
//! resolves intents in an index.

mod all_places;
mod decorated_names;
mod line_numbers;
mod node_ids;
mod phrases;
mod questions;
mod shell_names;
mod test_names;

use std::borrow::Cow;
use std::collections::HashSet;

pub use all_places::all_places_of;
pub use decorated_names::names_around;
use line_numbers::{
    leading_number, line_behind, line_behind_hash, line_in_front, line_number, split_line, whole_number,
};
pub use node_ids::split_node_ids;
use phrases::{are_arguments, phrases};
pub use questions::is_joint;
use questions::{NameQuestion, name_asked_for, name_beside};
use serde::{Deserialize, Serialize};
pub use shell_names::{flags_in, lookup_form, mark_behind, name_inside, names_called, qualified_names};
pub use test_names::{test_named, test_titled};

use crate::code_line::MODIFIERS;
use crate::identifier_style::is_token;
use crate::language::LanguageFacts;
use crate::literal_match::message_behind_prefix;

/// The evidence by which a query points at a unit, the weakest first.
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
    /// The keyword as written.
    pub keyword: String,
    /// The name as written.
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
    /// The one of `mentions` or `names` that ends the text behind the word "in": of several files, the place to look in.
    pub place: Option<String>,
    /// Phrases in double quotes; none in a text of several lines or one that names a line.
    pub phrases: Vec<String>,
    /// Whether each of them is an argument of a flag: no condition if it occurs nowhere.
    pub are_arguments: bool,
    /// The definition, if the query is nothing but a keyword and a name.
    pub declaration: Option<NamedDeclaration>,
    /// The name whose callers are asked for; the whole text if all places of a name are.
    pub callers_of: Option<String>,
    /// The name whose definition a question asks for.
    pub definition_of: Option<String>,
    /// The name that is all the query says besides one file: `Client in client.py`.
    pub beside_file: Option<String>,
    /// Names, codes, numbers and paths: words that occur as written or not at all.
    pub tokens: Vec<String>,
    /// Operators: `==` in `operator==`, and `>>=` alone.
    pub operators: Vec<String>,
    /// Whether the query is nothing but tokens and names no line.
    pub is_tokens: bool,
}

/// Characters that end a path in a text.
const PATH_ENDS: &[char] = &[
    '"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', '‹', '›', '…', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';',
    '|', '=', '*',
];
/// Quotation marks around a word.
const QUOTES: &[char] = &['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', '‹', '›'];
/// Punctuation behind a word of a sentence.
const SENTENCE_ENDS: &[char] = &[',', ';', '?', '!', '…'];
impl Intents {
    /// Whether a text is nothing but a file's path or name.
    pub fn is_name_alone(&self, text: &str) -> bool {
        self.mentions.iter().chain(&self.names).any(|name| is_written(text, name))
    }

    /// What was parsed, in words, for explanations.
    pub fn told(&self) -> Vec<String> {
        let Intents { locations, mentions, phrases, declaration, tokens, operators, .. } = self;
        let each = |what: &'static str, all: &[String]| -> Vec<String> {
            all.iter().map(|one| format!("{what} {one}")).collect()
        };
        let places = locations.iter().map(|at| format!("place {}:{}", at.path, at.line)).collect();
        let declared = declaration.iter().map(|d| format!("declaration {} {}", d.keyword, d.name)).collect();
        let called = self.callers_of.iter().map(|name| format!("callers of {name}"));
        let defined = self.definition_of.iter().map(|name| format!("definition of {name}"));
        let beside = self.beside_file.iter().map(|name| format!("name {name} of a file"));
        let quoted = phrases.iter().map(|phrase| format!("phrase {phrase:?}")).collect();
        let words = [each("file", mentions), each("token", tokens), each("operator", operators)].concat();
        [places, quoted, declared, called.chain(defined).chain(beside).collect(), words].concat()
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
            tokens: text.split_whitespace().map(bare).filter(|word| is_token(word)).map(String::from).collect(),
            operators: text.split_whitespace().filter_map(operator).map(String::from).collect(),
            ..Intents::default()
        };
        // A sentence around a link is no path with blanks.
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

/// Whether a text's frames are Python's, which alone prints the innermost one last. A pasted part of a trace has no head, and
/// no other language writes `File "a.py", line 7, in run`.
fn ends_innermost(text: &str) -> bool {
    let is_frame = |line: &str| {
        let place = line.trim_start().strip_prefix("File \"").and_then(|rest| rest.split_once("\", line "));
        place.is_some_and(|(_, behind)| behind.contains(", in "))
    };
    text.contains("most recent call last") || text.lines().any(is_frame)
}

/// Replaces each link to a file on a forge by the path and line of the file: `src/a.rs#L12`.
fn links_as_paths(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let (mut told, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("://") {
        let start = rest[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        let is_end = |c: char| c.is_whitespace() || (PATH_ENDS.contains(&c) && c != '=');
        let end = rest[at..].find(is_end).map_or(rest.len(), |length| at + length);
        let link = &rest[start..end];
        told.push_str(&rest[..start]);
        told.push_str(&path_of_link(link).unwrap_or_else(|| link.to_string()));
        rest = &rest[end..];
    }
    told.push_str(rest);
    Cow::Owned(told)
}

/// The path and line of `https://github.com/OWNER/NAME/blob/COMMIT/PATH#L12`, of `/blame/`, `/raw/` and GitLab's `/-/blob/`,
/// on any host.
fn path_of_link(link: &str) -> Option<String> {
    let address = link.strip_prefix("https://").or_else(|| link.strip_prefix("http://"))?;
    let (address, fragment) = address.split_once('#').unwrap_or((address, ""));
    let parts: Vec<&str> = address.split('?').next()?.split('/').collect();
    let at = parts.iter().position(|part| matches!(*part, "blob" | "blame" | "raw"))?;
    // Host, owner and name stand in front; GitLab has nested groups, and `-` behind the name.
    let is_forge = at == 3 || (at > 3 && parts[at - 1] == "-");
    let path = parts.get(at + 2..).filter(|_| is_forge)?.join("/");
    let digits: String =
        fragment.strip_prefix('L').into_iter().flat_map(str::chars).take_while(char::is_ascii_digit).collect();
    match digits.is_empty() {
        _ if path.is_empty() => None,
        true => Some(path),
        false => Some(format!("{path}#L{digits}")),
    }
}

/// Separates an anchor from its file: `docs/a.md#first-steps` becomes `docs/a.md first steps`, and `src/a.py#copy` becomes
/// `src/a.py copy`. Numbers of lines stay.
fn anchors_apart<'t>(text: &'t str, facts: &LanguageFacts) -> Cow<'t, str> {
    // Forges show the source of a page as `a.md?plain=1#L12`.
    const PLAIN: &str = "?plain=1#";
    let text = if text.contains(PLAIN) { Cow::Owned(text.replace(PLAIN, "#")) } else { Cow::Borrowed(text) };
    let apart = |word: &str| {
        let (path, anchor) = word.split_once('#')?;
        let is_name = anchor.starts_with(|c: char| c == '_' || c.is_alphabetic());
        (is_name && is_file_of(path, facts) && line_number(anchor).is_none())
            .then(|| format!("{path} {}", anchor.replace('-', " ")))
    };
    let (mut told, mut from) = (String::new(), 0);
    for word in path_words(&text) {
        if let Some(apart) = apart(word.text) {
            told.push_str(&text[from..word.start]);
            told.push_str(&apart);
            from = word.end;
        }
    }
    if from == 0 { text } else { Cow::Owned(told + &text[from..]) }
}

/// The operator that a word is or names: at least two marks, or those behind `operator`.
fn operator(word: &str) -> Option<&str> {
    let is_mark = |c: char| "=<>+-*/%&|^~!?:.@$".contains(c);
    let marks = word.strip_prefix("operator").unwrap_or(word).trim_matches(['(', ')', '`']);
    let is_named = word.len() > "operator".len() && word.starts_with("operator");
    (!marks.is_empty() && marks.chars().all(is_mark) && (is_named || marks.chars().nth(1).is_some())).then_some(marks)
}

/// A word without quotes around it and punctuation behind it.
fn bare(word: &str) -> &str {
    word.trim_end_matches(SENTENCE_ENDS).trim_matches(QUOTES).trim_end_matches(SENTENCE_ENDS)
}

/// Whether a word is this path or name of a file, however its path begins.
pub fn is_written(word: &str, name: &str) -> bool {
    let word = bare_path(bare(word.trim()));
    [word.as_str(), word.trim_start_matches('@')].contains(&bare_path(name).as_str())
}

/// A written path without `./`, `**/`, slashes at its ends and punctuation, and with `/` for `\`.
fn bare_path(path: &str) -> String {
    let path = path.trim_end_matches(['.', ':']).replace('\\', "/");
    path.trim_start_matches("./").trim_start_matches("**/").trim_matches('/').to_string()
}

/// Places whose paths have spaces or an unknown ending: a quoted path behind `File`, and a line that is nothing but a path and
/// a number.
fn whole_places(text: &str) -> impl Iterator<Item = Location> + '_ {
    text.lines().map(str::trim).filter_map(|line| {
        let (path, line) = match line.strip_prefix("File \"") {
            Some(rest) => {
                let (path, behind) = rest.split_once('"')?;
                (path, line_behind(behind)?)
            }
            None => {
                let (path, Some(line)) = split_line(line.strip_prefix("at ").unwrap_or(line)) else { return None };
                (path.contains('/') && !path.contains("://")).then_some((path, line))?
            }
        };
        // What a program prints around a path is no part of it.
        let is_said = path.contains(['(', '<']) || path.contains(": ") || path.contains("> ") || path.contains(" /");
        // `a.ts 12:5` has a line and a column.
        let is_column = path.rsplit(' ').next().is_some_and(|word| whole_number(word).is_some());
        if is_said || is_column {
            return None;
        }
        let is_odd = path.contains(char::is_whitespace) || !path.rsplit('/').next()?.contains('.');
        is_odd.then(|| Location { path: path.trim_start_matches("./").to_string(), line })
    })
}

/// A word that may be a path, and its place in the text.
struct PathWord<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

fn path_words(text: &str) -> impl Iterator<Item = PathWord<'_>> {
    let is_end = |c: char| c.is_whitespace() || PATH_ENDS.contains(&c);
    text.split(is_end).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        PathWord { text: word, start, end: start + word.len() }
    })
}

/// The path that a word is, with its line if the text names one.
fn read_path(text: &str, word: &PathWord<'_>, facts: &LanguageFacts) -> Option<(String, Option<u32>)> {
    let written = match word.text.split_once("://") {
        Some((scheme, address)) => path_of_address(scheme, address)?,
        None => word.text,
    };
    let (path, inside) = match written.strip_suffix(":line") {
        Some(path) => (path, leading_number(text[word.end..].trim_start())),
        None => line_behind_hash(written, facts).unwrap_or_else(|| split_line(written)),
    };
    let path = path.trim_end_matches(['.', '?', '!', ':']).replace('\\', "/");
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let is_file = is_file_of(path, facts);
    // People hand files to agents as `@src/client.py`.
    let path = path.strip_prefix('@').filter(|_| is_file).unwrap_or(path);
    let is_deep = path.split('/').filter(|part| part.chars().any(char::is_alphanumeric)).count() >= 2;
    // `server.*` has any ending. With more behind it, it is a pattern of text.
    let has_stem_alone = word.text.strip_suffix('.').is_some_and(|stem| stem.ends_with(char::is_alphanumeric));
    let is_end = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || QUOTES.contains(&c));
    if has_stem_alone && text[word.end..].strip_prefix('*').is_some_and(|behind| is_end(behind.chars().next())) {
        return Some((format!("{path}.*"), None));
    }
    if !is_file && !is_deep {
        return None;
    }
    let beside = || line_behind(&text[word.end..]).or_else(|| line_in_front(&text[..word.start]));
    let line = inside.or_else(|| is_file.then(beside).flatten());
    let path = match package_folders(&text[..word.start]).filter(|_| line.is_some() && !path.contains('/')) {
        Some(folders) => format!("{folders}/{path}"),
        None => path.to_string(),
    };
    Some((path, line))
}

/// Whether a path ends in a file's name with a stem and an ending.
fn is_file_of(path: &str, facts: &LanguageFacts) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.find('.').is_some_and(|dot| dot > 0) && facts.is_file_name(&name.to_lowercase())
}

/// The path, and what follows it, in the address of a frame: of a file, of a bundler's module (`webpack:///./src/a.js:12`), or
/// of a server if a line and a column tell it from a link. Some browsers put the function in front:
/// `run@http://localhost/src/a.js:12:5`.
fn path_of_address<'t>(scheme: &str, address: &'t str) -> Option<&'t str> {
    match scheme.rsplit('@').next()? {
        "file" | "webpack" | "webpack-internal" | "turbopack" => Some(address),
        "http" | "https" => {
            let is_number = |part: &&str| leading_number(part).is_some();
            let path = address.split_once('/')?.1;
            (path.rsplit(':').take(2).filter(is_number).count() == 2).then_some(path)
        }
        _ => None,
    }
}

/// The word as the name of a file without a known ending, if it is written as hardly any other word is: in capitals, with a dot
/// or a hyphen inside, a dot or an underscore in front, or `file` at its end.
fn file_name(word: &str) -> Option<&str> {
    let name = word.trim_end_matches(['.', '?', '!', ':']);
    let has_letters = name.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
    let is_capital = !name.chars().any(char::is_lowercase);
    let is_marked = name.starts_with('_') || name.contains(['.', '-']) || name.ends_with("file") || is_capital;
    // `__init__` is a name in Python, not of a file.
    let is_dunder = name.starts_with("__") && name.ends_with("__");
    (has_letters && is_marked && !is_dunder && !name.contains(['/', ':'])).then_some(name)
}

/// Names of files with characters that end a path elsewhere: `works(1).txt`.
fn odd_names(text: &str) -> impl Iterator<Item = &str> {
    let inner = |word: &&str| word.trim_matches(PATH_ENDS).contains(PATH_ENDS);
    text.split_whitespace().filter(inner).filter_map(file_name)
}

/// Whether the last word of a text is "in", apart from opening brackets and quotes.
fn stands_behind_in(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || PATH_ENDS.contains(&c));
    before.rsplit(char::is_whitespace).next().is_some_and(|word| word.eq_ignore_ascii_case("in"))
}

/// The folders of the package in front of a frame's file: `com/acme/net` of `at com.acme.net.Tcp.open(`.
fn package_folders(before: &str) -> Option<String> {
    let qualified = before.strip_suffix('(')?.rsplit(char::is_whitespace).next()?;
    let mut parts: Vec<&str> = qualified.split('.').collect();
    parts.truncate(parts.len().checked_sub(2)?);
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Keyword and name, without modifiers in front and punctuation behind; none if the text says more.
fn declaration(text: &str, facts: &LanguageFacts) -> Option<NamedDeclaration> {
    let mut words = text.split_whitespace().skip_while(|w| MODIFIERS.contains(w) || w.starts_with("pub("));
    let keyword = words.next().filter(|w| facts.is_declaration_keyword(w))?;
    let mut written = words.next()?;
    // `func (r *Router) Handle(` has a receiver in front of the name.
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
