//! `--like FILE:LINE`: units like one that is there, asked for by that unit's own words and vectors.
//!
//! The words are the unit's name, the first sentence of its documentation, and the terms of its text that are rare
//! elsewhere. The vectors are those that an index keeps of such a unit, made from what stands in the file now.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_core::Unit;
use colgrep_core::bm25::idf;
use colgrep_core::token::{Tokenizer, is_stop_word, words};
use colgrep_encoder::Multivector;
use colgrep_engine::hint::Hinted;
use colgrep_engine::model::Model;
use colgrep_engine::project::Project;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::UnitHit;
use colgrep_index::source::read_text;
use colgrep_index::store::Snapshot;
use colgrep_index::units::unit_text;

use crate::output::path::typed;

/// Words of the unit's text that go into the question.
const TELLING_WORDS_MAX: usize = 12;

/// A unit, named by a line of it, and the question that finds others like it.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The question in words.
    pub query: String,
    /// The question in vectors, where there is a model.
    pub vectors: Option<Multivector>,
    /// The unit's file, by number.
    pub file: FileId,
    /// The line of its definition.
    pub line: u32,
}

/// Reads `FILE:LINE`; a column behind it, as compilers print it, is left out.
///
/// # Errors
/// When it is not written so.
pub fn parse(text: &str) -> Result<(PathBuf, u32)> {
    let numbered = |text: &str| -> Option<(String, u32)> {
        let (before, number) = text.rsplit_once(':')?;
        Some((before.to_string(), number.parse().ok()?))
    };
    match numbered(text).map(|last| numbered(&last.0).unwrap_or(last)) {
        Some((file, line)) if !file.is_empty() && line > 0 => Ok((PathBuf::from(file), line)),
        _ => bail!("{text:?} names no line of a file; write it as src/main.rs:40"),
    }
}

/// The unit on `line` of the file at `path` (from the project's root): the smallest one around it.
///
/// # Errors
/// When the file is not indexed, or the line lies outside it.
pub fn unit_at(snapshot: &Snapshot, path: &str, line: u32) -> Result<(UnitHit, Unit)> {
    let record = snapshot.files.indexed().find(|f| f.path == path);
    let path = typed(Path::new(&snapshot.files.root), path);
    let record = record.with_context(|| Hinted {
        what: format!("{path} is not indexed"),
        shell: "`colgrep status` says what is skipped and why".to_string(),
        tool: "`outline` and `grep` read it all the same".to_string(),
    })?;
    let mut best: Option<(UnitHit, Unit)> = None;
    for hit in snapshot.lexical.units_of(record.id, None)? {
        let unit = snapshot.lexical.unit(hit.key)?;
        let length = |u: &Unit| u.span.end - u.span.first.min(u.span.line);
        let holds = (unit.span.first.min(unit.span.line)..=unit.span.end).contains(&line);
        if holds && best.as_ref().is_none_or(|(_, b)| length(&unit) < length(b)) {
            best = Some((hit, unit));
        }
    }
    best.with_context(|| Hinted {
        what: format!("{path} has no unit on line {line}"),
        shell: format!("`colgrep outline {path}` lists its units"),
        tool: "`outline` lists its units".to_string(),
    })
}

/// The question for units like the one on that line.
///
/// # Errors
/// As [`unit_at`], or when the model can't be run.
pub fn like(project: &Project, snapshot: &Snapshot, path: &str, line: u32, model: Option<&Model>) -> Result<Like> {
    let (hit, mut unit) = unit_at(snapshot, path, line)?;
    let text = read_text(&project.root, path).unwrap_or_default();
    let (first, end) = (unit.span.line.saturating_sub(1) as usize, unit.span.end as usize);
    let body: String = text.lines().skip(first).take(end - first.min(end)).collect::<Vec<_>>().join("\n");
    let telling = telling_words(snapshot, &body)?;
    let first_sentence = unit.docstring.split(['.', '\n']).next().unwrap_or_default();
    // As words, not as one name: a name alone would be looked up as a definition.
    let query = [unit.name.as_str(), first_sentence, &telling.join(" ")].join(" ").trim().to_string();
    unit.body = body;
    let vectors = model.map(|m| m.document(&unit_text(path, &unit))).transpose()?.flatten();
    Ok(Like { query, vectors, file: hit.file, line: unit.span.line })
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
    let units: u64 = snapshot.files.indexed().map(|f| u64::from(f.units)).sum();
    let mut weighed = Vec::new();
    for (term, (count, word)) in counts {
        let df = snapshot.lexical.units_with(&term)?;
        // A word that stands nowhere else finds nothing.
        if df > 1 {
            weighed.push(((1.0 + count as f32).ln() * idf(units, df), word));
        }
    }
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(weighed.into_iter().take(TELLING_WORDS_MAX).map(|(_, word)| word).collect())
}

/// A file's path from the root of the project around it.
///
/// # Errors
/// When there is no such file.
pub fn locate(file: &Path, env: &colgrep_engine::env::Env) -> Result<(Project, String)> {
    if !file.is_file() {
        bail!("{}: no such file", file.display());
    }
    Project::around(file, env)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_as_grep_prints_them() {
        for (text, expected) in [
            ("src/a.rs:40", Some(("src/a.rs", 40))),
            ("C:\\a.rs:1", Some(("C:\\a.rs", 1))),
            ("src/a.rs:40:7", Some(("src/a.rs", 40))),
            ("C:\\a.rs:1:0", Some(("C:\\a.rs", 1))),
            ("a:0:3", None),
            ("src/a.rs", None),
            ("src/a.rs:", None),
            (":4", None),
            ("a:0", None),
        ] {
            let read = parse(text).ok();
            assert_eq!(read, expected.map(|(f, l)| (PathBuf::from(f), l)), "{text}");
        }
    }
}
