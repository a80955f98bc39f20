//! A pack: an answer that spends a budget where the chance is. The first file with its unit in full, the next with signature
//! and first sentence, the rest a line each; how deep and how flat goes by strength.

mod around;
mod form;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use colgrep_core::UnitKind;
use colgrep_core::code_line::is_import;
use colgrep_core::strength::FLOOR;
use form::{BRIEF, COMMENTED, CUT, FULL, Form, LINE, PackedUnit, lines_of, written};

use crate::answer::{FileAnswer, UnitAnswer};

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
    let shown = BTreeMap::new();
    let mut packer = Packer { files, lines, names, ids, bytes, left: bytes, pieces: Vec::new(), shown };
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
    for (file, unit) in packer.by_worth() {
        packer.give(file, unit);
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
    /// How the unit of each piece is written, and the lines of its file that it shows. No line is shown twice.
    shown: BTreeMap<(usize, usize), (Form, Vec<usize>)>,
}

impl Packer<'_> {
    fn write(&self, file: usize, unit: usize, form: Form, room: usize) -> PackedUnit {
        let answer = &self.files[file];
        let answered = &answer.units[unit];
        let lines = self.lines[file].get_or_init(|| lines_of(answer));
        let id = if self.ids { format!(" #{}", answered.id) } else { String::new() };
        let hidden = self.shown_beside(file, unit, |other| !self.is_around(file, other, unit));
        written(&self.names[file], &id, lines, answered, form, room, &hidden)
    }

    /// The lines that other units of a file show, as far as these are meant.
    fn shown_beside(&self, file: usize, unit: usize, is_meant: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let others = self.shown.range((file, 0)..(file + 1, 0));
        let others = others.filter(|((_, other), _)| *other != unit && is_meant(*other));
        others.flat_map(|(_, (_, lines))| lines.iter().copied()).collect()
    }

    /// Whether `outer` contains `inner` and leaves its lines to it.
    fn is_around(&self, file: usize, outer: usize, inner: usize) -> bool {
        let span = |unit: usize| {
            let span = self.files[file].units[unit].unit.span;
            (span.first.min(span.line), span.end)
        };
        let (outer, inner) = (span(outer), span(inner));
        outer != inner && outer.0 <= inner.0 && inner.1 <= outer.1
    }

    /// Names the best unit of each file that is stronger than the floor until the names have used their share of `bytes`.
    fn name(&mut self, bytes: usize) {
        let mut left = (bytes as f32 * NAMES_SHARE) as usize;
        for file in (0..self.files.len()).filter(|at| !self.files[*at].units.is_empty()).take(FILES_MAX) {
            if !self.pieces.is_empty() && self.files[file].strength <= FLOOR {
                continue;
            }
            let written = self.write(file, 0, LINE, usize::MAX);
            let room = if self.pieces.is_empty() { bytes } else { left };
            if written.text.len() > room.min(self.left) {
                break;
            }
            left = left.saturating_sub(written.text.len());
            self.add(file, 0, LINE, written);
        }
    }

    /// Units to give in full, those first that bring most for their bytes. Each brings the chance that it is the right one;
    /// the root of its bytes counts, since what does not fit at the end is left to smaller ones.
    fn by_worth(&self) -> Vec<(usize, usize)> {
        let chances: Vec<Vec<f32>> = self.files.iter().map(unit_chances).collect();
        let of = |(file, unit): (usize, usize)| {
            let length = self.write(file, unit, FULL, self.bytes).text.len();
            let known = self.pieces.iter().find(|piece| (piece.file, piece.unit) == (file, unit));
            let bytes = length.saturating_sub(known.map_or(0, |piece| piece.text.len())).max(1);
            let worth = self.files[file].strength.max(STRENGTH_MIN) * chances[file][unit] / (bytes as f32).sqrt();
            // A unit longer than the pack is never shown in full.
            (length <= self.bytes).then_some((worth, (file, unit)))
        };
        let units = |file: usize| (0..self.files[file].units.len().min(UNITS_PER_FILE)).map(move |unit| (file, unit));
        let first = (self.pieces[0].file, self.pieces[0].unit);
        // Nothing but an import.
        let is_bare = |(file, unit): &(usize, usize)| {
            let UnitAnswer { unit, parts, line, .. } = &self.files[*file].units[*unit];
            let is_alone = *parts == [(line.number as u32, line.number as u32)];
            unit.kind == UnitKind::RawCode && is_alone && is_import(line.text.trim())
        };
        let all = (0..self.files.len().min(FILES_MAX)).flat_map(units).filter(|at| *at != first && !is_bare(at));
        let mut order: Vec<(f32, (usize, usize))> = all.filter_map(of).collect();
        order.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
        order.into_iter().map(|(_, at)| at).collect()
    }

    /// Gives a unit in full, in the place of its smaller piece, if there is room and it shows a line that no other does.
    fn give(&mut self, file: usize, unit: usize) {
        let written = self.write(file, unit, FULL, self.bytes);
        let others = self.shown_beside(file, unit, |_| true);
        if written.lines.iter().all(|line| others.contains(line)) {
            return;
        }
        match self.pieces.iter().position(|known| (known.file, known.unit) == (file, unit)) {
            Some(at) => _ = self.put(at, FULL, written),
            None if written.text.len() <= self.left => self.add(file, unit, FULL, written),
            None => {}
        }
    }

    fn add(&mut self, file: usize, unit: usize, form: Form, written: PackedUnit) {
        self.left -= written.text.len();
        self.pieces.push(PackPiece { file, unit, grade: form.grade, text: written.text });
        self.show(file, unit, form, written.lines);
    }

    /// Records the lines that a unit shows, and removes them from the units around it.
    fn show(&mut self, file: usize, unit: usize, form: Form, lines: Vec<usize>) {
        let both = |other: usize| self.shown[&(file, other)].1.iter().any(|line| lines.contains(line));
        let is_outer = |piece: &PackPiece| {
            piece.file == file && piece.unit != unit && self.is_around(file, piece.unit, unit) && both(piece.unit)
        };
        let outer: Vec<usize> = (0..self.pieces.len()).filter(|at| is_outer(&self.pieces[*at])).collect();
        self.shown.insert((file, unit), (form, lines));
        for at in outer {
            let key = (file, self.pieces[at].unit);
            let (form, length) = (self.shown[&key].0, self.pieces[at].text.len());
            let PackedUnit { text, lines } = self.write(file, key.1, form, length);
            // Without a line of one letter, the next one has a number, which is longer.
            if text.len() <= length + self.left {
                self.left = self.left + length - text.len();
                self.pieces[at].text = text;
                self.shown.insert(key, (form, lines));
            }
        }
    }

    /// Cuts less of the first piece, which takes the remaining room.
    fn raise_cut(&mut self) {
        let PackPiece { file, unit, .. } = self.pieces[0];
        let old = self.pieces[0].text.len();
        let written = self.write(file, unit, CUT, old + self.left);
        if written.text.len() > old {
            self.put(0, CUT, written);
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
        let written = self.write(file, unit, form, room);
        written.text.len() <= room && self.put(at, form, written)
    }

    /// Gives another text of a piece, if there is room; whether it was done.
    fn put(&mut self, at: usize, form: Form, written: PackedUnit) -> bool {
        let piece = &mut self.pieces[at];
        let room = self.left + piece.text.len();
        let fits = written.text.len() <= room;
        if fits {
            self.left = room - written.text.len();
            (piece.grade, piece.text) = (form.grade, written.text);
            let (file, unit) = (piece.file, piece.unit);
            self.show(file, unit, form, written.lines);
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
            self.put(at, COMMENTED, self.write(file, unit, COMMENTED, room));
        }
    }
}

