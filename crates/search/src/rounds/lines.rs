//! The line of a unit that names or calls something.

use std::path::Path;
use std::sync::Arc;

use colgrep_core::UnitId;
use colgrep_core::code_line::{calling_line, member_line, naming_line};
use colgrep_index::error::Result;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::UnitHit;
use colgrep_syntax::language;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for a line of each unit, or else for the unit's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesRequest {
    pub units: Vec<UnitId>,
    pub line: LineOf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineOf {
    /// The one that names the unit.
    Name(String),
    /// The one that calls a name, or else one that uses it.
    Call(String),
    /// The one that declares a member of a type, or else 0.
    Member(String),
}

impl Round for LinesRequest {
    type Answer = Vec<u32>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<u32>> {
        let (snapshot, line) = (search.snapshot, &self.line);
        let root = Path::new(&snapshot.files.root);
        let mut read: Option<(FileId, Arc<String>)> = None;
        let mut of_unit = |unit: &UnitHit| {
            let record = search.shard.record(search.shard.place(unit.file));
            if read.as_ref().is_none_or(|(file, _)| *file != unit.file) {
                let text = record.and_then(|record| snapshot.texts.text(root, &record.path).ok()).unwrap_or_default();
                read = Some((unit.file, text));
            }
            let text = read.as_ref().map_or("", |(_, text)| text.as_str());
            let end = snapshot.lexical.end_of(unit.key).unwrap_or(unit.line);
            let otherwise = if matches!(line, LineOf::Member(_)) { 0 } else { unit.line };
            let language = record.map_or("", |record| record.language.as_str());
            line.find(text, language, unit.line, end).unwrap_or(otherwise)
        };
        Ok(self.units.iter().map(|unit| snapshot.lexical.hit(*unit).as_ref().map_or(0, &mut of_unit)).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<u32>> {
        corpus.scatter_units(&self.units, |units| LinesRequest { units, line: self.line.clone() })
    }

    fn is_valid(&self, answer: &Vec<u32>, extent: &ShardExtent) -> bool {
        answer.len() == self.units.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl LineOf {
    /// The line in a unit that spans `first` to `last` of a text in `language`, if there is one.
    fn find(&self, text: &str, language: &str, first: u32, last: u32) -> Option<u32> {
        let count = 1 + last.saturating_sub(first);
        let lines = text.lines().skip(first.saturating_sub(1) as usize).take(count as usize);
        let at = match self {
            LineOf::Name(name) => naming_line(lines, name),
            LineOf::Call(name) => {
                calling_line(lines, &[name.as_str()], language::comment_marks(language), language::facts())
            }
            LineOf::Member(name) => return member_line(text, first, last, name),
        };
        at.map(|at| first + at as u32)
    }
}
