//! Term tables: one in the program, a JSON file, or the settings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use colgrep_core::expand::TermTable;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::{Refused, Result, TermsError};
use crate::request::Background;
use crate::settings::Settings;

/// Largest file of terms that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The terms of a word, as a file has them.
#[derive(Deserialize)]
#[serde(untagged)]
enum TermList {
    One(String),
    Several(Vec<String>),
}

/// The table that a name or a path gives: one in the program, else a file of JSON, `{"word": ["term", …]}`. A file that is
/// named like a table in the program is `./NAME`.
///
/// # Errors
/// When there is neither, or the file can't be read or has another shape.
pub fn table(given: &Path) -> Result<TermTable> {
    if let Some(table) = given.to_str().and_then(TermTable::built_in) {
        return Ok(table);
    }
    if !given.exists() {
        return Err(Refused::NoTerms { given: given.to_path_buf() }.into());
    }
    let rows = read(given).map_err(|source| Refused::Terms { given: given.to_path_buf(), source })?;
    let mut table = TermTable::default();
    for (word, terms) in rows {
        match terms {
            TermList::One(term) => table.add(&word, [term]),
            TermList::Several(terms) => table.add(&word, terms),
        }
    }
    Ok(table)
}

fn read(path: &Path) -> Result<BTreeMap<String, TermList>, TermsError> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(TermsError::TooLarge { bytes_max: FILE_BYTES_MAX });
    }
    // Windows editors may begin a file with a byte order mark, which is not JSON.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str::<IgnoredAny>(text).map_err(TermsError::NoJson)?;
    // The parser's message about a shape would show values of whatever file was named.
    serde_json::from_str(text).map_err(|_| TermsError::NoList)
}

/// The terms in force for a question: those that the caller gave, and those of the settings unless they are disabled.
pub fn in_force(background: &Background, settings: &Settings) -> TermTable {
    let mut table = background.terms.clone();
    if !background.no_settings_terms {
        for (word, terms) in settings.terms() {
            table.add(word, terms.iter().cloned());
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn tables_are_read_by_name_and_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("terms.json");
        for (text, expected) in [
            (r#"{"token": ["JWT", "bearer"], "pod": "PodSpec"}"#, ""),
            ("{}", ""),
            ("\u{feff}{\"token\": \"JWT\"}", ""),
            (r#"["token"]"#, "a word of it has no list of strings"),
            ("{\"token\": 7\n}", "a word of it has no list of strings"),
            ("token = JWT", "it is not JSON: expected ident at line 1 column 2"),
            ("[1", "it is not JSON: EOF while parsing a list at line 1 column 2"),
        ] {
            std::fs::write(&path, text).unwrap();
            let told = table(&path).map_or_else(|e| e.full(), |_| String::new());
            let why = told.strip_prefix(&format!("{} is not a table of terms: ", path.display())).unwrap_or(&told);
            assert_eq!(why, expected, "{text}");
        }
        assert!(!table(Path::new("kubernetes")).unwrap().is_empty());
        assert!(matches!(table(Path::new("docker")), Err(Error::Refused(Refused::NoTerms { .. }))));
    }
}
