//! A pack: an answer that spends a budget where the chance is. The first file with its unit in full, the next with signature
//! and first sentence, the rest a line each.

use colgrep_core::Unit;

use crate::answer::{FileAnswer, UnitAnswer};

/// Files that a pack names, at most.
pub const FILES_MAX: usize = 10;
/// Units of each file that are looked at.
pub const UNITS_PER_FILE: usize = 3;
/// Share of what is left that the first unit may take where the first file is sure.
const SURE_SHARE: f64 = 0.8;
/// The same where others are nearly as good.
const UNSURE_SHARE: f64 = 0.5;
/// The first file is sure if the second has at most this share of its score.
const RIVAL_SHARE: f32 = 0.85;
/// A file behind the fourth with less than this share of the first one's score stands behind more of the first file.
const WEAK_SHARE: f32 = 0.5;
/// Files that are named before more units of the first one.
const STRONG_FILES: usize = 4;
/// Room that a body must have to be cut into it.
const CUT_BYTES_MIN: usize = 200;
/// Longest line that is given, in characters.
const LINE_CHARS_MAX: usize = 160;
/// Lines kept around the one that answers, on either side, where a body is cut.
const AROUND_LINES: usize = 3;

/// How much of a unit is given, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Where it is, and the line that answers.
    Line,
    /// The same with signature and first sentence.
    Brief,
    /// Documentation, signature and body, lines left out where they are too many.
    Cut,
    /// All of its lines.
    Full,
}

impl Grade {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Line => "line",
            Grade::Brief => "brief",
            Grade::Cut => "cut",
            Grade::Full => "full",
        }
    }
}

/// One unit of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Position of its file in the answer.
    pub file: usize,
    /// Position of the unit in its file.
    pub unit: usize,
    /// How much of it is given.
    pub grade: Grade,
    /// What is given: lines, each with its end.
    pub text: String,
}

/// Pieces behind the first that get signature and first sentence before any gets all of its lines.
const BRIEF_FIRST: usize = 3;

/// The pieces of an answer that fit into so many bytes, the best file first. `name` is how a file is named.
pub fn pack(files: &[FileAnswer], bytes: usize, name: impl Fn(&FileAnswer) -> String) -> Vec<Piece> {
    let names: Vec<String> = files.iter().map(name).collect();
    let mut packer = Packer { files, names, left: bytes, pieces: Vec::new() };
    in_order(files).into_iter().for_each(|(file, unit)| packer.add(file, unit));
    if packer.pieces.is_empty() {
        return packer.pieces;
    }
    let is_sure = files.get(1).is_none_or(|second| second.score <= RIVAL_SHARE * files[0].score);
    let share = if is_sure { SURE_SHARE } else { UNSURE_SHARE };
    let allowed = (packer.left as f64 * share) as usize;
    let is_whole = packer.raise(0, Grade::Full, allowed);
    if !is_whole && allowed >= CUT_BYTES_MIN {
        packer.raise(0, Grade::Cut, allowed);
    }
    let count = packer.pieces.len();
    (1..count.min(1 + BRIEF_FIRST)).for_each(|at| _ = packer.raise(at, Grade::Brief, usize::MAX));
    (0..count).for_each(|at| _ = packer.raise(at, Grade::Full, usize::MAX));
    (1..count).for_each(|at| _ = packer.raise(at, Grade::Brief, usize::MAX));
    packer.pieces
}

/// (file, unit) of the pieces in the order in which they get room: strong files, then more of the first, then weak ones.
fn in_order(files: &[FileAnswer]) -> Vec<(usize, usize)> {
    let best = files.first().map_or(0.0, |file| file.score);
    let is_strong = |at: &usize| *at < STRONG_FILES || files[*at].score >= WEAK_SHARE * best;
    let with_units = (0..files.len()).filter(|at| !files[*at].units.is_empty());
    let (strong, weak): (Vec<usize>, Vec<usize>) = with_units.partition(|at| is_strong(at));
    let more = (1..files.first().map_or(0, |file| file.units.len())).map(|unit| (0, unit));
    let of = |files: Vec<usize>| files.into_iter().map(|file| (file, 0));
    of(strong).chain(more).chain(of(weak)).collect()
}

struct Packer<'a> {
    files: &'a [FileAnswer],
    names: Vec<String>,
    left: usize,
    pieces: Vec<Piece>,
}

impl Packer<'_> {
    fn write(&self, file: usize, unit: usize, grade: Grade, room: usize) -> String {
        let answer = &self.files[file];
        written(&self.names[file], answer, &answer.units[unit], grade, room)
    }

    /// Names a unit, if there is room.
    fn add(&mut self, file: usize, unit: usize) {
        let text = self.write(file, unit, Grade::Line, usize::MAX);
        if text.len() <= self.left {
            self.left -= text.len();
            self.pieces.push(Piece { file, unit, grade: Grade::Line, text });
        }
    }

    /// Gives more of a piece, if there is room and it takes at most so many bytes more; whether it was done.
    fn raise(&mut self, at: usize, grade: Grade, more_max: usize) -> bool {
        let Piece { file, unit, grade: known, .. } = self.pieces[at];
        let old = self.pieces[at].text.len();
        let room = old + more_max.min(self.left);
        if known >= grade {
            return false;
        }
        let text = self.write(file, unit, grade, room);
        let fits = text.len() <= room;
        if fits {
            self.left = self.left + old - text.len();
            self.pieces[at] = Piece { file, unit, grade, text };
        }
        fits
    }
}

