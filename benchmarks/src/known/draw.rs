//! Known items: texts that somebody has before their eyes (a message, a line, a name, a place) drawn from sources, each
//! with its lines there. The right answers come from the text, never from the index that is measured.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use colgrep_index::source::hash;
use regex::{Captures, Regex};

use super::kind::KnownKind;
use super::source::{SourceFile, SourceFiles, SourceLine};

/// Maximum number of files of a constant: one that occurs everywhere is not a known place.
const FILES_OF_A_TOKEN_MAX: usize = 2;
/// Lines that may answer one item.
const ANSWERS_MAX: usize = 20;
/// Places of a name that are searched for other definitions; a name in more places is not rare.
const PLACES_OF_A_NAME_MAX: usize = 500;
/// Candidates that are looked at for each item that is wanted.
const TRIES: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownItem {
    pub kind: KnownKind,
    /// What is typed.
    pub query: String,
    /// The lines that are right, by file and line.
    pub answers: Vec<SourceLine>,
}

/// A place where an item of a kind could be drawn.
struct Draft {
    spot: SourceLine,
    text: String,
}

/// Draws at most `wanted` items of a kind; the same ones for the same sources and seed. An item's place in the draw
/// depends on its own text and place alone, so a change elsewhere changes few of them.
pub fn draw(sources: &SourceFiles, kind: KnownKind, wanted: usize, seed: u64) -> Vec<KnownItem> {
    let declared = if kind.is_declaration() { declarations(sources) } else { BTreeMap::new() };
    let mut drafts = drafts(sources, kind, &declared);
    drafts.sort_by_cached_key(|draft| {
        let source = &sources.files[draft.spot.file];
        (hash(format!("{seed} {kind:?} {} {} {}", source.path, draft.spot.line, draft.text).as_bytes()), draft.spot)
    });
    let mut items: Vec<KnownItem> = Vec::new();
    for draft in drafts.into_iter().take(TRIES * wanted) {
        if items.len() == wanted {
            break;
        }
        let item = item(sources, kind, draft);
        items.extend(item.filter(|item| items.iter().all(|known| known.query != item.query)));
    }
    items
}

/// Everything of a kind that could be drawn, not yet checked for standing elsewhere.
fn drafts(sources: &SourceFiles, kind: KnownKind, declared: &Declarations) -> Vec<Draft> {
    if kind.is_declaration() {
        let once = declared.iter().filter(|(_, places)| places.len() == 1);
        let once = once.filter_map(|(name, places)| Some((name, places.first()?)));
        return once
            .filter(|(_, place)| kind != KnownKind::Callers || place.is_function)
            .map(|(name, place)| Draft {
                spot: place.spot,
                text: match kind {
                    KnownKind::Signature => signature(&place.line),
                    KnownKind::KeywordName => format!("{} {name}", place.keyword),
                    _ => name.clone(),
                },
            })
            .filter(|draft| kind != KnownKind::Signature || draft.text.len() >= 16)
            .collect();
    }
    let mut drafts = Vec::new();
    for (file, source) in sources.code() {
        for (line, text) in source.lines() {
            let spot = SourceLine { file, line };
            drafts.extend(texts(kind, source, text).into_iter().map(|text| Draft { spot, text }));
        }
    }
    drafts
}

/// The texts that one line offers to a kind other than declarations.
fn texts(kind: KnownKind, source: &SourceFile, line: &str) -> Vec<String> {
    let trimmed = line.trim();
    match kind {
        KnownKind::Literal => literals(line).filter(|t| !has_placeholder(t) && is_message(t)).collect(),
        KnownKind::ShortLiteral => literals(line).filter(|t| !has_placeholder(t) && is_short(t)).collect(),
        KnownKind::Message => literals(line).filter(|t| has_placeholder(t) && longest_run(t) >= 4).collect(),
        KnownKind::Phrase => {
            literals(line).filter(|t| !has_placeholder(t) && is_message(t)).filter_map(|t| phrase(&t)).collect()
        }
        KnownKind::Line if is_code_line(trimmed) => vec![trimmed.to_string()],
        KnownKind::Constant if !is_comment(trimmed) => matches(&CONSTANT, line),
        KnownKind::Token if !is_comment(trimmed) => matches(&TOKEN, line),
        KnownKind::Place | KnownKind::PythonFrame if is_code_line(trimmed) => vec![String::new()],
        KnownKind::Frame if is_code_line(trimmed) && frame(&source.path, 1).is_some() => vec![String::new()],
        _ => Vec::new(),
    }
}

