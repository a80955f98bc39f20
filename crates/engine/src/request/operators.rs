//! Filters that are written into a query, as zoekt's and GitHub's users write them: `lang:python file:*_test.go -file:vendor
//! repo:api`.
//!
//! Only a whole word of a query for people counts, and only if its value can be what it seems to be. Everything else stays
//! a word of the query: a pasted log has colons too.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use colgrep_core::UnitKind;
use colgrep_syntax::language;

use super::{Question, SearchRequest};
use crate::settings::did_you_mean::nearest;

/// Longest query with filters, in bytes.
const QUERY_BYTES_MAX: usize = 300;
/// Shortest mistyped name of a language, in letters: shorter ones name languages of people (`lang:en`).
const LETTERS_OF_LANGUAGE_MIN: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
enum QueryFilter {
    Language(String),
    File(String),
    Kind(UnitKind),
    Repository(String),
}

/// Whether a word of a query is a filter.
pub fn is_filter(word: &str) -> bool {
    filter_of(word).is_some()
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "._-/*?+#".contains(c)
}

/// Whether a text has the form of a path or a glob. Brackets are parts of names, as in `src/[id].tsx`, or of globs; behind
/// a letter, one is code: a call or an index. So is one in what has no folder and no extension, as in `file:[0]`.
fn is_path(text: &str) -> bool {
    let is_of_glob = is_glob(text);
    let (mut closing, mut before) = (Vec::new(), ' ');
    for c in text.chars() {
        let closes = match c {
            '(' if !is_of_glob || text.contains('/') => Some(')'),
            '[' => Some(']'),
            '{' if is_of_glob => Some('}'),
            _ => None,
        };
        let is_part = match closes {
            Some(_) => !before.is_alphanumeric() && before != '_',
            None if ")]}".contains(c) => !"([{".contains(before) && closing.pop() == Some(c),
            None if c == '@' => before == '/',
            None => is_plain(c) || (c == ',' && !closing.is_empty()),
        };
        if !is_part {
            return false;
        }
        closing.extend(closes);
        before = c;
    }
    let extension = || Path::new(text).extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_extension = |text: &str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
    let is_plain_path = text.chars().all(is_plain);
    closing.is_empty() && (is_plain_path || text.contains(['/', '*']) || is_extension(extension()))
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', ','])
}

/// A path without `./` before it.
fn below_here(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

/// The filter that a word of a query is, and whether it excludes.
fn filter_of(word: &str) -> Option<(QueryFilter, bool)> {
    let (word, excludes) = word.strip_prefix('-').map_or((word, false), |rest| (rest, true));
    let (name, value) = word.split_once(':')?;
    let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    // Addresses (`file://…`), places in files (`file:a.rs:3`) and code (`lang:"en"`) are no filters.
    let is_of_path = matches!(name, "file" | "path");
    let value = if is_of_path { below_here(value) } else { value };
    let is_value = || if is_of_path { is_path(value) } else { value.chars().all(is_plain) };
    if value.is_empty() || value.starts_with('/') || !is_value() {
        return None;
    }
    let filter = match name {
        "lang" | "language" => QueryFilter::Language(language_of(value)?),
        "file" | "path" => QueryFilter::File(value.to_string()),
        "kind" if !excludes => QueryFilter::Kind(UnitKind::from_name(value)?),
        "repo" => QueryFilter::Repository(value.trim_end_matches('/').to_string()),
        _ => return None,
    };
    Some((filter, excludes))
}

/// The name of a language, or what is probably meant as one and refused later.
fn language_of(value: &str) -> Option<String> {
    let value = value.to_lowercase();
    if let Some(language) = language::by_name(&value) {
        return Some(language.name.to_string());
    }
    let names = language::known().flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied()));
    let is_mistyped = value.len() >= LETTERS_OF_LANGUAGE_MIN && nearest(&value, names).is_some();
    is_mistyped.then_some(value)
}

/// A glob for all paths that contain a text, or the text itself if it is a glob.
fn glob_of(text: &str) -> Vec<String> {
    if is_glob(text) {
        return vec![text.to_string()];
    }
    let escaped = |c: char| if "[]".contains(c) { format!("[{c}]") } else { c.to_string() };
    let text: String = text.chars().map(escaped).collect();
    vec![format!("**/*{text}*"), format!("**/*{text}*/**")]
}

/// The text of which [`glob_of`] makes a glob.
fn unescaped(glob: &str) -> String {
    ["[[]", "[]]"].iter().fold(glob.to_string(), |text, class| text.replace(class, &class[1..2]))
}

/// The texts of `file:TEXT` filters among globs, and the other globs.
pub fn texts_of(globs: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    let mut rest = globs;
    while let Some((first, behind)) = rest.split_first() {
        let text = first.strip_prefix("**/*").and_then(|text| text.strip_suffix('*')).unwrap_or_default();
        let text = unescaped(text);
        let both = glob_of(&text);
        if !text.is_empty() && rest.starts_with(&both) {
            texts.push(text);
            rest = &rest[both.len()..];
        } else {
            others.push(first.clone());
            rest = behind;
        }
    }
    (texts, others)
}