/// A unit's head, and as much of it as its grade says; `room` is for what is cut.
fn written(name: &str, file: &FileAnswer, answered: &UnitAnswer, grade: Grade, room: usize) -> String {
    let unit = &answered.unit;
    let (line, end) = (unit.span.line as usize, answered.last_line.max(unit.span.line as usize));
    let mut text = format!("{name}:{line}-{end} {} {}", unit.kind.name(), unit.qualified_name()).trim_end().to_string();
    if grade == Grade::Line {
        text.push_str(&format!(": {}\n", short(answered.line.text.trim())));
        return text;
    }
    text.push('\n');
    if grade == Grade::Brief {
        text.push_str(&brief(unit, answered));
        return text;
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let first = unit.span.first.min(unit.span.line).max(1) as usize;
    let numbers: Vec<usize> = (first..=end.min(lines.len())).collect();
    let row = |number: usize| format!("{number}: {}\n", short(lines[number - 1]));
    if grade == Grade::Full {
        numbers.iter().for_each(|number| text.push_str(&row(*number)));
        return text;
    }
    let kept =
        kept_lines(&numbers, answered.line.number, line, |number| row(number).len(), room.saturating_sub(text.len()));
    let mut last = first.saturating_sub(1);
    for number in kept {
        if number > last + 1 {
            text.push_str(&gap(number - last - 1));
        }
        text.push_str(&row(number));
        last = number;
    }
    if last < end {
        text.push_str(&gap(end - last));
    }
    text
}

fn gap(lines: usize) -> String {
    format!("… {lines} lines\n")
}

/// The lines of a unit that are kept in so many bytes: its first, those around the one that answers, its last, then on
/// from the first.
fn kept_lines(numbers: &[usize], best: usize, line: usize, bytes: impl Fn(usize) -> usize, room: usize) -> Vec<usize> {
    let around = best.saturating_sub(AROUND_LINES)..=best + AROUND_LINES;
    let wanted = std::iter::once(line)
        .chain(std::iter::once(best))
        .chain(around)
        .chain(numbers.last().copied())
        .chain(numbers.iter().copied());
    // Room for the marks of what is left out.
    let mut left = room.saturating_sub(3 * gap(9_999).len());
    let mut kept = Vec::new();
    for number in wanted {
        if !numbers.contains(&number) || kept.contains(&number) {
            continue;
        }
        if bytes(number) > left {
            break;
        }
        left -= bytes(number);
        kept.push(number);
    }
    kept.sort_unstable();
    kept
}

/// Signature, first sentence of the documentation, and the line that answers where it is another.
fn brief(unit: &Unit, answered: &UnitAnswer) -> String {
    let mut text = String::new();
    if !unit.signature.is_empty() {
        text.push_str(&format!("    {}\n", short(&unit.signature)));
    }
    let sentence = unit.docstring.split(". ").next().unwrap_or_default().lines().next().unwrap_or_default().trim();
    if !sentence.is_empty() {
        text.push_str(&format!("    {}\n", short(sentence)));
    }
    if unit.signature.is_empty() || answered.line.number != answered.name_line {
        text.push_str(&format!("    {}: {}\n", answered.line.number, short(answered.line.text.trim())));
    }
    text
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use colgrep_core::UnitKind;
    use colgrep_core::unit::Span;

    use super::*;
    use crate::answer::BestLine;

    fn file(path: &str, score: f32, lines: usize) -> FileAnswer {
        let body: Vec<String> = (2..lines).map(|n| format!("    step_{n}();")).collect();
        let text = format!("fn {path}() {{\n{}\n}}\n", body.join("\n"));
        let unit = Unit {
            kind: UnitKind::Function,
            name: path.to_string(),
            signature: format!("fn {path}()"),
            docstring: "Does it. And more.".to_string(),
            span: Span { first: 1, line: 1, end: lines as u32 },
            ..Unit::default()
        };
        let line = BestLine { number: lines / 2, text: format!("    step_{}();", lines / 2), ..BestLine::default() };
        let unit = UnitAnswer { unit, score, line, name_line: 1, last_line: lines, ..UnitAnswer::default() };
        FileAnswer { path: path.to_string(), score, text, units: vec![unit], ..FileAnswer::default() }
    }

    fn grades(files: &[FileAnswer], bytes: usize) -> String {
        let pieces = pack(files, bytes, |file| file.path.clone());
        let size: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        assert!(size <= bytes, "{size} of {bytes}");
        pieces.iter().map(|piece| piece.grade.name()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_budget_is_spent_where_the_chance_is() {
        let files = [file("a", 1.0, 10), file("b", 0.5, 40), file("c", 0.4, 40), file("d", 0.3, 8)];
        for (bytes, expected) in [(20, ""), (40, "line"), (9_000, "full full full full")] {
            assert_eq!(grades(&files, bytes), expected, "{bytes}");
        }
        for bytes in [600, 800, 1_200] {
            let grades = grades(&files, bytes);
            assert!(grades.starts_with("full ") && grades.split(' ').count() == 4, "{bytes}: {grades}");
        }
    }

    #[test]
    fn a_long_body_keeps_its_ends_and_what_answers() {
        let pieces = pack(&[file("a", 1.0, 200)], 700, |file| file.path.clone());
        let text = &pieces[0].text;
        assert_eq!(pieces[0].grade, Grade::Cut);
        for kept in ["1: fn a() {\n", "97: ", "100:     step_100();\n", "103: ", "200: }\n", "… "] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.contains("150: "));
    }

    #[test]
    fn weak_files_stand_behind_more_of_the_first() {
        let mut files: Vec<FileAnswer> = (0..6).map(|n| file(&format!("f{n}"), 1.0 - 0.18 * n as f32, 6)).collect();
        let second = files[0].units[0].clone();
        files[0].units.push(second);
        assert_eq!(in_order(&files), [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (4, 0), (5, 0)]);
    }
}
