//! A pack: an answer that spends a budget where the chance is. The first file with its unit in full, the next with signature
//! and first sentence, the rest a line each; how deep and how flat goes by strength.

use colgrep_core::Unit;
use colgrep_core::code_line::is_comment;
use colgrep_syntax::read::lines_between;

use crate::answer::{FileAnswer, UnitAnswer};

/// Files that a pack names, at most.
pub const FILES_MAX: usize = 10;
/// Units of each file that are looked at.
pub const UNITS_PER_FILE: usize = 3;
/// Share of the whole budget that the first unit may take in full, and what its strength adds to that. These values and the
/// next ones: `colgrep-bench pack` over both tuning sets.
const FULL_SHARE: f32 = 0.7;
const FULL_SHARE_SURE: f32 = 0.2;
/// The same where it has to be cut.
const CUT_SHARE: f32 = 0.25;
const CUT_SHARE_SURE: f32 = 0.25;
/// Chance that the best unit of a right file is the right one, and that the next ones are.
const UNIT_CHANCES: [f32; UNITS_PER_FILE] = [0.79, 0.16, 0.09];
/// A file whose strength is below this share of the first one's stands behind more of the first file.
const WEAK_SHARE: f32 = 0.1;
/// Files that are named before more units of the first one.
const STRONG_FILES: usize = 4;
/// Share of the budget that names may take, beside the first file's.
const NAMES_SHARE: f32 = 0.3;
/// Room that a body must have to be cut into it.
const CUT_BYTES_MIN: usize = 200;
/// Longest line that is given, in characters; of a piece that is one line, the line that answers.
const LINE_CHARS_MAX: usize = 160;
const NAMED_CHARS_MAX: usize = 60;
/// Lines of one comment that are given, beside those around the line that answers.
const COMMENT_LINES_MAX: usize = 8;
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

/// Pieces behind the first that get signature and first sentence before more of the rest.
const BRIEF_FIRST: usize = 3;

/// The pieces of an answer that fit into so many bytes, the best file first. `name` is how a file is named. With `ids`, each
/// names its unit's id too.
pub fn pack(files: &[FileAnswer], bytes: usize, ids: bool, name: impl Fn(&FileAnswer) -> String) -> Vec<Piece> {
    let names: Vec<String> = files.iter().map(name).collect();
    let mut packer = Packer { files, names, ids, left: bytes, pieces: Vec::new() };
    packer.name(bytes);
    if packer.pieces.is_empty() {
        return packer.pieces;
    }
    let strength = files[packer.pieces[0].file].strength.clamp(0.0, 1.0);
    let share = |least: f32, sure: f32| ((bytes as f32 * (least + sure * strength)) as usize).max(CUT_BYTES_MIN);
    let is_whole = packer.raise(0, Grade::Full, share(FULL_SHARE, FULL_SHARE_SURE));
    if !is_whole && packer.left >= CUT_BYTES_MIN {
        packer.raise(0, Grade::Cut, share(CUT_SHARE, CUT_SHARE_SURE));
    }
    for at in packer.by_worth() {
        packer.raise(at, Grade::Full, usize::MAX);
    }
    let count = packer.pieces.len();
    (0..count.min(1 + BRIEF_FIRST)).for_each(|at| _ = packer.raise(at, Grade::Brief, usize::MAX));
    if packer.pieces[0].grade == Grade::Cut {
        packer.raise_cut();
    }
    (1..count).for_each(|at| _ = packer.raise(at, Grade::Brief, usize::MAX));
    packer.pieces
}

/// Bytes of a unit as a line, in short and in full, with its file named so: what a pack has to choose from.
pub fn sizes(name: &str, file: &FileAnswer, unit: usize) -> [usize; 3] {
    let size = |grade| written(name, "", file, &file.units[unit], grade, usize::MAX).len();
    [size(Grade::Line), size(Grade::Brief), size(Grade::Full)]
}

