//! Settings files: TOML read into checked values, and edited without touching what people wrote around them.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use toml_edit::{DocumentMut, Item, Value as Toml};

use super::keys::{self, Value};

/// Tables of the file whose keys are named `table.key`.
const TABLES: [&str; 2] = ["types", "ranking"];

/// The values of a file's text, checked.
///
/// # Errors
/// When it is no TOML, or a key is unknown or its value unfit.
pub fn read(text: &str) -> Result<Vec<(String, Value)>> {
    let document: DocumentMut = text.parse()?;
    let mut values = Vec::new();
    for (name, item) in document.iter() {
        match item.as_table_like() {
            Some(table) if TABLES.contains(&name) => {
                for (key, item) in table.iter() {
                    values.push(one(&format!("{name}.{key}"), item)?);
                }
            }
            _ => values.push(one(name, item)?),
        }
    }
    Ok(values)
}

fn one(key: &str, item: &Item) -> Result<(String, Value)> {
    keys::check_name(key)?;
    let value = match item.as_value() {
        Some(Toml::Array(array)) => {
            let list: Option<Vec<String>> = array.iter().map(|v| v.as_str().map(str::to_string)).collect();
            Value::List(list.with_context(|| format!("{key} takes a list of strings"))?)
        }
        Some(Toml::String(text)) => Value::Text(text.value().clone()),
        Some(Toml::Integer(number)) => Value::Text(number.value().to_string()),
        Some(Toml::Float(number)) => Value::Text(number.value().to_string()),
        Some(Toml::Boolean(on)) => Value::Text(on.value().to_string()),
        _ => bail!("{key} takes a value, not a table or a date"),
    };
    Ok((key.to_string(), keys::check(key, value)?))
}

/// Writes one setting into the file at `path`, which is made where there is none. `text` is TOML, or a bare word;
/// lists may be written with commas.
///
/// # Errors
/// When the value does not fit, or the file can't be read or written.
pub fn write(path: &Path, key: &str, text: &str) -> Result<Value> {
    let kind = keys::check_name(key)?;
    let mut toml: Toml = match (text.parse::<Toml>(), kind) {
        (Ok(value @ Toml::Array(_)), keys::Kind::List) => value,
        (_, keys::Kind::List) => text
            .split(',')
            .map(str::trim)
            .filter(|p| !p.is_empty())
            .map(Toml::from)
            .collect::<toml_edit::Array>()
            .into(),
        (Ok(value @ (Toml::Integer(_) | Toml::Float(_) | Toml::Boolean(_) | Toml::String(_))), _) => value,
        _ => Toml::from(text),
    };
    toml.decor_mut().clear();
    let (_, value) = one(key, &Item::Value(toml.clone()))?;
    let mut document = open(path)?;
    match key.split_once('.') {
        Some((table, name)) => {
            let table = document.entry(table).or_insert_with(toml_edit::table);
            let table = table.as_table_like_mut().with_context(|| format!("{}: {key} is no table", path.display()))?;
            table.insert(name, Item::Value(toml));
        }
        None => {
            document.insert(key, Item::Value(toml));
        }
    }
    save(path, &document)?;
    Ok(value)
}

/// Takes one setting out of the file; whether it was there.
///
/// # Errors
/// When the key is unknown, or the file can't be read or written.
pub fn remove(path: &Path, key: &str) -> Result<bool> {
    keys::check_name(key)?;
    let mut document = open(path)?;
    let removed = match key.split_once('.') {
        Some((table, name)) => document.get_mut(table).and_then(Item::as_table_like_mut).and_then(|t| t.remove(name)),
        None => document.remove(key),
    };
    if removed.is_some() {
        save(path, &document)?;
    }
    Ok(removed.is_some())
}

fn open(path: &Path) -> Result<DocumentMut> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("could not read {}", path.display())),
    };
    read(&text).with_context(|| format!("{}", path.display()))?;
    text.parse().with_context(|| format!("{}", path.display()))
}

fn save(path: &Path, document: &DocumentMut) -> Result<()> {
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // Replaced whole: a reader sees the old file or the new one.
        let beside = path.with_extension("toml.new");
        std::fs::write(&beside, document.to_string())?;
        std::fs::rename(&beside, path)
    };
    write().with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_refused() {
        for (text, expected) in [
            ("results = 20\n[ranking]\nalpha = 0.5\n", "results=20 ranking.alpha=0.5"),
            ("ignore = [\"a/\", \"*.b\"]\n[types]\nweb = [\"*.html\"]\n", "ignore=[a/, *.b] types.web=[*.html]"),
            (
                "colour = \"never\"\n",
                "there is no setting \"colour\"; did you mean \"color\"? `colgrep settings` lists them all",
            ),
            ("[ranking]\nalpha = 3\n", "ranking.alpha: COLGREP_ALPHA=3: expected a number from 0 to 1"),
            ("results = [1]\n", "results takes a list of strings"),
            ("[results]\nx = 1\n", "results takes a value, not a table or a date"),
        ] {
            let read = match read(text) {
                Ok(values) => values.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "),
                Err(error) => error.to_string(),
            };
            assert_eq!(read, expected, "{text}");
        }
        assert!(read("results = \n").is_err());
    }

    #[test]
    fn writing_keeps_what_stands_around() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/config.toml");
        for (key, text) in [("results", "7"), ("ranking.alpha", "0.4"), ("ignore", "a/, b"), ("color", "never")] {
            write(&path, key, text).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "results = 7\nignore = [\"a/\", \"b\"]\ncolor = \"never\"\n\n[ranking]\nalpha = 0.4\n");
        std::fs::write(&path, format!("# mine\n{text}")).unwrap();
        assert!(remove(&path, "results").unwrap() && !remove(&path, "results").unwrap());
        assert!(write(&path, "results", "many").is_err());
        write(&path, "color", "always").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("color = \"always\"") && !text.contains("results"), "{text}");
    }
}