/// The item of a draft, where its target has few enough places.
fn item(sources: &SourceFiles, kind: KnownKind, draft: Draft) -> Option<KnownItem> {
    let source = &sources.files[draft.spot.file];
    let SourceLine { line, .. } = draft.spot;
    let (query, answers) = match kind {
        KnownKind::Name | KnownKind::KeywordName => {
            let name = draft.text.rsplit(' ').next()?;
            (!is_bound_elsewhere(sources, name, draft.spot)).then(|| (draft.text.clone(), vec![draft.spot]))?
        }
        KnownKind::Literal | KnownKind::ShortLiteral | KnownKind::Line | KnownKind::Signature => {
            let places = sources.places_of(&draft.text, 2);
            (draft.text, (places.len() == 1).then_some(places)?)
        }
        KnownKind::Message => {
            // The text around a value says nothing: the longest part between two values must occur exactly once.
            let part = longest_part(&draft.text).trim_matches(|c: char| !c.is_alphanumeric());
            let places = sources.places_of(part, 2);
            (filled(&draft.text), (places.len() == 1).then_some(places)?)
        }
        KnownKind::Phrase => {
            let places = sources.places_of(&draft.text, 4);
            (format!("\"{}\"", draft.text), (places.len() < 4).then_some(places)?)
        }
        KnownKind::Constant | KnownKind::Token => {
            let glue = if kind == KnownKind::Token { "-." } else { "" };
            let places = sources.places_of_word(&draft.text, glue, ANSWERS_MAX);
            let mut files: Vec<usize> = places.iter().map(|p| p.file).collect();
            files.dedup();
            let is_known = !places.is_empty() && places.len() < ANSWERS_MAX && files.len() <= FILES_OF_A_TOKEN_MAX;
            (draft.text, is_known.then_some(places)?)
        }
        KnownKind::Callers => {
            let calls = calls(sources, &draft.text, draft.spot);
            (format!("who calls {}", draft.text), (1..=5).contains(&calls.len()).then_some(calls)?)
        }
        KnownKind::Place => (format!("{}:{line}", source.path), vec![draft.spot]),
        KnownKind::PythonFrame => (format!("File \"/srv/app/{}\", line {line}", source.path), vec![draft.spot]),
        KnownKind::Frame => (frame(&source.path, line)?, vec![draft.spot]),
    };
    Some(KnownItem { kind, query, answers })
}

/// One declaration, as a pattern over lines sees it.
struct Declared {
    spot: SourceLine,
    keyword: String,
    line: String,
    is_function: bool,
}

type Declarations = BTreeMap<String, Vec<Declared>>;

/// Words that may precede a declaration's keyword.
const MODIFIERS: &str = r"(?:(?:pub(?:\([^)]*\))?|export|default|public|private|protected|internal|static|typedef|final|abstract|async|unsafe|override|open|sealed|inline|virtual|partial|local|extern)\s+)*";
/// Keywords of types and modules among those.
const TYPE_KEYWORDS: [&str; 7] = ["class", "struct", "enum", "trait", "interface", "protocol", "defmodule"];
/// Keywords that are followed by the name that they declare, in any language of this kind.
const KEYWORDS: &str = "class|struct|enum|trait|interface|protocol|fn|func|def|defp|defmodule|function|fun";

/// A line that binds NAME in any language: a value or alias after a keyword, a field or key, a macro, an enum's member,
/// the end of a typedef.
const BINDING: &str = r"\b(?:const|constexpr|let|var|val|type|using|typedef|mod|module|namespace|object|record|data|newtype|define|static|union|impl|extension|macro_rules!|alias|case|local|given)\s+(?:mut\s+)?NAME\b|^\s*[*&\w.:@'\x22]*NAME['\x22]?\s*(?::|=[^=]|:=|,?\s*$)|[}\s]NAME\s*(?:;|=[^=>])|\)\s*NAME\s*\{|^\w[\w\s*&:<>,]*\bNAME\s*\([^;]*$";

