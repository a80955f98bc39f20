//! Variants of a file by platform (`poll_darwin.go`, `asm/arm64/copy.S`) or language (`client.go`, `client.py`), which
//! have the same words and differ only in their paths.

use std::collections::HashSet;

use crate::language::LanguageFacts;
use crate::token::parts;

struct Platform {
    names: &'static [&'static str],
    /// The name of a whole family that the platform belongs to: a file for `unix` serves `linux` too.
    wide: Option<&'static str>,
}

const fn platform(names: &'static [&'static str]) -> Platform {
    Platform { names, wide: None }
}

const fn unix(names: &'static [&'static str]) -> Platform {
    Platform { names, wide: Some("unix") }
}

/// Platforms in families: systems, and processors. A file is for one of each, or for all. After GOOS and GOARCH
/// (<https://go.dev/doc/install/source#environment>), with the names that other projects use.
const FAMILIES: [&[Platform]; 2] = [
    &[
        platform(&["windows", "win", "win32", "win64", "winapi"]),
        platform(&["unix", "posix"]),
        unix(&["darwin", "macos", "osx"]),
        unix(&["linux"]),
        unix(&["android"]),
        unix(&["ios"]),
        unix(&["bsd", "freebsd", "openbsd", "netbsd"]),
        unix(&["solaris", "illumos"]),
        platform(&["wasm", "wasi", "emscripten"]),
    ],
    &[
        platform(&["arm64", "aarch64", "arm", "neon"]),
        platform(&["x86", "amd64", "x64", "i386", "sse2", "avx", "avx2"]),
        platform(&["riscv", "riscv64"]),
        platform(&["ppc64", "ppc64le", "powerpc"]),
        platform(&["s390x"]),
        platform(&["mips", "mips64"]),
        platform(&["loong64", "loongarch64"]),
    ],
];

/// The variants that a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// Positions in each family.
    platforms: [Vec<usize>; FAMILIES.len()],
    /// Extensions of the languages, one list per language.
    languages: Vec<&'static [&'static str]>,
}

impl Variants {
    /// Parses a query. A platform is requested by its name, a language by "in" (`in Go`) or by an extension (`.ts`),
    /// since its name alone may be a plain word.
    pub fn asked(text: &str, languages: &LanguageFacts) -> Variants {
        let words = words_of(text);
        let platforms = FAMILIES.map(|family| named(family, &words));
        let sentence = text.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '(', ')', '?', '`', '*']));
        let sentence: Vec<&str> = sentence.collect();
        let asked = sentence.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix('.') {
            Some(ending) => languages.endings_with(ending),
            None if at > 0 && sentence[at - 1].eq_ignore_ascii_case("in") => {
                languages.endings_of(word.trim_end_matches('.'))
            }
            None => None,
        });
        Variants { platforms, languages: asked.collect() }
    }

    /// Whether it requests no variant.
    pub fn is_empty(&self) -> bool {
        self.languages.is_empty() && self.platforms.iter().all(Vec::is_empty)
    }

    /// 1 for the path of a requested variant, −1 for another variant, 0 for none or several.
    pub fn of_path(&self, path: &str, languages: &LanguageFacts) -> f32 {
        // Most queries request none, and a search calls this for the path of every candidate's file.
        if self.is_empty() {
            return 0.0;
        }
        let words = words_of(path);
        let platforms = FAMILIES.iter().zip(&self.platforms).map(|(family, asked)| of_family(family, asked, &words));
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        (platforms.sum::<f32>() + self.of_ending(ending, languages)).clamp(-1.0, 1.0)
    }

    fn of_ending(&self, ending: &str, languages: &LanguageFacts) -> f32 {
        let asked = || self.languages.iter().flat_map(|endings| endings.iter());
        match () {
            () if self.languages.is_empty() || languages.endings_with(ending).is_none() => 0.0,
            () if asked().any(|other| *other == ending) => 1.0,
            // `.tsx` is a dialect of `.ts`.
            () if asked().any(|other| other.len() > 1 && ending.starts_with(other)) => 0.0,
            () => -1.0,
        }
    }
}

/// Positions of the platforms of a family that the words name.
fn named(family: &[Platform], words: &HashSet<String>) -> Vec<usize> {
    let is_named = |at: &usize| family[*at].names.iter().any(|name| words.contains(*name));
    (0..family.len()).filter(is_named).collect()
}

fn of_family(family: &[Platform], asked: &[usize], words: &HashSet<String>) -> f32 {
    let own = named(family, words);
    let is_one_of = |one: usize, several: usize| family[one].wide.is_some_and(|w| family[several].names.contains(&w));
    let any = |test: &dyn Fn(usize, usize) -> bool| own.iter().any(|own| asked.iter().any(|asked| test(*own, *asked)));
    match () {
        () if asked.is_empty() || own.is_empty() => 0.0,
        () if any(&|own, asked| own == asked) => 1.0,
        () if any(&|own, asked| is_one_of(own, asked) || is_one_of(asked, own)) => 0.0,
        () => -1.0,
    }
}

/// The words of a text in lower case, and the parts of those in camel case: `poll_darwin.go`, `EventLoopWindows.swift`.
fn words_of(text: &str) -> HashSet<String> {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    runs.flat_map(|run| parts(run).map(move |part| run[part].to_lowercase()).chain([run.to_lowercase()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_asks_for_platforms_by_name_and_for_languages_with_in() {
        let facts = LanguageFacts::sample();
        for (asked, path, expected) in [
            ("poll on macOS", "poll_darwin.go", 1.0),
            ("poll on macOS", "poll_windows.go", -1.0),
            ("poll on macOS", "poll_unix.go", 0.0),
            ("poll on macOS", "poll.go", 0.0),
            ("poll on unix", "poll_linux.go", 0.0),
            ("poll on unix", "poll_win32.c", -1.0),
            ("copy on aarch64", "asm/arm64/copy.S", 1.0),
            ("copy on aarch64", "asm/x86_64/copy.S", -1.0),
            ("run on Windows with amd64", "EventLoopWindows.swift", 1.0),
            ("run on Windows with amd64", "windows/arm64/a.c", 0.0),
            ("poll in a window", "poll_linux.go", 0.0),
            ("the client in Go", "client.go", 1.0),
            ("the client in Go", "client.py", -1.0),
            ("the client in Go", "client.md", 0.0),
            ("the client in python.", "client.py", 1.0),
            ("go to the client", "client.go", 0.0),
            ("the python client", "client.py", 0.0),
            ("the client in .ts", "client.ts", 1.0),
            ("*.ts client", "client.py", -1.0),
            ("*.ts client", "client.tsx", 0.0),
        ] {
            let variants = Variants::asked(asked, &facts);
            assert_eq!(variants.of_path(path, &facts), expected, "{asked}: {path}");
        }
        assert!(Variants::asked("poll in a window", &facts).is_empty());
    }
}
