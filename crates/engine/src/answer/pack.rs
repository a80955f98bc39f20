//! A pack: an answer that spends a budget where the chance is. The first file with its unit in full, the next with signature
//! and first sentence, the rest a line each; how deep and how flat goes by strength.

mod around;
mod form;

use std::cell::OnceCell;

use colgrep_core::strength::FLOOR;
use form::{BRIEF, COMMENTED, CUT, FULL, Form, LINE, lines_of, written};

use crate::answer::FileAnswer;

/// Bytes that count as one token: about the average of English text and code in the tokenizers of large models.
pub const BYTES_A_TOKEN: usize = 4;
/// Files that a pack names, at most.
pub const FILES_MAX: usize = 10;
/// Units examined in each file.
pub const UNITS_PER_FILE: usize = 8;
/// Share of the whole budget that the first unit may take in full with its comments, and without, and what its strength adds
/// to that. Other values here and below change how many packs contain the right unit by less than .005.
const COMMENTED_SHARE: f32 = 0.5;
const FULL_SHARE: f32 = 0.8;
const FULL_SHARE_SURE: f32 = 0.2;
/// The same where it has to be cut.
const CUT_SHARE: f32 = 0.2;
const CUT_SHARE_SURE: f32 = 0.1;
/// Exponent of a unit's score beside its file's best in the chance that it is the right one of a right file.
const CHANCE_EXPONENT: i32 = 4;
/// Least strength that a file counts with: the last of ten may still be right.
const STRENGTH_MIN: f32 = 0.01;
/// Share of the budget that names of files may take, apart from the first file's.
const NAMES_SHARE: f32 = 0.2;
/// Share that the line of calls and the line of other definitions may take of what is left.
const AROUND_SHARE: f32 = 0.15;
/// Room that a body must have to be cut into it.
const CUT_BYTES_MIN: usize = 200;

/// How much of a unit is shown, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Where it is, and the line that answers.
    Line,
    /// The same with signature and first sentence.
    Brief,
    /// Documentation, signature and body, lines left out where they are too many.
    Cut,
    /// Signature and body, every line of code; of its comments at least the first line.
    Full,
}

impl Grade {
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Line => "line",
            Grade::Brief => "brief",
            Grade::Cut => "cut",
            Grade::Full => "full",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackPiece {
    /// Position of its file in the answer.
    pub file: usize,
    /// Position of the unit in its file.
    pub unit: usize,
    /// How much of it is shown.
    pub grade: Grade,
    /// The text shown: lines, each with its end.
    pub text: String,
}

/// Pieces after the first that get a signature and first sentence before more of the rest.
const BRIEF_FIRST: usize = 3;

/// The pieces of an answer that fit into `bytes`, the best file first. `name` is how a file is named. With `ids`, each
/// piece also has its unit's id.
pub fn pack(files: &[FileAnswer], bytes: usize, ids: bool, name: impl Fn(&FileAnswer) -> String) -> Vec<PackPiece> {
    let names: Vec<String> = files.iter().map(name).collect();
    let lines = vec![OnceCell::new(); files.len()];
    let mut packer = Packer { files, lines, names, ids, bytes, left: bytes, pieces: Vec::new() };
    packer.name(bytes);
    if packer.pieces.is_empty() {
        return packer.pieces;
    }
    let strength = files[packer.pieces[0].file].strength.clamp(0.0, 1.0);
    let share = |least: f32, sure: f32| ((bytes as f32 * (least + sure * strength)) as usize).max(CUT_BYTES_MIN);
    let is_whole = packer.raise(0, COMMENTED, share(COMMENTED_SHARE, 0.0))
        || packer.raise(0, FULL, share(FULL_SHARE, FULL_SHARE_SURE));
    if !is_whole && packer.left >= CUT_BYTES_MIN {
        packer.raise(0, CUT, share(CUT_SHARE, CUT_SHARE_SURE));
    }
    for piece in packer.by_worth() {
        packer.give(piece);
    }
    let count = packer.pieces.len();
    (0..count.min(1 + BRIEF_FIRST)).for_each(|at| _ = packer.raise(at, BRIEF, usize::MAX));
    if packer.pieces[0].grade == Grade::Cut {
        packer.raise_cut();
    }
    let around = packer.surroundings();
    (0..count).for_each(|at| packer.comment(at));
    (1..count).for_each(|at| _ = packer.raise(at, BRIEF, usize::MAX));
    packer.pieces[0].text.push_str(&around);
    packer.pieces.sort_by_key(|piece| (piece.file, piece.unit));
    packer.pieces
}

/// The chance of each unit of a right file to be the right one.
fn unit_chances(file: &FileAnswer) -> Vec<f32> {
    let best = file.units.iter().map(|unit| unit.score).fold(f32::MIN_POSITIVE, f32::max);
    let beside = file.units.iter().map(|unit| (unit.score.max(0.0) / best).powi(CHANCE_EXPONENT));
    let beside: Vec<f32> = beside.collect();
    let sum = beside.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    beside.into_iter().map(|chance| chance / sum).collect()
}

struct Packer<'a> {
    files: &'a [FileAnswer],
    /// The lines of each file, once a unit of it is written.
    lines: Vec<OnceCell<Vec<&'a str>>>,
    names: Vec<String>,
    ids: bool,
    /// Of the whole pack.
    bytes: usize,
    left: usize,
    pieces: Vec<PackPiece>,
}

