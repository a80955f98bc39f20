//! `unread`: names that a line announces, as ctags would see it, but that no unit has. This shows what a grammar can't
//! parse: macros around definitions, attributes before names.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::query::last_segment;
use colgrep_core::{Unit, UnitKind};
use colgrep_index::source::read_text;
use colgrep_index::walk::{LeftOut, WalkOptions, walk};
use colgrep_syntax::language::{Category, Language, of_file};
use colgrep_syntax::parse::parse;
use regex::Regex;

use crate::report::print;

/// Examples printed of each language.
const EXAMPLES: usize = 8;
/// Words that may precede a keyword.
const MODIFIERS: &str = "pub|export|default|public|private|protected|internal|static|final|abstract|async|unsafe|inline|\
                         virtual|sealed|partial|open|override|data|case|implicit|suspend|fileprivate|readonly|extern";
/// Keywords followed by a name; a type's needs a body on its line, since else it is only announced or used.
const FUNCTIONS: &str = "fn|func|def|defp|defmacro|function|fun|sub";
const TYPES: &str = "class|struct|enum|trait|interface|protocol|object|union|record";

/// `research unread`.
#[derive(Clone, Debug, clap::Args)]
pub struct UnreadArgs {
    /// Folders of source
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
}

/// What is counted of a language.
#[derive(Default)]
struct Count {
    announced: usize,
    unread: usize,
    examples: Vec<String>,
}

pub(super) fn run(args: &UnreadArgs) -> Result<()> {
    let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
    for folder in &args.folders {
        for file in walk(folder, &LeftOut::default(), &WalkOptions::default())?.files {
            let Ok(text) = read_text(folder, &file.path) else { continue };
            let language = of_file(&file.path, text.as_bytes());
            if language.category == Category::Code && language.grammar.is_some() {
                count(&text, language, &folder.join(&file.path), counts.entry(language.name).or_default());
            }
        }
    }
    let mut table = "| language | announced | no unit | share |\n|---|---:|---:|---:|\n".to_string();
    let row = |name: &str, announced: usize, unread: usize| {
        format!("| {name} | {announced} | {unread} | {:.4} |\n", unread as f64 / announced.max(1) as f64)
    };
    let all = counts.values().fold((0, 0), |(a, u), count| (a + count.announced, u + count.unread));
    table += &row("all", all.0, all.1);
    for (name, count) in &counts {
        table += &row(name, count.announced, count.unread);
    }
    for (name, count) in counts.iter().filter(|(_, count)| !count.examples.is_empty()) {
        table += &format!("\n{name}:\n{}\n", count.examples.join("\n"));
    }
    print(&table)
}

/// Adds what the lines of one file announce.
fn count(text: &str, language: &'static Language, path: &Path, count: &mut Count) {
    let keywords: HashSet<&str> = language.keywords().collect();
    let of = |list: &str| list.split('|').filter(|word| keywords.contains(word)).collect::<Vec<_>>().join("|");
    let (functions, types) = (of(FUNCTIONS), of(TYPES));
    let pattern = |words: &str, end: &str| {
        let before = format!(r"^[ \t]*(?:(?:{MODIFIERS})(?:\([^)]*\))?[ \t]+)*(?:{words})[ \t]+");
        // Attributes in upper case, then a name, of which the last part counts.
        let name = r"(?:(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:\([^)]*\))?[ \t]+)*(?:[A-Za-z_]\w*(?:::|\.))*([A-Za-z_]\w*)";
        (!words.is_empty()).then(|| Regex::new(&format!("{before}{name}{end}")).ok()).flatten()
    };
    let patterns = [pattern(&functions, r"[ \t]*[<(]"), pattern(&types, r"\b(?:[^;()=,]*|[^;()=]*[{:])[ \t]*$")];
    let units = parse(text, language).units;
    let names: HashSet<&str> = units.iter().map(|unit| last_segment(&unit.name)).collect();
    let hidden = lines_without_names(&units);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut quoted = None;
    for (i, line) in text.lines().enumerate() {
        let number = i as u32 + 1;
        if is_quoted(line, &mut quoted) {
            continue;
        }
        let name = patterns.iter().flatten().find_map(|pattern| Some(pattern.captures(line)?.get(1)?.as_str()));
        let is_name = |name: &&str| !hidden.contains(&number) && !keywords.contains(name);
        let Some(name) = name.filter(is_name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        count.announced += 1;
        if !names.contains(name) {
            count.unread += 1;
            if count.examples.len() < EXAMPLES {
                count.examples.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
}

/// Whether a line lies in a comment or text of several lines, which ends with `until`.
fn is_quoted(line: &str, until: &mut Option<&'static str>) -> bool {
    if let Some(end) = *until {
        if line.contains(end) {
            *until = None;
        }
        return true;
    }
    let marks = [("\"\"\"", "\"\"\""), ("'''", "'''")];
    let opened = marks.into_iter().find(|(begin, _)| line.matches(begin).count() % 2 == 1);
    let comment = line.trim_start().starts_with("/*") && !line.contains("*/");
    *until = opened.map(|(_, end)| end).or(comment.then_some("*/"));
    false
}

/// Lines inside functions, whose own definitions are not units, and lines of documentation.
fn lines_without_names(units: &[Unit]) -> HashSet<u32> {
    let mut hidden = HashSet::new();
    for unit in units {
        hidden.extend(unit.span.first..unit.span.line);
        if matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Constant) {
            hidden.extend(unit.span.line + 1..=unit.span.end);
        }
    }
    hidden
}
