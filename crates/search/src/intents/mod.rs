//! Intents: what a query points at besides its words.
//!
//! [`INTENTS`] is a table of query forms. A row parses the query and resolves the result to [`Pointers`].
//! [`resolve_all`] runs the rows in order of precedence, skips those that yield to an earlier row, and merges the
//! results; a row sees earlier results but changes none.

mod callers;
mod definitions;
mod embedded;
mod files;
mod frames;
mod keys;
mod lookup;
mod phrases;
mod spelled;
mod text;
mod text_evidence;
mod untranslated;
mod written;

use colgrep_core::UnitId;
use colgrep_core::query::Query;
use colgrep_core::query::intents::{Certainty, Pointer};
use colgrep_core::statistics::Statistics;
use colgrep_core::token::Tokenizer;
pub(super) use files::{allowed, best_of};
use lookup::IntentLookup;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rounds::Coordinator;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// A form of query, and how to resolve it.
pub(crate) struct Intent {
    /// Its name, as the documentation lists it.
    pub name: &'static str,
    /// What it points at.
    pub doc: &'static str,
    /// Examples of the form, each with the result of [`Intent::parse`], joined by ` | `.
    pub examples: &'static [(&'static str, &'static str)],
    /// Parses this form of query; empty if the query does not have it.
    pub parse: fn(&Query) -> Vec<String>,
    /// Looks up the parsed parts.
    pub resolve: fn(&mut IntentLookup<'_>, &ResolvedSoFar, &[String]) -> Result<Resolved>,
    /// What this form settles if it resolves.
    pub settles: &'static [Settled],
    /// The form is skipped if an earlier one has settled one of these.
    pub yields_to: &'static [Settled],
}

impl std::fmt::Debug for Intent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Intent({})", self.name)
    }
}

/// Every form of query, in order of precedence.
pub(crate) static INTENTS: &[Intent] = &[
    files::LINE,
    files::FILE,
    definitions::DECLARATION,
    callers::CALLERS,
    callers::SUBTYPES,
    definitions::NAME_IN_FILE,
    definitions::DEFINITION_QUESTION,
    definitions::NAME,
    files::MODULE,
    files::STEM,
    text::TEXT,
    keys::KEYS,
    embedded::SHELL_NAME,
    embedded::TEST,
    embedded::FLAG,
    embedded::QUALIFIED_NAME,
    phrases::PHRASE,
    untranslated::UNTRANSLATED,
    spelled::SPELLING,
];

/// The forms of a name extracted from a query.
static NAMED: &[Intent] = &[definitions::NAME, files::MODULE, files::STEM];

/// The forms of a name or text extracted from a query.
static ALONE: &[Intent] = &[definitions::NAME, files::MODULE, files::STEM, text::TEXT, keys::KEYS];

/// What an intent can settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The query is a name, and something has that name.
    Name,
    /// The whole query occurs exactly in a file.
    Text,
    /// A message occurs in a file: after a log's prefix, of a trace, or that the query quotes or asks about.
    Message,
}

/// What a query points at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointers {
    /// Units, each by the best evidence for it.
    pub units: FxHashMap<UnitId, Pointer>,
    /// Named files, with a share of 1 that files of one name divide between them.
    pub files: FxHashMap<FilePlace, f32>,
    /// The named files that the query is about, as opposed to those that it merely mentions.
    pub meant: FxHashSet<FilePlace>,
    /// The files that contain every quoted phrase, or print it as a message; only these are answers.
    pub only: Option<FxHashSet<FilePlace>>,
}

/// Strength of a run that is certain: it covers nearly the whole text.
const STRENGTH_OF_NEARLY_ALL: f32 = 0.9;

impl Pointers {
    /// Whether a quoted phrase occurs nowhere and no file is named, so that there is no answer.
    pub fn allow_nothing(&self) -> bool {
        self.only.as_ref().is_some_and(FxHashSet::is_empty) && self.files.is_empty()
    }

    /// Keeps the best pointer to a unit.
    fn point_at(&mut self, unit: UnitId, pointer: Pointer) {
        let known = self.units.entry(unit).or_insert(pointer);
        if (known.certainty, known.strength) < (pointer.certainty, pointer.strength) {
            *known = pointer;
        }
    }

    /// Names a file with at least this share.
    fn name_file(&mut self, file: FilePlace, share: f32, is_meant: bool) {
        let known = self.files.entry(file).or_default();
        *known = known.max(share);
        if is_meant {
            self.meant.insert(file);
        }
    }

    fn merge(&mut self, other: Pointers) {
        other.units.into_iter().for_each(|(unit, pointer)| self.point_at(unit, pointer));
        other.files.into_iter().for_each(|(file, share)| self.name_file(file, share, false));
        self.meant.extend(other.meant);
        self.only = other.only.or(self.only.take());
    }

    /// Whether a unit is pointed at by more than a run of some of the query's words.
    fn is_sure(&self) -> bool {
        self.units.values().any(|p| p.certainty > Certainty::Run || p.strength >= STRENGTH_OF_NEARLY_ALL)
    }

    /// The same, without runs of nearly all words.
    fn is_certain(&self) -> bool {
        self.is_certain_of(Certainty::Words)
    }

    fn is_certain_of(&self, least: Certainty) -> bool {
        self.units.values().any(|pointer| pointer.certainty >= least)
    }