static DECLARATION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(r"^\s*{MODIFIERS}({KEYWORDS})\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)\s*(?:[<(\[{{:\s]|$)");
    Regex::new(&pattern).expect("a valid pattern")
});
static LITERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""([^"\\]{12,160})""#).expect("a valid pattern"));
static CONSTANT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b").expect("a valid pattern"));
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[A-Z][a-z]+(?:-[A-Z][a-z]+)+\b|\b\d+\.\d+\.\d+\b|\b[A-Z]\d{4}\b").expect("a valid pattern")
});
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"%(?:\([a-z_]+\))?[-+0-9.]*l{0,2}[sdiuxfpvqrTw]|[#$]?\{[^{}]*\}|\$[a-z]\w*|%@")
        .expect("a valid pattern")
});

/// Every declaration that a pattern over lines finds, by name. A keyword inside prose or a string counts too, so that a
/// name is "declared once" only where nothing else even looks like its declaration.
fn declarations(sources: &SourceFiles) -> Declarations {
    let mut declared = Declarations::new();
    for (file, source) in sources.files.iter().enumerate() {
        for (line, text) in source.lines() {
            let Some(found) = DECLARATION.captures(text).filter(|_| !is_comment(text.trim())) else { continue };
            let (keyword, name) = (&found[1], &found[2]);
            let is_forward = text.trim_end().ends_with(';') && !text.contains('=');
            let is_function = !TYPE_KEYWORDS.contains(&keyword);
            // `class EXPORT_MACRO name`, and Haskell's `class Context a => Name a`.
            let is_other = !is_function && (!name.contains(char::is_lowercase) || text.contains("=>"));
            if !source.is_code || name.len() < 4 || is_forward || is_other {
                // Still a second place of that name: it must not count as declared once.
                declared.entry(name.to_string()).or_default().extend([0, 1].map(|_| none(file)));
                continue;
            }
            declared.entry(name.to_string()).or_default().push(Declared {
                spot: SourceLine { file, line },
                keyword: keyword.to_string(),
                line: text.trim().to_string(),
                is_function,
            });
        }
    }
    declared
}

fn none(file: usize) -> Declared {
    Declared { spot: SourceLine { file, line: 0 }, keyword: String::new(), line: String::new(), is_function: false }
}

/// A declaration's line without what opens its body.
fn signature(line: &str) -> String {
    line.trim_end_matches(['{', ':', '=', ' ']).trim_end_matches(" do").trim_end().to_string()
}

/// The lines that call a function, but for the one that declares it.
fn calls(sources: &SourceFiles, name: &str, declaration: SourceLine) -> Vec<SourceLine> {
    let mut spots = Vec::new();
    for spot in sources.places_of_word(name, "", ANSWERS_MAX) {
        let line = sources.files[spot.file].text.lines().nth(spot.line as usize - 1).unwrap_or_default();
        let is_call = line.match_indices(name).any(|(at, _)| line[at + name.len()..].starts_with('('));
        if spot == declaration {
            continue;
        }
        // A mention outside of a call, or in prose, leaves the right answer open.
        if !is_call || is_comment(line.trim()) || !sources.files[spot.file].is_code {
            return Vec::new();
        }
        spots.push(spot);
    }
    spots.dedup();
    spots
}

fn matches(pattern: &Regex, line: &str) -> Vec<String> {
    pattern.find_iter(line).map(|m| m.as_str().to_string()).filter(|t| t.len() >= 5).collect()
}

fn literals(line: &str) -> impl Iterator<Item = String> {
    LITERAL.captures_iter(line).map(|c| c[1].trim().to_string())
}

fn has_placeholder(text: &str) -> bool {
    text.contains(['%', '{', '$', '\\'])
}

