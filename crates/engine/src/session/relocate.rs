//! Finds the units of a file that changed since it was indexed, so that lines are shown with their current numbers.

use colgrep_core::Unit;
use colgrep_index::ids::TextHash;
use colgrep_index::units::{text_hash, unit_text};
use colgrep_syntax::language;
use colgrep_syntax::parse::parse_file;

use crate::answer::snippet::QueryWords;

/// Moves units, with the hashes of their texts, to their place in a file's current text. Of several with the same name, the
/// likeliest is taken: the one with as many lines, then the nearest. One without a name is there if its text is, or a line
/// that matches the query: of several, the one with the line that matches it best. A unit that is gone keeps its indexed
/// place. Returns, for each, whether it is there.
pub fn follow(
    units: &mut [Unit],
    hashes: &[Option<TextHash>],
    path: &str,
    text: &str,
    words: &QueryWords,
) -> Vec<bool> {
    let now = parse_file(path, text, language::of_file(path, text.as_bytes())).1.units;
    let lines: Vec<&str> = text.lines().collect();
    let place = |(unit, hash): (&mut Unit, &Option<TextHash>)| {
        let is_same = |other: &&Unit| (other.kind, &other.name, &other.parent) == (unit.kind, &unit.name, &unit.parent);
        let distance = |other: &&Unit| other.span.line.abs_diff(unit.span.line);
        let likeliest = if unit.name.is_empty() {
            let has_text = |other: &&Unit| *hash == Some(text_hash(&unit_text(path, other)));
            let weight = |other: &Unit| words.most(&lines, other);
            let answers = |other: &&Unit| words.is_empty() || weight(other) > 0.0;
            let by_words =
                |a: &&Unit, b: &&Unit| weight(b).total_cmp(&weight(a)).then_with(|| distance(a).cmp(&distance(b)));
            let unchanged = now.iter().filter(is_same).filter(has_text).min_by_key(distance);
            unchanged.or_else(|| now.iter().filter(is_same).filter(answers).min_by(by_words))
        } else {
            let length = |unit: &Unit| unit.span.end.saturating_sub(unit.span.line);
            now.iter().filter(is_same).min_by_key(|other| (length(other) != length(unit), distance(other)))
        };
        let likeliest = likeliest.cloned();
        let is_there = likeliest.is_some();
        if let Some(found) = likeliest {
            *unit = found;
        }
        is_there
    };
    units.iter_mut().zip(hashes).map(place).collect()
}

#[cfg(test)]
mod tests {
    use colgrep_core::UnitKind;

    use super::*;
    use crate::answer::snippet::WeighedLines;

    #[test]
    fn units_are_found_where_they_stand_now() {
        let text = "// Added.\n// Added.\n\nfn one() {\n    a();\n}\n\nfn two(x: u32) {\n    b();\n}\n";
        let old = |name: &str, signature: &str, line: u32| {
            let mut unit = Unit { kind: UnitKind::Function, name: name.into(), ..Unit::default() };
            unit.signature = signature.into();
            (unit.span.first, unit.span.line, unit.span.end) = (line, line, line + 2);
            unit
        };
        let mut units = [old("two", "fn two(x: u32)", 5), old("gone", "fn gone()", 1), old("one", "fn one(y)", 1)];
        let there = follow(&mut units, &[None; 3], "a.rs", text, &QueryWords::of_text("b"));
        assert_eq!(there, [true, false, true]);
        assert_eq!(units.map(|unit| unit.span.line), [8, 1, 4]);
    }

    #[test]
    fn text_without_a_name_is_found_by_the_words_that_it_answers_with() {
        let block = |at: u32| (0..50).map(|line| format!("value {at} {line}\n")).collect::<String>();
        let parsed = |text: &str| parse_file("a.none", text, language::of_file("a.none", text.as_bytes())).1.units;
        let answer = "the timeout of the socket\n";
        let mut units = vec![parsed(&[&block(2), answer].concat()).pop().expect("a unit")];
        let text = [&block(1), &block(3), &block(2), answer, &block(4)].concat();
        let words = QueryWords::of_text("socket timeout");
        assert_eq!(follow(&mut units.clone(), &[None], "a.none", &text, &QueryWords::of_text("window")), [false]);
        assert_eq!(follow(&mut units, &[None], "a.none", &text, &words), [true]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(words.best_line(&mut WeighedLines::new(&lines), &units[0], None), 151, "{:?}", units[0].span);
    }
    #[test]
    fn text_without_a_name_is_found_by_itself() {
        let parsed = |text: &str| parse_file("a.md", text, language::of_file("a.md", text.as_bytes())).1.units;
        let mut units = vec![parsed("About a stable.\n\n# One\n\nText.\n").remove(0)];
        let hashes = [Some(text_hash(&unit_text("a.md", &units[0])))];
        assert!(units[0].name.is_empty(), "{units:?}");
        let words = QueryWords::of_text("horses");
        let there = |units: &mut [Unit], text: &str| follow(units, &hashes, "a.md", text, &words);
        assert_eq!(there(&mut units, "About cows.\n\n# One\n\nText.\n"), [false]);
        assert_eq!(there(&mut units, "About a stable.\n\n# One\n\nOther text.\n"), [true]);
    }
}
