//! Units like an existing one, found by its own words and vectors.
//!
//! The words are the unit's name, the first sentence of its documentation, and the terms of its text that are rare
//! elsewhere. The vectors are those that an index keeps for such a unit, made from the file's current text.

use std::collections::HashMap;
use std::path::PathBuf;

use colgrep_core::Unit;
use colgrep_core::bm25::idf;
use colgrep_core::token::{Tokenizer, is_stop_word, words};
use colgrep_encoder::Multivector;
use colgrep_index::ids::StableId;
use colgrep_index::source::read_text;
use colgrep_index::store::Snapshot;
use colgrep_index::units::unit_text;

use crate::error::{Refused, Result};
use crate::project::Project;
use crate::project::model::Model;

/// Most words of the unit's text that go into the query.
const TELLING_WORDS_MAX: usize = 12;

/// A unit, named by one of its lines, and the query that finds others like it.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The query in words.
    pub query: String,
    /// The query as vectors, if there is a model.
    pub vectors: Option<Multivector>,
    /// The root of the unit's project.
    pub root: PathBuf,
    /// The unit's file, from there.
    pub path: String,
    /// The line of its definition.
    pub line: u32,
}

/// The unit on `line` of the file at `path` (from the project's root): the smallest one around it.
///
/// # Errors
/// When the file is not indexed, or the line lies outside it.
pub fn unit_at(snapshot: &Snapshot, path: &str, line: u32) -> Result<Unit> {
    let record = snapshot.files.indexed().find(|f| f.path == path);
    let root = || PathBuf::from(&snapshot.files.root);
    let record = record.ok_or_else(|| Refused::NotIndexed { root: root(), path: path.to_string() })?;
    let unit = match snapshot.lexical.unit_around(record.id, line, None)? {
        Some(hit) => Some(snapshot.unit(hit.key)?),
        None => None,
    };
    // Without a unit around the line, the preceding one was found.
    let around = unit.filter(|unit| line <= unit.span.end);
    Ok(around.ok_or_else(|| Refused::NoUnit { root: root(), path: path.to_string(), line })?)
}

/// The query for units like the one on that line.
///
/// # Errors
/// As [`unit_at`], or when the model can't be run.
pub fn like(project: &Project, snapshot: &Snapshot, path: &str, line: u32, model: Option<&Model>) -> Result<Like> {
    let unit = unit_at(snapshot, path, line)?;
    like_unit(project, snapshot, path, unit, model)
}

/// The query for units like the one with that id.
///
/// # Errors
/// When no unit has that id, or the model can't be run.
pub fn like_with(project: &Project, snapshot: &Snapshot, id: StableId, model: Option<&Model>) -> Result<Like> {
    let (hit, file) = snapshot.unit_with(id).ok_or_else(|| Refused::NoUnitWith { id: id.to_string() })?;
    like_unit(project, snapshot, &file.path, snapshot.unit(hit.key)?, model)
}

fn like_unit(
    project: &Project,
    snapshot: &Snapshot,
    path: &str,
    mut unit: Unit,
    model: Option<&Model>,
) -> Result<Like> {
    let text = read_text(&project.root, path).unwrap_or_default();
    let (first, end) = (unit.span.line.saturating_sub(1) as usize, unit.span.end as usize);
    let body: String = text.lines().skip(first).take(end - first.min(end)).collect::<Vec<_>>().join("\n");
    let telling = telling_words(snapshot, &body)?;
    let first_sentence = unit.docstring.split(['.', '\n']).next().unwrap_or_default();
    // As separate words: a single name would be looked up as a definition.
    let query = [unit.name.as_str(), first_sentence, &telling.join(" ")].join(" ").trim().to_string();
    unit.body = body;
    let vectors = model.map(|m| m.document(&unit_text(path, &unit))).transpose()?.flatten();
    Ok(Like { query, vectors, root: project.root.clone(), path: path.to_string(), line: unit.span.line })
}

/// The words of a text with the highest tf · idf over the index's units, best first.
fn telling_words(snapshot: &Snapshot, text: &str) -> Result<Vec<String>> {
    let mut tokenizer = Tokenizer::default();
    let mut counts: HashMap<String, (u32, String)> = HashMap::new();
    for word in words(text).map(|w| &text[w]) {
        let lower = word.to_lowercase();
        if lower.chars().count() > 2 && !is_stop_word(&lower) && !word.starts_with(|c: char| c.is_ascii_digit()) {
            let term = tokenizer.terms(word).into_iter().next().unwrap_or_default();
            counts.entry(term).or_insert_with(|| (0, word.to_string())).0 += 1;
        }
    }
    let units = snapshot.files.units();
    let mut weighed = Vec::new();
    for (term, (count, word)) in counts {
        let df = snapshot.lexical.units_with(&term)?;
        // A word that occurs in no other unit finds nothing.
        if df > 1 {
            weighed.push(((1.0 + count as f32).ln() * idf(units, df), word));
        }
    }
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(weighed.into_iter().take(TELLING_WORDS_MAX).map(|(_, word)| word).collect())
}