/// (file, unit) of the pieces in the order in which they get room: strong files, then more of the first, then weak ones.
fn in_order(files: &[FileAnswer]) -> Vec<(usize, usize)> {
    let best = files.first().map_or(0.0, |file| file.strength);
    let is_strong = |at: &usize| *at < STRONG_FILES || files[*at].strength >= WEAK_SHARE * best;
    let with_units = (0..files.len()).filter(|at| !files[*at].units.is_empty());
    let (strong, weak): (Vec<usize>, Vec<usize>) = with_units.partition(|at| is_strong(at));
    let more = (1..files.first().map_or(0, |file| file.units.len())).map(|unit| (0, unit));
    let of = |files: Vec<usize>| files.into_iter().map(|file| (file, 0));
    of(strong).chain(more).chain(of(weak)).collect()
}

struct Packer<'a> {
    files: &'a [FileAnswer],
    names: Vec<String>,
    ids: bool,
    left: usize,
    pieces: Vec<Piece>,
}

impl Packer<'_> {
    fn write(&self, file: usize, unit: usize, grade: Grade, room: usize) -> String {
        let answer = &self.files[file];
        let answered = &answer.units[unit];
        let id = if self.ids { format!(" #{}", answered.id) } else { String::new() };
        written(&self.names[file], &id, answer, answered, grade, room)
    }

    /// Names units until the names have their share of so many bytes.
    fn name(&mut self, bytes: usize) {
        let mut left = (bytes as f32 * NAMES_SHARE) as usize;
        for (file, unit) in in_order(self.files) {
            let text = self.write(file, unit, Grade::Line, usize::MAX);
            let room = if self.pieces.is_empty() { bytes } else { left };
            if text.len() > room.min(self.left) {
                break;
            }
            left = left.saturating_sub(text.len());
            self.left -= text.len();
            self.pieces.push(Piece { file, unit, grade: Grade::Line, text });
        }
    }

    /// The pieces behind the first, those first that bring most for their bytes.
    fn by_worth(&self) -> Vec<usize> {
        let worth = |piece: &Piece| {
            let chance =
                self.files[piece.file].strength.max(f32::EPSILON) * UNIT_CHANCES[piece.unit.min(UNITS_PER_FILE - 1)];
            let text = self.write(piece.file, piece.unit, Grade::Full, usize::MAX);
            chance / (text.len().saturating_sub(piece.text.len()).max(1) as f32)
        };
        let mut order: Vec<(usize, f32)> = self.pieces.iter().map(worth).enumerate().skip(1).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(at, _)| at).collect()
    }

    /// Cuts less of the first piece: it takes what is left.
    fn raise_cut(&mut self) {
        let Piece { file, unit, .. } = self.pieces[0];
        let old = self.pieces[0].text.len();
        let text = self.write(file, unit, Grade::Cut, old + self.left);
        if text.len() > old && text.len() <= old + self.left {
            self.left = self.left + old - text.len();
            self.pieces[0].text = text;
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
fn written(name: &str, id: &str, file: &FileAnswer, answered: &UnitAnswer, grade: Grade, room: usize) -> String {
    let unit = &answered.unit;
    let (line, end) = (unit.span.line as usize, answered.last_line.max(unit.span.line as usize));
    let head = format!("{name}:{line}-{end} {} {}", unit.kind.name(), unit.qualified_name());
    let mut text = head.trim_end().to_string() + id;
    if grade == Grade::Line {
        text.push_str(&format!(": {}\n", short(answered.line.text.trim(), NAMED_CHARS_MAX)));
        return text;
    }
    text.push('\n');
    if grade == Grade::Brief {
        text.push_str(&brief(unit, answered));
        return text;
    }
    let first = unit.span.first.min(unit.span.line) as usize;
    let lines = lines_between(&file.text, first, end, str::lines);
    let numbers = own_numbers(answered, end.min(lines.len()));
    let row = |number: usize| format!("{number}: {}\n", short(lines[number - 1], LINE_CHARS_MAX));
    let kept = match grade {
        Grade::Full => without_long_comments(&numbers, &lines, answered.line.number),
        _ => {
            let room = room.saturating_sub(text.len());
            kept_lines(&numbers, answered.line.number, line, |number| row(number).len(), room)
        }
    };
    let mut last = numbers.first().map_or(line, |first| first - 1);
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

/// The lines of a unit without what a comment, or a text in three quotes, has beyond its first lines; the lines around
/// the one that answers stay.
fn without_long_comments(numbers: &[usize], lines: &[&str], best: usize) -> Vec<usize> {
    let around = best.saturating_sub(AROUND_LINES)..=best + AROUND_LINES;
    let (mut inside, mut run) = (None, 0);
    let mut is_kept = |number: usize| {
        let line = lines[number - 1];
        let was = inside;
        let opens = || ["\"\"\"", "'''"].into_iter().find(|quotes| line.matches(quotes).count() == 1);
        inside = match inside {
            Some(quotes) if line.contains(quotes) => None,
            Some(quotes) => Some(quotes),
            None => opens(),
        };
        // The last line of a text in quotes belongs to it.
        let is_comment = was.is_some() || inside.is_some() || is_comment(line);
        run = if is_comment { run + 1 } else { 0 };
        run <= COMMENT_LINES_MAX || around.contains(&number)
    };
    numbers.iter().copied().filter(|number| is_kept(*number)).collect()
}

/// The lines that are a unit's own, its documentation first: all but those of its members.
fn own_numbers(answered: &UnitAnswer, end: usize) -> Vec<usize> {
    let span = answered.unit.span;
    let (first, line) = (span.first.min(span.line).max(1) as usize, span.line.max(1) as usize);
    if answered.parts.is_empty() {
        return (first..=end).collect();
    }
    let parts = answered.parts.iter().flat_map(|(first, last)| *first as usize..=(*last as usize).min(end));
    (first..line.min(end + 1)).chain(parts).collect()
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
        text.push_str(&format!("    {}\n", short(&unit.signature, LINE_CHARS_MAX)));
    }
    let sentence = unit.docstring.split(". ").next().unwrap_or_default().lines().next().unwrap_or_default().trim();
    if !sentence.is_empty() {
        text.push_str(&format!("    {}\n", short(sentence, LINE_CHARS_MAX)));
    }
    if unit.signature.is_empty() || answered.line.number != answered.name_line {
        text.push_str(&format!("    {}: {}\n", answered.line.number, short(answered.line.text.trim(), LINE_CHARS_MAX)));
    }
    text
}

fn short(line: &str, chars_max: usize) -> String {
    match line.char_indices().nth(chars_max) {
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
        for kept in ["1: fn a() {\n", "97: ", "100:     step_100();\n", "103: ", "200: }\n", "… "] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.contains("150: "));
    }

    #[test]
    fn a_class_in_full_names_its_members_by_their_first_lines() {
        let mut class = file("a", 1.0, 30);
        class.units[0].unit.kind = UnitKind::Class;
        class.units[0].parts = vec![(1, 3), (20, 20), (30, 30)];
        let pieces = pack(&[class], 4_000, true, |file| file.path.clone());
        assert_eq!(pieces[0].grade, Grade::Full);
        let expected = "a:1-30 class a #0000000000000000\n1: fn a() {\n2:     step_2();\n3:     step_3();\n\
                        … 16 lines\n20:     step_20();\n… 9 lines\n30: }\n";
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
    fn long_comments_are_cut_in_a_unit_in_full() {
        let mut lines: Vec<String> = (1..=30).map(|n| format!("/// Row {n}.")).collect();
        lines.extend(["fn a() {", "    \"\"\"", "    x", "    \"\"\"", "    y", "}"].map(String::from));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let numbers: Vec<usize> = (1..=36).collect();
        let kept = without_long_comments(&numbers, &lines, 20);
        let expected: Vec<usize> = (1..=8).chain(17..=23).chain(31..=36).collect();
        assert_eq!(kept, expected);
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
    fn weak_files_stand_behind_more_of_the_first() {
        let mut files: Vec<FileAnswer> = (0..6).map(|n| file(&format!("f{n}"), 1.0 - 0.19 * n as f32, 6)).collect();
        let second = files[0].units[0].clone();
        files[0].units.push(second);
        assert_eq!(in_order(&files), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (5, 0)]);
    }
}
