//! Filters that are written into a query, as zoekt's and GitHub's users write them: `lang:python file:*_test.go -file:vendor
//! repo:api`.
//!
//! Only a whole word of a query for people counts, and only if its value can be what it seems to be. Everything else stays
//! a word of the query: a pasted log has colons too.

use std::path::PathBuf;

use colgrep_syntax::language;

use super::{Question, SearchRequest};

/// Longest query with filters, in bytes.
const QUERY_BYTES_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
enum QueryFilter {
    Language(String),
    File(String),
    Repository(String),
}

/// The filter that a word of a query is, and whether it excludes.
fn filter_of(word: &str) -> Option<(QueryFilter, bool)> {
    let (word, excludes) = word.strip_prefix('-').map_or((word, false), |rest| (rest, true));
    let (name, value) = word.split_once(':')?;
    let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    // Addresses (`file://…`), places in files (`file:a.rs:3`) and code (`lang:"en"`) are no filters.
    let is_plain = |c: char| c.is_alphanumeric() || "._-/*?+#".contains(c);
    if value.is_empty() || value.starts_with('/') || !value.chars().all(is_plain) {
        return None;
    }
    let filter = match name {
        "lang" | "language" => QueryFilter::Language(language::by_name(&value.to_lowercase())?.name.to_string()),
        "file" | "path" => QueryFilter::File(value.to_string()),
        "repo" => QueryFilter::Repository(value.trim_end_matches('/').to_string()),
        _ => return None,
    };
    Some((filter, excludes))
}

/// A glob for all paths that contain a text, or the text itself if it is a glob.
fn glob_of(text: &str) -> Vec<String> {
    match text.contains(['*', '?']) {
        true => vec![text.to_string()],
        false => vec![format!("**/*{text}*"), format!("**/*{text}*/**")],
    }
}

/// The texts of `file:TEXT` filters among globs, and the other globs.
pub fn texts_of(globs: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    let mut rest = globs;
    while let Some((first, behind)) = rest.split_first() {
        let text = first.strip_prefix("**/*").and_then(|text| text.strip_suffix('*')).unwrap_or_default();
        let both = glob_of(text);
        if !text.is_empty() && rest.starts_with(&both) {
            texts.push(text.to_string());
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
        // Without another word there is nothing to rank.
        if filters.is_empty() || words.is_empty() {
            return;
        }
        let text = words.join(" ");
        self.question = Question::Text(text);
        let scope = &mut self.scope;
        for (filter, excludes) in filters {
            match (filter, excludes) {
                (QueryFilter::Language(name), false) => scope.types.push(name),
                (QueryFilter::Language(name), true) => scope.types_not.push(name),
                (QueryFilter::File(text), false) => scope.include_any_case.extend(glob_of(&text)),
                (QueryFilter::File(text), true) => scope.exclude_any_case.extend(glob_of(&text)),
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
        let Question::Text(text) = request.question else { panic!("a text") };
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
            "lang:python",
            "Error: file: not found",
            "attribute \"lang:python\" in html",
            "one\nfile:two",
        ] {
            assert_eq!(read(query, true), (query.to_string(), Scope::default()), "{query}");
        }
    }
}
