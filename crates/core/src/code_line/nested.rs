//! The line of a key inside others: by indentation, below the head of a table, with dots.

use std::collections::HashSet;

use super::is_comment;
use crate::fold::folded;
use crate::token::is_word_char;

/// Maximum of words before the block that a line opens: `resource "disk" "main" {`.
const WORDS_OF_HEAD_MAX: usize = 4;
/// Maximum of open brackets in a line whose keys are read.
const NESTING_MAX: usize = 64;

/// A path of keys in any spelling: `pool.max_size`, `pool:maxSize`, `POOL_MAX_SIZE`. Positions in lists don't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(String);

impl KeyPath {
    pub fn new(text: &str) -> KeyPath {
        KeyPath(text.split(|c| !is_of_key(c)).filter(|part| !is_position(part)).map(letters).collect())
    }

    /// The line of a text, from 1, whose key has this path, and whether that is all of its path; the first such line,
    /// else the first whose path ends so. At least two keys must agree, the first of which may be names in the `file`'s
    /// path: in Helm `values.image.tag` is `tag` inside `image` of `values.yaml`.
    pub fn find(&self, text: &str, file: &str) -> Option<(u32, bool)> {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let folders: Vec<String> = stem.split('/').map(letters).collect();
        let names = (0..folders.len()).flat_map(|from| [folders[from..].concat(), folders[from].clone()]).collect();
        let mut open: Vec<(usize, Vec<String>)> = Vec::new();
        let mut end = None;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || is_comment(line) {
                continue;
            }
            let Some((depth, keys, value)) = keys_of(line) else { continue };
            open.truncate(open.iter().position(|(known, _)| *known >= depth).unwrap_or(open.len()));
            open.push((depth, keys));
            let mut best = None;
            let mut agree = |inside: &[Option<String>]| {
                let outer = open.iter().rev().flat_map(|(_, keys)| keys.iter().rev());
                let inner_first = inside.iter().rev().flatten().chain(outer).map(String::as_str);
                best = best.max(self.is_end_of(inner_first, &names));
                best != Some(true)
            };
            if agree(&[]) {
                keys_in_braces(value, agree);
            }
            match best {
                Some(true) => return Some((number, true)),
                Some(false) => end = end.or(Some((number, false))),
                None => {}
            }
        }
        end
    }

    /// Whether the keys of a path, the innermost first and the outer ones left out if there are more, are this path;
    /// `Some(true)` if all are, or the file has one of these `names` before them.
    fn is_end_of<'k>(&self, keys: impl Iterator<Item = &'k str>, names: &HashSet<String>) -> Option<bool> {
        let mut keys = keys.peekable();
        let (mut rest, mut agreed) = (self.0.as_str(), 0);
        while let Some(key) = keys.next() {
            rest = rest.strip_suffix(key)?;
            agreed += 1;
            if rest.is_empty() {
                return (agreed > 1).then_some(keys.peek().is_none());
            }
        }
        (agreed > 0 && names.contains(rest)).then_some(true)
    }
}

fn is_of_key(c: char) -> bool {
    is_word_char(c) || c == '-'
}

/// Whether a key is a position in a list, or a number that tells as little.
fn is_position(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_digit())
}

fn letters(text: &str) -> String {
    folded(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The keys of a line, how deep they are, and what is behind them. The depth is 0 for the head of a table, else more than
/// the line's indentation.
fn keys_of(line: &str) -> Option<(usize, Vec<String>, &str)> {
    let mut content = line.trim_start();
    while let Some(item) = content.strip_prefix("- ") {
        content = item.trim_start();
    }
    let table = content.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let ends = |behind: &str| behind.is_empty() || behind.starts_with(['#', ';']);
    let table = table.filter(|(_, behind)| ends(behind.trim_start_matches(']').trim()));
    let (depth, (keys, value)) = match table {
        Some((inside, _)) => (0, (inside, "")),
        None => (line.len() - content.len() + 1, head(content)?),
    };
    let mut keys = keys.split(|c| !is_of_key(c)).map(letters).filter(|key| !key.is_empty()).peekable();
    // `{{- if x }}` and `{% if x %}` are statements of a template.
    let opens =
        value.strip_prefix('{').is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(['{', '%', '#']));
    if keys.peek().is_none() && !opens {
        return None;
    }
    Some((depth, keys.filter(|key| !is_position(key)).collect(), value))
}

/// Calls `visit` with the path of each key inside braces, until it returns false: of `= { max = 2, wait = { min = 3 } }`,
/// `max`, `wait`, and `min` in `wait`. A bracket without a key has none in the path.
fn keys_in_braces(value: &str, mut visit: impl FnMut(&[Option<String>]) -> bool) {
    // Where a key or a value begins, and the quotation mark that it opens with.
    let (mut open, mut start, mut quote) = (Vec::<Option<String>>::new(), 0, None);
    let mut chars = value.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote.is_some() => {
                chars.next();
                continue;
            }
            _ if quote.is_some() => {
                quote = quote.filter(|mark| *mark != c);
                continue;
            }
            '"' | '\'' if value[start..at].bytes().all(|byte| byte.is_ascii_whitespace()) => {
                quote = Some(c);
                continue;
            }
            '{' | '[' if open.len() == NESTING_MAX => return,
            '{' | '[' => open.push(None),
            '}' | ']' => _ = open.pop(),
            ',' => open.last_mut().into_iter().for_each(|key| *key = None),
            ':' | '=' => {
                if let Some(key @ None) = open.last_mut() {
                    *key = Some(letters(&value[start..at])).filter(|key| !is_position(key));
                    if key.is_some() && !visit(&open) {
                        return;
                    }
                }
            }
            _ => continue,
        }
        start = at + c.len_utf8();
    }
}

