//! Showing files that were ranked elsewhere: what a process without the sources asks the one that has them.

use colgrep_core::UnitId;
use colgrep_core::collapse::FileHit;
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::query::{Query, QueryParts};
use colgrep_core::rank::{FileFacts, RankedUnit};
use colgrep_core::statistics::Statistics;
use serde::{Deserialize, Serialize};

use crate::answer::FileAnswer;
use crate::error::Result;
use crate::request::Detail;
use crate::session::project_searcher::{ProjectRanking, ProjectSearcher};

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
    pub files: Vec<FileAsked>,
    /// How much of each.
    pub detail: Detail,
    /// Whether each result is a unit of its own.
    pub single_units: bool,
    /// The lines that come with a file's units.
    pub lines: ContextLines,
}

/// Which lines of a file come with its units, in addition to those of the units themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLines {
    /// Number of lines before and after each unit.
    pub around: u32,
    /// Of long units too, all lines.
    pub are_whole: bool,
}

impl ContextLines {
    /// Number of lines around units that a printer may show: the number requested, or the default.
    pub fn around(asked: Option<usize>) -> u32 {
        u32::try_from(asked.unwrap_or_default().max(LINES_AROUND)).unwrap_or(u32::MAX)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileAsked {
    /// Prefix of its path: its repository.
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

/// Maximum size, in bytes, of the lines that come with a file's units in addition to those that answer, unless whole
/// units are requested. It has room for all lines of a unit that is searched for its best line.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Lines around units that come with a file.
const LINES_AROUND: usize = 8;

impl ProjectRanking {
    /// What to ask for some of its results.
    pub fn shown(&self, hits: &[usize], detail: Detail, lines: ContextLines) -> ShowAsked {
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

    /// Writes the steps of each unit's score into a result that was built elsewhere.
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

impl ProjectSearcher {
    /// What is shown of files of this place; `unit` gives the address of a unit here.
    pub fn show(
        &self,
        asked: &ShowAsked,
        files: &[&FileAsked],
        unit: impl Fn(UnitId) -> UnitId,
    ) -> Result<Vec<FileAnswer>> {
        let query = Query { asks_for: asked.asks_for.clone(), ..Query::from(asked.query.clone()) };
        let mut answer = colgrep_search::CorpusAnswer {
            query,
            statistics: asked.statistics.clone(),
            ..colgrep_search::CorpusAnswer::default()
        };
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
        let ranked = ProjectRanking::new(answer, None, Vec::new(), asked.single_units, 0).measured_by(asked.best);
        let hits: Vec<usize> = (0..files.len()).collect();
        let mut shown = self.files(&ranked, &hits, asked.detail)?;
        shown.iter_mut().for_each(|file| cut(file, asked.lines));
        Ok(shown)
    }
}

/// Cuts a file's text to the lines that are shown of it; the others become empty, so that each keeps its number. Lines
/// around those that answer stay, lines that name units, and the first one, which may identify the language; then, as
/// long as there is room, those of the units and around them, starting with the best unit and its answering line.
fn cut(file: &mut FileAnswer, lines: ContextLines) {
    let around = lines.around as usize;
    let all: Vec<&str> = file.text.split_inclusive('\n').collect();
    let (mut is_kept, mut last) = (vec![false; all.len()], 0);
    let mut left = if lines.are_whole { usize::MAX } else { TEXT_BYTES_MAX };
    // Keeps a line of at most `room` bytes, and returns the bytes that it takes.
    let mut keep = |number: usize, room: usize| match number.checked_sub(1).and_then(|at| all.get(at)) {
        Some(line) if line.len() <= room && !std::mem::replace(&mut is_kept[number - 1], true) => line.len(),
        _ => 0,
    };
    let near = |number: usize| number.saturating_sub(around)..=number.saturating_add(around).min(all.len());
    for unit in &file.units {
        let best = unit.line.number;
        near(best).chain([1, unit.name_line]).for_each(|number| _ = keep(number, usize::MAX));
    }
    for unit in &file.units {
        let (span, best) = (unit.unit.span, unit.line.number);
        let first = (span.first.min(span.line) as usize).min(best).saturating_sub(around);
        let end = (span.end as usize).max(best).saturating_add(around).min(all.len());
        (first..best).rev().chain(best..=end).for_each(|number| left -= keep(number, left));
        last = last.max(end);
    }
    let line = |(line, is_kept): (&&str, &bool)| if *is_kept { line.to_string() } else { "\n".to_string() };
    file.text = all.iter().zip(&is_kept).take(last).map(line).collect();
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
            cut(&mut file, ContextLines { around, are_whole: false });
            assert_eq!(file.text, expected, "{around}");
        }
    }

    #[test]
    fn lines_that_answer_stay_and_the_best_unit_comes_first() {
        let row = |n: usize| format!("{n:>4}{}\n", " word".repeat(20));
        let text: String = (1..=3_000).map(row).collect();
        let unit = |line: u32, end: u32, best: usize| UnitAnswer {
            unit: Unit { span: Span { first: line, line, end }, ..Unit::default() },
            line: BestLine { number: best, ..BestLine::default() },
            name_line: line as usize,
            ..UnitAnswer::default()
        };
        let units = vec![unit(2_000, 2_900, 2_600), unit(10, 900, 20)];
        let kept = |are_whole: bool| {
            let mut file = FileAnswer { text: text.clone(), units: units.clone(), ..FileAnswer::default() };
            cut(&mut file, ContextLines { around: 2, are_whole });
            let lines: Vec<String> = file.text.split_inclusive('\n').map(String::from).collect();
            assert!(lines.iter().enumerate().all(|(at, line)| line == "\n" || *line == row(at + 1)));
            move |number: usize| lines.get(number - 1).is_some_and(|line| line != "\n")
        };
        let in_part = kept(false);
        for (number, expected) in [
            (1, true),
            (10, true),
            (11, false),
            (18, true),
            (22, true),
            (23, false),
            (1_500, false),
            (2_000, true),
            (2_100, true),
            (2_602, true),
            (2_900, false),
        ] {
            assert_eq!(in_part(number), expected, "{number}");
        }
        let whole = kept(true);
        assert!((10..=900).chain(2_000..=2_902).all(&whole) && !whole(1_500) && !whole(2_903));
    }
}
