//! What an import means: keys that a file and those that import it have in common, from text and paths alone.
//!
//! A key is the last two parts of a module's path, in lower case: `net/tcp`. Languages write such paths with dots, colons,
//! slashes or backslashes, from the root or from where they stand, with items behind that are no files. So an import has
//! a few keys, and a file one. Where keys meet, one most often imports the other.

use crate::language::LanguageFacts;

/// Keys of one import, at most.
const KEYS_MAX: usize = 16;
/// Words of imports that are no part of a path.
const KEYWORDS: [&str; 27] = [
    "alias",
    "as",
    "crate",
    "export",
    "extern",
    "from",
    "global",
    "hiding",
    "import",
    "include",
    "include_once",
    "local",
    "mod",
    "module",
    "open",
    "package",
    "pub",
    "qualified",
    "require",
    "require_once",
    "require_relative",
    "self",
    "source",
    "static",
    "super",
    "use",
    "using",
];
/// Folders that sources lie in, and that imports leave out.
const PLACES: [&str; 8] = ["src", "lib", "main", "java", "kotlin", "scala", "app", "include"];

/// The keys of a file: one, of the last two parts of its path or the one that there is.
pub fn file_keys(path: &str, languages: &LanguageFacts) -> Vec<String> {
    key_of(&parts_of(path, languages)).into_iter().collect()
}

/// The keys of an import, as it stands in the file at `importer`.
pub fn import_keys(text: &str, importer: &str, languages: &LanguageFacts) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut add = |parts: &[String]| {
        if let Some(key) = key_of(parts)
            && !keys.contains(&key)
            && keys.len() < KEYS_MAX
        {
            keys.push(key);
        }
    };
    let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let here = || folder.split('/').filter(|part| !part.is_empty()).map(str::to_lowercase);
    let beside = |path: &Written| -> Vec<String> {
        let mut parts: Vec<String> = here().collect();
        parts.truncate(parts.len().saturating_sub(path.up));
        parts.retain(|part| !PLACES.contains(&part.as_str()));
        parts.extend(path.parts.iter().cloned());
        parts
    };
    let written = read(text, languages);
    let Some((base, names)) = written.split_first() else { return keys };
    for name in std::iter::once(None).chain(names.iter().map(Some)) {
        let mut path = base.clone();
        path.parts.extend(name.into_iter().flat_map(|name| name.parts.iter().cloned()));
        if path.parts.is_empty() {
            continue;
        }
        if !path.is_relative {
            add(&path.parts);
            // Behind the path stands an item of the file.
            add(&path.parts[..path.parts.len() - 1]);
        }
        if path.is_relative || path.parts.len() <= 2 {
            let whole = beside(&path);
            add(&whole);
            if path.parts.len() > 1 {
                add(&whole[..whole.len() - 1]);
            }
        }
        // `mod tcp;` in `net.rs` means `net/tcp.rs`.
        if text.contains("mod ") && path.parts.len() == 1 {
            let mut own = parts_of(importer, languages);
            own.extend(path.parts.iter().cloned());
            add(&own);
        }
    }
    keys
}

/// A path in an import.
#[derive(Clone, Debug, Default, PartialEq)]
struct Written {
    parts: Vec<String>,
    is_relative: bool,
    /// Folders to go up.
    up: usize,
}

/// The paths that an import holds: the first, and what is taken from it.
fn read(text: &str, languages: &LanguageFacts) -> Vec<Written> {
    let quoted: Vec<&str> = text.split(['"', '\'', '<', '>']).skip(1).step_by(2).filter(|q| !q.is_empty()).collect();
    if let Some(path) = quoted.last() {
        return vec![quoted_path(path, languages)];
    }
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '\\' | '/' | '-'));
    let words = text.split(is_end).filter(|word| !word.is_empty() && !KEYWORDS.contains(word));
    words.take(KEYS_MAX).map(dotted_path).filter(|path| path.is_relative || !path.parts.is_empty()).collect()
}

/// `./net/tcp`, `net/tcp.h`, `package:app/net/tcp.dart`, `net.tcp`.
fn quoted_path(path: &str, languages: &LanguageFacts) -> Written {
    let path = path.rsplit_once(':').map_or(path, |(_, path)| path);
    let up = path.split('/').filter(|part| *part == "..").count();
    let is_file = languages.is_file_name(&path.to_lowercase());
    let split: Vec<&str> = match path.contains('/') || is_file || path.starts_with('.') {
        true => path.split('/').collect(),
        false => path.split('.').collect(),
    };
    let plain: Vec<&str> =
        split.into_iter().filter(|part| !part.is_empty() && !part.chars().all(|c| c == '.')).collect();
    let mut parts: Vec<String> = plain.iter().map(|part| part.to_lowercase()).collect();
    if let Some(last) = parts.last_mut() {
        let head = last.trim_start_matches('_').split('.').next().unwrap_or_default().to_string();
        *last = head;
    }
    drop_role(&mut parts, languages);
    Written { parts, is_relative: path.starts_with('.'), up }
}

