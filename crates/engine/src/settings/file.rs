//! Settings files: TOML read into checked values.

use toml_edit::{DocumentMut, Item, Value as Toml};

use super::keys::{self, SettingValue};

use crate::error::SettingError;

type Result<T> = crate::error::Result<T, SettingError>;

/// Tables of the file whose keys are named `table.key`.
const TABLES: [&str; 5] = ["types", "tags", "terms", "groups", "ranking"];

/// The values of a file's text, checked.
///
/// # Errors
/// When it is not TOML, a key is unknown, or a value is invalid.
pub fn read(text: &str) -> Result<Vec<(String, SettingValue)>> {
    read_each(text)?.into_iter().collect()
}

/// The values of a file's text, each checked by itself.
///
/// # Errors
/// When it is not TOML.
pub fn read_each(text: &str) -> Result<Vec<Result<(String, SettingValue)>>> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| SettingError::Toml(error.into()))?;
    let mut values = Vec::new();
    for (name, item) in document.iter() {
        match item.as_table_like() {
            Some(table) if TABLES.contains(&name) => {
                for (key, item) in table.iter() {
                    values.push(one(&format!("{name}.{key}"), item));
                }
            }
            _ => values.push(one(name, item)),
        }
    }
    Ok(values)
}

fn one(key: &str, item: &Item) -> Result<(String, SettingValue)> {
    keys::check_name(key)?;
    let value = match item.as_value() {
        Some(Toml::Array(array)) => {
            let list: Option<Vec<String>> = array.iter().map(|v| v.as_str().map(str::to_string)).collect();
            SettingValue::List(list.ok_or_else(|| keys::unfit(key, "a list of strings", None))?)
        }
        Some(Toml::String(text)) => SettingValue::Text(text.value().clone()),
        Some(Toml::Integer(number)) => SettingValue::Text(number.value().to_string()),
        Some(Toml::Float(number)) => SettingValue::Text(number.value().to_string()),
        Some(Toml::Boolean(on)) => SettingValue::Text(on.value().to_string()),
        _ => return Err(keys::unfit(key, "a value, not a table or a date", None)),
    };
    Ok((key.to_string(), keys::check(key, value)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn files_are_read_and_refused() {
        for (text, expected) in [
            ("results = 20\n[ranking]\nalpha = 0.5\n", "results=20 ranking.alpha=0.5"),
            ("ignore = [\"a/\", \"*.b\"]\n[types]\nweb = [\"*.html\"]\n", "ignore=[a/, *.b] types.web=[*.html]"),
            ("colour = \"never\"\n", "there is no setting \"colour\"; did you mean \"color\"?"),
            ("[terms]\n\"node.js\" = [\"V8\"]\n[tags]\nhot = [\"a/*\"]\n", "terms.node.js=[V8] tags.hot=[a/*]"),
            ("[terms]\ntoken = [\"\"]\n", "terms.token takes a list of terms, such as [\"JWT\", \"bearer\"]"),
            ("[groups]\nbackend = [\"~/src/a\", \"b\"]\n", "groups.backend=[~/src/a, b]"),
            ("[groups]\nbackend = \"a\"\n", "groups.backend takes a list of folders, such as [\"~/src/api\"]"),
            ("[ranking]\nalpha = 3\n", "ranking.alpha: COLGREP_ALPHA=3: expected a number from 0 to 1"),
            ("results = [1]\n", "results takes a list of strings"),
            ("[results]\nx = 1\n", "results takes a value, not a table or a date"),
        ] {
            let read = match read(text) {
                Ok(values) => values.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "),
                Err(error) => Error::from(error).full(),
            };
            assert_eq!(read, expected, "{text}");
        }
        assert!(read("results = \n").is_err());
    }
}
