//! Why a query fell: what each step did, before and after, to its right files and to those that overtook them.

use crate::report::QueryRecord;
use crate::trace::{Cell, FileTrace};

/// Right files shown, and files that overtook them.
const SHOWN: usize = 2;

/// A file in both records, as far as they trace it.
struct TracedFile<'r> {
    file: &'r str,
    old: Option<&'r FileTrace>,
    new: Option<&'r FileTrace>,
}

/// The rank in the answer; last where the file is not traced.
fn rank(trace: Option<&FileTrace>) -> usize {
    trace.and_then(FileTrace::last).map_or(usize::MAX, |cell| cell.rank)
}

fn find<'r>(query: &'r QueryRecord, file: &str) -> Option<&'r FileTrace> {
    query.trace.iter().find(|t| t.file == file)
}

/// The right files that fell, those that stood highest first, then the files that passed the first of them.
fn files<'r>(old: &'r QueryRecord, new: &'r QueryRecord) -> Vec<TracedFile<'r>> {
    let side = |t: &'r FileTrace| TracedFile { file: &t.file, old: Some(t), new: find(new, &t.file) };
    let mut fallen: Vec<TracedFile<'r>> = old.trace.iter().filter(|t| t.right).map(side).collect();
    fallen.retain(|s| rank(s.new) > rank(s.old));
    fallen.truncate(SHOWN);
    let Some(first) = fallen.first() else { return fallen };
    let (before, after) = (rank(first.old), rank(first.new));
    let side = |t: &'r FileTrace| TracedFile { file: &t.file, old: find(old, &t.file), new: Some(t) };
    let passed = |s: &TracedFile<'_>| rank(s.new) < after && rank(s.old) > before;
    let passed = new.trace.iter().filter(|t| !t.right).map(side).filter(passed).take(SHOWN);
    let passed: Vec<TracedFile<'r>> = passed.collect();
    fallen.into_iter().chain(passed).collect()
}

/// The steps of both builds in one order.
fn merged<'r>(old: &'r [String], new: &'r [String]) -> Vec<&'r str> {
    let mut all: Vec<&str> = old.iter().map(String::as_str).collect();
    let mut after = 0;
    for step in new {
        match all.iter().position(|s| s == step) {
            Some(at) => after = at + 1,
            None => {
                all.insert(after, step);
                after += 1;
            }
        }
    }
    all
}

/// The table of one query.
pub fn text(old: &QueryRecord, old_steps: &[String], new: &QueryRecord, new_steps: &[String]) -> String {
    let sides = files(old, new);
    if sides.is_empty() {
        let first = |q: &QueryRecord| q.files.first().cloned().unwrap_or_else(|| "nothing".into());
        return format!("    no trace of a right file in A; first was {}, now {}\n", first(old), first(new));
    }
    let mut text = String::new();
    let place = |t: Option<&FileTrace>| match rank(t) {
        usize::MAX => "not among the first".to_string(),
        rank => rank.to_string(),
    };
    for (i, side) in sides.iter().enumerate() {
        let right = side.old.or(side.new).is_some_and(|t| t.right);
        let what = if right { ", right" } else { ", overtook it" };
        text += &format!("    {}  {}{what}: {} -> {}\n", i + 1, side.file, place(side.old), place(side.new));
    }
    let mut row = |mark: char, name: &str, cells: &[String]| {
        text += format!("  {mark} {name:<18}").as_str();
        for cell in cells {
            text += &format!(" {cell:>12}");
        }
        text = text.trim_end().to_string() + "\n";
    };
    let heads: Vec<String> = (1..=sides.len()).flat_map(|i| [format!("{i}: A"), "B".to_string()]).collect();
    row(' ', "", &heads);
    let shown = |cell: Option<Cell>| cell.map_or(String::new(), |c| c.text());
    for step in merged(old_steps, new_steps) {
        let at = |t: Option<&FileTrace>, steps| t.and_then(|t| t.at(steps, step));
        let cells: Vec<[Option<Cell>; 2]> =
            sides.iter().map(|s| [at(s.old, old_steps), at(s.new, new_steps)]).collect();
        let nothing = |c: &Option<Cell>| c.is_none_or(|c| c.is_change && c.score == 0);
        if cells.iter().flatten().all(nothing) {
            continue;
        }
        let score = |cell: Option<Cell>| cell.map_or(0, |c| c.score);
        let differ = |(s, [a, b]): (&TracedFile<'_>, &[Option<Cell>; 2])| {
            s.old.is_some() && s.new.is_some() && score(*a) != score(*b)
        };
        let mark = if sides.iter().zip(&cells).any(differ) { '*' } else { ' ' };
        row(mark, step, &cells.iter().flatten().map(|c| shown(*c)).collect::<Vec<_>>());
    }
    let last: Vec<String> =
        sides.iter().flat_map(|s| [s.old, s.new]).map(|t| shown(t.and_then(FileTrace::last))).collect();
    row(' ', "answer", &last);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_two_builds_keep_both_orders() {
        let list = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        for (old, new, expected) in [
            ("a b c", "a b c", "a b c"),
            ("a b c", "a x b c y", "a x b c y"),
            ("a b c", "x a c", "x a b c"),
            ("a b", "c d", "c d a b"),
        ] {
            assert_eq!(merged(&list(old), &list(new)).join(" "), expected);
        }
    }
}
