//! What git's configuration says about ignored files: the user's ignore file, and whether case counts. It is read here
//! and not asked of `git`, since each search would wait for a process, and since a change of any file of it is to show.

use std::path::{Path, PathBuf};

use super::git_places::GitPlaces;
use super::patterns::matches_path;
use super::rules_reader::RulesReader;

/// Files that include others, one in the other, at most; git's own limit.
const DEPTH_MAX: usize = 10;

/// The folders of git's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitFolders {
    /// Those of the checkout.
    pub(super) own: PathBuf,
    /// Those that all checkouts of the repository share.
    pub(super) common: PathBuf,
}

impl GitFolders {
    /// Of the checkout at `folder`; none if there is nothing like it.
    pub(super) fn of(folder: &Path, reader: &RulesReader) -> Option<GitFolders> {
        let git = folder.join(".git");
        if git.is_dir() {
            return Some(GitFolders { own: git.clone(), common: git });
        }
        let first = |text: Vec<u8>| String::from_utf8_lossy(&text).lines().next().map(str::to_string);
        let own = folder.join(first(reader.read(&git)?)?.strip_prefix("gitdir: ")?);
        // Only linked worktrees have one; submodules do not.
        let common = reader.read(&own.join("commondir")).and_then(first);
        let common = common.map_or_else(|| own.clone(), |common| own.join(common));
        Some(GitFolders { own, common })
    }

    /// The main checkout of the same repository.
    pub(super) fn of_main(&self) -> GitFolders {
        GitFolders { own: self.common.clone(), common: self.common.clone() }
    }

    /// Whether this checkout is one of several of the repository, besides its main one.
    pub(super) fn is_linked(&self) -> bool {
        self.own != self.common
    }
}

/// What the configuration says.
#[derive(Debug, Default)]
pub(super) struct GitIgnoreConfig {
    /// The ignore file for all of the user's repositories.
    pub(super) excludes: Option<PathBuf>,
    /// Whether patterns match names of any case.
    pub(super) ignore_case: bool,
    /// Whether the repository has no main checkout.
    pub(super) bare: bool,
}

impl GitIgnoreConfig {
    /// What it says for the checkout at `top`; without folders of a repository, what the user's says.
    pub(super) fn read(
        places: &GitPlaces,
        (top, folders): (&Path, Option<&GitFolders>),
        reader: &RulesReader,
    ) -> GitIgnoreConfig {
        let read = |urls: Vec<String>| {
            let config = GitIgnoreConfig::default();
            let mut config =
                ConfigReader { places, folders, reader, config, urls, new_urls: Vec::new(), worktree: false };
            let mut named = false;
            for file in &places.files {
                named |= config.file(file, 0);
            }
            if let Some(folders) = folders {
                named |= config.file(&folders.common.join("config"), 0);
                if config.worktree {
                    named |= config.file(&folders.own.join("config.worktree"), 0);
                }
            }
            for (key, value) in &places.settings {
                named |= ConfigLine::of(key, value).is_some_and(|line| config.line(Path::new(""), 0, line));
            }
            (config, named)
        };
        let (mut found, mut named) = read(Vec::new());
        if !found.new_urls.is_empty() {
            // Conditions on addresses of remotes look at the whole configuration.
            (found, named) = read(found.new_urls);
        }
        let mut config = found.config;
        // Git reads a relative path from the checkout's top.
        config.excludes = config.excludes.map(|path| top.join(path));
        if !named {
            config.excludes = places.ignore.clone();
        }
        config
    }
}

/// Reads files of one configuration.
struct ConfigReader<'a> {
    places: &'a GitPlaces,
    folders: Option<&'a GitFolders>,
    reader: &'a RulesReader,
    config: GitIgnoreConfig,
    /// The addresses of remotes, once they are known.
    urls: Vec<String>,
    /// Those that were seen, for conditions on them.
    new_urls: Vec<String>,
    /// Whether the checkout has a file of its own.
    worktree: bool,
}

