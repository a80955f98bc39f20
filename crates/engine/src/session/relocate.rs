//! Finds the units of a file that changed since it was indexed, so that lines are shown with their current numbers.

use colgrep_core::Unit;
use colgrep_syntax::language;
use colgrep_syntax::parse::parse_file;

use crate::answer::snippet::QueryWords;

/// Moves units to their place in a file's current text. Of several with the same name, the likeliest is taken: the one
/// with as many lines, then the nearest; of those without a name, the one with the line that matches the query best. A
/// unit that is gone keeps its indexed place. Returns, for each, whether it is there.
pub fn follow(units: &mut [Unit], path: &str, text: &str, words: &QueryWords) -> Vec<bool> {
    let now = parse_file(path, text, language::of_file(path, text.as_bytes())).1.units;
    let lines: Vec<&str> = text.lines().collect();
    let place = |unit: &mut Unit| {
        let is_same = |other: &&Unit| (other.kind, &other.name, &other.parent) == (unit.kind, &unit.name, &unit.parent);
        let weight = |other: &Unit| if unit.name.is_empty() { words.most(&lines, other) } else { 0.0 };
        let distance = |other: &Unit| other.span.line.abs_diff(unit.span.line);
        let likeliest = now.iter().filter(is_same).min_by(|a, b| {
            let lines = |unit: &Unit| unit.span.end.saturating_sub(unit.span.line);
            let is_longer = |other: &Unit| !unit.name.is_empty() && lines(other) != lines(unit);
            let by_words = || weight(b).total_cmp(&weight(a));
            is_longer(a).cmp(&is_longer(b)).then_with(by_words).then_with(|| distance(a).cmp(&distance(b)))
        });
        if let Some(found) = likeliest {
            *unit = found.clone();
        }
        likeliest.is_some()
    };
    units.iter_mut().map(place).collect()
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
        let there = follow(&mut units, "a.rs", text, &QueryWords::of_text("b"));
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
        assert_eq!(follow(&mut units, "a.none", &text, &words), [true]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(words.best_line(&mut WeighedLines::new(&lines), &units[0], None), 151, "{:?}", units[0].span);
    }
}