/// Whether a literal reads like words: 4 to 12 of them, hardly anything but letters.
fn is_message(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word =
        |w: &&&str| w.trim_matches(|c: char| c.is_ascii_punctuation()).chars().all(char::is_alphabetic) && w.len() > 1;
    (4..=12).contains(&words.len()) && words.iter().filter(is_word).count() * 4 >= words.len() * 3
}

/// Whether a literal is two or three words of letters alone.
fn is_short(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    (2..=3).contains(&words.len()) && words.iter().all(|word| word.chars().all(char::is_alphabetic))
}

/// Words of the longest part between placeholders.
fn longest_run(text: &str) -> usize {
    word_count(longest_part(text))
}

/// The part between placeholders with the most words.
fn longest_part(text: &str) -> &str {
    PLACEHOLDER.split(text).max_by_key(|part| word_count(part)).unwrap_or_default()
}

fn word_count(part: &str) -> usize {
    part.split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count()
}

/// Whether any other line looks as if it defined the name in a way that has no keyword of [`KEYWORDS`]: a value, a
/// field, an alias, a macro. Who types the name may mean that one.
fn is_bound_elsewhere(sources: &SourceFiles, name: &str, declaration: SourceLine) -> bool {
    let places = sources.places_of_word(name, "", PLACES_OF_A_NAME_MAX);
    let Ok(bound) = Regex::new(&BINDING.replace("NAME", name)) else { return true };
    let line_of =
        |spot: &SourceLine| sources.files[spot.file].text.lines().nth(spot.line as usize - 1).unwrap_or_default();
    places.len() >= PLACES_OF_A_NAME_MAX
        || places.iter().filter(|spot| **spot != declaration).any(|spot| bound.is_match(line_of(spot)))
}

/// The message as a program prints it: each placeholder with a value in its place.
fn filled(text: &str) -> String {
    const VALUES: [&str; 4] = ["42", "web-7", "/tmp/data.bin", "0x7f3a"];
    let mut number = 0;
    let value = |_: &Captures<'_>| {
        number += 1;
        VALUES[(number - 1) % VALUES.len()].to_string()
    };
    PLACEHOLDER.replace_all(text, value).into_owned()
}

/// Four words from the middle of a text, as it has them.
fn phrase(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let from = words.len().checked_sub(4)? / 2;
    let phrase = words.get(from..from + 4)?.join(" ");
    (!phrase.contains('"') && phrase.len() > 12).then_some(phrase)
}

/// A line of code that is likely unique: some words, neither comment nor closing brackets.
fn is_code_line(trimmed: &str) -> bool {
    let words = trimmed.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| w.len() > 1).count();
    (20..=150).contains(&trimmed.len()) && words >= 3 && !is_comment(trimmed)
}

fn is_comment(trimmed: &str) -> bool {
    ["//", "#", "*", "--", "/*", ";", "%", "<!--", "\"\"\"", "'"].iter().any(|mark| trimmed.starts_with(mark))
}