impl ConfigReader<'_> {
    /// Reads a file and those that it includes; whether one of them names the user's ignore file.
    fn file(&mut self, path: &Path, depth: usize) -> bool {
        let Some(text) = self.reader.read_followed(path).filter(|_| depth <= DEPTH_MAX) else { return false };
        let mut named = false;
        for line in config_lines(&String::from_utf8_lossy(&text)) {
            named |= self.line(path, depth, line);
        }
        named
    }

    /// Reads a line of the file at `path`; whether it names the user's ignore file.
    fn line(&mut self, path: &Path, depth: usize, line: ConfigLine) -> bool {
        let ConfigLine { section, subsection, key, value } = line;
        match (section.as_str(), subsection.as_deref(), key.as_str()) {
            ("core", None, "excludesfile") => {
                let written = value.filter(|value| !value.is_empty());
                self.config.excludes = written.and_then(|value| self.places.path(&value));
                return true;
            }
            ("core", None, "ignorecase") => self.config.ignore_case = is_true(value.as_deref()),
            ("core", None, "bare") => self.config.bare = is_true(value.as_deref()),
            ("extensions", None, "worktreeconfig") => self.worktree = is_true(value.as_deref()),
            ("remote", Some(_), "url") => self.new_urls.extend(value),
            ("include", None, "path") => return self.include(path, value, depth),
            ("includeif", Some(condition), "path") if self.holds(condition, path) => {
                return self.include(path, value, depth);
            }
            _ => {}
        }
        false
    }

    fn include(&mut self, from: &Path, written: Option<String>, depth: usize) -> bool {
        let path = written.and_then(|written| self.places.path(&written));
        let folder = from.parent().unwrap_or(Path::new(""));
        path.is_some_and(|path| self.file(&folder.join(path), depth + 1))
    }

    /// Whether a condition holds that the file at `from` states.
    fn holds(&self, condition: &str, from: &Path) -> bool {
        let Some((kind, pattern)) = condition.split_once(':') else { return false };
        let below = |pattern: String| if pattern.ends_with('/') { pattern + "**" } else { pattern };
        match kind {
            "gitdir" | "gitdir/i" => {
                let Some(folders) = self.folders else { return false };
                let pattern = match (pattern.strip_prefix("./"), pattern.strip_prefix("~/"), &self.places.home) {
                    (Some(rest), ..) => from.parent().unwrap_or(Path::new("")).join(rest),
                    (_, Some(rest), Some(home)) => home.join(rest),
                    _ if Path::new(pattern).has_root() => PathBuf::from(pattern),
                    _ => PathBuf::from(format!("**/{pattern}")),
                };
                let pattern = below(pattern.to_string_lossy().into_owned());
                let real = folders.own.canonicalize().ok();
                let matches = |path: &PathBuf| {
                    matches_path(pattern.as_bytes(), path.to_string_lossy().as_bytes(), kind == "gitdir/i")
                };
                real.iter().chain([&folders.own]).any(matches)
            }
            "onbranch" => {
                let head = self.folders.and_then(|folders| self.reader.read(&folders.own.join("HEAD")));
                let head = head.map(|head| String::from_utf8_lossy(&head).into_owned()).unwrap_or_default();
                let branch = head.trim_end().strip_prefix("ref: refs/heads/");
                let pattern = below(pattern.to_string());
                branch.is_some_and(|branch| matches_path(pattern.as_bytes(), branch.as_bytes(), false))
            }
            "hasconfig" => {
                let pattern = pattern.strip_prefix("remote.*.url:").map(|pattern| below(pattern.to_string()));
                let is_of = |pattern: String| {
                    self.urls.iter().any(|url| matches_path(pattern.as_bytes(), url.as_bytes(), false))
                };
                pattern.is_some_and(is_of)
            }
            _ => false,
        }
    }
}

/// Whether a value means yes; a key without one does.
fn is_true(value: Option<&str>) -> bool {
    match value {
        None => true,
        Some(value) => {
            let yes = ["true", "yes", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes));
            yes || value.parse::<i64>().is_ok_and(|number| number != 0)
        }
    }
}

/// A key with its value.
#[derive(Debug, PartialEq, Eq)]
struct ConfigLine {
    /// In lower case.
    section: String,
    subsection: Option<String>,
    /// In lower case.
    key: String,
    /// None for a key without `=`.
    value: Option<String>,
}

impl ConfigLine {
    /// A key with its section before it, as `git -c` takes it.
    fn of(key: &str, value: &str) -> Option<ConfigLine> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, key) = rest.rsplit_once('.').map_or((None, rest), |(name, key)| (Some(name), key));
        Some(ConfigLine {
            section: section.to_ascii_lowercase(),
            subsection: subsection.map(str::to_string),
            key: key.to_ascii_lowercase(),
            value: Some(value.to_string()),
        })
    }
}

