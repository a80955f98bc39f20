//! Structural patterns: code with holes, such as `foo($A, $$$)`, matched against syntax trees by ast-grep-core.
//!
//! Texts and patterns are parsed in worker processes, as for units. A pattern may have several readings in a
//! language, and matches where one of them does. Code embedded in a text (scripts of a page) is searched in its own
//! language.

mod code;
mod reading;

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use ast_grep_core::matcher::MatcherExt as _;
use serde::{Deserialize, Serialize};
use tree_sitter::Range;

use crate::budget::{Budget, Spent};
use crate::language::{self, Category, LANGUAGES, Language, Reader};
pub use crate::parse::TOO_LARGE;
use crate::parse::{PARSED_BYTES_MAX, embedded, notebook, prepared};
use code::CodeTree;
pub use reading::{PatternFault, check};
use reading::{PatternReading, readings};

/// Nodes that are visited between two looks at the clock.
const NODES_PER_CHECK: usize = 256;

/// What a pattern means in a language, and where it matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructureMatches {
    /// For each way of reading the pattern the texts that a match contains, as written; without any, the pattern is no
    /// code of the language.
    pub readings: Vec<Vec<String>>,
    /// The matches by their bytes, those of outer nodes before those inside.
    pub places: Vec<(u32, u32)>,
}

impl StructureMatches {
    /// Whether a text may have a match.
    pub fn may_match(&self, text: &str) -> bool {
        self.readings.iter().any(|literals| literals.iter().all(|literal| text.contains(literal.as_str())))
    }
}

/// A function that matches outside of this process.
pub(crate) type Elsewhere = fn(&str, &'static Language, &str) -> Result<StructureMatches, String>;

static ELSEWHERE: OnceLock<Elsewhere> = OnceLock::new();

/// Has [`find`] leave its work to `elsewhere`.
pub(crate) fn find_elsewhere(elsewhere: Elsewhere) {
    ELSEWHERE.get_or_init(|| elsewhere);
}

/// Matches `pattern` against a text of `language`, in a worker process if the program
/// [enabled](crate::worker::enable) them. With an empty text it only reads the pattern. The language of a notebook's cells is
/// in its text: before that is known, any text may match.
///
/// # Errors
/// Why the text can't be parsed, in a few words.
pub fn find(text: &str, language: &'static Language, pattern: &str) -> Result<StructureMatches, String> {
    if languages_in(language).next().is_none() && !has_cells(language) {
        return Ok(StructureMatches::default());
    }
    ELSEWHERE.get().map_or(find_in_process as Elsewhere, |elsewhere| *elsewhere)(text, language, pattern)
}

/// As [`find`], in this process, which a grammar's scanner may crash.
///
/// # Errors
/// As [`find`].
pub fn find_in_process(text: &str, language: &'static Language, pattern: &str) -> Result<StructureMatches, String> {
    if text.len() > PARSED_BYTES_MAX {
        return Err(TOO_LARGE.to_string());
    }
    // Nothing that the work changes outlives a panic.
    match catch_unwind(AssertUnwindSafe(|| find_within(text, language, pattern))) {
        Ok(found) => found.map_err(|spent| spent.to_string()),
        Err(_) => Err("the parser failed inside, which is a fault of colgrep".to_string()),
    }
}

fn find_within(text: &str, language: &'static Language, pattern: &str) -> Result<StructureMatches, Spent> {
    if has_cells(language) {
        return find_in_cells(text, pattern);
    }
    let mut found = StructureMatches::default();
    let (budget, mut inner) = (Budget::new(), HashMap::new());
    for part in languages_in(language) {
        let readings = known_readings(pattern, part)?;
        found.readings.extend(readings.iter().map(|reading| reading.literals.clone()));
        if readings.is_empty() || text.is_empty() {
            continue;
        }
        if std::ptr::eq(part, language) {
            add_places(text, language, &[], &readings, &budget, &mut found.places)?;
        } else {
            if inner.is_empty() {
                inner = embedded(text, language, &budget)?;
            }
            let Some(ranges) = inner.get(part.name) else { continue };
            add_places(text, part, ranges, &readings, &budget, &mut found.places)?;
        }
    }
    found.places.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    found.places.dedup();
    Ok(found)
}

/// Whether texts of a language have cells, each in a language of its own.
fn has_cells(language: &Language) -> bool {
    language.reader == Some(Reader::Notebook)
}

/// As [`find_within`], in the cells of a notebook.
fn find_in_cells(text: &str, pattern: &str) -> Result<StructureMatches, Spent> {
    let mut found = StructureMatches::default();
    if text.is_empty() {
        found.readings.push(Vec::new());
    }
    let budget = Budget::new();
    for (source, language) in notebook::sources(text).unwrap_or_default() {
        budget.check()?;
        let of_cell = find_within(&source.text, language, pattern)?;
        // The file writes its texts with escapes.
        if found.readings.is_empty() && !of_cell.readings.is_empty() {
            found.readings.push(Vec::new());
        }
        found.places.extend(of_cell.places.into_iter().filter_map(|place| source.bytes_in_file(text, place)));
    }
    Ok(found)
}

/// The languages of the code in a text: its own, unless it is prose, and those that it embeds.
pub fn languages_in(language: &'static Language) -> impl Iterator<Item = &'static Language> {
    static EMBEDDED: LazyLock<HashMap<&str, Vec<&'static Language>>> = LazyLock::new(|| {
        let embedded = |row: &'static Language| {
            let query = language::expand(row.query);
            let captures = query.split("@embedded.").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
            let names: BTreeSet<&str> = captures.collect();
            (row.name, names.into_iter().filter_map(language::by_name).collect())
        };
        LANGUAGES.iter().map(embedded).collect()
    });
    let own = Some(language).filter(|row| row.grammar.is_some() && row.category != Category::Prose);
    own.into_iter().chain(EMBEDDED.get(language.name).into_iter().flatten().copied())
}

