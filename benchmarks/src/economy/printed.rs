//! The lines of files that a text shows, whatever printed it: rows `PATH:LINE:TEXT`, and blocks below a head
//! `PATH:FIRST-LAST …`, where `LINE: TEXT` numbers a row and the rows after it follow.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use colgrep_index::source::read_text;

/// Lines of a place that count as the place if there are more.
const PLACE_LINES_MAX: usize = 30;

/// The files of a repository as lines, read when they are first named.
#[derive(Debug)]
pub(super) struct FileLines {
    root: PathBuf,
    read: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl FileLines {
    /// The files below `root`.
    pub(super) fn new(root: &Path) -> FileLines {
        FileLines { root: root.to_path_buf(), read: RefCell::default() }
    }

    /// The lines of a file; none where there is no such text.
    pub(super) fn of(&self, path: &str) -> Option<Rc<Vec<String>>> {
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let is_below = !path.is_empty() && !path.starts_with('/') && self.root.join(path).is_file();
        let text = is_below.then(|| read_text(&self.root, path).ok()).flatten();
        let lines = text.map(|text| Rc::new(text.lines().map(String::from).collect::<Vec<_>>()));
        self.read.borrow_mut().insert(path.to_string(), lines.clone());
        lines
    }
}

/// The lines of a labelled unit or file that are not blank.
#[derive(Clone, Debug)]
pub(super) struct PlaceLines {
    path: String,
    numbers: Vec<usize>,
    /// How many of them have to be printed.
    enough: usize,
}

impl PlaceLines {
    /// The lines `first` to `last` of a file; none where the file has not as many.
    pub(super) fn new(files: &FileLines, path: &str, first: usize, last: usize) -> Option<PlaceLines> {
        let lines = files.of(path).filter(|lines| 0 < first && first <= last && last <= lines.len())?;
        let numbers: Vec<usize> = (first..=last).filter(|number| !lines[number - 1].trim().is_empty()).collect();
        let enough = numbers.len().div_ceil(2).min(PLACE_LINES_MAX);
        Some(PlaceLines { path: path.to_string(), numbers, enough })
    }

    /// A file, of which one line is enough; none where there is no such text.
    pub(super) fn anywhere(files: &FileLines, path: &str) -> Option<PlaceLines> {
        let last = files.of(path)?.len();
        Some(PlaceLines { enough: 1, ..PlaceLines::new(files, path, 1, last)? })
    }
}

/// What has been printed so far.
#[derive(Debug, Default)]
pub(super) struct PrintedLines(HashMap<String, BTreeSet<usize>>);

impl PrintedLines {
    pub(super) fn add(&mut self, path: &str, line: usize) {
        self.0.entry(path.to_string()).or_default().insert(line);
    }

    /// Adds the lines that a text shows.
    pub(super) fn read(&mut self, text: &str, files: &FileLines) {
        let mut block: Option<(String, Rc<Vec<String>>)> = None;
        let mut next = None;
        for line in text.lines() {
            match location(line, files) {
                Some((path, number, LocationKind::Row)) => self.add(path, number),
                Some((path, _, LocationKind::Head)) => {
                    block = files.of(path).map(|lines| (path.to_string(), lines));
                    next = None;
                }
                None => {
                    let Some((path, lines)) = &block else { continue };
                    next = row_of(line, lines, next);
                    if let Some(number) = next {
                        self.0.entry(path.clone()).or_default().insert(number);
                    }
                    next = next.map(|number| number + 1);
                }
            }
        }
    }