impl SearchRequest {
    /// Takes the filters of the query into the scope. Repositories are those of shards (`over_shards`); elsewhere they
    /// stay words.
    pub fn read_filters(&mut self, over_shards: bool) {
        let Question::Text(query) = &self.question else { return };
        if query.len() > QUERY_BYTES_MAX || query.contains('\n') || query.contains('"') {
            return;
        }
        let (mut words, mut filters) = (Vec::new(), Vec::new());
        for word in query.split_whitespace() {
            match filter_of(word) {
                Some((QueryFilter::Repository(_), _)) if !over_shards => words.push(word),
                Some(filter) => filters.push(filter),
                None => words.push(word),
            }
        }
        if filters.is_empty() {
            return;
        }
        // Without another word there is nothing to rank.
        self.question = if words.is_empty() { Question::Every } else { Question::Text(words.join(" ")) };
        let scope = &mut self.scope;
        for (filter, excludes) in filters {
            match (filter, excludes) {
                (QueryFilter::Language(name), false) => scope.types.push(name),
                (QueryFilter::Language(name), true) => scope.types_not.push(name),
                (QueryFilter::File(text), false) => scope.include_any_case.extend(glob_of(&text)),
                (QueryFilter::File(text), true) => scope.exclude_any_case.extend(glob_of(&text)),
                (QueryFilter::Kind(kind), _) => scope.facts.kinds.push(kind),
                (QueryFilter::Repository(name), false) => scope.paths.push(PathBuf::from(name)),
                (QueryFilter::Repository(name), true) => scope.repositories_not.push(name),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Scope;

    fn read(query: &str, over_shards: bool) -> (String, Scope) {
        let mut request = SearchRequest::new(query);
        request.read_filters(over_shards);
        let text = if let Question::Text(text) = request.question { text } else { "(all)".to_string() };
        (text, request.scope)
    }

    #[test]
    fn filters_of_a_query_become_its_scope() {
        let (text, scope) =
            read("parse  lang:Python request -file:vendor path:*_test.py -lang:go repo:httpx -repo:web", true);
        assert_eq!(text, "parse request");
        assert_eq!((scope.types, scope.types_not), (vec!["python".to_string()], vec!["go".to_string()]));
        assert_eq!(scope.include_any_case, ["*_test.py"]);
        assert_eq!(scope.exclude_any_case, ["**/*vendor*", "**/*vendor*/**"]);
        assert_eq!((scope.paths, scope.repositories_not), (vec![PathBuf::from("httpx")], vec!["web".to_string()]));
        let (text, scope) = read("kind:function file:net kind:method", false);
        assert_eq!((text.as_str(), scope.facts.kinds), ("(all)", vec![UnitKind::Function, UnitKind::Method]));
        assert_eq!(scope.include_any_case, ["**/*net*", "**/*net*/**"]);
        for (query, expected) in
            [("lang:rsut x", "rsut"), ("lang:Pyhton x", "pyhton"), ("lang:golang x", "go"), ("lang:ruby", "ruby")]
        {
            assert_eq!(read(query, false).1.types, [expected], "{query}");
        }
        for (query, expected) in [
            ("x file:src/[id].tsx", "**/*src/[[]id[]].tsx*"),
            ("x path:docs/[[...slug]]", "**/*docs/[[][[]...slug[]][]]*"),
            ("x file:app/(group)/@modal/page.tsx", "**/*app/(group)/@modal/page.tsx*"),
            ("x file:./args.go", "**/*args.go*"),
            ("x file:[id].tsx", "**/*[[]id[]].tsx*"),
            ("x file:src/*.{ts,tsx}", "src/*.{ts,tsx}"),
            ("x file:*.[ch]", "*.[ch]"),
        ] {
            let (text, scope) = read(query, false);
            let globs = &scope.include_any_case;
            assert_eq!((text.as_str(), globs.first().map(String::as_str)), ("x", Some(expected)), "{query}");
            let written = query.trim_start_matches("x file:").trim_start_matches("x path:").trim_start_matches("./");
            let (texts, others) = texts_of(globs);
            assert!(texts == [written] || (texts.is_empty() && others == [expected]), "{query}: {texts:?} {others:?}");
        }
        // Here, repositories are folders, and a word is a word.
        assert_eq!(read("parse repo:httpx -repo:web", false).0, "parse repo:httpx -repo:web");
    }

    #[test]
    fn what_is_no_filter_stays_a_word() {
        for query in [
            "lang:en attribute",
            "open file:///etc/hosts",
            "panic at file:src/main.rs:12",
            "tar -xzf archive",
            "a label:bug",
            "lang:fr attribute",
            "lang:klingon x",
            "kind:Deployment x",
            "-kind:function x",
            "Error: file: not found",
            "error in file:main.go, line",
            "x path:join(a,b)",
            "x file:args[0]",
            "error reading file:(null)",
            "could not open file:{name}",
            "could not open file:{folder}/{name}",
            "load path:{}",
            "var path:[String] = []",
            "x file:[]byte",
            "x path:[a,b]",
            "x file:[0]",
            "x path:@scope/pkg",
            "what is path:{id}?",
            "x path:(.*)",
            "x file:{user,main}",
            "x file:*[a",
            "x (file:main.go)",
            "x file:main.go)",
            "attribute \"lang:python\" in html",
            "one\nfile:two",
        ] {
            assert_eq!(read(query, true), (query.to_string(), Scope::default()), "{query}");
        }
    }
}
