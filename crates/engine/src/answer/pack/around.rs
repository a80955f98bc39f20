//! The lines of a pack that say what lies around its first unit.

use std::collections::BTreeSet;

use crate::answer::FileAnswer;
use crate::relations::around::{NamedPlace, Surroundings};

/// What the best unit of a file calls, then the other definitions of its file, each in a line of at most a share of
/// `bytes`. `name` is how the file is named; units whose lines are `shown` in the pack are left out.
pub(super) fn lines(file: &FileAnswer, name: &str, shown: &BTreeSet<(&str, u32)>, bytes: usize) -> String {
    let Surroundings { path, defined, called } = &file.surroundings;
    // A file's name may be anything.
    let is_plain = |text: &str| !text.contains(char::is_control);
    let is_new = |place: &&NamedPlace| {
        !shown.contains(&(place.path.as_str(), place.line)) && is_plain(&place.path) && is_plain(&place.name)
    };
    let line = |head: &str, places: &mut dyn Iterator<Item = String>| {
        let mut text = String::new();
        for place in places {
            let mark = if text.is_empty() { head } else { ", " };
            if text.len() + mark.len() + place.len() + 1 > bytes / 2 {
                break;
            }
            text.push_str(mark);
            text.push_str(&place);
        }
        if text.is_empty() { text } else { text + "\n" }
    };
    let call = |place: &NamedPlace| match place.path == *path {
        true => format!("{}:{}", place.name, place.line),
        false => format!("{} {}:{}", place.name, beside(name, path, &place.path), place.line),
    };
    let near = |place: &NamedPlace| format!("{}:{}", place.name, place.line);
    let calls = line("calls ", &mut called.iter().filter(is_new).map(call));
    calls + &line("also here: ", &mut defined.iter().filter(is_new).map(near))
}

/// How another file is named where that at `own` (both from the project's root) is named `shown`.
fn beside(shown: &str, own: &str, other: &str) -> String {
    match (shown.strip_suffix(own), own.strip_suffix(shown)) {
        (Some(front), _) => format!("{front}{other}"),
        (None, Some(front)) => other.strip_prefix(front).unwrap_or(other).to_string(),
        (None, None) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, path: &str, line: u32) -> NamedPlace {
        NamedPlace { name: name.into(), path: path.into(), line }
    }

    #[test]
    fn calls_have_places_and_the_rest_of_the_file_names() {
        let surroundings = Surroundings {
            path: "src/a.rs".into(),
            defined: vec![place("near", "src/a.rs", 9), place("shown", "src/a.rs", 30), place("far", "src/a.rs", 90)],
            called: vec![place("push", "src/ring.rs", 4), place("near", "src/a.rs", 9)],
        };
        let file = FileAnswer { path: "src/a.rs".into(), surroundings, ..FileAnswer::default() };
        let shown = BTreeSet::from([("src/a.rs", 30)]);
        let of = |bytes: usize| lines(&file, "p/src/a.rs", &shown, bytes);
        assert_eq!(of(400), "calls push p/src/ring.rs:4, near:9\nalso here: near:9, far:90\n");
        assert_eq!(of(56), "calls push p/src/ring.rs:4\nalso here: near:9, far:90\n");
        assert_eq!(of(20), "");
        assert_eq!(lines(&FileAnswer::default(), "a", &shown, 400), "");
    }

    #[test]
    fn other_files_are_named_as_the_first_is() {
        for (shown, expected) in [("src/a.rs", "lib/b.rs"), ("../src/a.rs", "../lib/b.rs"), ("a.rs", "lib/b.rs")] {
            assert_eq!(beside(shown, "src/a.rs", "lib/b.rs"), expected, "{shown}");
        }
        assert_eq!(beside("a.rs", "src/a.rs", "src/b.rs"), "b.rs");
    }
}