/// A line of a stack trace or a compiler's message, as the language of the file writes it.
fn frame(path: &str, line: u32) -> Option<String> {
    let (stem, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let folders = path.rsplit_once('/').map_or(String::new(), |(folders, _)| folders.replace('/', ".") + ".");
    Some(match extension {
        "java" | "kt" | "scala" => format!("\tat {folders}{stem}.run({stem}.{extension}:{line})"),
        "js" | "ts" | "tsx" | "mjs" => format!("    at handle (/app/{path}:{line}:9)"),
        "rs" => format!("  --> {path}:{line}:5"),
        "go" => format!("\t/go/src/app/{path}:{line} +0x1d"),
        "rb" => format!("\tfrom /srv/{path}:{line}:in `call'"),
        "c" | "h" | "cc" | "cpp" | "hpp" => format!("{path}:{line}:12: error: expected ';'"),
        "cs" => format!("   at App.Run() in /src/{path}:line {line}"),
        "php" => format!("#0 /var/www/{path}({line}): run()"),
        "ex" | "exs" => format!("    {path}:{line}: (anonymous fn)/1"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> SourceFiles {
        SourceFiles {
            files: files.iter().map(|(path, text)| SourceFile::new(path, (*text).to_string(), true)).collect(),
        }
    }

    fn queries(sources: &SourceFiles, kind: KnownKind) -> Vec<(String, Vec<u32>)> {
        let items = draw(sources, kind, 9, 1);
        let mut found: Vec<(String, Vec<u32>)> =
            items.into_iter().map(|i| (i.query, i.answers.iter().map(|a| a.line).collect())).collect();
        found.sort();
        found
    }

    #[test]
    fn every_kind_is_drawn_from_the_text_alone() {
        let text = "pub fn open_socket(host: &str) -> Socket {\n    let limit = MAX_OPEN_FILES;\n    \
                    fail(\"could not open any socket here\");\n    warn(\"no route to host {host} after all this time\");\n}\n\
                    fn run() {\n    let first_socket = open_socket(\"localhost\");\n    log(\"nobody is listening\");\n}\n";
        let sources = sources(&[("src/net/tcp.rs", text), ("src/b.rs", "fn run() {}\n")]);
        for (kind, expected) in [
            (KnownKind::Literal, vec![("could not open any socket here", vec![3])]),
            (KnownKind::ShortLiteral, vec![("nobody is listening", vec![8])]),
            (KnownKind::Message, vec![("no route to host 42 after all this time", vec![4])]),
            (KnownKind::Name, vec![("open_socket", vec![1])]),
            (KnownKind::KeywordName, vec![("fn open_socket", vec![1])]),
            (KnownKind::Signature, vec![("pub fn open_socket(host: &str) -> Socket", vec![1])]),
            (KnownKind::Constant, vec![("MAX_OPEN_FILES", vec![2])]),
            (KnownKind::Callers, vec![("who calls open_socket", vec![7])]),
            (KnownKind::Phrase, vec![("\"not open any socket\"", vec![3])]),
        ] {
            let expected: Vec<(String, Vec<u32>)> = expected.into_iter().map(|(q, l)| (q.to_string(), l)).collect();
            assert_eq!(queries(&sources, kind), expected, "{kind:?}");
        }
        let places = queries(&sources, KnownKind::Place);
        assert!(places.contains(&("src/net/tcp.rs:7".to_string(), vec![7])), "{places:?}");
        let frames = queries(&sources, KnownKind::Frame);
        assert!(frames.contains(&("  --> src/net/tcp.rs:7:5".to_string(), vec![7])), "{frames:?}");
    }

    #[test]
    fn a_draw_depends_on_its_seed_and_not_on_other_files() {
        let line = |i: u32| format!("    let value_{i} = compute_value_of(input_{i}, {i});\n");
        let text: String = (0..50).map(line).collect();
        let one = sources(&[("a.rs", &text)]);
        let two = sources(&[("a.rs", &text), ("b.rs", "fn other() {}\n")]);
        let drawn = |sources: &SourceFiles, seed| -> Vec<String> {
            draw(sources, KnownKind::Line, 5, seed).into_iter().map(|i| i.query).collect()
        };
        assert_eq!(drawn(&one, 1), drawn(&two, 1));
        assert_ne!(drawn(&one, 1), drawn(&one, 2));
    }

    #[test]
    fn what_has_two_right_answers_is_no_item() {
        for (kind, text) in [
            (KnownKind::Name, "def port(self):\n    pass\nclass A:\n    port: int\n"),
            (KnownKind::Name, "struct Kind { int a; };\nstruct Kind = {\n"),
            (KnownKind::Name, "class EXPORT(\"x\") thing {\n#define EXPORT(x)\n"),
            (
                KnownKind::Message,
                "warn(\"could not open socket here: {}\")\nfail(\"could not open socket here: {}!\")\n",
            ),
        ] {
            assert_eq!(queries(&sources(&[("a.py", text)]), kind), [], "{text}");
        }
    }

    #[test]
    fn text_that_stands_twice_is_no_item() {
        let sources = sources(&[
            ("a.rs", "fail(\"could not open any socket here\");\n"),
            ("b.rs", "// could not open any socket here\n"),
        ]);
        assert!(draw(&sources, KnownKind::Literal, 9, 1).is_empty());
    }
}