/// The readings of the last pattern, by language.
type Known = (String, HashMap<&'static str, Arc<[PatternReading]>>);

/// The readings of a pattern, made once for many texts.
fn known_readings(pattern: &str, language: &'static Language) -> Result<Arc<[PatternReading]>, Spent> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known =
        lock().as_ref().filter(|known| known.0 == pattern).and_then(|known| known.1.get(language.name).cloned());
    if let Some(readings) = known {
        return Ok(readings);
    }
    let made: Arc<[PatternReading]> = readings(pattern, language)?.into();
    let mut known = lock();
    if known.as_ref().is_none_or(|known| known.0 != pattern) {
        *known = Some((pattern.to_string(), HashMap::new()));
    }
    known.iter_mut().for_each(|known| _ = known.1.insert(language.name, Arc::clone(&made)));
    Ok(made)
}

/// Adds the matches in a text, or in these ranges of it.
fn add_places(
    text: &str,
    language: &'static Language,
    ranges: &[Range],
    readings: &[PatternReading],
    budget: &Budget,
    places: &mut Vec<(u32, u32)>,
) -> Result<(), Spent> {
    let Some(code) = CodeTree::parse(text, &prepared(text, language), language, ranges, budget)? else { return Ok(()) };
    let root = code.root();
    for (number, node) in root.root().dfs().enumerate() {
        if number.is_multiple_of(NODES_PER_CHECK) {
            budget.check()?;
        }
        let is_match =
            |reading: &PatternReading| reading.may_begin(&node) && reading.pattern.match_node(node.clone()).is_some();
        if readings.iter().any(is_match) {
            // Some nodes include the line break behind them.
            let range = node.range();
            let inside = text.get(range.start..range.end.min(text.len())).unwrap_or_default().trim_end();
            places.push((range.start as u32, (range.start + inside.len()) as u32));
        }
    }
    Ok(())
}
