//! Finds the files of a project that a written path means.

use colgrep_core::fold::folded;
use colgrep_core::path::{PathClass, stem_of};
use colgrep_syntax::language;
use serde::{Deserialize, Serialize};

use super::file_kind::is_data;
use colgrep_index::store::{FileRecord, FileTable};

/// Maximum of files that one written path may mean: if more files have the name, it means none of them.
pub const FILES_MAX: usize = 16;
/// The end of a module's path: its last part is a code file's name without the extension, or a folder that a file
/// stands for (`net/__init__.py`).
pub const MODULE_END: &str = ".*";

/// How well a written path fits the files that it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Only its last part matches, and more was written: a path of another machine or project.
    Name,
    /// At least its last two parts match: a path from another root.
    Tail,
    /// A file's path ends with everything that is written.
    Whole,
}

/// How a written path matches those of its files, best last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathMatch {
    /// Whether the parts agree as typed, but for case; else `token-bucket.ts` is `tokenBucket.ts`, too.
    pub is_as_typed: bool,
    /// Number of last parts that agree.
    pub shared: u32,
}

/// The files of an index that share the most last parts with a written path, ignoring case and, if no file has the last
/// one as typed, joiners. So a path from another machine (`/srv/app/src/a.rs`) means the closest files. `front` is the
/// prefix of all paths: for a single repository its own folder, since `/srv/app/main.py` is `main.py` of a project `app`.
/// A path that ends with [`MODULE_END`] means modules: code files, and for a lone stem tests only if there are no others.
pub fn best_named<'t>(
    files: &[&'t FileRecord],
    front_of: impl Fn(&'t FileRecord) -> (&'t str, &'t str),
    written: &str,
) -> (PathMatch, Vec<&'t FileRecord>) {
    let (shared, found) = named(files, &front_of, written, is_in_lower_case);
    if shared > 0 {
        return (PathMatch { is_as_typed: true, shared }, found);
    }
    let (shared, found) = named(files, &front_of, written, has_letters);
    (PathMatch { is_as_typed: false, shared }, found)
}

/// As [`best_named`], where `is_same` tells whether the name of a file or folder is one in lower case.
fn named<'t>(
    files: &[&'t FileRecord],
    front_of: &impl Fn(&'t FileRecord) -> (&'t str, &'t str),
    written: &str,
    is_same: fn(&str, &str) -> bool,
) -> (u32, Vec<&'t FileRecord>) {
    let module = written.strip_suffix(MODULE_END);
    let wanted: Vec<WrittenPart> = parts(module.unwrap_or(written)).rev().map(WrittenPart::new).collect();
    let is_stem = module.is_some() && wanted.len() == 1;
    let mut best = (0, Vec::new());
    for file in files.iter().filter(|file| module.is_none() || !is_data(&file.language, &file.path)) {
        let (front, path) = front_of(file);
        let path = if module.is_some() { module_of(path) } else { path };
        let mut wanted = wanted.iter();
        let is_next = |own: &&str| {
            let next = wanted.next();
            let is_elsewhere = next.is_some_and(|next| next.is_version && !next.names(own, is_same));
            let next = if is_elsewhere { wanted.next() } else { next };
            next.is_some_and(|next| next.names(own, is_same))
        };
        let shared = parts(path).rev().chain(parts(front).rev()).take_while(is_next).count() as u32;
        if shared > best.0 {
            best = (shared, Vec::new());
        }
        if shared == best.0 && shared > 0 {
            best.1.push(*file);
        }
    }
    let is_own = |file: &&FileRecord| !repeats_by_folder(&file.path);
    if is_stem && best.1.iter().any(is_own) {
        best.1.retain(is_own);
    }
    best
}

/// Whether a file's folders mark it as a test, an example or the like, which may have the name of its subject.
fn repeats_by_folder(path: &str) -> bool {
    let repeats = |path: &str| PathClass::of(path, language::facts()).has(PathClass::REPEATS);
    repeats(path) && !repeats(path.rsplit('/').next().unwrap_or_default())
}

/// A file's path as a module: without its extension, or the folder that the file stands for.
fn module_of(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = stem_of(name);
    let stands_for_folder = !folder.is_empty() && language::facts().is_role_stem(stem);
    if stands_for_folder { folder } else { &path[..path.len() - name.len() + stem.len()] }
}

struct WrittenPart {
    /// In lower case.
    whole: String,
    /// The name without a version suffix.
    bare: String,
    /// Whether it is just a version: a folder that may not exist here.
    is_version: bool,
}

impl WrittenPart {
    fn new(part: &str) -> WrittenPart {
        let [whole, bare] = [part, without_version(part)].map(|part| folded(part).into_owned());
        WrittenPart { whole, bare, is_version: is_version(part) }
    }

    /// Whether it means a folder or file called `own`.
    fn names(&self, own: &str, is_same: fn(&str, &str) -> bool) -> bool {
        is_same(own, &self.whole) || (self.bare.len() < self.whole.len() && is_same(own, &self.bare))
    }
}

/// Whether `small` is the lower case of a text. Nearly all paths are ASCII.
fn is_in_lower_case(text: &str, small: &str) -> bool {
    if text.is_ascii() { text.eq_ignore_ascii_case(small) } else { folded(text) == small }
}

/// Whether a name has the letters of another, which is in lower case, without its joiners: `tokenBucket.ts` those of
/// `token-bucket.ts`.
fn has_letters(text: &str, small: &str) -> bool {
    let is_letter = |c: &char| !matches!(c, '_' | '-' | ' ');
    let is_private = |text: &str| text.starts_with('_');
    is_private(text) == is_private(small) && folded(text).chars().filter(is_letter).eq(small.chars().filter(is_letter))
}

/// How well files fit that match a written path so.
pub fn fit_of(written: &str, found: PathMatch) -> Option<Fit> {
    match found.shared as usize {
        0 => None,
        all if all == parts(written).count() => Some(Fit::Whole),
        all if all == parts(written).filter(|part| !is_version(part)).count() => Some(Fit::Whole),
        1 => Some(Fit::Name),
        _ => Some(Fit::Tail),
    }
}

/// A name with the files that it means.
pub type Called<'n, 't> = (&'n str, Vec<&'t FileRecord>);

/// For each of `names` that files have, the name with its files. Case counts if nothing else distinguishes the name
/// from a word; a name with a leading underscore may be a stem.
pub fn files_called<'n, 't>(table: &'t FileTable, names: &'n [String]) -> Vec<Called<'n, 't>> {
    let lower: Vec<String> = names.iter().map(|name| folded(name).into_owned()).collect();
    let mut found: Vec<Called<'n, 't>> = names.iter().map(|name| (name.as_str(), Vec::new())).collect();
    if names.is_empty() {
        return found;
    }
    for file in table.indexed() {
        let own = file.path.rsplit('/').next().unwrap_or_default();
        for ((name, found), lower) in found.iter_mut().zip(&lower) {
            let is_marked = name.starts_with('_') || name.contains('.') || name.ends_with("file");
            let is_called = own == *name || (is_marked && is_in_lower_case(own, lower));
            let is_stem = || name.starts_with('_') && own.starts_with('_') && is_in_lower_case(stem_of(own), lower);
            if is_called || is_stem() {
                found.push(file);
            }
        }
    }
    found
}

/// The files whose names contain spaces and occur whole in a text, ignoring case: `Getting Started.md`. Names without
/// an extension are left out, since they are plain words.
pub fn files_spelled<'t>(table: &'t FileTable, text: &str) -> Vec<Called<'t, 't>> {
    let mut found: Vec<Called<'t, 't>> = Vec::new();
    if !text.contains('.') || !text.contains(' ') {
        return found;
    }
    let text = folded(text);
    for file in table.indexed() {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let is_named = name.contains(' ') && name.contains('.') && stands_in(&text, &folded(name));
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, files)) if is_named => files.push(file),
            None if is_named => found.push((name, vec![file])),
            _ => {}
        }
    }
    found
}