    /// Whether enough of a place was printed.
    pub(super) fn has(&self, place: &PlaceLines) -> bool {
        let Some(printed) = self.0.get(&place.path) else { return false };
        let count = place.numbers.iter().filter(|number| printed.contains(number)).count();
        count >= place.enough
    }
}

/// What follows a path and a number.
enum LocationKind {
    /// `:`, then the line's text.
    Row,
    /// `-LAST`, then what the lines are.
    Head,
}

/// The file and the line that a line of text begins with.
fn location<'t>(line: &'t str, files: &FileLines) -> Option<(&'t str, usize, LocationKind)> {
    for (at, _) in line.match_indices(':') {
        let (path, behind) = (&line[..at], &line[at + 1..]);
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = behind[..digits].parse() else { continue };
        let rest = match &behind.as_bytes()[digits..] {
            [b':', ..] => LocationKind::Row,
            [b'-', digit, ..] if digit.is_ascii_digit() => LocationKind::Head,
            _ => continue,
        };
        if files.of(path).is_some() {
            return Some((path, number, rest));
        }
    }
    None
}

/// The number of the line that a row of a block shows: the one it names, or the one after the row before it.
fn row_of(row: &str, lines: &[String], next: Option<usize>) -> Option<usize> {
    let shows = |number: usize, text: &str| lines.get(number.wrapping_sub(1)).is_some_and(|line| is_shown(line, text));
    let numbered = row.trim_start().split_once(':').and_then(|(number, text)| Some((number.parse().ok()?, text)));
    let named = numbered.filter(|(number, text)| shows(*number, text)).map(|(number, _)| number);
    named.or(next.filter(|number| shows(*number, row)))
}

/// Whether a text is a line, or its beginning with a mark of what was cut.
fn is_shown(line: &str, text: &str) -> bool {
    let (line, text) = (line.trim(), text.trim());
    line == text || text.strip_suffix('…').is_some_and(|text| !text.is_empty() && line.starts_with(text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_lines_are_read_from_rows_and_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "/// Reads.\nfn read() {\n    let a = 1;\n\n    a\n}\n\nfn other() {\n    b();\n}\n";
        std::fs::write(folder.path().join("a.rs"), text).expect("a file");
        let files = FileLines::new(folder.path());
        for (answer, expected) in [
            ("a.rs:5:    a\n", vec![5]),
            ("b.rs:5:    a\nhttp://a.rs:80: no file\n", vec![]),
            // A head alone shows no line.
            ("a.rs:2-6 function read: fn read() {\n", vec![]),
            ("a.rs:2-6 function read\n2: fn read() {\n    let a = 1;\n\n    a\n}\n", vec![2, 3, 4, 5, 6]),
            // Lines left out, a row of another text, a cut row.
            ("a.rs:2-6 function read\n2: fn re…\n…\n5: a\n}\nlet b\n", vec![2, 5, 6]),
            ("a.rs:2-6 function read\n    fn read()\n", vec![]),
            ("a.rs:8-10 function other\n8: fn other() {\nb.rs:1-2 function x\n", vec![8]),
        ] {
            let mut printed = PrintedLines::default();
            printed.read(answer, &files);
            let found: Vec<usize> = printed.0.get("a.rs").into_iter().flatten().copied().collect();
            assert_eq!(found, expected, "{answer}");
        }
    }

    #[test]
    fn half_of_a_place_is_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.rs"), "a\n\nb\nc\nd\n".to_string() + &"x\n".repeat(95)).expect("a file");
        let files = FileLines::new(folder.path());
        let place = |first, last| PlaceLines::new(&files, "a.rs", first, last);
        let mut printed = PrintedLines::default();
        printed.add("a.rs", 1);
        let small = place(1, 5).expect("lines");
        assert!(!printed.has(&small));
        printed.add("a.rs", 4);
        assert!(printed.has(&small));
        let large = place(6, 100).expect("lines");
        (6..35).for_each(|line| printed.add("a.rs", line));
        assert!(!printed.has(&large));
        printed.add("a.rs", 35);
        assert!(printed.has(&large));
        assert!(place(1, 101).is_none() && place(0, 1).is_none());
        let mut printed = PrintedLines::default();
        let file = PlaceLines::anywhere(&files, "a.rs").expect("lines");
        assert!(!printed.has(&file) && PlaceLines::anywhere(&files, "b.rs").is_none());
        printed.add("a.rs", 50);
        assert!(printed.has(&file));
    }
}