impl Packer<'_> {
    fn write(&self, file: usize, unit: usize, form: Form, room: usize) -> String {
        let answer = &self.files[file];
        let answered = &answer.units[unit];
        let lines = self.lines[file].get_or_init(|| lines_of(answer));
        let id = if self.ids { format!(" #{}", answered.id) } else { String::new() };
        written(&self.names[file], &id, lines, answered, form, room)
    }

    /// Names the best unit of each file that is stronger than the floor until the names have used their share of `bytes`.
    fn name(&mut self, bytes: usize) {
        let mut left = (bytes as f32 * NAMES_SHARE) as usize;
        for file in (0..self.files.len()).filter(|at| !self.files[*at].units.is_empty()).take(FILES_MAX) {
            if !self.pieces.is_empty() && self.files[file].strength <= FLOOR {
                continue;
            }
            let text = self.write(file, 0, LINE, usize::MAX);
            let room = if self.pieces.is_empty() { bytes } else { left };
            if text.len() > room.min(self.left) {
                break;
            }
            left = left.saturating_sub(text.len());
            self.left -= text.len();
            self.pieces.push(PackPiece { file, unit: 0, grade: Grade::Line, text });
        }
    }

    /// Units in full, those first that bring most for their bytes. Each brings the chance that it is the right one; the root
    /// of its bytes counts, since what does not fit at the end is left to smaller ones.
    fn by_worth(&self) -> Vec<PackPiece> {
        let chances: Vec<Vec<f32>> = self.files.iter().map(unit_chances).collect();
        let of = |file: usize, unit: usize| {
            let text = self.write(file, unit, FULL, self.bytes);
            let known = self.pieces.iter().find(|piece| (piece.file, piece.unit) == (file, unit));
            let bytes = text.len().saturating_sub(known.map_or(0, |piece| piece.text.len())).max(1);
            let worth = self.files[file].strength.max(STRENGTH_MIN) * chances[file][unit] / (bytes as f32).sqrt();
            (worth, PackPiece { file, unit, grade: Grade::Full, text })
        };
        let units = |file: usize| (0..self.files[file].units.len().min(UNITS_PER_FILE)).map(move |unit| (file, unit));
        let first = (self.pieces[0].file, self.pieces[0].unit);
        let all = (0..self.files.len().min(FILES_MAX)).flat_map(units).filter(|at| *at != first);
        // A unit longer than the pack is never shown in full.
        let all = all.map(|(file, unit)| of(file, unit)).filter(|(_, piece)| piece.text.len() <= self.bytes);
        let mut order: Vec<(f32, PackPiece)> = all.collect();
        order.sort_by(|(a, one), (b, other)| b.total_cmp(a).then((one.file, one.unit).cmp(&(other.file, other.unit))));
        order.into_iter().map(|(_, piece)| piece).collect()
    }

    /// Gives a piece, in the place of the same unit's smaller one, if there is room.
    fn give(&mut self, piece: PackPiece) {
        let known = self.pieces.iter().position(|known| (known.file, known.unit) == (piece.file, piece.unit));
        match known {
            Some(at) => _ = self.put(at, piece.grade, piece.text),
            None if piece.text.len() <= self.left => {
                self.left -= piece.text.len();
                self.pieces.push(piece);
            }
            None => {}
        }
    }

    /// Cuts less of the first piece, which takes the remaining room.
    fn raise_cut(&mut self) {
        let PackPiece { file, unit, .. } = self.pieces[0];
        let old = self.pieces[0].text.len();
        let text = self.write(file, unit, CUT, old + self.left);
        if text.len() > old {
            self.put(0, Grade::Cut, text);
        }
    }

    /// Extends a piece if there is room and it grows by at most `more_max` bytes. Returns whether it did.
    fn raise(&mut self, at: usize, form: Form, more_max: usize) -> bool {
        let PackPiece { file, unit, grade: known, .. } = self.pieces[at];
        let old = self.pieces[at].text.len();
        let room = old + more_max.min(self.left);
        if known >= form.grade {
            return false;
        }
        let text = self.write(file, unit, form, room);
        text.len() <= room && self.put(at, form.grade, text)
    }

    /// Gives another text of a piece, if there is room; whether it was done.
    fn put(&mut self, at: usize, grade: Grade, text: String) -> bool {
        let piece = &mut self.pieces[at];
        let room = self.left + piece.text.len();
        let fits = text.len() <= room;
        if fits {
            self.left = room - text.len();
            (piece.grade, piece.text) = (grade, text);
        }
        fits
    }

    /// What lies around the first unit, in a share of the pack and in the room that is left, which it takes.
    fn surroundings(&mut self) -> String {
        let first = self.pieces[0].file;
        let path = |piece: &PackPiece| self.files[piece.file].path.as_str();
        let line = |piece: &PackPiece| self.files[piece.file].units[piece.unit].unit.span.line;
        let shown = self.pieces.iter().map(|piece| (path(piece), line(piece))).collect();
        let room = self.left.min((self.bytes as f32 * AROUND_SHARE) as usize);
        let text = around::lines(&self.files[first], &self.names[first], &shown, room);
        self.left -= text.len();
        text
    }

    /// Gives the comments of a piece in full, if there is room.
    fn comment(&mut self, at: usize) {
        let PackPiece { file, unit, grade, .. } = self.pieces[at];
        if grade == Grade::Full {
            let room = self.left + self.pieces[at].text.len();
            self.put(at, grade, self.write(file, unit, COMMENTED, room));
        }
    }
}