/// Keeps the longest of overlapping names, and drops those of too many files.
pub fn longest<F>(found: &mut Vec<(String, Vec<F>)>) {
    let names: Vec<String> = found.iter().map(|(name, _)| folded(name).into_owned()).collect();
    found.retain(|(name, files)| {
        let name = folded(name);
        files.len() <= FILES_MAX && !names.iter().any(|other| *other != *name && other.contains(&*name))
    });
}

/// Whether a name occurs in a text, with no letter or digit next to it.
fn stands_in(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let beside = [text[..at].chars().next_back(), text[at + name.len()..].chars().next()];
        beside.into_iter().flatten().all(|c| !c.is_alphanumeric())
    })
}

/// Whether a folder's name is just a version: where Go keeps modules, `chi/v5@v5.0.8` is version 5.0.8 of `chi`.
fn is_version(part: &str) -> bool {
    without_version(part).len() < part.len() && part.strip_prefix('v').is_some_and(starts_with_digit)
}

/// A folder's name without the version that package managers append: `gin@v1.9.1`.
fn without_version(part: &str) -> &str {
    let is_numbered = |version: &str| starts_with_digit(version.strip_prefix('v').unwrap_or(version));
    part.split_once('@')
        .filter(|(name, version)| !name.is_empty() && is_numbered(version))
        .map_or(part, |(name, _)| name)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn paths_mean_the_files_that_end_like_them() {
        let file = |path: &str| FileRecord {
            path: path.to_string(),
            language: language::detect(Path::new(path), &[]).name.to_string(),
            ..FileRecord::default()
        };
        let paths = [
            "a/mod.rs",
            "b/mod.rs",
            "b/net/Tcp.java",
            "data/udp_server.conftest",
            "examples/ring.rs",
            "src/net/ring.rs",
            "src/net/tcp.rs",
            "src/udp_test.go",
            "tcp.rs",
            "tests/net/udp_server.rs",
        ];
        let table = FileTable { files: paths.map(file).to_vec(), root: "/home/me/wire".into(), ..FileTable::default() };
        for (written, expected) in [
            ("/srv/wire/tcp.rs", "Tail tcp.rs"),
            ("wire/tcp.rs", "Whole tcp.rs"),
            ("src/net/tcp.rs", "Whole src/net/tcp.rs"),
            ("net/tcp.rs", "Whole src/net/tcp.rs"),
            ("tcp.rs", "Whole tcp.rs"),
            ("/srv/app/src/net/tcp.rs", "Tail src/net/tcp.rs"),
            ("com/acme/net/Tcp.java", "Tail b/net/Tcp.java"),
            ("MOD.rs", "Whole a/mod.rs b/mod.rs"),
            ("/usr/lib/mod.rs", "Name a/mod.rs b/mod.rs"),
            ("/go/pkg/mod/acme/wire@v1.9.1/tcp.rs", "Tail tcp.rs"),
            ("/go/pkg/mod/acme/wire/v5@v5.0.8/tcp.rs", "Tail tcp.rs"),
            ("net/v5@v5.0.8/tcp.rs", "Whole src/net/tcp.rs"),
            ("acme/v5@home/mod.rs", "Name a/mod.rs b/mod.rs"),
            ("net/tcp.*", "Whole b/net/Tcp.java src/net/tcp.rs"),
            ("acme/net/tcp.*", "Tail b/net/Tcp.java src/net/tcp.rs"),
            ("wire/a.*", "Whole a/mod.rs"),
            ("udp_server.*", "Whole tests/net/udp_server.rs"),
            ("ring.*", "Whole src/net/ring.rs"),
            ("examples/ring.*", "Whole examples/ring.rs"),
            ("net/udp_server.*", "Whole tests/net/udp_server.rs"),
            ("udp_test.*", "Whole src/udp_test.go"),
            ("b/net.*", ""),
            ("net/udp-server.*", "Whole tests/net/udp_server.rs"),
            ("UdpServer.rs", "Whole tests/net/udp_server.rs"),
            ("udpserver.go", ""),
            ("_tcp.*", ""),
            ("other.rs", ""),
            ("/", ""),
        ] {
            let files: Vec<&FileRecord> = table.indexed().collect();
            let (found, files) = best_named(&files, |file| ("wire", file.path.as_str()), written);
            let found = fit_of(written, found).map(|fit| {
                let exact = files.iter().filter(|file| file.path.eq_ignore_ascii_case(written)).count();
                let paths = files.iter().filter(|file| exact == 0 || file.path.eq_ignore_ascii_case(written));
                format!("{fit:?} {}", paths.map(|f| f.path.as_str()).collect::<Vec<_>>().join(" "))
            });
            assert_eq!(found.unwrap_or_default(), expected, "{written}");
        }
    }

    #[test]
    fn words_mean_files_that_are_called_so() {
        let file = |path: &str| FileRecord { path: path.to_string(), ..FileRecord::default() };
        let paths = [
            ".gitignore",
            "Makefile",
            "README",
            "bin/run-all",
            "configure",
            "src/_utils.py",
            "src/utils.py",
            "tools/makefile",
        ];
        let table = FileTable { files: paths.map(file).to_vec(), ..FileTable::default() };
        for (name, expected) in [
            ("_utils", "src/_utils.py"),
            ("_Utils", "src/_utils.py"),
            ("makefile", "Makefile tools/makefile"),
            (".gitignore", ".gitignore"),
            ("README", "README"),
            ("CONFIGURE", ""),
            ("run-all", "bin/run-all"),
            ("Run-All", ""),
            ("utils", ""),
        ] {
            let names = [name.to_string()];
            let found = files_called(&table, &names).into_iter().flat_map(|(_, files)| files);
            assert_eq!(found.map(|f| f.path.as_str()).collect::<Vec<_>>().join(" "), expected, "{name}");
        }
    }

    #[test]
    fn names_with_spaces_are_read_whole() {
        let file = |path: &str| FileRecord { path: path.to_string(), ..FileRecord::default() };
        let paths =
            ["a/Getting Started.md", "b/Started.md", "b/getting started.md", "c/Not Getting Started.md", "d/the run"];
        let table = FileTable { files: paths.map(file).to_vec(), ..FileTable::default() };
        for (text, expected) in [
            ("link it in Getting started.md", "a/Getting Started.md b/getting started.md"),
            ("link it in `not getting started.md`.", "c/Not Getting Started.md"),
            ("what does the run. do", ""),
            ("forgetting started.md", ""),
            ("started.md", ""),
        ] {
            let owned =
                |(name, files): Called<'_, '_>| (name.to_string(), files.into_iter().cloned().collect::<Vec<_>>());
            let mut spelled: Vec<(String, Vec<FileRecord>)> =
                files_spelled(&table, text).into_iter().map(owned).collect();
            longest(&mut spelled);
            let found = spelled.iter().flat_map(|(_, files)| files);
            assert_eq!(found.map(|f| f.path.as_str()).collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }
}
