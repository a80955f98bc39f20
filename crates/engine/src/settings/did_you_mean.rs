//! The name that may be meant by one that was mistyped.

/// The name in the fewest changes of a character, if these are at most one for three characters and leave something of
/// what was typed.
pub fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let len = typed.chars().count();
    let changes_max = len.div_ceil(3).min(len.saturating_sub(1));
    let (changes, name) =
        names.map(|name| (strsim::levenshtein(typed, name), name)).min_by_key(|(changes, _)| *changes)?;
    (changes <= changes_max).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_is_near_is_suggested() {
        for (typed, expected) in [
            ("result", Some("results")),
            ("colour", Some("color")),
            ("alhpa", Some("alpha")),
            ("k2", Some("k1")),
            ("bogus", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, ["results", "color", "alpha", "k1", "b"].into_iter()), expected, "{typed}");
        }
    }
}
