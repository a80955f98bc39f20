//! The text that is encoded of a unit, the same for the index and for the scripts that train models.

use colgrep_core::query::last_segment;
use colgrep_core::{Unit, UnitKind};
use xxhash_rust::xxh3::xxh3_64;

use crate::ids::TextHash;

/// Maximum length of a unit's text, in bytes. Models truncate at their own length; the embedded one reads less than
/// this.
pub(crate) const TEXT_BYTES_MAX: usize = 2 << 10;
/// Maximum of documentation in it, in bytes, so that there is room for some of the body.
const DOCSTRING_BYTES_MAX: usize = 512;
/// Number of path components that a model sees. Folders further up name the project, not the unit.
const PATH_COMPONENTS: usize = 3;

/// Minimum of words for lines outside any definition to be encoded.
const RAW_WORDS_MIN: usize = 3;

/// The text of a unit that is turned into vectors: the last three components of its file's path without the extension,
/// on the next line the last segment of its parent and its name, then the documentation (unless the body contains it),
/// then the body. At most 2 KiB, cut at a character. `path` is relative to the project's root, `/` between components.
///
/// Keywords and entities of prose are left out: prepending them lost as many needles as it gained
/// (docs/research/documents.md).
pub fn unit_text(path: &str, unit: &Unit) -> String {
    let start = path.rmatch_indices('/').nth(PATH_COMPONENTS - 1).map_or(0, |(at, _)| at + 1);
    let place = &path[start..];
    let file_at = place.rfind('/').map_or(0, |at| at + 1);
    let place = match place[file_at..].rfind('.') {
        // A name such as `.bashrc` is not an extension.
        Some(dot) if dot > 0 => &place[..file_at + dot],
        _ => place,
    };
    // Documentation inside the body (Python) is not repeated.
    let first_line = unit.docstring.lines().next().unwrap_or_default();
    let repeated = !first_line.is_empty() && unit.body.contains(first_line);
    let docstring_bytes = if repeated { 0 } else { unit.docstring.floor_char_boundary(DOCSTRING_BYTES_MAX) };
    let docstring = &unit.docstring[..docstring_bytes];
    let mut text = String::with_capacity(TEXT_BYTES_MAX + DOCSTRING_BYTES_MAX);
    text.push_str(place);
    text.push('\n');
    for word in [last_segment(&unit.parent), unit.name.as_str()] {
        if !word.is_empty() {
            if !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(word);
        }
    }
    let body = &unit.body[..unit.body.floor_char_boundary(TEXT_BYTES_MAX)];
    for part in [docstring, body] {
        if !part.is_empty() {
            text.push('\n');
            text.push_str(part);
        }
    }
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

/// Whether a unit is encoded. Fragments between definitions (`else`, `)`, `mod net;`) say too little: a model places
/// them close to anything, and no question is about them. The lexical search still finds them.
pub fn is_encoded(unit: &Unit) -> bool {
    let is_other = |c: char| !c.is_ascii() && c.is_alphabetic();
    let words = || unit.body.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    unit.kind != UnitKind::RawCode
        || !unit.docstring.is_empty()
        || unit.body.contains(is_other)
        || words().nth(RAW_WORDS_MIN - 1).is_some()
}

/// Hash of a unit's text.
pub fn text_hash(text: &str) -> TextHash {
    let unit = 1 << (u64::BITS - TextHash::BITS);
    let value = (xxh3_64(text.as_bytes()) & !(unit - 1)).max(unit);
    TextHash::new(value).unwrap_or_else(|| unreachable!("the value is at least 1"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// The same cases as `crates/encoder/train/test_train.py`, the test of the Python twin.
    const CASES: &str = include_str!("../../encoder/tests/unit_text.json");

    #[test]
    fn scraps_are_not_encoded() {
        let unit = |kind, body: &str| Unit { kind, body: body.to_string(), ..Unit::default() };
        for scrap in ["", "}\n", "else\n", "mod net;\n", "#endif /* 0 */"] {
            assert!(!is_encoded(&unit(UnitKind::RawCode, scrap)), "{scrap:?}");
        }
        for text in ["use net::listen", "AC_CONFIG_FILES(Makefile)", "// 初始化", "int é;"] {
            assert!(is_encoded(&unit(UnitKind::RawCode, text)), "{text:?}");
        }
        assert!(is_encoded(&unit(UnitKind::Section, "x")) && is_encoded(&unit(UnitKind::Constant, "A = 1")));
        let told = Unit { docstring: "Ends it.".into(), ..unit(UnitKind::RawCode, "end") };
        assert!(is_encoded(&told));
    }

    #[test]
    fn a_text_says_where_what_and_how() {
        let cases: Vec<HashMap<String, String>> = serde_json::from_str(CASES).unwrap();
        for case in &cases {
            let unit = Unit {
                parent: case["parent"].clone(),
                name: case["name"].clone(),
                docstring: case["docstring"].clone(),
                body: case["body"].clone(),
                ..Unit::default()
            };
            assert_eq!(unit_text(&case["path"], &unit), case["text"], "{case:?}");
        }
        let longest = cases.iter().map(|case| case["text"].len()).max();
        assert!(cases.len() > 20 && longest > Some(TEXT_BYTES_MAX - 3), "{longest:?}");
    }
}