#[cfg(test)]
mod tests {
    use colgrep_core::Unit;
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
    fn no_line_is_shown_twice() {
        let mut class = file("a", 1.0, 30);
        class.units[0].unit.kind = UnitKind::Class;
        class.units[0].parts = vec![(1, 3), (20, 20), (30, 30)];
        let inner = |line: u32, end: u32, score: f32| {
            let unit = Unit { name: format!("m{line}"), span: Span { first: line, line, end }, ..Unit::default() };
            let best = BestLine { number: line as usize, text: format!("    step_{line}();"), ..BestLine::default() };
            UnitAnswer {
                unit,
                score,
                line: best,
                name_line: line as usize,
                last_line: end as usize,
                ..UnitAnswer::default()
            }
        };
        // A method, a line inside of it, and a field, which the class shows.
        class.units.extend([inner(20, 22, 0.9), inner(21, 21, 0.8), inner(3, 3, 0.7)]);
        for first in 0..4 {
            let mut file = class.clone();
            file.units.swap(0, first);
            for bytes in [90, 150, 250, 400, 4_000] {
                let pieces = pack(&[file.clone()], bytes, false, |file| file.path.clone());
                let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
                for step in 2..30 {
                    let count = text.matches(&format!("step_{step}()")).count();
                    let is_there = bytes < 4_000 || (count == 1) == [2, 3, 20, 21, 22].contains(&step);
                    assert!(count <= 1 && is_there, "{first} {bytes} {step}: {text}");
                }
            }
        }
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
        let mut files = vec![file("a", 0.9, 16), file("b", 0.8, 8), file("c", 0.05, 8)];
        let mut second = files[0].units[0].clone();
        second.unit.span = Span { first: 9, line: 9, end: 16 };
        (files[0].units[0].unit.span.end, files[0].units[0].last_line) = (8, 8);
        files[0].units.push(second);
        for (bytes, expected) in [(150, "0.0 full"), (300, "0.0 full 1.0 full"), (480, "0.0 full 0.1 full 1.0 full")] {
            let pieces = pack(&files, bytes, false, |file| file.path.clone());
            let told: Vec<String> =
                pieces.iter().map(|p| format!("{}.{} {}", p.file, p.unit, p.grade.name())).take(3).collect();
            assert!(told.join(" ").starts_with(expected), "{bytes}: {told:?}");
        }
    }
}
