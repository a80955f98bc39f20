//! The user's settings file, edited without touching what people wrote around its entries.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{SettingKind, SettingValue, check_name, read};
use toml_edit::{Document, DocumentMut, Item, Value as Toml};

use crate::files::{self, followed};
use crate::hunk::in_own_form;

/// Locks the folder of settings until the result is dropped, so that other processes of this program don't change
/// settings or trust: each reads a whole file and replaces it, so concurrent writers would lose changes. Where it can't
/// be locked (on Windows, say), nothing is prevented.
pub fn alone(env: &Env) -> Option<File> {
    let file = env.settings_file()?;
    let folder = file.parent()?;
    fs::create_dir_all(folder).ok()?;
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Writes one setting into the file at `path`, creating the file if necessary. `text` is TOML, or a bare word; lists
/// may be written with commas.
///
/// # Errors
/// When the value does not fit, or the file can't be read or written.
pub fn write(path: &Path, key: &str, text: &str) -> Result<SettingValue> {
    let kind = check_name(key)?;
    let mut toml: Toml = match (text.parse::<Toml>(), kind) {
        (Ok(value @ Toml::Array(_)), SettingKind::List | SettingKind::Terms | SettingKind::Folders) => value,
        (_, SettingKind::Folders) => {
            text.split(',').map(|folder| folder_of(folder.trim())).collect::<toml_edit::Array>().into()
        }
        (_, SettingKind::List | SettingKind::Terms) => text
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
    let value = checked(key, &toml)?;
    edit(path, |text| {
        let document = Document::parse(text)?;
        if let Some(span) = entry(&document, key).and_then(Item::span) {
            return Ok(Some(format!("{}{toml}{}", &text[..span.start], &text[span.end..])));
        }
        // Insert after leading comments, not before them.
        let (before, mut document) = match document.is_empty() {
            true if text.is_empty() || text.ends_with('\n') => (text.to_string(), DocumentMut::new()),
            true => (format!("{text}\n"), DocumentMut::new()),
            false => (String::new(), document.into_mut()),
        };
        insert(&mut document, key, toml)?;
        Ok(Some(before + &document.to_string()))
    })?;
    Ok(value)
}

/// The stored form of a folder: absolute, except that `~` is kept.
fn folder_of(written: &str) -> Toml {
    let is_home = written == "~" || written.starts_with("~/");
    let full = std::path::absolute(written).ok().filter(|_| !is_home);
    Toml::from(full.map_or_else(|| written.to_string(), |full| full.to_string_lossy().into_owned()))
}

/// The stored form of the value, read back from a file with only this setting.
fn checked(key: &str, toml: &Toml) -> Result<SettingValue> {
    let mut alone = DocumentMut::new();
    insert(&mut alone, key, toml.clone())?;
    let value = read(&alone.to_string())?.into_iter().next();
    Ok(value.with_context(|| format!("{key} takes a value"))?.1)
}

/// Adds an entry, in the table that its key names.
fn insert(document: &mut DocumentMut, key: &str, toml: Toml) -> Result<()> {
    match key.split_once('.') {
        Some((table, name)) => {
            let table = document.entry(table).or_insert_with(toml_edit::table);
            let table = table.as_table_like_mut().with_context(|| format!("{key} is not a table"))?;
            table.insert(name, Item::Value(toml));
        }
        None => drop(document.insert(key, Item::Value(toml))),
    }
    Ok(())
}

/// Removes one setting from the file, and returns whether it was there. Comments stay, including the one after it,
/// except those inside its value or next to it in an inline table.
///
/// # Errors
/// When the key is unknown, or the file can't be read or written.
pub fn remove(path: &Path, key: &str) -> Result<bool> {
    check_name(key)?;
    edit(path, |text| {
        let document = Document::parse(text)?;
        let Some(span) = entry(&document, key).and_then(Item::span) else { return Ok(None) };
        if let Some((table, name)) = key.split_once('.')
            && document.get(table).is_some_and(Item::is_inline_table)
        {
            let mut document = document.into_mut();
            document.get_mut(table).and_then(Item::as_table_like_mut).and_then(|t| t.remove(name));
            return Ok(Some(document.to_string()));
        }
        // A key and the beginning of its value are one line.
        let begin = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        let behind = text[span.end..].trim_start_matches([' ', '\t']);
        let behind = behind.strip_prefix('\n').unwrap_or(behind);
        Ok(Some(format!("{}{behind}", &text[..begin])))
    })
}

/// The entry of a key, with its place in the text.
fn entry<'d>(document: &'d Document<&str>, key: &str) -> Option<&'d Item> {
    match key.split_once('.') {
        Some((table, name)) => document.get(table)?.get(name),
        None => document.get(key),
    }
}