/// The text of a line before a value or a block, and what follows; the name of an element that it opens.
fn head(content: &str) -> Option<(&str, &str)> {
    if let Some(element) = content.strip_prefix('<') {
        return Some((element.split(|c| !is_of_key(c)).next()?, ""));
    }
    let quote = content.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = quote.and_then(|quote| Some(content[1..].find(quote)? + 2)).unwrap_or(0);
    let at = from + content[from..].find([':', '=', '{'])?;
    let (keys, behind) = content.split_at(at);
    // `host:port`, `a::b`, `a == b`; JSON needs no blank behind its colon.
    let is_value = match behind.as_bytes() {
        [b':', rest @ ..] => quote.is_some() || rest.first().is_none_or(u8::is_ascii_whitespace),
        [b'=', rest @ ..] => rest.first() != Some(&b'='),
        _ => true,
    };
    let is_plain = keys.chars().all(|c| is_of_key(c) || matches!(c, ' ' | '.' | '"' | '\'' | '$' | '@' | '/'));
    (is_value && is_plain && keys.split_whitespace().count() <= WORDS_OF_HEAD_MAX).then_some((keys, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_inside_the_keys_around_it() {
        let yaml = "max_size: 1\ncache:\n  pool:\n    max_size: 2\ndata:\n  # pool\n  pool:\n    max_size: 3\nlist:\n- name: x\n  kind: y\n";
        let openapi = "users:\n  responses:\n    default:\n      text: a\n    '404':\n      text: b\n";
        let json = "{\n  \"cache\": {\n    \"pool\": {\n      \"maxSize\": 2\n    }\n  },\n  \"data\": {\n    \"pool\": {\n      \"maxSize\":3\n    }\n  }\n}\n";
        let toml = "[cache.pool]\nmax_size = 2\n[data]\npool.max_size = 3\n[[data.more]] # all\nname = 'x'\n";
        let hcl = "cache {\n  pool {\n    max_size = 2\n  }\n}\nresource \"data\" \"pool\" {\n  max_size = 3\n}\n";
        let php = "return [\n    'cache' => [\n        'pool' => ['a'],\n        'max_size' => 2,\n    ],\n];\n";
        let inline = "data:\n  pool: {wait: {min: 3, 'of': \"x: 1\"}, max_size: 3, list: [1, 2], kind: a}\n";
        let helm = "data:\n  pool:\n{{- if .Values.x }}\n    max_size: 3\n{{- end }}\n";
        let xml = "<project>\n  <data>\n    <max-size>3</max-size>\n  </data>\n</project>\n";
        for (text, path, expected) in [
            (yaml, "data.pool.max_size", Some((8, true))),
            (yaml, "data:pool:maxSize", Some((8, true))),
            (yaml, "DATA_POOL_MAX_SIZE", Some((8, true))),
            (yaml, "DATA__POOL__MAX_SIZE", Some((8, true))),
            (yaml, "pool.max-size", Some((4, false))),
            (yaml, "list.0.kind", Some((11, true))),
            (openapi, "users.responses.404.text", Some((6, true))),
            (openapi, "users.responses.default.text", Some((4, true))),
            (yaml, "app.data.pool.max_size", Some((8, true))),
            (yaml, "config.app.data.pool.max_size", Some((8, true))),
            (yaml, "app.max_size", Some((1, true))),
            (yaml, "config.max_size", Some((1, true))),
            (yaml, "other.data.pool.max_size", None),
            (yaml, "max_size", None),
            (yaml, "data.max_size", None),
            (yaml, "ta.pool.max_size", None),
            (json, "data.pool.max_size", Some((9, true))),
            (toml, "data.pool.max_size", Some((4, true))),
            (toml, "cache.pool.max_size", Some((2, true))),
            (toml, "data.more.name", Some((6, true))),
            (hcl, "cache.pool.max_size", Some((3, true))),
            (hcl, "data.pool.max_size", Some((7, false))),
            (php, "cache.max_size", Some((4, true))),
            (xml, "project.data.maxSize", Some((3, true))),
            (inline, "data.pool.wait.min", Some((2, true))),
            (inline, "data.pool.max_size", Some((2, true))),
            (inline, "data.pool.wait.max_size", None),
            (inline, "data.pool.kind", Some((2, true))),
            (inline, "data.pool.x", None),
            (helm, "data.pool.max_size", Some((4, true))),
            ("{\"data\":{\"a\":\"5\\\" x\",\"pool\":{\"maxSize\":3}}}\n", "data.pool.maxSize", Some((1, true))),
            ("data: {text: don't, max_size: 2}\n", "data.max_size", Some((1, true))),
            ("data: {0: {max_size: 2}}\n", "data.max_size", Some((1, true))),
            ("{\"data\":{\"a\":[1,{\"b\":2}],\"pool\":{\"maxSize\":3}}}\n", "data.pool.maxSize", Some((1, true))),
        ] {
            assert_eq!(KeyPath::new(path).find(text, "config/app.yaml"), expected, "{path} in {text}");
        }
    }

    #[test]
    fn statements_are_no_keys() {
        for line in [
            "if a == b {x",
            "std::min(a)",
            "call(a: 1)",
            "host:80",
            "[\"a\", \"b\"],",
            "a b c d e: f",
            "</x>",
            "# a: 1",
        ] {
            assert_eq!(KeyPath::new("o.a").find(&format!("o:\n  {line}\n"), "x"), None, "{line}");
        }
    }
}