    /// Whether the query means this one file by its name.
    fn means(&self, file: FilePlace) -> bool {
        self.files.get(&file).is_some_and(|share| *share >= 1.0)
    }

    /// Whether it means any one file by its name.
    fn means_a_file(&self) -> bool {
        self.files.keys().any(|file| self.means(*file))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pointers: Pointers,
    settled: Vec<Settled>,
    /// Whether its units replace those of earlier intents, if it has any.
    replaces: bool,
    /// Its pointers if no other intent is sure.
    fallback: Pointers,
}

impl Resolved {
    /// Pointers that settle the query as a name, if `is_named`.
    fn named(pointers: Pointers, is_named: bool) -> Resolved {
        Resolved { pointers, settled: is_named.then_some(Settled::Name).into_iter().collect(), ..Resolved::default() }
    }

    /// Pointers without a settled form.
    fn open(pointers: Pointers) -> Resolved {
        Resolved { pointers, ..Resolved::default() }
    }
}

/// What the intents so far resolve to.
#[derive(Debug, Default)]
pub(crate) struct ResolvedSoFar {
    pointers: Pointers,
    settled: Vec<Settled>,
    fallback: Pointers,
}

impl ResolvedSoFar {
    fn merge(&mut self, resolved: Resolved) {
        if resolved.replaces && !resolved.pointers.units.is_empty() {
            self.pointers.units.clear();
        }
        self.pointers.merge(resolved.pointers);
        self.fallback.merge(resolved.fallback);
        self.settled.extend(resolved.settled);
    }

    fn has_settled(&self, any_of: &[Settled]) -> bool {
        any_of.iter().any(|settled| self.settled.contains(settled))
    }
}

/// Resolves intents in order, on top of earlier results.
fn resolve_all(intents: &[Intent], lookup: &mut IntentLookup<'_>, mut found: ResolvedSoFar) -> Result<ResolvedSoFar> {
    for intent in intents {
        if found.has_settled(intent.yields_to) {
            continue;
        }
        let asked = (intent.parse)(lookup.query);
        if !asked.is_empty() {
            let resolved = (intent.resolve)(lookup, &found, &asked)?;
            debug_assert!(resolved.settled.iter().all(|settled| intent.settles.contains(settled)), "{}", intent.name);
            found.merge(resolved);
        }
    }
    Ok(found)
}

/// Resolves a query. `here` is the reader's folder, relative to the root of the corpus; the name of that `root` is
/// taken for the program's, which may prefix its messages.
pub fn pointers(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    here: &str,
    root: &str,
    tokenizer: &mut Tokenizer,
) -> Result<Pointers> {
    let program = root.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut lookup = IntentLookup { rounds, statistics, query, here, program, tokenizer };
    // A long query may be a passage of a file; what it mentions is resolved elsewhere.
    let intents = if query.long.is_some() { std::slice::from_ref(&text::TEXT) } else { INTENTS };
    let ResolvedSoFar { mut pointers, settled, fallback } =
        resolve_all(intents, &mut lookup, ResolvedSoFar::default())?;
    if !pointers.is_sure() && !settled.contains(&Settled::Message) {
        pointers.merge(fallback);
    }
    Ok(pointers)
}

/// The table of `docs/generated/intents.md`.
pub fn intents_markdown() -> String {
    let code = |text: &str| match text.replace('|', "\\|") {
        quoted if quoted.contains('`') => format!("`` {quoted} ``"),
        plain => format!("`{plain}`"),
    };
    let kinds = |settled: &[Settled]| format!("{settled:?}").trim_matches(['[', ']']).to_lowercase();
    let mut page = String::from(
        "<!-- Generated by `just docs`; a test keeps it current. -->\n\n# Query intents\n\nWhat a query can point at besides \
         its words, in order of precedence. An intent is skipped if an earlier one has settled what it yields to.\n\n\
         | intent | examples | what it points at | settles | yields to |\n|---|---|---|---|---|\n",
    );
    for Intent { name, doc, examples, settles, yields_to, .. } in INTENTS {
        let examples: Vec<String> = examples.iter().map(|(query, _)| code(query)).collect();
        page += &format!("| {name} | {} | {doc} | {} | {} |\n", examples.join(", "), kinds(settles), kinds(yields_to));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use colgrep_syntax::language;

    fn query(text: &str) -> Query {
        Query::new(text, "", language::facts(), &mut Tokenizer::default())
    }

    #[test]
    fn examples_parse_to_their_intent() {
        for intent in INTENTS {
            assert!(intent.doc.ends_with('.') && !intent.examples.is_empty(), "{}", intent.name);
            for (text, expected) in intent.examples {
                assert_eq!((intent.parse)(&query(text)).join(" | "), *expected, "{}: {text}", intent.name);
            }
        }
    }

    #[test]
    fn the_table_of_intents_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/intents.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == intents_markdown(), "docs/generated/intents.md is old; run `just docs`");
    }

    #[test]
    fn examples_parse_to_no_name_that_takes_precedence() {
        for (at, intent) in INTENTS.iter().enumerate().filter(|(_, one)| one.yields_to.contains(&Settled::Name)) {
            for above in INTENTS[..at].iter().filter(|above| above.settles.contains(&Settled::Name)) {
                for (text, _) in intent.examples {
                    assert!(
                        (above.parse)(&query(text)).is_empty(),
                        "{} is skipped: {} has {text}",
                        intent.name,
                        above.name
                    );
                }
            }
        }
    }
}