/// Writes the result of `change` on the file's text in its plain form (`\n` at line ends), and returns whether there
/// was one. Links are followed.
fn edit(path: &Path, change: impl FnOnce(&str) -> Result<Option<String>>) -> Result<bool> {
    let real = followed(path.to_path_buf())?;
    let before = files::read(&real)?;
    let text = before.as_deref().unwrap_or_default();
    let mut any = false;
    let after = in_own_form(text, |plain| {
        read(plain)?;
        let changed = change(plain)?;
        any = changed.is_some();
        Ok(changed.unwrap_or_else(|| plain.to_string()))
    });
    let after = after.with_context(|| format!("{}", path.display()))?;
    if any {
        files::write_all(&[files::Write { path: real, before, after: Some(after), secret: false }])?;
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn comments_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for (before, key, set, unset) in [
            ("# mine\nresults = 5 # keep\n", "results", "# mine\nresults = 6 # keep\n", "# mine\n# keep\n"),
            ("results=5", "results", "results=6", ""),
            ("# a\r\nresults = 5\r\n# b\r\n", "results", "# a\r\nresults = 6\r\n# b\r\n", "# a\r\n# b\r\n"),
            (
                "[ranking] # why\n# mine\nk1 = 1.5 # keep\n\n# last\n",
                "ranking.k1",
                "[ranking] # why\n# mine\nk1 = 6 # keep\n\n# last\n",
                "[ranking] # why\n# mine\n# keep\n\n# last\n",
            ),
            ("# mine\nranking.k1 = 2 # keep\n", "ranking.k1", "# mine\nranking.k1 = 6 # keep\n", "# mine\n# keep\n"),
            (
                "# mine\nranking = { k1 = 2, b = 0.5 } # keep\n",
                "ranking.k1",
                "# mine\nranking = { k1 = 6, b = 0.5 } # keep\n",
                "# mine\nranking = { b = 0.5 } # keep\n",
            ),
            (
                "# mine\nignore = [\n  \"a\",\n] # keep\nlines = 2\n",
                "ignore",
                "# mine\nignore = [\"6\"] # keep\nlines = 2\n",
                "# mine\n# keep\nlines = 2\n",
            ),
        ] {
            std::fs::write(&path, before).unwrap();
            write(&path, key, "6").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), set, "{before:?}");
            std::fs::write(&path, before).unwrap();
            assert!(remove(&path, key).unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), unset, "{before:?}");
        }
        for (before, key, after) in [
            ("# mine\r\nlines = 2\r\n", "results", "# mine\r\nlines = 2\r\nresults = 6\r\n"),
            ("\u{feff}lines = 2\n", "results", "\u{feff}lines = 2\nresults = 6\n"),
            ("# mine", "results", "# mine\nresults = 6\n"),
            ("# mine\n", "ranking.k1", "# mine\n[ranking]\nk1 = 6\n"),
        ] {
            std::fs::write(&path, before).unwrap();
            write(&path, key, "6").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{before:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (link, real) = (folder.path().join("config.toml"), folder.path().join("dotfiles/colgrep.toml"));
        std::os::unix::fs::symlink("dotfiles/colgrep.toml", &link).unwrap();
        for text in ["5", "6"] {
            write(&link, "results", text).unwrap();
            assert!(link.is_symlink());
            assert_eq!(std::fs::read_to_string(&real).unwrap(), format!("results = {text}\n"));
        }
        assert!(remove(&link, "results").unwrap() && link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "");
    }
}
