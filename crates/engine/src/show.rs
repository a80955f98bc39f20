//! Showing files that were ranked elsewhere: what a process without the sources asks the one that has them.

use std::ops::Range;

use colgrep_core::UnitId;
use colgrep_core::collapse::FileHit;
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::query::{Query, QueryParts};
use colgrep_core::rank::{FileFacts, RankedUnit};
use colgrep_core::statistics::Statistics;
use colgrep_index::search;
use serde::{Deserialize, Serialize};

use crate::answer::FileAnswer;
use crate::error::Result;
use crate::place::{Place, Ranked};
use crate::request::Detail;

/// What is to be shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShowAsked {
    /// What lines are chosen by.
    pub query: QueryParts,
    /// Classes of files that the query asks for.
    pub asks_for: Vec<PathClass>,
    /// The counts of the corpus.
    pub statistics: Statistics,
    /// The best score of a unit of the whole corpus that the query does not point at.
    pub best: Option<f32>,
    /// The files.
    pub files: Vec<FileAsked>,
    /// How much of each.
    pub detail: Detail,
    /// Whether each result is a unit of its own.
    pub single_units: bool,
    /// The lines that come with a file's units.
    pub lines: Lines,
}

/// Which lines of a file come with its units, beside those of the units themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// So many before and behind each unit.
    pub around: u32,
    /// Of long units too, all lines.
    pub are_whole: bool,
}

/// A file that was ranked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileAsked {
    /// What stands in front of its path: its repository.
    pub front: String,
    /// Its path from there.
    pub path: String,
    /// Whether it is prose, configuration or data.
    pub is_text: bool,
    /// What its path says.
    pub class: PathClass,
    /// Its score, its strength, and its units that are shown.
    pub hit: FileHit,
    /// All its units that were ranked, best first.
    pub units: Vec<RankedUnit>,
}

/// Longest part of a file that comes with its units, in bytes, where whole units are not asked for.
const TEXT_BYTES_MAX: usize = 16 << 10;

impl Ranked {
    /// What to ask for some of its results.
    pub fn shown(&self, hits: &[usize], detail: Detail, lines: Lines) -> ShowAsked {
        let answer = &self.answer;
        let of_hit = |hit: &usize| {
            let hit = &answer.hits[*hit];
            let facts = &answer.files[hit.file];
            let own = |unit: &RankedUnit| RankedUnit { file: 0, ..*unit };
            FileAsked {
                front: facts.repository.clone(),
                path: facts.path.clone(),
                is_text: facts.is_text,
                class: facts.path_facts.class,
                hit: FileHit { file: 0, units: hit.units.iter().map(own).collect(), ..hit.clone() },
                units: answer.units.iter().filter(|unit| unit.file == hit.file).map(own).collect(),
            }
        };
        ShowAsked {
            query: QueryParts::from(&answer.query),
            asks_for: answer.query.asks_for.clone(),
            statistics: answer.statistics.clone(),
            best: self.best(),
            files: hits.iter().map(of_hit).collect(),
            detail,
            single_units: self.is_of_units(),
            lines,
        }
    }

    /// Writes the steps of each unit's score into what was shown elsewhere of a result.
    pub fn explain(&self, hit: usize, file: &mut FileAnswer) {
        let hit = &self.answer.hits[hit];
        for shown in &mut file.units {
            let is_it = |unit: &&RankedUnit| {
                unit.file == hit.file && unit.line == shown.unit.span.line && unit.kind == shown.unit.kind
            };
            let unit = self.answer.units.iter().chain(&hit.units).find(is_it);
            shown.steps = unit.and_then(|unit| self.steps(unit));
        }
    }
}

impl Place {
    /// What is shown of files of this place; `unit` gives the address of a unit here.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn show(
        &self,
        asked: &ShowAsked,
        files: &[&FileAsked],
        unit: impl Fn(UnitId) -> UnitId,
    ) -> Result<Vec<FileAnswer>> {
        let query = Query { asks_for: asked.asks_for.clone(), ..Query::from(asked.query.clone()) };
        let mut answer = search::Answer { query, statistics: asked.statistics.clone(), ..search::Answer::default() };
        for file in files {
            let at = answer.files.len();
            let own = |ranked: &RankedUnit| RankedUnit { file: at, unit: unit(ranked.unit), ..*ranked };
            let path_facts = PathFacts { class: file.class, ..PathFacts::default() }.into();
            answer.files.push(FileFacts {
                path: file.path.clone(),
                is_text: file.is_text,
                path_facts,
                ..FileFacts::default()
            });
            answer.units.extend(file.units.iter().map(own));
            let units = file.hit.units.iter().map(own).collect();
            answer.hits.push(FileHit { file: at, units, ..file.hit.clone() });
        }
        let ranked = Ranked::new(answer, None, Vec::new(), asked.single_units, 0).measured_by(asked.best);
        let hits: Vec<usize> = (0..files.len()).collect();
        let mut shown = self.files(&ranked, &hits, asked.detail)?;
        shown.iter_mut().for_each(|file| cut(file, asked.lines));
        Ok(shown)
    }
}

/// Cuts a file's text to the lines that are shown of it: those before them are empty, but for the first, by which a
/// language may be told.
fn cut(file: &mut FileAnswer, lines: Lines) {
    let Some(kept) = span(file, lines) else {
        file.text = String::new();
        return;
    };
    let mut text = String::new();
    let head = file.text.lines().next().unwrap_or_default();
    let mut bytes = 0;
    for (at, line) in file.text.split_inclusive('\n').enumerate().take(kept.end) {
        let is_kept = at >= kept.start && (lines.are_whole || bytes <= TEXT_BYTES_MAX);
        match is_kept {
            true => text.push_str(line),
            false if at == 0 => text.extend([head, "\n"]),
            false => text.push('\n'),
        }
        bytes += if is_kept { line.len() } else { 0 };
    }
    file.text = text;
}

/// The lines, from 0, around the shown units of a file.
fn span(file: &FileAnswer, lines: Lines) -> Option<Range<usize>> {
    let around = lines.around as usize;
    let starts =
        file.units.iter().map(|unit| (unit.unit.span.first.min(unit.unit.span.line) as usize).min(unit.line.number));
    let ends = file.units.iter().map(|unit| (unit.unit.span.end as usize).max(unit.line.number));
    Some(starts.min()?.saturating_sub(1 + around)..ends.max()?.saturating_add(around))
}

#[cfg(test)]
mod tests {
    use colgrep_core::Unit;
    use colgrep_core::unit::Span;

    use super::*;
    use crate::answer::{BestLine, UnitAnswer};

    #[test]
    fn lines_keep_their_numbers() {
        let unit = Unit { span: Span { first: 4, line: 4, end: 5 }, ..Unit::default() };
        let line = BestLine { number: 4, ..BestLine::default() };
        let units = vec![UnitAnswer { unit, line, ..UnitAnswer::default() }];
        let text = (1..=9).map(|n| format!("line {n}\n")).collect::<String>();
        for (around, expected) in
            [(0, "line 1\n\n\nline 4\nline 5\n"), (1, "line 1\n\nline 3\nline 4\nline 5\nline 6\n"), (9, text.as_str())]
        {
            let mut file = FileAnswer { text: text.clone(), units: units.clone(), ..FileAnswer::default() };
            cut(&mut file, Lines { around, are_whole: false });
            assert_eq!(file.text, expected, "{around}");
        }
    }
}
