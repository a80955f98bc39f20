//! Import keys, which a file shares with the files that import it, from text and paths alone.
//!
//! A key is the last two parts of a module's path in lower case: `net/tcp`. An import has several keys, since its path
//! may be relative and may end in items that are not files; a file has one. Keys of folders, which Go imports, end in a
//! slash, and every file in such a folder has one.

use crate::language::LanguageFacts;

/// Maximum of keys per import.
const KEYS_MAX: usize = 16;
/// Words of imports that are not part of a path.
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
/// Source folders, which imports may name or leave out, so no key begins with them.
const PLACES: [&str; 8] = ["src", "lib", "main", "java", "kotlin", "scala", "app", "include"];

/// The keys of a file: the last two parts of its path, or its only one, and its folder if its language imports folders.
pub fn file_keys(path: &str, languages: &LanguageFacts) -> Vec<String> {
    let mut keys: Vec<String> = key_of(&parts_of(path, languages)).into_iter().collect();
    if let Some((folder, _)) = path.rsplit_once('/').filter(|_| languages.imports_folders(path)) {
        let folder: Vec<String> = folder.split('/').map(str::to_lowercase).collect();
        keys.extend(folder_key(&folder));
    }
    keys
}

/// The keys of an import, as written in the file at `importer`.
pub fn import_keys(text: &str, importer: &str, languages: &LanguageFacts) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut add = |key: Option<String>| {
        if let Some(key) = key
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
        parts.extend(path.parts.iter().cloned());
        parts
    };
    // `package:acme/tcp.dart`: the package's own name is not a folder.
    let is_of_package = text.contains("package:");
    let names_folders = languages.imports_folders(importer);
    let written = read(text, languages);
    let Some((base, names)) = written.split_first() else { return keys };
    for name in std::iter::once(None).chain(names.iter().map(Some)) {
        let mut path = base.clone();
        path.parts.extend(name.into_iter().flat_map(|name| name.parts.iter().cloned()));
        if path.parts.is_empty() {
            continue;
        }
        if !path.is_relative {
            add(key_of(&path.parts));
            // An item of the file follows the path.
            add(key_of(&path.parts[..path.parts.len() - 1]));
        }
        if path.is_relative || without_places(&path.parts).count() <= 2 {
            let whole = beside(&path);
            add(key_of(&whole));
            if path.parts.len() > 1 {
                add(key_of(&whole[..whole.len() - 1]));
            }
        }
        if is_of_package {
            add(key_of(&path.parts[1.min(path.parts.len() - 1)..]));
        }
        if names_folders && !path.is_relative {
            add(folder_key(&path.parts));
            // The first part is the module's own name, not a folder: a host, or the first word of a namespace.
            if path.parts[0].contains('.') || (path.parts.len() == 2 && !text.contains('"')) {
                add(folder_key(&path.parts[path.parts.len() - 1..]));
            }
        }
        // `mod tcp;` in `net.rs` means `net/tcp.rs`.
        if text.contains("mod ") && path.parts.len() == 1 {
            let mut own = parts_of(importer, languages);
            own.extend(path.parts.iter().cloned());
            add(key_of(&own));
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

/// The paths in an import: the module's first, then those of the items taken from it.
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

/// The parts of a file's path in lower case, without the extension and a stem that is a role.
fn parts_of(path: &str, languages: &LanguageFacts) -> Vec<String> {
    let mut parts: Vec<String> = path.split('/').map(str::to_lowercase).collect();
    if let Some(last) = parts.last_mut() {
        let head = last.trim_start_matches(['.', '_']).split('.').next().unwrap_or_default();
        // `__init__` and the like are roles as they are written.
        let head = if last.starts_with("__") { last.split('.').next().unwrap_or_default() } else { head };
        *last = head.to_string();
    }
    drop_role(&mut parts, languages);
    parts
}

fn drop_role(parts: &mut Vec<String>, languages: &LanguageFacts) {
    if parts.len() > 1 && parts.last().is_some_and(|last| languages.is_role_stem(last)) {
        parts.pop();
    }
}

/// The parts without the source folders before the last one.
fn without_places(parts: &[String]) -> impl Iterator<Item = &String> {
    let last = parts.len().saturating_sub(1);
    let named = parts.iter().enumerate().filter(move |(at, part)| *at == last || !PLACES.contains(&part.as_str()));
    named.map(|(_, part)| part)
}

/// The last two parts as a key, or the only one, without leading source folders.
fn key_of(parts: &[String]) -> Option<String> {
    let named: Vec<&String> = without_places(parts).collect();
    match named.as_slice() {
        [] => None,
        [one] => Some(plain(one)),
        [.., a, b] => Some(format!("{}/{}", plain(a), plain(b))),
    }
}

/// The key of a folder that is imported as a whole. Namespaces have a part for each word of `Acme.Core`.
fn folder_key(parts: &[String]) -> Option<String> {
    let words = parts.iter().flat_map(|part| part.split('.')).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_string).collect();
    key_of(&words).map(|key| key + "/")
}

/// A part without the marks between its words: `AcmeApp` is in `acme_app`.
fn plain(part: &str) -> String {
    let plain = part.replace(['_', '-'], "");
    if plain.is_empty() { part.to_string() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_meet_the_files_that_they_mean() {
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
            // Through source folders.
            ("from app.models import User", "app/main.py", "app/models.py"),
            ("from app.models import User", "services/web/app/main.py", "services/web/app/models.py"),
            ("import x from './lib/beta'", "start.ts", "lib/beta.ts"),
            ("import x from '../src/beta'", "examples/start.ts", "src/beta.ts"),
            ("#include \"include/zed.h\"", "main.c", "include/zed.h"),
            ("use crate::app::config::run;", "src/main.rs", "src/app/config.rs"),
            ("use crate::app::config::run;", "crates/a/src/main.rs", "crates/a/src/app/config.rs"),
            ("use crate::app::Config;", "src/main.rs", "src/app.rs"),
            ("import com.acme.app.Tcp;", "src/main/java/com/acme/A.java", "src/main/java/com/acme/app/Tcp.java"),
            // Spelled differently from the folder, or by the folder alone.
            ("alias AcmeApp.Worker", "lib/acme_app/main.ex", "lib/acme_app/worker.ex"),
            ("alias AcmeApp.{Worker, Other}", "lib/acme_app/main.ex", "lib/acme_app/other.ex"),
            ("import 'package:acme/phi.dart';", "bin/main.dart", "lib/phi.dart"),
            ("mod epsilon;", "src/main.rs", "src/epsilon.rs"),
            ("import(\"./beta\")", "start.ts", "beta.ts"),
            ("\"example.com/m/delta\"", "cmd.go", "delta/walk.go"),
            ("d \"example.com/m/pkg/net/delta\"", "cmd/a.go", "pkg/net/delta/delta.go"),
            ("\"m/net/app\"", "cmd.go", "net/app/run.go"),
            ("using Acme.Net;", "Main.cs", "Acme/Net/Tcp.cs"),
            ("using Acme.Net;", "src/Main.cs", "src/Net/Tcp.cs"),
            ("using Acme.Core.Net;", "test/A.cs", "src/Acme.Core/Net/Tcp.cs"),
        ] {
            let (keys, own) = (import_keys(text, importer, &facts), file_keys(file, &facts));
            assert!(own.iter().any(|key| keys.contains(key)), "{text} in {importer}: {keys:?} and {own:?}");
        }
        for (text, importer, file) in [
            ("import os", "a/b.py", "c/os.py"),
            ("use crate::net::udp;", "src/main.rs", "src/net/tcp.rs"),
            ("import x from './tcp'", "src/io/a.ts", "src/net/tcp.ts"),
            ("", "a.rs", "b.rs"),
            ("\"encoding/json\"", "cmd.go", "json/walk.go"),
            ("\"example.com/m/delta\"", "cmd.go", "delta/inner/walk.go"),
            ("import delta from 'm/delta'", "a.ts", "m/delta/walk.ts"),
        ] {
            let (keys, own) = (import_keys(text, importer, &facts), file_keys(file, &facts));
            assert!(!own.iter().any(|key| keys.contains(key)), "{text} in {importer}: {keys:?} and {own:?}");
        }
    }
}