/// The keys of a configuration file, in order. Lines that git would refuse are left out.
fn config_lines(text: &str) -> Vec<ConfigLine> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut lines = Vec::new();
    let (mut section, mut subsection) = (String::new(), None);
    let mut rest = text.as_str();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return lines };
        if first == '[' {
            let (header, after) = header(&rest[1..]);
            rest = after;
            if let Some(header) = header {
                (section, subsection) = header;
            }
        } else if first.is_ascii_alphabetic() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
            let key = rest[..end].to_ascii_lowercase();
            rest = rest[end..].trim_start_matches([' ', '\t']);
            let value = match rest.strip_prefix('=') {
                Some(after) => {
                    let (value, after) = config_value(after);
                    rest = after;
                    Some(value)
                }
                None => {
                    rest = rest.split_once('\n').map_or("", |(_, after)| after);
                    None
                }
            };
            lines.push(ConfigLine { section: section.clone(), subsection: subsection.clone(), key, value });
        } else {
            // A comment, or nothing that git knows.
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        }
    }
}

/// Section and subsection.
type ConfigHeader = (String, Option<String>);

/// The header after its `[`, and the text after its `]`.
fn header(text: &str) -> (Option<ConfigHeader>, &str) {
    let next_line = || text.split_once('\n').map_or("", |(_, after)| after);
    let Some(end) = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.') else { return (None, "") };
    let name = text[..end].to_ascii_lowercase();
    let rest = text[end..].trim_start_matches([' ', '\t']);
    if let Some(after) = rest.strip_prefix(']') {
        // The old form of a subsection, as in `[remote.origin]`.
        let (section, subsection) = name.split_once('.').map_or((name.as_str(), None), |(s, b)| (s, Some(b)));
        return (Some((section.to_string(), subsection.map(str::to_string))), after);
    }
    let Some(quoted) = rest.strip_prefix('"') else { return (None, next_line()) };
    let mut subsection = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let after = quoted[at + 1..].strip_prefix(']');
                return (after.map(|_| (name, Some(subsection))), after.unwrap_or_else(next_line));
            }
            '\\' => subsection.extend(chars.next().map(|(_, c)| c)),
            '\n' => break,
            c => subsection.push(c),
        }
    }
    (None, next_line())
}

/// The value after its `=`, and the text after its line.
fn config_value(text: &str) -> (String, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    let (mut value, mut is_quoted) = (String::new(), false);
    // Without blanks at the end that are not quoted.
    let mut end = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return (cut(value, end), &text[at + 1..]),
            '"' => {
                is_quoted = !is_quoted;
                end = value.len();
            }
            '#' | ';' if !is_quoted => {
                let rest = text[at..].split_once('\n').map_or("", |(_, after)| after);
                return (cut(value, end), rest);
            }
            '\\' => {
                match chars.next().map(|(_, c)| c) {
                    // The value goes on in the next line.
                    Some('\n') | None => continue,
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(c) => value.push(c),
                }
                end = value.len();
            }
            c => {
                value.push(c);
                if is_quoted || !c.is_whitespace() {
                    end = value.len();
                }
            }
        }
    }
    (cut(value, end), "")
}

fn cut(mut value: String, end: usize) -> String {
    value.truncate(end);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_read_as_git_reads_it() {
        let text = "; a comment\n[Core]\n\tExcludesFile = ~/a b  # why\n ignoreCase\n[core] excludesfile = \"# c;\" ; x\n\
                    [includeIf \"gitdir:C:\\\\x \\\"y\\\"/\"]path=d\\\\e\\tf\n[remote.Origin]\nurl = a\\\n  b\n[bad\nurl = c\r\n";
        let of = |line: &ConfigLine| {
            let subsection = line.subsection.clone().map_or(String::new(), |name| format!(".{name}"));
            let value = line.value.clone().map_or(String::new(), |value| format!("={value}"));
            format!("{}{subsection}.{}{value}", line.section, line.key)
        };
        let lines: Vec<String> = config_lines(text).iter().map(of).collect();
        let expected = [
            "core.excludesfile=~/a b",
            "core.ignorecase",
            "core.excludesfile=# c;",
            "includeif.gitdir:C:\\x \"y\"/.path=d\\e\tf",
            "remote.origin.url=a  b",
            "remote.origin.url=c",
        ];
        assert_eq!(lines, expected);
        for (value, expected) in
            [(None, true), (Some("On"), true), (Some("1"), true), (Some("0"), false), (Some(""), false)]
        {
            assert_eq!(is_true(value), expected, "{value:?}");
        }
    }
}