#[cfg(test)]
mod tests {
    use colgrep_core::unit::Span;
    use colgrep_core::{Unit, UnitKind};

    use super::*;
    use crate::answer::{BestLine, UnitAnswer};

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
        FileAnswer { path: path.to_string(), score, strength: score, text, units: vec![unit], ..FileAnswer::default() }
    }

    fn grades(files: &[FileAnswer], bytes: usize) -> String {
        let pieces = pack(files, bytes, false, |file| file.path.clone());
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
        let pieces = pack(&[file("a", 1.0, 200)], 700, false, |file| file.path.clone());
        let text = &pieces[0].text;
        assert_eq!(pieces[0].grade, Grade::Cut);
        for kept in ["1: fn a() {\n", "97: ", "100:     step_100();\n    step_101();\n", "200: }\n", "…\n"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.contains("step_150"));
    }

    #[test]
    fn a_class_in_full_names_its_members_by_their_first_lines() {
        let mut class = file("a", 1.0, 30);
        class.units[0].unit.kind = UnitKind::Class;
        class.units[0].parts = vec![(1, 3), (20, 20), (30, 30)];
        let pieces = pack(&[class], 4_000, true, |file| file.path.clone());
        assert_eq!(pieces[0].grade, Grade::Full);
        let expected = "a:1-30 class a #0000000000000000\n1: fn a() {\n    step_2();\n    step_3();\n\
                        20:     step_20();\n30: }\n";
        assert_eq!(pieces[0].text, expected);
    }

    #[test]
    fn a_class_whose_file_lost_its_lines_is_named() {
        let mut class = file("a", 1.0, 30);
        class.units[0].unit.kind = UnitKind::Class;
        class.units[0].unit.span = Span { first: 3, line: 7, end: 30 };
        class.units[0].parts = vec![(7, 8), (30, 30)];
        for left in [0, 2, 5] {
            let mut cut = class.clone();
            cut.text = class.text.lines().take(left).map(|line| line.to_string() + "\n").collect();
            cut.units[0].last_line = left;
            let pieces = pack(&[cut], 4_000, false, |file| file.path.clone());
            assert!(pieces[0].text.starts_with("a:7-7 class a"), "{left}: {}", pieces[0].text);
        }
    }

    #[test]
    fn the_surer_the_first_is_the_deeper_it_goes() {
        let rows = |strength: f32| {
            let others = ["b", "c", "d", "e", "f"].map(|name| file(name, 0.3, 12));
            let mut files = vec![file("a", 1.0, 200)];
            files[0].strength = strength;
            files.extend(others);
            let pieces = pack(&files, 1_200, false, |file| file.path.clone());
            let full = pieces.iter().filter(|piece| piece.grade == Grade::Full).count();
            (pieces[0].text.lines().count(), full)
        };
        let (sure, unsure) = (rows(1.0), rows(0.4));
        assert!(sure.0 > unsure.0 && sure.1 < unsure.1, "{sure:?} {unsure:?}");
    }

    #[test]
    fn what_is_worth_most_for_its_bytes_comes_next() {
        let mut files = vec![file("a", 0.9, 8), file("b", 0.8, 8), file("c", 0.05, 8)];
        let second = files[0].units[0].clone();
        files[0].units.push(second);
        for (bytes, expected) in [(150, "0.0 full"), (300, "0.0 full 1.0 full"), (480, "0.0 full 0.1 full 1.0 full")] {
            let pieces = pack(&files, bytes, false, |file| file.path.clone());
            let told: Vec<String> =
                pieces.iter().map(|p| format!("{}.{} {}", p.file, p.unit, p.grade.name())).take(3).collect();
            assert!(told.join(" ").starts_with(expected), "{bytes}: {told:?}");
        }
    }
}