/// `a.b.C`, `crate::net::tcp`, `App\Net\Tcp`, and Python's `..net.tcp`.
fn dotted_path(word: &str) -> Written {
    let dots = word.chars().take_while(|c| *c == '.').count();
    let parts = word.split(['.', ':', '\\', '/']).filter(|part| !part.is_empty() && !KEYWORDS.contains(part));
    let parts = parts.map(|part| part.trim_start_matches('_').to_lowercase()).filter(|part| !part.is_empty()).collect();
    Written { parts, is_relative: dots > 0, up: dots.saturating_sub(1) }
}

/// The parts of a file's path in lower case: without mere places, extension, and a stem that is a role.
fn parts_of(path: &str, languages: &LanguageFacts) -> Vec<String> {
    let mut parts: Vec<String> = path.split('/').map(str::to_lowercase).collect();
    if let Some(last) = parts.last_mut() {
        let head = last.trim_start_matches(['.', '_']).split('.').next().unwrap_or_default();
        // `__init__` and the like are roles as they are written.
        let head = if last.starts_with("__") { last.split('.').next().unwrap_or_default() } else { head };
        *last = head.to_string();
    }
    drop_role(&mut parts, languages);
    let last = parts.len().saturating_sub(1);
    let mut at = 0;
    parts.retain(|part| {
        at += 1;
        at > last || !PLACES.contains(&part.as_str())
    });
    parts
}

fn drop_role(parts: &mut Vec<String>, languages: &LanguageFacts) {
    if parts.len() > 1 && parts.last().is_some_and(|last| languages.is_role_stem(last)) {
        parts.pop();
    }
}

/// The last two parts as a key, or the one part that there is.
fn key_of(parts: &[String]) -> Option<String> {
    match parts {
        [] => None,
        [one] => Some(one.clone()),
        [.., a, b] => Some(format!("{a}/{b}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s000_17_imports_meet_the_files_that_they_mean() {
        let facts = LanguageFacts::sample();
        for (text, importer, file) in [
            ("use crate::net::tcp::Socket;", "src/main.rs", "src/net/tcp.rs"),
            ("use crate::net::{tcp::Socket, udp};", "src/main.rs", "src/net/udp.rs"),
            ("use super::tcp;", "src/net/udp.rs", "src/net/tcp.rs"),
            ("mod tcp;", "src/net/mod.rs", "src/net/tcp.rs"),
            ("mod tcp;", "src/net.rs", "src/net/tcp.rs"),
            ("pub mod net;", "src/lib.rs", "src/net/mod.rs"),
            ("from .tcp import Socket", "app/net/udp.py", "app/net/tcp.py"),
            ("from ..net.tcp import Socket", "app/io/disk.py", "app/net/tcp.py"),
            ("from . import tcp", "app/net/udp.py", "app/net/tcp.py"),
            ("from app.net import _tcp, udp", "tests/a.py", "app/net/_tcp.py"),
            ("import requests.adapters", "tests/a.py", "src/requests/adapters.py"),
            ("import tcp", "tools/a.py", "tools/tcp.py"),
            ("import { Socket } from './tcp';", "src/net/udp.ts", "src/net/tcp.ts"),
            ("import Socket from '../net/tcp.js'", "src/io/disk.ts", "src/net/tcp.ts"),
            ("const net = require('./net')", "lib/main.js", "lib/net/index.js"),
            ("import com.acme.net.Tcp;", "src/main/java/com/acme/io/A.java", "src/main/java/com/acme/net/Tcp.java"),
            ("#include \"net/tcp.h\"", "src/main.c", "src/net/tcp.h"),
            ("#include \"tcp.h\"", "src/net/udp.c", "src/net/tcp.h"),
            ("#include <fmt/format.h>", "test/a.cc", "include/fmt/format.h"),
            ("use App\\Net\\Tcp;", "src/Io/Disk.php", "src/Net/Tcp.php"),
            ("require_relative \"../net/tcp\"", "lib/io/disk.rb", "lib/net/tcp.rb"),
            ("import 'package:app/net/tcp.dart';", "lib/main.dart", "lib/net/tcp.dart"),
            ("local tcp = require(\"net.tcp\")", "lua/main.lua", "lua/net/tcp.lua"),
        ] {
            let (keys, own) = (import_keys(text, importer, &facts), file_keys(file, &facts));
            assert!(own.iter().any(|key| keys.contains(key)), "{text} in {importer}: {keys:?} and {own:?}");
        }
        for (text, importer, file) in [
            ("import os", "a/b.py", "c/os.py"),
            ("use crate::net::udp;", "src/main.rs", "src/net/tcp.rs"),
            ("import x from './tcp'", "src/io/a.ts", "src/net/tcp.ts"),
            ("", "a.rs", "b.rs"),
        ] {
            let (keys, own) = (import_keys(text, importer, &facts), file_keys(file, &facts));
            assert!(!own.iter().any(|key| keys.contains(key)), "{text} in {importer}: {keys:?} and {own:?}");
        }
    }
}
