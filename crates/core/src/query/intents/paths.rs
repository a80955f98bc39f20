//! Paths and names of files in a text, as people and programs write them.

use std::borrow::Cow;

use super::line_numbers::{
    leading_number, line_behind, line_behind_hash, line_in_front, line_number, split_line, whole_number,
};
use super::{Location, QUOTES, bare};
use crate::language::LanguageFacts;

/// Characters that end a path in a text.
const PATH_ENDS: &[char] = &[
    '"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', '‹', '›', '…', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';',
    '|', '=', '*',
];

/// Replaces each link to a file on a forge by the path and line of the file: `src/a.rs#L12`.
pub(super) fn links_as_paths(text: &str) -> Cow<'_, str> {
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
    // Host, owner and name come first; GitLab has nested groups, and `-` after the name.
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
pub(super) fn anchors_apart<'t>(text: &'t str, facts: &LanguageFacts) -> Cow<'t, str> {
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

/// Whether a word is this path or file name, however its path begins.
pub fn is_written(word: &str, name: &str) -> bool {
    let word = bare_path(bare(word.trim()));
    [word.as_str(), word.trim_start_matches('@')].contains(&bare_path(name).as_str())
}

/// A written path without `./`, `**/`, slashes at its ends and punctuation, and with `/` for `\`.
fn bare_path(path: &str) -> String {
    let path = path.trim_end_matches(['.', ':']).replace('\\', "/");
    path.trim_start_matches("./").trim_start_matches("**/").trim_matches('/').to_string()
}

/// Places whose paths have spaces or an unknown extension: a quoted path after `File`, and a line that is just a path
/// and a number.
pub(super) fn whole_places(text: &str) -> impl Iterator<Item = Location> + '_ {
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
        // Text that a program prints around a path is not part of it.
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
pub(super) struct PathWord<'t> {
    pub text: &'t str,
    pub start: usize,
    pub end: usize,
}

pub(super) fn path_words(text: &str) -> impl Iterator<Item = PathWord<'_>> {
    let is_end = |c: char| c.is_whitespace() || PATH_ENDS.contains(&c);
    text.split(is_end).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        PathWord { text: word, start, end: start + word.len() }
    })
}

/// The path that a word is, with its line if the text names one.
pub(super) fn read_path(text: &str, word: &PathWord<'_>, facts: &LanguageFacts) -> Option<(String, Option<u32>)> {
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
    // `server.*` matches any extension. If more follows, it is a text pattern.
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

/// Whether a path ends in a file name with a stem and an extension.
fn is_file_of(path: &str, facts: &LanguageFacts) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.find('.').is_some_and(|dot| dot > 0) && facts.is_file_name(&name.to_lowercase())
}

/// The path, and what follows it, in a frame's address: of a file, of a bundler's module (`webpack:///./src/a.js:12`),
/// or of a server if it has a line and a column. Some browsers put the function first:
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

/// The word as a file name without a known extension, if it has an unusual form: in capitals, with a dot or a hyphen
/// inside, a dot or an underscore in front, or `file` at its end.
pub(super) fn file_name(word: &str) -> Option<&str> {
    let name = word.trim_end_matches(['.', '?', '!', ':']);
    let has_letters = name.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
    let is_capital = !name.chars().any(char::is_lowercase);
    let is_marked = name.starts_with('_') || name.contains(['.', '-']) || name.ends_with("file") || is_capital;
    // `__init__` is a name in Python, not of a file.
    let is_dunder = name.starts_with("__") && name.ends_with("__");
    (has_letters && is_marked && !is_dunder && !name.contains(['/', ':'])).then_some(name)
}

/// Names of files with characters that end a path elsewhere: `works(1).txt`.
pub(super) fn odd_names(text: &str) -> impl Iterator<Item = &str> {
    let inner = |word: &&str| word.trim_matches(PATH_ENDS).contains(PATH_ENDS);
    text.split_whitespace().filter(inner).filter_map(file_name)
}

/// Whether the last word of a text is "in", apart from opening brackets and quotes.
pub(super) fn stands_behind_in(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || PATH_ENDS.contains(&c));
    before.rsplit(char::is_whitespace).next().is_some_and(|word| word.eq_ignore_ascii_case("in"))
}

/// The package folders before a frame's file: `com/acme/net` of `at com.acme.net.Tcp.open(`.
fn package_folders(before: &str) -> Option<String> {
    let qualified = before.strip_suffix('(')?.rsplit(char::is_whitespace).next()?;
    let mut parts: Vec<&str> = qualified.split('.').collect();
    parts.truncate(parts.len().checked_sub(2)?);
    (!parts.is_empty()).then(|| parts.join("/"))
}
